//! The field tree of an index: what Elasticsearch calls its mapping.
//!
//! [`Mapping`] is objects with fields in them ([`node`]), the root's own options, and a flat table of
//! all fields by path and by number. It never changes: [`Mapping::merge`] (what a user asks,
//! [`update`]) and [`Mapping::apply_delta`] (what a document adds) make another one, which shares
//! the objects that stayed the same. [`define`] reads definitions, [`render`] shows them.
//!
//! Always true
//! 1. A field keeps its number for life; new ones are numbered in the order of their paths, so that
//!    every node of a cluster that applies the same changes comes to the same numbers.
//! 2. Paths are unique: a path is an object or a field, not both.
//! 3. No object lies deeper than `Limits::depth`, nor than [`limits::DEPTH_MAX`].

mod admit;
mod beside;
mod copy;
mod define;
pub(crate) mod dynamic;
mod fan;
mod grow;
pub(crate) mod limits;
mod members;
pub(crate) mod node;
mod options;
mod params;
mod render;
mod same;
mod share;
mod sort;
mod state;
pub(crate) mod template;
mod update;
mod visible;

pub use visible::Sight;

use std::sync::Arc;

use base::FieldNo;
use json::Value;

use crate::Result;
use crate::analysis::effort;
use crate::settings::Settings;
use crate::types::{Field, Keyword, KeywordFlavor, Kind};

pub use define::is_metadata;
pub(crate) use define::{METADATA, java_text as define_java_text};
use node::{Flat, Object};
pub(crate) use options::Options;
pub use options::SourceMode;

/// What happens to fields that the mapping does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dynamic {
    /// They are added.
    #[default]
    True,
    /// They stay in the source, unseen.
    False,
    /// The document is refused.
    Strict,
}

/// The fields that one document would add.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    mappings: Value,
}

impl Delta {
    /// As a mapping fragment: `{"properties":{…}}`.
    pub fn to_json(&self) -> &Value {
        &self.mappings
    }

    /// Fields and objects that it names, multi-fields too.
    pub fn len(&self) -> usize {
        fn count(mappings: &Value) -> usize {
            ["properties", "fields"]
                .iter()
                .filter_map(|key| mappings.get(key)?.as_object())
                .flat_map(|fields| fields.iter())
                .map(|(_, field)| 1 + count(field))
                .sum()
        }
        count(&self.mappings)
    }

    /// Whether it names none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// From a mapping fragment that [`Delta::to_json`] gave.
    pub fn from_json(mappings: Value) -> Self {
        Self { mappings }
    }
}

/// What the documents of one index mean. Cheap to clone; never changes.
#[derive(Clone, Debug)]
pub struct Mapping {
    inner: Arc<Inner>,
    /// Some fields are hidden.
    reduced: bool,
    /// What is seen of other documents of the index, where it is more or otherwise.
    other: Option<Arc<Self>>,
}

#[derive(Debug)]
struct Inner {
    version: u64,
    /// Number of the next new field.
    next_no: u32,
    root: Arc<Object>,
    options: Arc<Options>,
    flat: Arc<Flat>,
    settings: Arc<Settings>,
}

impl Mapping {
    /// Reads a mapping definition: `{"properties":{…},"dynamic":…}`.
    ///
    /// # Errors
    /// In Elasticsearch's words; `Error::in_create` adds what index creation puts around them.
    pub fn parse(mappings: &Value, settings: Arc<Settings>) -> Result<Self> {
        let empty = Self::empty(settings);
        let (options, root) = define::mappings(mappings, &empty.inner.settings)?;
        let root = update::merge(&empty.inner.root, &root, update::Reason::Request)?;
        let merged = empty.replaced(root, Arc::new(options))?;
        Ok(merged.with_version(1))
    }

    /// May this definition (of a new index, a change or a part of a template) be given anew? Rules
    /// that definitions of older versions may break are asked only here, not by [`Self::parse`] and
    /// [`Self::merge`], which read those, too.
    ///
    /// # Errors
    /// In Elasticsearch's words, as of [`Self::parse`].
    pub fn admit(mappings: &Value) -> Result<()> {
        admit::mappings(mappings)
    }

