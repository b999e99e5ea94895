//! Queries on exact values: `term`, `terms`, `range`, `exists`, `ids`.

use json::spanned::{Kind as Json, Node};

use mapping::types::DateFormat;
use mapping::types::zone::Zone;

use super::context::{
    Fault, OneField, Read, Takes, boolean, boost, is_value, members, object, scalar, text,
    text_or_null, unknown_token, unsupported,
};
use crate::ast::{Bound, Node as Ask, Query, Range, Relation, Term, Terms, TermsLookup};
use crate::error::{Error, Kind};

/// `term`.
pub fn term(body: &Node) -> Read<Query> {
    const NAME: &str = "term";
    let mut field = OneField::default();
    let mut found = None;
    let (mut case_insensitive, mut factor, mut name) = (false, 1.0, None);
    for member in members(body) {
        let at = member.value.at;
        match &member.value.kind {
            Json::Object(options) => {
                field.set(NAME, &member.key, at)?;
                for option in options {
                    let (key, value) = (option.key.as_str(), &option.value);
                    match key {
                        "value" | "term" => found = scalar(value)?,
                        "boost" => factor = boost(value)?,
                        "case_insensitive" => case_insensitive = boolean(value)?,
                        "_name" => name = Some(text(value)?),
                        _ => return Err(unsupported(NAME, key, value)),
                    }
                }
            }
            Json::Array(_) => {
                return Err(Fault::parsing(at, "[term] query does not support array of values"));
            }
            // As Elasticsearch, for which `null` is no value.
            Json::Null => {}
            _ => {
                field.set(NAME, &member.key, at)?;
                found = scalar(&member.value)?;
            }
        }
    }
    let field = field.required(body.end)?;
    let Some(value) = found else {
        return Err(Fault::illegal(body.end, "value cannot be null"));
    };
    Ok(Query { node: Ask::Term(Term { field, value, case_insensitive }), boost: factor, name })
}

/// `terms`.
pub fn terms(body: &Node) -> Read<Query> {
    const NAME: &str = "terms";
    let mut found: Option<Terms> = None;
    let mut lookup: Option<TermsLookup> = None;
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            (_, Json::Array(nodes)) => {
                if found.is_some() || lookup.is_some() {
                    let reason = "[terms] query does not support multiple fields";
                    return Err(Fault::parsing(value.at, reason));
                }
                let mut values = Vec::with_capacity(nodes.len());
                for node in nodes {
                    let Some(value) = scalar(node)? else {
                        let reason = "No value specified for terms query";
                        return Err(Fault::parsing(node.at, reason));
                    };
                    values.push(value);
                }
                found = Some(Terms { field: key.to_owned(), values: values.into() });
            }
            (_, Json::Object(_)) => {
                if found.is_some() || lookup.is_some() {
                    let reason = format!(
                        "[{NAME}] query does not support more than one field. \
                                          Already got: [{key}] but also found [{key}]"
                    );
                    return Err(Fault::parsing(value.at, reason));
                }
                lookup = Some(terms_lookup(key, value)?);
            }
            ("boost", _) if is_value(value) => factor = boost(value)?,
            ("_name", _) if is_value(value) => name = Some(text(value)?),
            (_, Json::Null) => return Err(unknown_token(NAME, key, value)),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    if let Some(lookup) = lookup {
        return Ok(Query { node: Ask::TermsLookup(lookup), boost: factor, name });
    }
    let Some(found) = found else {
        let reason = "[terms] query requires a field name, followed by array of terms or a \
                      document lookup specification";
        return Err(Fault::parsing(body.end, reason));
    };
    if found.field.is_empty() {
        return Err(Fault::illegal(body.end, "field name cannot be null."));
    }
    Ok(Query { node: Ask::Terms(found), boost: factor, name })
}

/// Where the values of a `terms` query stand.
fn terms_lookup(field: &str, body: &Node) -> Read<TermsLookup> {
    let fields = [
        ("index", Takes::String),
        ("id", Takes::Value),
        ("path", Takes::String),
        ("routing", Takes::Value),
    ];
    let (mut index, mut id, mut path, mut routing) = (None, None, None, None);
    object("terms_lookup", &fields, body, |key, value| {
        match key {
            "index" => index = Some(text(value)?),
            "id" => id = Some(text(value)?),
            "path" => path = Some(text(value)?),
            _ => routing = text_or_null(value)?,
        }
        Ok(())
    })?;
    let missing = |what: &str| {
        let reason = format!("[terms] query lookup element requires specifying the {what}.");
        Fault::illegal(body.end, reason)
    };
    Ok(TermsLookup {
        field: field.to_owned(),
        index: index.ok_or_else(|| missing("index"))?,
        id: id.ok_or_else(|| missing("id"))?,
        path: path.ok_or_else(|| missing("path"))?,
        routing,
    })
}

