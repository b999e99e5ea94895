//! Phrases, intervals and spans in documents with many positions: as a plain reading finds them, and in
//! small steps or beside the core.

mod support;

use std::sync::Arc;
use std::time::Duration;

use search::dsl::parse_search;
use search::phase::{self, Progress, Shared, Slice};
use support::Chance;
use support::brute::Stats;
use support::corpus::{Corpus, Doc};
use support::run::{How, plan, search};

/// Documents of a few words said often, beside short ones.
fn corpus() -> Corpus {
    let mut chance = Chance::new(5);
    let mut doc = |number: usize, len: usize, words: &[&'static str]| Doc {
        id: format!("d{number}"),
        body: (0..len).map(|_| *chance.pick(words)).collect(),
        ..Doc::default()
    };
    let all = ["river", "gate", "golden", "the", "house"];
    let docs = (0..12).map(|at| match at % 6 {
        0 => doc(at, 9_000, &all[..2]),
        1 => doc(at, 6_000, &all),
        2 => doc(at, 12_000, &all[..1]),
        _ => doc(at, 12, &all),
    });
    Corpus::of(vec![docs.collect()])
}

fn found(corpus: &Corpus, query: &str, how: &How, missing: bool) -> Vec<(u32, f32)> {
    let body = format!("{{\"size\":100,\"query\":{query}}}");
    let request = parse_search(body.as_bytes(), &[]).expect("reads well");
    let (merged, _) = search(&request, &corpus.mapping, &corpus.view(missing), how);
    let mut hits: Vec<(u32, f32)> =
        merged.winners.iter().map(|hit| (hit.ranked.doc.get(), hit.ranked.score)).collect();
    hits.sort_by_key(|(doc, _)| *doc);
    hits
}

fn phrase(words: &str, slop: u32) -> String {
    format!("{{\"match_phrase\":{{\"body\":{{\"query\":\"{words}\",\"slop\":{slop}}}}}}}")
}

#[test]
fn phrases_in_long_documents_are_those_of_a_plain_reading() {
    let corpus = corpus();
    let stats = Stats::new(&corpus);
    let often = "river ".repeat(20);
    for words in ["river gate", "gate gate river", "golden the", "river river", often.trim()] {
        let query = phrase(words, 0);
        let body = format!("{{\"query\":{query}}}");
        let request = parse_search(body.as_bytes(), &[]).expect("reads well");
        let asked = request.query.expect("a query");
        let expected: Vec<(u32, f32)> = (0u32..)
            .zip(&corpus.docs[0])
            .filter_map(|(at, doc)| Some((at, stats.score(doc, &asked, 1.0)?)))
            .collect();
        assert!(!expected.is_empty(), "{words}");
        for missing in [false, true] {
            for work in [1, 100_000] {
                let how = How { slices: 1, work };
                let all = found(&corpus, &query, &how, missing);
                assert_eq!(all.len(), expected.len(), "{words}");
                for (found, wanted) in all.iter().zip(&expected) {
                    assert_eq!(found.0, wanted.0, "{words}");
                    assert!((found.1 - wanted.1).abs() < 1e-3, "{words}: {found:?} {wanted:?}");
                }
            }
        }
    }
}

/// Where a turn ends does not matter, nor whether scores are asked for.
#[test]
fn phrases_with_slop_and_prefixes_go_on_where_they_stopped() {
    let corpus = corpus();
    let prefix = r#"{"match_phrase_prefix":{"body":{"query":"river river g","slop":1}}}"#;
    let plain = r#"{"match_phrase_prefix":{"body":"river river g"}}"#;
    for query in [
        phrase("river gate", 2),
        phrase("river gate river", 3),
        phrase("gate gate gate", 1),
        phrase("river river river river river river river river river river", 4),
        prefix.to_owned(),
        plain.to_owned(),
    ] {
        let whole = found(&corpus, &query, &How { slices: 1, work: 100_000_000 }, false);
        assert!(whole.len() >= 2, "{query}: {whole:?}");
        let filter = format!("{{\"bool\":{{\"filter\":{query}}}}}");
        for work in [1, 5_000] {
            for missing in [false, true] {
                let how = How { slices: 1, work };
                assert_eq!(found(&corpus, &query, &how, missing), whole, "{query}");
                let there: Vec<u32> =
                    found(&corpus, &filter, &how, missing).iter().map(|it| it.0).collect();
                assert!(there.iter().eq(whole.iter().map(|(doc, _)| doc)), "{query}");
            }
        }
    }
}

