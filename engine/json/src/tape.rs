//! The fast reader: a view over simd-json's tape, with buffers that are used again.
//!
//! [`Parser::parse`] copies the text into its scratch buffer, lets simd-json rewrite that, and
//! refuses keys that stand twice. Whatever simd-json refuses (numbers beyond 64 bits, `1e400`, half
//! surrogate pairs, and of course bad text) is read again by [`crate::scan`], which knows the exact
//! words and places of a fault and takes what is only unusual.
//!
//! Always true
//! 1. A [`Document`] and [`crate::parse`] accept the same texts and see the same values.
//! 2. The original text is untouched; [`Node::text`] and [`Node::place`] point into it. The first
//!    such question scans the text once, the others are look-ups.
//!
//! The tape: one entry a value and one a key, in the order of the text; a container's entry tells
//! how many entries lie inside it.

use std::cell::OnceCell;
use std::hash::BuildHasher;

use simd_json::{Buffers, INPUT_PADDING, StaticNode, Tape};

use crate::error::{Place, Result};
use crate::lexeme::unescape;
use crate::limits::Limits;
use crate::number::Number;
use crate::parser;
use crate::scan::{Scanner, Token};
use crate::value::{Object, Value};

type Entry<'a> = simd_json::Node<'a>;

/// Reads documents, one after the other, with the same buffers.
pub struct Parser {
    limits: Limits,
    scratch: Vec<u8>,
    unescaped: String,
    buffers: Buffers,
    entries: Vec<Entry<'static>>,
    keys: Keys,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new(Limits::DEFAULT)
    }
}

impl std::fmt::Debug for Parser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parser").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Parser {
    /// A parser with small buffers; they grow with the documents.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            scratch: Vec::new(),
            unescaped: String::new(),
            buffers: Buffers::with_max_depth(4096, limits.depth_max),
            entries: Vec::new(),
            keys: Keys::default(),
        }
    }

    /// Reads one document.
    ///
    /// # Errors
    /// As [`crate::parse`].
    pub fn parse<'a>(&'a mut self, text: &'a [u8]) -> Result<Document<'a>> {
        let Self { limits, scratch, unescaped, buffers, entries: home, keys } = self;
        scratch.clear();
        scratch.extend_from_slice(text);
        scratch.resize(text.len() + INPUT_PADDING, b' ');
        let mut tape = Tape(std::mem::take(home)).reset();
        let fast = simd_json::fill_tape_padded(scratch, text.len(), buffers, &mut tape);
        let usual = fast.is_ok() && keys.stand_once(&tape.0, limits.key_bytes_max);
        if usual && !may_hold_long_number(text, limits.number_bytes_max) {
            return Ok(Document { text, entries: tape.0, home, spans: OnceCell::new() });
        }
        parser::check(text, limits)?;
        let entries = slow(Scanner::new(text, *limits)?, unescaped, tape.reset().0)?;
        Ok(Document { text, entries, home, spans: OnceCell::new() })
    }
}

