//! What the root of a mapping says beside its fields.

use std::sync::{Arc, LazyLock};

use json::Value;

use super::template::Template;
use crate::types::DateFormat;
use crate::types::date_format;
use crate::{Error, Result};

/// Options of the root; none: not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    /// Do strings that read as dates become dates?
    pub date_detection: Option<bool>,
    /// Do strings that read as numbers become numbers?
    pub numeric_detection: Option<bool>,
    /// What dates are detected by.
    pub date_formats: Option<Vec<Arc<DateFormat>>>,
    /// What new fields become, first match first.
    pub templates: Option<Vec<Template>>,
    /// `_meta`, as it was given.
    pub meta: Option<Value>,
    /// `_routing.required`.
    pub routing_required: Option<bool>,
    /// `_source`: which part of a document is kept.
    pub source: Source,
    /// `_source` was given, be it empty.
    pub source_given: bool,
}

/// Which part of a document is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Source {
    /// `enabled: false`: nothing.
    pub enabled: Option<bool>,
    /// `mode`, as it was given.
    pub mode: Option<SourceMode>,
    /// Only these paths.
    pub includes: Vec<String>,
    /// Not these paths.
    pub excludes: Vec<String>,
}

impl Options {
    /// About how many bytes of its own it takes.
    pub(super) fn held_bytes(&self) -> usize {
        let templates = self.templates.iter().flatten();
        let shown: usize = templates.map(|template| 2 * template.shown.held_bytes() + 256).sum();
        shown + self.meta.as_ref().map_or(0, Value::held_bytes)
    }
}

impl Source {
    /// Nothing was said.
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// What is kept may not change once it was said.
    fn merge(&self, update: Self) -> Result<Self> {
        let list = |paths: &[String]| format!("[{}]", paths.join(", "));
        let mut conflicts = Vec::new();
        let (before, after) = (self.enabled.unwrap_or(true), update.enabled.unwrap_or(true));
        if before != after {
            conflicts
                .push(format!("Cannot update parameter [enabled] from [{before}] to [{after}]"));
        }
        let mode = |mode: Option<SourceMode>| mode.map_or("null", SourceMode::name);
        if update.mode.is_some() && self.mode != update.mode && !self.is_default() {
            let (before, after) = (mode(self.mode), mode(update.mode));
            conflicts.push(format!("Cannot update parameter [mode] from [{before}] to [{after}]"));
        }
        for (name, before, after) in [
            ("includes", &self.includes, &update.includes),
            ("excludes", &self.excludes, &update.excludes),
        ] {
            if before != after {
                conflicts.push(format!(
                    "Cannot update parameter [{name}] from [{}] to [{}]",
                    list(before),
                    list(after)
                ));
            }
        }
        if conflicts.is_empty() {
            let (enabled, mode) = (update.enabled.or(self.enabled), update.mode.or(self.mode));
            return Ok(Self { enabled, mode, ..update });
        }
        Err(conflict("_source", &conflicts))
    }
}

/// Parameters of a field of the system's that may not change, or may not change so.
fn conflict(field: &str, conflicts: &[String]) -> Error {
    Error::illegal_argument(format!(
        "Mapper for [{field}] conflicts with existing mapper:\n\t{}",
        conflicts.join("\n\t")
    ))
}

/// Whether routing is required was said, or left, when the index was made.
fn merge_routing(known: Option<bool>, update: Option<bool>) -> Result<Option<bool>> {
    let (before, after) = (known.unwrap_or(false), update.or(known).unwrap_or(false));
    if before == after {
        return Ok(known);
    }
    Err(conflict(
        "_routing",
        &[format!("Cannot update parameter [required] from [{before}] to [{after}]")],
    ))
}

/// How a document is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceMode {
    /// As it came.
    #[default]
    Stored,
    /// Not at all.
    Disabled,
    /// As its fields tell it.
    Synthetic,
}

impl SourceMode {
    /// As mappings write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Disabled => "disabled",
            Self::Synthetic => "synthetic",
        }
    }

    /// The mode of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Stored, Self::Disabled, Self::Synthetic].into_iter().find(|it| it.name() == name)
    }
}

/// What dates are detected by where the mapping does not say.
static DATE_FORMATS: LazyLock<Vec<Arc<DateFormat>>> = LazyLock::new(|| {
    let slashed = DateFormat::parse_pattern("yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis");
    vec![date_format::DEFAULT.clone(), Arc::new(slashed.expect("letters that java.time knows"))]
});

impl Options {
    pub fn date_formats(&self) -> &[Arc<DateFormat>] {
        self.date_formats.as_deref().unwrap_or(&DATE_FORMATS)
    }

    /// Templates for new fields.
    pub fn templates(&self) -> &[Template] {
        self.templates.as_deref().unwrap_or_default()
    }

    /// These options with what an update says worked in.
    pub fn merge(&self, update: Self) -> Result<Self> {
        let routing_required = merge_routing(self.routing_required, update.routing_required)?;
        Ok(Self {
            date_detection: update.date_detection.or(self.date_detection),
            numeric_detection: update.numeric_detection.or(self.numeric_detection),
            date_formats: update.date_formats.or_else(|| self.date_formats.clone()),
            templates: update.templates.or_else(|| self.templates.clone()),
            meta: update.meta.or_else(|| self.meta.clone()),
            routing_required,
            source: match update.source_given {
                true => self.source.merge(update.source)?,
                false => self.source.clone(),
            },
            source_given: self.source_given,
        })
    }
}
