//! `_explain` of one document, and `_validate/query`.
//!
//! Both read a query as a search does: the gate is asked, filters of aliases and roles apply.

use std::rc::Rc;
use std::sync::Arc;

use base::DocId;
use cluster::Index;
use env::{Bytes, Clock, Env};
use mapping::Mapping;
use search::SearchRequest;
use search::dsl;
use search::plan::{Bound, Plan, show};
use search::result::Memory;
use search::score::explain::{self, Explained};
use segment::section::Missing;

use super::bulk::routing_missing;
use super::document::{GetReply, SourceFilter};
use super::get::one_to_read;
use super::lookup;
use super::made::Made;
use super::meaning::{State, Target};
use super::reached::Reached;
use super::search::{SearchCall, damaged};
use super::{IndicesOptions, Shards};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate};

/// What the gate is asked for whoever wants to know whether a query is understood.
const VALIDATE: &str = "indices:admin/validate/query";

/// A document whose score is asked for.
#[derive(Clone, Debug, Default)]
pub struct ExplainCall {
    /// Name of an index or alias.
    pub index: String,
    /// The document.
    pub id: String,
    /// Its routing.
    pub routing: Option<String>,
    /// The body; empty where the query stands in the URL.
    pub body: Bytes,
    /// Query parameters among `search::dsl::COUNT_PARAMS`.
    pub params: Vec<(String, String)>,
    /// The document is wanted too.
    pub source: Option<SourceFilter>,
}

/// Why a document matches, or not.
#[derive(Clone, Debug)]
pub struct ExplainReply {
    /// The concrete index.
    pub index: String,
    /// The document's id.
    pub id: String,
    /// Why; absent where there is no such document.
    pub explained: Option<Explained>,
    /// The document, where it was asked for.
    pub document: Option<GetReply>,
}

/// A query to look at.
#[derive(Clone, Debug, Default)]
pub struct ValidateCall {
    /// Where: names, body, parameters.
    pub search: SearchCall,
    /// Tell what the query means.
    pub explain: bool,
    /// In each shard, not in one of each index.
    pub all_shards: bool,
}

/// What a query means in one index or shard.
#[derive(Clone, Debug)]
pub struct Validated {
    /// The index.
    pub index: String,
    /// The shard, where each was asked.
    pub shard: Option<u32>,
    /// The query as Lucene prints it, or why it is none.
    pub outcome: std::result::Result<String, String>,
}

/// What became of a query.
#[derive(Clone, Debug, Default)]
pub struct ValidateReply {
    /// It can be asked everywhere.
    pub valid: bool,
    /// Why it cannot even be read.
    pub error: Option<String>,
    /// Shards that were asked; absent where it could not be read.
    pub shards: Option<Shards>,
    /// What it means where.
    pub explanations: Vec<Validated>,
    /// The memory that this takes.
    pub memory: Memory,
}

/// What the gate is asked.
const ACTION: &str = "indices:data/read/explain";

impl<E: Env> Core<E> {
    /// Explains the score of one document.
    ///
    /// # Errors
    /// A query that cannot be read or bound, a missing index, a shard that does not serve.
    pub async fn explain(
        self: &Rc<Self>,
        gate: &dyn Gate,
        call: &ExplainCall,
    ) -> Result<ExplainReply> {
        let parsed = self.read_request(&call.body, &call.params, dsl::parse_count).await?;
        parsed.warnings.iter().for_each(|sentence| gate.warn(sentence));
        if parsed.query.is_none() {
            return Err(Error::validation(&["query is missing"]));
        }
        let families = parsed.families;
        let request = SearchRequest {
            query: parsed.query,
            size: 1,
            families,
            scripted: parsed.scripted,
            costly: parsed.costly,
            stars: parsed.stars,
            text_bytes: parsed.text_bytes,
            ..SearchRequest::default()
        };
        // As a document that is read, it stands in one index; the first of several might not hold it.
        {
            let state = self.state();
            let (name, of_alias, via) =
                one_to_read(gate, ACTION, &state, &call.index, self.now_ms())?;
            let needs = state.index(&name).is_some_and(|it| it.mapping.routing_required());
            if needs && call.routing.is_none() && of_alias.is_none() {
                gate::ask(gate, ACTION, &name, via.as_slice())?;
                return Err(routing_missing(&name, &call.id));
            }
        }
        let routing = call.routing.clone().unwrap_or_else(|| call.id.clone());
        let search = SearchCall {
            indices: call.index.clone(),
            options: IndicesOptions::default(),
            routing: vec![routing],
            ..SearchCall::default()
        };
        let held = self.hold(gate, ACTION, &search).await?;
        let here = held.first().map_or("", |held| &*held.name);
        let mut made = Made::default();
        let request = self.looked_up(gate, here, &Arc::new(request), &mut made).await?;
        let begin = self.env.clock().monotonic();
        let request = &self.with_families(gate, ACTION, &held, request, begin).await?;
        let targets = self.targets_of(gate, ACTION, &held, request, None, &mut made).await?;
        let Some(mut target) = targets.first() else {
            return Err(Error::index_not_found(&call.index, "index_or_alias"));
        };
        let mut reply = ExplainReply {
            index: target.index.name.to_string(),
            id: call.id.clone(),
            explained: None,
            document: None,
        };
        let via = held.first().map(|held| held.via.as_slice()).unwrap_or_default();
        let limits = gate::ask(gate, ACTION, &target.index.name, via)?;
        let filters = held.first().map(|held| held.filters.as_slice()).unwrap_or_default();
        if targets.iter().any(|target| target.open.is_some()) {
            // A hidden document looks absent; another is explained by the fields of its kind.
            let mut seen = None;
            for (kind, target) in limits.each().iter().zip(targets.iter()) {
                if self.finds(&target.index, target.number, (filters, kind), &call.id).await? {
                    seen = Some(target);
                    break;
                }
            }
            let Some(seen) = seen else { return Ok(reply) };
            target = seen;
        }
        let (view, bound) = match &target.state {
            State::Ready(view, meaning) => (view, target.open.as_ref().unwrap_or(meaning.bound())),
            State::Planned(..) => return Err(Error::internal("planned before it was weighed")),
            State::Failed(error) if error.is_no_shard() => {
                let (routing, why) = (call.routing.as_deref(), error.message());
                return Err(Error::no_shard_for("explain", &call.index, &call.id, routing, why));
            }
            State::Failed(error) => return Err(error.clone()),
        };
        let plan = self.weigh(bound, view).await?;
        let found = view.find(call.id.as_bytes()).map_err(|error| damaged(&error))?;
        let Some((at, doc)) = found else { return Ok(reply) };
        reply.explained = Some(self.why(&plan, target, (at as u32, doc)).await?);
        if let Some(source) = &call.source {
            let mut request = lookup::get(&call.index, &call.id, call.routing.clone());
            request.source = source.clone();
            reply.document = Some(self.get(gate, &request).await?);
        }
        Ok(reply)
    }

