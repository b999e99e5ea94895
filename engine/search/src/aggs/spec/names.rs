//! The names by which aggregations are asked for, and what kind of buckets they have.

use super::{Kind, Metric, Values};

impl Kind {
    /// The name by which it was asked for.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Metric(metric, _) => metric.type_name(),
            Self::WeightedAvg { .. } => "weighted_avg",
            Self::TopHits(_) => "top_hits",
            Self::TopMetrics(_) => "top_metrics",
            Self::MatrixStats { .. } => "matrix_stats",
            Self::TTest(_) => "t_test",
            Self::Terms(_) => "terms",
            Self::RareTerms(_) => "rare_terms",
            Self::Significant(sig) if sig.text => "significant_text",
            Self::Significant(_) => "significant_terms",
            Self::MultiTerms(_) => "multi_terms",
            Self::Histogram(_) => "histogram",
            Self::DateHistogram(_) => "date_histogram",
            Self::AutoDateHistogram(_) => "auto_date_histogram",
            Self::VariableWidth { .. } => "variable_width_histogram",
            Self::Range(range) if range.dates => "date_range",
            Self::Range(_) => "range",
            Self::IpRange(_) => "ip_range",
            Self::IpPrefix(_) => "ip_prefix",
            Self::GeoDistance(_) => "geo_distance",
            Self::GeoGrid(grid) if grid.tiles => "geotile_grid",
            Self::GeoGrid(_) => "geohash_grid",
            Self::Filter(_) => "filter",
            Self::Filters(_) => "filters",
            Self::Adjacency { .. } => "adjacency_matrix",
            Self::Missing(_) => "missing",
            Self::Global => "global",
            Self::Nested(_) => "nested",
            Self::ReverseNested(_) => "reverse_nested",
            Self::Sampler { diversity: None, .. } => "sampler",
            Self::Sampler { .. } => "diversified_sampler",
            Self::RandomSampler { .. } => "random_sampler",
            Self::Composite(_) => "composite",
        }
    }

    /// The values that it reads, the first where there are several; `None` where it reads none of its
    /// own.
    pub fn values(&self) -> Option<&Values> {
        match self {
            Self::Metric(_, values) | Self::Missing(values) => Some(values),
            Self::WeightedAvg { value, .. } => Some(value),
            Self::TopMetrics(top) => top.metrics.first(),
            Self::TTest(test) => Some(&test.a.0),
            Self::Terms(of) => Some(&of.values),
            Self::RareTerms(of) => Some(&of.values),
            Self::Significant(of) => Some(&of.values),
            Self::MultiTerms(of) => of.terms.first(),
            Self::Histogram(of) => Some(&of.values),
            Self::DateHistogram(of) => Some(&of.values),
            Self::AutoDateHistogram(of) => Some(&of.values),
            Self::VariableWidth { values, .. } => Some(values),
            Self::Range(of) => Some(&of.values),
            Self::IpRange(of) => Some(&of.values),
            Self::IpPrefix(of) => Some(&of.values),
            Self::GeoDistance(of) => Some(&of.values),
            Self::GeoGrid(of) => Some(&of.values),
            _ => None,
        }
    }

    /// It makes buckets, below which others may stand.
    pub fn is_bucket(&self) -> bool {
        !matches!(
            self,
            Self::Metric(..)
                | Self::WeightedAvg { .. }
                | Self::TopHits(_)
                | Self::TopMetrics(_)
                | Self::MatrixStats { .. }
                | Self::TTest(_)
        )
    }

    /// It has exactly one bucket.
    pub fn is_single(&self) -> bool {
        matches!(
            self,
            Self::Filter(_)
                | Self::Missing(_)
                | Self::Global
                | Self::Nested(_)
                | Self::ReverseNested(_)
                | Self::Sampler { .. }
                | Self::RandomSampler { .. }
        )
    }
}

impl Metric {
    /// The name by which it was asked for.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Avg => "avg",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::ValueCount => "value_count",
            Self::Stats => "stats",
            Self::ExtendedStats { .. } => "extended_stats",
            Self::Cardinality { .. } => "cardinality",
            Self::Percentiles { .. } => "percentiles",
            Self::PercentileRanks { .. } => "percentile_ranks",
            Self::MedianAbsoluteDeviation { .. } => "median_absolute_deviation",
            Self::Boxplot { .. } => "boxplot",
            Self::StringStats { .. } => "string_stats",
            Self::GeoBounds { .. } => "geo_bounds",
            Self::GeoCentroid => "geo_centroid",
        }
    }
}
