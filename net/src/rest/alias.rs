//! Aliases: `_alias`, `_aliases`.

use std::collections::BTreeSet;

use cluster::Alias;
use engine::ops::IndicesOptions;
use engine::ops::alias::{AliasChange, AliasRequest, AliasResult, AliasView, aliases_missing};
use engine::{Error, Result};
use env::Env;
use env::leftovers::Leaving;
use json::spanned::Node;
use json::{Place, Value, Writer};
use mapping::types::boolean;

use super::long_answer::Growing;
use crate::audit;
use crate::call::Call;
use crate::fail;
use crate::reply::Reply;

/// `GET /_alias`, `/_alias/{name}`, `/{index}/_alias`, `/{index}/_alias/{name}`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let view = view(call).await?;
    let status = if view.missing.is_empty() { 200 } else { 404 };
    let mut growing = Growing::new(call, "aliases");
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    if !view.missing.is_empty() {
        let plural = if view.missing.len() > 1 { "aliases" } else { "alias" };
        let list = view.missing.join(",");
        growing.more(&mut writer, 2 * list.len()).await?;
        writer.field_str("error", &format!("{plural} [{list}] missing"));
        writer.field_u64("status", 404);
    }
    for (at, (index, aliases)) in view.indices.iter().enumerate() {
        growing.more_at(at, &mut writer, 2 * index.len()).await?;
        writer.key(index).begin_object().key("aliases").begin_object();
        for (at, (name, said)) in aliases.iter().enumerate() {
            growing.more_at(at, &mut writer, said.shown_bytes(name)).await?;
            writer.field(name, &said.to_json());
        }
        writer.end_object().end_object();
    }
    writer.end_object();
    Ok(growing.end(status, body))
}

/// `HEAD`, in the same forms: as `GET` would be answered.
pub(super) async fn exists<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let there = match view(call).await {
        Ok(view) => view.missing.is_empty(),
        Err(error) if error.status == 404 => false,
        Err(error) => return Err(error),
    };
    Ok(Reply::text(if there { 200 } else { 404 }, Vec::new()))
}

/// What the call asks for, as far as its caller was granted it; a name that was not is refused.
pub(super) async fn view<E: Env>(call: &Call<'_, E>) -> Result<AliasView> {
    let base =
        IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::default() };
    let options = call.params.indices_options(base)?;
    if call.params.text("local").is_some() {
        let local = call.params.flag("local", false)?;
        let what =
            if call.route.path.starts_with("/_cat/") { "cat-aliases" } else { "get-aliases" };
        call.gate.warn(&format!(
            "the [?local={local}] query parameter to {what} requests has no effect and will be removed in a \
             future version"
        ));
    }
    let names: Option<Vec<String>> = call
        .path
        .get("name")
        .map(|name| name.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect());
    call.core.aliases(call.gate, call.indices(), options, names.as_deref()).await
}

/// `PUT|POST /{index}/_alias/{name}` and kin: what the body says counts before the path.
pub(super) async fn put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let body = call.map().await?.unwrap_or_else(Value::object);
    call.read(|content| match content.is_empty() {
        true => Ok(()),
        false => known(&fail::spanned_tree(content)?),
    })
    .await?;
    let said = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
    let index = said("index").or_else(|| call.path.get("index").map(str::to_owned));
    let name = said("alias").or_else(|| call.path.get("name").map(str::to_owned));
    let mut problems = Vec::new();
    if index.as_deref().unwrap_or_default().is_empty() {
        problems.push("index / indices is missing");
    }
    if name.as_deref().unwrap_or_default().is_empty() {
        problems.push("alias / aliases is missing");
    }
    let (Some(index), Some(name), true) = (index, name, problems.is_empty()) else {
        return Err(Error::validation(&problems));
    };
    let alias = parse(&name, &body)?;
    let request = AliasRequest {
        change: AliasChange::Add { alias: Box::new(alias), must_exist: false },
        indices: list(&index),
        aliases: vec![name],
    };
    let results = change(call, &[request]).await?;
    Ok(done(call, &results))
}

/// What an alias may say, in the body of its own request and in an `add`.
const SAYS: [&str; 10] = [
    "filter",
    "routing",
    "index_routing",
    "indexRouting",
    "index-routing",
    "search_routing",
    "searchRouting",
    "search-routing",
    "is_write_index",
    "is_hidden",
];

