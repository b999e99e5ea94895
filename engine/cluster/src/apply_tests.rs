//! Stories of commands.

use super::*;
use consensus::State as _;

fn json(text: &str) -> Value {
    json::parse(text.as_bytes()).expect("valid JSON")
}

fn create_command(name: &str, uuid: u8, mappings: &str, aliases: &str) -> Command {
    Command::CreateIndex {
        name: name.to_owned(),
        uuid: [uuid; 16],
        created_ms: 1_700_000_000_000,
        settings: json(r#"{"number_of_replicas":0}"#),
        mappings: json(mappings),
        aliases: json(aliases),
    }
}

/// Applies a command that must be done, by way of its bytes.
fn done(state: &State, command: &Command) -> State {
    let mut bytes = Vec::new();
    State::encode_command(command, &mut bytes);
    let command = State::decode_command(State::FORMAT, &bytes).expect("reads back");
    let (state, outcome) = apply(state, &command);
    assert_eq!(outcome, Outcome::Done);
    let mut bytes = Vec::new();
    state.encode(&mut bytes);
    State::decode(State::FORMAT, &bytes).expect("reads back")
}

fn refused(state: &State, command: &Command) -> Error {
    match apply(state, command) {
        (after, Outcome::Refused(error)) => {
            assert_eq!(after.version, state.version, "a refusal changes nothing");
            error
        }
        (_, outcome) => panic!("{outcome:?}"),
    }
}

#[test]
fn an_index_is_made_once() {
    let state = done(
        &State::default(),
        &create_command("a", 1, r#"{"properties":{"n":{"type":"long"}}}"#, "{}"),
    );
    let index = state.index("a").expect("made");
    assert_eq!(index.settings.replica_count(), 0);
    assert_eq!(index.settings.text("index.provided_name"), Some("a"));
    assert!(index.mapping.field("n").is_some());
    let error = refused(&state, &create_command("a", 2, "{}", "{}"));
    assert_eq!(error, Error::Exists { name: "a".into(), uuid: uuid_text([1; 16]) });
}

#[test]
fn names_of_indices_and_aliases_are_one_space() {
    let state = done(
        &State::default(),
        &create_command("a", 1, "{}", r#"{"both":{"is_write_index":true}}"#),
    );
    let error = refused(&state, &create_command("both", 2, "{}", "{}"));
    assert!(matches!(error, Error::IndexName { why, .. } if why == "already exists as alias"));
    let error = refused(&state, &create_command("b", 2, "{}", r#"{"a":{}}"#));
    assert!(matches!(error, Error::AliasName { .. }));
    let state = done(&state, &create_command("b", 2, "{}", r#"{"both":{}}"#));
    assert_eq!(state.aliases["both"].len(), 2);
    let state = done(&state, &Command::DeleteIndices { uuids: vec![[1; 16], [9; 16]] });
    assert_eq!(state.aliases["both"].len(), 1);
    assert!(state.index("a").is_none());
}

#[test]
fn fields_keep_their_numbers_through_changes_and_snapshots() {
    let state = done(
        &State::default(),
        &create_command("a", 1, r#"{"properties":{"n":{"type":"long"}}}"#, "{}"),
    );
    let no = state.index("a").and_then(|index| index.mapping.field("n").map(|field| field.no));
    let put = Command::PutMapping {
        uuids: vec![[1; 16]],
        mappings: json(r#"{"properties":{"a":{"type":"keyword"}}}"#),
    };
    let state = done(&state, &put);
    let mapping = &state.index("a").expect("there").mapping;
    assert_eq!(mapping.field("n").map(|field| field.no), no);
    assert_ne!(mapping.field("a").map(|field| field.no), no);
    let version = state.version;
    assert_eq!(done(&state, &put).version, version, "the same again changes nothing");
}

#[test]
fn a_wrong_mapping_change_changes_nothing_anywhere() {
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    let state =
        done(&state, &create_command("b", 2, r#"{"properties":{"n":{"type":"long"}}}"#, "{}"));
    let put = Command::PutMapping {
        uuids: vec![[1; 16], [2; 16]],
        mappings: json(r#"{"properties":{"n":{"type":"text"}}}"#),
    };
    let error = refused(&state, &put);
    assert_eq!(error.to_string(), "mapper [n] cannot be changed from type [long] to [text]");
}

#[test]
fn deltas_are_answered_each_on_its_own() {
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    let delta = |text: &str| Delta::from_json(json(text));
    let command = Command::AddFields {
        deltas: vec![
            ([1; 16], delta(r#"{"properties":{"x":{"type":"long"}}}"#)),
            ([1; 16], delta(r#"{"properties":{"x":{"type":"long"},"y":{"type":"boolean"}}}"#)),
            ([7; 16], delta(r#"{"properties":{"z":{"type":"long"}}}"#)),
        ],
    };
    let (after, outcome) = apply(&state, &command);
    let Outcome::Fields(answers) = outcome else { panic!("{outcome:?}") };
    assert_eq!(answers.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, false]);
    assert!(after.index("a").is_some_and(|index| index.mapping.field("y").is_some()));
    assert_eq!(after.version, state.version + 1, "one change for all");
}

#[test]
fn foreign_bytes_are_refused() {
    for bytes in
        [&b""[..], b"{}", b"[]", b"{\"nothing\":{}}", b"{\"bootstrap\":{\"uuid\":1}}", b"\xff"]
    {
        assert!(State::decode_command(State::FORMAT, bytes).is_err(), "{bytes:?}");
        assert!(State::decode(State::FORMAT, bytes).is_err(), "{bytes:?}");
    }
}
