//! `_analyze`: the tokens that a text gives. What they are is `mapping`'s to say.

use std::rc::Rc;

use env::Env;
use json::Value;
use mapping::analysis::analyze::{TOKENS_MAX, analyze};

use super::failure;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::index::resolve::{One, Purpose, resolve_one};

pub use mapping::analysis::OwnedToken as Token;
pub use mapping::analysis::analyze::{Analysis, Detail, Stage};

impl<E: Env> Core<E> {
    /// The tokens of the request's texts.
    ///
    /// # Errors
    /// A missing index, an unknown analyzer, tokenizer, filter or field, no text.
    pub fn analyze(
        self: &Rc<Self>,
        gate: &dyn Gate,
        index: Option<&str>,
        body: &Value,
    ) -> Result<Analysis> {
        let index = match index {
            None => {
                // An action on indices, of which none is named: whoever may do it to all.
                gate.index("indices:admin/analyze", "*")?;
                None
            }
            Some(name) => match resolve_one(&*self.state(), name, self.now_ms(), Purpose::Read)? {
                One::Index { name, .. } => {
                    gate.index("indices:admin/analyze", &name)?;
                    self.state().index(&name).cloned()
                }
                One::Missing { name } => {
                    gate.index("indices:admin/analyze", &name)?;
                    return Err(Error::index_not_found(&name, "index_expression"));
                }
            },
        };
        let limit = index
            .as_deref()
            .and_then(|index| index.settings.int("index.analyze.max_token_count"))
            .map_or(TOKENS_MAX, |limit| limit as usize);
        analyze(body, index.as_ref().map(|index| &*index.mapping), limit)
            .map_err(failure::of_mapping)
    }
}
