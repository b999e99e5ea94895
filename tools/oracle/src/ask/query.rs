//! Random queries.

use json::{Number, Object, Value, json};

use super::documents::{self, PLACES, WORDS};
use super::{Name, Names};
use crate::chance::Chance;

/// A query over documents.
pub fn query(chance: &mut Chance, names: &Names, depth: usize) -> Value {
    over(chance, &names.root, names, "", depth)
}

/// A query over documents or the nested objects of a path.
pub fn over(
    chance: &mut Chance,
    fields: &[Name],
    names: &Names,
    path: &str,
    depth: usize,
) -> Value {
    if depth == 0 || chance.one_in(3) {
        return leaf(chance, fields);
    }
    let again = |chance: &mut Chance| over(chance, fields, names, path, depth - 1);
    let several = |chance: &mut Chance, most: usize| -> Value {
        (0..chance.below(most + 1)).map(|_| over(chance, fields, names, path, depth - 1)).collect()
    };
    match chance.below(12) {
        0..=4 => {
            let mut body = Object::new();
            for (key, most) in [("must", 2), ("should", 4), ("filter", 2), ("must_not", 1)] {
                if chance.one_in(2) {
                    body.insert(key, several(chance, most));
                }
            }
            if chance.one_in(4) {
                body.insert("minimum_should_match", minimum(chance));
            }
            boosted(chance, &mut body);
            json!({"bool": body})
        }
        5 => json!({"constant_score": {"filter": (again(chance)), "boost": 1.5}}),
        6 => {
            let queries: Vec<Value> = (0..chance.between(1, 3)).map(|_| again(chance)).collect();
            json!({"dis_max": {"queries": queries, "tie_breaker": (chance.pick(&[0.0, 0.3, 1.0]))}})
        }
        7 => json!({"boosting": {
            "positive": (again(chance)), "negative": (again(chance)), "negative_boost": 0.25
        }}),
        8 | 9 => {
            let below: Vec<&(String, Vec<Name>)> = names
                .nested
                .iter()
                .filter(|(inner, _)| path.is_empty() || inner.starts_with(&format!("{path}.")))
                .collect();
            if below.is_empty() {
                return again(chance);
            }
            let (inner, inside) = below[chance.below(below.len())];
            let mode = chance.pick(&["avg", "sum", "min", "max", "none"]);
            let query = over(chance, inside, names, inner, depth - 1);
            json!({"nested": {"path": inner.as_str(), "query": query, "score_mode": mode}})
        }
        _ => {
            let query = again(chance);
            function_score(chance, fields, query)
        }
    }
}

fn boosted(chance: &mut Chance, body: &mut Object) {
    if chance.one_in(4) {
        body.insert("boost", chance.pick(&[0.5, 2.0, 3.5]));
    }
}

fn minimum(chance: &mut Chance) -> Value {
    match chance.below(5) {
        0 => Value::from(chance.between(-2, 4)),
        1 => Value::from(chance.pick(&["50%", "-30%", "100%"])),
        2 => Value::from(chance.pick(&["2<75%", "1<-1 3<50%"])),
        _ => Value::from(chance.between(1, 2)),
    }
}

fn of<'a>(
    chance: &mut Chance,
    fields: &'a [Name],
    fits: impl Fn(&Name) -> bool,
) -> Option<&'a Name> {
    let all: Vec<&Name> = fields.iter().filter(|field| fits(field)).collect();
    if all.is_empty() { None } else { Some(all[chance.below(all.len())]) }
}

fn is_number(kind: &str) -> bool {
    matches!(
        kind,
        "byte" | "short" | "integer" | "long" | "half_float" | "float" | "double" | "scaled_float"
    )
}

