//! Callers who may see only some documents or fields of an index (decision D7).
//!
//! Always true
//! 1. A hidden document looks absent, whoever asks for it by its id; a hidden field is unknown.
//! 2. A limited caller writes only documents that pass its filter before and after, and touches no
//!    hidden field; whatever cannot be judged is refused.
//! 3. A document is judged as it stands: a write asks that it still does, so nothing slips in
//!    between.

use std::rc::Rc;
use std::sync::Arc;

use base::ShardId;
use cluster::Index;
use env::Env;
use json::Value;
use mapping::{Kind, Mapping};
use search::aggs::spec::{Agg, Kind as AggKind};
use search::dsl;
use search::request::SearchRequest;
use shard::Realtime;

use super::document::{VersionType, WriteAction, WriteItem};
use super::failure;
use super::meaning::filter_of;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate, Limits};
use crate::host::call::ShardCall;
use crate::index::route::shard_of;

/// Reduced mappings that one core keeps.
const VIEWS_MAX: usize = 256;

/// How often a document is looked for again when it changes meanwhile.
const ROUNDS_MAX: usize = 4;

/// An index, its mapping's version, and the limits: which reduced mapping.
pub(crate) type ViewKey = ([u8; 16], u64, u64);

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
        let key = (index.uuid, index.mapping.version(), limits.key);
        let mut views = self.views.borrow_mut();
        if let Some(view) = views.get(&key) {
            return Arc::clone(view);
        }
        if views.len() >= VIEWS_MAX {
            views.clear();
        }
        let view = Arc::new(index.mapping.visible(&|path| fields.permits(path)));
        views.insert(key, Arc::clone(&view));
        view
    }

    /// The mapping as it is shown to a caller with these limits: what is seen of any document.
    pub(super) fn shown_mapping(&self, index: &Index, limits: &Limits) -> Arc<Mapping> {
        match limits.kinds.is_empty() {
            true => self.mapping_of(index, limits),
            false => Arc::new(index.mapping.visible(&|path| limits.shows(path))),
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
            if self.seq_no_of(index, number, id, filter.as_ref()).await? == Some(seq_no) {
                return Ok(true);
            }
            match self.seq_no_of(index, number, id, None).await? {
                // This version is visible to searches, and the filter hides it.
                Some(found) if found == seq_no => return Ok(false),
                // A later one has taken its place: whoever asks again hears of that.
                Some(found) if found > seq_no => return Ok(false),
                _ => {
                    let sent = self.send(shard, |reply| ShardCall::Refresh { reply });
                    sent.answer().await.map_err(|down| down.error(&index.name, number))?;
                }
            }
        }
        Ok(false)
    }

    /// Does a search of a caller with these limits find the document?
    pub(super) async fn finds(
        self: &Rc<Self>,
        index: &Arc<Index>,
        number: u32,
        limits: &Limits,
        id: &str,
    ) -> Result<bool> {
        let filter = filter_of(&[], limits.filter.as_deref())?;
        Ok(self.seq_no_of(index, number, id, filter.as_ref()).await?.is_some())
    }

    /// The sequence number of a document as searches see it, where it passes the filter.
    async fn seq_no_of(
        self: &Rc<Self>,
        index: &Arc<Index>,
        number: u32,
        id: &str,
        filter: Option<&search::ast::Query>,
    ) -> Result<Option<u64>> {
        let body = json::json!({
            "query": {"ids": {"values": [id]}},
            "size": 1,
            "_source": false,
            "seq_no_primary_term": true,
            "track_total_hits": false,
        });
        let request = dsl::parse_search(&json::to_vec(&body), &[]).map_err(failure::of_search)?;
        let hit = self.search_one(index, number, &request, filter).await?;
        Ok(hit.and_then(|hit| hit.seq_no))
    }

    /// What a limited caller's write must ask for; the error refuses it.
    pub(super) async fn admit_write(
        self: &Rc<Self>,
        index: &Arc<Index>,
        routing: Option<&str>,
        limits: &Limits,
        item: &mut WriteItem,
    ) -> Result<()> {
        if item.action == WriteAction::Update {
            return Err(no_update());
        }
        if item.action != WriteAction::Delete {
            let source = json::parse(&item.source).ok();
            // What is no JSON is refused by whoever reads it, in better words.
            if let Some(source) = &source
                && !is_within(limits, source, &index.mapping)
            {
                return Err(hidden(&index.name));
            }
        }
        let Some(id) = item.id.clone() else { return Ok(()) };
        let number = shard_of(
            routing.unwrap_or(&id),
            index.settings.shard_count(),
            index.settings.routing_shard_count(),
        );
        let shard = ShardId { index: index.uuid, number };
        self.settled(shard).await.map_err(|down| down.error(&index.name, number))?;
        let sent = self.send(shard, |reply| ShardCall::Get {
            id,
            realtime: Realtime::Yes,
            refresh: false,
            reply,
        });
        let found = sent.answer().await.map_err(|down| down.error(&index.name, number))?;
        let Some(found) = found else {
            // Absent now; that it still is, `create` makes sure.
            if item.action == WriteAction::Index && item.version_type == VersionType::Internal {
                item.action = WriteAction::Create;
            }
            return Ok(());
        };
        let source = json::parse(&found.source).unwrap_or_default();
        if !is_within(limits, &source, &index.mapping) {
            return Err(hidden(&index.name));
        }
        if item.action != WriteAction::Create
            && item.version_type == VersionType::Internal
            && item.if_seq_no.is_none()
        {
            item.if_seq_no = Some(found.seq_no.get());
            item.if_primary_term = Some(found.primary_term.get());
        }
        Ok(())
    }
}

