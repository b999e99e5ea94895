//! Parameters of full text.

use std::sync::Arc;

use json::Value;

use super::super::define::{flag, java_text};
use super::kinds::{not_configured, similarity};
use super::not_negative;
use crate::analysis::Analyzer;
use crate::types::{IndexOptions, Text, TextFlavor};
use crate::{Error, Result, Settings};

/// Reads a parameter of full text; `false` where it is none.
pub(super) fn text_parameter(
    text: &mut Text,
    key: &str,
    value: &Value,
    name: &str,
    settings: &Settings,
) -> Result<bool> {
    match (text.flavor, key) {
        (_, "analyzer") => text.names[0] = Some(java_text(value).into()),
        (_, "search_analyzer") => text.names[1] = Some(java_text(value).into()),
        (_, "search_quote_analyzer") => text.names[2] = Some(java_text(value).into()),
        (TextFlavor::MatchOnly, _) => return Ok(false),
        (_, "norms") => text.norms = flag(value)?,
        (_, "index_options") => text.index_options = index_options(value)?,
        (_, "term_vector") => text.term_vector = term_vector(value)?,
        (_, "similarity") => text.similarity = similarity(value, name, settings)?,
        (TextFlavor::SearchAsYouType(_), "max_shingle_size") => {
            let size = not_negative(value, key)?;
            if !(2..=4).contains(&size) {
                return Err(Error::mapper_parsing(format!(
                    "[max_shingle_size] must be at least [2] and at most [4], got [{size}]"
                )));
            }
            text.flavor = TextFlavor::SearchAsYouType(size as u8);
        }
        (TextFlavor::SearchAsYouType(_), "doc_values") => return Ok(!flag(value)?),
        (TextFlavor::SearchAsYouType(_), _) => return Ok(false),
        (_, "position_increment_gap") => {
            text.position_increment_gap = not_negative(value, key)?;
            text.position_increment_gap_given = true;
        }
        (_, "index_prefixes") => text.index_prefixes = Some(prefixes(value)?),
        (_, "index_phrases") => text.index_phrases = flag(value)?,
        (_, "fielddata") => text.fielddata = flag(value)?,
        (_, "fielddata_frequency_filter") => return Ok(value.as_object().is_some()),
        // Without effect.
        (_, "eager_global_ordinals") => text.eager_global_ordinals = flag(value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn index_options(value: &Value) -> Result<IndexOptions> {
    let options =
        [IndexOptions::Positions, IndexOptions::Docs, IndexOptions::Freqs, IndexOptions::Offsets];
    let wanted = java_text(value);
    let found = options.into_iter().find(|options| options.name() == wanted);
    found.ok_or_else(|| {
        Error::mapper_parsing(format!(
            "Unknown value [{wanted}] for field [index_options] - accepted values are [positions, \
             docs, freqs, offsets]"
        ))
    })
}

fn term_vector(value: &Value) -> Result<Option<Arc<str>>> {
    const KNOWN: [&str; 7] = [
        "no",
        "yes",
        "with_positions",
        "with_offsets",
        "with_positions_offsets",
        "with_positions_payloads",
        "with_positions_offsets_payloads",
    ];
    let wanted = java_text(value);
    if !KNOWN.contains(&wanted.as_str()) {
        return Err(Error::mapper_parsing(format!(
            "Unknown value [{wanted}] for field [term_vector] - accepted values are [{}]",
            KNOWN.join(", ")
        )));
    }
    Ok((wanted != "no").then(|| wanted.into()))
}

/// `index_prefixes`: fewest and most characters.
fn prefixes(value: &Value) -> Result<(u32, u32)> {
    let Value::Object(members) = value else {
        return Err(Error::mapper_parsing("[index_prefixes] must be an object"));
    };
    let (mut least, mut most) = (2, 5);
    for (key, value) in members.iter() {
        match key {
            "min_chars" => least = not_negative(value, key)?,
            "max_chars" => most = not_negative(value, key)?,
            _ => {
                return Err(Error::mapper_parsing(format!(
                    "[index_prefixes] has unsupported parameters: [{key} : {}]",
                    java_text(value)
                )));
            }
        }
    }
    if least > most {
        return Err(Error::illegal_argument(format!(
            "min_chars [{least}] must be less than max_chars [{most}]"
        )));
    }
    if least < 1 {
        return Err(Error::illegal_argument(format!(
            "min_chars [{least}] must be greater than zero"
        )));
    }
    if most >= 20 {
        return Err(Error::illegal_argument(format!("max_chars [{most}] must be less than 20")));
    }
    Ok((least, most))
}

/// Finds the analyzers that a text field names.
pub(super) fn finish_text(text: &mut Text, settings: &Settings) -> Result<()> {
    let registry = &settings.analysis;
    let find = |name: &Option<Arc<str>>| -> Result<Option<Arc<Analyzer>>> {
        // An unset analyzer is called `default`.
        let Some(name) = name.as_deref() else { return Ok(None) };
        if name == "default" {
            return Ok(Some(registry.default_analyzer().clone()));
        }
        let found = registry.analyzer(name).cloned();
        found.map(Some).ok_or_else(|| not_configured(name))
    };
    let [own, search, quote] =
        [find(&text.names[0])?, find(&text.names[1])?, find(&text.names[2])?];
    let searches_with = match (&own, search) {
        (_, Some(search)) => search,
        (None, None) => {
            let default = registry.default_search_analyzer();
            default.unwrap_or(registry.default_analyzer()).clone()
        }
        (Some(own), None) => registry.default_search_analyzer().unwrap_or(own).clone(),
    };
    text.analyzer = own.unwrap_or_else(|| registry.default_analyzer().clone());
    text.search_quote_analyzer = quote.unwrap_or_else(|| searches_with.clone());
    text.search_analyzer = searches_with;
    if !text.position_increment_gap_given {
        text.position_increment_gap = text.analyzer.gap();
    }
    Ok(())
}
