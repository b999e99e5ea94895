//! Secrets in a text for logs: whoever sends one in a wrong place finds it in no file.
//!
//! What is known by its form: tokens ([`text::masked`]), keys of the API as they are sent and as `id:secret`, tokens of
//! service accounts, handles of pushed requests, and enrollment tokens. The base64 of plain text has letters and digits
//! alone, so that each of these is a word of its own.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::digest;

use super::text;

/// Characters of a key's id, and of its secret.
const KEY_ID: usize = 20;
const KEY_SECRET: usize = 22;

/// Characters of a key as it is sent, without padding.
const KEY_SENT: usize = (KEY_ID + 1 + KEY_SECRET) * 8 / 6 + 1;

/// The character in which the last bits of the colon are.
const COLON: usize = (KEY_ID + 1) * 8 / 6 - 1;

/// The base64 of what tokens of service accounts begin with: four bytes, and `elastic/`.
const OF_SERVICE: &[u8] = b"AAEAAWVsYXN0aWMv";

/// The base64 of what enrollment tokens begin with: `{"ver"`.
const OF_ENROLLMENT: &[u8] = b"eyJ2ZXIi";

/// What handles of pushed requests begin with.
const OF_PUSHED: &str = "urn:ietf:params:oauth:request_uri:";

/// A text for logs: instead of each secret in it the first 8 bytes of its SHA-256 in hex, by which whoever has the secret
/// finds it again.
pub fn masked(text: &str) -> Cow<'_, str> {
    let plain = text::masked(text);
    let found = secrets(&plain);
    if found.is_empty() {
        return plain;
    }
    let (mut masked, mut kept) = (String::with_capacity(plain.len()), 0);
    for secret in found {
        let hash = digest::digest(&digest::SHA256, &plain.as_bytes()[secret.clone()]);
        masked.push_str(&plain[kept..secret.start]);
        masked.push_str(&crate::form::hex(&hash.as_ref()[..8]));
        kept = secret.end;
    }
    Cow::Owned(masked + &plain[kept..])
}

/// Where secrets stand, rising.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let word = run(bytes, at, usize::MAX, u8::is_ascii_alphanumeric);
        let sent = sent(&bytes[word.clone()]);
        if let Some(last) = sent.last() {
            let padding = run(bytes, at + last.end, 2, |byte| *byte == b'=');
            let reaches = at + last.end == word.end;
            found.extend(sent.iter().map(|one| at + one.start..at + one.end));
            if let Some(last) = found.last_mut().filter(|_| reaches) {
                last.end = padding.end;
            }
            at = if reaches { padding.end } else { word.end };
            continue;
        }
        if let Some(secret) = behind_colon(bytes, at) {
            at = secret.end;
            found.push(secret);
            continue;
        }
        // The next word begins behind this one.
        at = if word.is_empty() { at + 1 } else { word.end };
    }
    found
}

/// The secret that this colon leads to, whatever stands before what names it.
fn behind_colon(bytes: &[u8], colon: usize) -> Option<Range<usize>> {
    if bytes.get(colon) != Some(&b':') {
        return None;
    }
    let begin = OF_PUSHED.find(':').and_then(|before| colon.checked_sub(before));
    if let Some(begin) = begin.filter(|at| bytes[*at..].starts_with(OF_PUSHED.as_bytes())) {
        let handle = run(bytes, begin + OF_PUSHED.len(), usize::MAX, is_of_name);
        return Some(handle).filter(|handle| !handle.is_empty());
    }
    let id = &bytes[colon.checked_sub(KEY_ID)?..colon];
    let secret = run(bytes, colon + 1, KEY_SECRET + 1, is_of_name);
    (secret.len() == KEY_SECRET && id.iter().all(is_of_name)).then_some(secret)
}

/// How far bytes of one kind reach from here, `most` of them.
fn run(bytes: &[u8], from: usize, most: usize, is_one: impl Fn(&u8) -> bool) -> Range<usize> {
    let rest = bytes.get(from..).unwrap_or_default();
    from..from + rest.iter().take(most).take_while(|byte| is_one(byte)).count()
}

