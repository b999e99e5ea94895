//! Values as text (`toString`), and the Java names of their classes.

use base::java::{double_to_string, float_to_string};

use crate::error::Fault;
use crate::heap::{Heap, Object, Value};
use crate::limits::VALUE_DEPTH_MAX;

/// `String.valueOf`.
///
/// # Errors
/// A text longer than a run's memory; a value that holds itself deeper than is printed.
pub fn text(heap: &mut Heap, value: Value) -> Result<String, Fault> {
    let mut out = String::new();
    write(heap, value, 0, &mut out)?;
    heap.charge(out.len())?;
    Ok(out)
}

/// Appends a value's text.
///
/// # Errors
/// As [`text`].
pub fn write(heap: &Heap, value: Value, depth: u16, out: &mut String) -> Result<(), Fault> {
    use std::fmt::Write as _;
    if depth > VALUE_DEPTH_MAX || out.len() > crate::limits::HEAP_BYTES_MAX {
        return Err(Fault::limit("stack_overflow_error", "a value is too deep to be printed"));
    }
    let written = match value {
        Value::Null => out.write_str("null"),
        Value::Bool(value) => write!(out, "{value}"),
        Value::Byte(value) => write!(out, "{value}"),
        Value::Short(value) => write!(out, "{value}"),
        Value::Char(value) => {
            out.extend(char::decode_utf16([value]).map(|unit| unit.unwrap_or('?')));
            Ok(())
        }
        Value::Int(value) => write!(out, "{value}"),
        Value::Long(value) => write!(out, "{value}"),
        Value::Float(value) => out.write_str(&float_to_string(value)),
        Value::Double(value) => out.write_str(&double_to_string(value)),
        Value::Text(at, len) => out.write_str(heap.text(at, len)),
        Value::Doc => out.write_str("org.elasticsearch.search.lookup.LeafDocLookup"),
        Value::Field(_) => out.write_str("org.elasticsearch.index.fielddata.ScriptDocValues"),
        Value::Object(at) => return object(heap, at, depth, out),
    };
    written.map_err(|_| Fault::illegal("cannot print"))
}

fn object(heap: &Heap, at: crate::heap::Ref, depth: u16, out: &mut String) -> Result<(), Fault> {
    let list = |items: &[Value], out: &mut String| -> Result<(), Fault> {
        out.push('[');
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                out.push_str(", ");
            }
            write(heap, *item, depth + 1, out)?;
        }
        out.push(']');
        Ok(())
    };
    match heap.get(at) {
        Object::List(items) => list(items, out),
        Object::Set(map) => list(&map.keys(heap), out),
        Object::Map(map) => {
            out.push('{');
            for (place, (key, value)) in map.entries(heap).into_iter().enumerate() {
                if place > 0 {
                    out.push_str(", ");
                }
                write(heap, key, depth + 1, out)?;
                out.push('=');
                write(heap, value, depth + 1, out)?;
            }
            out.push('}');
            Ok(())
        }
        Object::Builder(text) => {
            out.push_str(text);
            Ok(())
        }
        Object::Entry(map, key) => {
            write(heap, *key, depth + 1, out)?;
            out.push('=');
            write(heap, heap.lookup(*map, *key).unwrap_or_default(), depth + 1, out)
        }
        Object::Date(date) => {
            out.push_str(&date.text());
            Ok(())
        }
        Object::Place(lat, lon) => {
            out.push_str(&format!("{}, {}", double_to_string(*lat), double_to_string(*lon)));
            Ok(())
        }
        Object::Pattern(pattern) => {
            out.push_str(pattern.as_str());
            Ok(())
        }
        Object::Optional(None) => {
            out.push_str("Optional.empty");
            Ok(())
        }
        Object::Optional(Some(inner)) => {
            out.push_str("Optional[");
            write(heap, *inner, depth + 1, out)?;
            out.push(']');
            Ok(())
        }
        Object::Exception(kind, message) => {
            out.push_str(&class_of_exception(kind));
            if let Some(message) = message {
                out.push_str(": ");
                out.push_str(message);
            }
            Ok(())
        }
        _ => {
            out.push_str(&format!("{}@{:x}", class_of(heap, Value::Object(at)), at.0));
            Ok(())
        }
    }
}

/// The Java name of a value's class.
pub fn class_of(heap: &Heap, value: Value) -> String {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Byte(_) => "java.lang.Byte",
        Value::Short(_) => "java.lang.Short",
        Value::Char(_) => "java.lang.Character",
        Value::Int(_) => "java.lang.Integer",
        Value::Long(_) => "java.lang.Long",
        Value::Float(_) => "java.lang.Float",
        Value::Double(_) => "java.lang.Double",
        Value::Text(..) => "java.lang.String",
        Value::Doc => "org.elasticsearch.search.lookup.LeafDocLookup",
        Value::Field(_) => "org.elasticsearch.index.fielddata.ScriptDocValues",
        Value::Object(at) => match heap.get(at) {
            Object::List(_) => "java.util.ArrayList",
            Object::Array(of, _) => return format!("{}[]", of.java()),
            Object::Map(map) => match map.order {
                crate::map::Order::Linked => "java.util.LinkedHashMap",
                crate::map::Order::Hash => "java.util.HashMap",
                crate::map::Order::Sorted => "java.util.TreeMap",
            },
            Object::Set(map) => match map.order {
                crate::map::Order::Linked => "java.util.LinkedHashSet",
                crate::map::Order::Hash => "java.util.HashSet",
                crate::map::Order::Sorted => "java.util.TreeSet",
            },
            Object::Builder(_) => "java.lang.StringBuilder",
            Object::Iterator(..) => "java.util.ArrayList.Itr",
            Object::Entry(..) => "java.util.HashMap.Node",
            Object::Date(date) => date.class(),
            Object::Closure(..) | Object::Reference(..) => "org.elasticsearch.painless.Lambda",
            Object::Comparator(_) => "java.util.Comparator",
            Object::Pattern(_) => "java.util.regex.Pattern",
            Object::Matcher(_) => "java.util.regex.Matcher",
            Object::Stream(_) => "java.util.stream.ReferencePipeline",
            Object::Optional(_) => "java.util.Optional",
            Object::Place(..) => "org.elasticsearch.common.geo.GeoPoint",
            Object::Exception(kind, _) => return class_of_exception(kind),
            Object::Random(_) => "java.util.Random",
            Object::This => "org.elasticsearch.painless.PainlessScript",
        },
    };
    name.to_owned()
}

/// `arithmetic_exception` as Java writes it.
pub fn class_of_exception(kind: &str) -> String {
    let mut name = String::new();
    for word in kind.split('_') {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    let known = crate::types::CLASSES.iter().find(|class| class.name == name);
    known.map_or_else(|| format!("java.lang.{name}"), |class| class.java.to_owned())
}

/// `ArithmeticException` as Elasticsearch's answers write it.
pub fn kind_of_exception(name: &str) -> String {
    let mut kind = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !kind.is_empty() {
            kind.push('_');
        }
        kind.push(letter.to_ascii_lowercase());
    }
    kind
}
