//! What the companion tools of Elasticsearch 8 reach by their built-in role and service accounts: no more than
//! there.
//!
//! Source: Elasticsearch's descriptions of `kibana_system` and of the accounts `elastic/…`. Entries for indices of
//! integrations (`logs-wiz.*`, `.entities.*` and the like) are left out: whoever needs them writes a role.

use super::role::IndexEntry;

/// Names, privileges, and whether restricted indices count.
type Line = (&'static [&'static str], &'static [&'static str], bool);

const READ: &[&str] = &["read"];
const ALL: &[&str] = &["all"];
const ALIASES: &str = "indices:admin/aliases";
const MAPPING: &str = "indices:admin/mapping/put";
const ROLLOVER: &str = "indices:admin/rollover";
const SETTINGS: &str = "indices:admin/settings/update";

/// Of the role `kibana_system`.
const KIBANA: &[Line] = &[
    (&[".kibana*", ".reporting-*"], ALL, true),
    (&[".monitoring-*"], &["read", "read_cross_cluster"], false),
    (&[".management-beats"], &["create_index", "read", "write"], false),
    (&[".ml-anomalies*", ".ml-stats-*"], READ, false),
    (&[".ml-annotations*", ".ml-notifications*"], &["read", "write"], false),
    (&[".apm-agent-configuration", ".apm-custom-link", ".apm-source-map"], ALL, true),
    (
        &["apm-*", "logs-apm.*", "metrics-apm.*", "traces-apm.*", "traces-apm-*"],
        &["read", "read_cross_cluster"],
        false,
    ),
    (&["metrics-logstash.*"], READ, false),
    // What there is and how large, of all; nothing of their documents.
    (&["*"], &["view_index_metadata", "monitor"], false),
    (&[".fleet-secrets*"], &["write", "delete", "create_index"], true),
    (
        &[
            ".fleet-actions*",
            ".fleet-agents*",
            ".fleet-artifacts*",
            ".fleet-enrollment-api-keys*",
            ".fleet-file-data-*",
            ".fleet-filedelivery-data-*",
            ".fleet-filedelivery-meta-*",
            ".fleet-files-*",
            ".fleet-policies*",
            ".fleet-servers*",
        ],
        ALL,
        true,
    ),
    (&["logs-elastic_agent.status_change-*", "metrics-fleet_server*"], ALL, false),
    (&["logs-elastic_agent*"], READ, false),
    (&["logs-fleet_server*"], &["read", "delete_index"], false),
    (
        &[
            ".siem-signals*",
            ".lists-*",
            ".items-*",
            ".internal.alerts*",
            ".alerts*",
            ".internal.preview.alerts*",
            ".preview.alerts*",
            ".slo-observability.*",
            "risk-score.risk-*",
        ],
        ALL,
        false,
    ),
    (
        &["metrics-endpoint.policy-*", "metrics-endpoint.metrics-*", "logs-endpoint.events.*"],
        READ,
        false,
    ),
    (
        &[
            "logs-*",
            "synthetics-*",
            "traces-*",
            "/metrics-.*&~(metrics-endpoint\\.metadata_current_default.*)/",
            ".logs-endpoint.action.responses-*",
            ".logs-endpoint.diagnostic.collection-*",
            ".logs-endpoint.actions-*",
            ".logs-endpoint.heartbeat-*",
            ".logs-osquery_manager.actions-*",
            ".logs-osquery_manager.action.responses-*",
            "profiling-*",
        ],
        &[SETTINGS, MAPPING, ROLLOVER, "indices:admin/data_stream/lifecycle/put"],
        false,
    ),
    (
        &[".logs-endpoint.action.responses-*", ".logs-endpoint.actions-*"],
        &["auto_configure", "read", "write"],
        false,
    ),
    (
        &[".logs-endpoint.diagnostic.collection-*", ".logs-endpoint.heartbeat-*"],
        &["read", "create_index"],
        false,
    ),
    (
        &[".logs-osquery_manager.action.responses-*", ".logs-osquery_manager.actions-*"],
        &["auto_configure", "create_index", "read", "index", "delete"],
        false,
    ),
    (
        &["logs-osquery_manager.action.responses-*", "metrics-endpoint.metadata*"],
        &["read", "view_index_metadata"],
        false,
    ),
    (
        &[
            ".logs-endpoint.diagnostic.collection-*",
            "logs-apm-*",
            "logs-apm.*-*",
            "metrics-apm-*",
            "metrics-apm.*-*",
            "synthetics-browser-*",
            "synthetics-browser.network-*",
            "synthetics-browser.screenshot-*",
            "synthetics-http-*",
            "synthetics-icmp-*",
            "synthetics-tcp-*",
            "traces-apm-*",
            "traces-apm.*-*",
        ],
        &["indices:admin/delete"],
        false,
    ),
    (
        &[
            "metrics-endpoint.metadata_current_default*",
            ".metrics-endpoint.metadata_current_default*",
            ".metrics-endpoint.metadata_united_default*",
        ],
        &["create_index", "delete_index", "read", "index", ALIASES, SETTINGS],
        false,
    ),
    (
        &["kibana_sample_data_*"],
        &[
            "create_index",
            "delete_index",
            "read",
            "index",
            "view_index_metadata",
            ALIASES,
            SETTINGS,
        ],
        false,
    ),
    (
        &[".asset-criticality.asset-criticality-*"],
        &["create_index", "manage", "read", "write"],
        false,
    ),
];

