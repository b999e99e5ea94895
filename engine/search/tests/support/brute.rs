//! The plainest reading of a query: document by document, no index, no code of `iter`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use search::ast::{Node, Operator, Query, Scalar, ZeroTerms};

use super::corpus::{Corpus, Doc};

/// Counts over the shard, dead documents included; made once for each thing counted.
pub struct Stats<'a> {
    docs: Vec<&'a Doc>,
    counted: RefCell<BTreeMap<String, f64>>,
}

impl<'a> Stats<'a> {
    pub fn new(corpus: &'a Corpus) -> Self {
        Self { docs: corpus.docs.iter().flatten().collect(), counted: RefCell::default() }
    }

    fn once(&self, name: String, count: impl FnOnce() -> f64) -> f64 {
        if let Some(known) = self.counted.borrow().get(&name) {
            return *known;
        }
        let counted = count();
        self.counted.borrow_mut().insert(name, counted);
        counted
    }

    fn count(&self, name: String, has: impl Fn(&Doc) -> bool) -> f64 {
        self.once(name, || self.docs.iter().filter(|doc| has(doc)).count() as f64)
    }
}

fn idf(all: f64, with: f64) -> f32 {
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln() as f32
}

/// The length that is kept of a length.
fn kept(length: usize) -> f32 {
    if length <= 40 {
        return length as f32;
    }
    let rest = length - 24;
    let shift = rest.ilog2() - 3;
    (24 + ((rest >> shift) << shift)) as f32
}

fn bm25(boost: f32, idf: f32, freq: f32, length: f32, average: f32) -> f32 {
    let weight = boost * 2.2 * idf;
    let norm = 1.0 / (1.2 * (0.25 + 0.75 * length / average));
    weight - weight / (1.0 + freq * norm)
}

fn words<'d>(doc: &'d Doc, field: &str) -> Option<&'d Vec<&'static str>> {
    match field {
        "title" => Some(&doc.title),
        "body" => Some(&doc.body),
        _ => None,
    }
}

fn text_words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_lowercase).collect()
}

