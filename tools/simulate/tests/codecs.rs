//! What the replicated states and their commands are written as: the life of a node, command by command
//! (`codecs/*.jsonl`: every kind of command there is, as the tests of the REST API left them in the logs), and what
//! becomes of commands that nobody wrote.

use consensus::State;
use json::Value;
use proptest::prelude::*;

/// A state with the commands of its life.
trait Lived: State {
    const LIFE: &str;
    const KINDS: &[&str];

    fn kind(command: &Self::Command) -> &'static str;
}

/// The name of a command's kind, and all there are: who adds one finds it missing here, and in its life.
macro_rules! lived {
    ($part:ident, $life:literal: $($kind:ident)+) => {
        impl Lived for $part::State {
            const LIFE: &str = include_str!($life);
            const KINDS: &[&str] = &[$(stringify!($kind)),+];

            fn kind(command: &$part::Command) -> &'static str {
                match command {
                    $($part::Command::$kind { .. } => stringify!($kind),)+
                }
            }
        }
    };
}

lived!(cluster, "codecs/cluster.jsonl":
    Bootstrap CreateIndex DeleteIndices PutMapping AddFields PutSettings SetOpen EndCopy NoteRollover UpdateAliases
    PutIndexTemplate PutComponentTemplate PutLegacyTemplate DeleteTemplates StartStream MigrateAlias ModifyStreams
    RollStream RollAlias MarkStream PutDataStream DeleteDataStreams PutScript DeleteScript PutClusterSettings
    AddVotingExclusions SetVotingExclusions Batch At);
lived!(authz, "codecs/authz.jsonl":
    Bootstrap SetPassword PutUser DeleteUser EnableUser PutRoles DeleteRoles PutMapping DeleteMapping PutPrivileges
    DeletePrivileges PutKey UpdateKeys InvalidateKeys ForgetKeys PutServiceToken DeleteServiceToken Mint Refresh Revoke
    Withdraw ActivateProfile ChangeProfile DropNotices RevokeAccess Touch RotateKeys PutClient OpenClient AddClient
    SuspendClient RotateSecret DeleteClient PutPending Decide Redeem PutSession SeeSession EndSessions PutPushed
    PutDevice DecideDevice PollDevice);

fn commands<S: Lived>() -> Vec<Value> {
    S::LIFE.lines().map(|line| json::parse(line.as_bytes()).expect("JSON")).collect()
}

fn command_bytes<S: State>(command: &S::Command) -> String {
    let mut out = Vec::new();
    S::encode_command(command, &mut out);
    String::from_utf8(out).expect("JSON")
}

fn state_bytes<S: State>(state: &S) -> String {
    let mut out = Vec::new();
    state.encode(&mut out);
    String::from_utf8(out).expect("JSON")
}

/// The state after a command, where the bytes are one: written and read it is the same, done twice it does the same,
/// and what it makes is read as it was written.
fn next<S: State>(state: &S, bytes: &[u8]) -> Option<S> {
    let command = S::decode_command(S::FORMAT, bytes).ok()?;
    let written = command_bytes::<S>(&command);
    let again = S::decode_command(S::FORMAT, written.as_bytes()).expect("what was written is read");
    assert_eq!(command_bytes::<S>(&again), written);
    let after = state.apply(&command).0;
    let form = state_bytes(&after);
    assert_eq!(state_bytes(&state.apply(&again).0), form, "the same by {written}");
    let read =
        S::decode(S::FORMAT, form.as_bytes()).unwrap_or_else(|error| panic!("{error:?}: {form}"));
    assert_eq!(state_bytes(&read), form, "read after {written}");
    Some(after)
}

fn a_life_is_read_as_it_was_written<S: Lived>() {
    let mut seen = std::collections::BTreeSet::new();
    let mut state = S::default();
    for line in S::LIFE.lines() {
        let command = S::decode_command(S::FORMAT, line.as_bytes())
            .unwrap_or_else(|error| panic!("{error:?}: {line}"));
        seen.insert(S::kind(&command));
        assert_eq!(command_bytes::<S>(&command), line, "the form stays what it is");
        state = next(&state, line.as_bytes()).expect("a command");
    }
    let missing: Vec<_> = S::KINDS.iter().filter(|kind| !seen.contains(*kind)).collect();
    assert!(missing.is_empty(), "kinds without an example: {missing:?}");
}

/// One change of a command that somebody might have written: where, of what kind, what comes there.
type Edit = (prop::sample::Index, u8, prop::sample::Index, prop::sample::Index);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = (
        any::<prop::sample::Index>(),
        0u8..9,
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
    );
    prop::collection::vec(edit, 0..4)
}

/// How many values stand in this one, with itself.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum::<usize>(),
        Value::Object(members) => members.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 0,
    }
}

