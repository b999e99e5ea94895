//! The best hits by sort keys.
//!
//! Keys are compared as `i64`, smaller first: numbers by their sortable value, scores and places
//! likewise, a descending key by its complement. A term is compared by its rank in the segment at
//! hand: documents of the segment have odd numbers (rank r is 2 r + 1), terms of other segments
//! that are not here stand between, on even ones. So inside a segment no byte is looked at; between
//! segments the hits kept are settled (their terms read) and seated again (their terms looked up).
//!
//! Always true
//! 1. Hits come in the order of their places; of equal keys the one that came first stays.
//! 2. The root of the heap is the worst hit kept.

mod held;
mod order;
mod settle;

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use base::DocId;
use base::hash::Set;
use mapping::types::sortable;

use super::group::{Group, Grouper, grouper};
use super::read::{
    self, Children, Looking, Made, Reader, Scratch, directed, first_bounds, inside, known_number,
    missing_value, number, rank, reader, unknown_number,
};
use crate::account::Account;
use crate::iter::{Turn, WINDOW, bits, window_of};
use crate::plan::order::{Key, MissingTerm, Order, Place, Source};
use crate::plan::weigh::Plan;
use crate::request::{Mode, ScriptKind};
use crate::result;
use order::{combined, compare_settled, compare_texts, printed, sift_down, sift_up};

/// From so many documents of a window on, a column's window is decoded whole.
const DOCS_TO_FILL: usize = 64;

/// A hit that is kept.
#[derive(Clone, Debug)]
struct Entry {
    /// Comparable keys, in the space of the segment at hand.
    keys: Box<[i64]>,
    /// Terms of keys that are terms, once read; `None` inside for no value.
    terms: Box<[Option<Arc<[u8]>>]>,
    settled: bool,
    segment: u32,
    doc: u32,
    score: f32,
    /// Its value, where one hit for each value is kept.
    group: Group,
}

impl Entry {
    /// What its texts take.
    fn text_bytes(&self) -> usize {
        let terms = self.terms.iter().flatten().map(|term| term.len());
        terms.sum::<usize>() + self.group.held_bytes()
    }

    /// In the order of the keys. Two terms that the segment at hand lacks may share a number; then
    /// their bytes decide.
    fn compare(&self, other: &Self, keys: &[Key]) -> Ordering {
        for (at, (a, b)) in self.keys.iter().zip(&other.keys).enumerate() {
            let mut order = a.cmp(b);
            if order == Ordering::Equal
                && let (Some(a), Some(b)) = (self.terms.get(at), other.terms.get(at))
                && (a.is_some() && b.is_some() || matches!(keys[at].source, Source::Script(_)))
            {
                order = compare_texts(a.as_deref(), b.as_deref(), keys[at].descending);
            }
            if order != Ordering::Equal {
                return order;
            }
        }
        (self.segment, self.doc).cmp(&(other.segment, other.doc))
    }
}

/// The `limit` best hits so far, by keys.
pub struct Sorter {
    limit: usize,
    keys: Arc<Order>,
    /// A heap by hand: the worst first.
    heap: Vec<Entry>,
    /// Readers of the segment at hand.
    readers: Vec<Reader>,
    /// For each key, where it reads documents inside.
    children: Vec<Option<Children>>,
    /// The search for those of the next key, which goes on.
    looking: Option<Looking>,
    segment: u32,
    /// Number of the shard among those asked.
    target: u32,
    /// The segment at hand keeps its documents in the order of the keys.
    in_order: bool,
    /// It does, and one of them was not good enough: those that follow are not, either.
    finished: bool,
    /// The place after which hits count, in the space of the segment at hand.
    after: Option<Vec<i64>>,
    /// How far the kept hits have been seated.
    moved: usize,
    /// How far they are settled, as the segment is left.
    ended: usize,
    /// Best score of all hits, where scores are asked for.
    max_score: f32,
    grouper: Grouper,
    /// Values that some hit kept stands for.
    groups: Set<Group>,
    /// Texts of the hits that are kept, and how many of them are paid for.
    text_bytes: usize,
    paid_bytes: usize,
    /// Texts that scripts made of the documents of one window, at most.
    made_bytes: usize,
    account: Account,
    scratch: Scratch,
}

