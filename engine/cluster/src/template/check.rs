//! May this template be set? In Elasticsearch's words where not.

use std::collections::BTreeSet;
use std::sync::Arc;

use mapping::{ErrorKind, Mapping};

use super::{
    ComponentTemplate, Composed, IndexTemplate, LegacyTemplate, Templates, overlap, overlap_steps,
};
use crate::data_stream::check_timestamp;
use crate::error::{Error, Result};
use crate::settings::{IndexSettings, prefixed};

/// An index template among the others.
///
/// # Errors
/// A bad name or pattern, a component that is missing, another template of the same priority, a
/// whole that makes no index.
pub fn index(templates: &Templates, name: &str, template: &IndexTemplate) -> Result<()> {
    names(name, &template.patterns)?;
    let ignored: BTreeSet<&str> =
        template.ignore_missing.iter().flatten().map(String::as_str).collect();
    let parts = template.composed_of.iter().map(String::as_str);
    let missing: Vec<&str> = parts
        .filter(|part| !templates.component.contains_key(*part) && !ignored.contains(part))
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        let why = if template.ignore_missing.as_ref().is_none_or(Vec::is_empty) {
            format!(
                "index template [{name}] specifies component templates [{missing}] that do not exist"
            )
        } else {
            format!(
                "index template [{name}] specifies a missing component templates [{missing}] that \
                 does not exist and is not part of 'ignore_missing_component_templates'"
            )
        };
        return Err(Error::Template { name: name.to_owned(), why });
    }
    if is_global(&template.patterns) && says_hidden(&templates.compose(template)) {
        return Err(Error::Template { name: name.to_owned(), why: GLOBAL_HIDDEN.to_owned() });
    }
    same_priority(templates, name, template)?;
    whole(templates, name, template)
}

/// Why a template that fits every index may not hide them.
pub const GLOBAL_HIDDEN: &str =
    "global composable templates may not specify the setting index.hidden";

/// Does a template by itself, without its components, say of every index whether it hides?
pub fn hides_all(template: &IndexTemplate) -> bool {
    let own = IndexTemplate { template: template.template.clone(), ..IndexTemplate::default() };
    is_global(&template.patterns) && says_hidden(&Templates::default().compose(&own))
}

/// Does it fit every index?
fn is_global(patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| pattern == "*")
}

/// Does it say whether an index hides?
fn says_hidden(composed: &Composed) -> bool {
    prefixed(&composed.settings_json()).is_ok_and(|flat| flat.contains_key("index.hidden"))
}

/// Steps of looking for templates of the other kind that fit the same names, at most.
const SHADOW_STEPS_MAX: usize = 4 << 20;

/// What a caller is told who sets a template beside others of the other kind that fit the same
/// names: of two kinds the newer one counts. Nothing where there are none.
pub fn shadows(
    templates: &Templates,
    is_legacy: bool,
    name: &str,
    patterns: &[String],
) -> Option<String> {
    // A warning is not worth more work than that.
    let mut left = SHADOW_STEPS_MAX;
    let mut meets = |others: &[String]| {
        let Some(steps) = overlap_steps(patterns, others, left) else { return false };
        left -= steps;
        others.iter().any(|other| patterns.iter().any(|pattern| overlap(pattern, other)))
    };
    let others: Vec<(&Arc<str>, &[String])> = if is_legacy {
        templates.index.iter().map(|(name, other)| (name, other.patterns.as_slice())).collect()
    } else {
        templates.legacy.iter().map(|(name, other)| (name, other.patterns.as_slice())).collect()
    };
    let met: Vec<_> = others.into_iter().filter(|(_, patterns)| meets(patterns)).collect();
    if met.is_empty() {
        return None;
    }
    let names: Vec<&str> = met.iter().map(|(name, _)| &***name).collect();
    let each: Vec<String> =
        met.iter().map(|(name, patterns)| format!("{name} => [{}]", patterns.join(", "))).collect();
    let (names, each, patterns) = (names.join(","), each.join(","), patterns.join(", "));
    Some(if is_legacy {
        format!(
            "legacy template [{name}] has index patterns [{patterns}] matching patterns from existing \
             composable templates [{names}] with patterns ({each}); this template [{name}] may be \
             ignored in favor of a composable template at index creation time"
        )
    } else {
        format!(
            "index template [{name}] has index patterns [{patterns}] matching patterns from existing \
             older templates [{names}] with patterns ({each}); this template [{name}] will take \
             precedence during new index creation"
        )
    })
}

