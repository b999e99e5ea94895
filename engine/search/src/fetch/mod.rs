//! Winners become hits: ids, source, versions, sort values, columns.
//!
//! | file      | what                                          |
//! |-----------|-----------------------------------------------|
//! | `hit`     | one winner, whole                             |
//! | `columns` | values of columns as `docvalue_fields` shows them |
//! | `fields`  | values of the source as `fields` shows them   |

mod columns;
mod fields;
mod highlight;
mod hit;
mod inner;
mod scripted;

pub use columns::{Columns, bind as bind_columns};
pub use fields::Shown;
pub(crate) use fields::sources;
pub use highlight::Marks;
pub(crate) use highlight::collect;
pub use hit::{Fetch, hit, texts};
pub use inner::{Inner, InnerPlans, of_path as inner_of_path};
pub use scripted::{Making, Scripts};
