//! Tables of `_cat`, where the peer was asked what they say.

use crate::place::{at, with_memory, with_node};

async fn text(client: &mut crate::place::Client, target: &str) -> String {
    let response = client.call("GET", target, "").await;
    assert_eq!(response.status, 200, "{target}: {}", response.text());
    response.text().trim().to_owned()
}

#[test]
fn a_name_that_columns_share_is_the_last_ones() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":3}}"#).await;
        assert_eq!(text(&mut client, "/_cat/health?h=t").await, "3", "shards, and not the epoch");
        let two = text(&mut client, "/_cat/nodes?h=l,load_15m").await;
        let words: Vec<&str> = two.split_whitespace().collect();
        assert!(words.len() != 2 || words[0] == words[1], "{two}");
        let times = text(&mut client, "/_cat/tasks?h=time,running_time").await;
        let words: Vec<&str> = times.split_whitespace().collect();
        assert_eq!(words[0], words[1], "not the bare nanoseconds");
        for key in ["index:descending", "index:DESC", "index:foo"] {
            assert_eq!(
                client.bad("GET", &format!("/_cat/indices?s={key}"), "").await,
                format!(
                    "500 unsupported_operation_exception: Unable to sort by unknown sort key `{key}`"
                )
            );
        }
    });
}

#[test]
fn words_in_memory_and_completions_are_measured() {
    with_node(|mut client| async move {
        let fields = r#"{"a":{"type":"text","fielddata":true},"b":{"type":"text","fielddata":true},"c":{"type":"completion"}}"#;
        let mappings = format!(r#"{{"mappings":{{"properties":{fields}}}}}"#);
        client.good("PUT", "/a", &mappings).await;
        assert_eq!(text(&mut client, "/_cat/fielddata").await, "", "there is nothing of it yet");
        let doc = r#"{"a":"quick foxes","b":"lazy dogs and more of them","c":"quick"}"#;
        client.good("PUT", "/a/_doc/1?refresh=true", doc).await;
        let stats = client.good("GET", "/a/_stats/fielddata,completion?fields=a,b", "").await;
        let told = |path: &[&str]| {
            let all = [&["_all", "total"], path].concat();
            crate::place::at(&stats, &all).as_u64().expect("a number")
        };
        // `_nodes/stats` told none of them, and `_stats` all of `fields` beside those of a list of its own.
        let nodes = client.good("GET", "/_nodes/stats/indices?fields=a,c", "").await;
        let node = ["nodes", "AAAAAAAAAAAAAAAAAAAAAA", "indices"];
        let node = crate::place::at(&nodes, &node);
        for (path, own) in [
            (["fielddata", "fields", "a", "memory_size_in_bytes"], true),
            (["completion", "fields", "c", "size_in_bytes"], true),
            (["fielddata", "fields", "b", "memory_size_in_bytes"], false),
        ] {
            let size = |of: &json::Value| {
                path.iter().try_fold(of.clone(), |value, key| value.get(key).cloned())
            };
            let told = size(node).and_then(|size| size.as_u64());
            assert_eq!(told.is_some_and(|bytes| bytes > 0), own, "{path:?} {told:?}");
        }
        let narrow = "/a/_stats/fielddata,completion?fields=a,c&fielddata_fields=b";
        let narrow = client.good("GET", narrow, "").await;
        let of = ["_all", "total", "fielddata", "fields"];
        let fields = crate::place::at(&narrow, &of).as_object().expect("fields").clone();
        assert_eq!(fields.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["b"]);
        let none = client.good("GET", "/a/_stats?fields=nothing*", "").await;
        for kind in ["fielddata", "completion"] {
            let fields = crate::place::at(&none, &["_all", "total", kind, "fields"]);
            assert!(fields.as_object().is_some_and(json::Object::is_empty), "{kind}");
        }
        let words = told(&["fielddata", "memory_size_in_bytes"]);
        let completions = told(&["completion", "size_in_bytes"]);
        assert!(words > 0 && completions > 0);
        for table in ["indices/a", "shards/a", "nodes"] {
            let row = text(&mut client, &format!("/_cat/{table}?h=fm,cs&bytes=b")).await;
            let row: Vec<&str> = row.split_whitespace().collect();
            assert_eq!(row, [words.to_string(), completions.to_string()], "{table}");
        }
        let of = |field: &str| told(&["fielddata", "fields", field, "memory_size_in_bytes"]);
        let both = format!("a {}\nb {}", of("a"), of("b"));
        let rows = |found: String| {
            let words =
                found.lines().map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "));
            words.collect::<Vec<_>>().join("\n")
        };
        for (target, expected) in [
            ("/_cat/fielddata?h=field,size&bytes=b&s=field", both.as_str()),
            ("/_cat/fielddata/a?h=field", "a"),
            ("/_cat/fielddata?fields=b*,x&h=field", "b"),
            ("/_cat/fielddata/c", ""),
        ] {
            assert_eq!(rows(text(&mut client, target).await), expected, "{target}");
        }
        let bound = text(&mut client, "/_cat/thread_pool/write,search?h=qs").await;
        assert_eq!(bound.lines().map(str::trim).collect::<Vec<_>>(), ["-1"; 2], "there is none");
        let ids = text(&mut client, "/_cat/thread_pool/write?h=id,eid").await;
        let ids: Vec<&str> = ids.split_whitespace().collect();
        assert_ne!(ids[0], ids[1], "each start has an id of its own");
    });
}

#[test]
fn a_copy_without_a_place_tells_for_how_long() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_replicas":1}}"#).await;
        let rows = text(&mut client, "/_cat/shards/a?h=prirep,ur,uf&time=ms").await;
        let rows: Vec<Vec<&str>> =
            rows.lines().map(|row| row.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["p"]);
        assert_eq!(rows[1][..2], ["r", "INDEX_CREATED"]);
        assert!(rows[1][2].parse::<u64>().is_ok(), "{rows:?}");
        assert_eq!(text(&mut client, "/_cat/shards/a?h=rsi").await, "false");
        let time = text(&mut client, "/_cat/recovery/a?h=time&time=micros").await;
        assert!(time.parse::<u64>().is_ok(), "{time}");
        // What no node has is told whichever nodes were asked for.
        for nodes in ["nope", "_local"] {
            let rows = text(&mut client, &format!("/_cat/allocation/{nodes}?h=shards,node")).await;
            assert!(rows.contains("1 UNASSIGNED"), "{nodes}: {rows}");
        }
    });
}

