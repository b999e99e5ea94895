//! Scores by models that count words: DFR, DFI, IB and two language models, in Lucene's arithmetic
//! (`SimilarityBase` and what extends it, 9.12): doubles, and the result as a float.
//!
//! ```text
//! N, T     documents that have the field, and its words           (deleted documents count)
//! n, F     documents that hold the term, and how often it is there
//! tf, dl   frequency in the document, and length of the field there
//! ```
//!
//! Always true
//! 1. A phrase scores the sum of what its terms would with the phrase's frequency, added as floats.
//! 2. A score grows with the frequency and falls with the length, so the best of a block's
//!    (frequency, length) pairs bounds the block; [`Curve::bound`] leaves room for rounding.

use mapping::similarity::{
    AfterEffect, Basic, Distribution, Independence, Lambda, Model, Normalization,
};

use super::bm25::{FieldStats, length_of};

/// How common a term is in a shard; deleted documents included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermCount {
    /// Documents that hold it.
    pub docs: u64,
    /// How often it is there.
    pub times: u64,
}

/// Scores of one term, or of one phrase of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    model: Model,
    boost: f64,
    field: FieldStats,
    terms: Box<[TermCount]>,
}

impl Curve {
    /// The scores of terms of a field by a model.
    pub fn new(model: Model, boost: f32, field: FieldStats, terms: &[TermCount]) -> Self {
        Self { model, boost: f64::from(boost), field, terms: terms.into() }
    }

    /// What each of its terms scores from.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.terms.iter().map(|term| Part { curve: self, term: *term })
    }

    /// The score of a frequency in a field whose length this norm stands for.
    pub fn score(&self, freq: f32, norm: u8) -> f32 {
        let length = f64::from(length_of(norm));
        match &*self.terms {
            [term] => Part { curve: self, term: *term }.score(f64::from(freq), length),
            _ => self.parts().map(|part| part.score(f64::from(freq), length)).sum(),
        }
    }

    /// At least the score.
    pub fn bound(&self, freq: f32, norm: u8) -> f32 {
        self.score(freq, norm) * (1.0 + 4.0 * f32::EPSILON)
    }
}

/// One term of a curve.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    curve: &'a Curve,
    term: TermCount,
}

fn log2(x: f64) -> f64 {
    x.ln() / std::f64::consts::LN_2
}

