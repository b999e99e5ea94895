//! Long terms are paid for before they are copied: as keys of buckets, and as what hits are ordered by.

mod support;

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use env::budget::{Budget, Lease};
use search::aggs::Reducer;
use search::dsl::parse_search;
use search::phase::{Progress, Shared, Slice};
use search::plan::Plan;
use search::result::Partial;
use support::corpus::{Corpus, Doc};
use support::run::plan;

const MIB: usize = 1 << 20;

/// Documents of one different term each, of so many bytes.
const DOCS: usize = 200;
const TERM_BYTES: usize = 20_000;

fn corpus(segments: usize) -> Corpus {
    let doc = |number: usize| Doc {
        id: format!("d{number}"),
        n: vec![number as i64 % 3],
        tags: vec![Box::leak(format!("{number:0>TERM_BYTES$}").into_boxed_str())],
        ..Doc::default()
    };
    let each = DOCS / segments;
    Corpus::of((0..segments).map(|at| (at * each..(at + 1) * each).map(doc).collect()).collect())
}

fn planned(corpus: &Corpus, body: &str) -> Arc<Plan> {
    let request = parse_search(body.as_bytes(), &[]).expect("a good request");
    plan(&request, &corpus.mapping, &corpus.view(false))
}

/// What one slice of all finds.
fn found(plan: &Arc<Plan>, lease: Lease) -> Partial {
    let shared = Arc::new(Shared::default());
    let mut slice = Slice::new(Arc::clone(plan), plan.cut(1).remove(0), shared).with_memory(lease);
    loop {
        match slice.step(4096).expect("a whole segment") {
            Progress::Done => return slice.finish(),
            Progress::More => {}
            Progress::Missing(mut missing) => missing.fetch(),
        }
    }
}

/// Is what aggregations of one shard found shown, where `pay` has memory for it or not?
fn shown(corpus: &Corpus, body: &str, pay: &mut dyn FnMut(usize) -> bool) -> bool {
    let request = parse_search(body.as_bytes(), &[]).expect("a good request");
    let plan = planned(corpus, body);
    let partials = found(&plan, Budget::new(256 * MIB).lease()).aggs.expect("asked for");
    let mut reducer = Reducer::new(&request.aggs);
    reducer.shard(0, &plan, vec![partials.expect("answered")]).expect("of one index");
    match reducer.finish_within(65_536, pay) {
        Ok(answer) => answer.is_some(),
        Err(_) => false,
    }
}

/// Three thousand keys of 30,000 letters took 230 MiB of 128, and then were refused; four searches at once for the
/// ten most frequent of them took 403.
#[test]
fn keys_of_buckets_are_paid_for_before_they_are_copied() {
    let corpus = corpus(4);
    for agg in [
        r#"{"terms":{"field":"tags","size":10000}}"#,
        r#"{"terms":{"field":"tags","size":10}}"#,
        r#"{"terms":{"field":"n"},"aggs":{"b":{"terms":{"field":"tags","size":10000}}}}"#,
        r#"{"composite":{"size":10000,"sources":[{"s":{"terms":{"field":"tags"}}}]}}"#,
        r#"{"multi_terms":{"size":10000,"terms":[{"field":"tags"},{"field":"n"}]}}"#,
        r#"{"rare_terms":{"field":"tags","max_doc_count":10}}"#,
        r#"{"terms":{"field":"n","size":10},"aggs":{"b":{"top_hits":{"size":100,"sort":["tags"]}}}}"#,
    ] {
        let body = format!(r#"{{"size":0,"aggs":{{"a":{agg}}}}}"#);
        let plan = planned(&corpus, &body);
        let little = Budget::new(MIB);
        let refused = found(&plan, little.lease()).aggs.expect("asked for");
        let error = refused.expect_err("it is too much");
        assert!(error.to_string().contains("Data too large"), "{agg}: {error}");

        let much = found(&plan, Budget::new(64 * MIB).lease());
        much.aggs.expect("asked for").expect("it is enough");
        assert!(much.memory.bytes() >= DOCS * TERM_BYTES, "{agg}: {} bytes", much.memory.bytes());
    }
}

/// Ninety values of each of ten thousand buckets were 50 MB that nobody paid, for texts alone were counted.
#[test]
fn the_list_of_the_metrics_of_a_bucket_is_paid() {
    let doc =
        |number: usize| Doc { id: format!("d{number}"), n: vec![number as i64], ..Doc::default() };
    let corpus = Corpus::of(vec![(0..1_000).map(doc).collect()]);
    let metrics = vec![r#"{"field":"n"}"#; 90].join(",");
    let body = format!(
        r#"{{"size":0,"aggs":{{"a":{{"terms":{{"field":"n","size":1000}},"aggs":{{"t":
            {{"top_metrics":{{"metrics":[{metrics}],"sort":{{"n":"desc"}}}}}}}}}}}}}}"#
    );
    let plan = planned(&corpus, &body);
    let found = found(&plan, Budget::new(64 * MIB).lease());
    found.aggs.expect("asked for").expect("it is enough");
    let least = 1_000 * search::aggs::partial::TopMetric::bytes(90);
    assert!(found.memory.bytes() >= least, "{} of {least} bytes", found.memory.bytes());
}

