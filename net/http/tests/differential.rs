//! The reader of requests against a second one, written line by line as RFC 9112 says, slow and
//! plain: both must take the same requests and see the same in them, whatever bytes come.

use http::{Body, Fault, Head, Limits};
use proptest::prelude::*;

/// What either reader sees.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    method: String,
    target: Vec<u8>,
    fields: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    rest: Vec<u8>,
}

/// The crate's reading, fed `step` bytes at a time; `None` where incomplete.
fn ours(bytes: &[u8], step: usize) -> Result<Option<Seen>, Fault> {
    let limits = Limits::DEFAULT;
    let mut finder = http::head::Finder::default();
    let mut end = 0;
    let head_len = loop {
        end = (end + step).min(bytes.len());
        match finder.find(&bytes[..end], &limits)? {
            Some(len) => break len,
            None if end == bytes.len() => return Ok(None),
            None => {}
        }
    };
    let head = Head::parse(&bytes[..head_len], &limits)?;
    let mut body = Body::new(head.framing(), &limits)?;
    let mut at = head_len;
    for piece in bytes[head_len..].chunks(step) {
        if body.is_done() {
            break;
        }
        at += body.feed(piece)?;
    }
    if !body.is_done() {
        return Ok(None);
    }
    Ok(Some(Seen {
        method: head.method_text().to_owned(),
        target: head.target().to_vec(),
        fields: head.fields().map(|(name, value)| (name.to_lowercase(), value.to_vec())).collect(),
        body: body.into_bytes(),
        rest: bytes[at..].to_vec(),
    }))
}

enum Plain {
    Bad,
    Incomplete,
    Whole(Seen),
}

/// The second reading: everything at once, by lines.
fn plain(bytes: &[u8]) -> Plain {
    let Some(head_len) = position(bytes, b"\r\n\r\n").map(|at| at + 4) else {
        return if lines_end_well(bytes, true) { Plain::Incomplete } else { Plain::Bad };
    };
    let head = &bytes[..head_len];
    if !lines_end_well(head, false) {
        return Plain::Bad;
    }
    let text: String = head.iter().map(|byte| char::from(*byte)).collect();
    let mut lines = text[..text.len() - 4].split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, version] = first[..] else { return Plain::Bad };
    let good_target = |c: char| c > ' ' && c != '\u{7f}';
    let target: Vec<u8> = target.chars().map(|c| c as u8).collect();
    let target = match String::from_utf8(target) {
        Ok(target) if !target.is_empty() && target.chars().all(good_target) => target,
        _ => return Plain::Bad,
    };
    if !token(method) {
        return Plain::Bad;
    }
    if version != "HTTP/1.1" && version != "HTTP/1.0" {
        return Plain::Bad;
    }
    let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { return Plain::Bad };
        let value = value.trim_matches([' ', '\t']);
        let bad = |c: char| (c < ' ' && c != '\t') || c == '\u{7f}';
        if !token(name) || value.chars().any(bad) {
            return Plain::Bad;
        }
        fields.push((name.to_lowercase(), value.chars().map(|c| c as u8).collect()));
    }
    let values = |name: &str| -> Vec<&Vec<u8>> {
        fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value).collect()
    };
    let expect = values("expect");
    let good_expect =
        expect.is_empty() || (expect.len() == 1 && expect[0].eq_ignore_ascii_case(b"100-continue"));
    if values("host").len() > 1 || !good_expect {
        return Plain::Bad;
    }
    let rest = &bytes[head_len..];
    let (body, taken) = match (&values("content-length")[..], &values("transfer-encoding")[..]) {
        ([], []) => (Vec::new(), 0),
        ([digits], []) => {
            let text = String::from_utf8_lossy(digits).into_owned();
            if text.is_empty() || !text.chars().all(|c| c.is_ascii_digit()) {
                return Plain::Bad;
            }
            match text.parse::<usize>() {
                Ok(length) if length <= 100 * 1024 * 1024 => {
                    let Some(body) = rest.get(..length) else { return Plain::Incomplete };
                    (body.to_vec(), length)
                }
                _ => return Plain::Bad,
            }
        }
        ([], [coding]) if coding.eq_ignore_ascii_case(b"chunked") && version == "HTTP/1.1" => {
            match chunks(rest) {
                Ok(Some(found)) => found,
                Ok(None) => return Plain::Incomplete,
                Err(()) => return Plain::Bad,
            }
        }
        _ => return Plain::Bad,
    };
    Plain::Whole(Seen {
        method: method.to_owned(),
        target: target.into_bytes(),
        fields,
        body,
        rest: rest[taken..].to_vec(),
    })
}

