//! Documents that a query names are read before it meets an index: the values of a `terms` query
//! that stand in one, and those that others should be like.

use std::rc::Rc;
use std::sync::Arc;

use base::hash::Map;
use env::{Env, heap};
use json::Value;
use search::SearchRequest;
use search::ast::{Like, Node, Query, Scalar, Terms, TermsLookup};
use search::plan::at_path;

use super::document::{GetRequest, SourceFilter, VersionType};
use super::made::Made;
use crate::core::Core;
use crate::error::Result;
use crate::gate::Gate;

/// What a value adds to the text of a request, beside its letters.
const VALUE_BYTES: usize = 4;

/// A list of values that a document holds, and how much text they are.
#[derive(Clone)]
pub(super) struct List {
    values: Arc<[Scalar]>,
    text_bytes: usize,
}

/// The lists that a request has looked up so far. Hundreds of its clauses may name the same one: it is read once and
/// there once.
pub(super) type Lists = Map<(String, String, Option<String>, String), List>;

/// What a name of a query led to.
enum Found {
    Terms(List),
    /// A document, where it is there.
    Source(Option<Value>),
}

impl<E: Env> Core<E> {
    /// The request with all that it names looked up; `index` stands where a name is missing. What was looked up counts
    /// as its text, once for each clause that names it, and is paid by `made`.
    ///
    /// # Errors
    /// A missing index, a gate that says no, too little memory.
    pub(super) async fn looked_up(
        self: &Rc<Self>,
        gate: &dyn Gate,
        index: &str,
        request: &Arc<SearchRequest>,
        made: &mut Made,
    ) -> Result<Arc<SearchRequest>> {
        self.looked_up_beside(gate, index, request, (&mut Lists::default(), made)).await
    }

    /// As [`Core::looked_up`], for one of several requests that may name the same lists.
    ///
    /// # Errors
    /// As [`Core::looked_up`].
    pub(super) async fn looked_up_beside(
        self: &Rc<Self>,
        gate: &dyn Gate,
        index: &str,
        request: &Arc<SearchRequest>,
        (lists, made): (&mut Lists, &mut Made),
    ) -> Result<Arc<SearchRequest>> {
        let compiled = request.scripted.then(|| self.with_programs(request));
        let request = compiled.map_or_else(|| Arc::clone(request), Arc::new);
        if !request.looks_up {
            return Ok(request);
        }
        let queries = [&request.query, &request.post_filter];
        let rescored = request.rescore.iter().any(|rescore| rescore.query.looks_up());
        let aggregated = search::aggs::looks_up(&request.aggs);
        if !aggregated && !rescored && !queries.into_iter().flatten().any(Query::looks_up) {
            return Ok(request);
        }
        let mut request = Arc::unwrap_or_clone(request);
        let mut queries = Vec::new();
        queries.extend([&mut request.query, &mut request.post_filter].into_iter().flatten());
        queries.extend(search::aggs::queries_mut(&mut request.aggs));
        queries.extend(request.rescore.iter_mut().map(|rescore| &mut rescore.query));
        let mut text_bytes = request.text_bytes;
        for query in queries {
            let more = self.look_up(gate, index, query, (&mut *lists, &mut *made)).await?;
            text_bytes = text_bytes.saturating_add(more);
        }
        request.text_bytes = text_bytes;
        Ok(Arc::new(request))
    }

    /// Looks up all that a query names; `index` stands where a name is missing. Answers how much text it became.
    async fn look_up(
        self: &Rc<Self>,
        gate: &dyn Gate,
        index: &str,
        query: &mut Query,
        (lists, made): (&mut Lists, &mut Made),
    ) -> Result<usize> {
        let mut wanted = Vec::new();
        query.visit_mut(&mut |query| match &query.node {
            Node::TermsLookup(lookup) => wanted.push((of_terms(lookup), Some(lookup.path.clone()))),
            Node::MoreLikeThis(alike) => {
                for like in alike.like.iter().chain(&alike.unlike) {
                    wanted.extend(of_like(like, index).map(|request| (request, None)));
                }
            }
            _ => {}
        });
        let mut found = Vec::with_capacity(wanted.len());
        let mut text_bytes = 0_usize;
        for (request, path) in wanted {
            let (one, bytes) = match path {
                Some(path) => {
                    let list = self.list(gate, request, path, (&mut *lists, &mut *made)).await?;
                    let bytes = list.text_bytes;
                    (Found::Terms(list), bytes)
                }
                None => {
                    let read = |text: &[u8]| json::parse(text).ok();
                    let (source, bytes) = self.read_found(gate, &request, read, made).await?;
                    (Found::Source(source.flatten()), bytes)
                }
            };
            text_bytes = text_bytes.saturating_add(bytes);
            found.push(one);
        }
        fill(query, &mut found.into_iter());
        Ok(text_bytes)
    }

