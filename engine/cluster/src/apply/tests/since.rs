//! What is remembered: since when copies are wanted, what was deleted.

use super::*;

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
    let open = |open| Command::SetOpen { uuids: vec![[1; 16]], open, rules: Rules::Now };
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
    let gone = refused(&state, &delete(2).at(30));
    assert!(matches!(gone, Error::NotFound { .. }), "it is told, and changes nothing: {gone}");
    // In a batch it is no failure.
    let batch = Command::Batch(vec![delete(2)]);
    assert_eq!(done_at(&state, 30, batch).tombstones, state.tombstones);
    assert_eq!(names(&done(&state, &delete(3))), names(&state), "a log without moments");
    let mut state = state;
    for round in 0..graveyard::TOMBSTONES_MAX as i64 {
        state = apply(&state, &create_command("d", 9, "{}", "{}")).0;
        state = apply(&state, &delete(9).at(100 + round)).0;
    }
    assert_eq!(state.tombstones.len(), graveyard::TOMBSTONES_MAX);
    assert_eq!(state.tombstones[0].deleted_ms, 100, "the oldest are forgotten");
}
