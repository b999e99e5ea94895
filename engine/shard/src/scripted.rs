//! A script that changes one document: `ctx` before and after.
//!
//! The core does other work while a long script runs: it yields every [`FUEL`] operations.
//!
//! Memory is taken before a run: little at first, and where that does not do, more for another run
//! from the beginning. A script sees nothing but its `ctx`, so both are alike.

use std::sync::Arc;

use env::budget::Lease;
use env::{Env, Spawn};
use json::{Object, Value};
use mapping::script::{json_of, value_of};
use script::limits::HEAP_BYTES_MAX;
use script::{Error, Fault, Machine, NoHost, Program, Run};

/// Operations of a script between two looks at the clock: some hundred microseconds at most.
const FUEL: i64 = 8_000;
/// What the heap of a first run may take.
const HEAP_BYTES: usize = 1 << 20;
/// How many times as much the next run may take.
const HEAP_STEP: usize = 8;
/// A heap, the room in which its text grows, what the script left as JSON, and that as text.
const COPIES: usize = 4;

/// What a script may put into its `ctx` beside what was there: Elasticsearch takes nothing else.
const CONTEXT: [&str; 5] = ["_id", "_index", "_now", "_routing", "_version"];

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

/// Why a script changed nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Failed {
    /// It failed, or left something that is no document.
    Script(Box<Error>),
    /// There is no memory for it now.
    Memory {
        /// Bytes that were asked for.
        needed_bytes: usize,
    },
}

/// Runs a script on a document; `ctx` is `meta` with `_source` and `op` in it. Its memory is of `lease`.
///
/// # Errors
/// The script failed, left something that is no document, or found no memory.
pub async fn run<E: Env>(
    (env, lease): (&E, &Lease),
    program: &Arc<Program>,
    params: &Value,
    meta: Object,
    op: &str,
    source: Value,
) -> Result<Left, Failed> {
    let mut ctx = meta;
    ctx.insert("op", op);
    ctx.insert("_source", source);
    let ctx = Value::Object(ctx);
    let mut heap_bytes = HEAP_BYTES;
    loop {
        let needed_bytes = COPIES * heap_bytes;
        let Some(_taken) = lease.take(needed_bytes) else {
            return Err(Failed::Memory { needed_bytes });
        };
        let mut machine = Machine::new();
        machine.heap.limit(heap_bytes);
        let left = attempt(env, &mut machine, program, params, &ctx).await;
        if !machine.heap.is_short() || heap_bytes >= HEAP_BYTES_MAX {
            return left.map_err(|fault| {
                let error = Error::runtime(&program.source, &program.statements, fault);
                Failed::Script(Box::new(error))
            });
        }
        heap_bytes = HEAP_BYTES_MAX.min(heap_bytes * HEAP_STEP);
    }
}

/// One run.
async fn attempt<E: Env>(
    env: &E,
    machine: &mut Machine,
    program: &Arc<Program>,
    params: &Value,
    ctx: &Value,
) -> Result<Left, Fault> {
    let params = value_of(&mut machine.heap, params)?;
    let given = ctx.as_object();
    let ctx = value_of(&mut machine.heap, ctx)?;
    machine.start(program, &[params, ctx]);
    loop {
        let mut fuel = FUEL;
        match machine.resume(program, &mut NoHost, &mut fuel)? {
            Run::Done(_) => break,
            Run::Paused => env.spawn().yield_if_needed().await,
        }
    }
    let Value::Object(mut meta) = json_of(&mut machine.heap, ctx)? else {
        return Err(Fault::illegal("ctx is no map"));
    };
    let op = match meta.remove("op") {
        Some(Value::String(op)) => op,
        None | Some(Value::Null) => String::new(),
        Some(other) => {
            let op = json::to_string(&other);
            return Err(Fault::illegal(format!("Operation type [{op}] not allowed")));
        }
    };
    let source = meta.remove("_source").unwrap_or_default();
    if !matches!(source, Value::Object(_)) {
        return Err(Fault::illegal("_source must be a map"));
    }
    let is_known =
        |key: &str| CONTEXT.contains(&key) || given.is_some_and(|given| given.get(key).is_some());
    if let Some((key, value)) = meta.iter().find(|(key, _)| !is_known(key)) {
        let value = value_of(&mut machine.heap, value)?;
        let shown = script::show::text(&mut machine.heap, value)?;
        return Err(Fault::illegal(format!(
            "Cannot put key [{key}] with value [{shown}] into ctx"
        )));
    }
    Ok(Left { op, source, meta })
}
