//! The completion suggester: documents whose input begins as the text does, the heaviest first.
//!
//! The terms of a `completion` field say all of it (`mapping::types::completion`): contexts, the analysed
//! input, the input as given; the frequency in a document is its weight and one.

use std::sync::Arc;

use base::FieldNo;
use mapping::types::Completion;
use mapping::types::completion::{CONTEXT_END, SURFACE, WORDS_BYTES_MAX, query_values};
use mapping::{Kind as Type, Mapping};
use segment::{Missing, Need, View};

use super::dictionary::{Awaited, LOOK_TERMS, check};
use super::{Entry, Offer, Suggestion, damaged};
use crate::error::{Error, Kind, Result};
use crate::result::Ranked;
use automaton::{Dfa, levenshtein, regexp};

/// How the text is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// As a beginning.
    Prefix,
    /// As a beginning that may be misspelt.
    Fuzzy {
        /// Most edits; `None` by length.
        edits: Option<u32>,
        /// Swapped neighbours are one edit.
        transpositions: bool,
        /// Shorter texts must be right.
        min_length: u32,
        /// Characters that must be right.
        prefix_length: u32,
    },
    /// As an expression, whose matches are beginnings.
    Regexp(u32),
}

/// A context that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// Values, each with a factor and whether it is a beginning only.
    pub values: Vec<(json::Value, u32, bool)>,
}

/// What a request says.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How the text is read.
    pub form: Form,
    /// Each text once.
    pub skip_duplicates: bool,
    /// What narrows it.
    pub contexts: Vec<Wanted>,
}

/// The words of what was typed take too much memory.
fn too_large(error: mapping::Error) -> Error {
    Error::new(Kind::CircuitBreaking, error.reason)
}

#[derive(Debug)]
pub(super) struct Bound {
    field: FieldNo,
    /// What terms may begin with.
    heads: Vec<Vec<u8>>,
    /// What the analysed input must begin with.
    words: Vec<u8>,
    /// Values asked of each context; a term with any of them matches.
    asked: Vec<Vec<Asked>>,
    /// What the analysed input must match behind the head; `None`: only begin as the head says.
    dfa: Option<Dfa>,
    contexts: Vec<Arc<str>>,
    skip_duplicates: bool,
}

/// A value that is asked of a context.
#[derive(Clone, Debug)]
struct Asked {
    value: Vec<u8>,
    boost: u32,
    /// Longer values match, too.
    prefix: bool,
}

/// Terms that one request looks at, in a segment.
const WALK_MAX: usize = 200_000;

/// Values that may be asked of one context.
const VALUES_MAX: usize = 1_000;

impl Bound {
    pub fn new(suggestion: &Suggestion, options: &Options, mapping: &Mapping) -> Result<Self> {
        let name = &suggestion.field;
        let Some(field) = mapping.lookup(name) else {
            return Err(Error::illegal(format!("no mapping found for field [{name}]")));
        };
        let Type::Completion(kind) = &field.kind else {
            return Err(Error::illegal(format!(
                "Field [{name}] is not a completion suggest field"
            )));
        };
        let analyzer = match &suggestion.analyzer {
            None => Arc::clone(&kind.search_analyzer),
            Some(name) => mapping
                .settings()
                .analysis
                .analyzer(name)
                .cloned()
                .ok_or_else(|| Error::illegal(format!("analyzer [{name}] doesn't exists")))?,
        };
        let mut words = Vec::new();
        let mut dfa = None;
        match &options.form {
            Form::Prefix => kind
                .analyse(&suggestion.text, &analyzer, WORDS_BYTES_MAX, &mut words)
                .map_err(too_large)?,
            Form::Fuzzy { edits, transpositions, min_length, prefix_length } => {
                let mut typed = Vec::new();
                kind.analyse(&suggestion.text, &analyzer, WORDS_BYTES_MAX, &mut typed)
                    .map_err(too_large)?;
                let word = String::from_utf8_lossy(&typed).into_owned();
                let count = word.chars().count();
                let edits = edits.unwrap_or(match count {
                    0..3 => 0,
                    3..6 => 1,
                    _ => 2,
                });
                if edits == 0 || count < *min_length as usize {
                    words = typed;
                } else {
                    let prefix = *prefix_length as usize;
                    let made = levenshtein::automaton(&word, prefix, edits, *transpositions);
                    dfa = Some(
                        made.map_err(|_| Error::illegal(format!("text [{word}] is too long")))?,
                    );
                }
            }
            Form::Regexp(limit) => {
                let made = regexp::automaton(&suggestion.text, regexp::ALL, false, *limit as usize);
                dfa = Some(made.map_err(|fault| Error::illegal(format!("{fault:?}")))?);
            }
        }
        let asked = asked(name, kind, &options.contexts)?;
        let heads = match asked.as_slice() {
            // Words that are none match nothing.
            _ if dfa.is_none() && words.is_empty() && !suggestion.text.is_empty() => Vec::new(),
            [] => vec![words.clone()],
            [one] => one
                .iter()
                .map(|asked| {
                    let mut head = asked.value.clone();
                    if !asked.prefix {
                        head.push(CONTEXT_END);
                        head.extend_from_slice(&words);
                    }
                    head
                })
                .collect(),
            _ => vec![Vec::new()],
        };
        Ok(Self {
            field: field.no,
            heads,
            words,
            asked,
            dfa,
            contexts: kind.contexts.iter().map(|context| Arc::clone(&context.name)).collect(),
            skip_duplicates: options.skip_duplicates,
        })
    }

