//! Text in several fields: `multi_match`, `combined_fields`.
//!
//! Fields of `cross_fields` stand together by analyzer; in each group a word is looked for in all
//! fields at once, as common as it is in the field where it is commonest
//! (Elasticsearch's `BlendedTermQuery`).

use std::sync::Arc;

use mapping::analysis::Analyzer;
use mapping::{Field, Kind as Type, Similarity, TextFlavor};

use crate::ast::{self, FuzzyOptions, MultiKind, Operator, ZeroTerms};
use crate::error::{Error, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Clause, Node, Phrase};
use crate::plan::expand::{Blended, Combined};
use crate::plan::fields::{self, Weighted};
use crate::plan::text::{self, Form, Joined, Maker, Places, Search};
use crate::plan::{bind, graph, leaf, words};

/// How a text is looked for in several fields.
#[derive(Clone, Debug)]
pub struct Several<'a> {
    /// Name of the query, for messages.
    pub name: &'static str,
    /// How fields are joined.
    pub kind: MultiKind,
    /// How words are joined.
    pub operator: Operator,
    /// How many must match, as it was written.
    pub minimum: Option<&'a str>,
    /// Analyzer that takes the place of the fields'.
    pub analyzer: Option<&'a str>,
    /// The same, of phrases.
    pub quote_analyzer: Option<&'a str>,
    /// What goes wrong matches nothing.
    pub lenient: bool,
    /// What no word matches.
    pub zero_terms: ZeroTerms,
    /// Share of the scores that are not the best.
    pub tie_breaker: f32,
    /// How far words of a phrase may stand from their places.
    pub slop: u32,
    /// Words near those asked for match too.
    pub fuzzy: &'a FuzzyOptions,
    /// Synonyms of several words are phrases.
    pub synonym_phrases: bool,
}

impl Several<'_> {
    fn joined(&self) -> Joined {
        Joined {
            operator: self.operator,
            prefix: self.kind == MultiKind::BoolPrefix,
            synonym_phrases: self.synonym_phrases,
        }
    }

    /// The text in these fields; `None` where there is none to look in.
    pub fn find(
        &self,
        binder: &mut Binder<'_>,
        fields: &[Weighted],
        text: &str,
    ) -> Result<Option<Clause>> {
        let mut found = match self.kind {
            MultiKind::CrossFields => self.across(binder, fields, text)?,
            _ => self.each(binder, fields, text)?,
        };
        let none = found.iter().position(Clause::is_none);
        if found.len() > 1 && none.is_some() {
            found.retain(|clause| !clause.is_none());
            if found.is_empty() {
                return Ok(Some(Clause::none()));
            }
        }
        Ok(match found.len() {
            0 => None,
            1 => found.pop(),
            _ => Some(binder.best_of(found, self.tie_breaker)?),
        })
    }

    fn each(
        &self,
        binder: &mut Binder<'_>,
        fields: &[Weighted],
        text: &str,
    ) -> Result<Vec<Clause>> {
        let form = match self.kind {
            MultiKind::Phrase => Form::Phrase(self.slop),
            MultiKind::PhrasePrefix => Form::PhrasePrefix(self.slop, self.fuzzy.max_expansions),
            _ => Form::Boolean(self.joined()),
        };
        let mut found = Vec::with_capacity(fields.len());
        for (field, factor) in fields {
            let search = Search {
                name: self.name,
                form: form.clone(),
                analyzer: self.analyzer,
                quote_analyzer: self.quote_analyzer,
                fuzzy: self.fuzzy,
                lenient: self.lenient,
                zero_terms: self.zero_terms,
            };
            let clause = search.in_field(binder, field, text)?;
            let mut clause = text::with_minimum(clause, self.minimum)?;
            if !clause.is_none() {
                clause.boost *= factor;
            }
            binder.count(1)?;
            found.push(clause);
        }
        Ok(found)
    }

    fn across(
        &self,
        binder: &mut Binder<'_>,
        fields: &[Weighted],
        text: &str,
    ) -> Result<Vec<Clause>> {
        let named = text::named(binder, self.name, self.analyzer)?;
        let mut groups: Vec<(Option<Arc<Analyzer>>, Vec<Weighted>)> = Vec::new();
        for (field, factor) in fields {
            let analyzer = named.clone().or_else(|| analyzer_of(field));
            let same = |known: &Option<Arc<Analyzer>>| match (known, &analyzer) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.name() == b.name(),
                (None, None) => true,
                _ => false,
            };
            match groups.iter_mut().find(|(known, _)| same(known)) {
                Some((_, group)) => group.push((Arc::clone(field), *factor)),
                None => groups.push((analyzer, vec![(Arc::clone(field), *factor)])),
            }
        }
        let mut found = Vec::with_capacity(groups.len());
        for (analyzer, group) in groups {
            let words = match &analyzer {
                Some(analyzer) => graph::words(analyzer, text, &mut binder.word_bytes)?,
                None => {
                    vec![graph::Word { term: text.to_owned(), position: 0, length: 1 }]
                }
            };
            let mut maker = Across {
                fields: &group,
                tie_breaker: self.tie_breaker,
                lenient: self.lenient,
                whole: analyzer.is_none(),
            };
            let clause = text::boolean(&mut maker, binder, &words, self.joined())?;
            found.push(match clause {
                None => text::zero(self.zero_terms),
                Some(clause) => text::with_minimum(clause, self.minimum)?,
            });
        }
        Ok(found)
    }
}

