//! Makes one segment of several: the documents that are alive, in their order.
//!
//! Always true
//! 1. Inputs follow one another as given, each in its own document order; where all stand in one
//!    order, so does the result, and documents that are equal in it keep the order of the inputs.
//!    Dead documents, and terms that none of the others has, are gone ([`DocMap`]).
//! 2. What an input holds damaged is never carried over: every byte is read through its checksum, also
//!    where a reader before found its page good, and the merge ends with the error and the input's number.
//! 3. Beside the result, which is there once, memory holds blocks of the inputs, what of the terms of one field stands
//!    behind their postings, four bytes for each term of a column of terms, and all points of a field that has
//!    several dimensions; where the result is sorted, eight bytes for each document and key while the order is
//!    found, and eight for each document. [`room_bytes`] reckons it.
//!
//! It runs on a worker, reads nothing but the inputs' bytes, and asks its watch after each block.
//!
//! Not here: which segments to merge (`shard/merge/policy`), writing the file.

use std::sync::Arc;

use base::hash::Map;
use base::{FieldNo, SegmentId};

use crate::bkd::merge::{all_points_bytes, merge_points};
use crate::bytes::zblock::Dictionary;
use crate::columns::merge::{merge_binary, merge_numeric, merge_ordinals, merged_ranks};
use crate::docmap::DocMap;
use crate::error::{Error, Result};
use crate::fields::Field;
use crate::ids::MergedIds;
use crate::live::Live;
use crate::order::{self, SortColumn, SortOrder};
use crate::reader::Segment;
use crate::steps::{Steps, Watch};
use crate::stored::merge::merge_stored;
use crate::terms::MergedTerms;
use crate::toc::SectionKind;
use crate::verify;
use crate::writer::{DOC_COUNT_MAX, SegmentWriter, TermBlocks};

/// One part in so many of the inputs is what else a merge holds.
const ELSE_PART: u64 = 16;

/// Memory that merging `inputs` takes, about, with the result and without what making a dictionary takes.
pub fn room_bytes<'a>(inputs: impl Iterator<Item = &'a Segment> + Clone) -> u64 {
    let total: u64 = inputs.clone().map(Segment::len_bytes).sum();
    let mut beside: Map<FieldNo, u64> = Map::default();
    for segment in inputs {
        for field in segment.fields().map(Field::number) {
            let kinds = [SectionKind::Skips, SectionKind::Positions, SectionKind::TermBlocks];
            let sections = kinds.iter().filter_map(|kind| segment.section(*kind, field));
            let points = segment.points(field).map_or(0, all_points_bytes);
            *beside.entry(field).or_default() += sections.map(|it| it.len()).sum::<u64>() + points;
        }
    }
    total + total / ELSE_PART + beside.into_values().max().unwrap_or(0)
}

/// Merges `inputs`, each with its alive documents, to segment `id`: gives the bytes of its file, with room behind
/// them, and where each document went. Their sources are compressed with `dictionary`, or with one that is made of them.
///
/// # Errors
/// [`Error::Cancelled`] where the watch breaks; [`Error::Input`] where an input is damaged;
/// [`Error::Limit`] where the result would be larger than a segment can be.
pub fn merge(
    inputs: &[(Segment, Option<Arc<Live>>)],
    id: SegmentId,
    dictionary: Option<&Dictionary>,
    watch: &mut Watch<'_>,
) -> Result<(Vec<u8>, DocMap)> {
    let mut afresh = Vec::with_capacity(inputs.len());
    for (segment, live) in inputs {
        let opened = segment.afresh().map_err(|error| of_input(segment, error))?;
        afresh.push((opened, live.clone()));
    }
    merge_afresh(&afresh, id, dictionary, watch).map_err(|error| blame(&afresh, error))
}

