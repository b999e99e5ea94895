//! Callers who may see only some documents or fields of an index (decision D7).
//!
//! Always true
//! 1. A hidden document looks absent, whoever asks for it by its id, or has it updated, or changed on a
//!    condition; a hidden field is unknown. Only what would be put or deleted where nothing stands is refused,
//!    for nothing may be put in its place.
//! 2. A limited caller writes only documents that pass its filter before and after, and touches no
//!    hidden field: a whole document has none, before and after, and an update names none, leaves those
//!    of the document as they are, and never makes a document of another kind of it, of which more is
//!    seen. Whatever cannot be judged is refused. It is the search itself that judges: a document that
//!    stands where it stands, one to come alone (`alone`).
//! 3. A document is judged as it stands, also where none does: a write asks that this is still so where it is
//!    done, else it is a conflict, and nothing slips in between. No condition of the caller's stands for that.

use std::rc::Rc;
use std::sync::Arc;

use base::ShardId;
use cluster::Index;
use env::{Bytes, Env, Random};
use json::Value;
use json::fields::Fields;
use mapping::Mapping;
use mapping::document::Mode;
use search::aggs::spec::{Agg, Kind as AggKind};
use search::plan::Veil;
use search::request::SearchRequest;
use shard::{Reading, Realtime, Seen};

use super::blind::Sight;
use super::document::{VersionType, WriteAction, WriteItem};
use super::failure;
use super::meaning::filter_of;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate, Limits};
use crate::host::call::{Ask, Down, ShardCall};
use crate::index::route::Route;

/// Reduced mappings that one core keeps.
const VIEWS_MAX: usize = 256;

/// How often a document is looked for again when it changes meanwhile.
const ROUNDS_MAX: usize = 4;

/// An index, its mapping's version, and the limits, with the kind of documents (0: no matter which): which
/// reduced mapping.
pub(crate) type ViewKey = ([u8; 16], u64, (u64, u64));

/// The action that one line of a bulk request, or one write, stands for.
pub(super) fn item_action(action: WriteAction) -> &'static str {
    match action {
        WriteAction::Index => "indices:data/write/index:op_type/index",
        WriteAction::Create => "indices:data/write/index:op_type/create",
        WriteAction::Update => "indices:data/write/update",
        WriteAction::Delete => "indices:data/write/delete",
    }
}

fn forbidden(reason: impl Into<String>) -> Error {
    Error::new(403, "security_exception", reason)
}

impl<E: Env> Core<E> {
    /// The mapping as a caller with these limits sees it.
    pub(super) fn mapping_of(&self, index: &Index, limits: &Limits) -> Arc<Mapping> {
        let Some(fields) = &limits.fields else { return Arc::clone(&index.mapping) };
        let key = (index.uuid, index.mapping.version(), (limits.key, 0));
        self.kept_view(key, || index.mapping.visible(&**fields))
    }

    /// The mapping as a caller with these limits sees it of one kind of documents.
    pub(super) fn mapping_of_kind(
        &self,
        index: &Index,
        whole: &Limits,
        kind: &Limits,
    ) -> Arc<Mapping> {
        if whole.kinds.is_empty() {
            return self.mapping_of(index, kind);
        }
        let key = (index.uuid, index.mapping.version(), (whole.key, kind.key));
        self.kept_view(key, || {
            let shown = self.shown_mapping(index, whole);
            Mapping::clone(&self.mapping_of(index, kind)).beside(&shown)
        })
    }

    /// What hides places in shards, the same on every core until the program ends.
    pub(super) fn veil(&self) -> Veil {
        *self.shared.veil.get_or_init(|| {
            let mut key = [0; 16];
            self.env.random().fill(&mut key);
            Veil::new(&key)
        })
    }

    fn kept_view(&self, key: ViewKey, make: impl FnOnce() -> Mapping) -> Arc<Mapping> {
        if let Some(view) = self.views.borrow().get(&key) {
            return Arc::clone(view);
        }
        let view = Arc::new(make());
        let mut views = self.views.borrow_mut();
        if views.len() >= VIEWS_MAX {
            views.clear();
        }
        views.insert(key, Arc::clone(&view));
        view
    }

