//! Buckets by key: what nearly all bucket aggregations share.
//!
//! A [`Keys`] says which keys each document has; here they become bucket numbers, are counted, and
//! the documents go on to the aggregations below.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use env::heap::left_by;

use super::slots::Slots;
use crate::aggs::collect::{Account, Around, Batch, Collector, Group};
use crate::aggs::format::Format;
use crate::aggs::partial::{Between, Bucket, Buckets, Key, KeyKind, Partial, places};
use crate::aggs::reduce;
use crate::iter::Turn;

/// Keys below this are counted in a plain array where nothing but a count is wanted.
const PLAIN_MAX: usize = 1 << 16;

/// Documents go on to what is below at so many at a time, each with its bucket: a document stands there once
/// for each of its keys.
const PART: usize = 4096;

/// Documents that may have more keys together are collected one after the other.
const PIECE: usize = 1 << 16;

/// What the count of one bucket takes in a list that grows.
const COUNT_BYTES: usize = 2 * size_of::<u64>();

/// What an allocation takes beyond its bytes, about.
const ALLOCATION_BYTES: usize = 16;

/// Counts what a key takes, which is there so often; whether there is room for it.
fn has_room(key: &Key, copies: usize, account: &mut Account) -> bool {
    account.grow(key.held_bytes().saturating_mul(copies));
    account.fault().is_none()
}

/// Says which keys documents have.
pub trait Keys: Send {
    /// Keys lie from 0 to below this; 0: anywhere.
    fn span(&self) -> usize {
        0
    }

    /// So many keys a document may have, where they are many whatever it holds.
    fn keys_max(&self) -> usize {
        1
    }

    /// Names what [`Keys::each`] will read.
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool;

    /// Gives the keys of documents, which rise, each with its document's place in `docs`.
    fn each<F: FnMut(usize, i64)>(&mut self, docs: &[u32], give: F);

    /// How many documents have each key is known without looking at them.
    fn knows_counts(&self) -> bool {
        false
    }

    /// Puts how many documents have each key beside it; true when all are there.
    fn count_all(&mut self, counts: &mut [u32], turn: &mut Turn<'_>) -> segment::Result<bool> {
        let _ = (counts, turn);
        Ok(true)
    }

    /// Bytes that keys take here, beside those of their buckets.
    fn bytes(&self) -> usize {
        0
    }

    /// How many buckets of plain keys it takes as long to make and to put in order as `buckets` of these.
    fn size(&self, buckets: usize) -> usize {
        buckets
    }

    /// Names what [`Keys::key`] will read for these keys.
    fn leave(&mut self, keys: &[(u32, i64)], turn: &mut Turn<'_>) -> segment::Result<bool> {
        let _ = (keys, turn);
        Ok(true)
    }

    /// Keys are shown once more, their parts joined.
    fn are_joined(&self) -> bool {
        false
    }

    /// A key as it is merged; `None` where it does not count after all. Keys rise from call to call.
    fn key(&mut self, key: i64) -> segment::Result<Option<Key>>;

    /// So many keys at most have a bucket even without documents.
    fn always_max(&self) -> usize {
        0
    }

    /// Keys that have a bucket even without documents.
    fn always(&mut self) -> segment::Result<Vec<i64>> {
        Ok(Vec::new())
    }

    /// Cuts the buckets of one owner, in the order of keys.
    fn cut(&self, list: &mut Vec<Bucket>) {
        let _ = list;
    }
}

/// What the buckets of an aggregation are.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What keys are.
    pub kind: KeyKind,
    /// How they are printed.
    pub formats: Vec<Format>,
    /// What stands in a bucket without documents.
    pub empty: Arc<Vec<Partial>>,
    /// Documents are counted apart, for significance.
    pub totals: bool,
    /// Documents elsewhere in this segment.
    pub elsewhere: u64,
    /// Which of the steps of `auto_date_histogram`.
    pub step: usize,
    /// Buckets of time reach at least from and to these.
    pub bounds: (Option<i64>, Option<i64>),
    /// What the places of ranges mean.
    pub ranges: Arc<Vec<Between>>,
}

