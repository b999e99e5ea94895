//! One document: write, get, multi-get.

use env::Bytes;

use super::Refresh;
use crate::error::{Error, Result};

/// `version_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionType {
    /// The store counts.
    #[default]
    Internal,
    /// The caller counts; must be above the stored one.
    External,
    /// The caller counts; must not be below the stored one.
    ExternalGte,
}

/// What a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAction {
    /// Puts the document, whether or not it is there.
    Index,
    /// Puts the document; a conflict where it is there.
    Create,
    /// Takes the document away.
    Delete,
}

/// One write: a line pair of a bulk request, or a request of its own.
#[derive(Clone, Debug)]
pub struct WriteItem {
    /// What to do.
    pub action: WriteAction,
    /// Name of an index or alias, as the caller gave it.
    pub index: String,
    /// Id; `None` is made here (only for index and create).
    pub id: Option<String>,
    /// Routing value.
    pub routing: Option<String>,
    /// Condition: the document's current sequence number.
    pub if_seq_no: Option<u64>,
    /// Condition: the document's current primary term.
    pub if_primary_term: Option<u64>,
    /// The version that goes with `version_type`.
    pub version: Option<i64>,
    /// Who counts versions.
    pub version_type: VersionType,
    /// The index must be an alias.
    pub require_alias: bool,
    /// The document's JSON text; empty for a delete.
    pub source: Bytes,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteResult {
    /// A new document.
    Created,
    /// A newer version of a document.
    Updated,
    /// The document is gone.
    Deleted,
    /// There was none to delete.
    NotFound,
}

impl WriteResult {
    /// Elasticsearch's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
            Self::NotFound => "not_found",
        }
    }

    /// HTTP status of the write.
    pub const fn status(self) -> u16 {
        match self {
            Self::Created => 201,
            Self::Updated | Self::Deleted => 200,
            Self::NotFound => 404,
        }
    }
}

/// Answer of one write.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The concrete index.
    pub index: String,
    /// The id, given or made.
    pub id: String,
    /// The new version.
    pub version: u64,
    /// What it did.
    pub result: WriteResult,
    /// Copies configured.
    pub shards_total: u32,
    /// Copies that wrote.
    pub shards_successful: u32,
    /// Place in the shard's history.
    pub seq_no: u64,
    /// Reign of the primary.
    pub primary_term: u64,
    /// A refresh was forced for it.
    pub forced_refresh: bool,
}

/// A request for one document.
#[derive(Clone, Debug)]
pub struct GetRequest {
    /// Name of an index or alias.
    pub index: String,
    /// Its id.
    pub id: String,
    /// Routing value.
    pub routing: Option<String>,
    /// Reads writes that no refresh has shown yet.
    pub realtime: bool,
    /// Refreshes first.
    pub refresh: bool,
    /// Must equal the stored version.
    pub version: Option<i64>,
    /// How versions compare.
    pub version_type: VersionType,
    /// What of the source is wanted.
    pub source: SourceFilter,
}

/// `_source`, `_source_includes`, `_source_excludes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFilter {
    /// False: no source at all.
    pub disabled: bool,
    /// Paths to keep; empty keeps all.
    pub includes: Vec<String>,
    /// Paths to drop.
    pub excludes: Vec<String>,
}

impl SourceFilter {
    /// The whole source as it was sent.
    pub fn is_whole(&self) -> bool {
        !self.disabled && self.includes.is_empty() && self.excludes.is_empty()
    }
}

/// Answer of a get.
#[derive(Clone, Debug)]
pub struct GetReply {
    /// The concrete index.
    pub index: String,
    /// The id asked for.
    pub id: String,
    /// The document, where there is one.
    pub found: Option<Found>,
}

/// A document as it stands.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its version.
    pub version: u64,
    /// Place of its last write.
    pub seq_no: u64,
    /// Reign of that write.
    pub primary_term: u64,
    /// Its routing value.
    pub routing: Option<String>,
    /// Fields that were not indexed.
    pub ignored: Vec<String>,
    /// Its JSON text, filtered as asked; `None` where disabled.
    pub source: Option<Bytes>,
}

/// One write with its refresh: the answer, or why not.
pub type WriteAnswer = Result<Written>;

/// Checks that need no state; `create` with conditions, half a condition and so on.
///
/// # Errors
/// The validation failure in Elasticsearch's words.
pub fn validate(item: &WriteItem) -> Result<()> {
    let mut problems: Vec<String> = Vec::new();
    let create = item.action == WriteAction::Create;
    let id_len = item.id.as_ref().map_or(0, String::len);
    if id_len > 512 {
        problems.push(format!(
            "id [{}] is too long, must be no longer than 512 bytes but was: {id_len}",
            item.id.as_deref().unwrap_or_default()
        ));
    }
    if create && item.version_type != VersionType::Internal {
        problems.push(
            "create operations only support internal versioning. use index instead".to_owned(),
        );
    }
    if create && (item.if_seq_no.is_some() || item.if_primary_term.is_some()) {
        problems
            .push("create operations do not support compare and set. use index instead".to_owned());
    }
    match (item.version_type, item.version) {
        (VersionType::Internal, Some(_)) => problems.push(
            "internal versioning can not be used for optimistic concurrency control. Please use \
             `if_seq_no` and `if_primary_term` instead"
                .to_owned(),
        ),
        (VersionType::External | VersionType::ExternalGte, None) => problems.push(format!(
            "illegal version value [-3] for version type [{}]",
            if item.version_type == VersionType::External { "EXTERNAL" } else { "EXTERNAL_GTE" }
        )),
        (VersionType::External | VersionType::ExternalGte, Some(version)) if version < 0 => {
            problems.push(format!(
                "illegal version value [{version}] for version type [{}]",
                if item.version_type == VersionType::External {
                    "EXTERNAL"
                } else {
                    "EXTERNAL_GTE"
                }
            ));
        }
        _ => {}
    }
    match (item.if_seq_no, item.if_primary_term) {
        (Some(_), None | Some(0)) => {
            problems.push("ifSeqNo is set, but primary term is [0]".to_owned());
        }
        (None, Some(term)) if term > 0 => {
            problems.push(format!("ifSeqNo is unassigned, but primary term is [{term}]"));
        }
        _ => {}
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::validation(&problems)) }
}

/// `refresh` with the words for it.
///
/// # Errors
/// `Unknown value for refresh: [x].`
pub fn parse_refresh(text: &str) -> Result<Refresh> {
    match text {
        "" | "true" => Ok(Refresh::Now),
        "false" => Ok(Refresh::No),
        "wait_for" => Ok(Refresh::Wait),
        other => Err(Error::illegal_argument(format!("Unknown value for refresh: [{other}]."))),
    }
}
