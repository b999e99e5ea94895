//! Stories of bulk lines.

use proptest::prelude::*;

use super::*;

fn cut(body: &str) -> Result<Vec<Item>> {
    split(&Bytes::from(body.as_bytes().to_vec()), &Defaults::default())
}

fn writes(body: &str) -> Vec<WriteItem> {
    cut(body)
        .expect(body)
        .into_iter()
        .map(|item| match item {
            Item::Write(item) => item,
            Item::Refused(_, error) => panic!("{error}"),
        })
        .collect()
}

fn reason(body: &str) -> String {
    cut(body).expect_err(body).reason
}

fn source(item: &WriteItem) -> &str {
    std::str::from_utf8(&item.source).expect("UTF-8")
}

#[test]
fn items_stand_in_the_order_of_their_lines() {
    let items = writes(concat!(
        "{\"index\":{\"_index\":\"a\",\"_id\":\"1\",\"routing\":\"r\"}}\n",
        "{\"x\":1}\n",
        "\n",
        "{\"create\":{\"_index\":\"b\"}}\r\n",
        " {\"y\":2} \r\n",
        "{\"delete\":{\"_index\":\"a\",\"_id\":7,\"if_seq_no\":3,\"if_primary_term\":\"1\"}}\n",
    ));
    assert_eq!(items.len(), 3);
    assert_eq!((items[0].action, items[0].index.as_str()), (WriteAction::Index, "a"));
    assert_eq!((items[0].id.as_deref(), items[0].routing.as_deref()), (Some("1"), Some("r")));
    assert_eq!(source(&items[0]), "{\"x\":1}");
    assert_eq!((items[1].action, items[1].id.as_deref()), (WriteAction::Create, None));
    assert_eq!(source(&items[1]), " {\"y\":2} ");
    assert_eq!((items[2].action, items[2].id.as_deref()), (WriteAction::Delete, Some("7")));
    assert_eq!((items[2].if_seq_no, items[2].if_primary_term), (Some(3), Some(1)));
    assert!(items[2].source.is_empty());
}

#[test]
fn many_items_keep_their_order() {
    for count in [PIECE_ITEMS - 1, PIECE_ITEMS, PIECE_ITEMS + 1, 3 * PIECE_ITEMS + 7] {
        let line = |at| format!("{{\"delete\":{{\"_index\":\"a\",\"_id\":\"{at}\"}}}}\n");
        let items = writes(&(0..count).map(line).collect::<String>());
        assert_eq!(items.len(), count);
        let is_at = |(at, item): (usize, &WriteItem)| item.id.as_deref() == Some(&*at.to_string());
        assert!(items.iter().enumerate().all(is_at));
    }
}

#[test]
fn defaults_fill_in() {
    let defaults = Defaults {
        index: "d".into(),
        routing: Some("q".into()),
        require_alias: true,
        ..Defaults::default()
    };
    let body = Bytes::from(b"{\"index\":{}}\n{}\n{\"delete\":{\"_index\":\"e\",\"_id\":\"1\",\"require_alias\":true}}\n".to_vec());
    let items = split(&body, &defaults).expect("good");
    let Item::Write(first) = &items[0] else { panic!("refused") };
    assert_eq!((first.index.as_str(), first.routing.as_deref()), ("d", Some("q")));
    assert!(first.require_alias);
    let Item::Write(second) = &items[1] else { panic!("refused") };
    assert_eq!((second.index.as_str(), second.require_alias), ("e", false));
}

/// Only what adds a document asks for a data stream, and each line for itself.
#[test]
fn what_adds_documents_may_ask_for_a_data_stream() {
    let defaults = Defaults { require_data_stream: true, ..Defaults::default() };
    let body = Bytes::from(
        br#"{"create":{"_index":"a"}}
{}
{"index":{"_index":"a","require_data_stream":false}}
{}
{"delete":{"_index":"a","_id":"1","require_data_stream":true}}
{"update":{"_index":"a","_id":"1","require_data_stream":true}}
{"doc":{}}
"#
        .to_vec(),
    );
    let items = split(&body, &defaults).expect("good");
    let asked = items.iter().map(|item| match item {
        Item::Write(item) => item.require_data_stream,
        Item::Refused(_, error) => panic!("{error:?}"),
    });
    assert_eq!(asked.collect::<Vec<_>>(), [true, false, false, false]);
}

