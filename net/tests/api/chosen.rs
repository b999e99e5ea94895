//! Dynamic templates that a bulk request names for new fields.

use json::Value;

use crate::place::{at, with_node};

const MAPPINGS: &str = r#"{"mappings":{"dynamic_templates":[
    {"point":{"match":"place_*","mapping":{"type":"geo_point"}}},
    {"whole":{"match":"whole_*","mapping":{"type":"keyword","ignore_above":9}}}]}}"#;

/// Elasticsearch's guide does it so; each such item was refused.
#[test]
fn the_template_that_is_named_decides() {
    with_node(|mut client| async move {
        client.good("PUT", "/i", MAPPINGS).await;
        let lines = [
            r#"{"index":{"_index":"i","_id":"1","dynamic_templates":{"work":"point","home.at":"point"}}}"#,
            r#"{"work":"41.12,-71.34","home":{"at":"40.12,-70.34"},"name":"one"}"#,
            r#"{"create":{"_index":"i","_id":"2","dynamic_templates":{"name2":"whole","pair":"point","many":"point"}}}"#,
            r#"{"name2":"two","pair":[-71.5,41.5],"many":[{"lat":1,"lon":2},{"lat":3,"lon":4}]}"#,
            // What is there already is what it is.
            r#"{"index":{"_index":"i","_id":"3","dynamic_templates":{"name":"point"}}}"#,
            r#"{"name":"three"}"#,
        ];
        let done = client.good("POST", "/_bulk?refresh=true", &(lines.join("\n") + "\n")).await;
        assert_eq!(at(&done, &["errors"]), &Value::Bool(false), "{}", json::to_string(&done));
        let mapping = client.good("GET", "/i/_mapping", "").await;
        let fields = at(&mapping, &["i", "mappings", "properties"]);
        let of = |path: &[&str]| at(fields, path).as_str().map(str::to_owned);
        let kinds = [
            &["work", "type"][..],
            &["home", "properties", "at", "type"],
            &["name", "type"],
            &["name2", "type"],
            &["pair", "type"],
            &["many", "type"],
        ];
        let expected = ["geo_point", "geo_point", "text", "keyword", "geo_point", "geo_point"];
        assert_eq!(kinds.map(of), expected.map(|kind| Some(kind.to_owned())));
        for (field, place, id) in [("work", "[-71.34,41.12]", "1"), ("pair", "[-71.5,41.5]", "2")] {
            let near =
                format!(r#"{{"query":{{"geo_distance":{{"distance":"1m","{field}":{place}}}}}}}"#);
            let found = client.good("POST", "/i/_search", &near).await;
            let hits = at(&found, &["hits", "hits"]).as_array().expect("hits");
            let ids: Vec<_> = hits.iter().filter_map(|hit| at(hit, &["_id"]).as_str()).collect();
            assert_eq!(ids, [id], "{field}");
        }
    });
}

#[test]
fn a_template_that_is_not_there_fails_its_item() {
    with_node(|mut client| async move {
        client.good("PUT", "/i", MAPPINGS).await;
        let lines = [
            r#"{"index":{"_id":"1","dynamic_templates":{"a.b":"nope"}}}"#,
            r#"{"a":{"b":"x"}}"#,
            r#"{"index":{"_id":"2","dynamic_templates":{"a.b":"nope"}}}"#,
            r#"{"c":1}"#,
            r#"{"index":{"_id":"3","dynamic_templates":{}}}"#,
            r#"{"d":1}"#,
        ];
        let done = client.good("POST", "/i/_bulk", &(lines.join("\n") + "\n")).await;
        let items = at(&done, &["items"]).as_array().expect("items");
        let status = |item: &Value| at(item, &["index", "status"]).as_u64();
        assert_eq!(items.iter().map(status).collect::<Vec<_>>(), [Some(400), Some(201), Some(201)]);
        let error = at(&items[0], &["index", "error"]);
        assert_eq!(at(error, &["type"]).as_str(), Some("document_parsing_exception"));
        let reason = at(error, &["reason"]).as_str().expect("a reason");
        let told = "Can't find dynamic template for dynamic template name [nope] of field [a.b]";
        assert!(reason.ends_with(told), "{reason}");
        let names = r#""_id":"1","dynamic_templates":{"a":"point"}"#;
        for (line, told) in [
            (
                format!(r#"{{"delete":{{{names}}}}}"#),
                "Delete request in line [1] does not accept dynamic_templates",
            ),
            (
                format!("{{\"update\":{{{names}}}}}\n{{\"doc\":{{}}}}"),
                "Update request in line [1] does not accept dynamic_templates",
            ),
            (
                "{\"index\":{\"dynamic_templates\":\"point\"}}\n{}".to_owned(),
                "Action/metadata line [1] contains an unknown parameter [dynamic_templates]",
            ),
            (
                "{\"index\":{\"dynamic_templates\":{\"a\":1}}}\n{}".to_owned(),
                "Malformed action/metadata line [1], expected a simple value for field [dynamic_templates] but found [VALUE_NUMBER]",
            ),
        ] {
            let refused = client.bad("POST", "/i/_bulk", &(line + "\n")).await;
            assert_eq!(refused, format!("400 illegal_argument_exception: {told}"));
        }
    });
}
