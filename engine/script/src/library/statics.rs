//! Static functions and constants, one table: class, name, arguments, what it does.

use super::{Done, dates, int, items, lists, text};
use crate::arith;
use crate::compare;
use crate::error::Fault;
use crate::heap::{Comparator, Heap, Object, Value};
use crate::java;
use crate::op::Binary;
use crate::show;
use crate::types::Type;

type Native = fn(&mut Heap, &[Value]) -> Done<Value>;

/// Stands for "a constant" where a function has its arguments' number.
const CONSTANT: u8 = u8::MAX;

struct Entry {
    class: &'static str,
    name: &'static str,
    arity: u8,
    native: Native,
}

/// Static function of a class.
pub(crate) fn function(class: Type, name: &str, count: usize) -> Option<u16> {
    let class = class.class()?.name;
    let class = if class == "StrictMath" { "Math" } else { class };
    find(class, name, count as u8)
}

/// Constant of a class.
pub(crate) fn constant(class: Type, name: &str) -> Option<u16> {
    let class = class.class()?.name;
    find(if class == "StrictMath" { "Math" } else { class }, name, CONSTANT)
}

/// Function of the contexts' own, or of a class by its short name.
pub(super) fn find(class: &str, name: &str, arity: u8) -> Option<u16> {
    let of = |table: &[Entry]| {
        table
            .iter()
            .position(|entry| entry.class == class && entry.name == name && entry.arity == arity)
    };
    of(TABLE)
        .or_else(|| Some(TABLE.len() + dates::find(class, name, arity)?))
        .or_else(|| Some(TABLE.len() + dates::len() + super::context::find(class, name, arity)?))
        .map(|at| at as u16)
}

/// Calls what was found.
///
/// # Errors
/// What it fails with.
pub(crate) fn call(found: u16, heap: &mut Heap, arguments: &[Value]) -> Done<Value> {
    let found = usize::from(found);
    if let Some(entry) = TABLE.get(found) {
        return (entry.native)(heap, arguments);
    }
    let found = found - TABLE.len();
    match found.checked_sub(dates::len()) {
        None => dates::call(found, heap, arguments),
        Some(found) => super::context::call(found, heap, arguments),
    }
}

fn number(value: Value) -> Done<f64> {
    match (arith::wide(value), value) {
        (Some(_), _) => Ok(arith::double(value)),
        (None, Value::Null) => Err(Fault::null("a number is needed, and there is null")),
        _ => Err(Fault::cast("a number is needed")),
    }
}

/// The wider type of two numbers, from `int` on.
fn widest(a: Value, b: Value) -> Done<Type> {
    let rank = |value: Value| {
        arith::wide(value).ok_or_else(|| match value {
            Value::Null => Fault::null("a number is needed, and there is null"),
            _ => Fault::cast("a number is needed"),
        })
    };
    Ok(match rank(a)?.max(rank(b)?) {
        0..=3 => Type::Int,
        4 => Type::Long,
        5 => Type::Float,
        _ => Type::Double,
    })
}

fn choose(a: Value, b: Value, least: bool) -> Done<Value> {
    let to = widest(a, b)?;
    let (a, b) = (arith::to_primitive(a, to), arith::to_primitive(b, to));
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Value::Int(if least { a.min(b) } else { a.max(b) }),
        (Value::Long(a), Value::Long(b)) => Value::Long(if least { a.min(b) } else { a.max(b) }),
        (a, b) => {
            let (x, y) = (arith::double(a), arith::double(b));
            let found = if x.is_nan() || y.is_nan() {
                f64::NAN
            } else if least {
                x.min(y)
            } else {
                x.max(y)
            };
            arith::to_primitive(Value::Double(found), to)
        }
    })
}

fn exact(wide: Option<Value>, kind: &str) -> Done<Value> {
    wide.ok_or_else(|| Fault::new("arithmetic_exception", format!("{kind} overflow")))
}

