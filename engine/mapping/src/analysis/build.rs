//! Token filters of a type, from their settings; tokenizers and char filters stand in [`super::cutters`].
//!
//! `None` where there is no such type: Elasticsearch's own, if this crate lacks it, is then answered as an
//! unknown name is.

use std::sync::Arc;

use json::Value;

use super::analyzer::{Analyzer, Scratch, Tokenizer};
use super::char_filter::CharFilter;
use super::cutters::{grams, pattern_replacement};
use super::filter::{
    self, AsciiFoldingKeeping, BUCKETS_MAX, CaseOf, CjkBigram, CommonGrams, Decompounder,
    DelimiterOptions, EdgeNgram, Filter, Fingerprint, FlattenGraph, KeepTypes, KeywordRepeat,
    Limit, Marker, MinHash, Multiplexer, Ngram, Normalization, Overrides, PatternCapture,
    PatternReplace, RemoveDuplicates, Shingle, StopWords, SuggestStop, Synonyms, Unique,
    WordDelimiter,
};
use super::languages::french_elision;
use super::options::{character, flag, list, no_path, number_or, rules, stop_words, text, words};
use super::registry::Registry;
use super::room::{ON, STOP};
use super::stem::{Snowball, Stemmer};
use super::token::TokenKind;
use super::tokenizer::MAX_TOKEN_LENGTH;
use crate::{Error, Result};

/// What a filter can ask about where it stands.
pub(super) struct Place<'p> {
    /// The names it may refer to, and the limits of the index.
    pub registry: &'p Registry,
    /// What stands before it, where it stands in a chain.
    pub before: Option<(&'p [CharFilter], &'p Tokenizer, &'p [Filter])>,
}

fn fold(fold: impl super::stage::Fold + 'static) -> Filter {
    Filter::Fold(Arc::new(fold))
}

