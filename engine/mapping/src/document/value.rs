//! One value of a known field: judged by its type, put into the arena, handed to multi-fields and
//! copied where the mapping says so.

use json::tape::{Kind as NodeKind, Node};

use super::walk::{Refused, Walk};
use super::{Arena, fault};
use crate::analysis::{ON, Room, STOP};
use crate::types::{
    Boolean, Date, Field, Keyword, KeywordFlavor, Kind, Number, Scalar, TERM_BYTES_MAX, Text,
};
use crate::types::{boolean, number, shingle, version};
use crate::{Error, ErrorKind, Result};

/// What is known of the fields of the document at hand, and of those around it.
#[derive(Debug, Default)]
pub(super) struct States {
    /// The document itself first, then nested ones that are open.
    levels: Vec<Level>,
    /// The level at hand.
    at: usize,
    /// Rises with each document; states of older ones are void.
    stamp: u32,
}

/// What is known of the fields of one document, by field number.
#[derive(Debug, Default)]
struct Level {
    stamp: u32,
    /// Place of its first entry in the arena.
    own: u32,
    states: Vec<State>,
    /// Text fields of the document, in the order of their first values.
    texts: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    stamp: u32,
    /// The presence was told by an `Exists` entry.
    exists: bool,
    /// The path was told by an `Ignored` entry.
    ignored: bool,
    /// It had a value, where the type cares.
    seen: bool,
    text: TextState,
}

/// How far the words of a text field have come.
#[derive(Clone, Copy, Debug, Default)]
struct TextState {
    begun: bool,
    /// Its entry, counted from the document's first.
    entry: u32,
    /// The chunk of its last value.
    chunk: u32,
    /// Position of the last word, from which the next one counts.
    position: u32,
    /// Position at which the next value begins.
    next: u32,
    /// Words counted.
    length: u32,
}

impl States {
    /// Begins a document, whose entries start at `own`.
    pub fn begin(&mut self, own: u32) {
        self.at = 0;
        self.enter(own);
    }

    /// Opens a nested document, whose entries start at `start`. Answers where those of the one
    /// around it start.
    pub fn open(&mut self, start: u32) -> u32 {
        let own = self.levels[self.at].own;
        self.at += 1;
        self.enter(start);
        own
    }

    /// Closes a nested document; the one around it now starts at `own`.
    pub fn close(&mut self, own: u32) {
        self.at -= 1;
        self.levels[self.at].own = own;
    }

    fn enter(&mut self, own: u32) {
        if self.at == self.levels.len() {
            self.levels.push(Level::default());
        }
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.levels.iter_mut().for_each(|level| level.states.clear());
            self.stamp = 1;
        }
        let level = &mut self.levels[self.at];
        level.stamp = self.stamp;
        level.own = own;
        level.texts.clear();
    }

    /// Place of the document's first entry.
    fn own(&self) -> u32 {
        self.levels[self.at].own
    }

    #[inline]
    fn of(&mut self, field: &Field) -> &mut State {
        let level = &mut self.levels[self.at];
        let at = field.no.index();
        if at >= level.states.len() {
            level.states.resize(at + 1, State::default());
        }
        let stamp = level.stamp;
        let state = &mut level.states[at];
        if state.stamp != stamp {
            *state = State { stamp, ..State::default() };
        }
        state
    }
}

