//! Phrases in documents with many positions: walked in steps, and remembered.
//!
//! A document of sixty megabytes has ten million positions, and a phrase may name their word two
//! hundred times. Lists of them would fill memory, and to compare them holds a core for seconds. So
//! whoever looks for a phrase asks here while it prepares, when its turn may end between any two
//! positions; the answers are there when documents are filled in. What is held is a chunk of positions
//! for each word of the phrase, as in Lucene.
//!
//! Always true
//! 1. Of one document at a time the walk is open; it goes on where it stopped.
//! 2. Answers are of documents at or after the last [`Long::forget_before`].

use segment::postings::{GROUP, Walk};

use super::Turn;
use super::blocks::Blocks;
use super::sloppy::{Places, Sloppy};

/// Positions of a document, from which on it is walked in steps.
const LONG_FROM: u64 = 4096;

/// Positions of documents that may be looked at without a step, in all that is prepared together.
const SHORT_MAX: u64 = 1 << 16;

/// Steps that are made even where the turn is over, so that each turn comes further.
const WORK_MIN: usize = 4096;

/// Occurrences at which the bounds of a word's groups saturate.
const COMMON: u64 = 255;

/// Words of a phrase from which on even common documents add up.
const WORDS_MANY: usize = 8;

/// Answers about documents with many positions, and the one that is looked at.
#[derive(Default)]
pub struct Long {
    /// Documents, rising, and how often the phrase is in each.
    told: Vec<(u32, f32)>,
    open: Option<(u32, Walked)>,
}

/// What may still be done without a step while something is prepared.
pub struct Allowance(u64);

impl Default for Allowance {
    fn default() -> Self {
        Self(SHORT_MAX)
    }
}

impl Allowance {
    /// May a document with so many positions be left to be looked at without a step?
    pub fn leaves(&mut self, positions: u64) -> bool {
        let leaves = positions < LONG_FROM && positions <= self.0;
        if leaves {
            self.0 -= positions;
        }
        leaves
    }
}

/// May a phrase of these words meet documents that take long? Told by how often the words stand in the
/// segment, then by the bounds of their groups.
pub fn may_be<'a>(words: impl ExactSizeIterator<Item = &'a Blocks>) -> bool {
    words.len() > WORDS_MANY || words.into_iter().any(is_common)
}

/// May the word stand [`COMMON`] times in a document?
fn is_common(word: &Blocks) -> bool {
    // In each document it stands once; were all else in one of them, that is the most. For nearly all words
    // that is answer enough, and costs nothing: the dictionary tells it.
    if word.postings.freq_max() < COMMON {
        return false;
    }
    let mut groups =
        (0..word.count.div_ceil(GROUP)).map(|group| word.postings.group_impacts(group));
    groups.any(|impacts| impacts.iter().any(|(freq, _)| freq == u32::MAX))
}

impl Long {
    /// Documents before `doc` will not be asked about again.
    pub fn forget_before(&mut self, doc: u32) {
        let passed = self.told.partition_point(|(told, _)| *told < doc);
        self.told.drain(..passed);
    }

    /// How often the phrase is in a document that was walked.
    #[inline]
    pub fn freq(&self, doc: u32) -> Option<f32> {
        let at = self.told.binary_search_by_key(&doc, |(told, _)| *told).ok()?;
        Some(self.told[at].1)
    }

    /// Looks at a document until its answer is told, or the turn is over; then false. `walk` begins.
    pub fn walk(
        &mut self,
        doc: u32,
        turn: &mut Turn<'_>,
        walk: impl FnOnce() -> Option<Walked>,
    ) -> bool {
        if self.freq(doc).is_some() {
            return true;
        }
        let open = self.open.take().filter(|(open, _)| *open == doc);
        let Some(mut walked) = open.map(|(_, walked)| walked).or_else(walk) else {
            return self.tell(doc, 0.0);
        };
        let mut work = turn.left().max(WORK_MIN);
        let given = work;
        let freq = walked.go_on(&mut work);
        turn.spend(given - work);
        match freq {
            Some(freq) => self.tell(doc, freq),
            None => {
                self.open = Some((doc, walked));
                false
            }
        }
    }

