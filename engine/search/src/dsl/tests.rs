//! What the readers say of good and bad requests: Elasticsearch 8.19's words, places and causes.

use super::{parse_count, parse_query, parse_search};
use crate::ast::{Node, Scalar};
use crate::error::{Error, Kind};
use crate::request::{After, Order, SortBy, SourceFilter, Stored, TrackTotal};

fn search_error(body: &str) -> Error {
    match parse_search(body.as_bytes(), &[]) {
        Err(error) => error,
        Ok(request) => panic!("{body} was read as {request:?}"),
    }
}

/// Type and reason of an error and of its causes, with any place.
fn chain(error: &Error) -> Vec<String> {
    let mut chain = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let place = error.place.map(|at| format!(" @{}:{}", at.line, at.column));
        chain.push(format!("{}{}: {}", error.kind.name(), place.unwrap_or_default(), error.reason));
        next = error.cause.as_deref();
    }
    chain
}

fn says(body: &str, expected: &[&str]) {
    assert_eq!(chain(&search_error(body)), expected, "{body}");
}

/// As [`says`], of a query.
fn query_says(query: &str, expected: &[&str]) {
    says(&format!("{{\"query\":{query}}}"), expected);
}

#[test]
fn malformed_queries_are_named_with_their_place() {
    query_says(
        "{}",
        &["illegal_argument_exception: query malformed, empty clause found at [1:11]"],
    );
    query_says(
        "{\"foo\":{}}",
        &[
            "parsing_exception @1:17: unknown query [foo]",
            "named_object_not_found_exception: [1:17] unknown field [foo]",
        ],
    );
    query_says(
        "{\"mtch\":{}}",
        &[
            "parsing_exception @1:18: unknown query [mtch] did you mean [match]?",
            "named_object_not_found_exception: [1:18] unknown field [mtch]",
        ],
    );
    query_says(
        "{\"match_all\":1}",
        &["parsing_exception @1:23: [match_all] query malformed, no start_object after query name"],
    );
    query_says(
        "{\"match_all\":{},\"x\":{}}",
        &[
            "parsing_exception @1:26: [match_all] malformed query, expected [END_OBJECT] but found [FIELD_NAME]",
        ],
    );
}

#[test]
fn an_error_inside_bool_is_wrapped_once_a_level() {
    query_says(
        "{\"bool\":{\"must\":{\"foo\":{}}}}",
        &[
            "x_content_parse_exception: [1:33] [bool] failed to parse field [must]",
            "parsing_exception @1:33: unknown query [foo]",
            "named_object_not_found_exception: [1:33] unknown field [foo]",
        ],
    );
    query_says(
        "{\"bool\":{\"must\":[1]}}",
        &[
            "x_content_parse_exception: [1:27] [bool] failed to parse field [must]",
            "parsing_exception @1:27: [_na] query malformed, must start with start_object",
        ],
    );
    query_says(
        "{\"bool\":{\"musst\":{}}}",
        &["x_content_parse_exception: [1:19] [bool] unknown field [musst] did you mean [must]?"],
    );
    query_says(
        "{\"bool\":{\"must\":1}}",
        &[
            "x_content_parse_exception: [1:26] [bool] must doesn't support values of type: VALUE_NUMBER",
        ],
    );
}

#[test]
fn unknown_options_are_refused_in_each_querys_own_way() {
    query_says(
        "{\"match_all\":{\"foo\":1}}",
        &[
            "parsing_exception @1:30: [1:24] [match_all] unknown field [foo]",
            "x_content_parse_exception: [1:24] [match_all] unknown field [foo]",
        ],
    );
    query_says(
        "{\"match\":{\"t\":{\"query\":\"a\",\"foo\":1}}}",
        &["parsing_exception @1:43: [match] query does not support [foo]"],
    );
    query_says(
        "{\"term\":{\"t\":{\"value\":\"a\",\"foo\":1}}}",
        &["parsing_exception @1:42: [term] query does not support [foo]"],
    );
    query_says(
        "{\"range\":{\"n\":{\"above\":1}}}",
        &["parsing_exception @1:33: [range] query does not support [above]"],
    );
    query_says(
        "{\"exists\":{\"field\":\"a\",\"foo\":1}}",
        &["parsing_exception @1:39: [exists] query does not support [foo]"],
    );
    // Fuzziness is not there yet: an unknown option.
    query_says(
        "{\"match\":{\"t\":{\"query\":\"a\",\"fuzzyness\":1}}}",
        &["parsing_exception @1:49: [match] query does not support [fuzzyness]"],
    );
}

