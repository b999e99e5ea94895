//! What a caller may do and see, by its descriptors as they were written.

use std::collections::BTreeMap;
use std::rc::Rc;

use json::{Object, Value};

use crate::find::Skip;
use crate::find::document::{self, Block};
use crate::find::schema::Schema;
use crate::find::statistics::Statistics;
use crate::find::world::World;

/// One entry of a role, key or grant: names, privileges, filter, fields.
#[derive(Clone, Debug)]
pub struct Entry(pub Value);

/// A set of entries; a caller may do what every layer of its allows.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Its entries, of all its roles.
    pub entries: Vec<Entry>,
    /// Each entry shows its own fields of its own documents.
    pub strict: bool,
}

/// Which indices there are, and their documents.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// Documents by index and id.
    pub indices: BTreeMap<String, BTreeMap<String, Value>>,
    /// Aliases: the index behind each, and the filter.
    pub aliases: BTreeMap<String, (String, Option<Value>)>,
    /// Data streams: the indices of each, in order.
    pub streams: BTreeMap<String, Vec<String>>,
}

impl Store {
    /// Names of the data streams by their indices.
    pub fn parents(&self) -> Parents {
        let members = self.streams.iter();
        let pairs = members
            .flat_map(|(name, indices)| indices.iter().map(|one| (one.clone(), name.clone())));
        Rc::new(pairs.collect())
    }
}

/// The data stream that each index is part of.
pub type Parents = Rc<BTreeMap<String, String>>;

/// A document as a caller sees it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its index.
    pub index: String,
    /// Its id.
    pub id: String,
    /// Its source, without what is hidden.
    pub source: Value,
    /// Its values, without what is hidden.
    pub block: Block,
}

/// Does a pattern of `*` match?
pub fn fits(pattern: &str, text: &str) -> bool {
    fn bytes(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => (0..=text.len()).any(|skip| bytes(rest, &text[skip..])),
            (Some((a, rest)), Some((b, more))) => a == b && bytes(rest, more),
            _ => false,
        }
    }
    bytes(pattern.as_bytes(), text.as_bytes())
}

/// What may be done to an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `indices:data/read/…`.
    Read,
    /// Its mapping.
    Mapping,
    /// What fields there are.
    Fields,
    /// The mapping of single fields, which whoever reads may ask for.
    FieldMapping,
    /// A document by id, be it there or not.
    Index,
    /// A new document.
    Create,
    /// A document is deleted.
    Delete,
    /// Refresh, flush.
    Maintain,
    /// Is a query understood?
    Validate,
    /// An alias is given or taken.
    Alias,
}

fn grants(privilege: &str, action: Action) -> bool {
    use Action::{
        Alias, Create, Delete, FieldMapping, Fields, Index, Maintain, Mapping, Read, Validate,
    };
    match privilege {
        "all" => true,
        "read" => matches!(action, Read | Fields | FieldMapping),
        "write" => matches!(action, Index | Create | Delete),
        "index" => matches!(action, Index | Create),
        "create_doc" => action == Create,
        "delete" => action == Delete,
        "view_index_metadata" => matches!(action, Mapping | Fields | FieldMapping | Validate),
        "manage" => {
            matches!(action, Mapping | Fields | FieldMapping | Maintain | Validate | Alias)
        }
        "maintenance" => action == Maintain,
        // Of scopes and details of OAuth.
        "scope:read" => matches!(action, Read | Mapping | Fields | FieldMapping | Validate),
        "scope:create" => action == Create,
        "scope:write" => matches!(action, Index | Create | Delete),
        "scope:manage" => {
            matches!(action, Mapping | FieldMapping | Maintain | Validate | Alias)
        }
        "scope:all" => true,
        _ => false,
    }
}

fn texts(value: Option<&Value>) -> Option<Vec<&str>> {
    value.map(|all| document::flat(all).into_iter().filter_map(Value::as_str).collect())
}

