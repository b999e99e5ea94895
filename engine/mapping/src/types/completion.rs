//! Texts to be completed: each input becomes a term that begins with what people type.
//!
//! | part of the term | what                                                                  |
//! |------------------|-----------------------------------------------------------------------|
//! | contexts         | for each context of the mapping, in its order: the value, then `1d`   |
//! | words            | of the analysed input, joined by `1f`; a gap before a word is one more |
//! | `00`             |                                                                       |
//! | surface form     | the input as it was given, UTF-8                                      |
//!
//! Its frequency is the weight, plus one. An input without a word makes no term. Where a mapping has
//! contexts, an input makes a term for each combination of their values; a context without a value
//! is empty.
//!
//! Example: `Night Watch` of weight 28 is `night 1f watch 00 Night Watch`, frequency 29.

use std::sync::Arc;

use json::Value;

use super::geo;
use crate::analysis::{Analyzer, ON, STOP, Scratch};
use crate::tree::define_java_text as java_text;
use crate::{Error, ErrorKind, Result};

/// Between words.
pub const SEPARATOR: u8 = 0x1f;
/// After each context's value.
pub const CONTEXT_END: u8 = 0x1d;
/// Before the surface form.
pub const SURFACE: u8 = 0;
/// Most bytes that the analysed words of one input may have, words at one place counted each: no term has as many.
pub const WORDS_BYTES_MAX: usize = 1 << 20;
/// Most terms that the contexts of one value may multiply into.
pub const TERMS_MAX: usize = 1_000;

/// Texts to be completed.
#[derive(Clone, Debug)]
pub struct Completion {
    /// Makes the words of documents.
    pub analyzer: Arc<Analyzer>,
    /// Makes the words of requests.
    pub search_analyzer: Arc<Analyzer>,
    /// The names that the mapping gives, of the two above.
    pub names: [Option<Arc<str>>; 2],
    /// Words stay apart.
    pub preserve_separators: bool,
    /// Words that were left out leave a gap.
    pub preserve_position_increments: bool,
    /// Longer inputs, in UTF-16 units, are cut.
    pub max_input_length: u32,
    /// What narrows completions.
    pub contexts: Vec<Contexts>,
}

/// Longest input where the mapping does not say.
pub const INPUT_LENGTH: u32 = 50;
/// Most contexts of a field.
pub const CONTEXTS_MAX: usize = 10;

/// One context of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contexts {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub kind: ContextKind,
    /// The field of the document whose values are the context's too.
    pub path: Option<Arc<str>>,
}

/// The types of contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextKind {
    /// Words.
    Category,
    /// Geohashes of so many digits.
    Geo(u8),
}

impl Completion {
    /// The words of an input, as its term has them; empty where it has none.
    ///
    /// # Errors
    /// Where the analyzer makes more of it than `bytes_max`, or holds more meanwhile.
    pub fn analyse(
        &self,
        text: &str,
        analyzer: &Analyzer,
        bytes_max: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let mut last: Option<u32> = None;
        let mut left = Some(bytes_max);
        let done = analyzer.tokens_with(text, &mut Scratch::within(bytes_max), |token| {
            left = left.and_then(|left| left.checked_sub(token.term.len() + 1));
            if left.is_none() {
                return STOP;
            }
            let gap = match last {
                // Several words at one place: the first counts.
                Some(last) if token.position == last => return ON,
                Some(last) => token.position - last,
                None => token.position + 1,
            };
            last = Some(token.position);
            if self.preserve_separators {
                let gaps = if self.preserve_position_increments { gap } else { 1 };
                let separators = if out.len() == start { gaps - 1 } else { gaps };
                out.extend(std::iter::repeat_n(SEPARATOR, separators.min(64) as usize));
            }
            out.extend_from_slice(token.term.as_bytes());
            ON
        });
        if left.is_some() && !done.lacks_room {
            return Ok(());
        }
        let text = format!(
            "[parent] Data too large, data for [<words of a completion>] would be larger than the limit of \
             [{bytes_max}b]"
        );
        Err(Error::new(ErrorKind::NoMemory, text))
    }
}

/// The values that a query asks of a context: of a place, its cell and those around it.
///
/// # Errors
/// As [`context_value`].
pub fn query_values(context: &Contexts, value: &Value) -> Result<Vec<Vec<u8>>> {
    let own = context_value(context, value)?;
    let ContextKind::Geo(_) = context.kind else { return Ok(vec![own]) };
    let cell = String::from_utf8_lossy(&own).into_owned();
    let (low, high) = geo::geohash_cell(&cell)?;
    let (height, width) = (high.lat - low.lat, high.lon - low.lon);
    let mut values = vec![own];
    for (north, east) in [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)] {
        let lat = (low.lat + high.lat) / 2.0 + f64::from(north) * height;
        let lon = (low.lon + high.lon) / 2.0 + f64::from(east) * width;
        if lat.abs() > 90.0 {
            continue;
        }
        let lon = (lon + 540.0).rem_euclid(360.0) - 180.0;
        let near = geo::geohash(geo::Point { lat, lon }, cell.len()).into_bytes();
        if !values.contains(&near) {
            values.push(near);
        }
    }
    Ok(values)
}

/// Digits of a geohash whose cells are about so many metres wide, as Elasticsearch reckons them.
pub fn digits_of(metres: f64) -> u32 {
    const EQUATOR: f64 = 2.0 * std::f64::consts::PI * 6_378_137.0;
    const POLAR: f64 = std::f64::consts::PI * 6_356_752.314_245;
    if metres <= 0.0 {
        return 12;
    }
    let width = metres / (1.0 + POLAR / EQUATOR);
    let bits = ((EQUATOR / width).ceil().max(1.0) as u64).ilog2();
    let (full, left) = (bits / 5, bits % 5);
    (full + u32::from(left > 0) + full + u32::from(left > 3)).clamp(1, 12)
}

/// The bytes of a context's value, as terms have them.
///
/// # Errors
/// Where the value is none of the context's type.
pub fn context_value(context: &Contexts, value: &Value) -> Result<Vec<u8>> {
    match context.kind {
        ContextKind::Category => match value {
            Value::String(text) => Ok(text.as_bytes().to_vec()),
            Value::Number(_) | Value::Bool(_) => Ok(java_text(value).into_bytes()),
            _ => Err(Error::new(
                ErrorKind::Parse,
                format!(
                    "context values must be a string, number or boolean, but was [{}]",
                    value.token()
                ),
            )),
        },
        ContextKind::Geo(digits) => {
            let point = geo::parse_point(value, true)?;
            geo::check(point, "")?;
            Ok(geo::geohash(point, usize::from(digits)).into_bytes())
        }
    }
}
