//! `highlight`: the words of a query marked in the text of a hit.
//!
//! | file      | what                                             |
//! |-----------|--------------------------------------------------|
//! | `bind`    | which fields of an index a request means          |
//! | `find`    | what the query asks of a field, and where it is  |
//! | `breaks`  | sentences and words of a text                    |
//! | `unified` | passages by sentences, the best by BM25          |
//! | `plain`   | fragments between tokens                         |
//! | `vectors` | fragments around groups of matches               |
//!
//! Always true
//! 1. The text comes from what the caller may see of the document, and is analyzed anew: nothing is read
//!    that the hit does not show.
//! 2. More text than `index.highlight.max_analyzed_offset` is refused unless the request limits it.

mod bind;
mod breaks;
mod find;
mod html;
mod plain;
mod unified;
mod vectors;

use std::sync::Arc;

use mapping::analysis::{Analyzer, ON, STOP, Scratch};
use mapping::document::kept::Kept;
use mapping::{Field, Kind as Type};

use self::find::{Phrases, Token, Wanted};
use crate::error::{Error, Kind, Result};
use crate::highlight::Options;

/// Tokens of one text at most.
const TOKENS_MAX: usize = 1_000_000;

/// Bytes of them at most.
const TOKENS_BYTES_MAX: usize = 64 << 20;

/// Matches of one text at most.
const MATCHES_MAX: usize = 100_000;

/// Bytes of tags in one text at most: they are put around each match, and the request says how long
/// they are.
const TAGS_BYTES_MAX: usize = 4 << 20;

/// What is highlighted, bound to one index.
#[derive(Debug, Default)]
pub struct Marks {
    fields: Vec<One>,
    /// `index.highlight.max_analyzed_offset`.
    offset_max: u32,
    /// `index.highlight.weight_matches_mode.enabled`: phrases may be marked whole.
    whole: bool,
    index: Arc<str>,
    /// Why nothing can be marked, until whoever makes hits takes it.
    pub(super) failed: Option<Error>,
}

#[derive(Debug)]
struct One {
    name: Arc<str>,
    field: Arc<Field>,
    /// Where its values stand in the source.
    sources: Vec<Arc<str>>,
    options: Arc<Options>,
    /// What the query asks of this field, and of others whose matches count too.
    wanted: Arc<Wanted>,
    /// How the others are cut.
    others: Vec<Cut>,
    style: Style,
    analyzer: Arc<Analyzer>,
    gap: u32,
}

/// An analyzer, and the positions between the values that it cuts.
type Cut = (Arc<Analyzer>, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Unified,
    Plain,
    Vectors,
}

impl Marks {
    /// Nothing is highlighted.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The fragments of a document, by the names of their fields.
    ///
    /// # Errors
    /// Text that is longer than may be analyzed.
    pub fn of(&self, kept: Kept<'_>) -> Result<Vec<(String, Vec<String>)>> {
        // Only text that was read as JSON is stored; of a source that is not kept there is none.
        let document = json::parse(kept.source).unwrap_or_default();
        let apart = kept.stored != kept.source && self.fields.iter().any(|one| one.field.store);
        let stored = apart.then(|| json::parse(kept.stored).unwrap_or_default());
        let mut found = Vec::new();
        for one in &self.fields {
            let stored = stored.as_ref().filter(|_| one.field.store);
            let values = one.values(stored.unwrap_or(&document));
            if values.is_empty() {
                continue;
            }
            let fragments = self.fragments(one, values)?;
            if !fragments.is_empty() {
                found.push((one.name.to_string(), fragments));
            }
        }
        Ok(found)
    }

