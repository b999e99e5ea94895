//! A JSON tree that owns its text: order of keys kept, numbers as they were written.

use base::hash::Map;

use crate::number::Number;

/// Any JSON value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number with its text.
    Number(Number),
    /// A string, unescaped.
    String(String),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

impl Value {
    /// An empty object.
    pub fn object() -> Self {
        Self::Object(Object::new())
    }

    /// Jackson's name of the token that begins this value: `VALUE_STRING`.
    pub fn token(&self) -> &'static str {
        match self {
            Self::Null => "VALUE_NULL",
            Self::Bool(_) => "VALUE_BOOLEAN",
            Self::Number(_) => "VALUE_NUMBER",
            Self::String(_) => "VALUE_STRING",
            Self::Array(_) => "START_ARRAY",
            Self::Object(_) => "START_OBJECT",
        }
    }

    /// The member `key`, where this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// The value at a path of object keys.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// True of `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// About how many bytes of memory it takes, itself included.
    pub fn held_bytes(&self) -> usize {
        let within = match self {
            Self::Object(members) => {
                let member = |(key, value): (&str, &Self)| {
                    size_of::<String>() + HEAP_BYTES + key.len() + value.held_bytes()
                };
                let index = if members.index.is_some() { members.len() * INDEXED_BYTES } else { 0 };
                members.iter().map(member).sum::<usize>() + index
            }
            Self::Array(values) => values.iter().map(Self::held_bytes).sum(),
            Self::String(text) => HEAP_BYTES + text.len(),
            Self::Number(number) => number.text().len(),
            Self::Bool(_) | Self::Null => 0,
        };
        size_of::<Self>() + within
    }

    /// About how many bytes it takes as text; nobody counts on once they are more than `most`.
    pub fn text_bytes(&self, most: usize) -> usize {
        let mut bytes = 0;
        self.add_text_bytes(most, &mut bytes);
        bytes
    }

    fn add_text_bytes(&self, most: usize, bytes: &mut usize) {
        match self {
            Self::Object(members) => {
                for (key, value) in members.iter() {
                    if *bytes > most {
                        return;
                    }
                    *bytes += crate::str_bytes(key) + 2;
                    value.add_text_bytes(most, bytes);
                }
            }
            Self::Array(values) => {
                for value in values {
                    if *bytes > most {
                        return;
                    }
                    *bytes += 1;
                    value.add_text_bytes(most, bytes);
                }
            }
            Self::String(text) => *bytes += crate::str_bytes(text),
            Self::Number(number) => *bytes += number.text().len(),
            Self::Bool(_) | Self::Null => *bytes += 4,
        }
    }

    /// The truth, of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The text, of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(value) = self { Some(value) } else { None }
    }

    /// The number, of a number.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(value) = self { Some(value) } else { None }
    }

    /// The value of an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The value of an integer that is not negative and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The nearest double, of a number.
    pub fn as_f64(&self) -> Option<f64> {
        Some(self.as_number()?.as_f64())
    }

    /// The elements, of an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        if let Self::Array(value) = self { Some(value) } else { None }
    }

    /// The members, of an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(value) = self { Some(value) } else { None }
    }

    /// The members, of an object, to change.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Self::Object(value) = self { Some(value) } else { None }
    }
}

/// Members in the order of their first insertion; a key stands once.
///
/// Small objects are searched from the front; past [`INDEX_FROM`] members a hash index helps.
#[derive(Clone, Default)]
pub struct Object {
    members: Vec<(String, Value)>,
    index: Option<Box<Map<String, u32>>>,
}

/// What the allocator adds to a text.
const HEAP_BYTES: usize = 16;

/// What a member takes in the index of its object: its name again, and a place with the room that is kept free.
const INDEXED_BYTES: usize = 96;

/// Members from which an object keeps a hash index.
const INDEX_FROM: usize = 24;

impl Object {
    /// No members.
    pub const fn new() -> Self {
        Self { members: Vec::new(), index: None }
    }

    /// Room for `count` members.
    pub fn with_capacity(count: usize) -> Self {
        Self { members: Vec::with_capacity(count), index: None }
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// True without members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Is there a member `key`?
    pub fn contains_key(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// The member `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.find(key).map(|at| &self.members[at].1)
    }

    /// The member `key`, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.find(key).map(|at| &mut self.members[at].1)
    }

