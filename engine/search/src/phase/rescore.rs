//! Second scores for the best hits of a shard.
//!
//! As Lucene's `QueryRescorer`: the first hits are scored again, what they score becomes one with
//! their first score; hits that the second query does not match, and those behind the window, keep
//! their first score times its weight. Then all are ordered anew.

use segment::Missing;

use crate::iter::build::{self, Context};
use crate::iter::{NO_MATCH, Turn};
use crate::plan::weigh::Plan;
use crate::request::Rescore;
use crate::result::Ranked;

/// Hits that are scored before `goes_on` is asked again: some ten microseconds, where no script scores them.
const STEP_HITS: usize = 64;

/// Orders `hits` (of the view of `plan`, best first) anew by the scores of `plan`. Between some hits, and between any
/// two where a script may score them, it asks whether it `goes_on`; where it does not, they stay as they were, and
/// the answer is `false`.
///
/// # Errors
/// Where a segment is damaged.
pub async fn rescore(
    asked: &Rescore,
    plan: &Plan,
    hits: &mut [Ranked],
    is_scripted: bool,
    goes_on: impl AsyncFn() -> bool,
) -> segment::Result<bool> {
    let step = if is_scripted { 1 } else { STEP_HITS };
    let window = (asked.window as usize).min(hits.len());
    let mut second = vec![NO_MATCH; window];
    for number in 0..plan.view.segments.len() {
        let segment = &plan.view.segments[number].segment;
        let mut places: Vec<(u32, usize)> = hits[..window]
            .iter()
            .enumerate()
            .filter(|(_, hit)| hit.segment as usize == number)
            .map(|(at, hit)| (hit.doc.get(), at))
            .collect();
        if places.is_empty() {
            continue;
        }
        places.sort_unstable();
        let Some(mut scorer) = build::scorer(&plan.root, Context { segment, number }) else {
            continue;
        };
        for places in places.chunks(step) {
            if !goes_on().await {
                return Ok(false);
            }
            let docs: Vec<u32> = places.iter().map(|(doc, _)| *doc).collect();
            let mut scores = vec![NO_MATCH; docs.len()];
            let mut missing = Missing::new();
            loop {
                let mut turn = Turn::new(&mut missing, u32::MAX, segment.file().is_resident());
                if scorer.prepare_probe(&docs, &mut turn) {
                    break;
                }
                missing.fetch();
            }
            scorer.probe(&docs, &mut scores);
            for ((_, at), score) in places.iter().zip(scores) {
                second[*at] = score;
            }
        }
        if let Some(fault) = segment.fault() {
            return Err(fault.clone());
        }
    }
    for (at, hit) in hits.iter_mut().enumerate() {
        let first = hit.score * asked.query_weight;
        let score = second.get(at).copied().filter(|score| *score != NO_MATCH);
        hit.score = match score {
            Some(score) => asked.mode.combine(first, score * asked.rescore_weight),
            None => first,
        };
    }
    hits.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then((a.segment, a.doc).cmp(&(b.segment, b.doc)))
    });
    Ok(true)
}
