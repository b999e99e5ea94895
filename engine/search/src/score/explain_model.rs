//! How the score of a model came about, in Lucene's words.

use mapping::similarity::{AfterEffect, Basic, Distribution, Lambda, Model, Normalization};

use super::bm25::length_of;
use super::model::{Curve, Part, distribution_of, independence_of};
use crate::result::{Explanation, Number};

/// The explanation of a score: of its one term, or of all, whose scores are added. `from` says where
/// the frequency comes from.
pub(super) fn explained(curve: &Curve, freq: f32, norm: u8, from: &Explanation) -> Explanation {
    let parts: Vec<Explanation> = curve.parts().map(|part| one(&part, freq, norm, from)).collect();
    match <[Explanation; 1]>::try_from(parts) {
        Ok([only]) => only,
        Err(parts) => with(curve.score(freq, norm), "sum of:", parts),
    }
}

/// The frequency that makes a score, to the next quarter: scores grow with it.
pub(super) fn freq_of(curve: &Curve, norm: u8, score: f32) -> f32 {
    let (mut low, mut high) = (0.0f32, 1e6f32);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if curve.score(middle, norm) < score { low = middle } else { high = middle }
    }
    let near = (high * 4.0).round() / 4.0;
    if (near - high).abs() < 1e-3 * near.max(1.0) { near } else { high }
}

fn leaf(value: f64, description: impl Into<String>) -> Explanation {
    with(value as f32, description, Vec::new())
}

fn count(value: u64, description: &str) -> Explanation {
    Explanation {
        value: Number::Count(value),
        description: description.into(),
        details: Vec::new(),
    }
}

fn with(value: f32, description: impl Into<String>, details: Vec<Explanation>) -> Explanation {
    Explanation { value: Number::Float(value), description: description.into(), details }
}

const F: &str = "F, total number of occurrences of term across all docs";
const N: &str = "N, total number of documents with field";
const DL: &str = "dl, length of field";

fn one(part: &Part<'_>, freq: f32, norm: u8, from: &Explanation) -> Explanation {
    let length = f64::from(length_of(norm));
    let score = part.score(f64::from(freq), length);
    let printed = json::number::float_to_string(freq);
    let head = |class: &str, how: &str| format!("score({class}, freq={printed}), {how}");
    let freq = f64::from(freq);
    let term = part.term();
    let mut details = Vec::new();
    let mut boost = |name: &str| {
        if part.boost() != 1.0 {
            details.push(leaf(part.boost(), name));
        }
    };
    match *part.model() {
        Model::Dfr(basic, after, normalization) => {
            boost("boost, query boost");
            details.push(normalized(part, normalization, freq, length));
            let tfn = part.tfn(normalization, freq, length);
            details.push(self::basic(part, basic, after, tfn));
            details.push(self::after(part, after, tfn));
            let how = "computed as boost * basicModel.score(stats, tfn) * afterEffect.score(stats, \
                       tfn) from:";
            with(score, head("DFRSimilarity", how), details)
        }
        Model::Dfi(independence) => {
            let expected = part.expected(length);
            if freq <= expected {
                return leaf(0.0, head("DFISimilarity", "equals to 0"));
            }
            let below = with(
                expected as f32,
                "expected, computed as (F + 1) * dl / (T + 1) from:",
                vec![
                    count(term.times, F),
                    leaf(length, DL),
                    count(part.tokens() as u64, "T, total number of tokens in the field"),
                ],
            );
            let measure = with(
                independence_of(independence, freq, expected) as f32,
                "measure, computed as independence.score(freq, expected) from:",
                vec![from.clone(), below],
            );
            let how = "computed as boost * log2(measure + 1) from:";
            let details = vec![leaf(part.boost(), "boost, query boost"), measure];
            with(score, head("DFISimilarity", how), details)
        }
        Model::Ib(distribution, lambda, normalization) => {
            boost("boost, query boost");
            details.push(normalized(part, normalization, freq, length));
            details.push(self::lambda(part, lambda));
            let tfn = part.tfn(normalization, freq, length) as f32;
            let name = match distribution {
                Distribution::Ll => "DistributionLL",
                Distribution::Spl => "DistributionSPL",
            };
            let value = distribution_of(distribution, f64::from(tfn), part.lambda(lambda));
            details.push(leaf(value, name));
            let how = "computed as boost * distribution.score(stats, normalization.tfn(stats, freq, \
                       docLen), lambda.lambda(stats)) from:";
            with(score, head("IBSimilarity", how), details)
        }
        Model::Dirichlet(mu) => {
            boost("query boost");
            let mu = f64::from(mu);
            let p = part.probability();
            details.push(leaf(mu, "mu"));
            details.push(with(
                (1.0 + freq / (mu * p)).ln() as f32,
                "term weight, computed as log(1 + freq /(mu * P)) from:",
                vec![
                    leaf(freq, "freq, number of occurrences of term in the document"),
                    leaf(p, "P, probability that the current term is generated by the collection"),
                ],
            ));
            details.push(leaf(
                (mu / (length + mu)).ln(),
                "document norm, computed as log(mu / (dl + mu))",
            ));
            details.push(leaf(length, DL));
            details.push(leaf(p, "collection probability"));
            let how = "computed as boost * (term weight + document norm) from:";
            with(score, head("LMDirichletSimilarity", how), details)
        }
        Model::JelinekMercer(lambda) => {
            boost("boost");
            let p = part.probability();
            details.push(leaf(f64::from(lambda), "lambda"));
            details.push(leaf(
                p,
                "P, probability that the current term is generated by the collection",
            ));
            details.push(leaf(freq, "freq, number of occurrences of term in the document"));
            details.push(leaf(length, DL));
            details.push(leaf(p, "collection probability"));
            let how = "computed as boost * log(1 + ((1 - lambda) * freq / dl) /(lambda * P)) from:";
            with(score, head("LMJelinekMercerSimilarity", how), details)
        }
    }
}

