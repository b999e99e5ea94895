//! `_field_caps`: what the fields of several indices are, and what can be done with them.
//!
//! A field that is of one type everywhere is told once; of each type it is told in which indices it is
//! of that type only where there are several. Objects that a field lies in are told beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use base::{FieldNo, ShardId};
use cluster::Index;
use env::{Bytes, Env, Spawn};
use json::{Object, Value};
use mapping::{Column, Field, Kind, Mapping, NumberKind};

use super::IndicesOptions;
use super::search::SearchCall;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate, Limits, Named};
use crate::index::block::{self, Level};
use crate::index::resolve::{Call, matches, resolve};

const ACTION: &str = "indices:data/read/field_caps";

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct FieldCapsCall {
    /// Index expression; empty is all.
    pub indices: String,
    /// How to read it.
    pub options: IndicesOptions,
    /// Names of fields, with stars.
    pub fields: Vec<String>,
    /// Indices without the field are told, too.
    pub include_unmapped: bool,
    /// Fields without any value in an index are not told of it.
    pub leaves_out_empty: bool,
    /// `-metadata`, `-nested`, …
    pub filters: Vec<String>,
    /// Only fields of these types; empty is all.
    pub types: Vec<String>,
    /// Only indices that may have a document like this.
    pub index_filter: Option<Value>,
}

/// What fields can do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldCaps {
    /// The indices that were asked, sorted.
    pub indices: Vec<String>,
    /// By field, then by type.
    pub fields: BTreeMap<String, BTreeMap<String, Capability>>,
}

/// What a field of one type can do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capability {
    /// It is the system's.
    pub metadata_field: bool,
    /// Queries find it, in all indices.
    pub searchable: bool,
    /// Aggregations read it, in all indices.
    pub aggregatable: bool,
    /// The indices in which it is of this type, where there are several types.
    pub indices: Option<Vec<String>>,
    /// Where it cannot be searched, if elsewhere it can.
    pub non_searchable: Option<Vec<String>>,
    /// Where it cannot be aggregated, if elsewhere it can.
    pub non_aggregatable: Option<Vec<String>>,
    /// What mappings say in `meta`.
    pub meta: BTreeMap<String, BTreeSet<String>>,
}

/// A field in one index.
#[derive(Clone, Debug)]
struct Seen {
    index: String,
    kind: String,
    metadata_field: bool,
    searchable: bool,
    aggregatable: bool,
    meta: Vec<(String, String)>,
}

impl<E: Env> Core<E> {
    /// What the fields can do.
    ///
    /// # Errors
    /// No fields asked for, a filter that nobody knows, a missing index.
    pub async fn field_caps(
        self: &Rc<Self>,
        gate: &dyn Gate,
        call: &FieldCapsCall,
    ) -> Result<FieldCaps> {
        let filters = Filters::of(call)?;
        let state = self.state();
        let sees = gate::sees(gate, ACTION, &*state);
        let now_ms = self.now_ms();
        let asked = Named { action: ACTION, expression: &call.indices, names: &*state, now_ms };
        let told = |error| gate::told(gate, &asked, error);
        let (names, pause) = (Call::new(call.options), self.pause());
        let resolved = resolve(&*state, &call.indices, names, now_ms, sees, &pause).await;
        let resolved = resolved.map_err(told)?;
        let mut indices: Vec<(Arc<Index>, Limits)> = Vec::new();
        for one in resolved {
            let Some(index) = state.index(&one.index).cloned() else { continue };
            let limits = match gate::ask(gate, ACTION, &one.index, &one.via) {
                Ok(limits) => limits,
                Err(_) if call.options.ignore_unavailable => continue,
                Err(error) => return Err(told(error)),
            };
            block::check(&index, Level::Read)?;
            indices.push((index, limits));
        }
        drop(state);
        indices.sort_by(|a, b| a.0.name.cmp(&b.0.name));
        if let Some(filter) = &call.index_filter {
            let mut kept = Vec::new();
            for (index, limits) in indices {
                if self.may_match(gate, &index.name, filter).await? {
                    kept.push((index, limits));
                }
            }
            indices = kept;
        }
        let mut seen: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
        for (index, limits) in &indices {
            let filled = match call.leaves_out_empty {
                true => self.filled(index, limits).await,
                false => None,
            };
            let filters = (&filters, filled.as_ref());
            self.of_index(index, limits, call, filters, &mut seen).await;
        }
        let names: Vec<String> = indices.iter().map(|(index, _)| index.name.to_string()).collect();
        let mut fields = BTreeMap::new();
        for (at, (name, seen)) in seen.into_iter().enumerate() {
            fields.insert(name, join(seen, &names, call.include_unmapped));
            self.env.spawn().yield_at(at).await;
        }
        Ok(FieldCaps { indices: names, fields })
    }

