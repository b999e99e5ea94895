//! Buffers of documents of every type, sealed and merged, hold what a walk over the documents finds.

use std::ops::ControlFlow;
use std::sync::Arc;

use base::{DocId, PrimaryTerm, SegmentId, SeqNo};
use env::Bytes;
use json::json;
use mapping::document::{Arena, Mode, Parsed, Parser};
use mapping::types::range::{RangeKind, Span};
use mapping::types::{feature, geo};
use segment::{Check, Live, Segment, View};

use super::*;
use crate::buffer::stored::Stamp;

fn mapping() -> Mapping {
    let mappings = json!({"properties": {
        "n": {"type": "nested", "properties": {"a": {"type": "long"}, "t": {"type": "text"}}},
        "place": {"type": "geo_point"},
        "span": {"type": "integer_range"},
        "rank": {"type": "rank_feature"},
        "topics": {"type": "rank_features"},
        "ip": {"type": "ip"},
        "labels": {"type": "flattened"},
        "blob": {"type": "binary", "doc_values": true},
        "words": {"type": "text", "fielddata": true},
        "done": {"type": "completion"},
    }});
    Mapping::parse(&mappings, Arc::default()).expect("a mapping")
}

/// A buffer of documents, some of which die at once.
fn buffer(mapping: &Mapping, from: u32, count: u32) -> Buffer {
    let mut buffer = Buffer::default();
    let (mut parser, mut arena) = (Parser::new(), Arena::new());
    for number in from..from + count {
        let nested: Vec<json::Value> =
            (0..number % 4).map(|a| json!({"a": i64::from(a), "t": "red fox"})).collect();
        let source = json!({
            "n": nested,
            "place": {"lat": f64::from(number % 90), "lon": f64::from(number % 180)},
            "span": [{"gte": i64::from(number), "lt": i64::from(number) + 5}, {"gte": 0, "lte": 0}],
            "rank": f64::from(number) + 1.0,
            "topics": {"sky": 2.0},
            "ip": format!("10.0.0.{}", number % 256),
            "labels": {"a": {"b": format!("v{}", number % 3)}},
            "blob": "AAE=",
            "words": "one two",
            "done": {"input": "Night Watch", "weight": i64::from(number)},
        });
        let text = json::to_string(&source);
        arena.clear();
        let parsed = parser.parse(mapping, "x", text.as_bytes(), Mode::Strict, &mut arena);
        let Ok(Parsed::Ready(doc)) = parsed else { panic!("{parsed:?}") };
        let stamp = Stamp { seq_no: SeqNo(number.into()), term: PrimaryTerm(1), version: 1 };
        let id = format!("{number:05}");
        let bytes = Bytes::from(text.into_bytes());
        let doc = buffer.add(id.as_bytes(), None, bytes, stamp, arena.entries(doc));
        if number % 5 == 2 {
            buffer.remove(doc);
        }
    }
    buffer
}

fn open(id: u64, file: Vec<u8>) -> Segment {
    let file = Bytes::from(file);
    assert_eq!(segment::verify::verify(SegmentId(id), file.clone()), []);
    Segment::open(SegmentId(id), file, Check::Full).expect("a sound segment")
}

fn sealed(id: u64, buffer: &Buffer, mapping: &Mapping) -> Segment {
    let sealed = seal(buffer, SegmentId(id), mapping, None).expect("room");
    open(id, sealed.file.expect("living documents"))
}

