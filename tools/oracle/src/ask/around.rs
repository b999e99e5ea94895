//! Random requests around a query: sort, pages, filters, aggregations.

use json::{Object, Value, json};

use super::documents::PLACES;
use super::query;
use super::{Name, Names};
use crate::chance::Chance;

/// A search, as a step of a case.
pub fn search(chance: &mut Chance, names: &Names) -> Value {
    let mut body = Object::new();
    if !chance.one_in(10) {
        let depth = chance.below(4);
        body.insert("query", query::query(chance, names, depth));
    }
    body.insert("track_total_hits", true);
    match chance.below(10) {
        // By score.
        0..=3 => {
            body.insert("size", chance.pick(&[0, 1, 3, 10, 200]));
            if chance.one_in(4) {
                body.insert("from", chance.below(5));
            }
            if chance.one_in(10) {
                body.insert("min_score", 1.1);
            }
        }
        4..=6 => {
            body.insert("sort", sort(chance, names));
            body.insert("size", chance.pick(&[1, 5, 300]));
            if chance.one_in(3) {
                body.insert("from", chance.below(10));
            }
            if chance.one_in(4) {
                body.insert("track_scores", true);
            }
            if chance.one_in(6) {
                body.insert("collapse", json!({"field": "one"}));
            }
        }
        7 => {
            body.insert("sort", sort(chance, names));
            body.insert("size", chance.between(2, 9));
            return json!({"search": body, "paged": "search_after"});
        }
        8 => {
            body.insert("size", 0);
            body.insert("aggs", json!({"c": (composite(chance, &names.root))}));
            return json!({"search": body, "paged": "composite"});
        }
        _ => drop(body.insert("size", 0)),
    }
    if chance.one_in(6) {
        body.insert("post_filter", query::query(chance, names, 1));
    }
    if chance.one_in(2) || body.get("size").and_then(Value::as_u64) == Some(0) {
        body.insert("aggs", aggs(chance, &names.root, names, "", 2));
    }
    json!({"search": body})
}

fn pick<'a>(
    chance: &mut Chance,
    fields: &'a [Name],
    fits: impl Fn(&str) -> bool,
) -> Option<&'a Name> {
    let all: Vec<&Name> = fields.iter().filter(|field| field.column && fits(&field.kind)).collect();
    if all.is_empty() { None } else { Some(all[chance.below(all.len())]) }
}

fn is_number(kind: &str) -> bool {
    matches!(
        kind,
        "byte"
            | "short"
            | "integer"
            | "long"
            | "unsigned_long"
            | "half_float"
            | "float"
            | "double"
            | "scaled_float"
    )
}

fn sorts(kind: &str) -> bool {
    is_number(kind) || matches!(kind, "keyword" | "date" | "date_nanos" | "boolean" | "ip")
}

/// A sort whose last key is no two documents' own.
fn sort(chance: &mut Chance, names: &Names) -> Value {
    let mut keys = Vec::new();
    for _ in 0..chance.below(3) {
        match chance.below(8) {
            0 if !names.nested.is_empty() => {
                let (path, fields) = &names.nested[0];
                let Some(field) = pick(chance, fields, sorts) else { continue };
                let mut nested = json!({"path": path.as_str()});
                if let (true, Some(nested)) = (chance.one_in(2), nested.as_object_mut()) {
                    nested.insert("filter", query::over(chance, fields, names, path, 1));
                }
                keys.push(key(chance, field, Some(nested)));
            }
            1 if names.root.iter().any(|field| field.kind == "geo_point") => {
                let (lat, lon) = chance.pick(PLACES);
                let order = chance.pick(&["asc", "desc"]);
                keys.push(json!({"_geo_distance": {
                    "f_geo_point": {"lat": lat, "lon": lon}, "order": order, "unit": "km"
                }}));
            }
            2 => keys.push(json!({"gone": {"unmapped_type": "long"}})),
            _ => {
                if let Some(field) = pick(chance, &names.root, sorts) {
                    keys.push(key(chance, field, None));
                }
            }
        }
    }
    keys.push(json!({"uid": (chance.pick(&["asc", "desc"]))}));
    Value::Array(keys)
}

