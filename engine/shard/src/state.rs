//! What the home core holds of its shard, and the questions that need no waiting.
//!
//! Always true
//! 1. `visible <= applied <= seq_no_next`; all below `applied` is durable and in the buffers or
//!    segments; all below `visible` is in the published view.
//! 2. Each change below is one step without a wait, so nobody ever sees half of it.
//! 3. At most one buffer is frozen.

use std::sync::Arc;
use std::time::Duration;

use base::planted::{Fault, planted};
use base::{DocId, PrimaryTerm, SegmentId};
use env::budget::{Lease, Taken};
use segment::View;

use crate::buffer::Buffer;
use crate::buffer::seal::Renumbered;
use crate::buffer::stored::Stamp;
use crate::file;
use crate::held::{self, Held};
use crate::manifest::SegmentFile;
use crate::versions::{Decided, Standing, Tombstones};

/// The memory of tombstones is accounted for in steps of this.
const TOMBSTONES_STEP_BYTES: usize = 64 << 10;

/// The state.
pub(crate) struct State {
    pub(crate) term: PrimaryTerm,
    /// The next sequence number to give.
    pub(crate) seq_no_next: u64,
    /// One above the last number that the log took in; those above may be taken back.
    pub(crate) logged: u64,
    /// One above the last operation applied.
    pub(crate) applied: u64,
    /// One above the last operation that the published view shows.
    pub(crate) visible: u64,
    pub(crate) decided: Decided,
    pub(crate) tombstones: Tombstones,
    /// Memory accounted for the tombstones.
    tombstones_taken: Option<Taken>,
    /// What takes documents now.
    pub(crate) buffer: Buffer,
    /// Memory accounted for the buffer.
    pub(crate) buffer_taken: Vec<Taken>,
    /// What is being sealed.
    pub(crate) frozen: Option<Frozen>,
    /// In the order of the view.
    pub(crate) segments: Vec<Held>,
    pub(crate) segment_next: SegmentId,
    pub(crate) view_generation: u64,
    /// Files to remove once a manifest is durable that names them no more.
    pub(crate) obsolete: Vec<String>,
    /// Bytes of those, near enough.
    pub(crate) obsolete_bytes: u64,
}

/// A buffer that takes nothing any more.
pub(crate) struct Frozen {
    pub(crate) buffer: Arc<Buffer>,
    /// Its documents that died since.
    pub(crate) dead: Vec<u32>,
    pub(crate) taken: Vec<Taken>,
    /// One above the last operation in it, or in what came before.
    pub(crate) upto: u64,
}

/// Where a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Buffer(u32),
    Frozen(u32),
    Segment(SegmentId, DocId),
}

/// What applying may rely on of the look-up that deciding did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prior {
    /// No segment held the id, and nothing was under way for it: no segment holds it now.
    Nowhere,
    /// It was here, and nothing was under way for it.
    Segment(SegmentId, DocId),
    /// Nothing is sure.
    Unsure,
}

impl State {
    /// A state before any operation.
    pub(crate) fn new(term: PrimaryTerm, seq_no_next: u64, segment_next: SegmentId) -> Self {
        Self {
            term,
            seq_no_next,
            logged: seq_no_next,
            applied: seq_no_next,
            visible: seq_no_next,
            decided: Decided::default(),
            tombstones: Tombstones::default(),
            tombstones_taken: None,
            buffer: Buffer::default(),
            buffer_taken: Vec::new(),
            frozen: None,
            segments: Vec::new(),
            segment_next,
            view_generation: 0,
            obsolete: Vec::new(),
            obsolete_bytes: 0,
        }
    }

    /// How a document will stand when all that is under way is applied.
    pub(crate) fn standing(&self, id: &str) -> segment::Result<(Standing, Prior)> {
        if let Some(standing) = self.decided.get(id)
            && !planted(Fault::ForgetUnderWay)
        {
            return Ok((standing, Prior::Unsure));
        }
        if let Some(stamp) = self.tombstones.get(id) {
            return Ok((Standing::Deleted(stamp), Prior::Unsure));
        }
        match self.place(id)? {
            None => Ok((Standing::Absent, Prior::Nowhere)),
            Some(place) => {
                let prior = match place {
                    Place::Segment(segment, doc) => Prior::Segment(segment, doc),
                    Place::Buffer(_) | Place::Frozen(_) => Prior::Unsure,
                };
                Ok((Standing::Present(self.stamp(place)?), prior))
            }
        }
    }

