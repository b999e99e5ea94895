//! What holds for every path.

use std::time::Duration;

use env::{Clock, Env};
use http::coding::{Coding, decode, gzip};
use sim::Sim;

use crate::place::{at, failure, value, with_clients_on, with_memory, with_node};

#[test]
fn the_root_tells_who_answers() {
    with_node(|mut client| async move {
        let response = client.call("GET", "/", "").await;
        assert_eq!(response.status, 200);
        assert_eq!(response.field("X-elastic-product"), Some("Elasticsearch"));
        assert_eq!(response.field("content-type"), Some("application/json"));
        let body = value(&response);
        assert_eq!(at(&body, &["version", "number"]).as_str(), Some("8.19.0"));
        assert_eq!(at(&body, &["tagline"]).as_str(), Some("You Know, for Search"));
        let keys: Vec<&str> = body.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["name", "cluster_name", "cluster_uuid", "version", "tagline"]);
        let head = client.call("HEAD", "/", "").await;
        assert_eq!((head.status, head.body.len()), (200, 0));
    });
}

#[test]
fn unknown_paths_and_methods_are_told() {
    with_node(|mut client| async move {
        for (method, target, told) in [
            ("GET", "/x/y/z/q", "400 no handler found for uri [/x/y/z/q] and method [GET]"),
            ("POST", "/a/_foo", "400 no handler found for uri [/a/_foo] and method [POST]"),
            (
                "GET",
                "/_bulk",
                "405 Incorrect HTTP method for uri [/_bulk] and method [GET], allowed: [POST, PUT]",
            ),
            (
                "GET",
                "/_cat/nope",
                "405 Incorrect HTTP method for uri [/_cat/nope] and method [GET], allowed: [POST]",
            ),
            (
                "PATCH",
                "/_search?q=1",
                "405 Incorrect HTTP method for uri [/_search?q=1] and method [PATCH], allowed: \
                 [GET, POST]",
            ),
            // A word that is no method is not asked for its path.
            ("FOO", "/", "405 Unexpected http method: FOO, allowed: [DELETE, GET, HEAD]"),
            (
                "search",
                "/a",
                "405 Unexpected http method: search, allowed: [DELETE, GET, HEAD, PUT]",
            ),
            ("FOO", "/x/y/z/q", "405 Unexpected http method: FOO"),
        ] {
            assert_eq!(client.bad(method, target, "").await, told);
        }
        let wrong = client.call("GET", "/_bulk", "").await;
        assert_eq!(wrong.field("allow"), Some("POST,PUT"));
        let nothing = client.call("GET", "/x/y/z/q", "").await;
        assert_eq!(
            nothing.text(),
            r#"{"error":"no handler found for uri [/x/y/z/q] and method [GET]"}"#
        );
        let options = client.call("OPTIONS", "/_search", "").await;
        assert_eq!((options.status, options.field("allow")), (200, Some("GET,POST")));
        assert!(options.body.is_empty());
    });
}

