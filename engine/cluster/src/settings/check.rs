//! May this setting be set now, to this value? In Elasticsearch's words where not.

use base::units;
use json::Value;
use mapping::types::boolean;

use super::read::scalar;
use super::values;
use crate::command::Rules;
use crate::error::{Error, Result};
use crate::settings_table::{Kind, Known, PREFIXES, TABLE, Type, find_by};

/// At which moment a setting is set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Create,
    Open,
    Closed,
}

/// Why a setting is refused.
pub(super) enum Refusal {
    /// Not at this moment.
    Fixed,
    /// Never.
    Wrong(Error),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Wrong(error) => error,
            Refusal::Fixed => Error::argument("the setting cannot be set now"),
        }
    }
}

/// By these rules.
pub(super) fn check_by(
    rules: Rules,
    name: &str,
    value: &Value,
    change: Change,
) -> std::result::Result<(), Refusal> {
    if name.starts_with("index.analysis.") {
        return if change == Change::Open { Err(Refusal::Fixed) } else { Ok(()) };
    }
    // Judged together, as each is a part of a definition (`IndexSettings::parse`).
    if name.strip_prefix("index.similarity.").is_some_and(|rest| rest.contains('.')) {
        return if change == Change::Open { Err(Refusal::Fixed) } else { Ok(()) };
    }
    if PREFIXES.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()))
    {
        return values::addresses(name, value.as_str().unwrap_or_default()).map_err(Refusal::Wrong);
    }
    let known = match (find_by(rules, name), rules) {
        (None, _) => return Err(Refusal::Wrong(unknown(name))),
        (Some(known), Rules::Former | Rules::Now) => known,
        (Some(known), Rules::Before) => &before_6(*known),
    };
    if known.ty == Type::Gone && change == Change::Create && !value.is_null() {
        return Err(Refusal::Wrong(Error::Invalid {
            problems: vec![format!(
                "per-index custom data path using setting [{name}] is no longer supported on new \
                 indices"
            )],
        }));
    }
    match (known.kind, change) {
        (Kind::Private, Change::Create) => {
            return Err(Refusal::Wrong(Error::Invalid {
                problems: vec![format!("private index setting [{name}] can not be set explicitly")],
            }));
        }
        (Kind::Private, _) => {
            return Err(Refusal::Wrong(Error::argument(format!(
                "can not update private setting [{name}]; this setting is managed by Elasticsearch"
            ))));
        }
        (Kind::Final, Change::Open | Change::Closed) | (Kind::Static, Change::Open) => {
            return Err(Refusal::Fixed);
        }
        _ => {}
    }
    if value.is_null() {
        return Ok(());
    }
    let checked = match value {
        // Logs hold such settings, which were refused.
        Value::String(text) if known.ty == Type::Bytes && units::is_no_size(text) => {
            Err(no_text(known, name, value))
        }
        Value::String(text) => check_text(known, text),
        Value::Array(_) if known.ty == Type::List => Ok(()),
        other => Err(no_text(known, name, other)),
    };
    checked.map_err(Refusal::Wrong)
}

/// Why a value that is no text is none of a setting of this type: Elasticsearch reads a list as the text that
/// Java makes of it, `[1, 2]`.
pub(crate) fn no_text(known: &Known, name: &str, value: &Value) -> Error {
    let texts = value.as_array().and_then(java_text);
    let judged = texts.as_ref().map_or(Ok(()), |text| check_text(known, text));
    let text = texts.unwrap_or_else(|| json::to_string(value));
    judged.err().unwrap_or_else(|| {
        Error::argument(format!("Failed to parse value [{text}] for setting [{name}]"))
    })
}

/// The text that Java makes of a list of texts, numbers and flags: `[a, 1]`. None of any other list.
pub(super) fn java_text(items: &[Value]) -> Option<String> {
    let texts: Option<Vec<String>> = items.iter().map(scalar).collect();
    texts.map(|texts| format!("[{}]", texts.join(", ")))
}

/// A setting as [`Rules::Before`] has it.
fn before_6(known: Known) -> Known {
    match (known.name, known.ty) {
        ("index.fielddata.cache", _) => Known { kind: Kind::Final, ..known },
        (
            "index.mapping.depth.limit"
            | "index.mapping.dimension_fields.limit"
            | "index.mapping.nested_fields.limit"
            | "index.mapping.nested_objects.limit"
            | "index.mapping.total_fields.limit",
            Type::Int(min, _),
        ) => Known { ty: Type::Int(min, i64::from(i32::MAX)), ..known },
        _ => known,
    }
}

/// Modes of indices that Elasticsearch has, and this store has not yet.
const MODES_ABSENT: [&str; 3] = ["time_series", "logsdb", "lookup"];

pub(crate) fn check_text(known: &Known, text: &str) -> Result<()> {
    check_as(known.name, known.ty, text)
}

