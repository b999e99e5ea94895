//! The phrase suggester: a noisy channel, in which each word may have become another, and a model of
//! how words follow each other, from shingles in the index. As Elasticsearch's, whose numbers are kept.

use std::sync::Arc;

use base::FieldNo;
use mapping::analysis::{Analyzer, ON, ROOM_BYTES, STOP, Scratch, TokenKind};
use mapping::{Kind as Type, Mapping};
use segment::View;

use super::dictionary::{Awaited, Dictionary, Stats, check};
use super::spelling::{Mode, Spelling};
use super::{Entry, Offer, Suggestion, analyzer_of};
use crate::error::{Error, Kind as ErrorKind, Result};

/// Words of a text that are looked at, at most, and tokens of it.
const WORDS_MAX: usize = 1_000;
const TOKENS_MAX: usize = 100_000;

/// Texts that are scored, at most; candidates multiply.
const PATHS_MAX: usize = 200_000;

/// How likely runs of words are that were never seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// Shorter runs, at a discount.
    Backoff(f64),
    /// A little for everything.
    Laplace(f64),
    /// A mixture of runs of three, two and one.
    Interpolation(f64, f64, f64),
}

/// Where candidates for words come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    /// The field.
    pub field: String,
    /// Candidates of each word.
    pub size: u32,
    /// How they are found.
    pub spelling: Spelling,
}

/// What a request says.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How likely a word that is there is right.
    pub real_word: f64,
    /// Options must be better than the text itself, by this factor.
    pub confidence: f64,
    /// Between words.
    pub separator: String,
    /// Most words that may be wrong; below 1 a share of them.
    pub max_errors: f64,
    /// Longest run of words in the field.
    pub gram_size: Option<u32>,
    /// The text must give single words.
    pub force_unigrams: bool,
    /// Texts of as many words get no suggestions.
    pub token_limit: u32,
    /// Where candidates come from; empty: the field itself.
    pub generators: Vec<Generator>,
    /// Marks around what changed.
    pub tags: Option<(String, String)>,
    /// How likely unseen runs are.
    pub smoothing: Smoothing,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            real_word: 0.95,
            confidence: 1.0,
            separator: " ".to_owned(),
            max_errors: 1.0,
            gram_size: None,
            force_unigrams: true,
            token_limit: 10,
            generators: Vec::new(),
            tags: None,
            smoothing: Smoothing::Backoff(0.4),
        }
    }
}

#[derive(Debug)]
pub(super) struct Bound {
    field: FieldNo,
    analyzer: Arc<Analyzer>,
    gram_size: u32,
    generators: Vec<(FieldNo, u32, Spelling)>,
    options: Options,
}

/// A word that may stand at a place.
#[derive(Clone, Debug)]
struct Candidate {
    term: String,
    stats: Stats,
    /// How near it is to the word given; 1 for that itself.
    nearness: f64,
    /// How good it is among candidates.
    score: f64,
    given: bool,
}

impl Bound {
    pub fn new(suggestion: &Suggestion, options: &Options, mapping: &Mapping) -> Result<Self> {
        let no_field = |name: &str| Error::illegal(format!("no mapping found for field [{name}]"));
        let name = &suggestion.field;
        let field = mapping.lookup(name).ok_or_else(|| no_field(name))?;
        let analyzer = analyzer_of(suggestion, mapping)?;
        let shingles = match (&suggestion.analyzer, &field.kind) {
            (None, Type::Text(text)) => text.analyzer.shingles(),
            _ => analyzer.shingles(),
        };
        let bare = shingles.filter(|shingles| shingles.min > 1 && !shingles.unigrams);
        if options.generators.is_empty() && bare.is_some() && options.force_unigrams {
            return Err(Error::illegal(format!(
                "The default candidate generator for phrase suggest can't operate on field: [{name}] \
                 since it doesn't emit unigrams. If this is intentional try to set the candidate \
                 generator field explicitly"
            )));
        }
        if options.gram_size.is_none()
            && suggestion.analyzer.is_none()
            && bare.is_some()
            && options.force_unigrams
        {
            return Err(Error::illegal(format!(
                "The default analyzer for field: [{name}] doesn't emit unigrams. If this is \
                 intentional try to set the analyzer explicitly"
            )));
        }
        let gram_size = options.gram_size.or(shingles.map(|shingles| shingles.max)).unwrap_or(1);
        let mut generators = Vec::new();
        for generator in &options.generators {
            let field = mapping.lookup(&generator.field);
            let field = field.ok_or_else(|| no_field(&generator.field))?;
            generators.push((field.no, generator.size, generator.spelling.clone()));
        }
        if generators.is_empty() {
            generators.push((field.no, 5, Spelling::default()));
        }
        Ok(Self { field: field.no, analyzer, gram_size, generators, options: options.clone() })
    }

