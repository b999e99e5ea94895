//! What is asked of a command before it is logged, and not when it is applied.
//!
//! A command is applied again at every replay, and must do then what it did at first: a rule that an
//! older log may break cannot stand in `apply`. It stands here.
//!
//! Always true: what would be refused anyway is told first.

use std::collections::{BTreeMap, BTreeSet};

use base::units;
use json::Value;
use json::number::double_to_string;
use mapping::Mapping;

use super::rolled::check_next;
use super::templates::none_lost;
use super::{Outcome, apply};
use crate::cluster_settings;
use crate::command::{Command, TemplateKind};
use crate::data_stream::{TIMESTAMP, check_timestamp};
use crate::error::{Error, Result};
use crate::patterns::{Cost, STEPS_MAX, Steps};
use crate::settings::{IndexSettings, addresses, prefixed};
use crate::settings_table::PREFIXES;
use crate::state::{Index, State};
use crate::template::compose::{overlap_steps, too_many_patterns};
use crate::template::{IndexTemplate, Part, Templates, check};

/// May this command be asked of this state?
///
/// # Errors
/// In Elasticsearch's words.
pub fn admit(state: &State, command: &Command) -> Result<()> {
    let after = || match apply(state, command) {
        (_, Outcome::Refused(error)) => Err(error),
        (after, _) => Ok(after),
    };
    match command.inner() {
        Command::CreateIndex(new) => match lists_are_addresses(&new.settings)
            .and_then(|()| admit_mappings(Some(&new.mappings)))
        {
            Ok(()) => Ok(()),
            Err(error) => after().and(Err(error)),
        },
        Command::PutMapping { uuids, mappings } => {
            if let Err(error) = Mapping::admit(mappings) {
                return after().and(Err(Error::Mapping(error)));
            }
            let has_templates = mappings.get("dynamic_templates").is_some();
            let has_timestamp = mappings.at(&["properties", TIMESTAMP]).is_some();
            if !has_templates && !has_timestamp {
                return Ok(());
            }
            let after = after()?;
            if has_templates {
                templates_fit(state, &after, uuids)?;
            }
            if has_timestamp { streams_stay_dated(state, &after, uuids) } else { Ok(()) }
        }
        Command::PutIndexTemplate { name, template, .. } => {
            patterns_are_few(&state.templates, name, template)?;
            let after = after()?;
            let part = template.template.as_ref();
            admit_mappings(part.and_then(|part| part.mappings.as_ref()))
                .map_err(|cause| check::invalid_mappings(name, template, cause))?;
            check::dynamic_templates(&after.templates.compose(template))
                .map_err(|cause| check::invalid_mappings(name, template, cause))?;
            no_own_name(&template.patterns, template.template.as_ref())?;
            merges_can_be(&after.templates, name, template)?;
            no_stream_aliases(None, &after.templates, name, template)?;
            check::timestamp(&after.templates, name, template)
                .map_err(|cause| check::invalid_whole(name, template, cause))?;
            streams_stay_matched(state, &after, name, template)
        }
        Command::PutLegacyTemplate { name, template, .. } => {
            after()?;
            admit_mappings(template.part.mappings.as_ref())?;
            check::dynamic_templates(&Templates::compose_legacy(&[(name, template)]))?;
            can_merge(template.part.settings.as_ref())?;
            no_own_name(&template.patterns, Some(&template.part))
        }
        Command::PutComponentTemplate { name, template, .. } => {
            let (before, after) = (&state.templates, after()?.templates);
            admit_mappings(template.template.mappings.as_ref())?;
            check::stands_alone(template)?;
            can_merge(template.template.settings.as_ref())?;
            let users = after.index.iter().filter(|(_, user)| user.composed_of.contains(name));
            for (user, template) in users {
                no_stream_aliases(Some(before), &after, user, template)?;
                // What was wrong before is no fault of this component.
                match check::dynamic_templates(&after.compose(template)) {
                    Err(cause) if check::dynamic_templates(&before.compose(template)).is_ok() => {
                        return Err(check::spoils(name, user, cause));
                    }
                    _ => {}
                }
                match check::timestamp(&after, user, template) {
                    Err(cause) if check::timestamp(before, user, template).is_ok() => {
                        return Err(check::spoils(name, user, cause));
                    }
                    _ => {}
                }
            }
            Ok(())
        }
        Command::DeleteTemplates { kind: TemplateKind::Index, names } => {
            streams_keep_theirs(state, &after()?, names)
        }
        Command::PutSettings { uuids, settings, .. } => {
            // The rules are of few settings: of what names none of them, nothing is worked out twice.
            let named = prefixed(settings)?;
            let indices = uuids.iter().filter_map(|&uuid| state.index_by_uuid(uuid));
            let held = indices.flat_map(|index| index.settings.iter().map(|(name, _)| name));
            taken_back_are_few(&named, held)?;
            if let Err(error) = lists_are_addresses(settings) {
                return after().and(Err(error));
            }
            if ![EXPUNGE, FLOOR, LARGEST, THREADS, MERGES]
                .iter()
                .any(|name| named.contains_key(*name))
            {
                return Ok(());
            }
            let after = after()?;
            let changed = uuids.iter().filter_map(|&uuid| after.index_by_uuid(uuid));
            changed.map(|index| Some(&*index.settings)).try_for_each(can_merge)
        }
        Command::PutClusterSettings { persistent, transient, .. } => {
            let (lasting, passing) = (state.settings.persistent(), state.settings.transient());
            let layers = [(persistent, lasting), (transient, passing)];
            for (update, held) in layers {
                taken_back_are_few(
                    &cluster_settings::flatten(update)?,
                    held.keys().map(String::as_str),
                )?;
            }
            after()?;
            [persistent, transient].into_iter().try_for_each(cluster_settings::check_patterns)
        }
        // Templates are worked into the next index as they are now.
        Command::RollAlias { name, index, .. } => check_next(state, name, index),
        Command::Batch(commands) => commands.iter().try_for_each(|part| admit(state, part)),
        _ => Ok(()),
    }
}

