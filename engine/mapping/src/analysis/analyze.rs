//! `_analyze`: what a text becomes, for people to look at.
//!
//! The body names an `analyzer`, a `field`, a `normalizer`, or parts (`char_filter`, `tokenizer`,
//! `filter`) by name or definition, and the `text`, one or several. Positions and offsets run on from text
//! to text, as they would for the values of one field. With `explain` each part shows what it made.

use env::budget::{Lease, Taken};
use json::Value;

use super::analyzer::{Analyzer, Named, OwnedToken, Scratch, Tokenizer};
use super::cutters::char_filter_of;
use super::holding::{self, within_bytes};
use super::registry::{Part, Registry};
use super::room::{ON, ROOM_BYTES, Room, STOP, UNPAID_BYTES};
use crate::tree::Mapping;
use crate::types::Kind;
use crate::{Error, ErrorKind, Result};

/// `index.analyze.max_token_count`, where the index does not say otherwise.
pub const TOKENS_MAX: usize = 10_000;

/// Most bytes of an answer's tokens and texts, all parts together: the answer is several times as long.
pub const BYTES_MAX: usize = 16 << 20;

/// Bytes of a token beside its text.
const TOKEN_BYTES: usize = size_of::<OwnedToken>();

/// Keys of a request.
const KEYS: [&str; 9] = [
    "analyzer",
    "field",
    "normalizer",
    "tokenizer",
    "filter",
    "char_filter",
    "text",
    "explain",
    "attributes",
];

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Analysis {
    /// The tokens.
    Tokens(Vec<OwnedToken>),
    /// What each part made.
    Detail(Detail),
}

/// What each part made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// The whole analyzer, where it is built in.
    pub analyzer: Option<Stage>,
    /// Char filters: name, and each text behind it.
    pub char_filters: Vec<(String, Vec<String>)>,
    /// The tokenizer, where the chain was put together.
    pub tokenizer: Option<Stage>,
    /// The token filters.
    pub filters: Vec<Stage>,
    /// Names of attributes to show, all where none is named.
    pub attributes: Vec<String>,
}

/// What one part made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// The tokens behind it.
    pub tokens: Vec<OwnedToken>,
    /// Do tokens say whether stemmers may touch them?
    pub keywords: bool,
}

/// One part in so many of the memory may be held by the chain that a request brings with it, and no more than
/// [`ROOM_BYTES`].
const CHAIN_PART: usize = 8;

/// Answers an `_analyze` request; `index` is the mapping of the index named in it. Memory for what it makes is taken by
/// `lease`; what the answer holds of it comes back beside that.
///
/// # Errors
/// In Elasticsearch's words, where the body is wrong, names what is not there, or gives more than
/// `tokens_max` tokens, than [`BYTES_MAX`] of them, or than there is memory for.
pub fn analyze(
    body: &Value,
    index: Option<&Mapping>,
    tokens_max: usize,
    lease: &Lease,
) -> Result<(Analysis, Option<Taken>)> {
    let room = Room::of(BYTES_MAX).paid_by(Some(lease.clone()));
    let analysis = analyze_within(body, index, tokens_max, (&room, lease))?;
    Ok((analysis, room.into_paid()))
}

