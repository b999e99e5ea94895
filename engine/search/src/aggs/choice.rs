//! Which terms count: `include` and `exclude` that have met their field.

use base::hash::{Set, murmur3};

use super::metric::distinct::hash_long;
use super::source::{Form, Source, address, number_of};
use super::spec::{IncludeExclude, TermSet, Values};
use crate::ast::Scalar;
use crate::error::{Error, Kind, Result};
use crate::plan::{Automata, Context};
use automaton::Dfa;

/// Seed of the hash by which terms are parted.
const PARTITION_SEED: u32 = 31;

/// Which terms count.
#[derive(Debug, Default)]
pub struct Choice {
    include: Option<Terms>,
    exclude: Option<Terms>,
    partition: Option<(u32, u32)>,
}

#[derive(Debug)]
enum Terms {
    Expression(Box<Dfa>),
    Words(Set<Box<[u8]>>),
    Numbers(Vec<f64>),
}

/// Meets what was asked with a field; `None` where all terms count.
///
/// # Errors
/// An expression over numbers, or one that cannot be read.
pub fn bind(
    filter: &IncludeExclude,
    name: &str,
    source: &Source,
    values: &Values,
    context: &Context<'_>,
) -> Result<Option<Choice>> {
    if *filter == IncludeExclude::default() {
        return Ok(None);
    }
    let set = |set: &Option<TermSet>| -> Result<Option<Terms>> {
        set.as_ref().map(|set| terms(set, name, source, values, context)).transpose()
    };
    Ok(Some(Choice {
        include: set(&filter.include)?,
        exclude: set(&filter.exclude)?,
        partition: filter.partition,
    }))
}

/// Meets what was asked with plain words; `None` where all count.
///
/// # Errors
/// An expression that cannot be read.
pub fn of_words(filter: &IncludeExclude) -> Result<Option<Choice>> {
    if *filter == IncludeExclude::default() {
        return Ok(None);
    }
    let set = |set: &Option<TermSet>| -> Result<Option<Terms>> {
        let terms = |set: &TermSet| match set {
            TermSet::Regexp(text) => expression(text, None),
            TermSet::List(list) => {
                Ok(Terms::Words(list.iter().map(|text| text.as_bytes().into()).collect()))
            }
        };
        set.as_ref().map(terms).transpose()
    };
    Ok(Some(Choice {
        include: set(&filter.include)?,
        exclude: set(&filter.exclude)?,
        partition: filter.partition,
    }))
}

/// Words that an expression means: its automaton is one of the request's, made once and paid for.
fn expression(text: &str, automata: Option<&Automata>) -> Result<Terms> {
    let own = Automata::default();
    match automata.unwrap_or(&own).expression(text, u32::MAX, false, 10_000) {
        Ok(dfa) => Ok(Terms::Expression(Box::new(dfa))),
        // Here it is an argument like any other.
        Err(Error { kind: Kind::TooComplex, reason, .. }) => Err(Error::illegal(reason)),
        Err(error) => Err(error),
    }
}

fn terms(
    set: &TermSet,
    name: &str,
    source: &Source,
    values: &Values,
    context: &Context<'_>,
) -> Result<Terms> {
    match set {
        TermSet::Regexp(text) if source.form == Form::Bytes => expression(text, context.automata),
        TermSet::Regexp(_) => Err(Error::illegal(format!(
            "Aggregation [{name}] cannot support regular expression style include/exclude \
             settings as they can only be applied to string fields. Use an array of {}values \
             for include/exclude clauses{}",
            if source.form == Form::Ip { "" } else { "numeric " },
            if source.form == Form::Ip { "" } else { " used to filter numeric fields" },
        ))),
        TermSet::List(list) => match source.form {
            Form::Bytes => list
                .iter()
                .map(|text| super::source::term_of(text, source))
                .collect::<Result<_>>()
                .map(Terms::Words),
            Form::Ip => list
                .iter()
                .map(|text| {
                    let address = address(text).ok_or_else(|| {
                        Error::illegal(format!("'{text}' is not an IP string literal."))
                    })?;
                    Ok(address.as_slice().into())
                })
                .collect::<Result<_>>()
                .map(Terms::Words),
            form => list
                .iter()
                .map(|text| {
                    let value = Scalar::String(text.clone());
                    number_of(&value, form, &source.format, values, context)
                        .map(|raw| form.double(raw))
                })
                .collect::<Result<_>>()
                .map(Terms::Numbers),
        },
    }
}

impl Choice {
    /// Whether a word counts.
    pub fn allows_term(&self, word: &[u8]) -> bool {
        if let Some((part, parts)) = self.partition {
            let hash = murmur3(word, PARTITION_SEED) as i32;
            return hash.rem_euclid(parts as i32) == part as i32;
        }
        let has = |terms: &Terms| match terms {
            Terms::Expression(dfa) => std::str::from_utf8(word).is_ok_and(|text| dfa.matches(text)),
            Terms::Words(words) => words.contains(word),
            Terms::Numbers(_) => false,
        };
        self.include.as_ref().is_none_or(has) && !self.exclude.as_ref().is_some_and(has)
    }

    /// Whether a number counts.
    pub fn allows_number(&self, form: Form, raw: i64) -> bool {
        if let Some((part, parts)) = self.partition {
            let value = match form.is_floating() {
                true => mapping::types::sortable::from_f64(form.double(raw)),
                false => raw,
            };
            return (hash_long(value) as i64).rem_euclid(i64::from(parts)) == i64::from(part);
        }
        let value = form.double(raw);
        let has = |terms: &Terms| match terms {
            Terms::Numbers(numbers) => numbers.contains(&value),
            Terms::Expression(_) | Terms::Words(_) => false,
        };
        self.include.as_ref().is_none_or(has) && !self.exclude.as_ref().is_some_and(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_in_one_part() {
        for word in ["abc", "bcd", "", "longer words too"] {
            let parts = (0..3).filter(|part| {
                let choice = Choice { partition: Some((*part, 3)), ..Choice::default() };
                choice.allows_term(word.as_bytes())
            });
            assert_eq!(parts.count(), 1);
        }
        // Recorded from OpenSearch 3.8.
        let first = Choice { partition: Some((0, 2)), ..Choice::default() };
        assert!(first.allows_term(b"bcd"));
        assert!(!first.allows_term(b"abc"));
    }
}
