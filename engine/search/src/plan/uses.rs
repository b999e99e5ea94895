//! Which parts of which fields a search of one index reads: for counts of how fields are used.
//!
//! A part counts once for a search, however often it is read. What a plan reads is known before it
//! runs: from the query that has met its index, the order, the aggregations.

use std::collections::BTreeMap;

use base::FieldNo;

use crate::aggs::bound::{BoundAgg, BoundAggs, What};
use crate::aggs::source::Column;
use crate::plan::bound::{Access, Bound, Clause, Node, Presence};
use crate::plan::expand::Expand;
use crate::plan::function::Compute;
use crate::plan::order::{Order, Source};
use crate::plan::places::Leaf;

/// Whose parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Of {
    /// A field's.
    Field(FieldNo),
    /// `_id`'s.
    Id,
    /// `_source`'s.
    Source,
}

/// Parts of a field, each a bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(u16);

impl Parts {
    /// The dictionary.
    pub const TERMS: Self = Self(1);
    /// Documents of terms.
    pub const POSTINGS: Self = Self(1 << 1);
    /// How often terms occur.
    pub const FREQUENCIES: Self = Self(1 << 2);
    /// Where they stand.
    pub const POSITIONS: Self = Self(1 << 3);
    /// Lengths.
    pub const NORMS: Self = Self(1 << 4);
    /// Columns.
    pub const COLUMNS: Self = Self(1 << 5);
    /// Points of trees.
    pub const POINTS: Self = Self(1 << 6);
    /// What is stored.
    pub const STORED: Self = Self(1 << 7);
    /// How many there are.
    pub const COUNT: usize = 8;

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Are all of `other` among these?
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Numbers of the parts, below [`Parts::COUNT`].
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        (0..Self::COUNT).filter(move |number| self.0 >> number & 1 == 1)
    }
}

/// What a search reads, each field once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    parts: BTreeMap<Of, Parts>,
}

impl Uses {
    /// What a bound request reads to find its hits.
    pub fn of(bound: &Bound) -> Self {
        let mut uses = Self::default();
        uses.clause(&bound.query, bound.scores);
        uses.order(&bound.order);
        let plain = bound.named.iter().map(|(_, clause)| clause).chain(&bound.sort_filters);
        plain.for_each(|clause| uses.clause(clause, false));
        if let Some(aggs) = &bound.aggs {
            uses.aggregations(aggs);
        }
        uses
    }

    /// What is read to make hits: their ids, where those are told; the source; columns.
    pub fn of_hits(ids: bool, source: bool, columns: impl Iterator<Item = FieldNo>) -> Self {
        let mut uses = Self::default();
        for (of, is_read) in [(Of::Id, ids), (Of::Source, source)] {
            if is_read {
                uses.add(of, Parts::STORED);
            }
        }
        columns.for_each(|field| uses.column(field));
        uses
    }

    /// Fields with their parts.
    pub fn iter(&self) -> impl Iterator<Item = (Of, Parts)> {
        self.parts.iter().map(|(of, parts)| (*of, *parts))
    }

    fn add(&mut self, of: Of, parts: Parts) {
        let known = self.parts.entry(of).or_default();
        *known = known.and(parts);
    }

    fn column(&mut self, field: FieldNo) {
        self.add(Of::Field(field), Parts::COLUMNS);
    }

    /// Terms that are looked up.
    fn terms(&mut self, field: FieldNo, scores: bool, norms: bool) {
        let mut parts = Parts::TERMS.and(Parts::POSTINGS);
        if scores {
            parts = parts.and(Parts::FREQUENCIES);
        }
        if scores && norms {
            parts = parts.and(Parts::NORMS);
        }
        self.add(Of::Field(field), parts);
    }

    /// Terms at places.
    fn places(&mut self, field: FieldNo, scores: bool, norms: bool) {
        self.terms(field, scores, norms);
        self.add(Of::Field(field), Parts::FREQUENCIES.and(Parts::POSITIONS));
    }

    /// Where the field has no terms or points, its column is read.
    fn looked_up(&mut self, field: FieldNo, access: Access, parts: Parts) {
        self.add(Of::Field(field), if access.index { parts } else { Parts::COLUMNS });
    }

    fn expand(&mut self, expand: &Expand, scores: bool) {
        self.terms(expand.field, scores, expand.norms);
    }

