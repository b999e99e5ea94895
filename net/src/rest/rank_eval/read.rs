//! The body of `_rank_eval`.

use base::hash::Map;
use engine::ops::script::{Script, Source};
use engine::ops::search::SearchCall;
use engine::{Error, Result};
use env::Bytes;
use json::Value;
use json::spanned::{Kind, Member, Node};

use super::metric::Metric;
use crate::fail;

/// Searches that are under way at the same time where nothing is said.
const CONCURRENT: i32 = 10;

const INT: &[&str] = &["VALUE_NUMBER", "VALUE_STRING"];
const FLAG: &[&str] = &["VALUE_BOOLEAN", "VALUE_STRING"];
const TEXT: &[&str] = &["VALUE_STRING"];
const OBJECT: &[&str] = &["START_OBJECT"];
const OBJECTS: &[&str] = &["START_ARRAY", "START_OBJECT"];
const TEXTS: &[&str] = &["START_ARRAY", "VALUE_STRING"];

/// What is to be judged, and how.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) requests: Vec<Rated>,
    pub(super) metric: Metric,
    pub(super) templates: Map<String, Script>,
    pub(super) concurrent: i32,
}

/// A search with ratings of what it should find.
#[derive(Debug)]
pub(super) struct Rated {
    pub(super) id: String,
    pub(super) search: Search,
    /// Of documents, by index and id.
    pub(super) ratings: Map<(String, String), i32>,
    /// The ratings alone, the highest first.
    pub(super) all: Vec<i32>,
    /// Fields that hits show.
    pub(super) summary: Vec<String>,
}

/// Where the search stands.
#[derive(Debug)]
pub(super) enum Search {
    Body(Value),
    Template { id: String, params: Value },
}

/// Reads a body.
///
/// # Errors
/// In the words of Elasticsearch's parsers.
pub(super) fn read(body: &Bytes) -> Result<Asked> {
    const NAME: &str = "rank_eval";
    let root = json::spanned::parse(body).map_err(|error| fail::of_json(&error, body))?;
    let members = fail::members(
        &root,
        NAME,
        &[
            ("requests", OBJECTS),
            ("metric", OBJECT),
            ("templates", OBJECTS),
            ("max_concurrent_searches", INT),
        ],
    )?;
    let (mut requests, mut metric) = (None, None);
    let (mut templates, mut concurrent) = (Map::default(), CONCURRENT);
    for member in members {
        let value = &member.value;
        match member.key.as_str() {
            "requests" => requests = Some(within(NAME, member, || each(value, rated))?),
            "metric" => metric = Some(within(NAME, member, || metric_of(value))?),
            "templates" => {
                let all = within(NAME, member, || each(value, template))?;
                templates.extend(all);
            }
            _ => concurrent = int(NAME, member)?,
        }
    }
    let (requests, metric) = match (requests, metric) {
        (Some(requests), Some(metric)) => (requests, metric),
        (requests, metric) => {
            let missing = [("requests", requests.is_none()), ("metric", metric.is_none())];
            return Err(required(&missing));
        }
    };
    if requests.is_empty() {
        let reason = "Cannot evaluate ranking if no search requests with rated results are \
                      provided. Seen: []";
        return Err(unbuilt(NAME, Error::illegal_argument(reason)));
    }
    let lacks = |one: &&Rated| matches!(one.search, Search::Template { .. });
    if templates.is_empty()
        && let Some(one) = requests.iter().find(lacks)
    {
        let reason = format!(
            "Cannot evaluate ranking if neither template nor evaluation request is provided. Seen \
             for request id: {}",
            one.id
        );
        return Err(unbuilt(NAME, Error::new(500, "illegal_state_exception", reason)));
    }
    if concurrent < 1 {
        return Err(Error::illegal_argument("maxConcurrentSearchRequests must be positive"));
    }
    Ok(Asked { requests, metric, templates, concurrent })
}

