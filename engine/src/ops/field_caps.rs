//! `_field_caps`: what the fields of several indices are, and what can be done with them.
//!
//! A field that is of one type everywhere is told once; of each type it is told in which indices it is
//! of that type only where there are several. Objects that a field lies in are told beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use base::hash::{Map, Set};
use base::{FieldNo, ShardId};
use cluster::Index;
use cluster::patterns::{Cost, Steps};
use env::budget::Taken;
use env::leftovers::Leaving;
use env::{Bytes, Clock, Env, Spawn};
use json::{Object, Value};
use mapping::{Column, Field, Kind, Mapping, NumberKind};
use search::dsl;

use super::IndicesOptions;
use super::lookup::Lists;
use super::made::Made;
use super::search::{SEARCH, SearchCall};
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

/// What fields can do, and the memory that this takes.
#[derive(Debug, Default)]
pub struct FieldCaps {
    /// The indices that were asked, sorted.
    pub indices: Vec<String>,
    /// By field, then by type, which rise.
    pub fields: BTreeMap<Box<str>, Vec<Capability>>,
    /// What the fields take.
    pub memory: Option<Taken>,
}

/// What a field of one type can do. Indices are places in [`FieldCaps::indices`]: their names stand there once.
#[derive(Clone, Debug, PartialEq)]
pub struct Capability {
    /// The type.
    pub kind: &'static str,
    /// It is the system's.
    pub metadata_field: bool,
    /// Queries find it, in all indices.
    pub searchable: bool,
    /// Aggregations read it, in all indices.
    pub aggregatable: bool,
    /// The indices in which it is of this type; empty where there are not several types.
    pub indices: Vec<u32>,
    /// Where it cannot be searched, if elsewhere it can.
    pub non_searchable: Vec<u32>,
    /// Where it cannot be aggregated, if elsewhere it can.
    pub non_aggregatable: Vec<u32>,
    /// What mappings say in `meta`.
    pub meta: BTreeMap<String, BTreeSet<String>>,
}

impl Capability {
    fn of(kind: &'static str) -> Self {
        Self {
            kind,
            metadata_field: true,
            searchable: true,
            aggregatable: true,
            indices: Vec::new(),
            non_searchable: Vec::new(),
            non_aggregatable: Vec::new(),
            meta: BTreeMap::new(),
        }
    }

    /// It is of this type in one more index.
    fn add(&mut self, index: u32, one: Seen) {
        self.metadata_field &= one.metadata_field;
        self.searchable &= one.searchable;
        self.aggregatable &= one.aggregatable;
        self.indices.push(index);
        if !one.searchable {
            self.non_searchable.push(index);
        }
        if !one.aggregatable {
            self.non_aggregatable.push(index);
        }
        for (key, value) in one.meta {
            self.meta.entry(key).or_default().insert(value);
        }
    }

    /// Leaves what is told where this is one of `types`.
    fn settle(&mut self, types: usize) {
        let count = self.indices.len();
        for cannot in [&mut self.non_searchable, &mut self.non_aggregatable] {
            // Told where some can and some cannot.
            if cannot.len() == count {
                *cannot = Vec::new();
            }
        }
        if types == 1 {
            self.indices = Vec::new();
        }
    }
}

/// A field in one index.
#[derive(Clone, Debug)]
struct Seen {
    kind: &'static str,
    metadata_field: bool,
    searchable: bool,
    aggregatable: bool,
    meta: Vec<(String, String)>,
}

impl Seen {
    /// What can nothing, as objects.
    fn of(kind: &'static str) -> Self {
        let (metadata_field, searchable, aggregatable) = (false, false, false);
        Self { kind, metadata_field, searchable, aggregatable, meta: Vec::new() }
    }
}

/// What a field of one type takes beside its name: its places in tables, and allocations.
const FIELD_BYTES: usize = 256;

/// What one more index of it takes: its place in as many as three lists, which grow by twofold.
const PLACE_BYTES: usize = 12;

/// What one of its `meta` takes beside its texts.
const META_BYTES: usize = 160;

/// Memory is asked for in such steps: so much is taken before it is used.
const STEP_BYTES: usize = 128 << 10;

/// So many fields of an index are looked at between two looks at what is paid: what they take is less than what is
/// taken before.
const FIELDS_PAID: usize = 32;

/// More patterns are long for one field.
const PATTERNS_FEW: usize = 16;

/// More fields go elsewhere at their end: see [`env::leftovers`].
const FIELDS_HERE: usize = 256;

/// What was found, as it grows.
struct Found {
    caps: Leaving<FieldCaps>,
    /// The index at hand.
    index: u32,
    used_bytes: usize,
}

impl Found {
    fn new() -> Self {
        let is_large = |caps: &FieldCaps| caps.fields.len() > FIELDS_HERE;
        Self { caps: Leaving::new(FieldCaps::default(), is_large), index: 0, used_bytes: 0 }
    }

