//! Redirect URIs: which may be registered, and which one a request means.
//!
//! Matching is byte for byte. The one exception is RFC 8252's: on a loopback address the port is
//! free, for a program on a person's machine cannot choose it ahead.

use authz::pages::language::Texts;
use http::target::{Plus, decode};

/// Longest URI.
const BYTES_MAX: usize = 2048;

// The audit log holds each callback of an approved application whole.
const _: () = assert!(BYTES_MAX <= authz::audit::ELEMENT_CHARACTERS_MAX);

/// The parts of a URI that matter here; borrowed, nothing decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// Scheme, in lower case as it must be written.
    pub scheme: &'a str,
    /// Host, with brackets where it is an IPv6 address; empty for private schemes.
    pub host: &'a str,
    /// Port as written.
    pub port: Option<&'a str>,
    /// Path and query.
    pub rest: &'a str,
}

/// What kind of URI may be registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules<'a> {
    /// Programs on a person's machine may use schemes of their own.
    pub native: bool,
    /// A client that keeps a secret may ask for plain HTTP; a reviewer then decides.
    pub plain_http: bool,
    /// Our own origin, which is never a client's.
    pub own_origin: &'a str,
}

/// Splits a URI; `None` where it has parts that no redirect URI has.
pub fn split(uri: &str) -> Option<Parts<'_>> {
    let legal = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}#*".contains(&byte);
    if uri.is_empty() || uri.len() > BYTES_MAX || !uri.bytes().all(legal) {
        return None;
    }
    let (scheme, after) = uri.split_once(':')?;
    if !is_scheme(scheme) {
        return None;
    }
    let (host, port, rest) = match after.strip_prefix("//") {
        Some(after) => {
            let end = after.find(['/', '?']).unwrap_or(after.len());
            let (authority, rest) = after.split_at(end);
            let (host, port) = host_and_port(authority)?;
            (host, port, rest)
        }
        None => ("", None, after),
    };
    let path = rest.split('?').next().unwrap_or("");
    if !is_escaped(rest) || path.split('/').any(is_dots) {
        return None;
    }
    Some(Parts { scheme, host, port, rest })
}

fn is_scheme(text: &str) -> bool {
    let legal =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte);
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.bytes().all(legal)
}

fn host_and_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if authority.contains('@') {
        return None;
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(inside) => {
            let end = inside.find(']')? + 2;
            inside[..end - 2].parse::<std::net::Ipv6Addr>().ok()?;
            let (host, after) = authority.split_at(end);
            match after {
                "" => (host, None),
                after => (host, Some(after.strip_prefix(':')?)),
            }
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let legal =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    if host.is_empty() || (!host.starts_with('[') && !host.bytes().all(legal)) {
        return None;
    }
    if let Some(port) = port {
        let number: u32 = port.parse().ok()?;
        if !(1..=65_535).contains(&number) || port.starts_with(['0', '+']) {
            return None;
        }
    }
    Some((host, port))
}

/// Percent signs are escapes of text, and of no control character: whoever takes a NUL for an end would go to
/// another place than the one that was registered.
fn is_escaped(text: &str) -> bool {
    decode(text.as_bytes(), Plus::Plus).is_ok_and(|plain| !plain.contains(char::is_control))
}

/// A segment that means "here" or "up", written plainly or with escapes.
fn is_dots(segment: &str) -> bool {
    let plain = segment.replace("%2e", ".").replace("%2E", ".");
    plain == "." || plain == ".."
}

/// Would a browser take a host for an IPv4 address that is written in another way than as four decimal
/// numbers? The URL standard's host parser does so wherever the last label is a number, be it decimal,
/// octal or hexadecimal: `2130706433`, `0x7f.1` and `0177.0.0.1` all lead to this computer.
fn is_odd_number(host: &str) -> bool {
    let labels = host.strip_suffix('.').unwrap_or(host);
    let last = labels.rsplit('.').next().unwrap_or_default();
    let is_decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let is_hexadecimal = last
        .strip_prefix("0x")
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    (is_decimal || is_hexadecimal) && host.parse::<std::net::Ipv4Addr>().is_err()
}

/// Is this a host as the name system knows them, or an address? Labels of 1 to 63 letters, digits and
/// hyphens, none at their ends; no dot at the end, for a name with it is another origin of the same server.
fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    host.starts_with('[') || (host.len() <= 253 && host.split('.').all(is_label))
}

