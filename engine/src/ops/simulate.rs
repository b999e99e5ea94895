//! Templates, tried out: what an index would begin with, and which others fit the same names.
//!
//! Always on a worker: the patterns of a template are compared with those of all others.

use std::rc::Rc;
use std::sync::Arc;

use cluster::template::Composed;
use cluster::{Command, IndexTemplate, State, TemplateKind, Templates};
use env::Env;
use json::{Object, Value};

use super::failure;
use super::template::{check_composed, made, plain};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;

/// What a simulation shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Settings, mappings and aliases of the index that would be made.
    pub template: Value,
    /// Other templates that fit the same names, with their patterns.
    pub overlapping: Vec<(String, Vec<String>)>,
}

impl<E: Env> Core<E> {
    /// What an index of that name would begin with; `body` is a template that is tried beside
    /// those that are there. `None` where no template fits.
    ///
    /// # Errors
    /// A template that is wrong, or one of more patterns than can be compared with all others.
    pub async fn simulate_index(
        self: &Rc<Self>,
        gate: &dyn Gate,
        name: &str,
        body: Option<Value>,
    ) -> Result<Option<Simulated>> {
        gate.cluster("indices:admin/index_template/simulate_index")?;
        let name = name.to_owned();
        self.simulated(body, move |trial| {
            let tried = format!("simulate_index_template_{}", name.to_lowercase());
            let templates = trial.templates(&tried)?;
            // Templates of the old kind are not looked at.
            let Some((found, template)) = templates.find(&name, false) else { return Ok(None) };
            Ok(Some(Simulated {
                overlapping: overlapping(&templates, found, template)?,
                template: shown(&name, templates.compose(template))?,
            }))
        })
        .await
    }

    /// What a template gives: one that is there (`name`), or one that is tried (`body`), or both.
    ///
    /// # Errors
    /// A template that is missing, or wrong, or one of more patterns than can be compared with all others.
    pub async fn simulate_template(
        self: &Rc<Self>,
        gate: &dyn Gate,
        name: Option<&str>,
        body: Option<Value>,
    ) -> Result<Simulated> {
        gate.cluster("indices:admin/index_template/simulate")?;
        if name.is_none() && body.is_none() {
            return Err(Error::validation(&[
                "either index name or index template body must be specified for simulation",
            ]));
        }
        let tried = name.unwrap_or("simulate_template").to_owned();
        // An index of such a name is what Elasticsearch makes of it.
        let uuid = cluster::state::uuid_text(self.uuid()).to_ascii_lowercase();
        let index = format!("simulate_template_index_{uuid}");
        self.simulated(body, move |trial| {
            let templates = trial.templates(&tried)?;
            let Some(template) = templates.index.get(tried.as_str()) else {
                return Err(Error::illegal_argument(format!(
                    "unable to simulate template [{tried}] that does not exist"
                )));
            };
            Ok(Simulated {
                overlapping: overlapping(&templates, &tried, template)?,
                template: shown(&index, templates.compose(template))?,
            })
        })
        .await
    }

    /// Tries templates out on a worker.
    async fn simulated<T: Send + 'static>(
        self: &Rc<Self>,
        body: Option<Value>,
        work: impl FnOnce(&Trial) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let trial = Trial { state: self.state(), body, now_ms: self.now_ms() };
        let done = self.work(move || work(&trial)).await;
        done.map_err(|_| Error::rejected("too many simulations wait for a worker"))?
    }
}

/// What is tried.
struct Trial {
    state: Arc<State>,
    /// A template beside those that are there, as it was sent.
    body: Option<Value>,
    now_ms: i64,
}

impl Trial {
    /// The templates that are there, and the one that is tried, of this name.
    fn templates(&self, tried: &str) -> Result<Templates> {
        let mut templates = (*self.state.templates).clone();
        let Some(body) = &self.body else { return Ok(templates) };
        let body = plain(TemplateKind::Index, body).map_err(failure::of_cluster)?;
        let template = IndexTemplate::parse(&body).map_err(failure::of_cluster)?;
        check_composed(&self.state, tried, &template, self.now_ms)?;
        let (name, parsed) = (tried.to_owned(), template.clone());
        let put = Command::PutIndexTemplate { name, template: parsed, create: false };
        cluster::admit(&self.state, &put).map_err(failure::of_cluster)?;
        templates.index.insert(Arc::from(tried), Arc::new(template));
        Ok(templates)
    }
}

fn overlapping(
    templates: &Templates,
    name: &str,
    template: &IndexTemplate,
) -> Result<Vec<(String, Vec<String>)>> {
    templates.overlapping(name, &template.patterns).map_err(failure::of_cluster)
}

/// The whole as an index would have it.
fn shown(name: &str, composed: Composed) -> Result<Value> {
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
