//! `_termvectors`: the terms of one document, of one that is stored or of one that comes along. A worker finds
//! them.

use std::rc::Rc;
use std::sync::Arc;

use env::budget::Taken;
use env::{Bytes, Clock, Env};
use mapping::analysis::effort::{Exhausted, within};
use search::vectors::{Request, Vector, vectors};

use super::document::GetRequest;
use super::effort::{self, STEPS_MAX};
use super::search::{SearchCall, damaged};
use super::{IndicesOptions, failure};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate};

/// What the gate is asked.
const ACTION: &str = "indices:data/read/tv";

/// One document whose vectors are asked for.
#[derive(Clone, Debug)]
pub struct VectorsCall {
    /// Where it is.
    pub get: GetRequest,
    /// A document that is not stored.
    pub artificial: Option<Bytes>,
    /// What is wanted.
    pub request: Request,
}

/// The answer.
#[derive(Debug)]
pub struct VectorsReply {
    /// The concrete index.
    pub index: String,
    /// The document's id; absent for one that is not stored.
    pub id: Option<String>,
    /// Its version.
    pub version: u64,
    /// Is it there?
    pub found: bool,
    /// Milliseconds it took.
    pub took_ms: u64,
    /// Its fields.
    pub vectors: Vec<Vector>,
    /// The memory that they take, and as much for the text that they become.
    pub memory: Option<Taken>,
}

impl<E: Env> Core<E> {
    /// The term vectors of a document. What its index's name means is of the moment that is given: all
    /// documents of a request share it, and the shard and the document of one do.
    ///
    /// # Errors
    /// A missing index, an analyzer that is not there, a shard that does not serve, too much to do.
    pub async fn term_vectors(
        self: &Rc<Self>,
        gate: &dyn Gate,
        moment: &cluster::State,
        call: &VectorsCall,
    ) -> Result<VectorsReply> {
        let begin = self.env.clock().monotonic();
        let routing = call.get.routing.clone().unwrap_or_else(|| call.get.id.clone());
        let search = SearchCall {
            indices: call.get.index.clone(),
            options: IndicesOptions::default(),
            routing: vec![routing],
            ..SearchCall::default()
        };
        let held = self.hold_of(gate, ACTION, moment, &search).await?;
        let Some(shard) = held.into_iter().next() else {
            return Err(Error::index_not_found(&call.get.index, "index_or_alias"));
        };
        let mut reply = VectorsReply {
            index: shard.name.to_string(),
            id: None,
            version: 0,
            found: true,
            took_ms: 0,
            vectors: Vec::new(),
            memory: None,
        };
        let source = match &call.artificial {
            Some(source) => Some(source.clone()),
            None => {
                reply.id = Some(call.get.id.clone());
                let found = self.get_of(gate, moment, &call.get).await?.found;
                reply.found = found.is_some();
                reply.version = found.as_ref().map_or(0, |found| found.version);
                found.and_then(|found| found.source)
            }
        };
        let limits = gate::ask(gate, ACTION, &shard.name, &shard.via)?;
        let mapping = {
            let state = self.state();
            let Some(index) = state.index_by_uuid(shard.index) else {
                return Err(Error::index_not_found(&shard.name, "index_or_alias"));
            };
            match (&limits.fields, &call.artificial) {
                (None, _) => Arc::clone(&index.mapping),
                // Its source holds the fields of its kind alone.
                (Some(_), None) => self.shown_mapping(index, &limits),
                (Some(_), Some(_)) => self.mapping_of(index, &limits),
            }
        };
        let mut request = call.request.clone();
        if call.artificial.is_some() && request.fields.is_none() {
            // Nothing is kept of a document that is not stored: all of its text is shown.
            request.fields = Some([String::from("*")].into());
        }
        // They would count documents that the caller does not see.
        request.counted = limits.each().iter().all(|kind| kind.filter.is_none());
        if let Some(source) = source {
            let view = shard.view?;
            let lease = self.lease.clone();
            // It goes where the request is given up.
            let waiting = Arc::new(());
            let wanted = Arc::downgrade(&waiting);
            let job = move || {
                let Some(mut memory) = lease.take(0) else {
                    return Err(Error::no_memory("term_vectors", 0, lease.total_bytes()));
                };
                let wanted = || wanted.strong_count() > 0;
                let find = || vectors(&source, &mapping, &view, &request, &mut memory, &wanted);
                let found = within(STEPS_MAX, find);
                let (found, _) = found.map_err(|Exhausted| effort::too_costly(STEPS_MAX))?;
                let found = found.map_err(failure::of_search)?;
                match view.fault() {
                    Some(damage) => Err(damaged(damage)),
                    None => Ok((found, memory)),
                }
            };
            let done = self.work_in_turn(job).await;
            drop(waiting);
            let done = done.map_err(|_| Error::rejected("too many documents wait for a worker"))?;
            let (found, memory) = done?;
            reply.vectors = found;
            reply.memory = Some(memory);
        }
        let took = self.env.clock().monotonic().saturating_sub(begin);
        reply.took_ms = took.as_millis() as u64;
        Ok(reply)
    }
}
