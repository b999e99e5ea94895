//! Terms that count together meet a shard: synonyms, phrases with choices, patterns, blended words.

use std::sync::Arc;

use base::FieldNo;

use super::counts::count_of;
use super::weigh::{Node, Weigher};
use crate::error::{Error, Kind};
use crate::iter::term::Weight;
use crate::plan::bind::CLAUSES_MAX;
use crate::plan::bound::{Alike, AlikeWords};
use crate::plan::expand::{Blended, Combined, Expand, MultiPhrase, Rewrite, Synonym};
use crate::plan::function::{Feature, RankForm};
use crate::plan::gather::{Found, key_of};
use crate::plan::minimum;
use crate::plan::places::{Leaf, Places};
use crate::score::bm25::FieldStats;
use crate::score::model::TermCount;

/// Words at places are read twice over: to find documents, and once more with their positions. So much a word
/// counts for beside its own look-up.
const PLACED_LOOKUPS: usize = 2;

impl Weigher<'_> {
    /// As common as the commonest of them (`SynonymQuery`).
    pub(super) fn synonym(
        &mut self,
        synonym: &Synonym,
        boost: f32,
        scored: bool,
    ) -> segment::Result<Node> {
        let mut infos = vec![Vec::new(); self.view.segments.len()];
        let mut most = TermCount::default();
        for term in &synonym.terms {
            let found = self.find(synonym.field, term)?;
            let count = self.freq(synonym.field, term, &found);
            most = TermCount { docs: most.docs.max(count.docs), times: most.times + count.times };
            for (infos, info) in infos.iter_mut().zip(found) {
                infos.extend(info);
            }
        }
        let weight = scored.then(|| {
            let stats = self.stats(synonym.field);
            self.term_weight(synonym.field, boost, most, stats, synonym.norms)
        });
        Ok(Node::Synonym { field: synonym.field, infos, weight })
    }

    pub(super) fn multi_phrase(
        &mut self,
        phrase: &Arc<MultiPhrase>,
        boost: f32,
        scored: bool,
    ) -> segment::Result<Node> {
        let mut places = phrase.places.clone();
        if phrase.prefix.is_some() {
            let found = self.gathered.get(&key_of(phrase)).map_or(&[][..], Vec::as_slice);
            if found.is_empty() {
                return Ok(Node::None);
            }
            if let Some((words, _)) = places.last_mut() {
                *words = found.iter().map(|found| found.term.clone()).collect();
            }
        }
        if let [(words, _)] = places.as_slice() {
            // Of one place each word counts for itself (`MultiPhraseQuery.rewrite`).
            return self.each_of(phrase, words, boost, scored);
        }
        let mut infos = vec![vec![Vec::new(); places.len()]; self.view.segments.len()];
        let mut freqs = Vec::new();
        for (at, (words, _)) in places.iter().enumerate() {
            self.lookups += PLACED_LOOKUPS * words.len();
            for word in words {
                let found = self.find(phrase.field, word)?;
                freqs.push(self.freq(phrase.field, word, &found));
                for (infos, info) in infos.iter_mut().zip(found) {
                    infos[at].extend(info);
                }
            }
        }
        let weight = scored.then(|| {
            let stats = self.stats(phrase.field);
            self.phrase_weight(phrase.field, boost, freqs, stats, phrase.norms)
        });
        let phrase = Arc::new(MultiPhrase { places, prefix: None, ..(**phrase).clone() });
        Ok(Node::MultiPhrase { phrase, infos, weight })
    }

    /// The words of the only place of a phrase, whichever a document has.
    fn each_of(
        &mut self,
        phrase: &MultiPhrase,
        words: &[Box<[u8]>],
        boost: f32,
        scored: bool,
    ) -> segment::Result<Node> {
        if words.len() > CLAUSES_MAX {
            let refusal = format!("maxClauseCount is set to {CLAUSES_MAX}");
            let _ = self.trouble.set(Error::new(Kind::TooManyClauses, refusal));
            return Ok(Node::None);
        }
        self.lookups += words.len();
        let mut nodes = Vec::with_capacity(words.len());
        for word in words {
            let infos = self.find(phrase.field, word)?;
            let count = self.freq(phrase.field, word, &infos);
            let weight = scored.then(|| {
                let stats = self.stats(phrase.field);
                self.term_weight(phrase.field, boost, count, stats, phrase.norms)
            });
            nodes.push(Node::Term { field: phrase.field, term: word.clone(), infos, weight });
        }
        Ok(one_of(nodes))
    }

    /// The terms of a pattern, with all their postings.
    fn terms_of(&mut self, expand: &Arc<Expand>) -> segment::Result<Vec<Found>> {
        let mut found = self.gathered.get(&key_of(expand)).cloned().unwrap_or_default();
        self.lookups += found.len();
        if self.judged {
            for one in &mut found {
                one.infos = self.find(expand.field, &one.term)?;
            }
        }
        Ok(found)
    }

    /// Are the terms of a pattern that takes all more than may be? Then the query is in trouble.
    fn are_too_many(&self, expand: &Expand, found: &[Found], refusal: &str) -> bool {
        let are = expand.rewrite.most().is_none() && found.len() > CLAUSES_MAX;
        if are {
            // The first trouble is told; another would say the same.
            let _ = self.trouble.set(Error::new(Kind::TooManyClauses, refusal));
        }
        are
    }

    pub(super) fn expand(
        &mut self,
        expand: &Arc<Expand>,
        boost: f32,
        scored: bool,
    ) -> segment::Result<Node> {
        let found = self.terms_of(expand)?;
        let refusal = format!("maxClauseCount is set to {CLAUSES_MAX}");
        if self.are_too_many(expand, &found, &refusal) {
            return Ok(Node::None);
        }
        if expand.rewrite == Rewrite::ConstantBoolean {
            let field = expand.field;
            let terms = found.into_iter().map(|Found { term, infos, .. }| Node::Term {
                field,
                term,
                infos,
                weight: None,
            });
            let filter = Box::new(one_of(terms.collect()));
            return Ok(if scored { Node::Constant { filter, score: boost } } else { *filter });
        }
        let freqs: Vec<TermCount> =
            found.iter().map(|it| self.freq(expand.field, &it.term, &it.infos)).collect();
        let most = freqs.iter().map(|count| count.docs).max().unwrap_or(0);
        let mut nodes = Vec::with_capacity(found.len());
        for (Found { term, boost: factor, infos }, own_freq) in found.into_iter().zip(freqs) {
            let own = factor * boost;
            if let Rewrite::TopBoost(_) = expand.rewrite {
                let field = expand.field;
                let filter = Box::new(Node::Term { field, term, infos, weight: None });
                nodes.push(Node::Constant { filter, score: own });
                continue;
            }
            let weight = scored.then(|| {
                let freq = match expand.rewrite {
                    Rewrite::TopBlended(_) => TermCount { docs: most, ..own_freq },
                    _ => own_freq,
                };
                let stats = self.stats(expand.field);
                self.term_weight(expand.field, own, freq, stats, expand.norms)
            });
            nodes.push(Node::Term { field: expand.field, term, infos, weight });
        }
        Ok(one_of(nodes))
    }

    /// A word in several fields: as common in each as in the one where it is commonest, a little
    /// more so where it is rarer (Elasticsearch's `BlendedTermQuery`).
    pub(super) fn blended(
        &mut self,
        blended: &Blended,
        boost: f32,
        scored: bool,
    ) -> segment::Result<Node> {
        let mut found = Vec::with_capacity(blended.terms.len());
        for (term, factor) in &blended.terms {
            let infos = self.find(term.field, &term.term)?;
            let freq = self.freq(term.field, &term.term, &infos);
            found.push((term, *factor, freq, infos));
        }
        let max_doc = u64::from(self.view.max_doc());
        let most = found.iter().map(|(_, _, freq, _)| freq.docs).max().unwrap_or(0);
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(found[*at].2.docs));
        let mut adjusted: Vec<u64> = found.iter().map(|(_, _, freq, _)| freq.docs).collect();
        let (mut actual, mut before) = (most.min(max_doc), most);
        for at in order {
            let (term, _, freq, _) = &found[at];
            if freq.docs == 0 {
                break;
            }
            if before > freq.docs {
                actual += 1;
            }
            adjusted[at] = actual.min(self.stats(term.field).doc_count);
            before = freq.docs;
        }
        let mut clauses = Vec::with_capacity(found.len());
        for ((term, factor, count, infos), docs) in found.into_iter().zip(adjusted) {
            if infos.iter().all(Option::is_none) {
                continue;
            }
            let weight = scored.then(|| {
                let stats = self.stats(term.field);
                let count = TermCount { docs, times: count.times.max(docs) };
                self.term_weight(term.field, factor * boost, count, stats, term.norms)
            });
            let (field, term) = (term.field, term.term.clone());
            clauses.push(Node::Term { field, term, infos, weight });
        }
        Ok(match clauses.len() {
            0 => Node::None,
            1 => clauses.remove(0),
            _ if blended.tie_breaker == 1.0 => one_of(clauses),
            _ => Node::DisMax { clauses, tie_breaker: blended.tie_breaker },
        })
    }

    /// Statistics of all fields together (`CombinedFieldQuery`).
    pub(super) fn combined(
        &mut self,
        combined: &Arc<Combined>,
        boost: f32,
        scored: bool,
    ) -> segment::Result<Node> {
        let mut infos = vec![Vec::new(); self.view.segments.len()];
        let (mut count, mut stats) = (TermCount::default(), FieldStats::default());
        for (at, (field, factor, _)) in combined.fields.iter().enumerate() {
            let own = self.stats(*field);
            stats.doc_count = stats.doc_count.max(own.doc_count);
            let sum = stats.term_freq_sum as f64 + f64::from(*factor) * own.term_freq_sum as f64;
            stats.term_freq_sum = sum as u64;
            for term in &combined.terms {
                let found = self.find(*field, term)?;
                let own = self.freq(*field, term, &found);
                count.docs = count.docs.max(own.docs);
                count.times += own.times;
                for (infos, info) in infos.iter_mut().zip(found) {
                    infos.extend(info.map(|info| (at, info)));
                }
            }
        }
        let weight: Option<Weight> =
            scored.then(|| self.term_weight(FieldNo::ID, boost, count, stats, true));
        Ok(Node::Combined { combined: Arc::clone(combined), infos, weight })
    }
}

