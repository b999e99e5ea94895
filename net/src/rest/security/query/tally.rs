//! Counts records for aggregations.
//!
//! Always true
//! 1. A record is counted in steps, between any two of which others may run; what grows is paid for before it does.
//! 2. A page keeps no more buckets than it shows: those that fall out are given to others.

use std::collections::BTreeMap;

use engine::Result;
use env::{Env, Spawn};
use search::aggs::cut::{self, Limit};
use search::aggs::format::Format;
use search::aggs::meter::Meter;
use search::aggs::metric::distinct::Distinct;
use search::aggs::metric::moments::Moments;
use search::aggs::partial::{Bucket, Buckets, Key as BucketKey, KeyKind, Partial};
use search::aggs::shape::{self, Answer, Out};
use search::aggs::spec::{Agg, Aggs};

use super::aggs::{self, Bound, Part, What};
use super::field::{Fields, Key};
use super::{Row, told};
use crate::rest::security::listing::Listing;

/// What a bucket takes until it is shown, in bytes: here, as it is cut and as it is written.
const SLOT_BYTES: usize = 768;

/// How often a key is held meanwhile.
const KEY_COPIES: usize = 4;

/// Buckets that are shown in a moment.
const SHOWN_HERE: usize = 512;

/// What one aggregation has found of a bucket.
enum Found {
    Count(u64),
    Distinct(Distinct),
    /// Its buckets, by what they are kept under.
    Buckets(BTreeMap<Vec<Part>, usize>),
}

/// One bucket.
#[derive(Default)]
struct Slot {
    count: u64,
    /// What those below have found, in their order.
    found: Vec<Found>,
    /// What it was paid for.
    bytes: usize,
    /// How many were before it: another may come to be where it was.
    born: u64,
}

/// Memory that buckets take, and how many there ever were.
#[derive(Default)]
struct Room {
    held: usize,
    paid: usize,
    born: u64,
}

impl Room {
    fn grow<E: Env>(&mut self, bytes: usize, page: &mut Listing<'_, '_, E>) -> Result<()> {
        let held = self.held.saturating_add(bytes);
        if held > self.paid {
            page.pay(held - self.paid)?;
            self.paid = held;
        }
        self.held = held;
        Ok(())
    }
}

/// What aggregations have found so far.
pub(super) struct Tally {
    aggs: Aggs,
    bound: Vec<Bound>,
    roots: Vec<usize>,
    /// The first holds what all records are in.
    slots: Vec<Slot>,
    free: Vec<usize>,
    room: Room,
}

/// One step of counting a record: an aggregation, and where in what bucket it finds.
#[derive(Clone, Copy)]
struct Todo {
    slot: usize,
    born: u64,
    at: usize,
    bound: usize,
}

impl Tally {
    /// Of aggregations over these fields; none where none are asked for.
    ///
    /// # Errors
    /// As [`aggs::bind`].
    pub fn of(aggs: Aggs, known: Fields, now_ms: i64) -> Result<Option<Self>> {
        if aggs.is_empty() {
            return Ok(None);
        }
        let mut bound = Vec::new();
        let roots = aggs::bind(&aggs, None, (known, now_ms), &mut bound)?;
        let found = found(&bound, &roots);
        let slots = vec![Slot { found, ..Slot::default() }];
        Ok(Some(Self { aggs, bound, roots, slots, free: Vec::new(), room: Room::default() }))
    }

    /// Takes the memory of what is shown where there is no record at all: buckets of filters in those of others
    /// are as many as the product of their numbers.
    ///
    /// # Errors
    /// 429 where there is too little.
    pub fn begin<E: Env>(&mut self, page: &mut Listing<'_, '_, E>) -> Result<()> {
        let empty = aggs::empty(&self.bound, &self.roots);
        self.room.grow(SLOT_BYTES.saturating_mul(empty), page)
    }

    /// Counts a record.
    ///
    /// # Errors
    /// 429 where there is too little memory.
    pub async fn add<E: Env>(
        &mut self,
        row: &Row<'_>,
        page: &mut Listing<'_, '_, E>,
        spawn: &impl Spawn,
    ) -> Result<()> {
        let roots = self.roots.iter().enumerate();
        let mut todo: Vec<Todo> =
            roots.map(|(at, bound)| Todo { slot: 0, born: 0, at, bound: *bound }).collect();
        while let Some(next) = todo.pop() {
            spawn.yield_if_needed().await;
            self.step(next, row, (page, spawn), &mut todo).await?;
        }
        Ok(())
    }

