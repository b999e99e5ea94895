//! One value of a known field: judged by its type, put into the arena, handed to multi-fields and
//! copied where the mapping says so.

use json::tape::{Kind as NodeKind, Node};

use super::fault;
use super::walk::{Refused, Walk};
use crate::types::{Boolean, Date, Field, Keyword, Kind, Number, Scalar, TERM_BYTES_MAX, Text};
use crate::types::{boolean, number};
use crate::{Error, ErrorKind, Result};

/// What is known of the fields of the document at hand, by field number.
#[derive(Debug, Default)]
pub(super) struct States {
    /// Number of the document; states of older ones are void.
    stamp: u32,
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
    text: TextState,
}

/// How far the words of a text field have come.
#[derive(Clone, Copy, Debug, Default)]
struct TextState {
    begun: bool,
    /// Its entry in the arena.
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
    /// Begins a document.
    pub fn begin(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.states.clear();
            self.stamp = 1;
        }
        self.texts.clear();
    }

    fn of(&mut self, field: &Field) -> &mut State {
        let at = field.no.index();
        if at >= self.states.len() {
            self.states.resize(at + 1, State::default());
        }
        let stamp = self.stamp;
        let state = &mut self.states[at];
        if state.stamp != stamp {
            *state = State { stamp, ..State::default() };
        }
        state
    }
}

