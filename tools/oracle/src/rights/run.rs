//! Runs a case: sets the stage as an administrator, then each request as its caller.

use std::collections::BTreeMap;

use json::{Object, Value, json};

use super::judge::{Action, Entry, Layer, Rights, Seen, Store};
use super::{door, marks};
use crate::find::run::{Counts, Difference};
use crate::find::schema::Schema;
use crate::find::world::World;
use crate::node::{Answer, Client, with_node};

/// Indices by name: by whose rights they are reached, and through which filters of aliases.
pub type Reached = BTreeMap<String, (String, Vec<Option<Value>>)>;

/// What a step came to: nothing wrong, or what.
pub type Done = Result<(), String>;

/// Who asks.
pub struct Caller {
    authorization: String,
    run_as: Option<String>,
    /// What it may do.
    pub rights: Rights,
    /// Its rights were granted by names: an alias must be granted beside its index.
    pub by_name: bool,
}

impl Caller {
    /// What tells it from others.
    pub fn identity(&self) -> (&str, Option<&str>) {
        (&self.authorization, self.run_as.as_deref())
    }
}

/// The names that a caller does not hold.
pub struct Denied;

/// A case under way.
pub struct Run {
    client: Client,
    /// Only its mapping is of use.
    pub world: World,
    /// What there is.
    pub store: Store,
    callers: Vec<Caller>,
    /// What was looked at.
    pub counts: Counts,
}

/// Runs a case.
pub fn run(case: &Value) -> Result<Counts, Difference> {
    let seed = case.get("seed").and_then(Value::as_u64).unwrap_or(1);
    with_node(seed, true, |client| async move {
        let mut world = World::default();
        world.schema = Schema::read(&marks::mapping());
        let (store, counts) = (Store::default(), Counts::default());
        let mut run = Run { client, world, store, callers: Vec::new(), counts };
        run.prepare(case).await.map_err(|what| Difference { step: 0, what })?;
        for (step, what) in
            case.get("steps").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            run.step(what).await.map_err(|what| Difference { step, what })?;
        }
        Ok(run.counts)
    })
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    value.and_then(Value::as_object).into_iter().flat_map(Object::iter)
}

/// All entries of a role's descriptor.
fn entries(descriptor: &Value) -> Vec<Entry> {
    let entries = descriptor.get("indices").and_then(Value::as_array).into_iter().flatten();
    entries.cloned().map(Entry).collect()
}

/// What scopes and details stand for.
fn granted(wish: &Value) -> Layer {
    let scopes = |key: &str| {
        let text = wish.get(key).and_then(Value::as_str).unwrap_or_default();
        let entries = text.split(' ').filter_map(|scope| {
            let (pattern, action) = scope.strip_prefix("index:")?.rsplit_once(':')?;
            Some(Entry(json!({"names": [pattern], "privileges": [(format!("scope:{action}"))]})))
        });
        entries.collect::<Vec<_>>()
    };
    let mut entries = scopes("scope");
    for detail in wish.get("details").and_then(Value::as_array).into_iter().flatten() {
        let actions = detail.get("actions").and_then(Value::as_array).into_iter().flatten();
        let actions: Vec<Value> = actions
            .filter_map(Value::as_str)
            .map(|action| Value::from(format!("scope:{action}")))
            .collect();
        let mut entry = Object::new();
        entry.insert("names", detail.get("indices").cloned());
        entry.insert("privileges", actions);
        if let Some(query) = detail.get("query") {
            entry.insert("query", query.clone());
        }
        if let Some(fields) = detail.get("fields").and_then(Value::as_array) {
            let names = fields.iter().filter_map(Value::as_str);
            // A field that is named is named with its parts.
            let grant: Vec<Value> = names
                .flat_map(|name| [Value::from(name), Value::from(format!("{name}.*"))])
                .collect();
            entry.insert("field_security", json!({"grant": grant}));
        }
        entries.push(Entry(Value::Object(entry)));
    }
    Layer { entries, strict: true }
}

impl Run {
    /// A request of an administrator, which must go well.
    pub async fn admin(
        &mut self,
        method: &str,
        target: &str,
        body: &Value,
    ) -> Result<Answer, String> {
        self.client.authorize(Some(&door::admin()));
        let body = if body.is_null() { String::new() } else { json::to_string(body) };
        let answer = self.client.call(method, target, &body).await;
        match answer.status {
            200 | 201 => Ok(answer),
            status => Err(format!("stage: {method} {target} {body}: {status} {}", answer.text)),
        }
    }

