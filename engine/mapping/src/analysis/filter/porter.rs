//! Porter's stemmer of 1980, as Lucene's `PorterStemFilter` runs it.
//!
//! The steps are those of M. F. Porter, "An algorithm for suffix stripping", Program 14 (3), 1980,
//! with the two departures that its author's own programs make: `bli` (not `abli`) becomes `ble`,
//! and `logi` becomes `log`. Words of one or two characters stay. Characters beyond ASCII count as
//! consonants; such words are worked on as `char`s, all others as bytes.

use super::Term;

/// Stems the token.
pub(super) fn stem(term: &mut Term<'_>) {
    let text = term.as_str();
    if text.is_ascii() {
        if text.len() > 2 {
            let text = term.to_mut();
            let mut word = std::mem::take(text).into_bytes();
            Stemmer { word: &mut word, stem: 0 }.run();
            *text = String::from_utf8(word).expect("suffixes of ASCII give way to ASCII");
        }
        return;
    }
    let mut word: Vec<char> = text.chars().collect();
    // Lucene counts UTF-16 units here.
    if text.encode_utf16().nth(2).is_some() {
        Stemmer { word: &mut word, stem: 0 }.run();
        let text = term.to_mut();
        text.clear();
        text.extend(word);
    }
}

struct Stemmer<'a, L> {
    word: &'a mut Vec<L>,
    /// Length of the part before the suffix that was last asked for.
    stem: usize,
}

