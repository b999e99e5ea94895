//! The text of a token: `PREFIX KIND _ 43 characters of base64url, 6 characters of checksum`.
//!
//! The prefix makes leaked tokens greppable; the checksum (the first 30 bits of SHA-256 over all
//! characters before it, in base32) lets junk be refused without a look-up.

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
