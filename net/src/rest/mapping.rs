//! Mappings of indices: whole, and field by field.

use engine::Result;
use engine::ops::IndicesOptions;
use engine::ops::admin::FIELD_MAPPINGS;
use engine::ops::field_caps::METADATA;
use env::Env;
use json::path::glob;
use json::{Object, Value, Writer};
use mapping::{Field, Mapping};

use super::indices::infos;
use super::long_answer::Growing;
use crate::call::Call;
use crate::reply::Reply;

/// `GET /_mapping`, `/{index}/_mapping`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let infos = infos(call, "indices:admin/mappings/get").await?;
    let mut growing = Growing::new(call, "mappings");
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    for info in &infos {
        growing.more(&mut writer, info.shown_bytes()).await?;
        writer.key(&info.name).begin_object();
        writer.field("mappings", &info.mappings()).end_object();
    }
    writer.end_object();
    Ok(growing.end(200, body))
}

/// `PUT|POST /{index}/_mapping`.
pub(super) async fn put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let body = call.required_map().await?;
    let base = IndicesOptions {
        expand_closed: true,
        allow_no_indices: false,
        ..IndicesOptions::default()
    };
    let options = call.params.indices_options(base)?;
    let writers = call.params.flag("write_index_only", false)?;
    call.core.put_mapping(call.gate, call.indices(), options, writers, body).await?;
    Ok(call.acknowledged())
}

/// `GET /_mapping/field/{fields}`, `/{index}/_mapping/field/{fields}`.
pub(super) async fn fields<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let infos = infos(call, FIELD_MAPPINGS).await?;
    let defaults = call.params.flag("include_defaults", false)?;
    let patterns: Vec<&str> = call.segment("fields").split(',').collect();
    let wanted = |path: &str| {
        patterns
            .iter()
            .any(|pattern| *pattern == "_all" || glob(pattern.as_bytes(), path.as_bytes()))
    };
    let mut growing = Growing::new(call, "mappings");
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    for info in &infos {
        growing.more(&mut writer, 2 * info.name.len() + METADATA_BYTES).await?;
        writer.key(&info.name).begin_object().key("mappings").begin_object();
        // They are sorted by path.
        for (at, field) in info.index.mapping.fields().enumerate() {
            let bytes = if wanted(&field.path) { field_bytes(field, defaults) } else { 0 };
            growing.more_at(at, &mut writer, bytes).await?;
            if bytes == 0 {
                continue;
            }
            writer.key(&field.path).begin_object().field_str("full_name", &field.path);
            writer.key("mapping").begin_object();
            let leaf = field.path.rsplit('.').next().unwrap_or(&field.path);
            writer.field(leaf, &definition(field, defaults));
            writer.end_object().end_object();
        }
        let aliases = info.index.mapping.aliases().filter(|(name, _)| wanted(name));
        for (at, (name, target)) in aliases.enumerate() {
            let bytes = 3 * name.len() + target.path.len() + AROUND_BYTES;
            growing.more_at(at, &mut writer, bytes).await?;
            writer.key(name).begin_object().field_str("full_name", name);
            let leaf = name.rsplit('.').next().unwrap_or(name);
            writer.key("mapping").begin_object().key(leaf).begin_object();
            writer.field_str("type", "alias").field_str("path", &target.path);
            writer.end_object().end_object().end_object();
        }
        for (name, ..) in METADATA.into_iter().filter(|(name, ..)| wanted(name)) {
            writer.key(name).begin_object().field_str("full_name", name);
            writer.key("mapping").begin_object().end_object().end_object();
        }
        writer.end_object().end_object();
    }
    writer.end_object();
    Ok(growing.end(if infos.is_empty() { 404 } else { 200 }, body))
}

/// What stands around the names of a field, and around an index with the fields that each has.
const AROUND_BYTES: usize = 128;
const METADATA_BYTES: usize = 1 << 10;

/// What the parameters of a field take at most that are told with their defaults.
const DEFAULTS_BYTES: usize = 1 << 10;

/// About how long a field is shown, at least as long as it is.
fn field_bytes(field: &Field, defaults: bool) -> usize {
    let defaults = if defaults { DEFAULTS_BYTES } else { 0 };
    3 * field.path.len() + Mapping::shown_bytes(field) + AROUND_BYTES + defaults
}

/// A field as the mapping shows it, perhaps with what counts where nothing is said.
fn definition(field: &Field, defaults: bool) -> Value {
    let shown = Mapping::field_to_json(field);
    if !defaults {
        return shown;
    }
    let Value::Object(mut object) = shown else { return shown };
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    for (name, default) in of_type(&kind) {
        object.get_or_insert_with(name, || default);
    }
    Value::Object(object)
}

/// Parameters of a type with their defaults, as Elasticsearch prints them.
fn of_type(kind: &str) -> Vec<(&'static str, Value)> {
    let flag = |name, value: bool| (name, Value::from(value));
    let text = |name, value: &str| (name, Value::from(value));
    let mut list = vec![flag("store", false), flag("index", true)];
    match kind {
        "text" => {
            list.extend([
                text("index_options", "positions"),
                flag("norms", true),
                text("term_vector", "no"),
                text("similarity", "BM25"),
                text("analyzer", "default"),
                flag("eager_global_ordinals", false),
                flag("fielddata", false),
                flag("index_phrases", false),
                ("position_increment_gap", Value::from(100u64)),
                ("meta", Value::Object(Object::new())),
            ]);
            let mut filter = Object::new();
            filter.insert("min", 0.0);
            filter.insert("max", 2_147_483_647.0);
            filter.insert("min_segment_size", 0u64);
            list.push(("fielddata_frequency_filter", Value::Object(filter)));
        }
        "keyword" => list.extend([
            flag("doc_values", true),
            flag("eager_global_ordinals", false),
            ("ignore_above", Value::from(2_147_483_647u64)),
            text("index_options", "docs"),
            flag("norms", false),
            ("null_value", Value::Null),
            text("similarity", "BM25"),
            flag("split_queries_on_whitespace", false),
            ("meta", Value::Object(Object::new())),
        ]),
        "long" | "integer" | "short" | "byte" | "double" | "float" | "half_float"
        | "unsigned_long" | "scaled_float" => list.extend([
            flag("doc_values", true),
            flag("coerce", true),
            flag("ignore_malformed", false),
            ("null_value", Value::Null),
            ("meta", Value::Object(Object::new())),
        ]),
        "date" | "date_nanos" => list.extend([
            flag("doc_values", true),
            text("format", "strict_date_optional_time||epoch_millis"),
            text("locale", "en"),
            flag("ignore_malformed", false),
            ("null_value", Value::Null),
            ("meta", Value::Object(Object::new())),
        ]),
        "boolean" | "ip" => list.extend([
            flag("doc_values", true),
            flag("ignore_malformed", false),
            ("null_value", Value::Null),
            ("meta", Value::Object(Object::new())),
        ]),
        _ => return Vec::new(),
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_name_each_parameter_once() {
        for kind in ["text", "keyword", "long", "date", "boolean", "nothing"] {
            let mut names: Vec<&str> = of_type(kind).into_iter().map(|(name, _)| name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{kind}");
        }
        assert!(of_type("nothing").is_empty());
    }
}
