//! The text of a token: `PREFIX KIND _ 43 characters of base64url, 6 characters of checksum`.
//!
//! The prefix makes leaked tokens greppable; the checksum (the first 30 bits of SHA-256 over all
//! characters before it, in base32) lets junk be refused without a look-up.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest;

use crate::form::word;

/// What every token begins with, where nobody said otherwise.
pub const PREFIX: &str = "core_";

/// May tokens begin so?
pub fn is_prefix(text: &str) -> bool {
    (1..=PREFIX_CHARACTERS_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

const PREFIX_CHARACTERS_MAX: usize = 16;

const KIND_CHARACTERS: usize = 2;
const BODY_CHARACTERS: usize = 43;
const CHECK_CHARACTERS: usize = 6;
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

word! {
    /// Kinds of tokens.
    pub enum Kind {
        /// Access token.
        Access = "at",
        /// Refresh token.
        Refresh = "rt",
        /// Authorization code.
        Code = "ac",
        /// Device code.
        Device = "dc",
        /// Client secret.
        Secret = "cs",
        /// Registration access token.
        Registration = "ra",
    }
}

/// A token's text, in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenText {
    /// Which kind.
    pub kind: Kind,
    /// What it carries.
    pub body: [u8; 32],
}

/// Writes a token.
pub fn write(kind: Kind, body: &[u8; 32]) -> String {
    write_as(PREFIX, kind, body)
}

/// Writes a token that begins with `prefix`.
pub fn write_as(prefix: &str, kind: Kind, body: &[u8; 32]) -> String {
    let mut text = format!("{prefix}{}_{}", kind.as_str(), URL_SAFE_NO_PAD.encode(body));
    let check = checksum(&text);
    text.push_str(&check);
    text
}

/// Reads a token; `None` where the text is none.
pub fn read(text: &str) -> Option<TokenText> {
    read_as(PREFIX, text)
}

/// Reads a token that begins with `prefix`.
pub fn read_as(prefix: &str, text: &str) -> Option<TokenText> {
    if !text.is_ascii() || text.len() > 128 {
        return None;
    }
    let rest = text.strip_prefix(prefix)?;
    let (kind, rest) = rest.split_once('_')?;
    let kind = Kind::of(kind)?;
    if rest.len() != BODY_CHARACTERS + CHECK_CHARACTERS {
        return None;
    }
    let (body, check) = rest.split_at(BODY_CHARACTERS);
    if checksum(&text[..text.len() - CHECK_CHARACTERS]) != check {
        return None;
    }
    let body = URL_SAFE_NO_PAD.decode(body).ok()?.try_into().ok()?;
    Some(TokenText { kind, body })
}

/// Checksums that are made for one text: some hundred microseconds.
const TRIED_MAX: usize = 512;

/// A text for logs: of each token in it, whatever it begins with, its kind and the first 8 bytes of its SHA-256 in hex,
/// by which whoever has the token finds it again.
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let (mut kept, mut from, mut tried) = (0, 0, 0);
    while let Some(found) = text.get(from..).and_then(|rest| rest.find('_')) {
        let at = from + found + 1;
        from = at;
        let end = at + BODY_CHARACTERS + CHECK_CHARACTERS;
        if !text.as_bytes().get(at..end).is_some_and(may_be_sealed) {
            continue;
        }
        let starts = kept.max(at.saturating_sub(PREFIX_CHARACTERS_MAX + KIND_CHARACTERS + 1))
            ..at.saturating_sub(KIND_CHARACTERS + 1);
        if tried > TRIED_MAX {
            // Nobody means anything by so many: what is left is not told.
            return Cow::Owned(masked + &text[kept..starts.start] + "…");
        }
        tried += starts.len();
        let is_token = |start: &usize| {
            let prefix = text.get(*start..at - KIND_CHARACTERS - 1);
            let token = text.get(*start..end);
            prefix.zip(token).is_some_and(|(prefix, token)| read_as(prefix, token).is_some())
        };
        if let Some(start) = starts.into_iter().find(is_token) {
            let hash = digest::digest(&digest::SHA256, &text.as_bytes()[start..end]);
            masked.push_str(&text[kept..at]);
            masked.push_str(&crate::form::hex(&hash.as_ref()[..8]));
            (kept, from) = (end, end);
        }
    }
    match kept {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(masked + &text[kept..]),
    }
}

