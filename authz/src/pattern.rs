//! Patterns of names, as roles write them.
//!
//! | form | means |
//! |---|---|
//! | `logs-*`, `log?`, `a\*` | `*` any text, `?` one character, `\` takes the next as it stands |
//! | `/log[0-9]+/` | an expression of Lucene's |
//!
//! Always true
//! 1. What cannot be read fits nothing.
//! 2. Many patterns that come in one request share one [`Effort`]: an expression of 30 letters may be
//!    as dear as 20 ms, and whoever asks for hundreds would hold a core for as long as they take.

use std::cell::{Cell, OnceCell};
use std::sync::{Arc, OnceLock};

use automaton::Dfa;
use automaton::regexp::{self, Fault};

/// States of one expression at most: it is kept as long as its role.
const STATES_MAX: usize = 10_000;

/// What may be spent on the patterns of one request, in states that are looked at: as much as one
/// expression may take, some 60 ms.
const EFFORT: usize = 10 * STATES_MAX;

/// What patterns together may still cost.
#[derive(Clone, Debug)]
pub struct Effort(Cell<usize>);

impl Default for Effort {
    fn default() -> Self {
        Self(Cell::new(EFFORT))
    }
}

impl Effort {
    /// All of it was spent: what was told last need not be so.
    pub fn is_over(&self) -> bool {
        self.0.get() == 0
    }

    fn spend(&self, states: usize) {
        self.0.set(self.0.get().saturating_sub(states));
    }
}

/// A pattern. Its expression is read when it is first asked for, once.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    expression: Option<Arc<OnceLock<Option<Dfa>>>>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Why it cannot be read, in Elasticsearch's words.
    pub fn new(text: &str) -> Result<Self, String> {
        Self::new_within(text, &Effort::default())
    }

    /// Reads one of many patterns.
    ///
    /// # Errors
    /// As [`Pattern::new`]; or all of them together are too complex.
    pub fn new_within(text: &str, effort: &Effort) -> Result<Self, String> {
        let pattern = Self::unread(text);
        if text.starts_with('/') {
            let inner = inner(text).ok_or_else(|| {
                format!(
                    "invalid pattern [{text}]: patterns starting with '/' indicate regular \
                     expression pattern but do not end with '/'"
                )
            })?;
            let read = read(inner, effort);
            let read = read.map_err(|why| format!("invalid pattern [{text}]: {why}"))?;
            if let Some(expression) = &pattern.expression {
                let _ = expression.set(Some(read));
            }
        }
        Ok(pattern)
    }

    fn unread(text: &str) -> Self {
        Self { text: text.to_owned(), expression: text.starts_with('/').then(Arc::default) }
    }

    /// Patterns that were found good before. They cost nothing until one is asked for.
    pub fn list(texts: &[String]) -> Vec<Self> {
        texts.iter().map(|text| Self::unread(text)).collect()
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Is this name meant?
    pub fn fits(&self, name: &str) -> bool {
        match &self.expression {
            None => json::path::wildcard(&self.text, name),
            Some(expression) => {
                let read = expression.get_or_init(|| self.read_anew(&Effort::default()));
                read.as_ref().is_some_and(|dfa| dfa.matches(name))
            }
        }
    }

    /// Is every name meant that `wanted`, a pattern too, may stand for? (False also where telling it
    /// would take too much work.)
    pub fn covers(&self, wanted: &str) -> bool {
        self.covers_within(&Wanted::new(wanted), &Effort::default())
    }

    /// As [`Pattern::covers`], for one of many.
    pub fn covers_within(&self, wanted: &Wanted<'_>, effort: &Effort) -> bool {
        // Where both know stars alone, a star of the other is a letter that only a star can stand for.
        let has_stars_alone = |text: &str| !text.starts_with('/') && !text.contains(['?', '\\']);
        if has_stars_alone(&self.text) && has_stars_alone(wanted.text) {
            return self.fits(wanted.text);
        }
        let Some(other) = wanted.automaton(effort) else { return false };
        if other.is_empty() {
            return false;
        }
        let of_own = |own: &Dfa| {
            effort.spend((own.len() + other.len()) / 4);
            let limit = effort.0.get().min(STATES_MAX);
            let beyond = other.intersect(&own.complement(), limit);
            effort.spend(beyond.as_ref().map_or(limit, Dfa::len));
            beyond.is_ok_and(|beyond| beyond.is_empty())
        };
        self.with_automaton(effort, of_own).unwrap_or(false)
    }

    /// May some name that does not begin with a dot fit both this and `other`, of stars alone? (True also
    /// where telling it would take too much work.)
    pub fn overlaps_plain(&self, other: &str) -> bool {
        // Most that mean names with a dot say so at once.
        if self.text.starts_with('.') {
            return false;
        }
        // One name: no automaton is needed to tell what it overlaps.
        if !other.is_empty() && !other.contains(['*', '?', '\\']) {
            return !other.starts_with('.') && self.fits(other);
        }
        let effort = Effort::default();
        let plain = read(&format!("({})&([^.].*)", as_expression(other)), &effort);
        let Ok(plain) = plain else { return true };
        let meets =
            |own: &Dfa| own.intersect(&plain, STATES_MAX).map_or(true, |both| !both.is_empty());
        self.with_automaton(&effort, meets).unwrap_or(true)
    }

    /// The automaton, where it can be read.
    fn with_automaton<T>(&self, effort: &Effort, take: impl FnOnce(&Dfa) -> T) -> Option<T> {
        match &self.expression {
            Some(expression) => {
                if let Some(read) = expression.get() {
                    return read.as_ref().map(take);
                }
                let made = self.read_anew(effort);
                if made.is_none() && effort.is_over() {
                    // Alone it may be read.
                    return None;
                }
                expression.get_or_init(|| made).as_ref().map(take)
            }
            None => self.read_anew(effort).as_ref().map(take),
        }
    }

    fn read_anew(&self, effort: &Effort) -> Option<Dfa> {
        as_dfa(&self.text, effort)
    }
}

