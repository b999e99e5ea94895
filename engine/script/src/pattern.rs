//! Java's regular expressions, as far as scripts and settings use them, on an engine that is linear in time for
//! all that is regular, and bounded in steps for the rest (look-around, back references).
//!
//! A pattern is rewritten where the two languages differ: `\w \d \s` and their opposites mean ASCII
//! in Java, `\Q…\E` quotes, `\h \v \R` and POSIX classes (`\p{Alpha}`) have other names.
//!
//! Not here: `\G`, `\X`, canonical equivalence (`CANON_EQ`), and ends of lines other than `\n`. A
//! search that takes more steps back than its effort allows finds nothing more, where Java would go on.

use std::sync::Arc;

use fancy_regex::Regex;

use crate::backtrack::Compiled;
pub use crate::backtrack::{Effort, Span, Unbounded};
pub use crate::considered::Considered;
use crate::error::Fault;
use crate::rewrite::rewrite;

type Result<T> = std::result::Result<T, Fault>;

/// Longest pattern, in bytes.
const PATTERN_MAX: usize = 64 * 1024;

/// A pattern, compiled.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As it was written.
    written: Arc<str>,
    compiled: Arc<Compiled>,
    /// Anchored at both ends.
    whole: Arc<Compiled>,
}

/// A text that would be longer than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl Pattern {
    /// Compiles a pattern of Java's; `flags` as `CASE_INSENSITIVE|COMMENTS`.
    ///
    /// # Errors
    /// A pattern that is wrong, too long, or beyond what is here; a flag that Java does not have.
    pub fn java(pattern: &str, flags: &str) -> Result<Self> {
        if pattern.len() > PATTERN_MAX {
            return Err(Fault::illegal(format!(
                "pattern of {} bytes is longer than {PATTERN_MAX}",
                pattern.len()
            )));
        }
        let mut inline = String::new();
        let mut literal = false;
        let mut unicode = false;
        for flag in flags.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
            match flag.to_ascii_uppercase().as_str() {
                "CASE_INSENSITIVE" => inline.push('i'),
                "MULTILINE" => inline.push('m'),
                "DOTALL" => inline.push('s'),
                "COMMENTS" => inline.push('x'),
                "UNICODE_CASE" | "UNIX_LINES" | "CANON_EQ" => {}
                "LITERAL" => literal = true,
                "UNICODE_CHAR_CLASS" | "UNICODE_CHARACTER_CLASS" => unicode = true,
                _ => return Err(Fault::illegal(format!("Unknown regex flag [{flag}]"))),
            }
        }
        let body = if literal {
            fancy_regex::escape(pattern).into_owned()
        } else {
            rewrite(pattern, unicode).map_err(|why| {
                Fault::illegal(format!("cannot use the pattern [{pattern}]: {why}"))
            })?
        };
        let body = if inline.is_empty() { body } else { format!("(?{inline}){body}") };
        let compile = |text: &str| {
            Compiled::new(text).map(Arc::new).map_err(|error| {
                Fault::illegal(format!("cannot use the pattern [{pattern}]: {error}"))
            })
        };
        let whole = compile(&format!(r"\A(?:{body})\z"))?;
        Ok(Self { written: pattern.into(), compiled: compile(&body)?, whole })
    }

    fn regex(&self) -> &Regex {
        self.compiled.regex()
    }

    /// Does it match the whole text? Not where there is no effort left.
    pub fn matches_whole_within(&self, text: &str, effort: &impl Effort) -> bool {
        self.whole.is_match(text, effort)
    }

    /// The groups of the first match at or after a place.
    fn find_at(&self, text: &str, from: usize, effort: &impl Effort) -> Option<Vec<Option<Span>>> {
        if from > text.len() {
            return None;
        }
        self.compiled.first(text, from, effort)
    }

    /// The groups, where all of the text matches.
    fn groups_of_whole(&self, text: &str, effort: &impl Effort) -> Option<Vec<Option<Span>>> {
        self.whole.first(text, 0, effort)
    }

    /// One use of it on a text of so many bytes in a script: what `run` finds, and bytes of a text that it counts as.
    ///
    /// # Errors
    /// It considered too much.
    pub fn used<T>(
        &self,
        bytes: usize,
        run: impl FnOnce(&Self, &Considered) -> T,
    ) -> Result<(T, usize)> {
        let effort = Considered::of(bytes);
        let found = run(self, &effort);
        Ok((found, bytes.saturating_add(effort.spent(self.as_str())?)))
    }

    /// The pattern as it was written, without its flags.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Does it match somewhere? Not where there is no effort left.
    pub fn matches_somewhere_within(&self, text: &str, effort: &impl Effort) -> bool {
        self.compiled.is_match(text, effort)
    }

    /// Gives each match to `found`, until that says `false`: the spans of all groups, the whole first. Ends where
    /// there is no effort left.
    pub fn each_within(
        &self,
        text: &str,
        effort: &impl Effort,
        found: impl FnMut(&[Option<Span>]) -> bool,
    ) {
        self.compiled.each(text, effort, found);
    }

    /// Groups of the pattern, without the whole.
    pub fn group_count(&self) -> usize {
        self.regex().captures_len() - 1
    }

    /// The text with what matches replaced, of at most `most` bytes, and where there is no effort left as far as that
    /// led; `None` where nothing matches.
    ///
    /// # Errors
    /// [`TooLong`] where it would be longer: no more than that was written then.
    pub fn replace_within(
        &self,
        text: &str,
        with: &Replacement,
        all: bool,
        most: usize,
        effort: &impl Effort,
    ) -> std::result::Result<Option<String>, TooLong> {
        let mut done: Option<String> = None;
        let (mut at, mut fits) = (0, true);
        self.each_within(text, effort, |spans| {
            let Some((start, end)) = spans[0] else { return false };
            let out = done.get_or_insert_with(String::new);
            let more = (start - at).saturating_add(with.len_bytes(spans));
            fits = out.len().saturating_add(more) <= most;
            if !fits {
                return false;
            }
            out.push_str(&text[at..start]);
            with.write(text, spans, out);
            at = end;
            all
        });
        let Some(mut done) = done else { return Ok(None) };
        if !fits || done.len() + (text.len() - at) > most {
            return Err(TooLong);
        }
        done.push_str(&text[at..]);
        Ok(Some(done))
    }
}

