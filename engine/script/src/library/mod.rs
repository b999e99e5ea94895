//! What a script finds there: constructors, static functions, methods.
//!
//! Names are Java's and Elasticsearch's own additions (`splitOnToken`, `getByPath`). What is not
//! here is not found by a script either: there is no other door.

mod context;
mod dates;
mod functional;
mod lists;
mod maps;
mod numbers;
mod statics;
mod strings;

use crate::arith;
use crate::error::Fault;
use crate::heap::{Heap, Object, Ref, Value};
use crate::map::{Map, Order};
use crate::show;
use crate::types::{ClassKind, Type};
use crate::vm::out_of_bounds;

pub(crate) use context::{metres, of_context};
pub(crate) use functional::{compares_by_itself, functional};
pub(crate) use statics::{call, constant, function};
pub(crate) use strings::string_has;

type Done<T> = Result<T, Fault>;

/// Can a class be made with so many arguments?
pub(crate) fn constructs(class: Type, count: usize) -> bool {
    let Some(class) = class.class() else { return false };
    match (class.name, class.kind) {
        ("List" | "Map" | "Set" | "Collection" | "Iterable" | "Iterator" | "Map.Entry", _) => false,
        ("TreeMap" | "HashMap" | "LinkedHashMap", _) => count <= 1,
        (_, ClassKind::List | ClassKind::Set) => count <= 1,
        (_, ClassKind::Builder) => count <= 1,
        ("Random", _) => count == 1,
        ("String", _) | ("Object", _) => count == 0,
        ("StringTokenizer", _) => count == 1 || count == 2,
        ("GeoPoint", _) => count == 2,
        (_, ClassKind::Exception) => count <= 1,
        _ => false,
    }
}

/// A new object of a class.
///
/// # Errors
/// Arguments that it does not take; too much memory.
pub(crate) fn construct(class: Type, heap: &mut Heap, arguments: &[Value]) -> Done<Value> {
    if !constructs(class, arguments.len()) {
        return Err(Fault::illegal(format!(
            "constructor [{}, <init>/{}] not found",
            class.java(),
            arguments.len()
        )));
    }
    let class = class.class().ok_or_else(|| Fault::illegal("no class"))?;
    let first = arguments.first().copied();
    let order = match class.name {
        "LinkedHashMap" | "LinkedHashSet" => Order::Linked,
        "TreeMap" | "TreeSet" => Order::Sorted,
        _ => Order::Hash,
    };
    match (class.name, class.kind) {
        (_, ClassKind::List) => {
            let items = match first {
                None | Some(Value::Int(_)) => Vec::new(),
                Some(other) => items(heap, other)?,
            };
            heap.list(items)
        }
        (_, ClassKind::Set) => {
            let made = heap.object(Object::Set(Map::new(order)))?;
            let items = match first {
                None | Some(Value::Int(_)) => Vec::new(),
                Some(other) => items(heap, other)?,
            };
            for item in items {
                heap.insert_value(reference(made)?, item, Value::Bool(true))?;
            }
            Ok(made)
        }
        (_, ClassKind::Map) => {
            let made = heap.object(Object::Map(Map::new(order)))?;
            let entries = match first.and_then(|value| heap.as_object(value)) {
                Some(Object::Map(map)) => map.entries(heap),
                _ => Vec::new(),
            };
            for (key, value) in entries {
                heap.insert_value(reference(made)?, key, value)?;
            }
            Ok(made)
        }
        (_, ClassKind::Builder) => {
            let text = match first {
                None | Some(Value::Int(_)) => String::new(),
                Some(other) => show::text(heap, other)?,
            };
            heap.object(Object::Builder(text))
        }
        ("String", _) => heap.string(""),
        ("Object", _) => heap.object(Object::This),
        ("Random", _) => {
            let seed = arith::long(first.unwrap_or_default());
            heap.object(Object::Random((seed ^ 0x5_DEEC_E66D) & ((1 << 48) - 1)))
        }
        ("GeoPoint", _) => {
            let place = Object::Place(arith::double(arguments[0]), arith::double(arguments[1]));
            heap.object(place)
        }
        ("StringTokenizer", _) => {
            let text = show::text(heap, arguments[0])?;
            let cuts = match arguments.get(1) {
                Some(cuts) => show::text(heap, *cuts)?,
                None => " \t\n\r\u{c}".to_owned(),
            };
            let mut parts = Vec::new();
            for part in text.split(|letter| cuts.contains(letter)).filter(|part| !part.is_empty()) {
                parts.push(heap.string(part)?);
            }
            heap.object(Object::Iterator(parts, 0, None))
        }
        (name, ClassKind::Exception) => {
            let message = match first {
                Some(message) => Some(show::text(heap, message)?),
                None => None,
            };
            heap.object(Object::Exception(show::kind_of_exception(name), message))
        }
        _ => Err(Fault::illegal(format!("constructor [{}, <init>] not found", class.java))),
    }
}

