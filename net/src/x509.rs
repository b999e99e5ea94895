//! What people ask about a certificate (RFC 5280), read from its DER: whose it is, who vouches for it, until when.
//!
//! Always true
//! 1. Nothing is judged here: what a certificate says is shown, and TLS decides whether it holds.
//! 2. Names are written as Java writes them, which Elasticsearch shows: the most particular first.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What a certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Whose it is: `CN=node-1, O=Acme`.
    pub subject: String,
    /// Who vouches for it.
    pub issuer: String,
    /// Its number, in hexadecimal.
    pub serial: String,
    /// Its last moment, ISO 8601, UTC.
    pub expiry: String,
}

const INTEGER: u8 = 0x02;
const OBJECT: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERAL_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;

/// What of names is written by a keyword: the object's identifier as it stands in DER.
const KEYWORDS: &[(&[u8], &str)] = &[
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 4], "SURNAME"),
    (&[0x55, 4, 5], "SERIALNUMBER"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "STREET"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 12], "T"),
    (&[0x55, 4, 42], "GIVENNAME"),
    (&[0x55, 4, 43], "INITIALS"),
    (&[0x55, 4, 44], "GENERATION"),
    (&[0x55, 4, 46], "DNQ"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "EMAILADDRESS"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1], "UID"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
];

/// The certificates of a PEM text, in their order; none where one of them cannot be read, or there is none.
pub fn of_pem(pem: &str) -> Option<Vec<Certificate>> {
    let mut found = Vec::new();
    let mut lines = pem.lines().map(str::trim);
    while lines.any(|line| line == "-----BEGIN CERTIFICATE-----") {
        let text: String =
            lines.by_ref().take_while(|line| !line.starts_with("-----END")).collect();
        found.push(of_der(&STANDARD.decode(text).ok()?)?);
    }
    (!found.is_empty()).then_some(found)
}

/// A certificate; none where its DER cannot be read.
pub fn of_der(der: &[u8]) -> Option<Certificate> {
    let mut whole = Der(der);
    let mut whole = Der(whole.take(SEQUENCE)?);
    let mut said = Der(whole.take(SEQUENCE)?);
    if said.0.first() == Some(&VERSION) {
        said.take(VERSION)?;
    }
    let serial = said.take(INTEGER)?;
    said.take(SEQUENCE)?;
    let issuer = said.take(SEQUENCE)?;
    let mut validity = Der(said.take(SEQUENCE)?);
    validity.next()?;
    let (kind, end) = validity.next()?;
    let subject = said.take(SEQUENCE)?;
    Some(Certificate {
        subject: name(subject)?,
        issuer: name(issuer)?,
        serial: number(serial)?,
        expiry: moment(kind, end)?,
    })
}

/// Values in DER, one behind the other.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The next: its tag and its content.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (len, rest) = match first {
            len @ 0..=0x7f => (usize::from(*len), rest),
            // How many bytes the length takes; more than four are no certificate's.
            many @ 0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(many & 0x7f))?;
                (bytes.iter().fold(0, |len, byte| (len << 8) | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some((*tag, content))
    }

    /// The content of the next, which has this tag.
    fn take(&mut self, expected: u8) -> Option<&'a [u8]> {
        self.next().filter(|(tag, _)| *tag == expected).map(|(_, content)| content)
    }
}

/// A number in hexadecimal, without zeros before it.
fn number(bytes: &[u8]) -> Option<String> {
    let is_negative = bytes.first()? & 0x80 != 0;
    let mut bytes = bytes.to_vec();
    if is_negative {
        // Its amount: all turned around, and one more.
        let mut carry = true;
        for byte in bytes.iter_mut().rev() {
            let (turned, carried) = (!*byte).overflowing_add(u8::from(carry));
            (*byte, carry) = (turned, carried);
        }
    }
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = match text.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    Some(if is_negative { format!("-{text}") } else { text.to_owned() })
}

/// A moment: `YYMMDDhhmmssZ` of 1950 to 2049, or with all digits of its year.
fn moment(kind: u8, bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.strip_suffix('Z')?;
    let text = match kind {
        UTC_TIME if text.get(..2)? < "50" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        GENERAL_TIME => text.to_owned(),
        _ => return None,
    };
    if text.len() != 14 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let (year, month, day) = (part(0, 4), part(4, 6), part(6, 8));
    let (hour, minute, second) = (part(8, 10), part(10, 12), part(12, 14));
    Some(format!("{year}-{month}-{day}T{hour}:{minute}:{second}.000Z"))
}

/// A name: its parts from the last to the first.
fn name(content: &[u8]) -> Option<String> {
    let (mut parts, mut rest) = (Vec::new(), Der(content));
    while !rest.0.is_empty() {
        let (mut values, mut together) = (Vec::new(), Der(rest.take(SET)?));
        while !together.0.is_empty() {
            let mut pair = Der(together.take(SEQUENCE)?);
            let object = pair.take(OBJECT)?;
            let (kind, value) = pair.next()?;
            values.push(format!("{}={}", keyword(object)?, shown(kind, value)));
        }
        parts.push(values.join(" + "));
    }
    parts.reverse();
    Some(parts.join(", "))
}