/// Finds the input that an error is of: readers do not tell whose bytes they read.
#[cold]
fn blame(inputs: &[(Segment, Option<Arc<Live>>)], error: Error) -> Error {
    if matches!(error, Error::Cancelled | Error::Limit { .. } | Error::Input { .. }) {
        return error;
    }
    let segments = || inputs.iter().map(|(segment, _)| segment);
    if let Some(segment) = segments().find(|segment| segment.fault() == Some(&error)) {
        return of_input(segment, error);
    }
    // What makes no sense, though its checksums are right: whoever is read alone says so as well.
    let is_damaged = |segment: &&Segment| {
        !verify::verify(segment.id(), segment.file().whole().clone()).is_empty()
    };
    match segments().find(is_damaged) {
        Some(segment) => of_input(segment, error),
        None => error,
    }
}

fn of_input(segment: &Segment, error: Error) -> Error {
    Error::Input { segment: segment.id(), error: Box::new(error) }
}

fn merge_afresh(
    inputs: &[(Segment, Option<Arc<Live>>)],
    id: SegmentId,
    dictionary: Option<&Dictionary>,
    watch: &mut Watch<'_>,
) -> Result<(Vec<u8>, DocMap)> {
    let map =
        DocMap::new(inputs.iter().map(|(segment, live)| (segment.doc_count(), live.clone())))?;
    if map.doc_count() > DOC_COUNT_MAX {
        return Err(Error::Limit {
            what: "number of documents of a segment",
            limit: u64::from(DOC_COUNT_MAX),
            found: u64::from(map.doc_count()),
        });
    }
    let total_bytes = inputs.iter().map(|(segment, _)| segment.len_bytes()).sum();
    let segments: Vec<&Segment> = inputs.iter().map(|(segment, _)| segment).collect();
    let mut steps = Steps::new(total_bytes, watch);
    let order = order::shared(&segments);
    let map = match &order {
        Some(order) => in_order(order, &segments, map, &mut steps)?,
        None => map,
    };
    // What moves as it grows is there twice meanwhile. Seldom is the result longer than what it is made of.
    let room = usize::try_from(total_bytes).unwrap_or(usize::MAX);
    let writer = SegmentWriter::new(id, map.doc_count()).with_room(room);
    let mut merge = Merge {
        writer: writer.merged(inputs.len() as u32, TermBlocks::Zstd),
        segments,
        map: &map,
        steps,
    };
    if let Some(order) = &order {
        merge.writer.order(order);
    }
    merge.ids()?;
    crate::parents::merge(&mut merge.writer, &merge.segments, merge.map);
    for field in merge.fields() {
        merge.norms(field)?;
        merge.terms(field)?;
        merge.columns(field)?;
        merge.points(field)?;
    }
    merge.stored(dictionary)?;
    // What an inner loop met and could not say.
    if let Some(fault) = merge.segments.iter().find_map(|segment| segment.fault()) {
        return Err(fault.clone());
    }
    let bytes = merge.writer.seal_with_room()?;
    Ok((bytes, map))
}

/// Lays the documents of sorted segments in the order that they share.
fn in_order(
    order: &SortOrder,
    segments: &[&Segment],
    map: DocMap,
    steps: &mut Steps<'_>,
) -> Result<DocMap> {
    // Terms are compared by their ranks among those of all inputs.
    let mut ranks: Vec<Vec<Option<Arc<[u32]>>>> = vec![Vec::new(); segments.len()];
    for key in order.keys() {
        let mut of_key = vec![None; segments.len()];
        if key.column == SortColumn::Terms {
            let columns = segments.iter().enumerate();
            let columns = columns.filter_map(|(at, it)| Some((at, it.ordinals(key.field)?)));
            let columns: Vec<_> = columns.collect();
            let found = merged_ranks(&columns, steps)?;
            for ((at, _), ranks) in columns.iter().zip(found) {
                of_key[*at] = Some(ranks.into());
            }
        }
        for (ranks, of_key) in ranks.iter_mut().zip(of_key) {
            ranks.push(of_key);
        }
    }
    let mut values = Vec::with_capacity(segments.len());
    for (segment, ranks) in segments.iter().zip(&ranks) {
        values.push(order.values(segment, |key| ranks[key].clone())?);
        steps.step(0)?;
    }
    map.sorted(&values).ok_or(Error::Malformed {
        section: SectionKind::Order,
        field: FieldNo(0),
        offset: 0,
        what: "documents stand in the order of the segment",
    })
}

