//! The words of a text as a graph: each goes from one position to a later one.
//!
//! A plain chain gives a line. Synonyms of several words give side paths; where they begin and end
//! all paths meet ([`stretches`]), and between those places each path is a phrase of its own
//! (`GraphTokenStreamFiniteStrings`).
//!
//! Not so the words of analyzers that join neighbours to runs of several lengths ([`Analyzer::is_flat`]): those that
//! begin at one position are words for one another, however far each goes. Intervals alone follow their paths.

use mapping::analysis::{Analyzed, Analyzer, Flow, ON, STOP, Scratch};
use mapping::types::shingle;
use mapping::{Field, Kind as Type, TextFlavor};

use crate::error::{Error, Kind, Result};

/// Paths of one stretch that are looked at.
const PATHS_MAX: usize = 1024;

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its term.
    pub term: String,
    /// Where it begins.
    pub position: u32,
    /// How many positions it takes.
    pub length: u32,
}

/// Bytes that the words of all texts of a request's queries may take together, some two hundred thousand of them: far
/// more than it may have clauses. What is made of them takes several times as much.
const WORDS_BYTES_MAX: usize = 16 << 20;

/// What the words of a request took so far, in each of its queries.
#[derive(Debug, Default)]
pub struct WordBytes(usize);

impl WordBytes {
    fn push(&mut self, words: &mut Vec<Word>, term: &str, position: u32, length: u32) -> Flow {
        self.0 += size_of::<Word>() + term.len();
        if self.0 > WORDS_BYTES_MAX {
            return STOP;
        }
        words.push(Word { term: term.to_owned(), position, length });
        ON
    }

    fn check(&self, analyzed: Analyzed) -> Result<()> {
        if self.0 > WORDS_BYTES_MAX || analyzed.lacks_room {
            return Err(Error::too_large("words of a query", WORDS_BYTES_MAX));
        }
        Ok(())
    }
}

/// The words of a text; what they take is counted. Where the analyzer is flat each takes one position.
///
/// # Errors
/// Where they, with those before, or what makes them, would take too much memory.
pub fn words(analyzer: &Analyzer, text: &str, taken: &mut WordBytes) -> Result<Vec<Word>> {
    let mut words = words_with_lengths(analyzer, text, taken)?;
    if analyzer.is_flat() {
        words.iter_mut().for_each(|word| word.length = 1);
    }
    Ok(words)
}

/// As [`words`], whatever the analyzer says of its paths.
///
/// # Errors
/// As [`words`].
pub fn words_with_lengths(
    analyzer: &Analyzer,
    text: &str,
    taken: &mut WordBytes,
) -> Result<Vec<Word>> {
    let mut words = Vec::new();
    let done = analyzer.tokens_with(text, &mut Scratch::default(), |token| {
        taken.push(&mut words, token.term, token.position, token.length.max(1))
    });
    taken.check(done)?;
    Ok(words)
}

/// The words of a text as a field has them: parts of `search_as_you_type` have shingles.
///
/// # Errors
/// As [`words`].
pub fn words_of(
    field: &Field,
    analyzer: &Analyzer,
    text: &str,
    taken: &mut WordBytes,
) -> Result<Vec<Word>> {
    let size = match &field.kind {
        Type::Text(kind) => match kind.flavor {
            TextFlavor::Shingles(size) | TextFlavor::Prefixes(size) => size,
            _ => return words(analyzer, text, taken),
        },
        _ => return words(analyzer, text, taken),
    };
    let mut words = Vec::new();
    let flavor = TextFlavor::Shingles(size);
    let push = |term: &str, position| taken.push(&mut words, term, position, 1);
    let done = shingle::words(flavor, analyzer, text, &mut Scratch::default(), push);
    taken.check(done)?;
    Ok(words)
}

/// Nothing stands behind the last word: more letters would belong to it.
pub fn ends_in_word(analyzer: &Analyzer, text: &str) -> bool {
    let mut last = None;
    let done = analyzer.tokens_with(text, &mut Scratch::default(), |token| {
        last = Some(token.end);
        ON
    });
    last == Some(done.offset_end)
}

