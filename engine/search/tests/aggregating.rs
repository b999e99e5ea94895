//! Aggregations over random documents, compared with the plainest reading of all documents:
//! several segments, deleted documents, blocks that are missing at first, one slice or several.

mod support;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use search::aggs::Reducer;
use search::aggs::shape::{Fields, Name, Out};
use search::dsl::parse_search;
use search::phase::{Progress, Shared, Slice};
use support::Chance;
use support::corpus::{Corpus, Doc};
use support::run::{How, plan, slice};

/// What an aggregation answers, as JSON text whose keys are sorted.
fn answer(corpus: &Corpus, body: &str, missing_once: bool, how: &How) -> json::Value {
    let request = parse_search(body.as_bytes(), &[]).expect("a good request");
    let view = corpus.view(missing_once);
    let plan = plan(&request, &corpus.mapping, &view);
    let shared = Arc::new(Shared::default());
    let slices = plan.cut(how.slices).into_iter();
    let found = slices.map(|parts| {
        let partial = slice(&plan, parts, &shared, how.work);
        partial.aggs.expect("asked for").expect("answered")
    });
    let mut reducer = Reducer::new(&request.aggs);
    reducer.shard(0, &plan, found.collect()).expect("of one index");
    object(&reducer.finish(65_536).expect("few buckets").expect("one shard"))
}

fn object(fields: &Fields) -> json::Value {
    let mut out = json::Object::new();
    for (name, value) in fields {
        let name = match name {
            Name::Plain(name) => name.to_string(),
            Name::Typed(_, name) => name.clone(),
        };
        out.insert(name, value_of(value));
    }
    json::Value::Object(out)
}

fn value_of(out: &Out) -> json::Value {
    match out {
        Out::Null => json::Value::Null,
        Out::Bool(value) => json::Value::Bool(*value),
        Out::Long(value) => (*value).into(),
        Out::Unsigned(value) => (*value as i64).into(),
        Out::Double(value) => (*value).into(),
        Out::Float(value) => (*value).into(),
        Out::Text(text) => json::Value::String(text.clone()),
        Out::Term(bytes) => json::Value::String(String::from_utf8_lossy(bytes).into_owned()),
        Out::Json(value) => value.clone(),
        Out::List(list) => json::Value::Array(list.iter().map(value_of).collect()),
        Out::Object(fields) => object(fields),
        Out::Hits(hits) => (hits.total as i64).into(),
    }
}

/// What stands at a path.
fn at<'a>(value: &'a json::Value, path: &str) -> &'a json::Value {
    path.split('/').fold(value, |value, key| value.get(key).unwrap_or(&json::Value::Null))
}

/// Documents that are not deleted and that `n >= least` finds (all without a bound).
fn found(corpus: &Corpus, least: Option<i64>) -> Vec<&Doc> {
    let docs = corpus.docs.iter().flatten().filter(|doc| !doc.deleted);
    docs.filter(|doc| least.is_none_or(|least| doc.n.iter().any(|n| *n >= least))).collect()
}

fn query(least: Option<i64>) -> String {
    match least {
        None => r#""query":{"match_all":{}}"#.to_owned(),
        Some(least) => format!(r#""query":{{"range":{{"n":{{"gte":{least}}}}}}}"#),
    }
}

/// Different tags of a document, sorted.
fn tags(doc: &Doc) -> Vec<&'static str> {
    let mut tags = doc.tags.clone();
    tags.sort_unstable();
    tags.dedup();
    tags
}

fn ways() -> Vec<(bool, How)> {
    vec![
        (false, How::default()),
        (true, How { work: 300, slices: 1 }),
        (false, How { work: 5000, slices: 3 }),
    ]
}

fn corpora() -> Vec<Corpus> {
    let sizes: [&[usize]; 4] = [&[300], &[40, 700, 5], &[5000, 90], &[1]];
    sizes.iter().zip(1..).map(|(sizes, seed)| Corpus::random(seed, sizes)).collect()
}

