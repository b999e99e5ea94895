//! HTTP/1.1 without a socket: bytes in, requests out; answers in, bytes out.
//!
//! Nothing here waits or reads by itself, so all of it runs the same under any split of the bytes.
//! The strict reading is the defence against request smuggling: where two readings of a message are
//! possible, there is none.
//!
//! Always true
//! 1. A message has one length. Lines end in CR LF, nothing else ends one.
//! 2. Everything is bounded by [`Limits`] before memory is taken for it.
//! 3. A refused message ends its connection: what follows it cannot be told apart.
//!
//! Not here: connections and time (`net`), TLS (`runtime`), HTTP/2.

#![forbid(unsafe_code)]

pub mod answer;
pub mod body;
pub mod client;
pub mod coding;
pub mod fault;
pub mod field;
pub mod head;
pub mod limits;
pub mod target;

pub use body::Body;
pub use fault::Fault;
pub use head::{Framing, Head, Method, Version};
pub use limits::Limits;
pub use target::Target;
