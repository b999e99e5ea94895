//! What stands in an `Authorization` header. The scheme picks the kind; nothing is tried as another.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::AuthError;
use crate::secret::Secret;

/// Longest `Authorization` value that is looked at.
const HEADER_BYTES_MAX: usize = 8 << 10;

/// What came in the header.
pub(super) enum Credential {
    Basic { user: String, password: Secret },
    Bearer(Secret),
    ApiKey(Secret),
}

/// Reads an `Authorization` value.
pub(super) fn credential(header: Option<&str>) -> Result<Credential, AuthError> {
    let Some(header) = header.map(str::trim_start).filter(|header| !header.is_empty()) else {
        return Err(AuthError::Missing);
    };
    let (scheme, rest) = header.split_once(' ').unwrap_or((header, ""));
    let is_long = header.len() > HEADER_BYTES_MAX;
    if scheme.eq_ignore_ascii_case("Bearer") {
        let token = Secret::new(rest.trim().to_owned());
        let legal = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        if token.reveal().is_empty() || !token.reveal().chars().all(legal) {
            return Err(AuthError::BadToken);
        }
        let unknown = AuthError::Unknown { detail: None, bearer: true };
        return if is_long { Err(unknown) } else { Ok(Credential::Bearer(token)) };
    }
    if scheme.eq_ignore_ascii_case("ApiKey") {
        let key = Secret::new(rest.trim().to_owned());
        let unknown = AuthError::Unknown { detail: None, bearer: false };
        return if is_long { Err(unknown) } else { Ok(Credential::ApiKey(key)) };
    }
    if !scheme.eq_ignore_ascii_case("Basic") {
        return Err(AuthError::Missing);
    }
    let encoding = AuthError::Malformed { reason: "invalid basic authentication header encoding" };
    let value = AuthError::Malformed { reason: "invalid basic authentication header value" };
    if is_long {
        return Err(value);
    }
    let decoded = STANDARD.decode(rest.trim()).map_err(|_| encoding.clone())?;
    let decoded = Secret::new(String::from_utf8(decoded).map_err(|_| encoding)?);
    let (user, password) = decoded.reveal().split_once(':').ok_or(value)?;
    Ok(Credential::Basic { user: user.to_owned(), password: Secret::new(password.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(text: &str) -> String {
        format!("Basic {}", STANDARD.encode(text))
    }

    #[test]
    fn basic_credentials_are_read() {
        for (header, user, password) in [
            (basic("elastic:secret"), "elastic", "secret"),
            (basic("a:b:c"), "a", "b:c"),
            (basic("ann:"), "ann", ""),
            (basic("é:ü€"), "é", "ü€"),
            (basic("a:b").replace("Basic", "bAsIc"), "a", "b"),
        ] {
            let Ok(Credential::Basic { user: found, password: secret }) = credential(Some(&header))
            else {
                panic!("{header}")
            };
            assert_eq!((found.as_str(), secret.reveal()), (user, password));
        }
    }

    #[test]
    fn what_is_no_basic_credential_is_told_apart() {
        let failure = |header: &str| match credential(Some(header)) {
            Ok(_) => panic!("{header} was accepted"),
            Err(error) => error,
        };
        assert_eq!(credential(None).err(), Some(AuthError::Missing));
        assert_eq!(failure(""), AuthError::Missing);
        assert_eq!(failure("Digest username=x"), AuthError::Missing);
        assert!(matches!(credential(Some("bearer abc")), Ok(Credential::Bearer(_))));
        for bad in ["Bearer", "Bearer ", "Bearer a b", "Bearer a,b", "Bearer é"] {
            assert_eq!(failure(bad), AuthError::BadToken, "{bad}");
        }
        assert!(matches!(credential(Some("ApiKey abc")), Ok(Credential::ApiKey(_))));
        for bad in ["Basic", "Basic ", "Basic !!!", "Basic /w==", &basic("no colon")] {
            assert!(matches!(failure(bad), AuthError::Malformed { .. }), "{bad}");
        }
        let long = basic(&format!("a:{}", "x".repeat(HEADER_BYTES_MAX)));
        assert!(matches!(failure(&long), AuthError::Malformed { .. }));
    }
}
