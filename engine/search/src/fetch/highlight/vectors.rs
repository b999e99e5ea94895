//! The fast vector highlighter: fragments of a fixed length around groups of matches. It asks for term
//! vectors in the mapping, as Elasticsearch does; the matches come from the text itself.

use super::find::{Match, NAMED};
use super::html;
use crate::highlight::{Boundary, Options};

/// Characters before the first match of a fragment, where a request does not say.
const MARGIN: u32 = 6;

struct Fragment {
    start: u32,
    end: u32,
    matches: Vec<Match>,
}

/// The fragments of a text, whose values are joined by blanks.
pub(super) fn fragments(
    text: &[u16],
    ends: &[u32],
    matches: &[Match],
    options: &Options,
) -> Vec<String> {
    let len = text.len() as u32;
    let mut found = Vec::new();
    if options.fragments == 0 {
        if !matches.is_empty() {
            found.push(Fragment { start: 0, end: len, matches: matches.to_vec() });
        }
    } else {
        found = windows(matches, options);
    }
    found = apart(found, ends);
    if options.by_score {
        let weight = |fragment: &Fragment| {
            let mut words: Vec<u32> = fragment.matches.iter().map(|found| found.what).collect();
            words.sort_unstable();
            words.dedup();
            fragment.matches.len() as f32 * words.len() as f32
        };
        found.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.start.cmp(&b.start)));
    }
    if options.fragments > 0 {
        found.truncate(options.fragments as usize);
    }
    found.iter().map(|fragment| show(text, fragment, options)).collect()
}

/// Fragments that go over the end of a value are cut there; of each part its matches stay.
fn apart(fragments: Vec<Fragment>, ends: &[u32]) -> Vec<Fragment> {
    let mut found = Vec::new();
    for fragment in fragments {
        let mut from = 0;
        for end in ends {
            let (start, stop) = (fragment.start.max(from), fragment.end.min(*end));
            let inside: Vec<Match> = fragment
                .matches
                .iter()
                .copied()
                .filter(|found| found.start >= start && found.end <= stop)
                .collect();
            if start < stop && !inside.is_empty() {
                found.push(Fragment { start, end: stop, matches: inside });
            }
            from = end + 1;
        }
    }
    found
}

fn windows(matches: &[Match], options: &Options) -> Vec<Fragment> {
    let size = options.fragment_size.max(18);
    let margin = options.fragment_offset.unwrap_or(MARGIN);
    let mut found = Vec::new();
    let (mut at, mut free) = (0, 0);
    while at < matches.len() {
        let first = matches[at];
        if first.start < free {
            at += 1;
            continue;
        }
        let start = first.start.saturating_sub(margin).max(free);
        let stop = first.end.max(start.saturating_add(size));
        let mut inside = Vec::new();
        let mut end = first.end;
        while let Some(next) = matches.get(at).filter(|next| next.end <= stop) {
            end = next.end;
            inside.push(*next);
            at += 1;
        }
        if inside.is_empty() {
            at += 1;
            continue;
        }
        let len = end - first.start;
        let around = size.saturating_sub(len) / 2;
        let start = first.start.saturating_sub(around).max(free);
        free = start + len.max(size);
        found.push(Fragment { start, end: free, matches: inside });
    }
    found
}

fn show(text: &[u16], fragment: &Fragment, options: &Options) -> String {
    let len = text.len();
    let scan = options.boundary_max_scan as usize;
    let chars: Vec<u16> = options.boundary_chars.encode_utf16().collect();
    let by_chars = matches!(options.boundary, None | Some(Boundary::Chars));
    let ends = |unit: u16| by_chars && chars.contains(&unit);
    let mut start = (fragment.start as usize).min(len);
    if options.fragments > 0 && start > 0 {
        let low = start.saturating_sub(scan);
        if let Some(at) = (low..start).rev().find(|at| ends(text[*at])) {
            start = at + 1;
        } else if start <= scan {
            start = 0;
        }
    }
    let mut end = (fragment.end as usize).min(len);
    if options.fragments > 0 && end < len {
        let high = (end + scan).min(len);
        if let Some(at) = (end..high).find(|at| ends(text[*at])) {
            end = at;
        }
    }
    let mut out = String::new();
    let piece = |from: usize, to: usize, out: &mut String| {
        if from < to {
            html::write(&String::from_utf16_lossy(&text[from..to]), options.html, out);
        }
    };
    // Each word of the query has the tags of its number.
    let mut words: Vec<u32> = Vec::new();
    let mut at = start;
    for found in &fragment.matches {
        let (from, to) = (found.start as usize, (found.end as usize).min(end));
        if from < at {
            continue;
        }
        let number = if found.what < NAMED {
            found.what as usize
        } else {
            words.iter().position(|known| *known == found.what).unwrap_or_else(|| {
                words.push(found.what);
                words.len() - 1
            })
        };
        let tag = |tags: &[String]| match tags.len() {
            0 => String::new(),
            count => tags[number % count].clone(),
        };
        piece(at, from, &mut out);
        out.push_str(&tag(&options.pre_tags));
        piece(from, to, &mut out);
        out.push_str(&tag(&options.post_tags));
        at = to;
    }
    piece(at, end, &mut out);
    out
}