/// Fills the tape from our own scanner: for what is legal but beyond simd-json.
#[cold]
fn slow<'a>(
    scanner: Scanner<'a>,
    unescaped: &'a mut String,
    mut entries: Vec<Entry<'a>>,
) -> Result<Vec<Entry<'a>>> {
    unescaped.clear();
    let mut ends: Vec<usize> = Vec::new();
    let mut first = scanner.clone();
    while let Some(event) = first.next()? {
        if event.escaped {
            unescaped.push_str(&unescape(&scanner.text()[event.start + 1..event.end - 1]));
            ends.push(unescaped.len());
        }
    }
    let unescaped: &'a str = unescaped;
    let (mut from, mut ends) = (0, ends.into_iter());
    let mut open: Vec<usize> = Vec::new();
    let mut second = scanner;
    while let Some(event) = second.next()? {
        let entry = match event.token {
            Token::EndObject | Token::EndArray => {
                let at = open.pop().expect("the scanner pairs begin and end");
                let inside = entries.len() - at - 1;
                if let Entry::Object { count, .. } | Entry::Array { count, .. } = &mut entries[at] {
                    *count = inside;
                }
                continue;
            }
            Token::BeginObject => Entry::Object { len: 0, count: 0 },
            Token::BeginArray => Entry::Array { len: 0, count: 0 },
            Token::Key | Token::String if event.escaped => {
                let end = ends.next().expect("both passes see the same strings");
                let string = &unescaped[from..end];
                from = end;
                Entry::String(string)
            }
            Token::Key | Token::String => {
                Entry::String(&second.text()[event.start + 1..event.end - 1])
            }
            Token::Number => Entry::Static(number(second.raw(&event))),
            Token::True => Entry::Static(StaticNode::Bool(true)),
            Token::False => Entry::Static(StaticNode::Bool(false)),
            Token::Null => Entry::Static(StaticNode::Null),
        };
        if event.token != Token::Key
            && let Some(at) = open.last()
            && let Entry::Object { len, .. } | Entry::Array { len, .. } = &mut entries[*at]
        {
            *len += 1;
        }
        if matches!(event.token, Token::BeginObject | Token::BeginArray) {
            open.push(entries.len());
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// Could there be a number longer than `max` bytes? Such a one covers a byte at a multiple of
/// `max`, so only those are looked at.
fn may_hold_long_number(text: &[u8], max: usize) -> bool {
    let part =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    (0..text.len()).step_by(max.max(1)).any(|at| {
        part(&text[at]) && {
            let before = text[..at].iter().rev().take(max).take_while(|byte| part(byte)).count();
            let after = text[at..].iter().take(max + 1).take_while(|byte| part(byte)).count();
            before + after > max
        }
    })
}

/// A number as a tape entry; an integer beyond 64 bits is marked by NaN, which JSON lacks.
fn number(text: &str) -> StaticNode {
    if let Ok(value) = text.parse::<i64>() {
        return StaticNode::I64(value);
    }
    if let Ok(value) = text.parse::<u64>() {
        return StaticNode::U64(value);
    }
    if crate::number::is_integer(text.as_bytes()) {
        return StaticNode::F64(f64::NAN);
    }
    StaticNode::F64(text.parse().unwrap_or(f64::NAN))
}

/// Finds keys that stand twice in one object.
#[derive(Default)]
struct Keys {
    random: base::hash::Set<()>,
    hashes: Vec<(u64, usize)>,
}

impl Keys {
    /// Compared each with each up to this many; hashed and sorted beyond.
    const PAIRS_MAX: usize = 12;

    /// True where every key is new in its object and surely no longer than `bytes_max` as written.
    fn stand_once(&mut self, entries: &[Entry<'_>], bytes_max: usize) -> bool {
        // An escape takes six bytes at most for one byte of text.
        let bytes_max = bytes_max / 6;
        entries.iter().enumerate().all(|(at, entry)| match entry {
            Entry::Object { len, .. } if *len > Self::PAIRS_MAX => {
                self.hashed(entries, at, *len, bytes_max)
            }
            Entry::Object { len, .. } if *len > 0 => pairwise(entries, at, *len, bytes_max),
            _ => true,
        })
    }

    fn hashed(
        &mut self,
        entries: &[Entry<'_>],
        object: usize,
        len: usize,
        bytes_max: usize,
    ) -> bool {
        self.hashes.clear();
        let mut at = object + 1;
        for _ in 0..len {
            let key = key(entries, at);
            if key.len() > bytes_max {
                return false;
            }
            self.hashes.push((self.random.hasher().hash_one(key), at));
            at += 1 + size(&entries[at + 1]);
        }
        self.hashes.sort_unstable();
        // Equal hashes stand side by side; a run of them is compared each with each.
        self.hashes.chunk_by(|a, b| a.0 == b.0).all(|run| {
            run.iter().enumerate().all(|(n, (_, one))| {
                run[..n].iter().all(|(_, two)| key(entries, *one) != key(entries, *two))
            })
        })
    }
}

fn pairwise(entries: &[Entry<'_>], object: usize, len: usize, bytes_max: usize) -> bool {
    let mut seen = [""; Keys::PAIRS_MAX];
    let mut at = object + 1;
    for n in 0..len {
        let key = key(entries, at);
        if key.len() > bytes_max || seen[..n].contains(&key) {
            return false;
        }
        seen[n] = key;
        at += 1 + size(&entries[at + 1]);
    }
    true
}

fn key<'a>(entries: &[Entry<'a>], at: usize) -> &'a str {
    if let Entry::String(key) = entries[at] { key } else { unreachable!("keys are strings") }
}

/// Entries that a value takes, its own included.
fn size(entry: &Entry<'_>) -> usize {
    match entry {
        Entry::Object { count, .. } | Entry::Array { count, .. } => 1 + count,
        _ => 1,
    }
}

/// A document that has been read.
pub struct Document<'a> {
    text: &'a [u8],
    entries: Vec<Entry<'a>>,
    /// The parser's, which gets the allocation back.
    home: &'a mut Vec<Entry<'static>>,
    /// First and one past the last byte of each entry, filled at the first question.
    spans: OnceCell<Vec<(u32, u32)>>,
}

impl Document<'_> {
    /// The root value.
    pub fn root(&self) -> Node<'_> {
        Node { document: self, at: 0 }
    }

    /// The text it was read from.
    pub fn text(&self) -> &[u8] {
        self.text
    }

    /// Number of values and keys: what it costs to walk.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Never: a document holds a value.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn span(&self, at: usize) -> (usize, usize) {
        let spans = self.spans.get_or_init(|| spans(self.text, self.entries.len()));
        spans.get(at).map_or((0, 0), |(start, end)| (*start as usize, *end as usize))
    }
}

