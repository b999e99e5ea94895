//! What reading one expression costs, and where it lets others run.
//!
//! A line of patterns over a hundred thousand aliases is 100 ms of a core: so much one caller may ask for,
//! and nobody has to wait for it.

use crate::error::{Error, Result};

/// Names that are looked at for one expression; about 100 ms of a core. Two thousand names bear a thousand
/// patterns that begin with a star; one that begins with letters looks only at names that begin so.
const WORK_MAX: usize = 1 << 21;

/// Names that are looked at without a pause: whether a caller sees one may be a microsecond or two.
const UNPAUSED_MAX: usize = 32;

/// What is spent, and how others get their turn.
pub(crate) struct Effort<'p, P> {
    spent: usize,
    pause: &'p P,
}

impl<'p, P: AsyncFn()> Effort<'p, P> {
    /// Nothing is spent yet.
    pub fn new(pause: &'p P) -> Self {
        Self { spent: 0, pause }
    }

    /// A name is looked at.
    pub async fn look(&mut self) {
        self.spent += 1;
        if self.spent.is_multiple_of(UNPAUSED_MAX) {
            (self.pause)().await;
        }
    }

    /// Another part of the expression is read. One part alone always may be.
    ///
    /// # Errors
    /// `illegal_argument_exception` where too much is spent.
    pub async fn part(&mut self) -> Result<()> {
        if self.spent <= WORK_MAX {
            self.look().await;
            return Ok(());
        }
        Err(Error::illegal_argument(format!(
            "the index expression is too costly: its patterns and exclusions look at more than [{WORK_MAX}] \
             names together"
        )))
    }
}