    async fn step<E: Env>(
        &mut self,
        next: Todo,
        row: &Row<'_>,
        (page, spawn): (&mut Listing<'_, '_, E>, &impl Spawn),
        todo: &mut Vec<Todo>,
    ) -> Result<()> {
        let Self { bound, slots, free, room, .. } = self;
        let Some(one) = bound.get(next.bound) else { return Ok(()) };
        if slots.get(next.slot).is_none_or(|slot| slot.born != next.born) {
            // It fell out of a page.
            return Ok(());
        }
        let mut into = Place { bound, slots, free, room, next, subs: &one.subs };
        match &one.what {
            What::Count(looked) => {
                let values = looked.values(row.data).len();
                if let Some(Found::Count(count)) = into.found() {
                    *count += values as u64;
                }
            }
            What::Distinct(looked, _) => {
                for key in looked.values(row.data) {
                    into.distinct(&key, page)?;
                    spawn.yield_if_needed().await;
                }
            }
            What::Missing(looked) => {
                if looked.values(row.data).is_empty() {
                    into.count(Vec::new(), page, todo)?;
                }
            }
            What::Filter(test) => {
                if test.fits(row, spawn).await {
                    into.count(Vec::new(), page, todo)?;
                }
            }
            What::Filters(tests, other) => {
                let mut is_meant = false;
                for (place, test) in tests.iter().enumerate() {
                    if test.fits(row, spawn).await {
                        is_meant = true;
                        into.count(vec![Part::place(place)], page, todo)?;
                    }
                }
                if *other && !is_meant {
                    into.count(vec![Part::place(tests.len())], page, todo)?;
                }
            }
            What::Ranges(looked, ranges) => {
                let values = looked.values(row.data);
                for (place, (_, from, to)) in ranges.iter().enumerate() {
                    spawn.yield_if_needed().await;
                    let is_in = |key: &Key| match key {
                        Key::Number(number) => (*from..*to).contains(&(*number as f64)),
                        Key::Word(_) => false,
                    };
                    if values.iter().any(is_in) {
                        into.count(vec![Part::place(place)], page, todo)?;
                    }
                }
            }
            What::Terms(looked, choice) => {
                for key in looked.values(row.data) {
                    if aggs::allows(choice.as_ref(), &key) {
                        into.count(vec![Part::Up(key)], page, todo)?;
                    }
                    spawn.yield_if_needed().await;
                }
            }
            What::Pages(sources, after, size) => {
                let mut parts: Vec<Vec<Part>> = Vec::with_capacity(sources.len());
                for source in sources {
                    parts.push(source.parts(row.data));
                    spawn.yield_if_needed().await;
                }
                let mut at = (!parts.iter().any(Vec::is_empty)).then(|| vec![0; parts.len()]);
                while let Some(places) = &at {
                    let key = places.iter().zip(&parts);
                    let key = key.filter_map(|(place, parts)| parts.get(*place).cloned());
                    let key: Vec<Part> = key.collect();
                    if after.as_ref().is_none_or(|after| key > *after)
                        && into.has_place(&key, *size)
                    {
                        into.count(key, page, todo)?;
                        into.cut(*size);
                    }
                    at = following(places, &parts);
                    spawn.yield_if_needed().await;
                }
            }
        }
        Ok(())
    }

    /// So many buckets may be shown without others having to wait.
    pub fn is_short(&self) -> bool {
        self.room.held <= SHOWN_HERE * SLOT_BYTES
    }

    /// What is shown.
    ///
    /// # Errors
    /// More buckets than `most`.
    pub fn finish(self, most: usize) -> Result<Answer> {
        let subs = self.subs(&self.aggs, &self.roots, self.slots.first());
        let mut root = Bucket { subs, ..Bucket::default() };
        let mut limit = Limit::new(most, &|_| true);
        for (agg, partial) in self.aggs.aggs.iter().zip(&mut root.subs) {
            cut::last(agg, partial, &mut limit).map_err(|error| told(&error))?;
        }
        let mut pay = |_| true;
        Ok(Out::leaving(shape::all(&self.aggs, &root, &Meter::new(&mut pay))))
    }

