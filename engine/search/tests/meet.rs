//! Requests meet an index: what names and values mean there, and the words of those that mean
//! nothing; then hits, whole.

mod support;

use mapping::analysis::effort::within;
use search::dsl::{parse_query, parse_search};
use search::error::{Error, Kind};
use search::fetch;
use search::plan::{self, Context};
use search::result::{Hit, Key, Relation, Total};
use support::corpus::{Corpus, Doc};
use support::run::{How, NOW_MS, fetch_all, hits, search};

fn corpus() -> Corpus {
    let doc = |id: &str| Doc { id: id.into(), ..Doc::default() };
    Corpus::of(vec![
        vec![
            Doc {
                title: vec!["the", "golden", "gate"],
                body: vec!["river", "king", "river"],
                tags: vec!["new", "rare"],
                n: vec![1, 5],
                price: vec![2.5],
                flag: vec![true],
                day: vec![1_704_067_200_000],
                ..doc("d1")
            },
            Doc { title: vec!["golden", "house"], n: vec![7], deleted: true, ..doc("d2") },
        ],
        vec![
            Doc {
                title: vec!["gate", "golden"],
                tags: vec!["used"],
                price: vec![-1.0],
                flag: vec![false],
                day: vec![1_706_745_600_000],
                ..doc("d3")
            },
            doc("d4"),
        ],
    ])
}

fn bind_error(body: &str) -> Error {
    let corpus = corpus();
    let request = parse_search(body.as_bytes(), &[]).expect("reads well");
    let context = Context::new("books", NOW_MS);
    match plan::bind(&request, &corpus.mapping, &context) {
        Err(error) => error,
        Ok(_) => panic!("{body} was bound"),
    }
}

fn says(query: &str, kind: Kind, reason: &str) {
    let error = bind_error(&format!("{{\"query\":{query}}}"));
    assert_eq!((error.kind, error.reason.as_str()), (kind, reason), "{query}");
}

/// Ids of the hits of a query, in order.
fn ids(query: &str) -> Vec<String> {
    found(&format!("{{\"query\":{query}}}")).into_iter().filter_map(|hit| hit.id).collect()
}

fn found(body: &str) -> Vec<Hit> {
    let corpus = corpus();
    let request = parse_search(body.as_bytes(), &[]).expect("a good body");
    let whole = hits(&request, &corpus.mapping, &corpus.view(false), &How::default());
    let missing = hits(&request, &corpus.mapping, &corpus.view(true), &How::default());
    assert_eq!(whole, missing, "{body}");
    whole
}

#[test]
fn values_of_the_wrong_type_fail_the_shard() {
    says(
        "{\"term\":{\"n\":\"abc\"}}",
        Kind::QueryShard,
        "failed to create query: For input string: \"abc\"",
    );
    let error = bind_error("{\"query\":{\"term\":{\"n\":\"abc\"}}}");
    assert_eq!(error.cause.map(|cause| cause.kind), Some(Kind::NumberFormat));
    says(
        "{\"match\":{\"flag\":\"maybe\"}}",
        Kind::QueryShard,
        "failed to create query: Can't parse boolean value [maybe], expected [true] or [false]",
    );
    says(
        "{\"prefix\":{\"n\":\"1\"}}",
        Kind::QueryShard,
        "Can only use prefix queries on keyword, text and wildcard fields - not on [n] which is of type [long]",
    );
    says(
        "{\"match\":{\"title\":{\"query\":\"a\",\"analyzer\":\"zz\"}}}",
        Kind::QueryShard,
        "[match] analyzer [zz] not found",
    );
    let date = bind_error("{\"query\":{\"range\":{\"day\":{\"gte\":\"foo\"}}}}");
    assert_eq!(date.kind, Kind::Parse);
    assert!(date.reason.starts_with("failed to parse date field [foo] with format ["), "{date}");
    for query in [
        "{\"term\":{\"day\":\"foo\"}}",
        "{\"terms\":{\"day\":[\"foo\"]}}",
        "{\"match\":{\"day\":\"foo\"}}",
        "{\"match_phrase\":{\"day\":\"foo\"}}",
        "{\"bool\":{\"filter\":{\"multi_match\":{\"query\":\"foo\",\"fields\":[\"day\"]}}}}",
    ] {
        let words = "failed to create query: failed to parse date field [foo] with format [";
        let date = bind_error(&format!("{{\"query\":{query}}}"));
        assert_eq!(date.kind, Kind::QueryShard, "{query}");
        assert!(date.reason.starts_with(words), "{date}");
        assert_eq!(date.cause.map(|cause| cause.kind), Some(Kind::Parse), "{query}");
    }
    assert_eq!(ids("{\"match\":{\"n\":{\"query\":\"abc\",\"lenient\":true}}}"), [""; 0]);
}

