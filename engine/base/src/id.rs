//! Identifiers: one type for each kind of number, so that they cannot be mixed up.
//!
//! Arithmetic that makes sense is a method; arithmetic that does not is missing.

use std::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, std::cmp::Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// The bare number, for storing and printing.
            #[inline]
            pub const fn get(self) -> $inner {
                self.0
            }

            /// The number after this one.
            #[inline]
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// Position of a document inside one segment: `0 <= id < doc_count`.
    ///
    /// Meaningless outside that segment, and after a merge.
    DocId(u32)
}
number! {
    /// Rank of a term among a field's sorted terms, inside one segment.
    Ord(u32)
}
number! {
    /// Number of a mapped field in one index: given by `cluster/apply`, never reused.
    FieldNo(u32)
}
number! {
    /// Number of a segment in one shard: rises, never reused.
    SegmentId(u64)
}
number! {
    /// Place of an operation in the history of one shard: starts at 0, given to one operation only.
    SeqNo(u64)
}
number! {
    /// Reign of a primary: starts at 1, rises at each new leader and each unclean open.
    PrimaryTerm(u64)
}
number! {
    /// Number of an executor of this process.
    CoreId(u16)
}

impl DocId {
    /// As an index into memory.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FieldNo {
    /// `_id`: the ids section, no terms.
    pub const ID: Self = Self(0);
    /// `_seq_no`: a column of numbers.
    pub const SEQ_NO: Self = Self(1);
    /// `_version`: a column of numbers.
    pub const VERSION: Self = Self(2);
    /// `_primary_term`: a column of numbers.
    pub const PRIMARY_TERM: Self = Self(3);
    /// `_routing`: a column of words.
    pub const ROUTING: Self = Self(4);
    /// `_field_names`: terms, each a field's number as four bytes, highest first.
    pub const FIELD_NAMES: Self = Self(5);
    /// `_ignored`: paths as terms and as a column of words.
    pub const IGNORED: Self = Self(6);
    /// `_nested_path`: terms, of each nested document the path of its object.
    pub const NESTED_PATH: Self = Self(7);
    /// `_doc_count`: a column of numbers.
    pub const DOC_COUNT: Self = Self(8);
    /// The first number of a user's field.
    pub const USER_FIRST: Self = Self(16);

    /// As an index into memory.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Ord {
    /// As an index into memory.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A shard: the index's 16-byte unique id and the number of the shard within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, std::cmp::Ord, Hash)]
pub struct ShardId {
    /// Unique id of the index; its text form is 22 characters of URL-safe base64.
    pub index: [u8; 16],
    /// Number of the shard: `0 <= number < number_of_shards`.
    pub number: u32,
}