impl Weigher<'_> {
    /// Words at places; spans score as the phrase of all their words would.
    pub(super) fn places(&mut self, places: &Arc<Places>, score: f32) -> segment::Result<Node> {
        let count = places.leaves.len();
        let mut infos = vec![vec![Vec::new(); count]; self.view.segments.len()];
        let mut freqs: std::collections::BTreeMap<Box<[u8]>, TermCount> = Default::default();
        for (at, leaf) in places.leaves.iter().enumerate() {
            let (field, found) = match leaf {
                Leaf::Term(field, term) => {
                    let infos = self.find(*field, term)?;
                    (*field, vec![Found { term: term.clone(), boost: 1.0, infos }])
                }
                Leaf::Pattern(expand, refusal) => {
                    let found = self.terms_of(expand)?;
                    if self.are_too_many(expand, &found, refusal) {
                        return Ok(Node::None);
                    }
                    (expand.field, found)
                }
            };
            self.lookups += PLACED_LOOKUPS * found.len();
            for Found { term, infos: found, .. } in found {
                if !places.silent.contains(&at) {
                    let freq = self.freq(field, &term, &found);
                    freqs.insert(term, freq);
                }
                for (infos, info) in infos.iter_mut().zip(found) {
                    infos[at].extend(info);
                }
            }
        }
        let weight = places.spans.map(|(field, norms)| {
            let stats = self.stats(field);
            self.phrase_weight(field, score, freqs.into_values().collect(), stats, norms)
        });
        Ok(Node::Places { places: Arc::clone(places), infos, weight, score })
    }

    /// A feature; without a pivot the mean of its values is one.
    pub(super) fn feature(&mut self, feature: &Feature, score: f32) -> segment::Result<Node> {
        let infos = self.find(feature.field, &feature.term)?;
        let form = feature.form.unwrap_or_else(|| {
            let found = || infos.iter().flatten();
            let docs: u64 = found().map(|info| u64::from(info.doc_freq)).sum();
            let sum: u64 = found().map(|info| info.total_freq).sum();
            let pivot = match docs {
                0 => 1.0,
                docs => mapping::types::feature::decode((sum as f64 / docs as f64) as f32 as u32),
            };
            RankForm::Saturation(pivot)
        });
        Ok(Node::Feature { field: feature.field, infos, form, score })
    }

    /// The words that tell a document best, as many as are wanted of each field.
    pub(super) fn alike(
        &mut self,
        alike: &Alike,
        boost: f32,
        scored: bool,
    ) -> segment::Result<Node> {
        let doc_count =
            self.view.segments.iter().map(|it| u64::from(it.segment.doc_count())).sum::<u64>();
        let mut groups = Vec::with_capacity(alike.groups.len());
        for group in &alike.groups {
            let mut nodes = Vec::new();
            for AlikeWords { field, others, words } in group {
                let mut best = Vec::new();
                // Who does not see all documents is not told by hits in which field most have a word.
                let others = if alike.counted { others.as_slice() } else { &[] };
                for (term, times) in words {
                    let (mut field, mut infos) = (*field, self.find(field.0, term)?);
                    let mut count = count_of(&infos);
                    for other in others {
                        let found = self.find(other.0, term)?;
                        let there = count_of(&found);
                        if there.docs > count.docs {
                            (field, infos, count) = (*other, found, there);
                        }
                    }
                    let freq = count.docs;
                    if alike.counted
                        && (freq == 0 || freq < alike.least_docs || freq > alike.most_docs)
                    {
                        continue;
                    }
                    let idf = match alike.counted {
                        true => ((doc_count + 1) as f64 / (freq + 1) as f64).ln() as f32 + 1.0,
                        false => 1.0,
                    };
                    best.push((*times as f32 * idf, term, infos, count, field));
                }
                best.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
                best.truncate(alike.most_terms);
                let top = best.first().map_or(1.0, |best| best.0);
                for (worth, term, infos, count, (field, norms)) in best {
                    let own = match alike.boost {
                        0.0 => boost,
                        factor => boost * factor * worth / top,
                    };
                    let weight = scored.then(|| {
                        // Words are chosen by the shard, and weighed by all that count together.
                        let count = self.freq_among(field, term, count);
                        let stats = self.stats(field);
                        self.term_weight(field, own, count, stats, norms)
                    });
                    nodes.push(Node::Term { field, term: term.clone(), infos, weight });
                }
            }
            // What is wrong with the number was told when the query met its index.
            let least = minimum::minimum(&alike.minimum, nodes.len()).unwrap_or(0);
            if nodes.is_empty() || least > nodes.len() {
                continue;
            }
            groups.push(match nodes.len() {
                1 => nodes.remove(0),
                _ => Node::Bool {
                    must: Vec::new(),
                    filter: Vec::new(),
                    should: nodes,
                    must_not: Vec::new(),
                    minimum: least,
                },
            });
        }
        Ok(one_of(groups))
    }
}

/// One of several, their scores added.
fn one_of(mut nodes: Vec<Node>) -> Node {
    match nodes.len() {
        0 => Node::None,
        1 => nodes.remove(0),
        _ => Node::Bool {
            must: Vec::new(),
            filter: Vec::new(),
            should: nodes,
            must_not: Vec::new(),
            minimum: 0,
        },
    }
}
