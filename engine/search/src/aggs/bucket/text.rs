//! Keys that are the words of a text, read from the source again (`significant_text`).

use std::ops::Range;
use std::sync::Arc;

use base::DocId;
use base::hash::{Pieces, Set};
use mapping::analysis::{ON, STOP, Scratch};
use mapping::document::kept::Kept;
use mapping::{Field, Kind};
use segment::Segment;

use super::keyed::Keys;
use crate::aggs::choice::Choice;
use crate::aggs::partial::Key;
use crate::iter::Turn;

/// Words that must follow one another to make a passage that was seen before.
const PASSAGE_WORDS: usize = 6;

/// Words of one document that are looked at, at most.
const WORDS_MAX: usize = 100_000;

/// Bytes of them, at most.
const WORDS_BYTES_MAX: usize = 16 << 20;

/// Documents by the words of a text.
pub struct ByWord {
    segment: Segment,
    field: Arc<Field>,
    choice: Option<Arc<Choice>>,
    paths: Vec<String>,
    filter_duplicates: bool,
    passages: Set<u64>,
    numbers: Pieces<Box<[u8]>, u32>,
    words: Vec<Box<[u8]>>,
    /// What words and passages take.
    bytes: usize,
}

impl ByWord {
    /// The words of `paths` in the source, as `field` makes them.
    pub fn new(
        segment: Segment,
        field: Arc<Field>,
        choice: Option<Arc<Choice>>,
        paths: Vec<String>,
        filter_duplicates: bool,
    ) -> Self {
        Self {
            segment,
            field,
            choice,
            paths,
            filter_duplicates,
            passages: Set::default(),
            numbers: Pieces::default(),
            words: Vec::new(),
            bytes: 0,
        }
    }

    /// The different words of a document.
    fn words_of(&mut self, doc: u32) -> Vec<u32> {
        let Some(text) = self.segment.stored().and_then(|stored| stored.get(DocId(doc)).ok())
        else {
            return Vec::new();
        };
        let Ok(source) = json::parse(Kept::of(&text).source) else { return Vec::new() };
        let mut texts = Vec::new();
        for path in &self.paths {
            gather(&source, path, &mut texts);
        }
        let field = Arc::clone(&self.field);
        let Kind::Text(kind) = &field.kind else { return Vec::new() };
        let (mut found, mut scratch) = (Vec::new(), Scratch::default());
        for text in texts {
            let mut list: Vec<Box<[u8]>> = Vec::new();
            let mut bytes = 0;
            kind.analyzer.tokens_with(&text, &mut scratch, |token| {
                bytes += token.term.len();
                if list.len() == WORDS_MAX || bytes > WORDS_BYTES_MAX {
                    return STOP;
                }
                list.push(token.term.as_bytes().into());
                ON
            });
            let fresh = self.fresh(&list);
            for (word, fresh) in list.into_iter().zip(fresh) {
                let allowed = self.choice.as_ref().is_none_or(|choice| choice.allows_term(&word));
                if !fresh || !allowed {
                    continue;
                }
                let next = self.words.len() as u32;
                let number = *self.numbers.or_insert(word.clone(), next);
                if number == next {
                    // Each word stands here twice.
                    self.bytes += 2 * (word.len() + size_of::<Box<[u8]>>() + 16) + 16;
                    self.words.push(word);
                }
                found.push(number);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Which words stand in no passage that was seen before.
    fn fresh(&mut self, words: &[Box<[u8]>]) -> Vec<bool> {
        let mut fresh = vec![true; words.len()];
        if !self.filter_duplicates {
            return fresh;
        }
        for (at, passage) in words.windows(PASSAGE_WORDS).enumerate() {
            let joined = passage.join(&b' ');
            let hash = crate::aggs::metric::distinct::hash_bytes(&joined);
            if self.passages.insert(hash) {
                self.bytes += 2 * size_of::<u64>();
            } else {
                fresh[at..at + PASSAGE_WORDS].fill(false);
            }
        }
        fresh
    }
}

/// Texts at a dotted path, arrays walked through.
fn gather(value: &json::Value, path: &str, out: &mut Vec<String>) {
    match value {
        json::Value::Array(values) => values.iter().for_each(|value| gather(value, path, out)),
        json::Value::String(text) if path.is_empty() => out.push(text.clone()),
        json::Value::Number(number) if path.is_empty() => out.push(number.text().to_owned()),
        json::Value::Object(object) => {
            for (name, inner) in object.iter() {
                if name == path {
                    gather(inner, "", out);
                } else if let Some(rest) =
                    path.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'))
                {
                    gather(inner, rest, out);
                }
            }
        }
        _ => {}
    }
}

impl Keys for ByWord {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        if !turn.resident
            && let Some(stored) = self.segment.stored()
        {
            for doc in docs.clone() {
                if stored.need(DocId(doc), turn.missing).is_err() {
                    return true;
                }
            }
        }
        // Reading and analysing a text costs far more than looking at a column.
        turn.spend(docs.len() * 50);
        turn.is_ready()
    }

    fn each<F: FnMut(usize, i64)>(&mut self, docs: &[u32], mut give: F) {
        let mut last: (u32, Vec<u32>) = (u32::MAX, Vec::new());
        for (at, doc) in docs.iter().enumerate() {
            if last.0 != *doc {
                last = (*doc, self.words_of(*doc));
            }
            for word in &last.1 {
                give(at, i64::from(*word));
            }
        }
    }

    fn key(&mut self, key: i64) -> segment::Result<Option<Key>> {
        Ok(Some(Key::Bytes((*self.words[key as usize]).into())))
    }
}
