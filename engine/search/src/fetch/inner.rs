//! `inner_hits` of `nested`: which documents inside a hit matched.
//!
//! They are searched again, each hit in its own block of the segment, by a plan of the query inside;
//! what is told of them comes from the source of the hit and from their own columns.
//!
//! Always true: a document inside is told by where its object stands: the path, and its number among
//! the objects there, level by level.

use std::ops::Range;
use std::sync::Arc;

use base::DocId;
use env::Bytes;
use json::Value;
use mapping::Mapping;
use mapping::document::kept::Kept;
use segment::{Missing, Segment};

use super::columns::{Columns, bind as bind_columns};
use super::fields::{below, values_at};
use super::hit::{Text, order};
use crate::ast::{self, Node, Query};
use crate::dsl;
use crate::error::{Error, Result};
use crate::iter::Turn;
use crate::iter::build::{self, Context as At};
use crate::phase::{self, Part, Progress, Shared, Slice};
use crate::plan::bound::Bound;
use crate::plan::weigh::Plan;
use crate::plan::{self, Context};
use crate::request::SearchRequest;
use crate::result::{Hit, Ranked, SearchResult};

/// Nanoseconds that a byte of a text takes to be read as a tree, and its objects to be written.
const READ_NS: u64 = 25;

/// Hits inside of hits, as an index understands them.
#[derive(Debug)]
pub struct Inner {
    /// Under which name they are told.
    pub name: Arc<str>,
    /// What finds them.
    pub bound: Arc<Bound>,
    /// What finds all documents of each path, the outermost first.
    pub levels: Vec<Arc<Bound>>,
    /// Hits inside of these.
    pub inner: Vec<Inner>,
    paths: Vec<Arc<str>>,
    request: SearchRequest,
    columns: Columns,
}

/// What is needed of a shard to find hits inside.
pub struct InnerPlans {
    /// Of the query.
    pub plan: Arc<Plan>,
    /// Of each level.
    pub levels: Vec<Arc<Plan>>,
    /// Of the hits inside of these.
    pub inner: Vec<InnerPlans>,
}

/// Where hits inside are looked for.
struct Place<'a> {
    /// The hit, and what it became.
    winner: &'a Ranked,
    parent: &'a Hit,
    /// Its source; that, and where stored fields are found, read.
    text: &'a [u8],
    roots: &'a Roots,
    /// What of the source is wanted, read: the same for all its objects.
    chosen: Option<Value>,
    /// Its documents, all of them and those that are asked.
    block: Range<u32>,
    docs: Range<u32>,
}

/// A document's source, and where stored fields are found if not there.
struct Roots(Value, Option<Value>);

/// Finds the definitions in a request's query.
///
/// # Errors
/// Belong to each shard of the index.
pub fn bind(
    request: &SearchRequest,
    mapping: &Mapping,
    context: &Context<'_>,
) -> Result<Vec<Inner>> {
    if !request.has_inner {
        return Ok(Vec::new());
    }
    bind_in(request.query.iter().chain(&request.post_filter), mapping, context)
}

/// The definitions in queries; those inside of another definition's query belong to that.
fn bind_in<'a>(
    queries: impl Iterator<Item = &'a Query>,
    mapping: &Mapping,
    context: &Context<'_>,
) -> Result<Vec<Inner>> {
    let mut asked: Vec<ast::Nested> = Vec::new();
    for query in queries {
        query.clone().visit_mut(&mut |query| {
            if let Node::Nested(nested) = &mut query.node
                && nested.inner_hits.is_some()
            {
                asked.push((**nested).clone());
                // The walk goes no further here.
                nested.query = Query::new(Node::MatchNone);
            }
        });
    }
    let mut all: Vec<Inner> = Vec::new();
    for nested in asked {
        if !mapping.is_nested(&nested.path) {
            continue;
        }
        let inner = one(&nested, mapping, context)?;
        if all.iter().any(|known| known.name == inner.name) {
            return Err(Error::illegal(format!(
                "[inner_hits] already contains an entry for key [{}]",
                inner.name
            )));
        }
        all.push(inner);
    }
    Ok(all)
}

