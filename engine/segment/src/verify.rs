//! Reads all of a segment and tells every damage found: for `corelode check`, and the round through
//! the whole store.
//!
//! Always true
//! 1. Each page is compared with its checksum, also those after a damaged one.
//! 2. Then meaning is checked through the same readers that queries use: order, counts, bounds, and
//!    what one section says of another.
//! 3. Nothing is changed, and nothing panics.

use std::fmt;

use base::{DocId, FieldNo, SegmentId};
use env::Bytes;

use crate::error::{Error, Result};
use crate::footer::{self, FileKind};
use crate::postings::{END, NORM_NONE, Need, bounds_hold};
use crate::reader::Segment;
use crate::section::{Check, File};
use crate::terms::Terms;
use crate::toc::{Entry, PAGE, SectionKind};

/// Damages told at most: a file full of them is told no better by more.
const DAMAGES_MAX: usize = 1000;

/// A part of a segment that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What is wrong.
    pub error: Error,
    /// Where in the file, as near as known.
    pub offset: u64,
    /// The sections that lie there; none where the frame of the file is hurt.
    pub sections: Vec<(SectionKind, FieldNo)>,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {}", self.offset)?;
        for (kind, field) in &self.sections {
            write!(f, ", {kind:?} of field {field}")?;
        }
        write!(f, ": {}", self.error)
    }
}

/// Reads and checks the whole file of segment `id`; no damage means that it is whole.
pub fn verify(id: SegmentId, bytes: Bytes) -> Vec<Damage> {
    let mut damages = Damages { list: Vec::new(), entries: Vec::new() };
    if let Err(error) = verify_file(id, bytes, &mut damages) {
        damages.add(error);
    }
    damages.list
}

/// What was found so far.
struct Damages {
    list: Vec<Damage>,
    entries: Vec<Entry>,
}

impl Damages {
    /// Adds a damage, once.
    fn add(&mut self, error: Error) {
        if self.list.len() == DAMAGES_MAX || self.list.iter().any(|damage| damage.error == error) {
            return;
        }
        let entry = |kind, field| {
            self.entries.iter().find(|entry| entry.kind == kind && entry.field == field)
        };
        let (offset, sections) = match &error {
            Error::Malformed { section, field, offset, .. } => {
                let start = entry(*section, *field).map_or(0, |entry| entry.offset);
                (start + offset, vec![(*section, *field)])
            }
            Error::Checksum { offset, .. } => {
                let page = *offset..offset + PAGE as u64;
                let touched = self.entries.iter().filter(|entry| {
                    entry.offset < page.end && page.start < entry.offset + entry.len
                });
                (*offset, touched.map(|entry| (entry.kind, entry.field)).collect())
            }
            _ => (0, Vec::new()),
        };
        self.list.push(Damage { error, offset, sections });
    }

    /// Adds the damage of an answer.
    fn note(&mut self, answer: Result<()>) {
        if let Err(error) = answer {
            self.add(error);
        }
    }
}

/// Checks a file; an error where nothing more can be looked at.
fn verify_file(id: SegmentId, bytes: Bytes, damages: &mut Damages) -> Result<()> {
    let footer = footer::open(&bytes, FileKind::Segment)?;
    let file = File::open(bytes.clone(), Check::Lazy)?;
    damages.entries = file.entries().to_vec();
    for page in 0..file.page_count() {
        damages.note(file.verify_page(page));
    }
    // The pages cover all but the page table and what follows it, which opening checks; so the
    // checksum of the whole says something new only where these agree.
    if damages.list.is_empty() {
        footer::check_body(&bytes, &footer)?;
    }
    let segment = Segment::from_file(id, file)?;
    verify_ids(&segment, damages);
    for field in segment.fields() {
        if let Some(terms) = field.terms() {
            let norms = field.norms();
            let norm = |doc| norms.as_ref().map_or(NORM_NONE, |norms| norms.get(doc));
            damages.note(verify_terms(&segment, field.number(), &terms, norm));
        }
        let damage = &mut |error| damages.add(error);
        if let Some(column) = field.numeric() {
            column.verify(damage);
        }
        if let Some(column) = field.ordinals() {
            column.verify(damage);
        }
        if let Some(column) = field.binary() {
            column.verify(damage);
        }
        if let Some(tree) = field.points() {
            tree.verify(damage);
        }
    }
    if let Some(order) = segment.order() {
        damages.note(order.verify(&segment));
    }
    if let Some(stored) = segment.stored() {
        stored.verify(&mut |error| damages.add(error));
    }
    if let Some(fault) = segment.fault() {
        damages.add(fault.clone());
    }
    Ok(())
}

