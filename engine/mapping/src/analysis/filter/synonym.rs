//! `synonym` and `synonym_graph`: runs of tokens that mean the same as others.
//!
//! Rules are kept by the run of tokens they begin with; at each token the longest run that has rules
//! wins. The plain filter lays what it adds over the following positions; the graph filter makes side
//! paths, and says how many positions each token spans.

use std::collections::VecDeque;
use std::sync::Arc;

use base::hash::Map;

use crate::analysis::stage::{End, Fold, Next, Stage};
use crate::analysis::token::{Tok, TokenKind};
use crate::{Error, Result};

/// Between the words of a run, which cannot hold it.
const BETWEEN: char = '\0';

/// Rules of one filter at most.
const RULES_MAX: usize = 4_000_000;

/// What a run of tokens means.
#[derive(Clone, Debug, Default)]
struct Meaning {
    /// Each a run of words.
    outputs: Vec<Arc<[String]>>,
    /// The run itself stays.
    keeps: bool,
}

/// Rules, by the run that they begin with.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    meanings: Map<String, Meaning>,
    /// Tokens of the longest run.
    longest: usize,
    count: usize,
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
        self.longest = self.longest.max(input.len());
        let meaning = self.meanings.entry(key(input.iter().map(String::as_str))).or_default();
        if !meaning.outputs.contains(output) {
            meaning.outputs.push(Arc::clone(output));
        }
        meaning.keeps |= keeps;
        Ok(())
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
        if let Err(error) = solr_line(line, expand, lenient, words, &mut rules)
            && !lenient
        {
            return Err(failed(error, at));
        }
    }
    Ok(rules)
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
                Ok(run) => runs.push(run.into()),
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
            Ok(run) => set.push(run.into()),
            Err(_) if lenient => {}
            Err(error) => return Err(failed(error, at)),
        }
    }
    wordnet_set(&set, expand, &mut rules)?;
    Ok(rules)
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
    fn stage(&self) -> Box<dyn Stage + '_> {
        let rules = &self.rules;
        if self.graph {
            return Box::new(Paths { rules, ahead: VecDeque::new(), last_node: -1, next_node: 0 });
        }
        let laid = VecDeque::new();
        Box::new(Overlay { rules, ahead: VecDeque::new(), laid, last: (0, 0) })
    }
}

/// An output that awaits its position.
struct Laid {
    term: String,
    /// Where it ends, where its rule says so.
    end: Option<u32>,
    length: u32,
}

struct Overlay<'f> {
    rules: &'f Rules,
    ahead: VecDeque<Tok>,
    /// Outputs of the positions from the front of `ahead` on.
    laid: VecDeque<Vec<Laid>>,
    last: (u32, u32),
}

impl Stage for Overlay<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) {
        self.ahead.push_back(token.clone());
        while self.ahead.len() >= self.rules.longest.max(1) {
            self.step(next);
        }
    }

    fn end(&mut self, _end: &mut End, next: Next<'_>) {
        while !self.ahead.is_empty() {
            self.step(next);
        }
        for outputs in std::mem::take(&mut self.laid) {
            let mut inc = 1;
            for laid in outputs {
                let (start, end) = self.last;
                let mut token = Tok::new(&laid.term, start, end, TokenKind::Synonym);
                token.inc = std::mem::take(&mut inc);
                next(&mut token);
            }
        }
    }
}

impl Overlay<'_> {
    /// Gives what stands at the front: one token, or all tokens of a match.
    fn step(&mut self, next: Next<'_>) {
        let Some((len, meaning)) = self.rules.longest_match(&self.ahead) else {
            self.give(true, next);
            return;
        };
        let end = self.ahead[len - 1].end;
        for output in &meaning.outputs {
            for (at, word) in output.iter().enumerate() {
                while self.laid.len() <= at {
                    self.laid.push_back(Vec::new());
                }
                let single = output.len() == 1;
                let length = if single && meaning.keeps { len as u32 } else { 1 };
                let end = single.then_some(end);
                self.laid[at].push(Laid { term: word.clone(), end, length });
            }
        }
        for _ in 0..len {
            self.give(meaning.keeps, next);
        }
    }

    fn give(&mut self, keeps: bool, next: Next<'_>) {
        let Some(token) = self.ahead.pop_front() else { return };
        self.last = (token.start, token.end);
        let mut inc = 1;
        if keeps {
            next(&mut token.clone());
            inc = 0;
        }
        for laid in self.laid.pop_front().unwrap_or_default() {
            let end = laid.end.unwrap_or(token.end);
            let mut made = Tok::new(&laid.term, token.start, end, TokenKind::Synonym);
            made.inc = std::mem::take(&mut inc);
            made.length = laid.length;
            next(&mut made);
        }
    }
}

struct Paths<'f> {
    rules: &'f Rules,
    ahead: VecDeque<Tok>,
    /// Where the token given last begins, as a node of the graph.
    last_node: i64,
    /// Where the next one begins.
    next_node: i64,
}

impl Stage for Paths<'_> {
    fn token(&mut self, token: &mut Tok, next: Next<'_>) {
        self.ahead.push_back(token.clone());
        while self.ahead.len() >= self.rules.longest.max(1) {
            self.step(next);
        }
    }

    fn end(&mut self, _end: &mut End, next: Next<'_>) {
        while !self.ahead.is_empty() {
            self.step(next);
        }
    }
}

impl Paths<'_> {
    fn step(&mut self, next: Next<'_>) {
        let Some((len, meaning)) = self.rules.longest_match(&self.ahead) else {
            if let Some(mut token) = self.ahead.pop_front() {
                self.last_node += i64::from(token.inc);
                self.next_node = self.last_node + i64::from(token.length);
                next(&mut token);
            }
            return;
        };
        let input: Vec<Tok> = self.ahead.drain(..len).collect();
        let (start, end) = (input[0].start, input[len - 1].end);
        let paths = &meaning.outputs;
        let inner: usize = paths.iter().map(|path| path.len() - 1).sum();
        let inner = inner + if meaning.keeps { len - 1 } else { 0 };
        let from = self.next_node;
        let to = from + inner as i64 + 1;
        // Each path leaves at `from`, has nodes of its own, and ends at `to`.
        let mut free = from;
        let mut later = Vec::new();
        let mut give = |mut token: Tok, begins: i64, ends: i64, last: &mut i64| {
            token.inc = (begins - *last).max(0) as u32;
            token.length = (ends - begins).max(1) as u32;
            *last = begins;
            next(&mut token);
        };
        let made = |word: &String| Tok::new(word, start, end, TokenKind::Synonym);
        for path in paths {
            let ends = if path.len() == 1 { to } else { free + 1 };
            give(made(&path[0]), from, ends, &mut self.last_node);
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
                give(first, from, ends, &mut self.last_node);
            }
            for (at, token) in input {
                let begins = free + at as i64;
                let ends = if at + 1 == len { to } else { begins + 1 };
                later.push((token, begins, ends));
            }
        }
        for (token, begins, ends) in later {
            give(token, begins, ends, &mut self.last_node);
        }
        self.next_node = to;
    }
}
