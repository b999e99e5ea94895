//! Every path that writes: done where it may be, nothing done where not.

use std::collections::BTreeMap;

use json::{Value, json};

use super::judge::{Action, Seen, world_of};
use super::run::{Done, Run, short};
use super::searches::below;
use crate::find::check;
use crate::find::world::laid_over;

/// What a copy is called: within reach of `a-*`.
const COPY: &str = "a-9";

type Documents = BTreeMap<String, BTreeMap<String, Value>>;

impl Run {
    /// Where a document lives, or where it is meant to.
    fn home(&self, id: &str, otherwise: &str) -> String {
        let own = self.store.indices.iter().find(|(_, docs)| docs.contains_key(id));
        own.map_or(otherwise, |(index, _)| index).to_owned()
    }

    fn limited(&self, at: usize, action: Action, index: &str) -> bool {
        let fields: Vec<String> = self.world.schema.fields.keys().cloned().collect();
        self.caller(at).rights.is_limited(action, index, &fields)
    }

    /// Is a document seen whole under rights to write it?
    fn whole(
        &self,
        at: usize,
        action: Action,
        index: &str,
        id: &str,
        doc: &Value,
    ) -> Result<bool, String> {
        let seen = self.caller(at).rights.see(&self.world, action, index, index, id, doc);
        Ok(seen.map_err(|skip| skip.0)?.is_some_and(|seen| seen.source == *doc))
    }

    /// Is a document seen before and after a change, and is what is hidden of it the same?
    fn leaves_alone(
        &self,
        at: usize,
        action: Action,
        index: &str,
        id: &str,
        old: &Value,
        change: &Value,
    ) -> Result<bool, String> {
        let rights = &self.caller(at).rights;
        let new = laid_over(old, change);
        let mut hidden = Vec::new();
        for doc in [old, &new] {
            let seen = rights.see(&self.world, action, index, index, id, doc);
            let Some(seen) = seen.map_err(|skip| skip.0)? else { return Ok(false) };
            let shown = leaves(&seen.source, "");
            let mut own = leaves(doc, "");
            own.retain(|leaf| !shown.contains(leaf));
            hidden.push(own);
        }
        Ok(hidden[0] == hidden[1])
    }

    /// One writing step.
    pub async fn write(&mut self, at: usize, step: &Value) -> Done {
        self.counts.checked += 1;
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let before = self.store.indices.clone();
        let sent = json::to_string(step);
        if step.get("move").is_some() {
            return self.move_alias(at, &text("move"), &text("to"), &sent).await;
        }
        let expected = match (step.get("write"), step.get("by_query")) {
            (Some(_), _) => {
                let (kind, id) = (text("write"), text("id"));
                let index = self.home(&id, &text("on"));
                let doc = step.get("doc").cloned().unwrap_or_default();
                let inside = if step.get("inside").is_some() { index.as_str() } else { "" };
                self.write_one(at, (&kind, inside), &index, &id, &doc, &sent).await?
            }
            (_, Some(_)) => {
                let query = step.get("query").cloned().unwrap_or_default();
                self.by_query(at, &text("by_query"), &text("on"), &query, &sent).await?
            }
            _ => self.reindex(at, &text("reindex"), &text("to"), step.get("query"), &sent).await?,
        };
        let found = self.load().await?;
        if let Some(expected) = expected
            && found != expected
        {
            return Err(format!("{sent}: {}", difference(&expected, &found)));
        }
        // A copy would bear another's marks.
        self.store.indices = found;
        if step.get("reindex").is_some() {
            self.store.indices = before;
            self.restore().await?;
        }
        Ok(())
    }

    /// An index is copied whole: by whoever may make the copy and may read all that goes into it, and all that others
    /// may write into the copy.
    pub async fn copy(&mut self, at: usize, step: &Value) -> Done {
        self.counts.checked += 1;
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
        let (kind, index) = (text("copy"), text("on"));
        let rights = &self.caller(at).rights;
        let may = [index, COPY].iter().all(|name| rights.may(Action::Alias, name))
            && rights.may(Action::Read, index);
        let asked = [(Action::Read, index), (Action::Read, COPY), (Action::Alias, COPY)];
        let granted = asked.into_iter().filter(|(action, name)| rights.may(*action, name));
        let granted: Vec<(Action, &str)> = granted.collect();
        let limited = granted.iter().any(|(action, name)| self.limited(at, *action, name));
        // A rule that takes nothing away is a rule.
        let ruled = |(action, name): &(Action, &str)| rights.has_rules(*action, name);
        let is_open = limited || granted.iter().any(ruled);
        let settings = format!("/{index}/_settings");
        self.admin("PUT", &settings, &json!({"index.blocks.write": true})).await?;
        let shards: u64 = if kind == "_split" { 2 } else { 1 };
        let body = json!({"settings": {"index.number_of_shards": shards}});
        let target = format!("/{index}/{kind}/{COPY}");
        let answer = self.call(at, "POST", &target, &json::to_string(&body)).await;
        if answer.status == 200 {
            self.admin("DELETE", &format!("/{COPY}"), &Value::Null).await?;
        }
        self.admin("PUT", &settings, &json!({"index.blocks.write": null})).await?;
        let told = format!("{}: {} {}", json::to_string(step), answer.status, short(&answer.text));
        match (answer.status, may && !limited) {
            (status, _) if status >= 500 || status == 401 => Err(told),
            (403, true) if !is_open => Err(format!("wanted a copy: {told}")),
            (403, _) | (_, true) => Ok(()),
            _ => Err(format!("wanted a refusal: {told}")),
        }
    }

