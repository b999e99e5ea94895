//! What strangers wrote, inside sentences of ours: values and fields of a filter.
//!
//! Always true
//! 1. What is [plain](is_plain_value) holds nothing that could end the quotation marks around it, open a
//!    bracket, hide, or turn the direction of what follows; all else is shown as JSON. Which marks and words those
//!    are, each language has of its own.
//! 2. That JSON holds letters, digits and what a keyboard has: everything else is an escape.
//! 3. Of marks both hold those that words of a script need, on its letters: no accents by themselves, some of which
//!    look like quotation marks.
//! 4. Letters are those that Unicode lets names be made of (UTS #39, section 3.1): none of scripts of which a letter looks
//!    like a comma or a quotation mark. What is plain is of one script, or of those that are written together (section
//!    5.2, "highly restrictive"): no letter stands in for another one that looks like it.

use std::borrow::Cow;
use std::sync::LazyLock;

use json::Value;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;
use unicode_security::{
    GeneralSecurityProfile as _, RestrictionLevel, RestrictionLevelDetection as _,
};

use super::language::Language;
use super::marks;

/// Characters of what may stand in a sentence; longer ones push the rest out of sight.
const CHARACTERS_MAX: usize = 64;

/// Signs that a value in quotation marks may hold beside letters and digits.
const SIGNS: &str = "-_.,:;/@+#&%=!<>";

/// A value between the quotation marks of a language.
pub fn between(language: Language, value: &str) -> String {
    let [opening, closing] = language.say([['\u{201c}', '\u{201d}'], ['\u{201e}', '\u{201c}']]);
    format!("{opening}{}{closing}", isolated(value))
}

/// Signs that look like quotation marks where they stand together: `,,` like `„`, `>>` and `<<` like the other marks of
/// German.
const DOUBLE: [&[&str]; 2] = [&[], &[",,", "<<", ">>"]];

/// Words that join others, compare, or turn what they say round.
const ENGLISH_JOINTS: &[&str] = &[
    "and", "or", "not", "is", "has", "least", "most", "above", "below", "yes", "no", "none",
    "nobody", "nothing", "empty", "but", "except", "never", "neither", "under", "over", "less",
    "more", "than", "else",
];
const GERMAN_JOINTS: &[&str] = &[
    "und",
    "oder",
    "nicht",
    "ist",
    "hat",
    "kein",
    "keine",
    "keiner",
    "keinen",
    "keines",
    "weder",
    "noch",
    "sowie",
    "außer",
    "ausser",
    "ohne",
    "größer",
    "grösser",
    "kleiner",
    "höchstens",
    "mindestens",
    "als",
    "ja",
    "nein",
    "leer",
    "nichts",
    "niemand",
    "gilt",
    "aber",
    "nie",
    "niemals",
    "keinem",
    "maximal",
    "minimal",
    "unter",
    "über",
    "bis",
    "mehr",
    "weniger",
    "sonst",
];

/// May a value stand in a sentence, between the quotation marks of this language?
pub fn is_plain_value(language: Language, text: &str) -> bool {
    let chars: Vec<char> = text.chars().take(CHARACTERS_MAX + 1).collect();
    let is_letter =
        |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| is_calm(*c));
    let is_fine = |(at, c): (usize, &char)| match c {
        // Two of either look like something else, or like nothing.
        ' ' => at > 0 && chars.get(at + 1).is_some_and(|next| *next != ' '),
        '\'' => is_letter(at.checked_sub(1)) && is_letter(Some(at + 1)),
        c => is_calm(*c) || SIGNS.contains(*c) || is_mark(*c),
    };
    chars.len() <= CHARACTERS_MAX
        && chars.iter().enumerate().all(is_fine)
        && has_calm_marks(text)
        && is_of_one_script(text)
        && !language.say(DOUBLE).iter().any(|double| text.contains(double))
}

