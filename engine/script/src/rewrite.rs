//! Java's patterns in the words of the engine: what both call alike stays, what they call otherwise is said in its
//! words, and what Java does not know is refused.

/// What stands for a class of Java's: outside of brackets, and inside.
fn class(letter: char, unicode: bool) -> Option<(&'static str, &'static str)> {
    Some(match letter {
        'w' | 'W' | 'd' | 'D' | 's' | 'S' if unicode => return None,
        'w' => ("[0-9A-Za-z_]", "0-9A-Za-z_"),
        'W' => ("[^0-9A-Za-z_]", "[^0-9A-Za-z_]"),
        'd' => ("[0-9]", "0-9"),
        'D' => ("[^0-9]", "[^0-9]"),
        's' => (r"[ \t\n\x0B\f\r]", r" \t\n\x0B\f\r"),
        'S' => (r"[^ \t\n\x0B\f\r]", r"[^ \t\n\x0B\f\r]"),
        'h' => (
            r"[ \t\u00A0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000]",
            r" \t\u00A0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
        ),
        'v' => (r"[\n\x0B\f\r\u0085\u2028\u2029]", r"\n\x0B\f\r\u0085\u2028\u2029"),
        'R' => (r"(?:\r\n|[\n\x0B\f\r\u0085\u2028\u2029])", ""),
        'Z' => (r"(?=\n?\z)", ""),
        'e' => (r"\x1b", r"\x1b"),
        _ => return None,
    })
}

/// What stands for a named class of Java's that the engine calls otherwise.
fn named(name: &str, unicode: bool) -> Option<&'static str> {
    Some(match name {
        "Lower" if !unicode => "a-z",
        "Upper" if !unicode => "A-Z",
        "ASCII" => r"\x00-\x7f",
        "Alpha" if !unicode => "A-Za-z",
        "Digit" if !unicode => "0-9",
        "Alnum" if !unicode => "0-9A-Za-z",
        "Punct" if !unicode => r##"!-/:-@\[-`{-~"##,
        "Graph" if !unicode => "!-~",
        "Print" if !unicode => " -~",
        "Blank" if !unicode => r" \t",
        "Cntrl" if !unicode => r"\x00-\x1f\x7f",
        "XDigit" if !unicode => "0-9A-Fa-f",
        "Space" if !unicode => r" \t\n\x0B\f\r",
        "javaLowerCase" | "Lower" => r"\p{Lowercase}",
        "javaUpperCase" | "Upper" => r"\p{Uppercase}",
        "javaWhitespace" | "Space" => r"\s",
        "javaLetter" => r"\p{L}",
        "javaDigit" | "Digit" => r"\p{Nd}",
        "javaLetterOrDigit" => r"\p{L}\p{Nd}",
        "javaAlphabetic" | "Alpha" => r"\p{Alphabetic}",
        "Alnum" => r"\p{Alphabetic}\p{Nd}",
        "Punct" => r"\p{P}",
        _ => return None,
    })
}

/// What a group of Java's may begin with, behind its `(`. The engine knows more: a pattern that calls itself is
/// written out by it until memory ends.
fn begins_group(behind: &str) -> std::result::Result<(), &'static str> {
    if behind.starts_with('*') {
        return Err("Dangling meta character '*'");
    }
    let Some(kind) = behind.strip_prefix('?') else { return Ok(()) };
    let named =
        |name: &str| name.starts_with(|c: char| c == '=' || c == '!' || c.is_ascii_alphabetic());
    let flags = kind.trim_start_matches(|c| "idmsuxU-".contains(c));
    let is_known = kind.starts_with([':', '=', '!', '>'])
        || kind.strip_prefix('<').is_some_and(named)
        || flags.len() < kind.len() && flags.starts_with([':', ')']);
    if is_known { Ok(()) } else { Err("Unknown inline modifier") }
}

/// What tells a group stands within so many characters: flags and a colon.
const GROUP_MAX: usize = 32;

/// Letters that mean something behind a backslash, to Java or to this.
const ESCAPES: &str = "AabBcdDeEfGhHknNpPQrRsStuvVwWxXzZ";