/// What makes the words of a field's queries; absent where a value is one word.
fn analyzer_of(field: &Field) -> Option<Arc<Analyzer>> {
    match &field.kind {
        Type::Text(text) => Some(Arc::clone(&text.search_analyzer)),
        _ => None,
    }
}

/// Words of several fields, each in any of them.
struct Across<'a> {
    fields: &'a [Weighted],
    tie_breaker: f32,
    lenient: bool,
    /// The text is one value.
    whole: bool,
}

impl Maker for Across<'_> {
    fn term(&mut self, binder: &mut Binder<'_>, word: &str) -> Result<Clause> {
        let (mut terms, mut others) = (Vec::new(), Vec::new());
        for (field, factor) in self.fields {
            let made = match self.whole {
                true => leaf::text_term(binder, field, word),
                false => leaf::word(binder, field, word),
            };
            match made {
                Ok(Node::Term(term)) => terms.push((term, *factor)),
                Ok(Node::None) => {}
                Ok(node) => others.push(Clause { node, boost: *factor }),
                Err(_) if self.lenient => {}
                Err(error) => return Err(error),
            }
        }
        binder.count(terms.len().saturating_sub(1))?;
        let blended = match terms.len() {
            0 => None,
            1 => terms.pop().map(|(term, boost)| Clause { node: Node::Term(term), boost }),
            _ => {
                bind::check_tie_breaker(self.tie_breaker)?;
                Some(Node::Blended(Blended { terms, tie_breaker: self.tie_breaker }).into())
            }
        };
        if others.is_empty() {
            return Ok(blended.unwrap_or_else(Clause::none));
        }
        others.extend(blended);
        binder.best_of(others, 1.0)
    }

    fn synonyms(&mut self, binder: &mut Binder<'_>, words: &[&str]) -> Result<Clause> {
        let mut some = Vec::with_capacity(words.len());
        for word in words {
            some.push(self.term(binder, word)?);
        }
        binder.best_of(some, 1.0)
    }

    fn prefix(&mut self, binder: &mut Binder<'_>, word: &str) -> Result<Clause> {
        let mut some = Vec::with_capacity(self.fields.len());
        for (field, factor) in self.fields {
            match words::prefix_of(binder, field, word, false, None) {
                Ok(clause) => some.push(Clause { boost: clause.boost * factor, ..clause }),
                Err(_) if self.lenient => {}
                Err(error) => return Err(error),
            }
        }
        binder.best_of(some, self.tie_breaker)
    }

    fn phrase(&mut self, binder: &mut Binder<'_>, phrase: Places) -> Result<Clause> {
        let mut some = Vec::with_capacity(self.fields.len());
        for (field, factor) in self.fields {
            let fuzzy = FuzzyOptions::default();
            let mut maker = text::OneField { field, fuzzy: &fuzzy, lenient: self.lenient };
            let clause = maker.phrase(binder, phrase.clone())?;
            some.push(Clause { boost: clause.boost * factor, ..clause });
        }
        binder.best_of(some, self.tie_breaker)
    }
}

