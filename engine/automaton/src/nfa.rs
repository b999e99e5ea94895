//! Automata in pieces: joined by empty moves, then made deterministic.

use super::dfa::{Dfa, Move, State};
use super::{LABEL_MAX, TooComplex};
use base::hash::Map;

/// States that pieces may hold together while they are joined.
const STATES_MAX: usize = 200_000;

#[derive(Clone, Debug, Default)]
struct Node {
    moves: Vec<Move>,
    empty: Vec<u32>,
}

/// A piece: one way in, one way out.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    start: u32,
    end: u32,
}

/// All pieces of one automaton.
#[derive(Clone, Debug, Default)]
pub struct Nfa {
    nodes: Vec<Node>,
}

impl Nfa {
    fn node(&mut self) -> Result<u32, TooComplex> {
        if self.nodes.len() >= STATES_MAX {
            return Err(TooComplex);
        }
        self.nodes.push(Node::default());
        Ok(self.nodes.len() as u32 - 1)
    }

    fn two(&mut self) -> Result<Piece, TooComplex> {
        Ok(Piece { start: self.node()?, end: self.node()? })
    }

    fn empty_move(&mut self, from: u32, to: u32) {
        self.nodes[from as usize].empty.push(to);
    }

    /// The empty word.
    ///
    /// # Errors
    /// Where there are too many states, as all below.
    pub fn empty(&mut self) -> Result<Piece, TooComplex> {
        let piece = self.two()?;
        self.empty_move(piece.start, piece.end);
        Ok(piece)
    }

    /// No word.
    pub fn nothing(&mut self) -> Result<Piece, TooComplex> {
        self.two()
    }

    /// One label of these ranges.
    pub fn label(&mut self, ranges: &[(u32, u32)]) -> Result<Piece, TooComplex> {
        let piece = self.two()?;
        let moves = ranges.iter().map(|(from, to)| Move { from: *from, to: *to, state: piece.end });
        self.nodes[piece.start as usize].moves.extend(moves);
        Ok(piece)
    }

    /// One after the other.
    pub fn then(&mut self, first: Piece, second: Piece) -> Piece {
        self.empty_move(first.end, second.start);
        Piece { start: first.start, end: second.end }
    }

    /// One or the other.
    pub fn either(&mut self, pieces: &[Piece]) -> Result<Piece, TooComplex> {
        let both = self.two()?;
        for piece in pieces {
            self.empty_move(both.start, piece.start);
            self.empty_move(piece.end, both.end);
        }
        Ok(both)
    }

    /// Any number of times.
    pub fn star(&mut self, inner: Piece) -> Result<Piece, TooComplex> {
        let piece = self.two()?;
        self.empty_move(piece.start, inner.start);
        self.empty_move(piece.start, piece.end);
        self.empty_move(inner.end, inner.start);
        self.empty_move(inner.end, piece.end);
        Ok(piece)
    }

    /// Once or not at all.
    pub fn optional(&mut self, inner: Piece) -> Result<Piece, TooComplex> {
        let piece = self.two()?;
        self.empty_move(piece.start, inner.start);
        self.empty_move(piece.start, piece.end);
        self.empty_move(inner.end, piece.end);
        Ok(piece)
    }

    /// What a deterministic automaton matches.
    pub fn insert(&mut self, dfa: &Dfa) -> Result<Piece, TooComplex> {
        let piece = self.two()?;
        let base = self.nodes.len() as u32;
        for state in dfa.states() {
            let node = self.node()?;
            let moves = state.moves.iter().map(|way| Move { state: way.state + base, ..*way });
            self.nodes[node as usize].moves.extend(moves);
            if state.accept {
                self.empty_move(node, piece.end);
            }
        }
        if !dfa.is_empty() {
            self.empty_move(piece.start, base);
        }
        Ok(piece)
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Nothing was made yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The deterministic form of a piece, made with at most `effort` states of the piece looked at; and
    /// how many that were.
    ///
    /// # Errors
    /// Where it would take more.
    pub fn determinize(&self, piece: Piece, effort: usize) -> Result<(Dfa, usize), TooComplex> {
        let mut marks = vec![0u32; self.nodes.len()];
        let mut mark = 0;
        let mut close = |mut set: Vec<u32>| {
            mark += 1;
            let mut at = 0;
            for state in &set {
                marks[*state as usize] = mark;
            }
            while let Some(state) = set.get(at) {
                for next in &self.nodes[*state as usize].empty.clone() {
                    if std::mem::replace(&mut marks[*next as usize], mark) != mark {
                        set.push(*next);
                    }
                }
                at += 1;
            }
            // States that only pass on tell sets apart without need.
            set.retain(|state| {
                *state == piece.end || !self.nodes[*state as usize].moves.is_empty()
            });
            set.sort_unstable();
            set
        };
        let first = close(vec![piece.start]);
        let mut numbers = Map::from_iter([(first.clone(), 0u32)]);
        let mut sets = vec![first];
        let mut states: Vec<State> = Vec::new();
        let mut spent = 0;
        while states.len() < sets.len() {
            let set = sets[states.len()].clone();
            let accept = set.binary_search(&piece.end).is_ok();
            let mut cuts: Vec<u32> = Vec::new();
            let mut ways: Vec<Move> = Vec::new();
            for state in &set {
                for way in &self.nodes[*state as usize].moves {
                    cuts.extend([way.from, way.to + 1]);
                    ways.push(*way);
                }
            }
            cuts.sort_unstable();
            cuts.dedup();
            spent += set.len();
            let mut moves: Vec<Move> = Vec::new();
            for pair in cuts.windows(2) {
                let (from, to) = (pair[0], pair[1] - 1);
                let mut targets: Vec<u32> = ways
                    .iter()
                    .filter(|way| way.from <= from && to <= way.to)
                    .map(|way| way.state)
                    .collect();
                spent += 1;
                if targets.is_empty() {
                    continue;
                }
                targets.sort_unstable();
                targets.dedup();
                spent += targets.len();
                if spent > effort {
                    return Err(TooComplex);
                }
                let target = close(targets);
                let fresh = sets.len() as u32;
                let state = *numbers.entry(target.clone()).or_insert(fresh);
                if state == fresh {
                    sets.push(target);
                }
                match moves.last_mut() {
                    Some(last) if last.state == state && last.to + 1 == from => last.to = to,
                    _ => moves.push(Move { from, to, state }),
                }
            }
            states.push(State { accept, moves });
        }
        Ok((Dfa::new(states), spent))
    }
}

/// All labels but those of `ranges`.
pub fn others(ranges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let mut out = Vec::new();
    let mut from = 0;
    for (start, end) in sorted {
        if start > from {
            out.push((from, start - 1));
        }
        from = from.max(end + 1);
    }
    if from <= LABEL_MAX {
        out.push((from, LABEL_MAX));
    }
    out
}
