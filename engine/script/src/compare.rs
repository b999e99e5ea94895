//! When values are equal, which comes first, and their hash codes: as Java's.

use std::cmp::Ordering;

use base::number::Number;

use crate::error::Fault;
use crate::heap::{Heap, Object, Value};
use crate::java;
use crate::limits::VALUE_DEPTH_MAX;

/// `equals` of boxed values and objects: the same type and the same value.
pub fn equal(heap: &Heap, a: Value, b: Value) -> bool {
    equal_in(heap, a, b, 0)
}

fn equal_in(heap: &Heap, a: Value, b: Value, depth: u16) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) | (Value::Doc, Value::Doc) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Byte(a), Value::Byte(b)) => a == b,
        (Value::Short(a), Value::Short(b)) => a == b,
        (Value::Char(a), Value::Char(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Long(a), Value::Long(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
        (Value::Field(a), Value::Field(b)) => a == b,
        (Value::Text(a, m), Value::Text(b, n)) => heap.text(a, m) == heap.text(b, n),
        (Value::Object(a), Value::Object(b)) if a == b => true,
        (Value::Object(a), Value::Object(b)) => {
            if depth > VALUE_DEPTH_MAX || !heap.looks(parts_of(heap.get(a))) {
                return false;
            }
            let lists = |a: &[Value], b: &[Value]| {
                a.len() == b.len()
                    && a.iter().zip(b).all(|(a, b)| equal_in(heap, *a, *b, depth + 1))
            };
            match (heap.get(a), heap.get(b)) {
                (Object::List(a), Object::List(b)) => lists(a, b),
                (Object::Map(a), Object::Map(b)) => {
                    a.len() == b.len()
                        && a.iter().all(|(key, value)| {
                            b.get(heap, key)
                                .is_some_and(|other| equal_in(heap, value, other, depth + 1))
                        })
                }
                (Object::Set(a), Object::Set(b)) => {
                    a.len() == b.len() && a.iter().all(|(key, _)| b.get(heap, key).is_some())
                }
                (Object::Date(a), Object::Date(b)) => a == b,
                (Object::Place(a, b), Object::Place(c, d)) => (a, b) == (c, d),
                (Object::Optional(a), Object::Optional(b)) => match (a, b) {
                    (Some(a), Some(b)) => equal_in(heap, *a, *b, depth + 1),
                    (None, None) => true,
                    _ => false,
                },
                (Object::Entry(a, key), Object::Entry(b, other)) => {
                    equal_in(heap, *key, *other, depth + 1)
                        && match (heap.lookup(*a, *key), heap.lookup(*b, *other)) {
                            (Some(a), Some(b)) => equal_in(heap, a, b, depth + 1),
                            (a, b) => a.is_none() && b.is_none(),
                        }
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// How many values it holds itself.
fn parts_of(object: &Object) -> usize {
    match object {
        Object::List(items) | Object::Array(_, items) => items.len(),
        Object::Map(map) | Object::Set(map) => map.len(),
        _ => 1,
    }
}

/// `==` of the language: numbers by value whatever their widths, else `equals`.
pub fn same(heap: &Heap, a: Value, b: Value) -> bool {
    match (crate::arith::wide(a), crate::arith::wide(b)) {
        (Some(_), Some(_)) => match (a, b) {
            (Value::Double(_) | Value::Float(_), _) | (_, Value::Double(_) | Value::Float(_)) => {
                crate::arith::double(a) == crate::arith::double(b)
            }
            _ => crate::arith::long(a) == crate::arith::long(b),
        },
        _ => equal(heap, a, b),
    }
}

/// `compareTo`.
///
/// # Errors
/// Values that do not compare.
pub fn order(heap: &Heap, a: Value, b: Value) -> Result<Ordering, Fault> {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Err(Fault::null(
            "Cannot invoke \"java.lang.Comparable.compareTo(Object)\" because \"a\" is null",
        )),
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(&b)),
        (Value::Text(a, m), Value::Text(b, n)) => {
            let (a, b) = (heap.text(a, m), heap.text(b, n));
            Ok(if a.is_ascii() && b.is_ascii() {
                a.cmp(b)
            } else {
                a.encode_utf16().cmp(b.encode_utf16())
            })
        }
        (Value::Object(x), Value::Object(y)) => match (heap.get(x), heap.get(y)) {
            (Object::Date(x), Object::Date(y)) => x.order(y),
            _ => Err(not_alike(heap, a, b)),
        },
        _ if crate::arith::wide(a).is_some() && crate::arith::wide(b).is_some() => {
            let number = |value| match value {
                Value::Double(_) | Value::Float(_) => Number::Real(crate::arith::double(value)),
                _ => Number::Whole(i128::from(crate::arith::long(value))),
            };
            Ok(number(a).order(number(b)))
        }
        _ => Err(not_alike(heap, a, b)),
    }
}

fn not_alike(heap: &Heap, a: Value, b: Value) -> Fault {
    let (a, b) = (crate::show::class_of(heap, a), crate::show::class_of(heap, b));
    Fault::cast(format!("class {a} cannot be cast to class {b}"))
}

/// `hashCode`.
pub fn hash(heap: &Heap, value: Value) -> i32 {
    hash_in(heap, value, 0)
}

fn hash_in(heap: &Heap, value: Value, depth: u16) -> i32 {
    if depth > VALUE_DEPTH_MAX {
        return 0;
    }
    let long = |value: i64| (value ^ ((value as u64) >> 32) as i64) as i32;
    match value {
        Value::Null => 0,
        Value::Bool(value) => {
            if value {
                1231
            } else {
                1237
            }
        }
        Value::Byte(value) => i32::from(value),
        Value::Short(value) => i32::from(value),
        Value::Char(value) => i32::from(value),
        Value::Int(value) => value,
        Value::Long(value) => long(value),
        Value::Float(value) => value.to_bits() as i32,
        Value::Double(value) => long(value.to_bits() as i64),
        Value::Text(at, len) => java::hash(heap.text(at, len)),
        Value::Doc => 1,
        Value::Field(at) => at as i32,
        Value::Object(at) if !heap.looks(parts_of(heap.get(at))) => 0,
        Value::Object(at) => match heap.get(at) {
            Object::List(items) => items.iter().fold(1i32, |hash, item| {
                hash.wrapping_mul(31).wrapping_add(hash_in(heap, *item, depth + 1))
            }),
            Object::Map(map) => map.iter().fold(0i32, |hash, (key, value)| {
                let one = hash_in(heap, key, depth + 1) ^ hash_in(heap, value, depth + 1);
                hash.wrapping_add(one)
            }),
            Object::Set(map) => map
                .iter()
                .fold(0i32, |hash, (key, _)| hash.wrapping_add(hash_in(heap, key, depth + 1))),
            Object::Date(date) => date.hash(),
            _ => at.0 as i32,
        },
    }
}