impl<'m, 'd> Walk<'m, '_, 'd> {
    /// A value of a field, array or not, with all that follows from it.
    pub(super) fn field(
        &mut self,
        field: &'m Field,
        node: Node<'d>,
        copies: Copies,
    ) -> Refused<()> {
        if node.kind() == NodeKind::Array && !is_point(field, node) {
            for element in node.array() {
                self.field(field, element, copies)?;
            }
            return Ok(());
        }
        self.one(field, node)?;
        for multi in &field.multi_fields {
            self.one(multi, node)?;
        }
        if copies == Copies::Follow {
            for target in &field.copy_to {
                self.copy(target, node)?;
            }
        }
        Ok(())
    }

    /// A value of a field alone, and of what its type makes beside it.
    fn one(&mut self, field: &'m Field, node: Node<'d>) -> Refused<()> {
        if !field.parts.is_empty() && matches!(field.kind, Kind::Text(_)) {
            for part in &field.parts {
                self.one(part, node)?;
            }
        }
        match self.take(field, node) {
            Ok(()) => Ok(()),
            Err(_) if self.replays() && self.take_coerced(field, node) => Ok(()),
            Err(cause) if self.leaves_out(field, node, &cause) => {
                self.ignored(field);
                Ok(())
            }
            // Lucene's own failures are not about the JSON, nor is what memory lacks.
            Err(cause) if is_immense(&cause) => Err(cause.into()),
            Err(cause) if is_no_value(&cause) => {
                Err(fault::full_of(Some(field), self.id, cause).into())
            }
            Err(cause) => Err(fault::value(field, self.id, node, cause).into()),
        }
    }

    /// Is a value that does not fit left out?
    fn leaves_out(&self, field: &Field, node: Node<'d>, cause: &Error) -> bool {
        let takes_all = matches!(field.kind, Kind::GeoPoint(_))
            || !matches!(node.kind(), NodeKind::Object | NodeKind::Array);
        let may = self.replays() || (field.ignores_malformed() && takes_all && !is_immense(cause));
        may && cause.kind != ErrorKind::NoMemory
    }

    #[inline]
    fn take(&mut self, field: &'m Field, node: Node<'d>) -> Result<()> {
        self.arena.check_room(0)?;
        let replays = self.replays();
        match &field.kind {
            Kind::Text(text) => self.take_text(field, text, node),
            Kind::Keyword(keyword) => self.take_keyword(field, keyword, node),
            Kind::Number(Number { counts: Some(counts), null_value, .. }) => {
                let value = match Scalar::of_node(node) {
                    Some(scalar) => {
                        let text = scalar.text(&mut self.buffers.number);
                        let room_bytes = analysis_bytes(self.arena, replays);
                        self.buffers.analysis.set_room_bytes(room_bytes);
                        let count = counts.count(text, &mut self.buffers.analysis, room_bytes);
                        Some(count.ok_or_else(|| self.arena.is_full())?)
                    }
                    None if node.is_null() => *null_value,
                    None => return Err(fault::no_text(node)),
                };
                if let Some(value) = value {
                    self.push_number(field, value);
                }
                Ok(())
            }
            Kind::Number(_) | Kind::Boolean(_) | Kind::Date(_) => {
                if let Some(value) = sortable(field, node, &mut self.buffers.number)? {
                    self.push_number(field, value);
                }
                Ok(())
            }
            _ => self.take_special(field, node),
        }
    }

    /// Takes a value that was acknowledged while the field still coerced; false where that does not help, or
    /// the value may have been left out even then.
    fn take_coerced(&mut self, field: &Field, node: Node<'d>) -> bool {
        let Kind::Number(number) = &field.kind else { return false };
        if number.coerce || number.counts.is_some() || field.ignores_malformed() {
            return false;
        }
        let Ok(value) = of_number(number, node, true) else { return false };
        if let Some(value) = value {
            self.push_number(field, value);
        }
        true
    }

    pub(super) fn push_number(&mut self, field: &Field, value: i64) {
        if field.index || field.doc_values {
            self.arena.push_number(field.no, value, field.index, field.doc_values);
        }
        self.present(field);
    }

    /// Tells the presence of a field whose column and norms do not.
    pub(super) fn present(&mut self, field: &Field) {
        if field.presence_by_name() {
            let state = self.buffers.fields.of(field);
            if !std::mem::replace(&mut state.exists, true) {
                self.arena.push_exists(field.no);
            }
        }
    }

    /// Is this the first value of the field in this document? Answers so once.
    pub(super) fn is_first(&mut self, field: &Field) -> bool {
        !std::mem::replace(&mut self.buffers.fields.of(field).seen, true)
    }

    pub(super) fn ignored(&mut self, field: &Field) {
        let state = self.buffers.fields.of(field);
        if !std::mem::replace(&mut state.ignored, true) {
            self.tell_ignored(&field.path);
        }
    }

    fn take_keyword(&mut self, field: &Field, keyword: &Keyword, node: Node<'d>) -> Result<()> {
        let replays = self.replays();
        let text = match Scalar::of_node(node) {
            Some(Scalar::Text(text)) => text,
            Some(scalar) => scalar.text(&mut self.buffers.number),
            None if node.is_null() => match &keyword.null_value {
                Some(text) => text,
                None => return Ok(()),
            },
            None => return Err(fault::no_text(node)),
        };
        if let Some(most) = keyword.ignore_above.or(self.mapping.settings().ignore_above)
            && longer_than(text, most)
        {
            self.ignored(field);
            return Ok(());
        }
        let text = match &keyword.normalizer {
            Some(normalizer) => {
                let lease = self.arena.lease().filter(|_| !replays).cloned();
                let room = Room::of(analysis_bytes(self.arena, replays)).paid_by(lease);
                let done = normalizer.normalize(text, &mut self.buffers.normalized, &room);
                done.ok_or_else(|| self.arena.is_full())?
            }
            None => text,
        };
        if field.index || field.doc_values {
            let encoded;
            let term = match &keyword.flavor {
                KeywordFlavor::Version => {
                    encoded = version::encode(text);
                    &encoded
                }
                _ => text.as_bytes(),
            };
            if term.len() > TERM_BYTES_MAX {
                return Err(fault::immense(&field.path, term));
            }
            self.arena.check_room(term.len())?;
            self.arena.push_keyword(field.no, term, field.index, field.doc_values);
        }
        self.present(field);
        Ok(())
    }

    fn take_text(&mut self, field: &Field, text: &Text, node: Node<'d>) -> Result<()> {
        let replays = self.replays();
        let value = match Scalar::of_node(node) {
            Some(Scalar::Text(text)) => text,
            Some(scalar) => scalar.text(&mut self.buffers.number),
            None if node.is_null() => return Ok(()),
            None => return Err(fault::no_text(node)),
        };
        if !field.index {
            self.present(field);
            return Ok(());
        }
        // Each word is counted as it comes; what cannot fit is not begun with.
        self.arena.check_room(value.len())?;
        self.buffers.analysis.set_room_bytes(analysis_bytes(self.arena, replays));
        let arena = &mut *self.arena;
        let own = self.buffers.fields.own();
        let mut state = self.buffers.fields.of(field).text;
        if !state.begun {
            state.begun = true;
            state.entry = arena.push_text(field.no) - own;
            let fields = &mut self.buffers.fields;
            fields.levels[fields.at].texts.push(offset(field));
        }
        let start = arena.begin_words();
        let (base, mut length) = (state.next, 0u32);
        let mut fault = None;
        let mut last = state.position;
        let mut first = state.length == 0;
        let analysis = &mut self.buffers.analysis;
        let done = shingle::words(text.flavor, &text.analyzer, value, analysis, |term, at| {
            let term = term.as_bytes();
            if term.len() > TERM_BYTES_MAX {
                fault.get_or_insert_with(|| fault::immense(&field.path, term));
                return if replays { ON } else { STOP };
            }
            let mut position = base.saturating_add(at);
            if position > fault::POSITION_MAX {
                if !replays {
                    fault.get_or_insert_with(|| fault::position(&field.path, last, position));
                    return STOP;
                }
                // It was acknowledged before such were refused, and stays to be found.
                position = fault::POSITION_MAX;
            }
            // No position or length takes more than five bytes.
            if !arena.has_room(term.len() + 10) {
                fault.get_or_insert_with(|| arena.is_full());
                return STOP;
            }
            arena.push_word(position - last, term);
            // Words at one position count once.
            length += u32::from(first || position != last);
            first = false;
            last = position;
            ON
        });
        if done.lacks_room {
            fault.get_or_insert_with(|| arena.is_full());
        }
        state.chunk = arena.finish_words(own + state.entry, state.chunk, start, length);
        state.position = last;
        state.length += length;
        let next = base.saturating_add(done.position_end);
        state.next = next.saturating_add(text.position_increment_gap);
        self.buffers.fields.of(field).text = state;
        self.present(field);
        fault.map_or(Ok(()), Err)
    }

    /// Ends the document: texts without a word are told to be present.
    pub(super) fn finish_texts(&mut self) {
        let fields = &mut self.buffers.fields;
        let level = &mut fields.levels[fields.at];
        for no in level.texts.iter().copied() {
            let state = &mut level.states[no as usize];
            if state.text.length == 0 && !std::mem::replace(&mut state.exists, true) {
                self.arena.push_exists(base::FieldNo(no));
            }
        }
    }
}

