//! A chain: char filters, one tokenizer, then token filters.
//!
//! Chains of plain parts (no char filters; a tokenizer that cuts slices; filters that look at one token
//! at a time) run without a copy of their tokens: where such a chain lowercases, the ASCII of a text is
//! lowercased whole before it is cut: letters of either case are of one class to each such tokenizer, so the
//! cuts are the same, and tokens of ASCII are then slices. All other chains run as stages ([`super::stage`]).

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use env::budget::Lease;

use super::char_filter::{CharFilter, Offsets};
use super::effort::{self, Cost, TOKEN};
use super::filter::{Filter, Term, ngram_expansion};
use super::regex;
use super::room::{Flow, ON, ROOM_BYTES, Room};
use super::stage::{CHANGE_BYTES, End, Line, Shingles};
use super::token::{Tok, Token, TokenKind};
use super::tokenizer::{self, Cut, Piece};
use crate::types::TERM_BYTES_MAX;

/// How a text is cut.
#[derive(Clone, Debug)]
pub enum Tokenizer {
    /// Word boundaries of UAX #29; longest token in UTF-16 units.
    Standard(u32),
    /// Runs of letters.
    Letter(u32),
    /// Runs of anything but blanks.
    Whitespace(u32),
    /// The whole text.
    Keyword,
    /// Any of the others.
    Cut(Cut),
}

impl Tokenizer {
    #[inline]
    fn pieces(&self, text: &str, mut sink: impl FnMut(Piece) -> Flow) -> Flow {
        match self {
            Self::Standard(max) => tokenizer::standard(text, *max, sink),
            Self::Letter(max) => tokenizer::letters(text, *max, sink),
            Self::Whitespace(max) => tokenizer::whitespace(text, *max, sink),
            Self::Keyword => tokenizer::whole(text, sink),
            Self::Cut(_) => tokenizer::whole(text, &mut sink),
        }
    }

    /// What it costs to look through a text; each token counts where it goes.
    fn cost(&self) -> Cost {
        match self {
            Self::Cut(Cut::Pattern(..)) => regex::PATTERN,
            // Each byte is looked at as part of an address, and of others, and of words.
            Self::Cut(Cut::UrlEmail(_) | Cut::Classic(_)) => Cost { text: TOKEN, byte: 8 },
            _ => Cost { text: TOKEN, byte: 1 },
        }
    }

    fn tokens(&self, text: &str, room: &Room, sink: &mut dyn FnMut(&mut Tok) -> Flow) -> Flow {
        match self {
            Self::Cut(cut) => cut.tokens(text, room, sink),
            plain => plain.pieces(text, |piece| {
                let Piece { start, end, from, to, kind } = piece;
                sink(&mut Tok::new(&text[start..end], from, to, kind))
            }),
        }
    }
}

/// Bytes of a text of which the work is counted together.
const COUNTED_BYTES: usize = 4 << 10;

/// What a whole text gave beside its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Analyzed {
    /// Tokens given.
    pub count: u32,
    /// Position after the end: one past the last token, dropped words at the end counted.
    pub position_end: u32,
    /// Length of the text in UTF-16 units.
    pub offset_end: u32,
    /// The text is not analysed to its end, for that took more than the room there was; what it gave is not all,
    /// and should be refused.
    pub lacks_room: bool,
}

/// Memory of an analysis, used again for the next one.
#[derive(Debug)]
pub struct Scratch {
    lowered: String,
    term: String,
    room_bytes: usize,
    /// Where is paid for what an analysis holds.
    lease: Option<Lease>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self::within(ROOM_BYTES)
    }
}

impl Scratch {
    /// An analysis may hold so many bytes beside its text.
    pub const fn within(room_bytes: usize) -> Self {
        Self { lowered: String::new(), term: String::new(), room_bytes, lease: None }
    }

    /// From now on is paid for what analyses hold, or no more.
    pub fn set_lease(&mut self, lease: Option<Lease>) {
        self.lease = lease;
    }

    /// Gives other room to the analyses that come.
    pub fn set_room_bytes(&mut self, room_bytes: usize) {
        self.room_bytes = room_bytes;
    }
}

/// The parts of a chain by name, as people put it together.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// The char filters, in order.
    pub char_filters: Vec<String>,
    /// The tokenizer, and how many filters come with it.
    pub tokenizer: (String, usize),
    /// The token filters, in order, and how many filters each is made of.
    pub filters: Vec<(String, usize)>,
}