#[test]
fn parameters_are_judged_before_anything_happens() {
    with_node(|mut client| async move {
        for (target, told) in [
            (
                "/a/_search?sizee=1",
                "400 illegal_argument_exception: request [/a/_search] contains unrecognized \
                 parameter: [sizee]",
            ),
            (
                "/_cluster/health?foo&bar=1",
                "400 illegal_argument_exception: request [/_cluster/health] contains unrecognized \
                 parameters: [bar], [foo]",
            ),
            (
                "/_cluster/health?levle=shards",
                "400 illegal_argument_exception: request [/_cluster/health] contains unrecognized \
                 parameter: [levle] -> did you mean [level]?",
            ),
            (
                "/?pretty=foo",
                "400 illegal_argument_exception: Failed to parse value [foo] as only [true] or \
                 [false] are allowed.",
            ),
            (
                "/_search?size=a",
                "400 illegal_argument_exception: Failed to parse int parameter [size] with value \
                 [a]",
            ),
            (
                "/_search?timeout=foo",
                "400 illegal_argument_exception: failed to parse setting [timeout] with value \
                 [foo] as a time value: unit is missing or unrecognized",
            ),
            (
                "/_search?ignore_unavailable=foo",
                "400 illegal_argument_exception: Could not convert [ignore_unavailable] to boolean",
            ),
            (
                "/_search?search_type=foo",
                "400 illegal_argument_exception: No search type for [foo]",
            ),
            (
                "/_search?preference=_foo",
                "400 illegal_argument_exception: no Preference for [_foo]",
            ),
            (
                "/_search?batched_reduce_size=1",
                "400 illegal_argument_exception: batchedReduceSize must be >= 2",
            ),
            (
                "/_search?source=%7B%7D",
                "500 illegal_state_exception: source and source_content_type parameters are \
                 required",
            ),
        ] {
            assert_eq!(client.bad("GET", target, "").await, told, "{target}");
        }
        // A body in the query is none beside a body, and its type says nothing without it.
        let both = "400 illegal_argument_exception: request [/_search] contains unrecognized \
                    parameters: [source] -> did you mean [_source]?, [source_content_type]";
        let target = "/_search?source=%7B%7D&source_content_type=application/json";
        assert_eq!(client.bad("GET", target, "{}").await, both);
        client.good("GET", target, "").await;
        let one = "400 illegal_argument_exception: request [/_search] contains unrecognized \
                   parameter: [source_content_type]";
        let target = "/_search?source_content_type=application/json";
        assert_eq!(client.bad("GET", target, "").await, one);
        assert_eq!(client.bad("GET", target, "{}").await, one);
        let told = client.bad("GET", "/?a=%zz", "").await;
        assert!(
            told.starts_with("400 bad_parameter_exception: java.lang.IllegalArgumentExc"),
            "{told}"
        );
    });
}

#[test]
fn media_types_are_judged() {
    with_node(|mut client| async move {
        for (kind, told) in [
            (Some("text/plain"), "406 Content-Type header [text/plain] is not supported"),
            (Some("application/foo"), "406 Content-Type header [application/foo] is not supported"),
            (None, "406 Content-Type header is missing"),
            (
                Some("foo"),
                "400 media_type_header_exception: Invalid media-type value on headers \
                 [Content-Type]",
            ),
        ] {
            let fields: Vec<(&str, &str)> =
                kind.map(|kind| ("Content-Type", kind)).into_iter().collect();
            let response = client.call_with("POST", "/_search", &fields, b"{}").await;
            assert_eq!(failure(&response), told);
        }
        for name in ["Accept", "Content-Type"] {
            let both = [(name, "application/json"), (name, "text/plain")];
            let response = client.call_with("POST", "/_search", &both, b"{}").await;
            let told = failure(&response);
            let expected = format!(
                "400 media_type_header_exception: Invalid media-type value on headers [{name}]"
            );
            assert_eq!(told, expected);
            let cause = value(&response);
            let cause = at(&cause, &["error", "caused_by", "reason"]).as_str();
            let expected = format!("Incorrect header [{name}]. Only one value should be provided");
            assert_eq!(cause, Some(expected.as_str()));
        }
        let vendor = "application/vnd.elasticsearch+json; compatible-with=8";
        let response = client.call_with("GET", "/", &[("Accept", vendor)], b"").await;
        assert_eq!(
            response.field("content-type"),
            Some("application/vnd.elasticsearch+json;compatible-with=8")
        );
        let response = client
            .call_with(
                "GET",
                "/",
                &[("Accept", "application/vnd.elasticsearch+json;compatible-with=11")],
                b"",
            )
            .await;
        assert!(failure(&response).starts_with("400 media_type_header_exception: Invalid media-"));
    });
}

