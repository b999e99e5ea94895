//! Queries on the text of several fields: `multi_match`, `combined_fields`.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, Read, Takes, boolean, boost, is_value, members, object, scalar, text, text_or_null,
    unsupported,
};
use super::text::{fields, fuzzy_option, operator, slop, tie_breaker, zero_terms};
use crate::ast::{
    CombinedFields, FuzzyOptions, MultiKind, MultiMatch, Node as Ask, Operator, Query, Scalar,
    ZeroTerms,
};
use crate::error::{Error, Kind};

/// `multi_match`.
pub fn multi_match(body: &Node) -> Read<Query> {
    const NAME: &str = "multi_match";
    let mut query = None;
    let mut found = MultiMatch {
        fields: Vec::new(),
        query: Scalar::Bool(false),
        kind: MultiKind::BestFields,
        operator: Operator::Or,
        minimum_should_match: None,
        analyzer: None,
        lenient: None,
        zero_terms: ZeroTerms::None,
        tie_breaker: None,
        slop: 0,
        fuzzy: FuzzyOptions::default(),
        synonym_phrases: true,
    };
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        if key == "fields" {
            match &value.kind {
                Json::Array(_) | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
                    found.fields.extend(fields(value)?);
                }
                _ => return Err(unsupported(NAME, key, value)),
            }
            continue;
        }
        if !is_value(value) {
            if key == "query" && !value.is_null() {
                scalar(value)?;
            }
            let reason = format!("[{NAME}] unknown token [{}] after [{key}]", value.token());
            return Err(Fault::parsing(value.at, reason));
        }
        if fuzzy_option(NAME, &mut found.fuzzy, key, value)? {
            continue;
        }
        match key {
            "query" => query = scalar(value)?,
            "type" => found.kind = kind(value)?,
            "analyzer" => found.analyzer = Some(text(value)?),
            "boost" => factor = boost(value)?,
            "slop" => found.slop = slop(value)?,
            "operator" => found.operator = operator(value)?,
            "minimum_should_match" => found.minimum_should_match = text_or_null(value)?,
            "tie_breaker" => found.tie_breaker = Some(tie_breaker(value)?),
            "lenient" => found.lenient = Some(boolean(value)?),
            "zero_terms_query" => found.zero_terms = zero_terms(value)?,
            "auto_generate_synonyms_phrase_query" => found.synonym_phrases = boolean(value)?,
            "_name" => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let Some(query) = query else {
        return Err(Fault::parsing(body.end, "No text specified for multi_match query"));
    };
    if found.fuzzy.fuzziness.is_some()
        && matches!(
            found.kind,
            MultiKind::CrossFields | MultiKind::Phrase | MultiKind::PhrasePrefix
        )
    {
        let reason = format!("Fuzziness not allowed for type [{}]", found.kind.name());
        return Err(Fault::parsing(body.end, reason));
    }
    if found.slop != 0 && found.kind == MultiKind::BoolPrefix {
        return Err(Fault::parsing(body.end, "[slop] not allowed for type [bool_prefix]"));
    }
    found.query = query;
    Ok(Query { node: Ask::MultiMatch(found), boost: factor, name })
}

/// How fields are joined.
pub fn kind(value: &Node) -> Read<MultiKind> {
    kind_of(&text(value)?).map_err(|error| Fault { error, at: value.at })
}

fn kind_of(word: &str) -> crate::Result<MultiKind> {
    const KINDS: [MultiKind; 6] = [
        MultiKind::BestFields,
        MultiKind::MostFields,
        MultiKind::CrossFields,
        MultiKind::Phrase,
        MultiKind::PhrasePrefix,
        MultiKind::BoolPrefix,
    ];
    let same = |kind: &MultiKind| kind.name().eq_ignore_ascii_case(word);
    KINDS.into_iter().find(same).ok_or_else(|| {
        let reason = format!("failed to parse [multi_match] query type [{word}]. unknown type.");
        Error::new(Kind::Parse, reason)
    })
}

/// `combined_fields`.
pub fn combined_fields(body: &Node) -> Read<Query> {
    const NAME: &str = "combined_fields";
    let known = [
        ("query", Takes::Value),
        ("fields", Takes::Strings),
        ("operator", Takes::String),
        ("minimum_should_match", Takes::Value),
        ("auto_generate_synonyms_phrase_query", Takes::Bool),
        ("zero_terms_query", Takes::String),
        ("boost", Takes::Number),
        ("_name", Takes::String),
    ];
    let mut query = None;
    let mut found = CombinedFields {
        fields: Vec::new(),
        query: Scalar::Bool(false),
        operator: Operator::Or,
        minimum_should_match: None,
        zero_terms: ZeroTerms::None,
        synonym_phrases: true,
    };
    let (mut factor, mut name) = (1.0, None);
    object(NAME, &known, body, |key, value| {
        match key {
            "query" => query = scalar(value)?,
            "fields" => {
                for (field, factor) in fields(value)? {
                    if factor < 1.0 {
                        let reason = format!("[{NAME}] requires field boosts to be >= 1.0");
                        return Err(Fault::illegal(value.at, reason));
                    }
                    found.fields.push((field, factor));
                }
            }
            "operator" => found.operator = operator(value)?,
            "minimum_should_match" => found.minimum_should_match = text_or_null(value)?,
            "auto_generate_synonyms_phrase_query" => found.synonym_phrases = boolean(value)?,
            "zero_terms_query" => found.zero_terms = zero_terms(value)?,
            "boost" => factor = boost(value)?,
            _ => name = Some(text(value)?),
        }
        Ok(())
    })?;
    let Some(query) = query else {
        return Err(Fault::illegal(body.end, "Required [query]"));
    };
    if found.fields.is_empty() {
        let reason = "In [combined_fields] query, at least one field must be provided";
        return Err(Fault::illegal(body.end, reason));
    }
    found.query = query;
    Ok(Query { node: Ask::CombinedFields(found), boost: factor, name })
}
