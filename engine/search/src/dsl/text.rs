//! Queries on the text of one field: `match`, `match_bool_prefix`, `match_phrase`,
//! `match_phrase_prefix`; and what other queries on text read alike.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, OneField, Read, boolean, boost, float, int, is_value, members, scalar, text,
    text_or_null, unknown_token, unsupported,
};
use crate::ast::{
    Fuzziness, FuzzyOptions, Match, Node as Ask, Operator, Phrase, PhrasePrefix, Query, Scalar,
    ZeroTerms,
};
use crate::error::Error;

/// `match`.
pub fn match_(body: &Node) -> Read<Query> {
    match_like("match", body)
}

/// `match_bool_prefix`.
pub fn match_bool_prefix(body: &Node) -> Read<Query> {
    match_like("match_bool_prefix", body)
}

/// `match` and `match_bool_prefix` are read alike.
fn match_like(query_name: &'static str, body: &Node) -> Read<Query> {
    let mut field = OneField::default();
    let mut query = None;
    let mut found = Match::new("", Scalar::Bool(false));
    found.prefix = query_name != "match";
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        field.set(query_name, &member.key, member.value.at)?;
        let Json::Object(options) = &member.value.kind else {
            query = scalar(&member.value)?;
            continue;
        };
        for option in options {
            let (key, value) = (option.key.as_str(), &option.value);
            if !is_value(value) {
                if key == "query" && !value.is_null() {
                    scalar(value)?;
                }
                return Err(unknown_token(query_name, key, value));
            }
            if fuzzy_option(query_name, &mut found.fuzzy, key, value)? {
                continue;
            }
            match key {
                "query" => query = scalar(value)?,
                "analyzer" => found.analyzer = Some(text(value)?),
                "boost" => factor = boost(value)?,
                "operator" => found.operator = operator(value)?,
                "minimum_should_match" => found.minimum_should_match = text_or_null(value)?,
                "lenient" if !found.prefix => found.lenient = boolean(value)?,
                "zero_terms_query" if !found.prefix => found.zero_terms = zero_terms(value)?,
                "auto_generate_synonyms_phrase_query" if !found.prefix => {
                    found.synonym_phrases = boolean(value)?;
                }
                "_name" => name = Some(text(value)?),
                _ => return Err(unsupported(query_name, key, value)),
            }
        }
    }
    let Some(query) = query else {
        return Err(Fault::parsing(body.end, "No text specified for text query"));
    };
    found.field = field.required(body.end)?;
    found.query = query;
    Ok(Query { node: Ask::Match(found), boost: factor, name })
}

