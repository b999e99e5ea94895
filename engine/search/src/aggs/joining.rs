//! Joining what a segment found with what others had before it, some buckets at a time.
//!
//! [`reduce::merge`] does the same at once. Here a turn ends between two buckets, since each may hold
//! sets and digests of thousands of values; on its way a bucket's digests are sorted, so that the last
//! reduction, which knows no turns, finds them ready.
//!
//! Not here: buckets inside of buckets, which go with the one that holds them.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::vec::IntoIter;

use super::partial::{Bucket, Buckets, Partial};
use super::reduce;
use super::spec::Agg;
use crate::error::Result;

/// Work of a bucket, and of a value in it, in the unit of [`crate::iter::Turn::spend`].
const BUCKET_WORK: usize = 16;
const VALUE_WORK: usize = 6;

/// Two lists of buckets on their way to become one, both in the order of their keys.
#[derive(Debug)]
pub struct Joining {
    /// All but the list.
    head: Buckets,
    left: Peekable<IntoIter<Bucket>>,
    right: Peekable<IntoIter<Bucket>>,
    joined: Vec<Bucket>,
}

impl Joining {
    /// Begins to join `into`, where there is one, with `from`.
    ///
    /// # Errors
    /// Where a field has different types in different indices.
    pub fn new(agg: Option<&Agg>, into: Option<Buckets>, mut from: Buckets) -> Result<Self> {
        let (mut head, left) = match into {
            None => {
                let list = std::mem::take(&mut from.list);
                let head = Buckets { list: Vec::new(), ..from };
                return Ok(Self::of(head, Vec::new(), list));
            }
            Some(mut into) => {
                reduce::join_heads(agg, &mut into, &mut from)?;
                let list = std::mem::take(&mut into.list);
                (into, list)
            }
        };
        head.list = Vec::new();
        Ok(Self::of(head, left, from.list))
    }

    fn of(head: Buckets, left: Vec<Bucket>, right: Vec<Bucket>) -> Self {
        let joined = Vec::with_capacity(left.len() + right.len());
        let (left, right) = (left.into_iter().peekable(), right.into_iter().peekable());
        Self { head, left, right, joined }
    }

    /// Goes on by one bucket; false where none is left.
    ///
    /// # Errors
    /// Where a field has different types in different indices.
    pub fn step(&mut self, agg: Option<&Agg>) -> Result<bool> {
        let next = match (self.left.peek(), self.right.peek()) {
            (Some(a), Some(b)) => reduce::order(agg, &a.key, &b.key),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return Ok(false),
        };
        match next {
            Ordering::Less => self.joined.extend(self.left.next()),
            Ordering::Greater => self.joined.extend(self.right.next()),
            Ordering::Equal => {
                if let (Some(mut a), Some(b)) = (self.left.next(), self.right.next()) {
                    reduce::join(agg, &mut a, b)?;
                    self.joined.push(a);
                }
            }
        }
        Ok(true)
    }

    /// Makes the bucket of the last step ready for the last reduction: about how much work the step
    /// and that were.
    pub fn settle(&mut self) -> usize {
        BUCKET_WORK + self.joined.last_mut().map_or(0, settle)
    }

    /// What became of them, as far as all were joined.
    pub fn finish(self) -> Buckets {
        debug_assert!(self.left.len() + self.right.len() == 0, "it is done");
        Buckets { list: self.joined, ..self.head }
    }
}

/// Sorts a bucket's digests: about how much work it was to make and to sort what it holds.
fn settle(bucket: &mut Bucket) -> usize {
    bucket.subs.iter_mut().map(settle_partial).sum()
}

fn settle_partial(partial: &mut Partial) -> usize {
    match partial {
        Partial::Digest(digest, _) => {
            digest.settle();
            digest.held() * VALUE_WORK
        }
        Partial::Distinct(distinct) => distinct.held() * VALUE_WORK,
        Partial::Single(bucket) => settle(bucket),
        Partial::Buckets(buckets) => {
            buckets.list.iter_mut().map(|bucket| BUCKET_WORK + settle(bucket)).sum()
        }
        _ => BUCKET_WORK,
    }
}
