//! Filters that give several tokens for one, or let some of several through.

use std::sync::Arc;

use base::hash::Set;

use super::{Filter, StopWords, folded};
use crate::analysis::room::{Flow, ON, Room};
use crate::analysis::stage::{End, Fold, Line, Next, Stage};
use crate::analysis::token::Tok;

/// `asciifolding` with `preserve_original`: the folded token, then the one given.
#[derive(Debug)]
pub struct AsciiFoldingKeeping;

impl Fold for AsciiFoldingKeeping {
    fn expansion(&self) -> u32 {
        2
    }

    fn stage<'s>(&'s self, _room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(EachOne(|token: &mut Tok, next: Next<'_>| {
            if let Some(folded) = folded(&token.term)
                && folded != token.term
            {
                let mut original = token.clone();
                original.inc = 0;
                token.term = folded;
                next(token)?;
                return next(&mut original);
            }
            next(token)
        }))
    }
}

/// `keyword_repeat`: each token twice, first protected from stemmers.
#[derive(Debug)]
pub struct KeywordRepeat;

impl Fold for KeywordRepeat {
    fn expansion(&self) -> u32 {
        2
    }

    fn stage<'s>(&'s self, _room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(EachOne(|token: &mut Tok, next: Next<'_>| {
            let mut second = Tok { keyword: false, inc: 0, ..token.clone() };
            token.keyword = true;
            next(token)?;
            next(&mut second)
        }))
    }
}

/// `limit`: the first tokens alone.
#[derive(Debug)]
pub struct Limit(pub u32);

impl Fold for Limit {
    fn stage<'s>(&'s self, _room: &'s Room) -> Box<dyn Stage + 's> {
        let mut left = self.0;
        Box::new(EachOne(move |token: &mut Tok, next: Next<'_>| {
            if left == 0 {
                return ON;
            }
            left -= 1;
            next(token)
        }))
    }
}

/// `remove_duplicates`: of equal texts at one position the first.
#[derive(Debug)]
pub struct RemoveDuplicates;

impl Fold for RemoveDuplicates {
    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        let mut seen = Seen::new(room);
        Box::new(EachOne(move |token: &mut Tok, next: Next<'_>| {
            if token.inc > 0 {
                seen.clear();
            }
            if seen.insert(&token.term)? || token.inc > 0 {
                return next(token);
            }
            ON
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
    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        let same_position = self.same_position;
        let mut seen = Seen::new(room);
        Box::new(EachOne(move |token: &mut Tok, next: Next<'_>| {
            if same_position && token.inc > 0 {
                seen.clear();
            }
            if seen.words.contains(&token.term) {
                return ON;
            }
            if seen.words.len() < UNIQUE_MAX {
                seen.insert(&token.term)?;
            }
            next(token)
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
    fn expansion(&self) -> u32 {
        let chains = self.chains.iter().map(|chain| Filter::expansion_of(chain));
        chains.fold(0, u32::saturating_add).max(1)
    }

    fn is_flat(&self) -> bool {
        self.chains.iter().any(|chain| Filter::is_flat(chain))
    }

    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(EachOne(|token: &mut Tok, next: Next<'_>| {
            let mut seen = Seen::new(room);
            let mut inc = token.inc;
            for chain in &self.chains {
                let mut line = Line::new(chain, room);
                let mut give = |made: &mut Tok| {
                    if !seen.insert(&made.term)? {
                        return ON;
                    }
                    made.inc = std::mem::take(&mut inc);
                    next(made)
                };
                let _held = room.hold_for(token.term.len(), 1)?;
                line.token(&mut token.clone(), &mut give)?;
                line.end(&mut End { trailing: 0, offset: token.end }, &mut give)?;
            }
            ON
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
    fn stage<'s>(&'s self, _room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(SuggestStopping { words: &self.0, held: None, skipped: 0 })
    }
}

impl Stage for SuggestStopping<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        if let Some(held) = self.held.take() {
            self.skipped += held.inc;
        }
        if self.words.contains(&token.term) {
            self.held = Some(token.clone());
            return ON;
        }
        token.inc += std::mem::take(&mut self.skipped);
        next(token)
    }

    fn end(&mut self, end: &mut End, next: Next<'_>) -> Flow {
        match self.held.take() {
            Some(mut held) if held.end == end.offset => {
                held.inc += self.skipped;
                held.keyword = true;
                return next(&mut held);
            }
            Some(held) => end.trailing += self.skipped + held.inc,
            None => end.trailing += self.skipped,
        }
        ON
    }
}

/// A stage of one function.
pub(super) struct EachOne<F>(pub F);

impl<F: FnMut(&mut Tok, Next<'_>) -> Flow> Stage for EachOne<F> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        self.0(token, next)
    }
}

/// Texts that were given, with the room that they take.
struct Seen<'r> {
    words: Set<String>,
    room: &'r Room,
    bytes: usize,
}

/// Bytes that a set needs for an entry beside its text, about.
const ENTRY_BYTES: usize = 48;

impl<'r> Seen<'r> {
    fn new(room: &'r Room) -> Self {
        Self { words: Set::default(), room, bytes: 0 }
    }

    fn clear(&mut self) {
        self.words.clear();
        self.room.give_back(std::mem::take(&mut self.bytes));
    }

    /// Takes a text in; false where it is known.
    fn insert(&mut self, text: &str) -> std::ops::ControlFlow<(), bool> {
        if self.words.contains(text) {
            return std::ops::ControlFlow::Continue(false);
        }
        let bytes = text.len() + ENTRY_BYTES;
        self.room.take(bytes)?;
        self.bytes += bytes;
        self.words.insert(text.to_owned());
        std::ops::ControlFlow::Continue(true)
    }
}

impl Drop for Seen<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
