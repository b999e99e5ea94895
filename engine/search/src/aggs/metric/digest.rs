//! Percentiles: all values while they are few, then a merging t-digest (Dunning, "Computing
//! extremely accurate quantiles using t-digests"); or a histogram of significant digits
//! (HdrHistogram's `DoubleHistogram`).
//!
//! As Elasticsearch since 8.9, values are kept whole up to 20 times the compression, and a
//! percentile between two of them is interpolated.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Values kept whole, for each unit of compression.
const WHOLE: f64 = 20.0;

/// Least and greatest compression that is used, whatever was asked.
const COMPRESSION_MAX: f64 = 10_000.0;

/// A t-digest, or all values while they are few.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    compression: f64,
    /// Sorted where `sorted`.
    values: Vec<f64>,
    sorted: bool,
    /// Means and weights, sorted by mean; empty while all values are kept.
    centroids: Vec<(f64, f64)>,
    count: f64,
    min: f64,
    max: f64,
}

impl Digest {
    /// Nothing yet.
    pub fn new(compression: f64) -> Self {
        Self {
            compression: compression.clamp(1.0, COMPRESSION_MAX),
            values: Vec::new(),
            sorted: true,
            centroids: Vec::new(),
            count: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count as u64
    }

    /// Least value.
    pub fn min(&self) -> f64 {
        self.min
    }

    /// Greatest value.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// Room taken.
    pub fn bytes(&self) -> usize {
        96 + self.values.capacity() * 8 + self.centroids.capacity() * 16
    }

    fn limit(&self) -> usize {
        (self.compression * WHOLE) as usize
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.values.push(value);
        self.sorted = false;
        if self.values.len() > self.limit() {
            self.compress(Vec::new());
        }
    }

    /// Adds another digest.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.values.extend_from_slice(&other.values);
        self.sorted = false;
        if !other.centroids.is_empty() || self.values.len() > self.limit() {
            self.compress(other.centroids.clone());
        }
    }

    /// Puts values and `more` centroids into as few centroids as compression allows.
    fn compress(&mut self, more: Vec<(f64, f64)>) {
        let mut old = std::mem::take(&mut self.centroids);
        if !more.is_empty() {
            old.extend(more);
            old.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let mut values = std::mem::take(&mut self.values);
        values.sort_unstable_by(f64::total_cmp);
        // All weights are whole, so their sum is.
        let total: f64 = old.iter().map(|(_, weight)| weight).sum::<f64>() + values.len() as f64;
        // Scale function k2: how much weight a centroid may have at a quantile.
        let normal = self.compression / (4.0 * (total / self.compression).ln().max(0.0) + 24.0);
        let most = |q: f64| total * q * (1.0 - q) / normal;
        let mut merged: Vec<(f64, f64)> = Vec::with_capacity(self.compression as usize * 2);
        let mut before = 0.0;
        let (mut olds, mut news) = (old.into_iter().peekable(), values.iter().peekable());
        loop {
            // Of equal means the older goes first.
            let is_old = match (olds.peek(), news.peek()) {
                (None, None) => break,
                (Some(old), Some(new)) => old.0.total_cmp(new).is_le(),
                (old, _) => old.is_some(),
            };
            let (mean, weight) = match is_old {
                true => olds.next().unwrap_or_default(),
                false => (*news.next().unwrap_or(&0.0), 1.0),
            };
            if let Some(last) = merged.last_mut() {
                let joined = last.1 + weight;
                let (low, high) = (before / total, (before + joined) / total);
                if joined <= most(low).min(most(high)) {
                    last.0 += (mean - last.0) * weight / joined;
                    last.1 = joined;
                    continue;
                }
                before += last.1;
            }
            merged.push((mean, weight));
        }
        self.centroids = merged;
        values.clear();
        self.values = values;
        self.sorted = true;
    }

    /// Values and centroids that it holds.
    pub fn held(&self) -> usize {
        self.values.len() + self.centroids.len()
    }

    /// Whether it is ready to be asked.
    fn is_settled(&self) -> bool {
        self.sorted && (self.centroids.is_empty() || self.values.is_empty())
    }

    /// Itself, ready to be asked; a copy only where it is not. Who asks several times asks this once.
    pub fn settled(&self) -> Cow<'_, Self> {
        if self.is_settled() {
            return Cow::Borrowed(self);
        }
        let mut copy = self.clone();
        copy.settle();
        Cow::Owned(copy)
    }

