//! The classic tokenizer: the grammar of Lucene's `ClassicTokenizer`, made for European text.
//!
//! At each place the longest of these is taken, the first where two are equally long: `<ALPHANUM>`,
//! `<APOSTROPHE>` (`O'Neil's`), `<ACRONYM>` (`U.S.A.`), `<COMPANY>` (`AT&T`), `<EMAIL>`, `<HOST>`,
//! `<NUM>` (segments between `_ - / . ,`, every other with a digit), `<CJ>` (one character). Longer tokens
//! than allowed are left out.

use super::Piece;
use super::classes::TABLE;
use crate::analysis::room::{Flow, ON};
use crate::analysis::token::TokenKind;

/// Gives every token of `text`, in order, to `sink`, and how many before it were too long.
pub fn classic(text: &str, units_max: u32, mut sink: impl FnMut(Piece, u32) -> Flow) -> Flow {
    let (mut at, mut units, mut skipped) = (0, 0u32, 0);
    while let Some(c) = text[at..].chars().next() {
        let Some((end, kind)) = longest(&text[at..]) else {
            at += c.len_utf8();
            units += c.len_utf16() as u32;
            continue;
        };
        let len = text[at..at + end].encode_utf16().count() as u32;
        // An acronym of several letters a part is a host, without its last dot.
        let cut = u32::from(kind == TokenKind::Host && text[..at + end].ends_with('.'));
        if len <= units_max {
            let (end, to) = (at + end - cut as usize, units + len - cut);
            sink(Piece { start: at, end, from: units, to, kind }, std::mem::take(&mut skipped))?;
        } else {
            skipped += 1;
        }
        at += end;
        units += len;
    }
    ON
}

fn is_cj(c: char) -> bool {
    matches!(c as u32, 0x3100..=0x312f | 0x3040..=0x30ff | 0x31f0..=0x31ff | 0x3300..=0x337f
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0xff65..=0xff9f)
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || (!c.is_ascii() && TABLE.is_letter(c) && !is_cj(c))
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || (!c.is_ascii() && c.is_numeric() && !is_letter(c) && !is_cj(c))
}

/// Length of the run of characters that belong.
fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

fn alphanum(text: &str) -> usize {
    run(text, |c| is_letter(c) || is_digit(c) || matches!(c, '\u{e00}'..='\u{e59}'))
}

/// Segments between single separators: where each begins and ends.
fn segments(text: &str, separators: &[char]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    // Enough for any token that may be given.
    while found.len() < 1024 {
        let len = alphanum(&text[at..]);
        if len == 0 {
            break;
        }
        found.push((at, at + len));
        at += len;
        match text[at..].chars().next() {
            Some(c) if separators.contains(&c) => at += c.len_utf8(),
            _ => break,
        }
    }
    found
}

fn longest(text: &str) -> Option<(usize, TokenKind)> {
    let first = text.chars().next()?;
    if is_cj(first) {
        return Some((first.len_utf8(), TokenKind::Cj));
    }
    let plain = alphanum(text);
    if plain == 0 {
        return None;
    }
    let mut best = (plain, TokenKind::Alphanum);
    let mut offer = |len: usize, kind: TokenKind| {
        if len > best.0 {
            best = (len, kind);
        }
    };
    let letters = run(text, is_letter);
    offer(apostrophe(text, letters), TokenKind::Apostrophe);
    let dotted = segments(text, &['.']);
    // Letters with a dot each; the last dot counts.
    let singles = dotted.iter().take_while(|(start, end)| {
        let part = &text[*start..*end];
        part.chars().count() == 1 && part.chars().all(is_letter) && text[*end..].starts_with('.')
    });
    let singles = singles.count();
    if singles >= 2 {
        offer(dotted[singles - 1].1 + 1, TokenKind::Acronym);
    }
    if letters > 0 && text[letters..].starts_with(['&', '@']) {
        let after = run(&text[letters + 1..], is_letter);
        if after > 0 {
            offer(letters + 1 + after, TokenKind::Company);
        }
    }
    offer(email(text), TokenKind::Email);
    if let [_, .., (_, end)] = dotted.as_slice() {
        offer(*end, TokenKind::Host);
    }
    offer(number(text), TokenKind::Num);
    if let [_, .., (_, end)] = dotted.as_slice()
        && text[*end..].starts_with('.')
    {
        offer(end + 1, TokenKind::Host);
    }
    Some(best)
}

fn apostrophe(text: &str, letters: usize) -> usize {
    let mut end = letters;
    while letters > 0 && text[end..].starts_with('\'') {
        let after = run(&text[end + 1..], is_letter);
        if after == 0 {
            break;
        }
        end += 1 + after;
    }
    end
}

fn email(text: &str) -> usize {
    let name = segments(text, &['.', '-', '_']);
    let Some((_, end)) = name.last() else { return 0 };
    let Some(host) = text[*end..].strip_prefix('@') else { return 0 };
    match segments(host, &['.', '-']).as_slice() {
        [_, .., (_, last)] => end + 1 + last,
        _ => 0,
    }
}

fn number(text: &str) -> usize {
    let parts = segments(text, &['_', '-', '/', '.', ',']);
    let mut best = 0;
    for odd in [0, 1] {
        let good = parts.iter().enumerate().take_while(|(at, (start, end))| {
            at % 2 != odd || text[*start..*end].chars().any(is_digit)
        });
        let count = good.count();
        if count >= 2 {
            best = best.max(parts[count - 1].1);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rule_wins() {
        let mut found = Vec::new();
        let text = "O'Neil's U.S.A. AT&T a.b@c-d.org www.x.com 1-2-3 C3PO/x 日本 x.yz.";
        let flow = classic(text, 255, |piece, _| {
            found.push(format!("{} {}", &text[piece.start..piece.end], piece.kind.name()));
            ON
        });
        assert!(flow.is_continue());
        let want = [
            "O'Neil's <APOSTROPHE>",
            "U.S.A. <ACRONYM>",
            "AT&T <COMPANY>",
            "a.b@c-d.org <EMAIL>",
            "www.x.com <HOST>",
            "1-2-3 <NUM>",
            "C3PO/x <NUM>",
            "日 <CJ>",
            "本 <CJ>",
            "x.yz <HOST>",
        ];
        assert_eq!(found, want);
    }
}
