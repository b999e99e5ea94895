//! `intervals` and span queries meet an index: their words become leaves, their rules a tree.

use std::sync::Arc;

use base::FieldNo;
use mapping::{Field, IndexOptions, Kind as Type};

use crate::ast::{self, Lies, PatternKind, Rule, RuleKind, Span};
use crate::error::{Error, Result};
use crate::plan::bind::{Binder, CLAUSES_MAX};
use crate::plan::bound::{Clause, Node, Pattern};
use crate::plan::expand::{Expand, Near, Rewrite};
use crate::plan::{graph, leaf, text, words};
use automaton::regexp;
use base::wildcard::Wildcard;

/// A word of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// One term.
    Term(FieldNo, Box<[u8]>),
    /// Terms that only a shard knows, and what is told where they are more than [`CLAUSES_MAX`].
    Pattern(Arc<Expand>, Arc<str>),
}

/// What must stand where.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Nothing stands there.
    Nothing,
    /// A leaf, by its number.
    Leaf(usize),
    /// All, in order; positions between them at most.
    Ordered(Vec<Source>, Option<u32>),
    /// All, in any order; positions between them at most.
    Unordered(Vec<Source>, Option<u32>),
    /// One of several.
    Or(Vec<Source>),
    /// One that lies so to another.
    Lies(Box<Source>, Lies, Box<Source>),
    /// Spans near each other.
    Near(Vec<Source>, i64, bool),
    /// One that another does not come near: positions before and after.
    Not(Box<Source>, Box<Source>, u32, u32),
    /// One that ends at or before a position.
    First(Box<Source>, u32),
}

impl Source {
    /// The least width of what it finds.
    pub fn extent(&self) -> u32 {
        match self {
            Self::Nothing => u32::MAX,
            Self::Leaf(_) => 1,
            Self::Ordered(all, _) | Self::Unordered(all, _) | Self::Near(all, ..) => {
                all.iter().fold(0, |sum, it| sum.saturating_add(it.extent()))
            }
            Self::Or(all) => all.iter().map(Self::extent).min().unwrap_or(0),
            Self::Lies(source, ..) | Self::Not(source, ..) | Self::First(source, _) => {
                source.extent()
            }
        }
    }
}

/// Words at places.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    /// The words.
    pub leaves: Vec<Leaf>,
    /// What must stand where.
    pub source: Source,
    /// Words that do not count for the score.
    pub silent: Vec<usize>,
    /// Scored by BM25 as spans, of this field, which keeps lengths or not; else as intervals.
    pub spans: Option<(FieldNo, bool)>,
}

/// `intervals`.
pub fn intervals(binder: &mut Binder<'_>, query: &ast::Intervals) -> Result<Clause> {
    let Some(field) = binder.field(&query.field) else { return Ok(Clause::none()) };
    check(&field, "intervals")?;
    let mut leaves = Vec::new();
    let source = rule(binder, &field, &query.rule, &mut leaves)?;
    if source == Source::Nothing {
        return Ok(Clause::none());
    }
    Ok(Node::Places(Arc::new(Places { leaves, source, silent: Vec::new(), spans: None })).into())
}

fn check(field: &Field, query: &str) -> Result<()> {
    match &field.kind {
        Type::Text(text) if text.index_options >= IndexOptions::Positions && field.index => Ok(()),
        Type::Text(_) => Err(Error::illegal(format!(
            "Cannot create {query} over field [{}] with no positions indexed",
            field.path
        ))),
        _ => Err(Error::illegal(format!(
            "Can only use interval queries on text fields - not on [{}] which is of type [{}]",
            field.path,
            field.type_name()
        ))),
    }
}

