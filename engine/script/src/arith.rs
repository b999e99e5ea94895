//! Numbers as Java reckons with them: promotion, overflow, division, shifts, casts.

use crate::error::Fault;
use crate::heap::{Heap, Object, Value};
use crate::op::Binary;
use crate::show;
use crate::types::{ClassKind, Type};

/// A number's width from `byte` (0) to `double` (6).
pub fn wide(value: Value) -> Option<u8> {
    type_of(value).and_then(Type::rank)
}

fn type_of(value: Value) -> Option<Type> {
    Some(match value {
        Value::Bool(_) => Type::Bool,
        Value::Byte(_) => Type::Byte,
        Value::Short(_) => Type::Short,
        Value::Char(_) => Type::Char,
        Value::Int(_) => Type::Int,
        Value::Long(_) => Type::Long,
        Value::Float(_) => Type::Float,
        Value::Double(_) => Type::Double,
        _ => return None,
    })
}

/// A number as `long`, cut as Java's casts do.
pub fn long(value: Value) -> i64 {
    match value {
        Value::Byte(value) => i64::from(value),
        Value::Short(value) => i64::from(value),
        Value::Char(value) => i64::from(value),
        Value::Int(value) => i64::from(value),
        Value::Long(value) => value,
        Value::Float(value) => value as i64,
        Value::Double(value) => value as i64,
        _ => 0,
    }
}

/// A number as `int`: whole numbers are cut, fractions stop at the ends.
pub fn int(value: Value) -> i32 {
    match value {
        Value::Float(value) => value as i32,
        Value::Double(value) => value as i32,
        other => long(other) as i32,
    }
}

/// A number as `double`.
pub fn double(value: Value) -> f64 {
    match value {
        Value::Float(value) => f64::from(value),
        Value::Double(value) => value,
        other => long(other) as f64,
    }
}

fn float(value: Value) -> f32 {
    match value {
        Value::Float(value) => value,
        Value::Double(value) => value as f32,
        other => long(other) as f32,
    }
}

/// A number in the form of a primitive type.
pub fn to_primitive(value: Value, to: Type) -> Value {
    match to {
        Type::Byte => Value::Byte(int(value) as i8),
        Type::Short => Value::Short(int(value) as i16),
        Type::Char => Value::Char(int(value) as u16),
        Type::Int => Value::Int(int(value)),
        Type::Long => Value::Long(long(value)),
        Type::Float => Value::Float(float(value)),
        Type::Double => Value::Double(double(value)),
        _ => value,
    }
}

/// A binary operation on two values.
///
/// # Errors
/// Operands that it does not take; a division by zero; too much memory.
#[inline]
pub fn binary(heap: &mut Heap, op: Binary, a: Value, b: Value) -> Result<Value, Fault> {
    // What most scripts do most of the time.
    match (op, a, b) {
        (Binary::Add, Value::Int(a), Value::Int(b)) => return Ok(Value::Int(a.wrapping_add(b))),
        (Binary::Lt, Value::Int(a), Value::Int(b)) => return Ok(Value::Bool(a < b)),
        (_, Value::Double(a), Value::Double(b)) => {
            if let Some(value) = doubles(op, a, b) {
                return Ok(value);
            }
        }
        (_, Value::Long(a), Value::Long(b)) => return longs(op, a, b),
        _ => {}
    }
    general(heap, op, a, b)
}