/// A pattern on its way through a text (`Matcher`).
#[derive(Clone, Debug)]
pub struct Matcher {
    /// The pattern.
    pub pattern: Pattern,
    /// The text.
    pub text: Arc<str>,
    /// The groups of the last match, in bytes.
    pub spans: Option<Vec<Option<Span>>>,
    /// Where the next search begins.
    pub next: usize,
    /// What it may do yet, whatever it finds.
    effort: Considered,
}

impl Matcher {
    /// At the begin of a text.
    pub fn new(pattern: Pattern, text: &str) -> Self {
        let effort = Considered::of(text.len());
        Self { pattern, text: text.into(), spans: None, next: 0, effort }
    }

    /// Memory of its text, in bytes.
    pub fn len_bytes(&self) -> usize {
        self.text.len()
    }

    /// Bytes of a text that its searches since the last time count as.
    ///
    /// # Errors
    /// All of them together considered too much, and what the last found is of no use.
    pub fn spent(&self) -> Result<usize> {
        self.effort.spent(self.pattern.as_str())
    }

    /// The next match.
    pub fn find(&mut self) -> bool {
        self.spans = self.pattern.find_at(&self.text, self.next, &self.effort);
        match self.spans.as_ref().and_then(|spans| spans[0]) {
            Some((start, end)) => {
                // An empty match is not found twice.
                let step = self.text[end..].chars().next().map_or(1, char::len_utf8);
                self.next = if start == end { end + step } else { end };
                true
            }
            None => false,
        }
    }

    /// Does all of the text match?
    pub fn matches(&mut self) -> bool {
        self.spans = self.pattern.groups_of_whole(&self.text, &self.effort);
        self.spans.is_some()
    }

    /// Does the text begin with a match?
    pub fn looking_at(&mut self) -> bool {
        let spans = self.pattern.find_at(&self.text, 0, &self.effort);
        self.spans = spans.filter(|spans| spans[0].is_some_and(|(start, _)| start == 0));
        self.spans.is_some()
    }

