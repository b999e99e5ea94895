//! Records and commands as JSON: one macro each for structures, choices and words, so that no form
//! is written twice by hand.
//!
//! Always true
//! 1. What `to_json` writes, `from_json` reads back equal.
//! 2. An absent `Option` is not written; a field that is missing and may not be is told by name.

use std::sync::Arc;

use json::{Object, Value};

/// Something with a JSON form.
pub trait Form: Sized {
    /// Its form.
    fn to_json(&self) -> Value;

    /// From its form; the error says which part does not read.
    fn from_json(value: &Value) -> std::result::Result<Self, String>;

    /// About what its form takes in memory, in bytes; none of what is not written. It is not made for that where it
    /// can be without.
    fn weight(&self) -> Option<usize> {
        let form = self.to_json();
        (!form.is_null()).then(|| weight(&form))
    }
}

/// What a value takes beside its text, in bytes.
pub(crate) const VALUE_BYTES: usize = 32;

/// About what a value takes in memory, in bytes.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => VALUE_BYTES + text.len(),
        Value::Array(items) => VALUE_BYTES + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => weight_of(members),
        _ => VALUE_BYTES,
    }
}

fn weight_of(members: &Object) -> usize {
    let members = members.iter().map(|(key, value)| VALUE_BYTES + key.len() + weight(value));
    VALUE_BYTES + members.sum::<usize>()
}

/// What a structure takes, by the names of its fields and what each takes.
pub(crate) fn together(fields: &[(&str, Option<usize>)]) -> usize {
    let written = fields.iter().filter_map(|(name, weight)| Some((name, (*weight)?)));
    VALUE_BYTES + written.map(|(name, weight)| VALUE_BYTES + name.len() + weight).sum::<usize>()
}

/// What an item of a list takes.
fn item(form: &impl Form) -> usize {
    form.weight().unwrap_or(VALUE_BYTES)
}

/// Writes one field; `null` is left out.
pub(crate) fn put<T: Form>(object: &mut Object, name: &str, field: &T) {
    let value = field.to_json();
    if !value.is_null() {
        object.insert(name, value);
    }
}

/// Reads one field; a missing one reads as `null`.
pub(crate) fn take<T: Form>(value: &Value, name: &str) -> Result<T, String> {
    T::from_json(value.get(name).unwrap_or(&Value::Null)).map_err(|why| format!("{name}: {why}"))
}

fn expected(what: &str) -> String {
    format!("is no {what}")
}

impl Form for String {
    fn to_json(&self) -> Value {
        Value::String(self.clone())
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        value.as_str().map(str::to_owned).ok_or_else(|| expected("text"))
    }

    fn weight(&self) -> Option<usize> {
        Some(VALUE_BYTES + self.len())
    }
}

impl Form for bool {
    fn to_json(&self) -> Value {
        Value::Bool(*self)
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        value.as_bool().ok_or_else(|| expected("truth"))
    }
}

impl Form for u64 {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        value.as_u64().ok_or_else(|| expected("number"))
    }
}

impl Form for u32 {
    fn to_json(&self) -> Value {
        Value::from(*self)
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        value.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| expected("number"))
    }
}

impl Form for Value {
    fn to_json(&self) -> Value {
        self.clone()
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        Ok(value.clone())
    }

    fn weight(&self) -> Option<usize> {
        (!self.is_null()).then(|| weight(self))
    }
}

impl Form for Object {
    fn to_json(&self) -> Value {
        Value::Object(self.clone())
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        value.as_object().cloned().ok_or_else(|| expected("object"))
    }

    fn weight(&self) -> Option<usize> {
        Some(weight_of(self))
    }
}

impl<T: Form> Form for Option<T> {
    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, Form::to_json)
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        if value.is_null() { Ok(None) } else { T::from_json(value).map(Some) }
    }

    fn weight(&self) -> Option<usize> {
        self.as_ref().and_then(Form::weight)
    }
}

impl<T: Form> Form for Vec<T> {
    fn to_json(&self) -> Value {
        Value::Array(self.iter().map(Form::to_json).collect())
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        value.as_array().ok_or_else(|| expected("list"))?.iter().map(T::from_json).collect()
    }

    fn weight(&self) -> Option<usize> {
        Some(VALUE_BYTES + self.iter().map(item).sum::<usize>())
    }
}

impl<T: Form> Form for Arc<T> {
    fn to_json(&self) -> Value {
        (**self).to_json()
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        T::from_json(value).map(Arc::new)
    }

    fn weight(&self) -> Option<usize> {
        (**self).weight()
    }
}

impl<A: Form, B: Form> Form for (A, B) {
    fn to_json(&self) -> Value {
        Value::Array(vec![self.0.to_json(), self.1.to_json()])
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        match value.as_array() {
            Some([a, b]) => Ok((A::from_json(a)?, B::from_json(b)?)),
            _ => Err(expected("pair")),
        }
    }

