//! Merging: which segments (`policy`), and doing it (`run`).

pub mod policy;
pub(crate) mod run;

/// What a merge that is asked for is to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// The policy is content.
    Tidy,
    /// No segment holds more deleted documents than are let stand.
    Deletes,
    /// At most so many segments are left.
    Count(usize),
}