    /// Looks whether a query can be asked, and what it means.
    ///
    /// # Errors
    /// A missing index, or a gate that says no.
    pub async fn validate(
        self: &Rc<Self>,
        gate: &dyn Gate,
        call: &ValidateCall,
    ) -> Result<ValidateReply> {
        let (body, params) = (&call.search.body, &call.search.params);
        let parsed = match self.read_request(body, params, dsl::parse_count).await {
            Ok(parsed) => parsed,
            // It was not read.
            Err(error) if error.status == 429 => return Err(error),
            Err(error) => {
                return Ok(ValidateReply {
                    error: call.explain.then(|| chain(&error)),
                    ..ValidateReply::default()
                });
            }
        };
        parsed.warnings.iter().for_each(|sentence| gate.warn(sentence));
        let request = SearchRequest {
            query: parsed.query,
            size: 1,
            scripted: parsed.scripted,
            costly: parsed.costly,
            stars: parsed.stars,
            text_bytes: parsed.text_bytes,
            ..SearchRequest::default()
        };
        let mut held = self.hold(gate, VALIDATE, &call.search).await?;
        let state = self.state();
        for one in &mut held {
            // Filters of aliases are told to whom nothing is hidden.
            let Some(index) = state.index_by_uuid(one.index).map(Arc::clone) else { continue };
            let limits = gate::ask(gate, VALIDATE, &index.name, &one.via)?;
            let reached = Reached { index, via: one.via.clone(), limits };
            if reached.is_limited(gate) {
                one.filters.clear();
            }
        }
        let here = held.first().map_or("", |held| &*held.name);
        let mut made = Made::default();
        let request = &self.looked_up(gate, here, &Arc::new(request), &mut made).await?;
        let targets = self.targets_of(gate, VALIDATE, &held, request, None, &mut made).await?;
        let mut reply = ValidateReply { valid: true, ..ValidateReply::default() };
        let (mut asked, mut successful) = (0, 0);
        for target in targets.iter() {
            let known = |seen: &Validated| {
                seen.index == *target.index.name
                    && (!call.all_shards || seen.shard == Some(target.number))
            };
            if reply.explanations.iter().any(known) {
                continue;
            }
            asked += 1;
            // It is no failure that a shard is not there; the others judge.
            if matches!(&target.state, State::Failed(error) if error.is_no_shard()) {
                continue;
            }
            successful += 1;
            let outcome = match &target.state {
                State::Ready(_, meaning) => {
                    let bound = target.open.as_ref().unwrap_or(meaning.bound());
                    Ok(match call.explain {
                        true => self.shown(bound, &target.index, request.text_bytes).await?,
                        false => String::new(),
                    })
                }
                State::Planned(..) => Ok(String::new()),
                State::Failed(error) => {
                    reply.valid = false;
                    Err(format!(
                        "[{}/{}] {}",
                        target.index.name,
                        target.index.uuid_text(),
                        chain(error)
                    ))
                }
            };
            let said = match &outcome {
                Ok(said) | Err(said) => said.len(),
            };
            made.pay(self, said)?;
            reply.explanations.push(Validated {
                index: target.index.name.to_string(),
                shard: call.all_shards.then_some(target.number),
                outcome,
            });
        }
        if !call.explain {
            reply.explanations.clear();
        }
        reply.shards = Some(Shards { total: asked, successful, ..Shards::default() });
        reply.memory.hold(made.memory());
        Ok(reply)
    }
}