fn keyword(object: &[u8]) -> Option<String> {
    if let Some((_, word)) = KEYWORDS.iter().find(|(known, _)| *known == object) {
        return Some((*word).to_owned());
    }
    let mut numbers: Vec<u64> = Vec::new();
    let mut number = 0_u64;
    for byte in object {
        number = number.checked_mul(128)? + u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            numbers.push(std::mem::take(&mut number));
        }
    }
    // The first two share a number.
    let (first, rest) = numbers.split_first()?;
    let above = (first / 40).min(2);
    let mut text = format!("OID.{above}.{}", first - above * 40);
    for number in rest {
        write!(text, ".{number}").ok()?;
    }
    Some(text)
}

/// A value; in quotes where it holds what stands between values, in hexadecimal where it is no text.
fn shown(kind: u8, value: &[u8]) -> String {
    /// UTF-8, printable, teletex, IA5.
    const TEXTS: [u8; 4] = [0x0c, 0x13, 0x14, 0x16];
    /// Sixteen bits a letter.
    const WIDE: u8 = 0x1e;
    let text = match kind {
        WIDE => {
            let units =
                value.chunks(2).map(|unit| unit.iter().fold(0, |a, b| (a << 8) | u16::from(*b)));
            String::from_utf16(&units.collect::<Vec<u16>>()).ok()
        }
        kind if TEXTS.contains(&kind) => String::from_utf8(value.to_vec()).ok(),
        _ => None,
    };
    let Some(text) = text else {
        let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
        return format!("#{kind:02x}{digits}");
    };
    let is_odd = text.contains([',', '+', '=', '\n', '<', '>', '#', ';', '\\', '"'])
        || text.starts_with(' ')
        || text.ends_with(' ')
        || text.contains("  ");
    if !is_odd {
        return text;
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by OpenSSL: a node's, and its authority's.
    const CHAIN: &str = include_str!("../tests/api/chain.pem");

    #[test]
    fn a_chain_is_read() {
        let authority = Certificate {
            subject: "CN=Test authority, O=\"Acme, Inc.\", C=DE".into(),
            issuer: "CN=Test authority, O=\"Acme, Inc.\", C=DE".into(),
            serial: "c0ffee0123".into(),
            expiry: "2059-10-06T14:52:33.000Z".into(),
        };
        let node = Certificate {
            subject: "CN=node-1, L=Köln + OU=Nodes, DC=org".into(),
            issuer: authority.subject.clone(),
            serial: "a".into(),
            expiry: "2028-10-28T14:52:33.000Z".into(),
        };
        assert_eq!(of_pem(CHAIN), Some(vec![node, authority]));
    }

    #[test]
    fn what_is_none_is_none() {
        assert_eq!(of_pem("x"), None);
        let der: Vec<u8> = CHAIN.lines().skip(1).take_while(|line| !line.starts_with('-')).fold(
            Vec::new(),
            |mut der, line| {
                der.extend(STANDARD.decode(line).unwrap_or_default());
                der
            },
        );
        let whole = of_der(&der);
        assert!(whole.is_some());
        for len in 0..der.len() {
            // However it ends, nothing is read beyond it.
            assert_eq!(of_der(&der[..len]), None, "{len}");
        }
        for at in 0..der.len() {
            let mut bent = der.clone();
            bent[at] ^= 0xff;
            of_der(&bent);
        }
    }

    #[test]
    fn numbers_moments_and_values_are_those_of_java() {
        assert_eq!(number(&[0, 0x80]).as_deref(), Some("80"));
        assert_eq!(number(&[0]).as_deref(), Some("0"));
        assert_eq!(number(&[0xff, 0x00]).as_deref(), Some("-100"));
        assert_eq!(number(&[]), None);
        assert_eq!(moment(UTC_TIME, b"491231235959Z").as_deref(), Some("2049-12-31T23:59:59.000Z"));
        assert_eq!(moment(UTC_TIME, b"500101000000Z").as_deref(), Some("1950-01-01T00:00:00.000Z"));
        assert_eq!(moment(UTC_TIME, b"5001010000Z"), None);
        assert_eq!(moment(GENERAL_TIME, "20500101\u{e9}0000Z".as_bytes()), None);
        assert_eq!(keyword(&[0x2a, 0x86, 0x48, 5]).as_deref(), Some("OID.1.2.840.5"));
        assert_eq!(keyword(&[0x88, 0x37, 3]).as_deref(), Some("OID.2.999.3"));
        assert_eq!(shown(0x0c, b"a \"b\" \\"), r#""a \"b\" \\""#);
        assert_eq!(shown(0x1e, &[0, b'x', 0x20, 0xac]), "x€");
        assert_eq!(shown(0x03, &[1, 0xab]), "#0301ab");
    }
}