/// One of `requests`.
fn rated(body: &Node) -> Result<Rated> {
    const NAME: &str = "request";
    let members = fail::members(
        body,
        NAME,
        &[
            ("id", TEXT),
            ("ratings", OBJECTS),
            ("request", OBJECT),
            ("params", OBJECT),
            ("summary_fields", TEXTS),
            ("template_id", TEXT),
        ],
    )?;
    let (mut id, mut rated, mut request, mut template) = (None, None, None, None);
    let (mut params, mut summary) = (Value::object(), Vec::new());
    for member in members {
        let value = &member.value;
        match member.key.as_str() {
            "id" => id = value.as_str().map(str::to_owned),
            "ratings" => rated = Some(within(NAME, member, || each(value, rating))?),
            "request" => {
                let search = value.to_value();
                within(NAME, member, || searches(&search))?;
                request = Some(search);
            }
            "params" => params = value.to_value(),
            "template_id" => template = value.as_str().map(str::to_owned),
            _ => summary = within(NAME, member, || texts(value))?,
        }
    }
    let (id, rated) = match (id, rated) {
        (Some(id), Some(rated)) => (id, rated),
        (id, rated) => return Err(required(&[("id", id.is_none()), ("ratings", rated.is_none())])),
    };
    let search = one_search(request, template, params)
        .map_err(|reason| unbuilt(NAME, Error::illegal_argument(reason)))?;
    if let Search::Body(search) = &search {
        check(search).map_err(|error| unbuilt(NAME, error))?;
    }
    let mut all: Vec<i32> = rated.iter().map(|(_, rating)| *rating).collect();
    all.sort_unstable_by_key(|rating| std::cmp::Reverse(*rating));
    let mut ratings = Map::default();
    for (key, rating) in rated {
        if ratings.contains_key(&key) {
            let key = format!("{{\"_index\":\"{}\",\"_id\":\"{}\"}}", key.0, key.1);
            let reason =
                format!("Found duplicate rated document key [{key}] in evaluation request [{id}]");
            return Err(unbuilt(NAME, Error::illegal_argument(reason)));
        }
        ratings.insert(key, rating);
    }
    Ok(Rated { id, search, ratings, all, summary })
}

/// The search of a request, which is said in one way.
fn one_search(
    request: Option<Value>,
    template: Option<String>,
    params: Value,
) -> std::result::Result<Search, &'static str> {
    let is_filled = params.as_object().is_some_and(|params| !params.is_empty());
    match (request, template) {
        (Some(_), template) if template.is_some() || is_filled => Err(
            "Ambiguous rated request: Set both, verbatim test request and test request template \
             parameters.",
        ),
        (Some(request), _) => Ok(Search::Body(request)),
        (None, _) if !is_filled => {
            Err("Need to set at least test request or test request template parameters.")
        }
        (None, Some(id)) => Ok(Search::Template { id, params }),
        (None, None) => Err("If template parameters are supplied need to set id of template to \
                             apply them to too."),
    }
}

/// Reads a search as it will be read.
fn searches(search: &Value) -> Result<()> {
    let body = Bytes::from(json::to_vec(search));
    engine::ops::search::check(&SearchCall { body, ..SearchCall::default() })
}

/// What a search that is judged may not ask for.
///
/// # Errors
/// It asks for it.
pub(super) fn check(search: &Value) -> Result<()> {
    let has = |key: &str| search.get(key).is_some_and(|value| *value != Value::Null);
    let asks = |key: &str| search.get(key).and_then(Value::as_bool) == Some(true);
    let what = if has("suggest") {
        "contain a suggest section"
    } else if has("aggs") || has("aggregations") {
        "contain aggregations"
    } else if has("highlight") {
        "contain a highlighter section"
    } else if asks("explain") {
        "use explain"
    } else if asks("profile") {
        "use profile"
    } else {
        return Ok(());
    };
    Err(Error::illegal_argument(format!("Query in rated requests should not {what}.")))
}

