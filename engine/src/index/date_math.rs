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

/// The name that `expression` means now; anything not in `<…>` is a name already. A backslash at the end
/// says nothing, as in Elasticsearch.
///
/// # Errors
/// `parse_exception` with what is wrong; a position counts UTF-16 units from the `<`.
pub fn resolve(expression: &str, now_ms: i64) -> Result<Cow<'_, str>> {
    if !(expression.len() > 1 && expression.starts_with('<') && expression.ends_with('>')) {
        return Ok(Cow::Borrowed(expression));
    }
    let (text, inner) = (&expression[1..], &expression[1..expression.len() - 1]);
    // Elasticsearch shows the closing bracket, and not the opening one.
    let wrong =
        |what: &str| Error::parse(format!("invalid dynamic name expression [{text}]. {what}"));
    let mut name = String::with_capacity(inner.len() + 16);
    let mut placeholder: Option<Placeholder> = None;
    let (mut escape, mut at) = (false, 1);
    for char in inner.chars() {
        let escaped = std::mem::take(&mut escape);
        match (char, &mut placeholder) {
            ('\\', _) if escaped => name.push('\\'),
            ('\\', _) => escape = true,
            ('{', Some(read)) if read.in_format && !escaped => {
                let what = format!("invalid character in placeholder at position [{at}]");
                return Err(wrong(&what));
            }
            ('}', Some(read)) if !read.in_format => {
                name.push_str(&of_placeholder(&read.text, now_ms)?);
                placeholder = None;
            }
            (other, Some(read)) => {
                match other {
                    '{' => read.in_format = true,
                    '}' => read.in_format = escaped,
                    _ => {}
                }
                read.text.push(other);
            }
            ('{', None) if !escaped => placeholder = Some(Placeholder::default()),
            ('}', None) if !escaped => {
                return Err(wrong(&format!(
                    "invalid character at position [{at}]. `{{` and `}}` are reserved characters \
                     and should be escaped when used as part of the index name using `\\` (e.g. \
                     `\\{{text\\}}`)"
                )));
            }
            (other, None) => name.push(other),
        }
        at += char.len_utf16();
    }
    if placeholder.is_some() {
        return Err(wrong("date math placeholder is open ended"));
    }
    if name.is_empty() {
        return Err(Error::parse("nothing captured"));
    }
    Ok(Cow::Owned(name))
}

/// What stands between the braces so far.
#[derive(Default)]
struct Placeholder {
    text: String,
    /// Behind the brace that opens the format.
    in_format: bool,
}

/// The date that a placeholder means, as it is written there.
fn of_placeholder(text: &str, now_ms: i64) -> Result<String> {
    let wrong =
        |what: &str| Error::parse(format!("invalid dynamic name expression [{text}]. {what}"));
    let (math, format, zone) = match text.split_once('{') {
        None => (text, "uuuu.MM.dd", None),
        Some((math, rest)) => {
            let inner = rest
                .strip_suffix('}')
                .ok_or_else(|| wrong("missing closing `}` for date math format"))?;
            if inner.is_empty() {
                return Err(wrong("missing date format"));
            }
            match inner.split_once('|') {
                None => (math, inner, None),
                Some((format, zone)) => (math, format, Some(zone)),
            }
        }
    };
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
        let reserved = "`{` and `}` are reserved characters and should be escaped when used as part of \
                        the index name using `\\` (e.g. `\\{text\\}`)";
        for (expression, shown, what) in [
            ("<a-{now/d>", "a-{now/d>", "date math placeholder is open ended".to_owned()),
            (
                "<a-{now/d{yyyy}>",
                "a-{now/d{yyyy}>",
                "date math placeholder is open ended".to_owned(),
            ),
            ("<a}>", "a}>", format!("invalid character at position [2]. {reserved}")),
            (
                "<\u{1f600}}>",
                "\u{1f600}}>",
                format!("invalid character at position [3]. {reserved}"),
            ),
            (
                "<a-{now/d{yy{yy}}>",
                "a-{now/d{yy{yy}}>",
                "invalid character in placeholder at position [12]".to_owned(),
            ),
            ("<a-{now/d{}}>", "now/d{}", "missing date format".to_owned()),
            (
                "<a-{now/d{yyyy}x}>",
                "now/d{yyyy}x",
                "missing closing `}` for date math format".to_owned(),
            ),
        ] {
            let error = resolve(expression, NOW).expect_err(expression);
            assert_eq!(error.reason, format!("invalid dynamic name expression [{shown}]. {what}"));
            assert_eq!((error.status, &*error.kind), (400, "parse_exception"));
        }
        assert_eq!(resolve("<>", NOW).expect_err("nothing").reason, "nothing captured");
        assert!(resolve("<{nonsense}>", NOW).is_err());
    }

    #[test]
    fn what_is_escaped_stands_for_itself() {
        for (expression, meant) in [
            (r"<a\>", "a"),
            (r"<a\\b>", r"a\b"),
            (r"<a\}{now/d{yyyy}}>", "a}2024"),
            (r"<{now/d{yyyy'\}'}}>", "2024}"),
            ("<", "<"),
            ("<a", "<a"),
        ] {
            assert_eq!(name(expression), meant, "{expression}");
        }
    }
}