impl Entry {
    /// On a name, of an index in this data stream.
    fn grants(&self, action: Action, name: &str, stream: Option<&String>) -> bool {
        let named = texts(self.0.get("names")).unwrap_or_default();
        let privileges = texts(self.0.get("privileges")).unwrap_or_default();
        // Scopes and details reach no name with a dot in front.
        let dots = self.0.get("dots").and_then(Value::as_bool) != Some(false);
        let means = |name: &str| named.iter().any(|pattern| fits(pattern, name));
        (dots || !stream.map_or(name, |stream| stream).starts_with('.'))
            && (means(name) || stream.is_some_and(|stream| means(stream)))
            && privileges.iter().any(|privilege| grants(privilege, action))
    }

    /// Is this very name written?
    fn writes(&self, name: &str) -> bool {
        texts(self.0.get("names")).unwrap_or_default().contains(&name)
    }

    fn filter(&self) -> Option<&Value> {
        self.0.get("query")
    }

    /// Is this field shown? The entry has no rule: all are.
    fn shows(&self, field: &str) -> bool {
        let Some(rule) = self.0.get("field_security") else { return true };
        let any = |patterns: &Option<Vec<&str>>, path: &str| {
            patterns.iter().flatten().any(|pattern| fits(pattern, path))
        };
        let (grant, except) = (texts(rule.get("grant")), texts(rule.get("except")));
        let mut above = vec![field];
        above.extend(field.match_indices('.').map(|(at, _)| &field[..at]));
        any(&grant, field) && !above.iter().any(|path| any(&except, path))
    }
}

/// The fields that a filter of `authorization_details` names.
fn named<'q>(filter: &'q Value, into: &mut Vec<&'q str>) {
    for (kind, body) in filter.as_object().into_iter().flat_map(Object::iter) {
        match kind {
            "exists" => into.extend(body.get("field").and_then(Value::as_str)),
            "term" | "terms" | "range" => {
                let fields = body.as_object().into_iter().flat_map(Object::keys);
                into.extend(fields.filter(|field| *field != "boost"));
            }
            "bool" => {
                for clauses in body.as_object().into_iter().flat_map(Object::values) {
                    document::flat(clauses).into_iter().for_each(|clause| named(clause, into));
                }
            }
            _ => {}
        }
    }
}

/// Does a document pass a filter?
fn passes(world: &World, filter: Option<&Value>, block: &Block) -> Result<bool, Skip> {
    let reader = Statistics { world, shard: None };
    match filter {
        None => Ok(true),
        Some(filter) => Ok(reader.eval(filter, block, 1.0)?.is_some()),
    }
}

/// A caller's rights.
#[derive(Clone, Debug)]
pub struct Rights {
    /// Every layer must allow it.
    pub layers: Vec<Layer>,
    /// A right on a data stream is one on its indices, whatever they are called.
    pub parents: Parents,
}

impl Rights {
    fn grants(&self, entry: &Entry, action: Action, name: &str) -> bool {
        entry.grants(action, name, self.parents.get(name))
    }

    /// May this be done to this name?
    pub fn may(&self, action: Action, name: &str) -> bool {
        self.layers
            .iter()
            .all(|layer| layer.entries.iter().any(|entry| self.grants(entry, action, name)))
    }