    fn fragments(&self, one: &One, values: Vec<String>) -> Result<Vec<String>> {
        let options = &one.options;
        let limit = options
            .max_analyzed_offset
            .map(|limit| if limit == 0 { self.offset_max } else { limit.min(self.offset_max) });
        let units: Vec<Vec<u16>> =
            values.iter().map(|value| value.encode_utf16().collect()).collect();
        let total: usize = units.iter().map(|value| value.len() + 1).sum::<usize>() - 1;
        let tokenized = matches!(one.field.kind, Type::Text(_));
        if limit.is_none() && tokenized && total > self.offset_max as usize {
            return Err(self.too_long(one, total));
        }
        let limit = limit.unwrap_or(u32::MAX);
        // Phrases are marked whole where only this field's own count (`weight_matches` mode).
        let whole = self.whole && one.style == Style::Unified && options.require_field_match;
        if one.style == Style::Plain {
            // The words of all values are held together.
            let mut bytes = 0;
            let cut: Vec<_> = units
                .into_iter()
                .zip(&values)
                .map(|(text, value)| {
                    let value = std::slice::from_ref(value);
                    let tokens = one.tokens(value, &one.analyzer, (one.gap, limit), &mut bytes)?;
                    let matches = one.wanted.find(&tokens, Phrases::Spans, MATCHES_MAX);
                    Ok((text, tokens, matches))
                })
                .collect::<Result<_>>()?;
            check_tags(options, cut.iter().map(|(_, _, matches)| matches.len()).sum())?;
            return Ok(plain::fragments(&cut, options));
        }
        let separator =
            if one.style == Style::Vectors { u16::from(b' ') } else { unified::SEPARATOR };
        let mut at = 0;
        let ends: Vec<u32> = units
            .iter()
            .map(|value| {
                at += value.len() as u32 + 1;
                at - 1
            })
            .collect();
        let text = units.join(&separator);
        let runs = match whole || one.style == Style::Vectors {
            true => Phrases::Whole,
            false => Phrases::Words,
        };
        let tokens = one.tokens(&values, &one.analyzer, (one.gap, limit), &mut 0)?;
        let mut matches = one.wanted.find(&tokens, runs, MATCHES_MAX);
        for (analyzer, gap) in &one.others {
            let tokens = one.tokens(&values, analyzer, (*gap, limit), &mut 0)?;
            matches.extend(one.wanted.find(&tokens, runs, MATCHES_MAX));
        }
        if !one.others.is_empty() {
            matches.sort_by(|a, b| a.start.cmp(&b.start).then(a.end.cmp(&b.end)));
            matches.dedup_by(|a, b| a.start == b.start && a.end == b.end);
        }
        check_tags(options, matches.len())?;
        if one.style == Style::Vectors {
            let found = vectors::fragments(&text, &ends, &matches, options);
            if found.is_empty() && options.no_match_size > 0 {
                return Ok(unified::fragments(&text, &[], options, tokenized, false));
            }
            return Ok(found);
        }
        Ok(unified::fragments(&text, &matches, options, tokenized, !whole))
    }

    fn too_long(&self, one: &One, total: usize) -> Error {
        let max = self.offset_max;
        Error::illegal(format!(
            "The length [{total}] of field [{}] in doc[0]/index[{}] exceeds the \
             [index.highlight.max_analyzed_offset] limit [{max}]. To avoid this error, set the query \
             parameter [max_analyzed_offset] to a value less than index setting [{max}] and this will \
             tolerate long field values by truncating them.",
            one.name, self.index
        ))
    }
}

/// Refuses tags that would take too much around so many matches.
fn check_tags(options: &Options, matches: usize) -> Result<()> {
    let longest = |tags: &[String]| tags.iter().map(String::len).max().unwrap_or(0);
    let bytes = matches * (longest(&options.pre_tags) + longest(&options.post_tags));
    if bytes <= TAGS_BYTES_MAX {
        return Ok(());
    }
    let reason = format!(
        "[request] Data too large, data for [<highlight>] would be [{bytes}b], which is larger than \
         the limit of [{TAGS_BYTES_MAX}b]"
    );
    Err(Error::new(Kind::CircuitBreaking, reason))
}

impl One {
    fn values(&self, document: &json::Value) -> Vec<String> {
        let mut values = Vec::new();
        for path in &self.sources {
            collect(document, path, 0, &mut values);
        }
        if let Type::Keyword(keyword) = &self.field.kind
            && let Some(max) = keyword.ignore_above
        {
            values.retain(|value| value.encode_utf16().count() <= max as usize);
        }
        values
    }

    /// Tokens of the values, with offsets in the text of all, up to `limit`; what they take is added to `bytes`.
    ///
    /// # Errors
    /// Where they, or what makes them, take too much memory.
    fn tokens(
        &self,
        values: &[String],
        analyzer: &Analyzer,
        (gap, limit): (u32, u32),
        bytes: &mut usize,
    ) -> Result<Vec<Token>> {
        let mut tokens = Vec::new();
        let mut scratch = Scratch::default();
        let (mut position, mut offset) = (0u32, 0u32);
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                position = position.saturating_add(gap);
                offset += 1;
            }
            if let (Type::Keyword(_), true) = (&self.field.kind, offset < limit) {
                let mut buffer = String::new();
                let term = analyzer.normal_term(value, &mut buffer).as_bytes().into();
                let end = offset + value.encode_utf16().count() as u32;
                tokens.push(Token { term, position, start: offset, end });
                position += 1;
                offset = end;
                continue;
            }
            let done = analyzer.tokens_with(value, &mut scratch, |token| {
                let start = offset.saturating_add(token.start);
                // What begins behind the limit is the last that is looked at, as in Lucene.
                if tokens.len() == TOKENS_MAX || start >= limit {
                    return STOP;
                }
                *bytes += size_of::<Token>() + token.term.len();
                if *bytes > TOKENS_BYTES_MAX {
                    return STOP;
                }
                tokens.push(Token {
                    term: token.term.as_bytes().into(),
                    position: position.saturating_add(token.position),
                    start,
                    end: offset.saturating_add(token.end),
                });
                ON
            });
            if *bytes > TOKENS_BYTES_MAX || done.lacks_room {
                return Err(Error::too_large("words to highlight", TOKENS_BYTES_MAX));
            }
            position = position.saturating_add(done.position_end);
            offset = offset.saturating_add(value.encode_utf16().count() as u32);
        }
        Ok(tokens)
    }
}

