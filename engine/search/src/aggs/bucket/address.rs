//! Keys made of addresses: ranges and networks. Addresses are terms; each rank is judged once.

use std::ops::Range;
use std::sync::Arc;

use super::keyed::Keys;
use super::once::Places;
use crate::aggs::partial::Key;
use crate::aggs::read::{MISSING_ORD, Terms, Words};
use crate::iter::Turn;

/// Lower end inside, upper end outside.
type Ends = (Option<[u8; 16]>, Option<[u8; 16]>);

/// What an address's keys are.
pub enum Nets {
    /// Places of ranges: lower end inside, upper end outside.
    Ranges(Vec<Ends>),
    /// Its network of so many bits (of 128), where it is of the family asked for.
    Prefix {
        /// Bits.
        bits: u8,
        /// Addresses of 128 bits.
        is_ipv6: bool,
    },
}

/// Addresses by network or range. Keys are ranks while they are collected; `finish` needs places
/// and networks, so the ranks are judged as they are met.
pub struct ByAddress {
    terms: Terms,
    words: Words,
    nets: Nets,
    /// Keys of ranks already judged.
    judged: base::hash::Map<u32, Arc<[i64]>>,
    networks: Vec<[u8; 16]>,
    /// Their places.
    places: base::hash::Map<[u8; 16], i64>,
    given: Places,
}

/// What a rank and a network that are known take here, about.
const RANK_BYTES: usize = 64;
const NETWORK_BYTES: usize = 64;

/// Of no more ranges it is kept in which of them an address lies.
const RANGES_FEW: usize = 64;

const FOUR: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

impl ByAddress {
    /// Addresses by `nets`.
    pub fn new(terms: Terms, words: Words, nets: Nets) -> Self {
        Self {
            terms,
            words,
            nets,
            judged: base::hash::Map::default(),
            networks: Vec::new(),
            places: base::hash::Map::default(),
            given: Places::default(),
        }
    }

    fn judge(&mut self, ord: u32) -> Box<[i64]> {
        let Ok(word) = self.words.get(ord) else { return Box::default() };
        let Ok(address) = <[u8; 16]>::try_from(word) else { return Box::default() };
        match &self.nets {
            Nets::Ranges(ranges) => ranges
                .iter()
                .enumerate()
                .filter(|(_, (from, to))| {
                    from.is_none_or(|from| from <= address) && to.is_none_or(|to| address < to)
                })
                .map(|(place, _)| place as i64)
                .collect(),
            Nets::Prefix { bits, is_ipv6 } => {
                if *is_ipv6 == (address[..12] == FOUR) {
                    return Box::default();
                }
                let bits = u32::from(*bits) + if *is_ipv6 { 0 } else { 96 };
                let mask = if bits == 0 { 0 } else { u128::MAX << (128 - bits) };
                let network = (u128::from_be_bytes(address) & mask).to_be_bytes();
                let new = self.networks.len() as i64;
                let place = *self.places.entry(network).or_insert(new);
                if place == new {
                    self.networks.push(network);
                }
                Box::new([place])
            }
        }
    }
}

impl Keys for ByAddress {
    fn keys_max(&self) -> usize {
        match &self.nets {
            Nets::Ranges(ranges) => ranges.len(),
            Nets::Prefix { .. } => 1,
        }
    }

    fn bytes(&self) -> usize {
        let (ranks, networks) = (self.judged.len(), self.networks.len());
        let most = match &self.nets {
            Nets::Ranges(ranges) => ranges.len().min(RANGES_FEW),
            Nets::Prefix { .. } => 1,
        };
        ranks * (RANK_BYTES + most * size_of::<i64>())
            + networks * NETWORK_BYTES
            + self.given.bytes()
    }

    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        if !self.terms.prepare(docs, turn) {
            return false;
        }
        if turn.resident {
            return true;
        }
        // Ranks are judged while they are collected: their words must be there.
        let mut ords = Vec::new();
        let all: Vec<u32> = docs.clone().collect();
        self.terms.each(&all, |_, ord| ords.push(ord));
        for ord in ords {
            if ord != MISSING_ORD && self.words.need(ord, turn).is_err() {
                return true;
            }
        }
        turn.is_ready()
    }

    fn each<F: FnMut(usize, i64)>(&mut self, docs: &[u32], mut give: F) {
        let mut pairs = Vec::with_capacity(docs.len());
        self.terms.each(docs, |at, ord| pairs.push((at, ord)));
        let mut seen = usize::MAX;
        for (at, ord) in pairs {
            // What lies in many ranges would be kept in many copies.
            let is_kept = match &self.nets {
                Nets::Ranges(ranges) => ranges.len() <= RANGES_FEW,
                Nets::Prefix { .. } => true,
            };
            let keys = match self.judged.get(&ord) {
                Some(keys) => Arc::clone(keys),
                None => self.judge(ord).into(),
            };
            if is_kept {
                self.judged.entry(ord).or_insert_with(|| Arc::clone(&keys));
            }
            if seen != at {
                seen = at;
                self.given.begin();
            }
            for key in &*keys {
                if self.given.is_new(*key as usize) {
                    give(at, *key);
                }
            }
        }
    }

    fn key(&mut self, key: i64) -> segment::Result<Option<Key>> {
        Ok(Some(match &self.nets {
            Nets::Ranges(_) => Key::Long(key),
            Nets::Prefix { .. } => Key::Bytes(self.networks[key as usize].as_slice().into()),
        }))
    }

    fn always_max(&self) -> usize {
        match &self.nets {
            Nets::Ranges(ranges) => ranges.len(),
            Nets::Prefix { .. } => 0,
        }
    }

    fn always(&mut self) -> segment::Result<Vec<i64>> {
        Ok(match &self.nets {
            Nets::Ranges(ranges) => (0..ranges.len() as i64).collect(),
            Nets::Prefix { .. } => Vec::new(),
        })
    }
}
