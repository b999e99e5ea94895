//! Passwords: made, hashed with Argon2id, verified.
//!
//! Always true
//! 1. What is kept is a PHC string, `$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH` (salt of 16 bytes,
//!    hash of 32, base64 without padding): 19 MiB and two passes, as OWASP recommends.
//! 2. Hashing takes tens of milliseconds and 19 MiB: it runs on a worker thread, never on a core.
//! 3. A PHC string that is brought cannot ask for much more work than our own: what took a quarter of a second
//!    would hold all others up who log in, and tell by its time that there is such a user. Other hashes made
//!    elsewhere (`foreign`) are taken within like bounds, and all are replaced at the first login.
//! 4. A password is hashed in its compatibility form (NFKC): what looks like one letter is one, whichever
//!    keyboard wrote it.

use std::fmt;

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use env::Random;
use unicode_normalization::{UnicodeNormalization as _, is_nfkc};
use zeroize::Zeroizing;

use crate::foreign::Foreign;
use crate::secret::{Secret, is_equal};

const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;

/// What a string that is brought may ask for, in KiB times passes: some five times what our own takes (`bench/benches/password.rs`).
const WORK_MAX: u32 = 96 << 10;

/// What a kept PHC string may ask for.
const MEMORY_KIB_MAX: u32 = 256 << 10;
const PASSES_MAX: u32 = 16;
const LANES_MAX: u32 = 16;

/// Fewer characters than this are refused, as Elasticsearch does.
pub const CHARACTERS_MIN: usize = 6;

/// What a generated password is made of: letters and digits, no two that look alike left out, so
/// that 20 of them carry 119 bits.
const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

const GENERATED_CHARACTERS: usize = 20;

/// A password's hash as it is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(..)")
    }
}

impl PasswordHash {
    /// A hash that somebody brings: of a known form, and of work that others can wait for.
    pub fn brought(text: &str) -> Option<Self> {
        let asks_too_much =
            Parts::parse(text).is_some_and(|(parts, _)| parts.memory * parts.passes > WORK_MAX);
        Self::parse(text).filter(|_| !asks_too_much)
    }

    /// A hash that was kept: checks the form of a PHC string, or of a hash that was made elsewhere.
    pub fn parse(text: &str) -> Option<Self> {
        let is_known = Parts::parse(text).is_some() || Foreign::parse(text).is_some();
        is_known.then(|| Self(text.to_owned()))
    }

    /// The string, for storing.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Hashes `password`. Slow: for worker threads.
    pub fn make(password: &Secret, salt: [u8; SALT_BYTES]) -> Self {
        let parts = Parts { memory: MEMORY_KIB, passes: PASSES, lanes: LANES, salt: salt.into() };
        let plain = compatible(password);
        let hash = parts.hash(&plain).expect("these parameters are legal");
        Self(format!(
            "$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${}${}",
            BASE64.encode(salt),
            BASE64.encode(hash)
        ))
    }

    /// Whether `password` is the one. Slow: for worker threads.
    pub fn verify(&self, password: &Secret) -> bool {
        let Some((parts, expected)) = Parts::parse(&self.0) else {
            let Some(foreign) = Foreign::parse(&self.0) else { return false };
            // Others hash the bytes as they are.
            return foreign.verify(password.reveal())
                || (!is_nfkc(password.reveal()) && foreign.verify(&compatible(password)));
        };
        let is_it = |text: &str| parts.hash(text).is_some_and(|found| is_equal(&found, &expected));
        // A hash that was made elsewhere may be one of the bytes as they are.
        is_it(&compatible(password)) || (!is_nfkc(password.reveal()) && is_it(password.reveal()))
    }

    /// Whether it is of the beginning of such a password alone: whoever is let in may have typed another.
    pub fn cuts(&self, password: &Secret) -> bool {
        Foreign::parse(&self.0).is_some_and(|foreign| foreign.cuts(password.reveal()))
    }

    /// Whether it was made with weaker parameters than those of today, or otherwise.
    pub fn is_outdated(&self) -> bool {
        Parts::parse(&self.0).is_none_or(|(parts, _)| {
            parts.memory < MEMORY_KIB || parts.passes < PASSES || parts.salt.len() < SALT_BYTES
        })
    }

    /// A hash that no password has, which takes as long to verify as a real one: so that the time
    /// of a refusal does not tell whether the user exists.
    pub fn nobody() -> Self {
        Self(format!(
            "$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${}${}",
            BASE64.encode([0; SALT_BYTES]),
            BASE64.encode([0; HASH_BYTES])
        ))
    }
}

/// A password's compatibility form.
fn compatible(password: &Secret) -> Zeroizing<String> {
    Zeroizing::new(password.reveal().nfkc().collect())
}

/// A fresh salt.
pub fn salt(random: &impl Random) -> [u8; SALT_BYTES] {
    let mut salt = [0; SALT_BYTES];
    random.fill(&mut salt);
    salt
}

/// A fresh password of 20 letters and digits.
pub fn generate(random: &impl Random) -> Secret {
    let mut password = String::with_capacity(GENERATED_CHARACTERS);
    while password.len() < GENERATED_CHARACTERS {
        let mut byte = [0];
        random.fill(&mut byte);
        // 248 is the largest multiple of 62: beyond it some letters would be likelier.
        if byte[0] < 248 {
            password.push(char::from(ALPHABET[usize::from(byte[0]) % ALPHABET.len()]));
        }
    }
    Secret::new(password)
}

/// What a PHC string says beside the hash.
struct Parts {
    memory: u32,
    passes: u32,
    lanes: u32,
    salt: Vec<u8>,
}

