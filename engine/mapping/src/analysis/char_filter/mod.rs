//! Char filters: the text before it is cut, changed, with a way back to the original offsets.

mod entities;
mod html;
mod mapping;
mod pattern;

pub use html::HtmlStrip;
pub use mapping::Mappings;
pub use pattern::PatternReplaceChars;

use std::ops::ControlFlow;
use std::sync::Arc;

use super::effort::{Cost, TOKEN};
use super::regex::{Expands as _, PATTERN};
use super::room::{Flow, ON, Room};

/// A char filter, ready to be applied.
#[derive(Clone, Debug)]
pub enum CharFilter {
    /// Takes tags and comments out, and reads entities.
    Html(Arc<HtmlStrip>),
    /// Replaces some strings by others.
    Mapping(Arc<Mappings>),
    /// Replaces what a pattern finds.
    Pattern(Arc<PatternReplaceChars>),
    /// Zero width non-joiners become blanks, for Persian.
    Persian,
}

impl CharFilter {
    /// The text after it, where there is room for it and for the way back.
    pub fn apply(&self, text: &str, room: &Room) -> ControlFlow<(), Filtered> {
        room.spend(self.cost().of(text.len()))?;
        match self {
            Self::Html(html) => html.apply(text, room),
            Self::Mapping(mappings) => mappings.apply(text, room),
            Self::Pattern(pattern) => pattern.apply(text, room),
            Self::Persian => {
                room.take(text.len())?;
                let text = text.replace('\u{200c}', " ");
                ControlFlow::Continue(Filtered { text, offsets: Offsets::default() })
            }
        }
    }

    /// What it costs to look through a text; what is put there counts as it is.
    fn cost(&self) -> Cost {
        match self {
            Self::Html(_) | Self::Mapping(_) => Cost { text: 64, byte: 4 },
            Self::Pattern(_) => PATTERN,
            Self::Persian => Cost::PLAIN,
        }
    }

    /// Bytes that it makes of one, about.
    pub fn expansion(&self) -> u32 {
        match self {
            Self::Html(_) | Self::Persian => 1,
            Self::Mapping(mappings) => mappings.expansion(),
            Self::Pattern(pattern) => pattern.replacement.expansion(),
        }
    }

    /// Does it work on single characters, so that normalizers may use it?
    pub const fn normalizes(&self) -> bool {
        !matches!(self, Self::Html(_))
    }
}

/// A text after a char filter.
#[derive(Clone, Debug, Default)]
pub struct Filtered {
    /// The text.
    pub text: String,
    /// The way back.
    pub offsets: Offsets,
}

/// Where characters of a filtered text stood, in UTF-16 units: from each place on, how far the
/// original is ahead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offsets {
    shifts: Vec<(u32, i64)>,
}

impl Offsets {
    /// From `at` on, the original is `ahead` units further. Places come in order.
    pub fn shift(&mut self, at: u32, ahead: i64) {
        match self.shifts.last_mut() {
            Some(last) if last.0 == at => last.1 = ahead,
            _ => self.shifts.push((at, ahead)),
        }
    }

    /// The original place of `at`.
    pub fn correct(&self, at: u32) -> u32 {
        let known = self.shifts.partition_point(|(from, _)| *from <= at);
        match known.checked_sub(1) {
            None => at,
            Some(known) => (i64::from(at) + self.shifts[known].1).max(0) as u32,
        }
    }
}

/// A filtered text as it is written; what it takes is taken from the room, and stays so.
struct Writing<'r> {
    done: Filtered,
    room: &'r Room,
    /// Units written, and units read.
    written: u32,
    read: u32,
}

/// Bytes of a shift.
const SHIFT_BYTES: usize = size_of::<(u32, i64)>();

impl<'r> Writing<'r> {
    fn new(room: &'r Room) -> Self {
        Self { done: Filtered::default(), room, written: 0, read: 0 }
    }

    /// A piece that stays.
    fn keep(&mut self, text: &str) -> Flow {
        self.room.take(text.len())?;
        let units = text.encode_utf16().count() as u32;
        self.done.text.push_str(text);
        self.written += units;
        self.read += units;
        ON
    }

    /// `read` gives way to `with`, as Lucene's mapping filter corrects offsets: units beyond the
    /// shorter of both are told one by one, or at once behind it.
    fn replace(&mut self, read: &str, with: &str) -> Flow {
        self.room.spend(TOKEN + with.len() as u64)?;
        let (from, to) = (read.encode_utf16().count() as u32, with.encode_utf16().count() as u32);
        let shifts = if to > from { to - from } else { u32::from(to < from) };
        self.room.take(with.len() + shifts as usize * SHIFT_BYTES)?;
        let ahead = i64::from(self.read) - i64::from(self.written);
        if to < from {
            let ahead = ahead + i64::from(from - to);
            self.done.offsets.shift(self.written + to, ahead);
        } else if to > from {
            for extra in 0..to - from {
                let ahead = ahead - i64::from(extra) - 1;
                self.done.offsets.shift(self.written + from + extra, ahead);
            }
        }
        self.done.text.push_str(with);
        self.written += to;
        self.read += from;
        ON
    }
}