fn exactly(op: Binary, a: Value, b: Value) -> Done<Value> {
    match widest(a, b)? {
        Type::Int => {
            let (a, b) = (arith::int(a), arith::int(b));
            let found = match op {
                Binary::Add => a.checked_add(b),
                Binary::Sub => a.checked_sub(b),
                _ => a.checked_mul(b),
            };
            exact(found.map(Value::Int), "integer")
        }
        _ => {
            let (a, b) = (arith::long(a), arith::long(b));
            let found = match op {
                Binary::Add => a.checked_add(b),
                Binary::Sub => a.checked_sub(b),
                _ => a.checked_mul(b),
            };
            exact(found.map(Value::Long), "long")
        }
    }
}

fn floors(a: Value, b: Value, remainder: bool) -> Done<Value> {
    let to = widest(a, b)?;
    let (a, b) = (arith::long(a), arith::long(b));
    if b == 0 {
        return Err(Fault::new("arithmetic_exception", "/ by zero"));
    }
    let rest = a.wrapping_rem(b);
    let crosses = rest != 0 && (rest < 0) != (b < 0);
    let found = match remainder {
        true if crosses => rest + b,
        true => rest,
        false if crosses => a.wrapping_div(b) - 1,
        false => a.wrapping_div(b),
    };
    Ok(arith::to_primitive(Value::Long(found), to))
}

fn parse_whole(heap: &Heap, value: Value, radix: u32, least: i64, most: i64) -> Done<i64> {
    if matches!(value, Value::Null) {
        return Err(Fault::new("number_format_exception", "Cannot parse null string: null"));
    }
    let text = text(heap, value)?;
    i64::from_str_radix(&text, radix)
        .ok()
        .filter(|found| (least..=most).contains(found))
        .ok_or_else(|| {
            let radix = if radix == 10 { String::new() } else { format!(" under radix {radix}") };
            Fault::new("number_format_exception", format!("For input string: \"{text}\"{radix}"))
        })
}

fn parse_double(heap: &Heap, value: Value) -> Done<f64> {
    if matches!(value, Value::Null) {
        return Err(Fault::null("cannot parse null"));
    }
    let text = text(heap, value)?;
    java::parse_double(&text).ok_or_else(|| {
        let reason = if text.trim().is_empty() {
            "empty String".to_owned()
        } else {
            format!("For input string: \"{text}\"")
        };
        Fault::new("number_format_exception", reason)
    })
}

fn int_of(heap: &Heap, value: Value) -> Done<Value> {
    let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
    Ok(Value::Int(parse_whole(heap, value, 10, least, most)? as i32))
}

fn long_of(heap: &Heap, value: Value) -> Done<Value> {
    Ok(Value::Long(parse_whole(heap, value, 10, i64::MIN, i64::MAX)?))
}

fn show_of(heap: &mut Heap, value: Value) -> Done<Value> {
    let shown = show::text(heap, value)?;
    heap.string(&shown)
}

fn radix(heap: &mut Heap, mut bits: u64, shift: u32) -> Done<Value> {
    let mut out = Vec::new();
    loop {
        let digit = (bits & ((1 << shift) - 1)) as u32;
        out.push(char::from_digit(digit, 16).unwrap_or('0'));
        bits >>= shift;
        if bits == 0 {
            break;
        }
    }
    let text: String = out.iter().rev().collect();
    heap.string(&text)
}

fn unit(value: Value) -> char {
    let unit = arith::int(value) as u32;
    char::from_u32(unit).unwrap_or('\u{fffd}')
}

fn order_of(heap: &Heap, a: Value, b: Value) -> Done<Value> {
    Ok(Value::Int(compare::order(heap, a, b)? as i32))
}

macro_rules! double {
    ($($name:ident),*) => {
        $(fn $name(_: &mut Heap, a: &[Value]) -> Done<Value> {
            Ok(Value::Double(number(a[0])?.$name()))
        })*
    };
}
double!(
    sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, exp, sqrt, cbrt, log10, ceil, floor, exp_m1,
    ln_1p, to_radians, to_degrees, ln
);

macro_rules! table {
    ($($class:literal . $name:literal ($arity:expr) = $native:expr;)*) => {
        static TABLE: &[Entry] = &[$(Entry {
            class: $class, name: $name, arity: $arity, native: $native,
        }),*];
    };
}