/// May a field stand in a sentence of this language, as a word among others?
pub fn is_plain_field(language: Language, name: &str) -> bool {
    let is_fine = |c: char| is_calm(c) || is_mark(c) || "_.-@".contains(c);
    // A number would be compared with; what is long is not looked at.
    name.chars().take(CHARACTERS_MAX + 1).count() <= CHARACTERS_MAX
        && name.contains(char::is_alphabetic)
        && has_calm_marks(name)
        && is_of_one_script(name)
        && name.chars().all(is_fine)
        && !name.split('.').any(str::is_empty)
        && !name.split(['-', '_', '.']).any(|part| is_joint(language, part))
}

/// Is it a word that joins others, in whatever case and with whatever accents, or looks like one? Whoever reads German
/// knows the English ones.
fn is_joint(language: Language, name: &str) -> bool {
    static JOINTS: LazyLock<[Vec<String>; 2]> = LazyLock::new(|| {
        [ENGLISH_JOINTS, GERMAN_JOINTS].map(|joints| joints.iter().map(|it| seen(it)).collect())
    });
    let [english, german] = &*JOINTS;
    let name = seen(name);
    english.contains(&name) || (language == Language::German && german.contains(&name))
}

/// A word as the eye takes it: no case, no accents, letters that look alike made one.
fn seen(word: &str) -> String {
    let bare: String = word.nfkd().filter(|c| !is_combining_mark(*c)).collect();
    skeleton(&bare.to_lowercase()).collect::<String>().to_lowercase()
}

/// Are its letters of one script, or of several that are written together?
fn is_of_one_script(text: &str) -> bool {
    let is_letter = |c: &char| c.is_alphanumeric() || is_combining_mark(*c);
    let letters: String = text.chars().filter(is_letter).collect();
    letters.as_str().check_restriction_level(RestrictionLevel::HighlyRestrictive)
}

/// A field or a pattern of fields in a list: as it is where it is plain, else as a text of JSON.
pub fn field(language: Language, name: &str) -> String {
    match is_plain_field(language, name.replace('*', "x").as_str()) {
        true => isolated(name).into_owned(),
        false => technical(&Value::String(name.to_owned())),
    }
}

/// Plain text that keeps its direction to itself.
pub fn isolated(text: &str) -> Cow<'_, str> {
    match text.contains(is_leftward) {
        true => Cow::Owned(format!("\u{2068}{text}\u{2069}")),
        false => Cow::Borrowed(text),
    }
}

/// JSON in which nothing is hidden and nothing turns.
pub fn technical(value: &Value) -> String {
    let text = json::to_string(value);
    let mut shown = String::with_capacity(text.len());
    let may_mark = has_calm_marks(&text);
    let mut before = None;
    for c in text.chars() {
        // Of several spaces a page shows one.
        let is_open = c.is_ascii_graphic() || (c == ' ' && before != Some(' '));
        if is_open || ((is_calm(c) || (may_mark && is_mark(c))) && !is_leftward(c)) {
            shown.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        }
        before = Some(c);
    }
    shown
}

/// Is this a character that changes others, is not seen at all, or is no character: what Unicode calls ignorable by
/// default, blanks that are no spaces, stand-ins for what is missing or stands elsewhere, controls of layout, what is
/// for private use, and what will never be a character?
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || u32::from(c) & 0xfffe == 0xfffe
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{303e}' | '\u{303f}' | '\u{3164}'
            | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{ffff}' | '\u{13430}'..='\u{13442}' | '\u{16fe4}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
}

/// A letter or digit that is seen, and is no quotation mark by its looks.
fn is_calm(c: char) -> bool {
    let is_quotation_mark = matches!(
        c,
        '\u{2b0}'
            ..='\u{2ff}'
                | '\u{374}'
                | '\u{37a}'
                | '\u{559}'
                | '\u{7f4}'
                | '\u{7f5}'
                | '\u{a78b}'
                | '\u{a78c}'
    );
    // Digits of other scripts look like other digits of ours.
    (c.is_alphabetic() || c.is_ascii_digit())
        && !is_combining_mark(c)
        && !is_unseen(c)
        && !is_quotation_mark
        && c.identifier_allowed()
}

/// A mark of one script's own, without which a word is another.
fn is_mark(c: char) -> bool {
    is_combining_mark(c) && !is_unseen(c) && !marks::is_slight(c)
}