#[test]
fn leaf_queries_say_what_they_miss() {
    query_says(
        "{\"match\":{\"t\":\"a\",\"k\":\"b\"}}",
        &[
            "parsing_exception @1:32: [match] query doesn't support multiple fields, found [t] and [k]",
        ],
    );
    query_says(
        "{\"match\":{\"t\":{}}}",
        &["parsing_exception @1:26: No text specified for text query"],
    );
    query_says(
        "{\"match\":{\"t\":[1]}}",
        &["illegal_argument_exception: Expected text at 1:24 but found START_ARRAY"],
    );
    query_says(
        "{\"match\":{\"t\":{\"query\":\"a\",\"zero_terms_query\":\"x\"}}}",
        &["parsing_exception @1:56: Unsupported zero_terms_query value [x]"],
    );
    query_says(
        "{\"match\":{\"t\":{\"query\":\"a\",\"operator\":\"xor\"}}}",
        &[
            "illegal_argument_exception: No enum constant org.elasticsearch.index.query.Operator.XOR",
        ],
    );
    query_says(
        "{\"match_phrase\":{\"t\":{\"query\":\"a\",\"slop\":-1}}}",
        &["illegal_argument_exception: No negative slop allowed."],
    );
    query_says(
        "{\"term\":{\"k\":[1]}}",
        &["parsing_exception @1:23: [term] query does not support array of values"],
    );
    query_says(
        "{\"term\":{\"k\":null}}",
        &["illegal_argument_exception: field name is null or empty"],
    );
    query_says(
        "{\"terms\":{\"k\":1}}",
        &["parsing_exception @1:24: [terms] query does not support [k]"],
    );
    query_says(
        "{\"terms\":{}}",
        &[
            "parsing_exception @1:20: [terms] query requires a field name, followed by array of terms or a document lookup specification",
        ],
    );
    query_says(
        "{\"terms\":{\"k\":[null]}}",
        &["parsing_exception @1:25: No value specified for terms query"],
    );
    query_says(
        "{\"terms\":{\"k\":[1],\"l\":[2]}}",
        &["parsing_exception @1:32: [terms] query does not support multiple fields"],
    );
    query_says(
        "{\"exists\":{}}",
        &["parsing_exception @1:21: [exists] must be provided with a [field]"],
    );
    query_says(
        "{\"constant_score\":{}}",
        &["parsing_exception @1:29: [constant_score] requires a 'filter' element"],
    );
    query_says(
        "{\"boosting\":{\"positive\":{\"match_all\":{}}}}",
        &["parsing_exception @1:50: [boosting] query requires 'negative' query to be set'"],
    );
    query_says(
        "{\"dis_max\":{\"queries\":[]}}",
        &["parsing_exception @1:33: [_na] query malformed, must start with start_object"],
    );
    query_says(
        "{\"function_score\":{\"weight\":-0.0}}",
        &["illegal_argument_exception: [weight] cannot be negative for a filtering function"],
    );
    query_says(
        "{\"dis_max\":{}}",
        &["parsing_exception @1:22: [dis_max] requires 'queries' field with at least one clause"],
    );
    let boost = search_error("{\"query\":{\"match_all\":{\"boost\":-1}}}");
    assert_eq!(boost.kind, Kind::Parsing);
    assert!(boost.cause.is_some());
}

#[test]
fn dates_of_ranges_need_known_zones_and_patterns() {
    let zone =
        search_error("{\"query\":{\"range\":{\"d\":{\"gte\":\"2020\",\"time_zone\":\"foo\"}}}}");
    assert_eq!(zone.kind, Kind::IllegalArgument);
    assert_eq!(zone.reason, "java.time.zone.ZoneRulesException: Unknown time-zone ID: foo");
    assert_eq!(zone.cause.map(|cause| cause.kind), Some(Kind::ZoneRules));
    let zone =
        search_error("{\"query\":{\"range\":{\"d\":{\"gte\":\"2020\",\"time_zone\":\"+18:01\"}}}}");
    let reason = "Zone offset not in valid range: -18:00 to +18:00";
    assert_eq!(zone.reason, format!("java.time.DateTimeException: {reason}"));
    assert_eq!(zone.cause, Some(Box::new(Error::new(Kind::DateTime, reason))));
    let hours = search_error(
        "{\"aggs\":{\"a\":{\"date_histogram\":{\"field\":\"d\",\"fixed_interval\":\"1h\",\"time_zone\":19}}}}",
    );
    let reason = "Zone offset hours not in valid range: value 19 is not in the range -18 to 18";
    let cause = Error::new(Kind::DateTime, reason);
    assert!(format!("{hours:?}").contains(&format!("{cause:?}")), "{hours:?}");
    let format =
        search_error("{\"query\":{\"range\":{\"d\":{\"gte\":\"2020\",\"format\":\"foo\"}}}}");
    assert!(format.reason.starts_with("Invalid format: [foo]"), "{format}");
}

