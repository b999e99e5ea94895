//! One document: write, get, multi-get.

use std::sync::Arc;

use env::Bytes;
use json::Value;
use json::fields::Fields;
use mapping::TERM_BYTES_MAX;
use mapping::document::Chosen;
use shard::{ID_BYTES_MAX, Scripted};

use super::Refresh;
use super::script::Script;
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
    /// Changes a part of the document.
    Update,
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
    /// The index must be a data stream, or become one by this write (only for index and create).
    pub require_data_stream: bool,
    /// It was judged as one of what is not there: with a document there it is a conflict (only for delete).
    pub only_absent: bool,
    /// The pipeline that a new document is to run through first, in place of the index's own; `_none`: through
    /// neither.
    pub pipeline: Option<Box<str>>,
    /// Dynamic templates that the request names for the document's new fields.
    pub templates: Option<Arc<Chosen>>,
    /// The document's JSON text; empty for a delete and an update.
    pub source: Bytes,
    /// What an update asks for; none for the others.
    pub update: Option<Box<Update>>,
}

impl WriteItem {
    /// A write of a document without conditions, by its id, of no source yet.
    pub fn new(action: WriteAction, index: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            action,
            index: index.into(),
            id: Some(id.into()),
            routing: None,
            if_seq_no: None,
            if_primary_term: None,
            version: None,
            version_type: VersionType::Internal,
            require_alias: false,
            require_data_stream: false,
            only_absent: false,
            pipeline: None,
            templates: None,
            source: Bytes::empty(),
            update: None,
        }
    }
}

/// The body of an update.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// The part that changes: an object.
    pub doc: Option<Arc<Value>>,
    /// What to put where there is no document: an object.
    pub upsert: Option<Arc<Value>>,
    /// `doc` is what to put there.
    pub doc_as_upsert: bool,
    /// It was judged as one for where there is no document: with one there it is a conflict.
    pub only_absent: bool,
    /// A change that changes nothing is written all the same.
    pub writes_noop: bool,
    /// How much the caller sees of what stands there: of the rest no failure tells.
    pub sight: shard::Seen,
    /// What of the new document to answer.
    pub source: Option<SourceFilter>,
    /// Fields of it that the caller may see; `None` is all.
    pub seen: Option<Arc<Fields>>,
    /// Says what becomes of the document, in place of `doc`.
    pub script: Option<Script>,
    /// The script also says what becomes of `upsert`.
    pub scripted_upsert: bool,
    /// How often to try again. An update never meets a conflict of its own making here.
    pub retry_on_conflict: i64,
}

impl Update {
    /// As the shard takes it. The answer brings the document's text where the caller asks for it, or
    /// where it is `told` of.
    pub(crate) fn operation(&self, script: Option<Arc<Scripted>>, told: bool) -> shard::Update {
        let upsert = if self.doc_as_upsert { &self.doc } else { &self.upsert };
        shard::Update {
            change: self.doc.clone().unwrap_or_else(|| Arc::new(Value::object())),
            upsert: upsert.as_ref().map(|value| Bytes::from(json::to_vec(value))),
            only_absent: self.only_absent,
            detect_noop: !self.writes_noop,
            wants_source: told || self.source.is_some(),
            script,
            seen: self.sight,
        }
    }

    /// Whether what it brings is longer than so many bytes, as text.
    pub(crate) fn is_longer_than(&self, bytes: usize) -> bool {
        let mut parts = self.doc.iter().chain(&self.upsert);
        parts.any(|part| part.text_bytes(bytes) > bytes)
    }

    /// Texts whose fields the mapping will probably have to know.
    pub(crate) fn texts(&self) -> impl Iterator<Item = Vec<u8>> {
        self.doc.iter().chain(&self.upsert).map(|part| json::to_vec(part))
    }
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
    /// The update changed nothing.
    Noop,
}

impl WriteResult {
    /// Elasticsearch's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
            Self::NotFound => "not_found",
            Self::Noop => "noop",
        }
    }

    /// HTTP status of the write.
    pub const fn status(self) -> u16 {
        match self {
            Self::Created => 201,
            Self::Updated | Self::Deleted | Self::Noop => 200,
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
    /// The new document's text, filtered, where an update asked for it.
    pub source: Option<Bytes>,
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
    /// Fields with `store` that are wanted.
    pub stored_fields: Arc<[String]>,
}

impl Default for GetRequest {
    /// In real time, the whole source.
    fn default() -> Self {
        Self {
            index: String::new(),
            id: String::new(),
            routing: None,
            realtime: true,
            refresh: false,
            version: None,
            version_type: VersionType::Internal,
            source: SourceFilter::default(),
            stored_fields: Arc::default(),
        }
    }
}

/// `_source`, `_source_includes`, `_source_excludes`. The lists are there once for all items that want the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFilter {
    /// False: no source at all.
    pub disabled: bool,
    /// Paths to keep; empty keeps all.
    pub includes: Arc<[String]>,
    /// Paths to drop.
    pub excludes: Arc<[String]>,
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
    /// Stored fields: names and values, each as JSON text.
    pub fields: Vec<(String, Vec<String>)>,
}