#[test]
fn fields_of_the_systems_refuse_what_they_cannot_answer() {
    let words = "on keyword, text and wildcard fields - not on";
    let plain = "on keyword and text fields - not on";
    for name in ["_id", "_field_names", "_version", "_source", "_doc_count", "_seq_no", "_index"] {
        let of = format!("[{name}] which is of type [{name}]");
        let describe = |kind: &str| format!("{{\"{kind}\":{{\"{name}\":\"w\"}}}}");
        if name != "_index" {
            for kind in ["prefix", "wildcard"] {
                let reason = format!("Can only use {kind} queries {words} {of}");
                says(&describe(kind), Kind::QueryShard, &reason);
            }
        }
        let reason = format!("Can only use regexp queries {plain} {of}");
        says(&describe("regexp"), Kind::QueryShard, &reason);
        let reason = format!("failed to create query: Can only use fuzzy queries {plain} {of}");
        says(&describe("fuzzy"), Kind::QueryShard, &reason);
        if name != "_seq_no" {
            says(
                &format!("{{\"range\":{{\"{name}\":{{\"gte\":\"0\"}}}}}}"),
                Kind::QueryShard,
                &format!(
                    "failed to create query: Field [{name}] of type [{name}] does not support range \
                     queries"
                ),
            );
        }
    }
    says("{\"term\":{\"_version\":1}}", Kind::QueryShard, "The _version field is not searchable");
    says(
        "{\"exists\":{\"field\":\"_field_names\"}}",
        Kind::QueryShard,
        "failed to create query: Cannot run exists query on _field_names",
    );
    assert_eq!(ids("{\"prefix\":{\"_index\":\"bo\"}}").len(), 3);
    assert_eq!(
        ids("{\"term\":{\"_index\":{\"value\":\"B*\",\"case_insensitive\":true}}}").len(),
        3
    );
    assert_eq!(ids("{\"query_string\":{\"query\":\"_index:b*\"}}").len(), 3);
    assert_eq!(ids("{\"prefix\":{\"_routing\":\"w\"}}"), [""; 0]);
}

#[test]
fn a_purely_negative_bool_has_no_minimum() {
    let but_gate = "\"must_not\":[{\"term\":{\"title\":\"gate\"}}]";
    for more in [
        "\"minimum_should_match\":1",
        "\"minimum_should_match\":\"10\",\"should\":[],\"filter\":[],\"must\":[]",
    ] {
        assert_eq!(ids(&format!("{{\"bool\":{{{but_gate},{more}}}}}")), ["d4"], "{more}");
    }
    for more in [
        "\"minimum_should_match\":1,\"adjust_pure_negative\":false",
        "\"minimum_should_match\":1,\"filter\":[{\"match_all\":{}}]",
        "\"minimum_should_match\":1,\"should\":[{\"match_none\":{}}]",
    ] {
        assert_eq!(ids(&format!("{{\"bool\":{{{but_gate},{more}}}}}")), [""; 0], "{more}");
    }
}