fn analyze_within(
    body: &Value,
    index: Option<&Mapping>,
    tokens_max: usize,
    (room, lease): (&Room, &Lease),
) -> Result<Analysis> {
    let keys = body.as_object().map(|body| body.keys()).into_iter().flatten();
    for key in keys {
        if !KEYS.contains(&key) {
            return Err(parsing(format!("[analyze_request] unknown field [{key}]")));
        }
    }
    for key in ["analyzer", "field", "normalizer"] {
        if let Some(other) = body.get(key).filter(|value| value.as_str().is_none()) {
            return Err(wrong_kind(key, other));
        }
    }
    let attributes = attributes(body)?;
    let texts = texts(body)?;
    let has =
        |key: &str| body.get(key).is_some_and(|it| it.as_array().is_none_or(|it| !it.is_empty()));
    if has("analyzer") && ["tokenizer", "filter", "char_filter"].into_iter().any(has) {
        return Err(Error::new(
            ErrorKind::Validation,
            "Validation Failed: 1: cannot define extra components on a named analyzer;",
        ));
    }
    let (chain, _of_chain) = paid_chain(body, index, lease)?;
    let explains = match body.get("explain") {
        None => false,
        Some(Value::Bool(explain)) => *explain,
        Some(Value::String(text)) if text == "true" => true,
        Some(Value::String(text)) if text == "false" => false,
        Some(_) => {
            return Err(parsing("[analyze_request] failed to parse field [explain]".to_owned()));
        }
    };
    let mut scratch = Scratch::default();
    scratch.set_lease(Some(lease.clone()));
    if !explains {
        return Ok(Analysis::Tokens(run(&chain, &texts, tokens_max, (room, &mut scratch))?));
    }
    let mut detail = Detail { attributes, ..Detail::default() };
    let mut stage = |name: &str, filters: usize| -> Result<Stage> {
        Ok(Stage {
            name: name.to_owned(),
            tokens: run(&chain.up_to(filters), &texts, tokens_max, (room, &mut scratch))?,
            keywords: chain.knows_keywords(filters),
        })
    };
    let Some(named) = chain.named() else {
        detail.analyzer = Some(stage(chain.name(), usize::MAX)?);
        return Ok(Analysis::Detail(detail));
    };
    detail.char_filters =
        named.char_filters.iter().map(|name| (name.clone(), Vec::new())).collect();
    for text in &texts {
        let filtered = chain.filtered(text, room).continue_value().ok_or_else(too_large)?;
        for (at, filtered) in filtered.into_iter().enumerate() {
            detail.char_filters[at].1.push(filtered);
        }
    }
    let (name, mut count) = (&named.tokenizer.0, named.tokenizer.1);
    detail.tokenizer = Some(stage(name, count)?);
    for (name, filters) in &named.filters {
        count += filters;
        detail.filters.push(stage(name, count)?);
    }
    Ok(Analysis::Detail(detail))
}

/// What is said where the tokens would take too much memory.
fn too_large() -> Error {
    let text = format!(
        "[request] Data too large, data for [<analyze>] would be larger than the limit of [{BYTES_MAX}b]"
    );
    Error::new(ErrorKind::NoMemory, text)
}

/// The tokens of the texts; what they take is taken from `room`.
fn run(
    chain: &Analyzer,
    texts: &[&str],
    tokens_max: usize,
    (room, scratch): (&Room, &mut Scratch),
) -> Result<Vec<OwnedToken>> {
    let mut tokens = Vec::new();
    let (mut position, mut offset) = (0u32, 0u32);
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            position = position.saturating_add(chain.gap());
            offset = offset.saturating_add(1);
        }
        let mut too_many = false;
        let done = chain.tokens_with(text, scratch, |token| {
            if tokens.len() >= tokens_max {
                too_many = true;
                return STOP;
            }
            room.take(token.term.len() + TOKEN_BYTES)?;
            tokens.push(OwnedToken {
                term: token.term.to_owned(),
                position: position.saturating_add(token.position),
                length: token.length,
                start: offset.saturating_add(token.start),
                end: offset.saturating_add(token.end),
                kind: token.kind,
                keyword: token.keyword,
            });
            ON
        });
        if too_many {
            return Err(Error::new(
                ErrorKind::IllegalState,
                format!(
                    "The number of tokens produced by calling _analyze has exceeded the allowed \
                     maximum of [{tokens_max}]. This limit can be set by changing the \
                     [index.analyze.max_token_count] index level setting."
                ),
            ));
        }
        if room.is_full() || done.lacks_room {
            return Err(too_large());
        }
        position = position.saturating_add(done.position_end);
        offset = offset.saturating_add(done.offset_end);
    }
    Ok(tokens)
}

fn parsing(reason: String) -> Error {
    Error::new(ErrorKind::XContentParse, reason)
}

/// What a value of the wrong kind is called.
fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "VALUE_NULL",
        Value::Bool(_) => "VALUE_BOOLEAN",
        Value::Number(_) => "VALUE_NUMBER",
        Value::String(_) => "VALUE_STRING",
        Value::Array(_) => "START_ARRAY",
        Value::Object(_) => "START_OBJECT",
    }
}

fn texts(body: &Value) -> Result<Vec<&str>> {
    let wrong = |value: &Value| wrong_kind("text", value);
    match body.get("text") {
        Some(Value::String(text)) => Ok(vec![text]),
        Some(Value::Array(items)) if !items.is_empty() => {
            items.iter().map(|item| item.as_str().ok_or_else(|| wrong(item))).collect()
        }
        None | Some(Value::Array(_)) => {
            Err(Error::new(ErrorKind::Validation, "Validation Failed: 1: text is missing;"))
        }
        Some(other) => Err(wrong(other)),
    }
}

