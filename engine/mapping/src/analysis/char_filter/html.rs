//! `html_strip`: tags, comments and scripts go, entities become what they stand for.
//!
//! A tag of a block becomes a line break, one within a line nothing. What looks like a tag but is
//! not well formed stays as it is.

use std::ops::ControlFlow;

use base::hash::Set;

use super::entities::{LONGEST, named};
use super::{Filtered, Writing};
use crate::analysis::room::Room;

/// Elements within a line: their tags leave nothing behind.
const INLINE: [&str; 31] = [
    "a", "abbr", "acronym", "b", "basefont", "bdo", "big", "cite", "code", "dfn", "em", "font",
    "i", "img", "input", "kbd", "label", "q", "s", "samp", "select", "small", "span", "strike",
    "strong", "sub", "sup", "textarea", "tt", "u", "var",
];

/// The filter.
#[derive(Clone, Debug, Default)]
pub struct HtmlStrip {
    /// Elements whose tags stay.
    kept: Set<String>,
}

impl HtmlStrip {
    /// Tags of the elements named stay.
    pub fn new(escaped_tags: impl IntoIterator<Item = String>) -> Self {
        Self { kept: escaped_tags.into_iter().map(|tag| tag.to_lowercase()).collect() }
    }

    pub(super) fn apply(&self, text: &str, room: &Room) -> ControlFlow<(), Filtered> {
        self.strip(&mut Find::of(text), room)
    }

    fn strip(&self, find: &mut Find<'_>, room: &Room) -> ControlFlow<(), Filtered> {
        let text = find.text;
        let mut out = Writing::new(room);
        let (mut at, mut kept) = (0, 0);
        let mut verbatim = false;
        while let Some(found) = text[at..].find(['<', '&', ']']) {
            let start = at + found;
            let rest = &text[start..];
            let read = if rest.starts_with('&') {
                entity(rest)
            } else if rest.starts_with(']') && !(verbatim && rest.starts_with("]]>")) {
                None
            } else {
                verbatim = rest.starts_with("<![CDATA[");
                self.markup(text, start, find)
            };
            let Some((len, with)) = read else {
                at = start + 1;
                continue;
            };
            out.keep(&text[kept..start])?;
            let mut buffer = [0; 4];
            let with = with.map_or("", |c| c.encode_utf8(&mut buffer));
            out.replace(&text[start..start + len], with)?;
            at = start + len;
            kept = at;
        }
        out.keep(&text[kept..])?;
        ControlFlow::Continue(out.done)
    }

    /// The markup at `start`: its length, and what stands for it.
    fn markup(
        &self,
        text: &str,
        start: usize,
        find: &mut Find<'_>,
    ) -> Option<(usize, Option<char>)> {
        let rest = &text[start..];
        if let Some(body) = rest.strip_prefix("<!--") {
            let end = find.after(text.len() - body.len(), "-->")?;
            return Some((end - start, None));
        }
        if rest.starts_with("<![CDATA[") || rest.starts_with("]]>") {
            return Some((if rest.starts_with('<') { 9 } else { 3 }, None));
        }
        if rest.starts_with("<!") || rest.starts_with("<?") {
            let letter = rest[2..].chars().next()?;
            if !letter.is_ascii_alphabetic() {
                return None;
            }
            let end = find.after(start + 2, ">")?;
            return Some((end - start, None));
        }
        let (name, end) = tag(text, start, find)?;
        let name = name.to_ascii_lowercase();
        if self.kept.contains(&name) {
            return None;
        }
        if matches!(name.as_str(), "script" | "style") && !rest.starts_with("</") {
            let close = if name == "script" { "</script" } else { "</style" };
            let end =
                find.after(end, close).and_then(|closed| find.after(closed, ">")).unwrap_or(end);
            return Some((end - start, Some('\n')));
        }
        let inline = INLINE.contains(&name.as_str()) || !text[..end].ends_with('>');
        Some((end - start, (!inline).then_some('\n')))
    }
}

/// Searches of one text. What was not found once is not looked for again, and what was found is found at once
/// from wherever it is still the next.
struct Find<'t> {
    text: &'t str,
    /// What is not there, from some place on.
    missing: Vec<(&'static str, usize)>,
    /// What was found last: from where, and where.
    found: Vec<(&'static str, usize, usize)>,
    /// Places that were looked at.
    #[cfg(test)]
    looked: usize,
}

impl<'t> Find<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            missing: Vec::new(),
            found: Vec::new(),
            #[cfg(test)]
            looked: 0,
        }
    }

    /// The place behind the first `what` from `from` on, letters of either case alike.
    fn after(&mut self, from: usize, what: &'static str) -> Option<usize> {
        if self.missing.iter().any(|(known, since)| *known == what && *since <= from) {
            return None;
        }
        let known = self.found.iter().find(|(known, ..)| *known == what);
        if let Some((_, since, at)) = known
            && (*since..=*at).contains(&from)
        {
            return Some(at + what.len());
        }
        let bytes = self.text.as_bytes().get(from..)?;
        let at =
            bytes.windows(what.len()).position(|seen| seen.eq_ignore_ascii_case(what.as_bytes()));
        #[cfg(test)]
        {
            self.looked += at.unwrap_or(bytes.len());
        }
        let Some(at) = at.map(|at| from + at) else {
            self.missing.retain(|(known, _)| *known != what);
            self.missing.push((what, from));
            return None;
        };
        self.found.retain(|(known, ..)| *known != what);
        self.found.push((what, from, at));
        Some(at + what.len())
    }
}

