//! A part of the documents of held views: the views stay what they are, but for documents that
//! belong to other parts, which count as deleted.
//!
//! Always true: parts `0..max` of one set of views, cut by the same rule, share no document and miss
//! none. Cut by id, that holds also between views of different moments.

use std::rc::Rc;
use std::sync::Arc;

use base::DocId;
use env::{Env, Spawn};
use segment::{Live, Segment, View};

use super::Shards;
use super::context::HeldShard;
use super::search::SEARCH;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate};

/// Documents looked at between two looks at other tasks.
const STEP_DOCS: u32 = 4096;

/// `index.max_slices_per_scroll`.
const SLICES_MAX: i64 = 1024;

/// By what documents are cut.
#[derive(Clone, Copy, Debug)]
pub(super) enum By<'a> {
    /// A hash of the id.
    Id,
    /// The place in the segment: cheapest, for views of one moment; by id where something is hidden.
    Place,
    /// A hash of the first value of a field.
    Field(&'a str),
}

/// Leaves of each view the documents of part `id` of `max`. As in Elasticsearch, whole shards of an
/// index are shared out first; only where there are fewer than parts, their documents are.
pub(super) async fn sliced<E: Env>(
    (core, gate): (&Rc<Core<E>>, &dyn Gate),
    held: &mut [HeldShard],
    id: u32,
    max: u32,
    by: By<'_>,
) -> Result<()> {
    for shards in held.chunk_by_mut(|a, b| a.index == b.index) {
        let count = shards.len() as u32;
        for (at, shard) in (0u32..).zip(shards) {
            within_limit(core, shard, max)?;
            let (id, max) = match share(id, max, at, count) {
                Some(share) => share,
                // None of this shard: the last of two parts of an empty range.
                None => {
                    shard.view = Ok(Arc::new(View::empty()));
                    continue;
                }
            };
            slice_one((core, gate), shard, id, max, by).await?;
        }
    }
    Ok(())
}

/// Which part of how many of shard `at` of `count` belongs to part `id` of `max`.
fn share(id: u32, max: u32, at: u32, count: u32) -> Option<(u32, u32)> {
    if count >= max {
        return (at % max == id).then_some((0, 1));
    }
    if id % count != at {
        return None;
    }
    Some((id / count, max / count + u32::from(max % count > at)))
}

/// An index says how many parts there may be, of all its shards together.
fn within_limit<E: Env>(core: &Core<E>, shard: &HeldShard, max: u32) -> Result<()> {
    if shard.view.is_err() {
        return Ok(());
    }
    let state = core.state();
    let index = state.index_by_uuid(shard.index);
    let limit = index
        .and_then(|index| index.settings.int("index.max_slices_per_scroll"))
        .map_or(SLICES_MAX, |limit| limit as i64);
    if i64::from(max) <= limit {
        return Ok(());
    }
    Err(failed(
        core,
        shard,
        format!(
            "The number of slices [{max}] is too large. It must be less than [{limit}]. This limit can be set by \
             changing the [index.max_slices_per_scroll] index level setting."
        ),
    ))
}

async fn slice_one<E: Env>(
    (core, gate): (&Rc<Core<E>>, &dyn Gate),
    shard: &mut HeldShard,
    id: u32,
    max: u32,
    by: By<'_>,
) -> Result<()> {
    let state = core.state();
    {
        let Ok(view) = &shard.view else { return Ok(()) };
        let index = state.index_by_uuid(shard.index);
        let field = match by {
            By::Field(name) => {
                // Which slice a document is in tells its value: the hash is no secret. What is hidden of
                // any kind of documents is as if it were not there, whatever name leads to it.
                let limits = gate::ask(gate, SEARCH, &shard.name, &shard.via)?;
                let mapping = index.map(|index| core.mapping_of(index, &limits));
                let field = mapping.as_ref().and_then(|mapping| mapping.field(name));
                match field {
                    Some(field) if field.doc_values => Some(field.no),
                    _ => {
                        return Err(failed(
                            core,
                            shard,
                            format!("cannot load numeric doc values on [{name}]"),
                        ));
                    }
                }
            }
            By::Id | By::Place => None,
        };
        if max == 1 {
            return Ok(());
        }
        // In which range a place lies tells how many documents are before it.
        let limits = gate::ask(gate, SEARCH, &shard.name, &shard.via);
        let by = match by {
            By::Place if !limits.is_ok_and(|limits| limits.is_unlimited()) => By::Id,
            by => by,
        };
        let mut segments = Vec::with_capacity(view.segments.len());
        for at in &view.segments {
            let out = match (by, field) {
                (_, Some(field)) => others_by_field(core, &at.segment, field, id, max).await,
                (By::Place, _) => others_by_place(at.segment.doc_count(), id, max),
                _ => others_by_id(core, &at.segment, id, max).await?,
            };
            let live = match &at.live {
                Some(live) => live.without(out),
                None => Live::all(at.segment.doc_count()).without(out),
            };
            segments.push((at.segment.clone(), Some(Arc::new(live))));
        }
        let view = View::new(view.generation, segments)
            .map_err(|error| Error::internal(error.to_string()))?;
        shard.view = Ok(Arc::new(view));
    }
    Ok(())
}