#[test]
fn small_things_are_as_the_peer_says_them() {
    with_node(|mut client| async move {
        client.good("PUT", "/_index_template/t", r#"{"index_patterns":["t*"]}"#).await;
        assert_eq!(text(&mut client, "/_cat/templates/t?h=name,order").await, "t 0");
        assert_eq!(
            client.bad("GET", "/_cat/tasks?parent_task_id=foo", "").await,
            "400 illegal_argument_exception: malformed task id foo"
        );
        assert_eq!(text(&mut client, "/_cat/tasks?parent_task_id=foo:1").await, "");
        // Once its own part on the node was left out, and `nodes` was passed over.
        for nodes in ["data:x", "_all,master:1"] {
            for target in ["/_cat/tasks", "/_tasks"] {
                let told = client.bad("GET", &format!("{target}?nodes={nodes}"), "").await;
                assert!(told.contains("as only [true] or [false] are allowed."), "{told}");
            }
        }
        assert_ne!(text(&mut client, "/_cat/tasks?nodes=data:true").await, "");
        assert_eq!(text(&mut client, "/_cat/tasks?nodes=_all,data:false").await, "");
        let rows = text(&mut client, "/_cat/tasks?h=action,task_id,parent_task_id,type").await;
        let rows: Vec<Vec<&str>> =
            rows.lines().map(|line| line.split_whitespace().collect()).collect();
        let [own, part] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((own[0], own[2], own[3]), ("cluster:monitor/tasks/lists", "-", "transport"));
        assert_eq!((part[0], part[2]), ("cluster:monitor/tasks/lists[n]", own[1]));
        assert_eq!(part[3], "direct");
        for (filter, count) in [
            ("actions=*lists[n]", 1),
            ("actions=cluster:*,x", 2),
            ("nodes=nope", 0),
            ("nodes=_local", 2),
            ("detailed", 2),
        ] {
            let rows = text(&mut client, &format!("/_cat/tasks?{filter}")).await;
            assert_eq!(rows.lines().count(), count, "{filter}: {rows}");
        }
        for (named, told) in [
            ("", ""),
            ("/_all", ""),
            ("/no*", ""),
            ("/nope", "404 repository_missing_exception: [nope] missing"),
            ("/nope,*,x", "404 repository_missing_exception: [nope, x] missing"),
        ] {
            let target = format!("/_cat/snapshots{named}");
            match told {
                "" => assert_eq!(text(&mut client, &target).await, "", "{named}"),
                told => assert_eq!(client.bad("GET", &target, "").await, told, "{named}"),
            }
        }
        assert!(text(&mut client, "/_cat/snapshots/nope?help").await.starts_with("id "));
        client.good("PUT", "/a", "").await;
        for target in ["/a?human", "/a/_settings?human"] {
            let told = client.good("GET", target, "").await;
            let version = told.at(&["a", "settings", "index", "version", "created_string"]);
            assert_eq!(version.and_then(json::Value::as_str), Some("8.19.0"), "{target}");
        }
        let told = client.good("GET", "/_nodes/os,process?human", "").await;
        let nodes = told.at(&["nodes"]).and_then(json::Value::as_object).expect("nodes");
        for part in ["os", "process"] {
            let node = nodes.values().next().expect("one");
            let twin = node.at(&[part, "refresh_interval"]).and_then(json::Value::as_str);
            assert_eq!(twin, Some("0s"), "{part}");
        }
        let none = client.good("GET", "/_nodes/shutdown", "").await;
        assert_eq!(json::to_string(&none), r#"{"nodes":[]}"#);
        let told = "400 illegal_argument_exception: Creating indices with soft-deletes disabled is no \
                    longer supported. Please do not specify a value for setting \
                    [index.soft_deletes.enabled].";
        let off = r#"{"settings":{"index.soft_deletes.enabled":false}}"#;
        assert_eq!(client.bad("PUT", "/b", off).await, told);
        let on = r#"{"settings":{"soft_deletes":{"enabled":true}}}"#;
        client.good("PUT", "/b", on).await;
        let template = format!(r#"{{"index_patterns":["c*"],"template":{off}}}"#);
        client.good("PUT", "/_index_template/c", &template).await;
        assert_eq!(client.bad("PUT", "/c1", "").await, told);
        client.good("PUT", "/a/_block/write", "").await;
        assert_eq!(client.bad("PUT", "/a/_clone/d", off).await, told);
    });
}

/// The flag changed nothing: on Elasticsearch each column that was asked for and has a twin is followed by it.
#[test]
fn columns_are_followed_by_those_of_primaries_where_these_are_wanted() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh", r#"{"a":1}"#).await;
        for (target, header) in [
            (
                "/_cat/indices?v&pri&h=index,ss,docs.count,search.query_total",
                "index ss pri.ss docs.count search.query_total pri.search.query_total",
            ),
            ("/_cat/indices?v&pri=false&h=index,ss", "index ss"),
        ] {
            let table = text(&mut client, target).await;
            let first = table.lines().next().expect("a header");
            let names: Vec<&str> = first.split_whitespace().collect();
            assert_eq!(names.join(" "), header, "{target}");
        }
        let all = text(&mut client, "/_cat/indices?v&pri").await;
        assert_eq!(all.matches("pri.").count(), 1, "only what was asked for by name: {all}");
    });
}

