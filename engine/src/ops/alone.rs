//! Documents that a limited caller is about to write: does what they would be pass its filter?
//!
//! Always true
//! 1. It is the search that answers, of a segment that holds the document alone: what is written is found
//!    again by the filter that let it in.
//! 2. Conditions that look at more than one document, or at what the write stamps on it, cannot be judged
//!    so; who is limited by them writes nothing.

use std::rc::Rc;
use std::sync::Arc;

use cluster::Index;
use env::{Bytes, Env};
use json::Value;
use mapping::Mapping;
use mapping::analysis::effort::{Exhausted, within};
use mapping::document::{Chosen, Mode, Parsed, Parser, STEPS_HERE, too_costly};
use search::dsl;
use search::plan::weigh::{Among, weigh_among};
use segment::section::Missing;
use segment::{BlockCache, View};

use super::failure;
use super::filters::Reads;
use super::limited::shows_all;
use super::meaning::filter_of;
use super::prepare::{PARSE_HERE_BYTES_MAX, Sketch, arena_of};
use super::search::damaged;
use crate::core::{Core, Pass, Unread};
use crate::error::{Error, Result};
use crate::gate::Limits;
use crate::left::Left;

/// Decoded blocks of the dictionaries of one document.
const CACHE_BYTES: usize = 1 << 20;

/// A document as it would be.
pub(super) struct Alone {
    /// Its index, with the fields that it adds.
    index: Arc<Index>,
    /// A segment with nothing else.
    view: Arc<View>,
    source: Bytes,
    /// The mapping without the fields that it adds.
    before: Arc<Mapping>,
}

impl Alone {
    /// Is what it says copied into a hidden field by a field that it adds, or is such a field one, or copied into one, by
    /// which the caller's documents are chosen? A template of somebody else's may make such a one. So does an
    /// object in the place of such a field, and what takes the last places there are where others go without.
    pub(super) fn adds_ways_to_hidden(&self, limits: &Limits) -> bool {
        let (mapping, before) = (&self.index.mapping, &self.before);
        if Arc::ptr_eq(mapping, before) {
            return false;
        }
        let hides = |path: &str| {
            let mut fields = limits.each().iter().filter_map(|kind| kind.fields.as_ref());
            fields.any(|fields| !fields.permits(path))
        };
        let reads = Reads::of(std::slice::from_ref(limits));
        // A filter may know a field by another name.
        let chooses = |path: &str| {
            reads.as_ref().is_some_and(|reads| {
                let mut others = mapping.aliases().filter(|(_, field)| *field.path == *path);
                reads.meets(path) || others.any(|(name, _)| reads.meets(name))
            })
        };
        let is_in_the_way = |reads: &Reads| {
            let mut objects = mapping.objects().filter(|path| !before.is_object(path));
            let stands = |path: &Arc<str>| {
                reads.holds(path) || (mapping.is_nested(path) && reads.meets(path))
            };
            let takes_places = mapping.settings().limits.ignore_dynamic_beyond;
            objects.any(stands) || (takes_places && reads.waits(before))
        };
        if reads.as_ref().is_some_and(is_in_the_way) {
            return true;
        }
        let mut added = mapping.fields().filter(|field| before.field(&field.path).is_none());
        added.any(|field| {
            let mut targets = field.copy_to.iter();
            chooses(&field.path) || targets.any(|target| hides(target) || chooses(target))
        })
    }
}

impl<E: Env> Core<E> {
    /// The document of this source, in words of searches; `chosen` are the templates that its request names.
    ///
    /// # Errors
    /// It does not fit the mapping, as the write would say; [`Mode::Replay`] leaves out what does not.
    pub(super) async fn alone(
        self: &Rc<Self>,
        index: &Arc<Index>,
        id: &str,
        routing: Option<&str>,
        source: Bytes,
        chosen: Option<&Arc<Chosen>>,
        mode: Mode,
    ) -> Result<Alone> {
        let asked = (Arc::clone(index), id.to_owned(), routing.map(str::to_owned));
        let (chosen, before) = (chosen.cloned(), Arc::clone(&index.mapping));
        let is_short = index.mapping.reading_bytes(source.len()) <= PARSE_HERE_BYTES_MAX;
        let (own, lease) = (source.clone(), self.lease.clone());
        let make = move || {
            let (index, id, routing) = asked;
            let mut parser = Parser::new();
            parser.set_routed(routing.is_some());
            parser.set_chosen(chosen.as_ref());
            let (mut sketch, mut arena) = (Sketch::new(&index, &lease), arena_of(&lease));
            let doc = match mode {
                Mode::Strict => sketch.parse(&mut parser, &id, &own, &mut arena)?,
                Mode::Replay => {
                    let parsed = parser.parse(&sketch.mapping, &id, &own, mode, &mut arena);
                    match parsed.map_err(failure::of_mapping)? {
                        Parsed::Ready(doc) => doc as u32,
                        Parsed::NeedsMapping(_) => {
                            return Err(Error::internal("a replay asks for fields"));
                        }
                    }
                }
            };
            let entries = arena.entries(doc as usize);
            let view = shard::lone::view(&sketch.mapping, &id, routing.as_deref(), own, entries);
            let view = Arc::new(view.map_err(|error| damaged(&error))?);
            let index = Arc::new(Index { mapping: sketch.mapping, ..(*index).clone() });
            Ok((index, view))
        };
        let here = is_short.then(|| within(STEPS_HERE, make.clone()).ok()).flatten();
        let (index, view) = match here {
            Some((made, _)) => made?,
            None => {
                let made = {
                    let read = |pass: Pass| within(pass.steps(), make).map(|(made, _)| made);
                    self.read_on_worker(index.uuid, &Left::default(), read).await
                };
                let made = made.map_err(Unread::error)?;
                made.map_err(|Exhausted| failure::of_mapping(too_costly(id)))??
            }
        };
        Ok(Alone { index, view, source, before })
    }

