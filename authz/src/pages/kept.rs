//! How a field keeps values, and of which comparisons with them words may tell.
//!
//! A comparison is told where the words are true of all documents that it lets through, and of no other. What
//! is rounded, cut off, or left out on its way into the index is compared as it lies there, and written
//! otherwise.

use json::Value;

/// Doubles know whole numbers up to this one each for itself, 2^53; beyond, two that differ are one.
const DOUBLE_WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// How a field keeps values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What is found by a value.
    pub values: Exact,
    /// Every value is kept: none is left out for its length or its form, and no document has one that the field
    /// does not know of. Else a document passes for one without the value.
    pub all: bool,
    /// A value that nobody wrote may stand for none.
    pub stands_for_none: bool,
    /// It is indexed, or has a column: else nothing is found by it, whatever documents hold.
    pub is_found: bool,
}

/// Whether what is found by a value has that value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exact {
    /// It may have another: a text that holds the word.
    No,
    /// It has, letter by letter; so what is above a number is not told of it.
    Word,
    /// It has, as a whole number.
    Whole,
    /// A whole number of which the fraction was cut off.
    Cut,
    /// A number of which no more is kept than a double holds.
    Double,
    /// A moment of which what is below its unit, milliseconds mostly, was cut off.
    Moment,
    /// It has, as an address of the internet; a network stands for many.
    Address,
    /// Yes or no, for which an empty text stands too.
    Truth,
}

/// How something is compared with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// It is the value.
    Equal,
    /// It is larger.
    Above,
    /// Larger, or the value.
    AtLeast,
    /// Smaller.
    Below,
    /// Smaller, or the value.
    AtMost,
}

impl Kept {
    /// Of a field of which nothing is known: nothing is told of it, not even that there is a value.
    pub const UNKNOWN: Self =
        Self { values: Exact::No, all: false, stands_for_none: true, is_found: true };

    /// As it was written, and all of it.
    pub const WHOLE: Self =
        Self { values: Exact::Word, all: true, stands_for_none: false, is_found: true };

    /// What holds of both; where they keep values differently, one comparison is two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            values: if self.values == other.values { self.values } else { Exact::No },
            all: self.all && other.all,
            stands_for_none: self.stands_for_none || other.stands_for_none,
            is_found: self.is_found && other.is_found,
        }
    }

    /// May words tell that a document has a value in it, or, where it is `negated`, has none?
    pub fn tells(self, negated: bool) -> bool {
        self.is_found && !self.stands_for_none && (self.all || !negated)
    }

    /// The same of a comparison with this value.
    pub fn tells_of(self, compared: Compared, value: &Value, negated: bool) -> bool {
        let fits = match self.values {
            Exact::No => false,
            Exact::Word if compared == Compared::Equal => !matches!(value, Value::Bool(_)),
            // Digits are compared letter by letter: `1000` is below `5`.
            Exact::Word => value.as_str().is_some_and(is_like_a_word),
            Exact::Address => {
                compared == Compared::Equal
                    && value.as_str().is_some_and(|text| !text.contains('/'))
            }
            Exact::Whole => !matches!(value, Value::Bool(_)),
            Exact::Cut => !negated && is_cut_alike(compared, value),
            Exact::Double => is_double(value),
            Exact::Moment => is_moment(compared, value),
            // Whoever reads that something is not empty takes it for there: documents without it pass as well.
            Exact::Truth => compared == Compared::Equal && !(negated && is_no(value)),
        };
        fits && self.tells(negated)
    }
}

/// Does it begin as a word does, or as a date that letters sort by time?
fn is_like_a_word(text: &str) -> bool {
    text.starts_with(char::is_alphabetic) || is_span(text)
}

/// Is it what `false` is found by, and an empty text?
fn is_no(value: &Value) -> bool {
    value.as_bool() == Some(false) || matches!(value.as_str(), Some("false" | ""))
}

/// Does a value pass this bound only where it does with its fraction, which is cut off towards zero?
fn is_cut_alike(compared: Compared, value: &Value) -> bool {
    let Some(value) = value.as_i64() else { return false };
    match compared {
        Compared::Above | Compared::Below => true,
        Compared::AtLeast => value > 0,
        Compared::AtMost => value < 0,
        Compared::Equal => false,
    }
}

/// A number that is no other's double, as far as people write numbers.
fn is_double(value: &Value) -> bool {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_f64(),
    };
    number.is_some_and(|number: f64| number.abs() < DOUBLE_WHOLE_MAX)
}

/// Is a moment, with what was cut off it, on the same side of this one? Of a day, an hour or a second the whole
/// of it is meant, so nothing lies between; a part of a second is one point, and what comes right after it
/// counts as it.
fn is_moment(compared: Compared, value: &Value) -> bool {
    let is_alike = matches!(compared, Compared::AtLeast | Compared::Below);
    match value {
        Value::String(text) if !is_year_first(text) => false,
        Value::String(text) => (is_alike && !is_finer(text)) || is_span(text),
        Value::Number(_) => is_alike && (value.as_i64().is_some() || value.as_u64().is_some()),
        _ => false,
    }
}

/// Does the year stand before the month, where there is one? Of others who reads does not know which number is the month.
/// Nor is arithmetic told, which moves a date away from what is read first; `now` is told with it.
fn is_year_first(text: &str) -> bool {
    let has_year = text.len() >= 4 && text.bytes().take(4).all(|it| it.is_ascii_digit());
    let is_count = text.strip_prefix('-').unwrap_or(text).bytes().all(|it| it.is_ascii_digit());
    let is_date = has_year && !text.contains(['/', '|']) && text.as_bytes().get(4) == Some(&b'-');
    is_count || is_date || text.starts_with("now")
}

