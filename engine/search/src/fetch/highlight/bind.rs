//! Which fields of an index a request wants highlighted, and what of each.
//!
//! A request names a thousand fields, each a pattern that may mean all of an index, each with as many fields whose
//! matches count too: what is the same for many is made once and shared, and what is not is counted
//! ([`effort::may_hold`]).

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use base::FieldNo;
use base::hash::Map;
use mapping::analysis::{Analyzer, Tokenizer, effort};
use mapping::{Field, Kind as Type, Mapping};

use super::find::{Looks, Wanted};
use super::{Cut, Marks, One, Style};
use crate::error::{Error, Result};
use crate::fetch::wanted;
use crate::highlight::{FieldHighlight, Options};
use crate::plan::bound::Clause;
use crate::plan::{Context, bind_query};
use crate::request::SearchRequest;

/// A query that is marked.
struct Asked {
    bound: Clause,
    /// What it asks of any field, once somebody wants that.
    of_all: Option<Arc<Wanted>>,
}

/// Fields whose matches count as another's.
#[derive(Default)]
struct Matched {
    /// Their numbers, with what their types make beside them.
    all: BTreeSet<FieldNo>,
    /// How they are cut, each way once, and which field is, where only one is.
    cuts: Vec<(Cut, Option<FieldNo>)>,
}

impl Matched {
    fn of(options: &Options, mapping: &Mapping) -> Self {
        let mut matched = Self::default();
        let mut places: Map<(usize, u32), usize> = Map::default();
        let mut seen = BTreeSet::new();
        for name in &options.matched_fields {
            for (_, field) in mapping.expand_names(name) {
                if !seen.insert(field.no) {
                    continue;
                }
                matched.all.extend(fields_of(&field));
                let Some(cut) = cut_of(&field) else { continue };
                let next = matched.cuts.len();
                let key = (Arc::as_ptr(&cut.0).addr(), cut.1);
                match *places.entry(key).or_insert(next) {
                    at if at == next => matched.cuts.push((cut, Some(field.no))),
                    at => matched.cuts[at].1 = None,
                }
            }
        }
        matched
    }
}

impl Marks {
    /// Finds the fields that a request wants highlighted.
    ///
    /// # Errors
    /// A query that looks for what is marked and cannot be asked; it belongs to each shard of the index.
    pub fn bind(request: &SearchRequest, mapping: &Mapping, context: &Context<'_>) -> Result<Self> {
        let mut marks = Self {
            fields: Vec::new(),
            offset_max: context.highlight_max,
            whole: context.highlight_whole,
            index: context.index.into(),
            failed: None,
        };
        let Some(highlight) = &request.highlight else { return Ok(marks) };
        let common = highlight.query.as_deref().or(request.query.as_ref());
        let mut shared = None;
        // Of a field that several mean the last counts, in the place of the first.
        let mut places: Map<Arc<str>, usize> = Map::default();
        for wanted in &highlight.fields {
            let mut own = None;
            let (query, asked) = match &wanted.query {
                Some(query) => (Some(query), &mut own),
                None => (common, &mut shared),
            };
            let mut matched = None;
            for (name, field) in mapping.expand_names(&wanted.field) {
                let Some(cut) = cut_of(&field) else { continue };
                let Some(style) = marks.style(wanted, &name, &field) else { continue };
                let mut one = One {
                    sources: wanted::sources(&field, mapping),
                    name,
                    field,
                    options: Arc::clone(&wanted.options),
                    wanted: Arc::default(),
                    others: Vec::new(),
                    style,
                    analyzer: cut.0,
                    gap: cut.1,
                };
                if let Some(query) = query {
                    if asked.is_none() {
                        let bound = bind_query(query, mapping, context)?;
                        *asked = Some(Asked { bound, of_all: None });
                    }
                    let matched =
                        matched.get_or_insert_with(|| Matched::of(&wanted.options, mapping));
                    if let Some(asked) = asked {
                        one.look(asked, matched, mapping);
                    }
                }
                if !effort::may_hold(one.held_bytes()) {
                    // It is dropped.
                    return Ok(marks);
                }
                let next = marks.fields.len();
                match *places.entry(Arc::clone(&one.name)).or_insert(next) {
                    at if at == next => marks.fields.push(one),
                    at => marks.fields[at] = one,
                }
            }
        }
        Ok(marks)
    }

    /// How a field is marked, where it can be.
    fn style(&mut self, wanted: &FieldHighlight, name: &str, field: &Field) -> Option<Style> {
        match &*wanted.options.kind {
            "unified" => Some(Style::Unified),
            "plain" => Some(Style::Plain),
            "fvh" if has_vectors(field) => Some(Style::Vectors),
            "fvh" => {
                if !wanted.field.contains('*') {
                    self.failed.get_or_insert_with(|| {
                        Error::illegal(format!(
                            "the field [{name}] should be indexed with term vector with position \
                             offsets to be used with fast vector highlighter"
                        ))
                    });
                }
                None
            }
            kind => {
                self.failed.get_or_insert_with(|| {
                    Error::illegal(format!(
                        "unknown highlighter type [{kind}] for the field [{name}]"
                    ))
                });
                None
            }
        }
    }
}

