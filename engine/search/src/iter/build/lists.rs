//! Plans of plain terms, which are read without windows or counted without being read whole.

use base::FieldNo;
use segment::{Need, Postings, TermInfo};

use super::{Context, filter, filters, one_of, term_filter};
use crate::iter::all_terms::{AllTerms, Part};
use crate::iter::and::Conjunction;
use crate::iter::not::{ScoredWithout, Without};
use crate::iter::overlap::Overlap;
use crate::iter::phrase::PhraseLister;
use crate::iter::union::Union;
use crate::iter::{AnyFilter, AnyScorer};
use crate::plan::weigh::Node;

/// Terms are joined by lists where the rarest is in no more than one of so many documents; above,
/// words of 64 bits are faster.
const LISTS_FROM: u64 = 12;

/// Two terms are counted by windows of bits, whatever lies in them, where the commoner one is in at most so many
/// times the documents of the rarer: else its blocks are better passed over.
const OVERLAP_TO: u64 = 10;

/// Fewer documents of the rarer are not worth a window's bits.
const OVERLAP_FROM: u64 = 512;

/// A filter beside terms leads itself where it matches so many times fewer documents.
const LEADS_FROM: u64 = 32;

/// A filter that more than one in so many documents pass takes few candidates out.
const WIDE_FROM: u64 = 8;

/// The commonest of several terms is looked up for the documents of the others where those are fewer
/// than one in so many.
const FEW_FROM: u64 = 200;

/// The terms among `nodes`, as parts of a join; `None` where one is no term, or blocks may have to
/// be fetched. A term that is nowhere makes the inner `None`.
pub(super) fn parts(
    nodes: &[&Node],
    context: Context<'_>,
    scored: bool,
) -> Option<Option<Vec<Part>>> {
    let segment = context.segment;
    if !segment.file().is_resident() {
        return None;
    }
    let mut parts = Vec::with_capacity(nodes.len());
    let mut absent = false;
    for node in nodes {
        let Node::Term { field, infos, weight, .. } = node else { return None };
        let score = match (scored, weight) {
            (true, None) => return None,
            (true, Some(weight)) => Some((segment.norms(*field), weight.clone())),
            (false, _) => None,
        };
        match (infos[context.number], segment.terms(*field)) {
            (Some(info), Some(terms)) => parts.push(Part { terms, info, score }),
            _ => absent = true,
        }
    }
    Some((!absent).then_some(parts))
}

/// Filters beside terms.
#[derive(Default)]
struct Sieve {
    /// Those asked about the candidates of the rarest term.
    narrow: Vec<AnyFilter>,
    /// Those asked about what all terms left: columns, where a look costs as much as one into a term's
    /// block, and most candidates pass.
    wide: Vec<AnyFilter>,
}

impl Sieve {
    /// Filters for `nodes` beside terms of which the rarest is in `lead` documents; `None` where one is
    /// of a kind that must be told beforehand about which documents it will be asked, or matches so
    /// few that it better leads itself.
    fn new(nodes: &[&Node], context: Context<'_>, lead: u64) -> Option<Self> {
        let mut sieve = Self::default();
        for node in nodes {
            if !matches!(node, Node::Numbers { .. } | Node::Box { .. } | Node::Kept { .. }) {
                return None;
            }
            let rule = filter(node, context, lead)?;
            if rule.cost() * LEADS_FROM < lead {
                return None;
            }
            // One that was kept is a bit.
            let is_wide = rule.cost() > u64::from(context.segment.doc_count()) / WIDE_FROM
                && !is_kept(node, context);
            if is_wide { &mut sieve.wide } else { &mut sieve.narrow }.push(rule);
        }
        Some(sieve)
    }
}

/// Filters for what stands beside terms, of which the rarest is in `lead` documents; `None` where not
/// all are narrow.
pub(super) fn sieve(nodes: &[&Node], context: Context<'_>, lead: u64) -> Option<Vec<AnyFilter>> {
    let sieve = Sieve::new(nodes, context, lead)?;
    sieve.wide.is_empty().then_some(sieve.narrow)
}