    fn weight(&self) -> Option<usize> {
        Some(VALUE_BYTES + item(&self.0) + item(&self.1))
    }
}

/// Thirty-two bytes: the hash of a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Form for Hash {
    fn to_json(&self) -> Value {
        Value::String(hex(&self.0))
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        let bytes = value.as_str().and_then(unhex).ok_or_else(|| expected("hash"))?;
        bytes.try_into().map(Self).map_err(|_| expected("hash"))
    }

    fn weight(&self) -> Option<usize> {
        Some(VALUE_BYTES + 2 * self.0.len())
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes of hexadecimal digits.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// A structure whose fields all have forms.
macro_rules! record {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$note:meta])* pub $field:ident : $kind:ty),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[$note])* pub $field: $kind),* }

        impl $crate::form::Form for $name {
            fn to_json(&self) -> json::Value {
                let mut object = json::Object::new();
                $($crate::form::put(&mut object, stringify!($field), &self.$field);)*
                json::Value::Object(object)
            }

            fn from_json(value: &json::Value) -> std::result::Result<Self, String> {
                Ok(Self { $($field: $crate::form::take(value, stringify!($field))?),* })
            }

            fn weight(&self) -> Option<usize> {
                Some($crate::form::together(&[
                    $((stringify!($field), $crate::form::Form::weight(&self.$field))),*
                ]))
            }
        }
    };
}

/// One of several structures, told apart by `is`.
macro_rules! choice {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$note:meta])* $variant:ident {
            $($(#[$field_note:meta])* $field:ident : $kind:ty),* $(,)?
        }),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "few exist at a time, none is kept")]
        pub enum $name {
            $($(#[$note])* $variant { $($(#[$field_note])* $field: $kind),* }),*
        }

        impl $crate::form::Form for $name {
            fn to_json(&self) -> json::Value {
                let mut object = json::Object::new();
                match self {
                    $(Self::$variant { $($field),* } => {
                        object.insert("is", stringify!($variant));
                        $($crate::form::put(&mut object, stringify!($field), $field);)*
                    })*
                }
                json::Value::Object(object)
            }

            fn from_json(value: &json::Value) -> std::result::Result<Self, String> {
                match value.get("is").and_then(json::Value::as_str) {
                    $(Some(stringify!($variant)) => Ok(Self::$variant {
                        $($field: $crate::form::take(value, stringify!($field))?),*
                    }),)*
                    other => Err(format!("unknown kind {other:?}")),
                }
            }
        }
    };
}

/// One of several words.
macro_rules! word {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$note:meta])* $variant:ident = $text:literal),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$note])* $variant),* }

        impl $name {
            /// The word.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// What the word means.
            pub fn of(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }

        impl $crate::form::Form for $name {
            fn to_json(&self) -> json::Value {
                json::Value::from(self.as_str())
            }

            fn from_json(value: &json::Value) -> std::result::Result<Self, String> {
                let text = value.as_str().ok_or("is no text")?;
                Self::of(text).ok_or_else(|| format!("unknown word [{text}]"))
            }
        }
    };
}

pub(crate) use {choice, record, word};

#[cfg(test)]
mod tests {
    use super::*;

    record! {
        /// A record.
        pub struct Sample {
            /// Text.
            pub name: String,
            /// Perhaps.
            pub size: Option<u64>,
            /// A hash.
            pub hash: Hash,
        }
    }

    choice! {
        /// A choice.
        pub enum Act {
            /// One.
            Make { name: String },
            /// Nothing.
            Rest {},
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let sample = Sample { name: "a".into(), size: None, hash: Hash([7; 32]) };
        assert!(sample.to_json().get("size").is_none());
        assert_eq!(Sample::from_json(&sample.to_json()), Ok(sample));
        for act in [Act::Make { name: "x".into() }, Act::Rest {}] {
            assert_eq!(Act::from_json(&act.to_json()), Ok(act));
        }
    }

    #[test]
    fn weights_are_those_of_forms() {
        assert_eq!(weight(&json::json!({"ab": [null, 1, "xyz"], "c": {}})), 8 * VALUE_BYTES + 6);
        let made = |size| Sample { name: "abc".into(), size, hash: Hash([7; 32]) };
        for sample in [made(None), made(Some(1))] {
            assert_eq!(sample.weight(), Some(weight(&sample.to_json())));
            let pairs = vec![(sample, Some(json::json!({"a": null}))), (made(None), None)];
            assert_eq!(pairs.weight(), Some(weight(&pairs.to_json())));
        }
        assert_eq!((Value::Null.weight(), None::<String>.weight()), (None, None));
        assert_eq!(true.weight(), Some(VALUE_BYTES));
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = Sample::from_json(&json::json!({"name": "a"})).expect_err("no hash");
        assert_eq!(error, "hash: is no hash");
        assert!(Act::from_json(&json::json!({"is": "Explode"})).is_err());
        assert_eq!(unhex("zz"), None);
        assert_eq!(unhex("é"), None);
    }
}