/// Refuses what would tell of hidden documents, whatever the filter says: it reads terms and counts of
/// whole segments.
pub(super) fn refuse(request: &SearchRequest) -> Result<()> {
    let refused = |reason: &str| Err(Error::new(400, "security_exception", reason));
    if !request.suggest.is_empty() {
        return refused("Suggest isn't supported if document level security is enabled");
    }
    if request.profile {
        return refused(
            "A search request cannot be profiled if document level security is enabled",
        );
    }
    if request.aggs.aggs.iter().any(counts_hidden) {
        return refused(
            "[min_doc_count: 0] and significant terms aren't supported if document level security \
             is enabled",
        );
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

/// May the caller see what an update finds? Else the update is made without a word of it.
///
/// # Errors
/// The 403 for an update that wants to answer what it found.
pub(super) fn may_see(gate: &dyn Gate, index: &str, via: &[String]) -> Result<()> {
    match gate::ask(gate, "indices:data/read/get", index, via)?.is_unlimited() {
        true => Ok(()),
        false => Err(no_update()),
    }
}

/// Does an update want to answer what it found?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// It asks for the source.
    Wanted,
    /// It answers that it was made.
    Spared,
}

/// Makes of an update one that tells nothing of the document that stands there: `noop` would say that a
/// guess is right, so what changes nothing is written all the same.
pub(super) fn without_sight(item: &mut WriteItem) -> Sight {
    match &mut item.update {
        Some(update) if update.source.is_some() => Sight::Wanted,
        Some(update) => {
            update.writes_noop = true;
            Sight::Spared
        }
        None => Sight::Spared,
    }
}

fn no_update() -> Error {
    forbidden("Can't execute an update request if field or document level security is enabled")
}

fn hidden(index: &str) -> Error {
    forbidden(format!(
        "documents of [{index}] are limited for this caller, and this write is not within the limits"
    ))
}

/// Does a document pass the filter, and has it no hidden field?
fn is_within(limits: &Limits, source: &Value, mapping: &Mapping) -> bool {
    limits.each().iter().any(|kind| {
        let fields = kind.fields.as_ref().is_none_or(|fields| fields.reduce(source) == *source);
        let passes = |filter: &Arc<Value>| judge(filter, source, mapping) == Some(true);
        fields && kind.filter.as_ref().is_none_or(passes)
    })
}

/// Does a source pass a query? Only literal conditions on exact fields are judged: `None` is "cannot
/// say".
fn judge(query: &Value, source: &Value, mapping: &Mapping) -> Option<bool> {
    let object = query.as_object().filter(|object| object.len() == 1)?;
    let (kind, body) = object.iter().next()?;
    let only = || {
        let object = body.as_object().filter(|object| object.len() == 1)?;
        object.iter().next()
    };
    match kind {
        "match_all" => Some(true),
        "match_none" => Some(false),
        "exists" => {
            let field = body.get("field")?.as_str()?;
            exact(mapping, field)?;
            Some(!values(source, field).is_empty())
        }
        "term" => {
            let (field, wanted) = only()?;
            exact(mapping, field)?;
            let wanted = wanted.get("value").unwrap_or(wanted);
            Some(values(source, field).iter().any(|found| is_same(found, wanted)))
        }
        "terms" => {
            let (field, wanted) = only()?;
            exact(mapping, field)?;
            let wanted = wanted.as_array()?;
            let found = values(source, field);
            Some(found.iter().any(|found| wanted.iter().any(|wanted| is_same(found, wanted))))
        }
        "range" => {
            let (field, bounds) = only()?;
            exact(mapping, field)?;
            let bounds: Option<Vec<(&str, f64)>> = bounds
                .as_object()?
                .iter()
                .map(|(key, bound)| Some((key, bound.as_f64()?)))
                .collect();
            let bounds = bounds?;
            let mut any = false;
            for found in values(source, field) {
                let found = found.as_f64()?;
                any |= bounds.iter().all(|(key, bound)| match *key {
                    "gt" => found > *bound,
                    "gte" => found >= *bound,
                    "lt" => found < *bound,
                    "lte" => found <= *bound,
                    _ => false,
                });
            }
            Some(any)
        }
        "bool" => {
            let list = |key: &str| -> Vec<&Value> {
                match body.get(key) {
                    None => Vec::new(),
                    Some(Value::Array(items)) => items.iter().collect(),
                    Some(one) => vec![one],
                }
            };
            let (musts, nots, shoulds) =
                ([list("must"), list("filter")].concat(), list("must_not"), list("should"));
            let mut passes = true;
            for clause in &musts {
                passes &= judge(clause, source, mapping)?;
            }
            for clause in nots {
                passes &= !judge(clause, source, mapping)?;
            }
            let needed = match body.get("minimum_should_match") {
                Some(needed) => needed.as_u64()?,
                None => u64::from(!shoulds.is_empty() && musts.is_empty()),
            };
            let mut count = 0;
            for clause in shoulds {
                count += u64::from(judge(clause, source, mapping)?);
            }
            Some(passes && count >= needed)
        }
        _ => None,
    }
}

/// Is the field one whose values are compared as they were given?
fn exact(mapping: &Mapping, field: &str) -> Option<()> {
    let known = mapping.field(field)?;
    let is_exact = match &known.kind {
        Kind::Keyword(keyword) => keyword.normalizer.is_none(),
        Kind::Number(_) | Kind::Boolean(_) => true,
        _ => false,
    };
    is_exact.then_some(())
}

fn is_same(found: &Value, wanted: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => json::to_string(other),
    };
    match (found.as_f64(), wanted.as_f64()) {
        (Some(found), Some(wanted)) => found == wanted,
        _ => text(found) == text(wanted),
    }
}

