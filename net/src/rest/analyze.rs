//! `_analyze`: tokens, or what each part of a chain made, as bytes.

use engine::ops::analyze::{Analysis, Detail, Stage, Token};
use json::Writer;

pub(super) fn write(writer: &mut Writer, analysis: &Analysis) {
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
            let bytes: Vec<String> = token.term.bytes().map(|byte| format!("{byte:x}")).collect();
            writer.field_str("bytes", &format!("[{}]", bytes.join(" ")));
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

fn begin(writer: &mut Writer, token: &Token) {
    writer
        .begin_object()
        .field_str("token", &token.term)
        .field_u64("start_offset", u64::from(token.start))
        .field_u64("end_offset", u64::from(token.end))
        .field_str("type", token.kind.name())
        .field_u64("position", u64::from(token.position));
}
