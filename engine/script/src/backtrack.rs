//! A pattern compiled for its engine, and what its searches by backtracking may do.
//!
//! An automaton finds what is regular in time linear in the text ([`crate::regular`]). All else is tried: a step of
//! a search looks at the text in one way, and few bytes may have a hundred thousand of them. So the looks are counted
//! while they happen, and whoever has only so many steps to give says so ([`Effort`]). The engine ends a search at a
//! limit that is compiled in, so there are several of the same pattern: a search begins with the smallest, and is
//! begun anew with the next where that is not enough and there are steps left for it.
//!
//! The limit counts steps back. What repeats something that is not taken back (`(?>(?:(?=a)a)*)`) makes as many
//! steps as the text is long before its first step back, at each place anew: such a pattern is tried place by place,
//! each with a limit of its own.
//!
//! Always true
//! 1. A search has the same outcome whatever effort of its kind there is, as long as it suffices: the last limit
//!    decides.
//! 2. What is spent depends on the pattern and the text alone.

use std::sync::OnceLock;

use fancy_regex::{Captures, Input, Regex, RegexBuilder, RegexInput};

use crate::looked::{Looked, PARTS};
use crate::program::{Head, program, repeats_for_good};
use crate::reach::Reach;
use crate::regular::Regular;

/// Where a group matched, in bytes.
pub type Span = (usize, usize);

/// The places of a match's groups, the whole first.
pub(crate) type Spans = Vec<Option<Span>>;

/// Bytes that an automaton may have, and the states that are made of it.
pub(crate) const PATTERN_BYTES_MAX: usize = 4 << 20;

/// Steps back of one search, from few to all that any may take.
const LIMITS: [usize; 14] = [
    2, 16, 128, 1_000, 10_000, 100_000, 200_000, 400_000, 800_000, 1_600_000, 3_200_000, 6_400_000,
    12_800_000, 25_600_000,
];

/// The limit that a search of the whole text begins with.
const BEGIN: usize = 3;

/// The limit up to which one follows the other. Beyond it is taken what there is effort for.
const NEAR: usize = 5;

/// What a look at the text costs, with what the engine does until the next, in steps of [`Effort`].
pub(crate) const LOOK: u64 = 64;

/// Bytes that a text is looked for in, in a step.
const FOUND_BYTES: u64 = 8;

/// Bytes that are compared with those of a group in a step.
const COMPARED_BYTES: u64 = 32;

/// How much searches may do. A step is about a nanosecond.
pub trait Effort {
    /// A look costs one step more for so many bytes that it may read, where it may be at a part that an automaton
    /// finds. Few read so far: those that do take some fifty times as much.
    const FAR_BYTES: u64 = 16;

    /// Steps back that a search may take, however much effort there is.
    const STEPS_BACK_MAX: usize = 100_000;

    /// Does an automaton's way through the text count, or what it reads beyond that alone? The way is counted already
    /// by who asks for all places.
    const COUNTS_WAY: bool = true;

    /// Is it counted at all?
    fn counts(&self) -> bool {
        true
    }

    /// What a look costs, in the text that this is for; `pattern` is a number of its own for each that is looked for
    /// there. To find that out is a way through the text, and it stays.
    fn look(&self, _pattern: usize, find: impl FnOnce() -> u64) -> u64 {
        find()
    }

    /// Are so many steps left?
    fn has(&self, steps: u64) -> bool;

    /// Takes steps; `false` where there were fewer: nothing more may be done then, and nothing is of use.
    fn spend(&self, steps: u64) -> bool;

    /// The last limit did not suffice: nothing was found that may be there.
    fn give_up(&self) {}
}

/// Nobody bounds it.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

impl Effort for Unbounded {
    fn counts(&self) -> bool {
        false
    }

    fn has(&self, _steps: u64) -> bool {
        true
    }

    fn spend(&self, _steps: u64) -> bool {
        true
    }
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// With the limit [`NEAR`].
    regex: Regex,
    how: How,
}

/// How it is found.
#[derive(Debug)]
enum How {
    /// By an automaton.
    Regular(Regular),
    /// By trying.
    Tried(Box<Tried>),
}

/// What is tried.
#[derive(Debug)]
struct Tried {
    /// The same with other limits, made where they are asked for.
    limited: [OnceLock<Option<Regex>>; LIMITS.len()],
    /// Of its parts that automata find.
    reach: Reach,
    /// Of the groups that it compares the text with.
    compared: Reach,
    /// It repeats something that is not taken back.
    by_place: bool,
    /// It begins with a text, or behind one.
    head: Option<Head>,
    /// It matches at the place where a search begins, or nowhere.
    is_anchored: bool,
}

