//! Clauses that must not match, taken from those that do.

use std::ops::Range;

use super::{
    AnyFilter, AnyScorer, Bits, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits,
    window_of,
};

/// What one filter matches and another does not.
pub struct Without {
    base: AnyFilter,
    not: AnyFilter,
    bits: Option<Bits>,
    docs: Vec<u32>,
    matches: Vec<bool>,
    looks_up: bool,
    is_empty: bool,
    doc_count: u32,
}

/// Looking a document up costs about as much as reading so many in order, and reading a window about
/// as much again as so many.
const LOOK: u64 = 32;
const READ: u64 = 512;

impl Without {
    /// What `base` matches and `not` does not, in a segment of `doc_count`.
    pub fn new(base: AnyFilter, not: AnyFilter, doc_count: u32) -> Self {
        Self {
            base,
            not,
            bits: None,
            docs: Vec::new(),
            matches: Vec::new(),
            looks_up: false,
            is_empty: false,
            doc_count,
        }
    }
}

impl Filter for Without {
    fn cost(&self) -> u64 {
        self.base.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.base.next(from)
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        let base = window * WINDOW;
        if self.bits.is_none() {
            if !self.base.prepare(window, turn) {
                return false;
            }
            let mut found = bits::NONE;
            self.base.fill(window, &mut found);
            let count = u64::from(bits::count(&found));
            let expected = self.not.cost() * u64::from(WINDOW) / u64::from(self.doc_count.max(1));
            self.looks_up = count * LOOK < expected + READ;
            self.docs.clear();
            if self.looks_up {
                bits::list(&found, base, &mut self.docs);
            }
            self.bits = Some(found);
            self.is_empty = count == 0;
            turn.spend(count as usize + 64);
        }
        if self.is_empty {
            return true;
        }
        if self.looks_up {
            self.not.prepare_probe(&self.docs, turn)
        } else {
            self.not.prepare(window, turn)
        }
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        let Some(mut found) = self.bits.take() else { return };
        if !self.is_empty && self.looks_up {
            self.matches.clear();
            self.matches.resize(self.docs.len(), false);
            self.not.probe(&self.docs, &mut self.matches);
            for (doc, matches) in self.docs.iter().zip(&self.matches) {
                let place = (doc - window * WINDOW) % WINDOW;
                found[place as usize / 64] &= !(u64::from(*matches) << (place % 64));
            }
        } else if !self.is_empty {
            let mut not = bits::NONE;
            self.not.fill(window, &mut not);
            bits::and_not(&mut found, &not);
        }
        bits::or(bits, &found);
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let base = self.base.prepare_probe(docs, turn);
        self.not.prepare_probe(docs, turn) && base
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        self.base.probe(docs, matches);
        self.matches.clear();
        self.matches.resize(docs.len(), false);
        self.not.probe(docs, &mut self.matches);
        for (matches, not) in matches.iter_mut().zip(&self.matches) {
            *matches &= !not;
        }
    }
}

/// What must not match, asked about documents that rise: looked up where they are few, else a window is read
/// whole and kept, as others of its documents may be asked about next.
///
/// To look four thousand documents up in each of three hundred lists held a core 13 ms, and of three thousand
/// 144 ms; to read the lists costs what they hold.
struct Excluded {
    filter: AnyFilter,
    /// How many of a window it matches, about.
    expected: u64,
    /// The window that was read last, and what it matches there.
    read: Option<(u32, Box<Bits>)>,
    /// The last window of which documents were looked up: it cannot be read from its beginning any more.
    looked: Option<u32>,
}

impl Excluded {
    fn new(filter: AnyFilter, doc_count: u32) -> Self {
        let expected = filter.cost() * u64::from(WINDOW) / u64::from(doc_count.max(1));
        Self { filter, expected, read: None, looked: None }
    }

    /// How many of the documents lie in the window that was read.
    fn known(&self, docs: &[u32]) -> usize {
        let Some((read, _)) = &self.read else { return 0 };
        docs.partition_point(|doc| window_of(*doc) <= *read)
    }

    /// The window that is read for these documents, which no window read before knows; else they are looked up.
    fn reads(&self, docs: &[u32]) -> Option<u32> {
        let (first, last) = (window_of(*docs.first()?), window_of(*docs.last()?));
        let is_new = first == last && self.looked.is_none_or(|looked| looked < first);
        (is_new && docs.len() as u64 * LOOK >= self.expected + READ).then_some(first)
    }

    fn prepare(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let rest = &docs[self.known(docs)..];
        match self.reads(rest) {
            Some(window) => self.filter.prepare(window, turn),
            None => rest.is_empty() || self.filter.prepare_probe(rest, turn),
        }
    }

    fn tell(&mut self, docs: &[u32], matches: &mut [bool]) {
        let known = self.known(docs);
        self.tell_known(&docs[..known], &mut matches[..known]);
        let (rest, matches) = (&docs[known..], &mut matches[known..]);
        if let Some(window) = self.reads(rest) {
            let mut found = Box::new(bits::NONE);
            self.filter.fill(window, &mut found);
            self.read = Some((window, found));
            self.tell_known(rest, matches);
        } else if let Some(last) = rest.last() {
            self.looked = Some(window_of(*last));
            self.filter.probe(rest, matches);
        }
    }