#[test]
fn terms_with_numbers_below_agree_with_a_plain_reading() {
    for corpus in corpora() {
        for least in [None, Some(0), Some(120), Some(1000)] {
            let mut plain: BTreeMap<&str, (u64, f64, u64)> = BTreeMap::new();
            for doc in found(&corpus, least) {
                for tag in tags(doc) {
                    let entry = plain.entry(tag).or_default();
                    entry.0 += 1;
                    entry.1 += doc.price.iter().sum::<f64>();
                    entry.2 += doc.price.len() as u64;
                }
            }
            let mut want: Vec<(&str, u64, f64, u64)> =
                plain.into_iter().map(|(tag, (n, sum, count))| (tag, n, sum, count)).collect();
            want.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
            let body = format!(
                r#"{{"size":0,{},"aggs":{{"t":{{"terms":{{"field":"tags"}},"aggs":{{
                "s":{{"sum":{{"field":"price"}}}},"c":{{"value_count":{{"field":"price"}}}}}}}}}}}}"#,
                query(least)
            );
            for (missing_once, how) in ways() {
                let answer = answer(&corpus, &body, missing_once, &how);
                let buckets = at(&answer, "t/buckets").as_array().expect("buckets");
                let shown: Vec<(&str, u64, f64, u64)> = buckets
                    .iter()
                    .map(|bucket| {
                        (
                            at(bucket, "key").as_str().expect("a word"),
                            at(bucket, "doc_count").as_u64().expect("a count"),
                            at(bucket, "s/value").as_f64().expect("a sum"),
                            at(bucket, "c/value").as_u64().expect("a count"),
                        )
                    })
                    .collect();
                assert_eq!(shown.len(), want.len());
                for (shown, want) in shown.iter().zip(&want) {
                    assert_eq!((shown.0, shown.1, shown.3), (want.0, want.1, want.3));
                    assert!((shown.2 - want.2).abs() < 1e-6, "{shown:?} {want:?}");
                }
            }
        }
    }
}

/// Where nothing is deleted and all documents are asked for, the dictionary knows the counts.
#[test]
fn terms_of_whole_segments_agree_with_a_plain_reading() {
    for mut corpus in corpora() {
        for doc in corpus.docs.iter_mut().step_by(2).flatten() {
            doc.deleted = false;
        }
        let docs = found(&corpus, None);
        let mut plain: BTreeMap<&str, u64> = BTreeMap::new();
        for tag in docs.iter().flat_map(|doc| tags(doc)) {
            *plain.entry(tag).or_default() += 1;
        }
        let body = r#"{"size":0,"track_total_hits":true,"aggs":{
            "all":{"terms":{"field":"tags","size":100,"order":{"_key":"asc"}}},
            "some":{"terms":{"field":"tags","size":100,"order":{"_key":"asc"},"exclude":"[a-m].*"}},
            "column":{"terms":{"field":"stag","size":100,"order":{"_key":"asc"}}},
            "rare":{"rare_terms":{"field":"tags","max_doc_count":100}}}}"#;
        let alone = r#"{"size":0,"track_total_hits":true,"aggs":{
            "all":{"terms":{"field":"tags","size":100,"order":{"_key":"asc"}}},
            "some":{"terms":{"field":"tags","size":100,"order":{"_key":"asc"},"exclude":"[a-m].*"}},
            "rare":{"rare_terms":{"field":"tags","max_doc_count":100}}}}"#;
        for (missing_once, how) in ways() {
            for body in [body, alone] {
                let answer = answer(&corpus, body, missing_once, &how);
                let shown = |path: &str| -> BTreeMap<String, u64> {
                    let buckets = at(&answer, path).as_array().expect("buckets").iter();
                    let pair = |bucket| {
                        let key = at(bucket, "key").as_str().expect("a word").to_owned();
                        (key, at(bucket, "doc_count").as_u64().expect("a count"))
                    };
                    buckets.map(pair).collect()
                };
                let want = |keep: &dyn Fn(&str, u64) -> bool| -> BTreeMap<String, u64> {
                    let kept = plain.iter().filter(|(tag, count)| keep(tag, **count));
                    kept.map(|(tag, count)| ((*tag).to_owned(), *count)).collect()
                };
                assert_eq!(shown("all/buckets"), want(&|_, _| true));
                assert_eq!(shown("some/buckets"), want(&|tag, _| tag > "n"));
                assert_eq!(shown("rare/buckets"), want(&|_, count| count <= 100));
            }
        }
        let request = parse_search(alone.as_bytes(), &[]).expect("a good request");
        let plan = plan(&request, &corpus.mapping, &corpus.view(false));
        let shared = Arc::new(Shared::default());
        let slices = plan.cut(3).into_iter();
        let count: u64 = slices.map(|parts| slice(&plan, parts, &shared, 5000).count).sum();
        assert_eq!(count, docs.len() as u64);
    }
}

