//! How much of a foreign text is read before it is refused.

/// Bounds of a reader; the defaults are Jackson's as Elasticsearch 8 uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Objects and arrays inside each other.
    pub depth_max: usize,
    /// Characters of a number.
    pub number_bytes_max: usize,
    /// Bytes of a key.
    pub key_bytes_max: usize,
}

impl Limits {
    /// The defaults.
    pub const DEFAULT: Self =
        Self { depth_max: 1_000, number_bytes_max: 1_000, key_bytes_max: 50_000 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
