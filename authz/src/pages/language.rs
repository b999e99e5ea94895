//! The languages of the pages, and how one is chosen.
//!
//! Always true
//! 1. The texts of a sentence stand side by side where they are used, in the order of [`Language::ALL`]: there is no
//!    catalogue that could fall out of step, and a language more makes the compiler name each place.
//! 2. What strangers wrote is in no language of ours, and stays as it is. So do answers to programs, and logs, which are
//!    in English.
//! 3. Whatever is sent to choose a language, the work is bounded, and what is chosen is one of ours: nothing of a
//!    stranger's text goes on.
//!
//! Not here: who chooses. A request's address does before its header, and English is spoken where neither does.

/// A language of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// German, which addresses people formally.
    German,
}

/// A text in each language.
pub type Texts = [&'static str; 2];

/// The parameter of an address that asks for languages.
pub const PARAMETER: &str = "ui_locales";

/// So many tags of a list are looked at: people speak fewer languages.
const TAGS_MAX: usize = 32;

/// Subtags of a tag have so many letters and digits at most (RFC 5646, 2.1).
const SUBTAG_BYTES_MAX: usize = 8;

impl Language {
    /// All, in the order of their texts.
    pub const ALL: [Self; 2] = [Self::English, Self::German];

    /// Its tag (RFC 5646).
    pub const fn tag(self) -> &'static str {
        self.say(["en", "de"])
    }

    /// Of a text in each language the one in this.
    pub const fn say<T: Copy>(self, [english, german]: [T; 2]) -> T {
        match self {
            Self::English => english,
            Self::German => german,
        }
    }

    /// What `ui_locales` asks for (OpenID Connect Core, 3.1.2.1): tags separated by spaces, by preference. The first that
    /// is spoken here.
    pub fn of_locales(text: &str) -> Option<Self> {
        let tags = text.split(' ').filter(|tag| !tag.is_empty());
        tags.take(TAGS_MAX).find_map(Self::of_tag)
    }

    /// What a header `Accept-Language` asks for (RFC 9110, 12.5.4): the language that is wanted most, the first of
    /// several. A tag is answered by its language alone (RFC 4647, 3.4): `de-AT` by German.
    pub fn accepted(text: &str) -> Option<Self> {
        let mut wishes: [Wish; 2] = [Wish::default(); 2];
        let mut others = None;
        for (at, member) in text.split(',').take(TAGS_MAX).enumerate() {
            let Some((tag, weight)) = weighed(member) else { continue };
            // Of equals the first is wanted more.
            let wanted = (weight > 0).then_some((weight, TAGS_MAX - at));
            if tag == "*" {
                others = others.max(wanted);
            } else if let Some(language) = Self::of_tag(tag) {
                let wish = &mut wishes[language as usize];
                wish.wanted = wish.wanted.max(wanted);
                // Whoever wants nothing of `de-AT` may well read another German.
                wish.is_refused |= weight == 0 && !tag.contains('-');
            }
        }
        let wanted = |language: &Self| match wishes[*language as usize] {
            Wish { is_refused: true, .. } => None,
            // A star is all that is not named.
            Wish { wanted, .. } => wanted.or(others),
        };
        let best = Self::ALL.iter().filter_map(wanted).max()?;
        Self::ALL.into_iter().find(|language| wanted(language) == Some(best))
    }

    /// The language of a tag; none of what is no tag, or is not spoken here.
    fn of_tag(tag: &str) -> Option<Self> {
        let mut subtags = tag.split('-');
        let first = subtags.next()?;
        let is_subtag = |text: &str| {
            (1..=SUBTAG_BYTES_MAX).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let known =
            Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(first));
        known.filter(|_| subtags.take(TAGS_MAX).all(is_subtag))
    }
}

/// How much a header wants a language.
#[derive(Clone, Copy, Default)]
struct Wish {
    /// Its weight, and where it stands.
    wanted: Option<(u16, usize)>,
    /// It is not wanted, by its very name.
    is_refused: bool,
}

/// A member of a header: what it names, and its weight in thousandths; none of what is malformed.
fn weighed(member: &str) -> Option<(&str, u16)> {
    let (tag, parameter) = match member.split_once(';') {
        Some((tag, parameter)) => (tag, Some(parameter)),
        None => (member, None),
    };
    let weight = match parameter {
        None => 1000,
        Some(parameter) => {
            let (name, value) = trimmed(parameter).split_once('=')?;
            name.eq_ignore_ascii_case("q").then_some(value).and_then(thousandths)?
        }
    };
    Some((trimmed(tag), weight))
}

