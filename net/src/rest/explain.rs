//! `_explain` of one document, and `_validate/query`.

use engine::ops::IndicesOptions;
use engine::ops::explain::{ExplainCall, ExplainReply, ValidateCall, ValidateReply};
use engine::ops::search::SearchCall;
use engine::{Error, Result};
use env::Env;
use json::Writer;
use search::dsl::COUNT_PARAMS;

use super::document::{names_source, preference, routing, source_filter};
use crate::call::Call;
use crate::render::document::found_document;
use crate::render::search::explanation;
use crate::reply::Reply;

/// `GET|POST /{index}/_explain/{id}`.
pub(super) async fn explain<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    preference(call)?;
    // `_source=false` alone asks for no document.
    let source = source_filter(call)?;
    let wanted =
        call.params.text("stored_fields").is_some() || (names_source(call) && !source.disabled);
    let asked = ExplainCall {
        index: call.indices().to_owned(),
        id: call.segment("id").to_owned(),
        routing: routing(call),
        body: call.content()?,
        params: params(call),
        source: wanted.then_some(source),
    };
    let reply = call.core.explain(call.gate, &asked).await?;
    let status = if reply.explained.is_some() { 200 } else { 404 };
    Ok(call.json(status, |writer| explained(writer, &reply)))
}

fn explained(writer: &mut Writer<'_>, reply: &ExplainReply) {
    writer.begin_object().field_str("_index", &reply.index).field_str("_id", &reply.id);
    let matched = reply.explained.as_ref().is_some_and(|it| it.matches);
    writer.field_bool("matched", matched);
    if let Some(found) = &reply.explained {
        writer.key("explanation");
        explanation(writer, &found.explanation);
    }
    if let Some(found) = reply.document.as_ref().and_then(|document| document.found.as_ref()) {
        writer.key("get").begin_object();
        found_document(writer, found);
        writer.end_object();
    }
    writer.end_object();
}

/// `GET|POST /_validate/query`, `/{index}/_validate/query`.
pub(super) async fn validate<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    if call.is_blank()? {
        return Err(Error::validation(&["query cannot be null"]));
    }
    let base = IndicesOptions { allow_no_indices: false, ..IndicesOptions::default() };
    let search = SearchCall {
        indices: call.indices().to_owned(),
        options: call.params.indices_options(base)?,
        body: call.content()?,
        params: params(call),
        ..SearchCall::default()
    };
    call.core.check_reach(call.gate, Some(call.route.privilege), &search).await?;
    let asked = ValidateCall {
        search,
        explain: call.params.flag("explain", false)?,
        all_shards: call.params.flag("all_shards", false)?,
    };
    let reply = call.core.validate(call.gate, &asked).await?;
    Ok(call.json(200, |writer| validated(writer, &reply)))
}

fn validated(writer: &mut Writer<'_>, reply: &ValidateReply) {
    writer.begin_object();
    if let Some(shards) = &reply.shards {
        writer.key("_shards").begin_object();
        writer
            .field_u64("total", u64::from(shards.total))
            .field_u64("successful", u64::from(shards.successful))
            .field_u64("failed", u64::from(shards.failed));
        writer.end_object();
    }
    writer.field_bool("valid", reply.valid);
    if let Some(error) = &reply.error {
        writer.field_str("error", error);
    }
    if !reply.explanations.is_empty() {
        writer.key("explanations").begin_array();
        for one in &reply.explanations {
            writer.begin_object().field_str("index", &one.index);
            if let Some(shard) = one.shard {
                writer.field_u64("shard", u64::from(shard));
            }
            writer.field_bool("valid", one.outcome.is_ok());
            match &one.outcome {
                Ok(text) => writer.field_str("explanation", text),
                Err(error) => writer.field_str("error", error),
            };
            writer.end_object();
        }
        writer.end_array();
    }
    writer.end_object();
}

fn params<E: Env>(call: &Call<'_, E>) -> Vec<(String, String)> {
    call.params
        .iter()
        .filter(|(name, _)| COUNT_PARAMS.contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