/// The values at a path, arrays opened.
fn values<'v>(source: &'v Value, path: &str) -> Vec<&'v Value> {
    fn walk<'v>(value: &'v Value, path: &str, found: &mut Vec<&'v Value>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| walk(item, path, found)),
            Value::Null => {}
            other if path.is_empty() => found.push(other),
            Value::Object(object) => {
                for (key, value) in object.iter() {
                    if key == path {
                        walk(value, "", found);
                    } else if let Some(rest) = path.strip_prefix(key)
                        && let Some(rest) = rest.strip_prefix('.')
                    {
                        walk(value, rest, found);
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(source, path, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    fn mapping() -> Mapping {
        let mappings = json!({"properties": {"k": {"type": "keyword"}, "n": {"type": "long"},
            "t": {"type": "text"}, "o": {"properties": {"k": {"type": "keyword"}}}}});
        Mapping::parse(&mappings, Arc::default()).expect("legal")
    }

    #[test]
    fn literal_conditions_are_judged_and_nothing_else() {
        let source = json!({"k": ["a", "b"], "n": 5, "t": "words", "o": [{"k": "x"}, {"k": "y"}]});
        for (query, expected) in [
            (json!({"match_all": {}}), Some(true)),
            (json!({"term": {"k": "b"}}), Some(true)),
            (json!({"term": {"k": {"value": "c"}}}), Some(false)),
            (json!({"terms": {"o.k": ["y", "z"]}}), Some(true)),
            (json!({"range": {"n": {"gte": 5, "lt": 6}}}), Some(true)),
            (json!({"range": {"n": {"gt": "now"}}}), None),
            (json!({"exists": {"field": "n"}}), Some(true)),
            (json!({"bool": {"must_not": [{"term": {"k": "a"}}]}}), Some(false)),
            (json!({"bool": {"should": [{"term": {"k": "z"}}, {"term": {"n": 5}}]}}), Some(true)),
            (json!({"bool": {"filter": [{"term": {"t": "words"}}]}}), None),
            (json!({"match": {"k": "a"}}), None),
            (json!({"term": {"unknown": 1}}), None),
        ] {
            assert_eq!(judge(&query, &source, &mapping()), expected, "{query:?}");
        }
    }
}
