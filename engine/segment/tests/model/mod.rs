//! A segment as the plainest thing that can be one: a list of documents, each with what it has.

#![allow(dead_code, reason = "each test uses its part")]

use std::collections::{BTreeMap, BTreeSet};

use base::{DocId, FieldNo, Ord, SegmentId};
use env::Bytes;
use segment::bkd::{Points, Shape};
use segment::norms::encode_len;
use segment::{
    BlockCache, Check, Need, Posting, Segment, SegmentWriter, TermOptions, TermSource, View,
};

pub const TEXT: FieldNo = FieldNo(16);
pub const TAG: FieldNo = FieldNo(17);
pub const PRICE: FieldNo = FieldNo(18);
pub const PLACE: FieldNo = FieldNo(19);
pub const SKETCH: FieldNo = FieldNo(20);
pub const SEQ_NO: FieldNo = FieldNo(1);

/// The shape of a place: two numbers of two bytes.
pub fn place_shape() -> Shape {
    Shape::new(2, 2).expect("a legal shape")
}

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doc {
    pub id: Vec<u8>,
    pub seq_no: i64,
    pub words: Vec<String>,
    pub tags: BTreeSet<String>,
    pub prices: Vec<i64>,
    pub places: Vec<[u8; 4]>,
    pub sketch: Option<Vec<u8>>,
    pub source: Vec<u8>,
}

type Terms = BTreeMap<Vec<u8>, Vec<(u32, Vec<u32>)>>;

/// Words of all documents, each with its documents and positions.
pub fn text_terms(docs: &[Doc]) -> Terms {
    let mut terms = Terms::new();
    for (doc, word, at) in docs.iter().zip(0u32..).flat_map(|(doc, number)| {
        doc.words.iter().zip(0u32..).map(move |(word, at)| (number, word, at))
    }) {
        let postings = terms.entry(word.clone().into_bytes()).or_default();
        match postings.last_mut() {
            Some((last, positions)) if *last == doc => positions.push(at),
            _ => postings.push((doc, vec![at])),
        }
    }
    terms
}

/// Tags of all documents, each with its documents.
pub fn tag_terms(docs: &[Doc]) -> Terms {
    let mut terms = Terms::new();
    for (doc, number) in docs.iter().zip(0u32..) {
        for tag in &doc.tags {
            terms.entry(tag.clone().into_bytes()).or_default().push((number, Vec::new()));
        }
    }
    terms
}

/// Terms as a writer takes them.
struct Source<'a> {
    terms: std::collections::btree_map::Iter<'a, Vec<u8>, Vec<(u32, Vec<u32>)>>,
    postings: std::slice::Iter<'a, (u32, Vec<u32>)>,
}

impl TermSource for Source<'_> {
    fn next_term(&mut self) -> segment::Result<Option<&[u8]>> {
        Ok(self.terms.next().map(|(term, postings)| {
            self.postings = postings.iter();
            term.as_slice()
        }))
    }

    fn next_posting(&mut self) -> segment::Result<Option<Posting<'_>>> {
        Ok(self.postings.next().map(|(doc, positions)| Posting {
            doc: DocId(*doc),
            freq: (positions.len() as u32).max(1),
            positions,
        }))
    }
}

fn source(terms: &Terms) -> Source<'_> {
    Source { terms: terms.iter(), postings: [].iter() }
}

