//! `variable_width_histogram`: near buckets are joined until there are few enough.

use super::partial::{Bucket, Buckets, Key};
use super::reduce;
use super::spec::Agg;
use crate::error::Result;

/// Gives each bucket of one value its ends.
pub fn begin(buckets: &mut Buckets) {
    for bucket in &mut buckets.list {
        if let Some(value) = bucket.key.number() {
            bucket.extra = (value, value);
        }
    }
}

/// Joins the nearest buckets until `wanted` are left; a key is the mean of its documents' values.
pub fn last(agg: &Agg, buckets: &mut Buckets, wanted: usize) -> Result<()> {
    begin_where_new(buckets);
    let mut list = std::mem::take(&mut buckets.list);
    while list.len() > wanted.max(1) {
        let center = |bucket: &Bucket| bucket.key.number().unwrap_or(0.0);
        let nearest = (1..list.len())
            .min_by(|a, b| {
                let gap = |at: usize| center(&list[at]) - center(&list[at - 1]);
                gap(*a).total_cmp(&gap(*b))
            })
            .unwrap_or(1);
        let right = list.remove(nearest);
        let left = &mut list[nearest - 1];
        let (n, m) = (left.count as f64, right.count as f64);
        let mean = (center(left) * n + center(&right) * m) / (n + m).max(1.0);
        reduce::absorb(agg, left, right)?;
        left.key = Key::Double(mean);
    }
    // Ends that overlap meet in the middle.
    for at in 1..list.len() {
        if list[at].extra.0 < list[at - 1].extra.1 {
            let middle = (list[at].extra.0 + list[at - 1].extra.1) / 2.0;
            list[at - 1].extra.1 = middle;
            list[at].extra.0 = middle;
        }
    }
    buckets.list = list;
    Ok(())
}

fn begin_where_new(buckets: &mut Buckets) {
    for bucket in &mut buckets.list {
        if bucket.extra == (0.0, 0.0)
            && let Some(value) = bucket.key.number()
        {
            bucket.extra = (value, value);
        }
    }
}
