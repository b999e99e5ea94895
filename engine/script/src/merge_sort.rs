//! A stable sort that any comparison ends, be it a script's own, one that contradicts itself, or one
//! that fails. Rust's sorts may panic at those, and a panic ends the process.

use std::cmp::Ordering;

/// Sorts by `order`, pair after pair of runs.
///
/// # Errors
/// The first that `order` gives.
pub(crate) fn merge_sort<T: Copy, E>(
    values: Vec<T>,
    mut order: impl FnMut(T, T) -> Result<Ordering, E>,
) -> Result<Vec<T>, E> {
    let mut runs: Vec<Vec<T>> = values.into_iter().map(|value| vec![value]).collect();
    while runs.len() > 1 {
        let mut merged = Vec::with_capacity(runs.len().div_ceil(2));
        let mut pairs = runs.into_iter();
        while let Some(left) = pairs.next() {
            let Some(right) = pairs.next() else {
                merged.push(left);
                break;
            };
            let mut out = Vec::with_capacity(left.len() + right.len());
            let (mut i, mut j) = (0, 0);
            while i < left.len() && j < right.len() {
                if order(left[i], right[j])? == Ordering::Greater {
                    out.push(right[j]);
                    j += 1;
                } else {
                    out.push(left[i]);
                    i += 1;
                }
            }
            out.extend_from_slice(&left[i..]);
            out.extend_from_slice(&right[j..]);
            merged.push(out);
        }
        runs = merged;
    }
    Ok(runs.pop().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_ends_it() {
        let values: Vec<u32> = (0..300).map(|at| at * 7919 % 301).collect();
        let mut expected = values.clone();
        expected.sort_unstable();
        let sorted = merge_sort(values.clone(), |a, b| Ok::<_, ()>(a.cmp(&b)));
        assert_eq!(sorted.as_deref(), Ok(&expected[..]));

        let odd = |a: u32, b: u32| Ok::<_, ()>((a * 31).wrapping_add(b * 17).cmp(&(b ^ a)));
        let mut kept = merge_sort(values.clone(), odd).unwrap_or_default();
        kept.sort_unstable();
        assert_eq!(kept, expected, "whatever the order, each value stays once");

        let fails = |a: u32, _| if a == 100 { Err("no order") } else { Ok(Ordering::Equal) };
        assert_eq!(merge_sort(values, fails), Err("no order"));
    }

    #[test]
    fn equal_values_keep_their_places() {
        let values: Vec<(u32, u32)> = (0..100).map(|at| (at % 3, at)).collect();
        let sorted = merge_sort(values, |a, b| Ok::<_, ()>(a.0.cmp(&b.0))).unwrap_or_default();
        assert!(sorted.is_sorted(), "{sorted:?}");
    }
}
