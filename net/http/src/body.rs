//! The body of a message, taken from the bytes as they come.
//!
//! [`Body`] knows from the head how the body ends and takes no byte beyond. Chunks are read
//! strictly: hex digits alone, CR LF alone, white space only where an extension follows (RFC 9112,
//! 7.1.1), extensions and trailers bounded, looked over and dropped.

use crate::fault::Fault;
use crate::field;
use crate::head::Framing;
use crate::limits::Limits;

/// A body on its way in.
#[derive(Debug)]
pub struct Body {
    state: State,
    /// Filled from the front; what lies behind `filled` is room.
    bytes: Vec<u8>,
    filled: usize,
    /// Nobody wants what comes.
    is_discarded: bool,
    limits: Limits,
}

#[derive(Debug)]
enum State {
    /// So many bytes are still to come.
    Length(u64),
    Chunked(Chunked),
    Done,
}

/// Memory that is taken at once for a body that only was announced, and the most that is ever copied to make room: of
/// a body that is larger than this, the place of all that may come is taken when so much of it has. What is not written
/// to takes an address, no memory. Doubling instead copied 12 MB at once of a body of 24, and held the core for as many
/// milliseconds.
const TRUST_BYTES: usize = 1024 * 1024;

/// The largest place that is taken at once for a body whose length is not told.
const PLACE_BYTES_MAX: usize = 128 * 1024 * 1024;

impl Body {
    /// The body that `framing` announces.
    ///
    /// # Errors
    /// A length beyond the limit, before any of it is read.
    pub fn new(framing: Framing, limits: &Limits) -> Result<Self, Fault> {
        let state = match framing {
            Framing::Empty => State::Done,
            Framing::Length(length) => {
                if length > limits.body_bytes_max as u64 {
                    return Err(Fault::BodyTooLong(limits.body_bytes_max));
                }
                State::Length(length)
            }
            Framing::Chunked => State::Chunked(Chunked::default()),
        };
        Ok(Self { state, bytes: Vec::new(), filled: 0, is_discarded: false, limits: *limits })
    }

    /// No body.
    pub fn none() -> Self {
        let limits = Limits { body_bytes_max: 0, ..Limits::DEFAULT };
        Self { state: State::Done, bytes: Vec::new(), filled: 0, is_discarded: false, limits }
    }

    /// Gives the bytes up that are here, and all that come: only where the body ends matters.
    pub fn discard(&mut self) {
        self.bytes = Vec::new();
        self.filled = 0;
        self.is_discarded = true;
    }

    /// Takes what belongs to the body from the front of `input`; answers how much.
    ///
    /// # Errors
    /// Chunks that are malformed, or more bytes than the limit.
    pub fn feed(&mut self, input: &[u8]) -> Result<usize, Fault> {
        match &mut self.state {
            State::Done => Ok(0),
            State::Length(left) => {
                let length = *left;
                let take =
                    usize::try_from(length).map_or(input.len(), |left| left.min(input.len()));
                let left = length - take as u64;
                self.state = if left == 0 { State::Done } else { State::Length(left) };
                if !self.is_discarded {
                    self.bytes.truncate(self.filled);
                    make_room(&mut self.bytes, take, length);
                    self.bytes.extend_from_slice(&input[..take]);
                    self.filled += take;
                }
                Ok(take)
            }
            State::Chunked(chunked) => {
                let taken = chunked.feed(input, &mut self.bytes, &self.limits)?;
                if self.is_discarded {
                    self.bytes.clear();
                }
                self.filled = self.bytes.len();
                if chunked.state == Chunk::End {
                    self.state = State::Done;
                }
                Ok(taken)
            }
        }
    }

    /// A place to read the rest of a body of known length into, at most `max` bytes; empty where
    /// bytes must go through [`Body::feed`]. Follow with [`Body::filled`].
    pub fn spare(&mut self, max: usize) -> &mut [u8] {
        let State::Length(left) = self.state else { return &mut [] };
        if self.is_discarded {
            return &mut [];
        }
        let room = usize::try_from(left).map_or(max, |left| left.min(max));
        if self.bytes.capacity() < self.filled + room {
            self.bytes.truncate(self.filled);
            make_room(&mut self.bytes, room, left);
        }
        if self.bytes.len() < self.filled + room {
            self.bytes.resize(self.filled + room, 0);
        }
        &mut self.bytes[self.filled..self.filled + room]
    }

    /// Of the place that [`Body::spare`] gave, the first `read` bytes were filled.
    pub fn filled(&mut self, read: usize) {
        assert!(self.filled + read <= self.bytes.len());
        self.filled += read;
        if let State::Length(left) = &mut self.state {
            *left -= read as u64;
            if *left == 0 {
                self.state = State::Done;
            }
        }
    }

    /// Is all of it here?
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Bytes taken so far.
    pub fn len(&self) -> usize {
        self.filled
    }

    /// No bytes so far?
    pub fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// The bytes that are here.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.filled);
        self.bytes
    }
}

