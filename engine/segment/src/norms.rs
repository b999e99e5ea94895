//! Lengths of a text field, one byte a document: what BM25 knows of a document's size.
//!
//! Always true
//! 1. Byte 0 means that the document has no such field (or no counted token).
//! 2. A byte is Lucene's `SmallFloat.intToByte4` of the number of tokens, so that scores agree with
//!    Elasticsearch's to the last bit. Longer fields have larger bytes.
//!
//! Layout (little-endian): one byte tells the form, then
//!
//! | form | when                  | bytes                                                        |
//! |------|-----------------------|--------------------------------------------------------------|
//! | 0    | else                  | a byte for each document                                     |
//! | 1    | fewer than 1 in 4     | for each 512 documents a `u32`: how many have it before; then |
//! |      |                       | a bit for each document, in words of 64; then the bytes      |
//! | 2    | fewer than 1 in 64    | count `u32`; document numbers, `u32` each, rising; the bytes |
//!
//! Example: four documents with 3, 0, 50 and 1 tokens are `00 | 03 00 2d 01`: 50 is kept as 24
//! and 4 significant bits of 26, which stand for 26 = 0b11010, hence 50 again; 51 would be 50, too.
//!
//! Absent: what average and idf are (`search/score`).

use std::ops::Range;
use std::sync::Arc;

use base::{DocId, FieldNo};
use env::Bytes;

use crate::error::{Error, Result};
use crate::section::File;
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

/// Documents between two counts of form 1.
const RANK_BLOCK: usize = 512;

/// Lengths up to this are kept exactly; above it four significant bits of the rest are.
const EXACT: u32 = 24;

/// Lucene's `SmallFloat.intToByte4`.
pub const fn encode_len(len: u32) -> u8 {
    if len < EXACT {
        return len as u8;
    }
    // Lucene's lengths are of type int, so larger ones cannot be meant.
    let rest = if len > i32::MAX as u32 { i32::MAX as u32 - EXACT } else { len - EXACT };
    let bits = 32 - rest.leading_zeros();
    let kept = if bits < 4 { rest } else { (rest >> (bits - 4)) & 7 | (bits - 3) << 3 };
    (EXACT + kept) as u8
}

/// Lucene's `SmallFloat.byte4ToInt`.
pub const fn decode_len(byte: u8) -> u32 {
    if (byte as u32) < EXACT {
        return byte as u32;
    }
    let kept = byte as u32 - EXACT;
    let (low, shift) = (kept & 7, kept >> 3);
    EXACT + if shift == 0 { low } else { (low | 8) << (shift - 1) }
}

/// The lengths of a field. Clones are one counter.
#[derive(Clone, Debug)]
pub struct Norms {
    form: Form,
    doc_count: u32,
}

/// The forms of the head, taken apart.
#[derive(Clone, Debug)]
enum Form {
    Dense(Bytes),
    Bits { ranks: Bytes, words: Bytes, values: Bytes },
    List { docs: Bytes, values: Bytes },
}

impl Norms {
    /// Opens the lengths of `field`, if the file has any.
    pub(crate) fn open(file: &Arc<File>, field: FieldNo) -> Result<Option<Self>> {
        let Some(section) = file.section(SectionKind::Norms, field) else {
            return Ok(None);
        };
        let bytes = section.shared()?;
        let form = parse(&bytes, file.doc_count())
            .ok_or_else(|| section.malformed(0, "lengths do not fit the documents"))?;
        let doc_count = match &form {
            Form::Dense(values) => values.iter().filter(|value| **value != 0).count() as u32,
            Form::Bits { values, .. } | Form::List { values, .. } => values.len() as u32,
        };
        Ok(Some(Self { form, doc_count }))
    }

    /// The byte of `doc`: 0 where it has no such field.
    pub fn get(&self, doc: DocId) -> u8 {
        match &self.form {
            Form::Dense(values) => values.get(doc.index()).copied().unwrap_or(0),
            Form::Bits { ranks, words, values } => {
                rank(ranks, words, doc.index()).and_then(|at| values.get(at)).copied().unwrap_or(0)
            }
            Form::List { docs, values } => {
                let docs = docs.as_chunks().0;
                let found = docs.binary_search_by_key(&doc.get(), |doc| u32::from_le_bytes(*doc));
                found.map_or(0, |at| values[at])
            }
        }
    }

