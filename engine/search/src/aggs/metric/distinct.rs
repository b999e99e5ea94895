//! How many different values: exactly while they are few, then by HyperLogLog.
//!
//! Values are hashed as Elasticsearch does (`mix64` of numbers, murmur3 of bytes). Up to the
//! threshold the hashes themselves are kept, so the count is exact but for hashes that collide;
//! beyond it each hash goes to one of 2^p registers (Flajolet and others; the estimate is Ertl's
//! improved one, which needs no tables of bias).

use base::hash::{Set, murmur3_128};

/// Least and greatest bits of a register's number.
const BITS: std::ops::RangeInclusive<u32> = 4..=18;

/// A count of different values.
#[derive(Clone, Debug, PartialEq)]
pub struct Distinct {
    threshold: u32,
    state: State,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Exact(Set<u64>),
    Registers(Box<[u8]>),
}

impl Distinct {
    /// Exact up to `threshold`.
    pub fn new(threshold: u32) -> Self {
        Self { threshold, state: State::Exact(Set::default()) }
    }

    /// Bits of a register's number: enough that an error of the estimate stays small beside the
    /// threshold, as Elasticsearch's `precisionFromThreshold`.
    fn bits(&self) -> u32 {
        let entries = (f64::from(self.threshold) / 0.75).ceil() as u64;
        let bits = u64::BITS - (entries * 4).leading_zeros();
        bits.clamp(*BITS.start(), *BITS.end())
    }

    /// Adds a value by its hash.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        match &mut self.state {
            State::Exact(set) => {
                set.insert(hash);
                if set.len() > self.threshold as usize {
                    self.spill();
                }
            }
            State::Registers(registers) => raise(registers, hash),
        }
    }

    /// Adds another count.
    pub fn merge(&mut self, other: &Self) {
        match &other.state {
            State::Exact(set) => set.iter().for_each(|hash| self.add(*hash)),
            State::Registers(theirs) => {
                self.spill();
                if let State::Registers(ours) = &mut self.state {
                    for (ours, theirs) in ours.iter_mut().zip(theirs) {
                        *ours = (*ours).max(*theirs);
                    }
                }
            }
        }
    }

    /// As [`Distinct::merge`]; the smaller of two sets goes into the larger.
    pub fn absorb(&mut self, mut other: Self) {
        if let (State::Exact(ours), State::Exact(theirs)) = (&self.state, &other.state)
            && theirs.len() > ours.len()
            && self.threshold == other.threshold
        {
            std::mem::swap(self, &mut other);
        }
        if let (State::Exact(ours), State::Exact(theirs)) = (&mut self.state, &other.state) {
            ours.reserve(theirs.len());
        }
        self.merge(&other);
    }

    /// Values or registers that it holds.
    pub fn held(&self) -> usize {
        match &self.state {
            State::Exact(set) => set.len(),
            State::Registers(registers) => registers.len() / 16,
        }
    }

    /// Whether the count is an estimate, for which all registers are read.
    pub fn is_estimate(&self) -> bool {
        matches!(self.state, State::Registers(_))
    }

    /// Room taken.
    pub fn bytes(&self) -> usize {
        match &self.state {
            State::Exact(set) => 48 + set.capacity() * 10,
            State::Registers(registers) => 48 + registers.len(),
        }
    }

    fn spill(&mut self) {
        let State::Exact(set) = &self.state else { return };
        let mut registers = vec![0u8; 1 << self.bits()].into_boxed_slice();
        for hash in set {
            raise(&mut registers, *hash);
        }
        self.state = State::Registers(registers);
    }

    /// The count.
    pub fn count(&self) -> u64 {
        match &self.state {
            State::Exact(set) => set.len() as u64,
            State::Registers(registers) => estimate(registers).round() as u64,
        }
    }
}

#[inline]
fn raise(registers: &mut [u8], hash: u64) {
    let bits = registers.len().trailing_zeros();
    let place = (hash >> (u64::BITS - bits)) as usize;
    let rest = (hash << bits) | (1 << (bits - 1));
    let rank = rest.leading_zeros() as u8 + 1;
    registers[place] = registers[place].max(rank);
}

/// Ertl's improved raw estimate ("New cardinality estimation algorithms for HyperLogLog sketches",
/// section 2).
fn estimate(registers: &[u8]) -> f64 {
    let bits = registers.len().trailing_zeros();
    let most = (u64::BITS - bits) as usize;
    let mut counts = vec![0u32; most + 2];
    for register in registers {
        counts[usize::from(*register).min(most + 1)] += 1;
    }
    let m = registers.len() as f64;
    let mut z = m * tau((m - f64::from(counts[most + 1])) / m);
    for count in counts[1..=most].iter().rev() {
        z = 0.5 * (z + f64::from(*count));
    }
    z += m * sigma(f64::from(counts[0]) / m);
    m * m / (2.0 * std::f64::consts::LN_2 * z)
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

/// Hash of a number (`BitMixer.mix64`).
#[inline]
pub fn hash_long(value: i64) -> u64 {
    let mut z = value as u64;
    z = (z ^ (z >> 32)).wrapping_mul(0x4cd6_944c_5cc2_0b6d);
    z = (z ^ (z >> 29)).wrapping_mul(0xfc12_c5b1_9d32_59e9);
    z ^ (z >> 32)
}

/// Hash of bytes: the first half of murmur3's 128 bits, x64.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    murmur3_128(bytes).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_counted_exactly() {
        let mut distinct = Distinct::new(100);
        for value in 0..1000 {
            distinct.add(hash_long(value % 100));
        }
        assert_eq!(distinct.count(), 100);
    }

    #[test]
    fn many_are_estimated_well_and_parts_make_the_whole() {
        for (threshold, count) in [(100, 5_000), (3000, 200_000), (40_000, 300_000), (0, 1000)] {
            let mut whole = Distinct::new(threshold);
            let mut parts = Distinct::new(threshold);
            let mut part = Distinct::new(threshold);
            for value in 0..count {
                whole.add(hash_long(value));
                part.add(hash_long(value));
                if value % 7919 == 0 {
                    parts.merge(&part);
                    part = Distinct::new(threshold);
                }
            }
            parts.merge(&part);
            assert_eq!(parts.count(), whole.count());
            let wrong = (whole.count() as f64 - count as f64).abs() / count as f64;
            let registers = f64::from(1u32 << whole.bits());
            assert!(wrong < 4.0 * 1.04 / registers.sqrt(), "{threshold}: {wrong}");
        }
    }

    #[test]
    fn bytes_hash_as_murmur_says() {
        // Recorded from Lucene's StringHelper.murmurhash3_x64_128 with seed 0.
        assert_eq!(hash_bytes(b""), 0);
        assert_eq!(hash_bytes(b"hello"), 0xcbd8_a7b3_41bd_9b02);
    }
}
