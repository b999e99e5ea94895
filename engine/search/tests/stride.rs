//! Plans of which one window is more than a core may give are left to a worker, from their first step on; what
//! everybody asks is not.

mod support;

use std::sync::Arc;
use std::time::Duration;

use search::dsl::parse_search;
use search::phase::{Progress, Shared, Slice};
use support::corpus::{Corpus, Doc};
use support::run::plan;

/// Documents of three words that are said forty times each.
fn corpus(docs: usize) -> Corpus {
    let doc = |number: usize| Doc {
        id: format!("d{number}"),
        body: (0..120).map(|at| ["river", "gate", "golden"][at % 3]).collect(),
        ..Doc::default()
    };
    Corpus::of(vec![(0..docs).map(doc).collect()])
}

fn is_heavy(corpus: &Corpus, body: &str) -> bool {
    let request = parse_search(body.as_bytes(), &[]).expect("reads well");
    let plan = plan(&request, &corpus.mapping, &corpus.view(false));
    assert_eq!(plan.is_heavy_anywhere(), plan.is_heavy(0));
    let parts = plan.cut(1).remove(0);
    let mut slice = Slice::new(Arc::clone(&plan), parts, Arc::new(Shared::default()));
    assert_eq!(slice.is_heavy(), plan.is_heavy(0), "told before the first step");
    slice.is_heavy()
}

fn many(join: &str, count: usize, clause: &str) -> String {
    let clauses = vec![clause; count].join(",");
    format!("{{\"query\":{{\"bool\":{{\"{join}\":[{clauses}]}}}}}}")
}

