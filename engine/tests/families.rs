//! Queries about families (`join` fields) below HTTP, on a simulated machine, compared with a plain walk.

mod common;

use std::collections::BTreeMap;

use engine::ops::Refresh;
use engine::ops::bulk::BulkRequest;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::search::SearchCall;
use engine::{Everything, Result};
use env::Bytes;
use sim::Sim;

use common::start;

/// Parents `p0`…, each with so many children, some of which have children of their own.
const FAMILIES: [u32; 9] = [0, 1, 2, 3, 0, 4, 1, 2, 5];

fn item(id: &str, source: String) -> WriteItem {
    WriteItem {
        routing: Some("r".to_owned()),
        source: Bytes::from(source.into_bytes()),
        ..WriteItem::new(WriteAction::Index, "family", id)
    }
}

fn points(parent: usize, child: u32) -> u32 {
    (parent as u32 * 7 + child * 3) % 11 + 1
}

#[test]
fn families_are_found_from_both_ends() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let core = &cores[0];
        let body = r#"{"settings":{"number_of_shards":2},"mappings":{"properties":{
            "j":{"type":"join","relations":{"question":["answer","vote"],"answer":"comment"}},
            "points":{"type":"integer"}}}}"#;
        let body = json::parse(body.as_bytes()).expect("it is JSON");
        core.create_index(&Everything, "family", &body).await.expect("a good mapping");
        let mut items = Vec::new();
        for (at, children) in FAMILIES.iter().enumerate() {
            items.push(item(&format!("p{at}"), r#"{"j":"question"}"#.to_owned()));
            items.push(item(
                &format!("p{at}v"),
                format!(r#"{{"j":{{"name":"vote","parent":"p{at}"}}}}"#),
            ));
            for child in 0..*children {
                let points = points(at, child);
                items.push(item(
                    &format!("p{at}c{child}"),
                    format!(r#"{{"j":{{"name":"answer","parent":"p{at}"}},"points":{points}}}"#),
                ));
                if child == 2 {
                    items.push(item(
                        &format!("p{at}c2x"),
                        format!(r#"{{"j":{{"name":"comment","parent":"p{at}c2"}}}}"#),
                    ));
                }
            }
        }
        for some in items.chunks(11) {
            let request = BulkRequest { items: some.to_vec(), refresh: Refresh::Now };
            let reply = core.bulk(&Everything, request).await;
            assert!(reply.items.iter().all(|item| item.result.is_ok()));
        }
        let search = async |query: &str| -> Result<BTreeMap<String, f32>> {
            let body = format!(r#"{{"size":100,"query":{query}}}"#);
            let call = SearchCall {
                indices: "family".to_owned(),
                body: Bytes::from(body.into_bytes()),
                ..SearchCall::default()
            };
            let reply = core.search(&Everything, &call).await?;
            let hit = |hit: &search::result::Hit| (hit.id.clone().unwrap_or_default().to_string(), hit.score.unwrap_or_default());
            Ok(reply.result.hits.iter().map(hit).collect())
        };
        let families = || FAMILIES.iter().enumerate();
        let plain = |matches: &dyn Fn(usize, u32) -> Option<f32>| -> BTreeMap<String, f32> {
            families()
                .filter_map(|(at, count)| Some((format!("p{at}"), matches(at, *count)?)))
                .collect()
        };
        let found = search(r#"{"has_child":{"type":"answer","query":{"match_all":{}}}}"#).await;
        assert_eq!(found.expect("good"), plain(&|_, count| (count > 0).then_some(1.0)));
        let found = search(
            r#"{"has_child":{"type":"answer","query":{"match_all":{}},"min_children":2,"max_children":4,"boost":3}}"#,
        );
        assert_eq!(found.await.expect("good"), plain(&|_, count| (2..=4).contains(&count).then_some(3.0)));
        for (mode, fold) in [
            ("sum", (|all| all.iter().sum()) as fn(&[f32]) -> f32),
            ("max", |all| all.iter().copied().fold(0.0, f32::max)),
            ("min", |all| all.iter().copied().fold(f32::INFINITY, f32::min)),
            ("avg", |all| all.iter().sum::<f32>() / all.len() as f32),
        ] {
            let query = format!(
                r#"{{"has_child":{{"type":"answer","score_mode":"{mode}","query":{{"function_score":
                {{"field_value_factor":{{"field":"points","missing":1}},"boost_mode":"replace"}}}}}}}}"#
            );
            let expected = plain(&|at, count| {
                let scores: Vec<f32> = (0..count).map(|child| points(at, child) as f32).collect();
                (count > 0).then(|| fold(&scores))
            });
            assert_eq!(search(&query).await.expect("good"), expected, "{mode}");
        }
        let grand = r#"{"has_child":{"type":"answer","query":{"has_child":{"type":"comment","query":{"match_all":{}}}}}}"#;
        assert_eq!(search(grand).await.expect("good"), plain(&|_, count| (count > 2).then_some(1.0)));
        let found = search(r#"{"has_parent":{"parent_type":"question","query":{"ids":{"values":["p3"]}}}}"#);
        let ids: Vec<String> = found.await.expect("good").into_keys().collect();
        assert_eq!(ids, ["p3c0", "p3c1", "p3c2", "p3v"]);
        let found = search(r#"{"parent_id":{"type":"answer","id":"p2"}}"#).await.expect("good");
        assert_eq!(found.into_keys().collect::<Vec<_>>(), ["p2c0", "p2c1"]);
        let found = search(r#"{"parent_id":{"type":"answer","id":"none"}}"#).await.expect("good");
        assert!(found.is_empty());
        for (query, reason) in [
            (
                r#"{"has_child":{"type":"none","query":{"match_all":{}}}}"#,
                "[has_child] join field [j] doesn't hold [none] as a child",
            ),
            (
                r#"{"has_parent":{"parent_type":"vote","query":{"match_all":{}}}}"#,
                "[has_parent] join field [j] doesn't hold [vote] as a parent",
            ),
            (
                r#"{"parent_id":{"type":"question","id":"1"}}"#,
                "[parent_id] no relation found for child [question]",
            ),
        ] {
            let error = search(query).await.expect_err(reason);
            assert!(format!("{error:?}").contains(reason), "{error:?}");
            let lenient = query.replacen(r#"{"type""#, r#"{"ignore_unmapped":true,"type""#, 1);
            let lenient = lenient.replacen(r#"{"parent_type""#, r#"{"ignore_unmapped":true,"parent_type""#, 1);
            assert!(search(&lenient).await.expect("nothing matches").is_empty());
        }
        cores[0].stop().await;
    });
}