#[test]
fn what_fails_the_request_is_named_with_its_line() {
    assert_eq!(
        reason("{\"index\":{\"_index\":\"a\"}}\n{}"),
        "The bulk request must be terminated by a newline [\\n]"
    );
    assert_eq!(
        reason("{\"upsert\":{}}\n{}\n"),
        "Malformed action/metadata line [1], expected field [create], [delete], [index] or \
         [update] but found [upsert]"
    );
    assert_eq!(
        reason("{\"index\":{\"_index\":\"a\"}}\n{}\n\"x\"\n"),
        "Malformed action/metadata line [3], expected START_OBJECT but found [VALUE_STRING]"
    );
    assert_eq!(
        reason("{\"index\":\"a\"}\n{}\n"),
        "Malformed action/metadata line [1], expected START_OBJECT or END_OBJECT but found [VALUE_STRING]"
    );
    assert_eq!(
        reason("{\"delete\":null}\n{\"index\":{}}\n{}\n"),
        "Malformed action/metadata line [1], expected START_OBJECT or END_OBJECT but found [VALUE_NULL]"
    );
    assert_eq!(
        reason("{}\n{}\n"),
        "Malformed action/metadata line [1], expected FIELD_NAME but found [END_OBJECT]"
    );
    assert_eq!(
        reason("{\"index\":{\"_type\":\"x\"}}\n{}\n"),
        "Action/metadata line [1] contains an unknown parameter [_type]"
    );
    assert_eq!(
        reason("{\"index\":{\"_index\":{}}}\n{}\n"),
        "Malformed action/metadata line [1], expected a simple value for field [_index] but found \
         [START_OBJECT]"
    );
    assert_eq!(
        reason("{\"index\":{\"_index\":\"a\"}}\n"),
        "Validation Failed: 1: no requests added;"
    );
    assert_eq!(reason("\n"), "Validation Failed: 1: no requests added;");
    assert_eq!(
        reason("{\"index\":{}}\n{}\n{\"delete\":{\"_index\":\"a\"}}\n"),
        "Validation Failed: 1: index is missing;2: id is missing;"
    );
    assert!(reason("{\"index\":{\"if_seq_no\":-1}}\n{}\n").starts_with("sequence numbers must be"));
    assert!(reason("{\"index\":{\"version\":\"x\"}}\n{}\n").starts_with("Failed to parse long"));
    assert!(reason("{\"index\":{\"version_type\":\"x\"}}\n{}\n").starts_with("No version type"));
    let error = cut("{index:{}}\n{}\n").expect_err("no JSON");
    assert_eq!(error.kind, "x_content_parse_exception");
    assert!(error.reason.starts_with("[1:2] Unexpected character ('i' (code 105))"));
}

#[test]
fn what_fails_an_item_leaves_the_others() {
    let items = cut("{\"index\":{\"_index\":\"a\",\"_id\":\"\"}}\n{}\n{\"index\":{\"_index\":\"a\",\"pipeline\":\"p\"}}\n{}\n{\"index\":{\"_index\":\"a\",\"_id\":null,\"pipeline\":\"_none\"}}\n{}\n")
        .expect("good");
    let Item::Refused(_, error) = &items[0] else { panic!("taken") };
    assert_eq!(error.reason, "if _id is specified it must not be empty");
    let Item::Write(item) = &items[1] else { panic!("refused") };
    assert_eq!(item.pipeline.as_deref(), Some("p"));
    let Item::Write(item) = &items[2] else { panic!("refused") };
    assert_eq!((&item.id, item.pipeline.as_deref()), (&None, Some("_none")));
    let items = cut("{\"index\":{\"_index\":\"\"}}\n{}\n{\"index\":{\"_index\":\"a\"}}\n{}\n");
    let items = items.expect("good");
    let Item::Refused(_, error) = &items[0] else { panic!("taken") };
    assert_eq!(error.reason, "Invalid index name [], must not be empty");
    assert!(matches!(&items[1], Item::Write(item) if item.index == "a"));
}

#[test]
fn an_action_line_is_one_object_of_one_action() {
    for (line, what) in [
        ("{\"index\":{\"_index\":\"a\",\"_id\":\"1\"}", "expected [END_OBJECT] but found [null]"),
        (
            "{\"index\":{\"_index\":\"a\",\"_id\":\"1\"},\"more\":{}}",
            "expected [END_OBJECT] but found [FIELD_NAME]",
        ),
        (
            "{\"index\":{\"_index\":\"a\",\"_id\":\"1\"}} trailing",
            "unexpected data after the closing brace",
        ),
    ] {
        let found = reason(&format!("{line}\n{{}}\n"));
        assert_eq!(found, format!("Malformed action/metadata line [1], {what}"), "{line}");
    }
}