    pub fn run(
        &self,
        suggestion: &Suggestion,
        view: &View,
        awaited: Awaited<'_>,
    ) -> Result<Vec<Entry>> {
        let mut entry = Entry {
            text: suggestion.text.clone(),
            length: suggestion.text.encode_utf16().count() as u32,
            cutoff: f64::from(f32::MIN_POSITIVE),
            ..Entry::default()
        };
        let dictionary = Dictionary { view, field: self.field, awaited };
        if !dictionary.is_there() {
            return Ok(vec![entry]);
        }
        let Some(places) = self.places(suggestion, view, awaited)? else { return Ok(vec![entry]) };
        let stats = view.field_stats(self.field);
        let counts: Vec<u64> = view
            .segments
            .iter()
            .filter_map(|at| Some(at.segment.terms(self.field)?.term_count()))
            .collect();
        // Lucene does not know how many terms several segments hold together.
        let vocabulary = stats.term_freq_sum as f64;
        let term_count = match counts.as_slice() {
            [one] => *one as f64,
            _ if vocabulary - 1.0 > 1.0 => -1.0,
            _ => 0.0,
        };
        let mut model =
            Model { bound: self, dictionary, vocabulary, term_count, known: Vec::new() };
        let given: Vec<Candidate> = places.iter().map(|place| place[0].clone()).collect();
        if self.options.confidence > 0.0 {
            let mut score = 0.0;
            for at in 0..given.len() {
                score += model.score(&given, at)?;
            }
            entry.cutoff = score.exp() * self.options.confidence;
        }
        let errors = if self.options.max_errors >= 1.0 {
            self.options.max_errors as usize
        } else {
            (self.options.max_errors * places.len() as f64).round() as usize
        };
        let mut search = Search {
            places: &places,
            best: Vec::new(),
            most: suggestion.shard_size as usize,
            cutoff: entry.cutoff,
            left: PATHS_MAX,
        };
        search.walk(&mut Vec::new(), errors.max(1), 0.0, &mut model)?;
        for (score, path) in search.best {
            check(awaited)?;
            let words: Vec<&str> = path.iter().map(|word| word.term.as_str()).collect();
            let highlighted = self.options.tags.as_ref().map(|(pre, post)| {
                let marked = path.iter().map(|word| {
                    if word.given { word.term.clone() } else { format!("{pre}{}{post}", word.term) }
                });
                marked.collect::<Vec<_>>().join(" ")
            });
            entry.options.push(Offer {
                text: words.join(" "),
                score: score as f32,
                highlighted,
                ..Offer::default()
            });
        }
        Ok(vec![entry])
    }

