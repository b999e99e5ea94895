//! `auto_date_histogram`: the finest step that keeps the buckets few enough, found as documents are.

use std::ops::Range;

use mapping::types::zone::Zone;

use super::collect::{Account, AnyCollector, Around, Batch, Collector, Multitudes, Scores};
use super::partial::{Bucket, Buckets, Key, Partial};
use super::read::Numbers;
use super::reduce;
use super::rounding::{AUTO, Rounding};
use super::spec::{Agg, Interval, Kind};
use crate::error::Result;
use crate::iter::Turn;

/// How moments are rounded at a step.
pub fn rounding(step: usize, zone: Zone) -> Rounding {
    Rounding { interval: Interval::Calendar(AUTO[step].unit), zone, offset_ms: 0 }
}

/// The finest step from `minimum` on at which so many milliseconds give few enough buckets.
pub fn step_for(minimum: usize, buckets: u32, span_ms: i64) -> usize {
    let fits = |step: usize| {
        let most = i64::from(*AUTO[step].inner.last().unwrap_or(&1));
        span_ms / AUTO[step].ms < i64::from(buckets) * most
    };
    (minimum..AUTO.len()).find(|step| fits(*step)).unwrap_or(AUTO.len() - 1)
}

type Build = Box<dyn FnOnce(usize) -> AnyCollector + Send>;

/// Holds documents back until it is known which step fits them.
pub struct Late {
    numbers: Numbers,
    minimum: usize,
    buckets: u32,
    build: Option<Build>,
    inner: Option<AnyCollector>,
    docs: Vec<u32>,
    owners: Vec<u32>,
    scores: Vec<f32>,
    multitudes: Multitudes,
    span: Option<(i64, i64)>,
}

impl Late {
    /// `build` makes what collects at a step.
    pub fn new(numbers: Numbers, minimum: usize, buckets: u32, build: Build) -> Self {
        Self {
            numbers,
            minimum,
            buckets,
            build: Some(build),
            inner: None,
            docs: Vec::new(),
            owners: Vec::new(),
            scores: Vec::new(),
            multitudes: Multitudes::default(),
            span: None,
        }
    }
}

impl Collector for Late {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.numbers.prepare(docs, turn)
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        if self.multitudes.is_plain() {
            self.multitudes = around.multitudes.clone();
        }
        let form = self.numbers.form;
        let span = &mut self.span;
        self.numbers.each(batch.docs, |_, raw| {
            let ms = form.millis(raw);
            let (min, max) = span.unwrap_or((ms, ms));
            *span = Some((min.min(ms), max.max(ms)));
        });
        for (at, doc) in batch.docs.iter().enumerate() {
            self.docs.push(*doc);
            self.owners.push(batch.owner(at));
            self.scores.push(around.scores.of(*doc));
        }
        around.account.grow(batch.docs.len() * 12);
    }

    fn size(&self, owners: usize) -> usize {
        self.docs.len() + self.inner.as_ref().map_or(0, |inner| inner.size(owners))
    }

    fn leave(&mut self, turn: &mut Turn<'_>, account: &mut Account) -> segment::Result<bool> {
        if let Some(build) = self.build.take() {
            let (min, max) = self.span.unwrap_or((0, 0));
            let span = max.saturating_sub(min);
            self.inner = Some(build(step_for(self.minimum, self.buckets, span)));
        }
        let Some(inner) = &mut self.inner else { return Ok(true) };
        if let (Some(first), Some(last)) = (self.docs.first(), self.docs.last()) {
            let docs = *first..last + 1;
            let counted = self.multitudes.prepare(&docs, turn);
            if !inner.prepare(&docs, turn) || !counted {
                return Ok(false);
            }
            let mut scores = Scores::default();
            let mut known: Vec<(u32, f32)> =
                self.docs.iter().copied().zip(self.scores.iter().copied()).collect();
            known.dedup_by_key(|(doc, _)| *doc);
            let (docs, list): (Vec<u32>, Vec<f32>) = known.into_iter().unzip();
            scores.set(&docs, &list);
            let multitudes = &self.multitudes;
            let mut around = Around { multitudes, scores: &scores, account };
            inner.collect(Batch { docs: &self.docs, owners: &self.owners }, &mut around);
            self.docs.clear();
            self.owners.clear();
        }
        inner.leave(turn, account)
    }

    fn finish(&mut self, owners: usize, account: &mut Account) -> segment::Result<Vec<Partial>> {
        match &mut self.inner {
            Some(inner) => inner.finish(owners, account),
            None => Ok(Vec::new()),
        }
    }
}