    /// What aggregations side by side found of a bucket; of none where there is no record in it.
    fn subs(&self, aggs: &Aggs, bound: &[usize], slot: Option<&Slot>) -> Vec<Partial> {
        let found = |at| slot.and_then(|slot| slot.found.get(at));
        let subs = aggs.aggs.iter().zip(bound).enumerate();
        subs.filter_map(|(at, (agg, bound))| {
            self.bound.get(*bound).map(|bound| self.partial(agg, bound, found(at)))
        })
        .collect()
    }

    fn partial(&self, agg: &Agg, bound: &Bound, found: Option<&Found>) -> Partial {
        let none = BTreeMap::new();
        let kept = match found {
            Some(Found::Buckets(kept)) => kept,
            _ => &none,
        };
        let bucket = |key: BucketKey, slot: Option<&usize>| {
            let slot = slot.and_then(|slot| self.slots.get(*slot));
            Bucket {
                key,
                count: slot.map_or(0, |slot| slot.count),
                subs: self.subs(&agg.subs, &bound.subs, slot),
                ..Bucket::default()
            }
        };
        let places = |count: usize| -> Vec<Bucket> {
            let places = (0..count).map(Part::place);
            places.map(|place| bucket(place.shown(), kept.get(&vec![place]))).collect()
        };
        let (kind, formats, list, ranges) = match &bound.what {
            What::Count(_) => {
                let count = match found {
                    Some(Found::Count(count)) => *count,
                    _ => 0,
                };
                return Partial::Moments(Moments { count, ..Moments::default() }, Format::Raw);
            }
            What::Distinct(_, precision) => {
                return Partial::Distinct(match found {
                    Some(Found::Distinct(distinct)) => distinct.clone(),
                    _ => Distinct::new(*precision),
                });
            }
            What::Missing(_) | What::Filter(_) => {
                return Partial::Single(Box::new(bucket(BucketKey::Null, kept.get(&Vec::new()))));
            }
            What::Filters(tests, other) => {
                let list = places(tests.len() + usize::from(*other));
                (KeyKind::Other, vec![Format::Raw], list, None)
            }
            What::Ranges(looked, ranges) => {
                let list = places(ranges.len());
                (KeyKind::Other, vec![looked.format.clone()], list, Some(ranges))
            }
            What::Terms(looked, _) => {
                let list = kept.iter().filter_map(|(key, slot)| {
                    key.first().map(|part| bucket(part.shown(), Some(slot)))
                });
                (looked.key_kind(), vec![looked.format.clone()], list.collect(), None)
            }
            What::Pages(sources, ..) => {
                let formats = sources.iter().map(|source| source.looked.format.clone()).collect();
                let list = kept.iter().map(|(key, slot)| {
                    let parts: Vec<BucketKey> = key.iter().map(Part::shown).collect();
                    bucket(BucketKey::List(parts.into()), Some(slot))
                });
                (KeyKind::Other, formats, list.collect(), None)
            }
        };
        Partial::Buckets(Box::new(Buckets {
            kind,
            formats,
            list,
            other: 0,
            error: 0,
            empty: Default::default(),
            totals: (0, 0),
            step: 0,
            shards: 1,
            after: None,
            bounds: (None, None),
            ranges: ranges.cloned().unwrap_or_default(),
        }))
    }
}

/// Nothing found yet by these.
fn found(bound: &[Bound], places: &[usize]) -> Vec<Found> {
    let places = places.iter().filter_map(|place| bound.get(*place));
    let none = |bound: &Bound| match &bound.what {
        What::Count(_) => Found::Count(0),
        What::Distinct(_, precision) => Found::Distinct(Distinct::new(*precision)),
        _ => Found::Buckets(BTreeMap::new()),
    };
    places.map(none).collect()
}

/// The places that follow on these, the last of them first; none behind the last.
fn following(places: &[usize], parts: &[Vec<Part>]) -> Option<Vec<usize>> {
    let mut next = places.to_vec();
    for (place, parts) in next.iter_mut().zip(parts).rev() {
        *place += 1;
        if *place < parts.len() {
            return Some(next);
        }
        *place = 0;
    }
    None
}

