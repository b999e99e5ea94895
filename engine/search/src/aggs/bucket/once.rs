//! Each key of a document once, though several of its values have it.
//!
//! A list that is looked through takes with the square of its keys: a document that lies in thirty thousand ranges took
//! a third of a second.

use base::hash::Set;

/// Of so many keys a list is looked through faster than a set.
const FEW: usize = 16;

/// Keys that were given for the document at hand, whatever they are.
#[derive(Debug)]
pub(super) struct Once {
    at: usize,
    few: Vec<i64>,
    many: Set<i64>,
}

impl Default for Once {
    fn default() -> Self {
        Self { at: usize::MAX, few: Vec::new(), many: Set::default() }
    }
}

impl Once {
    /// Is the key new for the document at this place? One document comes after the other.
    #[inline]
    pub(super) fn is_new(&mut self, at: usize, key: i64) -> bool {
        if self.at != at {
            self.at = at;
            self.few.clear();
            self.many.clear();
        }
        if self.few.len() < FEW {
            let is_new = !self.few.contains(&key);
            if is_new {
                self.few.push(key);
            }
            return is_new;
        }
        if self.many.is_empty() {
            self.many.extend(self.few.iter().copied());
        }
        self.many.insert(key)
    }
}

/// The same for places from zero to a number that is known, or grows.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The round in which each place was given last.
    given: Vec<u32>,
    round: u32,
}

impl Places {
    /// Another document.
    pub(super) fn begin(&mut self) {
        if self.round == u32::MAX {
            self.given.fill(0);
            self.round = 0;
        }
        self.round += 1;
    }

    /// Is the place new for the document at hand?
    #[inline]
    pub(super) fn is_new(&mut self, place: usize) -> bool {
        if place >= self.given.len() {
            self.given.resize(place + 1, 0);
        }
        std::mem::replace(&mut self.given[place], self.round) != self.round
    }

    /// Bytes of all this.
    pub(super) fn bytes(&self) -> usize {
        self.given.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_new_once_a_document() {
        let (mut once, mut places) = (Once::default(), Places::default());
        for at in [0, 1, 5] {
            places.begin();
            for round in 0..3 {
                for key in 0..100 {
                    assert_eq!(once.is_new(at, key * 7), round == 0, "{at} {key}");
                    assert_eq!(places.is_new(key as usize), round == 0, "{at} {key}");
                }
            }
        }
        places.round = u32::MAX;
        places.begin();
        assert!(places.is_new(3) && !places.is_new(3));
        assert!(places.bytes() >= 400);
    }
}