/// A client that asked for a type which we do not write was answered in JSON, under that type's version.
#[test]
fn a_type_that_is_not_written_is_not_acceptable() {
    const XML: &str = "application/vnd.elasticsearch+xml;compatible-with=8";
    const FOO: &str = "application/foo; compatible-with=7";
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh", r#"{"n":1}"#).await;
        for (method, target, body) in [
            ("GET", "/", &b""[..]),
            ("GET", "/a/_doc/1?filter_path=_id", b""),
            ("GET", "/_cat/indices", b""),
            ("POST", "/a/_search", b"{}"),
            ("GET", "/nothing/_doc/1", b""),
        ] {
            for accept in [XML, FOO] {
                let fields = [("Accept", accept), ("Content-Type", "application/json")];
                let answer = client.call_with(method, target, &fields, body).await;
                let told = format!("406 Accept header [{accept}] is not supported");
                assert_eq!(failure(&answer), told, "{method} {target}");
            }
        }
        for (target, accept, status) in [
            ("/?format=json", XML, 200),
            ("/", "application/vnd.elasticsearch+xml;compatible-with=8, application/json", 200),
            ("/", "application/vnd.elasticsearch+xml", 200),
            ("/", "image/png", 200),
            ("/nothing", "application/json", 404),
        ] {
            let answer = client.call_with("GET", target, &[("Accept", accept)], b"").await;
            assert_eq!(answer.status, status, "{target} {accept}");
        }
        // What was refused was not done.
        let fields = [("Accept", XML), ("Content-Type", "application/json")];
        client.call_with("PUT", "/a/_doc/2", &fields, b"{}").await;
        assert_eq!(client.call("GET", "/a/_doc/2", "").await.status, 404);
    });
}

#[test]
fn answers_are_dressed_as_asked() {
    with_node(|mut client| async move {
        let pretty = client.call("GET", "/_license?pretty&filter_path=license.status", "").await;
        assert_eq!(pretty.text(), "{\n  \"license\" : {\n    \"status\" : \"active\"\n  }\n}\n");
        let filtered = client.call("GET", "/?filter_path=version.n*,-name,tagline", "").await;
        assert_eq!(
            filtered.text(),
            r#"{"version":{"number":"8.19.0"},"tagline":"You Know, for Search"}"#
        );
        let nothing = client.call("GET", "/?filter_path=nope", "").await;
        assert_eq!(nothing.text(), "{}");
        // Errors are not filtered.
        let error = client.call("GET", "/nope?filter_path=took&error_trace", "").await;
        assert!(error.text().contains("index_not_found_exception"));
        assert!(error.text().contains("stack_trace"));
        let echoed = client.call_with("GET", "/", &[("X-Opaque-Id", "abc 1")], b"").await;
        assert_eq!(echoed.field("X-Opaque-Id"), Some("abc 1"));
    });
}

#[test]
fn bodies_are_unpacked_and_answers_packed() {
    with_node(|mut client| async move {
        let plain = client.call("GET", "/_nodes?pretty", "").await;
        let packed =
            client.call_with("GET", "/_nodes?pretty", &[("Accept-Encoding", "gzip")], b"").await;
        assert_eq!(packed.field("content-encoding"), Some("gzip"));
        assert_eq!(decode(Coding::Gzip, &packed.body, 1 << 20).as_deref(), Ok(&plain.body[..]));
        let fields = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")];
        let body = gzip(br#"{"analyzer":"standard","text":"Quick fox"}"#);
        let response = client.call_with("POST", "/_analyze", &fields, &body).await;
        assert_eq!(response.status, 200, "{}", response.text());
        let response = client.call_with("POST", "/_analyze", &fields, b"not gzip").await;
        assert_eq!(response.status, 400);
        let fields = [("Content-Type", "application/json"), ("Content-Encoding", "br")];
        let response = client.call_with("POST", "/_analyze", &fields, b"x").await;
        assert_eq!(response.status, 415);
    });
}

#[test]
fn a_body_may_come_in_the_query() {
    with_node(|mut client| async move {
        let target =
            "/_analyze?source_content_type=application/json&source=%7B%22text%22%3A%22a%22%7D";
        let body = client.good("GET", target, "").await;
        assert_eq!(at(&body, &["tokens"]).as_array().map(<[_]>::len), Some(1));
    });
}

/// It was as if there were none: parsers that are asked meet their end, as the peer's tell.
#[test]
fn a_body_in_the_query_in_which_there_is_nothing_is_still_one() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh", r#"{"n":1}"#).await;
        let empty = "source=&source_content_type=application/json";
        for (target, told) in [
            ("/a/_search", "400 parsing_exception: Expected [START_OBJECT] but found [null]"),
            ("/_mget", "400 parsing_exception: unexpected token [null], expected [START_OBJECT]"),
            (
                "/_msearch",
                "400 action_request_validation_exception: Validation Failed: 1: no requests added;",
            ),
            (
                "/a/_validate/query",
                "400 action_request_validation_exception: Validation Failed: 1: query cannot be null;",
            ),
            (
                "/a/_search/template",
                "400 x_content_parse_exception: [1:0] [search_template] Expected START_OBJECT but \
                 was: null",
            ),
            (
                "/a/_rank_eval",
                "400 x_content_parse_exception: [1:0] [rank_eval] Expected START_OBJECT but was: null",
            ),
            (
                "/_analyze",
                "400 x_content_parse_exception: [1:0] [analyze_request] Expected START_OBJECT but \
                 was: null",
            ),
        ] {
            let refused = client.bad("GET", &format!("{target}?{empty}"), "").await;
            assert_eq!(refused, told, "{target}");
        }
        let counted = client.good("GET", &format!("/a/_count?{empty}"), "").await;
        assert_eq!(at(&counted, &["count"]).as_u64(), Some(1));
        let refused = client.call("POST", "/a/_search", " ").await;
        let refused = value(&refused);
        let place = ["line", "col"].map(|key| at(&refused, &["error", key]).as_u64());
        assert_eq!(place, [Some(1), Some(0)]);
        let untyped = client.bad("GET", "/a/_search?source=", "").await;
        assert!(untyped.starts_with("500 illegal_state_exception: source and"), "{untyped}");
        client.good("POST", "/a/_search", "").await;
    });
}

