//! Where a page begins: the values of `search_after`, or of the hit before it, as a key compares them.

use mapping::types::sortable;

use super::numeric::{after, convert, number};
use super::order::{Key, NumberForm, Place, Source, term_of};
use super::veil::Veil;
use crate::ast::Scalar;
use crate::error::{Error, Kind, Result};
use crate::request::{After, ScriptKind, Sort, SortBy};
use crate::result;

/// The place of one value of `search_after` by a key.
pub(super) fn place(key: &Key, sort: &Sort, value: &After, veil: Option<&Veil>) -> Result<Place> {
    let name = match &sort.by {
        SortBy::Score => "_score",
        SortBy::Doc => "_doc",
        SortBy::ShardDoc => "_shard_doc",
        SortBy::Distance(asked) => &asked.field,
        SortBy::Field(name) => name,
        SortBy::Script(_) => "_script",
    };
    let failed = |cause: Option<Error>| {
        let error =
            Error::illegal(format!("Failed to parse search_after value for field [{name}]."));
        match cause {
            Some(cause) if cause.kind == Kind::NumberFormat => error.caused_by(cause),
            // What is no number to begin with says so itself.
            Some(cause) => cause,
            None => error,
        }
    };
    let scalar = match value {
        // No other key is true or false.
        After::Value(Scalar::Bool(flag)) if !matches!(key.source, Source::Ordinals(_)) => {
            &Scalar::String(flag.to_string())
        }
        After::Value(scalar) => scalar,
        After::Null => {
            return match &key.source {
                Source::Ordinals(_) => Ok(Place::Term(None)),
                Source::Numeric(numeric) => Ok(Place::Number(numeric.missing)),
                Source::Distance(_) => Ok(Place::Number(sortable::from_f64(f64::INFINITY))),
                Source::Script(scripted) => Ok(scripted.missing_place(key.descending)),
                Source::Score | Source::Doc | Source::ShardDoc => Err(failed(None)),
            };
        }
    };
    match &key.source {
        Source::Score => match scalar.text().parse::<f32>() {
            Ok(score) if !score.is_nan() => Ok(Place::Score(score)),
            _ => Err(failed(Some(Error::number(scalar.text())))),
        },
        Source::Doc | Source::ShardDoc => match (scalar.text().parse(), veil) {
            (Ok(doc), None) => Ok(Place::Doc(doc)),
            (Ok(told), Some(veil)) => match veil.reveal(told) {
                Some(doc) => Ok(Place::Doc(doc)),
                None => Err(Error::illegal(format!(
                    "Failed to parse search_after value for field [{name}]: [{told}] was given to nobody \
                     as the place of a document."
                ))),
            },
            (Err(_), _) => Err(failed(Some(Error::number(scalar.text())))),
        },
        Source::Numeric(numeric) if numeric.flag && !matches!(scalar, Scalar::Number(_)) => {
            match scalar.text() {
                "true" => Ok(Place::Number(1)),
                "false" => Ok(Place::Number(0)),
                text => Err(Error::illegal(format!(
                    "Cannot parse boolean [{text}], expected either [true] or [false]"
                ))),
            }
        }
        // A string is read as an int where the key is one.
        Source::Numeric(numeric) if numeric.narrow && matches!(scalar, Scalar::String(_)) => {
            let int = scalar.text().parse::<i32>();
            int.map(|int| Place::Number(int.into()))
                .map_err(|_| failed(Some(Error::number(scalar.text()))))
        }
        Source::Numeric(numeric) => {
            after(numeric, scalar).map(Place::Number).map_err(|error| failed(Some(error)))
        }
        Source::Distance(_) => number(NumberForm::Double, scalar)
            .map(Place::Number)
            .map_err(|error| failed(Some(error))),
        Source::Script(scripted) if scripted.kind == ScriptKind::Number => {
            number(NumberForm::Double, scalar)
                .map(Place::Number)
                .map_err(|error| failed(Some(error)))
        }
        Source::Script(scripted) => Ok(Place::Term(Some(scripted.term(scalar.text()).into()))),
        Source::Ordinals(ordinals) => term_of(ordinals.shown.as_ref(), scalar)
            .map(|term| Place::Term(Some(term)))
            .map_err(|error| failed(Some(error))),
    }
}

/// The place of a hit by its keys, as they crossed cores; another index may have ordered it.
pub(super) fn resumed(key: &Key, last: &result::Key) -> Result<Place> {
    use result::Key as Last;
    let place = match (&key.source, last) {
        (Source::Score, Last::Score(score)) => Place::Score(*score),
        (Source::Doc | Source::ShardDoc, Last::Long(doc)) => Place::Doc(*doc as u64),
        (Source::Numeric(numeric), Last::Long(value)) if numeric.form == NumberForm::Unsigned => {
            Place::Number(*value)
        }
        (Source::Numeric(numeric), Last::Long(value)) => {
            Place::Number(convert(NumberForm::Long, numeric.form, *value))
        }
        (Source::Numeric(numeric), Last::Double(value)) => {
            Place::Number(convert(NumberForm::Double, numeric.form, sortable::from_f64(*value)))
        }
        (Source::Numeric(numeric), Last::Float(value)) => {
            Place::Number(convert(NumberForm::Float, numeric.form, sortable::from_f32(*value)))
        }
        (Source::Distance(_), Last::Double(value)) => Place::Number(sortable::from_f64(*value)),
        (Source::Script(scripted), Last::Double(value)) if scripted.kind == ScriptKind::Number => {
            Place::Number(sortable::from_f64(*value))
        }
        (Source::Script(scripted), Last::Term(term)) if scripted.kind != ScriptKind::Number => {
            Place::Term(Some((**term).into()))
        }
        (Source::Script(_), Last::Null) => Place::Term(None),
        (Source::Ordinals(_), Last::Term(term)) => Place::Term(Some((**term).into())),
        (Source::Ordinals(_), Last::Null) => Place::Term(None),
        _ => {
            return Err(Error::illegal("a page cannot go on after a hit of another kind of field"));
        }
    };
    Ok(place)
}
