//! Stemmers: what a word is without its endings, language by language.
//!
//! Snowball's are a package's ([`snowball`]); the light ones, which Lucene's analyzers prefer for some
//! languages, are written here, a file for each family.

mod east;
mod english;
mod german;
mod light;
mod romance;
mod snowball;

pub use snowball::Snowball;

use super::filter::Term;

/// A stemmer, by the name that Elasticsearch gives it.
#[derive(Clone, Copy, Debug)]
pub enum Stemmer {
    /// One of Snowball's.
    Snowball(Snowball),
    /// One that works on characters in place.
    Light(fn(&mut Vec<char>)),
}

impl Stemmer {
    /// The stemmer that a `stemmer` filter names; Porter's and the possessive one are filters of
    /// their own.
    pub fn named(name: &str) -> Option<Self> {
        if let Some(snowball) = Snowball::of_stemmer(name) {
            return Some(Self::Snowball(snowball));
        }
        Some(Self::Light(match name {
            "arabic" => east::arabic,
            "bengali" => east::bengali,
            "bulgarian" => light::bulgarian,
            "czech" => light::czech,
            "indonesian" => east::indonesian,
            "latvian" => light::latvian,
            "sorani" => east::sorani,
            "minimal_english" | "minimalEnglish" => english::minimal,
            "light_french" | "lightFrench" => romance::french,
            "minimal_french" | "minimalFrench" => romance::french_minimal,
            "light_german" | "lightGerman" => german::light,
            "minimal_german" | "minimalGerman" => german::minimal,
            "hindi" => east::hindi,
            "light_italian" | "lightItalian" => romance::italian,
            "light_portuguese" | "lightPortuguese" => romance::portuguese,
            "light_spanish" | "lightSpanish" => romance::spanish,
            _ => return None,
        }))
    }

    /// Stems the token.
    pub fn apply(self, term: &mut Term<'_>) {
        match self {
            Self::Snowball(snowball) => snowball.apply(term),
            Self::Light(stem) => term.rewrite(stem),
        }
    }
}

/// Does the word end so?
fn ends(word: &[char], suffix: &str) -> bool {
    let len = suffix.chars().count();
    word.len() >= len && word[word.len() - len..].iter().copied().eq(suffix.chars())
}

/// Does the word begin so?
fn starts(word: &[char], prefix: &str) -> bool {
    let mut letters = word.iter().copied();
    prefix.chars().all(|c| letters.next() == Some(c))
}

/// Takes the first of the suffixes off that the word ends with; suffixes are tried in order.
fn strip(word: &mut Vec<char>, suffixes: &[&str]) -> bool {
    for suffix in suffixes {
        if ends(word, suffix) {
            let len = word.len() - suffix.chars().count();
            word.truncate(len);
            return true;
        }
    }
    false
}
