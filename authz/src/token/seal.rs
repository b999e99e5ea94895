//! Seals: tokens that are not stored but say what they are, to us alone (decision D10).
//!
//! Thirty-two bytes: a tag of 16, HMAC-SHA-256(k1, content), and 16 of content masked by
//! HMAC-SHA-256(k2, tag), the SIV way. Content: milliseconds of the end beyond its second (2 bytes; none in tokens
//! from before they were told), grant (6), end in seconds (4), serial (4); in a refresh token the end is zero and the
//! serial its place in the family.
//!
//! Always true
//! 1. The tag is compared, in constant time, before anything inside is used.
//! 2. The same content gives the same token: a retried refresh answers the same successor.
//! 3. Keys of different kinds differ, so a refresh token never opens as an access token.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

use super::text::{self, Kind, TokenText};
use crate::form::Hash;

/// What a sealed token says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// Its grant, below 2^48.
    pub grant: u64,
    /// When it ends, in milliseconds since 1970, before the year 2106; 0 in a refresh token.
    pub end: u64,
    /// Its number within the grant.
    pub serial: u32,
}

/// The keys that this node derives from its keystore.
#[derive(Clone)]
pub struct Keys {
    root: hmac::Key,
    prefix: Arc<str>,
}

/// The two keys of one kind of seal.
pub struct Pair {
    tag: hmac::Key,
    mask: hmac::Key,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(..)")
    }
}

impl Keys {
    /// Keys that follow from the keystore's secret.
    pub fn new(pepper: &[u8]) -> Self {
        Self { root: hmac::Key::new(hmac::HMAC_SHA256, pepper), prefix: text::PREFIX.into() }
    }

    /// The same; tokens begin with `prefix`.
    #[must_use]
    pub fn with_prefix(self, prefix: &str) -> Self {
        Self { prefix: prefix.into(), ..self }
    }

    /// The text of a token.
    pub fn write(&self, kind: Kind, body: &[u8; 32]) -> String {
        text::write_as(&self.prefix, kind, body)
    }

    /// What a text carries, where it is a token.
    pub fn read(&self, text: &str) -> Option<TokenText> {
        text::read_as(&self.prefix, text)
    }

    /// By what a log knows a token: the first 8 bytes of its hash, in hex.
    pub fn public_id(&self, token: &str) -> String {
        crate::form::hex(&self.hash("public id", token.as_bytes()).0[..8])
    }

    /// By what introspection knows a token (its `jti`): 16 bytes of that hash, in hex, so that it begins
    /// with what the log says.
    pub fn token_name(&self, token: &str) -> String {
        crate::form::hex(&self.hash("public id", token.as_bytes()).0[..16])
    }

    /// By what a grant is known outside: its number, sealed, so that the name tells neither order nor how
    /// many there are.
    pub fn grant_name(&self, grant: u64) -> String {
        URL_SAFE_NO_PAD.encode(self.names().seal(Content { grant, end: 0, serial: 0 }))
    }

    /// The grant of a name that [`Keys::grant_name`] made.
    pub fn grant_named(&self, name: &str) -> Option<u64> {
        let sealed = URL_SAFE_NO_PAD.decode(name).ok()?.try_into().ok()?;
        self.names().open(&sealed).map(|content| content.grant)
    }

    fn derive(&self, purpose: &str, number: u64) -> hmac::Key {
        let mut context = hmac::Context::with_key(&self.root);
        context.update(purpose.as_bytes());
        context.update(&[0]);
        context.update(&number.to_be_bytes());
        hmac::Key::new(hmac::HMAC_SHA256, context.sign().as_ref())
    }

    /// The keys of access tokens of one epoch.
    pub fn access(&self, epoch: u64) -> Pair {
        Pair { tag: self.derive("access tag", epoch), mask: self.derive("access mask", epoch) }
    }

    /// The keys of refresh tokens.
    pub fn refresh(&self) -> Pair {
        Pair { tag: self.derive("refresh tag", 0), mask: self.derive("refresh mask", 0) }
    }

    /// The keys of names of grants.
    fn names(&self) -> Pair {
        Pair { tag: self.derive("grant tag", 0), mask: self.derive("grant mask", 0) }
    }

    /// How a random secret is kept: its hash under the pepper.
    pub fn hash(&self, purpose: &str, secret: &[u8]) -> Hash {
        let tag = hmac::sign(&self.derive(purpose, 1), secret);
        Hash(tag.as_ref().try_into().expect("a SHA-256 has 32 bytes"))
    }
}

impl Pair {
    /// Seals.
    pub fn seal(&self, content: Content) -> [u8; 32] {
        let plain = bytes(content);
        let mut sealed = [0; 32];
        sealed[..16].copy_from_slice(&hmac::sign(&self.tag, &plain).as_ref()[..16]);
        let mask = hmac::sign(&self.mask, &sealed[..16]);
        for (at, byte) in plain.iter().enumerate() {
            sealed[16 + at] = byte ^ mask.as_ref()[at];
        }
        sealed
    }

