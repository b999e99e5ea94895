//! Templates: set, shown, taken away.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use cluster::template::check::{GLOBAL_HIDDEN, hides_all, shadows};
use cluster::{
    Command, ComponentTemplate, Index, IndexTemplate, LegacyTemplate, NewIndex, State,
    TemplateKind, Templates,
};
use env::Env;
use json::Value;

use super::{alias_filter, deprecated, dotted, failure};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::index::block::{self, Level};
use crate::index::resolve::matches;

/// A template of a kind.
#[derive(Clone, Debug)]
pub enum Template {
    /// What an index is made of.
    Index(Arc<IndexTemplate>),
    /// A part of such.
    Component(Arc<ComponentTemplate>),
    /// What an index was made of once.
    Legacy(Arc<LegacyTemplate>),
}

impl Template {
    /// As it is shown.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Index(template) => template.to_json(),
            Self::Component(template) => template.to_json(),
            Self::Legacy(template) => template.to_json(),
        }
    }

    /// About how many bytes that takes.
    pub fn held_bytes(&self) -> usize {
        match self {
            Self::Index(template) => template.held_bytes(),
            Self::Component(template) => template.held_bytes(),
            Self::Legacy(template) => template.held_bytes(),
        }
    }
}

impl<E: Env> Core<E> {
    /// Sets a template; `body` is the request's object. What the caller is to be warned of.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn put_template(
        self: &Rc<Self>,
        gate: &dyn Gate,
        kind: TemplateKind,
        name: &str,
        body: &Value,
        create: bool,
    ) -> Result<Option<String>> {
        gate.cluster(match kind {
            TemplateKind::Index => "indices:admin/index_template/put",
            TemplateKind::Component => "cluster:admin/component_template/put",
            TemplateKind::Legacy => "indices:admin/template/put",
        })?;
        block::check_cluster(&self.state(), Level::MetadataWrite)?;
        let priority = body.get("priority").and_then(Value::as_i64);
        if kind == TemplateKind::Index && priority.is_some_and(|priority| priority < 0) {
            return Err(Error::validation(&["index template priority must be >= 0"]));
        }
        let part = if kind == TemplateKind::Legacy { Some(body) } else { body.get("template") };
        deprecated::mappings(gate, part.and_then(|part| part.get("mappings")));
        check_filters(gate, part.and_then(|part| part.get("aliases")))?;
        let name = name.to_owned();
        let plain = plain(kind, body);
        let (body, wrong) = match plain {
            Ok(ref plain) => (&**plain, None),
            Err(wrong) if kind == TemplateKind::Index => (body, Some(wrong)),
            Err(wrong) => return Err(failure::of_cluster(wrong)),
        };
        let command = match kind {
            TemplateKind::Index => {
                let settings = body.get("template").and_then(|part| part.get("settings"));
                let settings = settings.filter(|settings| settings.as_object().is_some());
                let parsed = settings.map(cluster::IndexSettings::parse_part).transpose();
                if let Some(error) = parsed.err().or(wrong) {
                    let reason = failure::of_cluster(error).reason;
                    return Err(Error::new(
                        400,
                        "invalid_index_template_exception",
                        format!(
                            "index_template [{name}] invalid, cause [Validation Failed: 1: \
                             {reason};]"
                        ),
                    ));
                }
                let template = IndexTemplate::parse(body).map_err(failure::of_cluster)?;
                if hides_all(&template) {
                    return Err(Error::validation(&[GLOBAL_HIDDEN]));
                }
                template.patterns.iter().for_each(|pattern| dotted::warn(gate, pattern));
                check_composed(&self.state(), &name, &template, self.now_ms())?;
                deprecated::parts(gate, &self.state().templates, &name, &template);
                Command::PutIndexTemplate { name, template, create }
            }
            TemplateKind::Component => {
                let template = ComponentTemplate::parse(body).map_err(failure::of_cluster)?;
                Command::PutComponentTemplate { name, template, create }
            }
            TemplateKind::Legacy => {
                gate.warn(deprecated::LEGACY_TEMPLATE);
                let template = LegacyTemplate::parse(body).map_err(failure::of_cluster)?;
                if template.patterns.is_empty() {
                    return Err(Error::validation(&["index patterns are missing"]));
                }
                Command::PutLegacyTemplate { name, template, create }
            }
        };
        let templates = Arc::clone(&self.state().templates);
        let warning = match &command {
            Command::PutIndexTemplate { name, template, .. } => {
                shadows(&templates, false, name, &template.patterns)
            }
            Command::PutLegacyTemplate { name, template, .. } => {
                shadows(&templates, true, name, &template.patterns)
            }
            _ => None,
        };
        let part = match &command {
            Command::PutIndexTemplate { template, .. } => template.template.as_ref(),
            Command::PutComponentTemplate { template, .. } => Some(&template.template),
            Command::PutLegacyTemplate { template, .. } => Some(&template.part),
            _ => None,
        };
        if let Some(settings) = part.and_then(|part| part.settings.as_ref()) {
            deprecated::settings(gate, settings);
        }
        self.done(command).await?;
        Ok(warning)
    }

    /// Templates whose names fit, in order; `name` may be empty, a list, or hold stars.
    ///
    /// # Errors
    /// What the gate says; a name without stars that nothing bears (but for the old kind).
    pub fn templates(
        &self,
        gate: &dyn Gate,
        kind: TemplateKind,
        name: &str,
    ) -> Result<Vec<(Arc<str>, Template)>> {
        gate.cluster(match kind {
            TemplateKind::Index => "indices:admin/index_template/get",
            TemplateKind::Component => "cluster:admin/component_template/get",
            TemplateKind::Legacy => "indices:admin/template/get",
        })?;
        let state = self.state();
        let templates = &state.templates;
        let one: &[&str] = if name.is_empty() { &[] } else { &[name] };
        let found = match kind {
            // One name or one pattern, whatever stands in it.
            TemplateKind::Index => named(&templates.index, one, Template::Index),
            TemplateKind::Component => named(&templates.component, one, Template::Component),
            TemplateKind::Legacy => {
                let list: Vec<&str> = name.split(',').filter(|part| !part.is_empty()).collect();
                named(&templates.legacy, &list, Template::Legacy)
            }
        };
        if found.is_empty() && !name.is_empty() && !name.contains('*') {
            let what = match kind {
                TemplateKind::Index => "index template",
                TemplateKind::Component => "component template",
                TemplateKind::Legacy => return Ok(found),
            };
            return Err(Error::new(
                404,
                "resource_not_found_exception",
                format!("{what} matching [{name}] not found"),
            ));
        }
        Ok(found)
    }

    /// Takes templates away: those of a list, or those that one name with stars fits. Names of the old kind
    /// are no lists.
    ///
    /// # Errors
    /// A name that nothing bears; a template that is in use.
    pub async fn delete_templates(
        self: &Rc<Self>,
        gate: &dyn Gate,
        kind: TemplateKind,
        name: &str,
    ) -> Result<()> {
        gate.cluster(match kind {
            TemplateKind::Index => "indices:admin/index_template/delete",
            TemplateKind::Component => "cluster:admin/component_template/delete",
            TemplateKind::Legacy => "indices:admin/template/delete",
        })?;
        let state = self.state();
        block::check_cluster(&state, Level::MetadataWrite)?;
        let mut list: Vec<&str> = match kind {
            TemplateKind::Legacy => vec![name],
            _ => name.split(',').filter(|part| !part.is_empty()).collect(),
        };
        let mut seen = BTreeSet::new();
        list.retain(|part| seen.insert(*part));
        let (mut names, mut missing) = (Vec::new(), Vec::new());
        for part in &list {
            let found = keys(&state.templates, kind, part);
            if list.len() > 1 {
                // A star is a star there, which no name has.
                let named =
                    if found.iter().any(|name| name == part) { &mut names } else { &mut missing };
                named.push((*part).to_owned());
            } else if found.is_empty() && *part != "*" {
                missing.push((*part).to_owned());
            } else {
                // All of none is no mistake.
                names.extend(found);
            }
        }
        if !missing.is_empty() {
            let missing = missing.join(",");
            return Err(match kind {
                TemplateKind::Component => Error::new(404, "resource_not_found_exception", missing),
                _ => Error::new(
                    404,
                    "index_template_missing_exception",
                    format!("index_template [{missing}] missing"),
                ),
            });
        }
        if names.is_empty() {
            return Ok(());
        }
        self.done(Command::DeleteTemplates { kind, names }).await
    }
}

