//! Updates of callers who do not see all of the document that stands there.
//!
//! Always true
//! 1. Whether what such an update brings is good depends on that and on what its caller sees, and on nothing else
//!    of the document: else its failing would tell of the rest, one guess at a time.
//! 2. An object that is one value of a field (a range, a place) is merged only into one of which all is seen;
//!    who sees nothing gives all of it.
//!
//! What is wrong in spite of that only beside what is not seen (too many nested documents together, a document
//! that the mapping of today would refuse) is put: what does not fit is left out of the index, as when the log
//! is replayed (`shard::Seen`).

use std::rc::Rc;
use std::sync::Arc;

use cluster::Index;
use env::{Bytes, Env};
use json::{Object, Value};
use mapping::document::Mode;
use mapping::types::{Field, Kind};
use shard::Seen;

use super::alone::Alone;
use super::document::{Update, WriteItem};
use super::limited::{hidden, without_sight};
use crate::core::Core;
use crate::error::Result;
use crate::gate::Limits;

/// What the caller of an update may touch of a document, and what it sees.
pub(super) struct Sight<'l> {
    /// Which kind of documents it is to who writes.
    pub(super) write: &'l Limits,
    /// And to who reads; none who does not see it.
    pub(super) read: Option<&'l Limits>,
    /// What is seen of its source.
    pub(super) shown: &'l Value,
}

impl<E: Env> Core<E> {
    /// Makes of an update one that tells nothing of the document that stands there, of which its caller sees
    /// nothing, and may write all.
    ///
    /// # Errors
    /// The 403 for an update that wants to answer what it found, or would be merged into a value; its own fault.
    pub(super) async fn admit_unseen(
        self: &Rc<Self>,
        index: &Arc<Index>,
        routing: Option<&str>,
        item: &mut WriteItem,
    ) -> Result<()> {
        without_sight(item)?;
        let (Some(id), Some(update)) = (&item.id, item.update.as_deref_mut()) else {
            return Ok(());
        };
        update.sight = Seen::Nothing;
        let Some(change) = update.doc.as_ref().filter(|_| index.mapping.has_dependent_values())
        else {
            return Ok(());
        };
        let mut values = index.mapping.one_values(change).into_iter();
        if values.any(|(field, object)| is_partial(&field, object)) {
            return Err(hidden(&index.name));
        }
        self.parses(index, id, routing, change).await
    }

    /// The document that an update makes of one of which its caller does not see all.
    ///
    /// # Errors
    /// What is wrong with what it brings, or with that beside what is seen.
    pub(super) async fn alone_unseen(
        self: &Rc<Self>,
        index: &Arc<Index>,
        (id, routing): (&str, Option<&str>),
        update: &Update,
        new: &Value,
        sight: &Sight<'_>,
    ) -> Result<Alone> {
        let mut seen = sight.shown.clone();
        if let Some(change) = &update.doc {
            json::patch::merge(&mut seen, change);
            for (field, object) in index.mapping.one_values(change) {
                let members = index.mapping.members(&field.path);
                let shows = |kind: &Limits| {
                    let mut fields = kind.fields.iter();
                    fields.all(|fields| fields.permits_parts(&field.path, &members))
                };
                let is_whole = sight.read.map_or_else(|| !is_partial(&field, object), shows);
                if !is_whole || !shows(sight.write) {
                    return Err(hidden(&index.name));
                }
            }
            // What is good only with what stands there must be good with what is seen of it.
            if index.mapping.has_dependent_values()
                && let Err(error) = self.parses(index, id, routing, change).await
                && (sight.read.is_none() || self.parses(index, id, routing, &seen).await.is_err())
            {
                return Err(error);
            }
        }
        let new = Bytes::from(json::to_vec(new));
        match self.alone(index, id, routing, new.clone(), None, Mode::Strict).await {
            // What is wrong with the whole may be told in words of what is hidden.
            Err(error) if error.status == 400 => {
                self.why_seen(index, id, update, sight, &seen).await?;
                self.alone(index, id, routing, new, None, Mode::Replay).await
            }
            alone => alone,
        }
    }

    /// What is wrong with what an update brings, looked at alone, or beside what is seen.
    ///
    /// # Errors
    /// Its own fault, in words of nothing else.
    async fn why_seen(
        self: &Rc<Self>,
        index: &Arc<Index>,
        id: &str,
        update: &Update,
        sight: &Sight<'_>,
        seen: &Value,
    ) -> Result<()> {
        // Whether a routing is wanted is no question of the part.
        if let Some(change) = &update.doc {
            self.parses(index, id, Some(id), change).await?;
        }
        let Some(read) = sight.read else { return Ok(()) };
        let fields = read.fields.iter();
        let reduced = fields.map(|fields| {
            let mapping = Arc::new(index.mapping.visible(&**fields));
            Arc::new(Index { mapping, ..(**index).clone() })
        });
        // What is left of a document may be nothing whole, or nothing that the rest of the mapping knows.
        for index in reduced.chain([Arc::clone(index)]) {
            if self.parses(&index, id, Some(id), sight.shown).await.is_ok() {
                return self.parses(&index, id, Some(id), seen).await;
            }
        }
        Ok(())
    }

    async fn parses(
        self: &Rc<Self>,
        index: &Arc<Index>,
        id: &str,
        routing: Option<&str>,
        source: &Value,
    ) -> Result<()> {
        let source = Bytes::from(json::to_vec(source));
        self.alone(index, id, routing, source, None, Mode::Strict).await.map(drop)
    }
}

/// Is it for what stands there to say whether this value is good? A place or a relative that lacks something is
/// none by itself; a range that lacks an end is.
fn is_partial(field: &Field, object: &Object) -> bool {
    let gives = |names: [&str; 2]| {
        names.iter().any(|name| object.get(name).is_some_and(|end| !end.is_null()))
    };
    matches!(field.kind, Kind::Range(_)) && !(gives(["gt", "gte"]) && gives(["lt", "lte"]))
}
