//! What slices and their answers hold goes elsewhere where it is much and others wait for the thread, however they end.

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use env::budget::{Budget, Lease};
use env::leftovers::{self, Leftover};
use search::aggs::Reducer;
use search::dsl::parse_search;
use search::phase::{Progress, Shared, Slice};
use search::plan::Plan;
use search::result::{Hit, SearchResult, one_by_one};
use support::corpus::{Corpus, Doc};
use support::run::plan;

const MIB: usize = 1 << 20;

/// What was left on this thread, in its order.
#[derive(Clone, Default)]
struct Left(Rc<RefCell<Vec<Leftover>>>);

impl Left {
    /// Takes what is left on this thread from now on.
    fn here() -> Self {
        let left = Self::default();
        let taken = Rc::clone(&left.0);
        leftovers::take_by(move |leftover| taken.borrow_mut().push(leftover));
        left
    }

    /// How many were left since it was last asked; they go.
    fn count(&self) -> usize {
        let left = std::mem::take(&mut *self.0.borrow_mut());
        let count = left.len();
        drop(left);
        // The memory that was taken for them comes back behind them.
        let memory = std::mem::take(&mut *self.0.borrow_mut());
        drop(memory);
        count
    }
}

/// Documents whose pairs of values are all different.
fn corpus(docs: i64) -> Corpus {
    let docs = (0..docs).map(|number| Doc {
        id: format!("d{number}"),
        n: vec![number],
        price: vec![number as f64],
        tags: vec!["new"],
        ..Doc::default()
    });
    Corpus::of(vec![docs.collect()])
}

fn planned(corpus: &Corpus, body: &str) -> Arc<Plan> {
    let request = parse_search(body.as_bytes(), &[]).expect("a good request");
    plan(&request, &corpus.mapping, &corpus.view(false))
}

fn sliced(plan: &Arc<Plan>, lease: Lease) -> Slice {
    let parts = plan.cut(1).remove(0);
    Slice::new(Arc::clone(plan), parts, Arc::new(Shared::default())).with_memory(lease)
}

/// Goes on until nothing is left to do, or until `enough` says so.
fn step(slice: &mut Slice, enough: impl Fn(&mut Slice) -> bool) {
    loop {
        match slice.step(4096).expect("a whole segment") {
            Progress::Done => return,
            Progress::More if enough(slice) => return,
            Progress::More => {}
            Progress::Missing(mut missing) => missing.fetch(),
        }
    }
}

const DEEP: &str = r#"{"size":0,"aggs":{"a":{"terms":{"field":"n","size":10000},"aggs":{"b":{"terms":{"field":"price"},"aggs":{"c":{"cardinality":{"field":"n"}}}}}}}}"#;
const SHALLOW: &str = r#"{"size":0,"aggs":{"a":{"terms":{"field":"tags"}}}}"#;

/// The buckets of a search that was refused held a core for 480 ms.
#[test]
fn what_a_refused_search_held_goes_elsewhere_with_its_memory() {
    let (corpus, left) = (corpus(4000), Left::here());
    let budget = Budget::new(3 * MIB);
    let mut slice = sliced(&planned(&corpus, DEEP), budget.lease());
    step(&mut slice, |_| false);
    let partial = slice.finish();
    partial.aggs.expect("asked for").expect_err("it is too much");
    drop(slice);
    let taken = || budget.taken_bytes().iter().map(|(_, bytes)| bytes).sum::<usize>();
    assert!(taken() >= MIB, "it is not gone yet: {}", taken());
    assert_eq!(left.count(), 1);
    assert_eq!(taken(), 0);
}

