//! One core's kept filters: which documents of a segment a rule matches, found once and used again.
//!
//! A range beside the words of many searches (the documents of one user, of one month) is looked up
//! anew by each; as a bit for each document it costs a copy of 512 bytes a window. What is kept is of a
//! rule and a segment alone: deleted documents are among them, and what a caller may see is a rule
//! beside it, so neither deletes nor rights need be known here.
//!
//! Always true
//! 1. Kept are only rules asked before ([`RECENT`] of them are remembered) that match many documents of
//!    a segment that is not small: what is cheap to find would only take room (as Lucene's
//!    `UsageTrackingQueryCachingPolicy` decides).
//! 2. Bytes kept are bounded by the limit given, and taken from the node's budget; where that has none
//!    left, nothing is kept.
//! 3. A segment is never taken for another: the key is the address of its file, and the entry holds
//!    that address occupied (`Weak`). What is kept of segments that are gone goes when the next is
//!    kept.
//!
//! Forgetting works by two generations, as in the cache of dictionary blocks: when the younger has half
//! the limit, the older goes; what is asked again moves to the younger.

use std::sync::{Arc, Weak};

use base::FieldNo;
use base::hash::Map;
use env::budget::{Lease, Taken};
use segment::section::File;
use segment::{Missing, Segment, View};

use crate::iter::build::{self, Context};
use crate::iter::kept::words_for;
use crate::iter::{AnyFilter, Bits, Turn, WINDOW, bits};
use crate::plan::weigh::{Node, Plan};

/// Rules that are remembered to have been asked, in each of two generations.
const RECENT: usize = 256;

/// Smaller segments are looked through as fast.
const DOCS_MIN: u32 = 4 * WINDOW;

/// Rules that match fewer than one in so many documents are gathered as fast.
const DENSE_FROM: u64 = 1024;

/// So many are gathered by one search at most, each no larger than this share of the limit: what a search
/// gathers for later ones costs it a bounded time, and never more memory than is kept. Others come with the
/// next search.
const MAKING_MAX: usize = 8;

/// Longer lists of terms and ranges are not compared with those of other searches.
const LIST_MAX: usize = 64;

/// Which documents of a segment a rule matches.
#[derive(Debug)]
pub struct Docs {
    /// A bit for each, in whole windows.
    words: Vec<u64>,
    count: u64,
    /// Room in the node's budget.
    _taken: Option<Taken>,
}

impl Docs {
    /// A bit for each document, in whole windows.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many match, dead ones included.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// A rule that may be kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Rule {
    /// A number in ranges.
    Numbers(FieldNo, Vec<(i64, i64)>),
    /// A point between two corners.
    Box(FieldNo, Arc<[u8]>, Arc<[u8]>),
}

impl Rule {
    fn of(node: &Node) -> Option<Self> {
        match node {
            Node::Numbers { numbers, .. } if numbers.ranges.len() <= LIST_MAX => {
                Some(Self::Numbers(numbers.field, numbers.ranges.clone()))
            }
            Node::Box { field, low, high, .. } => {
                Some(Self::Box(*field, Arc::clone(low), Arc::clone(high)))
            }
            _ => None,
        }
    }
}

/// A rule in a segment, whose file has this address.
type Key = (usize, Rule);

struct Entry {
    /// Keeps the address from being given to another file.
    owner: Weak<File>,
    docs: Arc<Docs>,
}

/// The filters that one core keeps.
pub struct KeptFilters {
    limit_bytes: usize,
    lease: Lease,
    young: Map<Key, Entry>,
    old: Map<Key, Entry>,
    young_bytes: usize,
    /// Rules asked, in two generations.
    asked: Map<Key, ()>,
    asked_before: Map<Key, ()>,
}

/// A filter about to be kept, gathered in steps.
pub struct Making {
    key: Key,
    segment: Segment,
    filter: AnyFilter,
    words: Vec<u64>,
    window: u32,
    taken: Taken,
}

impl KeptFilters {
    /// Room for `limit_bytes`, taken from `lease`.
    pub fn new(limit_bytes: usize, lease: Lease) -> Self {
        Self {
            limit_bytes,
            lease,
            young: Map::default(),
            old: Map::default(),
            young_bytes: 0,
            asked: Map::default(),
            asked_before: Map::default(),
        }
    }

    /// Number of bytes kept.
    pub fn len_bytes(&self) -> usize {
        let sum = |map: &Map<_, Entry>| map.values().map(|it| bytes_of(&it.docs)).sum::<usize>();
        sum(&self.young) + sum(&self.old)
    }

    /// Puts what is kept of the plan's filters in their places; answers those that are worth being
    /// kept and are not yet. For a plan that nobody else holds.
    pub fn meet(&mut self, plan: &mut Arc<Plan>) -> Vec<Making> {
        let mut wanted = Vec::new();
        let Some(plan) = Arc::get_mut(plan) else { return wanted };
        self.visit(&mut plan.root, &plan.view, false, &mut wanted);
        wanted
    }

    /// Are there rules in the plan that might be kept?
    pub fn concern(plan: &Plan) -> bool {
        plan.view.segments.iter().any(|at| at.segment.doc_count() >= DOCS_MIN)
            && has_rule(&plan.root, false)
    }

