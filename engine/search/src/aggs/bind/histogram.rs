//! Histograms of numbers and of dates, bound to an index.

use json::number::double_to_string;

use super::*;

/// Bounds that would show buckets where none may be.
fn outside<T>(hard: &Ends<T>, extended: &Ends<T>, show: impl Fn(&T) -> String) -> Error {
    let show = |ends: &Ends<T>| {
        let [min, max] =
            [&ends.min, &ends.max].map(|end| end.as_ref().map(&show).unwrap_or_default());
        format!("{min}--{max}")
    };
    Error::illegal(format!(
        "Extended bounds have to be inside hard bounds, hard bounds: [{}], extended bounds: [{}]",
        show(hard),
        show(extended)
    ))
}

impl Scope<'_, '_> {
    pub(super) fn histogram(&mut self, histogram: &Histogram, kind: &str) -> Result<What> {
        let source = self.source(&histogram.values, Accepts::NumbersOrSpans, kind)?;
        if histogram.interval.is_nan() || histogram.interval <= 0.0 {
            return Err(Error::illegal(format!(
                "interval must be positive, got: {:?}",
                histogram.interval
            )));
        }
        let hard = &histogram.hard;
        let (low, high) =
            (hard.min.unwrap_or(f64::NEG_INFINITY), hard.max.unwrap_or(f64::INFINITY));
        let extended = &histogram.extended;
        if extended.min.is_some_and(|min| min < low) || extended.max.is_some_and(|max| max > high) {
            return Err(outside(hard, extended, |end| double_to_string(*end)));
        }
        Ok(What::Width(source, histogram.interval, histogram.offset, (low, high)))
    }

    pub(super) fn date_histogram(&mut self, histogram: &DateHistogram, kind: &str) -> Result<What> {
        let source = self.source(&histogram.values, Accepts::DatesOrSpans, kind)?;
        let Some(interval) = histogram.interval else {
            return Err(Error::illegal(
                "Invalid interval specified, must be non-null and non-empty",
            ));
        };
        let rounding =
            Rounding { interval, zone: zone(&histogram.values)?, offset_ms: histogram.offset_ms };
        let hard = self.time_ends(histogram.hard.as_ref(), &source, &histogram.values)?;
        let extended = self.time_ends(histogram.extended.as_ref(), &source, &histogram.values)?;
        if let (Some(min), Some(max)) = (extended.min, extended.max)
            && min > max
        {
            return Err(Error::illegal(format!(
                "[extended_bounds.min][{min}] cannot be greater than [extended_bounds.max][{max}] \
                 for histogram aggregation"
            )));
        }
        // As `LongBounds.round`: ends are rounded as if buckets began without the offset.
        let plain = Rounding { offset_ms: 0, ..rounding.clone() };
        let low = hard.min.map_or(i64::MIN, |min| plain.round(min));
        // The bucket that the end lies in is outside.
        let high = hard.max.map_or(i64::MAX, |max| plain.round(max));
        let begins = |end: Option<i64>| end.map(|ms| plain.round(ms));
        if let (Some(hard), Some(own)) = (&histogram.hard, &histogram.extended)
            && (begins(extended.min).is_some_and(|min| min < low)
                || begins(extended.max).is_some_and(|max| max > high))
        {
            return Err(outside(hard, own, |end| end.text().to_owned()));
        }
        // Empty buckets begin with it, as all do.
        let moved = |ms: i64| plain.round(ms).saturating_add(rounding.offset_ms);
        let bounds = (extended.min.map(moved), extended.max.map(moved));
        Ok(What::Time(source, rounding, (low, high), bounds))
    }

    pub(super) fn time_ends(
        &self,
        ends: Option<&Ends<Scalar>>,
        source: &Source,
        values: &Values,
    ) -> Result<Ends<i64>> {
        let one = |end: &Option<Scalar>| -> Result<Option<i64>> {
            end.as_ref()
                .map(|end| {
                    let raw =
                        number_of(end, source.form, &source.format, values, self.binder.context)?;
                    Ok(source.form.millis(raw))
                })
                .transpose()
        };
        match ends {
            None => Ok(Ends::default()),
            Some(ends) => Ok(Ends { min: one(&ends.min)?, max: one(&ends.max)? }),
        }
    }

    /// One end of a range as a double.
    pub(super) fn end(
        &self,
        end: &Option<Scalar>,
        source: &Source,
        values: &Values,
        dates: bool,
    ) -> Result<Option<f64>> {
        let Some(end) = end else { return Ok(None) };
        // Text is read as the field tells its dates, be it digits alone.
        let is_date = matches!((&source.format, end), (Format::Date { .. }, Scalar::String(_)));
        if !dates && !is_date {
            let number = end.text().parse::<f64>();
            if let Ok(number) = number {
                // As Elasticsearch: the end of a float's range is a float.
                return Ok(Some(match source.form {
                    Form::Float => f64::from(number as f32),
                    _ => number,
                }));
            }
        }
        let context = self.binder.context;
        if let (Format::Date { format, zone, .. }, text) = (&source.format, end.text()) {
            // A number is read as its format reads it: seconds may be meant.
            let text = match end {
                Scalar::Number(text) => match text.parse::<f64>() {
                    Ok(number) => &*(number as i64).to_string(),
                    Err(_) => text,
                },
                _ => text,
            };
            let round = mapping::types::date_format::Round::Down;
            let ms = mapping::types::date_math::parse_ms(
                format,
                text,
                context.now_ms,
                round,
                Some(zone),
            )?;
            return Ok(Some(ms as f64));
        }
        let raw = number_of(end, source.form, &source.format, values, context)?;
        Ok(Some(source.form.double(raw)))
    }
}
