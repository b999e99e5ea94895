//! Queries about families (`join` fields): `has_child`, `has_parent`, `parent_id`.

use super::{NestedScore, Query};

/// Whom a query of families asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `has_child`: parents of the children that match.
    Child,
    /// `has_parent`: children of the parents that match.
    Parent,
}

impl Relation {
    /// The query's name.
    pub const fn query(self) -> &'static str {
        match self {
            Self::Child => "has_child",
            Self::Parent => "has_parent",
        }
    }
}

/// `has_child` and `has_parent`.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Whom it asks about.
    pub relation: Relation,
    /// Their name in the join field.
    pub kind: String,
    /// What they must match.
    pub query: Query,
    /// How their scores are joined.
    pub score_mode: NestedScore,
    /// Fewest of them.
    pub least: u32,
    /// Most of them.
    pub most: u32,
    /// Where there is no such relation nothing matches; else that is an error.
    pub ignore_unmapped: bool,
    /// The families found, by index; absent before they were looked for.
    pub found: Option<Vec<Found>>,
}

/// The families of one index that match.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Name of the index.
    pub index: String,
    /// The ids of their parents, sorted, each with the score of the family.
    pub parents: Vec<(Box<[u8]>, f32)>,
}

/// `parent_id`.
#[derive(Clone, Debug, PartialEq)]
pub struct ParentId {
    /// The children's name in the join field.
    pub kind: String,
    /// The parent's id.
    pub id: String,
    /// Where there is no such relation nothing matches; else that is an error.
    pub ignore_unmapped: bool,
}