fn failed<E: Env>(core: &Core<E>, shard: &HeldShard, reason: String) -> Error {
    let failure = super::ShardFailure {
        shard: shard.number,
        index: shard.name.to_string(),
        node: None,
        reason: Error::illegal_argument(reason),
    };
    let shards = Shards { total: 1, failed: 1, failures: vec![failure], ..Shards::default() };
    core.failed_in("query", &shards)
}

/// Documents outside of the part, which is a range.
fn others_by_place(doc_count: u32, id: u32, max: u32) -> Vec<DocId> {
    let bound = |at: u32| (u64::from(doc_count) * u64::from(at) / u64::from(max)) as u32;
    (0..bound(id)).chain(bound(id + 1)..doc_count).map(DocId).collect()
}

async fn others_by_id<E: Env>(
    core: &Rc<Core<E>>,
    segment: &Segment,
    id: u32,
    max: u32,
) -> Result<Vec<DocId>> {
    let mut out = Vec::new();
    let mut cursor = segment.ids().cursor();
    let mut seen = 0;
    loop {
        match cursor.next() {
            Ok(None) => return Ok(out),
            Ok(Some((name, doc))) => {
                if part_of(base::hash::murmur3(name, 0), max) != id {
                    out.push(doc);
                }
            }
            Err(error) => {
                return Err(Error::new(500, "corrupt_index_exception", error.to_string()));
            }
        }
        seen += 1;
        if seen % STEP_DOCS == 0 {
            core.env.spawn().yield_if_needed().await;
        }
    }
}

async fn others_by_field<E: Env>(
    core: &Rc<Core<E>>,
    segment: &Segment,
    field: base::FieldNo,
    id: u32,
    max: u32,
) -> Vec<DocId> {
    let mut out = Vec::new();
    let numbers = segment.numeric(field);
    let words = segment.ordinals(field);
    let mut terms = words.map(|column| column.terms());
    // Terms are read once each.
    let mut known: base::hash::Map<u32, u32> = base::hash::Map::default();
    for doc in (0..segment.doc_count()).map(DocId) {
        let part = match (numbers, words) {
            (Some(column), _) => {
                let value = column.first(doc).unwrap_or(0);
                part_of(base::hash::murmur3(&value.to_le_bytes(), 0), max)
            }
            (None, Some(column)) => match column.first(doc) {
                None => part_of(0, max),
                Some(rank) => *known.entry(rank.get()).or_insert_with(|| {
                    let term = terms.as_mut().and_then(|terms| terms.term(rank).ok());
                    part_of(term.map_or(0, |term| base::hash::murmur3(term, 0)), max)
                }),
            },
            (None, None) => part_of(0, max),
        };
        if part != id {
            out.push(doc);
        }
        if doc.get() % STEP_DOCS == 0 {
            core.env.spawn().yield_if_needed().await;
        }
    }
    out
}

fn part_of(hash: u32, max: u32) -> u32 {
    // All bits of the hash are equally good; this takes the high ones.
    ((u64::from(hash) * u64::from(max)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_shared_out_before_documents() {
        for (count, max) in [(5, 2), (1, 3), (3, 7), (4, 4), (2, 5)] {
            for at in 0..count {
                let shares: Vec<(u32, u32)> =
                    (0..max).filter_map(|id| share(id, max, at, count)).collect();
                let parts = shares[0].1;
                let ids: Vec<u32> = shares.iter().map(|share| share.0).collect();
                assert_eq!(ids, (0..parts).collect::<Vec<_>>(), "{count} {max} {at}");
            }
        }
    }

    #[test]
    fn parts_share_nothing_and_miss_nothing() {
        for (count, max) in [(0, 2), (1, 3), (10, 3), (1000, 7)] {
            let mut seen = vec![0; count as usize];
            for id in 0..max {
                let out = others_by_place(count, id, max);
                seen.iter_mut().for_each(|times| *times += 1);
                out.iter().for_each(|doc| seen[doc.get() as usize] -= 1);
            }
            assert!(seen.iter().all(|times| *times == 1), "{count} {max}");
        }
        let mut sizes = [0; 5];
        for number in 0..1000u32 {
            sizes[part_of(base::hash::murmur3(&number.to_le_bytes(), 0), 5) as usize] += 1;
        }
        assert!(sizes.iter().all(|&size| size > 120), "{sizes:?}");
    }
}