    /// Where the applied document with this id is.
    pub(crate) fn place(&self, id: &str) -> segment::Result<Option<Place>> {
        if let Some(place) = self.buffered(id) {
            return Ok(Some(place));
        }
        if self.tombstones.get(id).is_some() {
            return Ok(None);
        }
        self.in_segments(id)
    }

    /// What was stamped on a document.
    pub(crate) fn stamp(&self, place: Place) -> segment::Result<Stamp> {
        match place {
            Place::Buffer(doc) => Ok(self.buffer.docs().stamp(doc)),
            Place::Frozen(doc) => Ok(self.frozen().buffer.docs().stamp(doc)),
            Place::Segment(id, doc) => held::stamp(&self.held(id).segment, doc),
        }
    }

    /// Puts the document with this id away, wherever it is, for an operation that is applied now.
    pub(crate) fn displace(&mut self, id: &str, prior: Prior) -> segment::Result<()> {
        let place = match self.buffered(id) {
            Some(place) => Some(place),
            None if self.tombstones.get(id).is_some() => None,
            None => match prior {
                Prior::Nowhere => None,
                Prior::Segment(segment, doc)
                    if self.segments.iter().any(|held| held.id() == segment) =>
                {
                    Some(Place::Segment(segment, doc))
                }
                // It was merged away since.
                Prior::Segment(..) | Prior::Unsure => self.in_segments(id)?,
            },
        };
        match place {
            None => {}
            Some(Place::Buffer(doc)) => self.buffer.remove(doc),
            Some(Place::Frozen(doc)) => {
                let frozen = self.frozen.as_mut().expect("a document was found in it");
                frozen.dead.extend(frozen.buffer.docs().block(doc));
            }
            Some(Place::Segment(segment, doc)) => {
                let held = self.segments.iter_mut().find(|held| held.id() == segment);
                let held = held.expect("it was found among them");
                held.pending.extend(held.segment.block(doc));
            }
        }
        Ok(())
    }

    /// Whether anything is applied that the published view does not show.
    pub(crate) fn is_dirty(&self) -> bool {
        self.applied > self.visible
    }

    /// Freezes the buffer and the deletes that came so far, for a refresh. `None` where the buffer
    /// holds nothing: then there are only deletes.
    pub(crate) fn freeze(&mut self) -> Option<(Arc<Buffer>, SegmentId)> {
        assert!(self.frozen.is_none(), "refreshes take turns");
        for held in &mut self.segments {
            assert!(held.dying.is_empty(), "the refresh before buried them");
            held.dying = std::mem::take(&mut held.pending);
        }
        let buffer = Arc::new(std::mem::take(&mut self.buffer));
        let is_empty = buffer.is_empty();
        let frozen = Arc::clone(&buffer);
        self.frozen = Some(Frozen {
            buffer: frozen,
            dead: Vec::new(),
            taken: std::mem::take(&mut self.buffer_taken),
            upto: self.applied,
        });
        if is_empty {
            return None;
        }
        let id = self.segment_next;
        self.segment_next = id.next();
        Some((buffer, id))
    }

    /// Ends a refresh: buries the dying, takes the new segment in, and gives the view to publish,
    /// with the frozen buffer to drop.
    pub(crate) fn thaw(
        &mut self,
        sealed: Option<(segment::Segment, Renumbered, Option<SegmentFile>)>,
    ) -> segment::Result<(Arc<View>, Frozen)> {
        let mut frozen = self.frozen.take().expect("it was frozen for this refresh");
        for held in &mut self.segments {
            held.bury();
        }
        // Those being merged leave with the merge.
        let is_over = |held: &mut Held| !held.is_merging && is_empty(held);
        let over: Vec<Held> = self.segments.extract_if(.., is_over).collect();
        over.iter().filter_map(|held| held.file.as_ref()).for_each(|file| self.retire(file));
        if let Some((segment, renumbered, file)) = sealed {
            let dead = frozen.dead.iter();
            // A document that died before the freeze is no document of the segment; none of
            // `dead` is, for each was found alive in the frozen buffer.
            let pending = dead.filter_map(|doc| renumbered.new_doc(*doc)).collect();
            let taken = shrink(std::mem::take(&mut frozen.taken), segment.len_bytes() as usize);
            self.segments.push(Held { file, ..Held::in_memory(segment, pending, taken) });
        }
        assert!(frozen.upto >= self.visible, "what is visible stays visible");
        self.visible = frozen.upto;
        Ok((self.next_view()?, frozen))
    }

