//! Scorers of several clauses together.

use super::*;

pub(super) fn scorers(nodes: &[Node], context: Context<'_>, lead: u64) -> Vec<AnyScorer> {
    nodes.iter().filter_map(|node| scorer_of(node, context, lead)).collect()
}

pub(super) fn bool_scorer(
    context: Context<'_>,
    must: &[Node],
    filter_nodes: &[Node],
    should: &[Node],
    must_not: &[Node],
    mut minimum: usize,
    lead: u64,
) -> Option<AnyScorer> {
    let lead = must.iter().chain(filter_nodes).map(|node| cost(node, context)).fold(lead, u64::min);
    let mut some = scorers(should, context, lead);
    if some.len() < minimum {
        return None;
    }
    let mut required: Vec<AnyScorer> = Vec::new();
    // What scores together is rounded once: terms are joined only where nothing is added to them.
    let alone = must.len() > 1 && (minimum == 0 || some.len() > minimum);
    let all: Vec<&Node> = must.iter().collect();
    let rules: Vec<&Node> = filter_nodes.iter().collect();
    let mut filter_nodes = filter_nodes;
    match if alone { lists::parts(&all, context, true) } else { None } {
        Some(parts) => {
            let parts = parts?;
            let rarest = parts.iter().map(|part| u64::from(part.info.doc_freq)).min();
            let rules = match lists::sieve(&rules, context, rarest.unwrap_or(0)) {
                Some(rules) => {
                    filter_nodes = &[];
                    rules
                }
                None => Vec::new(),
            };
            required.push(Box::new(AllTerms::new(parts).with_filters(rules)));
        }
        None => {
            for node in must {
                required.push(scorer_of(node, context, lead)?);
            }
        }
    }
    let mut filters_of = Vec::new();
    for node in filter_nodes {
        filters_of.push(filter(node, context, lead)?);
    }
    if minimum > 0 && some.len() == minimum {
        // All of the optional clauses are required.
        required.append(&mut some);
        minimum = 0;
    }
    let not = one_of(filters(must_not, context, lead));
    let without = |base: AnyScorer| -> AnyScorer {
        match not {
            Some(not) => Box::new(ScoredWithout::new(base, not, context.doc_count())),
            None => base,
        }
    };
    if required.is_empty() && filters_of.is_empty() {
        return Some(without(sum_of(some, minimum)?));
    }
    let required = without(match (required.len(), filters_of.len()) {
        (0, 1) => Box::new(Constant::new(filters_of.remove(0), 0.0)),
        (0, _) => {
            Box::new(Constant::new(Box::new(AllOf::new(filters_of, context.doc_count())), 0.0))
        }
        (1, 0) => required.remove(0),
        _ => Box::new(Conjunction::new(required, filters_of, context.doc_count())),
    });
    if minimum > 0 {
        let some = sum_of(some, minimum)?;
        return Some(Box::new(Conjunction::new(
            vec![required, some],
            Vec::new(),
            context.doc_count(),
        )));
    }
    Some(match sum_of(some, 1) {
        Some(some) => Box::new(Optional::new(required, some)),
        None => required,
    })
}

/// Scores of `some` added up where at least `minimum` match.
pub(super) fn sum_of(mut some: Vec<AnyScorer>, minimum: usize) -> Option<AnyScorer> {
    match (some.len(), minimum) {
        (0, _) => None,
        (1, _) => some.pop(),
        (_, 0 | 1) => Some(Box::new(BlockMax::new(some))),
        _ => Some(Box::new(ScoredAtLeast::new(some, minimum))),
    }
}
