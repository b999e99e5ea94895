//! Lists, iterators, and streams as far as they need no function.

use super::{Done, int, items, place};
use crate::arith;
use crate::compare;
use crate::error::Fault;
use crate::heap::{Heap, Object, Ref, Value};
use crate::merge_sort::merge_sort;
use crate::types::Type;
use crate::vm::out_of_bounds;

fn of(heap: &Heap, at: Ref) -> Vec<Value> {
    match heap.get(at) {
        Object::List(items) | Object::Stream(items) => items.clone(),
        _ => Vec::new(),
    }
}

fn some(value: Value) -> Done<Option<Value>> {
    Ok(Some(value))
}

fn find(heap: &Heap, items: &[Value], wanted: Value) -> Option<usize> {
    items.iter().position(|item| compare::equal(heap, *item, wanted))
}

fn change(heap: &mut Heap, at: Ref) -> Done<&mut Vec<Value>> {
    match heap.get_mut(at)? {
        Object::List(items) => Ok(items),
        _ => Err(Fault::frozen()),
    }
}

/// A method of a list.
pub(super) fn method(
    heap: &mut Heap,
    at: Ref,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    if let Object::List(list) = heap.get(at)
        && !matches!(name, "size" | "get" | "add" | "set" | "isEmpty")
    {
        let bytes = 64 * list.len();
        heap.spend(bytes);
    }
    let Object::List(list) = heap.get(at) else { return Ok(None) };
    match (name, arguments) {
        ("size" | "getLength", []) => some(Value::Int(list.len() as i32)),
        ("isEmpty", []) => some(Value::Bool(list.is_empty())),
        ("get", [index]) => match usize::try_from(int(*index)?) {
            Ok(index) if index < list.len() => some(list[index]),
            _ => Err(out_of_bounds(arith::long(*index), list.len())),
        },
        ("contains", [wanted]) => some(Value::Bool(find(heap, list, *wanted).is_some())),
        ("indexOf", [wanted]) => {
            some(Value::Int(find(heap, list, *wanted).map_or(-1, |at| at as i32)))
        }
        ("lastIndexOf", [wanted]) => {
            let found = list.iter().rposition(|item| compare::equal(heap, *item, *wanted));
            some(Value::Int(found.map_or(-1, |at| at as i32)))
        }
        ("containsAll", [others]) => {
            let list = list.clone();
            let others = items(heap, *others)?;
            some(Value::Bool(others.iter().all(|other| find(heap, &list, *other).is_some())))
        }
        ("add" | "addLast", [value]) => {
            heap.charge(16)?;
            change(heap, at)?.push(*value);
            some(Value::Bool(true))
        }
        ("add", [index, value]) => {
            heap.charge(16)?;
            let index = int(*index)?;
            let list = change(heap, at)?;
            match usize::try_from(index) {
                Ok(index) if index <= list.len() => list.insert(index, *value),
                _ => return Err(out_of_bounds(i64::from(index), list.len())),
            }
            some(Value::Null)
        }
        ("addFirst" | "push", [value]) => {
            heap.charge(16)?;
            change(heap, at)?.insert(0, *value);
            some(Value::Null)
        }
        ("addAll", [others]) => {
            let others = items(heap, *others)?;
            heap.charge(16 * others.len())?;
            let grew = !others.is_empty();
            change(heap, at)?.extend(others);
            some(Value::Bool(grew))
        }
        ("addAll", [index, others]) => {
            let others = items(heap, *others)?;
            heap.charge(16 * others.len())?;
            let index = int(*index)?;
            let list = change(heap, at)?;
            let Some(index) = usize::try_from(index).ok().filter(|index| *index <= list.len())
            else {
                return Err(out_of_bounds(i64::from(index), list.len()));
            };
            list.splice(index..index, others);
            some(Value::Bool(true))
        }
        ("set", [index, value]) => {
            let list = change(heap, at)?;
            let index = int(*index)?;
            match usize::try_from(index) {
                Ok(index) if index < list.len() => {
                    some(std::mem::replace(&mut list[index], *value))
                }
                _ => Err(out_of_bounds(i64::from(index), list.len())),
            }
        }
        // A number that is written out is a place, as Java would choose the method by its type.
        ("remove", [Value::Int(index)]) => {
            let list = change(heap, at)?;
            match usize::try_from(*index) {
                Ok(index) if index < list.len() => some(list.remove(index)),
                _ => Err(out_of_bounds(i64::from(*index), list.len())),
            }
        }
        ("remove", [wanted]) => {
            let found = find(heap, list, *wanted);
            let list = change(heap, at)?;
            if let Some(found) = found {
                list.remove(found);
            }
            some(Value::Bool(found.is_some()))
        }
        ("removeFirst" | "pop" | "remove", []) => {
            let list = change(heap, at)?;
            if list.is_empty() {
                return Err(Fault::new("no_such_element_exception", ""));
            }
            some(list.remove(0))
        }
        ("removeLast" | "pollLast", []) => some(change(heap, at)?.pop().unwrap_or_default()),
        ("poll" | "pollFirst", []) => {
            let list = change(heap, at)?;
            some(if list.is_empty() { Value::Null } else { list.remove(0) })
        }
        ("getFirst" | "peek" | "peekFirst" | "element", []) => {
            some(list.first().copied().unwrap_or_default())
        }
        ("getLast" | "peekLast", []) => some(list.last().copied().unwrap_or_default()),
        ("removeAll" | "retainAll", [others]) => {
            let list = list.clone();
            let others = items(heap, *others)?;
            let keeps = name == "retainAll";
            let kept: Vec<Value> = list
                .iter()
                .copied()
                .filter(|item| find(heap, &others, *item).is_some() == keeps)
                .collect();
            let changed = kept.len() != list.len();
            *change(heap, at)? = kept;
            some(Value::Bool(changed))
        }
        ("clear", []) => {
            change(heap, at)?.clear();
            some(Value::Null)
        }
        ("subList", [from, to]) => {
            let (from, to) = (int(*from)?, int(*to)?);
            if from < 0 || to > list.len() as i32 || from > to {
                return Err(out_of_bounds(i64::from(if from < 0 { from } else { to }), list.len()));
            }
            let part = list[from as usize..to as usize].to_vec();
            heap.list(part).map(Some)
        }
        ("iterator" | "listIterator", []) => {
            let items = list.clone();
            heap.object(Object::Iterator(items, 0, Some(at))).map(Some)
        }
        ("stream", []) => {
            let items = list.clone();
            heap.object(Object::Stream(items)).map(Some)
        }
        ("toArray", [] | [_]) => {
            let items = list.clone();
            heap.object(Object::Array(Type::Def, items)).map(Some)
        }
        ("sort", [Value::Null]) => {
            let sorted = sorted(heap, list.clone())?;
            *change(heap, at)? = sorted;
            some(Value::Null)
        }
        ("join", [between]) => {
            let items = list.clone();
            let between = super::text(heap, *between)?;
            super::strings::joined(heap, &between, &items).map(Some)
        }
        ("asList", []) => some(Value::Object(at)),
        ("asCollection", []) => some(Value::Object(at)),
        ("sum", []) => {
            // Of none it is -0.0 otherwise.
            let sum = list.iter().map(|item| arith::double(*item)).sum::<f64>() + 0.0;
            some(Value::Double(sum))
        }
        ("getAt", [index]) => some(list[place(*index, list.len())?]),
        ("copy", []) | ("clone", []) => {
            let items = list.clone();
            heap.list(items).map(Some)
        }
        _ => Ok(None),
    }
}

