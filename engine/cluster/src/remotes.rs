//! Settings of other clusters: `cluster.remote.<name>.<what>`.
//!
//! There are none, so nothing reads them; who sets them is told what is wrong all the same. That is asked of what is
//! set newly, never of what a log says: older ones hold any name and value below this family.

use std::collections::BTreeSet;

use json::Value;

use crate::cluster_settings::Layer;
use crate::error::{Error, Result};
use crate::patterns::{Cost, Steps};
use crate::settings::{check_as, host};
use crate::settings_table::Type;

/// What all these names begin with.
pub const FAMILY: &str = "cluster.remote.";

/// What stands behind the name of a cluster, its type, and the mode that it is of.
const PARTS: [(&str, Type, Option<&str>); 11] = [
    (MODE, Type::AnyCase(&["sniff", "proxy"]), None),
    ("node_connections", Type::Int(1, i32::MAX as i64), Some("SNIFF")),
    ("proxy", Type::Text, Some("SNIFF")),
    ("proxy_address", Type::Text, Some("PROXY")),
    ("proxy_socket_connections", Type::Int(1, i32::MAX as i64), Some("PROXY")),
    ("seeds", Type::List, Some("SNIFF")),
    ("server_name", Type::Text, Some("PROXY")),
    ("skip_unavailable", Type::Bool, None),
    ("transport.compress", Type::AnyCase(&["true", "indexing_data", "false"]), None),
    ("transport.compression_scheme", Type::AnyCase(&["lz4", "deflate"]), None),
    ("transport.ping_schedule", Type::Time { never: true }, None),
];

const MODE: &str = "mode";

/// Those of no cluster, which stand in the file of a node.
const OF_NODE: [&str; 3] = ["connections_per_cluster", "initial_connect_timeout", "node.attr"];

/// What nobody may set of a cluster that has no address.
const NEEDS_ADDRESS: [&str; 4] = [
    "skip_unavailable",
    "transport.compress",
    "transport.compression_scheme",
    "transport.ping_schedule",
];

/// May `update` be worked into a layer of settings, of which `held` is set? `title` says which layer it is. Only
/// what it names is looked at.
///
/// # Errors
/// In Elasticsearch's words.
pub fn check(title: &str, held: &Layer, update: &Layer) -> Result<()> {
    let mut after: Layer =
        of_family(held).map(|(name, value)| (name.clone(), value.clone())).collect();
    let patterns = of_family(update).filter(|(name, value)| value.is_null() && name.contains('*'));
    let cost = Cost::of(patterns.map(|(name, _)| name.as_str()));
    let mut steps = Steps::default();
    // What is set comes under the patterns behind it, too.
    let mut names = after.keys().chain(of_family(update).map(|(name, _)| name));
    if !names.all(|name| steps.spend(cost.steps(name))) {
        // The change is refused for it (`admit`).
        return Ok(());
    }
    for (name, value) in of_family(update) {
        match value {
            Value::Null if name.contains('*') => {
                after.retain(|held, _| !json::path::glob(name.as_bytes(), held.as_bytes()));
            }
            Value::Null => {
                part_of(title, name)?;
                after.remove(name);
            }
            value => {
                check_value(title, name, value)?;
                after.insert(name.clone(), value.clone());
            }
        }
    }
    fn name_of(name: &str) -> Option<&str> {
        cluster_of(name).map(|(cluster, _)| cluster)
    }
    let named: BTreeSet<&str> = of_family(update).filter_map(|(name, _)| name_of(name)).collect();
    let is_named = |name: &&String| name_of(name).is_some_and(|cluster| named.contains(cluster));
    after.keys().filter(is_named).try_for_each(|name| {
        check_mode(&after, name)?;
        check_address(&after, name)
    })
}

fn of_family(layer: &Layer) -> impl Iterator<Item = (&String, &Value)> {
    layer.range(FAMILY.to_owned()..).take_while(|(name, _)| name.starts_with(FAMILY))
}

/// The name of the other cluster, and what is set of it.
fn cluster_of(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(FAMILY)?.split_once('.')
}

