//! The buffer: an inverted index in memory that takes documents one by one until it is sealed.
//!
//! Always true
//! 1. Only committed operations get here.
//! 2. A document that a later one replaced is dead; sealing leaves it out.
//! 3. A document comes in steps, for one may hold millions of words; nobody finds anything of it before
//!    [`Buffer::end`], and until then nobody freezes the buffer (`apply` sees to that).
//! 4. A frozen buffer never changes and may be read by any thread: a worker seals it while the home
//!    core still answers gets from it.
//!
//! Not here: deciding (`decide`), the order of buffers and segments (`place`), files.

pub(crate) mod arena;
pub(crate) mod columns;
mod rows;
pub(crate) mod seal;
mod sort;
pub(crate) mod stored;
pub(crate) mod table;
pub(crate) mod terms;

use base::FieldNo;
use base::hash::Map;
use env::Bytes;
use mapping::document::{Entries, Entry, Terms};

use self::columns::{Numbers, Places, Strings};
use self::stored::{Stamp, Stored};
use self::terms::{FieldTerms, Words, Work};

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

/// After a document that took so much, it is done at once.
const ASK_AFTER_BYTES: usize = 256 << 10;

/// A document on its way in.
#[derive(Debug)]
pub(crate) struct Adding<'a> {
    entries: Option<Entries<'a>>,
    stamp: Stamp,
    /// A text of which words may be left.
    text: Option<Text<'a>>,
    /// What it took until now, as [`Work`] counts.
    done_bytes: usize,
}

#[derive(Debug)]
struct Text<'a> {
    field: FieldNo,
    terms: Terms<'a>,
    length: u32,
}

impl<'a> Adding<'a> {
    /// A document of these entries (none, where nothing could be read from it).
    pub(crate) fn new(entries: Option<Entries<'a>>, stamp: Stamp) -> Self {
        Self { entries, stamp, text: None, done_bytes: 0 }
    }
}

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

    /// Takes a document whose id no living one has, at one go; gives its number.
    pub(crate) fn add(
        &mut self,
        id: &[u8],
        routing: Option<&str>,
        source: Bytes,
        stamp: Stamp,
        entries: Entries<'_>,
    ) -> u32 {
        let mut adding = Adding::new(Some(entries), stamp);
        while !self.step(&mut adding, usize::MAX) {}
        self.end(&adding, id, routing, source)
    }

    /// Takes entries of a document until `bytes` are done; false where more may be left. Its nested
    /// documents stand right before it.
    pub(crate) fn step(&mut self, adding: &mut Adding<'_>, bytes: usize) -> bool {
        let mut work = Work(bytes);
        let mut is_over = false;
        while !is_over && !work.is_done() {
            if let Some(text) = &mut adding.text {
                let (doc, at) = (self.docs.next(), self.terms_at(text.field));
                let terms = &mut self.terms[at].1;
                if terms.add_words(&mut self.words, doc, &mut text.terms, &mut work) {
                    terms.add_length(doc, text.length);
                    adding.text = None;
                }
                continue;
            }
            match adding.entries.as_mut().and_then(Iterator::next) {
                Some(Entry::Text { field, terms, length }) => {
                    adding.text = Some(Text { field, terms, length });
                }
                Some(entry) => self.enter(entry, adding.stamp, &mut work),
                None => is_over = true,
            }
        }
        adding.done_bytes = adding.done_bytes.saturating_add(bytes - work.0);
        is_over
    }

    /// Ends a document all of whose entries are in, and whose id no living one has; gives its number.
    pub(crate) fn end(
        &mut self,
        adding: &Adding<'_>,
        id: &[u8],
        routing: Option<&str>,
        source: Bytes,
    ) -> u32 {
        let doc = self.docs.next();
        // What was acknowledged before such were refused stays, without it.
        if let Some(routing) = routing.filter(|text| text.len() <= mapping::TERM_BYTES_MAX) {
            self.keyword(FieldNo::ROUTING, doc, routing.as_bytes(), false, true);
        }
        let added = self.docs.add(id, source, adding.stamp);
        debug_assert_eq!(added, doc, "after its nested documents");
        match self.ask_in.checked_sub(1) {
            Some(left) if adding.done_bytes < ASK_AFTER_BYTES => self.ask_in = left,
            _ => self.ask_fields(),
        }
        doc
    }

    fn ask_fields(&mut self) {
        self.field_bytes = self.terms.iter().map(|(_, terms)| terms.size_bytes()).sum();
        self.field_bytes +=
            self.numbers.iter().map(|(_, numbers)| numbers.size_bytes()).sum::<usize>();
        self.field_bytes +=
            self.places.iter().map(|(_, places)| places.size_bytes()).sum::<usize>();
        self.field_bytes +=
            self.strings.iter().map(|(_, strings)| strings.size_bytes()).sum::<usize>();
        self.ask_in = ASK_EVERY;
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

    /// Takes an entry of the next document, but for texts, whose words come in steps.
    #[inline]
    fn enter(&mut self, entry: Entry<'_>, stamp: Stamp, work: &mut Work) {
        let doc = self.docs.next();
        match entry {
            Entry::Text { .. } => unreachable!("a text comes word by word"),
            Entry::Keyword { field, term, indexed, column } => {
                work.count(term.len());
                self.keyword(field, doc, term, indexed, column);
            }
            Entry::Number { field, value, indexed, column } => {
                work.count(size_of::<i64>());
                let next = self.numbers.len();
                let at = *self.numbers_at.entry(field).or_insert(next);
                if at == next {
                    self.numbers.push((field, Numbers::default()));
                }
                self.numbers[at].1.add(doc, value, indexed, column);
            }
            Entry::Point { field, value } => {
                work.count(value.len());
                at_field(&mut self.places, field).add(doc, value);
            }
            Entry::Feature { field, term, freq } => {
                work.count(term.len());
                let at = self.terms_at(field);
                self.terms[at].1.add_feature(&mut self.words, doc, term, freq);
            }
            Entry::Bytes { field, bytes } => {
                work.count(bytes.len());
                at_field(&mut self.strings, field).add(doc, bytes);
            }
            Entry::Child { path } => {
                work.count(path.len());
                self.keyword(FieldNo::NESTED_PATH, doc, path, true, false);
                self.docs.add_nested(stamp);
            }
            Entry::Exists { field } => {
                let name = field.get().to_be_bytes();
                work.count(name.len());
                self.keyword(FieldNo::FIELD_NAMES, doc, &name, true, false);
            }
            Entry::Ignored { path } => {
                work.count(path.len());
                self.keyword(FieldNo::IGNORED, doc, path.as_bytes(), true, true);
            }
        }
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
