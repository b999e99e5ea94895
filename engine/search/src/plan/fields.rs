//! Names of fields in a query that takes several: patterns, factors, `index.query.default_field`.
//!
//! As Elasticsearch's `QueryParserHelper`: a pattern takes only fields that text can be looked for
//! in; a name takes its field, whatever it is.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use base::hash::Set;
use mapping::analysis::{Analyzer, STOP, Scratch};
use mapping::{Field, Kind as Type};

use crate::error::{Error, Result};
use crate::plan::bind::{Binder, CLAUSES_MAX};

/// A field with the factor of its scores.
pub type Weighted = (Arc<Field>, f32);

/// The fields that names and patterns mean, each once, its factors multiplied; sorted by path.
pub fn resolve(
    binder: &Binder<'_>,
    names: &[(String, f32)],
    suffix: Option<&str>,
) -> Result<Vec<Weighted>> {
    // Of thousands of patterns each may mean all fields: no list of what they mean together.
    let mut found: BTreeMap<Arc<str>, (Arc<Field>, f32)> = BTreeMap::new();
    let mut add = |path: Arc<str>, field: Arc<Field>, factor: f32| match found.entry(path) {
        Entry::Vacant(free) => {
            free.insert((field, factor));
        }
        Entry::Occupied(mut known) => known.get_mut().1 *= factor,
    };
    for (name, factor) in names {
        if name.contains('*') {
            let all = binder.expand(name);
            // Another name of a field that the pattern means itself is that field.
            let own: Set<Arc<str>> = match all.iter().any(|(path, field)| *path != field.path) {
                true => all.iter().map(|(path, _)| path.clone()).collect(),
                false => Set::default(),
            };
            for (path, field) in all {
                let path = if own.contains(&field.path) { Arc::clone(&field.path) } else { path };
                let (path, field) = suffixed(binder, &path, field, suffix);
                if takes_text(&field) {
                    add(path, field, *factor);
                }
            }
        } else if let Some(field) = binder.field(name) {
            let (path, field) = suffixed(binder, name, field, suffix);
            add(path, field, *factor);
        }
    }
    if found.len() > CLAUSES_MAX {
        return Err(Error::illegal(format!(
            "field expansion matches too many fields, limit: {CLAUSES_MAX}, got: {}",
            found.len()
        )));
    }
    Ok(found.into_values().collect())
}

fn suffixed(
    binder: &Binder<'_>,
    path: &str,
    field: Arc<Field>,
    suffix: Option<&str>,
) -> (Arc<str>, Arc<Field>) {
    if let Some(suffix) = suffix {
        let name = format!("{path}{suffix}");
        if let Some(field) = binder.field(&name) {
            return (name.into(), field);
        }
    }
    (path.into(), field)
}

/// Names among which is `*`: what goes wrong in a field then counts as no match.
pub fn has_all(names: &[(String, f32)]) -> bool {
    names.iter().any(|(name, _)| name == "*")
}

/// The analyzer of some field leaves a word.
pub fn have_words(fields: &[Weighted], named: Option<&Arc<Analyzer>>, words: &str) -> bool {
    fields.iter().any(|(field, _)| {
        let Type::Text(text) = &field.kind else { return true };
        let analyzer = named.unwrap_or(&text.search_analyzer);
        let mut any = false;
        let done = analyzer.tokens_with(words, &mut Scratch::default(), |_| {
            any = true;
            STOP
        });
        any || done.lacks_room
    })
}

/// Fields of a query that names none.
pub fn default_fields(binder: &Binder<'_>) -> Vec<(String, f32)> {
    let names = binder.context.default_fields;
    let names = names.iter().map(|name| match name.split_once('^') {
        Some((name, factor)) => (name.to_owned(), factor.parse().unwrap_or(1.0)),
        None => (name.clone(), 1.0),
    });
    let names: Vec<(String, f32)> = names.collect();
    if names.is_empty() { vec![("*".to_owned(), 1.0)] } else { names }
}

/// Text can be looked for in it, and something of it is kept.
fn takes_text(field: &Field) -> bool {
    match &field.kind {
        Type::Text(_) => field.index,
        Type::Keyword(_) | Type::Number(_) | Type::Boolean(_) | Type::Date(_) | Type::Range(_) => {
            field.index || field.doc_values
        }
        #[allow(unreachable_patterns)]
        _ => matches!(field.type_name(), "ip" | "constant_keyword" | "flattened" | "join"),
    }
}