/// The file of a segment that holds `docs`.
pub fn seal(id: SegmentId, docs: &[Doc]) -> Vec<u8> {
    let mut writer = SegmentWriter::new(id, docs.len() as u32);
    let numbered = || docs.iter().zip((0..).map(DocId));
    let mut ids: Vec<(&[u8], DocId)> = numbered().map(|(doc, at)| (&doc.id[..], at)).collect();
    ids.sort_unstable();
    writer.ids(ids).expect("short ids");
    let seq_nos: Vec<_> = numbered().map(|(doc, at)| (at, doc.seq_no)).collect();
    writer.numeric(SEQ_NO, &seq_nos);
    if docs.iter().any(|doc| !doc.words.is_empty()) {
        let norms: Vec<u8> = docs.iter().map(|doc| encode_len(doc.words.len() as u32)).collect();
        writer.norms(TEXT, &norms).expect("norms fit");
        let terms = text_terms(docs);
        let options = TermOptions { freqs: true, positions: true };
        writer.terms(TEXT, options, &mut source(&terms)).expect("short terms");
    }
    let terms = tag_terms(docs);
    if !terms.is_empty() {
        let options = TermOptions { freqs: false, positions: false };
        writer.terms(TAG, options, &mut source(&terms)).expect("short terms");
        let ord = |tag: &String| Ord(terms.range(..tag.as_bytes().to_vec()).count() as u32);
        let ords: Vec<_> = numbered()
            .flat_map(|(doc, at)| doc.tags.iter().map(move |tag| (at, tag)))
            .map(|(at, tag)| (at, ord(tag)))
            .collect();
        writer.ordinals(TAG, terms.keys().map(Vec::as_slice), &ords).expect("short terms");
    }
    let prices: Vec<_> =
        numbered().flat_map(|(doc, at)| doc.prices.iter().map(move |price| (at, *price))).collect();
    writer.numeric(PRICE, &prices);
    let mut points = Points::new(Shape::LONG);
    prices.iter().for_each(|(at, price)| points.push_long(*price, *at));
    writer.points(PRICE, points);
    let mut points = Points::new(place_shape());
    for (doc, at) in numbered() {
        doc.places.iter().for_each(|place| points.push(place, at));
    }
    writer.points(PLACE, points);
    let sketches = numbered().filter_map(|(doc, at)| Some((at, doc.sketch.as_deref()?)));
    writer.binary(SKETCH, sketches);
    writer.stored(docs.iter().map(|doc| doc.source.as_slice())).expect("short sources");
    writer.seal().expect("sealed in memory")
}

pub fn open(id: SegmentId, bytes: Vec<u8>) -> Segment {
    Segment::open(id, Bytes::from(bytes), Check::Full).expect("just sealed")
}

/// Reads every document of a segment back through its readers.
pub fn read(segment: &Segment) -> Vec<Doc> {
    let mut docs = vec![Doc::default(); segment.doc_count() as usize];
    let mut stored = segment.stored().expect("documents are stored").reader();
    let mut sketches = segment.binary(SKETCH).map(|column| column.reader());
    for (doc, at) in docs.iter_mut().zip((0..).map(DocId)) {
        doc.id = segment.ids().id_of(at).expect("whole").expect("each has an id").to_vec();
        doc.seq_no = segment.numeric(SEQ_NO).and_then(|column| column.get(at)).expect("each has");
        if let Some(column) = segment.numeric(PRICE) {
            column.values(at, &mut doc.prices);
        }
        if let Some(sketches) = &mut sketches {
            doc.sketch = sketches.get(at).expect("whole").map(<[u8]>::to_vec);
        }
        doc.source = stored.get(at).expect("whole").to_vec();
    }
    read_words(segment, &mut docs);
    read_tags(segment, &mut docs);
    read_places(segment, &mut docs);
    docs
}

/// Puts each word where its positions say.
fn read_words(segment: &Segment, docs: &mut [Doc]) {
    let Some(terms) = segment.terms(TEXT) else { return };
    let norms = segment.norms(TEXT).expect("a text field has lengths");
    let mut words: Vec<BTreeMap<u32, String>> = vec![BTreeMap::new(); docs.len()];
    let mut cursor = terms.cursor();
    while cursor.next().expect("whole") {
        let mut postings = terms.postings(&cursor.info().expect("sound"), Need::Positions);
        while postings.next() != segment::postings::END {
            let mut positions = Vec::new();
            postings.positions(&mut positions);
            assert_eq!(postings.freq() as usize, positions.len());
            let word = String::from_utf8(cursor.term().to_vec()).expect("words are text");
            let places = positions.iter().map(|at| (*at, word.clone()));
            words[postings.doc().index()].extend(places);
        }
    }
    for ((doc, words), at) in docs.iter_mut().zip(words).zip((0..).map(DocId)) {
        assert_eq!(norms.get(at), encode_len(words.len() as u32));
        doc.words = words.into_values().collect();
    }
}

