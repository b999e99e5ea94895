//! Flushing: segments that only memory holds become files, a manifest names them, and the log is
//! shortened.
//!
//! Always true
//! 1. Files first, each synced under its name; then the manifest; then the log lets go; then files
//!    that no manifest names any more are removed. A crash between any two of these steps loses
//!    nothing and leaves at most files that the next open clears away.
//! 2. The log position of a manifest was synced before the refresh that the manifest's segments
//!    rest on: all up to it is in them.
//! 3. While files are written, writing and refreshing go on.
//! 4. Nothing is written where not all of it finds room, and what a failed flush wrote is removed: else
//!    the room that somebody made would be taken by files that free nothing.
//!
//! Not here: the manifest's bytes (`manifest`), clearing away at open (`recover`).

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::planted::{Fault, planted};
use base::{SegmentId, SeqNo};
use consensus::{Log, LogPosition};
use env::{Bytes, Clock, Disk, Env, Spawn};
use segment::footer::{self, FileKind};
use segment::{Check, Live, Segment};

use crate::error::{Error, Result};
use crate::file;
use crate::manifest::{LiveFile, Manifest, SegmentFile, Tombstone};
use crate::shard::{Inner, Phase};

/// After a flush that failed, the next one waits so long.
const RETRY_PAUSE: Duration = Duration::from_secs(10);

/// After one that found no room.
const FULL_DISK_PAUSE: Duration = Duration::from_secs(1);

/// Room for a manifest and live files.
const MANIFEST_BYTES: u64 = 64 << 10;

/// What the manifest says about the stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The shard goes on.
    None,
    /// The shard takes nothing any more: an orderly stop.
    Clean,
}

/// A segment as the manifest will name it.
struct Standing {
    segment: Segment,
    live: Option<Arc<Live>>,
    file: Option<SegmentFile>,
    /// The live file says what `live` says.
    is_live_saved: bool,
}

impl Standing {
    /// Documents that live.
    fn docs_count(&self) -> u64 {
        let deleted = self.live.as_ref().map_or(0, |live| live.deleted_count());
        u64::from(self.segment.doc_count() - deleted)
    }
}

/// A segment whose files were written by this flush.
struct Written {
    id: SegmentId,
    file: SegmentFile,
    live: Option<Arc<Live>>,
    /// The segment's own file is new, so memory may let go of its bytes.
    is_new: bool,
}

impl<E: Env> Inner<E> {
    /// Writes all that is applied now to files.
    pub(crate) async fn flush(self: &Rc<Self>) -> Result<()> {
        let inner = Rc::clone(self);
        self.run(async move { inner.flush_as(Stop::None).await }).await
    }

    /// Flushes without anybody waiting for it.
    pub(crate) fn flush_soon(self: &Rc<Self>) {
        if self.phase.get() != Phase::Open || self.flush_is_due.replace(true) {
            return;
        }
        if self.log().bytes() > self.config.borrow().flush_log_bytes {
            self.counters.borrow_mut().flush_periodic += 1;
        }
        let inner = Rc::clone(self);
        self.env.spawn().spawn(async move {
            let flushed = inner.flush_as(Stop::None).await;
            if let Err(error) = flushed {
                // What is in memory and in the log stays there, and the next try comes a while later.
                // Whether a full disk has room now costs one question.
                let pause = if error.is_full_disk() { FULL_DISK_PAUSE } else { RETRY_PAUSE };
                inner.env.clock().sleep(pause).await;
            }
            inner.flush_is_due.set(false);
            inner.after_change();
        });
    }

    /// Flushes, in a task that nobody can drop.
    pub(crate) async fn flush_as(self: &Rc<Self>, stop: Stop) -> Result<()> {
        let _pass = self.flushing.pass().await;
        if let Some(error) = self.failure() {
            return Err(error);
        }
        if stop == Stop::None && self.phase.get() != Phase::Open {
            // It waited while the stop was written, and would take "clean" back.
            return Err(Error::Closed);
        }
        let started = self.env.clock().monotonic();
        let flushed = self.flush_now(stop).await;
        self.count(started, |counters| &mut counters.flush);
        flushed
    }