fn one(nested: &ast::Nested, mapping: &Mapping, context: &Context<'_>) -> Result<Inner> {
    let definition = nested.inner_hits.clone().unwrap_or_else(Value::object);
    let start = json::Place { line: 1, column: 1 };
    let node = json::spanned::Node::from_value(&definition, start);
    let asked = dsl::inner::read(&node).map_err(|fault| fault.error)?;
    let mut paths: Vec<Arc<str>> = vec![nested.path.as_str().into()];
    let mut path = nested.path.as_str();
    while let Some((outer, _)) = path.rsplit_once('.') {
        if mapping.is_nested(outer) {
            paths.push(outer.into());
        }
        path = outer;
    }
    paths.reverse();
    let window = u64::from(asked.request.from) + u64::from(asked.request.size);
    let limit = context.inner_window;
    if window > limit {
        return Err(Error::illegal(format!(
            "Inner result window is too large, the inner hit definition's [{}]'s from + size must be \
             less than or equal to: [{limit}] but was [{window}]. This limit can be set by \
             changing the [index.max_inner_result_window] index level setting.",
            asked.name.as_deref().unwrap_or(&nested.path)
        )));
    }
    let request = SearchRequest { query: Some(nested.query.clone()), ..*asked.request };
    let scoped = |scope| Context { scope: Some(scope), filter: None, ..*context };
    let bound = plan::bind(&request, mapping, &scoped(&paths[paths.len() - 1]))?;
    let mut levels = Vec::with_capacity(paths.len());
    for path in &paths {
        let every = SearchRequest { size: 0, ..SearchRequest::default() };
        levels.push(plan::bind(&every, mapping, &scoped(path))?);
    }
    let columns = bind_columns(&request, mapping, context)?;
    let name = asked.name.as_ref().unwrap_or(&nested.path).as_str().into();
    let inner = bind_in([&nested.query].into_iter(), mapping, context)?;
    Ok(Inner { name, bound, levels, inner, paths, request, columns })
}

/// The objects of a path, as `top_hits` inside of them shows the best.
///
/// # Errors
/// Belong to each shard of the index.
pub fn of_path(
    path: &str,
    request: &SearchRequest,
    mapping: &Mapping,
    context: &Context<'_>,
) -> Result<Inner> {
    let mut paths: Vec<Arc<str>> = vec![path.into()];
    let mut rest = path;
    while let Some((outer, _)) = rest.rsplit_once('.') {
        if mapping.is_nested(outer) {
            paths.push(outer.into());
        }
        rest = outer;
    }
    paths.reverse();
    let request = SearchRequest { query: None, aggs: Default::default(), ..request.clone() };
    let scoped = |scope| Context { scope: Some(scope), filter: None, ..*context };
    let bound = plan::bind(&request, mapping, &scoped(&paths[paths.len() - 1]))?;
    let mut levels = Vec::with_capacity(paths.len());
    for path in &paths {
        let every = SearchRequest { size: 0, ..SearchRequest::default() };
        levels.push(plan::bind(&every, mapping, &scoped(path))?);
    }
    let columns = bind_columns(&request, mapping, context)?;
    let name = path.to_owned();
    Ok(Inner { name: name.into(), bound, levels, inner: Vec::new(), paths, request, columns })
}

impl Inner {
    /// Shows of each object, and of those inside of it, only what may be seen.
    pub fn restrict(&mut self, visible: Option<&Arc<json::fields::Fields>>) {
        self.columns.visible = visible.cloned();
        for inner in self.inner.iter_mut().chain(&mut self.columns.inner) {
            inner.restrict(visible);
        }
    }

    /// One object inside of `winner`, which became `parent`.
    ///
    /// # Errors
    /// Where the segment is damaged.
    pub fn child(
        &self,
        plans: &InnerPlans,
        child: &Ranked,
        winner: &Ranked,
        parent: &Hit,
    ) -> segment::Result<Hit> {
        let number = winner.segment;
        let segment = &plans.plan.view.segments[number as usize].segment;
        let Some(parents) = segment.parents() else { return Ok(parent.clone()) };
        let block = parents.nested(winner.doc);
        let (text, roots) = self.text_of(segment, winner.doc)?;
        let mut docs = Vec::with_capacity(self.paths.len());
        for level in &plans.levels {
            docs.push(docs_of(level, number, segment, block.clone()));
        }
        let places = places(&docs, &block, child.doc.get());
        let docs = block.clone();
        let chosen = self.chosen(&text.source);
        let text = &text.source;
        let place = Place { winner, parent, text, roots: &roots, chosen, block, docs };
        self.hit(&plans.plan, child, &place, &places)
    }

    /// The hits inside of `winner`, which became `parent`.
    ///
    /// # Errors
    /// Where the segment is damaged.
    pub fn hits(
        &self,
        plans: &InnerPlans,
        winner: &Ranked,
        parent: &Hit,
    ) -> segment::Result<SearchResult> {
        let segment = &plans.plan.view.segments[winner.segment as usize].segment;
        let Some(parents) = segment.parents() else { return Ok(SearchResult::default()) };
        let block = parents.nested(winner.doc);
        let (text, roots) = self.text_of(segment, winner.doc)?;
        let docs = block.clone();
        let chosen = self.chosen(&text.source);
        let text = &text.source;
        let place = Place { winner, parent, text, roots: &roots, chosen, block, docs };
        self.hits_at(plans, &place)
    }

