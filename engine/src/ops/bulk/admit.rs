//! Whether the items of a write may be done, and which of them wait for others of the same request.

use std::collections::BTreeMap;
use std::rc::Rc;

use base::hash::Set;
use env::{Env, Spawn};

use super::target::{Name, Target};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{Gate, Limits};
use crate::ops::document::{WriteAction, WriteItem, Written};
use crate::ops::limited::{self, Judged};

/// What came of asking.
pub(super) struct Admitted {
    /// All items, where any of them has conditions now.
    pub(super) changed: Option<Vec<WriteItem>>,
    /// Places of those that are to be judged once others are done.
    pub(super) later: Vec<usize>,
}

/// A document: its index and id. Of one id with several routing values there may be several, which wait for one
/// another for nothing.
type Place<'a> = ([u8; 16], &'a str);

impl<E: Env> Core<E> {
    /// Asks the gate for each item what it stands for. Items of a caller with limits are judged, and
    /// come back with the conditions that keep the judgement true; those refused are answered. Where it `waits`,
    /// an item is judged after those before it that go to its document.
    pub(super) async fn admit(
        self: &Rc<Self>,
        gate: &dyn Gate,
        items: &[WriteItem],
        targets: &BTreeMap<Name<'_>, Result<Target>>,
        results: &mut [Option<Result<Written>>],
        waits: bool,
    ) -> Admitted {
        let mut changed: Option<Vec<WriteItem>> = None;
        let mut later = Vec::new();
        // Documents of items so far, from the first on that is judged.
        let mut taken: Option<Set<Place<'_>>> = None;
        let mut free: Option<(&Target, WriteAction)> = None;
        let mut seen: Option<(&Target, Result<Limits>)> = None;
        for (at, item) in items.iter().enumerate() {
            self.env.spawn().yield_at(at).await;
            let Some(Ok(target)) = targets.get(&Name::of(item)) else { continue };
            if target.blocked.is_some() {
                continue;
            }
            // Most requests do one thing to one index: asked once, it need not be asked again.
            let is_known = free.is_some_and(|(known, action)| {
                std::ptr::eq(known, target) && action == item.action
            });
            if item.action == WriteAction::Update
                && seen.as_ref().is_none_or(|(known, _)| !std::ptr::eq(*known, target))
            {
                seen =
                    Some((target, limited::sight(gate, &target.index.name, target.via.as_slice())));
            }
            let sight = seen.as_ref().map(|(_, sight)| sight);
            let read = sight.and_then(|sight| sight.as_ref().ok());
            let limits = match is_known {
                true => Ok(None),
                false => limited::ask(gate, item.action, &target.index.name, target.via.as_slice()),
            };
            let is_free =
                item.action != WriteAction::Update || read.is_some_and(Limits::is_unlimited);
            let is_judged = match &limits {
                Ok(limits) => (limits.is_some() || !is_free) && !target.refuses(item),
                Err(_) => false,
            };
            if waits && is_judged && taken.is_none() {
                taken = Some(self.places(&items[..at], targets).await);
            }
            if let Some(taken) = &mut taken
                && let Some(place) = place(item, target)
                && !taken.insert(place)
            {
                later.push(at);
                results[at] = Some(Err(Error::internal("a write that was not done")));
                continue;
            }
            let admitted = match limits {
                Ok(None) => {
                    free = Some((target, item.action));
                    if is_free {
                        continue;
                    }
                    let own = &mut changed.get_or_insert_with(|| items.to_vec())[at];
                    let untold = sight.and_then(|sight| sight.as_ref().err());
                    let routing = item.routing.as_deref().or(target.routing.as_deref());
                    let admitted = self.admit_unseen(&target.index, routing, own).await;
                    // Who may not read at all is told so where it wants to.
                    admitted.map_err(|error| match error.status {
                        403 => untold.cloned().unwrap_or(error),
                        _ => error,
                    })
                }
                // What a data stream takes of nobody is refused as it came: what is judged may have become another
                // action.
                Ok(Some(_)) if !is_judged => continue,
                Ok(Some(limits)) => {
                    let own = &mut changed.get_or_insert_with(|| items.to_vec())[at];
                    let routing = item.routing.as_deref().or(target.routing.as_deref());
                    let limits = Judged { write: &limits, read };
                    self.admit_write(&target.index, routing, &limits, own).await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = admitted {
                results[at] = Some(Err(error));
            }
        }
        Admitted { changed, later }
    }

    /// The documents that these items go to.
    async fn places<'a>(
        &self,
        items: &'a [WriteItem],
        targets: &'a BTreeMap<Name<'_>, Result<Target>>,
    ) -> Set<Place<'a>> {
        let mut places = Set::default();
        for (at, item) in items.iter().enumerate() {
            if let Some(Ok(target)) = targets.get(&Name::of(item)) {
                places.extend(place(item, target));
            }
            self.env.spawn().yield_at(at).await;
        }
        places
    }
}

/// The document that an item goes to; none where its id is to be made.
fn place<'a>(item: &'a WriteItem, target: &'a Target) -> Option<Place<'a>> {
    Some((target.index.uuid, item.id.as_deref()?))
}