/// Checks that ids rise, and that each leads to its document and back.
fn verify_ids(segment: &Segment, damages: &mut Damages) {
    let answer = (|| {
        let malformed = |what| {
            let (section, field) = (SectionKind::IdBlocks, FieldNo::ID);
            Err(Error::Malformed { section, field, offset: 0, what })
        };
        let ids = segment.ids();
        let mut cursor = ids.cursor();
        let mut before: Option<(Vec<u8>, DocId)> = None;
        let mut count = 0;
        while let Some((id, doc)) = cursor.next()? {
            count += 1;
            if doc.get() >= segment.doc_count() {
                return malformed("the document of an id is one of the segment's");
            }
            if let Some((id_before, doc_before)) = &before
                && (id_before.as_slice(), *doc_before) >= (id, doc)
            {
                return malformed("ids rise");
            }
            if ids.id_of(doc)? != Some(id) {
                return malformed("a document has the id that leads to it");
            }
            if ids.find(id)?.is_none_or(|found| found < doc) {
                return malformed("an id is found");
            }
            before = Some((id.to_vec(), doc));
        }
        if count != ids.len() {
            return malformed("as many ids are there as are counted");
        }
        if let Some(parents) = segment.parents() {
            for doc in (0..segment.doc_count()).map(DocId) {
                if parents.has(doc) != ids.id_of(doc)?.is_some() {
                    return malformed("a document has an id where it stands for itself");
                }
            }
        }
        Ok(())
    })();
    damages.note(answer);
}

/// Checks that the terms of a field rise, and that their documents, frequencies and positions are
/// as many as are counted, and in order.
fn verify_terms(
    segment: &Segment,
    field: FieldNo,
    terms: &Terms,
    norm: impl Fn(DocId) -> u8,
) -> Result<()> {
    let malformed = |section, what| Err(Error::Malformed { section, field, offset: 0, what });
    let options = terms.options();
    let need = match (options.freqs, options.positions) {
        (_, true) => Need::Positions,
        (true, false) => Need::Freqs,
        (false, false) => Need::Docs,
    };
    let mut cursor = terms.cursor();
    let mut before: Option<Vec<u8>> = None;
    let (mut term_count, mut doc_freq_sum, mut term_freq_sum) = (0, 0, 0);
    let mut docs = crate::bytes::bitmap::Bitmap::new(segment.doc_count());
    let mut positions = Vec::new();
    while cursor.next()? {
        if before.as_deref().is_some_and(|before| before >= cursor.term()) {
            return malformed(SectionKind::TermBlocks, "terms rise");
        }
        before = Some(cursor.term().to_vec());
        let info = cursor.info()?;
        let mut postings = terms.postings(&info, need);
        let (mut doc_freq, mut total_freq) = (0u32, 0u64);
        let mut last: Option<DocId> = None;
        while postings.next() != END {
            let doc = postings.doc();
            if doc.get() >= segment.doc_count() || last.is_some_and(|last| last >= doc) {
                return malformed(SectionKind::Postings, "documents of a term rise, to the last");
            }
            last = Some(doc);
            docs.insert(doc.get());
            doc_freq += 1;
            total_freq += if options.freqs { u64::from(postings.freq()) } else { 1 };
            if options.positions {
                positions.clear();
                postings.positions(&mut positions);
                let in_order = positions.windows(2).all(|pair| pair[0] <= pair[1]);
                if positions.len() as u64 != u64::from(postings.freq()) || !in_order {
                    return malformed(SectionKind::Positions, "a term has its positions in order");
                }
            }
            if norm(doc) == 0 {
                return malformed(SectionKind::Norms, "a document with a term has a length");
            }
        }
        if let Some(fault) = segment.fault() {
            return Err(fault.clone());
        }
        if !bounds_hold(&terms.postings(&info, need), &norm) {
            return malformed(SectionKind::Skips, "bounds of blocks hold for each document");
        }
        if doc_freq != info.doc_freq || total_freq != info.total_freq {
            return malformed(SectionKind::Postings, "a term has as many documents as it counts");
        }
        term_count += 1;
        doc_freq_sum += u64::from(doc_freq);
        term_freq_sum += total_freq;
    }
    let counted = (terms.term_count(), terms.doc_freq_sum(), terms.term_freq_sum());
    if (term_count, doc_freq_sum, term_freq_sum) != counted || docs.count() != terms.doc_count() {
        return malformed(SectionKind::TermIndex, "the counts of a field are those of its terms");
    }
    Ok(())
}
