//! `_cluster/settings`.

use std::sync::Arc;

use cluster::ClusterSettings;
use cluster::cluster_settings::{Layer, flatten, render};
use engine::ops::cluster_settings::NewClusterSettings;
use engine::{Error, Result};
use env::Env;
use env::budget::Taken;
use json::{Value, Writer};

use super::nodes::settings as node_settings;
use crate::call::{self, Call};
use crate::fail;
use crate::reply::Reply;

/// What Elasticsearch says of settings that do not outlive a restart.
const TRANSIENT: &str = "[transient settings removal] Updating cluster settings through \
                         transientSettings is deprecated. Use persistent settings instead.";

/// `GET /_cluster/settings`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/settings")?;
    let flat = call.params.flag("flat_settings", false)?;
    let defaults = call.params.flag("include_defaults", false)?;
    let settings = Arc::clone(&call.core.state().settings);
    // What this node was given stands before the table.
    let given = defaults.then(|| node_settings(&call.core.shared().config.info, true));
    let memory = room(call, &settings)?;
    let write = move || {
        let mut body = Vec::with_capacity(256);
        let mut writer = Writer::new(&mut body);
        writer
            .begin_object()
            .field("persistent", &render(settings.persistent(), flat))
            .field("transient", &render(settings.transient(), flat));
        if let Some(given) = given {
            let mut layer = settings.defaults();
            for (name, value) in given.as_object().into_iter().flat_map(json::Object::iter) {
                layer.insert(name.to_owned(), value.clone());
            }
            writer.field("defaults", &render(&layer, flat));
        }
        writer.end_object();
        body
    };
    let Some(mut memory) = memory else { return Ok(Reply::json(200, write())) };
    let body = call.core.work_in_turn(write).await;
    let body = body.map_err(|error| Error::rejected(format!("no worker for it: {error}")))?;
    memory.shrink_to(body.capacity());
    Ok(Reply::json(200, body).counted(memory))
}

/// Settings that take more are copied by workers, and with memory that was taken before.
const BYTES_HERE_MAX: usize = 256 << 10;

/// Memory for what is made of these settings while they are shown, or changed, where they are large.
///
/// # Errors
/// 429 where there is too little.
fn room<E: Env>(call: &Call<'_, E>, settings: &ClusterSettings) -> Result<Option<Taken>> {
    let bytes = settings.shown_bytes();
    if bytes <= BYTES_HERE_MAX {
        return Ok(None);
    }
    // A text that grows is copied on its way.
    call.core.room("settings", 2 * bytes).map(Some)
}

/// `PUT /_cluster/settings`.
pub(super) async fn put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    // Who may not change settings is not told what is wrong with a change.
    call.gate.cluster("cluster:admin/settings/update")?;
    let flat = call.params.flag("flat_settings", false)?;
    let (new, warned, answer) = call.read(move |content| read(content, flat)).await?;
    let _memory = room(call, &call.core.state().settings)?;
    call.core.put_cluster_settings(call.gate, new).await?;
    if warned {
        call.gate.warn(TRANSIENT);
    }
    Ok(Reply::json(200, answer))
}

/// What a body changes, whether it is to be warned of, and the answer once that is done.
fn read(content: &[u8], flat: bool) -> Result<(NewClusterSettings, bool, Vec<u8>)> {
    let Value::Object(body) = call::map_of(content)? else { unreachable!("it is an object") };
    let mut layers = [Value::Null, Value::Null];
    for (key, value) in body {
        let at = match key.as_str() {
            "persistent" => 0,
            "transient" => 1,
            _ => {
                let place = fail::place_of(content, &key);
                return Err(fail::unknown_field("cluster_update_settings_request", &key, place));
            }
        };
        layers[at] = value;
    }
    let [persistent, transient] = layers;
    let named = |value: &Value| -> Result<Layer> {
        flatten(value).map_err(|error| Error::illegal_argument(error.to_string()))
    };
    let (mut set_persistent, mut set_transient) = (named(&persistent)?, named(&transient)?);
    // Groups without settings name none.
    if set_persistent.is_empty() && set_transient.is_empty() {
        return Err(Error::validation(&["no settings to update"]));
    }
    // One that is taken away was named, too.
    let warned = !set_transient.is_empty();
    set_persistent.retain(|_, value| !value.is_null());
    set_transient.retain(|_, value| !value.is_null());
    let mut answer = Vec::with_capacity(256);
    Writer::new(&mut answer)
        .begin_object()
        .field_bool("acknowledged", true)
        .field("persistent", &render(&set_persistent, flat))
        .field("transient", &render(&set_transient, flat))
        .end_object();
    Ok((NewClusterSettings::read(persistent, transient)?, warned, answer))
}
