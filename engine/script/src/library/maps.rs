//! Maps and sets.

use super::{Done, items};
use crate::compare;
use crate::error::Fault;
use crate::heap::{Heap, Object, Ref, Value};
use crate::map::{Map, Order};

fn some(value: Value) -> Done<Option<Value>> {
    Ok(Some(value))
}

fn inner(heap: &Heap, at: Ref) -> Option<&Map> {
    match heap.get(at) {
        Object::Map(map) | Object::Set(map) => Some(map),
        _ => None,
    }
}

/// Takes a key out; what stood there.
pub(super) fn remove(heap: &mut Heap, at: Ref, key: Value) -> Done<Option<Value>> {
    if heap.is_frozen(at) {
        return Err(Fault::frozen());
    }
    let mut object = heap.take(at);
    let removed = match &mut object {
        Object::Map(map) | Object::Set(map) => map.remove(heap, key),
        _ => None,
    };
    heap.put_back(at, object);
    Ok(removed)
}

fn clear(heap: &mut Heap, at: Ref) -> Done<Option<Value>> {
    if let Object::Map(map) | Object::Set(map) = heap.get_mut(at)? {
        map.clear();
    }
    some(Value::Null)
}

/// A method of a map.
pub(super) fn map(
    heap: &mut Heap,
    at: Ref,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    if !matches!(name, "get" | "put" | "containsKey" | "size" | "isEmpty" | "getOrDefault") {
        heap.spend(64 * inner(heap, at).map_or(0, Map::len));
    }
    let Some(map) = inner(heap, at) else { return Ok(None) };
    match (name, arguments) {
        ("get", [key]) => some(map.get(heap, *key).unwrap_or_default()),
        ("getOrDefault", [key, or]) => some(map.get(heap, *key).unwrap_or(*or)),
        ("containsKey", [key]) => some(Value::Bool(map.get(heap, *key).is_some())),
        ("containsValue", [wanted]) => {
            let found = map.iter().any(|(_, value)| compare::equal(heap, value, *wanted));
            some(Value::Bool(found))
        }
        ("size", []) => some(Value::Int(map.len() as i32)),
        ("isEmpty", []) => some(Value::Bool(map.is_empty())),
        ("put", [key, value]) => some(heap.insert_value(at, *key, *value)?.unwrap_or_default()),
        ("putIfAbsent", [key, value]) => match map.get(heap, *key) {
            Some(found) if !matches!(found, Value::Null) => some(found),
            _ => {
                heap.insert_value(at, *key, *value)?;
                some(Value::Null)
            }
        },
        ("putAll", [other]) => {
            let entries = match heap.as_object(*other) {
                Some(Object::Map(other)) => other.entries(heap),
                _ => return Err(Fault::null("putAll needs a map")),
            };
            for (key, value) in entries {
                heap.insert_value(at, key, value)?;
            }
            some(Value::Null)
        }
        ("remove", [key]) => some(remove(heap, at, *key)?.unwrap_or_default()),
        ("remove", [key, value]) => {
            let is = map.get(heap, *key).is_some_and(|found| compare::equal(heap, found, *value));
            if is {
                remove(heap, at, *key)?;
            }
            some(Value::Bool(is))
        }
        ("replace", [key, value]) => match map.get(heap, *key) {
            Some(found) => {
                heap.insert_value(at, *key, *value)?;
                some(found)
            }
            None => some(Value::Null),
        },
        ("clear", []) => clear(heap, at),
        ("keySet" | "navigableKeySet", []) => {
            let keys = map.keys(heap);
            set_of(heap, keys).map(Some)
        }
        ("values", []) => {
            let values = map.entries(heap).into_iter().map(|(_, value)| value).collect();
            heap.list(values).map(Some)
        }
        ("entrySet", []) => {
            let keys = map.keys(heap);
            let mut entries = Vec::with_capacity(keys.len());
            for key in keys {
                entries.push(heap.object(Object::Entry(at, key))?);
            }
            // Entries are walked through; removal goes through an iterator to the map.
            heap.object(Object::List(entries)).map(Some)
        }
        ("firstKey" | "lastKey", []) => {
            let keys = map.keys(heap);
            let found = if name == "firstKey" { keys.first() } else { keys.last() };
            found.copied().map(Some).ok_or_else(|| Fault::new("no_such_element_exception", ""))
        }
        ("getLength", []) => some(Value::Int(map.len() as i32)),
        ("getByPath", [path] | [path, _]) => {
            let path = super::text(heap, *path)?;
            by_path(heap, at, &path, arguments.get(1).copied()).map(Some)
        }
        ("clone", []) => {
            let copy = map.clone();
            heap.object(Object::Map(copy)).map(Some)
        }
        _ => Ok(None),
    }
}

