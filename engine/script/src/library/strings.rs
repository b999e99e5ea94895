//! Strings, builders of them, patterns and matchers.

use super::{Done, int, text};
use crate::error::Fault;
use crate::heap::{Heap, Object, Ref, Value};
use crate::java;
use crate::pattern::{Considered, Matcher, Pattern, Replacement, TooLong};
use crate::show;
use crate::types::Type;

/// Methods of strings.
const METHODS: [&str; 52] = [
    "charAt",
    "chars",
    "codePointAt",
    "compareTo",
    "compareToIgnoreCase",
    "concat",
    "contains",
    "contentEquals",
    "decodeBase64",
    "encodeBase64",
    "endsWith",
    "equals",
    "equalsIgnoreCase",
    "getChars",
    "hashCode",
    "indexOf",
    "isBlank",
    "isEmpty",
    "join",
    "lastIndexOf",
    "length",
    "lines",
    "matches",
    "regionMatches",
    "repeat",
    "replace",
    "replaceAll",
    "replaceFirst",
    "sha1",
    "sha256",
    "split",
    "splitOnToken",
    "startsWith",
    "strip",
    "stripLeading",
    "stripTrailing",
    "subSequence",
    "substring",
    "toCharArray",
    "toLowerCase",
    "toString",
    "toUpperCase",
    "trim",
    "asBoolean",
    "chop",
    "getLength",
    "isNumber",
    "leftPad",
    "reverse",
    "rightPad",
    "stream",
    "valueOf",
];

/// Do strings have a method of that name?
pub(crate) fn string_has(name: &str) -> bool {
    METHODS.contains(&name)
}

fn bool(value: bool) -> Done<Option<Value>> {
    Ok(Some(Value::Bool(value)))
}

fn number(value: usize) -> Done<Option<Value>> {
    Ok(Some(Value::Int(value as i32)))
}

fn no_range(begin: i32, end: i32, len: usize) -> Fault {
    Fault::new(
        "string_index_out_of_bounds_exception",
        format!("begin {begin}, end {end}, length {len}"),
    )
}

/// A piece, by UTF-16 places.
fn piece(whole: &str, begin: i32, end: i32) -> Done<&str> {
    let len = java::len(whole);
    let range = || no_range(begin, end, len);
    let from = usize::try_from(begin).map_err(|_| range())?;
    let to = usize::try_from(end).map_err(|_| range())?;
    if from > to || to > len {
        return Err(range());
    }
    Ok(&whole[java::byte_at(whole, from)..java::byte_at(whole, to)])
}

fn place_of(found: Option<usize>, whole: &str) -> Value {
    Value::Int(found.map_or(-1, |byte| java::unit_at(whole, byte) as i32))
}

