//! One tree in memory for mappings that say the same, and what a tree takes.
//!
//! Indices of one template have equal mappings, each parsed on its own. A tree of a thousand fields takes
//! half a megabyte, so it is worth a comparison.

use std::mem::size_of;
use std::sync::Arc;

use base::hash::murmur3_128;

use super::node::Flat;
use super::same::objects;
use super::{Inner, Mapping};
use crate::types::{Field, Kind};

/// What the allocator and a counter of owners add to something that is owned by several.
const OWNED_BYTES: usize = 32;

/// Places of a field in the tables of a tree: by path, by number, by name in its object, in a list; with the
/// room that tables keep free.
const PLACES_BYTES: usize = 160;

/// What a mapping takes beside its tree: settings with the analyzers that each index has.
const OUTSIDE_BYTES: usize = 4 << 10;

impl Mapping {
    /// This mapping with the tree of `other` in place of its own where both say the same; `None` where they do
    /// not. The settings of both indices must mean the same to mappings: analyzers are part of a tree.
    pub fn shared_with(&self, other: &Self) -> Option<Self> {
        let (one, two) = (&self.inner, &other.inner);
        if Arc::ptr_eq(&one.flat, &two.flat) {
            return None;
        }
        let is_like = one.flat.likeness == two.flat.likeness
            && one.next_no == two.next_no
            && one.options == two.options
            && objects(&one.root, &two.root);
        if !is_like {
            return None;
        }
        if one.version == two.version {
            return Some(other.clone());
        }
        let inner = Inner {
            version: one.version,
            next_no: one.next_no,
            root: Arc::clone(&two.root),
            options: Arc::clone(&two.options),
            flat: Arc::clone(&two.flat),
            settings: Arc::clone(&two.settings),
        };
        Some(Self { inner: Arc::new(inner), ..self.clone() })
    }

    /// Mappings with equal trees have equal ones; others hardly ever.
    pub fn likeness(&self) -> u64 {
        self.inner.flat.likeness
    }

    /// Which tree it has, among those of mappings that are there now.
    pub fn tree(&self) -> usize {
        Arc::as_ptr(&self.inner.flat).addr()
    }

    /// Which parts it is shown of, among those of mappings that are there now: two that have the same ones are
    /// shown alike.
    pub fn parts(&self) -> [usize; 2] {
        let inner = &self.inner;
        [Arc::as_ptr(&inner.root).addr(), Arc::as_ptr(&inner.options).addr()]
    }

    /// About how many bytes it takes as text, as the cluster's state is written: whole, for each index.
    pub fn text_bytes(&self) -> usize {
        let inner = &self.inner;
        inner.flat.text_bytes
            + inner.options.meta.as_ref().map_or(0, |meta| meta.text_bytes(usize::MAX))
    }

    /// About how many bytes its tree takes, however many mappings share it.
    pub fn tree_bytes(&self) -> usize {
        let options = &self.inner.options;
        self.inner.flat.bytes + options.held_bytes() + OUTSIDE_BYTES
    }

    /// About how many bytes a field takes while it is shown, with its multi-fields.
    pub fn shown_bytes(field: &Field) -> usize {
        let multi = field.multi_fields.iter().map(|one| field_bytes(one));
        field_bytes(field) + multi.sum::<usize>()
    }
}

/// About how many bytes a field takes as text, with its number, where its names are not counted.
const TEXT_BYTES: usize = 48;

/// Equal trees have equal ones; others hardly ever.
pub(super) fn likeness(flat: &Flat) -> u64 {
    flat.fields.iter().chain(&flat.hidden).fold(0, |sum: u64, field| {
        let (path, _) = murmur3_128(field.path.as_bytes());
        let (kind, _) = murmur3_128(field.type_name().as_bytes());
        // By places, so that two fields that change them do not come to the same.
        sum.rotate_left(7) ^ path.wrapping_mul(u64::from(field.no.get()) | 1) ^ kind
    })
}

/// About how many bytes the fields of a tree take, with their places in its tables.
pub(super) fn bytes(flat: &Flat) -> usize {
    let fields = flat.fields.iter().chain(&flat.hidden);
    let objects: usize = flat.objects.iter().map(|path| 4 * (path.len() + OWNED_BYTES) + 256).sum();
    fields.map(|field| field_bytes(field)).sum::<usize>() + objects
}

/// About how many bytes the fields of a tree take as text.
pub(super) fn text_bytes(flat: &Flat) -> usize {
    let fields = flat.fields.iter().chain(&flat.hidden);
    let one = |field: &Field| {
        // Its path beside its number, and its name where it is defined.
        let meta = field.meta.as_ref().map_or(0, |meta| meta.text_bytes(usize::MAX));
        field.path.len() + field.name().len() + TEXT_BYTES + meta
    };
    fields.map(|field| one(field)).sum()
}

fn field_bytes(field: &Field) -> usize {
    let copies = field.copy_to.iter().map(|path| path.len() + OWNED_BYTES);
    // Its path, and its name in its object.
    let names = 2 * (field.path.len() + OWNED_BYTES);
    let meta = field.meta.as_ref().map_or(0, json::Value::held_bytes);
    let lists = (field.multi_fields.len() + field.parts.len()) * size_of::<Arc<Field>>();
    let kind = match &field.kind {
        Kind::Completion(completion) => size_of_val(&**completion) + OWNED_BYTES,
        Kind::GeoPoint(point) => {
            point.null_value.as_ref().map_or(0, |(value, _)| value.held_bytes())
        }
        _ => 0,
    };
    let own = size_of::<Field>() + OWNED_BYTES + PLACES_BYTES;
    own + names + meta + lists + kind + copies.sum::<usize>()
}
