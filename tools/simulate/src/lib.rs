//! Whole nodes by seed: below HTTP, unchanged, on simulated machines that fail, with an oracle that
//! knows every attempt and every answer.
//!
//! Always true
//! 1. One seed is one machine through several lives of the process, on one thread and in virtual
//!    time. The same seed gives the same trace.
//! 2. Whatever is not as it was promised is a panic that says what; `simulate` tells which seed, and
//!    the command that replays it.
//!
//! What is promised, and asked
//! - of each document: an order of all attempts that explains every answer (`judge`), terms that
//!   rise at each unclean stop, numbers that are given once;
//! - of each search after a refresh: what the plainest model finds (`searches`);
//! - of indices, aliases and fields: what was acknowledged stands, what was deleted stays deleted
//!   (`indices`);
//! - of settings, closed and opened indices, copies, rollovers and templates: what was acknowledged
//!   holds, also where two changes came at one moment (`shapes`);
//! - of codes, refresh tokens, grants, users and keys: what may happen once happens once, and what
//!   ended does not come back (`secrets`).
//!
//! On a machine whose disk lies or rots ([`damage`]) an answer is right or a failure that says so.
//!
//! Deliberately absent: HTTP (its framing has a differential fuzz target), several nodes, threads
//! (models of loom).

#![forbid(unsafe_code)]

pub mod clients;
pub mod context;
pub mod damage;
pub mod documents;
pub mod history;
pub mod indices;
pub mod judge;
pub mod node;
pub mod run;
pub mod searches;
pub mod secrets;
pub mod shapes;
pub mod table;

pub use run::{Outcome, run};