fn attributes(body: &Value) -> Result<Vec<String>> {
    match body.get("attributes") {
        None => Ok(Vec::new()),
        Some(Value::String(name)) => Ok(vec![name.to_lowercase()]),
        Some(Value::Array(names)) if names.iter().all(|name| name.as_str().is_some()) => {
            Ok(names.iter().filter_map(Value::as_str).map(str::to_lowercase).collect())
        }
        Some(other) => Err(wrong_kind("attributes", other)),
    }
}

/// What is said of a member that is not of the kind that it must be of.
fn wrong_kind(member: &str, value: &Value) -> Error {
    let kind = kind_name(value);
    parsing(format!("[analyze_request] {member} doesn't support values of type: {kind}"))
}

/// The chain that the body asks for, and the memory that its rules take, where those are many.
fn paid_chain(
    body: &Value,
    index: Option<&Mapping>,
    lease: &Lease,
) -> Result<(Analyzer, Option<Taken>)> {
    let (small, is_exceeded) =
        within_bytes(UNPAID_BYTES, || (chain(body, index), holding::is_exceeded()));
    if !is_exceeded {
        return Ok((small?, None));
    }
    drop(small);
    let bytes = ROOM_BYTES.min(lease.total_bytes() / CHAIN_PART);
    let mut taken = lease.take_leaving(bytes).ok_or_else(too_large)?;
    within_bytes(bytes, || {
        let chain = chain(body, index)?;
        taken.shrink_to(holding::held());
        Ok((chain, Some(taken)))
    })
}

/// The chain that the body asks for.
fn chain(body: &Value, index: Option<&Mapping>) -> Result<Analyzer> {
    let default = Registry::default();
    let registry = index.map_or(&default, |mapping| &mapping.settings().analysis);
    // Outside an index the values of one text follow each other without a gap.
    let gap = |analyzer: &Analyzer| {
        let gap = if index.is_some() { analyzer.gap() } else { 0 };
        analyzer.clone().with_gap(gap)
    };
    let name = |key: &str| body.get(key).and_then(Value::as_str);
    if let Some(name) = name("normalizer") {
        if index.is_none() {
            return Err(Error::new(
                ErrorKind::Validation,
                "Validation Failed: 1: index is required if normalizer is specified;",
            ));
        }
        return registry.normalizer(name).map(|found| gap(found)).ok_or_else(|| {
            Error::illegal_argument(format!("failed to find normalizer under [{name}]"))
        });
    }
    if let Some(name) = name("analyzer") {
        return registry.analyzer(name).map(|found| gap(found)).ok_or_else(|| {
            let place = if index.is_some() { "" } else { "global " };
            Error::illegal_argument(format!("failed to find {place}analyzer [{name}]"))
        });
    }
    if let Some(field) = name("field") {
        let Some(mapping) = index else {
            return Err(Error::illegal_argument(
                "analysis based on a specific field requires an index",
            ));
        };
        return Ok(match mapping.field(field).map(|field| &field.kind) {
            Some(Kind::Text(text)) => {
                Analyzer::clone(&text.analyzer).with_gap(text.position_increment_gap)
            }
            Some(Kind::Keyword(keyword)) => match &keyword.normalizer {
                Some(normalizer) => Analyzer::clone(normalizer),
                None => Analyzer::new("keyword", Tokenizer::Keyword, Vec::new()),
            },
            Some(_) => {
                return Err(Error::illegal_argument(format!(
                    "Can't process field [{field}], Analysis requests are only supported on \
                     tokenized fields"
                )));
            }
            None => Analyzer::clone(registry.default_analyzer()),
        });
    }
    if ["tokenizer", "filter", "char_filter"].iter().all(|key| body.get(key).is_none()) {
        return Ok(gap(registry.default_analyzer()));
    }
    parts(body, registry, index.is_some())
}

