//! Stories of commands.

use super::*;
use crate::alias::{Alias, AliasAction};
use crate::command::{NewIndex, Rules, TemplateKind};
use crate::data_stream::DataStream;
use crate::graveyard;
use crate::state::uuid_text;
use crate::template::{ComponentTemplate, IndexTemplate, LegacyTemplate};
use consensus::State as _;

mod aliases;
mod form;
mod rolled;
mod since;
mod streams;
mod templates;

fn json(text: &str) -> Value {
    json::parse(text.as_bytes()).expect("valid JSON")
}

fn create_command(name: &str, uuid: u8, mappings: &str, aliases: &str) -> Command {
    Command::CreateIndex(NewIndex {
        settings: json(r#"{"number_of_replicas":0}"#),
        mappings: json(mappings),
        aliases: json(aliases),
        ..NewIndex::new(name, [uuid; 16], 1_700_000_000_000)
    })
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

/// A command at a moment, as a keeper does it.
fn done_at(state: &State, now_ms: i64, command: Command) -> State {
    done(state, &command.at(now_ms))
}

fn replicas(count: u32) -> Command {
    Command::PutSettings {
        uuids: vec![[1; 16]],
        settings: json(&format!(r#"{{"index.number_of_replicas":{count}}}"#)),
        preserve: false,
        rules: Rules::Now,
    }
}

fn vacancies(state: &State) -> Vec<(&'static str, i64)> {
    let index = state.index("a").expect("there");
    index.replica_vacancies().map(|one| (one.reason.as_str(), one.at_ms)).collect()
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
fn a_batch_is_done_whole_or_not_at_all() {
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    let batch = Command::Batch(vec![
        create_command("b", 2, "{}", "{}"),
        create_command("a", 3, "{}", "{}"),
    ]);
    assert!(matches!(refused(&state, &batch), Error::Exists { .. }));
    let batch = Command::Batch(vec![
        create_command("b", 2, "{}", "{}"),
        Command::SetOpen { uuids: vec![[1; 16]], open: false, rules: Rules::Now },
    ]);
    let state = done(&state, &batch);
    assert!(state.index("b").is_some());
    assert!(state.index("a").is_some_and(|index| !index.open));
}

#[test]
fn a_data_stream_keeps_the_index_that_takes_its_writes() {
    let put = Command::PutIndexTemplate {
        name: "t".into(),
        template: IndexTemplate::parse(&json(r#"{"index_patterns":["s"],"data_stream":{}}"#))
            .expect("reads"),
        create: false,
    };
    let state = done(&State::default(), &put);
    let plain = refused(&state, &create_command("s", 9, "{}", "{}"));
    assert!(plain.to_string().contains("creates data streams only"), "{plain}");
    let backing = |name: &str, uuid: u8| {
        Command::CreateIndex(NewIndex {
            stream: Some("s".into()),
            ..NewIndex::new(name, [uuid; 16], 0)
        })
    };
    let stream = |indices: &[&str]| DataStream {
        name: "s".into(),
        indices: indices.iter().map(|name| Arc::from(*name)).collect(),
        generation: indices.len() as u64,
        hidden: false,
        allow_custom_routing: false,
        rollover_on_write: false,
        meta: None,
    };
    let make = Command::Batch(vec![
        backing(".ds-s-1", 1),
        Command::PutDataStream { stream: stream(&[".ds-s-1"]), create: true },
    ]);
    let state = done(&state, &make);
    let index = state.index(".ds-s-1").expect("made");
    assert!(index.hidden());
    assert!(index.mapping.field("@timestamp").is_some());
    let keep = refused(&state, &Command::DeleteIndices { uuids: vec![[1; 16]] });
    assert_eq!(
        keep.to_string(),
        "index [.ds-s-1] is the write index for data stream [s] and cannot be deleted"
    );
    let keep = refused(
        &state,
        &Command::DeleteTemplates { kind: TemplateKind::Index, names: vec!["t".into()] },
    );
    assert!(keep.to_string().contains("in use by a data streams [s]"), "{keep}");
    let state = done(&state, &backing(".ds-s-2", 2));
    let next = Command::PutDataStream { stream: stream(&[".ds-s-1", ".ds-s-2"]), create: false };
    let state = done(&state, &next);
    let state = done(&state, &Command::DeleteIndices { uuids: vec![[1; 16]] });
    assert_eq!(state.data_streams["s"].indices.len(), 1);
    let state = done(&state, &Command::DeleteDataStreams { names: vec!["s".into()] });
    assert!(state.data_streams.is_empty());
    assert!(state.indices.is_empty());
}

#[test]
fn an_index_made_of_another_keeps_its_routing_and_says_whose_it_is() {
    let state = done(
        &State::default(),
        &create_command("a", 1, r#"{"properties":{"n":{"type":"long"}}}"#, "{}"),
    );
    let wide = Command::CreateIndex(NewIndex {
        settings: json(r#"{"number_of_shards":4}"#),
        ..NewIndex::new("w", [2; 16], 0)
    });
    let state = done(&state, &wide);
    let shrunk = Command::CreateIndex(NewIndex {
        settings: json(r#"{"number_of_shards":2}"#),
        composed: true,
        source: Some([2; 16]),
        ..NewIndex::new("s", [3; 16], 0)
    });
    let state = done(&state, &shrunk);
    let index = state.index("s").expect("made");
    assert!(index.copying);
    assert_eq!(
        index.settings.routing_shard_count(),
        state.index("w").expect("there").settings.routing_shard_count()
    );
    assert_eq!(index.settings.text("index.resize.source.name"), Some("w"));
    let state = done(&state, &Command::EndCopy { uuid: [3; 16] });
    assert!(state.index("s").is_some_and(|index| !index.copying));
}

#[test]
fn a_rollover_is_kept_with_the_index_that_it_left() {
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    assert!(state.index("a").is_some_and(|index| index.rollovers.is_empty()));
    let rollover = Rollover { met: json(r#"{"max_docs":5,"max_age":"7d"}"#), time_ms: 9 };
    let note = |uuid| Command::NoteRollover {
        uuid: [uuid; 16],
        target: "l".to_owned(),
        rollover: rollover.clone(),
    };
    let state = done(&state, &note(1));
    assert_eq!(state.index("a").and_then(|index| index.rollovers.get("l")), Some(&rollover));
    assert!(matches!(refused(&state, &note(2)), Error::NotFound { .. }));
}

#[test]
fn settings_follow_auto_expand_and_take_patterns_back() {
    let new = |settings: &str| {
        Command::CreateIndex(NewIndex {
            settings: json(settings),
            ..NewIndex::new("a", [1; 16], 0)
        })
    };
    let state = done(
        &State::default(),
        &new(r#"{"auto_expand_replicas":"0-all","routing.allocation.include.box":"x"}"#),
    );
    let index = state.index("a").expect("made");
    assert_eq!(index.settings.replica_count(), 0);
    let put = |settings: &str| Command::PutSettings {
        uuids: vec![[1; 16]],
        settings: json(settings),
        preserve: false,
        rules: Rules::Now,
    };
    let state = done(&state, &put(r#"{"index.routing.allocation.*":null}"#));
    let index = state.index("a").expect("there");
    assert_eq!(index.settings.text("index.routing.allocation.include.box"), None);
    assert_eq!(index.settings_version, 2);
    assert!(refused(&state, &put(r#"{"uuid":"x"}"#)).to_string().contains("private setting"));
    assert!(matches!(refused(&State::default(), &new(r#"{"uuid":"x"}"#)), Error::Invalid { .. }));
}

#[test]
fn shards_per_node_are_bounded() {
    let settings = Command::PutClusterSettings {
        rules: Rules::Now,
        persistent: json::parse(br#"{"cluster.max_shards_per_node":1}"#).expect("JSON"),
        transient: Value::Null,
    };
    let state = done(&State::default(), &settings);
    let state = done(&state, &create_command("a", 1, "{}", "{}"));
    let (after, outcome) = apply(&state, &create_command("b", 2, "{}", "{}"));
    let told = "Validation Failed: 1: this action would add [1] shards, but this cluster currently \
                has [1]/[1] maximum normal shards open;";
    assert!(matches!(outcome, Outcome::Refused(error) if error.to_string() == told));
    assert_eq!(after.version, state.version);
}

/// The date of the license was that of the last start.
#[test]
fn the_cluster_knows_when_it_was_made() {
    let made = |uuid: u8, created_ms| Command::Bootstrap { uuid: [uuid; 16], created_ms };
    let state = done(&State::default(), &made(1, Some(5)));
    let state = done(&state, &made(2, Some(9)));
    assert_eq!((state.uuid, state.created_ms, state.version), ([1; 16], Some(5), 1));
    // One of an older log learns it at its next start, and keeps it.
    let state = done(&State::default(), &made(1, None));
    assert_eq!((state.uuid, state.created_ms), ([1; 16], None));
    let state = done(&state, &made(2, Some(9)));
    let state = done(&state, &made(3, Some(10)));
    assert_eq!((state.uuid, state.created_ms, state.version), ([1; 16], Some(9), 2));
    let old = br#"{"bootstrap":{"uuid":"AQEBAQEBAQEBAQEBAQEBAQ"}}"#;
    assert_eq!(State::decode_command(State::FORMAT, old), Ok(made(1, None)));
}
