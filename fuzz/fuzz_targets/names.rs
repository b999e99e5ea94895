//! What stands in addresses and headers: targets and their parameters, index expressions with date
//! math, paths of `filter_path` and `_source`, media types, ids of scrolls, networks of proxies.
#![no_main]

use std::pin::pin;
use std::task::{Context, Waker};

use engine::index::{date_math, resolve};
use engine::ops::context::{ContextId, ContextKind};
use http::Target;
use json::path::Filter;
use libfuzzer_sys::fuzz_target;
use net::params::Params;

const NOW_MS: i64 = 1_700_000_000_000;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let target = Target::new(bytes);
    let params = Params::parse(&target);
    if let Ok(params) = &params {
        let _ = net::render::cat::Wish::read(params);
        let _ = params.indices_options(engine::ops::IndicesOptions::default());
    }
    // What is refused is refused by all who look, whatever they ask for.
    assert_eq!(Params::parse(&target).is_ok(), params.is_ok());
    for segment in target.segments() {
        let _ = http::target::decode(segment, http::target::Plus::Plus);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(name) = date_math::resolve(text, NOW_MS) {
        assert_eq!(date_math::resolve(text, NOW_MS).expect("again"), name);
        let _ = cluster::name::check_index(&name);
    }
    let state = cluster::State::default();
    let call = resolve::Call::new(engine::ops::IndicesOptions::default());
    // Nothing waits where a pause does not.
    let resolved = resolve::resolve(&state, text, call, NOW_MS, |_: &str| true, &async || {});
    let is_ready = pin!(resolved).poll(&mut Context::from_waker(Waker::noop())).is_ready();
    assert!(is_ready, "it waits");
    let _ = net::media::check_body(Some(text));
    let _ = net::media::wanted(Some(text), Some(text));
    let _ = net::media::wanted(None, Some(text));
    for kind in [ContextKind::Scroll, ContextKind::PointInTime] {
        if let Some(id) = ContextId::parse(text, kind) {
            assert_eq!(id.text(), text, "an id reads back");
        }
    }
    proxies(text);
    if let Ok(preference) = engine::index::preference::Preference::parse(text, |name| Ok(name == "n")) {
        let taken = preference.takes("a", 7);
        assert!(text.starts_with('_') || taken == Ok(true), "it leaves nothing out");
    }
    let (paths, json) = text.split_once('\n').unwrap_or((text, "{\"a\":{\"b\":[1,{\"c\":2}]}}"));
    if json::parse(json.as_bytes()).is_ok() {
        let paths: Vec<&str> = paths.split(',').collect();
        let filter = Filter::response(&paths);
        let mut out = Vec::new();
        if filter.apply(json.as_bytes(), &mut out).is_ok() && !out.is_empty() {
            assert!(json::parse(&out).is_ok(), "a part of JSON is JSON");
            let mut again = Vec::new();
            filter.apply(&out, &mut again).expect("what was filtered can be");
            assert_eq!(again, out, "filtered twice, the same");
        }
        let owned: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        if let Ok(kept) = json::path::filter_source(json.as_bytes(), &[], &owned) {
            assert!(json::parse(&kept).is_ok(), "the rest of JSON is JSON");
        }
    }
});

/// Networks of proxies, and who they say asks: an address, or nobody else than who does.
fn proxies(text: &str) {
    use net::oauth::proxy::Proxies;
    let _ = Proxies::parse(text);
    let head = format!("GET / HTTP/1.1\r\nhost: a\r\nx-forwarded-for: {text}\r\n\r\n");
    let Ok(head) = http::Head::parse(head.as_bytes(), &http::Limits::default()) else { return };
    for trusted in ["", "10.0.0.0/8,fd00::/8", "0.0.0.0/0,::/0"] {
        let told = Proxies::parse(trusted).expect("a list").client(&head, "10.1.1.1:1");
        if let Some(told) = told {
            assert!(!trusted.is_empty() && told.parse::<std::net::SocketAddr>().is_ok(), "{told}");
        }
    }
}
