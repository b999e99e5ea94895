//! Roles and users that are there from the first start.

use std::sync::{Arc, LazyLock};

use json::{Value, json};

use super::companion;
use super::role::{ApplicationEntry, Descriptor, IndexEntry, Role, SUPERUSER};

/// Names of the built-in roles, sorted.
pub const ROLES: &[&str] = &[
    "apm_system",
    "apm_user",
    "beats_admin",
    "beats_system",
    "editor",
    "enrich_user",
    "ingest_admin",
    "kibana_admin",
    "kibana_system",
    "kibana_user",
    "logstash_admin",
    "logstash_system",
    "machine_learning_admin",
    "machine_learning_user",
    "monitoring_user",
    "oauth_admin",
    "remote_monitoring_agent",
    "remote_monitoring_collector",
    "reporting_user",
    "rollup_admin",
    "rollup_user",
    "snapshot_user",
    SUPERUSER,
    "transform_admin",
    "transform_user",
    "transport_client",
    "viewer",
    "watcher_admin",
    "watcher_user",
];

/// Built-in users beside `elastic`, each with its role. They have no password until one is set.
pub const USERS: &[(&str, &str)] = &[
    ("apm_system", "apm_system"),
    ("beats_system", "beats_system"),
    ("kibana_system", "kibana_system"),
    ("logstash_system", "logstash_system"),
    ("remote_monitoring_user", "remote_monitoring_collector"),
];

/// What no user may be given by name.
pub fn is_user(name: &str) -> bool {
    name == super::user::ELASTIC || USERS.iter().any(|(known, _)| *known == name)
}

