//! Aggregations: numbers and buckets over what a query finds.
//!
//! They pass through in this order:
//!
//! | file            | does                                                                 |
//! |-----------------|----------------------------------------------------------------------|
//! | `spec`          | as they were asked (`dsl::aggs` reads them)                           |
//! | `bind`, `bound` | names become columns, formats, filters of one index (`source`, `format`, `choice`) |
//! | `build`         | collectors for one segment: `bucket`, `measure`, `hits`; `collect` is their contract |
//! | `run`           | documents go through the collectors of a slice, in bounded steps     |
//! | `partial`       | what was found, mergeable: plain data that crosses cores             |
//! | `reduce`, `cut` | merging segments, shards, indices; the last order and sizes          |
//! | `pipeline`      | aggregations over results                                            |
//! | `shape`         | results as Elasticsearch shows them; `net` prints them               |
//!
//! Always true
//! 1. A collector keeps something for each bucket above it, numbered densely; buckets of two
//!    segments meet only as keys, when partials are merged.
//! 2. Memory is counted where it grows (`Account`); beyond its limit the search is refused.

pub mod auto;
pub mod background;
pub mod bind;
pub mod bound;
pub mod bucket;
pub mod build;
pub mod choice;
pub mod collect;
pub mod cut;
pub mod empty;
pub mod finish;
pub mod format;
pub mod geo;
pub mod hits;
pub mod joining;
pub mod measure;
pub mod meter;
pub mod metric;
pub mod pages;
pub mod partial;
pub mod paths;
pub mod pipeline;
pub mod read;
pub mod reduce;
pub mod rounding;
pub mod run;
pub mod scripted;
pub mod shape;
pub mod significance;
pub mod source;
pub mod spec;
pub mod student;

pub mod together;
pub mod width;

pub use finish::{Reducer, kinds_mut, looks_up, queries_mut, scripts_mut};
pub use partial::{Partial, Partials};
