//! Who has no role may do nothing: asked of every route there is.

use json::json;
use net::table::{Api, ROUTES, Route};

use crate::browser::basic;
use crate::place::{Client, at, with_security};

/// What everybody who may come in may ask, by path: who am I, my password, what may I.
const FREE: &[&str] = &[
    "/favicon.ico",
    "/_cat",
    "/_security/_authenticate",
    "/_security/user/_password",
    "/_security/user/_has_privileges",
    "/_security/user/{user}/_has_privileges",
    "/_security/user/_privileges",
];

/// What a handler reads before it asks, so that the question is reached.
fn body(route: &Route) -> &'static str {
    match route.api {
        Api::Bulk => "{\"delete\":{\"_index\":\"w\",\"_id\":\"1\"}}\n",
        Api::MultiSearch => "{\"index\":\"w\"}\n{}\n",
        Api::MultiSearchTemplate => "{\"index\":\"w\"}\n{\"source\":\"{}\"}\n",
        Api::TermVectors if !route.path.contains("{id}") => r#"{"doc":{"a":"b"}}"#,
        Api::Explain => r#"{"query":{"match_all":{}}}"#,
        Api::RankEval => {
            r#"{"requests":[{"id":"a","request":{},"ratings":[]}],"metric":{"dcg":{}}}"#
        }
        Api::MultiGet | Api::MultiTermVectors => r#"{"docs":[{"_index":"w","_id":"1"}]}"#,
        Api::Reindex => r#"{"source":{"index":"w"},"dest":{"index":"t"}}"#,
        Api::RenderTemplate if route.path.contains("{id}") => "",
        Api::RenderTemplate | Api::SearchTemplate => r#"{"source":"{}"}"#,
        Api::UpdateAliases => r#"{"actions":[{"add":{"index":"w","alias":"w-a"}}]}"#,
        Api::PutAlias => r#"{"index":"w","alias":"w-a"}"#,
        Api::Scroll => r#"{"scroll_id":"abc"}"#,
        Api::ClearScroll => r#"{"scroll_id":"abc"}"#,
        Api::ClosePointInTime => r#"{"id":"abc"}"#,
        Api::Analyze => r#"{"text":"a","analyzer":"standard"}"#,
        Api::PutTemplate(cluster::TemplateKind::Component) => r#"{"template":{}}"#,
        Api::PutTemplate(_) => r#"{"index_patterns":["x-*"],"template":{}}"#,
        Api::PutScript => r#"{"script":{"lang":"mustache","source":"{}"}}"#,
        Api::ExecuteScript => r#"{"script":{"source":"1"}}"#,
        Api::DeleteByQuery => r#"{"query":{"match_all":{}}}"#,
        Api::Update => r#"{"doc":{"a":1}}"#,
        Api::PutSettings => r#"{"index.priority":2}"#,
        Api::PutClusterSettings => r#"{"persistent":{"indices.breaker.total.limit":"60%"}}"#,
        Api::PutMapping => r#"{"properties":{"x":{"type":"long"}}}"#,
        Api::FieldCaps => r#"{"fields":["*"]}"#,
        Api::ModifyDataStreams => {
            r#"{"actions":[{"add_backing_index":{"data_stream":"d","index":"w"}}]}"#
        }
        Api::CreateIndex
        | Api::Index
        | Api::IndexAutoId
        | Api::Create
        | Api::Search
        | Api::Resize(_)
        | Api::SimulateIndex
        | Api::SimulateTemplate
        | Api::Rollover => "{}",
        _ => "",
    }
}