/// Bytes that an analysis may hold beside its text: as many as what it gives may have. What was acknowledged
/// is analysed whatever it takes.
fn analysis_bytes(arena: &Arena, replays: bool) -> usize {
    if replays { usize::MAX } else { arena.left_bytes() }
}

/// Are the targets of `copy_to` served, too?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    /// The value stands in the document.
    Follow,
    /// The value is a copy.
    Stop,
}

fn offset(field: &Field) -> u32 {
    field.no.get()
}

/// Is it no fault of the value?
fn is_no_value(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::NoMemory | ErrorKind::PositionTooGreat)
}

fn is_immense(error: &Error) -> bool {
    let cause = error.caused_by.as_ref();
    cause.is_some_and(|cause| cause.kind == ErrorKind::MaxBytesLengthExceeded)
}

/// Has the text more UTF-16 units than `most`?
pub(super) fn longer_than(text: &str, most: u32) -> bool {
    let most = most as usize;
    // A unit takes at most three bytes and at least one, so most texts need no counting.
    text.len() > most && (text.len() > most.saturating_mul(3) || text.encode_utf16().count() > most)
}

/// The sortable value of a number, boolean or date; none for a null that stands for nothing.
pub(super) fn sortable(field: &Field, node: Node<'_>, buffer: &mut String) -> Result<Option<i64>> {
    match &field.kind {
        Kind::Number(number) => of_number(number, node, number.coerce),
        Kind::Boolean(boolean) => of_boolean(boolean, node),
        Kind::Date(date) => of_date(date, node, buffer),
        _ => Ok(None),
    }
}

