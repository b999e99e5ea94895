//! The operator's settings: a file in YAML, variables, options, and the values that they may have. What
//! a file sets, nested or not, is set again by a flat file of quoted texts.
#![no_main]

#[path = "../../tools/src/failure.rs"]
#[allow(dead_code)]
mod failure;
#[path = "../../tools/src/config/source.rs"]
#[allow(dead_code)]
mod source;
#[path = "../../tools/src/config/value.rs"]
#[allow(dead_code)]
mod value;

use std::fmt::Write as _;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use source::Given;

/// YAML 1.2, section 7.4.2.
const NAME_MAX: usize = 1_024;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let path = Path::new("corelode.yml");
    match source::yaml(text, path) {
        Ok(settings) => {
            // A longer name is none that YAML lets stand before a colon.
            if settings.iter().any(|given| quoted(&given.name).len() > NAME_MAX) {
                return;
            }
            let mut flat = String::new();
            for Given { name, value, .. } in &settings {
                flat.push_str(&format!("{}: {}\n", quoted(name), quoted(value)));
            }
            let again = source::yaml(&flat, path).unwrap_or_else(|why| panic!("{why}: {flat}"));
            assert_eq!(pairs(&again), pairs(&settings));
        }
        Err(why) => assert!(why.sentence.contains("corelode.yml, line "), "{why}"),
    }
    if let Ok(given) = source::option(text) {
        assert!(text.contains(&given.name) && text.ends_with(&given.value));
    }
    let variable = (format!("CORELODE_{text}"), text.to_owned());
    for given in source::environment([variable].into_iter()) {
        assert_eq!(given.value, text);
    }
    if let Ok(bytes) = value::memory(text, 8 << 30) {
        assert_eq!(value::memory(&format!("{bytes}b"), 8 << 30), Ok(bytes), "{text}");
    }
    if let Ok(ports) = value::Ports::parse(text) {
        assert!(!ports.0.is_empty());
    }
    if let Ok(flag) = value::flag(text) {
        assert_eq!(flag.to_string(), text);
    }
    if let Ok(number) = value::whole(text, 1..=1024) {
        assert!((1..=1024).contains(&number));
    }
});

fn pairs(settings: &[Given]) -> Vec<(&str, &str)> {
    settings.iter().map(|given| (given.name.as_str(), given.value.as_str())).collect()
}

/// A text as YAML reads it whatever is in it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else {
            write!(out, "\\U{:08x}", u32::from(c)).expect("a string takes any text");
        }
    }
    out.push('"');
    out
}