/// `range`.
pub fn range(body: &Node) -> Read<Query> {
    const NAME: &str = "range";
    let mut field = OneField::default();
    let (mut from, mut to) = (None, None);
    let (mut include_lower, mut include_upper) = (true, true);
    let (mut format, mut time_zone, mut relation) = (None, None, Relation::Intersects);
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let at = member.value.at;
        let Json::Object(options) = &member.value.kind else {
            if is_value(&member.value) {
                return Err(unsupported(NAME, &member.key, &member.value));
            }
            continue;
        };
        field.set(NAME, &member.key, at)?;
        for option in options {
            let (key, value) = (option.key.as_str(), &option.value);
            match key {
                "from" => from = scalar(value)?,
                "to" => to = scalar(value)?,
                "include_lower" => include_lower = boolean(value)?,
                "include_upper" => include_upper = boolean(value)?,
                "gt" | "gte" => (from, include_lower) = (scalar(value)?, key == "gte"),
                "lt" | "lte" => (to, include_upper) = (scalar(value)?, key == "lte"),
                "time_zone" => time_zone = Some((text(value)?, value.at)),
                "format" => format = Some((text(value)?, value.at)),
                "relation" => relation = self::relation(value)?,
                "boost" => factor = boost(value)?,
                "_name" => name = Some(text(value)?),
                _ => return Err(unsupported(NAME, key, value)),
            }
        }
    }
    let field = field.required(body.end)?;
    if let Some((text, at)) = &time_zone {
        // Its builder tells Java's exception inside of another, by name.
        Zone::parse(text).map_err(|error| {
            let class = match error.kind {
                mapping::ErrorKind::ZoneRules => "java.time.zone.ZoneRulesException",
                _ => "java.time.DateTimeException",
            };
            let outer = Error::new(Kind::IllegalArgument, format!("{class}: {}", error.reason));
            Fault { error: outer.caused_by(error.into()), at: *at }
        })?;
    }
    if let Some((text, at)) = &format {
        DateFormat::parse_pattern(text).map_err(|error| Fault { error: error.into(), at: *at })?;
    }
    let found = Range {
        field,
        lower: from.map(|value| Bound { value, inclusive: include_lower }),
        upper: to.map(|value| Bound { value, inclusive: include_upper }),
        format: format.map(|(text, _)| text),
        time_zone: time_zone.map(|(text, _)| text),
        relation,
    };
    Ok(Query { node: Ask::Range(found), boost: factor, name })
}

fn relation(value: &Node) -> Read<Relation> {
    let word = text(value)?;
    match word.to_ascii_lowercase().as_str() {
        "intersects" => Ok(Relation::Intersects),
        "within" => Ok(Relation::Within),
        "contains" => Ok(Relation::Contains),
        "disjoint" => {
            let reason = format!("[range] query does not support relation [{word}]");
            Err(Fault::illegal(value.at, reason))
        }
        _ => Err(Fault::illegal(value.at, format!("{word} is not a valid relation"))),
    }
}

/// `exists`.
pub fn exists(body: &Node) -> Read<Query> {
    const NAME: &str = "exists";
    let mut field = None;
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        if !is_value(value) {
            return Err(unknown_token(NAME, key, value));
        }
        match key {
            "field" => field = Some(text(value)?),
            "boost" => factor = boost(value)?,
            "_name" => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    match field {
        None => Err(Fault::parsing(body.end, "[exists] must be provided with a [field]")),
        Some(field) if field.is_empty() => {
            Err(Fault::illegal(body.end, "field name is null or empty"))
        }
        Some(field) => Ok(Query { node: Ask::Exists(field), boost: factor, name }),
    }
}

/// `ids`.
pub fn ids(body: &Node) -> Read<Query> {
    let fields = [("values", Takes::Strings), ("boost", Takes::Number), ("_name", Takes::String)];
    let mut values = Vec::new();
    let (mut factor, mut name) = (1.0, None);
    object("ids", &fields, body, |key, value| {
        match (key, &value.kind) {
            ("values", Json::Array(nodes)) => {
                for node in nodes {
                    values.push(text(node)?);
                }
            }
            ("values", _) => values.push(text(value)?),
            ("boost", _) => factor = boost(value)?,
            _ => name = Some(text(value)?),
        }
        Ok(())
    })
    .map_err(Fault::again_as_parsing)?;
    Ok(Query { node: Ask::Ids(values), boost: factor, name })
}
