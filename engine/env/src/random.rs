//! Chance, as a question.

/// A source of random bytes, fit for keys in production, from the seed in simulation.
pub trait Random: Clone + 'static {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);

    /// A random number.
    fn next_u64(&self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}