    async fn flush_now(self: &Rc<Self>, stop: Stop) -> Result<()> {
        // All records up to this position were taken in before now, so their operations have
        // numbers below `target`. What is decided and not logged yet may be taken back: whoever
        // waited for that on a full disk would wait until somebody writes again.
        let position = self.log().sync().await?;
        let target = {
            let state = self.state.borrow();
            state.logged.max(state.applied)
        };
        self.wait_applied(target).await?;
        self.refresh_upto(target).await?;
        // No wait from here to the end of the block: one moment is written.
        let (standing, mut manifest, (doomed, doomed_bytes)) = {
            let mut state = self.state.borrow_mut();
            let standing: Vec<Standing> = state
                .segments
                .iter()
                .map(|held| Standing {
                    segment: held.segment.clone(),
                    live: held.live.clone(),
                    file: held.file,
                    is_live_saved: held.is_live_saved(),
                })
                .collect();
            let manifest = Manifest {
                generation: self.manifest.borrow().generation + 1,
                shard: self.id,
                clean: stop == Stop::Clean,
                primary_term: state.term,
                log_index: position.0,
                seq_no_next: SeqNo(state.visible),
                mapping_version: self.mapping.borrow().version(),
                segment_next: state.segment_next,
                segments: Vec::new(),
                tombstones: Tombstone::all(Vec::new()),
            };
            let doomed = (std::mem::take(&mut state.obsolete), state.obsolete_bytes);
            state.obsolete_bytes = 0;
            (standing, manifest, doomed)
        };
        if stop == Stop::None && !self.is_worth_it(&standing, &manifest, &doomed) {
            return Ok(());
        }
        if planted(Fault::ReleaseLogEarly) {
            self.log().release(position).await?;
        }
        if planted(Fault::RemoveFilesEarly) {
            self.remove(doomed.iter().cloned()).await?;
        }
        if !planted(Fault::ForgetTombstones) {
            let deletes = self.tombstones_below(manifest.seq_no_next).await;
            manifest.tombstones = Tombstone::all(deletes);
        }
        let unsaved = standing.iter().filter(|it| it.file.is_none());
        let unsaved = unsaved.map(|it| it.segment.len_bytes()).sum();
        let saved = match self.find_room(unsaved, MANIFEST_BYTES).await {
            Ok(()) => self.save_all(&standing, &mut manifest).await,
            Err(full) => Err(full),
        };
        let (written, replaced) = match saved {
            Ok(saved) => saved,
            Err(error) => {
                let mut state = self.state.borrow_mut();
                state.obsolete.extend(doomed);
                state.obsolete_bytes += doomed_bytes;
                return Err(error);
            }
        };
        *self.manifest.borrow_mut() = manifest;
        self.manifest_docs_count.set(standing.iter().map(Standing::docs_count).sum());
        self.settle(written).await?;
        self.log().release(position).await?;
        self.remove(doomed.into_iter().chain(replaced)).await
    }

    /// The deletes below `end`, which the segments cover; those after them are in the log. One that
    /// goes while this walks gave way to a later operation, which is in the log too.
    async fn tombstones_below(&self, end: SeqNo) -> Vec<Tombstone> {
        // Room for all at once: what grows is copied whole.
        let mut all = Vec::with_capacity(self.state.borrow().tombstones.len());
        let mut from = Some(0);
        while let Some(start) = from.filter(|from| *from < end.get()) {
            let now = self.env.clock().monotonic();
            {
                let state = self.state.borrow();
                let (page, next) = state.tombstones.page(start, TOMBSTONES_AT_ONCE, now);
                let below = page.into_iter().filter(|(_, stamp, _)| stamp.seq_no < end);
                all.extend(below.map(|(id, stamp, age)| Tombstone {
                    age_ms: age.as_millis() as u64,
                    seq_no: stamp.seq_no,
                    term: stamp.term,
                    version: stamp.version,
                    id: id.to_owned(),
                }));
                from = next;
            }
            self.env.spawn().yield_if_needed().await;
        }
        all
    }

    /// Waits until all below `target` is applied.
    async fn wait_applied(&self, target: u64) -> Result<()> {
        while self.state.borrow().applied < target {
            if let Some(error) = self.failure() {
                return Err(error);
            }
            let told = self.appliers.wait(target - 1).await;
            if told.is_none() {
                return Err(self.failure().unwrap_or(Error::Closed));
            }
        }
        Ok(())
    }

    /// Whether a manifest would say anything new, or let anything go.
    fn is_worth_it(&self, standing: &[Standing], next: &Manifest, doomed: &[String]) -> bool {
        let last = self.manifest.borrow();
        let named = last.segments.iter().map(|segment| segment.id);
        !doomed.is_empty()
            || next.seq_no_next != last.seq_no_next
            || next.primary_term != last.primary_term
            || standing.iter().any(|it| it.file.is_none() || !it.is_live_saved)
            || !standing.iter().map(|it| it.segment.id()).eq(named)
    }

    /// Gives the room back that segments took which no manifest came to name.
    async fn remove_unnamed(&self, standing: &[Standing]) {
        for Standing { segment, .. } in standing.iter().filter(|it| it.file.is_none()) {
            let path = self.dir.join(file::segment_name(segment.id()));
            // What stays is cleared away when the shard is opened next.
            let _ = self.env.disk().remove(&path).await;
        }
    }

