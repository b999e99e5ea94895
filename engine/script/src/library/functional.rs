//! Methods that take functions: of lists, maps, streams, optionals, and of functions themselves.

use std::cmp::Ordering;

use super::{Done, items, maps, strings};
use crate::arith;
use crate::compare;
use crate::error::Fault;
use crate::heap::{Comparator, Heap, Object, Ref, Value};
use crate::map::{Map, Order};
use crate::merge_sort::merge_sort;
use crate::op::Program;
use crate::types::Type;
use crate::vm::{Host, Machine};

/// Methods that are here though no argument is a function.
pub(crate) fn compares_by_itself(heap: &Heap, of: Value, name: &str) -> bool {
    match heap.as_object(of) {
        Some(Object::Stream(_)) => name == "collect",
        Some(Object::Closure(..) | Object::Reference(..)) => true,
        Some(Object::Comparator(_)) => matches!(name, "compare"),
        _ => false,
    }
}

/// Who calls functions for the library.
struct Caller<'a> {
    machine: &'a mut Machine,
    program: &'a Program,
    host: &'a mut dyn Host,
}

impl Caller<'_> {
    fn call(&mut self, function: Value, arguments: &[Value]) -> Done<Value> {
        self.machine.call_value(self.program, self.host, function, arguments)
    }

    fn test(&mut self, function: Value, arguments: &[Value]) -> Done<bool> {
        if let Some(Object::Pattern(pattern)) = self.machine.heap.as_object(function) {
            let text = self.machine.heap.as_text(arguments[0]).unwrap_or_default();
            let (is_found, bytes) =
                pattern.used(text.len(), |it, effort| it.matches_somewhere_within(text, effort))?;
            self.machine.heap.spend(bytes);
            return Ok(is_found);
        }
        match self.call(function, arguments)? {
            Value::Bool(is) => Ok(is),
            Value::Null => Err(Fault::null("a test gave null")),
            _ => Err(Fault::cast("a test must give true or false")),
        }
    }

    fn order(&mut self, by: Value, a: Value, b: Value) -> Done<Ordering> {
        if let Some(Object::Comparator(comparator)) = self.machine.heap.as_object(by) {
            return match *comparator {
                Comparator::Natural => compare::order(&self.machine.heap, a, b),
                Comparator::Reverse => compare::order(&self.machine.heap, b, a),
                Comparator::By(key) => {
                    let (a, b) = (self.call(key, &[a])?, self.call(key, &[b])?);
                    compare::order(&self.machine.heap, a, b)
                }
                Comparator::Reversed(inner) => Ok(self.order(inner, a, b)?.reverse()),
            };
        }
        let found = self.call(by, &[a, b])?;
        match arith::wide(found) {
            Some(_) => Ok(arith::long(found).cmp(&0)),
            None => Err(Fault::cast("a comparator must give a number")),
        }
    }

    /// Sorts by a comparator of the script.
    fn sort(&mut self, by: Value, values: Vec<Value>) -> Done<Vec<Value>> {
        merge_sort(values, |a, b| self.order(by, a, b))
    }

    fn each(&mut self, function: Value, all: &[Value]) -> Done<Vec<Value>> {
        let mut made = Vec::with_capacity(all.len());
        for value in all {
            made.push(self.call(function, &[*value])?);
        }
        Ok(made)
    }

    fn filtered(&mut self, function: Value, all: &[Value], keeps: bool) -> Done<Vec<Value>> {
        let mut kept = Vec::new();
        for value in all {
            if self.test(function, &[*value])? == keeps {
                kept.push(*value);
            }
        }
        Ok(kept)
    }

    fn heap(&mut self) -> &mut Heap {
        &mut self.machine.heap
    }
}

