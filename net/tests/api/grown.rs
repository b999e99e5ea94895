//! Answers that are as long as what they tell of ask for memory before they grow.

use json::json;

use crate::place::{Client, at, with_core, with_memory};

/// Indices of many fields, each with names of its own.
async fn wide(client: &mut Client) {
    for index in 0..16 {
        let field = |at: usize| {
            let keyword = json!({"k": {"type": "keyword"}});
            (format!("field_{index}_{at}"), json!({"type": "text", "fields": keyword}))
        };
        let fields: json::Object = (0..490).map(field).collect();
        let fields = json::Value::Object(fields);
        let body = json!({"mappings": {"properties": fields}});
        client.good("PUT", &format!("/wide{index}"), &json::to_string(&body)).await;
    }
}

/// Twenty-four at once that asked what the fields of sixty indices are took 2 GB of `--memory 128mb`: all was made
/// first, three times over, and the answer refused then.
#[test]
fn answers_as_long_as_the_state_take_their_memory_before_they_are_made() {
    with_core(128 << 20, |mut client, core| async move {
        wide(&mut client).await;
        let asked = [
            ("/_field_caps?fields=*", "field_caps"),
            ("/_mapping", "mappings"),
            ("/_mapping/field/*?include_defaults", "mappings"),
            ("/wide*", "indices"),
            ("/_settings?include_defaults", "settings"),
            ("/_cluster/state", "cluster_state"),
            ("/_cluster/state/metadata", "cluster_state"),
        ];
        let mut whole = Vec::new();
        for (target, _) in asked {
            whole.push(client.call("GET", target, "").await);
            assert_eq!(whole.last().expect("it").status, 200, "{target}");
        }
        let mut held = Vec::new();
        for (target, what) in asked {
            // Each time: what answers before held may come back late.
            for bytes in [1 << 20, 1 << 15] {
                held.extend(std::iter::from_fn(|| core.room("the story", bytes).ok()));
            }
            let told = client.bad("GET", target, "").await;
            assert!(told.starts_with("429 circuit_breaking_exception: "), "{target}: {told}");
            assert!(told.contains(&format!("data for [<{what}>] would be")), "{target}: {told}");
        }
        // What is short needs none.
        let one = client.good("GET", "/wide0/_mapping/field/field_0_1", "").await;
        assert_eq!(at(&one, &["wide0", "mappings"]).as_object().map(json::Object::len), Some(1));
        drop(held);
        for ((target, _), before) in asked.into_iter().zip(whole) {
            let again = client.call("GET", target, "").await;
            assert_eq!(again.status, 200, "{target}");
            assert_eq!(again.body.len(), before.body.len(), "{target}");
        }
    });
}

/// What fields of several indices can do is told by their places; the names stand where they did.
#[test]
fn fields_of_several_types_name_their_indices() {
    with_memory(128 << 20, |mut client, _| async move {
        for (index, field) in [
            ("a", r#"{"type":"keyword","meta":{"unit":"m"}}"#),
            ("b", r#"{"type":"keyword","index":false,"doc_values":false,"meta":{"unit":"s"}}"#),
            ("c", r#"{"type":"long"}"#),
        ] {
            let body = format!(
                r#"{{"mappings":{{"properties":{{"o":{{"properties":{{"f":{field}}}}}}}}}}}"#
            );
            client.good("PUT", &format!("/{index}"), &body).await;
        }
        client.good("PUT", "/d", "{}").await;
        let target = "/_field_caps?fields=o.f&include_unmapped";
        let told = client.good("GET", target, "").await;
        assert_eq!(at(&told, &["indices"]), &json!(["a", "b", "c", "d"]));
        let caps = at(&told, &["fields", "o.f"]).as_object().expect("types");
        let kinds: Vec<&str> = caps.iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["keyword", "long", "unmapped"]);
        let caps = at(&told, &["fields", "o.f"]);
        for (kind, expected) in [
            (
                "keyword",
                json!({"type": "keyword", "metadata_field": false, "searchable": false,
                    "aggregatable": false, "indices": ["a", "b"],
                    "non_searchable_indices": ["b"], "non_aggregatable_indices": ["b"],
                    "meta": {"unit": ["m", "s"]}}),
            ),
            (
                "long",
                json!({"type": "long", "metadata_field": false, "searchable": true,
                    "aggregatable": true, "indices": ["c"]}),
            ),
            (
                "unmapped",
                json!({"type": "unmapped", "metadata_field": false, "searchable": false,
                    "aggregatable": false, "indices": ["d"]}),
            ),
        ] {
            assert_eq!(json::to_string(at(caps, &[kind])), json::to_string(&expected));
        }
        let object = json!({"object": {"type": "object", "metadata_field": false,
            "searchable": false, "aggregatable": false, "indices": ["a", "b", "c"]},
            "unmapped": {"type": "unmapped", "metadata_field": false, "searchable": false,
            "aggregatable": false, "indices": ["d"]}});
        let told = at(&told, &["fields", "o"]);
        assert_eq!(json::to_string(told), json::to_string(&object));
    });
}
