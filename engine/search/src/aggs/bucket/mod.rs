//! Collectors that put documents into buckets.
//!
//! | file       | holds                                                      |
//! |------------|------------------------------------------------------------|
//! | `keyed`    | buckets by key, whatever the key                           |
//! | `slots`    | numbers of buckets by owner and key                        |
//! | `single`   | aggregations with one bucket; `choose`: which documents    |
//! | `terms`    | keys that are values                                       |
//! | `census`   | documents of terms by the dictionary                       |
//! | `number`   | widths, times, ranges, cells                               |
//! | `once`     | each key of a document once                                |
//! | `span`     | buckets that spans touch                                   |
//! | `address`  | ranges and networks of addresses                           |
//! | `filters`  | places of filters; `matcher`: whether documents match      |
//! | `several`  | combinations of values                                     |
//! | `text`     | words of a text                                            |
//! | `sampler`  | the best documents, passed on late                         |
//! | `family`   | objects below documents and documents above objects        |

pub mod address;
pub mod census;
pub mod choose;
pub mod family;
pub mod filters;
pub mod keyed;
pub mod made;
pub mod matcher;
pub mod number;
mod once;
pub mod sampler;
pub mod several;
pub mod single;
pub mod slots;
pub mod span;
pub mod terms;
pub mod text;
