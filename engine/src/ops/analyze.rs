//! `_analyze`: the tokens that a text gives. What they are is `mapping`'s to say.
//!
//! Not here yet: `explain` and `attributes`; they are refused as unknown fields.

use std::rc::Rc;

use env::Env;
use json::{Object, Value};
use mapping::analysis::analyze::{TOKENS_MAX, analyze};

use super::failure;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::index::resolve::{One, Purpose, resolve_one};

/// Keys of a request.
const KEYS: [&str; 7] =
    ["analyzer", "field", "normalizer", "tokenizer", "filter", "char_filter", "text"];

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalyzedToken {
    /// Its text.
    pub token: String,
    /// Where it starts, in UTF-16 units.
    pub start_offset: u32,
    /// Where it ends.
    pub end_offset: u32,
    /// `<ALPHANUM>`, `word`, …
    pub kind: &'static str,
    /// Its position.
    pub position: u32,
}

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
    ) -> Result<Vec<AnalyzedToken>> {
        let keys = body.as_object().map(Object::keys).into_iter().flatten();
        if let Some(unknown) = keys.into_iter().find(|key| !KEYS.contains(key)) {
            return Err(Error::new(
                400,
                "x_content_parse_exception",
                format!("[analyze_request] unknown field [{unknown}]"),
            ));
        }
        let index = match index {
            None => {
                gate.cluster("indices:admin/analyze")?;
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
        let tokens = analyze(body, index.as_ref().map(|index| &*index.mapping), limit)
            .map_err(failure::of_mapping)?;
        let shown = tokens.into_iter().map(|token| AnalyzedToken {
            token: token.term,
            start_offset: token.start,
            end_offset: token.end,
            kind: token.kind.name(),
            position: token.position,
        });
        Ok(shown.collect())
    }
}
