//! Documents with every kind of field, and the segments that hold them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{DocId, FieldNo, Ord, SegmentId};
use env::Bytes;
use mapping::{Mapping, Settings};
use segment::bkd::{Points, Shape};
use segment::section::File;
use segment::{Check, Live, Posting, Segment, SegmentWriter, TermOptions, TermSource, View};

use super::Chance;

/// Words in falling frequency.
pub const WORDS: [&str; 24] = [
    "the", "a", "of", "river", "house", "gate", "golden", "night", "storm", "silver", "wolf",
    "mountain", "king", "queen", "salt", "butter", "market", "signal", "summer", "tower", "voice",
    "bridge", "captain", "zebra",
];

pub const TAGS: [&str; 7] = ["new", "used", "rare", "signed", "small", "large", "Ünusual"];

/// One document, as plain data.
#[derive(Clone, Debug, Default)]
pub struct Doc {
    pub id: String,
    pub title: Vec<&'static str>,
    pub body: Vec<&'static str>,
    pub tags: Vec<&'static str>,
    pub n: Vec<i64>,
    pub price: Vec<f64>,
    pub flag: Vec<bool>,
    pub day: Vec<i64>,
    pub deleted: bool,
}

impl Doc {
    fn random(number: usize, chance: &mut Chance) -> Self {
        let text = |chance: &mut Chance, most: usize| -> Vec<&'static str> {
            let len = chance.below(most);
            (0..len)
                .map(|_| {
                    // Squared: the first words are by far the most frequent.
                    let x = chance.below(1000) * chance.below(1000) / 1000;
                    WORDS[x * WORDS.len() / 1000]
                })
                .collect()
        };
        let mut doc = Self {
            id: format!("d{number}"),
            title: text(chance, 6),
            body: text(chance, 60),
            ..Self::default()
        };
        for _ in 0..chance.below(3) {
            let tag: &&str = chance.pick(&TAGS);
            doc.tags.push(tag);
        }
        for _ in 0..chance.below(3) {
            doc.n.push(chance.below(200) as i64 - 50);
        }
        if !chance.one_in(4) {
            doc.price.push(chance.below(100) as f64 / 4.0 - 3.0);
        }
        if !chance.one_in(5) {
            doc.flag.push(chance.one_in(3));
        }
        if !chance.one_in(6) {
            // Days of 2024, some with a time.
            let day = 1_704_067_200_000 + chance.below(366) as i64 * 86_400_000;
            doc.day.push(day + chance.below(2) as i64 * 3_600_000);
        }
        doc.deleted = chance.one_in(9);
        doc
    }

    /// As JSON text.
    pub fn source(&self) -> String {
        let list = |values: Vec<String>| format!("[{}]", values.join(","));
        let quoted =
            |values: &[&str]| list(values.iter().map(|value| format!("\"{value}\"")).collect());
        format!(
            "{{\"title\":\"{}\",\"body\":\"{}\",\"tags\":{},\"n\":{},\"price\":{}}}",
            self.title.join(" "),
            self.body.join(" "),
            quoted(&self.tags),
            list(self.n.iter().map(i64::to_string).collect()),
            list(self.price.iter().map(|value| format!("{value:?}")).collect()),
        )
    }
}

/// Documents in segments.
pub struct Corpus {
    pub mapping: Mapping,
    /// Segment by segment.
    pub docs: Vec<Vec<Doc>>,
    files: Vec<Vec<u8>>,
}

pub const MAPPING: &str = r#"{"properties":{
    "title":{"type":"text"},
    "body":{"type":"text"},
    "tags":{"type":"keyword"},
    "stag":{"type":"keyword","index":false},
    "n":{"type":"long"},
    "price":{"type":"double"},
    "cn":{"type":"long","index":false},
    "flag":{"type":"boolean"},
    "day":{"type":"date"},
    "empty":{"type":"long"}
}}"#;

impl Corpus {
    /// Segments of these sizes.
    pub fn random(seed: u64, sizes: &[usize]) -> Self {
        let mut chance = Chance::new(seed);
        let mut number = 0;
        let docs = sizes
            .iter()
            .map(|size| {
                (0..*size)
                    .map(|_| {
                        number += 1;
                        Doc::random(number, &mut chance)
                    })
                    .collect()
            })
            .collect();
        Self::of(docs)
    }

    /// Segments of these documents.
    pub fn of(docs: Vec<Vec<Doc>>) -> Self {
        let definition = json::parse(MAPPING.as_bytes()).expect("JSON");
        let mapping =
            Mapping::parse(&definition, Arc::new(Settings::default())).expect("a mapping");
        let files = docs.iter().zip(1..).map(|(docs, id)| write(docs, id, &mapping)).collect();
        Self { mapping, docs, files }
    }

    /// A view of all segments, whole or with each page missing once.
    pub fn view(&self, missing_once: bool) -> Arc<View> {
        let segments = self.docs.iter().zip(&self.files).zip(1u64..).map(|((docs, file), id)| {
            let bytes = Bytes::from(file.clone());
            let file = match missing_once {
                true => File::missing_once(bytes),
                false => File::open(bytes, Check::Full),
            };
            let segment =
                Segment::from_file(SegmentId(id), file.expect("just sealed")).expect("just sealed");
            let dead = docs.iter().zip(0u32..).filter(|(doc, _)| doc.deleted);
            let live = Live::all(docs.len() as u32).without(dead.map(|(_, doc)| DocId(doc)));
            (segment, Some(Arc::new(live)))
        });
        Arc::new(View::new(1, segments).expect("few documents"))
    }
}

/// A term with the documents it stands in and its places there.
type TermPostings = (Vec<u8>, Vec<(u32, Vec<u32>)>);

