//! Values of settings that have a form of their own: times and sizes with a bound, levels, watermarks,
//! shares of memory, rates. In Elasticsearch's words where they are wrong.

use std::time::Duration;

use base::units;
use json::Value;

use crate::error::{Error, Result};
use crate::settings_table::Type;

pub(super) fn too_small(name: &str, text: &str, least: &str) -> Error {
    Error::argument(format!(
        "failed to parse value [{text}] for setting [{name}], must be >= [{least}]"
    ))
}

/// Is `-1` of this unit less than a millisecond below zero?
pub(super) fn is_below_minus_one(text: &str) -> bool {
    let unit =
        text.trim().trim_start_matches('-').trim_start_matches(|char: char| char.is_ascii_digit());
    matches!(unit.trim().to_ascii_lowercase().as_str(), "s" | "m" | "h" | "d")
}

/// A time; none for `-1`.
pub(super) fn time(name: &str, text: &str) -> Result<Option<Duration>> {
    units::time(name, text)
        .map_err(|reason| Error::Argument { reason, number: units::no_number_of_time(text) })
}

pub(super) fn time_from(name: &str, text: &str, least: &str) -> Result<Option<Duration>> {
    let time = time(name, text)?;
    let bound = units::time(name, least).unwrap_or_default();
    if time < bound { Err(too_small(name, text, least)) } else { Ok(time) }
}

pub(super) fn time_in(name: &str, text: &str, (least, most): (&str, &str)) -> Result<()> {
    let time = time_from(name, text, least)?;
    if time > units::time(name, most).unwrap_or_default() {
        return Err(Error::argument(format!(
            "failed to parse value [{text}] for setting [{name}], must be <= [{most}]"
        )));
    }
    Ok(())
}

pub(super) fn size(name: &str, text: &str) -> Result<Option<u64>> {
    units::bytes(name, text).map_err(|reason| {
        let cause = Box::new(Error::Parse { reason: reason.clone() });
        Error::Because { reason, cause }
    })
}

pub(super) fn size_from(name: &str, text: &str, least: &str) -> Result<()> {
    let bound = units::bytes(name, least).unwrap_or_default();
    if size(name, text)? < bound { Err(too_small(name, text, least)) } else { Ok(()) }
}

pub(super) fn float_in(name: &str, text: &str, min: f64, max: f64) -> Result<()> {
    let number: f64 = text.parse().map_err(|_| Error::Argument {
        reason: format!("Failed to parse value [{text}] for setting [{name}]"),
        number: Some(text.to_owned()),
    })?;
    let bound = match () {
        () if number > max => format!("must be <= {max:?}"),
        () if number >= min => return Ok(()),
        () => format!("must be >= {min:?}"),
    };
    Err(Error::argument(format!("Failed to parse value [{text}] for setting [{name}] {bound}")))
}

/// `true`, `false`, a share of one, or a size.
pub(super) fn compound(name: &str, text: &str) -> Result<()> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return Ok(());
    }
    let number = text.parse::<f64>();
    let fits = match number {
        Ok(share) => (0.0..=1.0).contains(&share),
        // -1 is a size elsewhere: none.
        Err(_) => matches!(units::bytes(name, text), Ok(Some(_))),
    };
    if fits {
        return Ok(());
    }
    Err(Error::Argument {
        reason: format!(
            "{name} must be a boolean, a non-negative byte size or a ratio in the interval [0..1] \
             but was: [{}]",
            number.as_ref().map_or_else(|_| text.to_owned(), |share| format!("{share:?}"))
        ),
        number: number.is_err().then(|| text.to_owned()),
    })
}

/// A level of log4j; other names are those of no level.
pub(super) fn level(text: &str) -> Result<()> {
    const KNOWN: [&str; 8] = ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"];
    let word = text.trim().to_uppercase();
    if KNOWN.contains(&word.as_str()) {
        return Ok(());
    }
    Err(Error::argument(format!("Unknown level constant [{word}].")))
}

