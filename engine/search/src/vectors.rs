//! Term vectors: the terms of one document, where they stand, and how common they are in its shard.
//!
//! Nothing is stored for them: a document's text is analysed anew. What a mapping says to keep
//! (`term_vector`) decides which fields are shown unasked, and what of them. All of it is counted as it is
//! made: who finds no memory any more stops there.

use std::collections::BTreeMap;
use std::sync::Arc;

use env::budget::Taken;
use mapping::analysis::{Analyzer, ON, STOP, Scratch, Tokenizer, effort};
use mapping::{Field, Kind as Type, Mapping};
use segment::View;

use crate::error::{Error, Kind, Result};
use crate::fetch::{collect, sources};
use crate::suggest::dictionary::{Awaited, Dictionary};

/// Tokens of one document at most.
const TOKENS_MAX: usize = 1_000_000;

/// Bytes of memory that a byte of a text takes as a tree of values, and as values of fields.
const TREE_BYTES: usize = 6;

/// Memory that a term takes besides its name, and a place: each with about as much for the text that it becomes.
const TERM_BYTES: usize = 2 * (size_of::<Term>() + 64);
const PLACE_BYTES: usize = 2 * 64;

/// So much is taken at a time.
const STEP_BYTES: usize = 64 << 10;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Fields by name or pattern; absent: those with vectors in the mapping.
    pub fields: Option<Arc<[String]>>,
    /// Where terms stand in the text.
    pub offsets: bool,
    /// Where terms stand among others.
    pub positions: bool,
    /// How common each term is.
    pub term_statistics: bool,
    /// How large the fields are.
    pub field_statistics: bool,
    /// Analyzers to use instead of the mapping's.
    pub analyzers: Arc<BTreeMap<String, String>>,
    /// Only the most telling terms.
    pub filter: Option<Filter>,
    /// What the shard counts may be told, and judges terms. Where it may not, because it counts documents that
    /// the caller does not see, statistics are left out, bounds on them are passed over, and a term tells the
    /// more the oftener it stands in the document.
    pub counted: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            fields: None,
            offsets: true,
            positions: true,
            term_statistics: false,
            field_statistics: true,
            analyzers: Arc::default(),
            filter: None,
            counted: true,
        }
    }
}

/// Which terms tell the most.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Most terms of a field.
    pub max_num_terms: usize,
    /// Rarer ones in the document are left out.
    pub min_term_freq: u64,
    /// Commoner ones.
    pub max_term_freq: u64,
    /// Rarer ones in the shard.
    pub min_doc_freq: u64,
    /// Commoner ones.
    pub max_doc_freq: u64,
    /// Shorter ones, in characters.
    pub min_word_length: usize,
    /// Longer ones; 0 is no bound.
    pub max_word_length: usize,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            max_num_terms: 25,
            min_term_freq: 1,
            max_term_freq: u64::MAX,
            min_doc_freq: 1,
            max_doc_freq: u64::MAX,
            min_word_length: 0,
            max_word_length: 0,
        }
    }
}

/// The terms of one field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vector {
    /// Its name.
    pub field: String,
    /// Sum of the terms' document counts, documents, sum of occurrences.
    pub statistics: Option<[u64; 3]>,
    /// Its terms, sorted.
    pub terms: Vec<Term>,
}

/// One term.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Term {
    /// Its text.
    pub term: String,
    /// Documents with it, and how often it stands there.
    pub statistics: Option<(u64, u64)>,
    /// How often it stands in this document.
    pub freq: u64,
    /// Where; empty where nobody wants to know.
    pub tokens: Vec<Token>,
    /// How much it tells.
    pub score: Option<f32>,
}

/// One place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Token {
    /// Among the tokens.
    pub position: Option<u32>,
    /// In the text, in UTF-16 units.
    pub offsets: Option<(u32, u32)>,
}

impl Vector {
    /// Memory that it takes, about, with as much for the text that it becomes.
    fn needed_bytes(&self) -> usize {
        let each = |term: &Term| term_bytes(&term.term) + PLACE_BYTES * term.tokens.len();
        self.terms.iter().map(each).sum()
    }
}

fn term_bytes(name: &str) -> usize {
    TERM_BYTES + 2 * name.len()
}

