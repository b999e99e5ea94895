//! Named privileges: sets of actions under the names that Elasticsearch gives them.
//!
//! Actions carry Elasticsearch's names (`indices:data/read/search`); a privilege names them by
//! patterns with `*`. A name that is no privilege may be a pattern of actions itself.
//!
//! Always true
//! 1. `none` grants nothing, `all` everything of its kind.
//! 2. [`granting`] lists the narrowest privilege first, as Elasticsearch does: the one that lies
//!    inside most others.

/// A named privilege: its name, the patterns it grants, those it does not.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Everything about security, which `manage` leaves out.
const SECURITY: &str = "cluster:admin/xpack/security/*";

/// Privileges on the cluster.
#[rustfmt::skip]
const CLUSTER: &[Row] = &[
    ("all", &["cluster:*", "indices:admin/template/*", "indices:admin/index_template/*"], &[]),
    ("cancel_task", &["cluster:admin/tasks/cancel*"], &[]),
    ("create_snapshot", &["cluster:admin/snapshot/create*", "cluster:admin/snapshot/status*", "cluster:admin/snapshot/get*", "cluster:admin/repository/get*"], &[]),
    ("cross_cluster_replication", &["cluster:monitor/state", "cluster:monitor/remote/info", "cluster:monitor/xpack/info"], &[]),
    ("cross_cluster_search", &["cluster:monitor/remote/info", "cluster:monitor/xpack/info", "cluster:monitor/xpack/enrich/esql/resolve_policy"], &[]),
    ("delegate_pki", &["cluster:admin/xpack/security/delegate_pki*", "cluster:admin/xpack/security/token/invalidate*"], &[]),
    ("grant_api_key", &["cluster:admin/xpack/security/api_key/grant*"], &[]),
    ("introspect_token", &["cluster:admin/oauth/introspect"], &[]),
    ("manage", &["cluster:*", "indices:admin/template/*", "indices:admin/index_template/*"], &[SECURITY, "cluster:admin/oauth/*"]),
    ("manage_api_key", &["cluster:admin/xpack/security/api_key/*"], &[]),
    ("manage_autoscaling", &["cluster:admin/autoscaling/*"], &[]),
    ("manage_behavioral_analytics", &["cluster:admin/xpack/application/analytics/*"], &[]),
    ("manage_ccr", &["cluster:admin/xpack/ccr/*", "cluster:monitor/state", "cluster:admin/xpack/security/user/has_privileges"], &[]),
    ("manage_connector", &["cluster:admin/xpack/connector/*"], &["cluster:admin/xpack/connector/secret/*"]),
    ("manage_data_frame_transforms", &["cluster:admin/data_frame/*", "cluster:monitor/data_frame/*", "cluster:monitor/transform/*", "cluster:admin/transform/*"], &[]),
    ("manage_data_stream_global_retention", &["cluster:admin/data_stream/global_retention/*"], &[]),
    ("manage_enrich", &["cluster:admin/xpack/enrich/*", "cluster:monitor/xpack/enrich/*"], &[]),
    ("manage_ilm", &["cluster:admin/ilm/*"], &[]),
    ("manage_index_templates", &["indices:admin/template/*", "indices:admin/index_template/*", "cluster:admin/component_template/*"], &[]),
    ("manage_inference", &[
        "cluster:admin/xpack/inference/*", "cluster:monitor/xpack/inference*",
        "cluster:admin/xpack/ml/trained_models/deployment/start", "cluster:admin/xpack/ml/trained_models/deployment/stop",
        "cluster:monitor/xpack/ml/trained_models/deployment/infer",
    ], &[]),
    ("manage_ingest_pipelines", &["cluster:admin/ingest/pipeline/*"], &[]),
    ("manage_logstash_pipelines", &["cluster:admin/logstash/pipeline/*"], &[]),
    ("manage_ml", &["cluster:admin/xpack/ml/*", "cluster:monitor/xpack/ml/*"], &[]),
    ("manage_oauth", &["cluster:admin/oauth/*"], &[]),
    ("manage_oidc", &["cluster:admin/xpack/security/oidc/*"], &[]),
    ("manage_own_api_key", &[], &[]),
    ("manage_pipeline", &["cluster:admin/ingest/pipeline/*"], &[]),
    ("manage_rollup", &["cluster:admin/xpack/rollup/*", "cluster:monitor/xpack/rollup/*"], &[]),
    ("manage_saml", &["cluster:admin/xpack/security/saml/*", "cluster:admin/xpack/security/token/invalidate*", "cluster:admin/xpack/security/token/refresh*"], &[]),
    ("manage_search_application", &["cluster:admin/xpack/application/search_application/*"], &[]),
    ("manage_search_query_rules", &["cluster:admin/xpack/query_rules/*"], &[]),
    ("manage_search_synonyms", &["cluster:admin/synonyms/*", "cluster:admin/synonyms_sets/*", "cluster:admin/synonym_rules/*"], &[]),
    ("manage_security", &[SECURITY], &["cluster:admin/xpack/security/delegate_pki*"]),
    ("manage_service_account", &["cluster:admin/xpack/security/service_account/*"], &[]),
    ("manage_slm", &["cluster:admin/slm/*", "cluster:admin/ilm/start", "cluster:admin/ilm/stop", "cluster:admin/ilm/operation_mode/get"], &[]),
    ("manage_token", &["cluster:admin/xpack/security/token/*"], &[]),
    ("manage_transform", &["cluster:admin/data_frame/*", "cluster:monitor/data_frame/*", "cluster:monitor/transform/*", "cluster:admin/transform/*"], &[]),
    ("manage_user_profile", &["cluster:admin/xpack/security/profile/*"], &[]),
    ("manage_watcher", &["cluster:admin/xpack/watcher/*", "cluster:monitor/xpack/watcher/*"], &[]),
    ("monitor", &["cluster:monitor/*", "indices:admin/template/get", "cluster:admin/component_template/get", "indices:admin/index_template/get"], &[]),
    ("monitor_connector", &[
        "cluster:admin/xpack/connector/get", "cluster:admin/xpack/connector/list",
        "cluster:admin/xpack/connector/sync_job/get", "cluster:admin/xpack/connector/sync_job/list",
    ], &[]),
    ("monitor_data_frame_transforms", &["cluster:monitor/data_frame/*", "cluster:monitor/transform/*"], &[]),
    ("monitor_data_stream_global_retention", &["cluster:monitor/data_stream/global_retention/*"], &[]),
    ("monitor_enrich", &["cluster:monitor/xpack/enrich/*", "cluster:admin/xpack/enrich/get"], &[]),
    ("monitor_esql", &["cluster:monitor/xpack/esql/*"], &[]),
    ("monitor_inference", &["cluster:monitor/xpack/inference*", "cluster:monitor/xpack/ml/trained_models/deployment/infer"], &[]),
    ("monitor_ml", &["cluster:monitor/xpack/ml/*"], &[]),
    ("monitor_rollup", &["cluster:monitor/xpack/rollup/*"], &[]),
    ("monitor_snapshot", &["cluster:admin/snapshot/status*", "cluster:admin/snapshot/get*", "cluster:admin/repository/get*"], &[]),
    ("monitor_stats", &["cluster:monitor/stats*"], &[]),
    ("monitor_text_structure", &["cluster:monitor/text_structure/*"], &[]),
    ("monitor_transform", &["cluster:monitor/data_frame/*", "cluster:monitor/transform/*"], &[]),
    ("monitor_watcher", &["cluster:monitor/xpack/watcher/*"], &[]),
    ("none", &[], &[]),
    ("post_behavioral_analytics_event", &["cluster:admin/xpack/application/analytics/post_event"], &[]),
    ("read_ccr", &["cluster:monitor/state", "cluster:admin/xpack/security/user/has_privileges"], &[]),
    ("read_connector_secrets", &["cluster:admin/xpack/connector/secret/get"], &[]),
    ("read_fleet_secrets", &["cluster:admin/fleet/secrets/get"], &[]),
    ("read_ilm", &["cluster:admin/ilm/get", "cluster:admin/ilm/operation_mode/get"], &[]),
    ("read_pipeline", &["cluster:admin/ingest/pipeline/get*", "cluster:admin/ingest/pipeline/simulate*"], &[]),
    ("read_security", &[
        "cluster:admin/xpack/security/api_key/get", "cluster:admin/xpack/security/api_key/query",
        "cluster:admin/xpack/security/privilege/builtin/get", "cluster:admin/xpack/security/privilege/get",
        "cluster:admin/xpack/security/profile/get", "cluster:admin/xpack/security/profile/has_privileges",
        "cluster:admin/xpack/security/profile/suggest", "cluster:admin/xpack/security/role/get",
        "cluster:admin/xpack/security/role/query", "cluster:admin/xpack/security/role_mapping/get",
        "cluster:admin/xpack/security/service_account/get", "cluster:admin/xpack/security/service_account/credential/get*",
        "cluster:admin/xpack/security/user/get", "cluster:admin/xpack/security/user/query",
        "cluster:admin/xpack/security/user/list_privileges", "cluster:admin/xpack/security/user/has_privileges",
        "cluster:admin/xpack/security/settings/get",
    ], &[]),
    ("read_slm", &["cluster:admin/slm/get", "cluster:admin/slm/status", "cluster:admin/slm/stats", "cluster:admin/ilm/operation_mode/get"], &[]),
    ("transport_client", &["cluster:monitor/nodes/liveness", "cluster:monitor/state"], &[]),
    ("write_connector_secrets", &[
        "cluster:admin/xpack/connector/secret/delete", "cluster:admin/xpack/connector/secret/post",
        "cluster:admin/xpack/connector/secret/put",
    ], &[]),
    ("write_fleet_secrets", &["cluster:admin/fleet/secrets/post", "cluster:admin/fleet/secrets/delete"], &[]),
];

