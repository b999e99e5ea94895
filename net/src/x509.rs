//! What people ask about a certificate (RFC 5280): whose it is, who vouches for it, until when.
//!
//! Always true
//! 1. Nothing is judged here: what a certificate says is shown, and TLS decides whether it holds.
//! 2. Names are written as Java writes them, which Elasticsearch shows: the most particular first.

use x509_parser::asn1_rs::{Any, Tag};
use x509_parser::certificate::X509CertificateParser;
use x509_parser::nom::Parser;
use x509_parser::pem::Pem;
use x509_parser::x509::{AttributeTypeAndValue, X509Name};

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

/// What of names is written by a keyword: the object's identifier.
const KEYWORDS: &[(&str, &str)] = &[
    ("2.5.4.3", "CN"),
    ("2.5.4.4", "SURNAME"),
    ("2.5.4.5", "SERIALNUMBER"),
    ("2.5.4.6", "C"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.9", "STREET"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("2.5.4.12", "T"),
    ("2.5.4.42", "GIVENNAME"),
    ("2.5.4.43", "INITIALS"),
    ("2.5.4.44", "GENERATION"),
    ("2.5.4.46", "DNQ"),
    ("1.2.840.113549.1.9.1", "EMAILADDRESS"),
    ("0.9.2342.19200300.100.1.1", "UID"),
    ("0.9.2342.19200300.100.1.25", "DC"),
];

/// The certificates of a PEM text, in their order; none where one of them cannot be read, or there is none.
pub fn of_pem(pem: &str) -> Option<Vec<Certificate>> {
    let blocks: Vec<Pem> = Pem::iter_from_buffer(pem.as_bytes()).collect::<Result<_, _>>().ok()?;
    let certificates = blocks.iter().filter(|block| block.label == "CERTIFICATE");
    let found: Vec<Certificate> =
        certificates.map(|block| of_der(&block.contents)).collect::<Option<_>>()?;
    (!found.is_empty()).then_some(found)
}

/// A certificate; none where its DER cannot be read. What its extensions say is not looked at.
pub fn of_der(der: &[u8]) -> Option<Certificate> {
    let mut parser = X509CertificateParser::new().with_deep_parse_extensions(false);
    let (_, read) = parser.parse(der).ok()?;
    Some(Certificate {
        subject: name(read.subject()),
        issuer: name(read.issuer()),
        serial: number(read.tbs_certificate.raw_serial()),
        expiry: base::calendar::iso(read.validity().not_after.timestamp().checked_mul(1_000)?),
    })
}

/// A number in hexadecimal, without zeros before it. One below nothing, which no certificate should have, is shown
/// as its bytes are.
fn number(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match text.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => digits.to_owned(),
    }
}

/// A name: its parts from the last to the first.
fn name(name: &X509Name<'_>) -> String {
    let parts = name.iter_rdn().map(|part| part.iter().map(pair).collect::<Vec<_>>().join(" + "));
    let mut parts: Vec<String> = parts.collect();
    parts.reverse();
    parts.join(", ")
}

fn pair(pair: &AttributeTypeAndValue<'_>) -> String {
    let object = pair.attr_type().to_id_string();
    let known = KEYWORDS.iter().find(|(known, _)| *known == object);
    let keyword = known.map_or_else(|| format!("OID.{object}"), |(_, word)| (*word).to_owned());
    format!("{keyword}={}", shown(pair.attr_value()))
}

/// A value; in quotes where it holds what stands between values, in hexadecimal where it is no text.
fn shown(value: &Any<'_>) -> String {
    let text = match value.tag() {
        Tag::BmpString => {
            let units = value.data.chunks(2);
            let units = units.map(|unit| unit.iter().fold(0, |a, b| (a << 8) | u16::from(*b)));
            String::from_utf16(&units.collect::<Vec<u16>>()).ok()
        }
        Tag::Utf8String | Tag::PrintableString | Tag::T61String | Tag::Ia5String => {
            String::from_utf8(value.data.to_vec()).ok()
        }
        _ => None,
    };
    let Some(text) = text else {
        let digits: String = value.data.iter().map(|byte| format!("{byte:02x}")).collect();
        return format!("#{:02x}{digits}", value.tag().0);
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
        let first = Pem::iter_from_buffer(CHAIN.as_bytes()).next().expect("one").expect("whole");
        let der = first.contents;
        assert!(of_der(&der).is_some());
        for len in 0..der.len() {
            assert_eq!(of_der(&der[..len]), None, "{len}");
        }
        for at in 0..der.len() {
            let mut bent = der.clone();
            bent[at] ^= 0xff;
            of_der(&bent);
        }
    }

    #[test]
    fn numbers_and_values_are_those_of_java() {
        assert_eq!(number(&[0, 0x80]), "80");
        assert_eq!(number(&[0]), "0");
        let shown = |tag: Tag, value: &[u8]| super::shown(&Any::from_tag_and_data(tag, value));
        assert_eq!(shown(Tag::Utf8String, b"a \"b\" \\"), r#""a \"b\" \\""#);
        assert_eq!(shown(Tag::BmpString, &[0, b'x', 0x20, 0xac]), "x€");
        assert_eq!(shown(Tag::BitString, &[1, 0xab]), "#0301ab");
    }
}
