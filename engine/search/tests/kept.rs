//! Filters that are kept change nothing but the time: the same hits, scores and totals, with deleted
//! documents among them, in whole files and in such whose blocks come later.

mod support;

use std::sync::Arc;

use env::budget::{Budget, Lease};
use search::dsl::parse_search;
use search::kept::KeptFilters;
use search::phase::{self, STEP_WORK, Shared};
use search::plan::Plan;
use search::request::SearchRequest;
use segment::{Missing, View};
use support::corpus::Corpus;
use support::run::{plan, slice};

const MIB: usize = 1 << 20;

/// Every place in which a rule may stand; `R` is the rule.
const QUERIES: [&str; 8] = [
    r#"{"bool":{"must":[{"match":{"body":"river storm king"}}],"filter":[R]}}"#,
    r#"{"bool":{"must":[{"match":{"body":{"query":"river house","operator":"and"}}}],"filter":[R]}}"#,
    r#"{"bool":{"must":[{"match_phrase":{"body":"the river"}}],"filter":[R]}}"#,
    r#"{"bool":{"must":[{"match":{"body":"gate"}}],"must_not":[R]}}"#,
    r#"{"bool":{"filter":[R,{"term":{"tags":"new"}}]}}"#,
    r#"{"constant_score":{"filter":R,"boost":3}}"#,
    r#"{"bool":{"should":[{"match":{"body":"wolf"}},{"constant_score":{"filter":R}}],"filter":[R]}}"#,
    r#"{"bool":{"must":[R,{"match":{"title":"golden gate"}}]}}"#,
];

/// Many documents, few, nearly all, none.
const RULES: [&str; 5] = [
    r#"{"range":{"n":{"gte":0,"lte":60}}}"#,
    r#"{"range":{"n":{"gte":7,"lt":8}}}"#,
    r#"{"range":{"cn":{"gte":-40}}}"#,
    r#"{"range":{"price":{"gt":5.5,"lt":9}}}"#,
    r#"{"range":{"n":{"gte":1000}}}"#,
];

fn lease() -> Lease {
    Budget::new(64 * MIB).lease()
}

fn request(query: &str, rule: &str, rest: &str) -> SearchRequest {
    let body = format!(r#"{{"query":{},{rest}}}"#, query.replace('R', rule));
    parse_search(body.as_bytes(), &[]).expect("reads well")
}

/// Hits with their scores, and the total.
type Answer = (Vec<(u32, u32, u32)>, Option<u64>);

fn answer(request: &SearchRequest, plan: &Arc<Plan>) -> Answer {
    let shared = Arc::new(Shared::default());
    let parts = plan.cut(1).into_iter();
    let partials = parts.map(|parts| (0, slice(plan, parts, &shared, STEP_WORK))).collect();
    let merged = phase::merge(request, partials);
    let ranked = merged.winners.iter().map(|winner| &winner.ranked);
    let hits = ranked.map(|it| (it.segment, it.doc.get(), it.score.to_bits())).collect();
    (hits, merged.total.map(|total| total.value))
}

/// Keeps what is worth it; answers how many were kept.
fn keep_all(kept: &mut KeptFilters, plan: &mut Arc<Plan>) -> usize {
    let wanted = kept.meet(plan);
    let count = wanted.len();
    for mut making in wanted {
        let mut missing = Missing::new();
        while !making.step(100, &mut missing) {
            missing.fetch();
        }
        kept.keep(making);
    }
    count
}

fn plan_of(request: &SearchRequest, corpus: &Corpus, view: &Arc<View>) -> Arc<Plan> {
    plan(request, &corpus.mapping, view)
}

#[test]
fn answers_are_those_of_filters_that_are_looked_for() {
    let corpus = Corpus::random(11, &[17_000, 300]);
    for missing_once in [false, true] {
        let view = corpus.view(missing_once);
        let mut kept = KeptFilters::new(MIB, lease());
        let mut count = 0;
        for rule in RULES {
            for query in QUERIES {
                for rest in [
                    r#""size":10"#,
                    r#""size":50,"track_total_hits":true"#,
                    r#""size":0,"track_total_hits":true"#,
                    r#""size":10,"track_total_hits":false"#,
                    r#""size":20,"sort":[{"n":"desc"}],"track_total_hits":300"#,
                ] {
                    let request = request(query, rule, rest);
                    let plain = answer(&request, &plan_of(&request, &corpus, &view));
                    for _ in 0..3 {
                        let mut plan = plan_of(&request, &corpus, &view);
                        count += keep_all(&mut kept, &mut plan);
                        assert_eq!(answer(&request, &plan), plain, "{query} {rule} {rest}");
                    }
                }
            }
        }
        assert!(count >= 3, "rules of many documents were kept: {count}");
    }
}

#[test]
fn a_rule_is_kept_when_it_is_asked_again_and_only_in_large_segments() {
    let corpus = Corpus::random(12, &[17_000, 300]);
    let view = corpus.view(false);
    let mut kept = KeptFilters::new(MIB, lease());
    let request = request(QUERIES[0], RULES[0], r#""size":1"#);
    let mut made = Vec::new();
    for _ in 0..3 {
        let mut plan = plan_of(&request, &corpus, &view);
        assert!(KeptFilters::concern(&plan));
        made.push(keep_all(&mut kept, &mut plan));
    }
    assert_eq!(made, [0, 1, 0]);
    assert_eq!(kept.len_bytes(), 5 * 4096 / 8, "a bit for each document of five windows");
    let small = Corpus::random(12, &[300]);
    assert!(!KeptFilters::concern(&plan_of(&request, &small, &small.view(false))));
}

#[test]
fn bytes_are_bounded_paid_for_and_given_back() {
    const ONE: usize = 5 * 4096 / 8;
    let corpus = Corpus::random(13, &[17_000]);
    let budget = Budget::new(64 * MIB);
    let mut kept = KeptFilters::new(8 * ONE, budget.lease());
    let view = corpus.view(false);
    for upper in 0..40 {
        let rule = format!(r#"{{"range":{{"n":{{"lte":{upper}}}}}}}"#);
        let request = request(QUERIES[0], &rule, r#""size":1"#);
        for _ in 0..2 {
            keep_all(&mut kept, &mut plan_of(&request, &corpus, &view));
        }
        assert!(kept.len_bytes() <= 8 * ONE);
    }
    assert!(kept.len_bytes() >= 4 * ONE, "some are kept");
    assert!(budget.leased_bytes() > 0);
    drop(view);
    let view = corpus.view(false);
    let request = request(QUERIES[0], RULES[0], r#""size":1"#);
    for _ in 0..2 {
        keep_all(&mut kept, &mut plan_of(&request, &corpus, &view));
    }
    assert_eq!(kept.len_bytes(), ONE, "what was kept of segments that are gone goes");
    drop(kept);
    assert_eq!(budget.leased_bytes(), 0);
}

#[test]
fn without_room_in_the_budget_nothing_is_kept() {
    let corpus = Corpus::random(14, &[17_000]);
    let budget = Budget::new(1000);
    let mut kept = KeptFilters::new(MIB, budget.lease());
    let view = corpus.view(false);
    let request = request(QUERIES[0], RULES[0], r#""size":1"#);
    for _ in 0..3 {
        let mut plan = plan_of(&request, &corpus, &view);
        assert_eq!(keep_all(&mut kept, &mut plan), 0);
    }
}