/// May the setting of that name, whose values look so, be set to this text?
pub(crate) fn check_as(name: &str, ty: Type, text: &str) -> Result<()> {
    match ty {
        Type::Int(min, max) => {
            // Of numbers of 32 bits, one that has more is no number.
            let fits = |number: &i64| {
                [min, max].iter().any(|bound| i32::try_from(*bound).is_err())
                    || i32::try_from(*number).is_ok()
            };
            let Some(number) = text.parse::<i64>().ok().filter(fits) else {
                return Err(Error::Argument {
                    reason: format!("Failed to parse value [{text}] for setting [{name}]"),
                    number: Some(text.to_owned()),
                });
            };
            let bound = match () {
                () if number < min => format!("must be >= {min}"),
                () if number > max => format!("must be <= {max}"),
                () => return Ok(()),
            };
            Err(Error::argument(format!(
                "Failed to parse value [{text}] for setting [{name}] {bound}"
            )))
        }
        Type::Bool if text != "true" && text != "false" => {
            Err(Error::argument(boolean::neither(text)))
        }
        Type::Time { never } => match values::time(name, text)? {
            None if !never => Err(values::too_small(name, text, "0ms")),
            // Only -1 itself stands for never: a second below zero is less than that millisecond.
            None if values::is_below_minus_one(text) => Err(values::too_small(name, text, "-1")),
            _ => Ok(()),
        },
        Type::TimeFrom(least) => values::time_from(name, text, least).map(drop),
        Type::TimeIn(least, most) => values::time_in(name, text, (least, most)),
        Type::Bytes => values::size(name, text).map(drop),
        Type::BytesFrom(least) => values::size_from(name, text, least),
        Type::Level => values::level(text),
        Type::Shown => match text {
            "true" | "false" => Ok(()),
            _ if text.parse::<i32>().is_ok() => Ok(()),
            _ => Err(Error::argument(boolean::neither(text))),
        },
        Type::Watermark => values::Share::parse(name, text).map(drop),
        Type::Memory => values::memory(name, text),
        Type::Rate => values::rate(text),
        Type::Word(words) if words.contains(&text) => Ok(()),
        Type::AnyCase(words) if words.contains(&text.to_ascii_lowercase().as_str()) => Ok(()),
        Type::Word(_) | Type::AnyCase(_) => Err(Error::argument(match name {
            "index.mode" if MODES_ABSENT.contains(&text) => format!(
                "unsupported value [{text}] for setting [index.mode]: of the index modes only \
                 [standard] is there"
            ),
            "index.mode" => {
                format!("[{text}] is an invalid index mode, valid modes are: [standard]")
            }
            "index.codec" => format!(
                "unknown value for [index.codec] must be one of [default, best_compression] but \
                 was: {text}"
            ),
            "index.translog.durability" => format!(
                "No enum constant org.elasticsearch.index.translog.Translog.Durability.{}",
                text.to_uppercase()
            ),
            "index.merge.policy.type" => format!(
                "No enum constant org.elasticsearch.index.MergePolicyConfig.Type.{}",
                text.to_uppercase()
            ),
            "index.mapping.synthetic_source_keep" if text.eq_ignore_ascii_case("all") => {
                format!("{name} can't be set to [all]")
            }
            "index.mapping.synthetic_source_keep" => format!(
                "No enum constant org.elasticsearch.index.mapper.Mapper.SourceKeepMode.{}",
                text.to_uppercase()
            ),
            "index.store.type" => format!("Unknown store type [{text}]"),
            "index.store.fs.fs_lock" => {
                format!("unrecognized [{name}] \"{text}\": must be native or simple")
            }
            "index.shard.check_on_startup" => format!(
                "unknown value for [index.shard.check_on_startup] must be one of [true, false, \
                 checksum] but was: {text}"
            ),
            "cluster.no_master_block" => format!(
                "invalid no-master block [{text}], must be one of [all, write, metadata_write]"
            ),
            "cluster.routing.allocation.allow_rebalance" => {
                format!("Illegal value for {name}: {text}")
            }
            _ if name.ends_with("allocation.enable") => {
                format!("Illegal allocation.enable value [{}]", text.to_uppercase())
            }
            _ if name.ends_with("rebalance.enable") => {
                format!("Illegal rebalance.enable value [{}]", text.to_uppercase())
            }
            _ => format!("Failed to parse value [{text}] for setting [{name}]"),
        })),
        Type::Expand => check_expand(name, text),
        Type::Copies if text != "all" && text.parse::<u32>().is_err() => {
            Err(match text.parse::<i32>() {
                Ok(_) => Error::argument("shard count cannot be a negative value"),
                Err(_) => Error::Argument {
                    reason: format!("cannot parse ActiveShardCount[{text}]"),
                    number: Some(text.to_owned()),
                },
            })
        }
        Type::FloatIn(min, max) => values::float_in(name, text, min, max),
        Type::Compound => values::compound(name, text),
        Type::Gone | Type::Bool | Type::Copies | Type::Text | Type::List => Ok(()),
    }
}

/// `false`, `0-1`, `0-all`.
fn check_expand(name: &str, text: &str) -> Result<()> {
    if text == "false" {
        return Ok(());
    }
    // Where the dash is, and what before or behind it is no number.
    let bad = |at: i64, number: Option<&str>| Error::Argument {
        reason: format!("failed to parse [{name}] from value: [{text}] at index {at}"),
        number: number.map(str::to_owned),
    };
    let Some((min, max)) = text.split_once('-') else { return Err(bad(-1, None)) };
    let number = |part: &str| {
        let number = part.parse::<i64>().ok().filter(|number| *number <= i64::from(u32::MAX));
        number.ok_or_else(|| bad(min.len() as i64, Some(part)))
    };
    let lowest = number(min)?;
    if max == "all" {
        return Ok(());
    }
    let (min, max) = (lowest, number(max)?);
    if min > max {
        return Err(Error::argument(format!(
            "[{name}] minReplicas must be =< maxReplicas but wasn't {min} > {max}"
        )));
    }
    Ok(())
}

/// The refusal of an unknown setting, with the names that are near.
fn unknown(name: &str) -> Error {
    let meant = base::near::meant(name, TABLE.iter().map(|known| known.name), 0.7);
    let hint = meant.unwrap_or_else(|| {
        "please check that any required plugins are installed, or check the breaking changes \
         documentation for removed settings"
            .to_owned()
    });
    Error::argument(format!("unknown setting [{name}] {hint}"))
}
