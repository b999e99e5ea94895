//! Many writes in one request.

use super::Refresh;
use super::document::{WriteAction, WriteItem, Written};
use crate::error::Result;

/// A bulk request: items that failed to parse on their own carry their error.
#[derive(Clone, Debug)]
pub struct BulkRequest {
    /// In request order.
    pub items: Vec<WriteItem>,
    /// When it is to be searchable.
    pub refresh: Refresh,
}

/// Answer of one item; `index` and `id` are echoed where it failed.
#[derive(Clone, Debug)]
pub struct BulkOutcome {
    /// What the item asked for.
    pub action: WriteAction,
    /// The name as given.
    pub index: String,
    /// The id given or made.
    pub id: Option<String>,
    /// What became of it.
    pub result: Result<Written>,
}

/// Answer of a bulk request, in request order.
#[derive(Clone, Debug)]
pub struct BulkReply {
    /// Milliseconds it took.
    pub took_ms: u64,
    /// One a request item.
    pub items: Vec<BulkOutcome>,
}