impl Compiled {
    /// Compiles a pattern in the words of the engine.
    pub(crate) fn new(body: &str) -> Result<Self, fancy_regex::Error> {
        let regex = compile(body, LIMITS[NEAR])?;
        let program = program(&regex);
        let how = match Regular::of(&program) {
            Some(regular) => How::Regular(regular),
            None => How::Tried(Box::new(Tried {
                limited: [const { OnceLock::new() }; LIMITS.len()],
                reach: Reach::of(&program),
                compared: Reach::of_groups(&program, body),
                by_place: repeats_for_good(&program),
                head: Head::of(&program),
                is_anchored: !program.contains("SplitUnanchored(") && !program.contains("Seek("),
            })),
        };
        Ok(Self { regex, how })
    }

    /// The engine's own, with a limit.
    pub(crate) const fn regex(&self) -> &Regex {
        &self.regex
    }

    /// Is there a match somewhere? Not where there is no effort left.
    pub(crate) fn is_match(&self, text: &str, effort: &impl Effort) -> bool {
        match &self.how {
            How::Regular(regular) => {
                regular.is_match(text, effort, || self.regex.is_match(text).unwrap_or(false))
            }
            How::Tried(tried) => {
                let looked = tried.looked(text, effort);
                self.search(tried, &looked, 0, effort, |regex, from| {
                    regex.is_match_input(from).map(|is| is.then_some(()))
                })
                .is_some()
            }
        }
    }

    /// The groups of the first match at or after `from`, the whole first. None where there is no effort left.
    pub(crate) fn first(&self, text: &str, from: usize, effort: &impl Effort) -> Option<Spans> {
        match &self.how {
            How::Regular(regular) => {
                let mut spans = Spans::new();
                self.next(regular, text, from, effort, &mut spans).then_some(spans)
            }
            How::Tried(tried) => self.find(tried, &tried.looked(text, effort), from, effort),
        }
    }

    /// As [`Self::first`], where an automaton finds it.
    fn next(
        &self,
        regular: &Regular,
        text: &str,
        from: usize,
        effort: &impl Effort,
        spans: &mut Spans,
    ) -> bool {
        let found = || {
            let captures = self.regex.captures_from_pos(text, from).ok()??;
            spans_of(&captures, spans);
            spans.first().copied().flatten()
        };
        regular.find(text, from, effort, found)
    }

    /// As [`Self::first`], where it is tried.
    fn find(
        &self,
        tried: &Tried,
        text: &Looked<'_>,
        from: usize,
        effort: &impl Effort,
    ) -> Option<Spans> {
        self.search(tried, text, from, effort, |regex, from| {
            let captures = regex.captures_input(from)?;
            Ok(captures.map(|captures| {
                (0..captures.len()).map(|group| captures.get(group)).collect::<Spans>()
            }))
        })
    }

    /// The same with a limit.
    fn limited<'r>(&'r self, tried: &'r Tried, limit: usize) -> Option<&'r Regex> {
        if limit == NEAR {
            return Some(&self.regex);
        }
        // What compiled once compiles with another limit.
        let make = || compile(self.regex.as_str(), LIMITS[limit]).ok();
        tried.limited[limit].get_or_init(make).as_ref()
    }

