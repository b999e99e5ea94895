//! Segments from foreign bytes: opened and verified, or refused; reading what opened never panics.
#![no_main]

use base::{DocId, SegmentId};
use env::Bytes;
use libfuzzer_sys::fuzz_target;
use segment::section::Check;
use segment::{BlockCache, Segment};

fuzz_target!(|bytes: &[u8]| {
    let Ok(segment) = Segment::open(SegmentId(1), Bytes::from(bytes.to_vec()), Check::Structure)
    else {
        return;
    };
    let mut cache = BlockCache::new(1 << 20);
    let fields: Vec<_> = segment.fields().map(|field| field.no()).collect();
    for field in fields {
        if let Some(terms) = segment.terms(field) {
            let _ = terms.find(b"a", &mut cache);
        }
    }
    let _ = segment.ids().find(b"1");
    for doc in 0..segment.doc_count().min(8) {
        let _ = segment.stored().map(|stored| stored.get(DocId(doc)));
    }
    let _ = segment.fault();
});
