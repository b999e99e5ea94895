//! Reading a log back: every batch in order, then the end: a torn tail, or rot.
//!
//! Always true
//! 1. What [`Reader::next`] answers is one unbroken chain: positions without a gap, terms that do
//!    not fall, each batch naming the checksum of the one before.
//! 2. Where the chain ends, all that lies behind is searched before the end is believed
//!    (`tail`). Rot is [`Error::Corrupt`]; its file is renamed to `*.corrupt`, and a folder with
//!    such a file is not opened again, so that the shorter rest cannot pass for the log.
//! 3. [`Reader::into_writer`] makes what was read durable and zeroes what lies behind, synced,
//!    before anything new is written.
//!
//! Files are read past the page cache: what is read is what the disk holds.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use base::planted::{Fault, planted};
use env::{Bytes, Disk, Env, File};

use crate::extent::Extent;
use crate::file::{Kind, LogFile, kind};
use crate::frame::{BLOCK, HEADER_BYTES, Header};
use crate::look::row;
use crate::rotate::Older;
use crate::state::Last;
use crate::tail::{Witness, judge};
use crate::{Config, Error, LogPosition, Record, Reserve, Result, Writer};

/// Files are read and zeroed in pieces of this size.
const PIECE_BYTES: u64 = 1 << 20;

const BLOCK_BYTES: u64 = BLOCK as u64;

/// A batch read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Its place.
    pub position: LogPosition,
    /// The term it was written in.
    pub term: u64,
    /// What it holds; nothing in a batch that an idle log wrote.
    pub records: Vec<Record>,
}

/// What stood after the last good batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Bytes of blocks that were begun and never acknowledged.
    pub torn_bytes: u64,
}

/// Where a log goes on.
pub(crate) struct End<E: Env> {
    pub(crate) older: VecDeque<Older>,
    pub(crate) active: LogFile<E>,
    /// First free byte of the active file.
    pub(crate) offset: u64,
    /// First batch of the active file; 0 where it has none.
    pub(crate) first: LogPosition,
    pub(crate) next: Option<LogFile<E>>,
    pub(crate) last: Last,
    pub(crate) term: u64,
    pub(crate) extent: Extent,
}

impl<E: Env> End<E> {
    /// A log whose only file was just made.
    pub(crate) fn of_new(active: LogFile<E>) -> Self {
        Self {
            older: VecDeque::new(),
            active,
            offset: BLOCK_BYTES,
            first: LogPosition::ZERO,
            next: None,
            last: Last::default(),
            term: 0,
            extent: Extent::default(),
        }
    }
}

/// A log being read.
pub struct Reader<E: Env> {
    env: E,
    config: Config,
    after: LogPosition,
    /// Those not read to their end; the first is being read. Never empty.
    files: VecDeque<LogFile<E>>,
    /// A piece of the first file, and where it starts.
    piece: (u64, Bytes),
    older: VecDeque<Older>,
    offset: u64,
    first: LogPosition,
    last: Last,
    term: u64,
    /// The highest position that is known to have been synced.
    synced: LogPosition,
    extent: Extent,
    /// Set once the end is found: what is to be zeroed, in which file.
    end: Option<Dirt>,
    /// Where a batch read so far is not followed by zeros up to the end of its last sector.
    stains: Vec<(PathBuf, u64)>,
}

/// What a disk writes as one: half of it is never there.
const SECTOR: usize = 512;

/// So many places are told.
const STAINS_MAX: usize = 64;

/// What lies behind a place of a file.
#[derive(Clone, Debug, Default)]
struct Dirt {
    /// Which of the files that are left.
    file: usize,
    from: u64,
    /// End of the last block that is not zero; `from` where all are.
    to: u64,
    /// Bytes of blocks that are not zero.
    bytes: u64,
    witnesses: Vec<Witness>,
}

