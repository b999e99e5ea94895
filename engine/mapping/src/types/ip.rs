//! Addresses of the Internet: 16 bytes, those of version 4 mapped into version 6.
//!
//! The bytes are the terms of the inverted index and of the column, so that they sort as addresses
//! do. Example: `10.0.0.1` is `00×10 ff ff 0a 00 00 01`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use json::Value;

use crate::{Error, Result};

/// Bytes of an address.
pub const LEN: usize = 16;

/// Reads an address.
///
/// # Errors
/// `'x' is not an IP string literal.`
pub fn parse(text: &str) -> Result<Ipv6Addr> {
    read(text).ok_or_else(|| literal(text))
}

#[cold]
fn literal(text: &str) -> Error {
    Error::illegal_argument(format!("'{text}' is not an IP string literal."))
}

fn read(text: &str) -> Option<Ipv6Addr> {
    // A zone (`%eth0`) says nothing about the address.
    let text = text.split_once('%').map_or(text, |(address, _)| address);
    match text.parse::<IpAddr>().ok()? {
        IpAddr::V4(address) => Some(address.to_ipv6_mapped()),
        IpAddr::V6(address) => Some(address),
    }
}

/// What a term query's text means: an address, or all that share the beginning (`10.0.0.0/8`).
///
/// # Errors
/// In Elasticsearch's words.
pub fn parse_query(text: &str) -> Result<(Ipv6Addr, Ipv6Addr)> {
    let Some((address, length)) = text.split_once('/') else {
        let address = parse(text)?;
        return Ok((address, address));
    };
    cidr(text, address, length)
}

/// The ends of a block of addresses.
///
/// # Errors
/// In Elasticsearch's words.
pub fn cidr(text: &str, address: &str, length: &str) -> Result<(Ipv6Addr, Ipv6Addr)> {
    if length.contains('/') {
        return Err(Error::illegal_argument(format!("Expected [ip/prefix] but was [{text}]")));
    }
    let address = parse(address)?;
    let length: i64 = length.parse().map_err(|_| Error::number_format(length))?;
    let is_v4 = address.to_ipv4_mapped().is_some();
    let most = if is_v4 { 32 } else { 128 };
    if !(0..=most).contains(&length) {
        return Err(Error::illegal_argument(format!(
            "illegal prefixLength '{length}'. Must be 0-{most} for {} addresses",
            if is_v4 { "IPv4" } else { "IPv6" }
        )));
    }
    let free = (most - length) as u32;
    let mask = if free == 128 { u128::MAX } else { (1u128 << free) - 1 };
    let bits = u128::from(address);
    Ok((Ipv6Addr::from(bits & !mask), Ipv6Addr::from(bits | mask)))
}

/// The address as people write it: those of version 4 in theirs, others as RFC 5952 has it.
pub fn show(address: Ipv6Addr) -> String {
    match address.to_ipv4_mapped() {
        Some(address) => show_v4(address),
        None => {
            // The library shows `::1.2.3.4`, where Elasticsearch shows `::102:304`.
            if let [0, 0, 0, 0, 0, 0, high, low] = address.segments()
                && high != 0
            {
                return format!("::{high:x}:{low:x}");
            }
            address.to_string()
        }
    }
}

fn show_v4(address: Ipv4Addr) -> String {
    address.to_string()
}

/// The address of a term; nothing where the term is none.
pub fn of_term(term: &[u8]) -> Option<Ipv6Addr> {
    <[u8; LEN]>::try_from(term).ok().map(Ipv6Addr::from)
}

/// The next address; none after the last.
pub fn next(address: Ipv6Addr) -> Option<Ipv6Addr> {
    u128::from(address).checked_add(1).map(Ipv6Addr::from)
}

/// The address before; none before the first.
pub fn before(address: Ipv6Addr) -> Option<Ipv6Addr> {
    u128::from(address).checked_sub(1).map(Ipv6Addr::from)
}

/// What a term shows as.
pub(super) fn show_term(term: &[u8]) -> Value {
    of_term(term).map_or(Value::Null, |address| show(address).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for (text, want) in [
            ("10.2.209.144", "10.2.209.144"),
            ("::1", "::1"),
            ("::", "::"),
            ("2001:DB8:0:0::1", "2001:db8::1"),
            ("::ffff:1.2.3.4", "1.2.3.4"),
            ("::1.2.3.4", "::102:304"),
            ("fe80::1%eth0", "fe80::1"),
        ] {
            assert_eq!(parse(text).map(show), Ok(want.to_owned()));
        }
        for text in ["", "1.2.3", "1.2.3.4.5", "256.1.1.1", "x", "1.2.3.4/8"] {
            let error = parse(text).expect_err("no address");
            assert_eq!(error.reason, format!("'{text}' is not an IP string literal."));
        }
    }

    #[test]
    fn blocks_have_ends() {
        let ends = |text| parse_query(text).map(|(from, to)| (show(from), show(to)));
        let pair = |from: &str, to: &str| Ok((from.to_owned(), to.to_owned()));
        assert_eq!(ends("10.1.2.3/8"), pair("10.0.0.0", "10.255.255.255"));
        assert_eq!(ends("10.1.2.3/32"), pair("10.1.2.3", "10.1.2.3"));
        assert_eq!(ends("0.0.0.0/0"), pair("0.0.0.0", "255.255.255.255"));
        let last = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
        assert_eq!(ends("::/0"), pair("::", last));
        assert_eq!(ends("2001:db8::/127"), pair("2001:db8::", "2001:db8::1"));
        assert!(ends("10.0.0.0/33").is_err());
        assert!(ends("10.0.0.0/x").is_err());
    }
}
