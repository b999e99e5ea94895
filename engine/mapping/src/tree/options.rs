//! What the root of a mapping says beside its fields.

use std::sync::{Arc, LazyLock};

use json::Value;

use super::template::Template;
use crate::types::DateFormat;
use crate::types::date_format;

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
    pub templates: Vec<Template>,
    /// `_meta`, as it was given.
    pub meta: Option<Value>,
    /// `_routing.required`.
    pub routing_required: Option<bool>,
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

    /// These options with what an update says worked in.
    pub fn merge(&self, update: Self) -> Self {
        let mut templates = self.templates.clone();
        for template in update.templates {
            match templates.iter_mut().find(|known| known.name == template.name) {
                Some(known) => *known = template,
                None => templates.push(template),
            }
        }
        Self {
            date_detection: update.date_detection.or(self.date_detection),
            numeric_detection: update.numeric_detection.or(self.numeric_detection),
            date_formats: update.date_formats.or_else(|| self.date_formats.clone()),
            templates,
            meta: update.meta.or_else(|| self.meta.clone()),
            routing_required: update.routing_required.or(self.routing_required),
        }
    }
}
