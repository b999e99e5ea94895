//! `GET /_ssl/certificates`: the certificates that HTTP presents, as their files say.

use engine::ops::observe::CertificateFile;
use engine::{Error, Result};
use env::{Disk, Env, File};
use json::{Value, json};

use crate::call::Call;
use crate::reply::Reply;
use crate::x509;

/// A longer file is none of certificates.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Answers with what stands in each file.
///
/// # Errors
/// 403 without the right to monitor; `ssl_config_exception` where a file is no more what it was at the start.
pub(super) async fn certificates<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster(call.route.privilege)?;
    let mut found = Vec::new();
    for file in &call.core.shared().config.info.certificates {
        let unread = || {
            let reason = format!("cannot load PEM certificate from [{}]", file.shown);
            Error::new(500, "ssl_config_exception", reason)
        };
        let pem = read(call, file).await.ok_or_else(unread)?;
        let certificates = x509::of_pem(&pem).ok_or_else(unread)?;
        for (place, one) in certificates.iter().enumerate() {
            found.push(json!({
                "path": (file.shown.as_str()),
                "format": "PEM",
                "alias": null,
                "subject_dn": (one.subject.as_str()),
                "serial_number": (one.serial.as_str()),
                // It is that of the first, which the others vouch for.
                "has_private_key": (file.has_key && place == 0),
                "expiry": (one.expiry.as_str()),
                "issuer": (one.issuer.as_str()),
            }));
        }
    }
    Ok(call.json(200, |writer| {
        writer.value(&Value::from(found));
    }))
}

async fn read<E: Env>(call: &Call<'_, E>, file: &CertificateFile) -> Option<String> {
    let opened = call.core.env().disk().open(&file.path).await.ok()?;
    let len = opened.len().await.ok().filter(|len| *len <= FILE_BYTES_MAX)?;
    let bytes = opened.read_at(0, usize::try_from(len).ok()?).await.ok()?;
    String::from_utf8(bytes.to_vec()).ok()
}