#[test]
fn the_node_describes_itself() {
    with_node(|mut client| async move {
        for target in ["/_nodes/http", "/_nodes/_all/http", "/_nodes/http,settings", "/_nodes"] {
            let body = client.good("GET", target, "").await;
            let node = at(&body, &["nodes", "AAAAAAAAAAAAAAAAAAAAAA"]);
            assert_eq!(at(node, &["http", "publish_address"]).as_str(), Some("127.0.0.1:9200"));
            assert_eq!(at(&body, &["_nodes", "total"]).as_u64(), Some(1));
        }
        let none = client.good("GET", "/_nodes/other/http", "").await;
        assert_eq!(at(&none, &["nodes"]), &json::json!({}));
        let some = client.good("GET", "/_nodes/_all/os,foo", "").await;
        let node = at(&some, &["nodes", "AAAAAAAAAAAAAAAAAAAAAA"]);
        assert!(node.get("os").is_some() && node.get("process").is_none(), "{some:?}");
        assert_eq!(
            client.bad("GET", "/_nodes/usage/foo", "").await,
            "400 illegal_argument_exception: request [/_nodes/usage/foo] contains unrecognized \
             metric: [foo]"
        );
        let body = client.good("GET", "/_license", "").await;
        assert_eq!(at(&body, &["license", "type"]).as_str(), Some("basic"));
        let issued_ms = at(&body, &["license", "issue_date_in_millis"]).as_i64();
        assert_ne!(issued_ms, Some(1_000), "not when the node was started");
        let icon = client.call("GET", "/favicon.ico", "").await;
        assert_eq!((icon.status, icon.field("content-type")), (200, Some("image/x-icon")));
        let cat = client.call("GET", "/_cat", "").await;
        assert!(cat.text().starts_with("=^.^=\n"));
    });
}

#[test]
fn what_is_deprecated_is_answered_with_a_warning() {
    with_node(|mut client| async move {
        let body = r#"{"transient":{"search.max_buckets":10}}"#;
        let response = client.call("PUT", "/_cluster/settings", body).await;
        let warning = response.field("warning").expect("a warning").to_owned();
        assert!(warning.starts_with("299 Elasticsearch-8.19.0-"), "{warning}");
        assert!(warning.contains("\"[transient settings removal] Updating"), "{warning}");
        let body = r#"{"persistent":{"search.max_buckets":10}}"#;
        assert!(client.call("PUT", "/_cluster/settings", body).await.field("warning").is_none());
        let named = client.call("PUT", "/.dotted", "").await;
        assert!(named.field("warning").is_some());
        let body = r#"{"settings":{"index.hidden":true}}"#;
        let hidden = client.call("PUT", "/.hidden", body).await;
        assert!(hidden.field("warning").is_some_and(|warning| warning.contains("Index [.hidden]")));
    });
}

