//! `did you mean`: known names that are close to an unknown one.

/// ` did you mean [match]?`, ` did you mean any of [a, b]?`, or nothing: names more than half alike, as Elasticsearch's
/// `SuggestingErrorOnUnknown` has it.
pub fn near<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    base::near::meant(unknown, known, 0.5).map_or_else(String::new, |meant| format!(" {meant}"))
}
