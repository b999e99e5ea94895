//! Who a request comes from, where a proxy stands before us: the nearest address in `X-Forwarded-For`
//! that is no trusted proxy's. The header counts only where it was written by one of those named in
//! `oauth.trusted_proxies`; from anybody else it is a stranger's word.

use std::net::{IpAddr, SocketAddr};

use super::limit::host;

/// Addresses in one header that are looked at.
const ADDRESSES_MAX: usize = 16;

/// Networks of proxies that tell the truth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<(IpAddr, u8)>);

impl Proxies {
    /// Reads a list such as `10.0.0.0/8, 192.168.1.7, fd00::/8`.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let one = |text: &str| {
            let (address, bits) = match text.split_once('/') {
                Some((address, bits)) => (address.parse().ok()?, bits.parse().ok()?),
                None => {
                    let address: IpAddr = text.parse().ok()?;
                    (address, if address.is_ipv4() { 32 } else { 128 })
                }
            };
            let is_possible = bits <= if IpAddr::is_ipv4(&address) { 32 } else { 128 };
            is_possible.then_some((address, bits))
        };
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let networks: Option<Vec<(IpAddr, u8)>> = parts.map(one).collect();
        networks.map(Self).ok_or_else(|| {
            "addresses or networks apart at commas, such as 10.0.0.0/8, 192.168.1.7".to_owned()
        })
    }

    fn holds(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|(network, bits)| match (network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(*bits)).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(*bits)).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            _ => false,
        })
    }

    /// The other side of a connection from `peer` (`host:port`), as a trusted proxy tells it; none where
    /// it is the peer itself.
    pub fn client(&self, head: &http::Head, peer: &str) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut found: IpAddr = host(peer).parse().ok()?;
        let lines = head.all("x-forwarded-for").map(|line| std::str::from_utf8(line).ok());
        let lines: Vec<&str> = lines.collect::<Option<_>>()?;
        let told = lines.iter().rev().flat_map(|line| line.rsplit(',')).map(str::trim);
        // A list may have empty places (RFC 9110, 5.6.1).
        let told = told.filter(|address| !address.is_empty());
        for address in told.take(ADDRESSES_MAX) {
            if !self.holds(found) {
                break;
            }
            let Some(address) = address_of(address) else { break };
            found = address;
        }
        let told = SocketAddr::new(found, 0).to_string();
        (host(&told) != host(peer)).then_some(told)
    }
}

/// An address as proxies write it: alone, or with the port that it came from; one of IPv6 in brackets, or not;
/// in quotes, or not.
fn address_of(text: &str) -> Option<IpAddr> {
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let text = quoted.unwrap_or(text);
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address);
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some(address.ip());
    }
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    inner.parse::<std::net::Ipv6Addr>().ok().map(IpAddr::V6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(proxies: &str, forwarded: &[&str], peer: &str) -> Option<String> {
        let lines: String =
            forwarded.iter().map(|value| format!("X-Forwarded-For: {value}\r\n")).collect();
        let text = format!("GET / HTTP/1.1\r\nHost: h\r\n{lines}\r\n");
        let head = http::Head::parse(text.as_bytes(), &http::Limits::default()).expect("a head");
        Proxies::parse(proxies).expect("a list").client(&head, peer)
    }

    #[test]
    fn only_a_trusted_proxys_word_counts() {
        let (near, far) = ("10.0.0.7:99", "192.0.2.1:99");
        assert_eq!(client("", &["1.2.3.4"], near), None);
        assert_eq!(client("10.0.0.0/8", &["1.2.3.4"], far), None, "a stranger's header");
        assert_eq!(client("10.0.0.0/8", &["1.2.3.4"], near).as_deref(), Some("1.2.3.4:0"));
        // What a stranger wrote before the proxies did is passed over.
        let chain = ["9.9.9.9, 1.2.3.4", "10.1.1.1"];
        assert_eq!(client("10.0.0.0/8", &chain, near).as_deref(), Some("1.2.3.4:0"));
        assert_eq!(client("10.0.0.0/8", &["x, 10.1.1.1"], near).as_deref(), Some("10.1.1.1:0"));
        assert_eq!(client("10.0.0.0/8", &[], near), None);
        assert_eq!(client("::1", &["2001:db8::7"], "[::1]:99").as_deref(), Some("[2001:db8::7]:0"));
    }

    #[test]
    fn an_address_may_have_a_port() {
        let told = |forwarded: &str| client("10.0.0.0/8", &[forwarded], "10.0.0.7:99");
        for (forwarded, expected) in [
            ("1.2.3.4:5678", "1.2.3.4:0"),
            ("\"1.2.3.4:5678\"", "1.2.3.4:0"),
            ("1.2.3.4, ", "1.2.3.4:0"),
            ("9.9.9.9, 1.2.3.4:1, ,10.1.1.1:2", "1.2.3.4:0"),
            ("2001:db8::7", "[2001:db8::7]:0"),
            ("[2001:db8::7]", "[2001:db8::7]:0"),
            ("\"[2001:db8::7]:5678\"", "[2001:db8::7]:0"),
        ] {
            assert_eq!(told(forwarded).as_deref(), Some(expected), "{forwarded}");
        }
        for forwarded in ["1.2.3.4:x", "1.2.3.4:99999", "[1.2.3.4]", "\"1.2.3.4", "unknown", "::g"]
        {
            assert_eq!(told(forwarded), None, "{forwarded}");
        }
    }

    #[test]
    fn lists_are_read_strictly() {
        for good in ["", "10.0.0.1", "0.0.0.0/0", "fd00::/8, 10.0.0.0/8"] {
            assert!(Proxies::parse(good).is_ok(), "{good}");
        }
        for bad in ["x", "10.0.0.0/33", "10.0.0", "::1/129", "10.0.0.1 10.0.0.2"] {
            assert!(Proxies::parse(bad).is_err(), "{bad}");
        }
    }
}
