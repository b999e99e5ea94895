//! Krovetz's stemmer of English (`kstem`, `light_english`): an ending is taken off where a dictionary knows
//! what is left, and left alone where it does not know better.
//!
//! Always true
//! 1. Words of the dictionary stay as they are, but for those with a root of their own.
//! 2. Only words of 3 to 49 letters from `a` to `z` are looked at.
//! 3. The first ending that leads to a known word decides; later ones are not tried.

use std::sync::LazyLock;

/// The words of `data/english.words`, in order of bytes, each with what stands behind its tab.
static DICTIONARY: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| include_str!("data/english.words").lines().collect());

/// What the dictionary says of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// It is its own root.
    Itself,
    /// It is its own root, but `-ed` and `-ing` do not lead to it.
    Exception,
    /// Its root is another word.
    Root(&'static str),
}

fn look(word: &str) -> Option<Entry> {
    let key = |line: &&'static str| line.split_once('\t').map_or(*line, |(word, _)| word);
    let at = DICTIONARY.binary_search_by_key(&word.as_bytes(), |line| key(line).as_bytes()).ok()?;
    Some(match DICTIONARY[at].split_once('\t') {
        None => Entry::Itself,
        Some((_, "!")) => Entry::Exception,
        Some((_, root)) => Entry::Root(root),
    })
}

/// The stem of a word in lower case; `None` where it is the word itself.
pub(super) fn stem(word: &str) -> Option<String> {
    if word.len() < 3 || word.len() > 49 {
        return None;
    }
    match look(word) {
        Some(Entry::Root(root)) => return Some(root.to_owned()),
        Some(_) => return None,
        None => {}
    }
    if !word.bytes().all(|c| c.is_ascii_lowercase()) {
        return None;
    }
    let mut word = Word { text: word.to_owned(), found: None };
    for step in STEPS {
        step(&mut word);
        if word.found.is_some() {
            break;
        }
    }
    Some(match word.found {
        Some(Entry::Root(root)) => root.to_owned(),
        _ => word.text,
    })
}

/// The endings, in their order.
const STEPS: [fn(&mut Word); 17] =
    [plural, past, ing, ity, ness, ion, er_or, ly, al, ive, ize, ment, able, ism, ic, ency, ence];

/// A word on its way, and what the dictionary said of it last.
struct Word {
    text: String,
    found: Option<Entry>,
}

impl Word {
    /// How many letters stand before the ending, where the word is longer than it.
    fn before(&self, ending: &str) -> Option<usize> {
        let len = self.text.len();
        (len > ending.len() && self.text.ends_with(ending)).then(|| len - ending.len())
    }

    fn letter(&self, at: usize) -> u8 {
        self.text.as_bytes()[at]
    }

    /// Keeps the first letters, and puts an ending behind them.
    fn set(&mut self, len: usize, ending: &str) {
        self.text.truncate(len);
        self.text.push_str(ending);
    }

    fn look(&mut self) -> bool {
        self.found = look(&self.text);
        self.found.is_some()
    }

    /// Does the dictionary know the first letters with this ending?
    fn try_with(&mut self, len: usize, ending: &str) -> bool {
        self.set(len, ending);
        self.look()
    }

    /// As [`Self::try_with`], but exceptions do not count.
    fn try_strictly(&mut self, len: usize, ending: &str) -> bool {
        self.set(len, ending);
        self.found = look(&self.text).filter(|entry| *entry != Entry::Exception);
        self.found.is_some()
    }

    /// Tries to take one of two equal consonants off the end of the first `len` letters; where nothing is
    /// found, both are there again.
    fn try_single(&mut self, len: usize) -> bool {
        if !self.doubled(len) {
            return false;
        }
        let last = char::from(self.letter(len - 1));
        if self.try_with(len - 1, "") {
            return true;
        }
        self.text.push(last);
        false
    }

    /// Do the first `len` letters end in two equal consonants?
    fn doubled(&self, len: usize) -> bool {
        len >= 2 && self.letter(len - 1) == self.letter(len - 2) && self.consonant(len - 1)
    }

    /// `y` is a consonant at the beginning, and behind a vowel.
    fn consonant(&self, at: usize) -> bool {
        match self.letter(at) {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => {
                let ys =
                    self.text.as_bytes()[..at].iter().rev().take_while(|c| **c == b'y').count();
                let first = at - ys;
                // The first of a run of `y` decides; the others take turns.
                let begins = first == 0
                    || matches!(self.letter(first - 1), b'a' | b'e' | b'i' | b'o' | b'u');
                begins == ys.is_multiple_of(2)
            }
            _ => true,
        }
    }

