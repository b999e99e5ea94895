//! Header fields: tokens, lists, numbers.

/// Is it a token (RFC 9110, section 5.6.2)?
pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Without blanks at the ends.
pub fn trim(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !blank(byte)).map_or(start, |at| at + 1);
    &bytes[start..end]
}

/// Members of a comma list, trimmed, empty ones left out. Commas inside quotes do not separate.
pub fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    let mut escaped = false;
    value
        .split(move |byte| {
            let separates = *byte == b',' && !quoted;
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ => {}
            }
            separates
        })
        .map(trim)
        .filter(|member| !member.is_empty())
}

/// A length: digits alone. One too large for 64 bits is the largest.
pub fn length(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let text = std::str::from_utf8(digits).ok()?;
    Some(text.parse().unwrap_or(u64::MAX))
}

/// Is it what `Host` may hold: a name or an address (RFC 3986, section 3.2.2), which may be empty, and a port?
pub fn is_host(value: &[u8]) -> bool {
    let is_port = |rest: &[u8]| match rest {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if let Some(inner) = value.strip_prefix(b"[") {
        let Some(end) = inner.iter().position(|byte| *byte == b']') else { return false };
        let (address, rest) = (&inner[..end], &inner[end + 1..]);
        let may_stand = |byte: &u8| is_of_name(*byte) || *byte == b':';
        return !address.is_empty() && address.iter().all(may_stand) && is_port(rest);
    }
    let end = value.iter().position(|byte| *byte == b':').unwrap_or(value.len());
    let (mut name, rest) = value.split_at(end);
    while let [first, others @ ..] = name {
        name = match (first, others) {
            (b'%', [high, low, others @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                others
            }
            (byte, others) if is_of_name(*byte) => others,
            _ => return false,
        };
    }
    is_port(rest)
}

/// May a registered name hold this as it is?
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte)
}

/// Does an `Accept-Encoding` value allow `coding`? A weight of 0 forbids; `*` stands for any.
pub fn accepts(value: &[u8], coding: &str) -> bool {
    let mut star = false;
    for member in list(value) {
        let mut parts = member.split(|byte| *byte == b';').map(trim);
        let name = parts.next().unwrap_or_default();
        let refused = parts.any(|part| {
            let weight = part.strip_prefix(b"q=").or_else(|| part.strip_prefix(b"Q="));
            weight.is_some_and(|q| !q.is_empty() && q.iter().all(|b| matches!(b, b'0' | b'.')))
        });
        if name.eq_ignore_ascii_case(coding.as_bytes()) {
            return !refused;
        }
        star |= name == b"*" && !refused;
    }
    star
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut_at_commas_outside_quotes() {
        let members: Vec<&[u8]> = list(b" a , ,\"x,\\\",y\" b,c").collect();
        assert_eq!(members, [&b"a"[..], b"\"x,\\\",y\" b", b"c"]);
    }

    #[test]
    fn lengths_are_digits() {
        assert_eq!(length(b"0"), Some(0));
        assert_eq!(length(b"007"), Some(7));
        assert_eq!(length(b"99999999999999999999999"), Some(u64::MAX));
        for bad in [&b""[..], b"+1", b"-1", b"1 2", b"0x1", b"1,1", b"1.0", "１".as_bytes()] {
            assert_eq!(length(bad), None);
        }
    }

    #[test]
    fn a_host_is_a_name_or_an_address_and_a_port() {
        for good in [
            "",
            "h",
            "a_b.example:9200",
            "127.0.0.1:",
            "[::1]:80",
            "[fe80::1]",
            "%C3%A4.example",
            "a,b",
        ] {
            assert!(is_host(good.as_bytes()), "{good}");
        }
        for bad in [
            "a b", "a/b", "a@b", "a:b", "a:1:2", "a?b", "a#b", "[::1", "[]", "[::1]x", "::1", "%4",
            "%zz", "\u{e4}", "a\"", "a<b", "a\\b", "a\tb",
        ] {
            assert!(!is_host(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn encodings_are_weighed() {
        assert!(accepts(b"gzip", "gzip"));
        assert!(accepts(b"deflate, GZIP;q=0.5", "gzip"));
        assert!(accepts(b"*", "gzip"));
        assert!(!accepts(b"gzip;q=0", "gzip"));
        assert!(!accepts(b"gzip;q=0.000, *", "gzip"));
        assert!(!accepts(b"deflate, br", "gzip"));
        assert!(!accepts(b"", "gzip"));
    }
}
