//! Does a sorted segment hold its documents in the order that is asked for? Then the first of them are
//! the best, and what follows a document that is not good enough need not be looked at.
//!
//! Always true: where [`Order::is_prefix_of`] says so, the keys of a segment's documents never fall from
//! one to the next. A key that tells less than the segment's (a number compared as another kind) may
//! only be the last one, for two numbers that become equal would bring out the wrong second key.

use segment::{SortColumn, SortKey, SortOrder};

use super::numeric::{NumberForm, Numeric};
use super::order::{Key, MissingTerm, Order, Source};
use crate::request::Mode;

impl Order {
    /// Do documents that stand in the order of a segment stand in this one, too?
    pub fn is_prefix_of(&self, order: &SortOrder) -> bool {
        let mut kept = order.keys().iter();
        let last = self.keys.len().saturating_sub(1);
        !self.keys.is_empty()
            && self.keys.iter().enumerate().all(|(at, key)| match &key.source {
                // Documents that are equal so far stand in the order of their places.
                Source::Doc | Source::ShardDoc => at == last && !key.descending,
                _ => kept.next().is_some_and(|kept| agrees(key, kept, at == last)),
            })
    }
}

/// Does a key order documents as a segment's does?
fn agrees(key: &Key, kept: &SortKey, is_last: bool) -> bool {
    if key.inside.is_some() || key.descending != kept.descending {
        return false;
    }
    match &key.source {
        Source::Numeric(numeric) => {
            let mode = if kept.greatest { Mode::Max } else { Mode::Min };
            let tells_all =
                matches!((numeric.stored, numeric.form), (NumberForm::Half, NumberForm::Float))
                    || numeric.stored == numeric.form;
            kept.column == SortColumn::Numbers
                // Each document is looked at: its date may be none that nanoseconds tell.
                && numeric.stored != NumberForm::Millis
                && numeric.field == Some(kept.field)
                && numeric.mode == mode
                && (tells_all || is_last)
                && numeric.missing == end(numeric, kept.missing_first != key.descending)
        }
        Source::Ordinals(ordinals) => {
            let missing = if kept.missing_first { MissingTerm::First } else { MissingTerm::Last };
            kept.column == SortColumn::Terms
                && ordinals.field == Some(kept.field)
                && ordinals.greatest == kept.greatest
                && ordinals.missing == missing
        }
        Source::Score
        | Source::Doc
        | Source::ShardDoc
        | Source::Distance(_)
        | Source::Script(_) => false,
    }
}

/// What stands for no value, where that is less (or more) than all values.
fn end(numeric: &Numeric, least: bool) -> i64 {
    super::order::missing_end(numeric.form, numeric.narrow, least)
}
