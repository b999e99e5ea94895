//! Which fields of a mapping `fields` and `stored_fields` ask for.
//!
//! Why apart: a request may bring thousands of patterns, and a mapping thousands of fields. The patterns
//! are matched together, once for each field, and each field is wanted once.
//!
//! Always true
//! 1. Of a field that is asked for twice the last entry counts whose format it has: it tells the format
//!    and the place.
//! 2. What is wrong is told of the first entry with which something is.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::hash::Map;
use json::path::Globs;
use mapping::types::DateFormat;
use mapping::types::range::RangeKind;
use mapping::{Field, Kind as Type, Mapping};

use crate::error::{Error, Result};
use crate::request::FieldFormat;

/// One field.
#[derive(Debug)]
pub(super) struct One {
    /// The name it is shown under.
    pub(super) name: Arc<str>,
    pub(super) field: Arc<Field>,
    /// Where its values stand in the source.
    pub(super) sources: Vec<Arc<str>>,
    pub(super) format: Option<Format>,
    /// Nested objects around it, the outermost first.
    pub(super) nested: Vec<Arc<str>>,
    /// The values are shown as they were written.
    pub(super) raw: bool,
    /// It was asked for as a stored field.
    pub(super) stored: bool,
}

/// How values are shown, where the request says so.
#[derive(Clone, Debug)]
pub(super) enum Format {
    Date(Arc<DateFormat>),
    Wkt,
}

/// Names that are asked for, ready to be met by those of a mapping.
struct Names<'a> {
    patterns: Globs,
    /// The number of each pattern among all that was asked for.
    numbers: Vec<usize>,
    exact: Vec<(usize, &'a str)>,
}

impl<'a> Names<'a> {
    fn new(names: impl Iterator<Item = &'a str> + Clone) -> Self {
        let is_pattern = |name: &&str| name.contains('*');
        let patterns = names.clone().enumerate().filter(|(_, name)| is_pattern(name));
        Self {
            patterns: Globs::new(patterns.clone().map(|(_, pattern)| pattern.as_bytes())),
            numbers: patterns.map(|(number, _)| number).collect(),
            exact: names.enumerate().filter(|(_, name)| !is_pattern(name)).collect(),
        }
    }

    /// Gives each name of the mapping that any pattern matches to `take`, with the numbers of those
    /// patterns, rising.
    fn each(&self, mapping: &Mapping, mut take: impl FnMut(&Arc<str>, &Arc<Field>, Vec<usize>)) {
        if self.patterns.is_empty() {
            return;
        }
        let fields = mapping.fields().map(|field| (&field.path, field));
        for (name, field) in fields.chain(mapping.aliases()) {
            let matched = self.patterns.matches(name.as_bytes());
            if !matched.is_empty() {
                take(name, field, matched.into_iter().map(|at| self.numbers[at]).collect());
            }
        }
    }
}

