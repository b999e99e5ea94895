//! Postings, read in every way, beside a plain list.

use std::ops::Range;

use base::{DocId, SegmentId};
use env::Bytes;
use proptest::prelude::*;

use super::*;
use crate::bytes::bitpack;
use crate::reader::Segment;
use crate::section::{Check, Missing};
use crate::terms::model::{Dice, FIELD, Model};
use crate::terms::{BlockCache, TermInfo, TermOptions, Terms};
use crate::writer::TermBlocks;

/// Rarities that make every form of block: all documents, most, many, few, one.
const RARITIES: [u32; 9] = [1, 2, 3, 5, 17, 60, 400, 2000, 4000];

fn field(segment: &Segment) -> Terms {
    segment.terms(FIELD).expect("written")
}

fn info(terms: &Terms, term: &[u8]) -> TermInfo {
    terms.find(term, &mut BlockCache::new(1 << 16)).expect("sound").expect("written")
}

#[test]
fn every_way_of_reading_gives_the_same() {
    let model = Model::made(1, 9000, &RARITIES);
    let segment = model.segment(1, TermOptions::TEXT, TermBlocks::Plain);
    let terms = field(&segment);
    let (mut probes, mut unknown) = (0, 0);
    for (term, docs) in &model.terms {
        let info = info(&terms, term);
        let mut postings = terms.postings(&info, Need::Positions);
        assert_eq!(postings.doc_freq() as usize, docs.len());
        let mut found = Vec::new();
        for (doc, positions) in docs {
            assert_eq!(postings.next(), DocId(*doc));
            assert_eq!(postings.doc(), DocId(*doc));
            assert_eq!(postings.freq() as usize, positions.len());
            postings.positions(&mut found);
            assert_eq!(&found, positions);
        }
        assert_eq!(postings.next(), END);
        assert_eq!(postings.next(), END);
        assert_eq!(postings.seek(DocId(0)), END);

        let fresh = terms.postings(&info, Need::Freqs);
        let mut all = Vec::new();
        for block in 0..fresh.block_count() {
            let (mut docs, mut again, mut freqs) = ([0; BLOCK], [0; BLOCK], [0; BLOCK]);
            let count = fresh.docs_and_freqs(block, &mut docs, &mut freqs);
            assert_eq!(fresh.docs(block, &mut again), count);
            let mut alone = [0; BLOCK];
            fresh.freqs(block, &mut alone);
            assert_eq!(alone[..count], freqs[..count]);
            for doc in docs[0].saturating_sub(3)..(docs[count - 1] + 3).min(docs[0] + 500) {
                let place = docs[..count].iter().position(|other| *other == doc);
                match fresh.probe(block, DocId(doc)) {
                    Probe::Absent => assert_eq!(place, None),
                    Probe::At(found) => assert_eq!(place, Some(found)),
                    Probe::Unknown => unknown += 1,
                }
                probes += 1;
            }
            assert_eq!(docs[..count], again[..count]);
            let mut words = [0; WORDS];
            let looked = match fresh.look(block, &mut words, &mut again) {
                Entered::Docs(len) => again[..len].to_vec(),
                Entered::Words(first, len) => (0..64 * len)
                    .filter(|at| words[at / 64] >> (at % 64) & 1 == 1)
                    .map(|at| first + at as u32)
                    .collect(),
            };
            assert_eq!(docs[..count], looked);
            assert!(docs[count - 1] <= fresh.block_last(block).get());
            all.extend(docs[..count].iter().copied().zip(freqs));
        }
        let plain: Vec<_> = docs.iter().map(|(doc, at)| (*doc, at.len() as u32)).collect();
        assert_eq!(all, plain);
    }
    assert!(unknown < probes, "some blocks can be probed");
    assert_eq!(segment.fault(), None);
}

