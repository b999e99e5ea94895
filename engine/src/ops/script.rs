//! Scripts of requests and stored ones: read, compiled once, kept.
//!
//! Each core keeps the programs it compiled last. How many new ones it compiles in a time is limited
//! (`script.max_compilations_rate`): a caller who writes values into the source, in place of
//! parameters, would else spend the core's time on compiling.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::hash::Map;
use cluster::Command;
use env::{Clock, Env, Spawn};
use json::{Object, Value};
use mapping::script::value_of;
use script::{Context, Machine, NoHost, Program, Run};

pub use search::ast::ScriptSource as Source;
use search::error::Kind;
use search::request::SearchRequest;

use super::{failure, mustache};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::index::block::{self, Level};

/// Programs that one core keeps; when there are more, all are forgotten.
const PROGRAMS_MAX: usize = 500;

/// Longest source, in bytes (`script.max_size_in_bytes`).
const SOURCE_BYTES_MAX: usize = script::limits::SOURCE_BYTES_MAX;

/// Operations of a script between two looks at the clock.
const FUEL: i64 = 8_000;

/// Where scripts run.
pub const CONTEXTS: &[&Context] = &[
    &Context::AGGS,
    &Context::BUCKET_AGGREGATION,
    &Context::BUCKET_SELECTOR,
    &Context::FIELD,
    &Context::FILTER,
    &Context::MOVING_FUNCTION,
    &Context::NUMBER_SORT,
    &Context::TEST,
    &Context::REINDEX,
    &Context::SCORE,
    &Context::STRING_SORT,
    &Context::TERMS_SET,
    &Context::UPDATE,
    &Context::UPDATE_BY_QUERY,
];

/// A script as a request names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Its text, or the id of a stored one.
    pub source: Source,
    /// Language; a stored script has its own.
    pub lang: String,
    /// Parameters: an object.
    pub params: Value,
}

impl Script {
    /// Reads `"source"` or `{"source": …, "lang": …, "params": …}`.
    ///
    /// # Errors
    /// In the words of Elasticsearch's parser.
    pub fn parse(value: &Value) -> Result<Self> {
        let script = search::ast::Script::parse(value).map_err(failure::of_search)?;
        let search::ast::Script { source, lang, params, .. } = script;
        Ok(Self { source, lang, params: Arc::unwrap_or_clone(params) })
    }
}

/// Why there is no program.
enum Refused {
    /// The source is no script.
    Script(Box<script::Error>),
    /// No such script, another language, too many compilations.
    Other(Error),
}

impl Refused {
    fn of_request(self) -> Error {
        match self {
            Self::Script(error) => failure::of_script(&error),
            Self::Other(error) => error,
        }
    }

    /// As a shard fails with it.
    fn of_shard(self) -> search::Error {
        match self {
            Self::Script(error) => search::Error::script(*error),
            Self::Other(error) => {
                let kind = match error.status {
                    404 => Kind::ResourceNotFound,
                    429 => Kind::CircuitBreaking,
                    _ => Kind::IllegalArgument,
                };
                search::Error::new(kind, error.reason)
            }
        }
    }
}

/// What one core compiled.
#[derive(Default)]
pub(crate) struct Scripts {
    programs: Map<(String, &'static str), Arc<Program>>,
    /// Compilations that are left of the rate; `None`: none were made yet.
    left: Option<f64>,
    /// When that was reckoned.
    since: Duration,
}

impl<E: Env> Core<E> {
    /// The program of a script for a context.
    ///
    /// # Errors
    /// No such stored script, another language, a source that is no script, too many compilations.
    pub(crate) fn compiled(
        &self,
        script: &Script,
        context: &'static Context,
    ) -> Result<Arc<Program>> {
        self.program(&script.source, &script.lang, context).map_err(Refused::of_request)
    }

