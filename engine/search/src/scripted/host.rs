//! What a script sees of one segment: the columns of the document at hand.

use std::sync::Arc;

use base::{DocId, FieldNo, Ord};
use json::Value as Json;
use mapping::document::kept::split;
use mapping::types::{KeywordFlavor, geo, sortable};
use mapping::{Column, Field, Kind, NumberKind};
use script::{Fault, Heap, Host, Object, Value};
use segment::columns::{DictionaryReader, Numeric, Ordinals};
use segment::{Missing, Segment};

use super::Bound;
use crate::iter::window_of;
use crate::plan::function::Form;

/// Fields that one script may open: a loop over made-up names ends.
const FIELDS_MAX: usize = 4096;

/// The columns of a segment, as far as a script has asked for them.
pub struct Columns {
    bound: Arc<Bound>,
    segment: Segment,
    doc: DocId,
    score: f64,
    opened: Vec<Open>,
    /// The source may be asked for: what of it the caller may see.
    source: Option<Option<Arc<json::fields::Fields>>>,
}

/// One field.
struct Open {
    name: Box<str>,
    values: Values,
    /// Whose values are read; absent: nobody's.
    doc: Option<DocId>,
    numbers: Vec<i64>,
    ranks: Vec<Ord>,
}

/// Where a field's values lie.
enum Values {
    /// The segment has none.
    Nowhere,
    /// The same in all documents.
    Constant(Arc<str>),
    Numbers(Numeric, Shape),
    Terms(Box<Terms>),
}

struct Terms {
    column: Ordinals,
    reader: DictionaryReader,
    field: Arc<Field>,
    /// Terms are shown as they are kept.
    is_plain: bool,
    /// What those of the field begin with.
    prefix: Option<Vec<u8>>,
}

/// What a number of a column is.
#[derive(Clone, Copy)]
enum Shape {
    Long,
    Unsigned,
    Double(Form),
    Bool,
    Millis,
    Nanos,
    Place,
}

impl Columns {
    /// The columns of a segment.
    pub fn new(bound: Arc<Bound>, segment: Segment) -> Self {
        Self { bound, segment, doc: DocId(0), score: 0.0, opened: Vec::new(), source: None }
    }

    /// `params._source` is there, as far as the caller may see it.
    #[must_use]
    pub fn with_source(mut self, visible: Option<Arc<json::fields::Fields>>) -> Self {
        self.source = Some(visible);
        self
    }

    /// Goes to a document.
    pub fn set(&mut self, doc: DocId, score: f64) {
        (self.doc, self.score) = (doc, score);
    }

    fn open(&self, name: &str) -> Result<Values, Fault> {
        let segment = &self.segment;
        let numbers = |no: FieldNo, shape: Shape| match segment.numeric(no) {
            Some(column) => Values::Numbers(column.clone(), shape),
            None => Values::Nowhere,
        };
        match name {
            "_index" => return Ok(Values::Constant(Arc::clone(&self.bound.index))),
            "_seq_no" => return Ok(numbers(FieldNo::SEQ_NO, Shape::Long)),
            "_version" => return Ok(numbers(FieldNo::VERSION, Shape::Long)),
            "_id" => {
                return Err(Fault::illegal(
                    "Fielddata access on the _id field is disallowed, you can re-enable it by \
                     updating the dynamic cluster setting: indices.id_field_data.enabled",
                ));
            }
            _ => {}
        }
        let Some(field) = self.bound.mapping.known(name) else {
            return Err(Fault::illegal(format!("No field found for [{name}] in mapping")));
        };
        match field.column() {
            Column::Numeric => {
                let shape = match &field.kind {
                    Kind::Boolean(_) => Shape::Bool,
                    Kind::Date(date) if date.nanos => Shape::Nanos,
                    Kind::Date(_) => Shape::Millis,
                    Kind::GeoPoint(_) => Shape::Place,
                    Kind::Number(number) => match number.number {
                        NumberKind::UnsignedLong => Shape::Unsigned,
                        NumberKind::Long
                        | NumberKind::Integer
                        | NumberKind::Short
                        | NumberKind::Byte => Shape::Long,
                        _ => Form::of(&field).map_or(Shape::Long, Shape::Double),
                    },
                    _ => Shape::Long,
                };
                Ok(numbers(field.no, shape))
            }
            Column::Ordinals => {
                let Some(column) = segment.ordinals(field.no) else { return Ok(Values::Nowhere) };
                let is_plain = match &field.kind {
                    Kind::Ip(_) => false,
                    Kind::Keyword(keyword) => {
                        !matches!(keyword.flavor, KeywordFlavor::Version | KeywordFlavor::OneKey(_))
                    }
                    _ => true,
                };
                Ok(Values::Terms(Box::new(Terms {
                    column: column.clone(),
                    reader: column.terms(),
                    is_plain,
                    prefix: field.term_prefix(),
                    field,
                })))
            }
            _ => match &field.kind {
                Kind::ConstantKeyword(keyword) => {
                    Ok(keyword.value.clone().map_or(Values::Nowhere, Values::Constant))
                }
                Kind::Text(_) => Err(Fault::illegal(crate::plan::order::no_fielddata_in(
                    name,
                    &self.bound.index,
                ))),
                _ => Err(Fault::illegal(format!(
                    "Can't load fielddata on [{name}] because fielddata is unsupported on fields of \
                     type [{}]. Use doc values instead.",
                    field.type_name()
                ))),
            },
        }
    }