    pub fn run(
        &self,
        suggestion: &Suggestion,
        view: &View,
        target: u32,
        awaited: Awaited<'_>,
    ) -> Result<Vec<Entry>> {
        let mut entry = Entry {
            text: suggestion.text.clone(),
            length: suggestion.text.encode_utf16().count() as u32,
            ..Entry::default()
        };
        for (number, at) in view.segments.iter().enumerate() {
            let Some(terms) = at.segment.terms(self.field) else { continue };
            for head in &self.heads {
                let mut cursor = terms.cursor();
                let mut seek = Some(head.clone());
                for round in 0..WALK_MAX {
                    if round.is_multiple_of(LOOK_TERMS) {
                        check(awaited)?;
                    }
                    let mut missing = Missing::new();
                    let needed = match &seek {
                        Some(from) => cursor.need(from, &mut missing),
                        None => cursor.need_next(&mut missing),
                    };
                    needed.map_err(|error| damaged(&error))?;
                    missing.fetch();
                    let more = match seek.take() {
                        Some(from) => cursor.seek_ceil(&from),
                        None => cursor.next(),
                    };
                    if !more.map_err(|error| damaged(&error))? || !cursor.term().starts_with(head) {
                        break;
                    }
                    let term = cursor.term().to_vec();
                    let Some((contexts, input, surface)) = self.parts(&term) else {
                        continue;
                    };
                    let Some(boost) = self.boost(&term) else { continue };
                    if !input.starts_with(&self.words) || !self.begins(input) {
                        continue;
                    }
                    let text = String::from_utf8_lossy(surface).into_owned();
                    let info = cursor.info().map_err(|error| damaged(&error))?;
                    let mut postings = terms.postings(&info, Need::Freqs);
                    let mut missing = Missing::new();
                    let all = 0..at.segment.doc_count();
                    postings.need(all, &mut missing).map_err(|error| damaged(&error))?;
                    missing.fetch();
                    let mut doc = postings.next();
                    while doc.get() < at.segment.doc_count() {
                        if at.is_alive(doc) {
                            let weight = u64::from(postings.freq()).saturating_sub(1);
                            let score = weight as f32 * boost as f32;
                            let ranked =
                                Ranked { score, keys: Vec::new(), segment: number as u32, doc };
                            entry.options.push(Offer {
                                text: text.clone(),
                                score,
                                found: Some((target, ranked)),
                                contexts: contexts.clone(),
                                ..Offer::default()
                            });
                        }
                        doc = postings.next();
                    }
                    self.trim(&mut entry.options, suggestion.shard_size as usize);
                }
            }
        }
        self.best(&mut entry.options, suggestion.shard_size as usize);
        Ok(vec![entry])
    }

    /// Keeps the list short while it grows.
    fn trim(&self, options: &mut Vec<Offer>, most: usize) {
        if options.len() > most.saturating_mul(8).max(1_000) {
            self.best(options, most);
        }
    }

    fn best(&self, options: &mut Vec<Offer>, most: usize) {
        order_all(options, self.skip_duplicates);
        options.truncate(most);
    }

