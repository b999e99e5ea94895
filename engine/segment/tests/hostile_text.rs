//! Bytes that agree with their checksums and yet make no sense end in errors, never in a panic.
//!
//! Rot is caught by checksums; whoever writes a file on purpose gives it right ones. So each byte
//! of each section is turned in turn, all checksums are made anew, and everything is read.

use base::{DocId, FieldNo, SegmentId};
use env::Bytes;
use segment::footer::{self, FileKind};
use segment::postings::{BLOCK, END};
use segment::section::File;
use segment::toc::{self, SectionKind};
use segment::writer::TermBlocks;
use segment::{
    BlockCache, Check, DocMap, MergedIds, MergedTerms, Need, Posting, Result, Segment,
    SegmentWriter, TermOptions, TermSource,
};

const ID: SegmentId = SegmentId(3);
const TEXT: FieldNo = FieldNo(16);
const DOC_COUNT: u32 = 200;

/// Terms in one of so many documents: a block of bits and a rest, distances, few, one.
const RARITIES: [u32; 6] = [1, 2, 70, 71, 199, 200];

#[derive(Default)]
struct Source {
    at: usize,
    doc: u32,
    term: Vec<u8>,
    positions: Vec<u32>,
}

impl TermSource for Source {
    fn next_term(&mut self) -> Result<Option<&[u8]>> {
        let Some(rarity) = RARITIES.get(self.at) else { return Ok(None) };
        self.at += 1;
        self.doc = 0;
        self.term = format!("term-{rarity:03}").into_bytes();
        Ok(Some(&self.term))
    }

    fn next_posting(&mut self) -> Result<Option<Posting<'_>>> {
        // Every second or so: neither neighbours nor even steps.
        let doc = self.doc + (self.doc / 16) % 2 * u32::from(self.at == 2);
        self.doc = doc + RARITIES[self.at - 1];
        if doc >= DOC_COUNT {
            return Ok(None);
        }
        self.positions.clear();
        self.positions.extend((0..1 + doc % 3).map(|at| at * 5 + doc % 4));
        Ok(Some(Posting {
            doc: DocId(doc),
            freq: self.positions.len() as u32,
            positions: &self.positions,
        }))
    }
}

/// A sound file; `norm` gives the lengths.
fn write(blocks: TermBlocks, norm: impl Fn(u32) -> u8) -> Vec<u8> {
    let mut writer = SegmentWriter::new(ID, DOC_COUNT).merged(1, blocks);
    let ids: Vec<String> = (0..DOC_COUNT).map(|doc| format!("{doc:03}")).collect();
    writer.ids(ids.iter().zip(0..).map(|(id, doc)| (id.as_bytes(), DocId(doc)))).expect("sorted");
    let norms: Vec<u8> = (0..DOC_COUNT).map(norm).collect();
    writer.norms(TEXT, &norms).expect("a byte for each document");
    writer.terms(TEXT, TermOptions::TEXT, &mut Source::default()).expect("in memory");
    writer.seal().expect("in memory")
}

/// Reads everything in every way there is.
fn read(segment: &Segment) -> Result<()> {
    let mut sum = 0u64;
    let ids = segment.ids();
    for doc in 0..DOC_COUNT {
        let id = format!("{doc:03}");
        sum += u64::from(ids.find(id.as_bytes())?.is_some());
        sum += ids.id_of(DocId(doc))?.map_or(0, |id| id.len() as u64);
    }
    let mut cursor = ids.cursor();
    while cursor.next()?.is_some() {}
    if let Some(norms) = segment.norms(TEXT) {
        let mut bits = [0; 4];
        norms.fill_bits(0..DOC_COUNT, &mut bits);
        sum += (0..DOC_COUNT).map(|doc| u64::from(norms.get(DocId(doc)))).sum::<u64>();
    }
    let Some(terms) = segment.terms(TEXT) else { return Ok(()) };
    let mut cache = BlockCache::new(1 << 16);
    for rarity in RARITIES {
        let term = format!("term-{rarity:03}");
        sum += u64::from(terms.find(term.as_bytes(), &mut cache)?.is_some());
        terms.cursor().seek_ceil(term.as_bytes())?;
    }
    let mut cursor = terms.cursor();
    // A hostile field may claim more terms than anyone waits for; each still takes a byte or two.
    while cursor.next()? {
        let info = cursor.info()?;
        let mut postings = terms.postings(&info, Need::Positions);
        let mut positions = Vec::new();
        while postings.next() != END {
            assert!(postings.doc().get() < DOC_COUNT, "documents may index memory");
            sum += u64::from(postings.freq());
            postings.positions(&mut positions);
        }
        let mut postings = terms.postings(&info, Need::Freqs);
        let mut bits = [0; 2];
        for start in (0..DOC_COUNT).step_by(100) {
            postings.fill_bits(start..start + 100, &mut bits);
            postings.seek(DocId(start + 50));
            while let Some((docs, freqs)) = postings.run(DocId(start + 100)) {
                assert_eq!(docs.len(), freqs.len());
                assert!(docs.iter().all(|doc| *doc < DOC_COUNT));
            }
            postings.block_max(DocId(start));
            postings.group_max(DocId(start));
        }
        for block in 0..postings.block_count() {
            let (mut docs, mut freqs) = ([0; BLOCK], [0; BLOCK]);
            let count = postings.docs_and_freqs(block, &mut docs, &mut freqs);
            assert!(docs[..count].is_sorted_by(|a, b| a < b));
            assert!(docs[..count].iter().all(|doc| *doc < DOC_COUNT));
            postings.probe(block, DocId(block * 100 + 7));
        }
    }
    std::hint::black_box(sum);
    segment.fault().map_or(Ok(()), |error| Err(error.clone()))
}

