//! Paths that choose parts of JSON text: `filter_path`, `_source` includes and excludes.
//!
//! The text is walked once, token by token; what is chosen is copied, compact, strings and numbers
//! as they stand. No tree is built.
//!
//! Two readings of `*`, both Elasticsearch's:
//! - *by name*: a pattern is a list of names between dots, `*` stands for any part of one name,
//!   `**` for one name or more. Used by `filter_path`, and by `_source` unless the next applies;
//! - *across*: a pattern is matched against the whole dotted path and `*` stands for anything, dots
//!   included. Used by `_source` when an exclude holds a `*`.
//!
//! Always true
//! 1. Excludes come first; what is left is asked for by the includes (none: everything).
//! 2. An object or a list in which no include matched goes. One that only excludes emptied stays in a
//!    `_source` and goes in a response, as in Elasticsearch; one that was empty before stays in both.
//! 3. Arrays are transparent: their elements have the path of the array.

use base::wildcard::Wildcard;

use crate::error::Result;
use crate::limits::Limits;
use crate::scan::{Scanner, Token};

mod globs;

pub use globs::Globs;

/// Nanoseconds that a byte of a text takes to walk over and to copy.
const WALK_NS: u64 = 5;

/// A choice of parts.
#[derive(Clone, Debug)]
pub struct Filter {
    includes: Patterns,
    excludes: Patterns,
    /// A key `a.b` is read as the path of `b` in `a`.
    dotted_keys: bool,
    /// What excludes emptied goes, too.
    drops_emptied: bool,
}

impl Filter {
    /// The choice of `filter_path`: entries that begin with `-` exclude. Blanks around an entry and
    /// dots at its end are nothing, as Elasticsearch splits.
    pub fn response<S: AsRef<str>>(paths: &[S]) -> Self {
        let all = || paths.iter().map(|path| path.as_ref().trim()).filter(|path| !path.is_empty());
        let excludes: Vec<&str> =
            all().filter_map(|path| path.strip_prefix('-')).map(undotted).collect();
        let includes: Vec<&str> =
            all().filter(|path| !path.starts_with('-')).map(undotted).collect();
        Self {
            includes: Patterns::by_name(&includes),
            excludes: Patterns::by_name(&excludes),
            dotted_keys: false,
            drops_emptied: true,
        }
    }

    /// The choice of `_source`: lists of patterns, an empty list of includes takes everything.
    pub fn source<S: AsRef<str>, T: AsRef<str>>(includes: &[S], excludes: &[T]) -> Self {
        let includes: Vec<&str> = includes.iter().map(AsRef::as_ref).collect();
        let excludes: Vec<&str> = excludes.iter().map(AsRef::as_ref).collect();
        let across = excludes.iter().any(|path| path.contains('*'));
        let read = if across { Patterns::across } else { Patterns::by_name };
        Self {
            includes: read(&includes),
            excludes: read(&excludes),
            dotted_keys: true,
            drops_emptied: false,
        }
    }

    /// Nothing is taken away.
    pub fn keeps_all(&self) -> bool {
        self.includes.is_empty() && self.excludes.is_empty()
    }

    /// Nanoseconds that a byte of a text costs, about and at most.
    pub fn cost(&self) -> u64 {
        // Half of a text may be keys, each a byte long; those of patterns by name are entered anew
        // at each.
        WALK_NS + self.includes.cost() + self.excludes.cost()
    }

    /// Appends the chosen parts of `json` to `out`. An object or a list at the root is always kept.
    ///
    /// # Errors
    /// Where `json` is not JSON; `out` is as before then.
    pub fn apply(&self, json: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let limits = Limits {
            depth_max: 2 * Limits::DEFAULT.depth_max,
            number_bytes_max: usize::MAX,
            key_bytes_max: usize::MAX,
        };
        let base = out.len();
        let walked =
            Scanner::new(json, limits).and_then(|scanner| Walk::new(self, out).run(scanner));
        if walked.is_err() {
            out.truncate(base);
        }
        walked
    }
}

