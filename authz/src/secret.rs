//! Secrets: never printed, wiped when dropped, compared in time that does not depend on them.

use std::fmt;

use ring::hmac;
use zeroize::Zeroizing;

/// Text that must not be seen: a password, a token.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes `text` over; the caller keeps no copy.
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// SHA-256.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().try_into().expect("a SHA-256 has 32 bytes")
}

/// Whether two byte strings are equal, in time that tells nothing about where they differ.
pub fn is_equal(a: &[u8], b: &[u8]) -> bool {
    // Comparing tags under any key does it: `verify` is constant in time, and equal tags mean
    // equal messages.
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"compare");
    hmac::verify(&key, a, hmac::sign(&key, b).as_ref()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let secret = Secret::new("correct horse".into());
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        assert_eq!(secret.reveal(), "correct horse");
    }

    #[test]
    fn equality_is_equality() {
        assert!(is_equal(b"", b""));
        assert!(is_equal(b"abc", b"abc"));
        assert!(!is_equal(b"abc", b"abd"));
        assert!(!is_equal(b"abc", b"ab"));
    }
}
