//! `_field_caps`: what fields are and can do.

use engine::ops::IndicesOptions;
use engine::ops::field_caps::{Capability, FieldCapsCall};
use engine::{Error, Result};
use env::{Env, Spawn};
use json::{Value, Writer};

use crate::call::Call;
use crate::reply::Reply;

/// `GET|POST /_field_caps`, `/{index}/_field_caps`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let asked = read(call).await?;
    let found = call.core.field_caps(call.gate, &asked).await?;
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    list(&mut writer, "indices", &found.indices);
    writer.key("fields").begin_object();
    for (at, (name, types)) in found.fields.into_iter().enumerate() {
        writer.key(&name).begin_object();
        for (kind, capability) in &types {
            writer.key(kind);
            write(&mut writer, kind, capability);
        }
        writer.end_object();
        call.core.env().spawn().yield_at(at).await;
    }
    writer.end_object().end_object();
    Ok(Reply::json(200, body))
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

fn write(writer: &mut Writer<'_>, kind: &str, capability: &Capability) {
    writer.begin_object().field_str("type", kind);
    writer.key("metadata_field").bool(capability.metadata_field);
    writer.key("searchable").bool(capability.searchable);
    writer.key("aggregatable").bool(capability.aggregatable);
    for (key, indices) in [
        ("indices", &capability.indices),
        ("non_searchable_indices", &capability.non_searchable),
        ("non_aggregatable_indices", &capability.non_aggregatable),
    ] {
        if let Some(indices) = indices {
            list(writer, key, indices);
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

fn list(writer: &mut Writer<'_>, key: &str, names: &[String]) {
    writer.key(key).begin_array();
    for name in names {
        writer.str(name);
    }
    writer.end_array();
}
