//! How fields keep values, in all that an entry of details names today.
//!
//! A filter on such a field says "customer is acme" and means it. On a text it would mean "acme is one of the
//! words", on a keyword with a normalizer "something that becomes acme"; and where an index has the field so and
//! another otherwise, or none has it, no words say what the filter lets through.

use std::collections::BTreeSet;
use std::sync::Arc;

use authz::oauth::details;
use authz::oauth::reach::There;
use authz::oauth::scope::Scope;
use authz::pages::kept::{Exact, Kept};
use json::Value;
use mapping::Mapping;
use mapping::types::Kind;
use mapping::types::NumberKind;

use super::visit;

/// Mappings that are looked at for a page; where there are more, nothing is said of any field.
const MAPPINGS_MAX: usize = 1_000;

/// The mappings of what an entry names.
#[derive(Debug)]
pub struct Whole {
    mappings: Vec<Arc<Mapping>>,
}

impl Whole {
    /// Of an entry. An alias stands for its indices, a data stream for those behind it.
    pub fn of(state: &cluster::State, entry: &Value) -> Self {
        let scopes = details::scopes(entry);
        let is_named = |one: &There<'_>| {
            scopes.iter().any(|scope| match scope {
                Scope::Index { pattern, .. } => one.fits(pattern),
                _ => false,
            })
        };
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for one in visit::there(state).filter(is_named) {
            let behind: &[Arc<str>] = match one {
                There::Index(name) => {
                    names.insert(name);
                    &[]
                }
                There::Alias(name) => state.aliases.get(name).map_or(&[], |behind| behind),
                There::Stream(name) => {
                    state.data_streams.get(name).map_or(&[], |stream| &stream.indices)
                }
            };
            names.extend(behind.iter().map(|name| &**name));
            if names.len() > MAPPINGS_MAX {
                return Self { mappings: Vec::new() };
            }
        }
        let indices = names.into_iter().filter_map(|name| state.index(name));
        Self { mappings: indices.map(|index| Arc::clone(&index.mapping)).collect() }
    }

    /// How this field keeps values, wherever it is.
    pub fn kept(&self, field: &str) -> Kept {
        let all = self.mappings.iter().map(|mapping| kept(mapping, field));
        all.flatten().reduce(Kept::and).unwrap_or(Kept::UNKNOWN)
    }
}

/// How it does here. None where the mapping has no such field, and no document is found by it.
fn kept(mapping: &Mapping, name: &str) -> Option<Kept> {
    let field = mapping.lookup(name)?;
    let is_plain = !mapping.is_alias(name)
        && mapping.nested_of(name).is_none()
        && *field.path == *name
        && mapping.field(name).is_some()
        && !is_copied_to(mapping, name);
    if !is_plain {
        return Some(Kept::UNKNOWN);
    }
    let is_found = field.index || field.doc_values;
    let kept = |values, stands_for_none| Kept { values, stands_for_none, is_found };
    Some(match &field.kind {
        Kind::Keyword(keyword) => {
            let values = if keyword.normalizer.is_none() { Exact::Word } else { Exact::No };
            kept(values, keyword.null_value.is_some())
        }
        Kind::Number(number) => {
            let values = match number.number {
                _ if number.counts.is_some() || number.scale != 1.0 => Exact::No,
                NumberKind::Double => Exact::Double,
                NumberKind::Float | NumberKind::HalfFloat => Exact::No,
                NumberKind::ScaledFloat => Exact::No,
                NumberKind::Long
                | NumberKind::Integer
                | NumberKind::Short
                | NumberKind::Byte
                | NumberKind::UnsignedLong => Exact::Cut,
            };
            kept(values, number.null_value.is_some())
        }
        Kind::Boolean(boolean) => kept(Exact::Truth, boolean.null_value.is_some()),
        Kind::Date(date) => {
            // Bounds of `date_nanos` before 1970 are taken for 1970.
            let is_told = !date.nanos && is_read_as_it_looks(date.format.pattern());
            let values = if is_told { Exact::Moment } else { Exact::No };
            kept(values, date.null_value.is_some())
        }
        Kind::Ip(ip) => kept(Exact::Address, ip.null_value.is_some()),
        Kind::Text(_) => kept(Exact::No, false),
        _ => Kept { is_found, ..Kept::UNKNOWN },
    })
}

/// Do values of other fields go into it, or into the one whose multi-field it is?
fn is_copied_to(mapping: &Mapping, name: &str) -> bool {
    let is_it = |target: &str| {
        name.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    mapping.fields().any(|other| other.copy_to.iter().any(|target| is_it(target)))
}

/// Does a format take year, month and day in this order, and a number for no year only where it is none?
fn is_read_as_it_looks(pattern: &str) -> bool {
    const READ: &[&str] =
        &["strict_date_optional_time", "date_optional_time", "strict_date", "date", "yyyy-MM-dd"];
    let mut formats = pattern.split("||");
    formats.next().is_some_and(|first| READ.contains(&first))
        && formats.all(|other| other == "epoch_millis" || READ.contains(&other))
}
