//! How much of a message is read before it is refused.

/// Bounds of one message; the defaults are Elasticsearch's `http.max_*` settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the request line, its CR LF left out (`http.max_initial_line_length`).
    pub line_bytes_max: usize,
    /// Bytes of all header fields together, and of all trailers (`http.max_header_size`).
    pub head_bytes_max: usize,
    /// Bytes of a body, before and after it is decompressed (`http.max_content_length`).
    pub body_bytes_max: usize,
    /// Bytes of the line that begins a chunk, its extensions included.
    pub chunk_line_bytes_max: usize,
}

impl Limits {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        line_bytes_max: 4 * 1024,
        head_bytes_max: 16 * 1024,
        body_bytes_max: 100 * 1024 * 1024,
        chunk_line_bytes_max: 4 * 1024,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