/// Forty fields that meet each other are 14 KB in each bucket, of which 136 bytes were counted: 342 MB of 128.
#[test]
fn a_matrix_in_each_bucket_is_paid_before_it_is_made() {
    let doc =
        |number: usize| Doc { id: format!("d{number}"), n: vec![number as i64], ..Doc::default() };
    let corpus = Corpus::of(vec![(0..1_000).map(doc).collect()]);
    // Of which no document has one.
    let names: Vec<String> = (0..40).map(|at| format!(r#""m{at}""#)).collect();
    let (fields, missing) = (names.join(","), names.join(":1,"));
    let body = format!(
        r#"{{"size":0,"aggs":{{"a":{{"terms":{{"field":"n","size":1000}},"aggs":{{"m":
            {{"matrix_stats":{{"fields":[{fields}],"missing":{{{missing}:1}}}}}}}}}}}}}}"#
    );
    let plan = planned(&corpus, &body);
    let least = 1_000 * search::aggs::metric::matrix::Matrix::bytes(40);
    let enough = found(&plan, Budget::new(64 * MIB).lease());
    enough.aggs.expect("asked for").expect("it is enough");
    assert!(enough.memory.bytes() >= least, "{} of {least} bytes", enough.memory.bytes());
    let short = found(&plan, Budget::new(4 * MIB).lease());
    assert!(short.aggs.expect("asked for").is_err(), "14 MB of 4");
}

/// A name that stood a thousand times had a reader and a row each time: 180 MiB of 128, and 802 with twenty thousand.
/// What a row shows is paid before it is made.
#[test]
fn a_field_of_a_matrix_counts_once() {
    let doc =
        |number: usize| Doc { id: format!("d{number}"), n: vec![number as i64], ..Doc::default() };
    let corpus = Corpus::of(vec![(0..10).map(doc).collect()]);
    let paid = |names: &[String], missing: &str| {
        let fields = names.join(",");
        let body = format!(
            r#"{{"size":0,"aggs":{{"m":{{"matrix_stats":{{"fields":[{fields}],"missing":{{{missing}}}}}}}}}}}"#
        );
        let (mut paid, mut most) = (0, 0);
        let is_shown = shown(&corpus, &body, &mut |bytes| {
            paid += bytes;
            most = most.max(bytes);
            paid < MIB
        });
        (is_shown, paid, most)
    };
    let n = r#""n""#.to_owned();
    assert_eq!(paid(&vec![n.clone(); 2_000], ""), paid(&[n], ""));
    let names: Vec<String> = (0..1_000).map(|at| format!(r#""m{at}""#)).collect();
    let (is_shown, _, most) = paid(&names, &(names.join(":1,") + ":1"));
    assert!(!is_shown && most < MIB / 2, "{most}");
}

/// A thousand paths by which sixty thousand buckets are ordered were a gigabyte of 128 MB, counted nowhere. A path that
/// stands twice decides nothing the second time.
#[test]
fn what_buckets_are_ordered_by_is_paid_before_it_is_read() {
    let doc =
        |number: usize| Doc { id: format!("d{number}"), n: vec![number as i64], ..Doc::default() };
    let corpus = Corpus::of(vec![(0..1_000).map(doc).collect()]);
    let metrics: Vec<String> =
        (0..200).map(|at| format!(r#""m{at}":{{"max":{{"field":"n"}}}}"#)).collect();
    let paid = |paths: Vec<String>| {
        let body = format!(
            r#"{{"size":0,"aggs":{{"a":{{"terms":{{"field":"n","size":1000}},"aggs":{{{},
                "s":{{"bucket_sort":{{"sort":[{}],"size":1}}}}}}}}}}}}"#,
            metrics.join(","),
            paths.join(",")
        );
        let mut paid = 0;
        let is_shown = shown(&corpus, &body, &mut |bytes| {
            paid += bytes;
            true
        });
        assert!(is_shown);
        paid
    };
    let path = |at: usize| format!(r#"{{"m{at}":"desc"}}"#);
    let (once, again) = (paid(vec![path(0)]), paid(vec![path(0); 200]));
    let all = paid((0..200).map(path).collect());
    let least = 1_000 * 199 * size_of::<Option<f64>>();
    assert!(all >= once + least, "{all} bytes, {once} of one path, {least} more at least");
    assert_eq!(again, once);
}

