//! Texts that become values: dates, their formats and math, zones, points, geohashes, addresses,
//! versions, ranges, numbers, times and sizes. Before the first line break stands a pattern or
//! option, behind it the text. What is printed reads back as what it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mapping::types::date_format::Round;
use mapping::types::{DateFormat, date_math, geo, ip, version, zone::Zone};

const NOW_MS: i64 = 1_700_000_000_000;

/// Years that every format can print.
const YEARS_MS: std::ops::Range<i64> = -62_135_596_800_000..253_402_300_800_000;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let (option, text) = input.split_once('\n').unwrap_or(("strict_date_optional_time", input));
    if let Ok(format) = DateFormat::parse_pattern(option) {
        let zone = Zone::parse("Europe/Berlin").expect("it is there");
        for round in [Round::Down, Round::Up] {
            let _ = date_math::parse_ms(&format, text, NOW_MS, round, Some(&zone));
        }
        assert_eq!(format.reads(text), format.parse(text, None, Round::Down).is_ok());
        if let Ok(ms) = format.parse_ms(text) {
            let shown = format.print_ms(ms);
            // A format may leave parts out: what is printed reads back as something that prints so.
            // (A pattern of one's own may print what it reads otherwise: `y[y]`, `yy_`.)
            if option.split("||").all(is_name)
                && YEARS_MS.contains(&ms)
                && let Ok(again) = format.parse_ms(&shown)
                && YEARS_MS.contains(&again)
            {
                assert_eq!(format.print_ms(again), shown, "[{option}] [{text}]");
            }
        }
    }
    if let Ok(zone) = Zone::parse(option) {
        let offset = zone.offset_ms(NOW_MS);
        assert!(offset.abs() <= 18 * 3_600_000, "{option}");
    }
    for ignore_z in [false, true] {
        if let Ok(point) = geo::parse_text(text, ignore_z)
            && let Some(point) = geo::normalize(point)
        {
            let again = geo::decode(geo::encode(point));
            assert_eq!(geo::encode(again), geo::encode(point), "coding settles at once");
        }
    }
    if let Ok((low, high)) = geo::geohash_cell(text) {
        let middle =
            geo::Point { lat: (low.lat + high.lat) / 2.0, lon: (low.lon + high.lon) / 2.0 };
        if text.len() <= 10 {
            assert_eq!(geo::geohash(middle, text.len()), text.to_ascii_lowercase());
        }
    }
    if let Ok(address) = ip::parse(text) {
        assert_eq!(ip::parse(&ip::show(address)), Ok(address));
    }
    if let Ok((low, high)) = ip::parse_query(text) {
        assert!(low <= high, "{text}");
    }
    let term = version::encode(text);
    assert_eq!(version::decode(&term), text, "a version reads back");
    let _ = base::units::time("x", text);
    if let Ok(Some(bytes)) = base::units::bytes("x", text) {
        let _ = bytes;
    }
    let _ = net::params::flag(text);
    let decimal = search::aggs::format::Decimal::parse(option);
    assert_eq!(decimal.print(1234.5), decimal.print(1234.5));
    let value = json::Value::from(text);
    let _ = geo::parse_point(&value, true);
});

/// Whether it is the name of a format: nothing that a pattern could begin with a text before it.
fn is_name(option: &str) -> bool {
    DateFormat::parse_pattern(&format!("''{option}")).is_err()
}
