//! Collectors of metrics: one state for each owner.

use std::ops::Range;

use env::heap::left_by;

use super::collect::{Account, Around, Batch, Collector};
use super::format::Format;
use super::metric::digest::{Digest, Hdr};
use super::metric::distinct::{Distinct, hash_bytes, hash_long};
use super::metric::moments::{Kahan, Moments};
use super::metric::strings::Strings;
use super::partial::{GeoBounds, Partial, places};
use super::read::{Numbers, Terms, Words};
use super::source::{Form, point};
use crate::iter::Turn;

/// What a metric over numbers keeps.
pub trait State: Clone + Send {
    /// Adds a value as the column keeps it.
    fn add(&mut self, form: Form, raw: i64);

    /// Adds values, in their order.
    #[inline]
    fn add_all(&mut self, form: Form, values: &[i64]) {
        values.iter().for_each(|raw| self.add(form, *raw));
    }

    /// As it crosses cores.
    fn partial(self, format: &Format) -> Partial;

    /// Room taken beside its own.
    fn bytes(&self) -> usize {
        0
    }
}

impl State for Moments {
    #[inline]
    fn add(&mut self, form: Form, raw: i64) {
        Moments::add(self, form.double(raw));
    }

    fn add_all(&mut self, form: Form, values: &[i64]) {
        match form {
            Form::Long => self.add_longs(values),
            _ => values.iter().for_each(|raw| Moments::add(self, form.double(*raw))),
        }
    }

    fn partial(self, format: &Format) -> Partial {
        Partial::Moments(self, format.clone())
    }
}

impl State for Digest {
    #[inline]
    fn add(&mut self, form: Form, raw: i64) {
        Digest::add(self, form.double(raw));
    }

    fn partial(self, format: &Format) -> Partial {
        Partial::Digest(self, format.clone())
    }

    fn bytes(&self) -> usize {
        Digest::bytes(self)
    }
}

impl State for Hdr {
    #[inline]
    fn add(&mut self, form: Form, raw: i64) {
        Hdr::add(self, form.double(raw));
    }

    fn partial(self, format: &Format) -> Partial {
        Partial::Hdr(self, format.clone())
    }

    fn bytes(&self) -> usize {
        Hdr::bytes(self)
    }
}

impl State for Distinct {
    #[inline]
    fn add(&mut self, form: Form, raw: i64) {
        // As Elasticsearch: doubles by their bits, longs as they are.
        let value = match form.is_floating() {
            true => form.double(raw).to_bits() as i64,
            false => raw,
        };
        Distinct::add(self, hash_long(value));
    }

    fn partial(self, _format: &Format) -> Partial {
        Partial::Distinct(self)
    }

    fn bytes(&self) -> usize {
        Distinct::bytes(self)
    }
}

impl State for GeoBounds {
    fn add(&mut self, _form: Form, raw: i64) {
        let (lat, lon) = point(raw);
        GeoBounds::add(self, lat, lon);
    }

    fn partial(self, _format: &Format) -> Partial {
        Partial::Bounds(self)
    }
}

/// Sums of coordinates.
#[derive(Clone, Copy, Default)]
pub struct Center {
    lat: Kahan,
    lon: Kahan,
    count: u64,
}

impl State for Center {
    fn add(&mut self, _form: Form, raw: i64) {
        let (lat, lon) = point(raw);
        self.lat.add(lat);
        self.lon.add(lon);
        self.count += 1;
    }

    fn partial(self, _format: &Format) -> Partial {
        Partial::Centroid(self.lat, self.lon, self.count)
    }
}

/// A metric over numbers.
pub struct Measure<S> {
    numbers: Numbers,
    format: Format,
    new: S,
    states: Vec<S>,
    /// What they held when they were looked at last, and values since.
    bytes: usize,
    since: usize,
}

impl<S: State> Measure<S> {
    /// States that begin as `new`.
    pub fn new(numbers: Numbers, format: Format, new: S) -> Self {
        Self { numbers, format, new, states: Vec::new(), bytes: 0, since: 0 }
    }

