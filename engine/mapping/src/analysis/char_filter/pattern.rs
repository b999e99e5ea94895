//! `pattern_replace` before cutting: what a pattern finds in the whole text.

use std::ops::ControlFlow;

use super::{Filtered, Writing};
use crate::analysis::regex::{Counted, Pattern, Replacement, Span};
use crate::analysis::room::{Flow, ON, Room};

/// The filter.
#[derive(Clone, Debug)]
pub struct PatternReplaceChars {
    /// What to find.
    pub pattern: Pattern,
    /// What to put there.
    pub replacement: Replacement,
}

impl PatternReplaceChars {
    pub(super) fn apply(&self, text: &str, room: &Room) -> ControlFlow<(), Filtered> {
        let mut out = Writing::new(room);
        let (mut at, mut flow) = (0, ON);
        let mut with = String::new();
        self.pattern.each_within(text, &Counted, |spans| {
            let Some((start, end)) = spans[0] else { return false };
            flow = self.replace(text, (at, start, end), spans, &mut with, &mut out);
            at = end;
            flow.is_continue()
        });
        flow?;
        room.spend(0)?;
        out.keep(&text[at..])?;
        ControlFlow::Continue(out.done)
    }

    /// Keeps the text from `at` to `start`, and replaces what was found from there to `end`.
    fn replace(
        &self,
        text: &str,
        (at, start, end): (usize, usize, usize),
        spans: &[Option<Span>],
        with: &mut String,
        out: &mut Writing<'_>,
    ) -> Flow {
        out.keep(&text[at..start])?;
        // Here for a moment, beside where it goes.
        let _held = out.room.hold(self.replacement.len_bytes(spans))?;
        with.clear();
        self.replacement.write(text, spans, with);
        out.replace(&text[start..end], with)
    }
}
