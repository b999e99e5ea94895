//! Buckets between ends: numbers, dates, addresses.

use std::net::IpAddr;

use json::spanned::{Kind as Json, Node};

use super::super::context::{Fault, Read, Takes, boolean, int, object, scalar, text, text_or_null};
use super::values::{Knows, double, values_object};
use crate::aggs::spec::{IpPrefix, IpRange, IpRangeOf, Kind, Range, RangeOf};

/// `range` and `date_range`.
pub fn range(node: &Node, dates: bool) -> Read<Kind> {
    let own = [("ranges", Takes::Array), ("keyed", Takes::Bool)];
    let (mut ranges, mut keyed) = (Vec::new(), false);
    let mut knows = Knows::new(if dates { "date_range" } else { "range" });
    knows.zone = dates;
    let values = values_object(knows, &own, node, |key, value| {
        match key {
            "ranges" => {
                for node in value.as_array().unwrap_or_default() {
                    ranges.push(one(node)?);
                }
            }
            _ => keyed = boolean(value)?,
        }
        Ok(())
    })?;
    Ok(Kind::Range(Box::new(Range { values, ranges, keyed, dates })))
}

fn one(node: &Node) -> Read<RangeOf> {
    let fields = [("key", Takes::Value), ("from", Takes::Value), ("to", Takes::Value)];
    if node.as_object().is_none() {
        let reason = format!("[range] Expected START_OBJECT but was: {}", node.token());
        return Err(Fault::content(node.at, node.at, reason));
    }
    let mut range = RangeOf::default();
    object("range", &fields, node, |key, value| {
        match key {
            "key" => range.key = text_or_null(value)?,
            "from" => range.from = scalar(value)?,
            _ => range.to = scalar(value)?,
        }
        Ok(())
    })?;
    Ok(range)
}

/// `ip_range`.
pub fn ip_range(name: &str, node: &Node) -> Read<Kind> {
    let own = [("ranges", Takes::Array), ("keyed", Takes::Bool)];
    let (mut ranges, mut keyed) = (Vec::new(), false);
    let knows = Knows::new("ip_range").unformatted();
    let values = values_object(knows, &own, node, |key, value| {
        match key {
            "ranges" => {
                for node in value.as_array().unwrap_or_default() {
                    ranges.push(ip_one(node)?);
                }
            }
            _ => keyed = boolean(value)?,
        }
        Ok(())
    })?;
    if ranges.is_empty() {
        let reason = format!("No [ranges] specified for the [{name}] aggregation");
        return Err(Fault::illegal(node.end, reason));
    }
    Ok(Kind::IpRange(Box::new(IpRange { values, ranges, keyed })))
}

fn ip_one(node: &Node) -> Read<IpRangeOf> {
    let fields = [
        ("key", Takes::Value),
        ("from", Takes::Value),
        ("to", Takes::Value),
        ("mask", Takes::Value),
    ];
    let mut range = IpRangeOf::default();
    let mut mask = None;
    object("range", &fields, node, |key, value| {
        match key {
            "key" => range.key = text_or_null(value)?,
            "mask" => mask = text_or_null(value)?,
            _ => {
                let Some(text) = text_or_null(value)? else { return Ok(()) };
                let address = address(&text).ok_or_else(|| not_ip(&text, value))?;
                match key {
                    "from" => range.from = Some(address),
                    _ => range.to = Some(address),
                }
            }
        }
        Ok(())
    })?;
    if let Some(mask) = mask {
        if range.from.is_some() || range.to.is_some() {
            return Err(Fault::illegal(
                node.end,
                "Cannot specify [mask] together with [from] or [to]",
            ));
        }
        let (from, to) =
            network(&mask).ok_or_else(|| Fault::illegal(node.end, bad_network(&mask)))?;
        (range.from, range.to) = (from, to);
        range.key.get_or_insert(mask);
    }
    Ok(range)
}

