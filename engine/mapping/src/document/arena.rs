//! Prepared documents, one after the other in flat memory.
//!
//! Three growing lists hold everything: `bytes` (terms, texts, paths), `entries` (fixed size) and
//! `chunks`. The words of one text value lie together in `bytes`, each as the distance of its
//! position from the one before (variable length), its length (variable length) and its bytes; the
//! values of one field of one document are joined by a chain of chunks. So an arena is built without
//! an allocation a document, crosses cores as three pointers, and is read from front to back.

use base::{FieldNo, vint};
use env::budget::{Lease, Taken};

use crate::analysis::room::{STEP_BYTES, UNPAID_BYTES};
use crate::{Error, ErrorKind, Result};

/// Most bytes of an arena: offsets are 32 bits, and no batch needs more.
pub const BYTES_MAX: usize = 1 << 30;

/// What is too large, where nobody knows yet which document or field it is.
pub(super) const WHOLE: &str = "<fields of a document>";

/// Prepared documents of one batch; may cross cores; reused after [`Arena::clear`].
#[derive(Debug)]
pub struct Arena {
    bytes: Vec<u8>,
    entries: Vec<Raw>,
    chunks: Vec<Chunk>,
    /// One past the last entry of each document.
    docs: Vec<u32>,
    /// Where the document at hand begins in each list, and how many bytes it may have in all.
    doc_start: usize,
    doc_entry: usize,
    doc_chunk: usize,
    doc_bytes_max: usize,
    /// Who pays for a document while it is read, and how many bytes it may have before more are paid for.
    payer: Option<Box<Payer>>,
    paid_bytes: usize,
}

/// Pays for a document while it is read.
#[derive(Debug)]
struct Payer {
    lease: Lease,
    ahead: Option<Taken>,
    /// There was nothing left to pay with.
    is_unpaid: bool,
}

impl Default for Arena {
    fn default() -> Self {
        Self::bounded(BYTES_MAX)
    }
}

/// An entry with offsets in place of slices.
#[derive(Clone, Copy, Debug)]
enum Raw {
    Text { field: FieldNo, chunk: u32, length: u32 },
    Keyword { field: FieldNo, start: u32, len: u16, indexed: bool, column: bool },
    Number { field: FieldNo, indexed: bool, column: bool, value: i64 },
    Point { field: FieldNo, start: u32, len: u8 },
    Feature { field: FieldNo, start: u32, len: u16, freq: u32 },
    Bytes { field: FieldNo, start: u32, len: u32 },
    Child { start: u32, len: u32 },
    Exists { field: FieldNo },
    Ignored { start: u32, len: u32 },
}

/// The words of one value; `next` is the chunk of the field's next value, or 0.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    start: u32,
    end: u32,
    next: u32,
}

/// One prepared fact about a document.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// The words of a text field, all values of the document together; once a field.
    Text {
        /// The field.
        field: FieldNo,
        /// Words with positions, in order of position.
        terms: Terms<'a>,
        /// Words counted for the norm (several at one position count once).
        length: u32,
    },
    /// A term of a keyword field; once a value.
    Keyword {
        /// The field.
        field: FieldNo,
        /// Its bytes.
        term: &'a [u8],
        /// Goes into the inverted index.
        indexed: bool,
        /// Goes into the column.
        column: bool,
    },
    /// A number, date or boolean; once a value.
    Number {
        /// The field.
        field: FieldNo,
        /// Its sortable value.
        value: i64,
        /// Goes into the points.
        indexed: bool,
        /// Goes into the column.
        column: bool,
    },
    /// A point of two dimensions, each half of the bytes; once a value.
    Point {
        /// The field.
        field: FieldNo,
        /// Bytes that sort as the values do.
        value: &'a [u8],
    },
    /// A term with a number in place of its frequency; once a term.
    Feature {
        /// The field.
        field: FieldNo,
        /// Its bytes.
        term: &'a [u8],
        /// The number.
        freq: u32,
    },
    /// A value of a column of byte strings, where a document's are joined; once a value.
    Bytes {
        /// The field.
        field: FieldNo,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// What came since the last of these belongs to a nested document of this path; what comes after
    /// the last of them, to the document itself.
    Child {
        /// Path of the nested object.
        path: &'a [u8],
    },
    /// The field has a value but no column or norm that would tell: goes to `_field_names`; once a
    /// field. Also given for a text whose values have no words, for its norm of 0 reads as absent.
    Exists {
        /// The field.
        field: FieldNo,
    },
    /// A value was left out: the path goes to `_ignored`; once a path.
    Ignored {
        /// The field's path.
        path: &'a str,
    },
}