/// The keys by which words are expanded to those near them; false for any other key.
pub fn fuzzy_option(
    query: &str,
    options: &mut FuzzyOptions,
    key: &str,
    value: &Node,
) -> Read<bool> {
    match key {
        "fuzziness" => options.fuzziness = Some(fuzziness(value)?),
        "prefix_length" | "fuzzy_prefix_length" => {
            options.prefix_length = u32::try_from(int(value)?).map_err(|_| {
                let reason = format!("[{query}] requires prefix length to be non-negative.");
                Fault::illegal(value.at, reason)
            })?;
        }
        "max_expansions" | "fuzzy_max_expansions" => {
            options.max_expansions = expansions(query, value)?;
        }
        "fuzzy_transpositions" => options.transpositions = boolean(value)?,
        "fuzzy_rewrite" => options.rewrite = text_or_null(value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// A number of words, above 0.
fn expansions(query: &str, value: &Node) -> Read<u32> {
    match u32::try_from(int(value)?) {
        Ok(count) if count > 0 => Ok(count),
        _ => {
            let reason = format!("[{query}] requires maxExpansions to be positive.");
            Err(Fault::illegal(value.at, reason))
        }
    }
}

/// `AUTO`, `AUTO:3,6`, `2`.
pub fn fuzziness(value: &Node) -> Read<Fuzziness> {
    let word = text(value)?;
    let invalid = |reason: String| Fault::illegal(value.at, reason);
    let upper = word.trim().to_uppercase();
    if let Some(rest) = upper.strip_prefix("AUTO") {
        if rest.is_empty() {
            return Ok(Fuzziness::AUTO);
        }
        let parts: Vec<&str> = rest.trim_start_matches(':').split(',').collect();
        let [low, high] = parts.as_slice() else {
            return Err(invalid(format!(
                "failed to find low and high distance values in [{word}]"
            )));
        };
        let number = |text: &str| {
            text.trim().parse::<u32>().map_err(|_| {
                let outer = format!("failed to parse [{word}] as a \"auto:int,int\"");
                Fault { error: Error::illegal(outer).caused_by(Error::number(text)), at: value.at }
            })
        };
        let (low, high) = (number(low)?, number(high)?);
        if low > high {
            return Err(invalid(format!(
                "fuzziness low distance [{low}] must be lower or equal to the high distance [{high}]"
            )));
        }
        return Ok(Fuzziness::Auto(low, high));
    }
    match word.trim().parse::<f32>() {
        Ok(edits) if edits >= 0.0 && edits.fract() == 0.0 => Ok(Fuzziness::Edits(edits as u32)),
        _ => Err(invalid(format!("Invalid fuzziness value: {word}"))),
    }
}

/// `match_phrase`.
pub fn match_phrase(body: &Node) -> Read<Query> {
    phrase_like("match_phrase", body)
}

/// `match_phrase_prefix`.
pub fn match_phrase_prefix(body: &Node) -> Read<Query> {
    phrase_like("match_phrase_prefix", body)
}

/// `match_phrase` and `match_phrase_prefix` are read alike.
fn phrase_like(query_name: &'static str, body: &Node) -> Read<Query> {
    let prefix = query_name != "match_phrase";
    let mut field = OneField::default();
    let mut query = None;
    let mut max_expansions = 50;
    let mut found = Phrase {
        field: String::new(),
        query: Scalar::Bool(false),
        slop: 0,
        analyzer: None,
        zero_terms: ZeroTerms::None,
    };
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        field.set(query_name, &member.key, member.value.at)?;
        let Json::Object(options) = &member.value.kind else {
            query = scalar(&member.value)?;
            continue;
        };
        for option in options {
            let (key, value) = (option.key.as_str(), &option.value);
            if !is_value(value) {
                return Err(unknown_token(query_name, key, value));
            }
            match key {
                "query" => query = scalar(value)?,
                "analyzer" => found.analyzer = Some(text(value)?),
                "boost" => factor = boost(value)?,
                "slop" => found.slop = slop(value)?,
                "max_expansions" if prefix => {
                    max_expansions = u32::try_from(int(value)?).map_err(|_| {
                        Fault::illegal(value.at, "No negative maxExpansions allowed.")
                    })?;
                }
                "zero_terms_query" => found.zero_terms = zero_terms(value)?,
                "_name" => name = Some(text(value)?),
                _ => return Err(unsupported(query_name, key, value)),
            }
        }
    }
    if field.get().is_none_or(str::is_empty) {
        let reason = format!("[{query_name}] requires fieldName");
        return Err(Fault::illegal(body.end, reason));
    }
    let Some(query) = query else {
        let reason = format!("[{query_name}] requires query value");
        return Err(Fault::illegal(body.end, reason));
    };
    found.field = field.required(body.end)?;
    found.query = query;
    let node = match prefix {
        true => Ask::PhrasePrefix(PhrasePrefix { phrase: found, max_expansions }),
        false => Ask::Phrase(found),
    };
    Ok(Query { node, boost: factor, name })
}

/// `slop`, which is never negative.
pub fn slop(value: &Node) -> Read<u32> {
    u32::try_from(int(value)?).map_err(|_| Fault::illegal(value.at, "No negative slop allowed."))
}

/// `Operator.fromString`.
pub fn operator(value: &Node) -> Read<Operator> {
    operator_of(&text(value)?).map_err(|error| Fault { error, at: value.at })
}

/// `and`, `or`, in any case.
pub fn operator_of(word: &str) -> crate::Result<Operator> {
    let word = word.to_uppercase();
    match word.as_str() {
        "AND" => Ok(Operator::And),
        "OR" => Ok(Operator::Or),
        _ => Err(Error::illegal(format!(
            "No enum constant org.elasticsearch.index.query.Operator.{word}"
        ))),
    }
}

/// `none`, `all`.
pub fn zero_terms(value: &Node) -> Read<ZeroTerms> {
    let word = text(value)?;
    match word.to_ascii_lowercase().as_str() {
        "none" => Ok(ZeroTerms::None),
        "all" => Ok(ZeroTerms::All),
        _ => {
            let reason = format!("Unsupported zero_terms_query value [{word}]");
            Err(Fault::parsing(value.at, reason))
        }
    }
}

/// Names of fields, each with a factor behind `^`.
pub fn fields(value: &Node) -> Read<Vec<(String, f32)>> {
    match &value.kind {
        Json::Array(nodes) => nodes.iter().map(field).collect(),
        _ => Ok(vec![field(value)?]),
    }
}

fn field(value: &Node) -> Read<(String, f32)> {
    field_of(&text(value)?).map_err(|error| Fault { error, at: value.at })
}

/// `title^3`.
pub fn field_of(name: &str) -> crate::Result<(String, f32)> {
    match name.split_once('^') {
        None => Ok((name.to_owned(), 1.0)),
        Some((name, factor)) => {
            let factor: f32 = factor.parse().map_err(|_| Error::number(factor))?;
            if factor < 0.0 {
                return Err(Error::illegal(format!(
                    "negative [boost] are not allowed in [{name}^{factor:?}], use a value between \
                     0 and 1 to deboost"
                )));
            }
            Ok((name.to_owned(), factor))
        }
    }
}

/// A share of scores.
pub fn tie_breaker(value: &Node) -> Read<f32> {
    float(value)
}
