//! Packed bodies: refused, or within the bound that was set; the room that is asked for is never less
//! than what comes out. What is packed unpacks to what it was.
#![no_main]

use http::coding::{Coding, decode, decode_within, gzip};
use libfuzzer_sys::fuzz_target;

const BYTES_MAX: usize = 256 << 10;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    for coding in [Coding::Identity, Coding::Gzip, Coding::Deflate] {
        let mut asked = 0;
        let mut room = |wanted: usize| {
            asked = asked.max(wanted);
            true
        };
        let Ok(whole) = decode_within(coding, bytes, BYTES_MAX, &mut room) else { continue };
        assert!(whole.len() <= BYTES_MAX, "{coding:?}");
        assert!(whole.len() <= asked, "{coding:?}: {} bytes, {asked} asked for", whole.len());
        assert_eq!(decode(coding, bytes, whole.len()).as_ref(), Ok(&whole), "as much as there is");
        if let Some(less) = whole.len().checked_sub(1) {
            assert!(
                decode(coding, bytes, less).is_err(),
                "{coding:?}: one byte more than the bound"
            );
        }
        assert!(decode_within(coding, bytes, BYTES_MAX, &mut |_| false).is_err(), "no room");
    }
    let packed = gzip(bytes);
    assert_eq!(decode(Coding::Gzip, &packed, bytes.len()).as_deref(), Ok(bytes));
});
