use super::*;

fn ms(pattern: &str, text: &str) -> Option<i64> {
    let format = DateFormat::parse_pattern(pattern).expect("a good pattern");
    format.parse_ms(text).ok()
}