/// Is each member of the body known? It has no parser of objects in Elasticsearch, and no words of one.
fn known(body: &Node) -> Result<()> {
    for member in body.as_object().unwrap_or_default() {
        let (key, value) = (&member.key, &member.value);
        if value.as_array().is_some() {
            let reason = format!("Unexpected token [{}]", value.token());
            return Err(Error::new(400, "parsing_exception", reason)
                .with("line", u64::from(value.at.line))
                .with("col", u64::from(value.at.column)));
        }
        if !["index", "alias"].contains(&key.as_str()) && !SAYS.contains(&key.as_str()) {
            return Err(Error::illegal_argument(format!("Unsupported field [{key}]")));
        }
    }
    Ok(())
}

/// `DELETE /{index}/_alias/{name}`, `/{index}/_aliases/{name}`.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let request = AliasRequest {
        change: AliasChange::Remove { must_exist: None },
        indices: list(call.indices()),
        aliases: list(call.segment("name")),
    };
    let results = change(call, &[request]).await?;
    Ok(done(call, &results))
}

/// `POST /_aliases`.
pub(super) async fn update<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let requests = call
        .read(|content| {
            if content.is_empty() {
                return Err(Error::parse("request body is required"));
            }
            actions(&fail::spanned_tree(content)?)
        })
        .await?;
    if requests.is_empty() {
        return Err(Error::illegal_argument("No action specified"));
    }
    // A thousand names go in a moment; of a hundred thousand somebody else lets go.
    let names = |request: &AliasRequest| request.indices.len() + request.aliases.len();
    let are_many = requests.iter().map(names).sum::<usize>() > 1024;
    let requests = Leaving::known(requests, are_many);
    let results = Leaving::known(change(call, &requests).await?, are_many);
    Ok(done(call, &results))
}

/// Changes aliases. The audit log names the indices: as they were asked for, where nothing is done.
async fn change<E: Env>(call: &Call<'_, E>, requests: &[AliasRequest]) -> Result<Vec<AliasResult>> {
    let removes = |request: &&AliasRequest| request.change == AliasChange::RemoveIndex;
    tell(
        call,
        requests.iter().flat_map(|request| &request.indices),
        requests.iter().filter(removes).flat_map(|request| &request.indices),
    );
    audit::begin_named(call).await?;
    let results = call.core.update_aliases(call.gate, requests).await?;
    let removed = requests.iter().zip(&results).filter(|(request, _)| removes(request));
    tell(
        call,
        results.iter().flat_map(|result| &result.indices),
        removed.flat_map(|(_, result)| &result.indices),
    );
    Ok(results)
}

fn tell<'n, E: Env>(
    call: &Call<'_, E>,
    all: impl Iterator<Item = &'n String>,
    removed: impl Iterator<Item = &'n String>,
) {
    let mut told = call.told.borrow_mut();
    let once = |names: &mut dyn Iterator<Item = &'n String>| -> Vec<String> {
        names.collect::<BTreeSet<_>>().into_iter().cloned().collect()
    };
    told.indices(once(&mut { all }));
    told.beside("indices:admin/delete", once(&mut { removed }));
}

/// The answer; where an action found nothing, what became of each.
fn done<E: Env>(call: &Call<'_, E>, results: &[AliasResult]) -> Reply {
    let errors = results.iter().any(|result| result.missing);
    call.json(200, |writer| {
        writer.begin_object().field_bool("acknowledged", true).field_bool("errors", errors);
        if errors {
            writer.key("action_results").begin_array();
            for result in results {
                action_result(writer, result, call.trace);
            }
            writer.end_array();
        }
        writer.end_object();
    })
}

fn action_result(writer: &mut Writer<'_>, result: &AliasResult, trace: fail::Trace) {
    let names = |writer: &mut Writer<'_>, key: &str, names: &[String]| {
        writer.key(key).begin_array();
        for name in names {
            writer.str(name);
        }
        writer.end_array();
    };
    writer.begin_object().key("action").begin_object().field_str("type", result.kind);
    names(writer, "indices", &result.indices);
    names(writer, "aliases", &result.aliases);
    writer.end_object();
    if result.missing {
        writer.field_u64("status", 404).key("error");
        fail::inner(writer, &aliases_missing(result.aliases.iter()), trace);
    } else {
        writer.field_u64("status", 200);
    }
    writer.end_object();
}

fn actions(body: &Node) -> Result<Vec<AliasRequest>> {
    let mut requests = Vec::new();
    let Some(members) = body.as_object() else {
        return Err(place_error(body.at, &no_object("aliases", body)));
    };
    for member in members {
        if member.key != "actions" {
            return Err(unknown("aliases", &member.key, member.key_at));
        }
        let Some(list) = member.value.as_array() else {
            return Err(place_error(
                member.value.at,
                &format!(
                    "[aliases] actions doesn't support values of type: {}",
                    member.value.token()
                ),
            ));
        };
        for item in list {
            requests.push(action(item).map_err(|(at, error)| match at {
                Some(at) => {
                    place_error(at, "[aliases] failed to parse field [actions]").caused_by(error)
                }
                None => error,
            })?);
        }
    }
    Ok(requests)
}

