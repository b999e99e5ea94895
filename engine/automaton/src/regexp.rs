//! Lucene's regular expressions.
//!
//! ```text
//! union    = inter ('|' inter)*
//! inter    = concat ('&' concat)*                                INTERSECTION
//! concat   = repeat+
//! repeat   = complement ('?' | '*' | '+' | '{n}' | '{n,}' | '{n,m}')*
//! complement = '~' complement | class                            COMPLEMENT
//! class    = '[' '^'? (char ('-' char)?)+ ']' | simple
//! simple   = '.' | '#' (EMPTY) | '@' (ANYSTRING) | '"' text '"' | '()' | '(' union ')'
//!          | '<' n '-' m '>' (INTERVAL) | '\' char | '\d' '\D' '\s' '\S' '\w' '\W' | char
//! ```
//!
//! An expression matches whole terms. What a flag turns off is a plain character.

use std::cell::Cell;

use super::dfa::Dfa;
use super::nfa::{Nfa, Piece, others};
use super::{LABEL_MAX, TooComplex};

/// `&`.
pub const INTERSECTION: u32 = 0x01;
/// `~`.
pub const COMPLEMENT: u32 = 0x02;
/// `#`.
pub const EMPTY: u32 = 0x04;
/// `@`.
pub const ANYSTRING: u32 = 0x08;
/// Names of automata, which there are none of.
pub const AUTOMATON: u32 = 0x10;
/// `<n-m>`.
pub const INTERVAL: u32 = 0x20;
/// All of them.
pub const ALL: u32 = 0xff;

/// Depth of brackets inside brackets.
const DEPTH_MAX: u32 = 100;

/// Repeats of one counted repeat, and all of them multiplied.
const REPEATS_MAX: u32 = 50_000;

/// Most of `max_determinized_states`, whatever a request says: what it stands for takes some 20 MB and as
/// many milliseconds.
const LIMIT_MAX: usize = 50_000;

/// Why an expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is no expression: the reason in Lucene's words.
    Syntax(String),
    /// It would take more work than is allowed.
    TooComplex,
}

impl From<TooComplex> for Fault {
    fn from(_: TooComplex) -> Self {
        Self::TooComplex
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Union(Vec<Tree>),
    Intersection(Vec<Tree>),
    Concat(Vec<Tree>),
    /// At least so often, at most so often.
    Repeat(Box<Tree>, u32, Option<u32>),
    Complement(Box<Tree>),
    /// One character of these ranges.
    Class(Vec<(u32, u32)>),
    Text(String),
    AnyString,
    Nothing,
    /// Numbers between two, with so many digits where it is not 0.
    Interval(u32, u32, usize),
}

/// The automaton of an expression. `limit` is `max_determinized_states`.
///
/// # Errors
/// Where it is no expression, or too dear.
pub fn automaton(
    text: &str,
    flags: u32,
    case_insensitive: bool,
    limit: usize,
) -> Result<Dfa, Fault> {
    automaton_within(text, flags, case_insensitive, limit, &Cell::new(usize::MAX))
}

/// As [`automaton`], for one of many that share what may be spent on all of them: states that are looked
/// at, some 0.7 µs each. What this one took is taken from `left`; all of it where it is too dear.
///
/// # Errors
/// As [`automaton`].
pub fn automaton_within(
    text: &str,
    flags: u32,
    case_insensitive: bool,
    limit: usize,
    left: &Cell<usize>,
) -> Result<Dfa, Fault> {
    let mut parser = Parser { chars: text.chars().collect(), at: 0, flags, depth: 0 };
    let tree = if parser.chars.is_empty() { Tree::Text(String::new()) } else { parser.union()? };
    if parser.at < parser.chars.len() {
        return Err(Fault::Syntax(format!(
            "end-of-string expected at position {}",
            parser.units()
        )));
    }
    let limit = limit.min(LIMIT_MAX);
    let mut builder = Builder { nfa: Nfa::default(), case_insensitive, limit, left };
    let made = builder.piece(&tree).and_then(|piece| builder.determinize(piece));
    if made.is_err() {
        left.set(0);
    }
    Ok(made?)
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    flags: u32,
    depth: u32,
}

impl Parser {
    fn syntax<T>(&self, reason: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::Syntax(reason.into()))
    }

