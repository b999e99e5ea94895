//! Getting one document by id.
//!
//! A real-time get sees all that is applied: tombstones, buffer, frozen buffer, segments; it never
//! forces a refresh. Another sees what a search sees.

use std::rc::Rc;

use base::{DocId, FieldNo};
use env::{Bytes, Clock, Env};
use mapping::document::kept::split;
use segment::Segment;

use crate::buffer::Buffer;
use crate::buffer::stored::Stamp;
use crate::error::{Error, Result};
use crate::held;
use crate::operation::{Found, Reading, Realtime};
use crate::shard::Inner;
use crate::state::Place;

impl<E: Env> Inner<E> {
    /// As much as is wanted of the document with this id.
    pub(crate) fn get(
        self: &Rc<Self>,
        id: &str,
        realtime: Realtime,
        reading: Reading,
    ) -> Result<Option<Found>> {
        let started = self.env.clock().monotonic();
        let found = match realtime {
            Realtime::Yes => self.get_applied(id, reading),
            Realtime::No => self.get_visible(id, reading),
        };
        if reading == Reading::Again {
            return found;
        }
        self.count(started, |counters| &mut counters.get);
        if let Ok(None) = found {
            self.count(started, |counters| &mut counters.get_missing);
        }
        found
    }

    pub(crate) fn get_applied(&self, id: &str, reading: Reading) -> Result<Option<Found>> {
        let state = self.state.borrow();
        let found = match state.place(id) {
            Ok(Some(Place::Segment(segment, doc))) => {
                from_segment(&state.held(segment).segment, doc, reading).map(Some)
            }
            Ok(Some(Place::Buffer(doc))) => Ok(Some(from_buffer(&state.buffer, doc, reading))),
            Ok(Some(Place::Frozen(doc))) => {
                let frozen = state.frozen.as_ref().expect("the place is in it");
                Ok(Some(from_buffer(&frozen.buffer, doc, reading)))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        drop(state);
        found.map_err(|error| self.segment_error(&error))
    }

    fn get_visible(&self, id: &str, reading: Reading) -> Result<Option<Found>> {
        let view = self.view.load();
        for at in view.segments.iter().rev() {
            let found = held::find(&at.segment, at.live.as_deref(), id.as_bytes())
                .and_then(|doc| doc.map(|doc| from_segment(&at.segment, doc, reading)).transpose())
                .map_err(|error| {
                    let error = Error::in_segment(at.segment.id(), &error);
                    self.fail(&error);
                    error
                })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

fn from_buffer(buffer: &Buffer, doc: u32, reading: Reading) -> Found {
    let Stamp { seq_no, term, version } = buffer.docs().stamp(doc);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut ignored: Vec<String> = buffer.ignored(doc).map(text).collect();
    ignored.sort_unstable();
    let (source, stored) = match reading {
        Reading::Head => (Bytes::empty(), None),
        Reading::Whole | Reading::Again => readings(buffer.docs().source(doc).clone()),
    };
    Found {
        source,
        stored,
        seq_no,
        primary_term: term,
        version,
        routing: buffer.routing(doc).map(text),
        ignored,
    }
}

/// `_source`, and where values of stored fields are found if not there.
fn readings(text: Bytes) -> (Bytes, Option<Bytes>) {
    match split(&text) {
        Some((source, stored)) => {
            (text.slice(source).unwrap_or_else(Bytes::empty), text.slice(stored))
        }
        None => (text, None),
    }
}

fn from_segment(segment: &Segment, doc: DocId, reading: Reading) -> segment::Result<Found> {
    let Stamp { seq_no, term, version } = held::stamp(segment, doc)?;
    let source = match segment.stored().filter(|_| reading != Reading::Head) {
        Some(stored) => Bytes::from(stored.get(doc)?),
        None => Bytes::empty(),
    };
    let (source, stored) = readings(source);
    Ok(Found {
        source,
        stored,
        seq_no,
        primary_term: term,
        version,
        routing: held::words(segment, FieldNo::ROUTING, doc)?.pop(),
        ignored: held::words(segment, FieldNo::IGNORED, doc)?,
    })
}
