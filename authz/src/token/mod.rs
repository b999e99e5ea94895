//! Tokens: their text, and the seal of those that are not stored.

pub mod mask;
pub mod seal;
pub mod text;

pub use seal::{Content, Keys};
pub use text::{Kind, TokenText};
