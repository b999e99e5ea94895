//! `matrix_stats`: moments of several fields, and how they hang together.
//!
//! One pass with running means (Pébay, "Formulas for robust, one-pass parallel computation of
//! covariances and arbitrary-order statistical moments").

/// Moments of fields over documents that have them all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Documents.
    pub count: u64,
    /// Means.
    pub means: Vec<f64>,
    /// Second to fourth moments about the mean.
    pub seconds: Vec<f64>,
    /// Third.
    pub thirds: Vec<f64>,
    /// Fourth.
    pub fourths: Vec<f64>,
    /// Products of distances from the means: row by row, above the diagonal.
    pub products: Vec<f64>,
}

impl Matrix {
    /// Nothing but zeros, of so many fields.
    fn new(fields: usize) -> Self {
        let zeros = || vec![0.0; fields];
        Self {
            count: 0,
            means: zeros(),
            seconds: zeros(),
            thirds: zeros(),
            fourths: zeros(),
            products: vec![0.0; fields * fields],
        }
    }

    /// What it takes beside its own place.
    pub fn bytes(fields: usize) -> usize {
        (4 + fields) * fields * size_of::<f64>()
    }

    /// Adds a document; the first makes room for its fields.
    pub fn add(&mut self, values: &[f64]) {
        if self.count == 0 {
            *self = Self { means: values.to_vec(), count: 1, ..Self::new(values.len()) };
            return;
        }
        // As `merge`, with another that is one document: it has no moments yet.
        let na = self.count as f64;
        let n = na + 1.0;
        let deltas: Vec<f64> = values.iter().zip(&self.means).map(|(b, a)| b - a).collect();
        for (row, a) in self.products.chunks_exact_mut(values.len()).zip(&deltas) {
            let weight = a * na / n;
            row.iter_mut().zip(&deltas).for_each(|(product, b)| *product += weight * b);
        }
        for (i, &d) in deltas.iter().enumerate() {
            let (a2, a3) = (self.seconds[i], self.thirds[i]);
            self.fourths[i] += d.powi(4) * na * (na * na - na + 1.0) / n.powi(3)
                + 6.0 * d * d * a2 / (n * n)
                - 4.0 * d * a3 / n;
            self.thirds[i] += d.powi(3) * na * (na - 1.0) / (n * n) - 3.0 * d * a2 / n;
            self.seconds[i] += d * d * na / n;
            self.means[i] += d / n;
        }
        self.count += 1;
    }

    /// Adds other documents.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        let (na, nb) = (self.count as f64, other.count as f64);
        let n = na + nb;
        let fields = self.means.len();
        let deltas: Vec<f64> = other.means.iter().zip(&self.means).map(|(b, a)| b - a).collect();
        for i in 0..fields {
            for j in 0..fields {
                self.products[i * fields + j] +=
                    other.products[i * fields + j] + deltas[i] * deltas[j] * na * nb / n;
            }
        }
        for (i, &d) in deltas.iter().enumerate() {
            let (a2, b2) = (self.seconds[i], other.seconds[i]);
            let (a3, b3) = (self.thirds[i], other.thirds[i]);
            self.fourths[i] += other.fourths[i]
                + d.powi(4) * na * nb * (na * na - na * nb + nb * nb) / n.powi(3)
                + 6.0 * d * d * (na * na * b2 + nb * nb * a2) / (n * n)
                + 4.0 * d * (na * b3 - nb * a3) / n;
            self.thirds[i] +=
                b3 + d.powi(3) * na * nb * (na - nb) / (n * n) + 3.0 * d * (na * b2 - nb * a2) / n;
            self.seconds[i] += b2 + d * d * na * nb / n;
            self.means[i] += d * nb / n;
        }
        self.count += other.count;
    }

    /// Variance of a sample.
    pub fn variance(&self, field: usize) -> f64 {
        self.seconds[field] / (self.count as f64 - 1.0)
    }

    /// How lopsided.
    pub fn skewness(&self, field: usize) -> f64 {
        (self.count as f64).sqrt() * self.thirds[field] / self.seconds[field].powf(1.5)
    }

    /// How pointed.
    pub fn kurtosis(&self, field: usize) -> f64 {
        self.count as f64 * self.fourths[field] / (self.seconds[field] * self.seconds[field])
    }

    /// Covariance of two fields of a sample.
    pub fn covariance(&self, a: usize, b: usize) -> f64 {
        self.products[a * self.means.len() + b] / (self.count as f64 - 1.0)
    }

    /// Correlation of two fields.
    pub fn correlation(&self, a: usize, b: usize) -> f64 {
        if a == b {
            return 1.0;
        }
        self.covariance(a, b) / (self.variance(a).sqrt() * self.variance(b).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole_and_the_plain_formulas_hold() {
        let rows: Vec<[f64; 2]> =
            (0..200).map(|n| [f64::from(n * n % 37), f64::from(n * 7 % 19) - 4.0]).collect();
        let mut whole = Matrix::default();
        let mut parts = Matrix::default();
        for chunk in rows.chunks(31) {
            let mut part = Matrix::default();
            for row in chunk {
                whole.add(row);
                part.add(row);
            }
            parts.merge(&part);
        }
        let n = rows.len() as f64;
        let mean = |f: usize| rows.iter().map(|row| row[f]).sum::<f64>() / n;
        let moment = |f: usize, power: i32| {
            rows.iter().map(|row| (row[f] - mean(f)).powi(power)).sum::<f64>()
        };
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
        for matrix in [&whole, &parts] {
            for f in 0..2 {
                close(matrix.means[f], mean(f));
                close(matrix.variance(f), moment(f, 2) / (n - 1.0));
                close(matrix.skewness(f), n.sqrt() * moment(f, 3) / moment(f, 2).powf(1.5));
                close(matrix.kurtosis(f), n * moment(f, 4) / moment(f, 2).powi(2));
            }
            let products: f64 =
                rows.iter().map(|row| (row[0] - mean(0)) * (row[1] - mean(1))).sum();
            close(matrix.covariance(0, 1), products / (n - 1.0));
        }
    }
}
