//! One window of a column: which documents have values, how many each, and the values.
//!
//! Always true
//! 1. A window is read by itself, with nothing but its zone.
//! 2. The values of a document stand side by side and rise.
//!
//! Layout
//!
//! | bytes        | what                                                                     |
//! |--------------|--------------------------------------------------------------------------|
//! | `presence`   | the documents that have a value                                          |
//! | 1, packed    | only where there are more values than documents: a width, and for each such document the number of values up to its last |
//! | `numeric`    | the values                                                               |

use super::numeric::{self, Values};
use super::presence::{self, Presence};
use super::zone::Zone;
use super::{WINDOW, WindowWords};
use crate::bytes::packed::{self, Packed};

/// The values of a window being gathered, documents rising, each document's values rising.
#[derive(Clone, Debug, Default)]
pub struct BlockWriter {
    places: Vec<u16>,
    /// For each place, the number of values up to its last.
    ends: Vec<u64>,
    values: Vec<i64>,
}

impl BlockWriter {
    /// Adds a value.
    #[inline]
    pub fn push(&mut self, place: u32, value: i64) {
        assert!(place < WINDOW, "a place of the window");
        let place = place as u16;
        match self.places.last() {
            Some(&last) if last == place => {
                self.ends.pop();
                assert!(self.values.last() <= Some(&value), "a document's values rise");
            }
            last => {
                assert!(last.is_none_or(|&last| last < place), "documents rise");
                self.places.push(place);
            }
        }
        self.values.push(value);
        self.ends.push(self.values.len() as u64);
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Appends the window, of `span` documents, forgets it, and gives its zone.
    pub fn finish(&mut self, span: u32, out: &mut Vec<u8>) -> Zone {
        let Some((min, max)) = numeric::bounds(&self.values) else {
            return Zone::default();
        };
        let zone = Zone {
            min,
            max,
            doc_count: self.places.len() as u32,
            value_count: u32::try_from(self.values.len()).expect("a window holds below 2³² values"),
        };
        presence::write(&self.places, span, out);
        if zone.value_count > zone.doc_count {
            let bits = packed::width(u64::from(zone.value_count));
            out.push(bits);
            packed::write(&self.ends, bits, out);
        }
        numeric::write(&self.values, out);
        self.places.clear();
        self.ends.clear();
        self.values.clear();
        zone
    }
}

/// A view of a window that has values.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    presence: Presence<'a>,
    /// Where the values of each document end; absent where each has one.
    ends: Option<Packed<'a>>,
    values: Values<'a>,
    value_count: usize,
}

impl<'a> Block<'a> {
    /// Looks at a window of `span` documents that has the counts of `zone`.
    #[inline]
    pub fn parse(bytes: &'a [u8], zone: &Zone, span: u32) -> Result<Self, &'static str> {
        let (doc_count, value_count) = (zone.doc_count as usize, zone.value_count as usize);
        let (presence, mut rest) = Presence::parse(bytes, doc_count, span)
            .ok_or("the documents of a window are cut short")?;
        let mut ends = None;
        if value_count > doc_count {
            let (&bits, packed) = rest.split_first().ok_or("a window is cut short")?;
            let packed = Packed::new(packed, doc_count, bits).filter(|_| bits <= u32::BITS as u8);
            let (packed, after) =
                packed.ok_or("the counts of a window's documents are cut short")?;
            ends = Some(packed);
            rest = after;
        }
        let values = Values::parse(rest, value_count, zone.min)?;
        Ok(Self { presence, ends, values, value_count })
    }

    /// The documents that have a value.
    #[inline]
    pub fn presence(&self) -> &Presence<'a> {
        &self.presence
    }

    /// Which values belong to the document at `place`: none where it has none.
    #[inline]
    fn range(&self, place: u32) -> std::ops::Range<usize> {
        let Some(rank) = self.presence.rank(place) else { return 0..0 };
        let Some(ends) = &self.ends else { return rank..rank + 1 };
        let start = if rank == 0 { 0 } else { ends.get(rank - 1) as usize };
        let end = (ends.get(rank) as usize).min(self.value_count);
        start.min(end)..end
    }

    /// The least value of the document at `place`.
    #[inline]
    pub fn first(&self, place: u32) -> Option<i64> {
        let range = self.range(place);
        (!range.is_empty()).then(|| self.values.get(range.start))
    }

    /// The greatest value of the document at `place`.
    #[inline]
    pub fn last(&self, place: u32) -> Option<i64> {
        let range = self.range(place);
        (!range.is_empty()).then(|| self.values.get(range.end - 1))
    }

