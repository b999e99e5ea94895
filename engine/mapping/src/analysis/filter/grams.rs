//! `common_grams`: a common word is also joined with its neighbours, so that phrases of common words
//! find few documents.

use super::StopWords;
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
    fn stage(&self) -> Box<dyn Stage + '_> {
        Box::new(Joining { of: self, last: None, held: None, gave_pair: false })
    }
}

impl Stage for Joining<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) {
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
            self.give(pair, next);
        }
        self.last = Some((token.term.clone(), token.start, common));
        self.give(token.clone(), next);
    }

    fn end(&mut self, _end: &mut End, next: Next<'_>) {
        // A last word that the pair before it holds is left out.
        if let Some(mut held) = self.held.take()
            && !self.gave_pair
        {
            flat(&mut held);
            next(&mut held);
        }
    }
}

impl Joining<'_> {
    fn give(&mut self, mut token: Tok, next: Next<'_>) {
        if !self.of.query {
            next(&mut token);
            return;
        }
        // A word that a pair follows is part of it.
        let is_pair = token.kind == TokenKind::Gram;
        if let Some(mut before) = self.held.replace(token)
            && !is_pair
        {
            self.gave_pair = before.kind == TokenKind::Gram;
            flat(&mut before);
            next(&mut before);
        }
    }
}

/// A pair stands for its first word in a query.
fn flat(token: &mut Tok) {
    if token.kind == TokenKind::Gram {
        token.inc = 1;
        token.length = 1;
    }
}