/// What stands at a place where a batch may start.
enum Found {
    /// The next batch of the chain.
    Batch(Header, u32, Vec<Record>),
    /// No good batch, or another one.
    Nothing,
    /// The batch that should be here, but of another chain.
    Stranger(&'static str),
}

impl<E: Env> Reader<E> {
    /// Opens the log of `config` to read the batches after `after`, the position up to which a
    /// manifest says that the log is not needed.
    pub async fn open(env: &E, config: Config, after: LogPosition) -> Result<Self> {
        let dir = &config.dir;
        let mut numbers = Vec::new();
        let entries = match env.disk().list(dir).await {
            Err(error) if error.kind == env::ErrorKind::NotFound => Vec::new(),
            listed => listed?,
        };
        for entry in entries {
            let path = dir.join(&entry.name);
            match kind(&entry.name) {
                Kind::Log(number) => numbers.push(number),
                Kind::Unfinished => env.disk().remove(&path).await?,
                Kind::Corrupt => {
                    return Err(Error::Corrupt {
                        file: path.to_string_lossy().into_owned(),
                        offset: 0,
                        what: "it was found corrupt before".to_owned(),
                    });
                }
                Kind::Other => {}
            }
        }
        let mut files = VecDeque::new();
        for number in row(dir, numbers)? {
            match LogFile::open(env, dir, config.shard, number).await {
                Err(Error::Corrupt { offset, what, .. }) => {
                    let path = dir.join(crate::file::name(number));
                    return Err(keep(env, dir, &path, offset, what).await);
                }
                opened => files.push_back(opened?),
            }
        }
        Ok(Self {
            env: env.clone(),
            config,
            after,
            files,
            piece: (0, Bytes::empty()),
            older: VecDeque::new(),
            offset: BLOCK_BYTES,
            first: LogPosition::ZERO,
            last: Last::default(),
            term: 0,
            synced: LogPosition::ZERO,
            extent: Extent::default(),
            end: None,
            stains: Vec::new(),
        })
    }

    /// Batches read so far that are not followed by zeros up to the end of their last sector: the file, and the
    /// place of the first byte that is none. No reader looks at these, so that a log with such bytes is whole; but
    /// nobody wrote them. (Sectors behind that may hold anything: a power cut may have left them so, of a batch that
    /// was not synced yet and is there all the same.)
    pub fn stains(&self) -> &[(PathBuf, u64)] {
        &self.stains
    }

    /// The next batch; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Batch>> {
        while self.end.is_none() {
            let mut found = self.find(self.offset).await?;
            if matches!(found, Found::Nothing) && self.files.len() > 1 {
                found = self.find_in_next_file().await?;
            }
            match found {
                Found::Batch(header, checksum, records) => {
                    let position = header.position;
                    self.accept(&header, checksum)?;
                    if position > self.after {
                        return Ok(Some(Batch { position, term: header.term, records }));
                    }
                }
                Found::Stranger(what) => return Err(self.corrupt(0, self.offset, what).await),
                Found::Nothing => self.end = Some(self.find_end().await?),
            }
        }
        Ok(None)
    }

    /// What stood after the last batch; known once [`Reader::next`] has answered `None`.
    pub fn tail(&self) -> Tail {
        Tail { torn_bytes: self.end.as_ref().map_or(0, |dirt| dirt.bytes) }
    }

    /// Position of the last batch read; what was asked for as `after` where none was read yet.
    pub fn position(&self) -> LogPosition {
        self.last.position.max(self.after)
    }

    /// Term of the last batch; 0 where there is none.
    pub fn term(&self) -> u64 {
        self.term
    }

    /// Reads to the end, makes what was read durable, zeroes what lies behind it, and goes on
    /// writing there in `term`, which is not below [`Reader::term`].
    pub async fn into_writer(
        mut self,
        term: u64,
        reserve: Option<Reserve<E>>,
    ) -> Result<Writer<E>> {
        while self.next().await?.is_some() {}
        self.clean().await.map_err(Error::Failed)?;
        let mut files = self.files;
        let active = files.pop_front().expect("there is one that is being read");
        let next = files.pop_front();
        assert!(files.is_empty(), "the end is in the last file or the one before");
        let mut extent = self.extent;
        extent.release(self.after, self.after >= self.last.records);
        let end = End {
            older: self.older,
            active,
            offset: self.offset,
            first: self.first,
            next,
            last: self.last,
            term: self.term,
            extent,
        };
        Ok(Writer::start(&self.env, self.config, end, term, reserve))
    }

    /// Takes a batch into the chain.
    fn accept(&mut self, header: &Header, checksum: u32) -> Result<()> {
        let is_first = self.last.position == LogPosition::ZERO;
        if is_first && header.records_before > self.after {
            return Err(Error::Gap {
                dir: self.config.dir.to_string_lossy().into_owned(),
                after: self.after,
                found: header.position,
            });
        }
        let bytes = header.batch_bytes() as u64;
        let has_records = header.record_count > 0;
        self.offset += bytes;
        if self.first == LogPosition::ZERO {
            self.first = header.position;
        }
        self.last = Last {
            position: header.position,
            checksum,
            records: if has_records { header.position } else { header.records_before },
        };
        self.term = header.term;
        self.synced = self.synced.max(header.synced);
        self.extent.add(header.position, bytes);
        Ok(())
    }

