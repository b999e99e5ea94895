//! `cjk_bigram`: neighbouring characters of Chinese, Japanese and Korean, two by two.

use crate::analysis::room::{Flow, ON, Room};
use crate::analysis::stage::{End, Fold, Next, Stage};
use crate::analysis::token::{Tok, TokenKind};

/// The filter.
#[derive(Debug)]
pub struct CjkBigram {
    /// Kinds of tokens that are joined.
    pub kinds: Vec<TokenKind>,
    /// Single characters are given, too.
    pub unigrams: bool,
}

struct Pairing<'f> {
    of: &'f CjkBigram,
    /// Characters that follow each other without a gap, with their offsets.
    run: Vec<(char, u32, u32)>,
    /// The next one to give a pair from.
    at: usize,
    end: u32,
    room: &'f Room,
}

impl Fold for CjkBigram {
    fn expansion(&self) -> u32 {
        if self.unigrams { 3 } else { 2 }
    }

    fn is_flat(&self) -> bool {
        self.unigrams
    }

    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(Pairing { of: self, run: Vec::new(), at: 0, end: 0, room })
    }
}

impl Stage for Pairing<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        if !self.of.kinds.contains(&token.kind) {
            self.flush(next)?;
            return next(token);
        }
        if token.start != self.end {
            self.flush(next)?;
        }
        let _held = self.room.hold_for(token.term.len(), size_of::<(char, u32, u32)>())?;
        let whole = token.end - token.start != token.term.encode_utf16().count() as u32;
        let mut at = token.start;
        for c in token.term.chars() {
            let to = at + c.len_utf16() as u32;
            self.run.push(if whole { (c, token.start, token.end) } else { (c, at, to) });
            at = to;
        }
        self.end = token.end;
        while self.run.len() - self.at > 1 {
            if self.of.unigrams {
                self.single(next)?;
            }
            let (one, start, _) = self.run[self.at];
            let (two, _, end) = self.run[self.at + 1];
            let mut pair = Tok::new("", start, end, TokenKind::Double);
            pair.term.extend([one, two]);
            if self.of.unigrams {
                pair.inc = 0;
                pair.length = 2;
            }
            self.at += 1;
            next(&mut pair)?;
        }
        // Of a long run only the last character is still of use.
        self.run.drain(..self.at.saturating_sub(1));
        self.at = self.at.min(1);
        ON
    }

    fn end(&mut self, _end: &mut End, next: Next<'_>) -> Flow {
        self.flush(next)
    }
}

impl Pairing<'_> {
    fn single(&self, next: Next<'_>) -> Flow {
        let (c, start, end) = self.run[self.at];
        let mut token = Tok::new("", start, end, TokenKind::Single);
        token.term.push(c);
        next(&mut token)
    }

    /// Ends a run: a character without a neighbour is given alone.
    fn flush(&mut self, next: Next<'_>) -> Flow {
        let alone = self.run.len() == 1 && self.at == 0;
        let last = self.of.unigrams && self.run.len() - self.at == 1;
        if !self.run.is_empty() && (alone || last) {
            self.single(next)?;
        }
        self.run.clear();
        self.at = 0;
        ON
    }
}