    async fn prepare(&mut self, case: &Value) -> Done {
        for (index, docs) in members(case.get("indices")) {
            let settings = json!({"number_of_shards": 1, "number_of_replicas": 0});
            let body = json!({"settings": settings, "mappings": (marks::mapping())});
            self.admin("PUT", &format!("/{index}"), &body).await?;
            let own = self.store.indices.entry(index.to_owned()).or_default();
            let docs: BTreeMap<String, Value> =
                members(Some(docs)).map(|(id, doc)| (id.to_owned(), doc.clone())).collect();
            own.extend(docs.clone());
            for (id, doc) in docs {
                self.admin("PUT", &format!("/{index}/_doc/{id}"), &doc).await?;
            }
        }
        let filter = json!({"term": {"one": "red"}});
        self.admin("PUT", "/a-1/_alias/al", &Value::Null).await?;
        self.admin("PUT", "/b-1/_alias/fal", &json!({"filter": (filter.clone())})).await?;
        self.store.aliases.insert("al".into(), ("a-1".into(), None));
        self.store.aliases.insert("fal".into(), ("b-1".into(), Some(filter)));
        self.admin("POST", "/_refresh", &Value::Null).await?;
        for (name, descriptor) in members(case.get("roles")) {
            self.admin("PUT", &format!("/_security/role/{name}"), descriptor).await?;
        }
        let mut owners: BTreeMap<String, Layer> = BTreeMap::new();
        for (name, roles) in members(case.get("users")) {
            let body = json!({"password": (door::PASSWORD), "roles": (roles.clone())});
            self.admin("PUT", &format!("/_security/user/{name}"), &body).await?;
            let of = roles.as_array().into_iter().flatten().filter_map(Value::as_str);
            let of = of.filter_map(|role| case.at(&["roles", role])).flat_map(entries).collect();
            owners.insert(name.to_owned(), Layer { entries: of, strict: false });
        }
        for caller in case.get("callers").and_then(Value::as_array).into_iter().flatten() {
            let user = caller.get("user").and_then(Value::as_str).unwrap_or_default();
            let Some(owner) = owners.get(user).cloned() else { continue };
            let made = if let Some(own) = caller.get("key") {
                let authorization = door::key(&mut self.client, user, own).await?;
                let mut layers = vec![owner];
                if own.as_object().is_some_and(|own| !own.is_empty()) {
                    let own = members(Some(own)).flat_map(|(_, role)| entries(role)).collect();
                    layers.push(Layer { entries: own, strict: false });
                }
                Caller { authorization, run_as: None, rights: Rights { layers }, by_name: false }
            } else if let Some(wish) = caller.get("token") {
                let made = door::token(&mut self.client, user, wish).await?;
                let Some((authorization, given)) = made else { continue };
                let layers = vec![owner, granted(&given)];
                Caller { authorization, run_as: None, rights: Rights { layers }, by_name: true }
            } else {
                let rights = Rights { layers: vec![owner] };
                let run_as = Some(user.to_owned());
                Caller { authorization: door::admin(), run_as, rights, by_name: false }
            };
            self.callers.push(made);
        }
        Ok(())
    }

    async fn step(&mut self, step: &Value) -> Done {
        let at = step.get("as").and_then(Value::as_u64).unwrap_or(0) as usize;
        if at >= self.callers.len() {
            return Ok(());
        }
        let done = if step.get("write").is_some()
            || step.get("by_query").is_some()
            || step.get("reindex").is_some()
        {
            self.write(at, step).await
        } else {
            self.read(at, step).await
        };
        done.map_err(|what| format!("caller {at}: {what}"))
    }

    /// One request of a caller.
    pub async fn call(&mut self, at: usize, method: &str, target: &str, body: &str) -> Answer {
        let caller = &self.callers[at];
        self.client.authorize(Some(&caller.authorization));
        let run_as = caller.run_as.clone();
        let more: Vec<(&str, &str)> =
            run_as.iter().map(|user| ("es-security-runas-user", user.as_str())).collect();
        self.client.call_with(method, target, &more, body).await
    }

    /// A caller.
    pub fn caller(&self, at: usize) -> &Caller {
        &self.callers[at]
    }

