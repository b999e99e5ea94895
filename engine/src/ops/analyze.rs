//! `_analyze`: the tokens that a text gives.
//!
//! Not here yet: `explain`, `attributes`, `normalizer`; they are refused as unknown fields.

use std::rc::Rc;
use std::sync::Arc;

use env::Env;
use json::{Object, Value};
use mapping::Kind;
use mapping::analysis::{Analyzer, Registry};

use super::failure;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::index::resolve::{One, Purpose, resolve_one};

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

/// Positions between two texts of one request to an index, as a field with several values has them;
/// outside an index they follow each other.
const TEXT_GAP: u32 = 100;

/// `index.analyze.max_token_count`, where no index says otherwise.
const TOKENS_MAX: u64 = 10_000;

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
        let request = Request::read(body)?;
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
        let analyzer = request.analyzer(index.as_deref())?;
        let limit = index
            .as_deref()
            .and_then(|index| index.settings.int("index.analyze.max_token_count"))
            .unwrap_or(TOKENS_MAX);
        let mut tokens = Vec::new();
        let (mut position, mut offset) = (0, 0);
        let mut count = 0u64;
        for text in &request.texts {
            let end = analyzer.tokens(text, &mut |token| {
                count += 1;
                if count <= limit {
                    tokens.push(AnalyzedToken {
                        token: token.term.to_owned(),
                        start_offset: offset + token.start,
                        end_offset: offset + token.end,
                        kind: token.kind.name(),
                        position: position + token.position,
                    });
                }
            });
            position += end.position_end + if index.is_some() { TEXT_GAP } else { 0 };
            // Texts are taken as if one space stood between them.
            offset += end.offset_end + 1;
        }
        if count > limit {
            return Err(Error::new(
                500,
                "illegal_state_exception",
                format!(
                    "The number of tokens produced by calling _analyze has exceeded the allowed \
                     maximum of [{limit}]. This limit can be set by changing the \
                     [index.analyze.max_token_count] index level setting."
                ),
            ));
        }
        Ok(tokens)
    }
}

#[derive(Default)]
struct Request {
    texts: Vec<String>,
    analyzer: Option<String>,
    field: Option<String>,
    tokenizer: Option<Value>,
    filters: Vec<Value>,
    char_filters: Vec<Value>,
}

impl Request {
    fn read(body: &Value) -> Result<Self> {
        let mut request = Self::default();
        let Some(object) = body.as_object() else {
            return Err(Error::parse("request body is required"));
        };
        for (key, value) in object.iter() {
            let list = || match value {
                Value::Array(items) => items.clone(),
                other => vec![other.clone()],
            };
            let text = || {
                value.as_str().map(str::to_owned).ok_or_else(|| {
                    Error::new(
                        400,
                        "x_content_parse_exception",
                        format!(
                            "[analyze_request] {key} doesn't support values of type: {}",
                            value.token()
                        ),
                    )
                })
            };
            match key {
                "text" => {
                    request.texts = list().iter().filter_map(scalar).collect();
                }
                "analyzer" => request.analyzer = Some(text()?),
                "field" => request.field = Some(text()?),
                "tokenizer" => request.tokenizer = Some(value.clone()),
                "filter" => request.filters = list(),
                "char_filter" => request.char_filters = list(),
                unknown => {
                    return Err(Error::new(
                        400,
                        "x_content_parse_exception",
                        format!("[analyze_request] unknown field [{unknown}]"),
                    ));
                }
            }
        }
        if request.texts.is_empty() {
            return Err(Error::validation(&["text is missing"]));
        }
        if request.tokenizer.is_some() && request.analyzer.is_some() {
            return Err(Error::validation(&["cannot define extra components on a named analyzer"]));
        }
        Ok(request)
    }

    fn analyzer(&self, index: Option<&cluster::Index>) -> Result<Arc<Analyzer>> {
        let registry = match index {
            Some(index) => Arc::clone(&index.mapping.settings().analysis),
            None => Arc::new(Registry::default()),
        };
        if let Some(name) = &self.analyzer {
            return registry.analyzer(name).cloned().ok_or_else(|| {
                Error::illegal_argument(match index {
                    Some(_) => format!("failed to find analyzer [{name}]"),
                    None => format!("failed to find global analyzer [{name}]"),
                })
            });
        }
        if self.tokenizer.is_some() || !self.filters.is_empty() || !self.char_filters.is_empty() {
            return self.custom(index);
        }
        if let Some(path) = &self.field {
            let Some(index) = index else {
                return Err(Error::illegal_argument(
                    "analysis based on a specific field requires an index",
                ));
            };
            return Ok(match index.mapping.field(path).map(|field| &field.kind) {
                Some(Kind::Text(text)) => Arc::clone(&text.analyzer),
                Some(Kind::Keyword(_)) => {
                    Arc::clone(registry.analyzer("keyword").unwrap_or(registry.default_analyzer()))
                }
                Some(_) => {
                    return Err(Error::illegal_argument(format!(
                        "Can't process field [{path}], Analysis requests are only supported on \
                         tokenized fields"
                    )));
                }
                None => Arc::clone(registry.default_analyzer()),
            });
        }
        Ok(Arc::clone(registry.default_analyzer()))
    }

    /// An analyzer of the parts that the request names or defines.
    fn custom(&self, index: Option<&cluster::Index>) -> Result<Arc<Analyzer>> {
        const NAME: &str = "_analyze";
        let mut analysis = Object::new();
        if let Some(index) = index
            && let Some(nested) = index.settings.to_nested().at(&["index", "analysis"])
            && let Some(known) = nested.as_object()
        {
            analysis = known.clone();
        }
        let mut chain = Object::new();
        let tokenizer = self.tokenizer.clone().unwrap_or_else(|| Value::from("keyword"));
        chain.insert("type", "custom");
        chain.insert("tokenizer", named(&mut analysis, "tokenizer", 0, &tokenizer));
        for (key, parts) in [("filter", &self.filters), ("char_filter", &self.char_filters)] {
            let names =
                parts.iter().enumerate().map(|(at, part)| named(&mut analysis, key, at, part));
            let names: Vec<Value> = names.collect();
            chain.insert(key, Value::Array(names));
        }
        if let Some(group) = analysis.get_or_insert_with("analyzer", Value::object).as_object_mut()
        {
            group.insert(NAME, Value::Object(chain));
        }
        let registry = Registry::parse(&Value::Object(analysis)).map_err(|error| {
            let mut error = failure::of_mapping(error);
            // Elasticsearch speaks of global parts where no index is named.
            if index.is_none() {
                for part in ["tokenizer", "filter", "char_filter"] {
                    let from =
                        format!("Custom Analyzer [{NAME}] failed to find {part} under name ");
                    if let Some(name) = error.reason.strip_prefix(&from) {
                        error.reason = format!("failed to find global {part} under {name}");
                        break;
                    }
                }
            }
            error
        })?;
        registry
            .analyzer(NAME)
            .cloned()
            .ok_or_else(|| Error::internal("an analyzer that was just defined is missing"))
    }
}

/// The name of a part; one that is defined on the spot is defined under a name of ours.
fn named(analysis: &mut Object, group: &str, at: usize, part: &Value) -> Value {
    if !matches!(part, Value::Object(_)) {
        return part.clone();
    }
    let name = format!("_analyze_{group}_{at}");
    if let Some(group) = analysis.get_or_insert_with(group, Value::object).as_object_mut() {
        group.insert(name.as_str(), part.clone());
    }
    Value::from(name)
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.text().to_owned()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
