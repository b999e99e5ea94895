//! `uax_url_email`: as the standard tokenizer, but that URLs and mail addresses are whole.
//!
//! A URL begins with `http`, `https`, `ftp` or `file`, or is a host whose last part is a country's or one
//! of the oldest domains, with what follows it. Lucene knows every domain of a certain day instead.

use std::sync::LazyLock;

use super::{Piece, standard};
use crate::analysis::regex::Pattern;
use crate::analysis::room::{Flow, ON};
use crate::analysis::token::TokenKind;

/// Mail addresses in the first group, URLs in the second.
static WHOLE: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    let label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
    let domain = "(?:[A-Za-z]{2}|com|org|net|edu|gov|mil|int|info|biz|name|pro|aero|coop|museum|jobs|mobi|travel|cat|tel|asia|post|xxx|arpa|local|localhost|app|dev|blog|shop|site|online|cloud)";
    let tail = "(?::[0-9]+)?(?:/[A-Za-z0-9$_.+!*'(),;:@&=~%/-]*)?(?:\\?[A-Za-z0-9$_.+!*'(),;:@&=~%/?-]*)?(?:#[A-Za-z0-9$_.+!*'(),;:@&=~%/?-]*)?";
    let mail = format!(
        "[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~-]+(?:\\.[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~-]+)*@(?:{label}\\.)+[A-Za-z]{{2,}}"
    );
    let scheme = format!(
        "(?:[hH][tT][tT][pP][sS]?|[fF][tT][pP]|[fF][iI][lL][eE])://(?:[A-Za-z0-9._%-]+(?::[^@/\\s]*)?@)?(?:{label})(?:\\.{label})*{tail}"
    );
    let bare = format!("(?:{label}\\.)+{domain}(?![A-Za-z0-9@-]){tail}");
    crate::analysis::regex::pattern(&format!("({mail})|((?:{scheme})|(?:{bare}))"), "").ok()
});

/// Gives every token of `text`, in order, to `sink`.
pub fn url_email(text: &str, units_max: u32, mut sink: impl FnMut(Piece) -> Flow) -> Flow {
    let (mut at, mut units, mut flow) = (0, 0u32, ON);
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
    if let Some(pattern) = WHOLE.as_ref() {
        pattern.each(text, |spans| {
            let Some((start, end)) = spans[0] else { return false };
            // In the middle of a word nothing begins; too long a token is cut as words are.
            let inside = text[..start].chars().next_back().is_some_and(char::is_alphanumeric);
            let len = text[start..end].encode_utf16().count() as u32;
            if inside || len > units_max || start < at {
                return true;
            }
            flow = between(at, start, &mut units, &mut sink);
            if flow.is_continue() {
                let kind = if spans[1].is_some() { TokenKind::Email } else { TokenKind::Url };
                flow = sink(Piece { start, end, from: units, to: units + len, kind });
            }
            units += len;
            at = end;
            flow.is_continue()
        });
    }
    flow?;
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
