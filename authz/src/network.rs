//! Networks of addresses: whoever has one address often has more.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What stands for one who has an address, as text and without a port: that itself, or its /64, of which each machine
/// has all.
pub fn place(address: &str) -> String {
    network(address, 32, 64)
}

/// The network of so many bits in which an address is; what is none stands for itself.
pub fn network(address: &str, bits_v4: u32, bits_v6: u32) -> String {
    let Ok(ip) = address.parse::<IpAddr>() else { return address.to_owned() };
    // One of the fourth version may come as one of the sixth: all of them would be neighbours.
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32 - bits_v4).unwrap_or(0);
            format!("{}/{bits_v4}", Ipv4Addr::from_bits(ip.to_bits() & mask))
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128 - bits_v6).unwrap_or(0);
            format!("{}/{bits_v6}", Ipv6Addr::from_bits(ip.to_bits() & mask))
        }
    }
}
