//! `min_hash`: the least hashes of all tokens, so that similar texts share tokens (Broder, "On the
//! resemblance and containment of documents", 1997), as Lucene's `MinHashFilter` makes them.
//!
//! Always true
//! 1. Each token is hashed once for each of the hashes, into one of the buckets by its high 32 bits;
//!    a bucket keeps its least few. So what is held is bounded by the settings, whatever the text.
//! 2. The tokens given are the hashes as UTF-16 units. Halves of pairs that stand alone become U+FFFD,
//!    as they do in Lucene when a term is written.

use std::collections::BTreeSet;

use base::hash::murmur3_128;

use crate::analysis::effort::TOKEN;
use crate::analysis::room::{Flow, ON, Room};
use crate::analysis::stage::{End, Fold, Next, Stage};
use crate::analysis::token::{Tok, TokenKind};

/// The filter.
#[derive(Debug)]
pub struct MinHash {
    /// Hashes of each token.
    pub hash_count: usize,
    /// Buckets of each hash.
    pub bucket_count: usize,
    /// Least values that a bucket keeps.
    pub set_size: usize,
    /// An empty bucket takes the value of the next one that is not.
    pub rotates: bool,
}

/// Buckets of all hashes together, at most: each may cost a token.
pub const BUCKETS_MAX: usize = 1 << 16;

/// A hash of 128 bits, the high half first: in the order in which they are compared.
type Pair = (u64, u64);

impl MinHash {
    fn bucket_size(&self) -> u64 {
        (1u64 << 32).div_ceil(self.bucket_count as u64)
    }
}

impl Fold for MinHash {
    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        let of_each = (0..self.hash_count).map(|at| pair(&(at as u32).to_be_bytes())).collect();
        Box::new(Gathering { of: self, of_each, sets: Vec::new(), end: 0, room })
    }
}

struct Gathering<'f> {
    of: &'f MinHash,
    /// What stands for each hash.
    of_each: Vec<Pair>,
    /// The least values of each bucket of each hash; empty before the first token.
    sets: Vec<BTreeSet<Pair>>,
    end: u32,
    room: &'f Room,
}

impl Stage for Gathering<'_> {
    fn token(&mut self, token: &mut Tok, _next: Next<'_>) -> Flow {
        let MinHash { hash_count, bucket_count, set_size, .. } = *self.of;
        self.room.spend(TOKEN.saturating_mul(hash_count as u64))?;
        if self.sets.is_empty() {
            self.sets = vec![BTreeSet::new(); hash_count * bucket_count];
        }
        let bytes: Vec<u8> = token.term.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (high, low) = pair(&bytes);
        for (at, (own_high, own_low)) in self.of_each.iter().enumerate() {
            let mixed = (
                high.wrapping_mul(37).wrapping_add(*own_high),
                low.wrapping_mul(37).wrapping_add(*own_low),
            );
            let bucket = ((mixed.0 >> 32) / self.of.bucket_size()) as usize;
            let set = &mut self.sets[at * bucket_count + bucket];
            if set.len() >= set_size {
                if set.last().is_some_and(|last| mixed >= *last) {
                    continue;
                }
                // Also where the value is there already, and the set is one less then: as in Lucene,
                // whose answers are compared (tests/data/analysis.ndjson).
                set.pop_last();
            }
            set.insert(mixed);
        }
        self.end = token.end;
        ON
    }

    fn end(&mut self, end: &mut End, next: Next<'_>) -> Flow {
        end.trailing = 0;
        let MinHash { bucket_count, set_size, rotates, .. } = *self.of;
        if rotates && set_size == 1 {
            for buckets in self.sets.chunks_mut(bucket_count) {
                rotate(buckets);
            }
        }
        let mut inc = 1;
        for (at, set) in self.sets.iter().enumerate() {
            for pair in set {
                let text = self.printed(at / bucket_count, *pair);
                let mut token = Tok::new(&text, 0, self.end, TokenKind::MinHash);
                token.inc = std::mem::take(&mut inc);
                next(&mut token)?;
            }
        }
        ON
    }
}

