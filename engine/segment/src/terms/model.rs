//! The plainest index there is, for tests to compare with, and segments made of it.

use std::collections::BTreeMap;

use base::{DocId, FieldNo, SegmentId};
use env::Bytes;

use super::{Posting, TermOptions, TermSource};
use crate::error::Result;
use crate::reader::Segment;
use crate::section::{Check, File};
use crate::writer::{SegmentWriter, TermBlocks};

/// The field of all tests.
pub(crate) const FIELD: FieldNo = FieldNo(16);

/// Term to its documents, each with the positions there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) doc_count: u32,
    pub(crate) terms: BTreeMap<Vec<u8>, Vec<(u32, Vec<u32>)>>,
}

/// A generator of numbers that look like chance, the same for the same seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit.max(1))) as u32
    }
}

impl Model {
    /// Terms of given frequencies: of each, the share `1 / rarity` of documents has it.
    pub(crate) fn made(seed: u64, doc_count: u32, rarities: &[u32]) -> Self {
        let mut dice = Dice(seed);
        let mut model = Self { doc_count, ..Self::default() };
        for (number, rarity) in rarities.iter().enumerate() {
            let mut docs = Vec::new();
            for doc in 0..doc_count {
                if dice.below(*rarity) == 0 {
                    let freq =
                        if dice.below(20) == 0 { 1 + dice.below(300) } else { 1 + dice.below(3) };
                    let mut position = dice.below(50);
                    let positions = (0..freq).map(|_| {
                        position += dice.below(9);
                        position
                    });
                    docs.push((doc, positions.collect()));
                }
            }
            if !docs.is_empty() {
                model.terms.insert(format!("term{number:05}").into_bytes(), docs);
            }
        }
        model
    }

    /// The length byte of each document: some function of the number, 0 nowhere.
    pub(crate) fn norms(&self) -> Vec<u8> {
        (0..self.doc_count).map(|doc| (doc.wrapping_mul(2_654_435_761) >> 26) as u8 + 1).collect()
    }

    /// The file of a segment with this field alone.
    pub(crate) fn file(&self, id: u64, options: TermOptions, blocks: TermBlocks) -> Vec<u8> {
        let mut writer = SegmentWriter::new(SegmentId(id), self.doc_count).merged(0, blocks);
        if options.freqs {
            writer.norms(FIELD, &self.norms()).expect("as many as documents");
        }
        writer.terms(FIELD, options, &mut self.source()).expect("in memory");
        writer.seal().expect("in memory")
    }

    /// A segment with this field alone.
    pub(crate) fn segment(&self, id: u64, options: TermOptions, blocks: TermBlocks) -> Segment {
        let bytes = Bytes::from(self.file(id, options, blocks));
        Segment::open(SegmentId(id), bytes, Check::Lazy).expect("just sealed")
    }

    /// As [`Model::segment`], each page missing once.
    pub(crate) fn missing_once(&self, options: TermOptions, blocks: TermBlocks) -> Segment {
        let bytes = Bytes::from(self.file(1, options, blocks));
        let file = File::missing_once(bytes).expect("just sealed");
        Segment::from_file(SegmentId(1), file).expect("just sealed")
    }

    /// The terms as a writer takes them.
    pub(crate) fn source(&self) -> ModelSource<'_> {
        ModelSource { terms: self.terms.iter(), docs: [].iter() }
    }
}

/// Hands a model out.
pub(crate) struct ModelSource<'a> {
    terms: std::collections::btree_map::Iter<'a, Vec<u8>, Vec<(u32, Vec<u32>)>>,
    docs: std::slice::Iter<'a, (u32, Vec<u32>)>,
}

impl TermSource for ModelSource<'_> {
    fn next_term(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.terms.next().map(|(term, docs)| {
            self.docs = docs.iter();
            term.as_slice()
        }))
    }

    fn next_posting(&mut self) -> Result<Option<Posting<'_>>> {
        Ok(self.docs.next().map(|(doc, positions)| Posting {
            doc: DocId(*doc),
            freq: positions.len() as u32,
            positions,
        }))
    }
}