impl One {
    /// Finds what a query asks of it.
    fn look(&mut self, asked: &mut Asked, matched: &Matched, mapping: &Mapping) {
        let own = fields_of(&self.field);
        let is_any = !self.options.require_field_match;
        let fits = |no| is_any || own.contains(&no) || matched.all.contains(&no);
        let begins = |no| mapping.field_by_no(no).is_some_and(|field| field.is_of_beginnings());
        let looks = Looks { of: &fits, begins: &begins };
        self.wanted = match is_any {
            true => {
                let find = || Arc::new(Wanted::of(&asked.bound, &looks));
                Arc::clone(asked.of_all.get_or_insert_with(find))
            }
            false => Arc::new(Wanted::of(&asked.bound, &looks)),
        };
        if self.style != Style::Plain {
            let others = matched.cuts.iter().filter(|(_, only)| *only != Some(self.field.no));
            self.others = others.map(|(cut, _)| cut.clone()).collect();
        }
    }

    /// About how much memory it takes beside what others hold, too.
    fn held_bytes(&self) -> usize {
        let wanted =
            if Arc::strong_count(&self.wanted) == 1 { self.wanted.held_bytes() } else { 0 };
        let sources: usize = self.sources.iter().map(|path| path.len()).sum();
        size_of::<Self>() + wanted + sources + self.others.len() * size_of::<Cut>()
    }
}

/// How the text of a field is cut; only text and keywords are highlighted.
pub(super) fn cut_of(field: &Field) -> Option<Cut> {
    static PLAIN: LazyLock<Arc<Analyzer>> =
        LazyLock::new(|| Arc::new(Analyzer::new("keyword", Tokenizer::Keyword, Vec::new())));
    match &field.kind {
        Type::Text(text) => Some((Arc::clone(&text.analyzer), text.position_increment_gap)),
        Type::Keyword(keyword) => {
            let own = keyword.normalizer.clone();
            Some((own.unwrap_or_else(|| Arc::clone(&PLAIN)), 0))
        }
        _ => None,
    }
}

fn has_vectors(field: &Field) -> bool {
    matches!(&field.kind, Type::Text(text) if text.term_vector.as_deref()
        .is_some_and(|kept| kept.starts_with("with_positions_offsets")))
}

/// A field, with what its type makes beside it.
fn fields_of(field: &Field) -> Vec<FieldNo> {
    let parts = field.parts.iter().map(|part| part.no);
    std::iter::once(field.no).chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use json::json;
    use mapping::analysis::effort::within;

    use super::*;
    use crate::dsl::parse_search;

    const FIELDS: usize = 200;

    fn bound(body: &json::Value) -> Result<Marks> {
        let fields = (0..FIELDS).map(|at| {
            let kind = if at % 2 == 0 { "text" } else { "keyword" };
            (format!("f{at:03}"), json!({"type": kind}))
        });
        let mappings = json!({"properties": (json::Value::Object(fields.collect()))});
        let mapping = Mapping::parse(&mappings, Arc::default()).expect("a mapping");
        let request = parse_search(json::to_string(body).as_bytes(), &[]).expect("reads well");
        Marks::bind(&request, &mapping, &Context::new("i", 0))
    }

    /// One request over a thousand fields, each with a thousand whose matches count too, took all memory there was.
    #[test]
    fn what_many_fields_share_is_there_once() {
        let any = json!({"matched_fields": (vec!["*"; 50]), "require_field_match": false});
        let marks = bound(&json!({
            "query": {"match": {"f000": "word"}},
            "highlight": {"pre_tags": ["<b>"], "post_tags": ["</b>"],
                "fields": (vec![json!({"*": any}); 10])}
        }));
        let marks = marks.expect("binds");
        assert_eq!(marks.fields.len(), FIELDS);
        let first = &marks.fields[0];
        for one in &marks.fields {
            assert!(Arc::ptr_eq(&one.wanted, &first.wanted), "{}", one.name);
            assert!(Arc::ptr_eq(&one.options, &first.options), "{}", one.name);
            // Texts are cut in one way, keywords in another.
            assert_eq!(one.others.len(), 2, "{}", one.name);
        }
    }

    /// A field stood in the answer as often as patterns meant it.
    #[test]
    fn of_a_field_that_several_mean_the_last_counts() {
        let marks = bound(&json!({
            "query": {"match": {"f000": "word"}},
            "highlight": {"fields": [{"f001": {}}, {"f00*": {"no_match_size": 7}}, {"f000": {"type": "plain"}}]}
        }));
        let marks = marks.expect("binds");
        let told: Vec<(&str, u32)> =
            marks.fields.iter().map(|one| (&*one.name, one.options.no_match_size)).collect();
        assert_eq!(told[..3], [("f001", 7), ("f000", 0), ("f002", 7)]);
        assert_eq!((told.len(), marks.fields[1].style), (10, Style::Plain));
    }

    /// A field whose own matches alone are named beside it is not looked through twice.
    #[test]
    fn a_field_is_no_other_of_itself() {
        let fields = json!({"f000": {"matched_fields": ["f000"]}, "f002": {"matched_fields": ["f000", "f001"]}});
        let marks =
            bound(&json!({"query": {"match": {"f000": "x"}}, "highlight": {"fields": fields}}));
        let others: Vec<usize> =
            marks.expect("binds").fields.iter().map(|one| one.others.len()).collect();
        assert_eq!(others, [0, 2]);
    }

    /// A query of its own for each of many patterns is held for each field.
    #[test]
    fn what_is_held_is_counted() {
        let words = "word ".repeat(50);
        let own = json!({"matched_fields": ["*"], "highlight_query": {"match": {"f000": words}}});
        let body = |count: usize| {
            let fields = vec![json!({"*": (own.clone())}); count];
            json!({"highlight": {"fields": fields}})
        };
        let steps = 16 << 20;
        assert!(within(steps, || bound(&body(2))).is_ok_and(|(marks, _)| marks.is_ok()));
        assert!(within(steps, || bound(&body(200))).is_err());
    }
}