    /// A document without an id is a new one: it may be written by whoever may make new ones, and sees it whole.
    pub async fn nameless(&mut self, at: usize, step: &Value) -> Done {
        self.counts.checked += 1;
        let index = step.get("on").and_then(Value::as_str).unwrap_or_default();
        let doc = step.get("nameless").cloned().unwrap_or_default();
        let may = self.caller(at).rights.may(Action::Create, index);
        let limited = self.limited(at, Action::Create, index);
        let is_ruled = limited || self.caller(at).rights.has_rules(Action::Create, index);
        let target = format!("/{index}/_doc");
        let answer = self.call(at, "POST", &target, &json::to_string(&doc)).await;
        let id = answer.body.get("_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if answer.status == 201 {
            // Its id is no mark.
            self.admin("DELETE", &format!("/{index}/_doc/{id}"), &Value::Null).await?;
        }
        let told = format!("{}: {} {}", json::to_string(step), answer.status, short(&answer.text));
        match (answer.status, may) {
            (201, true) if limited && !self.whole(at, Action::Create, index, &id, &doc)? => {
                Err(format!("not to be written: {told}"))
            }
            (201, true) | (403, false) => Ok(()),
            (403, true) if is_ruled => Ok(()),
            _ => Err(format!("may is {may}: {told}")),
        }
    }

    async fn write_one(
        &mut self,
        at: usize,
        (kind, inside): (&str, &str),
        index: &str,
        id: &str,
        doc: &Value,
        sent: &str,
    ) -> Result<Option<Documents>, String> {
        let mut after = self.store.indices.clone();
        let old = after.get(index).and_then(|docs| docs.get(id)).cloned();
        let body = json::to_string(doc);
        let named =
            if inside.is_empty() { format!("\"_index\":\"{index}\",") } else { String::new() };
        let line = format!("{{\"index\":{{{named}\"_id\":\"{id}\"}}}}\n{body}\n");
        let (method, target, body, action) = match kind {
            "index" => ("PUT", format!("/{index}/_doc/{id}"), body, Action::Index),
            "create" => ("PUT", format!("/{index}/_create/{id}"), body, Action::Create),
            "delete" => ("DELETE", format!("/{index}/_doc/{id}"), String::new(), Action::Delete),
            "update" => (
                "POST",
                format!("/{index}/_update/{id}"),
                format!("{{\"doc\":{body}}}"),
                Action::Index,
            ),
            _ => ("POST", below(inside, "_bulk"), line, Action::Index),
        };
        let may = self.caller(at).rights.may(action, index);
        let limited = self.limited(at, action, index);
        let answer = self.call(at, method, &target, &body).await;
        let status = match kind {
            // Refused as a whole, or item by item.
            "bulk" if answer.status == 200 => {
                let item =
                    answer.body.get("items").and_then(Value::as_array).and_then(|all| all.first());
                item.and_then(|item| item.at(&["index", "status"])?.as_u64()).unwrap_or(0) as u16
            }
            _ => answer.status,
        };
        let told = format!("{sent} on {index}: {status} {}", short(&answer.text));
        if status >= 500 || status == 401 || status == 0 {
            return Err(told);
        }
        if !may {
            return if status == 403 {
                Ok(Some(after))
            } else {
                Err(format!("wanted a refusal: {told}"))
            };
        }
        let good = (200..300).contains(&status);
        if limited {
            let allowed = match (kind, &old) {
                // Whoever sees a part only changes a part: what it does not see stays as it is.
                ("update", Some(old)) => self.leaves_alone(at, action, index, id, old, doc)?,
                // What it writes or takes away whole it sees whole, before and after.
                (_, old) => {
                    let before = match old {
                        Some(old) => self.whole(at, action, index, id, old)?,
                        None => true,
                    };
                    let is_written = !matches!(kind, "delete" | "update");
                    before && (!is_written || self.whole(at, action, index, id, doc)?)
                }
            };
            if good && !allowed {
                return Err(format!("not to be written: {told}"));
            }
            self.marks_of_refusal(at, action, index, sent, &answer)?;
        } else if status == 403 && self.caller(at).rights.has_rules(action, index) {
            return Ok(Some(after));
        } else if status == 403 {
            return Err(format!("wanted no refusal: {told}"));
        } else {
            let wanted: u16 = match (kind, &old) {
                ("index" | "bulk", None) | ("create", None) => 201,
                ("create", Some(_)) => 409,
                (_, None) => 404,
                (_, Some(_)) => 200,
            };
            if status != wanted {
                return Err(format!("wanted {wanted}: {told}"));
            }
        }
        if good {
            let docs = after.entry(index.to_owned()).or_default();
            match (kind, old) {
                ("delete", _) => drop(docs.remove(id)),
                ("update", Some(old)) => drop(docs.insert(id.to_owned(), laid_over(&old, doc))),
                ("update", None) => {}
                _ => drop(docs.insert(id.to_owned(), doc.clone())),
            }
        }
        Ok(Some(after))
    }

