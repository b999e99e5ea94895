//! The fields of a segment, each with what it has: opened once, shared by all readers.

use std::sync::Arc;

use base::FieldNo;

use crate::error::Result;
use crate::norms::Norms;
use crate::section::File;
use crate::terms::{FieldTerms, Terms};
use crate::toc::SectionKind;

/// A field that has at least one section.
#[derive(Debug)]
pub struct Field {
    number: FieldNo,
    kinds: Vec<SectionKind>,
    terms: Option<Arc<FieldTerms>>,
    norms: Option<Norms>,
}

impl Field {
    /// Number of the field.
    pub fn number(&self) -> FieldNo {
        self.number
    }

    /// Kinds of its sections, by rising number.
    pub fn kinds(&self) -> &[SectionKind] {
        &self.kinds
    }

    /// Whether it has a section of `kind`.
    pub fn has(&self, kind: SectionKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Its terms.
    pub fn terms(&self) -> Option<Terms> {
        self.terms.clone().map(Terms::new)
    }

    /// Its lengths.
    pub fn norms(&self) -> Option<Norms> {
        self.norms.clone()
    }
}

/// All fields, by number.
#[derive(Debug)]
pub(crate) struct Fields(Vec<Field>);

impl Fields {
    /// Opens every field of `file`.
    pub(crate) fn open(file: &Arc<File>) -> Result<Self> {
        let mut fields: Vec<Field> = Vec::new();
        for chunk in file.entries().chunk_by(|a, b| a.field == b.field) {
            let number = chunk[0].field;
            let kinds = chunk.iter().map(|entry| entry.kind).collect();
            let terms = FieldTerms::open(file, number)?.map(Arc::new);
            let norms = Norms::open(file, number)?;
            fields.push(Field { number, kinds, terms, norms });
        }
        Ok(Self(fields))
    }

    /// The field with this number.
    pub(crate) fn get(&self, number: FieldNo) -> Option<&Field> {
        let at = self.0.binary_search_by_key(&number, |field| field.number).ok()?;
        Some(&self.0[at])
    }

    /// All fields, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Field> {
        self.0.iter()
    }
}