fn function_score(chance: &mut Chance, fields: &[Name], query: Value) -> Value {
    let mut functions = Vec::new();
    for _ in 0..chance.below(4) {
        let mut function = Object::new();
        if chance.one_in(2) {
            function.insert("filter", leaf(chance, fields));
        }
        let number = of(chance, fields, |field| field.column && is_number(&field.kind));
        match (chance.below(3), number) {
            (0, Some(field)) => {
                let modifier = chance.pick(&["none", "log1p", "ln1p", "sqrt", "square"]);
                // Negative values are an error: this factor keeps off them.
                let name = if fields.iter().any(|f| f.name == "uid") { "uid" } else { &field.name };
                if name == "uid" {
                    function.insert(
                        "field_value_factor",
                        json!({
                            "field": name, "factor": 1.2, "modifier": modifier, "missing": 1
                        }),
                    );
                } else {
                    function.insert("weight", 2);
                }
            }
            (1, Some(field)) => {
                let options = json!({
                    "origin": (chance.between(-5, 20)), "scale": 7, "offset": (chance.below(3)), "decay": 0.4
                });
                let mut inner = Object::new();
                inner.insert(field.name.as_str(), options);
                function.insert(chance.pick(&["linear", "exp", "gauss"]), inner);
                if chance.one_in(2) {
                    function.insert("weight", 1.5);
                }
            }
            _ => drop(function.insert("weight", chance.pick(&[0.5, 2.0, 4.0]))),
        }
        functions.push(Value::Object(function));
    }
    let mut body = Object::new();
    body.insert("query", query);
    body.insert("functions", Value::Array(functions));
    body.insert("score_mode", chance.pick(&["multiply", "sum", "avg", "first", "max", "min"]));
    body.insert("boost_mode", chance.pick(&["multiply", "replace", "sum", "avg", "max", "min"]));
    if chance.one_in(4) {
        body.insert("max_boost", 1.7);
    }
    boosted(chance, &mut body);
    json!({"function_score": body})
}

fn named(name: &str, field: &str, body: impl Into<Value>) -> Value {
    let mut inner = Object::new();
    inner.insert(field, body);
    let mut outer = Object::new();
    outer.insert(name, inner);
    Value::Object(outer)
}

fn leaf(chance: &mut Chance, fields: &[Name]) -> Value {
    let text = |field: &Name| field.kind == "text";
    let terms = |field: &Name| matches!(field.kind.as_str(), "keyword" | "wildcard");
    for _ in 0..20 {
        let found = match chance.below(21) {
            0..=2 => of(chance, fields, text).map(|field| match_query(chance, &field.name)),
            3 => of(chance, fields, text).map(|field| phrase(chance, &field.name)),
            4 => multi_match(chance, fields),
            5..=7 => of(chance, fields, |field| field.kind != "geo_point").map(|f| term(chance, f)),
            8..=10 => {
                of(chance, fields, |field| field.kind != "geo_point").map(|f| range(chance, f))
            }
            11 => of(chance, fields, |_| true)
                .map(|field| json!({"exists": {"field": field.name.as_str()}})),
            12 => of(chance, fields, |f| text(f) || terms(f)).map(|f| pattern(chance, f)),
            13 => of(chance, fields, |f| text(f) || terms(f)).map(|f| pattern(chance, f)),
            14 => of(chance, fields, terms).map(|field| {
                let values: Vec<Value> =
                    (0..chance.below(4)).map(|_| Value::from(chance.pick(WORDS))).collect();
                let mut body = Object::new();
                body.insert(field.name.as_str(), Value::Array(values));
                boosted(chance, &mut body);
                json!({"terms": body})
            }),
            15 => {
                of(chance, fields, |field| field.kind == "geo_point").map(|f| geo(chance, &f.name))
            }
            16 => {
                let ids: Vec<Value> = (0..chance.below(5))
                    .map(|_| Value::from(format!("d{}", chance.below(60))))
                    .collect();
                fields.iter().any(|f| f.name == "uid").then(|| json!({"ids": {"values": ids}}))
            }
            17 => fields.iter().any(|field| field.name == "least").then(|| {
                let words: Vec<Value> =
                    (0..chance.between(1, 4)).map(|_| Value::from(word(chance))).collect();
                let body = json!({"terms": words, "minimum_should_match_field": "least"});
                named("terms_set", chance.pick(&["k1", "t1"]), body)
            }),
            18 => of(chance, fields, |f| {
                !matches!(f.kind.as_str(), "geo_point" | "text") && !f.kind.ends_with("_range")
            })
            .map(|field| {
                let value = match field.kind.as_str() {
                    "constant_keyword" => Value::from("fixed"),
                    kind => documents::value(chance, kind),
                };
                named("match", &field.name, json!({"query": (asked(value))}))
            }),
            19 => of(chance, fields, |field| {
                field.column && (WHOLE.contains(&field.kind.as_str()) || field.kind == "keyword")
            })
            .map(|field| script(chance, field)),
            _ => Some(json!({"match_all": {}})),
        };
        if let Some(found) = found {
            return found;
        }
    }
    json!({"match_none": {}})
}

/// Fields whose values are whole numbers.
const WHOLE: &[&str] = &["byte", "short", "integer", "long"];

/// Scripts that choose documents, each by its text: what the plain reading knows them by.
pub const SCRIPTS: &[&str] = &[
    "doc.containsKey(params.f) && doc[params.f].size() >= params.v",
    "doc.containsKey(params.f) && !doc[params.f].empty && doc[params.f].value > params.v",
    "if (!doc.containsKey(params.f)) { return false } for (v in doc[params.f]) { if (v == params.v) \
     { return true } } return false",
];

