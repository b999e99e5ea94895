//! The head of a request: request line and header fields.
//!
//! httparse does the parsing; it is lenient where we must not be, so before it runs every line end
//! is checked to be CR LF, and after it ran the fields that tell the length of the message are
//! checked to tell one length.
//!
//! Always true of a [`Head`]
//! 1. Names are tokens; values hold no CR, LF or NUL and no blanks at their ends.
//! 2. `framing` is the only reading of the body's length: both `Content-Length` and
//!    `Transfer-Encoding`, either of them twice, a list, or any coding but `chunked` is refused.
//! 3. No line continues another (obs-fold).

use std::ops::Range;

use crate::fault::Fault;
use crate::field;
use crate::limits::Limits;

/// Methods that any route may know; others are kept as text for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `DELETE`.
    Delete,
    /// `HEAD`.
    Head,
    /// `OPTIONS`.
    Options,
    /// `PATCH`, `TRACE`, `CONNECT`, and whatever else a token can say.
    Other,
}

impl Method {
    /// The method of a token.
    pub fn of(token: &str) -> Self {
        match token {
            "GET" => Self::Get,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "DELETE" => Self::Delete,
            "HEAD" => Self::Head,
            "OPTIONS" => Self::Options,
            _ => Self::Other,
        }
    }

    /// Its name; `-` for [`Method::Other`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Head => "HEAD",
            Self::Options => "OPTIONS",
            Self::Other => "-",
        }
    }
}

/// Version of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0: closes after its answer unless asked not to; knows no chunks.
    Http10,
    /// HTTP/1.1.
    Http11,
}

/// How the body of a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is no body.
    Empty,
    /// So many bytes follow, more than none.
    Length(u64),
    /// Chunks follow.
    Chunked,
}

/// A request's head, with its own copy of the bytes.
#[derive(Clone, Debug)]
pub struct Head {
    bytes: Box<[u8]>,
    method: Method,
    method_len: u32,
    target: Range<u32>,
    version: Version,
    fields: Vec<Span>,
    framing: Framing,
    host_fault: Option<&'static str>,
    keep_alive: bool,
    expects_continue: bool,
}

/// Where a field's name and value stand.
#[derive(Clone, Copy, Debug)]
struct Span {
    name: u32,
    name_len: u32,
    value: u32,
    value_len: u32,
}

/// Finds the end of a head in a buffer that grows, looking at each byte once.
#[derive(Clone, Debug, Default)]
pub struct Finder {
    seen: usize,
    line_end: Option<usize>,
    line_start: usize,
}

impl Finder {
    /// The length of the head at the front of `buffer`, its last empty line included; `None` while
    /// it is incomplete. Call again with the same buffer, grown.
    ///
    /// # Errors
    /// A line end that is not CR LF, a line or head too long.
    pub fn find(&mut self, buffer: &[u8], limits: &Limits) -> Result<Option<usize>, Fault> {
        // A TLS greeting and other strangers are told at once, not after the time for a head.
        if buffer.first().is_some_and(|byte| *byte != b'\r' && !field::is_token(&[*byte])) {
            return Err(Fault::Malformed("a request begins with its method"));
        }
        while let Some(found) = memchr::memchr2(b'\r', b'\n', &buffer[self.seen..]) {
            let at = self.seen + found;
            if buffer[at] == b'\n' {
                return Err(Fault::Malformed("a line feed without a carriage return"));
            }
            self.bound(at, limits)?;
            match buffer.get(at + 1) {
                Some(b'\n') => {}
                Some(_) => return Err(Fault::Malformed("a carriage return without a line feed")),
                None => {
                    self.seen = at;
                    return Ok(None);
                }
            }
            self.seen = at + 2;
            if at == 0 {
                return Err(Fault::Malformed("an empty line before the head"));
            }
            if self.line_end.is_none() {
                self.line_end = Some(at);
            } else if at == self.line_start {
                return Ok(Some(at + 2));
            }
            self.line_start = at + 2;
        }
        self.seen = buffer.len();
        self.bound(self.seen, limits)?;
        Ok(None)
    }

    /// The head at the front of `buffer` and its length; `None` while it is incomplete.
    ///
    /// # Errors
    /// As [`Finder::find`] and [`Head::parse`].
    pub fn take(&mut self, buffer: &[u8], limits: &Limits) -> Result<Option<(Head, usize)>, Fault> {
        let Some(len) = self.find(buffer, limits)? else { return Ok(None) };
        *self = Self::default();
        Ok(Some((Head::measured(&buffer[..len])?, len)))
    }