    /// An alias is moved by who may manage all that it touches, and by nobody else.
    async fn move_alias(&mut self, at: usize, alias: &str, to: &str, sent: &str) -> Done {
        let Some((from, _)) = self.store.aliases.get(alias).cloned() else { return Ok(()) };
        let body = json::to_string(&self.moved(alias, to, None));
        let answer = self.call(at, "POST", "/_aliases", &body).await;
        let rights = &self.caller(at).rights;
        let may = [from.as_str(), to, alias].iter().all(|name| rights.may(Action::Alias, name));
        self.no_leak(sent, &answer, &[])?;
        let is_wider =
            answer.text.contains("the alias has more permissions than any of the indices");
        let (may_widen, must_widen) = self.widens(at, alias, to);
        match (may, answer.status) {
            (true, 200) if !must_widen => {
                self.store.aliases.insert(alias.to_owned(), (to.to_owned(), None));
                Ok(())
            }
            (true, 403) if may_widen && is_wider => Ok(()),
            (false, 403) => Ok(()),
            (_, status) => Err(format!(
                "{sent}: may is {may}, the alias gives more is {must_widen}: {status} {}",
                short(&answer.text)
            )),
        }
    }

    /// May, and does, the caller get more of an index by this alias than by the index's own name? Whether two rules
    /// hide the same is not judged here.
    fn widens(&self, at: usize, alias: &str, index: &str) -> (bool, bool) {
        let rights = &self.caller(at).rights;
        let is_ruled =
            |action, name| self.limited(at, action, name) || rights.has_rules(action, name);
        let (mut may, mut must) = (false, false);
        for action in [
            Action::Read,
            Action::Index,
            Action::Delete,
            Action::Mapping,
            Action::Alias,
            Action::Maintain,
        ] {
            if rights.may(action, alias) {
                must |= !rights.may(action, index);
                must |= self.limited(at, action, index) && !is_ruled(action, alias);
                may |= must || is_ruled(action, index);
            }
        }
        (may, must)
    }

    /// A refusal tells nothing of the document.
    fn marks_of_refusal(
        &self,
        at: usize,
        action: Action,
        index: &str,
        sent: &str,
        answer: &crate::node::Answer,
    ) -> Done {
        let seen = self.seen(at, action, index)?.unwrap_or_default();
        self.no_leak(sent, answer, &seen)
    }

    async fn by_query(
        &mut self,
        at: usize,
        path: &str,
        on: &str,
        query: &Value,
        sent: &str,
    ) -> Result<Option<Documents>, String> {
        let action = if path == "_delete_by_query" { Action::Delete } else { Action::Index };
        let body = json::to_string(&json!({"query": (query.clone())}));
        let target = format!("/{on}/{path}?refresh=true");
        let answer = self.call(at, "POST", &target, &body).await;
        let told = format!("{sent}: {} {}", answer.status, short(&answer.text));
        let rights = &self.caller(at).rights;
        let may = rights.may(Action::Read, on) && rights.may(action, on);
        let before = self.store.indices.clone();
        if !may {
            return if answer.status == 403 {
                Ok(Some(before))
            } else {
                Err(format!("wanted a refusal: {told}"))
            };
        }
        let limited = self.limited(at, Action::Read, on) || self.limited(at, action, on);
        let seen = self.seen(at, Action::Read, on)?.unwrap_or_default();
        self.no_leak(sent, &answer, &seen)?;
        let world = world_of(&self.world.schema, &seen);
        let Ok(expected) = check::expect(&world, &json!({"query": (query.clone())}), false) else {
            return Ok(None);
        };
        let ids: Vec<&str> = expected.hits.iter().map(|hit| hit.block.id.as_str()).collect();
        if action == Action::Index {
            // Without a script nothing changes.
            let total = answer.body.get("total").and_then(Value::as_u64);
            let refused = limited || self.caller(at).rights.has_rules(Action::Read, on);
            if !refused && total != Some(ids.len() as u64) {
                return Err(format!("wanted {} in all: {told}", ids.len()));
            }
            return Ok(Some(before));
        }
        let mut after = before;
        if limited {
            let found = self.load().await?;
            let docs = after.entry(on.to_owned()).or_default();
            let gone: Vec<String> =
                docs.keys().filter(|id| !found[on].contains_key(*id)).cloned().collect();
            for id in gone {
                let whole = self.whole(at, action, on, &id, &docs[&id])?;
                if !ids.contains(&id.as_str()) || !whole {
                    return Err(format!("[{id}] was not to be deleted: {told}"));
                }
                docs.remove(&id);
            }
            return Ok(Some(after));
        }
        if answer.status != 200 {
            return Err(format!("wanted no refusal: {told}"));
        }
        after.entry(on.to_owned()).or_default().retain(|id, _| !ids.contains(&id.as_str()));
        Ok(Some(after))
    }