/// Another template that fits the same names with the same priority.
fn same_priority(templates: &Templates, name: &str, template: &IndexTemplate) -> Result<()> {
    let priority = template.priority.unwrap_or(0);
    let rivals: Vec<(&Arc<str>, &Arc<IndexTemplate>)> = templates
        .index
        .iter()
        .filter(|(other, rival)| {
            &***other != name
                && rival.priority.unwrap_or(0) == priority
                && rival
                    .patterns
                    .iter()
                    .any(|one| template.patterns.iter().any(|two| overlap(one, two)))
        })
        .collect();
    if rivals.is_empty() {
        return Ok(());
    }
    let found: Vec<&str> = rivals.iter().map(|(name, _)| &***name).collect();
    let patterns: Vec<String> = rivals
        .iter()
        .map(|(name, rival)| format!("{name} => [{}]", rival.patterns.join(", ")))
        .collect();
    Err(Error::argument(format!(
        "index template [{name}] has index patterns [{}] matching patterns from existing templates \
         [{}] with patterns ({}) that have the same priority [{priority}], multiple index \
         templates may not match during index creation, please use a different priority",
        template.patterns.join(", "),
        found.join(","),
        patterns.join(",")
    )))
}

/// What the template gives with its components must make an index.
fn whole(templates: &Templates, name: &str, template: &IndexTemplate) -> Result<()> {
    makes_index(&templates.compose(template))
        .map(drop)
        .map_err(|cause| invalid_mappings(name, template, cause))
}

/// As [`invalid_whole`]; that mappings are wrong is told first.
pub fn invalid_mappings(name: &str, template: &IndexTemplate, cause: Error) -> Error {
    let cause = match cause {
        Error::Mapping(_) => invalid_composite(name, cause),
        other => other,
    };
    invalid_whole(name, template, cause)
}

/// The mappings of a template with its components are wrong.
fn invalid_composite(name: &str, cause: Error) -> Error {
    let reason = format!("invalid composite mappings for [{name}]");
    Error::Because { reason, cause: Box::new(cause) }
}

/// The documents of the data streams that a template makes must be able to say when they happened.
///
/// # Errors
/// Where the field for it is none that a data stream takes; other faults are told before.
pub fn timestamp(templates: &Templates, name: &str, template: &IndexTemplate) -> Result<()> {
    if template.data_stream.is_none() {
        return Ok(());
    }
    let mut composed = templates.compose(template);
    composed.add_timestamp()?;
    check_timestamp(&makes_index(&composed)?).map_err(|cause| invalid_composite(name, cause))
}

/// What a template gives with its components is wrong.
pub fn invalid_whole(name: &str, template: &IndexTemplate, cause: Error) -> Error {
    Error::Because { reason: invalid_reason(name, template), cause: Box::new(cause) }
}

/// The same, for whoever has a cause of another kind.
pub fn invalid_reason(name: &str, template: &IndexTemplate) -> String {
    let parts = if template.composed_of.is_empty() {
        String::new()
    } else {
        format!("with component templates [{}] ", template.composed_of.join(", "))
    };
    format!("composable template [{name}] template after composition {parts}is invalid")
}

fn makes_index(composed: &Composed) -> Result<Mapping> {
    let settings = IndexSettings::parse(&composed.settings_json())?;
    let for_mapping = settings.for_mapping()?;
    Mapping::parse(&composed.mappings, for_mapping)
        .map_err(|error| Error::Mapping(error.in_create()))
}

/// The dynamic templates of the mappings that templates give together must be able to make fields.
///
/// # Errors
/// Where one cannot; other faults are told before.
pub fn dynamic_templates(composed: &Composed) -> Result<()> {
    // Of what names none, nothing is worked out.
    if composed.mappings.get("dynamic_templates").is_none() {
        return Ok(());
    }
    let judged = makes_index(composed)?.admit_templates(None);
    judged.map_err(|error| Error::Mapping(error.in_create()))
}