/// A method of a string.
pub(super) fn method(
    heap: &mut Heap,
    of: (u32, u32),
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    if !matches!(name, "isEmpty" | "charAt") {
        heap.spend(of.1 as usize);
    }
    let whole = heap.text(of.0, of.1);
    // What makes no new text needs no copy.
    match (name, arguments) {
        ("length" | "getLength", []) => return number(java::len(whole)),
        ("isEmpty", []) => return bool(whole.is_empty()),
        ("isBlank", []) => return bool(whole.trim().is_empty()),
        ("charAt", [at]) => {
            let at = int(*at)?;
            let unit = usize::try_from(at).ok().and_then(|at| java::char_at(whole, at));
            return match unit {
                Some(unit) => Ok(Some(Value::Char(unit))),
                None => Err(Fault::new(
                    "string_index_out_of_bounds_exception",
                    format!("Index {at} out of bounds for length {}", java::len(whole)),
                )),
            };
        }
        ("codePointAt", [at]) => {
            let byte = java::byte_at(whole, int(*at)?.max(0) as usize);
            return Ok(whole[byte..].chars().next().map(|c| Value::Int(c as i32)));
        }
        ("startsWith", [start]) => return bool(whole.starts_with(&text(heap, *start)?)),
        ("startsWith", [start, at]) => {
            let byte = java::byte_at(whole, int(*at)?.max(0) as usize);
            return bool(whole[byte..].starts_with(&text(heap, *start)?));
        }
        ("endsWith", [end]) => return bool(whole.ends_with(&text(heap, *end)?)),
        ("contains", [part]) => return bool(whole.contains(&text(heap, *part)?)),
        ("contentEquals", [other]) => return bool(whole == text(heap, *other)?),
        ("equalsIgnoreCase", [Value::Null]) => return bool(false),
        ("equalsIgnoreCase", [other]) => {
            return bool(whole.to_lowercase() == text(heap, *other)?.to_lowercase());
        }
        ("indexOf", [part]) => {
            let part = unit_text(heap, *part)?;
            return Ok(Some(place_of(whole.find(&part), whole)));
        }
        ("indexOf", [part, at]) => {
            let part = unit_text(heap, *part)?;
            let byte = java::byte_at(whole, int(*at)?.max(0) as usize);
            return Ok(Some(place_of(whole[byte..].find(&part).map(|at| at + byte), whole)));
        }
        ("lastIndexOf", [part]) => {
            let part = unit_text(heap, *part)?;
            return Ok(Some(place_of(whole.rfind(&part), whole)));
        }
        ("compareTo", [other]) => {
            let other = text(heap, *other)?;
            return Ok(Some(Value::Int(compare(whole, &other))));
        }
        ("compareToIgnoreCase", [other]) => {
            let other = text(heap, *other)?.to_lowercase();
            return Ok(Some(Value::Int(compare(&whole.to_lowercase(), &other))));
        }
        _ => {}
    }
    let whole = whole.to_owned();
    let made = match (name, arguments) {
        ("substring" | "subSequence", [begin]) => {
            piece(&whole, int(*begin)?, java::len(&whole) as i32)?.to_owned()
        }
        ("substring" | "subSequence", [begin, end]) => {
            piece(&whole, int(*begin)?, int(*end)?)?.to_owned()
        }
        ("toLowerCase", [] | [_]) => whole.to_lowercase(),
        ("toUpperCase", [] | [_]) => whole.to_uppercase(),
        // Java's `trim` takes all control characters.
        ("trim", []) => whole.trim_matches(|letter| letter <= ' ').to_owned(),
        ("strip", []) => whole.trim().to_owned(),
        ("stripLeading", []) => whole.trim_start().to_owned(),
        ("stripTrailing", []) => whole.trim_end().to_owned(),
        ("concat", [other]) => whole + &text(heap, *other)?,
        ("repeat", [count]) => {
            let count =
                usize::try_from(int(*count)?).map_err(|_| Fault::illegal("count is negative"))?;
            heap.charge(whole.len().saturating_mul(count))?;
            whole.repeat(count)
        }
        ("replace", [from, to]) => {
            let (from, to) = (text(heap, *from)?, text(heap, *to)?);
            heap.charge(whole.len().saturating_mul(1 + to.len()))?;
            whole.replace(&from, &to)
        }
        ("replaceAll" | "replaceFirst", [pattern, to]) => {
            let pattern = pattern_of(heap, *pattern)?;
            let to = Replacement::java(&text(heap, *to)?, &pattern)?;
            replaced(heap, &pattern, &whole, &to, name == "replaceAll")?.unwrap_or(whole)
        }
        ("matches", [pattern]) => {
            let pattern = pattern_of(heap, *pattern)?;
            return bool(matches_whole(heap, &pattern, &whole)?);
        }
        ("split", [cut] | [cut, _]) => {
            let pattern = pattern_of(heap, *cut)?;
            let most = arguments.get(1).map_or(Ok(0), |most| int(*most))?;
            let parts = split(heap, &pattern, &whole, most)?;
            return texts(heap, parts.iter().map(String::as_str)).map(Some);
        }
        ("splitOnToken", [cut] | [cut, _]) => {
            let cut = text(heap, *cut)?;
            let most = arguments.get(1).map_or(Ok(0), |most| int(*most))?;
            if cut.is_empty() {
                return texts(heap, [whole.as_str()].into_iter()).map(Some);
            }
            let parts: Vec<&str> = match usize::try_from(most) {
                Ok(most) if most > 0 => whole.splitn(most, &cut).collect(),
                _ => whole.split(&cut).collect(),
            };
            return texts(heap, parts.into_iter()).map(Some);
        }
        ("toCharArray", []) => {
            let units = whole.encode_utf16().map(Value::Char).collect();
            return heap.object(Object::Array(Type::Char, units)).map(Some);
        }
        ("chars", []) => {
            let units = whole.encode_utf16().map(|unit| Value::Int(i32::from(unit))).collect();
            return heap.object(Object::Stream(units)).map(Some);
        }
        _ => return Ok(None),
    };
    heap.string(&made).map(Some)
}

