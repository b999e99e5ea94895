//! Bodies in YAML, CBOR and Smile: refused, or JSON that our reader takes; and JSON written in one of
//! them and read back stays what it became.
#![no_main]

use libfuzzer_sys::fuzz_target;
use net::format::{Encoding, of_json, to_json};

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    for name in ["yaml", "cbor", "smile"] {
        let encoding = Encoding::of_name(name).expect("known");
        if let Ok(read) = to_json(encoding, bytes) {
            // A key may come twice in these encodings too; then the reader of JSON refuses it.
            if let Err(error) = json::parse(&read) {
                assert!(error.to_string().to_lowercase().contains("duplicate"), "{name}: {error}");
            }
        }
        // What no number of the encoding holds changes once, and never again.
        if json::parse(bytes).is_ok()
            && name != "yaml"
            && let Some(once) = there_and_back(encoding, bytes)
            && let Some(twice) = there_and_back(encoding, &once)
        {
            assert_eq!(once, twice, "{name} and back");
        }
    }
});

/// JSON, written in an encoding and read back.
fn there_and_back(encoding: Encoding, json: &[u8]) -> Option<Vec<u8>> {
    to_json(encoding, &of_json(encoding, json)?).ok()
}
