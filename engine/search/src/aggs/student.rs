//! Student's distribution: how likely a value is at least so far from the middle.

/// The share of the distribution with so many degrees of freedom above `t >= 0`.
pub fn tail(t: f64, degrees: f64) -> f64 {
    0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))
}

/// The regularised incomplete beta function, by its continued fraction (Lentz).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let bounded = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / bounded(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for step in 1..=300 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / bounded(1.0 + even * d);
        c = bounded(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / bounded(1.0 + odd * d);
        c = bounded(1.0 + odd / c);
        let change = d * c;
        h *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    h
}

/// Logarithm of the gamma function (Lanczos).
fn ln_gamma(x: f64) -> f64 {
    const PARTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let t = x + 7.5;
    let sum = PARTS[1..]
        .iter()
        .zip(1..)
        .fold(PARTS[0], |sum, (part, at)| sum + part / (x + f64::from(at)));
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_students_distribution_hold() {
        // One-tailed 5 % and 0.5 % points.
        for (t, degrees, want) in
            [(6.314, 1.0, 0.05), (1.812, 10.0, 0.05), (3.169, 10.0, 0.005), (1.645, 1e6, 0.05)]
        {
            assert!((tail(t, degrees) - want).abs() < 2e-4, "{t} {degrees}");
        }
        assert_eq!(tail(0.0, 5.0), 0.5);
    }
}