    fn take(&mut self, name: &str, one: Seen) {
        self.used_bytes += PLACE_BYTES;
        for (key, value) in &one.meta {
            self.used_bytes += META_BYTES + key.len() + value.len();
        }
        let fields = &mut self.caps.fields;
        if !fields.contains_key(name) {
            fields.insert(name.into(), Vec::new());
            self.used_bytes += name.len();
        }
        let types = fields.get_mut(name).expect("there since the line above");
        let at = types.iter().position(|it| it.kind == one.kind).unwrap_or_else(|| {
            types.reserve_exact(1);
            types.push(Capability::of(one.kind));
            self.used_bytes += FIELD_BYTES;
            types.len() - 1
        });
        types[at].add(self.index, one);
    }

    /// Is it of some type in the index at hand?
    fn has(&self, name: &str) -> bool {
        let types = self.caps.fields.get(name).into_iter().flatten();
        types.into_iter().any(|it| it.indices.last() == Some(&self.index))
    }

    /// Takes memory for a step more than what is used.
    fn pay<E: Env>(&mut self, core: &Core<E>) -> Result<()> {
        let paid = self.caps.memory.as_ref().map_or(0, Taken::bytes);
        // What one answer of a few fields takes is not counted.
        if self.used_bytes < STEP_BYTES / 2 || self.used_bytes + STEP_BYTES / 2 <= paid {
            return Ok(());
        }
        core.pay(&mut self.caps.memory, "field_caps", self.used_bytes + STEP_BYTES - paid)
    }
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
    ) -> Result<Leaving<FieldCaps>> {
        let (filters, mut wanted) = (Filters::of(call)?, Wanted::of(&call.fields));
        let state = self.state();
        let sees = gate::sees(gate, ACTION, &*state);
        let now_ms = self.now_ms();
        let asked = Named { action: ACTION, expression: &call.indices, names: &*state, now_ms };
        let told = |error| gate::told(gate, &asked, error);
        let (names, pause) = (Call::new(call.options), self.pause());
        let resolved = resolve(&*state, &call.indices, names, now_ms, sees, &pause).await;
        let resolved = resolved.map_err(told)?;
        let (mut indices, mut names) = (Vec::<(Arc<Index>, Limits)>::new(), Map::default());
        for one in resolved {
            let Some(index) = state.index(&one.index).cloned() else { continue };
            let limits = match gate::ask(gate, ACTION, &one.index, &one.via) {
                Ok(limits) => limits,
                Err(_) if call.options.ignore_unavailable => continue,
                Err(error) => return Err(told(error)),
            };
            block::check(&index, Level::Read)?;
            // Whoever does not see all of it by its own name asks for what it sees by those that led here.
            let is_whole = |kind: &Limits| kind.filter.is_none() && kind.fields.is_none();
            let are_whole = |limits: &Limits| limits.each().iter().all(is_whole);
            let sees_all = are_whole(&limits)
                && gate.sees(SEARCH, &index.name)
                && gate.index(SEARCH, &index.name).is_ok_and(|own| are_whole(&own));
            if !sees_all && !one.via.is_empty() {
                names.insert(index.uuid, one.via.join(","));
            }
            indices.push((index, limits));
        }
        drop(state);
        indices.sort_by(|a, b| a.0.name.cmp(&b.0.name));
        if let Some(filter) = &call.index_filter {
            let mut kept = Vec::new();
            let mut named = (Lists::default(), Made::default());
            for (index, limits) in indices {
                let by_names = names.get(&index.uuid).map_or(&*index.name, String::as_str);
                if self.may_match(gate, (&index.name, by_names), filter, &mut named).await? {
                    kept.push((index, limits));
                }
            }
            indices = kept;
        }
        let mut found = Found::new();
        for (place, (index, limits)) in indices.iter().enumerate() {
            let filled = match call.leaves_out_empty {
                true => self.filled(index, limits).await,
                false => None,
            };
            found.index = place as u32;
            let filters = (&filters, filled.as_ref());
            self.of_index(index, limits, &mut wanted, filters, &mut found).await?;
        }
        let mut caps = found.caps;
        let FieldCaps { fields, memory, .. } = &mut *caps;
        let count = indices.len() as u32;
        for (at, types) in fields.values_mut().enumerate() {
            if call.include_unmapped
                && let Some(unmapped) = unmapped(types, count)
            {
                let lists = unmapped.indices.len() * PLACE_BYTES;
                types.push(unmapped);
                self.pay(memory, "field_caps", FIELD_BYTES + lists)?;
            }
            types.sort_by_key(|one| one.kind);
            let several = types.len();
            types.iter_mut().for_each(|one| one.settle(several));
            self.env.spawn().yield_at(at).await;
        }
        caps.indices = indices.iter().map(|(index, _)| index.name.to_string()).collect();
        Ok(caps)
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
        wanted: &mut Wanted<'_>,
        (filters, filled): (&Filters<'_>, Option<&BTreeSet<FieldNo>>),
        found: &mut Found,
    ) -> Result<()> {
        let mapping = &index.mapping;
        let visible = |path: &str| limits.shows(path);
        found.pay(self)?;
        if filters.metadata != Some(true) {
            let own = mapping.fields().map(|field| (&field.path, field));
            for (at, (name, field)) in own.chain(mapping.aliases()).enumerate() {
                if at % FIELDS_PAID == 0 {
                    found.pay(self)?;
                }
                match wanted.patterns.len() <= PATTERNS_FEW {
                    true => self.env.spawn().yield_at(at).await,
                    false => self.env.spawn().yield_if_needed().await,
                }
                let kind = family(field);
                // Another name of a field is a name of its own.
                let is_seen = visible(name) && visible(&field.path);
                if !is_seen || !filters.allows(kind) || !wanted.has(name)? {
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
                let (searchable, aggregatable) = able(field);
                let meta = meta_of(field);
                found.take(name, Seen { searchable, aggregatable, meta, ..Seen::of(kind) });
                if !filters.no_parents {
                    parents(mapping, name, &mut |parent, kind| {
                        let is_told =
                            filters.allows(kind) && !(filters.no_nested && kind == "nested");
                        if is_told && !found.has(parent) {
                            found.take(parent, Seen::of(kind));
                        }
                    });
                }
            }
        }
        if filters.metadata != Some(false) {
            for (name, kind, searchable, aggregatable) in METADATA {
                self.env.spawn().yield_if_needed().await;
                if filters.allows(kind) && !found.has(name) && wanted.has(name)? {
                    let own = Seen { metadata_field: true, ..Seen::of(kind) };
                    found.take(name, Seen { searchable, aggregatable, ..own });
                }
            }
        }
        Ok(())
    }

    /// May a document of the index match? It is asked for by the names by which the caller sees it. What the filter
    /// names in documents is looked up once for all indices.
    async fn may_match(
        self: &Rc<Self>,
        gate: &dyn Gate,
        (index, by_names): (&str, &str),
        filter: &Value,
        (lists, made): &mut (Lists, Made),
    ) -> Result<bool> {
        let begin = self.env.clock().monotonic();
        let query = match index == by_names {
            true => filter.clone(),
            false => {
                json::json!({"bool": {"filter": [(filter.clone()), {"term": {"_index": index}}]}})
            }
        };
        let mut body = Object::new();
        body.insert("query", query);
        let search = SearchCall {
            indices: by_names.to_owned(),
            body: Bytes::from(json::to_string(&Value::Object(body)).into_bytes()),
            ..SearchCall::default()
        };
        let request = self.read_request(&search.body, &search.params, dsl::parse_count).await?;
        let request = Arc::new(request);
        let request = self.looked_up_beside(gate, index, &request, (lists, made)).await?;
        Ok(self.count_read(gate, &search, request, begin).await?.count > 0)
    }
}

/// Steps that names of fields are held against patterns in, of one request: a second or two.
const STEPS_MAX: usize = 1 << 30;

/// Which names are asked for.
#[derive(Debug)]
struct Wanted<'a> {
    /// All of them.
    all: bool,
    /// These.
    names: Set<&'a str>,
    /// Those that one of these matches.
    patterns: Vec<&'a str>,
    cost: Cost,
    steps: Steps,
}

