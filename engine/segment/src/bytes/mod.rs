//! Ways to lay bytes: archives, packed integers, compressed blocks, sets of bits.

pub mod archive;
pub mod bitmap;
pub mod bitpack;
pub mod keys;
pub mod packed;
pub mod zblock;