    /// Does the document pass the filter, has it no hidden field, and gives it none a value?
    pub(super) async fn comes_within(
        self: &Rc<Self>,
        limits: &Limits,
        new: &Alone,
    ) -> Result<bool> {
        if new.adds_ways_to_hidden(limits) {
            return Ok(false);
        }
        let source = json::parse(&new.source).unwrap_or_default();
        let kind = self.kind_alone(limits, new).await?;
        Ok(kind.is_some_and(|kind| shows_all(kind, &source)))
    }

    /// Which kind of documents it is, where the caller would see it.
    pub(super) async fn kind_alone<'l>(
        self: &Rc<Self>,
        limits: &'l Limits,
        new: &Alone,
    ) -> Result<Option<&'l Limits>> {
        for kind in limits.each() {
            if self.passes(kind.filter.as_deref(), new).await? {
                return Ok(Some(kind));
            }
        }
        Ok(None)
    }

    async fn passes(self: &Rc<Self>, filter: Option<&Value>, new: &Alone) -> Result<bool> {
        let Some(filter) = filter else { return Ok(true) };
        if !is_of_one(filter) {
            return Ok(false);
        }
        let body = json::json!({"size": 1, "_source": false, "track_total_hits": false});
        let request = dsl::parse_search(&json::to_vec(&body), &[]).map_err(failure::of_search)?;
        let (request, filter) = (Arc::new(request), filter_of(&[], Some(filter))?);
        let meaning = self.bind(&new.index, &request, filter.as_ref(), &Limits::default()).await?;
        let (mut blocks, mut missing) = (BlockCache::new(CACHE_BYTES), Missing::new());
        let plan = loop {
            let bound = meaning.bound();
            let found =
                weigh_among(bound, &new.view, &mut blocks, &mut missing, Among::Alone, None);
            match found.map_err(|error| damaged(&error))? {
                Some(plan) => break plan,
                None => missing.fetch(),
            }
        };
        let mut partials = Vec::new();
        for (at, found) in self.run_plans(&[(0, Arc::clone(&plan))], None).await? {
            partials.push((at, found.map_err(|error| damaged(&error))?.stay()));
        }
        // A script that failed has not said yes.
        let is_sound = plan.trouble.get().is_none();
        Ok(is_sound && !search::phase::merge(&request, partials).winners.is_empty())
    }
}

/// Queries of one field, whose answer is the document's own.
const LEAVES: &[&str] = &[
    "exists",
    "geo_bounding_box",
    "geo_distance",
    "geo_polygon",
    "ids",
    "match",
    "match_all",
    "match_none",
    "match_phrase",
    "prefix",
    "range",
    "regexp",
    "script",
    "term",
    "terms",
    "terms_set",
    "wildcard",
];

/// Words that make a query depend on other documents (which terms stand beside its own, how common they
/// are), or that name what a write stamps on a document.
const BEYOND: &[&str] = &[
    "_primary_term",
    "_seq_no",
    "_version",
    "fuzziness",
    "max_expansions",
    "min_score",
    "rewrite",
];

/// Is a query's answer of a document that document's own, whatever stands beside it?
fn is_of_one(query: &Value) -> bool {
    let Some((kind, body)) = query
        .as_object()
        .filter(|object| object.len() == 1)
        .and_then(|object| object.iter().next())
    else {
        return false;
    };
    let all = |key: &str| match body.get(key) {
        None => true,
        Some(Value::Array(queries)) => queries.iter().all(is_of_one),
        Some(query) => is_of_one(query),
    };
    match kind {
        "bool" => ["must", "filter", "should", "must_not"].into_iter().all(all),
        "constant_score" => all("filter"),
        "dis_max" => all("queries"),
        "nested" => all("query"),
        // A list that is looked up stands in another document.
        "terms" => body.as_object().is_some_and(|body| {
            !is_beyond(&Value::Object(body.clone()))
                && !body.iter().any(|(_, value)| value.as_object().is_some())
        }),
        _ => LEAVES.contains(&kind) && !is_beyond(body),
    }
}

fn is_beyond(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            object.iter().any(|(key, value)| BEYOND.contains(&key) || is_beyond(value))
        }
        Value::Array(values) => values.iter().any(is_beyond),
        // `exists` names its field so.
        Value::String(text) => BEYOND[..3].contains(&text.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn what_looks_at_other_documents_is_not_judged_by_one() {
        for query in [
            json!({"match_all": {}}),
            json!({"terms": {"a": ["x"]}}),
            json!({"match": {"a": "fuzziness"}}),
            json!({"bool": {"must_not": {"range": {"n": {"lt": 5, "boost": 2}}}, "should": []}}),
            json!({"nested": {"path": "p", "query": {"term": {"p.k": 1}}}}),
        ] {
            assert!(is_of_one(&query), "{query:?}");
        }
        for query in [
            json!({}),
            json!({"terms": {"a": {"index": "i", "id": "1", "path": "p"}}}),
            json!({"match": {"a": {"query": "x", "fuzziness": 1}}}),
            json!({"prefix": {"a": {"value": "x", "rewrite": "top_terms_1"}}}),
            json!({"bool": {"must_not": [{"has_child": {"type": "t", "query": {"match_all": {}}}}]}}),
            json!({"constant_score": {"filter": {"knn": {}}}}),
            json!({"range": {"_seq_no": {"gt": 1}}}),
            json!({"exists": {"field": "_version"}}),
            json!({"function_score": {"min_score": 1}}),
            json!({"query_string": {"query": "a~"}}),
        ] {
            assert!(!is_of_one(&query), "{query:?}");
        }
    }
}
