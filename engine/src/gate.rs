//! The question that every operation asks: may this caller do this to this index, and which
//! documents and fields may it see?
//!
//! `net` answers it from authz, so engine and authz never meet. The answer is plain data, so it
//! crosses cores (decision D7). There is no path around it: every operation takes a gate.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use json::Value;
pub use json::fields::Fields;
use json::fields::Members;

use crate::error::{Error, Result};
use crate::index::date_math;
use crate::index::resolve::{Names, split};

/// Answers for one caller.
pub trait Gate {
    /// May the caller do `action` (`cluster:monitor/health`) to the cluster? The error is the
    /// 403 to send.
    fn cluster(&self, action: &'static str) -> Result<()>;

    /// May the caller do `action` of the cluster, which is about these applications?
    ///
    /// # Errors
    /// The 403 to send.
    fn applications(&self, action: &'static str, _names: &[&str]) -> Result<()> {
        self.cluster(action)
    }

    /// May the caller do `action` (`indices:data/read/search`) to `index`, and what of it may be
    /// seen? The error is the 403 to send.
    fn index(&self, action: &'static str, index: &str) -> Result<Limits>;

    /// May the caller do `action` to any index at all? Asked once before a request that names indices in its
    /// items, or none: who may do it nowhere is refused, and not answered with nothing.
    ///
    /// # Errors
    /// The 403 to send.
    fn anywhere(&self, _action: &'static str) -> Result<()> {
        Ok(())
    }

    /// What background work of this caller belongs to: a scroll, a point in time, a task of one
    /// credential is no other's. Equal callers have equal texts.
    fn owner(&self) -> &str {
        ""
    }

    /// What let the caller in, for what is left open when the request is over; `None` is for ever.
    fn standing(&self) -> Option<Arc<dyn Standing>> {
        None
    }

    /// What the request tells of itself, for logs.
    fn origin(&self) -> &Origin {
        const NOTHING: &Origin = &Origin { opaque_id: None, trace_id: None, warnings: None };
        NOTHING
    }

    /// Tells who asks, by the names that Elasticsearch's logs have for it (`user.name`, `auth.type`). It is asked
    /// only where a line is written, so that nobody else pays for it.
    fn tell_caller(&self, _tell: &mut dyn FnMut(&'static str, &str)) {}

    /// Tells the caller, beside the answer, that something it used is deprecated.
    fn warn(&self, sentence: &str) {
        if let Some(warnings) = &self.origin().warnings {
            warnings.add(sentence);
        }
    }

    /// An administrator's change, by the action that it needs, is about to be made to these indices and data
    /// streams: asked once it is known which they are, and before anything is changed. May it be? What is told
    /// last counts.
    ///
    /// # Errors
    /// The 503 to send, where it must be noted and cannot be.
    fn begins(&self, _action: &'static str, _names: Vec<String>) -> Asked<'_> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// The names that were told so, for whoever answers the request.
    fn take_begun(&self) -> Vec<String> {
        Vec::new()
    }

    /// May this index be made for a document of the caller's now? None is where it must be noted and cannot be.
    ///
    /// # Errors
    /// The 503 to send.
    fn may_make<'a>(&'a self, _making: Making, _name: &'a str) -> Asked<'a> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Tells that it was not made after all, though it might have been: why.
    fn not_made(&self, _making: Making, _name: &str, _reason: &str) {}

    /// Tells whoever keeps account of changes that this index or data stream was made for a document: nobody
    /// asked for it by a request of its own.
    fn made(&self, _making: Making, _name: &str) {}

    /// Tells whoever keeps account that a part of what goes on without its caller failed: a denial is noted.
    fn failed(&self, _why: &Error) {}

    /// All that was made so, for whoever answers the request.
    fn take_made(&self) -> Vec<(Making, String)> {
        Vec::new()
    }

    /// Is a right on an alias by its name a right on the indices behind it? So it is for roles. A grant to
    /// an application must hold the alias **and** each index: who may move an alias must not be able to
    /// widen what others granted.
    fn trusts_aliases(&self) -> bool {
        true
    }

    /// May the caller do `action` to `index` by this alias or data stream, which leads there, and what of it may
    /// be seen? A right on the index is none on the names that lead to it.
    ///
    /// # Errors
    /// The 403 to send, in words of the alias.
    fn index_by_alias(&self, action: &'static str, _index: &str, alias: &str) -> Result<Limits> {
        self.index(action, alias)
    }

    /// Would [`Gate::index_by_alias`] say yes?
    fn sees_by_alias(&self, action: &'static str, index: &str, alias: &str) -> bool {
        self.index_by_alias(action, index, alias).is_ok()
    }

    /// May the caller learn of this index from an answer about the cluster? Whoever watches the cluster sees
    /// the names of all; an application only those of which it was granted something.
    fn learns(&self, _index: &str) -> bool {
        true
    }

    /// May the caller see the background work of this owner? Whoever watches the cluster sees all of it; an
    /// application its own.
    fn watches(&self, _owner: &str) -> bool {
        true
    }

    /// Would [`Gate::index`] say yes? Wildcards are narrowed to such names.
    fn sees(&self, action: &'static str, index: &str) -> bool {
        self.index(action, index).is_ok()
    }
}

/// An answer that may take a while.
pub type Asked<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

/// Why a write makes an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Making {
    /// There is none of its name.
    Missing,
    /// Its data stream waited for a write to be rolled over.
    Rollover,
}

impl Making {
    /// The action that does so, in Elasticsearch's word.
    pub const fn action(self) -> &'static str {
        match self {
            Self::Missing => "indices:admin/auto_create",
            Self::Rollover => "indices:admin/data_stream/lazy_rollover",
        }
    }
}

/// What let a caller in, asked again while something is open that the caller left: that ends with it.
pub trait Standing: Send + Sync {
    /// Would it still, at this time, in milliseconds since 1970?
    fn holds(&self, now_ms: i64) -> bool;
}

/// Where a request comes from, as it says itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The header `X-Opaque-Id`.
    pub opaque_id: Option<String>,
    /// The trace's id, of the header `traceparent`.
    pub trace_id: Option<String>,
    /// What the answer warns of; `None`: nobody hears it.
    pub warnings: Option<Rc<Warnings>>,
}

/// What the caller of one request is warned of: each sentence once, in order, and no more than a
/// head should hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings(RefCell<Vec<String>>);

/// Sentences that one answer carries, and how long each may be.
const WARNINGS_MAX: usize = 16;
const WARNING_BYTES_MAX: usize = 1_024;

impl Warnings {
    /// One more; what is too much is dropped.
    pub fn add(&self, sentence: &str) {
        let mut sentences = self.0.borrow_mut();
        let is_new = !sentences.iter().any(|known| known == sentence);
        if is_new && sentences.len() < WARNINGS_MAX && sentence.len() <= WARNING_BYTES_MAX {
            sentences.push(sentence.to_owned());
        }
    }

    /// All so far, of which none is left.
    pub fn take(&self) -> Vec<String> {
        self.0.take()
    }
}

/// May the caller do `action` to `index`, to which these names led ([`crate::index::resolve::Resolved::via`])?
///
/// Each of them must be granted, for the documents of all their filters are found, and a caller is answered in
/// words of the names it asked for: that they lead to this index is nothing that was granted. Where what is seen by
/// several differs, no single one holds for what they lead to together; whoever asked for the index itself, too,
/// sees of it what is seen by its own name.
///
/// # Errors
/// The 403 to send.
pub fn ask(gate: &dyn Gate, action: &'static str, index: &str, via: &[String]) -> Result<Limits> {
    let is_own = via.is_empty() || via.iter().any(|name| name == index);
    let mut granted: Option<Limits> = None;
    for alias in via.iter().filter(|name| *name != index) {
        let limits = gate.index_by_alias(action, index, alias)?;
        match &granted {
            Some(known) if known.key != limits.key && !is_own => {
                let reason = format!(
                    "action [{action}] is granted with other limits on the alias [{alias}] than on \
                     another alias of the same index: ask for one of them at a time"
                );
                return Err(Error::new(403, "security_exception", reason));
            }
            _ => granted = Some(limits),
        }
    }
    match granted {
        Some(limits) if !is_own => Ok(limits),
        _ => gate.index(action, index),
    }
}

/// The names to which wildcards are narrowed for this caller. Where a right on an alias is none on the
/// indices behind it, an alias counts only when each of them does: else the wildcard would lead to a 403.
pub fn sees<'a>(
    gate: &'a dyn Gate,
    action: &'static str,
    names: &'a impl Names,
) -> impl Fn(&str) -> bool + 'a {
    move |name| {
        gate.sees(action, name)
            && (gate.trusts_aliases()
                || names.alias(name).is_none_or(|behind| {
                    behind.iter().all(|one| gate.sees_by_alias(action, &one.index, name))
                }))
    }
}

