//! Settings of an index as somebody asks for them, before they are a command: what a log would take otherwise than
//! Elasticsearch takes it is put in words that mean the same to both, or refused.
//!
//! A log is done again as it was done at first, by whichever version: what it holds of a setting that was refused must
//! be refused for ever. So what is taken since then is not judged where commands are applied, but here, once.
//!
//! 1. A list for a setting that is one text becomes the text that Java makes of it: `[a, b]`. So Elasticsearch reads it.
//! 2. `-1b` for a size becomes `-1`, which is the same size: none.
//! 3. Addresses in lists, and tiers, are judged; `1M` is no minute.

use std::borrow::Cow;

use base::units;
use json::{Object, Value};

use super::check::java_text;
use super::read::DEPTH_MAX;
use super::values;
use crate::error::{Error, Result};
use crate::settings_table::{Kind, Type, find};

/// The tiers that a node of Elasticsearch may be of.
const TIERS: [&str; 5] = ["data_frozen", "data_cold", "data_warm", "data_hot", "data_content"];

/// For indices that are kept elsewhere alone.
const FROZEN: &str = TIERS[0];

const TIER_PREFERENCE: &str = "index.routing.allocation.include._tier_preference";

/// The settings in words that a log means as Elasticsearch does. What is no object, or too deep, is refused elsewhere.
///
/// # Errors
/// An address or a tier that is none, in Elasticsearch's words.
pub fn plain(settings: &Value) -> Result<Cow<'_, Value>> {
    let Some(object) = settings.as_object() else { return Ok(Cow::Borrowed(settings)) };
    Ok(match walk("", object, 0)? {
        Some(changed) => Cow::Owned(Value::Object(changed)),
        None => Cow::Borrowed(settings),
    })
}

/// The object with what must change in it; nothing where nothing must.
fn walk(prefix: &str, object: &Object, depth: usize) -> Result<Option<Object>> {
    if depth > DEPTH_MAX {
        return Ok(None);
    }
    let mut changed: Option<Object> = None;
    for (key, value) in object.iter() {
        let name = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        let other = match value {
            Value::Object(inner) => walk(&name, inner, depth + 1)?.map(Value::Object),
            _ if name.starts_with("index.") => one(&name, value)?,
            _ => one(&format!("index.{name}"), value)?,
        };
        if let Some(other) = other {
            changed.get_or_insert_with(|| object.clone()).insert(key, other);
        }
    }
    Ok(changed)
}

/// Other words for a value.
fn one(name: &str, value: &Value) -> Result<Option<Value>> {
    if name == TIER_PREFERENCE {
        let list = value.as_array().and_then(java_text);
        tiers(list.as_deref().or(value.as_str()).unwrap_or_default())?;
        return Ok(None);
    }
    let Some(known) = find(name) else {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).try_for_each(|text| values::addresses(name, text))?;
        return Ok(None);
    };
    Ok(match value {
        Value::String(text) if known.ty == Type::Bytes && units::is_no_size(text) => {
            Some("-1".into())
        }
        Value::String(text) if is_time(known.ty) => match units::no_minutes(name, text) {
            Some(reason) => return Err(Error::argument(reason)),
            None => None,
        },
        Value::Array(items) if known.ty == Type::Text && known.kind != Kind::Private => {
            java_text(items).map(Value::from)
        }
        _ => None,
    })
}

/// Is a setting of this type a time?
pub(crate) fn is_time(ty: Type) -> bool {
    matches!(ty, Type::Time { .. } | Type::TimeFrom(_) | Type::TimeIn(..))
}

/// Tiers that an index would rather be on, the first that there is.
fn tiers(text: &str) -> Result<()> {
    let mut names = text.split(',').filter(|_| !text.trim().is_empty());
    if names.clone().any(|name| !TIERS.contains(&name)) {
        return Err(Error::argument(format!(
            "invalid tier names found in [{text}] allowed values are [{}]",
            TIERS.join(", ")
        )));
    }
    if names.any(|name| name == FROZEN) {
        return Err(Error::argument(format!(
            "[{FROZEN}] tier can only be used for partial searchable snapshots"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(settings: &str) -> String {
        let settings = json::parse(settings.as_bytes()).expect("JSON");
        match plain(&settings) {
            Ok(Cow::Borrowed(same)) => {
                assert_eq!(same, &settings);
                "as it is".into()
            }
            Ok(Cow::Owned(other)) => json::to_string(&other),
            Err(error) => error.to_string(),
        }
    }

    /// Both were refused, as what logs hold of them must be.
    #[test]
    fn what_a_log_takes_otherwise_is_put_in_other_words() {
        for (settings, words) in [
            (
                r#"{"index":{"default_pipeline":["a",1],"priority":2},"final_pipeline":[]}"#,
                r#"{"index":{"default_pipeline":"[a, 1]","priority":2},"final_pipeline":"[]"}"#,
            ),
            (
                r#"{"translog":{"retention.size":"-1b"},"merge.policy.floor_segment":"-1B"}"#,
                r#"{"translog":{"retention.size":"-1"},"merge.policy.floor_segment":"-1"}"#,
            ),
            (
                r#"{"query.default_field":["a","b"],"number_of_shards":["1"],"index.uuid":["x"]}"#,
                "as it is",
            ),
            (r#"{"translog.flush_threshold_size":"-1b","compound_format":"-1b"}"#, "as it is"),
            (r#"{"routing.allocation.exclude._name":["a"],"analysis.x.y":["-1b"]}"#, "as it is"),
            (r#"{"default_pipeline":[["a"]],"final_pipeline":[null]}"#, "as it is"),
            (r#"{"refresh_interval":"1m","default_pipeline":"1M"}"#, "as it is"),
            (
                r#"{"index":{"refresh_interval":"1M"}}"#,
                "failed to parse setting [index.refresh_interval] with value [1M] as a time value: \
                 unit is missing or unrecognized",
            ),
            ("[]", "as it is"),
        ] {
            assert_eq!(said(settings), words, "{settings}");
        }
    }

    /// A list of anything was taken for addresses, and any word for a tier.
    #[test]
    fn addresses_of_lists_and_tiers_are_judged() {
        const TIER: &str = "routing.allocation.include._tier_preference";
        let fine = ["10.0.0.1,10.0.*", "::1"].map(|text| format!("{text:?}")).join(",");
        let ip = |list: &str| said(&format!(r#"{{"routing.allocation.require._ip":[{list}]}}"#));
        assert_eq!(ip(&fine), "as it is");
        let told = "invalid IP address [no] for [index.routing.allocation.require._ip]";
        assert_eq!(ip(&format!(r#"{fine},"no""#)), told);
        let tier = |value: &str| said(&format!(r#"{{"index.{TIER}":{value}}}"#));
        for fine in ["null", r#""""#, r#"" ""#, r#""data_hot""#, r#""data_warm,data_hot""#] {
            assert_eq!(tier(fine), "as it is", "{fine}");
        }
        for (value, text) in [
            (r#""data_hot,x""#, "data_hot,x"),
            (r#""data_hot, data_warm""#, "data_hot, data_warm"),
            (r#"["data_hot"]"#, "[data_hot]"),
        ] {
            let told = format!(
                "invalid tier names found in [{text}] allowed values are [data_frozen, data_cold, \
                 data_warm, data_hot, data_content]"
            );
            assert_eq!(tier(value), told);
        }
        let frozen = "[data_frozen] tier can only be used for partial searchable snapshots";
        assert_eq!(tier(r#""data_frozen,data_hot""#), frozen);
    }
}