fn no_object(what: &str, node: &Node) -> String {
    format!("[{what}] Expected START_OBJECT but was: {}", node.token())
}

/// One action, or what is wrong with it and where that was noticed; what is noticed when all was read
/// has no place.
fn action(item: &Node) -> std::result::Result<AliasRequest, (Option<Place>, Error)> {
    // What is lacking is noticed behind the action.
    let behind = Place { line: item.end.line, column: item.end.column + 1 };
    let Some(members) = item.as_object() else {
        return Err((Some(item.at), place_error(item.at, &no_object("alias_action", item))));
    };
    let [member] = members else {
        let built = "Failed to build [alias_action] after last required field arrived";
        let error = Error::new(400, "x_content_parse_exception", built);
        let cause = Error::illegal_argument("Too many operations declared on operation entry");
        return Err((Some(behind), error.caused_by(cause)));
    };
    let names: &[&str] = match member.key.as_str() {
        "add" | "remove" => &["index", "indices", "alias", "aliases", "must_exist"],
        "remove_index" => &["index", "indices"],
        _ => {
            let error = unknown("alias_action", &member.key, member.key_at);
            return Err((Some(member.value.at), error));
        }
    };
    let wrap = |at: Place, error: Error| {
        let text = format!("[alias_action] failed to parse field [{}]", member.key);
        (Some(at), place_error(at, &text).caused_by(error))
    };
    let mut named: Vec<&str> = Vec::new();
    for inner in member.value.as_object().unwrap_or_default() {
        let at = inner.value.at;
        let key = inner.key.as_str();
        let is_known = names.contains(&key) || (member.key == "add" && SAYS.contains(&key));
        if !is_known {
            return Err(wrap(at, unknown(&member.key, &inner.key, inner.key_at)));
        }
        kind_of(&member.key, &inner.key, &inner.value).map_err(|error| wrap(at, error))?;
        // A list is judged when it is read.
        let at = inner.value.end;
        let why = match (key, &inner.value) {
            ("index" | "alias", value) if value.as_str() == Some("") => {
                Some(format!("[{key}] can't be empty string"))
            }
            ("indices" | "aliases", value) => match value.as_array() {
                Some([]) => Some(format!("[{key}] can't be empty")),
                Some(items) if items.iter().any(|item| item.as_str() == Some("")) => {
                    Some(format!("[{key}] can't contain empty string"))
                }
                _ => None,
            },
            _ => None,
        };
        let twins = [("index", "indices"), ("alias", "aliases")];
        let twice = twins.iter().find(|(one, many)| {
            let other = if key == *one { many } else { one };
            (key == *one || key == *many) && named.contains(other)
        });
        named.push(key);
        let twice =
            twice.map(|(one, many)| format!("Only one of [{one}] and [{many}] is supported"));
        let Some(why) = why.or(twice) else { continue };
        let cause = Error::illegal_argument(why);
        let text = format!("[{}] failed to parse field [{}]", member.key, inner.key);
        return Err(wrap(at, place_error(at, &text).caused_by(cause)));
    }
    parts(&member.key, &member.value.to_value(), behind)
}

/// Is the value of a member of an action of a kind that it may have?
fn kind_of(action: &str, key: &str, value: &Node) -> Result<()> {
    let fits = match key {
        "is_write_index" | "is_hidden" | "must_exist" => match value.as_str() {
            Some(text) => {
                return matches!(text, "true" | "false").then_some(()).ok_or_else(|| {
                    let what = format!("[{action}] failed to parse field [{key}]");
                    let cause = Error::illegal_argument(boolean::neither(text));
                    place_error(value.at, &what).caused_by(cause)
                });
            }
            None => value.as_bool().is_some(),
        },
        "filter" => value.as_object().is_some(),
        "index" | "alias" => value.as_str().is_some(),
        "indices" | "aliases" => value.as_str().is_some() || value.as_array().is_some(),
        // What else there is are the names of routing.
        _ => value.as_str().is_some() || value.as_number().is_some(),
    };
    fits.then_some(()).ok_or_else(|| {
        let token = value.token();
        let what = format!("[{action}] {key} doesn't support values of type: {token}");
        place_error(value.at, &what)
    })
}