/// The body of a template with its settings as they go into a command.
///
/// # Errors
/// As [`cluster::settings::plain`].
pub(super) fn plain(kind: TemplateKind, body: &Value) -> cluster::Result<Cow<'_, Value>> {
    let part = if kind == TemplateKind::Legacy { Some(body) } else { body.get("template") };
    let settings = part.and_then(|part| part.get("settings"));
    let Some(Cow::Owned(other)) = settings.map(cluster::settings::plain).transpose()? else {
        return Ok(Cow::Borrowed(body));
    };
    let mut body = body.clone();
    let part = match (kind, body.as_object_mut()) {
        (TemplateKind::Legacy, whole) => whole,
        (_, whole) => whole.and_then(|it| it.get_mut("template")).and_then(Value::as_object_mut),
    };
    if let Some(part) = part {
        part.insert("settings", other);
    }
    Ok(Cow::Owned(body))
}

/// The filters of its aliases must be queries that the index which it makes can answer. What else is
/// wrong with it is told when it is set.
pub(super) fn check_composed(
    state: &State,
    name: &str,
    template: &IndexTemplate,
    now_ms: i64,
) -> Result<()> {
    let composed = state.templates.compose(template);
    if composed.aliases.values().all(|said| said.get("filter").is_none()) {
        return Ok(());
    }
    let Ok(index) = made(&composed, composed.aliases_json()) else { return Ok(()) };
    alias_filter::check_all(state, &index, now_ms).map_err(|cause| {
        let reason = cluster::template::check::invalid_reason(name, template);
        Error::illegal_argument(reason).caused_by(cause)
    })
}

