//! Runs a case: sets the stage as an administrator, then each request as its caller.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use http::{Method, Target};
use json::{Object, Value, json};
use net::router::{Found, Router};

use super::ask::GONE;
use super::judge::{Action, Entry, Layer, Rights, Seen, Store};
use super::{ask, door, marks};
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
    /// Whose rights bound its own.
    user: String,
    /// It has that user's roles of this moment; a key has those of when it was made.
    lives: bool,
    authorization: String,
    run_as: Option<String>,
    /// What it may do.
    pub rights: Rights,
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
    roles: BTreeMap<String, Vec<Entry>>,
    users: BTreeMap<String, Vec<String>>,
    router: Router,
    /// Name of the index that was taken out of the data stream.
    gone: String,
    asked: BTreeSet<Asked>,
    /// Whose turn it is among the methods of each route; of the first, where it was not asked yet.
    turns: BTreeMap<Asked, usize>,
    first_turn: usize,
    /// What was looked at.
    pub counts: Counts,
}

/// Runs a case.
///
/// # Errors
/// Where the node and the judge differ.
pub fn run(case: &Value) -> Result<Counts, Difference> {
    run_and_tell(case).0
}

/// A method, and the path of a route that takes it.
pub type Asked = (&'static str, &'static str);

/// Runs a case; tells too to which routes its callers' requests went, and by which methods.
pub fn run_and_tell(case: &Value) -> (Result<Counts, Difference>, BTreeSet<Asked>) {
    let seed = case.get("seed").and_then(Value::as_u64).unwrap_or(1);
    with_node(seed, true, |client| async move {
        let mut world = World::default();
        world.schema = Schema::read(&marks::mapping());
        let mut run = Run {
            client,
            world,
            store: Store::default(),
            callers: Vec::new(),
            roles: BTreeMap::new(),
            users: BTreeMap::new(),
            router: Router::new(net::table::ROUTES),
            gone: String::new(),
            asked: BTreeSet::new(),
            turns: BTreeMap::new(),
            first_turn: seed as usize,
            counts: Counts::default(),
        };
        let done = run.all(case).await.map(|()| run.counts);
        (done, run.asked)
    })
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    value.and_then(Value::as_object).into_iter().flat_map(Object::iter)
}