    /// The values of the document at `place`, rising.
    #[inline]
    pub fn values(&self, place: u32) -> impl Iterator<Item = i64> + 'a {
        let values = self.values;
        self.range(place).map(move |index| values.get(index))
    }

    /// Gives the least value of each document, with its place, to `each`.
    #[inline]
    pub fn for_each_first(&self, mut each: impl FnMut(u32, i64)) {
        match &self.ends {
            None => self.for_each(each),
            Some(_) => {
                let mut before = None;
                self.for_each(|place, value| {
                    if before != Some(place) {
                        each(place, value);
                    }
                    before = Some(place);
                });
            }
        }
    }

    /// Gives the greatest value of each document, with its place, to `each`.
    #[inline]
    pub fn for_each_last(&self, mut each: impl FnMut(u32, i64)) {
        let Some(_) = &self.ends else { return self.for_each(each) };
        let mut before: Option<(u32, i64)> = None;
        self.for_each(|place, value| {
            if let Some((last, value)) = before
                && last != place
            {
                each(last, value);
            }
            before = Some((place, value));
        });
        if let Some((last, value)) = before {
            each(last, value);
        }
    }

    /// Gives every value, with its document's place, to `each`, in order.
    #[inline]
    pub fn for_each(&self, mut each: impl FnMut(u32, i64)) {
        if self.ends.is_none() && self.presence.is_all() {
            self.values.for_each_batch(|start, batch| {
                for (within, &value) in batch.iter().enumerate() {
                    each((start + within) as u32, value);
                }
            });
            return;
        }
        // The places, one for each document, and behind them the count of values up to its last.
        let mut places = [0u16; WINDOW as usize];
        self.presence.for_each(|rank, place| places[rank] = place as u16);
        let doc_count = self.presence.len();
        let Some(ends) = &self.ends else {
            self.values.for_each_batch(|start, batch| {
                for (&value, &place) in batch.iter().zip(&places[start..doc_count]) {
                    each(u32::from(place), value);
                }
            });
            return;
        };
        let mut all_ends = [0u32; WINDOW as usize];
        ends.read_u32(&mut all_ends);
        // The last document takes what is left, whatever its end says.
        let last = doc_count - 1;
        let mut rank = 0;
        self.values.for_each_batch(|start, batch| {
            for (within, &value) in batch.iter().enumerate() {
                while start + within >= all_ends[rank] as usize && rank < last {
                    rank += 1;
                }
                each(u32::from(places[rank]), value);
            }
        });
    }

    /// The values as they lie, for those who know each document has one.
    #[inline]
    pub fn numbers(&self) -> Option<&Values<'a>> {
        (self.ends.is_none() && self.presence.is_all()).then_some(&self.values)
    }

    /// Checks what reading takes on trust. For `verify`.
    pub fn verify(&self, zone: &Zone, span: u32) -> Result<(), &'static str> {
        self.presence.verify(span)?;
        if let Some(ends) = &self.ends {
            let ends: Vec<u64> = (0..ends.len()).map(|rank| ends.get(rank)).collect();
            if ends[0] == 0 || ends.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err("each document of the set has a value");
            }
            if ends.last() != Some(&u64::from(zone.value_count)) {
                return Err("the values of a window belong to its documents");
            }
        }
        let (mut min, mut max) = (i64::MAX, i64::MIN);
        let mut before: Option<(u32, i64)> = None;
        let mut sorted = true;
        self.for_each(|place, value| {
            sorted &= before.is_none_or(|before| before.0 != place || before.1 <= value);
            (min, max) = (min.min(value), max.max(value));
            before = Some((place, value));
        });
        if (min, max) != (zone.min, zone.max) {
            return Err("a zone has the bounds of its values");
        }
        if sorted { Ok(()) } else { Err("the values of a document rise") }
    }
}

/// Sets the bit of each document of `block` one of whose values is in `range`; other bits stay.
#[inline]
pub fn matching(block: &Block<'_>, range: &std::ops::RangeInclusive<i64>, bits: &mut WindowWords) {
    let (low, high) = (*range.start(), *range.end());
    if low > high {
        return;
    }
    // Without a branch: which values match is hard to foresee. One comparison, from the lower end.
    let span = high.wrapping_sub(low) as u64;
    let hit = |value: i64| u64::from(value.wrapping_sub(low) as u64 <= span);
    match block.numbers() {
        Some(numbers) if numbers.narrow().is_some() => {
            if let Some((min, packed)) = numbers.narrow() {
                matching_narrow(min, packed, (low, high), bits);
            }
        }
        Some(numbers) => numbers.for_each_batch(|start, batch| {
            // Batches start at whole words; one word is gathered without touching memory.
            for (word, values) in bits[start / 64..].iter_mut().zip(batch.chunks(64)) {
                // Eight at a time: no byte waits for the one before.
                let mut hits = 0;
                for (at, values) in values.chunks(8).enumerate() {
                    let byte = (values.iter().enumerate())
                        .fold(0, |byte, (bit, &value)| byte | hit(value) << bit);
                    hits |= byte << (8 * at);
                }
                *word |= hits;
            }
        }),
        None => block.for_each(|place, value| {
            bits[place as usize / 64] |= hit(value) << (place % 64);
        }),
    }
}

/// As [`matching`], for distances from `min` of at most 32 bits, one for each document: they are
/// compared as they lie.
fn matching_narrow(min: i64, packed: &Packed<'_>, (low, high): (i64, i64), bits: &mut WindowWords) {
    if high < min {
        return;
    }
    let low = if low > min { low.wrapping_sub(min) as u64 } else { 0 };
    let Ok(low) = u32::try_from(low) else { return };
    let high = (high.wrapping_sub(min) as u64).min(u64::from(u32::MAX)) as u32;
    let span = high - low;
    packed.for_each_narrow(|start, batch| {
        // Batches start at whole words.
        let words = &mut bits[start / 64..];
        let (whole, rest) = batch.as_chunks();
        for (word, values) in words.iter_mut().zip(whole) {
            *word |= hits_of(values, low, span);
        }
        if let Some(word) = words.get_mut(whole.len())
            && !rest.is_empty()
        {
            let mut values = [0; 64];
            values[..rest.len()].copy_from_slice(rest);
            *word |= hits_of(&values, low, span) & ((1 << rest.len()) - 1);
        }
    });
}

/// A bit for each of the values that is at most `span` above `low`. That they are 64 is known, so they are
/// compared a vector at a time and nothing is left over.
#[inline]
fn hits_of(values: &[u32; 64], low: u32, span: u32) -> u64 {
    let mut flags = [0u8; 64];
    for (flag, value) in flags.iter_mut().zip(values) {
        *flag = u8::from(value.wrapping_sub(low) <= span);
    }
    let mut hits = 0;
    for (at, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        // Brings the lowest bits of eight bytes together in the highest byte.
        let byte = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        hits |= byte << (8 * at);
    }
    hits
}