/// Privileges on indices.
#[rustfmt::skip]
const INDEX: &[Row] = &[
    ("all", &["indices:*", "internal:transport/proxy/indices:*"], &[]),
    ("auto_configure", &["indices:admin/mapping/auto_put*", "indices:admin/auto_create"], &[]),
    ("create", &["indices:data/write/index*", "indices:data/write/bulk*", "indices:data/write/simulate/bulk*"], &[]),
    ("create_doc", &["indices:data/write/index", "indices:data/write/index[*", "indices:data/write/index:op_type/create", "indices:data/write/bulk*", "indices:data/write/simulate/bulk*"], &[]),
    ("create_index", &["indices:admin/create", "indices:admin/auto_create", "indices:admin/data_stream/create"], &[]),
    ("cross_cluster_replication", &["indices:data/read/xpack/ccr/shard_changes*", "indices:monitor/stats*", "indices:admin/seq_no/*"], &[]),
    ("cross_cluster_replication_internal", &[
        "indices:internal/admin/ccr/restore/session/clear*", "indices:internal/admin/ccr/restore/file_chunk/get*",
        "indices:internal/admin/ccr/restore/session/put*",
        "internal:transport/proxy/indices:internal/admin/ccr/restore/session/clear*",
        "internal:transport/proxy/indices:internal/admin/ccr/restore/file_chunk/get*",
    ], &[]),
    ("delete", &["indices:data/write/delete*", "indices:data/write/bulk*"], &[]),
    ("delete_index", &["indices:admin/delete", "indices:admin/data_stream/delete"], &[]),
    ("index", &["indices:data/write/index*", "indices:data/write/bulk*", "indices:data/write/update*", "indices:data/write/simulate/bulk*"], &[]),
    ("maintenance", &["indices:admin/refresh*", "indices:admin/flush*", "indices:admin/synced_flush", "indices:admin/forcemerge*"], &[]),
    ("manage", &["indices:monitor/*", "indices:admin/*", "indices:data/read/field_caps*", "internal:transport/proxy/indices:*"], &[]),
    ("manage_data_stream_lifecycle", &["indices:admin/data_stream/lifecycle/*"], &[]),
    ("manage_follow_index", &["indices:admin/xpack/ccr/put_follow", "indices:admin/xpack/ccr/unfollow", "indices:admin/close*"], &[]),
    ("manage_ilm", &["indices:admin/ilm/*"], &[]),
    ("manage_leader_index", &["indices:admin/xpack/ccr/forget_follower*"], &[]),
    ("monitor", &["indices:monitor/*"], &[]),
    ("none", &[], &[]),
    ("read", &["indices:data/read/*", "indices:admin/resolve/index", "indices:admin/mappings/fields/get*"], &[]),
    ("read_cross_cluster", &["internal:transport/proxy/indices:data/read/*", "indices:admin/shards/search_shards", "indices:admin/search/search_shards"], &[]),
    ("view_index_metadata", &[
        "indices:admin/aliases/get", "indices:admin/get", "indices:admin/aliases/exists", "indices:admin/exists",
        "indices:admin/mappings/fields/get*", "indices:admin/mappings/get", "indices:admin/shards/search_shards",
        "indices:admin/types/exists", "indices:admin/validate/query*", "indices:monitor/settings/get",
        "indices:admin/ilm/explain", "indices:admin/data_stream/get", "indices:admin/resolve/index",
        "indices:admin/resolve/cluster", "indices:data/read/field_caps*", "indices:admin/analyze",
        "indices:admin/analyze[s]",
        "indices:admin/data_stream/lifecycle/get", "indices:admin/data_stream/lifecycle/explain",
    ], &[]),
    ("write", &["indices:data/write/*", "indices:admin/mapping/auto_put*"], &[]),
];

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Privileges on the cluster.
    Cluster,
    /// Privileges on indices.
    Index,
}

