//! Hashes of passwords that were made elsewhere: bcrypt, and Elasticsearch's forms of PBKDF2. They let a person
//! in once, and are made anew with Argon2id then.
//!
//! | form | is |
//! |---|---|
//! | `$2a$10$SALT HASH` (`$2b$`, `$2y$`) | bcrypt; 2^10 rounds; 22 and 31 letters of its own base64 |
//! | `{PBKDF2}10000$SALT$HASH` | PBKDF2-HMAC-SHA-512, so many rounds; base64 with padding |
//! | `{PBKDF2_STRETCH}10000$SALT$HASH` | the same, of the SHA-512 of the password in hexadecimal |
//!
//! Always true
//! 1. A string asks for no more work than the limits below: some 90 ms where our own takes 25. What asked for a
//!    second would hold all others up who log in, and tell by its time that there is such a user.
//! 2. A password counts in its first 72 bytes for bcrypt, as everywhere; one that is longer is not made anew,
//!    for whoever is let in may have typed another end.
//!
//! Not here: other forms that Elasticsearch can read (`{SHA}`, `{MD5}`, plain text): they protect nothing.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{NO_PAD, STANDARD};
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use ring::{digest, pbkdf2};
use zeroize::Zeroizing;

use crate::secret::is_equal;

/// Doublings of bcrypt's work. Ten are Elasticsearch's own.
const COST_MIN: u32 = 4;
const COST_MAX: u32 = 10;

/// Rounds of PBKDF2; ten thousand are Elasticsearch's own.
const ROUNDS_MAX: u32 = 100_000;

/// bcrypt reads no more of a password, its final zero included.
const BCRYPT_BYTES_MAX: usize = 72;

const BCRYPT_SALT_BYTES: usize = 16;
const BCRYPT_HASH_BYTES: usize = 23;
const PBKDF2_HASH_BYTES: usize = 32;

/// bcrypt's own letters. Its last letter holds bits of nothing, which some writers set.
const BCRYPT_LETTERS: GeneralPurpose = GeneralPurpose::new(&alphabet::BCRYPT, TRAILING);
const TRAILING: GeneralPurposeConfig = NO_PAD.with_decode_allow_trailing_bits(true);

/// A hash that was made elsewhere.
pub enum Foreign {
    /// bcrypt.
    Bcrypt {
        /// Doublings.
        cost: u32,
        /// Its salt.
        salt: [u8; BCRYPT_SALT_BYTES],
        /// What should come out.
        hash: Vec<u8>,
    },
    /// PBKDF2-HMAC-SHA-512.
    Pbkdf2 {
        /// The password is hashed once before.
        stretched: bool,
        /// Rounds.
        rounds: NonZeroU32,
        /// Its salt.
        salt: Vec<u8>,
        /// What should come out.
        hash: Vec<u8>,
    },
}

impl Foreign {
    /// Reads one.
    pub fn parse(text: &str) -> Option<Self> {
        let starts = |prefixes: &[&str]| prefixes.iter().find_map(|one| text.strip_prefix(one));
        if let Some(rest) = starts(&["$2a$", "$2b$", "$2y$"]) {
            return Self::bcrypt(rest);
        }
        if let Some(rest) = text.strip_prefix("{PBKDF2}") {
            return Self::pbkdf2(rest, false);
        }
        Self::pbkdf2(text.strip_prefix("{PBKDF2_STRETCH}")?, true)
    }

    fn bcrypt(rest: &str) -> Option<Self> {
        let (cost, letters) = rest.split_once('$')?;
        if cost.len() != 2 || letters.len() != 53 || !letters.is_ascii() {
            return None;
        }
        let cost = digits(cost).filter(|cost| (COST_MIN..=COST_MAX).contains(cost))?;
        let (salt, hash) = letters.split_at(22);
        let salt = BCRYPT_LETTERS.decode(salt).ok()?.try_into().ok()?;
        let hash = BCRYPT_LETTERS.decode(hash).ok()?;
        (hash.len() == BCRYPT_HASH_BYTES).then_some(Self::Bcrypt { cost, salt, hash })
    }

    fn pbkdf2(rest: &str, stretched: bool) -> Option<Self> {
        let mut parts = rest.split('$');
        let (rounds, salt, hash) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || rounds.len() > 7 || salt.len() > 128 || hash.len() > 64 {
            return None;
        }
        let rounds = digits(rounds).filter(|rounds| *rounds <= ROUNDS_MAX)?;
        let (salt, hash) = (STANDARD.decode(salt).ok()?, STANDARD.decode(hash).ok()?);
        let is_sound = salt.len() >= 8 && hash.len() == PBKDF2_HASH_BYTES;
        let rounds = NonZeroU32::new(rounds).filter(|_| is_sound)?;
        Some(Self::Pbkdf2 { stretched, rounds, salt, hash })
    }