/// A token filter of a type; some are made of several.
pub(super) fn filter_of(
    kind: &str,
    settings: &Value,
    place: &Place<'_>,
) -> Result<Option<Vec<Filter>>> {
    let one = match kind {
        "lowercase" => match text(settings, "language").as_deref() {
            None => Filter::Lowercase,
            Some("greek") => Filter::LowercaseOf(CaseOf::Greek),
            Some("irish") => Filter::LowercaseOf(CaseOf::Irish),
            Some("turkish") => Filter::LowercaseOf(CaseOf::Turkish),
            Some(other) => {
                return Err(Error::illegal_argument(format!(
                    "language [{other}] not support for lower case"
                )));
            }
        },
        "uppercase" => Filter::Uppercase,
        "stop" => {
            let ignore_case = flag(settings, "ignore_case", false)?;
            let words = Arc::new(stop_words(settings, "stopwords", "_english_", ignore_case)?);
            if flag(settings, "remove_trailing", true)? {
                Filter::Stop(words)
            } else {
                fold(SuggestStop(words))
            }
        }
        "keep" => {
            let Some(words) = words(settings, "keep_words")? else {
                return Err(Error::illegal_argument(
                    "keep requires either `keep_words` or `keep_words_path` to be configured",
                ));
            };
            Filter::Keep(Arc::new(words))
        }
        "keep_types" => {
            let types = list(settings, "types");
            if types.is_empty() {
                return Err(Error::illegal_argument(
                    "keep_types requires `types` to be configured",
                ));
            }
            let keeps = match text(settings, "mode").as_deref().unwrap_or("include") {
                "include" => true,
                "exclude" => false,
                other => {
                    return Err(Error::illegal_argument(format!(
                        "`keep_types` tokenfilter mode can only be [include] or [exclude] but was \
                         [{other}]."
                    )));
                }
            };
            Filter::KeepTypes(Arc::new(KeepTypes::new(types.iter().map(String::as_str), keeps)))
        }
        "length" => {
            let max = number_or(settings, "max", i32::MAX as u32)?;
            Filter::Length(number_or(settings, "min", 0)?, max)
        }
        "truncate" => {
            let length = number_or(settings, "length", 10)?;
            if length < 1 {
                return Err(Error::illegal_argument("length parameter must be provided"));
            }
            Filter::Truncate(length)
        }
        "trim" => Filter::Trim,
        "reverse" => Filter::Reverse,
        "elision" => {
            no_path(settings, "articles")?;
            let ignore_case = flag(settings, "articles_case", false)?;
            if settings.get("articles").is_none() {
                french_elision()
            } else {
                let articles = StopWords::new(list(settings, "articles"), ignore_case);
                Filter::Elision(Arc::new(articles))
            }
        }
        "apostrophe" => Filter::Apostrophe,
        "classic" => Filter::Classic,
        "decimal_digit" => Filter::DecimalDigit,
        "cjk_width" => Filter::CjkWidth,
        "asciifolding" => {
            if flag(settings, "preserve_original", false)? {
                fold(AsciiFoldingKeeping)
            } else {
                Filter::AsciiFolding
            }
        }
        "pattern_replace" => {
            let (pattern, replacement) = pattern_replacement(settings, "token filter")?;
            let all = flag(settings, "all", true)?;
            Filter::PatternReplace(Arc::new(PatternReplace { pattern, replacement, all }))
        }
        "keyword_marker" => Filter::Marker(Arc::new(marker(settings)?)),
        "stemmer_override" => Filter::Overrides(Arc::new(overrides(settings)?)),
        "delimited_payload" => Filter::Payload(character(settings, "delimiter", '|')?),
        "porter_stem" => Filter::Porter,
        "stemmer" => stemmer(settings)?,
        "snowball" => {
            let language = text(settings, "language").or_else(|| text(settings, "name"));
            let language = language.unwrap_or_else(|| "English".to_owned());
            match Snowball::of_snowball(&language) {
                Some(snowball) => Filter::Stem(Stemmer::Snowball(snowball)),
                None => return Err(no_stemmer(&language)),
            }
        }
        "kstem" => Filter::Stem(Stemmer::Krovetz),
        "german_stem" => return Ok(Some(excluding(settings, Stemmer::of_german_stem()))),
        "arabic_stem" | "brazilian_stem" | "czech_stem" | "dutch_stem" | "french_stem"
        | "persian_stem" | "russian_stem" => {
            let language = kind.trim_end_matches("_stem");
            let stemmer = Stemmer::named(language).ok_or_else(|| no_stemmer(language))?;
            return Ok(Some(excluding(settings, stemmer)));
        }
        "arabic_normalization" => Filter::Normalize(Normalization::Arabic),
        "bengali_normalization" => Filter::Normalize(Normalization::Bengali),
        "german_normalization" => Filter::Normalize(Normalization::German),
        "hindi_normalization" => Filter::Normalize(Normalization::Hindi),
        "indic_normalization" => Filter::Normalize(Normalization::Indic),
        "persian_normalization" => Filter::Normalize(Normalization::Persian),
        "scandinavian_normalization" => Filter::Normalize(Normalization::Scandinavian),
        "scandinavian_folding" => Filter::Normalize(Normalization::ScandinavianFolding),
        "serbian_normalization" => Filter::Normalize(Normalization::Serbian),
        "sorani_normalization" => Filter::Normalize(Normalization::Sorani),
        other => return fold_of(other, settings, place),
    };
    Ok(Some(vec![one]))
}

