//! The classic tokenizer: the grammar of Lucene's `ClassicTokenizer`, made for European text.
//!
//! At each place the longest of these is taken, the first where two are equally long: `<ALPHANUM>`,
//! `<APOSTROPHE>` (`O'Neil's`), `<ACRONYM>` (`U.S.A.`), `<COMPANY>` (`AT&T`), `<EMAIL>`, `<HOST>`,
//! `<NUM>` (segments between `_ - / . ,`, every other with a digit), `<CJ>` (one character). Longer tokens
//! than allowed are left out.

use std::sync::LazyLock;

use super::Piece;
use super::classes::TABLE;
use crate::analysis::regex::{Counted, Pattern, pattern};
use crate::analysis::room::{Flow, ON};
use crate::analysis::token::TokenKind;

/// Gives every token of `text`, in order, to `sink`, and how many before it were too long.
pub fn classic(text: &str, units_max: u32, mut sink: impl FnMut(Piece, u32) -> Flow) -> Flow {
    let (mut at, mut units, mut skipped) = (0, 0u32, 0);
    // Nothing before it begins a mail address: names end at the same place wherever one begins in them.
    let mut no_email = 0;
    while let Some(c) = text[at..].chars().next() {
        let Some((end, kind)) = longest(text, at, &mut no_email) else {
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
    c.is_ascii_digit() || (is_decimal(c) && !is_letter(c) && !is_cj(c))
}

/// A digit of decimal numbers: general category Nd, so no fraction and no letter that is a number.
fn is_decimal(c: char) -> bool {
    static SET: LazyLock<Option<Pattern>> = LazyLock::new(|| pattern(r"\p{Nd}", "").ok());
    if c.is_ascii() || !c.is_numeric() {
        return c.is_ascii_digit();
    }
    let mut buffer = [0; 4];
    SET.as_ref().is_some_and(|set| set.matches_whole_within(c.encode_utf8(&mut buffer), &Counted))
}

/// Length of the run of characters that belong.
fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    let len = text.find(|c| !belongs(c)).unwrap_or(text.len());
    #[cfg(test)]
    tests::LOOKED.set(tests::LOOKED.get() + len + 1);
    len
}

fn alphanum(text: &str) -> usize {
    run(text, |c| is_letter(c) || is_digit(c) || matches!(c, '\u{e00}'..='\u{e59}'))
}

/// Segments between single separators: where each begins and ends. What is not asked for is not looked at.
struct Segments<'t> {
    text: &'t str,
    separators: &'static [char],
    next: Option<usize>,
}

fn segments<'t>(text: &'t str, separators: &'static [char]) -> Segments<'t> {
    Segments { text, separators, next: Some(0) }
}

impl Iterator for Segments<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let start = self.next.take()?;
        let end = start + alphanum(&self.text[start..]);
        if end == start {
            return None;
        }
        let separator = self.text[end..].chars().next();
        let separator = separator.filter(|c| self.separators.contains(c));
        self.next = separator.map(|c| end + c.len_utf8());
        Some((start, end))
    }
}

/// The longest token at `at`: its length, and what it is.
fn longest(whole: &str, at: usize, no_email: &mut usize) -> Option<(usize, TokenKind)> {
    let text = &whole[at..];
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
    let dotted: Vec<_> = segments(text, &['.']).collect();
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
    if at >= *no_email {
        match email(text) {
            Ok(len) => offer(len, TokenKind::Email),
            Err(name) => *no_email = at + name,
        }
    }
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

/// Length of a mail address; where there is none, of what might have been its name.
fn email(text: &str) -> Result<usize, usize> {
    let end = segments(text, &['.', '-', '_']).last().map_or(0, |(_, end)| end);
    let host = text[end..].strip_prefix('@').ok_or(end)?;
    match segments(host, &['.', '-']).map(|(_, end)| end).enumerate().last() {
        Some((1.., last)) => Ok(end + 1 + last),
        _ => Err(end),
    }
}

fn number(text: &str) -> usize {
    let mut best = 0;
    for odd in [0, 1] {
        let good = segments(text, &['_', '-', '/', '.', ',']).enumerate();
        let good = good.take_while(|(at, (start, end))| {
            at % 2 != odd || text[*start..*end].chars().any(is_digit)
        });
        if let Some((1.., (_, end))) = good.last() {
            best = best.max(end);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Bytes that were looked at.
        pub(super) static LOOKED: Cell<usize> = const { Cell::new(0) };
    }

    /// Behind each short word a thousand others were looked at for the `@` of a mail address.
    #[test]
    fn what_is_looked_at_grows_with_the_text_and_no_more() {
        for part in
            ["a-", "a_b-", "a-1_B", "a.", "a/", "a'", "a-b@", "a&b@", "a,1,", "1-a_", "word-"]
        {
            let text = part.repeat(100_000 / part.len());
            LOOKED.set(0);
            assert!(classic(&text, 1 << 20, |_, _| ON).is_continue());
            let (looked, len) = (LOOKED.get(), text.len());
            assert!(looked <= 40 * len, "{part}: {looked} of {len}");
        }
    }

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
