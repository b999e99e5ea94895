//! Filters that look into columns, window by window: ranges of values, presence.
//!
//! A window whose zone decides is not read. Zones also tell the next window that may match.

use std::ops::RangeInclusive;
use std::sync::Arc;

use base::{DocId, FieldNo, Ord};
use segment::bkd::{Bkd, Bounds};
use segment::columns::{DictionaryReader, Numeric, Ordinals};
use segment::{Norms, Segment};

use super::{Bits, END, Filter, Turn, WINDOW, bits, term::window_range, window_of};
use crate::plan::bound::Pattern;

/// From so many probes in one window on, the window is filled instead.
const PROBES_TO_FILL: usize = 64;

/// Up to so many ranges are counted by their edges among the points.
const RANGES_TO_COUNT: usize = 16;

/// Up to so many ranges a window is compared with each.
const RANGES_BY_WINDOW: usize = 4;

/// A column that is compared with ranges of numbers.
enum Column {
    Numbers(Numeric),
    Ranks(Ordinals),
}

impl Column {
    fn touches(&self, window: u32, range: &RangeInclusive<i64>) -> bool {
        match self {
            Self::Numbers(column) => column.zone(window).touches(range),
            Self::Ranks(column) => column.zone(window).touches(range),
        }
    }

    fn need(&self, window: u32, turn: &mut Turn<'_>) {
        // What cannot be named is damaged; reading finds and records it.
        let _ = match self {
            Self::Numbers(column) => column.need(window, turn.missing),
            Self::Ranks(column) => column.need(window, turn.missing),
        };
    }

    fn matching(&self, window: u32, range: &RangeInclusive<i64>, bits: &mut Bits) {
        match self {
            Self::Numbers(column) => column.matching(window, range, bits),
            Self::Ranks(column) => {
                // Ranges of ranks are made of ranks: they fit.
                let range = Ord(*range.start() as u32)..=Ord(*range.end() as u32);
                column.matching(window, range, bits);
            }
        }
    }

    fn presence(&self, window: u32, bits: &mut Bits) {
        match self {
            Self::Numbers(column) => column.presence(window, bits),
            Self::Ranks(column) => column.presence(window, bits),
        }
    }

    fn cursor(&self) -> segment::columns::Cursor<'_> {
        match self {
            Self::Numbers(column) => column.cursor(),
            Self::Ranks(column) => column.cursor(),
        }
    }

    fn is_single(&self) -> bool {
        match self {
            Self::Numbers(column) => column.is_single(),
            Self::Ranks(column) => column.is_single(),
        }
    }
}

/// Documents one of whose values lies in one of some ranges.
pub struct InRanges {
    column: Column,
    /// Sorted, apart from each other.
    ranges: Vec<RangeInclusive<i64>>,
    doc_count: u32,
    cost: u64,
    /// The same values as points, which count faster.
    points: Option<Bkd>,
    /// The window whose bits were made for probes.
    made: u32,
    bits: Bits,
}

impl InRanges {
    /// Numbers of `column` in `ranges`, in a segment of `doc_count` documents; the same numbers are
    /// in `points`, where there are any.
    pub fn numbers(
        column: Numeric,
        points: Option<Bkd>,
        ranges: &[(i64, i64)],
        doc_count: u32,
        cost: u64,
    ) -> Self {
        Self { points, ..Self::new(Column::Numbers(column), ranges, doc_count, cost) }
    }

    /// Ranks of `column` in `ranges`.
    pub fn ranks(column: Ordinals, ranges: &[(i64, i64)], doc_count: u32, cost: u64) -> Self {
        Self::new(Column::Ranks(column), ranges, doc_count, cost)
    }

    fn new(column: Column, ranges: &[(i64, i64)], doc_count: u32, cost: u64) -> Self {
        let ranges = ranges.iter().map(|(from, to)| *from..=*to).collect();
        Self { column, ranges, doc_count, cost, points: None, made: END, bits: bits::NONE }
    }

    fn touches(&self, window: u32) -> bool {
        self.ranges.iter().any(|range| self.column.touches(window, range))
    }