/// Words of a text with their positions, in order.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    arena: &'a Arena,
    rest: &'a [u8],
    next: u32,
    position: u32,
}

impl<'a> Iterator for Terms<'a> {
    type Item = (&'a [u8], u32);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.rest.is_empty() {
            if self.next == 0 {
                return None;
            }
            let chunk = self.arena.chunks[self.next as usize];
            self.rest = &self.arena.bytes[chunk.start as usize..chunk.end as usize];
            self.next = chunk.next;
        }
        let step = vint::read_u32(&mut self.rest).expect("the arena wrote whole words");
        let term = vint::read_bytes(&mut self.rest).expect("the arena wrote whole words");
        self.position += step;
        Some((term, self.position))
    }
}

/// The entries of one document.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    arena: &'a Arena,
    raw: std::slice::Iter<'a, Raw>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        let arena = self.arena;
        let bytes = |start: u32, len: usize| &arena.bytes[start as usize..start as usize + len];
        Some(match *self.raw.next()? {
            Raw::Text { field, chunk, length } => {
                let terms = Terms { arena, rest: &[], next: chunk, position: 0 };
                Entry::Text { field, terms, length }
            }
            Raw::Keyword { field, start, len, indexed, column } => {
                Entry::Keyword { field, term: bytes(start, usize::from(len)), indexed, column }
            }
            Raw::Number { field, value, indexed, column } => {
                Entry::Number { field, value, indexed, column }
            }
            Raw::Point { field, start, len } => {
                Entry::Point { field, value: bytes(start, usize::from(len)) }
            }
            Raw::Feature { field, start, len, freq } => {
                Entry::Feature { field, term: bytes(start, usize::from(len)), freq }
            }
            Raw::Bytes { field, start, len } => {
                Entry::Bytes { field, bytes: bytes(start, len as usize) }
            }
            Raw::Child { start, len } => Entry::Child { path: bytes(start, len as usize) },
            Raw::Exists { field } => Entry::Exists { field },
            Raw::Ignored { start, len } => {
                let path = std::str::from_utf8(bytes(start, len as usize));
                Entry::Ignored { path: path.expect("paths are written as text") }
            }
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.raw.size_hint()
    }
}

impl ExactSizeIterator for Entries<'_> {}

/// How far an arena was filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    bytes: usize,
    entries: usize,
    chunks: usize,
}

