//! Getting one document by id.
//!
//! A real-time get sees all that is applied: tombstones, buffer, frozen buffer, segments; it never
//! forces a refresh. Another sees what a search sees. A long document is decompressed by a worker; it is
//! the one that stood there when it was asked for. Its text is counted as memory of answers from before it is
//! read until the last who holds it lets it go.

use std::rc::Rc;

use base::{DocId, FieldNo};
use env::budget::{Holder, Taken};
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

/// To decompress more holds a core.
const READ_HERE_BYTES_MAX: u64 = 512 << 10;

/// Shorter ones are not counted: as many as one request reads at the same time are no burden.
const UNCOUNTED_BYTES_MAX: u64 = 32 << 10;

/// A document that was found.
enum Spot {
    /// In a buffer, where all of it is at hand.
    Read(Found),
    Segment(Segment, DocId),
}

impl<E: Env> Inner<E> {
    /// As much as is wanted of the document with this id.
    pub(crate) async fn get(
        self: &Rc<Self>,
        id: &str,
        realtime: Realtime,
        reading: Reading,
    ) -> Result<Option<Found>> {
        let started = self.env.clock().monotonic();
        let found = match realtime {
            Realtime::Yes => self.get_applied(id, reading).await,
            Realtime::No => self.get_visible(id, reading).await,
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

    pub(crate) async fn get_applied(&self, id: &str, reading: Reading) -> Result<Option<Found>> {
        let spot = {
            let state = self.state.borrow();
            let read = |buffer: &Buffer, doc| Spot::Read(from_buffer(buffer, doc, reading));
            state.place(id).map(|place| {
                place.map(|place| match place {
                    Place::Segment(segment, doc) => {
                        Spot::Segment(state.held(segment).segment.clone(), doc)
                    }
                    Place::Buffer(doc) => read(&state.buffer, doc),
                    Place::Frozen(doc) => {
                        let frozen = state.frozen.as_ref().expect("the place is in it");
                        read(&frozen.buffer, doc)
                    }
                })
            })
        };
        match spot.map_err(|error| self.segment_error(&error))? {
            None => Ok(None),
            Some(Spot::Read(found)) => Ok(Some(found)),
            Some(Spot::Segment(segment, doc)) => {
                let found = self.read(&segment, doc, reading).await?;
                found.map(Some).map_err(|error| self.segment_error(&error))
            }
        }
    }

    async fn get_visible(&self, id: &str, reading: Reading) -> Result<Option<Found>> {
        let view = self.view.load();
        for at in view.segments.iter().rev() {
            let failed = |error: segment::Error| {
                let error = Error::in_segment(at.segment.id(), &error);
                self.fail(&error);
                error
            };
            let doc = held::find(&at.segment, at.live.as_deref(), id.as_bytes());
            if let Some(doc) = doc.map_err(failed)? {
                return self.read(&at.segment, doc, reading).await?.map(Some).map_err(failed);
            }
        }
        Ok(None)
    }

    /// Reads a document: a worker does, where it is long. What many ask for at once is counted as it is
    /// read, not as it waits for a worker.
    async fn read(
        &self,
        segment: &Segment,
        doc: DocId,
        reading: Reading,
    ) -> Result<segment::Result<Found>> {
        let stored = segment.stored().filter(|_| reading != Reading::Head);
        let needed_bytes = stored.map_or(0, |stored| stored.reading_bytes(doc));
        if needed_bytes <= UNCOUNTED_BYTES_MAX {
            return Ok(from_segment(segment, doc, reading, None));
        }
        let lease = self.lease.of(Holder::Answers);
        let segment = segment.clone();
        let job = move || {
            let bytes = usize::try_from(needed_bytes).unwrap_or(usize::MAX);
            let taken = lease.take(bytes)?;
            Some(from_segment(&segment, doc, reading, Some(taken)))
        };
        let read = match needed_bytes <= READ_HERE_BYTES_MAX {
            true => job(),
            false => self.work(job).await?,
        };
        read.ok_or(Error::NoMemory { needed_bytes })
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

fn from_segment(
    segment: &Segment,
    doc: DocId,
    reading: Reading,
    taken: Option<Taken>,
) -> segment::Result<Found> {
    let Stamp { seq_no, term, version } = held::stamp(segment, doc)?;
    let source = match segment.stored().filter(|_| reading != Reading::Head) {
        Some(stored) => counted(stored.get(doc)?, taken),
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

/// A text with the memory that was taken for it; what its block took besides is given back.
fn counted(text: Vec<u8>, taken: Option<Taken>) -> Bytes {
    match taken {
        Some(mut taken) => {
            taken.shrink_to(text.capacity());
            Bytes::counted(text, taken)
        }
        None => Bytes::from(text),
    }
}
