//! Data streams that several callers change: each change is judged by what the one before left.

use super::*;
use crate::data_stream::StreamChange;

const MAPPINGS: &str = r#"{"properties":{"@timestamp":{"type":"date"}}}"#;

fn template() -> Command {
    let template =
        json(r#"{"index_patterns":["s*"],"data_stream":{"hidden":true},"_meta":{"a":1}}"#);
    let template = IndexTemplate::parse(&template).expect("reads");
    Command::PutIndexTemplate { name: "t".into(), template, create: false }
}

fn started(name: &str, uuid: u8) -> Command {
    let index = DataStream::backing_name(name, 1, 0);
    let new = NewIndex { stream: Some(name.into()), ..NewIndex::new(&index, [uuid; 16], 0) };
    Command::Batch(vec![
        Command::StartStream { name: name.into(), index },
        Command::CreateIndex(new),
    ])
}

/// Two streams, and indices that are in none.
fn base() -> State {
    let mut state = done(&State::default(), &template());
    for (at, name) in ["s1", "s2"].into_iter().enumerate() {
        state = done(&state, &started(name, 1 + at as u8));
    }
    for (at, name) in ["a", "b", "next"].into_iter().enumerate() {
        state = done(&state, &create_command(name, 10 + at as u8, MAPPINGS, "{}"));
    }
    state
}

fn change(add: bool, stream: &str, index: &str) -> StreamChange {
    StreamChange { add, stream: stream.into(), index: index.into() }
}

fn modified(changes: &[StreamChange]) -> Command {
    Command::ModifyStreams { changes: changes.to_vec() }
}

fn indices<'a>(state: &'a State, stream: &str) -> Vec<&'a str> {
    state.data_streams[stream].indices.iter().map(|name| &**name).collect()
}

fn rolled(generation: u64) -> Command {
    let from = DataStream::backing_name("s1", 1, 0);
    Command::RollStream { name: "s1".into(), from, index: "next".into(), generation }
}

