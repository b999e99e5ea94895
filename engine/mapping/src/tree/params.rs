//! Parameters of field definitions: which each type knows, and what they must be.
//!
//! A parameter that no issue of this project has brought yet is answered as one that nobody knows,
//! unless it has no effect here (`eager_global_ordinals`) or the value given is the one we have.

use std::sync::Arc;

use json::{Object as Json, Value};

use super::define::{flag, java_text};
use super::node::{UNNUMBERED, join};
use crate::analysis::Analyzer;
use crate::types::{
    Boolean, Date, DateFormat, Field, IndexOptions, Keyword, Kind, Number, NumberKind, Scalar,
    Text, boolean, date_format,
};
use crate::{Error, ErrorKind, Result, Settings};

/// Reads the definition of a field of type `kind`.
pub(super) fn field(
    kind: &str,
    definition: &Json,
    path: &str,
    settings: &Settings,
) -> Result<Field> {
    read(kind, definition, path, settings, Level::Field)
}

/// Where a definition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Field,
    Multi,
}

fn read(
    kind: &str,
    definition: &Json,
    path: &str,
    settings: &Settings,
    level: Level,
) -> Result<Field> {
    let name = path.rsplit('.').next().unwrap_or_default();
    let mut field = Field {
        no: UNNUMBERED,
        path: path.into(),
        kind: default_kind(kind, name, settings)?,
        index: true,
        doc_values: kind != "text",
        store: false,
        copy_to: Vec::new(),
        multi_fields: Vec::new(),
        meta: None,
    };
    let mut null_value = None;
    for (key, value) in definition.iter() {
        if value.is_null() && !matches!(key, "null_value" | "type") {
            return Err(Error::mapper_parsing(format!(
                "[{key}] on mapper [{name}] of type [{kind}] must not have a [null] value"
            )));
        }
        match key {
            "type" => {}
            "fields" if level == Level::Field => {
                field.multi_fields = multi_fields(value, path, settings)?;
            }
            "fields" => {
                return Err(Error::mapper_parsing(format!(
                    "Encountered a multi-field [{path}] which itself contains a multi-field. \
                     Defining chained multi-fields is not supported."
                )));
            }
            "copy_to" if level == Level::Field => field.copy_to = copy_to(value),
            "copy_to" => {
                return Err(Error::mapper_parsing(format!(
                    "copy_to in multi fields is not allowed. Found the copy_to in field [{name}] \
                     which is within a multi field."
                )));
            }
            "meta" => field.meta = Some(meta(value, name)?),
            "index" => field.index = flag(value)?,
            "store" => field.store = flag(value)?,
            "doc_values" if kind != "text" => field.doc_values = flag(value)?,
            // Read last: it is judged by the other parameters.
            "null_value" if kind != "text" => null_value = Some(value),
            _ => {
                if !special(&mut field.kind, key, value, name, settings)? {
                    return Err(Error::mapper_parsing(format!(
                        "unknown parameter [{key}] on mapper [{name}] of type [{kind}]"
                    )));
                }
            }
        }
    }
    if let Some(value) = null_value
        && !value.is_null()
    {
        set_null_value(&mut field.kind, value, name)?;
    }
    if let Kind::Text(text) = &mut field.kind {
        finish_text(text, settings)?;
    }
    Ok(field)
}