impl<'m, 'd> Walk<'m, '_> {
    /// A value of a field, array or not, with all that follows from it.
    pub(super) fn field(
        &mut self,
        field: &'m Field,
        node: Node<'d>,
        copies: Copies,
    ) -> Refused<()> {
        if node.kind() == NodeKind::Array {
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

    /// A value of a field alone.
    fn one(&mut self, field: &'m Field, node: Node<'d>) -> Refused<()> {
        match self.take(field, node) {
            Ok(()) => Ok(()),
            Err(cause) if self.leaves_out(field, node, &cause) => {
                self.ignored(field);
                Ok(())
            }
            // Lucene's own failures are not about the JSON.
            Err(cause) if is_immense(&cause) => Err(cause.into()),
            Err(cause) => Err(fault::value(field, self.id, node, cause).into()),
        }
    }

    /// Is a value that does not fit left out?
    fn leaves_out(&self, field: &Field, node: Node<'d>, cause: &Error) -> bool {
        let container = matches!(node.kind(), NodeKind::Object | NodeKind::Array);
        self.replays() || (field.ignores_malformed() && !container && !is_immense(cause))
    }

    #[inline]
    fn take(&mut self, field: &'m Field, node: Node<'d>) -> Result<()> {
        match &field.kind {
            Kind::Text(text) => self.take_text(field, text, node),
            Kind::Keyword(keyword) => self.take_keyword(field, keyword, node),
            Kind::Number(_) | Kind::Boolean(_) | Kind::Date(_) => {
                if let Some(value) = sortable(field, node, &mut self.buffers.number)? {
                    self.push_number(field, value);
                }
                Ok(())
            }
        }
    }

    fn push_number(&mut self, field: &Field, value: i64) {
        if field.index || field.doc_values {
            self.arena.push_number(field.no, value, field.index, field.doc_values);
        }
        self.present(field);
    }

    /// Tells the presence of a field whose column and norms do not.
    fn present(&mut self, field: &Field) {
        if field.presence_by_name() {
            let state = self.buffers.fields.of(field);
            if !std::mem::replace(&mut state.exists, true) {
                self.arena.push_exists(field.no);
            }
        }
    }

    fn ignored(&mut self, field: &Field) {
        let state = self.buffers.fields.of(field);
        if !std::mem::replace(&mut state.ignored, true) {
            self.arena.push_ignored(&field.path);
        }
    }

    fn take_keyword(&mut self, field: &Field, keyword: &Keyword, node: Node<'d>) -> Result<()> {
        let text = match Scalar::of_node(node) {
            Some(Scalar::Text(text)) => text,
            Some(scalar) => scalar.text(&mut self.buffers.number),
            None if node.is_null() => match &keyword.null_value {
                Some(text) => text,
                None => return Ok(()),
            },
            None => return Err(fault::no_text(node)),
        };
        if let Some(most) = keyword.ignore_above
            && longer_than(text, most)
        {
            self.ignored(field);
            return Ok(());
        }
        let text = match &keyword.normalizer {
            Some(normalizer) => normalizer.normalize(text, &mut self.buffers.normalized),
            None => text,
        };
        if field.index || field.doc_values {
            if text.len() > TERM_BYTES_MAX {
                return Err(fault::immense(field, text.as_bytes()));
            }
            self.arena.check_room(text.len())?;
            self.arena.push_keyword(field.no, text, field.index, field.doc_values);
        }
        self.present(field);
        Ok(())
    }

    fn take_text(&mut self, field: &Field, text: &Text, node: Node<'d>) -> Result<()> {
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
        // Each word costs two bytes beside its own; folding may lengthen it.
        self.arena.check_room(value.len().saturating_mul(3))?;
        let arena = &mut *self.arena;
        let mut state = self.buffers.fields.of(field).text;
        if !state.begun {
            state.begun = true;
            state.entry = arena.push_text(field.no);
            self.buffers.fields.texts.push(offset(field));
        }
        let start = arena.begin_words();
        let (base, mut length) = (state.next, 0u32);
        let mut immense = None;
        let mut last = state.position;
        let mut first = state.length == 0;
        let done = text.analyzer.tokens_with(value, &mut self.buffers.analysis, |token| {
            let term = token.term.as_bytes();
            if term.len() > TERM_BYTES_MAX {
                immense.get_or_insert_with(|| fault::immense(field, term));
                return;
            }
            let position = base.saturating_add(token.position);
            arena.push_word(position - last, term);
            // Words at one position count once.
            length += u32::from(first || position != last);
            first = false;
            last = position;
        });
        state.chunk = arena.finish_words(state.entry, state.chunk, start, length);
        state.position = last;
        state.length += length;
        let next = base.saturating_add(done.position_end);
        state.next = next.saturating_add(text.position_increment_gap);
        self.buffers.fields.of(field).text = state;
        self.present(field);
        immense.map_or(Ok(()), Err)
    }

    /// Ends the document: texts without a word are told to be present.
    pub(super) fn finish_texts(&mut self) {
        for at in 0..self.buffers.fields.texts.len() {
            let no = self.buffers.fields.texts[at];
            let state = &mut self.buffers.fields.states[no as usize];
            if state.text.length == 0 && !std::mem::replace(&mut state.exists, true) {
                self.arena.push_exists(base::FieldNo(no));
            }
        }
    }
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

fn is_immense(error: &Error) -> bool {
    let cause = error.caused_by.as_ref();
    cause.is_some_and(|cause| cause.kind == ErrorKind::MaxBytesLengthExceeded)
}

/// Has the text more UTF-16 units than `most`?
fn longer_than(text: &str, most: u32) -> bool {
    let most = most as usize;
    // A unit takes at most three bytes and at least one, so most texts need no counting.
    text.len() > most && (text.len() > most.saturating_mul(3) || text.encode_utf16().count() > most)
}

/// The sortable value of a number, boolean or date; none for a null that stands for nothing.
pub(super) fn sortable(field: &Field, node: Node<'_>, buffer: &mut String) -> Result<Option<i64>> {
    match &field.kind {
        Kind::Number(number) => of_number(number, node),
        Kind::Boolean(boolean) => of_boolean(boolean, node),
        Kind::Date(date) => of_date(date, node, buffer),
        Kind::Text(_) | Kind::Keyword(_) => Ok(None),
    }
}

#[inline]
fn of_number(number: &Number, node: Node<'_>) -> Result<Option<i64>> {
    match Scalar::of_node(node) {
        // An empty text stands for null where texts are taken.
        Some(Scalar::Text("")) if number.coerce => Ok(number.null_value),
        Some(scalar) => number.number.parse(scalar, number.coerce).map(Some),
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
        Some(Scalar::Text(text)) => date.format.parse_ms(text).map(Some),
        Some(scalar) => date.format.parse_ms(scalar.text(buffer)).map(Some),
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
        _ => match sortable(field, node, buffer) {
            Err(cause)
                if field.ignores_malformed()
                    && !matches!(node.kind(), NodeKind::Object | NodeKind::Array) =>
            {
                drop(cause);
                Ok(())
            }
            other => other.map(|_| ()),
        },
    }
}
