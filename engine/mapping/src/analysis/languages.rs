//! Built-in analyzers, language by language, each put together as Lucene's.

use std::sync::Arc;

use json::Value;

use super::analyzer::{Analyzer, Tokenizer};
use super::char_filter::CharFilter;
use super::filter::{
    CaseOf, CjkBigram, Filter, Fingerprint, Marker, Normalization, Overrides, StopWords,
};
use super::options::{character, flag, list, number_or, stop_list, stop_words, text};
use super::stem::{Snowball, Stemmer};
use super::token::TokenKind;
use super::tokenizer::{Cut, MAX_TOKEN_LENGTH};
use crate::Result;

/// Every built-in analyzer.
pub(super) const NAMES: [&str; 42] = [
    "standard",
    "simple",
    "whitespace",
    "keyword",
    "stop",
    "pattern",
    "fingerprint",
    "english",
    "arabic",
    "armenian",
    "basque",
    "bengali",
    "brazilian",
    "bulgarian",
    "catalan",
    "cjk",
    "czech",
    "danish",
    "dutch",
    "estonian",
    "finnish",
    "french",
    "galician",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "latvian",
    "lithuanian",
    "norwegian",
    "persian",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "sorani",
    "spanish",
    "swedish",
    "turkish",
];

/// An analyzer of a built-in type; `None` where there is no such type.
pub(super) fn built_in(kind: &str, name: &str, settings: &Value) -> Result<Option<Analyzer>> {
    let max = number_or(settings, "max_token_length", MAX_TOKEN_LENGTH)?;
    let stop = |default: &str| -> Result<Vec<Filter>> {
        let words = stop_words(settings, "stopwords", default, false)?;
        Ok(stop_filter(words))
    };
    let chain = |mut filters: Vec<Filter>, more: Vec<Filter>| {
        filters.extend(more);
        filters
    };
    let (tokenizer, filters) = match kind {
        "standard" => (Tokenizer::Standard(max), chain(vec![Filter::Lowercase], stop("_none_")?)),
        "simple" => (Tokenizer::Letter(MAX_TOKEN_LENGTH), vec![Filter::Lowercase]),
        "whitespace" => (Tokenizer::Whitespace(max), Vec::new()),
        "keyword" => (Tokenizer::Keyword, Vec::new()),
        "stop" => {
            let filters = chain(vec![Filter::Lowercase], stop("_english_")?);
            (Tokenizer::Letter(MAX_TOKEN_LENGTH), filters)
        }
        "pattern" => {
            let pattern = text(settings, "pattern").unwrap_or_else(|| r"\W+".to_owned());
            let flags = text(settings, "flags").unwrap_or_default();
            let pattern = Arc::new(crate::analysis::regex::pattern(&pattern, &flags)?);
            let lower = flag(settings, "lowercase", true)?;
            let filters = if lower { vec![Filter::Lowercase] } else { Vec::new() };
            (Tokenizer::Cut(Cut::Pattern(pattern, None)), chain(filters, stop("_none_")?))
        }
        "fingerprint" => {
            let separator = character(settings, "separator", ' ')?;
            let size_max = number_or(settings, "max_output_size", 255)? as usize;
            let fold = Filter::Fold(Arc::new(Fingerprint { separator, size_max }));
            let filters = chain(vec![Filter::Lowercase, Filter::AsciiFolding], stop("_none_")?);
            (Tokenizer::Standard(MAX_TOKEN_LENGTH), chain(filters, vec![fold]))
        }
        language => return of_language(language, name, settings),
    };
    Ok(Some(Analyzer::new(name, tokenizer, filters)))
}

fn stop_filter(words: StopWords) -> Vec<Filter> {
    (!words.is_empty()).then(|| Filter::Stop(Arc::new(words))).into_iter().collect()
}

/// The parts of the languages' chains.
struct Parts {
    stop: Vec<Filter>,
    /// Words that stemmers must leave alone.
    kept: Vec<Filter>,
}

fn of_language(language: &str, name: &str, settings: &Value) -> Result<Option<Analyzer>> {
    if language != "english" && !NAMES[8..].contains(&language) {
        return Ok(None);
    }
    let stop = if language == "cjk" && settings.get("stopwords").is_none() {
        StopWords::new(stop_list("cjk").unwrap_or_default(), false)
    } else {
        let default = if language == "cjk" { "_english_".into() } else { format!("_{language}_") };
        stop_words(settings, "stopwords", &default, false)?
    };
    let kept = list(settings, "stem_exclusion");
    let kept = if kept.is_empty() {
        Vec::new()
    } else {
        vec![Filter::Marker(Arc::new(Marker::Words(StopWords::new(kept, false))))]
    };
    let Some(filters) = filters(language, Parts { stop: stop_filter(stop), kept }) else {
        return Ok(None);
    };
    let before = if language == "persian" { vec![CharFilter::Persian] } else { Vec::new() };
    Ok(Some(Analyzer::whole(name, before, Tokenizer::Standard(MAX_TOKEN_LENGTH), filters)))
}

