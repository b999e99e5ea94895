//! Names of indices with dates in them.

use std::time::Duration;

use env::{Clock, Env};

use crate::place::{Client, Machine, at};

#[test]
fn a_write_that_makes_an_index_keeps_the_date_math_of_its_name() {
    // Once only the name of that moment was kept, so that rollovers went on with an old date.
    let machine = Machine::new(21);
    let env = machine.sim.env();
    machine.story(async |mut client: Client| {
        client.good("PUT", "/%3Cw-%7Bnow%7BHHmmss%7D%7D-000001%3E/_doc/1", "{}").await;
        let lines = "{\"index\":{\"_index\":\"<b-{now{HHmmss}}-000001>\",\"_id\":\"1\"}}\n{}\n";
        client.good("POST", "/_bulk", lines).await;
        let upsert = r#"{"doc":{"a":1},"doc_as_upsert":true}"#;
        client.good("POST", "/%3Cu-%7Bnow%7BHHmmss%7D%7D-000001%3E/_update/1", upsert).await;
        for prefix in ["w", "b", "u"] {
            let all = client.good("GET", &format!("/{prefix}-*/_settings"), "").await;
            let (_, settings) = all.as_object().expect("indices").iter().next().expect("one");
            let provided = at(settings, &["settings", "index", "provided_name"]).as_str();
            assert_eq!(provided, Some(&*format!("<{prefix}-{{now{{HHmmss}}}}-000001>")));
        }
        let add = r#"{"actions":[{"add":{"index":"w-*","alias":"w","is_write_index":true}}]}"#;
        client.good("POST", "/_aliases", add).await;
        env.clock().sleep(Duration::from_secs(61)).await;
        let rolled = client.good("POST", "/w/_rollover", "").await;
        let name = |key: &str| at(&rolled, &[key]).as_str().expect("a name").to_owned();
        let (old, new) = (name("old_index"), name("new_index"));
        assert!(new.ends_with("-000002"), "{new}");
        assert_ne!(old[..8], new[..8], "the date has moved on");
    });
}
