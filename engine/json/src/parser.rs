//! Text to tree.

use base::hash::Set;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::number::Number;
use crate::scan::{Event, Scanner, Token};
use crate::value::{Object, Value};

/// Reads one value, strictly, with the default limits.
///
/// # Errors
/// What the grammar or the limits forbid, and a key that stands twice.
pub fn parse(text: &[u8]) -> Result<Value> {
    parse_with(text, &Limits::DEFAULT)
}

/// Reads one value, strictly.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(text: &[u8], limits: &Limits) -> Result<Value> {
    let mut scanner = Scanner::new(text, *limits)?;
    let value = read(&mut scanner)?;
    match scanner.next()? {
        None => Ok(value),
        Some(event) => unreachable!("{event:?} after the root"),
    }
}

/// A container that is still open.
enum Open {
    Array(Vec<Value>),
    Object(Object, String),
}

/// Reads the next whole value.
fn read(scanner: &mut Scanner<'_>) -> Result<Value> {
    let mut open: Vec<Open> = Vec::new();
    while let Some(event) = scanner.next()? {
        let value = match event.token {
            Token::BeginObject => {
                open.push(Open::Object(Object::new(), String::new()));
                continue;
            }
            Token::BeginArray => {
                open.push(Open::Array(Vec::new()));
                continue;
            }
            Token::Key => {
                let name = scanner.string(&event);
                let Some(Open::Object(object, key)) = open.last_mut() else {
                    unreachable!("the scanner gives keys inside objects only")
                };
                if object.contains_key(&name) {
                    return Err(duplicate(scanner, &event));
                }
                *key = name.into_owned();
                continue;
            }
            Token::EndObject | Token::EndArray => match open.pop() {
                Some(Open::Object(object, _)) => Value::Object(object),
                Some(Open::Array(array)) => Value::Array(array),
                None => unreachable!("the scanner pairs begin and end"),
            },
            _ => scalar(scanner, &event),
        };
        match open.last_mut() {
            None => return Ok(value),
            Some(Open::Array(array)) => array.push(value),
            Some(Open::Object(object, key)) => {
                object.insert(std::mem::take(key), value);
            }
        }
    }
    unreachable!("the scanner ends with an error or a whole value")
}

/// A value that is no container.
fn scalar(scanner: &Scanner<'_>, event: &Event) -> Value {
    match event.token {
        Token::String => Value::String(scanner.string(event).into_owned()),
        Token::Number => Value::Number(Number::checked(scanner.raw(event))),
        Token::True => Value::Bool(true),
        Token::False => Value::Bool(false),
        _ => Value::Null,
    }
}

/// The fault of a key that its object already has, at the end of the second one.
#[cold]
pub fn duplicate(scanner: &Scanner<'_>, key: &Event) -> Error {
    let message = format!("Duplicate field '{}'", scanner.string(key));
    Error::at(ErrorKind::DuplicateKey, message, scanner.text().as_bytes(), key.end)
}

/// Checks a whole text without keeping anything of it.
///
/// # Errors
/// As [`parse`].
pub fn check(text: &[u8], limits: &Limits) -> Result<()> {
    let mut scanner = Scanner::new(text, *limits)?;
    let mut keys: Vec<Set<std::borrow::Cow<'_, str>>> = Vec::new();
    while let Some(event) = scanner.next()? {
        match event.token {
            Token::BeginObject => keys.push(Set::default()),
            Token::EndObject => {
                keys.pop();
            }
            Token::Key => {
                let fresh = keys.last_mut().is_none_or(|set| set.insert(scanner.string(&event)));
                if !fresh {
                    return Err(duplicate(&scanner, &event));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn trees_keep_order_and_number_text() {
        let text = br#"{"z":1E2,"a":[1.50,-0,12345678901234567890123],"s":"\u00e9"}"#;
        let value = parse(text).expect("good text");
        assert_eq!(
            crate::to_string(&value),
            r#"{"z":1E2,"a":[1.50,-0,12345678901234567890123],"s":"é"}"#
        );
        assert_eq!(parse(b" [ ] ").expect("good"), json!([]));
        assert_eq!(parse(b"null").expect("good"), Value::Null);
    }

    #[test]
    fn keys_stand_once() {
        let error = parse(br#"{"size":1,"size":2}"#).expect_err("twice");
        assert_eq!(error.kind, ErrorKind::DuplicateKey);
        assert_eq!(error.to_string(), "[1:17] Duplicate field 'size'");
        assert!(parse(br#"{"a":{"b":1},"b":{"a":1}}"#).is_ok());
        assert!(parse(br#"{"a":1,"\u0061":2}"#).is_err());
        let many: String = (0..100).map(|n| format!("\"k{n}\":1,")).collect();
        assert!(parse(format!("{{{many}\"k50\":1}}").as_bytes()).is_err());
        assert!(check(br#"{"a":1,"a":2}"#, &Limits::DEFAULT).is_err());
    }
}