fn reference(value: Value) -> Done<Ref> {
    crate::vm::object_of(value).ok_or_else(|| Fault::illegal("no object"))
}

/// `[k: v]`, keys and values in turn.
pub(crate) fn new_map(heap: &mut Heap, parts: &[Value]) -> Done<Value> {
    let map = heap.object(Object::Map(Map::new(Order::Hash)))?;
    for pair in parts.chunks_exact(2) {
        heap.insert_value(reference(map)?, pair[0], pair[1])?;
    }
    Ok(map)
}

/// `new int[2][3]`.
pub(crate) fn new_array(heap: &mut Heap, whole: Type, sizes: &[i32]) -> Done<Value> {
    let (Some((size, rest)), Type::Array(..)) = (sizes.split_first(), whole) else {
        return Ok(Value::Null);
    };
    let Ok(len) = usize::try_from(*size) else {
        return Err(Fault::new("negative_array_size_exception", size.to_string()));
    };
    let of = whole.element();
    heap.charge(16 * len)?;
    let items = if rest.is_empty() {
        let nothing = match of {
            Type::Bool => Value::Bool(false),
            of if of.is_numeric() => arith::to_primitive(Value::Int(0), of),
            _ => Value::Null,
        };
        vec![nothing; len]
    } else {
        let mut items = Vec::with_capacity(len);
        for _ in 0..len {
            items.push(new_array(heap, of, rest)?);
        }
        items
    };
    heap.object(Object::Array(of, items))
}

/// `of.name = value`
pub(crate) fn store_member(heap: &mut Heap, of: Value, name: &str, value: Value) -> Done<()> {
    let Value::Object(at) = of else {
        return Err(match of {
            Value::Null => Fault::null(format!(
                "cannot access method/field [{name}] from a null def reference"
            )),
            _ => Fault::illegal(format!(
                "dynamic setter [{}, {name}] not found",
                show::class_of(heap, of)
            )),
        });
    };
    match heap.get(at) {
        Object::Map(_) => heap.insert(at, name, value),
        Object::List(_) => match name.parse::<usize>() {
            Ok(place) => store_index(heap, of, Value::Int(place as i32), value),
            Err(_) => Err(Fault::illegal(format!("Illegal list shortcut value [{name}]."))),
        },
        Object::Entry(map, key) if name == "value" => {
            let (map, key) = (*map, *key);
            heap.insert_value(map, key, value).map(|_| ())
        }
        _ => Err(Fault::illegal(format!(
            "dynamic setter [{}, {name}] not found",
            show::class_of(heap, of)
        ))),
    }
}

/// A place in a list; one before its begin counts from its end.
fn place(at: Value, len: usize) -> Done<usize> {
    let at = i64::from(arith::int(at));
    let counted = if at < 0 { at + len as i64 } else { at };
    usize::try_from(counted)
        .ok()
        .filter(|counted| *counted < len)
        .ok_or_else(|| out_of_bounds(at, len))
}

/// `of[index] = value`
pub(crate) fn store_index(heap: &mut Heap, of: Value, index: Value, value: Value) -> Done<()> {
    let Value::Object(at) = of else {
        return Err(match of {
            Value::Null => Fault::null("cannot set a value of a null def reference"),
            _ => Fault::illegal(format!(
                "Attempting to address a non-array-like type [{}] as an array.",
                show::class_of(heap, of)
            )),
        });
    };
    match heap.get(at) {
        Object::Map(_) => heap.insert_value(at, index, value).map(|_| ()),
        Object::List(_) | Object::Array(..) => {
            let value = match heap.get(at) {
                Object::Array(of, _) if *of != Type::Def => {
                    let of = *of;
                    arith::cast(heap, value, of, false)?
                }
                _ => value,
            };
            let (Object::List(items) | Object::Array(_, items)) = heap.get_mut(at)? else {
                return Ok(());
            };
            let place = place(index, items.len())?;
            items[place] = value;
            Ok(())
        }
        _ => Err(Fault::illegal(format!(
            "Attempting to address a non-array-like type [{}] as an array.",
            show::class_of(heap, of)
        ))),
    }
}