/// A chain of parts, each by name or definition.
fn parts(body: &Value, registry: &Registry, of_index: bool) -> Result<Analyzer> {
    let place = if of_index { "" } else { "global " };
    let missing = |kind: &str, name: &str| {
        Error::illegal_argument(format!("failed to find {place}{kind} under [{name}]"))
    };
    let kind_of = |part: &str, definition: &Value| {
        let kind = definition.get("type").and_then(Value::as_str);
        kind.map(str::to_owned).ok_or_else(|| {
            let shown = json::to_string(definition);
            Error::illegal_argument(format!("Missing [type] setting for anonymous {part}: {shown}"))
        })
    };
    let anonymous = |kind: &str| format!("__anonymous__{kind}");
    let mut named = Named::default();
    let mut char_filters = Vec::new();
    for part in items(body.get("char_filter")) {
        let (name, found) = match part {
            Value::String(name) => (name.clone(), registry.char_filter(name)),
            definition => {
                let kind = kind_of("char_filter", definition)?;
                (anonymous(&kind), char_filter_of(&kind, definition)?)
            }
        };
        char_filters.push(found.ok_or_else(|| {
            missing("char_filter", name.strip_prefix("__anonymous__").unwrap_or(&name))
        })?);
        named.char_filters.push(name);
    }
    let (name, part) = match body.get("tokenizer") {
        None => ("keyword".to_owned(), Part { part: Tokenizer::Keyword, filters: Vec::new() }),
        Some(Value::String(name)) => {
            let found = registry.tokenizer(name).ok_or_else(|| missing("tokenizer", name))?;
            (name.clone(), found)
        }
        Some(definition) => {
            let kind = kind_of("tokenizer", definition)?;
            let found = registry.defined_tokenizer(&kind, definition)?;
            (anonymous(&kind), found.ok_or_else(|| missing("tokenizer", &kind))?)
        }
    };
    let Part { part: tokenizer, mut filters } = part;
    named.tokenizer = (name, filters.len());
    for filter in items(body.get("filter")) {
        let before = Some((char_filters.as_slice(), &tokenizer, filters.as_slice()));
        let (name, found) = match filter {
            Value::String(name) => {
                let found = registry.filter(name, before)?;
                (name.clone(), found.ok_or_else(|| missing("filter", name))?)
            }
            definition => {
                let kind = kind_of("filter", definition)?;
                let found = registry.defined_filter(&kind, definition, before)?;
                (anonymous(&kind), found.ok_or_else(|| missing("filter", &kind))?)
            }
        };
        named.filters.push((name, found.len()));
        filters.extend(found);
    }
    // With an index or without: a chain of parts leaves the gap of a custom analyzer between its texts.
    Ok(Analyzer::whole("custom", char_filters, tokenizer, filters).with_names(named))
}

/// One part, or several.
fn items(value: Option<&Value>) -> &[Value] {
    match value {
        None | Some(Value::Null) => &[],
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
    }
}

#[cfg(test)]
mod tests {
    use env::budget::Budget;

    use super::*;

    /// With more memory than anything here needs.
    fn analyze(body: &Value, tokens_max: usize) -> Result<Analysis> {
        let lease = Budget::new(1 << 30).lease();
        super::analyze(body, None, tokens_max, &lease).map(|(analysis, _)| analysis)
    }

    fn show(body: &Value) -> Vec<String> {
        let done = analyze(body, TOKENS_MAX).expect("a good request");
        let Analysis::Tokens(tokens) = done else { panic!("explained") };
        tokens
            .iter()
            .map(|t| format!("{} {}-{} {} {}", t.term, t.start, t.end, t.kind.name(), t.position))
            .collect()
    }

    #[test]
    fn texts_run_on_as_elasticsearch_shows_them() {
        assert_eq!(
            show(&json::json!({"analyzer": "standard", "text": ["one two", "three"]})),
            ["one 0-3 <ALPHANUM> 0", "two 4-7 <ALPHANUM> 1", "three 8-13 <ALPHANUM> 2"]
        );
        assert_eq!(
            show(
                &json::json!({"tokenizer": "standard", "filter": ["lowercase", {"type": "stop", "stopwords": ["a"]}], "text": "A 𝒳 é"})
            ),
            ["𝒳 2-4 <ALPHANUM> 1", "é 5-6 <ALPHANUM> 2"]
        );
        assert_eq!(
            show(&json::json!({"tokenizer": "standard", "text": ["a b", "c"]})),
            ["a 0-1 <ALPHANUM> 0", "b 2-3 <ALPHANUM> 1", "c 4-5 <ALPHANUM> 102"]
        );
    }

    /// Ten thousand tokens were allowed, however long each.
    #[test]
    fn what_the_tokens_take_is_bounded() {
        let long = "ab ".repeat(9_000);
        let wide = json::json!({
            "type": "shingle", "min_shingle_size": 4, "max_shingle_size": 4,
            "token_separator": ("-".repeat(3_000)), "output_unigrams": false
        });
        let chars =
            json::json!({"type": "mapping", "mappings": [format!("a => {}", "-".repeat(10_000))]});
        for body in [
            json::json!({"tokenizer": "whitespace", "filter": [wide.clone()], "text": (long.clone())}),
            json::json!({"tokenizer": "whitespace", "filter": [wide.clone()], "text": (long.clone()), "explain": true}),
            json::json!({"char_filter": [chars.clone()], "text": (long.clone())}),
            json::json!({"char_filter": [chars], "text": (long.clone()), "explain": true}),
        ] {
            let error = analyze(&body, TOKENS_MAX).expect_err("too large");
            assert_eq!(error.kind, ErrorKind::NoMemory, "{error}");
            assert!(error.reason.starts_with("[request] Data too large, data for [<analyze>]"));
        }
        let few = json::json!({"tokenizer": "whitespace", "filter": [wide], "text": "a b c d"});
        assert_eq!(show(&few).len(), 1);
        // What is too many is told without a look at the rest.
        let never = json::json!({"filter": (vec!["keyword_repeat"; 60]), "text": "a"});
        let error = analyze(&never, TOKENS_MAX).expect_err("too many");
        assert_eq!(error.kind, ErrorKind::IllegalState, "{error}");
    }

