//! BM25 in exactly Lucene's arithmetic, times `k1 + 1` as Elasticsearch 8 keeps it.
//!
//! With `k1 = 1.2` and `b = 0.75`, for a term of `n` of the `N` documents that have the field:
//!
//! ```text
//! idf    = ln(1 + (N - n + 0.5) / (n + 0.5))            in f64, then f32; a phrase adds the f32s in f64
//! avgdl  = sum of term frequencies / N                  in f64, then f32
//! inv    = 1 / (k1 * ((1 - b) + b * dl / avgdl))        in f32, for each of 256 norms
//! weight = (boost * (1 + k1)) * idf                     in f32: `LegacyBM25Similarity` folds 2.2 in
//! score  = weight - weight / (1 + freq * inv)           in f32
//! ```
//!
//! `N` and `n` count deleted documents too, as Lucene does, until a merge drops them. The last line
//! is how `BM25Similarity.doScore` (Lucene 9.12) writes `freq / (freq + k1 ...)`: it only grows with
//! `freq` and with `inv`, float for float, and the bounds of `iter` rest on that.
//!
//! A field without norms takes norm 1 (length 1). The norm byte is `SmallFloat.intToByte4`.

use mapping::Similarity;

/// Saturation of the term frequency.
pub const K1: f32 = 1.2;
/// Weight of the length.
pub const B: f32 = 0.75;

/// Above every score of a model; such bounds may be added without becoming infinite.
const NO_BOUND: f32 = 1e30;

/// The norm of a field that keeps none.
pub const NO_NORM: u8 = 1;

/// How often a field and its terms occur in one shard; deleted documents included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldStats {
    /// Documents that have the field.
    pub doc_count: u64,
    /// Terms of the field, each counted as often as it occurs.
    pub term_freq_sum: u64,
}

/// The length that a norm byte stands for (`SmallFloat.byte4ToInt`): exact through 40.
pub const fn length_of(norm: u8) -> u32 {
    const FREE: u32 = 24;
    let norm = norm as u32;
    if norm < FREE {
        return norm;
    }
    let bits = norm - FREE;
    let mantissa = bits & 7;
    match bits >> 3 {
        0 => FREE + mantissa,
        shift => FREE + ((mantissa | 8) << (shift - 1)),
    }
}

/// The norm byte of a length (`SmallFloat.intToByte4`).
pub const fn norm_of(length: u32) -> u8 {
    if length < 24 {
        return length as u8;
    }
    let rest = length - 24;
    let bits = 32 - rest.leading_zeros();
    if bits < 4 {
        return (24 + rest) as u8;
    }
    let shift = bits - 4;
    (24 + (((shift + 1) << 3) | ((rest >> shift) & 7))) as u8
}

const LENGTHS: [f32; 256] = {
    let mut lengths = [0.0; 256];
    let mut norm = 0;
    while norm < 256 {
        lengths[norm] = length_of(norm as u8) as f32;
        norm += 1;
    }
    lengths
};

/// Inverse document frequency of one term.
pub fn idf(doc_count: u64, doc_freq: u64) -> f32 {
    let (all, with) = (doc_count as f64, doc_freq as f64);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln() as f32
}

/// Inverse document frequency of several terms that stand for one: their sum.
pub fn idf_sum(doc_count: u64, doc_freqs: impl IntoIterator<Item = u64>) -> f32 {
    doc_freqs.into_iter().map(|freq| f64::from(idf(doc_count, freq))).sum::<f64>() as f32
}

/// Mean length of a field.
pub fn average_length(stats: FieldStats) -> f32 {
    (stats.term_freq_sum as f64 / stats.doc_count as f64) as f32
}

/// `1 / (k1 * ((1 - b) + b * dl / avgdl))` for each norm.
pub type Inverses = [f32; 256];

/// The inverse of each norm, for a field of this mean length.
pub fn inverses(average: f32) -> Inverses {
    inverses_of(Similarity::default(), average)
}

