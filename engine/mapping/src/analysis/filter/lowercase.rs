//! Lower and upper case as Java's `Character` has them: one character for one, no context.
//!
//! Rust's full mappings differ for one character of lower case (`İ` gives two) and for those of
//! upper case that become several (`ß`), which Java's simple mapping leaves alone.

use super::Term;

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
    map(term, |c| if c == 'İ' { 'i' } else { c.to_lowercase().next().unwrap_or(c) });
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

    #[test]
    fn one_character_becomes_one() {
        let lower = |text: &str| {
            let mut buffer = String::new();
            let mut term = Term::new(text, &mut buffer);
            lowercase(&mut term);
            term.as_str().to_owned()
        };
        assert_eq!(lower("ABC-x"), "abc-x");
        assert_eq!(lower("ΣΟΦΟΣ"), "σοφοσ", "no final sigma");
        assert_eq!(lower("İX"), "ix");
        assert_eq!(lower("straße"), "straße");
        assert_eq!(lower("ЖЩ"), "жщ");
        let mut buffer = String::new();
        let mut term = Term::new("straßeé", &mut buffer);
        uppercase(&mut term);
        assert_eq!(term.as_str(), "STRAßEÉ");
    }
}