#[test]
fn the_index_is_a_key_and_a_column() {
    let keys = |body: &str| -> Vec<(String, Vec<Key>)> {
        found(body).into_iter().map(|hit| (hit.id.unwrap_or_default(), hit.sort)).collect()
    };
    let sorted = keys("{\"sort\":[{\"_index\":\"desc\"},{\"price\":\"desc\"}]}");
    assert_eq!(sorted.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["d1", "d3", "d4"]);
    assert_eq!(sorted[0].1[0], Key::Text("books".to_owned()));
    let after = |after: &str, order: &str| {
        keys(&format!(
            "{{\"sort\":[{{\"_index\":\"{order}\"}},\"price\"],\"search_after\":[\"{after}\",-1.0]}}"
        ))
        .len()
    };
    for (place, ascending, descending) in [("books", 2, 2), ("a", 3, 0), ("z", 0, 3)] {
        let found = (after(place, "asc"), after(place, "desc"));
        assert_eq!(found, (ascending, descending), "after {place}");
    }
    let hit = found("{\"docvalue_fields\":[\"_index\",\"_version\"],\"size\":1}").remove(0);
    assert_eq!(hit.fields[0], ("_index".to_owned(), vec!["\"books\"".to_owned()]));
    for (body, reason) in [
        (
            "{\"sort\":[\"_routing\"]}",
            "Fielddata is not supported on field [_routing] of type [_routing]",
        ),
        (
            "{\"collapse\":{\"field\":\"_index\"}}",
            "unknown type for collapse field `_index`, only keywords and numbers are accepted",
        ),
        (
            "{\"aggs\":{\"a\":{\"max\":{\"field\":\"_index\"}}}}",
            "Field [_index] of type [_index] is not supported for aggregation [max]",
        ),
    ] {
        assert_eq!(bind_error(body).reason, reason);
    }
}

/// A term that stands for none is neither before nor after all terms of a segment that lacks it.
#[test]
fn what_stands_for_no_term_is_sorted_among_terms_of_all_segments() {
    let of = |order: &str| {
        let body =
            format!("{{\"sort\":[{{\"tags\":{{\"order\":\"{order}\",\"missing\":\"oak\"}}}}]}}");
        found(&body).into_iter().filter_map(|hit| hit.id).collect::<Vec<_>>()
    };
    assert_eq!(of("asc"), ["d1", "d4", "d3"]);
    assert_eq!(of("desc"), ["d3", "d1", "d4"]);
    let after = |place: &str| {
        let body = format!(
            "{{\"sort\":[{{\"tags\":{{\"missing\":\"oak\"}}}}],\"search_after\":[\"{place}\"]}}"
        );
        found(&body).into_iter().filter_map(|hit| hit.id).collect::<Vec<_>>()
    };
    assert_eq!(after("oa"), ["d4", "d3"]);
    assert_eq!(after("oak"), ["d3"]);
    assert_eq!(after("pine"), ["d3"]);
}

#[test]
fn factors_of_indices_are_no_negative_numbers() {
    let corpus = corpus();
    let request = parse_search(b"{}", &[]).expect("reads well");
    for (boost, shown) in [(-1.0, "-1.0"), (-0.0, "-0.0"), (f32::INFINITY, "Infinity")] {
        let context = Context { boost, ..Context::new("books", NOW_MS) };
        let error = plan::bind(&request, &corpus.mapping, &context).expect_err("refused");
        let reason = format!("boost must be a positive float, got {shown}");
        assert_eq!((error.kind, error.reason), (Kind::IllegalArgument, reason));
    }
    let text = parse_search(b"{\"indices_boost\":[{\"a\":\"2\"}]}", &[]).expect_err("a string");
    assert_eq!(text.reason, "Expected [VALUE_NUMBER] in [indices_boost] but found [VALUE_STRING]");
    // Elasticsearch 8 took the object away: it has no order.
    let object = parse_search(b"{\"indices_boost\":{\"a\":2}}", &[]).expect_err("an object");
    assert_eq!(object.kind, Kind::Parsing);
    assert_eq!(object.reason, "Unknown key for a START_OBJECT in [indices_boost].");
}

/// Thirty thousand patterns, each of which means all of a thousand fields, took a minute and two gigabytes.
#[test]
fn patterns_that_mean_many_fields_are_counted() {
    let fields = (0..200).map(|at| (format!("f{at:03}"), json::json!({"type": "keyword"})));
    let mappings = json::json!({"properties": (json::Value::Object(fields.collect()))});
    let mapping = mapping::Mapping::parse(&mappings, Default::default()).expect("a mapping");
    let context = Context::new("i", NOW_MS);
    let bind = |query: &str, count: usize| {
        let fields = vec!["\"*\""; count].join(",");
        let body = format!("{{\"query\":{{{}}}}}", query.replace("FIELDS", &fields));
        plan::bind(&parse_search(body.as_bytes(), &[]).expect("reads well"), &mapping, &context)
    };
    for query in [
        r#""multi_match":{"query":"x","fields":[FIELDS]}"#,
        r#""query_string":{"query":"x","fields":[FIELDS]}"#,
        r#""simple_query_string":{"query":"x","fields":[FIELDS]}"#,
        r#""more_like_this":{"like":"x","fields":[FIELDS]}"#,
    ] {
        let few = within(2 << 20, || bind(query, 1)).expect("few").0.expect("binds");
        let more = within(2 << 20, || bind(query, 100)).expect("some").0.expect("binds");
        assert_eq!(format!("{:?}", few.query), format!("{:?}", more.query), "{query}");
        assert!(within(2 << 20, || bind(query, 2_000)).is_err(), "{query}");
    }
}

