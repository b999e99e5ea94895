//! How good an order of hits is, by the ratings that people gave to documents.

use json::Writer;

/// A measure of quality, and how many hits it looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Metric {
    /// The part of the hits that is relevant.
    Precision { threshold: i32, ignore_unlabeled: bool, k: i32 },
    /// The part of what is relevant that is among the hits.
    Recall { threshold: i32, k: i32 },
    /// One by the place of the first relevant hit.
    ReciprocalRank { threshold: i32, k: i32 },
    /// Discounted cumulative gain; hits without a rating count as `unknown`, where that is said.
    Gain { normalize: bool, unknown: Option<i32>, k: i32 },
    /// Expected reciprocal rank (Chapelle and others, CIKM 2009).
    ExpectedRank { relevance_max: i32, unknown: Option<i32>, k: i32 },
}

/// The quality of the hits of one search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quality {
    pub(super) score: f64,
    detail: Detail,
}

/// What a score was made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Detail {
    Precision {
        relevant: u64,
        retrieved: u64,
    },
    Recall {
        retrieved: u64,
        relevant: u64,
    },
    /// Counted from 1; -1 where there is none.
    First(i64),
    Gain {
        gain: f64,
        ideal: f64,
        unrated: u64,
    },
    Unrated(u64),
}

impl Metric {
    /// So many hits are asked for.
    pub(super) fn window(&self) -> i32 {
        match self {
            Self::Precision { k, .. }
            | Self::Recall { k, .. }
            | Self::ReciprocalRank { k, .. }
            | Self::Gain { k, .. }
            | Self::ExpectedRank { k, .. } => *k,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Precision { .. } => "precision",
            Self::Recall { .. } => "recall",
            Self::ReciprocalRank { .. } => "mean_reciprocal_rank",
            Self::Gain { .. } => "dcg",
            Self::ExpectedRank { .. } => "expected_reciprocal_rank",
        }
    }

    /// Judges hits by their ratings, in their order; `all` are the ratings of the request, the highest
    /// first.
    pub(super) fn evaluate(&self, hits: &[Option<i32>], all: &[i32]) -> Quality {
        let unrated = hits.iter().filter(|rating| rating.is_none()).count() as u64;
        let relevant = |threshold: i32| {
            let found = hits.iter().flatten().filter(|rating| **rating >= threshold);
            found.count() as u64
        };
        match *self {
            Self::Precision { threshold, ignore_unlabeled, .. } => {
                let relevant = relevant(threshold);
                let ignored = if ignore_unlabeled { unrated } else { 0 };
                let retrieved = hits.len() as u64 - ignored;
                let score = part(relevant, retrieved);
                Quality { score, detail: Detail::Precision { relevant, retrieved } }
            }
            Self::Recall { threshold, .. } => {
                let retrieved = relevant(threshold);
                let relevant = all.partition_point(|rating| *rating >= threshold) as u64;
                let score = part(retrieved, relevant);
                Quality { score, detail: Detail::Recall { retrieved, relevant } }
            }
            Self::ReciprocalRank { threshold, .. } => {
                let is_relevant = |rating: &Option<i32>| rating.is_some_and(|it| it >= threshold);
                let first = hits.iter().position(is_relevant).map(|at| at + 1);
                let score = first.map_or(0.0, |first| 1.0 / first as f64);
                let first = first.map_or(-1, |first| first as i64);
                Quality { score, detail: Detail::First(first) }
            }
            Self::Gain { normalize, unknown, .. } => {
                let gain = gain(hits.iter().map(|rating| rating.or(unknown)));
                let best = if normalize { all } else { &[] };
                let ideal = self::gain(best.iter().take(hits.len()).map(|rating| Some(*rating)));
                let score = match normalize {
                    false => gain,
                    true if ideal == 0.0 => 0.0,
                    true => gain / ideal,
                };
                Quality { score, detail: Detail::Gain { gain, ideal, unrated } }
            }
            Self::ExpectedRank { relevance_max, unknown, .. } => {
                let (mut score, mut looks_on) = (0.0, 1.0);
                for (at, rating) in hits.iter().enumerate() {
                    let Some(rating) = rating.or(unknown) else { continue };
                    let stops = worth(rating) / f64::from(relevance_max).exp2();
                    score += looks_on * stops / (at + 1) as f64;
                    looks_on *= 1.0 - stops;
                }
                Quality { score, detail: Detail::Unrated(unrated) }
            }
        }
    }

