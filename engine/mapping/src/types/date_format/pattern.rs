//! java.time patterns as lists of elements: `yyyy-MM-dd['T'HH:mm]`.
//!
//! Letters and widths are those of `java.time.format.DateTimeFormatterBuilder.appendPattern`.
//! Always true: a number that is followed at once by numbers of fixed width knows how many digits
//! they need (`reserve`), so that `yyyyMMdd` reads as people mean it.
//!
//! Not here: what depends on a locale's data (`B`, `v`, `W`), counts that no calendar has (`F`, `g`), and
//! padding (`p`), which are refused with their names.

use super::localized::Localized;

/// What one number of a date says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Year,
    YearOfEra,
    WeekYear,
    Quarter,
    Month,
    Week,
    Day,
    DayOfYear,
    Weekday,
    Hour,
    /// 1 to 24.
    HourFrom1,
    /// 1 to 12.
    Hour12,
    /// 0 to 11.
    Hour12From0,
    Minute,
    Second,
    Nano,
    MilliOfDay,
    NanoOfDay,
}

/// How a number may be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// `-` before negative ones.
    Normal,
    /// None.
    Never,
    /// `-`, and `+` before those wider than the least width.
    ExceedsPad,
}

/// How an offset is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offset {
    /// `+01`, `+0130`.
    HourMaybeMinute,
    /// `+0130`.
    HourMinute,
    /// `+01:30`.
    HourColonMinute,
    /// `+0130`, `+013015`.
    HourMinuteMaybeSecond,
    /// `+01:30`, `+01:30:15`.
    HourColonMinuteMaybeSecond,
    /// Any of these, or the name of a zone; `+01:30` when printed.
    Any,
}

/// Texts of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    MonthShort,
    MonthFull,
    WeekdayShort,
    WeekdayFull,
    AmPm,
    EraShort,
    EraFull,
    QuarterShort,
    QuarterFull,
}

/// One step of reading or printing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Element {
    /// This text.
    Literal(String),
    /// Digits.
    Number { field: Field, min: u8, max: u8, sign: Sign, reserve: u8 },
    /// The last two digits of a year from 2000 on.
    TwoDigitYear { field: Field },
    /// Digits of a second's fraction, perhaps after a point (or comma, in ISO's own forms).
    Fraction { min: u8, max: u8, point: Point },
    /// One of a list of words.
    Text(Names),
    /// An offset; the second is what zero is written as.
    Offset(Offset, &'static str),
    /// An offset after `GMT`.
    Localized(Localized),
    /// The name of a zone, or an offset.
    ZoneId,
    /// All of these or none.
    Optional(Vec<Element>),
}

/// What stands before a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    Nothing,
    Dot,
    DotOrComma,
}

/// The widest number of java.time.
pub(super) const WIDTH_MAX: u8 = 19;

impl Element {
    pub(super) const fn number(field: Field, min: u8, max: u8, sign: Sign) -> Self {
        Self::Number { field, min, max, sign, reserve: 0 }
    }

    const fn fixed(field: Field, width: u8) -> Self {
        Self::number(field, width, width, Sign::Never)
    }

    const fn free(field: Field) -> Self {
        Self::number(field, 1, WIDTH_MAX, Sign::Normal)
    }
}

/// How deep optional sections may lie in each other.
const OPTIONAL_DEPTH_MAX: usize = 32;

/// The elements of a pattern, or what is wrong with it.
pub(super) fn elements(pattern: &str) -> Result<Vec<Element>, String> {
    let mut stack: Vec<Vec<Element>> = vec![Vec::new()];
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let top = stack.last_mut().expect("the root list is never popped");
        match c {
            'a'..='z' | 'A'..='Z' => {
                let count = rest.chars().take_while(|next| *next == c).count();
                letter(c, count, top)?;
                rest = &rest[count..];
                continue;
            }
            '\'' => {
                let (text, after) = quoted(&rest[1..]).ok_or_else(|| {
                    format!("Pattern ends with an incomplete string literal: {pattern}")
                })?;
                push_literal(top, &text);
                rest = after;
                continue;
            }
            '[' => {
                if stack.len() > OPTIONAL_DEPTH_MAX {
                    return Err("Pattern has too many optional sections".to_owned());
                }
                stack.push(Vec::new());
            }
            ']' => {
                if stack.len() == 1 {
                    return Err("Pattern invalid as it contains ] without previous [".to_owned());
                }
                let inner = stack.pop().expect("there are two or more");
                let top = stack.last_mut().expect("the root list is never popped");
                top.push(Element::Optional(inner));
            }
            '{' | '}' | '#' => return Err(format!("Pattern includes reserved character: '{c}'")),
            other => push_literal(top, other.encode_utf8(&mut [0; 4])),
        }
        rest = &rest[c.len_utf8()..];
    }
    // Sections still open at the end end there.
    while stack.len() > 1 {
        let inner = stack.pop().expect("there are two or more");
        let top = stack.last_mut().expect("the root list is never popped");
        top.push(Element::Optional(inner));
    }
    let mut elements = stack.pop().expect("the root list is never popped");
    reserve(&mut elements);
    Ok(elements)
}

/// The text up to the closing quote, doubled ones halved, and what follows it.
fn quoted(rest: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '\'' {
            text.push(c);
        } else if chars.peek().is_some_and(|(_, next)| *next == '\'') {
            text.push('\'');
            chars.next();
        } else {
            if text.is_empty() {
                text.push('\'');
            }
            return Some((text, &rest[at + 1..]));
        }
    }
    None
}

fn push_literal(elements: &mut Vec<Element>, text: &str) {
    if let Some(Element::Literal(last)) = elements.last_mut() {
        last.push_str(text);
    } else {
        elements.push(Element::Literal(text.to_owned()));
    }
}