    /// What is kept of a document, as the caller may see it, and that read.
    fn text_of(&self, segment: &Segment, doc: DocId) -> segment::Result<(Text, Roots)> {
        let text = match segment.stored() {
            Some(stored) => stored.get(doc)?,
            None => Vec::new(),
        };
        let text = Text::new(text, self.columns.visible.as_deref());
        let kept = text.kept();
        let root = json::parse(kept.source).unwrap_or_default();
        let apart = kept.stored != kept.source;
        let stored = apart.then(|| json::parse(kept.stored).unwrap_or_default());
        Ok((text, Roots(root, stored)))
    }

    fn hits_at(&self, plans: &InnerPlans, place: &Place<'_>) -> segment::Result<SearchResult> {
        let number = place.winner.segment;
        let segment = &plans.plan.view.segments[number as usize].segment;
        let part = Part { segment: number, docs: place.docs.clone() };
        let mut slice =
            Slice::new(Arc::clone(&plans.plan), vec![part], Arc::new(Shared::default()));
        loop {
            match slice.step(phase::STEP_WORK)? {
                Progress::Done => break,
                Progress::More => {}
                Progress::Missing(mut missing) => missing.fetch(),
            }
        }
        let merged = phase::merge(&self.request, vec![(0, slice.finish())]);
        let mut result =
            SearchResult { total: merged.total, max_score: merged.max_score, ..Default::default() };
        if merged.winners.is_empty() {
            return Ok(result);
        }
        let mut docs = Vec::with_capacity(self.paths.len());
        for level in &plans.levels {
            docs.push(docs_of(level, number, segment, place.block.clone()));
        }
        for child in &merged.winners {
            let doc = child.ranked.doc.get();
            let places = places(&docs, &place.block, doc);
            let mut hit = self.hit(&plans.plan, &child.ranked, place, &places)?;
            let own = docs.last().map_or(&[][..], |docs| docs.as_slice());
            let before = own.iter().copied().rfind(|other| *other < doc);
            let start = before.map_or(place.block.start, |before| before + 1);
            for (inner, plans) in self.inner.iter().zip(&plans.inner) {
                let chosen = inner.chosen(place.text);
                let (block, docs) = (place.block.clone(), start..doc);
                let inside = Place { chosen, block, docs, ..*place };
                hit.inner_hits.push((Arc::clone(&inner.name), inner.hits_at(plans, &inside)?));
            }
            result.hits.push(hit);
        }
        match segment.fault() {
            Some(fault) => Err(fault.clone()),
            None => Ok(result),
        }
    }

    fn hit(
        &self,
        plan: &Plan,
        ranked: &Ranked,
        place: &Place<'_>,
        places: &[usize],
    ) -> segment::Result<Hit> {
        let Place { parent, roots: Roots(root, stored), chosen, .. } = place;
        let segment = &plan.view.segments[ranked.segment as usize].segment;
        let request = &self.request;
        let mut hit = Hit {
            index: parent.index.clone(),
            id: parent.id.clone(),
            nested: Some(self.nested(places)),
            routing: parent.routing.clone(),
            ..Hit::default()
        };
        if request.version {
            hit.version = parent.version;
        }
        if request.seq_no_primary_term {
            (hit.seq_no, hit.primary_term) = (parent.seq_no, parent.primary_term);
        }
        hit.failed = self.columns.failed.clone();
        let object = self.object(root, places);
        if let Some(object) = object.filter(|_| self.columns.source.is_enabled()) {
            // Paths of a filter are told from the root, as in Elasticsearch.
            let kept = match chosen {
                Some(chosen) => {
                    self.object(chosen, places).map_or_else(|| b"{}".to_vec(), json::to_vec)
                }
                None => json::to_vec(object),
            };
            hit.source = Some(Bytes::from(kept));
        }
        if !self.columns.shown.is_empty() || !self.columns.marks.is_empty() {
            let wrapped = |object: Option<&Value>| {
                object.map_or_else(Vec::new, |object| json::to_vec(&self.wrapped(object)))
            };
            let source = wrapped(object);
            let stored = stored.as_ref().map(|stored| wrapped(self.object(stored, places)));
            let stored = stored.as_deref().unwrap_or(&source);
            let kept = Kept { source: &source, stored };
            (hit.fields, hit.ignored_values) = self.columns.shown.values(kept);
            match self.columns.marks.of(kept) {
                Ok(found) => hit.highlight = found,
                Err(error) => hit.failed = Some(error),
            }
        }
        hit.fields.extend(self.columns.values(segment, ranked.doc)?);
        for (name, values) in self.columns.system(segment, place.winner.doc) {
            // They are the whole document's.
            if hit.fields.iter().all(|(known, _)| *known != name) {
                hit.fields.push((name, values));
            }
        }
        order(&mut hit, request, &plan.bound.order, ranked);
        if !self.columns.scripts.is_empty() {
            let visible = self.columns.visible.as_ref();
            let mut making = self.columns.scripts.begin(segment, ranked.doc, visible);
            loop {
                match making.step(phase::STEP_WORK) {
                    Ok(true) => break making.finish(&mut hit),
                    Ok(false) => {}
                    Err(error) => break hit.failed = Some(error),
                }
            }
        }
        Ok(hit)
    }

