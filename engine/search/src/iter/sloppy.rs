//! How often a phrase occurs in a document, where its words may be moved a little.
//!
//! Lucene's `SloppyPhraseMatcher` step for step, as its result is part of the score: each match
//! found on the way counts `1 / (1 + length)`, where the length is how far the words, each taken
//! back to the phrase's start, stand apart. A word that stands twice in the phrase never matches
//! one place twice: its later twin begins further on, and a collision advances the lesser.
//!
//! Here "position" is where the phrase would begin by a word: its place in the document less its
//! place in the phrase.

/// One word of the phrase in one document.
#[derive(Clone, Debug)]
struct Word {
    /// Place in the phrase.
    offset: i64,
    /// Words of the same term have the same group; `None` where the term stands once.
    group: Option<usize>,
    /// Place within the group, by offset.
    group_at: usize,
    /// Index of the next place in the document.
    next: usize,
    position: i64,
}

/// Counts matches of a phrase with slop.
#[derive(Clone, Debug)]
pub struct Sloppy {
    slop: i64,
    words: Vec<Word>,
    /// Words of equal terms, by offset.
    groups: Vec<Vec<usize>>,
    /// Words by position, then offset, then place; the least first.
    queue: Vec<usize>,
    /// The greatest position.
    end: i64,
    /// The word under way, where it stopped.
    run: Option<Run>,
    /// What was counted so far.
    freq: f32,
}

/// A word on its way past the next.
#[derive(Clone, Copy, Debug)]
struct Run {
    word: usize,
    /// Where the next word stands.
    next: i64,
    /// The shortest match on the way.
    length: i64,
}

/// Where the words of a phrase stand in a document.
pub trait Places {
    /// The place of a word, the first being 0; `None` after its last. Asked in order, each once.
    fn place(&mut self, word: usize, at: usize) -> Option<u32>;
}

/// Places that all lie there.
struct Lists<'a>(&'a [Vec<u32>]);

impl Places for Lists<'_> {
    fn place(&mut self, word: usize, at: usize) -> Option<u32> {
        self.0[word].get(at).copied()
    }
}

impl Sloppy {
    /// A phrase of terms with their places, which rise.
    pub fn new(terms: &[(&[u8], u32)], slop: u32) -> Self {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut words: Vec<Word> = terms
            .iter()
            .map(|(_, offset)| Word {
                offset: i64::from(*offset),
                group: None,
                group_at: 0,
                next: 0,
                position: 0,
            })
            .collect();
        for at in 0..terms.len() {
            if words[at].group.is_some() {
                continue;
            }
            let same: Vec<usize> = (at..terms.len())
                .filter(|other| {
                    terms[*other].0 == terms[at].0
                        && (*other == at || words[*other].offset != words[at].offset)
                })
                .collect();
            if same.len() > 1 {
                for (place, word) in same.iter().enumerate() {
                    words[*word].group = Some(groups.len());
                    words[*word].group_at = place;
                }
                groups.push(same);
            }
        }
        Self {
            slop: i64::from(slop),
            words,
            groups,
            queue: Vec::new(),
            end: 0,
            run: None,
            freq: 0.0,
        }
    }

    /// The frequency in a document where each term stands at these places, which rise; 0 where the
    /// phrase does not match.
    pub fn freq(&mut self, places: &[Vec<u32>]) -> f32 {
        debug_assert_eq!(places.len(), self.words.len());
        let mut places = Lists(places);
        if !self.begin(&mut places) {
            return 0.0;
        }
        let mut work = usize::MAX;
        self.go_on(&mut places, &mut work).unwrap_or(self.freq)
    }

    /// Goes on after [`Self::begin`] until the frequency is known, or `work` is used up: then it is
    /// called again. A step over a place costs as much as the phrase has words.
    pub fn go_on(&mut self, places: &mut impl Places, work: &mut usize) -> Option<f32> {
        loop {
            let mut run = self.run.take().unwrap_or_else(|| self.lead());
            loop {
                if *work == 0 {
                    self.run = Some(run);
                    return None;
                }
                *work = work.saturating_sub(self.words.len());
                if !self.advance(run.word, places) || !self.resolve(run.word, places) {
                    self.count(run.length);
                    return Some(self.freq);
                }
                let position = self.words[run.word].position;
                if position > run.next {
                    break;
                }
                run.length = run.length.min(self.end - position);
            }
            self.enqueue(run.word);
            self.count(run.length);
        }
    }

    /// Takes the word that stands first out of the queue.
    fn lead(&mut self) -> Run {
        let word = self.queue.remove(0);
        let next = self.words[self.queue[0]].position;
        Run { word, next, length: self.end - self.words[word].position }
    }

    fn count(&mut self, length: i64) {
        if length <= self.slop {
            self.freq += 1.0 / (1.0 + length as f32);
        }
    }

