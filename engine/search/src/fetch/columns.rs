//! What is returned of hits, bound to an index; `docvalue_fields`: values of columns, as the mapping or a
//! format of the request prints them.

use std::sync::Arc;

use base::hash::Map;
use base::{DocId, FieldNo};
use mapping::analysis::effort;
use mapping::types::DateFormat;
use mapping::{Field, Kind as Type, Mapping, NumberKind, SourceMode};
use segment::{Missing, Segment};

use super::chosen::Chosen;
use super::fields::Shown;
use super::highlight::Marks;
use super::hit::{each_term, need_texts};
use super::inner::{self, Inner};
use super::scripted::Scripts;
use crate::aggs::format::Decimal;
use crate::error::{Error, Result};
use crate::iter::window_of;
use crate::plan::uses::Uses;
use crate::plan::{Context, metadata, order};
use crate::request::{FieldFormat, SearchRequest};

/// Nanoseconds that a byte of a text takes to be cut into words and marked.
const MARK_NS: u64 = 20;
/// Nanoseconds that a byte takes to lose what may not be seen.
const SEE_NS: u64 = 5;

/// Bytes of memory that a byte of a text takes as a tree of values, about.
const TREE_BYTES: usize = 6;

/// What is returned of each hit.
#[derive(Debug, Default)]
pub struct Columns {
    columns: Vec<Column>,
    /// What of the source is returned.
    pub source: Chosen,
    /// Fields of the system's that are wanted as columns.
    system: Vec<System>,
    /// Values out of the source.
    pub shown: Shown,
    /// Hits inside of hits.
    pub inner: Vec<Inner>,
    /// What is suggested beside the hits.
    pub suggest: Vec<crate::suggest::Bound>,
    /// What is marked in the text of hits.
    pub marks: Marks,
    /// Values that scripts make.
    pub scripts: Scripts,
    /// Only these fields may be seen; `None` is all.
    pub visible: Option<Arc<json::fields::Fields>>,
    /// The mapping as it is seen: a field of which a part is hidden is not in it.
    pub mapping: Option<Mapping>,
    /// Why no hit can be made. Elasticsearch finds that out with the first that it fetches, so a search
    /// that fetches none goes well: each hit tells it.
    pub failed: Option<Error>,
}