    fn clause(&mut self, clause: &Clause, scores: bool) {
        let scores = scores && !matches!(clause.node, Node::Constant(_));
        self.node(&clause.node, scores);
        if let Node::Bool(bool) = &clause.node {
            let scored = bool.must.iter().chain(&bool.should);
            scored.for_each(|clause| self.clause(clause, scores));
            let plain = bool.filter.iter().chain(&bool.must_not);
            plain.for_each(|clause| self.clause(clause, false));
            return;
        }
        clause.node.for_each_clause(&mut |inner| self.clause(inner, scores));
    }

    /// What the node itself reads; clauses below are walked apart.
    fn node(&mut self, node: &Node, scores: bool) {
        let dictionary = Parts::TERMS.and(Parts::POSTINGS);
        match node {
            Node::Term(term) => self.terms(term.field, scores, term.norms),
            Node::Phrase(phrase) => self.places(phrase.field, scores, phrase.norms),
            Node::Synonym(synonym) => self.terms(synonym.field, scores, synonym.norms),
            Node::MultiPhrase(phrase) => self.places(phrase.field, scores, phrase.norms),
            Node::Expand(expand) => self.expand(expand, scores),
            Node::Blended(blended) => {
                for (term, _) in &blended.terms {
                    self.terms(term.field, scores, term.norms);
                }
            }
            Node::Combined(combined) => {
                for (field, _, norms) in &combined.fields {
                    self.terms(*field, scores, *norms);
                }
            }
            Node::Terms { field, access, .. } | Node::Pattern { field, access, .. } => {
                self.looked_up(*field, *access, dictionary);
            }
            Node::Numbers(numbers) => {
                self.looked_up(numbers.field, numbers.access, Parts::POINTS);
            }
            Node::Inside { field, access, .. } => self.looked_up(*field, *access, Parts::POINTS),
            Node::Box { field, .. } => self.add(Of::Field(*field), Parts::POINTS),
            Node::Flag { field, .. } => self.column(*field),
            Node::Exists(ways) => ways.iter().for_each(|way| match way {
                Presence::Numeric(field) | Presence::Ordinals(field) => self.column(*field),
                Presence::Norms(field) => self.add(Of::Field(*field), Parts::NORMS),
                Presence::FieldNames(_) => self.add(Of::Field(FieldNo::FIELD_NAMES), dictionary),
            }),
            Node::Ids(_) => self.add(Of::Id, dictionary),
            Node::Function(function) => {
                function.parts.iter().for_each(|part| self.compute(&part.compute));
            }
            Node::Feature(feature) => {
                let parts = dictionary.and(Parts::FREQUENCIES);
                self.add(Of::Field(feature.field), parts);
            }
            Node::Near(near) => self.column(near.field),
            Node::Script(script) => script.fields().for_each(|field| self.column(field)),
            Node::ScriptScore(score) => {
                score.script.fields().for_each(|field| self.column(field));
            }
            Node::Covering { minimum, script, .. } => {
                minimum.iter().for_each(|field| self.column(*field));
                script
                    .iter()
                    .flat_map(|script| script.fields())
                    .for_each(|field| self.column(field));
            }
            Node::Nested(_) => self.add(Of::Field(FieldNo::NESTED_PATH), dictionary),
            Node::Alike(alike) => {
                for words in alike.groups.iter().flatten() {
                    for (field, norms) in std::iter::once(&words.field).chain(&words.others) {
                        self.terms(*field, scores, *norms);
                    }
                }
            }
            Node::Places(places) => {
                for leaf in &places.leaves {
                    match leaf {
                        Leaf::Term(field, _) => self.places(*field, scores, false),
                        Leaf::Pattern(expand, _) => self.places(expand.field, scores, expand.norms),
                    }
                }
                if let Some((field, true)) = places.spans {
                    self.add(Of::Field(field), Parts::NORMS);
                }
            }
            Node::All
            | Node::None
            | Node::Bool(_)
            | Node::Constant(_)
            | Node::DisMax { .. }
            | Node::Boosting { .. } => {}
        }
    }

    fn compute(&mut self, compute: &Compute) {
        match compute {
            Compute::Random(_, Some(field)) => self.column(*field),
            Compute::Factor { field: Some((field, _)), .. }
            | Compute::Decay { field: Some((field, _)), .. } => self.column(*field),
            Compute::Script(script) => script.fields().for_each(|field| self.column(field)),
            Compute::One
            | Compute::Random(_, None)
            | Compute::Factor { .. }
            | Compute::Decay { .. } => {}
        }
    }

