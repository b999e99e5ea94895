//! Mappings and settings of indices.

use engine::Result;
use engine::ops::IndicesOptions;
use env::Env;
use json::path::glob;
use json::{Value, Writer};

use super::indices::{flatten, infos, nest, write_flat};
use crate::call::Call;
use crate::render::units;
use crate::reply::Reply;

/// `GET /_mapping`, `/{index}/_mapping`.
pub(super) fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let infos = infos(call, "indices:admin/mappings/get")?;
    Ok(call.json(200, |writer| {
        writer.begin_object();
        for info in &infos {
            writer.key(&info.name).begin_object();
            writer.field("mappings", &info.mappings).end_object();
        }
        writer.end_object();
    }))
}

/// `PUT|POST /{index}/_mapping`.
pub(super) async fn put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let body = call.required_map()?;
    let base = IndicesOptions { expand_closed: true, ..IndicesOptions::default() };
    let options = call.params.indices_options(base)?;
    call.core.put_mapping(call.gate, call.indices(), options, &body).await?;
    Ok(call.acknowledged())
}

/// `GET /_settings`, `/{index}/_settings`, each with `/{name}`.
pub(super) fn settings<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let infos = infos(call, "indices:monitor/settings/get")?;
    let flat = call.params.flag("flat_settings", false)?;
    let names: Vec<&str> = call.path.get("name").unwrap_or_default().split(',').collect();
    let names: Vec<&str> =
        names.into_iter().filter(|name| !name.is_empty() && *name != "_all").collect();
    Ok(call.json(200, |writer| {
        writer.begin_object();
        for info in &infos {
            writer.key(&info.name).begin_object().key("settings");
            settings_view(writer, &info.settings, flat, call.human, &names);
            writer.end_object();
        }
        writer.end_object();
    }))
}

/// Settings as they are shown: nested or flat, with readable twins, all or those that match `names`.
pub(super) fn settings_view(
    writer: &mut Writer<'_>,
    settings: &Value,
    flat: bool,
    human: bool,
    names: &[&str],
) {
    let mut list = flatten(settings);
    if human {
        add_twins(&mut list);
    }
    if !names.is_empty() {
        list.retain(|(path, _)| names.iter().any(|name| glob(name.as_bytes(), path.as_bytes())));
    }
    if flat {
        write_flat(writer, &list);
    } else {
        writer.value(&nest(&list));
    }
}

/// `creation_date_string` beside the date.
fn add_twins(list: &mut Vec<(String, Value)>) {
    let date = list
        .iter()
        .find(|(path, _)| path == "index.creation_date")
        .and_then(|(_, value)| value.as_str()?.parse().ok());
    if let Some(unix_ms) = date {
        list.push(("index.creation_date_string".to_owned(), units::date(unix_ms).into()));
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    fn view(flat: bool, human: bool, names: &[&str]) -> String {
        let settings = json!({"index": {"creation_date": "0", "number_of_shards": "1"}});
        let mut out = Vec::new();
        settings_view(&mut Writer::new(&mut out), &settings, flat, human, names);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn settings_are_shown_as_asked() {
        assert_eq!(
            view(false, false, &[]),
            r#"{"index":{"creation_date":"0","number_of_shards":"1"}}"#
        );
        assert_eq!(
            view(true, true, &["*date*"]),
            r#"{"index.creation_date":"0","index.creation_date_string":"1970-01-01T00:00:00.000Z"}"#
        );
        assert_eq!(
            view(false, false, &["index.number_*"]),
            r#"{"index":{"number_of_shards":"1"}}"#
        );
        assert_eq!(view(false, false, &["nothing"]), "{}");
    }
}
