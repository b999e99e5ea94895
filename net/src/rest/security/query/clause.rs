//! Which records a query means.

use engine::{Error, Result};
use json::Value;
use mapping::types::date_format::Round;
use search::ast::{Node, Operator, Query, Range};
use search::plan::minimum::minimum;

use super::field::{self, Dates, Fields, Key, Kind};
use super::{Row, simple, told};

/// Queries that may be asked here.
const KINDS: &[&str] = &[
    "bool",
    "match_all",
    "term",
    "terms",
    "prefix",
    "wildcard",
    "range",
    "exists",
    "ids",
    "match",
    "simple_query_string",
];

/// Refuses queries that are legal elsewhere. Its depth was bounded when it was read.
///
/// # Errors
/// In Elasticsearch's words.
pub(super) fn check_kinds(query: &Value) -> Result<()> {
    let Some((kind, body)) = query.as_object().and_then(|object| object.iter().next()) else {
        return Ok(());
    };
    if !KINDS.contains(&kind) {
        return Err(Error::illegal_argument(format!(
            "Query type [{kind}] is not currently supported in this context"
        )));
    }
    if kind != "bool" {
        return Ok(());
    }
    for key in ["must", "filter", "should", "must_not"] {
        match body.get(key) {
            Some(Value::Array(clauses)) => clauses.iter().try_for_each(check_kinds)?,
            Some(one) => check_kinds(one)?,
            None => {}
        }
    }
    Ok(())
}

/// What is asked of one value.
#[derive(Debug)]
pub(super) enum Ask {
    /// It is this.
    Is(Key),
    /// It begins so.
    Begins(String),
    /// It has this shape: `*` any text, `?` any character.
    Like(String),
    /// It lies between these; each end belongs to it or does not.
    Between(Option<(Key, bool)>, Option<(Key, bool)>),
    /// It is there.
    There,
}

impl Ask {
    fn fits(&self, value: &Key) -> bool {
        let word = match value {
            Key::Word(word) => word.as_str(),
            Key::Number(_) => "",
        };
        match self {
            Self::Is(key) => value == key,
            Self::Begins(begin) => word.starts_with(begin.as_str()),
            Self::Like(shape) => authz::privilege::fits(shape, word),
            Self::Between(lower, upper) => {
                lower.as_ref().is_none_or(|(key, with)| value > key || (*with && value == key))
                    && upper
                        .as_ref()
                        .is_none_or(|(key, with)| value < key || (*with && value == key))
            }
            Self::There => true,
        }
    }
}

/// A query that has met the fields.
#[derive(Debug)]
pub(super) enum Test {
    /// Every record.
    All,
    /// Records of these ids.
    Ids(Vec<String>),
    /// One of a field's values is as asked; letters of ASCII in either case, where `folded`.
    Field { name: String, kind: Kind, folded: bool, ask: Ask },
    /// All of these.
    And(Vec<Test>),
    /// So many of these.
    Some(usize, Vec<Test>),
    /// Not this.
    Not(Box<Test>),
}