#[test]
fn answers_and_bodies_come_in_other_encodings() {
    with_node(|mut client| async move {
        client.call("PUT", "/a/_doc/1?refresh=true", r#"{"t":"x"}"#).await;
        let yaml = client.call("GET", "/a/_doc/1?format=yaml&filter_path=_id,_source", "").await;
        assert_eq!(yaml.field("content-type"), Some("application/yaml"));
        assert_eq!(yaml.body, b"---\n_id: \"1\"\n_source:\n  t: \"x\"\n");
        let cbor = client.call("GET", "/a/_doc/1?format=cbor&filter_path=_id", "").await;
        assert_eq!(cbor.body, b"\xa1\x63_id\x611");
        let rows = client.call("GET", "/_cat/indices?format=yaml&h=index,pri", "").await;
        assert_eq!(rows.body, b"---\n- index: \"a\"\n  pri: \"1\"\n");
        let source = "/a/_count?source=%7Bquery:%20%7Bmatch_all:%20%7B%7D%7D%7D&\
                      source_content_type=application/yaml&filter_path=count";
        assert_eq!(client.call("GET", source, "").await.body, br#"{"count":1}"#);
        // What is no format asks for nothing: the answer is JSON, or a table, or what the header says.
        let count = "/a/_count?filter_path=count&format=xml";
        assert_eq!(client.call("GET", count, "").await.body, br#"{"count":1}"#);
        let field = ("accept", "application/yaml");
        let yaml = client.call_with("GET", count, &[field], b"").await;
        assert_eq!(yaml.body, b"---\ncount: 1\n");
        for format in ["xml", ""] {
            let target = format!("/_cat/indices?h=index&format={format}");
            let json = ("accept", "application/json");
            let rows = client.call_with("GET", &target, &[json], b"").await;
            assert_eq!(rows.body, b"a\n", "{format}");
        }
        // Who asks for nothing gets what was sent, errors too.
        for (target, accept, kind, body) in [
            ("/a/_count?filter_path=count", None, "application/yaml", "---\ncount: 1\n"),
            ("/a/_count?filter_path=count", Some("*/*"), "application/yaml", "---\ncount: 1\n"),
            (
                "/a/_count?filter_path=count",
                Some("application/json"),
                "application/json",
                r#"{"count":1}"#,
            ),
            ("/b/_count?filter_path=status", None, "application/yaml", "---\nerror:\n"),
        ] {
            let mut fields = vec![("Content-Type", "application/yaml")];
            fields.extend(accept.map(|accept| ("Accept", accept)));
            let answer = client.call_with("POST", target, &fields, b"query: {match_all: {}}").await;
            assert_eq!(answer.field("content-type"), Some(kind), "{target} {accept:?}");
            assert!(answer.text().starts_with(body), "{target} {accept:?} {}", answer.text());
        }
    });
}

#[test]
fn a_semicolon_stands_between_parameters() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh=true;routing=r", r#"{"t":"x;y"}"#).await;
        let found = client
            .good("GET", "/a/_search?q=t.keyword:x%3By;filter_path=hits.hits._routing", "")
            .await;
        assert_eq!(json::to_string(&found), r#"{"hits":{"hits":[{"_routing":"r"}]}}"#);
        let told = client.bad("GET", "/a/_search?size=1;foo", "").await;
        assert!(told.contains("unrecognized parameter: [foo]"), "{told}");
    });
}

/// `_all` stands for all indices where it stands alone.
#[test]
fn names_of_calls_are_no_names_of_indices() {
    let wrong = |name: &str| {
        format!(
            "400 invalid_index_name_exception: Invalid index name [{name}], must not start with '_'."
        )
    };
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        for target in ["/_resolve/index/_all,-a", "/_all,-a/_search", "/_all,-a"] {
            assert_eq!(client.bad("GET", target, "").await, wrong("_all"), "{target}");
        }
        assert_eq!(client.bad("GET", "/_resolve/index/*,_x", "").await, wrong("_x"));
        for target in ["/_resolve/index/_all", "/_resolve/index/*", "/_resolve/index/a*,-b*"] {
            let found = client.good("GET", target, "").await;
            assert_eq!(at(&found, &["indices"]).as_array().map(<[_]>::len), Some(1), "{target}");
        }
        let none = client.good("GET", "/_resolve/index/*,-a", "").await;
        assert_eq!(at(&none, &["indices"]).as_array().map(<[_]>::len), Some(0));
        // There is such a call of named indices alone.
        let told = client.bad("GET", "/_field_usage_stats", "").await;
        assert_eq!(told, wrong("_field_usage_stats"));
    });
}