/// Nanoseconds that a byte of a text would cost a choice by these patterns, about and at most, and those
/// that compiling them takes: what can be told before they are compiled.
pub fn source_cost(includes: &[String], excludes: &[String]) -> (u64, u64) {
    let patterns = || includes.iter().chain(excludes);
    let count = patterns().count() as u64;
    let bytes = patterns().map(|path| path.len() as u64 + 1).sum::<u64>();
    (WALK_NS + count + bytes / 64, 200 * count + 10 * bytes)
}

/// The parts of a source that includes and excludes choose, as text of their own.
///
/// # Errors
/// Where `json` is not JSON.
pub fn filter_source(json: &[u8], includes: &[String], excludes: &[String]) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(json.len());
    Filter::source(includes, excludes).apply(json, &mut out)?;
    out.shrink_to_fit();
    Ok(out)
}

/// What a set of patterns says about a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// A pattern matches it, and so all below.
    All,
    /// Patterns may match below: (pattern, place in it), never empty.
    Below(Vec<(u32, u32)>),
    /// Patterns read across may match below: places in them, of which at least one.
    Across(Vec<u64>),
    /// No pattern can match, here or below.
    None,
}

impl State {
    fn of(places: Vec<(u32, u32)>) -> Self {
        if places.is_empty() { Self::None } else { Self::Below(places) }
    }

    fn of_bits(places: Vec<u64>) -> Self {
        if places.iter().all(|word| *word == 0) { Self::None } else { Self::Across(places) }
    }
}

#[derive(Clone, Debug)]
enum Patterns {
    ByName(Named),
    Across(Globs),
}

/// Patterns as lists of names.
#[derive(Clone, Debug)]
struct Named {
    patterns: Vec<Vec<String>>,
    /// All their names, one pattern's after the other's.
    globs: Globs,
    /// Where in them a pattern's begin.
    firsts: Vec<usize>,
}

impl Patterns {
    fn by_name(paths: &[&str]) -> Self {
        let patterns: Vec<Vec<String>> = paths.iter().map(|path| names(path)).collect();
        let globs = Globs::new(patterns.iter().flatten().map(String::as_bytes));
        let mut firsts = Vec::with_capacity(patterns.len());
        let mut count = 0;
        for names in &patterns {
            firsts.push(count);
            count += names.len();
        }
        Self::ByName(Named { patterns, globs, firsts })
    }

    fn across(paths: &[&str]) -> Self {
        Self::Across(Globs::new(paths.iter().map(|path| path.as_bytes())))
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::ByName(named) => named.patterns.is_empty(),
            Self::Across(globs) => globs.is_empty(),
        }
    }

    fn cost(&self) -> u64 {
        match self {
            Self::ByName(named) => (named.globs.words() + named.patterns.len()) as u64,
            Self::Across(globs) => globs.words() as u64,
        }
    }

    fn start(&self) -> State {
        match self {
            Self::ByName(named) => {
                State::of((0..cut(named.patterns.len())).map(|pattern| (pattern, 0)).collect())
            }
            Self::Across(globs) => {
                let mut places = globs.none();
                for pattern in 0..globs.len() {
                    globs.enter(pattern, &mut places);
                }
                State::of_bits(places)
            }
        }
    }

    /// The state below `state` at a key.
    fn step(&self, state: &State, key: &str, dotted: bool) -> State {
        if matches!(state, State::All | State::None) {
            return state.clone();
        }
        let inner_dot = dotted
            && matches!(self, Self::ByName(_))
            && key.find('.').is_some_and(|at| at > 0)
            && !key.ends_with('.');
        if inner_dot {
            let mut state = state.clone();
            for name in key.split('.') {
                state = self.step(&state, name, false);
            }
            return state;
        }
        match (self, state) {
            (Self::ByName(named), State::Below(places)) => step_by_name(named, places, key),
            (Self::Across(globs), State::Across(places)) => step_across(globs, places, key),
            _ => State::None,
        }
    }
}