/// Body and length of a chunked message; `None` where its end is missing.
fn chunks(rest: &[u8]) -> Result<Option<(Vec<u8>, usize)>, ()> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let Some(line) = line(&rest[at..]) else { return Ok(None) };
        let size = line.split(|byte| *byte == b';').next().unwrap_or_default();
        if size.is_empty() || size.len() > 16 || !size.iter().all(u8::is_ascii_hexdigit) {
            return Err(());
        }
        let bad = |byte: &u8| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f;
        if line.iter().any(bad) {
            return Err(());
        }
        let size = usize::from_str_radix(&String::from_utf8_lossy(size), 16).map_err(|_| ())?;
        at += line.len() + 2;
        if size == 0 {
            break;
        }
        if size > 100 * 1024 * 1024 {
            return Err(());
        }
        let Some(data) = rest.get(at..at + size + 2) else { return Ok(None) };
        if &data[size..] != b"\r\n" {
            return Err(());
        }
        body.extend_from_slice(&data[..size]);
        at += size + 2;
    }
    loop {
        let Some(line) = line(&rest[at..]) else { return Ok(None) };
        at += line.len() + 2;
        if line.is_empty() {
            return Ok(Some((body, at)));
        }
        let bad = |byte: &u8| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f;
        let name: String =
            line.iter().take_while(|b| **b != b':').map(|b| char::from(*b)).collect();
        if !token(&name) || name.len() == line.len() || line.iter().any(bad) {
            return Err(());
        }
    }
}

fn line(bytes: &[u8]) -> Option<&[u8]> {
    position(bytes, b"\r\n").map(|at| &bytes[..at])
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn lines_end_well(bytes: &[u8], open: bool) -> bool {
    let not_first = !bytes.starts_with(b"\r\n");
    not_first
        && (0..bytes.len()).all(|at| match bytes[at] {
            b'\n' => at > 0 && bytes[at - 1] == b'\r',
            b'\r' => bytes.get(at + 1).map_or(open, |next| *next == b'\n'),
            _ => true,
        })
}

fn token(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
}

/// Requests that are right, or nearly.
fn requests() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        Just("Host: h\r\n"),
        Just("Content-Length: 3\r\n"),
        Just("Content-Length: 0\r\n"),
        Just("content-length: 3, 3\r\n"),
        Just("Transfer-Encoding: chunked\r\n"),
        Just("Transfer-Encoding: gzip\r\n"),
        Just("Expect: 100-continue\r\n"),
        Just("A: \t b \r\n"),
        Just("B:\r\n"),
        Just("Connection: close\r\n"),
        Just(" folded\r\n"),
        Just("C : d\r\n"),
        Just("D: e\n"),
    ];
    let body = prop_oneof![
        Just(""),
        Just("abc"),
        Just("abcGET / HTTP/1.1\r\n\r\n"),
        Just("3\r\nabc\r\n0\r\n\r\n"),
        Just("3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\nGET"),
        Just("3\r\nabcd\r\n0\r\n\r\n"),
        Just("2\r\nab\r\n"),
    ];
    let first = prop_oneof![
        Just("POST /a?b=%20 HTTP/1.1\r\n"),
        Just("GET / HTTP/1.0\r\n"),
        Just("M-X * HTTP/1.1\r\n"),
        Just("GET  / HTTP/1.1\r\n"),
        Just("\r\n"),
    ];
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..3u8);
    (first, prop::collection::vec(field, 0..5), body, prop::option::weighted(0.5, change)).prop_map(
        |(first, fields, body, change)| {
            let mut bytes = format!("{first}{}\r\n{body}", fields.concat()).into_bytes();
            if let Some((at, byte, kind)) = change {
                let at = at.index(bytes.len());
                match kind {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    _ => drop(bytes.remove(at)),
                }
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn two_readers_see_the_same(bytes in requests()) {
        let whole = ours(&bytes, bytes.len().max(1));
        for step in [1, 2, 3, 7] {
            prop_assert_eq!(&ours(&bytes, step), &whole, "in pieces of {}", step);
        }
        match (whole, plain(&bytes)) {
            (Ok(Some(ours)), Plain::Whole(plain)) => prop_assert_eq!(ours, plain),
            // What is refused at once the plain one may still wait for, and the reverse never.
            (Err(_), Plain::Bad | Plain::Incomplete) | (Ok(None), Plain::Incomplete) => {}
            (ours, Plain::Bad) => prop_assert!(false, "taken: {:?}", ours),
            (ours, Plain::Incomplete) => prop_assert!(false, "not incomplete: {:?}", ours),
            (ours, Plain::Whole(plain)) => prop_assert!(false, "{:?} but {:?}", ours, plain),
        }
    }
}

#[test]
fn a_request_reads_the_same_under_every_split() {
    let request = b"PUT /a/_doc/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\n{\"a\":1}GET";
    let whole = ours(request, request.len()).expect("good").expect("whole");
    assert_eq!((whole.body.as_slice(), whole.rest.as_slice()), (&b"{\"a\":1}"[..], &b"GET"[..]));
    for step in 1..request.len() {
        assert_eq!(ours(request, step).expect("good").expect("whole"), whole);
    }
    for end in 0..request.len() - 3 {
        assert_eq!(ours(&request[..end], end.max(1)), Ok(None), "{end}");
    }
}
