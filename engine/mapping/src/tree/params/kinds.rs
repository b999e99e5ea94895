//! What each type is when nothing is said about it, and the parameters that few types know.

use std::sync::Arc;

use json::Value;

use super::super::define::{flag, java_text};
use super::super::node::{UNNUMBERED, join};
use super::text::{finish_text, text_parameter};
use super::{completion, in_parameter, locale, not_negative};
use crate::analysis::Analyzer;
use crate::types::join::Relations;
use crate::types::{
    Boolean, ConstantKeyword, Counts, Date, DateFormat, Field, Flattened, GeoPoint, IndexOptions,
    Ip, Join, Keyword, KeywordFlavor, Kind, Number, NumberKind, Range, RangeKind, RankFeature,
    Text, TextFlavor, date_format,
};
use crate::{Error, ErrorKind, Result, Settings};

/// A type with nothing said about it.
pub(super) fn default(kind: &str, name: &str, settings: &Settings) -> Result<Kind> {
    let ignore_malformed = settings.ignore_malformed;
    if let Some(number) = NumberKind::of_name(kind) {
        let plain = Number::plain(number, !settings.no_coerce, ignore_malformed);
        // No factor: the mapping must say one.
        let scale = if number == NumberKind::ScaledFloat { 0.0 } else { 1.0 };
        return Ok(Kind::Number(Number { scale, ..plain }));
    }
    if let Some(kind) = RangeKind::of_name(kind) {
        let coerce = !settings.no_coerce;
        return Ok(Kind::Range(Range {
            kind,
            coerce,
            coerce_given: false,
            format: None,
            locale: None,
        }));
    }
    Ok(match kind {
        "text" => Kind::Text(text(TextFlavor::Text, settings)),
        "match_only_text" => {
            Kind::Text(Text { norms: false, ..text(TextFlavor::MatchOnly, settings) })
        }
        "search_as_you_type" => Kind::Text(text(TextFlavor::SearchAsYouType(3), settings)),
        "keyword" => Kind::Keyword(keyword(KeywordFlavor::Keyword)),
        "wildcard" => Kind::Keyword(keyword(KeywordFlavor::Wildcard)),
        "version" => Kind::Keyword(keyword(KeywordFlavor::Version)),
        "token_count" => {
            let counts = Counts {
                analyzer: settings.analysis.default_analyzer().clone(),
                analyzer_given: false,
                position_increments: true,
            };
            let plain = Number::plain(NumberKind::Integer, true, false);
            Kind::Number(Number { counts: Some(counts), ..plain })
        }
        "boolean" => Kind::Boolean(Boolean {
            ignore_malformed,
            ignore_malformed_given: false,
            null_value: None,
        }),
        "date" => Kind::Date(date(false, ignore_malformed)),
        "date_nanos" => Kind::Date(date(true, ignore_malformed)),
        "ip" => Kind::Ip(Ip { ignore_malformed, ..Ip::default() }),
        "geo_point" => Kind::GeoPoint(GeoPoint { ignore_malformed, ..GeoPoint::default() }),
        "binary" => Kind::Binary,
        "rank_feature" => Kind::RankFeature(RankFeature::default()),
        "rank_features" => Kind::RankFeatures(RankFeature::default()),
        "completion" => completion::default(settings),
        "join" => Kind::Join(Join::default()),
        "constant_keyword" => Kind::ConstantKeyword(ConstantKeyword::default()),
        "flattened" => Kind::Flattened(Flattened {
            depth_limit: Flattened::DEPTH,
            ignore_above: None,
            null_value: None,
            split_queries_on_whitespace: false,
            eager_global_ordinals: false,
            similarity: None,
        }),
        _ => return Err(super::unknown_type(kind, name)),
    })
}

fn text(flavor: TextFlavor, settings: &Settings) -> Text {
    let analyzer = settings.analysis.default_analyzer();
    Text {
        analyzer: analyzer.clone(),
        search_analyzer: analyzer.clone(),
        search_quote_analyzer: analyzer.clone(),
        names: [None, None, None],
        norms: true,
        index_options: IndexOptions::Positions,
        position_increment_gap: Analyzer::GAP,
        position_increment_gap_given: false,
        term_vector: None,
        flavor,
        index_prefixes: None,
        index_phrases: false,
        fielddata: false,
        eager_global_ordinals: false,
        similarity: None,
    }
}