/// `of[index]`
pub(crate) fn index(heap: &Heap, of: Value, index: Value) -> Done<Value> {
    match heap.as_object(of) {
        Some(Object::Map(map)) => Ok(map.get(heap, index).unwrap_or_default()),
        Some(Object::List(items) | Object::Array(_, items)) => {
            if arith::wide(index).is_none() {
                let class = show::class_of(heap, index);
                return Err(Fault::cast(format!("cannot implicitly cast def [{class}] to int")));
            }
            Ok(items[place(index, items.len())?])
        }
        _ => Err(Fault::illegal(format!(
            "Attempting to address a non-array-like type [{}] as an array.",
            show::class_of(heap, of)
        ))),
    }
}

/// `of.name` of what needs no getter: maps, arrays, lists, entries.
pub(crate) fn member(heap: &mut Heap, at: Ref, name: &str) -> Done<Option<Value>> {
    Ok(match heap.get(at) {
        Object::Map(map) => map.get_text(heap, name),
        Object::Array(_, items) if name == "length" => Some(Value::Int(items.len() as i32)),
        Object::List(items) => match name {
            "length" => Some(Value::Int(items.len() as i32)),
            _ => match name.parse::<i32>() {
                Ok(index) => Some(items[place(Value::Int(index), items.len())?]),
                Err(_) => None,
            },
        },
        Object::Entry(map, key) => match name {
            "key" => Some(*key),
            "value" => heap.lookup(*map, *key),
            _ => None,
        },
        Object::Place(lat, lon) => match name {
            "lat" => Some(Value::Double(*lat)),
            "lon" => Some(Value::Double(*lon)),
            _ => None,
        },
        _ => None,
    })
}

/// What a loop goes through.
pub(crate) fn items(heap: &mut Heap, over: Value) -> Done<Vec<Value>> {
    let found = match heap.as_object(over) {
        Some(Object::List(items) | Object::Array(_, items) | Object::Stream(items)) => {
            items.clone()
        }
        Some(Object::Set(map)) => map.keys(heap),
        Some(Object::Iterator(items, at, _)) => items[(*at).min(items.len())..].to_vec(),
        _ => {
            return Err(match over {
                Value::Null => Fault::null("Cannot iterate over [null]"),
                _ => {
                    Fault::illegal(format!("Cannot iterate over [{}]", show::class_of(heap, over)))
                }
            });
        }
    };
    heap.charge(16 * found.len())?;
    Ok(found)
}

/// `=~` and `==~`.
pub(crate) fn matches(heap: &mut Heap, text: Value, pattern: Value, whole: bool) -> Done<Value> {
    let Some(Object::Pattern(pattern)) = heap.as_object(pattern) else {
        return Err(Fault::cast("the right side of [=~] must be a pattern"));
    };
    let text = match text {
        Value::Null => return Err(Fault::null("cannot match null")),
        Value::Text(at, len) => heap.text(at, len),
        other => match heap.as_object(other) {
            Some(Object::Builder(text)) => text,
            _ => return Err(Fault::cast("only text is matched")),
        },
    };
    let (is_found, bytes) = pattern.used(text.len(), |pattern, effort| match whole {
        true => pattern.matches_whole_within(text, effort),
        false => pattern.matches_somewhere_within(text, effort),
    })?;
    heap.spend(bytes);
    Ok(Value::Bool(is_found))
}

