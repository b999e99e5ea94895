//! `settings.analysis`, and texts through the analyzers that it makes: the first line is the settings,
//! the rest a text. Offsets stand inside the text, in order; the same text gives the same tokens.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mapping::analysis::{Analyzer, Registry};

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let cut = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (settings, text) = bytes.split_at(cut);
    let text = String::from_utf8_lossy(text);
    let Ok(settings) = json::parse(settings) else { return };
    let Ok(registry) = Registry::parse(&settings) else { return };
    let names = settings.get("analyzer").and_then(json::Value::as_object);
    for (name, _) in names.into_iter().flat_map(json::Object::iter) {
        let analyzer = registry.analyzer(name).expect("what is defined is there");
        let once = tokens(analyzer, &text);
        assert_eq!(once, tokens(analyzer, &text), "the same each time");
        for (_, start, end) in &once {
            assert!(start <= end, "{once:?}");
        }
    }
    let names = settings.get("normalizer").and_then(json::Value::as_object);
    for (name, _) in names.into_iter().flat_map(json::Object::iter) {
        let normalizer = registry.normalizer(name).expect("what is defined is there");
        let mut buffer = String::new();
        let once = normalizer.normal_term(&text, &mut buffer).to_owned();
        let mut buffer = String::new();
        assert_eq!(once, normalizer.normal_term(&text, &mut buffer));
    }
});

fn tokens(analyzer: &Analyzer, text: &str) -> Vec<(String, u32, u32)> {
    let mut found = Vec::new();
    analyzer.tokens(text, &mut |token| {
        found.push((token.term.to_owned(), token.start, token.end));
    });
    found
}