/// The `at`-th of those values.
fn part(value: &Value, at: usize) -> Value {
    let mut left = at;
    let inner: Vec<&Value> = match value {
        _ if at == 0 => return value.clone(),
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    };
    left -= 1;
    for one in inner {
        let size = size(one);
        if left < size {
            return part(one, left);
        }
        left -= size;
    }
    Value::Null
}

/// The value with `change` made of the `at`-th; none leaves it out of what holds it.
fn with(value: Value, at: &mut usize, change: &dyn Fn(Value) -> Option<Value>) -> Option<Value> {
    if *at == 0 {
        *at = usize::MAX;
        return change(value);
    }
    *at -= 1;
    Some(match value {
        Value::Array(items) => {
            Value::Array(items.into_iter().filter_map(|item| with(item, at, change)).collect())
        }
        Value::Object(members) => {
            let mut kept = json::Object::new();
            for (key, value) in members {
                if let Some(value) = with(value, at, change) {
                    kept.insert(key, value);
                }
            }
            Value::Object(kept)
        }
        other => other,
    })
}

fn edited(mut command: Value, life: &[Value], edits: &[Edit]) -> Value {
    for (at, kind, line, from) in edits {
        let other = &life[line.index(life.len())];
        let other = part(other, from.index(size(other)));
        let change = |value: Value| match (kind, value) {
            (0, _) => None,
            (1, _) => Some(Value::Null),
            (2, _) => Some(Value::from("")),
            (3, _) => Some(Value::object()),
            (4, _) => Some(Value::from(u64::MAX)),
            (5, Value::Array(mut items)) => {
                items.extend_from_within(..);
                Some(Value::Array(items))
            }
            (5, _) => Some(Value::from(-1)),
            _ => Some(other.clone()),
        };
        let mut at = at.index(size(&command));
        command = with(command, &mut at, &change).unwrap_or_default();
    }
    command
}

fn any_command_is_refused_or_done<S: Lived>(
    life: &[Value],
    (lived, asked): (usize, &[(usize, Vec<Edit>)]),
) {
    let mut state = S::default();
    for command in &life[..lived] {
        state = state
            .apply(&S::decode_command(S::FORMAT, &json::to_vec(command)).expect("a command"))
            .0;
    }
    for (line, edits) in asked {
        let command = edited(life[*line].clone(), life, edits);
        if let Some(after) = next(&state, &json::to_vec(&command)) {
            state = after;
        }
    }
}

/// How much was lived, then lines that are changed and done.
fn asked(life: usize) -> impl Strategy<Value = (usize, Vec<(usize, Vec<Edit>)>)> {
    (0..=life, prop::collection::vec((0..life, edits()), 1..6))
}

#[test]
fn lives_are_read_as_they_were_written() {
    a_life_is_read_as_it_was_written::<cluster::State>();
    a_life_is_read_as_it_was_written::<authz::State>();
}

#[test]
fn commands_of_the_cluster_are_refused_or_done() {
    let life = commands::<cluster::State>();
    proptest!(|((lived, asked) in asked(life.len()))| {
        any_command_is_refused_or_done::<cluster::State>(&life, (lived, &asked));
    });
}

#[test]
fn commands_of_authz_are_refused_or_done() {
    let life = commands::<authz::State>();
    proptest!(|((lived, asked) in asked(life.len()))| {
        any_command_is_refused_or_done::<authz::State>(&life, (lived, &asked));
    });
}

/// The state after each command of the life, as a snapshot has it.
fn snapshots<S: Lived>() -> Vec<Vec<u8>> {
    let mut state = S::default();
    let lived = S::LIFE.lines().map(|line| {
        state = state.apply(&S::decode_command(S::FORMAT, line.as_bytes()).expect("a command")).0;
        state_bytes(&state).into_bytes()
    });
    lived.collect()
}

/// One that was cut or turned is refused, or is a state like any other.
fn any_snapshot_is_refused_or_read<S: Lived>() {
    let all = snapshots::<S>();
    proptest!(|(lived in 0..all.len(), at: prop::sample::Index, byte: Option<u8>)| {
        let mut bytes = all[lived].clone();
        let at = at.index(bytes.len());
        match byte {
            Some(byte) => bytes[at] = byte,
            None => bytes.truncate(at),
        }
        if let Ok(read) = S::decode(S::FORMAT, &bytes) {
            let form = state_bytes(&read);
            let again = S::decode(S::FORMAT, form.as_bytes()).expect("what was written is read");
            prop_assert_eq!(state_bytes(&again), form);
        }
    });
}

#[test]
fn snapshots_of_others_are_refused_or_read() {
    any_snapshot_is_refused_or_read::<cluster::State>();
    any_snapshot_is_refused_or_read::<authz::State>();
}
