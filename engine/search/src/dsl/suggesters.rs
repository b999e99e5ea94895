//! `suggest`: named suggestions, each a text and one suggester.

use json::spanned::Node;

use super::context::{Fault, Read, boolean, float, int, members, text};
use crate::error::{Error, Kind as ErrorKind};
use crate::suggest::completion::{self, Form, Wanted};
use crate::suggest::phrase::{self, Generator, Smoothing};
use crate::suggest::spelling::{Distance, Mode, Sort, Spelling};
use crate::suggest::{Kind, Suggestion};

/// Suggestions of one request.
const SUGGESTIONS_MAX: usize = 64;

/// Options of one suggestion.
const SIZE_MAX: u32 = 10_000;

/// Reads the whole.
pub fn read(node: &Node) -> Read<Vec<Suggestion>> {
    let mut global = None;
    let mut found = Vec::new();
    for member in members(node) {
        if member.value.as_object().is_none() {
            if member.key != "text" {
                let reason = format!("[suggest] does not support [{}]", member.key);
                return Err(Fault::illegal(member.value.at, reason));
            }
            global = Some(text(&member.value)?);
        }
    }
    for member in members(node) {
        if member.value.as_object().is_some() {
            found.push(one(&member.key, &member.value, global.as_deref())?);
        }
    }
    if found.len() > SUGGESTIONS_MAX {
        let reason = format!("more than {SUGGESTIONS_MAX} suggestions");
        return Err(Fault::illegal(node.at, reason));
    }
    Ok(found)
}