    /// The sets of a layer's entries that count where a name, which may be its own, leads to an index. Each
    /// must hold something, and each limits what is seen. A right on an index is none on what leads to it. What
    /// was granted to an application counts on the index; of its owner's roles some hold the alias, and some
    /// the index or write the alias.
    fn sets<'l>(
        &self,
        layer: &'l Layer,
        action: Action,
        (name, index): (&str, &str),
    ) -> Vec<Vec<&'l Entry>> {
        let of = |name: &str| {
            let entries = layer.entries.iter();
            entries.filter(|entry| self.grants(entry, action, name)).collect::<Vec<_>>()
        };
        if layer.strict || name == index {
            return vec![of(index)];
        }
        let by_name = of(name);
        if !self.layers.iter().any(|layer| layer.strict) {
            return vec![by_name];
        }
        let mut own = of(index);
        own.extend(by_name.iter().filter(|entry| entry.writes(name)));
        vec![by_name, own]
    }

    /// May this be done to an index by a name, an alias or a data stream, that leads there?
    pub fn may_by(&self, action: Action, names: (&str, &str)) -> bool {
        let strict = self.layers.iter().filter(|layer| layer.strict);
        let holds = |layer: &Layer, name: &str| {
            layer.entries.iter().any(|entry| self.grants(entry, action, name))
        };
        strict.into_iter().all(|layer| holds(layer, names.0))
            && self
                .layers
                .iter()
                .all(|layer| self.sets(layer, action, names).iter().all(|set| !set.is_empty()))
    }

    /// What limits documents and fields of an index under a name that leads there, as a text that is equal where
    /// they are. What was granted by name is left out: it is the same under any.
    pub fn limits(&self, action: Action, names: (&str, &str)) -> String {
        let mut text = String::new();
        for layer in self.layers.iter().filter(|layer| !layer.strict) {
            for set in self.sets(layer, action, names) {
                let rule = |entry: &Entry| entry.0.get("field_security").map(json::to_string);
                if set.iter().any(|entry| entry.filter().is_none() && rule(entry).is_none()) {
                    continue;
                }
                let filters: Option<Vec<String>> =
                    set.iter().map(|entry| entry.filter().map(json::to_string)).collect();
                let mut filters = filters.unwrap_or_default();
                filters.dedup();
                let rules: Option<Vec<String>> = set.iter().map(|entry| rule(entry)).collect();
                let mut rules = rules.unwrap_or_default();
                rules.sort();
                rules.dedup();
                text.push_str(&format!("{filters:?}{rules:?}"));
            }
        }
        text
    }

    /// Are documents or fields of this name limited for this action?
    pub fn is_limited(&self, action: Action, name: &str, fields: &[String]) -> bool {
        self.hides(action, (name, name), fields.iter())
            || self.layers.iter().any(|layer| {
                let mut granting =
                    layer.entries.iter().filter(|entry| self.grants(entry, action, name));
                granting.all(|entry| entry.filter().is_some())
            })
    }

    /// Has a layer rules about fields in each entry, be it that together they hide nothing? Updates are refused
    /// then: nobody proves that several rules make a whole.
    pub fn has_rules(&self, action: Action, name: &str) -> bool {
        self.layers.iter().any(|layer| {
            let mut granting =
                layer.entries.iter().filter(|entry| self.grants(entry, action, name));
            granting.all(|entry| entry.0.get("field_security").is_some())
        })
    }

    /// What is seen of a document under rights on `name`; `None` where it is hidden. What was granted to an
    /// application counts on the index itself.
    pub fn see(
        &self,
        world: &World,
        action: Action,
        name: &str,
        index: &str,
        id: &str,
        source: &Value,
    ) -> Result<Option<Seen>, Skip> {
        let whole = document::read(&world.schema, id, source)?;
        // Of each layer, the entries whose fields of this document are shown.
        let mut showing: Vec<Vec<&Entry>> = Vec::new();
        let sets = self.layers.iter().flat_map(|layer| {
            let sets = self.sets(layer, action, (name, index)).into_iter();
            sets.map(|set| (set, layer.strict))
        });
        // What was granted by name finds nothing by fields that its owner does not see.
        let own = self.layers.iter().filter(|layer| !layer.strict);
        let own: Vec<Vec<&Entry>> =
            own.flat_map(|layer| self.sets(layer, action, (name, index))).collect();
        let is_of_owner = |entry: &Entry| {
            let mut fields = Vec::new();
            entry.filter().into_iter().for_each(|filter| named(filter, &mut fields));
            let is_seen = |field: &&str| own.iter().all(|set| set.iter().any(|it| it.shows(field)));
            fields.iter().all(is_seen)
        };
        for (granting, strict) in sets {
            let mut passing = Vec::new();
            for entry in &granting {
                if strict && !is_of_owner(entry) {
                    continue;
                }
                if passes(world, entry.filter(), &whole)? {
                    passing.push(*entry);
                }
            }
            if passing.is_empty() {
                return Ok(None);
            }
            showing.push(if strict { passing } else { granting });
        }
        let shows = |field: &str| {
            showing.iter().all(|entries| entries.iter().any(|entry| entry.shows(field)))
        };
        let source = shown_source(source, "", &shows);
        let mut block = whole;
        hide(&mut block, &shows);
        block.hidden = world.schema.fields.keys().filter(|field| !shows(field)).cloned().collect();
        // Objects of which no field is shown are none.
        block.nested.retain(|path, _| {
            let inside = format!("{path}.");
            world.schema.fields.keys().any(|field| field.starts_with(&inside) && shows(field))
        });
        Ok(Some(Seen { index: index.to_owned(), id: id.to_owned(), source, block }))
    }

    /// Is one of these fields hidden of some document, under rights on a name that leads to an index?
    pub fn hides<'f>(
        &self,
        action: Action,
        names: (&str, &str),
        mut fields: impl Iterator<Item = &'f String>,
    ) -> bool {
        fields.any(|field| {
            let sets = self.layers.iter().flat_map(|layer| {
                let sets = self.sets(layer, action, names).into_iter();
                sets.map(|set| (set, layer.strict))
            });
            sets.into_iter().any(|(granting, strict)| {
                let mut granting = granting.into_iter();
                if strict {
                    // Whoever sees all documents by an entry sees its fields of all.
                    let everywhere =
                        |entry: &&Entry| entry.filter().is_none() && entry.shows(field);
                    !granting.clone().any(|entry| everywhere(&entry))
                        && granting.any(|entry| !entry.shows(field))
                } else {
                    granting.all(|entry| !entry.shows(field))
                }
            })
        })
    }

    /// Is a field shown of some document under rights on a name that leads to an index, as far as mappings
    /// tell?
    pub fn shows(&self, action: Action, names: (&str, &str), field: &str) -> bool {
        let mut sets = self.layers.iter().flat_map(|layer| self.sets(layer, action, names));
        sets.all(|set| set.iter().any(|entry| entry.shows(field)))
    }
}

