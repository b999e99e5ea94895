//! Words against the rules as they are told, UAX #29 as another crate and Unicode's own test read it.

use super::*;
use unicode_segmentation::UnicodeSegmentation as _;

fn pieces(text: &str, units_max: u32) -> Vec<(String, TokenKind)> {
    let mut found = Vec::new();
    let mut units = 0;
    let flow = standard(text, units_max, |piece| {
        let before = &text[..piece.start];
        assert_eq!(piece.from as usize, before.encode_utf16().count(), "{text:?}");
        assert!(piece.from >= units && piece.to > piece.from);
        assert!(piece.to - piece.from <= units_max);
        units = piece.to;
        found.push((text[piece.start..piece.end].to_owned(), piece.kind));
        ON
    });
    assert!(flow.is_continue());
    found
}

fn words(text: &str) -> Vec<String> {
    pieces(text, 255).into_iter().map(|(word, _)| word).collect()
}

#[test]
fn signs_inside_words_join_or_part_as_elasticsearch_shows() {
    for (text, want) in [
        ("can't 3.14 foo_bar", vec!["can't", "3.14", "foo_bar"]),
        ("U.S.A. 1,000 3,4.5 don\u{2019}t", vec!["U.S.A", "1,000", "3,4.5", "don\u{2019}t"]),
        ("e.g x:y _x", vec!["e.g", "x:y", "_x"]),
        ("AT&T a@b.com C++ #tag", vec!["AT", "T", "a", "b.com", "C", "tag"]),
        ("brown-foxes a/b", vec!["brown", "foxes", "a", "b"]),
        ("1:2 a,b 1.a a.1 x..y", vec!["1", "2", "a", "b", "1", "a", "a", "1", "x", "y"]),
        ("___ _ _1_", vec!["_1_"]),
        ("'quoted' o''neil", vec!["quoted", "o", "neil"]),
    ] {
        assert_eq!(words(text), want, "{text}");
    }
}

#[test]
fn kinds_follow_the_script() {
    use TokenKind::*;
    for (text, want) in [
        ("2", Num),
        ("2a", Alphanum),
        ("漢", Ideographic),
        ("ひ", Hiragana),
        ("カタカナ", Katakana),
        ("ｶﾀｶﾅ", Katakana),
        ("한국어", Hangul),
        ("ภาษาไทย", SoutheastAsian),
        ("👩‍👩‍👧‍👦", Emoji),
        ("👍🏽", Emoji),
        ("🇩🇪", Emoji),
        ("1️⃣", Emoji),
        ("ℹ", Emoji),
    ] {
        assert_eq!(pieces(text, 255), [(text.to_owned(), want)]);
    }
    assert_eq!(words("漢字 ひらがな"), ["漢", "字", "ひ", "ら", "が", "な"]);
}

#[test]
fn long_words_are_cut_and_go_on() {
    let text = format!("{} b", "a".repeat(600));
    let lens: Vec<usize> = words(&text).iter().map(String::len).collect();
    assert_eq!(lens, [255, 255, 90, 1]);
    assert_eq!(
        pieces("abcdefg 12", 3).iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(),
        ["abc", "def", "g", "12"]
    );
    // A character of two units does not stand on the border.
    assert_eq!(words(&"𝒳".repeat(130))[0].chars().count(), 127);
}

#[test]
fn long_runs_that_begin_nothing_cost_no_more_than_their_length() {
    for run in ["_", "\u{200d}", "\u{203f}", "\u{301}"] {
        let text = run.repeat(1_000_000);
        assert_eq!(words(&text), Vec::<String>::new());
        let text = format!("{text}a");
        assert_eq!(words(&text).last().map(|word| word.ends_with('a')), Some(true));
    }
}

/// Cuts that the version of Unicode or Lucene's own rules make otherwise are left out: colons, and
/// what is no letter, digit or `_` in both.
#[test]
fn words_of_plain_scripts_are_those_of_uax_29() {
    proptest::proptest!(|(text in "[a-zA-Z0-9_'., éßжшλ\u{301}-]{0,40}")| {
        let want: Vec<&str> = text
            .unicode_words()
            .filter(|word| word.chars().any(|c| c.is_alphanumeric()))
            .collect();
        proptest::prop_assert_eq!(words(&text), want);
    });
}

#[test]
fn hostile_text_never_panics_and_never_overlaps() {
    proptest::proptest!(|(text: String, max in 1u32..40)| { pieces(&text, max); });
}

/// With the data kit at hand: no token has a border where the published test sees none.
#[test]
fn borders_are_borders_of_the_published_test() {
    let Ok(kit) = std::env::var("CORELODE_KIT") else { return };
    let path = format!("{kit}/data/unicode-breaks/WordBreakTest.txt.zst");
    let Ok(packed) = std::fs::read(&path) else { return };
    let text = zstd::decode_all(packed.as_slice()).expect("the kit is whole");
    let text = String::from_utf8(text).expect("the kit is UTF-8");
    let (mut cases, mut others) = (0, Vec::new());
    for line in text.lines().filter(|line| line.starts_with('÷')) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let (mut sample, mut borders) = (String::new(), Vec::new());
        for mark in line.split_whitespace() {
            match mark {
                "÷" => borders.push(sample.len()),
                "×" => {}
                code => {
                    let code = u32::from_str_radix(code, 16).expect("a code point");
                    sample.push(char::from_u32(code).expect("a scalar value"));
                }
            }
        }
        cases += 1;
        let flow = standard(&sample, 255, |piece| {
            if !borders.contains(&piece.start) || !borders.contains(&piece.end) {
                others.push(line.to_owned());
            }
            ON
        });
        assert!(flow.is_continue());
    }
    assert!(cases > 1_800, "{cases} cases");
    others.dedup();
    // Lucene ends the word at the joiner, and the pictograph is a token of its own.
    assert_eq!(others, ["÷ 0061 × 200D × 1F6D1 ÷", "÷ 0061 × 200D × 2701 ÷"]);
}
