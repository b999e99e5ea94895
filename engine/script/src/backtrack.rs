//! A pattern compiled for its engine, and what its searches by backtracking may do.
//!
//! An automaton finds what is regular in time linear in the text. All else is tried: a step of a search looks at
//! the text in one way, and few bytes may have a hundred thousand of them. So the looks are counted while they
//! happen, and whoever has only so many steps to give says so ([`Effort`]). The engine ends a search at a limit
//! that is compiled in, so there are several of the same pattern: a search begins with the smallest, and is begun
//! anew with the next where that is not enough and there are steps left for it.
//!
//! Always true
//! 1. A search has the same outcome whatever effort there is, as long as it suffices: the last limit decides.
//! 2. What is spent depends on the pattern and the text alone.

use std::cell::Cell;
use std::fmt;

use fancy_regex::{Captures, Input, Regex, RegexBuilder, RegexInput};

/// Where a group matched, in bytes.
pub type Span = (usize, usize);

/// The places of a match's groups, the whole first.
pub(crate) type Spans = Vec<Option<Span>>;

/// Steps back of one search, from few to all that any may take.
const LIMITS: [usize; 3] = [1_000, 10_000, 100_000];

/// What a look at the text costs, with what the engine does until the next, in steps of [`Effort`].
pub(crate) const LOOK: u64 = 64;

/// How much searches may do. A step is about a nanosecond.
pub trait Effort {
    /// A look costs one step more for so many bytes that it may read, where it may be at a part that an automaton
    /// finds. Few read so far: those that do take some fifty times as much.
    const FAR_BYTES: u64 = 16;

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
    fn has(&self, _steps: u64) -> bool {
        true
    }

    fn spend(&self, _steps: u64) -> bool {
        true
    }
}

/// A text, and how often it was looked at.
struct Looked<'t> {
    text: &'t str,
    looks: Cell<u64>,
    /// What a look costs.
    look: u64,
}

impl Input for Looked<'_> {
    type Match<'m>
        = Span
    where
        Self: 'm;

    fn len(&self) -> usize {
        self.text.len()
    }

    fn as_bytes(&self) -> &[u8] {
        self.looks.set(self.looks.get() + 1);
        self.text.as_bytes()
    }

    fn is_char_boundary(&self, ix: usize) -> bool {
        self.text.is_char_boundary(ix)
    }

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn prev_codepoint_ix(&self, i: usize) -> usize {
        self.looks.set(self.looks.get() + 1);
        Input::prev_codepoint_ix(self.text, i)
    }

    fn make_match(&self, start: usize, end: usize) -> Span {
        (start, end)
    }

    fn advance_position(&self, i: usize) -> usize {
        Input::advance_position(self.text, i)
    }
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    /// With all that a search may take.
    regex: Regex,
    /// With less, in order, where it backtracks.
    shorter: Vec<Regex>,
    backtracks: bool,
    reach: Reach,
}

/// How far a part of a pattern reads that is handed to an automaton, and so is one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// As far as the part is long.
    Part,
    /// To the end of so many words, or of the blanks between them.
    Words(u64),
    /// To the end of the line.
    Line,
    /// To the end of the text.
    End,
}

impl Reach {
    /// Of all such parts of a program, as the engine prints it.
    fn of(program: &str) -> Self {
        let parts = program.split("pattern: \"").skip(1);
        let parts = parts.map(|rest| rest.split("\", capture_groups").next().unwrap_or(rest));
        parts.map(Self::of_part).fold(Self::Part, Self::or)
    }

    /// Of one of them, whose backslashes are doubled.
    fn of_part(part: &str) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| part.contains(word));
        let repeats = part.matches(['*', '+']).count() + part.matches(",}").count();
        if repeats == 0 {
            return Self::Part;
        }
        // They match letters and blanks alike, or may.
        let mixed = [
            "(?s", "[^", "[:", "&&", "\\S", "\\D", "\\W", "\\P", "\\H", "\\N", "\\X", "\\x", "\\u",
        ];
        let classes = part.split("\\p{").skip(1);
        let is_mixed = has(&mixed)
            || classes.into_iter().any(|class| !class.starts_with(['L', 'N', 'M', 'l', 'n', 'm']));
        let has_blanks = part.contains(char::is_whitespace)
            || has(&["\\s", "\\h", "\\v", "\\t", "\\n", "\\r", "\\R", "\\f"]);
        // Together they may be repeated: then words and blanks follow each other to the end.
        let together = has(&["[", ")*", ")+", "){"]);
        // A dot ends with its line.
        let has_dot = part.contains('.');
        match (is_mixed || (has_blanks && (together || has_dot)), has_dot) {
            (true, _) => Self::End,
            (false, true) => Self::Line,
            (false, false) => Self::Words(repeats as u64),
        }
    }

    /// The farther of both.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::End, _) | (_, Self::End) => Self::End,
            (Self::Line, _) | (_, Self::Line) => Self::Line,
            (Self::Words(one), Self::Words(two)) => Self::Words(one.max(two)),
            (Self::Part, other) => other,
            (one, Self::Part) => one,
        }
    }

    /// Bytes of this text, at most.
    fn bytes(self, text: &str) -> u64 {
        match self {
            Self::Part => 0,
            Self::Words(count) => longest_run(text).saturating_mul(count),
            Self::Line => text.split('\n').map(str::len).max().unwrap_or(0) as u64,
            Self::End => text.len() as u64,
        }
    }
}

/// The most bytes in a row that are all blank, or all not.
fn longest_run(text: &str) -> u64 {
    let (mut longest, mut begun, mut was_blank) = (0, 0, false);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() != was_blank {
            longest = longest.max(at - begun);
            (begun, was_blank) = (at, !was_blank);
        }
    }
    longest.max(text.len() - begun) as u64
}