fn one(name: &str, node: &Node, global: Option<&str>) -> Read<Suggestion> {
    let (mut plain, mut prefix, mut regex) = (None, None, None);
    let mut body: Option<(&str, &Node)> = None;
    for member in members(node) {
        let value = &member.value;
        match member.key.as_str() {
            "text" => plain = Some(text(value)?),
            "prefix" => prefix = Some(text(value)?),
            "regex" => regex = Some(text(value)?),
            kind @ ("term" | "phrase" | "completion") => body = Some((kind, value)),
            unknown if value.as_object().is_some() => {
                let place = value.at;
                let reason = format!("[{}:{}] unknown field [{unknown}]", place.line, place.column);
                return Err(Fault { error: Error::new(ErrorKind::NamedObject, reason), at: place });
            }
            unknown => {
                let reason = format!("suggestion does not support [{unknown}]");
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    let Some((kind, body)) = body else {
        return Err(Fault::parsing(node.end, "missing suggestion object"));
    };
    let is_regex = regex.is_some() && prefix.is_none();
    let given = prefix.or(plain).or(regex).or_else(|| global.map(str::to_owned));
    let mut suggestion = Suggestion {
        name: name.to_owned(),
        text: String::new(),
        field: String::new(),
        analyzer: None,
        size: 5,
        shard_size: 0,
        kind: match kind {
            "term" => Kind::Term(Spelling::default()),
            "phrase" => Kind::Phrase(Box::default()),
            _ => Kind::Completion(Box::new(completion::Options {
                form: if is_regex { Form::Regexp(10_000) } else { Form::Prefix },
                skip_duplicates: false,
                contexts: Vec::new(),
            })),
        },
    };
    let mut shard_size = None;
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            "field" => suggestion.field = text(value)?,
            "analyzer" => suggestion.analyzer = Some(text(value)?),
            "text" => suggestion.text = text(value)?,
            "size" => suggestion.size = positive(value, "size")?,
            "shard_size" => shard_size = Some(positive(value, "shardSize")?),
            _ => {
                let known = match &mut suggestion.kind {
                    Kind::Term(spelling) => spelling_key(spelling, key, value)?,
                    Kind::Phrase(options) => phrase_key(options, key, value)?,
                    Kind::Completion(options) => completion_key(options, key, value)?,
                };
                if !known {
                    let reason = format!("suggester[{kind}] doesn't support field [{key}]");
                    return Err(Fault::parsing(value.at, reason));
                }
            }
        }
    }
    if suggestion.field.is_empty() {
        let reason = "the required field option is missing";
        let error = Error::new(ErrorKind::Parse, reason);
        return Err(Fault { error, at: body.end });
    }
    if suggestion.text.is_empty() {
        match given {
            Some(given) => suggestion.text = given,
            None => return Err(Fault::illegal(node.end, "The required text option is missing")),
        }
    }
    suggestion.shard_size = shard_size.unwrap_or(suggestion.size.max(5));
    Ok(suggestion)
}

fn positive(node: &Node, name: &str) -> Read<u32> {
    let value = int(node)?;
    match u32::try_from(value) {
        Ok(value) if value > 0 && value <= SIZE_MAX => Ok(value),
        Ok(value) if value > SIZE_MAX => {
            Err(Fault::illegal(node.at, format!("{name} must be at most {SIZE_MAX}")))
        }
        _ => Err(Fault::illegal(node.at, format!("{name} must be positive"))),
    }
}

fn count(node: &Node, name: &str) -> Read<u32> {
    u32::try_from(int(node)?)
        .map_err(|_| Fault::illegal(node.at, format!("{name} must be positive")))
}

/// A key of the term suggester or of a generator; false where there is none such.
fn spelling_key(spelling: &mut Spelling, key: &str, value: &Node) -> Read<bool> {
    match key {
        "suggest_mode" => {
            let mode = text(value)?;
            spelling.mode = match mode.to_ascii_lowercase().as_str() {
                "missing" => Mode::Missing,
                "popular" => Mode::Popular,
                "always" => Mode::Always,
                _ => {
                    let reason = format!(
                        "No enum constant org.elasticsearch.search.suggest.term.\
                         TermSuggestionBuilder.SuggestMode.{}",
                        mode.to_uppercase()
                    );
                    return Err(Fault::illegal(value.at, reason));
                }
            };
        }
        "accuracy" => {
            spelling.accuracy = float(value)?;
            if !(0.0..=1.0).contains(&spelling.accuracy) {
                return Err(Fault::illegal(value.at, "accuracy must be between 0 and 1"));
            }
        }
        "sort" => {
            let sort = text(value)?;
            spelling.sort = match sort.to_ascii_lowercase().as_str() {
                "score" => Sort::Score,
                "frequency" => Sort::Frequency,
                _ => {
                    let reason = format!(
                        "No enum constant org.elasticsearch.search.suggest.SortBy.{}",
                        sort.to_uppercase()
                    );
                    return Err(Fault::illegal(value.at, reason));
                }
            };
        }
        "string_distance" => {
            let distance = text(value)?;
            spelling.distance = match distance.to_ascii_lowercase().as_str() {
                "internal" => Distance::Internal,
                "levenshtein" => Distance::Levenshtein,
                "damerau_levenshtein" => Distance::Damerau,
                "jaro_winkler" => Distance::JaroWinkler,
                "ngram" => Distance::Ngram,
                _ => {
                    let reason = format!("Illegal distance option {distance}");
                    return Err(Fault::illegal(value.at, reason));
                }
            };
        }
        "max_edits" => {
            let edits = int(value)?;
            if !(1..=2).contains(&edits) {
                return Err(Fault::illegal(value.at, "maxEdits must be between 1 and 2"));
            }
            spelling.max_edits = edits as u32;
        }
        "max_inspections" => spelling.max_inspections = count(value, "maxInspections")?.min(1_000),
        "max_term_freq" => spelling.max_term_freq = float(value)?,
        "prefix_length" => spelling.prefix_length = count(value, "prefixLength")?,
        "min_word_length" => spelling.min_word_length = count(value, "minWordLength")?,
        "min_doc_freq" => spelling.min_doc_freq = float(value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn phrase_key(options: &mut phrase::Options, key: &str, value: &Node) -> Read<bool> {
    let number = |value: &Node| -> Read<f64> { Ok(f64::from(float(value)?)) };
    match key {
        "real_word_error_likelihood" => options.real_word = number(value)?,
        "confidence" => options.confidence = number(value)?,
        "separator" => options.separator = text(value)?,
        "max_errors" => {
            options.max_errors = number(value)?;
            if options.max_errors <= 0.0 {
                return Err(Fault::illegal(value.at, "max_error must be > 0.0"));
            }
        }
        "gram_size" => options.gram_size = Some(positive(value, "gramSize")?),
        "force_unigrams" => options.force_unigrams = boolean(value)?,
        "token_limit" => options.token_limit = positive(value, "token_limit")?.min(64),
        "highlight" => {
            let (mut pre, mut post) = (String::new(), String::new());
            for member in members(value) {
                match member.key.as_str() {
                    "pre_tag" => pre = text(&member.value)?,
                    "post_tag" => post = text(&member.value)?,
                    other => {
                        let reason =
                            format!("suggester[phrase][highlight] doesn't support field [{other}]");
                        return Err(Fault::parsing(member.value.at, reason));
                    }
                }
            }
            options.tags = Some((pre, post));
        }
        "direct_generator" => match value.as_array() {
            Some(items) => {
                for item in items {
                    options.generators.push(generator(item)?);
                }
            }
            None => options.generators.push(generator(value)?),
        },
        "smoothing" => options.smoothing = smoothing(value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn generator(node: &Node) -> Read<Generator> {
    let spelling = Spelling::default();
    let mut made = Generator { field: String::new(), size: 5, spelling };
    for member in members(node) {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            "field" => made.field = text(value)?,
            "size" => made.size = positive(value, "size")?,
            _ if spelling_key(&mut made.spelling, key, value)? => {}
            _ => {
                let reason = format!("[direct_generator] unknown field [{key}]");
                return Err(Fault::content(member.key_at, member.key_at, reason));
            }
        }
    }
    if made.field.is_empty() {
        return Err(Fault::illegal(
            node.end,
            "[direct_generator] expects exactly one field parameter",
        ));
    }
    Ok(made)
}

fn smoothing(node: &Node) -> Read<Smoothing> {
    let Some(model) = members(node).first() else {
        return Err(Fault::illegal(node.at, "Missing object field with smoothing model"));
    };
    let key = |name: &str, default: f32| -> Read<f64> {
        let found = members(&model.value).iter().find(|member| member.key == name);
        Ok(f64::from(found.map_or(Ok(default), |member| float(&member.value))?))
    };
    Ok(match model.key.as_str() {
        "stupid_backoff" => Smoothing::Backoff(key("discount", 0.4)?),
        "laplace" => Smoothing::Laplace(key("alpha", 0.5)?),
        "linear_interpolation" => Smoothing::Interpolation(
            key("trigram_lambda", 0.0)?,
            key("bigram_lambda", 0.0)?,
            key("unigram_lambda", 0.0)?,
        ),
        unknown => {
            let reason = format!("suggester[phrase] doesn't support object field [{unknown}]");
            return Err(Fault::illegal(model.value.at, reason));
        }
    })
}

fn completion_key(options: &mut completion::Options, key: &str, value: &Node) -> Read<bool> {
    match key {
        "skip_duplicates" => options.skip_duplicates = boolean(value)?,
        "fuzzy" if value.as_object().is_none() => {
            if boolean(value)? {
                options.form = fuzzy(&[])?;
            }
        }
        "fuzzy" => options.form = fuzzy(members(value))?,
        "regex" => {
            for member in members(value) {
                if member.key == "max_determinized_states" {
                    options.form = Form::Regexp(count(&member.value, "maxDeterminizedStates")?);
                }
            }
        }
        "contexts" => {
            for member in members(value) {
                options.contexts.push(wanted(&member.key, &member.value)?);
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn fuzzy(members: &[json::spanned::Member]) -> Read<Form> {
    let (mut edits, mut transpositions, mut min_length, mut prefix_length) = (None, true, 3, 1);
    for member in members {
        let value = &member.value;
        match member.key.as_str() {
            "fuzziness" => {
                let word = text(value)?;
                edits = if word.to_ascii_uppercase().starts_with("AUTO") {
                    None
                } else {
                    match word.parse::<f32>() {
                        Ok(number) if (0.0..=2.0).contains(&number) => Some(number as u32),
                        _ => {
                            let reason = format!("Invalid fuzziness value: {word}");
                            return Err(Fault::illegal(value.at, reason));
                        }
                    }
                };
            }
            "transpositions" => transpositions = boolean(value)?,
            "min_length" => min_length = count(value, "fuzzyMinLength")?,
            "prefix_length" => prefix_length = count(value, "fuzzyPrefixLength")?,
            "unicode_aware" => {
                boolean(value)?;
            }
            "max_determinized_states" => {
                count(value, "maxDeterminizedStates")?;
            }
            other => {
                let reason = format!("[fuzzy] unknown field [{other}]");
                return Err(Fault::content(member.key_at, member.key_at, reason));
            }
        }
    }
    Ok(Form::Fuzzy { edits, transpositions, min_length, prefix_length })
}

fn wanted(name: &str, node: &Node) -> Read<Wanted> {
    let mut made = Wanted { name: name.to_owned(), values: Vec::new() };
    let items = node.as_array().map_or(std::slice::from_ref(node), |items| items);
    for item in items {
        let (mut value, mut boost, mut prefix) = (None, 1, false);
        if item.as_object().is_some() && members(item).iter().any(|member| member.key == "context")
        {
            for member in members(item) {
                match member.key.as_str() {
                    "context" => value = Some(member.value.to_value()),
                    "boost" => boost = positive(&member.value, "boost")?,
                    "prefix" => prefix = boolean(&member.value)?,
                    _ => {}
                }
            }
        } else {
            value = Some(item.to_value());
        }
        if let Some(value) = value {
            made.values.push((value, boost, prefix));
        }
    }
    Ok(made)
}