impl Kind {
    fn rows(self) -> &'static [Row] {
        match self {
            Self::Cluster => CLUSTER,
            Self::Index => INDEX,
        }
    }

    fn is_action(self, name: &str) -> bool {
        match self {
            Self::Cluster => {
                name.starts_with("cluster:")
                    || name.starts_with("indices:admin/template/")
                    || name.starts_with("indices:admin/index_template/")
            }
            Self::Index => name.starts_with("indices:") || name.starts_with("internal:"),
        }
    }
}

/// Patterns of actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    sets: Vec<(Vec<String>, Vec<String>)>,
}

impl Actions {
    /// The actions of these privileges. Names that mean nothing grant nothing.
    pub fn of(kind: Kind, names: &[String]) -> Self {
        let mut sets = Vec::new();
        for name in names {
            let name = name.to_lowercase();
            let owned = |patterns: &[&str]| patterns.iter().map(|&p| p.to_owned()).collect();
            if let Some((_, grants, excepts)) = row(kind, &name) {
                sets.push((owned(grants), owned(excepts)));
            } else if kind.is_action(&name) {
                sets.push((vec![format!("{name}*")], Vec::new()));
            }
        }
        Self { sets }
    }

    /// These patterns.
    pub fn patterns(patterns: &[&str]) -> Self {
        Self { sets: vec![(patterns.iter().map(|&p| p.to_owned()).collect(), Vec::new())] }
    }