impl Test {
    /// Of a query; every field of it must be one that may be queried.
    ///
    /// # Errors
    /// A field that may not, a value that is none of the field's, a kind of query that is not there.
    pub fn of(query: &Query, fields: Fields, now_ms: i64) -> Result<Self> {
        let on = |name: &str, folded: bool, ask: Ask| -> Result<Self> {
            let kind = fields.kind(name)?;
            Ok(Self::Field { name: name.to_owned(), kind, folded, ask: folded_ask(ask, folded) })
        };
        let is = |name: &str, text: &str, folded: bool| -> Result<Self> {
            on(name, folded, equal(fields.kind(name)?, text, now_ms)?)
        };
        Ok(match &query.node {
            Node::MatchAll => Self::All,
            Node::Ids(ids) => Self::Ids(ids.clone()),
            Node::Term(term) => is(&term.field, term.value.text(), term.case_insensitive)?,
            Node::Terms(terms) => {
                fields.kind(&terms.field)?;
                let each = terms.values.iter().map(|value| is(&terms.field, value.text(), false));
                Self::Some(1, each.collect::<Result<_>>()?)
            }
            Node::Match(one) => match fields.kind(&one.field)? {
                Kind::Text => {
                    let words = field::words(one.query.text());
                    let tests = words.iter().map(|word| is(&one.field, word, false));
                    let tests: Vec<Self> = tests.collect::<Result<_>>()?;
                    match one.operator {
                        Operator::And if !tests.is_empty() => Self::And(tests),
                        _ => Self::Some(1, tests),
                    }
                }
                _ => is(&one.field, one.query.text(), false)?,
            },
            Node::Prefix(one) => {
                on(&one.field, one.case_insensitive, Ask::Begins(one.value.clone()))?
            }
            Node::Wildcard(one) => {
                on(&one.field, one.case_insensitive, Ask::Like(one.value.clone()))?
            }
            Node::Exists(name) => on(name, false, Ask::There)?,
            Node::Range(range) => on(&range.field, false, between(range, fields, now_ms)?)?,
            Node::SimpleQueryString(query) => simple::test(query, fields, now_ms)?,
            Node::Bool(bool) => {
                let all = |clauses: &[Query]| -> Result<Vec<Self>> {
                    clauses.iter().map(|clause| Self::of(clause, fields, now_ms)).collect()
                };
                let mut tests = all(&bool.must)?;
                tests.extend(all(&bool.filter)?);
                let should = all(&bool.should)?;
                let needed = match &bool.minimum_should_match {
                    Some(spec) => minimum(spec, should.len()).map_err(|error| told(&error))?,
                    None => usize::from(tests.is_empty() && !should.is_empty()),
                };
                tests.push(Self::Some(needed, should));
                let not = all(&bool.must_not)?.into_iter().map(|test| Self::Not(Box::new(test)));
                tests.extend(not);
                Self::And(tests)
            }
            Node::TermsLookup(_) => {
                return Err(Error::illegal_argument(
                    "terms query with terms lookup is not currently supported in this context",
                ));
            }
            _ => return Err(Error::illegal_argument("the query is not supported in this context")),
        })
    }

    /// Is a record meant?
    pub fn fits(&self, row: &Row) -> bool {
        match self {
            Self::All => true,
            Self::Ids(ids) => ids.contains(&row.id),
            Self::Field { name, kind, folded, ask } => {
                let values = field::values(&row.data, name, *kind);
                values.into_iter().any(|value| match (folded, value) {
                    (true, Key::Word(word)) => ask.fits(&Key::Word(word.to_ascii_lowercase())),
                    (_, value) => ask.fits(&value),
                })
            }
            Self::And(tests) => tests.iter().all(|test| test.fits(row)),
            Self::Some(needed, tests) => {
                *needed == 0 || tests.iter().filter(|test| test.fits(row)).count() >= *needed
            }
            Self::Not(test) => !test.fits(row),
        }
    }
}

/// The same in small letters, where either case will do.
fn folded_ask(ask: Ask, folded: bool) -> Ask {
    match ask {
        ask if !folded => ask,
        Ask::Is(Key::Word(word)) => Ask::Is(Key::Word(word.to_ascii_lowercase())),
        Ask::Begins(word) => Ask::Begins(word.to_ascii_lowercase()),
        Ask::Like(word) => Ask::Like(word.to_ascii_lowercase()),
        other => other,
    }
}

/// What it is to be this value of a field.
pub(super) fn equal(kind: Kind, text: &str, now_ms: i64) -> Result<Ask> {
    Ok(match kind {
        Kind::Word | Kind::Object => Ask::Is(Key::Word(text.to_owned())),
        Kind::Text => Ask::Is(Key::Word(text.to_owned())),
        Kind::Truth => Ask::Is(field::truth(text)?),
        Kind::Date => {
            // A day is all its moments.
            let dates = Dates::new(None, None, now_ms)?;
            let end = |round| Ok(Some((Key::Number(dates.read(text, round)?), true)));
            Ask::Between(end(Round::Down)?, end(Round::Up)?)
        }
    })
}

fn between(range: &Range, fields: Fields, now_ms: i64) -> Result<Ask> {
    let kind = fields.kind(&range.field)?;
    let dates = Dates::new(range.format.as_deref(), range.time_zone.as_deref(), now_ms)?;
    // "After the 1st" begins where the day ends, "from the 1st" where it begins; and so at the other end.
    let end = |bound: &Option<search::ast::Bound>, is_lower: bool| -> Result<Option<(Key, bool)>> {
        let Some(bound) = bound else { return Ok(None) };
        let text = bound.value.text();
        let key = match kind {
            Kind::Word | Kind::Text | Kind::Object => Key::Word(text.to_owned()),
            Kind::Truth => field::truth(text)?,
            Kind::Date => {
                let round = if is_lower == bound.inclusive { Round::Down } else { Round::Up };
                Key::Number(dates.read(text, round)?)
            }
        };
        Ok(Some((key, bound.inclusive)))
    };
    Ok(Ask::Between(end(&range.lower, true)?, end(&range.upper, false)?))
}