/// May the caller do `action` to the alias of this name, be it there or not? Where a right on it is none on the
/// indices behind it, each of them must be granted, too: else what is refused later would speak of them.
///
/// # Errors
/// The 403 to send, in words of the alias.
pub fn ask_alias(
    gate: &dyn Gate,
    action: &'static str,
    names: &impl Names,
    alias: &str,
) -> Result<()> {
    gate.index(action, alias)?;
    if gate.trusts_aliases() {
        return Ok(());
    }
    let behind = names.alias(alias).unwrap_or_default();
    behind.iter().try_for_each(|one| gate.index_by_alias(action, &one.index, alias).map(drop))
}

/// What a caller named.
#[derive(Debug)]
pub struct Named<'a, N> {
    /// What it may do with it.
    pub action: &'static str,
    /// The expression, as it was written.
    pub expression: &'a str,
    /// What there is.
    pub names: &'a N,
    /// For names with dates in them.
    pub now_ms: i64,
}

/// Why a request did not reach the indices that it named, as the caller may hear it: whoever may not ask
/// for a name is refused in words of that name, be it of an index, of an alias, of a data stream or of
/// nothing.
pub fn told<N: Names>(gate: &dyn Gate, asked: &Named<'_, N>, error: Error) -> Error {
    let &Named { action, expression, names, now_ms } = asked;
    for part in split(expression) {
        if part.is_empty() || part.starts_with(['-', '_']) || part.contains('*') {
            continue;
        }
        let Ok(name) = date_math::resolve(part, now_ms) else { continue };
        // What the refusal costs is the same whatever bears the name.
        match gate.index(action, &name) {
            Err(denied) if names.bears(&name) => return denied,
            Err(_) => continue,
            Ok(_) => {}
        }
        let behind: Vec<String> = match names.alias(&name) {
            Some(targets) => targets.into_iter().map(|target| target.index).collect(),
            None => names.stream(&name).unwrap_or_default(),
        };
        // The name was granted, and not all that it leads to: an error may speak of that.
        let closed = behind.iter().find(|index| !gate.sees_by_alias(action, index, &name));
        let denied = closed.and_then(|index| gate.index_by_alias(action, index, &name).err());
        if let Some(denied) = denied {
            return denied;
        }
    }
    let missing =
        error.meta.iter().find(|(key, _)| key == "index").and_then(|(_, name)| name.as_str());
    match missing {
        Some(name) if error.status == 404 && !name.contains(['*', ',']) && name != "_all" => {
            // In the words of one that is there.
            let meant = date_math::resolve(name, now_ms);
            gate.index(action, meant.as_deref().unwrap_or(name)).err().unwrap_or(error)
        }
        _ => error,
    }
}