#[test]
fn frequencies_are_one_where_they_are_not_kept() {
    let model = Model::made(2, 2000, &[1, 3, 900]);
    let segment = model.segment(1, TermOptions::DOCS, TermBlocks::Plain);
    let terms = field(&segment);
    for (term, docs) in &model.terms {
        let info = info(&terms, term);
        assert_eq!(info.total_freq, docs.len() as u64);
        let mut postings = terms.postings(&info, Need::Freqs);
        let mut positions = vec![1];
        for (doc, _) in docs {
            assert_eq!(postings.next(), DocId(*doc));
            assert_eq!(postings.freq(), 1);
        }
        let mut postings = terms.postings(&info, Need::Positions);
        postings.next();
        postings.positions(&mut positions);
        assert!(positions.is_empty());
        let bound = postings.block_max(DocId(0)).impacts;
        assert_eq!(bound.iter().collect::<Vec<_>>(), [(1, 1)]);
    }
}

#[test]
fn blocks_take_each_form() {
    let model = Model::made(3, 9000, &RARITIES);
    let mut forms = std::collections::BTreeSet::new();
    let mut bytes = Vec::new();
    for docs in model.terms.values() {
        let docs: Vec<u32> = docs.iter().map(|(doc, _)| *doc).collect();
        let mut before = None;
        for chunk in docs.as_chunks::<BLOCK>().0 {
            bytes.clear();
            block::write_full(before, chunk, None, &mut bytes);
            forms.insert(bytes[0].min(64));
            before = chunk.last().copied();
        }
    }
    assert!(forms.contains(&0), "neighbours");
    assert!(forms.contains(&64), "bits");
    assert!(forms.iter().any(|form| (1..=bitpack::WIDTH_MAX).contains(form)), "distances");
}

#[test]
fn reading_only_what_was_named_suffices() {
    let model = Model::made(4, 9000, &RARITIES);
    for (term, docs) in &model.terms {
        for window in [256u32, 4096] {
            let segment = model.missing_once(TermOptions::TEXT, TermBlocks::Plain);
            let terms = field(&segment);
            let mut missing = Missing::new();
            terms.need(term, &mut missing).expect("sound");
            missing.fetch();
            let info = info(&terms, term);
            let mut postings = terms.postings(&info, Need::Positions);
            let mut start = 0;
            let mut found = Vec::new();
            while start < model.doc_count {
                let range = start..(start + window).min(model.doc_count);
                postings.need(range.clone(), &mut missing).expect("sound");
                missing.fetch();
                let expected = docs.iter().filter(|(doc, _)| range.contains(doc));
                let mut bits = vec![0; window as usize / 64];
                postings.fill_bits(range.clone(), &mut bits);
                for (doc, positions) in expected {
                    let at = (doc - start) as usize;
                    assert_eq!(bits[at / 64] >> (at % 64) & 1, 1);
                    assert_eq!(postings.seek(DocId(*doc)), DocId(*doc));
                    postings.positions(&mut found);
                    assert_eq!(&found, positions);
                }
                start += window;
            }
        }
    }
}

#[test]
fn bounds_hold_for_each_document_up_to_their_end() {
    let model = Model::made(5, 9000, &RARITIES);
    let segment = model.segment(1, TermOptions::TEXT, TermBlocks::Plain);
    let terms = field(&segment);
    let norms = model.norms();
    for (term, docs) in &model.terms {
        let postings = terms.postings(&info(&terms, term), Need::Freqs);
        for target in (0..9000).step_by(97) {
            let rest = docs.iter().filter(|(doc, _)| *doc >= target);
            for bound in [postings.block_max(DocId(target)), postings.group_max(DocId(target))] {
                let first = rest.clone().next();
                assert!(first.is_none_or(|(doc, _)| *doc <= bound.last.get()));
                for (doc, positions) in rest.clone() {
                    let (freq, norm) = (positions.len() as u32, norms[*doc as usize]);
                    let holds =
                        bound.impacts.iter().any(|(best, short)| best >= freq && short <= norm);
                    assert!(holds || *doc > bound.last.get(), "{doc} of {:?}", bound.last);
                }
            }
        }
        let past = postings.block_max(END);
        assert_eq!(past.last, END);
    }
}