/// One write with its refresh: the answer, or why not.
pub type WriteAnswer = Result<Written>;

/// Checks that need no state.
///
/// # Errors
/// The validation failure in Elasticsearch's words.
pub fn validate(item: &WriteItem) -> Result<()> {
    let problems = problems(item);
    if problems.is_empty() { Ok(()) } else { Err(Error::validation(&problems)) }
}

/// What contradicts itself, in Elasticsearch's words: `create` with conditions, half a condition
/// and so on. Of a `create` only the first contradiction is told.
pub fn problems(item: &WriteItem) -> Vec<String> {
    if item.action == WriteAction::Create
        && let Some(problem) = problem_of_create(item)
    {
        return vec![problem.to_owned()];
    }
    let mut problems: Vec<String> = Vec::new();
    let version = given_version(item);
    let is_internal = item.version_type == VersionType::Internal;
    if item.id.is_none() && (version.is_some() || !is_internal) {
        problems.push("an id must be provided if version type or value are set".to_owned());
    }
    check_version(item, version, &mut problems);
    match (item.if_seq_no, item.if_primary_term) {
        (Some(_), None | Some(0)) => {
            problems.push("ifSeqNo is set, but primary term is [0]".to_owned());
        }
        (None, Some(term)) if term > 0 => {
            problems.push(format!("ifSeqNo is unassigned, but primary term is [{term}]"));
        }
        _ => {}
    }
    let id_len = item.id.as_ref().map_or(0, String::len);
    if id_len > id_bytes_max(item) {
        problems.push(format!(
            "id [{}] is too long, must be no longer than {ID_BYTES_MAX} bytes but was: {id_len}",
            item.id.as_deref().unwrap_or_default()
        ));
    }
    if let Some(update) = &item.update {
        validate_update(item, update, &mut problems);
    }
    problems
}

/// How long its id may be. What makes no document may name one that cannot be there, and is told that it is not; but
/// what is no term of any index is not logged either.
fn id_bytes_max(item: &WriteItem) -> usize {
    let makes = match (item.action, &item.update) {
        (WriteAction::Delete, _) => false,
        (WriteAction::Update, Some(update)) => update.upsert.is_some() || update.doc_as_upsert,
        _ => true,
    };
    if makes { ID_BYTES_MAX } else { TERM_BYTES_MAX }
}

/// Stands for no version where one is given.
const ANY_VERSION: i64 = -3;

fn given_version(item: &WriteItem) -> Option<i64> {
    item.version.filter(|version| *version != ANY_VERSION)
}

/// A new document has no state that a condition could speak of.
fn problem_of_create(item: &WriteItem) -> Option<&'static str> {
    if item.version_type != VersionType::Internal {
        return Some("create operations only support internal versioning. use index instead");
    }
    if given_version(item).is_some() {
        return Some("create operations do not support explicit versions. use index instead");
    }
    (item.if_seq_no.is_some() || item.if_primary_term.is_some())
        .then_some("create operations do not support compare and set. use index instead")
}

/// The version against its type, and against a condition on the sequence number.
fn check_version(item: &WriteItem, version: Option<i64>, problems: &mut Vec<String>) {
    let (kind, is_legal) = match item.version_type {
        VersionType::Internal => ("INTERNAL", version.is_none_or(|version| version > 0)),
        VersionType::External => ("EXTERNAL", version.is_some_and(|version| version >= 0)),
        VersionType::ExternalGte => ("EXTERNAL_GTE", version.is_some_and(|version| version >= 0)),
    };
    if !is_legal {
        let shown = version.unwrap_or(ANY_VERSION);
        problems.push(format!("illegal version value [{shown}] for version type [{kind}]"));
    }
    let is_internal = item.version_type == VersionType::Internal;
    if is_internal && version.is_some() {
        problems.push(
            "internal versioning can not be used for optimistic concurrency control. Please use \
             `if_seq_no` and `if_primary_term` instead"
                .to_owned(),
        );
    }
    if item.if_seq_no.is_some() && (!is_internal || version.is_some()) {
        problems.push("compare and write operations can not use versioning".to_owned());
    }
}

