//! Bulk bodies: whatever is taken, its documents are lines of the body, in order, untouched but for the byte order
//! mark that a line may begin with.
#![no_main]

use env::Bytes;
use libfuzzer_sys::fuzz_target;
use net::rest::bulk::{Defaults, Item, split};

/// U+FEFF.
const MARK: &[u8] = b"\xef\xbb\xbf";

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let defaults = Defaults { index: "i".to_owned(), ..Defaults::default() };
    let Ok(items) = split(&Bytes::from(bytes.to_vec()), &defaults) else { return };
    assert_eq!(bytes.last(), Some(&b'\n'), "the body ends with a line feed");
    let mut lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    for item in &items {
        let (Item::Write(item) | Item::Refused(item, _)) = item;
        if !item.source.is_empty() {
            let is_it = |line: &[u8]| *line == *item.source || line.strip_prefix(MARK) == Some(&*item.source);
            let found = lines.any(is_it);
            assert!(found, "a document is a line of the body, after those before it");
        }
        // An empty name is one that was given as such; each item is told of its own.
        assert!(!item.index.is_empty() || bytes.windows(2).any(|pair| pair == b"\"\""));
    }
    // The same lines with another end say the same.
    let mut crlf = Vec::with_capacity(bytes.len() * 2);
    if !bytes.contains(&b'\r') {
        for byte in bytes {
            if *byte == b'\n' {
                crlf.push(b'\r');
            }
            crlf.push(*byte);
        }
        let again = split(&Bytes::from(crlf), &defaults).expect("taken before");
        assert_eq!(again.len(), items.len());
    }
});
