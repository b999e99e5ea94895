//! Where a script runs: what it sees there, and what it must give.

/// What a script must give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returns {
    /// Anything.
    Any,
    /// Nothing; what it gives is dropped.
    Nothing,
    /// True or false.
    Bool,
    /// A number.
    Double,
    /// A whole number.
    Long,
    /// A string.
    Text,
}

/// A kind of place where scripts run.
#[derive(Debug, PartialEq, Eq)]
pub struct Context {
    /// Elasticsearch's name: `update`, `score`.
    pub name: &'static str,
    /// Variables, in the order of their slots.
    pub variables: &'static [&'static str],
    /// `_score` is there.
    pub has_score: bool,
    /// What must come out.
    pub returns: Returns,
}

macro_rules! contexts {
    ($($(#[$doc:meta])* $konst:ident = $name:literal [$($variable:literal),*] $score:literal $returns:ident;)*) => {
        impl Context {
            $($(#[$doc])* pub const $konst: Self = Self {
                name: $name,
                variables: &[$($variable),*],
                has_score: $score,
                returns: Returns::$returns,
            };)*

            /// All contexts, by name.
            pub const ALL: &'static [&'static Self] = &[$(&Self::$konst),*];
        }
    };
}

contexts! {
    /// `_scripts/painless/_execute` without a context: gives text.
    TEST = "painless_test" ["params"] false Any;
    /// `_update` and `_bulk`.
    UPDATE = "update" ["params", "ctx"] false Nothing;
    /// `_update_by_query`.
    UPDATE_BY_QUERY = "update_by_query" ["params", "ctx"] false Nothing;
    /// `_reindex`.
    REINDEX = "reindex" ["params", "ctx"] false Nothing;
    /// The `script` processor.
    INGEST = "ingest" ["params", "ctx"] false Nothing;
    /// `script_fields`.
    FIELD = "field" ["params", "doc"] false Any;
    /// The `script` query.
    FILTER = "filter" ["params", "doc"] false Bool;
    /// `script_score`.
    SCORE = "score" ["params", "doc"] true Double;
    /// `_script` sort by numbers.
    NUMBER_SORT = "number_sort" ["params", "doc"] true Double;
    /// `_script` sort by strings.
    STRING_SORT = "string_sort" ["params", "doc"] true Text;
    /// `minimum_should_match_script`.
    TERMS_SET = "terms_set" ["params", "doc"] false Long;
    /// Values of aggregations.
    AGGS = "aggs" ["params", "doc", "_value"] true Any;
    /// `bucket_script`.
    BUCKET_AGGREGATION = "bucket_aggregation" ["params"] false Any;
    /// `bucket_selector`.
    BUCKET_SELECTOR = "aggregation_selector" ["params"] false Bool;
    /// `moving_fn`.
    MOVING_FUNCTION = "moving-function" ["params", "values"] false Double;
    /// Filters of tokens.
    ANALYSIS = "analysis" ["token"] false Bool;
    /// Filters of intervals.
    INTERVAL = "interval" ["interval"] false Bool;
}

impl Context {
    /// The context of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|context| context.name == name).copied()
    }
}