impl Part<'_> {
    /// The model.
    pub fn model(&self) -> &Model {
        &self.curve.model
    }

    /// Documents that have the field.
    pub fn doc_count(&self) -> f64 {
        self.curve.field.doc_count as f64
    }

    /// Words of the field.
    pub fn tokens(&self) -> f64 {
        self.curve.field.term_freq_sum as f64
    }

    /// How common the term is.
    pub fn term(&self) -> TermCount {
        self.term
    }

    /// Factor of the score.
    pub fn boost(&self) -> f64 {
        self.curve.boost
    }

    /// Mean length of the field.
    pub fn average(&self) -> f64 {
        self.tokens() / self.doc_count()
    }

    /// The score of a frequency in a field of some length.
    pub fn score(&self, freq: f64, length: f64) -> f32 {
        let boost = self.curve.boost;
        (match self.curve.model {
            Model::Dfr(basic, after, normalization) => {
                let tfn = self.tfn(normalization, freq, length);
                boost * self.basic(basic, tfn, self.after(after))
            }
            Model::Dfi(independence) => {
                let expected = self.expected(length);
                match freq <= expected {
                    true => 0.0,
                    false => boost * log2(independence_of(independence, freq, expected) + 1.0),
                }
            }
            Model::Ib(distribution, lambda, normalization) => {
                let tfn = self.tfn(normalization, freq, length);
                boost * distribution_of(distribution, tfn, self.lambda(lambda))
            }
            Model::Dirichlet(mu) => {
                let mu = f64::from(mu);
                let score = boost
                    * ((1.0 + freq / (mu * self.probability())).ln() + (mu / (length + mu)).ln());
                if score > 0.0 { score } else { 0.0 }
            }
            Model::JelinekMercer(lambda) => {
                // `1 - lambda` is a float in Lucene.
                let (rest, lambda) = (f64::from(1.0 - lambda), f64::from(lambda));
                boost * (1.0 + (rest * freq / length) / (lambda * self.probability())).ln()
            }
        }) as f32
    }

    /// That a word of the field is this one.
    pub fn probability(&self) -> f64 {
        (self.term.times as f64 + 1.0) / (self.tokens() + 1.0)
    }

    /// How often the term is expected in a field of some length.
    pub fn expected(&self, length: f64) -> f64 {
        (self.term.times as f64 + 1.0) * length / (self.tokens() + 1.0)
    }

    /// The frequency as it counts in a field of some length.
    pub fn tfn(&self, normalization: Normalization, freq: f64, length: f64) -> f64 {
        match normalization {
            Normalization::No => freq,
            Normalization::H1(c) => freq * f64::from(c) * (self.average() / length),
            Normalization::H2(c) => freq * log2(1.0 + f64::from(c) * self.average() / length),
            Normalization::H3(mu) => {
                // Lucene divides floats here.
                let part = (self.term.times as f32 + 1.0) / (self.tokens() as f32 + 1.0);
                (freq + f64::from(mu * part)) / (length + f64::from(mu)) * f64::from(mu)
            }
            Normalization::Z(z) => freq * (self.average() / length).powf(f64::from(z)),
        }
    }

    /// Expected documents of a term that is spread evenly.
    pub fn expected_docs(&self) -> f64 {
        let n = self.doc_count();
        n * (1.0 - ((n - 1.0) / n).powf(self.term.times as f64))
    }

    fn basic(&self, basic: Basic, tfn: f64, after: f64) -> f64 {
        let (n, times) = (self.doc_count(), self.term.times as f64);
        let a = match basic {
            Basic::G => {
                let f = times + 1.0;
                let lambda = f / (n + f);
                // -log2(1 / (lambda + 1)) and log2((1 + lambda) / lambda), so that a frequency that
                // grows never scores less.
                let (a, b) = (log2(lambda + 1.0), log2((1.0 + lambda) / lambda));
                return (b - (b - a) / (1.0 + tfn)) * after;
            }
            Basic::If => log2(1.0 + (n + 1.0) / (times + 0.5)),
            Basic::In => log2((n + 1.0) / (self.term.docs as f64 + 0.5)),
            Basic::Ine => log2((n + 1.0) / (self.expected_docs() + 0.5)),
        };
        a * after * (1.0 - 1.0 / (1.0 + tfn))
    }

    /// The after effect, times one more than the frequency.
    pub fn after(&self, after: AfterEffect) -> f64 {
        match after {
            AfterEffect::L => 1.0,
            AfterEffect::B => {
                let (f, n) = (self.term.times as f64 + 1.0, self.term.docs as f64 + 1.0);
                (f + 1.0) / n
            }
        }
    }

    /// The parameter of a distribution; a float in Lucene, and never 1.
    pub fn lambda(&self, lambda: Lambda) -> f64 {
        let (count, of_one): (u64, fn(f32) -> f32) = match lambda {
            Lambda::Df => (self.term.docs, f32::next_down),
            Lambda::Ttf => (self.term.times, f32::next_up),
        };
        let lambda = ((count as f64 + 1.0) / (self.doc_count() + 1.0)) as f32;
        f64::from(if lambda == 1.0 { of_one(lambda) } else { lambda })
    }

    /// What the basic model alone says, as it is explained.
    pub fn basic_alone(&self, basic: Basic, after: AfterEffect, tfn: f64) -> f64 {
        let after = self.after(after);
        self.basic(basic, tfn, after) * (1.0 + tfn) / after
    }
}

/// How far a frequency is from the expected one.
pub fn independence_of(independence: Independence, freq: f64, expected: f64) -> f64 {
    match independence {
        Independence::Standardized => (freq - expected) / expected.sqrt(),
        Independence::Saturated => (freq - expected) / expected,
        Independence::ChiSquared => (freq - expected) * (freq - expected) / expected,
    }
}

