//! Text meets a field: its words become terms, joined or in order.

use std::sync::Arc;

use mapping::analysis::Analyzer;
use mapping::{Field, IndexOptions, Kind as Type, Text};

use crate::ast::{self, Operator, ZeroTerms};
use crate::error::{Error, Kind, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Bool, Clause, Node, Phrase, Term};
use crate::plan::{leaf, minimum, rewrite};

/// Longest phrase, in words: positions of all of them are held at once.
const PHRASE_TERMS_MAX: usize = 1024;

/// `match`.
pub fn match_(binder: &mut Binder<'_>, query: &ast::Match) -> Result<Clause> {
    let Some(field) = binder.mapping.field(&query.field).cloned() else {
        return leaf::unmapped_term(binder, &query.field, &query.query).map(Clause::new);
    };
    let analyzer = named(binder, "match", query.analyzer.as_deref())?;
    let lenient = |result: Result<Clause>| match result {
        Err(_) if query.lenient => Ok(Clause::none()),
        result => result,
    };
    let (words, text) = match (analyzer, &field.kind) {
        (Some(analyzer), Type::Text(_) | Type::Keyword(_)) => {
            (words(&analyzer, &query.query), true)
        }
        (None, Type::Text(text)) => (words(&text.search_analyzer, &query.query), true),
        _ => (Vec::new(), false),
    };
    if !text {
        return lenient(leaf::text_term(binder, &field, &query.query).map(Clause::new));
    }
    if words.is_empty() {
        return Ok(zero(query.zero_terms));
    }
    binder.count(words.len() - 1)?;
    let terms: Vec<Clause> = match words
        .iter()
        .map(|(word, _)| leaf::scored_term(&field, word.as_bytes()).map(Clause::new))
        .collect::<Result<_>>()
    {
        Ok(terms) => terms,
        Err(_) if query.lenient => return Ok(Clause::none()),
        Err(error) => return Err(error),
    };
    if terms.len() == 1 {
        return Ok(terms.into_iter().next().unwrap_or_else(Clause::none));
    }
    let mut joined = match query.operator {
        Operator::And => Bool { must: terms, ..Bool::default() },
        Operator::Or => Bool { should: terms, ..Bool::default() },
    };
    if let Some(spec) = &query.minimum_should_match {
        // Of a conjunction no clause is optional: a number above 0 then matches nothing.
        joined.minimum = minimum::minimum(spec, joined.should.len())?;
    }
    Ok(rewrite::simplify(joined, 1.0))
}

/// `match_phrase`.
pub fn phrase(binder: &mut Binder<'_>, query: &ast::Phrase) -> Result<Clause> {
    let Some(field) = binder.mapping.field(&query.field).cloned() else {
        return leaf::unmapped_term(binder, &query.field, &query.query).map(Clause::new);
    };
    let analyzer = named(binder, "match_phrase", query.analyzer.as_deref())?;
    let Type::Text(text) = &field.kind else {
        return leaf::text_term(binder, &field, &query.query).map(Clause::new);
    };
    let analyzer = analyzer.unwrap_or_else(|| Arc::clone(&text.search_quote_analyzer));
    let words = words(&analyzer, &query.query);
    match words.as_slice() {
        [] => return Ok(zero(query.zero_terms)),
        [(word, _)] => return leaf::scored_term(&field, word.as_bytes()).map(Clause::new),
        _ => {}
    }
    if words.len() > PHRASE_TERMS_MAX {
        return Err(Error::new(
            Kind::TooManyClauses,
            format!("maxClauseCount is set to {PHRASE_TERMS_MAX}"),
        ));
    }
    leaf::check_indexed(&field)?;
    check_positions(&field, text)?;
    let first = words[0].1;
    let terms =
        words.into_iter().map(|(word, at)| (word.into_bytes().into(), at - first)).collect();
    let phrase = Phrase { field: field.no, terms, slop: query.slop, norms: text.norms };
    Ok(Node::Phrase(phrase).into())
}

fn zero(zero_terms: ZeroTerms) -> Clause {
    match zero_terms {
        ZeroTerms::None => Clause::none(),
        ZeroTerms::All => Node::All.into(),
    }
}

/// The analyzer that a query names.
fn named(binder: &Binder<'_>, query: &str, name: Option<&str>) -> Result<Option<Arc<Analyzer>>> {
    let Some(name) = name else { return Ok(None) };
    match binder.mapping.settings().analysis.analyzer(name) {
        Some(analyzer) => Ok(Some(Arc::clone(analyzer))),
        None => Err(Error::shard(format!("[{query}] analyzer [{name}] not found"))),
    }
}

fn check_positions(field: &Field, text: &Text) -> Result<()> {
    if text.index_options >= IndexOptions::Positions {
        return Ok(());
    }
    Err(Error::new(
        Kind::IllegalState,
        format!("field:[{}] was indexed without position data; cannot run PhraseQuery", field.path),
    ))
}

/// The words of a text, with their positions.
fn words(analyzer: &Analyzer, text: &ast::Scalar) -> Vec<(String, u32)> {
    let mut words = Vec::new();
    analyzer.tokens(text.text(), &mut |token| words.push((token.term.to_owned(), token.position)));
    words
}

/// One word of a text field, scored.
pub fn term_of(field: &Field, text: &Text, word: &[u8]) -> Node {
    Node::Term(Term { field: field.no, term: word.into(), norms: text.norms })
}
