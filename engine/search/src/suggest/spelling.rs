//! Terms near a word, as Lucene's `DirectSpellChecker` finds them: by an automaton over the dictionary,
//! one edit first, two where that gives too few.

use super::dictionary::{Dictionary, Stats};
use crate::error::{Error, Result};
use crate::plan::bound::Pattern;
use automaton::levenshtein;

/// Which words get suggestions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Those that are not there.
    Missing,
    /// All, but only commoner words.
    Popular,
    /// All.
    Always,
}

/// How options are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The nearest first.
    Score,
    /// The commonest first.
    Frequency,
}

/// How far words are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Edits by the shorter length.
    Internal,
    /// Edits by the longer length.
    Levenshtein,
    /// … with swaps as one edit.
    Damerau,
    /// Jaro's, with a bonus for the same beginning.
    JaroWinkler,
    /// By pairs of letters.
    Ngram,
}

/// How near words are looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Spelling {
    /// Which words get suggestions.
    pub mode: Mode,
    /// Less near words are none.
    pub accuracy: f32,
    /// How options are ordered.
    pub sort: Sort,
    /// How far words are apart.
    pub distance: Distance,
    /// Most edits: 1 or 2.
    pub max_edits: u32,
    /// Candidates looked at, for each option.
    pub max_inspections: u32,
    /// Commoner words get no suggestions; below 1 a share of the documents.
    pub max_term_freq: f32,
    /// Characters that must be the same.
    pub prefix_length: u32,
    /// Shorter words get no suggestions.
    pub min_word_length: u32,
    /// Rarer words are none; below 1 a share of the documents.
    pub min_doc_freq: f32,
}

impl Default for Spelling {
    fn default() -> Self {
        Self {
            mode: Mode::Missing,
            accuracy: 0.5,
            sort: Sort::Score,
            distance: Distance::Internal,
            max_edits: 2,
            max_inspections: 5,
            max_term_freq: 0.01,
            prefix_length: 1,
            min_word_length: 4,
            min_doc_freq: 0.0,
        }
    }
}

/// A word that is near.
#[derive(Clone, Debug)]
pub(super) struct Near {
    pub term: String,
    pub score: f32,
    pub stats: Stats,
    boost: f32,
}

impl Spelling {
    /// The words near `word`, at most `count`. `threshold` takes the place of `min_doc_freq`.
    pub(super) fn near(
        &self,
        word: &str,
        count: usize,
        dictionary: &Dictionary<'_>,
        threshold: Option<f32>,
    ) -> Result<Vec<Near>> {
        if word.chars().count() < self.min_word_length as usize {
            return Ok(Vec::new());
        }
        let docs = dictionary.stats(word.as_bytes())?.docs;
        let max_doc = dictionary.view.max_doc() as f32;
        if self.mode == Mode::Missing && docs > 0 {
            return Ok(Vec::new());
        }
        let most = if self.max_term_freq >= 1.0 {
            self.max_term_freq
        } else {
            (self.max_term_freq * max_doc).ceil()
        };
        if docs as f32 > most {
            return Ok(Vec::new());
        }
        let mut least = if self.mode == Mode::Popular { docs } else { 0 };
        let threshold = threshold.unwrap_or(self.min_doc_freq);
        if threshold >= 1.0 {
            least = least.max(threshold as u64);
        } else if threshold > 0.0 {
            least = least.max(((threshold * max_doc) as u64).saturating_sub(1));
        }
        let inspections = count.saturating_mul(self.max_inspections.max(1) as usize);
        let mut found = self.within(word, 1, inspections, dictionary, least)?;
        if self.max_edits > 1 && found.len() < inspections {
            for near in self.within(word, 2, inspections, dictionary, least)? {
                if !found.iter().any(|known| known.term == near.term) {
                    found.push(near);
                }
            }
        }
        found.sort_by(|a, b| match self.sort {
            Sort::Score => b.score.total_cmp(&a.score).then(b.stats.docs.cmp(&a.stats.docs)),
            Sort::Frequency => b.stats.docs.cmp(&a.stats.docs).then(b.score.total_cmp(&a.score)),
        });
        found.truncate(count);
        Ok(found)
    }

