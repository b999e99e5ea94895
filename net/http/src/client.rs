//! The other side, small: requests as bytes, answers from bytes. For tests and tools.

use crate::body::Body;
use crate::fault::Fault;
use crate::field;
use crate::head::{Finder, Framing, Method};
use crate::limits::Limits;

/// A request as bytes; the length of the body is added, `Host` too.
pub fn request(method: &str, target: &str, fields: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut out = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n").into_bytes();
    for (name, value) in fields {
        out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    if !body.is_empty() {
        out.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body);
    out
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its fields in order.
    pub fields: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Response {
    /// Reads the answer to a `method` request from the front of `bytes`; `None` while it is
    /// incomplete. Answers its length too. `100 Continue` is an answer of its own.
    ///
    /// # Errors
    /// Bytes that are no answer.
    pub fn parse(bytes: &[u8], method: Method) -> Result<Option<(Self, usize)>, Fault> {
        let limits = Limits { body_bytes_max: usize::MAX / 2, ..Limits::DEFAULT };
        let Some(head) = Finder::default().find(bytes, &limits)? else { return Ok(None) };
        let bad = Fault::Malformed("not the head of an answer");
        let mut headers = vec![httparse::EMPTY_HEADER; head / 4 + 1];
        let mut parsed = httparse::Response::new(&mut headers);
        if !parsed.parse(&bytes[..head]).is_ok_and(|status| status.is_complete()) {
            return Err(bad);
        }
        let status = parsed.code.ok_or(bad)?;
        let fields: Vec<(String, String)> = parsed
            .headers
            .iter()
            .map(|field| (field.name.to_owned(), String::from_utf8_lossy(field.value).into_owned()))
            .collect();
        let mut response = Self { status, fields, body: Vec::new() };
        let framing = response.framing(method)?;
        let mut body = Body::new(framing, &limits)?;
        let taken = body.feed(&bytes[head..])?;
        if !body.is_done() {
            return Ok(None);
        }
        response.body = body.into_bytes();
        Ok(Some((response, head + taken)))
    }

    fn framing(&self, method: Method) -> Result<Framing, Fault> {
        let bare = method == Method::Head || self.status < 200 || matches!(self.status, 204 | 304);
        if bare {
            return Ok(Framing::Empty);
        }
        if self.field("transfer-encoding").is_some_and(|value| value == "chunked") {
            return Ok(Framing::Chunked);
        }
        let length = self.field("content-length").ok_or(Fault::Malformed("no length"))?;
        match field::length(length.as_bytes()) {
            Some(0) => Ok(Framing::Empty),
            Some(length) => Ok(Framing::Length(length)),
            None => Err(Fault::Malformed("a Content-Length that is no number")),
        }
    }

    /// Value of the first field called `name`, case aside.
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_whole_or_not_at_all() {
        let bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhiHTTP/1.1";
        let (response, len) = Response::parse(bytes, Method::Get).expect("good").expect("whole");
        assert_eq!((response.status, response.text(), len), (200, "hi".to_owned(), 40));
        assert_eq!(Response::parse(&bytes[..39], Method::Get), Ok(None));
        let (response, len) = Response::parse(bytes, Method::Head).expect("good").expect("whole");
        assert_eq!((response.body.len(), len), (0, 38));
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
        let (response, _) = Response::parse(chunked, Method::Get).expect("good").expect("whole");
        assert_eq!(response.body, b"hi");
    }
}
