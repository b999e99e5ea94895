//! HTTP framing beside a second, simple, strict implementation: the same bytes are cut into the same
//! requests, and what one refuses the other refuses. The first byte says in which pieces they come.
#![no_main]

#[path = "../strict.rs"]
mod strict;

use http::head::{Finder, leading_blank_lines};
use http::{Body, Limits};
use libfuzzer_sys::fuzz_target;
use strict::{End, Request};

/// Small bounds, so that short inputs reach them.
const LIMITS: Limits = Limits {
    line_bytes_max: 96,
    head_bytes_max: 256,
    body_bytes_max: 512,
    chunk_line_bytes_max: 24,
};

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let (ours, end) = ours(bytes, 1 + usize::from(first));
    let (theirs, strict_end) = strict::read(bytes, &LIMITS);
    if end == End::Refused {
        // Ours may refuse earlier, before a line is whole; what came before is the same.
        assert_eq!(ours, theirs, "the same requests");
    } else {
        assert_eq!((ours, end), (theirs, strict_end), "the same requests, and the same end");
    }
});

/// As a connection does it: what came is taken piece by piece.
fn ours(bytes: &[u8], piece: usize) -> (Vec<Request>, End) {
    let (mut found, mut buffer) = (Vec::new(), Vec::new());
    let mut finder = Finder::default();
    let mut incoming: Option<(http::Head, Body)> = None;
    for piece in bytes.chunks(piece) {
        buffer.extend_from_slice(piece);
        loop {
            if incoming.is_none() {
                let blank = leading_blank_lines(&buffer);
                if blank > 0 {
                    buffer.drain(..blank);
                    finder = Finder::default();
                }
                match finder.take(&buffer, &LIMITS) {
                    Ok(Some((head, len))) => {
                        buffer.drain(..len);
                        match Body::new(head.framing(), &LIMITS) {
                            Ok(body) => incoming = Some((head, body)),
                            Err(_) => return (found, End::Refused),
                        }
                    }
                    Ok(None) => break,
                    Err(_) => return (found, End::Refused),
                }
            }
            let Some((head, mut body)) = incoming.take() else { break };
            match body.feed(&buffer) {
                Ok(used) => drop(buffer.drain(..used)),
                Err(_) => return (found, End::Refused),
            }
            if !body.is_done() {
                incoming = Some((head, body));
                break;
            }
            found.push(Request {
                method: head.method_text().as_bytes().to_vec(),
                target: head.target().to_vec(),
                body: body.into_bytes(),
            });
        }
    }
    (found, End::Open)
}