    /// Stands each word on its first place; false where one finds none left, and so nothing matches.
    pub fn begin(&mut self, places: &mut impl Places) -> bool {
        self.end = i64::MIN;
        (self.run, self.freq) = (None, 0.0);
        for word in 0..self.words.len() {
            self.words[word].next = 0;
            if !self.step(word, places) {
                return false;
            }
        }
        for group in 0..self.groups.len() {
            for at in 1..self.groups[group].len() {
                for _ in 0..at {
                    if !self.step(self.groups[group][at], places) {
                        return false;
                    }
                }
            }
        }
        self.queue.clear();
        for word in 0..self.words.len() {
            self.end = self.end.max(self.words[word].position);
            self.enqueue(word);
        }
        true
    }

    /// Moves a word to its next place; false where there is none.
    fn step(&mut self, word: usize, places: &mut impl Places) -> bool {
        let moved = &mut self.words[word];
        let Some(place) = places.place(word, moved.next) else { return false };
        moved.next += 1;
        moved.position = i64::from(place) - moved.offset;
        true
    }

    /// As `step`, and the end moves along.
    fn advance(&mut self, word: usize, places: &mut impl Places) -> bool {
        if !self.step(word, places) {
            return false;
        }
        self.end = self.end.max(self.words[word].position);
        true
    }

    /// A word was advanced: where it now stands on the place of its twin, the lesser goes on.
    fn resolve(&mut self, word: usize, places: &mut impl Places) -> bool {
        let Some(group) = self.words[word].group else { return true };
        let first = self.words[word].group_at;
        let mut moved = vec![false; self.groups[group].len()];
        let mut word = word;
        while let Some(twin) = self.collision(word, group) {
            let other = self.groups[group][twin];
            word = self.lesser(word, other);
            if !self.advance(word, places) {
                return false;
            }
            if twin != first {
                // It is in the queue, where its place may have changed.
                moved[twin] = true;
            }
        }
        // Lucene empties the queue until it has seen all that moved, and puts them back; the queue
        // is a heap there, a sorted list here, so this sorts by position all that came out.
        let mut out = Vec::new();
        while moved.iter().any(|moved| *moved) {
            if self.queue.is_empty() {
                break;
            }
            let seen = self.queue.remove(0);
            if self.words[seen].group == Some(group) {
                moved[self.words[seen].group_at] = false;
            }
            out.push(seen);
        }
        for seen in out {
            self.enqueue(seen);
        }
        true
    }

    /// The twin that stands on the same place of the document.
    fn collision(&self, word: usize, group: usize) -> Option<usize> {
        let place = |word: usize| self.words[word].position + self.words[word].offset;
        let twins = self.groups[group].iter();
        let found = twins.copied().find(|twin| *twin != word && place(*twin) == place(word));
        found.map(|twin| self.words[twin].group_at)
    }

    fn lesser(&self, a: usize, b: usize) -> usize {
        let key = |word: usize| (self.words[word].position, self.words[word].offset);
        if key(a) < key(b) { a } else { b }
    }

    fn enqueue(&mut self, word: usize) {
        let key = |word: usize| (self.words[word].position, self.words[word].offset, word);
        let at = self.queue.partition_point(|other| key(*other) < key(word));
        self.queue.insert(at, word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn freq(phrase: &str, slop: u32, text: &str) -> f32 {
        let terms: Vec<(&[u8], u32)> =
            phrase.split(' ').zip(0..).map(|(word, at)| (word.as_bytes(), at)).collect();
        let places: Vec<Vec<u32>> = phrase
            .split(' ')
            .map(|word| {
                let found = text.split(' ').zip(0u32..).filter(|(other, _)| *other == word);
                found.map(|(_, at)| at).collect()
            })
            .collect();
        if places.iter().any(Vec::is_empty) {
            return 0.0;
        }
        Sloppy::new(&terms, slop).freq(&places)
    }

    #[test]
    fn words_in_place_count_one() {
        assert_eq!(freq("a b", 0, "a b x a b"), 2.0);
        assert_eq!(freq("a b", 5, "a b"), 1.0);
    }

    #[test]
    fn a_gap_counts_by_its_length() {
        assert_eq!(freq("golden house", 1, "golden gate house"), 0.5);
        assert_eq!(freq("golden house", 0, "golden gate house"), 0.0);
    }

    #[test]
    fn turning_two_words_round_takes_two() {
        assert_eq!(freq("gate golden", 2, "golden gate house"), 1.0 / 3.0);
        assert_eq!(freq("gate golden", 1, "golden gate house"), 0.0);
    }

    #[test]
    fn a_word_that_stands_twice_needs_two_places() {
        assert_eq!(freq("to to", 10, "x to x"), 0.0);
        assert!(freq("to to", 10, "to x to") > 0.0);
        assert_eq!(freq("to be or not to be", 0, "to be or not to be"), 1.0);
    }
}
