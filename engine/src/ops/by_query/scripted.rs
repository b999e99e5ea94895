//! What a script of `_update_by_query` or `_reindex` makes of a document that was found.
//!
//! An update may change the source alone, and whether the document stays; a reindex may also write
//! it under another name, in another index, with another routing value.

use std::rc::Rc;
use std::sync::Arc;

use env::{Bytes, Env};
use json::Value;
use script::Program;
use search::result::Hit;
use shard::scripted::Failed;

use super::{Part, Work, item};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::ops::document::{VersionType, WriteAction, WriteItem};
use crate::ops::failure;

impl<E: Env> Core<E> {
    /// What a script makes of a hit: `None` where nothing is to be written.
    pub(super) async fn scripted_item(
        self: &Rc<Self>,
        part: &Part<'_>,
        program: &Arc<Program>,
        hit: Hit,
    ) -> Result<Option<WriteItem>> {
        let Some(text) = &hit.source else { return Ok(None) };
        let source = json::parse(text).map_err(|error| Error::internal(error.to_string()))?;
        let mut ctx = json::Object::new();
        ctx.insert("_index", hit.index.as_str());
        ctx.insert("_id", hit.id.as_deref().unwrap_or_default());
        if let Some(version) = hit.version {
            ctx.insert("_version", version);
        }
        if let Some(routing) = &hit.routing {
            ctx.insert("_routing", routing.as_str());
        }
        ctx.insert("_now", self.now_ms());
        let before = ctx.clone();
        let params = part.call.script.as_ref().map_or_else(Value::object, |it| it.params.clone());
        let outside = (&self.env, &self.lease);
        let left = shard::scripted::run(outside, program, &params, ctx, "index", source).await;
        let left = left.map_err(|failed| match failed {
            Failed::Script(error) => failure::of_script(&error),
            Failed::Memory { needed_bytes } => {
                Error::no_memory("script", needed_bytes, self.lease.total_bytes())
            }
        })?;
        let is_reindex = matches!(part.call.work, Work::Reindex(_));
        let text_of = |key: &str| left.meta.get(key).and_then(Value::as_str).map(str::to_owned);
        for key in ["_index", "_id", "_version", "_routing"] {
            if !is_reindex && before.get(key) != left.meta.get(key) {
                return Err(Error::illegal_argument(format!("{key} cannot be updated")));
            }
        }
        let (seq_no, primary_term) = (hit.seq_no, hit.primary_term);
        let Some(mut item) = item(part.call, hit) else { return Ok(None) };
        match left.op.as_str() {
            "noop" | "none" => {
                part.progress.count(|status| status.noops += 1);
                return Ok(None);
            }
            "delete" => {
                item.action = WriteAction::Delete;
                item.source = Bytes::empty();
                if !is_reindex {
                    (item.if_seq_no, item.if_primary_term) = (seq_no, primary_term);
                }
            }
            "index" => item.source = Bytes::from(json::to_vec(&left.source)),
            other => {
                return Err(Error::illegal_argument(format!(
                    "Operation type [{other}] not allowed, only [noop, index, delete] are allowed"
                )));
            }
        }
        if is_reindex {
            if before.get("_id") != left.meta.get("_id") {
                item.id = text_of("_id");
            }
            if before.get("_index") != left.meta.get("_index") {
                item.index = text_of("_index").unwrap_or_default();
            }
            if before.get("_routing") != left.meta.get("_routing") {
                item.routing = text_of("_routing");
            }
            match left.meta.get("_version") {
                version if before.get("_version") == version => {}
                None | Some(Value::Null) => {
                    (item.version, item.version_type) = (None, VersionType::Internal);
                }
                Some(version) => item.version = version.as_i64(),
            }
        }
        Ok(Some(item))
    }
}