/// Each document asked all words of the prefix whether they stand in it: a core was held for minutes.
#[test]
fn a_prefix_of_many_words_finds_those_that_stand_there() {
    const WORDS: usize = 600;
    let words: Vec<&'static str> = (0..WORDS).map(|at| &*format!("w{at:04}").leak()).collect();
    // Three windows; each word stands in each of them.
    let docs = (0..9_000).map(|at| {
        let mut body = vec!["gate"];
        body.extend((at % 3 == 0).then_some("the"));
        body.push(words[at % WORDS]);
        body.extend((at % 10 == 0).then_some("river"));
        Doc { id: format!("d{at}"), body, ..Doc::default() }
    });
    let corpus = Corpus::of(vec![docs.collect()]);
    let asked = r#"{"match_phrase_prefix":{"body":{"query":"gate w","max_expansions":600}}}"#;
    let river = r#"{"term":{"body":"river"}}"#;
    let both =
        |must: &str, filter: &str| format!(r#"{{"bool":{{"must":{must},"filter":{filter}}}}}"#);
    for (query, every) in
        [(asked.to_owned(), 1), (both(asked, river), 10), (both(river, asked), 10)]
    {
        let expected: Vec<u32> = (0..9_000).filter(|at| at % 3 != 0 && at % every == 0).collect();
        let body = format!("{{\"size\":10000,\"query\":{query}}}");
        let request = parse_search(body.as_bytes(), &[]).expect("reads well");
        for (missing, work) in [(false, 100_000), (false, 5_000), (true, 100_000)] {
            let how = How { slices: 1, work };
            let (merged, _) = search(&request, &corpus.mapping, &corpus.view(missing), &how);
            let mut docs: Vec<u32> =
                merged.winners.iter().map(|hit| hit.ranked.doc.get()).collect();
            docs.sort_unstable();
            assert_eq!(docs, expected, "{query} {missing} {work}");
        }
    }
}

/// One document said a word so often that a phrase of it held a core for seconds.
#[test]
fn a_word_said_very_often_takes_many_steps() {
    let corpus = Corpus::of(vec![vec![Doc {
        id: "d1".to_owned(),
        body: vec!["river"; 100_000],
        ..Doc::default()
    }]]);
    for slop in [0, 2] {
        let body = format!("{{\"query\":{}}}", phrase("river river river river", slop));
        let request = parse_search(body.as_bytes(), &[]).expect("reads well");
        let plan = plan(&request, &corpus.mapping, &corpus.view(false));
        let parts = plan.cut(1).remove(0);
        let mut slice = Slice::new(Arc::clone(&plan), parts, Arc::new(Shared::default()));
        let mut steps = 0;
        loop {
            match slice.step(10_000).expect("a whole segment") {
                Progress::More => steps += 1,
                Progress::Missing(mut missing) => missing.fetch(),
                Progress::Done => break,
            }
        }
        assert!(steps > 20, "{steps} steps with slop {slop}");
    }
}

/// Lists of sixty million positions were compared one with each other, on the core.
#[test]
fn rules_about_many_places_are_left_to_a_worker() {
    let corpus = corpus();
    let term = |word: &str| format!("{{\"span_term\":{{\"body\":\"{word}\"}}}}");
    let near = |slop: u32| {
        let clauses = format!("[{},{}]", term("river"), term("gate"));
        format!("{{\"span_near\":{{\"clauses\":{clauses},\"slop\":{slop},\"in_order\":true}}}}")
    };
    let not = |include: &str, exclude: &str| {
        format!("{{\"span_not\":{{\"include\":{include},\"exclude\":{exclude}}}}}")
    };
    let intervals = |rule: &str| format!("{{\"intervals\":{{\"body\":{rule}}}}}");
    for (query, least) in [
        (near(0), 4),
        (not(&term("river"), &term("gate")), 8),
        (not(&near(1), &term("golden")), 4),
        (intervals(r#"{"match":{"query":"river gate","ordered":true,"max_gaps":1}}"#), 4),
        (
            intervals(
                r#"{"match":{"query":"river","filter":{"not_overlapping":{"match":{"query":"gate"}}}}}"#,
            ),
            8,
        ),
    ] {
        let whole = found(&corpus, &query, &How { slices: 1, work: 100_000 }, false);
        assert!(whole.len() >= least, "{query}: {whole:?}");
        let body = format!("{{\"size\":100,\"query\":{query}}}");
        let request = parse_search(body.as_bytes(), &[]).expect("reads well");
        let plan = plan(&request, &corpus.mapping, &corpus.view(false));
        let parts = plan.cut(1).remove(0);
        let mut slice = Slice::new(Arc::clone(&plan), parts, Arc::new(Shared::default()));
        let mut left = 0;
        loop {
            let is_heavy = slice.is_heavy();
            left += usize::from(is_heavy);
            let progress = if is_heavy {
                slice.step(10_000)
            } else {
                slice.step_on_core(10_000, &|| Duration::ZERO)
            };
            match progress.expect("a whole segment") {
                Progress::More => {}
                Progress::Missing(mut missing) => missing.fetch(),
                Progress::Done => break,
            }
        }
        assert!(left > 0, "{query}: nothing was left to a worker");
        let merged = phase::merge(&request, vec![(0, slice.finish())]);
        let mut hits: Vec<(u32, f32)> =
            merged.winners.iter().map(|hit| (hit.ranked.doc.get(), hit.ranked.score)).collect();
        hits.sort_by_key(|(doc, _)| *doc);
        assert_eq!(hits, whole, "{query}");
    }
    // Of words that are rare nothing is left.
    let body = format!("{{\"query\":{}}}", intervals(r#"{"match":{"query":"fox dog"}}"#));
    let request = parse_search(body.as_bytes(), &[]).expect("reads well");
    let plan = plan(&request, &corpus.mapping, &corpus.view(false));
    let mut slice =
        Slice::new(Arc::clone(&plan), plan.cut(1).remove(0), Arc::new(Shared::default()));
    while !matches!(slice.step_on_core(10_000, &|| Duration::ZERO), Ok(Progress::Done)) {
        assert!(!slice.is_heavy());
    }
}