/// A method that takes a function; `None` where there is none of that name.
pub(crate) fn functional(
    machine: &mut Machine,
    program: &Program,
    host: &mut dyn Host,
    of: Value,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    let Value::Object(at) = of else { return Ok(None) };
    let mut caller = Caller { machine, program, host };
    match caller.machine.heap.get(at) {
        Object::List(_) | Object::Set(_) => collection(&mut caller, at, name, arguments),
        Object::Map(_) => map(&mut caller, at, name, arguments),
        Object::Stream(all) => {
            let all = all.clone();
            stream(&mut caller, all, name, arguments)
        }
        Object::Optional(inner) => {
            let inner = *inner;
            optional(&mut caller, at, inner, name, arguments)
        }
        Object::Comparator(_) => match (name, arguments) {
            ("compare", [a, b]) => {
                let order = caller.order(of, *a, *b)?;
                Ok(Some(Value::Int(order as i32)))
            }
            _ => Ok(None),
        },
        Object::Closure(..) | Object::Reference(..) => match name {
            "apply" | "accept" | "test" | "get" | "compare" | "applyAsInt" | "applyAsLong"
            | "applyAsDouble" | "run" | "call" => caller.call(of, arguments).map(Some),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// What functions themselves can do without being called.
pub(super) fn function_method(
    heap: &mut Heap,
    of: Value,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    match (name, arguments) {
        ("reversed", []) => heap.object(Object::Comparator(Comparator::Reversed(of))).map(Some),
        _ => Ok(None),
    }
}

fn collection(
    caller: &mut Caller<'_>,
    at: Ref,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    let all = items(caller.heap(), Value::Object(at))?;
    match (name, arguments) {
        ("forEach" | "each", [function]) => {
            caller.each(*function, &all)?;
            Ok(Some(if name == "each" { Value::Object(at) } else { Value::Null }))
        }
        ("eachWithIndex", [function]) => {
            for (place, value) in all.iter().enumerate() {
                caller.call(*function, &[*value, Value::Int(place as i32)])?;
            }
            Ok(Some(Value::Object(at)))
        }
        ("removeIf", [function]) => {
            let kept = caller.filtered(*function, &all, false)?;
            let changed = kept.len() != all.len();
            replace(caller, at, kept)?;
            Ok(Some(Value::Bool(changed)))
        }
        ("sort", [by]) => {
            let sorted = caller.sort(*by, all)?;
            replace(caller, at, sorted)?;
            Ok(Some(Value::Null))
        }
        ("replaceAll", [function]) => {
            let made = caller.each(*function, &all)?;
            replace(caller, at, made)?;
            Ok(Some(Value::Null))
        }
        ("collect", [function]) => {
            let made = caller.each(*function, &all)?;
            caller.heap().list(made).map(Some)
        }
        ("findAll", [function]) => {
            let kept = caller.filtered(*function, &all, true)?;
            caller.heap().list(kept).map(Some)
        }
        ("find", [function]) => {
            for value in all {
                if caller.test(*function, &[value])? {
                    return Ok(Some(value));
                }
            }
            Ok(Some(Value::Null))
        }
        ("any" | "every", [function]) => {
            let wanted = name == "any";
            for value in all {
                if caller.test(*function, &[value])? == wanted {
                    return Ok(Some(Value::Bool(wanted)));
                }
            }
            Ok(Some(Value::Bool(!wanted)))
        }
        ("count", [function]) => {
            let kept = caller.filtered(*function, &all, true)?;
            Ok(Some(Value::Int(kept.len() as i32)))
        }
        ("sum", [function]) => {
            let made = caller.each(*function, &all)?;
            // Of none it is -0.0 otherwise.
            let sum = made.iter().map(|value| arith::double(*value)).sum::<f64>() + 0.0;
            Ok(Some(Value::Double(sum)))
        }
        ("groupBy", [function]) => {
            let groups = caller.heap().object(Object::Map(Map::new(Order::Linked)))?;
            grouped(caller, groups, *function, &all)?;
            Ok(Some(groups))
        }
        ("split", [function]) => {
            let yes = caller.filtered(*function, &all, true)?;
            let no = caller.filtered(*function, &all, false)?;
            let (yes, no) = (caller.heap().list(yes)?, caller.heap().list(no)?);
            caller.heap().list(vec![yes, no]).map(Some)
        }
        _ => Ok(None),
    }
}

fn grouped(caller: &mut Caller<'_>, groups: Value, function: Value, all: &[Value]) -> Done<()> {
    let Value::Object(at) = groups else { return Ok(()) };
    for value in all {
        let key = caller.call(function, &[*value])?;
        let heap = caller.heap();
        let list = match heap.lookup(at, key) {
            Some(list) => list,
            None => {
                let list = heap.list(Vec::new())?;
                heap.insert_value(at, key, list)?;
                list
            }
        };
        if let Value::Object(list) = list {
            heap.charge(16)?;
            if let Object::List(list) = heap.get_mut(list)? {
                list.push(*value);
            }
        }
    }
    Ok(())
}

fn replace(caller: &mut Caller<'_>, at: Ref, with: Vec<Value>) -> Done<()> {
    let heap = caller.heap();
    match heap.get(at) {
        Object::Set(set) => {
            for (key, _) in set.iter().collect::<Vec<_>>() {
                if !with.iter().any(|kept| compare::equal(heap, *kept, key)) {
                    maps::remove(heap, at, key)?;
                }
            }
        }
        _ => {
            if let Object::List(list) = heap.get_mut(at)? {
                // Entries of a map that are dropped are dropped from the map.
                let dropped: Vec<Value> =
                    if list.len() > with.len() { list.clone() } else { Vec::new() };
                *list = with.clone();
                for value in dropped {
                    if let Some(Object::Entry(map, key)) = heap.as_object(value)
                        && !with.iter().any(|kept| compare::equal(heap, *kept, value))
                    {
                        let (map, key) = (*map, *key);
                        maps::remove(heap, map, key)?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn map(caller: &mut Caller<'_>, at: Ref, name: &str, arguments: &[Value]) -> Done<Option<Value>> {
    let entries = match caller.machine.heap.get(at) {
        Object::Map(map) => map.entries(&caller.machine.heap),
        _ => return Ok(None),
    };
    match (name, arguments) {
        ("forEach" | "each", [function]) => {
            for (key, value) in entries {
                caller.call(*function, &[key, value])?;
            }
            Ok(Some(Value::Null))
        }
        ("replaceAll", [function]) => {
            for (key, value) in entries {
                let made = caller.call(*function, &[key, value])?;
                caller.heap().insert_value(at, key, made)?;
            }
            Ok(Some(Value::Null))
        }
        ("computeIfAbsent", [key, function]) => {
            if let Some(found) = caller.heap().lookup(at, *key)
                && !matches!(found, Value::Null)
            {
                return Ok(Some(found));
            }
            let made = caller.call(*function, &[*key])?;
            if !matches!(made, Value::Null) {
                caller.heap().insert_value(at, *key, made)?;
            }
            Ok(Some(made))
        }
        ("computeIfPresent" | "compute", [key, function]) => {
            let found = caller.heap().lookup(at, *key).unwrap_or_default();
            if name == "computeIfPresent" && matches!(found, Value::Null) {
                return Ok(Some(Value::Null));
            }
            let made = caller.call(*function, &[*key, found])?;
            store(caller, at, *key, made)
        }
        ("merge", [key, value, function]) => {
            let found = caller.heap().lookup(at, *key).unwrap_or_default();
            let made = match found {
                Value::Null => *value,
                found => caller.call(*function, &[found, *value])?,
            };
            store(caller, at, *key, made)
        }
        ("collect", [function]) => {
            let mut made = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                made.push(caller.call(*function, &[key, value])?);
            }
            caller.heap().list(made).map(Some)
        }
        ("findAll", [function]) => {
            let found = caller.heap().object(Object::Map(Map::new(Order::Linked)))?;
            for (key, value) in entries {
                if caller.test(*function, &[key, value])?
                    && let Value::Object(found) = found
                {
                    caller.heap().insert_value(found, key, value)?;
                }
            }
            Ok(Some(found))
        }
        ("any" | "every", [function]) => {
            let wanted = name == "any";
            for (key, value) in entries {
                if caller.test(*function, &[key, value])? == wanted {
                    return Ok(Some(Value::Bool(wanted)));
                }
            }
            Ok(Some(Value::Bool(!wanted)))
        }
        _ => Ok(None),
    }
}

fn store(caller: &mut Caller<'_>, at: Ref, key: Value, made: Value) -> Done<Option<Value>> {
    match made {
        Value::Null => {
            maps::remove(caller.heap(), at, key)?;
        }
        made => {
            caller.heap().insert_value(at, key, made)?;
        }
    }
    Ok(Some(made))
}

fn optional(
    caller: &mut Caller<'_>,
    at: Ref,
    inner: Option<Value>,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    match (name, arguments, inner) {
        ("map", [_], None) | ("filter", [_], None) => Ok(Some(Value::Object(at))),
        ("map", [function], Some(value)) => {
            let made = caller.call(*function, &[value])?;
            let made = Some(made).filter(|made| !matches!(made, Value::Null));
            caller.heap().object(Object::Optional(made)).map(Some)
        }
        ("filter", [function], Some(value)) => {
            let kept = caller.test(*function, &[value])?;
            caller.heap().object(Object::Optional(kept.then_some(value))).map(Some)
        }
        ("ifPresent", [function], _) => {
            if let Some(value) = inner {
                caller.call(*function, &[value])?;
            }
            Ok(Some(Value::Null))
        }
        ("orElseGet", [_], Some(value)) => Ok(Some(value)),
        ("orElseGet", [function], None) => caller.call(*function, &[]).map(Some),
        _ => Ok(None),
    }
}

fn stream(
    caller: &mut Caller<'_>,
    all: Vec<Value>,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    let made = match (name, arguments) {
        ("map" | "mapToObj", [function]) => caller.each(*function, &all)?,
        ("mapToInt" | "mapToLong" | "mapToDouble", [function]) => {
            let to = match name {
                "mapToInt" => Type::Int,
                "mapToLong" => Type::Long,
                _ => Type::Double,
            };
            let made = caller.each(*function, &all)?;
            made.into_iter().map(|value| arith::to_primitive(value, to)).collect()
        }
        ("filter", [function]) => caller.filtered(*function, &all, true)?,
        ("flatMap", [function]) => {
            let mut flat = Vec::new();
            for part in caller.each(*function, &all)? {
                flat.extend(items(caller.heap(), part)?);
            }
            flat
        }
        ("sorted", [by]) => caller.sort(*by, all)?,
        ("peek", [function]) => {
            caller.each(*function, &all)?;
            all
        }
        ("forEach" | "forEachOrdered", [function]) => {
            caller.each(*function, &all)?;
            return Ok(Some(Value::Null));
        }
        ("anyMatch" | "allMatch" | "noneMatch", [function]) => {
            let wanted = name != "allMatch";
            for value in all {
                if caller.test(*function, &[value])? == wanted {
                    return Ok(Some(Value::Bool(name == "anyMatch")));
                }
            }
            return Ok(Some(Value::Bool(name != "anyMatch")));
        }
        ("reduce", [start, function]) => {
            let mut sum = *start;
            for value in all {
                sum = caller.call(*function, &[sum, value])?;
            }
            return Ok(Some(sum));
        }
        ("reduce", [function]) => {
            let mut sum: Option<Value> = None;
            for value in all {
                sum = Some(match sum {
                    None => value,
                    Some(sum) => caller.call(*function, &[sum, value])?,
                });
            }
            return caller.heap().object(Object::Optional(sum)).map(Some);
        }
        ("min" | "max", [by]) => {
            let sorted = caller.sort(*by, all)?;
            let found = if name == "min" { sorted.first() } else { sorted.last() };
            let found = found.copied();
            return caller.heap().object(Object::Optional(found)).map(Some);
        }
        ("collect", [how]) => {
            let how = caller.heap().as_text(*how).unwrap_or_default().to_owned();
            return match how.as_str() {
                "toList" => caller.heap().list(all).map(Some),
                "toSet" => maps::set_of(caller.heap(), all).map(Some),
                "counting" => Ok(Some(Value::Long(all.len() as i64))),
                other => match other.strip_prefix("joining") {
                    Some(between) => strings::joined(caller.heap(), between, &all).map(Some),
                    None => Ok(None),
                },
            };
        }
        ("toArray", [_]) => return caller.heap().object(Object::Array(Type::Def, all)).map(Some),
        _ => return Ok(None),
    };
    caller.heap().object(Object::Stream(made)).map(Some)
}