    /// The fields of which some segment has a part; none where that is not known, or not the caller's to
    /// know: the documents that have a value may be hidden.
    async fn filled(self: &Rc<Self>, index: &Index, limits: &Limits) -> Option<BTreeSet<FieldNo>> {
        if limits.each().iter().any(|kind| kind.filter.is_some()) {
            return None;
        }
        let mut filled = BTreeSet::new();
        for number in 0..index.settings.shard_count() {
            let view = self.view(ShardId { index: index.uuid, number }).await.ok()?;
            for one in &view.segments {
                filled.extend(one.segment.fields().map(segment::fields::Field::number));
            }
        }
        Some(filled)
    }

    /// Adds what an index has.
    async fn of_index(
        &self,
        index: &Index,
        limits: &Limits,
        call: &FieldCapsCall,
        (filters, filled): (&Filters<'_>, Option<&BTreeSet<FieldNo>>),
        seen: &mut BTreeMap<String, Vec<Seen>>,
    ) {
        let mapping = &index.mapping;
        let wanted = |name: &str| call.fields.iter().any(|pattern| matches(pattern, name));
        let visible = |path: &str| limits.shows(path);
        let mut found: BTreeMap<String, Seen> = BTreeMap::new();
        let add = |name: &str, kind: &str| {
            Seen {
                index: index.name.to_string(),
                kind: kind.to_owned(),
                metadata_field: false,
                searchable: false,
                aggregatable: false,
                meta: Vec::new(),
            }
            .named(name)
        };
        if filters.metadata != Some(true) {
            let own = mapping.fields().map(|field| (&field.path, field));
            for (at, (name, field)) in own.chain(mapping.aliases()).enumerate() {
                self.env.spawn().yield_at(at).await;
                let kind = family(field);
                // Another name of a field is a name of its own.
                let is_seen = visible(name) && visible(&field.path);
                if !wanted(name) || !is_seen || !filters.allows(kind) {
                    continue;
                }
                if filled.is_some_and(|filled| !filled.contains(&field.no)) && leaves_traces(field)
                {
                    continue;
                }
                if filters.no_nested && mapping.nested_of(name).is_some() {
                    continue;
                }
                if filters.no_multi_fields && is_multi_field(mapping, name) {
                    continue;
                }
                let (name, mut one) = add(name, kind);
                (one.searchable, one.aggregatable) = able(field);
                one.meta = meta_of(field);
                if !filters.no_parents {
                    parents(mapping, &name, &mut |parent, kind| {
                        if filters.allows(kind) && !(filters.no_nested && kind == "nested") {
                            let (parent, seen) = add(parent, kind);
                            found.entry(parent).or_insert(seen);
                        }
                    });
                }
                found.insert(name, one);
            }
        }
        if filters.metadata != Some(false) {
            for (name, kind, searchable, aggregatable) in METADATA {
                if wanted(name) && filters.allows(kind) {
                    let (name, one) = add(name, kind);
                    let one = Seen { metadata_field: true, searchable, aggregatable, ..one };
                    found.insert(name, one);
                }
            }
        }
        for (at, (name, one)) in found.into_iter().enumerate() {
            seen.entry(name).or_default().push(one);
            self.env.spawn().yield_at(at).await;
        }
    }

    /// May a document of the index match?
    async fn may_match(
        self: &Rc<Self>,
        gate: &dyn Gate,
        index: &str,
        filter: &Value,
    ) -> Result<bool> {
        let mut body = Object::new();
        body.insert("query", filter.clone());
        let search = SearchCall {
            indices: index.to_owned(),
            body: Bytes::from(json::to_string(&Value::Object(body)).into_bytes()),
            ..SearchCall::default()
        };
        Ok(self.count(gate, &search).await?.count > 0)
    }
}

/// Which fields are told, beside their names.
#[derive(Debug, Default)]
struct Filters<'a> {
    metadata: Option<bool>,
    no_parents: bool,
    no_nested: bool,
    no_multi_fields: bool,
    types: &'a [String],
}

impl<'a> Filters<'a> {
    fn of(call: &'a FieldCapsCall) -> Result<Self> {
        if call.fields.is_empty() {
            return Err(Error::new(
                400,
                "action_request_validation_exception",
                "Validation Failed: 1: no fields specified;",
            ));
        }
        let mut filters = Self { types: &call.types, ..Self::default() };
        for filter in &call.filters {
            match filter.as_str() {
                "+metadata" => filters.metadata = Some(true),
                "-metadata" => filters.metadata = Some(false),
                "-parent" => filters.no_parents = true,
                "-nested" => filters.no_nested = true,
                "-multifield" => filters.no_multi_fields = true,
                other => {
                    return Err(Error::illegal_argument(format!(
                        "Unknown field caps filter [{other}]"
                    )));
                }
            }
        }
        Ok(filters)
    }

