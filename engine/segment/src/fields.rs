//! The fields of a segment, each with what it has: opened once, shared by all readers.

use std::sync::Arc;

use base::FieldNo;

use crate::bkd::Bkd;
use crate::columns::{Binary, Numeric, Ordinals};
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
    numeric: Option<Numeric>,
    ordinals: Option<Ordinals>,
    binary: Option<Binary>,
    points: Option<Bkd>,
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

    /// Its column of numbers.
    pub fn numeric(&self) -> Option<&Numeric> {
        self.numeric.as_ref()
    }

    /// Its column of terms.
    pub fn ordinals(&self) -> Option<&Ordinals> {
        self.ordinals.as_ref()
    }

    /// Its column of byte strings.
    pub fn binary(&self) -> Option<&Binary> {
        self.binary.as_ref()
    }

    /// Its points.
    pub fn points(&self) -> Option<&Bkd> {
        self.points.as_ref()
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
            fields.push(Field {
                number,
                kinds,
                terms,
                norms,
                numeric: Numeric::open(file, number)?,
                ordinals: Ordinals::open(file, number)?,
                binary: Binary::open(file, number)?,
                points: Bkd::open(file, number)?,
            });
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
