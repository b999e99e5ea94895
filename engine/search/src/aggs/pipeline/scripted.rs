//! Scripts over numbers of buckets: `bucket_script`, `bucket_selector`, `moving_fn`.

use std::sync::Arc;

use json::Value as Json;
use script::types::Type;
use script::{Context, Fault, Machine, NoHost, Object, Program, Run, Value};

use crate::ast::Script;
use crate::error::{Error, Result};
use crate::scripted::HEAP_BYTES;

/// Operations of one bucket at most.
const STEPS_MAX: i64 = 20_000_000;

/// Operations of all buckets of one pipeline at most, of which reading a value of a window is one: some ten seconds.
const STEPS_OF_ALL_MAX: i64 = 1 << 30;

/// A script being run for one bucket after the other.
pub struct Running {
    program: Arc<Program>,
    params: Arc<Json>,
    machine: Machine,
    left: i64,
}

impl Running {
    /// A script of a context.
    ///
    /// # Errors
    /// It is none.
    pub fn new(script: &Script, context: &'static Context) -> Result<Self> {
        let (program, params) = (script.program(context)?, Arc::clone(&script.params));
        let mut machine = Machine::new();
        machine.heap.limit(HEAP_BYTES);
        Ok(Self { program, params, machine, left: STEPS_OF_ALL_MAX })
    }

    /// What it makes of numbers by name; `None` of `null`.
    ///
    /// # Errors
    /// It fails.
    pub fn number(&mut self, numbers: &[(&str, f64)]) -> Result<Option<f64>> {
        Ok(match self.run(numbers, None)? {
            Value::Null => None,
            value => Some(script::arith::double(value)),
        })
    }

    /// Does it say yes?
    ///
    /// # Errors
    /// It fails.
    pub fn says(&mut self, numbers: &[(&str, f64)]) -> Result<bool> {
        Ok(matches!(self.run(numbers, None)?, Value::Bool(true)))
    }

    /// What it makes of a window.
    ///
    /// # Errors
    /// It fails.
    pub fn window(&mut self, values: &[f64]) -> Result<f64> {
        self.run(&[], Some(values)).map(script::arith::double)
    }

    fn run(&mut self, numbers: &[(&str, f64)], window: Option<&[f64]>) -> Result<Value> {
        let run = self.run_plain(numbers, window);
        run.map_err(|fault| {
            let (source, statements) = (&self.program.source, &self.program.statements);
            Error::script(script::Error::runtime(source, statements, fault))
        })
    }

    fn run_plain(
        &mut self,
        numbers: &[(&str, f64)],
        window: Option<&[f64]>,
    ) -> std::result::Result<Value, Fault> {
        let machine = &mut self.machine;
        machine.heap.reset();
        let params = mapping::script::value_of(&mut machine.heap, &self.params)?;
        if let Value::Object(map) = params {
            for (name, number) in numbers {
                machine.heap.insert(map, name, Value::Double(*number))?;
            }
        }
        match window {
            None => machine.start(&self.program, &[params]),
            Some(values) => {
                let values = values.iter().map(|value| Value::Double(*value)).collect();
                let values = machine.heap.object(Object::Array(Type::Double, values))?;
                machine.start(&self.program, &[params, values]);
            }
        }
        self.left -= window.map_or(0, |window| window.len() as i64);
        let most = STEPS_MAX.min(self.left.max(0));
        let mut left = most;
        let run = machine.resume(&self.program, &mut NoHost, &mut left)?;
        self.left -= most - left;
        match run {
            Run::Done(value) => Ok(value),
            Run::Paused => Err(Fault::limit("painless_error", "the script takes too many steps")),
        }
    }
}
