//! Documents gathered before they are filtered by: points of ranges, documents of many terms, ids.
//!
//! Gathering goes in steps of bounded work and names its blocks first, inside of `prepare`; then
//! the set is a bit for each document of the segment, or a short list ([`Gathered`]).

use std::sync::Arc;

use mapping::types::version;
use segment::bkd::{self, Bkd, Bounds, Region};
use segment::postings::Scratch;
use segment::{Need, Postings, Segment, TermCursor, Terms};

use super::area::Area;
use super::gathered::Gathered;
use super::term::window_range;
use super::{Bits, END, Filter, Turn};
use crate::plan::bound::Pattern;
use automaton::Next;

/// Leaves of a tree of points that a step reads: about 512 documents each.
const LEAVES_A_STEP: usize = 32;

/// Leaves that are read in one go to count points: a quarter of a millisecond.
const LEAVES_TO_COUNT: usize = 256;

/// Terms that a step walks through.
const TERMS_A_STEP: usize = 64;

/// Where the documents of a set come from.
#[expect(clippy::large_enum_variant, reason = "one a clause and segment, never in a list")]
pub enum Source {
    /// Points inside bounds, one walk after the other.
    Points(Vec<bkd::Walk>),
    /// Points inside an area.
    Area(bkd::Walk<Area>),
    /// Documents of those of a sorted list of terms that are there.
    Lookup(Lookup),
    /// Documents of the terms of a pattern.
    Pattern(Box<Walker>),
}

/// Points that can be counted, most of them without being read.
enum Counted {
    Boxes(Box<[Bounds]>),
    Area(Area),
}

/// A bit for each document of a segment, gathered when first asked.
pub struct Set {
    source: Source,
    docs: Gathered,
    segment: Segment,
    doc_count: u32,
    cost: u64,
    /// Points that can be counted without being read.
    counted: Option<(Bkd, Counted)>,
    done: bool,
}

impl Set {
    /// What `source` gives of a segment's documents, about `cost` of them.
    pub fn new(source: Source, segment: &Segment, cost: u64) -> Self {
        let (segment, doc_count) = (segment.clone(), segment.doc_count());
        let docs = Gathered::new(doc_count);
        Self { source, docs, segment, doc_count, cost, counted: None, done: false }
    }

    /// Documents with a point in one of `bounds`.
    pub fn points(tree: &Bkd, bounds: &[Bounds], segment: &Segment, cost: u64) -> Self {
        let walks = bounds.iter().map(|bounds| tree.walk(*bounds)).collect();
        let mut set = Self::new(Source::Points(walks), segment, cost);
        set.counted = Some((tree.clone(), Counted::Boxes(bounds.into())));
        set
    }

    /// Documents with a place in an area.
    pub fn area(tree: &Bkd, area: Area, segment: &Segment) -> Self {
        let cost = tree.walk_region(&area).estimate();
        let walk = tree.walk_region(area.clone());
        let mut set = Self::new(Source::Area(walk), segment, cost);
        set.counted = Some((tree.clone(), Counted::Area(area)));
        set
    }

    /// Gathers until all is there or the turn is over.
    fn gather(&mut self, turn: &mut Turn<'_>) -> bool {
        if self.done {
            return true;
        }
        let (docs, segment) = (&mut self.docs, &self.segment);
        loop {
            let more = match &mut self.source {
                Source::Points(walks) => match walks.last_mut() {
                    None => Step::Done,
                    Some(walk) => match walk_points(walk, docs, segment, turn) {
                        Step::Done => {
                            walks.pop();
                            Step::More
                        }
                        step => step,
                    },
                },
                Source::Area(walk) => walk_points(walk, docs, segment, turn),
                Source::Lookup(lookup) => lookup.step(docs.words(), segment, turn),
                Source::Pattern(walker) => walker.step(docs.words(), segment, turn),
            };
            match more {
                // One step at least, however little is left of the turn.
                Step::More if turn.is_over() => return false,
                Step::More => {}
                Step::Wait => return false,
                Step::Done => {
                    docs.finish();
                    self.done = true;
                    // A query has thousands of these, and a reader of terms holds tens of kilobytes.
                    self.source = Source::Points(Vec::new());
                    return true;
                }
            }
        }
    }
}