fn normalized(
    part: &Part<'_>,
    normalization: Normalization,
    freq: f64,
    length: f64,
) -> Explanation {
    let (class, how, factor) = match normalization {
        Normalization::No => return leaf(freq, "no normalization"),
        Normalization::H1(c) => ("H1", "tf * c * (avgfl / fl)", (c, "c, hyper-parameter")),
        Normalization::H2(c) => ("H2", "tf * log2(1 + c * avgfl / fl)", (c, "c, hyper-parameter")),
        Normalization::H3(mu) => {
            let how = "(tf + mu * ((F+1) / (T+1))) / (fl + mu) * mu";
            ("H3", how, (mu, "mu, smoothing parameter"))
        }
        Normalization::Z(z) => {
            ("Z", "tf * Math.pow(avgfl / fl, z)", (z, "z, relates to specificity of the language"))
        }
    };
    let mut details = vec![
        leaf(freq, "tf, number of occurrences of term in the document"),
        leaf(f64::from(factor.0), factor.1),
    ];
    match normalization {
        Normalization::H3(_) => details.extend([
            count(part.term().times, F),
            count(part.tokens() as u64, "T, total number of tokens of the field across all docs"),
        ]),
        _ => details
            .push(leaf(part.average(), "avgfl, average length of field across all documents")),
    }
    details.push(leaf(length, "fl, field length of the document"));
    with(
        part.tfn(normalization, freq, length) as f32,
        format!("Normalization{class}, computed as {how} from:"),
        details,
    )
}