/// Terms of one field with their postings.
struct Postings {
    terms: Vec<TermPostings>,
    term: usize,
    posting: usize,
    positions: bool,
}

impl TermSource for Postings {
    fn next_term(&mut self) -> segment::Result<Option<&[u8]>> {
        self.term = self.term.wrapping_add(1);
        self.posting = 0;
        Ok(self.terms.get(self.term).map(|(term, _)| term.as_slice()))
    }

    fn next_posting(&mut self) -> segment::Result<Option<Posting<'_>>> {
        let found = self.terms[self.term].1.get(self.posting);
        self.posting += 1;
        Ok(found.map(|(doc, positions)| Posting {
            doc: DocId(*doc),
            freq: positions.len() as u32,
            positions: if self.positions { positions } else { &[] },
        }))
    }
}

fn write(docs: &[Doc], id: u64, mapping: &Mapping) -> Vec<u8> {
    let mut writer = SegmentWriter::new(SegmentId(id), docs.len() as u32);
    let no = |path: &str| mapping.field(path).expect("mapped").no;
    text(&mut writer, no("title"), docs, |doc| &doc.title);
    text(&mut writer, no("body"), docs, |doc| &doc.body);
    keyword(&mut writer, no("tags"), docs, true);
    keyword(&mut writer, no("stag"), docs, false);
    numbers(&mut writer, no("n"), docs, true, |doc| doc.n.clone());
    numbers(&mut writer, no("cn"), docs, false, |doc| doc.n.clone());
    numbers(&mut writer, no("price"), docs, true, |doc| {
        doc.price.iter().map(|value| mapping::types::sortable::from_f64(*value)).collect()
    });
    numbers(&mut writer, no("flag"), docs, true, |doc| {
        doc.flag.iter().map(|value| i64::from(*value)).collect()
    });
    numbers(&mut writer, no("day"), docs, true, |doc| doc.day.clone());
    numbers(&mut writer, FieldNo::SEQ_NO, docs, false, |doc| {
        vec![doc.id[1..].parse().expect("a number")]
    });
    numbers(&mut writer, FieldNo::VERSION, docs, false, |_| vec![1]);
    numbers(&mut writer, FieldNo::PRIMARY_TERM, docs, false, |_| vec![1]);
    let mut ids: Vec<(&[u8], DocId)> =
        docs.iter().zip(0..).map(|(doc, at)| (doc.id.as_bytes(), DocId(at))).collect();
    ids.sort_unstable();
    writer.ids(ids).expect("sorted");
    let sources: Vec<String> = docs.iter().map(Doc::source).collect();
    writer.stored(sources.iter().map(|source| source.as_bytes())).expect("small");
    writer.seal().expect("sealed")
}

fn text(
    writer: &mut SegmentWriter,
    field: FieldNo,
    docs: &[Doc],
    words: impl Fn(&Doc) -> &Vec<&'static str>,
) {
    let lengths: Vec<u8> =
        docs.iter().map(|doc| segment::norms::encode_len(words(doc).len() as u32)).collect();
    writer.norms(field, &lengths).expect("a byte for each");
    let mut terms: BTreeMap<Vec<u8>, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
    for (doc, at) in docs.iter().zip(0u32..) {
        for (word, position) in words(doc).iter().zip(0u32..) {
            let places = terms.entry(word.as_bytes().to_vec()).or_default();
            places.entry(at).or_default().push(position);
        }
    }
    postings(writer, field, TermOptions::TEXT, terms);
}

pub fn postings(
    writer: &mut SegmentWriter,
    field: FieldNo,
    options: TermOptions,
    terms: BTreeMap<Vec<u8>, BTreeMap<u32, Vec<u32>>>,
) {
    if terms.is_empty() {
        return;
    }
    let terms = terms.into_iter().map(|(term, docs)| (term, docs.into_iter().collect())).collect();
    let positions = options.positions;
    let mut source = Postings { terms, term: usize::MAX, posting: 0, positions };
    writer.terms(field, options, &mut source).expect("sorted");
}

fn keyword(writer: &mut SegmentWriter, field: FieldNo, docs: &[Doc], indexed: bool) {
    let mut terms: BTreeMap<Vec<u8>, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
    for (doc, at) in docs.iter().zip(0u32..) {
        for tag in &doc.tags {
            terms.entry(tag.as_bytes().to_vec()).or_default().entry(at).or_insert(vec![0]);
        }
    }
    let mut pairs: Vec<(DocId, Ord)> = Vec::new();
    for ((_, found), ord) in terms.iter().zip(0u32..) {
        pairs.extend(found.keys().map(|doc| (DocId(*doc), Ord(ord))));
    }
    pairs.sort_unstable();
    let names: Vec<&[u8]> = terms.keys().map(Vec::as_slice).collect();
    writer.ordinals(field, names, &pairs).expect("sorted");
    if indexed {
        postings(writer, field, TermOptions::DOCS, terms);
    }
}

fn numbers(
    writer: &mut SegmentWriter,
    field: FieldNo,
    docs: &[Doc],
    indexed: bool,
    values: impl Fn(&Doc) -> Vec<i64>,
) {
    let mut pairs: Vec<(DocId, i64)> = Vec::new();
    let mut points = Points::new(Shape::LONG);
    for (doc, at) in docs.iter().zip(0u32..) {
        let mut values = values(doc);
        values.sort_unstable();
        for value in values {
            pairs.push((DocId(at), value));
            points.push_long(value, DocId(at));
        }
    }
    writer.numeric(field, &pairs);
    if indexed {
        writer.points(field, points);
    }
}