/// Checks every living document of a view against its source.
fn check(view: &View, mapping: &Mapping, numbers: &[u32]) {
    let no = |path: &str| mapping.field(path).expect("mapped").no;
    assert_eq!(view.doc_count as usize, numbers.len());
    for number in numbers {
        let id = format!("{number:05}");
        let (at, doc) = view.find(id.as_bytes()).expect("sound").expect("alive");
        let segment = &view.segments[at].segment;
        let parents = segment.parents().expect("nested documents");
        assert_eq!(parents.nested(doc).len() as u32, number % 4);
        let column = segment.numeric(no("n.a")).expect("a column");
        let inside: Vec<i64> =
            parents.nested(doc).filter_map(|child| column.first(DocId(child))).collect();
        assert_eq!(inside, (0..i64::from(number % 4)).collect::<Vec<_>>());
        let place = segment.numeric(no("place")).and_then(|it| it.first(doc)).map(geo::decode);
        let place = place.expect("a place");
        assert!((place.lat - f64::from(number % 90)).abs() < 1e-6);
        let binary = segment.binary(no("span")).expect("a column");
        let bytes = binary.reader().get(doc).expect("sound").expect("spans").to_vec();
        let spans: Vec<Span> = Span::read(&bytes, RangeKind::Integer).collect();
        let ends: Vec<(i64, i64)> = spans
            .iter()
            .map(|span| {
                let end = mapping::types::range::sortable_of;
                (end(span.from), end(span.to))
            })
            .collect();
        let own = (i64::from(*number), i64::from(*number) + 4);
        let mut want = vec![(0, 0), own];
        want.sort_unstable();
        assert_eq!(ends, want);
        let terms = segment.terms(no("rank")).expect("terms");
        let mut blocks = segment::BlockCache::new(4);
        let info = terms.find(feature::ONE, &mut blocks).expect("sound").expect("the one term");
        let mut postings = terms.postings(&info, segment::Need::Freqs);
        while postings.next() < doc {}
        assert_eq!(postings.doc(), doc);
        let kept = feature::decode(postings.freq());
        assert!(((*number as f32 + 1.0) - kept).abs() < 0.01 * (*number as f32 + 1.0));
        let words = segment.ordinals(no("words")).expect("a column of words");
        let mut ranks = Vec::new();
        words.values(doc, &mut ranks);
        assert_eq!(ranks.len(), 2);
    }
}

#[test]
fn every_type_is_sealed_merged_and_dies_in_blocks() {
    let mapping = mapping();
    let living = |from: u32, count: u32| (from..from + count).filter(|number| number % 5 != 2);
    let one = sealed(1, &buffer(&mapping, 0, 40), &mapping);
    let two = sealed(2, &buffer(&mapping, 40, 40), &mapping);
    let both: Vec<u32> = living(0, 80).collect();
    let view = View::new(1, [(one.clone(), None), (two.clone(), None)]).expect("a view");
    check(&view, &mapping, &both);

    // Delete some of the first, with what is nested in them.
    let gone: Vec<u32> = living(0, 40).filter(|number| number % 3 == 0).collect();
    let docs = gone.iter().flat_map(|number| {
        let found = one.ids().find(format!("{number:05}").as_bytes()).expect("sound");
        one.block(found.expect("an id"))
    });
    let live = Arc::new(Live::all(one.doc_count()).without(docs));
    let left: Vec<u32> = both.into_iter().filter(|number| !gone.contains(number)).collect();
    let inputs = [(one, Some(live)), (two, None)];
    let view = View::new(2, inputs.clone()).expect("a view");
    check(&view, &mapping, &left);

    let mut go_on = |_| ControlFlow::Continue(());
    let (file, _) = segment::merge::merge(&inputs, SegmentId(3), None, &mut go_on).expect("merged");
    let merged = open(3, file);
    let inside: u32 = left.iter().map(|number| number % 4).sum();
    assert_eq!(merged.doc_count(), left.len() as u32 + inside, "dead blocks are gone whole");
    check(&View::new(3, [(merged, None)]).expect("a view"), &mapping, &left);
}

