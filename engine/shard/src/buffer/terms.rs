//! The words of one field: each once, with the documents and positions that have it.
//!
//! Always true
//! 1. Documents come in rising order, and the positions of a word within a document too.
//! 2. A word's number is its order of arrival; `sorted` gives the order of bytes.
//!
//! The postings of a word are one list of variable-length integers in the pool:
//!
//! | integer          | what                                                          |
//! |------------------|---------------------------------------------------------------|
//! | `gap << 1 \| 1`  | the next document: its number less the one before (first: + 1) |
//! | `gap << 1`       | a position in it: less the one before it there                 |
//!
//! Example: a word at positions 3 and 5 of document 0, and at 2 of document 4:
//! `03 | 06 04 | 09 | 04`.
//!
//! Not here: the terms of a segment (`segment::terms`), to which `seal` turns these.

use std::hash::BuildHasher;

use base::hash::State;

use super::arena::{Chain, Pool};
use super::rows::{Rows, Slab};
use super::table::Table;

/// What a word costs beside its bytes, in bytes of a [`Work`].
const WORD_BYTES: usize = 16;

/// How much is left to be done at one go, in bytes: a word takes about as long as its bytes and
/// sixteen more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work(pub(crate) usize);

impl Work {
    /// Counts an entry of so many bytes.
    #[inline]
    pub(crate) fn count(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes + WORD_BYTES);
    }

    /// Whether it is time to stop.
    #[inline]
    pub(crate) fn is_done(self) -> bool {
        self.0 == 0
    }
}

/// Memory that the fields of a buffer share.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Postings.
    pub(crate) pool: Pool,
    /// The words' bytes.
    bytes: Slab,
    state: State,
}

impl Words {
    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        self.pool.size_bytes() + self.bytes.size_bytes()
    }
}

#[derive(Clone, Copy, Debug)]
struct Word {
    /// The first eight bytes ([`prefix`]): most words are told apart, and put in order, by them.
    prefix: u64,
    start: u32,
    len: u32,
    postings: Chain,
    /// One above the last document; 0 before the first.
    last_doc: u32,
    last_position: u32,
}

/// The words of one field.
#[derive(Debug, Default)]
pub(crate) struct FieldTerms {
    table: Table,
    words: Rows<Word>,
    /// (document, word) of the column, in document order.
    column: Rows<(u32, u32)>,
    /// (document, number of words) of a text, in document order.
    lengths: Rows<(u32, u32)>,
}

impl FieldTerms {
    /// Bytes of memory held, but for what is in [`Words`].
    pub(crate) fn size_bytes(&self) -> usize {
        self.table.size_bytes()
            + self.words.size_bytes()
            + self.column.size_bytes()
            + self.lengths.size_bytes()
    }

    /// Takes words of a document's text with their positions until `work` is done; false where more
    /// may be left. [`Self::add_length`] follows the last.
    pub(crate) fn add_words<'a>(
        &mut self,
        shared: &mut Words,
        doc: u32,
        terms: &mut impl Iterator<Item = (&'a [u8], u32)>,
        work: &mut Work,
    ) -> bool {
        while !work.is_done() {
            let Some((term, position)) = terms.next() else { return true };
            work.count(term.len());
            let number = self.number(shared, term);
            let word = self.words.at_mut(number as usize);
            enter(&mut shared.pool, word, doc);
            debug_assert!(position >= word.last_position, "positions come in order");
            let gap = position - word.last_position;
            shared.pool.write_vint(&mut word.postings, gap << 1);
            word.last_position = position;
        }
        false
    }

    /// Takes the length of a document's text.
    pub(crate) fn add_length(&mut self, doc: u32, length: u32) {
        debug_assert!(self.lengths.last().is_none_or(|(last, _)| *last < doc), "once a field");
        self.lengths.push((doc, length));
    }

    /// Takes one exact word of a document.
    pub(crate) fn add_keyword(
        &mut self,
        shared: &mut Words,
        doc: u32,
        term: &[u8],
        indexed: bool,
        column: bool,
    ) {
        let number = self.number(shared, term);
        let word = self.words.at_mut(number as usize);
        if indexed {
            enter(&mut shared.pool, word, doc);
        }
        if column {
            self.column.push((doc, number));
        }
    }