    /// May the dynamic templates of this mapping be given anew? Those that `before` has, too, are not
    /// asked.
    ///
    /// # Errors
    /// Where one can make no field of any value, in Elasticsearch's words.
    pub fn admit_templates(&self, before: Option<&Self>) -> Result<()> {
        let known = before.map_or(&[][..], |before| before.inner.options.templates());
        let news = self.inner.options.templates().iter().filter(|one| !known.contains(one));
        news.into_iter().try_for_each(|template| template.admit(&self.inner.settings))
    }

    /// A mapping without fields.
    pub fn empty(settings: Arc<Settings>) -> Self {
        Self::build(1, FieldNo::USER_FIRST.get(), Arc::default(), Arc::default(), settings)
    }

    /// This mapping with `update` (the body of a put-mapping request) worked in. New fields get
    /// the next numbers, in order of their paths. Where nothing changes, the version stays.
    ///
    /// # Errors
    /// Where the change is not allowed, in Elasticsearch's words.
    pub fn merge(&self, update: &Value) -> Result<Self> {
        let (options, root) = define::mappings(update, &self.inner.settings)?;
        let options = Arc::new(self.inner.options.merge(options)?);
        let root = update::merge(&self.inner.root, &root, update::Reason::Request)?;
        let next = self.replaced(root, options)?;
        next.check_sort()?;
        Ok(next)
    }

    /// This mapping with the fields of a document added. What is there already stays as it is: the
    /// document is read again, and fits it or not.
    ///
    /// # Errors
    /// Where the limits allow no more fields.
    pub fn apply_delta(&self, delta: &Delta) -> Result<Self> {
        let (_, root) = define::mappings(&delta.mappings, &self.inner.settings)?;
        let root = update::merge(&self.inner.root, &root, update::Reason::Document)?;
        self.replaced(root, self.inner.options.clone())
    }

    /// This mapping with the fields of several documents added, one after the other, and what became of
    /// each: those that are refused add nothing.
    pub fn apply_deltas(&self, deltas: &[&Delta]) -> (Self, Vec<Result<()>>) {
        if deltas.len() > 1
            && let Some(grown) = grow::all(self, deltas)
        {
            return (grown, deltas.iter().map(|_| Ok(())).collect());
        }
        let mut mapping = self.clone();
        let mut add = |delta: &&Delta| mapping.apply_delta(delta).map(|grown| mapping = grown);
        let answers = deltas.iter().map(&mut add).collect();
        (mapping, answers)
    }

    /// As Elasticsearch shows it: `{}` or `{"properties":{…}}`.
    pub fn to_json(&self) -> Value {
        render::mappings(self)
    }

    /// One field as `GET _mapping/field` shows it: `{"type":"long"}`.
    pub fn field_to_json(field: &Field) -> Value {
        render::field(field)
    }

    /// Whole, with field numbers, for the cluster's state.
    pub fn to_state_json(&self) -> Value {
        state::to_json(self)
    }

    /// Whether this is the same as `other`, numbers and version too.
    pub fn is_same(&self, other: &Self) -> bool {
        same::is_same(self, other)
    }

    /// What [`Mapping::to_state_json`] gave.
    ///
    /// # Errors
    /// Where the state is damaged.
    pub fn from_state_json(state: &Value, settings: Arc<Settings>) -> Result<Self> {
        state::from_json(state, settings)
    }

    /// The same fields under other settings of the index.
    #[must_use]
    pub fn with_settings(&self, settings: Arc<Settings>) -> Self {
        let inner = &self.inner;
        Self::build(
            inner.version,
            inner.next_no,
            inner.root.clone(),
            inner.options.clone(),
            settings,
        )
    }

    /// Rises by one with each change.
    pub fn version(&self) -> u64 {
        self.inner.version
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.inner.settings
    }

    /// The field at a full path, multi-fields included.
    pub fn field(&self, path: &str) -> Option<&Arc<Field>> {
        self.inner.flat.field(path)
    }

    /// The field of a number.
    pub fn field_by_no(&self, no: FieldNo) -> Option<&Arc<Field>> {
        self.inner.flat.field_by_no(no)
    }