/// Is this an IPv6 address, in its brackets, that a browser writes in another way? As the library prints them, but
/// that browsers write the last four bytes of one that stands for an IPv4 address as two numbers, too.
fn is_odd_ipv6(host: &str) -> bool {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address = inner.and_then(|inner| inner.parse::<std::net::Ipv6Addr>().ok());
    let plain = address.map(|address| match (address.to_ipv4_mapped(), address.segments()) {
        (Some(_), [.., high, low]) => format!("::ffff:{high:x}:{low:x}"),
        (None, _) => address.to_string(),
    });
    plain.is_some_and(|plain| Some(&*plain) != inner)
}

/// Why no browser would take a host for what it says; `None` where it would.
fn host_fault(host: &str) -> Option<Texts> {
    if !is_host(host) {
        return Some([
            "its host is no name: labels have 1 to 63 characters and no hyphen at an end",
            "ihr Host ist kein Name: Dessen Teile haben 1 bis 63 Zeichen und am Rand keinen Bindestrich",
        ]);
    }
    if is_odd_number(host) {
        return Some([
            "its host is an IPv4 address that is not written as four decimal numbers",
            "ihr Host ist eine IPv4-Adresse, die nicht als vier Dezimalzahlen geschrieben ist",
        ]);
    }
    if is_odd_ipv6(host) {
        return Some([
            "its host is an IPv6 address that is not written as browsers write it",
            "ihr Host ist eine IPv6-Adresse, die nicht so geschrieben ist, wie Browser sie schreiben",
        ]);
    }
    None
}

/// The port that nobody writes.
fn default_port(scheme: &str) -> Option<&'static str> {
    match scheme {
        "https" => Some("443"),
        "http" => Some("80"),
        _ => None,
    }
}

/// Are both of one origin, be it with the port that nobody writes?
fn is_of_origin(parts: &Parts<'_>, own: &str) -> bool {
    // Hosts are the same in either case, and a callback's is in the lower one.
    let own = own.to_ascii_lowercase();
    let of = |parts: Parts<'_>| {
        let port = parts.port.or(default_port(parts.scheme)).map(str::to_owned);
        (parts.scheme.to_owned(), parts.host.to_owned(), port)
    };
    split(&own).is_some_and(|own| of(own) == of(*parts))
}

const SCHEME: Texts = ["its scheme is not allowed", "ihr Schema ist nicht erlaubt"];

/// Why a URI may not be registered; `None` where it may.
pub fn refusal(uri: &str, rules: Rules<'_>) -> Option<Texts> {
    if is_private(uri) && !rules.native {
        return Some([
            "schemes of their own are for native applications",
            "eigene Schemas sind nur für Programme auf dem Rechner einer Person",
        ]);
    }
    if is_private(uri) && !has_one_slash(uri) {
        return Some([
            "a scheme of its own stands before one slash, as in com.example.app:/callback",
            "ein eigenes Schema steht vor einem einzigen Schrägstrich, wie in com.example.app:/callback",
        ]);
    }
    let Some(parts) = split(uri) else {
        return Some([
            "it is no absolute URI without fragment, user, wildcard, dot segments and control characters",
            "sie ist keine absolute URI ohne Fragment, Benutzer, Platzhalter, Punktsegmente und Steuerzeichen",
        ]);
    };
    if parts.host.is_empty() {
        return (!is_private(uri)).then_some(SCHEME);
    }
    if is_of_origin(&parts, rules.own_origin) {
        return Some(["it leads to this server", "sie führt zu diesem Server"]);
    }
    if let Some(why) = host_fault(parts.host) {
        return Some(why);
    }
    match parts.scheme {
        "https" => None,
        "http" if is_loopback(parts.host) || rules.plain_http => None,
        "http" => Some([
            "plain HTTP is only for loopback addresses",
            "unverschlüsseltes HTTP ist nur für Adressen des eigenen Rechners erlaubt",
        ]),
        _ => Some(SCHEME),
    }
}

/// Is its scheme a program's own: a domain turned round (RFC 8252, section 7.1)?
fn is_private(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme) && scheme.contains('.'))
}

/// Nobody names such schemes, so that there is no authority that two slashes could stand before.
fn has_one_slash(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(_, rest)| rest.starts_with('/') && !rest.starts_with("//"))
}

/// Is this the address of a page: https, and nothing odd about it?
pub fn is_page(text: &str) -> bool {
    split(text).is_some_and(|parts| parts.scheme == "https" && host_fault(parts.host).is_none())
}

