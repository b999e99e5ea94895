//! How a field keeps values, and of which comparisons with them words may tell.
//!
//! A comparison is told where the words are true of all documents that it lets through. What is rounded or cut off on
//! its way into the index is compared as it lies there, and written otherwise; what letters are sorted by is no order
//! that a reader knows.
//!
//! Nothing is told of what must not be: a document passes for one without a value wherever the index does not know of
//! it, and mappings change under documents that were written before.

use std::net::IpAddr;

use json::Value;

/// How a field keeps values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What is found by a value.
    pub values: Exact,
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
    /// It has, letter by letter.
    Word,
    /// A whole number of which the fraction was cut off, if not of each document of some.
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
    pub const UNKNOWN: Self = Self { values: Exact::No, stands_for_none: true, is_found: true };

    /// As it was written.
    pub const WHOLE: Self = Self { values: Exact::Word, stands_for_none: false, is_found: true };

    /// What holds of both; where they keep values differently, one comparison is two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            values: if self.values == other.values { self.values } else { Exact::No },
            stands_for_none: self.stands_for_none || other.stands_for_none,
            is_found: self.is_found && other.is_found,
        }
    }

    /// May words tell that a document has a value in it?
    pub fn tells(self) -> bool {
        self.is_found && !self.stands_for_none
    }

    /// The same of a comparison with this value.
    pub fn tells_of(self, compared: Compared, value: &Value) -> bool {
        let is_equal = compared == Compared::Equal;
        let fits = match self.values {
            Exact::No => false,
            // `1000` lies below `5` here, and `1.50` is another word than `1.5`.
            Exact::Word => is_equal && value.as_str().is_some(),
            Exact::Address => {
                is_equal && value.as_str().is_some_and(|text| text.parse::<IpAddr>().is_ok())
            }
            Exact::Cut => is_cut_alike(compared, value),
            Exact::Double => is_double(value),
            Exact::Moment => value.as_str().is_some_and(|text| is_moment(compared, text)),
            Exact::Truth => is_equal,
        };
        fits && self.tells()
    }
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

/// A number that is no other's double, as people write numbers: so near to one of fifteen digits that it is that one.
fn is_double(value: &Value) -> bool {
    shown_number(value, '.').is_some()
}

/// A number as it is shown, with this sign before its fraction; none where it has more digits than a double knows, or
/// more zeros than people count.
pub(super) fn shown_number(value: &Value, point: char) -> Option<String> {
    let written = match value {
        Value::Number(_) => json::to_string(value),
        _ => return None,
    };
    // Below no zero lies another one.
    let is_plain =
        |number: &f64| number.abs() < 1e15 && !(*number == 0.0 && number.is_sign_negative());
    let number = value.as_f64().filter(is_plain)?;
    let digits = written.bytes().filter(u8::is_ascii_digit).count();
    let is_small = number != 0.0 && number.abs() < 1e-6;
    (digits <= 15 && !is_small && !written.contains(['e', 'E']))
        .then(|| number.to_string().replace('.', &point.to_string()))
}

/// A day, of which the whole is meant, so that nothing lies between; or a moment of one to the second or its
/// thousandths, as a bound on whose side what was cut off stays. Of a month alone Elasticsearch takes the first day for
/// some bounds and the last for others, an hour with an offset looks like two, and of other numbers who reads does not
/// know what they count; nor is arithmetic told, which moves a date away from what is read first.
fn is_moment(compared: Compared, text: &str) -> bool {
    match text.split_once('T') {
        None => is_shaped(text, "0000-00-00"),
        Some((date, time)) => {
            let is_bound = matches!(compared, Compared::AtLeast | Compared::Below);
            is_bound && is_shaped(date, "0000-00-00") && is_time(time)
        }
    }
}

/// `10:30:00`, with up to thousandths, and with a zone or without.
fn is_time(text: &str) -> bool {
    let (time, zone) = text.split_at(text.find(['Z', '+', '-']).unwrap_or(text.len()));
    let is_time = ["00:00:00", "00:00:00.0", "00:00:00.00", "00:00:00.000"];
    is_time.iter().any(|shape| is_shaped(time, shape))
        && (matches!(zone, "" | "Z")
            || ["+00:00", "-00:00"].iter().any(|shape| is_shaped(zone, shape)))
}

