//! Where a text may be cut: sentences and words, as Java's `BreakIterator` finds them for the root
//! locale. Places are indexes into a text of UTF-16 units, which offsets of tokens count in.
//!
//! Not Unicode's rules: a line break ends no sentence, a full stop only before blanks and a letter that is not small,
//! or stands behind a sign.

/// The ends of pieces, rising; the last is the length of the text.
#[derive(Debug, Default)]
pub(super) struct Breaks {
    ends: Vec<u32>,
}

impl Breaks {
    /// Pieces between separators, which end each value of a field.
    pub fn values(text: &[u16], separator: u16) -> Self {
        let mut ends: Vec<u32> = text
            .iter()
            .enumerate()
            .filter(|(_, unit)| **unit == separator)
            .map(|(at, _)| at as u32 + 1)
            .collect();
        if ends.last() != Some(&(text.len() as u32)) {
            ends.push(text.len() as u32);
        }
        Self { ends }
    }

    /// Sentences, none of which goes over a separator.
    pub fn sentences(text: &[u16], separator: u16) -> Self {
        Self::within(text, separator, sentence_end)
    }

    /// Words and what stands between them.
    pub fn words(text: &[u16], separator: u16) -> Self {
        Self::within(text, separator, word_end)
    }

    fn within(text: &[u16], separator: u16, end_of: fn(&[u16], usize) -> usize) -> Self {
        let mut ends = Vec::new();
        let mut start = 0;
        for end in Self::values(text, separator).ends {
            let value = &text[..end as usize];
            while start < value.len() {
                start = end_of(value, start).max(start + 1).min(value.len());
                ends.push(start as u32);
            }
        }
        Self { ends }
    }

    /// The greatest break below `at`.
    pub fn preceding(&self, at: u32) -> u32 {
        let known = self.ends.partition_point(|end| *end < at);
        known.checked_sub(1).map_or(0, |known| self.ends[known])
    }

    /// The least break above `at`, or none.
    pub fn following(&self, at: u32) -> Option<u32> {
        self.ends.get(self.ends.partition_point(|end| *end <= at)).copied()
    }
}

fn char_at(text: &[u16], at: usize) -> Option<char> {
    let units = text.get(at..)?.iter().take(2).copied();
    char::decode_utf16(units).next()?.ok().or(Some('\u{fffd}'))
}

fn is_space(c: char) -> bool {
    matches!(c, '\t' | '\r' | '\u{c}' | '\n' | '\u{2028}') || (c.is_whitespace() && c != '\u{2029}')
}

fn is_closing(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '\'' | '"' | '\u{2019}' | '\u{201d}' | '\u{bb}' | '\u{203a}')
        || matches!(c, '\u{300d}' | '\u{300f}' | '\u{3011}' | '\u{ff09}' | '\u{ff3d}' | '\u{ff5d}')
}

/// The end of the sentence that begins at `start`.
fn sentence_end(text: &[u16], start: usize) -> usize {
    let mut at = start;
    while let Some(c) = char_at(text, at) {
        at += c.len_utf16();
        match c {
            '\u{2029}' => return at,
            '!' | '?' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}' => {
                return after_term(text, at);
            }
            '.' | '\u{ff0e}' => {
                let mut end = at;
                let mut sure = false;
                while let Some(c) = char_at(text, end) {
                    match c {
                        '.' | '\u{ff0e}' => {}
                        '!' | '?' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}' => sure = true,
                        _ => break,
                    }
                    end += c.len_utf16();
                }
                if sure {
                    return after_term(text, end);
                }
                let closed = skip(text, end, is_closing);
                let spaced = skip(text, closed, is_space);
                if spaced >= text.len() {
                    return text.len();
                }
                if char_at(text, spaced) == Some('\u{2029}') {
                    return spaced + 1;
                }
                if spaced > closed && begins_sentence(text, spaced) {
                    return spaced;
                }
                at = end;
            }
            _ => {}
        }
    }
    text.len()
}

/// Whether a full stop and blanks before `at` ended a sentence: a letter follows that is not small, or any letter
/// behind signs. No number, no blank and no further mark begins one.
fn begins_sentence(text: &[u16], at: usize) -> bool {
    let is_sign = |c: char| {
        !c.is_alphanumeric()
            && !is_space(c)
            && !is_mark(c)
            && !matches!(
                c,
                '!' | ','
                    | '.'
                    | '?'
                    | '\u{2029}'
                    | '\u{3002}'
                    | '\u{ff01}'
                    | '\u{ff0e}'
                    | '\u{ff1f}'
            )
            && (!is_closing(c) || matches!(c, '\'' | '"'))
    };
    let letter = skip(text, at, is_sign);
    char_at(text, letter)
        .is_some_and(|c| c.is_alphabetic() && !c.is_numeric() && (letter > at || !c.is_lowercase()))
}