    /// The request with all its scripts compiled; what is wrong with one is told where it is used.
    pub(super) fn with_programs(&self, request: &SearchRequest) -> SearchRequest {
        let mut request = request.clone();
        request.scripts_mut(&mut |script, context| {
            let program = self.program(&script.source, &script.lang, context);
            script.compiled = Some(program.map_err(|refused| Box::new(refused.of_shard())));
        });
        request
    }

    fn program(
        &self,
        source: &Source,
        lang: &str,
        context: &'static Context,
    ) -> std::result::Result<Arc<Program>, Refused> {
        let stored;
        let (source, lang) = match source {
            Source::Inline(source) => (source.as_str(), lang),
            Source::Stored(id) => {
                let state = self.state();
                let found = state.scripts.get(id.as_str()).cloned();
                stored = found.ok_or_else(|| Refused::Other(missing(id)))?;
                let part = |key: &str| stored.get(key).and_then(Value::as_str).unwrap_or_default();
                (part("source"), part("lang"))
            }
        };
        if lang != "painless" {
            let reason = format!("script_lang not supported [{lang}]");
            return Err(Refused::Other(Error::illegal_argument(reason)));
        }
        if source.len() > SOURCE_BYTES_MAX {
            return Err(Refused::Other(too_long(source.len())));
        }
        let key = (source.to_owned(), context.name);
        if let Some(program) = self.scripts.borrow().programs.get(&key) {
            return Ok(Arc::clone(program));
        }
        self.spend_compilation().map_err(Refused::Other)?;
        let program = script::compile(source, context);
        let program = Arc::new(program.map_err(|error| Refused::Script(Box::new(error)))?);
        self.meter().script_compilations.add(1);
        let mut scripts = self.scripts.borrow_mut();
        if scripts.programs.len() >= PROGRAMS_MAX {
            self.meter().script_evictions.add(scripts.programs.len() as u64);
            scripts.programs.clear();
        }
        scripts.programs.insert(key, Arc::clone(&program));
        Ok(program)
    }

    /// Takes one compilation of the rate.
    fn spend_compilation(&self) -> Result<()> {
        let state = self.state();
        let rate = state.settings.text("script.max_compilations_rate").unwrap_or("150/5m");
        let Some((most, seconds)) = rate_of(rate) else { return Ok(()) };
        let now = self.env.clock().monotonic();
        let mut scripts = self.scripts.borrow_mut();
        let passed = now.saturating_sub(scripts.since).as_secs_f64();
        let left = scripts.left.map_or(most, |left| (left + passed * most / seconds).min(most));
        scripts.since = now;
        if left < 1.0 {
            scripts.left = Some(left);
            self.meter().script_refusals.add(1);
            return Err(Error::new(
                429,
                "circuit_breaking_exception",
                format!(
                    "[script] Too many dynamic script compilations within, max: [{rate}]; please use \
                     indexed, or scripts with parameters instead; this limit can be changed by the \
                     [script.max_compilations_rate] setting"
                ),
            )
            .with("bytes_wanted", 0u64)
            .with("bytes_limit", 0u64)
            .with("durability", "TRANSIENT"));
        }
        scripts.left = Some(left - 1.0);
        Ok(())
    }

    /// `_scripts/painless/_execute`: the result as text.
    ///
    /// # Errors
    /// The script fails.
    pub async fn painless_execute(
        self: &Rc<Self>,
        gate: &dyn Gate,
        script: &Script,
    ) -> Result<String> {
        gate.cluster("cluster:admin/scripts/painless/execute")?;
        let program = self.compiled(script, &Context::TEST)?;
        let failed = |fault| {
            failure::of_script(&script::Error::runtime(&program.source, &program.statements, fault))
        };
        let mut machine = Machine::new();
        let params = value_of(&mut machine.heap, &script.params).map_err(failed)?;
        machine.start(&program, &[params]);
        loop {
            let mut fuel = FUEL;
            match machine.resume(&program, &mut NoHost, &mut fuel).map_err(failed)? {
                Run::Done(value) => {
                    return script::show::text(&mut machine.heap, value).map_err(failed);
                }
                Run::Paused => self.env.spawn().yield_if_needed().await,
            }
        }
    }

