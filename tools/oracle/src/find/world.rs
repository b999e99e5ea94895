//! What was written to an index, and what a search may see of it.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use json::{Object, Value};

use super::Read;
use super::document::{self, Block};
use super::schema::Schema;

/// An index as its writer knows it.
#[derive(Default)]
pub struct World {
    /// Its mapping.
    pub schema: Schema,
    /// Visible documents, shard by shard.
    pub shards: Vec<Vec<Block>>,
    /// All documents that are there, seen or not.
    pub live: BTreeMap<String, Value>,
    /// Documents that were replaced or deleted may still count in the frequencies of terms.
    pub has_ghosts: bool,
    counted: RefCell<HashMap<(usize, String, String), f64>>,
}

impl World {
    /// An empty index.
    pub fn new(mapping: &Value, shard_count: usize) -> Self {
        let shards = (0..shard_count).map(|_| Vec::new()).collect();
        Self { schema: Schema::read(mapping), shards, ..Self::default() }
    }

    /// A document is written.
    pub fn put(&mut self, id: &str, source: &Value) {
        self.has_ghosts |= self.live.insert(id.to_owned(), source.clone()).is_some();
    }

    /// A document is gone.
    pub fn delete(&mut self, id: &str) -> bool {
        let was = self.live.remove(id).is_some();
        self.has_ghosts |= was;
        was
    }

    /// A part is laid over a document.
    pub fn update(&mut self, id: &str, part: &Value) -> bool {
        let Some(old) = self.live.get(id) else { return false };
        let new = laid_over(old, part);
        if new != *old {
            self.put(id, &new);
        }
        true
    }

    /// What is there becomes what is seen.
    pub fn refresh(&mut self) -> Read<()> {
        let count = self.shards.len();
        let mut shards: Vec<Vec<Block>> = (0..count).map(|_| Vec::new()).collect();
        for (id, source) in &self.live {
            shards[shard_of(id, count)].push(document::read(&self.schema, id, source)?);
        }
        self.shards = shards;
        self.counted.borrow_mut().clear();
        Ok(())
    }

    /// A number that is counted once between refreshes.
    pub(super) fn once(
        &self,
        shard: usize,
        field: &str,
        term: &str,
        count: impl FnOnce() -> f64,
    ) -> f64 {
        let key = (shard, field.to_owned(), term.to_owned());
        if let Some(known) = self.counted.borrow().get(&key) {
            return *known;
        }
        let counted = count();
        self.counted.borrow_mut().insert(key, counted);
        counted
    }

    /// All visible documents with their shards.
    pub fn docs(&self) -> impl Iterator<Item = (usize, &Block)> {
        self.shards.iter().enumerate().flat_map(|(at, docs)| docs.iter().map(move |doc| (at, doc)))
    }
}

/// A partial document over a document: objects member by member, all else replaced.
pub fn laid_over(old: &Value, part: &Value) -> Value {
    match (old, part) {
        (Value::Object(old), Value::Object(part)) => {
            let mut new: Object = old.clone();
            for (key, value) in part.iter() {
                let value = match old.get(key) {
                    Some(before) => laid_over(before, value),
                    None => value.clone(),
                };
                new.insert(key, value);
            }
            Value::Object(new)
        }
        (_, part) => part.clone(),
    }
}

/// The shard of an id: murmur3 over its UTF-16, as Elasticsearch has it.
pub fn shard_of(id: &str, shards: usize) -> usize {
    let bits = if shards <= 1 { 0 } else { 32 - (shards as u32 - 1).leading_zeros() };
    let splits = 10_u32.saturating_sub(bits).max(1);
    let slots = (shards as i64) << splits;
    let bytes: Vec<u8> = id.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let slot = i64::from(murmur3(&bytes) as i32).rem_euclid(slots);
    (slot / (slots / shards as i64)) as usize
}

/// MurmurHash3, x86, 32 bits, seed 0 (Appleby).
fn murmur3(bytes: &[u8]) -> u32 {
    let mix = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut hash = 0_u32;
    let mut chunks = bytes.chunks_exact(4);
    for chunk in &mut chunks {
        let k = u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
        hash = (hash ^ mix(k)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let mut rest = 0_u32;
    for (at, byte) in chunks.remainder().iter().enumerate() {
        rest |= u32::from(*byte) << (8 * at);
    }
    if !chunks.remainder().is_empty() {
        hash ^= mix(rest);
    }
    hash ^= bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}
