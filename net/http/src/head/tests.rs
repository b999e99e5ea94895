//! Stories of heads, taken and refused.

use super::*;

fn parse(text: &str) -> Result<Head, Fault> {
    Head::parse(text.as_bytes(), &Limits::DEFAULT)
}

fn with(fields: &str) -> Result<Head, Fault> {
    parse(&format!("POST /a HTTP/1.1\r\nHost: h\r\n{fields}\r\n"))
}

#[test]
fn a_head_is_read() {
    let head = parse(
        "POST /a/_doc?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\ncontent-TYPE:  a/b \t\r\n\
         Empty:\r\n\r\n",
    )
    .expect("good");
    assert_eq!(
        (head.method(), head.method_text(), head.version()),
        (Method::Post, "POST", Version::Http11)
    );
    assert_eq!(head.target(), b"/a/_doc?x=1");
    assert_eq!(head.framing(), Framing::Length(12));
    assert_eq!(head.text("Content-Type"), Some("a/b"));
    assert_eq!(head.field("empty"), Some(&b""[..]));
    assert_eq!(head.field("missing"), None);
    assert!(head.keep_alive());
}

#[test]
fn a_message_has_one_length() {
    for bad in [
        "Content-Length: 1\r\nContent-Length: 1\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1, 1\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding:\r\n",
        "Content-Length:\r\n",
        "Content-Length: +1\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 0x1\r\n",
        "Content-Length: 1 1\r\n",
        "Content-Length: 1a\r\n",
        "content-length: \"1\"\r\n",
    ] {
        assert!(matches!(with(bad), Err(Fault::Malformed(_))), "{bad:?}");
    }
    assert_eq!(with("Transfer-Encoding: CHUNKED\r\n").expect("good").framing(), Framing::Chunked);
    assert_eq!(with("Content-Length: 0\r\n").expect("good").framing(), Framing::Empty);
    let huge = with("Content-Length: 99999999999999999999\r\n").expect("good");
    assert_eq!(huge.framing(), Framing::Length(u64::MAX));
    assert!(parse("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").is_err());
}

#[test]
fn leniency_is_not_inherited() {
    for bad in [
        "GET / HTTP/1.1\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n\n",
        "GET / HTTP/1.1\r\nHost: h\rX: y\r\n\r\n",
        "GET / HTTP/1.1\r\n Host: h\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n",
        "GET / HTTP/1.1\r\nA : b\r\n\r\n",
        "GET / HTTP/1.1\r\nA\r\n\r\n",
        "GET / HTTP/1.1\r\n: b\r\n\r\n",
        "GET / HTTP/1.1\r\nA(: b\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\0c\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\u{7f}c\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        "GET /  HTTP/1.1\r\n\r\n",
        " GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n",
        "GET /a b HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.2\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET / http/1.1\r\n\r\n",
        "GET /\r\n\r\n",
        "GET\r\n\r\n",
        "G(T / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\nrest",
        "GET / HTTP/1.1\r\n",
        "\r\nGET / HTTP/1.1\r\n\r\n",
        "",
    ] {
        assert!(parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn every_byte_of_a_name_is_judged() {
    for byte in 0..=255u8 {
        let head = [b"GET / HTTP/1.1\r\na", &[byte][..], b"b: c\r\n\r\n"].concat();
        let token = byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        // A colon ends the name early; the rest is a value.
        let good = token || byte == b':';
        assert_eq!(Head::parse(&head, &Limits::DEFAULT).is_ok(), good, "{byte}");
    }
}

#[test]
fn every_byte_of_a_value_is_judged() {
    for byte in 0..=255u8 {
        let head = [b"GET / HTTP/1.1\r\na: b", &[byte][..], b"c\r\n\r\n"].concat();
        let good = byte >= b' ' && byte != 0x7f || byte == b'\t';
        assert_eq!(Head::parse(&head, &Limits::DEFAULT).is_ok(), good, "{byte}");
    }
}

#[test]
fn connections_stay_or_go() {
    let stays = |version: &str, fields: &str| {
        parse(&format!("GET / HTTP/{version}\r\n{fields}\r\n")).expect("good").keep_alive()
    };
    assert!(stays("1.1", ""));
    assert!(!stays("1.1", "Connection: close\r\n"));
    assert!(!stays("1.1", "Connection: x, Close\r\n"));
    assert!(!stays("1.1", "Connection: keep-alive\r\nConnection: close\r\n"));
    assert!(!stays("1.0", ""));
    assert!(stays("1.0", "Connection: Keep-Alive\r\n"));
}

#[test]
fn expectations_are_known_or_refused() {
    assert!(with("Expect: 100-Continue\r\n").expect("good").expects_continue());
    assert!(!with("").expect("good").expects_continue());
    assert_eq!(with("Expect: teapot\r\n").err(), Some(Fault::Expectation));
}

#[test]
fn lines_and_heads_are_bounded() {
    let line = |len: usize| format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(len - 14));
    assert!(parse(&line(4096)).is_ok());
    assert_eq!(parse(&line(4097)).err(), Some(Fault::LineTooLong(4096)));
    let fields = |len: usize| format!("GET / HTTP/1.1\r\na: {}\r\n\r\n", "b".repeat(len - 3));
    assert!(parse(&fields(16_000)).is_ok());
    assert_eq!(parse(&fields(16_500)).err(), Some(Fault::HeadTooLong(16_384)));
    // Refused before their ends are seen.
    let mut finder = Finder::default();
    assert_eq!(finder.find(&[b'a'; 4097], &Limits::DEFAULT), Err(Fault::LineTooLong(4096)));
    let endless = format!("GET / HTTP/1.1\r\n{}", "a: b\r\n".repeat(4_000));
    let mut finder = Finder::default();
    let found = finder.find(endless.as_bytes(), &Limits::DEFAULT);
    assert_eq!(found, Err(Fault::HeadTooLong(16_384)));
}

#[test]
fn many_fields_fit() {
    for count in [1, 47, 48, 49, 64, 65, 100, 3_000] {
        let fields = "a:b\r\n".repeat(count);
        let head = parse(&format!("GET / HTTP/1.1\r\n{fields}\r\n")).expect("good");
        assert_eq!(head.fields().count(), count);
        assert!(head.fields().all(|field| field == ("a", &b"b"[..])));
    }
}

#[test]
fn the_end_is_found_whatever_the_split() {
    let text = b"GET / HTTP/1.1\r\nHost: h\r\nA:\r\n\r\nbody";
    for split in 0..text.len() {
        let mut finder = Finder::default();
        let first = finder.find(&text[..split], &Limits::DEFAULT).expect("good");
        assert_eq!(first, (split >= 31).then_some(31), "{split}");
        if first.is_none() {
            assert_eq!(finder.find(text, &Limits::DEFAULT), Ok(Some(31)), "{split}");
        }
    }
    let mut finder = Finder::default();
    for end in 1..=31 {
        let found = finder.find(&text[..end], &Limits::DEFAULT);
        assert_eq!(found, Ok((end == 31).then_some(31)));
    }
    assert_eq!(leading_blank_lines(b"\r\n\r\nGET"), 4);
    assert_eq!(leading_blank_lines(b"\r"), 0);
}
