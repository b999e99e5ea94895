//! Numbers of different kinds in one order.
//!
//! A sort must be given a total order: one that contradicts itself makes Rust's sorts panic, and a
//! panic ends the process. Comparing whole numbers as doubles where they meet doubles is no such
//! order: 2⁵³ and 2⁵³ + 1 are both "equal" to the double 2⁵³, and yet differ.

use std::cmp::Ordering;

/// A number of some kind; whole ones of 64 bits, with or without a sign.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// A long, or one without a sign.
    Whole(i128),
    /// A double, or a float made one.
    Real(f64),
}

impl Number {
    /// By value, exactly. Total: a zero with a minus comes before zero, and what is no number at the ends,
    /// as [`f64::total_cmp`] has them.
    pub fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            (Self::Real(a), Self::Real(b)) => a.total_cmp(&b),
            (Self::Whole(a), Self::Real(b)) => beside(a, b),
            (Self::Real(a), Self::Whole(b)) => beside(b, a).reverse(),
        }
    }
}

fn beside(whole: i128, real: f64) -> Ordering {
    if !real.is_finite() {
        return if real.is_sign_positive() { Ordering::Less } else { Ordering::Greater };
    }
    // The cast keeps within the bounds of its type; no whole number here is near them.
    let below = real.trunc();
    whole.cmp(&(below as i128)).then_with(|| 0.0f64.total_cmp(&(real - below))).then_with(|| {
        // Only zero has two signs.
        if real == 0.0 { 0.0f64.total_cmp(&real) } else { Ordering::Equal }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_stand_in_one_total_order() {
        let big = 1i128 << 53;
        let rising = [
            Number::Real(-f64::NAN),
            Number::Real(f64::NEG_INFINITY),
            Number::Real(-1e300),
            Number::Whole(i128::from(i64::MIN)),
            Number::Real(-2.5),
            Number::Whole(-2),
            Number::Real(-0.5),
            Number::Real(-0.0),
            Number::Whole(0),
            Number::Real(0.5),
            Number::Whole(big - 1),
            Number::Whole(big),
            Number::Whole(big + 1),
            Number::Real((big + 2) as f64),
            Number::Whole(i128::from(u64::MAX)),
            Number::Real(18_446_744_073_709_551_616.0),
            Number::Real(1e300),
            Number::Real(f64::INFINITY),
            Number::Real(f64::NAN),
        ];
        for (at, a) in rising.iter().enumerate() {
            for (other, b) in rising.iter().enumerate() {
                assert_eq!(a.order(*b), at.cmp(&other), "{a:?} beside {b:?}");
            }
        }
        for (whole, real) in [(0, 0.0), (big, big as f64), (-7, -7.0)] {
            assert_eq!(Number::Whole(whole).order(Number::Real(real)), Ordering::Equal);
        }
    }
}
