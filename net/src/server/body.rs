//! Bodies: unpacked and made JSON on their way in, laid out and packed on their way out.
//!
//! Always true: what a body, or what is made of it, takes is taken from the budget first, or at
//! least before the next one is begun.

use std::borrow::Cow;
use std::sync::Arc;

use engine::meter::FAMILIES;
use engine::{Error, Result};
use env::budget::Taken;
use env::{Bytes, Env, Spawn};
use http::coding::{self, Coding};
use http::{Fault, Method};
use json::path::Filter;

use super::{Inner, Look};
use crate::conn::Memory;
use crate::format::{self, Encoding};
use crate::reply::{JSON, Reply};

/// Bodies above this are made JSON, and answers packed, on a worker.
const WORKER_BYTES_MIN: usize = 64 * 1024;

/// A body of which no more than this comes out is unpacked at once.
const INLINE_BYTES_MAX: usize = 128 * 1024;

/// Answers below this are not packed: the head is longer.
const PACK_BYTES_MIN: usize = 512;

/// Bodies of documents below this are not counted: they are gone again at once.
const COUNTED_BYTES_MIN: usize = 64 * 1024;

/// Smaller ones that are not: a body becomes no tree to speak of, and an answer waits in the place of its connection
/// for a client that reads, or does not.
const SMALL_BYTES_MAX: usize = 4 * 1024;

/// Answers below this are laid out as they are.
const LAID_OUT_BYTES_MIN: usize = 4 * 1024;

/// Most answers grow less when they are laid out.
const LAID_OUT_GROWTH: usize = 4;

/// What a value of a document takes while it is read: its places on a tape and in an arena.
const DOCUMENT_VALUE_BYTES: usize = 48;

/// What a value of any other JSON takes while it is read: a node of a tree, and what is made of it.
const TREE_VALUE_BYTES: usize = 192;

/// What a value of an answer takes while that is written in another encoding: a node of a tree, and its name.
const SHOWN_VALUE_BYTES: usize = 128;

/// What the shards need for a body of documents, measured, as a multiple of it and for each of its values: the text
/// and its record in the log, the arena and what the buffer makes of it.
const WRITE_PART: usize = 5;
const WRITE_VALUE_BYTES: usize = 24;

/// Bytes of a body that are looked at before others may run.
const COUNT_STEP_BYTES: usize = 128 * 1024;

/// Memory for an unpacked body is taken in such steps.
const UNPACK_STEP_BYTES: usize = 1 << 20;

impl<E: Env> Inner<E> {
    /// The body without its coding.
    pub(super) async fn plain_body(
        &self,
        head: &http::Head,
        body: Bytes,
        memory: &mut Option<Memory>,
    ) -> Result<Bytes> {
        let Some(coding) = Coding::of(head.field("content-encoding")) else {
            return Err(Error::new(
                415,
                "unsupported_media_type_exception",
                format!(
                    "Content-Encoding header [{}] is not supported",
                    head.text("content-encoding").unwrap_or_default()
                ),
            ));
        };
        if coding == Coding::Identity || body.is_empty() {
            return Ok(body);
        }
        let most = self.options.limits.http.body_bytes_max;
        // What is small stays here; what turns out large is begun anew on a worker.
        let inline_max = most.min(INLINE_BYTES_MAX);
        if body.len() < WORKER_BYTES_MIN
            && let Ok(plain) = coding::decode(coding, &body, inline_max)
        {
            return Ok(Bytes::from(plain));
        }
        let none = self.room.lease().take(0).ok_or_else(|| self.no_memory(0))?;
        let mut unpacked = self.unpack_on_worker(coding, &body, most, none).await?;
        if let Err(wanted_bytes) = unpacked {
            let taken = self.room.take(wanted_bytes).await;
            let taken = taken.ok_or_else(|| self.no_memory(wanted_bytes))?;
            unpacked = self.unpack_on_worker(coding, &body, most, taken).await?;
        }
        let (decoded, taken) = unpacked.map_err(|wanted_bytes| self.no_memory(wanted_bytes))?;
        if let Some(memory) = memory {
            memory.adopt(taken);
        }
        let plain = decoded.map_err(|fault| match fault {
            Fault::BodyTooLong(most) => Error::new(
                413,
                "content_too_long_exception",
                format!("entity content is too long for the configured buffer limit [{most}]"),
            ),
            other => Error::new(
                400,
                "zip_exception",
                format!(
                    "the body is not what its Content-Encoding header [{}] says: {other}",
                    head.text("content-encoding").unwrap_or_default()
                ),
            ),
        })?;
        Ok(Bytes::from(plain))
    }

