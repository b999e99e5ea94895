//! The settings of an index that its mapping depends on.

use std::sync::Arc;

use crate::analysis::Registry;
use crate::similarity::Similarity;
use crate::tree::SourceMode;

/// How large a mapping may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `index.mapping.total_fields.limit`: objects, fields and multi-fields together.
    pub total_fields: u64,
    /// `index.mapping.depth.limit`: objects inside each other, the root is 1.
    pub depth: u64,
    /// `index.mapping.field_name_length.limit`, in UTF-16 units of one name.
    pub field_name_length: u64,
    /// `index.mapping.nested_fields.limit`: nested objects of the mapping.
    pub nested_fields: u64,
    /// `index.mapping.nested_objects.limit`: nested objects of one document.
    pub nested_objects: u64,
    /// `index.mapping.total_fields.ignore_dynamic_beyond_limit`.
    pub ignore_dynamic_beyond: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total_fields: 1_000,
            depth: 20,
            field_name_length: u64::MAX,
            nested_fields: 50,
            nested_objects: 10_000,
            ignore_dynamic_beyond: false,
        }
    }
}

/// One key of the order in which an index keeps its documents (`index.sort`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortSpec {
    /// The field's whole name.
    pub field: Arc<str>,
    /// Greatest first.
    pub descending: bool,
    /// The greatest of several values counts, else the least.
    pub greatest: bool,
    /// Documents without a value stand first, else last.
    pub missing_first: bool,
}

/// What a mapping asks of its index's settings.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Analyzers by name.
    pub analysis: Arc<Registry>,
    /// How large the mapping may grow.
    pub limits: Limits,
    /// `index.mapping.ignore_above`: of words whose mapping does not say, in UTF-16 units.
    pub ignore_above: Option<u32>,
    /// `index.mapping.ignore_malformed`.
    pub ignore_malformed: bool,
    /// `index.mapping.coerce` turned off.
    pub no_coerce: bool,
    /// `index.mapping.source.mode`: how documents are kept where the mapping does not say.
    pub source_mode: SourceMode,
    /// `index.mapping.synthetic_source_keep: arrays`: a synthetic source has arrays as they came.
    pub keep_arrays: bool,
    /// `index.sort`: the keys of the order in which documents are kept, the first decides; none where
    /// it is that of their arrival.
    pub sort: Vec<SortSpec>,
    /// Similarities that `index.similarity` defines, by name.
    pub similarities: Vec<(Arc<str>, Similarity)>,
}