/// What a name sets: its type, and the mode that it is of.
fn part_of(title: &str, name: &str) -> Result<(Type, Option<&'static str>)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let found = cluster_of(name).and_then(|(cluster, what)| {
        let part = PARTS.iter().find(|(part, ..)| *part == what)?;
        (!cluster.is_empty() && cluster.bytes().all(is_word)).then_some((part.1, part.2))
    });
    found.ok_or_else(|| {
        let is_of_node = name.strip_prefix(FAMILY).is_some_and(|what| OF_NODE.contains(&what));
        let why = if is_of_node { "not dynamically updateable" } else { "not recognized" };
        Error::argument(format!("{title} setting [{name}], {why}"))
    })
}

fn check_value(title: &str, name: &str, value: &Value) -> Result<()> {
    let (ty, _) = part_of(title, name)?;
    // Any value but a list is text by now; a list is read as Java prints it where it should be none.
    let text = match value {
        Value::Array(items) if ty == Type::List => {
            return items.iter().filter_map(Value::as_str).try_for_each(host);
        }
        Value::Array(items) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            format!("[{}]", items.join(", "))
        }
        value => value.as_str().unwrap_or_default().to_owned(),
    };
    match (ty, cluster_of(name).map_or("", |(_, what)| what)) {
        (Type::AnyCase(words), what) if !words.contains(&text.to_ascii_lowercase().as_str()) => {
            let kind = match what {
                MODE => "RemoteConnectionStrategy.ConnectionStrategy",
                "transport.compress" => "Compression.Enabled",
                _ => "Compression.Scheme",
            };
            Err(Error::argument(format!(
                "No enum constant org.elasticsearch.transport.{kind}.{}",
                text.to_uppercase()
            )))
        }
        (Type::List, _) => {
            let hosts = text.split(',').map(str::trim).filter(|host| !host.is_empty());
            hosts.into_iter().try_for_each(host)
        }
        (_, "proxy" | "proxy_address") if !text.is_empty() => host(&text),
        (ty, _) => check_as(name, ty, &text),
    }
}

/// A setting of one mode is of no use, and refused, in the other.
fn check_mode(after: &Layer, name: &str) -> Result<()> {
    let Some((cluster, what)) = cluster_of(name) else { return Ok(()) };
    let part = PARTS.iter().find(|(part, ..)| *part == what);
    let Some(required) = part.and_then(|(.., mode)| *mode) else { return Ok(()) };
    let mode = format!("{FAMILY}{cluster}.{MODE}");
    let configured = mode_of(after, cluster);
    if configured == required {
        return Ok(());
    }
    Err(Error::argument(format!(
        "Setting \"{name}\" cannot be used with the configured \"{mode}\" [required={required}, \
         configured={configured}]"
    )))
}

/// `SNIFF` or `PROXY`.
fn mode_of(after: &Layer, cluster: &str) -> String {
    let mode = after.get(&format!("{FAMILY}{cluster}.{MODE}")).and_then(Value::as_str);
    mode.unwrap_or("sniff").to_uppercase()
}

