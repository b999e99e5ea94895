//! A boolean is weighed by points, and scores as the term that it is in Elasticsearch.

use super::*;

impl Weigher<'_> {
    /// A boolean scores as the term that it is in Elasticsearch.
    pub(super) fn flag(
        &mut self,
        field: FieldNo,
        value: i64,
        boost: f32,
        scored: bool,
    ) -> segment::Result<Node> {
        let numbers = Numbers {
            field,
            access: Access { index: true, column: false },
            ranges: vec![(value, value)],
        };
        let numbers = Arc::new(numbers);
        if !scored {
            return Ok(self.numbers(numbers, boost));
        }
        let mut stats = FieldStats::default();
        let mut freq = 0;
        for segment in &self.view.segments {
            let Some(points) = segment.segment.points(field) else { continue };
            stats.doc_count += u64::from(points.doc_count());
            if !segment.segment.file().is_resident() {
                points.walk(Bounds::longs(0..=1)).prepare(usize::MAX, self.missing)?;
                if !self.missing.is_empty() {
                    continue;
                }
            }
            let count = |value| -> segment::Result<u64> {
                let bounds = Bounds::longs(value..=value);
                if points.point_count() == u64::from(points.doc_count()) {
                    return points.count(&bounds);
                }
                // A document may hold a value twice; Elasticsearch counts it once.
                let mut docs = DocBits::new(segment.segment.doc_count());
                points.visit(&bounds, &mut docs)?;
                Ok(u64::from(docs.0.count()))
            };
            let counts = [count(0)?, count(1)?];
            stats.term_freq_sum += counts[0] + counts[1];
            freq += counts[usize::from(value != 0)];
        }
        // Other shards may count with this one: by the terms that Elasticsearch writes.
        let term: &[u8] = if value == 0 { b"F" } else { b"T" };
        let count = self.freq_among(field, term, TermCount { docs: freq, times: freq });
        let stats = self.stats_among(field, stats);
        let weight = self.term_weight(field, boost, count, stats, false);
        let score = weight.score(1.0, weight.inverse(NO_NORM));
        Ok(self.numbers(numbers, score))
    }
}
