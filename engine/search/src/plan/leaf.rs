//! Exact values meet a field: terms, numbers, presence, ids.

use std::sync::Arc;

use base::FieldNo;
use mapping::types::Span;
use mapping::{
    Bounds, Column, Field, KeywordFlavor, Kind as Type, QueryValue, RangeOptions, Relation,
};

use crate::ast::{self, Scalar};
use crate::error::{Error, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Access, Bool, Clause, Node, Numbers, Pattern, Presence, Term};
use crate::plan::metadata;
use crate::plan::order::value_of;
use crate::plan::text;
use base::wildcard::Wildcard;

/// `term`.
pub fn term(binder: &mut Binder<'_>, query: &ast::Term) -> Result<Node> {
    let Some(field) = binder.field(&query.field) else {
        if query.field == "_index" && query.case_insensitive {
            let shape = Wildcard::new(query.value.text(), true);
            return Ok(index_where(binder, |name| shape.matches(name)));
        }
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
    for c in normalized(field, value.text()).chars() {
        if matches!(c, '*' | '?' | '\\') {
            shape.push('\\');
        }
        shape.push(c);
    }
    pattern(field, Pattern::Wildcard(Wildcard::new(&shape, true)).of_texts(field))
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
        QueryValue::Terms(from, to) => term_range(field, Some((from, true)), Some((to, true))),
        QueryValue::Span(span) => span_meets(field, span, Relation::Intersects),
        QueryValue::All => Ok(Node::All),
    }
}

/// Terms between two ends.
fn term_range(
    field: &Field,
    lower: Option<(Vec<u8>, bool)>,
    upper: Option<(Vec<u8>, bool)>,
) -> Result<Node> {
    let end = |(term, inclusive): (Vec<u8>, bool)| (term.into(), inclusive);
    pattern(field, Pattern::Range { lower: lower.map(end), upper: upper.map(end) })
}

/// Spans of documents that lie so to this one.
pub fn span_meets(field: &Field, span: Span, relation: Relation) -> Result<Node> {
    let Type::Range(range) = &field.kind else { return Ok(Node::None) };
    check_indexed(field)?;
    let (low, high) = span.bounds(relation, range.kind);
    Ok(Node::Box { field: field.no, low: low.into(), high: high.into() })
}

/// What the text of a match query matches in a field that is not analysed: the text as one value.
pub fn text_term(binder: &Binder<'_>, field: &Field, text: &str) -> Result<Node> {
    value(binder, field, &Scalar::String(text.to_owned()))
}

/// What a word that was analysed matches in a field.
pub fn word(binder: &Binder<'_>, field: &Field, word: &str) -> Result<Node> {
    match field.kind {
        Type::Text(_) | Type::Keyword(_) => scored_term(field, word.as_bytes()),
        _ => text_term(binder, field, word),
    }
}

/// A value, or a part of it, as a keyword's normalizer leaves it; of other types as it is.
pub fn normalized(field: &Field, value: &str) -> String {
    let mut buffer = String::new();
    match &field.kind {
        Type::Keyword(keyword) => match &keyword.normalizer {
            Some(normalizer) => normalizer.normal_term(value, &mut buffer).to_owned(),
            None => value.to_owned(),
        },
        _ => value.to_owned(),
    }
}

/// Everything where the index's name is as wanted, else nothing.
pub fn index_where(binder: &Binder<'_>, wanted: impl FnOnce(&str) -> bool) -> Node {
    if wanted(binder.context.index) { Node::All } else { Node::None }
}

/// One term of a field, scored by BM25.
pub fn scored_term(field: &Field, term: &[u8]) -> Result<Node> {
    if let Type::Text(text) = &field.kind {
        check_indexed(field)?;
        return Ok(text::term_of(field, text, term));
    }
    let access = check_access(field)?;
    let constant = match &field.kind {
        Type::Keyword(keyword) => keyword.flavor == KeywordFlavor::Wildcard,
        Type::Join(_) => false,
        _ => true,
    };
    if access.index && !constant {
        return Ok(Node::Term(Term { field: field.no, term: term.into(), norms: false }));
    }
    Ok(Node::Terms { field: field.no, access, terms: [term.into()].into() })
}

