//! Objects with fields in them, and the flat table of all fields.

use std::sync::Arc;

use base::FieldNo;
use base::hash::{Map, Set};

use super::{Dynamic, fan, share};
use crate::types::{Field, Kind, TextFlavor};

/// An object of the tree; the root has an empty path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    /// Full dotted path.
    pub path: Arc<str>,
    /// What happens to unknown fields here; none: as in the object above.
    pub dynamic: Option<Dynamic>,
    /// `enabled: false`: nothing inside is looked at.
    pub enabled: Option<bool>,
    /// `subobjects: false`: names inside are whole, dots and all.
    pub subobjects: Option<bool>,
    /// Each object here is a document of its own.
    pub nested: Option<Nested>,
    /// Fields and objects, sorted by name.
    pub children: Children,
}

/// What lies in an object.
#[derive(Clone, Debug)]
pub(crate) enum Child {
    /// A field with its multi-fields.
    Field(Arc<Field>),
    /// An object.
    Object(Arc<Object>),
    /// Another name of a field.
    Alias(Arc<Alias>),
}

/// How a nested object shows outside of its own documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nested {
    /// Its values are the enclosing document's, too.
    pub in_parent: bool,
    /// Its values are the root's, too.
    pub in_root: bool,
}

/// Another name of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alias {
    /// Full dotted path.
    pub path: Arc<str>,
    /// The field's path.
    pub target: Arc<str>,
    /// `meta`, as it was given.
    pub meta: Option<json::Value>,
}

/// Children by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Children {
    sorted: Vec<(Arc<str>, Child)>,
    index: Map<Arc<str>, u32>,
}

impl Children {
    /// Children in any order; of two with one name the later stays.
    pub fn new(children: impl IntoIterator<Item = (Arc<str>, Child)>) -> Self {
        let by_name: std::collections::BTreeMap<Arc<str>, Child> = children.into_iter().collect();
        let sorted: Vec<_> = by_name.into_iter().collect();
        let index = sorted.iter().zip(0..).map(|((name, _), at)| (name.clone(), at)).collect();
        Self { sorted, index }
    }

    /// The child of a name.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&Child> {
        self.index.get(name).map(|at| &self.sorted[*at as usize].1)
    }

    /// All, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Child)> {
        self.sorted.iter().map(|(name, child)| (name, child))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }
}

impl Object {
    /// Is anything inside looked at?
    pub fn is_enabled(&self) -> bool {
        self.enabled != Some(false)
    }

    /// Are names inside whole, dots and all?
    pub fn is_flat(&self) -> bool {
        self.subobjects == Some(false)
    }
}

/// `child` inside `parent`.
pub(crate) fn join(parent: &str, child: &str) -> String {
    if parent.is_empty() { child.to_owned() } else { format!("{parent}.{child}") }
}

/// Stands for a number not yet given.
pub(crate) const UNNUMBERED: FieldNo = FieldNo(0);

/// Numbers the fields that have no number yet, in the order of their paths. Objects without such
/// fields are shared.
pub(super) fn number(object: &Arc<Object>, next: &mut u32) -> Arc<Object> {
    let mut changed = false;
    let children: Vec<(Arc<str>, Child)> = object
        .children
        .iter()
        .map(|(name, child)| {
            let numbered = number_child(child, next);
            changed |= match (&numbered, child) {
                (Child::Object(numbered), Child::Object(inner)) => !Arc::ptr_eq(numbered, inner),
                (Child::Field(numbered), Child::Field(field)) => !Arc::ptr_eq(numbered, field),
                _ => false,
            };
            (name.clone(), numbered)
        })
        .collect();
    if !changed {
        return object.clone();
    }
    Arc::new(Object { children: Children::new(children), ..Object::clone(object) })
}

/// As [`number`], for one child.
pub(super) fn number_child(child: &Child, next: &mut u32) -> Child {
    match child {
        Child::Object(inner) => Child::Object(number(inner, next)),
        Child::Field(field) => Child::Field(number_field(field, next)),
        Child::Alias(alias) => Child::Alias(alias.clone()),
    }
}

fn number_field(field: &Arc<Field>, next: &mut u32) -> Arc<Field> {
    let new = field.no == UNNUMBERED;
    let mut others = field.multi_fields.iter().chain(&field.parts);
    if !new && others.all(|other| is_numbered(other)) {
        return field.clone();
    }
    let mut numbered = Field::clone(field);
    if new {
        numbered.no = FieldNo(*next);
        *next += 1;
    }
    for other in numbered.multi_fields.iter_mut().chain(&mut numbered.parts) {
        *other = number_field(other, next);
    }
    Arc::new(numbered)
}

/// Has a field its number, and what belongs to it too?
fn is_numbered(field: &Field) -> bool {
    field.no != UNNUMBERED && field.parts.iter().all(|part| part.no != UNNUMBERED)
}

/// Where the values of stored fields stand: they are a field's own, those of the field it is a part of, or copies.
fn stored_paths(fields: &[Arc<Field>]) -> Vec<Arc<str>> {
    let stored: Set<&str> =
        fields.iter().filter(|field| field.store).map(|field| &*field.path).collect();
    let gives = |field: &&Arc<Field>| {
        let multi = field.multi_fields.iter().map(|multi| &*multi.path);
        let copies = field.copy_to.iter().map(|path| &**path);
        std::iter::once(&*field.path).chain(multi).chain(copies).any(|path| stored.contains(path))
    };
    match stored.is_empty() {
        true => Vec::new(),
        false => fields.iter().filter(gives).map(|field| Arc::clone(&field.path)).collect(),
    }
}

