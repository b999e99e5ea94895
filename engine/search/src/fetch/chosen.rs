//! What of `_source` is returned: the patterns of a request, compiled once for all its hits.

use env::Bytes;
use json::path::Filter;

use crate::request::SourceFilter;

/// The parts of a source that are returned.
#[derive(Debug, Default)]
pub struct Chosen {
    enabled: bool,
    /// `None`: the text passes through as it is.
    filter: Option<Filter>,
}

impl Chosen {
    /// Compiles what a request says.
    pub fn new(wanted: &SourceFilter) -> Self {
        let filter = (wanted.enabled && !wanted.whole())
            .then(|| Filter::source(&wanted.includes, &wanted.excludes));
        Self { enabled: wanted.enabled, filter }
    }

    /// Whether anything is returned.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Whether the text passes through as it is.
    pub fn is_whole(&self) -> bool {
        self.enabled && self.filter.is_none()
    }

    /// Nanoseconds that a byte of a text costs, about and at most.
    pub fn cost(&self) -> u64 {
        self.filter.as_ref().map_or(0, Filter::cost)
    }

    /// The document's text, or the parts of it that are wanted.
    pub fn of(&self, text: Vec<u8>) -> Bytes {
        let Some(filter) = &self.filter else { return Bytes::from(text) };
        let mut chosen = Vec::with_capacity(text.len());
        // Only text that was read as JSON is stored, so this cannot fail but by damage that checksums
        // did not see; then the document is shown as it lies.
        match filter.apply(&text, &mut chosen) {
            Ok(()) => {
                // Room for all of the text would live as long as a word of it.
                chosen.shrink_to_fit();
                Bytes::from(chosen)
            }
            Err(_) => Bytes::from(text),
        }
    }
}
