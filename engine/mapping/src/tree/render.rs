//! Shows mappings as Elasticsearch shows them: children sorted by name, defaults left out.

use std::sync::Arc;

use json::{Object as Json, Value};

use super::Mapping;
use super::node::{Alias, Child, Children, Object};
use super::options::Source;
use crate::types::{
    ContextKind, Contexts, Field, Flattened, IndexOptions, Keyword, KeywordFlavor, Kind, Number,
    NumberKind, Text, TextFlavor, date_format,
};

/// A whole mapping. Of one of which fields are hidden, what may speak of them is left out.
pub(super) fn mappings(mapping: &Mapping) -> Value {
    let (root, options) = (mapping.root(), mapping.options());
    let mut out = Json::new();
    object_options(root, &mut out);
    if let Some(meta) = &options.meta {
        out.insert("_meta", meta.clone());
    }
    if options.routing_required == Some(true) {
        out.insert("_routing", json::json!({"required": true}));
    }
    if let Some(formats) = &options.date_formats {
        let formats: Value = formats.iter().map(|format| format.pattern()).collect();
        out.insert("dynamic_date_formats", formats);
    }
    source(&options.source, mapping, &mut out);
    if let (Some(templates), false) = (&options.templates, mapping.is_reduced()) {
        let templates: Value = templates.iter().map(|template| template.shown.clone()).collect();
        out.insert("dynamic_templates", templates);
    }
    if let Some(value) = options.date_detection {
        out.insert("date_detection", value);
    }
    if let Some(value) = options.numeric_detection {
        out.insert("numeric_detection", value);
    }
    properties(&root.children, &mut out);
    Value::Object(out)
}

fn source(source: &Source, mapping: &Mapping, out: &mut Json) {
    let mut shown = Json::new();
    if let Some(enabled) = source.enabled.filter(|enabled| !enabled) {
        shown.insert("enabled", enabled);
    }
    if let Some(mode) = source.mode {
        shown.insert("mode", mode.name());
    }
    for (key, paths) in [("includes", &source.includes), ("excludes", &source.excludes)] {
        // A pattern may be the name of what it hides.
        let is_shown = |path: &&String| !mapping.is_reduced() || mapping.field(path).is_some();
        let paths = paths.iter().filter(is_shown).map(|path| Value::from(path.as_str()));
        let paths: Vec<Value> = paths.collect();
        if !paths.is_empty() {
            shown.insert(key, Value::Array(paths));
        }
    }
    if !shown.is_empty() {
        out.insert("_source", shown);
    }
}

fn object_options(object: &Object, out: &mut Json) {
    if let Some(dynamic) = object.dynamic {
        out.insert("dynamic", dynamic.name());
    }
    if !object.is_enabled() {
        out.insert("enabled", false);
    }
    if let Some(value) = object.subobjects {
        out.insert("subobjects", value);
    }
}

fn properties(children: &Children, out: &mut Json) {
    if children.len() == 0 {
        return;
    }
    let mut properties = Json::with_capacity(children.len());
    for (name, child) in children.iter() {
        let shown = match child {
            Child::Field(child) => field(child),
            Child::Object(child) => object(child),
            Child::Alias(child) => alias(child),
        };
        properties.insert(&**name, shown);
    }
    out.insert("properties", properties);
}

fn object(object: &Object) -> Value {
    let mut out = Json::new();
    match &object.nested {
        Some(nested) => {
            out.insert("type", "nested");
            if nested.in_parent {
                out.insert("include_in_parent", true);
            }
            if nested.in_root {
                out.insert("include_in_root", true);
            }
        }
        None if object.children.len() == 0 => {
            out.insert("type", "object");
        }
        None => {}
    }
    object_options(object, &mut out);
    properties(&object.children, &mut out);
    Value::Object(out)
}

fn alias(alias: &Alias) -> Value {
    let mut out = Json::new();
    out.insert("type", "alias");
    out.insert("path", &*alias.target);
    if let Some(meta) = &alias.meta {
        out.insert("meta", meta.clone());
    }
    Value::Object(out)
}

