//! `common_grams`: a common word is also joined with its neighbours, so that phrases of common words
//! find few documents.

use super::StopWords;
use crate::analysis::room::{Flow, ON, Room};
use crate::analysis::stage::{End, Fold, Next, Stage};
use crate::analysis::token::{Tok, TokenKind};

/// The filter.
#[derive(Debug)]
pub struct CommonGrams {
    /// The common words.
    pub words: StopWords,
    /// For queries: single words that a pair holds are left out.
    pub query: bool,
}

struct Joining<'f> {
    of: &'f CommonGrams,
    /// The token before: its text, start, and whether it is common.
    last: Option<(String, u32, bool)>,
    /// For queries: what comes next, unless a pair follows.
    held: Option<Tok>,
    /// For queries: what was given last was a pair.
    gave_pair: bool,
}

impl Fold for CommonGrams {
    fn expansion(&self) -> u32 {
        // A pair is two words.
        if self.query { 2 } else { 3 }
    }

    fn stage<'s>(&'s self, _room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(Joining { of: self, last: None, held: None, gave_pair: false })
    }
}

impl Stage for Joining<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        let common = self.of.words.contains(&token.term);
        if let Some((text, start, was_common)) = self.last.take()
            && (was_common || common)
        {
            let pair = Tok {
                term: format!("{text}_{}", token.term),
                inc: 0,
                length: 2,
                start,
                end: token.end,
                kind: TokenKind::Gram,
                keyword: false,
            };
            self.give(pair, next)?;
        }
        self.last = Some((token.term.clone(), token.start, common));
        self.give(token.clone(), next)
    }

    fn end(&mut self, _end: &mut End, next: Next<'_>) -> Flow {
        // A last word that the pair before it holds is left out.
        if let Some(mut held) = self.held.take()
            && !self.gave_pair
        {
            flat(&mut held);
            return next(&mut held);
        }
        ON
    }
}

impl Joining<'_> {
    fn give(&mut self, mut token: Tok, next: Next<'_>) -> Flow {
        if !self.of.query {
            return next(&mut token);
        }
        // A word that a pair follows is part of it.
        let is_pair = token.kind == TokenKind::Gram;
        if let Some(mut before) = self.held.replace(token)
            && !is_pair
        {
            self.gave_pair = before.kind == TokenKind::Gram;
            flat(&mut before);
            return next(&mut before);
        }
        ON
    }
}

/// A pair stands for its first word in a query.
fn flat(token: &mut Tok) {
    if token.kind == TokenKind::Gram {
        token.inc = 1;
        token.length = 1;
    }
}
