//! Letters and signs become their nearest ASCII ones, as Lucene's `ASCIIFoldingFilter` has them.
//!
//! The table (`ascii.tsv`) holds a line for each outcome: what it is, a tab, the characters that
//! become it. It was read off Lucene 9.12, character by character.

use std::sync::LazyLock;

use base::hash::Map;

use super::Term;

static TABLE: LazyLock<Map<char, &'static str>> = LazyLock::new(|| {
    let lines = include_str!("ascii.tsv").lines();
    let pairs = lines.filter_map(|line| line.split_once('\t'));
    pairs.flat_map(|(to, from)| from.chars().map(move |c| (c, to))).collect()
});

pub(super) fn fold(term: &mut Term<'_>) {
    if let Some(folded) = folded(term.as_str()) {
        term.set(&folded);
    }
}

/// The text in ASCII, where it was not.
pub(super) fn folded(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let table = &*TABLE;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match table.get(&c).filter(|_| !c.is_ascii()) {
            Some(to) => out.push_str(to),
            None => out.push(c),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    #[test]
    fn accents_and_ligatures_go() {
        for (text, want) in [("Musée", "Musee"), ("straße", "strasse"), ("ﬃ", "ffi"), ("⁉", "!?")]
        {
            assert_eq!(super::folded(text).as_deref(), Some(want));
        }
        assert_eq!(super::folded("plain"), None);
        assert_eq!(super::folded("日本").as_deref(), Some("日本"));
    }
}