    /// See [`unpack`].
    async fn unpack_on_worker(
        &self,
        coding: Coding,
        body: &Bytes,
        bytes_max: usize,
        taken: Taken,
    ) -> Result<std::result::Result<Unpacked, usize>> {
        let body = body.clone();
        let work = move || unpack(coding, &body, bytes_max, taken);
        let unpacked = self.core.env().spawn().work_on_body(work).await;
        unpacked.map_err(|error| Error::rejected(format!("no worker for the body: {error}")))
    }

    /// A body of another encoding as JSON: a large one on a worker.
    pub(super) async fn json_of(
        &self,
        encoding: Encoding,
        body: Bytes,
        lines: bool,
        memory: &mut Option<Memory>,
    ) -> Result<Bytes> {
        let read = if lines { format::to_lines } else { format::to_json_within };
        let most = format::room(body.len());
        let on_worker = async |most: usize| {
            let body = body.clone();
            let work = move || read(encoding, &body, most);
            let done = self.core.env().spawn().work_on_body(work).await;
            done.map_err(|error| Error::rejected(format!("no worker for the body: {error}")))
        };
        let mut decoded = match body.len() {
            ..WORKER_BYTES_MIN => read(encoding, &body, most),
            _ => on_worker(most).await?,
        };
        // Read anew into twice the room each time: all attempts together cost no more than the last one once
        // more, and nobody is asked for what only the worst of bodies would take.
        let widest = format::wide_room(encoding, body.len()).unwrap_or(most);
        let widest = widest.min(self.options.limits.http.body_bytes_max);
        let (mut room, mut wide): (usize, Option<Taken>) = (most, None);
        while decoded.as_ref().is_err_and(|malformed| malformed.is_growth) && room < widest {
            room = room.saturating_mul(2).min(widest);
            match &mut wide {
                None => wide = self.room.take(room).await,
                Some(taken) => {
                    let lacking = room.saturating_sub(taken.bytes());
                    let grow = || taken.grow(lacking).then_some(());
                    if self.room.patiently(lacking, grow).await.is_none() {
                        wide = None;
                    }
                }
            }
            if wide.is_none() {
                return Err(self.no_memory(room));
            }
            decoded = on_worker(room).await?;
        }
        let json = decoded.map_err(|malformed| {
            Error::new(
                400,
                "x_content_parse_exception",
                format!("the body is no {}: {malformed}", encoding.name()),
            )
        })?;
        match (wide, memory) {
            (Some(mut taken), Some(memory)) => {
                taken.shrink_to(json.len());
                memory.adopt(taken);
            }
            (_, memory) => self.grow(memory, json.len()).await?,
        }
        Ok(Bytes::from(json))
    }

    /// Memory for what a body becomes when it is read, and until it is answered: three thousand clauses of 57 KB are
    /// megabytes, and hundreds of them wait beside each other. What the shards
    /// will need for a bulk is taken with it, and given: many that come together would else all be read, and then
    /// all be refused. One that is alone need not have that before. `repeated_bytes` is what each value takes because of
    /// the line of its request.
    pub(super) async fn room_to_read(
        &self,
        (family, repeated_bytes): (usize, usize),
        body: &Bytes,
        memory: &mut Option<Memory>,
    ) -> Result<Option<Taken>> {
        let (value_bytes, free_bytes) = match FAMILIES[family] {
            "bulk" | "document" => (DOCUMENT_VALUE_BYTES, COUNTED_BYTES_MIN),
            _ => (TREE_VALUE_BYTES, SMALL_BYTES_MAX),
        };
        if body.len() < free_bytes && repeated_bytes == 0 {
            return Ok(None);
        }
        let values = self.count(body, |byte| matches!(byte, b',' | b':' | b'[' | b'{')).await;
        let value_bytes = value_bytes + repeated_bytes;
        let bytes = body.len().saturating_add(values.saturating_mul(value_bytes));
        let Some(own) = memory.as_mut().filter(|own| own.may_grow(bytes)) else {
            return self.grow(memory, bytes).await.map(|()| None);
        };
        let to_write = match FAMILIES[family] {
            "bulk" => {
                body.len().saturating_mul(WRITE_PART) + values.saturating_mul(WRITE_VALUE_BYTES)
            }
            _ => 0,
        };
        let wanted = (bytes.saturating_add(to_write), own.bytes());
        let lease = self.room.lease();
        let both = || {
            let to_write = lease.take(to_write)?;
            own.grow(bytes).then_some(to_write)
        };
        if let Some(to_write) = self.room.in_line(wanted, both).await {
            return Ok((to_write.bytes() > 0).then_some(to_write));
        }
        match self.room.is_awaited() {
            true => Err(self.no_memory(wanted.0)),
            false => self.grow(memory, bytes).await.map(|()| None),
        }
    }