/// Bodies of `_security`, by path: these read before they ask.
const SECURITY: &[(&str, &str, &str)] = &[
    ("/_security/api_key", "DELETE", r#"{"owner":true}"#),
    ("/_security/api_key/_bulk_update", "POST", r#"{"ids":["x"]}"#),
    ("/_security/oauth2/token", "DELETE", r#"{"username":"elastic"}"#),
];

/// A name for each parameter of a path.
fn filled(path: &str, task: &str) -> String {
    let segments = path.split('/').map(|segment| match segment {
        "{index}" => "w",
        "{id}" if path.starts_with("/_render") || path.starts_with("/_scripts") => "kept",
        "{id}" => "1",
        "{task_id}" => task,
        "{block}" => "write",
        "{context}" => "score",
        "{metric}" if path.starts_with("/{index}/_stats") => "docs",
        "{target}" if path.starts_with("/_info") => "_all",
        "{target}" | "{new_index}" => "t1",
        "{uid}" => "u_abc_0",
        "{name}" if path.starts_with("/_resolve") => "w",
        other if other.starts_with('{') => "x",
        other => other,
    });
    segments.collect::<Vec<_>>().join("/")
}

async fn stage(client: &mut Client) -> String {
    client.authorize(Some(&basic("elastic", "secret")));
    client.good("PUT", "/w", "").await;
    client.good("PUT", "/w/_doc/1?refresh=true", r#"{"a":1}"#).await;
    let kept = r#"{"script":{"lang":"mustache","source":"{\"query\":{\"match_all\":{}}}"}}"#;
    client.good("PUT", "/_scripts/kept", kept).await;
    let zero = r#"{"password":"zero-knows-this","roles":[]}"#;
    client.good("PUT", "/_security/user/zero", zero).await;
    let all = r#"{"password":"wide-knows-this","roles":["wide"]}"#;
    let role = json!({"indices": [{"names": ["*"], "privileges": ["all"]}]});
    client.good("PUT", "/_security/role/wide", &json::to_string(&role)).await;
    client.good("PUT", "/_security/user/wide", all).await;
    let begun = client.good("POST", "/w/_update_by_query?wait_for_completion=false", "{}").await;
    at(&begun, &["task"]).as_str().expect("a task").to_owned()
}

#[test]
fn who_has_no_role_is_denied_on_every_route() {
    with_security(|mut client| async move {
        let task = stage(&mut client).await;
        client.authorize(Some(&basic("zero", "zero-knows-this")));
        let mut wrong = Vec::new();
        for route in ROUTES {
            if FREE.contains(&route.path) || route.api == Api::Typed {
                continue;
            }
            let mut target = filled(route.path, &task);
            target.push_str(match route.api {
                Api::Rethrottle => "?requests_per_second=5",
                Api::OpenPointInTime => "?keep_alive=1m",
                Api::DiskUsage => "?run_expensive_tasks=true",
                Api::ExcludeVotes => "?node_names=x",
                _ => "",
            });
            for method in route.methods {
                let own =
                    SECURITY.iter().find(|(at, by, _)| *at == route.path && *by == method.as_str());
                let body = own.map_or_else(|| body(route), |(_, _, body)| *body);
                let answer = client.call(method.as_str(), &target, body).await;
                if answer.status != 403 {
                    let text: String = answer.text().chars().take(160).collect();
                    wrong.push(format!("{} {target}: {} {text}", method.as_str(), answer.status));
                }
            }
        }
        assert!(wrong.is_empty(), "{} are not denied:\n{}", wrong.len(), wrong.join("\n"));
    });
}

/// What became of the work of others stood in an index that any pattern reached.
#[test]
fn the_index_of_tasks_is_reached_by_its_own_word() {
    with_security(|mut client| async move {
        let task = stage(&mut client).await;
        client.good("GET", &format!("/_tasks/{task}?wait_for_completion=true"), "").await;
        client.good("GET", "/.tasks/_search", "").await;
        client.authorize(Some(&basic("wide", "wide-knows-this")));
        for target in ["/.tasks/_search", &format!("/.tasks/_doc/{task}"), "/.tasks/_mapping"] {
            let refused = client.bad("GET", target, "").await;
            assert!(refused.starts_with("403 security_exception"), "{target}: {refused}");
        }
        let found = client.good("GET", "/_all/_search?expand_wildcards=all", "").await;
        assert!(!json::to_string(&found).contains(".tasks"));
    });
}

/// What a name is was told by refusing it: in words of the index behind an alias or of a data stream's
/// newest, by the errors of closed indices and of aliases where none may stand.
#[test]
fn who_may_not_ask_for_a_name_does_not_learn_what_it_is() {
    with_security(|mut client| async move {
        let task = stage(&mut client).await;
        let template = r#"{"index_patterns":["ds-*"],"data_stream":{},"priority":200}"#;
        client.good("PUT", "/_index_template/ds", template).await;
        client.good("PUT", "/_data_stream/ds-a", "").await;
        client.good("PUT", "/plain-one", "").await;
        client.good("PUT", "/shut", "").await;
        client.good("POST", "/shut/_close", "").await;
        client.good("PUT", "/w/_alias/one-view", "").await;
        client.good("PUT", "/w,shut/_alias/both-view", "").await;
        let role = r#"{"indices":[{"names":["own"],"privileges":["all"]}]}"#;
        client.good("PUT", "/_security/role/other", role).await;
        let user = r#"{"password":"other-knows-this","roles":["other"]}"#;
        client.good("PUT", "/_security/user/other", user).await;
        client.good("PUT", "/own", "").await;
        client.authorize(Some(&basic("other", "other-knows-this")));
        let mut wrong = Vec::new();
        let named = ["{index}", "/_data_stream/{name}", "/_resolve/index/{name}", "/_alias/{name}"];
        for route in ROUTES {
            let is_named = named.iter().any(|part| route.path.contains(part));
            if !(is_named || route.api.has_items() || route.api == Api::Reindex)
                || route.api == Api::Typed
            {
                continue;
            }
            for method in route.methods {
                let mut answers = Vec::new();
                for name in ["nosuch", "plain-one", "one-view", "both-view", "ds-a", "shut"] {
                    let path = route.path.replace("{index}", name);
                    let path = match route.path.contains("{index}") {
                        true => path,
                        false => path.replace("{name}", name),
                    };
                    let mut target = filled(&path, &task);
                    target.push_str(match route.api {
                        Api::OpenPointInTime => "?keep_alive=1m",
                        Api::DiskUsage => "?run_expensive_tasks=true",
                        Api::Health => "?timeout=0s",
                        _ => "",
                    });
                    let body = body(route).replace("\"w\"", &format!("\"{name}\""));
                    let answer = client.call(method.as_str(), &target, &body).await;
                    let told = format!("{} {}", answer.status, answer.text());
                    let mut told = told.replace(name, "NAME");
                    if let Some(at) = told.find("\"took\":") {
                        let end = told[at..].find(',').map_or(told.len(), |end| at + end);
                        told.replace_range(at..end, "");
                    }
                    answers.push((name, told));
                }
                for (name, told) in &answers[1..] {
                    if *told != answers[0].1 {
                        let short: String = told.chars().take(150).collect();
                        wrong.push(format!("{} {} {name}: {short}", method.as_str(), route.path));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} tell:\n{}", wrong.len(), wrong.join("\n"));
    });
}

/// Once `/_stats` was refused and `/_all/_stats` was an empty answer: patterns were let pass whatever was granted.
#[test]
fn all_indices_are_refused_alike_by_pattern_and_without_a_name() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        for (name, index, privilege) in [("reads", "w", "read"), ("watches", "x-*", "monitor")] {
            let role = json!({"indices": [{"names": [index], "privileges": [privilege]}]});
            let target = format!("/_security/role/{name}");
            client.good("PUT", &target, &json::to_string(&role)).await;
            let user = json!({"password": "long-enough-word", "roles": [name]});
            let target = format!("/_security/user/{name}");
            client.good("PUT", &target, &json::to_string(&user)).await;
        }
        client.authorize(Some(&basic("reads", "long-enough-word")));
        let refused = client.bad("GET", "/_stats", "").await;
        let action = "403 security_exception: action [indices:monitor/stats] is unauthorized for user [reads]";
        assert!(refused.starts_with(action), "{refused}");
        for target in ["/_all/_stats", "/*/_stats", "/w*,_all/_stats/docs"] {
            assert_eq!(client.bad("GET", target, "").await, refused, "{target}");
        }
        let found = client.good("GET", "/_all/_search", "").await;
        assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1), "that is granted");
        // Who may ask of some index sees of each pattern what is granted, and be it nothing.
        client.authorize(Some(&basic("watches", "long-enough-word")));
        for target in ["/_stats", "/_all/_stats", "/w*/_stats"] {
            let stats = client.good("GET", target, "").await;
            assert_eq!(json::to_string(at(&stats, &["indices"])), "{}", "{target}");
        }
        let refused = client.bad("GET", "/w/_stats", "").await;
        assert!(refused.starts_with("403 security_exception: action [indices:monitor/stats]"));
    });
}

/// The table passed over names that the call for aliases refuses.
#[test]
fn the_table_of_aliases_refuses_the_names_that_aliases_refuse() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        for index in ["m1", "s1"] {
            let body = format!(r#"{{"aliases":{{"{index}a":{{}}}}}}"#);
            client.good("PUT", &format!("/{index}"), &body).await;
        }
        let rights = ["monitor", "view_index_metadata", "read"];
        let role = json!({"indices": [{"names": ["m*"], "privileges": (rights.to_vec())}]});
        client.good("PUT", "/_security/role/some", &json::to_string(&role)).await;
        let user = r#"{"password":"long-enough-word","roles":["some"]}"#;
        client.good("PUT", "/_security/user/some", user).await;
        client.authorize(Some(&basic("some", "long-enough-word")));
        for names in ["s1a", "m1a,s1a", "nope"] {
            let refused = client.bad("GET", &format!("/_alias/{names}"), "").await;
            assert!(refused.starts_with("403 "), "{refused}");
            let table = client.bad("GET", &format!("/_cat/aliases/{names}"), "").await;
            assert_eq!(table, refused);
        }
        for target in ["/_cat/aliases", "/_cat/aliases/*", "/_cat/aliases/m1a,m*"] {
            let table = client.call("GET", &format!("{target}?h=alias"), "").await.text();
            assert_eq!(table, "m1a\n", "{target}");
        }
    });
}

