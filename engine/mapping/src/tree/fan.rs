//! How much more work a byte of a document may be than one of a plain text field.
//!
//! A value of one field may be read by many: its multi-fields, the fields that it is copied to and
//! theirs; and a date may be tried by hundreds of formats. A document of 30 KB may so be a quarter of
//! a second of work. Which field a byte stands in is not known before it is read, so the dearest counts.

use super::node::Flat;
use crate::types::{Field, Kind};

/// Work is counted in quarters of a byte of plain text.
const TEXT: u32 = 4;

/// A try of a format takes about half as long as a byte of text; most values are several.
const FORMAT: u32 = 2;

/// The work of a byte in the dearest field, in bytes of plain text: one at least.
pub(super) fn fan(flat: &Flat) -> u32 {
    let dearest = flat.fields.iter().map(|field| {
        let copies = field.copy_to.iter().filter_map(|target| flat.field(target));
        copies.map(|target| whole(target)).fold(whole(field), u32::saturating_add)
    });
    (dearest.max().unwrap_or(TEXT) / TEXT).max(1)
}

/// A field with its multi-fields.
fn whole(field: &Field) -> u32 {
    let multi = field.multi_fields.iter().map(|multi| own(multi));
    multi.fold(own(field), u32::saturating_add)
}

fn own(field: &Field) -> u32 {
    let formats = match &field.kind {
        Kind::Text(_) | Kind::Completion(_) => return TEXT,
        Kind::Date(date) => date.format.alternative_count(),
        Kind::Range(range) => range.date_format().alternative_count(),
        _ => return 1,
    };
    FORMAT.saturating_mul(u32::try_from(formats).unwrap_or(u32::MAX))
}
