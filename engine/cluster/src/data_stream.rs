//! Data streams: a name for a row of hidden indices, of which the last takes the writes.

use std::sync::Arc;

use json::{Object, Value};
use mapping::{Kind, Mapping};

use crate::error::{Error, Result};
use crate::template::Templates;

/// The field by which every document says when it happened.
pub const TIMESTAMP: &str = "@timestamp";

/// One data stream.
#[derive(Clone, Debug, PartialEq)]
pub struct DataStream {
    /// Its name.
    pub name: Arc<str>,
    /// Names of its indices, oldest first; never empty. Writes go to the last.
    pub indices: Vec<Arc<str>>,
    /// Rises with each rollover.
    pub generation: u64,
    /// Hidden from wildcards.
    pub hidden: bool,
    /// Documents may bring a routing value.
    pub allow_custom_routing: bool,
    /// The next write rolls it over first.
    pub rollover_on_write: bool,
    /// `_meta` of its template.
    pub meta: Option<Value>,
}

/// One change of `_data_stream/_modify`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamChange {
    /// Put in; else taken out.
    pub add: bool,
    /// The stream.
    pub stream: String,
    /// The index.
    pub index: String,
}

/// May the documents of a data stream say by this mapping when they happened?
///
/// # Errors
/// Where the field is missing, no date, or says of itself what Elasticsearch forbids there; in the
/// words of its `DataStreamTimestampFieldMapper`.
pub fn check_timestamp(mapping: &Mapping) -> Result<()> {
    let wrong = |what: &str| {
        Err(Error::argument(format!("data stream timestamp field [{TIMESTAMP}] {what}")))
    };
    let is_of =
        |kind: &str| wrong(&format!("is of type [{kind}], but [date,date_nanos] is expected"));
    if mapping.is_alias(TIMESTAMP) {
        return is_of("alias");
    }
    let Some(field) = mapping.field(TIMESTAMP) else {
        return wrong("does not exist");
    };
    let Kind::Date(date) = &field.kind else {
        return is_of(field.type_name());
    };
    if !field.index {
        return wrong("is not indexed");
    }
    if !field.doc_values {
        return wrong("doesn't have doc values");
    }
    if date.null_value.is_some() {
        return wrong("has disallowed [null_value] attribute specified");
    }
    if date.ignore_malformed {
        return wrong("has disallowed [ignore_malformed] attribute specified");
    }
    // It may be said that nothing malformed is taken: the index's setting may say otherwise.
    const ALLOWED: [&str; 5] = ["type", "meta", "format", "locale", "ignore_malformed"];
    let shown = Mapping::field_to_json(field);
    let keys = shown.as_object().into_iter().flat_map(Object::keys);
    let others: Vec<&str> = keys.filter(|key| !ALLOWED.contains(key)).collect();
    if others.is_empty() {
        return Ok(());
    }
    wrong(&format!("has disallowed attributes: [{}]", others.join(", ")))
}

impl DataStream {
    /// The index that takes the writes.
    pub fn write_index(&self) -> &str {
        self.indices.last().map_or("", |name| name)
    }

    /// Name of the index of `generation` that is made at `now_ms`: `.ds-logs-2026.11.22-000001`.
    pub fn backing_name(name: &str, generation: u64, now_ms: i64) -> String {
        let (year, month, day) = base::calendar::date_of(now_ms.div_euclid(86_400_000));
        format!(".ds-{name}-{year:04}.{month:02}.{day:02}-{generation:06}")
    }

    /// As its template says.
    ///
    /// # Errors
    /// There is no template for it.
    pub(crate) fn of_template(
        templates: &Templates,
        name: &str,
        indices: Vec<Arc<str>>,
    ) -> Result<Self> {
        let (template, options) = templates.for_stream(name)?;
        Ok(Self {
            name: Arc::from(name),
            indices,
            generation: 1,
            hidden: options.hidden,
            allow_custom_routing: options.allow_custom_routing,
            rollover_on_write: false,
            meta: template.meta.clone(),
        })
    }

