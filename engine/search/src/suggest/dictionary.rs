//! The terms of a field in one shard, all segments together.

use std::collections::BTreeMap;

use base::FieldNo;
use segment::{Missing, View};

use super::damaged;
use crate::error::{Error, Kind, Result};
use crate::plan::bound::Pattern;
use automaton::Next;

/// How common a term is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    /// Documents with it.
    pub docs: u64,
    /// Times it stands in them.
    pub total: u64,
}

/// Terms that one walk looks at, at most.
const WALK_MAX: usize = 1_000_000;

/// Terms of a walk between two looks at whether somebody still waits.
pub(super) const LOOK_TERMS: usize = 256;

/// Whether somebody still waits for what is looked for.
pub type Awaited<'w> = &'w dyn Fn() -> bool;

/// Nobody waits any more.
pub(super) fn check(awaited: Awaited<'_>) -> Result<()> {
    match awaited() {
        true => Ok(()),
        false => Err(Error::new(Kind::IllegalState, "nobody waits for it any more")),
    }
}

/// The terms. To look for one fails where nobody waits any more.
#[derive(Clone, Copy)]
pub(crate) struct Dictionary<'v> {
    pub view: &'v View,
    pub field: FieldNo,
    pub awaited: Awaited<'v>,
}

impl Dictionary<'_> {
    /// Has any segment terms of the field?
    pub fn is_there(&self) -> bool {
        self.view.segments.iter().any(|at| at.segment.terms(self.field).is_some())
    }

    /// How common a term is; zero where it is not there.
    pub fn stats(&self, term: &[u8]) -> Result<Stats> {
        check(self.awaited)?;
        let mut stats = Stats::default();
        for at in &self.view.segments {
            let Some(terms) = at.segment.terms(self.field) else { continue };
            let mut cursor = terms.cursor();
            let mut missing = Missing::new();
            cursor.need(term, &mut missing).map_err(|error| damaged(&error))?;
            missing.fetch();
            if cursor.seek_ceil(term).map_err(|error| damaged(&error))? && cursor.term() == term {
                let info = cursor.info().map_err(|error| damaged(&error))?;
                stats.docs += u64::from(info.doc_freq);
                stats.total += info.total_freq;
            }
        }
        Ok(stats)
    }

    /// The terms that a pattern describes.
    pub fn matching(&self, pattern: &Pattern) -> Result<BTreeMap<Box<[u8]>, Stats>> {
        let mut found: BTreeMap<Box<[u8]>, Stats> = BTreeMap::new();
        let mut left = WALK_MAX;
        for at in &self.view.segments {
            let Some(terms) = at.segment.terms(self.field) else { continue };
            let mut cursor = terms.cursor();
            let mut seek = Some(pattern.start().to_vec());
            while left > 0 {
                if left.is_multiple_of(LOOK_TERMS) {
                    check(self.awaited)?;
                }
                left -= 1;
                let mut missing = Missing::new();
                let needed = match &seek {
                    Some(target) => cursor.need(target, &mut missing),
                    None => cursor.need_next(&mut missing),
                };
                needed.map_err(|error| damaged(&error))?;
                if !missing.is_empty() {
                    missing.fetch();
                }
                let more = match seek.take() {
                    Some(target) => cursor.seek_ceil(&target),
                    None => cursor.next(),
                };
                if !more.map_err(|error| damaged(&error))? {
                    break;
                }
                match pattern.look(cursor.term()) {
                    Next::Match => {
                        let info = cursor.info().map_err(|error| damaged(&error))?;
                        let stats = found.entry(cursor.term().into()).or_default();
                        stats.docs += u64::from(info.doc_freq);
                        stats.total += info.total_freq;
                    }
                    Next::Step => {}
                    Next::Seek(target) => seek = Some(target),
                    Next::End => break,
                }
            }
        }
        Ok(found)
    }
}
