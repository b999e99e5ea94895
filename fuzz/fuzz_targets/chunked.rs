//! Chunked bodies: fed whole or byte by byte, the same body or the same refusal.
#![no_main]

use http::{Body, Framing, Limits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let limits = Limits::default();
    let mut whole = Body::new(Framing::Chunked, &limits).expect("no length to refuse");
    let mut split = Body::new(Framing::Chunked, &limits).expect("no length to refuse");
    let taken = whole.feed(bytes);
    let mut used = 0;
    let mut refused = false;
    for at in 0..bytes.len() {
        if split.is_done() {
            break;
        }
        match split.feed(&bytes[at..=at]) {
            Ok(one) => used += one,
            Err(_) => {
                refused = true;
                break;
            }
        }
    }
    match taken {
        Err(_) => assert!(refused, "refused whole, so refused in pieces"),
        Ok(taken) => {
            assert!(!refused, "taken whole, so taken in pieces");
            assert_eq!(whole.is_done(), split.is_done());
            if whole.is_done() {
                assert_eq!(taken, used, "the body ends at the same byte");
            }
            assert_eq!(whole.into_bytes(), split.into_bytes());
        }
    }
});
