//! Reading the text that a request brings along: here where it is short, on a worker where it would hold
//! this core.
//!
//! Every body that becomes a tree is read by here, so that the bound stands in one place. Documents
//! have a bound of their own (`prepare`): their text becomes no tree.

use env::{Bytes, Env, Spawn};
use search::request::SearchRequest;

use super::failure;
use crate::core::Core;
use crate::error::{Error, Result};

/// A longer text is read on a worker. Lists of words take 36 ns a byte, so half a millisecond; the dearest
/// (many short clauses) twice that. A vector of a thousand numbers, which takes less, stays here: workers
/// hash passwords, too, and who asks by vectors does so all day.
pub const READ_HERE_BYTES_MAX: usize = 16 << 10;

/// So long a text is read here where too many wait for a worker: some milliseconds, which is better than to refuse.
const READ_LATE_BYTES_MAX: usize = 64 << 10;

/// Reads a request with the parameters of its URL.
pub(super) type Parse = fn(&[u8], &[(String, String)]) -> search::Result<SearchRequest>;

impl<E: Env> Core<E> {
    /// What `read` makes of a text.
    ///
    /// # Errors
    /// Those of `read`; 429 where too many wait for a worker.
    pub async fn read_text<T: Send + 'static>(
        &self,
        text: Bytes,
        read: impl FnOnce(&Bytes) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if text.len() <= READ_HERE_BYTES_MAX {
            return read(&text);
        }
        let is_late_good = text.len() <= READ_LATE_BYTES_MAX;
        match self.env.spawn().work_short_or_back(move || read(&text)).await {
            Ok(done) => done,
            Err(Some(read)) if is_late_good => read(),
            Err(_) => Err(Error::rejected("too many requests wait for a worker")),
        }
    }

    /// As [`Core::read_text`], for a search or what is written like one.
    ///
    /// # Errors
    /// A request that cannot be read, in Elasticsearch's words; 429 as there.
    pub(super) async fn read_request(
        &self,
        body: &Bytes,
        params: &[(String, String)],
        parse: Parse,
    ) -> Result<SearchRequest> {
        // The copies are for the worker alone.
        if body.len() <= READ_HERE_BYTES_MAX {
            return parse(body, params).map_err(failure::of_search);
        }
        let params = params.to_vec();
        self.read_text(body.clone(), move |body| parse(body, &params).map_err(failure::of_search))
            .await
    }
}