/// A field of the system's that has a column, or shows as if it had one.
#[derive(Debug)]
enum System {
    /// A number of the whole document's: its name, and where it is kept.
    Number(&'static str, FieldNo),
    /// `_index`: the index's name.
    Index(String),
}

#[derive(Debug)]
struct Column {
    field: Arc<Field>,
    format: Option<Format>,
}

/// How a request wants values printed.
#[derive(Debug)]
enum Format {
    Date(DateFormat),
    Decimal(Decimal),
}

/// Finds the columns that a request wants.
///
/// # Errors
/// Belong to each shard of the index; those that belong to each hit are in [`Columns::failed`].
pub fn bind(request: &SearchRequest, mapping: &Mapping, context: &Context<'_>) -> Result<Columns> {
    let count = request.docvalue_fields.len();
    let limit = context.docvalue_fields_max;
    if count > limit {
        return Err(Error::illegal(format!(
            "Trying to retrieve too many docvalue_fields. Must be less than or equal to: \
             [{limit}] but was [{count}]. This limit can be set by changing the \
             [index.max_docvalue_fields_search] index level setting."
        )));
    }
    if effort::is_exhausted() {
        // It is dropped.
        return Ok(Columns::default());
    }
    let mut columns = Columns {
        source: Chosen::new(&request.source_filter()),
        inner: inner::bind(request, mapping, context)?,
        suggest: request
            .suggest
            .iter()
            .map(|suggestion| crate::suggest::Bound::new(suggestion, mapping))
            .collect::<Result<_>>()?,
        marks: Marks::bind(request, mapping, context)?,
        scripts: Scripts::bind(&request.script_fields, mapping, context)?,
        mapping: Some(mapping.clone()),
        ..Columns::default()
    };
    let found = columns.find(request, mapping, context);
    columns.failed = found.err().or_else(|| columns.marks.failed.take());
    Ok(columns)
}

/// What a name of the system's shows as a column; patterns mean fields of the mapping.
fn system_column(wanted: &FieldFormat, context: &Context<'_>) -> Result<Option<System>> {
    let name = wanted.field.as_str();
    let found = match name {
        "_seq_no" => System::Number("_seq_no", FieldNo::SEQ_NO),
        "_version" => System::Number("_version", FieldNo::VERSION),
        "_index" => System::Index(context.index.to_owned()),
        "_id" => return Err(order::no_ids()),
        _ if order::has_no_column(name) => return Err(order::no_column(name)),
        _ => return Ok(None),
    };
    match (&wanted.format, &found) {
        (Some(format), System::Index(_)) if format != "use_field_mapping" => Err(Error::illegal(
            format!("Field [{name}] of type [{name}] does not support custom formats"),
        )),
        _ => Ok(Some(found)),
    }
}

/// The column of one field; a pattern passes over fields without one.
fn column(
    field: &Arc<Field>,
    wanted: &FieldFormat,
    exact: bool,
    context: &Context<'_>,
) -> Result<Option<Column>> {
    if !field.doc_values {
        if !exact {
            return Ok(None);
        }
        if matches!(field.kind, Type::Text(_)) {
            return Err(crate::plan::order::no_fielddata(&field.path, context));
        }
        return Err(Error::illegal(format!(
            "Can't load fielddata on [{}] because fielddata is unsupported on fields of type \
             [{}]. Use doc values instead.",
            field.path,
            field.type_name()
        )));
    }
    let format = match (&wanted.format, &field.kind) {
        (None, _) => None,
        (Some(format), _) if format == "use_field_mapping" => None,
        (Some(format), Type::Date(_)) => Some(Format::Date(DateFormat::parse_pattern(format)?)),
        // Elasticsearch passes over the format of these.
        (Some(_), Type::Number(number)) if number.number == NumberKind::UnsignedLong => None,
        (Some(format), Type::Number(_)) => Some(Format::Decimal(Decimal::parse(format))),
        (Some(_), _) => {
            return Err(Error::illegal(format!(
                "Field [{}] of type [{}] does not support custom formats",
                field.path,
                field.type_name()
            )));
        }
    };
    Ok(Some(Column { field: Arc::clone(field), format }))
}

impl Columns {
    /// What is read to make hits; `ids`: those are told.
    pub fn uses(&self, ids: bool) -> Uses {
        let source = self.source.is_enabled() || !self.shown.is_empty() || !self.marks.is_empty();
        let columns = self.columns.iter().map(|column| column.field.no);
        Uses::of_hits(ids, source, columns.chain(self.scripts.fields()))
    }

    /// Finds what is shown of fields; what is wrong with it is wrong with each hit.
    fn find(
        &mut self,
        request: &SearchRequest,
        mapping: &Mapping,
        context: &Context<'_>,
    ) -> Result<()> {
        for wanted in &request.docvalue_fields {
            self.system.extend(system_column(wanted, context)?);
            if let Some(field) = metadata::column(&wanted.field, mapping) {
                self.columns.extend(column(&field, wanted, true, context)?);
            }
            for field in mapping.expand(&wanted.field) {
                let exact = *field.path == *wanted.field;
                self.columns.extend(column(field, wanted, exact, context)?);
            }
            // One key of a `flattened` field is no field of the mapping's own.
            if mapping.field(&wanted.field).is_none()
                && !mapping.is_alias(&wanted.field)
                && let Some(field) = mapping.lookup(&wanted.field)
            {
                self.columns.extend(column(&field, wanted, true, context)?);
            }
        }
        if !request.fields.is_empty() && mapping.source_mode() == SourceMode::Disabled {
            return Err(Error::illegal(format!(
                "Unable to retrieve the requested [fields] since _source is disabled in the mappings \
                 for index [{}]",
                context.index
            )));
        }
        // Of a field that is asked for twice the last counts, in the place of the first.
        let mut places: Map<Arc<str>, usize> = Map::default();
        let mut columns: Vec<Column> = Vec::new();
        for column in self.columns.drain(..) {
            let at = *places.entry(Arc::clone(&column.field.path)).or_insert(columns.len());
            match columns.get_mut(at) {
                Some(known) => *known = column,
                None => columns.push(column),
            }
        }
        self.columns = columns;
        self.shown = Shown::bind(request, mapping)?;
        // Each of a thousand `top_hits` has its own.
        effort::may_hold(self.columns.len() * size_of::<Column>() + self.shown.held_bytes());
        Ok(())
    }