impl<'a> Wanted<'a> {
    fn of(asked: &'a [String]) -> Self {
        let asked = || asked.iter().map(String::as_str);
        let patterns: Vec<&str> = asked().filter(|name| name.contains('*')).collect();
        Self {
            all: patterns.contains(&"*"),
            names: asked().filter(|name| !name.contains('*')).collect(),
            cost: Cost::of(patterns.iter().copied()),
            patterns,
            steps: Steps::new(STEPS_MAX),
        }
    }

    /// Is this one asked for?
    ///
    /// # Errors
    /// More was compared than may be.
    fn has(&mut self, name: &str) -> Result<bool> {
        if self.all || self.names.contains(name) {
            return Ok(true);
        }
        if !self.steps.spend(self.cost.steps(name)) {
            return Err(Error::illegal_argument(format!(
                "[fields] has [{}] patterns, which are too many to compare with all fields of these indices; ask \
                 for fewer, or by names without [*]",
                self.patterns.len()
            )));
        }
        Ok(self.patterns.iter().any(|pattern| matches(pattern, name)))
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

/// The objects that a field lies in.
fn parents(mapping: &Mapping, name: &str, take: &mut dyn FnMut(&str, &'static str)) {
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

/// The indices, of `count`, in which a field of these types is of none; nothing where it is of one in all.
fn unmapped(types: &[Capability], count: u32) -> Option<Capability> {
    let mapped: BTreeSet<u32> = types.iter().flat_map(|one| &one.indices).copied().collect();
    let mut unmapped = Capability::of("unmapped");
    for index in (0..count).filter(|index| !mapped.contains(index)) {
        unmapped.add(index, Seen::of("unmapped"));
    }
    (!unmapped.indices.is_empty()).then_some(unmapped)
}