fn step_by_name(named: &Named, places: &[(u32, u32)], key: &str) -> State {
    let Named { patterns, globs, firsts } = named;
    // All names that are waited for are matched together.
    let mut bits = globs.none();
    for &(n, at) in places {
        globs.enter(firsts[n as usize] + at as usize, &mut bits);
    }
    for &byte in key.as_bytes() {
        globs.advance(&mut bits, byte);
    }
    let mut next: Vec<(u32, u32)> = Vec::new();
    for &(n, at) in places {
        let pattern = &patterns[n as usize];
        let open = pattern[at as usize] == "**";
        if !open && !globs.is_matched(firsts[n as usize] + at as usize, &bits) {
            continue;
        }
        if at as usize + 1 == pattern.len() {
            return State::All;
        }
        // `**` may stand for more names.
        next.extend(open.then_some((n, at)));
        next.push((n, at + 1));
    }
    State::of(each_once(next))
}

/// Patterns are many where somebody means harm: each place is looked at once for each key.
fn each_once(mut places: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    places.sort_unstable();
    places.dedup();
    places
}

fn step_across(globs: &Globs, places: &[u64], key: &str) -> State {
    let mut places = places.to_vec();
    for &byte in key.as_bytes() {
        // A pattern that ends before a dot inside a key has matched the object above it.
        if byte == b'.' && globs.is_any_matched(&places) {
            return State::All;
        }
        globs.advance(&mut places, byte);
    }
    if globs.is_any_matched(&places) {
        return State::All;
    }
    globs.advance(&mut places, b'.');
    State::of_bits(places)
}

/// A path without blanks around it and dots at its end; an escaped one stays.
fn undotted(path: &str) -> &str {
    let mut path = path.trim();
    while let Some(rest) = path.strip_suffix('.')
        && !rest.ends_with('\\')
    {
        path = rest;
    }
    path
}

/// Names between dots; `\.` is a dot inside a name.
fn names(path: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        let name = names.last_mut().expect("never empty");
        match c {
            '\\' if chars.peek() == Some(&'.') => name.extend(chars.next()),
            '.' => names.push(String::new()),
            c => name.push(c),
        }
    }
    // Stars side by side are so many names, or more where two of them stand together: those come last, so that a
    // path of many has one place at a time.
    for run in names.chunk_by_mut(|one, other| is_stars(one) && is_stars(other)) {
        if run.iter().any(|name| name == "**") {
            run.fill("*".to_owned());
            run[run.len() - 1] = "**".to_owned();
        }
    }
    names
}

fn is_stars(name: &str) -> bool {
    matches!(name, "*" | "**")
}

