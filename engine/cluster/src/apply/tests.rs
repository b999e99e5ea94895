//! Stories of commands.

use super::*;
use crate::alias::{Alias, AliasAction};
use crate::command::{NewIndex, TemplateKind};
use crate::data_stream::DataStream;
use crate::graveyard;
use crate::template::{ComponentTemplate, IndexTemplate, LegacyTemplate};
use consensus::State as _;

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
        Command::SetOpen { uuids: vec![[1; 16]], open: false },
    ]);
    let state = done(&state, &batch);
    assert!(state.index("b").is_some());
    assert!(state.index("a").is_some_and(|index| !index.open));
}

#[test]
fn templates_are_worked_into_new_indices() {
    let component = Command::PutComponentTemplate {
        name: "c".into(),
        template: ComponentTemplate::parse(&json(
            r#"{"template":{"mappings":{"properties":{"z":{"type":"keyword"}}},"aliases":{"al":{}}}}"#,
        ))
        .expect("reads"),
        create: true,
    };
    let state = done(&State::default(), &component);
    assert!(refused(&state, &component).to_string().ends_with("[c] already exists"));
    let put = |body: &str| Command::PutIndexTemplate {
        name: "t".into(),
        template: IndexTemplate::parse(&json(body)).expect("reads"),
        create: false,
    };
    let missing = put(r#"{"index_patterns":["x*"],"composed_of":["nope"]}"#);
    assert!(matches!(refused(&state, &missing), Error::Template { .. }));
    let state = done(
        &state,
        &put(
            r#"{"index_patterns":["x*"],"composed_of":["c"],"template":{"settings":{"number_of_shards":3}}}"#,
        ),
    );
    let legacy = Command::PutLegacyTemplate {
        name: "old".into(),
        template: LegacyTemplate::parse(&json(
            r#"{"index_patterns":["*"],"settings":{"number_of_shards":7},"aliases":{"{index}-al":{}}}"#,
        ))
        .expect("reads"),
        create: false,
    };
    let state = done(&state, &legacy);
    let state =
        done(&state, &create_command("x1", 1, r#"{"properties":{"n":{"type":"long"}}}"#, "{}"));
    let index = state.index("x1").expect("made");
    assert_eq!(index.settings.shard_count(), 3, "the composable template stands alone");
    assert!(index.mapping.field("z").is_some());
    assert!(index.mapping.field("n").is_some());
    assert!(index.aliases.contains_key("al"));
    let state = done(&state, &create_command("y1", 2, "{}", "{}"));
    let index = state.index("y1").expect("made");
    assert_eq!(index.settings.shard_count(), 7);
    assert!(index.aliases.contains_key("y1-al"));
    let delete = |kind, name: &str| Command::DeleteTemplates { kind, names: vec![name.into()] };
    let error = refused(&state, &delete(TemplateKind::Component, "c"));
    assert!(error.to_string().ends_with("still in use by index templates [t]"), "{error}");
    let state = done(&state, &delete(TemplateKind::Index, "t"));
    let state = done(&state, &delete(TemplateKind::Component, "c"));
    assert!(matches!(
        refused(&state, &delete(TemplateKind::Legacy, "gone")),
        Error::TemplateMissing { .. }
    ));
}

#[test]
fn a_composed_command_means_the_same_whatever_the_templates_are_then() {
    let put = |shards: u32| {
        Command::PutIndexTemplate {
        name: "t".into(),
        template: IndexTemplate::parse(&json(&format!(
            r#"{{"index_patterns":["x*"],"template":{{"settings":{{"number_of_shards":{shards}}}}}}}"#
        )))
        .expect("reads"),
        create: false,
    }
    };
    let state = done(&State::default(), &put(2));
    let composed = compose(&state, create_command("x", 1, "{}", "{}")).expect("composes");
    let state = done(&done(&state, &put(5)), &composed);
    assert_eq!(state.index("x").map(|index| index.settings.shard_count()), Some(2));
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
fn a_state_from_before_rollovers_were_kept_is_read() {
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    let mut bytes = Vec::new();
    state.encode(&mut bytes);
    let text = String::from_utf8(bytes.clone()).expect("JSON");
    assert!(!text.contains("rollovers"), "what is not there takes no room: {text}");
    assert!(State::decode(State::FORMAT, &bytes).is_ok());
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

/// A command at a moment, as a keeper does it.
fn done_at(state: &State, now_ms: i64, command: Command) -> State {
    done(state, &command.at(now_ms))
}

fn replicas(count: u32) -> Command {
    Command::PutSettings {
        uuids: vec![[1; 16]],
        settings: json(&format!(r#"{{"index.number_of_replicas":{count}}}"#)),
        preserve: false,
    }
}

fn vacancies(state: &State) -> Vec<(&'static str, i64)> {
    let index = state.index("a").expect("there");
    index.replica_vacancies().map(|one| (one.reason.as_str(), one.at_ms)).collect()
}

#[test]
fn a_replica_tells_since_when_it_is_wanted() {
    // Once each lacked its place because the index was made, and since then.
    const MADE: i64 = 1_700_000_000_000;
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    assert_eq!(vacancies(&state), []);
    let state = done_at(&state, MADE + 1, replicas(1));
    let state = done_at(&state, MADE + 2, replicas(3));
    let later = ("REPLICA_ADDED", MADE + 2);
    assert_eq!(vacancies(&state), [("REPLICA_ADDED", MADE + 1), later, later]);
    let state = done_at(&state, MADE + 3, replicas(2));
    assert_eq!(vacancies(&state), [later, later], "the oldest goes");
    let state = done_at(&state, MADE + 4, replicas(1));
    let state = done_at(&state, MADE + 5, replicas(2));
    assert_eq!(vacancies(&state), [later, ("REPLICA_ADDED", MADE + 5)]);
    let open = |open| Command::SetOpen { uuids: vec![[1; 16]], open };
    let state = done_at(&state, MADE + 6, open(false));
    assert_eq!(vacancies(&state), [("INDEX_CLOSED", MADE + 6); 2]);
    let state = done_at(&state, MADE + 7, open(true));
    assert_eq!(vacancies(&state), [("INDEX_REOPENED", MADE + 7); 2]);
    assert_eq!(vacancies(&done_at(&state, MADE + 8, open(true))), vacancies(&state));
    let started = state.index("a").expect("there").vacancy().as_of(MADE + 9);
    assert_eq!((started.reason.as_str(), started.at_ms), ("CLUSTER_RECOVERED", MADE + 9));
}

#[test]
fn what_came_with_the_index_goes_before_what_was_added() {
    let new = NewIndex {
        settings: json(r#"{"number_of_replicas":2}"#),
        ..NewIndex::new("a", [1; 16], 5)
    };
    let state = done(&State::default(), &Command::CreateIndex(new));
    assert_eq!(vacancies(&state), [("INDEX_CREATED", 5); 2]);
    let state = done_at(&state, 6, replicas(3));
    assert_eq!(vacancies(&done_at(&state, 7, replicas(1))), [("REPLICA_ADDED", 6)]);
    assert_eq!(vacancies(&done_at(&state, 7, replicas(0))), []);
    // A log from before moments were kept.
    let state = done(&state, &replicas(4));
    let (made, added) = (("INDEX_CREATED", 5), ("REPLICA_ADDED", 6));
    assert_eq!(vacancies(&state), [made, made, made, added]);
}

#[test]
fn the_last_deleted_indices_are_remembered() {
    // Once nothing was: `index-graveyard` was an empty list.
    let make =
        |state: &State, name: &str, uuid: u8| done(state, &create_command(name, uuid, "{}", "{}"));
    let names = |state: &State| -> Vec<(String, i64)> {
        state.tombstones.iter().map(|one| (one.name.to_string(), one.deleted_ms)).collect()
    };
    let state = make(&make(&make(&State::default(), "a", 1), "b", 2), "c", 3);
    let delete = |uuid: u8| Command::DeleteIndices { uuids: vec![[uuid; 16]] };
    let state = done_at(&state, 10, delete(2));
    let remove = AliasAction::RemoveIndex { uuid: [1; 16] };
    let state = done_at(&state, 20, Command::UpdateAliases { actions: vec![remove] });
    assert_eq!(names(&state), [("b".to_owned(), 10), ("a".to_owned(), 20)]);
    assert_eq!(state.tombstones[0].uuid, [2; 16]);
    assert_eq!(done_at(&state, 30, delete(2)).tombstones, state.tombstones, "it was gone");
    assert_eq!(names(&done(&state, &delete(3))), names(&state), "a log without moments");
    let mut state = state;
    for round in 0..graveyard::TOMBSTONES_MAX as i64 {
        state = apply(&state, &create_command("d", 9, "{}", "{}")).0;
        state = apply(&state, &delete(9).at(100 + round)).0;
    }
    assert_eq!(state.tombstones.len(), graveyard::TOMBSTONES_MAX);
    assert_eq!(state.tombstones[0].deleted_ms, 100, "the oldest are forgotten");
}

/// What a folder of before has: it opens, and what is not there yet is as where there is none.
#[test]
fn the_form_of_version_2_is_read() {
    let state = br#"{"version":3,"uuid":"AQEBAQEBAQEBAQEBAQEBAQ","indices":[{"name":"a",
        "uuid":"AQEBAQEBAQEBAQEBAQEBAQ","settings":{"index.number_of_replicas":"1",
        "index.number_of_shards":"1"},"mapping":{"version":1,"next_field_no":16,"mappings":{},"field_nos":{}},"aliases":{"x":{}},
        "open":true,"created_ms":5,"settings_version":1,"aliases_version":1,"copying":false}],
        "index_templates":{},"component_templates":{},"legacy_templates":{},"data_streams":[],
        "settings":{"persistent":{},"transient":{}},"voting_exclusions":[]}"#;
    let state = State::decode(2, state).expect("version 2");
    assert_eq!(vacancies(&state), [("INDEX_CREATED", 5)]);
    assert!(state.tombstones.is_empty());
    let remove =
        br#"{"update_aliases":{"actions":[{"remove":"AQEBAQEBAQEBAQEBAQEBAQ","name":"x"}]}}"#;
    let state = done(&state, &State::decode_command(2, remove).expect("version 2"));
    assert!(state.aliases.is_empty());
}

/// Whoever changes this has changed what is written: the version must rise with it, or a program of before
/// takes it for damaged, or passes it over.
#[test]
fn the_form_of_version_3_is_pinned() {
    let mut new = NewIndex::new("a", [1; 16], 5);
    new.settings = json(r#"{"number_of_replicas":1}"#);
    let state = done(&State::default(), &Command::CreateIndex(new));
    let state = done(&state, &create_command("b", 2, "{}", "{}"));
    let state = done_at(&state, 6, Command::SetOpen { uuids: vec![[1; 16]], open: false });
    let state = done_at(&state, 7, replicas(2));
    let gone = Command::DeleteIndices { uuids: vec![[2; 16]] }.at(8);
    let state = done(&state, &gone);
    let mut bytes = Vec::new();
    state.encode(&mut bytes);
    let form = concat!(
        r#"{"version":5,"uuid":"AAAAAAAAAAAAAAAAAAAAAA","indices":[{"name":"a","uuid":"AQEBAQEBAQEBAQEBAQEBAQ","#,
        r#""settings":{"index.creation_date":"5","index.number_of_replicas":"2","index.number_of_shards":"1","#,
        r#""index.provided_name":"a","index.routing.allocation.include._tier_preference":"data_content","#,
        r#""index.uuid":"AQEBAQEBAQEBAQEBAQEBAQ","index.verified_before_close":"true","index.version.created":"8536000"},"#,
        r#""mapping":{"version":1,"next_field_no":16,"mappings":{},"field_nos":{}},"#,
        r#""aliases":{},"open":false,"created_ms":5,"settings_version":2,"aliases_version":1,"copying":false,"#,
        r#""turned_ms":6,"added":[{"count":1,"at_ms":7}]}],"#,
        r#""index_templates":{},"component_templates":{},"legacy_templates":{},"data_streams":[],"#,
        r#""settings":{"persistent":{},"transient":{}},"voting_exclusions":[],"#,
        r#""tombstones":[{"name":"b","uuid":"AgICAgICAgICAgICAgICAg","deleted_ms":8}]}"#,
    );
    assert_eq!(String::from_utf8_lossy(&bytes), form);
    let actions = vec![AliasAction::RemoveAny {
        uuids: vec![[1; 16]],
        names: vec!["x".into()],
        must_exist: true,
    }];
    let commands = [gone, Command::UpdateAliases { actions }];
    let text = commands.map(|command| {
        let mut bytes = Vec::new();
        State::encode_command(&command, &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    assert_eq!(
        text,
        [
            r#"{"at":{"now_ms":8,"command":{"delete_indices":{"uuids":["AgICAgICAgICAgICAgICAg"]}}}}"#,
            r#"{"update_aliases":{"actions":[{"remove_any":["AQEBAQEBAQEBAQEBAQEBAQ"],"names":["x"],"must_exist":true}]}}"#,
        ]
    );
    assert_eq!(State::FORMAT, 3);
}
