//! One key of one document, as a number that compares: out of a column, from the place, from the score.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use base::{DocId, FieldNo};
use script::{Fault, Heap, Value};
use segment::Segment;
use segment::columns::{self, DictionaryReader};

use crate::aggs::read::ranks_from;
use crate::error::Error;
use crate::iter::build;
use crate::iter::function::Trouble;
use crate::iter::{AnyFilter, Bits, Turn, WINDOW, bits, window_of};
use crate::plan::distance::Distance;
use crate::plan::inside::Inside;
use crate::plan::order::{
    Key, MissingTerm, NANOS_MS_MAX, NumberForm, Numeric, Ordinals, Scripted, Source, beyond_nanos,
};
use crate::plan::weigh::Plan;
use crate::request::{Mode, ScriptKind};
use crate::scripted::{Runner, Take};

/// Reads one key in one segment.
pub(super) enum Reader {
    Score,
    Doc {
        base: i64,
    },
    Numeric {
        column: Option<columns::Numeric>,
        key: Numeric,
        trouble: Trouble,
    },
    Ordinals {
        column: Option<Box<(columns::Ordinals, DictionaryReader)>>,
        /// The ranks that count, where not all do.
        within: Option<Range<u32>>,
        key: Ordinals,
    },
    Distance {
        column: Option<columns::Numeric>,
        key: Arc<Distance>,
    },
    Script {
        runner: Box<Runner<Made>>,
        key: Scripted,
        trouble: Trouble,
        docs: Vec<u32>,
    },
}

/// What a script made of a document.
pub(super) enum Made {
    Number(f64),
    Text(Arc<[u8]>),
}

impl Made {
    /// What its text takes.
    fn text_bytes(&self) -> usize {
        match self {
            Self::Number(_) => 0,
            Self::Text(text) => text.len(),
        }
    }
}

/// Takes a number.
fn take_number(_: &mut Heap, value: Value) -> Result<Made, Fault> {
    Ok(Made::Number(script::arith::double(value)))
}

/// Takes a string.
fn take_text(heap: &mut Heap, value: Value) -> Result<Made, Fault> {
    script::show::text(heap, value).map(|text| Made::Text(text.into_bytes().into()))
}

/// Takes a version.
fn take_version(heap: &mut Heap, value: Value) -> Result<Made, Fault> {
    let text = script::show::text(heap, value)?;
    Ok(Made::Text(mapping::types::version::encode(&text).into()))
}

/// Reused room.
pub(super) struct Scratch {
    pub(super) values: Box<[i64; WINDOW as usize]>,
    pub(super) present: Bits,
    pub(super) firsts: Vec<i64>,
    pub(super) keys: Vec<i64>,
    pub(super) several: Vec<i64>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            values: Box::new([0; WINDOW as usize]),
            present: bits::NONE,
            firsts: Vec::new(),
            keys: Vec::new(),
            several: Vec::new(),
        }
    }
}

/// Which documents inside of another count for a key.
pub(super) struct Children {
    pub(super) parents: Option<segment::Parents>,
    /// A bit for each document.
    allowed: Vec<u64>,
    count_max: usize,
    /// Where it is told that there may be none.
    refuses: Option<Trouble>,
}

impl Children {
    /// What `value` makes of those of a document, the first that have a value: one without does
    /// not use up how many count (`MultiValueMode`).
    pub(super) fn of<T>(
        &self,
        doc: u32,
        value: impl FnMut(DocId) -> Option<T>,
    ) -> impl Iterator<Item = T> {
        let range = self.parents.as_ref().map_or(0..0, |parents| parents.nested(DocId(doc)));
        let allowed = |doc: &u32| self.allowed[*doc as usize / 64] >> (doc % 64) & 1 == 1;
        range.filter(allowed).map(DocId).filter_map(value).take(self.count_max)
    }

    /// Says that there may be none, where a segment that is read has some.
    fn refuse(&self) {
        if let Some(trouble) = &self.refuses
            && self.allowed.iter().any(|word| *word != 0)
        {
            let _ = trouble.set(Error::illegal("Unsupported sort mode: MEDIAN"));
        }
    }
}

