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

/// Adds to `test` what the records that are meant are like.
///
/// # Errors
/// Too many clauses.
pub(super) fn add(
    test: &mut Test,
    query: &SimpleQueryString,
    fields: Fields,
    now_ms: i64,
) -> Result<()> {
    let all = [("*".to_owned(), 1.0)];
    let names = if query.fields.is_empty() { all.as_slice() } else { &query.fields };
    let fields = names.iter().flat_map(|(pattern, _)| fields.expand(pattern)).collect();
    if query.query.trim() == "*" {
        return test.all();
    }
    let mut reader =
        Reader { rest: query.query.chars().peekable(), fields, or: query.operator, now_ms, test };
    if !reader.joined(0)? {
        // What means nothing finds nothing.
        test.some(1, 0);
    }
    Ok(())
}

struct Reader<'q> {
    rest: Peekable<Chars<'q>>,
    fields: Vec<(String, Kind)>,
    or: Operator,
    now_ms: i64,
    test: &'q mut Test,
}

impl Reader<'_> {
    /// Adds the clauses up to the end, or to the bracket that ends them, as one; false where there are none.
    fn joined(&mut self, depth: u32) -> Result<bool> {
        let mut is_there = false;
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
                '(' if depth < DEPTH_MAX => self.joined(depth + 1)?,
                '(' => continue,
                '"' => {
                    let phrase = self.until(|c| c == '"');
                    self.rest.next();
                    self.word(&phrase, false)?;
                    true
                }
                first => {
                    let rest = self.until(|c| c.is_whitespace() || "+|()\"".contains(c));
                    let word = format!("{first}{rest}");
                    match word.strip_suffix('*') {
                        Some(begin) => self.word(begin, true)?,
                        None => {
                            let plain = word
                                .rsplit_once('~')
                                .filter(|(_, edits)| edits.chars().all(|c| c.is_ascii_digit()));
                            self.word(plain.map_or(word.as_str(), |(it, _)| it), false)?;
                        }
                    }
                    true
                }
            };
            if found {
                if is_not {
                    self.test.not();
                }
                match operator {
                    _ if !is_there => {}
                    Operator::And => self.test.and(2),
                    Operator::Or => self.test.some(1, 2),
                }
                is_there = true;
            }
            (operator, is_not) = (self.or, false);
        }
        Ok(is_there)
    }

    fn until(&mut self, is_end: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(c) = self.rest.next_if(|c| !is_end(*c)) {
            text.push(c);
        }
        text
    }

    /// Adds a word, or the beginning of one, in any of the fields. What is no value of a field is not in it.
    fn word(&mut self, word: &str, begins: bool) -> Result<()> {
        let mut tests = 0;
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
            let count = asks.len();
            for ask in asks {
                self.test.field(name, *kind, false, ask)?;
            }
            if count > 0 {
                self.test.and(count);
                tests += 1;
            }
        }
        if tests == 0 {
            // It takes its step, and so it counts.
            self.test.nothing()?;
        } else {
            self.test.some(1, tests);
        }
        Ok(())
    }
}
