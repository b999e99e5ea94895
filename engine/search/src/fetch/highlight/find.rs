//! What of a field a query looks for, and where a text has it.

use std::sync::Arc;

use base::FieldNo;
use base::hash::Map;

use crate::plan::bound::{Clause, Node, Pattern};
use crate::plan::places::{Leaf, Places, Source};

/// Which fields' words are looked for.
pub(super) struct Looks<'l> {
    /// Does a field count?
    pub of: &'l dyn Fn(FieldNo) -> bool,
    /// Are its terms beginnings of words?
    pub begins: &'l dyn Fn(FieldNo) -> bool,
}

/// Terms, patterns and phrases that a query asks of some fields.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Terms, numbered as the query has them.
    terms: Map<Box<[u8]>, u32>,
    patterns: Vec<Arc<Pattern>>,
    phrases: Vec<Run>,
}

/// Terms at places.
#[derive(Debug)]
struct Run {
    /// Terms of each place, which is counted from the first.
    places: Vec<(Vec<Box<[u8]>>, u32)>,
    slop: u32,
    /// The terms of the last place are beginnings.
    prefix: bool,
}

/// A token of the text.
#[derive(Debug)]
pub(super) struct Token {
    pub term: Box<[u8]>,
    pub position: u32,
    pub start: u32,
    pub end: u32,
}

/// A place that matches, in UTF-16 units, and which of the wanted it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub start: u32,
    pub end: u32,
    /// Matches of one number are of one term.
    pub what: u32,
}

/// Spans of a phrase are looked for in so many steps: with a wide slop each beginning looks at all behind it. Beyond
/// them a text is marked no more.
const NEAR_STEPS_MAX: usize = 1 << 20;

/// What of a phrase matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phrases {
    /// All of it, from its first word to its last.
    Whole,
    /// Each of its words.
    Words,
    /// Its words wherever they stand between its ends; with a slop they stand in any order, as near as the
    /// slop says (`WeightedSpanTermExtractor` makes spans of phrases).
    Spans,
}

impl Wanted {
    /// What `query` asks of the fields that count.
    pub fn of(query: &Clause, looks: &Looks<'_>) -> Self {
        let mut wanted = Self::default();
        wanted.collect(query, looks, 0);
        wanted
    }

    /// About how much memory it takes.
    pub fn held_bytes(&self) -> usize {
        const ENTRY: usize = 2 * size_of::<(Box<[u8]>, u32)>();
        let of_terms = self.terms.keys().map(|term| ENTRY + term.len());
        let runs = self.phrases.iter().flat_map(|run| &run.places).flat_map(|(terms, _)| terms);
        let of_runs = runs.map(|term| ENTRY + term.len());
        let patterns = self.patterns.len() * size_of::<Arc<Pattern>>();
        of_terms.chain(of_runs).sum::<usize>() + patterns
    }

    /// A term of a field: a word, or how words begin.
    fn add_of(&mut self, field: FieldNo, term: &[u8], looks: &Looks<'_>) {
        if (looks.begins)(field) {
            let prefix = Pattern::Prefix { prefix: term.into(), case_insensitive: false };
            self.patterns.push(Arc::new(prefix));
        } else {
            self.add(term);
        }
    }