    /// Writes what is not on disk yet, then the manifest. Gives what was written, and the names of
    /// live files that others took the place of.
    async fn save_all(
        &self,
        standing: &[Standing],
        manifest: &mut Manifest,
    ) -> Result<(Vec<Written>, Vec<String>)> {
        if planted(Fault::ManifestFirst) {
            self.save_manifest_first(standing, manifest).await?;
        }
        let saved = self.save_files(standing, manifest).await;
        if saved.as_ref().is_err_and(Error::is_full_disk) {
            // No manifest was begun, so none names them.
            self.remove_unnamed(standing).await;
        }
        let saved = saved?;
        if manifest.tombstones.len() > TOMBSTONES_AT_ONCE {
            let large = manifest.clone();
            let bytes = self.work(move || large.encode()).await?;
            manifest.save_bytes(&self.env, &self.dir, bytes).await?;
        } else {
            manifest.save(&self.env, &self.dir).await?;
        }
        Ok(saved)
    }

    /// Writes what is not on disk yet, and names it in the manifest.
    async fn save_files(
        &self,
        standing: &[Standing],
        manifest: &mut Manifest,
    ) -> Result<(Vec<Written>, Vec<String>)> {
        let mut written = Vec::new();
        let mut replaced = Vec::new();
        for Standing { segment, live, file, is_live_saved } in standing {
            let is_new = file.is_none();
            let id = segment.id();
            let mut named = match file {
                Some(file) => *file,
                None => save_segment(&self.env, &self.dir, segment).await?,
            };
            if !is_live_saved {
                if let Some(old) = named.live {
                    replaced.push(file::live_name(id, old.generation));
                }
                named.live = match live {
                    None => None,
                    Some(_) if planted(Fault::ForgetLiveFile) => None,
                    Some(live) => Some(self.save_live(id, live, manifest.generation).await?),
                };
            }
            if is_new || !is_live_saved {
                written.push(Written { id, file: named, live: live.clone(), is_new });
            }
            manifest.segments.push(named);
        }
        Ok((written, replaced))
    }

    /// A planted fault: a manifest that names files which are not there yet.
    async fn save_manifest_first(&self, standing: &[Standing], next: &Manifest) -> Result<()> {
        let mut manifest = next.clone();
        for Standing { segment, file, .. } in standing {
            let bytes = segment.file().whole();
            let checksum = body_checksum(bytes, FileKind::Segment, segment.id())?;
            let (id, len_bytes) = (segment.id(), bytes.len() as u64);
            let doc_count = segment.doc_count();
            let made = SegmentFile { id, len_bytes, checksum, doc_count, live: None };
            manifest.segments.push(file.unwrap_or(made));
        }
        manifest.save(&self.env, &self.dir).await
    }

    async fn save_live(&self, id: SegmentId, live: &Live, generation: u64) -> Result<LiveFile> {
        let bytes = live.encode(id, generation);
        let checksum = body_checksum(&bytes, FileKind::Live, id)?;
        let len_bytes = bytes.len() as u64;
        let name = file::live_name(id, generation);
        save(&self.env, &self.dir, &name, Bytes::from(bytes)).await?;
        Ok(LiveFile { generation, len_bytes, checksum })
    }

    /// Takes note of new files, and reads their segments from there from now on.
    async fn settle(self: &Rc<Self>, written: Vec<Written>) -> Result<()> {
        let mut is_swapped = false;
        for Written { id, file, live, is_new } in written {
            let mapped = if is_new { Some(self.map_segment(&file).await?) } else { None };
            let mut state = self.state.borrow_mut();
            let Some(held) = state.segments.iter_mut().find(|held| held.id() == id) else {
                // It was merged away meanwhile; the manifest after this one stops naming it.
                state.retire(&file);
                continue;
            };
            held.file = Some(file);
            held.live_on_disk = live;
            if let Some(segment) = mapped {
                held.segment = segment;
                is_swapped = true;
            }
        }
        if is_swapped {
            self.republish()?;
        }
        Ok(())
    }

    /// Publishes the segments as they stand, which show the same as before.
    pub(crate) fn republish(&self) -> Result<()> {
        let view = self.state.borrow_mut().next_view();
        match view {
            Ok(view) => self.publish(view),
            Err(error) => return Err(self.segment_error(&error)),
        }
        Ok(())
    }

    /// Opens a segment's file.
    pub(crate) async fn map_segment(&self, file: &SegmentFile) -> Result<Segment> {
        let path = self.dir.join(file::segment_name(file.id));
        let bytes = self.env.disk().map(&path).await?;
        Segment::open(file.id, bytes, Check::Lazy)
            .map_err(|error| Error::in_segment(file.id, &error))
    }