table! {
    "Math"."PI"(CONSTANT) = |_, _| Ok(Value::Double(std::f64::consts::PI));
    "Math"."E"(CONSTANT) = |_, _| Ok(Value::Double(std::f64::consts::E));
    "Math"."abs"(1) = |_, a| Ok(match a[0] {
        Value::Long(a) => Value::Long(a.wrapping_abs()),
        Value::Float(a) => Value::Float(a.abs()),
        Value::Double(a) => Value::Double(a.abs()),
        other => { number(other)?; Value::Int(arith::int(other).wrapping_abs()) }
    });
    "Math"."max"(2) = |_, a| choose(a[0], a[1], false);
    "Math"."min"(2) = |_, a| choose(a[0], a[1], true);
    "Math"."pow"(2) = |_, a| Ok(Value::Double(number(a[0])?.powf(number(a[1])?)));
    "Math"."sqrt"(1) = sqrt;
    "Math"."cbrt"(1) = cbrt;
    "Math"."exp"(1) = exp;
    "Math"."expm1"(1) = exp_m1;
    "Math"."log"(1) = ln;
    "Math"."log10"(1) = log10;
    "Math"."log1p"(1) = ln_1p;
    "Math"."ceil"(1) = ceil;
    "Math"."floor"(1) = floor;
    "Math"."rint"(1) = |_, a| Ok(Value::Double(number(a[0])?.round_ties_even()));
    "Math"."round"(1) = |_, a| Ok(match a[0] {
        Value::Float(a) => Value::Int(base::java::round(f64::from(a)).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32),
        Value::Double(a) => Value::Long(base::java::round(a)),
        // Java chooses `round(float)` for whole numbers.
        Value::Long(_) => Value::Int(arith::long(a[0]).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32),
        other => { number(other)?; Value::Int(arith::int(other)) }
    });
    "Math"."signum"(1) = |_, a| {
        let value = number(a[0])?;
        Ok(Value::Double(if value == 0.0 || value.is_nan() { value } else { value.signum() }))
    };
    "Math"."sin"(1) = sin;
    "Math"."cos"(1) = cos;
    "Math"."tan"(1) = tan;
    "Math"."asin"(1) = asin;
    "Math"."acos"(1) = acos;
    "Math"."atan"(1) = atan;
    "Math"."sinh"(1) = sinh;
    "Math"."cosh"(1) = cosh;
    "Math"."tanh"(1) = tanh;
    "Math"."atan2"(2) = |_, a| Ok(Value::Double(number(a[0])?.atan2(number(a[1])?)));
    "Math"."hypot"(2) = |_, a| Ok(Value::Double(number(a[0])?.hypot(number(a[1])?)));
    "Math"."toRadians"(1) = to_radians;
    "Math"."toDegrees"(1) = to_degrees;
    "Math"."addExact"(2) = |_, a| exactly(Binary::Add, a[0], a[1]);
    "Math"."subtractExact"(2) = |_, a| exactly(Binary::Sub, a[0], a[1]);
    "Math"."multiplyExact"(2) = |_, a| exactly(Binary::Mul, a[0], a[1]);
    "Math"."toIntExact"(1) = |_, a| {
        exact(i32::try_from(arith::long(a[0])).ok().map(Value::Int), "integer")
    };
    "Math"."floorDiv"(2) = |_, a| floors(a[0], a[1], false);
    "Math"."floorMod"(2) = |_, a| floors(a[0], a[1], true);
    "Integer"."MAX_VALUE"(CONSTANT) = |_, _| Ok(Value::Int(i32::MAX));
    "Integer"."MIN_VALUE"(CONSTANT) = |_, _| Ok(Value::Int(i32::MIN));
    "Integer"."parseInt"(1) = |heap, a| int_of(heap, a[0]);
    "Integer"."parseInt"(2) = |heap, a| {
        let radix = int(a[1])?.clamp(2, 36) as u32;
        let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
        Ok(Value::Int(parse_whole(heap, a[0], radix, least, most)? as i32))
    };
    "Integer"."valueOf"(1) = |heap, a| match arith::wide(a[0]) {
        Some(_) => Ok(Value::Int(arith::int(a[0]))),
        None => int_of(heap, a[0]),
    };
    "Integer"."toString"(1) = |heap, a| show_of(heap, a[0]);
    "Integer"."compare"(2) = |heap, a| order_of(heap, a[0], a[1]);
    "Integer"."max"(2) = |_, a| choose(a[0], a[1], false);
    "Integer"."min"(2) = |_, a| choose(a[0], a[1], true);
    "Integer"."sum"(2) = |heap, a| arith::binary(heap, Binary::Add, a[0], a[1]);
    "Integer"."signum"(1) = |_, a| Ok(Value::Int(arith::int(a[0]).signum()));
    "Integer"."toHexString"(1) = |heap, a| radix(heap, u64::from(int(a[0])? as u32), 4);
    "Integer"."toBinaryString"(1) = |heap, a| radix(heap, u64::from(int(a[0])? as u32), 1);
    "Integer"."bitCount"(1) = |_, a| Ok(Value::Int(arith::int(a[0]).count_ones() as i32));
    "Long"."MAX_VALUE"(CONSTANT) = |_, _| Ok(Value::Long(i64::MAX));
    "Long"."MIN_VALUE"(CONSTANT) = |_, _| Ok(Value::Long(i64::MIN));
    "Long"."parseLong"(1) = |heap, a| long_of(heap, a[0]);
    "Long"."valueOf"(1) = |heap, a| match arith::wide(a[0]) {
        Some(_) => Ok(Value::Long(arith::long(a[0]))),
        None => long_of(heap, a[0]),
    };
    "Long"."toString"(1) = |heap, a| show_of(heap, a[0]);
    "Long"."compare"(2) = |heap, a| order_of(heap, a[0], a[1]);
    "Long"."max"(2) = |_, a| choose(a[0], a[1], false);
    "Long"."min"(2) = |_, a| choose(a[0], a[1], true);
    "Long"."sum"(2) = |heap, a| arith::binary(heap, Binary::Add, a[0], a[1]);
    "Long"."toHexString"(1) = |heap, a| radix(heap, arith::long(a[0]) as u64, 4);
    "Long"."toBinaryString"(1) = |heap, a| radix(heap, arith::long(a[0]) as u64, 1);
    "Short"."parseShort"(1) = |heap, a| {
        Ok(Value::Short(parse_whole(heap, a[0], 10, i64::from(i16::MIN), i64::from(i16::MAX))? as i16))
    };
    "Short"."MAX_VALUE"(CONSTANT) = |_, _| Ok(Value::Short(i16::MAX));
    "Short"."MIN_VALUE"(CONSTANT) = |_, _| Ok(Value::Short(i16::MIN));
    "Byte"."MAX_VALUE"(CONSTANT) = |_, _| Ok(Value::Byte(i8::MAX));
    "Byte"."MIN_VALUE"(CONSTANT) = |_, _| Ok(Value::Byte(i8::MIN));
    "Byte"."parseByte"(1) = |heap, a| {
        Ok(Value::Byte(parse_whole(heap, a[0], 10, i64::from(i8::MIN), i64::from(i8::MAX))? as i8))
    };
    "Double"."MAX_VALUE"(CONSTANT) = |_, _| Ok(Value::Double(f64::MAX));
    "Double"."MIN_VALUE"(CONSTANT) = |_, _| Ok(Value::Double(4.9e-324));
    "Double"."NaN"(CONSTANT) = |_, _| Ok(Value::Double(f64::NAN));
    "Double"."POSITIVE_INFINITY"(CONSTANT) = |_, _| Ok(Value::Double(f64::INFINITY));
    "Double"."NEGATIVE_INFINITY"(CONSTANT) = |_, _| Ok(Value::Double(f64::NEG_INFINITY));
    "Double"."parseDouble"(1) = |heap, a| parse_double(heap, a[0]).map(Value::Double);
    "Double"."valueOf"(1) = |heap, a| match arith::wide(a[0]) {
        Some(_) => Ok(Value::Double(arith::double(a[0]))),
        None => parse_double(heap, a[0]).map(Value::Double),
    };
    "Double"."toString"(1) = |heap, a| show_of(heap, a[0]);
    "Double"."compare"(2) = |_, a| {
        Ok(Value::Int(number(a[0])?.total_cmp(&number(a[1])?) as i32))
    };
    "Double"."isNaN"(1) = |_, a| Ok(Value::Bool(number(a[0])?.is_nan()));
    "Double"."isInfinite"(1) = |_, a| Ok(Value::Bool(number(a[0])?.is_infinite()));
    "Double"."isFinite"(1) = |_, a| Ok(Value::Bool(number(a[0])?.is_finite()));
    "Double"."max"(2) = |_, a| Ok(Value::Double(number(a[0])?.max(number(a[1])?)));
    "Double"."min"(2) = |_, a| Ok(Value::Double(number(a[0])?.min(number(a[1])?)));
    "Double"."sum"(2) = |_, a| Ok(Value::Double(number(a[0])? + number(a[1])?));
    "Float"."MAX_VALUE"(CONSTANT) = |_, _| Ok(Value::Float(f32::MAX));
    "Float"."parseFloat"(1) = |heap, a| Ok(Value::Float(parse_double(heap, a[0])? as f32));
    "Float"."valueOf"(1) = |heap, a| match arith::wide(a[0]) {
        Some(_) => Ok(arith::to_primitive(a[0], Type::Float)),
        None => Ok(Value::Float(parse_double(heap, a[0])? as f32)),
    };
    "Boolean"."TRUE"(CONSTANT) = |_, _| Ok(Value::Bool(true));
    "Boolean"."FALSE"(CONSTANT) = |_, _| Ok(Value::Bool(false));
    "Boolean"."parseBoolean"(1) = |heap, a| {
        Ok(Value::Bool(heap.as_text(a[0]).is_some_and(|text| text.eq_ignore_ascii_case("true"))))
    };
    "Boolean"."valueOf"(1) = |heap, a| Ok(match a[0] {
        Value::Bool(_) => a[0],
        other => Value::Bool(heap.as_text(other).is_some_and(|text| text.eq_ignore_ascii_case("true"))),
    });
    "Boolean"."toString"(1) = |heap, a| show_of(heap, a[0]);
    "Character"."isDigit"(1) = |_, a| Ok(Value::Bool(unit(a[0]).is_numeric()));
    "Character"."isLetter"(1) = |_, a| Ok(Value::Bool(unit(a[0]).is_alphabetic()));
    "Character"."isLetterOrDigit"(1) = |_, a| Ok(Value::Bool(unit(a[0]).is_alphanumeric()));
    "Character"."isAlphabetic"(1) = |_, a| Ok(Value::Bool(unit(a[0]).is_alphabetic()));
    "Character"."isUpperCase"(1) = |_, a| Ok(Value::Bool(unit(a[0]).is_uppercase()));
    "Character"."isLowerCase"(1) = |_, a| Ok(Value::Bool(unit(a[0]).is_lowercase()));
    "Character"."isWhitespace"(1) = |_, a| Ok(Value::Bool(unit(a[0]).is_whitespace()));
    "Character"."toUpperCase"(1) = |_, a| {
        Ok(Value::Char(unit(a[0]).to_uppercase().next().map_or(0, |c| c as u16)))
    };
    "Character"."toLowerCase"(1) = |_, a| {
        Ok(Value::Char(unit(a[0]).to_lowercase().next().map_or(0, |c| c as u16)))
    };
    "Character"."toString"(1) = |heap, a| show_of(heap, a[0]);
    "Character"."valueOf"(1) = |_, a| Ok(a[0]);
    "Character"."getNumericValue"(1) = |_, a| {
        Ok(Value::Int(unit(a[0]).to_digit(36).map_or(-1, |digit| digit as i32)))
    };
    "String"."valueOf"(1) = |heap, a| match heap.as_object(a[0]) {
        Some(Object::Array(Type::Char, units)) => {
            let units: Vec<u16> = units.iter().map(|unit| arith::int(*unit) as u16).collect();
            heap.string(&String::from_utf16_lossy(&units))
        }
        _ => show_of(heap, a[0]),
    };
    "String"."copyValueOf"(1) = |heap, a| {
        let units = items(heap, a[0])?;
        let units: Vec<u16> = units.iter().map(|unit| arith::int(*unit) as u16).collect();
        heap.string(&String::from_utf16_lossy(&units))
    };
    "String"."join"(2) = |heap, a| {
        let between = text(heap, a[0])?;
        let parts = items(heap, a[1])?;
        super::strings::joined(heap, &between, &parts)
    };
    "Objects"."equals"(2) = |heap, a| Ok(Value::Bool(compare::equal(heap, a[0], a[1])));
    "Objects"."isNull"(1) = |_, a| Ok(Value::Bool(matches!(a[0], Value::Null)));
    "Objects"."nonNull"(1) = |_, a| Ok(Value::Bool(!matches!(a[0], Value::Null)));
    "Objects"."hashCode"(1) = |heap, a| Ok(Value::Int(compare::hash(heap, a[0])));
    "Objects"."hash"(1) = |heap, a| Ok(Value::Int(31 + compare::hash(heap, a[0])));
    "Objects"."toString"(1) = |heap, a| show_of(heap, a[0]);
    "Objects"."toString"(2) = |heap, a| match a[0] {
        Value::Null => Ok(a[1]),
        other => show_of(heap, other),
    };
    "Objects"."requireNonNull"(1) = |_, a| match a[0] {
        Value::Null => Err(Fault { message: None, ..Fault::null("") }),
        other => Ok(other),
    };
    "Collections"."emptyList"(0) = |heap, _| heap.list(Vec::new());
    "Collections"."emptyMap"(0) = super::new_map;
    "Collections"."emptySet"(0) = |heap, _| super::maps::set_of(heap, Vec::new());
    "Collections"."singletonList"(1) = |heap, a| heap.list(a.to_vec());
    "Collections"."singleton"(1) = |heap, a| super::maps::set_of(heap, a.to_vec());
    "Collections"."singletonMap"(2) = super::new_map;
    "Collections"."unmodifiableList"(1) = |_, a| Ok(a[0]);
    "Collections"."unmodifiableMap"(1) = |_, a| Ok(a[0]);
    "Collections"."sort"(1) = |heap, a| {
        super::method(heap, a[0], "sort", &[Value::Null]).map(Option::unwrap_or_default)
    };
    "Collections"."reverse"(1) = |heap, a| {
        if let Value::Object(at) = a[0]
            && let Object::List(list) = heap.get_mut(at)?
        {
            list.reverse();
        }
        Ok(Value::Null)
    };
    "Collections"."max"(1) = |heap, a| {
        let all = items(heap, a[0])?;
        let all = lists::sorted(heap, all)?;
        all.last().copied().ok_or_else(|| Fault::new("no_such_element_exception", ""))
    };
    "Collections"."min"(1) = |heap, a| {
        let all = items(heap, a[0])?;
        let all = lists::sorted(heap, all)?;
        all.first().copied().ok_or_else(|| Fault::new("no_such_element_exception", ""))
    };
    "Collections"."frequency"(2) = |heap, a| {
        let all = items(heap, a[0])?;
        let count = all.iter().filter(|item| compare::equal(heap, **item, a[1])).count();
        Ok(Value::Int(count as i32))
    };
    "Collections"."reverseOrder"(0) = |heap, _| heap.object(Object::Comparator(Comparator::Reverse));
    "Collections"."reverseOrder"(1) = |heap, a| {
        heap.object(Object::Comparator(Comparator::Reversed(a[0])))
    };
    "Comparator"."naturalOrder"(0) = |heap, _| heap.object(Object::Comparator(Comparator::Natural));
    "Comparator"."reverseOrder"(0) = |heap, _| heap.object(Object::Comparator(Comparator::Reverse));
    "Comparator"."comparing"(1) = |heap, a| heap.object(Object::Comparator(Comparator::By(a[0])));
    "Comparator"."comparingInt"(1) = |heap, a| heap.object(Object::Comparator(Comparator::By(a[0])));
    "Comparator"."comparingLong"(1) = |heap, a| heap.object(Object::Comparator(Comparator::By(a[0])));
    "Comparator"."comparingDouble"(1) = |heap, a| heap.object(Object::Comparator(Comparator::By(a[0])));
    "Arrays"."asList"(1) = |heap, a| {
        let all = match heap.as_object(a[0]) {
            Some(Object::Array(_, all)) => all.clone(),
            _ => vec![a[0]],
        };
        heap.list(all)
    };
    "Arrays"."asList"(2) = |heap, a| heap.list(a.to_vec());
    "Arrays"."asList"(3) = |heap, a| heap.list(a.to_vec());
    "Arrays"."asList"(4) = |heap, a| heap.list(a.to_vec());
    "Arrays"."stream"(1) = |heap, a| { let all = items(heap, a[0])?; heap.object(Object::Stream(all)) };
    "Arrays"."toString"(1) = |heap, a| {
        let all = items(heap, a[0])?;
        let list = heap.list(all)?;
        show_of(heap, list)
    };
    "Arrays"."equals"(2) = |heap, a| {
        let (x, y) = (items(heap, a[0])?, items(heap, a[1])?);
        let same = x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| compare::equal(heap, *x, *y));
        Ok(Value::Bool(same))
    };
    "Arrays"."sort"(1) = |heap, a| {
        let all = items(heap, a[0])?;
        let all = lists::sorted(heap, all)?;
        if let Value::Object(at) = a[0]
            && let Object::Array(_, place) = heap.get_mut(at)?
        {
            *place = all;
        }
        Ok(Value::Null)
    };
    "Stream"."of"(1) = |heap, a| {
        let all = items(heap, a[0]).unwrap_or_else(|_| vec![a[0]]);
        heap.object(Object::Stream(all))
    };
    "IntStream"."range"(2) = |heap, a| range(heap, int(a[0])?, int(a[1])?);
    "IntStream"."rangeClosed"(2) = |heap, a| range(heap, int(a[0])?, int(a[1])?.saturating_add(1));
    "Optional"."of"(1) = |heap, a| heap.object(Object::Optional(Some(a[0])));
    "Optional"."ofNullable"(1) = |heap, a| {
        heap.object(Object::Optional(Some(a[0]).filter(|value| !matches!(value, Value::Null))))
    };
    "Optional"."empty"(0) = |heap, _| heap.object(Object::Optional(None));
    "Collectors"."toList"(0) = |heap, _| heap.string("toList");
    "Collectors"."toSet"(0) = |heap, _| heap.string("toSet");
    "Collectors"."counting"(0) = |heap, _| heap.string("counting");
    "Collectors"."joining"(0) = |heap, _| heap.string("joining");
    "Collectors"."joining"(1) = |heap, a| { let between = text(heap, a[0])?; heap.string(&format!("joining{between}")) };
    "Locale"."ROOT"(CONSTANT) = |_, _| Ok(Value::Null);
    "Locale"."ENGLISH"(CONSTANT) = |_, _| Ok(Value::Null);
    "Locale"."US"(CONSTANT) = |_, _| Ok(Value::Null);
    "Pattern"."compile"(1) = |heap, a| {
        let pattern = crate::pattern::Pattern::java(&text(heap, a[0])?, "")?;
        heap.object(Object::Pattern(Box::new(pattern)))
    };
    "Pattern"."matches"(2) = |heap, a| {
        let pattern = crate::pattern::Pattern::java(&text(heap, a[0])?, "")?;
        let whole = text(heap, a[1])?;
        Ok(Value::Bool(super::strings::matches_whole(heap, &pattern, &whole)?))
    };
}

fn range(heap: &mut Heap, from: i32, to: i32) -> Done<Value> {
    let len = (i64::from(to) - i64::from(from)).max(0) as usize;
    heap.charge(16 * len)?;
    heap.object(Object::Stream((from..to).map(Value::Int).collect()))
}