    /// The greatest factor of the values asked for that a term has; `None` where it has none.
    fn boost(&self, term: &[u8]) -> Option<u32> {
        if self.asked.is_empty() {
            return Some(1);
        }
        let values = term.split(|byte| *byte == CONTEXT_END).zip(&self.asked);
        let fits = |asked: &&Asked, value: &[u8]| {
            *asked.value == *value || (asked.prefix && value.starts_with(&asked.value))
        };
        let boosts = values.flat_map(|(value, asked)| {
            asked.iter().filter(move |asked| fits(asked, value)).map(|asked| asked.boost)
        });
        boosts.max()
    }

    /// Contexts, analysed input and surface form of a term.
    #[expect(clippy::type_complexity, reason = "three parts of one term")]
    fn parts<'t>(
        &self,
        term: &'t [u8],
    ) -> Option<(Vec<(String, Vec<String>)>, &'t [u8], &'t [u8])> {
        let mut rest = term;
        let mut contexts = Vec::new();
        for name in &self.contexts {
            let end = rest.iter().position(|byte| *byte == CONTEXT_END)?;
            let value = String::from_utf8_lossy(&rest[..end]).into_owned();
            if !value.is_empty() {
                contexts.push((name.to_string(), vec![value]));
            }
            rest = &rest[end + 1..];
        }
        let end = rest.iter().position(|byte| *byte == SURFACE)?;
        Some((contexts, &rest[..end], &rest[end + 1..]))
    }

    /// Does some beginning of the input match?
    fn begins(&self, input: &[u8]) -> bool {
        let Some(dfa) = &self.dfa else { return true };
        if dfa.is_empty() {
            return false;
        }
        let mut state = 0;
        if dfa.states()[0].accept {
            return true;
        }
        let text = String::from_utf8_lossy(input);
        for c in text.chars() {
            match dfa.go(state, u32::from(c)) {
                None => return false,
                Some(next) => state = next,
            }
            if dfa.states()[state as usize].accept {
                return true;
            }
        }
        false
    }
}

/// Values that are asked of each context, in the mapping's order.
fn asked(field: &str, kind: &Completion, wanted: &[Wanted]) -> Result<Vec<Vec<Asked>>> {
    if kind.contexts.is_empty() {
        return match wanted.first() {
            None => Ok(Vec::new()),
            Some(first) => Err(Error::illegal(format!(
                "suggester [{field}] doesn't expect any context: [{}]",
                first.name
            ))),
        };
    }
    if wanted.iter().all(|wanted| wanted.values.is_empty()) {
        return Err(Error::illegal("Missing mandatory contexts in context query"));
    }
    let mut all: Vec<Vec<Asked>> = vec![Vec::new(); kind.contexts.len()];
    for one in wanted {
        let at = kind.contexts.iter().position(|context| *context.name == *one.name);
        let Some(at) = at else {
            let names: Vec<&str> = kind.contexts.iter().map(|context| &*context.name).collect();
            return Err(Error::illegal(format!(
                "Unknown context name [{}], must be one of [{}]",
                one.name,
                names.join(", ")
            )));
        };
        for (value, boost, prefix) in &one.values {
            for value in query_values(&kind.contexts[at], value)? {
                all[at].push(Asked { value, boost: *boost, prefix: *prefix });
            }
        }
        if all[at].len() > VALUES_MAX {
            return Err(Error::illegal(format!("more than {VALUES_MAX} values of a context")));
        }
    }
    Ok(all)
}

/// The heaviest first, ties by text and place; a document once.
fn order_all(options: &mut Vec<Offer>, skip_duplicates: bool) {
    options.sort_by(|a, b| {
        let place = |offer: &Offer| {
            offer.found.as_ref().map(|(target, ranked)| (*target, ranked.segment, ranked.doc.get()))
        };
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.text.cmp(&b.text))
            .then_with(|| place(a).cmp(&place(b)))
    });
    let mut texts = base::hash::Set::default();
    let mut places = base::hash::Set::default();
    options.retain(|offer| {
        let place = offer.found.as_ref().map(|(t, ranked)| (*t, ranked.segment, ranked.doc.get()));
        // A text that was seen before is skipped, a document as well.
        if !places.insert(place) {
            return false;
        }
        let fresh = !skip_duplicates || texts.insert(offer.text.clone());
        if !fresh {
            places.remove(&place);
        }
        fresh
    });
}

pub(super) fn order(options: &mut Vec<Offer>, asked: &Options) {
    order_all(options, asked.skip_duplicates);
}