/// The filters that hold, split or join tokens.
fn fold_of(kind: &str, settings: &Value, place: &Place<'_>) -> Result<Option<Vec<Filter>>> {
    let one = match kind {
        "keyword_repeat" => fold(KeywordRepeat),
        "remove_duplicates" => fold(RemoveDuplicates),
        "unique" => fold(Unique { same_position: flag(settings, "only_on_same_position", false)? }),
        "limit" => fold(Limit(number_or(settings, "max_token_count", 1)?)),
        "flatten_graph" => fold(FlattenGraph),
        "fingerprint" => {
            let separator = character(settings, "separator", ' ')?;
            let size_max = number_or(settings, "max_output_size", 255)? as usize;
            fold(Fingerprint { separator, size_max })
        }
        "min_hash" => fold(min_hash(settings)?),
        "ngram" | "edge_ngram" => return gram_filters(kind, settings, place.registry).map(Some),
        "shingle" => fold(shingle(settings, place.registry)?),
        "common_grams" => {
            no_path(settings, "common_words")?;
            let ignore_case = flag(settings, "ignore_case", false)?;
            if settings.get("common_words").is_none() {
                return Err(Error::illegal_argument(
                    "missing or empty [common_words] or [common_words_path] configuration for \
                     common_grams token filter",
                ));
            }
            let words = stop_words(settings, "common_words", "_none_", ignore_case)?;
            fold(CommonGrams { words, query: flag(settings, "query_mode", false)? })
        }
        "cjk_bigram" => {
            let ignored = list(settings, "ignored_scripts");
            let mut kinds = Vec::new();
            for (script, kind) in [
                ("han", TokenKind::Ideographic),
                ("hiragana", TokenKind::Hiragana),
                ("katakana", TokenKind::Katakana),
                ("hangul", TokenKind::Hangul),
            ] {
                if !ignored.iter().any(|name| name == script) {
                    kinds.push(kind);
                }
            }
            fold(CjkBigram { kinds, unigrams: flag(settings, "output_unigrams", false)? })
        }
        "pattern_capture" => {
            let patterns = rules(settings, "patterns");
            if settings.get("patterns").is_none() {
                return Err(Error::illegal_argument(
                    "required setting 'patterns' is missing for token filter",
                ));
            }
            let patterns = patterns
                .iter()
                .map(|pattern| crate::analysis::regex::pattern(pattern, ""))
                .collect::<Result<_>>()?;
            let preserve_original = flag(settings, "preserve_original", true)?;
            fold(PatternCapture { patterns, preserve_original })
        }
        "dictionary_decompounder" => {
            let Some(words) = words(settings, "word_list")? else {
                return Err(Error::illegal_argument(
                    "word_list must be provided for [dictionary_decompounder], either as a path to \
                     a file, or directly",
                ));
            };
            fold(Decompounder {
                words,
                word_min: number_or(settings, "min_word_size", 5)? as usize,
                part_min: number_or(settings, "min_subword_size", 2)?.max(1) as usize,
                part_max: number_or(settings, "max_subword_size", 15)? as usize,
                longest: flag(settings, "only_longest_match", false)?,
            })
        }
        "word_delimiter" | "word_delimiter_graph" => {
            let graph = kind == "word_delimiter_graph";
            fold(WordDelimiter { options: delimiter(settings)?, graph })
        }
        "multiplexer" => fold(multiplexer(settings, place)?),
        "synonym" | "synonym_graph" => synonyms(kind == "synonym_graph", settings, place)?,
        _ => return Ok(None),
    };
    Ok(Some(vec![one]))
}

fn min_hash(settings: &Value) -> Result<MinHash> {
    let hash_count = number_or(settings, "hash_count", 1)?;
    let bucket_count = number_or(settings, "bucket_count", 512)?;
    let set_size = number_or(settings, "hash_set_size", 1)?;
    let named =
        [("hashCount", hash_count), ("bucketCount", bucket_count), ("hashSetSize", set_size)];
    if let Some((name, _)) = named.iter().find(|(_, count)| *count == 0) {
        return Err(Error::illegal_argument(format!("{name} must be greater than zero")));
    }
    let buckets = u64::from(hash_count) * u64::from(bucket_count) * u64::from(set_size);
    if buckets > BUCKETS_MAX as u64 {
        return Err(Error::illegal_argument(format!(
            "[hash_count] times [bucket_count] times [hash_set_size] is [{buckets}], at most \
             [{BUCKETS_MAX}] are allowed"
        )));
    }
    let rotates = flag(settings, "with_rotation", bucket_count > 1)?;
    Ok(MinHash {
        hash_count: hash_count as usize,
        bucket_count: bucket_count as usize,
        set_size: set_size as usize,
        rotates,
    })
}

fn gram_filters(kind: &str, settings: &Value, registry: &Registry) -> Result<Vec<Filter>> {
    let (min, max) = grams(settings)?;
    let preserve_original = flag(settings, "preserve_original", false)?;
    let ngram = Ngram { min, max, preserve_original };
    if kind == "ngram" {
        registry.limits.check_ngram(min, max, "Token Filter")?;
        return Ok(vec![fold(ngram)]);
    }
    match text(settings, "side").as_deref().unwrap_or("front") {
        "front" => Ok(vec![fold(EdgeNgram(ngram))]),
        "back" => Ok(vec![Filter::Reverse, fold(EdgeNgram(ngram)), Filter::Reverse]),
        other => Err(Error::illegal_argument(format!("invalid side: {other}"))),
    }
}

