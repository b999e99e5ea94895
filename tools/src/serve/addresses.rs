//! Addresses: taking the first free port, and the names under which the node is reached.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use runtime::net::{Listener, Reserved};
use runtime::tls_client::is_name;

use crate::config::Endpoint;
use crate::failure::{Code, Failure, Result};

/// Listens on the first free port.
pub fn listen(endpoint: &Endpoint) -> Result<Listener> {
    first_free(endpoint, "http", Listener::bind)
}

/// Keeps the first free port for the transport, which nothing speaks yet.
pub fn reserve(endpoint: &Endpoint) -> Result<Reserved> {
    first_free(endpoint, "transport", Reserved::bind)
}

fn first_free<T>(
    endpoint: &Endpoint,
    what: &str,
    bind: impl Fn(SocketAddr) -> io::Result<T>,
) -> Result<T> {
    for address in endpoint.addresses() {
        match bind(address) {
            Ok(bound) => return Ok(bound),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => {
                return Err(Failure::new(
                    Code::Setting,
                    format!("{what}.host and {what}.port: binding {address}: {error}"),
                ));
            }
        }
    }
    let (first, last) = (endpoint.ports.start(), endpoint.ports.end());
    let ports = if first == last {
        format!("port {first} of {} is", endpoint.host)
    } else {
        format!("all ports from {first} to {last} of {} are", endpoint.host)
    };
    Err(Failure::new(
        Code::Address,
        format!("{ports} in use; stop what uses it, or choose another with --{what} HOST:PORT"),
    ))
}

/// The names that the node's certificate must hold.
pub fn names(http: &Endpoint, host_name: &str) -> Vec<String> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).into();
    names.push(host_name.to_owned());
    if http.ip.is_unspecified() {
        names.extend(own_addresses(host_name).map(|ip| ip.to_string()));
    } else {
        names.push(http.host.trim_start_matches('[').trim_end_matches(']').to_owned());
        names.push(http.ip.to_string());
    }
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        if is_name(&name) && !kept.contains(&name) {
            kept.push(name);
        }
    }
    kept
}

fn addresses_of(host_name: &str) -> impl Iterator<Item = IpAddr> {
    let found = (host_name, 0).to_socket_addrs();
    found.into_iter().flatten().map(|address| address.ip())
}

/// What the host's name means, then what its interfaces have.
fn own_addresses(host_name: &str) -> impl Iterator<Item = IpAddr> {
    let interfaces = runtime::system::interface_addresses().unwrap_or_default();
    addresses_of(host_name).chain(interfaces)
}

/// The address to tell to others: one that they can reach.
pub fn published(bound: SocketAddr, host_name: &str) -> SocketAddr {
    if !bound.ip().is_unspecified() {
        return bound;
    }
    let reachable = own_addresses(host_name)
        .find(|ip| !ip.is_loopback() && !ip.is_unspecified() && (bound.is_ipv6() || ip.is_ipv4()));
    SocketAddr::new(reachable.unwrap_or_else(|| loopback(bound.ip())), bound.port())
}

fn loopback(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

/// The base of every request from this machine.
pub fn url(http: &Endpoint, bound: SocketAddr, tls: bool) -> String {
    let scheme = if tls { "https" } else { "http" };
    let host = http.host.trim_start_matches('[').trim_end_matches(']');
    let ip = if bound.ip().is_unspecified() { loopback(bound.ip()) } else { bound.ip() };
    let is_host_name = host.parse::<IpAddr>().is_err() && host != "_local_";
    if is_host_name {
        format!("{scheme}://{host}:{}", bound.port())
    } else {
        format!("{scheme}://{}", SocketAddr::new(ip, bound.port()))
    }
}

/// The host of such an address.
pub fn host_of(url: &str) -> &str {
    let address = url.rsplit_once("://").map_or(url, |(_, address)| address);
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(host: &str, ip: &str) -> Endpoint {
        Endpoint { host: host.into(), ip: ip.parse().expect("an address"), ports: 0..=0 }
    }

    #[test]
    fn the_next_port_is_taken_where_one_is_in_use() {
        let taken = listen(&endpoint("127.0.0.1", "127.0.0.1")).expect("any port");
        let port = taken.address().port();
        let only = Endpoint { ports: port..=port, ..endpoint("127.0.0.1", "127.0.0.1") };
        let failure = listen(&only).expect_err("in use");
        assert_eq!(failure.code, Code::Address);
        assert!(failure.sentence.contains(&port.to_string()), "{failure}");
        assert!(failure.sentence.contains("--http"), "{failure}");
        assert_eq!(reserve(&only).expect_err("in use").code, Code::Address);
        let last = port.saturating_add(50);
        let next = listen(&Endpoint { ports: port..=last, ..only }).expect("a later one");
        assert!(next.address().port() > port);
    }

    #[test]
    fn an_address_of_another_machine_is_a_wrong_setting() {
        let failure = listen(&endpoint("192.0.2.1", "192.0.2.1")).expect_err("not ours");
        assert_eq!(failure.code, Code::Setting);
        assert!(failure.sentence.contains("http.host"), "{failure}");
    }

    #[test]
    fn the_certificate_holds_each_name_once() {
        let names = names(&endpoint("localhost", "127.0.0.1"), "box");
        assert_eq!(names, ["localhost", "127.0.0.1", "::1", "box"]);
        let odd = super::names(&endpoint("10.0.0.7", "10.0.0.7"), "not a name!");
        assert_eq!(odd, ["localhost", "127.0.0.1", "::1", "10.0.0.7"]);
    }

    #[test]
    fn the_url_is_one_that_works_here() {
        let at = |text: &str| text.parse().expect("an address");
        let cases = [
            ("127.0.0.1", "127.0.0.1:9200", "https://127.0.0.1:9200"),
            ("0.0.0.0", "0.0.0.0:9200", "https://127.0.0.1:9200"),
            ("::", "[::]:9200", "https://[::1]:9200"),
            ("localhost", "127.0.0.1:9201", "https://localhost:9201"),
            ("_local_", "127.0.0.1:9201", "https://127.0.0.1:9201"),
        ];
        for (host, bound, expected) in cases {
            let bound: SocketAddr = at(bound);
            let endpoint = Endpoint { host: host.into(), ip: bound.ip(), ports: 0..=0 };
            assert_eq!(url(&endpoint, bound, true), expected);
        }
        let plain = url(&endpoint("127.0.0.1", "127.0.0.1"), at("127.0.0.1:1"), false);
        assert_eq!(plain, "http://127.0.0.1:1");
    }

    #[test]
    fn others_are_told_an_address_they_can_reach() {
        let bound: SocketAddr = "127.0.0.1:9200".parse().expect("an address");
        assert_eq!(published(bound, "box"), bound);
        let any: SocketAddr = "0.0.0.0:9200".parse().expect("an address");
        assert!(!published(any, "localhost").ip().is_unspecified());
    }
}
