//! `script_fields`: values that scripts make of a hit.

use std::sync::Arc;

use base::{DocId, FieldNo};
use json::Value as Json;
use json::fields::Fields as Visible;
use mapping::Mapping;
use script::{Context as Where, Fault, Heap, Object, Value};
use segment::{Missing, Segment};

use crate::error::{Error, Result};
use crate::iter::Turn;
use crate::plan::Context;
use crate::request::ScriptField;
use crate::result::Hit;
use crate::scripted::{Bound, Runner};

/// The scripts of one request in one index.
#[derive(Debug, Default)]
pub struct Scripts {
    wanted: Vec<Wanted>,
}

#[derive(Debug)]
struct Wanted {
    name: String,
    script: Arc<Bound>,
    ignore_failure: bool,
}

impl Scripts {
    /// Meets the scripts with an index.
    ///
    /// # Errors
    /// More than `index.max_script_fields`, or one that is no script.
    pub fn bind(asked: &[ScriptField], mapping: &Mapping, context: &Context<'_>) -> Result<Self> {
        let (count, limit) = (asked.len(), context.script_fields_max);
        if count > limit {
            return Err(Error::illegal(format!(
                "Trying to retrieve too many script_fields. Must be less than or equal to: [{limit}] but \
                 was [{count}]. This limit can be set by changing the [index.max_script_fields] index \
                 level setting."
            )));
        }
        let mut wanted = Vec::with_capacity(count);
        for field in asked {
            let script = Bound::new(&field.script, &Where::FIELD, mapping, context.index, false)?;
            wanted.push(Wanted {
                name: field.name.clone(),
                script: Arc::new(script),
                ignore_failure: field.ignore_failure,
            });
        }
        Ok(Self { wanted })
    }

    /// Fields whose columns the scripts name.
    pub(super) fn fields(&self) -> impl Iterator<Item = FieldNo> {
        self.wanted.iter().flat_map(|wanted| wanted.script.fields())
    }

    /// Nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Begins with a hit of `segment`; `visible` says which fields its caller may see.
    pub fn begin(
        &self,
        segment: &Segment,
        doc: DocId,
        visible: Option<&Arc<Visible>>,
    ) -> Making<'_> {
        let runners = self.wanted.iter().map(|wanted| {
            Runner::new(Arc::clone(&wanted.script), segment, None, None, values)
                .with_source(visible.cloned())
        });
        Making { scripts: self, runners: runners.collect(), doc, at: 0, made: Vec::new() }
    }
}

/// One hit's values being made.
pub struct Making<'a> {
    scripts: &'a Scripts,
    runners: Vec<Runner<Vec<String>>>,
    doc: DocId,
    at: usize,
    made: Vec<(String, Vec<String>)>,
}

impl Making<'_> {
    /// Goes on for about so much work; true when all is made.
    ///
    /// # Errors
    /// A script failed.
    pub fn step(&mut self, work: u32) -> Result<bool> {
        let mut missing = Missing::new();
        let mut turn = Turn::new(&mut missing, work, false);
        let doc = self.doc.get();
        while let Some(wanted) = self.scripts.wanted.get(self.at) {
            let runner = &mut self.runners[self.at];
            if !runner.prepare(&[doc], &[], &mut turn) {
                return Ok(false);
            }
            match runner.result(doc) {
                Some(Ok(values)) => self.made.push((wanted.name.clone(), values.clone())),
                Some(Err(error)) if !wanted.ignore_failure => return Err(error.clone()),
                _ => {}
            }
            self.at += 1;
        }
        Ok(true)
    }

    /// Puts the values beside the hit's others.
    pub fn finish(self, hit: &mut Hit) {
        for (name, values) in self.made {
            hit.fields.retain(|(known, _)| *known != name);
            hit.fields.push((name, values));
        }
    }
}

/// What a script gave, as JSON: each element of a collection is a value.
fn values(heap: &mut Heap, value: Value) -> std::result::Result<Vec<String>, Fault> {
    let spread =
        matches!(heap.as_object(value), Some(Object::List(_) | Object::Set(_) | Object::Stream(_)));
    let json = mapping::script::json_of(heap, value)?;
    Ok(match json {
        Json::Array(values) if spread => values.iter().map(json::to_string).collect(),
        value => vec![json::to_string(&value)],
    })
}