    /// Takes a term of a document with a number in place of its frequency: it stands where a
    /// position would.
    pub(crate) fn add_feature(&mut self, shared: &mut Words, doc: u32, term: &[u8], freq: u32) {
        let number = self.number(shared, term);
        let word = self.words.at_mut(number as usize);
        if word.last_doc == doc + 1 {
            // The same text twice in one document: the greater number counts.
            let gap = freq.saturating_sub(word.last_position);
            word.last_position += gap;
            shared.pool.write_vint(&mut word.postings, gap << 1);
            return;
        }
        enter(&mut shared.pool, word, doc);
        shared.pool.write_vint(&mut word.postings, freq << 1);
        word.last_position = freq;
    }

    /// The words of a document's column, in order of arrival.
    pub(crate) fn column_of<'a>(
        &'a self,
        shared: &'a Words,
        doc: u32,
    ) -> impl Iterator<Item = &'a [u8]> {
        let here = self.column.iter_from(move |(other, _)| *other < doc);
        let here = here.take_while(move |(other, _)| *other == doc);
        here.map(|(_, number)| self.bytes(shared, *number))
    }

    /// (document, word) of the column, in document order.
    pub(crate) fn column(&self) -> &Rows<(u32, u32)> {
        &self.column
    }

    /// (document, number of words) of a text, in document order.
    pub(crate) fn lengths(&self) -> &Rows<(u32, u32)> {
        &self.lengths
    }

    /// Number of different words.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// The bytes of a word.
    pub(crate) fn bytes<'a>(&self, shared: &'a Words, number: u32) -> &'a [u8] {
        let word = self.words.at(number as usize);
        shared.bytes.get(word.start, word.len)
    }

    /// All words in the order of their bytes.
    pub(crate) fn sorted(&self, shared: &Words) -> Vec<u32> {
        let words = self.words.iter().zip(0u32..);
        let mut sorted: Vec<(u64, u32)> =
            words.map(|(word, number)| (word.prefix, number)).collect();
        sorted.sort_unstable_by(|one, other| {
            one.0
                .cmp(&other.0)
                .then_with(|| self.bytes(shared, one.1).cmp(self.bytes(shared, other.1)))
        });
        sorted.into_iter().map(|(_, number)| number).collect()
    }

    /// Gives each posting of a word to `take`: document, positions (none for an exact word).
    /// `positions` is memory to use.
    pub(crate) fn postings(
        &self,
        shared: &Words,
        number: u32,
        positions: &mut Vec<u32>,
        mut take: impl FnMut(u32, &[u32]),
    ) {
        positions.clear();
        let mut doc_next = 0u32;
        let mut position = 0u32;
        let mut reader = shared.pool.read(&self.words.at(number as usize).postings);
        while let Some(value) = reader.vint() {
            if value & 1 == 0 {
                position += value >> 1;
                positions.push(position);
                continue;
            }
            if doc_next > 0 {
                take(doc_next - 1, positions);
                positions.clear();
            }
            doc_next += value >> 1;
            position = 0;
        }
        if doc_next > 0 {
            take(doc_next - 1, positions);
        }
    }

    /// The number of a word, a new one where it was not met before.
    fn number(&mut self, shared: &mut Words, term: &[u8]) -> u32 {
        let hash = shared.state.hash_one(term);
        let prefix = prefix(term);
        let words = &self.words;
        let bytes = &shared.bytes;
        let same = |number: u32| {
            let word = words.at(number as usize);
            word.prefix == prefix
                && word.len as usize == term.len()
                && (term.len() <= 8 || bytes.get(word.start, word.len)[8..] == term[8..])
        };
        if let Some(number) = self.table.find(hash, same) {
            return number;
        }
        let number = u32::try_from(words.len()).expect("a buffer is sealed long before 2^32 words");
        self.table.put(hash, number, |_| false);
        let start = shared.bytes.put(term);
        self.words.push(Word {
            prefix,
            start,
            len: term.len() as u32,
            postings: Chain::default(),
            last_doc: 0,
            last_position: 0,
        });
        number
    }
}