fn general(heap: &mut Heap, op: Binary, a: Value, b: Value) -> Result<Value, Fault> {
    match op {
        Binary::Eq | Binary::Ne => {
            if let (Value::Text(_, len), Value::Text(..)) = (a, b) {
                heap.spend(len as usize);
            } else if let Some(Object::List(items) | Object::Array(_, items)) = heap.as_object(a) {
                let bytes = 64 * items.len();
                heap.spend(bytes);
            }
            return Ok(Value::Bool(crate::compare::same(heap, a, b) == (op == Binary::Eq)));
        }
        Binary::Is | Binary::IsNot => {
            let same = match (a, b) {
                (Value::Object(a), Value::Object(b)) => a == b,
                (Value::Text(a, m), Value::Text(b, n)) => {
                    (a, m) == (b, n) || heap.text(a, m) == heap.text(b, n)
                }
                _ => crate::compare::equal(heap, a, b),
            };
            return Ok(Value::Bool(same == (op == Binary::Is)));
        }
        Binary::Add if matches!(a, Value::Text(..)) || matches!(b, Value::Text(..)) => {
            return concat(heap, a, b);
        }
        _ => {}
    }
    if let (Value::Bool(a), Value::Bool(b)) = (a, b) {
        match op {
            Binary::And => return Ok(Value::Bool(a & b)),
            Binary::Or => return Ok(Value::Bool(a | b)),
            Binary::Xor => return Ok(Value::Bool(a ^ b)),
            _ => {}
        }
    }
    let (Some(left), Some(right)) = (wide(a), wide(b)) else {
        return Err(cannot(heap, op, a, b));
    };
    if matches!(op, Binary::Shl | Binary::Shr | Binary::Ushr) {
        if left > 4 || right > 4 {
            return Err(cannot(heap, op, a, b));
        }
        let by = long(b) as u32;
        return Ok(match a {
            Value::Long(a) => Value::Long(match op {
                Binary::Shl => a.wrapping_shl(by),
                Binary::Shr => a.wrapping_shr(by),
                _ => (a as u64).wrapping_shr(by) as i64,
            }),
            other => {
                let a = int(other);
                Value::Int(match op {
                    Binary::Shl => a.wrapping_shl(by),
                    Binary::Shr => a.wrapping_shr(by),
                    _ => (a as u32).wrapping_shr(by) as i32,
                })
            }
        });
    }
    match left.max(right) {
        0..=3 => ints(op, int(a), int(b)),
        4 => longs(op, long(a), long(b)),
        5 => match doubles(op, f64::from(float(a)), f64::from(float(b))) {
            // A float's arithmetic is that of doubles, rounded once.
            Some(Value::Double(value)) => Ok(Value::Float(value as f32)),
            Some(other) => Ok(other),
            None => Err(cannot(heap, op, a, b)),
        },
        _ => doubles(op, double(a), double(b)).ok_or_else(|| cannot(heap, op, a, b)),
    }
}

fn concat(heap: &mut Heap, a: Value, b: Value) -> Result<Value, Fault> {
    let right = match b {
        Value::Text(at, len) => heap.text(at, len).to_owned(),
        other => show::text(heap, other)?,
    };
    let left = match a {
        Value::Text(at, len) => (at, len),
        other => {
            let text = show::text(heap, other)?;
            match heap.string(&text)? {
                Value::Text(at, len) => (at, len),
                _ => unreachable!("a string is a string"),
            }
        }
    };
    heap.join(left, &right)
}

/// `a op= b`: the result has the form of `a`.
///
/// # Errors
/// As [`binary`].
pub fn compound(heap: &mut Heap, op: Binary, a: Value, b: Value) -> Result<Value, Fault> {
    let result = binary(heap, op, a, b)?;
    match (type_of(a), type_of(result)) {
        (Some(like), Some(found)) if like != found && like.is_numeric() && found.is_numeric() => {
            Ok(to_primitive(result, like))
        }
        _ => Ok(result),
    }
}

fn by_zero() -> Fault {
    Fault::new("arithmetic_exception", "/ by zero")
}

macro_rules! whole {
    ($op:expr, $a:expr, $b:expr, $form:ident) => {
        Ok(match $op {
            Binary::Add => Value::$form($a.wrapping_add($b)),
            Binary::Sub => Value::$form($a.wrapping_sub($b)),
            Binary::Mul => Value::$form($a.wrapping_mul($b)),
            Binary::Div if $b == 0 => return Err(by_zero()),
            Binary::Div => Value::$form($a.wrapping_div($b)),
            Binary::Rem if $b == 0 => return Err(by_zero()),
            Binary::Rem => Value::$form($a.wrapping_rem($b)),
            Binary::And => Value::$form($a & $b),
            Binary::Or => Value::$form($a | $b),
            Binary::Xor => Value::$form($a ^ $b),
            Binary::Shl => Value::$form($a.wrapping_shl($b as u32)),
            Binary::Shr => Value::$form($a.wrapping_shr($b as u32)),
            Binary::Ushr => Value::$form($a.unsigned_shr($b as u32)),
            Binary::Lt => Value::Bool($a < $b),
            Binary::Le => Value::Bool($a <= $b),
            Binary::Gt => Value::Bool($a > $b),
            Binary::Ge => Value::Bool($a >= $b),
            Binary::Eq | Binary::Is => Value::Bool($a == $b),
            Binary::Ne | Binary::IsNot => Value::Bool($a != $b),
        })
    };
}