impl Drop for Document<'_> {
    fn drop(&mut self) {
        *self.home = Tape(std::mem::take(&mut self.entries)).reset().0;
    }
}

impl std::fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Document({} bytes)", self.text.len())
    }
}

/// Where each entry of the tape stands in the text.
#[cold]
fn spans(text: &[u8], count: usize) -> Vec<(u32, u32)> {
    let limits =
        Limits { depth_max: usize::MAX, number_bytes_max: usize::MAX, key_bytes_max: usize::MAX };
    let mut spans: Vec<(u32, u32)> = Vec::with_capacity(count);
    let mut open: Vec<usize> = Vec::new();
    let Ok(mut scanner) = Scanner::new(text, limits) else { return spans };
    let cut = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    while let Ok(Some(event)) = scanner.next() {
        match event.token {
            Token::EndObject | Token::EndArray => {
                if let Some(at) = open.pop() {
                    spans[at].1 = cut(event.end);
                }
                continue;
            }
            Token::BeginObject | Token::BeginArray => open.push(spans.len()),
            _ => {}
        }
        spans.push((cut(event.start), cut(event.end)));
    }
    spans
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// The value of a number; its text is [`Node::text`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    /// Written as an integer that fits.
    I64(i64),
    /// Written as an integer above `i64::MAX` that fits.
    U64(u64),
    /// Written with point or exponent; infinite where too large.
    F64(f64),
    /// Written as an integer that fits neither.
    Big,
}

/// One value of a document.
#[derive(Clone, Copy)]
pub struct Node<'d> {
    document: &'d Document<'d>,
    at: usize,
}