    /// Is the action among them?
    pub fn hold(&self, action: &str) -> bool {
        self.sets.iter().any(|(grants, excepts)| {
            grants.iter().any(|pattern| fits(pattern, action))
                && !excepts.iter().any(|pattern| fits(pattern, action))
        })
    }

    /// Are all actions of the privilege (or pattern) `name` among them?
    pub fn cover(&self, kind: Kind, name: &str) -> bool {
        let mut lacking = Lacking::of(kind, name);
        lacking.take(self);
        lacking.is_nothing()
    }
}

/// What is left of a privilege while those who hold parts of it are met: together they may hold it whole.
#[derive(Debug)]
pub struct Lacking(Vec<(String, Vec<String>)>);

impl Lacking {
    /// All of the privilege (or pattern) `name`.
    pub fn of(kind: Kind, name: &str) -> Self {
        let sets = Actions::of(kind, &[name.to_owned()]).sets.into_iter();
        let each = sets.flat_map(|(grants, excepts)| {
            grants.into_iter().map(move |wanted| (wanted, excepts.clone()))
        });
        Self(each.collect())
    }

    /// Does `actions` hold something that is still lacking?
    pub fn is_met_by(&self, actions: &Actions) -> bool {
        self.0.iter().any(|(wanted, excepts)| is_among(actions, wanted, excepts))
    }

    /// What `actions` hold lacks no more.
    pub fn take(&mut self, actions: &Actions) {
        self.0.retain(|(wanted, excepts)| !is_among(actions, wanted, excepts));
    }

    /// Everything is held.
    pub fn is_nothing(&self) -> bool {
        self.0.is_empty()
    }
}

/// Are all actions of a pattern, but for the exceptions, held by one of the sets?
fn is_among(actions: &Actions, wanted: &str, excepts: &[String]) -> bool {
    actions.sets.iter().any(|(own, own_excepts)| {
        own.iter().any(|pattern| fits(pattern, wanted))
            && own_excepts
                .iter()
                .all(|hole| excepts.iter().any(|other| fits(other, hole)) || !overlap(hole, wanted))
    })
}

fn row(kind: Kind, name: &str) -> Option<&'static Row> {
    kind.rows().iter().find(|(known, ..)| *known == name)
}

/// Is this a privilege, or a pattern of actions?
pub fn is_known(kind: Kind, name: &str) -> bool {
    let name = name.to_lowercase();
    row(kind, &name).is_some() || kind.is_action(&name)
}

/// All names, sorted.
pub fn names(kind: Kind) -> impl Iterator<Item = &'static str> {
    kind.rows().iter().map(|(name, ..)| *name)
}

/// The privileges that grant an action, narrowest first.
pub fn granting(kind: Kind, action: &str) -> Vec<&'static str> {
    let actions = |name: &str| Actions::of(kind, &[name.to_owned()]);
    let mut found: Vec<(usize, &'static str)> = names(kind)
        .filter(|name| actions(name).hold(action))
        .map(|name| {
            let wider =
                names(kind).filter(|other| *other != name && actions(other).cover(kind, name));
            (wider.count(), name)
        })
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    found.into_iter().map(|(_, name)| name).collect()
}

