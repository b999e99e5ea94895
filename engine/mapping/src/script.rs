//! JSON as a script sees it, and what a script made of it as JSON.
//!
//! Whole numbers are `int` where they fit, else `long`; others are `double`. Objects keep the order of
//! their keys. On the way back, dates are printed as `strict_date_optional_time` prints them.

use base::java::{double_to_string, float_to_string};
use json::{Number, Object as Members, Value as Json};
use script::map::{Map, Order};
use script::{Fault, Heap, Object, Value};

/// Deepest value that is read or written.
const DEPTH_MAX: u16 = 200;

/// Memory of a written value beside its text. One that stands in many places is written as often, so
/// what a heap may take says nothing of what is written; it bounds that as well.
const VALUE_BYTES: usize = 64;

/// JSON as a value of a script.
///
/// # Errors
/// Too much memory.
pub fn value_of(heap: &mut Heap, json: &Json) -> Result<Value, Fault> {
    read(heap, json, 0)
}

fn read(heap: &mut Heap, json: &Json, depth: u16) -> Result<Value, Fault> {
    if depth > DEPTH_MAX {
        return Err(Fault::illegal("the value is nested too deeply"));
    }
    match json {
        Json::Null => Ok(Value::Null),
        Json::Bool(value) => Ok(Value::Bool(*value)),
        Json::Number(number) => Ok(match number.as_i64() {
            Some(value) => i32::try_from(value).map_or(Value::Long(value), Value::Int),
            None => Value::Double(number.as_f64()),
        }),
        Json::String(text) => heap.string(text),
        Json::Array(items) => {
            let mut made = Vec::with_capacity(items.len());
            for item in items {
                made.push(read(heap, item, depth + 1)?);
            }
            heap.list(made)
        }
        Json::Object(members) => {
            let mut entries = Vec::with_capacity(members.len());
            for (key, value) in members.iter() {
                entries.push((heap.string(key)?, read(heap, value, depth + 1)?));
            }
            let mut map = Map::new(Order::Linked);
            for (key, value) in entries {
                map.insert(heap, key, value);
            }
            heap.object(Object::Map(map))
        }
    }
}

/// A value of a script as JSON.
///
/// # Errors
/// A value that holds itself, has no form in JSON, or takes more than the heap may.
pub fn json_of(heap: &mut Heap, value: Value) -> Result<Json, Fault> {
    let mut left = heap.limit_bytes();
    let written = write(heap, value, 0, &mut left);
    if left == 0 {
        heap.fall_short();
    }
    written
}

/// Takes so many bytes from what is left.
fn take(left: &mut usize, bytes: usize) -> Result<(), Fault> {
    match left.checked_sub(bytes) {
        Some(rest) if rest > 0 => {
            *left = rest;
            Ok(())
        }
        _ => {
            *left = 0;
            Err(Fault::illegal("the value is too large"))
        }
    }
}

fn write(heap: &Heap, value: Value, depth: u16, left: &mut usize) -> Result<Json, Fault> {
    if depth > DEPTH_MAX {
        return Err(Fault::illegal("Iterable object is self-referencing itself"));
    }
    take(left, VALUE_BYTES)?;
    let list = |items: &[Value], left: &mut usize| -> Result<Json, Fault> {
        let mut made = Vec::with_capacity(items.len());
        for item in items {
            made.push(write(heap, *item, depth + 1, left)?);
        }
        Ok(Json::Array(made))
    };
    let text = |value: Value, left: &mut usize| -> Result<String, Fault> {
        if let Value::Text(_, len) = value {
            take(left, len as usize)?;
        }
        let mut out = String::new();
        script::show::write(heap, value, 0, &mut out)?;
        if !matches!(value, Value::Text(..)) {
            take(left, out.len())?;
        }
        Ok(out)
    };
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(value),
        Value::Byte(_) | Value::Short(_) | Value::Int(_) | Value::Long(_) => {
            Json::Number(Number::from(script::arith::long(value)))
        }
        Value::Float(number) => Number::from_f32(number)
            .map_or_else(|| Json::String(float_to_string(number)), Json::Number),
        Value::Double(number) => Number::from_f64(number)
            .map_or_else(|| Json::String(double_to_string(number)), Json::Number),
        Value::Char(_) | Value::Text(..) => Json::String(text(value, left)?),
        Value::Doc | Value::Field(_) => return Err(no_form(heap, value)),
        Value::Object(at) => match heap.get(at) {
            Object::List(items) | Object::Array(_, items) | Object::Stream(items) => {
                list(items, left)?
            }
            Object::Set(set) => list(&set.keys(heap), left)?,
            Object::Map(map) => {
                let mut members = Members::new();
                for (key, value) in map.entries(heap) {
                    members.insert(text(key, left)?, write(heap, value, depth + 1, left)?);
                }
                Json::Object(members)
            }
            Object::Date(date) => Json::String(date.printed()),
            Object::Builder(text) => {
                take(left, text.len())?;
                Json::String(text.clone())
            }
            Object::Place(lat, lon) => {
                let mut members = Members::new();
                members.insert("lat", Number::from_f64(*lat).map_or(Json::Null, Json::Number));
                members.insert("lon", Number::from_f64(*lon).map_or(Json::Null, Json::Number));
                Json::Object(members)
            }
            _ => return Err(no_form(heap, value)),
        },
    })
}

fn no_form(heap: &Heap, value: Value) -> Fault {
    let class = script::show::class_of(heap, value);
    Fault::illegal(format!("cannot write xcontent for unknown value of type class {class}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_comes_back_as_it_went_in() {
        let text = r#"{"b":1,"a":[1.5,null,true,"x"],"c":{"d":12345678901}}"#;
        let json = json::parse(text.as_bytes()).expect("JSON");
        let mut heap = Heap::new();
        let value = value_of(&mut heap, &json).expect("fits");
        assert_eq!(json::to_string(&json_of(&mut heap, value).expect("plain")), text);
    }

    #[test]
    fn a_list_in_itself_is_refused() {
        let mut heap = Heap::new();
        let mut value = heap.list(Vec::new()).expect("fits");
        for _ in 0..60 {
            value = heap.list(vec![value, value]).expect("fits");
        }
        assert!(json_of(&mut heap, value).is_err());
    }

    /// A list of a hundred thousand times one text of a MiB took 100 GB when it was written.
    #[test]
    fn a_text_that_stands_in_many_places_counts_in_each() {
        let mut heap = Heap::new();
        let text = heap.string(&"x".repeat(1 << 20)).expect("fits");
        let few = heap.list(vec![text; 10]).expect("fits");
        assert!(json_of(&mut heap, few).is_ok());
        assert!(!heap.is_short());
        let many = heap.list(vec![text; 100_000]).expect("fits");
        assert_eq!(json_of(&mut heap, many), Err(Fault::illegal("the value is too large")));
        assert!(heap.is_short());
    }
}
