//! Every path that reads, and what it must answer to this caller.

use json::{Object, Value, json};

use super::judge::{Action, Seen, world_of};
use super::run::{Done, Run, short};
use super::searches::below;
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

pub(super) fn same(a: &Value, b: &Value) -> bool {
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
    pub(super) async fn through(
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
                // The filter of an alias is not asked by a read of one document.
                let reads_one = ["/_doc/", "/_source/"].iter().any(|part| target.contains(part));
                let mut shown = seen.clone();
                if reads_one {
                    shown.extend(self.seen_behind(at, action, on)?);
                }
                self.no_leak(&sent, &answer, &shown)?;
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
            "template" => self.template(at, &on, what).await,
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
                let behind = self.seen_behind(at, Action::Read, &on)?;
                let known = seen.iter().chain(&behind).find(|seen| seen.id == id);
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
            "mget" => self.multi_get(at, what, &text("inside")).await,
            "msearch" => self.multi_search(at, what, &text("inside"), false).await,
            "msearch_template" => self.multi_search(at, what, "", true).await,
            "rank" => self.rank(at, &on, what).await,
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
            "many_vectors" => self.many_vectors(at, what, &text("inside")).await,
            "validate" => {
                let body = json!({"query": (what.clone())});
                let target = format!("/{on}/_validate/query?explain=true");
                let Some((answer, _)) =
                    self.through(at, Action::Validate, &on, "POST", &target, &body).await?
                else {
                    return Ok(());
                };
                // A wildcard that means nothing is an error of this call, be it because the caller may use nothing of it.
                let mut wildcards = on.split(',').filter(|part| part.contains('*'));
                let is_void = wildcards.any(|part| {
                    self.reach(at, Action::Validate, part).is_ok_and(|it| it.is_empty())
                });
                let is_told = answer.body.get("valid").and_then(Value::as_bool).is_some();
                let is_right = if is_void { answer.status == 404 } else { is_told };
                if is_right {
                    return Ok(());
                }
                Err(format!(
                    "{target}: wanted nothing {is_void}: {} {}",
                    answer.status,
                    short(&answer.text)
                ))
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

    async fn multi_get(&mut self, at: usize, docs: &Value, inside: &str) -> Done {
        let body = json::to_string(&items(docs, inside));
        let answer = self.call(at, "POST", &below(inside, "_mget"), &body).await;
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

    async fn many_vectors(&mut self, at: usize, docs: &Value, inside: &str) -> Done {
        let body = json::to_string(&items(docs, inside));
        let answer = self.call(at, "POST", &below(inside, "_mtermvectors?fields=*"), &body).await;
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
            let mut names = reached.iter().map(|(index, (by, _))| (by.as_str(), index.as_str()));
            let shown = names.any(|names| self.caller(at).rights.shows(action, names, field));
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

/// Documents that are asked for: by their ids alone where the path names their index.
fn items(docs: &Value, inside: &str) -> Value {
    if inside.is_empty() {
        return json!({"docs": (docs.clone())});
    }
    let docs = docs.as_array().into_iter().flatten();
    let ids: Vec<Value> = docs.filter_map(|doc| doc.get("_id").cloned()).collect();
    json!({"ids": ids})
}

/// Did some shards fail?
pub(super) fn fails(answer: &Value) -> bool {
    answer.at(&["_shards", "failed"]).and_then(Value::as_u64).is_some_and(|count| count > 0)
}

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
