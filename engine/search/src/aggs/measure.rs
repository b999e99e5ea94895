//! Collectors of metrics: one state for each owner.

use std::ops::Range;

use super::collect::{Account, Around, Batch, Collector};
use super::format::Format;
use super::metric::digest::{Digest, Hdr};
use super::metric::distinct::{Distinct, hash_bytes, hash_long};
use super::metric::matrix::Matrix;
use super::metric::moments::{Kahan, Moments};
use super::metric::strings::Strings;
use super::partial::{GeoBounds, Partial};
use super::read::{Numbers, Terms, Words};
use super::source::{Form, point};
use crate::iter::Turn;
use crate::request::Mode;

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
fn in_parts(
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
fn grow<S: Clone>(states: &mut Vec<S>, owner: usize, new: &S, account: &mut Account) {
    if owner >= states.len() {
        account.grow((owner + 1 - states.len()) * size_of::<S>());
        states.resize(owner + 1, new.clone());
    }
}

/// The states of all owners.
fn all<S: Clone>(states: &mut Vec<S>, owners: usize, new: &S) -> Vec<S> {
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

    fn size(&self) -> usize {
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

    fn size(&self) -> usize {
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

    fn finish(&mut self, owners: usize, _account: &mut Account) -> segment::Result<Vec<Partial>> {
        Ok(vec![self.0.clone(); owners])
    }
}

/// A mean by weight.
pub struct Weighted {
    value: Numbers,
    weight: Numbers,
    format: Format,
    states: Vec<(Kahan, Kahan)>,
}

impl Weighted {
    /// Of values and their weights.
    pub fn new(value: Numbers, weight: Numbers, format: Format) -> Self {
        Self { value, weight, format, states: Vec::new() }
    }
}

impl Collector for Weighted {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        let value = self.value.prepare(docs, turn);
        self.weight.prepare(docs, turn) && value
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let mut weights: Vec<(f64, u32)> = vec![(0.0, 0); batch.docs.len()];
        let form = self.weight.form;
        self.weight.each(batch.docs, |at, raw| {
            weights[at] = (form.double(raw), weights[at].1 + 1);
        });
        if weights.iter().any(|(_, count)| *count > 1) {
            let reason = "Encountered more than one weight for a single document. Use a script to \
                          combine multiple weights-per-doc into a single value.";
            around
                .account
                .fail(crate::Error::new(crate::error::Kind::AggregationExecution, reason));
            return;
        }
        let form = self.value.form;
        let states = &mut self.states;
        self.value.each(batch.docs, |at, raw| {
            let (weight, count) = weights[at];
            if count == 1 {
                let owner = batch.owner(at) as usize;
                if owner >= states.len() {
                    states.resize(owner + 1, Default::default());
                }
                states[owner].0.add(form.double(raw) * weight);
                states[owner].1.add(weight);
            }
        });
    }

    fn finish(&mut self, owners: usize, _account: &mut Account) -> segment::Result<Vec<Partial>> {
        let states = all(&mut self.states, owners, &Default::default());
        let format = &self.format;
        Ok(states
            .into_iter()
            .map(|(sum, weight)| Partial::Weighted { sum, weight, format: format.clone() })
            .collect())
    }
}

/// One of several numbers of a document, by mode.
fn combined(mode: Mode, values: &mut [f64]) -> f64 {
    let count = values.len() as f64;
    match mode {
        Mode::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
        Mode::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Mode::Sum => values.iter().sum(),
        Mode::Avg => values.iter().sum::<f64>() / count,
        Mode::Median => {
            values.sort_by(f64::total_cmp);
            let middle = values.len() / 2;
            match values.len() % 2 {
                0 => (values[middle - 1] + values[middle]) / 2.0,
                _ => values[middle],
            }
        }
    }
}

/// Moments of several fields.
pub struct Several {
    fields: Vec<Numbers>,
    mode: Mode,
    names: std::sync::Arc<[String]>,
    states: Vec<Matrix>,
}

impl Several {
    /// Of these fields.
    pub fn new(fields: Vec<Numbers>, mode: Mode, names: std::sync::Arc<[String]>) -> Self {
        Self { fields, mode, names, states: Vec::new() }
    }
}

impl Collector for Several {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        let mut ready = true;
        for field in &mut self.fields {
            ready &= field.prepare(docs, turn);
        }
        ready
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let count = self.fields.len();
        let mut rows: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); count]; batch.docs.len()];
        for (place, field) in self.fields.iter_mut().enumerate() {
            let form = field.form;
            field.each(batch.docs, |at, raw| rows[at][place].push(form.double(raw)));
        }
        for (at, row) in rows.iter_mut().enumerate() {
            if row.is_empty() || row.iter().any(Vec::is_empty) {
                continue;
            }
            let values: Vec<f64> =
                row.iter_mut().map(|values| combined(self.mode, values)).collect();
            let owner = batch.owner(at) as usize;
            grow(&mut self.states, owner, &Matrix::new(count), around.account);
            self.states[owner].add(&values);
        }
    }

    fn finish(&mut self, owners: usize, _account: &mut Account) -> segment::Result<Vec<Partial>> {
        let new = Matrix::new(self.fields.len());
        let states = all(&mut self.states, owners, &new);
        let partial = |state| Partial::Matrix(state, std::sync::Arc::clone(&self.names));
        Ok(states.into_iter().map(partial).collect())
    }
}

/// Two samples.
pub struct Samples {
    a: Numbers,
    b: Numbers,
    filters: [Option<super::bucket::matcher::Matcher>; 2],
    states: Vec<[Moments; 3]>,
}

impl Samples {
    /// Of two fields, each perhaps narrowed.
    pub fn new(
        a: Numbers,
        b: Numbers,
        filters: [Option<super::bucket::matcher::Matcher>; 2],
    ) -> Self {
        Self { a, b, filters, states: Vec::new() }
    }
}

impl Collector for Samples {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        let mut ready = self.a.prepare(docs, turn);
        ready &= self.b.prepare(docs, turn);
        for filter in self.filters.iter_mut().flatten() {
            ready &= filter.prepare(docs, turn);
        }
        ready
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let most = (0..batch.docs.len()).map(|at| batch.owner(at)).max().unwrap_or(0) as usize;
        grow(&mut self.states, most, &Default::default(), around.account);
        let mut firsts: Vec<Option<f64>> = vec![None; batch.docs.len()];
        let states = &mut self.states;
        let [one, other] = &self.filters;
        let form = self.a.form;
        self.a.each(batch.docs, |at, raw| {
            if one.as_ref().is_none_or(|filter| filter.matches(batch.docs[at])) {
                let value = form.double(raw);
                states[batch.owner(at) as usize][0].add(value);
                firsts[at].get_or_insert(value);
            }
        });
        let form = self.b.form;
        self.b.each(batch.docs, |at, raw| {
            if other.as_ref().is_none_or(|filter| filter.matches(batch.docs[at])) {
                let value = form.double(raw);
                let state = &mut states[batch.owner(at) as usize];
                state[1].add(value);
                if let Some(first) = firsts[at].take() {
                    state[2].add(first - value);
                }
            }
        });
    }

    fn finish(&mut self, owners: usize, _account: &mut Account) -> segment::Result<Vec<Partial>> {
        let states = all(&mut self.states, owners, &Default::default());
        Ok(states.into_iter().map(|state| Partial::Samples(Box::new(state))).collect())
    }
}