fn shingle(settings: &Value, registry: &Registry) -> Result<Shingle> {
    let max = number_or(settings, "max_shingle_size", 2)?;
    let min = number_or(settings, "min_shingle_size", 2)?;
    let unigrams = flag(settings, "output_unigrams", true)?;
    registry.limits.check_shingle(min, max, unigrams)?;
    if max < 2 {
        return Err(Error::illegal_argument("Max shingle size must be >= 2"));
    }
    if min < 2 {
        return Err(Error::illegal_argument("Min shingle size must be >= 2"));
    }
    if min > max {
        return Err(Error::illegal_argument("Min shingle size must be <= max shingle size"));
    }
    Ok(Shingle {
        min: min as usize,
        max: max as usize,
        unigrams,
        unigrams_if_none: flag(settings, "output_unigrams_if_no_shingles", false)?,
        separator: text(settings, "token_separator").unwrap_or_else(|| " ".to_owned()),
        filler: text(settings, "filler_token").unwrap_or_else(|| "_".to_owned()),
        kind: TokenKind::Shingle,
    })
}

fn marker(settings: &Value) -> Result<Marker> {
    no_path(settings, "keywords")?;
    let ignore_case = flag(settings, "ignore_case", false)?;
    match (text(settings, "keywords_pattern"), settings.get("keywords")) {
        (Some(_), Some(_)) => Err(Error::illegal_argument(
            "cannot specify both `keywords_pattern` and `keywords` or `keywords_path`",
        )),
        (Some(pattern), None) => {
            Ok(Marker::Pattern(crate::analysis::regex::pattern(&pattern, "")?))
        }
        (None, Some(_)) => {
            Ok(Marker::Words(StopWords::new(list(settings, "keywords"), ignore_case)))
        }
        (None, None) => Err(Error::illegal_argument(
            "keyword filter requires either `keywords`, `keywords_path`, or `keywords_pattern` to \
             be configured",
        )),
    }
}

fn overrides(settings: &Value) -> Result<Overrides> {
    no_path(settings, "rules")?;
    if settings.get("rules").is_none() {
        return Err(Error::illegal_argument(
            "stemmer override filter requires either `rules` or `rules_path` to be configured",
        ));
    }
    let mut pairs = Vec::new();
    for rule in rules(settings, "rules") {
        let wrong = || Error::illegal_argument(format!("Invalid Keyword override Rule:{rule}"));
        let (words, stem) = rule.split_once("=>").ok_or_else(wrong)?;
        let stem = stem.trim();
        if stem.is_empty() || stem.contains("=>") || stem.contains(',') {
            return Err(wrong());
        }
        for word in words.split(',').map(str::trim) {
            if word.is_empty() {
                return Err(wrong());
            }
            pairs.push((word.to_owned(), stem.to_owned()));
        }
    }
    Ok(Overrides::new(pairs))
}

fn stemmer(settings: &Value) -> Result<Filter> {
    let language = text(settings, "language").or_else(|| text(settings, "name"));
    let language = language.unwrap_or_else(|| "porter".to_owned());
    Ok(match language.to_ascii_lowercase().as_str() {
        "english" | "porter" => Filter::Porter,
        "possessive_english" | "possessiveenglish" => Filter::Possessive,
        other => Filter::Stem(Stemmer::named(other).ok_or_else(|| no_stemmer(&language))?),
    })
}

fn no_stemmer(name: &str) -> Error {
    Error::illegal_argument(format!("Invalid stemmer class specified: {name}"))
}

/// A stemmer that leaves the words of `stem_exclusion` alone.
fn excluding(settings: &Value, stemmer: Stemmer) -> Vec<Filter> {
    let mut filters = Vec::new();
    let kept = list(settings, "stem_exclusion");
    if !kept.is_empty() {
        filters.push(Filter::Marker(Arc::new(Marker::Words(StopWords::new(kept, false)))));
    }
    filters.push(Filter::Stem(stemmer));
    filters
}