    fn tell_known(&self, docs: &[u32], matches: &mut [bool]) {
        let Some((_, found)) = &self.read else { return };
        for (doc, matches) in docs.iter().zip(matches) {
            *matches = bits::has(found, doc % WINDOW);
        }
    }
}

/// What a scorer matches and a filter does not.
pub struct ScoredWithout {
    base: AnyScorer,
    not: Excluded,
    hits: Hits,
    filled: bool,
    matches: Vec<bool>,
}

impl ScoredWithout {
    /// What `base` matches and `not` does not, in a segment of `doc_count`.
    pub fn new(base: AnyScorer, not: AnyFilter, doc_count: u32) -> Self {
        let not = Excluded::new(not, doc_count);
        Self { base, not, hits: Hits::default(), filled: false, matches: Vec::new() }
    }
}

impl Scorer for ScoredWithout {
    fn cost(&self) -> u64 {
        self.base.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.base.next(from)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        self.base.window(from, bar, turn)
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        self.base.max_score(range)
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        if !self.filled {
            if !self.base.prepare(window, turn) {
                return false;
            }
            self.hits.clear();
            self.base.fill(window, &mut self.hits);
            self.filled = true;
        }
        turn.spend(self.hits.docs.len() * 4);
        self.hits.docs.is_empty() || self.not.prepare(&self.hits.docs, turn)
    }

    fn fill(&mut self, _window: &Window, hits: &mut Hits) {
        self.filled = false;
        if self.hits.docs.is_empty() {
            return;
        }
        self.matches.clear();
        self.matches.resize(self.hits.docs.len(), false);
        self.not.tell(&self.hits.docs, &mut self.matches);
        for at in 0..self.hits.docs.len() {
            if !self.matches[at] {
                hits.docs.push(self.hits.docs[at]);
                hits.scores.push(self.hits.scores[at]);
            }
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let base = self.base.prepare_probe(docs, turn);
        self.not.prepare(docs, turn) && base
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        self.base.probe(docs, scores);
        self.matches.clear();
        self.matches.resize(docs.len(), false);
        self.not.tell(docs, &mut self.matches);
        for (score, not) in scores.iter_mut().zip(&self.matches) {
            if *not {
                *score = NO_MATCH;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every third document, asked about documents that rise.
    struct Thirds {
        /// The first document that may be asked about.
        from: u32,
    }

    impl Filter for Thirds {
        fn cost(&self) -> u64 {
            u64::from(WINDOW)
        }

        fn next(&mut self, from: u32) -> u32 {
            from.next_multiple_of(3)
        }

        fn prepare(&mut self, window: u32, _turn: &mut Turn<'_>) -> bool {
            assert!(window * WINDOW >= self.from, "a window is read once, and from its beginning");
            true
        }

        fn fill(&mut self, window: u32, bits: &mut Bits) {
            self.from = (window + 1) * WINDOW;
            let all = (0..WINDOW).filter(|place| (window * WINDOW + place).is_multiple_of(3));
            all.for_each(|place| bits::set(bits, place));
        }

        fn prepare_probe(&mut self, docs: &[u32], _turn: &mut Turn<'_>) -> bool {
            assert!(docs.first().is_none_or(|doc| *doc >= self.from), "they rise");
            true
        }

        fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
            for (doc, matches) in docs.iter().zip(matches) {
                *matches = doc.is_multiple_of(3);
            }
            self.from = docs.last().map_or(self.from, |doc| doc + 1);
        }
    }

    #[test]
    fn what_must_not_match_is_told_alike_however_documents_come() {
        let every = |docs: Range<u32>, step: usize| docs.step_by(step).collect::<Vec<u32>>();
        let asked = [
            // Few: looked up, so the rest of the window is, too.
            every(5..9, 1),
            every(100..WINDOW, 1),
            // Many: read, and known to whoever asks about the rest of the window, and beyond it.
            every(WINDOW..WINDOW + 2000, 1),
            every(WINDOW + 2000..WINDOW + 2010, 1),
            every(WINDOW + 3000..2 * WINDOW + 9, 7),
            // Of several windows.
            every(3 * WINDOW - 5..5 * WINDOW, 2),
            Vec::new(),
            every(5 * WINDOW..6 * WINDOW, 1),
        ];
        let thirds = Thirds { from: 0 };
        let mut excluded = Excluded::new(Box::new(thirds), 6 * WINDOW);
        let mut missing = segment::Missing::default();
        let mut turn = Turn::new(&mut missing, 1_000_000, true);
        for docs in asked {
            assert!(excluded.prepare(&docs, &mut turn));
            let mut matches = vec![false; docs.len()];
            excluded.tell(&docs, &mut matches);
            assert!(docs.iter().zip(&matches).all(|(doc, matches)| *matches == (doc % 3 == 0)));
        }
        assert_eq!(excluded.read.map(|(window, _)| window), Some(5));
    }
}
