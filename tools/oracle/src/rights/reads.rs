//! Every path that reads, and what it must answer to this caller.

use json::{Object, Value, json};

use super::judge::{Action, Seen, world_of};
use super::run::{Done, Run, short};
use crate::find::check;
use crate::node::Answer;

/// Without empty objects: whether those are shown is nobody's secret.
fn pruned(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().map(|(key, value)| (key, pruned(value)));
            let kept: Object = kept
                .filter(|(_, value)| {
                    !value.as_object().is_some_and(Object::is_empty)
                        && !value.as_array().is_some_and(<[Value]>::is_empty)
                })
                .collect();
            Value::Object(kept)
        }
        Value::Array(all) => all
            .iter()
            .map(pruned)
            .filter(|value| !value.as_object().is_some_and(Object::is_empty))
            .collect(),
        other => other.clone(),
    }
}

fn same(a: &Value, b: &Value) -> bool {
    let sorted = |value: &Value| {
        let mut value = pruned(value);
        sort(&mut value);
        json::to_string(&value)
    };
    sorted(a) == sorted(b)
}

fn sort(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.sort_keys();
            members.iter_mut().for_each(|(_, value)| sort(value));
        }
        Value::Array(all) => all.iter_mut().for_each(sort),
        _ => {}
    }
}

impl Run {
    /// Refused where it must be, and only there.
    pub fn status(&self, denied: bool, sent: &str, answer: &Answer) -> Done {
        let refused = answer.status == 403;
        if refused != denied || answer.status == 401 || answer.status >= 500 {
            let wanted = if denied { "a refusal" } else { "no refusal" };
            return Err(format!(
                "wanted {wanted}: {sent}: {} {}",
                answer.status,
                short(&answer.text)
            ));
        }
        Ok(())
    }

    /// A request whose answer is seen through an expression: what is seen, where it was not refused.
    async fn through(
        &mut self,
        at: usize,
        action: Action,
        on: &str,
        method: &str,
        target: &str,
        body: &Value,
    ) -> Result<Option<(Answer, Vec<Seen>)>, String> {
        let body = if body.is_null() { String::new() } else { json::to_string(body) };
        let answer = self.call(at, method, target, &body).await;
        let sent = format!("{method} {target} {body}");
        self.counts.checked += 1;
        match self.seen(at, action, on)? {
            Err(_) => {
                self.status(true, &sent, &answer)?;
                self.no_leak(&sent, &answer, &[])?;
                Ok(None)
            }
            Ok(seen) => {
                let nothing = !self
                    .store
                    .indices
                    .keys()
                    .chain(self.store.aliases.keys())
                    .any(|name| self.caller(at).rights.may(action, name));
                // Who may do this nowhere may be told so even of a wildcard.
                if !(nothing && answer.status == 403) {
                    self.status(false, &sent, &answer)?;
                }
                self.no_leak(&sent, &answer, &seen)?;
                if answer.status == 403 {
                    return Ok(None);
                }
                Ok(Some((answer, seen)))
            }
        }
    }

