//! CRC-32 (IEEE) of bytes, by `crc32fast`: the one checksum of every file and frame.

/// Checksum of `bytes`.
#[inline]
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// A checksum that is fed piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Checksum(crc32fast::Hasher);

impl Checksum {
    /// The checksum of no bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Feeds `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes fed.
    pub fn finish(self) -> u32 {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_give_the_checksum_of_the_whole() {
        let mut pieces = Checksum::new();
        pieces.update(b"1234");
        pieces.update(b"56789");
        assert_eq!(pieces.finish(), checksum(b"123456789"));
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926, "the published check value of CRC-32");
    }
}
