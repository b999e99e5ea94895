//! Which records a query means.

use std::collections::BTreeSet;

use engine::{Error, Result};
use env::Spawn;
use json::Value;
use mapping::types::date_format::Round;
use search::ast::{Bool, Node, Operator, Query, Range, Terms};
use search::plan::bind::CLAUSES_MAX;
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

/// Bytes of the longest value that is looked for: so long a term may be.
pub(super) const WORD_BYTES_MAX: usize = 32_766;

/// Letters of the longest pattern.
const SHAPE_MAX: usize = 1_000;

/// Values of one `terms`, as an index has it that says nothing else.
const TERMS_MAX: usize = 65_536;

/// What is asked of one value.
#[derive(Debug)]
pub(super) enum Ask {
    /// It is this.
    Is(Key),
    /// It is one of these.
    Among(BTreeSet<Key>),
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
            Key::Word(word) if word.len() > WORD_BYTES_MAX => return matches!(self, Self::There),
            Key::Word(word) => word.as_str(),
            Key::Number(_) => "",
        };
        match self {
            Self::Is(key) => value == key,
            Self::Among(keys) => keys.contains(value),
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

/// A step of a [`Test`]. What it says goes onto a stack, from which it takes what it joins.
#[derive(Debug)]
enum Step {
    /// Every record.
    All,
    /// Records of these ids.
    Ids(BTreeSet<String>),
    /// One of the values of the field of this number is as asked; letters of ASCII in either case, where `folded`.
    Field { field: usize, folded: bool, ask: Ask },
    /// All of the last so many.
    And(usize),
    /// `needed` of the last so many.
    Some { needed: usize, of: usize },
    /// Not the last.
    Not,
}

/// A query that has met the fields: what it asks one after the other, so that however many clauses it has, and
/// however they lie in each other, others may run between two of them.
#[derive(Debug)]
pub(super) struct Test {
    steps: Vec<Step>,
    /// What is looked into, each once.
    looked: Vec<(String, Kind)>,
    known: Fields,
    now_ms: i64,
    /// Clauses that were met.
    clauses: usize,
}

impl Test {
    /// Of a query; every field of it must be one that may be queried.
    ///
    /// # Errors
    /// A field that may not, a value that is none of the field's, a kind of query that is not there; too many
    /// clauses.
    pub fn of(query: &Query, known: Fields, now_ms: i64) -> Result<Self> {
        let mut test = Self { steps: Vec::new(), looked: Vec::new(), known, now_ms, clauses: 0 };
        test.add(query)?;
        Ok(test)
    }

    /// Counts a clause, of which there may be as many as in a search.
    fn count(&mut self) -> Result<()> {
        self.clauses += 1;
        if self.clauses <= CLAUSES_MAX {
            return Ok(());
        }
        Err(Error::new(
            400,
            "too_many_nested_clauses",
            format!(
                "Query contains too many nested clauses; maxClauseCount is set to {CLAUSES_MAX}"
            ),
        ))
    }

    /// Adds what is asked of a field.
    pub fn field(&mut self, name: &str, kind: Kind, folded: bool, ask: Ask) -> Result<()> {
        self.count()?;
        let is_same = |(known, of): &(String, Kind)| known == name && *of == kind;
        let field = self.looked.iter().position(is_same).unwrap_or_else(|| {
            self.looked.push((name.to_owned(), kind));
            self.looked.len() - 1
        });
        self.steps.push(Step::Field { field, folded, ask: folded_ask(ask, folded) });
        Ok(())
    }

    /// Adds that every record is meant.
    pub fn all(&mut self) -> Result<()> {
        self.count()?;
        self.steps.push(Step::All);
        Ok(())
    }

    /// Adds that no record is meant.
    pub fn nothing(&mut self) -> Result<()> {
        self.count()?;
        self.some(1, 0);
        Ok(())
    }

    /// Joins the last so many: all of them.
    pub fn and(&mut self, of: usize) {
        self.steps.push(Step::And(of));
    }

    /// Joins the last so many: `needed` of them.
    pub fn some(&mut self, needed: usize, of: usize) {
        self.steps.push(Step::Some { needed, of });
    }

    /// Turns the last around.
    pub fn not(&mut self) {
        self.steps.push(Step::Not);
    }

    fn on(&mut self, name: &str, folded: bool, ask: Ask) -> Result<()> {
        let kind = self.known.kind(name)?;
        self.field(name, kind, folded, ask)
    }

    fn is(&mut self, name: &str, text: &str, folded: bool) -> Result<()> {
        let ask = equal(self.known.kind(name)?, text, self.now_ms)?;
        self.on(name, folded, ask)
    }

    fn add(&mut self, query: &Query) -> Result<()> {
        match &query.node {
            Node::MatchAll => self.all()?,
            Node::Ids(ids) => {
                self.count()?;
                self.steps.push(Step::Ids(ids.iter().cloned().collect()));
            }
            Node::Term(term) => self.is(&term.field, term.value.text(), term.case_insensitive)?,
            Node::Terms(terms) => self.terms(terms)?,
            Node::Match(one) => match self.known.kind(&one.field)? {
                Kind::Text => {
                    let words = field::words(one.query.text());
                    for word in &words {
                        self.is(&one.field, word, false)?;
                    }
                    match one.operator {
                        Operator::And if !words.is_empty() => self.and(words.len()),
                        _ => self.some(1, words.len()),
                    }
                }
                _ => self.is(&one.field, one.query.text(), false)?,
            },
            Node::Prefix(one) => {
                self.on(&one.field, one.case_insensitive, Ask::Begins(one.value.clone()))?;
            }
            Node::Wildcard(one) => {
                if one.value.chars().count() > SHAPE_MAX {
                    return Err(Error::illegal_argument(format!(
                        "The pattern of a [wildcard] query may be at most [{SHAPE_MAX}] characters long here"
                    )));
                }
                self.on(&one.field, one.case_insensitive, Ask::Like(one.value.clone()))?;
            }
            Node::Exists(name) => self.on(name, false, Ask::There)?,
            Node::Range(range) => {
                let ask = between(range, self.known, self.now_ms)?;
                self.on(&range.field, false, ask)?;
            }
            Node::SimpleQueryString(query) => simple::add(self, query, self.known, self.now_ms)?,
            Node::Bool(bool) => self.bool(bool)?,
            Node::TermsLookup(_) => {
                return Err(Error::illegal_argument(
                    "terms query with terms lookup is not currently supported in this context",
                ));
            }
            _ => return Err(Error::illegal_argument("the query is not supported in this context")),
        }
        Ok(())
    }

    fn terms(&mut self, terms: &Terms) -> Result<()> {
        let (kind, count) = (self.known.kind(&terms.field)?, terms.values.len());
        if count > TERMS_MAX {
            return Err(Error::illegal_argument(format!(
                "The number of terms [{count}] used in the Terms Query request has exceeded the \
                 allowed maximum of [{TERMS_MAX}]. This maximum can be set by changing the \
                 [index.max_terms_count] index level setting."
            )));
        }
        if kind == Kind::Date {
            for value in terms.values.iter() {
                self.is(&terms.field, value.text(), false)?;
            }
            self.some(1, count);
            return Ok(());
        }
        let mut keys = BTreeSet::new();
        for value in terms.values.iter() {
            if let Ask::Is(key) = equal(kind, value.text(), self.now_ms)? {
                keys.insert(key);
            }
        }
        self.on(&terms.field, false, Ask::Among(keys))
    }

    fn bool(&mut self, bool: &Bool) -> Result<()> {
        let all = |test: &mut Self, clauses: &[Query]| -> Result<usize> {
            clauses.iter().try_for_each(|clause| test.add(clause))?;
            Ok(clauses.len())
        };
        let mut tests = all(self, &bool.must)? + all(self, &bool.filter)?;
        let should = all(self, &bool.should)?;
        let needed = match &bool.minimum_should_match {
            Some(spec) => minimum(spec, should).map_err(|error| told(&error))?,
            None => usize::from(tests == 0 && should > 0),
        };
        self.some(needed, should);
        tests += 1;
        for clause in &bool.must_not {
            self.add(clause)?;
            self.not();
            tests += 1;
        }
        if tests == 1 && should == 0 {
            // One that holds nothing takes its steps, too.
            self.count()?;
        }
        self.and(tests);
        Ok(())
    }

    /// Looks whether a record is meant, with a pause wherever others wait.
    pub async fn fits(&self, row: &Row<'_>, spawn: &impl Spawn) -> bool {
        let mut look = Look::default();
        for step in &self.steps {
            look.take(step, self, row);
            spawn.yield_if_needed().await;
        }
        look.said.pop().unwrap_or_default()
    }

    /// The same without pauses.
    #[cfg(test)]
    pub fn fits_at_once(&self, row: &Row<'_>) -> bool {
        let mut look = Look::default();
        self.steps.iter().for_each(|step| look.take(step, self, row));
        assert_eq!(look.said.len(), 1, "each step takes what it joins");
        look.said.pop().unwrap_or_default()
    }
}

/// One look at a record.
#[derive(Default)]
struct Look {
    said: Vec<bool>,
    /// The values of the field that was looked into last.
    values: Option<(usize, Vec<Key>)>,
}

impl Look {
    fn take(&mut self, step: &Step, test: &Test, row: &Row<'_>) {
        let said = match step {
            Step::All => true,
            Step::Ids(ids) => ids.contains(row.id),
            Step::Field { field, folded, ask } => {
                let values = match self.values.take() {
                    Some((of, values)) if of == *field => values,
                    _ => match test.looked.get(*field) {
                        Some((name, kind)) => field::values(row.data, name, *kind),
                        None => Vec::new(),
                    },
                };
                let said = values.iter().any(|value| match (folded, value) {
                    (true, Key::Word(word)) => ask.fits(&Key::Word(word.to_ascii_lowercase())),
                    (_, value) => ask.fits(value),
                });
                self.values = Some((*field, values));
                said
            }
            Step::And(of) => self.last(*of) == *of,
            Step::Some { needed, of } => self.last(*of) >= *needed,
            Step::Not => self.last(1) == 0,
        };
        self.said.push(said);
    }

    /// Takes the last so many off; how many of them say yes.
    fn last(&mut self, of: usize) -> usize {
        let from = self.said.len().saturating_sub(of);
        self.said.drain(from..).filter(|said| *said).count()
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
