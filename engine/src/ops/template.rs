//! Templates: set, shown, taken away, tried out.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use cluster::template::check::{GLOBAL_HIDDEN, hides_all, shadows};
use cluster::{
    Command, ComponentTemplate, Index, IndexTemplate, LegacyTemplate, NewIndex, State,
    TemplateKind, Templates,
};
use env::Env;
use json::{Object, Value};

use super::{alias_filter, deprecated, failure};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::index::block::{self, Level};
use crate::index::resolve::matches;

/// What a simulation shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Settings, mappings and aliases of the index that would be made.
    pub template: Value,
    /// Other templates that fit the same names, with their patterns.
    pub overlapping: Vec<(String, Vec<String>)>,
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
        check_filters(part.and_then(|part| part.get("aliases")))?;
        let name = name.to_owned();
        let command = match kind {
            TemplateKind::Index => {
                let settings = body.get("template").and_then(|part| part.get("settings"));
                if let Some(settings) = settings.filter(|settings| settings.as_object().is_some())
                    && let Err(error) = cluster::IndexSettings::parse_part(settings)
                {
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
                self.check_composed(&name, &template)?;
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
    ) -> Result<Vec<(String, Value)>> {
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
            TemplateKind::Index => named(&templates.index, one, IndexTemplate::to_json),
            TemplateKind::Component => named(&templates.component, one, ComponentTemplate::to_json),
            TemplateKind::Legacy => {
                let list: Vec<&str> = name.split(',').filter(|part| !part.is_empty()).collect();
                named(&templates.legacy, &list, LegacyTemplate::to_json)
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

    /// What an index of that name would begin with; `body` is a template that is tried beside
    /// those that are there. `None` where no template fits.
    ///
    /// # Errors
    /// A template that is wrong.
    pub fn simulate_index(
        &self,
        gate: &dyn Gate,
        name: &str,
        body: Option<&Value>,
    ) -> Result<Option<Simulated>> {
        gate.cluster("indices:admin/index_template/simulate_index")?;
        let state = self.state();
        let mut templates = (*state.templates).clone();
        let tried = format!("simulate_index_template_{}", name.to_lowercase());
        if let Some(body) = body {
            let template = IndexTemplate::parse(body).map_err(failure::of_cluster)?;
            self.check_tried(&tried, &template)?;
            templates.index.insert(Arc::from(tried), Arc::new(template));
        }
        // Templates of the old kind are not looked at.
        let Some((found, template)) = templates.find(name, false) else { return Ok(None) };
        let overlapping = templates.overlapping(found, &template.patterns);
        let composed = templates.compose(template);
        Ok(Some(Simulated { template: self.shown(name, composed)?, overlapping }))
    }

    /// What a template gives: one that is there (`name`), or one that is tried (`body`), or both.
    ///
    /// # Errors
    /// A template that is missing, or wrong.
    pub fn simulate_template(
        &self,
        gate: &dyn Gate,
        name: Option<&str>,
        body: Option<&Value>,
    ) -> Result<Simulated> {
        gate.cluster("indices:admin/index_template/simulate")?;
        let state = self.state();
        let mut templates = (*state.templates).clone();
        let tried = match (name, body) {
            (_, Some(body)) => {
                let template = IndexTemplate::parse(body).map_err(failure::of_cluster)?;
                let tried = name.unwrap_or("simulate_template").to_owned();
                self.check_tried(&tried, &template)?;
                templates.index.insert(Arc::from(tried.as_str()), Arc::new(template));
                tried
            }
            (Some(name), None) => name.to_owned(),
            (None, None) => {
                return Err(Error::validation(&[
                    "either index name or index template body must be specified for simulation",
                ]));
            }
        };
        let Some(template) = templates.index.get(tried.as_str()) else {
            return Err(Error::illegal_argument(format!(
                "unable to simulate template [{tried}] that does not exist"
            )));
        };
        let overlapping = templates.overlapping(&tried, &template.patterns);
        let composed = templates.compose(template);
        // An index of such a name is what Elasticsearch makes of it.
        let uuid = cluster::state::uuid_text(self.uuid()).to_ascii_lowercase();
        let index = format!("simulate_template_index_{uuid}");
        Ok(Simulated { template: self.shown(&index, composed)?, overlapping })
    }

    /// The filters of its aliases must be queries that the index which it makes can answer. What else is
    /// wrong with it is told when it is set.
    fn check_composed(&self, name: &str, template: &IndexTemplate) -> Result<()> {
        let state = self.state();
        let composed = state.templates.compose(template);
        if composed.aliases.values().all(|said| said.get("filter").is_none()) {
            return Ok(());
        }
        let Ok(index) = made(&composed, composed.aliases_json()) else { return Ok(()) };
        alias_filter::check_all(&state, &index, self.now_ms()).map_err(|cause| {
            let reason = cluster::template::check::invalid_reason(name, template);
            Error::illegal_argument(reason).caused_by(cause)
        })
    }

    /// May a template be set that is only tried?
    fn check_tried(&self, name: &str, template: &IndexTemplate) -> Result<()> {
        self.check_composed(name, template)?;
        let (name, template) = (name.to_owned(), template.clone());
        let command = Command::PutIndexTemplate { name, template, create: false };
        cluster::admit(&self.state(), &command).map_err(failure::of_cluster)
    }

    /// The whole as an index would have it.
    fn shown(&self, name: &str, composed: cluster::template::Composed) -> Result<Value> {
        let mut composed = composed;
        composed
            .settings
            .entry("index.routing.allocation.include._tier_preference".to_owned())
            .or_insert_with(|| Value::from("data_content"));
        // As creation would read it: a mapping is shown in its own form.
        let mappings = made(&composed, Value::object())?.mapping.to_json();
        let aliases: Object = composed
            .aliases
            .iter()
            .map(|(alias, said)| (alias.replace("{index}", name), said.clone()))
            .collect();
        let mut object = Object::new();
        object.insert("settings", composed.settings_nested());
        object.insert("mappings", mappings);
        object.insert("aliases", Value::Object(aliases));
        Ok(Value::Object(object))
    }
}

/// An index as templates would make it, in a cluster of its own.
fn made(composed: &cluster::template::Composed, aliases: Value) -> Result<Arc<Index>> {
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
    show: fn(&T) -> Value,
) -> Vec<(String, Value)> {
    map.iter()
        .filter(|(name, _)| {
            patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, name))
        })
        .map(|(name, template)| (name.to_string(), show(template)))
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
fn check_filters(aliases: Option<&Value>) -> Result<()> {
    let Some(object) = aliases.and_then(Value::as_object) else { return Ok(()) };
    object.iter().try_for_each(|(name, said)| alias_filter::check_query(name, said.get("filter")))
}
