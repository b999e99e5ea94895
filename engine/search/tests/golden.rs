//! Scores of real text equal Lucene's, times 2.2: judged corpora of the data kit, every query.
//!
//! Runs where `CORELODE_KIT` names the folder of the data kit; says so and passes otherwise. The
//! runs were made with Lucene 9.9.1 and the chain standard tokenizer, possessive filter, lowercase.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{DocId, SegmentId};
use env::Bytes;
use mapping::{Kind, Mapping, Settings};
use search::dsl::parse_search;
use segment::norms::encode_len;
use segment::{Check, Segment, SegmentWriter, TermOptions, View};
use support::corpus::postings;
use support::run::{How, search};

fn kit() -> Option<PathBuf> {
    let Some(kit) = std::env::var_os("CORELODE_KIT") else {
        println!("skipped: CORELODE_KIT is not set");
        return None;
    };
    Some(Path::new(&kit).join("data"))
}

fn text_of(path: &Path) -> String {
    let packed = std::fs::read(path).expect("a file of the kit");
    let bytes = zstd::decode_all(packed.as_slice()).expect("a zstd frame");
    String::from_utf8(bytes).expect("UTF-8")
}

/// Words of a text, without a possessive ending.
fn words(mapping: &Mapping, text: &str) -> Vec<(String, u32)> {
    let field = mapping.field("contents").expect("mapped");
    let Kind::Text(kind) = &field.kind else { panic!("a text") };
    let mut words = Vec::new();
    kind.analyzer.tokens(text, &mut |token| {
        let term = ["'s", "\u{2019}s", "\u{ff07}s"]
            .iter()
            .find_map(|ending| token.term.strip_suffix(ending))
            .unwrap_or(token.term);
        words.push((term.to_owned(), token.position));
    });
    words
}

struct Judged {
    mapping: Mapping,
    ids: Vec<String>,
    view: Arc<View>,
}

fn load(folder: &Path) -> Judged {
    let definition =
        json::parse(b"{\"properties\":{\"contents\":{\"type\":\"text\"}}}").expect("JSON");
    let mapping = Mapping::parse(&definition, Arc::new(Settings::default())).expect("a mapping");
    let corpus = text_of(&folder.join("corpus.ndjson.zst"));
    let (mut ids, mut lengths) = (Vec::new(), Vec::new());
    let mut terms: BTreeMap<Vec<u8>, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
    for (line, doc) in corpus.lines().zip(0u32..) {
        let value = json::parse(line.as_bytes()).expect("JSON");
        let part =
            |key: &str| value.get(key).and_then(|it| it.as_str()).filter(|it| !it.is_empty());
        let id = ["_id", "id", "docid", "doc_id"].iter().find_map(|key| part(key));
        ids.push(id.expect("an id").to_owned());
        let contents = match part("contents") {
            Some(whole) => whole.to_owned(),
            None => {
                ["title", "text"].iter().filter_map(|key| part(key)).collect::<Vec<_>>().join(" ")
            }
        };
        let found = words(&mapping, &contents);
        lengths.push(encode_len(found.len() as u32));
        for (word, position) in found {
            terms.entry(word.into_bytes()).or_default().entry(doc).or_default().push(position);
        }
    }
    let field = mapping.field("contents").expect("mapped").no;
    let mut writer = SegmentWriter::new(SegmentId(1), ids.len() as u32);
    writer.norms(field, &lengths).expect("a byte for each");
    postings(&mut writer, field, TermOptions::TEXT, terms);
    let mut sorted: Vec<(&[u8], DocId)> =
        ids.iter().zip(0..).map(|(id, doc)| (id.as_bytes(), DocId(doc))).collect();
    sorted.sort_unstable();
    writer.ids(sorted).expect("sorted");
    let file = Bytes::from(writer.seal().expect("sealed"));
    let segment = Segment::open(SegmentId(1), file, Check::Full).expect("just sealed");
    let view = Arc::new(View::new(1, [(segment, None)]).expect("few documents"));
    Judged { mapping, ids, view }
}

/// Every query's ten best have Lucene's scores; those not tied with the tenth are Lucene's.
fn check(name: &str) {
    let Some(kit) = kit() else { return };
    let folder = kit.join(name);
    let judged = load(&folder);
    let run = text_of(&folder.join("lucene-standard-k1_1.2-b_0.75.run.tsv.zst"));
    let mut golden: BTreeMap<&str, Vec<(&str, f32)>> = BTreeMap::new();
    for line in run.lines() {
        let mut parts = line.split('\t');
        let (query, _) = (parts.next().expect("query"), parts.next());
        let (id, score) = (parts.next().expect("id"), parts.next().expect("score"));
        let score = score.parse().expect("a score");
        golden.entry(query).or_default().push((id, score));
    }
    let queries = std::fs::read_to_string(folder.join("queries.tsv")).expect("queries");
    let mut checked = 0;
    for line in queries.lines() {
        let mut parts = line.split('\t');
        let (query, text) = (parts.next().expect("id"), parts.next().expect("text"));
        let Some(wanted) = golden.get(query) else { continue };
        let text: Vec<String> =
            words(&judged.mapping, text).into_iter().map(|(word, _)| word).collect();
        let body = format!(
            "{{\"query\":{{\"match\":{{\"contents\":\"{}\"}}}},\"track_total_hits\":false}}",
            text.join(" ")
        );
        let request = parse_search(body.as_bytes(), &[]).expect("a good body");
        let (merged, _) = search(&request, &judged.mapping, &judged.view, &How::default());
        let found: Vec<(&str, f32)> = merged
            .winners
            .iter()
            .map(|winner| (judged.ids[winner.ranked.doc.index()].as_str(), winner.ranked.score))
            .collect();
        let wanted = &wanted[..found.len().min(wanted.len())];
        for ((_, ours), (_, theirs)) in found.iter().zip(wanted) {
            let theirs = theirs * 2.2;
            let apart = (ours - theirs).abs();
            assert!(apart <= 2e-5 * theirs.max(1.0), "query {query}: {found:?} {wanted:?}");
        }
        let last = wanted.last().map_or(0.0, |last| last.1);
        for (id, score) in wanted {
            let tied = (score - last).abs() <= 1e-4;
            assert!(tied || found.iter().any(|(ours, _)| ours == id), "query {query}: {id}");
        }
        checked += 1;
    }
    println!("{name}: {checked} queries agree");
    assert!(checked > 50);
}

#[test]
fn cranfield_scores_as_in_lucene() {
    check("cranfield");
}

#[test]
fn cacm_scores_as_in_lucene() {
    check("cacm");
}

#[test]
fn scifact_scores_as_in_lucene() {
    check("scifact");
}