    /// All bytes, one for each document, where the field is common enough to be kept so. Take the
    /// slice once a window: asking costs more than reading from it.
    pub fn dense(&self) -> Option<&[u8]> {
        match &self.form {
            Form::Dense(values) => Some(values),
            _ => None,
        }
    }

    /// Copies the bytes of the documents of `range` to `out`, which has as many places.
    pub fn copy(&self, range: Range<u32>, out: &mut [u8]) {
        assert_eq!(out.len(), range.len(), "a place for each document");
        out.fill(0);
        match &self.form {
            Form::Dense(values) => {
                let end = values.len().min(range.end as usize);
                let start = end.min(range.start as usize);
                out[..end - start].copy_from_slice(&values[start..end]);
            }
            _ => self.each(range.clone(), |doc, value| out[(doc - range.start) as usize] = value),
        }
    }

    /// Sets bit `doc - range.start` for each document of the range that has the field.
    pub fn fill_bits(&self, range: Range<u32>, bits: &mut [u64]) {
        assert!(bits.len() * 64 >= range.len(), "a bit for each document");
        self.each(range.clone(), |doc, _| {
            let at = doc - range.start;
            bits[at as usize / 64] |= 1 << (at % 64);
        });
    }

    /// Number of documents that have the field.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Calls `take` with each document of `range` that has the field, and its byte.
    fn each(&self, range: Range<u32>, mut take: impl FnMut(u32, u8)) {
        match &self.form {
            Form::Dense(values) => {
                let end = values.len().min(range.end as usize);
                let start = end.min(range.start as usize);
                for (doc, value) in (range.start..).zip(&values[start..end]) {
                    if *value != 0 {
                        take(doc, *value);
                    }
                }
            }
            Form::Bits { ranks, words, values } => {
                let words = words.as_chunks::<8>().0;
                let end = words.len().min(range.end.div_ceil(64) as usize);
                let start = end.min(range.start as usize / 64);
                let mut at = rank_before(ranks, words, start);
                for (word_at, word) in (start..).zip(&words[start..end]) {
                    let mut word = u64::from_le_bytes(*word);
                    while word != 0 {
                        let doc = word_at as u32 * 64 + word.trailing_zeros();
                        if range.contains(&doc) {
                            take(doc, values.get(at).copied().unwrap_or(0));
                        }
                        at += 1;
                        word &= word - 1;
                    }
                }
            }
            Form::List { docs, values } => {
                let docs = docs.as_chunks().0;
                let start = docs.partition_point(|doc| u32::from_le_bytes(*doc) < range.start);
                for (doc, value) in docs[start..].iter().zip(&values[start..]) {
                    let doc = u32::from_le_bytes(*doc);
                    if doc >= range.end {
                        break;
                    }
                    take(doc, *value);
                }
            }
        }
    }
}

/// Where in the values the byte of document `at` lies.
fn rank(ranks: &[u8], words: &[u8], at: usize) -> Option<usize> {
    let words = words.as_chunks::<8>().0;
    let word = u64::from_le_bytes(*words.get(at / 64)?);
    if word >> (at % 64) & 1 == 0 {
        return None;
    }
    let before = (word & ((1 << (at % 64)) - 1)).count_ones() as usize;
    Some(rank_before(ranks, words, at / 64) + before)
}

/// Number of bits set before word `at`.
fn rank_before(ranks: &[u8], words: &[[u8; 8]], at: usize) -> usize {
    const WORDS: usize = RANK_BLOCK / 64;
    let first = at / WORDS * WORDS;
    let Some(base) = ranks.as_chunks().0.get(at / WORDS) else { return 0 };
    let inside = words[first..at].iter().map(|word| u64::from_le_bytes(*word).count_ones());
    u32::from_le_bytes(*base) as usize + inside.sum::<u32>() as usize
}