    /// Six requests at once made 291 MiB of texts where 128 were allowed: nobody paid for what their filters made.
    #[test]
    fn what_is_made_is_paid_for_and_what_is_answered_stays_so() {
        const ALL: usize = 32 << 20;
        let budget = Budget::new(ALL);
        let taken =
            || -> usize { budget.taken_bytes().iter().map(|(_, bytes)| bytes).sum::<usize>() };
        let lease = budget.lease();
        let analyze = |body: &Value| super::analyze(body, None, TOKENS_MAX, &lease);
        let chars = |times: usize| json::json!({"type": "mapping", "mappings": [format!("a => {}", "a".repeat(times))]});
        let text = "a".repeat(100);
        let large =
            json::json!({"char_filter": (vec![chars(100), chars(50)]), "text": (text.as_str())});
        let (answer, memory) = analyze(&large).expect("half a million letters");
        assert!(
            memory.as_ref().is_some_and(|memory| memory.bytes() + UNPAID_BYTES >= 500_000),
            "{memory:?}"
        );
        assert_eq!(taken(), memory.as_ref().map_or(0, Taken::bytes), "the rest came back");
        drop((answer, memory));
        assert_eq!(taken(), 0);
        // Little is left: it is refused, and what is left stays for others.
        let held = lease.take(ALL - (5 << 20)).expect("there is as much");
        for body in [
            large,
            json::json!({"tokenizer": "keyword", "filter": [{"type": "synonym", "synonyms": [(0..2_000).map(|at| format!("w{at}")).collect::<Vec<_>>().join(", ")]}], "text": "a"}),
        ] {
            let error = analyze(&body).expect_err("no memory");
            assert_eq!(error.kind, ErrorKind::NoMemory, "{error}");
            assert_eq!(taken(), held.bytes());
        }
        let small = json::json!({"char_filter": (vec![chars(10)]), "text": (text.as_str())});
        let (_, memory) = analyze(&small).expect("it takes little");
        assert!(memory.is_none(), "{memory:?}");
    }

    #[test]
    fn faults_are_told_in_elasticsearchs_words() {
        for (body, want) in [
            (json::json!({"analyzer": "zz", "text": "x"}), "failed to find global analyzer [zz]"),
            (
                json::json!({"tokenizer": "zz", "text": "x"}),
                "failed to find global tokenizer under [zz]",
            ),
            (
                json::json!({"filter": ["zz"], "text": "x"}),
                "failed to find global filter under [zz]",
            ),
            (
                json::json!({"filter": {"a": 1}, "text": "x"}),
                "Missing [type] setting for anonymous filter: {\"a\":1}",
            ),
            (
                json::json!({"tokenizer": {"a": "x"}, "text": "x"}),
                "Missing [type] setting for anonymous tokenizer: {\"a\":\"x\"}",
            ),
            (
                json::json!({"char_filter": ["zz"], "text": "x"}),
                "failed to find global char_filter under [zz]",
            ),
            (json::json!({"analyzer": "standard"}), "Validation Failed: 1: text is missing;"),
            (
                json::json!({"analyzer": {"type": "whitespace"}, "text": "A b"}),
                "[analyze_request] analyzer doesn't support values of type: START_OBJECT",
            ),
            (
                json::json!({"field": 5, "text": "x"}),
                "[analyze_request] field doesn't support values of type: VALUE_NUMBER",
            ),
            (
                json::json!({"attributes": 5, "text": "x"}),
                "[analyze_request] attributes doesn't support values of type: VALUE_NUMBER",
            ),
        ] {
            assert_eq!(analyze(&body, TOKENS_MAX).expect_err("refused").reason, want);
        }
        let two = json::json!({"text": "one two"});
        let reason = analyze(&two, 1).expect_err("too many").reason;
        assert!(reason.contains("allowed maximum of [1]"), "{reason}");
    }
}
