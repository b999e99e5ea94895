//! Bodies in YAML, CBOR and Smile: refused, or JSON that our reader takes; and any JSON written in one
//! of them reads back as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use net::format::{Encoding, of_json, to_json};

fuzz_target!(|bytes: &[u8]| {
    for name in ["yaml", "cbor", "smile"] {
        let encoding = Encoding::of_name(name).expect("known");
        if let Ok(read) = to_json(encoding, bytes) {
            // A key may come twice in these encodings too; then the reader of JSON refuses it.
            if let Err(error) = json::parse(&read) {
                assert!(error.to_string().to_lowercase().contains("duplicate"), "{name}: {error}");
            }
        }
        if let Ok(value) = json::parse(bytes) {
            let plain = json::to_vec(&value);
            if let Some(written) = of_json(encoding, &plain)
                && let Ok(again) = to_json(encoding, &written)
                && name != "yaml"
            {
                assert_eq!(json::parse(&again).ok(), Some(value), "{name} and back");
            }
        }
    }
});