/// What a step of gathering left to do.
enum Step {
    More,
    Wait,
    Done,
}

fn walk_points<R: Region>(
    walk: &mut bkd::Walk<R>,
    docs: &mut Gathered,
    segment: &Segment,
    turn: &mut Turn<'_>,
) -> Step {
    if !turn.resident {
        // What cannot be named is damaged; the step finds and records it.
        let _ = walk.prepare(LEAVES_A_STEP, turn.missing);
        if !turn.is_ready() {
            return Step::Wait;
        }
    }
    turn.spend(LEAVES_A_STEP * 256);
    match walk.step(LEAVES_A_STEP, docs) {
        Ok(bkd::Progress::More) => Step::More,
        Ok(bkd::Progress::Done) => Step::Done,
        Err(error) => {
            segment.file().fail(error);
            Step::Done
        }
    }
}

/// Sets the bits of a term's documents; false where blocks are not there.
fn add_postings(
    postings: &mut Postings,
    words: &mut [u64],
    doc_count: u32,
    turn: &mut Turn<'_>,
) -> bool {
    if !turn.resident {
        let _ = postings.need_blocks(0..postings.block_count(), turn.missing);
        if !turn.is_ready() {
            return false;
        }
    }
    turn.spend(postings.doc_freq() as usize + 32);
    postings.fill_bits(0..doc_count, words);
    true
}

impl Filter for Set {
    fn cost(&self) -> u64 {
        self.cost
    }

    fn next(&mut self, from: u32) -> u32 {
        if from >= self.doc_count {
            return END;
        }
        if !self.done {
            return from;
        }
        self.docs.next(from)
    }

    fn prepare(&mut self, _window: u32, turn: &mut Turn<'_>) -> bool {
        self.gather(turn)
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        self.docs.fill(window, bits);
    }

    fn prepare_probe(&mut self, _docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.gather(turn)
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        self.docs.probe(docs, matches);
    }

    fn count(&mut self) -> Option<u64> {
        let (tree, counted) = self.counted.as_ref()?;
        let single = tree.point_count() == u64::from(tree.doc_count());
        if !single || !self.segment.file().is_resident() {
            return None;
        }
        let count = match counted {
            Counted::Area(area) => tree.walk_region(area).count(LEAVES_TO_COUNT),
            // Each range reads its two edges.
            Counted::Boxes(bounds) if bounds.len() > 16 => return None,
            Counted::Boxes(bounds) => count_boxes(tree, bounds),
        };
        count.unwrap_or_else(|error| {
            self.segment.file().fail(error);
            Some(0)
        })
    }
}

/// Points of several boxes; `None` where too many leaves would have to be read at once.
fn count_boxes(tree: &Bkd, boxes: &[Bounds]) -> segment::Result<Option<u64>> {
    let mut count = 0;
    for bounds in boxes {
        match tree.walk(*bounds).count(LEAVES_TO_COUNT)? {
            Some(more) => count += more,
            None => return Ok(None),
        }
    }
    Ok(Some(count))
}

/// Looks up a sorted list of terms and sets the bits of their documents.
pub struct Lookup {
    terms: Terms,
    cursor: TermCursor,
    list: Arc<[Box<[u8]>]>,
    at: usize,
    /// The postings of the term at hand, which may have to wait for blocks.
    waiting: Option<Postings>,
    scratch: Scratch,
}

impl Lookup {
    /// Those of `list` that are among `terms`.
    pub fn new(terms: &Terms, list: &Arc<[Box<[u8]>]>) -> Self {
        let (cursor, list) = (terms.cursor(), Arc::clone(list));
        Self {
            terms: terms.clone(),
            cursor,
            list,
            at: 0,
            waiting: None,
            scratch: Scratch::default(),
        }
    }

