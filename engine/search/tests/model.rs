//! Searches compared with the plainest reading of the same documents, and with themselves: pruned,
//! cut into slices, in tiny steps, over blocks that all miss once.

mod support;

use search::SearchRequest;
use search::dsl::parse_search;
use search::request::TrackTotal;
use search::result::{Relation, Total};
use support::Chance;
use support::brute::Stats;
use support::corpus::{Corpus, TAGS, WORDS};
use support::run::{How, search};

/// A random query, as JSON.
fn query(chance: &mut Chance, depth: usize) -> String {
    let kind = chance.below(if depth == 0 { 15 } else { 24 });
    let text = |chance: &mut Chance, most: usize| {
        let len = 1 + chance.below(most);
        (0..len).map(|_| *chance.pick(&WORDS)).collect::<Vec<_>>().join(" ")
    };
    let field = *chance.pick(&["title", "body", "body"]);
    let boost = *chance.pick(&["1", "1", "1", "0.5", "3"]);
    match kind {
        0 => "{\"match_all\":{}}".into(),
        1..=3 => format!(
            "{{\"match\":{{\"{field}\":{{\"query\":\"{}\",\"boost\":{boost}}}}}}}",
            text(chance, 5)
        ),
        4 => format!(
            "{{\"match\":{{\"{field}\":{{\"query\":\"{}\",\"operator\":\"and\",\"boost\":{boost}}}}}}}",
            text(chance, 3)
        ),
        5 => {
            let minimum = chance.below(4) as i64 - 1;
            format!(
                "{{\"match\":{{\"{field}\":{{\"query\":\"the {} zebra\",\"minimum_should_match\":\"{minimum}\"}}}}}}",
                text(chance, 3)
            )
        }
        6 => format!("{{\"match_phrase\":{{\"{field}\":\"{}\"}}}}", text(chance, 3)),
        7 => format!("{{\"term\":{{\"tags\":\"{}\"}}}}", chance.pick(&TAGS)),
        8 => format!("{{\"term\":{{\"flag\":{}}}}}", chance.one_in(2)),
        9 => {
            let field = *chance.pick(&["n", "cn", "price"]);
            let from = chance.below(200) as i64 - 60;
            let to = from + chance.below(120) as i64;
            let (lower, upper) = (*chance.pick(&["gt", "gte"]), *chance.pick(&["lt", "lte"]));
            format!(
                "{{\"range\":{{\"{field}\":{{\"{lower}\":{from},\"{upper}\":{to},\"boost\":{boost}}}}}}}"
            )
        }
        10 => {
            let field = *chance.pick(&["tags", "stag"]);
            format!("{{\"range\":{{\"{field}\":{{\"gte\":\"new\",\"lt\":\"signed\"}}}}}}")
        }
        11 => {
            let field = *chance.pick(&["title", "tags", "stag", "n", "price", "flag", "empty"]);
            format!("{{\"exists\":{{\"field\":\"{field}\"}}}}")
        }
        12 => {
            let field = *chance.pick(&["tags", "stag"]);
            format!(
                "{{\"terms\":{{\"{field}\":[\"{}\",\"{}\",\"none\"]}}}}",
                chance.pick(&TAGS),
                chance.pick(&TAGS)
            )
        }
        13 => format!(
            "{{\"ids\":{{\"values\":[\"d1\",\"d{}\",\"d{}\",\"x\"]}}}}",
            chance.below(6000),
            chance.below(6000)
        ),
        14 => {
            let field = *chance.pick(&["body", "tags", "stag"]);
            match chance.one_in(2) {
                true => format!("{{\"prefix\":{{\"{field}\":\"s\"}}}}"),
                false => format!("{{\"wildcard\":{{\"{field}\":\"s*l\"}}}}"),
            }
        }
        15..=20 => {
            let list = |chance: &mut Chance, most: usize| {
                let count = chance.below(most);
                (0..count).map(|_| query(chance, depth - 1)).collect::<Vec<_>>()
            };
            let must = list(chance, 3);
            let should = list(chance, 4);
            let filter = list(chance, 2);
            let not = list(chance, 2);
            let mut parts = vec![
                format!("\"must\":[{}]", must.join(",")),
                format!("\"should\":[{}]", should.join(",")),
                format!("\"filter\":[{}]", filter.join(",")),
                format!("\"must_not\":[{}]", not.join(",")),
                format!("\"boost\":{boost}"),
            ];
            if chance.one_in(3) {
                parts.push(format!("\"minimum_should_match\":{}", chance.below(3)));
            }
            format!("{{\"bool\":{{{}}}}}", parts.join(","))
        }
        21 => format!(
            "{{\"constant_score\":{{\"filter\":{},\"boost\":{boost}}}}}",
            query(chance, depth - 1)
        ),
        22 => format!(
            "{{\"dis_max\":{{\"queries\":[{},{}],\"tie_breaker\":{}}}}}",
            query(chance, depth - 1),
            query(chance, depth - 1),
            chance.pick(&["0", "0.4", "1"])
        ),
        _ => format!(
            "{{\"boosting\":{{\"positive\":{},\"negative\":{},\"negative_boost\":0.3}}}}",
            query(chance, depth - 1),
            query(chance, depth - 1)
        ),
    }
}