/// What a caller may see of one index.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Documents: those that match this query; `None` is all.
    pub filter: Option<Arc<Value>>,
    /// Fields that may be seen; `None` is all.
    pub fields: Option<Arc<Fields>>,
    /// Equal keys mean equal limits: for caches.
    pub key: u64,
    /// Kinds of documents of which different fields are seen; no document is of two, and one of none
    /// is not seen. Empty where all are alike. `filter` passes all kinds, `fields` are those of every
    /// kind: so whoever does not look here shows too little, never too much.
    pub kinds: Vec<Limits>,
}

impl Limits {
    /// The limits of each kind of documents: one where all are alike.
    pub fn each(&self) -> &[Self] {
        if self.kinds.is_empty() { std::slice::from_ref(self) } else { &self.kinds }
    }

    /// Is the field at this path seen of some document?
    pub fn shows(&self, path: &str) -> bool {
        let shows = |kind: &Self| kind.fields.as_ref().is_none_or(|fields| fields.permits(path));
        self.each().iter().any(shows)
    }

    /// Nothing is hidden.
    pub fn is_unlimited(&self) -> bool {
        self.filter.is_none() && self.fields.is_none()
    }
}

/// What is seen of some document.
impl mapping::Sight for Limits {
    fn permits(&self, path: &str) -> bool {
        self.shows(path)
    }