/// May it be finer than a millisecond? Then what is cut off it brings in what comes before it.
fn is_finer(text: &str) -> bool {
    let Some((before, rest)) = text.split_once(['.', ',']) else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    // Without a time of day before it, it is a part of a count, of milliseconds mostly.
    !before.contains(':') || digits > 3 || rest[digits..].contains(['.', ','])
}

/// `2024-05`, `2024-05-01`, `2024-05-01T10:30`, with seconds and an offset or not: no fraction of a second, no
/// arithmetic, no count of milliseconds.
fn is_span(text: &str) -> bool {
    let (date, time) = text.split_once('T').unwrap_or((text, ""));
    // Without a month it may be a count.
    let Some((year, rest)) = date.split_once('-') else { return false };
    let is_date = year.len() == 4 && year.bytes().all(|it| it.is_ascii_digit());
    is_date
        && rest.bytes().all(|it| it.is_ascii_digit() || it == b'-')
        && time.bytes().all(|it| it.is_ascii_digit() || b":+-Z".contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words were narrower than what they let through: a double takes its neighbours for itself, a moment what
    /// comes a millionth of a second later, `no` an empty text.
    #[test]
    fn what_is_rounded_is_told_where_its_neighbours_stand_on_the_same_side() {
        use Compared::{Above, AtLeast, AtMost, Below, Equal};
        let of = |values| Kept { values, ..Kept::WHOLE };
        for (values, value, told) in [
            (Exact::Double, "0.1", &[Equal, Above, AtLeast, Below, AtMost][..]),
            (Exact::Double, "9007199254740991", &[Equal, Above, AtLeast, Below, AtMost]),
            (Exact::Double, "9007199254740992", &[]),
            (Exact::Double, "\"9007199254740993\"", &[]),
            (Exact::Double, "-1e300", &[]),
            (Exact::Moment, "\"2024-01-01\"", &[Equal, Above, AtLeast, Below, AtMost]),
            (Exact::Moment, "\"2024-01\"", &[Equal, Above, AtLeast, Below, AtMost]),
            (Exact::Moment, "\"2024-01-01T10:00:00Z\"", &[Equal, Above, AtLeast, Below, AtMost]),
            (Exact::Moment, "\"2024-01-01T00:00:00.000Z\"", &[AtLeast, Below]),
            (Exact::Moment, "\"2024-01-01T00:00:00.0005Z\"", &[]),
            (Exact::Moment, "\"2024-01-01T00:00:00,000500+01:00\"", &[]),
            (Exact::Moment, "\"1704067200000.5\"", &[]),
            (Exact::Moment, "1704067200000.5", &[]),
            (Exact::Moment, "\"2024-01-01T00:00:00.5Z||+1d\"", &[]),
            (Exact::Moment, "\"2024-01-01||+1d\"", &[]),
            (Exact::Moment, "\"01/03/2024\"", &[]),
            (Exact::Moment, "\"01-03-2024\"", &[]),
            (Exact::Word, "\"5\"", &[Equal]),
            (Exact::Word, "\"-5.0\"", &[Equal]),
            (Exact::Word, "\"2024-01-01\"", &[Equal, Above, AtLeast, Below, AtMost]),
            (Exact::Address, "\"10.0.0.1\"", &[Equal]),
            (Exact::Address, "\"10.0.0.0/8\"", &[]),
            (Exact::Moment, "\"now-1d\"", &[AtLeast, Below]),
            (Exact::Moment, "1704067200000", &[AtLeast, Below]),
            (Exact::Moment, "\"-5\"", &[AtLeast, Below]),
            (Exact::Moment, "\"2024\"", &[AtLeast, Below]),
            (Exact::Word, "\"a\"", &[Equal, Above, AtLeast, Below, AtMost]),
            (Exact::Word, "10", &[Equal]),
            (Exact::Word, "true", &[]),
            (Exact::Whole, "10", &[Equal, Above, AtLeast, Below, AtMost]),
            (Exact::Cut, "10", &[Above, AtLeast, Below]),
            (Exact::Cut, "1.5", &[]),
            (Exact::Truth, "false", &[Equal]),
            (Exact::No, "\"a\"", &[]),
        ] {
            let json = json::parse(value.as_bytes()).expect("JSON");
            for compared in [Equal, Above, AtLeast, Below, AtMost] {
                let is_told = of(values).tells_of(compared, &json, false);
                assert_eq!(is_told, told.contains(&compared), "{values:?} {compared:?} {value}");
            }
        }
    }

    #[test]
    fn what_nothing_finds_is_not_told() {
        let lost = Kept { is_found: false, ..Kept::WHOLE };
        let value = Value::from("a");
        for negated in [false, true] {
            assert!(Kept::WHOLE.tells(negated) && !lost.tells(negated));
            assert!(!lost.tells_of(Compared::Equal, &value, negated));
        }
        assert!(!Kept::WHOLE.and(lost).tells(false));
        assert!(!Kept::UNKNOWN.tells(false), "a value may stand for none in it");
        let truth = Kept { values: Exact::Truth, ..Kept::WHOLE };
        for (value, is_told) in [(Value::from(true), true), (Value::from(false), false)] {
            assert!(truth.tells_of(Compared::Equal, &value, false));
            assert_eq!(truth.tells_of(Compared::Equal, &value, true), is_told);
        }
        let other = Kept { values: Exact::Whole, ..Kept::WHOLE };
        assert_eq!(Kept::WHOLE.and(other).values, Exact::No, "words and numbers are not alike");
    }
}
