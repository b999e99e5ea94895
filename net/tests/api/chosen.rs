//! Dynamic templates that a bulk request names for new fields.

use json::Value;

use crate::browser::basic;
use crate::place::{at, with_node, with_security};

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

/// A template that asks for nothing was refused: it is there to be named, and decides about nothing by itself.
#[test]
fn a_template_without_conditions_is_there_to_be_named() {
    with_node(|mut client| async move {
        let mappings = r#"{"mappings":{"dynamic_templates":[
            {"point":{"mapping":{"type":"geo_point"}}},{"other":{"unmatch":"x","mapping":{"type":"ip"}}}]}}"#;
        client.good("PUT", "/i", mappings).await;
        let lines = [
            r#"{"index":{"dynamic_templates":{"work":"point"}}}"#,
            r#"{"work":"41.12,-71.34","name":"one"}"#,
        ];
        let done = client.good("POST", "/i/_bulk", &(lines.join("\n") + "\n")).await;
        assert_eq!(at(&done, &["errors"]), &Value::Bool(false), "{}", json::to_string(&done));
        let mapping = client.good("GET", "/i/_mapping", "").await;
        let of = |field: &str| {
            let path = ["i", "mappings", "properties", field, "type"];
            at(&mapping, &path).as_str().map(str::to_owned)
        };
        assert_eq!(
            [of("work"), of("name")],
            [Some("geo_point".to_owned()), Some("text".to_owned())]
        );
    });
}

