//! What may be wrong with a document, in Elasticsearch's words, with the place in its source.

use json::ErrorKind as Json;
use json::tape::{Kind, Node};

use super::arena::WHOLE;
use crate::tree::define_java_text as java_text;
use crate::types::Field;
use crate::{Error, ErrorKind};

/// Longest preview of a value, in characters. Elasticsearch shows all of it; a value of many
/// megabytes would be copied into each answer and log.
const PREVIEW_MAX: usize = 1_000;

/// A failure with `[line:column] ` before it.
#[cold]
pub(super) fn at(node: Node<'_>, kind: ErrorKind, reason: &str) -> Error {
    Error::new(kind, format!("{} {reason}", node.place()))
}

/// A `document_parsing_exception`.
#[cold]
pub(super) fn parsing(node: Node<'_>, reason: &str) -> Error {
    at(node, ErrorKind::DocumentParsing, reason)
}

/// What Elasticsearch puts around a failure of its own that is not yet about a document.
#[cold]
pub(super) fn failed(node: Node<'_>, cause: Error) -> Error {
    parsing(node, &format!("failed to parse: {}", cause.reason)).caused_by(cause)
}

/// A value that its field does not take.
#[cold]
pub(super) fn value(field: &Field, id: &str, node: Node<'_>, cause: Error) -> Error {
    if matches!(field.kind, crate::types::Kind::GeoPoint(_)) {
        // Places are told without document and preview.
        let (path, kind) = (&field.path, field.type_name());
        let reason = format!("failed to parse field [{path}] of type [{kind}]");
        return parsing(node, &reason).caused_by(cause);
    }
    named(&field.path, field.type_name(), id, node, cause)
}

/// A value that the field `name` of type `kind` does not take.
#[cold]
pub(super) fn named(name: &str, kind: &str, id: &str, node: Node<'_>, cause: Error) -> Error {
    let cause = match cause.kind {
        ErrorKind::XContentParse | ErrorKind::DocumentParsing if !cause.reason.starts_with('[') => {
            Error { reason: format!("{} {}", node.place(), cause.reason), ..cause }
        }
        _ => cause,
    };
    let preview = preview(node);
    parsing(
        node,
        &format!(
            "failed to parse field [{name}] of type [{kind}] in document with id '{id}'. Preview of \
             field's value: '{preview}'"
        ),
    )
    .caused_by(cause)
}

/// The beginning of a value, as Java shows it.
fn preview(node: Node<'_>) -> String {
    let mut preview = match node.as_str() {
        Some(text) => text.chars().take(PREVIEW_MAX + 1).collect(),
        None => java_text(&node.to_value()),
    };
    if let Some((at, _)) = preview.char_indices().nth(PREVIEW_MAX) {
        preview.truncate(at);
        preview.push_str("...");
    }
    preview
}

/// Tells of which field of a document there is too much, as it is told of a whole document; others stay.
#[cold]
pub(super) fn full_of(field: Option<&Field>, id: &str, cause: Error) -> Error {
    if cause.kind != ErrorKind::NoMemory {
        return cause;
    }
    let what = match field {
        Some(field) => format!("<field [{}] of the document with id '{id}'>", field.path),
        None => format!("<fields of the document with id '{id}'>"),
    };
    Error { reason: cause.reason.replacen(WHOLE, &what, 1), ..cause }
}

/// Text was asked of something else.
#[cold]
pub(super) fn no_text(node: Node<'_>) -> Error {
    let place = node.place();
    Error::illegal_argument(format!(
        "Expected text at {}:{} but found {}",
        place.line,
        place.column,
        node.token()
    ))
}

/// An object was asked of a value.
#[cold]
pub(super) fn concrete(path: &str, name: &str, node: Node<'_>) -> Error {
    let path = if path.is_empty() { "_doc" } else { path };
    parsing(
        node,
        &format!(
            "object mapping for [{path}] tried to parse field [{name}] as object, but found a \
             concrete value"
        ),
    )
}

/// More nested documents than a document may have.
#[cold]
pub(super) fn too_many_nested(limit: u64, node: Node<'_>) -> Error {
    parsing(
        node,
        &format!(
            "The number of nested documents has exceeded the allowed limit of [{limit}]. This limit \
             can be set by changing the [index.mapping.nested_objects.limit] index level setting."
        ),
    )
}

/// A new field where the mapping is strict.
#[cold]
pub(super) fn strict(parent: &str, name: &str, node: Node<'_>) -> Error {
    let parent = if parent.is_empty() { "_doc" } else { parent };
    at(
        node,
        ErrorKind::StrictDynamicMapping,
        &format!(
            "mapping set to strict, dynamic introduction of [{name}] within [{parent}] is not allowed"
        ),
    )
}

/// A term too long to be indexed, of a field or of what a document has beside its fields (`_routing`, which its
/// text does not say).
#[cold]
pub fn immense(path: &str, term: &[u8]) -> Error {
    let most = crate::types::TERM_BYTES_MAX;
    let prefix: Vec<String> = term.iter().take(30).map(|byte| (*byte as i8).to_string()).collect();
    let cause = format!("bytes can be at most {most} in length; got {}", term.len());
    Error::illegal_argument(format!(
        "Document contains at least one immense term in field=\"{}\" (whose UTF8 encoding is longer \
         than the max length {most}), all of which were skipped.  Please correct the analyzer to \
         not produce such terms.  The prefix of the first immense term is: '[{}]...', original \
         message: {cause}",
        path,
        prefix.join(", ")
    ))
    .caused_by(Error::new(ErrorKind::MaxBytesLengthExceeded, cause))
}

/// Lucene's greatest position.
pub(super) const POSITION_MAX: u32 = i32::MAX as u32 - 128;

/// A word behind [`POSITION_MAX`], which came after one at `last`.
#[cold]
pub(super) fn position(path: &str, last: u32, position: u32) -> Error {
    let reason = match i32::try_from(position) {
        Ok(position) => format!(
            "position {position} is too large for field '{path}': max allowed position is {POSITION_MAX}"
        ),
        // Within a value words follow one another; Java's number begins anew at its end.
        Err(_) => format!(
            "position overflowed Integer.MAX_VALUE (got posIncr=1 lastPosition={last} position={}) for \
             field '{path}'",
            position as i32,
        ),
    };
    Error::new(ErrorKind::PositionTooGreat, reason)
}

/// A document without a byte.
#[cold]
pub(super) fn empty() -> Error {
    Error::new(ErrorKind::DocumentParsing, "[0:0] failed to parse, document is empty")
}

/// A document that is no object.
#[cold]
pub(super) fn no_object(root: Node<'_>) -> Error {
    debug_assert!(root.kind() != Kind::Object);
    parsing(root, "Malformed content, must start with an object")
}

/// Text that is no JSON.
#[cold]
pub(super) fn json(error: &json::Error, source: &[u8]) -> Error {
    let place = error.place();
    let outer = |cause: Error| {
        let reason = format!("{place} failed to parse: {}", cause.reason);
        Error::new(ErrorKind::DocumentParsing, reason).caused_by(cause)
    };
    if let Json::Trailing(token) = error.kind {
        return outer(Error::illegal_argument(format!(
            "Malformed content, found extra data after parsing: {token}"
        )));
    }
    let kind = match error.kind {
        Json::UnexpectedEnd => ErrorKind::XContentEof,
        _ => ErrorKind::XContentParse,
    };
    let jackson = error.jackson(source);
    let inner = Error::new(kind, format!("{place} {jackson}"));
    outer(inner.caused_by(Error::new(ErrorKind::JsonParse, jackson)))
}
