//! Documents that a query names are read before it meets an index: the values of a `terms` query
//! that stand in one, and those that others should be like.

use std::rc::Rc;
use std::sync::Arc;

use env::Env;
use json::Value;
use search::SearchRequest;
use search::ast::{Like, Node, Query, Scalar, Terms, TermsLookup};
use search::plan::at_path;

use super::document::{GetRequest, SourceFilter, VersionType};
use crate::core::Core;
use crate::error::Result;
use crate::gate::Gate;

impl<E: Env> Core<E> {
    /// The request with all that it names looked up; `index` stands where a name is missing.
    ///
    /// # Errors
    /// A missing index, or a gate that says no.
    pub(super) async fn looked_up(
        self: &Rc<Self>,
        gate: &dyn Gate,
        index: &str,
        request: &Arc<SearchRequest>,
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
        for query in [&mut request.query, &mut request.post_filter].into_iter().flatten() {
            self.look_up(gate, index, query).await?;
        }
        for query in search::aggs::queries_mut(&mut request.aggs) {
            self.look_up(gate, index, query).await?;
        }
        for rescore in &mut request.rescore {
            self.look_up(gate, index, &mut rescore.query).await?;
        }
        Ok(Arc::new(request))
    }

    /// Looks up all that a query names; `index` stands where a name is missing.
    ///
    /// # Errors
    /// A missing index, or a gate that says no.
    pub async fn look_up(
        self: &Rc<Self>,
        gate: &dyn Gate,
        index: &str,
        query: &mut Query,
    ) -> Result<()> {
        let mut wanted = Vec::new();
        query.visit_mut(&mut |query| match &query.node {
            Node::TermsLookup(lookup) => wanted.push(of_terms(lookup)),
            Node::MoreLikeThis(alike) => {
                for like in alike.like.iter().chain(&alike.unlike) {
                    wanted.extend(of_like(like, index));
                }
            }
            _ => {}
        });
        let mut sources: Vec<Option<Value>> = Vec::with_capacity(wanted.len());
        for request in &wanted {
            let found = self.get(gate, request).await?.found;
            let text = found.and_then(|found| found.source);
            sources.push(text.and_then(|text| json::parse(&text).ok()));
        }
        let mut sources = sources.into_iter();
        query.visit_mut(&mut |query| match &mut query.node {
            Node::TermsLookup(lookup) => {
                let mut values = Vec::new();
                if let Some(Some(source)) = sources.next() {
                    let path: Vec<&str> = lookup.path.split('.').collect();
                    collect(&source, &path, &mut values);
                }
                let field = std::mem::take(&mut lookup.field);
                query.node = Node::Terms(Terms { field, values: values.into() });
            }
            Node::MoreLikeThis(alike) => {
                let mut known = Vec::new();
                // Of a document that was named, only these fields count.
                let own = alike.fields.clone();
                let mut fill = |likes: &mut Vec<Like>| {
                    likes.retain_mut(|like| {
                        let Like::Item { index, id, fields, .. } = like else { return true };
                        known.push((index.clone(), id.clone()));
                        match sources.next() {
                            Some(Some(source)) => {
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
        Ok(())
    }
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