impl Shape {
    /// No bucket.
    pub fn none(&self) -> Buckets {
        Buckets {
            kind: self.kind,
            formats: self.formats.clone(),
            list: Vec::new(),
            other: 0,
            error: 0,
            empty: Arc::clone(&self.empty),
            totals: (0, self.elsewhere),
            step: self.step,
            shards: 0,
            after: None,
            bounds: self.bounds,
            ranges: Arc::clone(&self.ranges),
        }
    }
}

/// Collects buckets by key.
pub struct Keyed<K> {
    keys: K,
    /// What they took when they were asked last.
    keys_bytes: usize,
    shape: Shape,
    slots: Slots,
    counts: Vec<u64>,
    subs: Group,
    /// Documents of each key of the only owner, not yet in `counts`.
    plain: Vec<u32>,
    /// Documents that go on to `subs`, and their buckets.
    docs: Vec<u32>,
    buckets: Vec<u32>,
    /// Documents of each owner, where they are counted apart.
    totals: Vec<u64>,
    /// Buckets of the only owner that are of use: those of most documents, then of the least keys.
    most: Option<usize>,
}

impl<K: Keys> Keyed<K> {
    /// Buckets of `shape` with `subs` below.
    pub fn new(keys: K, shape: Shape, subs: Group) -> Self {
        let slots = Slots::new(keys.span());
        Self {
            keys,
            keys_bytes: 0,
            shape,
            slots,
            counts: Vec::new(),
            subs,
            plain: Vec::new(),
            docs: Vec::new(),
            buckets: Vec::new(),
            totals: Vec::new(),
            most: None,
        }
    }

    /// No more than so many buckets of the only owner, those of most documents, are of use.
    #[must_use]
    pub fn with_most(mut self, most: Option<usize>) -> Self {
        self.most = most;
        self
    }

    /// Takes documents that have no more keys than one call may meet.
    fn collect_part(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        if self.shape.totals {
            for at in 0..batch.docs.len() {
                let owner = batch.owner(at) as usize;
                if owner >= self.totals.len() {
                    self.totals.resize(owner + 1, 0);
                }
                self.totals[owner] += around.multitudes.count(batch.docs[at]);
            }
        }
        let multitudes = around.multitudes;
        let span = self.keys.span();
        let mut is_over = false;
        let buckets = &mut Counted::new(&mut self.slots, &mut self.counts);
        if !self.subs.is_empty() {
            let (docs, owners, subs) = (&mut self.docs, &mut self.buckets, &mut self.subs);
            docs.clear();
            owners.clear();
            self.keys.each(batch.docs, |at, key| {
                if is_over {
                    return;
                }
                docs.push(batch.docs[at]);
                owners.push(buckets.count(batch.owner(at), key, multitudes.count(batch.docs[at])));
                if docs.len() == PART {
                    buckets.pay(around.account);
                    subs.collect(Batch { docs, owners }, around);
                    docs.clear();
                    owners.clear();
                    is_over = around.account.is_over();
                }
            });
            if !docs.is_empty() && !is_over {
                subs.collect(Batch { docs, owners }, around);
            }
        } else if multitudes.is_plain()
            && batch.owners.is_empty()
            && (1..=PLAIN_MAX).contains(&span)
        {
            make_room(&mut self.plain, span, around.account);
            let plain = self.plain.as_mut_slice();
            self.keys.each(batch.docs, |_, key| match plain.get_mut(key as usize) {
                Some(count) => *count += 1,
                None => {
                    buckets.count(0, key, 1);
                }
            });
        } else {
            let mut left = PART;
            self.keys.each(batch.docs, |at, key| {
                if is_over {
                    return;
                }
                buckets.count(batch.owner(at), key, multitudes.count(batch.docs[at]));
                left -= 1;
                if left == 0 {
                    left = PART;
                    around.account.meet(PART);
                    buckets.pay(around.account);
                    is_over = around.account.is_over();
                }
            });
            around.account.meet(PART - left);
        }
        buckets.pay(around.account);
        let keys = self.keys.bytes();
        around.account.grow(keys.saturating_sub(self.keys_bytes));
        self.keys_bytes = self.keys_bytes.max(keys);
    }