/// A stored template was rendered before it was asked whether its caller may search: where that was no JSON, the
/// error quoted it, and told which there are.
#[test]
fn who_may_not_search_is_told_nothing_of_stored_templates() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        let source = r#"{"query":{"match":{"t":"confidential"}},"size":{{size}}}"#;
        let script = json!({"script": {"lang": "mustache", "source": source}});
        client.good("PUT", "/_scripts/kept", &json::to_string(&script)).await;
        client.good("PUT", "/own", "").await;
        let role = r#"{"indices":[{"names":["own"],"privileges":["read"]}]}"#;
        client.good("PUT", "/_security/role/other", role).await;
        for (name, roles) in [("other", "other"), ("nobody", "")] {
            let user = json!({"password": "known-to-them", "roles": [roles]});
            client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&user)).await;
        }
        let rated = |id: &str| {
            format!(
                r#"{{"templates":[{{"id":"t","template":{{"id":"{id}"}}}}],"requests":[{{"id":"q","ratings":[],
                    "template_id":"t","params":{{"a":1}}}}],"metric":{{"precision":{{}}}}}}"#
            )
        };
        for user in ["other", "nobody"] {
            client.authorize(Some(&basic(user, "known-to-them")));
            for index in ["w", "nosuch", "x:y", "nope*,x:y"] {
                if index.contains(':') && user == "other" {
                    continue;
                }
                for id in ["kept", "no-such"] {
                    let one = format!(r#"{{"id":"{id}"}}"#);
                    let line = format!("{{\"index\":\"{index}\"}}\n{one}\n");
                    for (target, body) in [
                        (format!("/{index}/_search/template"), &one),
                        (format!("/{index}/_rank_eval"), &rated(id)),
                        ("/_msearch/template".to_owned(), &line),
                        (format!("/{index}/_msearch/template"), &line),
                    ] {
                        let answer = client.call("POST", &target, body).await.text();
                        assert!(answer.contains("is unauthorized for user"), "{target}: {answer}");
                        assert!(!answer.contains("confidential"), "{target}: {answer}");
                    }
                }
            }
        }
        // Who may search is told what is wrong.
        client.authorize(Some(&basic("other", "known-to-them")));
        let answer = client.call("POST", "/own/_search/template", r#"{"id":"kept"}"#).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
    });
}