/// The zone in which keys are printed.
fn zone_of(buckets: &Buckets) -> Zone {
    match buckets.formats.first() {
        Some(super::format::Format::Date { zone, .. }) => zone.clone(),
        _ => Zone::UTC,
    }
}

/// Brings two lists to the coarser step of both.
pub fn same_step(agg: &Agg, a: &mut Buckets, b: &mut Buckets) -> Result<()> {
    if a.list.is_empty() {
        a.step = b.step;
    }
    if b.list.is_empty() {
        b.step = a.step;
    }
    let step = a.step.max(b.step);
    coarsen(agg, a, step)?;
    coarsen(agg, b, step)
}

/// Rounds keys at a coarser step, and joins what becomes one.
fn coarsen(agg: &Agg, buckets: &mut Buckets, step: usize) -> Result<()> {
    if buckets.step == step {
        return Ok(());
    }
    let rounding = rounding(step, zone_of(buckets));
    let list = std::mem::take(&mut buckets.list);
    buckets.list = joined(agg, list, |key| rounding.round(key))?;
    buckets.step = step;
    Ok(())
}

fn joined(agg: &Agg, list: Vec<Bucket>, round: impl Fn(i64) -> i64) -> Result<Vec<Bucket>> {
    let mut out: Vec<Bucket> = Vec::new();
    for mut bucket in list {
        let Key::Long(key) = bucket.key else { continue };
        bucket.key = Key::Long(round(key));
        match out.last_mut() {
            Some(last) if last.key == bucket.key => reduce::absorb(agg, last, bucket)?,
            _ => out.push(bucket),
        }
    }
    Ok(out)
}

/// The last reduction: the coarsest step needed, gaps filled, and as many units in a bucket as keep
/// the buckets within their number. Gives the interval by name.
pub fn last(agg: &Agg, buckets: &mut Buckets) -> Result<String> {
    let Kind::AutoDateHistogram(auto) = &agg.kind else { return Ok(String::new()) };
    let wanted = auto.buckets as usize;
    let zone = zone_of(buckets);
    if buckets.list.is_empty() {
        let step = &AUTO[auto.minimum.max(buckets.step)];
        return Ok(format!("1{}", step.letter));
    }
    loop {
        let span = count(buckets, &rounding(buckets.step, zone.clone()));
        let most = *AUTO[buckets.step].inner.last().unwrap_or(&1) as usize;
        if span <= wanted.saturating_mul(most) || buckets.step + 1 == AUTO.len() {
            break;
        }
        let step = buckets.step + 1;
        coarsen(agg, buckets, step)?;
    }
    let rounding = rounding(buckets.step, zone);
    fill(buckets, &rounding);
    let step = &AUTO[buckets.step];
    let len = buckets.list.len();
    let inner = step.inner.iter().copied().find(|inner| len.div_ceil(*inner as usize) <= wanted);
    let inner = inner.or(step.inner.last().copied()).unwrap_or(1) as usize;
    if inner > 1 {
        let list = std::mem::take(&mut buckets.list);
        let mut out: Vec<Bucket> = Vec::new();
        for (at, bucket) in list.into_iter().enumerate() {
            match out.last_mut() {
                Some(last) if at % inner != 0 => reduce::absorb(agg, last, bucket)?,
                _ => out.push(bucket),
            }
        }
        buckets.list = out;
    }
    Ok(format!("{inner}{}", step.letter))
}

/// Buckets from the first to the last, gaps included.
fn count(buckets: &Buckets, rounding: &Rounding) -> usize {
    let (Some(first), Some(last)) = (buckets.list.first(), buckets.list.last()) else { return 0 };
    let (Key::Long(mut at), Key::Long(end)) = (first.key.clone(), last.key.clone()) else {
        return 0;
    };
    let mut count = 1;
    while at < end && count < 100_000 {
        at = rounding.next(at);
        count += 1;
    }
    count
}

fn fill(buckets: &mut Buckets, rounding: &Rounding) {
    let list = std::mem::take(&mut buckets.list);
    let mut out: Vec<Bucket> = Vec::with_capacity(list.len());
    for bucket in list {
        if let (Some(Key::Long(last)), Key::Long(key)) =
            (out.last().map(|bucket: &Bucket| bucket.key.clone()), &bucket.key)
        {
            let mut at = rounding.next(last);
            while at < *key && out.len() < 100_000 {
                out.push(Bucket {
                    key: Key::Long(at),
                    subs: buckets.empty.as_ref().clone(),
                    ..Bucket::default()
                });
                at = rounding.next(at);
            }
        }
        out.push(bucket);
    }
    buckets.list = out;
}