/// Its documents are there as bits.
fn is_kept(node: &Node, context: Context<'_>) -> bool {
    matches!(node, Node::Kept { docs, .. } if docs[context.number].is_some())
}

/// Is `node` one of which no number of matches is known before they are found: clauses that must all match?
pub fn joins(node: &Node) -> bool {
    match node {
        Node::Phrase { .. } => true,
        Node::Bool { must, filter, must_not, .. } => {
            must.len() + filter.len() > 1 && must_not.is_empty()
        }
        _ => false,
    }
}

/// Lists of the documents of `node`, without scores, where those are faster than windows of bits.
pub fn lister(node: &Node, context: Context<'_>) -> Option<AnyScorer> {
    if let Node::Phrase { phrase, infos, .. } = node {
        let infos = infos[context.number].as_deref()?;
        let is_resident = context.segment.file().is_resident();
        let lister =
            if is_resident { PhraseLister::new(context.segment, phrase, infos) } else { None };
        return Some(Box::new(lister?));
    }
    let Node::Bool { must, filter, should, must_not, minimum } = node else { return None };
    if *minimum > 0 || must.is_empty() && filter.is_empty() && !should.is_empty() {
        return None;
    }
    let required = must.iter().chain(filter);
    let (terms, rules): (Vec<&Node>, Vec<&Node>) =
        required.partition(|node| matches!(node, Node::Term { .. }));
    if terms.is_empty() || terms.len() + rules.len() == 1 && must_not.is_empty() {
        return None;
    }
    let parts = parts(&terms, context, false)??;
    let rarest = parts.iter().map(|part| u64::from(part.info.doc_freq)).min()?;
    if rarest * LISTS_FROM > u64::from(context.segment.doc_count()) {
        return None;
    }
    let Sieve { narrow, wide } = Sieve::new(&rules, context, rarest)?;
    let all: AnyScorer = Box::new(AllTerms::new(parts).with_filters(narrow));
    let all: AnyScorer = match wide.is_empty() {
        true => all,
        false => Box::new(Conjunction::new(vec![all], wide, context.doc_count())),
    };
    Some(match one_of(filters(must_not, context, rarest)) {
        Some(not) => Box::new(ScoredWithout::new(all, not, context.doc_count())),
        None => all,
    })
}

/// How many documents of a segment `node` matches, dead ones included, where the plan tells: then
/// nothing need be built.
pub fn known_count(node: &Node, context: Context<'_>) -> Option<u64> {
    match node {
        Node::None => Some(0),
        Node::All { .. } => Some(u64::from(context.doc_count())),
        Node::Term { infos, .. } => {
            Some(infos[context.number].map_or(0, |info| u64::from(info.doc_freq)))
        }
        Node::Kept { docs, .. } => docs[context.number].as_ref().map(|docs| docs.count()),
        Node::Constant { filter, .. } => known_count(filter, context),
        // Optional clauses beside a required one do not count.
        Node::Bool { must, filter, must_not, minimum: 0, .. }
            if must.len() + filter.len() == 1 && must_not.is_empty() =>
        {
            known_count(must.first().or(filter.first())?, context)
        }
        _ => None,
    }
}

/// Matches of a query of terms as a number, less or more what is still to be counted.
pub struct Split {
    /// Known without looking.
    pub known: u64,
    /// What else has to be counted.
    pub rest: Rest,
    /// The rest is taken from what is known, not added.
    pub less: bool,
}

/// What has to be counted.
pub enum Rest {
    /// By lists.
    Lists(AnyScorer),
    /// By windows.
    Windows(AnyFilter),
    /// Documents of terms, by large windows.
    Union(Box<Union>),
    /// Documents that two terms share, by large windows.
    Overlap(Box<Overlap>),
}