fn request(body: &str) -> SearchRequest {
    match parse_search(body.as_bytes(), &[]) {
        Ok(request) => request,
        Err(error) => panic!("{body}: {error}"),
    }
}

/// Place and score of each hit.
type Found = Vec<(u32, u32, f32)>;

fn found(
    request: &SearchRequest,
    corpus: &Corpus,
    missing: bool,
    how: &How,
) -> (Found, Option<Total>) {
    let (merged, _) = search(request, &corpus.mapping, &corpus.view(missing), how);
    let hits = merged.winners.iter().map(|winner| &winner.ranked);
    (hits.map(|hit| (hit.segment, hit.doc.get(), hit.score)).collect(), merged.total)
}

fn close(a: f32, b: f32) -> bool {
    (a - b).abs() <= 2e-6 * a.abs().max(b.abs()) + 1e-9
}

/// One query in all the ways it can be run.
fn check(corpus: &Corpus, stats: &Stats<'_>, seed: u64) {
    let mut chance = Chance::new(seed);
    let text = query(&mut chance, 2);
    let count: usize = corpus.docs.iter().map(Vec::len).sum();
    let all = request(&format!("{{\"query\":{text},\"size\":{count},\"track_total_hits\":true}}"));
    let (exhaustive, total) = found(&all, corpus, false, &How::default());

    // Against the plain reading: the same documents, scores but for rounding.
    let asked = all.query.as_ref().expect("a query");
    let mut plain: Vec<(u32, u32, f32)> = Vec::new();
    for (docs, segment) in corpus.docs.iter().zip(0u32..) {
        for (doc, at) in docs.iter().zip(0u32..) {
            if !doc.deleted
                && let Some(score) = stats.score(doc, asked, 1.0)
            {
                plain.push((segment, at, score));
            }
        }
    }
    let mut by_place = exhaustive.clone();
    by_place.sort_by_key(|(segment, doc, _)| (*segment, *doc));
    let places = |found: &Found| found.iter().map(|(s, d, _)| (*s, *d)).collect::<Vec<_>>();
    assert_eq!(places(&by_place), places(&plain), "seed {seed}: {text}");
    for (ours, theirs) in by_place.iter().zip(&plain) {
        assert!(close(ours.2, theirs.2), "seed {seed}: {text}: {ours:?} {theirs:?}");
    }
    let exact = Total { value: plain.len() as u64, relation: Relation::Eq };
    assert_eq!(total, Some(exact), "seed {seed}: {text}");
    let sorted = exhaustive
        .windows(2)
        .all(|pair| pair[0].2 > pair[1].2 || pair[0].2 == pair[1].2 && pair[0] < pair[1]);
    assert!(sorted, "seed {seed}: {text}");

    // Against itself: pruned, cut, in small steps, with blocks that miss.
    let (from, size) = (chance.below(4), 1 + chance.below(15));
    let page = &exhaustive[from.min(exhaustive.len())..(from + size).min(exhaustive.len())];
    for (threshold, slices, work, missing) in [
        ("false", 1, 50_000, false),
        ("false", 3, 50_000, false),
        ("10", 1, 1, false),
        ("1000", 2, 300, true),
        ("true", 4, 50_000, false),
        ("false", 1, 2_000, true),
    ] {
        let body = format!(
            "{{\"query\":{text},\"from\":{from},\"size\":{size},\"track_total_hits\":{threshold}}}"
        );
        let how = How { work, slices };
        let (hits, total) = found(&request(&body), corpus, missing, &how);
        assert_eq!(hits, page, "seed {seed} {threshold} {slices} {work} {missing}: {text}");
        let expected = match threshold.parse::<u64>() {
            Ok(limit) if exact.value > limit => {
                Some(Total { value: limit, relation: Relation::Gte })
            }
            Ok(_) => Some(exact),
            Err(_) if threshold == "true" => Some(exact),
            Err(_) => None,
        };
        assert_eq!(total, expected, "seed {seed} {threshold} {slices}: {text}");
    }

    // Counts alone, which take other ways.
    for (threshold, missing) in [("true", false), ("100", true)] {
        let body = format!("{{\"query\":{text},\"size\":0,\"track_total_hits\":{threshold}}}");
        let (hits, total) = found(&request(&body), corpus, missing, &How::default());
        assert_eq!(hits, []);
        let expected = match threshold.parse::<u64>() {
            Ok(limit) if exact.value > limit => Total { value: limit, relation: Relation::Gte },
            _ => exact,
        };
        assert_eq!(total, Some(expected), "seed {seed} {threshold}: {text}");
    }
}

