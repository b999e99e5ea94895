//! `minimum_should_match`: how many of several optional clauses must match.
//!
//! | written       | of n clauses                                                         |
//! |---------------|----------------------------------------------------------------------|
//! | `3`           | 3                                                                    |
//! | `-2`          | n - 2                                                                |
//! | `75%`         | n * 75 / 100, cut towards zero                                       |
//! | `-25%`        | n - n * 25 / 100, cut                                                |
//! | `3<90%`       | n if n <= 3, else 90 %                                               |
//! | `2<-25% 9<-3` | the last condition whose number is below n decides; none: n          |
//!
//! A negative result counts as 0. One above `n` is not cut: nothing matches then. The text is
//! looked at only when clauses are counted, as in Elasticsearch (`Queries.calculateMinShouldMatch`).

use crate::error::{Error, Result};

/// How many of `clauses` must match by `spec`.
pub fn minimum(spec: &str, clauses: usize) -> Result<usize> {
    let count = calculate(clauses as i64, spec.trim())?;
    Ok(usize::try_from(count).unwrap_or(0))
}

fn calculate(clauses: i64, spec: &str) -> Result<i64> {
    if spec.contains('<') {
        return conditional(clauses, spec);
    }
    if let Some(percent) = spec.strip_suffix('%') {
        let percent = i64::from(number(percent)?);
        // Java multiplies ints as floats here: (optionalClauseCount * percent) * (1 / 100f), cut.
        let part = (clauses * percent) as f32 * (1.0 / 100.0f32);
        return Ok(if part < 0.0 { clauses + part as i64 } else { part as i64 });
    }
    let count = i64::from(number(spec)?);
    Ok(if count < 0 { (clauses + count).max(0) } else { count })
}

fn conditional(clauses: i64, spec: &str) -> Result<i64> {
    let mut result = clauses;
    // Spaces around `<` do not part conditions.
    let spec = close_up(spec);
    for condition in spec.split_ascii_whitespace() {
        let mut parts = condition.split('<').filter(|part| !part.is_empty());
        let (Some(bound), Some(then)) = (parts.next(), parts.next()) else {
            return Err(Error::number(condition.trim_matches('<')));
        };
        if clauses <= i64::from(number(bound)?) {
            return Ok(result);
        }
        result = calculate(clauses, then)?;
    }
    Ok(result)
}

/// `2 < 75%` as `2<75%`.
fn close_up(spec: &str) -> String {
    let mut out = String::with_capacity(spec.len());
    for part in spec.split('<') {
        if !out.is_empty() {
            out.truncate(out.trim_end().len());
            out.push('<');
            out.push_str(part.trim_start());
        } else {
            out.push_str(part);
        }
    }
    out
}

/// `Integer.parseInt`.
fn number(text: &str) -> Result<i32> {
    text.parse().map_err(|_| Error::number(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_count_as_documented() {
        for (spec, clauses, expected) in [
            ("3", 5, 3),
            ("3", 2, 3),
            ("0", 2, 0),
            ("-2", 5, 3),
            ("-9", 5, 0),
            ("75%", 4, 3),
            ("75%", 5, 3),
            ("-25%", 4, 3),
            ("-25%", 5, 4),
            ("-25%", 3, 3),
            ("100%", 3, 3),
            ("200%", 3, 6),
            ("-200%", 3, 0),
            ("3<90%", 3, 3),
            ("3<90%", 10, 9),
            ("2<-25% 9<-3", 2, 2),
            ("2<-25% 9<-3", 8, 6),
            ("2<-25% 9<-3", 10, 7),
            ("2<-25% 3<-3", 4, 1),
            ("2 < 1", 4, 1),
            (" 2 ", 4, 2),
        ] {
            assert_eq!(minimum(spec, clauses), Ok(expected), "{spec} of {clauses}");
        }
    }

    #[test]
    fn junk_is_javas_number_error() {
        for (spec, named) in [("x%", "x"), ("foo", "foo"), ("2<y", "y"), ("1.5", "1.5")] {
            assert_eq!(minimum(spec, 3), Err(Error::number(named)), "{spec}");
        }
    }
}
