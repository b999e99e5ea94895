//! The line of an action: one object of one action, read token by token, without a tree.
//!
//! Not here: what the line after it says of an update (`update`).

use std::sync::Arc;

use engine::ops::document::{SourceFilter, Update, VersionType, WriteAction, WriteItem};
use engine::{Error, Result};
use env::Bytes;
use json::Limits;
use json::scan::{Event, Scanner, Token};
use mapping::document::Chosen;

use super::super::document::{negative, source_of_body, version_type};
use super::super::update;
use super::Defaults;
use crate::fail;

/// Reads an action line: the item without its source, and why it is refused alone.
pub(super) fn action(
    line: &[u8],
    number: usize,
    defaults: &Defaults,
) -> Result<(WriteItem, Option<Error>)> {
    let syntax = |error: json::Error| fail::of_json(&error, line);
    let mut scanner = Scanner::new(line, Limits::DEFAULT).map_err(syntax)?;
    let mut next = || scanner.next().map_err(syntax);
    let malformed = |expected: &str, found: &str| {
        Error::illegal_argument(format!(
            "Malformed action/metadata line [{number}], expected {expected} but found [{found}]"
        ))
    };
    let name = |event: Option<Event>| event.map_or("null", |event| event.token.name());
    let begin = next()?;
    if begin.is_none_or(|event| event.token != Token::BeginObject) {
        return Err(malformed("START_OBJECT", name(begin)));
    }
    let key = next()?;
    let Some(key) = key.filter(|event| event.token == Token::Key) else {
        return Err(malformed("FIELD_NAME", name(key)));
    };
    let value = next()?;
    let word = scanner.string(&key);
    let action = match word.as_ref() {
        "index" => WriteAction::Index,
        "create" => WriteAction::Create,
        "delete" => WriteAction::Delete,
        "update" => WriteAction::Update,
        other => {
            return Err(malformed("field [create], [delete], [index] or [update]", other));
        }
    };
    let adds = matches!(action, WriteAction::Index | WriteAction::Create);
    let mut item = WriteItem {
        action,
        index: defaults.index.clone(),
        id: None,
        routing: defaults.routing.clone(),
        if_seq_no: None,
        if_primary_term: None,
        version: None,
        version_type: VersionType::Internal,
        // A delete asks for no alias, as in Elasticsearch.
        require_alias: action != WriteAction::Delete && defaults.require_alias,
        require_data_stream: adds && defaults.require_data_stream,
        only_absent: false,
        pipeline: defaults.pipeline.clone(),
        templates: None,
        source: Bytes::empty(),
        update: (action == WriteAction::Update)
            .then(|| Box::new(Update { source: defaults.source.clone(), ..Update::default() })),
    };
    let mut refused = None;
    let mut reader = Reader { scanner, line, number, seen: 0 };
    match value {
        Some(value) if value.token == Token::BeginObject => {
            while let Some(key) = reader.key()? {
                reader.parameter(&key, &mut item, &mut refused)?;
            }
        }
        other => return Err(malformed("START_OBJECT or END_OBJECT", name(other))),
    }
    reader.end()?;
    if item.templates.is_some() && !adds {
        let what = if action == WriteAction::Delete { "Delete" } else { "Update" };
        return Err(Error::illegal_argument(format!(
            "{what} request in line [{number}] does not accept dynamic_templates"
        )));
    }
    Ok((item, refused))
}

/// Reads the parameters of an action, and its end.
struct Reader<'a> {
    scanner: Scanner<'a>,
    line: &'a [u8],
    number: usize,
    /// A bit for each of [`PARAMETERS`] that was there.
    seen: u32,
}

/// What an item is told whose index is the empty word.
fn no_name() -> Error {
    Error::new(400, "invalid_index_name_exception", "Invalid index name [], must not be empty")
        .with("index_uuid", "_na_")
        .with("index", "")
}