    /// Whether the document's text is read for a hit.
    pub fn read_text(&self) -> bool {
        self.source.is_enabled() || !self.shown.is_empty() || !self.marks.is_empty()
    }

    /// Nanoseconds that a byte of the document's text costs, about and at most.
    pub(super) fn cost(&self) -> u64 {
        let marks = if self.marks.is_empty() { 0 } else { MARK_NS };
        let sight = if self.visible.is_some() { SEE_NS } else { 0 };
        let inner = self.inner.iter().map(Inner::cost).sum::<u64>();
        1 + self.source.cost() + self.shown.cost() + marks + sight + inner
    }

    /// Bytes of memory that a byte of the document's text takes while a hit is made, about.
    pub(super) fn bytes_a_byte(&self) -> usize {
        let filtered = usize::from(self.source.is_enabled() && !self.source.is_whole());
        let reduced = usize::from(self.visible.is_some());
        let has_tree = !self.shown.is_empty() || !self.marks.is_empty() || !self.inner.is_empty();
        1 + filtered + reduced + if has_tree { TREE_BYTES } else { 0 }
    }

    /// Names what [`Columns::values`] will read.
    pub fn need(
        &self,
        segment: &Segment,
        doc: DocId,
        missing: &mut Missing,
    ) -> segment::Result<()> {
        self.need_system(segment, doc, missing)?;
        for column in &self.columns {
            if let Some(numeric) = segment.numeric(column.field.no) {
                numeric.need(window_of(doc.get()), missing)?;
            }
            need_texts(segment, column.field.no, doc, missing)?;
        }
        Ok(())
    }

    /// Names what [`Columns::system`] will read.
    pub fn need_system(
        &self,
        segment: &Segment,
        doc: DocId,
        missing: &mut Missing,
    ) -> segment::Result<()> {
        for wanted in &self.system {
            if let System::Number(_, no) = wanted
                && let Some(numeric) = segment.numeric(*no)
            {
                numeric.need(window_of(doc.get()), missing)?;
            }
        }
        Ok(())
    }

    /// The system's own values of a whole document, where they are wanted as columns.
    pub fn system(&self, segment: &Segment, doc: DocId) -> Vec<(String, Vec<String>)> {
        let value = |wanted: &System| match wanted {
            System::Number(name, no) => {
                let number = segment.numeric(*no)?.first(doc)?;
                Some(((*name).to_owned(), vec![number.to_string()]))
            }
            System::Index(index) => {
                let name = json::Value::String(index.clone());
                Some(("_index".to_owned(), vec![json::to_string(&name)]))
            }
        };
        self.system.iter().filter_map(value).collect()
    }

    /// The values of a document, each as JSON text; fields without a value are left out.
    pub fn values(
        &self,
        segment: &Segment,
        doc: DocId,
    ) -> segment::Result<Vec<(String, Vec<String>)>> {
        let mut fields = Vec::new();
        fields.extend(self.system(segment, doc));
        for column in &self.columns {
            let mut values: Vec<json::Value> = Vec::new();
            if let Some(numeric) = segment.numeric(column.field.no) {
                let mut numbers = Vec::new();
                numeric.values(doc, &mut numbers);
                values.extend(numbers.into_iter().map(|number| match &column.format {
                    Some(Format::Date(format)) => column.field.format_value_as(number, format),
                    Some(Format::Decimal(pattern)) => {
                        let value = column.field.format_value(number);
                        match (value.as_i64(), value.as_f64()) {
                            (Some(long), _) => pattern.print_long(long).into(),
                            (None, Some(double)) => pattern.print(double).into(),
                            (None, None) => value,
                        }
                    }
                    None => column.field.format_value(number),
                }));
            } else {
                let prefix = column.field.term_prefix().unwrap_or_default();
                each_term(segment, column.field.no, doc, &mut |term| {
                    if term.starts_with(&prefix) {
                        values.push(column.field.show_term(term));
                    }
                })?;
            }
            if !values.is_empty() {
                let texts = values.iter().map(json::to_string).collect();
                fields.push((column.field.path.to_string(), texts));
            }
        }
        Ok(fields)
    }
}