/// A type with nothing said about it.
fn default_kind(kind: &str, name: &str, settings: &Settings) -> Result<Kind> {
    let ignore_malformed = settings.ignore_malformed;
    if let Some(number) = NumberKind::of_name(kind) {
        return Ok(Kind::Number(Number {
            number,
            coerce: !settings.no_coerce,
            coerce_given: false,
            ignore_malformed,
            ignore_malformed_given: false,
            null_value: None,
        }));
    }
    Ok(match kind {
        "text" => {
            let analyzer = settings.analysis.default_analyzer();
            Kind::Text(Text {
                analyzer: analyzer.clone(),
                search_analyzer: analyzer.clone(),
                search_quote_analyzer: analyzer.clone(),
                names: [None, None, None],
                norms: true,
                index_options: IndexOptions::Positions,
                position_increment_gap: Analyzer::GAP,
                position_increment_gap_given: false,
                term_vector: None,
            })
        }
        "keyword" => Kind::Keyword(Keyword {
            ignore_above: None,
            null_value: None,
            normalizer: None,
            eager_global_ordinals: false,
        }),
        "boolean" => Kind::Boolean(Boolean {
            ignore_malformed,
            ignore_malformed_given: false,
            null_value: None,
        }),
        "date" => Kind::Date(Date {
            format: date_format::DEFAULT.clone(),
            locale: None,
            ignore_malformed,
            ignore_malformed_given: false,
            null_value: None,
        }),
        _ => {
            return Err(Error::mapper_parsing(format!(
                "The mapper type [{kind}] declared on field [{name}] does not exist. It might have \
                 been created within a future version or requires a plugin to be installed. Check \
                 the documentation."
            )));
        }
    })
}

/// Reads a parameter that not all types have; `false` where the type does not know it.
fn special(
    kind: &mut Kind,
    key: &str,
    value: &Value,
    name: &str,
    settings: &Settings,
) -> Result<bool> {
    match (kind, key) {
        (Kind::Number(number), "coerce") => {
            (number.coerce, number.coerce_given) = (flag(value)?, true);
        }
        (Kind::Number(number), "ignore_malformed") => {
            (number.ignore_malformed, number.ignore_malformed_given) = (flag(value)?, true);
        }
        (Kind::Boolean(boolean), "ignore_malformed") => {
            (boolean.ignore_malformed, boolean.ignore_malformed_given) = (flag(value)?, true);
        }
        (Kind::Date(date), "ignore_malformed") => {
            (date.ignore_malformed, date.ignore_malformed_given) = (flag(value)?, true);
        }
        (Kind::Date(date), "format") => {
            let format = DateFormat::parse_pattern(&java_text(value));
            date.format = Arc::new(format.map_err(|cause| in_parameter("format", name, cause))?);
        }
        (Kind::Date(date), "locale") => date.locale = Some(locale(value)?),
        (Kind::Keyword(keyword), "ignore_above") => {
            keyword.ignore_above = Some(not_negative(value, "ignore_above")?);
        }
        (Kind::Keyword(keyword), "eager_global_ordinals") => {
            keyword.eager_global_ordinals = flag(value)?;
        }
        (Kind::Keyword(keyword), "normalizer") => {
            let wanted = java_text(value);
            let found = settings.analysis.normalizer(&wanted).ok_or_else(|| {
                Error::mapper_parsing(format!("normalizer [{wanted}] not found for field [{name}]"))
            })?;
            keyword.normalizer = Some(found.clone());
        }
        (Kind::Keyword(_), "norms") => return Ok(!flag(value)?),
        (Kind::Keyword(_), "index_options") => return Ok(value.as_str() == Some("docs")),
        (Kind::Keyword(_) | Kind::Text(_), "similarity") => {
            if !matches!(value.as_str(), Some("BM25" | "default")) {
                return Err(Error::mapper_parsing(format!(
                    "Unknown Similarity type [{}] for field [{name}]",
                    java_text(value)
                )));
            }
        }
        (Kind::Text(text), _) => return text_parameter(text, key, value),
        _ => return Ok(false),
    }
    Ok(true)
}

