//! All words within one or two edits of a word, where the beginning may have to be the same.
//!
//! An edit puts in, takes out or replaces one character, or (where allowed) swaps two neighbours.
//! Only words that differ by such a swap are told apart by [`distance`], which counts edits as the
//! automaton does: a swapped pair is not edited again (optimal string alignment).

use super::dfa::Dfa;
use super::nfa::others;
use super::{LABEL_MAX, TooComplex};
use crate::dfa::{Move, State};
use std::collections::{BTreeSet, HashMap};

/// Highest number of edits.
pub const EDITS_MAX: u32 = 2;

/// States that one automaton may have.
const STATES_MAX: usize = 100_000;

/// Where a reading of the word may stand: characters read, edits made, inside a swap.
type Place = (u32, u8, bool);

/// Words within `edits` of `word`, of which the first `prefix` characters must be the same.
///
/// # Errors
/// Where the word is far too long.
pub fn automaton(
    word: &str,
    prefix: usize,
    edits: u32,
    transpositions: bool,
) -> Result<Dfa, TooComplex> {
    let chars: Vec<u32> = word.chars().map(u32::from).collect();
    let prefix = prefix.min(chars.len());
    let (head, tail) = chars.split_at(prefix);
    let mut states: Vec<State> = Vec::new();
    for (at, label) in head.iter().enumerate() {
        let way = Move { from: *label, to: *label, state: at as u32 + 1 };
        states.push(State { accept: false, moves: vec![way] });
    }
    let base = states.len() as u32;
    let edits = edits.min(EDITS_MAX) as u8;
    let reader = Reader { word: tail, edits, transpositions };
    let first = reader.close([(0, 0, false)]);
    let mut numbers = HashMap::from([(first.clone(), base)]);
    let mut sets = vec![first];
    let mut at = 0;
    while at < sets.len() {
        if sets.len() > STATES_MAX {
            return Err(TooComplex);
        }
        let set = sets[at].clone();
        at += 1;
        let mut labels: Vec<u32> = Vec::new();
        for (pos, _, _) in &set {
            labels.extend(tail.iter().skip(*pos as usize).take(usize::from(edits) + 2));
        }
        labels.sort_unstable();
        labels.dedup();
        let mut ways: Vec<Move> = Vec::new();
        let mut number = |set: Places| -> Option<u32> {
            if set.is_empty() {
                return None;
            }
            let fresh = base + sets.len() as u32;
            let state = *numbers.entry(set.clone()).or_insert(fresh);
            if state == fresh {
                sets.push(set);
            }
            Some(state)
        };
        for label in &labels {
            if let Some(state) = number(reader.read(&set, Some(*label))) {
                ways.push(Move { from: *label, to: *label, state });
            }
        }
        let own: Vec<(u32, u32)> = labels.iter().map(|label| (*label, *label)).collect();
        if let Some(state) = number(reader.read(&set, None)) {
            ways.extend(others(&own).into_iter().map(|(from, to)| Move { from, to, state }));
        }
        ways.sort_by_key(|way| way.from);
        let end = tail.len() as u32;
        let accept = set.iter().any(|(pos, _, swap)| *pos == end && !swap);
        states.push(State { accept, moves: ways });
    }
    debug_assert!(states.iter().flat_map(|state| &state.moves).all(|way| way.to <= LABEL_MAX));
    Ok(Dfa::new(states))
}

/// Sets of places, sorted.
type Places = Vec<Place>;

struct Reader<'a> {
    word: &'a [u32],
    edits: u8,
    transpositions: bool,
}

impl Reader<'_> {
    /// With all places that taking out characters leads to, and without those that another beats.
    fn close(&self, places: impl IntoIterator<Item = Place>) -> Places {
        let mut all: BTreeSet<Place> = BTreeSet::new();
        let mut open: Vec<Place> = places.into_iter().collect();
        while let Some(place) = open.pop() {
            let (pos, edits, swap) = place;
            if all.insert(place) && !swap && edits < self.edits && (pos as usize) < self.word.len()
            {
                open.push((pos + 1, edits + 1, false));
            }
        }
        let best = |(pos, edits, swap): &Place| {
            !all.iter().any(|(p, e, s)| p == pos && s == swap && e < edits)
        };
        all.iter().filter(|place| best(place)).copied().collect()
    }

    /// Where one more character leads; `None` stands for one that the word does not have near.
    fn read(&self, set: &Places, label: Option<u32>) -> Places {
        let mut next = Vec::new();
        for (pos, edits, swap) in set {
            let here = self.word.get(*pos as usize).copied();
            if *swap {
                // The second of two swapped characters is the first of the word's.
                if label.is_some() && here == label {
                    next.push((pos + 2, *edits, false));
                }
                continue;
            }
            if label.is_some() && here == label {
                next.push((pos + 1, *edits, false));
            }
            if *edits < self.edits {
                next.push((*pos, edits + 1, false));
                if here.is_some() {
                    next.push((pos + 1, edits + 1, false));
                }
                let after = self.word.get(*pos as usize + 1).copied();
                if self.transpositions && label.is_some() && after == label && after != here {
                    next.push((*pos, edits + 1, true));
                }
            }
        }
        self.close(next)
    }
}

/// How many edits lie between two words; above `most` any number above it.
pub fn distance(a: &[char], b: &[char], transpositions: bool, most: usize) -> usize {
    if a.len().abs_diff(b.len()) > most {
        return most + 1;
    }
    let width = b.len() + 1;
    let mut rows = vec![vec![0usize; width]; 3];
    for (j, slot) in rows[0].iter_mut().enumerate() {
        *slot = j;
    }
    for i in 1..=a.len() {
        let (now, last, before) = (i % 3, (i + 2) % 3, (i + 1) % 3);
        rows[now][0] = i;
        for j in 1..=b.len() {
            let replaced = rows[last][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[last][j] + 1).min(rows[now][j - 1] + 1);
            if transpositions && i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[before][j - 2] + 1);
            }
            rows[now][j] = least;
        }
    }
    rows[a.len() % 3][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn matches_what_the_distance_says(
            word in "[abc]{0,7}", other in "[abcd]{0,8}", edits in 0u32..=2, swaps: bool,
            prefix in 0usize..3,
        ) {
            let dfa = automaton(&word, prefix, edits, swaps).expect("short");
            let (a, b): (Vec<char>, Vec<char>) = (word.chars().collect(), other.chars().collect());
            let prefix = prefix.min(a.len());
            let same = b.len() >= prefix && a[..prefix] == b[..prefix];
            let within = same
                && distance(&a[prefix..], &b[prefix..], swaps, edits as usize) <= edits as usize;
            prop_assert_eq!(dfa.matches(&other), within);
        }
    }
}
