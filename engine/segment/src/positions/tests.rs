//! Positions, written and read again: whole, skipping, from any document.

use std::sync::Arc;

use base::{FieldNo, SegmentId};
use env::Bytes;
use proptest::prelude::*;

use super::{PositionCursor, PositionWriter};
use crate::section::{Check, File, Section};
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

/// A section that holds `bytes`.
fn section(bytes: &[u8]) -> Section {
    let mut writer = SegmentWriter::new(SegmentId(1), 1);
    writer.put(SectionKind::Positions, FieldNo(16), bytes);
    let file = writer.seal().expect("sealed");
    let file = Arc::new(File::open(Bytes::from(file), Check::Full).expect("just sealed"));
    file.section(SectionKind::Positions, FieldNo(16)).expect("just put")
}

#[test]
fn short_term_lies_as_the_head_says() {
    let mut writer = PositionWriter::new();
    writer.add(&[4, 9]);
    writer.add(&[2]);
    assert_eq!(writer.finish(), (0, 3));
    assert_eq!(writer.into_bytes(), [4, 5, 2]);
}

proptest! {
    #[test]
    fn positions_are_read_from_any_document(
        freqs in prop::collection::vec(1u32..200, 1..40),
        seed: u32,
        spread in 1u32..1000,
        wanted in prop::collection::vec(any::<prop::sample::Index>(), 1..10),
    ) {
        let mut state = seed;
        let docs: Vec<Vec<u32>> = freqs.iter().map(|freq| {
            let mut position = 0;
            (0..*freq).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                position += (state >> 8) % spread;
                position
            }).collect()
        }).collect();
        let total = docs.iter().map(|doc| doc.len() as u64).sum();
        let mut writer = PositionWriter::new();
        writer.add(&[7]);
        writer.finish();
        let mut places = Vec::new();
        for doc in &docs {
            places.push(writer.place());
            writer.add(doc);
        }
        let (start, len) = writer.finish();
        let section = section(&writer.into_bytes());
        let range = start as u64..(start + len) as u64;
        let mut cursor = PositionCursor::new(section.clone(), range.clone(), total);
        let mut found = Vec::new();
        for doc in &docs {
            found.clear();
            cursor.read(doc.len() as u32, &mut found).expect("in order");
            prop_assert_eq!(&found, doc);
        }
        prop_assert!(cursor.read(1, &mut found).is_err(), "nothing after the last");
        for index in wanted {
            let at = index.index(docs.len());
            found.clear();
            let (offset, first) = places[at];
            cursor.jump(offset as u64);
            cursor.skip(u64::from(first)).expect("a place");
            cursor.read(docs[at].len() as u32, &mut found).expect("there");
            prop_assert_eq!(&found, &docs[at]);

            let mut fresh = PositionCursor::new(section.clone(), range.clone(), total);
            fresh.skip(docs[..at].iter().map(|doc| doc.len() as u64).sum()).expect("there");
            found.clear();
            fresh.read(docs[at].len() as u32, &mut found).expect("there");
            prop_assert_eq!(&found, &docs[at]);
        }
    }

    #[test]
    fn foreign_bytes_end_in_an_error_or_values(
        bytes in prop::collection::vec(any::<u8>(), 0..700),
        total in 0u64..1000,
        offset in 0u64..800,
        first in 0usize..130,
        count in 0u32..1000,
    ) {
        let section = section(&bytes);
        let mut cursor = PositionCursor::new(section, 0..bytes.len() as u64, total);
        let mut out = Vec::new();
        let _ = cursor.read(count, &mut out);
        cursor.jump(offset);
        let _ = cursor.skip(first as u64);
        let _ = cursor.skip(u64::from(count));
        let _ = cursor.read(count, &mut out);
        prop_assert!(out.len() <= 2 * count as usize);
    }
}
