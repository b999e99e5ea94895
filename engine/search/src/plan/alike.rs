//! `more_like_this`: the words of texts and documents become a query.
//!
//! As Elasticsearch does: documents are a query of their own, of all fields; texts are another, read as the first field
//! reads them, whose words are each looked for in the field that has them in most documents. Which of the words count
//! is told by the shard, which knows how common they are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::FieldNo;
use json::Value;
use mapping::analysis::{ON, STOP, Scratch};
use mapping::{Field, Kind as Type};

use crate::ast::{self, Like};
use crate::error::{Error, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Alike, AlikeWords, Bool, Clause, Node};
use crate::plan::{leaf, minimum, rewrite, text};

/// Words of one request that are looked at.
const WORDS_MAX: usize = 100_000;

/// Bytes of the different words of a field in one text, at most.
const WORDS_BYTES_MAX: usize = 16 << 20;

/// Words of one text that are read, as in Lucene (`MoreLikeThis.DEFAULT_MAX_NUM_TOKENS_PARSED`); of documents all
/// are, for Elasticsearch compares their term vectors.
const TOKENS_MAX: usize = 5_000;

/// How often words of each field occur.
type Counts = BTreeMap<Arc<str>, BTreeMap<String, u32>>;

/// `more_like_this`.
pub fn more_like_this(binder: &mut Binder<'_>, query: &ast::MoreLikeThis) -> Result<Clause> {
    minimum::minimum(&query.minimum_should_match, 1)?;
    text::named(binder, "more_like_this", query.analyzer.as_deref())?;
    let mut fields = fields(binder, query)?;
    let given = query.like.iter().chain(&query.unlike).any(|it| matches!(it, Like::Doc(_, None)));
    let named = fields.len();
    if given {
        // Of a document that is given all fields count, as in Elasticsearch.
        for (_, field) in binder.expand("*") {
            let words = matches!(field.kind, Type::Text(_) | Type::Keyword(_)) && field.index;
            if words && !fields.iter().any(|known| known.path == field.path) {
                fields.push(field);
            }
        }
    }
    let mut groups = Vec::new();
    let mut not = Counts::new();
    for like in &query.unlike {
        count(binder, query, &fields, like, &mut not)?;
    }
    let mut docs = Counts::new();
    for like in query.like.iter().filter(|like| matches!(like, Like::Doc(..))) {
        count(binder, query, &fields, like, &mut docs)?;
    }
    let mut texts = Counts::new();
    for like in query.like.iter().filter(|like| matches!(like, Like::Text(_))) {
        count(binder, query, &fields[..named.min(1)], like, &mut texts)?;
    }
    let elsewhere = fields.iter().take(named).skip(1).map(|field| (field.no, field.has_norms()));
    let elsewhere: Vec<(FieldNo, bool)> = elsewhere.collect();
    for (counts, others) in [(docs, &[][..]), (texts, &elsewhere)] {
        let mut group = Vec::new();
        for (path, words) in counts {
            let Some(field) = fields.iter().find(|field| field.path == path) else { continue };
            let left = words.into_iter().filter(|(word, count)| {
                let unlike = not.get(&path).is_some_and(|not| not.contains_key(word));
                *count >= query.min_term_freq && !unlike && !is_noise(query, word)
            });
            let words: Vec<(Box<[u8]>, u32)> =
                left.map(|(word, count)| (word.into_bytes().into(), count)).collect();
            if !words.is_empty() {
                let (field, others) = ((field.no, field.has_norms()), others.to_vec());
                group.push(AlikeWords { field, others, words });
            }
        }
        if !group.is_empty() {
            groups.push(group);
        }
    }
    if groups.is_empty() {
        return Ok(Clause::none());
    }
    let words = groups.iter().flatten().map(|it| it.words.len() * (1 + it.others.len()));
    binder.compared += words.sum::<usize>();
    let alike = Alike {
        groups,
        most_terms: query.max_query_terms as usize,
        counted: binder.context.filter.is_none() && binder.context.seen.is_none(),
        least_docs: u64::from(query.min_doc_freq),
        most_docs: u64::from(query.max_doc_freq),
        boost: query.boost_terms,
        minimum: query.minimum_should_match.clone(),
    };
    let found: Clause = Node::Alike(Arc::new(alike)).into();
    let here = binder.context.index;
    let known: Vec<String> = query
        .known
        .iter()
        .filter(|(index, _)| index.as_ref().is_none_or(|index| index == here))
        .map(|(_, id)| id.clone())
        .collect();
    if query.include || known.is_empty() {
        return Ok(found);
    }
    let without =
        Bool { must: vec![found], must_not: vec![leaf::ids(&known).into()], ..Bool::default() };
    Ok(rewrite::simplify(without, 1.0))
}

