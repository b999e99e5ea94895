//! Functions of a window (Elasticsearch's `MovingFunctions`).

use crate::aggs::spec::MovingFn;
use crate::error::{Error, Result};

/// Applies a function to the values of a window; NaN where there is nothing to say.
///
/// # Errors
/// A season longer than the window allows.
pub fn apply(function: MovingFn, values: &[f64]) -> Result<f64> {
    let none = values.is_empty();
    let n = values.len() as f64;
    // Of none it is -0.0 otherwise.
    let sum = || values.iter().sum::<f64>() + 0.0;
    Ok(match function {
        MovingFn::Max => values.iter().copied().reduce(f64::max).unwrap_or(f64::NAN),
        MovingFn::Min => values.iter().copied().reduce(f64::min).unwrap_or(f64::NAN),
        MovingFn::Sum => sum(),
        MovingFn::Unweighted => {
            if none {
                f64::NAN
            } else {
                sum() / n
            }
        }
        MovingFn::StdDev => {
            if none {
                return Ok(f64::NAN);
            }
            let mean = sum() / n;
            (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt()
        }
        MovingFn::Linear => {
            if none {
                return Ok(f64::NAN);
            }
            let (mut total, mut weights) = (0.0, 1.0);
            for (value, weight) in values.iter().zip(1..) {
                total += value * f64::from(weight);
                weights += f64::from(weight);
            }
            total / weights
        }
        MovingFn::Ewma(alpha) => {
            let mut found = None;
            for value in values {
                found = Some(match found {
                    None => *value,
                    Some(before) => value * alpha + before * (1.0 - alpha),
                });
            }
            found.unwrap_or(f64::NAN)
        }
        MovingFn::Holt(alpha, beta) => holt(values, alpha, beta),
        MovingFn::HoltWinters(alpha, beta, gamma, period, multiplicative) => {
            return winters(values, [alpha, beta, gamma], period as usize, multiplicative);
        }
    })
}

fn holt(values: &[f64], alpha: f64, beta: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let (mut level, mut trend, mut last) = (0.0, 0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let (before, before_trend) = (level, trend);
        if at == 1 {
            (level, trend) = (*value, value - last);
            let _ = (before, before_trend);
        } else if at == 0 {
            level = *value;
        } else {
            level = alpha * value + (1.0 - alpha) * (before + before_trend);
            trend = beta * (level - before) + (1.0 - beta) * before_trend;
        }
        last = *value;
    }
    level
}

fn winters(values: &[f64], factors: [f64; 3], period: usize, multiplicative: bool) -> Result<f64> {
    let [alpha, beta, gamma] = factors;
    if values.is_empty() {
        return Ok(f64::NAN);
    }
    if period == 0 || values.len() < period * 2 {
        return Err(Error::illegal(format!(
            "Holt-Winters aggregation requires at least (2 * period == 2 * {period} == {}) \
             data-points to function.  Only [{}] were provided.",
            2 * period,
            values.len()
        )));
    }
    // Seasons of nothing would divide by nothing.
    let padding = if multiplicative { 0.000_000_000_1 } else { 0.0 };
    let values: Vec<f64> = values.iter().map(|value| value + padding).collect();
    let (mut level, mut trend) = (0.0, 0.0);
    for at in 0..period {
        level += values[at];
        trend += (values[at + period] - values[at]) / period as f64;
    }
    level /= period as f64;
    trend /= period as f64;
    let mut seasons = vec![0.0; values.len()];
    if level.abs() > 0.0 {
        for at in 0..period {
            seasons[at] = values[at] / level;
        }
    }
    for at in period..values.len() {
        let (before, before_trend) = (level, trend);
        let season = seasons[at - period];
        let value = values[at];
        let own = if multiplicative { value / season } else { value - season };
        level = alpha * own + (1.0 - alpha) * (before + before_trend);
        trend = beta * (level - before) + (1.0 - beta) * before_trend;
        seasons[at] = if multiplicative {
            gamma * (value / (before + before_trend)) + (1.0 - gamma) * season
        } else {
            gamma * (value - (before - before_trend)) + (1.0 - gamma) * season
        };
    }
    let season = seasons[values.len() - period];
    let found = level + trend;
    Ok(if multiplicative { found * season } else { found + season })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_functions_of_a_window() {
        let values = [1.0, 2.0, 6.0];
        for (function, want) in [
            (MovingFn::Max, 6.0),
            (MovingFn::Min, 1.0),
            (MovingFn::Sum, 9.0),
            (MovingFn::Unweighted, 3.0),
            (MovingFn::StdDev, (14.0f64 / 3.0).sqrt()),
            (MovingFn::Linear, 23.0 / 7.0),
            (MovingFn::Ewma(0.5), 3.75),
        ] {
            assert_eq!(apply(function, &values), Ok(want), "{function:?}");
        }
        assert!(apply(MovingFn::Max, &[]).is_ok_and(f64::is_nan));
        assert_eq!(apply(MovingFn::Sum, &[]), Ok(0.0));
    }

    #[test]
    fn a_season_needs_two_periods() {
        let function = MovingFn::HoltWinters(0.3, 0.1, 0.3, 2, false);
        assert!(apply(function, &[1.0, 2.0, 3.0]).is_err());
        assert!(apply(function, &[1.0, 2.0, 1.0, 2.0]).is_ok_and(f64::is_finite));
    }
}
