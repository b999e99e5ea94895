//! Orengo's and Huyck's stemmer of Portuguese (RSLP), and the one for Galician that follows it: steps of rules,
//! each a suffix, how many letters must be left, what takes its place, and words it leaves alone.
//!
//! The rules stand in `data/*.rules` (`data/README.md` says how).

use std::sync::LazyLock;

use super::{ends, romance::fold_vowels};

struct Rule {
    suffix: &'static str,
    /// Letters of the suffix.
    len: usize,
    /// Letters that must be left.
    least: usize,
    with: &'static str,
    except: Vec<&'static str>,
}

struct Step {
    name: &'static str,
    /// Shorter words pass.
    least: usize,
    /// Are exceptions whole words, or endings?
    whole: bool,
    /// Words that end otherwise pass; none where all may enter.
    enter: Vec<&'static str>,
    rules: Vec<Rule>,
}

static PORTUGUESE: LazyLock<Vec<Step>> =
    LazyLock::new(|| read(include_str!("data/portuguese.rules")));
static GALICIAN: LazyLock<Vec<Step>> = LazyLock::new(|| read(include_str!("data/galician.rules")));

fn read(text: &'static str) -> Vec<Step> {
    let list = |text: Option<&'static str>| -> Vec<&'static str> {
        text.into_iter().flat_map(|text| text.split(',')).filter(|item| !item.is_empty()).collect()
    };
    let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("= ") {
            let mut parts = head.split('\t');
            steps.push(Step {
                name: parts.next().unwrap_or_default(),
                least: number(parts.next()),
                whole: parts.next() == Some("whole"),
                enter: list(parts.next()),
                rules: Vec::new(),
            });
            continue;
        }
        let mut parts = line.split('\t');
        let suffix = parts.next().unwrap_or_default();
        let rule = Rule {
            suffix,
            len: suffix.chars().count(),
            least: number(parts.next()),
            with: parts.next().unwrap_or_default(),
            except: list(parts.next()),
        };
        if let Some(step) = steps.last_mut() {
            step.rules.push(rule);
        }
    }
    for step in &mut steps {
        if step.least == 0 {
            step.least = step.rules.iter().map(|rule| rule.least + rule.len).min().unwrap_or(0);
        }
    }
    steps
}

impl Step {
    /// Applies the first rule that fits.
    fn apply(&self, word: &mut Vec<char>) {
        let may_enter = self.enter.is_empty() || self.enter.iter().any(|ending| ends(word, ending));
        if word.len() < self.least || !may_enter {
            return;
        }
        let spared = |rule: &Rule, word: &[char]| {
            rule.except.iter().any(|except| {
                ends(word, except) && (!self.whole || except.chars().count() == word.len())
            })
        };
        for rule in &self.rules {
            let fits = word.len() >= rule.len + rule.least && ends(word, rule.suffix);
            if fits && !spared(rule, word) {
                word.truncate(word.len() - rule.len);
                word.extend(rule.with.chars());
                return;
            }
        }
    }
}

fn step(steps: &[Step], name: &str, word: &mut Vec<char>) {
    if let Some(step) = steps.iter().find(|step| step.name == name) {
        step.apply(word);
    }
}

/// Does the step change the word's length?
fn shortens(steps: &[Step], name: &str, word: &mut Vec<char>) -> bool {
    let len = word.len();
    step(steps, name, word);
    word.len() != len
}

/// Portuguese, whole.
pub(super) fn portuguese(word: &mut Vec<char>) {
    let steps = &*PORTUGUESE;
    for name in ["Plural", "Adverb", "Feminine", "Augmentative"] {
        step(steps, name, word);
    }
    if !shortens(steps, "Noun", word) && !shortens(steps, "Verb", word) {
        step(steps, "Vowel", word);
    }
    fold_vowels(word);
    for c in word {
        *c = match *c {
            'ã' | 'å' => 'a',
            'õ' => 'o',
            'ç' => 'c',
            'ñ' => 'n',
            'ý' | 'ÿ' => 'y',
            c => c,
        };
    }
}

/// Portuguese, plurals alone.
pub(super) fn portuguese_minimal(word: &mut Vec<char>) {
    step(&PORTUGUESE, "Plural", word);
}

/// Galician, whole.
pub(super) fn galician(word: &mut Vec<char>) {
    let steps = &*GALICIAN;
    for name in ["Plural", "Unification", "Adverb"] {
        step(steps, name, word);
    }
    while shortens(steps, "Augmentative", word) {}
    if !shortens(steps, "Noun", word) {
        step(steps, "Verb", word);
    }
    step(steps, "Vowel", word);
    for c in word {
        *c = match *c {
            'á' => 'a',
            'é' | 'ê' => 'e',
            'í' => 'i',
            'ó' => 'o',
            'ú' => 'u',
            c => c,
        };
    }
}

/// Galician, plurals alone.
pub(super) fn galician_minimal(word: &mut Vec<char>) {
    step(&GALICIAN, "Plural", word);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_that_is_asked_for_is_there() {
        let names = |steps: &[Step]| steps.iter().map(|step| step.name).collect::<Vec<_>>();
        let portuguese = names(&PORTUGUESE);
        for name in ["Plural", "Adverb", "Feminine", "Augmentative", "Noun", "Verb", "Vowel"] {
            assert!(portuguese.contains(&name), "{name}");
        }
        let galician = names(&GALICIAN);
        for name in ["Plural", "Unification", "Adverb", "Augmentative", "Noun", "Verb", "Vowel"] {
            assert!(galician.contains(&name), "{name}");
        }
        // A step that shortens nothing but repeats would never end.
        let repeated = GALICIAN.iter().find(|step| step.name == "Augmentative");
        let rules = &repeated.expect("checked above").rules;
        assert!(rules.iter().all(|rule| rule.with.chars().count() < rule.len));
    }
}
