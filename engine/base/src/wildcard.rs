//! Shapes of terms: `*` any text, `?` any one character, `\` takes the next one as it is.
//!
//! Matching never backs up further than to the last `*`, so it takes time by the product of the
//! two lengths at worst.

/// A shape, in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wildcard {
    pieces: Vec<Piece>,
    /// Characters that every match begins with.
    prefix: String,
    /// Characters that every match ends with.
    suffix: String,
    /// Nothing but a prefix, a star and a suffix.
    one_star: bool,
    case_insensitive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// This character.
    Char(char),
    /// Any character.
    One,
    /// Any text.
    Any,
}

impl Wildcard {
    /// Reads a shape.
    pub fn new(text: &str, case_insensitive: bool) -> Self {
        let mut pieces = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            let piece = match c {
                '*' => Piece::Any,
                '?' => Piece::One,
                '\\' => Piece::Char(chars.next().unwrap_or('\\')),
                c => Piece::Char(c),
            };
            if piece != Piece::Any || pieces.last() != Some(&Piece::Any) {
                pieces.push(piece);
            }
        }
        let prefix = pieces
            .iter()
            .map_while(|piece| match piece {
                Piece::Char(c) if !case_insensitive => Some(*c),
                _ => None,
            })
            .collect();
        let mut suffix: Vec<char> = pieces
            .iter()
            .rev()
            .map_while(|piece| match piece {
                Piece::Char(c) if !case_insensitive => Some(*c),
                _ => None,
            })
            .collect();
        suffix.reverse();
        let is_char = |piece: &&Piece| matches!(piece, Piece::Char(_));
        let one_star = !case_insensitive
            && pieces.contains(&Piece::Any)
            && pieces.iter().filter(is_char).count() + 1 == pieces.len();
        Self { pieces, prefix, suffix: suffix.into_iter().collect(), one_star, case_insensitive }
    }

    /// Is this a shape that itself alone has?
    pub fn is_word(text: &str) -> bool {
        !text.contains(['*', '?', '\\'])
    }

    /// May a term have the shape, by its last byte?
    #[inline]
    pub fn ends(&self, term: &[u8]) -> bool {
        match self.suffix.as_bytes().last() {
            Some(last) => term.last() == Some(last),
            None => true,
        }
    }

    /// Does a term have the shape? Most are told by their ends.
    pub fn matches_bytes(&self, term: &[u8]) -> bool {
        let (prefix, suffix) = (self.prefix.as_bytes(), self.suffix.as_bytes());
        if !term.ends_with(suffix) || !term.starts_with(prefix) {
            return false;
        }
        if self.one_star {
            return term.len() >= prefix.len() + suffix.len();
        }
        std::str::from_utf8(term).is_ok_and(|text| self.matches(text))
    }

    /// The shape as it is written.
    pub fn text(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Char(c) => *c,
                Piece::One => '?',
                Piece::Any => '*',
            })
            .collect()
    }

    /// What every match begins with.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Every text matches.
    pub fn is_any(&self) -> bool {
        self.pieces == [Piece::Any]
    }

    /// Only this text matches.
    pub fn exact(&self) -> Option<String> {
        if self.case_insensitive {
            return None;
        }
        self.pieces
            .iter()
            .map(|piece| if let Piece::Char(c) = piece { Some(*c) } else { None })
            .collect()
    }

    /// Does `text` have the shape?
    pub fn matches(&self, text: &str) -> bool {
        let same = |piece: Piece, c: char| match piece {
            Piece::One => true,
            Piece::Char(p) if self.case_insensitive => p.eq_ignore_ascii_case(&c),
            Piece::Char(p) => p == c,
            Piece::Any => false,
        };
        let (mut at, mut rest) = (0, text.chars());
        // Where to go on with one character more under the last `*`.
        let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            let mut after = rest.clone();
            match (self.pieces.get(at), after.next()) {
                (Some(Piece::Any), _) => {
                    at += 1;
                    retry = Some((at, rest.clone()));
                    continue;
                }
                (Some(piece), Some(c)) if same(*piece, c) => {
                    at += 1;
                    rest = after;
                    continue;
                }
                (None, None) => return true,
                _ => {}
            }
            let Some((back, mut from)) = retry.take() else { return false };
            if from.next().is_none() {
                return false;
            }
            (at, rest) = (back, from.clone());
            retry = Some((back, from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The plainest matcher.
    fn model(pieces: &[Piece], text: &[char]) -> bool {
        match pieces.split_first() {
            None => text.is_empty(),
            Some((Piece::Any, rest)) => (0..=text.len()).any(|cut| model(rest, &text[cut..])),
            Some((piece, rest)) => text.split_first().is_some_and(|(c, text)| {
                (*piece == Piece::One || *piece == Piece::Char(*c)) && model(rest, text)
            }),
        }
    }

    proptest! {
        #[test]
        fn matches_as_the_plainest_matcher(shape in "[ab*?]{0,8}", text in "[abé]{0,8}") {
            let wildcard = Wildcard::new(&shape, false);
            let chars: Vec<char> = text.chars().collect();
            prop_assert_eq!(wildcard.matches(&text), model(&wildcard.pieces, &chars));
            prop_assert_eq!(wildcard.matches_bytes(text.as_bytes()), wildcard.matches(&text));
            if wildcard.matches(&text) {
                prop_assert!(text.starts_with(wildcard.prefix()));
            }
        }
    }

    #[test]
    fn a_backslash_takes_the_next_character_as_it_is() {
        let star = Wildcard::new(r"a\*b", false);
        assert!(star.matches("a*b") && !star.matches("axb"));
        assert_eq!(star.exact().as_deref(), Some("a*b"));
        assert!(Wildcard::new("A?c", true).matches("aXC"));
    }
}
