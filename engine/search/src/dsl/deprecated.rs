//! What a request uses that is deprecated: looked for wherever a query may stand in it.

use super::inner;
use crate::aggs::spec::Kind;
use crate::ast::{FunctionKind, Node, Query};
use crate::highlight::Highlight;
use crate::request::{SearchRequest, Sort};

/// A seed alone does not say by what chance is drawn.
const SEED_ALONE: &str = "As of version 7.0 Elasticsearch will require that a [field] parameter is provided when a \
     [seed] is set";

/// Polygons have another query.
const POLYGON: &str = "Deprecated field [geo_polygon] used, replaced by [[geo_shape] query where polygons are \
                       defined in geojson or wkt]";

/// What the queries of a request, whose text this is, use that is deprecated: in Elasticsearch's words.
pub fn told(request: &mut SearchRequest, text: &str) -> Vec<&'static str> {
    // What is escaped or wrapped may spell anything.
    let words = ["random_score", "geo_polygon", "wrapper", "\\u"];
    if !words.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let mut used = Used::default();
    used.request(request);
    used.sentences()
}

/// What of these queries is deprecated, in Elasticsearch's words.
pub fn deprecated_in<'q>(queries: impl IntoIterator<Item = &'q mut Query>) -> Vec<&'static str> {
    let mut used = Used::default();
    queries.into_iter().for_each(|query| used.query(query));
    used.sentences()
}

/// What was found so far.
#[derive(Default)]
struct Used {
    seed_alone: bool,
    polygon: bool,
}

impl Used {
    fn sentences(&self) -> Vec<&'static str> {
        let used = [(self.polygon, POLYGON), (self.seed_alone, SEED_ALONE)];
        used.into_iter().filter(|(is_used, _)| *is_used).map(|(_, sentence)| sentence).collect()
    }

    /// A request, be it one inside of another: `top_hits`, `inner_hits`.
    fn request(&mut self, request: &mut SearchRequest) {
        let queries = request.query.iter_mut().chain(&mut request.post_filter);
        let second = request.rescore.iter_mut().map(|rescore| &mut rescore.query);
        queries.chain(second).for_each(|query| self.query(query));
        self.sorts(&mut request.sort);
        self.highlight(request.highlight.as_mut());
        let inner = request.collapse.iter_mut().flat_map(|collapse| &mut collapse.inner_hits);
        inner.for_each(|inner| self.request(&mut inner.request));
        let aggs = &mut request.aggs;
        crate::aggs::queries_mut(aggs).into_iter().for_each(|query| self.query(query));
        crate::aggs::kinds_mut(aggs, &mut |kind| match kind {
            Kind::TopHits(request) => self.request(std::sync::Arc::make_mut(request)),
            Kind::TopMetrics(top) => self.sorts(&mut top.sort),
            _ => {}
        });
    }

    fn sorts(&mut self, sorts: &mut [Sort]) {
        let nested = sorts.iter_mut().filter_map(|sort| sort.nested.as_mut());
        nested.filter_map(|nested| nested.filter.as_mut()).for_each(|query| self.query(query));
    }

    fn highlight(&mut self, highlight: Option<&mut Highlight>) {
        let Some(highlight) = highlight else { return };
        let fields = highlight.fields.iter_mut().filter_map(|it| it.query.as_mut());
        fields.chain(highlight.query.as_deref_mut()).for_each(|query| self.query(query));
    }

    fn query(&mut self, query: &mut Query) {
        query.visit_mut(&mut |query| match &mut query.node {
            Node::FunctionScore(score) => {
                let alone =
                    |kind: &FunctionKind| matches!(kind, FunctionKind::Random(Some(_), None));
                let mut kinds = score.functions.iter().filter_map(|it| it.kind.as_ref());
                self.seed_alone |= kinds.any(alone);
            }
            Node::Geo(within) => self.polygon |= within.query == "geo_polygon",
            // It is looked for by a search of its own, and the walk goes round it.
            Node::Family(family) => self.query(&mut family.query),
            Node::Nested(nested) => {
                // What is no definition is told by whoever reads it to fetch hits.
                let start = json::Place { line: 1, column: 1 };
                let defined = nested.inner_hits.as_ref();
                let read = defined.map(|it| json::spanned::Node::from_value(it, start));
                if let Some(Ok(mut defined)) = read.map(|node| inner::read(&node)) {
                    self.request(&mut defined.request);
                }
            }
            _ => {}
        });
    }
}