fn basic(part: &Part<'_>, basic: Basic, after: AfterEffect, tfn: f64) -> Explanation {
    let frequency = leaf(tfn, "tfn, normalized term frequency");
    let docs = || leaf(part.doc_count(), N);
    let times = || leaf(part.term().times as f64, F);
    let value = part.basic_alone(basic, after, tfn) as f32;
    let (class, how, details) = match basic {
        Basic::G => {
            let f = part.term().times as f64 + 1.0;
            let lambda = with(
                (f / (part.doc_count() + f)) as f32,
                "lambda, computed as F / (N + F) from:",
                vec![times(), docs()],
            );
            let how = "log2(lambda + 1) + tfn * log2((1 + lambda) / lambda)";
            ("G", how, vec![frequency, lambda])
        }
        Basic::If => {
            ("IF", "tfn * log2(1 + (N + 1) / (F + 0.5))", vec![frequency, docs(), times()])
        }
        Basic::In => {
            let own = leaf(part.term().docs as f64, "n, number of documents containing term");
            ("In", "tfn * log2((N + 1) / (n + 0.5))", vec![frequency, docs(), own])
        }
        Basic::Ine => {
            let ne = with(
                part.expected_docs() as f32,
                "ne, computed as N * (1 - Math.pow((N - 1) / N, F)) from:",
                vec![times(), docs()],
            );
            ("Ine", "tfn * log2((N + 1) / (ne + 0.5))", vec![frequency, ne])
        }
    };
    with(value, format!("BasicModel{class}, computed as {how} from:"), details)
}

fn after(part: &Part<'_>, after: AfterEffect, tfn: f64) -> Explanation {
    let frequency = leaf(tfn, "tfn, normalized term frequency");
    let value = (part.after(after) / (1.0 + tfn)) as f32;
    match after {
        AfterEffect::L => {
            with(value, "AfterEffectL, computed as 1 / (tfn + 1) from:", vec![frequency])
        }
        AfterEffect::B => with(
            value,
            "AfterEffectB, computed as (F + 1) / (n * (tfn + 1)) from:",
            vec![
                frequency,
                count(
                    part.term().times + 1,
                    "F, total number of occurrences of term across all documents + 1",
                ),
                count(part.term().docs + 1, "n, total number of documents containing term + 1"),
            ],
        ),
    }
}

fn lambda(part: &Part<'_>, lambda: Lambda) -> Explanation {
    let (class, how, own) = match lambda {
        Lambda::Df => (
            "DF",
            "(n + 1) / (N + 1)",
            count(part.term().docs, "n, number of documents containing term"),
        ),
        Lambda::Ttf => (
            "TTF",
            "(F + 1) / (N + 1)",
            count(part.term().times, "F, total number of occurrences of term across all documents"),
        ),
    };
    with(
        part.lambda(lambda) as f32,
        format!("Lambda{class}, computed as {how} from:"),
        vec![own, count(part.doc_count() as u64, N)],
    )
}

#[cfg(test)]
mod tests {
    use super::super::bm25::FieldStats;
    use mapping::similarity::Independence;

    use super::super::model::TermCount;
    use super::*;

    #[test]
    fn an_explanation_tells_the_score_and_finds_the_frequency() {
        let field = FieldStats { doc_count: 50, term_freq_sum: 400 };
        let terms = [TermCount { docs: 5, times: 8 }, TermCount { docs: 9, times: 9 }];
        let from = leaf(2.0, "freq");
        for model in [
            Model::Dfr(Basic::G, AfterEffect::B, Normalization::H3(800.0)),
            Model::Dfr(Basic::Ine, AfterEffect::L, Normalization::Z(0.3)),
            Model::Dfi(Independence::ChiSquared),
            Model::Ib(Distribution::Spl, Lambda::Ttf, Normalization::H1(1.0)),
            Model::Dirichlet(10.0),
            Model::JelinekMercer(0.1),
        ] {
            let one = Curve::new(model, 2.0, field, &terms[..1]);
            let told = explained(&one, 2.0, 6, &from);
            assert_eq!(told.value, Number::Float(one.score(2.0, 6)), "{model:?}");
            assert!(told.description.contains("freq=2.0"), "{}", told.description);
            assert_eq!(freq_of(&one, 6, one.score(2.0, 6)), 2.0, "{model:?}");
            let both = Curve::new(model, 2.0, field, &terms);
            let told = explained(&both, 2.0, 6, &from);
            assert_eq!((told.description.as_str(), told.details.len()), ("sum of:", 2));
        }
    }
}
