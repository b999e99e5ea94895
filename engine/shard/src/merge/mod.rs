//! Merging: which segments (`policy`), and doing it (`run`).

pub mod policy;
pub(crate) mod run;
