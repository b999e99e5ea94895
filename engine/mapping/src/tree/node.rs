//! Objects with fields in them, and the flat table of all fields.

use std::sync::Arc;

use base::FieldNo;
use base::hash::{Map, Set};

use super::Dynamic;
use crate::types::Field;

/// An object of the tree; the root has an empty path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    /// Full dotted path.
    pub path: Arc<str>,
    /// What happens to unknown fields here; none: as in the object above.
    pub dynamic: Option<Dynamic>,
    /// `enabled: false`: nothing inside is looked at.
    pub enabled: Option<bool>,
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
            let numbered = match child {
                Child::Object(inner) => {
                    let numbered = number(inner, next);
                    changed |= !Arc::ptr_eq(&numbered, inner);
                    Child::Object(numbered)
                }
                Child::Field(field) => {
                    let numbered = number_field(field, next);
                    changed |= !Arc::ptr_eq(&numbered, field);
                    Child::Field(numbered)
                }
            };
            (name.clone(), numbered)
        })
        .collect();
    if !changed {
        return object.clone();
    }
    Arc::new(Object { children: Children::new(children), ..Object::clone(object) })
}

fn number_field(field: &Arc<Field>, next: &mut u32) -> Arc<Field> {
    let new = field.no == UNNUMBERED;
    if !new && field.multi_fields.iter().all(|multi| multi.no != UNNUMBERED) {
        return field.clone();
    }
    let mut numbered = Field::clone(field);
    if new {
        numbered.no = FieldNo(*next);
        *next += 1;
    }
    for multi in &mut numbered.multi_fields {
        *multi = number_field(multi, next);
    }
    Arc::new(numbered)
}

/// All fields by path and by number.
#[derive(Debug)]
pub(super) struct Flat {
    /// Sorted by path.
    pub fields: Vec<Arc<Field>>,
    by_path: Map<Arc<str>, u32>,
    by_no: Map<FieldNo, u32>,
    /// Paths of objects, the root left out.
    pub objects: Set<Arc<str>>,
}

impl Flat {
    pub fn of(root: &Object) -> Self {
        let mut flat = Self {
            fields: Vec::new(),
            by_path: Map::default(),
            by_no: Map::default(),
            objects: Set::default(),
        };
        flat.add(root);
        flat.fields.sort_by(|a, b| a.path.cmp(&b.path));
        for (field, at) in flat.fields.iter().zip(0..) {
            flat.by_path.insert(field.path.clone(), at);
            flat.by_no.insert(field.no, at);
        }
        flat
    }

    fn add(&mut self, object: &Object) {
        for (_, child) in object.children.iter() {
            match child {
                Child::Object(inner) => {
                    self.objects.insert(inner.path.clone());
                    self.add(inner);
                }
                Child::Field(field) => {
                    self.fields.push(field.clone());
                    self.fields.extend(field.multi_fields.iter().cloned());
                }
            }
        }
    }

    pub fn field(&self, path: &str) -> Option<&Arc<Field>> {
        self.by_path.get(path).map(|at| &self.fields[*at as usize])
    }

    pub fn field_by_no(&self, no: FieldNo) -> Option<&Arc<Field>> {
        self.by_no.get(&no).map(|at| &self.fields[*at as usize])
    }

    pub fn total(&self) -> u64 {
        (self.fields.len() + self.objects.len()) as u64
    }
}