    /// Leaves the buckets that are of use: the documents of the others.
    fn leave_most(&self, order: &mut Vec<u32>) -> u64 {
        let count = |bucket: u32| self.counts[bucket as usize];
        let Some(most) = self.most.filter(|most| *most < order.len()) else { return 0 };
        order.select_nth_unstable_by_key(most, |bucket| {
            (Reverse(count(*bucket)), self.slots.buckets[*bucket as usize].1)
        });
        order.drain(most..).map(count).sum()
    }
}

/// Buckets that are found and counted, and paid for now and then.
struct Counted<'k> {
    slots: &'k mut Slots,
    counts: &'k mut Vec<u64>,
    /// Buckets that are paid for.
    paid: usize,
}

impl<'k> Counted<'k> {
    fn new(slots: &'k mut Slots, counts: &'k mut Vec<u64>) -> Self {
        let paid = slots.len();
        Self { slots, counts, paid }
    }

    /// Counts a document in its bucket, which is given.
    #[inline]
    fn count(&mut self, owner: u32, key: i64, times: u64) -> u32 {
        let bucket = self.slots.of(owner, key);
        match self.counts.get_mut(bucket as usize) {
            Some(count) => *count += times,
            None => self.counts.push(times),
        }
        bucket
    }

    /// Counts the memory of those that are new.
    fn pay(&mut self, account: &mut Account) {
        let new = self.slots.len() - self.paid;
        if new > 0 {
            account.grow(self.slots.grown() + new * COUNT_BYTES);
            self.paid += new;
        }
    }
}

impl<K: Keys> Collector for Keyed<K> {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        // Both name what they need, so that it is fetched at once.
        let ready = self.keys.prepare(docs, turn);
        self.subs.prepare(docs, turn) && ready
    }

    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        // The account is asked between two of these.
        for part in batch.parts(PIECE / self.keys.keys_max().max(1)) {
            self.collect_part(part, around);
            if around.account.is_over() {
                return;
            }
        }
    }

    fn knows_all(&self) -> bool {
        let is_plain = self.subs.is_empty() && !self.shape.totals;
        is_plain && (1..=PLAIN_MAX).contains(&self.keys.span()) && self.keys.knows_counts()
    }

    fn take_all(&mut self, turn: &mut Turn<'_>, account: &mut Account) -> segment::Result<bool> {
        make_room(&mut self.plain, self.keys.span(), account);
        self.keys.count_all(&mut self.plain, turn)
    }

    fn size(&self, owners: usize) -> usize {
        // Of many that are counted alone the best are chosen before anything is made of them.
        let all = self.slots.len();
        let made = self.most.map_or(all, |most| most.min(all));
        // Those that are there without documents, each with what is below it.
        let always = match self.keys.always_max() {
            0 => 0,
            keys => keys.saturating_mul(1 + places(&self.shape.empty)).saturating_mul(owners),
        };
        self.keys.size(made).saturating_add(self.subs.size(all)).saturating_add(always)
    }

    fn leave(&mut self, turn: &mut Turn<'_>, account: &mut Account) -> segment::Result<bool> {
        self.settle(account);
        let ready = self.keys.leave(&self.slots.buckets, turn)?;
        Ok(self.subs.leave(turn, account)? && ready)
    }

    fn finish(&mut self, owners: usize, account: &mut Account) -> segment::Result<Vec<Partial>> {
        let mut subs = self.subs.finish(self.slots.len(), account)?;
        let mut order: Vec<u32> = (0..self.slots.len() as u32).collect();
        let others = if owners == 1 { self.leave_most(&mut order) } else { 0 };
        // By key first, so that words are read in their order, each once for all owners.
        order.sort_unstable_by_key(|bucket| {
            let (owner, key) = self.slots.buckets[*bucket as usize];
            (key, owner)
        });
        let mut lists: Vec<Buckets> = (0..owners).map(|_| self.shape.none()).collect();
        for (list, total) in lists.iter_mut().zip(&self.totals) {
            list.totals.0 = *total;
        }
        // Each list as long as it will be: most owners of a deep tree have one bucket.
        let mut lens = vec![0usize; owners];
        for bucket in &order {
            lens[self.slots.buckets[*bucket as usize].0 as usize] += 1;
        }
        let subs_bytes = size_of::<Vec<Partial>>() + self.shape.empty.len() * size_of::<Partial>();
        // Its key, and what is below, are allocations of their own.
        let size = size_of::<Bucket>() + subs_bytes + 2 * ALLOCATION_BYTES;
        let list_bytes = size_of::<Buckets>() + 2 * ALLOCATION_BYTES;
        account.grow(order.len() * size + owners * list_bytes);
        if account.fault().is_some() {
            // Nothing of it will be told.
            return Ok(lists.into_iter().map(|it| Partial::Buckets(Box::new(it))).collect());
        }
        for (list, len) in lists.iter_mut().zip(lens) {
            list.list.reserve_exact(len);
            list.other = others;
        }
        let copies = self.copies();
        let mut current: Option<(i64, Option<Key>)> = None;
        for bucket in order {
            let (owner, raw) = self.slots.buckets[bucket as usize];
            if current.as_ref().is_none_or(|(known, _)| *known != raw) {
                let key = self.keys.key(raw)?;
                if key.as_ref().is_some_and(|key| !has_room(key, copies, account)) {
                    break;
                }
                current = Some((raw, key));
            }
            let Some((_, Some(key))) = &current else { continue };
            lists[owner as usize].list.push(Bucket {
                key: key.clone(),
                count: self.counts[bucket as usize],
                subs: std::mem::take(&mut subs[bucket as usize]),
                ..Bucket::default()
            });
        }
        let always = self.keys.always()?;
        for buckets in &mut lists {
            self.fill(buckets, &always, account)?;
            reduce::sort_by_key(&mut buckets.list);
            self.keys.cut(&mut buckets.list);
        }
        Ok(lists.into_iter().map(|buckets| Partial::Buckets(Box::new(buckets))).collect())
    }
}