    /// Puts a member: in its old place where `key` is there, else last. Answers the old value.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        if let Some(at) = self.find(&key) {
            return Some(std::mem::replace(&mut self.members[at].1, value));
        }
        self.push(key, value);
        None
    }

    /// The member `key`, put there by `make` where it was not.
    pub fn get_or_insert_with(&mut self, key: &str, make: impl FnOnce() -> Value) -> &mut Value {
        let at = self.find(key).unwrap_or_else(|| {
            self.push(key.to_owned(), make());
            self.members.len() - 1
        });
        &mut self.members[at].1
    }

    /// Takes a member out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.find(key)?;
        let (_, value) = self.members.remove(at);
        if self.index.take().is_some() {
            self.make_index();
        }
        Some(value)
    }

    /// Members in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> + DoubleEndedIterator {
        self.members.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Members in order, values to change.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut Value)> {
        self.members.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    /// Keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(|(key, _)| key.as_str())
    }

    /// Values in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.members.iter().map(|(_, value)| value)
    }

    /// Keeps the members that `keep` says yes to.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value) -> bool) {
        self.members.retain_mut(|(key, value)| keep(key, value));
        self.index = None;
        self.make_index();
    }

    /// Sorts members by key.
    pub fn sort_keys(&mut self) {
        self.members.sort_by(|a, b| a.0.cmp(&b.0));
        self.index = None;
        self.make_index();
    }

    fn find(&self, key: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(key).map(|at| *at as usize),
            None => self.members.iter().position(|(name, _)| name == key),
        }
    }

    /// Puts a member whose key is known to be new.
    fn push(&mut self, key: String, value: Value) {
        if let Some(index) = &mut self.index {
            let at = u32::try_from(self.members.len()).expect("an object fits memory");
            index.insert(key.clone(), at);
        }
        self.members.push((key, value));
        if self.index.is_none() {
            self.make_index();
        }
    }

    fn make_index(&mut self) {
        if self.members.len() > INDEX_FROM {
            let places = 0..u32::try_from(self.members.len()).expect("an object fits memory");
            let keys = self.members.iter().map(|(key, _)| key.clone());
            self.index = Some(Box::new(keys.zip(places).collect()));
        }
    }
}

impl PartialEq for Object {
    /// Equal members; their order does not count.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        let mut object = Self::new();
        for (key, value) in members {
            object.insert(key, value);
        }
        object
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::String(text.clone())
    }
}

impl From<std::borrow::Cow<'_, str>> for Value {
    fn from(text: std::borrow::Cow<'_, str>) -> Self {
        Self::String(text.into_owned())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<f64> for Value {
    /// A double as Java prints it; what JSON lacks becomes the string that Jackson writes: `"NaN"`.
    fn from(value: f64) -> Self {
        Number::from_f64(value)
            .map_or_else(|| Self::String(crate::number::double_to_string(value)), Self::Number)
    }
}

impl From<f32> for Value {
    /// A float as Java prints it; what JSON lacks becomes a string.
    fn from(value: f32) -> Self {
        Number::from_f32(value)
            .map_or_else(|| Self::String(crate::number::float_to_string(value)), Self::Number)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Self {
        Self::Array(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::Array(values.into_iter().map(Into::into).collect())
    }
}

macro_rules! from_integer {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                Self::Number(value.into())
            }
        }
    )*};
}
from_integer!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insert_replaces_in_place_and_remove_keeps_order() {
        for count in [3, 100] {
            let mut object: Object = (0..count).map(|n| (format!("k{n}"), n)).collect();
            assert_eq!(object.insert("k1", true), Some(Value::from(1)));
            assert_eq!(object.keys().nth(1), Some("k1"));
            assert_eq!(object.remove("k0"), Some(Value::from(0)));
            assert_eq!(object.get("k2"), Some(&Value::from(2)));
            assert_eq!(object.get("k0"), None);
            assert_eq!(object.len(), count - 1);
            object.retain(|key, _| key != "k2");
            assert_eq!(object.get("k1"), Some(&Value::Bool(true)));
            assert!(!object.contains_key("k2"));
        }
    }

    #[test]
    fn equality_looks_past_order_of_keys() {
        let one: Object = [("a", 1), ("b", 2)].into_iter().collect();
        let two: Object = [("b", 2), ("a", 1)].into_iter().collect();
        assert_eq!(one, two);
    }
}
