//! Many growing lists of bytes in one memory: the postings of a buffer's terms.
//!
//! Always true
//! 1. A list is a chain of slices, each about twice as long as the one before, up to a limit; most
//!    terms are rare, so the first is short.
//! 2. A slice lies inside one block; blocks are never moved, so growth copies nothing.
//! 3. What was written to a list never changes; only its end moves.
//!
//! A slice of `n` bytes holds `n - 4` bytes of the list and then the address of the next slice
//! (little-endian), written when that is made.
//!
//! Not here: what the bytes mean (`terms`).

/// Size of a block; slices do not cross blocks.
const BLOCK_BYTES: usize = 32 << 10;

/// Sizes of a list's slices, the last one for all further ones.
const SLICE_BYTES: [usize; 9] = [12, 20, 36, 68, 132, 260, 516, 1028, 2052];

/// Bytes of the link at a slice's end.
const LINK_BYTES: usize = 4;

const _: () = assert!(SLICE_BYTES[SLICE_BYTES.len() - 1] <= BLOCK_BYTES);

/// The memory.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    blocks: Vec<Box<[u8]>>,
    /// Bytes of the last block that are in use.
    used: usize,
}

/// One list: where it starts, and where its next byte goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chain {
    first: u32,
    at: u32,
    /// Bytes left in the current slice.
    left: u16,
    /// Slices made so far.
    slices: u32,
}

impl Chain {
    /// Whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.slices == 0
    }
}

impl Pool {
    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES
    }

    /// Appends `value` to a list as a variable-length integer.
    #[inline]
    pub(crate) fn write_vint(&mut self, chain: &mut Chain, mut value: u32) {
        while value >= 0x80 {
            self.write(chain, value as u8 | 0x80);
            value >>= 7;
        }
        self.write(chain, value as u8);
    }

    /// Appends a byte to a list.
    #[inline]
    pub(crate) fn write(&mut self, chain: &mut Chain, byte: u8) {
        if chain.left == 0 {
            self.grow(chain);
        }
        let at = chain.at as usize;
        self.blocks[at / BLOCK_BYTES][at % BLOCK_BYTES] = byte;
        chain.at += 1;
        chain.left -= 1;
    }

    /// Reads a list from its start.
    pub(crate) fn read(&self, chain: &Chain) -> Reader<'_> {
        Reader { pool: self, slice: &[], next: chain.first, entered: 0, chain: *chain }
    }

    fn grow(&mut self, chain: &mut Chain) {
        let size = slice_bytes(chain.slices);
        if self.blocks.is_empty() || self.used + size > BLOCK_BYTES {
            self.blocks.push(vec![0; BLOCK_BYTES].into_boxed_slice());
            self.used = 0;
        }
        let start = (self.blocks.len() - 1) * BLOCK_BYTES + self.used;
        self.used += size;
        let start = u32::try_from(start).expect("a buffer is sealed long before 4 GiB");
        if chain.is_empty() {
            chain.first = start;
        } else {
            // The current slice is full, so the next byte would lie where its link goes.
            let at = chain.at as usize;
            let link = &mut self.blocks[at / BLOCK_BYTES][at % BLOCK_BYTES..][..LINK_BYTES];
            link.copy_from_slice(&start.to_le_bytes());
        }
        chain.at = start;
        chain.left = (size - LINK_BYTES) as u16;
        chain.slices += 1;
    }
}

/// Size of slice `number` of a list.
fn slice_bytes(number: u32) -> usize {
    SLICE_BYTES[(number as usize).min(SLICE_BYTES.len() - 1)]
}

/// Reads one list.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    pool: &'a Pool,
    /// What is left of the current slice.
    slice: &'a [u8],
    /// Address of the next slice, where there is one.
    next: u32,
    /// Slices entered, of those the list has.
    entered: u32,
    chain: Chain,
}

impl Reader<'_> {
    /// The next integer that was written; `None` at the end.
    #[inline]
    pub(crate) fn vint(&mut self) -> Option<u32> {
        let mut value = 0u32;
        let mut shift = 0;
        loop {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
            shift += 7;
        }
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        if self.slice.is_empty() {
            self.enter();
        }
        let (&byte, rest) = self.slice.split_first()?;
        self.slice = rest;
        Some(byte)
    }

    /// Enters the next slice, where there is one.
    fn enter(&mut self) {
        if self.entered == self.chain.slices {
            return;
        }
        let size = slice_bytes(self.entered);
        self.entered += 1;
        let start = self.next as usize;
        let slice = &self.pool.blocks[start / BLOCK_BYTES][start % BLOCK_BYTES..][..size];
        if self.entered == self.chain.slices {
            self.slice = &slice[..self.chain.at as usize - start];
        } else {
            let (bytes, link) = slice.split_at(size - LINK_BYTES);
            self.slice = bytes;
            self.next = u32::from_le_bytes(*link.first_chunk().expect("a link is four bytes"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(pool: &Pool, chain: &Chain) -> Vec<u32> {
        let mut reader = pool.read(chain);
        std::iter::from_fn(|| reader.vint()).collect()
    }

    #[test]
    fn empty_list_reads_as_nothing() {
        assert!(all(&Pool::default(), &Chain::default()).is_empty());
    }

    #[test]
    fn list_that_fills_its_slices_exactly_ends_there() {
        let mut pool = Pool::default();
        for count in 0..600u32 {
            let mut chain = Chain::default();
            (0..count).for_each(|value| pool.write_vint(&mut chain, value % 128));
            assert_eq!(all(&pool, &chain), (0..count).map(|v| v % 128).collect::<Vec<_>>());
        }
    }

    #[test]
    fn long_list_crosses_blocks() {
        let mut pool = Pool::default();
        let (mut one, mut other) = (Chain::default(), Chain::default());
        for value in 0..200_000u32 {
            pool.write_vint(&mut one, value);
            if value % 7 == 0 {
                pool.write_vint(&mut other, value);
            }
        }
        assert!(pool.size_bytes() > 4 * BLOCK_BYTES);
        assert_eq!(all(&pool, &one), (0..200_000).collect::<Vec<_>>());
        assert_eq!(all(&pool, &other), (0..200_000).step_by(7).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn interleaved_lists_read_as_written(writes: Vec<(u8, u32)>) {
            let mut pool = Pool::default();
            let mut chains = [Chain::default(); 5];
            let mut model: [Vec<u32>; 5] = Default::default();
            for (list, value) in writes {
                let list = usize::from(list) % 5;
                pool.write_vint(&mut chains[list], value);
                model[list].push(value);
            }
            for (chain, model) in chains.iter().zip(&model) {
                prop_assert_eq!(&all(&pool, chain), model);
            }
        }
    }
}
