//! `simple_query_string`: a grammar that never fails, read and bound in one go.
//!
//! Lucene's `SimpleQueryParser`: `+` and, `|` or, `-` not, `"phrase"~slop`, `prefix*`, `word~edits`,
//! brackets. What makes no sense is passed over. An operator that differs from the one before puts
//! all that was read so far into one clause.

use crate::ast::{self, Fuzziness, FuzzyOptions, MultiKind, Operator, ZeroTerms};
use crate::dsl::query_string::flags;
use crate::error::{Error, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Bool, Clause, Node};
use crate::plan::fields::{self, Weighted};
use crate::plan::multi::Several;
use crate::plan::query_string::{normalized, with_minimum};
use crate::plan::{rewrite, text, words};

/// Brackets inside brackets.
const DEPTH_MAX: u32 = 100;

/// `simple_query_string`.
pub fn simple_query_string(
    binder: &mut Binder<'_>,
    query: &ast::SimpleQueryString,
) -> Result<Clause> {
    let default = fields::default_fields(binder);
    let names = if query.fields.is_empty() { &default } else { &query.fields };
    text::named(binder, "simple_query_string", query.analyzer.as_deref())?;
    let found = fields::resolve(binder, names, None)?;
    let quoted = match &query.quote_field_suffix {
        Some(suffix) => fields::resolve(binder, names, Some(suffix))?,
        None => found.clone(),
    };
    if query.query.trim() == "*" {
        return Ok(Node::All.into());
    }
    let lenient = query.lenient.unwrap_or_else(|| fields::has_all(names));
    let chars: Vec<char> = query.query.chars().collect();
    let mut reader = Reader { binder, query, fields: &found, quoted: &quoted, lenient, depth: 0 };
    let top = reader.read(&chars)?;
    Ok(match top {
        None => Clause::none(),
        Some(Tree::Joined(joined)) => {
            with_minimum(joined, 1.0, query.minimum_should_match.as_deref())?
        }
        // Words of one field may be counted; the same word in several is a best of them.
        Some(Tree::Clause(clause)) if found.len() == 1 => {
            text::with_minimum(clause, query.minimum_should_match.as_deref())?
        }
        Some(Tree::Clause(clause)) => clause,
    })
}

/// What was read so far.
enum Tree {
    /// One clause.
    Clause(Clause),
    /// Clauses joined by operators.
    Joined(Bool),
}

impl Tree {
    fn clause(self) -> Clause {
        match self {
            Self::Clause(Clause { node: Node::Bool(joined), boost }) => {
                rewrite::simplify(joined, boost)
            }
            Self::Clause(clause) => clause,
            Self::Joined(joined) => rewrite::simplify(joined, 1.0),
        }
    }
}

/// Where the reading of one bracket stands.
#[derive(Default)]
struct State {
    top: Option<Tree>,
    current: Option<Operator>,
    previous: Option<Operator>,
    not: u32,
}

struct Reader<'a, 'b, 'c> {
    binder: &'a mut Binder<'c>,
    query: &'b ast::SimpleQueryString,
    fields: &'b [Weighted],
    quoted: &'b [Weighted],
    lenient: bool,
    depth: u32,
}

