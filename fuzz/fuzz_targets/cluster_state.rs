//! The cluster's own bytes and what administrators send: commands, states, snapshots, live files;
//! settings, templates, aliases. What is read and written again is equal; applying ends in a state
//! that can be written.
#![no_main]

use base::{SegmentId, ShardId};
use cluster::template::{ComponentTemplate, IndexTemplate, LegacyTemplate};
use cluster::{Alias, ClusterSettings, IndexSettings, Rules, State};
use consensus::{State as _, snapshot};
use libfuzzer_sys::fuzz_target;

const FORMAT: u32 = 1;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    if let Ok(command) = State::decode_command(FORMAT, bytes) {
        let mut out = Vec::new();
        State::encode_command(&command, &mut out);
        let again = State::decode_command(FORMAT, &out).expect("what was written can be read");
        let mut twice = Vec::new();
        State::encode_command(&again, &mut twice);
        assert_eq!(out, twice, "written, read, equal");
        let (state, _) = State::default().apply(&command);
        written(&state);
        let (state, _) = state.apply(&command);
        written(&state);
    }
    if let Ok(state) = State::decode(FORMAT, bytes) {
        written(&state);
    }
    let id = ShardId { index: [7; 16], number: 0 };
    if let Ok((head, value)) = snapshot::read(bytes, id) {
        assert_eq!(snapshot::write(&head, |form| form.extend_from_slice(value)), bytes, "written, read, equal");
    }
    let count = u32::from(bytes.first().copied().unwrap_or(0)) * 3;
    let _ = segment::Live::decode(bytes, SegmentId(1), count);
    let Ok(value) = json::parse(bytes) else { return };
    if let Ok(settings) = IndexSettings::parse(&value) {
        let flat = settings.to_flat();
        assert_eq!(IndexSettings::from_flat(&flat).to_flat(), flat, "shown, read, shown");
        let _ = settings.for_mapping();
        for rules in [Rules::Before, Rules::Former, Rules::Now] {
            let _ = settings.update(&value, false, (true, rules), "x");
        }
    }
    for rules in [Rules::Before, Rules::Former, Rules::Now] {
        let _ = ClusterSettings::default().update_by(rules, &value, &value);
        let _ = IndexSettings::parse_by(rules, &value);
    }
    if let Ok(alias) = Alias::parse("a", &value) {
        assert_eq!(Alias::from_json(&alias.to_json()).to_json(), alias.to_json());
    }
    if let Ok(template) = IndexTemplate::parse(&value) {
        let shown = template.to_json();
        let again = IndexTemplate::parse(&shown).expect("what is shown is a template");
        assert_eq!(again.to_json(), shown);
    }
    if let Ok(template) = ComponentTemplate::parse(&value) {
        let shown = template.to_json();
        let again = ComponentTemplate::parse(&shown).expect("what is shown is a template");
        assert_eq!(again.to_json(), shown);
    }
    let _ = LegacyTemplate::parse(&value);
});

fn written(state: &State) {
    let mut out = Vec::new();
    state.encode(&mut out);
    let again = State::decode(FORMAT, &out).expect("what was written can be read");
    let mut twice = Vec::new();
    again.encode(&mut twice);
    assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&twice));
}
