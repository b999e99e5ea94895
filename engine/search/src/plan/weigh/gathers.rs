//! What the sets of documents take that a query gathers before it filters by them, and what its nodes keep of a window.
//!
//! Each clause on numbers, places, or terms without an end gathers its documents of a whole segment: a list of few, a
//! bit for each of many. A query has thousands of clauses, so that is counted before it begins.

use segment::Segment;

use super::*;
use crate::iter::build::numbers_bytes;
use crate::iter::{WINDOW, gathered};

impl Weigher<'_> {
    /// Documents of ranges.
    pub(super) fn numbers(&mut self, numbers: Arc<Numbers>, score: f32) -> Node {
        self.gathers(|segment| numbers_bytes(segment, &numbers));
        Node::Numbers { numbers, score }
    }

    /// Documents of any of these terms.
    pub(super) fn terms(
        &mut self,
        field: FieldNo,
        access: Access,
        terms: &Arc<[Box<[u8]>]>,
        score: f32,
    ) -> segment::Result<Node> {
        if !access.index || terms.len() > TERMS_APART_MAX {
            self.gathers_any();
            return Ok(Node::Terms { field, access, terms: Arc::clone(terms), score });
        }
        let mut infos = vec![Vec::new(); self.view.segments.len()];
        for term in &**terms {
            for (infos, info) in infos.iter_mut().zip(self.find(field, term)?) {
                infos.extend(info);
            }
        }
        Ok(Node::FewTerms { field, infos, score })
    }

    /// Documents of which nobody knows how many they are.
    pub(super) fn gathers_any(&mut self) {
        self.gathers(|segment| gathered::len_bytes(u64::MAX, segment.doc_count()));
    }

    /// A node keeps the candidates of a window, with their sums and scores, from one call to the next.
    pub(super) fn keeps_window(&mut self) {
        const OF_DOC: usize = 24;
        for (sum, one) in self.gathered_bytes.iter_mut().zip(&self.view.segments) {
            *sum += OF_DOC * WINDOW.min(one.segment.doc_count()) as usize;
        }
    }

    fn gathers(&mut self, bytes: impl Fn(&Segment) -> usize) {
        self.lookups += 1;
        for (sum, one) in self.gathered_bytes.iter_mut().zip(&self.view.segments) {
            *sum = sum.saturating_add(bytes(&one.segment));
        }
    }
}