impl<'d> Node<'d> {
    /// What it is.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.entry() {
            Entry::String(_) => Kind::String,
            Entry::Object { .. } => Kind::Object,
            Entry::Array { .. } => Kind::Array,
            Entry::Static(StaticNode::Null) => Kind::Null,
            Entry::Static(StaticNode::Bool(_)) => Kind::Bool,
            Entry::Static(_) => Kind::Number,
        }
    }

    /// Jackson's name of the token that begins it: `VALUE_STRING`.
    pub fn token(self) -> &'static str {
        match self.kind() {
            Kind::Null => "VALUE_NULL",
            Kind::Bool => "VALUE_BOOLEAN",
            Kind::Number => "VALUE_NUMBER",
            Kind::String => "VALUE_STRING",
            Kind::Array => "START_ARRAY",
            Kind::Object => "START_OBJECT",
        }
    }

    /// True of `null`.
    pub fn is_null(self) -> bool {
        matches!(self.entry(), Entry::Static(StaticNode::Null))
    }

    /// The text of a string, unescaped.
    #[inline]
    pub fn as_str(self) -> Option<&'d str> {
        if let Entry::String(text) = self.entry() { Some(text) } else { None }
    }

    /// The truth, of a boolean.
    pub fn as_bool(self) -> Option<bool> {
        if let Entry::Static(StaticNode::Bool(value)) = self.entry() { Some(value) } else { None }
    }

    /// The value of a number.
    #[inline]
    pub fn number(self) -> Option<Num> {
        match self.entry() {
            Entry::Static(StaticNode::I64(value)) => Some(Num::I64(value)),
            Entry::Static(StaticNode::U64(value)) => Some(Num::U64(value)),
            Entry::Static(StaticNode::F64(value)) if value.is_nan() => Some(Num::Big),
            Entry::Static(StaticNode::F64(value)) => Some(Num::F64(value)),
            _ => None,
        }
    }

    /// Elements of an array; none of anything else.
    pub fn array(self) -> Elements<'d> {
        let len = if let Entry::Array { len, .. } = self.entry() { len } else { 0 };
        Elements { next: Node { at: self.at + 1, ..self }, left: len }
    }

    /// Members of an object; none of anything else.
    pub fn object(self) -> Members<'d> {
        let len = if let Entry::Object { len, .. } = self.entry() { len } else { 0 };
        Members { next: Node { at: self.at + 1, ..self }, left: len }
    }

    /// The member `key`, where this is an object that has it.
    pub fn get(self, key: &str) -> Option<Node<'d>> {
        self.object().find(|member| member.key() == key).map(Member::value)
    }

    /// The text as it stands in the document: of a number all its digits, of a string with quotes
    /// and escapes, of a container all that lies inside.
    pub fn text(self) -> &'d str {
        let (start, end) = self.document.span(self.at);
        std::str::from_utf8(&self.document.text[start..end]).unwrap_or_default()
    }

    /// Byte where it begins.
    pub fn start(self) -> usize {
        self.document.span(self.at).0
    }

    /// One past its last byte.
    pub fn end(self) -> usize {
        self.document.span(self.at).1
    }

    /// Line and column where it begins.
    pub fn place(self) -> Place {
        Place::of(self.document.text, self.start())
    }

    /// The same value as a tree.
    pub fn to_value(self) -> Value {
        match self.kind() {
            Kind::Null => Value::Null,
            Kind::Bool => Value::Bool(self.as_bool().unwrap_or_default()),
            Kind::Number => Number::from_text(self.text()).map_or(Value::Null, Value::Number),
            Kind::String => Value::from(self.as_str().unwrap_or_default()),
            Kind::Array => Value::Array(self.array().map(Self::to_value).collect()),
            Kind::Object => {
                let mut object = Object::new();
                for member in self.object() {
                    object.insert(member.key(), member.value().to_value());
                }
                Value::Object(object)
            }
        }
    }

    #[inline]
    fn entry(self) -> Entry<'d> {
        self.document.entries[self.at]
    }

    #[inline]
    fn after(self) -> Self {
        Node { at: self.at + size(&self.document.entries[self.at]), ..self }
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

/// Elements of an array, in order.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'d> {
    next: Node<'d>,
    left: usize,
}

impl<'d> Iterator for Elements<'d> {
    type Item = Node<'d>;

    #[inline]
    fn next(&mut self) -> Option<Node<'d>> {
        self.left = self.left.checked_sub(1)?;
        let node = self.next;
        self.next = node.after();
        Some(node)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Elements<'_> {}

/// Members of an object, in order.
#[derive(Clone, Copy, Debug)]
pub struct Members<'d> {
    next: Node<'d>,
    left: usize,
}

impl<'d> Iterator for Members<'d> {
    type Item = Member<'d>;

    #[inline]
    fn next(&mut self) -> Option<Member<'d>> {
        self.left = self.left.checked_sub(1)?;
        let member = Member { key: self.next };
        self.next = member.value().after();
        Some(member)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Members<'_> {}

/// One member of an object.
#[derive(Clone, Copy, Debug)]
pub struct Member<'d> {
    key: Node<'d>,
}

impl<'d> Member<'d> {
    /// Its key, unescaped.
    #[inline]
    pub fn key(self) -> &'d str {
        self.key.as_str().unwrap_or_default()
    }

    /// Its value.
    #[inline]
    pub fn value(self) -> Node<'d> {
        Node { at: self.key.at + 1, ..self.key }
    }

    /// Line and column of the key.
    pub fn key_place(self) -> Place {
        self.key.place()
    }
}

#[cfg(test)]
#[path = "tape/tests.rs"]
mod tests;
