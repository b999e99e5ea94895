//! From a request to a plan: names become terms, numbers and columns of one index ([`bind`]), then
//! weights of one shard ([`weigh`]).
//!
//! | file      | what                                                    |
//! |-----------|---------------------------------------------------------|
//! | `bound`   | a query that has met its index                          |
//! | `bind`    | how it meets it; `text` and `leaf` for its leaves       |
//! | `order`   | sort keys that have met it                              |
//! | `rewrite` | compounds made simple without changing a score          |
//! | `weigh`   | statistics of a shard, weights, and the terms' postings |

pub mod bind;
pub mod bound;
mod leaf;
pub mod minimum;
pub mod order;
mod rewrite;
mod text;
pub mod weigh;
pub mod wildcard;

pub use bind::{Context, bind};
pub use bound::Bound;
pub use weigh::{Plan, weigh};