    /// For the state.
    pub(crate) fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("name", &*self.name);
        object.insert("indices", self.indices.iter().map(|name| &**name).collect::<Value>());
        object.insert("generation", self.generation);
        object.insert("hidden", self.hidden);
        object.insert("allow_custom_routing", self.allow_custom_routing);
        if self.rollover_on_write {
            object.insert("rollover_on_write", true);
        }
        if let Some(meta) = &self.meta {
            object.insert("_meta", meta.clone());
        }
        Value::Object(object)
    }

    /// Restores what [`DataStream::to_json`] gave; `None` where that is damaged.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let indices: Vec<Arc<str>> = value
            .get("indices")?
            .as_array()?
            .iter()
            .map(|name| name.as_str().map(Arc::from))
            .collect::<Option<_>>()?;
        Some(Self {
            name: Arc::from(value.get("name")?.as_str()?),
            indices,
            generation: value.get("generation")?.as_u64()?,
            hidden: value.get("hidden")?.as_bool()?,
            allow_custom_routing: value.get("allow_custom_routing")?.as_bool()?,
            rollover_on_write: value.get("rollover_on_write").and_then(Value::as_bool)
                == Some(true),
            meta: value.get("_meta").cloned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_named_by_day_and_generation() {
        // 2024-02-29T12:00:00Z.
        let name = DataStream::backing_name("logs-web", 12, 1_709_208_000_000);
        assert_eq!(name, ".ds-logs-web-2024.02.29-000012");
        assert_eq!(DataStream::backing_name("a", 1, 0), ".ds-a-1970.01.01-000001");
    }

    #[test]
    fn the_timestamp_is_a_plain_date() {
        let field = |field: Value| json::json!({"properties": {"@timestamp": (field)}});
        for (mappings, told) in [
            (json::json!({}), "does not exist"),
            (field(json::json!({"properties": {"a": {"type": "date"}}})), "does not exist"),
            (
                field(json::json!({"type": "keyword"})),
                "is of type [keyword], but [date,date_nanos] is expected",
            ),
            (
                json::json!({"properties": {
                    "a": {"type": "date"}, "@timestamp": {"type": "alias", "path": "a"}}}),
                "is of type [alias], but [date,date_nanos] is expected",
            ),
            (field(json::json!({"type": "date", "index": false})), "is not indexed"),
            (field(json::json!({"type": "date", "doc_values": false})), "doesn't have doc values"),
            (
                field(json::json!({"type": "date_nanos", "null_value": "2026-01-01"})),
                "has disallowed [null_value] attribute specified",
            ),
            (
                field(json::json!({"type": "date", "ignore_malformed": true})),
                "has disallowed [ignore_malformed] attribute specified",
            ),
            (
                field(json::json!({"type": "date", "store": true})),
                "has disallowed attributes: [store]",
            ),
            (
                field(json::json!({"type": "date", "format": "yyyy", "meta": {"a": "b"},
                    "ignore_malformed": false})),
                "",
            ),
            (field(json::json!({"type": "date_nanos"})), ""),
        ] {
            let mapping = Mapping::parse(&mappings, Arc::default()).expect("reads");
            let found = check_timestamp(&mapping).err().map(|error| error.to_string());
            let told = (!told.is_empty())
                .then(|| format!("data stream timestamp field [@timestamp] {told}"));
            assert_eq!(found, told, "{mappings:?}");
        }
    }

    #[test]
    fn a_stream_reads_back() {
        let stream = DataStream {
            name: "s".into(),
            indices: vec!["a".into(), "b".into()],
            generation: 2,
            hidden: false,
            allow_custom_routing: true,
            rollover_on_write: true,
            meta: Some(json::json!({"x": 1})),
        };
        assert_eq!(DataStream::from_json(&stream.to_json()), Some(stream.clone()));
        assert_eq!(stream.write_index(), "b");
        assert_eq!(DataStream::from_json(&json::json!({"name": 1})), None);
    }
}