impl Stats<'_> {
    fn average(&self, field: &str) -> f32 {
        let lengths = self.once(format!("length {field}"), || {
            self.docs.iter().filter_map(|doc| words(doc, field)).map(Vec::len).sum::<usize>() as f64
        });
        (lengths / self.with_text(field)) as f32
    }

    fn word_idf(&self, field: &str, word: &str) -> f32 {
        let has = |doc: &Doc| words(doc, field).is_some_and(|words| words.contains(&word));
        idf(self.with_text(field), self.count(format!("{field} {word}"), has))
    }

    fn with_text(&self, field: &str) -> f64 {
        let has = |doc: &Doc| words(doc, field).is_some_and(|words| !words.is_empty());
        self.count(format!("with {field}"), has)
    }

    fn word(&self, doc: &Doc, field: &str, word: &str, boost: f32) -> Option<f32> {
        let words = words(doc, field)?;
        let freq = words.iter().filter(|other| **other == word).count();
        if freq == 0 {
            return None;
        }
        let (idf, average) = (self.word_idf(field, word), self.average(field));
        Some(bm25(boost, idf, freq as f32, kept(words.len()), average))
    }

    fn term(&self, doc: &Doc, field: &str, value: &Scalar, boost: f32) -> Option<f32> {
        let text = value.text();
        match field {
            "title" | "body" => self.word(doc, field, text, boost),
            "tags" => {
                if !doc.tags.contains(&text) {
                    return None;
                }
                let all = self.count("tags".into(), |doc| !doc.tags.is_empty());
                let with = self.count(format!("tags {text}"), |doc| doc.tags.contains(&text));
                let pairs = self.once("pairs".into(), || {
                    let each = self.docs.iter().map(|doc| {
                        let mut tags = doc.tags.clone();
                        tags.sort_unstable();
                        tags.dedup();
                        tags.len()
                    });
                    each.sum::<usize>() as f64
                });
                let average = (pairs / all) as f32;
                Some(bm25(boost, idf(all, with), 1.0, 1.0, average))
            }
            "stag" => doc.tags.contains(&text).then_some(boost),
            "flag" => {
                let wanted = text == "true";
                if !doc.flag.contains(&wanted) {
                    return None;
                }
                let all = self.count("flag".into(), |doc| !doc.flag.is_empty());
                let with = self.count(format!("flag {wanted}"), |doc| doc.flag.contains(&wanted));
                Some(bm25(boost, idf(all, with), 1.0, 1.0, 1.0))
            }
            "n" | "cn" => {
                let number: f64 = text.parse().expect("a number");
                doc.n.iter().any(|n| *n as f64 == number).then_some(boost)
            }
            "price" => {
                let number: f64 = text.parse().expect("a number");
                doc.price.contains(&number).then_some(boost)
            }
            _ => None,
        }
    }

    fn phrase(
        &self,
        doc: &Doc,
        field: &str,
        query: &[String],
        slop: u32,
        boost: f32,
    ) -> Option<f32> {
        let all = words(doc, field)?;
        assert_eq!(slop, 0, "the plain reading knows no slop");
        let starts = 0..all.len().saturating_sub(query.len() - 1);
        let freq =
            starts.filter(|start| query.iter().zip(&all[*start..]).all(|(a, b)| a == b)).count();
        if freq == 0 {
            return None;
        }
        let idf: f64 = query.iter().map(|word| f64::from(self.word_idf(field, word))).sum();
        Some(bm25(boost, idf as f32, freq as f32, kept(all.len()), self.average(field)))
    }

    /// The score of a document, where it matches.
    pub fn score(&self, doc: &Doc, query: &Query, outer: f32) -> Option<f32> {
        let boost = query.boost * outer;
        match &query.node {
            Node::MatchAll => Some(boost),
            Node::MatchNone => None,
            Node::Term(term) => self.term(doc, &term.field, &term.value, boost),
            Node::Match(query) => {
                if words(doc, &query.field).is_none() {
                    return self.term(doc, &query.field, &query.query, boost);
                }
                let words = text_words(query.query.text());
                if words.is_empty() {
                    return (query.zero_terms == ZeroTerms::All).then_some(boost);
                }
                let found: Vec<Option<f32>> =
                    words.iter().map(|word| self.word(doc, &query.field, word, boost)).collect();
                let matched = found.iter().flatten().count();
                let needed = match (&query.minimum_should_match, query.operator) {
                    (_, Operator::And) => words.len(),
                    (None, Operator::Or) => 1,
                    (Some(text), Operator::Or) => {
                        let needed = text.parse::<i64>().expect("a plain number");
                        if words.len() == 1 {
                            1
                        } else {
                            let all = words.len() as i64;
                            (if needed < 0 { all + needed } else { needed }).max(1) as usize
                        }
                    }
                };
                (matched >= needed).then(|| sum(found.iter().flatten()))
            }
            Node::Phrase(phrase) => {
                let query = text_words(phrase.query.text());
                match query.as_slice() {
                    [] => None,
                    [word] => self.word(doc, &phrase.field, word, boost),
                    words => self.phrase(doc, &phrase.field, words, phrase.slop, boost),
                }
            }
            Node::Terms(terms) => terms
                .values
                .iter()
                .any(|value| self.term(doc, &terms.field, value, 1.0).is_some())
                .then_some(boost),
            Node::Range(range) => {
                let inside = |value: f64| {
                    let bound = |bound: &search::ast::Bound| -> f64 {
                        bound.value.text().parse().expect("a number")
                    };
                    range.lower.as_ref().is_none_or(|lower| {
                        if lower.inclusive { value >= bound(lower) } else { value > bound(lower) }
                    }) && range.upper.as_ref().is_none_or(|upper| {
                        if upper.inclusive { value <= bound(upper) } else { value < bound(upper) }
                    })
                };
                let matches = match range.field.as_str() {
                    "n" | "cn" => doc.n.iter().any(|n| inside(*n as f64)),
                    "price" => doc.price.iter().any(|price| inside(*price)),
                    "day" => doc.day.iter().any(|day| inside(*day as f64)),
                    "tags" | "stag" => doc.tags.iter().any(|tag| {
                        range.lower.as_ref().is_none_or(|lower| {
                            let text = lower.value.text();
                            if lower.inclusive { *tag >= text } else { *tag > text }
                        }) && range.upper.as_ref().is_none_or(|upper| {
                            let text = upper.value.text();
                            if upper.inclusive { *tag <= text } else { *tag < text }
                        })
                    }),
                    _ => false,
                };
                matches.then_some(boost)
            }
            Node::Exists(field) => {
                let there = match field.as_str() {
                    "title" => !doc.title.is_empty(),
                    "body" => !doc.body.is_empty(),
                    "tags" | "stag" => !doc.tags.is_empty(),
                    "n" | "cn" => !doc.n.is_empty(),
                    "price" => !doc.price.is_empty(),
                    "flag" => !doc.flag.is_empty(),
                    "day" => !doc.day.is_empty(),
                    _ => false,
                };
                there.then_some(boost)
            }
            Node::Ids(ids) => ids.contains(&doc.id).then_some(boost),
            Node::Prefix(prefix) => self
                .any_word(doc, &prefix.field, |word| word.starts_with(&prefix.value))
                .then_some(boost),
            Node::Wildcard(shape) => {
                let (head, tail) = shape.value.split_once('*').expect("one star");
                self.any_word(doc, &shape.field, |word| {
                    word.len() >= head.len() + tail.len()
                        && word.starts_with(head)
                        && word.ends_with(tail)
                })
                .then_some(boost)
            }
            Node::Bool(bool) => {
                let mut total = 0.0;
                for clause in &bool.must {
                    total += f64::from(self.score(doc, clause, boost)?);
                }
                for clause in &bool.filter {
                    self.score(doc, clause, 1.0)?;
                }
                if bool.must_not.iter().any(|clause| self.score(doc, clause, 1.0).is_some()) {
                    return None;
                }
                let found: Vec<f32> = bool
                    .should
                    .iter()
                    .filter_map(|clause| self.score(doc, clause, boost))
                    .collect();
                let required = !bool.must.is_empty() || !bool.filter.is_empty();
                let mut needed = match &bool.minimum_should_match {
                    Some(text) => text.parse::<i64>().expect("a plain number").max(0) as usize,
                    None => 0,
                };
                let empty = !required && bool.should.is_empty() && bool.must_not.is_empty();
                if empty {
                    return Some(boost);
                }
                match bool.should.is_empty() {
                    false if !required => needed = needed.max(1),
                    // Nothing but exclusions: made whole without its minimum.
                    true if !required => needed = 0,
                    _ => {}
                }
                (found.len() >= needed)
                    .then(|| (total + found.iter().map(|s| f64::from(*s)).sum::<f64>()) as f32)
            }
            Node::Constant(filter) => self.score(doc, filter, 1.0).map(|_| boost),
            Node::DisMax(dis_max) => {
                let found: Vec<f32> =
                    dis_max.queries.iter().filter_map(|q| self.score(doc, q, boost)).collect();
                let best = found.iter().copied().reduce(f32::max)?;
                let all: f64 = found.iter().map(|score| f64::from(*score)).sum();
                let others = all - f64::from(best);
                Some((f64::from(best) + others * f64::from(dis_max.tie_breaker)) as f32)
            }
            Node::Boosting(boosting) => {
                let score = self.score(doc, &boosting.positive, 1.0)?;
                let factor = match self.score(doc, &boosting.negative, 1.0) {
                    Some(_) => boosting.negative_boost,
                    None => 1.0,
                };
                Some(score * factor * boost)
            }
            other => unreachable!("not asked here: {other:?}"),
        }
    }

    fn any_word(&self, doc: &Doc, field: &str, matches: impl Fn(&str) -> bool) -> bool {
        match field {
            "tags" | "stag" => doc.tags.iter().any(|tag| matches(tag)),
            _ => words(doc, field).is_some_and(|words| words.iter().any(|word| matches(word))),
        }
    }
}

fn sum<'a>(scores: impl Iterator<Item = &'a f32>) -> f32 {
    scores.map(|score| f64::from(*score)).sum::<f64>() as f32
}