/// `getByPath('a.0.b', default)`.
fn by_path(heap: &Heap, at: Ref, path: &str, or: Option<Value>) -> Done<Value> {
    let mut here = Value::Object(at);
    for part in path.split('.') {
        let next = match heap.as_object(here) {
            Some(Object::Map(map)) => map.get_text(heap, part),
            Some(Object::List(items)) => match part.parse::<usize>() {
                Ok(place) => items.get(place).copied(),
                Err(_) => {
                    return Err(Fault::new(
                        "number_format_exception",
                        format!("For input string: \"{part}\""),
                    ));
                }
            },
            _ => None,
        };
        match (next, or) {
            (Some(next), _) => here = next,
            (None, Some(or)) => return Ok(or),
            (None, None) => {
                return Err(Fault::illegal(format!("Could not find value at path [{path}]")));
            }
        }
    }
    Ok(here)
}

/// A set in the order of its elements.
pub(super) fn set_of(heap: &mut Heap, elements: Vec<Value>) -> Done<Value> {
    let made = heap.object(Object::Set(Map::new(Order::Linked)))?;
    let Value::Object(at) = made else { return Ok(made) };
    for element in elements {
        heap.insert_value(at, element, Value::Bool(true))?;
    }
    Ok(made)
}

/// A method of a set.
pub(super) fn set(
    heap: &mut Heap,
    at: Ref,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    if !matches!(name, "contains" | "add" | "size" | "isEmpty") {
        heap.spend(64 * inner(heap, at).map_or(0, Map::len));
    }
    let Some(map) = inner(heap, at) else { return Ok(None) };
    match (name, arguments) {
        ("contains", [value]) => some(Value::Bool(map.get(heap, *value).is_some())),
        ("size" | "getLength", []) => some(Value::Int(map.len() as i32)),
        ("isEmpty", []) => some(Value::Bool(map.is_empty())),
        ("add", [value]) => {
            let before = heap.insert_value(at, *value, Value::Bool(true))?;
            some(Value::Bool(before.is_none()))
        }
        ("remove", [value]) => some(Value::Bool(remove(heap, at, *value)?.is_some())),
        ("clear", []) => clear(heap, at),
        ("addAll", [others]) => {
            let mut grew = false;
            for other in items(heap, *others)? {
                grew |= heap.insert_value(at, other, Value::Bool(true))?.is_none();
            }
            some(Value::Bool(grew))
        }
        ("containsAll", [others]) => {
            let others = items(heap, *others)?;
            let all = others.iter().all(|other| heap.lookup(at, *other).is_some());
            some(Value::Bool(all))
        }
        ("removeAll" | "retainAll", [others]) => {
            let keys = map.keys(heap);
            let others = items(heap, *others)?;
            let keeps = name == "retainAll";
            let mut changed = false;
            for key in keys {
                if others.iter().any(|other| compare::equal(heap, *other, key)) != keeps {
                    changed |= remove(heap, at, key)?.is_some();
                }
            }
            some(Value::Bool(changed))
        }
        ("iterator", []) => {
            let keys = map.keys(heap);
            heap.object(Object::Iterator(keys, 0, Some(at))).map(Some)
        }
        ("stream", []) => {
            let keys = map.keys(heap);
            heap.object(Object::Stream(keys)).map(Some)
        }
        ("toArray", [] | [_]) => {
            let keys = map.keys(heap);
            heap.object(Object::Array(crate::types::Type::Def, keys)).map(Some)
        }
        ("first" | "last", []) => {
            let keys = map.keys(heap);
            let found = if name == "first" { keys.first() } else { keys.last() };
            found.copied().map(Some).ok_or_else(|| Fault::new("no_such_element_exception", ""))
        }
        ("join", [between]) => {
            let keys = map.keys(heap);
            let between = super::text(heap, *between)?;
            super::strings::joined(heap, &between, &keys).map(Some)
        }
        _ => Ok(None),
    }
}