#[test]
fn depth_of_queries_is_bounded() {
    let nested = |depth: usize| {
        let mut query = "{\"match_all\":{}}".to_owned();
        for _ in 0..depth {
            query = format!("{{\"bool\":{{\"must\":{query}}}}}");
        }
        query
    };
    assert!(parse_query(nested(29).as_bytes()).is_ok());
    let mut error = parse_query(nested(30).as_bytes()).expect_err("31 queries deep");
    while let Some(cause) = error.cause {
        error = *cause;
    }
    assert_eq!(error.kind, Kind::IllegalArgument);
    assert!(error.reason.contains("[indices.query.bool.max_nested_depth]"));
}

#[test]
fn unknown_body_keys_are_named_by_their_token() {
    for (value, token) in [
        ("1", "VALUE_NUMBER"),
        ("\"a\"", "VALUE_STRING"),
        ("true", "VALUE_BOOLEAN"),
        ("null", "VALUE_NULL"),
        ("{}", "START_OBJECT"),
        ("[]", "START_ARRAY"),
    ] {
        let expected = format!("parsing_exception @1:8: Unknown key for a {token} in [foo].");
        says(&format!("{{\"foo\":{value}}}"), &[&expected]);
    }
    says("{\"query\":1}", &["parsing_exception @1:10: Unknown key for a VALUE_NUMBER in [query]."]);
    says("{\"size\":null}", &["parsing_exception @1:9: Unknown key for a VALUE_NULL in [size]."]);
    // Vectors are not there yet: an unknown key.
    says("{\"knn\":{}}", &["parsing_exception @1:8: Unknown key for a START_OBJECT in [knn]."]);
    says("[]", &["parsing_exception @1:1: Expected [START_OBJECT] but found [START_ARRAY]"]);
}

#[test]
fn numbers_of_the_body_are_coerced_or_refused() {
    let request = parse_search(b"{\"size\":\"3\",\"from\":1.5}", &[]).expect("numbers");
    assert_eq!((request.size, request.from), (3, 1));
    says("{\"size\":\"a\"}", &["number_format_exception: For input string: \"a\""]);
    says(
        "{\"size\":-1}",
        &["illegal_argument_exception: [size] parameter cannot be negative, found [-1]"],
    );
    says(
        "{\"from\":-1}",
        &["illegal_argument_exception: [from] parameter cannot be negative but was [-1]"],
    );
    says(
        "{\"version\":\"foo\"}",
        &[
            "illegal_argument_exception: Failed to parse value [foo] as only [true] or [false] are allowed.",
        ],
    );
    says(
        "{\"timeout\":\"foo\"}",
        &[
            "illegal_argument_exception: failed to parse setting [timeout] with value [foo] as a time value: unit is missing or unrecognized",
        ],
    );
    says(
        "{\"_source\":1}",
        &[
            "parsing_exception @1:12: Expected one of [VALUE_BOOLEAN, VALUE_STRING, START_ARRAY, START_OBJECT] but found [VALUE_NUMBER]",
        ],
    );
    says(
        "{\"stored_fields\":1}",
        &[
            "parsing_exception @1:18: Expected [VALUE_STRING] or [START_ARRAY] in [stored_fields] but found [VALUE_NUMBER]",
        ],
    );
}

#[test]
fn sorts_are_refused_in_elasticsearchs_words() {
    says(
        "{\"sort\":[1]}",
        &[
            "illegal_argument_exception: malformed sort format, within the sort array, an object, or an actual string are allowed",
        ],
    );
    says(
        "{\"sort\":[{\"n\":\"up\"}]}",
        &[
            "illegal_argument_exception: No enum constant org.elasticsearch.search.sort.SortOrder.UP",
        ],
    );
    says(
        "{\"sort\":[{\"t\":{\"order\":\"up\"}}]}",
        &[
            "x_content_parse_exception: [1:24] [field_sort] failed to parse field [order]",
            "illegal_argument_exception: No enum constant org.elasticsearch.search.sort.SortOrder.UP",
        ],
    );
    says(
        "{\"sort\":[{\"t\":{\"foo\":1}}]}",
        &["x_content_parse_exception: [1:16] [field_sort] unknown field [foo]"],
    );
}