impl Gathering<'_> {
    /// A value as text: behind the number of its hash, where there are several.
    fn printed(&self, hash: usize, (high, low): Pair) -> String {
        let units = |value: u64| [48, 32, 16, 0].map(|shift| (value >> shift) as u16);
        let mut text = Vec::with_capacity(8);
        let (high, low) = (units(high), units(low));
        if self.of.hash_count > 1 {
            text.extend([(hash >> 16) as u16, hash as u16]);
            text.extend(high);
            text.extend(&low[..2]);
        } else {
            text.extend(high);
            text.extend(low);
        }
        String::from_utf16_lossy(&text)
    }
}

/// Empty buckets take the value of the next one that has its own, around the end; as in Lucene, one
/// that was just filled counts.
fn rotate(buckets: &mut [BTreeSet<Pair>]) {
    let count = buckets.len();
    // The first value at or after each place, around the end: filled buckets lie before the place at
    // hand, and are met only after all that have their own.
    let Some(first) = buckets.iter().find_map(|set| set.first().copied()) else { return };
    let mut following = first;
    let mut fill = vec![first; count];
    for at in (0..count).rev() {
        match buckets[at].first() {
            Some(own) => following = *own,
            None => fill[at] = following,
        }
    }
    for (at, set) in buckets.iter_mut().enumerate() {
        if set.is_empty() {
            set.insert(fill[at]);
        }
    }
}

/// The hash of a token, the high half first, as Lucene keeps it.
fn pair(bytes: &[u8]) -> Pair {
    let (low, high) = murmur3_128(bytes);
    (high, low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a text of words.
    fn hashes(filter: &MinHash, words: &[&str]) -> Vec<(String, u32)> {
        let room = Room::default();
        let mut stage = filter.stage(&room);
        let mut found = Vec::new();
        let mut sink = |token: &mut Tok| {
            found.push((token.term.clone(), token.inc));
            ON
        };
        for word in words {
            let flow = stage.token(&mut Tok::new(word, 0, 5, TokenKind::Word), &mut sink);
            assert!(flow.is_continue());
        }
        assert!(stage.end(&mut End::default(), &mut sink).is_continue());
        found
    }

    #[test]
    fn a_word_fills_every_bucket_where_they_rotate() {
        let filter = MinHash { hash_count: 1, bucket_count: 512, set_size: 1, rotates: true };
        let found = hashes(&filter, &["woof"]);
        assert_eq!(found.len(), 512);
        assert!(found.iter().all(|(term, _)| *term == found[0].0));
        assert_eq!((found[0].1, found[1].1), (1, 0), "all at one place");
        let alone = MinHash { rotates: false, ..filter };
        assert_eq!(hashes(&alone, &["woof", "woof"]).len(), 1);
        assert_eq!(hashes(&alone, &[]), []);
    }

    #[test]
    fn the_order_of_words_does_not_count() {
        let filter = MinHash { hash_count: 3, bucket_count: 4, set_size: 2, rotates: false };
        let one = hashes(&filter, &["a", "b", "c", "d"]);
        assert_eq!(one, hashes(&filter, &["d", "b", "a", "c"]));
        assert!(one.len() <= 3 * 4);
    }

    #[test]
    fn rotation_is_lucenes() {
        // Bucket by bucket, the plain way: the first later one that has a value now.
        for pattern in 1u32..64 {
            let has = |at: usize| pattern >> at & 1 == 1;
            let set = |at: usize| {
                if has(at) { BTreeSet::from([(at as u64, 0)]) } else { BTreeSet::new() }
            };
            let mut found: Vec<BTreeSet<Pair>> = (0..6).map(set).collect();
            let mut plain = found.clone();
            rotate(&mut found);
            for at in 0..6 {
                if plain[at].is_empty() {
                    let next = (1..6).map(|step| (at + step) % 6).find(|at| !plain[*at].is_empty());
                    plain[at] = next.map(|next| plain[next].clone()).unwrap_or_default();
                }
            }
            assert_eq!(found, plain, "{pattern:b}");
        }
    }
}