/// Does each list that chooses nodes by address hold such? A text was always judged.
fn lists_are_addresses(settings: &Value) -> Result<()> {
    let Ok(named) = prefixed(settings) else { return Ok(()) };
    for (name, value) in &named {
        let chooses = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        if let (true, Value::Array(items)) = (chooses, value) {
            items.iter().filter_map(Value::as_str).try_for_each(|text| addresses(name, text))?;
        }
    }
    Ok(())
}

/// Can the patterns of settings that are taken back be compared with the names of those that are set, in good
/// time?
fn taken_back_are_few<'s>(
    update: &'s BTreeMap<String, Value>,
    held: impl Iterator<Item = &'s str>,
) -> Result<()> {
    let patterns = update.iter().filter(|(name, value)| value.is_null() && name.contains('*'));
    let patterns: Vec<&str> = patterns.map(|(name, _)| name.as_str()).collect();
    if patterns.is_empty() {
        return Ok(());
    }
    let (cost, mut steps) = (Cost::of(patterns.iter().copied()), Steps::default());
    // What is set by the same change comes under the patterns behind it, too.
    for name in held.chain(update.keys().map(String::as_str)) {
        if !steps.spend(cost.steps(name)) {
            return Err(Error::argument(format!(
                "the request has [{}] patterns of settings to take back, more than can be compared with the \
                 names of those that are set",
                patterns.len()
            )));
        }
    }
    Ok(())
}

/// Can the patterns of a template be compared with those of others of its priority in good time?
fn patterns_are_few(templates: &Templates, name: &str, template: &IndexTemplate) -> Result<()> {
    let (patterns, priority) = (&template.patterns, template.priority.unwrap_or(0));
    let others = templates
        .index
        .iter()
        .filter(|(known, other)| &***known != name && other.priority.unwrap_or(0) == priority);
    let mut others = others.map(|(_, other)| &other.patterns);
    let mut left = STEPS_MAX;
    let fit = others.all(|other| match overlap_steps(patterns, other, left) {
        Some(steps) => {
            left -= steps;
            true
        }
        None => false,
    });
    if fit {
        return Ok(());
    }
    Err(too_many_patterns(name, patterns, &format!("templates of priority [{priority}]")))
}

/// May an index be made that is so? `after` is the state with it.
///
/// # Errors
/// In Elasticsearch's words.
pub fn admit_index(after: &State, index: &Index) -> Result<()> {
    can_merge(Some(&index.settings))?;
    // A copy has what its source has, which may be older than the rule.
    if !index.copying {
        index.settings.check_normalizers()?;
        let judged = index.mapping.admit_templates(None);
        judged.map_err(|error| Error::Mapping(error.in_create()))?;
    }
    match after.data_stream_of(&index.name) {
        Some(_) => check_timestamp(&index.mapping),
        None => Ok(()),
    }
}

