//! Which dictionary the documents of a new segment are compressed with: one that the shard has already, or a new one.
//!
//! A dictionary that is handed on lets a merge copy blocks as they are. It is handed on as long as the largest segment
//! that has it is no less than an eighth of the new one; else one is trained of what is merged now. So a document is
//! compressed anew a few times in its life, however long the shard lives, and the dictionary follows what is written.
//!
//! A dictionary holds pieces of documents, and outlives them: who wants deleted ones gone for good merges by force, for
//! which no dictionary is handed on.

use base::DocId;

use super::reader::Stored;
use super::{DICTIONARY_BYTES_MAX, DICTIONARY_FOR_BYTES};
use crate::bytes::zblock::Dictionary;
use crate::docmap::InputMap;
use crate::error::Result;
use crate::reader::Segment;
use crate::steps::Steps;

/// The new segment has at most so many times the documents of the one whose dictionary it takes.
const GROWTH_MAX: u64 = 8;

/// The dictionary of a new segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// It.
    pub dictionary: Dictionary,
    /// It was trained of other documents: pieces of some that are deleted may be in it.
    pub is_inherited: bool,
}

impl Chosen {
    fn inherited(dictionary: &Dictionary) -> Self {
        Self { dictionary: dictionary.clone(), is_inherited: true }
    }
}

/// What is read to train a dictionary.
const SAMPLE_BYTES: u64 = 512 << 10;

/// What is read of one document.
const SAMPLE_OF_A_DOCUMENT: usize = 8 << 10;

/// Documents of which a dictionary is made.
#[derive(Default)]
struct Sample {
    texts: Vec<u8>,
    lens: Vec<usize>,
}

impl Sample {
    /// A sample of sources that have this length together.
    fn of<'a>(sources: impl Iterator<Item = &'a [u8]>, bytes: u64) -> Self {
        let mut sample = Self::default();
        let mut steps = Distances::of(bytes);
        for source in sources {
            if steps.takes(source.len() as u64) {
                sample.add(source);
            }
        }
        sample
    }

    fn add(&mut self, source: &[u8]) {
        let part = &source[..source.len().min(SAMPLE_OF_A_DOCUMENT)];
        self.texts.extend_from_slice(part);
        self.lens.push(part.len());
    }

    /// The dictionary for them; `None` where they are too few, or have nothing in common.
    fn train(&self) -> Option<Chosen> {
        let dictionary = Dictionary::train(&self.texts, &self.lens, DICTIONARY_BYTES_MAX)?;
        Some(Chosen { dictionary, is_inherited: false })
    }
}

/// Takes some of what passes, at equal distances in bytes.
struct Distances {
    all: u64,
    passed: u64,
    next: u64,
}

impl Distances {
    fn of(all: u64) -> Self {
        Self { all, passed: 0, next: 0 }
    }

    /// So many bytes pass: whether they are for the sample.
    fn takes(&mut self, bytes: u64) -> bool {
        self.passed += bytes;
        if self.passed <= self.next {
            return false;
        }
        self.next += (bytes.saturating_mul(self.all) / SAMPLE_BYTES).max(bytes);
        true
    }
}

/// The dictionary that a segment of `doc_count` documents takes over from these; `None`: none fits any more, or there
/// is none.
pub fn heir<'a>(
    segments: impl IntoIterator<Item = &'a Segment>,
    doc_count: u64,
) -> Option<Dictionary> {
    let with = |segment: &'a Segment| Some((segment.doc_count(), segment.stored()?.dictionary()?));
    let (docs, dictionary) = segments.into_iter().filter_map(with).max_by_key(|(docs, _)| *docs)?;
    (doc_count <= GROWTH_MAX * u64::from(docs)).then(|| dictionary.clone())
}

/// The dictionary for sources that have this length together: `inherited`, or a new one; `None` where it is not worth
/// its place.
pub fn for_sources<'a>(
    sources: impl Iterator<Item = &'a [u8]>,
    bytes: u64,
    inherited: Option<&Dictionary>,
) -> Option<Chosen> {
    if bytes < DICTIONARY_FOR_BYTES {
        return None;
    }
    inherited.map(Chosen::inherited).or_else(|| Sample::of(sources, bytes).train())
}

/// The dictionary for the living documents of these, whose blocks have this length together: as [`for_sources`].
pub(super) fn for_inputs<'a>(
    inputs: impl Iterator<Item = (&'a Stored, &'a InputMap)>,
    bytes: u64,
    inherited: Option<&Dictionary>,
    steps: &mut Steps<'_>,
) -> Result<Option<Chosen>> {
    if bytes < DICTIONARY_FOR_BYTES || inherited.is_some() {
        return Ok(for_sources(std::iter::empty(), bytes, inherited));
    }
    let mut sample = Sample::default();
    let mut distances = Distances::of(bytes);
    for (stored, map) in inputs {
        let mut reader = stored.reader();
        for block in 0..stored.block_count() {
            if !distances.takes(stored.decompressed_bytes(block)) {
                continue;
            }
            steps.step(0)?;
            for doc in stored.docs(block).map(DocId) {
                if map.new_doc(doc).is_some() {
                    sample.add(reader.get(doc)?);
                }
            }
        }
    }
    steps.step(0)?;
    Ok(sample.train())
}