/// What an action line may hold.
const PARAMETERS: [&str; 15] = [
    "_index",
    "_id",
    "routing",
    "if_seq_no",
    "if_primary_term",
    "version",
    "version_type",
    "require_alias",
    "require_data_stream",
    "pipeline",
    "op_type",
    "list_executed_pipelines",
    "dynamic_templates",
    "retry_on_conflict",
    "_source",
];

impl Reader<'_> {
    fn next(&mut self) -> Result<Option<Event>> {
        self.scanner.next().map_err(|error| fail::of_json(&error, self.line))
    }

    /// The next key of the parameters, or their end.
    fn key(&mut self) -> Result<Option<Event>> {
        Ok(self.next()?.filter(|event| event.token == Token::Key))
    }

    /// The end of the line: of the action, and of what holds it.
    fn end(&mut self) -> Result<()> {
        let number = self.number;
        let malformed = |what: String| {
            Error::illegal_argument(format!("Malformed action/metadata line [{number}], {what}"))
        };
        match self.scanner.next() {
            Ok(Some(event)) if event.token == Token::EndObject => {}
            Ok(Some(event)) => {
                let found = event.token.name();
                return Err(malformed(format!("expected [END_OBJECT] but found [{found}]")));
            }
            Ok(None) | Err(_) => {
                return Err(malformed("expected [END_OBJECT] but found [null]".to_owned()));
            }
        }
        match self.scanner.next() {
            Ok(None) => Ok(()),
            Ok(Some(_)) | Err(_) => {
                Err(malformed("unexpected data after the closing brace".to_owned()))
            }
        }
    }

    fn parameter(
        &mut self,
        key: &Event,
        item: &mut WriteItem,
        refused: &mut Option<Error>,
    ) -> Result<()> {
        let name = self.scanner.string(key);
        let name = name.as_ref();
        let number = self.number;
        let known = PARAMETERS.iter().position(|it| *it == name);
        // A reader before us may have gone by the first of two.
        if let Some(at) = known {
            if self.seen & (1 << at) != 0 {
                let twice = json::parser::duplicate(&self.scanner, key);
                return Err(fail::of_json(&twice, self.line));
            }
            self.seen |= 1 << at;
        }
        let Some(value) = self.next()? else { return Ok(()) };
        if value.token == Token::Null {
            return Ok(());
        }
        let nests =
            matches!(name, "_source" | "dynamic_templates") && value.token == Token::BeginObject;
        let text = self.scalar(&value);
        if text.is_none() && !nests {
            return Err(Error::illegal_argument(format!(
                "Malformed action/metadata line [{number}], expected a simple value for field \
                 [{name}] but found [{}]",
                value.token.name()
            )));
        }
        if known.is_none() || name == "dynamic_templates" && !nests {
            return Err(Error::illegal_argument(format!(
                "Action/metadata line [{number}] contains an unknown parameter [{name}]"
            )));
        }
        if nests {
            let tree = self.tree(&value)?;
            match (name, &tree) {
                ("_source", tree) => {
                    let filter = source_of_body(tree)?;
                    if let Some(update) = &mut item.update {
                        update.source = update::wanted(filter);
                    }
                }
                (_, names) => item.templates = self.chosen(names)?,
            }
            return Ok(());
        }
        let text = text.unwrap_or_default();
        match name {
            "_index" => {
                if text.is_empty() {
                    *refused = Some(no_name());
                }
                item.index = text;
            }
            "_id" => item.id = Some(text),
            "routing" => item.routing = Some(text),
            "if_seq_no" => item.if_seq_no = Some(count(name, "sequence numbers", &text)?),
            "if_primary_term" => item.if_primary_term = Some(count(name, "primary term", &text)?),
            "version" | "version_type" if item.action == WriteAction::Update => {
                return Err(Error::illegal_argument(
                    "Update requests do not support versioning. Please use `if_seq_no` and \
                     `if_primary_term` instead",
                ));
            }
            "version" => item.version = Some(long(name, &text)?),
            "version_type" => item.version_type = version_type(Some(&text))?,
            "retry_on_conflict" => {
                let count = long(name, &text)?;
                if let Some(update) = &mut item.update {
                    update.retry_on_conflict = count;
                }
            }
            "_source" => {
                if let Some(update) = &mut item.update {
                    update.source = match text.as_str() {
                        "false" => None,
                        "true" => Some(SourceFilter::default()),
                        list => Some(SourceFilter {
                            includes: list.split(',').map(str::to_owned).collect(),
                            ..SourceFilter::default()
                        }),
                    };
                }
            }
            // Elasticsearch asks for this one word alone, and takes any other.
            "op_type" if text == "create" && item.action == WriteAction::Index => {
                item.action = WriteAction::Create;
            }
            "require_alias" => {
                let required = crate::params::flag(&text)?;
                item.require_alias = item.action != WriteAction::Delete && required;
            }
            "require_data_stream" => {
                let required = crate::params::flag(&text)?;
                // Of what no data stream takes nothing is asked, as in Elasticsearch.
                let adds = matches!(item.action, WriteAction::Index | WriteAction::Create);
                item.require_data_stream = adds && required;
            }
            "pipeline" => item.pipeline = Some(text.into()),
            _ => {}
        }
        Ok(())
    }

    /// A whole value.
    fn tree(&mut self, value: &Event) -> Result<json::Value> {
        let failed = |error: json::Error| fail::of_json(&error, self.line);
        let last = self.scanner.skip(*value).map_err(failed)?;
        let text = &self.line[value.start..last.end];
        json::parse(text).map_err(|error| fail::of_json(&error, text))
    }

    /// `dynamic_templates`: names of templates, by the paths of fields.
    fn chosen(&self, names: &json::Value) -> Result<Option<Arc<Chosen>>> {
        let names = names.as_object().into_iter().flat_map(json::Object::iter);
        let chosen = names.map(|(path, name)| match name {
            json::Value::String(name) => Ok((path.into(), name.as_str().into())),
            other => Err(Error::illegal_argument(format!(
                "Malformed action/metadata line [{}], expected a simple value for field \
                 [dynamic_templates] but found [{}]",
                self.number,
                other.token()
            ))),
        });
        let chosen: Chosen = chosen.collect::<Result<_>>()?;
        Ok((!chosen.is_empty()).then(|| Arc::new(chosen)))
    }

    fn scalar(&self, value: &Event) -> Option<String> {
        match value.token {
            Token::String => Some(self.scanner.string(value).into_owned()),
            Token::Number | Token::True | Token::False => Some(self.scanner.raw(value).to_owned()),
            _ => None,
        }
    }
}

fn long(name: &str, text: &str) -> Result<i64> {
    text.parse().map_err(|_| {
        let cause =
            Error::new(400, "number_format_exception", format!("For input string: \"{text}\""));
        Error::illegal_argument(format!("Failed to parse long [{name}] with value [{text}]"))
            .caused_by(cause)
    })
}

fn count(name: &str, what: &str, text: &str) -> Result<u64> {
    let value = long(name, text)?;
    u64::try_from(value).map_err(|_| negative(what, value))
}

/// Is there an escape of half a surrogate pair? It would be read as U+FFFD, so that two names become
/// one, and one document takes the other's place.
pub(super) fn has_half_pair(line: &[u8]) -> bool {
    let unit = |at: usize| -> Option<u16> {
        let digits = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &line[at..]) {
        at += found;
        match unit(at) {
            Some(0xd800..=0xdbff) => match unit(at + 6) {
                Some(0xdc00..=0xdfff) => at += 12,
                _ => return true,
            },
            Some(0xdc00..=0xdfff) => return true,
            Some(_) => at += 6,
            // Another escape: its second character may be a backslash too.
            None => at = (at + 2).min(line.len()),
        }
    }
    false
}