    fn order(&mut self, order: &Order) {
        for key in &order.keys {
            let field = match &key.source {
                Source::Numeric(numeric) => numeric.field,
                Source::Ordinals(ordinals) => ordinals.field,
                Source::Distance(distance) => distance.field,
                Source::Script(key) => {
                    key.script.fields().for_each(|field| self.column(field));
                    None
                }
                Source::Score | Source::Doc | Source::ShardDoc => None,
            };
            field.into_iter().for_each(|field| self.column(field));
        }
        if let Some(collapse) = &order.collapse {
            self.column(collapse.field.no);
        }
    }

    fn aggregations(&mut self, aggs: &BoundAggs) {
        aggs.filters.iter().for_each(|filter| self.clause(filter, false));
        let scripted = aggs.scripts.iter().flat_map(|it| it.script.fields());
        scripted.for_each(|field| self.column(field));
        aggs.aggs.iter().for_each(|agg| self.aggregation(agg));
    }

    fn aggregation(&mut self, agg: &BoundAgg) {
        let mut columns: Vec<&Column> = Vec::new();
        match &agg.what {
            What::Metric(source)
            | What::Terms { source, .. }
            | What::Width(source, ..)
            | What::Time(source, ..)
            | What::Values(source)
            | What::Auto(source, _)
            | What::Ranges(source, _)
            | What::Distances(source, _)
            | What::Addresses(source)
            | What::Cells(source)
            | What::Lacking(source)
            | What::Sampler(Some(source)) => columns.push(&source.column),
            What::Weighted(one, two, _) | What::Samples(one, two, _) => {
                columns.extend([&one.column, &two.column]);
            }
            What::Matrix(sources, ..) | What::Several(sources) | What::Pages(sources, ..) => {
                columns.extend(sources.iter().map(|source| &source.column));
            }
            What::TopHits(order, _) => self.order(order),
            What::TopMetrics { order, metrics, .. } => {
                self.order(order);
                columns.extend(metrics.iter().map(|source| &source.column));
            }
            What::Words { field, .. } => {
                self.add(Of::Field(field.no), Parts::TERMS);
                self.add(Of::Source, Parts::STORED);
            }
            What::Filters(_)
            | What::Filter(_)
            | What::Everything
            | What::Below(_)
            | What::Above(_)
            | What::Sampler(None)
            | What::Chance { .. } => {}
        }
        for column in columns {
            match column {
                Column::Numeric(field) | Column::Ordinals(field) | Column::Spans(field) => {
                    self.column(*field);
                }
                Column::Text(field) => self.column(*field),
                Column::None | Column::Constant(_) | Column::Script(_) => {}
            }
        }
        agg.subs.iter().for_each(|sub| self.aggregation(sub));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::bound::{Bool, Term};

    fn word(field: u32) -> Clause {
        Node::Term(Term { field: FieldNo(field), term: Box::default(), norms: true }).into()
    }

    #[test]
    fn a_field_counts_once_with_all_its_parts() {
        let query = Node::Bool(Bool {
            must: vec![word(1)],
            filter: vec![word(1), word(2)],
            ..Bool::default()
        });
        let mut uses = Uses::default();
        uses.clause(&query.into(), true);
        uses.column(FieldNo(2));
        let plain = Parts::TERMS.and(Parts::POSTINGS);
        let scored = plain.and(Parts::FREQUENCIES).and(Parts::NORMS);
        let expected = vec![
            (Of::Field(FieldNo(1)), scored),
            (Of::Field(FieldNo(2)), plain.and(Parts::COLUMNS)),
        ];
        assert_eq!(uses.iter().collect::<Vec<_>>(), expected);
        assert!(scored.has(plain) && !plain.has(scored));
        assert_eq!(plain.numbers().collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn a_constant_score_reads_no_frequencies() {
        let mut uses = Uses::default();
        uses.clause(&Node::Constant(Box::new(word(1))).into(), true);
        let plain = Parts::TERMS.and(Parts::POSTINGS);
        assert_eq!(uses.iter().collect::<Vec<_>>(), [(Of::Field(FieldNo(1)), plain)]);
    }
}