/// A component by itself must make an index, as in Elasticsearch: its mappings use the analyzers of its own
/// settings, whatever the templates bring that are composed of it.
///
/// # Errors
/// Where it makes none; where a dynamic template of it can make no field.
pub fn stands_alone(template: &ComponentTemplate) -> Result<()> {
    let judged = makes_index(&alone(template))?.admit_templates(None);
    judged.map_err(|error| Error::Mapping(error.in_create()))
}

/// What a component gives by itself.
fn alone(template: &ComponentTemplate) -> Composed {
    let whole =
        IndexTemplate { template: Some(template.template.clone()), ..IndexTemplate::default() };
    Templates::default().compose(&whole)
}

/// Is an analyzer missing?
fn lacks_analyzer(error: &Error) -> bool {
    matches!(error, Error::Mapping(error) if error.is_due_to(ErrorKind::AnalyzerMissing))
}

/// A component template, and what would become of the index templates that use it.
///
/// # Errors
/// A bad name, settings or mappings that make no index.
pub fn component(templates: &Templates, name: &str, template: &ComponentTemplate) -> Result<()> {
    names(name, &[])?;
    // Logs have components whose analyzers come from another part: none is set any more (`stands_alone`),
    // and those that are there stay.
    let composed = alone(template);
    let uses_analysis = template.template.settings.is_none();
    if !uses_analysis || composed.mappings.get("properties").is_none() {
        makes_index(&composed)?;
    } else if let Err(error) = makes_index(&composed)
        && !lacks_analyzer(&error)
    {
        return Err(error);
    }
    let mut after = templates.clone();
    after.component.insert(Arc::from(name), Arc::new(template.clone()));
    for (user, index) in &templates.index {
        if index.composed_of.iter().any(|part| part == name) {
            makes_index(&after.compose(index)).map_err(|cause| spoils(name, user, cause))?;
        }
    }
    let hiding: Vec<&str> = templates
        .index
        .iter()
        .filter(|(_, index)| index.composed_of.iter().any(|part| part == name))
        .filter(|(_, index)| is_global(&index.patterns) && says_hidden(&after.compose(index)))
        .map(|(user, _)| &**user)
        .collect();
    if !hiding.is_empty() {
        return Err(Error::argument(format!(
            "cannot update component template [{name}] because the following global templates would \
             resolve to specifying the [index.hidden] setting: [{}]",
            hiding.join(",")
        )));
    }
    Ok(())
}

/// The component that is set now makes an index template wrong that uses it.
pub fn spoils(component: &str, user: &str, cause: Error) -> Error {
    let reason = format!(
        "updating component template [{component}] results in invalid composable template [{user}] \
         after templates are merged"
    );
    Error::Because { reason, cause: Box::new(cause) }
}

/// A template of the old kind.
///
/// # Errors
/// A bad name or pattern, settings or mappings that make no index.
pub fn legacy(name: &str, template: &LegacyTemplate) -> Result<()> {
    names(name, &template.patterns)?;
    let composed = Templates::compose_legacy(&[(name, template)]);
    if is_global(&template.patterns) && says_hidden(&composed) {
        let problem = "global templates may not specify the setting index.hidden".to_owned();
        let why = Error::Invalid { problems: vec![problem] }.to_string();
        return Err(Error::Template { name: name.to_owned(), why });
    }
    makes_index(&composed).map(drop)
}

