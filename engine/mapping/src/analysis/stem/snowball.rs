//! Snowball's stemmers, by two packages.
//!
//! Elasticsearch 8 has Snowball as it was in 2019. `rust-stemmers` holds a little older programs and
//! `snowball_stemmers_rs` those of 2025; between them every word list of 2019 is met but for two
//! languages, which [`french`] and [`lithuanian`] set right. `kp` alone differs, for some 0.5 % of words.

use rust_stemmers::Algorithm as Old;
use snowball_stemmers_rs::Algorithm as New;

use crate::analysis::filter::Term;

/// A language, or a program where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snowball {
    /// From the older package.
    Old(Old),
    /// From the newer one.
    New(New),
    /// German, where `ae` may stand for `ä`.
    German2,
    /// French.
    French,
    /// Lithuanian.
    Lithuanian,
}

impl Snowball {
    /// By the names of the `snowball` filter, as they are written or in lower case.
    pub fn of_snowball(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "arabic" => Self::Old(Old::Arabic),
            "armenian" => Self::New(New::Armenian),
            "basque" => Self::New(New::Basque),
            "catalan" => Self::New(New::Catalan),
            "danish" => Self::New(New::Danish),
            "dutch" => Self::Old(Old::Dutch),
            "english" | "porter2" => Self::Old(Old::English),
            "estonian" => Self::New(New::Estonian),
            "finnish" => Self::New(New::Finnish),
            "french" => Self::French,
            "german" => Self::Old(Old::German),
            "german2" => Self::German2,
            "hungarian" => Self::Old(Old::Hungarian),
            "irish" => Self::New(New::Irish),
            "italian" => Self::Old(Old::Italian),
            "kp" => Self::New(New::Dutch),
            "lithuanian" => Self::Lithuanian,
            "lovins" => Self::New(New::Lovins),
            "norwegian" => Self::Old(Old::Norwegian),
            "porter" => Self::New(New::Porter),
            "portuguese" => Self::Old(Old::Portuguese),
            "romanian" => Self::Old(Old::Romanian),
            "russian" => Self::New(New::Russian),
            "serbian" => Self::New(New::Serbian),
            "spanish" => Self::Old(Old::Spanish),
            "swedish" => Self::Old(Old::Swedish),
            "turkish" => Self::Old(Old::Turkish),
            _ => return None,
        })
    }

    /// Programs that neither filter names, for the word lists.
    pub fn of_list(name: &str) -> Option<Self> {
        Some(match name {
            "greek" => Self::Old(Old::Greek),
            "hindi" => Self::New(New::Hindi),
            "indonesian" => Self::New(New::Indonesian),
            name => return Self::of_snowball(name),
        })
    }

    /// By the names of the `stemmer` filter.
    pub(super) fn of_stemmer(name: &str) -> Option<Self> {
        match name {
            "armenian" | "basque" | "catalan" | "danish" | "dutch" | "estonian" | "finnish"
            | "french" | "german" | "german2" | "hungarian" | "irish" | "italian" | "kp"
            | "lithuanian" | "lovins" | "norwegian" | "porter2" | "portuguese" | "romanian"
            | "russian" | "serbian" | "spanish" | "swedish" | "turkish" => Self::of_snowball(name),
            "dutch_kp" | "dutchkp" => Self::of_snowball("kp"),
            _ => None,
        }
    }

    /// Stems the token.
    pub(super) fn apply(self, term: &mut Term<'_>) {
        let stem = self.stem(term.as_str());
        if stem != term.as_str() {
            term.set(&stem);
        }
    }

    /// The stem of a word in lower case.
    pub fn stem(self, word: &str) -> String {
        match self {
            Self::Old(language) => old(language, word),
            Self::New(language) => new(language, word),
            Self::German2 => old(Old::German, &umlauts(word)),
            Self::French => french(word),
            Self::Lithuanian => lithuanian(word),
        }
    }
}

fn old(language: Old, word: &str) -> String {
    rust_stemmers::Stemmer::create(language).stem(word).into_owned()
}

fn new(language: New, word: &str) -> String {
    snowball_stemmers_rs::Stemmer::create(language).stem(word).into_owned()
}

/// `ae oe ue` become umlauts, but not after `q`, nor where `u` stands between vowels.
fn umlauts(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    let vowel = |c: &char| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y' | 'ä' | 'ö' | 'ü');
    // Marking runs from left to right; a marked letter is no vowel for the next.
    let mut marked = vec![false; letters.len()];
    for at in 1..letters.len().saturating_sub(1) {
        marked[at] = matches!(letters[at], 'u' | 'y')
            && vowel(&letters[at - 1])
            && !marked[at - 1]
            && vowel(&letters[at + 1]);
    }
    let mut out = String::with_capacity(word.len());
    let mut at = 0;
    while at < letters.len() {
        let pair = (letters[at], letters.get(at + 1).copied().unwrap_or(' '));
        let (made, len) = match pair {
            ('ß', _) => ("ss", 1),
            ('a', 'e') => ("ä", 2),
            ('o', 'e') => ("ö", 2),
            ('u', 'e') if !marked[at] => ("ü", 2),
            ('q', 'u') => {
                // What follows is passed over, too.
                out.extend(&letters[at..letters.len().min(at + 3)]);
                at += 3;
                continue;
            }
            (c, _) => {
                out.push(c);
                at += 1;
                continue;
            }
        };
        out.push_str(made);
        at += len;
    }
    out
}

/// The older program does not know that `ï` and `ë` begin syllables; the newer one takes `ais` off.
fn french(word: &str) -> String {
    let newer = word.contains(['ï', 'ë']) && !word.ends_with("aise") && !word.ends_with("aises");
    if newer { new(New::French, word) } else { old(Old::French, word) }
}

/// The newer program no longer takes endings with `er` off, which the one of 2019 did.
fn lithuanian(word: &str) -> String {
    const ENDINGS: [&str; 9] =
        ["eriai", "eryje", "erimi", "erims", "eria", "erys", "erį", "erų", "ers"];
    let bare = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending));
    match bare.filter(|bare| bare.chars().count() >= first_region(word)) {
        // With another ending the `i` would go, too.
        Some(bare) if bare.ends_with('i') => bare.to_owned(),
        // Another ending in its place is taken off as that one was.
        Some(bare) => new(New::Lithuanian, &format!("{bare}as")),
        None => new(New::Lithuanian, word),
    }
}

/// Where endings may begin: behind the first consonant that follows a vowel, an `a` at the beginning
/// of a longer word not counted.
fn first_region(word: &str) -> usize {
    let letters: Vec<char> = word.chars().collect();
    let vowel = |c: &char| "aeiyouąęėįųūáéýíóúàè".contains(*c);
    let mut at = usize::from(letters.first() == Some(&'a') && letters.len() > 6);
    at += letters[at..].iter().position(vowel).map_or(letters.len(), |found| found + 1);
    let rest = letters.get(at..).unwrap_or_default();
    at + rest.iter().position(|c| !vowel(c)).map_or(letters.len(), |found| found + 1)
}