/// Of the account `elastic/fleet-server`.
const FLEET: &[Line] = &[
    (
        &[
            "logs-*",
            "metrics-*",
            "traces-*",
            ".logs-endpoint.diagnostic.collection-*",
            ".logs-endpoint.action.responses-*",
        ],
        &["write", "create_index", "auto_configure"],
        false,
    ),
    (&["profiling-*"], &["read", "write", "auto_configure"], false),
    (&["traces-apm.sampled-*"], &["read", "monitor", "maintenance"], false),
    (&[".fleet-secrets*"], READ, true),
    (
        &[
            ".fleet-actions*",
            ".fleet-agents*",
            ".fleet-artifacts*",
            ".fleet-enrollment-api-keys*",
            ".fleet-file-data-*",
            ".fleet-files-*",
            ".fleet-filedelivery-*",
            ".fleet-policies*",
            ".fleet-servers*",
        ],
        &["read", "write", "monitor", "create_index", "auto_configure", "maintenance"],
        true,
    ),
    (&["synthetics-*"], &["read", "write", "create_index", "auto_configure"], false),
];

/// Of the account `elastic/enterprise-search-server`.
const SEARCH: &[Line] = &[(
    &[
        "search-*",
        ".elastic-analytics-collections",
        ".elastic-connectors*",
        ".ent-search-*",
        ".monitoring-ent-search-*",
        "enterprise-search-*",
        "metricbeat-ent-search-*",
        "logs-app_search.analytics-default",
        "logs-app_search.search_relevance_suggestions-default",
        "logs-crawler-default",
        "logs-elastic_analytics.events-*",
        "logs-elastic_crawler-default",
        "logs-enterprise_search.api-default",
        "logs-enterprise_search.audit-default",
        "logs-workplace_search.analytics-default",
        "logs-workplace_search.content_events-default",
    ],
    &["manage", "read", "write"],
    false,
)];

/// What the role `kibana_system` holds on indices.
pub fn kibana() -> Vec<IndexEntry> {
    entries(KIBANA)
}

/// What the account `elastic/fleet-server` holds on indices.
pub fn fleet() -> Vec<IndexEntry> {
    entries(FLEET)
}

/// What the account `elastic/enterprise-search-server` holds on indices.
pub fn search() -> Vec<IndexEntry> {
    entries(SEARCH)
}

fn entries(lines: &[Line]) -> Vec<IndexEntry> {
    let entry = |&(names, privileges, allow_restricted_indices): &Line| IndexEntry {
        allow_restricted_indices,
        ..IndexEntry::plain(names, privileges)
    };
    lines.iter().map(entry).collect()
}