/// Neither the smallest nor the greatest: those stand for missing terms.
const RANK_MAX: i64 = i64::MAX - 1;

impl Sorter {
    /// Room for `limit` hits in this order.
    pub fn new(order: Arc<Order>, limit: usize) -> Self {
        Self {
            limit,
            keys: order,
            heap: Vec::new(),
            readers: Vec::new(),
            children: Vec::new(),
            looking: None,
            segment: 0,
            target: 0,
            in_order: false,
            finished: false,
            after: None,
            moved: 0,
            ended: 0,
            max_score: f32::NAN,
            grouper: Grouper::Nothing,
            groups: Set::default(),
            text_bytes: 0,
            paid_bytes: 0,
            made_bytes: 0,
            account: Account::new(None),
            scratch: Scratch::default(),
        }
    }

    /// Hits that are kept.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// None is kept.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Levels of the heap that a hit which is kept may sink through, beyond those that are always at hand.
    pub fn depth(&self) -> usize {
        const AT_HAND: u32 = 8;
        self.limit.max(1).ilog2().saturating_sub(AT_HAND) as usize
    }

    /// Hits are of this shard among those asked.
    pub fn set_target(&mut self, target: u32) {
        self.target = target;
    }

    /// Some key is what a script gives.
    pub fn has_scripts(&self) -> bool {
        self.keys.keys.iter().any(|key| matches!(key.source, Source::Script(_)))
    }

    /// Some key is a string that a script gives: it has no number.
    fn has_texts(&self) -> bool {
        self.keys.keys.iter().any(|key| match &key.source {
            Source::Script(key) => key.kind != ScriptKind::Number,
            _ => false,
        })
    }

    /// Some key is the score.
    pub fn needs_scores(&self) -> bool {
        self.keys.keys.iter().any(|key| matches!(key.source, Source::Score))
    }

    /// Best score of all hits; NaN without.
    pub fn max_score(&self) -> f32 {
        self.max_score
    }

    /// Goes to segment number `number`: hits kept take their seats among its terms. False where it
    /// must wait.
    pub fn enter(
        &mut self,
        plan: &Plan,
        number: u32,
        turn: &mut Turn<'_>,
    ) -> segment::Result<bool> {
        if self.readers.is_empty() {
            let at = &plan.view.segments[number as usize];
            if self.segment != number {
                (self.segment, self.looking) = (number, None);
                self.children.clear();
            }
            while let Some(key) = self.keys.keys.get(self.children.len()) {
                let found = match &key.inside {
                    None => None,
                    Some(inside) => {
                        let begin = || Looking::new(inside, plan, number);
                        if !self.looking.get_or_insert_with(begin).step(turn) {
                            return Ok(false);
                        }
                        self.looking.take().map(Looking::found)
                    }
                };
                self.children.push(found);
            }
            self.readers =
                self.keys.keys.iter().map(|key| reader(key, plan, number, self.target)).collect();
            self.grouper =
                self.keys.collapse.as_ref().map_or(Grouper::Nothing, |collapse| {
                    grouper(collapse, &at.segment, &plan.trouble)
                });
            self.in_order = at.segment.order().is_some_and(|kept| self.keys.is_prefix_of(kept));
            self.finished = false;
            (self.moved, self.ended) = (0, 0);
            self.after = None;
        }
        let has_terms = self.readers.iter().any(|reader| matches!(reader, Reader::Ordinals { .. }));
        while has_terms && self.moved < self.heap.len() {
            if !self.seat(self.moved, turn)? {
                return Ok(false);
            }
            self.moved += 1;
            if turn.is_over() {
                return Ok(false);
            }
        }
        if self.after.is_none()
            && let Some(places) = &self.keys.after
        {
            let places = places.clone();
            let mut after = Vec::with_capacity(places.len());
            for (at, place) in places.iter().enumerate() {
                match self.seat_place(at, place, turn)? {
                    Some(number) => after.push(number),
                    None => return Ok(false),
                }
            }
            self.after = Some(after);
        }
        Ok(true)
    }

