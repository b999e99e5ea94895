//! Analyzers by name: those built in, and those of an index's `settings.analysis`.

use std::sync::Arc;

use json::Value;

use super::analyzer::Analyzer;
use crate::Result;

/// The analyzers that an index knows.
#[derive(Clone, Debug, Default)]
pub struct Registry {}

impl Registry {
    /// Reads `settings.analysis`: `{"analyzer":{…},"tokenizer":{…},"filter":{…},…}`.
    ///
    /// # Errors
    /// In Elasticsearch's words, as at index creation.
    pub fn parse(_analysis: &Value) -> Result<Self> {
        todo!()
    }

    /// The analyzer `name`.
    pub fn analyzer(&self, _name: &str) -> Option<Arc<Analyzer>> {
        todo!()
    }

    /// The analyzer of fields that name none: `default` of the settings, else `standard`.
    pub fn default_analyzer(&self) -> Arc<Analyzer> {
        todo!()
    }
}
