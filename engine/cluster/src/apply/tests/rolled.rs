//! An alias whose writes the next index takes, judged by what it is by then.

use super::*;

fn al(is_write_index: Option<bool>) -> Alias {
    Alias { is_write_index, index_routing: Some("r".into()), ..Alias::default() }
}

fn add(uuid: u8, alias: Alias) -> Command {
    let action = AliasAction::Add { uuid: [uuid; 16], name: "w".into(), alias };
    Command::UpdateAliases { actions: vec![action] }
}

fn rolled() -> Command {
    Command::RollAlias { name: "w".into(), from: [1; 16], index: "next".into() }
}

/// Three indices, the first of which has the alias.
fn base(alias: Alias) -> State {
    let names = [("first", 1), ("other", 2), ("next", 3)];
    let make = |state, (name, uuid)| done(&state, &create_command(name, uuid, "{}", "{}"));
    done(&names.into_iter().fold(State::default(), make), &add(1, alias))
}

fn of(state: &State, index: &str) -> Option<Alias> {
    state.index(index).and_then(|index| index.aliases.get("w").cloned())
}

#[test]
fn the_next_index_has_what_the_alias_says_of_the_one_before() {
    let state = done(&base(al(Some(true))), &rolled());
    assert_eq!(of(&state, "first"), Some(al(Some(false))));
    assert_eq!(of(&state, "next"), Some(al(Some(true))));
    // One that writes because it is alone is given up.
    let state = done(&base(al(None)), &rolled());
    assert_eq!((of(&state, "first"), of(&state, "next")), (None, Some(al(None))));
    // Said meanwhile.
    let state = done(&base(al(None)), &add(1, Alias::default()));
    assert_eq!(of(&done(&state, &rolled()), "next"), Some(Alias::default()));
}

#[test]
fn what_writes_elsewhere_by_then_is_looked_at_again() {
    let moved = Error::Moved { target: "w".into() };
    let gone = Command::UpdateAliases {
        actions: vec![AliasAction::Remove { uuid: [1; 16], name: "w".into() }],
    };
    let elsewhere = Command::Batch(vec![add(1, al(Some(false))), add(2, al(Some(true)))]);
    for change in [
        gone,
        elsewhere,
        Command::DeleteIndices { uuids: vec![[1; 16]] },
        add(1, al(Some(false))),
        rolled(),
    ] {
        let state = done(&base(al(Some(true))), &change);
        assert_eq!(refused(&state, &rolled()), moved, "{change:?}");
    }
    // A second index: now nobody writes.
    let state = done(&base(al(None)), &add(2, al(None)));
    assert_eq!(refused(&state, &rolled()), moved);
    // An index of that name, but another.
    let state = done(&base(al(None)), &Command::DeleteIndices { uuids: vec![[1; 16]] });
    let state = done(&state, &create_command("first", 9, "{}", r#"{"w":{}}"#));
    assert_eq!(refused(&state, &rolled()), moved);
    let state = done(&base(al(None)), &Command::DeleteIndices { uuids: vec![[3; 16]] });
    assert_eq!(refused(&state, &rolled()), Error::NotFound { name: "next".into() });
}