    /// Names what the keys of `docs` will be read from; false where it is not there.
    pub fn prepare(&self, docs: Range<u32>, turn: &mut Turn<'_>) -> bool {
        if turn.resident || docs.is_empty() {
            return true;
        }
        // Documents inside stand before theirs.
        let inside = self.children.iter().flatten().filter_map(|it| it.parents.as_ref());
        let first = inside.map(|parents| parents.nested(DocId(docs.start)).start).min();
        let start = first.unwrap_or(docs.start);
        for window in window_of(start)..=window_of(docs.end - 1) {
            for reader in &self.readers {
                // What cannot be named is damaged; reading finds and records it.
                let _ = match reader {
                    Reader::Numeric { column: Some(column), .. }
                    | Reader::Distance { column: Some(column), .. } => {
                        column.need(window, turn.missing)
                    }
                    Reader::Ordinals { column: Some(column), .. } => {
                        column.0.need(window, turn.missing)
                    }
                    _ => Ok(()),
                };
            }
        }
        turn.is_ready()
    }

    /// Gives hits of one window: documents rising, with their scores where there are any.
    pub fn offer(&mut self, docs: &[u32], scores: &[f32]) {
        for score in scores {
            self.max_score = self.max_score.max(*score);
        }
        if self.limit == 0 || docs.is_empty() {
            return;
        }
        for (reader, children) in self.readers.iter().zip(&self.children) {
            read::check(reader, children.as_ref(), docs);
        }
        self.read_firsts(docs, scores);
        if self.has_texts() {
            // Numbers alone do not tell which is the better.
            for (at, doc) in docs.iter().enumerate() {
                let score = scores.get(at).copied().unwrap_or(f32::NAN);
                self.take(*doc, self.scratch.firsts[at], score);
            }
            return;
        }
        for (at, doc) in docs.iter().enumerate() {
            if self.finished {
                break;
            }
            let first = self.scratch.firsts[at];
            if let Some(worst) = self.worst()
                && (first > worst[0] || first == worst[0] && worst.len() == 1)
            {
                self.finished = self.in_order;
                continue;
            }
            let score = scores.get(at).copied().unwrap_or(f32::NAN);
            self.take(*doc, first, score);
        }
    }

    /// No document of window `window` of the segment at hand can become a hit.
    pub fn is_hopeless(&self, window: u32, doc_count: u32) -> bool {
        let (Some(reader), Some(key)) = (self.readers.first(), self.keys.keys.first()) else {
            return false;
        };
        if self.children.first().is_some_and(Option::is_some) {
            return false;
        }
        let Some((best, last)) = first_bounds(reader, key.descending, window, doc_count) else {
            return false;
        };
        let is_only = self.keys.keys.len() == 1;
        if let Some(after) = &self.after
            && (last < after[0] || last == after[0] && is_only)
        {
            return true;
        }
        let Some(worst) = self.worst() else { return false };
        best > worst[0] || best == worst[0] && is_only
    }

    /// Every document to come in the segment at hand is worse than all that are kept.
    pub fn is_complete(&self) -> bool {
        if self.finished {
            return true;
        }
        let by_place = matches!(self.readers.first(), Some(Reader::Doc { .. }))
            && !self.keys.keys[0].descending;
        by_place && (self.limit == 0 || self.heap.len() == self.limit)
    }