    fn bound(&self, at: usize, limits: &Limits) -> Result<(), Fault> {
        match self.line_end {
            None if at > limits.line_bytes_max => Err(Fault::LineTooLong(limits.line_bytes_max)),
            Some(end) if at - end - 2 > limits.head_bytes_max => {
                Err(Fault::HeadTooLong(limits.head_bytes_max))
            }
            _ => Ok(()),
        }
    }
}

/// Empty lines before a request, which are passed over (RFC 9112, section 2.2): how many bytes.
/// To be asked again while the buffer holds less than a line.
pub fn leading_blank_lines(buffer: &[u8]) -> usize {
    let mut at = 0;
    while buffer[at..].starts_with(b"\r\n") {
        at += 2;
    }
    at
}

/// Fields that most requests stay within; more are read with a larger table.
const FIELDS_USUAL: usize = 48;

impl Head {
    /// The memory that it takes beside itself.
    pub fn held_bytes(&self) -> usize {
        self.bytes.len() + self.fields.len() * size_of::<Span>()
    }

    /// Reads a whole head, as [`Finder::find`] has measured it.
    ///
    /// # Errors
    /// What the grammar forbids, and lengths that can be read in two ways.
    pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Self, Fault> {
        // Checked here too, so that a head is strict whoever measured it.
        if Finder::default().find(bytes, limits)? != Some(bytes.len()) {
            return Err(Fault::Malformed("not one whole head"));
        }
        Self::measured(bytes)
    }

    /// Reads a head that a [`Finder`] has measured: its lines end as they must.
    fn measured(bytes: &[u8]) -> Result<Self, Fault> {
        let mut usual = [httparse::EMPTY_HEADER; FIELDS_USUAL];
        let mut request = httparse::Request::new(&mut usual);
        match request.parse(bytes) {
            Ok(httparse::Status::Complete(len)) if len == bytes.len() => {
                Self::checked(bytes, &request)
            }
            Err(httparse::Error::TooManyHeaders) => {
                // A field takes four bytes at least: `a:` and its line end.
                let mut many = vec![httparse::EMPTY_HEADER; bytes.len() / 4 + 1];
                let mut request = httparse::Request::new(&mut many);
                match request.parse(bytes) {
                    Ok(httparse::Status::Complete(len)) if len == bytes.len() => {
                        Self::checked(bytes, &request)
                    }
                    _ => Err(Fault::Malformed("not a request head")),
                }
            }
            _ => Err(Fault::Malformed("not a request head")),
        }
    }

    fn checked(bytes: &[u8], request: &httparse::Request<'_, '_>) -> Result<Self, Fault> {
        let malformed = Fault::Malformed("not a request head");
        let method = request.method.ok_or(malformed)?;
        let target = request.path.ok_or(malformed)?;
        let version = match request.version {
            Some(0) => Version::Http10,
            Some(1) => Version::Http11,
            _ => return Err(malformed),
        };
        let mut meaning = Meaning::new(version);
        let mut fields = Vec::with_capacity(request.headers.len());
        for header in request.headers.iter() {
            // httparse takes tokens for names, and no control character but tab in values: the
            // tests try every byte, so that a change there would be seen here.
            let (name, value) = (header.name.as_bytes(), field::trim(header.value));
            meaning.read(name, value)?;
            fields.push(Span {
                name: offset(bytes, name),
                name_len: cut(name.len()),
                value: offset(bytes, value),
                value_len: cut(value.len()),
            });
        }
        let start = offset(bytes, target.as_bytes());
        Ok(Self {
            bytes: bytes.into(),
            method: Method::of(method),
            method_len: cut(method.len()),
            target: start..start + cut(target.len()),
            version,
            fields,
            framing: meaning.framing()?,
            host_fault: meaning.host_fault(),
            keep_alive: meaning.keep_alive(),
            expects_continue: meaning.expects_continue && version == Version::Http11,
        })
    }

