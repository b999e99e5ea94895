//! What queries of records mean.

use json::json;

use super::*;

const FIELDS: Fields = Fields(&[
    ("name", Kind::Word),
    ("roles", Kind::Word),
    ("full_name", Kind::Text),
    ("made", Kind::Date),
    ("dead", Kind::Truth),
    ("metadata", Kind::Object),
]);

/// The 2nd of January 2026, at noon.
const NOON: i64 = 1_767_355_200_000;

fn data() -> Value {
    json!({"name": "my key", "roles": ["a", "b"], "full_name": "Ann Example", "made": NOON,
        "dead": false, "metadata": {"x": "y", "n": 10, "deep": {"er": true}}})
}

fn found(query: &Value) -> Result<bool> {
    clause::check_kinds(query)?;
    let query = dsl::parse_query_value(query).map_err(|error| told(&error))?;
    Ok(Test::of(&query, FIELDS, NOON)?.fits_at_once(&Row { id: "id1", data: &data() }))
}

#[test]
fn clauses_match_what_they_say() {
    for (query, expected) in [
        (json!({"match_all": {}}), true),
        (json!({"ids": {"values": ["id1"]}}), true),
        (json!({"ids": {"values": ["id2"]}}), false),
        (json!({"term": {"name": "my key"}}), true),
        (json!({"term": {"name": "My Key"}}), false),
        (json!({"term": {"name": {"value": "My Key", "case_insensitive": true}}}), true),
        (json!({"term": {"roles": {"value": "b"}}}), true),
        (json!({"terms": {"roles": ["x", "b"]}}), true),
        (json!({"terms": {"roles": []}}), false),
        (json!({"prefix": {"name": "my"}}), true),
        (json!({"prefix": {"name": {"value": "MY", "case_insensitive": true}}}), true),
        (json!({"wildcard": {"name": "*ke*"}}), true),
        // A word is taken whole, a text is not.
        (json!({"match": {"name": "my"}}), false),
        (json!({"match": {"name": "my key"}}), true),
        (json!({"match": {"full_name": "example people"}}), true),
        (json!({"match": {"full_name": {"query": "example people", "operator": "and"}}}), false),
        (json!({"exists": {"field": "metadata"}}), true),
        (json!({"exists": {"field": "metadata.z"}}), false),
        // Beside a key all is words.
        (json!({"term": {"metadata.x": "y"}}), true),
        (json!({"term": {"metadata.n": 10}}), true),
        (json!({"term": {"metadata": "y"}}), true),
        (json!({"term": {"metadata.deep.er": true}}), true),
        (json!({"range": {"metadata.n": {"lt": "9"}}}), true),
        (json!({"term": {"dead": false}}), true),
        (json!({"term": {"dead": "true"}}), false),
        // Dates, with their arithmetic.
        (json!({"range": {"made": {"gte": "now-1d"}}}), true),
        (json!({"range": {"made": {"gt": "now"}}}), false),
        (json!({"range": {"made": {"gte": "2026-01-02", "lte": "2026-01-02"}}}), true),
        (json!({"range": {"made": {"gt": "2026-01-02"}}}), false),
        (json!({"range": {"made": {"gte": "02.01.2026", "format": "dd.MM.yyyy"}}}), true),
        (json!({"range": {"made": {"lt": NOON}}}), false),
        (json!({"term": {"made": "2026-01-02"}}), true),
        (json!({"bool": {"must_not": {"term": {"name": "my key"}}}}), false),
        (json!({"bool": {"should": [{"term": {"name": "x"}}, {"term": {"roles": "a"}}]}}), true),
        (json!({"bool": {"should": [{"term": {"name": "x"}}]}}), false),
        (json!({"bool": {"must": {"match_all": {}}, "should": [{"term": {"name": "x"}}]}}), true),
        (
            json!({"bool": {"should": [{"term": {"roles": "a"}}, {"term": {"roles": "c"}}],
                "minimum_should_match": "100%"}}),
            false,
        ),
    ] {
        assert_eq!(found(&query), Ok(expected), "{query:?}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for query in [
        json!({"script": {}}),
        json!({"match_none": {}}),
        json!({"bool": {"must": [{"regexp": {"name": "a"}}]}}),
        json!({"term": {"secret": "x"}}),
        json!({"range": {"made": {"foo": 1}}}),
        json!({"range": {"made": {"gte": "soon"}}}),
        json!({"term": {"dead": "perhaps"}}),
        json!({"terms": {"name": {"index": "i", "id": "1", "path": "p"}}}),
    ] {
        assert_eq!(found(&query).map_err(|error| error.status), Err(400), "{query:?}");
    }
}

#[test]
fn simple_texts_have_operators_and_fields() {
    for (text, fields, expected) in [
        ("b", vec![], true),
        ("c", vec![], false),
        ("c b", vec![], true),
        ("c + b", vec![], false),
        ("a + b", vec![], true),
        ("a + -b", vec![], false),
        ("c | (a + b)", vec![], true),
        ("\"my key\"", vec![], true),
        ("my", vec![], false),
        ("my*", vec![], true),
        ("my*", vec!["roles"], false),
        ("b", vec!["ro*"], true),
        ("b", vec!["nothing"], false),
        ("example", vec!["full_name"], true),
        ("y", vec!["metadata.x"], true),
        ("*", vec![], true),
        (")) ((", vec![], false),
        ("", vec![], false),
    ] {
        let query = match fields.is_empty() {
            true => json!({"simple_query_string": {"query": text}}),
            false => json!({"simple_query_string": {"query": text, "fields": (fields.clone())}}),
        };
        assert_eq!(found(&query), Ok(expected), "{text} in {fields:?}");
    }
    let deep = json!({"simple_query_string": {"query": ("(".repeat(10_000) + "b")}});
    assert_eq!(found(&deep), Ok(true));
}

/// Numbers and texts beside keys had no total order, by which a sort may end the process.
#[test]
fn what_is_beside_keys_is_put_into_one_order() {
    let values =
        [json!(10), json!("9"), json!("a"), json!(2), json!(null), json!([3, 1]), json!(1e300)];
    let sorted = |orders: &Orders, count: usize| -> Vec<(order::Keys, String)> {
        let row = |at: usize| {
            let data = json!({"metadata": {"v": (values[at * 5 % values.len()].clone())}});
            (orders.keys(at, &data), format!("{at:03}"))
        };
        let mut rows: Vec<(order::Keys, String)> = (0..count).map(row).collect();
        orders.sort(&mut rows, |id| id);
        rows
    };
    let sort = |sort: &str| {
        let asked =
            dsl::parse_search(format!("{{\"sort\":{sort}}}").as_bytes(), &[]).expect("legal");
        Orders::of(&asked.sort, FIELDS)
    };
    let orders = sort(r#"["metadata.v"]"#).expect("a field");
    let words: Vec<String> = sorted(&orders, values.len())
        .iter()
        .map(|(keys, _)| json::to_string(&Value::from(orders.show(keys))))
        .collect();
    assert_eq!(
        words,
        [r#"["1"]"#, r#"["1.0E300"]"#, r#"["10"]"#, r#"["2"]"#, r#"["9"]"#, r#"["a"]"#, "[null]"]
    );
    for order in [r#"[{"metadata.v":"desc"}]"#, r#"[{"metadata.v":{"missing":"_first"}}]"#] {
        let orders = sort(order).expect("a field");
        let sorted = sorted(&orders, 100);
        assert!(
            sorted.windows(2).all(|two| orders.compare(&two[0].0, &two[1].0).is_le()),
            "{order}"
        );
    }
    assert!(sort(r#"["_score"]"#).is_err() && sort(r#"["secret"]"#).is_err());
}

/// Each word of a text lay inside of the one before it, as deep as there were words.
#[test]
fn clauses_are_counted_however_they_lie() {
    let refused = |query: &Value| found(query).map_err(|error| error.kind.into_owned());
    let too_many = Err("too_many_nested_clauses".to_owned());
    let text = |count: usize| json!({"simple_query_string": {"query": ("x ".repeat(count)), "fields": ["name"]}});
    assert_eq!(refused(&text(4_096)), Ok(false));
    assert_eq!(refused(&text(4_097)), too_many);
    let unknown = json!({"simple_query_string": {"query": ("x ".repeat(4_097)), "fields": ["z"]}});
    assert_eq!(refused(&unknown), too_many);
    let mixed = "x y + ".repeat(2_048);
    let mixed = json!({"simple_query_string": {"query": mixed, "fields": ["name"]}});
    assert_eq!(refused(&mixed), Ok(false));
    let clauses = |clause: Value, count: usize| json!({"bool": {"must": (vec![clause; count])}});
    for clause in
        [json!({"match_all": {}}), json!({"bool": {}}), json!({"ids": {"values": ["id1"]}})]
    {
        assert_eq!(refused(&clauses(clause.clone(), 4_096)), Ok(true), "{clause:?}");
        assert_eq!(refused(&clauses(clause.clone(), 4_097)), too_many, "{clause:?}");
    }
    let days = |count: usize| json!({"terms": {"made": (vec!["2026-01-01"; count])}});
    assert_eq!((refused(&days(4_096)), refused(&days(4_097))), (Ok(false), too_many));
    let long = |stars: usize| json!({"wildcard": {"name": ("*".repeat(stars))}});
    assert_eq!(refused(&long(1_000)), Ok(true));
    assert_eq!(refused(&long(1_001)), Err("illegal_argument_exception".to_owned()));
}
