//! Blocks compressed by zstd, each one frame that names its content size.
//!
//! Always true
//! 1. Decompression allocates nothing beyond the limit given, whatever the bytes say: a frame
//!    without content size, or with one above the limit, is refused before work begins.
//! 2. Contexts are reused: making one costs more than a block does. A thread keeps a few that nobody
//!    uses at the moment.
//! 3. A frame that was made with a [`Dictionary`] is read with the same one alone.
//!
//! Absent: checksums (pages have them).

use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, OnceLock};

use zstd::bulk;
use zstd::zstd_safe::{self, CCtx, CDict, DCtx, DDict};

/// Idle contexts that a thread keeps; each takes about 100 KiB.
const IDLE_MAX: usize = 8;

thread_local! {
    /// Contexts that nobody uses now. They hold no content, only room.
    static IDLE: RefCell<Vec<DCtx<'static>>> = const { RefCell::new(Vec::new()) };
}

/// What blocks have in common, so that each can be short and yet small: words that are often in them, and how
/// often each byte is (RFC 8878, section 5). Clones are one counter.
#[derive(Clone)]
pub struct Dictionary(Arc<Common>);

struct Common {
    bytes: Box<[u8]>,
    /// Its tables for reading; `None` inside where the bytes are none that zstd takes.
    reading: OnceLock<Option<DDict<'static>>>,
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary").field("bytes", &self.0.bytes.len()).finish_non_exhaustive()
    }
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.bytes == other.0.bytes
    }
}

impl Eq for Dictionary {}

impl Dictionary {
    /// A dictionary as it was kept. Whether it makes sense is seen when the first block is read.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Arc::new(Common { bytes: bytes.into(), reading: OnceLock::new() }))
    }

    /// A dictionary of `max` bytes at most for texts like these, which lie behind one another in `texts` and have
    /// these lengths; `None` where they have too little in common, or are too few. The same texts give the same
    /// bytes. It takes about 0.1 s for 512 KiB.
    pub fn train(texts: &[u8], lens: &[usize], max: usize) -> Option<Self> {
        zstd::dict::from_continuous(texts, lens, max).ok().map(|bytes| Self::new(&bytes))
    }

    /// Its bytes, to keep them.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    fn reading(&self) -> Option<&DDict<'static>> {
        self.0.reading.get_or_init(|| DDict::try_create(&self.0.bytes)).as_ref()
    }
}

/// The bytes are not a frame, or one that is larger than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotABlock;

/// Compresses blocks at one level.
pub struct Compressor {
    context: bulk::Compressor<'static>,
    common: Option<(CCtx<'static>, CDict<'static>)>,
}

impl Compressor {
    /// A compressor at `level`: 1 fast to 19 small.
    pub fn new(level: i32) -> Self {
        let context = bulk::Compressor::new(level).expect("a context needs memory alone");
        Self { context, common: None }
    }

    /// One that makes frames which need `dictionary` to be read; `None` where zstd does not take that.
    pub fn with(level: i32, dictionary: &Dictionary) -> Option<Self> {
        let tables = CDict::try_create(dictionary.bytes(), level)?;
        Some(Self { common: Some((CCtx::try_create()?, tables)), ..Self::new(level) })
    }

    /// Appends the frame of `block` to `out`.
    pub fn compress(&mut self, block: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let bound = zstd_safe::compress_bound(block.len());
        out.resize(start + bound, 0);
        let room = &mut out[start..];
        let len = match &mut self.common {
            Some((context, tables)) => context.compress_using_cdict(room, block, tables).ok(),
            None => self.context.compress_to_buffer(block, room).ok(),
        };
        out.truncate(start + len.expect("the buffer has the bound's length"));
    }
}

/// Decompresses blocks.
pub struct Decompressor(Option<DCtx<'static>>);

impl Drop for Decompressor {
    fn drop(&mut self) {
        let Some(context) = self.0.take() else { return };
        // A thread that ends has no place for it any more.
        let _ = IDLE.try_with(|idle| {
            let mut idle = idle.borrow_mut();
            if idle.len() < IDLE_MAX {
                idle.push(context);
            }
        });
    }
}

impl Default for Decompressor {
    fn default() -> Self {
        Self::new()
    }
}

impl Decompressor {
    /// A decompressor.
    pub fn new() -> Self {
        let idle = IDLE.try_with(|idle| idle.borrow_mut().pop()).ok().flatten();
        let make = || DCtx::try_create().expect("a context needs memory alone");
        Self(Some(idle.unwrap_or_else(make)))
    }

    /// Puts the content of `frame`, `limit` bytes at most, into `out`, whose old content goes.
    pub fn decompress(
        &mut self,
        frame: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), NotABlock> {
        self.decompress_with(None, frame, limit, out)
    }

    /// As [`Self::decompress`], of a frame that was made with `dictionary`.
    pub fn decompress_with(
        &mut self,
        dictionary: Option<&Dictionary>,
        frame: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), NotABlock> {
        let tables = match dictionary {
            Some(dictionary) => Some(dictionary.reading().ok_or(NotABlock)?),
            None => None,
        };
        let len = content_len(frame).filter(|len| *len <= limit).ok_or(NotABlock)?;
        out.clear();
        out.resize(len, 0);
        let context = self.0.as_mut().expect("it is there until the drop");
        let done = match tables {
            Some(tables) => context.decompress_using_ddict(&mut out[..], frame, tables),
            None => context.decompress(&mut out[..], frame),
        };
        match done {
            Ok(found) if found == len => Ok(()),
            _ => {
                out.clear();
                Err(NotABlock)
            }
        }
    }
}

/// The content size that `frame` claims.
fn content_len(frame: &[u8]) -> Option<usize> {
    let len = zstd_safe::get_frame_content_size(frame).ok()??;
    usize::try_from(len).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compressed(block: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Compressor::new(1).compress(block, &mut out);
        out
    }

    #[test]
    fn frame_above_the_limit_is_refused() {
        let frame = compressed(&[7; 1000]);
        let mut out = vec![1, 2, 3];
        let mut decompressor = Decompressor::new();
        assert_eq!(decompressor.decompress(&frame, 999, &mut out), Err(NotABlock));
        assert_eq!(decompressor.decompress(&frame, 1000, &mut out), Ok(()));
        assert_eq!(out, [7; 1000]);
    }

    #[test]
    fn cut_frames_are_refused() {
        let frame = compressed(b"a block of a few words, a block of a few words");
        let mut decompressor = Decompressor::new();
        for len in 0..frame.len() {
            assert!(decompressor.decompress(&frame[..len], 1 << 20, &mut Vec::new()).is_err());
        }
    }

    proptest! {
        #[test]
        fn compressed_is_decompressed(blocks in prop::collection::vec(any::<Vec<u8>>(), 0..4)) {
            let mut decompressor = Decompressor::new();
            let mut out = Vec::new();
            for block in blocks {
                prop_assert!(decompressor.decompress(&compressed(&block), block.len(), &mut out).is_ok());
                prop_assert_eq!(&out, &block);
            }
        }

        #[test]
        fn foreign_bytes_stay_within_the_limit(frame: Vec<u8>) {
            let mut out = Vec::new();
            let _ = Decompressor::new().decompress(&frame, 4096, &mut out);
            prop_assert!(out.len() <= 4096);
        }
    }
}