    /// One search, from `from` on.
    fn search<'t, T, E: Effort>(
        &self,
        tried: &Tried,
        text: &'t Looked<'t>,
        from: usize,
        effort: &E,
        run: impl Fn(&Regex, RegexInput<'t, Looked<'t>>) -> fancy_regex::Result<Option<T>>,
    ) -> Option<T> {
        let at = |from| RegexInput::new(text).from_pos(from);
        if !tried.by_place && tried.head.is_none() {
            let run = |it: &Regex| run(it, at(from));
            return self.limits(tried, text, effort, (BEGIN, |limit| limit), run).ok()?;
        }
        let rest = text.text.get(from..)?;
        let all = rest.char_indices().map(|(place, _)| from + place).chain([text.text.len()]);
        let heads = tried.head.iter().flat_map(|head| head.places(text.text, from));
        let all = all.filter(|_| tried.head.is_none());
        let mut before = from;
        for place in heads.chain(all) {
            // Between two steps back may lie all of the text, looked at twice.
            let rest = (text.text.len() - place).max(1) as u64;
            let looks = |limit: u64| match tried.by_place {
                true => (limit + 1).saturating_mul(2 * rest),
                false => limit + 1,
            };
            let run = |it: &Regex| run(it, at(place).anchored(true));
            let way = (place - before) as u64 / FOUND_BYTES;
            before = place;
            match self.limits(tried, text, effort, (usize::from(!tried.by_place), looks), run) {
                Ok(None) if !tried.is_anchored && effort.spend(LOOK + way) => {}
                Ok(found) => return found,
                Err(Ended) => return None,
            }
        }
        effort.spend((text.text.len() - before) as u64 / FOUND_BYTES);
        None
    }

    /// One search, with the smallest limit that suffices, the first being `begin`. Within a limit it makes no more
    /// looks than `looks` tells.
    fn limits<T, E: Effort>(
        &self,
        tried: &Tried,
        text: &Looked<'_>,
        effort: &E,
        (begin, looks): (usize, impl Fn(u64) -> u64),
        run: impl Fn(&Regex) -> fancy_regex::Result<Option<T>>,
    ) -> Result<Option<T>, Ended> {
        let most = |limit: usize| text.look.saturating_mul(looks(LIMITS[limit] as u64));
        let fits = |limit: &usize| LIMITS[*limit] <= E::STEPS_BACK_MAX;
        let mut limit = begin;
        loop {
            // What it takes is known behind it.
            if !effort.has(most(limit)) {
                effort.spend(most(limit));
                return Err(Ended);
            }
            let Some(regex) = self.limited(tried, limit) else { break };
            let found = run(regex);
            if !effort.spend(text.look.saturating_mul(text.looks.take()) / PARTS) {
                return Err(Ended);
            }
            if let Ok(found) = found {
                return Ok(found);
            }
            // It suffices or not: what fails costs all of it.
            let mut far = (limit + 1..LIMITS.len()).rev().filter(fits);
            let next = match limit < NEAR {
                true => Some(limit + 1),
                false => far.clone().find(|far| effort.has(most(*far))).or_else(|| far.next_back()),
            };
            match next.filter(fits) {
                Some(next) => limit = next,
                None => break,
            }
        }
        effort.give_up();
        Err(Ended)
    }

    /// Gives each match to `found`, until that says `false`: the spans of all groups, the whole first. Ends where
    /// there is no effort left.
    pub(crate) fn each(
        &self,
        text: &str,
        effort: &impl Effort,
        mut found: impl FnMut(&[Option<Span>]) -> bool,
    ) {
        match &self.how {
            How::Regular(_) if !effort.counts() => {
                let mut spans = Spans::new();
                for captures in self.regex.captures_iter(text) {
                    let Ok(captures) = captures else { return };
                    spans_of(&captures, &mut spans);
                    if !found(&spans) {
                        return;
                    }
                }
            }
            How::Regular(regular) => {
                all(text, &mut found, |from, spans| self.next(regular, text, from, effort, spans))
            }
            How::Tried(tried) => {
                let looked = tried.looked(text, effort);
                all(text, &mut found, |from, spans| {
                    let next = self.find(tried, &looked, from, effort);
                    let is_found = next.is_some();
                    *spans = next.unwrap_or_default();
                    is_found
                });
            }
        }
    }
}

impl Tried {
    fn looked<'t, E: Effort>(&self, text: &'t str, effort: &E) -> Looked<'t> {
        let look = effort.look(std::ptr::from_ref(self).addr(), || {
            let read = self.reach.bytes(text) / E::FAR_BYTES;
            let compared = self.compared.bytes(text) / COMPARED_BYTES;
            LOOK + read + compared
        });
        Looked::new(text, look)
    }
}

/// A search ended without knowing: there was no effort left, or no limit.
struct Ended;

/// All matches of a text, by a search from a place on that leaves the spans of the next.
fn all(
    text: &str,
    mut found: impl FnMut(&[Option<Span>]) -> bool,
    mut search: impl FnMut(usize, &mut Spans) -> bool,
) {
    let (mut from, mut last) = (0, None);
    let mut spans = Spans::new();
    while from <= text.len()
        && search(from, &mut spans)
        && let Some((start, end)) = spans.first().copied().flatten()
    {
        // No empty match begins where another ends.
        let is_new = start < end || last != Some(end);
        from = if start < end { end } else { Input::advance_position(text, end) };
        last = Some(end);
        if is_new && !found(&spans) {
            return;
        }
    }
}

fn compile(body: &str, limit: usize) -> Result<Regex, fancy_regex::Error> {
    RegexBuilder::new(body)
        .backtrack_limit(limit)
        .delegate_size_limit(PATTERN_BYTES_MAX)
        .delegate_dfa_size_limit(PATTERN_BYTES_MAX)
        .build()
}

