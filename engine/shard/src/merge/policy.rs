//! Which segments to merge: Lucene's TieredMergePolicy, as a pure function.
//!
//! Segments of about the same size form a tier. While there are more segments than a staircase of
//! tiers may hold, the merge is chosen that is best balanced, smallest, and drops most deletes.
//! The segments of a merge need not be neighbours.
//!
//! Always true
//! 1. The answer depends on the arguments alone.
//! 2. A merge is named only if it is of at least two segments, or of one with deletes, or by force of one that may keep
//!    pieces of deleted documents.
//! 3. Repeating "choose, merge" ends.
//!
//! Not here: running merges, and how many at once (`run`).

use crate::config::MergeConfig;

/// What the policy knows of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Bytes of its file.
    pub bytes: u64,
    /// Documents, deleted ones included.
    pub doc_count: u32,
    /// Deleted documents.
    pub deleted_count: u32,
    /// It is being merged already.
    pub merging: bool,
    /// It may keep pieces of documents that were deleted, though it has none of them.
    pub inherits: bool,
}

impl Candidate {
    /// Bytes that would be left of it.
    fn live_bytes(&self) -> u64 {
        if self.doc_count == 0 {
            return 0;
        }
        let live = u128::from(self.doc_count - self.deleted_count);
        (u128::from(self.bytes) * live / u128::from(self.doc_count)) as u64
    }

    fn deleted_percent(&self) -> f64 {
        100.0 * f64::from(self.deleted_count) / f64::from(self.doc_count.max(1))
    }
}

/// The best merge, if the segments need one: places in `segments`, rising.
pub fn choose(segments: &[Candidate], config: &MergeConfig) -> Option<Vec<usize>> {
    let mut sorted: Vec<usize> = (0..segments.len()).collect();
    // Largest first; of equals the older one, so that the answer is the same each time.
    sorted.sort_by_key(|at| (std::cmp::Reverse(segments[*at].live_bytes()), *at));

    let (mut bytes_total, mut bytes_least, mut bytes_merging) = (0u64, u64::MAX, 0u64);
    let (mut deleted_total, mut docs_total) = (0u64, 0u64);
    for segment in segments {
        let bytes = segment.live_bytes();
        bytes_least = bytes_least.min(bytes);
        bytes_total += bytes;
        if segment.merging {
            // Its deletes are on their way out.
            bytes_merging += bytes;
            docs_total += u64::from(segment.doc_count - segment.deleted_count);
        } else {
            deleted_total += u64::from(segment.deleted_count);
            docs_total += u64::from(segment.doc_count);
        }
    }
    sorted.retain(|at| !segments[*at].merging);
    let deleted_percent = 100.0 * deleted_total as f64 / docs_total.max(1) as f64;
    let mut deleted_allowed = config.deletes_percent_allowed * docs_total as f64 / 100.0;

    // Segments that are large already count on no tier, unless they hold too many deletes.
    sorted.retain(|at| {
        let segment = &segments[*at];
        let large = segment.live_bytes() > config.segment_bytes_max / 2;
        let tidy = deleted_percent <= config.deletes_percent_allowed
            || segment.deleted_percent() <= config.deletes_percent_allowed;
        if large && tidy {
            bytes_total -= segment.live_bytes();
            deleted_allowed -= f64::from(segment.deleted_count);
        }
        !(large && tidy)
    });

    let allowed = allowed_count(bytes_total, bytes_least, config);
    let deleted: u64 = sorted.iter().map(|at| u64::from(segments[*at].deleted_count)).sum();
    if sorted.is_empty() || (sorted.len() <= allowed && deleted as f64 <= deleted_allowed.max(0.0))
    {
        return None;
    }
    let large_is_running = bytes_merging >= config.segment_bytes_max;
    let mut best = best(segments, &sorted, config, large_is_running)?;
    best.sort_unstable();
    Some(best)
}

/// Which segments to merge so that at most `count_max` are left; `None` where that is so. With
/// `count_max` 1, a single segment with deletes, or pieces of what was deleted, is merged too.
pub fn choose_forced(segments: &[Candidate], count_max: usize) -> Option<Vec<usize>> {
    let count_max = count_max.max(1);
    if segments.len() <= count_max {
        let is_untidy = |segment: &Candidate| segment.deleted_count > 0 || segment.inherits;
        let untidy = count_max == 1 && segments.iter().any(is_untidy);
        return untidy.then(|| (0..segments.len()).collect());
    }
    let mut sorted: Vec<usize> = (0..segments.len()).collect();
    sorted.sort_by_key(|at| (segments[*at].live_bytes(), *at));
    sorted.truncate(segments.len() - count_max + 1);
    sorted.sort_unstable();
    Some(sorted)
}

