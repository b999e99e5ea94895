//! The pages of `docs/api` that list queries and aggregations, types and parts of analysis follow the code: what they
//! write is read, and what is read is written there.

use std::collections::BTreeSet;
use std::sync::Arc;

use json::Value;
use mapping::analysis::Registry;
use mapping::{Mapping, Settings};
use search::dsl;

/// The rows of a page: the name, and the JSON objects of the second cell.
fn rows(page: &str) -> Vec<(String, Vec<String>)> {
    let path = format!("{}/../../docs/api/{page}.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("it stands in this checkout");
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        // A bar inside of a cell is written with a backslash.
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<&str> = line.split('|').collect();
        let code = |cell: &str| -> Vec<String> {
            let parts = cell.split('`').skip(1).step_by(2);
            parts.map(|part| part.replace('\u{1}', "|")).collect()
        };
        let names = code(cells[1]);
        let written: Vec<String> =
            code(cells[2]).into_iter().filter(|part| part.starts_with('{')).collect();
        assert!(!written.is_empty(), "{page}: {} is shown", names[0]);
        for name in names {
            rows.push((name, written.clone()));
        }
    }
    assert!(rows.len() > 20, "{page} has rows");
    rows
}

fn read(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn names_match(page: &str, rows: &[(String, Vec<String>)], known: &[&str], refused: &[&str]) {
    let told: BTreeSet<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    let known: BTreeSet<&str> =
        known.iter().copied().filter(|name| !refused.contains(name)).collect();
    let differ: Vec<_> = told.symmetric_difference(&known).collect();
    assert!(differ.is_empty(), "{page} and the code differ in {differ:?}");
}

#[test]
fn every_query_is_read_as_the_page_writes_it() {
    let rows = rows("queries");
    names_match("queries", &rows, &dsl::QUERY_NAMES, &[]);
    for (name, written) in rows {
        for query in written {
            assert!(query.starts_with(&format!("{{\"{name}\":")), "{query} is of {name}");
            dsl::parse_query(query.as_bytes()).unwrap_or_else(|error| panic!("{error}: {query}"));
        }
    }
}

#[test]
fn every_aggregation_is_read_as_the_page_writes_it() {
    let rows = rows("aggregations");
    let scripts = ["scripted_metric"];
    names_match("aggregations", &rows, &dsl::AGGREGATION_NAMES, &scripts);
    let inside = [
        "derivative",
        "serial_diff",
        "cumulative_sum",
        "cumulative_cardinality",
        "moving_fn",
        "bucket_script",
        "bucket_selector",
        "normalize",
    ];
    for (name, written) in rows {
        for agg in written {
            assert!(agg.starts_with(&format!("{{\"{name}\":")), "{agg} is of {name}");
            let below = |more: &str| {
                format!(
                    r#""h":{{"histogram":{{"field":"n","interval":1}},"aggs":{{"s":{{"sum":{{"field":"n"}}}},"c":{{"cardinality":{{"field":"n"}}}}{more}}}}}"#
                )
            };
            let body = if inside.contains(&name.as_str()) || name == "bucket_sort" {
                format!(r#"{{"aggs":{{{}}}}}"#, below(&format!(r#","x":{agg}"#)))
            } else {
                format!(r#"{{"aggs":{{{},"x":{agg}}}}}"#, below(""))
            };
            dsl::parse_search(body.as_bytes(), &[])
                .unwrap_or_else(|error| panic!("{error}: {body}"));
        }
    }
}

#[test]
fn every_type_is_read_as_the_page_writes_it() {
    for (name, written) in rows("fields") {
        for field in written {
            let field = read(&field);
            let kind = field.get("type").and_then(Value::as_str).unwrap_or("object").to_owned();
            assert_eq!(kind, name);
            let analysis = json::json!({"normalizer": {"lower": {"filter": ["lowercase"]}}});
            let registry = Registry::parse(&analysis).expect("a normalizer");
            let settings = Settings { analysis: Arc::new(registry), ..Settings::default() };
            let mappings =
                json::json!({"properties": {"f": field.clone(), "g": {"type": "keyword"}}});
            Mapping::parse(&mappings, Arc::new(settings))
                .unwrap_or_else(|error| panic!("{}: {}", error.reason, json::to_string(&field)));
        }
    }
}

#[test]
fn every_part_of_analysis_is_read_as_the_page_writes_it() {
    for (name, written) in rows("analysis") {
        for part in written {
            let part = read(&part);
            let (kind, definition) = part
                .as_object()
                .and_then(|parts| parts.iter().next())
                .unwrap_or_else(|| panic!("{name} is a part"));
            assert_eq!(definition.get("type").and_then(Value::as_str), Some(name.as_str()));
            let mut analysis = json::Object::new();
            let mut parts = json::Object::new();
            parts.insert("x", definition.clone());
            analysis.insert(kind, Value::Object(parts));
            if kind == "filter" {
                let chain = json::json!({"c": {"tokenizer": "standard", "filter": ["x"]}});
                analysis.insert("analyzer", chain);
            }
            Registry::parse(&Value::Object(analysis))
                .unwrap_or_else(|error| panic!("{}: {}", error.reason, json::to_string(&part)));
        }
    }
}