/// Nine thousand percents of each of three thousand buckets were 460 MB of 128 before anybody asked for memory.
#[test]
fn percents_of_a_pipeline_are_paid_before_they_are_made() {
    let corpus = Corpus::of(vec![vec![Doc { id: "d0".to_owned(), n: vec![1], ..Doc::default() }]]);
    let paid = |percents: usize| {
        let percents: Vec<String> = (0..percents).map(|at| format!("{}", at % 100)).collect();
        let ranges = vec![r#"{"from":0}"#; 100].join(",");
        let body = format!(
            r#"{{"size":0,"aggs":{{"r":{{"range":{{"field":"n","ranges":[{ranges}]}},"aggs":{{
                "h":{{"histogram":{{"field":"n","interval":1}}}},
                "x":{{"percentiles_bucket":{{"buckets_path":"h>_count","percents":[{}]}}}}}}}}}}}}"#,
            percents.join(",")
        );
        let mut paid = 0;
        // The first refusal is the last question: what is not paid is not made.
        let is_shown = shown(&corpus, &body, &mut |bytes| {
            paid += bytes;
            false
        });
        assert!(!is_shown, "there is no memory");
        paid
    };
    let (one, all) = (1_000 * size_of::<(f64, f64)>(), 100 * 1_000 * size_of::<(f64, f64)>());
    let asked = paid(1_000);
    assert!((one..all / 2).contains(&asked), "{asked} bytes: one bucket takes {one}, all {all}");
}

/// A window of sixty thousand buckets behind each of them is seconds of a worker, of which nothing is paid: whoever left
/// meanwhile was not asked for.
#[test]
fn long_work_of_pipelines_asks_whether_it_is_wanted() {
    let corpus = Corpus::of(vec![vec![Doc { id: "d0".to_owned(), n: vec![1], ..Doc::default() }]]);
    for pipe in [
        r#""x":{"moving_fn":{"buckets_path":"_count","window":20000,"script":"MovingFunctions.max(values)"}}"#,
        r#""x":{"moving_fn":{"buckets_path":"_count","window":20000,"script":"values.length"}}"#,
        r#""x":{"bucket_script":{"buckets_path":{"c":"_count"},"script":"params.c"}}"#,
        r#""x":{"bucket_selector":{"buckets_path":{"c":"_count"},"script":"params.c > 1"}}"#,
    ] {
        let body = format!(
            r#"{{"size":0,"aggs":{{"a":{{"histogram":{{"field":"n","interval":1,"min_doc_count":0,
                "extended_bounds":{{"min":0,"max":20000}}}},"aggs":{{{pipe}}}}}}}}}"#
        );
        let mut asked = 0;
        let is_shown = shown(&corpus, &body, &mut |bytes| {
            asked += usize::from(bytes == 0);
            bytes > 0
        });
        assert!(!is_shown && asked == 1, "{pipe}: asked {asked} times, shown: {is_shown}");
    }
}

