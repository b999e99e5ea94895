//! Entries get what they were ordered by in full, once they are sure to stay.

use super::*;

impl Sorter {
    /// Reads the terms of a hit of the segment at hand; false where it must wait.
    pub(super) fn settle(&mut self, entry: usize, turn: &mut Turn<'_>) -> segment::Result<bool> {
        if self.account.is_over() {
            // Nothing of it will be told.
            return Ok(false);
        }
        for at in 0..self.readers.len() {
            let Reader::Ordinals { column, within, key } = &mut self.readers[at] else { continue };
            turn.spend(8);
            let doc = DocId(self.heap[entry].doc);
            let Some((ranks, reader)) = column.as_deref_mut() else {
                self.heap[entry].terms[at] = missing_value(&key.missing);
                continue;
            };
            let counts = (&*key, within.as_ref());
            let rank = rank(ranks, counts, self.children[at].as_ref(), doc.get());
            let Some(rank) = rank else {
                self.heap[entry].terms[at] = missing_value(&key.missing);
                continue;
            };
            if !turn.resident {
                reader.need(rank, turn.missing)?;
                if !turn.is_ready() {
                    return Ok(false);
                }
            }
            turn.spend(16);
            let term: Arc<[u8]> = reader.term(rank)?.into();
            let bytes = term.len();
            let before = self.heap[entry].terms[at].replace(term);
            // It waited for the term of another key, and comes again.
            self.text_bytes = self.text_bytes.saturating_sub(before.map_or(0, |term| term.len()));
            self.hold(bytes);
        }
        self.heap[entry].settled = true;
        Ok(true)
    }

    /// Gives a hit of another segment its numbers in this one; false where it must wait.
    pub(super) fn seat(&mut self, entry: usize, turn: &mut Turn<'_>) -> segment::Result<bool> {
        for at in 0..self.readers.len() {
            if !matches!(self.readers[at], Reader::Ordinals { .. }) {
                continue;
            }
            turn.spend(8);
            let term = self.heap[entry].terms[at].clone();
            match self.seat_term(at, term.as_deref(), turn)? {
                Some(number) => self.heap[entry].keys[at] = number,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The number of a term in this segment; `None` where it must wait.
    pub(super) fn seat_term(
        &mut self,
        at: usize,
        term: Option<&[u8]>,
        turn: &mut Turn<'_>,
    ) -> segment::Result<Option<i64>> {
        let descending = self.keys.keys[at].descending;
        let Reader::Ordinals { column, key, .. } = &mut self.readers[at] else {
            return Ok(Some(0));
        };
        let Some(term) = term else {
            return Ok(Some(match key.missing {
                MissingTerm::First => i64::MIN,
                _ => i64::MAX,
            }));
        };
        let Some((_, reader)) = column.as_deref_mut() else {
            let number = unknown_number(base::Ord(0), term, &key.missing);
            return Ok(Some(directed(number, descending)));
        };
        if !turn.resident {
            reader.need_lookup(term, turn.missing)?;
            if !turn.is_ready() {
                return Ok(None);
            }
        }
        turn.spend(64);
        let number = match reader.lookup(term)? {
            Ok(rank) => known_number(rank),
            Err(rank) => unknown_number(rank, term, &key.missing),
        };
        Ok(Some(directed(number, descending)))
    }

    /// A place of `search_after` in the space of this segment; `None` where it must wait.
    pub(super) fn seat_place(
        &mut self,
        at: usize,
        place: &Place,
        turn: &mut Turn<'_>,
    ) -> segment::Result<Option<i64>> {
        let descending = self.keys.keys[at].descending;
        match place {
            Place::Score(score) => Ok(Some(directed(sortable::from_f32(*score), descending))),
            Place::Doc(doc) => Ok(Some(directed(*doc as i64, descending))),
            Place::Number(number) => Ok(Some(directed(*number, descending))),
            Place::Term(term) => self.seat_term(at, term.as_deref(), turn),
        }
    }
}