#[cfg(test)]
impl Mark {
    /// Entries before the mark.
    pub(super) fn entries_count(self) -> usize {
        self.entries
    }
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty arena, whose documents have so many bytes at most each: an analyzer may make hundreds of one.
    pub fn bounded(doc_bytes_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            entries: Vec::new(),
            chunks: Vec::new(),
            docs: Vec::new(),
            doc_start: 0,
            doc_entry: 0,
            doc_chunk: 0,
            doc_bytes_max: doc_bytes_max.min(BYTES_MAX),
            payer: None,
            paid_bytes: usize::MAX,
        }
    }

    /// The same arena, where each document is paid for as it grows, and what its analyzers hold meanwhile. What
    /// was paid is given back by [`Self::settle`], for whoever reads documents pays for all of them then.
    #[must_use]
    pub fn paid_by(mut self, lease: Lease) -> Self {
        self.payer = Some(Box::new(Payer { lease, ahead: None, is_unpaid: false }));
        self
    }

    /// Gives back what the document that was read last was paid with.
    pub fn settle(&mut self) {
        self.paid_bytes = usize::MAX;
        if let Some(payer) = &mut self.payer {
            payer.ahead = None;
            payer.is_unpaid = false;
            self.paid_bytes = UNPAID_BYTES;
        }
    }

    /// Where is paid for a document while it is read.
    pub(super) fn lease(&self) -> Option<&Lease> {
        self.payer.as_ref().map(|payer| &payer.lease)
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// True without documents.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// Bytes used, for budgets.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
            + self.entries.len() * size_of::<Raw>()
            + self.chunks.len() * size_of::<Chunk>()
            + self.docs.len() * size_of::<u32>()
    }

    /// The entries of a document, by the number [`super::Parsed::Ready`] gave.
    pub fn entries(&self, doc: usize) -> Entries<'_> {
        let start = doc.checked_sub(1).map_or(0, |before| self.docs[before]);
        let raw = self.entries[start as usize..self.docs[doc] as usize].iter();
        Entries { arena: self, raw }
    }

    /// Forgets the document that was added last. To be asked before another is begun.
    pub fn forget_last(&mut self) {
        let last = self.docs.pop();
        assert_eq!(last, Some(offset(self.entries.len())), "another document was begun");
        self.bytes.truncate(self.doc_start);
        self.entries.truncate(self.doc_entry);
        self.chunks.truncate(self.doc_chunk);
    }

    /// Forgets all documents, keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.chunks.clear();
        self.docs.clear();
    }

    /// Begins a document.
    pub(super) fn begin(&mut self) -> Mark {
        if self.chunks.is_empty() {
            // Chunk 0 is nobody's, so that 0 ends a chain.
            self.chunks.push(Chunk { start: 0, end: 0, next: 0 });
        }
        self.settle();
        (self.doc_start, self.doc_entry) = (self.bytes.len(), self.entries.len());
        self.doc_chunk = self.chunks.len();
        Mark { bytes: self.bytes.len(), entries: self.entries.len(), chunks: self.chunks.len() }
    }

    /// Ends a document; answers its number.
    pub(super) fn finish(&mut self) -> usize {
        self.docs.push(offset(self.entries.len()));
        self.docs.len() - 1
    }

    /// Forgets what came after `mark`.
    pub(super) fn roll_back(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        self.entries.truncate(mark.entries);
        self.chunks.truncate(mark.chunks);
        self.settle();
    }

    /// Is there room for `more` bytes?
    pub(super) fn check_room(&mut self, more: usize) -> Result<()> {
        if self.has_room(more) { Ok(()) } else { Err(self.is_full()) }
    }

    /// As [`Self::check_room`], where it is asked for each word.
    #[inline]
    pub(super) fn has_room(&mut self, more: usize) -> bool {
        let bytes = self.bytes.len().saturating_add(more);
        let entries = (self.entries.len() - self.doc_entry) * size_of::<Raw>();
        let chunks = (self.chunks.len() - self.doc_chunk) * size_of::<Chunk>();
        let of_doc = bytes - self.doc_start + entries + chunks;
        bytes <= BYTES_MAX
            && of_doc <= self.doc_bytes_max
            && (of_doc <= self.paid_bytes || self.pay(of_doc))
    }

    /// Pays for `bytes` of the document at hand, or says that there are none.
    #[cold]
    fn pay(&mut self, bytes: usize) -> bool {
        let Some(payer) = &mut self.payer else { return true };
        let lacking = bytes.saturating_sub(self.paid_bytes).next_multiple_of(STEP_BYTES);
        let has = payer.lease.add_leaving(&mut payer.ahead, lacking);
        if has {
            self.paid_bytes += lacking;
        }
        payer.is_unpaid = !has;
        has
    }

    /// Bytes that the document at hand may still have.
    pub(super) fn left_bytes(&self) -> usize {
        let entries = (self.entries.len() - self.doc_entry) * size_of::<Raw>();
        let chunks = (self.chunks.len() - self.doc_chunk) * size_of::<Chunk>();
        let used = self.bytes.len() - self.doc_start + entries + chunks;
        self.doc_bytes_max.saturating_sub(used)
    }

    /// What is told where there is none.
    #[cold]
    pub(super) fn is_full(&self) -> Error {
        let text = match self.payer.as_ref().is_some_and(|payer| payer.is_unpaid) {
            true => {
                "[parent] Data too large, data for [<documents>] would be larger than what is left"
                    .to_owned()
            }
            false => format!(
                "[parent] Data too large, data for [{WHOLE}] would be larger than the limit of [{}b]",
                self.doc_bytes_max
            ),
        };
        Error::new(ErrorKind::NoMemory, text)
    }

    /// Adds the entry of a text field; its words follow by [`Self::push_word`].
    pub(super) fn push_text(&mut self, field: FieldNo) -> u32 {
        self.entries.push(Raw::Text { field, chunk: 0, length: 0 });
        offset(self.entries.len() - 1)
    }

    /// Begins the words of a value.
    pub(super) fn begin_words(&self) -> u32 {
        offset(self.bytes.len())
    }

    /// Adds a word, `step` positions after the one before it.
    #[inline]
    pub(super) fn push_word(&mut self, step: u32, term: &[u8]) {
        if step < 0x80 && term.len() < 0x80 {
            self.bytes.extend_from_slice(&[step as u8, term.len() as u8]);
            self.bytes.extend_from_slice(term);
        } else {
            vint::write(&mut self.bytes, u64::from(step));
            vint::write_bytes(&mut self.bytes, term);
        }
    }

    /// Ends the words of a value of the text at `entry`: they are chained after chunk `last` (0:
    /// they are the first). Answers their chunk, or `last` where there are none.
    pub(super) fn finish_words(&mut self, entry: u32, last: u32, start: u32, length: u32) -> u32 {
        let end = offset(self.bytes.len());
        if start == end {
            return last;
        }
        let chunk = offset(self.chunks.len());
        self.chunks.push(Chunk { start, end, next: 0 });
        if last != 0 {
            self.chunks[last as usize].next = chunk;
        }
        if let Raw::Text { chunk: first, length: total, .. } = &mut self.entries[entry as usize] {
            if last == 0 {
                *first = chunk;
            }
            *total += length;
        }
        chunk
    }

    #[inline]
    pub(super) fn push_keyword(
        &mut self,
        field: FieldNo,
        term: &[u8],
        indexed: bool,
        column: bool,
    ) {
        let start = offset(self.bytes.len());
        let len = u16::try_from(term.len()).expect("terms are bounded before they come here");
        self.bytes.extend_from_slice(term);
        self.entries.push(Raw::Keyword { field, start, len, indexed, column });
    }

    #[inline]
    pub(super) fn push_number(&mut self, field: FieldNo, value: i64, indexed: bool, column: bool) {
        self.entries.push(Raw::Number { field, value, indexed, column });
    }

    pub(super) fn push_point(&mut self, field: FieldNo, value: &[u8]) {
        let start = offset(self.bytes.len());
        let len = u8::try_from(value.len()).expect("two dimensions of at most sixteen bytes");
        self.bytes.extend_from_slice(value);
        self.entries.push(Raw::Point { field, start, len });
    }

    pub(super) fn push_feature(&mut self, field: FieldNo, term: &[u8], freq: u32) {
        let start = offset(self.bytes.len());
        let len = u16::try_from(term.len()).expect("terms are bounded before they come here");
        self.bytes.extend_from_slice(term);
        self.entries.push(Raw::Feature { field, start, len, freq });
    }

    pub(super) fn push_bytes(&mut self, field: FieldNo, bytes: &[u8]) {
        let start = offset(self.bytes.len());
        self.bytes.extend_from_slice(bytes);
        self.entries.push(Raw::Bytes { field, start, len: offset(bytes.len()) });
    }

    /// Place of the next entry.
    pub(super) fn next_entry(&self) -> u32 {
        offset(self.entries.len())
    }

    /// Ends a nested document whose entries begin at `child`: they go before those of the document
    /// around it, which began at `own`. Answers where these begin now.
    pub(super) fn end_child(&mut self, own: u32, child: u32, path: &str) -> u32 {
        let start = offset(self.bytes.len());
        self.bytes.extend_from_slice(path.as_bytes());
        self.entries.push(Raw::Child { start, len: offset(path.len()) });
        let before = (child - own) as usize;
        self.entries[own as usize..].rotate_left(before);
        offset(self.entries.len() - before)
    }

    pub(super) fn push_exists(&mut self, field: FieldNo) {
        self.entries.push(Raw::Exists { field });
    }

    /// Adds a path to the ignored ones; the caller sees to it that it stands once.
    pub(super) fn push_ignored(&mut self, path: &str) {
        let start = offset(self.bytes.len());
        self.bytes.extend_from_slice(path.as_bytes());
        self.entries.push(Raw::Ignored { start, len: offset(path.len()) });
    }
}

/// An offset into one of the lists.
#[inline]
fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("an arena is bounded by BYTES_MAX")
}