/// Memory that is taken while places are found.
struct Room<'t> {
    taken: &'t mut Taken,
    /// Does somebody still wait for them?
    awaited: Awaited<'t>,
    /// One part in so many of what is paid is needed.
    part: usize,
    owed_bytes: usize,
    is_full: bool,
}

impl Room<'_> {
    /// Counts `bytes` more; false where there are none.
    fn pay(&mut self, bytes: usize) -> bool {
        self.owed_bytes += bytes / self.part;
        if self.owed_bytes >= STEP_BYTES && !self.is_full {
            self.is_full = !(self.awaited)() || !self.taken.grow(self.owed_bytes);
            self.owed_bytes = 0;
        }
        !self.is_full
    }
}

/// The vectors of a document's text. `memory` grows by what they take, and by as much for the text that they
/// become. This may take seconds: it is for a worker, and ends where it is `awaited` no longer, as where
/// there is no memory.
///
/// # Errors
/// An analyzer that is not there, a damaged segment, no memory.
pub fn vectors(
    source: &[u8],
    mapping: &Mapping,
    view: &View,
    request: &Request,
    memory: &mut Taken,
    awaited: Awaited<'_>,
) -> Result<Vec<Vector>> {
    let tree_bytes = TREE_BYTES * source.len();
    if !memory.grow(tree_bytes) {
        return Err(no_memory());
    }
    let Ok(document) = json::parse(source) else { return Ok(Vec::new()) };
    let mut wanted: BTreeMap<Arc<str>, Arc<Field>> = BTreeMap::new();
    match &request.fields {
        Some(names) => {
            for name in &**names {
                wanted.extend(mapping.expand_names(name));
            }
        }
        None => {
            let kept = mapping.fields().filter(|field| keeps(field).is_some());
            wanted.extend(kept.map(|field| (Arc::clone(&field.path), Arc::clone(field))));
        }
    }
    let mut found = Vec::new();
    for (name, field) in wanted {
        let Some((analyzer, gap)) = analyzer(&name, &field, mapping, request)? else { continue };
        let mut values = Vec::new();
        for path in sources(&field, mapping) {
            collect(&document, &path, 0, &mut values);
        }
        if values.is_empty() {
            continue;
        }
        let before = memory.bytes();
        let place_bytes = match request.positions || request.offsets {
            true => PLACE_BYTES,
            false => size_of::<(u32, u32, u32)>(),
        };
        // Where a filter chooses, hardly any become text.
        let part = if request.filter.is_some() { 2 } else { 1 };
        let mut room = Room { taken: memory, awaited, part, owed_bytes: 0, is_full: false };
        let places = places(&values, &analyzer, gap, &field, place_bytes, &mut room);
        if room.is_full || effort::is_exhausted() {
            return Err(no_memory());
        }
        let vector = vector(&name, &field, places, view, request, awaited)?;
        // What a filter left out is gone.
        memory.shrink_to(before.saturating_add(vector.needed_bytes()));
        found.push(vector);
    }
    memory.shrink_to(memory.bytes().saturating_sub(tree_bytes));
    Ok(found)
}

fn no_memory() -> Error {
    let reason =
        "[parent] Data too large, data for [<term_vectors>] would be larger than what is left";
    Error::new(Kind::CircuitBreaking, reason)
}

/// What the mapping says to keep of a field; `None`: nothing.
fn keeps(field: &Field) -> Option<&str> {
    match &field.kind {
        Type::Text(text) => text.term_vector.as_deref().filter(|kept| *kept != "no"),
        _ => None,
    }
}

fn analyzer(
    name: &str,
    field: &Field,
    mapping: &Mapping,
    request: &Request,
) -> Result<Option<(Arc<Analyzer>, u32)>> {
    let (own, gap) = match &field.kind {
        Type::Text(text) => (Arc::clone(&text.analyzer), text.position_increment_gap),
        Type::Keyword(keyword) => {
            let plain = || Arc::new(Analyzer::new("keyword", Tokenizer::Keyword, Vec::new()));
            (keyword.normalizer.clone().unwrap_or_else(plain), 0)
        }
        _ => return Ok(None),
    };
    let Some(other) = request.analyzers.get(name) else { return Ok(Some((own, gap))) };
    let registry = &mapping.settings().analysis;
    match registry.analyzer(other) {
        Some(analyzer) => Ok(Some((Arc::clone(analyzer), gap))),
        None => Err(Error::illegal(format!("No analyzer found for [{other}]"))),
    }
}

