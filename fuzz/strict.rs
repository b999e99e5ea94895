//! HTTP/1.1 framing a second time: simple and strict, over whole bytes, written from RFC 9112 alone.
//!
//! It shares no line with `net/http`. Both are given the same bytes, and must cut them into the same
//! requests with the same bodies; where this one refuses, so must that one.

use http::Limits;

/// One request as it was cut out.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    pub method: Vec<u8>,
    pub target: Vec<u8>,
    pub body: Vec<u8>,
}

/// How the bytes ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// In the middle of a request, or after one.
    Open,
    /// In something that is none.
    Refused,
}

/// Cuts bytes into requests.
pub fn read(mut bytes: &[u8], limits: &Limits) -> (Vec<Request>, End) {
    let mut found = Vec::new();
    loop {
        while bytes.starts_with(b"\r\n") {
            bytes = &bytes[2..];
        }
        match one(bytes, limits) {
            Cut::Whole(request, used) => {
                found.push(request);
                bytes = &bytes[used..];
            }
            Cut::Open => return (found, End::Open),
            Cut::Refused => return (found, End::Refused),
        }
    }
}

enum Cut<T> {
    Whole(T, usize),
    Open,
    Refused,
}

fn one(bytes: &[u8], limits: &Limits) -> Cut<Request> {
    let Some(head_len) = find(bytes, b"\r\n\r\n") else { return Cut::Open };
    let lines = lines(&bytes[..head_len]);
    let (first, fields) = (lines[0], &lines[1..]);
    let fields_len: usize = fields.iter().map(|line| line.len() + 2).sum();
    if first.len() > limits.line_bytes_max || fields_len > limits.head_bytes_max {
        return Cut::Refused;
    }
    let Some((method, target, minor)) = request_line(first) else { return Cut::Refused };
    let (mut length, mut coding, mut hosts, mut expects) = (None, None, 0, 0);
    for line in fields {
        let Some((name, value)) = field(line) else { return Cut::Refused };
        match name.as_str() {
            "content-length" if length.replace(value.clone()).is_some() => return Cut::Refused,
            "transfer-encoding" if coding.replace(value.clone()).is_some() => return Cut::Refused,
            "host" => hosts += 1,
            "expect" if value.to_ascii_lowercase() != b"100-continue" => return Cut::Refused,
            "expect" => expects += 1,
            _ => {}
        }
    }
    if hosts > 1 || expects > 1 {
        return Cut::Refused;
    }
    let rest = &bytes[head_len + 4..];
    let body = match (length, coding) {
        (None, None) => Cut::Whole(Vec::new(), 0),
        (Some(_), Some(_)) => return Cut::Refused,
        (None, Some(coding)) => {
            if minor == b'0' || coding.to_ascii_lowercase() != b"chunked" {
                return Cut::Refused;
            }
            chunks(rest, limits)
        }
        (Some(digits), None) => {
            if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                return Cut::Refused;
            }
            let digits = String::from_utf8(digits).expect("digits");
            match digits.parse::<usize>() {
                Ok(len) if len <= limits.body_bytes_max => match rest.get(..len) {
                    Some(body) => Cut::Whole(body.to_vec(), len),
                    None => return Cut::Open,
                },
                _ => return Cut::Refused,
            }
        }
    };
    match body {
        Cut::Whole(body, used) => Cut::Whole(Request { method, target, body }, head_len + 4 + used),
        Cut::Open => Cut::Open,
        Cut::Refused => Cut::Refused,
    }
}

fn request_line(line: &[u8]) -> Option<(Vec<u8>, Vec<u8>, u8)> {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [method, target, version] = words.as_slice() else { return None };
    let minor = match *version {
        b"HTTP/1.0" => b'0',
        b"HTTP/1.1" => b'1',
        _ => return None,
    };
    let visible = |byte: &u8| matches!(byte, 0x21..=0x7e | 0x80..);
    // Raw UTF-8 is taken, as many clients send it; other bytes are not.
    let text = std::str::from_utf8(target).is_ok();
    let fits = token(method) && !target.is_empty() && text && target.iter().all(visible);
    fits.then(|| (method.to_vec(), target.to_vec(), minor))
}

fn field(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    if !token(name) || !value.iter().all(|byte| matches!(byte, b'\t' | 0x20..=0x7e | 0x80..)) {
        return None;
    }
    let mut value = value;
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    Some((String::from_utf8(name.to_ascii_lowercase()).ok()?, value.to_vec()))
}

fn token(bytes: &[u8]) -> bool {
    const SIGNS: &[u8] = b"!#$%&'*+-.^_`|~";
    !bytes.is_empty() && bytes.iter().all(|b| b.is_ascii_alphanumeric() || SIGNS.contains(b))
}

fn chunks(bytes: &[u8], limits: &Limits) -> Cut<Vec<u8>> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let Some(len) = find(&bytes[at..], b"\r\n") else { return Cut::Open };
        let line = &bytes[at..at + len];
        at += len + 2;
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let extension = &line[digits..];
        let named = extension.trim_ascii_start();
        let fits = extension.is_empty() || named.first() == Some(&b';');
        let legal = extension.iter().all(|byte| matches!(byte, b'\t' | 0x20..=0x7e | 0x80..));
        if digits == 0 || !fits || !legal || line.len() > limits.chunk_line_bytes_max {
            return Cut::Refused;
        }
        let mut size: u128 = 0;
        for digit in &line[..digits] {
            size =
                (size * 16 + u128::from((*digit as char).to_digit(16).unwrap_or(0))).min(1 << 64);
        }
        if size > (limits.body_bytes_max - body.len()) as u128 {
            return Cut::Refused;
        }
        let size = size as usize;
        if size == 0 {
            break;
        }
        let Some(data) = bytes.get(at..at + size) else { return Cut::Open };
        let Some(end) = bytes.get(at + size..at + size + 2) else { return Cut::Open };
        if end != b"\r\n" {
            return Cut::Refused;
        }
        body.extend_from_slice(data);
        at += size + 2;
    }
    let mut trailers = 0;
    loop {
        let Some(len) = find(&bytes[at..], b"\r\n") else { return Cut::Open };
        let line = &bytes[at..at + len];
        at += len + 2;
        if line.is_empty() {
            return Cut::Whole(body, at);
        }
        if field(line).is_none() || trailers + line.len() > limits.head_bytes_max {
            return Cut::Refused;
        }
        trailers += line.len() + 2;
    }
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let (mut found, mut rest) = (Vec::new(), bytes);
    while let Some(at) = find(rest, b"\r\n") {
        found.push(&rest[..at]);
        rest = &rest[at + 2..];
    }
    found.push(rest);
    found
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
