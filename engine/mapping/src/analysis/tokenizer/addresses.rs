//! Mail addresses and URLs in a text: what the words of `uax_url_email` are but for, in time linear in the text.
//!
//! A URL begins with `http`, `https`, `ftp` or `file`, or is a host whose last part is a country's or one
//! of the oldest domains, with what follows it. Lucene knows every domain of a certain day instead.
//!
//! Always true
//! 1. At each place a mail address is looked for, then a URL with a scheme, then a bare host.
//! 2. What led nowhere from some place leads nowhere from within it, and is not looked at again: a chain of words
//!    and dots ends at the same place wherever one begins in it.

/// Last parts of hosts beside those of two letters.
const DOMAINS: [&str; 32] = [
    "com",
    "org",
    "net",
    "edu",
    "gov",
    "mil",
    "int",
    "info",
    "biz",
    "name",
    "pro",
    "aero",
    "coop",
    "museum",
    "jobs",
    "mobi",
    "travel",
    "cat",
    "tel",
    "asia",
    "post",
    "xxx",
    "arpa",
    "local",
    "localhost",
    "app",
    "dev",
    "blog",
    "shop",
    "site",
    "online",
    "cloud",
];

/// What was found, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// A mail address, or else a URL.
    pub is_mail: bool,
}

/// Finds addresses, one after the other.
pub(super) struct Addresses<'t> {
    text: &'t [u8],
    at: usize,
    /// Nothing before it begins a mail address.
    no_mail: usize,
    /// Nothing before it begins a bare host.
    no_host: usize,
    /// Bytes that were looked at.
    #[cfg(test)]
    looked: usize,
}

impl<'t> Addresses<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
            no_mail: 0,
            no_host: 0,
            #[cfg(test)]
            looked: 0,
        }
    }

    /// The byte at a place.
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// Where the bytes that belong end, from a place on.
    fn run(&mut self, from: usize, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        let len = rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len());
        #[cfg(test)]
        {
            self.looked += len + 1;
        }
        from + len
    }

    /// The end of a mail address that begins at `from`.
    fn mail(&mut self, from: usize) -> Option<usize> {
        if from < self.no_mail || !self.byte(from).is_some_and(is_local) {
            return None;
        }
        let mut at = self.run(from, is_local);
        while self.byte(at) == Some(b'.') && self.byte(at + 1).is_some_and(is_local) {
            at = self.run(at + 1, is_local);
        }
        let end = (self.byte(at) == Some(b'@')).then(|| self.mail_host(at + 1)).flatten();
        if end.is_none() {
            self.no_mail = at;
        }
        end
    }

    /// The end of a mail address's host: parts with a dot each, and at least two letters.
    fn mail_host(&mut self, from: usize) -> Option<usize> {
        let (mut at, mut end) = (from, None);
        loop {
            let letters = self.run(at, |byte| byte.is_ascii_alphabetic());
            if at > from && letters >= at + 2 {
                end = Some(letters);
            }
            match self.label_and_dot(at) {
                Ok(next) => at = next,
                Err(_) => return end,
            }
        }
    }

    /// The place behind a part of a host and its dot; where the part ends that is none.
    fn label_and_dot(&mut self, from: usize) -> Result<usize, usize> {
        let end = self.run(from, is_label);
        let is_one = end > from && self.text[from] != b'-' && self.text[end - 1] != b'-';
        if is_one && self.byte(end) == Some(b'.') { Ok(end + 1) } else { Err(end) }
    }

    /// The end of the longest part of a host.
    fn label(&mut self, from: usize) -> Option<usize> {
        let end = self.run(from, is_label);
        let len = self.text[from.min(end)..end].iter().rposition(|byte| *byte != b'-')? + 1;
        (self.text[from] != b'-').then_some(from + len)
    }

    /// The end of a URL with a scheme.
    fn url(&mut self, from: usize) -> Option<usize> {
        const SCHEMES: [&[u8]; 4] = [b"https://", b"http://", b"file://", b"ftp://"];
        let rest = &self.text[from..];
        let begins = |scheme: &&&[u8]| {
            rest.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme))
        };
        let host = from + SCHEMES.iter().find(begins)?.len();
        let end = self.behind_user(host).and_then(|host| self.host(host));
        let end = match end {
            Some(end) => end,
            None => self.host(host)?,
        };
        Some(self.tail(end))
    }

    /// The place behind a user's name and password.
    fn behind_user(&mut self, from: usize) -> Option<usize> {
        let is_name =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'-');
        let mut at = self.run(from, is_name);
        if at == from {
            return None;
        }
        if self.byte(at) == Some(b':') {
            let ends = |byte| matches!(byte, b'@' | b'/' | b' ' | b'\t'..=b'\r');
            at = self.run(at + 1, |byte| !ends(byte));
        }
        (self.byte(at) == Some(b'@')).then_some(at + 1)
    }

    /// The end of a host's parts.
    fn host(&mut self, from: usize) -> Option<usize> {
        let mut end = self.label(from)?;
        while self.byte(end) == Some(b'.') {
            let Some(next) = self.label(end + 1) else { break };
            end = next;
        }
        Some(end)
    }

    /// The end of what may follow a host: a port, a path, a query and a fragment.
    fn tail(&mut self, from: usize) -> usize {
        let mut at = from;
        if self.byte(at) == Some(b':') {
            let end = self.run(at + 1, |byte| byte.is_ascii_digit());
            if end > at + 1 {
                at = end;
            }
        }
        if self.byte(at) == Some(b'/') {
            at = self.run(at + 1, is_path);
        }
        for begin in [b'?', b'#'] {
            if self.byte(at) == Some(begin) {
                at = self.run(at + 1, |byte| is_path(byte) || byte == b'?');
            }
        }
        at
    }

    /// The end of a bare host, and of what follows it.
    fn bare(&mut self, from: usize) -> Option<usize> {
        if from < self.no_host || !self.byte(from).is_some_and(|byte| byte.is_ascii_alphanumeric())
        {
            return None;
        }
        let (mut at, mut end) = (from, None);
        let last = loop {
            let word = self.run(at, |byte| byte.is_ascii_alphanumeric());
            if at > from && self.is_domain(at, word) {
                end = Some(word);
            }
            match self.label_and_dot(at) {
                Ok(next) => at = next,
                Err(last) => break last,
            }
        };
        match end {
            Some(end) => Some(self.tail(end)),
            None => {
                // Behind a hyphen that begins no part, one may begin that is good.
                self.no_host = if self.byte(at) == Some(b'-') { at + 1 } else { last };
                None
            }
        }
    }

    /// Is this the last part of a host, with no part of a word or of an address behind it?
    fn is_domain(&self, from: usize, to: usize) -> bool {
        let word = &self.text[from..to];
        let is_country = word.len() == 2 && word.iter().all(u8::is_ascii_alphabetic);
        let is_known = || DOMAINS.iter().any(|known| known.as_bytes() == word);
        !matches!(self.byte(to), Some(b'@' | b'-')) && (is_country || is_known())
    }
}

