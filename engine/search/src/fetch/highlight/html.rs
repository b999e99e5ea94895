//! Text as HTML, where a request wants it.

/// Writes `text`, its signs that mean something to HTML escaped if `html`.
pub(super) fn write(text: &str, html: bool, out: &mut String) {
    if !html {
        out.push_str(text);
        return;
    }
    for c in text.chars() {
        match c {
            '"' => out.push_str("&quot;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#x27;"),
            '/' => out.push_str("&#x2F;"),
            c => out.push(c),
        }
    }
}