    /// Leaves the segment: terms of its hits are read. False where it must wait.
    pub fn leave(&mut self, turn: &mut Turn<'_>) -> segment::Result<bool> {
        // Nothing is taken any more: those before it stay settled.
        while let Some(entry) = self.heap.get(self.ended) {
            if !entry.settled && !self.settle(self.ended, turn)? {
                return Ok(false);
            }
            self.ended += 1;
            turn.spend(1);
            if turn.is_over() {
                return Ok(false);
            }
        }
        self.readers.clear();
        self.children.clear();
        Ok(true)
    }

    /// Forgets hits whose terms were not read: a deadline came between.
    pub fn drop_unsettled(&mut self) {
        // Nothing is taken after it: what the others hold stays counted.
        self.heap.retain(|entry| entry.settled);
    }

    /// The hits, best first.
    pub fn into_sorted(mut self) -> Vec<result::Ranked> {
        // After the last segment seats compare no more across segments: compare terms.
        let order = Arc::clone(&self.keys);
        self.heap.sort_by(|a, b| compare_settled(&order.keys, a, b));
        let entries = std::mem::take(&mut self.heap);
        entries
            .into_iter()
            .map(|entry| result::Ranked {
                score: entry.score,
                keys: printed(&order, &entry),
                segment: entry.segment,
                doc: DocId(entry.doc),
            })
            .collect()
    }

    /// Keys of the worst hit, once there is no more room.
    #[inline]
    fn worst(&self) -> Option<&[i64]> {
        if self.heap.len() < self.limit { None } else { self.heap.first().map(|it| &*it.keys) }
    }

    /// Takes a document whose first key may be good enough.
    fn take(&mut self, doc: u32, first: i64, score: f32) {
        if self.account.is_over() {
            return;
        }
        self.scratch.keys.clear();
        self.scratch.keys.push(first);
        for at in 1..self.readers.len() {
            let key = self.read(at, doc, score);
            self.scratch.keys.push(key);
        }
        let has_texts = self.has_texts();
        let keys = self.scratch.keys.as_slice();
        if !has_texts && self.after.as_deref().is_some_and(|after| keys <= after) {
            return;
        }
        // Equal keys: the earlier place is the better, and this one is the last.
        if !has_texts && self.worst().is_some_and(|worst| keys >= worst) {
            self.finished = self.in_order;
            return;
        }
        let has_terms = self.readers.iter().any(|reader| matches!(reader, Reader::Ordinals { .. }));
        let terms: Vec<Option<Arc<[u8]>>> = match has_terms || has_texts {
            true => (0..keys.len()).map(|at| self.text(at, doc)).collect(),
            false => Vec::new(),
        };
        let group = self.grouper.read(doc);
        let entry = Entry {
            keys: keys.into(),
            terms: terms.into(),
            settled: !has_terms,
            segment: self.segment,
            doc,
            score,
            group,
        };
        if has_texts {
            if self.is_before_page(&entry) {
                return;
            }
            let full = self.heap.len() >= self.limit;
            let worst = self.heap.first().filter(|_| full);
            if worst.is_some_and(|worst| entry.compare(worst, &self.keys.keys) != Ordering::Less) {
                return;
            }
        }
        if self.keys.collapse.is_some() && !self.groups.insert(entry.group.clone()) {
            return self.replace(entry);
        }
        if self.heap.len() == self.limit && self.keys.collapse.is_some() {
            self.groups.remove(&self.heap[0].group);
        }
        self.hold(entry.text_bytes());
        if self.heap.len() < self.limit {
            self.heap.push(entry);
            let last = self.heap.len() - 1;
            sift_up(&mut self.heap, last, &self.keys.keys);
        } else {
            self.text_bytes = self.text_bytes.saturating_sub(self.heap[0].text_bytes());
            self.heap[0] = entry;
            sift_down(&mut self.heap, 0, &self.keys.keys);
        }
    }

