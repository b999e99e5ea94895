//! The buffer: an inverted index in memory that takes documents one by one until it is sealed.
//!
//! Always true
//! 1. Only committed operations get here.
//! 2. A document that a later one replaced is dead; sealing leaves it out.
//! 3. A frozen buffer never changes and may be read by any thread: a worker seals it while the home
//!    core still answers gets from it.
//!
//! Not here: deciding (`decide`), the order of buffers and segments (`place`), files.

pub(crate) mod arena;
pub(crate) mod columns;
pub(crate) mod seal;
mod sort;
pub(crate) mod stored;
pub(crate) mod table;
pub(crate) mod terms;

use base::FieldNo;
use base::hash::Map;
use env::Bytes;
use mapping::document::Entry;

use self::columns::{Numbers, Places, Strings};
use self::stored::{Stamp, Stored};
use self::terms::{FieldTerms, Words};

/// The buffer.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    docs: Stored,
    words: Words,
    terms: Vec<(FieldNo, FieldTerms)>,
    numbers: Vec<(FieldNo, Numbers)>,
    /// Fields with points of two dimensions; few, so they are looked for one by one.
    places: Vec<(FieldNo, Places)>,
    /// Fields with columns of byte strings.
    strings: Vec<(FieldNo, Strings)>,
    /// Where a field stands in `terms`.
    terms_at: Map<FieldNo, usize>,
    /// Where a field stands in `numbers`.
    numbers_at: Map<FieldNo, usize>,
    /// Bytes that the fields held when they were last asked.
    field_bytes: usize,
    /// Documents until they are asked again.
    ask_in: u32,
}

/// Adding up the fields costs a walk over them, so it is done once in so many documents.
const ASK_EVERY: u32 = 64;

impl Buffer {
    /// The documents.
    pub(crate) fn docs(&self) -> &Stored {
        &self.docs
    }

    /// Whether it holds no document at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.docs.len() == 0
    }

    /// Bytes of memory held, near enough.
    pub(crate) fn size_bytes(&self) -> usize {
        self.docs.size_bytes() + self.words.size_bytes() + self.field_bytes
    }

    /// Takes a document whose id no living one has; gives its number. Its nested documents stand
    /// right before it.
    pub(crate) fn add<'a>(
        &mut self,
        id: &[u8],
        routing: Option<&str>,
        source: Bytes,
        stamp: Stamp,
        entries: impl Iterator<Item = Entry<'a>>,
    ) -> u32 {
        let mut doc = self.docs.next();
        for entry in entries {
            match entry {
                Entry::Text { field, terms, length } => {
                    let at = self.terms_at(field);
                    self.terms[at].1.add_text(&mut self.words, doc, terms, length);
                }
                Entry::Keyword { field, term, indexed, column } => {
                    self.keyword(field, doc, term, indexed, column);
                }
                Entry::Number { field, value, indexed, column } => {
                    let next = self.numbers.len();
                    let at = *self.numbers_at.entry(field).or_insert(next);
                    if at == next {
                        self.numbers.push((field, Numbers::default()));
                    }
                    self.numbers[at].1.add(doc, value, indexed, column);
                }
                Entry::Point { field, value } => at_field(&mut self.places, field).add(doc, value),
                Entry::Feature { field, term, freq } => {
                    let at = self.terms_at(field);
                    self.terms[at].1.add_feature(&mut self.words, doc, term, freq);
                }
                Entry::Bytes { field, bytes } => {
                    at_field(&mut self.strings, field).add(doc, bytes);
                }
                Entry::Child { path } => {
                    self.keyword(FieldNo::NESTED_PATH, doc, path, true, false);
                    self.docs.add_nested(stamp);
                    doc += 1;
                }
                Entry::Exists { field } => {
                    let name = field.get().to_be_bytes();
                    self.keyword(FieldNo::FIELD_NAMES, doc, &name, true, false);
                }
                Entry::Ignored { path } => {
                    self.keyword(FieldNo::IGNORED, doc, path.as_bytes(), true, true);
                }
            }
        }
        if let Some(routing) = routing {
            self.keyword(FieldNo::ROUTING, doc, routing.as_bytes(), false, true);
        }
        let added = self.docs.add(id, source, stamp);
        debug_assert_eq!(added, doc, "after its nested documents");
        match self.ask_in.checked_sub(1) {
            Some(left) => self.ask_in = left,
            None => {
                self.field_bytes = self.terms.iter().map(|(_, terms)| terms.size_bytes()).sum();
                self.field_bytes +=
                    self.numbers.iter().map(|(_, numbers)| numbers.size_bytes()).sum::<usize>();
                self.field_bytes +=
                    self.places.iter().map(|(_, places)| places.size_bytes()).sum::<usize>();
                self.field_bytes +=
                    self.strings.iter().map(|(_, strings)| strings.size_bytes()).sum::<usize>();
                self.ask_in = ASK_EVERY;
            }
        }
        doc
    }

    /// Puts a living document away.
    pub(crate) fn remove(&mut self, doc: u32) {
        self.docs.remove(doc);
    }

    /// The routing value of a document.
    pub(crate) fn routing(&self, doc: u32) -> Option<&[u8]> {
        self.column_of(FieldNo::ROUTING, doc).next()
    }

    /// The paths of a document that were left out.
    pub(crate) fn ignored(&self, doc: u32) -> impl Iterator<Item = &[u8]> {
        self.column_of(FieldNo::IGNORED, doc)
    }

    fn column_of(&self, field: FieldNo, doc: u32) -> impl Iterator<Item = &[u8]> {
        let at = self.terms_at.get(&field);
        at.into_iter().flat_map(move |at| self.terms[*at].1.column_of(&self.words, doc))
    }

    fn keyword(&mut self, field: FieldNo, doc: u32, term: &[u8], indexed: bool, column: bool) {
        let at = self.terms_at(field);
        self.terms[at].1.add_keyword(&mut self.words, doc, term, indexed, column);
    }

    fn terms_at(&mut self, field: FieldNo) -> usize {
        let next = self.terms.len();
        let at = *self.terms_at.entry(field).or_insert(next);
        if at == next {
            self.terms.push((field, FieldTerms::default()));
        }
        at
    }
}

/// What a list holds of a field.
fn at_field<T: Default>(list: &mut Vec<(FieldNo, T)>, field: FieldNo) -> &mut T {
    let at = match list.iter().position(|(known, _)| *known == field) {
        Some(at) => at,
        None => {
            list.push((field, T::default()));
            list.len() - 1
        }
    };
    &mut list[at].1
}
