//! Names of indices with dates in them.

use std::time::Duration;

use env::{Clock, Env};

use crate::place::{Client, Machine, at, with_node};

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

/// The backslash was refused in every path, so that such an index could be made by a bulk alone.
#[test]
fn braces_of_a_name_are_escaped_in_a_path() {
    with_node(|mut client| async move {
        let name = "%3Cdm-%5C%7Ba%5C%7D-%7Bnow%2Fd%7D%3E";
        let made = client.good("PUT", &format!("/{name}"), "").await;
        let index = at(&made, &["index"]).as_str().expect("a name").to_owned();
        assert!(index.starts_with("dm-{a}-2"), "{index}");
        let document = format!("/{name}/_doc/1");
        client.good("PUT", &format!("{document}?refresh"), r#"{"a":1}"#).await;
        let got = client.good("GET", &document, "").await;
        assert_eq!(at(&got, &["_index"]).as_str(), Some(&*index));
        for target in ["/_cat/indices/{}?h=i", "/{}/_count", "/{}/_search", "/_resolve/index/{}"] {
            let target = target.replace("{}", name);
            let told = client.call("GET", &target, "").await;
            assert_eq!(told.status, 200, "{target}: {}", told.text());
        }
        client.good("DELETE", &format!("/{name}"), "").await;
        let upper = client.bad("PUT", "/%3Celastic%5C%7BON%5C%7D-%7Bnow%2FM%7D%3E", "").await;
        assert!(
            upper.starts_with("400 invalid_index_name_exception: Invalid index name"),
            "{upper}"
        );
        assert!(upper.contains("[elastic{ON}-"), "{upper}");
    });
}