/// The fields that entries of `fields` ask for.
///
/// # Errors
/// A format that a field does not have; belongs to each shard of the index.
pub(super) fn of_fields(asked: &[FieldFormat], mapping: &Mapping) -> Result<Vec<One>> {
    type Found<'a> = (usize, Arc<Field>, Option<Format>);
    let names = Names::new(asked.iter().map(|wanted| wanted.field.as_str()));
    let mut found: BTreeMap<Arc<str>, Found<'_>> = BTreeMap::new();
    // What is wrong, with the number of the entry and the name.
    let mut wrong: Option<(usize, Arc<str>, Error)> = None;
    let mut refuse = |number: usize, name: &Arc<str>, error: Error| {
        let is_first = wrong.as_ref().is_none_or(|(at, known, _)| (number, name) < (*at, known));
        if is_first {
            wrong = Some((number, Arc::clone(name), error));
        }
    };
    for &(number, name) in &names.exact {
        let Some(field) = mapping.lookup(name) else { continue };
        let name: Arc<str> = name.into();
        match format_of(&asked[number], &field, &name) {
            Ok(Some(format)) => drop(found.insert(name, (number, field, format))),
            Ok(None) => {}
            Err(error) => refuse(number, &name, error),
        }
    }
    // Formats are read once, not once a field.
    let formats: Vec<Option<Result<Arc<DateFormat>>>> = asked
        .iter()
        .map(|wanted| {
            let format = wanted.format.as_ref().filter(|_| wanted.field.contains('*'))?;
            Some(DateFormat::parse_pattern(format).map(Arc::new).map_err(Error::from))
        })
        .collect();
    let are_some_wrong = formats.iter().flatten().any(Result::is_err);
    names.each(mapping, |name, field, matched| {
        if are_some_wrong && matches!(field.kind, Type::Date(_)) {
            let first = matched.iter().find_map(|number| match &formats[*number] {
                Some(Err(error)) => Some((*number, error.clone())),
                _ => None,
            });
            if let Some((number, error)) = first {
                return refuse(number, name, error);
            }
        }
        let last = matched.into_iter().rev().find_map(|number| {
            let format = match (&asked[number].format, &field.kind, &formats[number]) {
                (None, ..) => None,
                (Some(_), Type::Date(_), Some(Ok(format))) => {
                    Some(Format::Date(Arc::clone(format)))
                }
                (Some(format), Type::GeoPoint(_), _) => geo_format(format)?,
                // A pattern passes over what has no formats.
                _ => return None,
            };
            Some((number, format))
        });
        if let Some((number, format)) = last
            && found.get(name).is_none_or(|(known, ..)| *known < number)
        {
            found.insert(Arc::clone(name), (number, Arc::clone(field), format));
        }
    });
    if let Some((_, _, error)) = wrong {
        return Err(error);
    }
    let mut found: Vec<(Arc<str>, Found<'_>)> = found.into_iter().collect();
    found.sort_by_key(|(_, (number, ..))| *number);
    let copies = copies(mapping);
    let found = found.into_iter();
    Ok(found.map(|(name, (_, field, format))| one(name, field, format, mapping, &copies)).collect())
}

/// The fields with `store` among `names`.
pub(super) fn of_stored(names: &[String], mapping: &Mapping) -> Vec<One> {
    let names = names.iter().map(String::as_str).filter(|name| *name != "_source");
    let names = Names::new(names);
    let mut found: BTreeMap<Arc<str>, (usize, Arc<Field>)> = BTreeMap::new();
    let mut take = |name: &Arc<str>, field: &Arc<Field>, number: usize| {
        let is_first = found.get(name).is_none_or(|(known, _)| number < *known);
        if field.store && is_first {
            found.insert(Arc::clone(name), (number, Arc::clone(field)));
        }
    };
    for &(number, name) in &names.exact {
        if let Some(field) = mapping.lookup(name) {
            take(&name.into(), &field, number);
        }
    }
    names.each(mapping, |name, field, matched| take(name, field, matched[0]));
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, (number, _))| *number);
    let copies = copies(mapping);
    let stored =
        |(name, (_, field))| One { stored: true, ..one(name, field, None, mapping, &copies) };
    found.into_iter().map(stored).collect()
}

/// The format in which a field that is named is shown; the outer `None`: it is passed over.
fn format_of(wanted: &FieldFormat, field: &Field, name: &str) -> Result<Option<Option<Format>>> {
    Ok(Some(match (&wanted.format, &field.kind) {
        (None, _) => None,
        (Some(format), kind) if is_dated(kind) => {
            Some(Format::Date(Arc::new(DateFormat::parse_pattern(format)?)))
        }
        (Some(format), Type::GeoPoint(_)) => match geo_format(format) {
            Some(format) => format,
            None => {
                return Err(Error::illegal(format!("Unrecognized geometry format [{format}].")));
            }
        },
        (Some(_), _) => {
            return Err(Error::illegal(format!(
                "Field [{name}] of type [{}] doesn't support formats.",
                field.type_name()
            )));
        }
    }))
}

