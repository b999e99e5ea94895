//! `pattern_replace` before cutting: what a pattern finds in the whole text.

use super::{Filtered, Writing};
use crate::analysis::regex::{Pattern, Replacement};

/// The filter.
#[derive(Clone, Debug)]
pub struct PatternReplaceChars {
    /// What to find.
    pub pattern: Pattern,
    /// What to put there.
    pub replacement: Replacement,
}

impl PatternReplaceChars {
    pub(super) fn apply(&self, text: &str) -> Filtered {
        let mut out = Writing::default();
        let mut at = 0;
        let mut with = String::new();
        self.pattern.each(text, |spans| {
            let Some((start, end)) = spans[0] else { return false };
            out.keep(&text[at..start]);
            with.clear();
            self.replacement.write(text, spans, &mut with);
            out.replace(&text[start..end], &with);
            at = end;
            true
        });
        out.keep(&text[at..]);
        out.done
    }
}