    /// Removes files that no manifest names any more.
    async fn remove(&self, names: impl Iterator<Item = String>) -> Result<()> {
        let mut is_any = false;
        for name in names {
            match self.env.disk().remove(&self.dir.join(name)).await {
                Err(error) if error.kind != env::ErrorKind::NotFound => return Err(error.into()),
                _ => is_any = true,
            }
        }
        if is_any {
            self.env.disk().sync_dir(&self.dir).await?;
        }
        Ok(())
    }

    /// Sees to what may be due after operations.
    pub(crate) fn after_operations(self: &Rc<Self>) {
        if self.log().bytes() > self.config.borrow().flush_log_bytes {
            self.flush_soon();
        }
        self.flush_when_idle();
    }

    /// Flushes once nothing has been applied for a while.
    fn flush_when_idle(self: &Rc<Self>) {
        if self.idle_flush_is_due.replace(true) {
            return;
        }
        let inner = Rc::downgrade(self);
        let clock = self.env.clock().clone();
        let pause = self.config.borrow().flush_idle_after;
        let mut seen = self.state.borrow().applied;
        self.env.spawn().spawn(async move {
            loop {
                clock.sleep(pause).await;
                let Some(inner) = inner.upgrade() else { return };
                let applied = inner.state.borrow().applied;
                if applied == seen {
                    inner.idle_flush_is_due.set(false);
                    return inner.flush_soon();
                }
                seen = applied;
            }
        });
    }

    /// Sees to what may be due after refreshes, flushes, merges and new settings.
    pub(crate) fn after_change(self: &Rc<Self>) {
        // While the log is replayed, there is none to flush.
        if self.phase.get() != Phase::Open || self.log.get().is_none() {
            return;
        }
        self.flush_where_due();
        self.merge_soon();
    }

    /// Flushes soon where segments without a file, files without a use, or the log, have become too many bytes.
    pub(crate) fn flush_where_due(self: &Rc<Self>) {
        let (unflushed, obsolete) = {
            let state = self.state.borrow();
            (state.unflushed_bytes(), state.obsolete_bytes)
        };
        let config = self.config.borrow();
        if unflushed > self.share_of_memory(config.unflushed_bytes_max)
            || (unflushed > SCARCE_BYTES && self.lease.is_scarce())
            || obsolete > config.obsolete_bytes_max
            || self.log().bytes() > config.flush_log_bytes
        {
            self.flush_soon();
        }
    }

    /// A buffer above this is refreshed before its time.
    pub(crate) fn buffer_bytes_max(&self) -> usize {
        self.share_of_memory(self.config.borrow().buffer_bytes_max)
    }

    /// `bytes`, or what a shard may have for itself of all memory, where that is less.
    fn share_of_memory(&self, bytes: usize) -> usize {
        bytes.min(self.lease.total_bytes() / MEMORY_PART)
    }

    /// Frees memory as soon as that can be: seals the buffer, writes segments out.
    pub(crate) fn make_room(self: &Rc<Self>) {
        let holds_any = {
            let state = self.state.borrow();
            state.is_dirty() || state.segments.iter().any(|held| held.file.is_none())
        };
        if holds_any {
            self.flush_soon();
        }
    }
}

/// Tombstones looked at between two chances for others to run.
const TOMBSTONES_AT_ONCE: usize = 1000;

/// A buffer, and the segments of a shard that have no file, each take at most one part in so many of
/// all memory.
const MEMORY_PART: usize = 16;

/// Where memory is scarce, segments without a file may take so much.
const SCARCE_BYTES: usize = 1 << 20;

/// Writes a segment's bytes to its file.
pub(crate) async fn save_segment<E: Env>(
    env: &E,
    dir: &Path,
    segment: &Segment,
) -> Result<SegmentFile> {
    let id = segment.id();
    let bytes = segment.file().whole().clone();
    let checksum = body_checksum(&bytes, FileKind::Segment, id)?;
    let len_bytes = bytes.len() as u64;
    save(env, dir, &file::segment_name(id), bytes).await?;
    Ok(SegmentFile { id, len_bytes, checksum, doc_count: segment.doc_count(), live: None })
}

/// Saves a file; what a failed attempt left is removed, for the disk may be full.
async fn save<E: Env>(env: &E, dir: &Path, name: &str, bytes: Bytes) -> Result<()> {
    let saved = env.disk().save(&dir.join(name), bytes).await;
    if let Err(error) = saved {
        let _ = env.disk().remove(&dir.join(format!("{name}.tmp"))).await;
        return Err(error.into());
    }
    Ok(())
}

/// The checksum that a file's footer keeps of its body.
fn body_checksum(bytes: &[u8], kind: FileKind, id: SegmentId) -> Result<u32> {
    let footer = footer::open(bytes, kind).map_err(|error| Error::in_segment(id, &error))?;
    Ok(footer.body_checksum)
}

/// A position as the log counts.
pub(crate) fn position(manifest: &Manifest) -> LogPosition {
    LogPosition(manifest.log_index)
}
