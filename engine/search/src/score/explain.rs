//! How the score of one document came about, in Lucene's words.
//!
//! The numbers at the top of each part are those of the scorers themselves; only what they are made
//! of is computed here again. A failing part says what it lacks.

use base::DocId;
use mapping::Mapping;
use segment::{Missing, Need, TermInfo};

use crate::iter::blocks::Blocks;
use crate::iter::build::{self, Context};
use crate::iter::term::Weight;
use crate::iter::{NO_MATCH, Turn};
use crate::plan::bound::{self, Clause};
use crate::plan::show;
use crate::plan::weigh::{Node, Plan};
use crate::request::Rescore;
use crate::result::{Explanation, Number};
use crate::score::{bm25, explain_model};

/// Explains the score of a document of a segment of the plan's view, which is called by a third number: its own, or
/// another where the caller may not know where it stands. `None`: blocks are missing.
pub fn explain(
    plan: &Plan,
    mapping: &Mapping,
    (segment, doc, told): (u32, DocId, i64),
    missing: &mut Missing,
) -> Option<Explained> {
    let number = segment as usize;
    let context = Context { segment: &plan.view.segments[number].segment, number };
    let mut explainer = Explainer { context, mapping, doc: doc.get(), told, missing, waits: false };
    let found = explainer.node(&plan.root, Some(&plan.bound.query));
    if explainer.waits { None } else { Some(found) }
}

/// More clauses are explained on a worker.
const CLAUSES_HERE_MAX: usize = 16;

/// May it take long to [`explain`] a document? Each clause is looked for by itself, for its part and once more for
/// each clause around it; a phrase walks through all of a document.
pub fn is_long(plan: &Plan) -> bool {
    plan.bound.clauses > CLAUSES_HERE_MAX || !is_plain(&plan.root)
}

/// It looks a document up in a few lists.
fn is_plain(node: &Node) -> bool {
    match node {
        Node::None | Node::All { .. } | Node::Term { .. } => true,
        Node::Bool { must, filter, should, must_not, .. } => {
            [must, filter, should, must_not].into_iter().flatten().all(is_plain)
        }
        Node::DisMax { clauses, .. } => clauses.iter().all(is_plain),
        Node::Constant { filter, .. } => is_plain(filter),
        Node::Boosting { positive, negative, .. } => is_plain(positive) && is_plain(negative),
        _ => false,
    }
}

/// A score that became one with a second one; `again` is missing where the rescorer did not look.
pub fn rescored(asked: &Rescore, first: Explained, again: Option<Explained>) -> Explained {
    let value = |explained: &Explained| match explained.explanation.value {
        Number::Float(value) => value,
        Number::Count(value) => value as f32,
    };
    let weighted = |explained: Explained, weight: f32, name: &str| {
        let product = value(&explained) * weight;
        let details = vec![explained.explanation, leaf(Number::Float(weight), name)];
        yes(product, "product of:", details)
    };
    let first = match first.matches {
        true => weighted(first, asked.query_weight, "primaryWeight"),
        false => no("First pass did not match", vec![first.explanation]),
    };
    let Some(again) = again.filter(|again| again.matches) else { return first };
    let again = weighted(again, asked.rescore_weight, "secondaryWeight");
    let score = asked.mode.combine(value(&first), value(&again));
    yes(score, format!("{} of:", asked.mode.name()), vec![first.explanation, again.explanation])
}

/// An explanation, and whether the document matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// It matches.
    pub matches: bool,
    /// Why.
    pub explanation: Explanation,
}

fn yes(value: f32, description: impl Into<String>, details: Vec<Explanation>) -> Explained {
    let value = Number::Float(value);
    let explanation = Explanation { value, description: description.into(), details };
    Explained { matches: true, explanation }
}

fn no(description: impl Into<String>, details: Vec<Explanation>) -> Explained {
    let value = Number::Float(0.0);
    let explanation = Explanation { value, description: description.into(), details };
    Explained { matches: false, explanation }
}

fn leaf(value: Number, description: impl Into<String>) -> Explanation {
    Explanation { value, description: description.into(), details: Vec::new() }
}

struct Explainer<'a> {
    context: Context<'a>,
    mapping: &'a Mapping,
    doc: u32,
    /// What is told of where it stands.
    told: i64,
    missing: &'a mut Missing,
    waits: bool,
}