    /// How many bytes of a body are such ones.
    async fn count(&self, body: &[u8], is_one: fn(u8) -> bool) -> usize {
        let mut count = 0usize;
        for part in body.chunks(COUNT_STEP_BYTES) {
            count += part.iter().filter(|byte| is_one(**byte)).count();
            self.core.env().spawn().yield_if_needed().await;
        }
        count
    }

    /// Memory for an answer until the client has taken it, beside what was taken when it was made. Where
    /// something was written, that is told in any case.
    pub(super) async fn room_to_send(
        &self,
        reply: &mut Reply,
        family: usize,
        method: Method,
    ) -> Result<()> {
        let bytes = reply.body.capacity();
        if bytes < SMALL_BYTES_MAX {
            reply.memory = None;
            return Ok(());
        }
        let reads = matches!(FAMILIES[family], "get" | "search" | "scroll" | "cat")
            || matches!(method, Method::Get | Method::Head);
        let counted = match reply.memory.as_mut().and_then(Arc::get_mut) {
            Some(memory) => {
                memory.shrink_to(bytes);
                let lacking = bytes - memory.bytes();
                let grow = || memory.grow(lacking).then_some(());
                self.room.patiently(lacking, grow).await.is_some()
            }
            None => {
                reply.memory = self.room.take(bytes).await.map(Arc::new);
                reply.memory.is_some()
            }
        };
        if counted || !reads { Ok(()) } else { Err(self.no_memory(bytes)) }
    }

    async fn grow(&self, memory: &mut Option<Memory>, bytes: usize) -> Result<()> {
        let Some(memory) = memory else { return Ok(()) };
        let may_grow = memory.may_grow(bytes);
        let grow = || memory.grow(bytes).then_some(());
        let grown = if may_grow { self.room.patiently(bytes, grow).await } else { None };
        grown.ok_or_else(|| self.no_memory(bytes))
    }

    /// 429: there is no memory for a body or an answer now.
    pub(super) fn no_memory(&self, wanted_bytes: usize) -> Error {
        Error::no_memory("http_request", wanted_bytes, self.room.lease().total_bytes())
    }

    /// Filters and lays out what is JSON.
    pub(super) async fn dress(&self, reply: &mut Reply, look: &Look) {
        if reply.content_type.as_deref() != Some(JSON) {
            return;
        }
        let encoding = look.wanted.encoding;
        let pretty = look.pretty && encoding == Encoding::Json;
        if !look.filter.is_empty() || pretty {
            let filter =
                (!look.filter.is_empty()).then(|| Box::new(Filter::response(&look.filter)));
            let body = Bytes::from(std::mem::take(&mut reply.body));
            reply.body = self.laid_out(body, filter, pretty).await;
        }
        if encoding != Encoding::Json && !reply.body.is_empty() {
            let body = Bytes::from(std::mem::take(&mut reply.body));
            match self.encoded(body, encoding).await {
                Ok(encoded) => reply.body = encoded,
                Err(json) => {
                    // The client is told what it gets.
                    reply.body = json;
                    return;
                }
            }
        }
        reply.content_type = Some(look.wanted.content_type());
    }