#[test]
fn a_sorted_index_is_laid_in_its_order_and_merges_in_it() {
    let spec = |field: &str, descending, missing_first| mapping::SortSpec {
        field: field.into(),
        descending,
        greatest: descending,
        missing_first,
    };
    let sort = vec![spec("tag", false, true), spec("n", true, false)];
    let settings = mapping::Settings { sort, ..mapping::Settings::default() };
    let mappings = json!({"properties": {
        "tag": {"type": "keyword"},
        "n": {"type": "long"},
        "t": {"type": "text", "fielddata": true},
        "span": {"type": "integer_range"},
        "place": {"type": "geo_point"},
    }});
    let mapping = Mapping::parse(&mappings, Arc::new(settings)).expect("a mapping");
    let no = |path: &str| mapping.field(path).expect("mapped").no;
    let (mut parser, mut arena) = (Parser::new(), Arena::new());
    let mut buffer = |from: u32| {
        let mut buffer = Buffer::default();
        for number in from..from + 60 {
            let mut source = json!({
                "t": format!("w{} same same", number % 7),
                "span": {"gte": i64::from(number), "lte": i64::from(number)},
                "place": {"lat": f64::from(number % 90), "lon": 1.0},
            });
            if let Some(object) = source.as_object_mut() {
                if number % 4 != 0 {
                    object.insert("tag", format!("t{}", number * 7 % 5));
                }
                if number % 3 != 0 {
                    let values = [i64::from(number * 11 % 13), i64::from(number % 2)];
                    object.insert(
                        "n",
                        values.into_iter().map(json::Value::from).collect::<json::Value>(),
                    );
                }
            }
            let text = json::to_string(&source);
            arena.clear();
            let parsed = parser.parse(&mapping, "x", text.as_bytes(), Mode::Strict, &mut arena);
            let Ok(Parsed::Ready(doc)) = parsed else { panic!("{parsed:?}") };
            let stamp = Stamp { seq_no: SeqNo(number.into()), term: PrimaryTerm(1), version: 1 };
            let id = format!("{number:05}");
            let bytes = Bytes::from(text.into_bytes());
            let doc = buffer.add(id.as_bytes(), None, bytes, stamp, arena.entries(doc));
            if number % 9 == 5 {
                buffer.remove(doc);
            }
        }
        buffer
    };
    // As plainly as can be: tag, none first; then the greatest number downwards, none last; then age.
    let key = |number: u32| {
        let tag = (!number.is_multiple_of(4)).then(|| number * 7 % 5);
        let n = (!number.is_multiple_of(3)).then(|| (number * 11 % 13).max(number % 2));
        (tag, n.map_or(i64::MAX, |n| -i64::from(n)), number)
    };
    let expected = |numbers: std::ops::Range<u32>| {
        let mut living: Vec<u32> = numbers.filter(|number| number % 9 != 5).collect();
        living.sort_by_key(|number| key(*number));
        living
    };
    let check = |segment: &Segment, expected: &[u32]| {
        let mut sources = segment.stored().expect("sources").reader();
        let mut blocks = segment::BlockCache::new(4);
        assert_eq!(segment.doc_count() as usize, expected.len());
        for (number, at) in expected.iter().zip(0..) {
            let doc = DocId(at);
            let id = format!("{number:05}");
            assert_eq!(segment.ids().id_of(doc).expect("sound"), Some(id.as_bytes()));
            let text = sources.get(doc).expect("sound").to_vec();
            let text = String::from_utf8(text).expect("JSON");
            assert!(text.contains(&format!("w{} same", number % 7)), "{number}: {text}");
            let seq_no = segment.numeric(FieldNo::SEQ_NO).and_then(|it| it.first(doc));
            assert_eq!(seq_no, Some(i64::from(*number)));
            let bytes = segment.binary(no("span")).expect("a column").reader();
            let bytes = { bytes }.get(doc).expect("sound").expect("a span").to_vec();
            let span = Span::read(&bytes, RangeKind::Integer).next().expect("one");
            let end = mapping::types::range::sortable_of(span.from);
            assert_eq!(end, i64::from(*number));
            let terms = segment.terms(no("t")).expect("terms");
            let word = format!("w{}", number % 7);
            let info = terms.find(word.as_bytes(), &mut blocks).expect("sound").expect("there");
            let mut postings = terms.postings(&info, segment::Need::Positions);
            while postings.next() < doc {}
            assert_eq!(postings.doc(), doc, "{word} of {number}");
            let mut positions = Vec::new();
            postings.positions(&mut positions);
            assert_eq!(positions, [0]);
        }
    };
    let one = sealed(1, &buffer(0), &mapping);
    let two = sealed(2, &buffer(60), &mapping);
    assert_eq!(one.order(), sort::order_of(&mapping).as_ref());
    check(&one, &expected(0..60));
    check(&two, &expected(60..120));
    let mut go_on = |_| ControlFlow::Continue(());
    let inputs = [(one, None), (two, None)];
    let (file, _) = segment::merge::merge(&inputs, SegmentId(3), None, &mut go_on).expect("merged");
    let merged = open(3, file);
    assert_eq!(merged.order(), inputs[0].0.order());
    check(&merged, &expected(0..120));
}