    /// Makes it ready to be asked.
    pub fn settle(&mut self) {
        if !self.centroids.is_empty() && !self.values.is_empty() {
            self.compress(Vec::new());
        }
        if !self.sorted {
            self.values.sort_by(f64::total_cmp);
            self.sorted = true;
        }
    }

    /// The value below which a share of `q` (0 to 1) lies; NaN without values.
    pub fn quantile(&self, q: f64) -> f64 {
        let digest = self.settled();
        if digest.count == 0.0 {
            return f64::NAN;
        }
        if digest.centroids.is_empty() {
            return interpolated(&digest.values, q);
        }
        let index = q * digest.count;
        let list = &digest.centroids;
        if index < 1.0 {
            return digest.min;
        }
        if index > digest.count - 1.0 {
            return digest.max;
        }
        let (first, last) = (list[0], list[list.len() - 1]);
        if first.1 > 1.0 && index < first.1 / 2.0 {
            return digest.min + (index - 1.0) / (first.1 / 2.0 - 1.0) * (first.0 - digest.min);
        }
        if last.1 > 1.0 && digest.count - index <= last.1 / 2.0 {
            return digest.max
                - (digest.count - index - 1.0) / (last.1 / 2.0 - 1.0) * (digest.max - last.0);
        }
        let mut so_far = first.1 / 2.0;
        for pair in list.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            let step = (left.1 + right.1) / 2.0;
            if so_far + step > index {
                if left.1 == 1.0 && index - so_far < 0.5 {
                    return left.0;
                }
                if right.1 == 1.0 && so_far + step - index <= 0.5 {
                    return right.0;
                }
                let left_half = if left.1 == 1.0 { 0.5 } else { 0.0 };
                let right_half = if right.1 == 1.0 { 0.5 } else { 0.0 };
                let z1 = index - so_far - left_half;
                let z2 = so_far + step - index - right_half;
                return (left.0 * z2 + right.0 * z1) / (z1 + z2);
            }
            so_far += step;
        }
        let z1 = index - digest.count - last.1 / 2.0;
        let z2 = last.1 / 2.0 - z1;
        (last.0 * z1 + digest.max * z2) / (z1 + z2)
    }

    /// The share of values at or below `x`; NaN without values.
    pub fn rank(&self, x: f64) -> f64 {
        let digest = self.settled();
        if digest.count == 0.0 {
            return f64::NAN;
        }
        if digest.centroids.is_empty() {
            return rank_of(&digest.values, x);
        }
        if x < digest.min {
            return 0.0;
        }
        if x > digest.max {
            return 1.0;
        }
        let list = &digest.centroids;
        let (first, last) = (list[0], list[list.len() - 1]);
        if x < first.0 {
            if first.0 == digest.min {
                return 0.0;
            }
            return (x - digest.min) / (first.0 - digest.min) * (first.1 / 2.0) / digest.count;
        }
        if x > last.0 {
            if last.0 == digest.max {
                return 1.0;
            }
            return 1.0 - (digest.max - x) / (digest.max - last.0) * (last.1 / 2.0) / digest.count;
        }
        let mut so_far = first.1 / 2.0;
        for pair in list.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            let step = (left.1 + right.1) / 2.0;
            if x < right.0 {
                let share = if right.0 > left.0 { (x - left.0) / (right.0 - left.0) } else { 0.5 };
                return (so_far + share * step) / digest.count;
            }
            so_far += step;
        }
        (so_far / digest.count).min(1.0)
    }

    /// Median of the distances from the median; NaN without values.
    pub fn median_absolute_deviation(&self) -> f64 {
        let digest = self.settled();
        let median = digest.quantile(0.5);
        if median.is_nan() {
            return median;
        }
        let mut distances = Digest::new(digest.compression);
        let weighted: Vec<(f64, f64)> = match digest.centroids.is_empty() {
            true => digest.values.iter().map(|value| (*value, 1.0)).collect(),
            false => digest.centroids.clone(),
        };
        if digest.centroids.is_empty() {
            for (value, _) in weighted {
                distances.add((value - median).abs());
            }
        } else {
            let mut list: Vec<(f64, f64)> =
                weighted.into_iter().map(|(mean, w)| ((mean - median).abs(), w)).collect();
            list.sort_by(|a, b| a.0.total_cmp(&b.0));
            distances.count = digest.count;
            distances.min = list.first().map_or(f64::NAN, |first| first.0);
            distances.max = list.last().map_or(f64::NAN, |last| last.0);
            distances.centroids = list;
        }
        distances.quantile(0.5)
    }

    /// Weighted values as they are kept, sorted.
    pub fn weighted(&self) -> Vec<(f64, f64)> {
        let digest = self.settled();
        match digest.centroids.is_empty() {
            true => digest.values.iter().map(|value| (*value, 1.0)).collect(),
            false => digest.centroids.clone(),
        }
    }
}

