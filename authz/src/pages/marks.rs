//! Marks: what stands on a letter, over or under it, and is none by itself. Names in many scripts need them, as vowels,
//! tones and points; piled up they cover the lines around, and alone they stand on what the page wrote before.
//!
//! Always true
//! 1. What is [bounded] stays near its own line: of Unicode's UTS #39, section 5.4, no mark twice in a row and a bound
//!    for a row of them, which is what the longest syllables take, here of Burmese and of pointed Hebrew.
//! 2. Text is composed (NFC) before it is asked about: a letter that has its mark in it has none here.

use unicode_normalization::char::is_combining_mark;

/// Marks in a row at most.
const ROW_MAX: usize = 6;

/// Of those so many may be of no script's own.
const LOOSE_MAX: usize = 2;

/// Are there no more marks on any letter than names and words need?
pub fn are_bounded(text: &str) -> bool {
    let (mut row_count, mut loose_count, mut before) = (0, 0, None);
    for c in text.chars() {
        if !is_combining_mark(c) {
            (row_count, loose_count, before) = (0, 0, None);
            continue;
        }
        row_count += 1;
        loose_count += usize::from(is_loose(c));
        if row_count > ROW_MAX || loose_count > LOOSE_MAX || before == Some(c) {
            return false;
        }
        before = Some(c);
    }
    true
}

/// Does each of them stand on something: none at the beginning, none behind a blank?
pub fn stand_on_letters(text: &str) -> bool {
    let mut is_blank = true;
    for c in text.chars() {
        if is_blank && is_combining_mark(c) {
            return false;
        }
        is_blank = c.is_whitespace();
    }
    true
}

/// Do words stay the same words without it? So it is of accents, and of points that scripts without vowels may leave
/// out; vowels and tones of other scripts tell one word from another.
pub fn is_slight(c: char) -> bool {
    is_loose(c)
        || matches!(c, '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
            | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
            | '\u{6df}'..='\u{6e4}' | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}' | '\u{711}'
            | '\u{730}'..='\u{74a}' | '\u{8ca}'..='\u{8e1}' | '\u{8e3}'..='\u{8ff}' | '\u{3099}' | '\u{309a}')
}

/// A mark of no script in particular, which goes on any letter.
fn is_loose(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{302a}'..='\u{302f}' | '\u{fe20}'..='\u{fe2f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::UnicodeNormalization;

    /// Words that people write: Hindi, Bengali, Tamil, Malayalam, Thai, Lao, Khmer, Tibetan, Burmese, pointed Hebrew and
    /// Arabic, Vietnamese, Yoruba, Japanese.
    const WORDS: &str = "हिन्दी ज़िन्दगी বাংলা தமிழ் മലയാളം ที่นี่ น้ำ ກໍ່ ភាសាខ្មែរ བསྒྲུབས ཧཱུྃ လျှို့ဝှက် \
        မြို့ שָׁלוֹם שַׁבָּת מֻחַמַּד مُحَمَّدٌ ٱللَّٰه Tiếng Việt ọ̀rọ̀ ハ゜ガ";

    #[test]
    fn words_have_no_more_marks_than_there_may_be() {
        for word in WORDS.split_whitespace() {
            for text in [word.to_owned(), word.nfc().collect()] {
                assert!(are_bounded(&text), "{text}");
                assert!(stand_on_letters(&text), "{text}");
            }
        }
    }

    #[test]
    fn piles_are_known() {
        for text in [
            "a\u{316}\u{301}\u{323}",
            "a\u{301}\u{301}",
            "a\u{489}\u{489}",
            "x \u{e14}\u{e49}\u{e49}",
            "\u{e14}\u{e34}\u{e49}\u{e35}\u{e48}\u{e36}\u{e4a}\u{e37}",
            "\u{5d0}\u{5b0}\u{5b1}\u{5b2}\u{5b3}\u{5b4}\u{5b5}\u{5b6}",
        ] {
            assert!(!are_bounded(text), "{text}");
        }
        for text in ["\u{301}a", "a \u{301}b", "\u{5b0}", "a\u{a0}\u{e34}"] {
            assert!(!stand_on_letters(text), "{text}");
        }
    }

    #[test]
    fn only_marks_are_slight() {
        for c in ('\0'..=char::MAX).filter(|c| is_slight(*c)) {
            // Unicode keeps some places among them free.
            let is_free = matches!(c, '\u{1ab0}'..='\u{1aff}' | '\u{20d0}'..='\u{20ff}');
            assert!(is_combining_mark(c) || is_free, "{:x}", u32::from(c));
        }
        for c in "\u{94d}\u{93f}\u{e48}\u{e34}\u{f71}\u{102d}".chars() {
            assert!(is_combining_mark(c) && !is_slight(c), "{:x}", u32::from(c));
        }
    }
}
