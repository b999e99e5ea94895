//! Blocks of postings: 128 documents with their frequencies, and the rest of fewer.
//!
//! Always true
//! 1. Documents rise strictly, within a block and from block to block.
//! 2. A full block can be read knowing the last document before it; a rest likewise.
//! 3. Reading tests that documents rise and that the last is the one the skips name. So what
//!    comes out may index memory that has a place for each document.
//!
//! Layout of a full block (little-endian)
//!
//! | bytes   | what                                                                       |
//! |---------|----------------------------------------------------------------------------|
//! | 1       | form of the documents: 0..=32 width; 64 + w: `w` words of bits             |
//! | 1       | width of the frequencies, 0..=31 (only where the field keeps them)         |
//! | 16 each bit of width, or 8 w | documents: distances less one, packed; or a bit for each document from the one after the last before, whichever is smaller |
//! | 16 each bit of width | frequencies less one, packed                                  |
//!
//! Layout of a rest (1..=127 postings): for each a vint of the distance less one; where frequencies
//! are kept it is doubled, plus one if the frequency is 1, else the frequency less two follows as
//! a vint.
//!
//! Example: documents 3 and 9 with frequencies 1 and 4, first of their term: `07 | 0a 02`.
//!
//! Not here: where blocks lie (`skip`), whose they are (`terms`).

use base::vint;

use crate::bytes::bitpack::{self, packed_len};

/// Number of documents in a full block.
pub const BLOCK: usize = bitpack::BLOCK;

/// The highest frequency: Lucene's lengths are of type int, and full blocks have 31 bits for it.
pub(crate) const FREQ_MAX: u32 = i32::MAX as u32;

/// Forms from here on are words of bits.
const BITS: u8 = 64;

/// Why a block cannot be read.
pub(crate) type Damage = &'static str;

/// Appends a full block. `before` is the last document before it.
pub(crate) fn write_full(
    before: Option<u32>,
    docs: &[u32; BLOCK],
    freqs: Option<&[u32; BLOCK]>,
    out: &mut Vec<u8>,
) {
    let header = out.len();
    out.push(0);
    if freqs.is_some() {
        out.push(0);
    }
    let body = out.len();
    let width = bitpack::pack_ascending(before, docs, out);
    let first = before.map_or(0, |before| before + 1);
    let words = ((docs[BLOCK - 1] - first) / 64 + 1) as usize;
    if words * 8 < packed_len(width) {
        out.truncate(body);
        out.resize(body + words * 8, 0);
        for doc in docs {
            let bit = (doc - first) as usize;
            out[body + bit / 8] |= 1 << (bit % 8);
        }
        out[header] = BITS + words as u8;
    } else {
        out[header] = width;
    }
    if let Some(freqs) = freqs {
        out[header + 1] = bitpack::pack(&freqs.map(|freq| freq - 1), out);
    }
}

/// Appends a rest.
pub(crate) fn write_rest(
    before: Option<u32>,
    docs: &[u32],
    freqs: Option<&[u32]>,
    out: &mut Vec<u8>,
) {
    let mut next = before.map_or(0, |before| before + 1);
    for (at, doc) in docs.iter().enumerate() {
        let distance = u64::from(doc - next);
        match freqs.map(|freqs| freqs[at]) {
            None => vint::write(out, distance),
            Some(1) => vint::write(out, distance << 1 | 1),
            Some(freq) => {
                vint::write(out, distance << 1);
                vint::write(out, u64::from(freq - 2));
            }
        }
        next = doc + 1;
    }
}

/// A full block, taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full<'a> {
    form: u8,
    freq_width: u8,
    docs: &'a [u8],
    freqs: &'a [u8],
}

impl<'a> Full<'a> {
    /// Finds the parts of the block that is `bytes`.
    #[inline]
    pub(crate) fn parse(bytes: &'a [u8], has_freqs: bool) -> Result<Self, Damage> {
        const SHORT: Damage = "block of postings cut short";
        let (&form, mut rest) = bytes.split_first().ok_or(SHORT)?;
        let mut freq_width = 0;
        if has_freqs {
            (freq_width, rest) =
                rest.split_first().map(|(width, rest)| (*width, rest)).ok_or(SHORT)?;
        }
        let len = match form {
            0..=bitpack::WIDTH_MAX => packed_len(form),
            BITS..128 => usize::from(form - BITS) * 8,
            _ => return Err("form of a block of postings unknown"),
        };
        if freq_width >= bitpack::WIDTH_MAX {
            return Err("width of frequencies above 31");
        }
        let (docs, freqs) = rest.split_at_checked(len).ok_or(SHORT)?;
        if freqs.len() != packed_len(freq_width) {
            return Err("block of postings has another length");
        }
        Ok(Self { form, freq_width, docs, freqs })
    }

