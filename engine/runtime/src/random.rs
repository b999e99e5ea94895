//! Chance: the operating system's generator, fit for keys.

use env::Random;
use ring::rand::{SecureRandom, SystemRandom};

/// The operating system's random bytes.
#[derive(Clone, Debug)]
pub struct RuntimeRandom(SystemRandom);

impl RuntimeRandom {
    /// The one generator there is.
    pub fn new() -> Self {
        Self(SystemRandom::new())
    }
}

impl Default for RuntimeRandom {
    fn default() -> Self {
        Self::new()
    }
}

impl Random for RuntimeRandom {
    fn fill(&self, bytes: &mut [u8]) {
        // `getrandom` fails only before the kernel has gathered its first entropy, and blocks
        // instead. Going on with bytes that are not random would be worse than stopping.
        self.0.fill(bytes).expect("the kernel gives random bytes");
    }
}