    /// Takes the place of the hit that stands for the same value, where it is the better one.
    fn replace(&mut self, entry: Entry) {
        let Some(at) = self.heap.iter().position(|known| known.group == entry.group) else {
            return;
        };
        let order = entry.compare(&self.heap[at], &self.keys.keys);
        if order == Ordering::Less {
            self.text_bytes = self.text_bytes.saturating_sub(self.heap[at].text_bytes());
            self.hold(entry.text_bytes());
            self.heap[at] = entry;
            // It is better than before, so those below may be worse.
            sift_down(&mut self.heap, at, &self.keys.keys);
        }
    }

    /// The string that a script gave, where a key is one.
    fn text(&self, at: usize, doc: u32) -> Option<Arc<[u8]>> {
        let Reader::Script { runner, key, .. } = &self.readers[at] else { return None };
        let text = |doc: u32| match runner.result(doc) {
            Some(Ok(Made::Text(text))) => Some(Arc::clone(text)),
            _ => None,
        };
        match &self.children[at] {
            None => text(doc),
            Some(children) => {
                let all = children.of(doc, |child| text(child.get()));
                if key.mode == Mode::Max { all.max() } else { all.min() }
            }
        }
    }

    /// The hit stands at or before the place after which hits count.
    fn is_before_page(&self, entry: &Entry) -> bool {
        let (Some(after), Some(places)) = (&self.after, &self.keys.after) else { return false };
        for (at, key) in self.keys.keys.iter().enumerate() {
            let order = match &places[at] {
                Place::Term(after) if matches!(key.source, Source::Script(_)) => {
                    compare_texts(entry.terms[at].as_deref(), after.as_deref(), key.descending)
                }
                _ => entry.keys[at].cmp(&after[at]),
            };
            if order != Ordering::Equal {
                return order == Ordering::Less;
            }
        }
        true
    }

    /// The first key of each document.
    fn read_firsts(&mut self, docs: &[u32], scores: &[f32]) {
        let mut firsts = std::mem::take(&mut self.scratch.firsts);
        firsts.clear();
        let mut start = 0;
        for part in docs.chunk_by(|a, b| window_of(*a) == window_of(*b)) {
            let many = part.len() >= DOCS_TO_FILL;
            if !(many && self.fill_firsts(part, &mut firsts)) {
                for (at, doc) in part.iter().enumerate() {
                    let score = scores.get(start + at).copied().unwrap_or(f32::NAN);
                    firsts.push(self.read(0, *doc, score));
                }
            }
            start += part.len();
        }
        self.scratch.firsts = firsts;
    }

    /// Decodes the first key's column for a window; false where it is no plain column.
    fn fill_firsts(&mut self, docs: &[u32], firsts: &mut Vec<i64>) -> bool {
        if self.children.first().is_some_and(Option::is_some) {
            return false;
        }
        let descending = self.keys.keys.first().is_some_and(|key| key.descending);
        let worst = self.worst().map(|keys| keys[0]);
        let Scratch { values, present, .. } = &mut self.scratch;
        let window = window_of(docs[0]);
        let (column, key) = match self.readers.first() {
            Some(Reader::Numeric { column: Some(column), key, .. }) => (column, key),
            Some(Reader::Distance { column: Some(column), key }) if column.is_single() => {
                column.fill(window, values, present);
                let fence = worst.filter(|_| !descending).and_then(|worst| key.fence(worst));
                for doc in docs {
                    let place = doc % WINDOW;
                    let value = values[place as usize];
                    if !bits::has(present, place) {
                        let far = sortable::from_f64(f64::INFINITY);
                        firsts.push(directed(far, descending));
                    } else if fence.is_some_and(|fence| !fence.holds(value)) {
                        // Worse than the worst, so that it is passed over.
                        firsts.push(i64::MAX);
                    } else {
                        let far = key.of(&[value]).unwrap_or(i64::MAX);
                        firsts.push(directed(far, descending));
                    }
                }
                return true;
            }
            _ => return false,
        };
        match key.mode {
            Mode::Min => column.fill(window, values, present),
            Mode::Max => column.fill_last(window, values, present),
            _ if column.is_single() => column.fill(window, values, present),
            _ => return false,
        }
        for doc in docs {
            let place = doc % WINDOW;
            let value = match bits::has(present, place) {
                true => key.cast(values[place as usize]),
                false => key.missing,
            };
            firsts.push(directed(value, descending));
        }
        true
    }