    /// The mapping as it is shown to a caller with these limits: what is seen of any document.
    pub(super) fn shown_mapping(&self, index: &Index, limits: &Limits) -> Arc<Mapping> {
        match limits.kinds.is_empty() {
            true => self.mapping_of(index, limits),
            false => Arc::new(index.mapping.visible(limits)),
        }
    }

    /// May the caller see the document that stands at this sequence number? What no view shows yet
    /// is made visible first, so that the answer is about that very version.
    pub(super) async fn is_seen(
        self: &Rc<Self>,
        index: &Arc<Index>,
        number: u32,
        limits: &Limits,
        id: &str,
        seq_no: u64,
    ) -> Result<bool> {
        let Some(limit) = limits.filter.as_deref() else { return Ok(true) };
        let shard = ShardId { index: index.uuid, number };
        let filter = filter_of(&[], Some(limit))?;
        for _ in 0..ROUNDS_MAX {
            match self.judge(index, number, id, filter.as_ref()).await? {
                Some(found) if found.seq_no == seq_no => return Ok(found.passes),
                // A later one has taken its place: whoever asks again hears of that.
                Some(found) if found.seq_no > seq_no => return Ok(false),
                _ => {
                    let sent = self.send(shard, |reply| ShardCall::Refresh { reply });
                    sent.answer()
                        .await
                        .map_err(|down| down.error(&self.state(), index, number, Ask::Read))?;
                }
            }
        }
        Ok(false)
    }

    /// Judges what is not there, so that it takes as long as what is hidden.
    pub(super) async fn judge_absent(
        self: &Rc<Self>,
        index: &Arc<Index>,
        number: u32,
        limits: &Limits,
        id: &str,
    ) -> Result<()> {
        for kind in limits.each() {
            if let Some(limit) = kind.filter.as_deref() {
                let filter = filter_of(&[], Some(limit))?;
                self.judge(index, number, id, filter.as_ref()).await?;
            }
        }
        Ok(())
    }

    /// Does a search of a caller with these limits, by an alias with these filters, find the document?
    pub(super) async fn finds(
        self: &Rc<Self>,
        index: &Arc<Index>,
        number: u32,
        (filters, limits): (&[Value], &Limits),
        id: &str,
    ) -> Result<bool> {
        let filter = filter_of(filters, limits.filter.as_deref())?;
        let found = self.judge(index, number, id, filter.as_ref()).await?;
        Ok(found.is_some_and(|found| found.passes))
    }

    /// What a limited caller's write must ask for; the error refuses it.
    pub(super) async fn admit_write(
        self: &Rc<Self>,
        index: &Arc<Index>,
        routing: Option<&str>,
        judged: &Judged<'_>,
        item: &mut WriteItem,
    ) -> Result<()> {
        // What contradicts itself is told so by whoever checks it; here conditions are added.
        if super::document::validate(item).is_err() {
            return Ok(());
        }
        if item.version_type != VersionType::Internal {
            // Nothing would hold the document to what was judged.
            return Err(forbidden(
                "external versions cannot be used if field or document level security is enabled",
            ));
        }
        if item.action == WriteAction::Update {
            return self.admit_update(index, routing, judged, item).await;
        }
        let limits = judged.write;
        // What is no JSON is refused by whoever reads it, in better words.
        if item.action != WriteAction::Delete
            && let Ok(source) = json::parse(&item.source)
        {
            name_seen_alone(index, limits, |fields| fields.reduce(&source) == source)?;
            let id = item.id.clone().unwrap_or_else(|| self.make_id());
            let new = self
                .alone(
                    index,
                    &id,
                    routing,
                    item.source.clone(),
                    item.templates.as_ref(),
                    Mode::Strict,
                )
                .await?;
            if !self.comes_within(limits, &new).await? {
                return Err(hidden(&index.name));
            }
        }
        let Some(id) = item.id.clone() else { return Ok(()) };
        let (number, found) = self.standing(index, routing, &id, limits).await?;
        if let Some((seq_no, term)) = item.if_seq_no.zip(item.if_primary_term)
            && !matches!(found, Some((_, Some(_))))
        {
            // What is asked of a document that is not seen fails as of one that is not there. It fails here: a
            // state that is named before it comes would be true of a document that nobody judged.
            let required = (base::SeqNo(seq_no), base::PrimaryTerm(term));
            let conflict = shard::Conflict::SeqNo { required, current: None };
            return Err(failure::of_conflict(index, number, &id, &conflict));
        }
        let Some((found, kind)) = found else {
            // Absent now; that it still is, each of these makes sure where it is done.
            match item.action {
                WriteAction::Delete => item.only_absent = true,
                _ => item.action = WriteAction::Create,
            }
            return Ok(());
        };
        let Some(kind) = kind else { return Err(hidden(&index.name)) };
        let source = json::parse(&found.source).unwrap_or_default();
        if !shows_all(kind, &source) {
            return Err(hidden(&index.name));
        }
        match item.action {
            WriteAction::Create => Ok(()),
            _ => hold(item, index, number, &found),
        }
    }

