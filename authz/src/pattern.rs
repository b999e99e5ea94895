//! Patterns of names, as roles write them.
//!
//! | form | means |
//! |---|---|
//! | `logs-*`, `log?`, `a\*` | `*` any text, `?` one character, `\` takes the next as it stands |
//! | `/log[0-9]+/` | an expression of Lucene's |
//!
//! Always true: what cannot be read fits nothing.

use std::sync::Arc;

use automaton::Dfa;
use automaton::regexp::{self, Fault};

/// States of one expression at most: it is read while a role is, and kept as long.
const STATES_MAX: usize = 10_000;

/// A pattern, read once.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    text: String,
    expression: Option<Arc<Dfa>>,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Why it cannot be read, in Elasticsearch's words.
    pub fn new(text: &str) -> Result<Self, String> {
        let expression = match text.strip_prefix('/') {
            None => None,
            Some(rest) => {
                let inner = rest.strip_suffix('/').ok_or_else(|| {
                    format!(
                        "invalid pattern [{text}]: patterns starting with '/' indicate regular \
                         expression pattern but do not end with '/'"
                    )
                })?;
                Some(Arc::new(
                    read(inner).map_err(|why| format!("invalid pattern [{text}]: {why}"))?,
                ))
            }
        };
        Ok(Self { text: text.to_owned(), expression })
    }

    /// Those of a list that can be read.
    pub fn list(texts: &[String]) -> Vec<Self> {
        texts.iter().filter_map(|text| Self::new(text).ok()).collect()
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Is this name meant?
    pub fn fits(&self, name: &str) -> bool {
        match &self.expression {
            None => json::path::wildcard(&self.text, name),
            Some(expression) => expression.matches(name),
        }
    }

    /// Is every name meant that `wanted`, a pattern too, may stand for? (False also where telling it
    /// would take too much work.)
    pub fn covers(&self, wanted: &str) -> bool {
        // Where both know stars alone, a star of the other is a letter that only a star can stand for.
        let has_stars_alone = |text: &str| !text.starts_with('/') && !text.contains(['?', '\\']);
        if has_stars_alone(&self.text) && has_stars_alone(wanted) {
            return self.fits(wanted);
        }
        let (Ok(own), Ok(other)) = (self.automaton(), Self::new(wanted)) else { return false };
        let Ok(other) = other.automaton() else { return false };
        !other.is_empty()
            && other.intersect(&own.complement(), STATES_MAX).is_ok_and(|rest| rest.is_empty())
    }

    /// May some name that does not begin with a dot fit both this and `other`, of stars alone? (True also
    /// where telling it would take too much work.)
    pub fn overlaps_plain(&self, other: &str) -> bool {
        // Most that mean names with a dot say so at once.
        if self.text.starts_with('.') {
            return false;
        }
        let plain = read(&format!("({})&([^.].*)", as_expression(other)));
        let (Ok(one), Ok(two)) = (self.automaton(), plain) else { return true };
        one.intersect(&two, STATES_MAX).map_or(true, |both| !both.is_empty())
    }

    fn automaton(&self) -> Result<Arc<Dfa>, String> {
        match &self.expression {
            Some(expression) => Ok(Arc::clone(expression)),
            None => read(&as_expression(&self.text)).map(Arc::new),
        }
    }
}

fn read(expression: &str) -> Result<Dfa, String> {
    regexp::automaton(expression, regexp::ALL, false, STATES_MAX).map_err(|fault| match fault {
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
        ] {
            assert_eq!(pattern(own).overlaps_plain(wanted), overlaps, "{own} overlaps {wanted}");
        }
    }
}