/// The scalars at a dotted path, as text; dots in names count as objects.
pub(crate) fn collect(value: &json::Value, path: &str, depth: usize, out: &mut Vec<String>) {
    use json::Value;
    if depth > 64 {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, depth + 1, out)),
        Value::Object(object) if !path.is_empty() => {
            for (name, inner) in object.iter() {
                if name == path {
                    collect(inner, "", depth + 1, out);
                } else if let Some(rest) = path.strip_prefix(name)
                    && let Some(rest) = rest.strip_prefix('.')
                {
                    collect(inner, rest, depth + 1, out);
                }
            }
        }
        Value::String(text) if path.is_empty() => out.push(text.clone()),
        Value::Number(number) if path.is_empty() => out.push(number.text().to_owned()),
        Value::Bool(value) if path.is_empty() => out.push(value.to_string()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use mapping::Mapping;

    use super::*;

    /// Every token of a text was kept before the first was looked for.
    #[test]
    fn a_text_of_too_many_words_is_refused_with_the_breakers_name() {
        let analysis = json::json!({
            "filter": {"wide": {
                "type": "shingle", "min_shingle_size": 4, "max_shingle_size": 4,
                "token_separator": ("-".repeat(3_000)), "output_unigrams": false
            }},
            "analyzer": {"wide": {"tokenizer": "whitespace", "filter": ["wide"]}}
        });
        let registry = mapping::analysis::Registry::parse(&analysis).expect("known parts");
        let settings = Arc::new(mapping::Settings {
            analysis: Arc::new(registry),
            ..mapping::Settings::default()
        });
        let fields = json::json!({"properties": {"t": {"type": "text", "analyzer": "wide"}}});
        let mapping = Mapping::parse(&fields, settings).expect("a mapping");
        let field = Arc::clone(mapping.field("t").expect("mapped"));
        let Some((analyzer, gap)) = bind::cut_of(&field) else { panic!("a text") };
        let one = One {
            name: Arc::clone(&field.path),
            field,
            sources: Vec::new(),
            options: Arc::default(),
            wanted: Arc::default(),
            others: Vec::new(),
            style: Style::Plain,
            analyzer: Arc::clone(&analyzer),
            gap,
        };
        let tokens = |text: &str, limit, bytes: &mut usize| {
            one.tokens(&[text.to_owned()], &analyzer, (gap, limit), bytes)
        };
        let long = "ab ".repeat(10_000);
        let refused = tokens(&long, u32::MAX, &mut 0).expect_err("90 MB of words");
        assert_eq!(refused.kind, Kind::CircuitBreaking);
        assert_eq!(tokens(&long, 3_000, &mut 0).expect("what is before the limit").len(), 1_000);
        let mut bytes = TOKENS_BYTES_MAX - 100_000;
        assert!(tokens("ab ab ab ab", u32::MAX, &mut bytes).is_ok());
        assert!(tokens(&long[..150], u32::MAX, &mut bytes).is_err(), "with those of other values");
    }

    /// Tags of a thousand letters around each word of one text of 450 KB took 130 MiB.
    #[test]
    fn long_tags_around_many_matches_are_refused_with_the_breakers_name() {
        let tags = |len: usize| Arc::from(["x".repeat(len)]);
        let options = Options { pre_tags: tags(1_000), post_tags: tags(4), ..Options::default() };
        assert_eq!(check_tags(&options, 4_000), Ok(()));
        let refused = check_tags(&options, 64_000).expect_err("64 MB of tags");
        assert_eq!(refused.kind, Kind::CircuitBreaking);
        assert!(refused.reason.contains("would be [64256000b]"), "{}", refused.reason);
        assert_eq!(check_tags(&Options::default(), MATCHES_MAX), Ok(()), "tags as they are");
    }
}
