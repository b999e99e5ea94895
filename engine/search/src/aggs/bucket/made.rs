//! Keys that are strings which a script made.

use std::ops::Range;
use std::sync::Arc;

use base::hash::Pieces;

use super::keyed::Keys;
use crate::aggs::choice::Choice;
use crate::aggs::partial::Key;
use crate::aggs::scripted::Board;
use crate::iter::Turn;

/// Documents by the strings of a script.
pub struct ByMade {
    script: usize,
    choice: Option<Arc<Choice>>,
    /// Stands for no string.
    missing: Option<Arc<[u8]>>,
    board: Option<Arc<Board>>,
    numbers: Pieces<Arc<[u8]>, u32>,
    words: Vec<Arc<[u8]>>,
    bytes: usize,
}

impl ByMade {
    /// The strings of script number `script` that `choice` allows.
    pub fn new(script: usize, choice: Option<Arc<Choice>>, missing: Option<Arc<[u8]>>) -> Self {
        let (numbers, words) = (Pieces::default(), Vec::new());
        Self { script, choice, missing, board: None, numbers, words, bytes: 0 }
    }
}

impl Keys for ByMade {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn prepare(&mut self, _: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.board.clone_from(&turn.board);
        true
    }

    fn each<F: FnMut(usize, i64)>(&mut self, docs: &[u32], mut give: F) {
        let Some(board) = self.board.clone() else { return };
        for (at, doc) in docs.iter().enumerate() {
            let Some(made) = board.of(self.script, *doc) else { continue };
            let missing = self.missing.iter().filter(|_| made.texts.is_empty());
            for word in made.texts.iter().chain(missing) {
                if self.choice.as_ref().is_some_and(|choice| !choice.allows_term(word)) {
                    continue;
                }
                let next = self.words.len() as u32;
                let number = match self.numbers.get(word) {
                    Some(number) => *number,
                    None => {
                        // Each word stands here twice, and is there once.
                        self.bytes += word.len() + 2 * size_of::<Arc<[u8]>>() + 32;
                        self.numbers.insert(Arc::clone(word), next);
                        self.words.push(Arc::clone(word));
                        next
                    }
                };
                give(at, i64::from(number));
            }
        }
    }

    fn key(&mut self, key: i64) -> segment::Result<Option<Key>> {
        Ok(Some(Key::Bytes(Arc::clone(&self.words[key as usize]))))
    }
}
