//! `word_delimiter` and `word_delimiter_graph`: words cut where the kind of their letters changes.
//!
//! Both walk a token's parts the same way ([`Parts`]). The plain filter gives parts and joined parts
//! at positions that overlap; the graph filter says how many positions each joined part spans.

use std::ops::ControlFlow;

use super::StopWords;
use crate::analysis::room::{Flow, Held, ON, Room};
use crate::analysis::stage::{Fold, Next, Stage};
use crate::analysis::token::Tok;

const LOWER: u8 = 1;
const UPPER: u8 = 2;
const ALPHA: u8 = 3;
const DIGIT: u8 = 4;
const ALPHANUM: u8 = 7;
const DELIMITER: u8 = 8;

/// What to cut at, and what to give.
#[derive(Clone, Debug)]
pub struct DelimiterOptions {
    /// Parts of letters are given.
    pub word_parts: bool,
    /// Parts of digits are given.
    pub number_parts: bool,
    /// Neighbouring parts of letters are joined.
    pub catenate_words: bool,
    /// Neighbouring parts of digits are joined.
    pub catenate_numbers: bool,
    /// All parts are joined.
    pub catenate_all: bool,
    /// A capital letter begins a part.
    pub split_on_case_change: bool,
    /// A digit begins and ends a part.
    pub split_on_numerics: bool,
    /// The token itself is given, too.
    pub preserve_original: bool,
    /// `'s` at the end of a part goes.
    pub stem_possessive: bool,
    /// Parts have offsets of their own.
    pub adjust_offsets: bool,
    /// Tokens that are protected from stemmers are left alone.
    pub ignore_keywords: bool,
    /// Tokens to leave alone.
    pub protected: StopWords,
    /// Characters that are of another kind than they seem.
    pub types: Vec<(char, u8)>,
}

/// Reads rules such as `- => ALPHANUM`; the first that is wrong is returned.
pub fn type_table(rules: &[String]) -> Result<Vec<(char, u8)>, String> {
    let mut table = Vec::new();
    for rule in rules {
        let wrong = || rule.clone();
        let (from, kind) = rule.rsplit_once("=>").ok_or_else(wrong)?;
        let from = unescape(from.trim());
        let mut chars = from.chars();
        let (Some(c), None) = (chars.next(), chars.next()) else { return Err(wrong()) };
        let kind = match kind.trim() {
            "LOWER" => LOWER,
            "UPPER" => UPPER,
            "ALPHA" => ALPHA,
            "DIGIT" => DIGIT,
            "ALPHANUM" => ALPHANUM,
            "SUBWORD_DELIM" => DELIMITER,
            _ => return Err(wrong()),
        };
        table.push((c, kind));
    }
    Ok(table)
}

