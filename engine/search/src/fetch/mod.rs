//! Winners become hits: ids, source, versions, sort values, columns.
//!
//! | file      | what                                          |
//! |-----------|-----------------------------------------------|
//! | `hit`     | one winner, whole                             |
//! | `chosen`  | parts of the source                           |
//! | `columns` | values of columns as `docvalue_fields` shows them |
//! | `wanted`  | fields that `fields` and `stored_fields` ask for |
//! | `fields`  | values of the source as `fields` shows them   |

mod chosen;
mod columns;
mod fields;
mod highlight;
mod hit;
mod inner;
mod scripted;
mod wanted;

pub use columns::{Columns, bind as bind_columns};
pub use fields::Shown;
pub use highlight::Marks;
pub(crate) use highlight::collect;
pub use hit::{Fetch, asks_much, hit, texts};
pub use inner::{Inner, InnerPlans, of_path as inner_of_path};
pub use scripted::{Making, Scripts};
pub(crate) use wanted::sources;
