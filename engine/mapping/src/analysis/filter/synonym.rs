//! `synonym` and `synonym_graph`: runs of tokens that mean the same as others.
//!
//! Rules are kept by the run of tokens they begin with; at each token the longest run that has rules
//! wins. The plain filter lays what it adds over the following positions; the graph filter makes side
//! paths, and says how many positions each token spans.

use std::collections::VecDeque;
use std::sync::Arc;

use base::hash::{Map, Set};

use crate::analysis::effort::{TOKEN, spend};
use crate::analysis::holding::{hold, is_exceeded};
use crate::analysis::room::{Flow, ON, Room};
use crate::analysis::stage::{End, Fold, Next, Stage};
use crate::analysis::token::{Tok, TokenKind};
use crate::{Error, Result};

/// Between the words of a run, which cannot hold it.
const BETWEEN: char = '\0';

/// What it costs to add a rule, in steps.
const RULE: u64 = 64;

/// Rules of one filter at most.
const RULES_MAX: usize = 4_000_000;

/// Bytes that a run which means something takes beside its text, with its place in the table.
const MEANING_BYTES: usize = size_of::<(String, Meaning)>() + 32;

/// Bytes that an output of a rule takes, in a list that has room for as many again.
const OUTPUT_BYTES: usize = 2 * size_of::<Arc<[String]>>();

/// Bytes that a word takes beside its text.
const WORD_BYTES: usize = size_of::<String>() + 16;

/// So many outputs of a run are compared with each that is new; more are sorted out together.
const COMPARED_MAX: usize = 16;

/// What a run of tokens means.
#[derive(Clone, Debug, Default)]
struct Meaning {
    /// Each a run of words.
    outputs: Vec<Arc<[String]>>,
    /// The run itself stays.
    keeps: bool,
    /// Bytes of the outputs.
    bytes: usize,
    /// Of the outputs, so many are known to differ.
    sorted_out: usize,
}

impl Meaning {
    /// Adds an output, unless it is among those that are few.
    fn add(&mut self, output: &Arc<[String]>) {
        if self.outputs.len() <= COMPARED_MAX && self.outputs.contains(output) {
            return;
        }
        self.outputs.push(Arc::clone(output));
        self.bytes = self.bytes.saturating_add(len_bytes(output));
        // So that those that come again and again take no more than as much again.
        if self.outputs.len() > 2 * self.sorted_out.max(COMPARED_MAX) {
            self.sort_out();
        }
    }

    /// Leaves of outputs that are the same the first.
    fn sort_out(&mut self) {
        if self.outputs.len() <= COMPARED_MAX {
            return;
        }
        let mut seen: Set<Arc<[String]>> = Set::default();
        self.outputs.retain(|output| seen.insert(Arc::clone(output)));
        self.bytes = self.outputs.iter().map(|output| len_bytes(output)).sum();
        self.sorted_out = self.outputs.len();
    }
}

/// Rules, by the run that they begin with.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    meanings: Map<String, Meaning>,
    /// Tokens of the longest run.
    longest: usize,
    count: usize,
    /// Bytes of words that become of one, where a rule makes most of it.
    expansion: u32,
}

/// Cuts the text of a rule into words, as the chain before the filter does.
pub type Words<'w> = &'w dyn Fn(&str) -> Result<Vec<String>>;

impl Rules {
    /// Adds a rule: `input` means `output`.
    fn add(&mut self, input: &[String], output: &Arc<[String]>, keeps: bool) -> Result<()> {
        self.count += 1;
        if self.count > RULES_MAX {
            return Err(Error::illegal_argument(format!("more than {RULES_MAX} synonym rules")));
        }
        if spend(RULE + len_bytes(input) as u64).is_break() {
            return Err(Error::illegal_argument("the synonym rules take too much work"));
        }
        self.longest = self.longest.max(input.len());
        let input_key = key(input.iter().map(String::as_str));
        let is_known = self.meanings.contains_key(&input_key);
        hold(OUTPUT_BYTES + if is_known { 0 } else { MEANING_BYTES + input_key.len() })?;
        let meaning = self.meanings.entry(input_key).or_default();
        meaning.add(output);
        meaning.keeps |= keeps;
        Ok(())
    }

    /// The rules, once all are added.
    fn finish(mut self) -> Self {
        for (input, meaning) in &mut self.meanings {
            meaning.sort_out();
            meaning.outputs.shrink_to_fit();
            let made = meaning.bytes / (input.len() + 1) + usize::from(meaning.keeps);
            self.expansion = self.expansion.max(u32::try_from(made).unwrap_or(u32::MAX));
        }
        self
    }