    /// Does it hash the beginning of this password alone?
    pub fn cuts(&self, password: &str) -> bool {
        matches!(self, Self::Bcrypt { .. }) && password.len() > BCRYPT_BYTES_MAX
    }

    /// Is it the hash of this password? Slow: for worker threads.
    pub fn verify(&self, password: &str) -> bool {
        match self {
            Self::Bcrypt { cost, salt, hash } => {
                let mut bytes = Zeroizing::new(password.as_bytes().to_vec());
                if bytes.contains(&0) {
                    // The others end there, and would let in who knows the beginning.
                    return false;
                }
                bytes.push(0);
                bytes.truncate(BCRYPT_BYTES_MAX);
                let found = bcrypt::bcrypt(*cost, *salt, &bytes);
                is_equal(&found[..BCRYPT_HASH_BYTES], hash)
            }
            Self::Pbkdf2 { stretched, rounds, salt, hash } => {
                let check = |bytes: &[u8]| {
                    pbkdf2::verify(pbkdf2::PBKDF2_HMAC_SHA512, *rounds, salt, bytes, hash).is_ok()
                };
                if !stretched {
                    return check(password.as_bytes());
                }
                let digest = digest::digest(&digest::SHA512, password.as_bytes());
                let mut letters = Zeroizing::new(String::with_capacity(128));
                for byte in digest.as_ref() {
                    for half in [byte >> 4, byte & 15] {
                        letters.extend(char::from_digit(u32::from(half), 16));
                    }
                }
                check(letters.as_bytes())
            }
        }
    }
}

/// A number of nothing but digits.
fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verifies(text: &str, password: &str) -> bool {
        Foreign::parse(text).expect(text).verify(password)
    }

    #[test]
    fn hashes_made_elsewhere_are_those_of_their_passwords() {
        // Of the tests of crypt_blowfish; the second is of more than 72 bytes.
        let long = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars \
                    after 72 are ignored";
        for (hash, password) in [
            ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"),
            ("$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui", long),
        ] {
            assert!(verifies(hash, password), "{hash}");
            assert!(verifies(&hash.replace("$2a$", "$2b$"), password), "{hash}");
            assert!(verifies(&hash.replace("$2a$", "$2y$"), password), "{hash}");
            assert!(!verifies(hash, &password[1..]), "{hash}");
            assert!(!verifies(hash, ""), "{hash}");
        }
        let first = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
        assert!(!verifies(first, "U*U\0"), "nothing ends in a zero but the hash");
        let cuts = |text: &str| Foreign::parse(first).expect("one").cuts(text);
        assert!(cuts(long) && !cuts(&long[..72]), "whoever typed another end is let in, too");
    }

    #[test]
    fn forms_of_pbkdf2_are_those_of_elasticsearch() {
        // Made with Python's hashlib.
        const SALT: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        for (form, hash) in [
            ("PBKDF2", "ezTXKzrtu3uRVUVG5Asx+GIToYvZs6A8p9VT93h5rTQ="),
            ("PBKDF2_STRETCH", "HKRFKrPRtVNq/SVO785eSYx7xrG5JmhNyfulOpNSWhc="),
        ] {
            let text = format!("{{{form}}}1000${SALT}${hash}");
            assert!(verifies(&text, "correct horse"), "{text}");
            assert!(!verifies(&text, "correct horsf"), "{text}");
        }
    }

    #[test]
    fn hostile_strings_are_refused() {
        let bcrypt = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
        let pbkdf2 = "{PBKDF2}1000$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=$\
                      AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        assert!(Foreign::parse(bcrypt).is_some() && Foreign::parse(pbkdf2).is_some());
        for bad in [
            "",
            "$2a$",
            "$2a$10$abcdefghijklmnopqrstuv",
            &bcrypt.replace("$05$", "$03$"),
            &bcrypt.replace("$05$", "$11$"),
            &bcrypt.replace("$05$", "$31$"),
            &bcrypt.replace("$05$", "$5$"),
            &bcrypt.replace("$05$", "$+5$"),
            &bcrypt.replace("$2a$", "$2x$"),
            &bcrypt.replace("$2a$", "$2$"),
            &bcrypt.replace("CCC.", "CC=."),
            &bcrypt.replace("CCC.", "C\u{e9}."),
            &format!("{bcrypt}a"),
            &pbkdf2.replace("1000$", "0$"),
            &pbkdf2.replace("1000$", "100001$"),
            &pbkdf2.replace("1000$", "4294967297$"),
            &pbkdf2.replace("1000$", "+100$"),
            &pbkdf2.replace("1000$", "$"),
            &pbkdf2.replace("PBKDF2", "PBKDF3"),
            &pbkdf2.replace("Hh8=$", "Hh8$"),
            &format!("{pbkdf2}$"),
            "{PBKDF2}1000$$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "{PBKDF2}1000$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=$AAEC",
            "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
        ] {
            assert!(Foreign::parse(bad).is_none(), "{bad}");
        }
    }
}