    /// Filters an answer, and lays it out, with memory for that where it is large. Where there is not so much
    /// everything is said, on fewer lines.
    async fn laid_out(&self, body: Bytes, filter: Option<Box<Filter>>, pretty: bool) -> Vec<u8> {
        if body.len() < COUNTED_BYTES_MIN {
            return self.laid_out_within(body, filter, pretty).await;
        }
        // It is there once more as it is filtered, and once as it is laid out.
        let copies = if pretty { 1 + LAID_OUT_GROWTH } else { 1 };
        let room = self.room.take(body.len().saturating_mul(copies)).await;
        let laid_out = self.laid_out_within(body, filter, pretty && room.is_some()).await;
        drop(room);
        laid_out
    }

    /// See [`Inner::laid_out`]; margins that are more than most answers have take memory of their own.
    async fn laid_out_within(
        &self,
        body: Bytes,
        filter: Option<Box<Filter>>,
        pretty: bool,
    ) -> Vec<u8> {
        let job = |pretty: bool, most: usize| {
            let filter = filter.clone();
            move |json: &[u8]| dressed(json, filter.as_deref(), pretty, most)
        };
        let mut done = self.change(&body, job(pretty, free_len(&body))).await;
        if let Err(wanted) = done {
            let room = self.room.take(wanted).await;
            done = self.change(&body, job(room.is_some(), usize::MAX)).await;
        }
        done.unwrap_or_else(|_| body.to_vec())
    }

    /// An answer of JSON in another encoding; the same, where that cannot be, or where there is no memory for
    /// what it is made of, or for its margins.
    async fn encoded(
        &self,
        json: Bytes,
        encoding: Encoding,
    ) -> std::result::Result<Vec<u8>, Vec<u8>> {
        if json.len() < COUNTED_BYTES_MIN {
            return self.encoded_with_margins(json, encoding).await;
        }
        let values = self.count(&json, |byte| matches!(byte, b',' | b'[' | b'{')).await;
        let tree = values.saturating_mul(SHOWN_VALUE_BYTES);
        let room = self.room.take(json.len().saturating_mul(2).saturating_add(tree)).await;
        if room.is_none() {
            return Err(json.to_vec());
        }
        let encoded = self.encoded_with_margins(json, encoding).await;
        drop(room);
        encoded
    }

    /// See [`Inner::encoded`].
    async fn encoded_with_margins(
        &self,
        json: Bytes,
        encoding: Encoding,
    ) -> std::result::Result<Vec<u8>, Vec<u8>> {
        let mut done = self.encoded_within(&json, encoding, free_len(&json)).await;
        if let Encoded::Wants(bytes) = done
            && let Some(_room) = self.room.take(bytes).await
        {
            done = self.encoded_within(&json, encoding, usize::MAX).await;
        }
        match done {
            Encoded::Done(encoded) => Ok(encoded),
            Encoded::Wants(_) | Encoded::Not => Err(json.to_vec()),
        }
    }

    /// Deep answers are for a worker, whose stack has no other use.
    async fn encoded_within(&self, json: &Bytes, encoding: Encoding, most: usize) -> Encoded {
        let is_flat = || format::depth(json) <= format::FLAT_MAX;
        if json.len() < WORKER_BYTES_MIN && is_flat() {
            return encode(encoding, json, most);
        }
        let shared = json.clone();
        let work = move || encode(encoding, &shared, most);
        match self.core.env().spawn().work_on_body(work).await {
            Ok(done) => done,
            // All workers are busy with more than they can do; late is better than wrong.
            Err(_) if is_flat() => encode(encoding, json, most),
            Err(_) => Encoded::Not,
        }
    }

    /// Packs the body where the client takes it.
    pub(super) async fn pack(&self, head: &http::Head, reply: &mut Reply) {
        if !self.options.compression || reply.body.len() < PACK_BYTES_MIN {
            return;
        }
        if head.field("accept-encoding").is_some_and(|value| http::field::accepts(value, "gzip")) {
            let body = Bytes::from(std::mem::take(&mut reply.body));
            reply.body = self.change(&body, coding::gzip).await;
            reply.fields.push(("content-encoding", Cow::Borrowed("gzip")));
        }
    }