/// A family of settings chooses nodes by attributes of any name; the names that end so choose by
/// address: `10.0.*,::1`.
pub(crate) fn addresses(name: &str, text: &str) -> Result<()> {
    if name.starts_with("cluster.remote.") && name.ends_with(".seeds") {
        return text.split(',').map(str::trim).filter(|part| !part.is_empty()).try_for_each(host);
    }
    if !["._ip", "._host_ip", "._publish_ip"].iter().any(|end| name.ends_with(end)) {
        return Ok(());
    }
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    for part in parts {
        if !part.contains('*') && part.parse::<std::net::IpAddr>().is_err() {
            return Err(Error::argument(format!("invalid IP address [{part}] for [{name}]")));
        }
    }
    Ok(())
}

/// `host:port`.
pub(crate) fn host(text: &str) -> Result<()> {
    match text.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>())) {
        Some((host, Ok(_))) if !host.is_empty() => Ok(()),
        Some((host, Err(_))) if !host.is_empty() => {
            Err(Error::argument("failed to parse port".to_owned()))
        }
        _ => Err(Error::argument(format!(
            "remote hosts need to be configured as [host:port], found [{text}] instead"
        ))),
    }
}

/// `40%`, or a size.
pub(super) fn memory(name: &str, text: &str) -> Result<()> {
    let Some(percent) = text.strip_suffix('%') else {
        return size(name, text).map(drop);
    };
    let reason = match percent.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => return Ok(()),
        Ok(_) => format!("percentage should be in [0-100], got [{percent}]"),
        Err(_) => format!("failed to parse [{percent}] as a double"),
    };
    let cause = Box::new(Error::Parse { reason: reason.clone() });
    Err(Error::Because { reason, cause })
}

/// `use-context`, or a count and a time.
pub(super) fn rate(text: &str) -> Result<()> {
    let wrong = || {
        Error::argument(format!(
            "parameter must contain a positive integer and a timevalue, i.e. 10/1m, but was [{text}]"
        ))
    };
    if text == "use-context" {
        return Ok(());
    }
    let (count, time) = text.split_once('/').ok_or_else(wrong)?;
    if count.parse::<i32>().map_err(|_| wrong())? < 0 {
        return Err(Error::argument(format!("rate [{count}] must be positive")));
    }
    match self::time("script.max_compilations_rate", time)? {
        Some(read) if !read.is_zero() => Ok(()),
        _ => Err(Error::argument(format!("time value [{time}] must be positive"))),
    }
}

/// The text of a value of this type that is a size of a number that is not whole: `1.5gb`.
pub(crate) fn fraction(ty: Type, value: &Value) -> Option<&str> {
    value.as_str().filter(|text| takes_sizes(ty) && units::is_fraction(text))
}

/// Are values of this type sizes?
pub(crate) fn takes_sizes(ty: Type) -> bool {
    use Type::{Bytes, BytesFrom, Compound, Memory, Watermark};
    matches!(ty, Bytes | BytesFrom(_) | Watermark | Memory | Compound)
}

/// A watermark of a disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Share {
    /// So much of it may be used, in percent.
    Percent(f64),
    /// So many bytes stay free.
    Bytes(u64),
}

impl Share {
    /// Reads `85%`, `0.85`, `10gb`.
    ///
    /// # Errors
    /// What is neither.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self> {
        let percent = match text.strip_suffix('%') {
            Some(percent) => percent.parse().ok(),
            None => text.parse::<f64>().ok().map(|ratio| ratio * 100.0),
        };
        if let Some(percent) = percent.filter(|percent| (0.0..=100.0).contains(percent)) {
            let is_zero = percent == 0.0 && !text.ends_with('%');
            return Ok(if is_zero { Self::Bytes(0) } else { Self::Percent(percent) });
        }
        match units::bytes(name, text) {
            Ok(bytes) => Ok(Self::Bytes(bytes.unwrap_or(0))),
            Err(cause) => Err(Error::Because {
                reason: format!("unable to parse [{name}={text}] as either percentage or bytes"),
                cause: Box::new(Error::Parse { reason: cause }),
            }),
        }
    }
}