    /// The documents. `last` is the last of them.
    #[inline]
    pub(crate) fn docs(
        &self,
        before: Option<u32>,
        last: u32,
        docs: &mut [u32; BLOCK],
    ) -> Result<(), Damage> {
        const ORDER: Damage = "documents of a block do not rise to the last";
        if before == Some(u32::MAX) {
            return Err(ORDER);
        }
        if self.form >= BITS {
            // A block of bits spans less than 2¹² documents: if it wrapped around, its first
            // document would be above its last.
            let count = bits_to_docs(self.docs, first_after(before), docs);
            if count != BLOCK || docs[BLOCK - 1] != last || docs[0] > last {
                return Err(ORDER);
            }
            return Ok(());
        }
        bitpack::unpack_ascending(before, self.docs, self.form, docs).ok_or(ORDER)?;
        if !bitpack::ascends(before, self.form, last, docs) {
            return Err(ORDER);
        }
        Ok(())
    }

    /// The frequencies.
    #[inline]
    pub(crate) fn freqs(&self, freqs: &mut [u32; BLOCK]) -> Result<(), Damage> {
        bitpack::unpack(self.freqs, self.freq_width, freqs).ok_or("frequencies cut short")?;
        for freq in freqs {
            // Below 2³², because the width is below 32: a plain sum, four lanes at a time.
            *freq += 1;
        }
        Ok(())
    }

    /// The documents as bits from the first that may be there, where they are kept so.
    #[inline]
    pub(crate) fn bits(&self) -> Option<&'a [[u8; 8]]> {
        (self.form >= BITS).then_some(self.docs.as_chunks().0)
    }

    /// Whether the documents are neighbours: all from the one after the last before.
    #[inline]
    pub(crate) fn is_run(&self) -> bool {
        self.form == 0
    }
}

/// The first document that may follow `before`.
#[inline]
pub(crate) fn first_after(before: Option<u32>) -> u32 {
    before.map_or(0, |before| before.wrapping_add(1))
}

/// For each byte, which of its bits are set, lowest first.
static BIT_PLACES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][count] = bit as u8;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// The documents whose bits are set, counted from `first`. Answers how many bits there are; above
/// 128 of them `docs` holds nothing of use.
fn bits_to_docs(bits: &[u8], first: u32, docs: &mut [u32; BLOCK]) -> usize {
    // Eight places are written for each byte, set or not, so that the loop has no branches; the
    // places after the last bit are overwritten by the next byte, and the last ones need room.
    let mut wide = [0u32; BLOCK + 8];
    let mut count = 0;
    let mut base = first;
    for byte in bits {
        let places = &BIT_PLACES[usize::from(*byte)];
        let Some(out) = wide.get_mut(count..count + 8) else { return usize::MAX };
        for (out, place) in out.iter_mut().zip(places) {
            *out = base.wrapping_add(u32::from(*place));
        }
        count += byte.count_ones() as usize;
        base = base.wrapping_add(8);
    }
    docs.copy_from_slice(&wide[..BLOCK]);
    count
}