/// A tokenizer and what comes before and after it, by name.
#[derive(Clone, Debug)]
pub struct Analyzer {
    name: String,
    char_filters: Vec<CharFilter>,
    tokenizer: Tokenizer,
    filters: Vec<Filter>,
    /// Positions between two values of one document.
    gap: u32,
    /// Which filter lowercases, where nothing before it minds.
    lowercases_at: Option<usize>,
    /// All parts are plain.
    plain: bool,
    /// What the tokenizer and all filters cost, where they look at each token once.
    cost: Cost,
    /// What it was put together from; built-in analyzers have no parts to show.
    named: Option<Arc<Named>>,
}

impl Analyzer {
    /// Positions between the values of one field, where nothing says otherwise.
    pub const GAP: u32 = 100;

    /// Bytes of words that it makes of one byte of text, about: 1, but where it cuts into pieces, or puts more in
    /// place of words or beside them.
    pub fn expansion(&self) -> u32 {
        let cut = match &self.tokenizer {
            Tokenizer::Cut(Cut::Ngram(cut)) => {
                let [min, max] =
                    [cut.min, cut.max].map(|len| u32::try_from(len).unwrap_or(u32::MAX));
                ngram_expansion(min, max, cut.edge)
            }
            _ => 1,
        };
        let before = self.char_filters.iter().map(CharFilter::expansion);
        let cut = before.fold(cut.max(1), u32::saturating_mul);
        cut.saturating_mul(Filter::expansion_of(&self.filters))
    }

    /// A chain without char filters.
    pub fn new(name: impl Into<String>, tokenizer: Tokenizer, filters: Vec<Filter>) -> Self {
        Self::whole(name, Vec::new(), tokenizer, filters)
    }

    /// A chain.
    pub fn whole(
        name: impl Into<String>,
        char_filters: Vec<CharFilter>,
        tokenizer: Tokenizer,
        filters: Vec<Filter>,
    ) -> Self {
        let lowercases_at = filters
            .iter()
            .position(|filter| matches!(filter, Filter::Lowercase))
            .filter(|at| filters[..*at].iter().all(Filter::ignores_case));
        let plain = char_filters.is_empty()
            && !matches!(tokenizer, Tokenizer::Cut(_))
            && !filters.iter().any(Filter::is_fold);
        let cost = Cost { text: 0, byte: 1 }.and(Filter::cost_of(&filters));
        Self {
            name: name.into(),
            char_filters,
            tokenizer,
            filters,
            gap: Self::GAP,
            lowercases_at,
            plain,
            cost,
            named: None,
        }
    }

    /// The same chain with another gap between values.
    #[must_use]
    pub fn with_gap(mut self, gap: u32) -> Self {
        self.gap = gap;
        self
    }

    /// The same chain, with the names of its parts.
    #[must_use]
    pub fn with_names(mut self, named: Named) -> Self {
        self.named = Some(Arc::new(named));
        self
    }

    /// The name it is known by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its parts, where it was put together from parts.
    pub fn named(&self) -> Option<&Named> {
        self.named.as_deref()
    }

    /// Positions between two values of one document.
    pub const fn gap(&self) -> u32 {
        self.gap
    }

    /// The chain up to its first `filters` filters.
    #[must_use]
    pub fn up_to(&self, filters: usize) -> Self {
        let filters = self.filters[..filters.min(self.filters.len())].to_vec();
        Self::whole(self.name.clone(), self.char_filters.clone(), self.tokenizer.clone(), filters)
            .with_gap(self.gap)
    }

    /// The text after each of the char filters; stops where there is no room for one.
    pub fn filtered(&self, text: &str, room: &Room) -> ControlFlow<(), Vec<String>> {
        let mut texts: Vec<String> = Vec::new();
        for filter in &self.char_filters {
            let before = texts.last().map_or(text, String::as_str);
            let after = filter.apply(before, room)?.text;
            texts.push(after);
        }
        ControlFlow::Continue(texts)
    }

    /// Does the chain say of its tokens whether stemmers may touch them, up to its first `filters`?
    pub fn knows_keywords(&self, filters: usize) -> bool {
        self.filters.iter().take(filters).any(Filter::knows_keywords)
    }