/// The numbers of segments were one more than what their names say.
#[test]
fn a_segment_has_the_number_that_its_name_says() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        for id in 0..12 {
            client.good("PUT", &format!("/a/_doc/{id}?refresh"), r#"{"a":1}"#).await;
        }
        let number = |name: &str| u64::from_str_radix(&name[1..], 36).expect("a number");
        let rows = text(&mut client, "/_cat/segments?h=segment,generation").await;
        for row in rows.lines() {
            let (name, generation) = row.split_once(' ').expect("two words");
            assert_eq!(generation.trim(), number(name).to_string(), "{rows}");
        }
        let told = client.good("GET", "/a/_segments", "").await;
        let shards = crate::place::at(&told, &["indices", "a", "shards", "0"]);
        let segments = shards.as_array().expect("copies")[0].get("segments").cloned();
        let segments = segments.expect("segments");
        let segments = segments.as_object().expect("by name");
        assert!(!segments.is_empty());
        for (name, segment) in segments.iter() {
            let generation = segment.get("generation").and_then(json::Value::as_u64);
            assert_eq!(generation, Some(number(name)), "{name}");
        }
    });
}

/// `_cat/count` refused the words of a query, and took options that mean nothing there; ids of nodes stood whole.
#[test]
fn tables_take_what_they_obey() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh", r#"{"k":"x"}"#).await;
        client.good("PUT", "/a/_doc/2?refresh", r#"{"k":"y"}"#).await;
        for (target, count) in [("/_cat/count?h=count", "2"), ("/_cat/count/a?h=count&q=k:x", "1")]
        {
            for method in ["GET", "POST"] {
                let told = client.call(method, target, "").await;
                assert_eq!(told.text().trim(), count, "{method} {target}");
            }
        }
        let body = r#"{"query":{"term":{"k":"y"}}}"#;
        let told = client.call("POST", "/_cat/count?h=count", body).await;
        assert_eq!(told.text().trim(), "1");
        for option in ["ignore_unavailable=true", "expand_wildcards=open"] {
            let told = client.call("GET", &format!("/_cat/count/a?{option}"), "").await;
            assert_eq!(told.status, 400, "{}", told.text());
        }
        for (target, length) in [("?h=ni", 4), ("?h=ni&full_id", 22)] {
            let told = client.call("GET", &format!("/_cat/tasks{target}"), "").await.text();
            assert_eq!(told.lines().next().map(str::len), Some(length), "{told}");
        }
        let body = r#"{"template":{"mappings":{"dynamic":false,"_meta":{"a":1},"dynamic_templates":[
            {"t":{"match":"x","mapping":{}}}],"properties":{"a":{"type":"long"},"b":{"properties":{}}}}}}"#;
        client.good("PUT", "/_component_template/c", body).await;
        let told = client.call("GET", "/_cat/component_templates/c?h=mapping_count", "").await;
        assert_eq!(told.text().trim(), "5");
        let told = client.call("GET", "/_cat/shards/a?help", "").await.text();
        let place = |name: &str| told.lines().position(|line| line.starts_with(name));
        let names = [
            "refresh.listeners",
            "seq_no.max",
            "path.state",
            "refresh.is_search_idle",
            "bulk.avg_time",
        ];
        let places: Vec<_> = names.iter().map(|name| place(name)).collect();
        assert!(places.is_sorted() && !places.contains(&None), "{places:?}");
    });
}

