//! Fields of the system's in queries: which of them hold words that any query of words finds, and
//! what the others refuse, in Elasticsearch's words.
//!
//! | field                                            | what finds it                            |
//! |--------------------------------------------------|------------------------------------------|
//! | `_routing`, `_ignored`                           | all that finds a keyword                 |
//! | `_index`                                         | `term`, `terms`, `prefix`, `wildcard`    |
//! | `_seq_no`                                        | `term`, `terms`, `range`                 |
//! | `_id`, `_field_names`                            | `term`, `terms`                          |
//! | `_version`, `_source`, `_doc_count`              | nothing                                  |
//!
//! The finding itself stands beside that of other fields, in `leaf` and `words`.

use std::sync::{Arc, LazyLock};

use base::FieldNo;
use mapping::{Field, IndexOptions, Keyword, KeywordFlavor, Kind as Type, Mapping};

use crate::ast::{Node as Ask, Range};
use crate::error::{Error, Kind, Result};

/// What a field of the system's holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Words of each document.
    Words,
    /// One word for all documents of an index.
    Constant,
    /// Numbers.
    Numbers,
    /// Exact terms.
    Terms,
    /// Nothing that is looked for.
    Nothing,
}

fn holds(name: &str) -> Option<Holds> {
    Some(match name {
        "_routing" | "_ignored" | "_nested_path" => Holds::Words,
        "_index" => Holds::Constant,
        "_seq_no" => Holds::Numbers,
        "_id" | "_field_names" => Holds::Terms,
        "_version" | "_source" | "_doc_count" => Holds::Nothing,
        _ => return None,
    })
}

static ROUTING: LazyLock<Arc<Field>> = LazyLock::new(|| words_of("_routing", FieldNo::ROUTING));
static IGNORED: LazyLock<Arc<Field>> = LazyLock::new(|| words_of("_ignored", FieldNo::IGNORED));

/// A field of the system's whose words stand in a column, as if it were a keyword. Whoever may not see
/// all fields finds nothing in `_ignored`, which names them.
pub fn words(name: &str, mapping: &Mapping) -> Option<Arc<Field>> {
    match name {
        "_routing" => Some(Arc::clone(&ROUTING)),
        _ => column(name, mapping),
    }
}

/// A field of the system's whose words stand in a column that searches may read, to sort, group and
/// show by: since Elasticsearch 8.15, what was ignored.
pub fn column(name: &str, mapping: &Mapping) -> Option<Arc<Field>> {
    (name == "_ignored" && !mapping.is_reduced()).then(|| Arc::clone(&IGNORED))
}

fn words_of(name: &str, no: FieldNo) -> Arc<Field> {
    Arc::new(Field {
        no,
        path: name.into(),
        kind: Type::Keyword(Keyword {
            ignore_above: None,
            null_value: None,
            normalizer: None,
            eager_global_ordinals: false,
            flavor: KeywordFlavor::Keyword,
            norms: false,
            index_options: IndexOptions::Docs,
            split_queries_on_whitespace: false,
            similarity: None,
        }),
        index: false,
        doc_values: true,
        store: false,
        copy_to: Vec::new(),
        multi_fields: Vec::new(),
        parts: Vec::new(),
        meta: None,
    })
}

/// Refuses a query that its field of the system's cannot answer.
///
/// # Errors
/// As Elasticsearch, whether an index has documents or not.
pub fn check(node: &Ask) -> Result<()> {
    match node {
        Ask::Term(query) => {
            check_case(&query.field, query.case_insensitive)?;
            check_searchable(&query.field)
        }
        Ask::Terms(query) => check_searchable(&query.field),
        Ask::Range(query) => check_range(query),
        Ask::Exists(field) => check_exists(field),
        Ask::Prefix(query) => described(&query.field, "prefix"),
        Ask::Wildcard(query) => described(&query.field, "wildcard"),
        Ask::Regexp(query) => described(&query.field, "regexp"),
        Ask::Fuzzy(query) => fuzzy(&query.field),
        Ask::Match(query) => {
            if query.fuzzy.fuzziness.is_some() {
                fuzzy(&query.field)?;
            }
            check_searchable(&query.field)
        }
        Ask::Phrase(query) => check_searchable(&query.field),
        Ask::PhrasePrefix(query) => only_text(&query.phrase.field, "phrase prefix"),
        Ask::Intervals(query) => only_text(&query.field, "interval"),
        Ask::RankFeature(query) if holds(&query.field).is_some() => Err(Error::illegal(format!(
            "[rank_feature] query only works on [rank_feature] fields and features of \
             [rank_features] fields, not [{}]",
            query.field
        ))),
        Ask::DistanceFeature(query) if holds(&query.field).is_some() => {
            Err(Error::illegal(format!(
                "Illegal data type of [{}]![distance_feature] query can only be run on a date, \
                 date_nanos or geo_point field type!",
                query.field
            )))
        }
        _ => Ok(()),
    }
}

fn check_case(name: &str, case_insensitive: bool) -> Result<()> {
    match holds(name) {
        Some(Holds::Numbers | Holds::Nothing) if case_insensitive => Err(Error::shard(format!(
            "[{name}] field which is of type [{name}], does not support case insensitive term \
             queries"
        ))),
        _ => Ok(()),
    }
}

fn check_searchable(name: &str) -> Result<()> {
    match name {
        "_version" | "_source" => Err(Error::shard(format!("The {name} field is not searchable"))),
        "_doc_count" => {
            Err(Error::shard(format!("Field [{name}] of type [{name}] is not searchable")))
        }
        _ => Ok(()),
    }
}

fn check_range(query: &Range) -> Result<()> {
    let name = &query.field;
    if query.lower.is_none() && query.upper.is_none() {
        // It asks whether the field is there.
        return check_exists(name);
    }
    match holds(name) {
        Some(Holds::Constant | Holds::Terms | Holds::Nothing) => Err(Error::illegal(format!(
            "Field [{name}] of type [{name}] does not support range queries"
        ))),
        _ => Ok(()),
    }
}

fn check_exists(name: &str) -> Result<()> {
    let reason = match name {
        "_nested_path" => "Cannot run exists() query against the nested field path",
        "_field_names" => "Cannot run exists query on _field_names",
        "_source" => return check_searchable(name),
        _ => return Ok(()),
    };
    Err(Error::new(Kind::Unsupported, reason))
}

/// A query that describes words.
fn described(name: &str, query: &str) -> Result<()> {
    let (takes_constant, kinds) = match query {
        "regexp" => (false, "keyword and text"),
        _ => (true, "keyword, text and wildcard"),
    };
    match holds(name) {
        None | Some(Holds::Words) => Ok(()),
        Some(Holds::Constant) if takes_constant => Ok(()),
        Some(_) => Err(Error::shard(not_on(name, query, kinds))),
    }
}

fn fuzzy(name: &str) -> Result<()> {
    match holds(name) {
        None | Some(Holds::Words) => Ok(()),
        Some(_) => Err(Error::illegal(not_on(name, "fuzzy", "keyword and text"))),
    }
}

fn only_text(name: &str, query: &str) -> Result<()> {
    match holds(name) {
        None => Ok(()),
        Some(_) => Err(Error::illegal(not_on(name, query, "text"))),
    }
}

fn not_on(name: &str, query: &str, kinds: &str) -> String {
    format!(
        "Can only use {query} queries on {kinds} fields - not on [{name}] which is of type [{name}]"
    )
}
