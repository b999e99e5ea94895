//! Arabic, Bengali, Hindi, Indonesian and Sorani: light stemmers.

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
    for suffix in SUFFIXES {
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