fn keyword(flavor: KeywordFlavor) -> Keyword {
    Keyword {
        ignore_above: None,
        null_value: None,
        normalizer: None,
        eager_global_ordinals: false,
        flavor,
        norms: false,
        index_options: IndexOptions::Docs,
        split_queries_on_whitespace: false,
        similarity: None,
    }
}

fn date(nanos: bool, ignore_malformed: bool) -> Date {
    Date {
        format: if nanos { date_format::NANOS.clone() } else { date_format::DEFAULT.clone() },
        locale: None,
        ignore_malformed,
        ignore_malformed_given: false,
        null_value: None,
        nanos,
    }
}

/// Reads a parameter that not all types have; `false` where the type does not know it.
pub(super) fn special(
    kind: &mut Kind,
    key: &str,
    value: &Value,
    name: &str,
    settings: &Settings,
) -> Result<bool> {
    match kind {
        Kind::Text(text) => return text_parameter(text, key, value, name, settings),
        Kind::Keyword(keyword) => return keyword_parameter(keyword, key, value, name, settings),
        Kind::Number(number) => return number_parameter(number, key, value, settings),
        Kind::Completion(completion) => {
            return completion::parameter(completion, key, value, name, settings);
        }
        Kind::Flattened(flattened) => return flattened_parameter(flattened, key, value, settings),
        _ => {}
    }
    match (kind, key) {
        (Kind::Boolean(boolean), "ignore_malformed") => {
            (boolean.ignore_malformed, boolean.ignore_malformed_given) = (flag(value)?, true);
        }
        (Kind::Ip(ip), "ignore_malformed") => {
            (ip.ignore_malformed, ip.ignore_malformed_given) = (flag(value)?, true);
        }
        (Kind::GeoPoint(point), "ignore_malformed") => {
            (point.ignore_malformed, point.ignore_malformed_given) = (flag(value)?, true);
        }
        (Kind::GeoPoint(point), "ignore_z_value") => {
            (point.refuse_z, point.ignore_z_given) = (!flag(value)?, true);
        }
        (Kind::Date(date), "ignore_malformed") => {
            (date.ignore_malformed, date.ignore_malformed_given) = (flag(value)?, true);
        }
        (Kind::Date(date), "format") => date.format = format(value, name)?,
        (Kind::Date(date), "locale") => date.locale = Some(locale(value)?),
        (Kind::Range(range), "coerce") => {
            (range.coerce, range.coerce_given) = (flag(value)?, true);
        }
        (Kind::Range(range), "format") => {
            if range.kind != RangeKind::Date {
                return Err(Error::illegal_argument(format!(
                    "field [{name}] of type [range] should not define a dateTimeFormatter unless \
                     it is a DATE type"
                )));
            }
            range.format = Some(format(value, name)?);
        }
        (Kind::Range(range), "locale") => range.locale = Some(locale(value)?),
        (Kind::RankFeature(feature) | Kind::RankFeatures(feature), "positive_score_impact") => {
            feature.negative = !flag(value)?;
        }
        (Kind::Join(join), "relations") => join.relations = relations(value, name)?,
        (Kind::Join(join), "eager_global_ordinals") => join.lazy = !flag(value)?,
        (Kind::ConstantKeyword(constant), "value") => {
            let scalar = matches!(value, Value::String(_) | Value::Number(_));
            if !scalar {
                return Err(Error::mapper_parsing(format!(
                    "Property [value] of field [{name}] must be a number or a string, but got \
                     [{}]",
                    java_text(value)
                )));
            }
            constant.value = Some(java_text(value).into());
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn format(value: &Value, name: &str) -> Result<Arc<DateFormat>> {
    let format = DateFormat::parse_kept(&java_text(value));
    Ok(Arc::new(format.map_err(|cause| in_parameter("format", name, cause))?))
}

fn keyword_parameter(
    keyword: &mut Keyword,
    key: &str,
    value: &Value,
    name: &str,
    settings: &Settings,
) -> Result<bool> {
    match (&keyword.flavor, key) {
        (KeywordFlavor::Version, _) => return Ok(false),
        (_, "ignore_above") => {
            keyword.ignore_above = Some(not_negative(value, "ignore_above")?);
            return Ok(true);
        }
        (KeywordFlavor::Wildcard, _) => return Ok(false),
        _ => {}
    }
    match key {
        "eager_global_ordinals" => keyword.eager_global_ordinals = flag(value)?,
        "split_queries_on_whitespace" => keyword.split_queries_on_whitespace = flag(value)?,
        "norms" => keyword.norms = flag(value)?,
        "similarity" => keyword.similarity = similarity(value, name, settings)?,
        "index_options" => {
            let wanted = java_text(value);
            let options = [IndexOptions::Docs, IndexOptions::Freqs];
            let found = options.into_iter().find(|options| options.name() == wanted);
            keyword.index_options = found.ok_or_else(|| {
                Error::mapper_parsing(format!(
                    "Unknown value [{wanted}] for field [index_options] - accepted values are \
                     [docs, freqs]"
                ))
            })?;
        }
        "normalizer" => {
            let wanted = java_text(value);
            // What is called `default` is none.
            if wanted == "default" {
                return Ok(true);
            }
            let found = settings.analysis.normalizer(&wanted).ok_or_else(|| {
                Error::mapper_parsing(format!("normalizer [{wanted}] not found for field [{name}]"))
            })?;
            keyword.normalizer = Some(found.clone());
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn number_parameter(
    number: &mut Number,
    key: &str,
    value: &Value,
    settings: &Settings,
) -> Result<bool> {
    if let Some(counts) = &mut number.counts {
        match key {
            "analyzer" => {
                let wanted = java_text(value);
                let found = settings.analysis.analyzer(&wanted).cloned();
                counts.analyzer = found.ok_or_else(|| not_configured(&wanted))?;
                counts.analyzer_given = true;
            }
            "enable_position_increments" => counts.position_increments = flag(value)?,
            _ => return Ok(false),
        }
        return Ok(true);
    }
    match key {
        "coerce" if number.number != NumberKind::UnsignedLong => {
            (number.coerce, number.coerce_given) = (flag(value)?, true);
        }
        "ignore_malformed" => {
            (number.ignore_malformed, number.ignore_malformed_given) = (flag(value)?, true);
        }
        "scaling_factor" if number.number == NumberKind::ScaledFloat => {
            let text = java_text(value);
            let factor: f64 = text.parse().map_err(|_| Error::number_format(&text))?;
            if !factor.is_finite() || factor <= 0.0 {
                return Err(Error::illegal_argument(format!(
                    "[scaling_factor] must be a positive number, got [{}]",
                    json::number::double_to_string(factor)
                )));
            }
            number.scale = factor;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn flattened_parameter(
    flattened: &mut Flattened,
    key: &str,
    value: &Value,
    settings: &Settings,
) -> Result<bool> {
    match key {
        "depth_limit" => {
            flattened.depth_limit = not_negative(value, key)?;
            if flattened.depth_limit == 0 {
                return Err(Error::illegal_argument("[depth_limit] must be positive, got [0]"));
            }
        }
        "ignore_above" => flattened.ignore_above = Some(not_negative(value, key)?),
        "split_queries_on_whitespace" => flattened.split_queries_on_whitespace = flag(value)?,
        "eager_global_ordinals" => flattened.eager_global_ordinals = flag(value)?,
        "index_options" => return Ok(value.as_str() == Some("docs")),
        "similarity" => flattened.similarity = similarity(value, "", settings)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// A similarity by name; none for the default.
pub(super) fn similarity(
    value: &Value,
    name: &str,
    settings: &Settings,
) -> Result<Option<Arc<str>>> {
    let wanted = java_text(value);
    let known = matches!(wanted.as_str(), "BM25" | "boolean" | "default")
        || settings.similarities.iter().any(|(known, _)| **known == *wanted);
    if !known {
        return Err(Error::mapper_parsing(format!(
            "Unknown Similarity type [{wanted}] for field [{name}]"
        )));
    }
    Ok((wanted != "default").then(|| wanted.into()))
}

pub(super) fn not_configured(name: &str) -> Error {
    let reason = format!("analyzer [{name}] has not been configured in mappings");
    Error::new(ErrorKind::AnalyzerMissing, reason)
}

/// What depends on several parameters.
pub(super) fn finish(field: &mut Field, settings: &Settings) -> Result<()> {
    let name = field.name().to_owned();
    match &mut field.kind {
        Kind::Text(text) => {
            finish_text(text, settings)?;
            if let TextFlavor::SearchAsYouType(size) = text.flavor {
                let text = text.clone();
                field.parts = typed_parts(field, &text, size);
            } else if field.index {
                let text = text.clone();
                field.parts = text_parts(field, &text);
            }
        }
        Kind::Number(number) if number.counts.as_ref().is_some_and(|it| !it.analyzer_given) => {
            return Err(Error::mapper_parsing(format!(
                "Analyzer must be set for field [{name}] but wasn't."
            )));
        }
        Kind::Number(number) if number.scale == 0.0 => {
            return Err(Error::illegal_argument("Field [scaling_factor] is required"));
        }
        Kind::Completion(completion) => completion::finish(completion, settings)?,
        Kind::Join(join) => {
            let parents: Vec<Arc<str>> =
                join.relations.iter().map(|(parent, _)| parent.clone()).collect();
            field.parts = parents.iter().map(|parent| parent_part(field, parent)).collect();
        }
        Kind::Flattened(_) => {
            field.parts = vec![Arc::new(Field {
                kind: Kind::Keyword(keyword(KeywordFlavor::Keyed)),
                ..part(field, "_keyed")
            })];
        }
        _ => {}
    }
    Ok(())
}

/// A field that a type makes beside itself.
fn part(of: &Field, name: &str) -> Field {
    Field {
        no: UNNUMBERED,
        path: join(&of.path, name).into(),
        copy_to: Vec::new(),
        multi_fields: Vec::new(),
        parts: Vec::new(),
        meta: None,
        ..of.clone()
    }
}

/// The ids of parents of one name.
fn parent_part(of: &Field, parent: &str) -> Arc<Field> {
    Arc::new(Field {
        path: format!("{}#{parent}", of.path).into(),
        kind: Kind::Keyword(keyword(KeywordFlavor::Parent)),
        ..part(of, "")
    })
}

/// Names with the names of their children.
fn relations(value: &Value, field: &str) -> Result<Relations> {
    let Value::Object(members) = value else {
        return Err(Error::mapper_parsing(format!(
            "[relations] on mapper [{field}] of type [join] must be an object"
        )));
    };
    let mut relations = Relations::new();
    for (parent, children) in members.iter() {
        let items = match children {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut names: Vec<Arc<str>> = Vec::new();
        for item in items {
            let name = java_text(item);
            let others = relations.iter().flat_map(|(_, children)| children);
            if others.chain(&names).any(|known| **known == *name) {
                return Err(Error::illegal_argument(format!(
                    "[{name}] cannot have multiple parents"
                )));
            }
            names.push(name.into());
        }
        relations.push((parent.into(), names));
    }
    Ok(relations)
}

/// The beginnings of words and the pairs of words that a `text` keeps, where its mapping says so.
fn text_parts(field: &Field, text: &Text) -> Vec<Arc<Field>> {
    let of = |name: &str, flavor, norms| {
        let kind = Kind::Text(Text {
            flavor,
            norms,
            term_vector: None,
            index_phrases: false,
            index_prefixes: None,
            fielddata: false,
            ..text.clone()
        });
        Arc::new(Field { kind, store: false, doc_values: false, ..part(field, name) })
    };
    let mut parts = Vec::new();
    if let Some((least, most)) = text.index_prefixes {
        let flavor = TextFlavor::Beginnings(least as u8, most as u8);
        parts.push(of("_index_prefix", flavor, false));
    }
    if text.index_phrases {
        parts.push(of("_index_phrase", TextFlavor::Shingles(2), text.norms));
    }
    parts
}

/// The shingles and prefixes of a `search_as_you_type`.
fn typed_parts(field: &Field, text: &Text, size: u8) -> Vec<Arc<Field>> {
    let of = |name: &str, flavor, norms| {
        let kind = Kind::Text(Text { flavor, norms, term_vector: None, ..text.clone() });
        Arc::new(Field { kind, store: false, ..part(field, name) })
    };
    let mut parts: Vec<Arc<Field>> = (2..=size)
        .map(|words| of(&format!("_{words}gram"), TextFlavor::Shingles(words), text.norms))
        .collect();
    parts.push(of("_index_prefix", TextFlavor::Prefixes(size), false));
    parts
}
