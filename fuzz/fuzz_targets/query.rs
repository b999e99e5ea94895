//! Search bodies and queries: read or refused in bounded time, the same each time.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let once = search::dsl::parse_search(bytes, &[]);
    let again = search::dsl::parse_search(bytes, &[]);
    assert_eq!(format!("{once:?}"), format!("{again:?}"));
    if let Err(error) = once {
        assert!(!error.reason.is_empty(), "a refusal says why");
    }
    if let (Ok(query), Ok(value)) = (search::dsl::parse_query(bytes), json::parse(bytes)) {
        let of_value = search::dsl::parse_query_value(&value);
        assert_eq!(of_value.as_ref(), Ok(&query), "text and tree mean the same");
    }
});