/// Some of the segments that hold more deletes than are let stand, where deletes are to be dropped:
/// the smallest first, as many as one merge may take.
pub fn choose_expunge(segments: &[Candidate], config: &MergeConfig) -> Option<Vec<usize>> {
    let mut sorted: Vec<usize> = (0..segments.len())
        .filter(|at| {
            let segment = &segments[*at];
            !segment.merging
                && segment.deleted_count > 0
                && segment.deleted_percent() > config.expunge_percent_allowed
        })
        .collect();
    sorted.sort_by_key(|at| (segments[*at].live_bytes(), *at));
    let mut chosen = Vec::new();
    let mut bytes = 0u64;
    for at in sorted {
        bytes = bytes.saturating_add(segments[at].live_bytes());
        let full = chosen.len() >= merge_factor(config) || bytes > config.segment_bytes_max;
        if full && !chosen.is_empty() {
            break;
        }
        chosen.push(at);
    }
    chosen.sort_unstable();
    (!chosen.is_empty()).then_some(chosen)
}

/// How many segments the staircase of tiers holds.
fn allowed_count(bytes_total: u64, bytes_least: u64, config: &MergeConfig) -> usize {
    let per_tier = f64::from(config.segments_per_tier.max(2));
    let factor = u64::from(merge_factor(config) as u32);
    let mut level_bytes = bytes_least.max(config.floor_bytes).max(1);
    let mut bytes_left = bytes_total as f64;
    let mut allowed = 0.0;
    loop {
        let count = bytes_left / level_bytes as f64;
        if count < per_tier || level_bytes >= config.segment_bytes_max {
            allowed += count.ceil();
            break;
        }
        allowed += per_tier;
        bytes_left -= per_tier * level_bytes as f64;
        level_bytes = level_bytes.saturating_mul(factor).min(config.segment_bytes_max);
    }
    // Where all are below the floor, the staircase comes out too short.
    allowed.max(per_tier) as usize
}

/// Segments of one merge.
fn merge_factor(config: &MergeConfig) -> usize {
    config.merge_at_once_max.min(config.segments_per_tier).max(2) as usize
}

/// The merge with the lowest score.
fn best(
    segments: &[Candidate],
    sorted: &[usize],
    config: &MergeConfig,
    large_is_running: bool,
) -> Option<Vec<usize>> {
    let factor = merge_factor(config);
    let mut best: Option<(f64, Vec<usize>)> = None;
    for start in 0..sorted.len() {
        let mut chosen: Vec<usize> = Vec::with_capacity(factor);
        let mut bytes = 0u64;
        let mut hit_too_large = false;
        for at in &sorted[start..] {
            if chosen.len() >= factor || bytes >= config.segment_bytes_max {
                break;
            }
            let more = segments[*at].live_bytes();
            if bytes + more > config.segment_bytes_max {
                hit_too_large = true;
                if chosen.is_empty() {
                    chosen.push(*at);
                    bytes += more;
                }
                // Smaller ones may still fit.
                continue;
            }
            chosen.push(*at);
            bytes += more;
        }
        if chosen.len() == 1 && segments[chosen[0]].deleted_count == 0 {
            continue;
        }
        // From here on only ever smaller tails of the list would follow.
        if best.is_some() && !hit_too_large && chosen.len() < factor {
            break;
        }
        let score = score(segments, &chosen, hit_too_large, config);
        let better = best.as_ref().is_none_or(|(lowest, _)| score < *lowest);
        if better && !(hit_too_large && large_is_running) {
            best = Some((score, chosen));
        }
    }
    best.map(|(_, chosen)| chosen)
}