    /// How it joins neighbouring words, if it does.
    pub fn shingles(&self) -> Option<Shingles> {
        self.filters.iter().find_map(|filter| match filter {
            Filter::Fold(fold) => fold.shingles(),
            _ => None,
        })
    }

    /// Are its tokens looked for by their positions alone, though some span several? So where neighbouring words
    /// are joined to runs of several lengths, at some place of the chain.
    pub fn is_flat(&self) -> bool {
        Filter::is_flat(&self.filters)
    }

    /// Gives every token of `text`, in order, to `sink`, within [`ROOM_BYTES`].
    pub fn tokens(&self, text: &str, sink: &mut dyn FnMut(Token<'_>)) -> Analyzed {
        self.tokens_with(text, &mut Scratch::default(), |token| {
            sink(token);
            ON
        })
    }

    /// As [`Self::tokens`], for many texts in a row, and until `sink` says that it wants no more.
    #[inline]
    pub fn tokens_with(
        &self,
        text: &str,
        scratch: &mut Scratch,
        mut sink: impl FnMut(Token<'_>) -> Flow,
    ) -> Analyzed {
        let room = Room::of(scratch.room_bytes);
        if !self.plain {
            let room = room.paid_by(scratch.lease.clone());
            return self.run_staged(text, &room, &mut sink);
        }
        let Scratch { lowered, term, .. } = scratch;
        let Some(skip) = self.lowercases_at else {
            return self.run(text, usize::MAX, term, &room, sink);
        };
        lowered.clear();
        lowered.push_str(text);
        lowered.make_ascii_lowercase();
        self.run(lowered, skip, term, &room, sink)
    }

    /// Runs a plain chain; tokens of ASCII need not go through the filter at `skip`.
    #[inline]
    fn run(
        &self,
        text: &str,
        skip: usize,
        buffer: &mut String,
        room: &Room,
        mut sink: impl FnMut(Token<'_>) -> Flow,
    ) -> Analyzed {
        let mut done = Analyzed::default();
        let filters = self.filters.as_slice();
        let mut last = (0, 0);
        // Work is counted for many tokens at once.
        let mut counted = (0, 0);
        let cost = |done: u32, to: usize, counted: &mut (u32, usize)| {
            let (tokens, bytes) = (u64::from(done - counted.0), (to - counted.1) as u64);
            *counted = (done, to);
            let each = self.cost.text.saturating_mul(tokens);
            room.spend(each.saturating_add(self.cost.byte.saturating_mul(bytes)))
        };
        let _flow = self.tokenizer.pieces(text, |piece| {
            let position = done.position_end;
            done.position_end += 1;
            last = (piece.end, piece.to);
            if piece.end - counted.1 >= COUNTED_BYTES {
                cost(done.position_end, piece.end, &mut counted)?;
            }
            let Piece { from, to, kind, .. } = piece;
            let mut give = |term: &str, kind: TokenKind, keyword: bool| {
                done.count += 1;
                sink(Token { term, position, length: 1, start: from, end: to, kind, keyword })
            };
            let term = &text[piece.start..piece.end];
            let skip = if term.is_ascii() { skip } else { usize::MAX };
            if filters.len() == usize::from(skip != usize::MAX) {
                return give(term, kind, false);
            }
            let _held = room.hold_for(term.len(), CHANGE_BYTES)?;
            let most = room.word_bytes(term.len());
            let mut term = Term::of(term, kind, false, buffer).within(most);
            for (at, filter) in filters.iter().enumerate() {
                if at != skip && !filter.apply(&mut term) {
                    return ON;
                }
            }
            if term.lacks_room {
                return room.refuse();
            }
            give(term.as_str(), term.kind, term.keyword)
        });
        let _flow = cost(done.position_end, last.0, &mut counted);
        done.lacks_room = room.is_full();
        let (bytes, units) = last;
        done.offset_end = units + text[bytes..].chars().map(char::len_utf16).sum::<usize>() as u32;
        done
    }

    /// Runs any chain.
    fn run_staged(
        &self,
        text: &str,
        room: &Room,
        sink: &mut dyn FnMut(Token<'_>) -> Flow,
    ) -> Analyzed {
        let mut done = Analyzed::default();
        let _flow = self.stages(text, room, &mut done, sink);
        done.lacks_room = room.is_full();
        done
    }

    fn stages(
        &self,
        text: &str,
        room: &Room,
        done: &mut Analyzed,
        sink: &mut dyn FnMut(Token<'_>) -> Flow,
    ) -> Flow {
        let mut owned: Option<String> = None;
        let mut ways: Vec<Offsets> = Vec::new();
        for filter in &self.char_filters {
            let after = filter.apply(owned.as_deref().unwrap_or(text), room)?;
            ways.push(after.offsets);
            if let Some(before) = owned.replace(after.text) {
                room.give_back(before.len());
            }
        }
        let filtered = owned.as_deref().unwrap_or(text);
        let correct = |at: u32| ways.iter().rev().fold(at, |at, way| way.correct(at));
        // One less than the position of the token given last, plus one: where nothing was given, 0.
        let mut position: Option<u32> = None;
        let mut give = |token: &mut Tok| {
            let at = match position {
                None => token.inc.saturating_sub(1),
                Some(last) => last.saturating_add(token.inc),
            };
            position = Some(at);
            done.count += 1;
            sink(Token {
                term: &token.term,
                position: at,
                length: token.length.max(1),
                start: token.start,
                end: token.end,
                kind: token.kind,
                keyword: token.keyword,
            })
        };
        room.spend(self.tokenizer.cost().of(filtered.len()))?;
        let mut line = Line::new(&self.filters, room);
        let offset = correct(filtered.encode_utf16().count() as u32);
        self.tokenizer.tokens(filtered, room, &mut |token| {
            if !ways.is_empty() {
                token.start = correct(token.start);
                token.end = correct(token.end);
            }
            line.token(token, &mut give)
        })?;
        let mut end = End { trailing: 0, offset };
        line.end(&mut end, &mut give)?;
        done.position_end = position.map_or(0, |last| last.saturating_add(1)) + end.trailing;
        done.offset_end = end.offset;
        ON
    }

    /// The one token that a normalizer makes of a text: filters of single characters, without cutting.
    /// `None` where it takes more than `room`, or too much work.
    pub fn normalize<'a>(
        &self,
        text: &'a str,
        buffer: &'a mut String,
        room: &Room,
    ) -> Option<&'a str> {
        if self.char_filters.is_empty() {
            return self.change(text, buffer, room).continue_value();
        }
        let mut filtered = text.to_owned();
        for filter in &self.char_filters {
            filtered = filter.apply(&filtered, room).continue_value()?.text;
        }
        let mut own = String::new();
        let term = self.change(&filtered, &mut own, room).continue_value()?;
        buffer.clear();
        buffer.push_str(term);
        Some(buffer)
    }

    /// As [`Self::normalize`], for what is looked for in an index: where [`ROOM_BYTES`] do not suffice, a text
    /// that is longer than any term, so that no document has it. Where it would be too much work an empty one, as
    /// nobody will look for it: sixty-five thousand of the long ones were gigabytes.
    pub fn normal_term<'a>(&self, text: &'a str, buffer: &'a mut String) -> &'a str {
        static BEYOND: LazyLock<String> = LazyLock::new(|| {
            let last = char::MAX;
            std::iter::repeat_n(last, TERM_BYTES_MAX / last.len_utf8() + 1).collect()
        });
        if effort::is_exhausted() {
            return "";
        }
        let beyond = || if effort::is_exhausted() { "" } else { BEYOND.as_str() };
        self.normalize(text, buffer, &Room::default()).unwrap_or_else(beyond)
    }

    /// What the filters of single characters make of a text.
    fn change<'a>(
        &self,
        text: &'a str,
        buffer: &'a mut String,
        room: &Room,
    ) -> ControlFlow<(), &'a str> {
        room.spend(self.cost.of(text.len()))?;
        let _held = room.hold_for(text.len(), CHANGE_BYTES)?;
        let mut term = Term::new(text, buffer).within(room.word_bytes(text.len()));
        for filter in self.filters.iter().filter(|filter| filter.normalizes()) {
            filter.apply(&mut term);
        }
        match term.lacks_room {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(term.into_str()),
        }
    }
}

/// One token that owns its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedToken {
    /// Its text.
    pub term: String,
    /// Its position.
    pub position: u32,
    /// How many positions it spans.
    pub length: u32,
    /// First UTF-16 unit.
    pub start: u32,
    /// One past the last unit.
    pub end: u32,
    /// What the tokenizer says it is.
    pub kind: TokenKind,
    /// Stemmers leave it alone.
    pub keyword: bool,
}
