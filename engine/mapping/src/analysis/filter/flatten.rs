//! `flatten_graph`: a graph of tokens becomes one that an index can hold, where each token begins at a
//! position and nothing is said of its end.
//!
//! A connected part of the graph is held until it ends; each node gets the length of the longest way
//! to it as its position.

use crate::analysis::room::{Flow, ON, Room};
use crate::analysis::stage::{End, Fold, Next, Stage};
use crate::analysis::token::Tok;

/// The filter.
#[derive(Debug)]
pub struct FlattenGraph;

/// Tokens of one connected part; a larger one is given as it is.
const HELD_MAX: usize = 10_000;

/// Bytes of a token that is held, without its text.
const HELD_BYTES: usize = size_of::<(Tok, usize, usize)>();

struct Flattening<'f> {
    /// Tokens with the nodes where they begin and end, counted from the first of them.
    held: Vec<(Tok, usize, usize)>,
    from: usize,
    to: usize,
    room: &'f Room,
    /// Bytes of what is held.
    bytes: usize,
}

impl Fold for FlattenGraph {
    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(Flattening { held: Vec::new(), from: 0, to: 0, room, bytes: 0 })
    }
}

impl Drop for Flattening<'_> {
    fn drop(&mut self) {
        self.room.give_back(self.bytes);
    }
}

impl Stage for Flattening<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        let from = self.from + token.inc as usize;
        if !self.held.is_empty() && (from >= self.to || self.held.len() >= HELD_MAX) {
            let gap = from - self.from.min(from);
            let over = from.saturating_sub(self.to);
            self.flush(next)?;
            token.inc = if gap == 0 { 0 } else { 1 + over as u32 };
            self.from = 0;
            self.to = 0;
        } else {
            self.from = if self.held.is_empty() { 0 } else { from };
        }
        let to = self.from + token.length.max(1) as usize;
        // A node of the graph needs a number, and the token stands in two lists for a moment.
        let nodes = to.saturating_sub(self.to).saturating_mul(8);
        let bytes = (token.term.len() + 2 * HELD_BYTES).saturating_add(nodes);
        self.room.take(bytes)?;
        self.bytes += bytes;
        self.to = self.to.max(to);
        self.held.push((token.clone(), self.from, to));
        ON
    }

    fn end(&mut self, _end: &mut End, next: Next<'_>) -> Flow {
        self.flush(next)
    }
}

impl Flattening<'_> {
    fn flush(&mut self, next: Next<'_>) -> Flow {
        self.room.give_back(std::mem::take(&mut self.bytes));
        let held = std::mem::take(&mut self.held);
        let Some(((first, _, _), _)) = held.split_first() else { return ON };
        let inc = first.inc;
        // Nodes in order of number are in order of the graph: every token leads upward.
        let mut depth = vec![None; self.to + 1];
        depth[0] = Some(0u32);
        let mut by_start: Vec<&(Tok, usize, usize)> = held.iter().collect();
        by_start.sort_by_key(|(_, from, _)| *from);
        for (_, from, to) in by_start {
            let begins = depth[*from].unwrap_or(0);
            depth[*from] = Some(begins);
            let known = depth[*to].unwrap_or(0);
            depth[*to] = Some(known.max(begins + 1));
        }
        let place = |node: usize| depth[node].unwrap_or(0);
        let mut flat: Vec<(u32, u32, Tok)> =
            held.into_iter().map(|(token, from, to)| (place(from), place(to), token)).collect();
        flat.sort_by_key(|(at, _, _)| *at);
        let mut last = 0;
        for (index, (at, ends, mut token)) in flat.into_iter().enumerate() {
            token.inc = if index == 0 { inc } else { at - last };
            token.length = (ends - at).max(1);
            last = at;
            next(&mut token)?;
        }
        ON
    }
}