/// Where one segment is all of a shard, it makes only the buckets that the shard sends.
#[test]
fn the_most_frequent_terms_agree_with_a_plain_reading() {
    for corpus in corpora() {
        for least in [None, Some(120)] {
            let mut plain: BTreeMap<&str, u64> = BTreeMap::new();
            for tag in found(&corpus, least).iter().flat_map(|doc| tags(doc)) {
                *plain.entry(tag).or_default() += 1;
            }
            let total: u64 = plain.values().sum();
            let mut want: Vec<(&str, u64)> = plain.into_iter().collect();
            want.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
            want.truncate(2);
            let others = total - want.iter().map(|(_, count)| count).sum::<u64>();
            for sizes in [r#""size":2"#, r#""size":2,"shard_size":2"#] {
                let body = format!(
                    r#"{{"size":0,{},"aggs":{{"t":{{"terms":{{"field":"tags",{sizes}}}}}}}}}"#,
                    query(least)
                );
                for (missing_once, how) in ways() {
                    let answer = answer(&corpus, &body, missing_once, &how);
                    let buckets = at(&answer, "t/buckets").as_array().expect("buckets").iter();
                    let shown: Vec<(&str, u64)> = buckets
                        .map(|it| (at(it, "key").as_str().expect("a word"), at(it, "doc_count")))
                        .map(|(key, count)| (key, count.as_u64().expect("a count")))
                        .collect();
                    assert_eq!(shown, want, "{body}");
                    assert_eq!(at(&answer, "t/sum_other_doc_count").as_u64(), Some(others));
                    assert_eq!(at(&answer, "t/doc_count_error_upper_bound").as_u64(), Some(0));
                }
            }
        }
    }
}

#[test]
fn numbers_of_columns_agree_with_a_plain_reading() {
    let body = |least| {
        format!(
            r#"{{"size":0,{},"aggs":{{"p":{{"stats":{{"field":"price"}}}},
            "n":{{"stats":{{"field":"n","missing":7}}}},
            "d":{{"cardinality":{{"field":"n"}}}},"t":{{"cardinality":{{"field":"tags"}}}},
            "q":{{"percentiles":{{"field":"price","percents":[0,30,100]}}}},
            "m":{{"missing":{{"field":"price"}}}},"g":{{"global":{{}},"aggs":{{
            "v":{{"value_count":{{"field":"n"}}}}}}}}}}}}"#,
            query(least)
        )
    };
    for corpus in corpora() {
        for least in [None, Some(50)] {
            let docs = found(&corpus, least);
            let mut prices: Vec<f64> = docs.iter().flat_map(|doc| doc.price.clone()).collect();
            prices.sort_by(f64::total_cmp);
            let n: Vec<f64> = docs
                .iter()
                .flat_map(|doc| match doc.n.is_empty() {
                    true => vec![7.0],
                    false => doc.n.iter().map(|n| *n as f64).collect(),
                })
                .collect();
            let mut distinct: Vec<i64> = docs.iter().flat_map(|doc| doc.n.clone()).collect();
            distinct.sort_unstable();
            distinct.dedup();
            let mut words: Vec<&str> = docs.iter().flat_map(|doc| tags(doc)).collect();
            words.sort_unstable();
            words.dedup();
            let all = found(&corpus, None);
            for (missing_once, how) in ways() {
                let answer = answer(&corpus, &body(least), missing_once, &how);
                let near = |shown: &json::Value, want: f64| {
                    let shown = shown.as_f64().expect("a number");
                    assert!((shown - want).abs() <= 1e-6 * want.abs().max(1.0), "{shown} {want}");
                };
                assert_eq!(at(&answer, "p/count").as_u64(), Some(prices.len() as u64));
                assert_eq!(at(&answer, "n/count").as_u64(), Some(n.len() as u64));
                near(at(&answer, "p/sum"), prices.iter().sum());
                near(at(&answer, "n/sum"), n.iter().sum());
                if let (Some(first), Some(last)) = (prices.first(), prices.last()) {
                    near(at(&answer, "p/min"), *first);
                    near(at(&answer, "p/max"), *last);
                    near(at(&answer, "q/values/0.0"), *first);
                    near(at(&answer, "q/values/100.0"), *last);
                    if prices.len() < 2000 {
                        let index = 0.3 * (prices.len() - 1) as f64;
                        let low = prices[index.floor() as usize];
                        let high = prices[index.ceil() as usize];
                        near(at(&answer, "q/values/30.0"), low + index.fract() * (high - low));
                    }
                }
                assert_eq!(at(&answer, "d/value").as_u64(), Some(distinct.len() as u64));
                assert_eq!(at(&answer, "t/value").as_u64(), Some(words.len() as u64));
                let without = docs.iter().filter(|doc| doc.price.is_empty()).count() as u64;
                assert_eq!(at(&answer, "m/doc_count").as_u64(), Some(without));
                assert_eq!(at(&answer, "g/doc_count").as_u64(), Some(all.len() as u64));
                let values = all.iter().map(|doc| doc.n.len()).sum::<usize>() as u64;
                assert_eq!(at(&answer, "g/v/value").as_u64(), Some(values));
            }
        }
    }
}

