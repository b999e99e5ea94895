//! Queries whose answers a plain reading tells, and all kinds of queries asked in several ways: as a
//! filter, cut into slices, in tiny steps, pruned. Each way must find the same.

mod support;

use std::sync::Arc;

use automaton::levenshtein;
use search::SearchRequest;
use search::dsl::parse_search;
use search::request::TrackTotal;
use segment::View;
use support::corpus::{Corpus, Doc, TAGS};
use support::run::{How, search};

/// Every kind that is scored by something of its own.
const QUERIES: [&str; 27] = [
    r#"{"match":{"body":{"query":"rivr golde","fuzziness":"AUTO"}}}"#,
    r#"{"match":{"body":{"query":"rivr golde","fuzziness":2,"operator":"and","max_expansions":3}}}"#,
    r#"{"match_phrase_prefix":{"body":"the s"}}"#,
    r#"{"match_phrase_prefix":{"body":{"query":"the river s","slop":3}}}"#,
    r#"{"match_phrase_prefix":{"body":{"query":"s","slop":2}}}"#,
    r#"{"match_bool_prefix":{"body":"river gold s"}}"#,
    r#"{"multi_match":{"query":"river gate","fields":["title^2","body"],"tie_breaker":0.3}}"#,
    r#"{"multi_match":{"query":"river gate","fields":["title","body"],"type":"most_fields"}}"#,
    r#"{"multi_match":{"query":"river gate","fields":["title","body"],"type":"cross_fields","operator":"and"}}"#,
    r#"{"combined_fields":{"query":"river gate silver","fields":["title^3","body"]}}"#,
    r#"{"query_string":{"query":"body:(river OR gat*) AND -title:wolf","default_field":"body"}}"#,
    r#"{"query_string":{"query":"+storm silver~1 \"of the\"~3","fields":["title","body^2"]}}"#,
    r#"{"simple_query_string":{"query":"river +gate | -wolf sil*","fields":["title","body"]}}"#,
    r#"{"regexp":{"body":{"value":"s.*r","rewrite":"scoring_boolean"}}}"#,
    r#"{"prefix":{"body":{"value":"s","rewrite":"top_terms_2"}}}"#,
    r#"{"fuzzy":{"tags":{"value":"sned","fuzziness":2}}}"#,
    r#"{"terms_set":{"tags":{"terms":["new","used","rare"],"minimum_should_match_field":"n"}}}"#,
    r#"{"terms_set":{"tags":{"terms":["new","used","rare"],"minimum_should_match":"2"}}}"#,
    r#"{"function_score":{"query":{"match":{"body":"river"}},"field_value_factor":{"field":"price","missing":1,"modifier":"square"}}}"#,
    r#"{"function_score":{"query":{"match":{"body":"river gate"}},"functions":[{"filter":{"term":{"tags":"new"}},"weight":3},{"gauss":{"n":{"origin":20,"scale":10}}}],"score_mode":"sum","min_score":1.5}}"#,
    r#"{"function_score":{"random_score":{"seed":7,"field":"n"},"boost_mode":"replace"}}"#,
    r#"{"more_like_this":{"fields":["body"],"like":"river gate silver the the","min_term_freq":1,"min_doc_freq":1}}"#,
    r#"{"intervals":{"body":{"all_of":{"ordered":true,"max_gaps":3,"intervals":[{"match":{"query":"river"}},{"prefix":{"prefix":"g"}}]}}}}"#,
    r#"{"intervals":{"body":{"match":{"query":"river gate","filter":{"not_containing":{"match":{"query":"the"}}}}}}}"#,
    r#"{"span_near":{"clauses":[{"span_term":{"body":"river"}},{"span_or":{"clauses":[{"span_term":{"body":"gate"}},{"span_term":{"body":"house"}}]}}],"slop":4,"in_order":false}}"#,
    r#"{"span_not":{"include":{"span_term":{"body":"river"}},"exclude":{"span_term":{"body":"the"}},"pre":1}}"#,
    r#"{"pinned":{"ids":["d3","d1"],"organic":{"match":{"body":"river"}}}}"#,
];