/// A pattern that is asked for, of which several others may mean all.
#[derive(Debug)]
pub struct Wanted<'a> {
    text: &'a str,
    read: OnceCell<Option<Dfa>>,
    /// See [`Wanted::lies_in`].
    lies: OnceCell<(bool, bool)>,
}

impl<'a> Wanted<'a> {
    /// It is read where that is needed, once.
    pub fn new(text: &'a str) -> Self {
        Self { text, read: OnceCell::new(), lies: OnceCell::new() }
    }

    /// As it was written.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Lies what it means in what this one means: some of it, and all of it? (Both, where telling it would take too
    /// much work.) There is one such place, of which it is told once for all privileges that are asked for.
    pub fn lies_in(&self, place: &Pattern, effort: &Effort) -> (bool, bool) {
        *self.lies.get_or_init(|| self.lies_anew(place, effort))
    }

    fn lies_anew(&self, place: &Pattern, effort: &Effort) -> (bool, bool) {
        let lies = |own: &Dfa, place: &Dfa| {
            effort.spend(own.len() + place.len());
            let shares = |with: &Dfa| own.intersect(with, STATES_MAX).map(|both| !both.is_empty());
            let (inside, outside) = (shares(place).ok()?, shares(&place.complement()).ok()?);
            Some((inside, inside && !outside))
        };
        let own = self.automaton(effort);
        own.and_then(|own| place.with_automaton(effort, |place| lies(own, place))?)
            .unwrap_or((true, true))
    }

    fn automaton(&self, effort: &Effort) -> Option<&Dfa> {
        self.read.get_or_init(|| as_dfa(self.text, effort)).as_ref()
    }
}

/// What stands between the slashes of an expression.
fn inner(text: &str) -> Option<&str> {
    text.strip_prefix('/')?.strip_suffix('/')
}

fn as_dfa(text: &str, effort: &Effort) -> Option<Dfa> {
    match text.starts_with('/') {
        true => read(inner(text)?, effort).ok(),
        false => read(&as_expression(text), effort).ok(),
    }
}

fn read(expression: &str, effort: &Effort) -> Result<Dfa, String> {
    if effort.is_over() {
        return Err("the expressions are too complex together".to_owned());
    }
    let read = regexp::automaton_within(expression, regexp::ALL, false, STATES_MAX, &effort.0);
    read.map_err(|fault| match fault {
        Fault::Syntax(why) => why,
        Fault::TooComplex => "the expression is too complex".to_owned(),
    })
}

