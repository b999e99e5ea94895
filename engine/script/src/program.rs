//! What the engine makes of a pattern, as it prints it: only that tells what is tried, and what automata find.

use std::fmt;

use fancy_regex::Regex;

use crate::regular::unquoted;

/// As it is printed: an instruction a line.
pub(crate) fn program(regex: &Regex) -> String {
    struct Shown<'r>(&'r Regex);
    impl fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.debug_print(f)
        }
    }
    Shown(regex).to_string()
}

/// A text that a match begins with, or that stands before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    text: String,
    is_before: bool,
}

impl Head {
    /// Of a program that is tried place by place.
    pub(crate) fn of(program: &str) -> Option<Self> {
        let instructions = instructions(program);
        let own =
            instructions.strip_prefix(&["SplitUnanchored(3, 1)", "Any", "Jmp(0)", "Save(0)"])?;
        let text = |shown: &str| {
            let shown = shown.strip_prefix("Lit(\"")?.strip_suffix("\")")?;
            Some(unquoted(shown)).filter(|text| !text.is_empty())
        };
        match own {
            [save, back, literal, restore, ..]
                if save.starts_with("Save(") && restore.starts_with("Restore(") =>
            {
                let text = text(literal)?;
                let chars = back.strip_prefix("GoBack(").and_then(number)?;
                (text.chars().count() == chars).then_some(Self { text, is_before: true })
            }
            [literal, ..] => Some(Self { text: text(literal)?, is_before: false }),
            [] => None,
        }
    }

    /// The places at or after `from` where a match may begin, in order.
    pub(crate) fn places(&self, text: &str, from: usize) -> impl Iterator<Item = usize> {
        let before = if self.is_before { self.text.len() } else { 0 };
        let mut at = text.floor_char_boundary(from.saturating_sub(before));
        let places = std::iter::from_fn(move || {
            let found = at + text.get(at..)?.find(&self.text)?;
            // They may lie in each other.
            at = found + text[found..].chars().next().map_or(1, char::len_utf8);
            Some(found + before)
        });
        places.filter(move |place| *place >= from)
    }
}

fn instructions(program: &str) -> Vec<&str> {
    let lines = program.lines().filter_map(|line| line.split_once(": "));
    lines.map(|(_, instruction)| instruction).collect()
}

fn number(text: &str) -> Option<usize> {
    text.trim_end_matches(')').trim().parse().ok()
}

/// Does a program, as it is printed, repeat something that is not taken back: within a group that is found once
/// (`(?>…)`, `a*+`) or in what must not follow?
pub(crate) fn repeats_for_good(program: &str) -> bool {
    let instructions = instructions(program);
    let mut begun = Vec::new();
    // Where each loop begins, and where it goes back.
    let (mut loops, mut is_within) = (Vec::new(), false);
    let has_loop = |loops: &[(usize, usize)], begin: usize| loops.iter().any(|(to, _)| *to > begin);
    for (at, instruction) in instructions.iter().enumerate() {
        match instruction.split_once('(') {
            Some(("Jmp", to)) => {
                loops.extend(number(to).filter(|to| *to <= at).map(|to| (to, at)));
            }
            Some(("Split", to)) => {
                let mut to = to.split(',').filter_map(number);
                loops.extend(to.find(|to| *to <= at).map(|to| (to, at)));
            }
            _ if *instruction == "BeginAtomic" => begun.push(at),
            _ if *instruction == "EndAtomic" => {
                is_within |= begun.pop().is_some_and(|begin| has_loop(&loops, begin));
            }
            _ if *instruction == "FailNegativeLookAround" => {
                // It began where this was to be left.
                let begin = format!(", {})", at + 1);
                let begin = instructions[..at]
                    .iter()
                    .rposition(|it| it.starts_with("Split(") && it.ends_with(&begin));
                is_within |= begin.is_none_or(|begin| has_loop(&loops, begin));
            }
            _ => {}
        }
    }
    is_within
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_found_and_their_places() {
        let head = |pattern: &str| Head::of(&program(&Regex::new(pattern).expect("a pattern")));
        let text = |text: &str, is_before| Some(Head { text: text.to_owned(), is_before });
        assert_eq!(head("(?<=é\"=)\\w+"), text("é\"=", true));
        for none in
            ["(?<=[a-z])x", "(?<=a|bc)d+", "(?<!a)b", "(?=a)a|b", "(?:ab)*(?!c)", "(?i)(?<=a)b"]
        {
            assert_eq!(head(none), None, "{none}");
        }
        let places = |before, from| -> Vec<usize> {
            let head = Head { text: "éé".to_owned(), is_before: before };
            head.places("éééaéé", from).collect()
        };
        assert_eq!((places(false, 0), places(false, 2)), (vec![0, 2, 7], vec![2, 7]));
        assert_eq!((places(true, 0), places(true, 5)), (vec![4, 6, 11], vec![6, 11]));
        assert_eq!((places(true, 11), places(false, 11)), (vec![11], vec![]));
    }
}
