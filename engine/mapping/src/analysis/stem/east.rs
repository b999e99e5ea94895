//! Arabic, Bengali, Hindi, Indonesian, Persian and Sorani: light stemmers.

use super::{ends, starts, strip};

/// Arabic: the article and the commonest suffixes.
pub(super) fn arabic(word: &mut Vec<char>) {
    const PREFIXES: &[&str] = &[
        "\u{627}\u{644}",
        "\u{648}\u{627}\u{644}",
        "\u{628}\u{627}\u{644}",
        "\u{643}\u{627}\u{644}",
        "\u{641}\u{627}\u{644}",
        "\u{644}\u{644}",
        "\u{648}",
    ];
    const SUFFIXES: &[&str] = &[
        "\u{647}\u{627}",
        "\u{627}\u{646}",
        "\u{627}\u{62a}",
        "\u{648}\u{646}",
        "\u{64a}\u{646}",
        "\u{64a}\u{647}",
        "\u{64a}\u{629}",
        "\u{647}",
        "\u{629}",
        "\u{64a}",
    ];
    for prefix in PREFIXES {
        let len = prefix.chars().count();
        // The bare conjunction needs three letters behind it, the others two.
        let rest = if len == 1 { 3 } else { 2 };
        if word.len() >= len + rest && starts(word, prefix) {
            word.drain(..len);
            break;
        }
    }
    strip_each(word, SUFFIXES);
}

/// Persian: the commonest suffixes, each where at least two letters are left.
pub(super) fn persian(word: &mut Vec<char>) {
    const SUFFIXES: &[&str] = &[
        "\u{627}\u{62a}",
        "\u{627}\u{646}",
        "\u{62a}\u{631}\u{64a}\u{646}",
        "\u{62a}\u{631}",
        "\u{64a}\u{64a}",
        "\u{64a}",
        "\u{647}\u{627}",
        "\u{200c}",
    ];
    strip_each(word, SUFFIXES);
}

/// Takes each of the suffixes off, one after the other, where at least two letters are left.
fn strip_each(word: &mut Vec<char>, suffixes: &[&str]) {
    for suffix in suffixes {
        let len = suffix.chars().count();
        if word.len() >= len + 2 && ends(word, suffix) {
            let len = word.len() - len;
            word.truncate(len);
        }
    }
}

/// Hindi: "A Lightweight Stemmer for Hindi" (Ramanathan and Rao).
pub(super) fn hindi(word: &mut Vec<char>) {
    const FIVE: &[&str] = &["ाएंगी", "ाएंगे", "ाऊंगी", "ाऊंगा", "ाइयाँ", "ाइयों"];
    const FIVE_MORE: &[&str] = &["ाइयां"];
    const FOUR: &[&str] = &[
        "ाएगी",
        "ाएगा",
        "ाओगी",
        "ाओगे",
        "एंगी",
        "ेंगी",
        "एंगे",
        "ेंगे",
        "ूंगी",
        "ूंगा",
        "ातीं",
        "नाओं",
        "नाएं",
        "ताओं",
        "ताएं",
        "ियाँ",
        "ियों",
        "ियां",
    ];
    const THREE: &[&str] = &[
        "ाकर",
        "ाइए",
        "ाईं",
        "ाया",
        "ेगी",
        "ेगा",
        "ोगी",
        "ोगे",
        "ाने",
        "ाना",
        "ाते",
        "ाती",
        "ाता",
        "तीं",
        "ाओं",
        "ाएं",
        "ुओं",
        "ुएं",
        "ुआं",
    ];
    const TWO: &[&str] =
        &["कर", "ाओ", "िए", "ाई", "ाए", "ने", "नी", "ना", "ते", "ीं", "ती", "ता", "ाँ", "ां", "ों", "ें"];
    const ONE: &[&str] = &["ो", "े", "ू", "ु", "ी", "ि"];
    let len = word.len();
    if len > 6 && (strip(word, FIVE) || strip(word, FIVE_MORE)) {
        return;
    }
    if len > 5 && strip(word, FOUR) {
        return;
    }
    if len > 4 && strip(word, THREE) {
        return;
    }
    if len > 3 && strip(word, TWO) {
        return;
    }
    if len > 2 && !strip(word, ONE) {
        strip(word, &["ा"]);
    }
}

