//! Queries about families meet an index: the ids of the parents were found before (`engine`), so what is
//! left are terms of the join field.
//!
//! Always true: a parent's own id, and its children's, stand in one column, `join#parent`; the join
//! field's own terms tell which of them a document is.

use std::collections::BTreeMap;
use std::sync::Arc;

use mapping::{Field, Kind as Type, Mapping};

use crate::ast::{Family, FamilyRelation as Relation, NestedScore, ParentId, Scalar, Term};
use crate::error::{Error, Kind, Result};
use crate::plan::bind::{Binder, CLAUSES_MAX};
use crate::plan::bound::{Access, Bool, Clause, Node};
use crate::plan::leaf;

/// A relation of an index's join field.
#[derive(Clone, Debug, PartialEq)]
pub struct Tie {
    /// The join field.
    pub field: String,
    /// The field of the parents' ids.
    pub parents: String,
    /// The names of those that are asked about.
    pub asked: Vec<String>,
    /// The names of those that match because of them.
    pub matched: Vec<String>,
}

/// The tie that a query of families is about; `None` where there is none and that is no error.
///
/// # Errors
/// Where the index has no such relation.
pub fn tie(family: &Family, mapping: &Mapping) -> Result<Option<Tie>> {
    let query = family.relation.query();
    let refuse = |reason: String| match family.ignore_unmapped {
        true => Ok(None),
        false => Err(Error::shard(reason)),
    };
    let Some(field) = join_of(mapping) else {
        if lacks_join(mapping) {
            return Ok(None);
        }
        return refuse(format!("[{query}] no join field has been configured"));
    };
    let Type::Join(join) = &field.kind else { return Ok(None) };
    let (kind, path) = (&family.kind, &field.path);
    let (parent, asked, matched) = match family.relation {
        Relation::Child => {
            let Some(parent) = join.parent(kind) else {
                return refuse(format!(
                    "[{query}] join field [{path}] doesn't hold [{kind}] as a child"
                ));
            };
            (&**parent, vec![kind.clone()], vec![parent.to_string()])
        }
        Relation::Parent => {
            let Some(children) = join.children(kind) else {
                return refuse(format!(
                    "[{query}] join field [{path}] doesn't hold [{kind}] as a parent"
                ));
            };
            let children = children.iter().map(ToString::to_string).collect();
            (kind.as_str(), vec![kind.clone()], children)
        }
    };
    let parents = format!("{path}#{parent}");
    Ok(Some(Tie { field: path.to_string(), parents, asked, matched }))
}

fn join_of(mapping: &Mapping) -> Option<&Arc<Field>> {
    mapping.fields().find(|field| matches!(field.kind, Type::Join(_)))
}

/// Do other documents alone show how families hang together?
fn lacks_join(mapping: &Mapping) -> bool {
    join_of(mapping).is_none() && mapping.other().is_some_and(|other| join_of(other).is_some())
}

/// `has_child` and `has_parent`.
pub fn family(binder: &mut Binder<'_>, family: &Family) -> Result<Clause> {
    check_allowed(binder)?;
    let Some(tie) = tie(family, binder.mapping)? else { return Ok(Clause::none()) };
    let Some(found) = &family.found else {
        return Err(Error::illegal(format!(
            "[{}] queries can only be used in searches",
            family.relation.query()
        )));
    };
    let here = found.iter().find(|found| found.index == binder.context.index);
    let parents = here.map_or(&[][..], |found| found.parents.as_slice());
    let (Some(ids), Some(names)) = (binder.field(&tie.parents), binder.field(&tie.field)) else {
        return Ok(Clause::none());
    };
    let Some(scored) = by_score(&ids, parents, family.score_mode)? else {
        return Ok(Clause::none());
    };
    let mut matched: Vec<Box<[u8]>> =
        tie.matched.iter().map(|name| name.as_bytes().into()).collect();
    matched.sort_unstable();
    let filter = Node::Terms { field: names.no, access: ACCESS, terms: matched.into() };
    let joined = Bool { must: vec![scored], filter: vec![filter.into()], ..Bool::default() };
    Ok(Node::Bool(joined).into())
}

const ACCESS: Access = Access { index: true, column: true };

/// Documents of these families, each with its score; `None` without one.
fn by_score(
    ids: &Field,
    parents: &[(Box<[u8]>, f32)],
    mode: NestedScore,
) -> Result<Option<Clause>> {
    let mut groups: BTreeMap<u32, Vec<Box<[u8]>>> = BTreeMap::new();
    for (id, score) in parents {
        let score = if mode == NestedScore::None { 1.0 } else { *score };
        groups.entry(score.to_bits()).or_default().push(id.clone());
    }
    if groups.len() > CLAUSES_MAX {
        let reason = format!("maxClauseCount is set to {CLAUSES_MAX}");
        return Err(Error::new(Kind::TooManyClauses, reason));
    }
    let mut clauses: Vec<Clause> = groups
        .into_iter()
        .map(|(score, terms)| Clause {
            node: Node::Terms { field: ids.no, access: ACCESS, terms: terms.into() },
            boost: f32::from_bits(score),
        })
        .collect();
    Ok(match clauses.len() {
        0 => None,
        1 => clauses.pop(),
        _ => Some(Node::DisMax { clauses, tie_breaker: 0.0 }.into()),
    })
}

/// `parent_id`.
pub fn parent_id(binder: &mut Binder<'_>, asked: &ParentId) -> Result<Clause> {
    check_allowed(binder)?;
    let refuse = |reason: String| match asked.ignore_unmapped {
        true => Ok(Clause::none()),
        false => Err(Error::shard(reason)),
    };
    let Some(field) = join_of(binder.mapping).cloned() else {
        if lacks_join(binder.mapping) {
            return Ok(Clause::none());
        }
        let index = binder.context.index;
        return refuse(format!("[parent_id] no join field found for index [{index}]"));
    };
    let Type::Join(join) = &field.kind else { return Ok(Clause::none()) };
    let Some(parent) = join.parent(&asked.kind) else {
        return refuse(format!("[parent_id] no relation found for child [{}]", asked.kind));
    };
    let mut term = |field: String, value: &str| {
        let value = Scalar::String(value.to_owned());
        leaf::term(binder, &Term { field, value, case_insensitive: false }).map(Clause::from)
    };
    let id = term(format!("{}#{parent}", field.path), &asked.id)?;
    let name = term(field.path.to_string(), &asked.kind)?;
    if id.is_none() || name.is_none() {
        return Ok(Clause::none());
    }
    let joined = Bool { must: vec![id], filter: vec![name], ..Bool::default() };
    Ok(Node::Bool(joined).into())
}

fn check_allowed(binder: &Binder<'_>) -> Result<()> {
    if binder.context.expensive {
        return Ok(());
    }
    Err(Error::new(
        Kind::Exception,
        "[joining] queries cannot be executed when 'search.allow_expensive_queries' is set to \
         false.",
    ))
}