/// Reads a rest of `count` postings; the places after them become `u32::MAX`.
pub(crate) fn read_rest(
    mut bytes: &[u8],
    has_freqs: bool,
    before: Option<u32>,
    count: usize,
    docs: &mut [u32; BLOCK],
    freqs: &mut [u32; BLOCK],
) -> Result<(), Damage> {
    const SHORT: Damage = "rest of postings cut short";
    const HIGH: Damage = "document above all";
    assert!(count < BLOCK, "a rest is smaller than a block");
    let mut next = before.map_or(0, |before| u64::from(before) + 1);
    for at in 0..count {
        let mut distance = vint::read(&mut bytes).ok_or(SHORT)?;
        freqs[at] = 1;
        if has_freqs {
            if distance & 1 == 0 {
                let more = vint::read_u32(&mut bytes).ok_or(SHORT)?;
                let freq = more.checked_add(2).filter(|freq| *freq <= FREQ_MAX);
                freqs[at] = freq.ok_or("frequency above all")?;
            }
            distance >>= 1;
        }
        let doc =
            next.checked_add(distance).filter(|doc| *doc < u64::from(u32::MAX)).ok_or(HIGH)?;
        docs[at] = doc as u32;
        next = doc + 1;
    }
    if !bytes.is_empty() {
        return Err("rest of postings has another length");
    }
    docs[count..].fill(u32::MAX);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ascending(start: u32, seed: u32, spread: u32) -> [u32; BLOCK] {
        let mut state = seed;
        let mut doc = start;
        std::array::from_fn(|at| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            doc += u32::from(at > 0) + (state >> 8) % spread;
            doc
        })
    }

    #[test]
    fn rest_lies_as_the_head_says() {
        let mut bytes = Vec::new();
        write_rest(None, &[3, 9], Some(&[1, 4]), &mut bytes);
        assert_eq!(bytes, [0x07, 0x0a, 0x02]);
    }

    #[test]
    fn form_is_the_smaller_one() {
        let form = |docs: &[u32; BLOCK]| {
            let mut bytes = Vec::new();
            write_full(Some(99), docs, None, &mut bytes);
            bytes[0]
        };
        let mut docs = ascending(100, 1, 1);
        assert_eq!(form(&docs), 0, "neighbours need no bytes at all");
        docs[BLOCK - 1] += 9;
        assert_eq!(form(&docs), BITS + 3, "one gap would widen all distances");
        assert_eq!(form(&ascending(100, 1, 1000)), 10, "rare documents are cheaper as distances");
    }

    proptest! {
        #[test]
        fn full_block_is_read_again(
            before in prop::option::of(0u32..1000),
            seed: u32,
            spread in 1u32..300,
            freq_limit in 1u32..500,
        ) {
            let docs = ascending(before.map_or(0, |before| before + 1), seed, spread);
            let freqs = docs.map(|doc| doc.wrapping_mul(seed) % freq_limit + 1);
            let mut bytes = Vec::new();
            write_full(before, &docs, Some(&freqs), &mut bytes);
            let full = Full::parse(&bytes, true).expect("just written");
            let (mut found, mut found_freqs) = ([0; BLOCK], [0; BLOCK]);
            full.docs(before, docs[BLOCK - 1], &mut found).expect("just written");
            full.freqs(&mut found_freqs).expect("just written");
            prop_assert_eq!(found, docs);
            prop_assert_eq!(found_freqs, freqs);
            prop_assert!(full.docs(before, docs[BLOCK - 1] + 1, &mut found).is_err());
        }

        #[test]
        fn rest_is_read_again(
            before in prop::option::of(0u32..1000),
            seed: u32,
            count in 1usize..128,
            has_freqs: bool,
        ) {
            let docs = ascending(before.map_or(0, |before| before + 1), seed, 5000);
            let freqs = docs.map(|doc| if has_freqs { doc % 3 + 1 } else { 1 });
            let mut bytes = Vec::new();
            write_rest(before, &docs[..count], has_freqs.then_some(&freqs[..count]), &mut bytes);
            let (mut found, mut found_freqs) = ([0; BLOCK], [0; BLOCK]);
            read_rest(&bytes, has_freqs, before, count, &mut found, &mut found_freqs).expect("just written");
            prop_assert_eq!(&found[..count], &docs[..count]);
            prop_assert_eq!(&found_freqs[..count], &freqs[..count]);
            prop_assert!(found[count..].iter().all(|doc| *doc == u32::MAX));
            for len in 0..bytes.len() {
                let cut = read_rest(&bytes[..len], has_freqs, before, count, &mut found, &mut found_freqs);
                prop_assert!(cut.is_err());
            }
        }

        #[test]
        fn foreign_blocks_rise_or_are_refused(
            mut bytes in prop::collection::vec(any::<u8>(), 0..1100),
            form in prop::option::of(0u8..70),
            before: Option<u32>,
            last: u32,
        ) {
            if let (Some(form), Some(first)) = (form, bytes.first_mut()) {
                *first = form;
            }
            let mut docs = [0; BLOCK];
            if let Ok(full) = Full::parse(&bytes, false)
                && full.docs(before, last, &mut docs).is_ok()
            {
                prop_assert!(docs.is_sorted_by(|a, b| a < b));
                prop_assert_eq!(docs[BLOCK - 1], last);
            }
            let mut freqs = [0; BLOCK];
            if read_rest(&bytes, true, before, 7, &mut docs, &mut freqs).is_ok() {
                prop_assert!(docs[..7].is_sorted_by(|a, b| a < b));
            }
        }

        #[test]
        fn foreign_bits_rise_or_are_refused(words in prop::collection::vec(any::<u64>(), 1..8), before: Option<u32>) {
            let mut bytes = vec![BITS + words.len() as u8];
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            let mut docs = [0; BLOCK];
            let full = Full::parse(&bytes, false).expect("lengths agree");
            let count: u32 = words.iter().map(|word| word.count_ones()).sum();
            let first = u64::from(first_after(before));
            let bits = words.iter().enumerate().flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| first + at as u64 * 64 + bit));
            if let Some(last) = bits.last() {
                let answer = full.docs(before, last as u32, &mut docs);
                let fits = before != Some(u32::MAX) && u32::try_from(last).is_ok();
                prop_assert_eq!(answer.is_ok(), count == 128 && fits);
            }
        }
    }
}