    fn within(
        &self,
        word: &str,
        edits: u32,
        most: usize,
        dictionary: &Dictionary<'_>,
        least: u64,
    ) -> Result<Vec<Near>> {
        let prefix = self.prefix_length.max(edits - 1) as usize;
        let dfa = levenshtein::automaton(word, prefix, edits, true)
            .map_err(|_| Error::illegal(format!("word [{word}] is too long")))?;
        let chars: Vec<char> = word.chars().collect();
        let mut found = Vec::new();
        for (term, stats) in dictionary.matching(&Pattern::of_automaton(dfa))? {
            let Ok(term) = String::from_utf8(term.into_vec()) else { continue };
            if term == word || stats.docs <= least {
                continue;
            }
            let other: Vec<char> = term.chars().collect();
            let apart = levenshtein::distance(&chars, &other, true, 2).min(2);
            let boost = match apart {
                0 => 1.0,
                apart => 1.0 - apart as f32 / chars.len().min(other.len()) as f32,
            };
            let score = self.distance.of(&chars, &other, boost);
            if score >= self.accuracy {
                found.push(Near { term, score, stats, boost });
            }
        }
        found.sort_by(|a, b| b.boost.total_cmp(&a.boost).then_with(|| a.term.cmp(&b.term)));
        found.truncate(most);
        Ok(found)
    }
}

impl Distance {
    /// 1 for the same word, 0 for one that shares nothing.
    fn of(self, a: &[char], b: &[char], internal: f32) -> f32 {
        let longer = a.len().max(b.len()).max(1);
        let by_edits = |transpositions: bool| {
            1.0 - levenshtein::distance(a, b, transpositions, longer) as f32 / longer as f32
        };
        match self {
            Self::Internal => internal,
            Self::Levenshtein => by_edits(false),
            Self::Damerau => by_edits(true),
            Self::JaroWinkler => jaro_winkler(a, b),
            Self::Ngram => by_pairs(a, b),
        }
    }
}

fn jaro_winkler(a: &[char], b: &[char]) -> f32 {
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    let range = (long.len() / 2).saturating_sub(1);
    let mut taken = vec![false; long.len()];
    let mut from_short = Vec::new();
    for (at, c) in short.iter().enumerate() {
        let near = at.saturating_sub(range)..(at + range + 1).min(long.len());
        if let Some(found) = near.into_iter().find(|near| !taken[*near] && long[*near] == *c) {
            taken[found] = true;
            from_short.push(*c);
        }
    }
    let matches = from_short.len() as f32;
    if matches == 0.0 {
        return 0.0;
    }
    let from_long = long.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(c, _)| *c);
    let swapped = from_long.zip(&from_short).filter(|(a, b)| a != *b).count() / 2;
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count() as f32;
    let jaro = (matches / a.len() as f32
        + matches / b.len() as f32
        + (matches - swapped as f32) / matches)
        / 3.0;
    if jaro < 0.7 { jaro } else { jaro + (1.0 / long.len() as f32).min(0.1) * same * (1.0 - jaro) }
}

/// Lucene's `NGramDistance` of pairs (Kondrak, "N-gram similarity and distance", 2005).
fn by_pairs(a: &[char], b: &[char]) -> f32 {
    if a.is_empty() || b.is_empty() {
        return if a.len() == b.len() { 1.0 } else { 0.0 };
    }
    if a.len() < 2 || b.len() < 2 {
        let same = a.iter().zip(b).filter(|(a, b)| a == b).count();
        return same as f32 / a.len().max(b.len()) as f32;
    }
    let mut padded = vec!['\0'];
    padded.extend(a);
    let mut last: Vec<f32> = (0..=a.len()).map(|at| at as f32).collect();
    for j in 1..=b.len() {
        let pair = [if j < 2 { '\0' } else { b[j - 2] }, b[j - 1]];
        let mut row = vec![j as f32];
        for i in 1..=a.len() {
            let (mut cost, mut len) = (0.0, 2.0);
            for (at, c) in pair.iter().enumerate() {
                if padded[i - 1 + at] != *c {
                    cost += 1.0;
                } else if padded[i - 1 + at] == '\0' {
                    len -= 1.0;
                }
            }
            let change = last[i - 1] + cost / len;
            row.push((row[i - 1] + 1.0).min(last[i] + 1.0).min(change));
        }
        last = row;
    }
    1.0 - last[a.len()] / a.len().max(b.len()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_lucenes() {
        let of = |distance: Distance, a: &str, b: &str| {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            (distance.of(&a, &b, 0.5) * 1000.0).round() / 1000.0
        };
        for (distance, a, b, want) in [
            (Distance::Internal, "rivr", "rivers", 0.5),
            (Distance::Levenshtein, "rivr", "river", 0.8),
            (Distance::Levenshtein, "form", "from", 0.5),
            (Distance::Damerau, "form", "from", 0.75),
            (Distance::JaroWinkler, "martha", "marhta", 0.961),
            (Distance::JaroWinkler, "abc", "xyz", 0.0),
            (Distance::Ngram, "university", "univearsitty", 0.792),
            (Distance::Ngram, "same", "same", 1.0),
        ] {
            assert_eq!(of(distance, a, b), want, "{distance:?} {a} {b}");
        }
    }
}