#[test]
fn a_stream_begins_as_its_template_says() {
    let state = base();
    let stream = &state.data_streams["s1"];
    assert_eq!((stream.generation, stream.hidden, stream.rollover_on_write), (1, true, false));
    assert_eq!(stream.meta, Some(json(r#"{"a":1}"#)));
    assert!(matches!(refused(&state, &started("s1", 7)), Error::StreamExists { .. }));
    // Between the look and the turn of the change its template went.
    let bare = Command::DeleteTemplates { kind: TemplateKind::Index, names: vec!["t".into()] };
    let bare = done(&State::default(), &Command::Batch(vec![template(), bare]));
    let error = refused(&bare, &started("s1", 1)).to_string();
    assert_eq!(error, "no matching index template found for data stream [s1]");
    let taken = done(&State::default(), &create_command("s3", 9, "{}", "{}"));
    let error = refused(&done(&taken, &template()), &started("s3", 7)).to_string();
    assert!(error.contains("conflicts with existing index"), "{error}");
}

#[test]
fn a_change_and_a_rollover_both_count_in_either_order() {
    let first = DataStream::backing_name("s1", 1, 0);
    let both = modified(&[change(true, "s1", "a"), change(true, "s1", "b")]);
    for commands in [[&both, &rolled(2)], [&rolled(2), &both]] {
        let state = commands.into_iter().fold(base(), |state, command| done(&state, command));
        assert_eq!(indices(&state, "s1"), ["b", "a", &first, "next"]);
        assert_eq!(state.data_streams["s1"].generation, 4);
        assert!(state.index("a").is_some_and(|index| index.hidden()));
    }
    // A generation that was passed over is not given again.
    assert_eq!(done(&base(), &rolled(9)).data_streams["s1"].generation, 9);
    let moved = Error::Moved { target: "s1".into() };
    assert_eq!(refused(&done(&base(), &rolled(2)), &rolled(2)), moved);
    let gone = done(&base(), &Command::DeleteDataStreams { names: vec!["s1".into()] });
    assert_eq!(refused(&gone, &rolled(2)), moved);
}

#[test]
fn a_mark_outlives_changes_until_the_rollover() {
    let mark = Command::MarkStream { name: "s1".into() };
    let change = modified(&[change(true, "s1", "a")]);
    for commands in [[&mark, &change], [&change, &mark]] {
        let state = commands.into_iter().fold(base(), |state, command| done(&state, command));
        assert!(state.data_streams["s1"].rollover_on_write);
        assert!(!done(&state, &rolled(3)).data_streams["s1"].rollover_on_write);
    }
    let gone = refused(&State::default(), &mark).to_string();
    assert_eq!(gone, "rollover target [s1] does not exist");
}

#[test]
fn an_index_is_in_one_stream_and_has_no_other_names() {
    let state = done(&base(), &modified(&[change(true, "s1", "a")]));
    let error = refused(&state, &modified(&[change(true, "s2", "a")])).to_string();
    assert_eq!(
        error,
        "cannot add index [a] to data stream [s2] because it is already a backing index on data \
         stream [s1]"
    );
    let alias = |uuid| Command::UpdateAliases {
        actions: vec![AliasAction::Add {
            uuid: [uuid; 16],
            name: "x".into(),
            alias: Alias::default(),
        }],
    };
    let error = refused(&state, &alias(10)).to_string();
    assert!(error.ends_with("Data stream backing indices don't support aliases."), "{error}");
    let named = done(&base(), &alias(11));
    let error = refused(&named, &modified(&[change(true, "s1", "b")])).to_string();
    assert_eq!(error, "cannot add index [b] to data stream [s1] until its alias [x] is removed");
    // From one to the other in one change; and all of a change or nothing.
    let moved = modified(&[change(false, "s1", "a"), change(true, "s2", "a")]);
    let state = done(&state, &moved);
    assert!(indices(&state, "s2").contains(&"a") && !indices(&state, "s1").contains(&"a"));
    let half = modified(&[change(false, "s2", "a"), change(true, "s1", "nowhere")]);
    assert_eq!(refused(&state, &half).to_string(), "index [nowhere] not found");
    let state = done(&state, &modified(&[change(false, "s2", "a")]));
    assert!(state.index("a").is_some_and(|index| !index.hidden()));
    let first = DataStream::backing_name("s1", 1, 0);
    let error = refused(&state, &modified(&[change(false, "s1", &first)])).to_string();
    assert!(error.ends_with("because it is the write index"), "{error}");
}

#[test]
fn an_alias_is_migrated_as_it_is_by_then() {
    let migrate = Command::MigrateAlias { name: "s3".into() };
    let point = |uuid, alias: Value| Command::UpdateAliases {
        actions: vec![AliasAction::Add {
            uuid: [uuid; 16],
            name: "s3".into(),
            alias: Alias::parse("s3", &alias).expect("reads"),
        }],
    };
    let state = done(&base(), &point(10, json(r#"{"is_write_index":true}"#)));
    let state = done(&state, &point(11, json("{}")));
    let after = done(&state, &migrate);
    assert_eq!(indices(&after, "s3"), ["b", "a"]);
    assert!(after.aliases.get("s3").is_none());
    assert!(after.index("b").is_some_and(|index| index.hidden() && index.aliases.is_empty()));
    let filtered = done(&state, &point(11, json(r#"{"filter":{"match_all":{}}}"#)));
    let error = refused(&filtered, &migrate).to_string();
    assert_eq!(error, "alias [s3] may not have custom filtering or routing for index [b]");
    let error = refused(&base(), &migrate).to_string();
    assert_eq!(error, "alias [s3] does not exist");
    // With two aliases an index would come into two streams.
    let second = Command::UpdateAliases {
        actions: vec![AliasAction::Add {
            uuid: [11; 16],
            name: "s4".into(),
            alias: Alias::default(),
        }],
    };
    let error = refused(&done(&state, &second), &migrate).to_string();
    assert_eq!(
        error,
        "other aliases referencing indices [b] must be removed before migrating to a data stream"
    );
}

/// What an older log may hold: one index in two streams. What one leaves, the other keeps.
#[test]
fn a_shared_index_stays_for_the_other_stream() {
    let mut state = done(&base(), &modified(&[change(true, "s1", "a")]));
    let mut other = DataStream::clone(&state.data_streams["s2"]);
    other.indices.insert(0, "a".into());
    other.generation += 1;
    state = done(&state, &Command::PutDataStream { stream: other, create: false });
    let state = done(&state, &Command::DeleteDataStreams { names: vec!["s1".into()] });
    assert!(state.index("a").is_some() && state.data_streams.get("s1").is_none());
    assert!(state.index(&DataStream::backing_name("s1", 1, 0)).is_none());
}