/// Takes the section apart; `None` where lengths do not add up.
fn parse(bytes: &Bytes, doc_count: u32) -> Option<Form> {
    let doc_count = doc_count as usize;
    match *bytes.first()? {
        0 if bytes.len() == 1 + doc_count => Some(Form::Dense(bytes.slice(1..bytes.len())?)),
        1 => {
            let words_at = 1 + 4 * doc_count.div_ceil(RANK_BLOCK);
            let values_at = words_at + 8 * doc_count.div_ceil(64);
            let ranks = bytes.slice(1..words_at)?;
            let words = bytes.slice(words_at..values_at)?;
            let values = bytes.slice(values_at..bytes.len())?;
            let chunks = words.as_chunks::<8>().0;
            let mut count = 0;
            for (at, block) in chunks.chunks(RANK_BLOCK / 64).enumerate() {
                if ranks.as_chunks().0.get(at).map(|rank| u32::from_le_bytes(*rank)) != Some(count)
                {
                    return None;
                }
                count +=
                    block.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum::<u32>();
            }
            let last = chunks.last().map_or(0, |word| u64::from_le_bytes(*word));
            let beyond = !doc_count.is_multiple_of(64) && last >> (doc_count % 64) != 0;
            (count as usize == values.len() && !beyond).then_some(Form::Bits {
                ranks,
                words,
                values,
            })
        }
        2 => {
            let count = u32::from_le_bytes(*bytes.get(1..5)?.first_chunk()?) as usize;
            let values_at = 5 + count.checked_mul(4)?;
            let docs = bytes.slice(5..values_at)?;
            let values = bytes.slice(values_at..bytes.len()).filter(|all| all.len() == count)?;
            let numbers = docs.as_chunks().0.iter().map(|doc| u32::from_le_bytes(*doc));
            let rising = numbers.clone().is_sorted_by(|a, b| a < b);
            let inside = numbers.max().is_none_or(|last| (last as usize) < doc_count);
            (rising && inside).then_some(Form::List { docs, values })
        }
        _ => None,
    }
}

/// The section for `norms`.
fn write(norms: &[u8], out: &mut Vec<u8>) {
    let present = norms.iter().filter(|norm| **norm != 0).count();
    let form = match norms.len() {
        len if present * 64 < len => 2,
        len if present * 4 < len => 1,
        _ => 0,
    };
    out.push(form);
    match form {
        0 => return out.extend_from_slice(norms),
        1 => {
            let mut count = 0u32;
            for block in norms.chunks(RANK_BLOCK) {
                out.extend_from_slice(&count.to_le_bytes());
                count += block.iter().filter(|norm| **norm != 0).count() as u32;
            }
            for chunk in norms.chunks(64) {
                let bits =
                    chunk.iter().rev().fold(0u64, |bits, norm| bits << 1 | u64::from(*norm != 0));
                out.extend_from_slice(&bits.to_le_bytes());
            }
        }
        _ => {
            out.extend_from_slice(&(present as u32).to_le_bytes());
            for (doc, norm) in (0u32..).zip(norms) {
                if *norm != 0 {
                    out.extend_from_slice(&doc.to_le_bytes());
                }
            }
        }
    }
    out.extend(norms.iter().filter(|norm| **norm != 0));
}

impl SegmentWriter {
    /// Lengths of a field: a byte for each document ([`encode_len`]), 0 where it is absent. Comes
    /// before the field's terms.
    pub fn norms(&mut self, field: FieldNo, norms: &[u8]) -> Result<()> {
        assert_eq!(norms.len(), self.doc_count() as usize, "a byte for each document");
        assert!(
            self.section(SectionKind::TermIndex, field).is_none(),
            "norms of field {field} come before its terms"
        );
        self.put_with(SectionKind::Norms, field, |out| write(norms, out));
        Ok(())
    }

