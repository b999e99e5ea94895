//! A script that changes one document: `ctx` before and after.
//!
//! The core does other work while a long script runs: it yields every [`FUEL`] operations.

use std::sync::Arc;

use env::{Env, Spawn};
use json::{Object, Value};
use mapping::script::{json_of, value_of};
use script::{Error, Fault, Machine, NoHost, Program, Run};

/// Operations of a script between two looks at the clock: some hundred microseconds at most.
const FUEL: i64 = 8_000;

/// What a script left in `ctx`.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// What is to be done: `index`, `none`, `delete`…
    pub op: String,
    /// The document.
    pub source: Value,
    /// The rest of `ctx`.
    pub meta: Object,
}

/// Runs a script on a document; `ctx` is `meta` with `_source` and `op` in it.
///
/// # Errors
/// The script failed, or left something that is no document.
pub async fn run<E: Env>(
    env: &E,
    program: &Arc<Program>,
    params: &Value,
    meta: Object,
    op: &str,
    source: Value,
) -> Result<Left, Error> {
    let failed = |fault: Fault| Error::runtime(&program.source, &program.statements, fault);
    let mut machine = Machine::new();
    let mut ctx = meta;
    ctx.insert("op", op);
    ctx.insert("_source", source);
    let params = value_of(&mut machine.heap, params).map_err(failed)?;
    let ctx = value_of(&mut machine.heap, &Value::Object(ctx)).map_err(failed)?;
    machine.start(program, &[params, ctx]);
    loop {
        let mut fuel = FUEL;
        match machine.resume(program, &mut NoHost, &mut fuel).map_err(failed)? {
            Run::Done(_) => break,
            Run::Paused => env.spawn().yield_if_needed().await,
        }
    }
    let Value::Object(mut meta) = json_of(&machine.heap, ctx).map_err(failed)? else {
        return Err(failed(Fault::illegal("ctx is no map")));
    };
    let op = match meta.remove("op") {
        Some(Value::String(op)) => op,
        None | Some(Value::Null) => String::new(),
        Some(other) => {
            return Err(failed(Fault::illegal(format!(
                "Operation type [{}] not allowed",
                json::to_string(&other)
            ))));
        }
    };
    let source = meta.remove("_source").unwrap_or_default();
    if !matches!(source, Value::Object(_)) {
        return Err(failed(Fault::illegal("_source must be a map")));
    }
    Ok(Left { op, source, meta })
}
