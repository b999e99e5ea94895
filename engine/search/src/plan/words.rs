//! Single terms that are described: `prefix`, `wildcard`, `regexp`, `fuzzy`; and `terms_set`.

use std::sync::Arc;

use mapping::{Field, Kind as Type, TextFlavor};

use crate::ast::{self, Fuzziness, FuzzyOptions};
use crate::error::{Error, Kind, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Access, Clause, Node, Pattern};
use crate::plan::expand::{Expand, Near, Rewrite};
use crate::plan::leaf;
use base::wildcard::Wildcard;

/// Words that a fuzzy word may become, whatever is asked for.
const EXPANSIONS_MAX: u32 = 1024;

/// Longest word that is compared by edits, in characters.
const WORD_MAX: usize = 1024;

/// `prefix`.
pub fn prefix(binder: &mut Binder<'_>, query: &ast::Pattern) -> Result<Clause> {
    let Some(field) = binder.field(&query.field) else {
        return Ok(match query.field.as_str() {
            "_index" => leaf::index_where(binder, |name| name.starts_with(&query.value)).into(),
            _ => Clause::none(),
        });
    };
    check_words(&field, "prefix", "keyword, text and wildcard")?;
    let value = leaf::normalized(&field, &query.value);
    prefix_of(binder, &field, &value, query.case_insensitive, query.rewrite.as_deref())
}

/// Terms of a field that begin so.
pub fn prefix_of(
    binder: &mut Binder<'_>,
    field: &Field,
    value: &str,
    case_insensitive: bool,
    rewrite: Option<&str>,
) -> Result<Clause> {
    check_words(field, "prefix", "keyword, text and wildcard")?;
    if let Some(beginnings) = indexed_prefix(field, value, case_insensitive, rewrite) {
        return Ok(beginnings);
    }
    check_expensive(binder, field, "prefix")?;
    // Terms of one key of a `flattened` begin with the key.
    let prefix = [field.term_prefix().unwrap_or_default().as_slice(), value.as_bytes()].concat();
    let prefix = Pattern::Prefix { prefix: prefix.into(), case_insensitive };
    described(field, prefix, Rewrite::parse(rewrite, Rewrite::Constant)?)
}

/// A prefix that is a term of its own (`index_prefixes`).
fn indexed_prefix(
    field: &Field,
    value: &str,
    case_insensitive: bool,
    rewrite: Option<&str>,
) -> Option<Clause> {
    let Type::Text(text) = &field.kind else { return None };
    let (least, most) = text.index_prefixes?;
    let part = field.part("_index_prefix")?;
    let fits = (least as usize..=most as usize).contains(&value.chars().count());
    if !fits || case_insensitive || !matches!(rewrite, None | Some("constant_score")) {
        return None;
    }
    let access = Access { index: true, column: false };
    Some(Node::Terms { field: part.no, access, terms: [value.as_bytes().into()].into() }.into())
}

/// `wildcard`.
pub fn wildcard(binder: &mut Binder<'_>, query: &ast::Pattern) -> Result<Clause> {
    let Some(field) = binder.field(&query.field) else {
        return Ok(match query.field.as_str() {
            "_index" => {
                let shape = Wildcard::new(&query.value, query.case_insensitive);
                leaf::index_where(binder, |name| shape.matches(name)).into()
            }
            _ => Clause::none(),
        });
    };
    check_words(&field, "wildcard", "keyword, text and wildcard")?;
    let value = shape_by(&query.value, |part| leaf::normalized(&field, part));
    wildcard_of(binder, &field, &value, query.case_insensitive, query.rewrite.as_deref())
}

/// The terms of a field that have a shape.
pub fn wildcard_of(
    binder: &mut Binder<'_>,
    field: &Field,
    value: &str,
    case_insensitive: bool,
    rewrite: Option<&str>,
) -> Result<Clause> {
    check_words(field, "wildcard", "keyword, text and wildcard")?;
    check_keyed(field, "wildcard")?;
    check_expensive(binder, field, "wildcard")?;
    let shape = Wildcard::new(value, case_insensitive);
    let rewrite = Rewrite::parse(rewrite, Rewrite::Constant)?;
    // A text without words is there, and has no term that could match.
    let each_has_terms = !matches!(field.kind, Type::Text(_));
    if shape.is_any() && each_has_terms && rewrite == Rewrite::Constant {
        return Ok(leaf::exists(binder, &field.path)?.into());
    }
    described(field, Pattern::Wildcard(shape), rewrite)
}

/// A shape whose plain parts are changed; `*`, `?` and what is escaped stay.
pub fn shape_by(shape: &str, mut change: impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(shape.len());
    let mut word = String::new();
    let mut chars = shape.chars();
    while let Some(c) = chars.next() {
        if !matches!(c, '*' | '?' | '\\') {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            out.push_str(&change(&word));
            word.clear();
        }
        out.push(c);
        if c == '\\' {
            out.extend(chars.next());
        }
    }
    if !word.is_empty() {
        out.push_str(&change(&word));
    }
    out
}

/// `regexp`.
pub fn regexp(binder: &mut Binder<'_>, query: &ast::Regexp) -> Result<Clause> {
    let length = query.value.encode_utf16().count();
    let most = binder.context.regexp_max;
    if length > most {
        return Err(Error::illegal(format!(
            "The length of regex [{length}] used in the Regexp Query request has exceeded the \
             allowed maximum of [{most}]. This maximum can be set by changing the \
             [index.max_regex_length] index level setting."
        )));
    }
    let Some(field) = binder.field(&query.field) else { return Ok(Clause::none()) };
    let value = leaf::normalized(&field, &query.value);
    regexp_of(binder, &field, &ast::Regexp { value, ..query.clone() })
}