/// Values sorted as they compare.
pub(super) fn sorted(heap: &Heap, items: Vec<Value>) -> Done<Vec<Value>> {
    merge_sort(items, |a, b| compare::order(heap, a, b))
}

/// A method of an iterator.
pub(super) fn iterator(
    heap: &mut Heap,
    at: Ref,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    let Object::Iterator(items, next, owner) = heap.get_mut(at)? else { return Ok(None) };
    match (name, arguments) {
        ("hasNext" | "hasMoreTokens" | "hasMoreElements", []) => {
            some(Value::Bool(*next < items.len()))
        }
        ("next" | "nextToken" | "nextElement", []) => {
            let Some(value) = items.get(*next).copied() else {
                return Err(Fault::new("no_such_element_exception", ""));
            };
            *next += 1;
            some(value)
        }
        ("countTokens", []) => some(Value::Int((items.len() - *next) as i32)),
        ("remove", []) => {
            let (Some(owner), Some(before)) = (*owner, next.checked_sub(1)) else {
                return Err(Fault::frozen());
            };
            let removed = items.remove(before);
            *next = before;
            match heap.get(owner) {
                Object::List(_) => {
                    let list = change(heap, owner)?;
                    if before < list.len() {
                        list.remove(before);
                    }
                }
                Object::Map(_) | Object::Set(_) => {
                    let key = match heap.as_object(removed) {
                        Some(Object::Entry(_, key)) => *key,
                        _ => removed,
                    };
                    super::maps::remove(heap, owner, key)?;
                }
                _ => return Err(Fault::frozen()),
            }
            some(Value::Null)
        }
        _ => Ok(None),
    }
}