fn rule(
    binder: &mut Binder<'_>,
    field: &Arc<Field>,
    rule: &Rule,
    leaves: &mut Vec<Leaf>,
) -> Result<Source> {
    let source = match &rule.kind {
        RuleKind::Match { query, max_gaps, ordered, analyzer, use_field } => {
            let field = other(binder, field, use_field.as_deref())?;
            let named = text::named(binder, "intervals", analyzer.as_deref())?;
            let Type::Text(kind) = &field.kind else { return Ok(Source::Nothing) };
            let words = graph::words_with_lengths(
                named.as_ref().unwrap_or(&kind.search_analyzer),
                query,
                &mut binder.word_bytes,
            )?;
            let mut sources: Vec<Source> = Vec::new();
            for (_, stretch) in graph::stretches(&words)? {
                let mut one = |word: &graph::Word| {
                    leaves.push(Leaf::Term(field.no, word.term.as_bytes().into()));
                    Source::Leaf(leaves.len() - 1)
                };
                sources.push(match stretch {
                    graph::Stretch::Words(words) => or(words.into_iter().map(&mut one).collect()),
                    graph::Stretch::Paths(paths) => or(paths
                        .into_iter()
                        .map(|path| {
                            let all: Vec<Source> = path.into_iter().map(&mut one).collect();
                            joined(all, Some(0), true)
                        })
                        .collect()),
                });
            }
            binder.count(sources.len())?;
            joined(sources, *max_gaps, *ordered)
        }
        RuleKind::Pattern { kind, analyzer, use_field } => {
            let field = other(binder, field, use_field.as_deref())?;
            let (pattern, text) = described(binder, &field, kind, analyzer.as_deref())?;
            let refusal =
                format!("Automaton [{text}] expanded to too many terms (limit {CLAUSES_MAX})");
            leaves.push(expansion(&field, pattern, Rewrite::Scoring, None, &refusal));
            Source::Leaf(leaves.len() - 1)
        }
        RuleKind::AllOf { rules, max_gaps, ordered } => {
            let mut all = Vec::with_capacity(rules.len());
            for inner in rules {
                all.push(self::rule(binder, field, inner, leaves)?);
            }
            joined(all, *max_gaps, *ordered)
        }
        RuleKind::AnyOf(rules) => {
            let mut some = Vec::with_capacity(rules.len());
            for inner in rules {
                some.push(self::rule(binder, field, inner, leaves)?);
            }
            or(some)
        }
    };
    match &rule.filter {
        None => Ok(source),
        Some(filter) => {
            let (lies, reference) = filter.as_ref();
            let reference = self::rule(binder, field, reference, leaves)?;
            Ok(Source::Lies(Box::new(source), *lies, Box::new(reference)))
        }
    }
}

fn other(binder: &Binder<'_>, field: &Arc<Field>, name: Option<&str>) -> Result<Arc<Field>> {
    let Some(name) = name else { return Ok(Arc::clone(field)) };
    let Some(found) = binder.field(name) else {
        return Err(Error::illegal(format!("Unknown field [{name}]")));
    };
    check(&found, "intervals")?;
    Ok(found)
}

fn joined(mut sources: Vec<Source>, max_gaps: Option<u32>, ordered: bool) -> Source {
    if sources.is_empty() || sources.contains(&Source::Nothing) {
        return Source::Nothing;
    }
    match (sources.len(), ordered) {
        (1, _) => sources.remove(0),
        (_, true) => Source::Ordered(sources, max_gaps),
        (_, false) => Source::Unordered(sources, max_gaps),
    }
}

fn or(mut sources: Vec<Source>) -> Source {
    sources.retain(|source| *source != Source::Nothing);
    match sources.len() {
        0 => Source::Nothing,
        1 => sources.remove(0),
        _ => Source::Or(sources),
    }
}

fn expansion(
    field: &Field,
    pattern: Pattern,
    rewrite: Rewrite,
    near: Option<Near>,
    refusal: &str,
) -> Leaf {
    let expand = Expand {
        field: field.no,
        pattern: Arc::new(pattern),
        norms: field.has_norms(),
        rewrite,
        near,
    };
    Leaf::Pattern(Arc::new(expand), refusal.into())
}

