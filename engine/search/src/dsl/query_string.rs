//! The options of `query_string` and `simple_query_string`; and the query of a URL's `q`.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, Read, boolean, boolean_text, boost, int, is_value, members, text, text_or_null,
    unsupported,
};
use super::multi;
use super::text::{fields, fuzziness, fuzzy_option, operator, operator_of, slop, tie_breaker};
use crate::ast::{FuzzyOptions, Node as Ask, Operator, Query, QueryString, SimpleQueryString};
use crate::error::{Error, Result};

/// Operators of `simple_query_string`.
pub mod flags {
    /// `+`.
    pub const AND: u32 = 1;
    /// `-`.
    pub const NOT: u32 = 1 << 1;
    /// `|`.
    pub const OR: u32 = 1 << 2;
    /// `*`.
    pub const PREFIX: u32 = 1 << 3;
    /// `"`.
    pub const PHRASE: u32 = 1 << 4;
    /// `(` and `)`.
    pub const PRECEDENCE: u32 = 1 << 5;
    /// A backslash.
    pub const ESCAPE: u32 = 1 << 6;
    /// Blanks.
    pub const WHITESPACE: u32 = 1 << 7;
    /// `~` after a word.
    pub const FUZZY: u32 = 1 << 8;
    /// `~` after a phrase.
    pub const NEAR: u32 = 1 << 9;
    /// All of them.
    pub const ALL: u32 = u32::MAX;
}

