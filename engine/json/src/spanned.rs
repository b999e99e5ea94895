//! A tree whose values and keys know their places: for bodies whose errors name line and column.

use crate::error::{Error, ErrorKind, Place, Result};
use crate::limits::Limits;
use crate::number::Number;
use crate::parser::duplicate;
use crate::scan::{Event, Scanner, Token};
use crate::value::{Object, Value};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where its first byte stands.
    pub at: Place,
    /// Where its last token stands: the closing bracket of a container, else as `at`.
    pub end: Place,
    /// What it is.
    pub kind: Kind,
}

/// Any JSON value, with places inside.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number with its text.
    Number(Number),
    /// A string, unescaped.
    String(String),
    /// An array.
    Array(Vec<Node>),
    /// Members in order; a key stands once.
    Object(Vec<Member>),
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its key, unescaped.
    pub key: String,
    /// Where the key stands.
    pub key_at: Place,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// Jackson's name of the token that begins this value: `VALUE_STRING`.
    pub fn token(&self) -> &'static str {
        match self.kind {
            Kind::Null => "VALUE_NULL",
            Kind::Bool(_) => "VALUE_BOOLEAN",
            Kind::Number(_) => "VALUE_NUMBER",
            Kind::String(_) => "VALUE_STRING",
            Kind::Array(_) => "START_ARRAY",
            Kind::Object(_) => "START_OBJECT",
        }
    }

    /// The member `key`, where this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let found = self.as_object()?.iter().find(|member| member.key == key)?;
        Some(&found.value)
    }

    /// True of `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// The truth, of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Kind::Bool(value) = self.kind { Some(value) } else { None }
    }

    /// The text, of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Kind::String(value) = &self.kind { Some(value) } else { None }
    }

    /// The number, of a number.
    pub fn as_number(&self) -> Option<&Number> {
        if let Kind::Number(value) = &self.kind { Some(value) } else { None }
    }

    /// The elements, of an array.
    pub fn as_array(&self) -> Option<&[Node]> {
        if let Kind::Array(value) = &self.kind { Some(value) } else { None }
    }

    /// The members, of an object.
    pub fn as_object(&self) -> Option<&[Member]> {
        if let Kind::Object(value) = &self.kind { Some(value) } else { None }
    }

    /// The same tree without places.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(value) => Value::Number(value.clone()),
            Kind::String(value) => Value::String(value.clone()),
            Kind::Array(nodes) => Value::Array(nodes.iter().map(Self::to_value).collect()),
            Kind::Object(members) => {
                let mut object = Object::with_capacity(members.len());
                for member in members {
                    object.insert(member.key.clone(), member.value.to_value());
                }
                Value::Object(object)
            }
        }
    }

    /// A tree without places of its own: all of them are `at`.
    pub fn from_value(value: &Value, at: Place) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(*value),
            Value::Number(value) => Kind::Number(value.clone()),
            Value::String(value) => Kind::String(value.clone()),
            Value::Array(values) => {
                Kind::Array(values.iter().map(|value| Self::from_value(value, at)).collect())
            }
            Value::Object(object) => Kind::Object(
                object
                    .iter()
                    .map(|(key, value)| Member {
                        key: key.to_owned(),
                        key_at: at,
                        value: Self::from_value(value, at),
                    })
                    .collect(),
            ),
        };
        Self { at, end: at, kind }
    }
}

/// Reads one value, strictly, with the default limits.
///
/// # Errors
/// As [`crate::parse`].
pub fn parse(text: &[u8]) -> Result<Node> {
    parse_with(text, &Limits::DEFAULT)
}

/// Reads one value, strictly.
///
/// # Errors
/// As [`crate::parse`].
pub fn parse_with(text: &[u8], limits: &Limits) -> Result<Node> {
    let mut scanner = Scanner::new(text, *limits)?;
    let mut places = Places { text, offset: 0, at: Place { line: 1, column: 1 } };
    let root = read(&mut scanner, &mut places)?;
    match scanner.next()? {
        None => Ok(root),
        Some(event) => unreachable!("{event:?} after the root"),
    }
}

