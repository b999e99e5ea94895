//! What is read, and what is refused in which words.

use crate::aggs::spec::{Kind, OrderBy, PipeKind};
use crate::error::Error;
use crate::request::Order;

fn read(text: &str) -> Result<crate::aggs::spec::Aggs, Error> {
    let body = format!(r#"{{"aggs":{text}}}"#);
    crate::dsl::parse_search(body.as_bytes(), &[]).map(|request| request.aggs)
}

/// The reasons of a failure, the outer first.
fn reasons(text: &str) -> String {
    let mut error = Some(Box::new(read(text).expect_err("refused")));
    let mut reasons = Vec::new();
    while let Some(one) = error {
        reasons.push(format!("{}: {}", one.kind.name(), one.reason));
        error = one.cause;
    }
    reasons.join(" <- ")
}

#[test]
fn faults_are_told_in_elasticsearchs_words() {
    for (text, want) in [
        (
            r#"{"a":{"foo":{}}}"#,
            "parsing_exception: Unknown aggregation type [foo] <- \
             named_object_not_found_exception: [1:21] unknown field [foo]",
        ),
        (
            r#"{"a":{"term":{}}}"#,
            "parsing_exception: Unknown aggregation type [term] did you mean [terms]? <- \
             named_object_not_found_exception: [1:22] unknown field [term]",
        ),
        (
            r#"{"a":{"avg":{"field":"x"},"sum":{"field":"x"}}}"#,
            "parsing_exception: Found two aggregation type definitions in [a]: [avg] and [sum]",
        ),
        (
            r#"{"a>b":{"avg":{"field":"x"}}}"#,
            "parsing_exception: Invalid aggregation name [a>b]. Aggregation names can contain any \
             character except '[', ']', and '>'",
        ),
        (r#"{"a":{}}"#, "parsing_exception: Missing definition for aggregation [a]"),
        (
            r#"{"a":5}"#,
            "parsing_exception: Aggregation definition for [a starts with a [VALUE_NUMBER], \
             expected a [START_OBJECT].",
        ),
        (
            r#"{"a":{"avg":{}}}"#,
            "illegal_argument_exception: Required one of fields [field, script], but none were \
             specified. ",
        ),
        (
            r#"{"a":{"terms":{"field":"x","size":0}}}"#,
            "x_content_parse_exception: [1:43] [terms] failed to parse field [size] <- \
             illegal_argument_exception: [size] must be greater than 0. Found [0] in [a]",
        ),
        (
            r#"{"a":{"terms":{"foo":1}}}"#,
            "x_content_parse_exception: [1:24] [terms] unknown field [foo]",
        ),
        (
            r#"{"a":{"terms":{"field":"x","order":{"_key":"up"}}}}"#,
            "x_content_parse_exception: [1:52] [terms] failed to parse field [order] <- \
             parsing_exception: Unknown order direction [up]",
        ),
        (
            r#"{"a":{"avg":{"field":"x"},"aggs":{"b":{"avg":{"field":"x"}}}}}"#,
            "aggregation_initialization_exception: Aggregator [a] of type [avg] cannot accept \
             sub-aggregations",
        ),
        (
            r#"{"a":{"histogram":{"field":"x","interval":0}}}"#,
            "x_content_parse_exception: [1:51] [histogram] failed to parse field [interval] <- \
             illegal_argument_exception: [interval] must be >0 for histogram aggregation [a]",
        ),
        (
            r#"{"a":{"date_histogram":{"field":"x","calendar_interval":"2d"}}}"#,
            "x_content_parse_exception: [1:65] [date_histogram] failed to parse field \
             [calendar_interval] <- illegal_argument_exception: The supplied interval [2d] could \
             not be parsed as a calendar interval.",
        ),
        (
            r#"{"a":{"date_histogram":{"field":"x","fixed_interval":"1M"}}}"#,
            "x_content_parse_exception: [1:62] [date_histogram] failed to parse field \
             [fixed_interval] <- illegal_argument_exception: failed to parse setting \
             [date_histogram.fixedInterval] with value [1M] as a time value: unit is missing or \
             unrecognized",
        ),
        (
            r#"{"a":{"percentiles":{"field":"x","percents":[101]}}}"#,
            "x_content_parse_exception: Failed to build [percentiles] after last required \
             field arrived <- illegal_argument_exception: percent must be in [0,100], got \
             [101.0]: [a]",
        ),
        (
            r#"{"h":{"terms":{"field":"x"},"aggs":{"b":{"derivative":{"buckets_path":"_count"}}}}}"#,
            "action_request_validation_exception: Validation Failed: 1: derivative aggregation \
             [b] must have a histogram, date_histogram or auto_date_histogram as parent;",
        ),
        (
            r#"{"a":{"max":{"script":7}}}"#,
            "x_content_parse_exception: [1:31] [max] failed to parse field [script] <- \
             illegal_argument_exception: unexpected value [VALUE_NUMBER] for a script",
        ),
    ] {
        assert_eq!(reasons(text), want, "{text}");
    }
}

#[test]
fn what_is_not_said_has_its_default() {
    let aggs = read(
        r#"{"t":{"terms":{"field":"x","order":{"m.avg":"asc"}},"meta":{"k":1},
            "aggregations":{"m":{"stats":{"field":"y"}}}},
            "s":{"max_bucket":{"buckets_path":"t>m.avg"}}}"#,
    )
    .expect("good");
    let agg = &aggs.aggs[0];
    let Kind::Terms(terms) = &agg.kind else { panic!("{agg:?}") };
    assert_eq!((terms.size, terms.min_doc_count, terms.shard_size), (10, 1, None));
    assert_eq!(
        terms.order,
        [(OrderBy::Path("m.avg".into()), Order::Ascending), (OrderBy::Key, Order::Ascending)]
    );
    assert!(agg.meta.is_some());
    assert_eq!(agg.subs.aggs[0].name, "m");
    assert_eq!(aggs.pipes[0].kind, PipeKind::MaxBucket);
}

#[test]
fn depth_is_bounded() {
    let mut text = String::from(r#"{"a":{"global":{}}}"#);
    for _ in 0..2000 {
        text = format!(r#"{{"a":{{"filter":{{"match_all":{{}}}},"aggs":{text}}}}}"#);
    }
    assert!(read(&text).is_err());
}

#[test]
fn built_in_functions_are_known_and_others_are_scripts() {
    let with = |script: &str| {
        read(&format!(
            r#"{{"h":{{"histogram":{{"field":"x","interval":1}},"aggs":{{"m":{{"moving_fn":
            {{"buckets_path":"_count","window":3,"script":"{script}"}}}}}}}}}}"#
        ))
    };
    for script in [
        "MovingFunctions.max(values)",
        "MovingFunctions.stdDev(values, MovingFunctions.unweightedAvg(values))",
        "return MovingFunctions.ewma(values, 0.3);",
        "MovingFunctions.holtWinters(values, 0.3, 0.1, 0.1, 2, false)",
    ] {
        let aggs = with(script).expect(script);
        let kind = &aggs.aggs[0].subs.pipes[0].kind;
        assert!(matches!(kind, PipeKind::MovingFn { .. }), "{script}");
    }
    for script in ["values.length", "MovingFunctions.max(other)", "MovingFunctions.ewma(values)"] {
        let aggs = with(script).expect(script);
        let kind = &aggs.aggs[0].subs.pipes[0].kind;
        assert!(matches!(kind, PipeKind::MovingScript { .. }), "{script}");
    }
}
