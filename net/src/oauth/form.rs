//! Forms and queries, read strictly: each escape undone once, bytes that are no text refused, and a
//! parameter that comes twice told apart from one that comes once.

use std::borrow::Cow;

use http::target::{Plus, decode};

/// Most parameters of a form, those without a value included: each is decoded.
const PARAMETERS_MAX: usize = 200;

/// The parameters that the protocol knows, each of which may come once. (`resource` and `audience` may
/// come more often.) What nobody knows is ignored, however often it comes: RFC 6749, 3.1 and 3.2.
const PROTOCOL: &[&str] = &[
    "acr_values",
    "actor_token",
    "actor_token_type",
    "assertion",
    "authorization_details",
    "claims",
    "client_assertion",
    "client_assertion_type",
    "client_id",
    "client_secret",
    "code",
    "code_challenge",
    "code_challenge_method",
    "code_verifier",
    "device_code",
    "display",
    "dpop_jkt",
    "grant_type",
    "id_token_hint",
    "login_hint",
    "max_age",
    "nonce",
    "password",
    "prompt",
    "redirect_uri",
    "refresh_token",
    "request",
    "request_uri",
    "requested_token_type",
    "response_mode",
    "response_type",
    "scope",
    "secret",
    "state",
    "subject_token",
    "subject_token_type",
    "token",
    "token_type_hint",
    "ui_locales",
    "username",
];

/// A form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    pairs: Vec<(String, String)>,
}

/// It cannot be read: an escape that is none, bytes that are no text, or a control character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

/// A parameter came twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated(pub String);

impl Form {
    /// Reads `name=value&…`; an empty value counts as absent.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn parse(text: &[u8]) -> Result<Self, Unreadable> {
        let mut pairs = Vec::new();
        let pieces = text.split(|byte| *byte == b'&').filter(|piece| !piece.is_empty());
        for (at, piece) in pieces.enumerate() {
            if at == PARAMETERS_MAX {
                return Err(Unreadable);
            }
            let (name, value) = match memchr::memchr(b'=', piece) {
                Some(at) => (&piece[..at], &piece[at + 1..]),
                None => (piece, &[][..]),
            };
            let (name, value) = (plain(name)?, plain(value)?);
            if !value.is_empty() {
                pairs.push((name.into_owned(), value.into_owned()));
            }
        }
        Ok(Self { pairs })
    }

    /// Holds no value a line end or tab? Only text areas of pages may.
    pub fn is_one_line(&self) -> bool {
        !self.pairs.iter().any(|(name, value)| {
            name.contains(char::is_control) || value.contains(char::is_control)
        })
    }

    /// A form of these parameters.
    pub fn of(pairs: Vec<(String, String)>) -> Self {
        Self { pairs }
    }

    /// Its parameters.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// All values of a parameter.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a parameter; the first one, where it came twice.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value, or nothing to someone who does not care which.
    pub fn text(&self, name: &str) -> &str {
        self.first(name).unwrap_or_default()
    }

    /// The value of a parameter that may come once.
    ///
    /// # Errors
    /// Where it came twice.
    pub fn one(&self, name: &str) -> Result<Option<&str>, Repeated> {
        if self.count(name) > 1 { Err(Repeated(name.to_owned())) } else { Ok(self.first(name)) }
    }

    /// Does a parameter of the protocol come twice that may not?
    pub fn repeats_protocol(&self) -> bool {
        PROTOCOL.iter().any(|name| self.count(name) > 1)
    }

    /// Any parameter that came twice, but for those that may: for forms of our own pages.
    pub fn repeated(&self, may: &[&str]) -> Option<Repeated> {
        let mut names: Vec<&str> = self
            .pairs
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| !may.contains(name))
            .collect();
        names.sort_unstable();
        names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| Repeated(pair[0].to_owned()))
    }

    fn count(&self, name: &str) -> usize {
        self.pairs.iter().filter(|(known, _)| known == name).count()
    }
}

