//! Elasticsearch's named formats.
//!
//! Each is written here as a pattern of its own small language: the letters of java.time, `[…]` for
//! what may be left out, and beside them
//!
//! | sign | what                                             | printed      |
//! |------|--------------------------------------------------|--------------|
//! | `~`  | point (or comma, in dates with optional time) and 1 to 9 digits | 3 to 9 digits |
//! | `%`  | point and 1 to 3 digits                          | 3 digits     |
//! | `@`  | `Z`, any offset, or the name of a zone           | `Z`, `+01:00` |
//! | `?`  | behind a letter: fewer digits will do, too       | the fewest   |
//! | `+`  | behind a year: more digits will do after a plus  | as they are  |
//! | `*`  | behind a letter: digits of any number            | the fewest   |
//!
//! The form without `strict_` reads numbers of fewer digits, too: `2024-1-2`. It is written out where
//! it differs in more than that: many of the forms let parts be left out, strict or not, and not all
//! of them the same. Where reading leaves parts out, printing shows them all.

use super::pattern::{Element, Field, Offset, Point, Sign, WIDTH_MAX, elements as java, reserve};

/// A name, what it reads and what it prints.
struct Named {
    name: &'static str,
    /// What the form with `strict_` reads.
    strict: &'static str,
    /// What the form without reads, where it differs in more than the width of numbers.
    lenient: &'static str,
    /// What both print, where it differs from what the strict form reads.
    print: &'static str,
}

const fn row(
    name: &'static str,
    strict: &'static str,
    lenient: &'static str,
    print: &'static str,
) -> Named {
    Named { name, strict, lenient, print }
}

/// All of them. Which parts may be missing follows the builders of `DateFormatters`.
const TABLE: &[Named] = &[
    row(
        "date_optional_time",
        "u[-M[-d]]['T'[H[:m[:s[~]]][@]]]",
        "u[-M[-d]]['T'[H[:m[:s][~]][@]]]",
        "u-M-d'T'H:m:s~@",
    ),
    row("date_optional_time_nanos", "u[-M[-d]]['T'[H[:m[:s[~]]][@]]]", "", "u-M-d'T'H:m:s~@"),
    row("basic_date", "uMd", "u?M?d?", ""),
    row("basic_date_time", "uMd'T'Hms~@", "", ""),
    row("basic_date_time_no_millis", "uMd'T'Hms@", "", ""),
    row("basic_ordinal_date", "u+D", "", ""),
    row("basic_ordinal_date_time", "u+D'T'Hms~@", "", ""),
    row("basic_ordinal_date_time_no_millis", "u+D'T'Hms@", "", ""),
    row("basic_time", "Hms~@", "", ""),
    row("basic_time_no_millis", "Hms@", "", ""),
    row("basic_t_time", "'T'Hms~@", "", ""),
    row("basic_t_time_no_millis", "'T'Hms@", "", ""),
    row("basic_week_date", "Y'W'w?e*", "Y*'W'w?e*", "Y'W'we"),
    row("basic_week_date_time", "Y'W'w?e*'T'Hms~@", "Y*'W'w?e*'T'Hms~@", "Y'W'we'T'Hms~@"),
    row("basic_week_date_time_no_millis", "Y'W'we*'T'Hms@", "Y*'W'w?e*'T'Hms@", "Y'W'we'T'Hms@"),
    row("date", "u+-M-d", "u[-M[-d]]", ""),
    row("date_hour", "u+-M-d'T'H", "u[-M[-d]]'T'H", ""),
    row("date_hour_minute", "u+-M-d'T'H:m", "u[-M[-d]]'T'H:m", ""),
    row("date_hour_minute_second", "u+-M-d'T'H:m:s", "u[-M[-d]]'T'H:m:s", ""),
    row("date_hour_minute_second_fraction", "u[-M[-d]]'T'H:m:s~", "", "u-M-d'T'H:m:s~"),
    row(
        "date_hour_minute_second_millis",
        "u[-M[-d]]'T'H:m:s~",
        "u[-M[-d]]'T'H:m:s%",
        "u-M-d'T'H:m:s%",
    ),
    row("date_time", "u[-M[-d]]'T'H:m:s[~]@", "u[-M[-d]]'T'H:m[:s~]@", "u-M-d'T'H:m:s~@"),
    row("date_time_no_millis", "u[-M[-d]]'T'H:m:s@", "u[-M[-d]]'T'H:m[:s][@]", "u-M-d'T'H:m:s@"),
    row("hour", "H", "", ""),
    row("hour_minute", "H:m", "", ""),
    row("hour_minute_second", "H:m:s", "", ""),
    row("hour_minute_second_fraction", "H:m:s~", "", ""),
    row("hour_minute_second_millis", "H:m:s~", "H:m:s%", "H:m:s%"),
    row("ordinal_date", "u+-D", "u-D", ""),
    row("ordinal_date_time", "u+-D'T'H:m[:s~]@", "u-D'T'H:m[:s~]@", "u-D'T'H:m:s~@"),
    row("ordinal_date_time_no_millis", "u+-D'T'H:m:s@", "u-D'T'H:m:s@", ""),
    row("time", "H:m:s~@", "", ""),
    row("time_no_millis", "H:m:s@", "", ""),
    row("t_time", "'T'H:m:s~@", "", ""),
    row("t_time_no_millis", "'T'H:m:s@", "", ""),
    row("week_date", "Y+-'W'w-e", "Y-'W'w-e", ""),
    row("week_date_time", "Y+-'W'w-e'T'H:m:s~@", "Y-'W'w-e'T'H:m:s~@", ""),
    row("week_date_time_no_millis", "Y+-'W'w-e'T'H:m:s@", "Y-'W'w-e'T'H:m:s@", ""),
    row("weekyear", "Y+", "Y*", ""),
    row("weekyear_week", "Y+-'W'w", "Y*-'W'w*", ""),
    row("weekyear_week_day", "Y+-'W'w-e*", "Y*-'W'w*-e*", ""),
    row("year", "u+", "u*", ""),
    row("year_month", "u+-M", "u*-M*", ""),
    row("year_month_day", "u[-M[-d]]", "u*-M*-d*", "u-M-d"),
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
    let Named { strict: said, lenient, print, .. } =
        TABLE.iter().find(|known| known.name == bare)?;
    let read = if strict || lenient.is_empty() { said } else { lenient };
    // The basic forms have nothing between their numbers, so widths are fixed unless they say more.
    let strict = strict || bare.starts_with("basic_");
    let comma = bare.starts_with("date_optional_time");
    let print = if print.is_empty() { said } else { print };
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
        rest = &rest[c.len_utf8()..];
        if let Some((field, digits)) = number(c) {
            let (width, after) = match rest.as_bytes().first() {
                Some(b'?') => (Width::Fewer, &rest[1..]),
                Some(b'+') => (Width::More, &rest[1..]),
                Some(b'*') => (Width::Any, &rest[1..]),
                _ if strict => (Width::Exact, rest),
                _ => (Width::Lenient, rest),
            };
            out.push(width.of(field, digits));
            rest = after;
            continue;
        }
        out.push(match c {
            '~' => {
                let point = if comma { Point::DotOrComma } else { Point::Dot };
                Element::Fraction { min: 3, max: 9, point }
            }
            '%' => Element::Fraction { min: 3, max: 3, point: Point::Dot },
            '@' => Element::Offset(Offset::Any, "Z"),
            other => Element::Literal(other.to_string()),
        });
    }
    reserve(&mut out);
    out
}

