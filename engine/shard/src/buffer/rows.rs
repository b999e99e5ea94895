//! Lists that grow without moving what they hold, but for their first few entries.
//!
//! Why: a vector that is full copies itself. In a buffer of many megabytes that takes tens of
//! milliseconds, and a core that takes documents in must answer others too.
//!
//! Always true
//! 1. All chunks but the last are full, so the place of an entry tells its chunk.
//! 2. Only the first chunk grows by copying, up to [`CHUNK`] entries: most fields have few.
//!
//! Not here: lists of postings (`arena`), which are many in one memory.

/// Entries of a chunk.
const CHUNK: usize = 4096;

/// Bytes of a block; no string shorter than this crosses from one block to the next.
const BLOCK_BYTES: usize = 64 << 10;

/// A list of entries.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    chunks: Vec<Vec<T>>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { chunks: Vec::new() }
    }
}

impl<T> Rows<T> {
    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        let full = self.chunks.len().saturating_sub(1) * CHUNK;
        (full + self.chunks.last().map_or(0, Vec::capacity)) * size_of::<T>()
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        let full = self.chunks.len().saturating_sub(1) * CHUNK;
        full + self.chunks.last().map_or(0, Vec::len)
    }

    /// True without entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Adds an entry at the end.
    #[inline]
    pub(crate) fn push(&mut self, entry: T) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(entry),
            last => {
                let capacity = if last.is_some() { CHUNK } else { 1 };
                let mut chunk = Vec::with_capacity(capacity);
                chunk.push(entry);
                self.chunks.push(chunk);
            }
        }
    }

    /// The entry at a place.
    #[inline]
    pub(crate) fn at(&self, at: usize) -> &T {
        &self.chunks[at / CHUNK][at % CHUNK]
    }

    /// The entry at a place, to change.
    #[inline]
    pub(crate) fn at_mut(&mut self, at: usize) -> &mut T {
        &mut self.chunks[at / CHUNK][at % CHUNK]
    }

    /// The last entry.
    pub(crate) fn last(&self) -> Option<&T> {
        self.chunks.last()?.last()
    }

    /// All entries.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }

    /// The entries behind those that please `is_before`, which stand in front.
    pub(crate) fn iter_from(&self, is_before: impl Fn(&T) -> bool) -> impl Iterator<Item = &T> {
        let chunk = self.chunks.partition_point(|chunk| chunk.last().is_some_and(&is_before));
        let chunks = &self.chunks[chunk..];
        let skipped = chunks.first().map_or(0, |chunk| chunk.partition_point(is_before));
        chunks.iter().flatten().skip(skipped)
    }
}

/// Strings, each in one piece.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    /// Each begins at a multiple of [`BLOCK_BYTES`]; a string that is longer has one for itself.
    blocks: Vec<Vec<u8>>,
    held_bytes: usize,
}

impl Slab {
    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Takes a string; gives its address.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) -> u32 {
        if self.blocks.last().is_none_or(|block| block.len() + bytes.len() > BLOCK_BYTES) {
            let capacity = if self.blocks.is_empty() { 0 } else { BLOCK_BYTES };
            self.blocks.push(Vec::with_capacity(capacity));
            self.held_bytes += capacity;
        }
        let at = self.blocks.len() - 1;
        let block = &mut self.blocks[at];
        let start = u32::try_from(at * BLOCK_BYTES + block.len());
        let held = block.capacity();
        block.extend_from_slice(bytes);
        self.held_bytes += block.capacity() - held;
        start.expect("a buffer is sealed long before 4 GiB")
    }

    /// The string of `len` bytes at an address.
    #[inline]
    pub(crate) fn get(&self, start: u32, len: u32) -> &[u8] {
        let start = start as usize;
        &self.blocks[start / BLOCK_BYTES][start % BLOCK_BYTES..][..len as usize]
    }

    /// All bytes in the order they came.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &[u8]> {
        self.blocks.iter().map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_order_across_chunks() {
        for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let mut rows = Rows::default();
            (0..len).for_each(|number| rows.push(number / 2));
            assert_eq!((rows.len(), rows.is_empty()), (len, len == 0));
            assert_eq!(rows.last().copied(), len.checked_sub(1).map(|last| last / 2));
            assert!(rows.iter().copied().eq((0..len).map(|number| number / 2)));
            for from in [0, 1, CHUNK / 2 - 1, CHUNK / 2, CHUNK / 2 + 1, len] {
                let behind = rows.iter_from(|number| *number < from).copied();
                assert!(behind.eq((2 * from..len).map(|number| number / 2)), "{len} {from}");
            }
            for at in 0..len {
                assert_eq!(*rows.at(at), at / 2);
            }
        }
        let mut rows = Rows::default();
        (0..3 * CHUNK as u64).for_each(|number| rows.push(number));
        assert_eq!(rows.size_bytes(), 3 * CHUNK * 8);
        *rows.at_mut(CHUNK) = 7;
        assert_eq!(*rows.at(CHUNK), 7);
    }

    #[test]
    fn strings_of_any_length_come_back() {
        let mut slab = Slab::default();
        let lens = [0, 1, 40_000, 30_000, BLOCK_BYTES, 0, 5, 3 * BLOCK_BYTES + 1, 7, 65_000, 600];
        let strings: Vec<Vec<u8>> =
            lens.iter().zip(1..).map(|(len, fill)| vec![fill; *len]).collect();
        let starts: Vec<u32> = strings.iter().map(|string| slab.put(string)).collect();
        for (string, start) in strings.iter().zip(starts) {
            assert_eq!(slab.get(start, string.len() as u32), string);
        }
        let all: Vec<u8> = slab.blocks().flatten().copied().collect();
        assert_eq!(all, strings.concat());
        assert!(slab.size_bytes() >= all.len() && slab.size_bytes() < all.len() + 4 * BLOCK_BYTES);
    }
}
