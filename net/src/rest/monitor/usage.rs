//! `_xpack/usage`: of each feature whether it is there and on, with the figures that Elastic's clients expect of it.
//! Those of what is not here are 0, and lists of it empty; the others are counted.

use std::sync::Arc;

use authz::record::key::RoleMapping;
use authz::record::role::{IndexEntry, Role};
use authz::record::user::{Realm, User};
use env::Env;
use json::{Object, Value, json};

use super::features;
use crate::call::Call;

/// Aggregations that count as analytics, as their figures are named.
const ANALYTICS: [&str; 9] = [
    "boxplot",
    "cumulative_cardinality",
    "moving_percentiles",
    "multi_terms",
    "normalize",
    "rate",
    "string_stats",
    "t_test",
    "top_metrics",
];

/// Tiers of data: nodes are of none.
const TIERS: [&str; 5] = ["data_hot", "data_warm", "data_cold", "data_frozen", "data_content"];

/// The whole answer.
pub(super) fn usage<E: Env>(call: &Call<'_, E>) -> Value {
    let mut all = Object::new();
    for (name, available, enabled) in features(call.security.is_some()) {
        let mut feature = Object::new();
        feature.insert("available", available);
        feature.insert("enabled", enabled);
        if let Value::Object(figures) = figures(call, name) {
            figures.into_iter().for_each(|(key, value)| _ = feature.insert(key, value));
        }
        all.insert(name, Value::Object(feature));
    }
    Value::Object(all)
}

/// What is told of a feature beside that.
fn figures<E: Env>(call: &Call<'_, E>, name: &str) -> Value {
    let state = call.core.state();
    match name {
        "analytics" => analytics(call),
        "archive" | "frozen_indices" => json!({"indices_count": 0}),
        "ccr" => json!({"follower_indices_count": 0, "auto_follow_patterns_count": 0}),
        "data_streams" => {
            let backing: usize = state.data_streams.values().map(|it| it.indices.len()).sum();
            json!({"data_streams": (state.data_streams.len()), "indices_count": backing})
        }
        "data_tiers" => Value::Object(
            TIERS.into_iter().map(|tier| (tier, nothing_of_a_tier(call.human))).collect(),
        ),
        "eql" => json!({"features": (nothing_of_eql()), "queries": {}}),
        "ilm" => json!({"policy_count": 0, "policy_stats": []}),
        "ml" => json!({
            "datafeeds": {"_all": {"count": 0}},
            "jobs": {},
            "node_count": 0,
            "data_frame_analytics_jobs": {"_all": {"count": 0}},
            "inference": {"ingest_processors": {}, "trained_models": {"_all": {"count": 0}}},
        }),
        "monitoring" => json!({"collection_enabled": false, "enabled_exporters": {}}),
        "searchable_snapshots" => json!({
            "indices_count": 0,
            "full_copy_indices_count": 0,
            "shared_cache_indices_count": 0,
        }),
        "security" => security(call),
        "sql" => json!({"features": {}, "queries": {}}),
        "watcher" => json!({
            "execution": {"actions": {}},
            "watch": {"input": {}, "trigger": {"_all": {"active": 0, "total": 0}}},
            "count": {"active": 0, "total": 0},
        }),
        _ => Value::Null,
    }
}

/// How often aggregations were asked for since the start: Elasticsearch counts where it reads their words.
fn analytics<E: Env>(call: &Call<'_, E>) -> Value {
    let counts = call.core.shared().search_uses.sum().asked;
    let count = |name: &str| counts.get(name).copied().unwrap_or_default();
    let stats: Object =
        ANALYTICS.into_iter().map(|name| (format!("{name}_usage"), count(name))).collect();
    json!({"stats": (Value::Object(stats))})
}

/// No node has a tier of its own. Sizes have a twin before them where those are asked for (`human`).
fn nothing_of_a_tier(human: bool) -> Value {
    const COUNTS: [&str; 5] =
        ["node_count", "index_count", "total_shard_count", "primary_shard_count", "doc_count"];
    const SIZES: [&str; 5] = [
        "total_size",
        "primary_size",
        "primary_shard_size_avg",
        "primary_shard_size_median",
        "primary_shard_size_mad",
    ];
    let mut tier: Object = COUNTS.into_iter().map(|name| (name, 0)).collect();
    for name in SIZES {
        if human {
            tier.insert(name, "0b");
        }
        tier.insert(format!("{name}_bytes"), 0);
    }
    Value::Object(tier)
}

fn nothing_of_eql() -> Value {
    json!({
        "join": 0,
        "joins": {
            "join_queries_two": 0,
            "join_queries_three": 0,
            "join_queries_four": 0,
            "join_queries_five_or_more": 0,
            "join_until": 0,
        },
        "keys": {
            "join_keys_one": 0,
            "join_keys_two": 0,
            "join_keys_three": 0,
            "join_keys_four": 0,
            "join_keys_five_or_more": 0,
        },
        "event": 0,
        "pipes": {"pipe_tail": 0, "pipe_head": 0},
        "sequence": 0,
        "sequences": {
            "sequence_queries_two": 0,
            "sequence_queries_three": 0,
            "sequence_queries_four": 0,
            "sequence_queries_five_or_more": 0,
            "sequence_until": 0,
            "sequence_maxspan": 0,
        },
    })
}

fn security<E: Env>(call: &Call<'_, E>) -> Value {
    let enabled = |is: bool| json!({"enabled": is});
    let state = call.security.map(|security| security.keeper.state());
    let is_on = state.is_some();
    let has_audit = call.security.is_some_and(|security| security.keeper.audit().is_on());
    let outputs: Vec<&str> = has_audit.then_some("logfile").into_iter().collect();
    let has_tls = !call.core.shared().config.info.certificates.is_empty();
    let state = state.as_deref();
    let is_native = |user: &&Arc<User>| user.realm == Realm::Native;
    let users = state.map_or(0, |state| state.users.values().filter(is_native).count());
    let mappings = state.map_or(0, |state| state.mappings.len());
    let applies = |mapping: &&Arc<RoleMapping>| {
        mapping.body.get("enabled").and_then(Value::as_bool).unwrap_or(true)
    };
    let applied = state.map_or(0, |state| state.mappings.values().filter(applies).count());
    let roles = state.map_or(0, |state| state.roles.len());
    let any = |is: fn(&IndexEntry) -> bool| {
        let entries = |role: &Arc<Role>| role.descriptor.indices.iter().any(is);
        state.is_some_and(|state| state.roles.values().any(entries))
    };
    let fields = any(|entry| entry.grant.is_some() || entry.except.is_some());
    let documents = any(|entry| entry.query.is_some());
    json!({
        "realms": {
            "file": {"available": true, "enabled": is_on},
            "native": {
                "available": true,
                "enabled": is_on,
                "name": ["default_native"],
                "size": [users],
            },
        },
        "roles": {
            "native": {"size": roles, "fls": fields, "dls": documents},
            "dls": {"bit_set_cache": {"count": 0, "memory": "0b", "memory_in_bytes": 0}},
            "file": {"size": 0, "fls": false, "dls": false},
        },
        "role_mapping": {"native": {"size": mappings, "enabled": applied}},
        "ssl": {"http": (enabled(has_tls)), "transport": (enabled(false))},
        "token_service": (enabled(is_on)),
        "api_key_service": (enabled(is_on)),
        "audit": {"enabled": has_audit, "outputs": outputs},
        "ipfilter": {"http": false, "transport": false},
        "anonymous": (enabled(false)),
        "fips_140": (enabled(false)),
        "operator_privileges": {"available": false, "enabled": false},
    })
}
