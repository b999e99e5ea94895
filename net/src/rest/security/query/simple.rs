//! `simple_query_string`: the grammar that never fails. `+` and, `|` or, `-` not, `"a phrase"`, `prefix*`, brackets;
//! what makes no sense is passed over. Of words near others (`word~2`) only the word itself is found.

use std::iter::Peekable;
use std::str::Chars;

use engine::Result;
use search::ast::{Operator, SimpleQueryString};

use super::clause::{Ask, Test, equal};
use super::field::{self, Fields, Kind};

/// Brackets inside brackets.
const DEPTH_MAX: u32 = 20;

/// What the records that are meant are like.
pub(super) fn test(query: &SimpleQueryString, fields: Fields, now_ms: i64) -> Result<Test> {
    let all = [("*".to_owned(), 1.0)];
    let names = if query.fields.is_empty() { all.as_slice() } else { &query.fields };
    let fields = names.iter().flat_map(|(pattern, _)| fields.expand(pattern)).collect();
    if query.query.trim() == "*" {
        return Ok(Test::All);
    }
    let mut reader =
        Reader { rest: query.query.chars().peekable(), fields, or: query.operator, now_ms };
    // What means nothing finds nothing.
    Ok(reader.joined(0).unwrap_or_else(|| Test::Some(1, Vec::new())))
}

struct Reader<'q> {
    rest: Peekable<Chars<'q>>,
    fields: Vec<(String, Kind)>,
    or: Operator,
    now_ms: i64,
}

impl Reader<'_> {
    /// Clauses up to the end, or to the bracket that ends them.
    fn joined(&mut self, depth: u32) -> Option<Test> {
        let mut top: Option<Test> = None;
        let (mut operator, mut is_not) = (self.or, false);
        while let Some(c) = self.rest.next() {
            let found = match c {
                c if c.is_whitespace() => continue,
                '+' => {
                    operator = Operator::And;
                    continue;
                }
                '|' => {
                    operator = Operator::Or;
                    continue;
                }
                '-' => {
                    is_not = !is_not;
                    continue;
                }
                ')' if depth > 0 => break,
                ')' => continue,
                '(' if depth < DEPTH_MAX => self.joined(depth + 1),
                '(' => continue,
                '"' => {
                    let phrase = self.until(|c| c == '"');
                    self.rest.next();
                    Some(self.word(&phrase, false))
                }
                first => {
                    let rest = self.until(|c| c.is_whitespace() || "+|()\"".contains(c));
                    let word = format!("{first}{rest}");
                    match word.strip_suffix('*') {
                        Some(begin) => Some(self.word(begin, true)),
                        None => {
                            let plain = word
                                .rsplit_once('~')
                                .filter(|(_, edits)| edits.chars().all(|c| c.is_ascii_digit()));
                            Some(self.word(plain.map_or(word.as_str(), |(it, _)| it), false))
                        }
                    }
                }
            };
            if let Some(found) = found {
                let found = if is_not { Test::Not(Box::new(found)) } else { found };
                top = Some(match top {
                    None => found,
                    Some(top) if operator == Operator::And => Test::And(vec![top, found]),
                    Some(top) => Test::Some(1, vec![top, found]),
                });
            }
            (operator, is_not) = (self.or, false);
        }
        top
    }

    fn until(&mut self, is_end: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(c) = self.rest.next_if(|c| !is_end(*c)) {
            text.push(c);
        }
        text
    }

    /// A word, or the beginning of one, in any of the fields. What is no value of a field is not in it.
    fn word(&self, word: &str, begins: bool) -> Test {
        let mut tests = Vec::new();
        for (name, kind) in &self.fields {
            let asks: Vec<Ask> = match (kind, begins) {
                (Kind::Text, true) => vec![Ask::Begins(word.to_lowercase())],
                (Kind::Text, false) => {
                    let words = field::words(word).into_iter();
                    words.filter_map(|word| equal(*kind, &word, self.now_ms).ok()).collect()
                }
                (Kind::Word | Kind::Object, true) => vec![Ask::Begins(word.to_owned())],
                (_, true) => Vec::new(),
                (_, false) => equal(*kind, word, self.now_ms).into_iter().collect(),
            };
            let of = |ask| Test::Field { name: name.clone(), kind: *kind, folded: false, ask };
            if !asks.is_empty() {
                tests.push(Test::And(asks.into_iter().map(of).collect()));
            }
        }
        Test::Some(1, tests)
    }
}
