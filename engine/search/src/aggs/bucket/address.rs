//! Keys made of addresses: ranges and networks. Addresses are terms; each rank is judged once.

use std::ops::Range;

use super::keyed::Keys;
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
    judged: base::hash::Map<u32, Box<[i64]>>,
    networks: Vec<[u8; 16]>,
}

const FOUR: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

impl ByAddress {
    /// Addresses by `nets`.
    pub fn new(terms: Terms, words: Words, nets: Nets) -> Self {
        Self { terms, words, nets, judged: base::hash::Map::default(), networks: Vec::new() }
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
                let place = self.networks.iter().position(|known| *known == network);
                let place = place.unwrap_or_else(|| {
                    self.networks.push(network);
                    self.networks.len() - 1
                });
                Box::new([place as i64])
            }
        }
    }
}

impl Keys for ByAddress {
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
        let mut seen: (usize, Vec<i64>) = (usize::MAX, Vec::new());
        for (at, ord) in pairs {
            if !self.judged.contains_key(&ord) {
                let keys = self.judge(ord);
                self.judged.insert(ord, keys);
            }
            if seen.0 != at {
                seen = (at, Vec::new());
            }
            for key in self.judged.get(&ord).map(|keys| keys.iter()).into_iter().flatten() {
                if !seen.1.contains(key) {
                    seen.1.push(*key);
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

    fn always(&mut self) -> segment::Result<Vec<i64>> {
        Ok(match &self.nets {
            Nets::Ranges(ranges) => (0..ranges.len() as i64).collect(),
            Nets::Prefix { .. } => Vec::new(),
        })
    }
}
