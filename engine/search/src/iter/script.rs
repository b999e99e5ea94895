//! Scripts that choose documents or score them.

use script::{Fault, Heap, Value};

use super::adjusted::Adjust;
use super::function::Trouble;
use super::{Bits, Filter, NO_MATCH, Turn, bits};
use crate::error::Error;
use crate::scripted::Runner;

/// A script costs as much as so many columns: all else is looked at before.
const COST: u64 = 1024;

/// True or false.
pub fn flag(_: &mut Heap, value: Value) -> Result<bool, Fault> {
    Ok(matches!(value, Value::Bool(true)))
}

/// A number.
pub fn double(_: &mut Heap, value: Value) -> Result<f64, Fault> {
    Ok(script::arith::double(value))
}

/// A whole number.
pub fn long(_: &mut Heap, value: Value) -> Result<i64, Fault> {
    Ok(script::arith::long(value))
}

/// Documents for which a script says yes.
pub struct Chosen {
    runner: Runner<bool>,
    trouble: Trouble,
    doc_count: u32,
    docs: Vec<u32>,
}

impl Chosen {
    /// A script over a segment of `doc_count`.
    pub fn new(runner: Runner<bool>, trouble: Trouble, doc_count: u32) -> Self {
        Self { runner, trouble, doc_count, docs: Vec::new() }
    }

    fn run(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        // Its shard has failed already.
        if self.trouble.get().is_some() {
            return true;
        }
        if !self.runner.prepare(docs, &[], turn) {
            return false;
        }
        let failed = self.runner.results().iter().flatten().find_map(|it| it.as_ref().err());
        if let Some(error) = failed {
            let _ = self.trouble.set(error.clone());
        }
        true
    }
}

impl Filter for Chosen {
    fn cost(&self) -> u64 {
        u64::from(self.doc_count) * COST
    }

    fn next(&mut self, from: u32) -> u32 {
        if from < self.doc_count { from } else { super::END }
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        let mut docs = std::mem::take(&mut self.docs);
        docs.clear();
        docs.extend(super::term::window_range(window, self.doc_count));
        let ready = self.run(&docs, turn);
        self.docs = docs;
        ready
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        for (doc, result) in self.runner.docs().iter().zip(self.runner.results()) {
            if let (Some(Ok(true)), true) = (result, super::window_of(*doc) == window) {
                bits::set(bits, doc - window * super::WINDOW);
            }
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.run(docs, turn)
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        matches[..docs.len()].fill(false);
        if self.runner.docs() != docs {
            return;
        }
        for (matches, result) in matches.iter_mut().zip(self.runner.results()) {
            *matches = matches!(result, Some(Ok(true)));
        }
    }
}

/// `script_score`.
pub struct ScriptScore {
    /// The script.
    pub runner: Runner<f64>,
    /// Documents below do not match.
    pub min_score: Option<f32>,
    /// Factor of the score.
    pub boost: f32,
    /// Where faults are told.
    pub trouble: Trouble,
}

impl Adjust for ScriptScore {
    fn prepare(&mut self, docs: &[u32], scores: &[f32], turn: &mut Turn<'_>) -> bool {
        self.trouble.get().is_some() || self.runner.prepare(docs, scores, turn)
    }

    fn adjust(&mut self, docs: &[u32], scores: &mut [f32]) {
        for (doc, slot) in docs.iter().zip(scores) {
            let score = match self.runner.result(*doc) {
                None => 0.0,
                Some(Err(error)) => {
                    let _ = self.trouble.set(error.clone());
                    0.0
                }
                Some(Ok(value)) if *value < 0.0 || value.is_nan() => {
                    let _ = self.trouble.set(Error::illegal(format!(
                        "script_score script returned an invalid score [{}] for doc [{doc}]. Must be a \
                         non-negative score!",
                        json::number::float_to_string(*value as f32)
                    )));
                    0.0
                }
                Some(Ok(value)) => *value as f32 * self.boost,
            };
            *slot = match self.min_score {
                Some(least) if score < least => NO_MATCH,
                _ => score.min(f32::MAX),
            };
        }
    }

    fn bound(&self, _: f32) -> f32 {
        f32::MAX
    }
}