pub(super) fn reader(key: &Key, plan: &Plan, number: u32, target: u32) -> Reader {
    let at = &plan.view.segments[number as usize];
    let (segment, base) = (&at.segment, i64::from(at.base));
    match &key.source {
        Source::Score => Reader::Score,
        Source::Doc => Reader::Doc { base },
        Source::ShardDoc => Reader::Doc { base: i64::from(target) << 32 | base },
        Source::Numeric(key) => {
            let column = key.field.and_then(|field| segment.numeric(field)).cloned();
            Reader::Numeric { column, key: key.clone(), trouble: Arc::clone(&plan.trouble) }
        }
        Source::Distance(key) => {
            let column = key.field.and_then(|field| segment.numeric(field)).cloned();
            Reader::Distance { column, key: Arc::clone(key) }
        }
        Source::Script(key) => {
            let take: Take<Made> = match key.kind {
                ScriptKind::Number => take_number,
                ScriptKind::Text => take_text,
                ScriptKind::Version => take_version,
            };
            // Hits were found: they may be seen, and live.
            let runner = Runner::new(Arc::clone(&key.script), segment, None, None, take);
            let runner = runner.weighed_by(Made::text_bytes);
            let trouble = Arc::clone(&plan.trouble);
            Reader::Script { runner: Box::new(runner), key: key.clone(), trouble, docs: Vec::new() }
        }
        Source::Ordinals(key) => {
            let column = key.field.and_then(|field: FieldNo| segment.ordinals(field));
            let within = column.zip(key.prefix.as_ref());
            let within = within.map(|(column, prefix)| ranks_from(column, prefix));
            let column = column.map(|column| Box::new((column.clone(), column.terms())));
            Reader::Ordinals { column, within, key: key.clone() }
        }
    }
}

/// Finds the documents inside that count, from turn to turn: a filter may take many.
pub(super) struct Looking {
    filter: AnyFilter,
    segment: Segment,
    words: Vec<u64>,
    pos: u32,
    count_max: usize,
    refuses: Option<Trouble>,
}

impl Looking {
    pub(super) fn new(inside: &Inside, plan: &Plan, number: u32) -> Self {
        let segment = plan.view.segments[number as usize].segment.clone();
        let node = inside.node(plan);
        let context = build::Context { segment: &segment, number: number as usize };
        let filter = build::any_filter(node, context);
        let words = vec![0u64; segment.doc_count().div_ceil(64) as usize];
        let refuses = inside.is_median.then(|| Arc::clone(&plan.trouble));
        let count_max = inside.count_max as usize;
        Self { filter, segment, words, pos: 0, count_max, refuses }
    }

    /// Goes on; true once all are found.
    pub(super) fn step(&mut self, turn: &mut Turn<'_>) -> bool {
        let filter = &mut self.filter;
        loop {
            let next = filter.next(self.pos);
            if next >= self.segment.doc_count() {
                return true;
            }
            let window = window_of(next);
            if !filter.prepare(window, turn) {
                return false;
            }
            let mut found = bits::NONE;
            filter.fill(window, &mut found);
            let start = (window * WINDOW / 64) as usize;
            for (word, found) in self.words[start..].iter_mut().zip(found.iter()) {
                *word |= found;
            }
            turn.spend(64);
            self.pos = (window + 1).saturating_mul(WINDOW);
            // One window at least, however little is left of the turn.
            if turn.is_over() {
                return false;
            }
        }
    }

    /// What was found.
    pub(super) fn found(self) -> Children {
        Children {
            parents: self.segment.parents().cloned(),
            allowed: self.words,
            count_max: self.count_max,
            refuses: self.refuses,
        }
    }
}

/// Values of the documents inside.
pub(super) fn inside(
    column: &columns::Numeric,
    children: &Children,
    doc: u32,
    values: &mut Vec<i64>,
) {
    let add = |child| {
        let count = values.len();
        column.values(child, values);
        (values.len() > count).then_some(())
    };
    children.of(doc, add).for_each(drop);
}

/// The term that counts of a document, or of those inside.
pub(super) fn rank(
    ranks: &columns::Ordinals,
    (key, within): (&Ordinals, Option<&Range<u32>>),
    children: Option<&Children>,
    doc: u32,
) -> Option<base::Ord> {
    let of = |doc| match (within, key.greatest) {
        (None, true) => ranks.last(doc),
        (None, false) => ranks.first(doc),
        (Some(within), is_greatest) => {
            // They rise.
            let all = ranks.cursor().values(doc).filter_map(|rank| u32::try_from(rank).ok());
            let mut counts = all.filter(|rank| within.contains(rank)).map(base::Ord);
            if is_greatest { counts.last() } else { counts.next() }
        }
    };
    match children {
        None => of(DocId(doc)),
        Some(children) if key.greatest => children.of(doc, of).max(),
        Some(children) => children.of(doc, of).min(),
    }
}

/// The number of a term of a segment among all terms.
pub(super) fn known_number(rank: base::Ord) -> i64 {
    i64::from(rank.get()) * 4 + 3
}