/// Some word takes more than one position.
pub fn is_graph(words: &[Word]) -> bool {
    words.iter().any(|word| word.length > 1)
}

/// What stands between two places where all paths meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stretch<'a> {
    /// Words for one another.
    Words(Vec<&'a Word>),
    /// Paths, each of one or more words.
    Paths(Vec<Vec<&'a Word>>),
}

/// A line of stretches, for each the position it begins at.
///
/// # Errors
/// Where there are far too many paths.
pub fn stretches(words: &[Word]) -> Result<Vec<(u32, Stretch<'_>)>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = words.get(at) {
        // Words that begin before the end of any word before them belong together.
        let mut end = first.position + first.length;
        let mut next = at + 1;
        while let Some(word) = words.get(next)
            && word.position < end
        {
            end = end.max(word.position + word.length);
            next += 1;
        }
        let inside = &words[at..next];
        let flat = inside.iter().all(|w| w.position == first.position && w.length == first.length);
        let stretch = match flat {
            true => Stretch::Words(inside.iter().collect()),
            false => {
                let mut paths = Vec::new();
                walk(inside, first.position, end, &mut Vec::new(), &mut paths)?;
                Stretch::Paths(paths)
            }
        };
        out.push((first.position, stretch));
        at = next;
    }
    Ok(out)
}

/// All paths through a graph, from its begin to its end.
///
/// # Errors
/// Where there are far too many.
pub fn paths(words: &[Word]) -> Result<Vec<Vec<&Word>>> {
    let mut lines: Vec<Vec<&Word>> = vec![Vec::new()];
    for (_, stretch) in stretches(words)? {
        let choices: Vec<Vec<&Word>> = match stretch {
            Stretch::Words(words) => words.into_iter().map(|word| vec![word]).collect(),
            Stretch::Paths(paths) => paths,
        };
        if lines.len() * choices.len() > PATHS_MAX {
            return Err(too_many());
        }
        lines = lines
            .iter()
            .flat_map(|line| {
                choices.iter().map(move |choice| [line.as_slice(), choice.as_slice()].concat())
            })
            .collect();
    }
    Ok(lines)
}

fn walk<'a>(
    words: &'a [Word],
    from: u32,
    end: u32,
    path: &mut Vec<&'a Word>,
    out: &mut Vec<Vec<&'a Word>>,
) -> Result<()> {
    if from >= end {
        if out.len() >= PATHS_MAX {
            return Err(too_many());
        }
        out.push(path.clone());
        return Ok(());
    }
    let mut any = false;
    for word in words.iter().filter(|word| word.position == from) {
        any = true;
        path.push(word);
        walk(words, from + word.length, end, path, out)?;
        path.pop();
    }
    // A word was dropped there: go on behind the gap.
    if !any {
        walk(words, from + 1, end, path, out)?;
    }
    Ok(())
}