/// What a letter stands for, and how many digits it has.
fn number(letter: char) -> Option<(Field, u8)> {
    Some(match letter {
        'u' => (Field::Year, 4),
        'Y' => (Field::WeekYear, 4),
        'M' => (Field::Month, 2),
        'd' => (Field::Day, 2),
        'w' => (Field::Week, 2),
        'e' => (Field::Weekday, 1),
        'D' => (Field::DayOfYear, 3),
        'H' => (Field::Hour, 2),
        'm' => (Field::Minute, 2),
        's' => (Field::Second, 2),
        _ => return None,
    })
}

/// How many digits a number may have.
#[derive(Clone, Copy)]
enum Width {
    /// Its own.
    Exact,
    /// As many or fewer; a year one more.
    Lenient,
    /// As many or fewer.
    Fewer,
    /// As many, or up to ten after a plus.
    More,
    /// Any.
    Any,
}

impl Width {
    fn of(self, field: Field, digits: u8) -> Element {
        let is_year = matches!(field, Field::Year | Field::WeekYear);
        let sign = if is_year { Sign::Normal } else { Sign::Never };
        match self {
            Self::Exact if is_year => Element::number(field, digits, digits, Sign::ExceedsPad),
            Self::Exact => Element::number(field, digits, digits, Sign::Never),
            Self::Lenient => Element::number(field, 1, digits + u8::from(is_year), sign),
            Self::Fewer => Element::number(field, 1, digits, sign),
            Self::More => Element::number(field, digits, YEAR_DIGITS, Sign::ExceedsPad),
            Self::Any => Element::number(field, 1, WIDTH_MAX, Sign::Normal),
        }
    }
}

/// The most digits of a year that has a plus.
const YEAR_DIGITS: u8 = 10;

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
