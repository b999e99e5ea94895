//! Runs a case: the same steps on a node and on the plain reading.
//!
//! A case is `{"shards": 2, "mapping": …, "steps": […]}`; a step is one member:
//! `{"bulk": [{"index": "id", "doc": …}, {"delete": "id"}, {"update": "id", "doc": …}]}`, `{"refresh": 0}`,
//! `{"flush": 0}`, `{"merge": 1}`, `{"search": body, "paged": "search_after"}`, `{"dfs": body}`, `{"count": query}`,
//! `{"get": "id"}`, `{"delete_by_query": query}`.

use json::{Value, json};

use super::Skip;
use super::check;
use super::matching::only;
use super::statistics::Statistics;
use super::world::World;
use crate::node::{Answer, Client, with_node};

/// What a run came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Answers that were held against the plain reading.
    pub checked: usize,
    /// Answers about which it has no opinion.
    pub skipped: usize,
    /// Documents that hits or aggregations were made of, together.
    pub found: usize,
}

/// A difference: at which step, and what it is.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The number of the step.
    pub step: usize,
    /// What differs.
    pub what: String,
}

/// Runs a case.
pub fn run(case: &Value) -> Result<Counts, Difference> {
    let seed = case.get("seed").and_then(Value::as_u64).unwrap_or(1);
    with_node(seed, false, |client| async move {
        let shards = case.get("shards").and_then(Value::as_u64).unwrap_or(1) as usize;
        let empty = Value::object();
        let mapping = case.get("mapping").unwrap_or(&empty);
        let mut run = Run { client, world: World::new(mapping, shards), counts: Counts::default() };
        run.create(shards, mapping).await.map_err(|what| Difference { step: 0, what })?;
        let steps = case.get("steps").and_then(Value::as_array).unwrap_or(&[]);
        for (step, what) in steps.iter().enumerate() {
            run.step(what).await.map_err(|what| Difference { step, what })?;
        }
        Ok(run.counts)
    })
}

struct Run {
    client: Client,
    world: World,
    counts: Counts,
}

type Done = Result<(), String>;

fn told(what: &str, answer: &Answer) -> String {
    let mut text = json::to_string(&answer.body);
    if let Some((end, _)) = text.char_indices().nth(600) {
        text.truncate(end);
    }
    format!("{what}: {} {text}", answer.status)
}

/// Sorts the index by the keys that `_meta` names, as far as they can be.
fn sort(body: &mut Value) {
    let properties = body.at(&["mappings", "properties"]).and_then(Value::as_object);
    let Some(properties) = properties else { return };
    let is_nested = |field: &Value| field.get("type").and_then(Value::as_str) == Some("nested");
    if properties.iter().any(|(_, field)| is_nested(field)) {
        return;
    }
    let keys = body.at(&["mappings", "_meta", "sort"]).and_then(Value::as_array).unwrap_or(&[]);
    let can_sort = |key: &&Value| {
        let field = key.get("field").and_then(Value::as_str).and_then(|name| properties.get(name));
        field.is_some_and(|field| field.get("doc_values") != Some(&Value::Bool(false)))
    };
    let keys: Vec<&Value> = keys.iter().filter(can_sort).collect();
    if keys.is_empty() {
        return;
    }
    let each =
        |name: &str| -> Value { keys.iter().filter_map(|key| key.get(name).cloned()).collect() };
    let order = json!({
        "field": (each("field")),
        "order": (each("order")),
        "mode": (each("mode")),
        "missing": (each("missing"))
    });
    if let Some(settings) = body.as_object_mut().and_then(|body| body.get_mut("settings"))
        && let Some(settings) = settings.as_object_mut()
    {
        settings.insert("sort", order);
    }
}

impl Run {
    async fn create(&mut self, shards: usize, mapping: &Value) -> Done {
        let mut mapping = mapping.clone();
        if let Some(mapping) = mapping.as_object_mut() {
            // A case that was made smaller means the same.
            mapping.insert("dynamic", false);
        }
        let body = json!({
            "settings": {
                "number_of_shards": shards,
                "number_of_replicas": 0,
                "refresh_interval": "-1",
                "analysis": {"normalizer": {"lowercase": {"type": "custom", "filter": ["lowercase"]}}}
            },
            "mappings": mapping
        });
        let mut body = body;
        sort(&mut body);
        let answer = self.client.call("PUT", "/a", &json::to_string(&body)).await;
        if answer.status == 200 { Ok(()) } else { Err(told("the index", &answer)) }
    }