/// Between two sorted values.
fn interpolated(values: &[f64], q: f64) -> f64 {
    let index = q * (values.len() - 1) as f64;
    let low = index.floor() as usize;
    let high = (low + 1).min(values.len() - 1);
    let share = index - low as f64;
    values[low] + share * (values[high] - values[low])
}

/// The share of sorted values at or below `x`, half of its equals counted.
fn rank_of(values: &[f64], x: f64) -> f64 {
    let count = values.len() as f64;
    let (min, max) = (values[0], values[values.len() - 1]);
    if x < min {
        return 0.0;
    }
    if x > max {
        return 1.0;
    }
    let below = values.partition_point(|value| *value < x);
    let equal = values[below..].partition_point(|value| *value <= x) as f64;
    if x == min && x == max {
        return 0.5;
    }
    if x == max {
        return (count - 0.5 * equal) / count;
    }
    if equal > 0.0 {
        if x == min {
            return 0.5 * equal / count;
        }
        return (0.5 + (below as f64 - 1.0) + 0.5 * equal) / count;
    }
    let (left, right) = (values[below - 1], values[below]);
    (0.5 + (below as f64 - 1.0) + (x - left) / (right - left)) / count
}

/// A histogram that keeps so many significant digits of each value.
#[derive(Clone, Debug, PartialEq)]
pub struct Hdr {
    /// Bits of half a bucket's parts.
    half_bits: u32,
    /// By exponent and part.
    counts: BTreeMap<(i32, u64), u64>,
    zeros: u64,
    total: u64,
}

impl Hdr {
    /// Nothing yet.
    pub fn new(digits: u8) -> Self {
        let largest = 2.0 * 10f64.powi(i32::from(digits));
        let half_bits = (largest.log2().ceil() as u32).max(1) - 1;
        Self { half_bits, counts: BTreeMap::new(), zeros: 0, total: 0 }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// Room taken.
    pub fn bytes(&self) -> usize {
        64 + self.counts.len() * 40
    }

    /// Adds a value; what is negative or none counts as nothing.
    pub fn add(&mut self, value: f64) {
        self.total += 1;
        if value.is_nan() || value <= 0.0 {
            self.zeros += 1;
            return;
        }
        *self.counts.entry(self.place(value)).or_default() += 1;
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.zeros += other.zeros;
        self.total += other.total;
        for (place, count) in &other.counts {
            *self.counts.entry(*place).or_default() += count;
        }
    }

    fn place(&self, value: f64) -> (i32, u64) {
        let exponent = exponent(value);
        let part = (value / unit(exponent, self.half_bits)).floor() as u64;
        (exponent, part)
    }

    /// The greatest value that counts as those of `place`.
    fn highest(&self, place: (i32, u64)) -> f64 {
        // One step of the finest bucket there is: that of the least value.
        let least = self.counts.keys().next().map_or(place.0, |first| first.0);
        (place.1 + 1) as f64 * unit(place.0, self.half_bits) - unit(least, self.half_bits)
    }

    /// The value below which `percent` lie; NaN without values.
    pub fn percentile(&self, percent: f64) -> f64 {
        if self.total == 0 {
            return f64::NAN;
        }
        let wanted = ((percent / 100.0 * self.total as f64).ceil() as u64).max(1);
        let mut seen = self.zeros;
        if seen >= wanted {
            return 0.0;
        }
        for (place, count) in &self.counts {
            seen += count;
            if seen >= wanted {
                return match percent {
                    0.0 => place.1 as f64 * unit(place.0, self.half_bits),
                    _ => self.highest(*place),
                };
            }
        }
        f64::NAN
    }

    /// How many per cent lie at or below `x`; NaN without values.
    pub fn rank(&self, x: f64) -> f64 {
        if self.total == 0 {
            return f64::NAN;
        }
        if x < 0.0 {
            return 0.0;
        }
        let mut seen = self.zeros;
        if x > 0.0 {
            let place = self.place(x);
            seen += self.counts.range(..=place).map(|(_, count)| count).sum::<u64>();
        }
        seen as f64 * 100.0 / self.total as f64
    }
}

fn exponent(value: f64) -> i32 {
    // Subnormal values are far below what a histogram tells apart.
    ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-1000)
}

