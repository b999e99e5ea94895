//! Elasticsearch's named formats.
//!
//! Each is written here as a pattern of its own small language, once, in its strict form: the
//! letters of java.time, `[…]` for what may be left out, and beside them
//!
//! | sign | what                                             | printed      |
//! |------|--------------------------------------------------|--------------|
//! | `~`  | point (or comma, in dates with optional time) and 1 to 9 digits | 3 to 9 digits |
//! | `%`  | point and 1 to 3 digits                          | 3 digits     |
//! | `@`  | `Z` or any offset                                | `Z`, `+01:00` |
//!
//! The form without `strict_` reads numbers of fewer digits, too: `2024-1-2`. Where reading leaves
//! parts out, printing shows them all.

use super::pattern::{Element, Field, Offset, Point, Sign, elements as java, reserve};

/// Names, what they read, and what they print, where it differs.
const TABLE: &[(&str, &str, &str)] = &[
    ("date_optional_time", "u[-M[-d]]['T'[H[:m[:s[~]]][@]]]", "u-M-d'T'H:m:s~@"),
    ("date_optional_time_nanos", "u[-M[-d]]['T'[H[:m[:s[~]]][@]]]", "u-M-d'T'H:m:s~@"),
    ("basic_date", "uMd", ""),
    ("basic_date_time", "uMd'T'Hms~@", ""),
    ("basic_date_time_no_millis", "uMd'T'Hms@", ""),
    ("basic_ordinal_date", "uD", ""),
    ("basic_ordinal_date_time", "uD'T'Hms~@", ""),
    ("basic_ordinal_date_time_no_millis", "uD'T'Hms@", ""),
    ("basic_time", "Hms~@", ""),
    ("basic_time_no_millis", "Hms@", ""),
    ("basic_t_time", "'T'Hms~@", ""),
    ("basic_t_time_no_millis", "'T'Hms@", ""),
    ("basic_week_date", "Y'W'we", ""),
    ("basic_week_date_time", "Y'W'we'T'Hms~@", ""),
    ("basic_week_date_time_no_millis", "Y'W'we'T'Hms@", ""),
    ("date", "u-M-d", ""),
    ("date_hour", "u-M-d'T'H", ""),
    ("date_hour_minute", "u-M-d'T'H:m", ""),
    ("date_hour_minute_second", "u-M-d'T'H:m:s", ""),
    ("date_hour_minute_second_fraction", "u-M-d'T'H:m:s~", ""),
    ("date_hour_minute_second_millis", "u-M-d'T'H:m:s%", ""),
    ("date_time", "u-M-d'T'H:m:s~@", ""),
    ("date_time_no_millis", "u-M-d'T'H:m:s@", ""),
    ("hour", "H", ""),
    ("hour_minute", "H:m", ""),
    ("hour_minute_second", "H:m:s", ""),
    ("hour_minute_second_fraction", "H:m:s~", ""),
    ("hour_minute_second_millis", "H:m:s%", ""),
    ("ordinal_date", "u-D", ""),
    ("ordinal_date_time", "u-D'T'H:m:s~@", ""),
    ("ordinal_date_time_no_millis", "u-D'T'H:m:s@", ""),
    ("time", "H:m:s~@", ""),
    ("time_no_millis", "H:m:s@", ""),
    ("t_time", "'T'H:m:s~@", ""),
    ("t_time_no_millis", "'T'H:m:s@", ""),
    ("week_date", "Y-'W'w-e", ""),
    ("week_date_time", "Y-'W'w-e'T'H:m:s~@", ""),
    ("week_date_time_no_millis", "Y-'W'w-e'T'H:m:s@", ""),
    ("weekyear", "Y", ""),
    ("weekyear_week", "Y-'W'w", ""),
    ("weekyear_week_day", "Y-'W'w-e", ""),
    ("year", "u", ""),
    ("year_month", "u-M", ""),
    ("year_month_day", "u-M-d", ""),
];

/// Names that have no `strict_` twin: these, and all that begin with `basic_` but are not weeks.
const LENIENT_ONLY: &[&str] = &["basic_ordinal", "basic_date", "basic_time", "basic_t_time"];

/// What a named format reads and prints; `None` where there is no such name.
pub(super) fn elements(name: &str) -> Option<(Vec<Element>, Vec<Element>)> {
    let (strict, bare) = match name.strip_prefix("strict_") {
        Some(bare) if LENIENT_ONLY.iter().any(|basic| bare.starts_with(basic)) => return None,
        Some(bare) => (true, bare),
        None if name == "iso8601" => (true, "date_optional_time"),
        None => (false, name),
    };
    let (name, read, print) = TABLE.iter().find(|(known, _, _)| *known == bare)?;
    // The basic forms have nothing between their numbers, so all widths are fixed.
    let strict = strict || name.starts_with("basic_");
    let comma = name.starts_with("date_optional_time");
    let print = if print.is_empty() { read } else { print };
    Some((build(read, strict, comma), build(print, true, false)))
}

fn build(pattern: &str, strict: bool, comma: bool) -> Vec<Element> {
    let mut out = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if c == '[' {
            let end = closing(rest);
            out.push(Element::Optional(build(&rest[1..end], strict, comma)));
            rest = &rest[end + 1..];
            continue;
        }
        if c == '\'' {
            let end = rest[1..].find('\'').expect("quotes of the table are paired") + 2;
            out.extend(java(&rest[..end]).expect("quoted text is a pattern"));
            rest = &rest[end..];
            continue;
        }
        let two = |field| {
            let min = if strict { 2 } else { 1 };
            Element::number(field, min, 2, Sign::Never)
        };
        let year = |field| {
            if strict {
                Element::number(field, 4, 4, Sign::ExceedsPad)
            } else {
                Element::number(field, 1, 5, Sign::Normal)
            }
        };
        out.push(match c {
            'u' => year(Field::Year),
            'Y' => year(Field::WeekYear),
            'M' => two(Field::Month),
            'd' => two(Field::Day),
            'w' => two(Field::Week),
            'e' => Element::number(Field::Weekday, 1, 1, Sign::Never),
            'D' => Element::number(Field::DayOfYear, if strict { 3 } else { 1 }, 3, Sign::Never),
            'H' => two(Field::Hour),
            'm' => two(Field::Minute),
            's' => two(Field::Second),
            '~' => {
                let point = if comma { Point::DotOrComma } else { Point::Dot };
                Element::Fraction { min: 3, max: 9, point }
            }
            '%' => Element::Fraction { min: 3, max: 3, point: Point::Dot },
            '@' => Element::Offset(Offset::Any, "Z"),
            other => Element::Literal(other.to_string()),
        });
        rest = &rest[c.len_utf8()..];
    }
    reserve(&mut out);
    out
}

/// Where the section that begins `text` ends.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    unreachable!("brackets of the table are paired")
}
