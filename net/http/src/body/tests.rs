//! Stories of bodies, whole and in pieces.

use proptest::prelude::*;

use super::*;

fn small() -> Limits {
    Limits { body_bytes_max: 64, head_bytes_max: 40, chunk_line_bytes_max: 16, ..Limits::DEFAULT }
}

/// Feeds `input` in pieces of `step` bytes; answers the body and how much was taken.
fn run(framing: Framing, input: &[u8], step: usize) -> Result<Option<(Vec<u8>, usize)>, Fault> {
    let mut body = Body::new(framing, &small())?;
    let mut at = 0;
    for piece in input.chunks(step.max(1)) {
        if body.is_done() {
            break;
        }
        at += body.feed(piece)?;
    }
    Ok(body.is_done().then(|| (body.into_bytes(), at)))
}

fn chunked(input: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Fault> {
    let whole = run(Framing::Chunked, input, usize::MAX);
    for step in 1..=input.len() {
        assert_eq!(run(Framing::Chunked, input, step), whole, "in pieces of {step}");
    }
    whole
}

#[test]
fn lengths_take_no_byte_beyond() {
    for step in 1..=9 {
        assert_eq!(run(Framing::Length(5), b"helloGET ", step), Ok(Some((b"hello".to_vec(), 5))));
    }
    assert_eq!(run(Framing::Length(5), b"hell", 2), Ok(None));
    assert_eq!(run(Framing::Empty, b"GET", 1), Ok(Some((Vec::new(), 0))));
    assert_eq!(Body::new(Framing::Length(65), &small()).err(), Some(Fault::BodyTooLong(64)));
    assert!(Body::new(Framing::Length(u64::MAX), &small()).is_err());
}

#[test]
fn a_long_body_is_read_in_place() {
    let mut body = Body::new(Framing::Length(10), &small()).expect("fits");
    assert_eq!(body.feed(b"abc"), Ok(3));
    let spare = body.spare(4);
    assert_eq!(spare.len(), 4);
    spare[..2].copy_from_slice(b"de");
    body.filled(2);
    let spare = body.spare(100);
    assert_eq!(spare.len(), 5);
    spare.copy_from_slice(b"fghij");
    body.filled(5);
    assert!(body.is_done());
    assert_eq!(body.into_bytes(), b"abcdefghij");
    let mut body = Body::new(Framing::Chunked, &small()).expect("fits");
    assert!(body.spare(100).is_empty());
}

/// A body is copied once at most to make room, and no more than a megabyte of it.
#[test]
fn what_has_come_is_not_copied_again_and_again() {
    const MIB: usize = 1 << 20;
    let limits = Limits { body_bytes_max: 64 * MIB, ..Limits::DEFAULT };
    let part = vec![b'x'; 64 * 1024];
    for framing in [Framing::Length(32 * MIB as u64), Framing::Chunked] {
        let mut body = Body::new(framing, &limits).expect("fits");
        let mut moves = 0;
        let mut place = body.bytes.as_ptr();
        for _ in 0..512 {
            if matches!(framing, Framing::Chunked) {
                assert_eq!(body.feed(b"10000\r\n"), Ok(7));
                assert_eq!(body.feed(&part), Ok(part.len()));
                assert_eq!(body.feed(b"\r\n"), Ok(2));
            } else {
                let room = body.spare(part.len());
                room.copy_from_slice(&part);
                body.filled(part.len());
            }
            if body.bytes.as_ptr() != place {
                assert!(body.len() <= MIB + part.len(), "{} bytes were copied", body.len());
                (moves, place) = (moves + 1, body.bytes.as_ptr());
            }
        }
        assert_eq!(body.len(), 32 * MIB);
        assert!(moves <= 2, "{framing:?}: {moves} places");
    }
    let mut small = Body::new(Framing::Length(10), &limits).expect("fits");
    assert_eq!(small.feed(b"0123456789"), Ok(10));
    assert_eq!(small.into_bytes().capacity(), 10);
}

#[test]
fn chunks_become_one_body() {
    assert_eq!(chunked(b"0\r\n\r\n"), Ok(Some((Vec::new(), 5))));
    assert_eq!(
        chunked(b"5\r\nhello\r\n06;a=\"b\"\r\n world\r\n0;x\r\nDigest: z\r\nB:\r\n\r\nGET"),
        Ok(Some((b"hello world".to_vec(), 50)))
    );
    assert_eq!(
        chunked(b"A\r\n0123456789\r\n0\r\n\r\n").map(|b| b.map(|b| b.0.len())),
        Ok(Some(10))
    );
    assert_eq!(chunked(b"5\r\nhello\r\n"), Ok(None));
    let spaced = b"5 ;a\r\nhello\r\n0 \t ;b=c\r\n\r\n";
    assert_eq!(chunked(spaced), Ok(Some((b"hello".to_vec(), spaced.len()))));
}

#[test]
fn badly_framed_chunks_are_refused() {
    for bad in [
        &b"\r\n"[..],
        b";a\r\n",
        b"g\r\n",
        b"0x5\r\nhello\r\n",
        b" 5\r\nhello\r\n",
        b"5 \r\nhello\r\n",
        b"5 5\r\n",
        b" ;a\r\n",
        b"+5\r\nhello\r\n",
        b"-5\r\n",
        b"5\nhello\r\n",
        b"5\r\nhello\n",
        b"5\r\nhelloX\r\n",
        b"5\r\nhello\rX",
        b"5;a\nb\r\n",
        b"5;a\rb\r\n",
        b"5;\x00\r\n",
        b"0\r\nno field\r\n\r\n",
        b"0\r\n: x\r\n\r\n",
        b"0\r\na b: x\r\n\r\n",
        b"0\r\n\n",
        b"0\r\n\rX",
    ] {
        assert!(matches!(chunked(bad), Err(Fault::Malformed(_))), "{bad:?}");
    }
}

#[test]
fn chunks_are_bounded() {
    assert_eq!(chunked(b"41\r\n"), Err(Fault::BodyTooLong(64)));
    assert_eq!(chunked(b"ffffffffffffffff\r\n"), Err(Fault::BodyTooLong(64)));
    assert_eq!(chunked(b"fffffffffffffffff"), Err(Fault::BodyTooLong(64)));
    let two = [b"30\r\n", &[b'x'; 0x30][..], b"\r\n11\r\n"].concat();
    assert_eq!(chunked(&two), Err(Fault::BodyTooLong(64)));
    assert!(chunked(b"00000000000000000").is_err());
    assert!(chunked(b"1;aaaaaaaaaaaaaaaaaaaaaa").is_err());
    let trailers = [b"0\r\n", "a: b\r\n".repeat(10).as_bytes()].concat();
    assert_eq!(chunked(&trailers), Err(Fault::HeadTooLong(40)));
}

proptest! {
    #[test]
    fn any_split_into_chunks_reads_back(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..9), 0..6),
        step in 1usize..20,
    ) {
        let mut input = Vec::new();
        for piece in &pieces {
            input.extend_from_slice(format!("{:X};e\r\n", piece.len()).as_bytes());
            input.extend_from_slice(piece);
            input.extend_from_slice(b"\r\n");
        }
        input.extend_from_slice(b"0\r\n\r\n");
        let len = input.len();
        input.extend_from_slice(b"next");
        prop_assert_eq!(run(Framing::Chunked, &input, step), Ok(Some((pieces.concat(), len))));
    }

    #[test]
    fn hostile_chunks_never_panic(input in prop::collection::vec(
        prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), Just(b'0'), Just(b'1'), Just(b';')], 0..40)
    ) {
        let whole = run(Framing::Chunked, &input, usize::MAX);
        prop_assert_eq!(run(Framing::Chunked, &input, 1), whole);
    }
}