    /// What it costs to look for a run at the beginning of `tokens`: each length is hashed.
    fn cost(&self, tokens: &VecDeque<Tok>) -> u64 {
        let tried = tokens.iter().take(self.longest);
        let ends = tried.scan(0, |len, token| {
            *len += token.term.len() as u64 + 1;
            Some(TOKEN + *len / 2)
        });
        ends.sum()
    }

    /// The longest run at the beginning of `tokens` that means something.
    fn longest_match(&self, tokens: &VecDeque<Tok>) -> Option<(usize, &Meaning)> {
        let mut text = String::new();
        let mut found = None;
        for (at, token) in tokens.iter().take(self.longest).enumerate() {
            if at > 0 {
                text.push(BETWEEN);
            }
            text.push_str(&token.term);
            if let Some(meaning) = self.meanings.get(&text) {
                found = Some((at + 1, meaning));
            }
        }
        found
    }
}

/// A run of a rule, whose memory is counted.
fn held(run: Vec<String>) -> Result<Arc<[String]>> {
    hold(run.iter().map(|word| WORD_BYTES + word.len()).sum())?;
    Ok(run.into())
}

/// Bytes of a run, with what stands between its words.
fn len_bytes(run: &[String]) -> usize {
    run.iter().map(|word| word.len() + 1).sum()
}

fn key<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut key = String::new();
    for (at, word) in words.enumerate() {
        if at > 0 {
            key.push(BETWEEN);
        }
        key.push_str(word);
    }
    key
}

/// Reads rules as Solr writes them: `a, b => c` and `a, b, c`; `#` begins a comment.
///
/// # Errors
/// A rule that is wrong, unless `lenient`.
pub fn parse_solr(
    lines: &[String],
    expand: bool,
    lenient: bool,
    words: Words<'_>,
) -> Result<Rules> {
    let mut rules = Rules::default();
    for (at, line) in lines.iter().flat_map(|text| text.lines()).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Err(error) = solr_line(line, expand, lenient, words, &mut rules) {
            if is_exceeded() {
                return Err(error);
            }
            if !lenient {
                return Err(failed(error, at));
            }
        }
    }
    Ok(rules.finish())
}

fn failed(error: Error, line: usize) -> Error {
    let reason = format!("Invalid synonym rule at line {}", line + 1);
    Error::illegal_argument("failed to build synonyms")
        .caused_by(Error::new(crate::ErrorKind::Parse, reason).caused_by(error))
}

fn solr_line(
    line: &str,
    expand: bool,
    lenient: bool,
    words: Words<'_>,
    rules: &mut Rules,
) -> Result<()> {
    let sides = split(line, "=>");
    let read = |side: &str| -> Result<Vec<Arc<[String]>>> {
        let mut runs = Vec::new();
        for text in split(side, ",") {
            match words(unescape(text.trim()).trim()) {
                Ok(run) => runs.push(held(run)?),
                Err(_) if lenient => {}
                Err(error) => return Err(error),
            }
        }
        Ok(runs)
    };
    match sides.as_slice() {
        [one] => {
            let runs = read(one)?;
            if !expand {
                let Some(first) = runs.first() else { return Ok(()) };
                return runs.iter().try_for_each(|run| rules.add(run, first, false));
            }
            for (i, input) in runs.iter().enumerate() {
                for (j, output) in runs.iter().enumerate() {
                    if i != j {
                        rules.add(input, output, true)?;
                    }
                }
            }
            Ok(())
        }
        [inputs, outputs] => {
            let (inputs, outputs) = (read(inputs)?, read(outputs)?);
            for input in &inputs {
                for output in &outputs {
                    rules.add(input, output, false)?;
                }
            }
            Ok(())
        }
        _ => Err(Error::illegal_argument(
            "more than one explicit mapping specified on the same line",
        )),
    }
}

/// Reads rules as WordNet writes them: `s(100000001,1,'abstain',v,1,0).`
///
/// # Errors
/// A rule that is wrong, unless `lenient`.
pub fn parse_wordnet(
    lines: &[String],
    expand: bool,
    lenient: bool,
    words: Words<'_>,
) -> Result<Rules> {
    let mut rules = Rules::default();
    let mut set: Vec<Arc<[String]>> = Vec::new();
    let mut last = String::new();
    for (at, line) in lines.iter().flat_map(|text| text.lines()).enumerate() {
        let id = line.get(2..11);
        let text = line.find('\'').zip(line.rfind('\''));
        let (Some(id), Some((start, end))) = (id, text.filter(|(start, end)| start < end)) else {
            if lenient || line.trim().is_empty() {
                continue;
            }
            return Err(failed(Error::illegal_argument(format!("expected s(…): {line}")), at));
        };
        if id != last {
            wordnet_set(&set, expand, &mut rules)?;
            set.clear();
            id.clone_into(&mut last);
        }
        match words(&line[start + 1..end].replace("''", "'")) {
            Ok(run) => set.push(held(run)?),
            Err(_) if lenient => {}
            Err(error) => return Err(failed(error, at)),
        }
    }
    wordnet_set(&set, expand, &mut rules)?;
    Ok(rules.finish())
}