/// Is it like this, with any digits for its zeros?
fn is_shaped(text: &str, shape: &str) -> bool {
    let fits =
        |(byte, like): (u8, u8)| if like == b'0' { byte.is_ascii_digit() } else { byte == like };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words were narrower than what they let through: a double takes its neighbours for itself, a moment what
    /// comes a millionth of a second later, a keyword of digits sorts by letters, a network is many addresses.
    #[test]
    fn what_is_told_is_true_of_all_that_passes() {
        use Compared::{Above, AtLeast, AtMost, Below, Equal};
        let of = |values| Kept { values, ..Kept::WHOLE };
        let all = &[Equal, Above, AtLeast, Below, AtMost][..];
        for (values, value, told) in [
            (Exact::Double, "0.1", all),
            (Exact::Double, "900719925474099", all),
            (Exact::Double, "2.99999999999999999999", &[]),
            (Exact::Double, "1e3", &[]),
            (Exact::Double, "-0.0", &[]),
            (Exact::Double, "9007199254740992", &[]),
            (Exact::Double, "\"1.234\"", &[]),
            (Exact::Double, "-1e300", &[]),
            (Exact::Moment, "\"2024-01-01\"", all),
            (Exact::Moment, "\"2024-01\"", &[]),
            (Exact::Moment, "\"2024-01-01T10:00:00Z\"", &[AtLeast, Below]),
            (Exact::Moment, "\"2024-01-01T10:00:00.5+02:00\"", &[AtLeast, Below]),
            (Exact::Moment, "\"2024-01-01T10-11\"", &[]),
            (Exact::Moment, "\"2024-01-01T10:00\"", &[]),
            (Exact::Moment, "\"2024-01-01T00:00:00.000Z\"", &[AtLeast, Below]),
            (Exact::Moment, "\"2024-01-01T00:00:00.0005Z\"", &[]),
            (Exact::Moment, "\"2024-01-01T00:00:00,000500+01:00\"", &[]),
            (Exact::Moment, "\"1704067200000.5\"", &[]),
            (Exact::Moment, "1704067200000", &[]),
            (Exact::Moment, "2025", &[]),
            (Exact::Moment, "\"20240501\"", &[]),
            (Exact::Moment, "\"-5\"", &[]),
            (Exact::Moment, "\"2024-01-01T00:00:00.5Z||+1d\"", &[]),
            (Exact::Moment, "\"2024-01-01||+1d\"", &[]),
            (Exact::Moment, "\"01/03/2024\"", &[]),
            (Exact::Moment, "\"01-03-2024\"", &[]),
            (Exact::Moment, "\"now-1d\"", &[]),
            (Exact::Moment, "\"2024\"", &[]),
            (Exact::Word, "\"a\"", &[Equal]),
            (Exact::Word, "\"5\"", &[Equal]),
            (Exact::Word, "10", &[]),
            (Exact::Word, "true", &[]),
            (Exact::Address, "\"10.0.0.1\"", &[Equal]),
            (Exact::Address, "\"10.0.0.0/8\"", &[]),
            (Exact::Address, "\"10.8\"", &[]),
            (Exact::Address, "\"10.0.0.0-10.0.0.9\"", &[]),
            (Exact::Cut, "10", &[Above, AtLeast, Below]),
            (Exact::Cut, "1.5", &[]),
            (Exact::Cut, "\"10\"", &[]),
            (Exact::Truth, "false", &[Equal]),
            (Exact::No, "\"a\"", &[]),
        ] {
            let json = json::parse(value.as_bytes()).expect("JSON");
            for compared in [Equal, Above, AtLeast, Below, AtMost] {
                let is_told = of(values).tells_of(compared, &json);
                assert_eq!(is_told, told.contains(&compared), "{values:?} {compared:?} {value}");
            }
        }
    }

    #[test]
    fn numbers_have_one_shape() {
        for (written, shown) in [("1.000", "1"), ("2.50", "2,5"), ("-7", "-7")] {
            let number = json::parse(written.as_bytes()).expect("JSON");
            assert_eq!(shown_number(&number, ',').as_deref(), Some(shown));
        }
    }

    #[test]
    fn what_nothing_finds_is_not_told() {
        let lost = Kept { is_found: false, ..Kept::WHOLE };
        let value = Value::from("a");
        assert!(Kept::WHOLE.tells() && !lost.tells());
        assert!(!lost.tells_of(Compared::Equal, &value));
        assert!(!Kept::WHOLE.and(lost).tells());
        assert!(!Kept::UNKNOWN.tells(), "a value may stand for none in it");
        let other = Kept { values: Exact::Double, ..Kept::WHOLE };
        assert_eq!(Kept::WHOLE.and(other).values, Exact::No, "words and numbers are not alike");
    }
}