fn spans_of(captures: &Captures<'_, str>, spans: &mut Spans) {
    spans.clear();
    spans.extend(
        (0..captures.len())
            .map(|group| captures.get(group).map(|found| (found.start(), found.end()))),
    );
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// So many steps.
    struct Given(Cell<u64>);

    impl Effort for Given {
        fn has(&self, steps: u64) -> bool {
            self.0.get() >= steps
        }

        fn spend(&self, steps: u64) -> bool {
            let left = self.0.get().checked_sub(steps);
            self.0.set(left.unwrap_or(0));
            left.is_some()
        }
    }

    /// What a search spends of a billion steps, and how many matches it gives.
    fn took(pattern: &str, text: &str) -> (u64, usize) {
        const ALL: u64 = 1 << 30;
        let effort = Given(Cell::new(ALL));
        let mut count = 0;
        Compiled::new(pattern).expect("a pattern").each(text, &effort, |_| {
            count += 1;
            true
        });
        (ALL - effort.0.get(), count)
    }

    fn tried(compiled: &Compiled) -> &Tried {
        match &compiled.how {
            How::Tried(tried) => tried,
            How::Regular(regular) => panic!("{regular:?}"),
        }
    }

    /// All places of the first of them in 100 KB held a core for fourteen seconds.
    #[test]
    fn what_is_read_again_and_again_is_spent() {
        for (pattern, part, is_quadratic) in [
            ("a.*b|a", "a", true),
            ("a(?=.*b)|a", "a", true),
            (r#",(?=(?:[^"]*"[^"]*")*[^"]*$)"#, "ann,\"a, b\",42,,x;", true),
            ("[ab]{0,30000}c|a", "a", true),
            ("a|a.*b", "a", false),
            ("a.*b|a", "a\n", false),
            ("[a-z]|[a-z]+q", "a", false),
            ("\"[^\"]*\"", "x \"y\", ", false),
            (r"\w+", "word ", false),
            (r"(?m)^.*$", "a line\n", false),
            (",", "a,", false),
            (r"\b\w+\b", "é wörd ", false),
        ] {
            let took = |times: usize| took(pattern, &part.repeat(times)).0;
            let (one, two) = (took(500), took(1_000));
            let is_as_told = match is_quadratic {
                true => 2 * two > 5 * one,
                false => two < 2 * one + one / 8,
            };
            assert!(is_as_told, "{pattern}: {one}, {two}");
        }
    }

    #[test]
    fn what_is_not_taken_back_is_known() {
        for (pattern, for_good) in [
            ("(?:(?=a)a)*+b", true),
            ("(?>(?:(?=a)a)*)b", true),
            ("(?!(?:(?=a)a)*b)a", true),
            ("a++b", false),
            (r"(a)\1", false),
            ("\"(?:(?!\").)*\"", false),
            (r"(?s)^(?:(?!END).)*END", false),
            (r"(?<!a)b", false),
            (r"(?:(?!a)b)*c", false),
        ] {
            let compiled = Compiled::new(pattern).expect("a pattern");
            let program = program(&compiled.regex);
            assert_eq!(tried(&compiled).by_place, for_good, "{pattern}: {program}");
        }
    }

    /// Each place ran to the end of the text, and the first limit lets a thousand places be tried: two seconds.
    #[test]
    fn what_is_not_taken_back_is_bounded() {
        let compiled = Compiled::new("(?:(?=a)a)*+b").expect("a pattern");
        let text = "a".repeat(20_000);
        let effort = Given(Cell::new(1 << 26));
        assert!(!compiled.is_match(&text, &effort));
        assert_eq!(effort.0.get(), 0);
        let looked = tried(&compiled).looked(&text, &effort);
        assert_eq!(looked.look, LOOK);
        assert_eq!(
            compiled.first(&(text + "b"), 0, &Given(Cell::new(1 << 26))),
            Some(vec![Some((0, 20_001))])
        );
        let places: Vec<usize> = [0, 1, 3, 4]
            .map(|from| {
                let found = compiled.first("aéb b", from, &Unbounded);
                found.and_then(|spans| spans[0]).map_or(0, |(start, _)| start)
            })
            .to_vec();
        assert_eq!(places, [3, 3, 3, 5]);
    }

    /// Texts are compared with what a group found, which may be long.
    #[test]
    fn a_look_costs_what_it_may_compare() {
        for (pattern, reach) in [
            (r"(\w+)\s+\1", Reach::Words(1)),
            (r#"(['"])(.*?)\1"#, Reach::Part),
            (r"(.*)x\1", Reach::Line),
            (r"(?<x>[^a]+)\k<x>", Reach::End),
            (r"(?!x)\w+", Reach::Part),
        ] {
            let compiled = Compiled::new(pattern).expect("a pattern");
            assert_eq!(tried(&compiled).compared, reach, "{pattern}: {}", program(&compiled.regex));
        }
    }

    #[test]
    fn what_no_automaton_finds_is_known() {
        for (pattern, tried) in [
            (r"[(?=]+\\1", false),
            (r"\ba+$", false),
            (r"(a)\1", true),
            (r"(?=ab)a", true),
            (r"a(?=b)", false),
            (r"a++b", true),
            (r"\Ga", true),
        ] {
            let compiled = Compiled::new(pattern).expect("a pattern");
            assert_eq!(matches!(compiled.how, How::Tried(_)), tried, "{pattern}");
        }
    }

    /// Ordinary patterns cost what they do: a document of 200 KB was refused, and whatever highlighted it.
    #[test]
    fn a_look_costs_what_it_may_read() {
        for (pattern, reach) in [
            (r"(\w+)\s+\1", Reach::Part),
            (r"\s+(?!$)", Reach::Part),
            (r#"(['"])(.*?)\1"#, Reach::Part),
            (r"<(\w+)[^>]*>.*?</\1>", Reach::Part),
            (r"(?<=[a-z])(?=[A-Z])", Reach::Part),
            (r"\b(?!the)\w+ing\b", Reach::Words(1)),
            (r"(?!x)\w+\s+\w+", Reach::Words(3)),
            (r"(?=.*[0-9])[a-z]+", Reach::Line),
            (r"(?s)(?=.*[0-9])[a-z]+", Reach::End),
            (r"(?=.*\s[0-9])[a-z]+", Reach::End),
            (r"(?![0-9])[\w\s]+x", Reach::End),
            (r"(?!x)(\w+\s+)+", Reach::End),
            (r"(?!x)[\x09-z]+", Reach::End),
            (r"(?!x)\p{L}+", Reach::Words(1)),
            (r"(?!x)\p{Zs}+\w", Reach::End),
        ] {
            let compiled = Compiled::new(pattern).expect("a pattern");
            let tried = tried(&compiled);
            assert_eq!(tried.reach, reach, "{pattern}: {}", program(&compiled.regex));
        }
        let text = "one two two three ".repeat(3_000);
        let (spent, count) = took(r"(\w+)\s+\1", &text);
        assert!(count >= 3_000 && spent < 1_000 * text.len() as u64, "{spent} for {count}");
    }

    #[test]
    fn looks_are_spent_as_they_happen() {
        let (little, count) = took("(?=ab)a", "ab ab ab");
        assert_eq!(count, 3);
        assert!((500..5_000).contains(&little), "{little}");
        let (regular, count) = took("a", "ab ab ab");
        assert_eq!(count, 3);
        assert!((1..little).contains(&regular), "{regular} of {little}");
        // Thirty bytes that are tried in every way.
        let runaway = format!("{}1bb", "a".repeat(30));
        let (much, count) = took(r"(a*)*\1[xy]$", &runaway);
        assert_eq!(count, 0);
        assert!(much > 100_000 * LOOK / 2, "{much}");
    }

    #[test]
    fn what_lacks_effort_ends() {
        let runaway = format!("{}1bb", "a".repeat(30));
        let compiled = Compiled::new(r"(a*)*\1[xy]$").expect("a pattern");
        for steps in [0, 10_000, 100_000, 1_000_000] {
            let effort = Given(Cell::new(steps));
            assert!(!compiled.is_match(&runaway, &effort));
            assert_eq!(effort.0.get(), 0, "all of {steps} is spent");
        }
    }

    /// The engine's own iteration gives the same.
    #[test]
    fn matches_are_the_same_as_without_effort() {
        for (pattern, text) in [
            ("a*(?=b)|", "aab b éa"),
            (r"(?<=\p{Ll})(?=\p{Lu})", "fooBarBaz"),
            (r"(a)\1|b*", "aabaaabb"),
            ("(?!x)", "xé x"),
            ("a*|b", "aab b éa"),
            ("(a)(x)?|", "aé a"),
            ("a(?=b)|é*", "abéa"),
            ("", "é"),
        ] {
            let compiled = Compiled::new(pattern).expect("a pattern");
            let mut found = Vec::new();
            compiled.each(text, &Given(Cell::new(1 << 30)), |spans| {
                found.push(spans.to_vec());
                true
            });
            let mut want = Vec::new();
            for captures in compiled.regex().captures_iter(text) {
                let mut spans = Spans::new();
                spans_of(&captures.expect("few steps"), &mut spans);
                want.push(spans);
            }
            assert_eq!(found, want, "{pattern}");
        }
    }
}
