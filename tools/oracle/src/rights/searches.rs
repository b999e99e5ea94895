//! The paths that search, once or in several steps, and what they must find for this caller.

use json::{Value, json};

use super::judge::{Action, Seen, world_of};
use super::reads::{fails, same};
use super::run::{Done, Run, short};
use crate::find::check;
use crate::node::Answer;

/// A path, below an index where one is named.
pub(super) fn below(index: &str, path: &str) -> String {
    if index.is_empty() { format!("/{path}") } else { format!("/{index}/{path}") }
}

/// A template that is this body.
fn templated(body: &Value) -> Value {
    json!({"source": (json::to_string(body))})
}

impl Run {
    pub(super) async fn search(&mut self, at: usize, on: &str, body: &Value) -> Done {
        self.search_by(at, on, &format!("/{on}/_search"), body, body).await
    }

    /// A search that a template is, without anything to fill in.
    pub(super) async fn template(&mut self, at: usize, on: &str, body: &Value) -> Done {
        let target = format!("/{on}/_search/template");
        self.search_by(at, on, &target, body, &templated(body)).await
    }

    /// A search, by a path and a body that mean it.
    async fn search_by(
        &mut self,
        at: usize,
        on: &str,
        target: &str,
        body: &Value,
        asked: &Value,
    ) -> Done {
        let Some((answer, seen)) =
            self.through(at, Action::Read, on, "POST", target, asked).await?
        else {
            return Ok(());
        };
        let sent = format!("{target} {}", json::to_string(asked));
        let nowhere = self.reach(at, Action::Read, on).is_ok_and(|reached| reached.is_empty());
        if nowhere {
            // Where there is no index there are no aggregations.
            let none = check::without(body, &["aggs"]);
            return self.found(&seen, &none, &answer.body, &sent);
        }
        if answer.status != 200 || fails(&answer.body) {
            return self.misunderstood(at, on, &sent, &answer);
        }
        self.found(&seen, body, &answer.body, &sent)
    }

    /// Who sees only some fields may name one that is none to it; nobody else is misunderstood.
    pub(super) fn misunderstood(
        &mut self,
        at: usize,
        on: &str,
        sent: &str,
        answer: &Answer,
    ) -> Done {
        let reached = self.reach(at, Action::Read, on).unwrap_or_default();
        let mut names = reached.iter().map(|(index, (by, _))| (by.as_str(), index.as_str()));
        let rights = &self.caller(at).rights;
        let fields = &self.world.schema.fields;
        let hides = names.any(|names| rights.hides(Action::Read, names, fields.keys()));
        self.counts.skipped += 1;
        if hides {
            Ok(())
        } else {
            Err(format!("{sent}: {} {}", answer.status, short(&answer.text)))
        }
    }

    /// An answer to a search, held against what is seen.
    pub(super) fn found(
        &mut self,
        seen: &[Seen],
        body: &Value,
        answer: &Value,
        sent: &str,
    ) -> Done {
        for hit in check::hits_of(answer) {
            let id = hit.get("_id").and_then(Value::as_str).unwrap_or_default();
            let Some(known) = seen.iter().find(|seen| seen.id == id) else {
                return Err(format!("{sent}: [{id}] is hidden and found"));
            };
            if let Some(source) = hit.get("_source")
                && !same(source, &known.source)
            {
                let (a, b) = (json::to_string(source), json::to_string(&known.source));
                return Err(format!("{sent}: [{id}] shows {a} instead of {b}"));
            }
        }
        let world = world_of(&self.world.schema, seen);
        let Ok(expected) = check::expect(&world, &check::without(body, DRESS), false) else {
            self.counts.skipped += 1;
            return Ok(());
        };
        self.counts.found += expected.total;
        let from = body.get("from").and_then(Value::as_u64).unwrap_or(0) as usize;
        match check::difference(&expected, body, answer, from) {
            Some(what) => Err(format!(
                "{sent}: {what}; seen are {:?}",
                seen.iter().map(|s| &s.id).collect::<Vec<_>>()
            )),
            None => Ok(()),
        }
    }