    async fn reindex(
        &mut self,
        at: usize,
        from: &str,
        to: &str,
        query: Option<&Value>,
        sent: &str,
    ) -> Result<Option<Documents>, String> {
        if from == to {
            return Ok(None);
        }
        let query = query.cloned().unwrap_or_default();
        let body = json!({
            "source": {"index": from, "query": (query.clone())}, "dest": {"index": to}
        });
        let answer = self.call(at, "POST", "/_reindex?refresh=true", &json::to_string(&body)).await;
        let told = format!("{sent}: {} {}", answer.status, short(&answer.text));
        let rights = self.caller(at).rights.clone();
        let may = rights.may(Action::Read, from) && rights.may(Action::Index, to);
        let seen = self.seen(at, Action::Read, from)?.unwrap_or_default();
        self.no_leak(sent, &answer, &seen)?;
        let found = self.load().await?;
        let copies = |docs: &Documents| -> Vec<(String, Value)> {
            let all = docs[to].iter().filter(|(id, _)| !self.store.indices[to].contains_key(*id));
            all.map(|(id, doc)| (id.clone(), doc.clone())).collect()
        };
        let made = copies(&found);
        if !may {
            let create = rights.may(Action::Read, from) && rights.may(Action::Create, to);
            if !create && !made.is_empty() {
                return Err(format!("wanted a refusal: {told}"));
            }
        }
        // Only what is seen is copied, without what is hidden.
        for (id, doc) in &made {
            let known: Option<&Seen> = seen.iter().find(|seen| seen.id == *id);
            let marks = super::marks::found(&json::to_string(doc));
            let shown = known.map(|known| json::to_string(&known.source)).unwrap_or_default();
            let hidden = marks
                .iter()
                .find(|(doc, place)| !shown.contains(&super::marks::mark(*doc, *place)));
            if known.is_none() || hidden.is_some() {
                return Err(format!("[{id}] was not to be copied so, {hidden:?}: {told}"));
            }
        }
        Ok(None)
    }

    /// Puts everything back as it was.
    async fn restore(&mut self) -> Done {
        let found = self.load().await?;
        for (index, docs) in found {
            let own = self.store.indices.get(&index).cloned().unwrap_or_default();
            for id in docs.keys().filter(|id| !own.contains_key(*id)) {
                self.admin("DELETE", &format!("/{index}/_doc/{id}"), &Value::Null).await?;
            }
            for (id, doc) in own.iter().filter(|(id, doc)| docs.get(*id) != Some(doc)) {
                self.admin("PUT", &format!("/{index}/_doc/{id}"), doc).await?;
            }
        }
        self.admin("POST", "/_refresh", &Value::Null).await.map(drop)
    }
}

/// Paths and values of what is no object; a list is one value.
fn leaves(value: &Value, path: &str) -> Vec<(String, String)> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(key, value)| leaves(value, &format!("{path}.{key}")))
            .collect(),
        other => vec![(path.to_owned(), json::to_string(other))],
    }
}

fn difference(expected: &Documents, found: &Documents) -> String {
    for (index, docs) in expected {
        let own = &found[index];
        for (id, doc) in docs {
            match own.get(id) {
                None => return format!("[{index}/{id}] is gone"),
                Some(other) if other != doc => {
                    return format!(
                        "[{index}/{id}] is {} instead of {}",
                        json::to_string(other),
                        json::to_string(doc)
                    );
                }
                Some(_) => {}
            }
        }
        if let Some(id) = own.keys().find(|id| !docs.contains_key(*id)) {
            return format!("[{index}/{id}] is there");
        }
    }
    "something else changed".into()
}
