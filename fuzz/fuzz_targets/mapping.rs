//! Mappings and documents: the first half of the input is a mapping, the rest a document. What is
//! taken shows itself, reads again, and merging it into itself changes nothing; what is kept of the
//! document is JSON.
#![no_main]

use std::sync::Arc;

use env::Bytes;
use libfuzzer_sys::fuzz_target;
use mapping::document::kept::{self, Kept};
use mapping::document::{Arena, Mode, Parsed, Parser};
use mapping::{Mapping, Settings};

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let cut = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (definition, document) = bytes.split_at(cut);
    let settings = Arc::new(Settings::default());
    let read = json::parse(definition).ok().and_then(|value| {
        value.as_object()?;
        Mapping::parse(&value, Arc::clone(&settings)).ok()
    });
    let mut mapping = read.unwrap_or_else(|| Mapping::empty(Arc::clone(&settings)));
    let shown = mapping.to_json();
    let again = Mapping::parse(&shown, Arc::clone(&settings)).expect("what is shown is a mapping");
    assert_eq!(again.to_json(), shown, "shown, read, shown");
    let same = mapping.merge(&shown).expect("a mapping agrees with itself");
    assert_eq!(same.to_json(), shown, "merging it into itself changes nothing");
    let state = mapping.to_state_json();
    let restored = Mapping::from_state_json(&state, settings).expect("a state reads back");
    assert_eq!(restored.to_state_json(), state);

    // What stands in a segment: in two parts, or one.
    if let Some((source, stored)) = kept::split(bytes) {
        assert!(source.start <= source.end && source.end == stored.start);
        assert_eq!(stored.end, bytes.len());
    }
    let document = document.strip_prefix(b"\n").unwrap_or(document);
    let mut parser = Parser::new();
    let mut arena = Arena::new();
    for round in 0.. {
        // Objects that say something of themselves come before what lies in them.
        let rounds_max = mapping.settings().limits.depth + 8;
        assert!(round < rounds_max, "new fields suffice after a few rounds");
        match parser.parse(&mapping, "1", document, Mode::Strict, &mut arena) {
            Ok(Parsed::Ready(doc)) => {
                assert!(arena.entries(doc).count() < 1 << 20);
                // What was acknowledged once is never refused at replay.
                let mut replayed = Arena::new();
                parser
                    .parse(&mapping, "1", document, Mode::Replay, &mut replayed)
                    .expect("replay takes what was acknowledged");
                let text = mapping.kept_source(Bytes::from(document.to_vec()));
                let Kept { source, stored } = Kept::of(&text);
                for part in [source, stored] {
                    assert!(part.is_empty() || json::parse(part).is_ok(), "what is kept reads");
                }
                break;
            }
            Ok(Parsed::NeedsMapping(delta)) => match mapping.apply_delta(&delta) {
                Ok(grown) => mapping = grown,
                Err(_) => break,
            },
            Err(_) => break,
        }
    }
});