    /// Stores a script; it must compile for `context`, where one is given.
    ///
    /// # Errors
    /// A body without a script, another language, a source that is none.
    pub async fn put_script(
        &self,
        gate: &dyn Gate,
        id: &str,
        body: &Value,
        context: Option<&str>,
    ) -> Result<()> {
        gate.cluster("cluster:admin/script/put")?;
        block::check_cluster(&self.state(), Level::MetadataWrite)?;
        let script = stored_script(body)?;
        let part = |key: &str| script.get(key).and_then(Value::as_str).unwrap_or_default();
        let (lang, source) = (part("lang"), part("source"));
        if source.len() > SOURCE_BYTES_MAX {
            return Err(too_long(source.len()));
        }
        match lang {
            "painless" => {
                // Without a context, only what every context would refuse is refused.
                let context = match context {
                    None => None,
                    Some("search" | "update" | "ingest") | Some("template") => None,
                    Some(name) => Some(Context::named(name).ok_or_else(|| {
                        Error::illegal_argument(format!("Unknown context [{name}]"))
                    })?),
                };
                let parsed = match context {
                    Some(context) => script::compile(source, context).map(|_| ()),
                    None => script::parse::parse(source)
                        .map(|_| ())
                        .map_err(|fault| script::Error::compile(source, fault)),
                };
                parsed.map_err(|error| failure::of_script(&error))?;
            }
            "mustache" => {
                mustache::check(source)?;
            }
            other => {
                return Err(Error::illegal_argument(format!(
                    "script_lang not supported [{other}]"
                )));
            }
        }
        self.done(Command::PutScript { id: id.to_owned(), script }).await
    }

    /// A stored script.
    ///
    /// # Errors
    /// The caller may not see it.
    pub fn stored_script(&self, gate: &dyn Gate, id: &str) -> Result<Option<Arc<Value>>> {
        gate.cluster("cluster:admin/script/get")?;
        Ok(self.state().scripts.get(id).cloned())
    }

    /// A template filled in; where that takes more than a moment, on a worker.
    ///
    /// # Errors
    /// No such stored template, one that cannot be read; 429 where too many wait for a worker.
    pub async fn render_template(&self, template: &Arc<Script>) -> Result<String> {
        let stored = match &template.source {
            Source::Inline(_) => None,
            Source::Stored(id) => {
                let stored = self.state().scripts.get(id.as_str()).cloned();
                Some(stored.ok_or_else(|| missing(id))?)
            }
        };
        if let Some(stored) = &stored
            && part(stored, "lang") != "mustache"
        {
            let reason = format!("script_lang not supported [{}]", part(stored, "lang"));
            return Err(Error::illegal_argument(reason));
        }
        let here = mustache::render_here(
            source(template, stored.as_deref()),
            &template.params,
            &self.lease,
        );
        if let Some(done) = here? {
            return Ok(done);
        }
        let (template, lease) = (Arc::clone(template), self.lease.clone());
        let job = move || {
            mustache::render(source(&template, stored.as_deref()), &template.params, &lease)
        };
        let done = self.env.spawn().work_short(job).await;
        done.map_err(|_| Error::rejected("too many requests wait for a worker"))?
    }

