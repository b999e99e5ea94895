//! Term vectors: what they may take of a worker.

mod common;

use engine::ops::document::GetRequest;
use engine::ops::vectors::VectorsCall;
use engine::{Everything, start_all};
use env::Bytes;
use json::{Value, json};
use search::vectors::Request;
use sim::Sim;

/// A document of some words was analysed to its end, whatever that took, and nothing knew before.
#[test]
fn a_text_that_is_too_costly_is_refused() {
    let sim = Sim::new(13);
    let env = sim.env();
    sim.run(async move {
        let cores = start_all(&env, common::config()).await.expect("a healthy disk");
        let core = &cores[0];
        let chains: Vec<String> = (1..90).map(|len| format!("cut{len}, reverse")).collect();
        let mut filters = json::Object::new();
        filters.insert("many", json!({"type": "multiplexer", "filters": chains}));
        for len in 1..90u64 {
            let cut = json!({"type": "truncate", "length": (1_900 + len)});
            filters.insert(format!("cut{len}"), cut);
        }
        let settings = json!({"settings": {"analysis": {
            "filter": (Value::Object(filters)),
            "analyzer": {"costly": {"tokenizer": "keyword", "filter": ["many", "many"]}}
        }}, "mappings": {"properties": {"t": {"type": "text"}}}});
        core.create_index(&Everything, "a", &settings).await.expect("a good name");
        let asked = |texts: &[String], analyzer: &str| VectorsCall {
            get: GetRequest { index: "a".to_owned(), ..GetRequest::default() },
            artificial: Some(Bytes::from(json::to_vec(&json!({"t": (texts.to_vec())})))),
            request: Request {
                fields: Some([String::from("t")].into()),
                analyzers: std::sync::Arc::new([("t".to_owned(), analyzer.to_owned())].into()),
                ..Request::default()
            },
        };
        let texts = vec!["abcdefghij".repeat(200); 100];
        let (state, plain) = (core.state(), asked(&texts, "keyword"));
        let plain = core.term_vectors(&Everything, &state, &plain).await.expect("little to do");
        assert_eq!(plain.vectors[0].terms[0].freq, 100);
        let refused = core.term_vectors(&Everything, &state, &asked(&texts, "costly")).await;
        let refused = refused.expect_err("much to do");
        assert_eq!((refused.status, &*refused.kind), (400, "illegal_argument_exception"));
        assert!(refused.reason.contains("too costly"), "{refused:?}");
    });
}
