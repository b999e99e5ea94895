//! Suggesters: other words for a text that may be misspelt, and ends for one that has just begun.
//!
//! | file         | what                                                     |
//! |--------------|----------------------------------------------------------|
//! | `dictionary` | the terms of a field in one shard                        |
//! | `spelling`   | terms near a word (Lucene's `DirectSpellChecker`)         |
//! | `term`       | words near each word of a text                           |
//! | `phrase`     | whole texts, by how likely their words follow each other |
//! | `completion` | texts that begin as the one given                        |
//!
//! Each shard answers for itself ([`Bound::run`]); [`merge`] joins the answers.

pub mod completion;
pub(crate) mod dictionary;
pub mod phrase;
pub mod spelling;
mod term;

use std::sync::Arc;

use mapping::analysis::Analyzer;
use mapping::{Kind as Type, Mapping};
use segment::View;

pub use dictionary::Awaited;

use crate::error::{Error, Result};
use crate::result::Ranked;

/// One suggestion that a request asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// Its name.
    pub name: String,
    /// What to look at.
    pub text: String,
    /// The field.
    pub field: String,
    /// Cuts the text.
    pub analyzer: Option<String>,
    /// Options wanted.
    pub size: u32,
    /// Options that each shard brings.
    pub shard_size: u32,
    /// What kind of suggester.
    pub kind: Kind,
}

/// The kinds.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Words near each word.
    Term(spelling::Spelling),
    /// Whole texts.
    Phrase(Box<phrase::Options>),
    /// Texts that begin so.
    Completion(Box<completion::Options>),
}

impl Kind {
    /// As typed keys name it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Term(_) => "term",
            Self::Phrase(_) => "phrase",
            Self::Completion(_) => "completion",
        }
    }
}

/// The answer about one part of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The part.
    pub text: String,
    /// Where it begins, in UTF-16 units.
    pub offset: u32,
    /// Its length.
    pub length: u32,
    /// Options at or below this score are none (`phrase`).
    pub cutoff: f64,
    /// What may stand instead, best first.
    pub options: Vec<Offer>,
}

/// What may stand instead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offer {
    /// The text.
    pub text: String,
    /// How good it is.
    pub score: f32,
    /// Documents with it (`term`).
    pub freq: Option<u64>,
    /// The text with what changed marked.
    pub highlighted: Option<String>,
    /// The document (`completion`): which of the shards asked, and where it is.
    pub found: Option<(u32, Ranked)>,
    /// What narrowed it: names and values.
    pub contexts: Vec<(String, Vec<String>)>,
}

/// A suggestion that has met an index.
#[derive(Debug)]
pub struct Bound {
    suggestion: Suggestion,
    meaning: Meaning,
}

#[derive(Debug)]
enum Meaning {
    Term(term::Bound),
    Phrase(phrase::Bound),
    Completion(completion::Bound),
}

impl Bound {
    /// Meets an index.
    ///
    /// # Errors
    /// Belong to each shard of the index.
    pub fn new(suggestion: &Suggestion, mapping: &Mapping) -> Result<Self> {
        let meaning = match &suggestion.kind {
            Kind::Term(_) => Meaning::Term(term::Bound::new(suggestion, mapping)?),
            Kind::Phrase(options) => {
                Meaning::Phrase(phrase::Bound::new(suggestion, options, mapping)?)
            }
            Kind::Completion(options) => {
                Meaning::Completion(completion::Bound::new(suggestion, options, mapping)?)
            }
        };
        Ok(Self { suggestion: suggestion.clone(), meaning })
    }

    /// What one shard says; `target` is its place among those asked.
    ///
    /// # Errors
    /// A text that cannot be used, a damaged segment; nobody waits any more.
    pub fn run(&self, view: &View, target: u32, awaited: Awaited<'_>) -> Result<Vec<Entry>> {
        match &self.meaning {
            Meaning::Term(bound) => bound.run(&self.suggestion, view, awaited),
            Meaning::Phrase(bound) => bound.run(&self.suggestion, view, awaited),
            Meaning::Completion(bound) => bound.run(&self.suggestion, view, target, awaited),
        }
    }
}

/// Joins what the shards say of one suggestion.
pub fn merge(suggestion: &Suggestion, shards: Vec<Vec<Entry>>) -> Vec<Entry> {
    let mut merged: Vec<Entry> = Vec::new();
    for entries in shards {
        for (at, entry) in entries.into_iter().enumerate() {
            match merged.get_mut(at) {
                None => merged.push(entry),
                Some(known) => {
                    known.cutoff = known.cutoff.max(entry.cutoff);
                    for offer in entry.options {
                        join(&mut known.options, offer, &suggestion.kind);
                    }
                }
            }
        }
    }
    for entry in &mut merged {
        match &suggestion.kind {
            Kind::Term(spelling) => term::sort(&mut entry.options, spelling.sort),
            Kind::Phrase(_) => {
                let cutoff = entry.cutoff as f32;
                entry.options.retain(|offer| offer.score > cutoff || cutoff <= f32::MIN_POSITIVE);
                entry
                    .options
                    .sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.text.cmp(&b.text)));
            }
            Kind::Completion(options) => completion::order(&mut entry.options, options),
        }
        entry.options.truncate(suggestion.size as usize);
    }
    merged
}

/// Adds what another shard offers, to the same offer where there is one.
fn join(offers: &mut Vec<Offer>, new: Offer, kind: &Kind) {
    if let Kind::Completion(_) = kind {
        offers.push(new);
        return;
    }
    match offers.iter_mut().find(|known| known.text == new.text) {
        None => offers.push(new),
        Some(known) => {
            known.score = known.score.max(new.score);
            known.freq = known.freq.map(|freq| freq + new.freq.unwrap_or(0));
        }
    }
}

/// The analyzer that a suggestion names, or the field's own for queries.
fn analyzer_of(suggestion: &Suggestion, mapping: &Mapping) -> Result<Arc<Analyzer>> {
    let field = mapping.lookup(&suggestion.field).ok_or_else(|| {
        Error::illegal(format!("no mapping found for field [{}]", suggestion.field))
    })?;
    let registry = &mapping.settings().analysis;
    if let Some(name) = &suggestion.analyzer {
        return registry
            .analyzer(name)
            .cloned()
            .ok_or_else(|| Error::illegal(format!("analyzer [{name}] doesn't exists")));
    }
    Ok(match &field.kind {
        Type::Text(text) => Arc::clone(&text.search_analyzer),
        Type::Keyword(_) => match registry.analyzer("keyword") {
            Some(analyzer) => Arc::clone(analyzer),
            None => Arc::clone(registry.default_analyzer()),
        },
        _ => Arc::clone(registry.default_analyzer()),
    })
}

/// A damaged segment, as a search tells it.
fn damaged(error: &segment::Error) -> Error {
    Error::new(crate::error::Kind::Exception, error.to_string())
}
