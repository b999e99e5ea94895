//! Stories of the fast reader, held against the exact one.

use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;

#[test]
fn a_document_is_walked_without_a_tree() {
    let text = br#"{"a":{"b":[1,2.5,"x\n"]},"c":true,"d":null,"e":-3}"#;
    let mut parser = Parser::default();
    let document = parser.parse(text).expect("good text");
    let root = document.root();
    let keys: Vec<&str> = root.object().map(Member::key).collect();
    assert_eq!(keys, ["a", "c", "d", "e"]);
    let list = root.get("a").and_then(|a| a.get("b")).expect("a list");
    let kinds: Vec<Kind> = list.array().map(Node::kind).collect();
    assert_eq!(kinds, [Kind::Number, Kind::Number, Kind::String]);
    assert_eq!(list.array().nth(1).and_then(Node::number), Some(Num::F64(2.5)));
    assert_eq!(list.array().nth(2).and_then(Node::as_str), Some("x\n"));
    assert_eq!(list.text(), r#"[1,2.5,"x\n"]"#);
    assert_eq!(root.get("c").and_then(Node::as_bool), Some(true));
    assert!(root.get("d").expect("there").is_null());
    assert_eq!(root.get("e").and_then(Node::number), Some(Num::I64(-3)));
    assert_eq!(root.get("e").expect("there").place(), Place { line: 1, column: 48 });
}

#[test]
fn number_text_is_found_again() {
    let text = br#"{"a":1E2,"b":[0.10,18446744073709551616,1e400,18446744073709551615]}"#;
    let mut parser = Parser::default();
    let document = parser.parse(text).expect("good text");
    let root = document.root();
    assert_eq!(root.get("a").expect("there").text(), "1E2");
    let list: Vec<Node<'_>> = root.get("b").expect("there").array().collect();
    let texts: Vec<&str> = list.iter().map(|node| node.text()).collect();
    assert_eq!(texts, ["0.10", "18446744073709551616", "1e400", "18446744073709551615"]);
    assert_eq!(list[1].number(), Some(Num::Big));
    assert_eq!(list[2].number(), Some(Num::F64(f64::INFINITY)));
    assert_eq!(list[3].number(), Some(Num::U64(u64::MAX)));
}

#[test]
fn unusual_text_takes_the_slow_way_to_the_same_tree() {
    let text = r#"{"\ud800k":["\u00e9",{},[],123456789012345678901234567890],"é\n":{"a":[[1]]}}"#;
    let mut parser = Parser::default();
    let document = parser.parse(text.as_bytes()).expect("good text");
    assert_eq!(document.root().to_value(), crate::parse(text.as_bytes()).expect("good text"));
}

#[test]
fn keys_stand_once_however_many() {
    let mut parser = Parser::default();
    for count in [2usize, 12, 13, 200] {
        let members: Vec<String> = (0..count).map(|n| format!("\"k{n}\":{{\"k\":{n}}}")).collect();
        let good = format!("{{{}}}", members.join(","));
        assert!(parser.parse(good.as_bytes()).is_ok(), "{count}");
        let bad = format!("{{{},\"k0\":1}}", members.join(","));
        let error = parser.parse(bad.as_bytes()).expect_err("twice");
        assert_eq!(error.kind, ErrorKind::DuplicateKey, "{count}");
    }
}

#[test]
fn lengths_are_bounded_on_both_ways() {
    let mut parser = Parser::default();
    for digits in [999, 1_000, 1_001, 5_000] {
        for before in [0, 1, 500, 999] {
            let text = format!("[\"{}\", 1.{}]", "x".repeat(before), "5".repeat(digits - 2));
            let fast = parser.parse(text.as_bytes()).map(|_| ());
            assert_eq!(fast.is_ok(), digits <= 1_000, "{digits} {before}");
            assert_eq!(fast, crate::parse(text.as_bytes()).map(|_| ()));
        }
    }
    for len in [8_000, 9_000, 50_000, 50_001] {
        let text = format!("{{\"{}\":1}}", "k".repeat(len));
        let fast = parser.parse(text.as_bytes()).map(|_| ());
        assert_eq!(fast.is_ok(), len <= 50_000);
    }
}

#[test]
fn faults_are_those_of_the_scanner() {
    let mut parser = Parser::default();
    for text in ["", "{", "{\"a\":01}", "{} {}", "[1,]", "nul", "\"\u{1}\"", "{\"a\":1,\"a\":2}"] {
        let fast = parser.parse(text.as_bytes()).map(|document| document.len());
        let slow = crate::parse(text.as_bytes()).map(|_| 0);
        assert_eq!(fast, slow, "{text}");
    }
    let deep = "[".repeat(1_001) + &"]".repeat(1_001);
    assert_eq!(
        parser.parse(deep.as_bytes()).map(|_| ()).map_err(|e| e.kind),
        Err(ErrorKind::Limit)
    );
    let fits = "[".repeat(1_000) + &"]".repeat(1_000);
    assert!(parser.parse(fits.as_bytes()).is_ok());
    assert!(parser.parse("[".repeat(1_000_000).as_bytes()).is_err());
}

/// Texts that are JSON, or nearly.
fn texts() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>()
            .prop_filter("JSON has these only", |x| x.is_finite())
            .prop_map(|x| format!("{x:e}")),
        "[0-9]{1,30}(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?",
        "\\PC{0,12}".prop_map(|text| crate::to_string(&Value::from(text))),
        "(\\\\u[0-9a-fA-F]{4}|\\\\n|x){0,4}".prop_map(|inner| format!("\"{inner}\"")),
    ];
    let tree = atom.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(("[a-d]{1,2}", inner), 0..6).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("\"{key}\" :{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    (tree, 0usize..400, any::<Option<u8>>()).prop_map(|(text, at, change)| match change {
        Some(byte) if at < text.len() && text.is_char_boundary(at) => {
            let (head, tail) = text.split_at(at);
            format!("{head}{}{tail}", char::from(byte & 0x7f))
        }
        _ => text,
    })
}

proptest! {
    #[test]
    fn both_readers_accept_the_same_and_see_the_same(text in texts()) {
        let mut parser = Parser::default();
        let tree = crate::parse(text.as_bytes());
        match (parser.parse(text.as_bytes()), tree) {
            (Ok(document), Ok(tree)) => {
                prop_assert_eq!(document.root().to_value(), tree.clone());
                let again = crate::to_vec(&tree);
                prop_assert_eq!(crate::parse(&again), Ok(tree.clone()));
                let pretty = crate::pretty(&again);
                prop_assert_eq!(crate::parse(&pretty), Ok(tree));
            }
            (Err(fast), Err(slow)) => prop_assert_eq!(fast, slow),
            (fast, slow) => prop_assert!(false, "{:?} but {:?}", fast.map(|_| ()), slow),
        }
    }

    #[test]
    fn hostile_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut parser = Parser::default();
        let fast = parser.parse(&bytes).map(|_| ());
        prop_assert_eq!(fast, crate::parse(&bytes).map(|_| ()));
        crate::spanned::parse(&bytes).ok();
        crate::pretty(&bytes);
    }
}
