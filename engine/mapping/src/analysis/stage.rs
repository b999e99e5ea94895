//! Filters that hold, split or join tokens, as a line of stages: each is pushed one token, and pushes
//! what it makes of it to the next.
//!
//! Always true
//! 1. A token's `inc` counts from the token pushed before it; positions dropped at the end are told
//!    by [`End::trailing`].
//! 2. A stage owns what it holds; what it pushes may be changed by the next one.
//! 3. Whatever is held beside a bounded window of tokens is taken from the [`Room`] of the analysis.
//! 4. What `next` answers goes back at once: after [`STOP`](super::room::STOP) nothing is pushed.

use super::effort::{Cost, TOKEN};
use super::filter::{Filter, Term};
use super::room::{Flow, ON, Room};
use super::token::Tok;

/// Takes what a stage makes, and answers whether it goes on.
pub type Next<'n> = &'n mut dyn FnMut(&mut Tok) -> Flow;

/// How many neighbouring words are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shingles {
    /// Fewest.
    pub min: u32,
    /// Most.
    pub max: u32,
    /// Single words are given, too.
    pub unigrams: bool,
}

/// What the end of a text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Positions after the last token.
    pub trailing: u32,
    /// Offset of the end of the text.
    pub offset: u32,
}

/// One stage.
pub trait Stage {
    /// Takes a token.
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow;

    /// Takes the end of the text, and gives what it still holds.
    fn end(&mut self, _end: &mut End, _next: Next<'_>) -> Flow {
        ON
    }
}

/// Makes the stage of a filter, for one text.
pub trait Fold: std::fmt::Debug + Send + Sync {
    /// The stage, fresh; what it holds is taken from `room`.
    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's>;

    /// Bytes that it makes of one, about, where it cuts or joins; 1 of those that only change words or add some.
    fn expansion(&self) -> u32 {
        1
    }

    /// How it joins neighbouring words, if it does.
    fn shingles(&self) -> Option<Shingles> {
        None
    }

    /// Do its tokens stand for one another by their positions alone, though some span several? The paths through
    /// tokens of many lengths would be too many (`DisableGraphAttribute` of Elasticsearch).
    fn is_flat(&self) -> bool {
        false
    }
}

/// Bytes that a filter may need for each of a token's while it changes it: it may be looked at as `char`s, and
/// copied.
pub(super) const CHANGE_BYTES: usize = 6;

/// What a fold does with a token, beside what it makes of it: it may copy and keep it.
const FOLD: Cost = Cost { text: 4 * TOKEN, byte: 2 };

/// Stages in line.
pub struct Line<'f> {
    stages: Vec<Placed<'f>>,
    room: &'f Room,
}

/// A stage, and what each token costs it.
struct Placed<'f> {
    stage: Box<dyn Stage + 'f>,
    cost: Cost,
}

impl<'f> Line<'f> {
    /// The filters, in order; those that look at single tokens share a stage.
    pub fn new(filters: &'f [Filter], room: &'f Room) -> Self {
        let mut stages: Vec<Placed<'f>> = Vec::new();
        let mut rest = filters;
        while let Some(first) = rest.first() {
            if let Filter::Fold(fold) = first {
                stages.push(Placed { stage: fold.stage(room), cost: FOLD });
                rest = &rest[1..];
                continue;
            }
            let single = rest.iter().take_while(|filter| !filter.is_fold()).count();
            let (filters, after) = rest.split_at(single);
            let stage = Box::new(Singles { filters, skipped: 0, buffer: String::new(), room });
            stages.push(Placed { stage, cost: Filter::cost_of(filters) });
            rest = after;
        }
        Self { stages, room }
    }

    /// Pushes a token through all stages.
    pub fn token(&mut self, token: &mut Tok, sink: Next<'_>) -> Flow {
        push(&mut self.stages, self.room, token, sink)
    }

    /// Ends the text: every stage gives what it holds, in order.
    pub fn end(&mut self, end: &mut End, sink: Next<'_>) -> Flow {
        for at in 0..self.stages.len() {
            let (before, after) = self.stages.split_at_mut(at + 1);
            before[at].stage.end(end, &mut |token| push(after, self.room, token, sink))?;
        }
        ON
    }
}

fn push(stages: &mut [Placed<'_>], room: &Room, token: &mut Tok, sink: Next<'_>) -> Flow {
    match stages.split_first_mut() {
        None => {
            room.spend(Cost::PLAIN.of(token.term.len()))?;
            sink(token)
        }
        Some((first, rest)) => {
            room.spend(first.cost.of(token.term.len()))?;
            first.stage.token(token, &mut |token| push(rest, room, token, sink))
        }
    }
}

/// Filters that look at one token at a time; a dropped token leaves its positions to the next one.
struct Singles<'f> {
    filters: &'f [Filter],
    skipped: u32,
    buffer: String,
    room: &'f Room,
}

impl Stage for Singles<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        let held = self.room.hold_for(token.term.len(), CHANGE_BYTES)?;
        let mut term = Term::of(&token.term, token.kind, token.keyword, &mut self.buffer)
            .within(self.room.word_bytes(token.term.len()));
        for filter in self.filters {
            if !filter.apply(&mut term) {
                self.skipped = self.skipped.saturating_add(token.inc);
                return ON;
            }
        }
        if term.lacks_room {
            return self.room.refuse();
        }
        drop(held);
        let done = term.done();
        token.kind = done.kind;
        token.keyword = done.keyword;
        match done.len {
            None => std::mem::swap(&mut token.term, &mut self.buffer),
            Some(len) => token.term.truncate(len),
        }
        token.inc = token.inc.saturating_add(std::mem::take(&mut self.skipped));
        next(token)
    }

    fn end(&mut self, end: &mut End, _next: Next<'_>) -> Flow {
        end.trailing = end.trailing.saturating_add(std::mem::take(&mut self.skipped));
        ON
    }
}