    /// One key of one document.
    fn read(&mut self, at: usize, doc: u32, score: f32) -> i64 {
        let descending = self.keys.keys[at].descending;
        match &self.readers[at] {
            Reader::Score => directed(sortable::from_f32(score), descending),
            Reader::Doc { base } => directed(base + i64::from(doc), descending),
            Reader::Numeric { column, key, .. } => {
                let several = &mut self.scratch.several;
                let value = match (column, &self.children[at]) {
                    (None, _) => None,
                    (Some(column), None) => number(column, key, doc, several),
                    (Some(column), Some(children)) => {
                        several.clear();
                        inside(column, children, doc, several);
                        several.sort_unstable();
                        (!several.is_empty()).then(|| key.combine(several))
                    }
                };
                directed(value.unwrap_or(key.missing), descending)
            }
            Reader::Distance { column, key } => {
                let places = &mut self.scratch.several;
                places.clear();
                match (column, &self.children[at]) {
                    (None, _) => {}
                    (Some(column), None) => column.values(DocId(doc), places),
                    (Some(column), Some(children)) => inside(column, children, doc, places),
                }
                let far = || sortable::from_f64(f64::INFINITY);
                directed(key.of(places).unwrap_or_else(far), descending)
            }
            Reader::Script { runner, key, .. } => {
                let number = |doc: u32| match runner.result(doc) {
                    Some(Ok(Made::Number(value))) => Some(*value),
                    _ => None,
                };
                let value = match &self.children[at] {
                    _ if key.kind != ScriptKind::Number => return 0,
                    None => number(doc),
                    Some(children) => {
                        combined(key.mode, children.of(doc, |child| number(child.get())))
                    }
                };
                let value = value.map(sortable::from_f64);
                directed(value.unwrap_or_else(|| key.missing(descending)), descending)
            }
            Reader::Ordinals { column, within, key } => {
                let children = self.children[at].as_ref();
                let counts = (key, within.as_ref());
                let rank = column.as_ref().and_then(|it| rank(&it.0, counts, children, doc));
                match rank {
                    Some(rank) => directed(known_number(rank), descending),
                    None => self.missing_term(at),
                }
            }
        }
    }

    /// Where documents without a term stand; a term that stands for them is seated with the hits.
    fn missing_term(&self, at: usize) -> i64 {
        match &self.readers[at] {
            Reader::Ordinals { key, .. } => match &key.missing {
                MissingTerm::First => i64::MIN,
                MissingTerm::Last => i64::MAX,
                // Rare: looked up for each document that needs it.
                MissingTerm::Term(term) => self.rank_now(at, term),
            },
            _ => i64::MAX,
        }
    }

    /// The number of a term among those of the segment, read at once.
    fn rank_now(&self, at: usize, term: &[u8]) -> i64 {
        let descending = self.keys.keys[at].descending;
        let Reader::Ordinals { column, key, .. } = &self.readers[at] else {
            return directed(0, descending);
        };
        let number = match column.as_ref().map(|column| column.0.terms().lookup(term)) {
            None => unknown_number(base::Ord(0), term, &key.missing),
            Some(Ok(Ok(rank))) => known_number(rank),
            Some(Ok(Err(rank))) => unknown_number(rank, term, &key.missing),
            Some(Err(_)) => RANK_MAX,
        };
        directed(number, descending)
    }
}
