//! Which fields hold values whole, in all that an entry of details names today.
//!
//! A filter on such a field says "customer is acme" and means it. On a text it would mean "acme is one of the
//! words", on a keyword with a normalizer "something that becomes acme"; and where an index has the field so and
//! another otherwise, or none has it, no words say what the filter lets through.

use std::collections::BTreeSet;
use std::sync::Arc;

use authz::oauth::details;
use authz::oauth::reach::There;
use authz::oauth::scope::Scope;
use json::Value;
use mapping::Mapping;
use mapping::types::Kind;

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

    /// Does this field hold values whole, wherever it is?
    pub fn holds(&self, field: &str) -> bool {
        let mut known = self.mappings.iter().filter_map(|mapping| holds(mapping, field)).peekable();
        known.peek().is_some() && known.all(|is_whole| is_whole)
    }
}

/// Does it here? None where the mapping has no such field, and no document matches.
fn holds(mapping: &Mapping, name: &str) -> Option<bool> {
    let field = mapping.lookup(name)?;
    let is_plain = !mapping.is_alias(name)
        && mapping.nested_of(name).is_none()
        && *field.path == *name
        && mapping.field(name).is_some();
    Some(
        is_plain
            && match &field.kind {
                Kind::Keyword(keyword) => keyword.normalizer.is_none(),
                Kind::Number(_) | Kind::Boolean(_) | Kind::Date(_) | Kind::Ip(_) => true,
                Kind::ConstantKeyword(_) => true,
                _ => false,
            },
    )
}