/// Text, or a character by its number.
fn unit_text(heap: &Heap, value: Value) -> Done<String> {
    match value {
        Value::Int(unit) => Ok(char::from_u32(unit as u32).map(String::from).unwrap_or_default()),
        other => text(heap, other),
    }
}

/// `compareTo`: the difference of the first units that differ, else of the lengths.
fn compare(a: &str, b: &str) -> i32 {
    let (mut left, mut right) = (a.encode_utf16(), b.encode_utf16());
    loop {
        match (left.next(), right.next()) {
            (Some(x), Some(y)) if x != y => return i32::from(x) - i32::from(y),
            (Some(_), Some(_)) => {}
            _ => return java::len(a) as i32 - java::len(b) as i32,
        }
    }
}

fn texts<'a>(heap: &mut Heap, parts: impl Iterator<Item = &'a str>) -> Done<Value> {
    let mut items = Vec::new();
    for part in parts {
        items.push(heap.string(part)?);
    }
    heap.object(Object::Array(Type::TEXT, items))
}

/// A pattern, compiled from text where it is none.
fn pattern_of(heap: &Heap, value: Value) -> Done<Pattern> {
    if let Some(Object::Pattern(pattern)) = heap.as_object(value) {
        return Ok((**pattern).clone());
    }
    Pattern::java(&text(heap, value)?, "")
}

/// Does a pattern match all of a text?
pub(super) fn matches_whole(heap: &mut Heap, pattern: &Pattern, whole: &str) -> Done<bool> {
    let (is_match, bytes) =
        pattern.used(whole.len(), |it, effort| it.matches_whole_within(whole, effort))?;
    heap.spend(bytes);
    Ok(is_match)
}

/// `Pattern.split`: empty pieces at the end are dropped where there is no limit.
fn split(heap: &mut Heap, pattern: &Pattern, whole: &str, most: i32) -> Done<Vec<String>> {
    let (parts, bytes) = pattern.used(whole.len(), |it, effort| pieces(it, whole, most, effort))?;
    heap.spend(bytes);
    Ok(parts)
}

fn pieces(pattern: &Pattern, whole: &str, most: i32, effort: &Considered) -> Vec<String> {
    let mut parts = Vec::new();
    let mut at = 0;
    pattern.each_within(whole, effort, |spans| {
        let Some((start, end)) = spans[0] else { return false };
        if most > 0 && parts.len() as i32 + 1 >= most {
            return false;
        }
        // No empty piece before an empty match at the begin.
        if end > 0 {
            parts.push(whole[at..start].to_owned());
            at = end;
        }
        true
    });
    if parts.is_empty() {
        return vec![whole.to_owned()];
    }
    parts.push(whole[at..].to_owned());
    if most == 0 {
        while parts.last().is_some_and(String::is_empty) {
            parts.pop();
        }
    }
    parts
}