/// Key and count of each bucket.
fn counts(buckets: &json::Value) -> Vec<(f64, u64)> {
    let buckets = buckets.as_array().expect("buckets");
    let pair = |bucket: &json::Value| {
        (
            at(bucket, "key").as_f64().expect("a number"),
            at(bucket, "doc_count").as_u64().expect("a count"),
        )
    };
    buckets.iter().map(pair).collect()
}

#[test]
fn histograms_and_ranges_agree_with_a_plain_reading() {
    let mut chance = Chance::new(11);
    for corpus in corpora() {
        for least in [None, Some(30)] {
            let width = 1 + chance.below(40) as i64;
            let body = format!(
                r#"{{"size":0,{},"aggs":{{
                "h":{{"histogram":{{"field":"n","interval":{width}}}}},
                "m":{{"date_histogram":{{"field":"day","calendar_interval":"month"}}}},
                "w":{{"date_histogram":{{"field":"day","fixed_interval":"7d","min_doc_count":1}}}},
                "r":{{"range":{{"field":"n","ranges":[{{"to":0}},{{"from":-10,"to":60}},{{"from":60}}]}}}},
                "f":{{"filters":{{"other_bucket_key":"z","filters":{{
                "a":{{"term":{{"tags":"rare"}}}},"b":{{"range":{{"n":{{"gte":100}}}}}}}}}}}}}}}}"#,
                query(least)
            );
            let docs = found(&corpus, least);
            let grouped = |keys: &dyn Fn(&Doc) -> Vec<i64>| -> BTreeMap<i64, u64> {
                let mut counts = BTreeMap::new();
                for doc in &docs {
                    let mut keys = keys(doc);
                    keys.sort_unstable();
                    keys.dedup();
                    for key in keys {
                        *counts.entry(key).or_default() += 1;
                    }
                }
                counts
            };
            let by_width =
                grouped(&|doc| doc.n.iter().map(|n| n.div_euclid(width) * width).collect());
            const WEEK: i64 = 7 * 86_400_000;
            let by_week =
                grouped(&|doc| doc.day.iter().map(|ms| ms.div_euclid(WEEK) * WEEK).collect());
            for (missing_once, how) in ways() {
                let answer = answer(&corpus, &body, missing_once, &how);
                let shown: Vec<(i64, u64)> = counts(at(&answer, "h/buckets"))
                    .into_iter()
                    .map(|(key, count)| (key as i64, count))
                    .collect();
                let filled: Vec<(i64, u64)> = match (by_width.keys().next(), by_width.keys().last())
                {
                    (Some(first), Some(last)) => (*first..=*last)
                        .step_by(width as usize)
                        .map(|key| (key, by_width.get(&key).copied().unwrap_or(0)))
                        .collect(),
                    _ => Vec::new(),
                };
                assert_eq!(shown, filled);
                let shown: Vec<(i64, u64)> = counts(at(&answer, "w/buckets"))
                    .into_iter()
                    .map(|(key, count)| (key as i64, count))
                    .collect();
                assert_eq!(shown, by_week.clone().into_iter().collect::<Vec<_>>());
                let months: u64 =
                    counts(at(&answer, "m/buckets")).iter().map(|(_, count)| count).sum();
                let with_day = docs.iter().filter(|doc| !doc.day.is_empty()).count() as u64;
                assert_eq!(months, with_day);
                let any = |test: &dyn Fn(i64) -> bool| {
                    docs.iter().filter(|doc| doc.n.iter().any(|n| test(*n))).count() as u64
                };
                let ranges: Vec<u64> = at(&answer, "r/buckets")
                    .as_array()
                    .expect("buckets")
                    .iter()
                    .map(|bucket| at(bucket, "doc_count").as_u64().expect("a count"))
                    .collect();
                let want = [any(&|n| n < 0), any(&|n| (-10..60).contains(&n)), any(&|n| n >= 60)];
                assert_eq!(ranges, want);
                let rare = |doc: &Doc| doc.tags.contains(&"rare");
                let high = |doc: &Doc| doc.n.iter().any(|n| *n >= 100);
                let count = |test: &dyn Fn(&Doc) -> bool| {
                    Some(docs.iter().filter(|doc| test(doc)).count() as u64)
                };
                let filters = at(&answer, "f/buckets");
                assert_eq!(at(filters, "a/doc_count").as_u64(), count(&|doc| rare(doc)));
                assert_eq!(at(filters, "b/doc_count").as_u64(), count(&|doc| high(doc)));
                let rest = count(&|doc| !rare(doc) && !high(doc));
                assert_eq!(at(filters, "z/doc_count").as_u64(), rest);
            }
        }
    }
}