    /// Position in UTF-16 units, as Java counts.
    fn units(&self) -> usize {
        self.chars[..self.at.min(self.chars.len())].iter().map(|c| c.len_utf16()).sum()
    }

    fn more(&self) -> bool {
        self.at < self.chars.len()
    }

    fn peek(&self, set: &str) -> bool {
        self.chars.get(self.at).is_some_and(|c| set.contains(*c))
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.chars.get(self.at) == Some(&c);
        self.at += usize::from(found);
        found
    }

    fn next(&mut self) -> Result<char, Fault> {
        let Some(c) = self.chars.get(self.at) else {
            return self.syntax("unexpected end-of-string");
        };
        self.at += 1;
        Ok(*c)
    }

    fn on(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn union(&mut self) -> Result<Tree, Fault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Fault::TooComplex);
        }
        let mut all = vec![self.inter()?];
        while self.eat('|') {
            all.push(self.inter()?);
        }
        self.depth -= 1;
        Ok(one_or(all, Tree::Union))
    }

    fn inter(&mut self) -> Result<Tree, Fault> {
        let mut all = vec![self.concat()?];
        while self.on(INTERSECTION) && self.eat('&') {
            all.push(self.concat()?);
        }
        Ok(one_or(all, Tree::Intersection))
    }

    fn concat(&mut self) -> Result<Tree, Fault> {
        let mut all = vec![self.repeat()?];
        while self.more() && !self.peek(")|") && !(self.on(INTERSECTION) && self.peek("&")) {
            all.push(self.repeat()?);
        }
        Ok(one_or(all, Tree::Concat))
    }

    fn repeat(&mut self) -> Result<Tree, Fault> {
        let mut tree = self.complement()?;
        while self.peek("?*+{") {
            if self.eat('?') {
                tree = Tree::Repeat(Box::new(tree), 0, Some(1));
            } else if self.eat('*') {
                tree = Tree::Repeat(Box::new(tree), 0, None);
            } else if self.eat('+') {
                tree = Tree::Repeat(Box::new(tree), 1, None);
            } else if self.eat('{') {
                let least = self.number()?;
                let most = match self.eat(',') {
                    true if self.peek("0123456789") => Some(self.number()?),
                    true => None,
                    false => Some(least),
                };
                if !self.eat('}') {
                    return self.syntax(format!("expected '}}' at position {}", self.units()));
                }
                if most.is_some_and(|most| most < least) {
                    return self.syntax(format!(
                        "invalid repetition range(out of order): {least}..{}",
                        most.unwrap_or_default()
                    ));
                }
                if least > REPEATS_MAX || most.unwrap_or_default() > REPEATS_MAX {
                    return Err(Fault::TooComplex);
                }
                tree = Tree::Repeat(Box::new(tree), least, most);
            }
        }
        Ok(tree)
    }

    fn number(&mut self) -> Result<u32, Fault> {
        let start = self.at;
        while self.peek("0123456789") {
            self.at += 1;
        }
        if start == self.at {
            return self.syntax(format!("integer expected at position {}", self.units()));
        }
        let digits: String = self.chars[start..self.at].iter().collect();
        digits.parse().map_err(|_| Fault::Syntax(format!("For input string: \"{digits}\"")))
    }

    fn complement(&mut self) -> Result<Tree, Fault> {
        let mut count = 0usize;
        while self.on(COMPLEMENT) && self.eat('~') {
            count += 1;
        }
        let inner = self.class()?;
        Ok(if count % 2 == 1 { Tree::Complement(Box::new(inner)) } else { inner })
    }

    fn class(&mut self) -> Result<Tree, Fault> {
        if !self.eat('[') {
            return self.simple();
        }
        let negated = self.eat('^');
        let mut ranges = self.class_part()?;
        while self.more() && !self.peek("]") {
            ranges.extend(self.class_part()?);
        }
        if negated {
            ranges = others(&ranges);
        }
        if !self.eat(']') {
            return self.syntax(format!("expected ']' at position {}", self.units()));
        }
        Ok(Tree::Class(ranges))
    }

    fn class_part(&mut self) -> Result<Vec<(u32, u32)>, Fault> {
        if let Some(ranges) = self.predefined() {
            return Ok(ranges);
        }
        let from = self.char()?;
        if !self.eat('-') {
            return Ok(vec![(u32::from(from), u32::from(from))]);
        }
        let to = self.char()?;
        if from > to {
            let reason =
                format!("invalid range: from ({}) cannot be > to ({})", from as u32, to as u32);
            return self.syntax(reason);
        }
        Ok(vec![(u32::from(from), u32::from(to))])
    }

    /// `\d` and its like.
    fn predefined(&mut self) -> Option<Vec<(u32, u32)>> {
        if self.chars.get(self.at) != Some(&'\\') {
            return None;
        }
        let ranges = |list: &[(char, char)]| {
            list.iter().map(|(a, b)| (u32::from(*a), u32::from(*b))).collect::<Vec<_>>()
        };
        let digits = || ranges(&[('0', '9')]);
        let spaces = || ranges(&[('\t', '\n'), ('\r', '\r'), (' ', ' ')]);
        let words = || ranges(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]);
        let found = match self.chars.get(self.at + 1)? {
            'd' => digits(),
            'D' => others(&digits()),
            's' => spaces(),
            'S' => others(&spaces()),
            'w' => words(),
            'W' => others(&words()),
            _ => return None,
        };
        self.at += 2;
        Some(found)
    }

    fn simple(&mut self) -> Result<Tree, Fault> {
        if let Some(ranges) = self.predefined() {
            return Ok(Tree::Class(ranges));
        }
        if self.eat('.') {
            return Ok(Tree::Class(vec![(0, LABEL_MAX)]));
        }
        if self.on(EMPTY) && self.eat('#') {
            return Ok(Tree::Nothing);
        }
        if self.on(ANYSTRING) && self.eat('@') {
            return Ok(Tree::AnyString);
        }
        if self.eat('"') {
            let start = self.at;
            while self.more() && !self.peek("\"") {
                self.at += 1;
            }
            let text = self.chars[start..self.at].iter().collect();
            if !self.eat('"') {
                return self.syntax(format!("expected '\"' at position {}", self.units()));
            }
            return Ok(Tree::Text(text));
        }
        if self.eat('(') {
            if self.eat(')') {
                return Ok(Tree::Text(String::new()));
            }
            let inner = self.union()?;
            if !self.eat(')') {
                return self.syntax(format!("expected ')' at position {}", self.units()));
            }
            return Ok(inner);
        }
        if (self.on(INTERVAL) || self.on(AUTOMATON)) && self.eat('<') {
            return self.interval();
        }
        Ok(Tree::Text(self.char()?.to_string()))
    }

    fn interval(&mut self) -> Result<Tree, Fault> {
        let start = self.at;
        while self.more() && !self.peek(">") {
            self.at += 1;
        }
        let text: String = self.chars[start..self.at].iter().collect();
        if !self.eat('>') {
            return self.syntax(format!("expected '>' at position {}", self.units()));
        }
        let Some((from, to)) = text.split_once('-').filter(|_| self.on(INTERVAL)) else {
            return match self.on(AUTOMATON) && !text.contains('-') {
                true => self.syntax(format!("'{text}' not found")),
                false => self.syntax(format!(
                    "interval syntax error at position {}",
                    self.units().saturating_sub(1)
                )),
            };
        };
        let (Ok(a), Ok(b)) = (from.parse::<u32>(), to.parse::<u32>()) else {
            let at = self.units().saturating_sub(1);
            return self.syntax(format!("interval syntax error at position {at}"));
        };
        let digits = if from.len() == to.len() { from.len() } else { 0 };
        Ok(Tree::Interval(a.min(b), a.max(b), digits))
    }

    fn char(&mut self) -> Result<char, Fault> {
        self.eat('\\');
        self.next()
    }
}