/// Seeds from `start` on: `count` of them, or `MODEL_SEEDS` times as many.
fn seeds(start: u64, count: u64) -> std::ops::Range<u64> {
    let times = std::env::var("MODEL_SEEDS").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    start..start + count * times
}

#[test]
fn small_segments_answer_as_a_plain_reading() {
    let corpus = Corpus::random(7, &[40, 1, 200, 3]);
    let stats = Stats::new(&corpus);
    for seed in seeds(0, 150) {
        check(&corpus, &stats, seed);
    }
}

#[test]
fn segments_of_several_windows_answer_as_a_plain_reading() {
    let corpus = Corpus::random(11, &[5000, 300]);
    let stats = Stats::new(&corpus);
    for seed in seeds(1000, 12) {
        check(&corpus, &stats, seed);
    }
}

#[test]
fn a_minimum_score_drops_hits_and_their_count() {
    let corpus = Corpus::random(5, &[800, 100]);
    for threshold in ["true", "false", "20"] {
        let all = request("{\"query\":{\"match\":{\"body\":\"river captain\"}},\"size\":900}");
        let (all, _) = found(&all, &corpus, false, &How::default());
        let least = all[all.len() / 3].2;
        let expected: Found = all.iter().copied().filter(|hit| hit.2 >= least).collect();
        let body = format!(
            "{{\"query\":{{\"match\":{{\"body\":\"river captain\"}}}},\"size\":20,\"min_score\":{least:?},\"track_total_hits\":{threshold}}}"
        );
        let request = request(&body);
        let (hits, total) = found(&request, &corpus, false, &How::default());
        assert_eq!(hits, expected[..20.min(expected.len())]);
        if request.total == TrackTotal::Exact {
            let value = expected.len() as u64;
            assert_eq!(total, Some(Total { value, relation: Relation::Eq }));
        }
    }
}