/// The expression that means the same as a pattern with `*` and `?`.
fn as_expression(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => out.push_str(".*"),
            '?' => out.push('.'),
            '\\' => out.extend(['\\', rest.next().unwrap_or('\\')]),
            c if c.is_ascii_alphanumeric() || !c.is_ascii() => out.push(c),
            c => out.extend(['\\', c]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text).expect("it reads")
    }

    #[test]
    fn stars_and_marks_and_expressions_fit() {
        for (text, name, fits) in [
            ("logs-*", "logs-1", true),
            ("logs-*", "log-1", false),
            ("log?", "logs", true),
            ("log?", "log", false),
            ("log?", "logss", false),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            ("*a?c*", "xxabcx", true),
            ("?é", "éé", true),
            ("/log[0-9]+/", "log12", true),
            ("/log[0-9]+/", "log", false),
            ("/log[0-9]+/", "xlog12", false),
            ("/<1-12>/", "7", true),
            ("/a.*&~(.*secret.*)/", "a-open", true),
            ("/a.*&~(.*secret.*)/", "a-secret", false),
        ] {
            assert_eq!(pattern(text).fits(name), fits, "{text} {name}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in ["/", "/abc", "/a(/", "/(a{1,9999}){1,9999}/"] {
            assert!(Pattern::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn patterns_cover_and_overlap() {
        for (own, wanted, covers, overlaps) in [
            ("logs-*", "logs-a*", true, true),
            ("logs-a*", "logs-*", false, true),
            ("/logs-[a-c].*/", "logs-a*", true, true),
            ("/logs-[a-c].*/", "logs-*", false, true),
            ("/logs-[a-c].*/", "logs-d*", false, false),
            ("/logs-[a-c].*/", "logs-b", true, true),
            ("*", "/anything|else/", true, true),
            ("a.b", "axb", false, false),
            ("a*b", "a*", false, true),
            ("a*b", "ac*b", true, true),
            ("a?b", "a*b", false, true),
            ("a?b", "a?b", true, true),
            (r"a\*", "a*", false, true),
        ] {
            assert_eq!(pattern(own).covers(wanted), covers, "{own} covers {wanted}");
            if !wanted.starts_with('/') {
                let found = pattern(own).overlaps_plain(wanted);
                assert_eq!(found, overlaps, "{own} overlaps {wanted}");
            }
        }
    }

    #[test]
    fn many_dear_expressions_are_not_read_one_after_the_other() {
        let effort = Effort::default();
        let dear: Vec<String> = (0..100).map(|at| format!("/(a|b)*a(a|b){{9}}{at}/")).collect();
        let read = dear.iter().filter(|text| Pattern::new_within(text, &effort).is_ok()).count();
        assert!((1..5).contains(&read), "{read}");
        assert!(effort.is_over());
        // Of those that were found good one is read for each that is asked for.
        assert!(Pattern::list(&dear)[99].fits("aaaaaaaaaa99"));

        let effort = Effort::default();
        let plain: Vec<String> = (0..300).map(|at| format!("/logs-[0-9]+-{at}.*/")).collect();
        for text in &plain {
            assert!(Pattern::new_within(text, &effort).is_ok(), "{text}");
        }

        let effort = Effort::default();
        let own = pattern("/(a|b)*a(a|b){9}/");
        let told = dear.iter().filter(|text| own.covers_within(&Wanted::new(text), &effort));
        assert_eq!(told.count(), 0);
        assert!(effort.is_over(), "and that is told");
    }

    #[test]
    fn names_that_begin_with_a_dot_do_not_count_as_common() {
        for (own, wanted, overlaps) in [
            (".kibana*", "*", false),
            (r"\.kibana*", "*", false),
            ("/[.].*/", "*", false),
            ("/[.]?kibana.*/", "*", true),
            ("/.*/", "*", true),
            ("*", "*", true),
            ("*.kibana", "*.kibana", true),
            ("?kibana", "*kibana", true),
            ("?kibana", "*.kibana", false),
            ("", "*", false),
            (".kibana*", ".kibana-1", false),
            ("*", ".kibana", false),
            ("/[.]?kibana/", ".kibana", false),
            ("/[.]?kibana/", "kibana", true),
            ("k?bana", "kibana", true),
            ("kib", "kibana", false),
            ("*", "", false),
        ] {
            assert_eq!(pattern(own).overlaps_plain(wanted), overlaps, "{own} overlaps {wanted}");
        }
    }
}
