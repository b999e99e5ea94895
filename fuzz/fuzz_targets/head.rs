//! Request heads: whatever is taken means the same however the bytes were split, and has one length.
#![no_main]

use http::head::{Finder, Framing, Head};
use http::{Body, Limits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let limits = Limits::default();
    let whole = Finder::default().find(bytes, &limits);
    // Byte by byte: the same end, or the same refusal.
    let mut finder = Finder::default();
    let mut split = Ok(None);
    for end in 0..=bytes.len() {
        split = finder.find(&bytes[..end], &limits);
        if !matches!(split, Ok(None)) {
            break;
        }
    }
    assert_eq!(format!("{whole:?}"), format!("{split:?}"), "splitting changes nothing");
    let Ok(Some(end)) = whole else { return };
    let Ok(head) = Head::parse(&bytes[..end], &limits) else { return };
    let lengths = head.all("content-length").count();
    let codings = head.all("transfer-encoding").count();
    assert!(lengths == 0 || codings == 0, "one way to know the length");
    assert!(lengths <= 1 && codings <= 1, "said once");
    if let Framing::Length(length) = head.framing()
        && length < 1 << 20
        && let Ok(mut body) = Body::new(head.framing(), &limits)
    {
        let rest = &bytes[end..];
        let used = body.feed(rest).expect("a counted body cannot be wrong");
        assert!(used <= rest.len());
        assert_eq!(body.is_done(), rest.len() as u64 >= length);
    }
});