    /// What is wrong with the `Host` (RFC 9112, section 3.2): HTTP/1.1 has one, though it may be empty, and what
    /// stands there is a host with or without a port.
    pub fn host_fault(&self) -> Option<&'static str> {
        self.host_fault
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The method as it was sent.
    pub fn method_text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.method_len as usize]).unwrap_or_default()
    }

    /// The request target as it was sent.
    pub fn target(&self) -> &[u8] {
        &self.bytes[self.target.start as usize..self.target.end as usize]
    }

    /// The version.
    pub fn version(&self) -> Version {
        self.version
    }

    /// How the body ends.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// May another request follow on the connection?
    pub fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// The client waits for `100 Continue` before it sends the body.
    pub fn expects_continue(&self) -> bool {
        self.expects_continue
    }

    /// Value of the first field called `name` (case aside).
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        self.fields.iter().find(|span| self.is_named(span, name)).map(|span| self.value(span))
    }

    /// Value of the first field called `name`, where it is UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.field(name)?).ok()
    }

    /// Values of all fields called `name` (case aside), in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields.iter().filter(|span| self.is_named(span, name)).map(|span| self.value(span))
    }

    /// All fields in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.fields.iter().map(|span| {
            (std::str::from_utf8(self.name(span)).unwrap_or_default(), self.value(span))
        })
    }

    fn name(&self, span: &Span) -> &[u8] {
        &self.bytes[span.name as usize..(span.name + span.name_len) as usize]
    }

    fn value(&self, span: &Span) -> &[u8] {
        &self.bytes[span.value as usize..(span.value + span.value_len) as usize]
    }

    fn is_named(&self, span: &Span, name: &str) -> bool {
        span.name_len as usize == name.len()
            && self.name(span).eq_ignore_ascii_case(name.as_bytes())
    }
}

/// What the fields say about the message as a whole, read in one pass.
struct Meaning<'a> {
    version: Version,
    length: Option<&'a [u8]>,
    coding: Option<&'a [u8]>,
    host: Option<&'a [u8]>,
    closes: bool,
    keeps: bool,
    expects_continue: bool,
}

impl<'a> Meaning<'a> {
    fn new(version: Version) -> Self {
        Self {
            version,
            length: None,
            coding: None,
            host: None,
            closes: false,
            keeps: false,
            expects_continue: false,
        }
    }

    fn read(&mut self, name: &[u8], value: &'a [u8]) -> Result<(), Fault> {
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        match name.len() {
            4 if is(b"host") => once(&mut self.host, value, "more than one Host")?,
            6 if is(b"expect") => {
                let known = value.eq_ignore_ascii_case(b"100-continue");
                if !known || std::mem::replace(&mut self.expects_continue, true) {
                    return Err(Fault::Expectation);
                }
            }
            10 if is(b"connection") => {
                for option in field::list(value) {
                    self.closes |= option.eq_ignore_ascii_case(b"close");
                    self.keeps |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            14 if is(b"content-length") => {
                once(&mut self.length, value, "more than one Content-Length")?;
            }
            17 if is(b"transfer-encoding") => {
                once(&mut self.coding, value, "more than one Transfer-Encoding")?;
            }
            _ => {}
        }
        Ok(())
    }

    fn framing(&self) -> Result<Framing, Fault> {
        match (self.length, self.coding) {
            (Some(_), Some(_)) => {
                Err(Fault::Malformed("both Content-Length and Transfer-Encoding"))
            }
            (None, Some(_)) if self.version == Version::Http10 => {
                Err(Fault::Malformed("Transfer-Encoding in HTTP/1.0"))
            }
            (None, Some(coding)) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Framing::Chunked),
            (None, Some(_)) => Err(Fault::Malformed("a Transfer-Encoding other than chunked")),
            (None, None) => Ok(Framing::Empty),
            (Some(digits), None) => match field::length(digits) {
                Some(0) => Ok(Framing::Empty),
                Some(length) => Ok(Framing::Length(length)),
                None => Err(Fault::Malformed("a Content-Length that is no number")),
            },
        }
    }

    fn host_fault(&self) -> Option<&'static str> {
        match self.host {
            None if self.version == Version::Http11 => Some("no Host"),
            Some(value) if !field::is_host(value) => Some("a Host that is none"),
            _ => None,
        }
    }

    fn keep_alive(&self) -> bool {
        !self.closes && (self.keeps || self.version == Version::Http11)
    }
}

/// Keeps the value of a field that may stand once.
fn once<'a>(
    place: &mut Option<&'a [u8]>,
    value: &'a [u8],
    more: &'static str,
) -> Result<(), Fault> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Fault::Malformed(more)),
    }
}

/// Where a piece that httparse cut out of `bytes` begins.
fn offset(bytes: &[u8], piece: &[u8]) -> u32 {
    let at = (piece.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
    if piece.is_empty() || at > bytes.len() { 0 } else { cut(at) }
}

fn cut(len: usize) -> u32 {
    u32::try_from(len).expect("a head is bounded")
}

#[cfg(test)]
#[path = "head/tests.rs"]
mod tests;
