//! `_field_caps`: what fields are and can do.

use engine::ops::IndicesOptions;
use engine::ops::field_caps::{Capability, FieldCaps, FieldCapsCall};
use engine::{Error, Result};
use env::Env;
use json::{Value, Writer};

use super::long_answer::Growing;
use crate::call::Call;
use crate::reply::Reply;

/// `GET|POST /_field_caps`, `/{index}/_field_caps`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let asked = read(call).await?;
    let found = call.core.field_caps(call.gate, &asked).await?;
    let FieldCaps { indices, fields, .. } = &*found;
    let mut growing = Growing::new(call, "field_caps");
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    growing.more(&mut writer, names_bytes(indices)).await?;
    list(&mut writer, "indices", indices.iter());
    writer.key("fields").begin_object();
    for (at, (name, types)) in fields.iter().enumerate() {
        let bytes = types.iter().map(|one| shown_bytes(one, indices)).sum::<usize>();
        growing.more_at(at, &mut writer, name.len() + bytes).await?;
        writer.key(name).begin_object();
        for one in types {
            writer.key(one.kind);
            write(&mut writer, one, indices);
        }
        writer.end_object();
    }
    writer.end_object().end_object();
    Ok(growing.end(200, body))
}

/// About what a text takes where it is written, with what stands around it.
fn text_bytes(text: &str) -> usize {
    text.len() + 8
}

fn names_bytes(names: &[String]) -> usize {
    names.iter().map(|name| text_bytes(name)).sum()
}

/// About what is written of a field of one type.
fn shown_bytes(one: &Capability, indices: &[String]) -> usize {
    let places = [&one.indices, &one.non_searchable, &one.non_aggregatable].into_iter().flatten();
    let names = places.map(|place| text_bytes(&indices[*place as usize])).sum::<usize>();
    let meta = one.meta.iter().map(|(key, values)| {
        text_bytes(key) + values.iter().map(|value| text_bytes(value)).sum::<usize>()
    });
    256 + names + meta.sum::<usize>()
}

async fn read<E: Env>(call: &Call<'_, E>) -> Result<FieldCapsCall> {
    let base = IndicesOptions::default();
    let mut asked = FieldCapsCall {
        indices: call.indices().to_owned(),
        options: call.params.indices_options(base)?,
        fields: call.params.list("fields"),
        include_unmapped: call.params.flag("include_unmapped", false)?,
        leaves_out_empty: !call.params.flag("include_empty_fields", true)?,
        filters: call.params.list("filters"),
        types: call.params.list("types"),
        index_filter: None,
    };
    let Some(body) = call.map().await? else { return Ok(asked) };
    for (key, value) in body.as_object().into_iter().flat_map(json::Object::iter) {
        match key {
            "fields" if asked.fields.is_empty() => asked.fields = texts(value)?,
            "fields" => {
                return Err(Error::illegal_argument(
                    "can't specify a request body and [fields] request parameter, either specify a \
                     request body or the [fields] request parameter",
                ));
            }
            "index_filter" => asked.index_filter = Some(value.clone()),
            "runtime_mappings" if value.as_object().is_some_and(json::Object::is_empty) => {}
            _ => {
                return Err(Error::new(
                    400,
                    "x_content_parse_exception",
                    format!("[field_caps_request] unknown field [{key}]"),
                ));
            }
        }
    }
    Ok(asked)
}

fn texts(value: &Value) -> Result<Vec<String>> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>().ok_or_else(
        || {
            Error::new(
                400,
                "x_content_parse_exception",
                "[field_caps_request] failed to parse field [fields]",
            )
        },
    )
}

fn write(writer: &mut Writer<'_>, capability: &Capability, all: &[String]) {
    writer.begin_object().field_str("type", capability.kind);
    writer.key("metadata_field").bool(capability.metadata_field);
    writer.key("searchable").bool(capability.searchable);
    writer.key("aggregatable").bool(capability.aggregatable);
    for (key, indices) in [
        ("indices", &capability.indices),
        ("non_searchable_indices", &capability.non_searchable),
        ("non_aggregatable_indices", &capability.non_aggregatable),
    ] {
        if !indices.is_empty() {
            list(writer, key, indices.iter().map(|place| &all[*place as usize]));
        }
    }
    if !capability.meta.is_empty() {
        writer.key("meta").begin_object();
        for (key, values) in &capability.meta {
            writer.key(key).begin_array();
            for value in values {
                writer.str(value);
            }
            writer.end_array();
        }
        writer.end_object();
    }
    writer.end_object();
}

fn list<'a>(writer: &mut Writer<'_>, key: &str, names: impl Iterator<Item = &'a String>) {
    writer.key(key).begin_array();
    for name in names {
        writer.str(name);
    }
    writer.end_array();
}