/// Does each such mark stand on a letter beyond ASCII, with no more of them than words need?
fn has_calm_marks(text: &str) -> bool {
    let mut may_follow = false;
    for c in text.chars() {
        if is_mark(c) && !may_follow {
            return false;
        }
        may_follow = is_mark(c) || (is_calm(c) && !c.is_ascii());
    }
    marks::are_bounded(text)
}

/// A letter of a script that runs to the left.
fn is_leftward(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::language::Language::{English, German};

    #[test]
    fn values_that_could_speak_for_us_are_not_plain() {
        let words = ["हिन्दी", "ที่นี่", "தமிழ்", "မြို့", "বাংলা"];
        let texts = ["", "acme", "O'Brien & Sons", "2026-01-01T00:00:00Z", "müller", "北京", "a<b"];
        for text in texts.into_iter().chain(words) {
            assert!(is_plain_value(English, text), "{text}");
        }
        for text in [
            "x”) and (k is “a",
            "x\" or \"y",
            "x)",
            "a[1]",
            "a\u{202e}b",
            "a\u{200b}b",
            "a\nb",
            "a  b",
            " a",
            "a ",
            "x'' or k is ''a",
            "xˮ or k is ˮa",
            "\u{3164}",
            "x\u{315}\u{315}",
            "x\u{e4a}",
            "\u{e34}",
            "ด \u{e34}",
            "ด\u{e49}\u{e49}",
            &"x".repeat(CHARACTERS_MAX + 1),
        ] {
            assert!(!is_plain_value(English, text), "{text:?}");
        }
    }

    /// Letters that look like quotation marks and commas ended a value: the filter that was told kept back what the one
    /// that was granted let through. And a letter of another script stood for the one that it looks like.
    #[test]
    fn letters_that_look_like_something_else_are_not_plain() {
        for text in [
            "geheim\u{1426} oder abteilung ist \u{a4f9}\u{a4f9}intern",
            "geheim\u{16cc}\u{16cc} or abteilung is \u{16cc}\u{16cc}intern",
            "geheim\u{144a}\u{144a}",
            "geheim\u{ff9e}",
            "geheim\u{1d35}\u{1d35}",
            "geheim\u{5d9}\u{5d9} or k is \u{5d9}\u{5d9}intern",
            "g\u{435}heim",
            "1\u{966}\u{966}",
            "acme*",
        ] {
            for language in Language::ALL {
                assert!(!is_plain_value(language, text), "{text:?}");
                let shown = technical(&Value::from(text));
                assert!(shown.is_ascii() || text.contains(['\u{5d9}', '\u{435}']), "{shown}");
            }
        }
        for text in ["Müller 北京", "kafka カード", "Ελλάδα", "Москва", "한국 abc", "naïve"]
        {
            assert!(is_plain_value(English, text) && is_plain_value(German, text), "{text}");
        }
        for (name, is_english, is_german) in [
            ("\u{43e}der", false, false),
            ("n\u{43e}t", false, false),
            ("Nót", false, false),
            ("n\u{131}cht", true, false),
            ("nícht", true, false),
            ("\u{131}s", false, false),
            ("ausser", true, false),
            ("below", false, false),
            ("höchstens", true, false),
            ("hochstens", true, false),
            ("nichts", true, false),
            ("none", false, false),
            ("5", false, false),
            ("1.5", false, false),
            ("n1", true, true),
            ("notes", true, true),
            ("orders", true, true),
            ("island", true, true),
        ] {
            assert_eq!(is_plain_field(English, name), is_english, "{name}");
            assert_eq!(is_plain_field(German, name), is_german, "{name}");
        }
    }

    /// An object's place and half a space were names of applications.
    #[test]
    fn what_is_not_seen_or_stands_for_something_else_is_known() {
        // Unicode's Default_Ignorable_Code_Point.
        let ignorable = [
            0xad..=0xad,
            0x34f..=0x34f,
            0x61c..=0x61c,
            0x115f..=0x1160,
            0x17b4..=0x17b5,
            0x180b..=0x180f,
            0x200b..=0x200f,
            0x202a..=0x202e,
            0x2060..=0x206f,
            0x3164..=0x3164,
            0xfe00..=0xfe0f,
            0xfeff..=0xfeff,
            0xffa0..=0xffa0,
            0xfff0..=0xfff8,
            0x1_bca0..=0x1_bca3,
            0x1_d173..=0x1_d17a,
            0xe_0000..=0xe_0fff,
        ];
        let specials =
            [0xfff9..=0xffff, 0xfdd0..=0xfdef, 0x1_fffe..=0x1_ffff, 0x10_fffe..=0x10_ffff];
        let others = [0x2800..=0x2800, 0x303e..=0x303f, 0xe000..=0xf8ff, 0xf_0000..=0x10_ffff];
        for code in ignorable.into_iter().chain(specials).chain(others).flatten() {
            let c = char::from_u32(code).expect("no surrogate");
            assert!(is_unseen(c), "{code:x}");
        }
        for c in
            "a ß 北 あ \u{3000} é \u{301} ∞ ☕ 😀 \u{ac00} \u{fe10} \u{13000} \u{1f1e9}".chars()
        {
            assert!(!is_unseen(c), "{c:?}");
        }
    }

    #[test]
    fn fields_are_one_word() {
        for name in ["a", "customer.name", "@timestamp", "größe", "ที่อยู่"] {
            assert!(is_plain_field(English, name), "{name}");
        }
        for name in ["", "a b", "a”", "a)", "not", "Not", "OR", "a,b", "a\u{202e}", &"x".repeat(65)]
        {
            assert!(!is_plain_field(English, name), "{name:?}");
        }
        assert_eq!(field(English, "k*"), "k*");
        assert_eq!(field(English, "k, and nothing else"), "\"k, and nothing else\"");
    }

    /// What imitates the marks and the joining words of one language means nothing in another.
    #[test]
    fn each_language_guards_its_own_marks_and_words() {
        for text in [
            "x“ oder k ist „a",
            "x” oder k ist ”a",
            "x\u{201f} oder k ist \u{201e}a",
            "x‟",
            "x» oder k ist «a",
            "x› oder k ist ‹a",
            "x‚",
            "x‘ oder",
            "x<< oder k ist >>a",
            "x, oder k ist ,,a",
            "x'' oder k ist ''a",
            "x\" oder k ist \"a",
            "xˮ oder k ist ˮa",
            "x) und (k ist",
        ] {
            assert!(!is_plain_value(German, text), "{text}");
        }
        for text in ["acme", "müller, söhne & co.", "O'Brien", "a<b", "x oder y", "größer als 3"]
        {
            assert!(is_plain_value(German, text), "{text}");
        }
        for name in ["und", "oder", "nicht", "ist", "ODER", "Nicht", "ｕｎｄ", "not", "OR", "außer"]
        {
            assert!(!is_plain_field(German, name), "{name}");
            assert!(field(German, name).starts_with('"'), "{name}");
        }
        for name in ["kunde", "istwert", "Straße", "größe"] {
            assert!(is_plain_field(German, name), "{name}");
        }
        assert_eq!(between(German, "a"), "\u{201e}a\u{201c}");
        assert_eq!(between(English, "a"), "\u{201c}a\u{201d}");
    }

    #[test]
    fn json_is_shown_without_anything_that_turns_or_hides() {
        let value = json::parse("{\"a\u{202e}”\":\"é  \u{5d0}\u{1f600}\"}".as_bytes());
        let shown = technical(&value.expect("JSON"));
        assert_eq!(shown, r#"{"a\u202e\u201d":"é \u0020\u05d0\ud83d\ude00"}"#);
        assert_eq!(json::parse(shown.as_bytes()).map(|value| technical(&value)).ok(), Some(shown));
        let word = Value::from("(दिन) ที่");
        assert_eq!(technical(&word), "\"(दिन) ที่\"");
        let pile = Value::from("दि\u{93f}");
        assert_eq!(technical(&pile), r#""द\u093f\u093f""#);
        assert_eq!(isolated("\u{5d0}b"), "\u{2068}\u{5d0}b\u{2069}");
        assert_eq!(isolated("ab"), "ab");
    }
}
