//! Settings of indices: looking at them, changing them; blocks, opening, closing.

use engine::ops::IndicesOptions;
use engine::ops::admin::IndexInfo;
use engine::ops::index_settings::{NewSettings, SettingsChange};
use engine::{Error, Result};
use env::{Bytes, Env};
use json::path::glob;
use json::{Value, Writer};

use super::copies::{self, Copies};
use super::indices::{flatten, infos, nest, write_flat};
use super::long_answer::Growing;
use crate::call::{self, Call};
use crate::render::units;
use crate::reply::Reply;

/// `GET /_settings`, `/{index}/_settings`, each with `/{name}`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let infos = infos(call, "indices:monitor/settings/get").await?;
    let flat = call.params.flag("flat_settings", false)?;
    let defaults = call.params.flag("include_defaults", false)?;
    let names: Vec<&str> = call.segment("name").split(',').collect();
    let names: Vec<&str> =
        names.into_iter().filter(|name| !name.is_empty() && *name != "_all").collect();
    let mut growing = Growing::new(call, "settings");
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    for info in &infos {
        growing.more(&mut writer, info.settings_bytes()).await?;
        let chosen = chosen(&info.settings(), call.human, &names);
        // An index of whose settings none is wanted is not shown.
        if chosen.is_empty() && !defaults {
            continue;
        }
        writer.key(&info.name).begin_object().key("settings");
        write(&mut writer, &chosen, flat);
        if defaults {
            write_defaults(call, &mut writer, info, flat, &names);
        }
        writer.end_object();
    }
    writer.end_object();
    Ok(growing.end(200, body))
}

/// `PUT /_settings`, `/{index}/_settings`.
pub(super) async fn put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let base = IndicesOptions {
        expand_closed: true,
        allow_no_indices: false,
        ..IndicesOptions::default()
    };
    let options = call.params.indices_options(base)?;
    let change = SettingsChange {
        preserve: call.params.flag("preserve_existing", false)?,
        reopen: call.params.flag("reopen", false)?,
    };
    let read = |content: &Bytes| {
        let body = call::map_of(content)?;
        let wraps = body.get("settings").is_some_and(|inner| inner.as_object().is_some());
        if wraps && body.as_object().is_some_and(|whole| whole.len() > 1) {
            return Err(Error::parse("mix of settings map and top-level properties"));
        }
        NewSettings::read(&body)
    };
    let new = call.read(read).await?;
    call.core.put_settings(call.gate, call.indices(), options, new, change).await?;
    Ok(call.acknowledged())
}

/// What waits by the index's setting is said by nothing.
const DEFAULT_BY_NAME: &str = "?wait_for_active_shards=index-setting is now the default behaviour; the 'index-setting' value for this \
     parameter should no longer be used since it will become unsupported in version 9";

/// `POST /{index}/_close`.
pub(super) async fn close<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    named(call)?;
    let waits = call.params.text("wait_for_active_shards");
    let copies = if waits.is_some_and(|text| text.eq_ignore_ascii_case("index-setting")) {
        call.gate.warn(DEFAULT_BY_NAME);
        Copies::Setting
    } else {
        Copies::read(call)?
    };
    let options = call.params.indices_options(IndicesOptions::default())?;
    let closed = call.core.close_indices(call.gate, call.indices(), options).await?;
    let there =
        !closed.indices.is_empty() && copies::acknowledged(call, copies, &closed.indices).await?;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .field_bool("acknowledged", true)
            .field_bool("shards_acknowledged", there);
        writer.key("indices").begin_object();
        for name in &closed.indices {
            writer.key(name).begin_object().field_bool("closed", true).end_object();
        }
        writer.end_object().end_object();
    }))
}

/// `POST /{index}/_open`.
pub(super) async fn open<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    named(call)?;
    let copies = Copies::read(call)?;
    let base =
        IndicesOptions { expand_open: false, expand_closed: true, ..IndicesOptions::default() };
    let options = call.params.indices_options(base)?;
    let (opened, whole) = call.core.open_indices(call.gate, call.indices(), options).await?;
    let whole = whole && copies::acknowledged(call, copies, &opened.indices).await?;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .field_bool("acknowledged", true)
            .field_bool("shards_acknowledged", whole)
            .end_object();
    }))
}