    fn make(&self, window: u32, bits: &mut Bits) {
        if self.ranges.len() <= RANGES_BY_WINDOW {
            for range in &self.ranges {
                self.column.matching(window, range, bits);
            }
            return;
        }
        // Many values: better find each document's among them.
        let mut present = bits::NONE;
        self.column.presence(window, &mut present);
        let mut cursor = self.column.cursor();
        bits::for_each(&present, |place| {
            if cursor.values(DocId(window * WINDOW + place)).any(|value| self.has(value)) {
                bits::set(bits, place);
            }
        });
    }

    /// Is a value in one of the ranges?
    #[inline]
    fn has(&self, value: i64) -> bool {
        let at = self.ranges.partition_point(|range| *range.end() < value);
        self.ranges.get(at).is_some_and(|range| *range.start() <= value)
    }

    /// Probes documents of one window.
    fn probe_window(&mut self, window: u32, docs: &[u32], matches: &mut [bool]) {
        if docs.len() >= PROBES_TO_FILL || self.made == window {
            if self.made != window {
                let mut made = bits::NONE;
                self.make(window, &mut made);
                self.bits = made;
                self.made = window;
            }
            for (matches, doc) in matches.iter_mut().zip(docs) {
                *matches = bits::has(&self.bits, doc % WINDOW);
            }
            return;
        }
        let mut cursor = self.column.cursor();
        let single = self.column.is_single();
        for (matches, doc) in matches.iter_mut().zip(docs) {
            *matches = if single {
                cursor.first(DocId(*doc)).is_some_and(|value| self.has(value))
            } else {
                cursor.values(DocId(*doc)).any(|value| self.has(value))
            };
        }
    }
}

impl Filter for InRanges {
    fn cost(&self) -> u64 {
        self.cost
    }

    fn next(&mut self, from: u32) -> u32 {
        let mut window = window_of(from);
        while window * WINDOW < self.doc_count {
            if self.touches(window) {
                let start = from.max(window * WINDOW);
                return if start < self.doc_count { start } else { END };
            }
            window += 1;
        }
        END
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        if !turn.resident && self.touches(window) {
            self.column.need(window, turn);
        }
        turn.spend(1024);
        turn.is_ready()
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        self.make(window, bits);
    }

    fn looks_up(&self, candidates: usize, _doc_count: u32) -> bool {
        // From there on a probe reads the whole window itself.
        candidates < PROBES_TO_FILL
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        if turn.resident {
            return true;
        }
        for docs in docs.chunk_by(|a, b| window_of(*a) == window_of(*b)) {
            let window = window_of(docs[0]);
            if self.touches(window) {
                self.column.need(window, turn);
            }
        }
        turn.is_ready()
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        let mut start = 0;
        for docs in docs.chunk_by(|a, b| window_of(*a) == window_of(*b)) {
            let window = window_of(docs[0]);
            let matches = &mut matches[start..start + docs.len()];
            start += docs.len();
            if self.touches(window) {
                self.probe_window(window, docs, matches);
            } else {
                matches.fill(false);
            }
        }
    }

    fn count(&mut self) -> Option<u64> {
        let points = self.points.as_ref()?;
        let single = points.point_count() == u64::from(points.doc_count());
        if !single || self.ranges.len() > RANGES_TO_COUNT {
            return None;
        }
        // Damage is met again where documents are read.
        let counts = self.ranges.iter().map(|range| points.count(&Bounds::longs(range.clone())));
        counts.sum::<segment::Result<u64>>().ok()
    }
}

/// Terms of a column, whose ranks are looked up before they are compared.
pub struct Ranked {
    column: Ordinals,
    reader: DictionaryReader,
    wanted: Wanted,
    segment: Segment,
    ranges: Vec<(i64, i64)>,
    /// Present once all ranks are known.
    filter: Option<InRanges>,
}

/// Which terms.
enum Wanted {
    /// A sorted list; this many were looked up.
    Terms(Arc<[Box<[u8]>]>, usize),
    /// A pattern; the next rank to look at, once it is known.
    Pattern(Arc<Pattern>, Option<u32>),
}