fn is_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Where secrets stand in a word as they are sent, in base64, whatever stands before them.
fn sent(word: &[u8]) -> Vec<Range<usize>> {
    let place = |begin: &[u8]| word.windows(begin.len()).position(|part| part == begin);
    let enrollment = || place(OF_ENROLLMENT).filter(|at| word.len() - at > KEY_SENT);
    let (mut found, mut at) = (Vec::new(), 0);
    if let Some(place) = place(OF_SERVICE).or_else(enrollment) {
        found.push(place..word.len());
        at = word.len();
    }
    while let Some(part) = word.get(at..at + KEY_SENT) {
        let is_key = is_key(part);
        if is_key {
            found.push(at..at + KEY_SENT);
        }
        at += if is_key { KEY_SENT } else { 1 };
    }
    found
}

/// Is this `id:secret` of a key, in base64?
fn is_key(word: &[u8]) -> bool {
    // The last six bits of the colon: most words are known by them for none.
    if word.get(COLON) != Some(&b'6') {
        return false;
    }
    let Ok(key) = STANDARD_NO_PAD.decode(word) else { return false };
    let has_form = |(at, byte): (usize, &u8)| match at {
        KEY_ID => *byte == b':',
        _ => is_of_name(byte),
    };
    key.iter().enumerate().all(has_form)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "abcdefghij-_ABCDEF12";
    const SECRET: &str = "0123456789-_abcdefghij";

    fn hash(secret: &str) -> String {
        crate::form::hex(&digest::digest(&digest::SHA256, secret.as_bytes()).as_ref()[..8])
    }

    #[test]
    fn secrets_are_known_by_their_form() {
        let key = base64::engine::general_purpose::STANDARD.encode(format!("{ID}:{SECRET}"));
        assert_eq!(key.trim_end_matches('=').len(), KEY_SENT);
        let service = STANDARD_NO_PAD.encode(b"\0\x01\0\x01elastic/kibana/one:secret");
        let enrollment = STANDARD_NO_PAD.encode(format!(
            r#"{{"ver":"8.19.0","adr":["127.0.0.1:9200"],"fgr":"ab","key":"{ID}:{SECRET}"}}"#
        ));
        for secret in [&key, &service, &enrollment] {
            for (before, behind) in [
                ("", ""),
                ("ApiKey ", ":x"),
                ("/_security/user/", "/x"),
                ("a_", "%"),
                ("é", "é"),
                ("key", ""),
            ] {
                let told = masked(&format!("{before}{secret}{behind}")).into_owned();
                assert_eq!(told, format!("{before}{}{behind}", hash(secret)));
            }
        }
        assert_eq!(masked(&format!("{key}{key}")), format!("{0}{0}", hash(&key)));
        let bare = key.trim_end_matches('=');
        assert_eq!(masked(&format!("x{bare}y{bare}")), format!("x{0}y{0}", hash(bare)));
        for before in ["", "x ", "x", "/", "a:", "é"] {
            let raw = format!("{before}{ID}:{SECRET} y");
            assert_eq!(masked(&raw), format!("{before}{ID}:{} y", hash(SECRET)));
            let pushed = format!("{before}{OF_PUSHED}{SECRET}&b");
            assert_eq!(masked(&pushed), format!("{before}{OF_PUSHED}{}&b", hash(SECRET)));
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        let close = STANDARD_NO_PAD.encode(format!("{ID}.{SECRET}"));
        let (shorter, longer) = (format!("{}:{SECRET}", &ID[1..]), format!("{ID}:{SECRET}x"));
        for plain in
            ["", ":", "=", "a:b", OF_PUSHED, "eyJ2ZXIi", &close, &shorter, &longer, "ü_b: 12 ="]
        {
            assert_eq!(masked(plain), plain);
        }
    }
}