fn request(query: &str, size: u32) -> SearchRequest {
    let body = format!("{{\"size\":{size},\"query\":{query}}}");
    match parse_search(body.as_bytes(), &[]) {
        Ok(request) => SearchRequest { total: TrackTotal::Exact, ..request },
        Err(error) => panic!("{query}: {error}"),
    }
}

/// Hits as (document, score).
fn found(
    (corpus, view): (&Corpus, &Arc<View>),
    request: &SearchRequest,
    how: &How,
) -> Vec<(u32, u32, f32)> {
    let (merged, _) = search(request, &corpus.mapping, view, how);
    let place =
        |hit: &search::result::Winner| (hit.ranked.segment, hit.ranked.doc.get(), hit.ranked.score);
    merged.winners.iter().map(place).collect()
}

#[test]
fn each_way_of_asking_finds_the_same() {
    let corpus = Corpus::random(71, &[6_000, 400]);
    let view = corpus.view(false);
    for query in QUERIES {
        let all = found((&corpus, &view), &request(query, 10_000), &How::default());
        assert!(!all.is_empty(), "{query} finds something");
        let sliced = How { slices: 3, work: 700 };
        assert_eq!(
            found((&corpus, &view), &request(query, 10_000), &sliced),
            all,
            "{query} in slices"
        );
        let mut few = request(query, 10);
        few.total = TrackTotal::UpTo(5);
        assert_eq!(
            found((&corpus, &view), &few, &How::default()),
            all[..all.len().min(10)],
            "{query} pruned"
        );
        let missing = corpus.view(true);
        let late = found((&corpus, &missing), &request(query, 10_000), &How::default());
        assert_eq!(late, all, "{query} over blocks that come late");
        let filter = format!("{{\"bool\":{{\"filter\":{query}}}}}");
        let counted = found((&corpus, &view), &request(&filter, 10_000), &How::default());
        assert_eq!(counted.len(), all.len(), "{query} as a filter");
        // As a follower of another clause: looked up, not led by.
        let both =
            format!("{{\"bool\":{{\"must\":[{{\"ids\":{{\"values\":[\"d3\"]}}}},{query}]}}}}");
        let one = found((&corpus, &view), &request(&both, 10), &How::default());
        assert!(one.len() <= 1, "{query} looked up");
        if let Some((segment, doc, _)) = one.first() {
            assert!(all.iter().any(|(s, d, _)| (s, d) == (segment, doc)), "{query} looked up");
        }
    }
}