#[test]
fn damage_ends_a_cursor_and_is_remembered() {
    // A flipped bit in a page that holds postings alone: whoever reads it sees fewer documents, and
    // can know that they are fewer.
    let model = Model::made(6, 120_000, &[9]);
    let file = model.file(1, TermOptions::TEXT, TermBlocks::Plain);
    let sound = model.segment(1, TermOptions::TEXT, TermBlocks::Plain);
    let section = sound.section(crate::SectionKind::Postings, FIELD).expect("written");
    let entry = *section.entry();
    let pages = entry.offset.next_multiple_of(4096)..(entry.offset + entry.len) / 4096 * 4096;
    assert!(!pages.is_empty());
    for at in pages.step_by(1000) {
        let mut bad = file.clone();
        bad[at as usize] ^= 4;
        let segment = Segment::open(SegmentId(1), Bytes::from(bad), Check::Lazy).expect("lazy");
        let terms = field(&segment);
        let info = info(&terms, b"term00000");
        let mut count = 0;
        let mut postings = terms.postings(&info, Need::Freqs);
        while postings.next() != END {
            count += 1;
        }
        assert!(count < info.doc_freq);
        assert!(matches!(segment.fault(), Some(crate::Error::Checksum { what: "page", .. })));
        let again = terms.postings(&info, Need::Freqs);
        let damaged = (0..again.block_count()).any(|block| again.docs(block, &mut [0; BLOCK]) == 0);
        assert!(damaged);
        assert!(Segment::open(SegmentId(1), segment.file().whole().clone(), Check::Full).is_err());
    }
}

/// A term's documents in `range`, as bits.
/// About a third of the documents of a range.
fn some_bits(dice: &mut Dice, range: &Range<u32>) -> Box<[u64; MANY]> {
    let mut bits = Box::new([0; MANY]);
    for at in (0..range.len()).filter(|_| dice.below(3) == 0) {
        bits[at / 64] |= 1 << (at % 64);
    }
    bits
}

