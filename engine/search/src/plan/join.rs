//! Queries made of others that need more than a bool: `nested`, `terms_set`, `pinned`.

use std::sync::Arc;

use crate::ast;
use crate::error::{Error, Kind, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Clause, Nested, Node};
use crate::plan::{leaf, minimum};

/// The least score that no clause of a query reaches: pinned documents stand above it.
const PINNED_FROM: u32 = 0xfe << 23;

/// `nested`.
pub fn nested(binder: &mut Binder<'_>, query: &ast::Nested) -> Result<Clause> {
    let mapping = binder.mapping;
    if !binder.context.expensive {
        return Err(Error::new(
            Kind::Exception,
            "[joining] queries cannot be executed when 'search.allow_expensive_queries' is set to \
             false.",
        ));
    }
    if mapping.lacks_nested(&query.path) {
        return Ok(Clause::none());
    }
    if !mapping.is_nested(&query.path) {
        if query.ignore_unmapped {
            return Ok(Clause::none());
        }
        let path = &query.path;
        let reason = if mapping.is_object(path) {
            format!("[nested] nested object under path [{path}] is not of nested type")
        } else {
            format!("[nested] failed to find nested object under path [{path}]")
        };
        return Err(Error::new(Kind::IllegalState, reason));
    }
    let path: Arc<str> = query.path.as_str().into();
    let parent = binder.scope.replace(Arc::clone(&path));
    let children = binder.clause(&query.query);
    binder.scope.clone_from(&parent);
    let children = children?;
    if children.is_none() {
        return Ok(children);
    }
    let mode = query.score_mode;
    Ok(Node::Nested(Arc::new(Nested { path, parent, children, mode })).into())
}

/// `script`.
pub fn script(binder: &mut Binder<'_>, script: &ast::Script) -> Result<Clause> {
    if !binder.context.expensive {
        return Err(Error::new(
            Kind::Exception,
            "[script] queries cannot be executed when 'search.allow_expensive_queries' is set to \
             false.",
        ));
    }
    Ok(Node::Script(binder.script(script, &script::Context::FILTER)?).into())
}

/// `terms_set`.
pub fn terms_set(binder: &mut Binder<'_>, query: &ast::TermsSet) -> Result<Clause> {
    let (count, limit) = (query.values.len(), binder.context.terms_max);
    if count > limit {
        return Err(Error::illegal(format!(
            "The number of terms [{count}] used in the Terms Set Query request has exceeded the \
             allowed maximum of [{limit}]. This maximum can be set by changing the \
             [index.max_terms_count] index level setting."
        )));
    }
    if query.values.is_empty() {
        return Ok(Clause::none());
    }
    let mut clauses = Vec::with_capacity(count);
    for value in &query.values {
        let term =
            ast::Term { field: query.field.clone(), value: value.clone(), case_insensitive: false };
        clauses.push(leaf::term(binder, &term)?.into());
        binder.count(1)?;
    }
    let (mut field, mut fixed) = (None, 0);
    if let Some(name) = &query.minimum_field {
        match binder.field(name) {
            None => {
                return Err(Error::shard(format!(
                    "failed to find minimum_should_match field [{name}]"
                )));
            }
            Some(found) => field = Some(found.no),
        }
    } else if let Some(spec) = &query.minimum_should_match {
        fixed = minimum::minimum(spec, count)? as u64;
    }
    let script = match &query.minimum_script {
        None => None,
        Some(asked) => {
            let bound = binder.script(asked, &script::Context::TERMS_SET)?;
            Some(Arc::new(Arc::unwrap_or_clone(bound).with_param("num_terms", count as u64)))
        }
    };
    Ok(Node::Covering { clauses, minimum: field, fixed, script }.into())
}

/// `pinned`: the best of the query and of constants that are above all its scores.
pub fn pinned(binder: &mut Binder<'_>, query: &ast::Pinned) -> Result<Clause> {
    let organic = binder.clause(&query.organic)?;
    let here = binder.context.index;
    let mut clauses = vec![organic];
    let count = query.docs.len() as u32;
    for ((index, id), at) in query.docs.iter().zip(0u32..) {
        if index.as_ref().is_some_and(|index| index != here) {
            continue;
        }
        let boost = f32::from_bits(PINNED_FROM + count - at);
        clauses.push(Clause { node: leaf::ids(std::slice::from_ref(id)), boost });
    }
    binder.best_of(clauses, 0.0)
}