/// Does `text` match a pattern in which `*` stands for any bytes?
pub fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            p = at + 1;
            t = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Does `text` match a pattern in which `*` stands for any text, `?` for one character, and `\`
/// takes the character behind it as it stands?
pub fn wildcard(pattern: &str, text: &str) -> bool {
    // Most that are held against each other differ before anything stands for something else.
    let is_plain = |byte: u8| !matches!(byte, b'*' | b'?' | b'\\');
    let mut both = pattern.bytes().zip(text.bytes());
    if both
        .find(|(one, other)| one != other || !is_plain(*one))
        .is_some_and(|(one, _)| is_plain(one))
    {
        return false;
    }
    match pattern.contains(['?', '\\']) {
        false => glob(pattern.as_bytes(), text.as_bytes()),
        true => Wildcard::new(pattern, false).matches(text),
    }
}

fn cut(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// One container on the way down.
struct Frame {
    include: State,
    exclude: State,
    array: bool,
    /// Length of the output before it, to take it back.
    mark: usize,
    /// Length of the output after its bracket: equal at its end means empty.
    inside: usize,
    /// Goes if it stays empty.
    optional: bool,
    /// Something stands in it, chosen or not.
    filled: bool,
}

struct Walk<'f> {
    filter: &'f Filter,
    out: &'f mut Vec<u8>,
    base: usize,
    frames: Vec<Frame>,
}

impl<'f> Walk<'f> {
    fn new(filter: &'f Filter, out: &'f mut Vec<u8>) -> Self {
        let base = out.len();
        Self { filter, out, base, frames: Vec::new() }
    }

    fn run(mut self, mut scanner: Scanner<'_>) -> Result<()> {
        let include = match self.filter.includes.start() {
            _ if self.filter.includes.is_empty() => State::All,
            state => state,
        };
        let mut next = (include, self.filter.excludes.start(), self.base);
        while let Some(event) = scanner.next()? {
            match event.token {
                Token::Key => {
                    let key = scanner.string(&event);
                    let filter = self.filter;
                    let frame = self.frames.last_mut().expect("keys stand in objects");
                    frame.filled = true;
                    let exclude = filter.excludes.step(&frame.exclude, &key, filter.dotted_keys);
                    let include = filter.includes.step(&frame.include, &key, filter.dotted_keys);
                    if exclude == State::All || include == State::None {
                        if let Some(value) = scanner.next()? {
                            scanner.skip(value)?;
                        }
                        continue;
                    }
                    next = (include, exclude, self.out.len());
                    self.comma();
                    self.out.extend_from_slice(scanner.raw(&event).as_bytes());
                    self.out.push(b':');
                }
                Token::BeginObject | Token::BeginArray => {
                    let (include, exclude, mark) = self.place(&mut next);
                    self.comma();
                    self.out.push(if event.token == Token::BeginArray { b'[' } else { b'{' });
                    let optional = include != State::All && !self.frames.is_empty();
                    self.frames.push(Frame {
                        include,
                        exclude,
                        array: event.token == Token::BeginArray,
                        mark,
                        inside: self.out.len(),
                        optional,
                        filled: false,
                    });
                }
                Token::EndObject | Token::EndArray => self.end(event.token),
                _ => {
                    let (include, _, mark) = self.place(&mut next);
                    if include == State::All {
                        self.comma();
                        self.out.extend_from_slice(scanner.raw(&event).as_bytes());
                    } else {
                        self.out.truncate(mark);
                    }
                }
            }
        }
        Ok(())
    }

    /// States and mark of the value that begins now: its key's, or its array's.
    fn place(&mut self, next: &mut (State, State, usize)) -> (State, State, usize) {
        match self.frames.last_mut() {
            Some(frame) if frame.array => {
                frame.filled = true;
                (frame.include.clone(), frame.exclude.clone(), self.out.len())
            }
            _ => std::mem::replace(next, (State::None, State::None, self.out.len())),
        }
    }

    fn end(&mut self, token: Token) {
        let frame = self.frames.pop().expect("the scanner pairs begin and end");
        let in_array = self.frames.last().is_some_and(|outer| outer.array);
        let empty = self.out.len() == frame.inside;
        // Read across, Elasticsearch also drops elements that its excludes emptied.
        let across = matches!(self.filter.excludes, Patterns::Across(_));
        let emptied = match self.filter.drops_emptied {
            true => frame.filled && !self.frames.is_empty(),
            false => across && in_array && frame.exclude != State::None,
        };
        if empty && (frame.optional || emptied) {
            self.out.truncate(frame.mark);
            return;
        }
        self.out.push(if token == Token::EndArray { b']' } else { b'}' });
    }

    fn comma(&mut self) {
        let first = self.out.len() == self.base;
        if !first && !matches!(self.out.last(), Some(b'{' | b'[' | b':')) {
            self.out.push(b',');
        }
    }
}

#[cfg(test)]
#[path = "path/tests.rs"]
mod tests;