/// Asks whether a word stands in a column.
pub const CONTAINS: &str = "doc.containsKey(params.f) && doc[params.f].contains(params.m)";

/// A script over the column of a field.
fn script(chance: &mut Chance, field: &Name) -> Value {
    let (source, value) = match chance.below(3) {
        0 => (SCRIPTS[0], Value::from(chance.below(3))),
        1 if field.kind != "keyword" => (SCRIPTS[1], Value::from(chance.between(-5, 20))),
        _ if field.kind == "keyword" => (SCRIPTS[2], Value::from(chance.pick(WORDS))),
        _ => (SCRIPTS[2], Value::from(chance.between(-5, 20))),
    };
    let params = json!({"f": (field.name.as_str()), "v": value});
    json!({"script": {"script": {"source": source, "params": params}}})
}

/// A term that texts or keywords may hold.
fn word(chance: &mut Chance) -> String {
    if chance.one_in(2) {
        return chance.pick(WORDS).to_owned();
    }
    let (piece, parts) = chance.pick(documents::pieces());
    parts.first().map_or(piece, |(standard, _)| standard).to_owned()
}

fn match_query(chance: &mut Chance, field: &str) -> Value {
    let mut body = Object::new();
    body.insert("query", documents::text(chance, 4));
    match chance.below(8) {
        0 | 1 => drop(body.insert("operator", chance.pick(&["and", "AND", "or"]))),
        2 => drop(body.insert("minimum_should_match", minimum(chance))),
        3 => drop(body.insert("zero_terms_query", "all")),
        4 => {
            body.insert("fuzziness", chance.pick(&["AUTO", "1", "0"]));
            body.insert("prefix_length", chance.below(2));
        }
        _ => {}
    }
    boosted(chance, &mut body);
    let name = if body.get("fuzziness").is_none() && chance.one_in(6) {
        body.remove("zero_terms_query");
        "match_bool_prefix"
    } else {
        "match"
    };
    named(name, field, body)
}

fn phrase(chance: &mut Chance, field: &str) -> Value {
    let mut body = Object::new();
    body.insert("query", documents::text(chance, 3));
    if chance.one_in(3) {
        body.insert("slop", chance.between(1, 3));
    }
    let name =
        if body.len() == 1 && chance.one_in(4) { "match_phrase_prefix" } else { "match_phrase" };
    boosted(chance, &mut body);
    named(name, field, body)
}

fn multi_match(chance: &mut Chance, fields: &[Name]) -> Option<Value> {
    let texts: Vec<&Name> = fields.iter().filter(|field| field.kind == "text").collect();
    if texts.is_empty() {
        return None;
    }
    let kind =
        chance.pick(&["best_fields", "most_fields", "phrase", "phrase_prefix", "bool_prefix"]);
    let mut chosen: Vec<String> = Vec::new();
    for field in &texts {
        if chance.one_in(2) {
            chosen.push(format!("{}{}", field.name, chance.pick(&["", "", "^2", "^0.5"])));
        }
    }
    if chosen.is_empty() {
        chosen.push(texts[0].name.clone());
    }
    let mut body = Object::new();
    body.insert("query", documents::text(chance, 3));
    body.insert("type", kind);
    body.insert("fields", chosen.into_iter().map(Value::from).collect::<Value>());
    if chance.one_in(3) {
        body.insert("tie_breaker", 0.3);
    }
    if matches!(kind, "best_fields" | "most_fields") && chance.one_in(3) {
        body.insert("operator", "and");
    }
    boosted(chance, &mut body);
    Some(json!({"multi_match": body}))
}

/// A value as a query may name it: whole numbers without a rest.
fn asked(value: Value) -> Value {
    match &value {
        Value::String(text) if text == "rubbish" => Value::from("1"),
        _ => value,
    }
}

fn term(chance: &mut Chance, field: &Name) -> Value {
    let kind = field.kind.as_str();
    let mut body = Object::new();
    let value = match kind {
        "text" => Value::from(word(chance)),
        "constant_keyword" => Value::from(chance.pick(&["fixed", "other"])),
        "integer_range" | "long_range" | "double_range" => Value::from(chance.between(-20, 60)),
        "date_range" => Value::from(format!("2024-0{}-15", chance.between(1, 9))),
        "ip" if chance.one_in(3) => {
            Value::from(chance.pick(&["10.0.0.0/24", "10.0.0.0/8", "2001:db8::/32", "0.0.0.0/0"]))
        }
        kind => asked(documents::value(chance, kind)),
    };
    body.insert("value", value);
    if matches!(kind, "keyword" | "wildcard") && chance.one_in(5) {
        body.insert("case_insensitive", true);
    }
    boosted(chance, &mut body);
    named("term", &field.name, body)
}