/// One field.
pub(super) fn field(field: &Field) -> Value {
    let mut out = Json::new();
    out.insert("type", field.type_name());
    if let Some(parameters) = Shown::of(&field.kind) {
        if !field.index && parameters.index {
            out.insert("index", false);
        }
        if field.doc_values != parameters.doc_values_default && parameters.doc_values {
            out.insert("doc_values", field.doc_values);
        }
    }
    if field.store {
        out.insert("store", true);
    }
    special(field, &mut out);
    if let Some(meta) = &field.meta {
        out.insert("meta", meta.clone());
    }
    if !field.multi_fields.is_empty() {
        let multi: Json =
            field.multi_fields.iter().map(|multi| (multi.name(), self::field(multi))).collect();
        out.insert("fields", multi);
    }
    if !field.copy_to.is_empty() {
        let targets: Value = field.copy_to.iter().map(|target| &**target).collect();
        out.insert("copy_to", targets);
    }
    Value::Object(out)
}

/// Which of the common parameters can be other than they are by default.
struct Shown {
    index: bool,
    doc_values: bool,
    doc_values_default: bool,
}

impl Shown {
    const fn of(kind: &Kind) -> Option<Self> {
        Some(match kind {
            Kind::Text(_) => Self { index: true, doc_values: false, doc_values_default: false },
            Kind::Binary => Self { index: false, doc_values: true, doc_values_default: false },
            Kind::RankFeature(_)
            | Kind::RankFeatures(_)
            | Kind::Completion(_)
            | Kind::ConstantKeyword(_)
            | Kind::Join(_) => return None,
            _ => Self { index: true, doc_values: true, doc_values_default: true },
        })
    }
}

/// Parameters that not all types have.
fn special(field: &Field, out: &mut Json) {
    match &field.kind {
        Kind::Text(kind) => text(kind, out),
        Kind::Keyword(kind) => keyword(kind, out),
        Kind::Number(kind) => number(kind, out),
        Kind::Boolean(boolean) => {
            if let Some(value) = boolean.null_value {
                out.insert("null_value", value);
            }
            if boolean.ignore_malformed_given {
                out.insert("ignore_malformed", boolean.ignore_malformed);
            }
        }
        Kind::Date(date) => {
            let default = if date.nanos { &date_format::NANOS } else { &date_format::DEFAULT };
            if date.format.pattern() != default.pattern() {
                out.insert("format", date.format.pattern());
            }
            if let Some(locale) = &date.locale {
                out.insert("locale", &**locale);
            }
            if let Some((text, _)) = &date.null_value {
                out.insert("null_value", &**text);
            }
            if date.ignore_malformed_given {
                out.insert("ignore_malformed", date.ignore_malformed);
            }
        }
        Kind::Ip(ip) => {
            if let Some((text, _)) = &ip.null_value {
                out.insert("null_value", &**text);
            }
            if ip.ignore_malformed_given {
                out.insert("ignore_malformed", ip.ignore_malformed);
            }
        }
        Kind::GeoPoint(point) => {
            if point.ignore_malformed_given {
                out.insert("ignore_malformed", point.ignore_malformed);
            }
            if point.ignore_z_given {
                out.insert("ignore_z_value", !point.refuse_z);
            }
            if let Some((value, _)) = &point.null_value {
                out.insert("null_value", value.clone());
            }
        }
        Kind::Range(range) => {
            if range.coerce_given {
                out.insert("coerce", range.coerce);
            }
            if let Some(format) = &range.format {
                out.insert("format", format.pattern());
            }
            if let Some(locale) = &range.locale {
                out.insert("locale", &**locale);
            }
        }
        Kind::RankFeature(feature) | Kind::RankFeatures(feature) => {
            if feature.negative {
                out.insert("positive_score_impact", false);
            }
            if let Some(value) = feature.null_value {
                out.insert("null_value", value);
            }
        }
        Kind::Completion(completion) => {
            let [own, search] = &completion.names;
            let used = |name: &Option<std::sync::Arc<str>>,
                        analyzer: &crate::analysis::Analyzer| {
                name.as_deref().unwrap_or(analyzer.name()).to_owned()
            };
            out.insert("analyzer", used(own, &completion.analyzer));
            if let Some(name) = search {
                out.insert("search_analyzer", &**name);
            }
            out.insert("preserve_separators", completion.preserve_separators);
            out.insert("preserve_position_increments", completion.preserve_position_increments);
            out.insert("max_input_length", completion.max_input_length);
            if !completion.contexts.is_empty() {
                out.insert("contexts", completion.contexts.iter().map(context).collect::<Value>());
            }
        }
        Kind::ConstantKeyword(constant) => {
            if let Some(value) = &constant.value {
                out.insert("value", &**value);
            }
        }
        Kind::Flattened(kind) => flattened(kind, out),
        Kind::Join(join) => {
            out.insert("eager_global_ordinals", !join.lazy);
            out.insert("relations", join.to_json());
        }
        Kind::Binary => {}
    }
}

