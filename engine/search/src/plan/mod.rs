//! From a request to a plan: names become terms, numbers and columns of one index ([`bind`]), then
//! weights of one shard ([`weigh`]).
//!
//! | file      | what                                                    |
//! |-----------|---------------------------------------------------------|
//! | `bound`   | a query that has met its index                          |
//! | `bind`    | how it meets it; `text` and `leaf` for its leaves       |
//! | `automata`| those of a request, each made once                      |
//! | `metadata`| what queries of the system's fields may ask             |
//! | `order`   | sort keys that have met it                              |
//! | `page`    | where among them a page begins                          |
//! | `purse`   | who pays for what is made meanwhile                      |
//! | `sorted`  | whether a sorted segment has them already               |
//! | `rewrite` | compounds made simple without changing a score          |
//! | `skip`    | whether a shard can match at all                        |
//! | `gather`  | the terms of patterns, in steps; `seen` for whom        |
//! | `weigh`   | statistics of a shard, weights, and the terms' postings |
//! | `late`    | what stands for that where no time is left              |
//! | `veil`    | places, as those are told them who do not see all       |

mod alike;
mod automata;
pub mod bind;
pub mod bound;
mod counts;
pub mod distance;
pub mod expand;
pub mod family;
mod fields;
pub mod function;
pub mod gather;
mod graph;
pub mod inside;
mod join;
mod late;
mod leaf;
pub mod metadata;
pub mod minimum;
mod multi;
mod numeric;
pub mod order;
mod page;
pub mod places;
mod purse;
mod query_string;
mod rewrite;
mod seen;
pub mod show;
mod simple;
pub mod skip;
mod sorted;
mod syntax;
mod text;
pub mod uses;
pub mod veil;
pub mod weigh;
mod weigh_terms;
mod within;
mod words;

pub use alike::at_path;
pub use automata::Automata;
pub use bind::{Context, bind, bind_query, check_query};
pub use bound::Bound;
pub use purse::Purse;
pub use veil::Veil;
pub use weigh::{Plan, weigh};