/// Who closes or opens says what: nothing named is not everything.
const FROZEN: &str = "Frozen indices are deprecated because they provide no benefit given improvements in heap \
     memory utilization. They will be removed in a future release.";

/// `POST /{index}/_unfreeze`.
pub(super) async fn unfreeze<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.warn(FROZEN);
    Copies::read(call)?;
    let options = call.params.indices_options(IndicesOptions::default())?;
    call.core.thaw_indices(call.gate, call.indices(), options).await?;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .field_bool("acknowledged", true)
            .field_bool("shards_acknowledged", true)
            .end_object();
    }))
}

fn named<E: Env>(call: &Call<'_, E>) -> Result<()> {
    match call.path.get("index") {
        Some(_) => Ok(()),
        None => Err(Error::validation(&["index is missing"])),
    }
}

/// `PUT /{index}/_block/{block}`.
pub(super) async fn block<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let options = call.params.indices_options(IndicesOptions::default())?;
    let blocked =
        call.core.add_block(call.gate, call.indices(), options, call.segment("block")).await?;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .field_bool("acknowledged", true)
            .field_bool("shards_acknowledged", !blocked.indices.is_empty());
        writer.key("indices").begin_array();
        for name in &blocked.indices {
            writer.begin_object().field_str("name", name).field_bool("blocked", true).end_object();
        }
        writer.end_array().end_object();
    }))
}

/// What counts where nothing is set, as `defaults`.
pub(super) fn write_defaults<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    info: &IndexInfo,
    flat: bool,
    names: &[&str],
) {
    let processors = u32::from(call.core.shared().config.cores);
    let list = chosen(&info.index.settings.defaults_to_nested(processors), false, names);
    writer.key("defaults");
    write(writer, &list, flat);
}

/// Settings as they are shown: nested or flat, with readable twins, all or those that match `names`.
pub(super) fn settings_view(
    writer: &mut Writer<'_>,
    settings: &Value,
    flat: bool,
    human: bool,
    names: &[&str],
) {
    write(writer, &chosen(settings, human, names), flat);
}

fn chosen(settings: &Value, human: bool, names: &[&str]) -> Vec<(String, Value)> {
    let mut list = flatten(settings);
    if human {
        add_twins(&mut list);
    }
    if !names.is_empty() {
        list.retain(|(path, _)| names.iter().any(|name| glob(name.as_bytes(), path.as_bytes())));
    }
    list
}

fn write(writer: &mut Writer<'_>, list: &[(String, Value)], flat: bool) {
    if flat {
        write_flat(writer, list);
    } else {
        writer.value(&nest(list));
    }
}

/// `creation_date_string` beside the date, `created_string` beside the version's number.
fn add_twins(list: &mut Vec<(String, Value)>) {
    let date = list
        .iter()
        .find(|(path, _)| path == "index.creation_date")
        .and_then(|(_, value)| value.as_str()?.parse().ok());
    if let Some(unix_ms) = date {
        list.push(("index.creation_date_string".to_owned(), units::date(unix_ms).into()));
    }
    // All indices are of the one version that there is.
    if list.iter().any(|(path, _)| path == "index.version.created") {
        list.push(("index.version.created_string".to_owned(), super::VERSION.into()));
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    fn view(flat: bool, human: bool, names: &[&str]) -> String {
        let settings = json!({"index": {
            "creation_date": "0", "number_of_shards": "1", "version": {"created": "8536000"},
        }});
        let mut out = Vec::new();
        settings_view(&mut Writer::new(&mut out), &settings, flat, human, names);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn settings_are_shown_as_asked() {
        assert_eq!(
            view(false, false, &[]),
            r#"{"index":{"creation_date":"0","number_of_shards":"1","version":{"created":"8536000"}}}"#
        );
        assert_eq!(
            view(true, true, &["*date*"]),
            r#"{"index.creation_date":"0","index.creation_date_string":"1970-01-01T00:00:00.000Z"}"#
        );
        assert_eq!(
            view(false, false, &["index.number_*"]),
            r#"{"index":{"number_of_shards":"1"}}"#
        );
        assert_eq!(
            view(false, true, &["*version*"]),
            r#"{"index":{"version":{"created":"8536000","created_string":"8.19.0"}}}"#
        );
        assert_eq!(view(false, false, &["nothing"]), "{}");
    }
}
