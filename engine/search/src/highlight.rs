//! What a request wants highlighted: fields, each with all its options settled.
//!
//! Plain data, beside `request`; `dsl::highlight` reads it, `fetch::highlight` carries it out.

use std::sync::Arc;

use crate::ast::Query;

/// The fields of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Highlight {
    /// Fields, by name or pattern, in order.
    pub fields: Vec<FieldHighlight>,
    /// The query of the fields that have none of their own.
    /// (A request is moved about on stacks, so that what is rare in it lies elsewhere.)
    pub query: Option<Box<Query>>,
}

/// One field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldHighlight {
    /// Its name, or a pattern.
    pub field: String,
    /// How. (What a request says for all of them, of which there may be a thousand, is there once.)
    pub options: Arc<Options>,
    /// Highlights this query instead.
    pub query: Option<Query>,
}

/// Where a fragment may begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// At some characters.
    Chars,
    /// At sentences.
    Sentence,
    /// At words.
    Word,
}

/// How a field is highlighted.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// `unified`, `plain`, `fvh`, or a name that nobody knows.
    pub kind: Arc<str>,
    /// Before each match; `fvh` takes them in turn.
    pub pre_tags: Arc<[String]>,
    /// Behind each match.
    pub post_tags: Arc<[String]>,
    /// The text between is written as HTML.
    pub html: bool,
    /// Length of a fragment.
    pub fragment_size: u32,
    /// Most fragments; 0: the whole text.
    pub fragments: u32,
    /// `fvh`: how far before the match a fragment begins.
    pub fragment_offset: Option<u32>,
    /// Best fragments first.
    pub by_score: bool,
    /// Only what the query asked of this field.
    pub require_field_match: bool,
    /// Length of the text that is shown where nothing matches; 0: nothing is.
    pub no_match_size: u32,
    /// Where fragments begin and end.
    pub boundary: Option<Boundary>,
    /// `fvh`: characters of [`Boundary::Chars`].
    pub boundary_chars: Arc<str>,
    /// `fvh`: how far is looked for them.
    pub boundary_max_scan: u32,
    /// Fields whose matches count as this one's.
    pub matched_fields: Vec<String>,
    /// Only so much of the text is analyzed.
    pub max_analyzed_offset: Option<u32>,
    /// `plain`: `simple` cuts phrases, `span` does not.
    pub simple_fragmenter: bool,
    /// Matches of a document that are looked at.
    pub phrase_limit: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kind: "unified".into(),
            pre_tags: ["<em>".to_owned()].into(),
            post_tags: ["</em>".to_owned()].into(),
            html: false,
            fragment_size: 100,
            fragments: 5,
            fragment_offset: None,
            by_score: false,
            require_field_match: true,
            no_match_size: 0,
            boundary: None,
            boundary_chars: ".,!? \t\n".into(),
            boundary_max_scan: 20,
            matched_fields: Vec::new(),
            max_analyzed_offset: None,
            simple_fragmenter: false,
            phrase_limit: 256,
        }
    }
}
