//! What is said once and is there many times: names of the path for each item, reasons for each shard, documents that
//! a script grows, sources that answers bring.

use json::Value;

use crate::place::{Client, at, with_memory, with_node};

const MIB: usize = 1 << 20;

async fn status(client: &mut Client, target: &str, body: &str) -> u16 {
    client.call("POST", target, body).await.status
}

/// One read of 97 KB took a gigabyte.
#[test]
fn a_long_name_of_the_path_counts_for_each_item() {
    with_memory(128 * MIB, |mut client, _| async move {
        client.good("PUT", "/n/_doc/1", "{}").await;
        let ids = format!(r#"{{"ids":["1"{}]}}"#, r#","1""#.repeat(7_999));
        let bulk = "{\"index\":{}}\n{}\n".repeat(8_000);
        let searches = "{}\n{}\n".repeat(8_000);
        let long = "a".repeat(3_800);
        for (target, body) in [
            (format!("/{long}/_mget"), &ids),
            (format!("/n/_mget?routing={long}"), &ids),
            (format!("/{long}/_bulk"), &bulk),
            (format!("/n/_bulk?routing={long}"), &bulk),
            (format!("/n/_bulk?pipeline={long}"), &bulk),
            (format!("/{long}/_msearch"), &searches),
        ] {
            assert_eq!(status(&mut client, &target, body).await, 429, "{}", &target[..20]);
        }
        // The same with names as they are, and lists that all items share.
        let list = "p,".repeat(1_800);
        for (target, body) in [
            ("/n/_mget".to_owned(), &ids),
            (format!("/n/_mget?_source={list}"), &ids),
            ("/n/_bulk".to_owned(), &bulk),
        ] {
            assert_eq!(status(&mut client, &target, body).await, 200, "{}", &target[..8]);
        }
    });
}

/// A search of 2 MB over a hundred indices took a gigabyte and a half to say a hundred times what it had asked.
#[test]
fn a_reason_is_told_to_its_four_thousandth_byte() {
    with_node(|mut client| async move {
        for index in ["fa", "fb"] {
            let mapping = r#"{"mappings":{"properties":{"n":{"type":"long"}}}}"#;
            client.good("PUT", &format!("/{index}"), mapping).await;
        }
        let body = format!(r#"{{"query":{{"term":{{"n":"{}"}}}}}}"#, "x".repeat(MIB));
        let answer = client.call("POST", "/f*/_search", &body).await;
        assert_eq!(answer.status, 400);
        let text = answer.text();
        assert!(text.contains("For input string: \\\"xxx") && text.contains("x..."), "{text:.200}");
        assert!(text.len() < 40_000, "{}", text.len());
    });
}

/// Ten thousand documents of one batch were grown before the first of them was written.
#[test]
fn a_batch_is_written_piece_by_piece() {
    with_memory(128 * MIB, |mut client, _| async move {
        let docs: String = (0..2_500)
            .map(|n| format!("{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"a\":1}}\n"))
            .collect();
        client.good("POST", "/sc/_bulk?refresh=true&filter_path=errors", &docs).await;
        let grows = format!(
            r#"{{"script":{{"source":"ctx._source.b=params.p","params":{{"p":"{}"}}}},"max_docs":1500}}"#,
            "y".repeat(20_000)
        );
        let mapping = r#"{"properties":{"b":{"type":"keyword","index":false,"doc_values":false}}}"#;
        client.good("PUT", "/sc/_mapping", mapping).await;
        let told =
            client.good("POST", "/sc/_update_by_query?scroll_size=2500&refresh", &grows).await;
        assert_eq!(at(&told, &["updated"]).as_u64(), Some(1_500), "{told:?}");
        assert_eq!(at(&told, &["batches"]).as_u64(), Some(1));

        // One piece fails, the others of the batch are written all the same.
        client.good("PUT", "/dst", r#"{"mappings":{"properties":{"a":{"type":"long"}}}}"#).await;
        let bad = r#"{"index":{"_id":"0"}}
{"a":"no number"}
"#;
        client.good("PUT", "/src", r#"{"mappings":{"enabled":false}}"#).await;
        client.good("POST", "/src/_bulk?filter_path=errors", &format!("{docs}{bad}")).await;
        client.good("POST", "/src/_refresh", "").await;
        let copy = r#"{"source":{"index":"src","size":5000},"dest":{"index":"dst"}}"#;
        let answer = client.call("POST", "/_reindex", copy).await;
        let told = json::parse(answer.text().as_bytes()).expect("JSON");
        assert_eq!(answer.status, 400, "{told:?}");
        assert_eq!(at(&told, &["created"]).as_u64(), Some(2_499), "{told:?}");
        assert_eq!(at(&told, &["failures"]).as_array().map(<[Value]>::len), Some(1));
    });
}

/// Answers to updates held a document for each item, and nobody counted them.
#[test]
fn where_memory_lacks_updates_bring_no_sources() {
    with_memory(128 * MIB, |mut client, _| async move {
        let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(80_000));
        let mapping = r#"{"mappings":{"enabled":false}}"#;
        client.good("PUT", "/sc", mapping).await;
        client.good("PUT", "/sc/_doc/1", &long).await;
        let update = "{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"c\":1}}\n";
        let told = client.good("POST", "/sc/_bulk?_source=true", &update.repeat(10)).await;
        let items = |told: &Value| at(told, &["items"]).as_array().expect("items").to_vec();
        assert!(items(&told).iter().all(|item| item.at(&["update", "get", "_source"]).is_some()));
        let told = client.good("POST", "/sc/_bulk?_source=true", &update.repeat(2_000)).await;
        assert_eq!(at(&told, &["errors"]).as_bool(), Some(false));
        let brought = |item: &&Value| item.at(&["update", "get", "_source"]).is_some();
        let count = items(&told).iter().filter(brought).count();
        assert!((1..600).contains(&count), "{count} of 2,000");
    });
}

/// Ranges in ranges were cloned a million at a time where there was no document in them.
#[test]
fn buckets_that_are_there_without_documents_are_counted_before_they_are_made() {
    with_node(|mut client| async move {
        client.good("PUT", "/e", r#"{"mappings":{"properties":{"n":{"type":"long"}}}}"#).await;
        let ranges = |count: usize, below: &str| {
            let ranges = vec![r#"{"from":0}"#; count].join(",");
            format!(r#"{{"a":{{"range":{{"field":"n","ranges":[{ranges}]}}{below}}}}}"#)
        };
        let nested = |outer: usize, inner: usize| {
            let below = format!(r#","aggs":{}"#, ranges(inner, ""));
            format!(r#"{{"size":0,"aggs":{}}}"#, ranges(outer, &below))
        };
        let told = client.good("POST", "/e/_search", &nested(40, 30)).await;
        let buckets = at(&told, &["aggregations", "a", "buckets"]).as_array().map(<[Value]>::len);
        assert_eq!(buckets, Some(40));
        let answer = client.call("POST", "/e/_search", &nested(300, 300)).await;
        assert_eq!(answer.status, 400);
        let text = answer.text();
        assert!(text.contains("too_many_buckets_exception") && text.contains("[65536]"), "{text}");
    });
}

/// The tags of a suggested phrase stood in each of its options, and documents in those of completions: a search of 3 KB
/// took 2.6 gigabytes.
#[test]
fn what_is_suggested_is_paid_as_it_is_found() {
    with_memory(96 * MIB, |mut client, _| async move {
        let mapping =
            r#"{"mappings":{"properties":{"s":{"type":"completion"},"t":{"type":"text"}}}}"#;
        client.good("PUT", "/c", mapping).await;
        let long = "x".repeat(4_000);
        let docs: String = (0..400)
            .map(|n| {
                format!(
                    "{{\"index\":{{}}}}\n{{\"s\":\"sugg {n}\",\"t\":\"w{n}\",\"f\":\"{long}\"}}\n"
                )
            })
            .collect();
        client.good("POST", "/c/_bulk?refresh=true&filter_path=errors", &docs).await;
        let several = |count: usize, one: &str| {
            let all: Vec<String> = (0..count).map(|n| format!(r#""s{n}":{one}"#)).collect();
            format!(r#"{{"size":0,"suggest":{{{}}}}}"#, all.join(","))
        };
        let phrase = |tag: usize| {
            format!(
                r#"{{"text":"w1x w2x w3x","phrase":{{"field":"t","size":500,"max_errors":3,"confidence":0,
                "direct_generator":[{{"field":"t","suggest_mode":"always","size":20,"min_word_length":1}}],
                "highlight":{{"pre_tag":"{0}","post_tag":"{0}"}}}}}}"#,
                "p".repeat(tag)
            )
        };
        let completion = r#"{"prefix":"sugg","completion":{"field":"s","size":400}}"#;
        for (body, expected) in [
            (several(1, &phrase(10)), 200),
            (several(20, &phrase(5_000)), 429),
            (several(1, completion), 200),
            (several(60, completion), 429),
            (several(1, &phrase(10)), 200),
        ] {
            assert_eq!(status(&mut client, "/c/_search", &body).await, expected, "{body:.150}");
        }
    });
}

/// Each of fifty thousand failures told the long name of a field, and nobody counted them.
#[test]
fn where_memory_lacks_failures_are_told_shortly() {
    with_memory(96 * MIB, |mut client, _| async move {
        let long = "F".repeat(5_000);
        let mapping = format!(
            r#"{{"mappings":{{"properties":{{"a":{{"type":"keyword","copy_to":"{long}"}},"{long}":{{"type":"long"}}}}}}}}"#
        );
        client.good("PUT", "/ct", &mapping).await;
        let item = "{\"index\":{}}\n{\"a\":\"x\"}\n";
        for (count, is_short) in [(20_000, true), (100, false)] {
            let told = client.good("POST", "/ct/_bulk", &item.repeat(count)).await;
            let items = at(&told, &["items"]).as_array().expect("items");
            let of = |status: u64| {
                let is_of = |item: &&Value| at(item, &["index", "status"]).as_u64() == Some(status);
                items.iter().filter(is_of).count()
            };
            assert_eq!(of(400) + of(429), count, "each is told");
            assert!(of(400) > 0 && (of(429) > 0) == is_short, "{} and {}", of(400), of(429));
        }
    });
}

/// A format of 100 KB stood in each of ten thousand buckets before the answer was begun.
#[test]
fn a_long_format_counts_for_each_bucket() {
    with_memory(96 * MIB, |mut client, _| async move {
        let docs: String =
            [0, 4_000].map(|n| format!("{{\"index\":{{}}}}\n{{\"n\":{n}}}\n")).concat();
        client.good("POST", "/h/_bulk?refresh=true", &docs).await;
        let search = |format: &str, name: &str| {
            format!(
                r#"{{"size":0,"aggs":{{"a":{{"histogram":{{"field":"n","interval":1,"format":"{format}"}},
                "aggs":{{"{name}":{{"max":{{"field":"n"}}}}}}}}}}}}"#
            )
        };
        let long = "x".repeat(100_000);
        for (body, expected) in [
            (search("0.0", "b"), 200),
            (search(&format!("{long}0"), "b"), 429),
            (search("0.0", &long), 400),
            (search(&format!("{}0", &long[..1_000]), "b"), 200),
        ] {
            assert_eq!(status(&mut client, "/h/_search", &body).await, expected, "{body:.120}");
        }
    });
}

/// Nine hundred numbers with a format in each of two thousand buckets: a search of 7 KB took four gigabytes.
#[test]
fn what_is_shown_is_paid_as_it_is_made() {
    with_memory(96 * MIB, |mut client, _| async move {
        let docs: String = (0..400)
            .map(|n| format!("{{\"index\":{{}}}}\n{{\"n\":{n},\"k\":\"k{n}\"}}\n"))
            .collect();
        let mapping = r#"{"mappings":{"properties":{"k":{"type":"keyword"}}}}"#;
        client.good("PUT", "/h", mapping).await;
        client.good("POST", "/h/_bulk?refresh=true&filter_path=errors", &docs).await;
        let percents: Vec<String> = (1..900).map(|n| format!("{}", n as f64 / 10.0)).collect();
        let search = |format: &str| {
            format!(
                r#"{{"size":0,"aggs":{{"a":{{"histogram":{{"field":"n","interval":1}},"aggs":{{"p":{{"percentiles":
                {{"field":"n","format":"{format}","percents":[{}]}}}}}}}}}}}}"#,
                percents.join(",")
            )
        };
        assert_eq!(status(&mut client, "/h/_search", &search(&"x".repeat(1_000))).await, 429);
        let few = r#"{"size":0,"aggs":{"a":{"histogram":{"field":"n","interval":1,"format":"0.0"},
            "aggs":{"p":{"percentiles":{"field":"n","format":"0.0"}}}}}}"#;
        assert_eq!(status(&mut client, "/h/_search", few).await, 200);
        // A name that each hit tells is there once.
        let named = format!(
            r#"{{"size":400,"_source":false,"collapse":{{"field":"k","inner_hits":{{"name":"{}","size":1}}}}}}"#,
            "x".repeat(20_000)
        );
        assert_eq!(status(&mut client, "/h/_search", &named).await, 200);
        // What the body says once is there once, or paid for each item.
        let vectors = |routing: usize| {
            format!(
                r#"{{"ids":[{}"1"],"parameters":{{"routing":"{}","per_field_analyzer":{{{}"n":"standard"}}}}}}"#,
                r#""1","#.repeat(1_000),
                "r".repeat(routing),
                (0..1_000).map(|n| format!(r#""f{n}":"standard","#)).collect::<String>()
            )
        };
        assert_eq!(status(&mut client, "/h/_mtermvectors", &vectors(10)).await, 200);
        assert_eq!(status(&mut client, "/h/_mtermvectors", &vectors(200_000)).await, 429);
        let fields: Vec<String> = (0..40_000).map(|n| format!(r#""f{n}""#)).collect();
        let sliced = format!(
            r#"{{"source":{{"index":"h","_source":[{}]}},"dest":{{"index":"h2"}}}}"#,
            fields.join(",")
        );
        assert_eq!(status(&mut client, "/_reindex?slices=200", &sliced).await, 429);
        let plain = r#"{"source":{"index":"h"},"dest":{"index":"h2"}}"#;
        assert_eq!(status(&mut client, "/_reindex?slices=20", plain).await, 200);
    });
}

/// A script that failed quoted what it was given, for each shard.
#[test]
fn of_a_failed_script_as_much_is_told() {
    with_node(|mut client| async move {
        client.good("PUT", "/fa/_doc/1?refresh", "{}").await;
        let body = format!(
            r#"{{"query":{{"script":{{"script":{{"source":"Integer.parseInt(params.p)>0","params":{{"p":"{}"}}}}}}}}}}"#,
            "x".repeat(MIB)
        );
        let answer = client.call("POST", "/fa/_search", &body).await;
        let text = answer.text();
        assert_eq!(answer.status, 400);
        assert!(text.contains("number_format_exception") && text.contains("xxx..."), "{text:.300}");
        assert!(text.len() < 20_000, "{}", text.len());
    });
}

/// Words that are near those of a text of every day were worked out at each index: of a hundred, some were not asked.
#[test]
fn words_that_are_near_are_worked_out_once() {
    with_node(|mut client| async move {
        for n in 0..70 {
            client.good("PUT", &format!("/near{n}/_doc/1"), r#"{"t":"handbooks"}"#).await;
        }
        client.good("POST", "/near*/_refresh", "").await;
        let words: Vec<String> = (10..70).map(|n| format!("handbook{n}")).collect();
        let body = format!(
            r#"{{"query":{{"match":{{"t":{{"query":"{}","fuzziness":"AUTO"}}}}}}}}"#,
            words.join(" ")
        );
        let told = client.good("POST", "/near*/_search", &body).await;
        assert_eq!(at(&told, &["_shards", "failed"]).as_u64(), Some(0), "{told:?}");
        assert_eq!(at(&told, &["hits", "total", "value"]).as_u64(), Some(70));
    });
}

/// A search of 357 KB by phrases, over two hundred indices of one document each, took three and a half gigabytes.
#[test]
fn a_long_query_counts_for_each_index() {
    with_memory(96 * MIB, |mut client, _| async move {
        for n in 0..6 {
            client.good("PUT", &format!("/fa{n}/_doc/1?refresh"), r#"{"t":"b"}"#).await;
        }
        let search = |word: &str, count: usize| {
            let phrase = format!(r#"{{"match_phrase":{{"t":"{}"}}}}"#, word.repeat(900));
            let phrases = vec![phrase.as_str(); count];
            format!(r#"{{"query":{{"bool":{{"should":[{}]}}}}}}"#, phrases.join(","))
        };
        for word in ["b ", "b-", "\u{6c34}"] {
            assert_eq!(
                status(&mut client, "/fa*/_search", &search(word, 200)).await,
                429,
                "{word}"
            );
            assert_eq!(status(&mut client, "/fa*/_search", &search(word, 2)).await, 200, "{word}");
            assert_eq!(status(&mut client, "/fa0/_search", &search(word, 20)).await, 200, "{word}");
        }
        // Letters by their numbers are letters; of what is said once for the shard and once for its profile both count.
        let numbered = search(r"\u6c34", 200);
        assert_eq!(status(&mut client, "/fa*/_search", &numbered).await, 429);
        // An automaton is there once, at however many indices.
        let expression =
            |n: usize| format!(r#"{{"regexp":{{"t":"{n}{}"}}}}"#, "[ab]c?".repeat(150));
        let expressions: Vec<String> = (0..250).map(expression).collect();
        let asked = format!(r#"{{"query":{{"bool":{{"should":[{}]}}}}}}"#, expressions.join(","));
        assert_eq!(status(&mut client, "/fa*/_search", &asked).await, 200);
        let margin = format!(r#"{{"query":{{"match":{{"t":"b"}}}}{}}}"#, " ".repeat(20 * MIB));
        assert_eq!(status(&mut client, "/fa*/_search", &margin).await, 200, "blanks are nothing");
        // Keywords have no words, however they are laid out.
        let words: Vec<String> =
            (0..20_000).map(|n| format!("\"keyword_of_some_length_{n}\"")).collect();
        for between in [",", ", ", ",\n    "] {
            let terms = words.join(between);
            let search = format!(r#"{{"query":{{"terms":{{"t.keyword":[{terms}]}}}}}}"#);
            assert_eq!(status(&mut client, "/fa*/_search", &search).await, 200, "{between:?}");
        }
    });
}