/// Half a kilobyte was asked for each byte of a body that names its fields once; and whoever asked for another
/// encoding was told in JSON that there is no memory for the answer.
#[test]
fn other_encodings_take_the_memory_that_they_need_and_tell_where_there_is_none() {
    with_memory(128 << 20, |mut client, lease| async move {
        client.good("PUT", "/f", r#"{"mappings":{"enabled":false}}"#).await;
        let smile = named_once(50_000);
        assert!(smile.len() > 200_000);
        let kind = [("Content-Type", "application/smile")];
        let put = client.call_with("PUT", "/f/_doc/1", &kind, &smile).await;
        assert_eq!(put.status, 201, "{}", put.text());

        // More than a core has at hand for requests.
        let fields: Vec<String> =
            (0..900).map(|at| format!(r#""{at:0>200}":{{"type":"keyword"}}"#)).collect();
        let mapping = format!(r#"{{"mappings":{{"properties":{{{}}}}}}}"#, fields.join(","));
        for index in 0..60 {
            client.good("PUT", &format!("/wide{index}"), &mapping).await;
        }
        let mut held = Vec::new();
        for bytes in [1 << 20, 1 << 15] {
            held.extend(std::iter::from_fn(|| lease.take(bytes)));
        }
        for encoding in ["json", "yaml", "cbor", "smile"] {
            let target = format!("/wide*/_mapping?format={encoding}");
            let told = client.call("GET", &target, "").await;
            assert_eq!(told.status, 429, "{encoding}");
            let kind = told.field("content-type").unwrap_or_default().to_owned();
            assert_eq!(kind, format!("application/{encoding}"));
            let is_json = told.body.starts_with(b"{");
            assert_eq!(is_json, encoding == "json", "{encoding}");
            let body = String::from_utf8_lossy(&told.body).into_owned();
            assert!(body.contains("circuit_breaking_exception"), "{encoding}: {body}");
        }
        // The connection serves on.
        client.good("GET", "/", "").await;
        // A body of no length that was told: the memory for it ends while it comes.
        let mut endless =
            b"PUT /f/_doc/2 HTTP/1.1\r\nHost: a\r\nContent-Type: application/cbor\r\n\
            X-Opaque-Id: me\r\nTransfer-Encoding: chunked\r\n\r\n2000000\r\n"
                .to_vec();
        endless.resize(endless.len() + (32 << 20), 0);
        client.push(&endless).await;
        let told = client.answer("PUT", "/f/_doc/2").await;
        assert_eq!((told.status, told.field("x-opaque-id")), (429, Some("me")));
        assert_eq!(told.field("retry-after"), Some("1"));
        assert_eq!(told.field("content-type"), Some("application/cbor"));
        assert!(!told.body.starts_with(b"{"), "{}", String::from_utf8_lossy(&told.body));
        assert!(String::from_utf8_lossy(&told.body).contains("circuit_breaking_exception"));
    });
}

/// `{"rows":[{"<64 letters>":1}, …]}` in Smile: the name once, then one byte for it.
fn named_once(rows: usize) -> Vec<u8> {
    let mut smile = b":)\n\x01\xfa\x83rows\xf8".to_vec();
    for row in 0..rows {
        smile.push(0xfa);
        match row {
            0 => smile.extend([&[0xbf], "n".repeat(64).as_bytes()].concat()),
            _ => smile.push(0x41),
        }
        smile.extend([0xc2, 0xfb]);
    }
    smile.extend(b"\xf9\xfb");
    smile
}

/// Honest Smile was refused from some hundred bytes on, and what lies deep came as JSON under another name.
#[test]
fn other_encodings_are_read_however_short_they_say_it_and_written_however_deep() {
    with_node(|mut client| async move {
        client.good("PUT", "/f", r#"{"mappings":{"enabled":false}}"#).await;
        let (name, smile) = ("n".repeat(64), named_once(400));
        let kind = [("Content-Type", "application/smile")];
        client.send("PUT", "/f/_doc/1", &kind, &smile).await;
        let put = client.answer("PUT", "/f/_doc/1").await;
        assert_eq!(put.status, 201, "{}", put.text());
        let row = format!(r#"{{"{name}":1}}"#);
        let rows = format!(r#"{{"rows":[{}]}}"#, vec![row; 400].join(","));
        let source = client.call("GET", "/f/_source/1", "").await;
        assert_eq!(source.text(), rows);

        for depth in [250, 900] {
            let deep = format!(r#"{}1{}"#, r#"{"a":["#.repeat(depth / 2), "]}".repeat(depth / 2));
            client.good("PUT", "/f/_doc/2", &deep).await;
            for encoding in ["cbor", "smile", "yaml"] {
                let got = client.call("GET", &format!("/f/_source/2?format={encoding}"), "").await;
                let kind = got.field("content-type").unwrap_or_default().to_owned();
                assert!(kind.contains(encoding), "{kind}");
                assert!(!got.body.starts_with(b"{"), "{encoding}");
                // What was answered can be sent.
                let target = format!("/f/_doc/{encoding}-{depth}");
                let kind = format!("application/{encoding}");
                let put =
                    client.call_with("PUT", &target, &[("Content-Type", &kind)], &got.body).await;
                assert_eq!(put.status, 201, "{encoding}, {depth}: {}", put.text());
                let source = target.replace("_doc", "_source");
                assert_eq!(client.call("GET", &source, "").await.text(), deep, "{encoding}");
            }
        }
    });
}

/// A small body that came at a little more than the slowest that is waited for was read whole, and refused on an
/// idle node: its wait for a turn was reckoned from its head.
#[test]
fn a_body_that_comes_slowly_has_waited_for_nobody() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_clients_on(&sim, 1, |mut clients| async move {
        let client = &mut clients[0];
        let (seconds, piece) = (30, 1_100);
        for target in ["/slow/_doc/1", "/_bulk"] {
            let mut body = match target {
                "/_bulk" => b"{\"index\":{\"_index\":\"slow\"}}\n{\"n\":1}\n".to_vec(),
                _ => b"{\"n\":1}".to_vec(),
            };
            // A line may end in blanks.
            let end = body.len() - usize::from(target == "/_bulk");
            body.splice(end..end, std::iter::repeat_n(b' ', seconds * piece - body.len()));
            let head = format!(
                "POST {target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n",
                body.len()
            );
            client.write(head.as_bytes()).await;
            for piece in body.chunks(piece) {
                client.write(piece).await;
                env.clock().sleep(Duration::from_secs(1)).await;
            }
            let answer = client.answer("POST", target).await;
            assert!(matches!(answer.status, 200 | 201), "{target}: {}", answer.text());
            assert!(!answer.text().contains("rejected"), "{}", answer.text());
        }
    });
}

/// They were taken, whatever stood there, and changed nothing.
#[test]
fn versions_of_vectors_and_kinds_of_searches_are_read() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh=true", r#"{"t":"x"}"#).await;
        let version = "400 illegal_argument_exception: Failed to parse long parameter [version] with value [x]";
        let kind = "400 illegal_argument_exception: No version type match [foo]";
        let conflict = "409 version_conflict_engine_exception: [1]: version conflict, current version [1] is \
                        different than the one provided [5]";
        let search = "400 illegal_argument_exception: No search type for [foo]";
        let all = r#"{"query":{"match_all":{}}}"#;
        for (target, body, told) in [
            ("/a/_termvectors/1?version=x", "", version),
            ("/a/_termvectors/1?version_type=foo", "", kind),
            ("/a/_termvectors/1?version=5", "", conflict),
            ("/a/_mtermvectors?version=x", r#"{"ids":["1"]}"#, version),
            ("/a/_mtermvectors?version_type=foo", r#"{"ids":["1"]}"#, kind),
            ("/a/_delete_by_query?search_type=foo", all, search),
            ("/a/_update_by_query?search_type=foo", all, search),
        ] {
            assert_eq!(client.bad("POST", target, body).await, told, "{target}");
        }
        let found = client.good("GET", "/a/_termvectors/1?version=1", "").await;
        assert_eq!(at(&found, &["found"]).as_bool(), Some(true));
        let done = "/a/_update_by_query?search_type=dfs_query_then_fetch";
        assert_eq!(at(&client.good("POST", done, all).await, &["updated"]).as_u64(), Some(1));
    });
}