/// A method of a stream that needs no function.
pub(super) fn stream(
    heap: &mut Heap,
    at: Ref,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    let list = of(heap, at);
    let all = |heap: &mut Heap, items: Vec<Value>| heap.object(Object::Stream(items)).map(Some);
    let optional =
        |heap: &mut Heap, value: Option<Value>| heap.object(Object::Optional(value)).map(Some);
    match (name, arguments) {
        ("count", []) => some(Value::Long(list.len() as i64)),
        ("sum", []) => {
            let mut sum = Value::Int(0);
            for item in list {
                sum = arith::binary(heap, crate::op::Binary::Add, sum, item)?;
            }
            some(sum)
        }
        ("average", []) => {
            let sum: f64 = list.iter().map(|item| arith::double(*item)).sum();
            let average = (!list.is_empty()).then(|| Value::Double(sum / list.len() as f64));
            optional(heap, average)
        }
        ("min" | "max", []) => {
            let sorted = sorted(heap, list)?;
            let found = if name == "min" { sorted.first() } else { sorted.last() };
            optional(heap, found.copied())
        }
        ("findFirst" | "findAny", []) => optional(heap, list.first().copied()),
        ("distinct", []) => {
            let mut kept: Vec<Value> = Vec::new();
            let mut seen = crate::map::Map::new(crate::map::Order::Linked);
            for item in list {
                if seen.insert(heap, item, Value::Null).is_none() {
                    kept.push(item);
                }
            }
            all(heap, kept)
        }
        ("sorted", []) => {
            let sorted = sorted(heap, list)?;
            all(heap, sorted)
        }
        ("limit", [most]) => {
            let most = arith::long(*most).max(0) as usize;
            all(heap, list.into_iter().take(most).collect())
        }
        ("skip", [count]) => {
            let count = arith::long(*count).max(0) as usize;
            all(heap, list.into_iter().skip(count).collect())
        }
        ("boxed" | "stream" | "parallel" | "sequential", []) => all(heap, list),
        ("asDoubleStream", []) => {
            all(heap, list.iter().map(|item| Value::Double(arith::double(*item))).collect())
        }
        ("asLongStream", []) => {
            all(heap, list.iter().map(|item| Value::Long(arith::long(*item))).collect())
        }
        ("toArray", [] | [_]) => heap.object(Object::Array(Type::Def, list)).map(Some),
        ("toList", []) => heap.list(list).map(Some),
        ("iterator", []) => heap.object(Object::Iterator(list, 0, None)).map(Some),
        _ => Ok(None),
    }
}