    /// Looks for the next batch of the chain at `offset` of the file being read.
    async fn find(&mut self, offset: u64) -> Result<Found> {
        let len = self.files[0].len;
        if offset + BLOCK_BYTES > len {
            return Ok(Found::Nothing);
        }
        let block = self.bytes(offset, BLOCK_BYTES).await?;
        let Ok((header, checksum)) = Header::decode(&block) else { return Ok(Found::Nothing) };
        // A log whose first file is gone starts anywhere; all others start at 1.
        let file = &self.files[0];
        let anywhere = self.last.position == LogPosition::ZERO && file.number > 1;
        let here = header.file == file.id && header.shard == self.config.shard;
        if !here || !(anywhere || header.position == self.last.position.next()) {
            return Ok(Found::Nothing);
        }
        if !anywhere {
            if header.previous_checksum != self.last.checksum {
                return Ok(Found::Stranger("a batch that follows another one than the one before"));
            }
            if header.term < self.term {
                return Ok(Found::Stranger("a batch of an older term than the one before"));
            }
            if header.records_before != self.last.records {
                return Ok(Found::Stranger("a batch that knows of other records before it"));
            }
        }
        let batch_bytes = header.batch_bytes() as u64;
        if offset + batch_bytes > len {
            return Ok(Found::Nothing);
        }
        let batch = self.bytes(offset, batch_bytes).await?;
        let payload_end = HEADER_BYTES + header.payload_len as usize;
        let payload = &batch[HEADER_BYTES..payload_end];
        Ok(match header.records(payload) {
            Some(records) => {
                let sector_end = payload_end.next_multiple_of(SECTOR).min(batch.len());
                let behind = &batch[payload_end..sector_end];
                let behind = behind.iter().position(|byte| *byte != 0);
                if let Some(place) = behind.filter(|_| self.stains.len() < STAINS_MAX) {
                    let at = offset + (payload_end + place) as u64;
                    self.stains.push((self.files[0].path.clone(), at));
                }
                Found::Batch(header, checksum, records)
            }
            None => Found::Nothing,
        })
    }

