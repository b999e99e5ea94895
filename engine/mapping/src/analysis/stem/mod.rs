//! Stemmers: what a word is without its endings, language by language.
//!
//! Snowball's are a package's ([`snowball`]); the light ones, which Lucene's analyzers prefer for some
//! languages, are written here, a file for each family. [`kstem`] asks a dictionary.

mod brazilian;
mod east;
mod english;
mod german;
mod greek;
mod kstem;
mod light;
mod north;
mod romance;
mod rslp;
mod snowball;

pub use snowball::Snowball;

use super::filter::Term;

/// A stemmer, by the name that Elasticsearch gives it.
#[derive(Clone, Copy, Debug)]
pub enum Stemmer {
    /// One of Snowball's.
    Snowball(Snowball),
    /// One that works on characters in place.
    Light(Light),
    /// Krovetz's, which asks a dictionary.
    Krovetz,
}

/// Changes a word in place.
type Light = fn(&mut Vec<char>);

/// The names that a `stemmer` filter takes besides Snowball's, in lower case.
const LIGHT: &[(&str, Light)] = &[
    ("arabic", east::arabic),
    ("bengali", east::bengali),
    ("brazilian", brazilian::stem),
    ("bulgarian", light::bulgarian),
    ("czech", light::czech),
    ("galician", rslp::galician),
    ("greek", greek::stem),
    ("hindi", east::hindi),
    ("indonesian", east::indonesian),
    ("latvian", light::latvian),
    ("light_finish", north::finnish),
    ("light_finnish", north::finnish),
    ("light_french", romance::french),
    ("light_german", german::light),
    ("light_hungarian", north::hungarian),
    ("light_italian", romance::italian),
    ("light_norwegian", north::norwegian),
    ("light_nynorsk", north::nynorsk),
    ("light_portuguese", romance::portuguese),
    ("light_russian", north::russian),
    ("light_spanish", romance::spanish),
    ("light_swedish", north::swedish),
    ("minimal_english", english::minimal),
    ("minimal_french", romance::french_minimal),
    ("minimal_galician", rslp::galician_minimal),
    ("minimal_german", german::minimal),
    ("minimal_norwegian", north::norwegian_minimal),
    ("minimal_nynorsk", north::nynorsk_minimal),
    ("minimal_portuguese", rslp::portuguese_minimal),
    ("persian", east::persian),
    ("portuguese_rslp", rslp::portuguese),
    ("sorani", east::sorani),
    ("spanish_plural", romance::spanish_plural),
];

/// Names that may be written without their line, too (`lightFrench`).
fn is_named(known: &str, name: &str) -> bool {
    known == name
        || known.strip_prefix("light_").is_some_and(|rest| name.strip_prefix("light") == Some(rest))
        || (known
            .strip_prefix("minimal_")
            .is_some_and(|rest| name.strip_prefix("minimal") == Some(rest))
            && !known.ends_with("galician"))
}

impl Stemmer {
    /// The stemmer that a `stemmer` filter names; Porter's and the possessive one are filters of
    /// their own.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        if let Some(snowball) = Snowball::of_stemmer(&name) {
            return Some(Self::Snowball(snowball));
        }
        if matches!(name.as_str(), "light_english" | "lightenglish" | "kstem") {
            return Some(Self::Krovetz);
        }
        LIGHT.iter().find(|(known, _)| is_named(known, &name)).map(|(_, stem)| Self::Light(*stem))
    }

    /// Caumanns's stemmer of German, which the filter `german_stem` alone has.
    pub fn of_german_stem() -> Self {
        Self::Light(german::caumanns)
    }

    /// Stems the token.
    pub fn apply(self, term: &mut Term<'_>) {
        match self {
            Self::Snowball(snowball) => snowball.apply(term),
            Self::Light(stem) => term.rewrite(stem),
            Self::Krovetz => {
                if let Some(stem) = kstem::stem(term.as_str()) {
                    term.set(&stem);
                }
            }
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
