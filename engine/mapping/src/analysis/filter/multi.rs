//! Filters that give several tokens for one, or let some of several through.

use std::sync::Arc;

use base::hash::Set;

use super::{Filter, StopWords, folded};
use crate::analysis::stage::{End, Fold, Line, Next, Stage};
use crate::analysis::token::Tok;

/// `asciifolding` with `preserve_original`: the folded token, then the one given.
#[derive(Debug)]
pub struct AsciiFoldingKeeping;

impl Fold for AsciiFoldingKeeping {
    fn stage(&self) -> Box<dyn Stage + '_> {
        Box::new(EachOne(|token: &mut Tok, next: Next<'_>| {
            if let Some(folded) = folded(&token.term)
                && folded != token.term
            {
                let mut original = token.clone();
                original.inc = 0;
                token.term = folded;
                next(token);
                next(&mut original);
                return;
            }
            next(token);
        }))
    }
}

/// `keyword_repeat`: each token twice, first protected from stemmers.
#[derive(Debug)]
pub struct KeywordRepeat;

impl Fold for KeywordRepeat {
    fn stage(&self) -> Box<dyn Stage + '_> {
        Box::new(EachOne(|token: &mut Tok, next: Next<'_>| {
            let mut second = Tok { keyword: false, inc: 0, ..token.clone() };
            token.keyword = true;
            next(token);
            next(&mut second);
        }))
    }
}

/// `limit`: the first tokens alone.
#[derive(Debug)]
pub struct Limit(pub u32);

impl Fold for Limit {
    fn stage(&self) -> Box<dyn Stage + '_> {
        let mut left = self.0;
        Box::new(EachOne(move |token: &mut Tok, next: Next<'_>| {
            if left > 0 {
                left -= 1;
                next(token);
            }
        }))
    }
}

/// `remove_duplicates`: of equal texts at one position the first.
#[derive(Debug)]
pub struct RemoveDuplicates;

impl Fold for RemoveDuplicates {
    fn stage(&self) -> Box<dyn Stage + '_> {
        let mut seen: Set<String> = Set::default();
        Box::new(EachOne(move |token: &mut Tok, next: Next<'_>| {
            if token.inc > 0 {
                seen.clear();
            }
            if seen.insert(token.term.clone()) || token.inc > 0 {
                next(token);
            }
        }))
    }
}

/// `unique`: of equal texts the first, in the whole text or at one position.
#[derive(Debug)]
pub struct Unique {
    /// Only texts at one position are compared.
    pub same_position: bool,
}

/// Different tokens that `unique` remembers; later ones pass.
const UNIQUE_MAX: usize = 1 << 20;

impl Fold for Unique {
    fn stage(&self) -> Box<dyn Stage + '_> {
        let same_position = self.same_position;
        let mut seen: Set<String> = Set::default();
        Box::new(EachOne(move |token: &mut Tok, next: Next<'_>| {
            if same_position && token.inc > 0 {
                seen.clear();
            }
            if seen.contains(&token.term) {
                return;
            }
            if seen.len() < UNIQUE_MAX {
                seen.insert(token.term.clone());
            }
            next(token);
        }))
    }
}

/// `multiplexer`: each token through several chains, equal outcomes once.
#[derive(Debug)]
pub struct Multiplexer {
    /// The chains; an empty one keeps the token as it is.
    pub chains: Vec<Vec<Filter>>,
}

impl Fold for Multiplexer {
    fn stage(&self) -> Box<dyn Stage + '_> {
        Box::new(EachOne(|token: &mut Tok, next: Next<'_>| {
            let mut seen: Set<String> = Set::default();
            let mut inc = token.inc;
            for chain in &self.chains {
                let mut line = Line::new(chain);
                let mut give = |made: &mut Tok| {
                    if seen.insert(made.term.clone()) {
                        made.inc = std::mem::take(&mut inc);
                        next(made);
                    }
                };
                line.token(&mut token.clone(), &mut give);
                line.end(&mut End { trailing: 0, offset: token.end }, &mut give);
            }
        }))
    }
}

/// `stop` without `remove_trailing`: a stop word at the very end of the text stays.
#[derive(Debug)]
pub struct SuggestStop(pub Arc<StopWords>);

struct SuggestStopping<'f> {
    words: &'f StopWords,
    held: Option<Tok>,
    skipped: u32,
}

impl Fold for SuggestStop {
    fn stage(&self) -> Box<dyn Stage + '_> {
        Box::new(SuggestStopping { words: &self.0, held: None, skipped: 0 })
    }
}

impl Stage for SuggestStopping<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) {
        if let Some(held) = self.held.take() {
            self.skipped += held.inc;
        }
        if self.words.contains(&token.term) {
            self.held = Some(token.clone());
            return;
        }
        token.inc += std::mem::take(&mut self.skipped);
        next(token);
    }

    fn end(&mut self, end: &mut End, next: Next<'_>) {
        match self.held.take() {
            Some(mut held) if held.end == end.offset => {
                held.inc += self.skipped;
                held.keyword = true;
                next(&mut held);
            }
            Some(held) => end.trailing += self.skipped + held.inc,
            None => end.trailing += self.skipped,
        }
    }
}

/// A stage of one function.
pub(super) struct EachOne<F>(pub F);

impl<F: FnMut(&mut Tok, Next<'_>)> Stage for EachOne<F> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) {
        self.0(token, next);
    }
}