    /// One reading step.
    pub async fn read(&mut self, at: usize, step: &Value) -> Done {
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let on = text("on");
        let Some((kind, what)) = step.as_object().and_then(|step| step.iter().next()) else {
            return Ok(());
        };
        match kind {
            "search" => self.search(at, &on, what).await,
            "all_parts" => self.search(at, &on, &all_parts(what)).await,
            "count" => {
                let body = json!({"query": (what.clone())});
                let target = format!("/{on}/_count");
                let Some((answer, seen)) =
                    self.through(at, Action::Read, &on, "POST", &target, &body).await?
                else {
                    return Ok(());
                };
                if answer.status != 200 || fails(&answer.body) {
                    return self.misunderstood(at, &on, &target, &answer);
                }
                let found = answer.body.get("count").and_then(Value::as_u64);
                counted(self, &seen, &body, found, &answer)
            }
            "cat_count" => {
                let target = format!("/_cat/count/{on}?format=json");
                let Some((answer, seen)) =
                    self.through(at, Action::Read, &on, "GET", &target, &Value::Null).await?
                else {
                    return Ok(());
                };
                let row = answer.body.as_array().and_then(|rows| rows.first());
                let found = row.and_then(|row| row.get("count")?.as_str()?.parse().ok());
                counted(self, &seen, &json!({}), found, &answer)
            }
            "get" | "source" => {
                let id = what.as_str().unwrap_or_default();
                let path = if kind == "get" { "_doc" } else { "_source" };
                let target = format!("/{on}/{path}/{id}");
                let Some((answer, seen)) =
                    self.through(at, Action::Read, &on, "GET", &target, &Value::Null).await?
                else {
                    return Ok(());
                };
                // The filter of an alias is not asked by a read of one document.
                let own = match self.store.aliases.get(&on) {
                    Some((index, _)) => self.seen(at, Action::Read, index)?.unwrap_or_default(),
                    None => Vec::new(),
                };
                let known = seen.iter().chain(&own).find(|seen| seen.id == id);
                let shown =
                    if kind == "get" { answer.body.get("_source") } else { Some(&answer.body) };
                let good = match known {
                    None => answer.status == 404,
                    Some(seen) if kind == "source" && answer.status == 404 => {
                        same(&seen.source, &json!({}))
                    }
                    Some(seen) => {
                        answer.status == 200 && shown.is_some_and(|shown| same(shown, &seen.source))
                    }
                };
                if good {
                    return Ok(());
                }
                let wanted = known.map(|seen| json::to_string(&seen.source));
                Err(format!(
                    "{target}: wanted {wanted:?}: {} {}",
                    answer.status,
                    short(&answer.text)
                ))
            }
            "mget" => self.multi_get(at, what).await,
            "msearch" => self.multi_search(at, what).await,
            "scroll" => self.scroll(at, &on, what).await,
            "pit" => self.moment(at, &on, what).await,
            "explain" => {
                let id = what.as_str().unwrap_or_default();
                let query = step.get("query").cloned().unwrap_or_default();
                let body = json!({"query": (query)});
                let target = format!("/{on}/_explain/{id}");
                let Some((answer, seen)) =
                    self.through(at, Action::Read, &on, "POST", &target, &body).await?
                else {
                    return Ok(());
                };
                if answer.status == 400 {
                    return self.misunderstood(at, &on, &target, &answer);
                }
                let known: Vec<Seen> = seen.into_iter().filter(|seen| seen.id == id).collect();
                if known.is_empty() {
                    return if answer.status == 404 {
                        Ok(())
                    } else {
                        Err(format!(
                            "{target}: wanted 404: {} {}",
                            answer.status,
                            short(&answer.text)
                        ))
                    };
                }
                let world = world_of(&self.world.schema, &known);
                let matched = answer.body.get("matched").and_then(Value::as_bool);
                match check::expect(&world, &body, false) {
                    Ok(expected) if matched != Some(expected.total == 1) => Err(format!(
                        "{target} {}: wanted matched {}: {}",
                        json::to_string(&body),
                        expected.total == 1,
                        short(&answer.text)
                    )),
                    _ => Ok(()),
                }
            }
            "termvectors" => {
                let id = what.as_str().unwrap_or_default();
                let target = format!("/{on}/_termvectors/{id}?fields=*&term_statistics=true");
                let Some((answer, seen)) =
                    self.through(at, Action::Read, &on, "GET", &target, &Value::Null).await?
                else {
                    return Ok(());
                };
                let known = seen.iter().any(|seen| seen.id == id);
                let found = answer.body.get("found").and_then(Value::as_bool).unwrap_or(false);
                if known == found {
                    Ok(())
                } else {
                    Err(format!(
                        "{target}: wanted found {known}: {} {}",
                        answer.status,
                        short(&answer.text)
                    ))
                }
            }
            "many_vectors" => self.many_vectors(at, what).await,
            "validate" => {
                let body = json!({"query": (what.clone())});
                let target = format!("/{on}/_validate/query?explain=true");
                let Some((answer, _)) =
                    self.through(at, Action::Validate, &on, "POST", &target, &body).await?
                else {
                    return Ok(());
                };
                if answer.body.get("valid").and_then(Value::as_bool).is_some() {
                    return Ok(());
                }
                Err(format!("{target}: {} {}", answer.status, short(&answer.text)))
            }
            "rescore" => self.rescore(at, &on, what).await,
            "field_caps" => {
                let target = format!("/{on}/_field_caps?fields=*");
                let Some((answer, _)) =
                    self.through(at, Action::Fields, &on, "GET", &target, &Value::Null).await?
                else {
                    return Ok(());
                };
                let named: Vec<String> = answer
                    .body
                    .get("fields")
                    .and_then(Value::as_object)
                    .map(|all| all.keys().map(str::to_owned).collect())
                    .unwrap_or_default();
                self.fields(at, Action::Fields, &on, &named, &target)
            }
            "mapping" => self.mapping(at, &on).await,
            "field_mapping" => {
                let target = format!("/{on}/_mapping/field/*");
                let Some((answer, _)) = self
                    .through(at, Action::FieldMapping, &on, "GET", &target, &Value::Null)
                    .await?
                else {
                    return Ok(());
                };
                let mut named = Vec::new();
                for index in answer.body.as_object().into_iter().flat_map(Object::values) {
                    let all = index.get("mappings").and_then(Value::as_object);
                    named.extend(all.into_iter().flat_map(Object::keys).map(str::to_owned));
                }
                self.fields(at, Action::FieldMapping, &on, &named, &target)
            }
            "suggest" => {
                let body = json!({"size": 0, "suggest": {"text": (what.clone()),
                    "s": {"term": {"field": "t1", "suggest_mode": "always"}},
                    "p": {"phrase": {"field": "t1", "max_errors": 2}}}});
                let target = format!("/{on}/_search");
                let sent = format!("{target} {}", json::to_string(&body));
                let answer = self.call(at, "POST", &target, &json::to_string(&body)).await;
                self.counts.checked += 1;
                match self.seen(at, Action::Read, &on)? {
                    Err(_) => {
                        self.status(true, &sent, &answer)?;
                        self.no_leak(&sent, &answer, &[])
                    }
                    // Words of a filtered index are refused.
                    Ok(seen) => self.no_leak(&sent, &answer, &seen),
                }
            }
            "lookup" => {
                self.lookup(at, &on, &text("from"), what.as_str().unwrap_or_default()).await
            }
            "more_like" => {
                let from = text("from");
                let like = json!([{"_index": (from.as_str()), "_id": (what.clone())}]);
                let body = json!({"query": {"more_like_this": {
                    "fields": ["t1", "k1", "m"], "like": like, "min_term_freq": 1, "min_doc_freq": 1
                }}});
                let target = format!("/{on}/_search");
                let sent = format!("{target} {}", json::to_string(&body));
                let answer = self.call(at, "POST", &target, &json::to_string(&body)).await;
                self.counts.checked += 1;
                let seen = self.seen(at, Action::Read, &on)?;
                self.no_leak(&sent, &answer, &seen.unwrap_or_default())
            }
            other => Err(format!("an unknown step [{other}]")),
        }
    }