/// Bengali: endings by length, the longest first; so many letters must stay.
pub(super) fn bengali(word: &mut Vec<char>) {
    const ENDINGS: [(usize, &[&str]); 8] = [
        (9, &["িয়াছিলাম", "িতেছিলাম", "িতেছিলেন", "ইতেছিলেন", "িয়াছিলেন", "ইয়াছিলেন"]),
        (8, &["িতেছিলি", "িতেছিলে", "িয়াছিলা", "িয়াছিলে", "িতেছিলা", "িয়াছিলি", "য়েদেরকে"]),
        (7, &["িতেছিস", "িতেছেন", "িয়াছিস", "িয়াছেন", "েছিলাম", "েছিলেন", "েদেরকে"]),
        (
            6,
            &[
                "িতেছি",
                "িতেছা",
                "িতেছে",
                "ছিলাম",
                "ছিলেন",
                "িয়াছি",
                "িয়াছা",
                "িয়াছে",
                "েছিলে",
                "েছিলা",
                "য়েদের",
                "দেরকে",
            ],
        ),
        (
            5,
            &[
                "িলাম",
                "িলেন",
                "িতাম",
                "িতেন",
                "িবেন",
                "ছিলি",
                "ছিলে",
                "ছিলা",
                "তেছে",
                "িতেছ",
                "খানা",
                "খানি",
                "গুলো",
                "গুলি",
                "য়েরা",
                "েদের",
            ],
        ),
        (
            4,
            &[
                "লাম",
                "িলি",
                "ইলি",
                "িলে",
                "ইলে",
                "লেন",
                "িলা",
                "ইলা",
                "তাম",
                "িতি",
                "ইতি",
                "িতে",
                "ইতে",
                "তেন",
                "িতা",
                "িবা",
                "ইবা",
                "িবি",
                "ইবি",
                "বেন",
                "িবে",
                "ইবে",
                "ছেন",
                "য়োন",
                "য়ের",
                "েরা",
                "দের",
            ],
        ),
        (
            3,
            &[
                "িস", "েন", "লি", "লে", "লা", "তি", "তে", "তা", "বি", "বে", "বা", "ছি", "ছা", "ছে",
                "ুন", "ুক", "টা", "টি", "নি", "ের", "রা", "কে",
            ],
        ),
        (2, &["ি", "ী", "া", "ো", "ে", "ব", "ত"]),
    ];
    let len = word.len();
    for (longer_than, endings) in ENDINGS {
        // An ending counts as long as its group says, whatever letters it is written with.
        let cut = longer_than - 1;
        if len > longer_than && endings.iter().any(|ending| ends(word, ending)) {
            word.truncate(len - cut);
            return;
        }
    }
}

/// Sorani: postpositions, possessives, then one ending of the noun.
pub(super) fn sorani(word: &mut Vec<char>) {
    let cut = |word: &mut Vec<char>, longer_than: usize, ending: &str, count: usize| {
        let fits = word.len() > longer_than && ends(word, ending);
        if fits {
            word.truncate(word.len() - count);
        }
        fits
    };
    let _ = cut(word, 5, "دا", 2) || cut(word, 4, "نا", 1) || cut(word, 6, "ەوە", 3);
    let _ = ["مان", "یان", "تان"].iter().any(|ending| cut(word, 6, ending, 3));
    const NOUNS: [(usize, &str, usize); 18] = [
        (6, "ێکی", 3),
        (7, "یەکی", 4),
        (5, "ێک", 2),
        (6, "یەک", 3),
        (6, "ەکە", 3),
        (5, "کە", 2),
        (7, "ەکان", 4),
        (6, "کان", 3),
        (7, "یانی", 4),
        (6, "انی", 3),
        (6, "یان", 3),
        (5, "ان", 2),
        (7, "یانە", 4),
        (6, "انە", 3),
        (5, "ایە", 2),
        (5, "ەیە", 2),
        (4, "ە", 1),
        (4, "ی", 1),
    ];
    let _ =
        NOUNS.iter().any(|(longer_than, ending, count)| cut(word, *longer_than, ending, *count));
}