impl Ranked {
    /// Documents that have one of `terms`, which are sorted; `None` where no document has a term.
    pub fn terms(segment: &Segment, field: FieldNo, terms: &Arc<[Box<[u8]>]>) -> Option<Self> {
        Self::new(segment, field, Wanted::Terms(Arc::clone(terms), 0))
    }

    /// Documents that have a term of `pattern`.
    pub fn pattern(segment: &Segment, field: FieldNo, pattern: &Arc<Pattern>) -> Option<Self> {
        Self::new(segment, field, Wanted::Pattern(Arc::clone(pattern), None))
    }

    fn new(segment: &Segment, field: FieldNo, wanted: Wanted) -> Option<Self> {
        let column = segment.ordinals(field)?.clone();
        let (reader, segment) = (column.terms(), segment.clone());
        Some(Self { column, reader, wanted, segment, ranges: Vec::new(), filter: None })
    }

    /// Takes one more rank, which is above those taken before.
    fn push(&mut self, rank: u32) {
        let rank = i64::from(rank);
        match self.ranges.last_mut() {
            Some((_, end)) if *end + 1 == rank => *end = rank,
            _ => self.ranges.push((rank, rank)),
        }
    }

    /// Looks ranks up until all are known or the turn is over.
    fn resolve(&mut self, turn: &mut Turn<'_>) -> bool {
        while self.filter.is_none() {
            turn.spend(16);
            match self.step(turn) {
                // One step at least, however little is left of the turn.
                Ok(Some(true)) if turn.is_over() => return false,
                Ok(Some(true)) => {}
                Ok(Some(false)) => return false,
                Ok(None) => self.finish(),
                Err(error) => {
                    self.segment.file().fail(error);
                    self.finish();
                }
            }
        }
        true
    }

    fn finish(&mut self) {
        let doc_count = self.segment.doc_count();
        let ranks: i64 = self.ranges.iter().map(|(from, to)| to - from + 1).sum();
        let each = self.column.value_count() / u64::from(self.column.term_count().max(1));
        let cost = (ranks as u64).saturating_mul(each.max(1)).min(u64::from(doc_count));
        let column = self.column.clone();
        self.filter = Some(InRanges::ranks(column, &self.ranges, doc_count, cost));
    }

    /// Looks up one more: `Some(false)` where it must wait, `None` when all are known.
    fn step(&mut self, turn: &mut Turn<'_>) -> segment::Result<Option<bool>> {
        match &mut self.wanted {
            Wanted::Terms(terms, at) => {
                let Some(term) = terms.get(*at) else { return Ok(None) };
                if !turn.resident {
                    self.reader.need_lookup(term, turn.missing)?;
                    if !turn.is_ready() {
                        return Ok(Some(false));
                    }
                }
                *at += 1;
                if let Ok(rank) = self.reader.lookup(term)? {
                    self.push(rank.get());
                }
            }
            Wanted::Pattern(pattern, at) => {
                let Some(rank) = *at else {
                    if !turn.resident {
                        self.reader.need_lookup(pattern.start(), turn.missing)?;
                        if !turn.is_ready() {
                            return Ok(Some(false));
                        }
                    }
                    let (Ok(rank) | Err(rank)) = self.reader.lookup(pattern.start())?;
                    *at = Some(rank.get());
                    return Ok(Some(true));
                };
                if rank >= self.column.term_count() {
                    return Ok(None);
                }
                if !turn.resident {
                    self.reader.need(Ord(rank), turn.missing)?;
                    if !turn.is_ready() {
                        return Ok(Some(false));
                    }
                }
                let term = self.reader.term(Ord(rank))?;
                if pattern.is_past(term) {
                    return Ok(None);
                }
                let matches = pattern.matches(term);
                *at = Some(rank + 1);
                if matches {
                    self.push(rank);
                }
            }
        }
        Ok(Some(true))
    }
}

impl Filter for Ranked {
    fn cost(&self) -> u64 {
        match &self.filter {
            Some(filter) => filter.cost(),
            None => u64::from(self.column.doc_count()),
        }
    }

