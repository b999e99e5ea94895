//! Random documents and bytes against what must always hold.

use proptest::prelude::*;

use super::*;

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        "-?[0-9]{1,25}(\\.[0-9]{1,3})?(e[0-9]{1,3})?"
            .prop_filter("JSON", |text| json::parse(text.as_bytes()).is_ok()),
        any::<String>().prop_map(|text| json::to_string(&Value::from(text))),
        "(20[0-9]{2}-[0-9]{2}-[0-9]{2}|[a-z ]{0,8})".prop_map(|text| format!("\"{text}\"")),
    ];
    let key = "[a-d]{1,2}|[a-c]\\.[a-c]|_id|";
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::btree_map(key, inner, 0..5).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    /// Three rounds, as a caller makes them: a document is refused, or its fields are added once
    /// and it fits; replay takes every document; what is in the arena can be read.
    #[test]
    fn documents_settle_after_one_change(sources in proptest::collection::vec(any_json(), 1..5)) {
        let mut mapping = mapping(json!({"properties": {"a": {"properties": {"b": {"type": "long"}}}, "d": {"type": "date", "ignore_malformed": true}}}));
        let mut arena = Arena::new();
        let mut parser = Parser::new();
        for source in &sources {
            let first = parser.parse(&mapping, "x", source.as_bytes(), Mode::Strict, &mut arena);
            let accepted = first.is_ok();
            if let Ok(Parsed::NeedsMapping(delta)) = first {
                mapping = mapping.apply_delta(&delta).expect("room");
                let second = parser.parse(&mapping, "x", source.as_bytes(), Mode::Strict, &mut arena);
                prop_assert!(matches!(second, Ok(Parsed::Ready(_))), "{source}: {second:?}");
            }
            let replayed = parser.parse(&mapping, "x", source.as_bytes(), Mode::Replay, &mut arena);
            let is_object = source.starts_with('{');
            prop_assert_eq!(replayed.is_ok(), is_object, "{}", source);
            prop_assert!(!accepted || is_object);
        }
        for doc in 0..arena.len() {
            show(&mapping, &arena, doc);
        }
        let again = Mapping::from_state_json(&mapping.to_state_json(), Arc::default()).expect("a good state");
        prop_assert_eq!(again.to_state_json(), mapping.to_state_json());
    }

    #[test]
    fn hostile_bytes_never_panic(source: Vec<u8>) {
        let mapping = mapping(json!({"properties": {"a": {"type": "text"}}}));
        for mode in [Mode::Strict, Mode::Replay] {
            let _ = Parser::new().parse(&mapping, "x", &source, mode, &mut Arena::new());
        }
    }
}
