//! Queries on analysed text: `match`, `match_phrase`.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, OneField, Read, boolean, boost, int, is_value, members, scalar, text, text_or_null,
    unknown_token, unsupported,
};
use crate::ast::{Match, Node as Ask, Operator, Phrase, Query, Scalar, ZeroTerms};
use crate::error::Error;

/// `match`.
pub fn match_(body: &Node) -> Read<Query> {
    const NAME: &str = "match";
    let mut field = OneField::default();
    let mut query = None;
    let mut found = Match {
        field: String::new(),
        query: Scalar::Bool(false),
        operator: Operator::Or,
        minimum_should_match: None,
        analyzer: None,
        lenient: false,
        zero_terms: ZeroTerms::None,
    };
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        field.set(NAME, &member.key, member.value.at)?;
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
                return Err(unknown_token(NAME, key, value));
            }
            match key {
                "query" => query = scalar(value)?,
                "analyzer" => found.analyzer = Some(text(value)?),
                "boost" => factor = boost(value)?,
                "operator" => found.operator = operator(value)?,
                "minimum_should_match" => found.minimum_should_match = text_or_null(value)?,
                "lenient" => found.lenient = boolean(value)?,
                "zero_terms_query" => found.zero_terms = zero_terms(value)?,
                // Chains that make graphs of synonyms are not there yet; the flag says nothing
                // about chains that do not.
                "auto_generate_synonyms_phrase_query" => {
                    boolean(value)?;
                }
                "_name" => name = Some(text(value)?),
                _ => return Err(unsupported(NAME, key, value)),
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

/// `match_phrase`.
pub fn match_phrase(body: &Node) -> Read<Query> {
    const NAME: &str = "match_phrase";
    let mut field = OneField::default();
    let mut query = None;
    let mut found = Phrase {
        field: String::new(),
        query: Scalar::Bool(false),
        slop: 0,
        analyzer: None,
        zero_terms: ZeroTerms::None,
    };
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        field.set(NAME, &member.key, member.value.at)?;
        let Json::Object(options) = &member.value.kind else {
            query = scalar(&member.value)?;
            continue;
        };
        for option in options {
            let (key, value) = (option.key.as_str(), &option.value);
            if !is_value(value) {
                return Err(unknown_token(NAME, key, value));
            }
            match key {
                "query" => query = scalar(value)?,
                "analyzer" => found.analyzer = Some(text(value)?),
                "boost" => factor = boost(value)?,
                "slop" => found.slop = slop(value)?,
                "zero_terms_query" => found.zero_terms = zero_terms(value)?,
                "_name" => name = Some(text(value)?),
                _ => return Err(unsupported(NAME, key, value)),
            }
        }
    }
    if field.get().is_none_or(str::is_empty) {
        return Err(Fault::illegal(body.end, "[match_phrase] requires fieldName"));
    }
    let Some(query) = query else {
        return Err(Fault::illegal(body.end, "[match_phrase] requires query value"));
    };
    found.field = field.required(body.end)?;
    found.query = query;
    Ok(Query { node: Ask::Phrase(found), boost: factor, name })
}

fn slop(value: &Node) -> Read<u32> {
    u32::try_from(int(value)?).map_err(|_| Fault::illegal(value.at, "No negative slop allowed."))
}

/// `Operator.fromString`.
fn operator(value: &Node) -> Read<Operator> {
    let word = text(value)?.to_uppercase();
    match word.as_str() {
        "AND" => Ok(Operator::And),
        "OR" => Ok(Operator::Or),
        _ => {
            let reason = format!("No enum constant org.elasticsearch.index.query.Operator.{word}");
            Err(Fault { error: Error::illegal(reason), at: value.at })
        }
    }
}

fn zero_terms(value: &Node) -> Read<ZeroTerms> {
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
