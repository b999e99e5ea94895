//! Exact values meet a field: terms, numbers, presence, ids.

use std::sync::Arc;

use base::FieldNo;
use mapping::{Bounds, Field, Kind as Type, QueryValue, RangeOptions};

use crate::ast::{self, Scalar};
use crate::error::{Error, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Access, Node, Numbers, Pattern, Presence, Term};
use crate::plan::order::value_of;
use crate::plan::text;
use crate::plan::wildcard::Wildcard;

/// `term`.
pub fn term(binder: &mut Binder<'_>, query: &ast::Term) -> Result<Node> {
    let Some(field) = binder.mapping.field(&query.field).cloned() else {
        return unmapped_term(binder, &query.field, &query.value);
    };
    if query.case_insensitive {
        return any_case(&field, &query.value);
    }
    value(binder, &field, &query.value)
}

/// A term that matches in either case of its ASCII letters.
fn any_case(field: &Field, value: &Scalar) -> Result<Node> {
    if !matches!(field.kind, Type::Text(_) | Type::Keyword(_)) {
        return Err(Error::shard(format!(
            "[{}] field which is of type [{}], does not support case insensitive term queries",
            field.path,
            field.type_name()
        )));
    }
    let mut shape = String::new();
    for c in value.text().chars() {
        if matches!(c, '*' | '?' | '\\') {
            shape.push('\\');
        }
        shape.push(c);
    }
    pattern(field, Pattern::Wildcard(Wildcard::new(&shape, true)))
}

/// What one value of a term query matches.
fn value(binder: &Binder<'_>, field: &Field, value: &Scalar) -> Result<Node> {
    let access = check_access(field)?;
    match field.parse_query_value(&value_of(value), binder.context.now_ms)? {
        QueryValue::Nothing => Ok(Node::None),
        QueryValue::Term(term) => scored_term(field, &term),
        QueryValue::Number(value) if matches!(field.kind, Type::Boolean(_)) && access.index => {
            Ok(Node::Flag { field: field.no, value })
        }
        QueryValue::Number(value) => Ok(numbers(field.no, access, vec![(value, value)])),
        QueryValue::Numbers(from, to) => Ok(numbers(field.no, access, vec![(from, to)])),
    }
}

/// What the text of a match query matches in a field that is not analysed: the text as one value.
pub fn text_term(binder: &Binder<'_>, field: &Field, query: &Scalar) -> Result<Node> {
    value(binder, field, &Scalar::String(query.text().to_owned()))
}

/// One term of a field, scored by BM25.
pub fn scored_term(field: &Field, term: &[u8]) -> Result<Node> {
    if let Type::Text(text) = &field.kind {
        check_indexed(field)?;
        return Ok(text::term_of(field, text, term));
    }
    let access = check_access(field)?;
    if access.index {
        return Ok(Node::Term(Term { field: field.no, term: term.into(), norms: false }));
    }
    Ok(Node::Terms { field: field.no, access, terms: vec![term.into()] })
}

/// A value of a field that the mapping does not know: some names are the system's.
pub fn unmapped_term(binder: &Binder<'_>, field: &str, value: &Scalar) -> Result<Node> {
    match field {
        "_id" => Ok(ids(&[value.text().to_owned()])),
        "_index" => {
            let same = Wildcard::new(value.text(), false).matches(binder.context.index);
            Ok(if same { Node::All } else { Node::None })
        }
        "_seq_no" => match value.text().parse::<i64>() {
            Ok(number) => Ok(numbers(FieldNo::SEQ_NO, COLUMN, vec![(number, number)])),
            Err(_) => Err(Error::number(value.text())),
        },
        _ => Ok(Node::None),
    }
}

/// A column without terms or points.
const COLUMN: Access = Access { index: false, column: true };

