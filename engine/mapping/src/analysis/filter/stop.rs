//! Lists of words, for stop filters and stem exclusions.

use base::hash::Set;

/// The English stop words of Lucene's `EnglishAnalyzer`.
pub const ENGLISH: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// A list of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopWords {
    words: Set<Box<str>>,
    /// Words are kept in lower case, and compared so.
    ignore_case: bool,
    bytes_max: usize,
}

impl StopWords {
    /// The words given; `ignore_case` compares them in lower case.
    pub fn new<S: AsRef<str>>(words: impl IntoIterator<Item = S>, ignore_case: bool) -> Self {
        let mut list = Self { ignore_case, ..Self::default() };
        for word in words {
            let word = if ignore_case { lower(word.as_ref()) } else { word.as_ref().to_owned() };
            list.bytes_max = list.bytes_max.max(word.len());
            list.words.insert(word.into());
        }
        list
    }

    /// The English ones.
    pub fn english() -> Self {
        Self::new(ENGLISH, false)
    }

    /// True without words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Is `word` among them?
    #[inline]
    pub fn contains(&self, word: &str) -> bool {
        if self.ignore_case {
            return self.words.contains(lower(word).as_str());
        }
        word.len() <= self.bytes_max && self.words.contains(word)
    }
}

fn lower(word: &str) -> String {
    let mut buffer = String::new();
    let mut term = super::Term::new(word, &mut buffer);
    super::lowercase(&mut term);
    term.as_str().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_counts_unless_told() {
        let words = StopWords::english();
        assert!(words.contains("the"));
        assert!(!words.contains("The"));
        assert!(!words.contains("thesaurus"));
        assert!(StopWords::new(["The"], true).contains("tHE"));
        assert!(StopWords::new([""; 0], false).is_empty());
    }
}