/// An index as templates would make it, in a cluster of its own.
pub(super) fn made(composed: &cluster::template::Composed, aliases: Value) -> Result<Arc<Index>> {
    const NAME: &str = "simulated";
    let new = NewIndex {
        settings: composed.settings_json(),
        mappings: composed.mappings.clone(),
        aliases,
        composed: true,
        ..NewIndex::new(NAME, [1; 16], 0)
    };
    let (state, outcome) = cluster::apply(&State::default(), &Command::CreateIndex(new));
    match (outcome, state.index(NAME)) {
        (cluster::Outcome::Refused(error), _) => Err(failure::of_cluster(error)),
        (_, Some(index)) => Ok(Arc::clone(index)),
        (_, None) => Err(Error::internal("an index was made and is not there")),
    }
}

fn named<T>(
    map: &BTreeMap<Arc<str>, Arc<T>>,
    patterns: &[&str],
    of: fn(Arc<T>) -> Template,
) -> Vec<(Arc<str>, Template)> {
    map.iter()
        .filter(|(name, _)| {
            patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, name))
        })
        .map(|(name, template)| (Arc::clone(name), of(Arc::clone(template))))
        .collect()
}

fn keys(templates: &Templates, kind: TemplateKind, pattern: &str) -> Vec<String> {
    fn of<T>(map: &BTreeMap<Arc<str>, Arc<T>>, pattern: &str) -> Vec<String> {
        map.keys().filter(|name| matches(pattern, name)).map(ToString::to_string).collect()
    }
    match kind {
        TemplateKind::Index => of(&templates.index, pattern),
        TemplateKind::Component => of(&templates.component, pattern),
        TemplateKind::Legacy => of(&templates.legacy, pattern),
    }
}

/// Filters of aliases must be queries.
fn check_filters(gate: &dyn Gate, aliases: Option<&Value>) -> Result<()> {
    let Some(object) = aliases.and_then(Value::as_object) else { return Ok(()) };
    object
        .iter()
        .try_for_each(|(name, said)| alias_filter::check_query(gate, name, said.get("filter")))
}