impl Iterator for Addresses<'_> {
    type Item = Address;

    fn next(&mut self) -> Option<Address> {
        while self.at < self.text.len() {
            let start = self.at;
            let mail = self.mail(start);
            let end = mail.or_else(|| self.url(start)).or_else(|| self.bare(start));
            let Some(end) = end else {
                self.at += 1;
                continue;
            };
            self.at = end;
            return Some(Address { start, end, is_mail: mail.is_some() });
        }
        None
    }
}

/// May it stand in what is before the `@`?
fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+/=?^_`{|}~-".contains(&byte)
}

/// May it stand within a part of a host?
fn is_label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// May it stand in a path?
fn is_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"$_.+!*'(),;:@&=~%/-".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::regex::Pattern;

    /// The same as one pattern, mail addresses in its first group: clear, and slow.
    fn pattern() -> Pattern {
        let label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
        let domain = "(?:[A-Za-z]{2}|com|org|net|edu|gov|mil|int|info|biz|name|pro|aero|coop|museum|jobs|mobi|travel|cat|tel|asia|post|xxx|arpa|local|localhost|app|dev|blog|shop|site|online|cloud)";
        let tail = "(?::[0-9]+)?(?:/[A-Za-z0-9$_.+!*'(),;:@&=~%/-]*)?(?:\\?[A-Za-z0-9$_.+!*'(),;:@&=~%/?-]*)?(?:#[A-Za-z0-9$_.+!*'(),;:@&=~%/?-]*)?";
        let mail = format!(
            "[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~-]+(?:\\.[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~-]+)*@(?:{label}\\.)+[A-Za-z]{{2,}}"
        );
        let scheme = format!(
            "(?:[hH][tT][tT][pP][sS]?|[fF][tT][pP]|[fF][iI][lL][eE])://(?:[A-Za-z0-9._%-]+(?::[^@/\\s]*)?@)?(?:{label})(?:\\.{label})*{tail}"
        );
        let bare = format!("(?:{label}\\.)+{domain}(?![A-Za-z0-9@-]){tail}");
        crate::analysis::regex::pattern(&format!("({mail})|((?:{scheme})|(?:{bare}))"), "")
            .expect("a pattern")
    }

    #[test]
    fn addresses_are_those_that_a_pattern_finds() {
        let pattern = pattern();
        let parts = [
            "a",
            "b1",
            "com",
            "de",
            "co",
            "x",
            "Z",
            "9",
            ".",
            ".",
            ".",
            "@",
            "-",
            "/",
            ":",
            "?",
            "#",
            " ",
            "\t",
            "http://",
            "ftp://",
            "é",
            "_",
            "%",
            "日",
            "&#",
            "localhost",
            "\u{b}",
            "~",
            ".-",
            ".com",
        ];
        let mut count = 0;
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..random % 24 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                text.push_str(parts[(random >> 20) as usize % parts.len()]);
            }
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d) | 1;
            let mut want = Vec::new();
            pattern.each_within(&text, &script::pattern::Unbounded, |spans| {
                let (start, end) = spans[0].expect("the whole");
                want.push(Address { start, end, is_mail: spans[1].is_some() });
                true
            });
            let found: Vec<Address> = Addresses::of(&text).collect();
            assert_eq!(found, want, "{text:?}");
            count += found.len();
        }
        assert!(count > 5_000, "{count}");
    }

    /// A line of 200 KB without blanks took ten seconds: from each place on all that followed was looked at.
    #[test]
    fn what_is_looked_at_grows_with_the_text_and_no_more() {
        for part in [
            "a/",
            "&#",
            "a.",
            "a.b1.",
            "aGVsbG8gd29ybGQ",
            "x@",
            "a@b.c1.",
            "http://",
            "http://a:b",
            "ftp://-",
            "a-",
            "-",
            "http://a@b.",
            "x.de.a1.",
        ] {
            let text = part.repeat(100_000 / part.len());
            let mut addresses = Addresses::of(&text);
            assert!(addresses.by_ref().count() <= text.len());
            let (looked, len) = (addresses.looked, text.len());
            assert!(looked <= 12 * len, "{part}: {looked} of {len}");
        }
    }
}