/// Tags from the column, after comparing them with those of the postings.
fn read_tags(segment: &Segment, docs: &mut [Doc]) {
    let Some(column) = segment.ordinals(TAG) else {
        assert!(segment.terms(TAG).is_none(), "a column wherever there are terms");
        return;
    };
    let mut dictionary = column.terms();
    for (doc, at) in docs.iter_mut().zip((0..).map(DocId)) {
        let mut ords = Vec::new();
        column.values(at, &mut ords);
        for ord in ords {
            let tag = dictionary.term(ord).expect("whole").to_vec();
            doc.tags.insert(String::from_utf8(tag).expect("tags are text"));
        }
    }
    let terms = segment.terms(TAG).expect("terms wherever there is a column");
    let mut cache = BlockCache::new(1 << 20);
    for (tag, expected) in tag_terms(docs) {
        let info = terms.find(&tag, &mut cache).expect("whole").expect("a tag is a term");
        let mut postings = terms.postings(&info, Need::Docs);
        let mut found = Vec::new();
        while postings.next() != segment::postings::END {
            found.push((postings.doc().get(), Vec::new()));
        }
        assert_eq!(found, expected);
    }
}

/// Places by asking for each of the square's rows; prices' points are compared with the column.
fn read_places(segment: &Segment, docs: &mut [Doc]) {
    use segment::bkd::{Bounds, DocList};
    if let Some(tree) = segment.points(PLACE) {
        for x in 0..=255u8 {
            for y in 0..=255u8 {
                let point = [0, x, 0, y];
                let mut list = DocList::default();
                tree.visit(&Bounds::new(place_shape(), &point, &point), &mut list).expect("whole");
                list.0.iter().for_each(|doc| docs[*doc as usize].places.push(point));
            }
        }
    }
    let Some(tree) = segment.points(PRICE) else { return };
    let prices: BTreeSet<i64> = docs.iter().flat_map(|doc| doc.prices.iter().copied()).collect();
    for price in prices {
        let mut list = DocList::default();
        tree.visit(&Bounds::longs(price..=price), &mut list).expect("whole");
        list.0.sort_unstable();
        let expected = docs.iter().zip(0u32..).flat_map(|(doc, at)| {
            doc.prices.iter().filter(|other| **other == price).map(move |_| at)
        });
        assert!(list.0.into_iter().eq(expected));
    }
}

/// Documents that differ in everything, by a number.
pub fn doc(number: u32) -> Doc {
    let pick = |salt: u32, among: u32| number.wrapping_mul(2_654_435_761).rotate_left(salt) % among;
    let word = |at: u32| ["shard", "segment", "view", "refresh", "merge", "term"][at as usize % 6];
    Doc {
        id: format!("doc-{number}").into_bytes(),
        seq_no: i64::from(number),
        words: (0..pick(3, 12)).map(|at| word(pick(at, 6) + at).to_owned()).collect(),
        tags: (0..pick(5, 4)).map(|at| format!("tag {}", pick(at + 7, 40))).collect(),
        prices: {
            let mut prices: Vec<i64> =
                (0..pick(9, 3)).map(|at| i64::from(pick(at + 11, 1000)) - 500).collect();
            prices.sort_unstable();
            prices
        },
        places: {
            let mut places: Vec<[u8; 4]> = (0..pick(13, 2))
                .map(|at| [0, pick(at + 15, 9) as u8, 0, pick(at, 7) as u8])
                .collect();
            places.sort_unstable();
            places
        },
        sketch: (pick(17, 5) == 0).then(|| vec![number as u8; pick(19, 50) as usize]),
        source: match pick(21, 20) {
            0 => Vec::new(),
            _ => format!("{{\"number\":{number},\"word\":\"{}\"}}", word(number)).into_bytes(),
        },
    }
}

/// A view of one segment.
pub fn view(segment: Segment) -> View {
    View::new(1, [(segment, None)]).expect("few documents")
}