/// What a pattern of `intervals` matches, and how it is shown.
fn described(
    binder: &Binder<'_>,
    field: &Field,
    kind: &PatternKind,
    analyzer: Option<&str>,
) -> Result<(Pattern, String)> {
    let normal = |word: &str| crate::plan::query_string::normalized(binder, field, analyzer, word);
    Ok(match kind {
        PatternKind::Prefix(word) => {
            let word = normal(word);
            let prefix = word.as_bytes().into();
            (Pattern::Prefix { prefix, case_insensitive: false }, format!("{word}*"))
        }
        PatternKind::Wildcard(word) => {
            let word = normal(word);
            (Pattern::Wildcard(Wildcard::new(&word, false)), word)
        }
        PatternKind::Regexp(word, any_case) => {
            let dfa = binder.automata().expression(word, regexp::ALL, *any_case, 10_000)?;
            (Pattern::of_automaton(dfa), word.clone())
        }
        PatternKind::Fuzzy(word, fuzziness, prefix, swaps) => {
            let word = normal(word);
            let edits = fuzziness.edits(&word);
            let dfa =
                binder.automata().near(&word, *prefix as usize, edits, *swaps)?.unwrap_or_default();
            (Pattern::of_automaton(dfa), format!("{word}~{edits}"))
        }
    })
}

/// A span query.
pub fn span(binder: &mut Binder<'_>, query: &Span) -> Result<Clause> {
    let mut leaves = Vec::new();
    let mut field = None;
    let source = of_span(binder, query, &mut leaves, &mut field)?;
    let (Some(field), false) = (field, source == Source::Nothing) else {
        return Ok(Clause::none());
    };
    let spans = Some((field.no, field.has_norms()));
    let mut silent = Vec::new();
    silence(&source, false, &mut silent);
    Ok(Node::Places(Arc::new(Places { leaves, source, silent, spans })).into())
}

/// Collects the words of what must not be there.
fn silence(source: &Source, silent: bool, out: &mut Vec<usize>) {
    match source {
        Source::Leaf(at) if silent => out.push(*at),
        Source::Nothing | Source::Leaf(_) => {}
        Source::Ordered(all, _) | Source::Unordered(all, _) | Source::Or(all) => {
            all.iter().for_each(|source| silence(source, silent, out));
        }
        Source::Near(all, ..) => all.iter().for_each(|source| silence(source, silent, out)),
        Source::Lies(source, _, reference) => {
            silence(source, silent, out);
            silence(reference, silent, out);
        }
        Source::Not(include, exclude, ..) => {
            silence(include, silent, out);
            silence(exclude, true, out);
        }
        Source::First(inner, _) => silence(inner, silent, out),
    }
}

fn of_span(
    binder: &mut Binder<'_>,
    query: &Span,
    leaves: &mut Vec<Leaf>,
    scored: &mut Option<Arc<Field>>,
) -> Result<Source> {
    let all = |binder: &mut Binder<'_>,
               clauses: &[Span],
               leaves: &mut Vec<Leaf>,
               scored: &mut Option<Arc<Field>>| {
        clauses
            .iter()
            .map(|clause| of_span(binder, clause, leaves, scored))
            .collect::<Result<Vec<_>>>()
    };
    Ok(match query {
        Span::Term(name, value, _) => {
            let Some(field) = binder.field(name) else { return Ok(Source::Nothing) };
            let term = leaf::normalized(&field, value.text());
            leaves.push(Leaf::Term(field.no, term.into_bytes().into()));
            scored.get_or_insert(field);
            Source::Leaf(leaves.len() - 1)
        }
        Span::Near { clauses, slop, in_order } => {
            let mut all = all(binder, clauses, leaves, scored)?;
            match all.len() {
                _ if all.contains(&Source::Nothing) => Source::Nothing,
                1 => all.remove(0),
                _ => Source::Near(all, *slop, *in_order),
            }
        }
        Span::Or(clauses) => or(all(binder, clauses, leaves, scored)?),
        Span::Not { include, exclude, pre, post } => {
            let include = of_span(binder, include, leaves, scored)?;
            let exclude = of_span(binder, exclude, leaves, &mut None)?;
            match (include, exclude) {
                (Source::Nothing, _) => Source::Nothing,
                (include, Source::Nothing) => include,
                (include, exclude) => {
                    Source::Not(Box::new(include), Box::new(exclude), *pre, *post)
                }
            }
        }
        Span::First(inner, end) => match of_span(binder, inner, leaves, scored)? {
            Source::Nothing => Source::Nothing,
            inner => Source::First(Box::new(inner), *end),
        },
        Span::Containing(big, little) | Span::Within(big, little) => {
            let big = of_span(binder, big, leaves, scored)?;
            let little = of_span(binder, little, leaves, scored)?;
            if big == Source::Nothing || little == Source::Nothing {
                return Ok(Source::Nothing);
            }
            match query {
                Span::Containing(..) => {
                    Source::Lies(Box::new(big), Lies::Containing, Box::new(little))
                }
                _ => Source::Lies(Box::new(little), Lies::ContainedBy, Box::new(big)),
            }
        }
        Span::Multi(query) => {
            let Some((field, leaf)) = multi(binder, &query.node)? else {
                return Ok(Source::Nothing);
            };
            leaves.push(leaf);
            scored.get_or_insert(field);
            Source::Leaf(leaves.len() - 1)
        }
        Span::Masked(inner, name) => {
            let found = of_span(binder, inner, leaves, &mut None)?;
            if let Some(field) = binder.field(name) {
                scored.get_or_insert(field);
            }
            found
        }
    })
}