impl Reader<'_, '_, '_> {
    fn on(&self, flag: u32) -> bool {
        self.query.flags & flag != 0
    }

    fn ends_token(&self, c: char) -> bool {
        match c {
            '"' => self.on(flags::PHRASE),
            '|' => self.on(flags::OR),
            '+' => self.on(flags::AND),
            '(' | ')' => self.on(flags::PRECEDENCE),
            ' ' | '\t' | '\n' | '\r' => self.on(flags::WHITESPACE),
            _ => false,
        }
    }

    fn read(&mut self, data: &[char]) -> Result<Option<Tree>> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Error::illegal("too many nested clauses"));
        }
        let mut state = State::default();
        let mut at = 0;
        while let Some(c) = data.get(at) {
            match c {
                '(' if self.on(flags::PRECEDENCE) => at = self.bracket(data, at, &mut state)?,
                ')' if self.on(flags::PRECEDENCE) => at += 1,
                '"' if self.on(flags::PHRASE) => at = self.phrase(data, at, &mut state)?,
                '+' if self.on(flags::AND) => {
                    if state.current.is_none() && state.top.is_some() {
                        state.current = Some(Operator::And);
                    }
                    at += 1;
                }
                '|' if self.on(flags::OR) => {
                    if state.current.is_none() && state.top.is_some() {
                        state.current = Some(Operator::Or);
                    }
                    at += 1;
                }
                '-' if self.on(flags::NOT) => {
                    state.not += 1;
                    at += 1;
                    continue;
                }
                ' ' | '\t' | '\n' | '\r' if self.on(flags::WHITESPACE) => at += 1,
                _ => at = self.token(data, at, &mut state)?,
            }
            state.not = 0;
        }
        self.depth -= 1;
        Ok(state.top)
    }

    fn bracket(&mut self, data: &[char], at: usize, state: &mut State) -> Result<usize> {
        let start = at + 1;
        let (mut end, mut open) = (start, 1);
        while let Some(c) = data.get(end) {
            match c {
                '\\' if self.on(flags::ESCAPE) => end += 1,
                '(' => open += 1,
                ')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                _ => {}
            }
            end += 1;
        }
        if end >= data.len() {
            return Ok(start);
        }
        if end == start {
            state.current = None;
            return Ok(end + 1);
        }
        let branch = self.read(&data[start..end])?;
        if let Some(branch) = branch {
            self.join(state, branch);
        }
        Ok(end + 1)
    }

    fn phrase(&mut self, data: &[char], at: usize, state: &mut State) -> Result<usize> {
        let start = at + 1;
        let mut end = start;
        let mut phrase = String::new();
        let mut has_slop = false;
        while let Some(c) = data.get(end) {
            match c {
                '\\' if self.on(flags::ESCAPE) => {
                    end += 1;
                    if let Some(c) = data.get(end) {
                        phrase.push(*c);
                    }
                    end += 1;
                    continue;
                }
                '"' => {
                    if data.get(end + 1) == Some(&'~') && self.on(flags::NEAR) {
                        end += 1;
                        has_slop = end + 1 < data.len();
                    }
                    break;
                }
                c => phrase.push(*c),
            }
            end += 1;
        }
        if end >= data.len() {
            return Ok(start);
        }
        if end == start {
            state.current = None;
            return Ok(end + 1);
        }
        let slop = if has_slop { self.edits(data, &mut end) } else { 0 };
        let query = self.query;
        let several = Several {
            analyzer: query.analyzer.as_deref(),
            ..self.several(MultiKind::Phrase, slop)
        };
        if self.has_words(self.quoted, &phrase)?
            && let Some(branch) = several.find(self.binder, self.quoted, &phrase)?
        {
            self.join(state, Tree::Clause(branch));
        }
        Ok(end + usize::from(!has_slop))
    }

    fn token(&mut self, data: &[char], at: usize, state: &mut State) -> Result<usize> {
        let mut end = at;
        let mut token = String::new();
        let (mut prefix, mut fuzzy) = (false, false);
        while let Some(c) = data.get(end) {
            if *c == '\\' && self.on(flags::ESCAPE) {
                prefix = false;
                end += 1;
                if let Some(c) = data.get(end) {
                    token.push(*c);
                    end += 1;
                }
                continue;
            }
            if self.ends_token(*c) {
                break;
            }
            if !token.is_empty() && *c == '~' && self.on(flags::FUZZY) {
                fuzzy = true;
                break;
            }
            prefix = !token.is_empty() && *c == '*' && self.on(flags::PREFIX);
            token.push(*c);
            end += 1;
        }
        if token.is_empty() {
            return Ok(end.max(at + 1));
        }
        let branch = if fuzzy {
            match self.edits(data, &mut end).min(2) {
                0 => self.words(&token)?,
                edits => Some(self.fuzzy(&token, edits)?),
            }
        } else if prefix {
            token.pop();
            Some(self.prefix(&token)?)
        } else {
            self.words(&token)?
        };
        if let Some(branch) = branch {
            self.join(state, Tree::Clause(branch));
        }
        Ok(end)
    }

    /// The number behind a `~`: `end` stands on it, and then behind the number.
    fn edits(&self, data: &[char], end: &mut usize) -> u32 {
        let mut digits = String::new();
        *end += 1;
        while let Some(c) = data.get(*end)
            && !self.ends_token(*c)
        {
            digits.push(*c);
            *end += 1;
        }
        match digits.as_str() {
            "" => 2,
            digits => digits.parse::<i32>().unwrap_or(0).max(0) as u32,
        }
    }

    fn join(&self, state: &mut State, branch: Tree) {
        let mut branch = branch;
        if state.not % 2 == 1 {
            branch = Tree::Joined(Bool {
                must_not: vec![branch.clause()],
                should: vec![Node::All.into()],
                ..Bool::default()
            });
        }
        let Some(top) = state.top.take() else {
            state.top = Some(branch);
            state.current = None;
            return;
        };
        let operator = state.current.take().unwrap_or(self.query.operator);
        let add = |joined: &mut Bool, clause: Clause| match operator {
            Operator::And => joined.must.push(clause),
            Operator::Or => joined.should.push(clause),
        };
        let mut joined = match top {
            Tree::Joined(joined) if state.previous == Some(operator) => joined,
            top => {
                let mut joined = Bool::default();
                add(&mut joined, top.clause());
                joined
            }
        };
        add(&mut joined, branch.clause());
        state.top = Some(Tree::Joined(joined));
        state.previous = Some(operator);
    }

    fn several(&self, kind: MultiKind, slop: u32) -> Several<'static> {
        Several {
            name: "simple_query_string",
            kind,
            operator: self.query.operator,
            minimum: None,
            analyzer: None,
            quote_analyzer: None,
            lenient: self.lenient,
            zero_terms: ZeroTerms::None,
            tie_breaker: kind.tie_breaker(),
            slop,
            fuzzy: &PLAIN,
            synonym_phrases: self.query.synonym_phrases,
        }
    }

    /// The analyzer of some field leaves a word.
    fn has_words(&self, fields: &[Weighted], words: &str) -> Result<bool> {
        let name = self.query.analyzer.as_deref();
        let named = text::named(self.binder, "simple_query_string", name)?;
        Ok(fields::have_words(fields, named.as_ref(), words))
    }

    fn words(&mut self, words: &str) -> Result<Option<Clause>> {
        if !self.has_words(self.fields, words)? {
            return Ok(None);
        }
        let query = self.query;
        let several = Several {
            analyzer: query.analyzer.as_deref(),
            ..self.several(MultiKind::MostFields, 0)
        };
        several.find(self.binder, self.fields, words)
    }

    fn in_each(
        &mut self,
        mut make: impl FnMut(&mut Binder<'_>, &std::sync::Arc<mapping::Field>) -> Result<Clause>,
    ) -> Result<Clause> {
        let mut some = Vec::with_capacity(self.fields.len());
        for (field, factor) in self.fields {
            self.binder.count(1)?;
            match make(self.binder, field) {
                Ok(clause) => some.push(Clause { boost: clause.boost * factor, ..clause }),
                Err(_) if self.lenient => {}
                Err(error) => return Err(error),
            }
        }
        self.binder.best_of(some, 1.0)
    }

    fn fuzzy(&mut self, word: &str, edits: u32) -> Result<Clause> {
        let query = self.query;
        self.in_each(|binder, field| {
            let word = normalized(binder, field, query.analyzer.as_deref(), word);
            words::fuzzy(binder, field, &word, Fuzziness::Edits(edits), &query.fuzzy)
        })
    }

    fn prefix(&mut self, prefix: &str) -> Result<Clause> {
        let query = self.query;
        self.in_each(|binder, field| {
            let prefix = normalized(binder, field, query.analyzer.as_deref(), prefix);
            words::prefix_of(binder, field, &prefix, false, None)
        })
    }
}

/// Words are not expanded to those near them.
static PLAIN: FuzzyOptions = FuzzyOptions {
    fuzziness: None,
    prefix_length: 0,
    max_expansions: 50,
    transpositions: true,
    rewrite: None,
};