/// Without the blanks that a header may have around its parts.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// `0`, `0.5`, `1.000`: up to three decimals, and no more than one.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_number = decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let digits = is_number.then(|| format!("{decimals:0<3}"))?;
    match (whole, digits.parse().ok()?) {
        ("0", part) => Some(part),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Language::{English, German};
    use super::*;

    #[test]
    fn the_first_locale_that_is_spoken_here_is_taken() {
        let long = format!("de{}", "-1".repeat(40_000));
        let many = format!("{}de", "fr ".repeat(40_000));
        for (text, expected) in [
            ("de", Some(German)),
            ("DE-at", Some(German)),
            ("fr de en", Some(German)),
            ("fr  en-GB de", Some(English)),
            ("de-Latn-DE-1996-x-private", Some(German)),
            ("", None),
            (" ", None),
            ("fr", None),
            ("deu", None),
            ("d", None),
            ("de_DE en", Some(English)),
            ("de- en", Some(English)),
            ("de--DE", None),
            ("de-abcdefghi", None),
            ("de,en", None),
            ("de\u{a0}en", None),
            ("*", None),
            ("x-de i-de", None),
            ("dé", None),
            ("<script>de</script>", None),
            (&many, None),
            (&long, Some(German)),
        ] {
            let shown: String = text.chars().take(40).collect();
            assert_eq!(Language::of_locales(text), expected, "{shown}");
        }
    }

    #[test]
    fn a_header_is_weighed() {
        let many = format!("{}de", "fr,".repeat(40_000));
        for (text, expected) in [
            ("de", Some(German)),
            ("de-AT, en;q=0.9", Some(German)),
            ("en-US,en;q=0.9,de;q=0.8", Some(English)),
            ("en;q=0.5, de;q=0.501", Some(German)),
            ("de;q=0.5,en;q=0.5", Some(German)),
            ("en;q=0.5,de;q=0.5", Some(English)),
            ("fr-CH, fr;q=0.9, de;q=0.7, *;q=0.5", Some(German)),
            ("fr, *;q=0.1", Some(English)),
            ("*", Some(English)),
            // What is not named is wanted more.
            ("en;q=0.5, *", Some(German)),
            ("en;q=0, *", Some(German)),
            ("de;q=0, *", Some(English)),
            ("de;q=0", None),
            ("de;q=0, de-AT", None),
            ("de-AT;q=0, de;q=0.3", Some(German)),
            ("*;q=0", None),
            ("en;q=0, *;q=0", None),
            ("DE ; Q=1.000 ,\ten;q=1", Some(German)),
            ("de ;\tq=0.8, en;q=0.7", Some(German)),
            ("", None),
            (",,;,", None),
            ("fr", None),
            // What is malformed is passed over.
            ("de;q=2, en;q=0.1", Some(English)),
            ("de;q=-1, en;q=0.1", Some(English)),
            ("de;q=1.001, en;q=0.1", Some(English)),
            ("de;q=0.1234, en;q=0.1", Some(English)),
            ("de;q=, en;q=0.1", Some(English)),
            ("de;q, en;q=0.1", Some(English)),
            ("de;level=1, en;q=0.1", Some(English)),
            ("de;q=0.9;q=1, en;q=0.1", Some(English)),
            ("de;q=NaN, en;q=0.1", Some(English)),
            ("de;q=1e3, en;q=0.1", Some(English)),
            ("de;q=.9, en;q=0.1", Some(English)),
            ("de;q=0.١, en;q=0.1", Some(English)),
            ("de-, en;q=0.1", Some(English)),
            ("de en", None),
            ("\u{feff}de", None),
            (&many, None),
        ] {
            let shown: String = text.chars().take(40).collect();
            assert_eq!(Language::accepted(text), expected, "{shown}");
        }
    }

    #[test]
    fn each_language_has_its_own_tag_and_place() {
        for (at, language) in Language::ALL.into_iter().enumerate() {
            assert_eq!(language as usize, at, "texts stand in the order of the languages");
            assert_eq!(Language::of_locales(language.tag()), Some(language));
            assert_eq!(Language::accepted(language.tag()), Some(language));
        }
        assert_eq!(German.say(["a", "b"]), "b");
        assert_eq!(Language::default(), English);
    }
}
