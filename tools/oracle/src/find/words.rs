//! What analyzers make of the few pieces of text that questions are made of.
//!
//! Each piece is written down with its tokens, so that no analyzer is needed to know them.

use super::{Read, skip};

/// A piece without spaces; its tokens under `standard`, lower case, with what `english` makes of each
/// (empty: a stop word).
pub type Piece = (&'static str, &'static [(&'static str, &'static str)]);

/// All pieces that texts are made of.
pub const PIECES: &[Piece] = &[
    ("quick", &[("quick", "quick")]),
    ("brown", &[("brown", "brown")]),
    ("fox", &[("fox", "fox")]),
    ("foxes", &[("foxes", "fox")]),
    ("jumps", &[("jumps", "jump")]),
    ("jumping", &[("jumping", "jump")]),
    ("jumped", &[("jumped", "jump")]),
    ("lazy", &[("lazy", "lazi")]),
    ("dog", &[("dog", "dog")]),
    ("dogs", &[("dogs", "dog")]),
    ("the", &[("the", "")]),
    ("and", &[("and", "")]),
    ("is", &[("is", "")]),
    ("running", &[("running", "run")]),
    ("runs", &[("runs", "run")]),
    ("cities", &[("cities", "citi")]),
    ("city", &[("city", "citi")]),
    ("happily", &[("happily", "happili")]),
    ("wi-fi", &[("wi", "wi"), ("fi", "fi")]),
    ("fox's", &[("fox's", "fox")]),
    ("o'neil", &[("o'neil", "o'neil")]),
    ("3.14", &[("3.14", "3.14")]),
    ("42", &[("42", "42")]),
    ("snake_case", &[("snake_case", "snake_cas")]),
    ("über", &[("über", "über")]),
    ("東京", &[("東", "東"), ("京", "京")]),
    ("(red)", &[("red", "red")]),
    ("green,", &[("green", "green")]),
    ("blue", &[("blue", "blue")]),
    ("&", &[]),
];

/// Pieces that keywords are made of, where a sub-field of theirs is text.
const MORE: &[Piece] = &[
    ("red", &[("red", "red")]),
    ("green", &[("green", "green")]),
    ("blues", &[("blues", "blue")]),
    ("teal", &[("teal", "teal")]),
    ("navy", &[("navy", "navi")]),
    ("navyblue", &[("navyblue", "navyblu")]),
    ("white", &[("white", "white")]),
    ("a", &[("a", "")]),
    ("b", &[("b", "b")]),
    ("none", &[("none", "none")]),
    ("rubbish", &[("rubbish", "rubbish")]),
];

/// The begin of a mark: a word that stands at one place of one document alone.
pub const MARK: &str = "zq";

/// A mark is a token as it stands.
fn is_mark(piece: &str) -> bool {
    piece.starts_with(MARK) && piece.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Nothing stands behind the last token of a text: more letters would belong to it.
pub fn ends_in_word(analyzer: &str, text: &str) -> bool {
    if !matches!(analyzer, "standard" | "english") {
        return true;
    }
    let Some(last) = text.split_whitespace().next_back() else { return false };
    let lower = last.to_lowercase();
    let known = PIECES.iter().chain(MORE).find(|(name, _)| *name == lower);
    let parts = known.map_or(&[][..], |(_, parts)| parts);
    let is_left_out = analyzer == "english" && parts.last().is_some_and(|part| part.1.is_empty());
    !is_left_out && last.ends_with(char::is_alphanumeric)
}

/// A token and its place.
pub type Token = (String, i64);

/// Tokens of one text, and the place where the next text of the field goes on (less the gap).
pub fn analyze(analyzer: &str, text: &str) -> Read<(Vec<Token>, i64)> {
    let mut tokens = Vec::new();
    let mut place = -1;
    if analyzer == "keyword" {
        return Ok((vec![(text.to_owned(), 0)], 0));
    }
    for piece in text.split_whitespace() {
        if analyzer == "whitespace" {
            place += 1;
            tokens.push((piece.to_owned(), place));
            continue;
        }
        let lower = piece.to_lowercase();
        if is_mark(&lower) {
            place += 1;
            tokens.push((lower, place));
            continue;
        }
        let Some((_, parts)) = PIECES.iter().chain(MORE).find(|(name, _)| *name == lower) else {
            return skip(format!("an unknown piece of text [{piece}]"));
        };
        for (standard, english) in *parts {
            place += 1;
            match analyzer {
                "standard" => tokens.push(((*standard).to_owned(), place)),
                "english" if english.is_empty() => {}
                "english" => tokens.push(((*english).to_owned(), place)),
                other => return skip(format!("an unknown analyzer [{other}]")),
            }
        }
    }
    Ok((tokens, place))
}