impl Parts {
    /// The parts and the hash.
    fn parse(text: &str) -> Option<(Self, Vec<u8>)> {
        let mut fields = text.split('$');
        if fields.next() != Some("")
            || fields.next() != Some("argon2id")
            || fields.next() != Some("v=19")
        {
            return None;
        }
        let mut numbers = fields.next()?.split(',');
        let mut number = |name: &str, max: u32| {
            let value: u32 = numbers.next()?.strip_prefix(name)?.parse().ok()?;
            (1..=max).contains(&value).then_some(value)
        };
        let memory = number("m=", MEMORY_KIB_MAX)?;
        let passes = number("t=", PASSES_MAX)?;
        let lanes = number("p=", LANES_MAX)?;
        let salt = BASE64.decode(fields.next()?).ok()?;
        let hash = BASE64.decode(fields.next()?).ok()?;
        let is_sound = fields.next().is_none()
            && (8..=64).contains(&salt.len())
            && (16..=64).contains(&hash.len())
            && memory >= 8 * lanes;
        is_sound.then_some((Self { memory, passes, lanes, salt }, hash))
    }

    fn hash(&self, password: &str) -> Option<[u8; HASH_BYTES]> {
        let parameters =
            Params::new(self.memory, self.passes, self.lanes, Some(HASH_BYTES)).ok()?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters);
        let mut hash = [0; HASH_BYTES];
        argon2.hash_password_into(password.as_bytes(), &self.salt, &mut hash).ok()?;
        Some(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(text.into())
    }

    #[test]
    fn a_hash_verifies_its_password_and_no_other() {
        let hash = PasswordHash::make(&secret("correct horse"), [7; SALT_BYTES]);
        assert!(hash.verify(&secret("correct horse")));
        assert!(!hash.verify(&secret("correct horsf")));
        assert!(!hash.is_outdated());
        let other = PasswordHash::make(&secret("correct horse"), [8; SALT_BYTES]);
        assert_ne!(hash, other, "the salt matters");
    }

    #[test]
    fn the_form_is_phc() {
        let hash = PasswordHash::make(&secret("x"), [0; SALT_BYTES]);
        let text = hash.as_str();
        assert!(
            text.starts_with("$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$"),
            "{text}"
        );
        assert_eq!(PasswordHash::parse(text), Some(hash));
    }

    #[test]
    fn what_looks_like_one_letter_is_one() {
        let hash = PasswordHash::make(&secret("\u{fb01}ne u\u{308}ber"), [1; SALT_BYTES]);
        for same in ["\u{fb01}ne u\u{308}ber", "fine \u{fc}ber", "\u{ff46}ine \u{fc}ber"] {
            assert!(hash.verify(&secret(same)), "{same}");
        }
        assert!(!hash.verify(&secret("fine uber")));
        // One of a store that hashes bytes as they are.
        let (parts, _) = Parts::parse(hash.as_str()).expect("well formed");
        let raw = parts.hash("\u{fb01}ne").expect("legal");
        let (head, _) = hash.as_str().rsplit_once('$').expect("it has parts");
        let foreign = PasswordHash::parse(&format!("{head}${}", BASE64.encode(raw)));
        assert!(foreign.expect("well formed").verify(&secret("\u{fb01}ne")));
    }

    #[test]
    fn hashes_of_the_reference_implementation_verify() {
        // From the test suite of phc-winner-argon2: password "password", salt "somesalt".
        let made_elsewhere = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$\
                              nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        let hash = PasswordHash::parse(made_elsewhere).expect("well formed");
        assert!(hash.verify(&secret("password")));
        assert!(!hash.verify(&secret("Password")));
        assert!(hash.is_outdated(), "256 KiB are too few");
    }

    #[test]
    fn foreign_strings_are_refused() {
        let good = PasswordHash::nobody().as_str().to_owned();
        for bad in [
            "",
            "secret",
            "$2a$10$abcdefghijklmnopqrstuv",
            &good.replace("argon2id", "argon2i"),
            &good.replace("v=19", "v=16"),
            &good.replace("m=19456", "m=4294967295"),
            &good.replace("t=2", "t=1000"),
            &good.replace("p=1", "p=0"),
            &format!("{good}$more"),
            &good.replace("$AAAA", "$?AAA"),
        ] {
            assert_eq!(PasswordHash::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_asks_for_much_is_not_taken() {
        let good = PasswordHash::nobody().as_str().to_owned();
        let asks = |memory: u32, passes: u32| {
            let text = good.replace("m=19456,t=2", &format!("m={memory},t={passes}"));
            assert!(PasswordHash::parse(&text).is_some(), "what is kept is read: {text}");
            PasswordHash::brought(&text).is_some()
        };
        // The pairs that OWASP holds equal, and what takes longer.
        assert!(asks(47_104, 1) && asks(19_456, 2) && asks(12_288, 3) && asks(7_168, 5));
        assert!(asks(65_536, 1) && !asks(65_536, 3) && !asks(262_144, 16));
    }

    #[test]
    fn nobody_has_no_password() {
        assert!(!PasswordHash::nobody().verify(&secret("")));
    }

    #[test]
    fn generated_passwords_differ_and_keep_to_the_alphabet() {
        #[derive(Clone)]
        struct Counting(std::rc::Rc<std::cell::Cell<u8>>);
        impl Random for Counting {
            fn fill(&self, bytes: &mut [u8]) {
                for byte in bytes {
                    self.0.set(self.0.get().wrapping_add(83));
                    *byte = self.0.get();
                }
            }
        }
        let random = Counting(std::rc::Rc::default());
        let (one, other) = (generate(&random), generate(&random));
        assert_ne!(one.reveal(), other.reveal());
        for password in [one, other] {
            assert_eq!(password.reveal().len(), 20);
            assert!(password.reveal().bytes().all(|byte| byte.is_ascii_alphanumeric()));
        }
    }
}