/// Tells each number of free width how many digits of fixed width follow at once.
pub(super) fn reserve(elements: &mut [Element]) {
    let mut following = 0u8;
    for element in elements.iter_mut().rev() {
        match element {
            Element::Number { min, max, reserve, .. } => {
                if min < max {
                    *reserve = std::mem::take(&mut following);
                } else {
                    following = following.saturating_add(*max);
                }
            }
            Element::TwoDigitYear { .. } => following = following.saturating_add(2),
            Element::Fraction { min, max, point: Point::Nothing } if min == max => {
                following = following.saturating_add(*max);
            }
            Element::Optional(inner) => {
                self::reserve(inner);
                following = 0;
            }
            _ => following = 0,
        }
    }
}

/// Appends what `count` times the letter `c` means.
fn letter(c: char, count: usize, out: &mut Vec<Element>) -> Result<(), String> {
    let too_many = || Err(format!("Too many pattern letters: {c}"));
    let width = u8::try_from(count).unwrap_or(u8::MAX);
    if width > WIDTH_MAX {
        return too_many();
    }
    let element = match c {
        'u' | 'y' | 'Y' => {
            let field = match c {
                'u' => Field::Year,
                'y' => Field::YearOfEra,
                _ => Field::WeekYear,
            };
            match width {
                2 => Element::TwoDigitYear { field },
                0..=3 => Element::number(field, width, WIDTH_MAX, Sign::Normal),
                _ => Element::number(field, width, WIDTH_MAX, Sign::ExceedsPad),
            }
        }
        'M' | 'L' => match width {
            1 => Element::free(Field::Month),
            2 => Element::fixed(Field::Month, 2),
            3 => Element::Text(Names::MonthShort),
            4 => Element::Text(Names::MonthFull),
            _ => return too_many(),
        },
        'Q' | 'q' => match width {
            1 => Element::free(Field::Quarter),
            2 => Element::fixed(Field::Quarter, 2),
            3 => Element::Text(Names::QuarterShort),
            4 => Element::Text(Names::QuarterFull),
            _ => return too_many(),
        },
        'E' => match width {
            1..=3 => Element::Text(Names::WeekdayShort),
            4 => Element::Text(Names::WeekdayFull),
            _ => return too_many(),
        },
        'e' | 'c' => match width {
            1 => Element::number(Field::Weekday, 1, 1, Sign::Never),
            2 if c == 'e' => Element::fixed(Field::Weekday, 2),
            3 => Element::Text(Names::WeekdayShort),
            4 => Element::Text(Names::WeekdayFull),
            _ => return too_many(),
        },
        'w' => match width {
            1 => Element::number(Field::Week, 1, 2, Sign::Never),
            2 => Element::fixed(Field::Week, 2),
            _ => return too_many(),
        },
        'a' if width == 1 => Element::Text(Names::AmPm),
        'a' => return too_many(),
        'G' => match width {
            1..=3 => Element::Text(Names::EraShort),
            4 => Element::Text(Names::EraFull),
            _ => return too_many(),
        },
        'D' => match width {
            1 => Element::free(Field::DayOfYear),
            2 => Element::number(Field::DayOfYear, 2, 3, Sign::Never),
            3 => Element::fixed(Field::DayOfYear, 3),
            _ => return too_many(),
        },
        'd' | 'h' | 'H' | 'k' | 'K' | 'm' | 's' => {
            let field = match c {
                'd' => Field::Day,
                'h' => Field::Hour12,
                'H' => Field::Hour,
                'k' => Field::HourFrom1,
                'K' => Field::Hour12From0,
                'm' => Field::Minute,
                _ => Field::Second,
            };
            match width {
                1 => Element::free(field),
                2 => Element::fixed(field, 2),
                _ => return too_many(),
            }
        }
        'S' if width <= 9 => Element::Fraction { min: width, max: width, point: Point::Nothing },
        'S' => return too_many(),
        'n' => Element::number(Field::Nano, width, WIDTH_MAX, Sign::Never),
        'N' => Element::number(Field::NanoOfDay, width, WIDTH_MAX, Sign::Never),
        'A' => Element::number(Field::MilliOfDay, width, WIDTH_MAX, Sign::Never),
        'V' if width == 2 => Element::ZoneId,
        'V' => return Err(format!("Pattern letter count must be 2: {c}")),
        'Z' => match width {
            1..=3 => Element::Offset(Offset::HourMinute, "+0000"),
            4 => Element::Localized(Localized::Full),
            5 => Element::Offset(Offset::HourColonMinuteMaybeSecond, "Z"),
            _ => return too_many(),
        },
        'O' => match width {
            1 => Element::Localized(Localized::Short),
            4 => Element::Localized(Localized::Full),
            _ => return Err(format!("Pattern letter count must be 1 or 4: {c}")),
        },
        'X' | 'x' => {
            let form = match width {
                1 => Offset::HourMaybeMinute,
                2 => Offset::HourMinute,
                3 => Offset::HourColonMinute,
                4 => Offset::HourMinuteMaybeSecond,
                5 => Offset::HourColonMinuteMaybeSecond,
                _ => return too_many(),
            };
            let zero = match width {
                _ if c == 'X' => "Z",
                1 => "+00",
                2 | 4 => "+0000",
                _ => "+00:00",
            };
            Element::Offset(form, zero)
        }
        'z' if width <= 4 => Element::ZoneId,
        'B' | 'F' | 'W' | 'g' | 'p' | 'v' => {
            return Err(format!("Pattern letter is not supported: {c}"));
        }
        _ => return Err(format!("Unknown pattern letter: {c}")),
    };
    out.push(element);
    Ok(())
}
