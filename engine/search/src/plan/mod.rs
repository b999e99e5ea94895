//! Where names become terms, numbers and columns.

pub mod minimum;