    /// The lengths put before, a byte for each document.
    pub(crate) fn norms_written(&self, field: FieldNo) -> Result<Option<Vec<u8>>> {
        let Some(bytes) = self.section(SectionKind::Norms, field) else { return Ok(None) };
        let form = parse(&Bytes::from(bytes.to_vec()), self.doc_count());
        let form = form.ok_or(Error::Malformed {
            section: SectionKind::Norms,
            field,
            offset: 0,
            what: "written by us, and yet unreadable",
        })?;
        let mut norms = vec![0; self.doc_count() as usize];
        Norms { form, doc_count: 0 }.copy(0..self.doc_count(), &mut norms);
        Ok(Some(norms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(norms: &[u8]) -> (u8, Norms) {
        let mut bytes = Vec::new();
        write(norms, &mut bytes);
        let form = parse(&Bytes::from(bytes.clone()), norms.len() as u32).expect("just written");
        (bytes[0], Norms { form, doc_count: 0 })
    }

    #[test]
    fn lengths_are_kept_as_lucene_keeps_them() {
        // The steps of the published tables: exact through 40, then by 2, by 4, by 8.
        for len in 0..=40 {
            assert_eq!(decode_len(encode_len(len)), len);
        }
        let kept: Vec<u32> = (41..=64).map(|len| decode_len(encode_len(len))).collect();
        let by_two: Vec<u32> = (20..28).flat_map(|half| [half * 2, half * 2]).skip(1).collect();
        assert_eq!(kept[..15], by_two[..15]);
        assert_eq!(kept[15..19], [56; 4]);
        assert_eq!(kept[19..23], [60; 4]);
        assert_eq!(decode_len(encode_len(88)), 88);
        assert_eq!(decode_len(encode_len(95)), 88);
        assert_eq!(decode_len(encode_len(96)), 96);
        assert_eq!(encode_len(i32::MAX as u32), 255);
        assert_eq!(encode_len(u32::MAX), 255);
        assert_eq!(decode_len(255), 2_013_265_944);
    }

    #[test]
    fn each_byte_stands_for_the_smallest_length_that_gives_it() {
        for byte in 0..=255u8 {
            assert_eq!(encode_len(decode_len(byte)), byte);
            if byte > 0 {
                assert!(decode_len(byte) > decode_len(byte - 1));
                assert_eq!(encode_len(decode_len(byte) - 1), byte - 1);
            }
        }
    }

    #[test]
    fn form_follows_how_common_the_field_is() {
        let with = |present: usize| {
            let mut norms = vec![0; 1024];
            norms.iter_mut().step_by(1024 / present).for_each(|norm| *norm = 9);
            read(&norms).0
        };
        assert_eq!([with(1024), with(256), with(128), with(16), with(8)], [0, 0, 1, 1, 2]);
    }

    #[test]
    fn foreign_bytes_are_refused_or_answer() {
        let mut norms = vec![0u8; 700];
        for step in [1, 9, 200] {
            norms.fill(0);
            norms.iter_mut().step_by(step).for_each(|norm| *norm = 7);
            let mut bytes = Vec::new();
            write(&norms, &mut bytes);
            for at in 0..bytes.len() {
                for bad in [0, 1, 2, 0x80, 0xff] {
                    let mut bytes = bytes.clone();
                    bytes[at] = bad;
                    if let Some(form) = parse(&Bytes::from(bytes), 700) {
                        let norms = Norms { form, doc_count: 0 };
                        let mut bits = [0; 11];
                        norms.fill_bits(0..700, &mut bits);
                        for doc in 0..800 {
                            norms.get(DocId(doc));
                        }
                    }
                }
            }
            for len in 0..bytes.len() {
                assert!(parse(&Bytes::from(bytes[..len].to_vec()), 700).is_none());
            }
        }
    }

    proptest! {
        #[test]
        fn each_form_answers_what_was_written(
            seeds in prop::collection::vec(any::<u8>(), 1..1500),
            rarity in 1usize..150,
            start in 0u32..1500,
            len in 0u32..1500,
        ) {
            let norms: Vec<u8> =
                seeds.iter().enumerate().map(|(at, seed)| if at % rarity == 0 { *seed } else { 0 }).collect();
            let (_, found) = read(&norms);
            for (doc, norm) in (0..).zip(&norms) {
                prop_assert_eq!(found.get(DocId(doc)), *norm);
            }
            let end = norms.len() as u32;
            let range = start.min(end)..(start + len).min(end);
            let mut copy = vec![1; range.len()];
            found.copy(range.clone(), &mut copy);
            prop_assert_eq!(&copy[..], &norms[range.start as usize..range.end as usize]);
            let mut bits = vec![0u64; range.len().div_ceil(64)];
            found.fill_bits(range.clone(), &mut bits);
            for (at, norm) in copy.iter().enumerate() {
                prop_assert_eq!(bits[at / 64] >> (at % 64) & 1 == 1, *norm != 0);
            }
        }
    }
}
