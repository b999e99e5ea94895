//! What metrics keep of values while they are collected and merged.
//!
//! | file       | keeps                                             |
//! |------------|---------------------------------------------------|
//! | `moments`  | counts, sums, ends, squares                       |
//! | `distinct` | how many different values                         |
//! | `digest`   | where values lie: t-digest and histogram          |
//! | `strings`  | lengths and letters                               |
//! | `matrix`   | moments of several fields together                |

pub mod digest;
pub mod distinct;
pub mod matrix;
pub mod moments;
pub mod strings;
