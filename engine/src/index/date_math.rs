//! Date math in index names: `<logstash-{now/d{yyyy.MM.dd|+12:00}}>` names today's index.
//!
//! Outside braces the text stands for itself (`\{` escapes); inside, a date with math, perhaps a
//! format in braces of its own, perhaps a zone behind `|`. Default: `uuuu.MM.dd` in UTC. A date that is
//! not `now` is written in that same format: `<logs-{2024.03.31||-1M}>`.

use std::borrow::Cow;

use mapping::types::date_format::{DateFormat, Round};
use mapping::types::date_math::{Zone, parse_ms};

use crate::error::{Error, Result};
use crate::ops::failure::of_mapping;

/// The name that `expression` means now; anything not in `<…>` is a name already.
///
/// # Errors
/// `parse_exception` with what is wrong.
pub fn resolve(expression: &str, now_ms: i64) -> Result<Cow<'_, str>> {
    let Some(inner) = expression.strip_prefix('<').and_then(|text| text.strip_suffix('>')) else {
        return Ok(Cow::Borrowed(expression));
    };
    let wrong =
        |what: &str| Error::parse(format!("invalid dynamic name expression [{inner}]. {what}"));
    let mut name = String::with_capacity(inner.len() + 16);
    let mut chars = inner.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some((_, escaped)) => name.push(escaped),
                None => return Err(wrong("nothing to escape")),
            },
            '{' => {
                let len = placeholder_len(&inner[at + 1..])
                    .ok_or_else(|| wrong("date math placeholder is open ended"))?;
                name.push_str(&placeholder(&inner[at + 1..at + 1 + len], now_ms)?);
                // Step behind the closing brace.
                let end = at + 1 + len;
                while chars.next().is_some_and(|(at, _)| at < end) {}
            }
            '}' => {
                return Err(wrong(
                    "invalid character at position [0]. `{` and `}` are reserved characters and \
                     should be escaped when used as part of the index name using `\\` (e.g. \
                     `\\{text\\}`)",
                ));
            }
            other => name.push(other),
        }
    }
    if name.is_empty() {
        return Err(wrong("nothing captured"));
    }
    Ok(Cow::Owned(name))
}

/// Bytes up to the brace that closes the placeholder.
fn placeholder_len(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn placeholder(text: &str, now_ms: i64) -> Result<String> {
    let (math, format, zone) = match text.split_once('{') {
        None => (text, "uuuu.MM.dd", None),
        Some((math, rest)) => {
            let inner = rest.strip_suffix('}').ok_or_else(|| {
                Error::parse(format!(
                    "invalid dynamic name expression [{text}]. missing closing `}}`"
                ))
            })?;
            match inner.split_once('|') {
                None => (math, inner, None),
                Some((format, zone)) => (math, format, Some(zone)),
            }
        }
    };
    if format.is_empty() {
        return Err(Error::parse(format!(
            "invalid dynamic name expression [{text}]. missing date format"
        )));
    }
    let zone = zone.map(Zone::parse).transpose().map_err(of_mapping)?;
    let format = DateFormat::parse_pattern(format).map_err(of_mapping)?;
    let ms = parse_ms(&format, math, now_ms, Round::Down, zone.as_ref()).map_err(of_mapping)?;
    let local = ms + zone.as_ref().map_or(0, |zone| zone.offset_ms(ms));
    Ok(format.print_ms(local))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-03-22T11:30:00Z.
    const NOW: i64 = 1_711_107_000_000;

    fn name(expression: &str) -> String {
        resolve(expression, NOW).expect(expression).into_owned()
    }

    #[test]
    fn names_mean_their_day() {
        assert_eq!(name("plain"), "plain");
        assert_eq!(name("<logs-{now/d}>"), "logs-2024.03.22");
        assert_eq!(name("<logs-{now/M{yyyy.MM}}>"), "logs-2024.03");
        assert_eq!(name("<logs-{now/M-1M{yyyy.MM}}-x>"), "logs-2024.02-x");
        assert_eq!(name("<logs-{now/d{yyyy.MM.dd|+14:00}}>"), "logs-2024.03.23");
        assert_eq!(name(r"<a\{b\}-{now/d{yyyy}}>"), "a{b}-2024");
    }

    /// A date other than `now` was read as an ISO date, whatever the format.
    #[test]
    fn anchors_are_written_in_the_placeholders_format() {
        assert_eq!(name("<a-{2020.01.01||/d}>"), "a-2020.01.01");
        assert_eq!(name("<a-{2020.01.01}>"), "a-2020.01.01");
        assert_eq!(name("<a-{2020-01-17||/M{yyyy-MM-dd}}>"), "a-2020-01-01");
        assert_eq!(name("<a-{2020.01||+1M{yyyy.MM}}>"), "a-2020.02");
        assert_eq!(name("<a-{20200101||/d{basic_date}}>"), "a-20200101");
        assert_eq!(name("<a-{2020.01.31||+1M/d{yyyy.MM.dd|+02:00}}>"), "a-2020.02.29");
        assert_eq!(name("<a-{2020.01.01-05||/h{yyyy.MM.dd-HH|+02:00}}>"), "a-2020.01.01-05");
        for (expression, told) in [
            ("<a-{2020-01-01||/d}>", ("2020-01-01", "uuuu.MM.dd")),
            ("<a-{2020||/d}>", ("2020", "uuuu.MM.dd")),
            ("<a-{2020.1.1||/d}>", ("2020.1.1", "uuuu.MM.dd")),
            ("<a-{2020.01.01||/d{yyyy}}>", ("2020.01.01", "yyyy")),
        ] {
            let error = resolve(expression, NOW).expect_err(expression);
            let inner = format!("failed to parse date field [{}] with format [{}]", told.0, told.1);
            assert_eq!(error.reason, format!("{inner}: [{inner}]"));
            assert_eq!((error.status, &*error.kind), (400, "parse_exception"));
            let cause = error.caused_by.expect("a cause");
            assert_eq!((&*cause.kind, cause.reason), ("illegal_argument_exception", inner));
        }
    }

    #[test]
    fn broken_names_are_refused() {
        for expression in ["<a-{now/d>", "<a}>", "<>", "<{now/d{}}>", "<{nonsense}>", "<a\\>"] {
            assert!(resolve(expression, NOW).is_err(), "{expression}");
        }
    }
}
