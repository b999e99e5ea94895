//! Takes the English possessive off: `'s`, with a straight, curly or fullwidth apostrophe.

use super::Term;

/// `dog's` becomes `dog`.
pub(super) fn strip(term: &mut Term<'_>) {
    let text = term.as_str();
    let Some(head) = text.strip_suffix(['s', 'S']) else { return };
    let Some(head) = head.strip_suffix(['\'', '\u{2019}', '\u{ff07}']) else { return };
    let len = head.len();
    term.truncate(len);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_taken() {
        for (text, want) in [
            ("dog's", "dog"),
            ("DOG'S", "DOG"),
            ("dog\u{2019}s", "dog"),
            ("dogs'", "dogs'"),
            ("dogs", "dogs"),
            ("'s", ""),
            ("s", "s"),
        ] {
            let mut buffer = String::new();
            let mut term = Term::new(text, &mut buffer);
            strip(&mut term);
            assert_eq!(term.as_str(), want);
        }
    }
}