fn one_or(mut all: Vec<Tree>, join: impl FnOnce(Vec<Tree>) -> Tree) -> Tree {
    if all.len() > 1 {
        return join(all);
    }
    all.pop().unwrap_or(Tree::Nothing)
}

struct Builder<'a> {
    nfa: Nfa,
    case_insensitive: bool,
    limit: usize,
    /// States that may still be looked at.
    left: &'a Cell<usize>,
}

impl Builder<'_> {
    /// Takes from what may be spent.
    fn spend(&self, states: usize) -> Result<(), TooComplex> {
        let left = self.left.get().checked_sub(states).ok_or(TooComplex)?;
        self.left.set(left);
        Ok(())
    }

    fn determinize(&self, piece: Piece) -> Result<Dfa, TooComplex> {
        // To put the pieces together is cheaper than to take them apart.
        self.spend(self.nfa.len() / 16)?;
        // States that may be looked at, for so many states that may be made.
        let effort = self.limit.saturating_mul(10).min(self.left.get());
        let (dfa, spent) = self.nfa.determinize(piece, effort)?;
        self.spend(spent)?;
        Ok(dfa)
    }

    fn piece(&mut self, tree: &Tree) -> Result<Piece, TooComplex> {
        match tree {
            Tree::Union(all) => {
                let pieces = all.iter().map(|tree| self.piece(tree)).collect::<Result<Vec<_>, _>>();
                self.nfa.either(&pieces?)
            }
            Tree::Concat(all) => {
                let mut joined = self.piece(&all[0])?;
                for tree in &all[1..] {
                    let next = self.piece(tree)?;
                    joined = self.nfa.then(joined, next);
                }
                Ok(joined)
            }
            Tree::Repeat(inner, least, most) => self.repeat(inner, *least, *most),
            Tree::Complement(inner) => {
                let dfa = self.apart(inner)?.complement();
                self.nfa.insert(&dfa)
            }
            Tree::Intersection(all) => {
                let mut dfa = self.apart(&all[0])?;
                for tree in &all[1..] {
                    let other = self.apart(tree)?;
                    dfa = dfa.intersect(&other, self.limit.max(1).min(self.left.get()))?;
                    self.spend(dfa.len())?;
                }
                self.nfa.insert(&dfa)
            }
            Tree::Class(ranges) => {
                let ranges = self.with_cases(ranges);
                self.nfa.label(&ranges)
            }
            Tree::Text(text) => {
                let mut joined = self.nfa.empty()?;
                for c in text.chars() {
                    let label = self.with_cases(&[(u32::from(c), u32::from(c))]);
                    let next = self.nfa.label(&label)?;
                    joined = self.nfa.then(joined, next);
                }
                Ok(joined)
            }
            Tree::AnyString => {
                let any = self.nfa.label(&[(0, LABEL_MAX)])?;
                self.nfa.star(any)
            }
            Tree::Nothing => self.nfa.nothing(),
            Tree::Interval(from, to, digits) => self.interval(*from, *to, *digits),
        }
    }

    /// An automaton of its own.
    fn apart(&self, tree: &Tree) -> Result<Dfa, TooComplex> {
        let mut builder = Self { nfa: Nfa::default(), ..*self };
        let piece = builder.piece(tree)?;
        builder.determinize(piece)
    }

    fn repeat(&mut self, inner: &Tree, least: u32, most: Option<u32>) -> Result<Piece, TooComplex> {
        let mut joined = self.nfa.empty()?;
        for _ in 0..least {
            let next = self.piece(inner)?;
            joined = self.nfa.then(joined, next);
        }
        let Some(most) = most else {
            let next = self.piece(inner)?;
            let star = self.nfa.star(next)?;
            return Ok(self.nfa.then(joined, star));
        };
        for _ in least..most {
            let next = self.piece(inner)?;
            let optional = self.nfa.optional(next)?;
            joined = self.nfa.then(joined, optional);
        }
        Ok(joined)
    }

    fn with_cases(&self, ranges: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let mut out = ranges.to_vec();
        if self.case_insensitive {
            for (from, to) in ranges {
                for (low, high, other) in [('a', 'z', 'A'), ('A', 'Z', 'a')] {
                    let (low, high) = (u32::from(low), u32::from(high));
                    let (start, end) = ((*from).max(low), (*to).min(high));
                    if start <= end {
                        let shift = u32::from(other);
                        out.push((start - low + shift, end - low + shift));
                    }
                }
            }
        }
        out
    }

    /// Decimal numbers between two, both included; leading zeros where the digits are counted, or
    /// any number of them where they are not.
    fn interval(&mut self, from: u32, to: u32, digits: usize) -> Result<Piece, TooComplex> {
        let width = if digits > 0 { digits } else { to.to_string().len() };
        let (low, high) = (format!("{from:0width$}"), format!("{to:0width$}"));
        let (low, high) = (low.into_bytes(), high.into_bytes());
        let body = self.between(&low, &high, true, true)?;
        if digits > 0 {
            return Ok(body);
        }
        // Shorter numbers: drop leading zeros of the padded form, or add more.
        let mut forms = Vec::new();
        for len in 1..=width {
            let (least, most) = (10u64.pow(len as u32 - 1), 10u64.pow(len as u32) - 1);
            let least = if len == 1 { 0 } else { least };
            let (least, most) = (least.max(u64::from(from)), most.min(u64::from(to)));
            if least <= most {
                let (a, b) = (format!("{least:0len$}"), format!("{most:0len$}"));
                forms.push(self.between(a.as_bytes(), b.as_bytes(), true, true)?);
            }
        }
        let zero = self.nfa.label(&[(48, 48)])?;
        let zeros = self.nfa.star(zero)?;
        let numbers = self.nfa.either(&forms)?;
        let padded = self.nfa.then(zeros, numbers);
        self.nfa.either(&[body, padded])
    }

    /// Digits between two texts of the same length; a bound counts where the digits before equal it.
    fn between(
        &mut self,
        low: &[u8],
        high: &[u8],
        at_low: bool,
        at_high: bool,
    ) -> Result<Piece, TooComplex> {
        if low.is_empty() {
            return self.nfa.empty();
        }
        let digit = |c: u8| u32::from(c);
        let (from, to) =
            (if at_low { digit(low[0]) } else { 48 }, if at_high { digit(high[0]) } else { 57 });
        let mut forms = Vec::new();
        let mut middle = (from, to);
        if at_low && at_high && from == to {
            let first = self.nfa.label(&[(from, from)])?;
            let rest = self.between(&low[1..], &high[1..], true, true)?;
            return Ok(self.nfa.then(first, rest));
        }
        if at_low {
            let first = self.nfa.label(&[(from, from)])?;
            let rest = self.between(&low[1..], &high[1..], true, false)?;
            forms.push(self.nfa.then(first, rest));
            middle.0 += 1;
        }
        if at_high {
            let first = self.nfa.label(&[(to, to)])?;
            let rest = self.between(&low[1..], &high[1..], false, true)?;
            forms.push(self.nfa.then(first, rest));
            middle.1 = middle.1.wrapping_sub(1);
        }
        if middle.0 <= middle.1 {
            let mut joined = self.nfa.label(&[middle])?;
            for _ in 1..low.len() {
                let next = self.nfa.label(&[(48, 57)])?;
                joined = self.nfa.then(joined, next);
            }
            forms.push(joined);
        }
        self.nfa.either(&forms)
    }
}

#[cfg(test)]
mod tests;
