//! `_analyze`: tokens, or what each part of a chain made, as bytes.

use engine::ops::analyze::{Analysis, Detail, Stage, Token};
use engine::{Error, Result};
use env::Env;
use env::budget::Taken;
use json::Writer;

use crate::call::Call;
use crate::reply::Reply;

/// An answer of more bytes is written by a worker, and counted.
const WRITTEN_HERE_BYTES_MAX: usize = 64 << 10;

/// What a token takes in an answer beside its texts, about.
const TOKEN_BYTES: usize = 192;

/// The answer; `memory` was taken for what it tells.
pub(super) async fn answer<E: Env>(
    call: &Call<'_, E>,
    analysis: Analysis,
    memory: Option<Taken>,
) -> Result<Reply> {
    let bytes = written_bytes(&analysis);
    if bytes <= WRITTEN_HERE_BYTES_MAX {
        return Ok(call.json_of(200, bytes, |writer| write(writer, &analysis)));
    }
    let room = call.core.room("analyze", bytes)?;
    let write = move || {
        let mut body = Vec::with_capacity(256 + bytes);
        write(&mut Writer::new(&mut body), &analysis);
        drop((analysis, memory));
        body
    };
    let written = call.core.work_in_turn(write).await;
    let body = written.map_err(|_| Error::rejected("too many answers wait for a worker"))?;
    Ok(Reply::json(200, body).counted(room))
}

/// About how long an answer is.
fn written_bytes(analysis: &Analysis) -> usize {
    let of_text = |text: &str| -> usize { text.bytes().map(escaped_bytes).sum() };
    // The bytes of a term are told, too.
    let of_stage = |stage: &Stage| -> usize {
        let of_token = |it: &Token| TOKEN_BYTES + of_text(&it.term) + 3 * it.term.len();
        stage.name.len() + stage.tokens.iter().map(of_token).sum::<usize>()
    };
    match analysis {
        Analysis::Tokens(tokens) => {
            tokens.iter().map(|it| TOKEN_BYTES + of_text(&it.term)).sum::<usize>()
        }
        Analysis::Detail(detail) => {
            let filtered = detail.char_filters.iter().flat_map(|(_, texts)| texts);
            let stages = detail.analyzer.iter().chain(&detail.tokenizer).chain(&detail.filters);
            filtered.map(|text| of_text(text)).sum::<usize>() + stages.map(of_stage).sum::<usize>()
        }
    }
}

/// What a byte of text takes in JSON.
fn escaped_bytes(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

fn write(writer: &mut Writer, analysis: &Analysis) {
    match analysis {
        Analysis::Tokens(found) => {
            writer.begin_object().key("tokens").begin_array();
            for token in found {
                begin(writer, token);
                if token.length > 1 {
                    writer.field_u64("positionLength", u64::from(token.length));
                }
                writer.end_object();
            }
            writer.end_array().end_object();
        }
        Analysis::Detail(detail) => {
            writer.begin_object().key("detail");
            write_detail(writer, detail);
            writer.end_object();
        }
    }
}

fn write_detail(writer: &mut Writer, detail: &Detail) {
    let names = detail.attributes.as_slice();
    writer.begin_object().field_bool("custom_analyzer", detail.analyzer.is_none());
    if let Some(stage) = &detail.analyzer {
        writer.key("analyzer");
        write_stage(writer, stage, names);
    }
    // Of an analyzer made of parts each kind is told, also where there is none.
    if detail.tokenizer.is_some() {
        writer.key("charfilters").begin_array();
        for (name, texts) in &detail.char_filters {
            writer.begin_object().field_str("name", name).key("filtered_text").begin_array();
            for text in texts {
                writer.str(text);
            }
            writer.end_array().end_object();
        }
        writer.end_array();
    }
    if let Some(stage) = &detail.tokenizer {
        writer.key("tokenizer");
        write_stage(writer, stage, names);
        writer.key("tokenfilters").begin_array();
        for stage in &detail.filters {
            write_stage(writer, stage, names);
        }
        writer.end_array();
    }
    writer.end_object();
}

fn write_stage(writer: &mut Writer, stage: &Stage, names: &[String]) {
    writer.begin_object().field_str("name", &stage.name).key("tokens").begin_array();
    let shows = |name: &str| {
        names.is_empty() || names.iter().any(|wanted| wanted.eq_ignore_ascii_case(name))
    };
    for token in &stage.tokens {
        begin(writer, token);
        if shows("bytes") {
            writer.field_str("bytes", &shown_bytes(&token.term));
        }
        if stage.keywords && shows("keyword") {
            writer.field_bool("keyword", token.keyword);
        }
        if shows("positionLength") {
            writer.field_u64("positionLength", u64::from(token.length));
        }
        if shows("termFrequency") {
            writer.field_u64("termFrequency", 1);
        }
        writer.end_object();
    }
    writer.end_array().end_object();
}

/// The bytes of a term: `[61 62]`.
fn shown_bytes(term: &str) -> String {
    let mut shown = String::with_capacity(2 + 3 * term.len());
    for (at, byte) in term.bytes().enumerate() {
        shown.push(if at == 0 { '[' } else { ' ' });
        let (high, low) = (byte >> 4, byte & 15);
        let digits = [high, low].map(|digit| char::from_digit(u32::from(digit), 16));
        shown.extend(digits.into_iter().flatten().skip(usize::from(high == 0)));
    }
    if term.is_empty() {
        shown.push('[');
    }
    shown.push(']');
    shown
}

fn begin(writer: &mut Writer, token: &Token) {
    writer
        .begin_object()
        .field_str("token", &token.term)
        .field_u64("start_offset", u64::from(token.start))
        .field_u64("end_offset", u64::from(token.end))
        .field_str("type", token.kind.name())
        .field_u64("position", u64::from(token.position));
}

#[cfg(test)]
mod tests {
    use engine::ops::analyze::Detail;
    use json::Writer;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_are_shown_as_java_shows_them() {
        assert_eq!(shown_bytes(""), "[]");
        assert_eq!(shown_bytes("a\u{1}é"), "[61 1 c3 a9]");
    }

    fn token(term: String) -> Token {
        let kind = mapping::analysis::TokenKind::Word;
        Token {
            term,
            position: u32::MAX,
            length: 9,
            start: u32::MAX,
            end: u32::MAX,
            kind,
            keyword: false,
        }
    }

    proptest! {
        /// Memory is taken by what is told here, and a buffer that is too small moves.
        #[test]
        fn an_answer_is_no_longer_than_is_told(terms in prop::collection::vec("\\PC{0,40}|[\\x00-\\x7f]{0,40}", 0..20)) {
            let tokens: Vec<Token> = terms.iter().cloned().map(token).collect();
            let stage = Stage { name: "custom".to_owned(), tokens: tokens.clone(), keywords: true };
            let detail = Detail {
                char_filters: vec![("m".to_owned(), terms)],
                tokenizer: Some(stage.clone()),
                filters: vec![stage],
                ..Detail::default()
            };
            for analysis in [Analysis::Tokens(tokens), Analysis::Detail(detail)] {
                let mut body = Vec::new();
                write(&mut Writer::new(&mut body), &analysis);
                prop_assert!(body.len() <= 256 + written_bytes(&analysis), "{}", body.len());
            }
        }
    }
}