/// Makes room to count `span` keys plainly, where there is none.
fn make_room(plain: &mut Vec<u32>, span: usize, account: &mut Account) {
    if plain.is_empty() {
        account.grow(span * size_of::<u32>());
        plain.resize(span, 0);
    }
}

impl<K: Keys> Keyed<K> {
    /// Makes buckets of what was counted plainly.
    fn settle(&mut self, account: &mut Account) {
        let before = self.slots.len();
        for (key, count) in std::mem::take(&mut self.plain).into_iter().enumerate() {
            if count > 0 {
                let bucket = self.slots.of(0, key as i64) as usize;
                if bucket == self.counts.len() {
                    self.counts.push(0);
                }
                self.counts[bucket] += u64::from(count);
            }
        }
        account.grow(self.slots.grown() + (self.slots.len() - before) * COUNT_BYTES);
    }

    /// How often the bytes of a key are there at once: in its buckets, where what is shown shares them, and
    /// as text where they are shown otherwise.
    fn copies(&self) -> usize {
        let is_text = self.shape.formats.iter().any(Format::is_of_terms);
        1 + usize::from(is_text) + usize::from(self.keys.are_joined())
    }

    /// Adds the buckets that are there even without documents.
    fn fill(
        &mut self,
        buckets: &mut Buckets,
        always: &[i64],
        account: &mut Account,
    ) -> segment::Result<()> {
        if always.is_empty() {
            return Ok(());
        }
        let copies = self.copies();
        let mut missing = Vec::new();
        for key in always {
            if let Some(key) = self.keys.key(*key)? {
                if !has_room(&key, copies, account) {
                    break;
                }
                let (subs, bytes) = left_by(|| buckets.empty.as_ref().clone());
                account.grow(size_of::<Bucket>() + bytes);
                if account.fault().is_some() {
                    break;
                }
                missing.push(Bucket { key, subs, ..Bucket::default() });
            }
        }
        buckets.list.extend(missing);
        Ok(())
    }
}