fn text_parameter(text: &mut Text, key: &str, value: &Value) -> Result<bool> {
    match key {
        "analyzer" => text.names[0] = Some(java_text(value).into()),
        "search_analyzer" => text.names[1] = Some(java_text(value).into()),
        "search_quote_analyzer" => text.names[2] = Some(java_text(value).into()),
        "norms" => text.norms = flag(value)?,
        "index_options" => {
            let options = [
                IndexOptions::Positions,
                IndexOptions::Docs,
                IndexOptions::Freqs,
                IndexOptions::Offsets,
            ];
            let wanted = java_text(value);
            let found = options.into_iter().find(|options| options.name() == wanted);
            text.index_options = found.ok_or_else(|| {
                Error::mapper_parsing(format!(
                    "Unknown value [{wanted}] for field [index_options] - accepted values are \
                     [positions, docs, freqs, offsets]"
                ))
            })?;
        }
        "position_increment_gap" => {
            text.position_increment_gap = not_negative(value, "position_increment_gap")?;
            text.position_increment_gap_given = true;
        }
        "term_vector" => {
            const KNOWN: [&str; 7] = [
                "no",
                "yes",
                "with_positions",
                "with_offsets",
                "with_positions_offsets",
                "with_positions_payloads",
                "with_positions_offsets_payloads",
            ];
            let wanted = java_text(value);
            if !KNOWN.contains(&wanted.as_str()) {
                return Err(Error::mapper_parsing(format!(
                    "Unknown value [{wanted}] for field [term_vector] - accepted values are [{}]",
                    KNOWN.join(", ")
                )));
            }
            text.term_vector = (wanted != "no").then(|| wanted.into());
        }
        // Without effect, or what we do anyway.
        "eager_global_ordinals" => {
            flag(value)?;
        }
        "fielddata" | "index_phrases" => return Ok(!flag(value)?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Finds the analyzers that a text field names.
fn finish_text(text: &mut Text, settings: &Settings) -> Result<()> {
    let registry = &settings.analysis;
    let find = |name: &Option<Arc<str>>| -> Result<Option<Arc<Analyzer>>> {
        // An unset analyzer is called `default`.
        let Some(name) = name.as_deref() else { return Ok(None) };
        if name == "default" {
            return Ok(Some(registry.default_analyzer().clone()));
        }
        let found = registry.analyzer(name).cloned();
        found.map(Some).ok_or_else(|| {
            Error::illegal_argument(format!(
                "analyzer [{name}] has not been configured in mappings"
            ))
        })
    };
    let [own, search, quote] =
        [find(&text.names[0])?, find(&text.names[1])?, find(&text.names[2])?];
    let searches_with = match (&own, search) {
        (_, Some(search)) => search,
        (None, None) => {
            let default = registry.default_search_analyzer();
            default.unwrap_or(registry.default_analyzer()).clone()
        }
        (Some(own), None) => registry.default_search_analyzer().unwrap_or(own).clone(),
    };
    text.analyzer = own.unwrap_or_else(|| registry.default_analyzer().clone());
    text.search_quote_analyzer = quote.unwrap_or_else(|| searches_with.clone());
    text.search_analyzer = searches_with;
    if !text.position_increment_gap_given {
        text.position_increment_gap = text.analyzer.gap();
    }
    Ok(())
}

fn set_null_value(kind: &mut Kind, value: &Value, name: &str) -> Result<()> {
    let scalar = Scalar::of_value(value).ok_or_else(|| {
        Error::mapper_parsing(format!("[null_value] on mapper [{name}] must be a single value"))
    })?;
    let wrapped = |cause| in_parameter("null_value", name, cause);
    match kind {
        Kind::Text(_) => {}
        Kind::Keyword(keyword) => keyword.null_value = Some(scalar.java_text().into()),
        Kind::Number(number) => {
            number.null_value = Some(number.number.parse(scalar, true).map_err(wrapped)?);
        }
        Kind::Boolean(boolean) => {
            boolean.null_value = Some(boolean::parse(scalar).map_err(wrapped)?);
        }
        Kind::Date(date) => {
            let text = scalar.java_text();
            let ms = date.format.parse_ms(&text).map_err(wrapped)?;
            date.null_value = Some((text.into(), ms));
        }
    }
    Ok(())
}

fn in_parameter(parameter: &str, field: &str, cause: Error) -> Error {
    Error::new(
        ErrorKind::IllegalArgument,
        format!("Error parsing [{parameter}] on field [{field}]: {}", cause.reason),
    )
    .caused_by(cause)
}

fn multi_fields(value: &Value, path: &str, settings: &Settings) -> Result<Vec<Arc<Field>>> {
    let name = path.rsplit('.').next().unwrap_or_default();
    let definitions = match value {
        Value::Object(definitions) => definitions,
        Value::Array(items) if items.is_empty() => return Ok(Vec::new()),
        other => {
            return Err(Error::mapper_parsing(format!(
                "expected map for property [fields] on field [{name}] or [index] but got a {}",
                java_text(other)
            )));
        }
    };
    let mut fields = Vec::new();
    for (multi, definition) in definitions.iter() {
        if multi.contains('.') {
            return Err(Error::mapper_parsing(format!(
                "Field name [{multi}] which is a multi field of [{name}] cannot contain '.'"
            )));
        }
        if multi.trim().is_empty() {
            return Err(Error::mapper_parsing(format!(
                "Field name cannot contain only whitespace: [{}]",
                join(path, multi)
            )));
        }
        let Value::Object(definition) = definition else {
            return Err(Error::mapper_parsing(format!(
                "illegal field [{multi}], only fields can be specified inside fields"
            )));
        };
        let Some(kind) = definition.get("type").and_then(Value::as_str) else {
            return Err(Error::mapper_parsing(format!("no type specified for property [{multi}]")));
        };
        if matches!(kind, "object" | "nested") {
            return Err(Error::mapper_parsing(format!(
                "Type [{kind}] cannot be used in multi field"
            )));
        }
        let path = join(path, multi);
        fields.push(Arc::new(read(kind, definition, &path, settings, Level::Multi)?));
    }
    fields.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(fields)
}

fn copy_to(value: &Value) -> Vec<Arc<str>> {
    match value {
        Value::Array(items) => items.iter().map(|item| java_text(item).into()).collect(),
        one => vec![java_text(one).into()],
    }
}

/// At most five short texts by short names.
fn meta(value: &Value, name: &str) -> Result<Value> {
    let refused = |what: String| Err(Error::mapper_parsing(what));
    let Value::Object(members) = value else {
        return refused(format!(
            "[meta] must be an object, got {}[{}] for field [{name}]",
            value.token(),
            java_text(value)
        ));
    };
    if members.len() > 5 {
        return refused(format!(
            "[meta] can't have more than 5 entries, but got {} on field [{name}]",
            members.len()
        ));
    }
    for (key, value) in members.iter() {
        if key.encode_utf16().count() > 20 {
            return refused(format!(
                "[meta] keys can't be longer than 20 chars, but got [{key}] for field [{name}]"
            ));
        }
        match value {
            Value::String(text) if text.encode_utf16().count() <= 50 => {}
            Value::String(text) => {
                return refused(format!(
                    "[meta] values can't be longer than 50 chars, but got [{text}] for field [{name}]"
                ));
            }
            other => {
                return refused(format!(
                    "[meta] values can only be strings, but got [{}] for field [{name}]",
                    java_text(other)
                ));
            }
        }
    }
    let mut members = members.clone();
    members.sort_keys();
    Ok(Value::Object(members))
}

/// A number that is not negative, perhaps as text.
fn not_negative(value: &Value, key: &str) -> Result<u32> {
    let text = java_text(value);
    let number: i64 = text.parse().map_err(|_| Error::number_format(&text))?;
    if number < 0 {
        return Err(Error::illegal_argument(format!("[{key}] must be positive, got [{number}]")));
    }
    // Beyond Java's int nothing is that long.
    Ok(u32::try_from(number).unwrap_or(u32::MAX).min(i32::MAX as u32))
}

/// Only English names of months and days are known.
fn locale(value: &Value) -> Result<Arc<str>> {
    let text = java_text(value);
    let language = text.split(['_', '-']).next().unwrap_or_default();
    if matches!(language, "" | "en" | "ROOT" | "root") {
        return Ok(text.into());
    }
    Err(Error::illegal_argument(format!("Unknown language: {language}")))
}
