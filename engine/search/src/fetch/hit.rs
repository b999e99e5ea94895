//! One winner becomes a hit.
//!
//! Everything is read from the view that the winner was found in, so a hit is as old as the search,
//! whatever was written since. Blocks are named first; the caller brings them and asks again.

use base::hash::Map;
use base::{DocId, FieldNo};
use json::fields::Fields as Visible;
use mapping::document::kept::{Kept, split};
use segment::{Missing, Segment};

use super::columns::Columns;
use crate::iter::build::{self, Context};
use crate::iter::{NO_MATCH, Turn, window_of};
use crate::plan::order::{Order, Source};
use crate::plan::weigh::Plan;
use crate::request::{ScriptKind, SearchRequest, Stored, Tiebreak};
use crate::result::{Hit, Key, Ranked};

/// A hit may hold its core so long; one that takes longer is for a worker.
const HERE_NS_MAX: u64 = 400_000;

/// To decompress so many bytes alone takes about as long.
const HERE_BYTES_MAX: u64 = 512 << 10;

/// More queries with names are asked about a hit on a worker: what reads each is made anew.
const NAMED_HERE_MAX: usize = 64;

/// Do so many queries have names that it takes long to tell which of them match a hit?
pub fn asks_much(plan: &Plan) -> bool {
    plan.named.len() > NAMED_HERE_MAX
}

/// What is fetched of each winner, made once for a request and an index.
pub struct Fetch<'a> {
    /// The request.
    pub request: &'a SearchRequest,
    /// Name of the index.
    pub index: &'a str,
    /// Columns to return.
    pub columns: &'a Columns,
    /// The order of the hits, where it is not the plan's (`top_hits`).
    pub order: Option<&'a Order>,
}

impl<'a> Fetch<'a> {
    /// What `request` wants of hits of `index`.
    pub fn new(request: &'a SearchRequest, index: &'a str, columns: &'a Columns) -> Self {
        Self { request, index, columns, order: None }
    }

    /// Whether making a hit of this winner takes so long that it is for a worker: by the length of its
    /// text, and by what is done with each byte of it.
    ///
    /// # Errors
    /// Where the segment is damaged.
    pub fn is_long(&self, plan: &Plan, ranked: &Ranked) -> segment::Result<bool> {
        let segment = &plan.view.segments[ranked.segment as usize].segment;
        let Some(stored) = segment.stored().filter(|_| self.columns.read_text()) else {
            return Ok(false);
        };
        let cost = self.columns.cost();
        let of_block = stored.reading_bytes(ranked.doc);
        if of_block > HERE_BYTES_MAX {
            return Ok(true);
        }
        if of_block.saturating_mul(cost) <= HERE_NS_MAX {
            return Ok(false);
        }
        // Others stand in the block, too.
        let is_here = segment.file().is_resident();
        Ok(!is_here || (stored.get(ranked.doc)?.len() as u64).saturating_mul(cost) > HERE_NS_MAX)
    }

    /// Bytes of memory that making a hit of this winner takes, about, beside the hit itself: its text, and
    /// what is made of that.
    pub fn needed_bytes(&self, plan: &Plan, ranked: &Ranked) -> usize {
        let segment = &plan.view.segments[ranked.segment as usize].segment;
        let text = segment.stored().map_or(0, |stored| stored.reading_bytes(ranked.doc));
        usize::try_from(text).unwrap_or(usize::MAX).saturating_mul(self.columns.bytes_a_byte())
    }
}

/// What is kept of a document, as the caller may see it.
pub(super) struct Text {
    /// `_source`.
    pub source: Vec<u8>,
    /// Where values of stored fields are found, if not there.
    stored: Option<Vec<u8>>,
}

impl Text {
    /// A text that a segment keeps.
    pub fn new(text: Vec<u8>, visible: Option<&Visible>) -> Self {
        let see = |part: &[u8]| match visible {
            Some(visible) if !part.is_empty() => visible.reduce_text(part),
            _ => part.to_vec(),
        };
        match split(&text) {
            Some((source, stored)) => {
                Self { source: see(&text[source]), stored: Some(see(&text[stored])) }
            }
            None if visible.is_some() => Self { source: see(&text), stored: None },
            None => Self { source: text, stored: None },
        }
    }

    /// Both readings.
    pub fn kept(&self) -> Kept<'_> {
        let stored = self.stored.as_deref().unwrap_or(&self.source);
        Kept { source: &self.source, stored }
    }
}

