//! A deterministic automaton over code points, and how it walks a sorted dictionary.
//!
//! Always true
//! 1. State 0 is the start. Moves of a state are sorted by label and apart.
//! 2. Every state can be reached, and from every state a match can be reached; so a word that has
//!    a move for each of its labels begins some match.

use std::sync::Arc;

use super::{LABEL_MAX, TooComplex};
use base::hash::Map;

/// Labels from the first to the second, both included, lead to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// First label.
    pub from: u32,
    /// Last label.
    pub to: u32,
    /// Where it leads.
    pub state: u32,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// A word may end here.
    pub accept: bool,
    /// Where labels lead.
    pub moves: Vec<Move>,
}

/// A deterministic automaton. Without states it matches nothing. Copies share their states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dfa {
    states: Arc<[State]>,
}

/// What a term means for a walk through a sorted dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It matches.
    Match,
    /// It does not, and the one after it may.
    Step,
    /// It does not, and no term below this one does.
    Seek(Vec<u8>),
    /// Neither it nor any term above it matches.
    End,
}

impl Dfa {
    /// From states of which some may be dead ends or out of reach.
    pub fn new(states: Vec<State>) -> Self {
        trim(states)
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Nothing matches.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Bytes that it takes, and all its copies together.
    pub fn held_bytes(&self) -> usize {
        let of = |state: &State| size_of::<State>() + state.moves.len() * size_of::<Move>();
        self.states.iter().map(of).sum()
    }

    /// The states.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// The state after one character more.
    pub fn go(&self, state: u32, label: u32) -> Option<u32> {
        let moves = &self.states[state as usize].moves;
        let at = moves.partition_point(|way| way.to < label);
        moves.get(at).filter(|way| way.from <= label).map(|way| way.state)
    }

    /// Does the whole text match?
    pub fn matches(&self, text: &str) -> bool {
        let mut state = 0;
        if self.states.is_empty() {
            return false;
        }
        for c in text.chars() {
            match self.go(state, u32::from(c)) {
                Some(next) => state = next,
                None => return false,
            }
        }
        self.states[state as usize].accept
    }

    /// What a term of the dictionary means for the walk. Terms that are no UTF-8 are stepped over.
    pub fn next(&self, term: &[u8]) -> Next {
        if self.states.is_empty() {
            return Next::End;
        }
        let Ok(text) = std::str::from_utf8(term) else { return Next::Step };
        let mut state = 0;
        let mut path: Vec<(usize, u32, u32)> = Vec::new();
        for (at, c) in text.char_indices() {
            let label = u32::from(c);
            let Some(next) = self.go(state, label) else {
                return self.leap(text, at, state, label, &path);
            };
            path.push((at, state, label));
            state = next;
        }
        if self.states[state as usize].accept { Next::Match } else { Next::Step }
    }

    /// The least text above `text` that may begin a match: `text` fails at byte `at`, in `state`, by
    /// `label`.
    fn leap(
        &self,
        text: &str,
        at: usize,
        state: u32,
        label: u32,
        path: &[(usize, u32, u32)],
    ) -> Next {
        let above = |state: u32, label: u32| {
            let moves = &self.states[state as usize].moves;
            let at = moves.partition_point(|way| way.to <= label);
            let next = moves.get(at)?.from.max(label + 1);
            // Labels that are no characters lie between two that are.
            char::from_u32(next).or_else(|| (next < 0xE000).then_some('\u{E000}'))
        };
        let here = std::iter::once((at, state, label));
        for (at, state, label) in here.chain(path.iter().rev().copied()) {
            if let Some(c) = above(state, label) {
                let mut target = text[..at].to_owned();
                target.push(c);
                return Next::Seek(target.into_bytes());
            }
        }
        Next::End
    }

    /// The least text that begins all matches, as far as it is one way only.
    pub fn prefix(&self) -> String {
        let mut prefix = String::new();
        let mut state = 0usize;
        while let Some(at) = self.states.get(state) {
            let [only] = at.moves.as_slice() else { break };
            if at.accept || only.from != only.to || prefix.len() > 1024 {
                break;
            }
            let Some(c) = char::from_u32(only.from) else { break };
            prefix.push(c);
            state = only.state as usize;
        }
        prefix
    }

    /// All words that this does not match.
    #[must_use]
    pub fn complement(&self) -> Self {
        if self.states.is_empty() {
            let all = Move { from: 0, to: LABEL_MAX, state: 0 };
            return Self { states: [State { accept: true, moves: vec![all] }].into() };
        }
        let sink = self.states.len() as u32;
        let mut states = Vec::with_capacity(self.states.len() + 1);
        for state in &*self.states {
            let mut moves = Vec::with_capacity(state.moves.len() * 2 + 1);
            let mut from = 0;
            for way in &state.moves {
                if way.from > from {
                    moves.push(Move { from, to: way.from - 1, state: sink });
                }
                moves.push(*way);
                from = way.to + 1;
            }
            if from <= LABEL_MAX {
                moves.push(Move { from, to: LABEL_MAX, state: sink });
            }
            states.push(State { accept: !state.accept, moves });
        }
        let all = Move { from: 0, to: LABEL_MAX, state: sink };
        states.push(State { accept: true, moves: vec![all] });
        trim(states)
    }

    /// Words that both match, made within `limit` states.
    ///
    /// # Errors
    /// Where it would take more.
    pub fn intersect(&self, other: &Self, limit: usize) -> Result<Self, TooComplex> {
        if self.is_empty() || other.is_empty() {
            return Ok(Self::default());
        }
        let mut numbers = Map::from_iter([((0u32, 0u32), 0u32)]);
        let mut pairs = vec![(0u32, 0u32)];
        let mut states: Vec<State> = Vec::new();
        while states.len() < pairs.len() {
            let (a, b) = pairs[states.len()];
            let (left, right) = (&self.states[a as usize], &other.states[b as usize]);
            let mut moves = Vec::new();
            let (mut i, mut j) = (0, 0);
            while let (Some(x), Some(y)) = (left.moves.get(i), right.moves.get(j)) {
                let (from, to) = (x.from.max(y.from), x.to.min(y.to));
                if from <= to {
                    let pair = (x.state, y.state);
                    let fresh = pairs.len() as u32;
                    let state = *numbers.entry(pair).or_insert(fresh);
                    if state == fresh {
                        if pairs.len() >= limit {
                            return Err(TooComplex);
                        }
                        pairs.push(pair);
                    }
                    moves.push(Move { from, to, state });
                }
                if x.to < y.to { i += 1 } else { j += 1 }
            }
            states.push(State { accept: left.accept && right.accept, moves });
        }
        Ok(trim(states))
    }
}

/// Drops what cannot be reached and what leads nowhere.
fn trim(states: Vec<State>) -> Dfa {
    let mut reached = vec![false; states.len()];
    let mut open: Vec<usize> = if states.is_empty() { Vec::new() } else { vec![0] };
    let mut back: Vec<Vec<u32>> = vec![Vec::new(); states.len()];
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut reached[at], true) {
            continue;
        }
        for way in &states[at].moves {
            back[way.state as usize].push(at as u32);
            open.push(way.state as usize);
        }
    }
    let mut live = vec![false; states.len()];
    open.extend((0..states.len()).filter(|at| reached[*at] && states[*at].accept));
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut live[at], true) {
            open.extend(back[at].iter().map(|from| *from as usize));
        }
    }
    if !live.first().copied().unwrap_or(false) {
        return Dfa::default();
    }
    let mut numbers = vec![u32::MAX; states.len()];
    let mut count = 0;
    for (number, live) in numbers.iter_mut().zip(&live) {
        if *live {
            *number = count;
            count += 1;
        }
    }
    let kept = states.into_iter().zip(&live).filter(|(_, live)| **live).map(|(mut state, _)| {
        state.moves.retain(|way| live[way.state as usize]);
        state.moves.shrink_to_fit();
        for way in &mut state.moves {
            way.state = numbers[way.state as usize];
        }
        state
    });
    Dfa { states: kept.collect() }
}