/// `\t`, `\u0020`, `\=` and kin.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let code: String = chars.by_ref().take(4).collect();
                out.extend(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

impl DelimiterOptions {
    fn kind(&self, c: char) -> u8 {
        if let Some((_, kind)) = self.types.iter().find(|(known, _)| *known == c) {
            return *kind;
        }
        match c {
            'a'..='z' => LOWER,
            'A'..='Z' => UPPER,
            '0'..='9' => DIGIT,
            // Lucene's table of the first 256 knows no digit but those.
            '\0'..='\x7f' | '²' | '³' | '¹' | '¼' | '½' | '¾' => DELIMITER,
            c if c as u32 > 0xffff => ALPHANUM,
            c if c.is_numeric() => DIGIT,
            c if c.is_uppercase() => UPPER,
            c if c.is_lowercase() => LOWER,
            c if c.is_alphabetic() || is_mark(c) => ALPHA,
            _ => DELIMITER,
        }
    }

    fn gives(&self, kind: u8) -> bool {
        (self.word_parts && kind & ALPHA != 0) || (self.number_parts && kind & DIGIT != 0)
    }

    fn joins(&self, kind: u8) -> bool {
        (self.catenate_words && kind & ALPHA != 0) || (self.catenate_numbers && kind & DIGIT != 0)
    }

    fn breaks(&self, last: u8, kind: u8) -> bool {
        if kind & last != 0 {
            return false;
        }
        let letters = last & ALPHA != 0 && kind & ALPHA != 0;
        if letters && (!self.split_on_case_change || last & UPPER != 0) {
            return false;
        }
        let mixed =
            (last & ALPHA != 0 && kind & DIGIT != 0) || (last & DIGIT != 0 && kind & ALPHA != 0);
        self.split_on_numerics || !mixed
    }
}

fn is_mark(c: char) -> bool {
    use crate::analysis::tokenizer::classes::{EXTEND, TABLE, word_class};
    word_class(TABLE.of(c)) == EXTEND
}

/// Bytes for each of a token's: its characters, its texts whole and joined.
const TEXT_BYTES: usize = 8;

/// Bytes for each part: itself, and the tokens that it becomes.
const PART_BYTES: usize = 2 * (size_of::<Part>() + size_of::<Tok>());

/// A part: characters `from..to`.
#[derive(Clone, Copy, Debug)]
struct Part {
    from: usize,
    to: usize,
    kind: u8,
}

/// The parts of a token.
struct Parts {
    parts: Vec<Part>,
    /// The one part is all of the token but delimiters (and a final `'s`) around it.
    single: bool,
}

fn parts(text: &[char], options: &DelimiterOptions, held: &mut Held<'_>) -> ControlFlow<(), Parts> {
    let kind = |at: usize| options.kind(text[at]);
    let delimits = |at: usize| kind(at) & DELIMITER != 0;
    let mut start = 0;
    while start < text.len() && delimits(start) {
        start += 1;
    }
    let mut end = text.len();
    while end > start && delimits(end - 1) {
        end -= 1;
    }
    let possessive = |at: usize| {
        options.stem_possessive
            && at > 2
            && text[at - 2] == '\''
            && matches!(text[at - 1], 's' | 'S')
            && kind(at - 3) & ALPHA != 0
            && (at == end || delimits(at))
    };
    let mut parts = Vec::new();
    let mut at = start;
    while at < end {
        while at < end && delimits(at) {
            at += 1;
        }
        if at >= end {
            break;
        }
        let mut last = kind(at);
        let mut to = at + 1;
        while to < end && !options.breaks(last, kind(to)) {
            last = kind(to);
            to += 1;
        }
        let first = kind(at);
        let first = if matches!(first, LOWER | UPPER) { ALPHA } else { first };
        held.grow(PART_BYTES)?;
        parts.push(Part { from: at, to, kind: first });
        at = to;
        if to + 1 < end && possessive(to + 2) {
            at += 2;
        }
    }
    let bare_end = if possessive(end) { end.saturating_sub(2) } else { end };
    let single = matches!(parts.as_slice(), [one] if one.from == start && one.to == bare_end);
    ControlFlow::Continue(Parts { parts, single })
}

/// Either filter.
#[derive(Debug)]
pub struct WordDelimiter {
    /// What to cut at, and what to give.
    pub options: DelimiterOptions,
    /// Joined parts say how many positions they span.
    pub graph: bool,
}

impl Fold for WordDelimiter {
    fn expansion(&self) -> u32 {
        let DelimiterOptions { catenate_words, catenate_numbers, .. } = self.options;
        let DelimiterOptions { catenate_all, preserve_original, .. } = self.options;
        let joined = catenate_words || catenate_numbers;
        1 + u32::from(joined) + u32::from(catenate_all) + u32::from(preserve_original)
    }

    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        let options = &self.options;
        if self.graph {
            return Box::new(GraphCutting { options, inc: 0, room });
        }
        Box::new(Cutting { options, inc: 0, first: true, room })
    }
}

/// Parts that are being joined.
#[derive(Default)]
struct Joined {
    text: String,
    from: usize,
    to: usize,
    kind: u8,
    count: usize,
    /// Graph: the position where it begins.
    position: u32,
}

impl Joined {
    fn add(&mut self, text: &[char], part: Part, position: u32) {
        if self.count == 0 {
            self.from = part.from;
            self.kind = part.kind;
            self.position = position;
        }
        self.text.extend(&text[part.from..part.to]);
        self.to = part.to;
        self.count += 1;
    }
}

/// Where the parts of a token stand in the original text.
struct Places {
    start: u32,
    end: u32,
    /// The characters that take two UTF-16 units, where the token's text is what stood there.
    wide: Option<Vec<usize>>,
}