    fn permits_members(&self, path: &str) -> bool {
        let mut fields = self.each().iter().map(|kind| kind.fields.as_ref());
        fields.any(|fields| fields.is_none_or(|fields| fields.permits_members(path)))
    }

    fn permits_parts(&self, path: &str, members: &Members) -> bool {
        let mut fields = self.each().iter().map(|kind| kind.fields.as_ref());
        fields.any(|fields| fields.is_none_or(|fields| fields.permits_parts(path, members)))
    }
}

/// The gate of a node without security, for a request.
#[derive(Clone, Debug)]
pub struct Open(
    /// Where the request comes from.
    pub Origin,
);

impl Gate for Open {
    fn cluster(&self, action: &'static str) -> Result<()> {
        Everything.cluster(action)
    }

    fn index(&self, action: &'static str, index: &str) -> Result<Limits> {
        Everything.index(action, index)
    }

    fn origin(&self) -> &Origin {
        &self.0
    }
}

/// The gate of the node's own work.
#[derive(Clone, Copy, Debug)]
pub struct Everything;

impl Gate for Everything {
    fn cluster(&self, _action: &'static str) -> Result<()> {
        Ok(())
    }

    fn index(&self, _action: &'static str, _index: &str) -> Result<Limits> {
        Ok(Limits::default())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Lets in by the alias `way` alone, and counts how often it had to say no in words.
    #[derive(Default)]
    struct ByAlias(Cell<usize>);

    impl ByAlias {
        fn no(&self, name: &str) -> Result<Limits> {
            self.0.set(self.0.get() + 1);
            Err(Error::new(403, "security_exception", format!("not [{name}]")))
        }
    }

    impl Gate for ByAlias {
        fn cluster(&self, _action: &'static str) -> Result<()> {
            self.no("cluster").map(drop)
        }

        fn index(&self, _action: &'static str, index: &str) -> Result<Limits> {
            self.no(index)
        }

        fn index_by_alias(&self, _: &'static str, _index: &str, alias: &str) -> Result<Limits> {
            if alias == "way" { Ok(Limits { key: 7, ..Limits::default() }) } else { self.no(alias) }
        }

        fn sees(&self, _action: &'static str, _index: &str) -> bool {
            false
        }

        fn sees_by_alias(&self, _action: &'static str, _index: &str, alias: &str) -> bool {
            alias == "way"
        }
    }

    /// Every search through an alias wrote a refusal of the index first, which nobody read, and left what
    /// lacks noted for the next.
    #[test]
    fn whoever_an_alias_lets_in_is_not_refused_before() {
        let asked = |via: &[&str]| {
            let gate = ByAlias::default();
            let via: Vec<String> = via.iter().map(|&name| name.to_owned()).collect();
            let answer = ask(&gate, "indices:data/read/search", "a-1", &via);
            (answer.map(|limits| limits.key).map_err(|error| error.reason), gate.0.get())
        };
        assert_eq!(asked(&["way"]), (Ok(7), 0));
        // What was asked for is what is refused; of several aliases the one that lacks.
        assert_eq!(asked(&[]), (Err("not [a-1]".to_owned()), 1));
        assert_eq!(asked(&["other"]), (Err("not [other]".to_owned()), 1));
        assert_eq!(asked(&["way", "other"]), (Err("not [other]".to_owned()), 1));
        // Its own name was asked for, too.
        assert_eq!(asked(&["way", "a-1"]), (Err("not [a-1]".to_owned()), 1));
    }
}