fn plain_count(docs: &[(u32, Vec<u32>)], range: &Range<u32>, bits: &[u64; MANY]) -> u64 {
    plain_bits(docs, range).iter().zip(bits).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

fn plain_bits(docs: &[(u32, Vec<u32>)], range: &Range<u32>) -> Vec<u64> {
    let mut bits = vec![0; range.len().div_ceil(64)];
    for (doc, _) in docs.iter().filter(|(doc, _)| range.contains(doc)) {
        let at = doc - range.start;
        bits[at as usize / 64] |= 1 << (at % 64);
    }
    bits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn seeking_is_walking_faster(seed: u64, rarity in 1u32..200, doc_count in 1u32..20_000, steps in prop::collection::vec((any::<bool>(), 0u32..3000), 1..200)) {
        let model = Model::made(seed, doc_count, &[rarity]);
        let Some((term, docs)) = model.terms.iter().next() else { return Ok(()) };
        let segment = model.segment(1, TermOptions::TEXT, TermBlocks::Plain);
        let terms = field(&segment);
        let mut postings = terms.postings(&info(&terms, term), Need::Positions);
        let mut at = None;
        let mut found = Vec::new();
        for (is_seek, distance) in steps {
            let moved = if is_seek {
                let target = at.and_then(|at: usize| docs.get(at)).map_or(0, |(doc, _)| *doc) + distance;
                let start = at.unwrap_or(0);
                at = Some((start..docs.len()).find(|at| docs[*at].0 >= target).unwrap_or(docs.len()));
                postings.seek(DocId(target))
            } else {
                at = Some(at.map_or(0, |at| (at + 1).min(docs.len())));
                postings.next()
            };
            match docs.get(at.expect("moved")) {
                None => prop_assert_eq!(moved, END),
                Some((doc, positions)) => {
                    prop_assert_eq!(moved, DocId(*doc));
                    if distance % 3 == 0 {
                        prop_assert_eq!(postings.freq() as usize, positions.len());
                    }
                    if distance % 2 == 0 {
                        postings.positions(&mut found);
                        prop_assert_eq!(&found, positions);
                    }
                }
            }
        }
    }

    #[test]
    fn runs_and_bits_cover_each_window(seed: u64, rarity in 1u32..300, window in 1u32..5000, skip in 0u32..3) {
        let model = Model::made(seed, 12_000, &[rarity]);
        let Some((term, docs)) = model.terms.iter().next() else { return Ok(()) };
        let segment = model.segment(1, TermOptions::TEXT, TermBlocks::Plain);
        let terms = field(&segment);
        let mut runs = terms.postings(&info(&terms, term), Need::Freqs);
        let mut bits = terms.postings(&info(&terms, term), Need::Docs);
        let mut counted = terms.postings(&info(&terms, term), Need::Docs);
        let mut dice = Dice(seed);
        let mut start = 0;
        let mut number = 0;
        while start < model.doc_count {
            let range = start..(start + window).min(model.doc_count);
            start = range.end;
            number += 1;
            if number % 3 < skip {
                continue;
            }
            let expected: Vec<(u32, u32)> = docs.iter().filter(|(doc, _)| range.contains(doc)).map(|(doc, at)| (*doc, at.len() as u32)).collect();
            let mut found = Vec::new();
            runs.seek(DocId(range.start));
            while let Some((docs, freqs)) = runs.run(DocId(range.end)) {
                prop_assert!(!docs.is_empty());
                found.extend(docs.iter().copied().zip(freqs.iter().copied()));
            }
            let after = docs.iter().find(|(doc, _)| *doc >= range.end);
            prop_assert_eq!(runs.doc(), after.map_or(END, |(doc, _)| DocId(*doc)));
            prop_assert_eq!(found, expected);
            let mut found = vec![0; range.len().div_ceil(64)];
            bits.fill_bits(range.clone(), &mut found);
            prop_assert_eq!(&found, &plain_bits(docs, &range));
            if window > 64 {
                let some = some_bits(&mut dice, &range);
                prop_assert_eq!(counted.count_bits(range.clone(), &some), plain_count(docs, &range, &some));
            }
        }
        // Windows may also go back.
        for _ in 0..20 {
            let low = dice.below(12_000);
            let range = low..low + dice.below(12_000 - low);
            let mut found = vec![0; range.len().div_ceil(64)];
            bits.fill_bits(range.clone(), &mut found);
            prop_assert_eq!(&found, &plain_bits(docs, &range));
            let some = some_bits(&mut dice, &range);
            prop_assert_eq!(counted.count_bits(range.clone(), &some), plain_count(docs, &range, &some));
        }
    }

    #[test]
    fn positions_of_blocks_are_read_in_any_order(seed: u64, rarity in 1u32..100, asked in prop::collection::vec(any::<prop::sample::Index>(), 1..60)) {
        let model = Model::made(seed, 6_000, &[rarity]);
        let Some((term, docs)) = model.terms.iter().next() else { return Ok(()) };
        let segment = model.segment(1, TermOptions::TEXT, TermBlocks::Plain);
        let terms = field(&segment);
        let mut postings = terms.postings(&info(&terms, term), Need::Positions);
        let mut found = Vec::new();
        for index in asked {
            let at = index.index(docs.len());
            let (mut all, mut freqs) = ([0; BLOCK], [0; BLOCK]);
            postings.docs_and_freqs((at / BLOCK) as u32, &mut all, &mut freqs);
            prop_assert_eq!(all[at % BLOCK], docs[at].0);
            let block = (at / BLOCK) as u32;
            // Before positions or after, as a look at them must not move what is read next.
            let together = postings.distances_of(block, at % BLOCK, &freqs).map(<[u32]>::to_vec);
            postings.positions_of(block, at % BLOCK, &freqs, &mut found);
            prop_assert_eq!(&found, &docs[at].1);
            let again = postings.distances_of(block, at % BLOCK, &freqs).map(<[u32]>::to_vec);
            prop_assert_eq!(&again, &together);
            if let Some(distances) = together {
                let sums = distances.iter().scan(0, |place, distance| {
                    *place += distance;
                    Some(*place)
                });
                prop_assert_eq!(sums.collect::<Vec<_>>(), found.clone());
            } else {
                prop_assert!(found.len() > 1, "one position lies in one block");
            }
            let mut walk = postings.walk_of(block, at % BLOCK, &freqs).expect("positions are kept");
            for place in &found {
                prop_assert_eq!(walk.peek(), Some(*place));
                walk.pass();
            }
            prop_assert_eq!(walk.peek(), None);
            let mut walk = postings.walk_of(block, at % BLOCK, &freqs).expect("positions are kept");
            let wanted = found[found.len() / 2];
            prop_assert_eq!(walk.seek(wanted, &mut 1_000_000), Some(wanted));
        }
        prop_assert_eq!(segment.fault(), None);
    }
}
