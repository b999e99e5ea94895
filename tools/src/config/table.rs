//! Every setting by name. Names are Elasticsearch's wherever it has one.

use base::near;

use super::source::Given;
use crate::failure::{Code, Failure, Result};

/// The known names but for those of the OAuth half; one that ends in `.` stands for all names that
/// begin so.
const NAMES: &[&str] = &[
    "cluster.initial_master_nodes",
    "cluster.name",
    "discovery.seed_hosts",
    "http.host",
    "http.port",
    "indices.memory",
    "network.host",
    "node.attr.",
    "node.name",
    "node.processors",
    "oauth.enabled",
    "oauth.issuer",
    "path.data",
    "path.logs",
    "path.repo",
    "transport.host",
    "transport.port",
    "xpack.security.audit.enabled",
    "xpack.security.authc.api_key.delete.interval",
    "xpack.security.authc.api_key.delete.retention_period",
    "xpack.security.enabled",
    "xpack.security.http.ssl.certificate",
    "xpack.security.http.ssl.certificate_authorities",
    "xpack.security.http.ssl.enabled",
    "xpack.security.http.ssl.key",
    "xpack.security.transport.ssl.certificate",
    "xpack.security.transport.ssl.certificate_authorities",
    "xpack.security.transport.ssl.enabled",
    "xpack.security.transport.ssl.key",
];

/// Refuses an unknown name, and offers the nearest known one.
pub fn check_name(given: &Given) -> Result<()> {
    if is_known(&given.name) {
        return Ok(());
    }
    let meant = match (elsewhere(&given.name), nearest(&given.name)) {
        (Some(elsewhere), _) => elsewhere.to_owned(),
        (None, (name, true)) => format!("did you mean [{name}]?"),
        (None, (name, false)) => format!(
            "the nearest of those there are is [{name}]; docs/guide/settings.md tells of all"
        ),
    };
    Err(Failure::new(
        Code::Setting,
        format!("{}: unknown setting [{}], {meant}", given.place, given.name),
    ))
}

/// The names of those that a file may give as a list. A host is one, but Elasticsearch's files write
/// it so, too: what it holds is judged where it is read.
const LISTS: &[&str] = &[
    "cluster.initial_master_nodes",
    "discovery.seed_hosts",
    "http.host",
    "network.host",
    "oauth.trusted_proxies",
    "path.repo",
    "transport.host",
    "xpack.security.http.ssl.certificate_authorities",
    "xpack.security.transport.ssl.certificate_authorities",
];

/// Refuses a list where one value is wanted.
pub fn check_list(given: &Given) -> Result<()> {
    if !given.is_list || LISTS.contains(&given.name.as_str()) {
        return Ok(());
    }
    let (Given { name, place, .. }, value) = (given, given.told());
    Err(Failure::new(
        Code::Setting,
        format!("{place}: {name} is the list [{value}], but must be one value"),
    ))
}

/// Refuses what no text of a setting holds, and would end one where it is handed on.
pub fn check_text(given: &Given) -> Result<()> {
    let Given { name, value, place, .. } = given;
    if !value.contains('\0') {
        return Ok(());
    }
    let shown = given.told().replace('\0', "\\0");
    Err(Failure::new(
        Code::Setting,
        format!("{place}: {name} is [{shown}], but must be a text without the character 0"),
    ))
}

/// All names.
fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().chain(net::oauth::Settings::NAMES).copied()
}

fn is_known(name: &str) -> bool {
    names().any(|known| {
        if known.ends_with('.') {
            name.len() > known.len() && name.starts_with(known)
        } else {
            known == name
        }
    })
}

/// Where a name belongs that is none of a node's.
fn elsewhere(name: &str) -> Option<&'static str> {
    if cluster::cluster_settings::is_dynamic(name) {
        return Some(
            "it is one of the cluster: set it with `PUT _cluster/settings` once the node runs",
        );
    }
    cluster::settings::is_known(name).then_some(
        "it is one of an index: set it when the index is made, in a template, or with \
         `PUT INDEX/_settings`",
    )
}

/// The known name that needs the fewest changes to become `name`, in whatever case that is written, and whether
/// these are fewer than half of its letters: only then was it likely meant. One that others begin with is
/// nearest to the first of those.
pub fn nearest(name: &str) -> (&'static str, bool) {
    let name = &name.to_ascii_lowercase();
    let begins = |known: &&str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    if let Some(known) = names().find(begins) {
        return (known, false);
    }
    let all = names().map(|known| (distance(known, name), known));
    let (changes, known) = all.min_by_key(|it| it.0).expect("there are names");
    (known, changes * 2 < known.len().max(name.len()))
}

/// Changes between names, in bytes: names are ASCII, and for others any answer will do.
fn distance(known: &str, name: &str) -> usize {
    // A name of any length may be given; beyond this nothing is near.
    let name = name.as_bytes();
    near::changes(known.as_bytes(), &name[..name.len().min(200)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_known() {
        assert!(NAMES.is_sorted());
        assert!(LISTS.is_sorted() && LISTS.iter().all(|name| is_known(name)));
        assert!(is_known("http.port"));
        assert!(is_known("node.attr.rack"));
        assert!(!is_known("node.attr."));
        assert!(!is_known("http"));
    }

    #[test]
    fn the_guide_names_every_setting() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/settings.md");
        let guide = std::fs::read_to_string(guide).expect("it stands in this checkout");
        for name in names() {
            let shown =
                if name.ends_with('.') { format!("`{name}*`") } else { format!("`{name}`") };
            assert!(guide.contains(&shown), "{shown} is missing in docs/guide/settings.md");
        }
    }

    #[test]
    fn the_nearest_name_is_what_was_meant() {
        assert_eq!(nearest("http.prot"), ("http.port", true));
        assert_eq!(nearest("xpack.security.enable"), ("xpack.security.enabled", true));
        assert_eq!(nearest("path.date"), ("path.data", true));
        assert_eq!(nearest("cluster_name"), ("cluster.name", true));
        assert_eq!(nearest("HTTP.PORT"), ("http.port", true), "it was [http.host]");
        assert_eq!(nearest("oauth"), ("oauth.enabled", false), "it was [node.attr.]");
    }

    #[test]
    fn a_name_of_others_is_told_where_it_belongs() {
        let told = |name: &str| {
            check_name(&Given::option(name, "1")).expect_err("none of a node's").sentence
        };
        let watermark = told("cluster.routing.allocation.disk.watermark.flood_stage");
        assert!(watermark.ends_with("set it with `PUT _cluster/settings` once the node runs"));
        let replicas = told("index.number_of_replicas");
        assert!(replicas.contains("it is one of an index"), "{replicas}");
        assert!(told("index.number_of_replicas_per_shard_group").contains("the nearest"));
    }
}