    /// Forgets a stored script.
    ///
    /// # Errors
    /// There is none.
    pub async fn delete_script(&self, gate: &dyn Gate, id: &str) -> Result<()> {
        gate.cluster("cluster:admin/script/delete")?;
        block::check_cluster(&self.state(), Level::MetadataWrite)?;
        if !self.state().scripts.contains_key(id) {
            return Err(Error::new(
                404,
                "resource_not_found_exception",
                format!("stored script [{id}] does not exist and cannot be deleted"),
            ));
        }
        self.done(Command::DeleteScript { id: id.to_owned() }).await
    }
}

/// `{"script": {"lang": …, "source": …}}`, as it is kept.
fn stored_script(body: &Value) -> Result<Value> {
    let Some(Value::Object(script)) = body.get("script") else {
        let what = if body.get("script").is_some() { "an object" } else { "[script]" };
        return Err(Error::new(
            400,
            "parsing_exception",
            format!("unexpected body of a stored script, expected {what}"),
        ));
    };
    let mut kept = Object::new();
    for (key, value) in script.iter() {
        match (key, value) {
            ("lang", Value::String(_)) => {
                kept.insert(key, value.clone());
            }
            ("source", Value::String(_)) => {
                kept.insert(key, value.clone());
            }
            ("source", Value::Object(_)) => {
                kept.insert(key, json::to_string(value));
            }
            ("options", Value::Object(options)) => {
                if !options.is_empty() {
                    kept.insert(key, value.clone());
                }
            }
            // The clients' own examples send these; Elasticsearch passes over them.
            ("params", Value::Object(_)) => {}
            _ => {
                return Err(Error::new(
                    400,
                    "x_content_parse_exception",
                    format!("[stored script source] unknown field [{key}]"),
                ));
            }
        }
    }
    let filled =
        |key: &str| kept.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    if !filled("lang") {
        return Err(Error::illegal_argument("must specify lang for stored script"));
    }
    if !filled("source") {
        return Err(Error::illegal_argument("must specify source for stored script"));
    }
    Ok(Value::Object(kept))
}

/// 404 for an id that no stored script has.
pub(crate) fn missing(id: &str) -> Error {
    Error::new(
        404,
        "resource_not_found_exception",
        format!("unable to find script [{id}] in cluster state"),
    )
}

fn too_long(len: usize) -> Error {
    Error::illegal_argument(format!(
        "exceeded max allowed inline script size in bytes [{SOURCE_BYTES_MAX}] with size [{len}]"
    ))
}

/// `150/5m`: how many, in how many seconds; `None` is no limit.
fn rate_of(text: &str) -> Option<(f64, f64)> {
    let (count, time) = text.split_once('/')?;
    let unit = time.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let number: f64 = time[..time.len() - unit.len()].parse().ok()?;
    let seconds = number
        * match unit {
            "d" => 86_400.0,
            "h" => 3_600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            _ => return None,
        };
    (seconds > 0.0).then_some((count.parse().ok()?, seconds))
}

/// A part of a stored script.
fn part<'a>(stored: &'a Value, key: &str) -> &'a str {
    stored.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The text of a template, `stored` where it is kept.
fn source<'a>(template: &'a Script, stored: Option<&'a Value>) -> &'a str {
    match (&template.source, stored) {
        (Source::Inline(text), _) => text,
        (Source::Stored(_), stored) => stored.map_or("", |stored| part(stored, "source")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_read_in_all_their_forms() {
        let parse = |text: &str| Script::parse(&json::parse(text.as_bytes()).expect("JSON"));
        assert_eq!(parse("\"a\"").expect("short").source, Source::Inline("a".into()));
        let stored = parse(r#"{"id":"x","params":{"k":1}}"#).expect("stored");
        assert_eq!(stored.source, Source::Stored("x".into()));
        for bad in [r#"{}"#, r#"{"id":"x","source":"y"}"#, r#"{"id":"x","lang":"painless"}"#, "1"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let unknown = parse(r#"{"source":"x","foo":1}"#).expect_err("unknown");
        assert_eq!(unknown.reason, "[script] unknown field [foo]");
    }

    #[test]
    fn rates_are_read() {
        assert_eq!(rate_of("150/5m"), Some((150.0, 300.0)));
        assert_eq!(rate_of("use-context"), None);
    }

    #[test]
    fn a_stored_script_needs_language_and_source() {
        let keep = |text: &str| stored_script(&json::parse(text.as_bytes()).expect("JSON"));
        assert!(keep(r#"{"script":{"lang":"painless","source":"1"}}"#).is_ok());
        for bad in [r#"{}"#, r#"{"script":{"lang":"painless"}}"#, r#"{"script":{"source":"1"}}"#] {
            assert!(keep(bad).is_err(), "{bad}");
        }
    }
}