/// A method of a builder.
pub(super) fn builder(
    heap: &mut Heap,
    at: Ref,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    let whole = |heap: &mut Heap| match heap.get(at) {
        Object::Builder(text) => {
            let copy = text.clone();
            heap.spend(copy.len());
            copy
        }
        _ => String::new(),
    };
    let same = Ok(Some(Value::Object(at)));
    match (name, arguments) {
        ("append", [value]) => {
            let more = show::text(heap, *value)?;
            if let Object::Builder(text) = heap.get_mut(at)? {
                text.push_str(&more);
            }
            same
        }
        ("length", []) => number(java::len(&whole(heap))),
        ("isEmpty", []) => bool(whole(heap).is_empty()),
        (
            "reverse" | "insert" | "deleteCharAt" | "delete" | "setLength" | "replace"
            | "setCharAt",
            _,
        ) => {
            let old = whole(heap);
            let units = |place: &Value| -> Done<usize> {
                let at = int(*place)?;
                usize::try_from(at)
                    .ok()
                    .filter(|at| *at <= java::len(&old))
                    .map(|at| java::byte_at(&old, at))
                    .ok_or_else(|| {
                        Fault::new(
                            "string_index_out_of_bounds_exception",
                            format!("index {at},length {}", java::len(&old)),
                        )
                    })
            };
            let new = match (name, arguments) {
                ("reverse", []) => old.chars().rev().collect(),
                ("insert", [place, value]) => {
                    let byte = units(place)?;
                    let more = show::text(heap, *value)?;
                    format!("{}{more}{}", &old[..byte], &old[byte..])
                }
                ("deleteCharAt", [place]) => {
                    let byte = units(place)?;
                    let mut rest = old[byte..].chars();
                    rest.next();
                    format!("{}{}", &old[..byte], rest.as_str())
                }
                ("delete", [from, to]) => {
                    let to = Value::Int(int(*to)?.min(java::len(&old) as i32));
                    let (from, to) = (units(from)?, units(&to)?);
                    format!("{}{}", &old[..from.min(to)], &old[to..])
                }
                ("replace", [from, to, with]) => {
                    let to = Value::Int(int(*to)?.min(java::len(&old) as i32));
                    let (from, to) = (units(from)?, units(&to)?);
                    format!("{}{}{}", &old[..from.min(to)], text(heap, *with)?, &old[to..])
                }
                ("setCharAt", [place, with]) => {
                    let byte = units(place)?;
                    let mut rest = old[byte..].chars();
                    rest.next();
                    format!("{}{}{}", &old[..byte], text(heap, *with)?, rest.as_str())
                }
                ("setLength", [len]) => {
                    let len = int(*len)?.max(0) as usize;
                    heap.charge(len)?;
                    let kept = old[..java::byte_at(&old, len)].to_owned();
                    let missing = len.saturating_sub(java::len(&kept));
                    kept + &"\0".repeat(missing)
                }
                _ => return Ok(None),
            };
            heap.charge(new.len())?;
            if let Object::Builder(text) = heap.get_mut(at)? {
                *text = new;
            }
            if name == "setLength" || name == "setCharAt" { Ok(Some(Value::Null)) } else { same }
        }
        _ => {
            let copy = whole(heap);
            let value = heap.string(&copy)?;
            match value {
                Value::Text(start, len) => method(heap, (start, len), name, arguments),
                _ => Ok(None),
            }
        }
    }
}

