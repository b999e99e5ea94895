//! What an answer warns of: things that are deprecated, and were used.

use crate::browser::basic;
use crate::place::{Client, with_node, with_security};

/// The sentences of an answer that went well.
async fn warned(client: &mut Client, method: &str, target: &str, body: &str) -> Vec<String> {
    warned_with(client, method, target, &[], body).await
}

/// The same, of a request with header fields of its own.
async fn warned_with(
    client: &mut Client,
    method: &str,
    target: &str,
    fields: &[(&str, &str)],
    body: &str,
) -> Vec<String> {
    let response = match fields {
        [] => client.call(method, target, body).await,
        _ => {
            let fields = [&[("Content-Type", "application/json")][..], fields].concat();
            client.call_with(method, target, &fields, body.as_bytes()).await
        }
    };
    assert!(matches!(response.status, 200 | 201), "{target}: {}", response.text());
    let fields = response.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("warning"));
    fields
        .map(|(_, value)| {
            let sentence = value.strip_prefix("299 Elasticsearch-8.19.0-abc \"");
            sentence.and_then(|rest| rest.strip_suffix('"')).expect("a warning").to_owned()
        })
        .collect()
}

const NONE: [&str; 0] = [];
const LEGACY: &str = "Legacy index templates are deprecated in favor of composable templates.";
const MODE: &str = "Configuring source mode in mappings is deprecated and will be removed in future \
                    versions. Use [index.mapping.source.mode] index setting instead.";

#[test]
fn templates_that_are_deprecated_are_told_where_they_are_used() {
    with_node(|mut client| async move {
        let client = &mut client;
        let old = r#"{"template":{"settings":{"number_of_replicas":0}},"deprecated":true}"#;
        assert_eq!(warned(client, "PUT", "/_component_template/old", old).await, NONE);
        let new = r#"{"template":{}}"#;
        assert_eq!(warned(client, "PUT", "/_component_template/new", new).await, NONE);
        let uses = r#"{"index_patterns":["t-*"],"composed_of":["old","new"]}"#;
        assert_eq!(
            warned(client, "PUT", "/_index_template/t", uses).await,
            ["index template [t] uses deprecated component template [old]"]
        );
        // One that is deprecated itself may be of what it likes.
        let itself = r#"{"index_patterns":["u-*"],"composed_of":["old"],"deprecated":true}"#;
        assert_eq!(warned(client, "PUT", "/_index_template/u", itself).await, NONE);
        assert_eq!(warned(client, "PUT", "/t-1", "").await, NONE);
    });
}