    /// The view of the segments as they stand, under the next generation.
    pub(crate) fn next_view(&mut self) -> segment::Result<Arc<View>> {
        self.view_generation += 1;
        let segments = self.segments.iter();
        let segments = segments.map(|held| (held.segment.clone(), held.live.clone()));
        Ok(Arc::new(View::new(self.view_generation, segments)?))
    }

    /// Notes that a segment's files are to be removed after the next manifest.
    pub(crate) fn retire(&mut self, file: &SegmentFile) {
        self.obsolete_bytes += file.len_bytes;
        self.obsolete.push(file::segment_name(file.id));
        if let Some(live) = file.live {
            self.obsolete.push(file::live_name(file.id, live.generation));
        }
    }

    /// The segment of this number.
    pub(crate) fn held(&self, id: SegmentId) -> &Held {
        let held = self.segments.iter().find(|held| held.id() == id);
        held.expect("who names a segment saw it in this very step")
    }

    /// Bytes of the buffers.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.buffer.size_bytes()
            + self.frozen.as_ref().map_or(0, |frozen| frozen.buffer.size_bytes())
    }

    /// Bytes of what is known of ids beside the buffers and segments.
    pub(crate) fn version_bytes(&self) -> usize {
        self.decided.size_bytes() + self.tombstones.size_bytes()
    }

    /// Bytes of segments that only memory holds.
    pub(crate) fn unflushed_bytes(&self) -> usize {
        let unflushed = self.segments.iter().filter(|held| held.file.is_none());
        unflushed.map(|held| held.segment.len_bytes() as usize).sum()
    }

    /// Forgets deletes whose time is over; true where more may wait.
    pub(crate) fn prune(&mut self, now: Duration, keep: Duration) -> bool {
        self.tombstones.prune(now, keep, self.visible, 1000)
    }

    /// Accounts for the memory of the tombstones; false where the budget has no room for them.
    pub(crate) fn hold_tombstones(&mut self, lease: &Lease) -> bool {
        let needed = self.tombstones.size_bytes().next_multiple_of(TOMBSTONES_STEP_BYTES);
        match &mut self.tombstones_taken {
            Some(taken) if taken.bytes() >= needed => {
                taken.shrink_to(needed);
                true
            }
            Some(taken) => taken.grow(needed - taken.bytes()),
            None if needed == 0 => true,
            None => {
                self.tombstones_taken = lease.take(needed);
                self.tombstones_taken.is_some()
            }
        }
    }

    fn frozen(&self) -> &Frozen {
        self.frozen.as_ref().expect("a place in it was found in this very step")
    }

    fn buffered(&self, id: &str) -> Option<Place> {
        if let Some(doc) = self.buffer.docs().find(id.as_bytes()) {
            return Some(Place::Buffer(doc));
        }
        if self.tombstones.get(id).is_some() {
            return None;
        }
        let doc = self.frozen.as_ref()?.buffer.docs().find(id.as_bytes())?;
        Some(Place::Frozen(doc))
    }

    fn in_segments(&self, id: &str) -> segment::Result<Option<Place>> {
        // The newest first: recent documents are changed most.
        for held in self.segments.iter().rev() {
            if let Some(doc) = held.find(id.as_bytes())? {
                return Ok(Some(Place::Segment(held.id(), doc)));
            }
        }
        Ok(None)
    }
}

/// Whether no document of a segment lives, now or ever after.
fn is_empty(held: &Held) -> bool {
    held.deleted_count() == held.segment.doc_count()
}

/// Gives back what is taken above `bytes`.
pub(crate) fn shrink(mut taken: Vec<Taken>, bytes: usize) -> Vec<Taken> {
    let mut left = bytes;
    taken.retain_mut(|piece| {
        piece.shrink_to(left);
        left -= piece.bytes().min(left);
        piece.bytes() > 0
    });
    taken
}