fn shown_source(source: &Value, prefix: &str, shows: &dyn Fn(&str) -> bool) -> Value {
    match source {
        Value::Object(members) => {
            let mut kept = Object::new();
            for (key, value) in members.iter() {
                let path =
                    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
                let inner = match value {
                    Value::Array(all) => all.iter().any(|one| one.as_object().is_some()),
                    value => value.as_object().is_some(),
                };
                if inner {
                    kept.insert(key, shown_source(value, &path, shows));
                } else if shows(&path) {
                    kept.insert(key, value.clone());
                }
            }
            Value::Object(kept)
        }
        Value::Array(all) => all.iter().map(|one| shown_source(one, prefix, shows)).collect(),
        other => other.clone(),
    }
}

fn hide(block: &mut Block, shows: &dyn Fn(&str) -> bool) {
    block.said.retain(|field, _| shows(field));
    for nested in block.nested.values_mut().flatten() {
        hide(nested, shows);
    }
}

/// A world of nothing but these documents.
pub fn world_of(schema: &Schema, seen: &[Seen]) -> World {
    let mut world = World::default();
    world.schema = schema.clone();
    world.shards = vec![seen.iter().map(|seen| seen.block.clone()).collect()];
    // Scores count documents that are hidden too: they are not looked at.
    world.has_ghosts = true;
    world
}