/// `terms`.
pub fn terms(binder: &mut Binder<'_>, query: &ast::Terms) -> Result<Node> {
    let (count, limit) = (query.values.len(), binder.context.terms_max);
    if count > limit {
        return Err(Error::illegal(format!(
            "The number of terms [{count}] used in the Terms Query request has exceeded the \
             allowed maximum of [{limit}]. This maximum can be set by changing the \
             [index.max_terms_count] index level setting."
        )));
    }
    if query.values.is_empty() {
        return Ok(Node::None);
    }
    let Some(field) = binder.mapping.field(&query.field).cloned() else {
        return unmapped_terms(binder, query);
    };
    let access = match field.kind {
        Type::Text(_) => {
            check_indexed(&field)?;
            Access { index: true, column: false }
        }
        _ => check_access(&field)?,
    };
    let mut terms: Vec<Box<[u8]>> = Vec::new();
    let mut ranges = Vec::new();
    for value in &query.values {
        match field.parse_query_value(&value_of(value), binder.context.now_ms)? {
            QueryValue::Nothing => {}
            QueryValue::Term(term) => terms.push(term.into()),
            QueryValue::Number(value) => ranges.push((value, value)),
            QueryValue::Numbers(from, to) => ranges.push((from, to)),
        }
    }
    if !ranges.is_empty() {
        return Ok(numbers(field.no, access, ranges));
    }
    if terms.is_empty() {
        return Ok(Node::None);
    }
    terms.sort_unstable();
    terms.dedup();
    Ok(Node::Terms { field: field.no, access, terms })
}

fn unmapped_terms(binder: &Binder<'_>, query: &ast::Terms) -> Result<Node> {
    match query.field.as_str() {
        "_id" => {
            let values: Vec<String> =
                query.values.iter().map(|value| value.text().to_owned()).collect();
            Ok(ids(&values))
        }
        "_index" => {
            for value in &query.values {
                if unmapped_term(binder, "_index", value)? == Node::All {
                    return Ok(Node::All);
                }
            }
            Ok(Node::None)
        }
        _ => Ok(Node::None),
    }
}

/// `range`.
pub fn range(binder: &mut Binder<'_>, query: &ast::Range) -> Result<Node> {
    if query.lower.is_none() && query.upper.is_none() {
        return Ok(exists(binder, &query.field));
    }
    let Some(field) = binder.mapping.field(&query.field).cloned() else {
        return unmapped_range(query);
    };
    let access = match field.kind {
        Type::Text(_) => {
            check_indexed(&field)?;
            Access { index: true, column: false }
        }
        _ => check_access(&field)?,
    };
    let options = RangeOptions {
        format: query.format.as_deref(),
        time_zone: query.time_zone.as_deref(),
        now_ms: binder.context.now_ms,
    };
    let lower = query.lower.as_ref().map(|bound| (value_of(&bound.value), bound.inclusive));
    let upper = query.upper.as_ref().map(|bound| (value_of(&bound.value), bound.inclusive));
    let bounds = field.parse_range(
        lower.as_ref().map(|(value, inclusive)| (value, *inclusive)),
        upper.as_ref().map(|(value, inclusive)| (value, *inclusive)),
        &options,
    )?;
    match bounds {
        Bounds::Nothing => Ok(Node::None),
        Bounds::Numbers(from, to) => Ok(numbers(field.no, access, vec![(from, to)])),
        Bounds::Terms { lower, upper } => {
            let end = |(term, inclusive): (Vec<u8>, bool)| (term.into(), inclusive);
            pattern(&field, Pattern::Range { lower: lower.map(end), upper: upper.map(end) })
        }
    }
}

/// A range of a field that the mapping does not know.
fn unmapped_range(query: &ast::Range) -> Result<Node> {
    if query.field != "_seq_no" {
        return Ok(Node::None);
    }
    let end = |bound: &Option<ast::Bound>, open: i64, step: i64| -> Result<Option<i64>> {
        match bound {
            None => Ok(Some(open)),
            Some(bound) => {
                let text = bound.value.text();
                let number: i64 = text.parse().map_err(|_| Error::number(text))?;
                Ok(if bound.inclusive { Some(number) } else { number.checked_add(step) })
            }
        }
    };
    match (end(&query.lower, i64::MIN, 1)?, end(&query.upper, i64::MAX, -1)?) {
        (Some(from), Some(to)) => Ok(numbers(FieldNo::SEQ_NO, COLUMN, vec![(from, to)])),
        _ => Ok(Node::None),
    }
}

/// Ranges sorted and joined; nothing where all are empty.
fn numbers(field: FieldNo, access: Access, mut ranges: Vec<(i64, i64)>) -> Node {
    ranges.retain(|(from, to)| from <= to);
    ranges.sort_unstable();
    let mut joined: Vec<(i64, i64)> = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        match joined.last_mut() {
            Some((_, end)) if from <= end.saturating_add(1) => *end = (*end).max(to),
            _ => joined.push((from, to)),
        }
    }
    if joined.is_empty() {
        return Node::None;
    }
    Node::Numbers(Numbers { field, access, ranges: joined })
}

