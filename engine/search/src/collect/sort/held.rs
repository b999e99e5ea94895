//! What texts by which hits are ordered take: terms that were read, and what scripts made.
//!
//! Always true: they are counted as they are copied; where there is no memory for one more, nothing is told.

use env::budget::Lease;

use super::*;
use crate::error::Error;

/// Texts of so many bytes are not counted: a few hits by short words.
const TEXT_BYTES_FREE: usize = 64 << 10;

impl Sorter {
    /// The memory that texts of hits may take.
    pub fn set_lease(&mut self, lease: Lease) {
        self.account = Account::of("sorted_hits", lease);
    }

    /// There is no memory for what hits are ordered by: none of them is to be told.
    pub fn fault(&self) -> Option<&Error> {
        self.account.fault()
    }

    /// Gives away the memory of what [`Sorter::into_sorted`] gives.
    pub fn take_memory(&mut self) -> result::Memory {
        self.account.take_memory()
    }

    /// Counts more texts of hits that are kept.
    pub(super) fn hold(&mut self, bytes: usize) {
        self.text_bytes += bytes;
        if self.text_bytes > self.paid_bytes.max(TEXT_BYTES_FREE) {
            self.account.grow(self.text_bytes - self.paid_bytes);
            self.paid_bytes = self.text_bytes;
        }
    }

    /// Runs the scripts for hits of one window, before they are offered; false where it must wait.
    pub fn run_scripts(&mut self, found: &[u32], scores: &[f32], turn: &mut Turn<'_>) -> bool {
        let is_ready = self.run_on(found, scores, turn);
        let texts = self.readers.iter().map(|reader| match reader {
            Reader::Script { runner, .. } => runner.results_bytes(),
            _ => 0,
        });
        let texts: usize = texts.sum();
        // The next window has as much.
        if texts > self.made_bytes.max(TEXT_BYTES_FREE) {
            self.account.grow(texts - self.made_bytes);
            self.made_bytes = texts;
        }
        is_ready
    }

    fn run_on(&mut self, found: &[u32], scores: &[f32], turn: &mut Turn<'_>) -> bool {
        for (reader, children) in self.readers.iter_mut().zip(&self.children) {
            let Reader::Script { runner, trouble, docs, .. } = reader else { continue };
            if trouble.get().is_some() {
                continue;
            }
            let ready = match children {
                None => runner.prepare(found, scores, turn),
                Some(children) => {
                    docs.clear();
                    let inside = |doc: &u32| children.of(*doc, |child| Some(child.get()));
                    docs.extend(found.iter().flat_map(inside));
                    runner.prepare(docs, &[], turn)
                }
            };
            if !ready {
                return false;
            }
            let failed = runner.results().iter().flatten().find_map(|it| it.as_ref().err());
            if let Some(error) = failed {
                let _ = trouble.set(error.clone());
            }
        }
        true
    }
}
