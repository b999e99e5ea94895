//! Media types: what a body is, and what the caller wants to read.
//!
//! Elasticsearch's clients speak in types of their own, `application/vnd.elasticsearch+json;
//! compatible-with=8`, with or without a blank after the semicolon. Versions 7 to 9 are taken, so
//! that newer clients work too.
//!
//! Not here: YAML, CBOR and Smile. Asked for by name, they are refused.

use engine::{Error, Result};

/// What the answer is to be written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The version of the vendor's type that was asked for.
    pub compatible: Option<u8>,
    /// JSON was asked for by name: then tables come as JSON too.
    pub json: bool,
    /// Text was asked for by name.
    pub text: bool,
}

impl Wanted {
    /// The `content-type` of a JSON answer.
    pub fn json_type(&self) -> &'static str {
        match self.compatible {
            Some(7) => "application/vnd.elasticsearch+json;compatible-with=7",
            Some(8) => "application/vnd.elasticsearch+json;compatible-with=8",
            Some(9) => "application/vnd.elasticsearch+json;compatible-with=9",
            _ => crate::reply::JSON,
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

/// Is a body of this type one that we read: JSON, or lines of JSON?
pub fn check_body(value: Option<&str>) -> std::result::Result<(), Unfit> {
    let Some(value) = value.filter(|value| !value.trim().is_empty()) else {
        return Err(Unfit::Missing);
    };
    let kind = parse(value).ok_or(Unfit::Malformed)?;
    match kind.name.as_str() {
        "application/json" | "application/x-ndjson" | "application/*" => Ok(()),
        "application/vnd.elasticsearch+json" | "application/vnd.elasticsearch+x-ndjson" => {
            match kind.compatible {
                None | Some(Some(7..=9)) => Ok(()),
                Some(_) => Err(Unfit::Malformed),
            }
        }
        _ => Err(Unfit::Unsupported),
    }
}

/// What an `Accept` value asks for. A list leaves the choice to us.
///
/// # Errors
/// A version that is not taken, a value that is no media type, an encoding that we do not write.
pub fn wanted(value: Option<&str>) -> Result<Wanted> {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty() && *value != "*/*")
    else {
        return Ok(Wanted::default());
    };
    let mut wanted = Wanted::default();
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
        match kind.name.as_str() {
            "application/json"
            | "application/vnd.elasticsearch+json"
            | "application/x-ndjson"
            | "application/vnd.elasticsearch+x-ndjson" => wanted.json |= !several,
            "text/plain" | "text/vnd.elasticsearch+plain" => wanted.text |= !several,
            "application/vnd.elasticsearch+yaml"
            | "application/vnd.elasticsearch+cbor"
            | "application/vnd.elasticsearch+smile"
                if !several =>
            {
                return Err(Error::new(
                    406,
                    "media_type_header_exception",
                    format!("Accept header [{value}] is not supported"),
                ));
            }
            _ => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_json_by_many_names() {
        for good in [
            "application/json",
            "application/json; charset=UTF-8",
            "Application/JSON",
            "application/x-ndjson",
            "application/vnd.elasticsearch+json; compatible-with=8",
            "application/vnd.elasticsearch+json;compatible-with=8",
            "application/vnd.elasticsearch+x-ndjson;compatible-with=9",
            "application/vnd.elasticsearch+json",
        ] {
            assert_eq!(check_body(Some(good)), Ok(()), "{good}");
        }
        assert_eq!(check_body(None), Err(Unfit::Missing));
        assert_eq!(check_body(Some(" ")), Err(Unfit::Missing));
        for bad in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/foo",
            "application/yaml",
        ] {
            assert_eq!(check_body(Some(bad)), Err(Unfit::Unsupported), "{bad}");
        }
        for bad in ["foo", "a b/c", "/", "application/json; charset"] {
            assert_eq!(check_body(Some(bad)), Err(Unfit::Malformed), "{bad}");
        }
    }

    #[test]
    fn answers_are_what_was_asked_for() {
        let ask = |value: &str| wanted(Some(value)).expect("good");
        assert_eq!(wanted(None), Ok(Wanted::default()));
        assert_eq!(ask("*/*"), Wanted::default());
        assert!(ask("application/json").json);
        assert!(ask("text/plain").text);
        assert!(!ask("text/plain,application/json").json);
        assert!(!ask("image/png").json);
        let vendor = ask("application/vnd.elasticsearch+json; compatible-with=8");
        assert_eq!(vendor.json_type(), "application/vnd.elasticsearch+json;compatible-with=8");
        let list = ask("application/vnd.elasticsearch+json; compatible-with=8,text/plain");
        assert_eq!((list.compatible, list.json), (Some(8), false));
        assert_eq!(ask("application/json").json_type(), "application/json");
        let error = wanted(Some("application/vnd.elasticsearch+json; compatible-with=10"));
        let error = error.expect_err("a version too far");
        assert_eq!(
            (error.status, error.reason.as_str()),
            (400, "Invalid media-type value on headers [Accept, Content-Type]")
        );
        assert!(wanted(Some("foo")).is_err());
        assert_eq!(
            wanted(Some("application/vnd.elasticsearch+cbor")).map_err(|error| error.status),
            Err(406)
        );
    }
}