/// A date, or a span of dates.
fn is_dated(kind: &Type) -> bool {
    match kind {
        Type::Date(_) => true,
        Type::Range(range) => range.kind == RangeKind::Date,
        _ => false,
    }
}

fn geo_format(format: &str) -> Option<Option<Format>> {
    match format {
        "geojson" => Some(None),
        "wkt" => Some(Some(Format::Wkt)),
        _ => None,
    }
}

/// Of each path that others are copied to, theirs.
fn copies(mapping: &Mapping) -> Map<Arc<str>, Vec<Arc<str>>> {
    let mut copies: Map<Arc<str>, Vec<Arc<str>>> = Map::default();
    for field in mapping.fields() {
        for target in &field.copy_to {
            let sources = copies.entry(Arc::clone(target)).or_default();
            if sources.last() != Some(&field.path) {
                sources.push(Arc::clone(&field.path));
            }
        }
    }
    copies
}

fn one(
    name: Arc<str>,
    field: Arc<Field>,
    format: Option<Format>,
    mapping: &Mapping,
    copies: &Map<Arc<str>, Vec<Arc<str>>>,
) -> One {
    let mut sources = vec![source_path(&field.path, mapping)];
    sources.extend(copies.get(&field.path).into_iter().flatten().cloned());
    let mut nested = Vec::new();
    let mut path = &*field.path;
    while let Some(around) = mapping.nested_of(path) {
        if nested.iter().any(|known: &Arc<str>| **known == *around) {
            break;
        }
        nested.push(Arc::from(around));
        path = around.rsplit_once('.').map_or("", |(parent, _)| parent);
        if path.is_empty() {
            break;
        }
    }
    nested.reverse();
    let raw = matches!(
        field.kind,
        Type::Range(_) | Type::Completion(_) | Type::Flattened(_) | Type::RankFeatures(_)
    );
    One { name, field, sources, format, nested, raw, stored: false }
}

/// Where the values of a field stand, those that are copied to it too.
pub(crate) fn sources(field: &Arc<Field>, mapping: &Mapping) -> Vec<Arc<str>> {
    let mut sources = vec![source_path(&field.path, mapping)];
    let copied = mapping.fields().filter(|other| other.copy_to.contains(&field.path));
    sources.extend(copied.map(|other| Arc::clone(&other.path)));
    sources
}

