//! `index.sort.*`: four lists that belong together, key by key.

use mapping::SortSpec;

use super::IndexSettings;
use crate::error::{Error, Result};

/// Keys at most: as many as a segment tells (`segment::order`).
const KEYS_MAX: usize = 64;

const FIELD: &str = "index.sort.field";
const ORDER: &str = "index.sort.order";
const MODE: &str = "index.sort.mode";
const MISSING: &str = "index.sort.missing";

/// The keys by which an index is sorted; none where it is not.
///
/// # Errors
/// A value that is none, lists of different lengths: in Elasticsearch's words.
pub(super) fn read(settings: &IndexSettings) -> Result<Vec<SortSpec>> {
    let orders: Vec<bool> =
        each(settings, ORDER, |text| match text.to_ascii_lowercase().as_str() {
            "asc" => Ok(false),
            "desc" => Ok(true),
            _ => Err(format!("Illegal sort order:{text}")),
        })?;
    let modes: Vec<bool> = each(settings, MODE, |text| match text.to_ascii_uppercase().as_str() {
        "MIN" => Ok(false),
        "MAX" => Ok(true),
        other @ ("SUM" | "AVG" | "MEDIAN") => {
            Err(format!("Illegal index sort mode:[{other}], must be one of [MAX, MIN]"))
        }
        _ => Err(format!("Illegal sort mode: {text}")),
    })?;
    let missing: Vec<bool> = each(settings, MISSING, |text| match text {
        "_last" => Ok(false),
        "_first" => Ok(true),
        _ => Err(format!("Illegal missing value:[{text}], must be one of [_last, _first]")),
    })?;
    let fields = settings.list(FIELD);
    if fields.len() > KEYS_MAX {
        return Err(Error::argument(format!(
            "[{FIELD}] has {} keys, at most {KEYS_MAX} are allowed",
            fields.len()
        )));
    }
    let printed = |values: Vec<&str>| values.join(", ");
    let alike = |name: &str, found: Option<Vec<&str>>| match found {
        Some(found) if found.len() != fields.len() => Err(Error::argument(format!(
            "{FIELD}:[{}] {name}:[{}], size mismatch",
            fields.join(", "),
            printed(found)
        ))),
        _ => Ok(()),
    };
    let is_set = |name: &str| settings.flat.contains_key(name);
    let words = |flags: &[bool], no: &'static str, yes: &'static str| {
        flags.iter().map(|flag| if *flag { yes } else { no }).collect()
    };
    alike(ORDER, is_set(ORDER).then(|| words(&orders, "asc", "desc")))?;
    alike(MODE, is_set(MODE).then(|| words(&modes, "MIN", "MAX")))?;
    alike(MISSING, is_set(MISSING).then(|| words(&missing, "_last", "_first")))?;
    let keys = fields.into_iter().enumerate().map(|(at, field)| {
        let descending = orders.get(at).copied().unwrap_or(false);
        SortSpec {
            field: field.into(),
            descending,
            greatest: modes.get(at).copied().unwrap_or(descending),
            missing_first: missing.get(at).copied().unwrap_or(false),
        }
    });
    Ok(keys.collect())
}

fn each(
    settings: &IndexSettings,
    name: &str,
    read: impl Fn(&str) -> std::result::Result<bool, String>,
) -> Result<Vec<bool>> {
    settings.list(name).iter().map(|text| read(text).map_err(Error::argument)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<SortSpec>> {
        let settings = json::parse(text.as_bytes()).expect("valid JSON");
        IndexSettings::parse(&settings).and_then(|settings| read(&settings))
    }

    #[test]
    fn lists_belong_together_key_by_key() {
        let found =
            parse(r#"{"sort.field":["a","b"],"sort.order":["desc","asc"]}"#).expect("reads");
        let key = |field: &str, descending| SortSpec {
            field: field.into(),
            descending,
            greatest: descending,
            missing_first: false,
        };
        assert_eq!(found, [key("a", true), key("b", false)]);
        let found = parse(r#"{"sort.field":"a","sort.mode":"max","sort.missing":"_first"}"#);
        assert_eq!(
            found,
            Ok(vec![SortSpec { greatest: true, missing_first: true, ..key("a", false) }])
        );
        assert_eq!(parse("{}"), Ok(Vec::new()));
    }

    #[test]
    fn wrong_lists_are_refused_in_elasticsearchs_words() {
        for (text, reason) in [
            (r#"{"sort.field":"a","sort.order":"up"}"#, "Illegal sort order:up"),
            (r#"{"sort.field":"a","sort.mode":"x"}"#, "Illegal sort mode: x"),
            (
                r#"{"sort.field":"a","sort.mode":"avg"}"#,
                "Illegal index sort mode:[AVG], must be one of [MAX, MIN]",
            ),
            (
                r#"{"sort.field":"a","sort.missing":"0"}"#,
                "Illegal missing value:[0], must be one of [_last, _first]",
            ),
            (
                r#"{"sort.field":["a","b"],"sort.order":["asc"]}"#,
                "index.sort.field:[a, b] index.sort.order:[asc], size mismatch",
            ),
            (
                r#"{"sort.missing":["_last"]}"#,
                "index.sort.field:[] index.sort.missing:[_last], size mismatch",
            ),
        ] {
            assert_eq!(parse(text).expect_err(text).to_string(), reason);
        }
    }
}