/// How a cluster is spoken to is of no use, and refused, where nobody says where it is.
fn check_address(after: &Layer, name: &str) -> Result<()> {
    let Some((cluster, what)) = cluster_of(name) else { return Ok(()) };
    if !NEEDS_ADDRESS.contains(&what) {
        return Ok(());
    }
    let address = if mode_of(after, cluster) == "PROXY" { "proxy_address" } else { "seeds" };
    let is_there = match after.get(&format!("{FAMILY}{cluster}.{address}")) {
        Some(Value::Array(hosts)) => !hosts.is_empty(),
        Some(text) => text.as_str().is_some_and(|text| !text.trim().is_empty()),
        None => false,
    };
    if is_there {
        return Ok(());
    }
    Err(Error::argument(format!(
        "Cannot configure setting [{name}] if remote cluster is not enabled."
    )))
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;
    use crate::cluster_settings::flatten;

    fn told(held: &Value, update: &Value) -> String {
        let layer = |value| flatten(value).expect("an object");
        match check(
            "persistent",
            &layer(held),
            &layer(&json!({"cluster.remote": (update.clone())})),
        ) {
            Ok(()) => "ok".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn names_and_values_are_judged() {
        for (update, expected) in [
            (json!({"a.seeds": ["h:1", "[::1]:9300"], "a.skip_unavailable": true}), "ok"),
            (json!({"a": {"mode": "PROXY", "proxy_address": "h:1", "server_name": "x"}}), "ok"),
            (
                json!({"a.seeds": "h:1", "a.transport": {"ping_schedule": "-1", "compress": "Indexing_data"}}),
                "ok",
            ),
            (
                json!({"a.mode": "proxy", "a.skip_unavailable": true}),
                "Cannot configure setting [cluster.remote.a.skip_unavailable] if remote cluster is not enabled.",
            ),
            (
                json!({"a.seeds": [], "a.transport.compress": true}),
                "Cannot configure setting [cluster.remote.a.transport.compress] if remote cluster is not enabled.",
            ),
            (json!({"a.foo": "x"}), "persistent setting [cluster.remote.a.foo], not recognized"),
            (json!({"a.foo": null}), "persistent setting [cluster.remote.a.foo], not recognized"),
            (json!({"a": "1"}), "persistent setting [cluster.remote.a], not recognized"),
            (
                json!({"a b.mode": "x"}),
                "persistent setting [cluster.remote.a b.mode], not recognized",
            ),
            (
                json!({"initial_connect_timeout": "1s"}),
                "persistent setting [cluster.remote.initial_connect_timeout], not dynamically updateable",
            ),
            (
                json!({"a.mode": "zz"}),
                "No enum constant org.elasticsearch.transport.RemoteConnectionStrategy.ConnectionStrategy.ZZ",
            ),
            (
                json!({"a.transport.compress": "zz"}),
                "No enum constant org.elasticsearch.transport.Compression.Enabled.ZZ",
            ),
            (
                json!({"a.skip_unavailable": "zz"}),
                "Failed to parse value [zz] as only [true] or [false] are allowed.",
            ),
            (
                json!({"a.node_connections": "0"}),
                "Failed to parse value [0] for setting [cluster.remote.a.node_connections] must be >= 1",
            ),
            (json!({"a.seeds": ["h:x"]}), "failed to parse port"),
            (
                json!({"a.mode": "proxy", "a.proxy_address": "h"}),
                "remote hosts need to be configured as [host:port], found [h] instead",
            ),
        ] {
            assert_eq!(told(&json!({}), &update), expected, "{update:?}");
        }
    }

    #[test]
    fn an_address_is_not_taken_back_alone() {
        let held =
            json!({"cluster.remote.a.seeds": ["h:1"], "cluster.remote.a.skip_unavailable": "true"});
        let expected = "Cannot configure setting [cluster.remote.a.skip_unavailable] if remote cluster is \
                        not enabled.";
        assert_eq!(told(&held, &json!({"a.seeds": null})), expected);
        assert_eq!(told(&held, &json!({"a.seeds": null, "a.skip_unavailable": null})), "ok");
        assert_eq!(told(&held, &json!({"a.*": null})), "ok");
        assert_eq!(told(&held, &json!({"b.seeds": "h:2"})), "ok");
    }

    #[test]
    fn settings_are_of_the_mode_that_is_set() {
        let sniffs = json!({"cluster.remote.a.seeds": ["h:1"], "cluster.remote.b.foo": "old"});
        let expected = "Setting \"cluster.remote.a.seeds\" cannot be used with the configured \
                        \"cluster.remote.a.mode\" [required=SNIFF, configured=PROXY]";
        assert_eq!(told(&sniffs, &json!({"a.mode": "proxy"})), expected);
        assert_eq!(told(&sniffs, &json!({"a.mode": "proxy", "a.seeds": null})), "ok");
        assert_eq!(told(&sniffs, &json!({"a.mode": "proxy", "a.s*": null})), "ok");
        assert_eq!(told(&sniffs, &json!({"c.mode": "proxy"})), "ok");
        let expected = "Setting \"cluster.remote.a.server_name\" cannot be used with the configured \
                        \"cluster.remote.a.mode\" [required=PROXY, configured=SNIFF]";
        assert_eq!(told(&json!({}), &json!({"a.server_name": "x"})), expected);
    }
}