    fn step(&mut self, words: &mut [u64], segment: &Segment, turn: &mut Turn<'_>) -> Step {
        for _ in 0..TERMS_A_STEP {
            if let Some(postings) = &mut self.waiting {
                if !add_postings(postings, words, segment.doc_count(), turn) {
                    return Step::Wait;
                }
                self.waiting = None;
            }
            let Some(term) = self.list.get(self.at) else { return Step::Done };
            if !turn.resident {
                let _ = self.cursor.need(term, turn.missing);
                if !turn.is_ready() {
                    return Step::Wait;
                }
            }
            match self.cursor.seek_ceil(term) {
                Ok(true) => {}
                Ok(false) => return Step::Done,
                Err(error) => {
                    segment.file().fail(error);
                    return Step::Done;
                }
            }
            turn.spend(64);
            self.at += 1;
            if self.cursor.term() == &**term {
                match self.cursor.info() {
                    Ok(info) if turn.resident => {
                        turn.spend(info.doc_freq as usize);
                        self.terms.fill_all(&info, words, &mut self.scratch);
                    }
                    Ok(info) => self.waiting = Some(self.terms.postings(&info, Need::Docs)),
                    Err(error) => {
                        segment.file().fail(error);
                        return Step::Done;
                    }
                }
            }
        }
        Step::More
    }
}

/// Walks through the terms of a pattern and sets the bits of their documents.
pub struct Walker {
    terms: Terms,
    cursor: TermCursor,
    pattern: Arc<Pattern>,
    /// Where the next term that may match begins; gone once the cursor stands there.
    start: Option<Vec<u8>>,
    /// The postings of the term at hand, which may have to wait for blocks.
    waiting: Option<Postings>,
    scratch: Scratch,
}

impl Walker {
    /// The terms of `pattern` among `terms`.
    pub fn new(terms: &Terms, pattern: Arc<Pattern>) -> Self {
        let start = pattern.start().to_vec();
        Self {
            terms: terms.clone(),
            cursor: terms.cursor(),
            pattern,
            start: Some(start),
            waiting: None,
            scratch: Scratch::default(),
        }
    }

    fn step(&mut self, words: &mut [u64], segment: &Segment, turn: &mut Turn<'_>) -> Step {
        for _ in 0..TERMS_A_STEP {
            if let Some(postings) = &mut self.waiting {
                if !add_postings(postings, words, segment.doc_count(), turn) {
                    return Step::Wait;
                }
                self.waiting = None;
            }
            if !turn.resident {
                let _ = match &self.start {
                    Some(start) => self.cursor.need(start, turn.missing),
                    None => self.cursor.need_next(turn.missing),
                };
                if !turn.is_ready() {
                    return Step::Wait;
                }
            }
            let moved_by_one = self.start.is_none();
            let moved = match self.start.take() {
                Some(start) => self.cursor.seek_ceil(&start),
                None => self.cursor.next(),
            };
            match moved {
                Ok(true) => {}
                Ok(false) => return Step::Done,
                Err(error) => {
                    segment.file().fail(error);
                    return Step::Done;
                }
            }
            turn.spend(8);
            // A term that shares the prefix with the one before need not be told so again.
            let is_inside = moved_by_one && self.cursor.shared() >= self.pattern.start().len();
            let look = match &*self.pattern {
                Pattern::Prefix { case_insensitive: false, .. } if is_inside => Next::Match,
                Pattern::Wildcard(shape) if is_inside => match shape.ends(self.cursor.term()) {
                    true => self.pattern.look(self.cursor.term()),
                    false => Next::Step,
                },
                pattern => pattern.look(self.cursor.term()),
            };
            match look {
                Next::Match => match self.cursor.info() {
                    Ok(info) if turn.resident => {
                        turn.spend(info.doc_freq as usize + 32);
                        self.terms.fill_all(&info, words, &mut self.scratch);
                    }
                    Ok(info) => self.waiting = Some(self.terms.postings(&info, Need::Docs)),
                    Err(error) => {
                        segment.file().fail(error);
                        return Step::Done;
                    }
                },
                Next::Step => {}
                Next::Seek(target) => self.start = Some(target),
                Next::End => return Step::Done,
            }
        }
        Step::More
    }
}

impl Pattern {
    /// No term below this one matches.
    pub fn start(&self) -> &[u8] {
        match self {
            Self::Prefix { case_insensitive: true, .. } => b"",
            Self::Prefix { prefix, .. } => prefix,
            Self::Wildcard(shape) => shape.prefix().as_bytes(),
            Self::Automaton { prefix, .. } => prefix.as_bytes(),
            Self::Range { lower: Some((lower, _)), .. } => lower,
            Self::Range { lower: None, .. } | Self::Version(_) => b"",
        }
    }