/// A merge under way.
struct Merge<'a> {
    writer: SegmentWriter,
    segments: Vec<&'a Segment>,
    map: &'a DocMap,
    steps: Steps<'a>,
}

impl<'a> Merge<'a> {
    /// The fields of all inputs, by number.
    fn fields(&self) -> Vec<FieldNo> {
        let fields = self.segments.iter().flat_map(|segment| segment.fields().map(Field::number));
        let mut fields: Vec<FieldNo> = fields.collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// What `part` gives of each input that has it, with the input's number.
    fn parts<P>(&self, part: impl Fn(&'a Segment) -> Option<P>) -> Vec<(usize, P)> {
        let segments = self.segments.iter().enumerate();
        segments.filter_map(|(number, segment)| Some((number, part(segment)?))).collect()
    }

    /// Notes that the sections of `kind` of `field` are behind.
    fn passed(&mut self, kind: SectionKind, field: FieldNo) -> Result<()> {
        let sections = self.segments.iter().filter_map(|segment| segment.section(kind, field));
        let bytes = sections.map(|section| section.len()).sum();
        self.steps.step(bytes)
    }

    fn ids(&mut self) -> Result<()> {
        let inputs = self.segments.iter().zip(self.map.inputs());
        let inputs = inputs.map(|(segment, map)| (segment.ids().clone(), map));
        self.writer.ids_from(&mut MergedIds::new(inputs)?)?;
        self.passed(SectionKind::IdBlocks, FieldNo::ID)
    }

    fn norms(&mut self, field: FieldNo) -> Result<()> {
        let parts = self.parts(|segment| segment.norms(field));
        if parts.is_empty() {
            return Ok(());
        }
        let mut merged = vec![0; self.map.doc_count() as usize];
        for (number, norms) in parts {
            let map = self.map.input(number);
            if let Some(docs) = map.new_docs().filter(|_| map.keeps_all()) {
                norms.copy(0..map.doc_count(), &mut merged[docs.start as usize..docs.end as usize]);
            } else {
                map.kept().for_each(|(old, new)| merged[new.index()] = norms.get(old));
            }
        }
        self.writer.norms(field, &merged)?;
        self.passed(SectionKind::Norms, field)
    }

    fn terms(&mut self, field: FieldNo) -> Result<()> {
        let parts = self.parts(|segment| segment.terms(field));
        if parts.is_empty() {
            return Ok(());
        }
        let inputs = parts.into_iter().map(|(number, terms)| (terms, self.map.input(number)));
        let mut merged = MergedTerms::new(inputs, &mut self.steps)?;
        let options = merged.options();
        self.writer.terms(field, options, &mut merged)
    }

    fn columns(&mut self, field: FieldNo) -> Result<()> {
        let numeric = self.parts(|segment| segment.numeric(field));
        merge_numeric(&mut self.writer, field, &numeric, self.map, &mut self.steps)?;
        let ordinals = self.parts(|segment| segment.ordinals(field));
        merge_ordinals(&mut self.writer, field, &ordinals, self.map, &mut self.steps)?;
        let binary = self.parts(|segment| segment.binary(field));
        merge_binary(&mut self.writer, field, &binary, self.map, &mut self.steps)
    }

    fn points(&mut self, field: FieldNo) -> Result<()> {
        let trees = self.parts(|segment| segment.points(field).cloned());
        merge_points(&mut self.writer, field, &trees, self.map, &mut self.steps)
    }

    fn stored(&mut self, dictionary: Option<&Dictionary>) -> Result<()> {
        let stored: Vec<_> = self.segments.iter().map(|segment| segment.stored()).collect();
        merge_stored(&mut self.writer, &stored, self.map, dictionary, &mut self.steps)
    }
}
