//! Blocks compressed by zstd, each one frame that names its content size.
//!
//! Always true
//! 1. Decompression allocates nothing beyond the limit given, whatever the bytes say: a frame
//!    without content size, or with one above the limit, is refused before work begins.
//! 2. Contexts are reused: making one costs more than a block does. A thread keeps a few that nobody
//!    uses at the moment.
//!
//! Absent: checksums (pages have them) and dictionaries.

use std::cell::RefCell;

use zstd::bulk;
use zstd::zstd_safe;

/// Idle contexts that a thread keeps; each takes about 100 KiB.
const IDLE_MAX: usize = 8;

thread_local! {
    /// Contexts that nobody uses now. They hold no content, only room.
    static IDLE: RefCell<Vec<bulk::Decompressor<'static>>> = const { RefCell::new(Vec::new()) };
}

/// The bytes are not a frame, or one that is larger than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotABlock;

/// Compresses blocks at one level.
pub struct Compressor(bulk::Compressor<'static>);

impl Compressor {
    /// A compressor at `level`: 1 fast to 19 small.
    pub fn new(level: i32) -> Self {
        Self(bulk::Compressor::new(level).expect("a context needs memory alone"))
    }

    /// Appends the frame of `block` to `out`.
    pub fn compress(&mut self, block: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let bound = zstd_safe::compress_bound(block.len());
        out.resize(start + bound, 0);
        let len = self
            .0
            .compress_to_buffer(block, &mut out[start..])
            .expect("the buffer has the bound's length");
        out.truncate(start + len);
    }
}

/// Decompresses blocks.
pub struct Decompressor(Option<bulk::Decompressor<'static>>);

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
        let make = || bulk::Decompressor::new().expect("a context needs memory alone");
        Self(Some(idle.unwrap_or_else(make)))
    }

    /// Puts the content of `frame`, `limit` bytes at most, into `out`, whose old content goes.
    pub fn decompress(
        &mut self,
        frame: &[u8],
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), NotABlock> {
        let len = content_len(frame).filter(|len| *len <= limit).ok_or(NotABlock)?;
        out.clear();
        out.resize(len, 0);
        let context = self.0.as_mut().expect("it is there until the drop");
        match context.decompress_to_buffer(frame, &mut out[..]) {
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