/// Of the one segment there is the best are known by number: no other key is copied.
#[test]
fn the_few_best_of_a_segment_are_chosen_before_their_keys_are_copied() {
    let plan = planned(&corpus(1), r#"{"size":0,"aggs":{"a":{"terms":{"field":"tags"}}}}"#);
    let found = found(&plan, Budget::new(4 * MIB).lease());
    found.aggs.expect("asked for").expect("it is enough");
    assert!(found.memory.bytes() < DOCS * TERM_BYTES / 2, "{} bytes", found.memory.bytes());
}

/// Two hundred buckets with seven percentiles each were shown in one go: 1.1 ms of a core.
#[test]
fn buckets_are_shown_one_by_one_and_as_in_one_go() {
    let corpus = corpus(2);
    let body = r#"{"size":0,"aggs":{"a":{"terms":{"field":"tags","size":200},"meta":{"x":1},"aggs":{
        "p":{"percentiles":{"field":"n"}}}},"h":{"histogram":{"field":"n","interval":1,"keyed":true}},
        "m":{"max_bucket":{"buckets_path":"a>p.50"}}}}"#;
    let request = parse_search(body.as_bytes(), &[]).expect("a good request");
    let plan = planned(&corpus, body);
    let reducer = || {
        let partials = found(&plan, Budget::new(64 * MIB).lease()).aggs.expect("asked for");
        let mut reducer = Reducer::new(&request.aggs);
        reducer.shard(0, &plan, vec![partials.expect("answered")]).expect("of one index");
        reducer
    };
    let whole = reducer().finish(65_536).expect("few enough").expect("one shard");
    let pauses = Cell::new(0);
    let pause = async || pauses.set(pauses.get() + 1);
    let mut pay = |_| true;
    let steps = reducer().finish_in_steps(65_536, &mut pay, pause);
    let Poll::Ready(steps) = pin!(steps).poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("no pause waits")
    };
    assert_eq!(*steps.expect("few enough").expect("one shard"), *whole);
    assert!(pauses.get() > DOCS, "{} pauses of {DOCS} buckets", pauses.get());
}

/// What is shown shares the bytes of the key.
#[test]
fn a_key_is_shown_without_a_copy() {
    use search::aggs::shape::Out;
    let body = r#"{"size":0,"aggs":{"a":{"terms":{"field":"tags","size":3}}}}"#;
    let request = parse_search(body.as_bytes(), &[]).expect("a good request");
    let plan = planned(&corpus(1), body);
    let partials = found(&plan, Budget::new(64 * MIB).lease()).aggs.expect("asked for");
    let mut reducer = Reducer::new(&request.aggs);
    reducer.shard(0, &plan, vec![partials.expect("answered")]).expect("of one index");
    let shown = reducer.finish(65_536).expect("few enough").expect("one shard");
    fn terms(out: &Out, seen: &mut usize) {
        match out {
            Out::Term(bytes) => *seen += usize::from(bytes.len() == TERM_BYTES),
            Out::Text(text) => assert!(text.len() < TERM_BYTES),
            Out::List(list) => list.iter().for_each(|out| terms(out, seen)),
            Out::Object(fields) => fields.iter().for_each(|(_, out)| terms(out, seen)),
            _ => {}
        }
    }
    let mut seen = 0;
    shown.iter().for_each(|(_, out)| terms(out, &mut seen));
    assert_eq!(seen, 3);
}

/// Two pages of ten thousand, ordered by a keyword of 30,000 letters, took 218 MiB of 128.
#[test]
fn what_hits_are_ordered_by_is_paid_for_before_it_is_copied() {
    for segments in [1, 4] {
        let corpus = corpus(segments);
        for body in [
            r#"{"size":10000,"sort":["tags"]}"#,
            r#"{"size":10000,"sort":["n","_doc"],"collapse":{"field":"tags"}}"#,
            r#"{"size":10000,"collapse":{"field":"tags"}}"#,
        ] {
            let plan = planned(&corpus, body);
            found(&plan, Budget::new(MIB).lease());
            let error = plan.trouble.get().expect("it is too much").to_string();
            assert!(error.contains("Data too large"), "{body}: {error}");

            let plan = planned(&corpus, body);
            let much = found(&plan, Budget::new(64 * MIB).lease());
            assert_eq!((much.hits.len(), plan.trouble.get()), (DOCS, None), "{body}");
            assert!(much.texts.bytes() >= DOCS * TERM_BYTES, "{body}: {}", much.texts.bytes());
        }
        // Ten of them are few, whatever is passed over.
        let plan = planned(&corpus, r#"{"size":10,"sort":[{"tags":"desc"}]}"#);
        let few = found(&plan, Budget::new(4 * MIB).lease());
        assert_eq!((few.hits.len(), plan.trouble.get()), (10, None));
    }
}