fn filters(language: &str, parts: Parts) -> Option<Vec<Filter>> {
    use Filter::{DecimalDigit, Lowercase, LowercaseOf, Normalize};
    let Parts { stop, kept } = parts;
    let snowball =
        |name: &str| Snowball::of_snowball(name).map(|s| Filter::Stem(Stemmer::Snowball(s)));
    let light = |name: &str| Stemmer::named(name).map(Filter::Stem);
    let mut filters: Vec<Filter> = Vec::new();
    let after = match language {
        "english" => {
            filters.extend([Filter::Possessive, Lowercase]);
            vec![Filter::Porter]
        }
        "arabic" => {
            filters.extend([Lowercase, DecimalDigit]);
            filters.extend(stop);
            filters.push(Normalize(Normalization::Arabic));
            filters.extend(kept);
            filters.push(light("arabic")?);
            return Some(filters);
        }
        "bengali" | "hindi" => {
            let own =
                if language == "hindi" { Normalization::Hindi } else { Normalization::Bengali };
            filters.extend([Lowercase, DecimalDigit]);
            filters.extend(kept);
            filters.extend([Normalize(Normalization::Indic), Normalize(own)]);
            filters.extend(stop);
            filters.push(light(language)?);
            return Some(filters);
        }
        "persian" => {
            filters.extend([Lowercase, DecimalDigit]);
            filters.extend([Normalize(Normalization::Arabic), Normalize(Normalization::Persian)]);
            filters.extend(stop);
            return Some(filters);
        }
        "sorani" => {
            filters.extend([Normalize(Normalization::Sorani), Lowercase, DecimalDigit]);
            vec![light("sorani")?]
        }
        "cjk" => {
            let kinds = vec![
                TokenKind::Ideographic,
                TokenKind::Hiragana,
                TokenKind::Katakana,
                TokenKind::Hangul,
            ];
            let pairs = CjkBigram { kinds, unigrams: false };
            filters.extend([Filter::CjkWidth, Lowercase, Filter::Fold(Arc::new(pairs))]);
            filters.extend(stop);
            return Some(filters);
        }
        "catalan" => {
            filters.extend([elision("d l m n s t"), Lowercase]);
            vec![snowball("catalan")?]
        }
        "french" => {
            filters.extend([french_elision(), Lowercase]);
            vec![light("light_french")?]
        }
        "italian" => {
            let articles =
                "c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d";
            filters.extend([elision(articles), Lowercase]);
            vec![light("light_italian")?]
        }
        "irish" => {
            let hyphens = StopWords::new(["h", "n", "t"], true);
            filters.push(Filter::Stop(Arc::new(hyphens)));
            filters.extend([elision("d m b"), LowercaseOf(CaseOf::Irish)]);
            vec![snowball("irish")?]
        }
        "dutch" => {
            filters.push(Lowercase);
            let stems = [
                ("fiets", "fiets"),
                ("bromfiets", "bromfiets"),
                ("ei", "eier"),
                ("kind", "kinder"),
            ];
            let stems = stems.map(|(word, stem)| (word.to_owned(), stem.to_owned()));
            vec![Filter::Overrides(Arc::new(Overrides::new(stems))), snowball("dutch")?]
        }
        "german" => {
            filters.push(Lowercase);
            filters.extend(stop);
            filters.extend(kept);
            filters.extend([Normalize(Normalization::German), light("light_german")?]);
            return Some(filters);
        }
        "greek" => {
            filters.push(LowercaseOf(CaseOf::Greek));
            vec![light("greek")?]
        }
        "serbian" => {
            filters.push(Lowercase);
            vec![snowball("serbian")?, Normalize(Normalization::Serbian)]
        }
        "turkish" => {
            filters.extend([Filter::Apostrophe, LowercaseOf(CaseOf::Turkish)]);
            vec![snowball("turkish")?]
        }
        "portuguese" => {
            filters.push(Lowercase);
            vec![light("light_portuguese")?]
        }
        "spanish" => {
            filters.push(Lowercase);
            vec![light("light_spanish")?]
        }
        "brazilian" | "bulgarian" | "czech" | "galician" | "indonesian" | "latvian" => {
            filters.push(Lowercase);
            vec![light(language)?]
        }
        language => {
            filters.push(Lowercase);
            vec![snowball(language)?]
        }
    };
    filters.extend(stop);
    filters.extend(kept);
    filters.extend(after);
    Some(filters)
}

fn elision(articles: &str) -> Filter {
    Filter::Elision(Arc::new(StopWords::new(articles.split(' '), true)))
}

/// French articles, which the filter takes where none are given.
pub(super) fn french_elision() -> Filter {
    elision("l m t qu n s j d c jusqu quoiqu lorsqu puisqu")
}
