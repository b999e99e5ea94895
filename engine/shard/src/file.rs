//! Names of a shard's files.
//!
//! | name                                    | what                                              |
//! |-----------------------------------------|---------------------------------------------------|
//! | `manifest-0`, `manifest-1`              | the two slots (`manifest`)                         |
//! | `segment-<number>`                      | a segment (`segment`)                              |
//! | `live-<number>-<generation>`            | its living documents as of a manifest              |
//! | `log-…`                                 | the log (`wal`)                                    |
//! | any of the first three with `.tmp`      | what an interrupted save left                      |
//! | any with `.corrupt`                     | damage that was found, kept for people             |
//!
//! Numbers are sixteen hexadecimal digits, so that names sort as they do. What bears none of the
//! first three names is never touched.

use base::SegmentId;

/// Name of a segment's file.
pub fn segment_name(id: SegmentId) -> String {
    format!("segment-{:016x}", id.get())
}

/// Name of a file of living documents.
pub fn live_name(id: SegmentId, generation: u64) -> String {
    format!("live-{:016x}-{generation:016x}", id.get())
}

/// Whether a name is of a kind that is removed where no manifest names it: a segment, living
/// documents, or what an interrupted save left.
pub(crate) fn is_disposable(name: &str) -> bool {
    let (name, is_unfinished) = match name.strip_suffix(".tmp") {
        Some(name) => (name, true),
        None => (name, false),
    };
    if let Some(number) = name.strip_prefix("segment-") {
        return is_number(number);
    }
    if let Some(numbers) = name.strip_prefix("live-") {
        let parts = numbers.split_once('-');
        return parts.is_some_and(|(id, generation)| is_number(id) && is_number(generation));
    }
    is_unfinished && matches!(name, "manifest-0" | "manifest-1")
}

/// Whether a name says that damage was found.
pub(crate) fn is_corrupt(name: &str) -> bool {
    name.ends_with(".corrupt")
}

fn is_number(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_disposable() {
        let segment = segment_name(SegmentId(0x1f));
        assert_eq!(segment, "segment-000000000000001f");
        let live = live_name(SegmentId(1), 2);
        for name in [&segment, &live] {
            assert!(is_disposable(name));
            assert!(is_disposable(&format!("{name}.tmp")));
            assert!(!is_disposable(&format!("{name}.corrupt")));
            assert!(!is_disposable(&format!("{name}x")));
        }
        assert!(is_disposable("manifest-1.tmp"));
        for name in
            ["manifest-0", "manifest-1", "manifest-2.tmp", "log-000001", "segment-1", "live-", ""]
        {
            assert!(!is_disposable(name), "{name}");
        }
    }
}
