//! `more_like_this`.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, Read, boolean, boost, float, int, is_value, members, text, text_or_null,
};
use crate::ast::{Like, MoreLikeThis, Node as Ask, Query};

/// `more_like_this`.
pub fn more_like_this(body: &Node) -> Read<Query> {
    const NAME: &str = "more_like_this";
    let mut found = MoreLikeThis {
        fields: None,
        like: Vec::new(),
        unlike: Vec::new(),
        max_query_terms: 25,
        min_term_freq: 2,
        min_doc_freq: 5,
        max_doc_freq: i32::MAX as u32,
        min_word_length: 0,
        max_word_length: 0,
        stop_words: Vec::new(),
        analyzer: None,
        minimum_should_match: "30%".into(),
        boost_terms: 0.0,
        include: false,
        fail_on_unsupported_field: true,
        known: Vec::new(),
    };
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            "fields" => {
                let Json::Array(nodes) = &value.kind else { return Err(unknown(key, value)) };
                found.fields = Some(nodes.iter().map(text).collect::<Read<_>>()?);
            }
            "like" => likes(value, &mut found.like)?,
            "unlike" => likes(value, &mut found.unlike)?,
            "stop_words" => match &value.kind {
                Json::Array(nodes) => {
                    found.stop_words = nodes.iter().map(text).collect::<Read<_>>()?;
                }
                _ => found.stop_words = vec![text(value)?],
            },
            _ if !is_value(value) => return Err(unknown(key, value)),
            "max_query_terms" => {
                found.max_query_terms = match u32::try_from(int(value)?) {
                    Ok(count) if count > 0 => count,
                    _ => {
                        let reason = "requires 'maxQueryTerms' to be greater than 0";
                        return Err(Fault::illegal(value.at, reason));
                    }
                };
            }
            "min_term_freq" => found.min_term_freq = number(value)?,
            "min_doc_freq" => found.min_doc_freq = number(value)?,
            "max_doc_freq" => found.max_doc_freq = number(value)?,
            "min_word_length" => found.min_word_length = number(value)?,
            "max_word_length" => found.max_word_length = number(value)?,
            "boost_terms" => found.boost_terms = float(value)?,
            "analyzer" => found.analyzer = Some(text(value)?),
            "minimum_should_match" => {
                found.minimum_should_match = text_or_null(value)?.unwrap_or_default();
            }
            "include" => found.include = boolean(value)?,
            "fail_on_unsupported_field" => found.fail_on_unsupported_field = boolean(value)?,
            "boost" => factor = boost(value)?,
            "_name" => name = Some(text(value)?),
            _ => {
                let reason = format!("[{NAME}] query does not support [{key}]");
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    if found.like.is_empty() {
        let reason = "more_like_this requires 'like' to be specified";
        return Err(Fault::parsing(body.end, reason));
    }
    if found.fields.as_ref().is_some_and(Vec::is_empty) {
        let reason = "more_like_this requires 'fields' to be non-empty";
        return Err(Fault::parsing(body.end, reason));
    }
    Ok(Query { node: Ask::MoreLikeThis(Box::new(found)), boost: factor, name })
}

fn unknown(key: &str, value: &Node) -> Fault {
    Fault::parsing(value.at, format!("[more_like_this] query does not support [{key}]"))
}

fn number(value: &Node) -> Read<u32> {
    Ok(u32::try_from(int(value)?).unwrap_or(0))
}

fn likes(value: &Node, out: &mut Vec<Like>) -> Read<()> {
    match &value.kind {
        Json::Array(nodes) => {
            for node in nodes {
                out.push(like(node)?);
            }
        }
        _ => out.push(like(value)?),
    }
    Ok(())
}

fn like(node: &Node) -> Read<Like> {
    let Json::Object(keys) = &node.kind else {
        if is_value(node) {
            return Ok(Like::Text(text(node)?));
        }
        return Err(Fault::illegal(
            node.at,
            "Content of 'like' parameter should either be a string or an object",
        ));
    };
    let (mut index, mut id, mut routing) = (None, None, None);
    let (mut doc, mut fields) = (None, None);
    for member in keys {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            "_index" => index = Some(text(value)?),
            "_id" => id = Some(text(value)?),
            "_routing" | "routing" => routing = text_or_null(value)?,
            "doc" => doc = Some(value.to_value()),
            "fields" | "_fields" => {
                if let Json::Array(nodes) = &value.kind {
                    fields = Some(nodes.iter().map(text).collect::<Read<_>>()?);
                }
            }
            "per_field_analyzer" | "_version" | "version" | "_version_type" | "version_type" => {}
            _ => {
                let reason = format!("failed to parse More Like This item. unknown field [{key}]");
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    match (id, doc) {
        (Some(_), Some(_)) => Err(Fault::parsing(
            node.end,
            "failed to parse More Like This item. either [id] or [doc] can be specified, but not \
             both!",
        )),
        (Some(id), None) => Ok(Like::Item { index, id, routing, fields }),
        (None, Some(doc)) => Ok(Like::Doc(doc, fields)),
        (None, None) => Err(Fault::parsing(
            node.end,
            "failed to parse More Like This item. neither [id] nor [doc] is specified!",
        )),
    }
}
