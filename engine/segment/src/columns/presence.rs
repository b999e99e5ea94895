//! Which documents of a window have a value, with their ranks among those that have.
//!
//! Always true
//! 1. The form follows from the counts that the zone knows, so no byte tells it.
//! 2. A place handed out is inside the window, a rank below the count, whatever the bytes say.
//!
//! Layout (little-endian)
//!
//! | form | when                                      | bytes                                          |
//! |------|-------------------------------------------|------------------------------------------------|
//! | all  | every document of the window has a value  | none                                           |
//! | list | the list is shorter than the bits         | 2 for each such document: its place, rising    |
//! | bits | else                                      | 16: how many come before each 512; then 512: a bit for each place |
//!
//! Bits always take the room of a whole window, also in the last one: its places have one address.

use super::{WINDOW, WINDOW_WORDS, WindowWords};

/// Words between two counts.
const RANK_WORDS: usize = 8;
const RANK_BYTES: usize = WINDOW_WORDS / RANK_WORDS * 2;
const BITS_BYTES: usize = RANK_BYTES + WINDOW_WORDS * 8;

/// Appends the set of `places`, which rise, in a window of `span` documents.
pub fn write(places: &[u16], span: u32, out: &mut Vec<u8>) {
    let count = places.len();
    assert!(count as u32 <= span, "places inside of the window");
    debug_assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
    match form(count, span) {
        Form::All => {}
        Form::List => out.extend(places.iter().flat_map(|place| place.to_le_bytes())),
        Form::Bits => {
            let mut words = [0u64; WINDOW_WORDS];
            for &place in places {
                words[usize::from(place) / 64] |= 1 << (place % 64);
            }
            let mut before = 0u16;
            for group in words.chunks(RANK_WORDS) {
                out.extend_from_slice(&before.to_le_bytes());
                before += group.iter().map(|word| word.count_ones() as u16).sum::<u16>();
            }
            out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    All,
    List,
    Bits,
}

/// The form for `count` documents of `span`.
#[inline]
fn form(count: usize, span: u32) -> Form {
    if count as u32 == span {
        Form::All
    } else if count * 2 < BITS_BYTES {
        Form::List
    } else {
        Form::Bits
    }
}

/// A view of a set of places.
#[derive(Clone, Copy, Debug)]
pub struct Presence<'a> {
    view: View<'a>,
    count: usize,
}

#[derive(Clone, Copy, Debug)]
enum View<'a> {
    All,
    List(&'a [[u8; 2]]),
    Bits { ranks: &'a [[u8; 2]], words: &'a [[u8; 8]] },
}

impl<'a> Presence<'a> {
    /// Takes a set of `count` places of `span` off the front of `bytes`.
    #[inline]
    pub fn parse(bytes: &'a [u8], count: usize, span: u32) -> Option<(Self, &'a [u8])> {
        let (view, rest) = match form(count, span) {
            Form::All => (View::All, bytes),
            Form::List => {
                let (list, rest) = bytes.split_at_checked(count * 2)?;
                (View::List(list.as_chunks().0), rest)
            }
            Form::Bits => {
                let (ranks, rest) = bytes.split_at_checked(RANK_BYTES)?;
                let (words, rest) = rest.split_at_checked(WINDOW_WORDS * 8)?;
                (View::Bits { ranks: ranks.as_chunks().0, words: words.as_chunks().0 }, rest)
            }
        };
        Some((Self { view, count }, rest))
    }

    /// How many places are in the set.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the set holds the whole window.
    #[inline]
    pub fn is_all(&self) -> bool {
        matches!(self.view, View::All)
    }

    /// How many places of the set are below `place`; `None` where it is not in the set.
    #[inline]
    pub fn rank(&self, place: u32) -> Option<usize> {
        let rank = match self.view {
            View::All => place as usize,
            View::List(list) => {
                list.binary_search_by_key(&place, |bytes| u16::from_le_bytes(*bytes).into()).ok()?
            }
            View::Bits { ranks, words } => {
                let number = place as usize / 64;
                let word = u64::from_le_bytes(*words.get(number)?);
                if word >> (place % 64) & 1 == 0 {
                    return None;
                }
                let group = number / RANK_WORDS;
                let whole = words[group * RANK_WORDS..number].iter();
                let whole: u32 = whole.map(|word| u64::from_le_bytes(*word).count_ones()).sum();
                let partial = word & ((1 << (place % 64)) - 1);
                usize::from(u16::from_le_bytes(ranks[group]))
                    + (whole + partial.count_ones()) as usize
            }
        };
        // Damaged counts must not lead beyond the values.
        (rank < self.count).then_some(rank)
    }

    /// Gives the places of the set in order, with their ranks: at most as many as it counts.
    #[inline]
    pub fn for_each(&self, mut each: impl FnMut(usize, u32)) {
        match self.view {
            View::All => (0..self.count).for_each(|rank| each(rank, rank as u32)),
            View::List(list) => {
                for (rank, place) in list.iter().enumerate() {
                    each(rank, u32::from(u16::from_le_bytes(*place)) % WINDOW);
                }
            }
            View::Bits { words, .. } => {
                let mut rank = 0;
                for (number, word) in words.iter().enumerate() {
                    let mut left = u64::from_le_bytes(*word);
                    while left != 0 {
                        if rank == self.count {
                            return;
                        }
                        each(rank, number as u32 * 64 + left.trailing_zeros());
                        left &= left - 1;
                        rank += 1;
                    }
                }
            }
        }
    }

    /// Sets the bit of each place of the set; other bits stay.
    #[inline]
    pub fn fill(&self, bits: &mut WindowWords) {
        match self.view {
            View::All => {
                let whole = self.count / 64;
                bits[..whole].fill(u64::MAX);
                if !self.count.is_multiple_of(64) {
                    bits[whole] |= (1 << (self.count % 64)) - 1;
                }
            }
            View::List(_) => self.for_each(|_, place| {
                bits[place as usize / 64] |= 1 << (place % 64);
            }),
            View::Bits { words, .. } => {
                for (to, word) in bits.iter_mut().zip(words) {
                    *to |= u64::from_le_bytes(*word);
                }
            }
        }
    }

    /// Checks what reading takes on trust. For `verify`.
    pub fn verify(&self, span: u32) -> Result<(), &'static str> {
        let mut places = Vec::new();
        match self.view {
            View::All => {}
            View::List(list) => places.extend(list.iter().map(|place| u16::from_le_bytes(*place))),
            View::Bits { words, ranks } => {
                let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
                for (group, before) in ranks.iter().enumerate() {
                    let counted = crate::bytes::bitmap::count(&words[..group * RANK_WORDS]);
                    if u32::from(u16::from_le_bytes(*before)) != counted {
                        return Err("the counts between bits are right");
                    }
                }
                places.extend(crate::bytes::bitmap::ones(&words).map(|place| place as u16));
                if places.len() != self.count {
                    return Err("as many bits are set as the zone counts");
                }
            }
        }
        if places.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err("places rise");
        }
        if places.last().is_some_and(|&last| u32::from(last) >= span) {
            return Err("places are inside of the window");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All that a set promises.
    fn check(places: &[u16], span: u32) {
        let mut bytes = Vec::new();
        write(places, span, &mut bytes);
        bytes.push(99);
        let (set, rest) = Presence::parse(&bytes, places.len(), span).unwrap();
        assert_eq!(rest, [99]);
        assert_eq!(set.verify(span), Ok(()));
        let mut found = Vec::new();
        set.for_each(|rank, place| {
            assert_eq!(rank, found.len());
            found.push(place as u16);
        });
        assert_eq!(found, places);
        let mut bits = [0; WINDOW_WORDS];
        set.fill(&mut bits);
        for place in 0..WINDOW {
            let expected = places.binary_search(&(place as u16)).ok();
            assert_eq!(set.rank(place), expected, "place {place}");
            assert_eq!(crate::bytes::bitmap::has(&bits, place), expected.is_some());
        }
    }

    #[test]
    fn every_form_keeps_its_places() {
        check(&[], 1);
        check(&[0], 1);
        check(&[4095], 4096);
        check(&(0..4096).collect::<Vec<_>>(), 4096);
        check(&(0..100).collect::<Vec<_>>(), 100);
        check(&(0..4095).collect::<Vec<_>>(), 4096);
        // Around the border between list and bits.
        for count in 262..=266 {
            check(&(0..count).map(|n| n * 15 + 3).collect::<Vec<_>>(), 4096);
        }
    }

    proptest! {
        #[test]
        fn written_places_are_read(places in prop::collection::btree_set(0u16..2000, 0..1500)) {
            check(&places.into_iter().collect::<Vec<_>>(), 2000);
        }

        #[test]
        fn foreign_bytes_give_places_and_ranks_inside(
            bytes: Vec<u8>, filler: u8, count in 0usize..4097, span in 1u32..4097,
        ) {
            let mut bytes = bytes;
            bytes.resize(600, filler);
            let count = count.min(span as usize);
            if let Some((set, _)) = Presence::parse(&bytes, count, span) {
                set.for_each(|rank, place| assert!(rank < count && place < WINDOW));
                for place in 0..WINDOW {
                    assert!(set.rank(place).is_none_or(|rank| rank < count));
                }
                let _ = set.verify(span);
            }
        }
    }
}