    /// An update of a limited caller: the document as it stands is judged, and what it becomes.
    async fn admit_update(
        self: &Rc<Self>,
        index: &Arc<Index>,
        routing: Option<&str>,
        judged: &Judged<'_>,
        item: &mut WriteItem,
    ) -> Result<()> {
        let (Some(id), Some(update)) = (item.id.clone(), item.update.as_deref_mut()) else {
            return Ok(());
        };
        if update.script.is_some() {
            // What it does nobody can say before.
            return Err(no_update());
        }
        let (number, found) = self.standing(index, routing, &id, judged.write).await?;
        let is_hidden = matches!(found, Some((_, None)));
        let Some((found, before)) = found.and_then(|(found, kind)| Some((found, kind?))) else {
            // Hidden or absent, it is told alike, as far as nothing is put.
            let upsert = if update.doc_as_upsert { &update.doc } else { &update.upsert };
            let Some(upsert) = upsert else {
                return Err(failure::of_missing(index, number, &id));
            };
            name_seen_alone(index, judged.write, |fields| fields.reduce(upsert) == **upsert)?;
            let new = Bytes::from(json::to_vec(upsert));
            let new = self.alone(index, &id, routing, new, None, Mode::Strict).await?;
            if !self.comes_within(judged.write, &new).await? {
                return Err(hidden(&index.name));
            }
            let is_seen = match judged.read {
                Some(read) => self.comes_within(read, &new).await?,
                None => false,
            };
            update.only_absent = true;
            if !is_seen {
                without_sight(item)?;
            }
            return if is_hidden { Err(hidden(&index.name)) } else { Ok(()) };
        };
        let old = json::parse(&found.source).unwrap_or_default();
        let mut new = old.clone();
        if let Some(change) = &update.doc {
            json::patch::merge(&mut new, change);
        }
        let seen_before = match judged.read {
            Some(read) => self.kind_of(index, number, read, &id, &found).await?,
            None => None,
        };
        let shown = seen_before.map_or_else(Value::object, |kind| shown_of(kind, &old));
        let members = |path: &str| index.mapping.members(path);
        let permits = |fields: &Fields| {
            let change = update.doc.as_ref();
            change.is_none_or(|change| fields.permits_change(change, &shown, &members))
        };
        // What it names must be seen, whatever stands there: else its failing would tell of that.
        name_seen_alone(index, judged.write, permits)?;
        let leaves_alone =
            |fields: &Fields| permits(fields) && fields.hidden(&old) == fields.hidden(&new);
        // Asked of the limits, not of the document: else the words would tell whether a part of it is hidden.
        let is_open =
            before.fields.is_none() && seen_before.is_some_and(|kind| kind.fields.is_none());
        let alone = if is_open {
            self.alone(index, &id, routing, Bytes::from(json::to_vec(&new)), None, Mode::Strict)
                .await?
        } else {
            let sight = Sight { write: before, read: seen_before, shown: &shown };
            self.alone_unseen(index, (&id, routing), update, &new, &sight).await?
        };
        if alone.adds_ways_to_hidden(judged.write) {
            return Err(hidden(&index.name));
        }
        // Of one kind before and after, or nothing is hidden of either.
        let stays = |before: &Limits, after: &Limits| {
            std::ptr::eq(before, after) || (shows_all(before, &old) && shows_all(after, &new))
        };
        let fits = |before: Option<&Limits>, after: Option<&Limits>| match (before, after) {
            (Some(before), Some(after)) => {
                before.fields.as_deref().is_none_or(leaves_alone) && stays(before, after)
            }
            _ => false,
        };
        if !fits(Some(before), self.kind_alone(judged.write, &alone).await?) {
            return Err(hidden(&index.name));
        }
        let is_seen = match judged.read {
            Some(read) => {
                let before = seen_before;
                let after = self.kind_alone(read, &alone).await?;
                if before.zip(after).is_some_and(|(before, after)| !stays(before, after)) {
                    // What was hidden of it would be seen.
                    return Err(hidden(&index.name));
                }
                fits(before, after)
            }
            None => false,
        };
        if !is_open {
            update.sight = Seen::Part;
        }
        // It is an update of this very document, or a conflict.
        update.upsert = None;
        update.doc_as_upsert = false;
        update.retry_on_conflict = 0;
        update.seen = judged.read.and_then(|read| read.fields.clone());
        if !is_seen {
            without_sight(item)?;
        }
        hold(item, index, number, &found)
    }

