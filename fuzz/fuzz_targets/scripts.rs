//! Scripts and templates. The first line says what the rest is: `t` and parameters as JSON make a
//! template, anything else a script. What compiles runs to an end within its fuel; run in many
//! pieces it gives what it gives in one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use script::{Context, Heap, Machine, NoHost, Run, Value};

/// Operations of one run: enough to get everywhere, few enough to be fast.
const FUEL: i64 = 20_000;

/// What a template may become, threefold.
const MEMORY_BYTES: usize = 256 << 20;

fn run(program: &script::Program, piece: i64) -> Option<String> {
    let mut machine = Machine::new();
    let params = json::json!({"a": 1, "b": ["x", 2.5], "c": {"d": null}});
    let params = mapping::script::value_of(&mut machine.heap, &params).expect("small");
    machine.start(program, &[params]);
    let mut left = FUEL;
    while left > 0 {
        let mut fuel = piece.min(left);
        left -= piece;
        match machine.resume(program, &mut NoHost, &mut fuel) {
            Ok(Run::Paused) => {}
            Ok(Run::Done(value)) => return Some(shown(&mut machine.heap, value)),
            Err(fault) => return Some(format!("{}: {:?}", fault.kind, fault.message)),
        }
    }
    None
}

fn shown(heap: &mut Heap, value: Value) -> String {
    let _ = mapping::script::json_of(heap, value);
    script::show::text(heap, value).unwrap_or_else(|fault| fault.kind.into_owned())
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let (head, body) = input.split_once('\n').unwrap_or(("", input));
    if let Some(params) = head.strip_prefix('t') {
        let params = json::parse(params.as_bytes()).unwrap_or_default();
        let lease = env::budget::Budget::new(MEMORY_BYTES).lease();
        let fill = || engine::ops::mustache::render(body, &params, &lease).ok();
        assert_eq!(fill(), fill(), "the same each time");
        return;
    }
    match script::compile(body, &Context::TEST) {
        Ok(program) => {
            let (whole, pieces) = (run(&program, FUEL), run(&program, 7));
            if let (Some(whole), Some(pieces)) = (whole, pieces) {
                assert_eq!(whole, pieces, "the same in one piece and in many");
            }
        }
        Err(error) => assert_eq!(error.stack.len(), 2, "a piece of source, and an arrow"),
    }
});