#[test]
fn an_action_line_says_nothing_twice() {
    for (line, key, column) in [
        (r#"{"index":{"_index":"a","_index":"b"}}"#, "_index", 32),
        (r#"{"index":{"_index":"a","_id":"1","_id":"2"}}"#, "_id", 39),
        (r#"{"index":{"routing":null,"_index":"a","routing":"b"}}"#, "routing", 48),
    ] {
        let found = reason(&format!("{line}\n{{}}\n"));
        let expected = format!("[1:{column}] Duplicate field '{key}'\n");
        assert!(found.starts_with(&expected), "{line}: {found}");
    }
}

#[test]
fn updates_have_bodies_of_their_own() {
    let items = writes(concat!(
        "{\"update\":{\"_index\":\"a\",\"_id\":\"1\",\"retry_on_conflict\":3,\"_source\":{\"includes\":[\"x\"]}}}\n",
        "{\"doc\":{\"x\":1},\"doc_as_upsert\":true}\n",
        "{\"update\":{\"_index\":\"a\",\"_id\":\"2\",\"_source\":\"x,y\"}}\n",
        "{\"doc\":{},\"_source\":false}\n",
    ));
    let first = items[0].update.as_ref().expect("an update");
    assert!(first.doc_as_upsert && first.doc.is_some());
    assert_eq!(first.retry_on_conflict, 3);
    assert_eq!(*first.source.as_ref().expect("asked for").includes, ["x"]);
    let second = items[1].update.as_ref().expect("an update");
    assert!(second.source.is_none(), "the body says no");
    assert_eq!(
        reason("{\"update\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{\"doc\":{},\"foo\":1}\n"),
        "[1:11] [UpdateRequest] unknown field [foo]"
    );
    assert_eq!(
        reason("{\"update\":{\"_index\":\"a\",\"_id\":\"1\",\"version\":3}}\n{\"doc\":{}}\n"),
        "Update requests do not support versioning. Please use `if_seq_no` and `if_primary_term` instead"
    );
    assert_eq!(
        reason("{\"update\":{\"_index\":\"a\"}}\n{\"upsert\":{}}\n"),
        "Validation Failed: 1: id is missing;2: script or doc is missing;"
    );
}

proptest! {
    #[test]
    fn documents_are_ranges_of_the_body(
        documents in prop::collection::vec("[ -~]{0,40}", 1..20),
        crlf: bool,
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let body: String = documents
            .iter()
            .map(|text| format!("{{\"index\":{{\"_index\":\"a\"}}}}{end}{text}{end}"))
            .collect();
        let items = writes(&body);
        let found: Vec<&str> = items.iter().map(source).collect();
        prop_assert_eq!(found, documents.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn hostile_lines_never_panic(body in prop::collection::vec(prop_oneof![
        any::<u8>(), Just(b'\n'), Just(b'{'), Just(b'"'), Just(b'}'), Just(b':')], 0..80)
    ) {
        let mut body = body;
        body.push(b'\n');
        let _ = split(&Bytes::from(body), &Defaults::default());
    }
}

#[test]
fn half_a_pair_is_found_and_whole_ones_pass() {
    for (line, expected) in [
        (r#"{"index":{"_id":"\ud800"}}"#, true),
        (r#"{"index":{"_id":"a\udc00"}}"#, true),
        (r#"{"index":{"_id":"\ud83d\ud83d"}}"#, true),
        (r#"{"index":{"_id":"\ud83d\ude00"}}"#, false),
        (r#"{"index":{"_id":"\\ud800"}}"#, false),
        (r#"{"index":{"_id":"\u00e9\n"}}"#, false),
        (r"\", false),
    ] {
        assert_eq!(has_half_pair(line.as_bytes()), expected, "{line}");
    }
}

fn outcome(result: Result<document::Written>) -> BulkOutcome {
    BulkOutcome { action: WriteAction::Index, index: "a".into(), id: None, result }
}

#[test]
fn a_request_is_refused_as_a_whole_where_each_item_is() {
    let busy = || outcome(Err(Error::rejected("no memory")));
    let bad = || outcome(Err(Error::illegal_argument("a word")));
    let told = |items| {
        let reply = BulkReply { took_ms: 1, items };
        refused_whole(&reply).map(|error| error.status)
    };
    assert_eq!(told(vec![busy(), busy()]), Some(429));
    assert_eq!(told(vec![busy(), bad()]), None, "an item's own fault is told beside it");
    assert_eq!(told(vec![bad(), busy()]), None);
    assert_eq!(told(Vec::new()), None);
}