    /// The words of the text, each with its candidates, itself first; `None` where there are none or
    /// too many.
    fn places(
        &self,
        suggestion: &Suggestion,
        view: &View,
        awaited: Awaited<'_>,
    ) -> Result<Option<Vec<Vec<Candidate>>>> {
        let mut words = Vec::new();
        let mut any = false;
        let (mut count, mut scratch) = (0, Scratch::default());
        let done = self.analyzer.tokens_with(&suggestion.text, &mut scratch, |token| {
            any = true;
            count += 1;
            if !(self.options.force_unigrams && token.kind == TokenKind::Shingle) {
                words.push(token.term.to_owned());
            }
            if words.len() < WORDS_MAX && count < TOKENS_MAX { ON } else { STOP }
        });
        if done.lacks_room {
            return Err(Error::too_large("words of a suggestion", ROOM_BYTES));
        }
        if self.options.force_unigrams && any && words.is_empty() {
            return Err(Error::new(
                ErrorKind::IllegalState,
                "At least one unigram is required but all tokens were ngrams",
            ));
        }
        if words.is_empty() || words.len() >= self.options.token_limit as usize {
            return Ok(None);
        }
        let mut places = Vec::new();
        for word in words {
            let mut place: Vec<Candidate> = Vec::new();
            for (at, (field, size, spelling)) in self.generators.iter().enumerate() {
                let dictionary = Dictionary { view, field: *field, awaited };
                let total = view.field_stats(*field).term_freq_sum as f64;
                let score =
                    |stats: Stats, near: f64| near * ((stats.total as f64 + 1.0) / (total + 1.0));
                if at == 0 {
                    let stats = dictionary.stats(word.as_bytes())?;
                    let score = score(stats, 1.0);
                    place.push(Candidate {
                        term: word.clone(),
                        stats,
                        nearness: 1.0,
                        score,
                        given: true,
                    });
                }
                // Of a word that is there, only much commoner ones are candidates.
                let threshold = match spelling.mode {
                    Mode::Always => None,
                    _ => Some(threshold(dictionary.stats(word.as_bytes())?.docs)),
                };
                for near in spelling.near(&word, *size as usize, &dictionary, threshold)? {
                    if place.iter().any(|known| known.term == near.term) {
                        continue;
                    }
                    let nearness = f64::from(near.score);
                    place.push(Candidate {
                        score: score(near.stats, nearness),
                        term: near.term,
                        stats: near.stats,
                        nearness,
                        given: false,
                    });
                }
            }
            let most = suggestion.shard_size as usize;
            if place.len() - 1 > most {
                place[1..].sort_by(|a, b| b.score.total_cmp(&a.score));
                place.truncate(most + 1);
            }
            places.push(place);
        }
        Ok(Some(places))
    }
}

/// How common a candidate must be, where the word itself is in so many documents.
fn threshold(docs: u64) -> f32 {
    if docs == 0 {
        return 0.0;
    }
    let docs = docs as f64;
    let raised = (docs * (docs.log10() * (1.0 / 5f64.log10())) + 1.0).round();
    raised.max(0.0) as f32
}

/// How likely words are.
struct Model<'m> {
    bound: &'m Bound,
    dictionary: Dictionary<'m>,
    vocabulary: f64,
    term_count: f64,
    /// Counts that were looked up.
    known: Vec<(String, u64)>,
}