/// Behind a mark that ends sentences: further marks, what closes, and blanks.
fn after_term(text: &[u16], at: usize) -> usize {
    let marks =
        |c: char| matches!(c, '!' | '?' | '.' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{ff0e}');
    let at = skip(text, at, marks);
    let at = skip(text, at, is_closing);
    let at = skip(text, at, is_space);
    if char_at(text, at) == Some('\u{2029}') { at + 1 } else { at }
}

fn skip(text: &[u16], mut at: usize, belongs: impl Fn(char) -> bool) -> usize {
    while let Some(c) = char_at(text, at).filter(|c| belongs(*c)) {
        at += c.len_utf16();
    }
    at
}

/// The end of the word, or of what stands between words, that begins at `start`.
fn word_end(text: &[u16], start: usize) -> usize {
    let Some(first) = char_at(text, start) else { return text.len() };
    let belongs = |c: char| c.is_alphanumeric() || c == '_' || is_mark(c);
    let mut at = start + first.len_utf16();
    if !belongs(first) {
        // Blanks stand together, other signs alone.
        return if is_space(first) && first != '\n' && first != '\r' {
            skip(text, at, |c| is_space(c) && c != '\n' && c != '\r')
        } else {
            at
        };
    }
    let mut last = first;
    while let Some(c) = char_at(text, at) {
        if belongs(c) {
            last = c;
            at += c.len_utf16();
            continue;
        }
        let next = char_at(text, at + c.len_utf16());
        let joins = match c {
            '\'' | '\u{2019}' | '.' | '\u{b7}' | '-' | '\u{ad}' => {
                let both = |is: fn(char) -> bool| is(last) && next.is_some_and(is);
                both(char::is_alphabetic) || (c == '.' && both(char::is_numeric))
            }
            ',' => last.is_numeric() && next.is_some_and(char::is_numeric),
            _ => false,
        };
        if !joins {
            break;
        }
        at += c.len_utf16();
    }
    at
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{64b}'..='\u{65f}')
}

/// Sentences of which each passage is as near to a length as it can be.
pub(super) struct Bounded<'b> {
    sentences: &'b Breaks,
    words: &'b Breaks,
    /// Ends of the values, which no passage goes over.
    values: &'b Breaks,
    len_max: u32,
    text_len: u32,
    window: Option<(u32, u32)>,
    inner: (u32, u32),
}

impl<'b> Bounded<'b> {
    pub fn new(
        sentences: &'b Breaks,
        words: &'b Breaks,
        values: &'b Breaks,
        len_max: u32,
        text_len: u32,
    ) -> Self {
        Self { sentences, words, values, len_max, text_len, window: None, inner: (0, 0) }
    }

    /// The passage of a match that begins at `start`; matches come in order.
    pub fn around(&mut self, start: u32) -> (u32, u32) {
        let at = start + 1;
        let len_max = self.len_max;
        let end = match self.window {
            Some((from, end)) if at > from && at < end => {
                self.inner = (self.inner.1, end);
                end
            }
            _ => {
                let from = self.sentences.preceding(at);
                let mut end = self.sentences.following(start).unwrap_or(self.text_len);
                let value_end = self.values.following(start).unwrap_or(self.text_len);
                while end - from < len_max {
                    match self.sentences.following(end) {
                        Some(next) if next - from <= len_max && next <= value_end => end = next,
                        _ => break,
                    }
                }
                self.window = Some((from, end));
                self.inner = (from, end);
                end
            }
        };
        let (mut from, mut to) = self.inner;
        if to - from > len_max {
            // Too long: as far to the left of the match as may be, then to the right.
            if at > from + len_max {
                from = from.max(self.words.preceding(at - len_max));
            }
            let left = len_max.saturating_sub(at - from);
            if at + left < end {
                to = end.min(self.words.following(at + left).unwrap_or(self.text_len));
            }
        }
        self.inner = (from, to);
        (from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, breaks: impl Fn(&[u16], u16) -> Breaks) -> Vec<String> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut start = 0;
        let ends = breaks(&units, 0).ends;
        let cut = ends.iter().map(|end| {
            let piece = String::from_utf16_lossy(&units[start..*end as usize]);
            start = *end as usize;
            piece
        });
        cut.collect()
    }

    #[test]
    fn sentences_end_as_java_ends_them() {
        assert_eq!(
            pieces("One. Two e.g. three! \"Four?\" Five.six Mr. x\nNext. 7 up", Breaks::sentences),
            ["One. ", "Two e.g. three! ", "\"Four?\" ", "Five.six Mr. x\nNext. 7 up"]
        );
        let text = "Met in the U.S.A. 3 times. (see) $5 a. -b c. \"Quote\" d. [ e";
        let want = ["Met in the U.S.A. 3 times. ", "(see) $5 a. ", "-b c. ", "\"Quote\" d. [ e"];
        assert_eq!(pieces(text, Breaks::sentences), want);
        assert_eq!(pieces("a b\0c. d", Breaks::sentences), ["a b\0", "c. d"]);
    }

    #[test]
    fn words_and_blanks_alternate() {
        assert_eq!(
            pieces("It's 3.14,  ok-ay", Breaks::words),
            ["It's", " ", "3.14", ",", "  ", "ok-ay"]
        );
    }
}