/// Notes that `doc` has the word, unless that was noted before.
#[inline]
fn enter(pool: &mut Pool, word: &mut Word, doc: u32) {
    if word.last_doc == doc + 1 {
        return;
    }
    debug_assert!(word.last_doc <= doc, "documents come in order");
    let gap = doc + 1 - word.last_doc;
    pool.write_vint(&mut word.postings, (gap << 1) | 1);
    word.last_doc = doc + 1;
    word.last_position = 0;
}

/// The first eight bytes as a number that sorts as they do; shorter words end in zeros.
#[inline]
fn prefix(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let start = bytes.iter().fold(0, |start, byte| start << 8 | u64::from(*byte));
            start.unbounded_shl(8 * (8 - bytes.len() as u32))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    fn read(field: &FieldTerms, shared: &Words, number: u32) -> Vec<(u32, Vec<u32>)> {
        let mut all = Vec::new();
        field.postings(shared, number, &mut Vec::new(), |doc, positions| {
            all.push((doc, positions.to_vec()));
        });
        all
    }

    fn add_text<'a>(
        field: &mut FieldTerms,
        shared: &mut Words,
        doc: u32,
        mut terms: impl Iterator<Item = (&'a [u8], u32)>,
        length: u32,
    ) {
        // A word at a time.
        while !field.add_words(shared, doc, &mut terms, &mut Work(1)) {}
        field.add_length(doc, length);
    }

    #[test]
    fn the_example_of_the_head_holds() {
        let (mut field, mut shared) = (FieldTerms::default(), Words::default());
        add_text(&mut field, &mut shared, 0, [(&b"a"[..], 3), (b"a", 5)].into_iter(), 2);
        add_text(&mut field, &mut shared, 4, [(&b"a"[..], 2)].into_iter(), 1);
        let mut list = shared.pool.read(&field.words.at(0).postings);
        let bytes: Vec<u32> = std::iter::from_fn(|| list.vint()).collect();
        assert_eq!(bytes, [3, 6, 4, 9, 4]);
        assert_eq!(read(&field, &shared, 0), [(0, vec![3, 5]), (4, vec![2])]);
    }

    #[test]
    fn exact_word_counts_a_document_once() {
        let (mut field, mut shared) = (FieldTerms::default(), Words::default());
        for doc in [0, 0, 2] {
            field.add_keyword(&mut shared, doc, b"x", true, true);
        }
        field.add_keyword(&mut shared, 2, b"unindexed", false, true);
        assert_eq!(read(&field, &shared, 0), [(0, vec![]), (2, vec![])]);
        assert_eq!(read(&field, &shared, 1), []);
        assert!(field.column().iter().eq(&[(0, 0), (0, 0), (2, 0), (2, 1)]));
        assert_eq!(field.column_of(&shared, 2).collect::<Vec<_>>(), [&b"x"[..], b"unindexed"]);
        assert_eq!(field.column_of(&shared, 1).count(), 0);
    }

    proptest! {
        #[test]
        fn postings_are_what_a_map_of_maps_holds(
            docs in prop::collection::vec(prop::collection::vec("[a-c]{0,9}", 0..12), 0..40),
        ) {
            let (mut field, mut shared) = (FieldTerms::default(), Words::default());
            let mut model: BTreeMap<Vec<u8>, Vec<(u32, Vec<u32>)>> = BTreeMap::new();
            for (doc, text) in docs.iter().enumerate() {
                let doc = doc as u32;
                let terms = text.iter().enumerate().map(|(at, term)| (term.as_bytes(), at as u32 * 3));
                for (term, position) in terms.clone() {
                    let postings = model.entry(term.to_vec()).or_default();
                    match postings.last_mut() {
                        Some((last, positions)) if *last == doc => positions.push(position),
                        _ => postings.push((doc, vec![position])),
                    }
                }
                add_text(&mut field, &mut shared, doc, terms, text.len() as u32);
            }
            let sorted = field.sorted(&shared);
            let found: Vec<_> = sorted
                .iter()
                .map(|number| (field.bytes(&shared, *number).to_vec(), read(&field, &shared, *number)))
                .collect();
            prop_assert_eq!(found, model.into_iter().collect::<Vec<_>>());
        }
    }
}