impl Model<'_> {
    fn count(&mut self, text: String) -> Result<f64> {
        if let Some((_, count)) = self.known.iter().find(|(known, _)| *known == text) {
            return Ok(*count as f64);
        }
        let count = self.dictionary.stats(text.as_bytes())?.total;
        if self.known.len() < 4096 {
            self.known.push((text, count));
        }
        Ok(count as f64)
    }

    /// The logarithm of how likely the word at `at` is, with those before it.
    fn score(&mut self, path: &[Candidate], at: usize) -> Result<f64> {
        let word = &path[at];
        let channel =
            if word.nearness == 1.0 { self.bound.options.real_word } else { word.nearness };
        let likely = match self.bound.gram_size {
            _ if at == 0 => self.one(word)?,
            1 => self.one(word)?,
            2 => self.two(word, &path[at - 1])?,
            _ if at == 1 => self.two(word, &path[0])?,
            _ => self.three(word, &path[at - 1], &path[at - 2])?,
        };
        Ok((channel * likely).log10())
    }

    fn one(&mut self, word: &Candidate) -> Result<f64> {
        let count = self.count(word.term.clone())?;
        Ok(match self.bound.options.smoothing {
            Smoothing::Laplace(alpha) => {
                (alpha + count) / (self.vocabulary + alpha * self.term_count)
            }
            _ => (1.0 + count) / (self.vocabulary + self.term_count),
        })
    }

    fn joined(&self, words: &[&Candidate]) -> String {
        let words: Vec<&str> = words.iter().map(|word| word.term.as_str()).collect();
        words.join(&self.bound.options.separator)
    }

    fn two(&mut self, word: &Candidate, before: &Candidate) -> Result<f64> {
        let text = self.joined(&[before, word]);
        let count = self.count(text)?;
        let before_count = before.stats.total as f64;
        Ok(match self.bound.options.smoothing {
            Smoothing::Backoff(discount) if count < 1.0 => discount * self.one(word)?,
            Smoothing::Backoff(_) => count / (before_count + 1e-11),
            Smoothing::Laplace(alpha) => (alpha + count) / (before_count + alpha * self.term_count),
            Smoothing::Interpolation(_, bigram, unigram) if count < 1.0 => {
                let _ = bigram;
                unigram * self.one(word)?
            }
            Smoothing::Interpolation(_, bigram, unigram) => {
                bigram * (count / (0.5 + before_count)) + unigram * self.one(word)?
            }
        })
    }

    fn three(&mut self, word: &Candidate, one: &Candidate, two: &Candidate) -> Result<f64> {
        let pair = self.joined(&[one, word]);
        let run = self.joined(&[two, one, word]);
        let pair_count = self.count(pair)?;
        let first_pair = self.joined(&[two, one]);
        Ok(match self.bound.options.smoothing {
            Smoothing::Backoff(discount) => {
                if pair_count < 1.0 {
                    return Ok(discount * self.one(word)?);
                }
                let run_count = self.count(run)?;
                if run_count < 1.0 {
                    discount * (pair_count / (one.stats.total as f64 + 1e-11))
                } else {
                    run_count / (pair_count + 1e-11)
                }
            }
            Smoothing::Laplace(alpha) => {
                let run_count = self.count(run)?;
                let first = self.count(first_pair)?;
                (alpha + run_count) / (first + alpha * self.term_count)
            }
            Smoothing::Interpolation(trigram, _, _) => {
                if pair_count < 1.0 {
                    return self.two(word, one);
                }
                let run_count = self.count(run)?;
                let first = self.count(first_pair)?;
                if run_count < 1.0 {
                    return self.two(word, one);
                }
                trigram * (run_count / (1.0 + first)) + self.two(word, one)?
            }
        })
    }
}

/// Walks all ways through the candidates with few enough errors.
struct Search<'s> {
    places: &'s [Vec<Candidate>],
    best: Vec<(f64, Vec<Candidate>)>,
    most: usize,
    cutoff: f64,
    left: usize,
}

impl Search<'_> {
    fn walk(
        &mut self,
        path: &mut Vec<Candidate>,
        errors: usize,
        score: f64,
        model: &mut Model<'_>,
    ) -> Result<()> {
        let at = path.len();
        if at == self.places.len() {
            self.offer(path, score.exp());
            return Ok(());
        }
        let places = self.places;
        for candidate in &places[at] {
            if self.left == 0 || (!candidate.given && errors == 0) {
                break;
            }
            self.left -= 1;
            path.push(candidate.clone());
            let more = model.score(path, at)?;
            let errors = errors - usize::from(!candidate.given);
            self.walk(path, errors, score + more, model)?;
            path.pop();
        }
        Ok(())
    }

    fn offer(&mut self, path: &[Candidate], score: f64) {
        if score <= self.cutoff {
            return;
        }
        // Of equal ones the text that is less comes first.
        let order = |a: &(f64, Vec<Candidate>), b: &(f64, Vec<Candidate>)| {
            let terms =
                |path: &[Candidate]| path.iter().map(|word| word.term.clone()).collect::<Vec<_>>();
            b.0.total_cmp(&a.0).then_with(|| terms(&a.1).cmp(&terms(&b.1)))
        };
        let new = (score, path.to_vec());
        let at = self.best.partition_point(|known| order(known, &new).is_lt());
        self.best.insert(at, new);
        self.best.truncate(self.most);
    }
}