/// A client that leaves, or a deadline, ends a slice anywhere.
#[test]
fn a_slice_that_is_dropped_in_the_middle_leaves_what_it_held() {
    let (corpus, left) = (corpus(4000), Left::here());
    for steps in [2, 20] {
        let mut slice = sliced(&planned(&corpus, DEEP), Budget::new(64 * MIB).lease());
        let done = std::cell::Cell::new(0);
        step(&mut slice, |_| {
            done.set(done.get() + 1);
            done.get() == steps
        });
        drop(slice);
        assert_eq!(left.count(), 1, "after {steps} steps");
    }
    let mut slice = sliced(&planned(&corpus, SHALLOW), Budget::new(64 * MIB).lease());
    step(&mut slice, |_| false);
    drop(slice);
    assert_eq!(left.count(), 0, "one bucket is not much");
}

#[test]
fn what_was_found_and_what_is_shown_of_it_go_elsewhere() {
    let (corpus, left) = (corpus(4000), Left::here());
    for (body, much) in [(DEEP, 1), (SHALLOW, 0)] {
        let request = parse_search(body.as_bytes(), &[]).expect("a good request");
        let plan = planned(&corpus, body);
        let found = || {
            let mut slice = sliced(&plan, Budget::new(64 * MIB).lease());
            step(&mut slice, |_| false);
            slice.finish().aggs.expect("asked for").expect("answered")
        };
        let partials = found();
        left.count();
        drop(partials);
        assert_eq!(left.count(), much, "partials of {body}");
        let mut reducer = Reducer::new(&request.aggs);
        reducer.shard(0, &plan, vec![found()]).expect("of one index");
        let shown = reducer.finish(65_536).expect("few enough").expect("one shard");
        left.count();
        drop(shown);
        assert_eq!(left.count(), much, "the answer of {body}");
    }
}

#[test]
fn hits_go_elsewhere_where_they_are_many() {
    let (corpus, left) = (corpus(4000), Left::here());
    for (size, much) in [(4000, 1), (20, 0)] {
        let body = format!(r#"{{"size":{size},"sort":[{{"tags":"asc"}},{{"n":"asc"}}]}}"#);
        let plan = planned(&corpus, &body);
        let mut slice = sliced(&plan, Budget::new(64 * MIB).lease());
        step(&mut slice, |_| false);
        drop(slice);
        assert_eq!(left.count(), much, "a slice that found {size}");
        let mut slice = sliced(&plan, Budget::new(64 * MIB).lease());
        step(&mut slice, |_| false);
        let found = slice.finish().leaving();
        drop(slice);
        assert_eq!((left.count(), found.hits.len()), (0, size));
        drop(found);
        assert_eq!(left.count(), much, "what it found: {size}");
        let hits = vec![Hit::default(); size];
        drop(SearchResult { hits: hits.clone(), ..SearchResult::default() }.leaving());
        let mut some = one_by_one(hits);
        assert!(some.next().is_some());
        drop(some);
        assert_eq!(left.count(), 2 * much, "hits that are shown: {size}");
    }
}

/// Sixteen thousand pairs were put in order on a core: 22 ms.
#[test]
fn many_pairs_are_put_in_order_by_a_worker() {
    let corpus = corpus(4000);
    let body = r#"{"size":0,"aggs":{"a":{"composite":{"size":10,"sources":[{"n":{"terms":{"field":"n"}}},{"p":{"terms":{"field":"price"}}}]}}}}"#;
    let plain =
        r#"{"size":0,"aggs":{"a":{"terms":{"field":"n","size":10,"order":{"_key":"asc"}}}}}"#;
    for (body, is_left) in [(body, true), (plain, false)] {
        let mut slice = sliced(&planned(&corpus, body), Budget::new(64 * MIB).lease());
        let mut was_heavy = false;
        while !was_heavy {
            match slice.step_on_core(10_000, &|| Duration::ZERO).expect("a whole segment") {
                Progress::Done => break,
                Progress::More => was_heavy = slice.is_heavy(),
                Progress::Missing(mut missing) => missing.fetch(),
            }
        }
        assert_eq!(was_heavy, is_left, "{body}");
    }
}
