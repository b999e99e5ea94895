//! Compounds made simple, the way Lucene 9.12's `BooleanQuery.rewrite` does it where the outcome can
//! be seen in a score, and further where it cannot.
//!
//! Sums are made in f64 and rounded to f32 once at each compound, so which compounds remain decides
//! the last bit: nested disjunctions are flattened, required conjunctions inlined, equal optional
//! clauses added up — and a compound with a boost of its own is left alone, as in Lucene.

use crate::plan::bound::{Bool, Clause, Node};

/// A clause that means the same as `bool` with factor `boost`.
pub fn simplify(bool: Bool, boost: f32) -> Clause {
    let mut bool = inline(bool);
    if bool.must.iter().chain(&bool.filter).any(Clause::is_none) {
        return Clause::none();
    }
    bool.should.retain(|clause| !clause.is_none());
    bool.must_not.retain(|clause| !clause.is_none());
    if bool.must_not.iter().any(|clause| clause.node == Node::All) {
        return Clause::none();
    }
    if bool.minimum > bool.should.len() {
        return Clause::none();
    }
    let required = !bool.must.is_empty() || !bool.filter.is_empty();
    if !required && bool.should.is_empty() {
        return Clause::none();
    }
    flatten(&mut bool);
    add_up(&mut bool);
    if bool.filter.len() > 1 || !bool.must.is_empty() {
        // A filter that all documents pass, beside anything that requires more.
        let only = bool.must.is_empty();
        bool.filter.retain(|clause| clause.node != Node::All);
        if only && bool.filter.is_empty() {
            bool.filter.push(Node::All.into());
        }
    }
    match (bool.must.len(), bool.filter.len(), bool.should.len(), bool.must_not.len()) {
        (1, 0, 0, 0) => scaled(bool.must.remove(0), boost),
        (0, 0, 1, 0) => scaled(bool.should.remove(0), boost),
        _ => Clause { node: Node::Bool(bool), boost },
    }
}

/// The clause with one more factor.
fn scaled(mut clause: Clause, boost: f32) -> Clause {
    clause.boost *= boost;
    clause
}

/// Required conjunctions become clauses of the conjunction around them.
fn inline(bool: Bool) -> Bool {
    let mut out = Bool {
        should: bool.should,
        must_not: bool.must_not,
        minimum: bool.minimum,
        ..Bool::default()
    };
    for clause in bool.must {
        match clause {
            Clause { node: Node::Bool(inner), boost: 1.0 } if is_conjunction(&inner) => {
                out.must.extend(inner.must);
                out.filter.extend(inner.filter);
                out.must_not.extend(inner.must_not);
            }
            clause => out.must.push(clause),
        }
    }
    for clause in bool.filter {
        match clause.node {
            // A filter does not score: what it is a constant of, or scaled by, does not matter.
            Node::Bool(inner) if is_conjunction(&inner) => {
                out.filter.extend(inner.must);
                out.filter.extend(inner.filter);
                out.must_not.extend(inner.must_not);
            }
            Node::Constant(inner) => out.filter.push(*inner),
            node => out.filter.push(Clause { node, boost: clause.boost }),
        }
    }
    out
}

fn is_conjunction(bool: &Bool) -> bool {
    bool.should.is_empty() && bool.minimum == 0
}

/// Optional disjunctions become clauses of the disjunction around them.
fn flatten(bool: &mut Bool) {
    if bool.minimum > 1 {
        return;
    }
    let mut should = Vec::with_capacity(bool.should.len());
    for clause in std::mem::take(&mut bool.should) {
        match clause {
            Clause { node: Node::Bool(inner), boost: 1.0 }
                if inner.must.is_empty()
                    && inner.filter.is_empty()
                    && inner.must_not.is_empty()
                    && inner.minimum <= 1 =>
            {
                should.extend(inner.should);
            }
            clause => should.push(clause),
        }
    }
    bool.should = should;
}

/// Equal scoring clauses become one whose factor is their sum.
fn add_up(bool: &mut Bool) {
    if bool.minimum <= 1 {
        bool.should = summed(std::mem::take(&mut bool.should));
    }
    bool.must = summed(std::mem::take(&mut bool.must));
}

fn summed(clauses: Vec<Clause>) -> Vec<Clause> {
    let mut kept: Vec<(Clause, f64)> = Vec::with_capacity(clauses.len());
    // Quadratic: only leaves that are cheap to compare, and not where there are very many.
    let many = clauses.len() > 256;
    for clause in clauses {
        let boost = f64::from(clause.boost);
        let equal = kept.iter_mut().find(|(other, _)| {
            !many && matches!(clause.node, Node::Term(_)) && other.node == clause.node
        });
        match equal {
            Some((_, sum)) => *sum += boost,
            None => kept.push((clause, boost)),
        }
    }
    kept.into_iter().map(|(clause, sum)| Clause { boost: sum as f32, ..clause }).collect()
}

#[cfg(test)]
mod tests {
    use base::FieldNo;

    use super::*;
    use crate::plan::bound::Term;

    fn term(text: &str) -> Clause {
        let term = text.as_bytes().into();
        Node::Term(Term { field: FieldNo(16), term, norms: true }).into()
    }

    fn should(clauses: Vec<Clause>) -> Bool {
        Bool { should: clauses, ..Bool::default() }
    }

    #[test]
    fn one_clause_is_itself() {
        assert_eq!(simplify(should(vec![term("a")]), 2.0), Clause { boost: 2.0, ..term("a") });
        let must = Bool { must: vec![term("a")], ..Bool::default() };
        assert_eq!(simplify(must, 1.0), term("a"));
    }

    #[test]
    fn nested_disjunctions_become_one() {
        let inner = simplify(should(vec![term("a"), term("b")]), 1.0);
        let outer = simplify(should(vec![inner.clone(), term("c")]), 1.0);
        let flat = simplify(should(vec![term("a"), term("b"), term("c")]), 1.0);
        assert_eq!(outer, flat);
        let boosted = Clause { boost: 3.0, ..inner };
        let kept = simplify(should(vec![boosted.clone(), term("c")]), 1.0);
        assert_eq!(kept, Node::Bool(should(vec![boosted, term("c")])).into());
    }

    #[test]
    fn equal_words_add_up() {
        let twice = simplify(should(vec![term("a"), term("a")]), 1.0);
        assert_eq!(twice, Clause { boost: 2.0, ..term("a") });
    }

    #[test]
    fn what_cannot_match_decides() {
        let none = Bool { must: vec![term("a"), Clause::none()], ..Bool::default() };
        assert!(simplify(none, 1.0).is_none());
        let too_many = Bool { minimum: 2, ..should(vec![term("a")]) };
        assert!(simplify(too_many, 1.0).is_none());
        let all_out =
            Bool { must: vec![term("a")], must_not: vec![Node::All.into()], ..Bool::default() };
        assert!(simplify(all_out, 1.0).is_none());
    }
}