/// What a distribution says of a frequency.
pub fn distribution_of(distribution: Distribution, tfn: f64, lambda: f64) -> f64 {
    match distribution {
        Distribution::Ll => -(lambda / (tfn + lambda)).ln(),
        Distribution::Spl => {
            let mut q = 1.0 - 1.0 / (tfn + 1.0);
            if q == 1.0 {
                q = 1.0f64.next_down();
            }
            let mut pow = lambda.powf(q);
            if pow == lambda {
                // By rounding; the logarithm would have no bound.
                pow = if lambda < 1.0 { lambda.next_up() } else { lambda.next_down() };
            }
            (-((pow - lambda) / (1.0 - lambda)).ln()).max(0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELD: FieldStats = FieldStats { doc_count: 1100, term_freq_sum: 3000 };
    const TERM: TermCount = TermCount { docs: 100, times: 130 };

    fn models() -> Vec<Model> {
        let norms = [
            Normalization::No,
            Normalization::H1(1.0),
            Normalization::H2(3.0),
            Normalization::H3(800.0),
            Normalization::Z(0.3),
        ];
        let mut models = vec![Model::Dirichlet(2000.0), Model::JelinekMercer(0.1)];
        for norm in norms {
            for basic in [Basic::G, Basic::If, Basic::In, Basic::Ine] {
                models.push(Model::Dfr(basic, AfterEffect::B, norm));
                models.push(Model::Dfr(basic, AfterEffect::L, norm));
            }
            for lambda in [Lambda::Df, Lambda::Ttf] {
                models.push(Model::Ib(Distribution::Ll, lambda, norm));
                models.push(Model::Ib(Distribution::Spl, lambda, norm));
            }
        }
        models.push(Model::Dfi(Independence::Standardized));
        models.push(Model::Dfi(Independence::Saturated));
        models.push(Model::Dfi(Independence::ChiSquared));
        models
    }

    #[test]
    fn scores_grow_with_frequency_and_fall_with_length() {
        // What Elasticsearch asks of each similarity before it takes it, by the same figures.
        for model in models() {
            let curve = Curve::new(model, 2.0, FIELD, &[TERM]);
            for norm in 1..=60u8 {
                let mut last = 0.0;
                for freq in 1..=30u8 {
                    let score = curve.score(f32::from(freq), norm);
                    assert!(score.is_finite(), "{model:?} {freq} {norm}");
                    assert!(score >= last, "{model:?} {freq} {norm}: {last} {score}");
                    let bound = curve.bound(f32::from(freq), norm);
                    let longer = curve.score(f32::from(freq), norm + 1);
                    assert!(bound >= longer, "{model:?} {freq} {norm}: {bound} {longer}");
                    last = score;
                }
            }
        }
    }

    #[test]
    fn formulas_are_those_of_the_papers() {
        // tf 2 in a field of 10 words; N 1100, T 3000, n 100, F 130.
        let score = |model| f64::from(Curve::new(model, 1.0, FIELD, &[TERM]).score(2.0, 10));
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-5 * expected.abs(), "{found} {expected}");
        };
        let p = 131.0 / 3001.0;
        let jm = (1.0f64 + (0.9 * 2.0 / 10.0) / (0.1 * p)).ln();
        near(score(Model::JelinekMercer(0.1)), jm);
        let dirichlet = (1.0f64 + 2.0 / (100.0 * p)).ln() + (100.0f64 / 110.0).ln();
        near(score(Model::Dirichlet(100.0)), dirichlet);
        let expected: f64 = 131.0 * 10.0 / 3001.0;
        near(
            score(Model::Dfi(Independence::Saturated)),
            ((2.0 - expected) / expected + 1.0).log2(),
        );
        let average: f64 = 3000.0 / 1100.0;
        let tfn = 2.0 * (1.0 + average / 10.0).log2();
        let lambda: f64 = 101.0 / 1101.0;
        let ib = Model::Ib(Distribution::Ll, Lambda::Df, Normalization::H2(1.0));
        near(score(ib), ((tfn + lambda) / lambda).ln());
        let dfr = Model::Dfr(Basic::In, AfterEffect::L, Normalization::H2(1.0));
        near(score(dfr), (1101.0f64 / 100.5).log2() * tfn / (tfn + 1.0));
    }

    #[test]
    fn a_phrase_is_the_sum_of_its_terms() {
        let other = TermCount { docs: 7, times: 9 };
        for model in models() {
            let one = |term| Curve::new(model, 1.5, FIELD, &[term]).score(3.0, 12);
            let both = Curve::new(model, 1.5, FIELD, &[TERM, other]).score(3.0, 12);
            assert_eq!(both, one(TERM) + one(other), "{model:?}");
        }
    }
}
