//! A script that has met one index.

use std::sync::Arc;

use json::Value;
use mapping::Mapping;
use script::{Context, Program};

use crate::ast;
use crate::error::Result;
use crate::plan::bind::Binder;

/// A script with all that it needs but the documents.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The script.
    pub program: Arc<Program>,
    /// Its parameters: an object.
    pub params: Arc<Value>,
    /// What names of fields mean, as the caller may see it.
    pub mapping: Mapping,
    /// Name of the index.
    pub index: Arc<str>,
    /// It is asked about documents inside of others.
    pub is_inside: bool,
}

impl PartialEq for Bound {
    fn eq(&self, other: &Self) -> bool {
        self.program == other.program
            && self.params == other.params
            && self.is_inside == other.is_inside
    }
}

impl Bound {
    /// Meets a script with an index.
    ///
    /// # Errors
    /// No script of that context.
    pub fn new(
        asked: &ast::Script,
        context: &'static Context,
        mapping: &Mapping,
        index: &str,
        is_inside: bool,
    ) -> Result<Self> {
        Ok(Self {
            program: asked.program(context)?,
            params: Arc::clone(&asked.params),
            mapping: mapping.clone(),
            index: index.into(),
            is_inside,
        })
    }

    /// The same with another parameter.
    #[must_use]
    pub fn with_param(mut self, name: &str, value: impl Into<Value>) -> Self {
        let mut params = (*self.params).clone();
        if let Value::Object(members) = &mut params {
            members.insert(name, value);
        }
        self.params = Arc::new(params);
        self
    }

    /// Fields whose columns it names.
    pub fn fields(&self) -> impl Iterator<Item = base::FieldNo> {
        self.program.doc_fields().filter_map(|name| self.mapping.lookup(name)).map(|it| it.no)
    }
}

impl Binder<'_> {
    /// A script of the clause at hand.
    pub(crate) fn script(
        &mut self,
        asked: &ast::Script,
        context: &'static Context,
    ) -> Result<Arc<Bound>> {
        self.has_scripts = true;
        let (mapping, index) = (self.mapping, self.context.index);
        Bound::new(asked, context, mapping, index, self.scope.is_some()).map(Arc::new)
    }
}