#[test]
fn windows_of_dear_plans_are_left_to_a_worker() {
    let corpus = corpus(5_000);
    let phrase = |words: &str, slop: u32| {
        format!("{{\"match_phrase\":{{\"body\":{{\"query\":\"{words}\",\"slop\":{slop}}}}}}}")
    };
    let sloppy = phrase("golden river", 3);
    let exact = phrase("river gate", 0);
    let word = r#"{"match":{"body":"river"}}"#;
    let range = r#"{"range":{"n":{"gte":1}}}"#;
    let order = vec![r#"{"n":"asc"}"#; 1_000].join(",");
    for body in [
        format!("{{\"query\":{}}}", phrase("river gate golden river gate golden", 10)),
        many("filter", 10, &sloppy),
        many("should", 500, &exact),
        many("should", 4_000, word),
        many("must_not", 4_000, range),
        format!("{{\"sort\":[{order}]}}"),
    ] {
        assert!(is_heavy(&corpus, &body), "{}", &body[..body.len().min(300)]);
    }
    for body in [
        "{}".to_owned(),
        format!("{{\"query\":{word}}}"),
        many("must", 3, word),
        many("should", 20, word),
        many("filter", 20, range),
        r#"{"sort":["n",{"_score":"desc"},"_doc"]}"#.to_owned(),
    ] {
        assert!(!is_heavy(&corpus, &body), "{body}");
    }
    // Of words that stand in one document each it is the readers that cost: four thousand held a core 34 ms.
    let rare: Vec<&'static str> = (0..600).map(|at| &*format!("w{at}").leak()).collect();
    let words = |count: usize| {
        format!("{{\"query\":{{\"match\":{{\"body\":\"{}\"}}}}}}", rare[..count].join(" "))
    };
    let doc = Doc { id: "d0".into(), body: rare.clone(), ..Doc::default() };
    let short = Corpus::of(vec![vec![doc]]);
    assert_eq!([50, 600].map(|count| is_heavy(&short, &words(count))), [false, true]);
    // Each key is read of each document: steps are as much shorter.
    let steps = |keys: usize| {
        let body = format!("{{\"sort\":[{}]}}", vec![r#"{"n":"asc"}"#; keys].join(","));
        let request = parse_search(body.as_bytes(), &[]).expect("reads well");
        let plan = plan(&request, &corpus.mapping, &corpus.view(false));
        let parts = plan.cut(1).remove(0);
        let mut slice = Slice::new(plan, parts, Arc::new(Shared::default()));
        let mut steps = 1;
        while matches!(slice.step_on_core(6_000, &|| Duration::ZERO), Ok(Progress::More)) {
            steps += 1;
        }
        steps
    };
    assert!(steps(1) < steps(6), "{} and {} steps", steps(1), steps(6));
    assert!(steps(20_000) >= steps(6), "each step comes further");
    // Beside a word that nothing has, the others are asked about nothing.
    let rare = r#"{"match":{"body":"nowhere"}}"#;
    assert!(!is_heavy(&corpus, &many("must", 2, &[rare, &sloppy].join(","))));
}

/// By eighty keys four thousand hits of a window are read piece by piece: on a core in other pieces than on
/// a worker.
#[test]
fn an_order_of_many_keys_gives_the_hits_of_its_first_ones() {
    let corpus = Corpus::random(5, &[5_000, 200]);
    let view = corpus.view(false);
    let found = |keys: usize, rest: &str, on_core: bool| {
        let order = vec![r#"{"n":"asc"},{"tags":"desc"}"#; keys].join(",");
        let body = format!("{{\"sort\":[{order},\"_doc\"],\"size\":700{rest}}}");
        let request = parse_search(body.as_bytes(), &[]).expect("reads well");
        let plan = plan(&request, &corpus.mapping, &view);
        let parts = plan.cut(1).remove(0);
        let mut slice = Slice::new(plan, parts, Arc::new(Shared::default()));
        let mut steps = 0;
        let step = |slice: &mut Slice| match on_core {
            true => slice.step_on_core(6_000, &|| Duration::ZERO),
            false => {
                let work = slice.heavy_work();
                slice.step(work)
            }
        };
        while matches!(step(&mut slice), Ok(Progress::More)) {
            steps += 1;
        }
        assert_eq!(slice.ends_long(), keys > 10, "{keys} keys, twice");
        let partial = slice.finish();
        let hits: Vec<_> = partial.hits.iter().map(|hit| (hit.segment, hit.doc)).collect();
        let keys = partial.hits.iter().map(|hit| hit.keys.len()).max();
        (hits, partial.count, partial.terminated_early, keys, steps)
    };
    for rest in [
        "",
        ",\"track_total_hits\":true",
        ",\"terminate_after\":3000",
        ",\"query\":{\"match\":{\"body\":\"river\"}},\"track_scores\":true",
    ] {
        let few = found(1, rest, true);
        assert!(few.0.len() > 100, "{rest}");
        for on_core in [true, false] {
            let many = found(40, rest, on_core);
            assert_eq!((&many.0, many.1, many.2), (&few.0, few.1, few.2), "{rest} {on_core}");
            assert_eq!(many.3, Some(81));
            let few = found(1, rest, on_core).4;
            assert!(many.4 > few, "{} steps, {few} with few keys", many.4);
        }
    }
}

/// A worker looks at a dear window in parts, so that whoever waits has a turn in between.
#[test]
fn parts_of_dear_windows_find_what_whole_ones_find() {
    let corpus = corpus(1_000);
    let view = corpus.view(false);
    let sloppy = r#"{"match_phrase":{"body":{"query":"golden river","slop":3}}}"#;
    let exact = r#"{"match_phrase":{"body":"river gate"}}"#;
    let found = |body: &str, of_worker: bool| {
        let request = parse_search(body.as_bytes(), &[]).expect("reads well");
        let plan = plan(&request, &corpus.mapping, &view);
        let parts = plan.cut(1).remove(0);
        let mut slice = Slice::new(plan, parts, Arc::new(Shared::default()));
        let mut steps = 1;
        let step = |slice: &mut Slice| match of_worker {
            true => {
                let work = slice.heavy_work();
                slice.step(work)
            }
            false => slice.step_on_core(1, &|| Duration::ZERO),
        };
        while matches!(step(&mut slice), Ok(Progress::More)) {
            steps += 1;
        }
        (slice.finish(), steps)
    };
    for (join, clauses, more) in [
        ("should", [sloppy, exact], ""),
        ("should", [exact, sloppy], ",\"track_total_hits\":true"),
        ("must", [sloppy, exact], ",\"size\":100"),
    ] {
        let clauses = vec![clauses.join(","); 25].join(",");
        let body = format!("{{\"query\":{{\"bool\":{{\"{join}\":[{clauses}]}}}}{more}}}");
        let ((whole, _), (parts, steps)) = (found(&body, false), found(&body, true));
        assert!(!whole.hits.is_empty());
        assert_eq!(parts, whole, "{join} {more}");
        assert!(steps > 5, "{steps} steps");
    }
}