/// Rewrites Java's pattern for the engine.
///
/// # Errors
/// What is no pattern of Java's, where the engine would take it.
pub(crate) fn rewrite(pattern: &str, unicode: bool) -> std::result::Result<String, &'static str> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut depth = 0u32;
    // Just behind a `[` or `[^`: Java takes a `]` there as the end only after something.
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let Some(escaped) = chars.next() else {
                    out.push('\\');
                    break;
                };
                if escaped.is_ascii_alphabetic() && !ESCAPES.contains(escaped) {
                    return Err("Illegal/unsupported escape sequence");
                }
                escape(escaped, &mut chars, depth > 0, unicode, &mut out);
            }
            '(' if depth == 0 => {
                begins_group(&chars.clone().take(GROUP_MAX).collect::<String>())?;
                out.push('(');
            }
            '[' => {
                depth += 1;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    chars.next();
                    out.push('^');
                }
            }
            ']' if depth > 0 => {
                depth -= 1;
                out.push(']');
            }
            '&' if depth > 0 && chars.peek() == Some(&'&') => {
                chars.next();
                out.push_str("&&");
            }
            // Doubled signs mean set operations to the engine, and themselves to Java.
            '-' | '~' if depth > 0 && chars.peek() == Some(&c) => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

fn escape(
    escaped: char,
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    inside: bool,
    unicode: bool,
    out: &mut String,
) {
    if let Some((alone, among)) = class(escaped, unicode) {
        out.push_str(if inside { among } else { alone });
        return;
    }
    match escaped {
        'Q' => {
            let mut quoted = String::new();
            while let Some(c) = chars.next() {
                if c == '\\' && chars.peek() == Some(&'E') {
                    chars.next();
                    break;
                }
                quoted.push(c);
            }
            out.push_str(&fancy_regex::escape(&quoted));
        }
        'p' | 'P' => {
            let mut name = String::new();
            if chars.peek() == Some(&'{') {
                chars.next();
                name.extend(chars.by_ref().take_while(|c| *c != '}'));
            } else {
                name.extend(chars.next());
            }
            let negated = escaped == 'P';
            if let Some(set) = named(&name, unicode) {
                match (inside, negated) {
                    (true, false) => out.push_str(set),
                    (_, true) => out.extend(["[^", set, "]"]),
                    (false, false) => out.extend(["[", set, "]"]),
                }
                return;
            }
            // `IsLatin`, `IsAlphabetic`, `InGreek`, `script=Latin`, `L`.
            let bare = name.strip_prefix("Is").unwrap_or(&name);
            out.push('\\');
            out.push(escaped);
            out.extend(["{", bare, "}"]);
        }
        // Characters that need no escape: the engine knows fewer escaped ones than Java.
        c if !c.is_ascii_alphanumeric() && !c.is_ascii() => out.push(c),
        '/' | '"' | '\'' | '<' | '>' | '=' | '!' | '@' | '%' | ',' | ';' | ':' | '`' | '_' => {
            out.push(escaped);
        }
        c => {
            out.push('\\');
            out.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pattern::Pattern;

    /// Patterns that call themselves took two gigabytes to compile.
    #[test]
    fn what_java_does_not_know_is_refused() {
        for pattern in [
            "(?P>0)*a",
            "(?P<n>a)",
            "(?P=n)",
            "(?R)",
            "(?0)",
            "(?1)",
            "(?&n)",
            "(?(1)a|b)",
            "(?|a|b)",
            "(?#x)",
            r"(a)\g<1>",
            r"(a)\g1",
            r"a\Kb",
            r"\i",
            "(*FAIL)",
            "(?^i:a)",
        ] {
            assert!(Pattern::java(pattern, "").is_err(), "{pattern}");
        }
        for pattern in [
            "(?:a)",
            "(?=a)",
            "(?!a)",
            "(?>a)",
            "(?<=a)b",
            "(?<!a)b",
            r"(?<n1>a)\k<n1>",
            "(?i)a",
            "(?i-s:a)",
            "(?-i)a",
            "[(?P>0)]",
            r"\(?P",
            r"\Q(?P>0)\E",
            "(a)",
            "()",
        ] {
            assert!(Pattern::java(pattern, "").is_ok(), "{pattern}");
        }
    }
}
