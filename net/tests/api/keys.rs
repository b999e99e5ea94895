//! Which API keys are meant.

use json::{Value, json};

use crate::browser::basic;
use crate::place::{Client, at, with_security};

/// Makes keys of these names for whoever speaks.
async fn make(client: &mut Client, names: &[&str]) {
    for name in names {
        let body = json::to_string(&json!({"name": *name}));
        client.good("POST", "/_security/api_key", &body).await;
    }
}

/// Names of the keys that live, sorted.
async fn living(client: &mut Client) -> Vec<String> {
    let found = client.good("GET", "/_security/api_key?active_only=true", "").await;
    let keys = at(&found, &["api_keys"]).as_array().expect("keys").iter();
    let names = keys.filter_map(|key| key.get("name").and_then(Value::as_str));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names
}

/// A blank name and an empty list of ids were taken for everything: all keys of everybody were gone.
#[test]
fn what_names_nothing_invalidates_nothing() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        make(&mut client, &["one", "two"]).await;
        let nothing = "One of [api key id(s), api key name, username, realm name] must be specified if [owner] \
                       flag is false";
        let empty = "Field [ids] cannot be empty";
        let blank =
            "Field [ids] must not contain blank id, but got blank id at index position: [1]";
        let owned = "username or realm name must not be specified when the api key id(s) or api key name are \
                     specified";
        for (body, problems) in [
            (r#"{}"#, vec![nothing]),
            (r#"{"name":""}"#, vec![nothing]),
            (r#"{"name":"  "}"#, vec![nothing]),
            (r#"{"username":"","realm_name":"\t"}"#, vec![nothing]),
            (r#"{"ids":[]}"#, vec![empty]),
            (r#"{"ids":[],"owner":true}"#, vec![empty]),
            (r#"{"ids":[],"username":"elastic"}"#, vec![empty, owned]),
            (r#"{"ids":["x",""]}"#, vec![blank]),
            (
                r#"{"ids":[""," "]}"#,
                vec![
                    "Field [ids] must not contain blank id, but got blank ids at index positions: [0, 1]",
                ],
            ),
            (r#"{"ids":["x"],"username":"elastic"}"#, vec![owned]),
            (r#"{"name":"one","realm_name":"reserved"}"#, vec![owned]),
            (
                r#"{"owner":true,"username":"elastic"}"#,
                vec![
                    "neither username nor realm-name may be specified when invalidating owned API keys",
                ],
            ),
            (
                r#"{"ids":["x"],"name":"one"}"#,
                vec!["only one of [api key id(s), api key name] can be specified"],
            ),
        ] {
            let told: String = problems
                .iter()
                .enumerate()
                .map(|(at, problem)| format!("{}: {problem};", at + 1))
                .collect();
            assert_eq!(
                client.bad("DELETE", "/_security/api_key", body).await,
                format!("400 action_request_validation_exception: Validation Failed: {told}"),
                "{body}"
            );
        }
        assert_eq!(
            client.bad("DELETE", "/_security/api_key", r#"{"id":"x","ids":["x"]}"#).await,
            "400 illegal_argument_exception: Must use either [id] or [ids], not both at the same time"
        );
        assert_eq!(living(&mut client).await, ["one", "two"]);
    });
}

/// `prod?` took `prod1` along, and `a*b` took `axxb`.
#[test]
fn a_name_is_itself_but_for_a_star_at_its_end() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        make(&mut client, &["prod1", "prod?", "a*b", "axxb", "dev1", "dev2"]).await;
        for name in ["prod?", "a*b", "dev*"] {
            let body = json::to_string(&json!({"name": name}));
            client.good("DELETE", "/_security/api_key", &body).await;
        }
        assert_eq!(living(&mut client).await, ["axxb", "prod1"]);
        let found = client.good("GET", "/_security/api_key?name=pro*&active_only=true", "").await;
        assert_eq!(at(&found, &["api_keys"]).as_array().map(<[_]>::len), Some(1));
        client.good("DELETE", "/_security/api_key", r#"{"name":"*"}"#).await;
        assert!(living(&mut client).await.is_empty());
    });
}

/// Numbers were compared with dates as texts, a page had another total than the whole, and what was not
/// understood was passed over.
#[test]
fn keys_are_queried_as_documents_are() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        make(&mut client, &["a", "b", "q 2"]).await;
        let body = r#"{"name":"ends","expiration":"10d","metadata":{"v":1}}"#;
        client.good("POST", "/_security/api_key", body).await;
        let target = "/_security/_query/api_key";
        for (query, count) in [
            (r#"{"range":{"creation":{"gte":"now-1d"}}}"#, 4),
            (r#"{"range":{"creation":{"gte":"2020-01-01"}}}"#, 4),
            (r#"{"range":{"expiration":{"lte":"now+2d"}}}"#, 0),
            (r#"{"range":{"expiration":{"lte":"now+11d"}}}"#, 1),
            (r#"{"match":{"name":"q"}}"#, 0),
            (r#"{"simple_query_string":{"query":"a | b","fields":["name"]}}"#, 2),
            (r#"{"prefix":{"name":{"value":"Q","case_insensitive":true}}}"#, 1),
        ] {
            let answer = client.good("POST", target, &format!("{{\"query\":{query}}}")).await;
            assert_eq!(at(&answer, &["total"]).as_u64(), Some(count), "{query}");
        }
        for (body, reason) in [
            (r#"{"search_after":["b"]}"#, "Sort must contain at least one field."),
            (
                r#"{"sort":["name"],"search_after":["b","c"]}"#,
                "search_after has 2 value(s) but sort has 1.",
            ),
            (
                r#"{"sort":["name","creation"],"search_after":["b"]}"#,
                "search_after has 1 value(s) but sort has 2.",
            ),
        ] {
            let refused = client.bad("POST", "/_security/_query/api_key", body).await;
            assert_eq!(refused, format!("400 illegal_argument_exception: {reason}"));
        }
        let page = r#"{"sort":[{"name":"asc"}],"size":2,"search_after":["b"]}"#;
        let answer = client.good("POST", target, page).await;
        assert_eq!(at(&answer, &["total"]).as_u64(), Some(4));
        assert_eq!(at(&answer, &["count"]).as_u64(), Some(2));
        let sorted =
            r#"{"sort":[{"creation":{"order":"desc","format":"date_time"}},"_doc"],"size":1}"#;
        let answer = client.good("POST", target, sorted).await;
        let first = at(&answer, &["api_keys"]).as_array().and_then(<[_]>::first).expect("a key");
        let sort = first.get("_sort").and_then(Value::as_array).expect("an order");
        let moment = sort[0].as_str().expect("a date as text");
        assert!(moment.ends_with('Z') && moment.contains('T'), "{moment}");
        for bad in [
            r#"{"query":{"range":{"creation":{"foo":1}}}}"#,
            r#"{"sort":[{"name":"foo"}]}"#,
            r#"{"sort":[{"name":{"order":"foo"}}]}"#,
            r#"{"query":{"match_none":{}}}"#,
            r#"{"query":{"term":{"secret":"x"}}}"#,
            r#"{"from":9999,"size":2}"#,
        ] {
            let answer = client.call("POST", target, bad).await;
            assert_eq!(answer.status, 400, "{bad}: {}", answer.text());
        }
    });
}

/// Whoever may look after keys of its own alone named itself without its realm; and a key saw, or ended, the
/// keys of its owner by `owner`.
#[test]
fn ones_own_keys_are_asked_for_as_such() {
    with_security(|mut client| async move {
        let (admin, ann) = (basic("elastic", "secret"), basic("ann", "ann-knows-this"));
        client.authorize(Some(&admin));
        make(&mut client, &["of-elastic"]).await;
        let role = r#"{"cluster":["manage_own_api_key"]}"#;
        client.good("PUT", "/_security/role/own", role).await;
        let role = r#"{"cluster":["manage_api_key"]}"#;
        client.good("PUT", "/_security/role/all", role).await;
        for (name, role) in [("ann", "own"), ("bob", "all")] {
            let user = format!(r#"{{"password":"{name}-knows-this","roles":["{role}"]}}"#);
            client.good("PUT", &format!("/_security/user/{name}"), &user).await;
        }
        client.authorize(Some(&ann));
        make(&mut client, &["one"]).await;
        let own = client.good("POST", "/_security/api_key", r#"{"name":"two"}"#).await;
        let id = at(&own, &["id"]).as_str().expect("an id").to_owned();
        let key = format!("ApiKey {}", at(&own, &["encoded"]).as_str().expect("a credential"));
        let shown = client.good("GET", "/_security/api_key?owner=true", "").await;
        let first = &at(&shown, &["api_keys"]).as_array().expect("keys")[0];
        let realm = at(first, &["realm"]).as_str().expect("a realm").to_owned();
        client.authorize(Some(&basic("bob", "bob-knows-this")));
        let of_bob = client.good("POST", "/_security/api_key", r#"{"name":"wide"}"#).await;
        let wide = format!("ApiKey {}", at(&of_bob, &["encoded"]).as_str().expect("a credential"));
        make(&mut client, &["of-bob"]).await;
        let both = format!("username=ann&realm_name={realm}");
        for (who, query, names) in [
            (&ann, "owner=true", Some(vec!["one", "two"])),
            (&ann, both.as_str(), Some(vec!["one", "two"])),
            (&ann, "username=ann", None),
            (&ann, &format!("realm_name={realm}"), None),
            (&ann, "username=ann&realm_name=other", None),
            (&ann, &format!("username=elastic&realm_name={realm}"), None),
            (&ann, &format!("id={id}"), None),
            (&ann, &format!("id={id}&owner=true"), Some(vec!["two"])),
            (&ann, "name=one", None),
            (&ann, "name=*&owner=true", Some(vec!["one", "two"])),
            (&ann, "", None),
            (&key, &format!("id={id}"), Some(vec!["two"])),
            (&key, "owner=true", None),
            (&key, both.as_str(), None),
            (&key, "name=two", None),
            (&wide, "owner=true", Some(vec!["of-bob", "wide"])),
            (&wide, "username=ann", Some(vec!["one", "two"])),
            (&admin, "username=ann", Some(vec!["one", "two"])),
            (&admin, "username=nobody", Some(vec![])),
        ] {
            client.authorize(Some(who));
            let target = format!("/_security/api_key?{query}");
            let Some(names) = names else {
                let told = client.bad("GET", &target, "").await;
                assert!(told.starts_with("403 security_exception"), "{query}: {told}");
                continue;
            };
            let shown = client.good("GET", &target, "").await;
            let keys = at(&shown, &["api_keys"]).as_array().expect("keys");
            let mut found: Vec<&str> =
                keys.iter().filter_map(|key| at(key, &["name"]).as_str()).collect();
            found.sort_unstable();
            assert_eq!(found, names, "{query}");
        }
        // The same of those who end them.
        for (who, body) in [
            (&ann, r#"{"username":"ann"}"#.to_owned()),
            (&ann, format!(r#"{{"realm_name":"{realm}"}}"#)),
            (&ann, format!(r#"{{"ids":["{id}"]}}"#)),
            (&key, r#"{"owner":true}"#.to_owned()),
            (&key, format!(r#"{{"ids":["{id}","x"]}}"#)),
        ] {
            client.authorize(Some(who));
            let told = client.bad("DELETE", "/_security/api_key", &body).await;
            assert!(told.starts_with("403 security_exception"), "{body}: {told}");
        }
        client.authorize(Some(&key));
        let body = format!(r#"{{"ids":["{id}"]}}"#);
        client.good("DELETE", "/_security/api_key", &body).await;
        client.authorize(Some(&ann));
        let body = format!(r#"{{"username":"ann","realm_name":"{realm}"}}"#);
        let ended = client.good("DELETE", "/_security/api_key", &body).await;
        let ended = at(&ended, &["invalidated_api_keys"]).as_array().expect("keys").len();
        assert_eq!(ended, 1, "the other had ended itself");
    });
}

/// A key was filtered by what was noted of whoever had its owner's name at the moment: a later user of the name
/// lent it documents of another team, and so did a change of its owner.
#[test]
fn a_key_is_filtered_by_its_owner_as_it_was_made_or_updated() {
    with_security(|mut client| async move {
        let admin = basic("elastic", "secret");
        client.authorize(Some(&admin));
        let query = r#"{"template":{"source":"{\"term\":{\"team.keyword\":\"{{_user.metadata.team}}\"}}"}}"#;
        let own = json::to_string(&json!({"cluster": ["manage_own_api_key"],
            "indices": [{"names": ["m"], "privileges": ["read"], "query": query}]}));
        client.good("PUT", "/_security/role/own", &own).await;
        for team in ["a", "b", "c"] {
            let doc = json::to_string(&json!({"team": team}));
            client.good("PUT", &format!("/m/_doc/{team}?refresh=true"), &doc).await;
        }
        let kim = |team: &str, roles: &[&str]| {
            json::to_string(&json!({"password": "kim-knows-this", "roles": (roles.to_vec()),
                "full_name": (format!("Kim of {team}")), "metadata": {"team": team}}))
        };
        client.good("PUT", "/_security/user/kim", &kim("a", &["own"])).await;
        client.authorize(Some(&basic("kim", "kim-knows-this")));
        let key = client.good("POST", "/_security/api_key", r#"{"name":"k"}"#).await;
        let id = at(&key, &["id"]).as_str().expect("an id").to_owned();
        let key = format!("ApiKey {}", at(&key, &["encoded"]).as_str().expect("a credential"));
        let seen = async |client: &mut Client| {
            client.authorize(Some(&key));
            let found = client.good("GET", "/m/_search", "").await;
            let hits = at(&found, &["hits", "hits"]).as_array().expect("hits").iter();
            let ids: Vec<String> =
                hits.map(|hit| at(hit, &["_id"]).as_str().expect("an id").to_owned()).collect();
            let me = client.good("GET", "/_security/_authenticate", "").await;
            client.authorize(Some(&admin));
            (ids.concat(), at(&me, &["full_name"]).as_str().expect("a name").to_owned())
        };
        let as_made = ("a".to_owned(), "Kim of a".to_owned());
        assert_eq!(seen(&mut client).await, as_made);
        client.good("PUT", "/_security/user/kim", &kim("b", &["own"])).await;
        assert_eq!(seen(&mut client).await, as_made, "the owner was changed");
        client.authorize(Some(&basic("kim", "kim-knows-this")));
        client.good("PUT", &format!("/_security/api_key/{id}"), "{}").await;
        let as_updated = ("b".to_owned(), "Kim of b".to_owned());
        assert_eq!(seen(&mut client).await, as_updated, "the key was updated");
        client.good("DELETE", "/_security/user/kim", "").await;
        client.good("PUT", "/_security/user/kim", &kim("c", &[])).await;
        assert_eq!(seen(&mut client).await, as_updated, "another owner came");
    });
}

/// A change that said nothing was answered as one, and what a replication copies whole was kept from searches alone.
#[test]
fn a_key_of_another_cluster_is_changed_by_what_means_something() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let target = "/_security/cross_cluster/api_key";
        let body = r#"{"name":"x","access":{"search":[{"names":["a"],"query":{"match_all":{}}}]}}"#;
        let made = client.good("POST", target, body).await;
        let one = format!("{target}/{}", at(&made, &["id"]).as_str().expect("an id"));
        for body in ["{}", r#"{"access":null}"#, r#"{"expiration":"1d"}"#] {
            assert_eq!(
                client.bad("PUT", &one, body).await,
                "400 action_request_validation_exception: Validation Failed: 1: must update either [access] or \
                 [metadata] for cross-cluster API keys;",
                "{body}"
            );
        }
        for (search, replication, kind) in [
            (r#"{"names":["a"],"query":{"match_all":{}}}"#, r#"{"names":["a"]}"#, "search"),
            (r#"{"names":["a"],"field_security":{"grant":["f"]}}"#, r#"{"names":["a"]}"#, "search"),
            (r#"{"names":["a"]}"#, r#"{"names":["a"],"query":{"match_all":{}}}"#, "replication"),
        ] {
            let access = format!(r#"{{"search":[{search}],"replication":[{replication}]}}"#);
            let more = if kind == "search" { " if replication is assigned" } else { "" };
            let words = format!(
                "400 illegal_argument_exception: {kind} does not support document or field level security{more}"
            );
            let body = format!(r#"{{"name":"y","access":{access}}}"#);
            assert_eq!(client.bad("POST", target, &body).await, words);
            assert_eq!(client.bad("PUT", &one, &format!(r#"{{"access":{access}}}"#)).await, words);
        }
        let both = r#"{"access":{"search":[{"names":["a"],"query":null}],"replication":[{"names":["a"]}]}}"#;
        client.good("PUT", &one, both).await;
        client.good("PUT", &one, r#"{"metadata":{"a":1}}"#).await;
    });
}

/// A key for replication alone read back as one that manages and searches, and privileges that an entry named were
/// passed over.
#[test]
fn a_key_of_another_cluster_shows_the_role_that_its_access_makes() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let target = "/_security/cross_cluster/api_key";
        let (search, replication) =
            (r#""search":[{"names":["a"]}]"#, r#""replication":[{"names":["b"]}]"#);
        let reads = "a: read,read_cross_cluster,view_index_metadata";
        let copies = "b: cross_cluster_replication,cross_cluster_replication_internal";
        for (access, cluster, indices) in [
            (search.to_owned(), "cross_cluster_search", vec![reads]),
            (replication.to_owned(), "cross_cluster_replication", vec![copies]),
            (
                format!("{replication},{search}"),
                "cross_cluster_search,cross_cluster_replication",
                vec![reads, copies],
            ),
            (format!(r#"{search},"replication":[]"#), "cross_cluster_search", vec![reads]),
        ] {
            let body = format!(r#"{{"name":"x","access":{{{access}}}}}"#);
            let made = client.good("POST", target, &body).await;
            let id = at(&made, &["id"]).as_str().expect("an id").to_owned();
            let found = client.good("GET", &format!("/_security/api_key?id={id}"), "").await;
            let key = at(&found, &["api_keys"]).as_array().expect("keys")[0].clone();
            let role = at(&key, &["role_descriptors", "cross_cluster"]);
            let texts = |value: &Value| {
                let list = value.as_array().expect("a list").iter();
                list.map(|one| one.as_str().expect("a text")).collect::<Vec<_>>().join(",")
            };
            assert_eq!(texts(at(role, &["cluster"])), cluster, "{access}");
            let entries = at(role, &["indices"]).as_array().expect("entries").iter();
            let told: Vec<_> = entries
                .map(|one| {
                    format!("{}: {}", texts(at(one, &["names"])), texts(at(one, &["privileges"])))
                })
                .collect();
            assert_eq!(told, indices, "{access}");
        }
        let what =
            "400 parse_exception: failed to parse indices privileges for role [cross_cluster]. ";
        for (entry, words) in [
            (r#"{"names":["a"],"privileges":["all"]}"#, "field [privileges] must not present"),
            (r#"{"privileges":null,"names":["a"]}"#, "field [privileges] must not present"),
            (r#"{"names":["a"],"clusters":["x"]}"#, "unexpected field [clusters]"),
        ] {
            for kind in ["search", "replication"] {
                let body = format!(r#"{{"name":"x","access":{{"{kind}":[{entry}]}}}}"#);
                assert_eq!(client.bad("POST", target, &body).await, format!("{what}{words}"));
            }
        }
        // The names are those of privileges.
        let builtin = client.good("GET", "/_security/privilege/_builtin", "").await;
        for (kind, name) in [
            ("cluster", "cross_cluster_replication"),
            ("index", "cross_cluster_replication"),
            ("index", "cross_cluster_replication_internal"),
        ] {
            let list = at(&builtin, &[kind]).as_array().expect("names");
            assert!(list.iter().any(|one| one.as_str() == Some(name)), "{kind} {name}");
        }
        let role =
            r#"{"indices":[{"names":["b"],"privileges":["cross_cluster_replication_internal"]}]}"#;
        client.good("PUT", "/_security/role/copies", role).await;
    });
}
