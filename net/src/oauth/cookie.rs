//! Cookies of the pages: the session, and the anchor of a browser before it.
//!
//! Both have the `__Host-` prefix: the browser then insists on HTTPS, this very host and the whole
//! path. `SameSite=Lax`, for the first visit of a flow comes from another site.

use http::Head;

/// The session.
pub const SESSION: &str = "__Host-sid";

/// The browser before it: requests that wait, and forms, hang on it.
pub const ANCHOR: &str = "__Host-pre";

/// Longest value that is looked at.
const VALUE_BYTES_MAX: usize = 128;

/// The value of a cookie; none where it comes twice.
pub fn value<'a>(head: &'a Head, name: &'a str) -> Option<&'a str> {
    let mut found = None;
    for line in head.all("cookie") {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        for pair in line.split(';') {
            let Some((key, value)) = pair.trim().split_once('=') else { continue };
            if key == name && value.len() <= VALUE_BYTES_MAX {
                if found.is_some() {
                    return None;
                }
                found = Some(value);
            }
        }
    }
    found
}

/// The header that sets a cookie until the browser closes.
pub fn set(name: &str, value: &str) -> String {
    format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite=Lax")
}

/// The header that takes a cookie back.
pub fn clear(name: &str) -> String {
    format!("{name}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(cookies: &str) -> Head {
        let text = format!("GET / HTTP/1.1\r\nhost: a\r\n{cookies}\r\n");
        Head::parse(text.as_bytes(), &http::Limits::default()).expect("a head")
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let head = head("cookie: a=1; __Host-sid=abc; b=2\r\ncookie: __Host-pre=xyz\r\n");
        assert_eq!(value(&head, SESSION), Some("abc"));
        assert_eq!(value(&head, ANCHOR), Some("xyz"));
        assert_eq!(value(&head, "__Host"), None);
    }

    #[test]
    fn two_of_a_name_are_none() {
        assert_eq!(value(&head("cookie: __Host-sid=a; __Host-sid=b\r\n"), SESSION), None);
    }
}
