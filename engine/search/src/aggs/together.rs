//! Metrics over several fields of a document together: means by weight, matrices, pairs of samples.

use std::ops::Range;

use super::collect::{Account, Around, Batch, Collector};
use super::format::Format;
use super::measure::{all, grow, in_parts};
use super::metric::matrix::Matrix;
use super::metric::moments::{Kahan, Moments};
use super::partial::Partial;
use super::read::Numbers;
use crate::iter::Turn;
use crate::request::Mode;

/// Fields of a matrix whose pairs cost little beside reading them.
const FIELDS_FEW: usize = 4;

/// Pairs of fields that cost about what a value does.
const PAIRS_A_VALUE: usize = 8;

/// Counts values beyond those that documents of one value have.
fn meet(values: usize, usual: usize, account: &mut Account) {
    account.meet(values.saturating_sub(usual));
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

    fn take(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let mut weights: Vec<(f64, u32)> = vec![(0.0, 0); batch.docs.len()];
        let form = self.weight.form;
        let mut values = 0;
        self.weight.each(batch.docs, |at, raw| {
            values += 1;
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
        let (states, account) = (&mut self.states, &mut *around.account);
        self.value.each(batch.docs, |at, raw| {
            values += 1;
            let (weight, count) = weights[at];
            if count == 1 {
                let owner = batch.owner(at) as usize;
                grow(states, owner, &Default::default(), account);
                states[owner].0.add(form.double(raw) * weight);
                states[owner].1.add(weight);
            }
        });
        meet(values, 2 * batch.docs.len(), account);
    }
}

impl Collector for Weighted {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        let value = self.value.prepare(docs, turn);
        self.weight.prepare(docs, turn) && value
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let is_single = self.value.is_single() && self.weight.is_single();
        in_parts(batch, is_single, around, |part, around| self.take(part, around));
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

    fn take(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let (count, mut values) = (self.fields.len(), 0);
        let mut rows: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); count]; batch.docs.len()];
        for (place, field) in self.fields.iter_mut().enumerate() {
            let form = field.form;
            field.each(batch.docs, |at, raw| {
                values += 1;
                rows[at][place].push(form.double(raw));
            });
        }
        // Each field meets each other.
        let pairs = batch.docs.len() * count * count / PAIRS_A_VALUE;
        meet(values + pairs, batch.docs.len() * count, around.account);
        for (at, row) in rows.iter_mut().enumerate() {
            if row.is_empty() || row.iter().any(Vec::is_empty) {
                continue;
            }
            let values: Vec<f64> =
                row.iter_mut().map(|values| combined(self.mode, values)).collect();
            let owner = batch.owner(at) as usize;
            grow(&mut self.states, owner, &Matrix::default(), around.account);
            if self.states[owner].count == 0 {
                // Counted before it is made: of many fields each takes kilobytes.
                around.account.grow(Matrix::bytes(count));
            }
            if around.account.is_over() {
                return;
            }
            self.states[owner].add(&values);
        }
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
        let is_single =
            self.fields.len() <= FIELDS_FEW && self.fields.iter().all(Numbers::is_single);
        in_parts(batch, is_single, around, |part, around| self.take(part, around));
    }

    fn finish(&mut self, owners: usize, _: &mut Account) -> segment::Result<Vec<Partial>> {
        let states = all(&mut self.states, owners, &Matrix::default());
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

    fn take(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        let most = (0..batch.docs.len()).map(|at| batch.owner(at)).max().unwrap_or(0) as usize;
        grow(&mut self.states, most, &Default::default(), around.account);
        let mut firsts: Vec<Option<f64>> = vec![None; batch.docs.len()];
        let (states, mut values) = (&mut self.states, 0);
        let [one, other] = &self.filters;
        let form = self.a.form;
        self.a.each(batch.docs, |at, raw| {
            values += 1;
            if one.as_ref().is_none_or(|filter| filter.matches(batch.docs[at])) {
                let value = form.double(raw);
                states[batch.owner(at) as usize][0].add(value);
                firsts[at].get_or_insert(value);
            }
        });
        let form = self.b.form;
        self.b.each(batch.docs, |at, raw| {
            values += 1;
            if other.as_ref().is_none_or(|filter| filter.matches(batch.docs[at])) {
                let value = form.double(raw);
                let state = &mut states[batch.owner(at) as usize];
                state[1].add(value);
                if let Some(first) = firsts[at].take() {
                    state[2].add(first - value);
                }
            }
        });
        meet(values, 2 * batch.docs.len(), around.account);
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
        let is_single = self.a.is_single() && self.b.is_single();
        in_parts(batch, is_single, around, |part, around| self.take(part, around));
    }

    fn finish(&mut self, owners: usize, _account: &mut Account) -> segment::Result<Vec<Partial>> {
        let states = all(&mut self.states, owners, &Default::default());
        Ok(states.into_iter().map(|state| Partial::Samples(Box::new(state))).collect())
    }
}
