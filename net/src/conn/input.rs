//! A connection's buffer: bytes that were read and not yet used.

use crate::limits::{BUFFER_BYTES_MAX, BUFFER_BYTES_MIN};

/// What is read at once of who is not known, or where memory goes short.
const AHEAD_BYTES_MIN: usize = 2 * BUFFER_BYTES_MIN;

/// Used from the front, filled at the back; small while idle.
#[derive(Debug)]
pub(crate) struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Reads in a row that would have fitted into half of the buffer.
    small_reads: u32,
    /// The last read filled it: it may grow.
    was_filled: bool,
}

impl Input {
    /// An empty buffer of the smallest size.
    pub(crate) fn new() -> Self {
        let bytes = vec![0; BUFFER_BYTES_MIN];
        Self { bytes, start: 0, end: 0, small_reads: 0, was_filled: false }
    }

    /// Before a read. Much may be read at once where it is known who sends, and there is memory for it: then the buffer
    /// grows where the last read filled it. Where it is not so any more, a large one of which little is used goes; it
    /// still grows for what cannot be used before more of it is there.
    pub(crate) fn read_ahead(&mut self, is_much: bool) {
        let most = if is_much { BUFFER_BYTES_MAX } else { AHEAD_BYTES_MIN };
        let unused = self.start..self.end;
        if self.bytes.len() > most && unused.len() <= most / 2 {
            let mut bytes = vec![0; most];
            bytes[..unused.len()].copy_from_slice(&self.bytes[unused.clone()]);
            (self.bytes, self.start, self.end) = (bytes, 0, unused.len());
        }
        if std::mem::take(&mut self.was_filled) && self.bytes.len() < most {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let grown = (self.bytes.len() * 2).min(BUFFER_BYTES_MAX);
        self.bytes.resize(grown, 0);
    }

    /// The memory that it takes.
    pub(crate) fn held(&self) -> usize {
        self.bytes.len()
    }

    /// The memory that it takes once more was read: of much at once, or of nothing but what is needed.
    pub(crate) fn held_next(&self, is_much: bool) -> usize {
        let grows = self.is_full() || (self.was_filled && is_much);
        if grows { self.bytes.len() * 2 } else { self.bytes.len() }
    }

    /// Nothing can be read before it grows?
    fn is_full(&self) -> bool {
        self.end - self.start == self.bytes.len()
    }

    /// What was read and not used.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Nothing is left?
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Uses up bytes of the front.
    pub(crate) fn consume(&mut self, count: usize) {
        assert!(count <= self.end - self.start);
        self.start += count;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Room to read into, never empty.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.bytes.len() {
            // A head is refused before it fills the largest buffer, a body is used up at once.
            assert!(self.bytes.len() < BUFFER_BYTES_MAX);
            self.grow();
        }
        &mut self.bytes[self.end..]
    }

    /// So many bytes of the room were filled.
    pub(crate) fn filled(&mut self, count: usize) {
        let room = self.bytes.len() - self.end;
        assert!(count <= room);
        self.end += count;
        self.was_filled = count == room;
        self.small_reads = if count * 2 > room { 0 } else { self.small_reads.saturating_add(1) };
    }

    /// The connection will wait with nothing in its buffer: gives back what it seems not to need. A
    /// large buffer is filled again in a few reads; kept, it is as much for each idle connection.
    pub(crate) fn rest(&mut self) {
        const SMALL_READS_MIN: u32 = 8;
        let is_large = self.bytes.len() > AHEAD_BYTES_MIN;
        if is_large || (self.bytes.len() > BUFFER_BYTES_MIN && self.small_reads >= SMALL_READS_MIN)
        {
            self.bytes = vec![0; BUFFER_BYTES_MIN];
            self.small_reads = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let mut input = Input::new();
        let (mut put, mut taken) = (0u32, 0u32);
        for round in 0..2_000u32 {
            let space = input.space();
            let count = (round as usize * 37 % 5_000).min(space.len());
            for byte in &mut space[..count] {
                *byte = put as u8;
                put += 1;
            }
            input.filled(count);
            let want = input.bytes().len().min(round as usize * 53 % 6_000);
            let use_up = if input.bytes().len() > 30_000 { input.bytes().len() } else { want };
            for byte in &input.bytes()[..use_up] {
                assert_eq!(*byte, taken as u8);
                taken += 1;
            }
            input.consume(use_up);
            if input.is_empty() {
                input.rest();
            }
        }
        assert!(input.bytes.len() <= BUFFER_BYTES_MAX);
    }

    #[test]
    fn a_large_buffer_goes_where_memory_is_short() {
        let mut input = Input::new();
        while input.bytes.len() < BUFFER_BYTES_MAX {
            input.read_ahead(true);
            let (told, room) = (input.held_next(true), input.space().len());
            assert!(input.held() <= told);
            input.filled(room);
        }
        let read = input.bytes().len();
        input.bytes[read - 1] = 7;
        // It stays as long as more is in it than the small one is to hold.
        input.read_ahead(false);
        assert_eq!(input.held(), BUFFER_BYTES_MAX);
        input.consume(read - 100);
        input.read_ahead(true);
        assert_eq!(input.held(), BUFFER_BYTES_MAX);
        input.read_ahead(false);
        assert_eq!(input.held(), AHEAD_BYTES_MIN);
        assert_eq!((input.bytes().len(), input.bytes().last()), (100, Some(&7)));
        // It grows by what cannot be used yet alone.
        for _ in 0..2 {
            let room = input.space().len();
            input.filled(room);
            assert_eq!(input.held(), AHEAD_BYTES_MIN);
            input.consume(input.bytes().len());
        }
    }

    #[test]
    fn an_idle_buffer_is_small_again() {
        let mut input = Input::new();
        while input.bytes.len() < BUFFER_BYTES_MAX {
            let room = input.space().len();
            input.filled(room);
        }
        input.consume(input.bytes().len());
        input.rest();
        assert_eq!(input.bytes.len(), BUFFER_BYTES_MIN, "a large one at once");
        let room = input.space().len();
        input.filled(room);
        input.consume(input.bytes().len());
        input.read_ahead(false);
        for _ in 0..8 {
            input.rest();
            assert_eq!(
                input.bytes.len(),
                2 * BUFFER_BYTES_MIN,
                "a middling one may be of use again"
            );
            input.space();
            input.filled(1);
            input.consume(1);
        }
        input.rest();
        assert_eq!(input.bytes.len(), BUFFER_BYTES_MIN);
    }
}
