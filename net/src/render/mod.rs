//! Results as bytes. Only here and in `rest` is response JSON written.

pub mod aggs;
pub mod by_query;
pub mod cat;
pub mod document;
pub mod profile;
pub mod search;
pub mod stats;
pub mod suggest;
pub mod units;
