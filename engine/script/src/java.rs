//! Text as Java has it: strings counted in UTF-16 units. Numbers are printed by [`base::java`].

/// Length in UTF-16 units.
pub fn len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// The byte offset of a UTF-16 place; inside a pair of surrogates it is before it.
pub fn byte_at(text: &str, unit: usize) -> usize {
    if text.is_ascii() {
        return unit.min(text.len());
    }
    let mut seen = 0;
    for (at, character) in text.char_indices() {
        if seen + character.len_utf16() > unit {
            return at;
        }
        seen += character.len_utf16();
    }
    text.len()
}

/// The UTF-16 place of a byte offset.
pub fn unit_at(text: &str, byte: usize) -> usize {
    len(&text[..byte])
}

/// The unit at a UTF-16 place.
pub fn char_at(text: &str, unit: usize) -> Option<u16> {
    if text.is_ascii() {
        return text.as_bytes().get(unit).map(|byte| u16::from(*byte));
    }
    text.encode_utf16().nth(unit)
}

/// `String.hashCode`.
pub fn hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// `Double.parseDouble`: Rust's and Java's, without what only Rust takes.
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.trim_start_matches(['+', '-']) {
        "NaN" => return Some(f64::NAN),
        "Infinity" => {
            return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        _ => {}
    }
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let body = number.strip_prefix(['+', '-']).unwrap_or(number);
    if !body.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_count_in_utf16() {
        assert_eq!(len("a𝄞b"), 4);
        assert_eq!(byte_at("a𝄞b", 3), 5);
        assert_eq!(hash("hello"), 99_162_322);
    }
}