    /// Which kind of documents one that stands is, where the caller sees it.
    async fn kind_of<'l>(
        self: &Rc<Self>,
        index: &Arc<Index>,
        number: u32,
        limits: &'l Limits,
        id: &str,
        found: &shard::Found,
    ) -> Result<Option<&'l Limits>> {
        for kind in limits.each() {
            if self.is_seen(index, number, kind, id, found.seq_no.get()).await? {
                return Ok(Some(kind));
            }
        }
        Ok(None)
    }

    /// A document as the next write finds it, its shard, and of which kind it is among those that the
    /// caller sees. Its text is read where it is of one, else its head alone.
    async fn standing<'l>(
        self: &Rc<Self>,
        index: &Arc<Index>,
        routing: Option<&str>,
        id: &str,
        limits: &'l Limits,
    ) -> Result<(u32, Option<(shard::Found, Option<&'l Limits>)>)> {
        let number = Route::of(&index.settings).shard(id, routing);
        let shard = ShardId { index: index.uuid, number };
        let failed = |down: Down| down.error(&self.state(), index, number, Ask::Write);
        self.settled(shard).await.map_err(failed)?;
        let read = async |reading| {
            let sent = self.send(shard, |reply| ShardCall::Get {
                id: id.to_owned(),
                realtime: Realtime::Yes,
                reading,
                refresh: false,
                reply,
            });
            sent.answer().await.map_err(failed)
        };
        let mut head = read(Reading::Head).await?;
        for _ in 0..ROUNDS_MAX {
            let Some(found) = head else { return Ok((number, None)) };
            let kind = self.kind_of(index, number, limits, id, &found).await?;
            if kind.is_none() {
                return Ok((number, Some((found, None))));
            }
            match read(Reading::Again).await? {
                Some(whole) if whole.seq_no == found.seq_no => {
                    return Ok((number, Some((whole, kind))));
                }
                // Another has taken its place, which nobody has judged.
                again => head = again,
            }
        }
        Ok((number, head.map(|found| (found, None))))
    }
}

/// Is nothing of a source hidden in this kind of documents?
pub(super) fn shows_all(kind: &Limits, source: &Value) -> bool {
    kind.fields.as_ref().is_none_or(|fields| fields.reduce(source) == *source)
}

/// What is seen of a source in this kind of documents.
fn shown_of(kind: &Limits, source: &Value) -> Value {
    kind.fields.as_ref().map_or_else(|| source.clone(), |fields| fields.reduce(source))
}

/// Refuses what names a field that is hidden in each kind of documents, before the mapping is asked: what
/// that says of a value would tell of the field.
fn name_seen_alone(
    index: &Index,
    limits: &Limits,
    permits: impl Fn(&Fields) -> bool,
) -> Result<()> {
    let may = |kind: &Limits| kind.fields.as_deref().is_none_or(&permits);
    if limits.each().iter().any(may) { Ok(()) } else { Err(hidden(&index.name)) }
}

