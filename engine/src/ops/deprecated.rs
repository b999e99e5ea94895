//! What is deprecated and was used: the sentences that Elasticsearch sends with an answer
//! (`Warning: 299`), and where they are due.
//!
//! Clients show each to people, so nothing is told without a cause in the request itself. What only
//! the path or the parameters tell is told in `net`.

use cluster::{IndexSettings, IndexTemplate, Templates};
use env::Env;
use json::Value;

use crate::core::Core;
use crate::gate::Gate;

/// `mode` of `_source` in mappings.
const SOURCE_MODE: &str = "Configuring source mode in mappings is deprecated and will be removed in \
                           future versions. Use [index.mapping.source.mode] index setting instead.";

/// `_template`.
pub(super) const LEGACY_TEMPLATE: &str =
    "Legacy index templates are deprecated in favor of composable templates.";

/// `sort` of what `_reindex` reads.
const REINDEX_SORT: &str = "The sort option in reindex is deprecated. Instead consider using query \
                            filtering to find the desired subset of data.";

/// How much of the log was kept, before copies followed by other means.
const RETENTION: [&str; 2] = ["index.translog.retention.age", "index.translog.retention.size"];

/// Either of them.
const RETENTION_IGNORED: &str = "Translog retention settings [index.translog.retention.age] and [index.translog.retention.size] \
     are deprecated and effectively ignored. They will be removed in a future version.";

/// Settings that are kept and will be none some day.
const SETTINGS: [&str; 1] = ["index.merge.policy.max_merge_at_once_explicit"];

/// Does a request name one of the settings that [`Core::warn_of_settings`] tells of?
pub(super) fn names_any<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.any(|name| RETENTION.contains(&name) || SETTINGS.contains(&name))
}

/// What of these settings is a size of a number that is not whole, each with its name.
pub(super) fn fractions<'s>(
    settings: impl Iterator<Item = (&'s str, &'s Value)>,
    of: impl Fn(&str, &'s Value) -> Option<&'s str>,
) -> Vec<(String, String)> {
    settings
        .filter_map(|(name, value)| Some((name.to_owned(), of(name, value)?.to_owned())))
        .collect()
}

/// A size of a number that is not whole, as it was written, and what was set to it.
pub(super) fn fraction(gate: &dyn Gate, name: &str, text: &str) {
    gate.warn(&format!(
        "Fractional bytes values are deprecated. Use non-fractional bytes values instead: [{text}] found for \
         setting [{name}]"
    ));
}

/// Settings of an index, or of a template.
pub(super) fn settings(gate: &dyn Gate, settings: &IndexSettings) {
    for (name, text) in fractions(settings.iter(), cluster::settings::fraction) {
        fraction(gate, &name, &text);
    }
    for name in SETTINGS.iter().filter(|name| settings.text(name).is_some()) {
        gate.warn(&format!(
            "[{name}] setting was deprecated in Elasticsearch and will be removed in a future release."
        ));
    }
}

/// Mappings as a request gave them.
pub(super) fn mappings(gate: &dyn Gate, mappings: Option<&Value>) {
    let Some(mappings) = mappings else { return };
    // Older clients put a level around them.
    let inner = mappings.get("_doc").unwrap_or(mappings);
    if inner.at(&["_source", "mode"]).is_some() {
        gate.warn(SOURCE_MODE);
    }
}

/// A template that is not deprecated, of parts that are.
pub(super) fn parts(gate: &dyn Gate, templates: &Templates, name: &str, template: &IndexTemplate) {
    if template.deprecated == Some(true) {
        return;
    }
    for part in &template.composed_of {
        let found = templates.component.get(part.as_str());
        if found.is_some_and(|component| component.deprecated == Some(true)) {
            gate.warn(&format!(
                "index template [{name}] uses deprecated component template [{part}]"
            ));
        }
    }
}

/// The order in which a reindex reads.
pub(super) fn reindex_sort(gate: &dyn Gate) {
    gate.warn(REINDEX_SORT);
}

impl<E: Env> Core<E> {
    /// The name and settings of an index that was just made, by a request of any kind.
    pub(super) fn warn_of_new(&self, gate: &dyn Gate, index: [u8; 16]) {
        self.warn_of_name(gate, index);
        self.warn_of_settings(gate, index);
    }

    /// The name of an index that was just made.
    pub(super) fn warn_of_name(&self, gate: &dyn Gate, index: [u8; 16]) {
        let state = self.state();
        if let Some(index) = state.index_by_uuid(index)
            && index.name.starts_with('.')
            && !index.hidden()
        {
            gate.warn(&format!(
                "index name [{}] starts with a dot '.', in the next major version, index names \
                 starting with a dot are reserved for hidden indices and system indices",
                index.name
            ));
        }
    }

    /// Settings of an index that were set, by a request or by the templates of a new one, and are ignored.
    pub(super) fn warn_of_settings(&self, gate: &dyn Gate, index: [u8; 16]) {
        let state = self.state();
        let Some(index) = state.index_by_uuid(index) else { return };
        if RETENTION.iter().any(|name| index.settings.text(name).is_some()) {
            gate.warn(RETENTION_IGNORED);
        }
        settings(gate, &index.settings);
    }

    /// Several templates of the old kind for one new index; `settings` are the request's.
    pub(super) fn warn_of_templates(&self, gate: &dyn Gate, index: &str, settings: &Value) {
        let state = self.state();
        if state.templates.legacy.len() < 2 {
            return;
        }
        // Found where it may stand, and not among all of them: they may be many.
        let hidden = [&["index.hidden"][..], &["hidden"], &["index", "hidden"]];
        let mut hidden = hidden.iter().filter_map(|path| settings.at(path));
        let hidden = hidden.any(|said| *said == Value::Bool(true) || said.as_str() == Some("true"));
        if state.templates.find(index, hidden).is_some() {
            return;
        }
        let found = state.templates.find_legacy(index, hidden);
        let mut names: Vec<&str> = found.into_iter().map(|(name, _)| name).collect();
        if names.len() > 1 {
            names.sort_unstable();
            gate.warn(&format!(
                "index [{index}] matches multiple legacy templates [{}], composable templates will \
                 only match a single template",
                names.join(", ")
            ));
        }
    }
}