/// A method of a pattern or a matcher.
pub(super) fn pattern(
    heap: &mut Heap,
    at: Ref,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    if let Object::Pattern(pattern) = heap.get(at) {
        let pattern = (**pattern).clone();
        return match (name, arguments) {
            ("matcher", [whole]) => {
                let whole = text(heap, *whole)?;
                heap.object(Object::Matcher(Box::new(Matcher::new(pattern, &whole)))).map(Some)
            }
            ("split", [whole] | [whole, _]) => {
                let whole = text(heap, *whole)?;
                let most = arguments.get(1).map_or(Ok(0), |most| int(*most))?;
                let parts = split(heap, &pattern, &whole, most)?;
                texts(heap, parts.iter().map(String::as_str)).map(Some)
            }
            ("pattern", []) => heap.string(pattern.as_str()).map(Some),
            ("asPredicate", []) => Ok(Some(Value::Object(at))),
            ("test", [whole]) => {
                let whole = text(heap, *whole)?;
                let (is_found, bytes) = pattern
                    .used(whole.len(), |it, effort| it.matches_somewhere_within(&whole, effort))?;
                heap.spend(bytes);
                bool(is_found)
            }
            _ => Ok(None),
        };
    }
    let Object::Matcher(matcher) = heap.get_mut(at)? else { return Ok(None) };
    let searched = match (name, arguments) {
        ("find", []) => Some(matcher.find()),
        ("matches", []) => Some(matcher.matches()),
        ("lookingAt", []) => Some(matcher.looking_at()),
        _ => None,
    };
    if let Some(is_found) = searched {
        let bytes = matcher.spent()?;
        heap.spend(bytes);
        return bool(is_found);
    }
    match (name, arguments) {
        ("reset", []) => {
            (matcher.next, matcher.spans) = (0, None);
            return Ok(Some(Value::Object(at)));
        }
        ("groupCount", []) => return number(matcher.pattern.group_count()),
        _ => {}
    }
    let matcher = matcher.clone();
    match (name, arguments) {
        ("group" | "start" | "end", [] | [_]) => {
            let group = match arguments.first() {
                None => 0,
                Some(Value::Text(start, len)) => {
                    let name = heap.text(*start, *len);
                    matcher
                        .group_named(name)
                        .ok_or_else(|| Fault::illegal(format!("No group with name <{name}>")))?
                }
                Some(group) => int(*group)?.max(0) as usize,
            };
            let Some(spans) = &matcher.spans else {
                return Err(Fault::new("illegal_state_exception", "No match found"));
            };
            let Some(span) = spans.get(group) else {
                return Err(Fault::new(
                    "index_out_of_bounds_exception",
                    format!("No group {group}"),
                ));
            };
            match (name, span) {
                ("group", Some((start, end))) => heap.string(&matcher.text[*start..*end]).map(Some),
                ("group", None) => Ok(Some(Value::Null)),
                (_, Some((start, end))) => {
                    let at = if name == "start" { *start } else { *end };
                    heap.spend(at);
                    number(java::unit_at(&matcher.text, at))
                }
                (_, None) => Ok(Some(Value::Int(-1))),
            }
        }
        ("replaceAll" | "replaceFirst", [with]) => {
            let with = Replacement::java(&text(heap, *with)?, &matcher.pattern)?;
            let all = name == "replaceAll";
            let done = replaced(heap, &matcher.pattern, &matcher.text, &with, all)?;
            heap.string(done.as_deref().unwrap_or(&matcher.text)).map(Some)
        }
        ("hitEnd", []) => bool(matcher.next >= matcher.text.len()),
        _ => Ok(None),
    }
}

/// The text with what matches replaced, where a script may hold so much; `None` where nothing matches.
fn replaced(
    heap: &mut Heap,
    pattern: &Pattern,
    text: &str,
    with: &Replacement,
    all: bool,
) -> Done<Option<String>> {
    let most = heap.limit_bytes();
    let (done, bytes) =
        pattern.used(text.len(), |it, effort| it.replace_within(text, with, all, most, effort))?;
    heap.spend(bytes);
    done.or_else(|TooLong| {
        heap.charge(most.saturating_add(1))?;
        Ok(None)
    })
}

/// A string of what is joined.
pub(super) fn joined(heap: &mut Heap, between: &str, items: &[Value]) -> Done<Value> {
    let mut out = String::new();
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.push_str(between);
        }
        show::write(heap, *item, 0, &mut out)?;
    }
    heap.string(&out)
}