#[test]
fn windows_and_sorts_are_checked() {
    let window = bind_error("{\"size\":10001}");
    assert_eq!(window.kind, Kind::IllegalArgument);
    assert!(window.reason.starts_with(
        "Result window is too large, from + size must be less than or equal to: [10000] but was [10001]."
    ));
    let sort = bind_error("{\"sort\":[\"none\"]}");
    assert_eq!(
        (sort.kind, sort.reason.as_str()),
        (Kind::QueryShard, "No mapping found for [none] in order to sort on")
    );
    let text = bind_error("{\"sort\":[\"title\"]}");
    assert!(text.reason.starts_with("Fielddata is disabled on [title] in [books]. Text fields"));
    let mode = bind_error("{\"sort\":[{\"tags\":{\"mode\":\"avg\"}}]}");
    assert_eq!(mode.reason, "we only support AVG, MEDIAN and SUM on number based fields");
    let kind = bind_error("{\"sort\":[{\"zz\":{\"unmapped_type\":\"foo\"}}]}");
    assert_eq!(kind.reason, "No mapper found for type [foo]");
    let after = bind_error("{\"search_after\":[1]}");
    assert_eq!(after.reason, "Sort must contain at least one field.");
    let count = bind_error("{\"sort\":[\"n\"],\"search_after\":[1,2]}");
    assert_eq!(count.reason, "search_after has 2 value(s) but sort has 1.");
    for (field, value) in [("n", "true"), ("price", "false"), ("_seq_no", "true")] {
        let body = format!("{{\"sort\":[\"{field}\"],\"search_after\":[{value}]}}");
        let reason = format!("Failed to parse search_after value for field [{field}].");
        assert_eq!(bind_error(&body).reason, reason);
    }
    let wrong = bind_error("{\"sort\":[\"flag\"],\"search_after\":[\"x\"]}");
    assert_eq!(wrong.reason, "Cannot parse boolean [x], expected either [true] or [false]");
    let wrong = bind_error("{\"sort\":[\"n\"],\"search_after\":[\"x\"]}");
    assert_eq!(wrong.reason, "Failed to parse search_after value for field [n].");
}

#[test]
fn terms_are_bounded() {
    let corpus = corpus();
    let request = parse_search(b"{\"query\":{\"terms\":{\"tags\":[1,2,3]}}}", &[]).expect("good");
    let context = Context { terms_max: 2, ..Context::new("books", NOW_MS) };
    let error = plan::bind(&request, &corpus.mapping, &context).expect_err("three terms");
    assert_eq!(error.kind, Kind::IllegalArgument);
    assert!(error.reason.starts_with("The number of terms [3] used in the Terms Query request"));
}

#[test]
fn system_fields_are_known() {
    assert_eq!(ids("{\"term\":{\"_id\":\"d3\"}}"), ["d3"]);
    assert_eq!(ids("{\"terms\":{\"_id\":[\"d4\",\"d2\",\"d1\"]}}"), ["d1", "d4"]);
    assert_eq!(ids("{\"term\":{\"_index\":\"boo*\"}}"), ["d1", "d3", "d4"]);
    assert_eq!(ids("{\"term\":{\"_index\":\"other\"}}"), [""; 0]);
    assert_eq!(ids("{\"range\":{\"_seq_no\":{\"gt\":2}}}"), ["d3", "d4"]);
    assert_eq!(ids("{\"exists\":{\"field\":\"_id\"}}"), ["d1", "d3", "d4"]);
}

