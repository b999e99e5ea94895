//! Content codings: gzip and deflate in, gzip out, both bounded.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::bufread::{MultiGzDecoder, ZlibDecoder};
use flate2::write::GzEncoder;

use crate::fault::Fault;

/// A coding that a body may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// `identity`, or none named.
    Identity,
    /// `gzip`, `x-gzip`.
    Gzip,
    /// `deflate`, `x-deflate`: a zlib stream.
    Deflate,
}

impl Coding {
    /// The coding of a `Content-Encoding` value; `None` where we do not know it.
    pub fn of(value: Option<&[u8]>) -> Option<Self> {
        let Some(value) = value else { return Some(Self::Identity) };
        let is = |name: &[u8]| value.eq_ignore_ascii_case(name);
        if value.is_empty() || is(b"identity") {
            Some(Self::Identity)
        } else if is(b"gzip") || is(b"x-gzip") {
            Some(Self::Gzip)
        } else if is(b"deflate") || is(b"x-deflate") {
            Some(Self::Deflate)
        } else {
            None
        }
    }
}

/// Undoes a coding. A large body takes its time: call it on a worker.
///
/// # Errors
/// Bytes that are not of that coding, and more than `bytes_max` bytes inside.
pub fn decode(coding: Coding, bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, Fault> {
    decode_within(coding, bytes, bytes_max, &mut |_| true)
}

/// As [`decode`], asking `room` before the whole takes so many bytes.
///
/// # Errors
/// As [`decode`], and as for too many bytes where `room` says no.
pub fn decode_within(
    coding: Coding,
    bytes: &[u8],
    bytes_max: usize,
    room: &mut dyn FnMut(usize) -> bool,
) -> Result<Vec<u8>, Fault> {
    match coding {
        Coding::Identity if bytes.len() > bytes_max || !room(bytes.len()) => {
            Err(Fault::BodyTooLong(bytes_max))
        }
        Coding::Identity => Ok(bytes.to_vec()),
        Coding::Gzip => drain(MultiGzDecoder::new(bytes), bytes.len(), bytes_max, room),
        Coding::Deflate => drain(ZlibDecoder::new(bytes), bytes.len(), bytes_max, room),
    }
}

fn drain(
    mut decoder: impl Read,
    packed: usize,
    bytes_max: usize,
    room: &mut dyn FnMut(usize) -> bool,
) -> Result<Vec<u8>, Fault> {
    // JSON shrinks to a fifth or so; the buffer doubles where that guess is short.
    let mut len = packed.saturating_mul(5).clamp(STEP_BYTES, bytes_max.max(STEP_BYTES));
    let (mut out, mut filled) = (Vec::new(), 0);
    loop {
        // While it moves to a larger place, both are there.
        if !room(len + filled) {
            return Err(Fault::BodyTooLong(bytes_max));
        }
        out.reserve_exact(len - filled);
        out.resize(len, 0);
        while filled < len {
            match decoder.read(&mut out[filled..]) {
                Ok(0) => {
                    out.truncate(filled);
                    return if filled > bytes_max {
                        Err(Fault::BodyTooLong(bytes_max))
                    } else {
                        Ok(out)
                    };
                }
                Ok(count) => filled += count,
                Err(_) => {
                    return Err(Fault::Malformed("the body is not of the coding that it names"));
                }
            }
        }
        if filled > bytes_max {
            return Err(Fault::BodyTooLong(bytes_max));
        }
        len = len.saturating_mul(2).min(bytes_max.saturating_add(1));
    }
}

/// The least buffer of an unpacked body.
const STEP_BYTES: usize = 16 * 1024;

/// Packs an answer with gzip, level 3 as Elasticsearch (`http.compression_level`).
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let room = Vec::with_capacity(bytes.len() / 4 + 64);
    let mut encoder = GzEncoder::new(room, Compression::new(3));
    encoder.write_all(bytes).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bodies_come_back() {
        let text = "the quick brown fox ".repeat(1_000);
        let packed = gzip(text.as_bytes());
        assert!(packed.len() < text.len() / 10);
        assert_eq!(decode(Coding::Gzip, &packed, text.len()).as_deref(), Ok(text.as_bytes()));
        let twice = [packed.clone(), packed.clone()].concat();
        assert_eq!(decode(Coding::Gzip, &twice, 1 << 20).map(|b| b.len()), Ok(text.len() * 2));
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let packed = gzip(&vec![b' '; 10_000_000]);
        assert!(packed.len() < 100_000);
        assert_eq!(decode(Coding::Gzip, &packed, 9_999_999), Err(Fault::BodyTooLong(9_999_999)));
        assert!(decode(Coding::Gzip, &packed, 10_000_000).is_ok());
    }

    #[test]
    fn room_is_asked_for_before_it_is_used() {
        let packed = gzip(&vec![b' '; 3_000_000]);
        let mut asked = Vec::new();
        let mut room = |bytes| {
            asked.push(bytes);
            bytes <= 1_000_000
        };
        let refused = decode_within(Coding::Gzip, &packed, 10_000_000, &mut room);
        assert_eq!(refused, Err(Fault::BodyTooLong(10_000_000)));
        assert!(asked.is_sorted() && asked.last() < Some(&3_000_000), "{asked:?}");
    }

    #[test]
    fn broken_bodies_are_refused() {
        let packed = gzip(b"hello");
        for end in 0..packed.len() {
            assert!(decode(Coding::Gzip, &packed[..end], 100).is_err(), "{end}");
        }
        assert!(decode(Coding::Gzip, b"plain text", 100).is_err());
        assert!(decode(Coding::Deflate, b"plain text", 100).is_err());
    }

    #[test]
    fn codings_are_known_by_name() {
        assert_eq!(Coding::of(None), Some(Coding::Identity));
        assert_eq!(Coding::of(Some(b"GZip")), Some(Coding::Gzip));
        assert_eq!(Coding::of(Some(b"deflate")), Some(Coding::Deflate));
        assert_eq!(Coding::of(Some(b"br")), None);
        assert_eq!(Coding::of(Some(b"gzip, gzip")), None);
    }
}
