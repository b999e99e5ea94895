//! Media types: what a body is, and what the caller wants to read.
//!
//! Elasticsearch's clients speak in types of their own, `application/vnd.elasticsearch+json;
//! compatible-with=8`, with or without a blank after the semicolon. Versions 7 to 9 are taken, so
//! that newer clients work too.
//!
//! Not here: reading and writing YAML, CBOR and Smile (`format`).

use std::borrow::Cow;

use engine::{Error, Result};

use crate::fail;
use crate::format::Encoding;
use crate::reply::Reply;

/// What the answer is to be written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The version of the vendor's type that was asked for.
    pub compatible: Option<u8>,
    /// JSON or its kin were asked for by name: then tables come so too.
    pub structured: bool,
    /// How what is JSON is to be written.
    pub encoding: Encoding,
    /// Text was asked for by name.
    pub text: bool,
    /// Only types were asked for that we do not write, each with a version: 406. Elasticsearch passes over
    /// unknown types without one.
    pub is_unwritten: bool,
}

impl Wanted {
    /// The `content-type` of an answer that is JSON, or one of its kin.
    pub fn content_type(&self) -> Cow<'static, str> {
        match (self.compatible, self.encoding) {
            (None, Encoding::Json) => Cow::Borrowed(crate::reply::JSON),
            (None, encoding) => Cow::Owned(format!("application/{}", encoding.name())),
            (Some(version), encoding) => Cow::Owned(format!(
                "application/vnd.elasticsearch+{};compatible-with={version}",
                encoding.name()
            )),
        }
    }

    /// The same, asked for by a name of the parameter `format`. One that is no name of ours takes back what
    /// the header said of tables, and of nothing else.
    #[must_use]
    pub fn format(self, name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        match (name.as_str(), Encoding::of_name(&name)) {
            ("txt" | "text", _) => {
                Self { structured: false, text: true, is_unwritten: false, ..self }
            }
            (_, Some(encoding)) => {
                Self { structured: true, text: false, encoding, is_unwritten: false, ..self }
            }
            (_, None) => Self { structured: false, ..self },
        }
    }
}

/// Why a body's type does not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There is none: 406.
    Missing,
    /// One that is well-formed, but not taken: 406.
    Unsupported,
    /// Not a media type: 400.
    Malformed,
}

/// A media type in parts, names in lower case.
struct Type {
    name: String,
    compatible: Option<Option<u8>>,
}

fn parse(value: &str) -> Option<Type> {
    let mut parts = value.split(';').map(str::trim);
    let name = parts.next()?.to_ascii_lowercase();
    let (kind, sub) = name.split_once('/')?;
    let token = |text: &str| text == "*" || http::field::is_token(text.as_bytes());
    if !token(kind) || !token(sub) {
        return None;
    }
    let mut compatible = None;
    for part in parts.filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=')?;
        if key.trim().eq_ignore_ascii_case("compatible-with") {
            compatible = Some(value.trim().parse().ok());
        }
    }
    Some(Type { name, compatible })
}

/// How a body is written; or the answer to one of a type that is not read.
pub fn encoding_of(head: &http::Head, body: &[u8]) -> Result<std::result::Result<Encoding, Reply>> {
    if body.is_empty() {
        return Ok(Ok(Encoding::Json));
    }
    let value = head.text("content-type");
    match check_body(value) {
        Ok(encoding) => Ok(Ok(encoding)),
        Err(Unfit::Missing) => Ok(Err(fail::plain(406, "Content-Type header is missing"))),
        Err(Unfit::Unsupported) => {
            let value = value.unwrap_or_default();
            let sentence = format!("Content-Type header [{value}] is not supported");
            Ok(Err(fail::plain(406, &sentence)))
        }
        Err(Unfit::Malformed) => {
            let value = value.unwrap_or_default();
            Err(malformed("Content-Type", &format!("invalid media type [{value}]")))
        }
    }
}

/// How a body of this type is written: JSON (or lines of JSON), or one of its kin.
pub fn check_body(value: Option<&str>) -> std::result::Result<Encoding, Unfit> {
    let Some(value) = value.filter(|value| !value.trim().is_empty()) else {
        return Err(Unfit::Missing);
    };
    let kind = parse(value).ok_or(Unfit::Malformed)?;
    match kind.name.as_str() {
        "application/json" | "application/x-ndjson" | "application/*" => Ok(Encoding::Json),
        "application/vnd.elasticsearch+x-ndjson" => version(&kind, Encoding::Json),
        name => match encoding(name) {
            Some(encoding) => version(&kind, encoding),
            None => Err(Unfit::Unsupported),
        },
    }
}

