//! A file of a log: its head, and the batches as they stand, one after the other.

use json::{Value, json};
use wal::frame::{BLOCK, HEADER_BYTES, Header, NoHeader};

use super::{Shown, Unreadable};

/// Batches listed; of more, only the number is told.
const LISTED_MAX: usize = 100;

/// Shows the file.
pub fn show(bytes: &[u8]) -> Shown {
    let head = bytes.get(..64).ok_or_else(|| Unreadable("a log file cut short".into()))?;
    let number = |at: usize| {
        let bytes: [u8; 8] = head[at..at + 8].try_into().expect("within the 64 checked above");
        u64::from_le_bytes(bytes)
    };
    let mut index = [0; 16];
    index.copy_from_slice(&head[24..40]);
    let shard = u32::from_le_bytes(head[40..44].try_into().expect("four bytes"));

    let mut batches = Vec::new();
    let (mut batch_count, mut record_count) = (0u64, 0u64);
    let mut at = BLOCK;
    let mut end = "the end of the file";
    while let Some(block) = bytes.get(at..at + HEADER_BYTES) {
        let header = match Header::decode(block) {
            Ok((header, _)) => header,
            Err(NoHeader::Magic) if block.iter().all(|&byte| byte == 0) => {
                end = "zeros";
                break;
            }
            Err(NoHeader::Magic) => {
                end = "bytes that are no batch";
                break;
            }
            Err(NoHeader::Version(_)) => {
                end = "a batch of another version";
                break;
            }
            Err(NoHeader::Checksum) => {
                end = "a header whose checksum is wrong";
                break;
            }
            Err(NoHeader::Value(what)) => {
                end = what;
                break;
            }
        };
        let payload = at + HEADER_BYTES..at + HEADER_BYTES + header.payload_len as usize;
        let records = bytes.get(payload).and_then(|payload| header.records(payload));
        if records.is_none() {
            end = "a batch whose payload is torn";
            break;
        }
        batch_count += 1;
        record_count += u64::from(header.record_count);
        if batches.len() < LISTED_MAX {
            let seq_nos = header.seq_nos.map(|(first, last)| format!("{first}-{last}"));
            batches.push(json!({
                "offset": (at as u64),
                "position": (header.position.0),
                "term": header.term,
                "records": header.record_count,
                "seq_nos": seq_nos,
                "payload_bytes": header.payload_len,
                "synced": (header.synced.0),
            }));
        }
        at += header.batch_bytes();
    }
    let listed = (batch_count > LISTED_MAX as u64).then_some(LISTED_MAX as u64);
    Ok(json!({
        "kind": "log",
        "number": (number(44)),
        "bytes": (number(52)),
        "id": (head[8..24].iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        "of": (owner(index)),
        "shard": shard,
        "batch_count": batch_count,
        "record_count": record_count,
        "used_bytes": (at as u64),
        "then": end,
        "listed": listed,
        "batches": batches,
    }))
}

/// Whose log it is: the name of a kept value, or the id of an index.
fn owner(index: [u8; 16]) -> Value {
    let name: Vec<u8> = index.into_iter().take_while(|&byte| byte != 0).collect();
    match str::from_utf8(&name) {
        Ok("cluster") => Value::from("cluster"),
        Ok("authz") => Value::from("authz"),
        _ => Value::from(cluster::state::uuid_text(index)),
    }
}