/// Indonesian (Tala, "A study of stemming effects on information retrieval in Bahasa Indonesia").
pub(super) fn indonesian(word: &mut Vec<char>) {
    let mut syllables = word.iter().filter(|c| is_vowel(**c)).count();
    if syllables > 2 && strip(word, &["kah", "lah", "pun"]) {
        syllables -= 1;
    }
    if syllables > 2 && strip(word, &["ku", "mu", "nya"]) {
        syllables -= 1;
    }
    let mut first = None;
    if syllables > 2 {
        first = first_prefix(word);
        syllables -= usize::from(first.is_some());
    }
    let mut second = None;
    if first.is_some() {
        if syllables > 2 && indonesian_suffix(word, first, second) {
            syllables -= 1;
            if syllables > 2 {
                second_prefix(word);
            }
        }
        return;
    }
    if syllables > 2 {
        second = second_prefix(word);
        syllables -= usize::from(second.is_some());
    }
    if syllables > 2 {
        indonesian_suffix(word, first, second);
    }
}

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u')
}

/// Prefixes, in families.
#[derive(Clone, Copy, PartialEq)]
enum Prefix {
    Meng,
    Peng,
    Di,
    Ter,
    Ke,
    Ber,
    Per,
    Pe,
}

/// Takes a prefix of the first order off: `meny` and `peny` leave `s` before a vowel, `pen` leaves `t`.
fn first_prefix(word: &mut Vec<char>) -> Option<Prefix> {
    const PREFIXES: [(&str, Prefix, Option<char>); 14] = [
        ("meng", Prefix::Meng, None),
        ("meny", Prefix::Meng, Some('s')),
        ("men", Prefix::Meng, None),
        ("mem", Prefix::Meng, None),
        ("me", Prefix::Meng, None),
        ("peng", Prefix::Peng, None),
        ("peny", Prefix::Peng, Some('s')),
        ("peny", Prefix::Peng, None),
        ("pen", Prefix::Peng, Some('t')),
        ("pen", Prefix::Peng, None),
        ("pem", Prefix::Peng, None),
        ("di", Prefix::Di, None),
        ("ter", Prefix::Ter, None),
        ("ke", Prefix::Ke, None),
    ];
    for (prefix, family, with) in PREFIXES {
        let len = prefix.len();
        let before_vowel = word.get(len).is_some_and(|c| is_vowel(*c));
        if !starts(word, prefix) || (with.is_some() && !before_vowel) {
            continue;
        }
        word.splice(..len, with);
        return Some(family);
    }
    None
}

fn second_prefix(word: &mut Vec<char>) -> Option<Prefix> {
    let is = |word: &[char], text: &str| word.iter().copied().eq(text.chars());
    if starts(word, "ber") || is(word, "belajar") {
        word.drain(..3);
        return Some(Prefix::Ber);
    }
    if starts(word, "be")
        && word.len() > 4
        && !is_vowel(word[2])
        && word[3] == 'e'
        && word[4] == 'r'
    {
        word.drain(..2);
        return Some(Prefix::Ber);
    }
    if starts(word, "per") || is(word, "pelajar") {
        word.drain(..3);
        return Some(Prefix::Per);
    }
    if starts(word, "pe") {
        word.drain(..2);
        return Some(Prefix::Pe);
    }
    None
}

/// Takes a suffix off, where the prefixes taken allow it.
fn indonesian_suffix(word: &mut Vec<char>, first: Option<Prefix>, second: Option<Prefix>) -> bool {
    let none = |prefixes: &[Prefix]| {
        [first, second].into_iter().flatten().all(|prefix| !prefixes.contains(&prefix))
    };
    if none(&[Prefix::Ke, Prefix::Peng, Prefix::Pe]) && strip(word, &["kan"]) {
        return true;
    }
    if none(&[Prefix::Di, Prefix::Meng, Prefix::Ter]) && strip(word, &["an"]) {
        return true;
    }
    !ends(word, "si") && none(&[Prefix::Ber, Prefix::Ke, Prefix::Peng]) && strip(word, &["i"])
}