/// Who reads analyzers again is told of blocks and closed indices, and of one shard of each index.
#[test]
fn analyzers_are_read_again_where_indices_may_be_changed() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":3}}"#).await;
        client.good("PUT", "/b", "").await;
        client.good("PUT", "/shut", "").await;
        client.good("POST", "/shut/_close", "").await;
        let told = client.good("POST", "/a,b/_reload_search_analyzers", "").await;
        assert_eq!(at(&told, &["_shards", "total"]).as_u64(), Some(2));
        let told = client.bad("POST", "/shut/_reload_search_analyzers", "").await;
        assert!(told.starts_with("400 index_closed_exception"), "{told}");
        client.good("PUT", "/b/_settings", r#"{"index.blocks.read_only":true}"#).await;
        let told = client.bad("POST", "/b/_reload_search_analyzers", "").await;
        assert!(told.starts_with("403 cluster_block_exception"), "{told}");
        let told = client.bad("GET", "/_tasks?group_by=zz", "").await;
        assert!(
            told.ends_with("[group_by] must be one of [nodes], [parents] or [none] but was [zz]")
        );
        // No index, no field.
        for (target, status) in [("/nope*/_mapping/field/a", 404), ("/a/_mapping/field/a", 200)] {
            assert_eq!(client.call("GET", target, "").await.status, status, "{target}");
        }
    });
}

/// What is read with a section of figures alone was taken, and nothing done with it, beside others.
#[test]
fn parameters_of_sections_are_known_beside_these() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        for (base, name, section) in [
            ("/_nodes/stats", "groups", "search"),
            ("/_nodes/stats", "types", "indexing"),
            ("/_nodes/stats", "fields", "completion"),
            ("/_nodes/stats", "fielddata_fields", "fielddata"),
            ("/_nodes/stats", "completion_fields", "completion"),
            ("/_nodes/stats", "include_segment_file_sizes", "segments"),
            ("/a/_stats", "fields", "fielddata"),
            ("/a/_stats", "completion_fields", "completion"),
            ("/a/_stats", "include_segment_file_sizes", "segments"),
        ] {
            let part = if base == "/a/_stats" { "" } else { "/indices" };
            client.good("GET", &format!("{base}?{name}=true"), "").await;
            client.good("GET", &format!("{base}{part}/docs,{section}?{name}=true"), "").await;
            let mut others = vec![format!("{base}{part}/docs")];
            if !part.is_empty() {
                others.push(format!("{base}/os"));
            }
            for other in others {
                let told = client.bad("GET", &format!("{other}?{name}=true"), "").await;
                let why = format!("request [{other}] contains unrecognized parameter: [{name}]");
                assert!(told.ends_with(&why), "{told}");
            }
        }
    });
}

/// Nine hundred shards of a thousand copies each held the core for a second, and took memory that nobody counted.
#[test]
fn a_table_of_many_copies_takes_its_memory_first() {
    with_memory(16 << 20, async |mut client, _| {
        let settings = r#"{"settings":{"number_of_shards":4,"number_of_replicas":1000}}"#;
        client.good("PUT", "/wide", settings).await;
        let told = client.call("GET", "/_cat/shards?h=shard,prirep&s=shard,prirep", "").await;
        let copies = ["0 p", "1 p", "2 p", "3 p"].map(|primary| {
            let replica = primary.replace('p', "r");
            std::iter::once(primary.to_owned()).chain(std::iter::repeat_n(replica, 1000))
        });
        let lines: Vec<String> = copies.into_iter().flatten().collect();
        assert_eq!(told.text().lines().collect::<Vec<_>>(), lines);
        let refused = client.call("GET", "/_cat/shards?h=*&format=json", "").await;
        assert_eq!(refused.status, 429, "{}", refused.text());
        assert!(refused.text().contains("data for [<cat>]"), "{}", refused.text());
    });
}