    fn tell(&mut self, doc: u32, freq: f32) -> bool {
        let at = self.told.partition_point(|(told, _)| *told < doc);
        self.told.insert(at, (doc, freq));
        true
    }
}

/// Where one place of the phrase stands in the document: by any of its words.
pub struct Place {
    words: Vec<Walk>,
    /// Place in the phrase.
    offset: u32,
}

impl Place {
    /// The words of a place of the phrase, each in the document.
    pub fn new(words: Vec<Walk>, offset: u32) -> Self {
        Self { words, offset }
    }

    fn peek(&mut self) -> Option<u32> {
        self.words.iter_mut().filter_map(Walk::peek).min()
    }

    /// Moves on. Where several words stand at one position, it is passed once.
    fn pass(&mut self) {
        if let [word] = self.words.as_mut_slice() {
            return word.pass();
        }
        let Some(at) = self.peek() else { return };
        for word in &mut self.words {
            while word.peek() == Some(at) {
                word.pass();
            }
        }
    }

    /// As [`Walk::seek`].
    fn seek(&mut self, target: u32, work: &mut usize) -> Option<u32> {
        *work = work.saturating_sub(self.words.len());
        self.words.iter_mut().filter_map(|word| word.seek(target, work)).min()
    }
}

/// A phrase that is counted in one document.
pub enum Walked {
    /// Each word stands in its place.
    Exact(Exact),
    /// Words may be moved.
    Sloppy(Moved),
}

impl Walked {
    /// A phrase without slop; `first`: it is enough to know that it is there.
    pub fn exact(places: Vec<Place>, first: bool) -> Self {
        Self::Exact(Exact { places, at: 0, start: 0, count: 0, first })
    }

    /// A phrase with slop, its places in order.
    pub fn sloppy(sloppy: Sloppy, places: Vec<Place>) -> Self {
        Self::Sloppy(Moved { sloppy, begun: false, places: Walks(places) })
    }

    fn go_on(&mut self, work: &mut usize) -> Option<f32> {
        match self {
            Self::Exact(exact) => exact.go_on(work).map(|count| count as f32),
            Self::Sloppy(moved) => moved.go_on(work),
        }
    }
}

/// A phrase without slop: each word leaps to where the others want it.
pub struct Exact {
    places: Vec<Place>,
    /// The place of the phrase that is asked next.
    at: usize,
    /// Where the phrase may begin.
    start: u32,
    count: u32,
    first: bool,
}

impl Exact {
    fn go_on(&mut self, work: &mut usize) -> Option<u32> {
        while *work > 0 {
            let Some(place) = self.places.get_mut(self.at) else {
                self.count += 1;
                if self.first {
                    return Some(self.count);
                }
                self.at = 0;
                let lead = &mut self.places[0];
                lead.pass();
                let Some(at) = lead.peek() else { return Some(self.count) };
                self.start = at.saturating_sub(lead.offset);
                continue;
            };
            let Some(wanted) = self.start.checked_add(place.offset) else {
                return Some(self.count);
            };
            let Some(at) = place.seek(wanted, work) else { return Some(self.count) };
            if at < wanted {
                // The turn is over on the way there.
                return None;
            }
            if at == wanted {
                self.at += 1;
            } else {
                (self.at, self.start) = (0, at - place.offset);
            }
        }
        None
    }
}

/// A phrase with slop.
pub struct Moved {
    sloppy: Sloppy,
    begun: bool,
    places: Walks,
}

impl Moved {
    fn go_on(&mut self, work: &mut usize) -> Option<f32> {
        if !self.begun && !self.sloppy.begin(&mut self.places) {
            return Some(0.0);
        }
        self.begun = true;
        self.sloppy.go_on(&mut self.places, work)
    }
}

struct Walks(Vec<Place>);

impl Places for Walks {
    fn place(&mut self, word: usize, _at: usize) -> Option<u32> {
        let place = self.0[word].peek();
        self.0[word].pass();
        place
    }
}
