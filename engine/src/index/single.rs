//! A name to the one index that a write or a read of a single document goes to.

use super::date_math;
use super::resolve::{Names, closed, no_such_cluster, reserved};
use crate::error::{Error, Result};

/// Resolves a name that a write or a single-document read goes to: an index, or an alias with one
/// index or a write index.
///
/// # Errors
/// As [`resolve`], and 400 for an alias without a write index.
pub fn resolve_one(
    names: &impl Names,
    expression: &str,
    now_ms: i64,
    purpose: Purpose,
) -> Result<One> {
    let name = date_math::resolve(expression, now_ms)?;
    if let Some(facts) = names.index(&name) {
        if !facts.open {
            return Err(closed(&name, facts.uuid));
        }
        return Ok(One::Index {
            name: name.into_owned(),
            routing: None,
            via: None,
            is_stream: false,
        });
    }
    if let Some(indices) = names.stream(&name) {
        return stream_one(&name, &indices, purpose);
    }
    let Some(targets) = names.alias(&name) else {
        if name.contains(':') {
            let cluster = name.split(':').next().unwrap_or_default();
            return Err(no_such_cluster(cluster));
        }
        if name.starts_with('_') && purpose == Purpose::Read {
            return Err(reserved(&name));
        }
        return Ok(One::Missing { name: name.into_owned() });
    };
    let target = match (purpose, targets.as_slice()) {
        (Purpose::Read, [only]) => only,
        (Purpose::Read, _) => {
            let list: Vec<&str> = targets.iter().map(|target| target.index.as_str()).collect();
            return Err(Error::illegal_argument(format!(
                "alias [{name}] has more than one index associated with it [{}], can't execute a \
                 single index op",
                list.join(", ")
            )));
        }
        (Purpose::Write, [only]) if only.is_write_index != Some(false) => only,
        (Purpose::Write, _) => {
            targets.iter().find(|target| target.is_write_index == Some(true)).ok_or_else(|| {
                Error::illegal_argument(format!(
                    "no write index is defined for alias [{name}]. The write index may be \
                     explicitly disabled using is_write_index=false or the alias points to \
                     multiple indices without one being designated as a write index"
                ))
            })?
        }
    };
    if let Some(facts) = names.index(&target.index)
        && !facts.open
    {
        return Err(closed(&target.index, facts.uuid));
    }
    // A single document is where it was written to, whoever asks for it.
    let routing = target.index_routing.as_deref().map(str::to_owned);
    let via = Some(name.into_owned());
    Ok(One::Index { name: target.index.clone(), routing, via, is_stream: false })
}

/// The index of a data stream that a single document goes to, or is read from.
fn stream_one(name: &str, indices: &[String], purpose: Purpose) -> Result<One> {
    let found = match (purpose, indices) {
        (Purpose::Write, [.., last]) | (Purpose::Read, [last]) => last,
        _ => {
            return Err(Error::illegal_argument(format!(
                "data stream [{name}] has more than one index associated with it [{}], can't \
                 execute a single index op",
                indices.join(", ")
            )));
        }
    };
    let via = Some(name.to_owned());
    Ok(One::Index { name: found.clone(), routing: None, via, is_stream: true })
}

/// What a single index is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A document is read.
    Read,
    /// A document is written.
    Write,
}

/// Answer of [`resolve_one`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum One {
    /// The index, perhaps through an alias with a routing of its own.
    Index {
        /// Concrete name.
        name: String,
        /// The alias's routing.
        routing: Option<String>,
        /// The alias or data stream that led to it.
        via: Option<String>,
        /// The name was a data stream.
        is_stream: bool,
    },
    /// No index or alias bears the name: a write may create it.
    Missing {
        /// The name, date math done.
        name: String,
    },
}
