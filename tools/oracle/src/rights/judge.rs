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

impl Layer {
    /// By which name its entries count, where a name leads to an index.
    fn name_of<'n>(&self, (name, index): (&'n str, &'n str)) -> &'n str {
        if self.strict { index } else { name }
    }
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

    /// May a token's bearer do this to an index since this alias leads there? What was granted holds both;
    /// the owner's roles, which come first, write the alias.
    pub fn may_by_alias(&self, action: Action, index: &str, alias: &str) -> bool {
        self.layers.iter().enumerate().all(|(at, layer)| {
            let mut entries = layer.entries.iter();
            match at {
                0 => entries.any(|entry| entry.writes(alias) && self.grants(entry, action, alias)),
                _ => entries.any(|entry| self.grants(entry, action, index)),
            }
        })
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
        for layer in &self.layers {
            let name = layer.name_of((name, index));
            let granting: Vec<&Entry> =
                layer.entries.iter().filter(|entry| self.grants(entry, action, name)).collect();
            let mut passing = Vec::new();
            for entry in &granting {
                if passes(world, entry.filter(), &whole)? {
                    passing.push(*entry);
                }
            }
            if passing.is_empty() {
                return Ok(None);
            }
            showing.push(if layer.strict { passing } else { granting });
        }
        let shows = |field: &str| {
            showing.iter().all(|entries| entries.iter().any(|entry| entry.shows(field)))
        };
        let source = shown_source(source, "", &shows);
        let mut block = whole;
        hide(&mut block, &shows);
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
            self.layers.iter().any(|layer| {
                let name = layer.name_of(names);
                let mut granting =
                    layer.entries.iter().filter(|entry| self.grants(entry, action, name));
                if layer.strict {
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
        self.layers.iter().all(|layer| {
            let name = layer.name_of(names);
            let mut granting =
                layer.entries.iter().filter(|entry| self.grants(entry, action, name));
            granting.any(|entry| entry.shows(field))
        })
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