fn key(chance: &mut Chance, field: &Name, nested: Option<Value>) -> Value {
    let mut options = Object::new();
    options.insert("order", chance.pick(&["asc", "desc"]));
    if chance.one_in(3) {
        let modes: &[&str] = match field.kind.as_str() {
            "keyword" | "ip" => &["min", "max"],
            "date" | "date_nanos" | "boolean" => &["min", "max"],
            // The middle of what stands inside is refused.
            _ if nested.is_some() => &["min", "max", "sum", "avg"],
            _ => &["min", "max", "sum", "avg", "median"],
        };
        options.insert("mode", chance.pick(modes));
    }
    match chance.below(4) {
        0 => drop(options.insert("missing", "_first")),
        1 if is_number(&field.kind) && field.kind != "unsigned_long" => {
            drop(options.insert("missing", 5))
        }
        2 => drop(options.insert("missing", "_last")),
        _ => {}
    }
    if let Some(nested) = nested {
        options.insert("nested", nested);
    }
    let mut key = Object::new();
    key.insert(field.name.as_str(), options);
    Value::Object(key)
}

fn aggs(chance: &mut Chance, fields: &[Name], names: &Names, path: &str, depth: usize) -> Value {
    let mut all = Object::new();
    for at in 0..chance.between(1, 2) {
        if let Some(agg) = agg(chance, fields, names, path, depth) {
            all.insert(format!("a{at}"), agg);
        }
    }
    Value::Object(all)
}

fn agg(
    chance: &mut Chance,
    fields: &[Name],
    names: &Names,
    path: &str,
    depth: usize,
) -> Option<Value> {
    if depth == 0 || chance.one_in(4) {
        return metric(chance, fields, path);
    }
    let kind = chance.below(13);
    let mut made = Object::new();
    let mut inner: Option<Value> = None;
    match kind {
        0..=2 => drop(made.insert("terms", terms(chance, fields)?)),
        3 => {
            let field = pick(chance, fields, |kind| {
                is_number(kind)
                    && !matches!(kind, "long" | "unsigned_long" | "integer" | "double" | "float")
            })?;
            let mut body = json!({
                "field": field.name.as_str(),
                "interval": (if field.kind == "short" { 1000.0 } else { chance.pick(&[5.0, 2.5, 10.0]) }),
                "min_doc_count": (chance.below(2))
            });
            if let (true, Some(body)) = (chance.one_in(3), body.as_object_mut()) {
                body.insert("offset", 1.5);
            }
            made.insert("histogram", body);
        }
        4 | 5 => drop(made.insert("date_histogram", date_histogram(chance, fields)?)),
        6 => {
            let field = pick(chance, fields, is_number)?;
            let mut ranges = Vec::new();
            for _ in 0..chance.between(1, 3) {
                let from = chance.between(-20, 40);
                ranges.push(match chance.below(3) {
                    0 => json!({"to": from}),
                    1 => json!({"from": from, "key": "named"}),
                    _ => json!({"from": from, "to": (from + chance.between(1, 30))}),
                });
            }
            made.insert("range", json!({"field": field.name.as_str(), "ranges": ranges}));
        }
        7 => {
            let field = pick(chance, fields, |kind| kind == "date")?;
            let ranges = json!([{"to": "2023-07-01"}, {"from": "2023-07", "to": "2024-03-15"}, {"from": "2024-03-15||/M"}]);
            made.insert("date_range", json!({"field": field.name.as_str(), "ranges": ranges}));
        }
        8 => drop(made.insert("filter", query::over(chance, fields, names, path, 1))),
        9 => {
            let filters = if chance.one_in(2) {
                json!({"x": (query::over(chance, fields, names, path, 1)), "y": (query::over(chance, fields, names, path, 0))})
            } else {
                json!([(query::over(chance, fields, names, path, 1))])
            };
            made.insert("filters", json!({"filters": filters, "other_bucket": (chance.one_in(2))}));
        }
        10 => {
            let field = pick(chance, fields, |_| true)?;
            made.insert("missing", json!({"field": field.name.as_str()}));
        }
        11 if path.is_empty() && depth == 2 && chance.one_in(2) => {
            drop(made.insert("global", json!({})))
        }
        _ => {
            let below: Vec<&(String, Vec<Name>)> = names
                .nested
                .iter()
                .filter(|(inner, _)| path.is_empty() || inner.starts_with(&format!("{path}.")))
                .collect();
            if !path.is_empty() && (below.is_empty() || chance.one_in(2)) {
                made.insert("reverse_nested", json!({}));
                inner = Some(aggs(chance, &names.root, names, "", depth - 1));
            } else {
                let (to, fields) = below.first()?;
                made.insert("nested", json!({"path": to.as_str()}));
                inner = Some(aggs(chance, fields, names, to, depth - 1));
            }
        }
    }
    let inner = match inner {
        Some(inner) => Some(inner),
        None if chance.one_in(2) => Some(aggs(chance, fields, names, path, depth - 1)),
        None => None,
    };
    if let Some(inner) = inner
        && inner.as_object().is_some_and(|inner| !inner.is_empty())
    {
        made.insert("aggs", inner);
    }
    Some(Value::Object(made))
}