    /// Opens; `None` where it is not ours.
    pub fn open(&self, sealed: &[u8; 32]) -> Option<Content> {
        let mask = hmac::sign(&self.mask, &sealed[..16]);
        let mut plain = [0; 16];
        for (at, byte) in plain.iter_mut().enumerate() {
            *byte = sealed[16 + at] ^ mask.as_ref()[at];
        }
        let tag = hmac::sign(&self.tag, &plain);
        let differ =
            tag.as_ref()[..16].iter().zip(&sealed[..16]).fold(0, |differ, (a, b)| differ | (a ^ b));
        // One branch on the sum of all differences: where they lie, time does not tell.
        (std::hint::black_box(differ) == 0).then(|| content(&plain))
    }
}

/// So many bits have the milliseconds before them.
const GRANT_BITS: u32 = 48;

impl Content {
    /// The second after which it is over, since 1970.
    pub fn end_s(self) -> u32 {
        u32::try_from(self.end.div_ceil(1000)).unwrap_or(u32::MAX)
    }
}

fn bytes(content: Content) -> [u8; 16] {
    let mut bytes = [0; 16];
    let grant = content.grant & ((1 << GRANT_BITS) - 1);
    let end = u32::try_from(content.end / 1000).unwrap_or(u32::MAX);
    bytes[..8].copy_from_slice(&(grant | (content.end % 1000) << GRANT_BITS).to_be_bytes());
    bytes[8..12].copy_from_slice(&end.to_be_bytes());
    bytes[12..].copy_from_slice(&content.serial.to_be_bytes());
    bytes
}

fn content(bytes: &[u8; 16]) -> Content {
    let (grant, rest) = bytes.split_first_chunk().expect("16 bytes");
    let (end, rest) = rest.split_first_chunk().expect("8 bytes");
    let serial = rest.first_chunk().expect("4 bytes");
    let (grant, end) = (u64::from_be_bytes(*grant), u32::from_be_bytes(*end));
    Content {
        grant: grant & ((1 << GRANT_BITS) - 1),
        end: u64::from(end) * 1000 + (grant >> GRANT_BITS),
        serial: u32::from_be_bytes(*serial),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_opens_with_its_own_keys_alone() {
        let keys = Keys::new(b"pepper");
        let content = Content { grant: 7, end: 1_700_000_000_999, serial: 3 };
        let sealed = keys.access(0).seal(content);
        assert_eq!(keys.access(0).open(&sealed), Some(content));
        assert_eq!(keys.access(1).open(&sealed), None);
        assert_eq!(keys.refresh().open(&sealed), None);
        assert_eq!(Keys::new(b"other").access(0).open(&sealed), None);
        for bit in 0..256 {
            let mut changed = sealed;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(keys.access(0).open(&changed), None, "bit {bit}");
        }
    }

    #[test]
    fn a_grants_name_tells_nothing_and_opens_nothing() {
        let keys = Keys::new(b"pepper");
        let (one, two) = (keys.grant_name(1), keys.grant_name(2));
        assert_eq!(one.len(), 43);
        let alike = one.bytes().zip(two.bytes()).filter(|(a, b)| a == b).count();
        assert!(alike < 8, "{one} and {two}");
        assert_eq!(keys.grant_named(&one), Some(1));
        assert_eq!(Keys::new(b"other").grant_named(&one), None);
        for wrong in ["", "1", "2", &one[1..], &format!("{one}A"), &two.replace(&two[..1], "~")] {
            assert_eq!(keys.grant_named(wrong), None, "{wrong}");
        }
        let sealed: [u8; 32] =
            URL_SAFE_NO_PAD.decode(&one).expect("it was encoded").try_into().expect("32 bytes");
        assert_eq!(keys.access(0).open(&sealed), None);
        assert_eq!(keys.refresh().open(&sealed), None);
        let token = keys.write(Kind::Access, &sealed);
        assert!(keys.token_name(&token).starts_with(&keys.public_id(&token)));
    }

    /// A token from before the milliseconds says what it said.
    #[test]
    fn the_bytes_of_a_whole_second_are_those_of_before() {
        let before: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 7, 0x65, 0x53, 0xf1, 0, 0, 0, 0, 3];
        let content = Content { grant: 7, end: 1_700_000_000_000, serial: 3 };
        assert_eq!((bytes(content), super::content(&before)), (before, content));
        let later = Content { end: content.end + 1, ..content };
        assert_eq!(bytes(later)[..2], [0, 1]);
        assert_eq!((later.end_s(), content.end_s()), (1_700_000_001, 1_700_000_000));
    }

    #[test]
    fn neighbours_do_not_look_alike() {
        let pair = Keys::new(b"pepper").access(0);
        let one = pair.seal(Content { grant: 1, end: 9, serial: 1 });
        let two = pair.seal(Content { grant: 1, end: 9, serial: 2 });
        let alike = one.iter().zip(&two).filter(|(a, b)| a == b).count();
        assert!(alike < 6, "{alike} of 32 bytes are equal");
    }
}
