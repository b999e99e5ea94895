//! Operations: what a batch asks of a shard, and what became of each.
//!
//! A [`WriteBatch`] is made on the core that took the request and crosses to the shard's home; its
//! documents are parsed already and lie in one arena.
//!
//! Not here: the log form (`frame`), judging (`decide`), doing (`apply`).

use std::sync::Arc;

use base::{PrimaryTerm, SeqNo};
use env::Bytes;
use env::budget::Taken;
use json::Value;
use mapping::document::Arena;

use crate::error::WriteError;

/// Longest id of a document, in bytes.
pub const ID_BYTES_MAX: usize = 512;

/// Operations for one shard, in request order.
pub struct WriteBatch {
    /// Version of the mapping by which `arena` was prepared.
    pub mapping_version: u64,
    /// The documents of `ops`, parsed.
    pub arena: Arena,
    /// What to do.
    pub ops: Vec<Operation>,
    /// Memory that was taken for it before; what it lacks beside is taken where it is decided.
    pub room: Vec<Taken>,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Id of the document: not empty; where the operation may make one at most [`ID_BYTES_MAX`] bytes, else what is a
    /// term.
    pub id: String,
    /// Routing value, where one was given.
    pub routing: Option<String>,
    /// What to do.
    pub kind: Kind,
    /// On what condition, and with which version.
    pub check: Check,
}

/// What an operation does.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Puts a document.
    Index {
        /// Only where there is none (`op_type=create`).
        create: bool,
        /// Its JSON text.
        source: Bytes,
        /// Its number in the batch's arena.
        doc: u32,
    },
    /// Takes a document away.
    Delete,
    /// Changes a document as it stands when its turn comes.
    Update(Box<Update>),
}

/// A change of a document, merged where the document is decided.
#[derive(Clone, Debug)]
pub struct Update {
    /// What is merged into the document that stands there.
    pub change: Arc<Value>,
    /// The JSON text to put where none stands there; without it that is refused.
    pub upsert: Option<Bytes>,
    /// It is for where none stands: a document there is a conflict.
    pub only_absent: bool,
    /// A change that changes nothing writes nothing.
    pub detect_noop: bool,
    /// The answer brings the document's text.
    pub wants_source: bool,
    /// Says what becomes of the document, in place of `change`.
    pub script: Option<Arc<Scripted>>,
    /// How much the caller sees of what stands there.
    pub seen: Seen,
}

/// How much the caller of an update sees of what stands there. Of the rest no failure tells: a change that is
/// good by itself is put, and of what does not fit beside it nothing is indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seen {
    /// All.
    #[default]
    All,
    /// A part; or nothing, and the change was judged beside what stands there.
    Part,
    /// Nothing: an object that is one value (a range, a place) may take the place of what stands there.
    Nothing,
}

/// A script that changes documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Scripted {
    /// The script.
    pub program: Arc<script::Program>,
    /// Its parameters: an object.
    pub params: Value,
    /// Name of the index, as the script sees it.
    pub index: String,
    /// Milliseconds since 1970, as the script sees them.
    pub now_ms: i64,
    /// It also says what becomes of `upsert`.
    pub upserts: bool,
}

/// What must hold for an operation to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Check {
    /// Nothing; the version counts on.
    #[default]
    None,
    /// No document stands there; the version counts on.
    Absent,
    /// The document stands at this sequence number and term; the version counts on.
    SeqNo {
        /// `if_seq_no`.
        seq_no: SeqNo,
        /// `if_primary_term`.
        term: PrimaryTerm,
    },
    /// The caller's version is above the one that stands there, and becomes the version.
    External(u64),
    /// The caller's version is not below the one that stands there, and becomes the version.
    ExternalGte(u64),
}

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Put a document where there was none.
    Created,
    /// Put a document in place of another.
    Updated,
    /// Took a document away.
    Deleted,
    /// Found none to take away.
    NotFound,
    /// An update that changes nothing: nothing was written.
    Noop,
}

/// An operation that was done and is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its place in the shard's history.
    pub seq_no: SeqNo,
    /// The reign it was decided in.
    pub primary_term: PrimaryTerm,
    /// The document's new version.
    pub version: u64,
    /// What it did.
    pub outcome: Outcome,
    /// The document's text, where an update asked for it.
    pub source: Option<Bytes>,
}

/// Answer of a batch, in its order.
pub type Answers = Vec<Result<Written, WriteError>>;

/// A document as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its JSON text; empty where the mapping keeps none.
    pub source: Bytes,
    /// Where values of stored fields are found, if not there.
    pub stored: Option<Bytes>,
    /// Place of the operation that put it.
    pub seq_no: SeqNo,
    /// Reign of that operation.
    pub primary_term: PrimaryTerm,
    /// Its version.
    pub version: u64,
    /// Routing value, where it has one.
    pub routing: Option<String>,
    /// Paths of fields that were not indexed (`_ignored`), sorted.
    pub ignored: Vec<String>,
}

/// How much of a document is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// All.
    #[default]
    Whole,
    /// All but its source and where stored fields are found: nothing is decompressed.
    Head,
    /// All of one whose head was read before; it counts as the same get.
    Again,
}

/// Whether a get sees what no refresh has shown yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Realtime {
    /// It does.
    #[default]
    Yes,
    /// It sees what a search sees.
    No,
}