    fn has_vowel(&self, len: usize) -> bool {
        (0..len).any(|at| !self.consonant(at))
    }

    fn ends_in(&self, len: usize, ending: &str) -> bool {
        self.text[..len].ends_with(ending)
    }
}

fn plural(word: &mut Word) {
    if !word.text.ends_with('s') {
        return;
    }
    if let Some(len) = word.before("ies") {
        if !word.try_with(len, "ie") {
            word.try_with(len, "y");
        }
    } else if let Some(len) = word.before("es") {
        // `crosses` should not become `crosse`.
        let with_e = len >= 2 && !word.ends_in(len, "ss");
        if (with_e && word.try_with(len, "e")) || word.try_with(len, "") {
            return;
        }
        word.set(len, "e");
        if !with_e {
            word.look();
        }
    } else {
        let len = word.text.len();
        if len > 3 && word.letter(len - 2) != b's' && word.before("ous").is_none() {
            word.try_with(len - 1, "");
        }
    }
}

fn past(word: &mut Word) {
    if word.text.len() <= 4 {
        return;
    }
    if let Some(len) = word.before("ied") {
        if !word.try_with(len, "ie") {
            word.try_with(len, "y");
        }
        return;
    }
    let Some(len) = word.before("ed").filter(|len| word.has_vowel(*len)) else { return };
    if word.try_strictly(len, "e") || word.try_with(len, "") || word.try_single(len) {
        return;
    }
    if word.doubled(len) {
        return;
    }
    // `un-` and what is not known: better left alone.
    let ending = if word.text.starts_with("un") { "ed" } else { "e" };
    word.set(len, ending);
}

fn ing(word: &mut Word) {
    if word.text.len() <= 5 {
        return;
    }
    let Some(len) = word.before("ing").filter(|len| word.has_vowel(*len)) else { return };
    if word.try_strictly(len, "e") || word.try_with(len, "") || word.try_single(len) {
        return;
    }
    if word.doubled(len) {
        return;
    }
    let bare = len >= 2 && word.consonant(len - 1) && word.consonant(len - 2);
    word.set(len, if bare { "" } else { "e" });
}

fn ity(word: &mut Word) {
    let Some(len) = word.before("ity") else { return };
    if word.try_with(len, "") || word.try_with(len, "e") {
        return;
    }
    word.set(len, "ity");
    // These endings are so common that nothing is asked.
    if len >= 2 && word.ends_in(len, "il") {
        word.try_with(len - 2, "le");
    } else if len >= 2 && word.ends_in(len, "iv") {
        word.try_with(len, "e");
    } else if (len >= 2 && word.ends_in(len, "al")) || !word.look() {
        word.try_with(len, "");
    }
}

fn ness(word: &mut Word) {
    let Some(len) = word.before("ness") else { return };
    if word.ends_in(len, "i") {
        word.try_with(len - 1, "y");
    } else {
        word.try_with(len, "");
    }
}

fn ion(word: &mut Word) {
    let Some(bare) = word.before("ion") else { return };
    if let Some(len) = word.before("ization") {
        word.try_with(len, "ize");
        return;
    }
    if let Some(len) = word.before("ition") {
        if word.try_with(len, "e") {
            return;
        }
        word.set(len, "ition");
    } else if let Some(len) = word.before("ation") {
        if word.try_with(len, "ate") || word.try_with(len, "e") || word.try_with(len, "") {
            return;
        }
        word.set(len, "ation");
    }
    if let Some(len) = word.before("ication") {
        if word.try_with(len, "y") {
            return;
        }
        word.set(len, "ication");
    }
    if !word.try_with(bare, "e") && !word.try_with(bare, "") {
        word.set(bare, "ion");
    }
}

fn er_or(word: &mut Word) {
    if let Some(len) = word.before("izer") {
        word.try_with(len, "ize");
        return;
    }
    let Some((len, ending)) = ["er", "or"].iter().find_map(|e| Some((word.before(e)?, *e))) else {
        return;
    };
    if word.try_single(len) {
        return;
    }
    let mut vowel = &ending[..1];
    if word.ends_in(len, "i") {
        if word.try_with(len - 1, "y") {
            return;
        }
        word.set(len - 1, "i");
        vowel = "e";
    }
    if word.ends_in(len, "e") {
        if word.try_with(len - 1, "") {
            return;
        }
        word.set(len - 1, "e");
    }
    if word.try_with(len, vowel) || word.try_with(len, "") || word.try_with(len, "e") {
        return;
    }
    word.set(len, ending);
}

