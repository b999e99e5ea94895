//! How much more frequent a value is here than elsewhere (Elasticsearch's heuristics).

use std::cmp::Ordering;

use super::partial::{Bucket, Buckets};
use super::spec::{Heuristic, Significant};

/// Computes the score of each bucket.
pub fn score(sig: &Significant, buckets: &mut Buckets) {
    let (here, elsewhere) = buckets.totals;
    for bucket in &mut buckets.list {
        let (count, background) = (bucket.count as f64, bucket.background as f64);
        let found = one(sig.heuristic, count, here as f64, background, elsewhere as f64);
        bucket.extra = (if found.is_nan() { 0.0 } else { found }, 0.0);
    }
}

/// Most significant first.
pub fn order(a: &Bucket, b: &Bucket) -> Ordering {
    b.extra.0.total_cmp(&a.extra.0).then_with(|| a.key.compare(&b.key))
}

fn one(heuristic: Heuristic, count: f64, here: f64, background: f64, elsewhere: f64) -> f64 {
    if here == 0.0 || elsewhere == 0.0 {
        return 0.0;
    }
    // A value that was deleted elsewhere still counts here.
    let background = if background == 0.0 { 1.0 } else { background };
    let (share, share_elsewhere) = (count / here, background / elsewhere);
    match heuristic {
        Heuristic::Jlh => {
            let change = share - share_elsewhere;
            if change <= 0.0 { 0.0 } else { change * (share / share_elsewhere) }
        }
        Heuristic::Percentage => count / background,
        Heuristic::MutualInformation { include_negatives, superset } => {
            let table = Table::new(count, here, background, elsewhere, superset);
            if !include_negatives && table.is_less() {
                return f64::NEG_INFINITY;
            }
            table.mutual_information()
        }
        Heuristic::ChiSquare { include_negatives, superset } => {
            let table = Table::new(count, here, background, elsewhere, superset);
            if !include_negatives && table.is_less() {
                return f64::NEG_INFINITY;
            }
            let (n11, n10, n01, n00) = (table.n11, table.n10, table.n01, table.n00);
            let n = n11 + n10 + n01 + n00;
            n * (n11 * n00 - n01 * n10).powi(2)
                / ((n11 + n01) * (n11 + n10) * (n10 + n00) * (n01 + n00))
        }
        Heuristic::Gnd { superset } => {
            let table = Table::new(count, here, background, elsewhere, superset);
            let n = table.n11 + table.n10 + table.n01 + table.n00;
            let (term, set) = (table.n11 + table.n10, table.n11 + table.n01);
            if table.n11 == 0.0 {
                return 0.0;
            }
            let distance = (term.max(set).ln() - table.n11.ln()) / (n.ln() - term.min(set).ln());
            (-distance).exp()
        }
    }
}

/// Documents with the value and without it, here (second digit 1) and elsewhere.
struct Table {
    n11: f64,
    n10: f64,
    n01: f64,
    n00: f64,
}

impl Table {
    fn new(count: f64, here: f64, background: f64, elsewhere: f64, superset: bool) -> Self {
        if superset {
            return Self {
                n11: count,
                n10: background - count,
                n01: here - count,
                n00: elsewhere - background - (here - count),
            };
        }
        Self { n11: count, n10: background, n01: here - count, n00: elsewhere - background }
    }

    /// Rarer here than elsewhere.
    fn is_less(&self) -> bool {
        self.n11 / (self.n11 + self.n01) < self.n10 / (self.n10 + self.n00)
    }

    fn mutual_information(&self) -> f64 {
        let n = self.n11 + self.n10 + self.n01 + self.n00;
        let part = |n11: f64, row: f64, column: f64| match n11 == 0.0 {
            true => 0.0,
            false => n11 / n * (n * n11 / (row * column)).log2(),
        };
        let (term, no_term) = (self.n11 + self.n10, self.n01 + self.n00);
        let (here, elsewhere) = (self.n11 + self.n01, self.n10 + self.n00);
        part(self.n11, term, here)
            + part(self.n01, no_term, here)
            + part(self.n10, term, elsewhere)
            + part(self.n00, no_term, elsewhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_as_frequent_everywhere_says_nothing() {
        for heuristic in [
            Heuristic::Jlh,
            Heuristic::MutualInformation { include_negatives: true, superset: true },
            Heuristic::ChiSquare { include_negatives: true, superset: true },
        ] {
            assert!(one(heuristic, 10.0, 100.0, 100.0, 1000.0).abs() < 1e-12, "{heuristic:?}");
            assert!(one(heuristic, 50.0, 100.0, 100.0, 1000.0) > 0.0, "{heuristic:?}");
        }
        assert_eq!(one(Heuristic::Percentage, 50.0, 100.0, 100.0, 1000.0), 0.5);
        assert_eq!(one(Heuristic::Jlh, 50.0, 100.0, 100.0, 1000.0), 0.4 * 5.0);
    }
}
