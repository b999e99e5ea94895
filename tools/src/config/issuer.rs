//! The address under which applications know the server (`oauth.issuer`; RFC 8414, section 2).
//!
//! Everything that the OAuth half tells is made of it, letter by letter, and compared so: what a browser or a proxy
//! writes in another way than it stands here would be another address.

use std::net::{Ipv4Addr, Ipv6Addr};

/// What is right.
const WANTED: &str = "an address that begins with https://, with a host and, if there are any, a port and a path of \
                      letters, digits, -, ., _ and ~, without empty parts or dots alone, query or fragment";

/// The address without a slash at its end.
///
/// # Errors
/// What would be right.
pub(super) fn read(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").map(|rest| rest.trim_end_matches('/'));
    let is_right = rest.is_some_and(|rest| {
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        is_authority(authority) && path.split('/').skip(1).all(is_segment)
    });
    match is_right {
        true => Ok(text.trim_end_matches('/').to_owned()),
        false => Err(WANTED.to_owned()),
    }
}

/// A host, and a port where one is named.
fn is_authority(text: &str) -> bool {
    let (host, port) = match text.rfind(':').filter(|at| !text[*at..].contains(']')) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let is_port = |port: &str| {
        port.parse::<u16>().is_ok_and(|number| number > 0 && number.to_string() == port)
    };
    is_host(host) && port.is_none_or(is_port)
}

fn is_host(text: &str) -> bool {
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.strip_suffix(']');
        // Four plain numbers at the end are two to a browser.
        return inner.is_some_and(|inner| !inner.contains('.') && is_plain::<Ipv6Addr>(inner));
    }
    // What ends in a number is an address to browsers, which write it as four.
    let last = text.rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    let is_number = match hex {
        Some(hex) => hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => last.bytes().all(|byte| byte.is_ascii_digit()),
    };
    if is_number {
        return is_plain::<Ipv4Addr>(text);
    }
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_letter);
    text.split('.').all(is_label)
}

/// An address as it is printed.
fn is_plain<A: std::str::FromStr + ToString>(text: &str) -> bool {
    text.parse::<A>().is_ok_and(|address| address.to_string() == text)
}

/// A part of a path that is written in one way only.
fn is_segment(text: &str) -> bool {
    let is_letter =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    !text.is_empty() && text != "." && text != ".." && text.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_written_in_one_way_are_taken() {
        for text in [
            "https://a",
            "https://id.example:8443",
            "https://id.example/es/v~1",
            "https://127.0.0.1:9200",
            "https://[::1]:9200",
            "https://[2001:db8::1]",
            "https://my_host/.well",
            "https://a.3com",
        ] {
            assert_eq!(read(text).as_deref(), Ok(text));
            assert_eq!(read(&format!("{text}/")).as_deref(), Ok(text));
        }
    }

    /// A node started with them, and all of its pages failed.
    #[test]
    fn what_no_browser_leads_to_is_refused() {
        for text in [
            "",
            "https://",
            "https:///x",
            "https://:443",
            "http://a",
            "https://a:",
            "https://a:0",
            "https://a:99999",
            "https://a:+1",
            "https://a:0443",
            "https://127.1",
            "https://127.0.0.01",
            "https://2130706433",
            "https://0x7f.1",
            "https://[0:0::1]",
            "https://[::ffff:1.2.3.4]",
            "https://[2001:DB8::1]",
            "https://[::1",
            "https://::1",
            "https://*.example",
            "https://a..b",
            "https://a.example.",
            "https://u@a",
            "https://a\\x",
            "https://a//b",
            "https://a/../x",
            "https://a/./x",
            "https://a/%2e%2e/x",
            "https://a/a%zz",
            "https://a/\"x",
            "https://a/ü",
            "https://ü",
            "https://a b",
            "https://a?x",
            "https://a/x#y",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