/// One of `ratings`.
fn rating(body: &Node) -> Result<((String, String), i32)> {
    const NAME: &str = "rated_document";
    let keys = [("_index", TEXT), ("_id", TEXT), ("rating", INT)];
    let members = fail::members(body, NAME, &keys)?;
    let (mut index, mut id, mut rating) = (None, None, None);
    for member in members {
        match member.key.as_str() {
            "_index" => index = member.value.as_str(),
            "_id" => id = member.value.as_str(),
            _ => rating = Some(int(NAME, member)?),
        }
    }
    let (Some(index), Some(id), Some(rating)) = (index, id, rating) else {
        let missing =
            [("_index", index.is_none()), ("_id", id.is_none()), ("rating", rating.is_none())];
        return Err(required(&missing));
    };
    for (text, name) in [(index, "Index"), (id, "DocId")] {
        if text.is_empty() {
            let reason = format!("{name} must be set for each rated document");
            return Err(unbuilt(NAME, Error::illegal_argument(reason)));
        }
    }
    Ok(((index.to_owned(), id.to_owned()), rating))
}

/// One of `templates`.
fn template(body: &Node) -> Result<(String, Script)> {
    const NAME: &str = "script_with_id";
    let members = fail::members(body, NAME, &[("id", TEXT), ("template", OBJECT)])?;
    let (mut id, mut script) = (None, None);
    for member in members {
        match member.key.as_str() {
            "id" => id = member.value.as_str().map(str::to_owned),
            _ => script = Some(within(NAME, member, || script_of(&member.value))?),
        }
    }
    match (id, script) {
        (Some(id), Some(script)) => Ok((id, script)),
        (id, script) => Err(required(&[("id", id.is_none()), ("template", script.is_none())])),
    }
}

/// A template, inline as text or as the search that it becomes, or stored.
fn script_of(body: &Node) -> Result<Script> {
    let keys = [
        ("source", &["VALUE_STRING", "START_OBJECT"][..]),
        ("inline", &["VALUE_STRING", "START_OBJECT"]),
        ("id", TEXT),
        ("lang", TEXT),
        ("params", OBJECT),
    ];
    let members = fail::members(body, "script", &keys)?;
    let mut source = None;
    for member in members {
        source = match (member.key.as_str(), &member.value.kind) {
            ("id", Kind::String(id)) => Some(Source::Stored(id.clone())),
            ("source" | "inline", Kind::String(text)) => Some(Source::Inline(text.clone())),
            ("source" | "inline", _) => {
                Some(Source::Inline(json::to_string(&member.value.to_value())))
            }
            _ => source,
        };
    }
    let missing = "must specify either [source] for an inline script or [id] for a stored script";
    let source = source.ok_or_else(|| Error::illegal_argument(missing))?;
    Ok(Script { source, lang: "mustache".to_owned(), params: Value::object() })
}

fn metric_of(body: &Node) -> Result<Metric> {
    let Some([named, rest @ ..]) = body.as_object() else {
        return Err(Error::parse("Expected FIELD_NAME but was: END_OBJECT"));
    };
    let read = |parser: &str, keys: &[(&str, &[&str])]| -> Result<Numbers> {
        let mut numbers = Numbers::default();
        for member in fail::members(&named.value, parser, keys)? {
            match member.key.as_str() {
                "ignore_unlabeled" | "normalize" => numbers.flag = flag(parser, member)?,
                "k" => numbers.k = int(parser, member)?,
                "unknown_doc_rating" => numbers.unknown = Some(int(parser, member)?),
                "relevant_rating_threshold" => numbers.threshold = int(parser, member)?,
                _ => numbers.relevance_max = Some(int(parser, member)?),
            }
        }
        Ok(numbers)
    };
    const K: (&str, &[&str]) = ("k", INT);
    const THRESHOLD: (&str, &[&str]) = ("relevant_rating_threshold", INT);
    const UNKNOWN: (&str, &[&str]) = ("unknown_doc_rating", INT);
    let metric = match named.key.as_str() {
        name @ "precision" => {
            let numbers = read(name, &[K, THRESHOLD, ("ignore_unlabeled", FLAG)])?;
            let (threshold, k) = numbers.of_threshold(name)?;
            Metric::Precision { threshold, ignore_unlabeled: numbers.flag, k }
        }
        name @ "recall" => {
            let (threshold, k) = read(name, &[K, THRESHOLD])?.of_threshold(name)?;
            Metric::Recall { threshold, k }
        }
        "mean_reciprocal_rank" => {
            let name = "reciprocal_rank";
            let (threshold, k) = read(name, &[K, THRESHOLD])?.of_threshold(name)?;
            Metric::ReciprocalRank { threshold, k }
        }
        "dcg" => {
            let numbers = read("dcg", &[K, UNKNOWN, ("normalize", FLAG)])?;
            Metric::Gain { normalize: numbers.flag, unknown: numbers.unknown, k: numbers.k }
        }
        "expected_reciprocal_rank" => {
            let numbers = read("dcg", &[K, UNKNOWN, ("maximum_relevance", INT)])?;
            let relevance_max =
                numbers.relevance_max.ok_or_else(|| required(&[("maximum_relevance", true)]))?;
            Metric::ExpectedRank { relevance_max, unknown: numbers.unknown, k: numbers.k }
        }
        other => {
            let reason = format!("{} unknown field [{other}]", named.value.at);
            return Err(Error::new(400, "named_object_not_found_exception", reason));
        }
    };
    if let Some(more) = rest.first() {
        let reason = format!("{} Expected END_OBJECT but was: FIELD_NAME", more.key_at);
        return Err(Error::parse(reason));
    }
    if metric.window() < 0 {
        let found = metric.window();
        let reason = format!("[size] parameter cannot be negative, found [{found}]");
        return Err(Error::illegal_argument(reason));
    }
    Ok(metric)
}

