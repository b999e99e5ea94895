//! Patterns of Lucene, and what they match.

use super::*;
use crate::Next;

fn all(pattern: &str) -> Dfa {
    automaton(pattern, ALL, false, 10_000).expect(pattern)
}

#[test]
fn expressions_match_whole_words() {
    for (pattern, yes, no) in [
        ("[c-e].*", vec!["curie", "e"], vec!["brown", "xc"]),
        ("ax-<3-12>", vec!["ax-3", "ax-04", "ax-12", "ax-003"], vec!["ax-13", "ax-2", "ax-"]),
        ("ax-<03-12>", vec!["ax-03", "ax-12"], vec!["ax-3", "ax-13", "ax-003"]),
        ("~(c.*)", vec!["", "d", "dc"], vec!["c", "cd"]),
        ("d@", vec!["d", "dx"], vec!["", "xd"]),
        ("a{2,3}b?", vec!["aa", "aaab"], vec!["a", "aaaa", "aabb"]),
        ("a{2,}", vec!["aa", "aaaaa"], vec!["a"]),
        ("(ab|cd)+", vec!["ab", "abcd"], vec!["", "a"]),
        ("aaa.+&.+bbb", vec!["aaabbb", "aaaxbbb"], vec!["aaa", "bbb"]),
        ("\"a.b\"", vec!["a.b"], vec!["axb"]),
        ("[^a-c]\\d", vec!["d1"], vec!["a1", "dd"]),
        ("/[fl]ox(es)?/", vec!["/fox/", "/loxes/"], vec!["fox"]),
        ("é.", vec!["é𝒳"], vec!["é"]),
        ("#|x", vec!["x"], vec!["", "#"]),
        ("()", vec![""], vec!["x"]),
    ] {
        let dfa = all(pattern);
        for text in yes {
            assert!(dfa.matches(text), "{pattern} matches {text:?}");
        }
        for text in no {
            assert!(!dfa.matches(text), "{pattern} does not match {text:?}");
        }
    }
}

#[test]
fn flags_turn_operators_into_characters() {
    let plain = automaton("a~<1-2>", 0, false, 10_000).expect("plain");
    assert!(plain.matches("a~<1-2>") && !plain.matches("a1"));
    let either = automaton("aB", ALL, true, 10_000).expect("cases");
    assert!(either.matches("Ab") && !either.matches("Ax"));
}

#[test]
fn faults_are_told_in_lucenes_words() {
    for (pattern, reason) in [
        ("a(", "unexpected end-of-string"),
        ("[ab", "expected ']' at position 3"),
        ("a{x", "integer expected at position 2"),
        ("a)", "end-of-string expected at position 1"),
        ("\"ab", "expected '\"' at position 3"),
    ] {
        let fault = automaton(pattern, ALL, false, 10_000).expect_err(pattern);
        assert_eq!(fault, Fault::Syntax(reason.into()), "{pattern}");
    }
}

#[test]
fn dear_expressions_are_refused_early() {
    let mut deep = "a".to_owned();
    for _ in 0..12 {
        deep = format!("({deep}){{10}}");
    }
    for pattern in [deep.as_str(), "(a|b)*a(a|b){30}", "((a*)*)*{50000}{50000}"] {
        let fault = automaton(pattern, ALL, false, 10_000).expect_err(pattern);
        assert_eq!(fault, Fault::TooComplex, "{pattern}");
    }
}

/// A request that allowed 2,000,000,000 states had a core and all of its memory for itself.
#[test]
fn no_request_allows_an_expression_that_fills_the_memory() {
    for pattern in ["(a|b)*a(a|b){30}", "(.*a){1,40}.{40}&~(.*b.{30})"] {
        let fault = automaton(pattern, ALL, false, 2_000_000_000).expect_err(pattern);
        assert_eq!(fault, Fault::TooComplex, "{pattern}");
    }
}

#[test]
fn a_walk_finds_what_matching_finds() {
    let mut words: Vec<String> = Vec::new();
    for a in ["", "a", "b", "c", "é", "\u{d7ff}", "\u{e000}", "𝒳"] {
        for b in ["", "a", "b", "z", "𝒳"] {
            for c in ["", "a", "é"] {
                words.push(format!("{a}{b}{c}"));
            }
        }
    }
    words.sort();
    words.dedup();
    for pattern in ["[b-c].*", "~(a.*)", ".z", "(a|é)?𝒳?a", "b{2,4}", "#", "[\u{d000}-\u{ffff}]a*"]
    {
        let dfa = all(pattern);
        let expected: Vec<&String> = words.iter().filter(|word| dfa.matches(word)).collect();
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            match dfa.next(word.as_bytes()) {
                Next::Match => {
                    found.push(word);
                    at += 1;
                }
                Next::Step => at += 1,
                Next::Seek(target) => {
                    let next = words.partition_point(|word| word.as_bytes() < target.as_slice());
                    assert!(next > at, "a leap goes on");
                    at = next;
                }
                Next::End => break,
            }
        }
        assert_eq!(found, expected, "{pattern}");
    }
}