/// Dynamic templates that an index did not have before must be able to make a field.
fn templates_fit(before: &State, after: &State, uuids: &[[u8; 16]]) -> Result<()> {
    for &uuid in uuids {
        let Some(new) = after.index_by_uuid(uuid) else { continue };
        let old = before.index_by_uuid(uuid).map(|old| &*old.mapping);
        new.mapping.admit_templates(old).map_err(Error::Mapping)?;
    }
    Ok(())
}

/// The indices of data streams keep a field by which their documents say when they happened. One that
/// has none, of an older log, is no worse by another change.
fn streams_stay_dated(before: &State, after: &State, uuids: &[[u8; 16]]) -> Result<()> {
    for &uuid in uuids {
        let (Some(old), Some(new)) = (before.index_by_uuid(uuid), after.index_by_uuid(uuid)) else {
            continue;
        };
        if after.data_stream_of(&new.name).is_some() && check_timestamp(&old.mapping).is_ok() {
            check_timestamp(&new.mapping)?;
        }
    }
    Ok(())
}

/// The mappings of a new index, or of a part of a template.
fn admit_mappings(mappings: Option<&Value>) -> Result<()> {
    let judged = mappings.map_or(Ok(()), Mapping::admit);
    judged.map_err(|error| Error::Mapping(error.in_create()))
}

/// How many deleted documents a segment may have, in percent, which a merge that drops them leaves alone.
const EXPUNGE: &str = "index.merge.policy.expunge_deletes_allowed";

/// How large a segment counts at least when it is chosen to be merged.
const FLOOR: &str = "index.merge.policy.floor_segment";

/// How large a segment may become by merges.
const LARGEST: &str = "index.merge.policy.max_merged_segment";

/// How many merges of a shard may run at once.
const THREADS: &str = "index.merge.scheduler.max_thread_count";

/// How many merges of a shard may be begun or wait.
const MERGES: &str = "index.merge.scheduler.max_merge_count";

/// The share itself has no upper bound in Elasticsearch, and the sizes have no lower one: Lucene's policy of
/// merges refuses them, as its scheduler refuses more threads than merges. A count that is not given is worked
/// out from the other or from the processors of a node, and contradicts nothing here.
fn can_merge(settings: Option<&IndexSettings>) -> Result<()> {
    let text = |name: &str| settings.and_then(|settings| settings.text(name));
    if let Some(share) = text(EXPUNGE).and_then(|text| text.parse::<f64>().ok())
        && share > 100.0
    {
        return Err(Error::argument(format!(
            "forceMergeDeletesPctAllowed must be between 0.0 and 100.0 inclusive (got {})",
            double_to_string(share)
        )));
    }
    // A size of -1 is read as none at all.
    let size = |name: &str| text(name).and_then(|text| units::bytes(name, text).ok());
    const BELOW_NOTHING: f64 = -1.0 / 1_048_576.0;
    match size(FLOOR) {
        Some(None) => return Err(floor_too_low(BELOW_NOTHING)),
        Some(Some(0)) => return Err(floor_too_low(0.0)),
        _ => {}
    }
    if size(LARGEST) == Some(None) {
        return Err(Error::argument(format!(
            "maxMergedSegmentMB must be >=0 (got {})",
            double_to_string(BELOW_NOTHING)
        )));
    }
    let count = |name: &str| text(name).and_then(|text| text.parse::<u64>().ok());
    match (count(THREADS), count(MERGES)) {
        (Some(threads), Some(merges)) if threads > merges => Err(Error::argument(format!(
            "maxThreadCount (= {threads}) should be <= maxMergeCount (= {merges})"
        ))),
        _ => Ok(()),
    }
}

fn floor_too_low(megabytes: f64) -> Error {
    Error::argument(format!("floorSegmentMB must be > 0.0 (got {})", double_to_string(megabytes)))
}

/// The same, of what an index template gives.
fn merges_can_be(templates: &Templates, name: &str, template: &IndexTemplate) -> Result<()> {
    let settings = IndexSettings::parse_part(&templates.compose(template).settings_json())?;
    can_merge(Some(&settings)).map_err(|cause| check::invalid_whole(name, template, cause))
}