trait UnsignedShr {
    fn unsigned_shr(self, by: u32) -> Self;
}

impl UnsignedShr for i32 {
    fn unsigned_shr(self, by: u32) -> Self {
        (self as u32).wrapping_shr(by) as i32
    }
}

impl UnsignedShr for i64 {
    fn unsigned_shr(self, by: u32) -> Self {
        (self as u64).wrapping_shr(by) as i64
    }
}

fn ints(op: Binary, a: i32, b: i32) -> Result<Value, Fault> {
    whole!(op, a, b, Int)
}

fn longs(op: Binary, a: i64, b: i64) -> Result<Value, Fault> {
    whole!(op, a, b, Long)
}

fn doubles(op: Binary, a: f64, b: f64) -> Option<Value> {
    Some(match op {
        Binary::Add => Value::Double(a + b),
        Binary::Sub => Value::Double(a - b),
        Binary::Mul => Value::Double(a * b),
        Binary::Div => Value::Double(a / b),
        Binary::Rem => Value::Double(a % b),
        Binary::Lt => Value::Bool(a < b),
        Binary::Le => Value::Bool(a <= b),
        Binary::Gt => Value::Bool(a > b),
        Binary::Ge => Value::Bool(a >= b),
        Binary::Eq | Binary::Is => Value::Bool(a == b),
        Binary::Ne | Binary::IsNot => Value::Bool(a != b),
        _ => return None,
    })
}

fn cannot(heap: &Heap, op: Binary, a: Value, b: Value) -> Fault {
    if matches!(a, Value::Null) || matches!(b, Value::Null) {
        return Fault::null(format!("cannot apply [{}] operation to null", op.sign()));
    }
    Fault::cast(format!(
        "Cannot apply [{}] operation to types [{}] and [{}].",
        op.sign(),
        show::class_of(heap, a),
        show::class_of(heap, b)
    ))
}

/// `-x`, `+x`, `~x`.
///
/// # Errors
/// A value that is no number.
pub fn unary(heap: &Heap, sign: char, value: Value) -> Result<Value, Fault> {
    Ok(match (sign, value) {
        (_, Value::Byte(_) | Value::Short(_) | Value::Char(_)) => {
            return unary(heap, sign, Value::Int(int(value)));
        }
        ('-', Value::Int(value)) => Value::Int(value.wrapping_neg()),
        ('-', Value::Long(value)) => Value::Long(value.wrapping_neg()),
        ('-', Value::Float(value)) => Value::Float(-value),
        ('-', Value::Double(value)) => Value::Double(-value),
        ('~', Value::Int(value)) => Value::Int(!value),
        ('~', Value::Long(value)) => Value::Long(!value),
        ('+', Value::Int(_) | Value::Long(_) | Value::Float(_) | Value::Double(_)) => value,
        _ => {
            return Err(Fault::cast(format!(
                "Cannot apply [{sign}] operation to type [{}].",
                show::class_of(heap, value)
            )));
        }
    })
}

/// A value as one of a type.
///
/// # Errors
/// It cannot be one.
pub fn cast(heap: &mut Heap, value: Value, to: Type, explicit: bool) -> Result<Value, Fault> {
    match to {
        Type::Def | Type::Void | Type::Null => Ok(value),
        Type::Bool => match value {
            Value::Bool(_) => Ok(value),
            _ => Err(no_cast(heap, value, to, explicit)),
        },
        to if to.is_numeric() => {
            if let (Value::Text(at, len), Type::Char, true) = (value, to, explicit) {
                let text = heap.text(at, len);
                return match (crate::java::len(text), crate::java::char_at(text, 0)) {
                    (1, Some(unit)) => Ok(Value::Char(unit)),
                    _ => Err(Fault::cast(
                        "cannot cast [java.lang.String] with length not equal to one to [char]",
                    )),
                };
            }
            let Some(from) = type_of(value).filter(|from| from.is_numeric()) else {
                return Err(no_cast(heap, value, to, explicit));
            };
            if !explicit && crate::types::change(from, to, false).is_err() {
                return Err(no_cast(heap, value, to, explicit));
            }
            Ok(to_primitive(value, to))
        }
        Type::Class(_) => {
            let Some(class) = to.class() else { return Ok(value) };
            if let (ClassKind::Boxed(of), Some(from)) = (class.kind, type_of(value)) {
                if from == of {
                    return Ok(value);
                }
                if from.is_numeric() && of.is_numeric() && (explicit || from.rank() < of.rank()) {
                    return Ok(to_primitive(value, of));
                }
            }
            if let (ClassKind::Text, Value::Char(_), true) = (class.kind, value, explicit) {
                let text = show::text(heap, value)?;
                return heap.string(&text);
            }
            if matches!(value, Value::Null) || is_instance(heap, value, to) {
                return Ok(value);
            }
            let found = show::class_of(heap, value);
            Err(Fault::cast(format!(
                "class {found} cannot be cast to class {} ({found} and {} are in module java.base of \
                 loader 'bootstrap')",
                class.java, class.java
            )))
        }
        Type::Array(..) => match heap.as_object(value) {
            Some(Object::Array(..)) => Ok(value),
            None if matches!(value, Value::Null) => Ok(value),
            _ => Err(no_cast(heap, value, to, explicit)),
        },
        _ => Ok(value),
    }
}

