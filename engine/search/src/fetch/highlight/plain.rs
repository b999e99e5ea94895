//! The plain highlighter: each value is cut into fragments of like length between tokens, and those
//! with most different words of the query win. As Lucene's `Highlighter` with its span fragmenter or the
//! simple one.

use super::find::{Match, Token};
use super::html;
use crate::highlight::Options;

struct Fragment {
    text: String,
    number: usize,
    words: Vec<u32>,
}

/// The fragments of all values: each with its tokens and where they match.
pub(super) fn fragments(
    values: &[(Vec<u16>, Vec<Token>, Vec<Match>)],
    options: &Options,
) -> Vec<String> {
    let most = if options.fragments == 0 { 1 } else { options.fragments as usize };
    let mut all: Vec<Fragment> = Vec::new();
    for (text, tokens, matches) in values {
        let mut best = cut(text, tokens, matches, options);
        best.sort_by(|a, b| b.words.len().cmp(&a.words.len()).then(a.number.cmp(&b.number)));
        best.truncate(most);
        best.retain(|fragment| !fragment.words.is_empty());
        all.extend(best);
    }
    if options.by_score {
        all.sort_by_key(|fragment| std::cmp::Reverse(fragment.words.len()));
    }
    if !(options.fragments == 0 && values.len() > 1) {
        all.truncate(most);
    }
    if all.is_empty() && options.no_match_size > 0 {
        return values
            .first()
            .and_then(|(text, tokens, _)| beginning(text, tokens, options))
            .into_iter()
            .collect();
    }
    all.into_iter().map(|fragment| fragment.text).collect()
}

fn cut(text: &[u16], tokens: &[Token], matches: &[Match], options: &Options) -> Vec<Fragment> {
    let pre = options.pre_tags.first().map_or("", String::as_str);
    let post = options.post_tags.first().map_or("", String::as_str);
    let size = options.fragment_size;
    let len = text.len() as u32;
    let mut done = Vec::new();
    let mut open = Fragment { text: String::new(), number: 0, words: Vec::new() };
    let piece = |from: u32, to: u32, out: &mut String| {
        if from < to {
            let part = String::from_utf16_lossy(&text[from as usize..to as usize]);
            html::write(&part, options.html, out);
        }
    };
    let (mut written, mut at) = (0, 0);
    // Matches stand by where they begin: those before this one end before the token.
    let mut behind = 0;
    // Fragments begun, the first counted.
    let mut begun = 1u32;
    while at < tokens.len() {
        // Tokens that overlap are marked together.
        let (start, mut end) = (tokens[at].start, tokens[at].end);
        let mut next = at + 1;
        while next < tokens.len() && tokens[next].start < end {
            end = end.max(tokens[next].end);
            next += 1;
        }
        if at > 0 && options.fragments > 0 {
            let stop = tokens[at].end;
            // The span fragmenter leaves no short rest, the simple one does.
            let is_left = options.simple_fragmenter || len.saturating_sub(stop) >= size / 2;
            if stop >= size.saturating_mul(begun) && is_left {
                begun += 1;
                let number = done.len() + 1;
                let new = Fragment { text: String::new(), number, words: Vec::new() };
                done.push(std::mem::replace(&mut open, new));
            }
        }
        piece(written, start, &mut open.text);
        behind += matches[behind..].iter().take_while(|found| found.end <= start).count();
        let begun_before = matches[behind..].iter().take_while(|found| found.start < end);
        let inside = begun_before.filter(|found| found.end > start);
        let mut hit: Option<(u32, u32)> = None;
        for found in inside {
            hit =
                Some(hit.map_or((found.start, found.end), |(a, b)| {
                    (a.min(found.start), b.max(found.end))
                }));
            if !open.words.contains(&found.what) {
                open.words.push(found.what);
            }
        }
        match hit {
            Some((a, b)) => {
                let (a, b) = (a.max(start), b.min(end));
                // Lucene marks what lies between the first and the last match of the group.
                piece(start, a, &mut open.text);
                open.text.push_str(pre);
                piece(a, b, &mut open.text);
                open.text.push_str(post);
                piece(b, end, &mut open.text);
            }
            None => piece(start.max(written), end, &mut open.text),
        }
        written = written.max(end);
        at = next;
    }
    piece(written, len, &mut open.text);
    done.push(open);
    done
}

/// The beginning of a value: as many whole tokens as fit; what stands behind the last that the analyzer left is none.
fn beginning(text: &[u16], tokens: &[Token], options: &Options) -> Option<String> {
    let limit = options.no_match_size;
    let end = tokens.iter().map(|token| token.end).take_while(|end| *end <= limit).last()?;
    let mut out = String::new();
    html::write(&String::from_utf16_lossy(&text[..end as usize]), options.html, &mut out);
    (!out.is_empty()).then_some(out)
}
