//! `_cluster/settings`.

use cluster::cluster_settings::{Layer, flatten, render};
use engine::ops::cluster_settings::NewClusterSettings;
use engine::{Error, Result};
use env::Env;
use json::{Value, Writer};

use super::nodes::settings as node_settings;
use crate::call::{self, Call};
use crate::fail;
use crate::reply::Reply;

/// What Elasticsearch says of settings that do not outlive a restart.
const TRANSIENT: &str = "[transient settings removal] Updating cluster settings through \
                         transientSettings is deprecated. Use persistent settings instead.";

/// `GET /_cluster/settings`.
pub(super) fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/settings")?;
    let flat = call.params.flag("flat_settings", false)?;
    let defaults = call.params.flag("include_defaults", false)?;
    let settings = &call.core.state().settings;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .field("persistent", &render(settings.persistent(), flat))
            .field("transient", &render(settings.transient(), flat));
        if defaults {
            // What this node was given stands before the table.
            let mut layer = settings.defaults();
            let given = node_settings(&call.core.shared().config.info, true);
            for (name, value) in given.as_object().into_iter().flat_map(json::Object::iter) {
                layer.insert(name.to_owned(), value.clone());
            }
            writer.field("defaults", &render(&layer, flat));
        }
        writer.end_object();
    }))
}

/// `PUT /_cluster/settings`.
pub(super) async fn put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    // Who may not change settings is not told what is wrong with a change.
    call.gate.cluster("cluster:admin/settings/update")?;
    let flat = call.params.flag("flat_settings", false)?;
    let (new, warned, answer) = call.read(move |content| read(content, flat)).await?;
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