#[test]
fn dates_round_as_elasticsearch_rounds_them() {
    assert_eq!(ids("{\"range\":{\"day\":{\"gte\":\"2024-02-01\"}}}"), ["d3"]);
    assert_eq!(ids("{\"range\":{\"day\":{\"lte\":\"2024-01\"}}}"), ["d1"]);
    assert_eq!(ids("{\"range\":{\"day\":{\"gt\":\"2024-01-15||/M\"}}}"), ["d3"]);
    assert_eq!(ids("{\"range\":{\"day\":{\"gte\":\"now-5M/M\"}}}"), ["d1", "d3"]);
    assert_eq!(ids("{\"term\":{\"day\":\"2024-01-01\"}}"), ["d1"]);
}

#[test]
fn phrases_keep_their_order_unless_there_is_slop() {
    assert_eq!(ids("{\"match_phrase\":{\"title\":\"golden gate\"}}"), ["d1"]);
    assert_eq!(
        ids("{\"match_phrase\":{\"title\":{\"query\":\"golden gate\",\"slop\":2}}}"),
        ["d1", "d3"]
    );
    assert_eq!(ids("{\"match_phrase\":{\"body\":\"river king river\"}}"), ["d1"]);
}

#[test]
fn a_filter_of_the_gate_hides_documents_without_touching_scores() {
    let corpus = corpus();
    let body = b"{\"query\":{\"match\":{\"title\":\"golden\"}}}";
    let request = parse_search(body, &[]).expect("good");
    let view = corpus.view(false);
    let (open, _) = search(&request, &corpus.mapping, &view, &How::default());
    let filter = parse_query(b"{\"term\":{\"tags\":\"used\"}}").expect("a query");
    let context = Context { filter: Some(&filter), ..Context::new("books", NOW_MS) };
    let bound = plan::bind(&request, &corpus.mapping, &context).expect("good");
    let mut cache = segment::BlockCache::new(1 << 20);
    let mut missing = segment::Missing::new();
    let plan = plan::weigh(&bound, &view, &mut cache, &mut missing)
        .expect("whole segments")
        .expect("all is there");
    let shared = std::sync::Arc::default();
    let partial = support::run::slice(&plan, plan.whole(), &shared, 1000);
    let merged = search::phase::merge(&request, vec![(0, partial)]);
    assert_eq!(merged.total, Some(Total { value: 1, relation: Relation::Eq }));
    let (seen, hidden) = (&merged.winners[0].ranked, &open.winners);
    assert!(hidden.iter().any(|winner| winner.ranked.doc == seen.doc
        && winner.ranked.segment == seen.segment
        && winner.ranked.score == seen.score));
}