/// A failure and its causes in one sentence, as Elasticsearch prints them here: the line of all of them, and
/// behind it the cause again, by itself.
fn chain(error: &Error) -> String {
    let Some(first) = error.caused_by.as_deref() else { return shown(error) };
    let mut text = shown(error);
    let mut next = Some(first);
    while let Some(cause) = next {
        text.push_str("; nested: ");
        text.push_str(&shown(cause));
        next = cause.caused_by.as_deref();
    }
    text.push_str(";; ");
    match foreign_class(first) {
        Some(class) => text.push_str(&format!("{class}: {}", first.reason)),
        None => text.push_str(&chain(first)),
    }
    text
}

/// A failure by the name of its class.
fn shown(error: &Error) -> String {
    let mut text = String::new();
    if *error.kind == *"parse_exception" && foreign_class(error).is_none() {
        text.push_str("Elasticsearch");
    }
    for part in error.kind.split('_') {
        let mut chars = part.chars();
        text.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        text.push_str(chars.as_str());
    }
    text.push_str(&format!("[{}]", error.reason));
    text
}

/// The whole name of the class of a failure that is none of Elasticsearch's own, which prints itself by it.
fn foreign_class(error: &Error) -> Option<&'static str> {
    Some(match &*error.kind {
        "date_time_parse_exception" => "java.time.format.DateTimeParseException",
        "illegal_argument_exception" => "java.lang.IllegalArgumentException",
        "illegal_state_exception" => "java.lang.IllegalStateException",
        "named_object_not_found_exception" => {
            "org.elasticsearch.xcontent.NamedObjectNotFoundException"
        }
        "number_format_exception" => "java.lang.NumberFormatException",
        // The parser of query strings has one of that name, too.
        "parse_exception" if error.reason.starts_with("Cannot parse '") => {
            "org.apache.lucene.queryparser.classic.ParseException"
        }
        "x_content_parse_exception" => "org.elasticsearch.xcontent.XContentParseException",
        _ => return None,
    })
}

/// The plans by which scores are explained to a caller with limits, of each shard that has winners.
#[derive(Default)]
pub(super) struct OpenPlans(Vec<(u32, Arc<Plan>)>);

impl OpenPlans {
    /// That of one shard, made when it is asked for first; none where the search's own explains.
    ///
    /// # Errors
    /// Damage, or too little memory.
    pub(super) async fn of<E: Env>(
        &mut self,
        core: &Core<E>,
        request: &SearchRequest,
        at: u32,
        target: &Target,
    ) -> Result<Option<Arc<Plan>>> {
        let (Some(open), State::Planned(plan, ..), true) =
            (&target.open, &target.state, request.explain)
        else {
            return Ok(None);
        };
        if let Some((_, plan)) = self.0.iter().find(|(known, _)| *known == at) {
            return Ok(Some(Arc::clone(plan)));
        }
        let plan = core.weigh(open, &plan.view).await?;
        self.0.push((at, Arc::clone(&plan)));
        Ok(Some(plan))
    }
}

/// The query of a longer text is shown on a worker.
const SHOWN_BYTES_MAX: usize = 8 << 10;

impl<E: Env> Core<E> {
    /// A query as Lucene prints it; its text had so many bytes.
    ///
    /// # Errors
    /// The worker failed.
    pub(super) async fn shown(
        &self,
        bound: &Arc<Bound>,
        index: &Arc<Index>,
        text_bytes: usize,
    ) -> Result<String> {
        if text_bytes <= SHOWN_BYTES_MAX {
            return Ok(show::clause(&bound.query, &index.mapping));
        }
        let (bound, index) = (Arc::clone(bound), Arc::clone(index));
        let job = move || show::clause(&bound.query, &index.mapping);
        self.work_at_last(job).await.map_err(|error| Error::internal(error.to_string()))
    }

    /// Why a document of a segment scores so by one plan. A worker looks where that may take long: twenty phrases
    /// in a document of 900,000 words took 1.4 s.
    ///
    /// # Errors
    /// The worker failed.
    pub(super) async fn why(
        &self,
        plan: &Arc<Plan>,
        target: &Target,
        (segment, doc): (u32, DocId),
    ) -> Result<Explained> {
        let place = (segment, doc, target.told_of(doc));
        if !explain::is_long(plan) {
            return Ok(explained(plan, &target.index.mapping, place));
        }
        let (plan, index) = (Arc::clone(plan), Arc::clone(&target.index));
        let job = move || explained(&plan, &index.mapping, place);
        self.work_at_last(job).await.map_err(|error| Error::internal(error.to_string()))
    }
}

/// Why it scores so, waiting for what is not there.
fn explained(plan: &Plan, mapping: &Mapping, place: (u32, DocId, i64)) -> Explained {
    let mut missing = Missing::new();
    loop {
        match explain::explain(plan, mapping, place, &mut missing) {
            Some(explained) => return explained,
            None => missing.fetch(),
        }
    }
}