/// The terms of a field that an expression matches.
pub fn regexp_of(binder: &mut Binder<'_>, field: &Field, query: &ast::Regexp) -> Result<Clause> {
    check_words(field, "regexp", "keyword and text")?;
    check_keyed(field, "regexp")?;
    check_expensive(binder, field, "regexp")?;
    let limit = query.max_determinized_states;
    let dfa =
        binder.automata().expression(&query.value, query.flags, query.case_insensitive, limit)?;
    let rewrite = Rewrite::parse(query.rewrite.as_deref(), Rewrite::Constant)?;
    if dfa.is_empty() {
        return Ok(Clause::none());
    }
    described(field, Pattern::of_automaton(dfa), rewrite)
}

/// `fuzzy`.
pub fn fuzzy_term(binder: &mut Binder<'_>, query: &ast::FuzzyTerm) -> Result<Clause> {
    let rewrite = Rewrite::parse(query.options.rewrite.as_deref(), Rewrite::Constant);
    rewrite?;
    let Some(field) = binder.field(&query.field) else { return Ok(Clause::none()) };
    let value = leaf::normalized(&field, query.value.text());
    let fuzziness = query.options.fuzziness.unwrap_or(Fuzziness::AUTO);
    let found = fuzzy(binder, &field, &value, fuzziness, &query.options)?;
    match query.flaw {
        Some(flaw) => Err(Error::illegal(flaw)),
        None => Ok(found),
    }
}

/// Terms of a field that are near a word.
pub fn fuzzy(
    binder: &mut Binder<'_>,
    field: &Arc<Field>,
    word: &str,
    fuzziness: Fuzziness,
    options: &FuzzyOptions,
) -> Result<Clause> {
    if !matches!(field.kind, Type::Text(_) | Type::Keyword(_) | Type::Flattened(_)) {
        return Err(Error::illegal(format!(
            "Can only use fuzzy queries on keyword and text fields - not on [{}] which is of type \
             [{}]",
            field.path,
            field.type_name()
        )));
    }
    check_keyed(field, "fuzzy")?;
    check_expensive(binder, field, "fuzzy")?;
    let edits = fuzziness.edits(word);
    let most = options.max_expansions.min(EXPANSIONS_MAX);
    let rewrite = Rewrite::parse(options.rewrite.as_deref(), Rewrite::TopBlended(most))?;
    let chars: Vec<char> = word.chars().collect();
    let is_version = field.type_name() == "version";
    if edits == 0 || options.max_expansions == 0 || chars.len() > WORD_MAX {
        return match is_version {
            true => leaf::text_term(binder, field, word).map(Clause::new),
            false => leaf::word(binder, field, word).map(Clause::new),
        };
    }
    let prefix = options.prefix_length as usize;
    let Some(dfa) = binder.automata().near(word, prefix, edits, options.transpositions)? else {
        return Ok(Clause::none());
    };
    let access = leaf::check_access(field)?;
    // How near a version is cannot be told from its term.
    if !access.index || is_version {
        return leaf::pattern(field, Pattern::of_automaton(dfa).of_texts(field)).map(Clause::new);
    }
    let near = Node::Expand(Arc::new(Expand {
        field: field.no,
        pattern: Arc::new(Pattern::of_automaton(dfa)),
        norms: field.has_norms(),
        rewrite,
        near: Some(Near { word: chars, prefix, transpositions: options.transpositions, edits }),
    }));
    Ok(match &field.kind {
        Type::Text(text) if text.flavor == TextFlavor::MatchOnly => {
            Node::Constant(Box::new(near.into())).into()
        }
        _ => near.into(),
    })
}

/// Terms of a pattern, scored as asked for.
fn described(field: &Field, pattern: Pattern, rewrite: Rewrite) -> Result<Clause> {
    let pattern = pattern.of_texts(field);
    let access = leaf::check_access(field)?;
    if rewrite == Rewrite::Constant || !access.index {
        return leaf::pattern(field, pattern).map(Clause::new);
    }
    Ok(Node::Expand(Arc::new(Expand {
        field: field.no,
        pattern: Arc::new(pattern),
        norms: field.has_norms(),
        rewrite,
        near: None,
    }))
    .into())
}

fn check_words(field: &Field, query: &str, kinds: &str) -> Result<()> {
    if matches!(field.kind, Type::Text(_) | Type::Keyword(_) | Type::Flattened(_)) {
        return Ok(());
    }
    Err(Error::shard(format!(
        "Can only use {query} queries on {kinds} fields - not on [{}] which is of type [{}]",
        field.path,
        field.type_name()
    )))
}

/// Terms of one key of a `flattened` are compared from their begin alone.
fn check_keyed(field: &Field, query: &str) -> Result<()> {
    if field.term_prefix().is_none() {
        return Ok(());
    }
    Err(Error::new(
        Kind::Unsupported,
        format!("[{query}] queries are not currently supported on keyed [flattened] fields."),
    ))
}

/// `search.allow_expensive_queries`.
fn check_expensive(binder: &Binder<'_>, field: &Field, query: &str) -> Result<()> {
    if binder.context.expensive {
        return Ok(());
    }
    let more = match query {
        "prefix" if matches!(field.kind, Type::Text(_)) => {
            " For optimised prefix queries on text fields please enable [index_prefixes]."
        }
        _ => "",
    };
    Err(Error::new(
        Kind::Exception,
        format!(
            "[{query}] queries cannot be executed when 'search.allow_expensive_queries' is set to \
             false.{more}"
        ),
    ))
}