    /// Writes `metric_details`.
    pub(super) fn detail(&self, writer: &mut Writer<'_>, quality: &Quality) {
        writer.key("metric_details").begin_object().key(self.name()).begin_object();
        match quality.detail {
            Detail::Precision { relevant, retrieved } => {
                writer.field_u64("relevant_docs_retrieved", relevant);
                writer.field_u64("docs_retrieved", retrieved);
            }
            Detail::Recall { retrieved, relevant } => {
                writer.field_u64("relevant_docs_retrieved", retrieved);
                writer.field_u64("relevant_docs", relevant);
            }
            Detail::First(first) => {
                writer.key("first_relevant").i64(first);
            }
            Detail::Gain { gain, ideal, unrated } => {
                writer.key("dcg").f64(gain);
                if ideal != 0.0 {
                    writer.key("ideal_dcg").f64(ideal).key("normalized_dcg").f64(gain / ideal);
                }
                writer.field_u64("unrated_docs", unrated);
            }
            Detail::Unrated(unrated) => {
                writer.field_u64("unrated_docs", unrated);
            }
        }
        writer.end_object().end_object();
    }
}

fn part(some: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { some as f64 / all as f64 }
}

fn worth(rating: i32) -> f64 {
    f64::from(rating).exp2() - 1.0
}

/// The sum of what each rating is worth, less the lower it stands; a hit without one keeps its place.
fn gain(ratings: impl Iterator<Item = Option<i32>>) -> f64 {
    let each = ratings.enumerate().filter_map(|(at, rating)| Some((at, rating?)));
    let worth = |(at, rating)| worth(rating) / (((at + 2) as f64).ln() / std::f64::consts::LN_2);
    // Of none it is -0.0 otherwise.
    each.map(worth).sum::<f64>() + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const HITS: [Option<i32>; 4] = [None, Some(3), Some(0), Some(1)];
    const ALL: [i32; 4] = [3, 2, 1, 0];

    fn score(metric: Metric, hits: &[Option<i32>]) -> f64 {
        metric.evaluate(hits, &ALL).score
    }

    #[test]
    fn relevance_counts_by_its_threshold() {
        let precision =
            |threshold, ignore_unlabeled| Metric::Precision { threshold, ignore_unlabeled, k: 4 };
        assert_eq!(score(precision(1, false), &HITS), 0.5);
        assert_eq!(score(precision(1, true), &HITS), 2.0 / 3.0);
        assert_eq!(score(precision(4, false), &HITS), 0.0);
        assert_eq!(score(precision(1, true), &[None]), 0.0, "nothing was retrieved");
        assert_eq!(score(Metric::Recall { threshold: 1, k: 4 }, &HITS), 2.0 / 3.0);
        assert_eq!(score(Metric::Recall { threshold: 9, k: 4 }, &HITS), 0.0);
        let rank = |threshold| Metric::ReciprocalRank { threshold, k: 4 };
        assert_eq!(score(rank(1), &HITS), 0.5);
        assert_eq!(score(rank(4), &HITS), 0.0);
    }

    /// The example of Wikipedia's page on discounted cumulative gain, which Elasticsearch tests by.
    #[test]
    fn gain_is_that_of_the_literature() {
        let hits = [3, 2, 3, 0, 1, 2].map(Some);
        let all = [3, 3, 2, 2, 1, 0];
        let metric = |normalize, unknown| Metric::Gain { normalize, unknown, k: 6 };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(metric(false, None).evaluate(&hits, &all).score, 13.84826362927298);
        near(
            metric(true, None).evaluate(&hits, &all).score,
            13.84826362927298 / 14.595390756454922,
        );
        let some = [Some(3), Some(2), Some(3), None, Some(1)];
        near(metric(false, None).evaluate(&some, &all).score, 12.779642067948913);
        near(
            metric(false, Some(2)).evaluate(&some, &all).score,
            12.779642067948913 + 3.0 / 5f64.log2(),
        );
        assert_eq!(metric(true, None).evaluate(&[Some(0)], &[0]).score, 0.0);
    }

    /// By hand: 7/8, then 1/8 · 3/8 / 2, then 1/8 · 5/8 · 1/8 / 4.
    #[test]
    fn expected_rank_stops_where_it_is_content() {
        let hits = [3, 2, 0, 1].map(Some);
        let metric = |unknown| Metric::ExpectedRank { relevance_max: 3, unknown, k: 4 };
        assert!((score(metric(None), &hits) - 0.90087890625).abs() < 1e-12);
        let some = [Some(3), Some(2), None, Some(1)];
        assert_eq!(score(metric(None), &some), score(metric(Some(0)), &some));
    }
}
