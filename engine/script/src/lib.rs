//! The scripting language: the Painless that people use.
//!
//! A source is read once into a [`Program`] (lexer, parser, checks, bytecode), which any core may
//! share. A [`Machine`] runs it: a stack, frames and a [`Heap`] of its own, so that nothing of a run
//! outlives it but what the caller takes out. What a script sees of the outside comes through
//! [`Host`], asked when it is needed.
//!
//! Always true
//! 1. A run is bounded: loops by Elasticsearch's million rounds, everything else by steps, memory
//!    and depth ([`limits`]). Neither parser nor machine recurses deeper than a fixed depth.
//! 2. A run stops when its fuel is used up and goes on where it stood, so that a core can do other
//!    work in between.
//! 3. Numbers behave as Java's: widths, overflow, promotion, division, text.
//! 4. Values are plain words; objects lie in the heap by number. Nothing is counted or collected:
//!    a run's garbage goes with the run.
//!
//! Not here: what a script's context is bound to (`search`, `shard`, `engine`), JSON, HTTP.

#![forbid(unsafe_code)]

pub mod arith;
pub mod ast;
mod automaton;
mod backtrack;
pub mod compare;
pub mod compile;
mod considered;
pub mod context;
pub mod date;
pub mod error;
pub mod heap;
pub mod java;
pub mod lexer;
mod library;
pub mod limits;
mod looked;
pub mod map;
mod merge_sort;
pub mod op;
pub mod parse;
pub mod pattern;
mod program;
mod reach;
mod regular;
mod rewrite;
pub mod show;
pub mod types;
pub mod vm;

pub use compile::compile;
pub use context::{Context, Returns};
pub use error::{Error, Fault, Stage};
pub use heap::{Heap, Object, Ref, Value};
pub use op::Program;
pub use vm::{Host, Machine, NoHost, Run};