/// Is this an origin, as browsers send it: `https://host` or `https://host:port`, or on a loopback address
/// the same with `http`? Browsers leave out the port that nobody writes, so that one with it would never be
/// met.
pub fn is_origin(text: &str) -> bool {
    split(text).is_some_and(|parts| {
        (parts.scheme == "https" || (parts.scheme == "http" && is_loopback(parts.host)))
            && !parts.host.is_empty()
            && parts.rest.is_empty()
            && !names_default_port(&parts)
            && host_fault(parts.host).is_none()
    })
}

fn names_default_port(parts: &Parts<'_>) -> bool {
    parts.port.is_some() && parts.port == default_port(parts.scheme)
}

/// Is this an address under which applications may know a server (RFC 8414, section 2)? A page, without a query, and
/// with a path that can be written in one way only: nothing escaped, no empty parts.
///
/// All that is told is made of it and compared letter by letter: what a browser or a proxy writes in another way
/// would be another address.
pub fn is_issuer(text: &str) -> bool {
    let is_letter =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let is_segment = |text: &str| !text.is_empty() && text.bytes().all(is_letter);
    let is_path = |rest: &str| {
        let parts = rest.strip_prefix('/').map(|path| path.split('/'));
        rest.is_empty() || parts.is_some_and(|mut parts| parts.all(is_segment))
    };
    is_page(text)
        && split(text).is_some_and(|parts| !names_default_port(&parts) && is_path(parts.rest))
}

/// Plain HTTP to another machine.
pub fn is_insecure(uri: &str) -> bool {
    split(uri).is_some_and(|parts| parts.scheme == "http" && !is_loopback(parts.host))
}

/// The host to which a URI leads; none for this computer.
pub fn remote_host(uri: &str) -> Option<&str> {
    let parts = split(uri)?;
    (!parts.host.is_empty() && !is_loopback(parts.host)).then_some(parts.host)
}

fn is_loopback(host: &str) -> bool {
    matches!(host, "127.0.0.1" | "[::1]" | "localhost")
}

/// Where a URI leads, as a content policy names it: its origin; the scheme alone for private ones, and for
/// an IPv6 address, which policies have no words for (browsers pass over such a source, and block).
pub fn policy_source(uri: &str) -> String {
    match split(uri) {
        Some(parts) if parts.host.starts_with('[') => format!("{}:", parts.scheme),
        _ => origin(uri),
    }
}

/// Origin of a URI as browsers write it, without the port that nobody writes; the scheme alone for private ones.
pub fn origin(uri: &str) -> String {
    match split(uri) {
        Some(parts) if parts.host.is_empty() => format!("{}:", parts.scheme),
        Some(parts) if names_default_port(&parts) => format!("{}://{}", parts.scheme, parts.host),
        Some(parts) => uri[..uri.len() - parts.rest.len()].to_owned(),
        None => String::new(),
    }
}

/// Whether `sent` is one of the registered URIs. `native`: `localhost` too may have any port.
pub fn is_registered(registered: &[String], sent: &str, native: bool) -> bool {
    registered.iter().any(|known| known == sent || is_same_but_port(known, sent, native))
}

