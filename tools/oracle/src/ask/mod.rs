//! Random questions: a whole case from a seed.

pub mod around;
pub mod documents;
mod mapping;
pub mod query;

use json::{Value, json};

use crate::chance::Chance;
use crate::find::schema::Schema;

/// A field by its name and type, as questions choose it.
#[derive(Clone, Debug)]
pub struct Name {
    /// Its whole name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// It has values to sort and aggregate by.
    pub column: bool,
    /// Terms can be looked up in it.
    pub indexed: bool,
}

/// Fields of the document itself, and of each nested object.
#[derive(Clone, Debug)]
pub struct Names {
    /// Of the document.
    pub root: Vec<Name>,
    /// Of nested objects, by path.
    pub nested: Vec<(String, Vec<Name>)>,
}

impl Names {
    /// The names of a mapping.
    pub fn read(schema: &Schema) -> Self {
        let mut nested: Vec<(String, Vec<Name>)> =
            schema.nested.iter().map(|path| (path.clone(), Vec::new())).collect();
        let mut root = Vec::new();
        for field in schema.fields.values() {
            let name = Name {
                name: field.name.clone(),
                kind: field.kind.clone(),
                column: field.has_column(),
                indexed: field.flag("index", true),
            };
            let home = nested
                .iter_mut()
                .filter(|(path, _)| field.name.starts_with(&format!("{path}.")))
                .max_by_key(|(path, _)| path.len());
            match home {
                Some((_, fields)) => fields.push(name),
                None => root.push(name),
            }
        }
        Self { root, nested }
    }
}

/// The case of a seed.
pub fn case(seed: u64) -> Value {
    let mut chance = Chance::new(seed);
    let chance = &mut chance;
    let mapping = mapping::mapping(chance);
    let names = Names::read(&Schema::read(&mapping));
    let shards = chance.pick(&[1, 1, 1, 2, 3]);
    let most = chance.pick(&[6, 20, 60, 60, 200, 700]);
    let mut steps = Vec::new();
    let mut uid = 0;
    for round in 0..chance.between(1, 4) {
        for _ in 0..chance.between(1, 3) {
            let count = chance.below(most) + 1;
            let items: Vec<Value> = (0..count)
                .map(|_| documents::item(chance, &mapping, most, &mut uid, round > 0))
                .collect();
            steps.push(json!({"bulk": items}));
            match chance.below(8) {
                0 => steps.push(json!({"flush": 0})),
                1 | 2 => steps.push(json!({"refresh": 0})),
                3 => steps.push(json!({"merge": (chance.pick(&[1, 1, 2]))})),
                _ => {}
            }
        }
        steps.push(match chance.below(3) {
            0 => json!({"refresh": 0}),
            1 => json!({"flush": 0}),
            _ => json!({"merge": 1}),
        });
        for _ in 0..chance.between(4, 30) {
            steps.push(question(chance, &names, most));
        }
    }
    json!({"seed": seed, "shards": shards, "mapping": mapping, "steps": steps})
}

fn question(chance: &mut Chance, names: &Names, most: usize) -> Value {
    match chance.below(40) {
        0 => json!({"get": (format!("d{}", chance.below(most)))}),
        1 => json!({"count": (query::query(chance, names, 2))}),
        2 if chance.one_in(6) => json!({"delete_by_query": (query::query(chance, names, 1))}),
        3 => json!({"dfs": {"query": (query::query(chance, names, 2))}}),
        _ => around::search(chance, names),
    }
}