/// `query_string`.
pub fn query_string(body: &Node) -> Read<Query> {
    const NAME: &str = "query_string";
    let mut query = None;
    let mut found = QueryString::new("");
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        if let ("fields", Json::Array(_)) = (key, &value.kind) {
            found.fields.extend(fields(value)?);
            continue;
        }
        if matches!(value.kind, Json::Array(_)) {
            return Err(unsupported(NAME, key, value));
        }
        if value.is_null() && !matches!(key, "time_zone" | "rewrite" | "minimum_should_match") {
            // As Elasticsearch, for which `null` is no value here.
            continue;
        }
        if !is_value(value) && !value.is_null() {
            return Err(Fault::parsing(
                value.at,
                format!("[{NAME}] unknown token [{}] after [{key}]", value.token()),
            ));
        }
        match key {
            "fuzziness" => {
                found.fuzziness = fuzziness(value)?;
                continue;
            }
            "prefix_length" | "max_expansions" => return Err(unsupported(NAME, key, value)),
            _ => {}
        }
        if fuzzy_option(NAME, &mut found.fuzzy, key, value)? {
            continue;
        }
        match key {
            "query" => query = Some(text(value)?),
            "fields" => found.fields.extend(fields(value)?),
            "default_field" => found.default_field = Some(text(value)?),
            "default_operator" => found.operator = operator(value)?,
            "analyzer" => found.analyzer = Some(text(value)?),
            "quote_analyzer" => found.quote_analyzer = Some(text(value)?),
            "quote_field_suffix" => found.quote_field_suffix = Some(text(value)?),
            "allow_leading_wildcard" => found.allow_leading_wildcard = boolean(value)?,
            "analyze_wildcard" => found.analyze_wildcard = boolean(value)?,
            "enable_position_increments" => {
                boolean(value)?;
            }
            "max_determinized_states" => {
                found.max_determinized_states = states(int(value)?, value)?;
            }
            "escape" => found.escape = boolean(value)?,
            "phrase_slop" => found.phrase_slop = slop(value)?,
            "type" => found.kind = multi::kind(value)?,
            "tie_breaker" => found.tie_breaker = Some(tie_breaker(value)?),
            "rewrite" => found.rewrite = text_or_null(value)?,
            "minimum_should_match" => found.minimum_should_match = text_or_null(value)?,
            "lenient" => found.lenient = Some(boolean(value)?),
            "time_zone" => {
                if let Some(zone) = text_or_null(value)? {
                    mapping::types::zone::Zone::parse(&zone)
                        .map_err(|error| Fault { error: error.into(), at: value.at })?;
                    found.time_zone = Some(zone);
                }
            }
            "auto_generate_synonyms_phrase_query" => found.synonym_phrases = boolean(value)?,
            "boost" => factor = boost(value)?,
            "_name" => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let Some(query) = query else {
        let reason = "[query_string] must be provided with a [query]";
        return Err(Fault::parsing(body.end, reason));
    };
    found.query = query;
    Ok(Query { node: Ask::QueryString(found), boost: factor, name })
}

/// A number of states, which is never negative.
pub fn states(count: i32, value: &Node) -> Read<usize> {
    usize::try_from(count)
        .map_err(|_| Fault::illegal(value.at, format!("[max_determinized_states] was [{count}]")))
}

/// `simple_query_string`.
pub fn simple_query_string(body: &Node) -> Read<Query> {
    const NAME: &str = "simple_query_string";
    let mut query = None;
    let mut found = SimpleQueryString {
        query: String::new(),
        fields: Vec::new(),
        operator: Operator::Or,
        flags: flags::ALL,
        analyzer: None,
        quote_field_suffix: None,
        analyze_wildcard: false,
        lenient: None,
        fuzzy: FuzzyOptions::default(),
        minimum_should_match: None,
        synonym_phrases: true,
    };
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        if let ("fields", Json::Array(_)) = (key, &value.kind) {
            found.fields.extend(fields(value)?);
            continue;
        }
        if !is_value(value) {
            let reason = format!("[{NAME}] unknown token [{}] after [{key}]", value.token());
            return Err(match value.kind {
                Json::Array(_) => unsupported(NAME, key, value),
                _ => Fault::parsing(value.at, reason),
            });
        }
        if matches!(key, "fuzziness" | "prefix_length" | "max_expansions" | "fuzzy_rewrite") {
            return Err(unsupported(NAME, key, value));
        }
        if fuzzy_option(NAME, &mut found.fuzzy, key, value)? {
            continue;
        }
        match key {
            "query" => query = Some(text(value)?),
            "fields" => found.fields.extend(fields(value)?),
            "boost" => factor = boost(value)?,
            "analyzer" => found.analyzer = Some(text(value)?),
            "default_operator" => found.operator = operator(value)?,
            "flags" => {
                found.flags = match &value.kind {
                    Json::Number(_) => match int(value)? {
                        // -1 stands for all, as in Elasticsearch.
                        negative if negative < 0 => flags::ALL,
                        flags => flags as u32,
                    },
                    _ => simple_flags(&text(value)?)
                        .map_err(|error| Fault { error, at: value.at })?,
                };
            }
            "lenient" => found.lenient = Some(boolean(value)?),
            "analyze_wildcard" => found.analyze_wildcard = boolean(value)?,
            "minimum_should_match" => found.minimum_should_match = text_or_null(value)?,
            "quote_field_suffix" => found.quote_field_suffix = Some(text(value)?),
            "auto_generate_synonyms_phrase_query" => found.synonym_phrases = boolean(value)?,
            "_name" => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let Some(query) = query else {
        let reason = "[simple_query_string] query text missing";
        return Err(Fault::parsing(body.end, reason));
    };
    found.query = query;
    Ok(Query { node: Ask::SimpleQueryString(found), boost: factor, name })
}

fn simple_flags(text: &str) -> Result<u32> {
    const NAMES: [(&str, u32); 13] = [
        ("ALL", flags::ALL),
        ("NONE", 0),
        ("AND", flags::AND),
        ("NOT", flags::NOT),
        ("OR", flags::OR),
        ("PREFIX", flags::PREFIX),
        ("PHRASE", flags::PHRASE),
        ("PRECEDENCE", flags::PRECEDENCE),
        ("ESCAPE", flags::ESCAPE),
        ("WHITESPACE", flags::WHITESPACE),
        ("FUZZY", flags::FUZZY),
        ("NEAR", flags::NEAR),
        ("SLOP", flags::NEAR),
    ];
    let mut found = 0;
    if text.is_empty() {
        return Ok(flags::ALL);
    }
    for word in text.split('|').filter(|word| !word.is_empty()) {
        let upper = word.to_uppercase();
        let Some((name, flag)) = NAMES.iter().find(|(name, _)| *name == upper) else {
            return Err(Error::illegal(format!("Unknown simple_query_string flag [{word}]")));
        };
        match *name {
            "NONE" | "ALL" => return Ok(*flag),
            _ => found |= flag,
        }
    }
    // No flags at all stand for all of them.
    Ok(if found == 0 { flags::ALL } else { found })
}

/// Parameters of a URL that make a query: `q` and what belongs to it.
pub const URL_PARAMS: [&str; 6] =
    ["q", "df", "default_operator", "analyzer", "lenient", "analyze_wildcard"];

/// The query of a URL's parameters; `None` where there is no `q`.
pub fn of_url(params: &[(String, String)]) -> Result<Option<Query>> {
    let mut found = QueryString::new("");
    let mut given = false;
    for (name, value) in params {
        let flag = || if value.is_empty() { Ok(true) } else { boolean_text(value) };
        match name.as_str() {
            "q" => {
                found.query = value.clone();
                given = true;
            }
            "df" => found.default_field = Some(value.clone()),
            "default_operator" => found.operator = operator_of(value)?,
            "analyzer" => found.analyzer = Some(value.clone()),
            "lenient" => found.lenient = Some(flag()?),
            "analyze_wildcard" => found.analyze_wildcard = flag()?,
            _ => {}
        }
    }
    Ok(given.then(|| Query::new(Ask::QueryString(found))))
}
