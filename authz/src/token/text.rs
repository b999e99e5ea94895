//! The text of a token: `PREFIX KIND _ 43 characters of base64url, 6 characters of checksum`.
//!
//! The prefix makes leaked tokens greppable; the checksum (the first 30 bits of SHA-256 over all
//! characters before it, in base32) lets junk be refused without a look-up.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest;

use crate::form::word;

/// What every token begins with.
pub const PREFIX: &str = "core_";

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
    let mut text = format!("{PREFIX}{}_{}", kind.as_str(), URL_SAFE_NO_PAD.encode(body));
    let check = checksum(&text);
    text.push_str(&check);
    text
}

/// Reads a token; `None` where the text is none.
pub fn read(text: &str) -> Option<TokenText> {
    if !text.is_ascii() || text.len() > 64 {
        return None;
    }
    let rest = text.strip_prefix(PREFIX)?;
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