fn is_same_but_port(known: &str, sent: &str, native: bool) -> bool {
    let (Some(known), Some(sent)) = (split(known), split(sent)) else { return false };
    let is_free =
        matches!(known.host, "127.0.0.1" | "[::1]") || (native && known.host == "localhost");
    is_free
        && known.scheme == "http"
        && sent.scheme == "http"
        && known.host == sent.host
        && known.rest == sent.rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules<'_> =
        Rules { native: false, plain_http: false, own_origin: "https://store.example:9200" };

    #[test]
    fn good_uris_may_be_registered() {
        for good in [
            "https://app.example/cb",
            "https://app.example",
            "https://app.example:8443/cb?x=%20y",
            "http://127.0.0.1/cb",
            "http://[::1]:8080/cb",
            "http://localhost/cb",
            "https://xn--bcher-kva.example/cb",
            "https://store.example/cb",
            "https://192.0.2.7/cb",
            "https://[::ffff:102:304]/cb",
            "https://app.example:443/cb",
            "https://0x7f.example/cb",
            "https://1.example/cb",
            "https://app.0xy/cb",
        ] {
            assert_eq!(refusal(good, RULES), None, "{good}");
        }
        let native = Rules { native: true, ..RULES };
        assert_eq!(refusal("com.example.app:/cb", native), None);
        assert!(refusal("com.example.app:/cb", RULES).is_some());
        assert_eq!(refusal("http://app.example/cb", Rules { plain_http: true, ..RULES }), None);
    }

    #[test]
    fn tricks_are_refused() {
        let native = Rules { native: true, plain_http: true, ..RULES };
        for bad in [
            "",
            "cb",
            "//app.example/cb",
            "https:///cb",
            "https://",
            "https://app.example/cb#f",
            "https://user@app.example/cb",
            "https://app.example@evil.example/",
            "https://App.example/cb",
            "https://app.example/../cb",
            "https://app.example/%2e%2E/cb",
            "https://app.example/./cb",
            "https://app.example/c b",
            "https://app.example\\@evil/",
            "https://*.example/cb",
            "https://app.example/%zz",
            "https://app.example/%00",
            "https://app.example/a%0D%0ab",
            "https://app.example/?a=%1b",
            "https://app.example/%7F",
            "https://app.example/%C2%85",
            "https://app.example:0/",
            "https://app.example:65536/",
            "https://app.example:+80/",
            "https://app.example:/",
            "HTTPS://app.example/",
            "javascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "blob:https://a/b",
            "about:blank",
            "myapp:/cb",
            "https://store.example:9200/cb",
            "https://a..b/cb",
            "https://.example/cb",
            "https://app.example./cb",
            "https://-a.example/cb",
            "https://a-.example/cb",
            &format!("https://{}.example/cb", "a".repeat(64)),
            &format!("https://{}example/cb", "a.".repeat(124)),
            "https://bücher.example/",
            "https://[::g]/",
            "https://[0:0::1]/cb",
            "https://[::ffff:1.2.3.4]/cb",
            "com.example.app:cb",
            "com.example.app:/%00",
            // Numbers that a browser reads as 127.0.0.1, and others.
            "https://2130706433/cb",
            "https://0x7f000001/cb",
            "https://0x7f.0.0.1/cb",
            "https://0177.0.0.1/cb",
            "https://017700000001/cb",
            "https://127.1/cb",
            "https://127.0.0.1./cb",
            "https://0x/cb",
            "https://app.0x1f/cb",
            "https://app.example.1/cb",
            "https://256.0.0.1/cb",
            "https://1.2.3.4.5/cb",
        ] {
            assert!(refusal(bad, native).is_some(), "{bad}");
        }
        for own_origin in
            ["https://store.example", "https://store.example:443", "https://Store.Example"]
        {
            for uri in ["https://store.example/cb", "https://store.example:443/cb"] {
                assert!(refusal(uri, Rules { own_origin, ..RULES }).is_some(), "{uri}");
            }
            let other = "https://store.example:444/cb";
            assert_eq!(refusal(other, Rules { own_origin, ..RULES }), None);
        }
        let longest = format!("https://{}.example/cb", "a".repeat(63));
        assert_eq!(refusal(&longest, RULES), None);
        assert!(refusal("http://app.example/cb", RULES).is_some());
        assert!(refusal(&format!("https://a.example/{}", "x".repeat(2048)), RULES).is_some());
    }

    #[test]
    fn a_scheme_of_its_own_stands_before_one_slash() {
        let native = Rules { native: true, ..RULES };
        assert_eq!(refusal("com.example.app:/cb/%C3%A9?x=%20", native), None);
        for uri in [
            "com.example.app://cb",
            "com.example.app://cb/x",
            "com.example.app:///cb",
            "com.example.app:cb",
        ] {
            let told = refusal(uri, native).expect(uri);
            assert!(told[0].contains("before one slash"), "{uri}: {told:?}");
            let told = refusal(uri, RULES).expect(uri);
            assert!(told[0].contains("native applications"), "{uri}: {told:?}");
        }
        assert_eq!(refusal("myapp:/cb", native), Some(SCHEME));
    }

    #[test]
    fn origins_and_pages_are_what_browsers_write() {
        for good in [
            "https://app.example",
            "https://app.example:8443",
            "http://localhost:3000",
            "https://[::1]",
        ] {
            assert!(is_origin(good), "{good}");
        }
        for bad in [
            "",
            "*",
            "null",
            "javascript:1",
            "https://app.example/",
            "https://app.example/path",
            "https://app.example?x",
            "https://*.example",
            "https://App.example",
            "https://me@app.example",
            "https://app.example:",
            "https://2130706433",
            "app.example",
            "com.example.app:",
            "ftp://app.example",
            "http://app.example",
            "https://app.example:443",
            "http://localhost:80",
            "https://a..b",
            "https://a.example https://b.example",
        ] {
            assert!(!is_origin(bad), "{bad}");
        }
        assert!(is_page("https://app.example/about") && !is_page("http://app.example/about"));
        assert!(!is_page("https://2130706433/about"));
    }

    #[test]
    fn a_server_is_known_by_what_is_written_in_one_way() {
        for good in [
            "https://a",
            "https://id.example:8443",
            "https://id.example/es/v~1",
            "https://127.0.0.1:9200",
            "https://[::1]:9200",
            "https://[2001:db8::1]",
            "https://[::ffff:0:0]",
            "https://my-host/.well",
            "https://a.3com",
            "https://0x7f.1.com",
        ] {
            assert!(is_issuer(good), "{good}");
        }
        for bad in [
            "",
            "https://",
            "https:///x",
            "https://:443",
            "http://a",
            "https:a",
            "https:/a",
            "https://a/",
            "https://a:",
            "https://a:0",
            "https://a:99999",
            "https://a:+1",
            "https://a:0443",
            "https://a:443/x",
            "https://127.1",
            "https://127.0.0.01",
            "https://2130706433",
            "https://0x7f.1",
            "https://[0:0::1]",
            "https://[::ffff:1.2.3.4]",
            "https://[2001:DB8::1]",
            "https://[::1",
            "https://::1",
            "https://A.example",
            "https://my_host",
            "https://-a.example",
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
            "https://a/a%20b",
            "https://a/\"x",
            "https://a/ü",
            "https://ü",
            "https://a b",
            "https://a?x",
            "https://a/x?y",
            "https://a/x#y",
        ] {
            assert!(!is_issuer(bad), "{bad}");
        }
    }

    #[test]
    fn matching_is_exact_but_for_loopback_ports() {
        let known = [
            "https://app.example/cb".to_owned(),
            "http://127.0.0.1/cb".to_owned(),
            "http://localhost:1/cb".to_owned(),
        ];
        let fits = |sent: &str| is_registered(&known, sent, false);
        for good in [
            "https://app.example/cb",
            "http://127.0.0.1/cb",
            "http://127.0.0.1:51004/cb",
            "http://localhost:1/cb",
        ] {
            assert!(fits(good), "{good}");
        }
        for bad in [
            "https://app.example/cb/",
            "https://app.example/cb?x",
            "https://app.example.evil/cb",
            "https://app.example/CB",
            "https://app.example:443/cb",
            "https://app.example/%63b",
            "https://app.example@evil/cb",
            "http://127.0.0.1:51004/cb2",
            "http://127.0.0.1:99999/cb",
            "http://127.0.0.2/cb",
            "http://0.0.0.0/cb",
            "http://2130706433/cb",
            "http://localhost:2/cb",
            "https://127.0.0.1/cb",
            "http://127.0.0.1:0/cb",
            "https://app.example/cb#",
            "",
        ] {
            assert!(!fits(bad), "{bad}");
        }
        assert!(
            is_registered(&known, "http://localhost:2/cb", true),
            "native programs write localhost"
        );
    }

    #[test]
    fn a_page_names_where_it_leads() {
        assert_eq!(remote_host("https://app.example:8443/cb"), Some("app.example"));
        assert_eq!(remote_host("http://127.0.0.1:1/cb"), None);
        assert_eq!(remote_host("com.example.app:/cb"), None);
        assert_eq!(origin("https://app.example:8443/cb?x"), "https://app.example:8443");
        assert_eq!(origin("https://app.example:443/cb?x"), "https://app.example");
        assert_eq!(origin("http://127.0.0.1:80"), "http://127.0.0.1");
        assert_eq!(origin("https://app.example:80/cb"), "https://app.example:80");
        assert_eq!(origin("com.example.app:/cb"), "com.example.app:");
        assert_eq!(policy_source("https://app.example:8443/cb?x"), "https://app.example:8443");
        assert_eq!(policy_source("http://127.0.0.1:33749/cb"), "http://127.0.0.1:33749");
        assert_eq!(policy_source("http://[::1]:33749/cb"), "http:");
        assert_eq!(policy_source("com.example.app:/cb"), "com.example.app:");
        assert!(is_insecure("http://app.example/cb") && !is_insecure("http://[::1]/cb"));
    }
}