impl Places {
    fn of(token: &Tok, text: &[char], adjust: bool) -> Self {
        let wide: Vec<usize> = match adjust {
            true => (0..text.len()).filter(|at| text[*at].len_utf16() > 1).collect(),
            false => Vec::new(),
        };
        let is_own = adjust && (token.end - token.start) as usize == text.len() + wide.len();
        Self { start: token.start, end: token.end, wide: is_own.then_some(wide) }
    }

    /// First and last offset of the characters `from..to`; those of the whole token where its text is not
    /// what stood there.
    fn of_part(&self, from: usize, to: usize) -> (u32, u32) {
        let Some(wide) = &self.wide else { return (self.start, self.end) };
        let units = |at: usize| (at + wide.partition_point(|wide| *wide < at)) as u32;
        (self.start + units(from), self.start + units(to))
    }
}

struct Cutting<'f> {
    options: &'f DelimiterOptions,
    inc: u32,
    first: bool,
    room: &'f Room,
}

/// Positions of what one token becomes.
struct Placing<'p> {
    inc: &'p mut u32,
    has_output: bool,
    follows_original: bool,
}

impl Placing<'_> {
    fn place(&mut self, joined: bool) -> u32 {
        let inc = *self.inc;
        if self.has_output {
            *self.inc = 0;
            return if joined { 0 } else { inc.max(1) };
        }
        self.has_output = true;
        if !self.follows_original {
            self.follows_original = true;
            return 0;
        }
        *self.inc = 0;
        inc.max(1)
    }
}

impl Stage for Cutting<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        let options = self.options;
        self.inc += token.inc;
        let mut held = self.room.hold(TEXT_BYTES * token.term.len())?;
        let text: Vec<char> = token.term.chars().collect();
        let Parts { parts, single } = parts(&text, options, &mut held)?;
        let places = Places::of(token, &text, options.adjust_offsets);
        let whole = matches!(parts.first(), Some(part) if part.from == 0 && part.to == text.len());
        if whole
            || options.protected.contains(&token.term)
            || (options.ignore_keywords && token.keyword)
        {
            token.inc = std::mem::take(&mut self.inc);
            self.first = false;
            return next(token);
        }
        if parts.is_empty() && !options.preserve_original {
            if token.inc == 1 && !self.first {
                self.inc -= 1;
            }
            return ON;
        }
        if options.preserve_original {
            let mut original = token.clone();
            original.inc = std::mem::take(&mut self.inc);
            self.first = false;
            next(&mut original)?;
        }
        let mut placing = Placing {
            inc: &mut self.inc,
            has_output: false,
            follows_original: !options.preserve_original,
        };
        let make = |term: String, from: usize, to: usize, inc: u32| {
            let (start, end) = places.of_part(from, to);
            Tok { term, inc, length: 1, start, end, kind: token.kind, keyword: false }
        };
        if single {
            let part = parts[0];
            let term = text[part.from..part.to].iter().collect();
            let mut made = make(term, part.from, part.to, placing.place(false));
            self.first = false;
            return next(&mut made);
        }
        let mut made = Vec::new();
        let (mut words, mut all, mut last_count) = (Joined::default(), Joined::default(), 0);
        let flush = |words: &mut Joined,
                     placing: &mut Placing<'_>,
                     last: &mut usize,
                     made: &mut Vec<Tok>| {
            let joined = std::mem::take(words);
            *last = joined.count;
            if joined.count != 1 || !options.gives(joined.kind) {
                let inc = placing.place(true);
                *placing.inc = 0;
                made.push(make(joined.text, joined.from, joined.to, inc));
            }
        };
        for part in parts {
            if words.count > 0 && words.kind & part.kind == 0 {
                flush(&mut words, &mut placing, &mut last_count, &mut made);
                placing.has_output = false;
            }
            if options.joins(part.kind) {
                words.add(&text, part, 0);
            }
            if options.catenate_all {
                all.add(&text, part, 0);
            }
            if options.gives(part.kind) {
                let term = text[part.from..part.to].iter().collect();
                made.push(make(term, part.from, part.to, placing.place(false)));
            }
        }
        if words.count > 0 {
            flush(&mut words, &mut placing, &mut last_count, &mut made);
        }
        if all.count > last_count {
            let inc = placing.place(true);
            *placing.inc = 0;
            made.push(make(all.text, all.from, all.to, inc));
        }
        made.sort_by(|a, b| a.start.cmp(&b.start).then(b.inc.cmp(&a.inc)));
        for mut token in made {
            if self.first && token.inc == 0 {
                token.inc = 1;
            }
            self.first = false;
            next(&mut token)?;
        }
        ON
    }
}