type Places = BTreeMap<String, Vec<(u32, u32, u32)>>;

/// The terms of the values with their places.
fn places(
    values: &[String],
    analyzer: &Analyzer,
    gap: u32,
    field: &Field,
    place_bytes: usize,
    room: &mut Room<'_>,
) -> Places {
    let mut places = Places::new();
    let mut scratch = Scratch::default();
    let (mut position, mut offset, mut count) = (0u32, 0u32, 0);
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            position = position.saturating_add(gap);
            offset = offset.saturating_add(1);
        }
        if matches!(field.kind, Type::Keyword(_)) {
            let mut buffer = String::new();
            let term = analyzer.normal_term(value, &mut buffer).to_owned();
            let end = offset + value.encode_utf16().count() as u32;
            if !room.pay(term_bytes(&term) + place_bytes) {
                return places;
            }
            places.entry(term).or_default().push((position, offset, end));
            position += 1;
            offset = end;
            continue;
        }
        let done = analyzer.tokens_with(value, &mut scratch, |token| {
            count += 1;
            if count > TOKENS_MAX || !room.pay(place_bytes) {
                return STOP;
            }
            let place = (
                position.saturating_add(token.position),
                offset.saturating_add(token.start),
                offset.saturating_add(token.end),
            );
            match places.get_mut(token.term) {
                Some(known) => known.push(place),
                None if room.pay(term_bytes(token.term)) => {
                    places.insert(token.term.to_owned(), vec![place]);
                }
                None => return STOP,
            }
            ON
        });
        room.is_full |= done.lacks_room;
        if room.is_full {
            return places;
        }
        position = position.saturating_add(done.position_end);
        offset = offset.saturating_add(value.encode_utf16().count() as u32);
    }
    places
}

fn vector(
    name: &str,
    field: &Field,
    places: Places,
    view: &View,
    request: &Request,
    awaited: Awaited<'_>,
) -> Result<Vector> {
    let stats = view.field_stats(field.no);
    let dictionary = Dictionary { view, field: field.no, awaited };
    // A vector that the mapping keeps holds no more than that says.
    let kept = keeps(field).unwrap_or("with_positions_offsets");
    let positions = request.positions && kept.contains("positions");
    let offsets = request.offsets && kept.contains("offsets");
    let counts = request.counted && (request.term_statistics || request.filter.is_some());
    let mut vector = Vector {
        field: name.to_owned(),
        statistics: (request.counted && request.field_statistics).then_some([
            stats.doc_freq_sum,
            stats.doc_count,
            stats.term_freq_sum,
        ]),
        terms: Vec::new(),
    };
    for (text, at) in places {
        let known = if counts { dictionary.stats(text.as_bytes())? } else { Default::default() };
        let mut term = Term { freq: at.len() as u64, term: text, ..Term::default() };
        if let Some(filter) = &request.filter {
            let len = term.term.chars().count();
            let fits = (filter.min_term_freq..=filter.max_term_freq).contains(&term.freq)
                && (!request.counted
                    || (filter.min_doc_freq..=filter.max_doc_freq).contains(&known.docs))
                && len >= filter.min_word_length
                && (filter.max_word_length == 0 || len <= filter.max_word_length);
            if !fits {
                continue;
            }
            let idf = match request.counted {
                true => ((stats.doc_count as f64 + 1.0) / (known.docs as f64 + 1.0)).ln() + 1.0,
                false => 1.0,
            };
            term.score = Some((term.freq as f64 * idf) as f32);
        }
        if request.term_statistics && known.docs > 0 {
            term.statistics = Some((known.docs, known.total));
        }
        if positions || offsets {
            let token = |(position, start, end)| Token {
                position: positions.then_some(position),
                offsets: offsets.then_some((start, end)),
            };
            term.tokens = at.into_iter().map(token).collect();
        }
        vector.terms.push(term);
    }
    if let Some(filter) = &request.filter
        && vector.terms.len() > filter.max_num_terms
    {
        let best = |term: &Term| term.score.unwrap_or_default();
        vector.terms.sort_by(|a, b| best(b).total_cmp(&best(a)).then_with(|| a.term.cmp(&b.term)));
        vector.terms.truncate(filter.max_num_terms);
        vector.terms.sort_by(|a, b| a.term.cmp(&b.term));
    }
    Ok(vector)
}