#[test]
fn pages_of_combinations_give_each_once() {
    for corpus in corpora() {
        let mut plain: BTreeMap<(String, i64), u64> = BTreeMap::new();
        for doc in found(&corpus, None) {
            let mut numbers: Vec<i64> = doc.n.iter().map(|n| n.div_euclid(25) * 25).collect();
            numbers.sort_unstable();
            numbers.dedup();
            for tag in tags(doc) {
                for number in &numbers {
                    *plain.entry((tag.to_owned(), *number)).or_default() += 1;
                }
            }
        }
        for (missing_once, how) in ways() {
            let mut after = String::new();
            let mut seen = Vec::new();
            for _ in 0..1000 {
                let body = format!(
                    r#"{{"size":0,"aggs":{{"c":{{"composite":{{"size":7{after},"sources":[
                    {{"t":{{"terms":{{"field":"tags"}}}}}},
                    {{"n":{{"histogram":{{"field":"n","interval":25}}}}}}]}}}}}}}}"#
                );
                let answer = answer(&corpus, &body, missing_once, &how);
                let buckets = at(&answer, "c/buckets").as_array().expect("buckets");
                for bucket in buckets {
                    let key = at(bucket, "key");
                    seen.push((
                        (
                            at(key, "t").as_str().expect("a word").to_owned(),
                            at(key, "n").as_f64().expect("a number") as i64,
                        ),
                        at(bucket, "doc_count").as_u64().expect("a count"),
                    ));
                }
                if buckets.is_empty() {
                    break;
                }
                after = format!(r#","after":{}"#, json::to_string(at(&answer, "c/after_key")));
            }
            assert_eq!(seen, plain.clone().into_iter().collect::<Vec<_>>());
        }
    }
}