/// Makes a hit of a winner that `plan` found. `None`: blocks are missing; bring them and call again.
///
/// # Errors
/// Where the segment is damaged.
pub fn hit(
    fetch: &Fetch<'_>,
    plan: &Plan,
    ranked: &Ranked,
    missing: &mut Missing,
) -> segment::Result<Option<Hit>> {
    if let Some(error) = &fetch.columns.failed {
        return Ok(Some(Hit { failed: Some(error.clone()), ..Hit::default() }));
    }
    let at = &plan.view.segments[ranked.segment as usize];
    let (segment, doc) = (&at.segment, ranked.doc);
    if !segment.file().is_resident() && !prepare(fetch, segment, doc, missing)? {
        return Ok(None);
    }
    let request = fetch.request;
    let plain = request.stored != Stored::None;
    let mut hit = Hit { index: fetch.index.to_owned(), ..Hit::default() };
    if plain {
        hit.id = segment.ids().id_of(doc)?.map(|id| String::from_utf8_lossy(id).into_owned());
        hit.routing = texts(segment, FieldNo::ROUTING, doc)?.into_iter().next();
        hit.ignored = texts(segment, FieldNo::IGNORED, doc)?;
        if let Some(visible) = &fetch.columns.visible {
            let mapping = fetch.columns.mapping.as_ref();
            let is_known = |path: &str| mapping.is_some_and(|it| it.lookup(path).is_some());
            hit.ignored.retain(|path| visible.permits(path) && is_known(path));
        }
    }
    let number = |field| segment.numeric(field).and_then(|it| it.first(doc)).map(|it| it as u64);
    if request.version {
        hit.version = number(FieldNo::VERSION);
    }
    if request.seq_no_primary_term {
        hit.seq_no = number(FieldNo::SEQ_NO);
        hit.primary_term = number(FieldNo::PRIMARY_TERM);
    }
    let shown = &fetch.columns.shown;
    let marks = &fetch.columns.marks;
    if fetch.columns.read_text() {
        let text = match segment.stored() {
            Some(stored) => Some(stored.get(doc)?),
            None => None,
        };
        // From here on a hidden field is not there, whoever reads the text.
        if let Some(text) = text {
            let text = Text::new(text, fetch.columns.visible.as_deref());
            if !shown.is_empty() {
                (hit.fields, hit.ignored_values) = shown.values(text.kept());
            }
            if !marks.is_empty() {
                match marks.of(text.kept()) {
                    Ok(found) => hit.highlight = found,
                    Err(error) => hit.failed = Some(error),
                }
            }
            // An empty text is none: the mapping keeps no source.
            if fetch.columns.source.is_enabled() && !text.source.is_empty() {
                hit.source = Some(fetch.columns.source.of(text.source));
            }
        }
    }
    join(&mut hit.fields, fetch.columns.values(segment, doc)?);
    if let Some(collapse) = &fetch.order.unwrap_or(&plan.bound.order).collapse
        && let (Some(request), Some(value)) = (&request.collapse, ranked.keys.last())
    {
        let value = match value {
            Key::Long(number) => collapse.field.format_value(*number),
            Key::Term(term) => collapse.field.show_term(term),
            _ => json::Value::Null,
        };
        if !hit.fields.iter().any(|(name, _)| *name == request.field) {
            hit.fields.push((request.field.clone(), vec![json::to_string(&value)]));
        }
    }
    let Some(matched) = matched_queries(plan, ranked, missing) else { return Ok(None) };
    if request.named_scores {
        hit.matched_scores = matched.iter().map(|(_, score)| *score).collect();
    }
    hit.matched_queries = matched.into_iter().map(|(name, _)| name).collect();
    order(&mut hit, request, fetch.order.unwrap_or(&plan.bound.order), ranked);
    match segment.fault() {
        Some(fault) => Err(fault.clone()),
        None => Ok(Some(hit)),
    }
}

/// Names what the hit will read; false where something is not there.
fn prepare(
    fetch: &Fetch<'_>,
    segment: &Segment,
    doc: DocId,
    missing: &mut Missing,
) -> segment::Result<bool> {
    let window = window_of(doc.get());
    segment.ids().need_id_of(doc, missing)?;
    if fetch.columns.read_text()
        && let Some(stored) = segment.stored()
    {
        stored.need(doc, missing)?;
    }
    for field in [FieldNo::VERSION, FieldNo::SEQ_NO, FieldNo::PRIMARY_TERM] {
        if let Some(column) = segment.numeric(field) {
            column.need(window, missing)?;
        }
    }
    for field in [FieldNo::ROUTING, FieldNo::IGNORED] {
        need_texts(segment, field, doc, missing)?;
    }
    fetch.columns.need(segment, doc, missing)?;
    Ok(missing.is_empty())
}

