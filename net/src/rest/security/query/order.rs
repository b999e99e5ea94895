//! The order of records in an answer.

use std::cmp::Ordering;

use engine::{Error, Result};
use json::Value;
use mapping::types::date_format::Round;
use search::request::{After, Missing, Mode, Order, Sort, SortBy};

use super::field::{self, Dates, Fields, Key, Kind};

/// What one criterion compares.
enum By {
    /// The order in which records are kept.
    Place,
    /// A field.
    Field(String, Kind),
}

struct One {
    by: By,
    descending: bool,
    /// Which of several values counts.
    greatest: bool,
    missing_first: bool,
    /// How dates are shown and read; as numbers where it is not said.
    format: Option<String>,
}

/// Criteria, the first of which differs decides.
pub(super) struct Orders(Vec<One>);

/// What a record is compared by; none where it has no such value.
pub(super) type Keys = Vec<Option<Key>>;

/// About what keys take, in bytes.
pub(super) fn weight(keys: &Keys) -> usize {
    let of = |key: &Option<Key>| match key {
        Some(Key::Word(word)) => size_of::<Key>() + word.len(),
        _ => size_of::<Key>(),
    };
    keys.iter().map(of).sum()
}

impl Orders {
    /// Of a request.
    ///
    /// # Errors
    /// A field that may not be asked for, or an order that is no field's.
    pub fn of(sorts: &[Sort], fields: Fields) -> Result<Self> {
        let one = |sort: &Sort| -> Result<One> {
            if sort.nested.is_some() {
                return Err(Error::illegal_argument(
                    "nested sorting is not currently supported in this context",
                ));
            }
            let descending = sort.order == Order::Descending;
            let by = match &sort.by {
                SortBy::Doc => By::Place,
                SortBy::Field(name) => By::Field(name.clone(), fields.kind(name)?),
                SortBy::Score => By::Field("_score".to_owned(), fields.kind("_score")?),
                _ => return Err(Error::illegal_argument("records are ordered by fields alone")),
            };
            Ok(One {
                by,
                descending,
                greatest: match sort.mode {
                    Some(mode) => mode == Mode::Max,
                    None => descending,
                },
                missing_first: sort.missing == Missing::First,
                format: sort.format.clone(),
            })
        };
        sorts.iter().map(one).collect::<Result<_>>().map(Self)
    }

    /// Is none asked for?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a record is compared by that is kept at `place`.
    pub fn keys(&self, place: usize, data: &Value) -> Keys {
        let key = |one: &One| match &one.by {
            By::Place => Some(Key::Number(i64::try_from(place).unwrap_or(i64::MAX))),
            By::Field(name, kind) => {
                let values = field::values(data, name, *kind).into_iter();
                if one.greatest { values.max() } else { values.min() }
            }
        };
        self.0.iter().map(key).collect()
    }

    /// Puts records into order; those that are equal by their id.
    pub fn sort<T>(&self, rows: &mut [(Keys, T)], id: impl Fn(&T) -> &str) {
        rows.sort_by(|a, b| self.compare(&a.0, &b.0).then_with(|| id(&a.1).cmp(id(&b.1))));
    }

    /// Which comes first?
    pub fn compare(&self, a: &Keys, b: &Keys) -> Ordering {
        let by = self.0.iter().zip(a).zip(b).map(|((one, a), b)| match (a, b) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) if one.missing_first => Ordering::Less,
            (Some(_), None) if one.missing_first => Ordering::Greater,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) if one.descending => b.cmp(a),
            (Some(a), Some(b)) => a.cmp(b),
        });
        by.fold(Ordering::Equal, Ordering::then)
    }

    /// The place that `search_after` names.
    ///
    /// # Errors
    /// A value that is none of its field's; not one for each of them.
    pub fn place(&self, after: &[After], now_ms: i64) -> Result<Keys> {
        let (values, sorts) = (after.len(), self.0.len());
        if sorts == 0 {
            return Err(Error::illegal_argument("Sort must contain at least one field."));
        }
        if values != sorts {
            return Err(Error::illegal_argument(format!(
                "search_after has {values} value(s) but sort has {sorts}."
            )));
        }
        let key = |(one, after): (&One, &After)| -> Result<Option<Key>> {
            let After::Value(value) = after else { return Ok(None) };
            let text = value.text();
            let bad =
                || Error::illegal_argument(format!("Failed to parse search_after value [{text}]"));
            Ok(Some(match &one.by {
                By::Field(_, Kind::Truth) => field::truth(text)?,
                By::Field(_, Kind::Date) => {
                    let dates = Dates::new(one.format.as_deref(), None, now_ms)?;
                    match text.parse() {
                        Ok(moment) if one.format.is_none() => Key::Number(moment),
                        _ => Key::Number(dates.read(text, Round::Down)?),
                    }
                }
                By::Place => Key::Number(text.parse().map_err(|_| bad())?),
                By::Field(..) => Key::Word(text.to_owned()),
            }))
        };
        self.0.iter().zip(after).map(key).collect()
    }

    /// `_sort` of a record.
    pub fn show(&self, keys: &Keys) -> Vec<Value> {
        let show = |(one, key): (&One, &Option<Key>)| match (key, &one.by) {
            (None, _) => Value::Null,
            (Some(Key::Word(word)), _) => Value::from(word.as_str()),
            (Some(Key::Number(truth)), By::Field(_, Kind::Truth)) => Value::Bool(*truth == 1),
            (Some(Key::Number(number)), _) => match &one.format {
                Some(format) => match Dates::new(Some(format), None, 0) {
                    Ok(dates) => Value::from(dates.print(*number)),
                    Err(_) => Value::from(*number),
                },
                None => Value::from(*number),
            },
        };
        self.0.iter().zip(keys).map(show).collect()
    }
}