/// Merges it, as a worker would.
fn merge(segment: &Segment) -> Result<Vec<u8>> {
    let map = DocMap::new([(segment.doc_count(), None)])?;
    let mut writer = SegmentWriter::new(SegmentId(4), map.doc_count());
    writer.ids_from(&mut MergedIds::new([(segment.ids().clone(), map.input(0))])?)?;
    let mut steps = segment::steps::Steps::unwatched();
    if let Some(terms) = segment.terms(TEXT) {
        let mut merged = MergedTerms::new([(terms, map.input(0))], &mut steps)?;
        writer.terms(TEXT, merged.options(), &mut merged)?;
    }
    writer.seal()
}

/// `file` with the byte at `at` changed and every checksum right again.
fn forged(file: &[u8], parts: &File, at: usize, change: impl Fn(u8) -> u8) -> Bytes {
    let end = parts.entries().iter().map(|entry| entry.offset + entry.len).max().expect("some");
    let mut forged = file[..end as usize].to_vec();
    forged[at] = change(forged[at]);
    toc::finish(&mut forged, parts.entries().to_vec(), parts.doc_count());
    footer::seal(&mut forged, FileKind::Segment, ID);
    Bytes::from(forged)
}

fn forge_each_byte_of(kinds: &[SectionKind], blocks: TermBlocks) {
    // Few lengths: they are kept as bits and bytes.
    let file = write(blocks, |doc| u8::from(doc % 9 == 0));
    let parts = File::open(Bytes::from(file.clone()), Check::Full).expect("just sealed");
    let whole = Segment::open(ID, Bytes::from(file.clone()), Check::Full).expect("just sealed");
    read(&whole).expect("just sealed");
    merge(&whole).expect("just sealed");
    let changes: [fn(u8) -> u8; 5] =
        [|byte| byte ^ 1, |byte| byte ^ 0x40, |_| 0, |_| 0xff, |byte| byte.wrapping_add(1)];
    let (mut opened, mut refused) = (0, 0);
    for entry in parts.entries().iter().filter(|entry| kinds.contains(&entry.kind)) {
        // Long sections repeat themselves: a few hundred bytes of each are tried.
        let step = entry.len as usize / 300 + 1;
        for at in (entry.offset..entry.offset + entry.len).step_by(step) {
            for change in changes {
                let forged = forged(&file, &parts, at as usize, change);
                if let Ok(segment) = Segment::open(ID, forged, Check::Full) {
                    opened += 1;
                    refused += u32::from(read(&segment).is_err() || merge(&segment).is_err());
                }
            }
        }
    }
    assert!(opened > 0, "some forgeries are only noticed when they are read");
    assert!(refused > 0 || kinds.contains(&SectionKind::IdIndex), "and some are noticed");
}

#[test]
fn forged_terms_end_in_errors() {
    forge_each_byte_of(&[SectionKind::TermBlocks, SectionKind::TermIndex], TermBlocks::Plain);
}

#[test]
fn forged_frames_end_in_errors() {
    forge_each_byte_of(&[SectionKind::TermBlocks], TermBlocks::Zstd);
}

#[test]
fn forged_postings_end_in_errors() {
    forge_each_byte_of(&[SectionKind::Postings, SectionKind::Skips], TermBlocks::Plain);
}

#[test]
fn forged_positions_and_lengths_end_in_errors() {
    let kinds = [SectionKind::Positions, SectionKind::Norms, SectionKind::Meta];
    forge_each_byte_of(&kinds, TermBlocks::Plain);
}

#[test]
fn forged_ids_end_in_errors() {
    forge_each_byte_of(&[SectionKind::IdIndex, SectionKind::IdFilter], TermBlocks::Plain);
    forge_each_byte_of(&[SectionKind::IdBlocks, SectionKind::IdRanks], TermBlocks::Plain);
}

#[test]
fn forged_bound_is_found_by_verify() {
    // A bound that is too low would hide documents from every search, and nothing would fail.
    let file = write(TermBlocks::Plain, |_| 1);
    let parts = File::open(Bytes::from(file.clone()), Check::Full).expect("just sealed");
    assert_eq!(segment::verify::verify(ID, Bytes::from(file.clone())), []);
    let skips = parts.entries().iter().find(|entry| entry.kind == SectionKind::Skips);
    // Two blocks: two last documents and two ends, 16 bytes; then the frequency of the first pair.
    let at = skips.expect("a term has 199 documents").offset as usize + 16;
    for pair in 0..4 {
        assert_eq!(file[at + 2 * pair], 3, "the highest frequency of the first block");
    }
    let mut forged_file = file;
    for pair in 0..4 {
        let bytes = forged(&forged_file, &parts, at + 2 * pair, |_| 2);
        forged_file = bytes.to_vec();
    }
    let damages = segment::verify::verify(ID, Bytes::from(forged_file));
    assert_eq!(damages.len(), 1);
    assert_eq!(damages[0].sections, [(SectionKind::Skips, TEXT)]);
}