/// Names what [`texts`] will read; two rounds.
pub fn need_texts(
    segment: &Segment,
    field: FieldNo,
    doc: DocId,
    missing: &mut Missing,
) -> segment::Result<()> {
    let Some(column) = segment.ordinals(field) else { return Ok(()) };
    let before = missing.len();
    column.need(window_of(doc.get()), missing)?;
    if missing.len() > before {
        return Ok(());
    }
    let mut ranks = Vec::new();
    column.values(doc, &mut ranks);
    let reader = column.terms();
    ranks.into_iter().try_for_each(|rank| reader.need(rank, missing))
}

/// The terms of a column of one document, rising.
pub fn each_term(
    segment: &Segment,
    field: FieldNo,
    doc: DocId,
    to: &mut dyn FnMut(&[u8]),
) -> segment::Result<()> {
    let Some(column) = segment.ordinals(field) else { return Ok(()) };
    let mut ranks = Vec::new();
    column.values(doc, &mut ranks);
    let mut reader = column.terms();
    ranks.into_iter().try_for_each(|rank| reader.term(rank).map(&mut *to))
}

/// The terms of a column of texts of one document, rising.
pub fn texts(segment: &Segment, field: FieldNo, doc: DocId) -> segment::Result<Vec<String>> {
    let mut texts = Vec::new();
    each_term(segment, field, doc, &mut |term| {
        texts.push(String::from_utf8_lossy(term).into_owned());
    })?;
    Ok(texts)
}

/// Adds values of columns, which take the place of those of the same name.
fn join(fields: &mut Vec<(String, Vec<String>)>, columns: Vec<(String, Vec<String>)>) {
    if fields.is_empty() {
        *fields = columns;
        return;
    }
    let names = fields.iter().enumerate();
    let known: Map<String, usize> = names.map(|(at, (name, _))| (name.clone(), at)).collect();
    for (name, values) in columns {
        match known.get(&name) {
            Some(at) => fields[*at].1 = values,
            None => fields.push((name, values)),
        }
    }
}

/// Names of the queries that match, sorted, with their scores; `None` where it must wait.
fn matched_queries(
    plan: &Plan,
    ranked: &Ranked,
    missing: &mut Missing,
) -> Option<Vec<(String, f32)>> {
    if plan.named.is_empty() {
        return Some(Vec::new());
    }
    let segment = &plan.view.segments[ranked.segment as usize].segment;
    let context = Context { segment, number: ranked.segment as usize };
    let docs = [ranked.doc.get()];
    let mut matched: Vec<(String, f32)> = Vec::new();
    for (name, node) in &plan.named {
        let Some(mut scorer) = build::scorer(node, context) else { continue };
        let mut turn = Turn::new(missing, u32::MAX, segment.file().is_resident());
        if !scorer.prepare_probe(&docs, &mut turn) {
            return None;
        }
        let mut scores = [NO_MATCH];
        scorer.probe(&docs, &mut scores);
        if scores[0] >= 0.0 {
            matched.push((name.clone(), scores[0]));
        }
    }
    matched.sort_by(|a, b| a.0.cmp(&b.0));
    matched.dedup_by(|a, b| a.0 == b.0);
    Some(matched)
}

/// Score and sort values.
pub fn order(hit: &mut Hit, request: &SearchRequest, order: &Order, ranked: &Ranked) {
    let keys = &order.keys;
    hit.score = Some(ranked.score).filter(|score| !score.is_nan());
    if keys.is_empty() {
        return;
    }
    if request.tiebreak != Tiebreak::Shown && request.ranks_by_score() {
        return;
    }
    let shown = keys.len() - usize::from(request.tiebreak == Tiebreak::Hidden);
    let by_score = keys.iter().any(|key| matches!(key.source, Source::Score));
    if !request.track_scores && !by_score {
        hit.score = None;
    }
    hit.sort = ranked
        .keys
        .iter()
        .zip(&keys[..shown])
        .map(|(value, key)| match (&key.source, value) {
            (Source::Numeric(numeric), value) => numeric.printed(value.clone()),
            (Source::Doc | Source::ShardDoc, Key::Long(place)) => {
                Key::Long(order.veil.map_or(*place, |veil| veil.hide(*place)))
            }
            (Source::Ordinals(ordinals), Key::Term(term)) => {
                let shown = ordinals.shown.as_ref().map(|field| field.show_term(term));
                let text = shown.as_ref().and_then(json::Value::as_str).map(str::to_owned);
                Key::Text(text.unwrap_or_else(|| String::from_utf8_lossy(term).into_owned()))
            }
            (Source::Script(script), Key::Term(term)) if script.kind == ScriptKind::Version => {
                Key::Text(mapping::types::version::decode(term).into_owned())
            }
            (_, Key::Term(term)) => Key::Text(String::from_utf8_lossy(term).into_owned()),
            (_, value) => value.clone(),
        })
        .collect();
}