/// Where a field's values stand: a multi-field has those of the field it belongs to.
fn source_path(path: &Arc<str>, mapping: &Mapping) -> Arc<str> {
    if let Some((parent, _)) = path.rsplit_once('.')
        && let Some(field) = mapping.field(parent)
        && field.multi_fields.iter().any(|multi| multi.path == *path)
    {
        return Arc::clone(&field.path);
    }
    Arc::clone(path)
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    fn mapping() -> Mapping {
        let mappings = json!({"properties": {
            "when": {"type": "date"},
            "until": {"type": "date", "copy_to": "all"},
            "where": {"type": "geo_point"},
            "who": {"type": "keyword", "store": true, "copy_to": ["all", "text"]},
            "what": {"type": "text", "store": true, "fields": {"raw": {"type": "keyword"}}},
            "all": {"type": "text"},
            "text": {"type": "text"},
            "other": {"type": "alias", "path": "who"},
            "labels": {"type": "flattened"},
        }});
        Mapping::parse(&mappings, Arc::default()).expect("a mapping")
    }

    fn asked(entries: &[(&str, Option<&str>)]) -> Vec<FieldFormat> {
        let entry = |(field, format): &(&str, Option<&str>)| FieldFormat {
            field: (*field).to_owned(),
            format: format.map(str::to_owned),
            include_unmapped: false,
        };
        entries.iter().map(entry).collect()
    }

    fn found(entries: &[(&str, Option<&str>)]) -> Result<Vec<String>> {
        let found = of_fields(&asked(entries), &mapping())?;
        let format = |one: &One| match &one.format {
            None => "",
            Some(Format::Date(_)) => " date",
            Some(Format::Wkt) => " wkt",
        };
        Ok(found.iter().map(|one| format!("{}{}", one.name, format(one))).collect())
    }

    #[test]
    fn of_a_field_that_is_asked_for_twice_the_last_format_counts() {
        let all = |entries: &[(&str, Option<&str>)]| found(entries).expect("formats that exist");
        assert_eq!(all(&[("w*", None)]), ["what", "what.raw", "when", "where", "who"]);
        assert_eq!(all(&[("when", Some("yyyy")), ("w*n", None)]), ["when"]);
        assert_eq!(all(&[("w*n", None), ("when", Some("yyyy"))]), ["when date"]);
        assert_eq!(
            all(&[("when", None), ("who", None), ("w*n", Some("yyyy"))]),
            ["who", "when date"]
        );
        // A pattern passes over what has no such format, and what stood before counts.
        assert_eq!(
            all(&[("w*", None), ("*er*", None), ("*er*", Some("wkt"))]),
            ["what", "what.raw", "when", "who", "other", "where wkt"]
        );
        assert_eq!(all(&[("where", Some("wkt")), ("where", Some("geojson"))]), ["where"]);
        assert_eq!(
            all(&[("labels.a", None), ("lab*", None), ("none", None)]),
            ["labels.a", "labels"]
        );
    }

    #[test]
    fn what_is_wrong_is_told_of_the_first() {
        let told = |entries: &[(&str, Option<&str>)]| found(entries).expect_err("a wrong format");
        let no_format = "Field [who] of type [keyword] doesn't support formats.";
        assert_eq!(told(&[("w*", None), ("who", Some("yyyy"))]).reason, no_format);
        assert_eq!(told(&[("who", Some("x")), ("w*", Some("bbb"))]).reason, no_format);
        let first = told(&[("*n*", Some("bbb")), ("who", Some("x")), ("when", None)]).reason;
        assert!(first.contains("bbb"), "{first}");
        assert_eq!(told(&[("where", Some("x"))]).reason, "Unrecognized geometry format [x].");
    }

    #[test]
    fn values_stand_where_others_are_copied_from() {
        let found = of_fields(&asked(&[("all", None), ("what.raw", None)]), &mapping());
        let found = found.expect("no formats");
        let sources: Vec<Vec<&str>> =
            found.iter().map(|one| one.sources.iter().map(|path| &**path).collect()).collect();
        assert_eq!(sources, [vec!["all", "until", "who"], vec!["what"]]);
        let names = ["wh*", "_source", "who", "*"].map(str::to_owned);
        let stored = of_stored(&names, &mapping());
        let stored: Vec<&str> = stored.iter().map(|one| &*one.name).collect();
        assert_eq!(stored, ["what", "who", "other"]);
    }

    /// Five thousand patterns over two thousand fields took minutes: each that was found was looked for
    /// among all before it.
    #[test]
    fn many_patterns_are_met_by_many_fields_at_once() {
        let mut properties = json::Object::new();
        for number in 0..2_000 {
            properties.insert(format!("abab{number}"), json!({"type": "long"}));
        }
        let limits = mapping::Limits { total_fields: 3_000, ..Default::default() };
        let settings = mapping::Settings { limits, ..Default::default() };
        let mappings = json!({"properties": json::Value::Object(properties)});
        let mapping = Mapping::parse(&mappings, Arc::new(settings)).expect("a mapping");
        let patterns: Vec<String> = (0..5_000).map(|number| format!("*a*b*{number}*")).collect();
        let entries: Vec<(&str, Option<&str>)> =
            patterns.iter().map(|pattern| (pattern.as_str(), None)).collect();
        let found = of_fields(&asked(&entries), &mapping).expect("no formats");
        assert_eq!(found.len(), 2_000);
        // The last pattern that a name matches is that of all its digits.
        assert!(found.iter().map(|one| &*one.name).eq((0..2_000).map(|n| format!("abab{n}"))));
    }
}
