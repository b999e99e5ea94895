//! Methods of boxed numbers, and `java.util.Random`.

use super::{Done, int};
use crate::arith;
use crate::compare;
use crate::heap::{Heap, Object, Ref, Value};
use crate::types::Type;

/// A method of a number, a boolean or a character.
pub(super) fn method(
    heap: &mut Heap,
    of: Value,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    let to = |to: Type| Ok(Some(arith::to_primitive(of, to)));
    match (name, arguments) {
        ("intValue", []) => to(Type::Int),
        ("longValue", []) => to(Type::Long),
        ("doubleValue", []) => to(Type::Double),
        ("floatValue", []) => to(Type::Float),
        ("shortValue", []) => to(Type::Short),
        ("byteValue", []) => to(Type::Byte),
        ("booleanValue" | "charValue", []) => Ok(Some(of)),
        ("compareTo" | "compare", [other]) => {
            let order = compare::order(heap, of, *other)?;
            Ok(Some(Value::Int(order as i32)))
        }
        ("isNaN", []) => Ok(Some(Value::Bool(arith::double(of).is_nan()))),
        ("isInfinite", []) => Ok(Some(Value::Bool(arith::double(of).is_infinite()))),
        _ => Ok(None),
    }
}

/// The next bits of Java's generator.
fn next(seed: &mut i64, bits: u32) -> i32 {
    *seed = (seed.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB)) & ((1 << 48) - 1);
    (*seed >> (48 - bits)) as i32
}

/// A method of a `Random`.
pub(super) fn random(
    heap: &mut Heap,
    at: Ref,
    name: &str,
    arguments: &[Value],
) -> Done<Option<Value>> {
    let Object::Random(seed) = heap.get_mut(at)? else { return Ok(None) };
    Ok(match (name, arguments) {
        ("nextInt", []) => Some(Value::Int(next(seed, 32))),
        ("nextInt", [bound]) => {
            let bound = int(*bound)?;
            if bound <= 0 {
                return Err(crate::Fault::illegal("bound must be positive"));
            }
            if bound & (bound - 1) == 0 {
                let wide = i64::from(bound) * i64::from(next(seed, 31));
                return Ok(Some(Value::Int((wide >> 31) as i32)));
            }
            loop {
                let bits = next(seed, 31);
                let value = bits % bound;
                if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                    return Ok(Some(Value::Int(value)));
                }
            }
        }
        ("nextLong", []) => {
            let high = i64::from(next(seed, 32)) << 32;
            Some(Value::Long(high.wrapping_add(i64::from(next(seed, 32)))))
        }
        ("nextDouble", []) => {
            let high = i64::from(next(seed, 26)) << 27;
            let bits = high + i64::from(next(seed, 27));
            Some(Value::Double(bits as f64 * (1.0 / (1i64 << 53) as f64)))
        }
        ("nextFloat", []) => Some(Value::Float(next(seed, 24) as f32 / (1 << 24) as f32)),
        ("nextBoolean", []) => Some(Value::Bool(next(seed, 1) != 0)),
        _ => None,
    })
}