fn parts(
    kind: &str,
    body: &Value,
    behind: Place,
) -> std::result::Result<AliasRequest, (Option<Place>, Error)> {
    let named = |one: &str, many: &str| -> std::result::Result<Vec<String>, _> {
        let found: Vec<String> = match (body.get(one), body.get(many)) {
            // One name, whatever stands in it: a list is written as one.
            (Some(Value::String(name)), _) | (_, Some(Value::String(name))) => {
                vec![name.to_string()]
            }
            (_, Some(Value::Array(items))) => {
                items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            _ => {
                let reason = format!("One of [{one}] or [{many}] is required");
                return Err((Some(behind), Error::illegal_argument(reason)));
            }
        };
        Ok(found)
    };
    let indices = named("index", "indices")?;
    if kind == "remove_index" {
        return Ok(AliasRequest { change: AliasChange::RemoveIndex, indices, aliases: Vec::new() });
    }
    let aliases = named("alias", "aliases")?;
    let must_exist = match body.get("must_exist") {
        Some(Value::String(text)) => Some(text == "true"),
        other => other.and_then(Value::as_bool),
    };
    let change = if kind == "remove" {
        AliasChange::Remove { must_exist }
    } else {
        let alias = parse(&aliases[0], body).map_err(|error| (None, error))?;
        let alias = Box::new(alias);
        AliasChange::Add { alias, must_exist: must_exist.unwrap_or_default() }
    };
    Ok(AliasRequest { change, indices, aliases })
}

fn parse(name: &str, body: &Value) -> Result<Alias> {
    Alias::parse(name, body).map_err(|error| Error::illegal_argument(error.to_string()))
}

fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn place_error(at: Place, text: &str) -> Error {
    Error::new(400, "x_content_parse_exception", format!("{at} {text}"))
}

fn unknown(parser: &str, key: &str, at: Place) -> Error {
    place_error(at, &format!("[{parser}] unknown field [{key}]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Vec<AliasRequest>> {
        actions(&json::spanned::parse(body.as_bytes()).expect("JSON"))
    }

    #[test]
    fn actions_read() {
        let requests = read(
            r#"{"actions":[{"add":{"indices":["a","b"],"alias":"x","routing":1,"must_exist":"true"}},
                {"remove":{"indices":["c"],"aliases":["y","z"],"must_exist":true}},
                {"remove_index":{"index":"d"}}]}"#,
        )
        .expect("reads");
        assert_eq!(requests[0].indices, ["a", "b"]);
        assert!(matches!(&requests[0].change, AliasChange::Add { alias, must_exist: true }
            if alias.search_routing.as_deref() == Some("1")));
        assert_eq!(requests[1].aliases, ["y", "z"]);
        assert_eq!(requests[1].change, AliasChange::Remove { must_exist: Some(true) });
        assert_eq!(requests[2].change, AliasChange::RemoveIndex);
    }

    #[test]
    fn what_is_wrong_is_named_at_its_place() {
        let root = |body: &str| {
            let error = read(body).expect_err(body);
            error.roots()[0].reason.clone()
        };
        assert_eq!(
            root(r#"{"actions":[{"foo":{}}]}"#),
            "[1:14] [alias_action] unknown field [foo]"
        );
        let plain = |body: &str| {
            let mut error = read(body).expect_err(body);
            while let Some(cause) = error.caused_by.take() {
                error = *cause;
            }
            error.reason
        };
        assert_eq!(
            plain(r#"{"actions":[{"add":{"index":"a"}}]}"#),
            "One of [alias] or [aliases] is required"
        );
        assert_eq!(
            plain(r#"{"actions":[{"remove":{"index":"a","aliases":[]}}]}"#),
            "[aliases] can't be empty"
        );
        for (member, reason) in [
            (
                r#""must_exist":1"#,
                "[1:61] [remove] must_exist doesn't support values of type: VALUE_NUMBER",
            ),
            (
                r#""must_exist":"maybe""#,
                "Failed to parse value [maybe] as only [true] or [false] are allowed.",
            ),
        ] {
            let body =
                format!(r#"{{"actions":[{{"remove":{{"index":"a","alias":"x",{member}}}}}]}}"#);
            assert_eq!(plain(&body), reason);
        }
        assert_eq!(
            plain(r#"{"actions":[{"add":{"index":"a","indices":["b"],"alias":"x"}}]}"#),
            "Only one of [index] and [indices] is supported"
        );
        assert_eq!(
            read(r#"{"actions":[{"add":{"indices":[]}}]}"#).expect_err("nothing named").reason,
            "[1:32] [aliases] failed to parse field [actions]"
        );
        assert_eq!(
            plain(r#"{"actions":[{"add":{"index":"a","alias":"x","filter":5}}]}"#),
            "[1:54] [add] filter doesn't support values of type: VALUE_NUMBER"
        );
        assert_eq!(
            read(r#"{"actions": [{"add": {}}]}"#).expect_err("no index").reason,
            "[1:25] [aliases] failed to parse field [actions]"
        );
    }
}