/// What is asked for by who asks for nothing: what is no JSON is answered as it came.
fn as_it_came(content_type: Option<&str>) -> Wanted {
    let Some(kind) = content_type.and_then(parse) else { return Wanted::default() };
    match encoding(&kind.name) {
        None | Some(Encoding::Json) => Wanted::default(),
        Some(encoding) => {
            Wanted { encoding, compatible: kind.compatible.flatten(), ..Wanted::default() }
        }
    }
}

/// The encoding behind a media type, with or without the vendor's name.
fn encoding(name: &str) -> Option<Encoding> {
    let sub = name.strip_prefix("application/")?;
    Encoding::of_name(sub.strip_prefix("vnd.elasticsearch+").unwrap_or(sub))
}

/// May an answer be of this type? What is no application's is left to the calls: some write tables.
fn is_written(name: &str) -> bool {
    let Some(sub) = name.strip_prefix("application/") else { return true };
    matches!(sub, "*" | "x-ndjson" | "vnd.elasticsearch+x-ndjson") || encoding(name).is_some()
}

fn version(kind: &Type, encoding: Encoding) -> std::result::Result<Encoding, Unfit> {
    match kind.compatible {
        None | Some(Some(7..=9)) => Ok(encoding),
        Some(_) => Err(Unfit::Malformed),
    }
}

/// What an `Accept` value asks for, beside this `Content-Type`. A list leaves the choice to us.
///
/// # Errors
/// A version that is not taken, a value that is no media type, an encoding that we do not write.
pub fn wanted(value: Option<&str>, content_type: Option<&str>) -> Result<Wanted> {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty() && *value != "*/*")
    else {
        return Ok(as_it_came(content_type));
    };
    let mut wanted = Wanted { is_unwritten: true, ..Wanted::default() };
    let several = value.contains(',');
    for one in value.split(',') {
        let Some(kind) = parse(one) else {
            return Err(malformed("Accept", &format!("invalid media type [{one}]")));
        };
        if let Some(version) = kind.compatible {
            match version {
                Some(version @ 7..=9) => wanted.compatible = Some(version),
                _ => {
                    let reason = format!(
                        "Accept version must be either version 8 or 7, but found {}. Accept={value}",
                        version.map_or_else(|| "none".to_owned(), |version| version.to_string())
                    );
                    return Err(malformed("Accept, Content-Type", &reason));
                }
            }
        }
        wanted.is_unwritten &= kind.compatible.is_some() && !is_written(&kind.name);
        match kind.name.as_str() {
            "application/x-ndjson" | "application/vnd.elasticsearch+x-ndjson" => {
                wanted.structured |= !several;
            }
            "text/plain" | "text/vnd.elasticsearch+plain" => wanted.text |= !several,
            name => {
                if let (Some(encoding), false) = (encoding(name), several) {
                    wanted.structured = true;
                    wanted.encoding = encoding;
                }
            }
        }
    }
    Ok(wanted)
}

/// 400 for a header that is no media type.
pub fn malformed(headers: &str, cause: &str) -> Error {
    let reason = format!("Invalid media-type value on headers [{headers}]");
    Error::new(400, "media_type_header_exception", reason).caused_by(Error::new(
        400,
        "status_exception",
        cause,
    ))
}

