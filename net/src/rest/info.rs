//! What the node is: `/`, `_license`, its icon.

use engine::{Error, Result};
use env::Env;

use crate::call::Call;
use crate::render::units;
use crate::reply::Reply;

/// The Elasticsearch version whose language is spoken.
pub const VERSION: &str = "8.19.0";

/// The Lucene of that version.
pub(super) const LUCENE: &str = "9.12.2";

/// `GET|HEAD /`.
pub(super) fn info<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/main")?;
    let info = &call.core.shared().config.info;
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .field_str("name", &info.name)
            .field_str("cluster_name", &info.cluster_name)
            .field_str("cluster_uuid", &info.cluster_uuid)
            .key("version")
            .begin_object()
            .field_str("number", VERSION)
            .field_str("build_flavor", "default")
            .field_str("build_type", "tar")
            .field_str("build_hash", &info.build_hash)
            .field_str("build_date", &info.build_date)
            .field_bool("build_snapshot", false)
            .field_str("lucene_version", LUCENE)
            .field_str("minimum_wire_compatibility_version", "7.17.0")
            .field_str("minimum_index_compatibility_version", "7.0.0")
            .end_object()
            .field_str("tagline", "You Know, for Search")
            .end_object();
    }))
}

/// `GET /_license`: everything is free; the type is Elasticsearch's word for that. It was issued when the
/// cluster was made.
pub(super) fn license<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/xpack/license/get")?;
    accepts_enterprise(call)?;
    if call.params.text("accept_enterprise").is_some() {
        call.gate.warn(
            "Including [accept_enterprise] in get license requests is deprecated. The parameter will be removed in \
             the next major version",
        );
    }
    let info = &call.core.shared().config.info;
    let issued_ms = call.core.state().created_ms.unwrap_or(info.started_ms);
    Ok(call.json(200, |writer| {
        writer
            .begin_object()
            .key("license")
            .begin_object()
            .field_str("status", "active")
            .field_str("uid", &license_uid(&info.cluster_uuid))
            .field_str("type", "basic")
            .field_str("issue_date", &units::date(issued_ms));
        writer.key("issue_date_in_millis").i64(issued_ms);
        writer.field_u64("max_nodes", 1_000).key("max_resource_units").null();
        writer
            .field_str("issued_to", &info.cluster_name)
            .field_str("issuer", "elasticsearch")
            .key("start_date_in_millis")
            .i64(-1)
            .end_object()
            .end_object();
    }))
}

/// A license is named by a UUID; this one is made of the cluster's own name for itself.
pub(super) fn license_uid(cluster_uuid: &str) -> String {
    let mut digits: String =
        cluster_uuid.bytes().take(16).map(|byte| format!("{byte:02x}")).collect();
    while digits.len() < 32 {
        digits.push('0');
    }
    let part = |from: usize, to: usize| &digits[from..to];
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

/// There is one kind of license, which nobody may wish to be told in old words.
pub(super) fn accepts_enterprise<E: Env>(call: &Call<'_, E>) -> Result<()> {
    if call.params.flag("accept_enterprise", true)? {
        return Ok(());
    }
    Err(Error::illegal_argument("The [accept_enterprise] parameters may not be false"))
}

/// `GET /favicon.ico`: one transparent pixel.
pub(super) fn favicon() -> Reply {
    const ICON: &[u8] = &[
        // Directory: one icon of 1×1 pixels, 32 bits, 48 bytes from byte 22.
        0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 32, 0, 48, 0, 0, 0, 22, 0, 0, 0,
        // Bitmap header: 40 bytes, 1×2 (colour and mask), one plane.
        40, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 32, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // One pixel, and its row of the mask.
        0, 0, 0, 0, 0, 0, 0, 0x80,
    ];
    Reply {
        status: 200,
        content_type: Some("image/x-icon".into()),
        body: ICON.to_vec(),
        ..Reply::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_has_the_form_of_one() {
        let uid = license_uid("AbCdEfGhIjKlMnOpQrStUv");
        assert_eq!(uid.len(), 36);
        assert_eq!(uid.matches('-').count(), 4);
    }
}