/// Makes room behind `bytes` for `more`, where `left` may come in all.
fn make_room(bytes: &mut Vec<u8>, more: usize, left: u64) {
    let wanted = bytes.len() + more;
    if bytes.capacity() < wanted {
        let left = usize::try_from(left).unwrap_or(usize::MAX).max(more);
        let is_small = wanted <= TRUST_BYTES;
        bytes.reserve_exact(if is_small { left.min(TRUST_BYTES - bytes.len()) } else { left });
    }
}

/// Where in the chunks we are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Chunk {
    /// In the size; so many digits came.
    #[default]
    Size,
    /// After the size, in white space before an extension.
    Space,
    /// After the size, in extensions.
    Extension,
    /// After the CR of the size line.
    SizeLf,
    /// In the data.
    Data,
    /// After the data: CR, then LF.
    DataCr,
    DataLf,
    /// In a trailer line, or at its start.
    Trailer,
    /// After the CR of a trailer line.
    TrailerLf,
    /// Nothing more belongs to the body.
    End,
}

/// Reader of chunks.
#[derive(Debug, Default)]
struct Chunked {
    state: Chunk,
    /// The size being read, then data still to come.
    size: u64,
    digits: usize,
    line_bytes: usize,
    trailer: Vec<u8>,
    trailer_bytes: usize,
}

impl Chunked {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>, limits: &Limits) -> Result<usize, Fault> {
        let mut at = 0;
        while at < input.len() && self.state != Chunk::End {
            if self.state == Chunk::Data {
                let rest = &input[at..];
                let take = usize::try_from(self.size).map_or(rest.len(), |n| n.min(rest.len()));
                let left = limits.body_bytes_max.saturating_sub(out.len()).min(PLACE_BYTES_MAX);
                make_room(out, take, left as u64);
                out.extend_from_slice(&rest[..take]);
                self.size -= take as u64;
                at += take;
                if self.size == 0 {
                    self.state = Chunk::DataCr;
                }
                continue;
            }
            self.byte(input[at], out.len(), limits)?;
            at += 1;
        }
        Ok(at)
    }

    fn byte(&mut self, byte: u8, have: usize, limits: &Limits) -> Result<(), Fault> {
        let bad = Fault::Malformed("a chunk is not framed as it must be");
        self.state = match (self.state, byte) {
            (Chunk::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                if self.size >> 60 != 0 {
                    return Err(Fault::BodyTooLong(limits.body_bytes_max));
                }
                self.size = self.size << 4 | u64::from(digit);
                self.digits += 1;
                self.count(limits)?;
                Chunk::Size
            }
            (Chunk::Size, b'\r') if self.digits > 0 => Chunk::SizeLf,
            (Chunk::Size, b';') if self.digits > 0 => {
                self.count(limits)?;
                Chunk::Extension
            }
            (Chunk::Size, b' ' | b'\t') if self.digits > 0 => {
                self.count(limits)?;
                Chunk::Space
            }
            (Chunk::Space, b' ' | b'\t' | b';') => {
                self.count(limits)?;
                if byte == b';' { Chunk::Extension } else { Chunk::Space }
            }
            (Chunk::Extension, b'\r') => Chunk::SizeLf,
            (Chunk::Extension, b'\t' | b' '..=0x7e | 0x80..) => {
                self.count(limits)?;
                Chunk::Extension
            }
            (Chunk::SizeLf, b'\n') => self.size_line_ends(have, limits)?,
            (Chunk::DataCr, b'\r') => Chunk::DataLf,
            (Chunk::DataLf, b'\n') => Chunk::Size,
            (Chunk::Trailer, b'\r') => Chunk::TrailerLf,
            (Chunk::Trailer, b'\t' | b' '..=0x7e | 0x80..) => {
                self.trailer.push(byte);
                self.trailer_bytes += 1;
                if self.trailer_bytes > limits.head_bytes_max {
                    return Err(Fault::HeadTooLong(limits.head_bytes_max));
                }
                Chunk::Trailer
            }
            (Chunk::TrailerLf, b'\n') if self.trailer.is_empty() => Chunk::End,
            (Chunk::TrailerLf, b'\n') => {
                let colon = memchr::memchr(b':', &self.trailer);
                if !colon.is_some_and(|at| field::is_token(&self.trailer[..at])) {
                    return Err(Fault::Malformed("a trailer is no field"));
                }
                self.trailer.clear();
                self.trailer_bytes += 2;
                Chunk::Trailer
            }
            _ => return Err(bad),
        };
        Ok(())
    }

    fn size_line_ends(&mut self, have: usize, limits: &Limits) -> Result<Chunk, Fault> {
        self.digits = 0;
        self.line_bytes = 0;
        let room = limits.body_bytes_max.saturating_sub(have) as u64;
        if self.size > room {
            return Err(Fault::BodyTooLong(limits.body_bytes_max));
        }
        Ok(if self.size == 0 { Chunk::Trailer } else { Chunk::Data })
    }

    fn count(&mut self, limits: &Limits) -> Result<(), Fault> {
        self.line_bytes += 1;
        if self.line_bytes > limits.chunk_line_bytes_max {
            return Err(Fault::Malformed("the line of a chunk is too long"));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "body/tests.rs"]
mod tests;