    fn allows(&self, kind: &str) -> bool {
        self.types.is_empty() || self.types.iter().any(|wanted| wanted == kind)
    }
}

/// Fields of the system: name, type, whether it can be searched, and aggregated.
pub const METADATA: [(&str, &str, bool, bool); 11] = [
    ("_doc_count", "integer", false, false),
    ("_field_names", "_field_names", true, false),
    ("_id", "_id", true, false),
    ("_ignored", "_ignored", true, true),
    ("_index", "_index", true, true),
    ("_nested_path", "_nested_path", true, false),
    ("_routing", "_routing", true, false),
    ("_seq_no", "_seq_no", true, true),
    ("_source", "_source", false, false),
    ("_tier", "keyword", true, true),
    ("_version", "_version", false, true),
];

impl Seen {
    fn named(self, name: &str) -> (String, Self) {
        (name.to_owned(), self)
    }
}

/// The objects that a field lies in.
fn parents(mapping: &Mapping, name: &str, take: &mut dyn FnMut(&str, &str)) {
    let mut rest = name;
    while let Some((parent, _)) = rest.rsplit_once('.') {
        if mapping.field(parent).is_none() && mapping.is_object(parent) {
            take(parent, if mapping.is_nested(parent) { "nested" } else { "object" });
        }
        rest = parent;
    }
}

fn is_multi_field(mapping: &Mapping, name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(parent, _)| mapping.field(parent).is_some())
}

/// The type that fields of kindred types are told as.
fn family(field: &Field) -> &'static str {
    match field.type_name() {
        "constant_keyword" | "wildcard" => "keyword",
        "match_only_text" => "text",
        "token_count" => NumberKind::Integer.name(),
        name => name,
    }
}

/// Does a value of it leave a part in a segment?
fn leaves_traces(field: &Field) -> bool {
    !matches!(field.kind, Kind::ConstantKeyword(_))
        && (field.index || field.column() != Column::None)
}

/// Can queries find it, can aggregations read it?
fn able(field: &Field) -> (bool, bool) {
    let column = field.column() != Column::None;
    match &field.kind {
        Kind::Text(text) => (field.index, text.fielddata),
        Kind::ConstantKeyword(_) => (true, true),
        Kind::Binary => (false, column),
        Kind::RankFeature(_) | Kind::RankFeatures(_) | Kind::Completion(_) => (true, false),
        _ => (field.index || column, column),
    }
}

fn meta_of(field: &Field) -> Vec<(String, String)> {
    let members = field.meta.as_ref().and_then(Value::as_object);
    let pairs = members.into_iter().flat_map(Object::iter);
    pairs.filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned()))).collect()
}

/// One field of all indices.
fn join(
    seen: Vec<Seen>,
    indices: &[String],
    include_unmapped: bool,
) -> BTreeMap<String, Capability> {
    let mut by_type: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
    let mapped: BTreeSet<String> = seen.iter().map(|one| one.index.clone()).collect();
    for one in seen {
        by_type.entry(one.kind.clone()).or_default().push(one);
    }
    let unmapped: Vec<String> =
        indices.iter().filter(|index| !mapped.contains(*index)).cloned().collect();
    if include_unmapped && !unmapped.is_empty() {
        let seen = unmapped.into_iter().map(|index| Seen {
            index,
            kind: "unmapped".to_owned(),
            metadata_field: false,
            searchable: false,
            aggregatable: false,
            meta: Vec::new(),
        });
        by_type.insert("unmapped".to_owned(), seen.collect());
    }
    let several = by_type.len() > 1;
    by_type.into_iter().map(|(kind, seen)| (kind, capability(&seen, several))).collect()
}

fn capability(seen: &[Seen], several: bool) -> Capability {
    let names = |of: &dyn Fn(&Seen) -> bool| -> Vec<String> {
        seen.iter().filter(|one| of(one)).map(|one| one.index.clone()).collect()
    };
    // Told where some can and some cannot.
    let cannot = |can: &dyn Fn(&Seen) -> bool| {
        let out = names(&|one| !can(one));
        (!out.is_empty() && out.len() < seen.len()).then_some(out)
    };
    let mut meta: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (key, value) in seen.iter().flat_map(|one| &one.meta) {
        meta.entry(key.clone()).or_default().insert(value.clone());
    }
    Capability {
        metadata_field: seen.iter().all(|one| one.metadata_field),
        searchable: seen.iter().all(|one| one.searchable),
        aggregatable: seen.iter().all(|one| one.aggregatable),
        indices: several.then(|| names(&|_| true)),
        non_searchable: cannot(&|one| one.searchable),
        non_aggregatable: cannot(&|one| one.aggregatable),
        meta,
    }
}