fn owned(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

fn application(name: &str, privileges: &[&str]) -> ApplicationEntry {
    ApplicationEntry {
        application: name.to_owned(),
        privileges: owned(privileges),
        resources: owned(&["*"]),
    }
}

/// The built-in role of this name.
pub fn role(name: &str) -> Option<Arc<Role>> {
    /// Made once: patterns are read, privileges are looked up.
    static ALL: LazyLock<Vec<Arc<Role>>> =
        LazyLock::new(|| ROLES.iter().filter_map(|name| made(name)).map(Arc::new).collect());
    let at = ROLES.binary_search(&name).ok()?;
    ALL.get(at).cloned()
}

fn made(name: &str) -> Option<Role> {
    let plain = IndexEntry::plain;
    let kibana = "kibana-.kibana";
    let (cluster, indices, applications, description): (&[&str], _, _, &str) = match name {
        SUPERUSER => (
            &["all"],
            vec![
                plain(&["*"], &["all"]),
                IndexEntry {
                    allow_restricted_indices: true,
                    ..plain(
                        &["*"],
                        &["monitor", "read", "view_index_metadata", "read_cross_cluster"],
                    )
                },
            ],
            vec![application("*", &["*"])],
            "Grants full access to cluster management and data indices.",
        ),
        "viewer" => (
            &[],
            vec![plain(&["/~(([.]|ilm-history-).*)/"], &["read", "view_index_metadata"])],
            vec![application(kibana, &["read"])],
            "Grants read-only access to all indices but those whose names begin with a dot.",
        ),
        "editor" => (
            &[],
            vec![
                plain(&["/~(([.]|ilm-history-).*)/"], &["read", "view_index_metadata"]),
                plain(&["observability-annotations"], &["read", "view_index_metadata", "write"]),
            ],
            vec![application(kibana, &["all"])],
            "Grants full access to the companion tool and read-only access to data indices.",
        ),
        "monitoring_user" => (
            &["cluster:monitor/main", "cluster:monitor/xpack/info", "cluster:monitor/remote/info"],
            vec![plain(
                &[
                    ".monitoring-*",
                    "/metrics-(beats|elasticsearch|enterprisesearch|kibana|logstash).*/",
                    "metricbeat-*",
                ],
                &["read", "read_cross_cluster"],
            )],
            vec![application(kibana, &["reserved_monitoring"])],
            "Grants what is needed to see monitoring data.",
        ),
        "remote_monitoring_collector" => (
            &["monitor"],
            vec![plain(&["*"], &["monitor"]), plain(&[".kibana*"], &["read"])],
            Vec::new(),
            "Grants what is needed to collect monitoring data.",
        ),
        "remote_monitoring_agent" => (
            &[
                "manage_index_templates",
                "manage_ingest_pipelines",
                "monitor",
                "cluster:admin/ilm/get",
                "cluster:admin/ilm/put",
                "cluster:monitor/xpack/watcher/watch/get",
                "cluster:admin/xpack/watcher/watch/put",
                "cluster:admin/xpack/watcher/watch/delete",
            ],
            vec![
                plain(&[".monitoring-*"], &["all"]),
                plain(
                    &["metricbeat-*"],
                    &[
                        "index",
                        "create_index",
                        "view_index_metadata",
                        "indices:admin/aliases",
                        "indices:admin/rollover",
                    ],
                ),
            ],
            Vec::new(),
            "Grants what is needed to write monitoring data.",
        ),
        "kibana_system" => (
            &[
                "monitor",
                "manage_index_templates",
                "manage_ingest_pipelines",
                "manage_ilm",
                "manage_saml",
                "manage_oidc",
                "manage_token",
                "manage_own_api_key",
                "grant_api_key",
                "manage_transform",
                "cluster:admin/xpack/security/api_key/invalidate",
                "cluster:admin/xpack/security/privilege/builtin/get",
                "cluster:admin/xpack/security/user/*privileges",
                "cluster:admin/xpack/security/profile/get",
                "cluster:admin/xpack/security/profile/activate",
                "cluster:admin/xpack/security/profile/suggest",
                "cluster:admin/xpack/security/profile/has_privileges",
                "cluster:admin/xpack/monitoring/bulk",
                "cluster:admin/analyze",
                "delegate_pki",
                "manage_ml",
                "manage_enrich",
                "manage_pipeline",
                "monitor_text_structure",
                "cancel_task",
            ],
            companion::kibana(),
            Vec::new(),
            "Grants what the companion tool needs for itself.",
        ),
        "kibana_admin" => (
            &[],
            Vec::new(),
            vec![application(kibana, &["all"])],
            "Grants access to all features of the companion tool.",
        ),
        "kibana_user" => {
            (&[], Vec::new(), vec![application(kibana, &["all"])], "Deprecated: use kibana_admin.")
        }
        "apm_system" | "beats_system" | "logstash_system" => (
            &["monitor", "cluster:admin/xpack/monitoring/bulk"],
            Vec::new(),
            Vec::new(),
            "Grants what is needed to send monitoring data.",
        ),
        "beats_admin" => (
            &[],
            vec![plain(&[".management-beats"], &["all"])],
            Vec::new(),
            "Grants access to the configuration of Beats.",
        ),
        "ingest_admin" => (
            &["manage_index_templates", "manage_pipeline"],
            Vec::new(),
            Vec::new(),
            "Grants management of index templates and ingest pipelines.",
        ),
        "logstash_admin" => (
            &["manage_logstash_pipelines"],
            vec![plain(&[".logstash*"], &["create", "delete", "index", "manage", "read"])],
            Vec::new(),
            "Grants management of Logstash's configuration.",
        ),
        "snapshot_user" => (
            &["create_snapshot", "cluster:admin/repository/get"],
            vec![plain(&["*"], &["view_index_metadata"])],
            Vec::new(),
            "Grants making snapshots of all indices.",
        ),
        "transport_client" => {
            (&["transport_client"], Vec::new(), Vec::new(), "Grants what sniffing needs.")
        }
        "machine_learning_admin" => {
            (&["manage_ml"], Vec::new(), Vec::new(), "Grants management of machine learning.")
        }
        "machine_learning_user" => {
            (&["monitor_ml"], Vec::new(), Vec::new(), "Grants reading of machine learning.")
        }
        "enrich_user" => (
            &["manage_enrich", "manage_ingest_pipelines", "monitor"],
            vec![plain(&[".enrich-*"], &["manage", "read", "write"])],
            Vec::new(),
            "Grants management of enrich policies.",
        ),
        "transform_admin" => {
            (&["manage_transform"], Vec::new(), Vec::new(), "Grants management of transforms.")
        }
        "transform_user" => {
            (&["monitor_transform"], Vec::new(), Vec::new(), "Grants reading of transforms.")
        }
        "rollup_admin" => {
            (&["manage_rollup"], Vec::new(), Vec::new(), "Grants management of rollups.")
        }
        "rollup_user" => {
            (&["monitor_rollup"], Vec::new(), Vec::new(), "Grants reading of rollups.")
        }
        "watcher_admin" => {
            (&["manage_watcher"], Vec::new(), Vec::new(), "Grants management of watches.")
        }
        "watcher_user" => {
            (&["monitor_watcher"], Vec::new(), Vec::new(), "Grants reading of watches.")
        }
        "apm_user" => (
            &[],
            vec![plain(
                &[
                    "apm-*",
                    "logs-apm.*",
                    "logs-apm-*",
                    "metrics-apm.*",
                    "metrics-apm-*",
                    "traces-apm.*",
                    "traces-apm-*",
                ],
                &["read", "view_index_metadata"],
            )],
            Vec::new(),
            "Grants reading of application traces.",
        ),
        "reporting_user" => (
            &[],
            Vec::new(),
            vec![application(kibana, &["reserved_reporting_user"])],
            "Grants reports of the companion tool.",
        ),
        "oauth_admin" => (
            &["manage_oauth", "introspect_token"],
            Vec::new(),
            Vec::new(),
            "Grants review and administration of OAuth applications.",
        ),
        _ => return None,
    };
    // Its own privileges, and what it keeps of people.
    let beside = match name {
        "kibana_system" => json!({"global": {
            "application": {"manage": {"applications": ["kibana-*"]}},
            "profile": {"write": {"applications": ["kibana*"]}},
        }}),
        _ => Value::object(),
    };
    let role = Role::new(
        name,
        Descriptor {
            beside: beside.as_object().cloned().unwrap_or_default(),
            cluster: owned(cluster),
            indices,
            applications,
            run_as: if name == SUPERUSER { owned(&["*"]) } else { Vec::new() },
            metadata: json!({"_reserved": true}).as_object().cloned().unwrap_or_default(),
            description: Some(description.to_owned()),
        },
    );
    Some(role)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privilege::{Kind, is_known};

    #[test]
    fn each_built_in_role_is_sound() {
        assert!(ROLES.is_sorted());
        for name in ROLES {
            let role = role(name).unwrap_or_else(|| panic!("{name}"));
            for privilege in &role.descriptor.cluster {
                assert!(is_known(Kind::Cluster, privilege), "{name}: {privilege}");
            }
            for entry in &role.descriptor.indices {
                for privilege in &entry.privileges {
                    assert!(is_known(Kind::Index, privilege), "{name}: {privilege}");
                }
            }
        }
        for (_, name) in USERS {
            assert!(ROLES.contains(name), "{name}");
        }
        assert!(role("nobody").is_none());
    }

    #[test]
    fn a_viewer_sees_what_does_not_begin_with_a_dot() {
        let viewer = role("viewer").expect("built in");
        assert!(viewer.indices[0].holds("indices:data/read/search", "books"));
        assert!(!viewer.indices[0].holds("indices:data/read/search", ".hidden"));
        assert!(!viewer.indices[0].holds("indices:data/write/index", "books"));
    }
}