    /// Words at places: as a phrase where it is one, else each for itself.
    fn add_places(&mut self, places: &Places, looks: &Looks<'_>) {
        if let Source::Near(line, slop, true) = &places.source
            && let Some(run) = places.spans.and_then(|_| line_of(places, line, *slop, looks))
        {
            self.phrases.push(run);
            return;
        }
        for (at, leaf) in places.leaves.iter().enumerate() {
            match leaf {
                _ if places.silent.contains(&at) => {}
                Leaf::Term(field, term) if (looks.of)(*field) => self.add_of(*field, term, looks),
                Leaf::Pattern(expand, _) if (looks.of)(expand.field) => {
                    self.patterns.push(Arc::clone(&expand.pattern));
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, term: &[u8]) {
        let next = self.terms.len() as u32;
        self.terms.entry(term.into()).or_insert(next);
    }

    fn collect(&mut self, clause: &Clause, looks: &Looks<'_>, depth: usize) {
        if depth > 128 {
            return;
        }
        let of = looks.of;
        match &clause.node {
            Node::Term(term) if of(term.field) => {
                self.add(&term.term);
            }
            Node::Terms { field, terms, .. } if of(*field) => {
                terms.iter().for_each(|term| self.add_of(*field, term, looks));
            }
            Node::Synonym(synonym) if of(synonym.field) => {
                synonym.terms.iter().for_each(|term| self.add_of(synonym.field, term, looks));
            }
            Node::Places(places) => self.add_places(places, looks),
            Node::Blended(blended) => {
                let terms = blended.terms.iter().filter(|(term, _)| of(term.field));
                terms.for_each(|(term, _)| self.add(&term.term));
            }
            Node::Combined(combined) if combined.fields.iter().any(|(field, ..)| of(*field)) => {
                combined.terms.iter().for_each(|term| self.add(term));
            }
            Node::Pattern { field, pattern, .. } if of(*field) => {
                self.patterns.push(Arc::clone(pattern));
            }
            Node::Expand(expand) if of(expand.field) => {
                self.patterns.push(Arc::clone(&expand.pattern));
            }
            Node::Phrase(phrase) if of(phrase.field) => {
                let places = phrase.terms.iter();
                let places = places.map(|(term, at)| (vec![term.clone()], *at)).collect();
                self.phrases.push(Run { places, slop: phrase.slop, prefix: false });
            }
            Node::MultiPhrase(phrase) if of(phrase.field) => {
                self.phrases.push(Run {
                    places: phrase.places.clone(),
                    slop: phrase.slop,
                    prefix: phrase.prefix.is_some(),
                });
            }
            // What must not be there is not looked for.
            Node::Bool(joined) => {
                let all = [&joined.must, &joined.filter, &joined.should];
                for clause in all.into_iter().flatten() {
                    self.collect(clause, looks, depth + 1);
                }
            }
            Node::Boosting { positive, .. } => self.collect(positive, looks, depth + 1),
            node => node.for_each_clause(&mut |clause| self.collect(clause, looks, depth + 1)),
        }
    }

    /// Where the tokens of a text match, in order.
    pub fn find(&self, tokens: &[Token], phrases: Phrases, matches_max: usize) -> Vec<Match> {
        let mut found = Vec::new();
        let mut names: Vec<&[u8]> = Vec::new();
        for token in tokens {
            if found.len() >= matches_max {
                break;
            }
            if let Some(what) = self.terms.get(&token.term) {
                found.push(Match { start: token.start, end: token.end, what: *what });
            } else if self.is_like(&token.term) {
                let what = NAMED + name(&mut names, &token.term);
                found.push(Match { start: token.start, end: token.end, what });
            }
        }
        for (number, run) in self.phrases.iter().enumerate() {
            let groups = match phrases {
                Phrases::Spans if run.slop > 0 => run.near(tokens, matches_max),
                _ => run.find(tokens, matches_max),
            };
            for group in groups {
                let spans = group.iter().map(|at| &tokens[*at]);
                if phrases == Phrases::Whole {
                    let start = spans.clone().map(|token| token.start).min();
                    let end = spans.map(|token| token.end).max();
                    let what = u32::MAX - number as u32;
                    if let (Some(start), Some(end)) = (start, end) {
                        found.push(Match { start, end, what });
                    }
                } else {
                    for token in spans {
                        let what = NAMED + name(&mut names, &token.term);
                        found.push(Match { start: token.start, end: token.end, what });
                    }
                }
            }
        }
        found.sort_by(|a, b| a.start.cmp(&b.start).then(a.end.cmp(&b.end)));
        found.dedup_by(|a, b| a.start == b.start && a.end == b.end);
        found
    }

    fn is_like(&self, term: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(term))
    }
}

/// Spans one behind the other, where each is a word or one of several.
fn line_of(places: &Places, line: &[Source], slop: i64, looks: &Looks<'_>) -> Option<Run> {
    let slop = u32::try_from(slop).ok()?;
    let word = |source: &Source| match source {
        Source::Leaf(at) => match places.leaves.get(*at)? {
            Leaf::Term(field, term) if (looks.of)(*field) => Some((*field, term.clone())),
            _ => None,
        },
        _ => None,
    };
    let mut run = Run { places: Vec::with_capacity(line.len()), slop, prefix: false };
    for (source, place) in line.iter().zip(0..) {
        let words = match source {
            Source::Or(some) => some.iter().map(word).collect::<Option<Vec<_>>>()?,
            one => vec![word(one)?],
        };
        run.prefix = words.iter().any(|(field, _)| (looks.begins)(*field));
        run.places.push((words.into_iter().map(|(_, term)| term).collect(), place));
    }
    Some(run)
}

/// Numbers from here on are of terms that the query does not name itself.
pub(super) const NAMED: u32 = 1 << 20;

/// Different terms of a text that are told apart for scores; later ones count as one.
const NAMES_MAX: usize = 256;

fn name<'t>(names: &mut Vec<&'t [u8]>, term: &'t [u8]) -> u32 {
    if let Some(at) = names.iter().position(|known| *known == term) {
        return at as u32;
    }
    if names.len() < NAMES_MAX {
        names.push(term);
    }
    names.len() as u32 - 1
}

impl Run {
    fn fits(&self, place: usize, term: &[u8]) -> bool {
        let terms = &self.places[place].0;
        if self.prefix && place + 1 == self.places.len() {
            return terms.iter().any(|prefix| term.starts_with(prefix));
        }
        terms.iter().any(|known| **known == *term)
    }

