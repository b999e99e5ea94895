//! A random case: people, roles, keys, grants, documents, requests.

use json::{Object, Value, json};

use super::marks;
use crate::ask::{Names, around, query};
use crate::chance::Chance;
use crate::find::schema::Schema;

/// The indices of every case.
pub const INDICES: &[&str] = &["a-1", "a-2", "b-1"];

/// Names and patterns that requests name.
const EXPRESSIONS: &[&str] = &[
    "a-1", "a-2", "b-1", "a-*", "*-1", "*", "a-1,b-1", "a-*,b-1", "al", "fal", STREAM, PUT_IN, GONE,
];

/// The data stream of every case.
pub const STREAM: &str = "st";

/// An index that was put into it.
pub const PUT_IN: &str = "old";

/// Stands for the index that was taken out of it.
pub const GONE: &str = "gone";

/// The case of a seed.
pub fn case(seed: u64) -> Value {
    let mut chance = Chance::new(seed);
    let chance = &mut chance;
    let mut indices = Object::new();
    let mut number = 0;
    for index in INDICES {
        let mut docs = Object::new();
        for _ in 0..chance.between(2, 7) {
            docs.insert(marks::id(number), marks::document(chance, number));
            number += 1;
        }
        indices.insert(*index, docs);
    }
    let mut of_stream = |chance: &mut Chance| {
        let mut docs = Object::new();
        for _ in 0..chance.between(1, 4) {
            let mut doc = marks::document(chance, number);
            if let Some(doc) = doc.as_object_mut() {
                doc.insert("@timestamp", "2026-01-01");
            }
            docs.insert(marks::id(number), doc);
            number += 1;
        }
        docs
    };
    let (put_in, gone) = (of_stream(chance), of_stream(chance));
    let mut roles = Object::new();
    for at in 0..chance.between(2, 4) {
        roles.insert(format!("r{at}"), role(chance));
    }
    let role_names: Vec<String> = roles.keys().map(str::to_owned).collect();
    let mut users = Object::new();
    for name in ["u0", "u1"] {
        let own: Vec<Value> = (0..chance.between(1, 2))
            .map(|_| Value::from(&role_names[chance.below(role_names.len())]))
            .collect();
        users.insert(name, Value::Array(own));
    }
    let mut callers = vec![json!({"user": "u0"}), json!({"user": "u1"})];
    for _ in 0..chance.between(1, 2) {
        let user = chance.pick(&["u0", "u1"]);
        let mut own = Object::new();
        for at in 0..chance.below(3) {
            own.insert(format!("k{at}"), json!({"indices": (entries(chance))}));
        }
        callers.push(json!({"user": user, "key": own}));
    }
    callers.push(token(chance));
    let names = Names::read(&Schema::read(&marks::mapping()));
    let mut steps: Vec<Value> = (0..chance.between(20, 60))
        .map(|_| {
            let mut step = request(chance, &names, number);
            plainer(&mut step);
            if let Some(step) = step.as_object_mut() {
                step.insert("as", chance.below(callers.len()));
            }
            step
        })
        .collect();
    for _ in 0..2 {
        for kind in ["_clone", "_shrink", "_split"] {
            let caller = chance.below(callers.len());
            steps.push(json!({"copy": kind, "on": (chance.pick(INDICES)), "as": caller}));
        }
    }
    for _ in 0..2 {
        for mut step in by_other_paths(chance, &names, number) {
            plainer(&mut step);
            if let Some(step) = step.as_object_mut() {
                step.insert("as", chance.below(callers.len()));
            }
            steps.push(step);
        }
    }
    json!({
        "seed": seed, "indices": indices, "old": put_in, "gone": gone, "roles": roles, "users": users, "callers": callers, "steps": steps
    })
}

fn role(chance: &mut Chance) -> Value {
    json!({"cluster": ["manage_own_api_key"], "indices": (entries(chance))})
}

fn entries(chance: &mut Chance) -> Value {
    (0..chance.between(1, 3)).map(|_| entry(chance)).collect()
}

