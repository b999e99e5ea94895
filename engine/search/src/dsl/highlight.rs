//! `highlight`: options for all fields, and each field's own.

use std::sync::Arc;

use json::spanned::{Kind as Json, Node};

use super::context::{Fault, Read, Takes, boolean, int, members, object, text};
use super::query;
use crate::ast::Query;
use crate::highlight::{Boundary, FieldHighlight, Highlight, Options};

/// Keys of the whole and of one field, and what they take.
const COMMON: [(&str, Takes); 20] = [
    ("pre_tags", Takes::Any),
    ("post_tags", Takes::Any),
    ("order", Takes::String),
    ("highlight_filter", Takes::Bool),
    ("fragment_size", Takes::Number),
    ("number_of_fragments", Takes::Number),
    ("require_field_match", Takes::Bool),
    ("boundary_scanner", Takes::String),
    ("boundary_max_scan", Takes::Number),
    ("boundary_chars", Takes::String),
    ("boundary_scanner_locale", Takes::String),
    ("type", Takes::String),
    ("fragmenter", Takes::String),
    ("no_match_size", Takes::Number),
    ("force_source", Takes::Bool),
    ("phrase_limit", Takes::Number),
    ("max_analyzed_offset", Takes::Number),
    ("max_analyzer_offset", Takes::Number),
    ("options", Takes::Object),
    ("highlight_query", Takes::Object),
];

/// Most fields of one request.
const FIELDS_MAX: usize = 1024;

/// Reads the whole.
pub fn read(node: &Node) -> Read<Highlight> {
    let mut keys = COMMON.to_vec();
    keys.extend([
        ("tags_schema", Takes::String),
        ("encoder", Takes::String),
        ("fields", Takes::Any),
    ]);
    let mut common = Options::default();
    let mut given = Given::default();
    let mut fields: Vec<(String, &Node)> = Vec::new();
    object("highlight", &keys, node, |key, value| {
        match key {
            "tags_schema" => match text(value)?.as_str() {
                "default" => {}
                "styled" => styled(&mut common),
                other => {
                    return Err(Fault::illegal(value.at, format!("Unknown tag schema [{other}]")));
                }
            },
            "encoder" => common.html = text(value)? == "html",
            "fields" => named(value, &mut fields)?,
            _ => option(key, value, &mut common, &mut given)?,
        }
        Ok(())
    })?;
    given.check(node)?;
    if fields.len() > FIELDS_MAX {
        return Err(Fault::illegal(node.at, format!("more than {FIELDS_MAX} fields to highlight")));
    }
    let mut highlight = Highlight::default();
    for (field, own) in fields {
        let mut keys = COMMON.to_vec();
        keys.extend([("fragment_offset", Takes::Number), ("matched_fields", Takes::Any)]);
        let mut options = common.clone();
        let mut given = Given::default();
        object("highlight_field", &keys, own, |key, value| {
            match key {
                "fragment_offset" => options.fragment_offset = Some(int(value)?.max(0) as u32),
                "matched_fields" => options.matched_fields = texts(value)?,
                _ => option(key, value, &mut options, &mut given)?,
            }
            Ok(())
        })?;
        given.check(own)?;
        let options = Arc::new(options);
        highlight.fields.push(FieldHighlight { field, options, query: given.query });
    }
    highlight.query = given.query.map(Box::new);
    Ok(highlight)
}

/// `fields`: an object, or an array of objects with one member each, which keeps an order.
fn named<'n>(node: &'n Node, out: &mut Vec<(String, &'n Node)>) -> Read<()> {
    match &node.kind {
        Json::Object(members) => {
            out.extend(members.iter().map(|member| (member.key.clone(), &member.value)));
            Ok(())
        }
        Json::Array(items) => items.iter().try_for_each(|item| {
            match members(item) {
                [one] => out.push((one.key.clone(), &one.value)),
                _ => {
                    let reason =
                        "[fields] can be a single object with any number of fields or an array \
                         where each entry is an object with a single field";
                    return Err(Fault::content(item.at, item.at, format!("[highlight] {reason}")));
                }
            }
            Ok(())
        }),
        _ => Err(Fault::content(
            node.at,
            node.at,
            format!("[highlight] fields doesn't support values of type: {}", node.token()),
        )),
    }
}

/// Tags, which come in pairs, and the query.
#[derive(Default)]
struct Given {
    pre: bool,
    post: bool,
    query: Option<Query>,
}

impl Given {
    fn check(&self, node: &Node) -> Read<()> {
        if self.pre && !self.post {
            return Err(Fault::parsing(node.end, "pre_tags are set but post_tags are not set"));
        }
        Ok(())
    }
}

fn option(key: &str, value: &Node, options: &mut Options, given: &mut Given) -> Read<()> {
    let count = |value: &Node| -> Read<u32> { Ok(int(value)?.max(0) as u32) };
    match key {
        "pre_tags" => {
            options.pre_tags = texts(value)?.into();
            given.pre = true;
        }
        "post_tags" => {
            options.post_tags = texts(value)?.into();
            given.post = true;
        }
        "order" => options.by_score = text(value)?.eq_ignore_ascii_case("score"),
        "fragment_size" => options.fragment_size = count(value)?,
        "number_of_fragments" => options.fragments = count(value)?,
        "require_field_match" => options.require_field_match = boolean(value)?,
        "boundary_scanner" => {
            options.boundary = Some(match text(value)?.to_ascii_lowercase().as_str() {
                "chars" => Boundary::Chars,
                "sentence" => Boundary::Sentence,
                "word" => Boundary::Word,
                other => {
                    return Err(Fault::illegal(
                        value.at,
                        format!(
                            "No enum constant org.elasticsearch.search.fetch.subphase.highlight.\
                             HighlightBuilder.BoundaryScannerType.{}",
                            other.to_ascii_uppercase()
                        ),
                    ));
                }
            });
        }
        "boundary_max_scan" => options.boundary_max_scan = count(value)?,
        "boundary_chars" => options.boundary_chars = text(value)?.into(),
        "type" => options.kind = text(value)?.into(),
        "fragmenter" => options.simple_fragmenter = text(value)? == "simple",
        "no_match_size" => options.no_match_size = count(value)?,
        "phrase_limit" => options.phrase_limit = count(value)?,
        "max_analyzed_offset" | "max_analyzer_offset" => {
            let limit = int(value)?;
            if limit <= 0 && limit != -1 {
                return Err(Fault::illegal(
                    value.at,
                    format!("[{key}] must be a positive integer, or -1"),
                ));
            }
            // -1 is the limit of the index.
            options.max_analyzed_offset = Some(if limit < 0 { 0 } else { limit as u32 });
        }
        "highlight_query" => given.query = Some(query::read(value, 0)?),
        "highlight_filter" | "force_source" => {
            boolean(value)?;
        }
        _ => {}
    }
    Ok(())
}

fn texts(node: &Node) -> Read<Vec<String>> {
    match node.as_array() {
        Some(items) => items.iter().map(text).collect(),
        None => Ok(vec![text(node)?]),
    }
}

/// `tags_schema: styled`.
fn styled(options: &mut Options) {
    options.pre_tags = (1..=10).map(|at| format!("<em class=\"hlt{at}\">")).collect();
    options.post_tags = ["</em>".to_owned()].into();
}