/// A value of a field that the mapping does not know: some names are the system's.
pub fn unmapped_term(binder: &Binder<'_>, field: &str, value: &Scalar) -> Result<Node> {
    match field {
        "_id" => Ok(ids(&[value.text().to_owned()])),
        "_index" => {
            let text = value.text();
            // A list that was looked up may have a hundred thousand, for each index anew.
            if Wildcard::is_word(text) {
                return Ok(index_where(binder, |name| name == text));
            }
            let shape = Wildcard::new(text, false);
            Ok(index_where(binder, |name| shape.matches(name)))
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
    let Some(field) = binder.field(&query.field) else {
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
    let mut others: Vec<Node> = Vec::new();
    for (number, value) in query.values.iter().enumerate() {
        if !binder.context.purse.takes_value(number) {
            return Ok(Node::None);
        }
        match field.parse_terms_value(&value_of(value), binder.context.now_ms)? {
            QueryValue::Nothing => {}
            QueryValue::Term(term) => terms.push(term.into()),
            QueryValue::Number(value) => ranges.push((value, value)),
            QueryValue::Numbers(from, to) => ranges.push((from, to)),
            QueryValue::All => return Ok(Node::All),
            QueryValue::Terms(from, to) => {
                others.push(term_range(&field, Some((from, true)), Some((to, true)))?);
            }
            QueryValue::Span(span) => others.push(span_meets(&field, span, Relation::Intersects)?),
        }
    }
    if !others.is_empty() {
        if !terms.is_empty() {
            terms.sort_unstable();
            terms.dedup();
            others.push(Node::Terms { field: field.no, access, terms: terms.into() });
        }
        return Ok(Node::Constant(Box::new(Clause::new(Node::Bool(Bool {
            should: others.into_iter().map(Clause::new).collect(),
            minimum: 1,
            ..Bool::default()
        })))));
    }
    if !ranges.is_empty() {
        return Ok(numbers(field.no, access, ranges));
    }
    if terms.is_empty() {
        return Ok(Node::None);
    }
    terms.sort_unstable();
    terms.dedup();
    Ok(Node::Terms { field: field.no, access, terms: terms.into() })
}

fn unmapped_terms(binder: &Binder<'_>, query: &ast::Terms) -> Result<Node> {
    match query.field.as_str() {
        "_id" => {
            let values: Vec<String> =
                query.values.iter().map(|value| value.text().to_owned()).collect();
            Ok(ids(&values))
        }
        "_index" => {
            for (number, value) in query.values.iter().enumerate() {
                if !binder.context.purse.takes_value(number) {
                    break;
                }
                if unmapped_term(binder, "_index", value)? == Node::All {
                    return Ok(Node::All);
                }
            }
            Ok(Node::None)
        }
        "_seq_no" => {
            let number = |value: &Scalar| -> Result<(i64, i64)> {
                let text = value.text();
                let number = text.parse().map_err(|_| Error::number(text))?;
                Ok((number, number))
            };
            let ranges = query.values.iter().map(number).collect::<Result<_>>()?;
            Ok(numbers(FieldNo::SEQ_NO, COLUMN, ranges))
        }
        _ => Ok(Node::None),
    }
}

/// `range`.
pub fn range(binder: &mut Binder<'_>, query: &ast::Range) -> Result<Node> {
    if query.lower.is_none() && query.upper.is_none() {
        return exists(binder, &query.field);
    }
    let Some(field) = binder.field(&query.field) else {
        return unmapped_range(query);
    };
    if !binder.context.expensive && matches!(field.kind, Type::Text(_) | Type::Keyword(_)) {
        return Err(Error::new(
            crate::error::Kind::Exception,
            "[range] queries on [text] or [keyword] fields cannot be executed when \
             'search.allow_expensive_queries' is set to false.",
        ));
    }
    if field.term_prefix().is_some() && (query.lower.is_none() || query.upper.is_none()) {
        return Err(Error::illegal(
            "[range] queries on keyed [flattened] fields must include both an upper and a lower bound.",
        ));
    }
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
        Bounds::All => Ok(Node::All),
        Bounds::Span(span) => span_meets(
            &field,
            span,
            match query.relation {
                ast::Relation::Intersects => Relation::Intersects,
                ast::Relation::Contains => Relation::Contains,
                ast::Relation::Within => Relation::Within,
            },
        ),
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
///
/// # Errors
/// More fields than a query may have clauses: each is one, as where they stand in a `bool`.
pub fn exists(binder: &mut Binder<'_>, name: &str) -> Result<Node> {
    if matches!(name, "_id" | "_index" | "_version" | "_seq_no") {
        return Ok(Node::All);
    }
    let mapping = binder.mapping;
    let mut ways = Vec::new();
    let mut fields: Vec<Arc<Field>> = Vec::new();
    if name.contains('*') {
        fields.extend(mapping.expand_names(name).into_iter().map(|(_, field)| field));
    } else if let Some(field) = mapping.lookup(name) {
        if let Some(prefix) = field.term_prefix() {
            let prefix = Pattern::Prefix { prefix: prefix.into(), case_insensitive: false };
            return Ok(pattern(&field, prefix).unwrap_or(Node::None));
        }
        fields.push(field);
    } else {
        fields.extend(mapping.fields_in(name).into_iter().cloned());
    }
    // A field is one clause, in however many ways it shows.
    let mut clauses = 0usize;
    for field in &fields {
        if let Type::ConstantKeyword(constant) = &field.kind {
            if constant.value.is_some() {
                return Ok(Node::All);
            }
            continue;
        }
        if matches!(field.kind, Type::RankFeatures(_)) {
            return Err(Error::illegal("[rank_features] fields do not support [exists] queries"));
        }
        clauses += 1;
        presence(field, &mut ways);
    }
    if let Some(field) = metadata::words(name, mapping) {
        clauses += 1;
        presence(&field, &mut ways);
    }
    binder.count(clauses.saturating_sub(1))?;
    Ok(if ways.is_empty() { Node::None } else { Node::Exists(ways) })
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
        _ => ways.push(match field.column() {
            Column::Ordinals => Presence::Ordinals(no),
            Column::Numeric => Presence::Numeric(no),
            Column::Binary | Column::None => Presence::FieldNames(no),
        }),
    }
}

/// `ids`.
pub fn ids(values: &[String]) -> Node {
    let mut ids: Vec<Box<[u8]>> = values.iter().map(|id| id.as_bytes().into()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() { Node::None } else { Node::Ids(ids.into()) }
}

/// Terms of a pattern, with a constant score.
pub fn pattern(field: &Field, pattern: Pattern) -> Result<Node> {
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
pub fn check_access(field: &Field) -> Result<Access> {
    if matches!(field.kind, Type::Text(_)) {
        check_indexed(field)?;
        return Ok(Access { index: true, column: false });
    }
    // The mapping itself answers for a field of one value.
    let is_constant = matches!(field.kind, Type::ConstantKeyword(_));
    if field.index || field.doc_values || is_constant {
        return Ok(Access { index: field.index, column: field.doc_values });
    }
    Err(Error::illegal(format!(
        "Cannot search on field [{}] since it is not indexed nor has doc values.",
        field.path
    )))
}