/// How the matches of `node` in a whole segment are counted with less reading, where the numbers of
/// documents of its terms help, or where two alone must match: `a OR b` is both less those of `a AND b`;
/// `a AND NOT b` is `a` less `a AND b`; of more terms that are joined by OR the commonest is looked up for the others' alone, where
/// these are few or (`exact` is false) the number of the commonest may be enough.
pub fn split_count(node: &Node, context: Context<'_>, exact: bool) -> Option<Split> {
    let Node::Bool { must, filter, should, must_not, minimum } = node else { return None };
    if !context.segment.file().is_resident() {
        return None;
    }
    // Optional clauses beside a required one do not count.
    let required: Vec<&Node> = must.iter().chain(filter).collect();
    if let ([base], [not], 0) = (required.as_slice(), must_not.as_slice(), *minimum) {
        let parts = parts(&[base, not], context, false)??;
        return Some(Split {
            known: freq_of(base, context)?,
            rest: both(parts, context),
            less: true,
        });
    }
    if let ([a, b], [], 0) = (required.as_slice(), must_not.as_slice(), *minimum) {
        let parts = parts(&[a, b], context, false)??;
        return Some(Split { known: 0, rest: both(parts, context), less: false });
    }
    if !must.is_empty() || !filter.is_empty() || !must_not.is_empty() || *minimum > 1 {
        return None;
    }
    let mut found = Vec::new();
    for node in should {
        let Node::Term { field, infos, .. } = node else { return None };
        found.extend(infos[context.number].map(|info| (*field, info)));
    }
    if let ([a, b], [first, second]) = (found.as_slice(), should.as_slice()) {
        let known = u64::from(a.1.doc_freq) + u64::from(b.1.doc_freq);
        let parts = parts(&[first, second], context, false)??;
        return Some(Split { known, rest: both(parts, context), less: true });
    }
    let freq = |info: &TermInfo| info.doc_freq;
    let (at, _) = found.iter().enumerate().max_by_key(|(_, (_, info))| freq(info))?;
    let rest: u64 = found.iter().map(|(_, info)| u64::from(freq(info))).sum();
    let rest = rest - u64::from(freq(&found[at].1));
    if exact && rest * FEW_FROM > u64::from(context.segment.doc_count()) {
        return Some(Split { known: 0, rest: union(&found, context), less: false });
    }
    let (field, commonest) = found.swap_remove(at);
    let others = found.iter().filter_map(|(field, info)| term_filter(context, *field, info));
    let others = one_of(others.collect())?;
    let doc_count = context.segment.doc_count();
    let without = Without::new(others, term_filter(context, field, &commonest)?, doc_count);
    let rest = Rest::Windows(Box::new(without));
    Some(Split { known: u64::from(commonest.doc_freq), rest, less: false })
}

/// What has to be read to know how many documents hold one of some terms.
fn union(found: &[(FieldNo, TermInfo)], context: Context<'_>) -> Rest {
    let postings = |(field, info): &(FieldNo, TermInfo)| -> Option<Postings> {
        Some(context.segment.terms(*field)?.postings(info, Need::Docs))
    };
    let terms = found.iter().filter_map(postings).collect();
    Rest::Union(Box::new(Union::new(terms, context.doc_count())))
}

/// In how many documents a term is.
fn freq_of(node: &Node, context: Context<'_>) -> Option<u64> {
    let Node::Term { infos, .. } = node else { return None };
    infos[context.number].map(|info| u64::from(info.doc_freq))
}

/// What has to be read to know how many documents hold two terms.
fn both(parts: Vec<Part>, context: Context<'_>) -> Rest {
    let freq = |part: &Part| u64::from(part.info.doc_freq);
    let rarest = parts.iter().map(freq).min().unwrap_or(0);
    let commonest = parts.iter().map(freq).max().unwrap_or(0);
    let doc_count = context.segment.doc_count();
    let are_alike = rarest >= OVERLAP_FROM && commonest <= rarest * OVERLAP_TO;
    match parts.as_slice() {
        [a, b] if are_alike || rarest * LISTS_FROM > u64::from(doc_count) => {
            let [a, b] = [a, b].map(|part| part.terms.postings(&part.info, Need::Docs));
            Rest::Overlap(Box::new(Overlap::new(a, b, doc_count)))
        }
        _ => Rest::Lists(Box::new(AllTerms::new(parts))),
    }
}