/// The field and the terms of a query on many terms: all of them, but where `rewrite` (or a fuzzy query)
/// takes the best.
fn multi(binder: &mut Binder<'_>, node: &ast::Node) -> Result<Option<(Arc<Field>, Leaf)>> {
    let (name, rewrite) = match node {
        ast::Node::Prefix(query) | ast::Node::Wildcard(query) => (&query.field, &query.rewrite),
        ast::Node::Regexp(query) => (&query.field, &query.rewrite),
        ast::Node::Fuzzy(query) => (&query.field, &query.options.rewrite),
        ast::Node::Range(query) => (&query.field, &None),
        _ => return Err(no_pattern()),
    };
    let best = match node {
        ast::Node::Fuzzy(query) => Rewrite::TopBlended(query.options.max_expansions),
        _ => Rewrite::Scoring,
    };
    let rewrite = match Rewrite::parse(rewrite.as_deref(), best)?.most() {
        Some(most) => Rewrite::Top(most),
        None => Rewrite::Scoring,
    };
    let Some(field) = binder.field(name) else { return Ok(None) };
    let mut near = None;
    let (pattern, text) = match node {
        ast::Node::Prefix(query) => {
            let value = leaf::normalized(&field, &query.value);
            let (prefix, case_insensitive) = (value.as_bytes().into(), query.case_insensitive);
            (Pattern::Prefix { prefix, case_insensitive }, format!("{value}*"))
        }
        ast::Node::Wildcard(query) => {
            let value = words::shape_by(&query.value, |part| leaf::normalized(&field, part));
            (Pattern::Wildcard(Wildcard::new(&value, query.case_insensitive)), value)
        }
        ast::Node::Regexp(query) => {
            let value = leaf::normalized(&field, &query.value);
            let limit = query.max_determinized_states;
            let dfa =
                binder.automata().expression(&value, query.flags, query.case_insensitive, limit)?;
            (Pattern::of_automaton(dfa), format!("/{value}/"))
        }
        ast::Node::Fuzzy(query) => {
            let value = leaf::normalized(&field, query.value.text());
            let edits = query.options.fuzziness.unwrap_or(ast::Fuzziness::AUTO).edits(&value);
            let (prefix, swaps) = (query.options.prefix_length, query.options.transpositions);
            let dfa =
                binder.automata().near(&value, prefix as usize, edits, swaps)?.unwrap_or_default();
            near = Some(Near {
                word: value.chars().collect(),
                prefix: prefix as usize,
                transpositions: swaps,
                edits,
            });
            (Pattern::of_automaton(dfa), format!("{value}~{edits}"))
        }
        ast::Node::Range(query) => match leaf::range(binder, query)? {
            Node::Pattern { pattern, .. } => ((*pattern).clone(), "a range".to_owned()),
            _ => return Err(no_pattern()),
        },
        _ => return Err(no_pattern()),
    };
    let refusal = format!(
        "[{name}:{text} ] exceeds maxClauseCount [ Boolean maxClauseCount is set to {CLAUSES_MAX}]"
    );
    let leaf = expansion(&field, pattern, rewrite, near, &refusal);
    Ok(Some((field, leaf)))
}

fn no_pattern() -> Error {
    Error::illegal("[span_multi] [match] must be of type multi term query")
}
