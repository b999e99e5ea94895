//! Patterns over terms, by trying every way.

/// Does a pattern of `*` and `?` match?
pub fn wildcard(pattern: &[char], text: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => (0..=text.len()).any(|skip| wildcard(rest, &text[skip..])),
        (Some(('?', rest)), Some((_, more))) => wildcard(rest, more),
        (Some((a, rest)), Some((b, more))) => a == b && wildcard(rest, more),
        _ => false,
    }
}

/// Does a regular expression match the whole text? Letters, `.`, `[…]`, `(…|…)`, `*`, `+`, `?`,
/// `{n,m}`.
pub fn regexp(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let mut at = 0;
    let tree = alternatives(&pattern, &mut at);
    ends(&tree, &text, 0).contains(&text.len())
}

enum Tree {
    Any,
    Letter(char),
    Class(bool, Vec<(char, char)>),
    Sequence(Vec<Tree>),
    Either(Vec<Tree>),
    Repeat(Box<Tree>, usize, usize),
}

fn alternatives(pattern: &[char], at: &mut usize) -> Tree {
    let mut all = vec![sequence(pattern, at)];
    while pattern.get(*at) == Some(&'|') {
        *at += 1;
        all.push(sequence(pattern, at));
    }
    Tree::Either(all)
}

fn sequence(pattern: &[char], at: &mut usize) -> Tree {
    let mut all = Vec::new();
    while let Some(letter) = pattern.get(*at) {
        if matches!(letter, '|' | ')') {
            break;
        }
        *at += 1;
        let one = match letter {
            '.' => Tree::Any,
            '(' => {
                let inner = alternatives(pattern, at);
                *at += 1;
                inner
            }
            '[' => class(pattern, at),
            letter => Tree::Letter(*letter),
        };
        all.push(repeated(one, pattern, at));
    }
    Tree::Sequence(all)
}

fn class(pattern: &[char], at: &mut usize) -> Tree {
    let not = pattern[*at] == '^';
    *at += usize::from(not);
    let mut ranges = Vec::new();
    while pattern[*at] != ']' {
        let from = pattern[*at];
        let to = if pattern[*at + 1] == '-' { pattern[*at + 2] } else { from };
        *at += if pattern[*at + 1] == '-' { 3 } else { 1 };
        ranges.push((from, to));
    }
    *at += 1;
    Tree::Class(not, ranges)
}

fn repeated(one: Tree, pattern: &[char], at: &mut usize) -> Tree {
    let (least, most) = match pattern.get(*at) {
        Some('*') => (0, 99),
        Some('+') => (1, 99),
        Some('?') => (0, 1),
        Some('{') => {
            let end = *at + pattern[*at..].iter().position(|c| *c == '}').unwrap_or(0);
            let inner: String = pattern[*at + 1..end].iter().collect();
            *at = end;
            let (least, most) = inner.split_once(',').unwrap_or((&inner, &inner));
            (least.parse().unwrap_or(0), most.parse().unwrap_or(99))
        }
        _ => return one,
    };
    *at += 1;
    Tree::Repeat(Box::new(one), least, most)
}

/// All places where a match that begins at `from` may end.
fn ends(tree: &Tree, text: &[char], from: usize) -> Vec<usize> {
    let letter = |fits: &dyn Fn(char) -> bool| match text.get(from) {
        Some(letter) if fits(*letter) => vec![from + 1],
        _ => Vec::new(),
    };
    match tree {
        Tree::Any => letter(&|_| true),
        Tree::Letter(wanted) => letter(&|letter| letter == *wanted),
        Tree::Class(not, ranges) => letter(&|letter| {
            ranges.iter().any(|(from, to)| *from <= letter && letter <= *to) != *not
        }),
        Tree::Sequence(all) => all.iter().fold(vec![from], |starts, one| {
            unique(starts.into_iter().flat_map(|start| ends(one, text, start)).collect())
        }),
        Tree::Either(all) => unique(all.iter().flat_map(|one| ends(one, text, from)).collect()),
        Tree::Repeat(one, least, most) => {
            let mut found = if *least == 0 { vec![from] } else { Vec::new() };
            let mut starts = vec![from];
            for count in 1..=*most {
                starts = unique(starts.into_iter().flat_map(|at| ends(one, text, at)).collect());
                if starts.is_empty() || count > text.len() + least {
                    break;
                }
                if count >= *least {
                    found.extend(&starts);
                }
            }
            unique(found)
        }
    }
}

fn unique(mut all: Vec<usize>) -> Vec<usize> {
    all.sort_unstable();
    all.dedup();
    all
}

/// Edits between two words: letters put in, taken out, changed, and neighbours swapped.
pub fn distance(a: &str, b: &str, swaps: bool) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let mut least = (table[i - 1][j] + 1)
                    .min(table[i][j - 1] + 1)
                    .min(table[i - 1][j - 1] + change);
                if swaps && i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(table[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_match_whole_texts() {
        for (pattern, text, fits) in [
            ("a.c", "abc", true),
            ("a.c", "abcd", false),
            ("(ab|cd)+", "abcdab", true),
            ("[a-c]{2,3}", "abca", false),
            ("[^a]*x?", "bcx", true),
        ] {
            assert_eq!(regexp(pattern, text), fits, "{pattern} {text}");
        }
        assert_eq!(distance("abcd", "acbd", true), 1);
        assert_eq!(distance("abcd", "acbd", false), 2);
    }
}