/// By what a write of a limited caller is judged.
pub(super) struct Judged<'l> {
    /// What it may write.
    pub(super) write: &'l Limits,
    /// What it may read, for an update, which tells what it finds; none where it may not read.
    pub(super) read: Option<&'l Limits>,
}

/// Makes a write one of the document that was judged: whatever else stands there is a conflict.
fn hold(item: &mut WriteItem, index: &Index, number: u32, found: &shard::Found) -> Result<()> {
    let wanted = item.if_seq_no.zip(item.if_primary_term);
    let current = (found.seq_no, found.primary_term);
    if let Some((seq_no, term)) = wanted
        && (seq_no, term) != (current.0.get(), current.1.get())
    {
        // One that names a state to come would be true of a document that nobody judged.
        let required = (base::SeqNo(seq_no), base::PrimaryTerm(term));
        let conflict = shard::Conflict::SeqNo { required, current: Some(current) };
        let id = item.id.as_deref().unwrap_or_default();
        return Err(failure::of_conflict(index, number, id, &conflict));
    }
    item.if_seq_no = Some(current.0.get());
    item.if_primary_term = Some(current.1.get());
    Ok(())
}

/// Refuses what would tell of hidden documents, whatever the filter says: it reads terms and counts of
/// whole segments.
pub(super) fn refuse(request: &SearchRequest) -> Result<()> {
    let refused = |reason: &str| Err(Error::new(400, "security_exception", reason));
    if !request.suggest.is_empty() {
        return refused("Suggest isn't supported if document level security is enabled");
    }
    if request.aggs.aggs.iter().any(counts_hidden) {
        return refused(
            "[min_doc_count: 0] and significant terms aren't supported if document level security \
             is enabled",
        );
    }
    Ok(())
}

/// Refuses to profile a search, which prints each filter.
pub(super) fn refuse_profile(request: &SearchRequest) -> Result<()> {
    if request.profile {
        let reason = "A search request cannot be profiled if document level security is enabled";
        return Err(Error::new(400, "security_exception", reason));
    }
    Ok(())
}

/// Does an aggregation show terms, or counts, of documents that its query does not find?
fn counts_hidden(agg: &Agg) -> bool {
    let own = match &agg.kind {
        AggKind::Terms(terms) => terms.min_doc_count == 0,
        AggKind::MultiTerms(terms) => terms.min_doc_count == 0,
        AggKind::Significant(_) => true,
        _ => false,
    };
    own || agg.subs.aggs.iter().any(counts_hidden)
}

/// What the gate says of one write, and the limits where there are any.
pub(super) fn ask(
    gate: &dyn Gate,
    action: WriteAction,
    index: &str,
    via: &[String],
) -> Result<Option<Limits>> {
    let limits = gate::ask(gate, item_action(action), index, via)?;
    Ok((!limits.is_unlimited()).then_some(limits))
}

/// What the caller may see of what an update finds.
///
/// # Errors
/// The 403 for who may not read at all.
pub(super) fn sight(gate: &dyn Gate, index: &str, via: &[String]) -> Result<Limits> {
    gate::ask(gate, "indices:data/read/get", index, via)
}

/// Makes of an update one that tells nothing of the document that stands there: `noop` would say that a
/// guess is right, so what changes nothing is written all the same.
///
/// # Errors
/// The 403 for an update that wants to answer what it found.
pub(super) fn without_sight(item: &mut WriteItem) -> Result<()> {
    match &mut item.update {
        // A script sees the document, and can tell of it: by failing, at the least.
        Some(update) if update.source.is_some() || update.script.is_some() => Err(no_update()),
        Some(update) => {
            (update.writes_noop, update.sight) = (true, Seen::Part);
            Ok(())
        }
        None => Ok(()),
    }
}

fn no_update() -> Error {
    forbidden("Can't execute an update request if field or document level security is enabled")
}

pub(super) fn hidden(index: &str) -> Error {
    forbidden(format!(
        "documents of [{index}] are limited for this caller, and this write is not within the limits"
    ))
}
