//! Values of settings: numbers, ports, sizes, yes and no. An error says what would be right.

use std::ops::RangeInclusive;
use std::time::Duration;

type Read<T> = Result<T, String>;

/// `true` or `false`, nothing else.
pub fn flag(text: &str) -> Read<bool> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("true or false".to_owned()),
    }
}

/// A whole number within `range`.
pub fn whole(text: &str, range: RangeInclusive<u64>) -> Read<u64> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("a whole number from {} to {}", range.start(), range.end()))
}

/// Ports to try in turn: `9200` or `9200-9300`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ports(pub RangeInclusive<u16>);

impl Ports {
    /// Reads `9200` or `9200-9300`.
    pub fn parse(text: &str) -> Read<Self> {
        let port = |text: &str| text.trim().parse::<u16>().ok();
        let range = match text.split_once('-') {
            Some((first, last)) => port(first).zip(port(last)).map(|(first, last)| first..=last),
            None => port(text).map(|port| port..=port),
        };
        let range = range.filter(|range| !range.is_empty());
        range.map(Self).ok_or_else(|| "a port like 9200, a range like 9200-9300, or 0".to_owned())
    }
}

/// The address under which applications know the server, without a slash at its end.
pub fn issuer(text: &str) -> Read<String> {
    let text = text.trim_end_matches('/');
    match net::oauth::redirect::is_issuer(text) {
        true => Ok(text.to_owned()),
        false => Err("an address that begins with https://, with a host in lower case and, if there are any, a port \
                      and a path of letters, digits, -, ., _ and ~, without empty parts or dots alone, query or fragment"
            .to_owned()),
    }
}

/// Bytes: a number with a unit (`512mb`, `2gb`), or a percentage of `all`.
pub fn memory(text: &str, all: u64) -> Read<u64> {
    let wanted = || "a size like 512mb or 2gb, or a share of the memory like 50%".to_owned();
    let lower = text.trim().to_ascii_lowercase();
    let asked = match lower.strip_suffix('%') {
        Some(share) => {
            let share: f64 = share.trim().parse().map_err(|_| wanted())?;
            if !(0.0..=100.0).contains(&share) || share == 0.0 {
                return Err(wanted());
            }
            Some((all as f64 * share / 100.0) as u64)
        }
        None => bytes(&lower),
    };
    asked.filter(|bytes| *bytes >= MEMORY_MIN).ok_or_else(|| {
        let mib = MEMORY_MIN >> 20;
        format!("{}, at least {mib}mb", wanted())
    })
}

/// A time with its unit, of at most a hundred years.
pub fn time(text: &str) -> Read<Duration> {
    let wanted = || "a time like 24h or 7d".to_owned();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().map_err(|_| wanted())?;
    let unit_ms: u64 = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wanted()),
    };
    let ms = number.checked_mul(unit_ms).filter(|ms| *ms <= 36_500 * 86_400_000);
    ms.map(Duration::from_millis).ok_or_else(wanted)
}

/// The least memory with which a node is worth starting.
const MEMORY_MIN: u64 = 16 << 20;

/// A size with Elasticsearch's units, which are powers of 1024.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim() {
        "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        _ => return None,
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift);
    }
    let number: f64 = number.parse().ok()?;
    let bytes = number * (1u64 << shift) as f64;
    (bytes < u64::MAX as f64).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node started with such, and all of its pages failed.
    #[test]
    fn an_issuer_that_no_browser_leads_to_is_refused() {
        for text in ["https://id.example:8443/es", "https://[::1]:9200"] {
            assert_eq!(issuer(text).as_deref(), Ok(text));
            assert_eq!(issuer(&format!("{text}/")).as_deref(), Ok(text));
        }
        for text in
            ["", "/", "https://", "http://a", "https://2130706433", "https://A", "https://a//b"]
        {
            assert!(issuer(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        for (text, expected) in [
            ("512mb", 512 << 20),
            ("2gb", 2 << 30),
            ("2 GB", 2 << 30),
            ("1.5g", 3 << 29),
            ("50%", 4 << 30),
            ("16777216b", 16 << 20),
        ] {
            assert_eq!(memory(text, 8 << 30), Ok(expected), "{text}");
        }
        for bad in [".1%", "", "gb", "12", "1kb", "1pb", "-1gb", "0%", "101%", "x%", "1.2.3gb"] {
            assert!(memory(bad, 8 << 30).is_err(), "{bad}");
        }
    }

    #[test]
    fn ports_are_one_or_a_range() {
        assert_eq!(Ports::parse("9200"), Ok(Ports(9200..=9200)));
        assert_eq!(Ports::parse("9200-9300"), Ok(Ports(9200..=9300)));
        assert_eq!(Ports::parse("0"), Ok(Ports(0..=0)));
        for bad in ["", "-", "9300-9200", "70000", "http", "1-2-3"] {
            assert!(Ports::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_read_with_their_units() {
        for (text, seconds) in
            [("0s", 0), ("90s", 90), ("5m", 300), ("24h", 86_400), ("7d", 604_800)]
        {
            assert_eq!(time(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(time("1500ms"), Ok(Duration::from_millis(1_500)));
        for text in
            ["", "7", "d", "-1d", "7 d", "1.5h", "36501d", "99999999999999999999s", "7D", "é"]
        {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn flags_and_numbers_are_strict() {
        assert_eq!(flag("true"), Ok(true));
        assert!(flag("True").is_err());
        assert_eq!(whole("4", 1..=8), Ok(4));
        assert!(whole("0", 1..=8).is_err());
        assert!(whole("4.0", 1..=8).is_err());
    }
}