/// `exists`: of a field, of all fields of an object, of all fields of a pattern.
pub fn exists(binder: &Binder<'_>, name: &str) -> Node {
    if matches!(name, "_id" | "_index" | "_version" | "_seq_no" | "_source") {
        return Node::All;
    }
    let mapping = binder.mapping;
    let mut ways = Vec::new();
    if name.contains('*') {
        for field in mapping.expand(name) {
            presence(field, &mut ways);
        }
    } else if let Some(field) = mapping.field(name) {
        presence(field, &mut ways);
    } else if mapping.is_object(name) {
        let inside = format!("{name}.");
        for field in mapping.fields().filter(|field| field.path.starts_with(&inside)) {
            presence(field, &mut ways);
        }
    }
    if name == "_routing" {
        ways.push(Presence::Ordinals(FieldNo::ROUTING));
    }
    if name == "_ignored" {
        ways.push(Presence::Ordinals(FieldNo::IGNORED));
    }
    if ways.is_empty() { Node::None } else { Node::Exists(ways) }
}

/// In which ways a document shows that it has the field.
fn presence(field: &Arc<Field>, ways: &mut Vec<Presence>) {
    let no = field.no;
    match &field.kind {
        Type::Text(text) => {
            if text.norms && field.index {
                ways.push(Presence::Norms(no));
            }
            // A text without a word has length 0, which looks like no length.
            ways.push(Presence::FieldNames(no));
        }
        Type::Keyword(_) if field.doc_values => ways.push(Presence::Ordinals(no)),
        _ if field.doc_values => ways.push(Presence::Numeric(no)),
        _ => ways.push(Presence::FieldNames(no)),
    }
}

/// `ids`.
pub fn ids(values: &[String]) -> Node {
    let mut ids: Vec<Box<[u8]>> = values.iter().map(|id| id.as_bytes().into()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() { Node::None } else { Node::Ids(ids) }
}

/// `prefix`.
pub fn prefix(binder: &mut Binder<'_>, query: &ast::Pattern) -> Result<Node> {
    let Some(field) = binder.mapping.field(&query.field).cloned() else {
        return Ok(Node::None);
    };
    check_words(&field, "prefix")?;
    pattern(
        &field,
        Pattern::Prefix {
            prefix: query.value.as_bytes().into(),
            case_insensitive: query.case_insensitive,
        },
    )
}

/// `wildcard`.
pub fn wildcard(binder: &mut Binder<'_>, query: &ast::Pattern) -> Result<Node> {
    let Some(field) = binder.mapping.field(&query.field).cloned() else {
        return Ok(Node::None);
    };
    check_words(&field, "wildcard")?;
    let shape = Wildcard::new(&query.value, query.case_insensitive);
    if shape.is_any() {
        return Ok(exists(binder, &query.field));
    }
    pattern(&field, Pattern::Wildcard(shape))
}

fn check_words(field: &Field, query: &str) -> Result<()> {
    if matches!(field.kind, Type::Text(_) | Type::Keyword(_)) {
        return Ok(());
    }
    Err(Error::shard(format!(
        "Can only use {query} queries on keyword, text and wildcard fields - not on [{}] which is \
         of type [{}]",
        field.path,
        field.type_name()
    )))
}

fn pattern(field: &Field, pattern: Pattern) -> Result<Node> {
    let access = match field.kind {
        Type::Text(_) => {
            check_indexed(field)?;
            Access { index: true, column: false }
        }
        _ => check_access(field)?,
    };
    Ok(Node::Pattern { field: field.no, access, pattern: Arc::new(pattern) })
}

/// Only an index of terms can answer.
pub fn check_indexed(field: &Field) -> Result<()> {
    if field.index {
        return Ok(());
    }
    Err(Error::illegal(format!("Cannot search on field [{}] since it is not indexed.", field.path)))
}

/// Index or column can answer.
fn check_access(field: &Field) -> Result<Access> {
    if matches!(field.kind, Type::Text(_)) {
        check_indexed(field)?;
        return Ok(Access { index: true, column: false });
    }
    if field.index || field.doc_values {
        return Ok(Access { index: field.index, column: field.doc_values });
    }
    Err(Error::illegal(format!(
        "Cannot search on field [{}] since it is not indexed nor has doc values.",
        field.path
    )))
}