/// Documents of many values were taken at one go by metrics over several fields, and counted nowhere.
#[test]
fn metrics_of_several_fields_take_many_values_in_many_steps() {
    let docs = (0..400i64).map(|number| Doc {
        id: format!("d{number}"),
        n: (0..400).map(|value| value + number % 3).collect(),
        price: vec![if number % 2 == 0 { 1.0 } else { 3.0 }],
        ..Doc::default()
    });
    let corpus = Corpus::of(vec![docs.collect()]);
    let mean = |numbers: &dyn Fn(&Doc) -> (f64, f64)| {
        let all = corpus.docs.iter().flatten().map(numbers);
        let (sum, weight) = all.fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        sum / weight
    };
    let sum = |doc: &Doc| doc.n.iter().sum::<i64>() as f64;
    let weighted = mean(&|doc| (sum(doc) * doc.price[0], 400.0 * doc.price[0]));
    let plain = mean(&|doc| (sum(doc) / 400.0, 1.0));
    for (agg, path, expected) in [
        (
            r#"{"weighted_avg":{"value":{"field":"n"},"weight":{"field":"price"}}}"#,
            "a/value",
            weighted,
        ),
        (r#"{"matrix_stats":{"fields":["n","price"]}}"#, "a/doc_count", 400.0),
        (
            r#"{"t_test":{"a":{"field":"n"},"b":{"field":"n"},"type":"heteroscedastic"}}"#,
            "a/value",
            1.0,
        ),
        (r#"{"avg":{"field":"n"}}"#, "a/value", plain),
    ] {
        let body = format!(r#"{{"size":0,"aggs":{{"a":{agg}}}}}"#);
        let request = parse_search(body.as_bytes(), &[]).expect("a good request");
        let plan = plan(&request, &corpus.mapping, &corpus.view(false));
        let parts = plan.cut(1).remove(0);
        let mut slice = Slice::new(Arc::clone(&plan), parts, Arc::new(Shared::default()));
        let mut steps = 0;
        loop {
            match slice.step_on_core(10_000, &|| Duration::ZERO).expect("a whole segment") {
                Progress::Done => break,
                Progress::More => steps += 1,
                Progress::Missing(mut missing) => missing.fetch(),
            }
        }
        assert!(steps > 20, "{agg}: {steps} steps");
        let found = slice.finish().aggs.expect("asked for").expect("answered");
        let mut reducer = Reducer::new(&request.aggs);
        reducer.shard(0, &plan, vec![found]).expect("of one index");
        let whole = object(&reducer.finish(65_536).expect("few buckets").expect("one shard"));
        let value = at(&whole, path).as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-9 * expected.abs(), "{agg}: {value} {expected}");
    }
}

/// Collectors that were still empty took thirty times as long a document as was reckoned: 8 ms a step.
#[test]
fn what_takes_longer_than_it_should_ends_its_steps_by_the_clock() {
    let corpus = Corpus::random(5, &[3_000, 2_000]);
    let aggs = r#"{"t":{"terms":{"field":"tags"},"aggs":{"c":{"cardinality":{"field":"n"}}}}}"#;
    let request =
        parse_search(format!(r#"{{"size":0,"aggs":{aggs}}}"#).as_bytes(), &[]).expect("reads well");
    let plan = plan(&request, &corpus.mapping, &corpus.view(false));
    let run = |tick: Duration| {
        let parts = plan.cut(1).remove(0);
        let mut slice = Slice::new(Arc::clone(&plan), parts, Arc::new(Shared::default()));
        let now = Cell::new(Duration::ZERO);
        let clock = || now.replace(now.get() + tick);
        let mut steps = 0;
        loop {
            match slice.step_on_core(50_000, &clock).expect("a whole segment") {
                Progress::Done => break,
                Progress::More => steps += 1,
                Progress::Missing(mut missing) => missing.fetch(),
            }
        }
        let found = slice.finish().aggs.expect("asked for").expect("answered");
        let mut reducer = Reducer::new(&request.aggs);
        reducer.shard(0, &plan, vec![found]).expect("of one index");
        (steps, reducer.finish(65_536).expect("few buckets").expect("one shard"))
    };
    let (few, found) = run(Duration::ZERO);
    let (many, same) = run(Duration::from_millis(1));
    assert!(many > 2 * few + 20, "{few} and {many}");
    assert_eq!(object(&found), object(&same));
}