    /// Makes something of a body: of a large one on a worker, so that no core stalls.
    async fn change<T: Send + 'static>(
        &self,
        body: &Bytes,
        job: impl Fn(&[u8]) -> T + Clone + Send + 'static,
    ) -> T {
        if body.len() < WORKER_BYTES_MIN {
            return job(body);
        }
        let (shared, again) = (body.clone(), job.clone());
        match self.core.env().spawn().work_on_body(move || again(&shared)).await {
            Ok(made) => made,
            // All workers are busy with more than they can do; late is better than wrong.
            Err(_) => job(body),
        }
    }
}

/// A body without its coding, and the memory that it takes.
type Unpacked = (std::result::Result<Vec<u8>, Fault>, Taken);

/// Undoes a coding, with the memory that was taken for it and more; where there is too little of it, how much it
/// would have been in all, as far as was seen.
fn unpack(
    coding: Coding,
    body: &[u8],
    bytes_max: usize,
    mut taken: Taken,
) -> std::result::Result<Unpacked, usize> {
    let mut wanted = None;
    let mut room = |bytes: usize| {
        let lacking = bytes.saturating_sub(taken.bytes()).next_multiple_of(UNPACK_STEP_BYTES);
        if lacking > 0 && !taken.grow(lacking) {
            wanted = Some(taken.bytes() + lacking);
        }
        wanted.is_none()
    };
    let decoded = coding::decode_within(coding, body, bytes_max, &mut room);
    match wanted {
        Some(wanted_bytes) => Err(wanted_bytes),
        None => Ok((decoded, taken)),
    }
}

/// An answer that is written otherwise.
enum Encoded {
    /// Here it is.
    Done(Vec<u8>),
    /// It would take so many bytes.
    Wants(usize),
    /// It cannot be.
    Not,
}

/// How long an answer may be laid out without memory of its own.
fn free_len(json: &[u8]) -> usize {
    COUNTED_BYTES_MIN.max(json.len().saturating_mul(LAID_OUT_GROWTH))
}

/// How long an answer is once it is laid out, where that is more than `most`: where it lies deep it is mostly
/// margin, of megabytes for a few kilobytes.
fn beyond(json: &[u8], most: usize) -> Option<usize> {
    if json.len() < LAID_OUT_BYTES_MIN || most == usize::MAX {
        return None;
    }
    Some(json::pretty_len(json)).filter(|len| *len > most)
}

/// An answer filtered and laid out; its length, where that is more than `most`.
fn dressed(
    json: &[u8],
    filter: Option<&Filter>,
    pretty: bool,
    most: usize,
) -> std::result::Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(json.len());
    let filtered = filter.map(|filter| filter.apply(json, &mut out));
    // Our own answers are JSON; one that is not goes as it is.
    if !matches!(filtered, Some(Ok(()))) {
        out.extend_from_slice(json);
    }
    if pretty {
        if let Some(len) = beyond(&out, most) {
            return Err(len);
        }
        out = json::pretty(&out);
        out.push(b'\n');
    }
    Ok(out)
}

/// An answer in another encoding, of which YAML has margins.
fn encode(encoding: Encoding, json: &[u8], most: usize) -> Encoded {
    if encoding == Encoding::Yaml
        && let Some(len) = beyond(json, most)
    {
        return Encoded::Wants(len);
    }
    format::of_json(encoding, json).map_or(Encoded::Not, Encoded::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_told_before_they_are_written() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(900), "}".repeat(900)).into_bytes();
        let wanted = json::pretty(&deep).len();
        assert!(wanted > 100 * deep.len() && wanted > free_len(&deep));
        assert_eq!(dressed(&deep, None, true, free_len(&deep)), Err(wanted));
        assert!(dressed(&deep, None, true, usize::MAX).is_ok_and(|out| out.len() == wanted + 1));
        assert_eq!(dressed(&deep, None, false, 0), Ok(deep.clone()));
        let asked = |encoding| encode(encoding, &deep, free_len(&deep));
        assert!(matches!(asked(Encoding::Yaml), Encoded::Wants(len) if len == wanted));
        assert!(matches!(asked(Encoding::Cbor), Encoded::Done(_)));
        let flat = br#"{"a":[1,2,3]}"#.repeat(1_000);
        assert_eq!(beyond(&flat, free_len(&flat)), None);
    }
}