impl Compiled {
    /// Compiles a pattern in the words of the engine.
    pub(crate) fn new(body: &str) -> Result<Self, fancy_regex::Error> {
        let compile = |limit: usize| {
            RegexBuilder::new(body)
                .backtrack_limit(limit)
                .delegate_size_limit(4 << 20)
                .delegate_dfa_size_limit(4 << 20)
                .build()
        };
        let [shorter @ .., all] = LIMITS;
        let regex = compile(all)?;
        let program = program(&regex);
        let backtracks = !program.starts_with(REGULAR);
        let shorter = match backtracks {
            true => shorter.into_iter().map(compile).collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        let reach = if backtracks { Reach::of(&program) } else { Reach::Part };
        Ok(Self { regex, shorter, backtracks, reach })
    }

    fn looked<'t, E: Effort>(&self, text: &'t str, _effort: &E) -> Looked<'t> {
        let look = LOOK + self.reach.bytes(text) / E::FAR_BYTES;
        Looked { text, looks: Cell::new(0), look }
    }

    /// As it is without any bound but the last.
    pub(crate) const fn regex(&self) -> &Regex {
        &self.regex
    }

    /// Is there a match somewhere? Not where there is no effort left.
    pub(crate) fn is_match(&self, text: &str, effort: &impl Effort) -> bool {
        if !self.backtracks {
            return self.regex.is_match(text).unwrap_or(false);
        }
        let text = self.looked(text, effort);
        let found = |regex: &Regex| regex.is_match(&text).map(|is| is.then_some(()));
        self.search(&text, effort, found).is_some()
    }

    /// The groups of the first match at or after `from`, the whole first. None where there is no effort left.
    pub(crate) fn first(&self, text: &str, from: usize, effort: &impl Effort) -> Option<Spans> {
        if self.backtracks {
            return self.find(&self.looked(text, effort), from, effort);
        }
        let captures = self.regex.captures_from_pos(text, from).ok()??;
        let mut spans = Spans::new();
        spans_of(&captures, &mut spans);
        Some(spans)
    }

    /// As [`Self::first`].
    fn find(&self, text: &Looked<'_>, from: usize, effort: &impl Effort) -> Option<Spans> {
        let found = |regex: &Regex| {
            let captures = regex.captures_input(RegexInput::new(text).from_pos(from))?;
            Ok(captures.map(|captures| {
                (0..captures.len()).map(|group| captures.get(group)).collect::<Spans>()
            }))
        };
        self.search(text, effort, found)
    }

    /// One search, with the smallest limit that suffices.
    fn search<T>(
        &self,
        text: &Looked<'_>,
        effort: &impl Effort,
        run: impl Fn(&Regex) -> fancy_regex::Result<Option<T>>,
    ) -> Option<T> {
        let look = text.look;
        for (regex, limit) in self.shorter.iter().chain([&self.regex]).zip(LIMITS) {
            // What it takes is known behind it.
            let most = look.saturating_mul(limit as u64);
            if !effort.has(most) {
                effort.spend(most);
                return None;
            }
            let found = run(regex);
            if !effort.spend(look.saturating_mul(text.looks.take())) {
                return None;
            }
            if let Ok(found) = found {
                return found;
            }
        }
        effort.give_up();
        None
    }

    /// Gives each match to `found`, until that says `false`: the spans of all groups, the whole first. Ends where
    /// there is no effort left.
    pub(crate) fn each(
        &self,
        text: &str,
        effort: &impl Effort,
        mut found: impl FnMut(&[Option<Span>]) -> bool,
    ) {
        if !self.backtracks {
            let mut spans = Spans::new();
            for captures in self.regex.captures_iter(text) {
                let Ok(captures) = captures else { return };
                spans_of(&captures, &mut spans);
                if !found(&spans) {
                    return;
                }
            }
            return;
        }
        let looked = self.looked(text, effort);
        let (mut from, mut last) = (0, None);
        while from <= text.len()
            && let Some(spans) = self.find(&looked, from, effort)
            && let Some((start, end)) = spans.first().copied().flatten()
        {
            // No empty match begins where another ends.
            let is_new = start < end || last != Some(end);
            from = if start < end { end } else { looked.advance_position(end) };
            last = Some(end);
            if is_new && !found(&spans) {
                return;
            }
        }
    }
}

fn spans_of(captures: &Captures<'_, str>, spans: &mut Spans) {
    spans.clear();
    spans.extend(
        (0..captures.len())
            .map(|group| captures.get(group).map(|found| (found.start(), found.end()))),
    );
}

/// So the engine prints what an automaton finds as a whole.
const REGULAR: &str = "wrapped Regex";

/// What the engine makes of a pattern, as it prints it: only that tells what is tried, and what automata find.
fn program(regex: &Regex) -> String {
    struct Shown<'r>(&'r Regex);
    impl fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.debug_print(f)
        }
    }
    Shown(regex).to_string()
}

#[cfg(test)]
mod tests {
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
            assert_eq!(compiled.backtracks, tried, "{pattern}");
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
            assert!(compiled.backtracks, "{pattern}");
            assert_eq!(compiled.reach, reach, "{pattern}: {}", program(&compiled.regex));
        }
        assert_eq!(longest_run("ab  cde\u{3000} é"), 4);
        assert_eq!((longest_run(""), longest_run("   "), longest_run("aaaa")), (0, 3, 4));
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
        assert_eq!((regular, count), (0, 3));
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
        ] {
            let compiled = Compiled::new(pattern).expect("a pattern");
            assert!(compiled.backtracks, "{pattern}");
            let mut found = Vec::new();
            compiled.each(text, &Unbounded, |spans| {
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