fn not_ip(text: &str, node: &Node) -> Fault {
    Fault::illegal(node.at, format!("'{text}' is not an IP string literal."))
}

/// An address as 16 bytes.
pub fn address(text: &str) -> Option<[u8; 16]> {
    Some(match text.parse::<IpAddr>().ok()? {
        IpAddr::V4(four) => four.to_ipv6_mapped().octets(),
        IpAddr::V6(six) => six.octets(),
    })
}

/// Why a text is no network.
fn bad_network(mask: &str) -> String {
    match mask.split_once('/') {
        Some((address, length)) if address.parse::<IpAddr>().is_ok() => format!(
            "Illegal prefix length [{length}] in [{mask}]. Must be 0-32 for IPv4 ranges, 0-128 \
             for IPv6 ranges"
        ),
        Some((address, _)) => format!("'{address}' is not an IP string literal."),
        None => format!("Expected [ip/prefix] but was [{mask}]"),
    }
}

type Network = (Option<[u8; 16]>, Option<[u8; 16]>);

/// First address of a network, and the first after it (none where it ends with the last).
fn network(text: &str) -> Option<Network> {
    let (start, length) = text.split_once('/')?;
    let start: IpAddr = start.parse().ok()?;
    let length: u32 = length.parse().ok()?;
    let (bytes, length) = match start {
        IpAddr::V4(four) if length <= 32 => (four.to_ipv6_mapped().octets(), length + 96),
        IpAddr::V6(six) if length <= 128 => (six.octets(), length),
        _ => return None,
    };
    let host = if length == 128 { 0 } else { u128::MAX >> length };
    let from = u128::from_be_bytes(bytes) & !host;
    let last = from | host;
    let to = last.checked_add(1).map(u128::to_be_bytes);
    // The network of all addresses has no ends.
    let from = if from == 0 { None } else { Some(from.to_be_bytes()) };
    Some((from, to))
}

/// `ip_prefix`.
pub fn ip_prefix(node: &Node) -> Read<Kind> {
    let own = [
        ("prefix_length", Takes::Number),
        ("is_ipv6", Takes::Bool),
        ("append_prefix_length", Takes::Bool),
        ("keyed", Takes::Bool),
        ("min_doc_count", Takes::Number),
    ];
    let mut found = IpPrefix {
        values: Default::default(),
        length: 0,
        is_ipv6: false,
        append_length: false,
        keyed: false,
        min_doc_count: 1,
    };
    let mut length = None;
    let values = values_object(Knows::new("ip_prefix").unscripted(), &own, node, |key, value| {
        match key {
            "prefix_length" => length = Some(int(value)?),
            "is_ipv6" => found.is_ipv6 = boolean(value)?,
            "append_prefix_length" => found.append_length = boolean(value)?,
            "keyed" => found.keyed = boolean(value)?,
            _ => {
                let count = super::values::long(value)?;
                if count < 1 {
                    let reason = "[min_doc_count] must be greater than 0";
                    return Err(Fault::illegal(value.at, reason));
                }
                found.min_doc_count = count as u64;
            }
        }
        Ok(())
    })?;
    let Some(length) = length else {
        return Err(Fault::illegal(node.end, "Required [prefix_length]"));
    };
    let most = if found.is_ipv6 { 128 } else { 32 };
    if !(0..=most).contains(&length) {
        let reason =
            format!("[prefix_length] must be in range [0, {most}] while value is [{length}]");
        return Err(Fault::illegal(node.end, reason));
    }
    found.length = length as u8;
    found.values = values;
    Ok(Kind::IpPrefix(Box::new(found)))
}

/// A text or a number as a double.
pub fn end(node: &Node) -> Read<Option<f64>> {
    match &node.kind {
        Json::Null => Ok(None),
        Json::String(_) | Json::Number(_) => double(node).map(Some),
        _ => text(node).map(|_| None),
    }
}