/// 400 for a header that says two things.
pub fn repeated(header: &str) -> Error {
    let cause = format!("Incorrect header [{header}]. Only one value should be provided");
    let reason = format!("Invalid media-type value on headers [{header}]");
    Error::new(400, "media_type_header_exception", reason).caused_by(Error::illegal_argument(cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_json_by_many_names() {
        for good in [
            "application/json",
            "application/json; charset=UTF-8",
            // Elasticsearch passes over what a type says beside its version.
            "application/json; charset=latin1",
            "Application/JSON",
            "application/x-ndjson",
            "application/vnd.elasticsearch+json; compatible-with=8",
            "application/vnd.elasticsearch+json;compatible-with=8",
            "application/vnd.elasticsearch+x-ndjson;compatible-with=9",
            "application/vnd.elasticsearch+json",
        ] {
            assert_eq!(check_body(Some(good)), Ok(Encoding::Json), "{good}");
        }
        assert_eq!(check_body(None), Err(Unfit::Missing));
        assert_eq!(check_body(Some(" ")), Err(Unfit::Missing));
        for bad in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/foo",
            "application/xml",
        ] {
            assert_eq!(check_body(Some(bad)), Err(Unfit::Unsupported), "{bad}");
        }
        for bad in ["foo", "a b/c", "/", "application/json; charset"] {
            assert_eq!(check_body(Some(bad)), Err(Unfit::Malformed), "{bad}");
        }
    }

    #[test]
    fn a_type_with_a_version_is_written_or_refused() {
        for (accept, is_unwritten) in [
            ("application/vnd.elasticsearch+xml;compatible-with=8", true),
            ("Application/VND.Elasticsearch+XML; Compatible-With=7", true),
            ("application/xml; compatible-with=8", true),
            ("application/vnd.elasticsearch+arrow+stream;compatible-with=8", true),
            ("application/vnd.elasticsearch+;compatible-with=8", true),
            (
                "application/xml;compatible-with=8,application/vnd.elasticsearch+foo;compatible-with=8",
                true,
            ),
            // Somebody who takes something else, too.
            ("application/vnd.elasticsearch+xml;compatible-with=8,text/plain", false),
            ("application/vnd.elasticsearch+xml;compatible-with=8, */*", false),
            // Unknown ones without a version ask for nothing.
            ("application/vnd.elasticsearch+xml", false),
            ("application/xml", false),
            ("image/png", false),
            ("application/*;compatible-with=8", false),
            ("text/vnd.elasticsearch+plain;compatible-with=8", false),
            ("text/vnd.elasticsearch+csv;compatible-with=8", false),
            ("application/vnd.elasticsearch+json;compatible-with=8", false),
            ("application/vnd.elasticsearch+x-ndjson;compatible-with=8", false),
            ("application/vnd.elasticsearch+yaml;compatible-with=8", false),
            ("application/vnd.elasticsearch+cbor;compatible-with=8", false),
            ("application/vnd.elasticsearch+smile;compatible-with=8", false),
        ] {
            let asked = wanted(Some(accept), None).expect("good");
            assert_eq!(asked.is_unwritten, is_unwritten, "{accept}");
            // The parameter `format` is asked before the header.
            assert!(!asked.format("json").is_unwritten, "{accept}");
        }
        assert!(!wanted(None, None).expect("nothing asked for").is_unwritten);
    }

    #[test]
    fn answers_are_what_was_asked_for() {
        let ask = |value: &str| wanted(Some(value), Some("application/cbor")).expect("good");
        let came = |kind| wanted(None, kind).expect("good");
        assert_eq!((came(None), came(Some("application/json"))), Default::default());
        assert_eq!(came(Some("a b")), Wanted::default());
        assert_eq!(came(Some("application/yaml")).content_type(), "application/yaml");
        assert_eq!(ask("*/*"), came(Some("application/cbor")));
        assert_eq!(ask("*/*").encoding, Encoding::Cbor);
        assert!(ask("application/json").structured);
        assert!(ask("text/plain").text);
        assert!(!ask("text/plain,application/json").structured);
        assert!(!ask("image/png").structured);
        let vendor = ask("application/vnd.elasticsearch+json; compatible-with=8");
        assert_eq!(vendor.content_type(), "application/vnd.elasticsearch+json;compatible-with=8");
        let list = ask("application/vnd.elasticsearch+json; compatible-with=8,text/plain");
        assert_eq!((list.compatible, list.structured), (Some(8), false));
        assert_eq!(ask("application/json").content_type(), "application/json");
        let error = wanted(Some("application/vnd.elasticsearch+json; compatible-with=10"), None);
        let error = error.expect_err("a version too far");
        assert_eq!(
            (error.status, error.reason.as_str()),
            (400, "Invalid media-type value on headers [Accept, Content-Type]")
        );
        assert!(wanted(Some("foo"), None).is_err());
        let cbor = ask("application/vnd.elasticsearch+cbor;compatible-with=8");
        assert_eq!((cbor.encoding, cbor.structured), (Encoding::Cbor, true));
        assert_eq!(cbor.content_type(), "application/vnd.elasticsearch+cbor;compatible-with=8");
        let yaml = ask("application/yaml");
        assert_eq!(yaml.content_type(), "application/yaml");
        assert_eq!(check_body(Some("application/smile")), Ok(Encoding::Smile));
    }
}
