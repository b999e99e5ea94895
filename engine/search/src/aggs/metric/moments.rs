//! Counts, sums, ends and squares of numbers: what `avg`, `stats` and their like are made of.
//!
//! Sums are Kahan's, as Elasticsearch's `CompensatedSum`: the small part that an addition loses is
//! kept and given back.

/// A sum that keeps what additions lose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kahan {
    /// The sum.
    pub value: f64,
    /// What it lost.
    delta: f64,
}

impl Kahan {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, value: f64) {
        // A number that is none makes the sum none, for good.
        if !value.is_finite() {
            self.value += value;
        }
        if self.value.is_finite() {
            let corrected = value + self.delta;
            let sum = self.value + corrected;
            self.delta = corrected - (sum - self.value);
            self.value = sum;
        }
    }

    /// Would whole numbers of this size, together, be added without loss, in any order?
    fn takes_whole(&self, size: u128) -> bool {
        const EXACT: f64 = (1u64 << 53) as f64;
        self.delta == 0.0
            && self.value.trunc() == self.value
            && self.value.abs() + size as f64 <= EXACT
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: Self) {
        self.add(other.value);
        if other.delta != 0.0 {
            self.add(other.delta);
        }
    }
}

/// Moments of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// How many.
    pub count: u64,
    /// All added.
    pub sum: Kahan,
    /// Squares added.
    pub squares: Kahan,
    /// Least; infinite without any.
    pub min: f64,
    /// Greatest.
    pub max: f64,
}

impl Default for Moments {
    fn default() -> Self {
        Self {
            count: 0,
            sum: Kahan::default(),
            squares: Kahan::default(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl Moments {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum.add(value);
        self.squares.add(value * value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds whole numbers: exactly what [`Moments::add`] of each gives, faster where no addition
    /// loses anything.
    pub fn add_longs(&mut self, values: &[i64]) {
        let (Some(&min), Some(&max)) = (values.iter().min(), values.iter().max()) else { return };
        self.count += values.len() as u64;
        self.min = self.min.min(min as f64);
        self.max = self.max.max(max as f64);
        let most = u128::from(min.unsigned_abs().max(max.unsigned_abs()));
        let count = values.len() as u128;
        if self.sum.takes_whole(most * count) {
            self.sum.value += values.iter().sum::<i64>() as f64;
        } else {
            values.iter().for_each(|value| self.sum.add(*value as f64));
        }
        // The first condition keeps the product below from overflowing.
        if most <= 1 << 26 && self.squares.takes_whole(most * most * count) {
            self.squares.value += values.iter().map(|value| value * value).sum::<i64>() as f64;
        } else {
            for value in values {
                let value = *value as f64;
                self.squares.add(value * value);
            }
        }
    }

    /// Adds other moments.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.merge(other.sum);
        self.squares.merge(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The mean.
    pub fn avg(&self) -> f64 {
        self.sum.value / self.count as f64
    }

    /// Variance of a whole population.
    pub fn variance(&self) -> f64 {
        let count = self.count as f64;
        let sum = self.sum.value;
        let variance = (self.squares.value - (sum * sum) / count) / count;
        variance.max(0.0)
    }

    /// Variance guessed from a sample.
    pub fn variance_sampling(&self) -> f64 {
        let count = self.count as f64;
        let sum = self.sum.value;
        let variance = (self.squares.value - (sum * sum) / count) / (count - 1.0);
        if variance < 0.0 { 0.0 } else { variance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_not_lost_beside_great_ones() {
        let mut sum = Kahan::default();
        let mut naive = 0.0;
        for _ in 0..10_000 {
            sum.add(0.1);
            naive += 0.1;
        }
        assert_eq!(sum.value, 1000.0);
        assert_ne!(naive, 1000.0);
    }

    #[test]
    fn what_is_no_number_stays_none() {
        let mut sum = Kahan::default();
        sum.add(f64::INFINITY);
        sum.add(1.0);
        assert_eq!(sum.value, f64::INFINITY);
        sum.add(f64::NEG_INFINITY);
        assert!(sum.value.is_nan());
    }

    #[test]
    fn many_whole_numbers_are_as_one_after_the_other() {
        let spread = |at: i64, size: i64| (at * 7_919 + 13) % (2 * size + 1) - size;
        for size in [3, 1 << 20, 1 << 26, 1 << 40, 1 << 51, 1 << 60] {
            let values: Vec<i64> = (0..10_000).map(|at| spread(at, size)).collect();
            let (mut one, mut many) = (Moments::default(), Moments::default());
            one.add(0.5 * f64::from(size == 3));
            many.add(0.5 * f64::from(size == 3));
            for chunk in values.chunks(4096) {
                chunk.iter().for_each(|value| one.add(*value as f64));
                many.add_longs(chunk);
                assert_eq!(one, many, "{size}");
            }
        }
    }

    #[test]
    fn parts_make_the_whole() {
        let values: Vec<f64> = (0..1000).map(|n| f64::from(n) * 0.37 - 100.0).collect();
        let mut whole = Moments::default();
        let mut parts = Moments::default();
        for chunk in values.chunks(77) {
            let mut part = Moments::default();
            for value in chunk {
                part.add(*value);
                whole.add(*value);
            }
            parts.merge(&part);
        }
        assert_eq!(parts.count, whole.count);
        assert_eq!((parts.min, parts.max), (whole.min, whole.max));
        assert!((parts.variance() - whole.variance()).abs() < 1e-9);
        let mean = values.iter().sum::<f64>() / 1000.0;
        let plain = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 1000.0;
        assert!((whole.variance() - plain).abs() < 1e-6);
    }
}