/// Names and patterns, in Elasticsearch's order.
fn names(name: &str, patterns: &[String]) -> Result<()> {
    let mut problems = Vec::new();
    for (bad, what) in [(" ", "a space"), (",", "a ','"), ("#", "a '#'"), ("*", "a '*'")] {
        if name.contains(bad) {
            problems.push(format!("name must not contain {what}"));
        }
    }
    if name.starts_with('_') {
        problems.push("name must not start with '_'".to_owned());
    }
    if name.chars().any(char::is_uppercase) {
        problems.push("name must be lower cased".to_owned());
    }
    for pattern in patterns {
        for (bad, what) in [(" ", "a space"), (",", "a ','"), ("#", "a '#'"), (":", "a ':'")] {
            if pattern.contains(bad) {
                problems.push(format!("index_patterns [{pattern}] must not contain {what}"));
            }
        }
        if pattern.starts_with('_') {
            problems.push(format!("index_pattern [{pattern}] must not start with '_'"));
        }
        if pattern.chars().any(|char| ['\\', '/', '?', '"', '<', '>', '|'].contains(&char)) {
            problems.push(format!(
                "index_pattern [{pattern}] must not contain the following characters \
                 [' ','\"',',','/','<','>','?','\\','|']"
            ));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let why = Error::Invalid { problems }.to_string();
    Err(Error::Template { name: name.to_owned(), why })
}

#[cfg(test)]
mod tests {
    use json::{Value, json};

    use super::*;

    fn template(text: Value) -> IndexTemplate {
        IndexTemplate::parse(&text).expect("reads")
    }

    #[test]
    fn rivals_and_missing_parts_are_named() {
        let mut templates = Templates::default();
        templates.index.insert(
            "t1".into(),
            Arc::new(template(json!({"index_patterns": ["tt*"], "priority": 5}))),
        );
        let rival = template(json!({"index_patterns": ["ttt*"], "priority": 5}));
        assert_eq!(
            index(&templates, "t2", &rival).expect_err("a rival").to_string(),
            "index template [t2] has index patterns [ttt*] matching patterns from existing \
             templates [t1] with patterns (t1 => [tt*]) that have the same priority [5], multiple \
             index templates may not match during index creation, please use a different priority"
        );
        assert_eq!(index(&templates, "t1", &rival), Ok(()), "it replaces itself");
        let parts = template(json!({"index_patterns": ["a"], "composed_of": ["nope"]}));
        assert_eq!(
            index(&templates, "t3", &parts).expect_err("missing").to_string(),
            "index_template [t3] invalid, cause [index template [t3] specifies component templates \
             [nope] that do not exist]"
        );
    }

    /// That an analyzer is missing was once read off the sentence, which quotes what the caller wrote; and it
    /// was no fault of a component.
    #[test]
    fn a_missing_analyzer_is_taken_from_logs_alone_and_no_matter_of_names() {
        const WORDS: &str = "has not been configured in mappings";
        let component = |mappings: Value| {
            let text = json!({"template": {"mappings": (mappings)}});
            let template = ComponentTemplate::parse(&text).expect("reads");
            let logged = super::component(&Templates::default(), "c", &template);
            (logged, stands_alone(&template))
        };
        let dynamic = |name: &str, mapping: Value| json!({"dynamic_templates": [{(name): {"match": "*", "mapping": (mapping)}}]});
        let analyzed = || json!({"type": "text", "analyzer": "elsewhere"});
        for lacking in [dynamic("t", analyzed()), json!({"properties": {"a": (analyzed())}})] {
            let (logged, set) = component(lacking);
            assert_eq!(logged, Ok(()));
            let error = set.expect_err("it makes no index").to_string();
            assert!(error.contains("elsewhere"), "{error}");
        }
        for wrong in [
            dynamic(WORDS, json!({"type": "nothing"})),
            dynamic("t", json!({"type": (WORDS)})),
            json!({"properties": {(WORDS): {"type": "nothing"}}}),
            json!({"properties": {"a": {"type": (WORDS)}}}),
        ] {
            let (logged, set) = component(wrong.clone());
            let error = logged.and(set).expect_err("nothing mends it");
            assert!(error.to_string().contains(WORDS), "{wrong:?}: {error}");
        }
    }

    #[test]
    fn bad_names_and_wholes_are_refused() {
        let fine = template(json!({"index_patterns": ["a"]}));
        assert!(index(&Templates::default(), "A b", &fine).is_err());
        let bad = template(json!({"index_patterns": ["a"], "template": {
            "mappings": {"properties": {"x": {"type": "nothing"}}}}}));
        assert!(matches!(
            index(&Templates::default(), "t", &bad),
            Err(Error::Because { reason, .. }) if reason.ends_with("is invalid")
        ));
    }
}