struct GraphCutting<'f> {
    options: &'f DelimiterOptions,
    inc: u32,
    room: &'f Room,
}

/// A part with its place among the positions of the token.
struct Placed {
    text: String,
    from: usize,
    to: usize,
    begins: u32,
    ends: u32,
}

impl Stage for GraphCutting<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        let options = self.options;
        if options.ignore_keywords && token.keyword {
            return next(token);
        }
        self.inc += token.inc;
        let mut held = self.room.hold(TEXT_BYTES * token.term.len())?;
        let text: Vec<char> = token.term.chars().collect();
        let Parts { parts, single } = parts(&text, options, &mut held)?;
        let places = Places::of(token, &text, options.adjust_offsets);
        let whole = matches!(parts.first(), Some(part) if part.from == 0 && part.to == text.len());
        if whole
            || options.protected.contains(&token.term)
            || (parts.is_empty() && options.preserve_original)
        {
            token.inc = std::mem::take(&mut self.inc);
            return next(token);
        }
        if parts.is_empty() {
            return ON;
        }
        let mut at = 0;
        for placed in self.place(&text, &parts, single) {
            let (start, end) = places.of_part(placed.from, placed.to);
            let mut made = Tok {
                term: placed.text,
                inc: std::mem::take(&mut self.inc) + placed.begins - at,
                length: placed.ends - placed.begins,
                start,
                end,
                kind: token.kind,
                keyword: token.keyword,
            };
            at = placed.begins;
            next(&mut made)?;
        }
        ON
    }
}

impl GraphCutting<'_> {
    fn place(&self, text: &[char], parts: &[Part], single: bool) -> Vec<Placed> {
        let options = self.options;
        let mut made = Vec::new();
        let mut position = 0;
        let plain = |part: &Part, position: u32| Placed {
            text: text[part.from..part.to].iter().collect(),
            from: part.from,
            to: part.to,
            begins: position,
            ends: position + 1,
        };
        if single {
            made.push(plain(&parts[0], 0));
            position = 1;
        } else {
            let (mut words, mut all, mut last_count) = (Joined::default(), Joined::default(), 0);
            let write = |joined: Joined, position: u32, made: &mut Vec<Placed>| {
                made.push(Placed {
                    text: joined.text,
                    from: joined.from,
                    to: joined.to,
                    begins: joined.position,
                    ends: position,
                });
            };
            let mut flush = |words: &mut Joined, position: &mut u32, made: &mut Vec<Placed>| {
                let joined = std::mem::take(words);
                if *position == joined.position {
                    *position += 1;
                }
                last_count = joined.count;
                if joined.count != 1 || !options.gives(joined.kind) {
                    write(joined, *position, made);
                }
            };
            for part in parts {
                if words.count > 0 && words.kind & part.kind == 0 {
                    flush(&mut words, &mut position, &mut made);
                }
                if options.joins(part.kind) {
                    words.add(text, *part, position);
                }
                if options.catenate_all {
                    all.add(text, *part, position);
                }
                if options.gives(part.kind) {
                    made.push(plain(part, position));
                    position += 1;
                }
            }
            if words.count > 0 {
                flush(&mut words, &mut position, &mut made);
            }
            if all.count > last_count {
                if position == all.position {
                    position += 1;
                }
                write(all, position, &mut made);
            }
        }
        if options.preserve_original {
            let whole = text.iter().collect();
            let ends = position.max(1);
            made.insert(0, Placed { text: whole, from: 0, to: text.len(), begins: 0, ends });
        }
        let order = |a: &Placed, b: &Placed| {
            let places = a.begins.cmp(&b.begins).then(b.ends.cmp(&a.ends));
            places.then(a.from.cmp(&b.from)).then(b.to.cmp(&a.to))
        };
        made.sort_by(order);
        made
    }
}