/// An index cannot bear the name of an alias of its own: where a pattern is such a name, none is made.
fn no_own_name(patterns: &[String], part: Option<&Part>) -> Result<()> {
    let aliases = part.and_then(|part| part.aliases.as_ref());
    let mut names = aliases.into_iter().flat_map(|aliases| aliases.keys());
    // Of both there may be as many as a request is long.
    let known: BTreeSet<&str> = patterns.iter().map(String::as_str).collect();
    match names.find(|name| known.contains(name.as_str())) {
        None => Ok(()),
        Some(name) => Err(Error::argument(format!(
            "alias [{name}] cannot be the same as any pattern in [{}]",
            patterns.join(", ")
        ))),
    }
}

/// A template that makes data streams gives them no aliases: there are none of data streams, and they
/// would be lost. Those that it gave before are no fault of a component that is set now.
fn no_stream_aliases(
    before: Option<&Templates>,
    after: &Templates,
    name: &str,
    template: &IndexTemplate,
) -> Result<()> {
    if template.data_stream.is_none() {
        return Ok(());
    }
    let mut given = after.compose(template).aliases;
    if let Some(before) = before {
        let had = before.compose(template).aliases;
        given.retain(|alias, _| !had.contains_key(alias));
    }
    if given.is_empty() {
        return Ok(());
    }
    let given: Vec<&str> = given.keys().map(String::as_str).collect();
    Err(Error::argument(format!(
        "composable template [{name}] creates data streams and gives them the aliases [{}], and aliases \
         of data streams are not supported",
        given.join(", ")
    )))
}

/// A template neither lets go of a data stream nor stands before the template that it has: its next
/// index could not be made.
fn streams_stay_matched(
    before: &State,
    after: &State,
    name: &str,
    template: &IndexTemplate,
) -> Result<()> {
    let lost = unmatched(before, &after.templates);
    if lost.len() <= unmatched(before, &before.templates).len() {
        return Ok(());
    }
    let priority = template.priority.map_or("null".to_owned(), |priority| priority.to_string());
    let lacks = match template.data_stream {
        Some(_) => "",
        None => "and no data stream configuration ",
    };
    Err(Error::argument(format!(
        "composable template [{name}] with index patterns [{}], priority [{priority}] {lacks}would cause \
         data streams [{}] to no longer match a data stream template",
        template.patterns.join(", "),
        lost.join(", ")
    )))
}

/// The last template of a data stream stays.
fn streams_keep_theirs(before: &State, after: &State, names: &[String]) -> Result<()> {
    let already = unmatched(before, &before.templates);
    let mut lost = unmatched(before, &after.templates);
    lost.retain(|stream| !already.contains(stream));
    none_lost(names, &lost)
}