    /// The group of a name.
    pub fn group_named(&self, name: &str) -> Option<usize> {
        self.pattern.regex().capture_names().position(|known| known == Some(name))
    }
}

/// What stands in place of a match: text and groups, as `$1` and `${name}` name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    parts: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

impl Replacement {
    /// Reads a replacement of Java's: `$1`, `${name}`, `\$`.
    ///
    /// # Errors
    /// A group that the pattern does not have.
    pub fn java(text: &str, pattern: &Pattern) -> Result<Self> {
        let groups = pattern.group_count();
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut chars = text.chars().peekable();
        let flush = |plain: &mut String, parts: &mut Vec<Piece>| {
            if !plain.is_empty() {
                parts.push(Piece::Text(std::mem::take(plain)));
            }
        };
        while let Some(c) = chars.next() {
            match c {
                '\\' => plain.extend(chars.next()),
                '$' if chars.peek() == Some(&'{') => {
                    chars.next();
                    let name: String = chars.by_ref().take_while(|c| *c != '}').collect();
                    let at =
                        pattern.regex().capture_names().position(|known| known == Some(&*name));
                    let Some(at) = at else {
                        return Err(Fault::illegal(format!("No group with name {{{name}}}")));
                    };
                    flush(&mut plain, &mut parts);
                    parts.push(Piece::Group(at));
                }
                '$' => {
                    let Some(mut group) = chars.peek().and_then(|c| c.to_digit(10)) else {
                        return Err(Fault::illegal("Illegal group reference"));
                    };
                    chars.next();
                    if group as usize > groups {
                        return Err(Fault::illegal(format!("No group {group}")));
                    }
                    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                        let longer = group * 10 + digit;
                        if longer as usize > groups {
                            break;
                        }
                        group = longer;
                        chars.next();
                    }
                    flush(&mut plain, &mut parts);
                    parts.push(Piece::Group(group as usize));
                }
                c => plain.push(c),
            }
        }
        flush(&mut plain, &mut parts);
        Ok(Self { parts })
    }

    /// Bytes that it has for one match.
    pub fn len_bytes(&self, spans: &[Option<Span>]) -> usize {
        let len = |part: &Piece| match part {
            Piece::Text(plain) => plain.len(),
            Piece::Group(group) => {
                spans.get(*group).copied().flatten().map_or(0, |(start, end)| end - start)
            }
        };
        self.parts.iter().map(len).fold(0, usize::saturating_add)
    }

    /// Writes it for one match.
    pub fn write(&self, text: &str, spans: &[Option<Span>], out: &mut String) {
        for part in &self.parts {
            match part {
                Piece::Text(plain) => out.push_str(plain),
                Piece::Group(group) => {
                    if let Some((start, end)) = spans.get(*group).copied().flatten() {
                        out.push_str(&text[start..end]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(pattern: &str, with: &str, text: &str) -> String {
        let pattern = Pattern::java(pattern, "").expect("a pattern");
        let with = Replacement::java(with, &pattern).expect("a replacement");
        let done = pattern.replace_within(text, &with, true, usize::MAX, &Unbounded);
        done.expect("no bound").unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn patterns_mean_what_they_mean_to_java() {
        for (pattern, with, text, want) in [
            (r"(\d+)-(?=\d)", "$1_", "123-456-789", "123_456_789"),
            (r"\W+", "_", "é a", "_a"),
            (r"(?<=\p{Lower})(?=\p{Upper})", " ", "fooBarBaz", "foo Bar Baz"),
            (r"(?<x>a)(b)", "${x}$2$10\\$", "ab", "aba0$"),
            (r"\Qa.b\E", "", "a.b axb", " axb"),
            (r"[a-z&&[^bc]]", "-", "abcd", "-bc-"),
            (r"(a)\1", "x", "aa a", "x a"),
            (r"[\w.]+", "x", "a.b é", "x é"),
            (r"\p{L}+", "x", "äb1", "x1"),
        ] {
            assert_eq!(replaced(pattern, with, text), want, "{pattern}");
        }
        assert!(Pattern::java("(", "").is_err());
        assert!(Pattern::java("a", "NONE").is_err());
        let insensitive = Pattern::java("A.c", "CASE_INSENSITIVE|DOTALL").expect("flags");
        assert!(insensitive.matches_whole_within("a\nC", &Unbounded));
        assert!(!insensitive.matches_whole_within("xa\nC", &Unbounded));
        let one = Pattern::java("(a)", "").expect("a pattern");
        assert_eq!(
            Replacement::java("$2", &one).expect_err("refused").message.as_deref(),
            Some("No group 2")
        );
    }

    #[test]
    fn what_would_be_too_long_is_not_written() {
        let pattern = Pattern::java("(a)b?", "").expect("a pattern");
        let with = Replacement::java("$1$1$1-", &pattern).expect("a replacement");
        let within = |text, all, most| pattern.replace_within(text, &with, all, most, &Unbounded);
        assert_eq!(within("xabxa", true, 10), Ok(Some("xaaa-xaaa-".into())));
        assert_eq!(within("xabxa", true, 9), Err(TooLong));
        assert_eq!(within("xabxa", false, 7), Ok(Some("xaaa-xa".into())));
        assert_eq!(within("xabxa", false, 6), Err(TooLong));
        assert_eq!(within("xyz", true, 0), Ok(None));
    }

    #[test]
    fn a_runaway_pattern_ends() {
        let pattern = Pattern::java(r"(a+)+(?=b)c", "").expect("a pattern");
        assert!(!pattern.matches_whole_within(&"a".repeat(200), &Unbounded));
        let pattern = Pattern::java(r"(a+)+\1b", "").expect("a pattern");
        let text = "a".repeat(1999) + "b c";
        let text = text.replace("ab", "a?b");
        let used =
            pattern.used(text.len(), |it, effort| it.matches_somewhere_within(&text, effort));
        let fault = used.expect_err("it tries far too much");
        assert_eq!(
            fault.message.as_deref(),
            Some(
                "[scripting] Regular expression considered too many characters, \
                 pattern: [(a+)+\\1b], limit factor: [6], char limit: [12018]"
            )
        );
    }

    /// A reader's script held a core for 4.5 s with it.
    #[test]
    fn a_pattern_that_looks_ahead_to_the_end_of_a_long_text_is_refused() {
        let ahead = Pattern::java("(?=.*[0-9])[a-z]+", "").expect("a pattern");
        let used = |len: usize| {
            let text = "a".repeat(len);
            ahead.used(len, |pattern, effort| pattern.matches_somewhere_within(&text, effort))
        };
        assert!(used(64 << 10).is_err());
        assert!(!used(100).expect("a short text").0);
    }

    /// They were refused from a few KB on, or told as not there.
    #[test]
    fn what_looks_about_in_its_line_is_found_in_long_texts() {
        let line = "2026-11-28 12:00:00 INFO user=kim took 15 ms of 20 for page 7\n";
        let error = "2026-11-28 12:00:01 ERROR user=kim timeout after 900 ms\n";
        for lines in [30, 60, 150, 300, 1000, 16_000] {
            let text = line.repeat(lines) + error;
            for (pattern, is_there) in [
                (r"ERROR(?!.*retry)", true),
                (r"(?m)^(?=.*ERROR).*$", true),
                (r"(?<=user=)\w+", true),
                (r"(?<=nobody=)\w+", false),
                (r"\b(\w+)\s+\1\b", false),
            ] {
                let pattern = Pattern::java(pattern, "").expect("a pattern");
                let used = pattern
                    .used(text.len(), |it, effort| it.matches_somewhere_within(&text, effort))
                    .map(|(is_found, _)| is_found);
                let found = used.map_err(|fault| fault.message);
                assert_eq!(found, Ok(is_there), "{} in {lines} lines", pattern.as_str());
            }
        }
    }

    /// One row without blanks was all read by a look, as it seemed.
    #[test]
    fn what_looks_behind_in_a_long_row_is_found() {
        let pattern = Pattern::java(r"(?<=user=)\w+", "").expect("a pattern");
        for (head, found) in [(" user=", true), ("user=", true), ("user:", false)] {
            let text = format!("{}{head}ann", "-".repeat(300_000));
            let used =
                pattern.used(text.len(), |it, effort| it.matches_somewhere_within(&text, effort));
            let used = used.map(|(found, _)| found).map_err(|fault| fault.message);
            assert_eq!(used, Ok(found), "{head}");
        }
    }

    /// Each find has what the ones before left, as each character is counted once in Elasticsearch.
    #[test]
    fn all_finds_of_a_matcher_are_one_use() {
        let pattern = Pattern::java(r"(?:(?=a)a)*+b", "").expect("a pattern");
        let mut matcher = Matcher::new(pattern, &("a".repeat(1_000) + "b"));
        let spent = (0..100_000).map(|_| {
            matcher.next = 0;
            matcher.find();
            matcher.spent()
        });
        let done: Vec<usize> = spent.map_while(std::result::Result::ok).collect();
        assert!((10..1_000).contains(&done.len()), "{}", done.len());
        let words = Pattern::java(r"\w+", "").expect("a pattern");
        let mut matcher = Matcher::new(words, &"word ".repeat(50_000));
        let mut count = 0;
        while matcher.find() {
            count += 1;
            assert!(matcher.spent().expect("little") < 1_000);
        }
        assert_eq!(count, 50_000);
        // Each find went through all of the text to know what a look may read.
        let tried = Pattern::java(r"\w++(?= )", "").expect("a pattern");
        let mut matcher = Matcher::new(tried, &"word ".repeat(200_000));
        let mut count = 0;
        while matcher.find() {
            count += 1;
        }
        assert_eq!(matcher.spent().map(|_| count).map_err(|fault| fault.message), Ok(200_000));
    }

    /// All of a matcher's, of what is split or replaced.
    #[test]
    fn what_reads_to_the_end_each_time_is_refused_in_long_texts() {
        for (pattern, part, fits) in [
            ("a.*b|a", "a", 1_000),
            ("a(?=.*b)|a", "a", 1_000),
            (r#",(?=(?:[^"]*"[^"]*")*[^"]*$)"#, "ann,\"a, b\",42,,x;", 60),
        ] {
            let pattern = Pattern::java(pattern, "").expect("a pattern");
            let used = |times: usize| {
                let text = part.repeat(times);
                let used = pattern.used(text.len(), |it, effort| {
                    let mut found = 0;
                    it.each_within(&text, effort, |_| {
                        found += 1;
                        true
                    });
                    found
                });
                used.map(|(found, _)| found).map_err(|fault| fault.kind)
            };
            assert!(used(fits).is_ok_and(|found| found >= fits), "{}", pattern.as_str());
            assert!(used(100_000 / part.len()).is_err(), "{}", pattern.as_str());
        }
    }

    #[test]
    fn a_pattern_is_told_as_it_was_written() {
        let pattern = Pattern::java(r"\d+\s\Q.\E", "CASE_INSENSITIVE").expect("a pattern");
        assert_eq!(pattern.as_str(), r"\d+\s\Q.\E");
        let fault = Pattern::java(r"\d+(", "").expect_err("it is open").message;
        assert!(fault.is_some_and(|it| it.starts_with(r"cannot use the pattern [\d+(]: ")));
    }

    #[test]
    fn what_people_write_is_within_what_a_script_may_do() {
        let words = "the quick brown fox jumps over the lazy dog gets it, once, ".repeat(1000);
        for (pattern, count) in [
            (r"\b(\w+)\b", 12_000),
            (r"(?<![a-z])fox(?= jumps)", 1_000),
            (r"([a-z]) (\1)", 1_000),
            (r"(?i)DOG", 1_000),
            (r"[^,]+,", 2_000),
        ] {
            let pattern = Pattern::java(pattern, "").expect("a pattern");
            let used = pattern.used(words.len(), |pattern, effort| {
                let mut found = 0;
                pattern.each_within(&words, effort, |_| {
                    found += 1;
                    true
                });
                found
            });
            let found = used.map(|(found, _)| found).map_err(|fault| fault.message);
            assert_eq!(found, Ok(count), "{}", pattern.as_str());
        }
    }
}