/// Undoes escapes once. Line ends and tabs are text in some fields; other control characters are
/// nowhere.
fn plain(text: &[u8]) -> Result<Cow<'_, str>, Unreadable> {
    let text = decode(text, Plus::Space).map_err(|_| Unreadable)?;
    let bad = |char: char| char.is_control() && !matches!(char, '\r' | '\n' | '\t');
    if text.contains(bad) { Err(Unreadable) } else { Ok(text) }
}

/// Appends `name=value` in the form of a query, with `separator` before it.
pub fn push(out: &mut String, separator: char, name: &str, value: &str) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push(separator);
    out.push_str(name);
    out.push('=');
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_decoded_once() {
        let form = Form::parse(b"a=1+2&b=%2525&c=&d&e=%E2%82%AC&a=3").expect("good");
        assert_eq!(form.text("a"), "1 2");
        assert_eq!(form.text("b"), "%25");
        assert_eq!(form.first("c"), None, "empty is absent");
        assert_eq!(form.first("d"), None);
        assert_eq!(form.text("e"), "€");
        assert_eq!(form.one("a"), Err(Repeated("a".into())));
        assert_eq!(form.one("b"), Ok(Some("%25")));
        assert_eq!(form.all("a").collect::<Vec<_>>(), ["1 2", "3"]);
        assert_eq!(form.repeated(&[]), Some(Repeated("a".into())));
        assert_eq!(form.repeated(&["a"]), None);
    }

    /// The form of the WHATWG's URL standard: cut at `&`, then at the first `=`, then decoded; a `;` is text.
    #[test]
    fn a_form_is_cut_before_it_is_decoded() {
        let form =
            Form::parse(b"&&a=1;b=2&c=x=y&d=%26e%3D1%3B%2B+&=z&%61b=%C3%A9&&").expect("good");
        let pairs: Vec<(&str, &str)> =
            form.pairs().iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(pairs, [("a", "1;b=2"), ("c", "x=y"), ("d", "&e=1;+ "), ("", "z"), ("ab", "é")]);
        let escaped = Form::parse(b"%73cope=a&scope=b").expect("good");
        assert!(escaped.repeats_protocol(), "a name is what it is once decoded");
        assert_eq!(Form::parse(b"").expect("good"), Form::default());
    }

    #[test]
    fn only_what_the_protocol_knows_may_not_come_twice() {
        let repeats = |text: &[u8]| Form::parse(text).expect("good").repeats_protocol();
        assert!(repeats(b"scope=a&x=1&scope=a"));
        assert!(repeats(b"secret=a&secret=b"));
        assert!(!repeats(b"utm=1&utm=2&resource=a&resource=b&audience=a&audience=b"));
        assert!(!repeats(b"scope=&scope=a"), "what is empty is absent");
        assert!(PROTOCOL.is_sorted());
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for bad in [&b"a=%ff"[..], b"a=%00", b"a=%1b", b"a=%zz", b"a=%", b"\xff=1"] {
            assert_eq!(Form::parse(bad), Err(Unreadable), "{bad:?}");
        }
        assert!(Form::parse(b"a=%0d%0a%09").is_ok(), "text areas have lines");
        let many: Vec<u8> =
            (0..=PARAMETERS_MAX).flat_map(|at| format!("a{at}=1&").into_bytes()).collect();
        assert_eq!(Form::parse(&many), Err(Unreadable));
        assert_eq!(Form::parse(&b"a&".repeat(PARAMETERS_MAX + 1)), Err(Unreadable));
        assert!(Form::parse(&b"a&&".repeat(PARAMETERS_MAX)).is_ok());
    }

    #[test]
    fn values_survive_the_way_into_a_query() {
        let mut out = String::from("https://a/cb?x=1");
        push(&mut out, '&', "state", "a b&c=%\r\nü");
        assert_eq!(out, "https://a/cb?x=1&state=a%20b%26c%3D%25%0D%0A%C3%BC");
    }
}
