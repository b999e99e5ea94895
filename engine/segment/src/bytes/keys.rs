//! Which block a key lies in, where blocks of sorted keys stand one behind the other.
//!
//! Always true
//! 1. The first key is empty. Each other is above the last key of the block before it, and at or
//!    below the first of its own, as short as that allows; where the same key ends one block and
//!    begins the next, it is that key.
//! 2. So the last block whose key is at or below what is looked for holds it, if any block does.
//! 3. `heads[i]` is a big-endian number of eight bytes of key `i`, zeros behind, from where the keys
//!    (but the first) begin to differ. A search reads one array of numbers, and whole keys only
//!    where heads are the same.
//!
//! Part of resident rkyv archives; what offsets mean is tested when they are used.

use std::ops::Range;

use rkyv::{Archive, Deserialize, Serialize};

use crate::error::{Error, Result};

/// First keys of blocks, and where the blocks end.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct KeyIndex {
    /// What all keys but the first begin with.
    prefix: Vec<u8>,
    /// What follows the prefix.
    heads: Vec<u64>,
    /// Where each key ends in `keys`.
    key_ends: Vec<u32>,
    /// All keys, whole.
    keys: Vec<u8>,
    /// Where each block ends in its section.
    block_ends: Vec<u64>,
}

/// Bytes of keys at most, about: the archive around them has offsets of 31 bits. Keys are as long as what terms
/// share, so long terms that differ at their ends alone make long ones. Tests have fewer, to get there.
pub(crate) const KEYS_BYTES_MAX: usize = if cfg!(test) { 4 << 20 } else { 1 << 30 };

/// The shortest key above `last` and at or below `first`, which is above it or the same: then it is that.
pub(crate) fn separator<'k>(last: &[u8], first: &'k [u8]) -> &'k [u8] {
    let shared = last.iter().zip(first).take_while(|(a, b)| a == b).count();
    &first[..(shared + 1).min(first.len())]
}

impl KeyIndex {
    /// Whether more blocks may be added.
    ///
    /// # Errors
    /// [`Error::Limit`] where they would not be addressed.
    pub(crate) fn check_room(&self) -> Result<()> {
        if self.keys.len() <= KEYS_BYTES_MAX {
            return Ok(());
        }
        let (limit, found) = (KEYS_BYTES_MAX as u64, self.keys.len() as u64);
        Err(Error::Limit { what: "bytes of the keys of blocks", limit, found })
    }

    /// Takes a block that begins with `first`, after `last` of the block before, and ends at `end`.
    pub(crate) fn add(&mut self, last: &[u8], first: &[u8], end: u64) {
        assert!(last <= first || self.block_ends.is_empty(), "keys rise");
        let key = match self.block_ends.is_empty() {
            true => &[],
            false => separator(last, first),
        };
        self.keys.extend_from_slice(key);
        self.key_ends.push(u32::try_from(self.keys.len()).expect("room is asked for before"));
        self.block_ends.push(end);
    }

    /// Ends the index: no block may be added after.
    pub(crate) fn finish(mut self) -> Self {
        let keys: Vec<&[u8]> = (0..self.key_ends.len())
            .map(|at| {
                let start = if at == 0 { 0 } else { self.key_ends[at - 1] as usize };
                &self.keys[start..self.key_ends[at] as usize]
            })
            .collect();
        // Keys are sorted: what the second and the last share, all between share.
        let prefix = match (keys.get(1), keys.last()) {
            (Some(first), Some(last)) => {
                let shared = first.iter().zip(*last).take_while(|(a, b)| a == b).count();
                first[..shared].to_vec()
            }
            _ => Vec::new(),
        };
        self.heads = keys.iter().map(|key| head(key.get(prefix.len()..).unwrap_or(&[]))).collect();
        self.prefix = prefix;
        self
    }
}

impl ArchivedKeyIndex {
    /// Whether the arrays fit each other.
    pub(crate) fn is_sound(&self) -> bool {
        let count = self.heads.len();
        count > 0 && count == self.key_ends.len() && count == self.block_ends.len()
    }

    /// Number of blocks.
    #[inline]
    pub(crate) fn block_count(&self) -> usize {
        self.block_ends.len()
    }

    /// Where a block lies in its section.
    #[inline]
    pub(crate) fn block(&self, at: usize) -> Range<u64> {
        let start = if at == 0 { 0 } else { self.block_ends[at - 1].to_native() };
        start..self.block_ends[at].to_native()
    }

    /// The block that `key` lies in, if any does.
    pub(crate) fn block_of(&self, key: &[u8]) -> usize {
        let last = self.block_count() - 1;
        let prefix = self.prefix.as_slice();
        let Some(rest) = key.strip_prefix(prefix) else {
            return if key < prefix { 0 } else { last };
        };
        let wanted = head(rest);
        // The first key is below all: it stands apart, because it lacks the prefix.
        let heads = &self.heads[1..];
        let mut next = 1 + heads.partition_point(|head| head.to_native() < wanted);
        let mut end = next;
        if self.heads.get(next).is_some_and(|head| head.to_native() == wanted) {
            end += self.heads[next..].partition_point(|head| head.to_native() == wanted);
        }
        while next < end {
            let middle = usize::midpoint(next, end);
            if self.key(middle) <= key {
                next = middle + 1;
            } else {
                end = middle;
            }
        }
        next - 1
    }

    /// Whether the block `at` is the one that `key` lies in, if any is.
    pub(crate) fn may_hold(&self, at: usize, key: &[u8]) -> bool {
        at < self.block_count()
            && self.key(at) <= key
            && (at + 1 == self.block_count() || self.key(at + 1) > key)
    }

    /// A key; empty where the index is wrong about it.
    fn key(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.key_ends[at - 1].to_native() as usize };
        self.keys.get(start..self.key_ends[at].to_native() as usize).unwrap_or(&[])
    }
}

/// The first eight bytes as a number that sorts like them.
#[inline]
fn head(key: &[u8]) -> u64 {
    if let Some(first) = key.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    let mut bytes = [0; 8];
    bytes[..key.len()].copy_from_slice(key);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::archive::{Checked, write};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_key_has_the_last_block_it_was_written_to(
            prefix in "[ab]{0,10}",
            rests in prop::collection::vec("[ab\u{0}]{0,10}", 1..60),
            len in 1usize..5,
            other in "[abc]{0,4}",
        ) {
            let mut keys: Vec<String> = rests.iter().map(|rest| format!("{prefix}{rest}")).collect();
            keys.sort();
            let mut index = KeyIndex::default();
            let mut last: &[u8] = &[];
            for (at, block) in keys.chunks(len).enumerate() {
                index.add(last, block[0].as_bytes(), at as u64 + 1);
                last = block[block.len() - 1].as_bytes();
            }
            let archive = Checked::<KeyIndex>::copied(&write(&index.finish())).expect("just written");
            let index = archive.get();
            prop_assert!(index.is_sound());
            prop_assert_eq!(index.block(index.block_count() - 1).end, index.block_count() as u64);
            for (at, block) in keys.chunks(len).enumerate() {
                for key in block {
                    let found = index.block_of(key.as_bytes());
                    prop_assert!(found >= at);
                    let start = found * len;
                    prop_assert!(keys[start..].iter().take(len).any(|other| other == key));
                    prop_assert!(!keys[start..].iter().skip(len).any(|other| other == key));
                }
            }
            prop_assert!(index.block_of(other.as_bytes()) < index.block_count());
        }
    }
}