/// The tag at `start`: its name, and the place behind it.
fn tag<'t>(text: &'t str, start: usize, find: &mut Find<'_>) -> Option<(&'t str, usize)> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    let closing = bytes.get(at) == Some(&b'/');
    at += usize::from(closing);
    let name_start = at;
    let first = text[at..].chars().next()?;
    if !(first.is_alphabetic() || matches!(first, '_' | ':')) {
        return None;
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.' | '\u{b7}');
    at += text[at..].find(|c| !is_name(c)).unwrap_or(text.len() - at);
    let name = &text[name_start..at];
    if at == text.len() {
        return Some((name, at));
    }
    loop {
        at += text[at..].find(|c: char| !c.is_whitespace()).unwrap_or(text.len() - at);
        match bytes.get(at)? {
            b'>' => return Some((name, at + 1)),
            b'/' => at += 1,
            b'"' => at = find.after(at + 1, "\"")?,
            b'\'' => at = find.after(at + 1, "'")?,
            b'<' => return None,
            b'=' => at += 1,
            _ => {
                let stops =
                    |c: char| c.is_whitespace() || matches!(c, '>' | '<' | '"' | '\'' | '=');
                at += text[at..].find(stops).unwrap_or(text.len() - at).max(1);
            }
        }
    }
}

/// The entity at the beginning of `text`: its length, and what it stands for.
fn entity(text: &str) -> Option<(usize, Option<char>)> {
    let body = &text[1..];
    if let Some(number) = body.strip_prefix('#') {
        let (radix, digits) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (16, digits),
            None => (10, number),
        };
        let len = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        let code = u32::from_str_radix(digits.get(..len.min(8))?, radix).ok()?;
        let c = char::from_u32(code)?;
        let end = text.len() - digits.len() + len;
        return Some((ended(text, end)?, Some(c)));
    }
    let letters = body.bytes().take(LONGEST).take_while(u8::is_ascii_alphanumeric).count();
    let len = (2..=letters).rev().find(|len| named(&body[..*len]).is_some())?;
    let c = named(&body[..len])?;
    Some((ended(text, 1 + len)?, Some(c)))
}

/// Where an entity ends: behind its semicolon, or with the text.
fn ended(text: &str, end: usize) -> Option<usize> {
    let rest = &text[end..];
    (rest.is_empty() || rest.starts_with(';')).then(|| end + rest.len().min(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_and_offsets_lead_back() {
        let strip = HtmlStrip::new(["i".to_owned()]);
        let apply = |text: &str| match strip.apply(text, &Room::default()) {
            ControlFlow::Continue(done) => done,
            ControlFlow::Break(()) => panic!("there is room"),
        };
        for (text, want) in [
            ("<p>so <b>happy</b></p>", "\nso happy\n"),
            ("a<i>b</i>", "a<i>b</i>"),
            ("1 < 2 && x<y z", "1 < 2 && x<y z"),
            ("caf&eacute; &#65;&#x42; &amp;amp &nope; &lt x &gt", "café AB &amp &nope; &lt x >"),
            ("<![CDATA[ cd ]]> ]]> <?php x ?> <!DOCTYPE html> t", " cd  ]]>   t"),
            ("x<!-- c > -->y<script a='>'>if (a<b)</SCRIPT>z", "xy\nz"),
            ("<img src=\"a>b\">x<br/>y", "x\ny"),
            ("<a b=\"<a b='", "<a b=\"<a b='"),
        ] {
            assert_eq!(apply(text).text, want, "{text}");
        }
        let done = apply("<b>Café</b> the");
        assert_eq!(done.text, "Café the");
        assert_eq!((done.offsets.correct(0), done.offsets.correct(4)), (3, 11));
        assert_eq!(done.offsets.correct(5), 12);
    }

    /// Each tag was looked for the end of its script from anew, which was far behind, and led nowhere.
    #[test]
    fn what_is_looked_at_grows_with_the_text_and_no_more() {
        let strip = HtmlStrip::new(["i".to_owned()]);
        for (part, end) in [
            ("<script>", "</script"),
            ("<script><!a", "</script"),
            ("<STYLE a='b'>", "</style "),
            ("<script>", ""),
            ("'<a \"'", ""),
            ("<a '<i \"", "'>"),
            ("<i '\"<a \"'", ">"),
            ("<!-- ", "-- >"),
            ("<!a ", "</script>"),
            ("&#", ""),
        ] {
            let text = format!("{}{end}", part.repeat(20_000));
            let mut find = Find::of(&text);
            assert!(strip.strip(&mut find, &Room::default()).is_continue());
            assert!(find.looked <= 8 * text.len(), "{part}: {} of {}", find.looked, text.len());
        }
    }
}