fn ly(word: &mut Word) {
    let Some(len) = word.before("ly") else { return };
    if word.try_with(len, "le") || word.try_with(len, "") {
        return;
    }
    if word.ends_in(len, "al") && len >= 2 {
        return;
    }
    if word.ends_in(len, "ab") && len >= 2 {
        word.set(len, "le");
        return;
    }
    if word.ends_in(len, "i") {
        if word.try_with(len - 1, "y") {
            return;
        }
        word.set(len - 1, "i");
    }
    word.set(len, "");
}

fn al(word: &mut Word) {
    if word.text.len() < 4 {
        return;
    }
    let Some(len) = word.before("al") else { return };
    if word.try_with(len, "") || word.try_single(len) {
        return;
    }
    if word.try_with(len, "e") || word.try_with(len, "um") {
        return;
    }
    word.set(len, "al");
    if len >= 2 && word.ends_in(len, "ic") {
        if !word.try_with(len - 2, "") && !word.try_with(len - 2, "y") {
            word.try_with(len - 2, "ic");
        }
    } else if word.ends_in(len, "i") && !word.try_with(len - 1, "") {
        word.try_with(len - 1, "ial");
    }
}

fn ive(word: &mut Word) {
    let Some(len) = word.before("ive") else { return };
    if word.try_with(len, "") || word.try_with(len, "e") {
        return;
    }
    if len >= 2 && word.ends_in(len, "at") {
        if word.try_with(len - 2, "e") || word.try_with(len - 2, "") {
            return;
        }
        word.set(len - 2, "at");
    }
    if !word.try_with(len, "ion") {
        word.set(len, "ive");
    }
}

fn ize(word: &mut Word) {
    let Some(len) = word.before("ize") else { return };
    if word.try_with(len, "") || word.try_single(len) || word.try_with(len, "e") {
        return;
    }
    word.set(len, "ize");
}

fn ment(word: &mut Word) {
    let Some(len) = word.before("ment") else { return };
    if !word.try_with(len, "") {
        word.set(len, "ment");
    }
}

/// `-able` and `-ible`.
fn able(word: &mut Word) {
    let Some(len) = word.before("ble").map(|len| len - 1) else { return };
    let Some(ending) = ["able", "ible"].into_iter().find(|ending| word.text.ends_with(ending))
    else {
        return;
    };
    if word.try_with(len, "")
        || word.try_single(len)
        || word.try_with(len, "e")
        || word.try_with(len, "ate")
    {
        return;
    }
    word.set(len, ending);
}

fn ism(word: &mut Word) {
    if let Some(len) = word.before("ism") {
        word.try_with(len, "");
    }
}

fn ic(word: &mut Word) {
    let Some(len) = word.before("ic") else { return };
    if !["ical", "y", "e", ""].iter().any(|ending| word.try_with(len, ending)) {
        word.set(len, "ic");
    }
}

/// `-ency` and `-ancy`.
fn ency(word: &mut Word) {
    let Some(len) = word.before("ncy") else { return };
    if !word.ends_in(len, "e") && !word.ends_in(len, "a") {
        return;
    }
    if !word.try_with(len, "nt") {
        word.try_with(len, "nce");
    }
}

/// `-ence` and `-ance`.
fn ence(word: &mut Word) {
    let Some(len) = word.before("nce").map(|len| len - 1) else { return };
    let Some(ending) = ["ence", "ance"].into_iter().find(|ending| word.text.ends_with(ending))
    else {
        return;
    };
    if !word.try_with(len, "e") && !word.try_with(len, "") {
        word.set(len, ending);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionary_lies_in_order_of_bytes() {
        let words: Vec<&str> =
            DICTIONARY.iter().map(|line| line.split('\t').next().unwrap_or_default()).collect();
        assert!(words.windows(2).all(|pair| pair[0].as_bytes() < pair[1].as_bytes()));
        assert!(words.len() > 27_000);
    }

    #[test]
    fn endings_go_where_a_word_is_left() {
        for (word, stem) in [
            ("cities", "city"),
            ("houses", "house"),
            ("foxes", "fox"),
            ("running", "running"),
            ("italians", "italy"),
            ("x1s", "x1s"),
            ("as", "as"),
        ] {
            assert_eq!(super::stem(word).as_deref().unwrap_or(word), stem, "{word}");
        }
    }

    #[test]
    fn letters_of_any_kind_do_no_harm() {
        for word in ["", "s", "yyys", "ies", "ing", "ization", "ssssing", "éés", "yyyyed"] {
            super::stem(word);
        }
    }
}