    fn next(&mut self, from: u32) -> u32 {
        match &mut self.filter {
            Some(filter) => filter.next(from),
            None if from < self.segment.doc_count() => from,
            None => END,
        }
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        self.resolve(turn) && self.filter.as_mut().is_none_or(|it| it.prepare(window, turn))
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        if let Some(filter) = &mut self.filter {
            filter.fill(window, bits);
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.resolve(turn) && self.filter.as_mut().is_none_or(|it| it.prepare_probe(docs, turn))
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        if let Some(filter) = &mut self.filter {
            filter.probe(docs, matches);
        }
    }
}

/// One way in which a field is there.
enum Way {
    Numeric(Numeric),
    Ordinals(Ordinals),
    Norms(Norms),
}

/// Documents that have a field, told by a column or by lengths.
pub struct Present {
    way: Way,
    doc_count: u32,
    made: u32,
    bits: Bits,
}

impl Present {
    /// By a column of numbers; `None` where no document has one.
    pub fn numeric(segment: &Segment, field: FieldNo) -> Option<Self> {
        Some(Self::new(Way::Numeric(segment.numeric(field)?.clone()), segment))
    }

    /// By a column of terms; `None` where no document has one.
    pub fn ordinals(segment: &Segment, field: FieldNo) -> Option<Self> {
        Some(Self::new(Way::Ordinals(segment.ordinals(field)?.clone()), segment))
    }

    /// By lengths; `None` where no document has one.
    pub fn norms(segment: &Segment, field: FieldNo) -> Option<Self> {
        Some(Self::new(Way::Norms(segment.norms(field)?), segment))
    }

    fn new(way: Way, segment: &Segment) -> Self {
        Self { way, doc_count: segment.doc_count(), made: END, bits: bits::NONE }
    }

    /// Number of documents that have the field.
    pub fn present_count(&self) -> u32 {
        match &self.way {
            Way::Numeric(column) => column.doc_count(),
            Way::Ordinals(column) => column.doc_count(),
            Way::Norms(norms) => norms.doc_count(),
        }
    }

    fn need(&self, window: u32, turn: &mut Turn<'_>) {
        if turn.resident {
            return;
        }
        let _ = match &self.way {
            Way::Numeric(column) => column.need(window, turn.missing),
            Way::Ordinals(column) => column.need(window, turn.missing),
            Way::Norms(_) => Ok(()),
        };
    }

    fn make(&self, window: u32, bits: &mut Bits) {
        match &self.way {
            Way::Numeric(column) => column.presence(window, bits),
            Way::Ordinals(column) => column.presence(window, bits),
            Way::Norms(norms) => norms.fill_bits(window_range(window, self.doc_count), bits),
        }
    }
}

impl Filter for Present {
    fn cost(&self) -> u64 {
        u64::from(self.present_count())
    }

    fn next(&mut self, from: u32) -> u32 {
        let zone = |window| match &self.way {
            Way::Numeric(column) => column.zone(window).is_empty(),
            Way::Ordinals(column) => column.zone(window).is_empty(),
            Way::Norms(_) => false,
        };
        let mut window = window_of(from);
        while window * WINDOW < self.doc_count && zone(window) {
            window += 1;
        }
        let start = from.max(window * WINDOW);
        if start < self.doc_count { start } else { END }
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        self.need(window, turn);
        turn.spend(256);
        turn.is_ready()
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        self.make(window, bits);
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        for docs in docs.chunk_by(|a, b| window_of(*a) == window_of(*b)) {
            self.need(window_of(docs[0]), turn);
        }
        turn.is_ready()
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        for (matches, doc) in matches.iter_mut().zip(docs) {
            let window = window_of(*doc);
            if self.made != window {
                let mut made = bits::NONE;
                self.make(window, &mut made);
                self.bits = made;
                self.made = window;
            }
            *matches = bits::has(&self.bits, doc % WINDOW);
        }
    }

    fn count(&mut self) -> Option<u64> {
        Some(u64::from(self.present_count()))
    }

    fn count_min(&self) -> u64 {
        u64::from(self.present_count())
    }
}