    /// Groups of tokens that are the phrase: for each beginning, the nearest of the others.
    fn find(&self, tokens: &[Token], matches_max: usize) -> Vec<Vec<usize>> {
        let count = self.places.len();
        let mut groups = Vec::new();
        if count == 0 {
            return groups;
        }
        // Tokens of each place, by where the phrase would begin.
        let mut by_place: Vec<Vec<(i64, usize)>> = vec![Vec::new(); count];
        for (at, token) in tokens.iter().enumerate() {
            for (place, found) in by_place.iter_mut().enumerate() {
                if self.fits(place, &token.term) {
                    found.push((i64::from(token.position) - i64::from(self.places[place].1), at));
                }
            }
        }
        if by_place.iter().any(Vec::is_empty) {
            return groups;
        }
        let slop = i64::from(self.slop);
        let mut last: Option<Vec<usize>> = None;
        for (begin, first) in &by_place[0] {
            if groups.len() >= matches_max {
                break;
            }
            let mut group = vec![*first];
            let (mut low, mut high) = (*begin, *begin);
            for found in &by_place[1..] {
                let near = found.partition_point(|(at, _)| at < begin);
                let around = found[near.saturating_sub(2)..found.len().min(near + 3)].iter();
                let free = around.filter(|(_, token)| !group.contains(token));
                let Some((at, token)) = free.min_by_key(|(at, _)| (at - begin).abs()) else {
                    break;
                };
                low = low.min(*at);
                high = high.max(*at);
                group.push(*token);
            }
            if group.len() == count && high - low <= slop && last.as_ref() != Some(&group) {
                last = Some(group.clone());
                groups.push(group);
            }
        }
        groups
    }

    /// Groups of tokens that lie between the ends of a span that holds a word of each place, all as near as
    /// the slop says: the shortest such span from each beginning.
    fn near(&self, tokens: &[Token], matches_max: usize) -> Vec<Vec<usize>> {
        let count = self.places.len();
        let fits: Vec<(usize, Vec<usize>)> = tokens
            .iter()
            .enumerate()
            .map(|(at, token)| {
                (at, (0..count).filter(|place| self.fits(*place, &token.term)).collect())
            })
            .filter(|(_, places): &(usize, Vec<usize>)| !places.is_empty())
            .collect();
        // Places that have no word lie between those that have.
        let gaps = self.places.last().map_or(0, |(_, last)| last + 1).saturating_sub(count as u32);
        let reach = self.slop.saturating_add(gaps).saturating_add(count as u32);
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut left = NEAR_STEPS_MAX;
        for (first, (begin, _)) in fits.iter().enumerate() {
            if groups.len() >= matches_max || left == 0 {
                break;
            }
            let mut lacking: Vec<usize> = (0..count).collect();
            let mut group = Vec::new();
            for (at, places) in &fits[first..] {
                if tokens[*at].position - tokens[*begin].position + 1 > reach {
                    break;
                }
                left = left.saturating_sub(1);
                group.push(*at);
                // A token stands for one place.
                if let Some(found) = lacking.iter().position(|place| places.contains(place)) {
                    lacking.remove(found);
                }
                if lacking.is_empty() {
                    break;
                }
            }
            if lacking.is_empty() && !group.is_empty() {
                groups.push(group);
            } else if group.len() == fits.len() - first {
                // What is missing up to the end is missing behind it, too.
                break;
            }
        }
        groups
    }
}
