//! The head of an answer, as bytes.

/// Standard words of a status.
pub const fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Request Entity Too Large",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Unknown Status",
    }
}

/// What a client that waits with its body is told.
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Appends the head of an answer, field by field.
#[derive(Debug)]
pub struct Answer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Answer<'a> {
    /// Begins with the status line.
    pub fn new(out: &'a mut Vec<u8>, status: u16) -> Self {
        debug_assert!((100..1000).contains(&status));
        out.extend_from_slice(b"HTTP/1.1 ");
        let digits = [status / 100 % 10, status / 10 % 10, status % 10];
        out.extend(digits.map(|digit| b'0' + u8::try_from(digit).expect("one digit")));
        out.push(b' ');
        out.extend_from_slice(reason(status).as_bytes());
        out.extend_from_slice(b"\r\n");
        Self { out }
    }

    /// A field. Bytes that would end it early are left out: no value splits an answer.
    pub fn field(&mut self, name: &str, value: &[u8]) -> &mut Self {
        debug_assert!(crate::field::is_token(name.as_bytes()));
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b": ");
        if value.iter().any(|byte| *byte < b' ' || *byte == 0x7f) {
            let safe = |byte: &&u8| **byte >= b' ' && **byte != 0x7f;
            self.out.extend(value.iter().filter(safe));
        } else {
            self.out.extend_from_slice(value);
        }
        self.out.extend_from_slice(b"\r\n");
        self
    }

    /// Ends the head of an answer that has no body by its status, and so no length of one (RFC 9110, section 8.6).
    pub fn end(self) {
        self.out.extend_from_slice(b"\r\n");
    }

    /// Ends the head: the length of the body, then the empty line.
    pub fn length(self, length: usize) {
        self.out.extend_from_slice(b"content-length: ");
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut left = length;
        loop {
            at -= 1;
            digits[at] = b'0' + u8::try_from(left % 10).expect("one digit");
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.out.extend_from_slice(&digits[at..]);
        self.out.extend_from_slice(b"\r\n\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_lines() {
        let mut out = Vec::new();
        let mut answer = Answer::new(&mut out, 404);
        answer.field("X-elastic-product", b"Elasticsearch").field("x", b"a\r\nset-cookie: b");
        answer.length(120);
        assert_eq!(
            String::from_utf8_lossy(&out),
            "HTTP/1.1 404 Not Found\r\nX-elastic-product: Elasticsearch\r\nx: aset-cookie: b\r\n\
             content-length: 120\r\n\r\n"
        );
    }
}