    async fn search(&mut self, at: usize, on: &str, body: &Value) -> Done {
        let target = format!("/{on}/_search");
        let Some((answer, seen)) =
            self.through(at, Action::Read, on, "POST", &target, body).await?
        else {
            return Ok(());
        };
        let sent = format!("{target} {}", json::to_string(body));
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
    fn misunderstood(&mut self, at: usize, on: &str, sent: &str, answer: &Answer) -> Done {
        let reached = self.reach(at, Action::Read, on).unwrap_or_default();
        let mut by = reached.values().map(|(by, _)| by);
        let rights = &self.caller(at).rights;
        let hides = by.any(|by| rights.hides(Action::Read, by, self.world.schema.fields.keys()));
        self.counts.skipped += 1;
        if hides {
            Ok(())
        } else {
            Err(format!("{sent}: {} {}", answer.status, short(&answer.text)))
        }
    }

    /// An answer to a search, held against what is seen.
    fn found(&mut self, seen: &[Seen], body: &Value, answer: &Value, sent: &str) -> Done {
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

    async fn multi_get(&mut self, at: usize, docs: &Value) -> Done {
        let body = json::to_string(&json!({"docs": (docs.clone())}));
        let answer = self.call(at, "POST", "/_mget", &body).await;
        self.counts.checked += 1;
        if answer.status == 403 {
            // Refused as a whole where nothing of it is allowed anywhere.
            let mut names = self.store.indices.keys();
            return if names.any(|name| self.caller(at).rights.may(Action::Read, name)) {
                Err(format!("_mget {body}: refused: {}", short(&answer.text)))
            } else {
                Ok(())
            };
        }
        let found = answer.body.get("docs").and_then(Value::as_array).unwrap_or(&[]);
        for (wanted, found) in docs.as_array().into_iter().flatten().zip(found) {
            let text = |key: &str| wanted.get(key).and_then(Value::as_str).unwrap_or_default();
            let seen = match self.seen(at, Action::Read, text("_index"))? {
                Err(_) if found.get("error").is_some() => continue,
                Err(_) => {
                    return Err(format!("_mget {body}: not refused: {}", short(&answer.text)));
                }
                Ok(seen) => seen.into_iter().find(|seen| seen.id == text("_id")),
            };
            let good = match (&seen, found.get("_source")) {
                (None, None) => found.get("found").and_then(Value::as_bool) == Some(false),
                (Some(seen), Some(source)) => same(&seen.source, source),
                _ => false,
            };
            if !good {
                return Err(format!("_mget {body}: {}", short(&answer.text)));
            }
        }
        Ok(())
    }

    async fn multi_search(&mut self, at: usize, parts: &Value) -> Done {
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
            format!("{}\n{}\n", json::to_string(&json!({"index": (*on)})), json::to_string(body))
        });
        let lines: String = lines.collect();
        let answer = self.call(at, "POST", "/_msearch", &lines).await;
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

    async fn scroll(&mut self, at: usize, on: &str, body: &Value) -> Done {
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

    async fn moment(&mut self, at: usize, on: &str, body: &Value) -> Done {
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
        self.status(false, "a search of a point in time", &answer)?;
        self.no_leak(&target, &answer, &seen)?;
        let hits = check::hits_of(&answer.body);
        let ids =
            hits.iter().filter_map(|hit| hit.get("_id")?.as_str()).map(str::to_owned).collect();
        self.everything(&target, ids, &seen)
    }

    fn everything(&self, what: &str, mut ids: Vec<String>, seen: &[Seen]) -> Done {
        let mut wanted: Vec<String> = seen.iter().map(|seen| seen.id.clone()).collect();
        ids.sort();
        wanted.sort();
        if ids == wanted {
            Ok(())
        } else {
            Err(format!("{what}: wanted {wanted:?}, found {ids:?}"))
        }
    }

    async fn many_vectors(&mut self, at: usize, docs: &Value) -> Done {
        let body = json::to_string(&json!({"docs": (docs.clone())}));
        let answer = self.call(at, "POST", "/_mtermvectors?fields=*", &body).await;
        self.counts.checked += 1;
        let mut all = Vec::new();
        let mut refused = true;
        let found = answer.body.get("docs").and_then(Value::as_array).unwrap_or(&[]);
        for (number, wanted) in docs.as_array().into_iter().flatten().enumerate() {
            let text = |key: &str| wanted.get(key).and_then(Value::as_str).unwrap_or_default();
            let seen = self.seen(at, Action::Read, text("_index"))?;
            refused &= seen.is_err();
            let told = found.get(number).and_then(|one| one.get("found")?.as_bool());
            let is_known = match &seen {
                Ok(seen) => seen.iter().any(|seen| seen.id == text("_id")),
                Err(_) => false,
            };
            if told.is_some_and(|told| told != is_known) {
                return Err(format!("_mtermvectors {body}: {}", short(&answer.text)));
            }
            all.extend(seen.unwrap_or_default());
        }
        if !refused && answer.status != 200 && answer.status != 403 {
            return Err(format!("_mtermvectors {body}: {} {}", answer.status, short(&answer.text)));
        }
        self.no_leak(&body, &answer, &all)
    }

    /// A second score tells nothing of what is hidden: a field that nobody sees gives none.
    async fn rescore(&mut self, at: usize, on: &str, second: &Value) -> Done {
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

    async fn lookup(&mut self, at: usize, on: &str, from: &str, id: &str) -> Done {
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

    async fn mapping(&mut self, at: usize, on: &str) -> Done {
        let target = format!("/{on}/_mapping");
        let Some((answer, _)) =
            self.through(at, Action::Mapping, on, "GET", &target, &Value::Null).await?
        else {
            return Ok(());
        };
        let mut named = Vec::new();
        for index in answer.body.as_object().into_iter().flat_map(Object::values) {
            if let Some(mapping) = index.get("mappings") {
                named.extend(crate::find::schema::Schema::read(mapping).fields.into_keys());
            }
        }
        self.fields(at, Action::Mapping, on, &named, &target)
    }

    /// Exactly the fields that are shown of some index are named.
    fn fields(&self, at: usize, action: Action, on: &str, named: &[String], sent: &str) -> Done {
        let Ok(reached) = self.reach(at, action, on) else { return Ok(()) };
        for field in self.world.schema.fields.keys() {
            let mut by = reached.values().map(|(by, _)| by);
            let shown = by.any(|by| self.caller(at).rights.shows(action, by, field));
            if shown != named.contains(field) {
                let wanted = if shown { "named" } else { "hidden" };
                return Err(format!("{sent}: [{field}] should be {wanted}; named are {named:?}"));
            }
        }
        Ok(())
    }
}

impl super::run::Caller {
    /// Is it another than this one?
    pub fn authorization_differs(&self, other: &Self) -> bool {
        self.identity() != other.identity()
    }
}

/// Did some shards fail?
fn fails(answer: &Value) -> bool {
    answer.at(&["_shards", "failed"]).and_then(Value::as_u64).is_some_and(|count| count > 0)
}

/// What only dresses hits: no matter for which are found.
const DRESS: &[&str] = &["highlight", "fields", "docvalue_fields", "explain", "version", "pit"];

fn counted(
    run: &mut Run,
    seen: &[Seen],
    body: &Value,
    found: Option<u64>,
    answer: &Answer,
) -> Done {
    let world = world_of(&run.world.schema, seen);
    match check::expect(&world, body, false) {
        Ok(expected) if found != Some(expected.total as u64) => Err(format!(
            "count of {}: wanted {}: {}",
            json::to_string(body),
            expected.total,
            short(&answer.text)
        )),
        Ok(_) => Ok(()),
        Err(_) => {
            run.counts.skipped += 1;
            Ok(())
        }
    }
}

/// A search that asks for everything there is around a hit.
fn all_parts(query: &Value) -> Value {
    let inner = json!({"nested": {"path": "nest", "query": {"match_all": {}}, "inner_hits": {}}});
    let words = json!({"match": {"t1": "quick brown fox"}});
    json!({
        "query": {"bool": {"should": [(query.clone()), inner, words]}},
        "size": 100,
        "track_total_hits": true,
        "highlight": {"fields": {"*": {}}, "require_field_match": false},
        "fields": ["*"],
        "docvalue_fields": ["m", "k1", "o.k"],
        "explain": true,
        "version": true,
        "aggs": {
            "g": {"global": {}, "aggs": {"c": {"cardinality": {"field": "m"}}}},
            "t": {"terms": {"field": "k1", "size": 100}},
            "n": {"nested": {"path": "nest"}, "aggs": {"h": {"terms": {"field": "nest.k", "size": 100}}}}
        }
    })
}
