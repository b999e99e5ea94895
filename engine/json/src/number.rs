//! Numbers, whose text stays as it was written. Java's doubles and floats are printed by [`base::java`].

use std::fmt;

pub use base::java::{double_to_string, float_to_string, write_f32, write_f64};

use crate::lexeme;
use crate::limits::Limits;

/// A JSON number that keeps its text: `1E2` stays `1E2`, and no digit is lost.
///
/// Equal means equal text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number {
    text: Box<str>,
}

impl Number {
    /// The number written as `text`; `None` where `text` is no JSON number.
    pub fn from_text(text: &str) -> Option<Self> {
        let end = lexeme::number(text.as_bytes(), 0, &Limits::DEFAULT).ok()?;
        (end == text.len()).then(|| Self { text: text.into() })
    }

    /// For text that the scanner has checked.
    pub(crate) fn checked(text: &str) -> Self {
        debug_assert!(!text.is_empty());
        Self { text: text.into() }
    }

    /// A double, printed as Java prints it; `None` for infinities and NaN, which JSON lacks.
    pub fn from_f64(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self { text: double_to_string(value).into() })
    }

    /// A float, printed as Java prints it; `None` for infinities and NaN.
    pub fn from_f32(value: f32) -> Option<Self> {
        value.is_finite().then(|| Self { text: float_to_string(value).into() })
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Written without point and exponent.
    pub fn is_integer(&self) -> bool {
        is_integer(self.text.as_bytes())
    }

    /// The value, where it was written as an integer and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.text.parse().ok()
    }

    /// The value, where it was written as an integer, is not negative and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.text.parse().ok()
    }

    /// The nearest double; infinite where the number is too large for one.
    pub fn as_f64(&self) -> f64 {
        self.text.parse().unwrap_or(f64::NAN)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

macro_rules! from_integer {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Number {
            fn from(value: $kind) -> Self {
                Self { text: value.to_string().into() }
            }
        }
    )*};
}
from_integer!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

/// True of number text without point and exponent.
pub fn is_integer(text: &[u8]) -> bool {
    !text.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_kept_and_checked() {
        let number = Number::from_text("1E2").expect("a number");
        assert_eq!((number.text(), number.as_f64(), number.as_i64()), ("1E2", 100.0, None));
        assert!(!number.is_integer());
        assert_eq!(Number::from(-3).as_i64(), Some(-3));
        assert_eq!(Number::from(u64::MAX).as_u64(), Some(u64::MAX));
        for bad in ["", "-", "01", "1.", ".1", "1e", "+1", "1 ", "NaN", "0x1"] {
            assert!(Number::from_text(bad).is_none(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn printed_doubles_are_numbers(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert!(Number::from_text(&double_to_string(value)).is_some());
        }
    }
}