/// A filter of few documents leads over several windows at a time.
#[test]
fn few_documents_of_many_windows_are_all_scored() {
    let corpus = Corpus::random(13, &[9_300, 400]);
    let (view, missing) = (corpus.view(false), corpus.view(true));
    for every in [37, 97, 1_500] {
        let chosen = || corpus.docs.iter().flatten().step_by(every);
        let ids: Vec<String> = chosen().map(|doc| format!("{:?}", doc.id)).collect();
        let query = format!(
            r#"{{"bool":{{"must":{{"match":{{"body":"a river zebra"}}}},"filter":{{"ids":{{"values":[{}]}}}}}}}}"#,
            ids.join(",")
        );
        let has = |doc: &&Doc| ["a", "river", "zebra"].iter().any(|word| doc.body.contains(word));
        let expected = chosen().filter(|doc| !doc.deleted).filter(has).count();
        let all = found((&corpus, &view), &request(&query, 10_000), &How::default());
        assert_eq!(all.len(), expected, "one of {every}");
        let unfiltered = request(r#"{"match":{"body":"a river zebra"}}"#, 10_000);
        let scores = found((&corpus, &view), &unfiltered, &How::default());
        assert!(all.iter().all(|one| scores.contains(one)), "one of {every}: the same scores");
        for (view, how) in [
            (&view, How { slices: 3, work: 700 }),
            (&missing, How::default()),
            (&missing, How { slices: 1, work: 50 }),
        ] {
            assert_eq!(found((&corpus, view), &request(&query, 10_000), &how), all);
            let mut few = request(&query, 10);
            few.total = TrackTotal::UpTo(5);
            assert_eq!(found((&corpus, view), &few, &how), all[..all.len().min(10)]);
        }
    }
}

/// Where such a filter leads, and what adds to the score is rarer still: of all sizes the best are found, whole or in
/// small steps. (Whom a wide window is asked of is a test beside that code.)
#[test]
fn few_documents_of_many_windows_are_all_scored_with_what_adds_to_them() {
    let corpus = Corpus::random(17, &[33_000]);
    let (view, missing) = (corpus.view(false), corpus.view(true));
    let ids = |every: usize, from: usize| {
        let chosen = corpus.docs[0].iter().skip(from).step_by(every);
        let ids: Vec<String> = chosen.map(|doc| format!("{:?}", doc.id)).collect();
        format!(r#"{{"ids":{{"values":[{}]}}}}"#, ids.join(","))
    };
    let (few, fewer, other) = (ids(37, 0), ids(74, 0), ids(111, 0));
    for added in [
        format!(r#"{{"constant_score":{{"boost":0.1,"filter":{fewer}}}}}"#),
        format!(r#"{{"dis_max":{{"queries":[{fewer},{other}]}}}}"#),
        format!(
            r#"{{"bool":{{"minimum_should_match":2,"should":[{fewer},{other},{{"term":{{"body":"zebra"}}}}]}}}}"#
        ),
    ] {
        let query = format!(
            r#"{{"bool":{{"must":{{"match":{{"body":"wolf"}}}},"filter":{few},"should":{added}}}}}"#
        );
        let all = found((&corpus, &view), &request(&query, 10_000), &How::default());
        assert!(all.len() > 100);
        for size in [1, 3, 10, 20, 30, 50, 70, 100, 150] {
            let mut request = request(&query, size);
            request.total = TrackTotal::UpTo(5);
            let how = How { slices: 1, work: 50 };
            assert_eq!(found((&corpus, &view), &request, &How::default()), all[..size as usize]);
            assert_eq!(found((&corpus, &missing), &request, &how), all[..size as usize]);
        }
    }
}

#[test]
fn words_within_edits_are_those_of_the_distance() {
    let corpus = Corpus::random(5, &[2_000, 400]);
    let view = corpus.view(false);
    for word in ["nw", "usde", "smal", "larges", "rare"] {
        for edits in 0..=2usize {
            let query = format!(
                "{{\"fuzzy\":{{\"tags\":{{\"value\":\"{word}\",\"fuzziness\":{edits}}}}}}}"
            );
            let near: Vec<&str> = TAGS
                .iter()
                .copied()
                .filter(|tag| {
                    let (a, b): (Vec<char>, Vec<char>) =
                        (word.chars().collect(), tag.chars().collect());
                    levenshtein::distance(&a, &b, true, edits) <= edits
                })
                .collect();
            let expected = corpus
                .docs
                .iter()
                .flatten()
                .filter(|doc| !doc.deleted && doc.tags.iter().any(|tag| near.contains(tag)))
                .count();
            let all = found((&corpus, &view), &request(&query, 10_000), &How::default());
            assert_eq!(all.len(), expected, "{word} within {edits}");
        }
    }
}

#[test]
fn words_in_order_within_gaps_are_those_of_a_plain_reading() {
    let corpus = Corpus::random(9, &[3_000, 400]);
    let view = corpus.view(false);
    for (first, second, gaps) in [("river", "gate", 0), ("river", "gate", 2), ("the", "golden", 1)]
    {
        let near = |body: &[&str]| {
            (0..body.len()).any(|at| {
                body[at] == first
                    && body[at + 1..].iter().take(gaps + 1).any(|word| *word == second)
            })
        };
        let expected =
            corpus.docs.iter().flatten().filter(|doc| !doc.deleted && near(&doc.body)).count();
        let intervals = format!(
            "{{\"intervals\":{{\"body\":{{\"match\":{{\"query\":\"{first} {second}\",\"ordered\":true,\"max_gaps\":{gaps}}}}}}}}}"
        );
        let spans = format!(
            "{{\"span_near\":{{\"clauses\":[{{\"span_term\":{{\"body\":\"{first}\"}}}},{{\"span_term\":{{\"body\":\"{second}\"}}}}],\"slop\":{gaps},\"in_order\":true}}}}"
        );
        for query in [intervals, spans] {
            let all = found((&corpus, &view), &request(&query, 10_000), &How::default());
            assert_eq!(all.len(), expected, "{query}");
        }
    }
}