/// The data streams for which these templates have none that makes data streams, in order.
fn unmatched<'a>(state: &'a State, templates: &Templates) -> Vec<&'a str> {
    let names = state.data_streams.keys().map(|name| &**name);
    names.filter(|stream| templates.for_stream(stream).is_err()).collect()
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;
    use crate::command::{NewIndex, Rules};
    use crate::data_stream::DataStream;
    use crate::template::ComponentTemplate;

    fn put(name: &str, body: &Value) -> Command {
        let template = IndexTemplate::parse(body).expect("reads");
        Command::PutIndexTemplate { name: name.to_owned(), template, create: false }
    }

    fn done(state: &State, command: &Command) -> State {
        assert_eq!(admit(state, command), Ok(()));
        let (state, outcome) = apply(state, command);
        assert_eq!(outcome, Outcome::Done);
        state
    }

    fn refused(state: &State, command: &Command) -> String {
        admit(state, command).expect_err("refused").to_string()
    }

    /// A state with the stream `dsx1`, whose template is `d3`.
    fn with_stream() -> State {
        let body = json!({"index_patterns": ["dsx*"], "priority": 50, "data_stream": {}});
        let state = done(&State::default(), &put("d3", &body));
        let index = NewIndex {
            stream: Some("dsx1".to_owned()),
            ..NewIndex::new(".ds-dsx1-000001", [1; 16], 0)
        };
        let stream = DataStream {
            name: "dsx1".into(),
            indices: vec![".ds-dsx1-000001".into()],
            generation: 1,
            hidden: false,
            allow_custom_routing: false,
            rollover_on_write: false,
            meta: None,
        };
        let parts =
            vec![Command::CreateIndex(index), Command::PutDataStream { stream, create: true }];
        done(&state, &Command::Batch(parts))
    }

    /// An older log and an older state may hold what no index is made of any more.
    #[test]
    fn what_a_new_mapping_may_not_say_is_read_again() {
        for mappings in [
            json!({"properties": "x"}),
            json!({"properties": {"n": {"type": "long", "null_value": 1.5}}}),
            json!({"properties": {"d": {"type": "date", "format": "yyyy||"}}}),
            json!({"properties": {"k": {"type": "keyword", "ignore_above": 3_000_000_000u64}}}),
        ] {
            let new = NewIndex { mappings: mappings.clone(), ..NewIndex::new("i", [1; 16], 0) };
            let command = Command::CreateIndex(new);
            let told = refused(&State::default(), &command);
            assert!(told.starts_with("Failed to parse mapping: "), "{told}");
            let (state, outcome) = apply(&State::default(), &command);
            assert_eq!(outcome, Outcome::Done, "{mappings:?}");
            let index = state.index("i").expect("it is there");
            let kept = index.mapping.to_state_json();
            assert!(Mapping::from_state_json(&kept, index.mapping.settings().clone()).is_ok());
        }
    }

    /// A list was taken whatever it held, where a text is judged.
    #[test]
    fn lists_that_choose_nodes_by_address_hold_addresses() {
        let index = NewIndex::new("i", [1; 16], 0);
        let (state, _) = apply(&State::default(), &Command::CreateIndex(index));
        let settings =
            |address: &str| json::json!({"routing.allocation.exclude._ip": ["10.0.0.1", address]});
        let put = |address: &str| Command::PutSettings {
            uuids: vec![[1; 16]],
            settings: settings(address),
            preserve: false,
            rules: Rules::Now,
        };
        let make = |address: &str| {
            let mut new = NewIndex::new("j", [2; 16], 0);
            new.settings = settings(address);
            Command::CreateIndex(new)
        };
        let told = "invalid IP address [no] for [index.routing.allocation.exclude._ip]";
        for command in [put("no"), make("no")] {
            assert_eq!(refused(&state, &command), told);
            // An older log may have it.
            assert_eq!(apply(&state, &command).1, Outcome::Done);
        }
        for command in [put("10.0.*"), make("::1")] {
            assert_eq!(admit(&state, &command), Ok(()));
        }
    }

    /// Segments of less than nothing were taken for what is not set.
    #[test]
    fn merges_are_of_segments_that_can_be() {
        let index = NewIndex::new("i", [1; 16], 0);
        let (state, _) = apply(&State::default(), &Command::CreateIndex(index));
        let set = |name: &str, value: &str| Command::PutSettings {
            uuids: vec![[1; 16]],
            settings: Value::Object([(name, Value::from(value))].into_iter().collect()),
            preserve: false,
            rules: Rules::Now,
        };
        for (name, value, told) in [
            (FLOOR, "-1", "floorSegmentMB must be > 0.0 (got -9.5367431640625E-7)"),
            (FLOOR, "0", "floorSegmentMB must be > 0.0 (got 0.0)"),
            (FLOOR, "0kb", "floorSegmentMB must be > 0.0 (got 0.0)"),
            (LARGEST, "-1", "maxMergedSegmentMB must be >=0 (got -9.5367431640625E-7)"),
        ] {
            assert_eq!(refused(&state, &set(name, value)), told, "{name}: {value}");
            // What an older log says of it is done again as it was.
            let (old, outcome) = apply(&state, &set(name, value));
            assert_eq!(outcome, Outcome::Done);
            let made = old.index("i").expect("there");
            assert_eq!(admit_index(&old, made).expect_err("new").to_string(), told);
            done(&old, &set("index.refresh_interval", "5s"));
            let part = json!({"settings": {name: value}});
            let component = ComponentTemplate::parse(&json!({"template": (part.clone())}));
            let template = component.expect("reads");
            let component =
                Command::PutComponentTemplate { name: "c".into(), template, create: false };
            assert_eq!(refused(&state, &component), told);
            let body = json!({"index_patterns": ["i*"], "template": part});
            let error = admit(&state, &put("i", &body)).expect_err("refused");
            let Error::Because { cause, .. } = error else { panic!("no cause: {error}") };
            assert_eq!(cause.to_string(), told);
        }
        for (name, value) in [(FLOOR, "1b"), (LARGEST, "0"), (LARGEST, "1b")] {
            done(&state, &set(name, value));
        }
    }

    /// A stream whose template was narrowed or stood behind another could not be rolled over any more.
    #[test]
    fn a_data_stream_keeps_its_template() {
        let state = with_stream();
        let narrowed = json!({"index_patterns": ["dsz*"], "priority": 50, "data_stream": {}});
        assert_eq!(
            refused(&state, &put("d3", &narrowed)),
            "composable template [d3] with index patterns [dsz*], priority [50] would cause data \
             streams [dsx1] to no longer match a data stream template"
        );
        let before = json!({"index_patterns": ["dsx*", "a"], "priority": 60});
        assert_eq!(
            refused(&state, &put("d4", &before)),
            "composable template [d4] with index patterns [dsx*, a], priority [60] and no data stream \
             configuration would cause data streams [dsx1] to no longer match a data stream template"
        );
        let plain = json!({"index_patterns": ["dsx*"]});
        assert_eq!(
            refused(&state, &put("d3", &plain)),
            "composable template [d3] with index patterns [dsx*], priority [null] and no data stream \
             configuration would cause data streams [dsx1] to no longer match a data stream template"
        );
        // Another may take its place, and one behind it is no harm.
        let state = done(&state, &put("d5", &json!({"index_patterns": ["ds*"], "priority": 1})));
        let gone =
            Command::DeleteTemplates { kind: TemplateKind::Index, names: vec!["d3".to_owned()] };
        assert_eq!(
            refused(&state, &gone),
            "unable to remove composable templates [d3] as they are in use by a data streams [dsx1]"
        );
        let other = json!({"index_patterns": ["dsx1"], "priority": 70, "data_stream": {}});
        let state = done(&state, &put("d6", &other));
        done(&done(&state, &put("d3", &narrowed)), &gone);
        // What an older log says of it is done again as it was.
        assert_eq!(apply(&with_stream(), &put("d4", &before)).1, Outcome::Done);
    }

    #[test]
    fn templates_that_can_fit_nothing_are_refused_wherever_they_are_given() {
        let bad = json!({"dynamic_templates": [{"t": {"match": "*", "mapping": {"type": "foo"}}}]});
        let why = "dynamic template [t] has invalid content \
                   [{\"match\":\"*\",\"mapping\":{\"type\":\"foo\"}}], attempted to validate it with the \
                   following match_mapping_type: [object, string, long, double, boolean, date, binary]";
        let in_create = format!("Failed to parse mapping: {why}");
        let state = State::default();
        let composable =
            put("i", &json!({"index_patterns": ["i*"], "template": {"mappings": bad.clone()}}));
        let error = admit(&state, &composable).expect_err("refused");
        let Error::Because { cause, .. } = error else { panic!("no cause: {error}") };
        let Error::Because { cause, .. } = *cause else { panic!("no cause: {cause}") };
        assert_eq!(cause.to_string(), in_create);
        let component = |mappings: &Value| {
            let body = json!({"template": {"mappings": mappings.clone()}});
            let template = ComponentTemplate::parse(&body).expect("reads");
            Command::PutComponentTemplate { name: "c".into(), template, create: false }
        };
        assert_eq!(refused(&state, &component(&bad)), in_create);
        let foreign = json!({"dynamic_templates": [
            {"t": {"match": "*", "mapping": {"type": "text", "analyzer": "other"}}}]});
        let unknown = refused(&state, &component(&foreign));
        assert!(unknown.contains("dynamic template [t] has invalid content"), "{unknown}");
        // A log may have it; then what is composed of it is judged.
        let (with_foreign, outcome) = apply(&state, &component(&foreign));
        assert_eq!(outcome, Outcome::Done);
        let user = json!({"index_patterns": ["i*"], "composed_of": ["c"]});
        assert_eq!(
            refused(&with_foreign, &put("i", &user)),
            "composable template [i] template after composition with component templates [c] is invalid"
        );
        // An index of an older log has such a template, and is changed as before.
        let index = NewIndex { mappings: bad.clone(), ..NewIndex::new("i", [1; 16], 0) };
        let (state, outcome) = apply(&state, &Command::CreateIndex(index));
        assert_eq!(outcome, Outcome::Done);
        let made = state.index("i").expect("there");
        assert_eq!(admit_index(&state, made).expect_err("new").to_string(), in_create);
        let change = |mappings: &Value| Command::PutMapping {
            uuids: vec![[1; 16]],
            mappings: mappings.clone(),
        };
        done(&state, &change(&bad));
        let other =
            json!({"dynamic_templates": [{"t": {"match": "x", "mapping": {"type": "foo"}}}]});
        let told = refused(&state, &change(&other));
        assert_eq!(told, why.replace("\"*\"", "\"x\""));
    }

    /// Two templates of 2,000 patterns each kept the cluster state for eight seconds, and each start again.
    #[test]
    fn patterns_are_no_more_than_can_be_compared() {
        let patterns = |shape: &dyn Fn(usize) -> String, count: usize| {
            let all: Vec<String> = (0..count).map(shape).collect();
            json!({"index_patterns": (all.into_iter().map(Value::from).collect::<Value>())})
        };
        let wide = |at: usize| format!("*x{at}*y*z*");
        let state = done(&State::default(), &put("a", &patterns(&wide, 1_000)));
        let told = refused(&state, &put("b", &patterns(&wide, 1_000)));
        assert_eq!(
            told,
            "template [b] has [1000] index patterns, more than can be compared with those of all \
             other templates of priority [0]"
        );
        // Names that begin otherwise are told apart at once.
        let narrow = |at: usize| format!("logs-{at}-*");
        let state = done(&State::default(), &put("a", &patterns(&narrow, 1_000)));
        done(&state, &put("b", &patterns(&|at| format!("metrics-{at}-*"), 1_000)));
    }

    /// Twenty thousand patterns of settings to take back, beside as many settings, took half a minute.
    #[test]
    fn patterns_of_settings_are_no_more_than_can_be_compared() {
        let all = |shape: &dyn Fn(usize) -> String, value: &Value, count: usize| {
            Value::Object((0..count).map(|at| (shape(at), value.clone())).collect())
        };
        let of_index = |settings: Value| Command::PutSettings {
            uuids: vec![[1; 16]],
            settings,
            preserve: false,
            rules: Rules::Now,
        };
        let of_cluster = |persistent: Value| Command::PutClusterSettings {
            persistent,
            transient: Value::Null,
            rules: Rules::Now,
        };
        let index = NewIndex::new("i", [1; 16], 0);
        let (state, _) = apply(&State::default(), &Command::CreateIndex(index));
        let told = "the request has [2000] patterns of settings to take back, more than can be compared \
                    with the names of those that are set";
        let ways: [(&dyn Fn(Value) -> Command, &str); 2] =
            [(&of_index, "index.routing.allocation.require."), (&of_cluster, "cluster.metadata.")];
        for (way, prefix) in ways {
            let named = |at: usize| format!("{prefix}a{at}");
            let state = done(&state, &way(all(&named, &Value::from("1"), 2_000)));
            let wide = |at: usize| format!("{prefix}*{at}*");
            assert_eq!(refused(&state, &way(all(&wide, &Value::Null, 2_000))), told);
            done(&state, &way(all(&wide, &Value::Null, 100)));
        }
    }

    /// Any field was taken for the moment of a document, and such a log is still read.
    #[test]
    fn a_stream_of_an_older_log_stays_as_it_is() {
        let body = json!({"index_patterns": ["dsx*"], "priority": 50, "data_stream": {},
            "template": {"mappings": {"properties": {"@timestamp": {"type": "keyword"}}}}});
        let state = with_stream();
        assert_eq!(
            refused(&state, &put("d3", &body)),
            "composable template [d3] template after composition is invalid"
        );
        let (state, outcome) = apply(&state, &put("d3", &body));
        assert_eq!(outcome, Outcome::Done);
        // A component is not told of a fault that was there before it.
        let template = ComponentTemplate::parse(&json!({"template": {}})).expect("reads");
        let component = Command::PutComponentTemplate { name: "c".into(), template, create: false };
        let state = done(&state, &component);
        let index = state.index(".ds-dsx1-000001").expect("there");
        assert_eq!(admit_index(&state, index), Ok(()));
    }
}