    fn take(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let form = self.numbers.form;
        let mut values = 0;
        if batch.owners.is_empty() {
            grow(&mut self.states, 0, &self.new, around.account);
            let state = &mut self.states[0];
            self.numbers.runs(batch.docs, |run| {
                values += run.len();
                state.add_all(form, run);
            });
        } else {
            let most = batch.owners.iter().max().map_or(0, |owner| *owner as usize);
            grow(&mut self.states, most, &self.new, around.account);
            let states = &mut self.states;
            self.numbers.each(batch.docs, |at, raw| {
                values += 1;
                states[batch.owners[at] as usize].add(form, raw);
            });
        }
        if values > batch.docs.len() {
            around.account.meet(values - batch.docs.len());
        }
        self.since += values;
        if self.new.bytes() > 0 && self.since >= self.states.len() {
            self.pay(around.account);
        }
    }

    /// Counts what states hold beside themselves; all are looked at, so not for each few values.
    fn pay(&mut self, account: &mut Account) {
        self.since = 0;
        let bytes = self.states.iter().map(State::bytes).sum();
        account.grow(usize::saturating_sub(bytes, self.bytes));
        self.bytes = self.bytes.max(bytes);
    }
}

/// Documents that are measured at a time where they have several values each.
const MANY_VALUES_PART: usize = 64;

/// Takes a batch at once where no document has two values, else in parts, until nothing more is of use.
pub(super) fn in_parts(
    batch: Batch<'_>,
    is_single: bool,
    around: &mut Around<'_>,
    mut take: impl FnMut(Batch<'_>, &mut Around<'_>),
) {
    let most = if is_single { batch.docs.len() } else { MANY_VALUES_PART };
    for part in batch.parts(most) {
        if around.account.is_over() {
            return;
        }
        take(part, around);
    }
}

/// Room for owners up to `owner`.
pub(super) fn grow<S: Clone>(states: &mut Vec<S>, owner: usize, new: &S, account: &mut Account) {
    if owner >= states.len() {
        account.grow((owner + 1 - states.len()) * size_of::<S>());
        states.resize(owner + 1, new.clone());
    }
}

/// The states of all owners.
pub(super) fn all<S: Clone>(states: &mut Vec<S>, owners: usize, new: &S) -> Vec<S> {
    let mut states = std::mem::take(states);
    states.resize(owners, new.clone());
    states
}

impl<S: State> Collector for Measure<S> {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.numbers.prepare(docs, turn)
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let is_single = self.numbers.is_single();
        in_parts(batch, is_single, around, |part, around| self.take(part, around));
    }

    fn size(&self, _owners: usize) -> usize {
        self.states.len()
    }

    fn finish(&mut self, owners: usize, account: &mut Account) -> segment::Result<Vec<Partial>> {
        if self.new.bytes() > 0 {
            self.pay(account);
        }
        let states = all(&mut self.states, owners, &self.new);
        Ok(states.into_iter().map(|state| state.partial(&self.format)).collect())
    }
}

/// What a metric over words keeps.
pub enum OfWords {
    /// How many values.
    Count,
    /// How many different ones.
    Distinct(u32),
    /// Lengths and letters.
    Strings,
}

/// A metric over words: ranks are counted, words are read when the segment ends.
pub struct MeasureWords {
    terms: Terms,
    words: Words,
    what: OfWords,
    format: Format,
    slots: super::bucket::slots::Slots,
    counts: Vec<u64>,
}

impl MeasureWords {
    /// A metric over the words of a column.
    pub fn new(terms: Terms, words: Words, what: OfWords, format: Format) -> Self {
        let slots = super::bucket::slots::Slots::new(terms.term_count() as usize);
        Self { terms, words, what, format, slots, counts: Vec::new() }
    }