/// The number of a term that a segment lacks, where `rank` of its terms are smaller: apart from the
/// term that stands for none, which documents of the segment may have.
pub(super) fn unknown_number(rank: base::Ord, term: &[u8], missing: &MissingTerm) -> i64 {
    let side = match missing {
        MissingTerm::Term(missing) => match term.cmp(missing) {
            Ordering::Less => 0,
            Ordering::Equal => 1,
            Ordering::Greater => 2,
        },
        MissingTerm::First | MissingTerm::Last => 0,
    };
    i64::from(rank.get()) * 4 + side
}

/// The term that documents without one show.
pub(super) fn missing_value(missing: &MissingTerm) -> Option<Arc<[u8]>> {
    match missing {
        MissingTerm::Term(term) => Some(Arc::clone(term)),
        MissingTerm::First | MissingTerm::Last => None,
    }
}

/// Greatest first is smallest first of the complement.
#[inline]
pub(super) fn directed(value: i64, descending: bool) -> i64 {
    if descending { !value } else { value }
}

/// Between which two keys the documents of a window lie; `None` where nothing is known.
pub(super) fn first_bounds(
    reader: &Reader,
    descending: bool,
    window: u32,
    doc_count: u32,
) -> Option<(i64, i64)> {
    let docs = doc_count.saturating_sub(window * WINDOW).min(WINDOW);
    let bounds = |low: i64, high: i64| {
        let (a, b) = (directed(low, descending), directed(high, descending));
        (a.min(b), a.max(b))
    };
    let widen = |(low, high): (i64, i64), missing: i64| (low.min(missing), high.max(missing));
    match reader {
        Reader::Numeric { column, key, .. } => {
            let missing = directed(key.missing, descending);
            let Some(column) = column else { return Some((missing, missing)) };
            if !matches!(key.mode, Mode::Min | Mode::Max) && !column.is_single() {
                return None;
            }
            let zone = column.zone(window);
            if zone.is_empty() {
                return Some((missing, missing));
            }
            // Dates that nanoseconds do not tell are an error, and so must be read.
            if key.stored == NumberForm::Millis && (zone.min < 0 || zone.max > NANOS_MS_MAX) {
                return None;
            }
            let found = bounds(key.cast(zone.min), key.cast(zone.max));
            Some(if zone.doc_count < docs { widen(found, missing) } else { found })
        }
        Reader::Ordinals { column: Some(column), within, key } => {
            let zone = column.0.zone(window);
            let missing = match key.missing {
                MissingTerm::First => i64::MIN,
                MissingTerm::Last => i64::MAX,
                MissingTerm::Term(_) => return None,
            };
            if zone.is_empty() {
                return Some((missing, missing));
            }
            let found = bounds(zone.min * 4 + 3, zone.max * 4 + 3);
            // Not each that has a term has one that counts.
            let lacks = within.is_some() || zone.doc_count < docs;
            Some(if lacks { widen(found, missing) } else { found })
        }
        Reader::Doc { base } => {
            let first = base + i64::from(window * WINDOW);
            Some(bounds(first, first + i64::from(docs.max(1)) - 1))
        }
        Reader::Ordinals { .. }
        | Reader::Distance { .. }
        | Reader::Script { .. }
        | Reader::Score => None,
    }
}

/// Tells what a key cannot be read of: the middle of the values of documents inside, and the first
/// date of documents, or of those inside of them, that nanoseconds do not tell, where the key's
/// milliseconds are compared as nanoseconds.
pub(super) fn check(reader: &Reader, children: Option<&Children>, docs: &[u32]) {
    if let Some(children) = children {
        children.refuse();
    }
    let Reader::Numeric { column: Some(column), key, trouble } = reader else { return };
    if key.stored != NumberForm::Millis || trouble.get().is_some() {
        return;
    }
    let mut values = Vec::new();
    for doc in docs {
        match children {
            None => column.values(DocId(*doc), &mut values),
            Some(children) => inside(column, children, *doc, &mut values),
        }
        if let Some(error) = values.drain(..).find_map(beyond_nanos) {
            let _ = trouble.set(error);
            return;
        }
    }
}

/// The number that a document is ordered by.
pub(super) fn number(
    column: &columns::Numeric,
    key: &Numeric,
    doc: u32,
    several: &mut Vec<i64>,
) -> Option<i64> {
    let doc = DocId(doc);
    if matches!(key.mode, Mode::Min) || column.is_single() {
        return column.first(doc).map(|value| key.cast(value));
    }
    if matches!(key.mode, Mode::Max) {
        return column.last(doc).map(|value| key.cast(value));
    }
    several.clear();
    column.values(doc, several);
    if several.is_empty() {
        return None;
    }
    Some(key.combine(several))
}
