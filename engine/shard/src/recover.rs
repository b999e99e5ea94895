//! Making and opening a shard.
//!
//! Always true
//! 1. Opening reads the manifest, checks the files it names, clears unnamed ones away, replays the
//!    log, raises the reign and says "not clean" in a new manifest, in this order; only then is
//!    anything decided. Where the disk has no room for that manifest, the shard is opened for reads
//!    only, as one whose log found none ([`Error::Starved`]).
//! 2. A shard is never made where data was expected. What is damaged stays, with `.corrupt` behind
//!    its name, and a folder that holds such a file is not opened again.
//!
//! Not here: what replay does with the log (`replay`).

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::planted::{Fault, planted};
use base::{PrimaryTerm, SegmentId, SeqNo, ShardId};
use consensus::{Config, Local, LogPosition};
use env::disk::Entry;
use env::published::Published;
use env::queue::Queue;
use env::rising::RisingNumber;
use env::{Bytes, Clock, Disk, Env, ErrorKind, ReadOnly, read_only};
use segment::footer::{self, FileKind};
use segment::{Check, Live, Segment, View};

use crate::buffer::stored::Stamp;
use crate::error::{Error, Result};
use crate::file;
use crate::flush;
use crate::held::Held;
use crate::manifest::{Manifest, SegmentFile, Tombstone};
use crate::reader::Touch;
use crate::shard::{Inner, Phase, Setup, Shard};
use crate::state::State;
use crate::waiters::Waiters;

impl<E: Env> Shard<E> {
    /// Makes a new, empty shard. [`Error::AlreadyExists`] where data stands in the folder; what an
    /// interrupted `create` left is cleared away.
    pub async fn create(env: &E, setup: Setup<E>) -> Result<Self> {
        let begun = env.clock().monotonic();
        env.disk().create_dir(&setup.dir).await?;
        clear_unfinished(env, &setup).await?;
        let config = setup.log_config();
        let log = Local::create(env, config, setup.reserve.clone()).await?;
        let manifest = Manifest {
            generation: 1,
            shard: setup.id,
            clean: false,
            primary_term: PrimaryTerm(1),
            log_index: 0,
            seq_no_next: SeqNo(0),
            mapping_version: setup.mapping.version(),
            segment_next: SegmentId(1),
            segments: Vec::new(),
            tombstones: Tombstone::all(Vec::new()),
        };
        manifest.save(env, &setup.dir).await?;
        let state = State::new(manifest.primary_term, 0, manifest.segment_next);
        let inner = Inner::new(env, setup, state, manifest);
        log.leave_room_for(inner.lease.clone());
        inner.note_opening(begun, None);
        assert!(inner.log.set(log).is_ok(), "a new shard has no log yet");
        Ok(Self { inner: Rc::new(inner) })
    }

    /// Opens a shard that was created before: manifest, files, replay of the log. Never makes an
    /// empty one: [`Error::NoManifest`]. On a full disk it may be open for reads only
    /// ([`Shard::failure`]).
    pub async fn open(env: &E, setup: Setup<E>) -> Result<Self> {
        let begun = env.clock().monotonic();
        let (mut manifest, entries) = footing(env, &setup.dir, setup.id).await?;
        let segments = open_segments(env, &setup, &manifest).await?;
        let files = segments.len() as u64;
        let bytes = segments.iter().map(|held| held.segment.len_bytes()).sum();
        clear_unnamed(env, &setup, &manifest, entries.iter().map(|it| it.name.as_str())).await?;
        let config = setup.log_config();
        let replay = Local::open(env, config, flush::position(&manifest)).await?;

        let next = manifest.seq_no_next.get();
        let mut state = State::new(manifest.primary_term, next, manifest.segment_next);
        state.segments = segments;
        let now = env.clock().monotonic();
        // What is over already is not remembered anew: the segments tell that these are gone.
        let keep_ms = setup.config.gc_deletes.as_millis();
        let kept = manifest.tombstones.iter().filter(|it| u128::from(it.age_ms) < keep_ms);
        for tombstone in kept {
            let put = now.saturating_sub(Duration::from_millis(tombstone.age_ms));
            let (seq_no, term, version) = (tombstone.seq_no, tombstone.term, tombstone.version);
            state.tombstones.put(&tombstone.id, Stamp { seq_no, term, version }, put);
        }
        let reserve = setup.reserve.clone();
        let inner = Rc::new(Inner::new(env, setup, state, manifest.clone()));
        let log_bytes =
            entries.iter().filter(|it| it.name.starts_with("log-")).map(|it| it.len).sum();
        inner.begin_replay(log_bytes, manifest.clean).await;
        let log = inner.replay(replay, reserve).await?;
        log.leave_room_for(inner.lease.clone());

        let replayed = inner.state.borrow().applied - next;
        if (!manifest.clean || replayed > 0) && !planted(Fault::KeepTerm) {
            manifest.primary_term = manifest.primary_term.next();
        }
        manifest.generation += 1;
        manifest.clean = false;
        manifest.segment_next = inner.state.borrow().segment_next;
        match manifest.save(env, &inner.dir).await {
            Ok(()) => {
                inner.state.borrow_mut().term = manifest.primary_term;
                if planted(Fault::ReuseSeqNo) && replayed > 0 {
                    let mut state = inner.state.borrow_mut();
                    (state.seq_no_next, state.applied) = (state.seq_no_next - 1, state.applied - 1);
                    state.term = PrimaryTerm(state.term.get() - 1);
                }
                *inner.manifest.borrow_mut() = manifest;
            }
            // The reign cannot be raised, so nothing is decided (rule 1); all that was read serves.
            Err(Error::Disk(full)) if full.kind == ErrorKind::NoSpace => log.starve(full),
            Err(error) => return Err(error),
        }
        assert!(inner.log.set(log).is_ok(), "it was just opened");
        let target = inner.state.borrow().applied;
        if inner.state.borrow().visible < target {
            inner.refresh_upto(target).await?;
        } else {
            inner.republish()?;
        }
        inner.after_change();
        // Where there is no room for them now, who writes next is refused and asks again.
        inner.state.borrow_mut().hold_tombstones(&inner.lease);
        inner.schedule_forgetting();
        if replayed > 0 {
            inner.after_operations();
        }
        inner.end_replay();
        inner.note_opening(begun, Some([files, bytes, replayed]));
        Ok(Self { inner })
    }
}