    fn take(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let (before, mut values) = ((self.slots.len(), self.counts.capacity()), 0);
        let (slots, counts) = (&mut self.slots, &mut self.counts);
        if let OfWords::Count = self.what {
            self.terms.each(batch.docs, |at, _| {
                values += 1;
                let owner = batch.owner(at) as usize;
                if owner >= counts.len() {
                    counts.resize(owner + 1, 0);
                }
                counts[owner] += 1;
            });
        } else {
            self.terms.each(batch.docs, |at, ord| {
                values += 1;
                let slot = slots.of(batch.owner(at), i64::from(ord)) as usize;
                if slot == counts.len() {
                    counts.push(0);
                }
                counts[slot] += 1;
            });
        }
        if values > batch.docs.len() {
            around.account.meet(values - batch.docs.len());
        }
        let counts_bytes = (self.counts.capacity() - before.1) * size_of::<u64>();
        let slots_bytes = (self.slots.len() - before.0) * size_of::<u64>();
        around.account.grow(self.slots.grown() + slots_bytes + counts_bytes);
    }
}

impl Collector for MeasureWords {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.terms.prepare(docs, turn)
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let is_single = self.terms.is_single();
        in_parts(batch, is_single, around, |part, around| self.take(part, around));
    }

    fn size(&self, _owners: usize) -> usize {
        self.slots.len().max(self.counts.len())
    }

    fn leave(&mut self, turn: &mut Turn<'_>, _account: &mut Account) -> segment::Result<bool> {
        if turn.resident {
            return Ok(true);
        }
        for (_, ord) in &self.slots.buckets {
            self.words.need(*ord as u32, turn)?;
        }
        Ok(turn.is_ready())
    }

    fn finish(&mut self, owners: usize, account: &mut Account) -> segment::Result<Vec<Partial>> {
        if let OfWords::Count = self.what {
            let counts = all(&mut self.counts, owners, &0);
            let moments = |count| Moments { count, ..Moments::default() };
            return Ok(counts
                .into_iter()
                .map(|count| Partial::Moments(moments(count), self.format.clone()))
                .collect());
        }
        let mut order: Vec<u32> = (0..self.slots.len() as u32).collect();
        order.sort_unstable_by_key(|slot| {
            let (owner, ord) = self.slots.buckets[*slot as usize];
            (ord, owner)
        });
        let mut distinct = Vec::new();
        let mut strings = Vec::new();
        match self.what {
            OfWords::Distinct(threshold) => distinct.resize(owners, Distinct::new(threshold)),
            _ => strings.resize(owners, Strings::default()),
        }
        for slot in order {
            let (owner, ord) = self.slots.buckets[slot as usize];
            let word = self.words.get(ord as u32)?;
            match self.what {
                OfWords::Distinct(_) => distinct[owner as usize].add(hash_bytes(word)),
                _ => {
                    let text = String::from_utf8_lossy(word);
                    for _ in 0..self.counts[slot as usize] {
                        strings[owner as usize].add(&text);
                    }
                }
            }
        }
        account.grow(distinct.iter().map(Distinct::bytes).sum());
        Ok(match self.what {
            OfWords::Distinct(_) => distinct.into_iter().map(Partial::Distinct).collect(),
            _ => strings.into_iter().map(Partial::Strings).collect(),
        })
    }
}

/// The field has no values here: each owner has the empty state.
pub struct Nothing(pub Partial);

impl Collector for Nothing {
    fn prepare(&mut self, _docs: &Range<u32>, _turn: &mut Turn<'_>) -> bool {
        true
    }

    fn collect(&mut self, _batch: Batch<'_>, _around: &mut Around<'_>) {}

    fn size(&self, owners: usize) -> usize {
        owners.saturating_mul(places(std::slice::from_ref(&self.0)))
    }

    fn finish(&mut self, owners: usize, account: &mut Account) -> segment::Result<Vec<Partial>> {
        let mut all = Vec::with_capacity(owners);
        for _ in 0..owners {
            // Ranges in ranges are much, and here they stand once for each owner.
            let (one, bytes) = left_by(|| self.0.clone());
            account.grow(size_of::<Partial>() + bytes);
            if account.fault().is_some() {
                // Nothing of it will be told.
                all.resize(owners, Partial::TopMetrics(Vec::new()));
                break;
            }
            all.push(one);
        }
        Ok(all)
    }
}