/// A method of a value; `None` where it has none of that name.
pub(crate) fn method(
    heap: &mut Heap,
    of: Value,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    // What everything has.
    match (name, arguments) {
        ("toString", []) => {
            if let Value::Text(..) = of {
                return Ok(Some(of));
            }
            let text = show::text(heap, of)?;
            return heap.string(&text).map(Some);
        }
        ("equals", [other]) => {
            return Ok(Some(Value::Bool(crate::compare::equal(heap, of, *other))));
        }
        ("hashCode", []) => return Ok(Some(Value::Int(crate::compare::hash(heap, of)))),
        _ => {}
    }
    match of {
        Value::Text(at, len) => strings::method(heap, (at, len), name, arguments),
        Value::Object(at) => match heap.get(at) {
            Object::List(_) => lists::method(heap, at, name, arguments),
            Object::Array(_, items) => match (name, arguments) {
                ("getLength", []) => Ok(Some(Value::Int(items.len() as i32))),
                ("clone", []) => {
                    let copy = heap.get(at).clone();
                    heap.object(copy).map(Some)
                }
                _ => Ok(None),
            },
            Object::Map(_) => maps::map(heap, at, name, arguments),
            Object::Set(_) => maps::set(heap, at, name, arguments),
            Object::Entry(map, key) => {
                let (map, key) = (*map, *key);
                Ok(match (name, arguments) {
                    ("getKey", []) => Some(key),
                    ("getValue", []) => Some(heap.lookup(map, key).unwrap_or_default()),
                    ("setValue", [value]) => {
                        Some(heap.insert_value(map, key, *value)?.unwrap_or_default())
                    }
                    _ => None,
                })
            }
            Object::Builder(_) => strings::builder(heap, at, name, arguments),
            Object::Iterator(..) => lists::iterator(heap, at, name, arguments),
            Object::Date(_) => dates::method(heap, at, name, arguments),
            Object::Pattern(_) | Object::Matcher(_) => strings::pattern(heap, at, name, arguments),
            Object::Stream(_) => lists::stream(heap, at, name, arguments),
            Object::Optional(inner) => {
                let inner = *inner;
                match (name, arguments) {
                    ("isPresent", []) => Ok(Some(Value::Bool(inner.is_some()))),
                    ("isEmpty", []) => Ok(Some(Value::Bool(inner.is_none()))),
                    ("orElse", [or]) => Ok(Some(inner.unwrap_or(*or))),
                    ("get" | "getAsInt" | "getAsLong" | "getAsDouble", []) => inner
                        .map(Some)
                        .ok_or_else(|| Fault::new("no_such_element_exception", "No value present")),
                    _ => Ok(None),
                }
            }
            Object::Place(lat, lon) => {
                let (lat, lon) = (*lat, *lon);
                Ok(match (name, arguments) {
                    ("getLat" | "lat", []) => Some(Value::Double(lat)),
                    ("getLon" | "lon", []) => Some(Value::Double(lon)),
                    _ => None,
                })
            }
            Object::Exception(_, message) => {
                let message = message.clone();
                match (name, arguments) {
                    ("getMessage" | "getLocalizedMessage", []) => match message {
                        Some(message) => heap.string(&message).map(Some),
                        None => Ok(Some(Value::Null)),
                    },
                    _ => Ok(None),
                }
            }
            Object::Random(_) => numbers::random(heap, at, name, arguments),
            Object::Comparator(_) | Object::Closure(..) | Object::Reference(..) => {
                functional::function_method(heap, of, name, arguments)
            }
            Object::This => Ok(None),
        },
        Value::Null | Value::Doc | Value::Field(_) => Ok(None),
        number => numbers::method(heap, number, name, arguments),
    }
}

/// A whole number among arguments.
fn int(value: Value) -> Done<i32> {
    match arith::wide(value) {
        Some(_) => Ok(arith::int(value)),
        None => Err(match value {
            Value::Null => Fault::null("cannot cast null to [int]"),
            _ => Fault::cast("a number is needed"),
        }),
    }
}

/// Text among arguments.
fn text(heap: &Heap, value: Value) -> Done<String> {
    match value {
        Value::Text(at, len) => Ok(heap.text(at, len).to_owned()),
        Value::Char(_) => {
            let mut out = String::new();
            show::write(heap, value, 0, &mut out)?;
            Ok(out)
        }
        Value::Null => Err(Fault::null("a string is needed, and there is null")),
        other => match heap.as_object(other) {
            Some(Object::Builder(text)) => Ok(text.clone()),
            _ => {
                let class = show::class_of(heap, other);
                Err(Fault::cast(format!(
                    "class {class} cannot be cast to class java.lang.String ({class} and \
                     java.lang.String are in module java.base of loader 'bootstrap')"
                )))
            }
        },
    }
}