fn unit(exponent: i32, half_bits: u32) -> f64 {
    2f64.powi(exponent - half_bits as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(values: &[f64]) -> Digest {
        let mut digest = Digest::new(100.0);
        values.iter().for_each(|value| digest.add(*value));
        digest
    }

    #[test]
    fn few_values_are_interpolated() {
        let digest = digest(&[120.0, 1.5, 60.0]);
        assert_eq!(digest.quantile(0.25), 30.75);
        assert_eq!(digest.quantile(0.5), 60.0);
        assert!((digest.quantile(0.99) - 118.8).abs() < 1e-12);
        assert_eq!(digest.rank(0.0), 0.0);
        assert_eq!(digest.rank(121.0), 1.0);
        assert_eq!(digest.rank(60.0), (0.5 + 0.0 + 0.5) / 3.0);
        assert_eq!(digest.rank(120.0), 2.5 / 3.0);
        assert_eq!(digest.rank(90.0), (0.5 + 1.0 + 0.5) / 3.0);
        assert!(Digest::new(100.0).quantile(0.5).is_nan());
    }

    #[test]
    fn many_values_are_close_at_both_ends() {
        let mut whole = Digest::new(100.0);
        let mut parts = Digest::new(100.0);
        let mut part = Digest::new(100.0);
        for n in 0..100_000u64 {
            // Scrambled, but each once.
            let value = (n * 61_843 % 100_000) as f64;
            whole.add(value);
            part.add(value);
            if n % 9973 == 0 {
                parts.merge(&part);
                part = Digest::new(100.0);
            }
        }
        parts.merge(&part);
        assert!(whole.bytes() < 100_000, "it forgets");
        for digest in [&mut whole, &mut parts] {
            assert_eq!(digest.count(), 100_000);
            for (q, most) in [(0.001, 100.0), (0.01, 200.0), (0.5, 1500.0), (0.99, 200.0)] {
                let found = digest.quantile(q);
                assert!((found - q * 100_000.0).abs() < most, "{q}: {found}");
                let rank = digest.rank(q * 100_000.0);
                assert!((rank - q).abs() < most / 100_000.0, "{q}: {rank}");
            }
            assert_eq!((digest.quantile(0.0), digest.quantile(1.0)), (0.0, 99_999.0));
            let deviation = digest.median_absolute_deviation();
            assert!((deviation - 25_000.0).abs() < 1500.0, "{deviation}");
        }
    }

    #[test]
    fn significant_digits_are_kept() {
        let mut hdr = Hdr::new(3);
        for value in [1.5, 60.0, 120.0] {
            hdr.add(value);
        }
        assert_eq!(hdr.percentile(50.0), 60.030_273_437_5);
        assert_eq!(hdr.rank(60.0), 2.0 * 100.0 / 3.0);
        let mut wide = Hdr::new(3);
        for n in 1..=100_000 {
            wide.add(f64::from(n));
        }
        let found = wide.percentile(99.0);
        assert!((found - 99_000.0).abs() < 99.0, "{found}");
    }
}