/// Where one aggregation finds.
struct Place<'t> {
    bound: &'t [Bound],
    slots: &'t mut Vec<Slot>,
    free: &'t mut Vec<usize>,
    room: &'t mut Room,
    next: Todo,
    subs: &'t [usize],
}

impl Place<'_> {
    fn found(&mut self) -> Option<&mut Found> {
        self.slots.get_mut(self.next.slot)?.found.get_mut(self.next.at)
    }

    fn kept(&mut self) -> Option<&mut BTreeMap<Vec<Part>, usize>> {
        match self.found() {
            Some(Found::Buckets(kept)) => Some(kept),
            _ => None,
        }
    }

    fn distinct<E: Env>(&mut self, key: &Key, page: &mut Listing<'_, '_, E>) -> Result<()> {
        let Some(Found::Distinct(distinct)) = self.found() else { return Ok(()) };
        let before = distinct.bytes();
        distinct.add(aggs::hash(key));
        let grown = distinct.bytes().saturating_sub(before);
        if let Some(slot) = self.slots.get_mut(self.next.slot) {
            slot.bytes += grown;
        }
        self.room.grow(grown, page)
    }

    /// Counts the record in the bucket of this key, and leaves what is below to do.
    fn count<E: Env>(
        &mut self,
        key: Vec<Part>,
        page: &mut Listing<'_, '_, E>,
        todo: &mut Vec<Todo>,
    ) -> Result<()> {
        let known = self.kept().and_then(|kept| kept.get(&key).copied());
        let slot = match known {
            Some(slot) => slot,
            None => {
                let empty = aggs::empty(self.bound, self.subs);
                let bytes = weight(&key, self.subs.len().saturating_add(empty));
                self.room.grow(bytes, page)?;
                self.room.born += 1;
                let born = self.room.born;
                let new = Slot { count: 0, found: found(self.bound, self.subs), bytes, born };
                let slot = match self.free.pop() {
                    Some(slot) => {
                        self.slots[slot] = new;
                        slot
                    }
                    None => {
                        self.slots.push(new);
                        self.slots.len() - 1
                    }
                };
                if let Some(kept) = self.kept() {
                    kept.insert(key, slot);
                }
                slot
            }
        };
        if let Some(counted) = self.slots.get_mut(slot) {
            counted.count += 1;
            let (born, subs) = (counted.born, self.subs.iter().enumerate());
            todo.extend(subs.map(|(at, bound)| Todo { slot, born, at, bound: *bound }));
        }
        Ok(())
    }

    /// Is a key among the first so many, as far as is known?
    fn has_place(&mut self, key: &Vec<Part>, size: usize) -> bool {
        self.kept().is_some_and(|kept| {
            kept.len() < size || kept.last_key_value().is_some_and(|(last, _)| key <= last)
        })
    }

    /// Gives up the last bucket beyond so many, with all below it.
    fn cut(&mut self, size: usize) {
        let Some(kept) = self.kept().filter(|kept| kept.len() > size) else { return };
        let mut gone: Vec<usize> = kept.pop_last().map(|(_, slot)| slot).into_iter().collect();
        while let Some(place) = gone.pop() {
            let Some(slot) = self.slots.get_mut(place) else { continue };
            // Whatever would be counted in it finds none of its age.
            let slot = std::mem::replace(slot, Slot { born: u64::MAX, ..Slot::default() });
            self.room.held = self.room.held.saturating_sub(slot.bytes);
            for found in slot.found {
                if let Found::Buckets(kept) = found {
                    gone.extend(kept.into_values());
                }
            }
            self.free.push(place);
        }
    }
}

/// About what a bucket takes, with so many below it.
fn weight(key: &[Part], subs: usize) -> usize {
    let of = |part: &Part| match part {
        Part::Up(Key::Word(word)) => word.len(),
        Part::Down(word) => match &word.0 {
            Key::Word(word) => word.len(),
            Key::Number(_) => 0,
        },
        _ => 0,
    };
    let words: usize = key.iter().map(of).sum();
    let buckets = SLOT_BYTES.saturating_mul(subs.saturating_add(1));
    buckets.saturating_add(size_of_val(key)).saturating_add(words.saturating_mul(KEY_COPIES))
}