fn too_many() -> Error {
    Error::new(Kind::TooManyClauses, format!("maxClauseCount is set to {PATHS_MAX}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(term: &str, position: u32, length: u32) -> Word {
        Word { term: term.into(), position, length }
    }

    /// Each word of such a text became a term, and the node ended for want of memory.
    #[test]
    fn a_text_of_too_many_words_is_refused() {
        let analysis = json::json!({
            "filter": {"all": {"type": "ngram", "min_gram": 1, "max_gram": 2}},
            "analyzer": {
                "pieces": {"tokenizer": "keyword", "filter": ["all"]},
                "again": {"tokenizer": "whitespace", "filter": (vec!["keyword_repeat"; 40])}
            }
        });
        let registry = mapping::analysis::Registry::parse(&analysis).expect("known parts");
        let long = "ab".repeat(300_000);
        for (name, text) in [("pieces", long.as_str()), ("again", "a")] {
            let analyzer = registry.analyzer(name).expect("given");
            let error = words(analyzer, text, &mut WordBytes::default()).expect_err("too many");
            assert_eq!(error.kind, crate::error::Kind::CircuitBreaking, "{name}");
        }
        let pieces = registry.analyzer("pieces").expect("given");
        let mut taken = WordBytes::default();
        assert_eq!(words(pieces, "abc", &mut taken).expect("few").len(), 5);
        // A hundred texts, each of them short enough, took 820 MiB.
        let text = "ab".repeat(50_000);
        let done = (0..100).take_while(|_| words(pieces, &text, &mut taken).is_ok()).count();
        assert!((1..4).contains(&done), "{done} texts");
    }

    /// Shingles beside their words were a graph: only paths to the end of the text matched.
    #[test]
    fn runs_of_several_lengths_are_words_for_one_another() {
        let analysis = json::json!({
            "filter": {
                "beside": {"type": "shingle"},
                "longer": {"type": "shingle", "max_shingle_size": 3, "output_unigrams": false},
                "pairs": {"type": "shingle", "output_unigrams": false},
                "cjk": {"type": "cjk_bigram", "output_unigrams": true},
                "one_of": {"type": "multiplexer", "filters": ["beside"]},
                "means": {"type": "synonym_graph", "synonyms": ["big cat, bear"]}
            },
            "analyzer": {
                "beside": {"tokenizer": "standard", "filter": ["beside", "lowercase"]},
                "longer": {"tokenizer": "standard", "filter": ["longer"]},
                "pairs": {"tokenizer": "standard", "filter": ["pairs"]},
                "cjk": {"tokenizer": "standard", "filter": ["cjk"]},
                "one_of": {"tokenizer": "standard", "filter": ["one_of"]},
                "means": {"tokenizer": "standard", "filter": ["means"]}
            }
        });
        let registry = mapping::analysis::Registry::parse(&analysis).expect("known parts");
        for (name, text, is_flat, wanted) in [
            ("beside", "a b c", true, "a,a b/b,b c/c"),
            ("longer", "a b c", true, "a b,a b c/b c"),
            ("pairs", "a b c", false, "a b/b c"),
            ("cjk", "\u{6771}\u{4eac}", true, "\u{6771},\u{6771}\u{4eac}/\u{4eac}"),
        ] {
            let analyzer = registry.analyzer(name).expect("given");
            assert_eq!(analyzer.is_flat(), is_flat, "{name}");
            let words = words(analyzer, text, &mut WordBytes::default()).expect("few");
            assert!(!is_graph(&words), "{name}");
            let line: Vec<String> = stretches(&words)
                .expect("few")
                .into_iter()
                .map(|(_, stretch)| match stretch {
                    Stretch::Words(all) => {
                        all.iter().map(|word| word.term.as_str()).collect::<Vec<_>>().join(",")
                    }
                    Stretch::Paths(_) => panic!("paths of {name}"),
                })
                .collect();
            assert_eq!(line.join("/"), wanted, "{name}");
        }
        assert!(registry.analyzer("one_of").expect("given").is_flat());
        let means = registry.analyzer("means").expect("given");
        assert!(!means.is_flat());
        let words = words(means, "big cat", &mut WordBytes::default()).expect("few");
        assert!(is_graph(&words), "synonyms of several words stay paths");
        // Intervals follow the paths of any.
        let beside = registry.analyzer("beside").expect("given");
        let words = words_with_lengths(beside, "a b", &mut WordBytes::default()).expect("few");
        assert!(is_graph(&words));
    }

    #[test]
    fn side_paths_are_told_from_words_for_one_another() {
        // big cat => bear beside it; quick, fast.
        let words = [
            word("quick", 0, 1),
            word("fast", 0, 1),
            word("bear", 1, 2),
            word("big", 1, 1),
            word("cat", 2, 1),
            word("runs", 3, 1),
        ];
        let found = stretches(&words).expect("few");
        assert_eq!(found.len(), 3);
        assert!(matches!(&found[0], (0, Stretch::Words(all)) if all.len() == 2));
        let (1, Stretch::Paths(side)) = &found[1] else { panic!("paths") };
        let side: Vec<Vec<&str>> =
            side.iter().map(|path| path.iter().map(|w| w.term.as_str()).collect()).collect();
        assert_eq!(side, [vec!["bear"], vec!["big", "cat"]]);
        assert_eq!(paths(&words).expect("few").len(), 4);
    }
}