    /// Several searches; `inside`: the index of the path, which is that of the parts that name none.
    pub(super) async fn multi_search(
        &mut self,
        at: usize,
        parts: &Value,
        inside: &str,
        is_template: bool,
    ) -> Done {
        let parts: Vec<(&str, &Value)> = parts
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|part| {
                let part = part.as_array()?;
                Some((part.first()?.as_str()?, part.get(1)?))
            })
            .collect();
        let lines = parts.iter().map(|(on, body)| {
            let head = if *on == inside { json!({}) } else { json!({"index": (*on)}) };
            let body = if is_template { &templated(body) } else { *body };
            format!("{}\n{}\n", json::to_string(&head), json::to_string(body))
        });
        let lines: String = lines.collect();
        let path = if is_template { "_msearch/template" } else { "_msearch" };
        let answer = self.call(at, "POST", &below(inside, path), &lines).await;
        self.counts.checked += 1;
        if answer.status == 403 {
            let mut names = self.store.indices.keys().chain(self.store.aliases.keys());
            return if names.any(|name| self.caller(at).rights.may(Action::Read, name)) {
                Err(format!("_msearch {lines}: refused: {}", short(&answer.text)))
            } else {
                Ok(())
            };
        }
        let responses = answer.body.get("responses").and_then(Value::as_array).unwrap_or(&[]);
        if responses.len() != parts.len() {
            return Err(format!("_msearch {lines}: {}", short(&answer.text)));
        }
        for ((on, body), response) in parts.iter().zip(responses) {
            let status = response.get("status").and_then(Value::as_u64);
            let sent = format!("_msearch on {on} {}", json::to_string(body));
            match self.seen(at, Action::Read, on)? {
                Err(_) if status == Some(403) => {}
                Err(_) => return Err(format!("{sent}: not refused: {}", short(&answer.text))),
                Ok(_) if status == Some(403) && on.contains('*') => {}
                Ok(_) if status != Some(200) || fails(response) => {
                    self.misunderstood(at, on, &sent, &answer)?;
                }
                Ok(seen) => self.found(&seen, body, response, &sent)?,
            }
        }
        Ok(())
    }

    pub(super) async fn scroll(&mut self, at: usize, on: &str, body: &Value) -> Done {
        let target = format!("/{on}/_search?scroll=1m");
        let Some((mut answer, seen)) =
            self.through(at, Action::Read, on, "POST", &target, body).await?
        else {
            return Ok(());
        };
        let mut ids = Vec::new();
        for _ in 0..50 {
            self.no_leak(&target, &answer, &seen)?;
            let hits = check::hits_of(&answer.body);
            ids.extend(hits.iter().filter_map(|hit| hit.get("_id")?.as_str()).map(str::to_owned));
            if hits.is_empty() {
                break;
            }
            let body =
                json!({"scroll": "1m", "scroll_id": (answer.body.get("_scroll_id").cloned())});
            let body = json::to_string(&body);
            // Nobody else may go on with it.
            let other = (at + 1) % 3;
            if other != at && self.caller(other).authorization_differs(self.caller(at)) {
                let stolen = self.call(other, "POST", "/_search/scroll", &body).await;
                if stolen.status == 200 {
                    return Err(format!("caller {other} goes on with a scroll of caller {at}"));
                }
            }
            answer = self.call(at, "POST", "/_search/scroll", &body).await;
            self.status(false, "scroll", &answer)?;
        }
        self.everything(&target, ids, &seen)
    }

    pub(super) async fn moment(&mut self, at: usize, on: &str, body: &Value) -> Done {
        let target = format!("/{on}/_pit?keep_alive=1m");
        let Some((answer, seen)) =
            self.through(at, Action::Read, on, "POST", &target, &Value::Null).await?
        else {
            return Ok(());
        };
        let mut body = body.clone();
        if let Some(body) = body.as_object_mut() {
            body.insert("pit", json!({"id": (answer.body.get("id").cloned())}));
        }
        let answer = self.call(at, "POST", "/_search", &json::to_string(&body)).await;
        let mut names = self.store.indices.keys();
        if answer.status == 403 && !names.any(|name| self.caller(at).rights.may(Action::Read, name))
        {
            // Who reads nothing anywhere is refused as a whole; its point in time was of nothing.
            return self.everything(&target, Vec::new(), &seen);
        }
        self.status(false, "a search of a point in time", &answer)?;
        self.no_leak(&target, &answer, &seen)?;
        let hits = check::hits_of(&answer.body);
        let ids =
            hits.iter().filter_map(|hit| hit.get("_id")?.as_str()).map(str::to_owned).collect();
        self.everything(&target, ids, &seen)
    }

    pub(super) fn everything(&self, what: &str, mut ids: Vec<String>, seen: &[Seen]) -> Done {
        let mut wanted: Vec<String> = seen.iter().map(|seen| seen.id.clone()).collect();
        ids.sort();
        wanted.sort();
        if ids == wanted {
            Ok(())
        } else {
            Err(format!("{what}: wanted {wanted:?}, found {ids:?}"))
        }
    }

    /// Searches that are judged by ratings find what the caller finds without.
    pub(super) async fn rank(&mut self, at: usize, on: &str, query: &Value) -> Done {
        let target = format!("/{on}/_rank_eval");
        let all = json!({"id": "all", "request": {"query": {"match_all": {}}}, "ratings": []});
        let one = json!({"id": "one", "request": {"query": (query.clone())}, "ratings": []});
        let body = json!({"requests": [all, one], "metric": {"precision": {"k": 500}}});
        let Some((answer, seen)) =
            self.through(at, Action::Read, on, "POST", &target, &body).await?
        else {
            return Ok(());
        };
        let found = |id: &str| -> Vec<String> {
            let hits = answer.body.at(&["details", id, "hits"]).and_then(Value::as_array);
            let ids =
                hits.into_iter().flatten().filter_map(|one| one.at(&["hit", "_id"])?.as_str());
            ids.map(str::to_owned).collect()
        };
        self.everything(&target, found("all"), &seen)?;
        let world = world_of(&self.world.schema, &seen);
        match check::expect(&world, &json!({"query": (query.clone()), "size": 500}), false) {
            Err(_) => self.counts.skipped += 1,
            Ok(expected) if expected.total == found("one").len() => {}
            Ok(expected) => {
                let (wanted, body) = (expected.total, json::to_string(&body));
                return Err(format!("{target} {body}: wanted {wanted}, found {:?}", found("one")));
            }
        }
        Ok(())
    }

    /// A second score tells nothing of what is hidden: a field that nobody sees gives none.
    pub(super) async fn rescore(&mut self, at: usize, on: &str, second: &Value) -> Done {
        let first = json!({"match_all": {}});
        let rescorer = json!({"window_size": 100, "query": {"rescore_query": (second.clone())}});
        let body = json!({"query": (first.clone()), "size": 100, "rescore": rescorer});
        let target = format!("/{on}/_search");
        let Some((answer, seen)) =
            self.through(at, Action::Read, on, "POST", &target, &body).await?
        else {
            return Ok(());
        };
        let sent = format!("{target} {}", json::to_string(&body));
        if answer.status != 200 || fails(&answer.body) {
            return self.misunderstood(at, on, &sent, &answer);
        }
        let world = world_of(&self.world.schema, &seen);
        let telling = json!({"query": (second.clone()), "size": 100});
        let Ok(expected) = check::expect(&world, &telling, false) else {
            self.counts.skipped += 1;
            return Ok(());
        };
        let scored: Vec<&str> = expected.hits.iter().map(|hit| hit.block.id.as_str()).collect();
        for hit in check::hits_of(&answer.body) {
            let id = hit.get("_id").and_then(Value::as_str).unwrap_or_default();
            let score = hit.get("_score").and_then(Value::as_f64).unwrap_or(0.0);
            if (score > 1.0) != scored.contains(&id) {
                return Err(format!("{sent}: [{id}] has the score {score}; {scored:?} should"));
            }
        }
        Ok(())
    }

    pub(super) async fn lookup(&mut self, at: usize, on: &str, from: &str, id: &str) -> Done {
        let terms = json!({"index": from, "id": id, "path": "m"});
        let body = json!({"query": {"terms": {"m": terms}}, "track_total_hits": true});
        let target = format!("/{on}/_search");
        let sent = format!("{target} {}", json::to_string(&body));
        let looked = self.seen(at, Action::Read, from)?;
        let seen = self.seen(at, Action::Read, on)?;
        let answer = self.call(at, "POST", &target, &json::to_string(&body)).await;
        self.counts.checked += 1;
        let (Ok(looked), Ok(seen)) = (looked, seen) else {
            // A wildcard that reaches nothing may not come to look.
            return if answer.status == 403 || check::hits_of(&answer.body).is_empty() {
                Ok(())
            } else {
                Err(format!("wanted a refusal: {sent}: {} {}", answer.status, short(&answer.text)))
            };
        };
        if answer.status == 403 {
            // Who may read nothing there may be told so.
            return if seen.is_empty() {
                Ok(())
            } else {
                Err(format!("refused: {sent}: {}", short(&answer.text)))
            };
        }
        self.no_leak(&sent, &answer, &seen)?;
        let value = looked.iter().find(|seen| seen.id == id).and_then(|seen| seen.source.get("m"));
        let values: Vec<Value> = value.cloned().into_iter().collect();
        let plain = json!({"query": {"terms": {"m": values}}, "track_total_hits": true});
        self.found(&seen, &plain, &answer.body, &sent)
    }
}

/// What only dresses hits: no matter for which are found.
const DRESS: &[&str] = &["highlight", "fields", "docvalue_fields", "explain", "version", "pit"];
