//! Mappings as the cluster's state keeps them: the definition, and the number of each field.
//!
//! `{"version": 3, "next_field_no": 19, "mappings": {"properties": …}, "field_nos": {"a": 16, …}}`

use std::sync::Arc;

use base::FieldNo;
use json::{Object as Json, Value};

use super::node::{Child, Children, Object};
use super::{Mapping, define};
use crate::settings::Settings;
use crate::types::Field;
use crate::{Error, ErrorKind, Result};

pub(super) fn to_json(mapping: &Mapping) -> Value {
    let numbers: Json =
        all(mapping).map(|field| (&*field.path, Value::from(field.no.get()))).collect();
    let mut out = Json::new();
    out.insert("version", mapping.version());
    out.insert("next_field_no", mapping.inner.next_no);
    out.insert("mappings", mapping.to_json());
    out.insert("field_nos", numbers);
    Value::Object(out)
}

pub(super) fn from_json(state: &Value, settings: Arc<Settings>) -> Result<Mapping> {
    let number = |key: &str| state.get(key).and_then(Value::as_u64);
    let (Some(version), Some(next), Some(mappings), Some(Value::Object(numbers))) = (
        number("version"),
        number("next_field_no").and_then(|next| u32::try_from(next).ok()),
        state.get("mappings"),
        state.get("field_nos"),
    ) else {
        return Err(damaged("a mapping needs version, next_field_no, mappings and field_nos"));
    };
    let (options, root) = define::mappings(mappings, &settings)?;
    let numbers = Numbers { by_path: numbers, next };
    let root = numbers.object(&root)?;
    let mapping = Mapping::build(version, next, root, Arc::new(options), settings);
    let mut seen = base::hash::Set::default();
    if !all(&mapping).all(|field| seen.insert(field.no)) {
        return Err(damaged("two fields have one number"));
    }
    Ok(mapping)
}

/// All fields, those without a path of their own too.
fn all(mapping: &Mapping) -> impl Iterator<Item = &Arc<Field>> {
    mapping.fields().chain(mapping.hidden_fields())
}

#[cold]
fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::IllegalState, what)
}

/// Numbers to give back to fields.
struct Numbers<'a> {
    by_path: &'a Json,
    next: u32,
}

impl Numbers<'_> {
    fn object(&self, object: &Object) -> Result<Arc<Object>> {
        let mut children = Vec::new();
        for (name, child) in object.children.iter() {
            let child = match child {
                Child::Object(inner) => Child::Object(self.object(inner)?),
                Child::Field(field) => Child::Field(self.field(field)?),
                Child::Alias(alias) => Child::Alias(alias.clone()),
            };
            children.push((name.clone(), child));
        }
        Ok(Arc::new(Object { children: Children::new(children), ..object.clone() }))
    }

    fn field(&self, field: &Field) -> Result<Arc<Field>> {
        let no = self.by_path.get(&field.path).and_then(Value::as_u64);
        let no = no.and_then(|no| u32::try_from(no).ok());
        let legal = no.filter(|no| (FieldNo::USER_FIRST.get()..self.next).contains(no));
        let Some(no) = legal else {
            return Err(damaged(&format!("field [{}] has no number", field.path)));
        };
        let all = |fields: &[Arc<Field>]| -> Result<Vec<Arc<Field>>> {
            fields.iter().map(|one| self.field(one)).collect()
        };
        let (multi_fields, parts) = (all(&field.multi_fields)?, all(&field.parts)?);
        Ok(Arc::new(Field { no: FieldNo(no), multi_fields, parts, ..field.clone() }))
    }
}