/// What metrics are told.
struct Numbers {
    k: i32,
    threshold: i32,
    unknown: Option<i32>,
    relevance_max: Option<i32>,
    flag: bool,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { k: 10, threshold: 1, unknown: None, relevance_max: None, flag: false }
    }
}

impl Numbers {
    /// Threshold and window of a metric that tells relevant from irrelevant.
    fn of_threshold(&self, parser: &str) -> Result<(i32, i32)> {
        let reason = if self.threshold < 0 {
            "Relevant rating threshold for precision must be positive integer."
        } else if self.k <= 0 {
            "Window size k must be positive."
        } else {
            return Ok((self.threshold, self.k));
        };
        Err(unbuilt(parser, Error::illegal_argument(reason)))
    }
}

/// What is read of a member; where that fails, its parser's error around it.
fn within<T>(parser: &str, member: &Member, read: impl FnOnce() -> Result<T>) -> Result<T> {
    read().map_err(|cause| fail::unread_field(parser, &member.key, member.value.at, cause))
}

/// The items of a list, or the one that stands in its place.
fn each<T>(value: &Node, read: impl Fn(&Node) -> Result<T>) -> Result<Vec<T>> {
    value.as_array().unwrap_or(std::slice::from_ref(value)).iter().map(read).collect()
}

fn texts(value: &Node) -> Result<Vec<String>> {
    each(value, |one| {
        let text = one.as_str().map(str::to_owned);
        text.ok_or_else(|| Error::parse(format!("Can't get text on a {}", one.token())))
    })
}

/// A whole number, or a text that says one; what stands behind a point is dropped.
fn int(parser: &str, member: &Member) -> Result<i32> {
    let number = match &member.value.kind {
        Kind::Number(number) => Some(number.as_f64()),
        Kind::String(text) => text.parse().ok(),
        _ => None,
    };
    let number = number
        .map(f64::trunc)
        .filter(|number| (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(number));
    match number {
        Some(number) => Ok(number as i32),
        None => within(parser, member, || {
            let text = json::to_string(&member.value.to_value());
            Err(Error::illegal_argument(format!("Value [{text}] is out of range for an integer")))
        }),
    }
}

fn flag(parser: &str, member: &Member) -> Result<bool> {
    match &member.value.kind {
        Kind::Bool(flag) => Ok(*flag),
        Kind::String(text) => within(parser, member, || crate::params::flag(text)),
        _ => Err(fail::wrong_kind(parser, &member.key, &member.value)),
    }
}

fn required(keys: &[(&str, bool)]) -> Error {
    let missing: Vec<&str> = keys.iter().filter(|(_, lacks)| *lacks).map(|(key, _)| *key).collect();
    Error::illegal_argument(format!("Required [{}]", missing.join(", ")))
}

fn unbuilt(parser: &str, cause: Error) -> Error {
    let reason = format!("Failed to build [{parser}] after last required field arrived");
    Error::new(400, "x_content_parse_exception", reason).caused_by(cause)
}