/// All fields by path and by number.
#[derive(Debug)]
pub(super) struct Flat {
    /// Sorted by path.
    pub fields: Vec<Arc<Field>>,
    /// Fields without a path of their own.
    pub hidden: Vec<Arc<Field>>,
    /// Other names, sorted, each with the place of its field.
    pub aliases: Vec<(Arc<str>, u32)>,
    by_path: Map<Arc<str>, u32>,
    by_no: Map<FieldNo, Arc<Field>>,
    /// Paths of objects, the root left out.
    pub objects: Set<Arc<str>>,
    /// Paths of nested objects, sorted.
    pub nested: Vec<Arc<str>>,
    /// Paths of `flattened` fields.
    pub flattened: Vec<Arc<str>>,
    /// Where the values of fields with `store` stand in documents.
    pub stored: Vec<Arc<str>>,
    /// Fields that say themselves how they score.
    pub similar: Vec<Arc<Field>>,
    /// Fields of which sorting or completing keeps something.
    pub loaded: Vec<Arc<Field>>,
    /// A field is of a kind whose values are judged by several at once.
    pub dependent: bool,
    /// Formats of the date that has most of them: a value is tried by each.
    pub date_formats_max: usize,
    /// Mappers: objects, fields, multi-fields and aliases.
    pub total: u64,
    /// Equal trees have equal ones.
    pub likeness: u64,
    /// About what all of it takes.
    pub bytes: usize,
    /// About what all of it takes as text.
    pub text_bytes: usize,
    /// See [`fan`].
    pub fan: u32,
}

impl Flat {
    pub fn of(root: &Object) -> Self {
        let mut flat = Self {
            fields: Vec::new(),
            hidden: Vec::new(),
            aliases: Vec::new(),
            by_path: Map::default(),
            by_no: Map::default(),
            objects: Set::default(),
            nested: Vec::new(),
            flattened: Vec::new(),
            stored: Vec::new(),
            similar: Vec::new(),
            loaded: Vec::new(),
            dependent: false,
            date_formats_max: 0,
            total: 0,
            likeness: 0,
            bytes: 0,
            text_bytes: 0,
            fan: 1,
        };
        let mut aliases = Vec::new();
        flat.add(root, &mut aliases);
        flat.fields.sort_by(|a, b| a.path.cmp(&b.path));
        for (field, at) in flat.fields.iter().zip(0..) {
            flat.by_path.insert(field.path.clone(), at);
        }
        for field in flat.fields.iter().chain(&flat.hidden) {
            flat.by_no.insert(field.no, field.clone());
        }
        aliases.sort_by(|a: &Arc<Alias>, b| a.path.cmp(&b.path));
        for alias in aliases {
            if let Some(at) = flat.by_path.get(&alias.target).copied() {
                flat.aliases.push((alias.path.clone(), at));
            }
        }
        for (path, at) in &flat.aliases {
            flat.by_path.insert(path.clone(), *at);
        }
        flat.nested.sort();
        flat.dependent = flat.fields.iter().any(|field| super::members::depends(field));
        let formats = flat.fields.iter().filter_map(|field| field.date_formats());
        flat.date_formats_max = formats.max().unwrap_or(0);
        flat.stored = stored_paths(&flat.fields);
        let similar = flat.fields.iter().filter(|field| field.similarity().is_some());
        flat.similar = similar.cloned().collect();
        let loaded = flat.fields.iter().filter(|field| match &field.kind {
            Kind::Text(text) => text.fielddata,
            Kind::Completion(_) => true,
            _ => false,
        });
        flat.loaded = loaded.cloned().collect();
        flat.likeness = share::likeness(&flat);
        flat.bytes = share::bytes(&flat);
        flat.text_bytes = share::text_bytes(&flat);
        flat.fan = fan::fan(&flat);
        flat
    }

    fn add(&mut self, object: &Object, aliases: &mut Vec<Arc<Alias>>) {
        for (_, child) in object.children.iter() {
            self.total += 1;
            match child {
                Child::Object(inner) => {
                    self.objects.insert(inner.path.clone());
                    if inner.nested.is_some() {
                        self.nested.push(inner.path.clone());
                    }
                    self.add(inner, aliases);
                }
                Child::Alias(alias) => aliases.push(alias.clone()),
                Child::Field(field) => {
                    self.total += field.multi_fields.len() as u64;
                    for field in std::iter::once(field).chain(&field.multi_fields) {
                        self.add_field(field);
                    }
                }
            }
        }
    }

    fn add_field(&mut self, field: &Arc<Field>) {
        self.fields.push(field.clone());
        let shows_parts = match &field.kind {
            Kind::Text(text) => matches!(text.flavor, TextFlavor::SearchAsYouType(_)),
            _ => false,
        };
        if !shows_parts {
            if matches!(field.kind, Kind::Flattened(_)) {
                self.flattened.push(field.path.clone());
            }
            self.hidden.extend(field.parts.iter().cloned());
        } else {
            self.fields.extend(field.parts.iter().cloned());
        }
    }

    pub fn field(&self, path: &str) -> Option<&Arc<Field>> {
        self.by_path.get(path).map(|at| &self.fields[*at as usize])
    }

    pub fn field_by_no(&self, no: FieldNo) -> Option<&Arc<Field>> {
        self.by_no.get(&no)
    }

    pub fn total(&self) -> u64 {
        self.total
    }
}
