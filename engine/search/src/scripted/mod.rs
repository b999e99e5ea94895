//! Scripts over documents: what they see of a segment, and how they run there in steps.
//!
//! Always true
//! 1. A script sees the mapping of its caller: a hidden field is not mapped.
//! 2. It runs only on documents that its caller may see and that are not deleted; so what it fails
//!    with tells nothing of others.
//! 3. It stops when the turn is used up and goes on where it stood (D6).
//!
//! Not here: the language (`script`), where scripts stand in a request (`dsl`, `plan`).

mod bound;
mod host;
mod run;
mod site;

pub use bound::Bound;
pub use host::Columns;
pub use run::{HEAP_BYTES, Input, Runner, Take, fails};
pub use site::Site;
