//! Settings of a part, which come as text as often as in their own JSON type, and lists as `"a,b"`.

use json::Value;

use crate::analysis::filter::{ENGLISH, StopWords};
use crate::types::boolean;
use crate::{Error, Result};

/// A setting as text.
pub(super) fn text(settings: &Value, key: &str) -> Option<String> {
    match settings.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.text().to_owned()),
        _ => None,
    }
}

/// A setting as a list: an array, or text with commas. A dotted list (`key.0`) is read, too.
pub(super) fn list(settings: &Value, key: &str) -> Vec<String> {
    match settings.get(key) {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| match item {
                Value::String(text) => Some(text.clone()),
                Value::Bool(value) => Some(value.to_string()),
                Value::Number(number) => Some(number.text().to_owned()),
                _ => None,
            })
            .collect(),
        Some(Value::String(text)) => {
            text.split(',').map(|item| item.trim().to_owned()).filter(|i| !i.is_empty()).collect()
        }
        Some(Value::Number(number)) => vec![number.text().to_owned()],
        _ => Vec::new(),
    }
}

/// A setting as a list whose single text is one item, commas and all (rules, patterns).
pub(super) fn rules(settings: &Value, key: &str) -> Vec<String> {
    match settings.get(key) {
        Some(Value::String(text)) => vec![text.clone()],
        _ => list(settings, key),
    }
}

/// A setting as a number that is not negative.
pub(super) fn number(settings: &Value, key: &str) -> Result<Option<u32>> {
    let Some(text) = text(settings, key) else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| {
        Error::illegal_argument(format!("Failed to parse value [{text}] for setting [{key}]"))
            .caused_by(Error::number_format(&text))
    })
}

/// A setting as a number, or what it is without.
pub(super) fn number_or(settings: &Value, key: &str, default: u32) -> Result<u32> {
    Ok(number(settings, key)?.unwrap_or(default))
}

/// A setting that is true or false.
pub(super) fn flag(settings: &Value, key: &str, default: bool) -> Result<bool> {
    match text(settings, key).as_deref() {
        None => Ok(default),
        Some("true") => Ok(true),
        Some("false" | "") => Ok(false),
        Some(other) => Err(boolean::only(other)),
    }
}

/// One character.
pub(super) fn character(settings: &Value, key: &str, default: char) -> Result<char> {
    let Some(text) = text(settings, key) else { return Ok(default) };
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => Ok(c),
        _ => Err(Error::illegal_argument(format!("{key} must be a one char value"))),
    }
}

/// A list of words as a set; the case of letters counts unless `key_case` says otherwise.
pub(super) fn words(settings: &Value, key: &str) -> Result<Option<StopWords>> {
    no_path(settings, key)?;
    if settings.get(key).is_none() {
        return Ok(None);
    }
    let ignore_case = flag(settings, &format!("{key}_case"), false)?;
    Ok(Some(StopWords::new(list(settings, key), ignore_case)))
}

/// Files are not read: settings travel with the cluster, files do not.
pub(super) fn no_path(settings: &Value, key: &str) -> Result<()> {
    let path = format!("{key}_path");
    match text(settings, &path) {
        None => Ok(()),
        Some(file) => {
            Err(Error::illegal_argument(format!("IOException while reading {path}: {file}")))
        }
    }
}

/// Stop words: `_french_` and kin, `_none_`, or the words themselves.
pub(super) fn stop_words(
    settings: &Value,
    key: &str,
    default: &str,
    ignore_case: bool,
) -> Result<StopWords> {
    no_path(settings, key)?;
    let mut names = list(settings, key);
    if settings.get(key).is_none() {
        names.push(default.to_owned());
    }
    let mut words: Vec<String> = Vec::new();
    for name in names {
        match named_words(&name) {
            Some(list) => words.extend(list.into_iter().map(str::to_owned)),
            None => words.push(name),
        }
    }
    Ok(StopWords::new(words, ignore_case))
}

/// The words that a name such as `_french_` stands for.
pub(super) fn named_words(name: &str) -> Option<Vec<&'static str>> {
    let language = name.strip_prefix('_')?.strip_suffix('_')?;
    match language {
        "none" => Some(Vec::new()),
        "english" => Some(ENGLISH.to_vec()),
        "cjk" => None,
        language => stop_list(language),
    }
}

macro_rules! stop_lists {
    ($($name:literal)*) => {
        /// The stop words of a language, as Lucene has them (`stopwords/README.md`).
        pub(super) fn stop_list(language: &str) -> Option<Vec<&'static str>> {
            let text = match language {
                $($name => include_str!(concat!("stopwords/", $name, ".txt")),)*
                _ => return None,
            };
            Some(text.lines().collect())
        }
    };
}

stop_lists! {
    "arabic" "armenian" "basque" "bengali" "brazilian" "bulgarian" "catalan" "cjk" "czech" "danish"
    "dutch" "estonian" "finnish" "french" "galician" "german" "greek" "hindi" "hungarian"
    "indonesian" "irish" "italian" "latvian" "lithuanian" "norwegian" "persian" "portuguese"
    "romanian" "russian" "serbian" "sorani" "spanish" "swedish" "thai" "turkish"
}