/// Whether `text` fits `pattern`, in which `*` stands for any characters, also none, and `?` for one.
pub fn fits(pattern: &str, text: &str) -> bool {
    json::path::wildcard(pattern, text)
}

/// May some text fit both patterns? (Both end in `*` or are plain, as those of the tables are.)
fn overlap(one: &str, two: &str) -> bool {
    fits(one, two) || fits(two, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, names: &[&str]) -> Actions {
        Actions::of(kind, &names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn narrow_privileges_are_listed_first() {
        for (kind, action, expected) in [
            (Kind::Index, "indices:data/read/search", "read,all"),
            (Kind::Index, "indices:data/write/bulk[s]", "create_doc,create,delete,index,write,all"),
            (Kind::Index, "indices:data/write/delete", "delete,write,all"),
            (Kind::Index, "indices:admin/create", "create_index,manage,all"),
            (Kind::Index, "indices:admin/delete", "delete_index,manage,all"),
            (Kind::Index, "indices:admin/refresh", "maintenance,manage,all"),
            (Kind::Cluster, "cluster:monitor/health", "monitor,manage,all"),
            (Kind::Cluster, "cluster:admin/xpack/security/user/put", "manage_security,all"),
        ] {
            assert_eq!(granting(kind, action).join(","), expected, "{action}");
        }
    }

    #[test]
    fn manage_leaves_security_out() {
        let manage = of(Kind::Cluster, &["manage"]);
        assert!(manage.hold("cluster:admin/settings/update"));
        assert!(!manage.hold("cluster:admin/xpack/security/user/put"));
        assert!(manage.cover(Kind::Cluster, "monitor"));
        assert!(!manage.cover(Kind::Cluster, "manage_security"));
        assert!(!manage.cover(Kind::Cluster, "all"));
        assert!(manage.cover(Kind::Cluster, "manage"));
        assert!(of(Kind::Cluster, &["all"]).cover(Kind::Cluster, "manage"));
    }

    #[test]
    fn templates_are_seen_by_monitor_and_changed_by_manage() {
        let (monitor, manage) = (of(Kind::Cluster, &["monitor"]), of(Kind::Cluster, &["manage"]));
        for kind in ["indices:admin/template", "indices:admin/index_template"] {
            assert!(monitor.hold(&format!("{kind}/get")) && !monitor.hold(&format!("{kind}/put")));
            assert!(manage.hold(&format!("{kind}/put")));
        }
        assert!(manage.hold("cluster:admin/component_template/put"));
        assert!(!of(Kind::Index, &["manage"]).hold("indices:data/read/search"));
    }

    #[test]
    fn create_doc_grants_no_overwriting() {
        let actions = of(Kind::Index, &["create_doc"]);
        assert!(actions.hold("indices:data/write/index:op_type/create"));
        assert!(!actions.hold("indices:data/write/index:op_type/index"));
        assert!(of(Kind::Index, &["create"]).hold("indices:data/write/index:op_type/index"));
        assert!(!of(Kind::Index, &["none"]).hold("indices:data/read/get"));
        assert!(of(Kind::Index, &["indices:data/read/get"]).hold("indices:data/read/get[s]"));
        assert!(!is_known(Kind::Index, "foo"));
    }

    #[test]
    fn rows_are_sorted_and_unique() {
        for kind in [Kind::Cluster, Kind::Index] {
            let names: Vec<_> = names(kind).collect();
            assert!(names.is_sorted(), "{kind:?}");
            let mut unique = names.clone();
            unique.dedup();
            assert_eq!(names, unique);
        }
    }

    #[test]
    fn patterns_fit_as_an_exhaustive_matcher_says() {
        fn plain(pattern: &[u8], text: &[u8]) -> bool {
            match (pattern.split_first(), text.split_first()) {
                (None, None) => true,
                (Some((b'*', rest)), _) => (0..=text.len()).any(|skip| plain(rest, &text[skip..])),
                (Some((a, rest)), Some((b, more))) => a == b && plain(rest, more),
                _ => false,
            }
        }
        // Every pattern and text of up to four characters over a small alphabet.
        let words = |alphabet: &[u8]| {
            let mut words = vec![String::new()];
            let mut from = 0;
            for _ in 0..4 {
                let to = words.len();
                for at in from..to {
                    for &c in alphabet {
                        words.push(format!("{}{}", words[at], char::from(c)));
                    }
                }
                from = to;
            }
            words
        };
        for pattern in words(b"ab*") {
            for text in words(b"ab") {
                let expected = plain(pattern.as_bytes(), text.as_bytes());
                assert_eq!(fits(&pattern, &text), expected, "{pattern} {text}");
            }
        }
    }
}