    /// `_nested`.
    fn nested(&self, places: &[usize]) -> Value {
        let mut told: Option<Value> = None;
        for at in (0..self.paths.len()).rev() {
            let outer = at.checked_sub(1).map_or("", |outer| &*self.paths[outer]);
            let mut object = json::Object::new();
            let field = below(&self.paths[at], outer).unwrap_or(&self.paths[at]);
            object.insert("field", field.to_owned());
            object.insert("offset", places.get(at).copied().unwrap_or(0) as u64);
            if let Some(inner) = told.take() {
                object.insert("_nested", inner);
            }
            told = Some(Value::Object(object));
        }
        told.unwrap_or_default()
    }

    /// The object of the source.
    fn object<'a>(&self, root: &'a Value, places: &[usize]) -> Option<&'a Value> {
        let mut value = root;
        for (at, place) in places.iter().enumerate() {
            let outer = at.checked_sub(1).map_or("", |outer| &*self.paths[outer]);
            let mut objects = Vec::new();
            values_at(value, below(&self.paths[at], outer)?, false, 0, &mut objects);
            value = objects.get(*place)?;
        }
        Some(value)
    }

    /// The wanted parts of a source, read; `None` where all of it is wanted, or nothing.
    fn chosen(&self, text: &[u8]) -> Option<Value> {
        let chosen = &self.columns.source;
        if !chosen.is_enabled() || chosen.is_whole() {
            return None;
        }
        Some(json::parse(&chosen.of(text.to_vec())).unwrap_or_else(|_| Value::object()))
    }

    /// Nanoseconds that a byte of the outer document's text costs, about.
    pub(super) fn cost(&self) -> u64 {
        READ_NS + self.columns.cost() + self.inner.iter().map(Self::cost).sum::<u64>()
    }

    /// The object where it stands, and nothing around it.
    fn wrapped(&self, object: &Value) -> Value {
        let mut value = object.clone();
        let path = self.paths.last().map_or("", |path| &**path);
        for name in path.rsplit('.') {
            let mut outer = json::Object::new();
            outer.insert(name, value);
            value = Value::Object(outer);
        }
        value
    }
}

/// Documents of a path in a block.
fn docs_of(plan: &Plan, number: u32, segment: &Segment, block: Range<u32>) -> Vec<u32> {
    let docs: Vec<u32> = block.collect();
    let at = At { segment, number: number as usize };
    let mut filter = build::any_filter(&plan.root, at);
    let mut missing = Missing::new();
    loop {
        let mut turn = Turn::new(&mut missing, u32::MAX, segment.file().is_resident());
        if filter.prepare_probe(&docs, &mut turn) {
            break;
        }
        missing.fetch();
    }
    let mut matches = vec![false; docs.len()];
    filter.probe(&docs, &mut matches);
    docs.into_iter().zip(matches).filter(|(_, is_it)| *is_it).map(|(doc, _)| doc).collect()
}

/// The number of a document's object at each level, among the objects of the object around it.
/// Documents stand before the one that they are in.
fn places(docs: &[Vec<u32>], block: &Range<u32>, child: u32) -> Vec<usize> {
    // The document of each level that holds the child, the innermost last.
    let mut holders = vec![child; docs.len()];
    for at in (0..docs.len().saturating_sub(1)).rev() {
        let inner = holders[at + 1];
        holders[at] = docs[at].iter().copied().find(|doc| *doc > inner).unwrap_or(inner);
    }
    (0..docs.len())
        .map(|at| {
            let from = match at.checked_sub(1) {
                None => block.start,
                Some(outer) => docs[outer]
                    .iter()
                    .copied()
                    .rfind(|doc| *doc < holders[outer])
                    .map_or(block.start, |before| before + 1),
            };
            docs[at].iter().filter(|doc| (from..holders[at]).contains(doc)).count()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_numbered_inside_of_their_own() {
        // a0{b0 b1} a1{b2}: b0 b1 a0 b2 a1, then the root.
        let docs = [vec![12, 14], vec![10, 11, 13]];
        let of = |child| places(&docs, &(10..15), child);
        assert_eq!(of(10), [0, 0]);
        assert_eq!(of(11), [0, 1]);
        assert_eq!(of(13), [1, 0]);
        assert_eq!(places(&docs[..1], &(10..15), 14), [1]);
    }
}