    /// Reads the values of the document at hand, unless they are.
    fn load(&mut self, field: u32) -> &mut Open {
        let doc = self.doc;
        let open = &mut self.opened[field as usize];
        if open.doc == Some(doc) {
            return open;
        }
        open.doc = Some(doc);
        open.numbers.clear();
        open.ranks.clear();
        match &mut open.values {
            Values::Nowhere | Values::Constant(_) => {}
            Values::Numbers(column, _) => {
                bring(&self.segment, |missing| column.need(window_of(doc.get()), missing));
                column.values(doc, &mut open.numbers);
            }
            Values::Terms(terms) => {
                let column = &terms.column;
                bring(&self.segment, |missing| column.need(window_of(doc.get()), missing));
                column.values(doc, &mut open.ranks);
                let (reader, segment) = (&mut terms.reader, &self.segment);
                if let Some(prefix) = &terms.prefix {
                    open.ranks.retain(|rank| {
                        bring(segment, |missing| reader.need(*rank, missing));
                        reader.term(*rank).is_ok_and(|term| term.starts_with(prefix))
                    });
                }
            }
        }
        open
    }
}

/// Brings what a reader names; whoever drives finds damage.
fn bring(segment: &Segment, mut need: impl FnMut(&mut Missing) -> segment::Result<()>) {
    if segment.file().is_resident() {
        return;
    }
    let mut missing = Missing::new();
    while need(&mut missing).is_ok() && !missing.is_empty() {
        missing.fetch();
    }
}

impl Host for Columns {
    fn field(&mut self, name: &str) -> Result<u32, Fault> {
        if let Some(at) = self.opened.iter().position(|open| *open.name == *name) {
            return Ok(at as u32);
        }
        let values = self.open(name)?;
        if self.opened.len() >= FIELDS_MAX {
            return Err(Fault::limit(
                "circuit_breaking_exception",
                "the script reads too many fields",
            ));
        }
        let (numbers, ranks) = (Vec::new(), Vec::new());
        self.opened.push(Open { name: name.into(), values, doc: None, numbers, ranks });
        Ok(self.opened.len() as u32 - 1)
    }

    fn has(&mut self, name: &str) -> bool {
        matches!(name, "_index" | "_seq_no" | "_version" | "_id")
            || self.bound.mapping.known(name).is_some()
    }

    fn count(&mut self, field: u32) -> usize {
        let open = self.load(field);
        match &open.values {
            Values::Nowhere => 0,
            Values::Constant(_) => 1,
            Values::Numbers(..) => open.numbers.len(),
            Values::Terms(_) => open.ranks.len(),
        }
    }

    fn value(&mut self, field: u32, at: usize, heap: &mut Heap) -> Result<Value, Fault> {
        self.load(field);
        let open = &mut self.opened[field as usize];
        match &mut open.values {
            Values::Nowhere => Ok(Value::Null),
            Values::Constant(text) => heap.string(text),
            Values::Numbers(_, shape) => {
                let Some(raw) = open.numbers.get(at).copied() else { return Ok(Value::Null) };
                Ok(match shape {
                    Shape::Long => Value::Long(raw),
                    Shape::Unsigned => match i64::try_from(sortable::to_u64(raw)) {
                        Ok(value) => Value::Long(value),
                        Err(_) => Value::Double(sortable::to_u64(raw) as f64),
                    },
                    Shape::Double(form) => Value::Double(form.double(raw)),
                    Shape::Bool => Value::Bool(raw != 0),
                    Shape::Millis => {
                        heap.object(Object::Date(Box::new(script::date::Date::of_millis(raw)?)))?
                    }
                    Shape::Nanos => {
                        heap.object(Object::Date(Box::new(script::date::Date::of_nanos(raw)?)))?
                    }
                    Shape::Place => {
                        let point = geo::decode(raw);
                        heap.object(Object::Place(point.lat, point.lon))?
                    }
                })
            }
            Values::Terms(terms) => {
                let Some(rank) = open.ranks.get(at).copied() else { return Ok(Value::Null) };
                let reader = &mut terms.reader;
                bring(&self.segment, |missing| reader.need(rank, missing));
                let term = match reader.term(rank) {
                    Ok(term) => term,
                    Err(error) => return Err(Fault::limit("exception", error.to_string())),
                };
                if terms.is_plain {
                    return heap.string(&String::from_utf8_lossy(term));
                }
                match terms.field.show_term(term) {
                    Json::String(text) => heap.string(&text),
                    other => heap.string(&json::to_string(&other)),
                }
            }
        }
    }

    fn score(&mut self) -> f64 {
        self.score
    }

    fn source(&mut self, heap: &mut Heap) -> Result<Value, Fault> {
        let (Some(visible), Some(stored)) = (&self.source, self.segment.stored()) else {
            return Ok(Value::Null);
        };
        let doc = self.doc;
        bring(&self.segment, |missing| stored.need(doc, missing));
        let text = match stored.get(doc) {
            Ok(text) => text,
            Err(error) => return Err(Fault::limit("exception", error.to_string())),
        };
        let source = match split(&text) {
            Some((source, _)) => &text[source],
            None => &text[..],
        };
        if source.is_empty() {
            return Ok(Value::Null);
        }
        heap.charge(source.len())?;
        let reduced;
        let source = match visible {
            Some(visible) => {
                reduced = visible.reduce_text(source);
                &reduced[..]
            }
            None => source,
        };
        let json = json::parse(source).unwrap_or_default();
        mapping::script::value_of(heap, &json)
    }
}