fn wordnet_set(set: &[Arc<[String]>], expand: bool, rules: &mut Rules) -> Result<()> {
    let [first, _, ..] = set else { return Ok(()) };
    for input in set {
        if !expand {
            rules.add(input, first, false)?;
            continue;
        }
        for output in set.iter().filter(|output| *output != input) {
            rules.add(input, output, true)?;
        }
    }
    Ok(())
}

/// Splits at a separator; a backslash keeps what follows together. Empty parts are left out.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(separator) {
            if at > start {
                parts.push(&text[start..at]);
            }
            at += separator.len();
            start = at;
        } else {
            let mut chars = rest.chars();
            if chars.next() == Some('\\') {
                chars.next();
            }
            at = text.len() - chars.as_str().len();
        }
    }
    if start < text.len() {
        parts.push(&text[start..]);
    }
    parts
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            out.extend(chars.next().or(Some(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// Either filter.
#[derive(Debug)]
pub struct Synonyms {
    /// What means what.
    pub rules: Rules,
    /// Side paths instead of overlaid positions.
    pub graph: bool,
}

impl Fold for Synonyms {
    fn expansion(&self) -> u32 {
        self.rules.expansion.max(1)
    }

    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        let (rules, ahead) = (&self.rules, VecDeque::new());
        if self.graph {
            return Box::new(Paths { rules, ahead, last_node: -1, next_node: 0, room });
        }
        Box::new(Overlay { rules, ahead, laid: VecDeque::new(), last: (0, 0), room })
    }
}

/// An output of a rule, of which words await their positions.
struct Laid<'f> {
    words: &'f [String],
    /// How many of them were given.
    given: usize,
    /// Where a single word ends, and how many positions it takes.
    single: Option<(u32, u32)>,
}

/// Bytes of an output that awaits.
const LAID_BYTES: usize = size_of::<Laid<'_>>();

struct Overlay<'f> {
    rules: &'f Rules,
    ahead: VecDeque<Tok>,
    /// Outputs that have words for the front of `ahead`, in the order of their matches.
    laid: VecDeque<Laid<'f>>,
    last: (u32, u32),
    room: &'f Room,
}

impl Stage for Overlay<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        self.room.take(token.term.len())?;
        self.ahead.push_back(token.clone());
        while self.ahead.len() >= self.rules.longest.max(1) {
            self.step(next)?;
        }
        ON
    }

    fn end(&mut self, _end: &mut End, next: Next<'_>) -> Flow {
        while !self.ahead.is_empty() {
            self.step(next)?;
        }
        let (start, end) = self.last;
        while !self.laid.is_empty() {
            self.lay((start, end), 1, next)?;
        }
        ON
    }
}

impl<'f> Overlay<'f> {
    /// Gives what stands at the front: one token, or all tokens of a match.
    fn step(&mut self, next: Next<'_>) -> Flow {
        let rules: &'f Rules = self.rules;
        self.room.spend(rules.cost(&self.ahead))?;
        let Some((len, meaning)) = rules.longest_match(&self.ahead) else {
            return self.give(true, next);
        };
        let end = self.ahead[len - 1].end;
        for words in &meaning.outputs {
            self.room.take(LAID_BYTES)?;
            let length = if meaning.keeps { len as u32 } else { 1 };
            let single = (words.len() == 1).then_some((end, length));
            self.laid.push_back(Laid { words, given: 0, single });
        }
        for _ in 0..len {
            self.give(meaning.keeps, next)?;
        }
        ON
    }

    fn give(&mut self, keeps: bool, next: Next<'_>) -> Flow {
        let Some(mut token) = self.ahead.pop_front() else { return ON };
        self.room.give_back(token.term.len());
        let place = (token.start, token.end);
        self.last = place;
        let mut inc = 1;
        if keeps {
            next(&mut token)?;
            inc = 0;
        }
        self.lay(place, inc, next)
    }

