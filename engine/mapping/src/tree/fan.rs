//! How much more work a byte of a document may be than one of a plain text field.
//!
//! A value of one field may be read by many: its multi-fields, the fields that it is copied to and
//! theirs; and a date may be tried by hundreds of formats. A document of 30 KB may so be a quarter of
//! a second of work. Which field a byte stands in is not known before it is read, so the dearest counts.

use super::node::Flat;
use crate::types::{Field, Kind, Text, TextFlavor, shingle};

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

/// A field with its multi-fields, and the parts that it has of itself.
fn whole(field: &Field) -> u32 {
    let with_parts = |field: &Field| {
        let parts = field.parts.iter().map(|part| own(part));
        parts.fold(own(field), u32::saturating_add)
    };
    let multi = field.multi_fields.iter().map(|multi| with_parts(multi));
    multi.fold(with_parts(field), u32::saturating_add)
}

/// Bytes of words that become of one of a text.
fn words(text: &Text) -> u32 {
    let joined = match text.flavor {
        TextFlavor::Text | TextFlavor::MatchOnly | TextFlavor::SearchAsYouType(_) => 1,
        TextFlavor::Shingles(size) => u32::from(size),
        TextFlavor::Prefixes(size) => {
            u32::from(size).saturating_mul(shingle::PREFIX_MAX as u32 / 2)
        }
        TextFlavor::Beginnings(_, most) => 1 + u32::from(most) / 2,
    };
    text.analyzer.expansion().saturating_mul(joined)
}

fn own(field: &Field) -> u32 {
    let formats = match &field.kind {
        Kind::Text(text) => return TEXT.saturating_mul(words(text)),
        Kind::Completion(_) => return TEXT,
        Kind::Date(date) => date.format.alternative_count(),
        Kind::Range(range) => range.date_format().alternative_count(),
        _ => return 1,
    };
    FORMAT.saturating_mul(u32::try_from(formats).unwrap_or(u32::MAX))
}