/// Turns rising byte offsets into places, reading each byte once.
struct Places<'a> {
    text: &'a [u8],
    offset: usize,
    at: Place,
}

impl Places<'_> {
    fn of(&mut self, offset: usize) -> Place {
        for &byte in &self.text[self.offset..offset] {
            if byte == b'\n' {
                self.at = Place { line: self.at.line.saturating_add(1), column: 1 };
            } else {
                self.at.column = self.at.column.saturating_add(1);
            }
        }
        self.offset = offset;
        self.at
    }
}

/// A container that is still open, and where it began.
enum Open {
    Array(Vec<Node>, Place),
    Object(ObjectOpen, Place),
}

#[derive(Default)]
struct ObjectOpen {
    members: Vec<Member>,
    seen: base::hash::Set<String>,
    key: Option<(String, Place)>,
}

fn read(scanner: &mut Scanner<'_>, places: &mut Places<'_>) -> Result<Node> {
    let mut open: Vec<Open> = Vec::new();
    while let Some(event) = scanner.next()? {
        let at = places.of(event.start);
        let node = match event.token {
            Token::BeginObject => {
                open.push(Open::Object(ObjectOpen::default(), at));
                continue;
            }
            Token::BeginArray => {
                open.push(Open::Array(Vec::new(), at));
                continue;
            }
            Token::Key => {
                let name = scanner.string(&event).into_owned();
                let Some(Open::Object(object, _)) = open.last_mut() else {
                    unreachable!("the scanner gives keys inside objects only")
                };
                if !object.seen.insert(name.clone()) {
                    return Err(duplicate(scanner, &event));
                }
                object.key = Some((name, at));
                continue;
            }
            Token::EndObject | Token::EndArray => match open.pop() {
                Some(Open::Object(object, began)) => {
                    Node { at: began, end: at, kind: Kind::Object(object.members) }
                }
                Some(Open::Array(nodes, began)) => {
                    Node { at: began, end: at, kind: Kind::Array(nodes) }
                }
                None => unreachable!("the scanner pairs begin and end"),
            },
            _ => Node { at, end: at, kind: scalar(scanner, &event) },
        };
        match open.last_mut() {
            None => return Ok(node),
            Some(Open::Array(nodes, _)) => nodes.push(node),
            Some(Open::Object(object, _)) => {
                let (key, key_at) = object.key.take().expect("a key comes before its value");
                object.members.push(Member { key, key_at, value: node });
            }
        }
    }
    unreachable!("the scanner ends with an error or a whole value")
}

fn scalar(scanner: &Scanner<'_>, event: &Event) -> Kind {
    match event.token {
        Token::String => Kind::String(scanner.string(event).into_owned()),
        Token::Number => Kind::Number(Number::checked(scanner.raw(event))),
        Token::True => Kind::Bool(true),
        Token::False => Kind::Bool(false),
        _ => Kind::Null,
    }
}

/// An error of syntax at a place of a tree, for those who read a tree and find it wrong.
pub fn fault(at: Place, message: impl Into<String>) -> Error {
    let message = message.into();
    Error { kind: ErrorKind::Syntax, message, line: at.line, column: at.column }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_and_key_knows_its_place() {
        let tree = parse(b"{\n  \"a\": [1,\n {} ], \"b\":true }").expect("good text");
        let members = tree.as_object().expect("an object");
        let show = |place: Place| place.to_string();
        assert_eq!((show(tree.at), show(tree.end)), ("[1:1]".into(), "[3:17]".into()));
        assert_eq!(show(members[0].key_at), "[2:3]");
        assert_eq!(show(members[0].value.at), "[2:8]");
        assert_eq!(show(members[0].value.end), "[3:5]");
        assert_eq!(show(members[1].value.at), "[3:12]");
        assert_eq!(tree.to_value(), crate::json!({"a": [1, {}], "b": true}));
    }

    #[test]
    fn columns_count_bytes() {
        let tree = parse("{\"é\":1}".as_bytes()).expect("good text");
        assert_eq!(tree.get("é").expect("there").at, Place { line: 1, column: 7 });
        assert!(parse(br#"{"a":1,"a":2}"#).is_err());
    }
}