fn validate_update(item: &WriteItem, update: &Update, problems: &mut Vec<String>) {
    if item.if_seq_no.is_some() {
        if update.retry_on_conflict > 0 {
            problems.push("compare and write operations can not be retried".to_owned());
        }
        if update.doc_as_upsert {
            problems.push("compare and write operations can not be used with upsert".to_owned());
        }
        if update.upsert.is_some() {
            problems
                .push("upsert requests don't support `if_seq_no` and `if_primary_term`".to_owned());
        }
    }
    match (&update.script, &update.doc) {
        (None, None) => problems.push("script or doc is missing".to_owned()),
        (Some(_), Some(_)) => problems.push("can't provide both script and doc".to_owned()),
        _ => {}
    }
    if update.doc.is_none() && update.doc_as_upsert {
        problems.push("doc must be specified if doc_as_upsert is enabled".to_owned());
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn item(action: WriteAction, version: Option<i64>, version_type: VersionType) -> WriteItem {
        WriteItem { version, version_type, ..WriteItem::new(action, "a", "1") }
    }

    #[test]
    fn conditions_and_versions_exclude_each_other() {
        use VersionType::{External, ExternalGte, Internal};
        let both = "compare and write operations can not use versioning";
        let internal = "internal versioning can not be used for optimistic concurrency control. \
                        Please use `if_seq_no` and `if_primary_term` instead";
        for action in [WriteAction::Index, WriteAction::Delete] {
            for (version, version_type, wanted) in [
                (Some(10), External, vec![both]),
                (Some(0), ExternalGte, vec![both]),
                (Some(10), Internal, vec![internal, both]),
                (Some(-3), Internal, vec![]),
                (None, Internal, vec![]),
                (
                    None,
                    External,
                    vec!["illegal version value [-3] for version type [EXTERNAL]", both],
                ),
            ] {
                let mut item = item(action, version, version_type);
                (item.if_seq_no, item.if_primary_term) = (Some(77), Some(1));
                assert_eq!(problems(&item), wanted, "{version:?} {version_type:?}");
            }
        }
        let odd = problems(&item(WriteAction::Index, Some(-1), Internal));
        assert_eq!(odd, ["illegal version value [-1] for version type [INTERNAL]", internal]);
    }

    #[test]
    fn an_id_is_too_long_for_what_makes_a_document() {
        let long =
            |action, id_bytes: usize| WriteItem::new(action, "a", "x".repeat(id_bytes).as_str());
        for (action, id_bytes, is_told) in [
            (WriteAction::Index, 512, false),
            (WriteAction::Index, 513, true),
            (WriteAction::Create, 513, true),
            (WriteAction::Delete, 513, false),
            (WriteAction::Delete, 32_766, false),
            (WriteAction::Delete, 32_767, true),
        ] {
            let told = problems(&long(action, id_bytes));
            assert_eq!(told.len(), usize::from(is_told), "{action:?} {id_bytes}");
        }
        let doc = Some(Arc::new(Value::object()));
        let plain = Update { doc: doc.clone(), ..Update::default() };
        let upsert = Update { doc: doc.clone(), upsert: doc, ..Update::default() };
        let itself = Update { doc_as_upsert: true, ..plain.clone() };
        for (update, is_told) in [(plain, false), (upsert, true), (itself, true)] {
            let update = Some(Box::new(update));
            let item = WriteItem { update, ..long(WriteAction::Update, 513) };
            assert_eq!(problems(&item).len(), usize::from(is_told));
        }
    }

    #[test]
    fn of_a_create_only_the_first_contradiction_is_told() {
        let mut create = item(WriteAction::Create, Some(3), VersionType::External);
        create.if_seq_no = Some(1);
        let of_type = "create operations only support internal versioning. use index instead";
        assert_eq!(problems(&create), [of_type]);
        create.version_type = VersionType::Internal;
        let of_version = "create operations do not support explicit versions. use index instead";
        assert_eq!(problems(&create), [of_version]);
        create.version = None;
        let of_condition = "create operations do not support compare and set. use index instead";
        assert_eq!(problems(&create), [of_condition]);
        let unnamed =
            WriteItem { id: None, ..item(WriteAction::Index, Some(3), VersionType::External) };
        assert_eq!(problems(&unnamed), ["an id must be provided if version type or value are set"]);
    }
}