fn some(chance: &mut Chance, of: &[&'static str], most: i64) -> Vec<&'static str> {
    (0..chance.between(1, most)).map(|_| chance.pick(of)).collect()
}

fn entry(chance: &mut Chance) -> Value {
    let names = some(
        chance,
        &["*", "a-*", "a-1", "a-2", "b-*", "b-1", "*-1", "al", "fal", STREAM, "s*", PUT_IN],
        2,
    );
    let privileges = some(
        chance,
        &[
            "read",
            "read",
            "read",
            "all",
            "write",
            "index",
            "create_doc",
            "delete",
            "view_index_metadata",
            "manage",
        ],
        3,
    );
    let mut entry = json!({"names": names, "privileges": privileges});
    let Some(members) = entry.as_object_mut() else { return entry };
    if chance.one_in(2) {
        members.insert("query", filter(chance, 2));
    }
    if chance.one_in(2) {
        let fields =
            ["*", "t1", "t1*", "k*", "m", "o.*", "o", "nest.*", "nest.k", "one", "f_*", "uid"];
        let mut rule = json!({"grant": (some(chance, &fields, 4))});
        // What is taken away must lie within what is given.
        if chance.one_in(2) {
            let except = some(chance, &["m", "k1", "o.k", "nest.k", "nest", "t1", "o"], 2);
            rule = json!({"grant": ["*"], "except": except});
        }
        members.insert("field_security", rule);
    }
    entry
}

/// A filter of documents.
fn filter(chance: &mut Chance, depth: usize) -> Value {
    let deep = if depth > 0 { 7 } else { 5 };
    match chance.below(deep) {
        0 => json!({"term": {"one": (chance.pick(&["red", "green", "blue"]))}}),
        1 => json!({"term": {"f_boolean": (chance.one_in(2))}}),
        2 => json!({"range": {"f_integer": {"gte": (chance.below(6))}}}),
        3 => json!({"terms": {"k2": [(chance.pick(&["red", "green"])), "teal"]}}),
        4 => json!({"exists": {"field": "m"}}),
        5 => {
            json!({"bool": {"should": [(filter(chance, depth - 1)), (filter(chance, depth - 1))]}})
        }
        _ => {
            json!({"bool": {"filter": [(filter(chance, depth - 1))], "must_not": [(filter(chance, depth - 1))]}})
        }
    }
}

fn token(chance: &mut Chance) -> Value {
    let patterns = ["*", "a-*", "a-1", "b-*", "al", "fal", "*-1", STREAM, PUT_IN];
    let actions = ["read", "read", "all", "write", "create", "manage"];
    let scope =
        |chance: &mut Chance| format!("index:{}:{}", chance.pick(&patterns), chance.pick(&actions));
    let mut scopes: Vec<String> = (0..chance.below(3)).map(|_| scope(chance)).collect();
    scopes.dedup();
    let mut details = Vec::new();
    for _ in 0..chance.below(3) {
        let mut detail = json!({
            "type": "index_access",
            "indices": [(chance.pick(&["a-*", "a-1", "b-1", "*"]))],
            "actions": [(chance.pick(&["read", "read", "write", "all"]))]
        });
        if let Some(detail) = detail.as_object_mut() {
            if chance.one_in(2) {
                detail.insert("query", filter(chance, 1));
            }
            if chance.one_in(2) {
                let fields =
                    some(chance, &["t1", "k1", "m", "o", "nest", "one", "uid", "f_integer"], 4);
                detail.insert("fields", fields.into_iter().map(Value::from).collect::<Value>());
            }
        }
        details.push(detail);
    }
    if scopes.is_empty() && details.is_empty() {
        scopes.push(scope(chance));
    }
    // The ceiling holds what is asked for, or it would be refused at once.
    json!({"user": (chance.pick(&["u0", "u1"])), "token": {
        "scope": (scopes.join(" ")), "details": details, "ceiling": "index:*:all"
    }})
}

fn request(chance: &mut Chance, names: &Names, docs: usize) -> Value {
    let on = chance.pick(EXPRESSIONS);
    let index = chance.pick(INDICES);
    let doc = chance.below(docs + 1);
    let id = marks::id(doc);
    let (place, field) = chance.pick(marks::PLACES);
    let mark = marks::mark(doc, place);
    match chance.below(42) {
        0..=4 => {
            let mut step = around::search(chance, names);
            if let Some(step) = step.as_object_mut() {
                step.remove("paged");
                step.insert("on", on);
            }
            step
        }
        5..=7 => {
            let mut body =
                json!({"query": (telling(chance, field, &mark)), "track_total_hits": true});
            if chance.one_in(3)
                && let Some(body) = body.as_object_mut()
            {
                // Whatever a script makes of a document carries its marks.
                let fields = json!({
                    "x": {"script": "params._source"},
                    "y": {"script": {"source": "doc.containsKey(params.f) ? new ArrayList(doc[params.f]) : null",
                        "params": {"f": (chance.pick(&["k1", "m", "o.k"]))}}}
                });
                body.insert("script_fields", fields);
            }
            json!({"search": body, "on": on})
        }
        8 => json!({"count": (query::query(chance, names, 2)), "on": on}),
        9 => json!({"get": id, "on": (chance.pick(&[index, index, "al", PUT_IN, GONE]))}),
        10 => json!({"source": id, "on": (chance.pick(&[index, PUT_IN, GONE]))}),
        11 => {
            let docs: Vec<Value> = (0..chance.between(1, 4))
                .map(|_| json!({"_index": (chance.pick(INDICES)), "_id": (marks::id(chance.below(docs)))}))
                .collect();
            json!({"mget": docs})
        }
        12 => {
            let one = json!({"query": (query::query(chance, names, 1)), "track_total_hits": true});
            let two = json!({"query": (telling(chance, field, &mark)), "track_total_hits": true});
            json!({"msearch": [[on, one], [(chance.pick(EXPRESSIONS)), two]]})
        }
        13 => json!({"scroll": {"size": (chance.between(1, 4))}, "on": on}),
        14 => json!({"pit": {"size": 50, "track_total_hits": true}, "on": on}),
        15 | 16 => json!({"all_parts": (query::query(chance, names, 1)), "on": on}),
        17 => json!({"explain": id, "query": (telling(chance, field, &mark)), "on": index}),
        18 => json!({"termvectors": id, "on": index}),
        19 => json!({"field_caps": 0, "on": on}),
        20 => json!({"mapping": 0, "on": on}),
        21 => json!({"field_mapping": 0, "on": on}),
        22 => json!({"suggest": (chance.pick(&["quikc", "borwn", "zq0"])), "on": on}),
        23 => json!({"lookup": id, "from": index, "on": on}),
        24 => json!({"more_like": id, "from": index, "on": on}),
        25 => json!({"cat_count": 0, "on": on}),
        26 => {
            json!({"write": "index", "id": id, "on": index, "doc": (marks::document(chance, doc))})
        }
        27 => {
            let new = docs + chance.below(20);
            let body = marks::document(chance, new);
            json!({"write": "create", "id": (marks::id(new)), "on": index, "doc": body})
        }
        28 => json!({"write": "delete", "id": id, "on": index}),
        29 => json!({"write": "update", "id": id, "on": index, "doc": {"one": "red"}}),
        30 => {
            json!({"by_query": "_delete_by_query", "query": (query::query(chance, names, 1)), "on": index})
        }
        31 => {
            json!({"by_query": "_update_by_query", "query": (query::query(chance, names, 1)), "on": index})
        }
        32 => {
            json!({"reindex": index, "to": (chance.pick(INDICES)), "query": (query::query(chance, names, 1))})
        }
        33 => json!({"validate": (telling(chance, field, &mark)), "on": on}),
        34 => {
            let docs: Vec<Value> = (0..chance.between(1, 3))
                .map(|_| json!({"_index": (chance.pick(INDICES)), "_id": (marks::id(chance.below(docs)))}))
                .collect();
            json!({"many_vectors": docs})
        }
        35 => json!({"rescore": (telling(chance, field, &mark)), "on": on}),
        36 => {
            let role = chance.pick(&["r0", "r1"]);
            json!({"role": role, "descriptor": (self::role(chance))})
        }
        37 => {
            let roles = some(chance, &["r0", "r1"], 2);
            json!({"user": (chance.pick(&["u0", "u1"])), "roles": roles})
        }
        38 => {
            let filter = if chance.one_in(2) { filter(chance, 1) } else { Value::Null };
            json!({"alias": (chance.pick(&["al", "fal"])), "to": index, "filter": filter})
        }
        39 => json!({"move": (chance.pick(&["al", "fal"])), "to": index}),
        40 => json!({"rank": (telling(chance, field, &mark)), "on": on}),
        _ => {
            json!({"write": "bulk", "id": id, "on": index, "doc": (marks::document(chance, doc)), "other": (chance.pick(INDICES))})
        }
    }
}

/// What has another path, too: searches made of templates, items whose index the path names, documents without an
/// id.
fn by_other_paths(chance: &mut Chance, names: &Names, docs: usize) -> Vec<Value> {
    let (on, index) = (chance.pick(EXPRESSIONS), chance.pick(INDICES));
    let doc = chance.below(docs);
    let (place, field) = chance.pick(marks::PLACES);
    let mark = marks::mark(doc, place);
    let some = |chance: &mut Chance| -> Vec<Value> {
        let ids = 0..chance.between(1, 4);
        ids.map(|_| json!({"_index": index, "_id": (marks::id(chance.below(docs)))})).collect()
    };
    let search = |query: Value| json!({"query": query, "track_total_hits": true});
    let parts = |chance: &mut Chance| {
        let one = search(query::query(chance, names, 1));
        json!([[on, one], [(chance.pick(EXPRESSIONS)), (search(telling(chance, field, &mark)))]])
    };
    vec![
        json!({"template": (search(telling(chance, field, &mark))), "on": on}),
        json!({"msearch_template": (parts(chance))}),
        json!({"msearch": (parts(chance)), "inside": on}),
        json!({"mget": (some(chance)), "inside": index}),
        json!({"many_vectors": (some(chance)), "inside": index}),
        json!({"write": "bulk", "inside": true, "id": (marks::id(doc)), "on": index,
            "doc": (marks::document(chance, doc))}),
        json!({"nameless": (marks::document(chance, docs + 50)), "on": index}),
    ]
}

/// A query that would tell whether a mark is there.
fn telling(chance: &mut Chance, field: &str, mark: &str) -> Value {
    let begin = &mark[..mark.len() - 2];
    let named = |kind: &str, value: Value| {
        let mut inner = Object::new();
        inner.insert(field, value);
        let mut outer = Object::new();
        outer.insert(kind, inner);
        Value::Object(outer)
    };
    let bare = match chance.below(8) {
        0 => named("term", Value::from(mark)),
        1 => named("prefix", Value::from(begin)),
        2 => named("wildcard", Value::from(format!("*{}", &mark[3..]))),
        3 => named("regexp", Value::from(format!("{begin}.+"))),
        4 => named("match", Value::from(mark)),
        5 => named("range", json!({"gte": mark})),
        6 if !matches!(field, "t1" | "nest.t") => {
            json!({"script": {"script": {"source": (query::CONTAINS), "params": {"f": field, "m": mark}}}})
        }
        _ => json!({"exists": {"field": field}}),
    };
    match field.strip_prefix("nest.") {
        Some(_) => json!({"nested": {"path": "nest", "query": bare}}),
        None => bare,
    }
}

/// Leaves out what a query without words finds: a field that is hidden is none in that index alone.
fn plainer(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("zero_terms_query");
            members.iter_mut().for_each(|(_, value)| plainer(value));
        }
        Value::Array(all) => all.iter_mut().for_each(plainer),
        _ => {}
    }
}