/// Are these letters that body and checksum of a token may have? Whoever fills a line with what is none has no checksums
/// made for it.
fn may_be_sealed(bytes: &[u8]) -> bool {
    let (body, check) = bytes.split_at(BODY_CHARACTERS);
    body.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && check.iter().all(|byte| BASE32.contains(byte))
}

fn checksum(text: &str) -> String {
    let digest = digest::digest(&digest::SHA256, text.as_bytes());
    let first = digest.as_ref().first_chunk().expect("a SHA-256 has 32 bytes");
    let bits = u32::from_be_bytes(*first) >> 2;
    (0..CHECK_CHARACTERS)
        .map(|at| char::from(BASE32[(bits >> (25 - 5 * at)) as usize & 31]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_text_that_looks_like_a_thousand_tokens_the_rest_is_not_told() {
        let near = format!("aaaaaaaat_{}", "a".repeat(49)).repeat(300);
        let told = masked(&near);
        assert!(near.starts_with(told.trim_end_matches('…')) && told.ends_with('…'), "{told}");
        assert!(told.len() < near.len() / 2, "{}", told.len());
        let few = format!("aaaaaaaat_{}", "a".repeat(49)).repeat(20);
        assert_eq!(masked(&few), few);
    }

    #[test]
    fn a_token_is_read_as_it_was_written() {
        for kind in [Kind::Access, Kind::Refresh, Kind::Code, Kind::Device, Kind::Secret] {
            let text = write(kind, &[0xa5; 32]);
            assert_eq!(text.len(), PREFIX.len() + 3 + 49);
            assert_eq!(read(&text), Some(TokenText { kind, body: [0xa5; 32] }));
        }
    }

    #[test]
    fn tokens_of_another_prefix_are_junk() {
        let text = write_as("acme_", Kind::Access, &[1; 32]);
        assert!(text.starts_with("acme_at_") && read_as("acme_", &text).is_some());
        assert_eq!(read(&text), None);
        assert!(is_prefix("acme_") && !is_prefix("") && !is_prefix("a-b"));
    }

    #[test]
    fn a_token_in_a_text_is_masked_whatever_it_begins_with() {
        for prefix in [PREFIX, "acme", "x", "sixteen_letters_"] {
            let token = write_as(prefix, Kind::Refresh, &[0xfb; 32]);
            let hash = digest::digest(&digest::SHA256, token.as_bytes());
            let shown = format!("{prefix}rt_{}", crate::form::hex(&hash.as_ref()[..8]));
            for (before, after) in
                [("", ""), ("/_search/é_", "?a_b"), ("core_at_", "_"), ("__", "x")]
            {
                let once = format!("{before}{token}{after}");
                assert_eq!(masked(&once), format!("{before}{shown}{after}"));
                assert_eq!(masked(&once.repeat(2)), format!("{before}{shown}{after}").repeat(2));
            }
        }
        for plain in ["", "_", "a_b", "core_at_", "core_at_x", "é_é", &"_".repeat(200)] {
            assert_eq!(masked(plain), plain);
        }
    }

    #[test]
    fn any_changed_character_is_junk() {
        let text = write(Kind::Access, &[7; 32]);
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            assert_eq!(read(&changed), None, "{changed}");
        }
        for junk in ["", "core_at_", "core_at_x", &text[1..], &format!("{text}x"), "é"] {
            assert_eq!(read(junk), None, "{junk}");
        }
    }
}