fn texts(list: &Value) -> Vec<String> {
    let all = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    all.map(str::to_owned).collect()
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
            let privileges = vec![format!("scope:{action}")];
            Some(Entry(json!({"names": [pattern], "privileges": privileges, "dots": false})))
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
        entry.insert("dots", false);
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
    async fn all(&mut self, case: &Value) -> Result<(), Difference> {
        self.prepare(case).await.map_err(|what| Difference { step: 0, what })?;
        let steps = case.get("steps").and_then(Value::as_array).into_iter().flatten();
        for (step, what) in steps.enumerate() {
            self.step(what).await.map_err(|what| Difference { step, what })?;
        }
        Ok(())
    }

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

    /// Documents of an index as the case has them.
    async fn fill(&mut self, index: &str, path: &str, docs: &Value) -> Done {
        let docs: BTreeMap<String, Value> =
            members(Some(docs)).map(|(id, doc)| (id.to_owned(), doc.clone())).collect();
        self.store.indices.entry(index.to_owned()).or_default().extend(docs.clone());
        for (id, doc) in docs {
            self.admin("PUT", &format!("/{path}/{id}"), &doc).await?;
        }
        Ok(())
    }

    /// A data stream of whose indices the first was taken out, and another put in: the name of the first says
    /// that it is of the stream, that of the other does not.
    async fn prepare_stream(&mut self, case: &Value) -> Done {
        let (Some(first), Some(other)) = (case.get(GONE), case.get(ask::PUT_IN)) else {
            return Ok(());
        };
        let settings = json!({"number_of_shards": 1, "number_of_replicas": 0});
        let mut mapping = marks::mapping();
        for (key, value) in mapping.as_object_mut().into_iter().flat_map(Object::iter_mut) {
            if let ("properties", Some(fields)) = (key, value.as_object_mut()) {
                fields.insert("@timestamp", json!({"type": "date"}));
            }
        }
        let made = json!({"settings": settings, "mappings": mapping});
        let template = json!({
            "index_patterns": [(ask::STREAM)], "data_stream": {}, "template": (made.clone())
        });
        self.admin("PUT", "/_index_template/t", &template).await?;
        self.admin("PUT", &format!("/{}", ask::PUT_IN), &made).await?;
        self.fill(ask::PUT_IN, &format!("{}/_doc", ask::PUT_IN), other).await?;
        self.admin("PUT", &format!("/_data_stream/{}", ask::STREAM), &Value::Null).await?;
        let rolled =
            self.admin("POST", &format!("/{}/_rollover", ask::STREAM), &Value::Null).await?;
        let name = |key: &str| rolled.body.get(key).and_then(Value::as_str).map(str::to_owned);
        let (Some(old), Some(new)) = (name("old_index"), name("new_index")) else {
            return Err("stage: no rollover".to_owned());
        };
        self.fill(&old, &format!("{old}/_doc"), first).await?;
        self.store.indices.entry(new.clone()).or_default();
        let action = |what: &str, index: &str| {
            let mut action = Object::new();
            action.insert(what, json!({"data_stream": (ask::STREAM), "index": index}));
            Value::Object(action)
        };
        let changes =
            vec![action("add_backing_index", ask::PUT_IN), action("remove_backing_index", &old)];
        self.admin("POST", "/_data_stream/_modify", &json!({"actions": changes})).await?;
        self.store.streams.insert(ask::STREAM.to_owned(), vec![ask::PUT_IN.to_owned(), new]);
        self.gone = old;
        Ok(())
    }

    async fn prepare(&mut self, case: &Value) -> Done {
        for (index, docs) in members(case.get("indices")) {
            let settings = json!({"number_of_shards": 1, "number_of_replicas": 0});
            let body = json!({"settings": settings, "mappings": (marks::mapping())});
            self.admin("PUT", &format!("/{index}"), &body).await?;
            self.fill(index, &format!("{index}/_doc"), docs).await?;
        }
        self.prepare_stream(case).await?;
        let parents = self.store.parents();
        let filter = json!({"term": {"one": "red"}});
        self.admin("PUT", "/a-1/_alias/al", &Value::Null).await?;
        self.admin("PUT", "/b-1/_alias/fal", &json!({"filter": (filter.clone())})).await?;
        self.store.aliases.insert("al".into(), ("a-1".into(), None));
        self.store.aliases.insert("fal".into(), ("b-1".into(), Some(filter)));
        self.admin("POST", "/_refresh", &Value::Null).await?;
        for (name, descriptor) in members(case.get("roles")) {
            self.admin("PUT", &format!("/_security/role/{name}"), descriptor).await?;
            self.roles.insert(name.to_owned(), entries(descriptor));
        }
        for (name, roles) in members(case.get("users")) {
            let body = json!({"password": (door::PASSWORD), "roles": (roles.clone())});
            self.admin("PUT", &format!("/_security/user/{name}"), &body).await?;
            self.users.insert(name.to_owned(), texts(roles));
        }
        for caller in case.get("callers").and_then(Value::as_array).into_iter().flatten() {
            let user = caller.get("user").and_then(Value::as_str).unwrap_or_default();
            if !self.users.contains_key(user) {
                continue;
            }
            let (owner, of) = (self.owner(user), user.to_owned());
            let made = if let Some(own) = caller.get("key") {
                let authorization = door::key(&mut self.client, user, own).await?;
                let mut layers = vec![owner];
                if own.as_object().is_some_and(|own| !own.is_empty()) {
                    let own = members(Some(own)).flat_map(|(_, role)| entries(role)).collect();
                    layers.push(Layer { entries: own, strict: false });
                }
                let rights = Rights { layers, parents: Rc::clone(&parents) };
                Caller { user: of, lives: false, authorization, run_as: None, rights }
            } else if let Some(wish) = caller.get("token") {
                let made = door::token(&mut self.client, user, wish).await?;
                let Some((authorization, given)) = made else { continue };
                let layers = vec![owner, granted(&given)];
                let rights = Rights { layers, parents: Rc::clone(&parents) };
                Caller { user: of, lives: true, authorization, run_as: None, rights }
            } else {
                let rights = Rights { layers: vec![owner], parents: Rc::clone(&parents) };
                let run_as = Some(user.to_owned());
                let authorization = door::admin();
                Caller { user: of, lives: true, authorization, run_as, rights }
            };
            self.callers.push(made);
        }
        Ok(())
    }

    /// What a user may do by its roles now.
    fn owner(&self, user: &str) -> Layer {
        let roles = self.users.get(user).into_iter().flatten();
        let entries = roles.filter_map(|role| self.roles.get(role)).flatten().cloned().collect();
        Layer { entries, strict: false }
    }

    /// An administrator changes a role, somebody's roles, or an alias; what lives hears of it at once.
    async fn change(&mut self, step: &Value) -> Done {
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (role, user, alias) = (text("role"), text("user"), text("alias"));
        if !role.is_empty() {
            let descriptor = step.get("descriptor").cloned().unwrap_or_default();
            self.admin("PUT", &format!("/_security/role/{role}"), &descriptor).await?;
            self.roles.insert(role, entries(&descriptor));
        } else if !user.is_empty() {
            let roles = step.get("roles").cloned().unwrap_or_default();
            let body = json!({"roles": (roles.clone())});
            self.admin("PUT", &format!("/_security/user/{user}"), &body).await?;
            self.users.insert(user, texts(&roles));
        } else {
            let filter = step.get("filter").filter(|filter| !filter.is_null()).cloned();
            let body = self.moved(&alias, &text("to"), filter.as_ref());
            self.admin("POST", "/_aliases", &body).await?;
            self.store.aliases.insert(alias, (text("to"), filter));
        }
        for at in 0..self.callers.len() {
            if self.callers[at].lives {
                let owner = self.owner(&self.callers[at].user);
                self.callers[at].rights.layers[0] = owner;
            }
        }
        Ok(())
    }

    /// The request that moves an alias.
    pub fn moved(&self, alias: &str, to: &str, filter: Option<&Value>) -> Value {
        let from = self.store.aliases.get(alias).map_or("", |(index, _)| index.as_str());
        let mut add = json!({"index": to, "alias": alias});
        if let (Some(filter), Some(add)) = (filter, add.as_object_mut()) {
            add.insert("filter", filter.clone());
        }
        json!({"actions": [{"remove": {"index": from, "alias": alias}}, {"add": add}]})
    }

    async fn step(&mut self, step: &Value) -> Done {
        let mut step = step.clone();
        self.name_gone(&mut step);
        let step = &step;
        if ["role", "roles", "alias"].iter().any(|key| step.get(key).is_some()) {
            return self.change(step).await;
        }
        let at = step.get("as").and_then(Value::as_u64).unwrap_or(0) as usize;
        if at >= self.callers.len() {
            return Ok(());
        }
        let done = if step.get("write").is_some()
            || step.get("by_query").is_some()
            || step.get("reindex").is_some()
            || step.get("move").is_some()
        {
            self.write(at, step).await
        } else if step.get("copy").is_some() {
            self.copy(at, step).await
        } else if step.get("nameless").is_some() {
            self.nameless(at, step).await
        } else {
            self.read(at, step).await
        };
        done.map_err(|what| format!("caller {at}: {what}"))
    }

    /// The day is part of the name: a case says another word in its place.
    fn name_gone(&self, value: &mut Value) {
        match value {
            Value::String(text) if *text == GONE => *value = Value::from(self.gone.as_str()),
            Value::Object(members) => {
                members.iter_mut().for_each(|(_, value)| self.name_gone(value));
            }
            Value::Array(all) => all.iter_mut().for_each(|value| self.name_gone(value)),
            _ => {}
        }
    }

    /// One request of a caller, by this method or another that means the same: what may be done must not hang on
    /// that. What may be looked at by `HEAD` is, and must be told the same.
    pub async fn call(&mut self, at: usize, method: &str, target: &str, body: &str) -> Answer {
        let (mut method, mut looked) = (method, false);
        let named = Target::new(target.as_bytes());
        if let Ok(Found::Route(route, _)) = self.router.find(Method::of(method), &named) {
            let same: Vec<&str> = route.methods.iter().map(|method| method.as_str()).collect();
            looked = same.contains(&"HEAD");
            let same: Vec<&str> = same.into_iter().filter(|method| *method != "HEAD").collect();
            // Those of one route: another route of the same path does something else.
            let key = (route.methods.first().map_or("", |method| method.as_str()), route.path);
            let turn = self.turns.entry(key).or_insert(self.first_turn);
            method = same.get(*turn % same.len().max(1)).copied().unwrap_or(method);
            *turn += 1;
            let methods = [method, "HEAD"].into_iter().take(1 + usize::from(looked));
            for method in methods {
                self.asked.insert((Method::of(method).as_str(), route.path));
            }
        }
        let head = match looked {
            true => Some(self.ask(at, "HEAD", target, body).await),
            false => None,
        };
        let answer = self.ask(at, method, target, body).await;
        match head {
            Some(head) if head.status != answer.status || !head.text.is_empty() => Answer {
                text: format!(
                    "HEAD was told {}, {method} {}: {}",
                    head.status, answer.status, answer.text
                ),
                // No step wants that.
                status: 599,
                ..answer
            },
            _ => answer,
        }
    }

    async fn ask(&mut self, at: usize, method: &str, target: &str, body: &str) -> Answer {
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
        // Indices of a data stream are hidden.
        let target = "/*/_search?expand_wildcards=all";
        let answer = self.admin("POST", target, &body).await?;
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

    /// The index that a name means, be it its own or that of an alias, with the name by whose rights it is read.
    pub fn by_which(
        &self,
        at: usize,
        action: Action,
        name: &str,
    ) -> Result<(String, String), Denied> {
        let index = self.store.aliases.get(name).map_or(name, |(index, _)| index.as_str());
        match self.caller(at).rights.may_by(action, (name, index)) {
            true => Ok((index.to_owned(), name.to_owned())),
            false => Err(Denied),
        }
    }

    /// Indices that an expression reaches: by whose rights, and through which filters of aliases.
    pub fn reach(&self, at: usize, action: Action, on: &str) -> Result<Reached, Denied> {
        let rights = &self.caller(at).rights;
        // The names that led to each index.
        let mut led: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let parents = self.store.parents();
        for part in on.split(',') {
            let mut take = |(index, by): (String, String)| led.entry(index).or_default().push(by);
            if let Some(members) = self.store.streams.get(part) {
                for member in members {
                    if !rights.may_by(action, (part, member)) {
                        return Err(Denied);
                    }
                    take((member.clone(), part.to_owned()));
                }
                continue;
            }
            if !part.contains('*') {
                take(self.by_which(at, action, part)?);
                continue;
            }
            // A wildcard reaches names that the caller may use, and says nothing of others. The indices of a data
            // stream are hidden from it, but for one that means the stream.
            let indices = self.store.indices.keys().filter(|name| !parents.contains_key(*name));
            let names = indices.chain(self.store.aliases.keys());
            for name in names.filter(|name| super::judge::fits(part, name)) {
                if let Ok(by) = self.by_which(at, action, name) {
                    take(by);
                }
            }
            let streams = self.store.streams.iter();
            for (name, members) in streams.filter(|(name, _)| super::judge::fits(part, name)) {
                for member in members.iter().filter(|one| rights.may_by(action, (name, one))) {
                    take((member.clone(), name.clone()));
                }
            }
        }
        let mut reached = Reached::new();
        for (index, names) in led {
            let filter =
                |name: &String| self.store.aliases.get(name).and_then(|(_, filter)| filter.clone());
            let filters = names.iter().map(filter).collect();
            // Its own name tells what is seen; of several others each must tell the same.
            let by = names.iter().find(|name| **name == index).unwrap_or(&names[0]);
            let limits = |name: &str| rights.limits(action, (name, &index));
            if *by != index && names.iter().any(|name| limits(name) != limits(by)) {
                return Err(Denied);
            }
            reached.insert(index.clone(), (by.clone(), filters));
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
        match self.reach(at, action, on) {
            Ok(reached) => self.seen_of(at, action, reached).map(Ok),
            Err(denied) => Ok(Err(denied)),
        }
    }

    /// What a caller sees behind one name, where the filter of an alias is not asked.
    pub fn seen_behind(&self, at: usize, action: Action, name: &str) -> Result<Vec<Seen>, String> {
        let mut reached = self.reach(at, action, name).unwrap_or_default();
        reached.values_mut().for_each(|(_, filters)| filters.clear());
        self.seen_of(at, action, reached)
    }

    fn seen_of(&self, at: usize, action: Action, reached: Reached) -> Result<Vec<Seen>, String> {
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
        Ok(all)
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