impl<L: Copy + PartialEq + From<u8> + Into<u32>> Stemmer<'_, L> {
    fn run(mut self) {
        self.plurals_and_participles();
        self.y_to_i();
        self.double_suffixes();
        self.single_suffixes();
        self.bare_suffixes();
        self.final_e_and_ll();
    }

    fn is(&self, at: usize, letter: u8) -> bool {
        self.word[at] == L::from(letter)
    }

    /// Is the letter a consonant, where `before` tells whether the letter before it is one?
    fn consonant_after(&self, at: usize, before: bool) -> bool {
        if self.is(at, b'y') {
            return at == 0 || !before;
        }
        !b"aeiou".iter().any(|vowel| self.is(at, *vowel))
    }

    /// Is the letter a consonant? Runs of `y` alternate, so they are walked from their beginning.
    fn consonant(&self, at: usize) -> bool {
        let first = (0..=at).rev().find(|at| !self.is(*at, b'y')).unwrap_or(0);
        (first..=at).fold(false, |before, at| self.consonant_after(at, before))
    }

    /// Number of vowel-consonant sequences in the stem.
    fn measure(&self) -> usize {
        let (mut count, mut before) = (0, true);
        for at in 0..self.stem {
            let consonant = self.consonant_after(at, before);
            count += usize::from(consonant && !before);
            before = consonant;
        }
        count
    }

    fn vowel_in_stem(&self) -> bool {
        let mut before = true;
        (0..self.stem).any(|at| {
            before = self.consonant_after(at, before);
            !before
        })
    }

    fn double_consonant(&self, end: usize) -> bool {
        end >= 2 && self.word[end - 1] == self.word[end - 2] && self.consonant(end - 1)
    }

    /// Consonant, vowel, consonant before `end`, the last not `w`, `x` or `y`: `hop`, not `snow`.
    fn short(&self, end: usize) -> bool {
        end >= 3
            && self.consonant(end - 1)
            && !self.consonant(end - 2)
            && self.consonant(end - 3)
            && !b"wxy".iter().any(|letter| self.is(end - 1, *letter))
    }

    /// Does the word end so? Then the stem is what stands before.
    fn ends(&mut self, suffix: &str) -> bool {
        let suffix = suffix.as_bytes();
        let Some(stem) = self.word.len().checked_sub(suffix.len()) else { return false };
        let fits = self.word[stem..].iter().zip(suffix).all(|(a, b)| *a == L::from(*b));
        if fits {
            self.stem = stem;
        }
        fits
    }

    fn set(&mut self, suffix: &str) {
        self.word.truncate(self.stem);
        self.word.extend(suffix.bytes().map(L::from));
    }

    /// The letter before the last one, by which suffixes are looked up; 0 beyond ASCII.
    fn last_but_one(&self) -> u8 {
        let Some(at) = self.word.len().checked_sub(2) else { return 0 };
        u8::try_from(self.word[at].into()).unwrap_or(0)
    }

    /// Replaces the first of these suffixes that is there, where the stem has a measure.
    fn replace(&mut self, rules: &[(&str, &str)]) {
        for (suffix, by) in rules {
            if self.ends(suffix) {
                if self.measure() > 0 {
                    self.set(by);
                }
                return;
            }
        }
    }

    /// Steps 1a and 1b: `caresses` → `caress`, `ponies` → `poni`, `matting` → `mat`.
    fn plurals_and_participles(&mut self) {
        let len = self.word.len();
        if self.is(len - 1, b's') {
            if self.ends("sses") || self.ends("ies") {
                self.word.truncate(len - 2);
            } else if !self.is(len - 2, b's') {
                self.word.truncate(len - 1);
            }
        }
        if self.ends("eed") {
            if self.measure() > 0 {
                self.word.pop();
            }
        } else if (self.ends("ed") || self.ends("ing")) && self.vowel_in_stem() {
            self.word.truncate(self.stem);
            let len = self.word.len();
            if self.ends("at") || self.ends("bl") || self.ends("iz") {
                self.word.push(L::from(b'e'));
            } else if self.double_consonant(len) {
                if !b"lsz".iter().any(|letter| self.is(len - 1, *letter)) {
                    self.word.pop();
                }
            } else {
                self.stem = len;
                if self.measure() == 1 && self.short(len) {
                    self.word.push(L::from(b'e'));
                }
            }
        }
    }

    /// Step 1c.
    fn y_to_i(&mut self) {
        if self.ends("y") && self.vowel_in_stem() {
            self.set("i");
        }
    }

    /// Step 2.
    fn double_suffixes(&mut self) {
        let rules: &[(&str, &str)] = match self.last_but_one() {
            b'a' => &[("ational", "ate"), ("tional", "tion")],
            b'c' => &[("enci", "ence"), ("anci", "ance")],
            b'e' => &[("izer", "ize")],
            b'l' => {
                &[("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")]
            }
            b'o' => &[("ization", "ize"), ("ation", "ate"), ("ator", "ate")],
            b's' => &[("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")],
            b't' => &[("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")],
            b'g' => &[("logi", "log")],
            _ => return,
        };
        self.replace(rules);
    }

    /// Step 3.
    fn single_suffixes(&mut self) {
        let Some(last) = self.word.last().copied() else { return };
        let rules: &[(&str, &str)] = match b"eils".iter().find(|letter| last == L::from(**letter)) {
            Some(b'e') => &[("icate", "ic"), ("ative", ""), ("alize", "al")],
            Some(b'i') => &[("iciti", "ic")],
            Some(b'l') => &[("ical", "ic"), ("ful", "")],
            Some(b's') => &[("ness", "")],
            _ => return,
        };
        self.replace(rules);
    }

    /// Step 4.
    fn bare_suffixes(&mut self) {
        let suffixes: &[&str] = match self.last_but_one() {
            b'a' => &["al"],
            b'c' => &["ance", "ence"],
            b'e' => &["er"],
            b'i' => &["ic"],
            b'l' => &["able", "ible"],
            b'n' => &["ant", "ement", "ment", "ent"],
            b'o' => &["ion", "ou"],
            b's' => &["ism"],
            b't' => &["ate", "iti"],
            b'u' => &["ous"],
            b'v' => &["ive"],
            b'z' => &["ize"],
            _ => return,
        };
        let Some(found) = suffixes.iter().find(|suffix| self.ends(suffix)) else { return };
        let after = |letter| self.stem > 0 && self.is(self.stem - 1, letter);
        if *found == "ion" && !after(b's') && !after(b't') {
            return;
        }
        if self.measure() > 1 {
            self.word.truncate(self.stem);
        }
    }

    /// Step 5.
    fn final_e_and_ll(&mut self) {
        let len = self.word.len();
        if self.is(len - 1, b'e') {
            self.stem = len - 1;
            let measure = self.measure();
            if measure > 1 || (measure == 1 && !self.short(len - 1)) {
                self.word.pop();
            }
        }
        let len = self.word.len();
        if self.is(len - 1, b'l') && self.double_consonant(len) {
            // Lucene measures up to the last letter, the doubled one included.
            self.stem = len - 1;
            if self.measure() > 1 {
                self.word.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stemmed(text: &str) -> String {
        let mut buffer = String::new();
        let mut term = Term::new(text, &mut buffer);
        stem(&mut term);
        term.as_str().to_owned()
    }

    #[test]
    fn the_papers_examples() {
        for (word, want) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("ties", "ti"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("bled", "bled"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("vietnamization", "vietnam"),
            ("triplicate", "triplic"),
            ("electrical", "electr"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("cease", "ceas"),
            ("controll", "control"),
            ("roll", "roll"),
            ("is", "is"),
            ("generalizations", "gener"),
            ("naïvely", "naïv"),
            ("yyyyyyy", "yyyyyyi"),
        ] {
            assert_eq!(stemmed(word), want, "{word}");
        }
    }

    #[test]
    fn long_runs_of_y_end_soon() {
        assert_eq!(stemmed(&"y".repeat(255)).len(), 255);
    }
}