#[test]
fn what_contradicts_itself_is_validated() {
    says(
        "{\"from\":1,\"search_after\":[1],\"sort\":[\"n\"]}",
        &[
            "action_request_validation_exception: Validation Failed: 1: [from] parameter must be set to 0 when [search_after] is used;",
        ],
    );
    says(
        "{\"stored_fields\":\"_none_\",\"_source\":true}",
        &[
            "action_request_validation_exception: Validation Failed: 1: [stored_fields] cannot be disabled if [_source] is requested;",
        ],
    );
}

#[test]
fn text_that_is_no_json_is_jacksons_error() {
    let error = search_error("{\"size\":1,}");
    assert_eq!(error.kind, Kind::XContent);
    assert!(error.reason.starts_with("[1:11] Unexpected character ('}' (code 125))"), "{error}");
    assert_eq!(error.cause.as_ref().map(|cause| cause.kind), Some(Kind::JsonParse));
    assert_eq!(search_error("{\"size\":").kind, Kind::XContentEnd);
}

#[test]
fn a_whole_body_is_read() {
    let body = br#"{"query":{"term":{"k":{"value":1e2,"boost":2,"_name":"x"}}},"from":2,"size":5,
        "sort":["a",{"b":"desc"},{"c":{"order":"desc","missing":"_first"}},"_score"],
        "search_after":null,"_source":{"includes":["a*"],"excludes":"b"}}"#;
    let error = parse_search(body, &[]).expect_err("null is no value");
    assert_eq!(error.reason, "Unknown key for a VALUE_NULL in [search_after].");
    let body = br#"{"query":{"term":{"k":{"value":1e2,"boost":2,"_name":"x"}}},"size":5,
        "sort":["a",{"b":"desc"},"_score"],"search_after":[1,"x",null],
        "_source":{"includes":["a*"],"excludes":"b"},"track_total_hits":7,"min_score":0.5,
        "version":true,"seq_no_primary_term":true,"timeout":"2s","terminate_after":3}"#;
    let request = parse_search(body, &[]).expect("a good body");
    let query = request.query.expect("a query");
    assert_eq!((query.boost, query.name.as_deref()), (2.0, Some("x")));
    let Node::Term(term) = query.node else { panic!("a term") };
    assert_eq!(term.value, Scalar::Number("100.0".into()));
    let sorts: Vec<_> = request.sort.iter().map(|sort| (sort.by.clone(), sort.order)).collect();
    assert_eq!(
        sorts,
        [
            (SortBy::Field("a".into()), Order::Ascending),
            (SortBy::Field("b".into()), Order::Descending),
            (SortBy::Score, Order::Descending),
        ]
    );
    let after = request.search_after.expect("a place");
    assert_eq!(after[1], After::Value(Scalar::String("x".into())));
    assert_eq!(after[2], After::Null);
    assert_eq!(request.total, TrackTotal::UpTo(7));
    assert_eq!((request.timeout_ms, request.terminate_after), (Some(2000), 3));
    let source =
        SourceFilter { enabled: true, includes: vec!["a*".into()], excludes: vec!["b".into()] };
    assert_eq!(request.source, Some(source));
}

#[test]
fn parameters_of_the_url_win_over_the_body() {
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    let params = pairs(&[
        ("size", "3"),
        ("sort", "a:desc,b,c:up"),
        ("_source_excludes", "x,y"),
        ("track_total_hits", "false"),
        ("stored_fields", "_none_"),
        ("_source", "false"),
    ]);
    let request = parse_search(b"{\"size\":9}", &params).expect("good");
    assert_eq!((request.size, request.total), (3, TrackTotal::No));
    assert_eq!(request.sort.len(), 2);
    assert_eq!(request.stored, Stored::None);
    assert!(!request.source_filter().enabled);
    let bad = parse_search(b"", &pairs(&[("size", "a")])).expect_err("no number");
    assert_eq!(
        chain(&bad),
        [
            "illegal_argument_exception: Failed to parse int parameter [size] with value [a]",
            "number_format_exception: For input string: \"a\"",
        ]
    );
}

#[test]
fn a_count_takes_a_query_and_nothing_else() {
    let request = parse_count(b"{\"query\":{\"match_all\":{}}}", &[]).expect("good");
    assert_eq!((request.size, request.total), (0, TrackTotal::Exact));
    assert!(parse_count(b"", &[]).expect("all").query.is_none());
    let error = parse_count(b"{\"size\":1}", &[]).expect_err("no size");
    assert_eq!(chain(&error), ["parsing_exception @1:2: request does not support [size]"]);
}