    /// Neither this term nor any above it matches.
    pub fn is_past(&self, term: &[u8]) -> bool {
        match self {
            Self::Prefix { case_insensitive: true, .. } => false,
            Self::Prefix { prefix, .. } => !term.starts_with(prefix) && term > &**prefix,
            Self::Wildcard(shape) => {
                let prefix = shape.prefix().as_bytes();
                !term.starts_with(prefix) && term > prefix
            }
            Self::Automaton { dfa, prefix } => {
                let prefix = prefix.as_bytes();
                dfa.is_empty() || !term.starts_with(prefix) && term > prefix
            }
            Self::Range { upper: Some((upper, _)), .. } => term > &**upper,
            Self::Range { upper: None, .. } | Self::Version(_) => false,
        }
    }

    /// Does this term match?
    pub fn matches(&self, term: &[u8]) -> bool {
        match self {
            Self::Version(texts) => texts.matches(version::decode(term).as_bytes()),
            Self::Prefix { prefix, case_insensitive: false } => term.starts_with(prefix),
            Self::Prefix { prefix, case_insensitive: true } => {
                term.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            }
            Self::Wildcard(shape) => shape.matches_bytes(term),
            Self::Automaton { dfa, .. } => {
                std::str::from_utf8(term).is_ok_and(|term| dfa.matches(term))
            }
            Self::Range { lower, upper } => {
                let above = lower.as_ref().is_none_or(|(lower, inclusive)| {
                    if *inclusive { term >= &**lower } else { term > &**lower }
                });
                above
                    && upper.as_ref().is_none_or(|(upper, inclusive)| {
                        if *inclusive { term <= &**upper } else { term < &**upper }
                    })
            }
        }
    }
}

/// A short, sorted list of documents: those of some ids.
pub struct Ids {
    segment: Segment,
    ids: Arc<[Box<[u8]>]>,
    /// Ids looked up.
    looked: usize,
    docs: Vec<u32>,
    sorted: bool,
}

impl Ids {
    /// The documents of `ids` in a segment.
    pub fn new(segment: Segment, ids: Arc<[Box<[u8]>]>) -> Self {
        Self { segment, ids, looked: 0, docs: Vec::new(), sorted: false }
    }

    fn gather(&mut self, turn: &mut Turn<'_>) -> bool {
        while let Some(id) = self.ids.get(self.looked) {
            if !turn.resident {
                let _ = self.segment.ids().need(id, turn.missing);
                if !turn.is_ready() {
                    return false;
                }
            }
            match self.segment.ids().find(id) {
                Ok(Some(doc)) => self.docs.push(doc.get()),
                Ok(None) => {}
                Err(error) => self.segment.file().fail(error),
            }
            turn.spend(64);
            self.looked += 1;
            if turn.is_over() && self.looked < self.ids.len() {
                return false;
            }
        }
        if !self.sorted {
            self.docs.sort_unstable();
            self.docs.dedup();
            self.sorted = true;
        }
        true
    }
}

impl Filter for Ids {
    fn cost(&self) -> u64 {
        self.ids.len() as u64
    }

    fn next(&mut self, from: u32) -> u32 {
        if !self.sorted {
            return if from < self.segment.doc_count() { from } else { END };
        }
        let at = self.docs.partition_point(|doc| *doc < from);
        self.docs.get(at).copied().unwrap_or(END)
    }

    fn prepare(&mut self, _window: u32, turn: &mut Turn<'_>) -> bool {
        self.gather(turn)
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        let range = window_range(window, self.segment.doc_count());
        let from = self.docs.partition_point(|doc| *doc < range.start);
        for doc in self.docs[from..].iter().take_while(|doc| **doc < range.end) {
            super::bits::set(bits, doc - range.start);
        }
    }

    fn prepare_probe(&mut self, _docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.gather(turn)
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        for (matches, doc) in matches.iter_mut().zip(docs) {
            *matches = self.docs.binary_search(doc).is_ok();
        }
    }
}
