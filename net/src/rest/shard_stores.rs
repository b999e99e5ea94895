//! `_shard_stores`: where the files of shards lie, and what is wrong with them.

use engine::index::block::{self, Level};
use engine::node::Primary;
use engine::ops::IndicesOptions;
use engine::{Error, Result};
use env::Env;

use crate::call::Call;
use crate::reply::Reply;
use crate::rest::cluster_state::allocation_id;
use crate::rest::cluster_state::unassigned::store_exception;
use crate::rest::nodes::described;

/// `GET /_shard_stores`, `/{index}/_shard_stores`.
pub(super) async fn shard_stores<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let all =
        IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::default() };
    let options = call.params.indices_options(all)?;
    let wanted: Vec<&str> = call.params.text("status").unwrap_or("yellow,red").split(',').collect();
    for word in &wanted {
        if !["green", "yellow", "red", "all"].contains(word) {
            return Err(Error::illegal_argument(format!("unknown cluster health status [{word}]")));
        }
    }
    let action = "indices:monitor/shard_stores";
    let indices = call.core.named_indices(call.gate, action, call.indices(), options).await?;
    block::check_all(indices.iter().map(|index| &**index), Level::MetadataRead)?;
    call.core.look_after_all_closed().await;
    let directory = call.core.directory();
    let info = &call.core.shared().config.info;
    Ok(call.json(200, |writer| {
        writer.begin_object().key("indices").begin_object();
        for index in &indices {
            let replicas = index.settings.replica_count();
            let found: Vec<(u32, Primary<'_>, &str)> = (0..index.settings.shard_count())
                .map(|number| {
                    let primary = directory.primary(index, number);
                    let colour = match primary {
                        Primary::Started(_) | Primary::Closed if replicas == 0 => "green",
                        Primary::Started(_) | Primary::Closed => "yellow",
                        _ => "red",
                    };
                    (number, primary, colour)
                })
                .filter(|(_, _, colour)| wanted.contains(&"all") || wanted.contains(colour))
                .collect();
            if found.is_empty() {
                continue;
            }
            writer.key(&index.name).begin_object().key("shards").begin_object();
            for (number, primary, _) in found {
                writer.key(&number.to_string()).begin_object().key("stores").begin_array();
                writer.begin_object().key(&info.id);
                writer.begin_object();
                described(writer, info).end_object();
                let id = allocation_id(index, number);
                writer.field_str("allocation_id", &id).field_str("allocation", "primary");
                if let Primary::Failed(failure) = primary {
                    store_exception(writer, failure);
                }
                writer.end_object().end_array().end_object();
            }
            writer.end_object().end_object();
        }
        writer.end_object().end_object();
    }))
}
