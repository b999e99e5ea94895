//! `suggest` of a search.

use engine::ops::suggest::Suggested;
use json::Writer;
use search::result::Hit;
use search::suggest::{Entry, Offer};

use super::search::Paused;

/// `{"name":[{"text":…,"offset":…,"length":…,"options":[…]}]}`. Between options others have their turn.
pub(super) async fn suggest(
    writer: &mut Writer<'_>,
    suggested: &[Suggested],
    typed_keys: bool,
    paused: &mut Paused,
    pause: &impl AsyncFn(Vec<u8>) -> Vec<u8>,
) {
    writer.begin_object();
    for one in suggested {
        if typed_keys {
            writer.key(&format!("{}#{}", one.kind, one.name));
        } else {
            writer.key(&one.name);
        }
        writer.begin_array();
        for (at, entry) in one.entries.iter().enumerate() {
            let hits = one.hits.get(at).map_or(&[][..], Vec::as_slice);
            self::entry(writer, entry, hits, paused, pause).await;
        }
        writer.end_array();
    }
    writer.end_object();
}

async fn entry(
    writer: &mut Writer<'_>,
    entry: &Entry,
    hits: &[Hit],
    paused: &mut Paused,
    pause: &impl AsyncFn(Vec<u8>) -> Vec<u8>,
) {
    writer
        .begin_object()
        .field_str("text", &entry.text)
        .field_u64("offset", u64::from(entry.offset))
        .field_u64("length", u64::from(entry.length));
    writer.key("options").begin_array();
    let mut hits = hits.iter();
    for offer in &entry.options {
        let hit = offer.found.as_ref().and_then(|_| hits.next());
        option(writer, offer, hit);
        paused.pause(writer, pause).await;
    }
    writer.end_array().end_object();
}

fn option(writer: &mut Writer<'_>, offer: &Offer, hit: Option<&Hit>) {
    writer.begin_object().field_str("text", &offer.text);
    if let Some(highlighted) = &offer.highlighted {
        writer.field_str("highlighted", highlighted);
    }
    match hit {
        Some(hit) => super::search::hit_members(writer, hit, false),
        None => {
            writer.key("score").f32(offer.score);
        }
    }
    if let Some(freq) = offer.freq {
        writer.field_u64("freq", freq);
    }
    if !offer.contexts.is_empty() {
        writer.key("contexts").begin_object();
        for (name, values) in &offer.contexts {
            writer.key(name).begin_array();
            for value in values {
                writer.str(value);
            }
            writer.end_array();
        }
        writer.end_object();
    }
    writer.end_object();
}