impl<E: Env> Setup<E> {
    fn log_config(&self) -> Config {
        // A log that is flushed early goes away in short files.
        let file_bytes_max = self.config.log_file_bytes_max.min(self.config.flush_log_bytes / 2);
        Config {
            file_bytes_min: self.config.log_file_bytes_min,
            file_bytes_max: file_bytes_max.max(self.config.log_file_bytes_min),
            ..Config::new(&self.dir, self.id)
        }
    }
}

impl<E: Env> Inner<E> {
    /// Notes how the shard was opened: with so many files, bytes and operations, if it was there.
    fn note_opening(&self, begun: Duration, existing: Option<[u64; 3]>) {
        let opening = &self.touch.opening;
        let took = self.env.clock().monotonic().saturating_sub(begun);
        let begin_ms = self.env.clock().unix_ms() - took.as_millis() as i64;
        opening.begin_ms.raise(u64::try_from(begin_ms).unwrap_or(0));
        opening.took_us.raise(took.as_micros() as u64);
        opening.primary_term.raise(self.state.borrow().term.get());
        if let Some([files, bytes, replayed]) = existing {
            opening.existing.raise(1);
            opening.files.raise(files);
            opening.bytes.raise(bytes);
            opening.replayed.raise(replayed);
        }
    }

    fn new(env: &E, setup: Setup<E>, state: State, manifest: Manifest) -> Self {
        let Setup { id, dir, config, mapping, lease, reserve: _ } = setup;
        let now_ms = env.clock().monotonic().as_millis() as u64;
        let visible = state.visible;
        // Nothing but what the manifest names stands yet.
        let living = |held: &Held| held.segment.doc_count() - held.deleted_count();
        let docs_count = state.segments.iter().map(|held| u64::from(living(held))).sum();
        Self {
            env: env.clone(),
            id,
            dir,
            lease,
            replaying: RefCell::default(),
            log: OnceCell::new(),
            config: RefCell::new(config),
            mapping: RefCell::new(mapping),
            parser: RefCell::default(),
            state: RefCell::new(state),
            manifest: RefCell::new(manifest),
            manifest_docs_count: Cell::new(docs_count),
            view: Arc::new(Published::new(Arc::new(View::empty()))),
            touch: Arc::new(Touch {
                searched_ms: RisingNumber::new(now_ms),
                deferred: RisingNumber::new(0),
                uses: Default::default(),
                opening: Default::default(),
                visible: RisingNumber::new(visible),
            }),
            current: Rc::default(),
            incoming: RefCell::new(VecDeque::new()),
            is_deciding: Cell::new(false),
            logged: RefCell::new(VecDeque::new()),
            is_applying: Cell::new(false),
            entering: Queue::default(),
            refreshing: Queue::default(),
            flushing: Queue::default(),
            merging: Queue::default(),
            merge_is_due: Cell::new(false),
            merge_stop: Arc::new(RisingNumber::new(0)),
            flush_is_due: Cell::new(false),
            idle_flush_is_due: Cell::new(false),
            forgetting_is_due: Cell::new(false),
            appliers: Waiters::default(),
            quiet: Waiters::default(),
            closing: Waiters::default(),
            listeners: Waiters::default(),
            refresh_is_due: Cell::new(false),
            refresh_took: Cell::new(Duration::ZERO),
            is_asleep: Cell::new(false),
            phase: Cell::new(Phase::Open),
            failure: RefCell::new(None),
            counters: RefCell::default(),
        }
    }
}