#[inline]
fn of_number(number: &Number, node: Node<'_>, coerce: bool) -> Result<Option<i64>> {
    match Scalar::of_node(node) {
        // An empty text stands for null where texts are taken.
        Some(Scalar::Text("")) if coerce => Ok(number.null_value),
        Some(scalar) => number.parse(scalar, coerce).map(Some),
        None if node.is_null() => Ok(number.null_value),
        None => Err(number::not_numeric_token(node.token())),
    }
}

fn of_boolean(boolean: &Boolean, node: Node<'_>) -> Result<Option<i64>> {
    match Scalar::of_node(node) {
        Some(scalar) => boolean::parse(scalar).map(|value| Some(i64::from(value))),
        None if node.is_null() => Ok(boolean.null_value.map(i64::from)),
        None => Err(Error::new(
            ErrorKind::XContentParse,
            format!("Current token ({}) not of boolean type", node.token()),
        )),
    }
}

fn of_date(date: &Date, node: Node<'_>, buffer: &mut String) -> Result<Option<i64>> {
    match Scalar::of_node(node) {
        Some(Scalar::Text(text)) => date.parse(text).map(Some),
        Some(scalar) => date.parse(scalar.text(buffer)).map(Some),
        None if node.is_null() => Ok(date.null_value.as_ref().map(|(_, ms)| *ms)),
        None => Err(fault::no_text(node)),
    }
}

/// Would the field take the value? For fields that are not there yet.
pub(super) fn judge(field: &Field, node: Node<'_>, buffer: &mut String) -> Result<()> {
    match &field.kind {
        Kind::Text(_) | Kind::Keyword(_) => {
            if matches!(node.kind(), NodeKind::Object | NodeKind::Array) {
                return Err(fault::no_text(node));
            }
            Ok(())
        }
        Kind::Number(_) | Kind::Boolean(_) | Kind::Date(_) => {
            if matches!(&field.kind, Kind::Number(number) if number.counts.is_some()) {
                return Ok(());
            }
            match sortable(field, node, buffer) {
                Err(cause)
                    if field.ignores_malformed()
                        && !matches!(node.kind(), NodeKind::Object | NodeKind::Array) =>
                {
                    drop(cause);
                    Ok(())
                }
                other => other.map(|_| ()),
            }
        }
        // Judged when the field is there.
        _ => Ok(()),
    }
}

/// Is an array one value of the field?
fn is_point(field: &Field, node: Node<'_>) -> bool {
    matches!(field.kind, Kind::GeoPoint(_))
        && node.array().next().is_some_and(|first| first.kind() == NodeKind::Number)
}
