//! What aggregations take where they are shown: counted as the answer is made, and paid in steps.
//!
//! What was found is small beside what is told of it: a request says a name, a format, a hundred percents once, and its
//! answer tells them in every bucket.

use std::cell::{Cell, RefCell};

use super::partial::{Bucket, Made, Partial};
use super::shape::{Name, Out};
use super::spec::Aggs;

/// Memory is asked for in such steps.
const STEP_BYTES: usize = 64 << 10;

/// Whoever pays is asked whether it is still wanted after so much work.
const STEP_WORK: usize = 1 << 16;

/// What a number or a text takes beside its letters, where it was allocated.
const ALLOCATED_BYTES: usize = 16;

/// Counts what is made, and has it paid.
pub struct Meter<'p> {
    pay: RefCell<&'p mut dyn FnMut(usize) -> bool>,
    due: Cell<usize>,
    work: Cell<usize>,
    is_over: Cell<bool>,
}

impl<'p> Meter<'p> {
    /// `pay` has memory for so many bytes more, and somebody still waits for what is made.
    pub fn new(pay: &'p mut dyn FnMut(usize) -> bool) -> Self {
        Self {
            pay: RefCell::new(pay),
            due: Cell::default(),
            work: Cell::default(),
            is_over: Cell::default(),
        }
    }

    /// There was no memory, or nobody waits any more: what is made now is thrown away.
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// These were made.
    pub fn made(&self, fields: &[(Name, Out)]) {
        self.takes(bytes_of(fields));
    }

    /// So many numbers were looked at, or as much else was done.
    pub fn works(&self, count: usize) {
        let work = self.work.get().saturating_add(count);
        self.work.set(work);
        if work > STEP_WORK && !self.is_over() {
            self.work.set(0);
            self.is_over.set(!(self.pay.borrow_mut())(0));
        }
    }

    /// So much is taken by what comes.
    pub fn takes(&self, bytes: usize) {
        let due = self.due.get().saturating_add(bytes);
        self.due.set(due);
        if due > STEP_BYTES && !self.is_over() {
            self.due.set(0);
            self.is_over.set(!(self.pay.borrow_mut())(due));
        }
    }
}

/// What a number under this name takes.
pub fn named_bytes(name: &str) -> usize {
    size_of::<(Name, Out)>() + ALLOCATED_BYTES + name.len()
}

/// About what these hold.
fn bytes_of(fields: &[(Name, Out)]) -> usize {
    let each = fields.iter().map(|(name, out)| {
        let name = match name {
            Name::Plain(std::borrow::Cow::Borrowed(_)) => 0,
            Name::Plain(std::borrow::Cow::Owned(name)) | Name::Typed(_, name) => {
                ALLOCATED_BYTES + name.len()
            }
        };
        size_of::<(Name, Out)>() + name + held(out)
    });
    each.fold(0, usize::saturating_add)
}

fn held(out: &Out) -> usize {
    match out {
        Out::Text(text) => ALLOCATED_BYTES + text.len(),
        Out::Json(value) => value.held_bytes(),
        Out::List(list) => {
            list.iter().map(|out| size_of::<Out>() + held(out)).fold(0, usize::saturating_add)
        }
        Out::Object(fields) => bytes_of(fields),
        Out::Hits(hits) => ALLOCATED_BYTES + size_of_val(&**hits) + size_of_val(&*hits.winners),
        _ => 0,
    }
}

/// What pipelines make and print, each number once in each bucket: made before anything is shown.
pub fn of_pipes(aggs: &Aggs, bucket: &Bucket) -> usize {
    let said = Said::of(aggs);
    if said.is_nothing() { 0 } else { said.bytes(&bucket.subs) }
}

/// What the results of pipelines side by side take, their formats included: reckoned once, for however many buckets.
struct Said {
    here: usize,
    below: Vec<Said>,
}

impl Said {
    fn of(aggs: &Aggs) -> Self {
        let formats = aggs.pipes.iter().filter_map(|pipe| pipe.format.as_ref());
        Self {
            here: aggs.pipes.len() * size_of::<Option<Made>>()
                + formats.map(|format| ALLOCATED_BYTES + format.len()).sum::<usize>(),
            below: aggs.aggs.iter().map(|agg| Self::of(&agg.subs)).collect(),
        }
    }

    fn is_nothing(&self) -> bool {
        self.here == 0 && self.below.iter().all(Self::is_nothing)
    }

    fn bytes(&self, found: &[Partial]) -> usize {
        let below = self.below.iter().zip(found).map(|(said, partial)| match partial {
            Partial::Single(bucket) => said.bytes(&bucket.subs),
            Partial::Buckets(buckets) => {
                let each = buckets.list.iter().map(|bucket| said.bytes(&bucket.subs));
                each.fold(0, usize::saturating_add)
            }
            _ => 0,
        });
        below.fold(self.here, usize::saturating_add)
    }
}
