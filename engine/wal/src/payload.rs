//! A batch's payload in pieces: records become bytes without a copy of the whole.
//!
//! Why: a bulk request may be one record of a hundred megabytes. To check-sum it or to copy it at
//! one go would stop its core for tens of milliseconds.

use base::vint;

use crate::Record;

/// Reads the payload of some records from front to back.
pub(crate) struct Payload<'a> {
    records: std::slice::Iter<'a, Record>,
    /// The integers before a record's bytes, and how many of their bytes were given.
    head: Vec<u8>,
    head_at: usize,
    /// What is left of the record's bytes.
    body: &'a [u8],
}

impl<'a> Payload<'a> {
    pub(crate) fn new(records: &'a [Record]) -> Self {
        Self { records: records.iter(), head: Vec::with_capacity(32), head_at: 0, body: &[] }
    }

    /// The next bytes, at most `max`; none at the end.
    pub(crate) fn next(&mut self, max: usize) -> &[u8] {
        assert!(max > 0, "no bytes are asked for");
        if self.head_at == self.head.len() && self.body.is_empty() {
            let Some(record) = self.records.next() else { return &[] };
            self.head.clear();
            self.head_at = 0;
            vint::write(&mut self.head, u64::from(record.count));
            vint::write(&mut self.head, record.first_seq_no.0);
            vint::write(&mut self.head, record.mapping_version);
            vint::write(&mut self.head, record.payload.len() as u64);
            self.body = &record.payload;
        }
        let head = &self.head[self.head_at..];
        if !head.is_empty() {
            let len = head.len().min(max);
            self.head_at += len;
            return &head[..len];
        }
        let (next, rest) = self.body.split_at(self.body.len().min(max));
        self.body = rest;
        next
    }

    /// Copies the next bytes to the front of `out`; fewer than it holds only at the end.
    pub(crate) fn fill(&mut self, out: &mut [u8]) -> usize {
        let mut filled = 0;
        while filled < out.len() {
            let next = self.next(out.len() - filled);
            if next.is_empty() {
                break;
            }
            out[filled..filled + next.len()].copy_from_slice(next);
            filled += next.len();
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use base::SeqNo;
    use proptest::prelude::*;

    use super::*;
    use crate::frame::record_bytes;

    proptest! {
        #[test]
        fn pieces_of_any_size_make_the_same_bytes(
            parts in prop::collection::vec((any::<u32>(), 0..500usize), 0..8),
            piece in 1..200usize,
        ) {
            let records: Vec<Record> = parts
                .iter()
                .map(|&(number, len)| Record {
                    first_seq_no: SeqNo(number.into()),
                    count: number,
                    mapping_version: 3,
                    payload: vec![number as u8; len],
                })
                .collect();
            let len: usize = records.iter().map(record_bytes).sum();
            let mut whole = vec![0; len + 1];
            prop_assert_eq!(Payload::new(&records).fill(&mut whole), len);
            let mut pieces = Payload::new(&records);
            let mut joined = Vec::new();
            loop {
                let next = pieces.next(piece);
                if next.is_empty() {
                    break;
                }
                prop_assert!(next.len() <= piece);
                joined.extend_from_slice(next);
            }
            prop_assert_eq!(&joined, &whole[..len]);
        }
    }
}
