//! A short run of the questions that `oracle rights` asks for as long as it is told to, and the list of
//! what it does not ask.

use std::collections::BTreeSet;

use net::table::ROUTES;
use oracle::rights::ask::case;
use oracle::rights::run::run_and_tell;

/// The seeds of the short run: always the same, so that it says the same.
const SEEDS: std::ops::Range<u64> = 1..19;

/// Routes on indices that the judge does not ask, each with the reason. Whoever adds a route that reads or
/// writes documents has the judge ask it.
const NOT_ASKED: &[(&[&str], &str)] = &[
    (
        &["/_count", "/_validate/query"],
        "the same handler with and without an index in its path: one of both is asked",
    ),
    (
        &["/_cat/count", "/_mapping", "/_mapping/field/{fields}", "/_field_caps", "/_rank_eval"],
        "the same handler with and without an index in its path",
    ),
    (&["/_mappings", "/{index}/_mappings"], "another name of `_mapping`, with the same handler"),
    (
        &["/_search/template", "/{index}/_msearch/template"],
        "the same handler with and without an index in its path",
    ),
    (
        &["/_render/template", "/_render/template/{id}"],
        "a template filled with the caller's own values, nothing searched",
    ),
    (
        &["/{index}/_termvectors"],
        "an artificial document: nothing stored is read but statistics, of which a limited caller is told nothing \
         and by which none of its terms is judged",
    ),
    (&["/_search/scroll/{scroll_id}"], "the same handler, the id in the path"),
    (&["/_pit"], "closes what a caller opened; no document"),
    (
        &[
            "/",
            "/{index}",
            "/_settings",
            "/_settings/{name}",
            "/{index}/_settings",
            "/{index}/_settings/{name}",
            "/_close",
            "/{index}/_close",
            "/_open",
            "/{index}/_open",
            "/{index}/_unfreeze",
            "/{index}/_block/{block}",
            "/{index}/_rollover",
            "/{index}/_rollover/{new_index}",
        ],
        "an index as a whole: made, changed, removed or named, never a document of it shown",
    ),
    (
        &[
            "/_alias",
            "/_alias/{name}",
            "/{index}/_alias",
            "/{index}/_alias/{name}",
            "/{index}/_aliases",
            "/_aliases/{name}",
            "/{index}/_aliases/{name}",
        ],
        "the actions of `/_aliases`, which is asked, one at a time; the others show names",
    ),
    (
        &[
            "/_index_template/{name}",
            "/_index_template",
            "/_index_template/_simulate",
            "/_index_template/_simulate/{name}",
            "/_index_template/_simulate_index/{name}",
            "/_template/{name}",
            "/_template",
        ],
        "templates hold no documents",
    ),
    (
        &[
            "/_stats",
            "/_stats/{metric}",
            "/{index}/_stats",
            "/{index}/_stats/{metric}",
            "/_segments",
            "/{index}/_segments",
            "/_recovery",
            "/{index}/_recovery",
            "/_shard_stores",
            "/{index}/_shard_stores",
            "/{index}/_disk_usage",
            "/{index}/_field_usage_stats",
            "/_search_shards",
            "/{index}/_search_shards",
            "/_cat/aliases",
            "/_cat/aliases/{name}",
            "/_cat/indices",
            "/_cat/indices/{index}",
            "/_cat/recovery",
            "/_cat/recovery/{index}",
            "/_cat/segments",
            "/_cat/segments/{index}",
            "/_cat/shards",
            "/_cat/shards/{index}",
        ],
        "names, sizes and counts of whole indices, for who may watch them: as in Elasticsearch no filter applies",
    ),
    (
        &[
            "/_cache/clear",
            "/{index}/_cache/clear",
            "/_refresh",
            "/{index}/_refresh",
            "/_flush",
            "/{index}/_flush",
            "/_forcemerge",
            "/{index}/_forcemerge",
            "/{index}/_reload_search_analyzers",
        ],
        "upkeep: nothing is shown, nothing is changed",
    ),
    (&["/_resolve/index/{name}", "/_resolve/cluster/{name}"], "names alone"),
    (&["/_analyze", "/{index}/_analyze"], "the caller's own text"),
    (
        &[
            "/_data_stream/{name}",
            "/_data_stream",
            "/_data_stream/_migrate/{name}",
            "/_data_stream/_modify",
            "/_data_stream/_stats",
            "/_data_stream/{name}/_stats",
        ],
        "a data stream as a whole, never a document of it",
    ),
];

/// Methods that the judge does not use on paths that it asks by others, each with the reason. Methods of one route
/// have one handler, and take turns; those of another route do something else.
const BY_OTHERS: &[(&[(&str, &str)], &str)] = &[
    (&[("DELETE", "/_search/scroll")], "closes what a caller opened; no document"),
    (&[("GET", "/_aliases")], "names alone"),
    (
        &[("PUT", "/{index}/_mapping"), ("POST", "/{index}/_mapping")],
        "an index as a whole: its mapping is changed, never a document of it shown",
    ),
];

#[test]
fn nobody_sees_or_does_more_or_less_than_it_may() {
    let mut checked = 0;
    let mut asked: BTreeSet<(&str, &str)> = BTreeSet::new();
    for seed in SEEDS {
        let (done, routes) = run_and_tell(&case(seed));
        asked.extend(routes);
        match done {
            Ok(counts) => checked += counts.checked,
            Err(difference) => panic!(
                "step {}: {}\nagain: cargo run -p corelode-oracle -- rights --seed {seed} --shrink",
                difference.step, difference.what
            ),
        }
    }
    assert!(checked > 20, "only {checked} answers were looked at");
    let exempt: BTreeSet<&str> =
        NOT_ASKED.iter().flat_map(|(paths, _)| paths.iter().copied()).collect();
    let by_others: BTreeSet<(&str, &str)> =
        BY_OTHERS.iter().flat_map(|(all, _)| all.iter().copied()).collect();
    let on_indices = ROUTES.iter().filter(|route| route.privilege.starts_with("indices:"));
    let pairs: BTreeSet<(&str, &str)> = on_indices
        .flat_map(|route| route.methods.iter().map(|method| (method.as_str(), route.path)))
        .collect();
    let is_exempt = |pair: &(&str, &str)| exempt.contains(pair.1) || by_others.contains(pair);
    let missing: Vec<_> =
        pairs.iter().filter(|pair| !asked.contains(*pair) && !is_exempt(pair)).collect();
    assert!(missing.is_empty(), "neither asked nor exempt: {missing:?}");
    let is_asked = |path: &str| asked.iter().any(|(_, asked)| *asked == path);
    let is_there = |path: &str| pairs.iter().any(|(_, known)| *known == path);
    let idle: Vec<_> = exempt.iter().filter(|path| !is_there(path) || is_asked(path)).collect();
    assert!(idle.is_empty(), "exempt, and yet asked or gone: {idle:?}");
    // A path none of whose methods is asked stands in the other list.
    let idle: Vec<_> = by_others
        .iter()
        .filter(|pair| !pairs.contains(*pair) || asked.contains(*pair) || !is_asked(pair.1))
        .collect();
    assert!(idle.is_empty(), "a method that is exempt, and yet asked or gone: {idle:?}");
}
