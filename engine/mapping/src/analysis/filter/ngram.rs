//! `ngram` and `edge_ngram`: pieces of each token, with the offsets of the whole.

use crate::analysis::room::{Flow, ON, Room};
use crate::analysis::stage::{End, Fold, Next, Stage};
use crate::analysis::token::Tok;

/// Pieces from everywhere in a token.
#[derive(Debug)]
pub struct Ngram {
    /// Shortest piece, in characters.
    pub min: u32,
    /// Longest piece.
    pub max: u32,
    /// Tokens that are shorter or longer are given whole, too.
    pub preserve_original: bool,
}

/// Pieces from the beginning of a token.
#[derive(Debug)]
pub struct EdgeNgram(pub Ngram);

struct Pieces<'f> {
    of: &'f Ngram,
    edge: bool,
    skipped: u32,
    /// Byte of each character, and the length.
    bounds: Vec<usize>,
    room: &'f Room,
}

/// Bytes that the pieces of `min` to `max` characters have for one of the text: from each place in it, or from
/// one place of a word.
pub(in crate::analysis) fn expansion(min: u32, max: u32, edge: bool) -> u32 {
    let sizes = max.saturating_sub(min).saturating_add(1);
    let mean = (min / 2).saturating_add(max / 2).max(1);
    // No word is long enough for more.
    const WORD_MAX: u32 = 255;
    if edge { sizes.min(WORD_MAX) / 2 + 1 } else { sizes.saturating_mul(mean) }
}

impl Fold for Ngram {
    fn expansion(&self) -> u32 {
        expansion(self.min, self.max, false)
    }

    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(Pieces { of: self, edge: false, skipped: 0, bounds: Vec::new(), room })
    }
}

impl Fold for EdgeNgram {
    fn expansion(&self) -> u32 {
        expansion(self.0.min, self.0.max, true)
    }

    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(Pieces { of: &self.0, edge: true, skipped: 0, bounds: Vec::new(), room })
    }
}

impl Stage for Pieces<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        let (min, max) = (self.of.min as usize, self.of.max as usize);
        let _held = self.room.hold_for(token.term.len(), size_of::<usize>())?;
        self.bounds.clear();
        self.bounds.extend(token.term.char_indices().map(|(at, _)| at));
        self.bounds.push(token.term.len());
        let len = self.bounds.len() - 1;
        let mut inc = token.inc.saturating_add(std::mem::take(&mut self.skipped));
        let whole = std::mem::take(&mut token.term);
        let mut given = false;
        let mut give = |text: &str, next: Next<'_>| {
            let mut piece = Tok { term: text.to_owned(), ..token.clone() };
            piece.inc = std::mem::take(&mut inc);
            given = true;
            next(&mut piece)
        };
        let starts = if self.edge { 1 } else { len };
        for start in 0..starts.min(len) {
            for size in min..=max.min(len - start) {
                give(&whole[self.bounds[start]..self.bounds[start + size]], next)?;
            }
        }
        if self.of.preserve_original && (len < min || len > max) {
            give(&whole, next)?;
        }
        if !given {
            self.skipped = inc;
        }
        ON
    }

    fn end(&mut self, end: &mut End, _next: Next<'_>) -> Flow {
        end.trailing += std::mem::take(&mut self.skipped);
        ON
    }
}
