//! A script as a request names it, and the queries that hold one.

use std::sync::Arc;

use json::Value;
use script::{Context, Program};

use super::Query;
use crate::error::{Error, Kind, Result};

/// A script as a request names it.
#[derive(Clone, Debug)]
pub struct Script {
    /// Its text, or the id of a stored one.
    pub source: ScriptSource,
    /// Language; a stored script has its own.
    pub lang: String,
    /// Parameters: an object.
    pub params: Arc<Value>,
    /// What it was compiled to, or why it is none; absent: nobody tried yet.
    pub compiled: Option<std::result::Result<Arc<Program>, Box<Error>>>,
}

/// Where a script's text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptSource {
    /// Here.
    Inline(String),
    /// Kept by the cluster, under this id.
    Stored(String),
}

impl PartialEq for Script {
    /// What it was compiled to follows from the rest.
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.lang == other.lang && self.params == other.params
    }
}

impl Script {
    /// A script of a text.
    pub fn inline(source: impl Into<String>) -> Self {
        Self {
            source: ScriptSource::Inline(source.into()),
            lang: "painless".to_owned(),
            params: Arc::new(Value::object()),
            compiled: None,
        }
    }

    /// Reads `"source"` or `{"source": …, "lang": …, "params": …}`.
    ///
    /// # Errors
    /// In the words of Elasticsearch's parser.
    pub fn parse(value: &Value) -> Result<Self> {
        let members = match value {
            Value::String(source) => return Ok(Self::inline(source.clone())),
            Value::Object(members) => members,
            other => {
                let reason = format!("unexpected value [{}] for a script", other.token());
                return Err(Error::illegal(reason));
            }
        };
        let (mut source, mut id, mut lang, mut params) = (None, None, None, Value::object());
        for (key, value) in members.iter() {
            match (key, value) {
                ("source" | "inline", Value::String(text)) => source = Some(text.clone()),
                // A template may be written as the JSON that it gives.
                ("source", Value::Object(_)) => source = Some(json::to_string(value)),
                ("id" | "stored", Value::String(text)) => id = Some(text.clone()),
                ("lang", Value::String(text)) => lang = Some(text.clone()),
                ("params", Value::Object(_)) => params = value.clone(),
                ("params", Value::Null) => {}
                ("options", Value::Object(_)) => {}
                ("source" | "id" | "lang" | "params" | "options", _) => {
                    return Err(Error::new(
                        Kind::XContent,
                        format!("[script] {key} doesn't support values of type: {}", value.token()),
                    ));
                }
                _ => {
                    let reason = format!("[script] unknown field [{key}]");
                    return Err(Error::new(Kind::XContent, reason));
                }
            }
        }
        let source = match (source, id) {
            (Some(source), None) => ScriptSource::Inline(source),
            (None, Some(_)) if lang.is_some() => {
                return Err(Error::illegal("illegally specified <lang> for a stored script"));
            }
            (None, Some(id)) => ScriptSource::Stored(id),
            _ => {
                return Err(Error::illegal(
                    "must specify either [source] for an inline script or [id] for a stored script",
                ));
            }
        };
        let lang = lang.unwrap_or_else(|| "painless".to_owned());
        Ok(Self { source, lang, params: Arc::new(params), compiled: None })
    }

    /// What it was compiled to; a text that nobody compiled is compiled here.
    ///
    /// # Errors
    /// Another language, a text that is no script there, an id that leads nowhere.
    pub fn program(&self, context: &'static Context) -> Result<Arc<Program>> {
        if let Some(compiled) = &self.compiled {
            return compiled.clone().map_err(|error| *error);
        }
        let source = match &self.source {
            ScriptSource::Inline(source) => source,
            ScriptSource::Stored(id) => {
                let reason = format!("unable to find script [{id}] in cluster state");
                return Err(Error::new(Kind::ResourceNotFound, reason));
            }
        };
        if self.lang != "painless" {
            return Err(Error::illegal(format!("script_lang not supported [{}]", self.lang)));
        }
        script::compile(source, context).map(Arc::new).map_err(Error::script)
    }
}

/// `script_score`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptScore {
    /// What matches.
    pub query: Query,
    /// What it scores.
    pub script: Script,
    /// Documents below do not match.
    pub min_score: Option<f32>,
}

/// Whoever compiles scripts: called for each with where it runs.
pub type EachScript<'a> = &'a mut dyn FnMut(&mut Script, &'static Context);

impl Query {
    /// Calls `each` for all scripts of the query and of those below.
    pub fn scripts_mut(&mut self, each: EachScript<'_>) {
        use super::{FunctionKind, Node};
        self.visit_mut(&mut |query| match &mut query.node {
            Node::Script(script) => each(script, &Context::FILTER),
            Node::ScriptScore(score) => each(&mut score.script, &Context::SCORE),
            Node::FunctionScore(score) => {
                for function in &mut score.functions {
                    if let Some(FunctionKind::Script(script)) = &mut function.kind {
                        each(script, &Context::SCORE);
                    }
                }
            }
            Node::TermsSet(set) => {
                if let Some(script) = &mut set.minimum_script {
                    each(script, &Context::TERMS_SET);
                }
            }
            _ => {}
        });
    }
}
