//! What memory is taken for.

/// What memory is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holder {
    /// Connections, and bodies of requests until they are answered.
    Requests,
    /// Hits and documents on their way to an answer.
    #[default]
    Answers,
    /// Buckets of aggregations.
    Aggregations,
    /// Filters and answers that are kept for later searches.
    Filters,
    /// What shards keep until a flush: operations, buffers, segments without a file.
    Writes,
    /// Merges that run.
    Merges,
    /// Names, settings, fields and templates: the cluster state.
    State,
}

impl Holder {
    /// All of them, in the order of [`Budget::taken_bytes`].
    pub const ALL: [Self; 7] = [
        Self::Requests,
        Self::Answers,
        Self::Aggregations,
        Self::Filters,
        Self::Writes,
        Self::Merges,
        Self::State,
    ];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Answers => "answers",
            Self::Aggregations => "aggregations",
            Self::Filters => "filters",
            Self::Writes => "writes",
            Self::Merges => "merges",
            Self::State => "state",
        }
    }
}