    /// All fields, multi-fields included, sorted by path.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &Arc<Field>> {
        self.inner.flat.fields.iter()
    }

    /// Formats of the date that has most of them.
    pub fn date_formats_max(&self) -> usize {
        self.inner.flat.date_formats_max
    }

    /// The fields that say themselves how they score, sorted by path.
    pub fn similar_fields(&self) -> &[Arc<Field>] {
        &self.inner.flat.similar
    }

    /// The fields of which sorting or completing keeps something: texts with `fielddata`, and what completes;
    /// sorted by path.
    pub fn loaded_fields(&self) -> &[Arc<Field>] {
        &self.inner.flat.loaded
    }

    /// The fields whose path matches a pattern with `*`, sorted by path.
    pub fn expand<'a>(&'a self, pattern: &str) -> Vec<&'a Arc<Field>> {
        if !pattern.contains('*') {
            return self.field(pattern).into_iter().collect();
        }
        if !effort::may_match(pattern, self.fields().len()) {
            return Vec::new();
        }
        self.fields().filter(|field| template::matches(pattern, &field.path)).collect()
    }

    /// The fields that lie in an object, at any depth; none where there is no such object.
    pub fn fields_in<'a>(&'a self, object: &str) -> Vec<&'a Arc<Field>> {
        let inside = |field: &&'a Arc<Field>| {
            field.path.strip_prefix(object).is_some_and(|rest| rest.starts_with('.'))
        };
        if self.is_object(object) { self.fields().filter(inside).collect() } else { Vec::new() }
    }

    /// What a name of a request means: a field, the field behind an alias, one key of a `flattened`
    /// field (`labels.priority`).
    pub fn lookup(&self, name: &str) -> Option<Arc<Field>> {
        if let Some(field) = self.field(name) {
            return Some(field.clone());
        }
        // The ids of the parents of a family.
        if let Some((join, _)) = name.split_once('#')
            && let Some(field) = self.field(join)
            && matches!(field.kind, Kind::Join(_))
        {
            return field.parts.iter().find(|part| *part.path == *name).cloned();
        }
        let flat = &self.inner.flat;
        let (path, key) = flat.flattened.iter().find_map(|path| {
            let key = name.strip_prefix(&**path)?.strip_prefix('.')?;
            (!key.is_empty()).then_some((path, key))
        })?;
        let keyed = self.field(path)?.parts.first()?;
        let Kind::Keyword(keyword) = &keyed.kind else { return None };
        let flavor = KeywordFlavor::OneKey(key.into());
        let kind = Kind::Keyword(Keyword { flavor, ..keyword.clone() });
        Some(Arc::new(Field { path: name.into(), kind, ..Field::clone(keyed) }))
    }

    /// The fields whose name matches a pattern with `*`, aliases under their own names, sorted by
    /// name.
    pub fn expand_names(&self, pattern: &str) -> Vec<(Arc<str>, Arc<Field>)> {
        if !pattern.contains('*') {
            return self.lookup(pattern).map(|field| (pattern.into(), field)).into_iter().collect();
        }
        let (fields, aliases) = (self.fields(), self.aliases());
        if !effort::may_match(pattern, fields.len() + aliases.len()) {
            return Vec::new();
        }
        let all = fields.map(|field| (&field.path, field)).chain(aliases);
        let matching = all.filter(|(name, _)| template::matches(pattern, name));
        let mut found: Vec<(Arc<str>, Arc<Field>)> =
            matching.map(|(name, field)| (Arc::clone(name), Arc::clone(field))).collect();
        if !effort::may_list(found.len()) {
            return Vec::new();
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    /// Other names of fields, sorted, each with its field.
    pub fn aliases(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Arc<Field>)> {
        let flat = &self.inner.flat;
        flat.aliases.iter().map(|(name, at)| (name, &flat.fields[*at as usize]))
    }

    /// Is this another name of a field?
    pub fn is_alias(&self, path: &str) -> bool {
        let aliases = &self.inner.flat.aliases;
        aliases.binary_search_by(|(name, _)| (**name).cmp(path)).is_ok()
    }

    /// Fields without a path of their own: the keys of `flattened` ones.
    pub(crate) fn hidden_fields(&self) -> impl Iterator<Item = &Arc<Field>> {
        self.inner.flat.hidden.iter()
    }

    /// Paths of nested objects, sorted.
    pub fn nested_paths(&self) -> &[Arc<str>] {
        &self.inner.flat.nested
    }

    /// Is there a nested object at this path?
    pub fn is_nested(&self, path: &str) -> bool {
        self.inner.flat.nested.iter().any(|nested| **nested == *path)
    }

    /// The innermost nested object that a path lies in (not the path itself).
    pub fn nested_of(&self, path: &str) -> Option<&str> {
        let inside = |nested: &&Arc<str>| {
            path.strip_prefix(&***nested).is_some_and(|rest| rest.starts_with('.'))
        };
        let nested = self.inner.flat.nested.iter();
        nested.filter(inside).max_by_key(|nested| nested.len()).map(|nested| &**nested)
    }

    /// Paths of objects.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<str>> {
        self.inner.flat.objects.iter()
    }

    /// Is there an object at this path?
    pub fn is_object(&self, path: &str) -> bool {
        self.inner.flat.objects.contains(path)
    }

    /// Objects, fields and multi-fields together: what `total_fields.limit` bounds.
    pub fn total_fields(&self) -> u64 {
        self.inner.flat.total()
    }

    /// As long as this much plain text it may take to read a document of `len` bytes.
    pub fn reading_bytes(&self, len: usize) -> usize {
        len.saturating_mul(self.inner.flat.fan as usize)
    }

    /// What is kept of a document's text: all of it, some paths, what its fields tell, or nothing.
    pub fn source_mode(&self) -> SourceMode {
        let source = &self.inner.options.source;
        match (source.mode, source.enabled) {
            (Some(mode), _) => mode,
            (None, Some(false)) => SourceMode::Disabled,
            (None, _) => self.inner.settings.source_mode,
        }
    }

    /// The paths that are kept of a document's text, and those that are not; both empty: all of it.
    pub fn source_paths(&self) -> (&[String], &[String]) {
        let source = &self.inner.options.source;
        (&source.includes, &source.excludes)
    }

    /// Does what is kept of a document's text have all that its fields were made of?
    pub fn keeps_whole_source(&self) -> bool {
        let source = &self.inner.options.source;
        let is_cut = !source.includes.is_empty() || !source.excludes.is_empty();
        self.source_mode() != SourceMode::Disabled && !is_cut
    }

    /// Where the values of fields with `store` stand in documents.
    pub fn stored_paths(&self) -> &[Arc<str>] {
        &self.inner.flat.stored
    }

    /// Must each document name its routing?
    pub fn routing_required(&self) -> bool {
        self.inner.options.routing_required == Some(true)
    }

    /// The root object.
    pub(crate) fn root(&self) -> &Arc<Object> {
        &self.inner.root
    }

    /// The root's own options.
    pub(crate) fn options(&self) -> &Options {
        &self.inner.options
    }

    /// The next mapping after a change, checked; this one where nothing changed.
    fn replaced(&self, root: Arc<Object>, options: Arc<Options>) -> Result<Self> {
        let inner = &self.inner;
        if Arc::ptr_eq(&root, &inner.root) && options == inner.options {
            return Ok(self.clone());
        }
        let mut next_no = inner.next_no;
        let root = node::number(&root, &mut next_no);
        let version = inner.version + 1;
        let next = Self::build(version, next_no, root, options, inner.settings.clone());
        limits::check(&next)?;
        copy::check(&next)?;
        Ok(next)
    }

    fn build(
        version: u64,
        next_no: u32,
        root: Arc<Object>,
        options: Arc<Options>,
        settings: Arc<Settings>,
    ) -> Self {
        let flat = Arc::new(Flat::of(&root));
        let inner = Arc::new(Inner { version, next_no, root, options, flat, settings });
        Self { inner, reduced: false, other: None }
    }

    /// This is what a caller sees from whom fields are hidden.
    pub fn is_reduced(&self) -> bool {
        self.reduced
    }

    fn with_version(self, version: u64) -> Self {
        let Inner { next_no, root, options, flat, settings, .. } = &*self.inner;
        let inner = Inner {
            version,
            next_no: *next_no,
            root: root.clone(),
            options: options.clone(),
            flat: flat.clone(),
            settings: settings.clone(),
        };
        Self { inner: Arc::new(inner), ..self }
    }
}

impl Dynamic {
    /// As mappings write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Strict => "strict",
        }
    }
}

#[cfg(test)]
mod tests;