/// An object that a template makes says what becomes of what lies in it, for the first document too; a nested one
/// refused every document.
#[test]
fn objects_of_templates_are_what_they_say() {
    with_node(|mut client| async move {
        let template = |name: &str, mapping: &str| {
            format!(
                r#"{{"{name}":{{"match":"{name}*","match_mapping_type":"object","mapping":{mapping}}}}}"#
            )
        };
        let templates = [
            template("en", r#"{"type":"object","enabled":false}"#),
            template("df", r#"{"type":"object","dynamic":false}"#),
            template("ds", r#"{"type":"object","dynamic":"strict"}"#),
            template("ne", r#"{"type":"nested"}"#),
            template("pr", r#"{"type":"object","properties":{"k":{"type":"keyword"}}}"#),
        ];
        let body = format!(r#"{{"mappings":{{"dynamic_templates":[{}]}}}}"#, templates.join(","));
        client.good("PUT", "/i", &body).await;
        let document = r#"{"en":{"a":1,"b":{"c":"x"}},"df":{"a":1},"ne":[{"in":"x"},{"in":"y","ne2":{"z":1}}],
            "pr":{"k":"v","l":1},"o":{"en.d":{"z":1},"p":{"df2":{"q":1}}}}"#;
        client.good("PUT", "/i/_doc/1?refresh=true", document).await;
        let mapping = client.good("GET", "/i/_mapping", "").await;
        let properties = json::to_string(at(&mapping, &["i", "mappings", "properties"]));
        let text = r#"{"type":"text","fields":{"keyword":{"type":"keyword","ignore_above":256}}}"#;
        let long = r#"{"type":"long"}"#;
        let object = r#"{"type":"object"#;
        let expected = format!(
            r#"{{"df":{object}","dynamic":"false"}},"en":{object}","enabled":false}},"ne":{{"type":"nested","properties":{{"in":{text},"ne2":{{"type":"nested","properties":{{"z":{long}}}}}}}}},"o":{{"properties":{{"en":{object}","enabled":false}},"p":{{"properties":{{"df2":{object}","dynamic":"false"}}}}}}}}}},"pr":{{"properties":{{"k":{{"type":"keyword"}},"l":{long}}}}}}}"#
        );
        assert_eq!(properties, expected);
        let query = r#"{"query":{"nested":{"path":"ne","query":{"match":{"ne.in":"y"}}}}}"#;
        let found = client.good("POST", "/i/_search", query).await;
        assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1));
        let found = client.good("GET", "/i/_count?q=df.a:1", "").await;
        assert_eq!(at(&found, &["count"]).as_u64(), Some(0));
        let refused = client.bad("PUT", "/i/_doc/2", r#"{"ds":{"z":1}}"#).await;
        assert!(refused.starts_with("400 strict_dynamic_mapping_exception"), "{refused}");
        let mapping = client.good("GET", "/i/_mapping", "").await;
        assert_eq!(json::to_string(at(&mapping, &["i", "mappings", "properties"])), properties);
        // So deep as objects may lie.
        let deep = "{\"ne\":".repeat(18) + "{\"a\":1}" + &"}".repeat(18);
        client.good("PUT", "/i/_doc/3", &deep).await;
        let deep = "{\"ne\":".repeat(30) + "{\"a\":1}" + &"}".repeat(30);
        let refused = client.bad("PUT", "/i/_doc/4", &deep).await;
        assert!(refused.contains("Limit of mapping depth [20]"), "{refused}");
    });
}

/// A caller to whom a field is hidden wrote it by a template of somebody else's that copies into it, which it named, or
/// which met its field's name; and took all templates away.
#[test]
fn no_template_leads_a_limited_caller_to_a_hidden_field() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let mappings = r#"{"mappings":{"properties":{"sec":{"type":"keyword"}},"dynamic_templates":[
            {"tosec":{"match":"zzz*","mapping":{"type":"keyword","copy_to":"sec"}}}]}}"#;
        client.good("PUT", "/i", mappings).await;
        let role = r#"{"indices":[{"names":["i"],"privileges":["all"],
            "field_security":{"grant":["*"],"except":["sec"]}}]}"#;
        client.good("PUT", "/_security/role/some", role).await;
        let user = r#"{"password":"some-of-it-seen","roles":["some"]}"#;
        client.good("PUT", "/_security/user/some", user).await;
        client.authorize(Some(&basic("some", "some-of-it-seen")));
        let lines = [
            r#"{"index":{"_id":"1","dynamic_templates":{"mine":"tosec"}}}"#,
            r#"{"mine":"INJECT"}"#,
            r#"{"index":{"_id":"2"}}"#,
            r#"{"zzz1":"INJECT"}"#,
            r#"{"update":{"_id":"3"}}"#,
            r#"{"doc":{"zzz2":"INJECT"},"doc_as_upsert":true}"#,
            r#"{"index":{"_id":"4"}}"#,
            r#"{"open":"x"}"#,
            r#"{"update":{"_id":"4"}}"#,
            r#"{"doc":{"zzz3":"INJECT"}}"#,
        ];
        let done = client.good("POST", "/i/_bulk?refresh=true", &(lines.join("\n") + "\n")).await;
        let items = at(&done, &["items"]).as_array().expect("items").iter();
        let statuses: Vec<Option<u64>> = items
            .map(|item| {
                let (_, item) = item.as_object().and_then(|item| item.iter().next())?;
                at(item, &["status"]).as_u64()
            })
            .collect();
        let told = json::to_string(&done);
        assert_eq!(statuses, [Some(403), Some(403), Some(403), Some(201), Some(403)], "{told}");
        for templates in ["[]", r#"[{"t":{"match":"*","mapping":{"type":"keyword"}}}]"#] {
            let body = format!(r#"{{"dynamic_templates":{templates}}}"#);
            assert_eq!(client.call("PUT", "/i/_mapping", &body).await.status, 403, "{templates}");
        }
        client.authorize(Some(&basic("elastic", "secret")));
        let found = client.good("GET", "/i/_count?q=sec:INJECT", "").await;
        assert_eq!(at(&found, &["count"]).as_u64(), Some(0));
        let mapping = client.good("GET", "/i/_mapping", "").await;
        assert!(json::to_string(&mapping).contains("tosec"));
    });
}
