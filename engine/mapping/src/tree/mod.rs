//! The field tree of an index.

use std::sync::Arc;

use base::FieldNo;
use json::Value;

use crate::Result;
use crate::settings::Settings;
use crate::types::Field;

/// What happens to fields that the mapping does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dynamic {
    /// They are added.
    #[default]
    True,
    /// They stay in the source, unseen.
    False,
    /// The document is refused.
    Strict,
}

/// The fields that one document would add.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    mappings: Value,
}

impl Delta {
    /// As a mapping fragment: `{"properties":{…}}`.
    pub fn to_json(&self) -> &Value {
        &self.mappings
    }

    /// From a mapping fragment that [`Delta::to_json`] gave.
    pub fn from_json(mappings: Value) -> Self {
        Self { mappings }
    }
}

/// What the documents of one index mean. Cheap to clone; never changes.
#[derive(Clone, Debug)]
pub struct Mapping {
    settings: Arc<Settings>,
}

impl Mapping {
    /// Reads a mapping definition: `{"properties":{…},"dynamic":…}`.
    ///
    /// # Errors
    /// In Elasticsearch's words; `Error::in_create` adds what index creation puts around them.
    pub fn parse(_mappings: &Value, _settings: Arc<Settings>) -> Result<Self> {
        todo!()
    }

    /// A mapping without fields.
    pub fn empty(_settings: Arc<Settings>) -> Self {
        todo!()
    }

    /// This mapping with `update` (the body of a put-mapping request) worked in. New fields get
    /// the next numbers, in order of their paths.
    ///
    /// # Errors
    /// Where the change is not allowed, in Elasticsearch's words.
    pub fn merge(&self, _update: &Value) -> Result<Self> {
        todo!()
    }

    /// This mapping with the fields of a document added.
    ///
    /// # Errors
    /// Where another document's fields came first and do not agree.
    pub fn apply_delta(&self, _delta: &Delta) -> Result<Self> {
        todo!()
    }

    /// As Elasticsearch shows it: `{}` or `{"properties":{…}}`.
    pub fn to_json(&self) -> Value {
        todo!()
    }

    /// Whole, with field numbers, for the cluster's state.
    pub fn to_state_json(&self) -> Value {
        todo!()
    }

    /// What [`Mapping::to_state_json`] gave.
    ///
    /// # Errors
    /// Where the state is damaged.
    pub fn from_state_json(_state: &Value, _settings: Arc<Settings>) -> Result<Self> {
        todo!()
    }

    /// Rises by one with each change.
    pub fn version(&self) -> u64 {
        todo!()
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// The field at a full path, multi-fields included.
    pub fn field(&self, _path: &str) -> Option<&Arc<Field>> {
        todo!()
    }

    /// The field of a number.
    pub fn field_by_no(&self, _no: FieldNo) -> Option<&Arc<Field>> {
        todo!()
    }

    /// All fields, multi-fields included, sorted by path.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = &Arc<Field>> {
        [].iter()
    }

    /// The fields whose path matches a pattern with `*`, sorted by path.
    pub fn expand<'a>(&'a self, _pattern: &str) -> Vec<&'a Arc<Field>> {
        todo!()
    }

    /// Is there an object at this path?
    pub fn is_object(&self, _path: &str) -> bool {
        todo!()
    }

    /// Must each document name its routing?
    pub fn routing_required(&self) -> bool {
        todo!()
    }
}