fn no_cast(heap: &Heap, value: Value, to: Type, explicit: bool) -> Fault {
    if matches!(value, Value::Null) {
        return Fault::null(format!("cannot cast null to [{}]", to.java()));
    }
    let from = match type_of(value) {
        Some(from) => from.java(),
        None => show::class_of(heap, value),
    };
    let how = if explicit { "explicitly" } else { "implicitly" };
    Fault::cast(format!("cannot {how} cast def [{from}] to {}", to.java()))
}

/// `instanceof`.
pub fn is_instance(heap: &Heap, value: Value, of: Type) -> bool {
    use ClassKind as K;
    if matches!(value, Value::Null) {
        return false;
    }
    let class = match of {
        Type::Def => return true,
        Type::Array(..) => return matches!(heap.as_object(value), Some(Object::Array(..))),
        of if of.is_primitive() => return type_of(value) == Some(of),
        of => match of.class() {
            Some(class) => class,
            None => return false,
        },
    };
    let exact = || crate::show::class_of(heap, value) == class.java;
    match class.kind {
        K::Any => class.name == "Object" || class.name == "Comparable" || exact(),
        K::Number => type_of(value).is_some_and(|of| of.is_numeric() && of != Type::Char),
        K::Boxed(of) => type_of(value) == Some(of),
        K::Text => matches!(value, Value::Text(..)),
        K::CharSequence => {
            matches!(value, Value::Text(..))
                || matches!(heap.as_object(value), Some(Object::Builder(_)))
        }
        K::Collection | K::Iterable => {
            matches!(value, Value::Field(_))
                || matches!(heap.as_object(value), Some(Object::List(_) | Object::Set(_)))
        }
        K::List => {
            matches!(value, Value::Field(_))
                || matches!(heap.as_object(value), Some(Object::List(_)))
        }
        K::Set => match heap.as_object(value) {
            Some(Object::Set(_)) => class.name == "Set" || exact(),
            _ => false,
        },
        K::Map => match heap.as_object(value) {
            Some(Object::Map(map)) => {
                class.name == "Map"
                    || exact()
                    || class.name == "HashMap" && map.order == crate::map::Order::Linked
            }
            _ => matches!(value, Value::Doc) && class.name == "Map",
        },
        K::Iterator => matches!(heap.as_object(value), Some(Object::Iterator(..))),
        K::Builder => matches!(heap.as_object(value), Some(Object::Builder(_))),
        K::Entry => matches!(heap.as_object(value), Some(Object::Entry(..))),
        K::Date => match heap.as_object(value) {
            Some(Object::Date(date)) => {
                date.class() == class.java || class.name.starts_with("Joda")
            }
            _ => false,
        },
        K::Function => {
            matches!(heap.as_object(value), Some(Object::Closure(..) | Object::Reference(..)))
        }
        K::Pattern => matches!(heap.as_object(value), Some(Object::Pattern(_))),
        K::Matcher => matches!(heap.as_object(value), Some(Object::Matcher(_))),
        K::Exception => match heap.as_object(value) {
            Some(Object::Exception(kind, _)) => {
                matches!(class.name, "Exception" | "RuntimeException")
                    || *kind == crate::show::kind_of_exception(class.name)
            }
            _ => false,
        },
        K::Other => exact(),
    }
}
