//! A document, walked once: prepared entries in a flat arena, perhaps a Delta.
//!
//! [`Parser`] reads the JSON into a tape and walks it beside the mapping's tree (`walk`). A value
//! whose field is there is judged by the field's type and becomes entries ([`value`]); one whose
//! field is not there is guessed at (`unknown`), and the guesses of the whole document are the
//! [`Delta`] that the caller takes to the cluster. Faults are put in Elasticsearch's words with the
//! place in the source (`fault`); only then is the place looked for.
//!
//! Always true
//! 1. A document that is refused, or needs fields first, leaves nothing in the arena.
//! 2. A document whose values do not fit asks for no new fields.
//! 3. Nor does one that analyzers were stopped in ([`crate::analysis::effort`]); it is refused.
//! 4. Recursion goes no deeper than the JSON, which `json` bounds.

pub mod arena;
mod completion;
mod family;
mod fault;
mod feature;
mod flattened;
pub mod kept;
mod source;
mod special;
mod synthetic;
mod unknown;
mod value;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use json::tape;

use crate::analysis::{Scratch, effort};
use crate::tree::{Delta, Mapping};
use crate::{Error, Result};

pub use arena::{Arena, Entries, Entry, Terms};
pub use fault::immense;

/// Steps of analysis in which an executor reads a document, about half a millisecond; one that takes more is for a
/// worker, which begins it anew.
pub const STEPS_HERE: u64 = 256 << 10;

/// Steps in which a worker reads documents whose cost nobody knows, a tenth of a second or so: more than many plain
/// ones take. What takes more is long, and is begun anew among such.
pub const STEPS_FIRST: u64 = 128 << 20;

/// Steps that analyzers may take for one document, wherever: about a minute of a processor. What was acknowledged
/// is read again whatever it takes.
pub const STEPS_MAX: u64 = 32 << 30;

/// Analyzers would have to do more for a document than [`STEPS_MAX`].
#[cold]
pub fn too_costly(id: &str) -> Error {
    Error::illegal_argument(format!(
        "the fields of the document with id '{id}' are too costly: their analyzers would take more than \
         [{STEPS_MAX}] steps"
    ))
}

/// How strictly a document is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A request: what does not fit is refused, new fields give a Delta.
    Strict,
    /// Replay of what was acknowledged: a value that no longer fits goes to `_ignored`, unknown
    /// fields are passed over; only text that is no JSON object fails.
    Replay,
}

/// What became of a document.
#[derive(Debug)]
pub enum Parsed {
    /// It lies in the arena under this number.
    Ready(usize),
    /// It has fields that the mapping lacks; parse it again once they are there.
    NeedsMapping(Delta),
}

/// Walks documents; keeps its buffers from one to the next.
#[derive(Debug, Default)]
pub struct Parser {
    tape: tape::Parser,
    scratch: Buffers,
    /// The next documents come without routing.
    is_unrouted: bool,
    /// Templates that the next documents' request names.
    chosen: Option<Arc<Chosen>>,
}

/// The dynamic templates that a request names for new fields, by the fields' full paths: they decide about them
/// whatever they would fit.
pub type Chosen = BTreeMap<Box<str>, Box<str>>;

/// Memory of a walk, used again for the next one.
#[derive(Debug, Default)]
struct Buffers {
    analysis: Scratch,
    /// Text of a number for a field that keeps words.
    number: String,
    /// What a normalizer made.
    normalized: String,
    fields: value::States,
}

impl Parser {
    /// A parser with empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells whether the documents that come name their routing, as children of a family must.
    pub fn set_routed(&mut self, is_routed: bool) {
        self.is_unrouted = !is_routed;
    }

    /// Tells which templates the request names for the documents that come.
    pub fn set_chosen(&mut self, chosen: Option<&Arc<Chosen>>) {
        self.chosen = chosen.cloned();
    }

    /// Walks one document. On anything but `Ready` the arena is as it was.
    ///
    /// # Errors
    /// Where the document is no JSON object, does not fit its mapping, or adds what may not be
    /// added; in Elasticsearch's words.
    pub fn parse(
        &mut self,
        mapping: &Mapping,
        id: &str,
        source: &[u8],
        mode: Mode,
        arena: &mut Arena,
    ) -> Result<Parsed> {
        if source.iter().all(u8::is_ascii_whitespace) {
            return Err(fault::empty());
        }
        let document = self.tape.parse(source).map_err(|error| fault::json(&error, source))?;
        let root = document.root();
        if root.kind() != tape::Kind::Object {
            return Err(fault::no_object(root));
        }
        let mark = arena.begin();
        self.scratch.fields.begin(arena.next_entry());
        self.scratch.analysis.set_lease(arena.lease().filter(|_| mode == Mode::Strict).cloned());
        let mut walk = walk::Walk::new(mapping, id, mode, arena, &mut self.scratch);
        walk.is_routed = !self.is_unrouted;
        walk.chosen = self.chosen.as_deref();
        let mut done = walk.document(root);
        if effort::is_exhausted() {
            done = Err(too_costly(id).into());
        }
        match done {
            Ok(None) => Ok(Parsed::Ready(arena.finish())),
            Ok(Some(delta)) => {
                arena.roll_back(mark);
                Ok(Parsed::NeedsMapping(delta))
            }
            Err(error) => {
                arena.roll_back(mark);
                Err(fault::full_of(None, id, *error).shortened())
            }
        }
    }
}

#[cfg(test)]
mod tests;
