//! The unified highlighter: passages of a text by sentences, the best of them by BM25 over the
//! passages, as Lucene's `UnifiedHighlighter` scores them.

use base::hash::Map;

use super::breaks::{Bounded, Breaks};
use super::find::Match;
use super::html;
use crate::highlight::{Boundary, Options};

/// Between the values of a field.
pub(super) const SEPARATOR: u16 = 0;

/// A part of the text.
struct Passage {
    start: u32,
    end: u32,
    score: f32,
    matches: Vec<Match>,
}

/// The fragments of a text of UTF-16 units, its values joined by [`SEPARATOR`].
pub(super) fn fragments(
    text: &[u16],
    matches: &[Match],
    options: &Options,
    tokenized: bool,
    counts_terms: bool,
) -> Vec<String> {
    if matches.is_empty() {
        return no_match(text, options).into_iter().collect();
    }
    let len = text.len() as u32;
    let mut passages: Vec<Passage> = Vec::new();
    let most = if options.fragments == 0 { usize::MAX } else { options.fragments as usize };
    let whole = options.fragments == 0 || !tokenized;
    let by_word = options.boundary == Some(Boundary::Word);
    let breaks = match (whole, by_word) {
        (true, _) => Breaks::values(text, SEPARATOR),
        (_, true) => Breaks::words(text, SEPARATOR),
        _ => Breaks::sentences(text, SEPARATOR),
    };
    let bounded = !whole && !by_word && options.fragment_size > 0;
    let words = if bounded { Breaks::words(text, SEPARATOR) } else { Breaks::default() };
    let values = if bounded { Breaks::values(text, SEPARATOR) } else { Breaks::default() };
    let mut window = Bounded::new(&breaks, &words, &values, options.fragment_size, len);
    // Matches of a query's own count once for each term, others as often as the term stands there.
    let mut totals: Map<u32, u32> = Map::default();
    if counts_terms {
        matches.iter().for_each(|found| *totals.entry(found.what).or_default() += 1);
    }
    let mut open: Option<Passage> = None;
    for found in matches {
        if found.start >= len {
            break;
        }
        if found.end > len {
            continue;
        }
        if open.as_ref().is_none_or(|passage| found.start >= passage.end) {
            compete(&mut passages, open.take(), len, most, &totals);
            let (start, end) = if bounded {
                window.around(found.start)
            } else {
                (breaks.preceding(found.start + 1), breaks.following(found.start).unwrap_or(len))
            };
            open = Some(Passage { start, end: end.min(len), score: 0.0, matches: Vec::new() });
        }
        if let Some(passage) = &mut open {
            passage.matches.push(*found);
        }
    }
    compete(&mut passages, open, len, most, &totals);
    passages.sort_by_key(|passage| passage.start);
    if options.by_score {
        passages.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    let shown = passages.iter().map(|passage| show(text, passage, options));
    shown.filter(|fragment| !fragment.trim().is_empty()).collect()
}

/// Adds a passage to the best; of equal ones the later stays.
fn compete(
    passages: &mut Vec<Passage>,
    new: Option<Passage>,
    len: u32,
    most: usize,
    totals: &Map<u32, u32>,
) {
    let Some(mut passage) = new else { return };
    passage.score = score(&passage, len, totals);
    passages.push(passage);
    if passages.len() <= most {
        return;
    }
    let order = |a: &Passage, b: &Passage| a.score.total_cmp(&b.score).then(a.start.cmp(&b.start));
    let worst = (0..passages.len()).min_by(|a, b| order(&passages[*a], &passages[*b]));
    if let Some(worst) = worst {
        passages.swap_remove(worst);
    }
}

const K1: f32 = 1.2;
const B: f32 = 0.75;
/// Length of a usual passage.
const PIVOT: f32 = 87.0;

fn score(passage: &Passage, text_len: u32, totals: &Map<u32, u32>) -> f32 {
    let mut counts: Vec<(u32, u32)> = Vec::new();
    for found in &passage.matches {
        match counts.iter_mut().find(|(what, _)| *what == found.what) {
            Some((_, count)) => *count += 1,
            None => counts.push((found.what, 1)),
        }
    }
    let passage_len = (passage.end - passage.start) as f32;
    let passage_count = 1.0 + text_len as f32 / PIVOT;
    let weight = |what: u32| {
        let total = totals.get(&what).copied().unwrap_or(1) as f32;
        (K1 + 1.0) * (1.0 + (passage_count + 0.5) / (total + 0.5)).ln()
    };
    let norm = K1 * ((1.0 - B) + B * (passage_len / PIVOT));
    let share = |n: u32| n as f32 / (n as f32 + norm);
    let sum: f32 = counts.iter().map(|(what, n)| weight(*what) * share(*n)).sum();
    sum * (1.0 + 1.0 / (PIVOT + passage.start as f32).ln())
}

fn show(text: &[u16], passage: &Passage, options: &Options) -> String {
    let mut out = String::new();
    let piece = |from: u32, to: u32, out: &mut String| {
        let part = String::from_utf16_lossy(&text[from as usize..(to as usize).min(text.len())]);
        html::write(&part, options.html, out);
    };
    let pre = options.pre_tags.first().map_or("", String::as_str);
    let post = options.post_tags.first().map_or("", String::as_str);
    let mut at = passage.start;
    for found in &passage.matches {
        if found.start > at {
            piece(at, found.start, &mut out);
        }
        if found.end > at {
            out.push_str(pre);
            piece(at.max(found.start), found.end, &mut out);
            out.push_str(post);
            at = found.end;
        }
    }
    // A match may reach over the end of its sentence.
    if passage.end > at {
        piece(at, passage.end, &mut out);
    }
    out.trim_end_matches('\0').trim_matches(|c: char| c <= ' ').to_owned()
}

/// The beginning of the first value, up to the end of a word.
fn no_match(text: &[u16], options: &Options) -> Option<String> {
    if options.no_match_size == 0 {
        return None;
    }
    let start = text.iter().position(|unit| *unit != SEPARATOR)?;
    let end = text[start..].iter().position(|unit| *unit == SEPARATOR);
    let mut end = end.map_or(text.len(), |end| start + end);
    let wanted = start + options.no_match_size as usize;
    if wanted < end {
        let words = Breaks::words(&text[..end], SEPARATOR);
        end = words.following(wanted as u32).map_or(end, |found| found as usize);
    }
    let passage = Passage { start: start as u32, end: end as u32, score: 0.0, matches: Vec::new() };
    Some(show(text, &passage, options)).filter(|shown| !shown.is_empty())
}