/// How good a merge is; lower is better.
fn score(
    segments: &[Candidate],
    chosen: &[usize],
    hit_too_large: bool,
    config: &MergeConfig,
) -> f64 {
    let floored = |bytes: u64| bytes.max(config.floor_bytes) as f64;
    let before: u64 = chosen.iter().map(|at| segments[*at].bytes).sum();
    let after: u64 = chosen.iter().map(|at| segments[*at].live_bytes()).sum();
    let after_floored: f64 = chosen.iter().map(|at| floored(segments[*at].live_bytes())).sum();
    // How unbalanced it is: 1 / number of segments where all are alike, towards 1 where one rules.
    let skew = if hit_too_large {
        // The result is merged no more, so its balance does not matter.
        1.0 / merge_factor(config) as f64
    } else {
        floored(segments[chosen[0]].live_bytes()) / after_floored
    };
    // Gently for smaller merges, strongly for those that drop deletes.
    let kept = after as f64 / before.max(1) as f64;
    skew * (after.max(1) as f64).powf(0.05) * kept * kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn deletes_are_dropped_where_there_are_more_than_are_let_stand() {
        let config = MergeConfig::default();
        let segment = |bytes, deleted_count| Candidate {
            bytes,
            doc_count: 100,
            deleted_count,
            merging: false,
            inherits: false,
        };
        let segments = [segment(900, 5), segment(800, 50), segment(10, 11), segment(7, 0)];
        assert_eq!(choose_expunge(&segments, &config), Some(vec![1, 2]));
        let tidy = [segment(900, 10), segment(7, 0)];
        assert_eq!(choose_expunge(&tidy, &config), None);
        let large = MergeConfig { segment_bytes_max: 100, ..config };
        assert_eq!(choose_expunge(&segments, &large), Some(vec![2]), "one above the limit waits");
    }

    const MB: u64 = 1 << 20;

    fn segment(bytes: u64, doc_count: u32, deleted_count: u32) -> Candidate {
        Candidate { bytes, doc_count, deleted_count, merging: false, inherits: false }
    }

    fn config() -> MergeConfig {
        MergeConfig::default()
    }

    #[test]
    fn ten_small_segments_stand_and_the_eleventh_merges_ten() {
        let mut segments = vec![segment(1000, 10, 0); 10];
        assert_eq!(choose(&segments, &config()), None);
        segments.push(segment(1000, 10, 0));
        assert_eq!(choose(&segments, &config()).map(|chosen| chosen.len()), Some(10));
    }

    #[test]
    fn equals_are_taken_oldest_first() {
        let segments = vec![segment(1000, 10, 0); 15];
        assert_eq!(choose(&segments, &config()), Some((0..10).collect()));
    }

    #[test]
    fn balanced_merge_is_preferred_to_one_with_a_giant() {
        let mut segments = vec![segment(1000 * MB, 1_000_000, 0)];
        segments.extend(vec![segment(3 * MB, 3000, 0); 25]);
        let chosen = choose(&segments, &config()).expect("too many on the lowest tier");
        assert!(!chosen.contains(&0), "the giant stays");
    }

    #[test]
    fn full_segments_are_left_alone() {
        let segments = vec![segment(4 << 30, 1_000_000, 100_000); 30];
        assert_eq!(choose(&segments, &config()), None);
    }

    #[test]
    fn full_segment_with_too_many_deletes_is_written_anew() {
        let segments = [segment(5 << 30, 1_000_000, 600_000)];
        assert_eq!(choose(&segments, &config()), Some(vec![0]));
    }

    #[test]
    fn deletes_above_the_share_bring_a_merge_however_few_the_segments() {
        let tidy = [segment(10 * MB, 1000, 150), segment(10 * MB, 1000, 200)];
        assert_eq!(choose(&tidy, &config()), None);
        let untidy = [segment(10 * MB, 1000, 150), segment(10 * MB, 1000, 300)];
        assert!(choose(&untidy, &config()).expect("above 20 %").contains(&1));
    }

    #[test]
    fn no_merge_exceeds_the_largest_size() {
        let segments = vec![segment(2 << 30, 1000, 0); 40];
        let chosen = choose(&segments, &config()).expect("many of one size");
        let bytes: u64 = chosen.iter().map(|at| segments[*at].bytes).sum();
        assert!(bytes <= config().segment_bytes_max);
        assert_eq!(chosen.len(), 2);
    }

    #[test]
    fn what_is_being_merged_is_not_chosen_again() {
        let mut segments = vec![segment(1000, 10, 0); 21];
        segments[..10].iter_mut().for_each(|segment| segment.merging = true);
        assert_eq!(choose(&segments, &config()), Some((10..20).collect()));
    }

    #[test]
    fn forced_merge_leaves_as_many_as_asked_for() {
        let segments = [segment(50, 5, 0), segment(10, 1, 0), segment(40, 4, 0)];
        assert_eq!(choose_forced(&segments, 3), None);
        assert_eq!(choose_forced(&segments, 2), Some(vec![1, 2]));
        assert_eq!(choose_forced(&segments, 1), Some(vec![0, 1, 2]));
        assert_eq!(choose_forced(&segments[..1], 1), None);
        assert_eq!(choose_forced(&[segment(50, 5, 1)], 1), Some(vec![0]));
        let heir = Candidate { inherits: true, ..segments[0] };
        assert_eq!(choose_forced(&[heir], 1), Some(vec![0]));
        assert_eq!(choose_forced(&[heir], 2), None);
        assert_eq!(choose_forced(&[], 1), None);
    }

    proptest! {
        #[test]
        fn choosing_and_merging_ends_with_few_segments(
            sizes in prop::collection::vec((1u64..200 * MB, 1u32..5000, 0u32..100), 0..80),
        ) {
            let mut segments: Vec<Candidate> = sizes
                .iter()
                .map(|(bytes, docs, percent)| segment(*bytes, *docs, docs * percent / 100))
                .collect();
            let mut rounds = 0;
            while let Some(chosen) = choose(&segments, &config()) {
                prop_assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(chosen.len() > 1 || segments[chosen[0]].deleted_count > 0);
                let merged = segment(
                    chosen.iter().map(|at| segments[*at].live_bytes()).sum(),
                    chosen.iter().map(|at| segments[*at].doc_count - segments[*at].deleted_count).sum(),
                    0,
                );
                for at in chosen.iter().rev() {
                    segments.remove(*at);
                }
                if merged.doc_count > 0 {
                    segments.insert(chosen[0].min(segments.len()), merged);
                }
                rounds += 1;
                prop_assert!(rounds < 500);
            }
            prop_assert!(segments.len() <= 40);
        }
    }
}
