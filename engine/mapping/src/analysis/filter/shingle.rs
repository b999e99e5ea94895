//! `shingle`: runs of neighbouring tokens, joined.
//!
//! A position without a token holds a filler in the window; a run of fillers alone is not given.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use crate::analysis::room::{Flow, ON, Room};
use crate::analysis::stage::{End, Fold, Next, Shingles, Stage};
use crate::analysis::token::{Tok, TokenKind};

/// The filter.
#[derive(Clone, Debug)]
pub struct Shingle {
    /// Fewest tokens of a run.
    pub min: usize,
    /// Most tokens of a run.
    pub max: usize,
    /// Single tokens are given, too.
    pub unigrams: bool,
    /// … or only where the text is too short for any run.
    pub unigrams_if_none: bool,
    /// Stands between tokens.
    pub separator: String,
    /// Stands for a token that is not there.
    pub filler: String,
    /// What runs are said to be.
    pub kind: TokenKind,
}

struct Window<'f> {
    of: &'f Shingle,
    /// Tokens, and whether they are fillers.
    held: VecDeque<(Tok, bool)>,
    any: bool,
    room: &'f Room,
    /// Bytes of what is held.
    bytes: usize,
}

impl Fold for Shingle {
    fn expansion(&self) -> u32 {
        let words: usize = (self.min..=self.max).fold(1, usize::saturating_add);
        u32::try_from(words).unwrap_or(u32::MAX)
    }

    fn shingles(&self) -> Option<Shingles> {
        let Self { min, max, unigrams, .. } = *self;
        Some(Shingles { min: min as u32, max: max as u32, unigrams })
    }

    fn is_flat(&self) -> bool {
        self.unigrams || self.min != self.max
    }

    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(Window { of: self, held: VecDeque::new(), any: false, room, bytes: 0 })
    }
}

impl Stage for Window<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        let gap = (token.inc.saturating_sub(1) as usize).min(self.of.max - 1);
        for _ in 0..gap {
            let filler = Tok { term: self.of.filler.clone(), end: token.start, ..token.clone() };
            self.take(filler, true, next)?;
        }
        self.take(token.clone(), false, next)
    }

    fn end(&mut self, end: &mut End, next: Next<'_>) -> Flow {
        let gap = (end.trailing as usize).min(self.of.max - 1);
        for _ in 0..gap {
            let mut filler = Tok::new(&self.of.filler, end.offset, end.offset, TokenKind::Word);
            filler.inc = 0;
            self.take(filler, true, next)?;
        }
        // As in Lucene, a window that gives nothing is the last.
        while !self.held.is_empty() && self.give(next)? {}
        ON
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        self.room.give_back(self.bytes);
    }
}

impl Window<'_> {
    fn take(&mut self, token: Tok, filler: bool, next: Next<'_>) -> Flow {
        // Once where it is held, and twice in the longest run.
        self.room.take(3 * token.term.len() + self.of.separator.len())?;
        self.bytes += 3 * token.term.len() + self.of.separator.len();
        self.held.push_back((token, filler));
        if self.held.len() == self.of.max {
            self.give(next)?;
        }
        ON
    }

    /// Gives what begins at the front, and takes the front away; false where that is nothing.
    fn give(&mut self, next: Next<'_>) -> ControlFlow<(), bool> {
        let of = self.of;
        let short = of.unigrams_if_none && !self.any && self.held.len() < of.min;
        let unigrams = of.unigrams || short;
        let mut inc = 1;
        let mut text = String::new();
        let mut real = false;
        for size in 1..=of.max.min(self.held.len()) {
            let (last, filler) = &self.held[size - 1];
            if size > 1 {
                text.push_str(&of.separator);
            }
            text.push_str(&last.term);
            real |= !filler;
            let wanted = if size == 1 { unigrams || of.min == 1 } else { size >= of.min };
            if !wanted || !real {
                continue;
            }
            let length = if unigrams { size } else { (size + 1).saturating_sub(of.min).max(1) };
            let mut made = Tok {
                term: text.clone(),
                inc,
                length: length as u32,
                end: last.end,
                ..self.held[0].0.clone()
            };
            if size > 1 {
                made.kind = of.kind;
                self.any = true;
            }
            inc = 0;
            next(&mut made)?;
        }
        if let Some((token, _)) = self.held.pop_front() {
            let bytes = 3 * token.term.len() + self.of.separator.len();
            self.bytes -= bytes;
            self.room.give_back(bytes);
        }
        ControlFlow::Continue(inc == 0)
    }
}
