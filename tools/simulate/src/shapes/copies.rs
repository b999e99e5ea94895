//! Copies of those indices, with as many shards, fewer, or more: each holds every document of its source,
//! at its version.

use std::collections::BTreeMap;

use cluster::State;
use engine::Everything;
use engine::ops::IndicesOptions;
use engine::ops::resize::Resize;

use super::{Work, at_once, doors, may_fail, says_closed};
use crate::context::Context;
use crate::indices::Register;

/// Copies that stand at once.
const COPIES: u64 = 2;

/// Documents by id: tag and version.
type Documents = BTreeMap<String, Option<(u64, u64)>>;

/// All that is known.
#[derive(Default)]
pub(super) struct Copies {
    /// Which making of a copy stands.
    there: BTreeMap<String, Register<Option<u64>>>,
    /// What each holds.
    holds: BTreeMap<u64, Documents>,
    /// Makings so far.
    made: u64,
}

/// The alias by which a making is known again.
const MADE: &str = "making-";

impl Copies {
    /// Holds the state against what may stand.
    pub(super) fn look(&mut self, state: &State, is_start: bool) {
        for (name, register) in &mut self.there {
            register.check(&format!("copy [{name}]"), made(state, name), is_start);
        }
    }
}

/// Which making of a copy serves.
fn made(state: &State, name: &str) -> Option<u64> {
    let index = state.index(name).filter(|index| !index.copying)?;
    let aliases = index.aliases.keys();
    let made = aliases.filter_map(|alias| alias.strip_prefix(MADE)?.parse().ok()).next();
    Some(made.unwrap_or_else(|| panic!("[{name}] has no alias of its making")))
}

fn with<T>(context: &Context, work: impl FnOnce(&mut Copies) -> T) -> T {
    work(&mut context.oracle.shapes.borrow_mut().copies)
}

fn register<T>(
    context: &Context,
    name: &str,
    work: impl FnOnce(&mut Register<Option<u64>>) -> T,
) -> T {
    with(context, |copies| {
        work(copies.there.entry(name.to_owned()).or_insert_with(|| Register::new(None)))
    })
}

/// Copies an index, once or twice at one moment, perhaps while somebody closes it.
pub(super) async fn copy(context: &Context) {
    let Some(source) = doors::open_one(context).await else { return };
    doors::write(context, source, doors::Beside::Nothing).await;
    if !doors::set_block(context, source, true).await {
        return;
    }
    let Some(documents) = doors::read_all(context, source).await else { return };
    let first = format!("copy{}", context.below(COPIES));
    let second = format!("copy{}", context.below(COPIES));
    let mut targets = vec![first];
    if context.one_in(2) {
        targets.push(second);
    }
    for target in &targets {
        if !remove(context, target).await {
            return;
        }
    }
    let closes = context.one_in(5);
    // The one that was there first may be gone again when the other hears of it: its source was closed, or the
    // disk was full.
    let is_one_name = targets.len() > 1 && targets[0] == targets[1];
    let may_be_gone = is_one_name && (closes || may_fail(context));
    let mut works: Vec<Work<'_, ()>> = Vec::new();
    for target in &targets {
        works.push(Box::pin(copy_to(context, source, target, (&documents, closes, may_be_gone))));
    }
    if closes {
        works.push(Box::pin(doors::close_beside(context, source)));
    }
    at_once(context, works).await;
    for target in &targets {
        check(context, target).await;
    }
    if !closes {
        doors::set_block(context, source, false).await;
    }
}

/// Makes one copy; `closes`: its source may be closed meanwhile; `may_be_gone`: another copy of this name may
/// have failed by that.
async fn copy_to(
    context: &Context,
    source: &str,
    target: &str,
    (documents, closes, may_be_gone): (&Documents, bool, bool),
) {
    let shards = context.node.cores[0].state().index(source).map(|it| it.settings.shard_count());
    let shards = shards.unwrap_or(1);
    let (kind, count) = match context.below(3) {
        0 => (Resize::Clone, shards),
        1 => (Resize::Shrink, 1),
        _ => (Resize::Split, shards * 2),
    };
    let making = with(context, |copies| {
        copies.made += 1;
        copies.holds.insert(copies.made, documents.clone());
        copies.made
    });
    register(context, target, |register| register.begin(Some(making)));
    let body = format!(
        r#"{{"settings":{{"index.number_of_shards":{count},"index.blocks.write":null}},"aliases":{{"{MADE}{making}":{{}}}}}}"#
    );
    let body = json::parse(body.as_bytes()).expect("well-formed");
    let done = context.core().resize(&Everything, kind, source, target, (&body, None)).await;
    context.say(|| format!("{kind:?} [{source}] to [{target}] as {making} -> {done:?}"));
    let is_sure = match done {
        Ok(_) => return register(context, target, |register| register.done(Some(making))),
        Err(error) if error.kind == "resource_already_exists_exception" => {
            let other = |register: &mut Register<Option<u64>>| {
                register.is_any(|there| there.is_some_and(|other| other != making))
            };
            let is_there = register(context, target, other) || may_be_gone;
            assert!(is_there, "[{target}] is there and nobody made it");
            true
        }
        Err(error) if closes && (says_closed(&error) || error.status == 503) => true,
        Err(error) => context.judge(&format!("{kind:?} [{source}] to [{target}]"), &error),
    };
    if is_sure {
        register(context, target, |register| register.not(&Some(making)));
    }
}

/// Takes a copy away; whether it is.
async fn remove(context: &Context, name: &str) -> bool {
    if context.node.cores[0].state().index(name).is_none() {
        return register(context, name, |register| register.sure() == Some(&None));
    }
    register(context, name, |register| register.begin(None));
    let options = IndicesOptions::default();
    let done = context.core().delete_index(&Everything, name, options).await;
    context.say(|| format!("remove [{name}] -> {done:?}"));
    match done {
        Ok(()) => register(context, name, |register| register.done(None)),
        Err(error) => {
            if context.judge(&format!("remove [{name}]"), &error) {
                register(context, name, |register| register.not(&None));
            }
            return false;
        }
    }
    true
}

/// Reads a copy; false where that fails.
async fn check(context: &Context, name: &str) -> bool {
    let Some(making) = made(&context.node.cores[0].state(), name) else { return true };
    let Some(documents) = with(context, |copies| copies.holds.get(&making).cloned()) else {
        panic!("[{name}] is of making {making}, which nobody asked for");
    };
    let mut are_read = true;
    for (id, expected) in documents {
        match doors::get(context, name, &id).await {
            Ok(found) => assert_eq!(found, expected, "{name}/{id}, a copy"),
            Err(error) => {
                context.judge(&format!("get {name}/{id}"), &error);
                are_read = false;
            }
        }
    }
    are_read
}

/// Each document of each copy.
pub(super) async fn look_closely(context: &Context) -> bool {
    let names: Vec<String> = with(context, |copies| copies.there.keys().cloned().collect());
    let mut are_read = true;
    for name in names {
        are_read &= check(context, &name).await;
    }
    are_read
}