    async fn step(&mut self, step: &Value) -> Done {
        let Ok((kind, body)) = only(step) else { return Ok(()) };
        match kind {
            "bulk" => self.bulk(body).await,
            "refresh" | "flush" | "merge" => self.settle(kind, body).await,
            "search" => self.search(body, step.get("paged").and_then(Value::as_str), false).await,
            "dfs" => self.search(body, None, true).await,
            "count" => self.count(body).await,
            "get" => self.get(body.as_str().unwrap_or_default()).await,
            "delete_by_query" => self.delete_by_query(body).await,
            other => Err(format!("an unknown step [{other}]")),
        }
    }

    async fn bulk(&mut self, items: &Value) -> Done {
        let mut lines = String::new();
        let mut wanted = Vec::new();
        for item in items.as_array().unwrap_or(&[]) {
            let Ok((action, id)) = only(item) else { continue };
            let (text, id) = (json::to_string(id), id.as_str().unwrap_or_default());
            lines.push_str(&format!("{{\"{action}\":{{\"_id\":{text}}}}}\n"));
            let empty = Value::object();
            let doc = item.get("doc").unwrap_or(&empty);
            match action {
                "index" => {
                    lines.push_str(&format!("{}\n", json::to_string(doc)));
                    wanted.push(if self.world.live.contains_key(id) { 200 } else { 201 });
                    self.world.put(id, doc);
                }
                "update" => {
                    lines.push_str(&format!("{{\"doc\":{}}}\n", json::to_string(doc)));
                    wanted.push(if self.world.update(id, doc) { 200 } else { 404 });
                }
                _ => wanted.push(if self.world.delete(id) { 200 } else { 404 }),
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let answer = self.client.call("POST", "/a/_bulk", &lines).await;
        let items = answer.body.get("items").and_then(Value::as_array).unwrap_or(&[]);
        let status =
            |item: &Value| only(item).ok().and_then(|(_, item)| item.get("status")?.as_u64());
        let found: Vec<Option<u64>> = items.iter().map(status).collect();
        if found.iter().zip(&wanted).any(|(a, b)| *a != Some(*b)) || found.len() != wanted.len() {
            let at = found.iter().zip(&wanted).position(|(a, b)| *a != Some(*b));
            let item = at.map(|at| json::to_string(&items[at])).unwrap_or_default();
            return Err(format!("bulk item {at:?} wanted {:?}: {item}", at.map(|at| wanted[at])));
        }
        Ok(())
    }

    async fn settle(&mut self, kind: &str, body: &Value) -> Done {
        let target = match kind {
            "merge" => format!("/a/_forcemerge?max_num_segments={}", body.as_u64().unwrap_or(1)),
            kind => format!("/a/_{kind}"),
        };
        let answer = self.client.call("POST", &target, "").await;
        if answer.status != 200 {
            return Err(told(kind, &answer));
        }
        if kind == "merge" && body.as_u64() == Some(1) {
            self.world.has_ghosts = false;
        }
        if kind != "refresh" {
            // Whether these let new documents be seen is nobody's promise.
            let answer = self.client.call("POST", "/a/_refresh", "").await;
            if answer.status != 200 {
                return Err(told("refresh", &answer));
            }
        }
        self.world.refresh().map_err(|Skip(why)| format!("a document is not understood: {why}"))
    }

    async fn search(&mut self, body: &Value, paged: Option<&str>, dfs: bool) -> Done {
        let expected = check::expect(&self.world, body, dfs);
        let mut target = "/a/_search".to_owned();
        if dfs {
            target.push_str("?search_type=dfs_query_then_fetch");
        }
        let answer = self.client.call("POST", &target, &json::to_string(body)).await;
        if answer.status != 200 {
            return Err(told("search", &answer));
        }
        let expected = match expected {
            Ok(expected) => expected,
            Err(_) => {
                self.counts.skipped += 1;
                return Ok(());
            }
        };
        self.counts.checked += 1;
        self.counts.found += expected.total;
        let from = body.get("from").and_then(Value::as_u64).unwrap_or(0) as usize;
        if let Some(what) = check::difference(&expected, body, &answer.body, from) {
            return Err(what);
        }
        match paged {
            Some("search_after") => {
                let mut from = check::hits_of(&answer.body).len();
                let mut last = check::hits_of(&answer.body).last().cloned();
                while let Some(after) = last.as_ref().and_then(|hit| hit.get("sort")) {
                    let mut next = check::without(body, &["aggs"]);
                    if let Some(next) = next.as_object_mut() {
                        next.insert("search_after", after.clone());
                    }
                    let answer = self.client.call("POST", &target, &json::to_string(&next)).await;
                    if answer.status != 200 {
                        return Err(told("search_after", &answer));
                    }
                    let whole = check::without(&next, &["search_after"]);
                    let bare = check::expect(&self.world, &whole, dfs);
                    let bare = bare.map_err(|Skip(why)| why)?;
                    if let Some(what) = check::difference(&bare, &next, &answer.body, from) {
                        return Err(format!("after {}: {what}", json::to_string(after)));
                    }
                    let hits = check::hits_of(&answer.body);
                    from += hits.len();
                    last = hits.last().cloned();
                }
                Ok(())
            }
            Some("composite") => self.composite(body, answer).await,
            _ => Ok(()),
        }
    }

    /// Follows the pages of the composite aggregation `c` to their end.
    async fn composite(&mut self, body: &Value, mut answer: Answer) -> Done {
        for _ in 0..1_000 {
            let Some(after) = answer.body.at(&["aggregations", "c", "after_key"]) else {
                return Ok(());
            };
            let mut next = body.clone();
            let path = ["aggs", "c", "composite"];
            let mut at = &mut next;
            for key in path {
                match at.as_object_mut().and_then(|object| object.get_mut(key)) {
                    Some(inner) => at = inner,
                    None => return Ok(()),
                }
            }
            if let Some(composite) = at.as_object_mut() {
                composite.insert("after", after.clone());
            }
            let Ok(expected) = check::expect(&self.world, &next, false) else { return Ok(()) };
            answer = self.client.call("POST", "/a/_search", &json::to_string(&next)).await;
            if answer.status != 200 {
                return Err(told("composite", &answer));
            }
            let from = next.get("from").and_then(Value::as_u64).unwrap_or(0) as usize;
            if let Some(what) = check::difference(&expected, &next, &answer.body, from) {
                return Err(format!("a later page: {what}"));
            }
        }
        Err("pages of composite without an end".into())
    }

    async fn count(&mut self, query: &Value) -> Done {
        let body = json!({"query": (query.clone())});
        let answer = self.client.call("POST", "/a/_count", &json::to_string(&body)).await;
        if answer.status != 200 {
            return Err(told("count", &answer));
        }
        let Ok(expected) = check::expect(&self.world, &body, false) else {
            self.counts.skipped += 1;
            return Ok(());
        };
        self.counts.checked += 1;
        let found = answer.body.get("count").and_then(Value::as_u64);
        if found == Some(expected.total as u64) {
            return Ok(());
        }
        Err(format!("count: expected {}, found {found:?}", expected.total))
    }

    async fn get(&mut self, id: &str) -> Done {
        let answer = self.client.call("GET", &format!("/a/_doc/{id}"), "").await;
        self.counts.checked += 1;
        let found = answer.body.get("_source");
        if found == self.world.live.get(id) {
            return Ok(());
        }
        Err(told(&format!("get [{id}], expected {:?}", self.world.live.get(id)), &answer))
    }

    async fn delete_by_query(&mut self, query: &Value) -> Done {
        // What is written and not seen makes conflicts: all is seen first.
        self.settle("refresh", &Value::Null).await?;
        let reader = Statistics { world: &self.world, shard: None };
        let mut ids = Vec::new();
        for (_, block) in self.world.docs() {
            match reader.eval(query, block, 1.0) {
                Ok(Some(_)) => ids.push(block.id.clone()),
                Ok(None) => {}
                Err(_) => return Ok(()),
            }
        }
        let body = json!({"query": (query.clone())});
        let answer = self
            .client
            .call("POST", "/a/_delete_by_query?refresh=true", &json::to_string(&body))
            .await;
        let found = answer.body.get("deleted").and_then(Value::as_u64);
        if answer.status != 200 || found != Some(ids.len() as u64) {
            return Err(told(&format!("delete by query, expected {}", ids.len()), &answer));
        }
        for id in &ids {
            self.world.delete(id);
        }
        self.counts.checked += 1;
        self.world.refresh().map_err(|Skip(why)| why)
    }
}