impl Explainer<'_> {
    /// The score of the document by a node; absent where it does not match.
    fn score(&mut self, node: &Node) -> Option<f32> {
        let mut scorer = build::scorer(node, self.context)?;
        let mut turn = Turn::new(self.missing, u32::MAX, self.context.segment.file().is_resident());
        let docs = [self.doc];
        if !scorer.prepare_probe(&docs, &mut turn) {
            self.waits = true;
            return None;
        }
        let mut scores = [NO_MATCH];
        scorer.probe(&docs, &mut scores);
        Some(scores[0]).filter(|score| *score >= 0.0)
    }

    fn node(&mut self, node: &Node, clause: Option<&Clause>) -> Explained {
        let shown = |explainer: &Self| match clause {
            Some(clause) => show::node(&clause.node, explainer.mapping),
            None => "query".to_owned(),
        };
        match node {
            Node::Term { field, term, infos, weight: Some(weight) } => {
                let text = format!(
                    "{}:{}",
                    show::field(*field, self.mapping),
                    show::term(term, *field, self.mapping)
                );
                let info = infos[self.context.number].as_ref();
                self.term(*field, &text, info, weight)
            }
            Node::Phrase { phrase, infos, weight: Some(weight) } => {
                let text = shown(self);
                let freqs = (0..phrase.terms.len()).map(|at| {
                    let found = infos.iter().flatten().map(|infos| &infos[at]);
                    found.map(|info| u64::from(info.doc_freq)).sum::<u64>()
                });
                let freqs = freqs.collect();
                self.phrase(node, phrase.field, &text, weight, freqs)
            }
            Node::MultiPhrase { phrase, weight: Some(weight), .. } => {
                let text = shown(self);
                self.phrase(node, phrase.field, &text, weight, Vec::new())
            }
            Node::Synonym { weight: Some(weight), field, .. } => {
                let text = shown(self);
                self.summed(node, Some(*field), &text, weight)
            }
            Node::Combined { weight: Some(weight), .. } => {
                let text = shown(self);
                self.summed(node, None, &text, weight)
            }
            Node::Bool { must, filter, should, must_not, minimum } => {
                let parts = [must, filter, should, must_not];
                self.bool(node, parts, *minimum, clause)
            }
            Node::DisMax { clauses, tie_breaker } => {
                let inner = match clause.map(|clause| &clause.node) {
                    Some(bound::Node::DisMax { clauses, .. }) => Some(clauses.as_slice()),
                    _ => None,
                };
                let mut details = Vec::new();
                for (at, node) in clauses.iter().enumerate() {
                    let found = self.node(node, inner.and_then(|inner| inner.get(at)));
                    if found.matches {
                        details.push(found.explanation);
                    }
                }
                match self.score(node) {
                    None => no("No matching clause", details),
                    Some(score) if *tie_breaker == 0.0 => yes(score, "max of:", details),
                    Some(score) => {
                        let tie = json::number::float_to_string(*tie_breaker);
                        yes(score, format!("max plus {tie} times others of:"), details)
                    }
                }
            }
            Node::Function { query, function, .. } => {
                let inner = match clause.map(|clause| &clause.node) {
                    Some(bound::Node::Function(function)) => Some(&function.query),
                    _ => None,
                };
                let found = self.node(query, inner);
                if !found.matches {
                    return found;
                }
                let mode = match function.boost_mode {
                    crate::ast::ScoreMode::First => "replace",
                    mode => mode.name(),
                };
                match self.score(node) {
                    None => {
                        no("Score value is too low, expected at least", vec![found.explanation])
                    }
                    Some(score) => yes(
                        score,
                        format!("function score, boost mode [{mode}] of:"),
                        vec![found.explanation],
                    ),
                }
            }
            Node::ScriptScore { query, site, .. } => {
                let inner = match clause.map(|clause| &clause.node) {
                    Some(bound::Node::ScriptScore(asked)) => Some(&asked.query),
                    _ => None,
                };
                let found = self.node(query, inner);
                match self.score(node) {
                    _ if !found.matches => found,
                    None => {
                        no("Score value is too low, expected at least", vec![found.explanation])
                    }
                    Some(score) => {
                        let source = &site.bound.program.source;
                        let text = format!(
                            "script score function, computed with script:\"Script{{type=inline, \
                             lang='painless', idOrCode='{source}', options={{}}, params={{}}}}\""
                        );
                        let inner = found.explanation;
                        let details = Explanation { description: "_score: ".into(), ..inner };
                        yes(score, text, vec![details])
                    }
                }
            }
            Node::Nested { .. } => match self.score(node) {
                None => no("Not a match", Vec::new()),
                Some(score) => {
                    yes(score, "Score based on child docs in range, best match:", Vec::new())
                }
            },
            Node::None => no(shown(self), Vec::new()),
            node => {
                let text = shown(self);
                match self.score(node) {
                    Some(1.0) => yes(1.0, text, Vec::new()),
                    Some(score) => {
                        let printed = json::number::float_to_string(score);
                        yes(score, format!("{text}^{printed}"), Vec::new())
                    }
                    None => no(format!("{text} doesn't match id {}", self.told), Vec::new()),
                }
            }
        }
    }

    fn term(
        &mut self,
        field: base::FieldNo,
        text: &str,
        info: Option<&TermInfo>,
        weight: &Weight,
    ) -> Explained {
        let (Some(info), Some(terms)) = (info, self.context.segment.terms(field)) else {
            return no("no matching term", Vec::new());
        };
        let mut blocks = Blocks::new(terms.postings(info, Need::Freqs));
        let mut turn = Turn::new(self.missing, u32::MAX, self.context.segment.file().is_resident());
        if !blocks.prepare_probe(&[self.doc], &mut turn) {
            self.waits = true;
            return no("no matching term", Vec::new());
        }
        if !blocks.find(self.doc) {
            return no("no matching term", Vec::new());
        }
        let at = blocks.at;
        let freq = blocks.freq(at) as f32;
        let from = leaf(Number::Float(freq), "freq, occurrences of term within document");
        let idf = idf(weight, weight.origin.doc_freq);
        self.weighted(Some(field), text, weight, freq, from, idf)
    }

    fn phrase(
        &mut self,
        node: &Node,
        field: base::FieldNo,
        text: &str,
        weight: &Weight,
        freqs: Vec<u64>,
    ) -> Explained {
        let Some(score) = self.score(node) else { return no("no matching phrase", Vec::new()) };
        let freq = self.freq_of(Some(field), weight, score);
        let printed = json::number::float_to_string(freq);
        let from = leaf(Number::Float(freq), format!("phraseFreq={printed}"));
        let mut idf_of = leaf(Number::Float(weight.origin.idf), "idf, sum of:");
        idf_of.details = freqs.into_iter().map(|freq| idf(weight, freq)).collect();
        self.weighted(Some(field), text, weight, freq, from, idf_of)
    }

    fn summed(
        &mut self,
        node: &Node,
        field: Option<base::FieldNo>,
        text: &str,
        weight: &Weight,
    ) -> Explained {
        let Some(score) = self.score(node) else { return no("no matching term", Vec::new()) };
        let freq = self.freq_of(field, weight, score);
        let printed = json::number::float_to_string(freq);
        let from = leaf(Number::Float(freq), format!("termFreq={printed}"));
        let idf = idf(weight, weight.origin.doc_freq);
        self.weighted(field, text, weight, freq, from, idf)
    }

    /// The frequency that makes a score: the formula the other way, to the next quarter.
    fn freq_of(&self, field: Option<base::FieldNo>, weight: &Weight, score: f32) -> f32 {
        if let Some(curve) = &weight.curve {
            let norm = if weight.norms { self.norm(field) } else { bm25::NO_NORM };
            return explain_model::freq_of(curve, norm, score);
        }
        let inverse = f64::from(weight.inverse(self.norm(field)));
        let (w, s) = (f64::from(weight.weight), f64::from(score));
        let freq = (w / (w - s) - 1.0) / inverse;
        let near = (freq * 4.0).round() / 4.0;
        if (near - freq).abs() < 1e-3 { near as f32 } else { freq as f32 }
    }

    fn norm(&self, field: Option<base::FieldNo>) -> u8 {
        let norms = field.and_then(|field| self.context.segment.norms(field));
        norms.map_or(bm25::NO_NORM, |norms| norms.get(DocId(self.doc)))
    }

    fn weighted(
        &mut self,
        field: Option<base::FieldNo>,
        text: &str,
        weight: &Weight,
        freq: f32,
        from: Explanation,
        idf: Explanation,
    ) -> Explained {
        let norm = if weight.norms { self.norm(field) } else { bm25::NO_NORM };
        let inverse = weight.inverse(norm);
        let score = weight.score(freq, inverse);
        let told = self.told;
        let text = format!("weight({text} in {told}) [PerFieldSimilarity], result of:");
        if let Some(curve) = &weight.curve {
            return yes(score, text, vec![explain_model::explained(curve, freq, norm, &from)]);
        }
        let length = match norm {
            0..=39 => "dl, length of field",
            _ => "dl, length of field (approximate)",
        };
        let float = |value: f32, text: &str| leaf(Number::Float(value), text);
        let mut tf = float(
            1.0 - 1.0 / (1.0 + freq * inverse),
            "tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:",
        );
        tf.details = vec![
            from,
            float(bm25::K1, "k1, term saturation parameter"),
            float(bm25::B, "b, length normalization parameter"),
            float(bm25::length_of(norm) as f32, length),
            float(weight.origin.average, "avgdl, average length of field"),
        ];
        let printed = json::number::float_to_string(freq);
        let mut inner =
            float(score, &format!("score(freq={printed}), computed as boost * idf * tf from:"));
        inner.details = vec![float(weight.origin.boost * (1.0 + bm25::K1), "boost"), idf, tf];
        yes(score, text, vec![inner])
    }

    fn bool(
        &mut self,
        node: &Node,
        [must, filter, should, must_not]: [&Vec<Node>; 4],
        minimum: usize,
        clause: Option<&Clause>,
    ) -> Explained {
        let inner = match clause.map(|clause| &clause.node) {
            Some(bound::Node::Bool(bool)) => Some(bool),
            _ => None,
        };
        let (mut details, mut failed) = (Vec::new(), false);
        let (mut matched, mut optional) = (0, 0);
        let text = |explainer: &Self, clause: Option<&Clause>| {
            clause.map_or_else(|| "query".into(), |it| show::clause(it, explainer.mapping))
        };
        for (at, node) in must.iter().enumerate() {
            let clause = inner.and_then(|bool| bool.must.get(at));
            let found = self.node(node, clause);
            matched += usize::from(found.matches);
            failed |= !found.matches;
            details.push(match found.matches {
                true => found.explanation,
                false => lacks(&text(self, clause), found.explanation),
            });
        }
        for (at, node) in filter.iter().enumerate() {
            let clause = inner.and_then(|bool| bool.filter.get(at));
            let found = self.node(node, clause);
            matched += usize::from(found.matches);
            failed |= !found.matches;
            details.push(match found.matches {
                true => {
                    let zero = Number::Float(0.0);
                    let mut part = leaf(zero, "match on required clause, product of:");
                    part.details = vec![leaf(zero, "# clause"), found.explanation];
                    part
                }
                false => lacks(&text(self, clause), found.explanation),
            });
        }
        for (at, node) in should.iter().enumerate() {
            let found = self.node(node, inner.and_then(|bool| bool.should.get(at)));
            if found.matches {
                matched += 1;
                optional += 1;
                details.push(found.explanation);
            }
        }
        for (at, node) in must_not.iter().enumerate() {
            let clause = inner.and_then(|bool| bool.must_not.get(at));
            let found = self.node(node, clause);
            if found.matches {
                failed = true;
                let text = text(self, clause);
                let mut part =
                    leaf(Number::Float(0.0), format!("match on prohibited clause ({text})"));
                part.details = vec![found.explanation];
                details.push(part);
            }
        }
        if failed {
            let reason = "Failure to meet condition(s) of required/prohibited clause(s)";
            return no(reason, details);
        }
        if matched == 0 {
            return no("No matching clauses", details);
        }
        if optional < minimum {
            let reason = format!("Failure to match minimum number of optional clauses: {minimum}");
            return no(reason, details);
        }
        match self.score(node) {
            Some(score) => yes(score, "sum of:", details),
            None => no("No matching clauses", details),
        }
    }
}

fn lacks(text: &str, found: Explanation) -> Explanation {
    let mut part = leaf(Number::Float(0.0), format!("no match on required clause ({text})"));
    part.details = vec![found];
    part
}

fn idf(weight: &Weight, doc_freq: u64) -> Explanation {
    let doc_count = weight.origin.doc_count;
    let value = Number::Float(bm25::idf(doc_count, doc_freq));
    let mut idf = leaf(value, "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:");
    idf.details = vec![
        leaf(Number::Count(doc_freq), "n, number of documents containing term"),
        leaf(Number::Count(doc_count), "N, total number of documents with field"),
    ];
    idf
}