fn range(chance: &mut Chance, field: &Name) -> Value {
    let mut body = Object::new();
    let kind = field.kind.as_str();
    let value = |chance: &mut Chance| match kind {
        "text" | "keyword" | "wildcard" | "constant_keyword" => Value::from(word(chance)),
        "integer_range" | "long_range" | "double_range" => Value::from(chance.between(-20, 60)),
        "date" | "date_nanos" | "date_range" => {
            let base = documents::moment(chance);
            match chance.below(4) {
                0 if base.len() == 10 => Value::from(format!("{base}||/M")),
                1 if base.len() == 10 => Value::from(format!("{base}||+1M/d")),
                2 if base.len() == 10 => Value::from(format!("{base}||-3d")),
                _ => Value::from(base),
            }
        }
        "boolean" => Value::from(chance.one_in(2)),
        "byte" | "short" | "integer" | "long" | "unsigned_long" if chance.one_in(4) => {
            Number::from_text(&format!("{}.5", chance.between(0, 30)))
                .map_or(Value::Null, Value::from)
        }
        kind => asked(documents::value(chance, kind)),
    };
    let (lower, upper) = (chance.pick(&["gt", "gte"]), chance.pick(&["lt", "lte"]));
    let which = chance.below(4);
    if which != 0 {
        body.insert(lower, value(chance));
    }
    if which != 1 {
        body.insert(upper, value(chance));
    }
    if kind.ends_with("_range") {
        body.insert("relation", chance.pick(&["intersects", "within", "contains"]));
    }
    if matches!(kind, "date" | "date_nanos") && chance.one_in(3) {
        body.insert("time_zone", chance.pick(&["+01:00", "-05:30", "Europe/Berlin"]));
    }
    boosted(chance, &mut body);
    named("range", &field.name, body)
}

fn pattern(chance: &mut Chance, field: &Name) -> Value {
    let mut body = Object::new();
    let word = word(chance);
    let letters: Vec<char> = word.chars().collect();
    let cut = chance.below(letters.len() + 1);
    let (begin, rest): (String, String) =
        (letters[..cut].iter().collect(), letters[cut..].iter().collect());
    let kind = chance.pick(&["prefix", "wildcard", "regexp", "fuzzy"]);
    let plain = letters.iter().all(|letter| letter.is_ascii_alphanumeric());
    let value = match kind {
        "prefix" => begin,
        "wildcard" => {
            let end: String = rest.chars().skip(1).collect();
            match chance.below(4) {
                0 => format!("{begin}*"),
                1 => format!("*{rest}"),
                2 => format!("{begin}?{end}"),
                _ => format!("{begin}*{end}"),
            }
        }
        "regexp" if plain && !word.is_empty() => match chance.below(5) {
            0 => format!("{begin}.*"),
            1 => format!("({word}|blue)s?"),
            2 => format!("[a-m].{{2,4}}{}", chance.pick(&["", "x?", ".+"])),
            3 => format!("{begin}[^x]+"),
            _ => format!(".*{rest}"),
        },
        "regexp" => "b.+".to_owned(),
        _ => {
            body.insert("fuzziness", chance.pick(&["AUTO", "1", "2"]));
            body.insert("prefix_length", chance.below(2));
            body.insert("transpositions", chance.one_in(2));
            // What is all edits scores below nothing, which nobody promises to find.
            if letters.len() < 4 { "blues".to_owned() } else { word }
        }
    };
    body.insert("value", value);
    if matches!(kind, "prefix" | "wildcard") && chance.one_in(4) {
        body.insert("case_insensitive", true);
    }
    boosted(chance, &mut body);
    named(kind, &field.name, body)
}

fn geo(chance: &mut Chance, field: &str) -> Value {
    let (lat, lon) = chance.pick(PLACES);
    if chance.one_in(2) {
        let distance = chance.pick(&["40km", "300km", "5000km", "19000km", "100m"]);
        let mut body = Object::new();
        body.insert("distance", distance);
        body.insert(field, json!({"lat": lat, "lon": lon}));
        return json!({"geo_distance": body});
    }
    let top = chance.between(-50, 90);
    let (left, right) = (chance.between(-180, 180), chance.between(-180, 180));
    named(
        "geo_bounding_box",
        field,
        json!({
            "top_left": {"lat": top, "lon": left},
            "bottom_right": {"lat": (chance.between(-90, top - 1)), "lon": right}
        }),
    )
}
