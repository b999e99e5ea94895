//! `_analyze`: the tokens that a text gives. What they are is `mapping`'s to say.

use std::rc::Rc;

use env::Env;
use env::budget::Taken;
use json::Value;
use mapping::analysis::analyze::{TOKENS_MAX, analyze};
use mapping::analysis::effort::{Exhausted, within};

use super::effort::{self, STEPS_HERE, STEPS_MAX};
use super::failure;
use super::reached::Reached;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate, Named};
use crate::index::block::{self, Level};
use crate::index::single::{One, Purpose, resolve_one};

pub use mapping::analysis::OwnedToken as Token;
pub use mapping::analysis::analyze::{Analysis, Detail, Stage};

/// What the gate is asked.
const ACTION: &str = "indices:admin/analyze";

/// Longer texts are read on a worker.
const READ_HERE_BYTES_MAX: usize = 16 << 10;

/// Bytes of the texts of a request.
fn size_of_texts(body: &Value) -> usize {
    let len = |text: &Value| text.as_str().map_or(0, str::len);
    match body.get("text") {
        Some(Value::Array(texts)) => texts.iter().map(len).sum(),
        Some(text) => len(text),
        None => 0,
    }
}

impl<E: Env> Core<E> {
    fn named(&self, gate: &dyn Gate, written: &str) -> Result<One> {
        let one = resolve_one(&*self.state(), written, self.now_ms(), Purpose::Read);
        one.map_err(|error| self.told(gate, written, error))
    }

    fn told(&self, gate: &dyn Gate, written: &str, error: Error) -> Error {
        let (names, now_ms) = (&*self.state(), self.now_ms());
        let asked = Named { action: ACTION, expression: written, names, now_ms };
        gate::told(gate, &asked, error)
    }

    /// The tokens of the request's texts, and the memory that was taken for them.
    ///
    /// # Errors
    /// A missing index, a block, an unknown analyzer, tokenizer, filter or field, no text, too much to do.
    pub async fn analyze(
        self: &Rc<Self>,
        gate: &dyn Gate,
        index: Option<&str>,
        body: Value,
    ) -> Result<(Analysis, Option<Taken>)> {
        let index = match index {
            None => {
                // An action on indices, of which none is named: whoever may do it to all.
                gate.index(ACTION, "*")?;
                None
            }
            Some(written) => match self.named(gate, written)? {
                One::Index { name, via, .. } => {
                    let via: Vec<String> = via.into_iter().collect();
                    let limits = gate::ask(gate, ACTION, &name, &via)
                        .map_err(|error| self.told(gate, written, error))?;
                    let index = self.state().index(&name).cloned();
                    index.as_deref().map_or(Ok(()), |index| block::check(index, Level::Read))?;
                    index.map(|index| Reached { index, via, limits })
                }
                One::Missing { name } => {
                    gate.index(ACTION, &name)?;
                    return Err(Error::index_not_found(&name, "index_expression"));
                }
            },
        };
        let limit = index
            .as_ref()
            .and_then(|one| one.index.settings.int("index.analyze.max_token_count"))
            .map_or(TOKENS_MAX, |limit| limit as usize);
        let mapping = index.map(|one| one.seen_mapping(gate));
        let is_short = size_of_texts(&body) <= READ_HERE_BYTES_MAX;
        let lease = self.lease().clone();
        let read = move || analyze(&body, mapping.as_deref(), limit, &lease);
        let here = is_short.then(|| within(STEPS_HERE, &read).ok()).flatten();
        let read = match here {
            Some((read, _)) => read,
            None => {
                let done = self.work_in_turn(move || within(STEPS_MAX, read)).await;
                let done = done
                    .map_err(|_| Error::rejected("too many texts to analyze wait for a worker"))?;
                done.map_err(|Exhausted| effort::too_costly(STEPS_MAX))?.0
            }
        };
        read.map_err(failure::of_mapping)
    }
}
