//! Measuring Corelode: commands beside this crate (`bench/http`, `bench/engines`, `bench/start`),
//! kernels in `benches/`, a node in one process in `src/bin/inprocess.rs`.
//!
//! The library part is empty on purpose: the shipped program carries none of this.