/// The inverse of each norm, for a field of this mean length. Boolean scores are those of a frequency
/// without bound: what is there counts whole. A model takes the norm itself.
pub fn inverses_of(similarity: Similarity, average: f32) -> Inverses {
    match similarity {
        Similarity::Bm25 { k1, b } => {
            LENGTHS.map(|length| 1.0 / (k1 * ((1.0 - b) + b * length / average)))
        }
        Similarity::Boolean => [f32::INFINITY; 256],
        Similarity::Model(_) => std::array::from_fn(|norm| norm as f32),
    }
}

/// The factor of one term or phrase: no score is above it.
pub fn weight_of(similarity: Similarity, boost: f32, idf: f32) -> f32 {
    match similarity {
        Similarity::Bm25 { k1, .. } => (boost * (1.0 + k1)) * idf,
        Similarity::Boolean => boost,
        Similarity::Model(_) => NO_BOUND,
    }
}

/// The factor of one term or phrase.
pub fn weight(boost: f32, idf: f32) -> f32 {
    (boost * (1.0 + K1)) * idf
}

/// The score of one term (or phrase) in one document.
#[inline(always)]
pub fn score(weight: f32, freq: f32, inverse: f32) -> f32 {
    weight - weight / (1.0 + freq * inverse)
}

/// Scores of documents with these frequencies, whose inverses stand in `out`: the kernel of dense
/// scoring.
#[inline]
pub fn scores(weight: f32, freqs: &[u32], out: &mut [f32]) {
    for (slot, freq) in out.iter_mut().zip(freqs) {
        *slot = weight - weight / (1.0 + *freq as f32 * *slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_hold_lengths_to_four_bits() {
        for length in 0..=40 {
            assert_eq!(length_of(norm_of(length)), length);
        }
        let mut last = None;
        for norm in 0..=255u8 {
            let length = length_of(norm);
            assert!(last < Some(length), "lengths grow with their norm");
            assert_eq!(norm_of(length), norm);
            last = Some(length);
        }
    }

    #[test]
    fn three_equal_documents_score_as_in_elasticsearch() {
        // `the quick brown fox` three times, term `quick`: Elasticsearch 8 answers 0.13353139, for
        // the phrase `quick brown` twice that, with boost 3 three times.
        let idf = idf(3, 3);
        assert_eq!(idf, 0.133_531_39);
        let inverse = inverses(average_length(FieldStats { doc_count: 3, term_freq_sum: 12 }))[4];
        assert_eq!(score(weight(1.0, idf), 1.0, inverse), 0.133_531_39);
        let pair = idf_sum(3, [3, 3]);
        assert_eq!(pair, 0.267_062_78);
        assert_eq!(score(weight(1.0, pair), 1.0, inverse), 0.267_062_78);
        assert!((score(weight(3.0, idf), 1.0, inverse) - 3.0 * 0.133_531_39).abs() < 1e-7);
    }

    #[test]
    fn a_keyword_scores_its_idf() {
        let inverse = inverses(1.0)[NO_NORM as usize];
        let idf = idf(4, 1);
        assert_eq!(idf, 1.203_972_8);
        assert!((score(weight(1.0, idf), 1.0, inverse) - 1.203_972_8).abs() < 2e-7);
    }

    #[test]
    fn scores_never_fall_with_frequency_or_inverse() {
        let table = inverses(57.3);
        for boost in [0.1f32, 1.0, 7.5] {
            let weight = weight(boost, idf(1000, 17));
            for norm in 1..=255u8 {
                let mut last = 0.0;
                for freq in 1..200 {
                    let now = score(weight, freq as f32, table[norm as usize]);
                    assert!(now >= last);
                    last = now;
                    let longer = score(weight, freq as f32, table[norm.saturating_add(1) as usize]);
                    assert!(longer <= now);
                }
            }
        }
    }

    #[test]
    fn the_kernel_is_the_formula() {
        let table = inverses(12.5);
        let freqs: Vec<u32> = (1..=128).collect();
        let norms: Vec<u8> = (0..128).map(|at| (at * 2) as u8).collect();
        let mut out: Vec<f32> = norms.iter().map(|norm| table[*norm as usize]).collect();
        scores(3.25, &freqs, &mut out);
        for at in 0..128 {
            assert_eq!(out[at], score(3.25, freqs[at] as f32, table[norms[at] as usize]));
        }
    }
}
