//! Logos from foreign bytes: refused, or whole with nothing behind them.
//!
//! After a first byte of 0 stands a file. A PNG's checksums would refuse nearly all that a fuzzer makes of it, so
//! after another first byte chunks follow, around which a file with right ones is made: a byte for the kind, two for
//! the length, what is in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use net::oauth::picture::{is_whole, look};

/// As `profile::logo` bounds it before it looks further.
const SIDE_MAX: u32 = 1024;

const KINDS: [&[u8; 4]; 6] = [b"IHDR", b"PLTE", b"tRNS", b"tEXt", b"IDAT", b"IEND"];

fuzz_target!(init: base::hash::fix_seed(), |input: &[u8]| {
    let bytes = match input.split_first() {
        None | Some((0, _)) => input.get(1..).unwrap_or_default().to_vec(),
        Some((_, chunks)) => png(chunks),
    };
    if !is_good(&bytes) {
        return;
    }
    assert!(is_good(&bytes), "the same is the same again");
    for behind in [&b"\0"[..], b"<script>", &bytes] {
        assert!(!is_good(&[&bytes[..], behind].concat()), "something stands behind it");
    }
    assert!(!is_good(&bytes[..bytes.len() - 1]), "its last byte is missing");
});

/// Would it be taken as a logo?
fn is_good(bytes: &[u8]) -> bool {
    let fits = |side| (1..=SIDE_MAX).contains(&side);
    look(bytes).is_some_and(|it| fits(it.width) && fits(it.height) && is_whole(bytes, &it))
}

/// A file of these chunks with right checksums.
fn png(mut chunks: &[u8]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    while let Some((&[kind, low, high], rest)) = chunks.split_first_chunk::<3>() {
        let len = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (data, rest) = rest.split_at(len);
        let checked = [&KINDS[usize::from(kind) % KINDS.len()][..], data].concat();
        // At most 65,535.
        out.extend_from_slice(&(len as u32).to_be_bytes());
        out.extend_from_slice(&checked);
        out.extend_from_slice(&base::checksum::checksum(&checked).to_be_bytes());
        chunks = rest;
    }
    out
}