fn delimiter(settings: &Value) -> Result<DelimiterOptions> {
    no_path(settings, "type_table")?;
    no_path(settings, "protected_words")?;
    let types = filter::type_table(&rules(settings, "type_table"))
        .map_err(|rule| Error::illegal_argument(format!("Invalid Mapping Rule : [{rule}]")))?;
    Ok(DelimiterOptions {
        word_parts: flag(settings, "generate_word_parts", true)?,
        number_parts: flag(settings, "generate_number_parts", true)?,
        catenate_words: flag(settings, "catenate_words", false)?,
        catenate_numbers: flag(settings, "catenate_numbers", false)?,
        catenate_all: flag(settings, "catenate_all", false)?,
        split_on_case_change: flag(settings, "split_on_case_change", true)?,
        split_on_numerics: flag(settings, "split_on_numerics", true)?,
        preserve_original: flag(settings, "preserve_original", false)?,
        stem_possessive: flag(settings, "stem_english_possessive", true)?,
        adjust_offsets: flag(settings, "adjust_offsets", true)?,
        ignore_keywords: flag(settings, "ignore_keywords", false)?,
        protected: StopWords::new(list(settings, "protected_words"), false),
        types,
    })
}

fn multiplexer(settings: &Value, place: &Place<'_>) -> Result<Multiplexer> {
    let mut chains = Vec::new();
    if flag(settings, "preserve_original", true)? {
        chains.push(Vec::new());
    }
    for names in rules(settings, "filters") {
        let mut chain = Vec::new();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let found = place.registry.filter(name, place.before)?.ok_or_else(|| {
                Error::illegal_argument(format!(
                    "Multiplexing filter [multiplexer] refers to undefined tokenfilter [{name}]"
                ))
            })?;
            chain.extend(found);
        }
        chains.push(chain);
    }
    Ok(Multiplexer { chains })
}

/// Most bytes that the words of one side of a synonym rule may have, each with what keeps it.
const RULE_BYTES_MAX: usize = 64 << 20;

/// Bytes that keep a word.
const WORD_BYTES: usize = 40;

/// Synonyms, their rules cut as the chain before them cuts.
fn synonyms(graph: bool, settings: &Value, place: &Place<'_>) -> Result<Filter> {
    if text(settings, "synonyms_set").is_some() {
        return Err(Error::illegal_argument("[synonyms_set] is not available"));
    }
    no_path(settings, "synonyms")?;
    if settings.get("synonyms").is_none() {
        return Err(Error::illegal_argument(
            "synonym requires either `synonyms`, `synonyms_set` or `synonyms_path` to be configured",
        ));
    }
    let lines = rules(settings, "synonyms");
    let updateable = flag(settings, "updateable", false)?;
    let lenient = flag(settings, "lenient", updateable)?;
    let expand = flag(settings, "expand", true)?;
    let (char_filters, tokenizer, filters) = match place.before {
        Some((char_filters, tokenizer, filters)) => {
            (char_filters.to_vec(), tokenizer.clone(), filters.to_vec())
        }
        None => (Vec::new(), Tokenizer::Whitespace(MAX_TOKEN_LENGTH), Vec::new()),
    };
    let chain = Analyzer::whole("synonyms", char_filters, tokenizer, filters);
    let cut = |text: &str| -> Result<Vec<String>> {
        let mut words = Vec::new();
        let (mut next, mut bytes) = (0, 0);
        let mut wrong = None;
        let done = chain.tokens_with(text, &mut Scratch::default(), |token| {
            if token.term.is_empty() {
                wrong = Some(format!("term: {text} analyzed to a zero-length token"));
            }
            if token.position != next {
                let inc = i64::from(token.position) - i64::from(next) + 1;
                wrong.get_or_insert_with(|| {
                    format!(
                        "term: {text} analyzed to a token ({}) with position increment != 1 (got: \
                         {inc})",
                        token.term
                    )
                });
            }
            next = token.position + 1;
            bytes += token.term.len() + WORD_BYTES;
            if wrong.is_some() || bytes > RULE_BYTES_MAX {
                return STOP;
            }
            words.push(token.term.to_owned());
            ON
        });
        if wrong.is_none() && (done.lacks_room || bytes > RULE_BYTES_MAX) {
            wrong =
                Some(format!("a term of {} bytes takes too much memory to analyze", text.len()));
        }
        match wrong {
            Some(reason) => Err(Error::illegal_argument(reason)),
            None if words.is_empty() => Err(Error::illegal_argument(format!(
                "term: {text} was completely eliminated by analyzer"
            ))),
            None => Ok(words),
        }
    };
    let rules = match text(settings, "format").as_deref().unwrap_or("") {
        "wordnet" => filter::parse_wordnet(&lines, expand, lenient, &cut)?,
        _ => filter::parse_solr(&lines, expand, lenient, &cut)?,
    };
    Ok(fold(Synonyms { rules, graph }))
}
