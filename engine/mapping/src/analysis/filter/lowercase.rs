//! Lower and upper case as Java's `Character` has them: one character for one, no context.
//!
//! Rust's full mappings differ for one character of lower case (`İ` gives two) and for those of
//! upper case that become several (`ß`), which Java's simple mapping leaves alone.

use super::Term;

/// Languages whose lower case is their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseOf {
    /// Final sigma and accents go.
    Greek,
    /// `nAthair` is `n-athair`.
    Irish,
    /// `I` is `ı`, `İ` is `i`.
    Turkish,
}

impl CaseOf {
    /// Lower case in the language.
    pub(super) fn lowercase(self, term: &mut Term<'_>) {
        match self {
            Self::Greek => map(term, greek),
            Self::Irish => irish(term),
            Self::Turkish => turkish(term),
        }
    }
}

/// Lower case.
#[inline]
pub fn lowercase(term: &mut Term<'_>) {
    let text = term.as_str();
    if text.is_ascii() {
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            term.to_mut().make_ascii_lowercase();
        }
        return;
    }
    map(term, lower);
}

/// Lower case of one character.
pub(in crate::analysis) fn lower(c: char) -> char {
    if c == 'İ' { 'i' } else { c.to_lowercase().next().unwrap_or(c) }
}

/// Upper case.
pub fn uppercase(term: &mut Term<'_>) {
    map(term, |c| {
        let mut upper = c.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(one), None) => one,
            _ => c,
        }
    });
}

fn greek(c: char) -> char {
    match c {
        'ς' => 'σ',
        'Ά' | 'ά' => 'α',
        'Έ' | 'έ' => 'ε',
        'Ή' | 'ή' => 'η',
        'Ί' | 'Ϊ' | 'ί' | 'ϊ' | 'ΐ' => 'ι',
        'Ύ' | 'Ϋ' | 'ύ' | 'ϋ' | 'ΰ' => 'υ',
        'Ό' | 'ό' => 'ο',
        'Ώ' | 'ώ' => 'ω',
        '\u{3a2}' => 'ς',
        c => lower(c),
    }
}

fn irish(term: &mut Term<'_>) {
    let text = term.as_str();
    let mut chars = text.chars();
    let first = chars.next();
    let vowel = |c: char| matches!(c, 'A' | 'E' | 'I' | 'O' | 'U' | 'Á' | 'É' | 'Í' | 'Ó' | 'Ú');
    if let Some(n @ ('n' | 't')) = first
        && chars.next().is_some_and(vowel)
    {
        let mut done = String::with_capacity(text.len() + 1);
        done.push(n);
        done.push('-');
        done.extend(text.chars().skip(1).map(lower));
        term.set(&done);
        return;
    }
    lowercase(term);
}

fn turkish(term: &mut Term<'_>) {
    let text = term.as_str();
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return;
    }
    let mut done = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != 'I' {
            done.push(lower(c));
            continue;
        }
        // `I` with a dot above, some marks later, is `i`.
        let mut ahead = chars.clone();
        let mut dotted = false;
        let mut passed = Vec::new();
        for mark in ahead.by_ref() {
            if mark == '\u{307}' {
                dotted = true;
                break;
            }
            if !is_mark(mark) {
                break;
            }
            passed.push(mark);
        }
        if dotted {
            done.push('i');
            done.extend(passed);
            chars = ahead;
        } else {
            done.push('ı');
        }
    }
    term.set(&done);
}

/// A mark that stands over or under its letter, as far as Latin letters bear them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}')
}

fn map(term: &mut Term<'_>, change: impl Fn(char) -> char) {
    let Some(at) = term.as_str().char_indices().find(|(_, c)| change(*c) != *c).map(|(at, _)| at)
    else {
        return;
    };
    let text = term.to_mut();
    let tail = text.split_off(at);
    text.extend(tail.chars().map(change));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, change: impl Fn(&mut Term<'_>)) -> String {
        let mut buffer = String::new();
        let mut term = Term::new(text, &mut buffer);
        change(&mut term);
        term.as_str().to_owned()
    }

    #[test]
    fn one_character_becomes_one() {
        assert_eq!(after("ABC-x", lowercase), "abc-x");
        assert_eq!(after("ΣΟΦΟΣ", lowercase), "σοφοσ", "no final sigma");
        assert_eq!(after("İX", lowercase), "ix");
        assert_eq!(after("straße", lowercase), "straße");
        assert_eq!(after("ЖЩ", lowercase), "жщ");
        assert_eq!(after("straßeé", uppercase), "STRAßEÉ");
    }

    #[test]
    fn three_languages_have_their_own() {
        let of = |language: CaseOf| move |term: &mut Term<'_>| language.lowercase(term);
        assert_eq!(after("Μάϊος", of(CaseOf::Greek)), "μαιοσ");
        assert_eq!(after("nAthair", of(CaseOf::Irish)), "n-athair");
        assert_eq!(after("Nathair", of(CaseOf::Irish)), "nathair");
        assert_eq!(after("ISPARTA İZMİR", of(CaseOf::Turkish)), "ısparta izmir");
        assert_eq!(after("I\u{307}x", of(CaseOf::Turkish)), "ix");
    }
}