    /// The values that stand at a path of a document.
    async fn list(
        self: &Rc<Self>,
        gate: &dyn Gate,
        request: GetRequest,
        path: String,
        (lists, made): (&mut Lists, &mut Made),
    ) -> Result<List> {
        let key = (request.index.clone(), request.id.clone(), request.routing.clone(), path);
        if let Some(known) = lists.get(&key) {
            return Ok(known.clone());
        }
        let path = key.3.clone();
        let read = move |text: &[u8]| {
            let mut values = Vec::new();
            if let Ok(source) = json::parse(text) {
                let path: Vec<&str> = path.split('.').collect();
                collect(&source, &path, &mut values);
            }
            let bytes = values.iter().map(|value: &Scalar| value.text().len() + VALUE_BYTES);
            List { text_bytes: bytes.sum(), values: values.into() }
        };
        let (list, _) = self.read_found(gate, &request, read, made).await?;
        let list = list.unwrap_or(List { values: Arc::default(), text_bytes: 0 });
        lists.insert(key, list.clone());
        Ok(list)
    }

    /// What `read` makes of the source of a document, where there is one, paid; and how long that is.
    async fn read_found<T: Send + 'static>(
        self: &Rc<Self>,
        gate: &dyn Gate,
        request: &GetRequest,
        read: impl FnOnce(&[u8]) -> T + Send + 'static,
        made: &mut Made,
    ) -> Result<(Option<T>, usize)> {
        let found = self.get(gate, request).await?.found;
        let Some(text) = found.and_then(|found| found.source) else { return Ok((None, 0)) };
        let text_bytes = text.len();
        let read = |text: &env::Bytes| Ok(heap::left_by(|| read(text)));
        let (read, held_bytes) = self.read_text(text, read).await?;
        made.pay(self, held_bytes)?;
        Ok((Some(read), text_bytes))
    }
}

/// Puts what was found, in the order of the names, in their places.
fn fill(query: &mut Query, found: &mut dyn Iterator<Item = Found>) {
    query.visit_mut(&mut |query| match &mut query.node {
        Node::TermsLookup(lookup) => {
            let values = match found.next() {
                Some(Found::Terms(list)) => list.values,
                _ => Arc::default(),
            };
            let field = std::mem::take(&mut lookup.field);
            query.node = Node::Terms(Terms { field, values });
        }
        Node::MoreLikeThis(alike) => {
            let mut known = Vec::new();
            // Of a document that was named, only these fields count.
            let own = alike.fields.clone();
            let mut fill = |likes: &mut Vec<Like>| {
                likes.retain_mut(|like| {
                    let Like::Item { index, id, fields, .. } = like else { return true };
                    known.push((index.clone(), id.clone()));
                    match found.next() {
                        Some(Found::Source(Some(source))) => {
                            *like = Like::Doc(source, fields.take().or_else(|| own.clone()));
                            true
                        }
                        _ => false,
                    }
                });
            };
            fill(&mut alike.like);
            fill(&mut alike.unlike);
            alike.known = known;
        }
        _ => {}
    });
}

fn of_terms(lookup: &TermsLookup) -> GetRequest {
    get(&lookup.index, &lookup.id, lookup.routing.clone())
}

fn of_like(like: &Like, here: &str) -> Option<GetRequest> {
    let Like::Item { index, id, routing, .. } = like else { return None };
    Some(get(index.as_deref().unwrap_or(here), id, routing.clone()))
}

/// A document by its names, whole.
pub(super) fn get(index: &str, id: &str, routing: Option<String>) -> GetRequest {
    GetRequest {
        index: index.to_owned(),
        id: id.to_owned(),
        routing,
        realtime: true,
        refresh: false,
        version: None,
        version_type: VersionType::Internal,
        stored_fields: Arc::default(),
        source: SourceFilter::default(),
    }
}

/// The scalars that stand at a path, those of lists each.
fn collect(value: &Value, path: &[&str], out: &mut Vec<Scalar>) {
    at_path(value, path, &mut |value| match value {
        Value::Bool(flag) => out.push(Scalar::Bool(*flag)),
        Value::Number(number) => out.push(Scalar::Number(number.text().to_owned())),
        Value::String(text) => out.push(Scalar::String(text.clone())),
        _ => {}
    });
}
