//! Words that are described, at places: all of them count.

use crate::place::{at, with_node};

/// Patterns of `intervals` and of spans once took the first 128 and 1,024 words, and said nothing.
#[test]
fn patterns_at_places_take_all_their_words_or_are_refused() {
    const ASKED: [(&str, u64); 9] = [
        (r#"{"intervals":{"t":{"prefix":{"prefix":"W"}}}}"#, 3000),
        (r#"{"intervals":{"t":{"wildcard":{"pattern":"w*9"}}}}"#, 300),
        (r#"{"intervals":{"t":{"regexp":{"pattern":"w.*[13]"}}}}"#, 600),
        (
            r#"{"intervals":{"t":{"all_of":{"ordered":true,"max_gaps":0,"intervals":[
                {"match":{"query":"even"}},{"prefix":{"prefix":"w"}}]}}}}"#,
            1500,
        ),
        (r#"{"span_multi":{"match":{"prefix":{"t":"w"}}}}"#, 3000),
        (r#"{"span_multi":{"match":{"wildcard":{"t":"w*9"}}}}"#, 300),
        (
            r#"{"span_near":{"in_order":true,"slop":0,"clauses":[{"span_term":{"t":"odd"}},
                {"span_multi":{"match":{"range":{"t":{"gte":"w1000","lt":"w3"}}}}}]}}"#,
            1000,
        ),
        // The best so many.
        (r#"{"span_multi":{"match":{"prefix":{"t":{"value":"w","rewrite":"top_terms_7"}}}}}"#, 7),
        (r#"{"span_multi":{"match":{"fuzzy":{"t":{"value":"w1234","fuzziness":2}}}}}"#, 50),
    ];
    with_node(|mut client| async move {
        client.good("PUT", "/p", r#"{"mappings":{"properties":{"t":{"type":"text"}}}}"#).await;
        let docs = |from: usize, to: usize| -> String {
            let side = |at: usize| if at.is_multiple_of(2) { "even" } else { "odd" };
            let line = |at| format!("{{\"index\":{{}}}}\n{{\"t\":\"{} w{at:04}\"}}\n", side(at));
            (from..to).map(line).collect()
        };
        client.good("POST", "/p/_bulk?refresh=true", &docs(0, 3000)).await;
        for (query, count) in ASKED {
            let body = format!(r#"{{"query":{query},"track_total_hits":true,"size":10}}"#);
            let answer = client.good("POST", "/p/_search", &body).await;
            let found = at(&answer, &["hits", "total", "value"]).as_u64();
            assert_eq!(found, Some(count), "{query}");
            let counted =
                client.good("POST", "/p/_count", &format!(r#"{{"query":{query}}}"#)).await;
            assert_eq!(at(&counted, &["count"]).as_u64(), Some(count), "{query}");
        }
        client.good("POST", "/p/_bulk?refresh=true", &docs(3000, 4200)).await;
        for (query, reason) in [
            (ASKED[0].0, "Automaton [w*] expanded to too many terms (limit 4096)"),
            (ASKED[4].0, "[t:w* ] exceeds maxClauseCount [ Boolean maxClauseCount is set to 4096]"),
        ] {
            let answer =
                client.call("POST", "/p/_search", &format!(r#"{{"query":{query}}}"#)).await;
            assert_eq!(answer.status, 400, "{query}");
            assert!(answer.text().contains(reason), "{}", answer.text());
        }
        for (query, count) in [ASKED[1], ASKED[7], ASKED[8]] {
            let answer = client.good("POST", "/p/_count", &format!(r#"{{"query":{query}}}"#)).await;
            let more = if query.contains("*9") { 120 } else { 0 };
            assert_eq!(at(&answer, &["count"]).as_u64(), Some(count + more), "{query}");
        }
    });
}
