//! Puts the stored documents of several segments behind one another.
//!
//! Always true
//! 1. A block all of whose documents are kept is copied as it is, unless it is small or made with another dictionary;
//!    documents of the others are packed anew. So a merge without deletes, whose inputs have the dictionary of the
//!    result, neither decompresses nor compresses. Where documents of the inputs stand between one another, all are
//!    packed anew.
//! 2. Small blocks stay rare: before a copy the open block is ended early only where it is at least
//!    half full, or eight copies follow. Otherwise the blocks of many small segments would survive
//!    all merges.

use base::{DocId, FieldNo};

use super::reader::{Form, Stored};
use super::writer::BlocksWriter;
use super::{LONG_BLOCK_BYTES, heir};
use crate::bytes::zblock::Dictionary;
use crate::docmap::{DocMap, InputMap};
use crate::error::Result;
use crate::steps::Steps;
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

/// So many copies make up for a block that is ended early.
const RUN: usize = 8;

/// Documents packed anew between two looks at the watch.
const STEP_DOCS: usize = 1024;

/// Writes the documents of all inputs, in the order of `map`, compressed with `dictionary`, or with a new one. An input
/// without stored documents has `None`: its documents have no source.
pub fn merge_stored(
    writer: &mut SegmentWriter,
    inputs: &[Option<&Stored>],
    map: &DocMap,
    dictionary: Option<&Dictionary>,
    steps: &mut Steps<'_>,
) -> Result<()> {
    assert_eq!(inputs.len(), map.inputs().len(), "each segment of the map");
    if inputs.iter().all(Option::is_none) {
        return Ok(());
    }
    let kept =
        || inputs.iter().zip(map.inputs()).filter_map(|(stored, map)| Some(((*stored)?, map)));
    let bytes: u64 = kept().map(|(stored, _)| stored.bytes()).sum();
    let chosen = heir::for_inputs(kept(), bytes, dictionary, steps)?;
    let head = writer.put_with(SectionKind::StoredBody, FieldNo(0), |file| {
        let mut blocks = BlocksWriter::new(file.len(), chosen.as_ref());
        if let Some(sequence) = map.sequence() {
            interleave(sequence, inputs, map, &mut blocks, file, steps)?;
            return Ok::<_, crate::Error>(blocks.finish(file));
        }
        for (stored, map) in inputs.iter().zip(map.inputs()) {
            match stored {
                Some(stored) => merge_one(stored, map, &mut blocks, file, steps)?,
                None => (0..map.live_count()).try_for_each(|_| blocks.push(&[], file))?,
            }
        }
        assert_eq!(blocks.doc_count(), map.doc_count(), "each kept document has an entry");
        Ok::<_, crate::Error>(blocks.finish(file))
    })?;
    writer.put(SectionKind::StoredHead, FieldNo(0), &head);
    Ok(())
}

/// Adds the kept documents of all inputs in the order of `sequence`.
fn interleave(
    sequence: &[u32],
    inputs: &[Option<&Stored>],
    map: &DocMap,
    blocks: &mut BlocksWriter,
    file: &mut Vec<u8>,
    steps: &mut Steps<'_>,
) -> Result<()> {
    let mut readers: Vec<_> =
        inputs.iter().map(|stored| stored.map(|stored| (stored, stored.reader()))).collect();
    let mut kept: Vec<_> = map.inputs().iter().map(|input| input.kept()).collect();
    for (at, number) in sequence.iter().enumerate() {
        let number = *number as usize;
        let next = kept[number].next();
        let (old, _) = next.expect("each new document is one that an input keeps");
        match &mut readers[number] {
            Some((_, reader)) => blocks.push(reader.get(old)?, file)?,
            None => blocks.push(&[], file)?,
        }
        if at % STEP_DOCS == 0 {
            steps.step(0)?;
        }
    }
    let of_all = readers.iter().flatten().map(|(stored, _)| {
        (0..stored.block_count()).map(|block| stored.stored_bytes(block)).sum::<u64>()
    });
    steps.step(of_all.sum())
}

/// Adds the kept documents of one input.
fn merge_one(
    stored: &Stored,
    map: &InputMap,
    blocks: &mut BlocksWriter,
    file: &mut Vec<u8>,
    steps: &mut Steps<'_>,
) -> Result<()> {
    let half = blocks.block_bytes() / 2;
    let has_our_dictionary = stored.dictionary() == blocks.dictionary();
    let ours = blocks.dictionary().is_some();
    let can_copy = |block: usize| {
        block < stored.block_count()
            && stored.decompressed_bytes(block) >= half as u64
            && map.keeps(stored.docs(block))
            && match stored.form(block) {
                Form::Plain => true,
                Form::Frame { has_dictionary: true, .. } => has_our_dictionary,
                // What is short with a dictionary is long without one.
                Form::Frame { len, .. } => !ours || len as usize >= LONG_BLOCK_BYTES,
            }
    };
    let mut reader = stored.reader();
    for block in 0..stored.block_count() {
        let docs = stored.docs(block);
        let pending = blocks.pending_bytes();
        let ready = pending == 0 || pending >= half;
        if can_copy(block) && (ready || (block + 1..block + RUN).all(can_copy)) {
            let (bytes, form) = stored.block(block)?;
            blocks.copy(bytes, form, docs.len() as u32, file);
        } else {
            for doc in docs.map(DocId) {
                if map.new_doc(doc).is_some() {
                    blocks.push(reader.get(doc)?, file)?;
                }
            }
        }
        steps.step(stored.stored_bytes(block))?;
    }
    Ok(())
}
