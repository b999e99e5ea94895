//! `composite`.

use json::spanned::{Kind as Json, Node};

use super::super::context::{Fault, Read, Takes, boolean, members, object, scalar, text};
use super::geo::precision;
use super::interval::{offset, set_interval};
use super::values::{Knows, double, positive, values_object};
use crate::aggs::spec::{Composite, CompositeKind, CompositeSource, Interval, Kind};
use crate::error::{Error, Kind as ErrorKind};

/// `composite`.
pub fn read(name: &str, node: &Node) -> Read<Kind> {
    let fields = [("sources", Takes::Any), ("size", Takes::Number), ("after", Takes::Object)];
    let (mut sources, mut size, mut after): (Option<Vec<_>>, _, _) = (None, 10, None);
    object("composite", &fields, node, |key, value| {
        match key {
            "sources" => {
                let nodes = match &value.kind {
                    Json::Array(nodes) => nodes.as_slice(),
                    _ => std::slice::from_ref(value),
                };
                let found = nodes.iter().map(source).collect::<Read<Vec<_>>>()?;
                if found.is_empty() {
                    let cause = Error::illegal("Composite [sources] cannot be null or empty");
                    let reason = "Failed to build [composite] after last required field arrived";
                    let error = Error::new(ErrorKind::XContent, reason).caused_by(cause);
                    return Err(Fault { error, at: value.end });
                }
                check_names(&found, value)?;
                sources = Some(found);
            }
            "size" => size = positive("size", name, value)?,
            _ => {
                let mut values = Vec::new();
                for member in members(value) {
                    values.push((member.key.clone(), scalar(&member.value)?, member.value.at));
                }
                after = Some((values, value.end));
            }
        }
        Ok(())
    })?;
    let Some(sources) = sources else {
        return Err(Fault::illegal(node.end, "Required [sources]"));
    };
    let after = match after {
        None => None,
        Some((mut values, at)) => {
            if values.len() != sources.len() {
                let reason = format!(
                    "[after] has {} value(s) but [sources] has {}",
                    values.len(),
                    sources.len()
                );
                return Err(Fault::illegal(at, reason));
            }
            let mut ordered = Vec::with_capacity(sources.len());
            for source in &sources {
                let place = values.iter().position(|(key, _, _)| *key == source.name);
                let Some(place) = place else {
                    let reason = format!("Missing value for [after.{}]", source.name);
                    return Err(Fault::illegal(at, reason));
                };
                let (_, value, at) = values.swap_remove(place);
                if value.is_none() && !source.missing_bucket {
                    let reason =
                        format!("Invalid value for [after.{}], null is not allowed", source.name);
                    return Err(Fault::illegal(at, reason));
                }
                ordered.push(value);
            }
            Some(ordered)
        }
    };
    Ok(Kind::Composite(Box::new(Composite { sources, size, after })))
}

fn check_names(sources: &[CompositeSource], node: &Node) -> Read<()> {
    let mut twice: Vec<&str> = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let name = source.name.as_str();
        if sources[..at].iter().any(|other| other.name == name) && !twice.contains(&name) {
            twice.push(name);
        }
    }
    if twice.is_empty() {
        return Ok(());
    }
    let reason =
        format!("Composite source names must be unique, found duplicates: [{}]", twice.join(","));
    Err(Fault::illegal(node.end, reason))
}

fn source(node: &Node) -> Read<CompositeSource> {
    let [named] = members(node) else {
        let reason = format!("Unexpected token {} in [sources]", node.token());
        return Err(Fault::parsing(node.at, reason));
    };
    let name = named.key.clone();
    let [typed] = members(&named.value) else {
        let reason = format!("Unexpected token {} in [{name}]", named.value.token());
        return Err(Fault::parsing(named.value.at, reason));
    };
    let body = &typed.value;
    let (parser, own): (_, &[(&'static str, Takes)]) = match typed.key.as_str() {
        "terms" => ("terms", &[]),
        "histogram" => ("histogram", &[("interval", Takes::Number)]),
        "date_histogram" => (
            "date_histogram",
            &[
                ("calendar_interval", Takes::String),
                ("fixed_interval", Takes::String),
                ("offset", Takes::Value),
            ],
        ),
        "geotile_grid" => {
            ("geotile_grid", &[("precision", Takes::Number), ("bounds", Takes::Object)])
        }
        other => return Err(Fault::parsing(body.at, format!("invalid source type: {other}"))),
    };
    let mut fields = vec![
        ("order", Takes::String),
        ("missing_bucket", Takes::Bool),
        ("missing_order", Takes::String),
    ];
    fields.extend_from_slice(own);
    let mut found = CompositeSource {
        name,
        values: Default::default(),
        kind: CompositeKind::Terms,
        descending: false,
        missing_bucket: false,
        missing_first: None,
    };
    let (mut interval, mut moved, mut width, mut level) = (None, 0, None, 7);
    let mut knows = Knows::new(parser);
    knows.zone = parser == "date_histogram";
    let values = values_object(knows, &fields, body, |key, value| {
        match key {
            "order" => {
                found.descending = match text(value)?.to_ascii_lowercase().as_str() {
                    "asc" => false,
                    "desc" => true,
                    other => {
                        return Err(Fault::illegal(
                            value.at,
                            format!("Unknown sort order [{other}]"),
                        ));
                    }
                };
            }
            "missing_bucket" => found.missing_bucket = boolean(value)?,
            "missing_order" => {
                let word = text(value)?;
                found.missing_first = match word.to_ascii_lowercase().as_str() {
                    "default" => None,
                    "first" => Some(true),
                    "last" => Some(false),
                    _ => {
                        let reason = format!("Unknown missing order: [{word}]");
                        return Err(Fault::illegal(value.at, reason));
                    }
                };
            }
            "interval" => {
                let number = double(value)?;
                if number.is_nan() || number <= 0.0 {
                    return Err(Fault::illegal(
                        value.at,
                        "[interval] must be greater than 0 for [histogram] source",
                    ));
                }
                width = Some(number);
            }
            "offset" => moved = offset(value)?,
            "precision" => level = precision(value, true)?,
            "bounds" => {}
            _ => set_interval(&mut interval, key, value)?,
        }
        Ok(())
    })?;
    if values.missing.is_some() {
        return Err(Fault::content(
            body.at,
            body.end,
            format_args!("[{parser}] unknown field [missing]"),
        ));
    }
    found.values = values;
    if found.missing_first.is_some() && !found.missing_bucket {
        return Err(Fault::illegal(body.end, "missing_order requires missing_bucket to be true"));
    }
    found.kind = match parser {
        "terms" => CompositeKind::Terms,
        "histogram" => match width {
            Some(width) => CompositeKind::Histogram(width),
            None => return Err(Fault::illegal(body.end, "Required [interval]")),
        },
        "date_histogram" => CompositeKind::Date(date_interval(interval, body)?, moved),
        _ => CompositeKind::GeoTile(level),
    };
    Ok(found)
}

fn date_interval(interval: Option<Interval>, node: &Node) -> Read<Interval> {
    interval.ok_or_else(|| Fault {
        error: Error::illegal("Invalid interval specified, must be non-null and non-empty"),
        at: node.end,
    })
}
