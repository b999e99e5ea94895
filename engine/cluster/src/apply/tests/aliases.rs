//! Aliases come and go.

use super::*;

fn add(uuid: u8, name: &str, alias: Alias) -> AliasAction {
    AliasAction::Add { uuid: [uuid; 16], name: name.to_owned(), alias }
}

#[test]
fn aliases_change_all_or_none() {
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    let state = done(&state, &create_command("b", 2, "{}", "{}"));
    let writes = Alias { is_write_index: Some(true), ..Alias::default() };
    let both = Command::UpdateAliases {
        actions: vec![add(1, "w", writes.clone()), add(2, "w", writes.clone())],
    };
    assert_eq!(refused(&state, &both).to_string(), "alias [w] has more than one write index [a,b]");
    let hidden = Alias { is_hidden: Some(true), ..Alias::default() };
    let mixed = Command::UpdateAliases {
        actions: vec![add(1, "h", hidden), add(2, "h", Alias::default())],
    };
    assert!(refused(&state, &mixed).to_string().contains("must have the same is_hidden"));
    let one = Command::UpdateAliases {
        actions: vec![add(1, "w", writes), add(2, "w", Alias::default())],
    };
    let state = done(&state, &one);
    assert_eq!(state.aliases["w"].len(), 2);
    assert_eq!(state.index("a").map(|index| index.aliases_version), Some(2));
    // An alias takes the name of an index that goes in the same breath.
    let swap = Command::UpdateAliases {
        actions: vec![add(2, "a", Alias::default()), AliasAction::RemoveIndex { uuid: [1; 16] }],
    };
    let state = done(&state, &swap);
    assert!(state.index("a").is_none());
    assert_eq!(state.aliases["a"].len(), 1);
    let remove = Command::UpdateAliases {
        actions: vec![AliasAction::Remove { uuid: [2; 16], name: "a".into() }],
    };
    assert!(!done(&state, &remove).aliases.contains_key("a"));
}

#[test]
fn what_is_to_be_removed_is_judged_when_the_command_has_its_turn() {
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    let state = done(&state, &create_command("b", 2, "{}", "{}"));
    let swap = |to: u8, must_exist: bool| Command::UpdateAliases {
        actions: vec![
            AliasAction::RemoveAny {
                uuids: vec![[1; 16], [2; 16], [9; 16]],
                names: vec!["s".into(), "t".into()],
                must_exist,
            },
            add(to, "s", Alias { is_write_index: Some(true), ..Alias::default() }),
        ],
    };
    let missing = refused(&state, &swap(1, true));
    assert_eq!(missing.to_string(), "aliases [s,t] missing");
    let mut state = done(&state, &swap(1, false));
    // Both were asked when `a` bore it.
    for (to, name) in [(2, "b"), (1, "a"), (1, "a"), (2, "b")] {
        state = done(&state, &swap(to, true));
        let bears: Vec<&str> = state.aliases["s"].iter().map(|name| &**name).collect();
        assert_eq!(bears, [name]);
    }
    // What is set in front of it stays, since nothing of it was there.
    let turned = Command::UpdateAliases {
        actions: vec![
            add(1, "t", Alias::default()),
            AliasAction::RemoveAny {
                uuids: vec![[1; 16]],
                names: vec!["t".into()],
                must_exist: false,
            },
        ],
    };
    assert_eq!(done(&state, &turned).aliases["t"].len(), 1);
    // What was deleted meanwhile is called by the name that the caller knew.
    let state = done(&state, &Command::DeleteIndices { uuids: vec![[1; 16]] }.at(9));
    let late = Command::UpdateAliases { actions: vec![add(1, "t", Alias::default())] };
    assert_eq!(refused(&state, &late), Error::NotFound { name: "a".into() });
}