/// The fields whose words are compared.
fn fields(binder: &Binder<'_>, query: &ast::MoreLikeThis) -> Result<Vec<Arc<Field>>> {
    let names = match &query.fields {
        Some(names) => names.clone(),
        None => vec!["*".to_owned()],
    };
    let (mut found, mut known): (Vec<Arc<Field>>, BTreeSet<Arc<str>>) = Default::default();
    for name in &names {
        let all = match name.contains('*') {
            true => binder.expand(name).into_iter().map(|(_, field)| field).collect(),
            false => binder.field(name).into_iter().collect::<Vec<_>>(),
        };
        for field in all {
            if !matches!(field.kind, Type::Text(_) | Type::Keyword(_)) {
                if query.fail_on_unsupported_field && !name.contains('*') {
                    return Err(Error::illegal(format!(
                        "more_like_this only supports text/keyword fields: [{}]",
                        field.path
                    )));
                }
                continue;
            }
            if field.index && known.insert(Arc::clone(&field.path)) {
                found.push(field);
            }
        }
    }
    Ok(found)
}

fn is_noise(query: &ast::MoreLikeThis, word: &str) -> bool {
    let len = word.chars().count() as u32;
    len < query.min_word_length
        || query.max_word_length > 0 && len > query.max_word_length
        || query.stop_words.iter().any(|stop| stop == word)
}

/// Counts the words of a text or document.
fn count(
    binder: &Binder<'_>,
    query: &ast::MoreLikeThis,
    fields: &[Arc<Field>],
    like: &Like,
    counts: &mut Counts,
) -> Result<()> {
    let own = text::named(binder, "more_like_this", query.analyzer.as_deref())?;
    let tokens_max = match like {
        Like::Text(_) => TOKENS_MAX,
        Like::Doc(..) | Like::Item { .. } => usize::MAX,
    };
    for field in fields {
        let mut texts = Vec::new();
        match like {
            Like::Text(text) => texts.push(text.clone()),
            Like::Doc(doc, wanted) => {
                let wants = wanted
                    .as_ref()
                    .is_none_or(|names| names.iter().any(|name| *name == *field.path));
                if wants {
                    values(binder, doc, &field.path, &mut texts);
                }
            }
            Like::Item { .. } => {}
        }
        let words = counts.entry(Arc::clone(&field.path)).or_default();
        for text in texts {
            match &field.kind {
                Type::Text(kind) => {
                    let analyzer = own.as_ref().unwrap_or(&kind.analyzer);
                    let (mut bytes, mut read) = (0, 0);
                    let done = analyzer.tokens_with(&text, &mut Scratch::default(), |token| {
                        read += 1;
                        if read > tokens_max {
                            return STOP;
                        }
                        match words.get_mut(token.term) {
                            Some(count) => *count += 1,
                            None => {
                                words.insert(token.term.to_owned(), 1);
                                bytes += token.term.len();
                            }
                        }
                        let fits = words.len() <= WORDS_MAX && bytes <= WORDS_BYTES_MAX;
                        if fits { ON } else { STOP }
                    });
                    if words.len() > WORDS_MAX {
                        return Err(Error::illegal("too many words to compare"));
                    }
                    if bytes > WORDS_BYTES_MAX || done.lacks_room {
                        return Err(Error::too_large("words to compare", WORDS_BYTES_MAX));
                    }
                }
                _ => *words.entry(leaf::normalized(field, &text)).or_default() += 1,
            }
        }
    }
    Ok(())
}

/// The texts of a field in a document: of a multi-field those of its parent.
fn values(binder: &Binder<'_>, doc: &Value, path: &str, out: &mut Vec<String>) {
    let before = out.len();
    let parts: Vec<&str> = path.split('.').collect();
    collect(doc, &parts, out);
    if out.len() == before
        && let Some((parent, _)) = path.rsplit_once('.')
        && binder.field(parent).is_some()
    {
        let parts: Vec<&str> = parent.split('.').collect();
        collect(doc, &parts, out);
    }
}

/// Calls `each` for the scalars that stand at a path, those of lists each.
pub fn at_path(value: &Value, path: &[&str], each: &mut dyn FnMut(&Value)) {
    match (value, path) {
        (Value::Array(items), _) => items.iter().for_each(|item| at_path(item, path, each)),
        (Value::Object(object), [_, ..]) => {
            // A key may hold dots of its own.
            for (key, inner) in object.iter() {
                let parts = key.split('.').count();
                if parts <= path.len() && key.split('.').eq(path[..parts].iter().copied()) {
                    at_path(inner, &path[parts..], each);
                }
            }
        }
        (Value::Bool(_) | Value::Number(_) | Value::String(_), []) => each(value),
        _ => {}
    }
}

fn collect(value: &Value, path: &[&str], out: &mut Vec<String>) {
    at_path(value, path, &mut |value| match value {
        Value::String(text) => out.push(text.clone()),
        Value::Number(number) => out.push(number.text().to_owned()),
        Value::Bool(flag) => out.push(flag.to_string()),
        _ => {}
    });
}