    /// What an administrator finds in all indices.
    pub async fn load(&mut self) -> Result<BTreeMap<String, BTreeMap<String, Value>>, String> {
        self.admin("POST", "/_refresh", &Value::Null).await?;
        let body = json!({"size": 1000, "query": {"match_all": {}}});
        let answer = self.admin("POST", "/a-*,b-*/_search", &body).await?;
        let mut found: BTreeMap<String, BTreeMap<String, Value>> =
            self.store.indices.keys().map(|index| (index.clone(), BTreeMap::new())).collect();
        for hit in crate::find::check::hits_of(&answer.body) {
            let text =
                |key: &str| hit.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let source = hit.get("_source").cloned().unwrap_or_default();
            found.entry(text("_index")).or_default().insert(text("_id"), source);
        }
        Ok(found)
    }

    /// The name by whose rights an index is read, where a request names this index or alias.
    pub fn by_which(
        &self,
        at: usize,
        action: Action,
        name: &str,
    ) -> Result<(String, String), Denied> {
        let caller = self.caller(at);
        let may = |name: &str| caller.rights.may(action, name);
        let Some((index, _)) = self.store.aliases.get(name) else {
            return if may(name) { Ok((name.into(), name.into())) } else { Err(Denied) };
        };
        if caller.by_name {
            // The owner's roles may name the index alone; the grant must hold both.
            let granted = &caller.rights.layers[1];
            let both = Rights { layers: vec![granted.clone()] }.may(action, name) && may(index);
            return if both { Ok((index.clone(), index.clone())) } else { Err(Denied) };
        }
        match (may(index), may(name)) {
            (true, _) => Ok((index.clone(), index.clone())),
            (_, true) => Ok((index.clone(), name.to_owned())),
            _ => Err(Denied),
        }
    }

    /// Indices that an expression reaches: by whose rights, and through which filters of aliases.
    pub fn reach(&self, at: usize, action: Action, on: &str) -> Result<Reached, Denied> {
        let mut reached = Reached::new();
        let mut take = |name: &str, (index, by): (String, String)| {
            let filter = self.store.aliases.get(name).and_then(|(_, filter)| filter.clone());
            reached.entry(index).or_insert((by, Vec::new())).1.push(filter);
        };
        for part in on.split(',') {
            if !part.contains('*') {
                take(part, self.by_which(at, action, part)?);
                continue;
            }
            let names = self.store.indices.keys().chain(self.store.aliases.keys());
            for name in names.filter(|name| super::judge::fits(part, name)) {
                // A wildcard reaches names that the caller may use, and says nothing of others.
                let own = self.caller(at).rights.may(action, name);
                if let (true, Ok(by)) = (own, self.by_which(at, action, name)) {
                    take(name, by);
                }
            }
        }
        Ok(reached)
    }

    /// What a caller sees through an expression.
    pub fn seen(
        &self,
        at: usize,
        action: Action,
        on: &str,
    ) -> Result<Result<Vec<Seen>, Denied>, String> {
        let reached = match self.reach(at, action, on) {
            Ok(reached) => reached,
            Err(denied) => return Ok(Err(denied)),
        };
        let mut all = Vec::new();
        for (index, (by, filters)) in reached {
            for (id, source) in &self.store.indices[&index] {
                let rights = &self.caller(at).rights;
                let seen = rights.see(&self.world, action, &by, &index, id, source);
                let seen = seen.map_err(|skip| skip.0)?;
                let Some(seen) = seen else { continue };
                let mut through = filters.is_empty();
                for filter in &filters {
                    let whole = crate::find::document::read(&self.world.schema, id, source);
                    let whole = whole.map_err(|skip| skip.0)?;
                    let reader =
                        crate::find::statistics::Statistics { world: &self.world, shard: None };
                    through |= match filter {
                        None => true,
                        Some(filter) => {
                            reader.eval(filter, &whole, 1.0).map_err(|skip| skip.0)?.is_some()
                        }
                    };
                }
                if through {
                    all.push(seen);
                }
            }
        }
        Ok(Ok(all))
    }

    /// Every mark of an answer must be one that was sent, or one of these documents as they are seen.
    pub fn no_leak(&self, sent: &str, answer: &Answer, seen: &[Seen]) -> Done {
        for (doc, place) in marks::found(&answer.text) {
            let mark = marks::mark(doc, place);
            if sent.to_lowercase().contains(&mark) {
                continue;
            }
            let id = marks::id(doc);
            let shown = seen.iter().any(|seen| {
                seen.id == id && (place == 'i' || json::to_string(&seen.source).contains(&mark))
            });
            if !shown && (place == 'i' || marks::field(place).is_some()) {
                return Err(format!(
                    "[{mark}] is hidden and shown by {sent}: {}",
                    short(&answer.text)
                ));
            }
        }
        Ok(())
    }
}

/// The begin of a text.
pub fn short(text: &str) -> String {
    text.chars().take(900).collect()
}
