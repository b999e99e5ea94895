//! A segment: its sections, its fields, and on request one term or one document; and the file of
//! its living documents.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use base::{DocId, FieldNo, SegmentId};
use env::Bytes;
use json::{Value, json};
use segment::footer::{self, FileKind};
use segment::postings::{END, Need};
use segment::terms::BlockCache;
use segment::{Check, Live, SectionKind, Segment};

use super::names::Names;
use super::{Look, Shown, Unreadable};

/// Postings listed of a term.
const LISTED_MAX: usize = 20;

/// Memory for decoded blocks of terms.
const CACHE_BYTES: usize = 1 << 20;

fn unreadable(error: segment::Error) -> Unreadable {
    Unreadable(error.to_string())
}

fn unknown(path: &Path, error: &segment::Error) -> Unreadable {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Unreadable(format!("[{name}] is no file of a store that is known here: {error}"))
}

/// Checks that a file of `len` bytes ends as a segment, or as the file of its living documents.
pub fn check_end(path: &Path, file: &File, len: u64) -> std::result::Result<(), Unreadable> {
    let mut end = [0; footer::LEN];
    // Who reads a shorter file as a whole finds what it lacks.
    let Some(start) = len.checked_sub(footer::LEN as u64) else { return Ok(()) };
    file.read_exact_at(&mut end, start).map_err(|error| Unreadable(error.to_string()))?;
    match footer::open_end(&end, len, FileKind::Live) {
        Ok(_) => Ok(()),
        Err(_) => match footer::open_end(&end, len, FileKind::Segment) {
            Ok(_) => Ok(()),
            Err(error) => Err(unknown(path, &error)),
        },
    }
}

/// Shows the file.
pub fn show(path: &Path, bytes: Bytes, look: &Look<'_>) -> Shown {
    if let Ok(footer) = footer::open(&bytes, FileKind::Live) {
        return live(&bytes, footer.id);
    }
    let footer = footer::open(&bytes, FileKind::Segment).map_err(|error| unknown(path, &error))?;
    let segment = Segment::open(footer.id, bytes, Check::Lazy).map_err(unreadable)?;
    if let Some(id) = look.doc {
        return show_doc(&segment, id);
    }
    let names = Names::of(path);
    if let Some((field, term)) = look.term {
        return show_term(&segment, &names, field, term);
    }
    Ok(json!({
        "kind": "segment",
        "id": (segment.id().get()),
        "bytes": (segment.len_bytes()),
        "documents": (segment.doc_count()),
        "merged_from": (segment.merged_count()),
        "checksum": (format!("{:08x}", footer.body_checksum)),
        "sections": (sections(&segment, &names)),
        "fields": (fields(&segment, &names)),
    }))
}

fn sections(segment: &Segment, names: &Names) -> Vec<Value> {
    let all = segment.len_bytes().max(1) as f64;
    let mut entries = segment.file().entries().to_vec();
    entries.sort_by_key(|entry| entry.offset);
    entries
        .iter()
        .map(|entry| {
            let share = entry.len as f64 / all * 100.0;
            let field = match entry.kind {
                SectionKind::Meta | SectionKind::StoredHead | SectionKind::StoredBody => None,
                _ => Some(names.name(entry.field)),
            };
            json!({
                "section": (format!("{:?}", entry.kind)),
                "field": field,
                "offset": entry.offset,
                "bytes": entry.len,
                "share": (format!("{share:.1} %")),
            })
        })
        .collect()
}

fn fields(segment: &Segment, names: &Names) -> Vec<Value> {
    let size = |kind, field| segment.section(kind, field).map_or(0, |section| section.len());
    segment
        .fields()
        .map(|field| {
            let number = field.number();
            let mut shown = json!({"field": (names.name(number)), "number": (number.get())});
            let Some(object) = shown.as_object_mut() else { return Value::Null };
            if let Some(terms) = field.terms() {
                let postings = terms.doc_freq_sum();
                let bits = size(SectionKind::Postings, number) as f64 * 8.0;
                object.insert("terms", terms.term_count());
                object.insert("documents", terms.doc_count());
                object.insert("postings", postings);
                object.insert("bits_per_posting", format!("{:.2}", bits / postings.max(1) as f64));
                if terms.options().positions {
                    let positions = terms.term_freq_sum();
                    let bits = size(SectionKind::Positions, number) as f64 * 8.0;
                    let each = bits / positions.max(1) as f64;
                    object.insert("positions", positions);
                    object.insert("bits_per_position", format!("{each:.2}"));
                }
            }
            if let Some(column) = field.numeric() {
                object.insert("numbers", column.value_count());
                object.insert("least", column.min());
                object.insert("most", column.max());
            }
            if let Some(column) = field.ordinals() {
                object.insert("ordinals", column.value_count());
                object.insert("distinct", column.term_count());
            }
            if field.norms().is_some() {
                object.insert("lengths", true);
            }
            if field.points().is_some() {
                object.insert("points_bytes", size(SectionKind::PointsBody, number));
            }
            shown
        })
        .collect()
}