/// What only hidden or dead documents hold is no term, however small the steps, and whatever is not there yet.
#[test]
fn terms_of_hidden_documents_are_not_gathered() {
    let corpus = corpus();
    let rule = parse_query(b"{\"term\":{\"tags\":\"used\"}}").expect("a query");
    for (query, seen) in [
        (r#"{"prefix":{"tags":{"value":"","rewrite":"top_terms_1"}}}"#, &["used"][..]),
        (r#"{"prefix":{"title":{"value":"g","rewrite":"top_terms_5"}}}"#, &["gate", "golden"]),
        (r#"{"match_phrase_prefix":{"title":{"query":"h","max_expansions":1}}}"#, &[]),
        (r#"{"fuzzy":{"tags":{"value":"use","max_expansions":1}}}"#, &["used"]),
    ] {
        let body = format!("{{\"query\":{query}}}");
        let request = parse_search(body.as_bytes(), &[]).expect("good");
        let context = Context { seen: Some(&rule), ..Context::new("books", NOW_MS) };
        let bound = plan::bind(&request, &corpus.mapping, &context).expect("good");
        for (missing_once, work) in [(false, 1), (false, 1000), (true, 1), (true, 1000)] {
            let view = corpus.view(missing_once);
            let mut cache = segment::BlockCache::new(1 << 20);
            let mut missing = segment::Missing::new();
            let mut gather = plan::gather::Gather::new(&bound, &view);
            while !gather.step(&view, &mut cache, &mut missing, work).expect("whole segments") {
                missing.fetch();
            }
            let found: Vec<String> = gather
                .finish()
                .into_values()
                .flatten()
                .map(|found| String::from_utf8_lossy(&found.term).into_owned())
                .collect();
            assert_eq!(found, seen, "{query} {missing_once} {work}");
        }
    }
}

#[test]
fn hits_carry_what_was_asked_for() {
    let hits = found(
        "{\"query\":{\"bool\":{\"should\":[{\"term\":{\"tags\":{\"value\":\"new\",\"_name\":\"b\"}}},\
         {\"match\":{\"title\":{\"query\":\"golden\",\"_name\":\"a\"}}}]}},\
         \"_source\":[\"title\",\"n\"],\"version\":true,\"seq_no_primary_term\":true,\
         \"docvalue_fields\":[\"n\",\"tags\",\"flag\",{\"field\":\"day\",\"format\":\"yyyy\"}]}",
    );
    let first = &hits[0];
    assert_eq!((first.index.as_str(), first.id.as_deref()), ("books", Some("d1")));
    assert_eq!((first.version, first.seq_no, first.primary_term), (Some(1), Some(1), Some(1)));
    let source = first.source.as_deref().expect("a source");
    assert_eq!(source, b"{\"title\":\"the golden gate\",\"n\":[1,5]}");
    assert_eq!(first.matched_queries, ["a", "b"]);
    let fields: Vec<String> =
        first.fields.iter().map(|(name, values)| format!("{name}={}", values.join(","))).collect();
    assert_eq!(fields, ["n=1,5", "tags=\"new\",\"rare\"", "flag=true", "day=\"2024\""]);
    assert_eq!(hits[1].matched_queries, ["a"]);
    let bare = found("{\"stored_fields\":\"_none_\"}");
    assert!(bare[0].id.is_none());
    assert!(bare[0].source.is_none());
    assert_eq!(bare[0].score, Some(1.0));
}

#[test]
fn a_column_that_is_none_is_refused() {
    let corpus = corpus();
    let columns = |body: &[u8]| {
        let request = parse_search(body, &[]).expect("good");
        fetch::bind_columns(&request, &corpus.mapping, &Context::new("books", NOW_MS))
            .expect("what is wrong is wrong with each hit")
            .failed
            .map_or(Ok(()), |error| Err(error.reason))
    };
    assert_eq!(
        columns(b"{\"docvalue_fields\":[{\"field\":\"tags\",\"format\":\"x\"}]}"),
        Err("Field [tags] of type [keyword] does not support custom formats".into())
    );
    let text = columns(b"{\"docvalue_fields\":[\"title\"]}").expect_err("a text");
    assert!(text.starts_with("Fielddata is disabled on [title]"));
    assert_eq!(columns(b"{\"docvalue_fields\":[\"t*\",\"nothing\"]}"), Ok(()));
}

#[test]
fn terminate_after_stops_the_shard() {
    let corpus = Corpus::random(9, &[500]);
    let request =
        parse_search(b"{\"query\":{\"match_all\":{}},\"terminate_after\":7,\"size\":3}", &[])
            .expect("good");
    let (merged, plan) =
        search(&request, &corpus.mapping, &corpus.view(false), &How { work: 100, slices: 3 });
    assert_eq!(merged.terminated_early, Some(true));
    assert_eq!(merged.total, Some(Total { value: 7, relation: Relation::Eq }));
    assert_eq!(fetch_all(&request, &corpus.mapping, &merged, &plan).len(), 3);
}

#[test]
fn scores_of_sorted_hits_come_when_they_are_tracked() {
    let body = |track: bool| {
        format!(
            "{{\"query\":{{\"match\":{{\"title\":\"golden\"}}}},\"sort\":[\"price\"],\"track_scores\":{track}}}"
        )
    };
    let corpus = corpus();
    for track in [true, false] {
        let request = parse_search(body(track).as_bytes(), &[]).expect("good");
        let (merged, plan) =
            search(&request, &corpus.mapping, &corpus.view(false), &How::default());
        let hits = fetch_all(&request, &corpus.mapping, &merged, &plan);
        assert_eq!(merged.max_score.is_some(), track);
        assert_eq!(hits[0].score.is_some(), track);
        assert_eq!(hits[0].id.as_deref(), Some("d3"));
    }
}

/// A text of a hundred megabytes was read to its end.
#[test]
fn of_a_text_to_compare_with_the_first_words_are_read() {
    let alike = |words: usize| {
        let like = format!("{}gate", "other ".repeat(words));
        ids(&format!(
            r#"{{"more_like_this":{{"fields":["title"],"like":"{like}","min_term_freq":1,"min_doc_freq":1}}}}"#
        ))
    };
    assert_eq!(alike(4_999), ["d3", "d1"]);
    assert_eq!(alike(5_000), Vec::<String>::new());
}