    /// Keeps what was gathered.
    pub fn keep(&mut self, making: Making) {
        let Making { key, segment, words, taken, .. } = making;
        if segment.fault().is_some() {
            return;
        }
        let count = words.iter().map(|word| u64::from(word.count_ones())).sum();
        let docs = Arc::new(Docs { words, count, _taken: Some(taken) });
        for map in [&mut self.young, &mut self.old] {
            map.retain(|_, entry| entry.owner.strong_count() > 0);
        }
        self.young_bytes = self.young.values().map(|it| bytes_of(&it.docs)).sum();
        self.insert(key, Entry { owner: Arc::downgrade(segment.file()), docs });
    }

    /// Goes through what takes documents out without scoring them.
    fn visit(&mut self, node: &mut Node, view: &View, rule: bool, wanted: &mut Vec<Making>) {
        match node {
            Node::Bool { must, filter, should, must_not, .. } => {
                for node in must.iter_mut().chain(should) {
                    self.visit(node, view, rule, wanted);
                }
                for node in filter.iter_mut().chain(must_not) {
                    self.visit(node, view, true, wanted);
                }
            }
            Node::Constant { filter, .. } => self.visit(filter, view, true, wanted),
            Node::Function { query, .. } => self.visit(query, view, rule, wanted),
            Node::Numbers { .. } | Node::Box { .. } if rule => self.place(node, view, wanted),
            _ => {}
        }
    }

    /// Looks for the documents of a rule.
    fn place(&mut self, node: &mut Node, view: &View, wanted: &mut Vec<Making>) {
        let Some(rule) = Rule::of(node) else { return };
        let mut found = Vec::new();
        for (number, at) in view.segments.iter().enumerate() {
            let segment = &at.segment;
            if segment.doc_count() < DOCS_MIN {
                continue;
            }
            let key = (Arc::as_ptr(segment.file()).addr(), rule.clone());
            if let Some(docs) = self.known(&key) {
                found.resize(view.segments.len(), None);
                found[number] = Some(docs);
            } else if self.was_asked(&key) && wanted.len() < MAKING_MAX {
                wanted.extend(self.begin(key, node, Context { segment, number }));
            }
        }
        if !found.is_empty() {
            let inner = Box::new(std::mem::replace(node, Node::None));
            *node = Node::Kept { inner, docs: found };
        }
    }

    /// What is kept of a rule.
    fn known(&mut self, key: &Key) -> Option<Arc<Docs>> {
        if let Some(entry) = self.young.get(key) {
            return Some(Arc::clone(&entry.docs));
        }
        let entry = self.old.remove(key)?;
        let docs = Arc::clone(&entry.docs);
        self.insert(key.clone(), entry);
        Some(docs)
    }

    fn insert(&mut self, key: Key, entry: Entry) {
        let bytes = bytes_of(&entry.docs);
        if self.young_bytes + bytes > self.limit_bytes / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        if let Some(before) = self.young.insert(key, entry) {
            self.young_bytes -= bytes_of(&before.docs);
        }
    }

    /// Was the rule asked before? From now on it was.
    fn was_asked(&mut self, key: &Key) -> bool {
        if self.asked.contains_key(key) {
            return true;
        }
        if self.asked.len() >= RECENT {
            self.asked_before = std::mem::take(&mut self.asked);
        }
        self.asked.insert(key.clone(), ());
        self.asked_before.contains_key(key)
    }

    /// Begins to gather a rule's documents, where it is worth it and there is room.
    fn begin(&mut self, key: Key, node: &Node, context: Context<'_>) -> Option<Making> {
        let doc_count = context.segment.doc_count();
        let len = words_for(doc_count);
        let is_few = build::cost(node, context) < u64::from(doc_count) / DENSE_FROM;
        if is_few || len * 8 > self.limit_bytes / MAKING_MAX {
            return None;
        }
        let taken = self.lease.take(len * 8)?;
        let segment = context.segment.clone();
        let filter = build::any_filter(node, context);
        Some(Making { key, segment, filter, words: Vec::with_capacity(len), window: 0, taken })
    }
}

impl Making {
    /// Goes on for about `work` documents; true when all are gathered. With blocks missing it waits.
    pub fn step(&mut self, work: u32, missing: &mut Missing) -> bool {
        let mut turn = Turn::new(missing, work, self.segment.file().is_resident());
        while self.window * WINDOW < self.segment.doc_count() {
            if turn.is_over() || !self.filter.prepare(self.window, &mut turn) {
                return false;
            }
            let mut found: Bits = bits::NONE;
            self.filter.fill(self.window, &mut found);
            self.words.extend_from_slice(&found);
            turn.spend(64);
            self.window += 1;
        }
        true
    }
}

/// Does a rule that may be kept stand in the node? `rule`: it only takes documents out.
fn has_rule(node: &Node, rule: bool) -> bool {
    let any = |nodes: &[Node], rule| nodes.iter().any(|node| has_rule(node, rule));
    match node {
        Node::Bool { must, filter, should, must_not, .. } => {
            any(filter, true) || any(must_not, true) || any(must, rule) || any(should, rule)
        }
        Node::Constant { filter, .. } => has_rule(filter, true),
        Node::Function { query, .. } => has_rule(query, rule),
        Node::Numbers { .. } | Node::Box { .. } => rule,
        _ => false,
    }
}

fn bytes_of(docs: &Docs) -> usize {
    docs.words.len() * 8
}
