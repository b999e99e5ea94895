//! Bodies of this family: objects whose fields are named, each of a kind.

use engine::{Error, Result};
use json::{Object, Value};

/// An object of a request, with a name for its complaints.
pub(super) struct Body<'a> {
    object: &'a Object,
    /// `add user request`.
    what: String,
}

impl<'a> Body<'a> {
    /// Takes an object all of whose fields are `known`.
    ///
    /// # Errors
    /// `failed to parse WHAT. unexpected field [x]`.
    pub fn new(value: &'a Value, what: impl Into<String>, known: &[&str]) -> Result<Self> {
        let what = what.into();
        let Some(object) = value.as_object() else {
            return Err(Error::parse(format!("failed to parse {what}. expected an object")));
        };
        if let Some(unknown) = object.keys().find(|key| !known.contains(key)) {
            return Err(Error::parse(format!(
                "failed to parse {what}. unexpected field [{unknown}]"
            )));
        }
        Ok(Self { object, what })
    }

    fn wrong(&self, name: &str, expected: &str, found: &Value) -> Error {
        Error::parse(format!(
            "failed to parse {}. expected field [{name}] to be {expected}, but found [{}] instead",
            self.what,
            found.token()
        ))
    }

    /// A field that is there and not `null`.
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// A text.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>> {
        self.value(name)
            .map(|value| value.as_str().ok_or_else(|| self.wrong(name, "a string", value)))
            .transpose()
    }

    /// A truth.
    pub fn flag(&self, name: &str) -> Result<Option<bool>> {
        let read = |value: &Value| match value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) if text == "true" => Some(true),
            Value::String(text) if text == "false" => Some(false),
            _ => None,
        };
        self.value(name)
            .map(|value| read(value).ok_or_else(|| self.wrong(name, "a boolean", value)))
            .transpose()
    }

    /// An object.
    pub fn object(&self, name: &str) -> Result<Option<&'a Object>> {
        self.value(name)
            .map(|value| value.as_object().ok_or_else(|| self.wrong(name, "an object", value)))
            .transpose()
    }

    /// A list.
    pub fn list(&self, name: &str) -> Result<Option<&'a [Value]>> {
        self.value(name)
            .map(|value| value.as_array().ok_or_else(|| self.wrong(name, "an array", value)))
            .transpose()
    }

    /// Texts: a list, or one alone. Text with commas is several.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let wrong = || self.wrong(name, "a string or an array of strings", value);
        match value {
            Value::String(text) => Ok(Some(
                text.split(',')
                    .map(|one| one.trim().to_owned())
                    .filter(|one| !one.is_empty())
                    .collect(),
            )),
            Value::Array(items) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                Ok(Some(texts.collect::<Option<_>>().ok_or_else(wrong)?))
            }
            _ => Err(wrong()),
        }
    }
}

/// Is this a legal name of a user or role?
pub(super) fn check_name(kind: &str, name: &str) -> Result<()> {
    let is_legal = (1..=507).contains(&name.chars().count())
        && name.trim() == name
        && name.chars().all(|c| c.is_ascii() && !c.is_ascii_control());
    if is_legal {
        return Ok(());
    }
    Err(Error::validation(&[format!(
        "{kind} names must be at least 1 and no more than 507 characters. They can contain \
         alphanumeric characters (a-z, A-Z, 0-9), spaces, punctuation, and printable symbols in the \
         Basic Latin (ASCII) block. Leading or trailing whitespace is not allowed."
    )]))
}
