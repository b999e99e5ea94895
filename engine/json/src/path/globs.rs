//! Many patterns with stars, matched together: one bit for each place in them.
//!
//! A step by one byte moves all places at once, sixty-four to a word, so that what patterns cost is
//! their length by the text's, over sixty-four, whatever stars they hold: nothing is tried twice.
//!
//! Always true
//! 1. Of stars in a row one is kept.
//! 2. A pattern of `n` bytes has `n + 1` places; on the last it has matched, and nothing leads on.

/// Patterns in which `*` stands for any bytes.
#[derive(Clone, Debug)]
pub struct Globs {
    /// The first place of each pattern, and its last.
    spans: Vec<(usize, usize)>,
    stars: Vec<u64>,
    ends: Vec<u64>,
    /// Where in `leads` each byte has its list; most patterns hold few different ones.
    lists: [u8; 256],
    /// Of a byte the places that it leads on from: words and bits in them. The first list is that of
    /// bytes that no pattern holds. There are at most 256: the star has none.
    leads: Vec<Vec<(usize, u64)>>,
}

impl Globs {
    /// Patterns that are asked together, numbered from 0.
    pub fn new<'a>(patterns: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut all = Self {
            spans: Vec::new(),
            stars: Vec::new(),
            ends: Vec::new(),
            lists: [0; 256],
            leads: vec![Vec::new()],
        };
        let mut at = 0;
        for pattern in patterns {
            let start = at;
            let mut before = None;
            for byte in pattern {
                if *byte == b'*' && before == Some(b'*') {
                    continue;
                }
                before = Some(*byte);
                let (word, bit) = (at / 64, 1 << (at % 64));
                if *byte == b'*' {
                    set(&mut all.stars, at);
                } else {
                    let leads = all.leads_of(*byte);
                    match leads.last_mut().filter(|(last, _)| *last == word) {
                        Some((_, bits)) => *bits |= bit,
                        None => leads.push((word, bit)),
                    }
                }
                at += 1;
            }
            set(&mut all.ends, at);
            all.spans.push((start, at));
            at += 1;
        }
        let words = at.div_ceil(64);
        all.stars.resize(words, 0);
        all.ends.resize(words, 0);
        all
    }

    fn leads_of(&mut self, byte: u8) -> &mut Vec<(usize, u64)> {
        let list = &mut self.lists[usize::from(byte)];
        if *list == 0 {
            *list = u8::try_from(self.leads.len()).expect("all bytes but the star");
            self.leads.push(Vec::new());
        }
        &mut self.leads[usize::from(*list)]
    }

    /// The numbers of the patterns that match all of `text`, rising.
    pub fn matches(&self, text: &[u8]) -> Vec<usize> {
        let mut places = self.none();
        (0..self.len()).for_each(|pattern| self.enter(pattern, &mut places));
        text.iter().for_each(|byte| self.advance(&mut places, *byte));
        let mut found = Vec::new();
        for (word, (places, ends)) in places.iter().zip(&self.ends).enumerate() {
            let mut matched = places & ends;
            while matched != 0 {
                let last = word * 64 + matched.trailing_zeros() as usize;
                found.push(self.spans.partition_point(|(_, end)| *end < last));
                matched &= matched - 1;
            }
        }
        found
    }

    /// How many patterns.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Without patterns.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Words that a step by one byte moves.
    pub fn words(&self) -> usize {
        self.stars.len()
    }

    /// No places.
    pub(super) fn none(&self) -> Vec<u64> {
        vec![0; self.stars.len()]
    }

    /// Adds the beginning of a pattern.
    pub(super) fn enter(&self, pattern: usize, places: &mut [u64]) {
        let (start, _) = self.spans[pattern];
        set_in(places, start);
        if has(&self.stars, start) {
            set_in(places, start + 1);
        }
    }

    /// Has the pattern matched?
    pub(super) fn is_matched(&self, pattern: usize, places: &[u64]) -> bool {
        has(places, self.spans[pattern].1)
    }

    /// Has any?
    pub(super) fn is_any_matched(&self, places: &[u64]) -> bool {
        places.iter().zip(&self.ends).any(|(places, ends)| places & ends != 0)
    }

    /// Moves all places on by a byte.
    pub(super) fn advance(&self, places: &mut [u64], byte: u8) {
        // From the last word on, so that what moves into the next one finds it moved already.
        let list = usize::from(self.lists[usize::from(byte)]);
        let mut leads = self.leads[list].iter().rev().peekable();
        for at in (0..places.len()).rev() {
            let lead = leads.next_if(|(word, _)| *word == at).map_or(0, |(_, bits)| *bits);
            let moved = places[at] & lead;
            places[at] = places[at] & self.stars[at] | moved << 1;
            if moved >> 63 == 1 {
                places[at + 1] |= 1;
            }
        }
        // A star may stand for nothing; what follows it is no star.
        let mut carry = 0;
        for (next, stars) in places.iter_mut().zip(&self.stars) {
            let starred = *next & stars;
            *next |= starred << 1 | carry;
            carry = starred >> 63;
        }
    }
}

fn set(bits: &mut Vec<u64>, at: usize) {
    if bits.len() <= at / 64 {
        bits.resize(at / 64 + 1, 0);
    }
    set_in(bits, at);
}

fn set_in(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

fn has(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}
