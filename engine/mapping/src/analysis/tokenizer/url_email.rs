//! `uax_url_email`: as the standard tokenizer, but that URLs and mail addresses are whole.

use super::addresses::{Address, Addresses};
use super::{Piece, standard};
use crate::analysis::room::{Flow, ON};
use crate::analysis::token::TokenKind;

/// Gives every token of `text`, in order, to `sink`.
pub fn url_email(text: &str, units_max: u32, mut sink: impl FnMut(Piece) -> Flow) -> Flow {
    let (mut at, mut units) = (0, 0u32);
    type Sink<'s> = &'s mut dyn FnMut(Piece) -> Flow;
    let between = |from: usize, to: usize, units: &mut u32, sink: Sink<'_>| {
        let start = *units;
        standard(&text[from..to], units_max, |piece| {
            sink(Piece {
                start: from + piece.start,
                end: from + piece.end,
                from: start + piece.from,
                to: start + piece.to,
                kind: piece.kind,
            })
        })?;
        *units += text[from..to].encode_utf16().count() as u32;
        ON
    };
    for Address { start, end, is_mail } in Addresses::of(text) {
        // In the middle of a word nothing begins; too long a token is cut as words are.
        let inside = text[..start].chars().next_back().is_some_and(char::is_alphanumeric);
        let len = text[start..end].encode_utf16().count() as u32;
        if inside || len > units_max {
            continue;
        }
        between(at, start, &mut units, &mut sink)?;
        let kind = if is_mail { TokenKind::Email } else { TokenKind::Url };
        sink(Piece { start, end, from: units, to: units + len, kind })?;
        units += len;
        at = end;
    }
    between(at, text.len(), &mut units, &mut sink)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stay_whole() {
        let text =
            "Mail john-doe@example.com or see https://x.org/a?b=c#d and www.example.de, e.g.";
        let mut found = Vec::new();
        let flow = url_email(text, 255, |piece| {
            found.push(format!("{} {}", &text[piece.start..piece.end], piece.kind.name()));
            ON
        });
        assert!(flow.is_continue());
        assert!(found.contains(&"john-doe@example.com <EMAIL>".to_owned()), "{found:?}");
        assert!(found.contains(&"https://x.org/a?b=c#d <URL>".to_owned()), "{found:?}");
        assert!(found.contains(&"www.example.de <URL>".to_owned()), "{found:?}");
        assert!(found.contains(&"see <ALPHANUM>".to_owned()), "{found:?}");
    }
}