    /// Looks for the next batch at the start of the next file. Where it is there, the chain says
    /// that nothing is missing between, and the file being read is left.
    async fn find_in_next_file(&mut self) -> Result<Found> {
        let full = self.files.pop_front().expect("there are two");
        let piece = std::mem::replace(&mut self.piece, (0, Bytes::empty()));
        match self.find(BLOCK_BYTES).await {
            Ok(Found::Batch(header, checksum, records)) => {
                self.older.push_back(Older { path: full.path.clone(), last: self.last.position });
                self.offset = BLOCK_BYTES;
                self.first = LogPosition::ZERO;
                Ok(Found::Batch(header, checksum, records))
            }
            Ok(found) => {
                self.files.push_front(full);
                self.piece = piece;
                Ok(match found {
                    // Told by the judgement, which sees the whole of it.
                    Found::Stranger(_) | Found::Nothing => Found::Nothing,
                    Found::Batch(..) => unreachable!("taken above"),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// The chain has ended: says what lies behind, or that it is no torn tail.
    async fn find_end(&mut self) -> Result<Dirt> {
        let missing = self.last.position.next();
        if missing <= self.after {
            // Whoever says that the log is not needed up to there knew all of that synced.
            let what =
                format!("batch {missing} is not good, though all up to {} was synced", self.after);
            return Err(self.corrupt(0, self.offset, &what).await);
        }
        if self.last.position == LogPosition::ZERO && self.files[0].number > 1 {
            // The files before it were removed only because this one held a synced batch.
            let what = "its first batch is not good";
            return Err(self.corrupt(0, BLOCK_BYTES, what).await);
        }
        let here = self.search(0, self.offset).await?;
        let mut dirt = here;
        for at in 1..self.files.len() {
            let there = self.search(at, BLOCK_BYTES).await?;
            if there.bytes == 0 {
                continue;
            }
            if dirt.bytes > 0 || at > 1 {
                let what = format!("batch {missing} is not good, but a later file was begun");
                return Err(self.corrupt(dirt.file, dirt.from, &what).await);
            }
            dirt = there;
        }
        if self.files.len() > 2 {
            let what = "more than one file was made ready";
            return Err(self.corrupt(2, 0, what).await);
        }
        match judge(missing, dirt.from, self.synced, &dirt.witnesses) {
            Err(_) if planted(Fault::TruncateTooMuch) => Ok(dirt),
            Ok(()) => Ok(dirt),
            Err(what) => Err(self.corrupt(dirt.file, dirt.from, &what).await),
        }
    }

    /// Searches a file for what is not zero, and for headers of this log, from `from` on.
    async fn search(&self, file: usize, from: u64) -> Result<Dirt> {
        let mut dirt = Dirt { file, from, to: from, bytes: 0, witnesses: Vec::new() };
        let searched = &self.files[file];
        let mut offset = from;
        while offset < searched.len {
            let len = (searched.len - offset).min(PIECE_BYTES);
            let piece = searched.file.read_at(offset, len as usize).await?;
            for (number, block) in piece.chunks(BLOCK).enumerate() {
                if block.iter().all(|byte| *byte == 0) {
                    continue;
                }
                let at = offset + number as u64 * BLOCK_BYTES;
                dirt.to = at + BLOCK_BYTES;
                dirt.bytes += BLOCK_BYTES;
                if let Ok((header, _)) = Header::decode(block)
                    && header.file == searched.id
                    && header.shard == self.config.shard
                {
                    let Header { position, synced, .. } = header;
                    dirt.witnesses.push(Witness { offset: at, position, synced });
                }
            }
            offset += len;
        }
        Ok(dirt)
    }

    /// Zeroes what lies behind the end, and syncs that and what was read.
    async fn clean(&self) -> env::Result<()> {
        let dirt = self.end.as_ref().expect("the end was found");
        if planted(Fault::LeaveTornTail) {
            return Ok(());
        }
        let dirty = &self.files[dirt.file].file;
        let mut offset = dirt.from;
        while offset < dirt.to {
            let len = (dirt.to - offset).min(PIECE_BYTES);
            dirty.write_at(dirty.buffer(len as usize), offset).await?;
            offset += len;
        }
        if dirt.file > 0 {
            dirty.sync_data().await?;
        }
        // Also where nothing was zeroed: a process that died before its sync left batches that
        // can be read, and that a power cut could still take; so it could the name of a new file.
        self.files[0].file.sync_data().await?;
        self.env.disk().sync_dir(&self.config.dir).await
    }

    /// Bytes of the file being read, which has them.
    async fn bytes(&mut self, offset: u64, len: u64) -> Result<Bytes> {
        let (start, piece) = &self.piece;
        let has = |start: u64, piece: &Bytes| {
            let from = usize::try_from(offset.checked_sub(start)?).ok()?;
            piece.slice(from..from.checked_add(len as usize)?)
        };
        if let Some(bytes) = has(*start, piece) {
            return Ok(bytes);
        }
        let file = &self.files[0];
        let wanted = len.max(PIECE_BYTES).min(file.len - offset);
        let piece = file.file.read_at(offset, wanted as usize).await?;
        let bytes = has(offset, &piece).expect("at least what was asked for was read");
        self.piece = (offset, piece);
        Ok(bytes)
    }

    async fn corrupt(&self, file: usize, offset: u64, what: &str) -> Error {
        let path = &self.files[file].path;
        keep(&self.env, &self.config.dir, path, offset, what.to_owned()).await
    }
}

/// Keeps a corrupt file under a name that says so; who only reads leaves it where it is.
async fn keep<E: Env>(env: &E, dir: &Path, path: &Path, offset: u64, mut what: String) -> Error {
    if env.disk().is_read_only() {
        return Error::Corrupt { file: path.to_string_lossy().into_owned(), offset, what };
    }
    let mut kept = path.as_os_str().to_owned();
    kept.push(".corrupt");
    let renamed = async {
        env.disk().rename(path, Path::new(&kept)).await?;
        env.disk().sync_dir(dir).await
    };
    let file = match renamed.await {
        Ok(()) => Path::new(&kept),
        Err(error) => {
            what.push_str(&format!("; it could not be renamed: {error}"));
            path
        }
    };
    Error::Corrupt { file: file.to_string_lossy().into_owned(), offset, what }
}