#[test]
fn several_old_templates_for_one_index_are_told() {
    with_node(|mut client| async move {
        let client = &mut client;
        for (name, pattern) in [("two", "a*"), ("one", "a-*"), ("other", "b*")] {
            let body = format!(r#"{{"index_patterns":["{pattern}"]}}"#);
            let target = format!("/_template/{name}");
            assert_eq!(warned(client, "PUT", &target, &body).await, [LEGACY]);
        }
        assert_eq!(warned(client, "GET", "/_template/one", "").await, NONE);
        let told = |index: &str| {
            [format!(
                "index [{index}] matches multiple legacy templates [one, two], composable templates \
                 will only match a single template"
            )]
        };
        assert_eq!(warned(client, "PUT", "/a-1", "").await, told("a-1"));
        assert_eq!(warned(client, "PUT", "/b-1", "").await, NONE);
        // By a first document too, once.
        assert_eq!(warned(client, "PUT", "/a-2/_doc/1", "{}").await, told("a-2"));
        assert_eq!(warned(client, "PUT", "/a-2/_doc/2", "{}").await, NONE);
        let lines = "{\"index\":{\"_index\":\"a-3\"}}\n{}\n{\"index\":{\"_index\":\"a-3\"}}\n{}\n";
        assert_eq!(warned(client, "POST", "/_bulk", lines).await, told("a-3"));
        // A template of the new kind wins, and they are not asked.
        client.good("PUT", "/_index_template/n", r#"{"index_patterns":["a-4"]}"#).await;
        assert_eq!(warned(client, "PUT", "/a-4", "").await, NONE);
    });
}

#[test]
fn words_of_searches_and_mappings_are_told() {
    with_node(|mut client| async move {
        let client = &mut client;
        let mode = r#"{"mappings":{"_source":{"mode":"stored"}}}"#;
        assert_eq!(warned(client, "PUT", "/a", mode).await, [MODE]);
        let set = r#"{"settings":{"index.mapping.source.mode":"stored"}}"#;
        assert_eq!(warned(client, "PUT", "/b", set).await, NONE);
        let template = format!(r#"{{"index_patterns":["c*"],"template":{mode}}}"#);
        assert_eq!(warned(client, "PUT", "/_index_template/c", &template).await, [MODE]);
        let seed = "As of version 7.0 Elasticsearch will require that a [field] parameter is provided \
                    when a [seed] is set";
        let query = |random: &str| {
            format!(
                r#"{{"query":{{"bool":{{"must":{{"function_score":{{"random_score":{random}}}}}}}}}}}"#
            )
        };
        let alone = query(r#"{"seed":5}"#);
        for target in ["/a/_search", "/_count", "/a,b/_search?scroll=1m"] {
            assert_eq!(warned(client, "POST", target, &alone).await, [seed], "{target}");
        }
        for fine in ["{}", r#"{"seed":5,"field":"_seq_no"}"#] {
            assert_eq!(warned(client, "POST", "/a/_search", &query(fine)).await, NONE, "{fine}");
        }
        let sorted = r#"{"source":{"index":"a","sort":{"n":"asc"}},"dest":{"index":"d"}}"#;
        let plain = r#"{"source":{"index":"a"},"dest":{"index":"d"}}"#;
        client.good("PUT", "/a/_mapping", r#"{"properties":{"n":{"type":"long"}}}"#).await;
        assert_eq!(
            warned(client, "POST", "/_reindex", sorted).await,
            [
                "The sort option in reindex is deprecated. Instead consider using query filtering to \
              find the desired subset of data."
            ]
        );
        assert_eq!(warned(client, "POST", "/_reindex", plain).await, NONE);
    });
}

#[test]
fn where_aliases_are_looked_for_is_told_to_be_of_no_effect() {
    with_node(|mut client| async move {
        client.good("PUT", "/i", r#"{"aliases":{"a":{}}}"#).await;
        for (method, target, what) in [
            ("GET", "/_alias?local=true", "get-aliases"),
            ("HEAD", "/_alias/a?local=true", "get-aliases"),
            ("GET", "/_cat/aliases?local=true", "cat-aliases"),
        ] {
            let told = format!(
                "the [?local=true] query parameter to {what} requests has no effect and will be removed in a \
                 future version"
            );
            assert_eq!(warned(&mut client, method, target, "").await, [told]);
        }
        assert_eq!(warned(&mut client, "GET", "/_alias", "").await, NONE);
    });
}

#[test]
fn a_transient_setting_is_told_even_where_it_is_taken_away() {
    with_node(|mut client| async move {
        let client = &mut client;
        for (body, told) in [
            (r#"{"transient":{"search.max_buckets":null}}"#, 1),
            (r#"{"persistent":{"search.max_buckets":null}}"#, 0),
        ] {
            assert_eq!(
                warned(client, "PUT", "/_cluster/settings", body).await.len(),
                told,
                "{body}"
            );
        }
    });
}

#[test]
fn the_state_in_the_answer_of_a_reroute_is_told_to_go() {
    with_node(|mut client| async move {
        let client = &mut client;
        let told = warned(client, "POST", "/_cluster/reroute", "").await;
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("The [state] field in the response"), "{told:?}");
        let metadata = "/_cluster/reroute?metric=metadata";
        assert_eq!(warned(client, "POST", metadata, "").await, told);
        assert_eq!(warned(client, "POST", "/_cluster/reroute?metric=none", "").await, NONE);
    });
}

#[test]
fn settings_that_nothing_heeds_are_told() {
    with_node(|mut client| async move {
        let client = &mut client;
        let told = ["Translog retention settings [index.translog.retention.age] and \
                     [index.translog.retention.size] are deprecated and effectively ignored. They will \
                     be removed in a future version."];
        let size = r#"{"settings":{"index.translog.retention.size":"128mb"}}"#;
        assert_eq!(warned(client, "PUT", "/a", size).await, told);
        let other = r#"{"index.number_of_replicas":0}"#;
        assert_eq!(warned(client, "PUT", "/a/_settings", other).await, NONE, "it names none");
        let age = r#"{"translog.retention.age":"1h"}"#;
        assert_eq!(warned(client, "PUT", "/a/_settings", age).await, told);
        let none = r#"{"index.translog.retention.age":null,"index.translog.retention.size":null}"#;
        assert_eq!(warned(client, "PUT", "/a/_settings", none).await, NONE, "none is left");
        // Of a template they are told where an index has them.
        let template = format!(r#"{{"index_patterns":["t*"],"template":{size}}}"#);
        assert_eq!(warned(client, "PUT", "/_index_template/t", &template).await, NONE);
        assert_eq!(warned(client, "PUT", "/t1/_doc/1", "{}").await, told);
        assert_eq!(warned(client, "PUT", "/t1/_doc/2", "{}").await, NONE);
    });
}

/// Older clients say it with each search, and with what they ask of indices.
#[test]
fn whoever_says_something_of_frozen_indices_is_warned() {
    const THROTTLED: &str = "[ignore_throttled] parameter is deprecated because frozen indices have been \
                             deprecated. Consider cold or frozen tiers in place of frozen indices.";
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        for (method, path) in
            [("GET", "/a/_search"), ("HEAD", "/a"), ("GET", "/_count"), ("GET", "/a/_mapping")]
        {
            let target = format!("{path}?ignore_throttled=false");
            assert_eq!(warned(&mut client, method, &target, "").await, [THROTTLED], "{path}");
            assert_eq!(warned(&mut client, method, path, "").await, NONE, "{path}");
        }
        let missing = client.call("GET", "/none/_search?ignore_throttled", "").await;
        assert_eq!(missing.status, 404);
        assert!(missing.field("warning").is_some_and(|told| told.contains(THROTTLED)));
    });
}

#[test]
fn a_setting_of_forced_merges_is_kept_and_told() {
    const TOLD: &str = "[index.merge.policy.max_merge_at_once_explicit] setting was deprecated in Elasticsearch \
                        and will be removed in a future release.";
    with_node(|mut client| async move {
        let client = &mut client;
        let set = r#"{"settings":{"index.merge.policy.max_merge_at_once_explicit":20}}"#;
        assert_eq!(warned(client, "PUT", "/a", set).await, [TOLD]);
        assert_eq!(warned(client, "PUT", "/b", "").await, NONE);
        assert_eq!(warned(client, "PUT", "/b/_settings", set).await, [TOLD]);
        let other = r#"{"index.refresh_interval":"7s"}"#;
        assert_eq!(warned(client, "PUT", "/b/_settings", other).await, NONE);
        let template = format!(r#"{{"index_patterns":["c*"],"template":{set}}}"#);
        assert_eq!(warned(client, "PUT", "/_index_template/c", &template).await, [TOLD]);
        assert_eq!(warned(client, "PUT", "/c", "").await, [TOLD]);
        let told = client.bad("PUT", "/d", &set.replace("20", "1")).await;
        assert!(told.contains("must be >= 2"), "{told}");
    });
}

/// A name of whatever letters stands in the sentence, and must not end it, or the field.
#[test]
fn a_warning_names_things_in_letters_of_a_header() {
    with_node(|mut client| async move {
        let old = r#"{"template":{},"deprecated":true}"#;
        client.good("PUT", "/_component_template/%C3%A4%25", old).await;
        let uses = r#"{"index_patterns":["t-*"],"composed_of":["ä%"]}"#;
        assert_eq!(
            warned(&mut client, "PUT", "/_index_template/t", uses).await,
            ["index template [t] uses deprecated component template [%C3%A4%25]"]
        );
    });
}

#[test]
fn polygons_and_a_default_by_its_name_are_told() {
    with_node(|mut client| async move {
        let client = &mut client;
        let body = r#"{"mappings":{"properties":{"p":{"type":"geo_point"}}}}"#;
        client.good("PUT", "/a", body).await;
        let corners = r#"{"p":{"points":["0,0","0,1","1,1"]}}"#;
        let polygon = format!(r#"{{"query":{{"bool":{{"filter":{{"geo_polygon":{corners}}}}}}}}}"#);
        let replaced = "Deprecated field [geo_polygon] used, replaced by [[geo_shape] query where polygons are \
                        defined in geojson or wkt]";
        assert_eq!(warned(client, "POST", "/a/_search", &polygon).await, [replaced]);
        assert_eq!(warned(client, "POST", "/a/_count", &polygon).await, [replaced]);
        // A word is no query.
        let word = r#"{"query":{"match":{"t":"geo_polygon"}}}"#;
        assert_eq!(warned(client, "POST", "/a/_search", word).await, NONE);
        let setting = "?wait_for_active_shards=index-setting is now the default behaviour; the 'index-setting' \
                       value for this parameter should no longer be used since it will become unsupported in \
                       version 9";
        for name in ["index-setting", "INDEX-SETTING"] {
            let target = format!("/a/_close?wait_for_active_shards={name}");
            assert_eq!(warned(client, "POST", &target, "").await, [setting]);
        }
        for target in ["/a/_close?wait_for_active_shards=1", "/a/_close"] {
            assert_eq!(warned(client, "POST", target, "").await, NONE);
        }
    });
}

/// A search was warned of such a query, and nobody who set one where others search through it.
#[test]
fn deprecated_queries_that_are_kept_are_told_to_whoever_sets_them() {
    let replaced = "Deprecated field [geo_polygon] used, replaced by [[geo_shape] query where polygons are \
                    defined in geojson or wkt]";
    let polygon = r#"{"bool":{"filter":{"geo_polygon":{"p":{"points":["0,0","0,1","1,1"]}}}}}"#;
    let mapped = r#"{"properties":{"p":{"type":"geo_point"}}}"#;
    let all = format!(r#""aliases":{{"x":{{"filter":{polygon}}}}},"mappings":{mapped}"#);
    let add =
        format!(r#"{{"actions":[{{"add":{{"index":"a","alias":"y","filter":{polygon}}}}}]}}"#);
    let calls = [
        ("PUT", "/a", format!("{{{all}}}")),
        ("POST", "/_aliases", add),
        ("PUT", "/a/_alias/z", format!(r#"{{"filter":{polygon}}}"#)),
        (
            "PUT",
            "/_index_template/t",
            format!(r#"{{"index_patterns":["t-*"],"template":{{{all}}}}}"#),
        ),
        ("PUT", "/_component_template/c", format!(r#"{{"template":{{{all}}}}}"#)),
        ("GET", "/a/_validate/query", format!(r#"{{"query":{polygon}}}"#)),
        ("GET", "/a/_explain/1", format!(r#"{{"query":{polygon}}}"#)),
        ("GET", "/a/_search", format!(r#"{{"aggs":{{"in":{{"filter":{polygon}}}}}}}"#)),
    ];
    with_node(async |mut client| {
        for (method, target, body) in &calls {
            let told = warned(&mut client, method, target, body).await;
            assert_eq!(told, [replaced], "{method} {target}");
            if *target == "/a" {
                client.good("PUT", "/a/_doc/1?refresh=true", r#"{"p":"0.5,0.6"}"#).await;
            }
        }
        // Whoever searches through it has set nothing.
        assert_eq!(warned(&mut client, "GET", "/x/_search", "").await, NONE);
    });
    with_security(async |mut client| {
        client.authorize(Some(&basic("elastic", "secret")));
        let role =
            format!(r#"{{"indices":[{{"names":["a"],"privileges":["read"],"query":{polygon}}}]}}"#);
        let key = format!(r#"{{"name":"k","role_descriptors":{{"r":{role}}}}}"#);
        let roles = format!(r#"{{"roles":{{"r2":{role}}}}}"#);
        for (method, target, body) in [
            ("PUT", "/_security/role/r", &role),
            ("POST", "/_security/role", &roles),
            ("POST", "/_security/api_key", &key),
        ] {
            let told = warned(&mut client, method, target, body).await;
            assert_eq!(told, [replaced], "{method} {target}");
        }
    });
}

/// What stood in the query itself was told, and nothing of what stood in the rest of a search.
#[test]
fn deprecated_queries_are_told_wherever_in_a_search_they_stand() {
    let replaced = "Deprecated field [geo_polygon] used, replaced by [[geo_shape] query where polygons are \
                    defined in geojson or wkt]";
    let polygon = r#"{"geo_polygon":{"p":{"points":["0,0","0,1","1,1"]}}}"#;
    let seed = r#"{"function_score":{"random_score":{"seed":5}}}"#;
    let marked = format!(r#""highlight":{{"fields":{{"t":{{"highlight_query":{polygon}}}}}}}"#);
    let all = format!(r#""highlight":{{"highlight_query":{polygon},"fields":{{"t":{{}}}}}}"#);
    let sorted =
        format!(r#""sort":[{{"o.n":{{"nested":{{"path":"o","filter":{polygon}}}}}}},"_score"]"#);
    let inside = |inner: &str| {
        format!(
            r#"{{"query":{{"nested":{{"path":"o","query":{{"match_all":{{}}}},"inner_hits":{{{inner}}}}}}}}}"#
        )
    };
    let best = |top: &str| format!(r#"{{"aggs":{{"g":{{"global":{{}},"aggs":{{"a":{top}}}}}}}}}"#);
    let groups = |inner: &str| format!(r#"{{"collapse":{{"field":"k","inner_hits":{inner}}}}}"#);
    let hits = |sort: &str| format!(r#"{{"name":"i",{sort}}}"#);
    let searches = [
        format!("{{{marked}}}"),
        format!("{{{all}}}"),
        // Told whether or not a field has use for it.
        format!("{{{}}}", all.replace(r#""t":{}"#, "")),
        format!("{{{}}}", all.replace(r#""t":{}"#, r#""t":{"highlight_query":{"match_all":{}}}"#)),
        format!("{{{sorted}}}"),
        inside(&marked),
        inside(&sorted),
        best(&format!(r#"{{"top_hits":{{{marked}}}}}"#)),
        best(&format!(r#"{{"top_hits":{{{sorted}}}}}"#)),
        best(&format!(
            r#"{{"top_metrics":{{"metrics":{{"field":"n"}},"sort":{{"o.n":{{"nested":{{"path":"o","filter":{polygon}}}}}}}}}}}"#
        )),
        groups(&hits(&marked)),
        groups(&format!("[{},{}]", hits(r#""size":1"#).replace("i\"", "j\""), hits(&sorted))),
        format!(r#"{{"query":{{"has_child":{{"type":"child","query":{polygon}}}}}}}"#),
        format!(r#"{{"rescore":{{"query":{{"rescore_query":{polygon}}}}}}}"#),
    ];
    with_node(async |mut client| {
        let client = &mut client;
        let body = r#"{"mappings":{"properties":{
            "p":{"type":"geo_point"},"t":{"type":"text"},"k":{"type":"keyword"},"n":{"type":"long"},
            "j":{"type":"join","relations":{"parent":"child"}},
            "o":{"type":"nested","properties":{"n":{"type":"long"},"p":{"type":"geo_point"}}}}}}"#;
        client.good("PUT", "/a", body).await;
        let doc = r#"{"p":"0.5,0.6","t":"x","k":"k","n":1,"j":"parent","o":[{"n":1}]}"#;
        client.good("PUT", "/a/_doc/1?refresh=true", doc).await;
        for search in &searches {
            assert_eq!(warned(client, "POST", "/a/_search", search).await, [replaced], "{search}");
            let other = search.replace(polygon, r#"{"match_all":{}}"#);
            assert_eq!(warned(client, "POST", "/a/_search", &other).await, NONE, "{other}");
            let told = warned(client, "POST", "/a/_search", &search.replace(polygon, seed)).await;
            assert!(told.len() == 1 && told[0].contains("[seed]"), "{search}: {told:?}");
        }
        // Whoever sets one for others is told, too.
        let filter = inside(&marked).replacen("\"query\"", "\"filter\"", 1);
        assert_eq!(warned(client, "PUT", "/a/_alias/x", &filter).await, [replaced]);
    });
}

/// Each was taken, and nobody told that Elasticsearch will take it no more.
#[test]
fn sizes_of_numbers_that_are_not_whole_are_told() {
    with_node(async |mut client| {
        let client = &mut client;
        let told = |text: &str, name: &str| {
            [format!(
                "Fractional bytes values are deprecated. Use non-fractional bytes values instead: [{text}] found \
                 for setting [{name}]"
            )]
        };
        let merged = "index.merge.policy.max_merged_segment";
        let floor = "index.merge.policy.floor_segment";
        let set = |name: &str, size: &str| format!(r#"{{"settings":{{"{name}":"{size}"}}}}"#);
        assert_eq!(warned(client, "PUT", "/a", &set(merged, "1.5gb")).await, told("1.5gb", merged));
        assert_eq!(warned(client, "PUT", "/b", &set(merged, "1gb")).await, NONE);
        let put = r#"{"merge.policy.floor_segment":"2.0 MB"}"#;
        assert_eq!(warned(client, "PUT", "/b/_settings", put).await, told("2.0 MB", floor));
        let other = r#"{"index.priority":2}"#;
        assert_eq!(warned(client, "PUT", "/b/_settings", other).await, NONE);
        let template = format!(r#"{{"index_patterns":["t*"],"template":{}}}"#, set(floor, "2.5mb"));
        let floor = told("2.5mb", floor);
        assert_eq!(warned(client, "PUT", "/_index_template/t", &template).await, floor);
        assert_eq!(warned(client, "PUT", "/t1/_doc/1", "{}").await, floor);
        assert_eq!(warned(client, "PUT", "/t1/_doc/2", "{}").await, NONE);
        let speed = "indices.recovery.max_bytes_per_sec";
        for (size, is_told) in [("40.5mb", true), ("40mb", false)] {
            let body = format!(r#"{{"persistent":{{"{speed}":"{size}"}}}}"#);
            let warned = warned(client, "PUT", "/_cluster/settings", &body).await;
            assert_eq!(warned == told(size, speed), is_told, "{warned:?}");
        }
        let conditions = r#"{"conditions":{"max_size":"1.5gb","max_docs":9}}"#;
        client.good("PUT", "/r-000001", r#"{"aliases":{"w":{"is_write_index":true}}}"#).await;
        assert_eq!(
            warned(client, "POST", "/w/_rollover", conditions).await,
            told("1.5gb", "max_size")
        );
        client.good("PUT", "/two", r#"{"settings":{"number_of_shards":2}}"#).await;
        client.good("PUT", "/two/_block/write", "").await;
        let shrink = r#"{"max_primary_shard_size":"0.5gb"}"#;
        assert_eq!(
            warned(client, "PUT", "/two/_shrink/c", shrink).await,
            told("0.5gb", "max_primary_shard_size")
        );
    });
}

/// Clients of the version before say how a health that did not come in time is to be answered.
#[test]
fn a_health_that_did_not_come_in_time_may_be_no_failure() {
    const TOLD: &str = "the [return_200_for_cluster_health_timeout] parameter is deprecated and will be removed \
                        in a future release.";
    with_node(async |mut client| {
        let vain = "/_cluster/health?wait_for_nodes=2&timeout=1ms";
        for (said, status) in [("true", 200), ("TRUE", 200), ("false", 408), ("", 408), ("x", 408)]
        {
            let target = format!("{vain}&return_200_for_cluster_health_timeout={said}");
            let answer = client.call("GET", &target, "").await;
            assert_eq!(answer.status, status, "{said}: {}", answer.text());
            assert!(answer.text().contains(r#""timed_out":true"#), "{said}");
            assert!(answer.field("warning").is_some_and(|told| told.contains(TOLD)), "{said}");
        }
        let answer = client.call("GET", vain, "").await;
        assert_eq!((answer.status, answer.field("warning")), (408, None));
        let in_time = "/_cluster/health?return_200_for_cluster_health_timeout=false";
        assert_eq!(warned(&mut client, "GET", in_time, "").await, [TOLD]);
    });
}

fn begins_with_a_dot(name: &str) -> String {
    format!(
        "Index [{name}] name begins with a dot (.), which is deprecated, and will not be allowed in a \
         future Elasticsearch version."
    )
}

fn starts_with_a_dot(name: &str) -> String {
    format!(
        "index name [{name}] starts with a dot '.', in the next major version, index names starting \
         with a dot are reserved for hidden indices and system indices"
    )
}

/// Who asked for the index is told what is to come of such names, be it hidden or not; who made it by the way
/// of another is told where it is not hidden.
#[test]
fn names_with_a_dot_are_told_however_they_come() {
    with_node(|mut client| async move {
        let client = &mut client;
        let alias =
            r#"{"aliases":{"log":{"is_write_index":true}},"settings":{"index.blocks.write":true}}"#;
        let both = |name: &str| vec![begins_with_a_dot(name), starts_with_a_dot(name)];
        assert_eq!(warned(client, "PUT", "/.log-1", alias).await, both(".log-1"));
        let bulk = "{\"index\":{\"_index\":\".b\"}}\n{}\n{\"index\":{\"_index\":\".b\"}}\n{}\n";
        for (method, target, body, told) in [
            ("PUT", "/.a", "", both(".a")),
            ("PUT", "/.d/_doc/1", "{}", both(".d")),
            ("POST", "/_bulk", bulk, both(".b")),
            ("POST", "/.u/_update/1", r#"{"doc":{},"doc_as_upsert":true}"#, both(".u")),
            ("POST", "/log/_rollover/.log-2", "", vec![starts_with_a_dot(".log-2")]),
            ("POST", "/.log-1/_clone/.c", "", vec![starts_with_a_dot(".c")]),
            (
                "PUT",
                "/%3C.m-%7Bnow%2Fd%7D%3E",
                r#"{"settings":{"hidden":true}}"#,
                vec![begins_with_a_dot("<.m-{now/d}>")],
            ),
            ("PUT", "/.h", r#"{"settings":{"index.hidden":true}}"#, vec![begins_with_a_dot(".h")]),
            ("PUT", "/.h/_doc/1", "{}", vec![]),
            ("PUT", "/.monitoring-es-8-mb", r#"{"settings":{"hidden":true}}"#, vec![]),
            ("PUT", "/.ml-state-7", "", vec![starts_with_a_dot(".ml-state-7")]),
        ] {
            assert_eq!(warned(client, method, target, body).await, told, "{target}");
        }
        let kibana = [("X-Elastic-Product-Origin", "kibana")];
        let told = warned_with(client, "PUT", "/.k", &kibana, "").await;
        assert_eq!(told, [starts_with_a_dot(".k")]);
        let nobody = [("X-Elastic-Product-Origin", " ")];
        assert_eq!(warned_with(client, "PUT", "/.n", &nobody, "").await, both(".n"));
    });
}

#[test]
fn templates_for_names_with_a_dot_are_told() {
    with_node(|mut client| async move {
        let client = &mut client;
        let body =
            r#"{"index_patterns":["regular",".dott*",".monitoring-es-8-*",".t2-*"],"priority":9}"#;
        let told = [begins_with_a_dot(".dott*"), begins_with_a_dot(".t2-*")];
        assert_eq!(warned(client, "PUT", "/_index_template/t", body).await, told);
        let kibana = [("X-Elastic-Product-Origin", "kibana")];
        assert_eq!(warned_with(client, "PUT", "/_index_template/t", &kibana, body).await, NONE);
        let stream = r#"{"index_patterns":[".stream*"],"data_stream":{}}"#;
        let told = [begins_with_a_dot(".stream*")];
        assert_eq!(warned(client, "PUT", "/_index_template/s", stream).await, told);
        // Who makes a stream by its name is not told, who makes it by a document is.
        assert_eq!(warned(client, "PUT", "/_data_stream/.stream1", "").await, NONE);
        let document = r#"{"@timestamp":1}"#;
        let told = warned(client, "POST", "/.stream2/_doc", document).await;
        assert_eq!(told, [begins_with_a_dot(".stream2")]);
        let old = r#"{"index_patterns":[".old*"]}"#;
        assert_eq!(warned(client, "PUT", "/_template/o", old).await, [LEGACY]);
    });
}