/// `multi_match`.
pub fn multi_match(binder: &mut Binder<'_>, query: &ast::MultiMatch) -> Result<Clause> {
    let default = fields::default_fields(binder);
    let names = if query.fields.is_empty() { &default } else { &query.fields };
    let found = fields::resolve(binder, names, None)?;
    let several = Several {
        name: "multi_match",
        kind: query.kind,
        operator: query.operator,
        minimum: query.minimum_should_match.as_deref(),
        analyzer: query.analyzer.as_deref(),
        quote_analyzer: None,
        lenient: query.lenient.unwrap_or_else(|| fields::has_all(names)),
        zero_terms: query.zero_terms,
        tie_breaker: query.tie_breaker.unwrap_or(query.kind.tie_breaker()),
        slop: query.slop,
        fuzzy: &query.fuzzy,
        synonym_phrases: query.synonym_phrases,
    };
    let clause = several.find(binder, &found, query.query.text())?;
    Ok(clause.unwrap_or_else(|| text::zero(query.zero_terms)))
}

/// `combined_fields`.
pub fn combined_fields(binder: &mut Binder<'_>, query: &ast::CombinedFields) -> Result<Clause> {
    let found = fields::resolve(binder, &query.fields, None)?;
    let mut analyzer: Option<Arc<Analyzer>> = None;
    let mut combined = Vec::with_capacity(found.len());
    for (field, factor) in &found {
        // The family of `text`: no types that keep parts of words or runs of them.
        let text = match &field.kind {
            Type::Text(text) if matches!(text.flavor, TextFlavor::Text | TextFlavor::MatchOnly) => {
                text
            }
            _ => {
                return Err(Error::illegal(format!(
                    "Field [{}] of type [{}] does not support [combined_fields] queries",
                    field.path,
                    field.type_name()
                )));
            }
        };
        leaf::check_indexed(field)?;
        if !matches!(bind::similarity(binder.mapping, field), Similarity::Bm25 { .. }) {
            return Err(Error::illegal(
                "[combined_fields] queries can only be used with the [BM25] similarity",
            ));
        }
        match &analyzer {
            Some(known) if known.name() != text.search_analyzer.name() => {
                return Err(Error::illegal(
                    "All fields in [combined_fields] query must have the same search analyzer",
                ));
            }
            _ => analyzer = Some(Arc::clone(&text.search_analyzer)),
        }
        combined.push((field.no, *factor, text.norms));
    }
    let Some(analyzer) = analyzer else { return Ok(Clause::none()) };
    let words = graph::words(&analyzer, query.query.text(), &mut binder.word_bytes)?;
    let mut maker = Together { fields: &found, combined: &combined };
    let joined =
        Joined { operator: query.operator, prefix: false, synonym_phrases: query.synonym_phrases };
    match text::boolean(&mut maker, binder, &words, joined)? {
        None => Ok(text::zero(query.zero_terms)),
        Some(clause) => text::with_minimum(clause, query.minimum_should_match.as_deref()),
    }
}

/// Words of fields that count as one.
struct Together<'a> {
    fields: &'a [Weighted],
    combined: &'a [(base::FieldNo, f32, bool)],
}

impl Maker for Together<'_> {
    fn term(&mut self, binder: &mut Binder<'_>, word: &str) -> Result<Clause> {
        self.synonyms(binder, &[word])
    }

    fn synonyms(&mut self, binder: &mut Binder<'_>, words: &[&str]) -> Result<Clause> {
        binder.count(words.len() * self.combined.len())?;
        let mut terms: Vec<Box<[u8]>> = words.iter().map(|word| word.as_bytes().into()).collect();
        terms.sort_unstable();
        terms.dedup();
        let combined = Combined { fields: self.combined.to_vec(), terms };
        Ok(Node::Combined(Arc::new(combined)).into())
    }

    fn prefix(&mut self, binder: &mut Binder<'_>, word: &str) -> Result<Clause> {
        self.term(binder, word)
    }

    fn phrase(&mut self, binder: &mut Binder<'_>, phrase: Places) -> Result<Clause> {
        let mut some = Vec::with_capacity(self.fields.len());
        for (field, factor) in self.fields {
            let terms = phrase
                .places
                .iter()
                .flat_map(|(words, at)| words.iter().map(move |word| (word, *at)))
                .map(|(word, at)| (word.as_bytes().into(), at))
                .collect();
            let phrase =
                Phrase { field: field.no, terms, slop: phrase.slop, norms: field.has_norms() };
            some.push(Clause { node: Node::Phrase(phrase), boost: *factor });
        }
        binder.best_of(some, 1.0)
    }
}
