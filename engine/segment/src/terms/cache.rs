//! One core's decoded blocks of terms.
//!
//! Blocks of merged segments are compressed; decoding one takes longer than finding a term in it.
//! A core keeps those it met last, outside of the shared readers, so that nothing is locked: who
//! looks terms up brings his core's cache along.
//!
//! Always true
//! 1. Bytes kept are bounded by the limit given.
//! 2. A block is never taken for another: the key is the address of the field's reader, and the
//!    entry holds that address occupied (`Weak`) while it is kept.
//!
//! Forgetting works by two generations: when the younger is half the limit, the older goes and
//! the younger becomes the older; what is met in the older moves to the younger.

use std::sync::{Arc, Weak};

use base::hash::Map;

use super::reader::FieldTerms;
use crate::bytes::zblock::Decompressor;
use crate::error::Result;

/// Decoded blocks, bounded in bytes.
pub struct BlockCache {
    limit_bytes: usize,
    young: Map<(usize, usize), Entry>,
    old: Map<(usize, usize), Entry>,
    young_bytes: usize,
    old_bytes: usize,
    decompressor: Decompressor,
}

struct Entry {
    /// Keeps the address from being given to another reader.
    _owner: Weak<FieldTerms>,
    block: Vec<u8>,
}

impl BlockCache {
    /// A cache of `limit_bytes`.
    pub fn new(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            young: Map::default(),
            old: Map::default(),
            young_bytes: 0,
            old_bytes: 0,
            decompressor: Decompressor::new(),
        }
    }

    /// Number of bytes kept.
    pub fn len_bytes(&self) -> usize {
        self.young_bytes + self.old_bytes
    }

    /// The block `at` of `owner`, decoded by `decode` if it is not there.
    pub(crate) fn block(
        &mut self,
        owner: &Arc<FieldTerms>,
        at: usize,
        decode: impl FnOnce(&mut Decompressor, &mut Vec<u8>) -> Result<()>,
    ) -> Result<&[u8]> {
        let key = (Arc::as_ptr(owner).addr(), at);
        if !self.young.contains_key(&key) {
            let entry = match self.old.remove(&key) {
                Some(entry) => {
                    self.old_bytes -= entry.block.len();
                    entry
                }
                None => {
                    let mut block = Vec::new();
                    decode(&mut self.decompressor, &mut block)?;
                    Entry { _owner: Arc::downgrade(owner), block }
                }
            };
            if self.young_bytes + entry.block.len() > self.limit_bytes / 2 {
                self.old = std::mem::take(&mut self.young);
                self.old_bytes = std::mem::take(&mut self.young_bytes);
            }
            self.young_bytes += entry.block.len();
            self.young.insert(key, entry);
        }
        Ok(&self.young[&key].block)
    }
}