fn show_term(segment: &Segment, names: &Names, field: &str, term: &str) -> Shown {
    let called = |number: &FieldNo| names.name(*number) == field;
    let number = segment.fields().map(|known| known.number()).find(called).ok_or_else(|| {
        let why =
            names.unknown().map_or(String::new(), |why| format!("; fields go by number: {why}"));
        Unreadable(format!("no field [{field}]{why}"))
    })?;
    let terms =
        segment.terms(number).ok_or_else(|| Unreadable(format!("field [{field}] has no terms")))?;
    let mut cache = BlockCache::new(CACHE_BYTES);
    let found = terms.find(term.as_bytes(), &mut cache).map_err(unreadable)?;
    let info = found.ok_or_else(|| Unreadable(format!("field [{field}] has no term [{term}]")))?;
    let options = terms.options();
    let need = match (options.positions, options.freqs) {
        (true, _) => Need::Positions,
        (false, true) => Need::Freqs,
        (false, false) => Need::Docs,
    };
    let mut postings = terms.postings(&info, need);
    let mut listed = Vec::new();
    let mut positions = Vec::new();
    while listed.len() < LISTED_MAX && postings.next() != END {
        let mut row = json!({"document": (postings.doc().get())});
        let Some(object) = row.as_object_mut() else { break };
        if let Some(id) = segment.ids().id_of(postings.doc()).map_err(unreadable)? {
            object.insert("id", String::from_utf8_lossy(id).into_owned());
        }
        if options.freqs {
            object.insert("frequency", postings.freq());
        }
        if options.positions {
            positions.clear();
            postings.positions(&mut positions);
            let shown: Vec<String> = positions.iter().map(u32::to_string).collect();
            object.insert("positions", shown.join(" "));
        }
        listed.push(row);
    }
    if let Some(fault) = segment.fault() {
        return Err(Unreadable(fault.to_string()));
    }
    Ok(json!({
        "kind": "term",
        "field": field,
        "term": term,
        "documents": info.doc_freq,
        "occurrences": info.total_freq,
        "postings": listed,
    }))
}

fn show_doc(segment: &Segment, id: &str) -> Shown {
    let found = segment.ids().find(id.as_bytes()).map_err(unreadable)?;
    let doc = found.ok_or_else(|| Unreadable(format!("no document [{id}]")))?;
    let number = |field: FieldNo| {
        segment.fields().find(|known| known.number() == field)?.numeric()?.get(doc)
    };
    let source = match segment.stored() {
        Some(stored) => stored.get(doc).map_err(unreadable)?,
        None => Vec::new(),
    };
    let shown = json!({
        "kind": "document",
        "id": id,
        "document": (DocId::get(doc)),
        "seq_no": (number(FieldNo::SEQ_NO)),
        "version": (number(FieldNo::VERSION)),
        "primary_term": (number(FieldNo::PRIMARY_TERM)),
        "source": (String::from_utf8_lossy(&source).into_owned()),
    });
    match segment.fault() {
        Some(fault) => Err(Unreadable(fault.to_string())),
        None => Ok(shown),
    }
}

/// The living documents of segment `id`.
fn live(bytes: &[u8], id: SegmentId) -> Shown {
    // The file says how many documents its segment has; the reader wants to be told.
    let count = bytes.get(8..12).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    let count = count.ok_or_else(|| Unreadable("a live file cut short".into()))?;
    let (live, generation) = Live::decode(bytes, id, count).map_err(unreadable)?;
    Ok(json!({
        "kind": "live",
        "segment": (id.get()),
        "generation": generation,
        "documents": count,
        "alive": (live.live_count()),
        "deleted": (live.deleted_count()),
    }))
}
