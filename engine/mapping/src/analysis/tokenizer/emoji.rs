//! Emoji sequences of the standard tokenizer: UTS #51, in Lucene's form.
//!
//! A sequence is a flag (two regional indicators), a keycap (`[0-9#*]`, U+20E3, perhaps U+FE0F
//! between), or elements with joiners between them. An element is a pictograph with what extends
//! it and perhaps U+FE0F, or a skin tone; the first one may carry tags instead of joined ones.

use super::classes;
use super::{Scan, extends, extends_sans_style};

/// The end of the longest emoji sequence at the beginning of `scan`.
pub(super) fn sequence<'t>(scan: Scan<'t>) -> Option<Scan<'t>> {
    match scan.peek()? {
        (classes::REGIONAL, _) => flag(scan),
        (classes::KEYCAP_BASE, c) => keycap(scan, c),
        (classes::DIGIT, c) => c.is_ascii_digit().then(|| keycap(scan, c))?,
        _ => joined(scan),
    }
}

fn flag<'t>(mut scan: Scan<'t>) -> Option<Scan<'t>> {
    for _ in 0..2 {
        let (class, c) = scan.peek()?;
        if class != classes::REGIONAL {
            return None;
        }
        scan.pass(c);
        scan.pass_while(extends);
    }
    Some(scan)
}

fn keycap<'t>(mut scan: Scan<'t>, base: char) -> Option<Scan<'t>> {
    scan.pass(base);
    // The keycap itself extends, too: it may lie anywhere in the run.
    let mut capped = false;
    while let Some((class, c)) = scan.peek() {
        if !extends_sans_style(class) {
            break;
        }
        capped |= class == classes::KEYCAP;
        scan.pass(c);
    }
    let mut styled = scan;
    if let Some((classes::EMOJI_STYLE, c)) = styled.peek() {
        styled.pass(c);
        if styled.class() == classes::KEYCAP {
            styled.pass_while(extends_sans_style);
            return Some(styled);
        }
    }
    capped.then_some(scan)
}

fn joined<'t>(mut scan: Scan<'t>) -> Option<Scan<'t>> {
    let (mut best, mut first) = (None, true);
    loop {
        let mut after_joiner = false;
        while let Some((classes::JOINER, c)) = scan.peek() {
            scan.pass(c);
            after_joiner = true;
        }
        let tone = match scan.peek() {
            Some((classes::PICTOGRAPH | classes::LETTER_PICTOGRAPH, c)) => {
                scan.pass(c);
                false
            }
            Some((classes::MODIFIER, c)) if !after_joiner => {
                scan.pass(c);
                true
            }
            _ => return best,
        };
        let mut ends_in_joiner = false;
        while let Some((class, c)) = scan.peek() {
            if !extends_sans_style(class) {
                break;
            }
            ends_in_joiner = class == classes::JOINER;
            scan.pass(c);
        }
        best = Some(scan);
        match scan.peek() {
            Some((classes::EMOJI_STYLE, c)) if !tone => {
                scan.pass(c);
                best = Some(scan);
                if first && let Some(end) = tags(scan) {
                    return Some(end);
                }
                let Some((classes::JOINER, c)) = scan.peek() else { return best };
                scan.pass(c);
            }
            Some((classes::PICTOGRAPH | classes::LETTER_PICTOGRAPH, _)) if ends_in_joiner => {}
            _ => return best,
        }
        first = false;
    }
}

/// The end of a run of tag characters with its terminator.
fn tags<'t>(mut scan: Scan<'t>) -> Option<Scan<'t>> {
    let mut any = false;
    loop {
        let (_, c) = scan.peek()?;
        match c {
            '\u{E0020}'..='\u{E007E}' => any = true,
            '\u{E007F}' if any => {
                scan.pass(c);
                return Some(scan);
            }
            _ => return None,
        }
        scan.pass(c);
    }
}
