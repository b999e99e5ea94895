//! What a shard counts: postings of terms, statistics of fields, and the weights made of them.

use std::sync::Arc;

use base::FieldNo;
use mapping::Similarity;
use segment::TermInfo;

use super::weigh::{Among, Weigher};
use crate::iter::term::{Origin, Weight};
use crate::score::bm25::{self, FieldStats};
use crate::score::model::{Curve, TermCount};

/// How common a term is in these segments, dead documents included.
pub(super) fn count_of(infos: &[Option<TermInfo>]) -> TermCount {
    infos.iter().flatten().fold(TermCount::default(), |sum, info| TermCount {
        docs: sum.docs + u64::from(info.doc_freq),
        times: sum.times + info.total_freq,
    })
}

impl Weigher<'_> {
    /// A term's postings in each segment.
    pub(super) fn find(
        &mut self,
        field: FieldNo,
        term: &[u8],
    ) -> segment::Result<Vec<Option<TermInfo>>> {
        self.lookups += 1;
        let mut infos = Vec::with_capacity(self.view.segments.len());
        for segment in &self.view.segments {
            let segment = &segment.segment;
            let Some(terms) = segment.terms(field) else {
                infos.push(None);
                continue;
            };
            if !segment.file().is_resident() {
                terms.need(term, self.missing)?;
                if !self.missing.is_empty() {
                    infos.push(None);
                    continue;
                }
            }
            infos.push(terms.find(term, self.cache)?);
        }
        Ok(infos)
    }

    /// How common a term is.
    pub(super) fn freq(
        &mut self,
        field: FieldNo,
        term: &[u8],
        infos: &[Option<TermInfo>],
    ) -> TermCount {
        self.freq_among(field, term, count_of(infos))
    }

    /// How common a term is, where the shard's own count is known.
    pub(super) fn freq_among(&mut self, field: FieldNo, term: &[u8], own: TermCount) -> TermCount {
        match &mut self.among {
            Among::Alone => own,
            Among::Tell(statistics) => {
                statistics.terms.insert((field, term.into()), own);
                own
            }
            Among::Given(statistics) => {
                statistics.terms.get(&(field, term.into())).copied().unwrap_or(own)
            }
        }
    }

    /// Statistics of a field.
    pub(super) fn stats(&mut self, field: FieldNo) -> FieldStats {
        let view = self.view;
        let own = *self.stats.entry(field).or_insert_with(|| {
            let stats = view.field_stats(field);
            FieldStats { doc_count: stats.doc_count, term_freq_sum: stats.term_freq_sum }
        });
        self.stats_among(field, own)
    }

    /// Statistics of a field, where the shard's own are known.
    pub(super) fn stats_among(&mut self, field: FieldNo, own: FieldStats) -> FieldStats {
        match &mut self.among {
            Among::Alone => own,
            Among::Tell(statistics) => {
                statistics.fields.insert(field, own);
                own
            }
            Among::Given(statistics) => statistics.fields.get(&field).copied().unwrap_or(own),
        }
    }

    /// The weight of a term that is so common.
    pub(super) fn term_weight(
        &mut self,
        field: FieldNo,
        boost: f32,
        term: TermCount,
        stats: FieldStats,
        norms: bool,
    ) -> Weight {
        let idf = bm25::idf(stats.doc_count, term.docs);
        let mut weight = self.weight(field, boost, idf, stats, norms, &[term]);
        weight.origin.doc_freq = term.docs;
        weight
    }

    /// The weight of a phrase of terms that are so common; of those that are nowhere nothing is known.
    pub(super) fn phrase_weight(
        &mut self,
        field: FieldNo,
        boost: f32,
        mut terms: Vec<TermCount>,
        stats: FieldStats,
        norms: bool,
    ) -> Weight {
        terms.retain(|term| term.docs > 0);
        let idf = bm25::idf_sum(stats.doc_count, terms.iter().map(|term| term.docs));
        self.weight(field, boost, idf, stats, norms, &terms)
    }

    pub(super) fn weight(
        &mut self,
        field: FieldNo,
        boost: f32,
        idf: f32,
        stats: FieldStats,
        norms: bool,
        terms: &[TermCount],
    ) -> Weight {
        let average = bm25::average_length(stats);
        let similarity = self.similarities.get(&field).copied().unwrap_or_default();
        let key = match similarity {
            Similarity::Bm25 { k1, b } => (k1.to_bits(), b.to_bits()),
            Similarity::Boolean => (u32::MAX, u32::MAX),
            Similarity::Model(_) => (u32::MAX, u32::MAX - 1),
        };
        let inverses = self
            .inverses
            .entry((average.to_bits(), key))
            .or_insert_with(|| Arc::new(bm25::inverses_of(similarity, average)));
        let doc_count = stats.doc_count;
        let origin = Origin { boost, idf, doc_count, doc_freq: 0, average };
        let curve = match similarity {
            Similarity::Model(model) => Some(Arc::new(Curve::new(model, boost, stats, terms))),
            Similarity::Bm25 { .. } | Similarity::Boolean => None,
        };
        Weight {
            weight: bm25::weight_of(similarity, boost, idf),
            curve,
            inverses: Arc::clone(inverses),
            norms,
            origin,
        }
    }
}