/// The manifest of a shard that is not open, and what lies in its folder, where nothing was set aside
/// as damaged. Where one slot of the manifest tells nothing, it may be the newer one: the other stands in only where
/// the files that it names are there, and the log goes back to it. Nothing is changed.
pub(crate) async fn footing<E: Env>(
    env: &E,
    dir: &Path,
    id: ShardId,
) -> Result<(Manifest, Vec<Entry>)> {
    let entries = match env.disk().list(dir).await {
        Ok(entries) => entries,
        Err(error) if error.kind == ErrorKind::NotFound => {
            return Err(Error::NoManifest { dir: dir.display().to_string() });
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(entry) = entries.iter().find(|entry| file::is_corrupt(&entry.name)) {
        let file = dir.join(&entry.name).display().to_string();
        return Err(Error::Corrupt { file, what: "damage was found before".to_owned() });
    }
    let (manifest, doubt) = Manifest::load(env, dir).await?;
    if manifest.shard != id {
        let what = "the manifest is another shard's".to_owned();
        return Err(Error::Corrupt { file: dir.display().to_string(), what });
    }
    if let Some(doubt) = doubt {
        let stands = stands(env, dir, &manifest, &entries).await;
        stands.map_err(|error| doubt.blamed(&error))?;
    }
    Ok((manifest, entries))
}

/// Do the files that a manifest names stand, and does the log begin no later than it?
async fn stands<E: Env>(env: &E, dir: &Path, manifest: &Manifest, entries: &[Entry]) -> Result<()> {
    check_files(dir, manifest, entries)?;
    let env = read_only(env.clone());
    let after = flush::position(manifest);
    let read = async {
        let config = Config::new(dir, manifest.shard);
        Local::<ReadOnly<E>>::open(&env, config, after).await?.next().await
    };
    match read.await {
        Err(error @ consensus::Error::Log(wal::Error::Gap { .. })) => Err(error.into()),
        // What else may be wrong with it is found when it is opened.
        _ => Ok(()),
    }
}

/// Are the files that the manifest names there, and as long as it says?
pub(crate) fn check_files(dir: &Path, manifest: &Manifest, entries: &[Entry]) -> Result<()> {
    for segment in &manifest.segments {
        let own = (file::segment_name(segment.id), segment.len_bytes);
        let live =
            segment.live.map(|live| (file::live_name(segment.id, live.generation), live.len_bytes));
        for (name, len) in std::iter::once(own).chain(live) {
            let found = entries.iter().find(|entry| entry.name == name).map(|entry| entry.len);
            if found != Some(len) {
                return Err(disagrees(&dir.join(&name), found, len));
            }
        }
    }
    Ok(())
}

/// A file is missing, or of another length than the manifest says.
fn disagrees(path: &Path, found: Option<u64>, len: u64) -> Error {
    let what = match found {
        Some(found) => format!("{found} bytes, the manifest says {len}"),
        None => "the manifest names it, but it is not there".to_owned(),
    };
    Error::Corrupt { file: path.display().to_string(), what }
}

/// Opens the segments that a manifest names.
async fn open_segments<E: Env>(
    env: &E,
    setup: &Setup<E>,
    manifest: &Manifest,
) -> Result<Vec<Held>> {
    let mut segments = Vec::with_capacity(manifest.segments.len());
    for named in &manifest.segments {
        let name = file::segment_name(named.id);
        let bytes = map(env, setup, &name, named.len_bytes).await?;
        let opened = open_segment(named, bytes);
        let segment = quarantine(env, setup, &name, opened).await?;
        let live = match &named.live {
            None => None,
            Some(live) => {
                let name = file::live_name(named.id, live.generation);
                let bytes = map(env, setup, &name, live.len_bytes).await?;
                let decoded = check(&bytes, FileKind::Live, live.checksum)
                    .and_then(|()| Live::decode(&bytes, named.id, named.doc_count));
                let (live, _) = quarantine(env, setup, &name, decoded).await?;
                Some(Arc::new(live))
            }
        };
        segments.push(Held::on_disk(segment, live, *named));
    }
    Ok(segments)
}

/// Maps a file that must be there with this length.
async fn map<E: Env>(env: &E, setup: &Setup<E>, name: &str, len: u64) -> Result<Bytes> {
    let path = setup.dir.join(name);
    match env.disk().map(&path).await {
        Ok(bytes) if bytes.len() as u64 == len => Ok(bytes),
        Ok(bytes) => Err(disagrees(&path, Some(bytes.len() as u64), len)),
        Err(error) if error.kind == ErrorKind::NotFound => Err(disagrees(&path, None, len)),
        Err(error) => Err(error.into()),
    }
}

fn open_segment(named: &SegmentFile, bytes: Bytes) -> segment::Result<Segment> {
    check(&bytes, FileKind::Segment, named.checksum)?;
    let segment = Segment::open(named.id, bytes, Check::Lazy)?;
    if segment.doc_count() != named.doc_count {
        return Err(segment::Error::Footer {
            what: "the manifest says another number of documents",
        });
    }
    Ok(segment)
}

/// Compares a file's footer with what the manifest says of it.
fn check(bytes: &[u8], kind: FileKind, checksum: u32) -> segment::Result<()> {
    let footer = footer::open(bytes, kind)?;
    if footer.body_checksum != checksum {
        return Err(segment::Error::Footer { what: "the manifest says another checksum" });
    }
    Ok(())
}

/// Sets a damaged file aside, so that nobody takes it for good later.
async fn quarantine<E: Env, T>(
    env: &E,
    setup: &Setup<E>,
    name: &str,
    opened: segment::Result<T>,
) -> Result<T> {
    let error = match opened {
        Ok(opened) => return Ok(opened),
        Err(error) => error,
    };
    let path = setup.dir.join(name);
    let file = path.display().to_string();
    if let segment::Error::Version { found, expected } = error {
        // Nothing is wrong with it; a newer program reads it.
        let (found, expected) = (u32::from(found), u32::from(expected));
        return Err(Error::Version { file, found, expected });
    }
    env.disk().rename(&path, &setup.dir.join(format!("{name}.corrupt"))).await?;
    env.disk().sync_dir(&setup.dir).await?;
    Err(Error::Corrupt { file, what: error.to_string() })
}

/// Removes files of our kinds that the manifest does not name.
async fn clear_unnamed<E: Env>(
    env: &E,
    setup: &Setup<E>,
    manifest: &Manifest,
    names: impl Iterator<Item = &str>,
) -> Result<()> {
    let mut named: Vec<String> = Vec::new();
    for segment in &manifest.segments {
        named.push(file::segment_name(segment.id));
        named.extend(segment.live.map(|live| file::live_name(segment.id, live.generation)));
    }
    named.sort_unstable();
    let mut is_any = false;
    for name in names.filter(|name| file::is_disposable(name)) {
        if named.binary_search_by(|other| other.as_str().cmp(name)).is_err() {
            if !is_any {
                // A process that was killed may have renamed this manifest and not have synced the folder: at a
                // power cut the one before it would stand there again, which names other files.
                env.disk().sync_dir(&setup.dir).await?;
            }
            env.disk().remove(&setup.dir.join(name)).await?;
            is_any = true;
        }
    }
    if is_any {
        env.disk().sync_dir(&setup.dir).await?;
    }
    Ok(())
}

/// Clears away what an interrupted `create` left: a log without a manifest that holds nothing.
async fn clear_unfinished<E: Env>(env: &E, setup: &Setup<E>) -> Result<()> {
    let entries = env.disk().list(&setup.dir).await?;
    let is_log = |name: &str| name.starts_with("log-");
    let is_left_over =
        |name: &str| is_log(name) || (name.ends_with(".tmp") && file::is_disposable(name));
    if let Some(entry) = entries.iter().find(|entry| !is_left_over(&entry.name)) {
        let file = setup.dir.join(&entry.name).display().to_string();
        return Err(Error::AlreadyExists { file });
    }
    if entries.iter().any(|entry| is_log(&entry.name) && !entry.name.ends_with(".tmp")) {
        let mut replay = Local::<E>::open(env, setup.log_config(), LogPosition::ZERO).await?;
        while let Some(batch) = replay.next().await? {
            if !batch.records.is_empty() {
                let file = setup.dir.display().to_string();
                return Err(Error::AlreadyExists { file });
            }
        }
    }
    for entry in &entries {
        env.disk().remove(&setup.dir.join(&entry.name)).await?;
    }
    if !entries.is_empty() {
        env.disk().sync_dir(&setup.dir).await?;
    }
    Ok(())
}
