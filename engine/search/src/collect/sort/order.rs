//! Entries of a sorter: how they compare, how they are printed, and their heap.

use super::*;
use crate::result::compare_terms;

/// Strings in the order of a key; documents without one stand behind all others.
pub(super) fn compare_texts(a: Option<&[u8]>, b: Option<&[u8]>, descending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if descending => compare_terms(b, a),
        (Some(a), Some(b)) => compare_terms(a, b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// One number of several.
pub(super) fn combined(mode: Mode, values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    let (first, last, count) = (*all.first()?, *all.last()?, all.len());
    Some(match mode {
        Mode::Min => first,
        Mode::Max => last,
        Mode::Sum => all.iter().sum(),
        Mode::Avg => all.iter().sum::<f64>() / count as f64,
        Mode::Median if count % 2 == 1 => all[count / 2],
        Mode::Median => (all[count / 2 - 1] + all[count / 2]) / 2.0,
    })
}

/// Hits whose terms are read, in order.
pub(super) fn compare_settled(keys: &[Key], a: &Entry, b: &Entry) -> Ordering {
    for (at, key) in keys.iter().enumerate() {
        let order = match &key.source {
            Source::Ordinals(ordinals) => {
                match (&a.terms[at], &b.terms[at]) {
                    (Some(a), Some(b)) if key.descending => compare_terms(b, a),
                    (Some(a), Some(b)) => compare_terms(a, b),
                    (None, None) => Ordering::Equal,
                    (a, _) => {
                        // Without a term: at one end in either direction.
                        let first = ordinals.missing == MissingTerm::First;
                        if a.is_none() == first { Ordering::Less } else { Ordering::Greater }
                    }
                }
            }
            Source::Script(script) if script.kind != ScriptKind::Number => {
                compare_texts(a.terms[at].as_deref(), b.terms[at].as_deref(), key.descending)
            }
            _ => a.keys[at].cmp(&b.keys[at]),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.segment.cmp(&b.segment).then(a.doc.cmp(&b.doc))
}

/// Keys as they cross cores: still comparable, soon printed.
pub(super) fn printed(order: &Order, entry: &Entry) -> Vec<result::Key> {
    let group = order.collapse.as_ref().map(|_| match &entry.group {
        Group::None => result::Key::Null,
        Group::Number(number) => result::Key::Long(*number),
        Group::Term(term) => result::Key::Term(Arc::clone(term)),
    });
    order
        .keys
        .iter()
        .enumerate()
        .map(|(at, key)| {
            let value = directed(entry.keys[at], key.descending);
            match &key.source {
                Source::Score => result::Key::Score(entry.score),
                Source::Doc | Source::ShardDoc => result::Key::Long(value),
                Source::Numeric(numeric) => numeric.comparable(value),
                Source::Script(script) if script.kind != ScriptKind::Number => {
                    match &entry.terms[at] {
                        Some(term) => result::Key::Term(Arc::clone(term)),
                        None => result::Key::Null,
                    }
                }
                Source::Distance(_) | Source::Script(_) => {
                    result::Key::Double(sortable::to_f64(value))
                }
                Source::Ordinals(_) => match &entry.terms[at] {
                    Some(term) => result::Key::Term(Arc::clone(term)),
                    None => result::Key::Null,
                },
            }
        })
        .chain(group)
        .collect()
}

pub(super) fn sift_up(heap: &mut [Entry], mut at: usize, keys: &[Key]) {
    while at > 0 {
        let parent = (at - 1) / 2;
        if heap[at].compare(&heap[parent], keys) != Ordering::Greater {
            break;
        }
        heap.swap(at, parent);
        at = parent;
    }
}

pub(super) fn sift_down(heap: &mut [Entry], mut at: usize, keys: &[Key]) {
    loop {
        let mut worst = at;
        for child in [2 * at + 1, 2 * at + 2] {
            if child < heap.len() && heap[child].compare(&heap[worst], keys) == Ordering::Greater {
                worst = child;
            }
        }
        if worst == at {
            return;
        }
        heap.swap(at, worst);
        at = worst;
    }
}
