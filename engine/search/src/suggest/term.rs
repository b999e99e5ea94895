//! The term suggester: for each word of a text, words that are near and there.

use std::sync::Arc;

use base::FieldNo;
use mapping::Mapping;
use mapping::analysis::{Analyzer, ON, ROOM_BYTES, STOP, Scratch};
use segment::View;

use super::dictionary::{Awaited, Dictionary};
use super::spelling::Sort;
use super::{Entry, Kind, Offer, Suggestion, analyzer_of};
use crate::error::{Error, Result};

/// Words of one text at most.
const WORDS_MAX: usize = 1_000;

#[derive(Debug)]
pub(super) struct Bound {
    field: FieldNo,
    analyzer: Arc<Analyzer>,
}

impl Bound {
    pub fn new(suggestion: &Suggestion, mapping: &Mapping) -> Result<Self> {
        let analyzer = analyzer_of(suggestion, mapping)?;
        let field = mapping.lookup(&suggestion.field).map(|field| field.no);
        let field = field.ok_or_else(|| Error::illegal("no mapping found"))?;
        Ok(Self { field, analyzer })
    }

    pub fn run(
        &self,
        suggestion: &Suggestion,
        view: &View,
        awaited: Awaited<'_>,
    ) -> Result<Vec<Entry>> {
        let Kind::Term(spelling) = &suggestion.kind else { return Ok(Vec::new()) };
        let mut entries = Vec::new();
        let mut scratch = Scratch::default();
        let done = self.analyzer.tokens_with(&suggestion.text, &mut scratch, |token| {
            if entries.len() == WORDS_MAX {
                return STOP;
            }
            entries.push(Entry {
                text: token.term.to_owned(),
                offset: token.start,
                length: token.end - token.start,
                ..Entry::default()
            });
            ON
        });
        if done.lacks_room {
            return Err(Error::too_large("words of a suggestion", ROOM_BYTES));
        }
        let dictionary = Dictionary { view, field: self.field, awaited };
        for entry in &mut entries {
            let near =
                spelling.near(&entry.text, suggestion.shard_size as usize, &dictionary, None)?;
            entry.options = near
                .into_iter()
                .map(|near| Offer {
                    text: near.term,
                    score: near.score,
                    freq: Some(near.stats.docs),
                    ..Offer::default()
                })
                .collect();
        }
        Ok(entries)
    }
}

pub(super) fn sort(options: &mut [Offer], sort: Sort) {
    options.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        let by_freq = b.freq.cmp(&a.freq);
        let order = match sort {
            Sort::Score => by_score.then(by_freq),
            Sort::Frequency => by_freq.then(by_score),
        };
        order.then_with(|| a.text.cmp(&b.text))
    });
}