fn context(context: &Contexts) -> Value {
    let mut out = Json::new();
    out.insert("name", &*context.name);
    match context.kind {
        ContextKind::Category => {
            out.insert("type", "CATEGORY");
        }
        ContextKind::Geo(precision) => {
            out.insert("type", "GEO");
            out.insert("precision", u32::from(precision));
        }
    }
    if let Some(path) = &context.path {
        out.insert("path", &**path);
    }
    Value::Object(out)
}

fn text(text: &Text, out: &mut Json) {
    if text.index_options != IndexOptions::Positions {
        out.insert("index_options", text.index_options.name());
    }
    if !text.norms && text.flavor != TextFlavor::MatchOnly {
        out.insert("norms", false);
    }
    if let TextFlavor::SearchAsYouType(size) = text.flavor {
        out.insert("doc_values", false);
        out.insert("max_shingle_size", u32::from(size));
    }
    if let Some(vector) = &text.term_vector {
        out.insert("term_vector", &**vector);
    }
    let is_other = |name: &Option<Arc<str>>| name.as_deref().is_some_and(|it| it != "default");
    if text.names[0].is_none() && text.names[1..].iter().any(is_other) {
        // What is searched otherwise shows how it is written, too.
        out.insert("analyzer", "default");
    }
    let keys = ["analyzer", "search_analyzer", "search_quote_analyzer"];
    for (key, name) in keys.into_iter().zip(&text.names) {
        if let Some(name) = name {
            out.insert(key, &**name);
        }
    }
    if text.position_increment_gap_given {
        out.insert("position_increment_gap", text.position_increment_gap);
    }
    if let Some(name) = &text.similarity {
        out.insert("similarity", &**name);
    }
    if text.eager_global_ordinals {
        out.insert("eager_global_ordinals", true);
    }
    if text.fielddata {
        out.insert("fielddata", true);
    }
    if let Some((least, most)) = text.index_prefixes {
        out.insert("index_prefixes", json::json!({"min_chars": least, "max_chars": most}));
    }
    if text.index_phrases {
        out.insert("index_phrases", true);
    }
}

fn keyword(keyword: &Keyword, out: &mut Json) {
    if let Some(value) = &keyword.null_value {
        out.insert("null_value", &**value);
    }
    if keyword.eager_global_ordinals {
        out.insert("eager_global_ordinals", true);
    }
    if let Some(length) = keyword.ignore_above
        && length < i32::MAX as u32
    {
        out.insert("ignore_above", length);
    }
    if keyword.flavor != KeywordFlavor::Keyword {
        return;
    }
    if keyword.index_options != IndexOptions::Docs {
        out.insert("index_options", keyword.index_options.name());
    }
    if keyword.norms {
        out.insert("norms", true);
    }
    if let Some(name) = &keyword.similarity {
        out.insert("similarity", &**name);
    }
    if let Some(normalizer) = &keyword.normalizer {
        out.insert("normalizer", normalizer.name());
    }
    if keyword.split_queries_on_whitespace {
        out.insert("split_queries_on_whitespace", true);
    }
}

fn number(number: &Number, out: &mut Json) {
    if let Some(counts) = &number.counts {
        out.insert("analyzer", counts.analyzer.name());
        if !counts.position_increments {
            out.insert("enable_position_increments", false);
        }
    }
    if number.ignore_malformed_given {
        out.insert("ignore_malformed", number.ignore_malformed);
    }
    if number.number == NumberKind::ScaledFloat {
        out.insert("scaling_factor", number.scale);
    }
    if number.coerce_given {
        out.insert("coerce", number.coerce);
    }
    if let Some(value) = number.null_value {
        out.insert("null_value", number.value(value));
    }
}

fn flattened(flattened: &Flattened, out: &mut Json) {
    if flattened.depth_limit != Flattened::DEPTH {
        out.insert("depth_limit", flattened.depth_limit);
    }
    if let Some(value) = &flattened.null_value {
        out.insert("null_value", &**value);
    }
    if flattened.eager_global_ordinals {
        out.insert("eager_global_ordinals", true);
    }
    if let Some(length) = flattened.ignore_above {
        out.insert("ignore_above", length);
    }
    if let Some(name) = &flattened.similarity {
        out.insert("similarity", &**name);
    }
    if flattened.split_queries_on_whitespace {
        out.insert("split_queries_on_whitespace", true);
    }
}