fn terms(chance: &mut Chance, fields: &[Name]) -> Option<Value> {
    let field = pick(chance, fields, |kind| {
        is_number(kind) || matches!(kind, "keyword" | "boolean" | "ip" | "date")
    })?;
    let mut body = Object::new();
    body.insert("field", field.name.as_str());
    body.insert("size", chance.pick(&[2, 5, 10, 1000]));
    match chance.below(6) {
        0 => drop(body.insert("order", json!({"_key": (chance.pick(&["asc", "desc"]))}))),
        1 => drop(body.insert("order", json!([{"_count": "asc"}, {"_key": "desc"}]))),
        _ => {}
    }
    if chance.one_in(5) {
        body.insert("min_doc_count", 2);
    }
    if field.kind == "keyword" && chance.one_in(5) {
        body.insert("missing", "nothing");
    }
    if field.kind == "keyword" && chance.one_in(5) {
        body.insert(chance.pick(&["include", "exclude"]), json!(["red", "blue", "gone"]));
    }
    Some(Value::Object(body))
}

fn date_histogram(chance: &mut Chance, fields: &[Name]) -> Option<Value> {
    let field = pick(chance, fields, |kind| matches!(kind, "date" | "date_nanos"))?;
    let mut body = Object::new();
    body.insert("field", field.name.as_str());
    if chance.one_in(3) {
        body.insert("fixed_interval", chance.pick(&["3d", "12h", "90m"]));
        body.insert("min_doc_count", 1);
        if chance.one_in(2) {
            body.insert("time_zone", chance.pick(&["+05:30", "-08:00"]));
        }
    } else {
        let unit = chance.pick(&["month", "1M", "week", "quarter", "year", "1d", "day", "hour"]);
        body.insert("calendar_interval", unit);
        let short = matches!(unit, "hour" | "day" | "1d");
        body.insert("min_doc_count", if short { 1 } else { chance.below(2) });
        if chance.one_in(2) {
            body.insert("time_zone", chance.pick(&["Europe/Berlin", "+05:30", "UTC"]));
        }
    }
    if chance.one_in(5) {
        body.insert("offset", chance.pick(&["+6h", "-2h"]));
    }
    Some(Value::Object(body))
}

fn metric(chance: &mut Chance, fields: &[Name], path: &str) -> Option<Value> {
    let number = |kind: &str| is_number(kind) || kind == "date";
    let mut body = Object::new();
    let kind = chance.pick(&[
        "avg",
        "sum",
        "min",
        "max",
        "stats",
        "extended_stats",
        "percentiles",
        "cardinality",
        "value_count",
        "top_hits",
    ]);
    match kind {
        "top_hits" if path.is_empty() => {
            body.insert("size", chance.between(1, 4));
            body.insert("sort", json!([{"uid": "desc"}]));
            body.insert("_source", false);
        }
        "top_hits" => return None,
        "cardinality" | "value_count" => {
            let field = pick(chance, fields, |kind| {
                number(kind) || matches!(kind, "keyword" | "ip" | "boolean")
            })?;
            body.insert("field", field.name.as_str());
        }
        _ => {
            let field = pick(chance, fields, number)?;
            body.insert("field", field.name.as_str());
            if field.kind != "date" && chance.one_in(5) {
                body.insert("missing", 3);
            }
        }
    }
    let mut made = Object::new();
    made.insert(kind, body);
    Some(Value::Object(made))
}

fn composite(chance: &mut Chance, fields: &[Name]) -> Value {
    let mut sources = Vec::new();
    for name in ["s1", "s2"] {
        if name == "s2" && chance.one_in(2) {
            break;
        }
        let order = chance.pick(&["asc", "desc"]);
        let kind = chance.below(4);
        let source = match kind {
            0 => pick(chance, fields, |kind| kind == "date").map(|field| {
                json!({"date_histogram": {
                    "field": field.name.as_str(), "calendar_interval": "1M", "order": order
                }})
            }),
            1 => pick(chance, fields, |kind| matches!(kind, "byte" | "half_float")).map(|field| {
                json!({"histogram": {"field": field.name.as_str(), "interval": 5, "order": order}})
            }),
            _ => None,
        };
        let source = source.unwrap_or_else(|| {
            let field = pick(chance, fields, |kind| {
                matches!(kind, "keyword" | "boolean" | "integer" | "byte" | "double" | "ip")
            });
            let field = field.map_or("one", |field| &field.name);
            json!({"terms": {"field": field, "order": order, "missing_bucket": (chance.one_in(3))}})
        });
        let mut named = Object::new();
        named.insert(name, source);
        sources.push(Value::Object(named));
    }
    json!({"composite": {"size": (chance.between(1, 12)), "sources": sources}})
}
