//! How long the log is that is not released, without remembering every batch.

use std::collections::VecDeque;

use crate::LogPosition;

/// A mark is set after so many bytes.
const MARK_BYTES: u64 = 64 << 10;

/// Length of a log, and where released parts end, to within 64 KiB.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extent {
    /// Bytes of all batches seen.
    bytes: u64,
    /// Of these, bytes released.
    released_bytes: u64,
    released: LogPosition,
    /// Position, and bytes up to its end.
    marks: VecDeque<(LogPosition, u64)>,
}

impl Extent {
    /// A batch was written (or read back).
    pub(crate) fn add(&mut self, position: LogPosition, bytes: u64) {
        self.bytes += bytes;
        let marked = self.marks.back().map_or(self.released_bytes, |(_, bytes)| *bytes);
        if self.bytes - marked >= MARK_BYTES {
            self.marks.push_back((position, self.bytes));
        }
        if position <= self.released {
            self.released_bytes = self.bytes;
        }
    }

    /// Batches up to `through` are not needed; `all` says that there are no others with records.
    pub(crate) fn release(&mut self, through: LogPosition, all: bool) {
        self.released = self.released.max(through);
        while let Some(&(position, bytes)) = self.marks.front()
            && (all || position <= through)
        {
            self.released_bytes = bytes;
            self.marks.pop_front();
        }
        if all {
            self.released_bytes = self.bytes;
        }
    }

    /// Bytes that are not released.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes - self.released_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_batches_do_not_count() {
        let mut extent = Extent::default();
        for position in 1..=64 {
            extent.add(LogPosition(position), 4096);
        }
        assert_eq!(extent.bytes(), 64 * 4096);
        extent.release(LogPosition(32), false);
        assert_eq!(extent.bytes(), 32 * 4096);
        extent.release(LogPosition(40), false);
        assert_eq!(extent.bytes(), 32 * 4096, "to within a mark");
        extent.release(LogPosition(64), true);
        assert_eq!(extent.bytes(), 0);
        extent.add(LogPosition(65), 4096);
        assert_eq!(extent.bytes(), 4096);
    }
}