    /// Gives the next word of each output that awaits.
    fn lay(&mut self, (start, end): (u32, u32), mut inc: u32, next: Next<'_>) -> Flow {
        for laid in &mut self.laid {
            let Some(word) = laid.words.get(laid.given) else { continue };
            laid.given += 1;
            let (end, length) = laid.single.unwrap_or((end, 1));
            let mut made = Tok::new(word, start, end, TokenKind::Synonym);
            made.inc = std::mem::take(&mut inc);
            made.length = length;
            next(&mut made)?;
        }
        let before = self.laid.len();
        self.laid.retain(|laid| laid.given < laid.words.len());
        self.room.give_back((before - self.laid.len()) * LAID_BYTES);
        ON
    }
}

impl Drop for Overlay<'_> {
    fn drop(&mut self) {
        let ahead: usize = self.ahead.iter().map(|token| token.term.len()).sum();
        self.room.give_back(ahead + self.laid.len() * LAID_BYTES);
    }
}

/// Bytes of a word that comes later, without its text.
const LATER_BYTES: usize = size_of::<(Tok, i64, i64)>();

struct Paths<'f> {
    rules: &'f Rules,
    ahead: VecDeque<Tok>,
    /// Where the token given last begins, as a node of the graph.
    last_node: i64,
    /// Where the next one begins.
    next_node: i64,
    room: &'f Room,
}

impl Stage for Paths<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) -> Flow {
        self.room.take(token.term.len())?;
        self.ahead.push_back(token.clone());
        while self.ahead.len() >= self.rules.longest.max(1) {
            self.step(next)?;
        }
        ON
    }

    fn end(&mut self, _end: &mut End, next: Next<'_>) -> Flow {
        while !self.ahead.is_empty() {
            self.step(next)?;
        }
        ON
    }
}

impl Drop for Paths<'_> {
    fn drop(&mut self) {
        let ahead = self.ahead.iter().map(|token| token.term.len()).sum();
        self.room.give_back(ahead);
    }
}

impl Paths<'_> {
    fn step(&mut self, next: Next<'_>) -> Flow {
        self.room.spend(self.rules.cost(&self.ahead))?;
        let Some((len, meaning)) = self.rules.longest_match(&self.ahead) else {
            if let Some(mut token) = self.ahead.pop_front() {
                self.room.give_back(token.term.len());
                self.last_node += i64::from(token.inc);
                self.next_node = self.last_node + i64::from(token.length);
                return next(&mut token);
            }
            return ON;
        };
        let input: Vec<Tok> = self.ahead.drain(..len).collect();
        self.room.give_back(input.iter().map(|token| token.term.len()).sum());
        let (start, end) = (input[0].start, input[len - 1].end);
        let paths = &meaning.outputs;
        let inner: usize = paths.iter().map(|path| path.len() - 1).sum();
        let inner = inner + if meaning.keeps { len - 1 } else { 0 };
        let from = self.next_node;
        let to = from + inner as i64 + 1;
        // What comes later is made of all words but the first of each path.
        let words = paths.iter().flat_map(|path| &path[1..]);
        let later_bytes: usize = words.map(|word| word.len() + LATER_BYTES).sum();
        let _held = self.room.hold(later_bytes)?;
        // Each path leaves at `from`, has nodes of its own, and ends at `to`.
        let mut free = from;
        let mut later = Vec::new();
        let mut give = |mut token: Tok, begins: i64, ends: i64, last: &mut i64| {
            token.inc = (begins - *last).max(0) as u32;
            token.length = (ends - begins).max(1) as u32;
            *last = begins;
            next(&mut token)
        };
        let made = |word: &String| Tok::new(word, start, end, TokenKind::Synonym);
        for path in paths {
            let ends = if path.len() == 1 { to } else { free + 1 };
            give(made(&path[0]), from, ends, &mut self.last_node)?;
            for (at, word) in path.iter().enumerate().skip(1) {
                let begins = free + at as i64;
                let ends = if at + 1 == path.len() { to } else { begins + 1 };
                later.push((made(word), begins, ends));
            }
            free += path.len() as i64 - 1;
        }
        if meaning.keeps {
            let mut input = input.into_iter().enumerate();
            if let Some((_, first)) = input.next() {
                let ends = if len == 1 { to } else { free + 1 };
                give(first, from, ends, &mut self.last_node)?;
            }
            for (at, token) in input {
                let begins = free + at as i64;
                let ends = if at + 1 == len { to } else { begins + 1 };
                later.push((token, begins, ends));
            }
        }
        for (token, begins, ends) in later {
            give(token, begins, ends, &mut self.last_node)?;
        }
        self.next_node = to;
        ON
    }
}
