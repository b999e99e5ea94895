//! What browsers and clients send to the authorization server: forms, uploads, cookies, redirect URIs,
//! scopes, tokens, wishes for a language. What is read and written again is equal, and what may be registered matches itself alone.
#![no_main]

use authz::oauth::{details, scope};
use authz::pages::language::Language;
use authz::token::text;
use libfuzzer_sys::fuzz_target;
use net::oauth::cookie;
use net::oauth::form::{self, Form};
use net::oauth::redirect::{self, Rules};
use net::oauth::{client_auth, multipart};

const OWN: &str = "https://store.example:9200";

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    // One more parameter is written than was read, and there is a bound.
    if let Ok(read) = Form::parse(bytes)
        && read.pairs().len() < 200
    {
        let mut out = String::from("x=1");
        for (name, value) in read.pairs() {
            let mut one = String::new();
            form::push(&mut one, '&', "", name);
            out.push('&');
            out.push_str(&one[2..]);
            let mut one = String::new();
            form::push(&mut one, '&', "", value);
            out.push_str(&one[1..]);
        }
        let again = Form::parse(out.as_bytes()).expect("what was read can be written");
        assert_eq!(&again.pairs()[1..], read.pairs());
    }
    if let Some(parts) = multipart::parse(bytes, "X") {
        assert!(parts.files.iter().all(|file| !file.bytes.is_empty()));
    }
    let Ok(line) = std::str::from_utf8(bytes) else { return };
    for native in [false, true] {
        let rules = Rules { native, plain_http: native, own_origin: OWN };
        if redirect::refusal(line, rules).is_none() {
            let parts = redirect::split(line).expect("what may be registered has parts");
            assert!(!line.contains(['#', '*', ' ', '\\']) && !parts.host.contains('@'));
            assert_ne!(redirect::origin(line), OWN);
            let known = [line.to_owned()];
            assert!(redirect::is_registered(&known, line, native));
            assert!(!redirect::is_registered(&known, &format!("{line}/x"), native));
        }
    }
    if let Ok(scopes) = scope::parse_list(line) {
        let shown = scope::list_text(&scopes);
        assert_eq!(scope::parse_list(&shown).as_ref(), Ok(&scopes));
        assert!(scope::holds_all(&scopes, &scopes));
    }
    if let Ok(entries) = details::parse(line, |one| one == OWN) {
        for entry in &entries {
            assert!(!details::scopes(entry).is_empty());
        }
        details::role(&entries);
    }
    if let Some(token) = text::read(line) {
        assert_eq!(text::write(token.kind, &token.body), line);
    }
    client_auth::basic(line);
    cookies(line);
    languages(line);
});

/// What is malformed, or no language of ours, changes nothing; whoever names one first gets it.
fn languages(line: &str) {
    let longer = format!("{line},fr,de;q=2,;q=,*;q=0");
    assert_eq!(Language::accepted(line), Language::accepted(&longer));
    for language in Language::ALL {
        let first = format!("{} {line}", language.tag());
        assert_eq!(Language::of_locales(&first), Some(language));
    }
}

/// A cookie that is found is sent back, and found again among others.
fn cookies(line: &str) {
    let head = |text: &str| {
        let text = format!("GET / HTTP/1.1\r\nhost: a\r\ncookie: {text}\r\n\r\n");
        http::Head::parse(text.as_bytes(), &http::Limits::default()).ok()
    };
    let Some(sent) = head(line) else { return };
    for name in [cookie::SESSION, cookie::ANCHOR] {
        let Some(value) = cookie::value(&sent, name) else { continue };
        assert!(line.contains(value) && !value.contains([';', '\r', '\n']));
        let set = cookie::set(name, value);
        let (pair, _) = set.split_once(';').expect("attributes follow");
        let again = head(&format!("a=b; {pair}; c=d")).expect("it was in a head");
        assert_eq!(cookie::value(&again, name), Some(value));
        let twice = head(&format!("{pair}; {pair}")).expect("it was in a head");
        assert_eq!(cookie::value(&twice, name), None, "two of a name are none");
    }
}
