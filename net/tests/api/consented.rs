//! What the pages promise is what a token then gets.

use json::json;

use crate::browser::{Browser, basic, escaped, fields, location, words};
use crate::place::{Client, at, value, with_audited, with_oauth};

pub const CALLBACK: &str = "https://app.example/cb";

/// A client, and owners by the privileges of their roles: index patterns, each with its privilege.
pub async fn stage(client: &mut Client, owners: &[(&str, &[(&str, &str)])]) -> (String, String) {
    client.authorize(Some(&basic("elastic", "secret")));
    for index in ["a-1", "a-2", "b-1"] {
        client.good("PUT", &format!("/{index}/_doc/1?refresh=true"), r#"{"n":1}"#).await;
    }
    for (name, entries) in owners {
        let entries: Vec<json::Value> = entries
            .iter()
            .map(|(names, privilege)| json!({"names": [*names], "privileges": [*privilege]}))
            .collect();
        let role = json::to_string(&json!({"indices": entries}));
        client.good("PUT", &format!("/_security/role/{name}"), &role).await;
        let user = json!({"password": (format!("{name}-knows-this")), "roles": [*name]});
        client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&user)).await;
    }
    let body = format!(
        r#"{{"client_name":"App","redirect_uris":["{CALLBACK}"],"scope":"index:*:all cluster:monitor"}}"#
    );
    let made = client.good("POST", "/_oauth/client", &body).await;
    let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
    (text("client_id"), text("client_secret"))
}

/// What the page says and will not give, and what the token that comes of it may do.
pub async fn promised(
    client: &mut Client,
    app: &(String, String),
    user: &str,
    scope: &str,
) -> (String, Option<String>) {
    let mut browser = Browser::default();
    let (_, page) = browser.consent(client, user, &app.0, scope).await;
    let told = words(&page);
    let told = told.split_once("It asks to ").expect("what it asks").1;
    let told = told.split("It keeps this access").next().unwrap_or_default().trim().to_owned();
    let mut form = fields(&page, "/consent");
    form.extend([("scope", scope), ("decision", "allow")].map(|(a, b)| (a.into(), b.into())));
    let led = location(&browser.post(client, "/consent", &form).await);
    let Some((_, code)) = led.split_once("code=") else {
        assert!(led.contains("error=access_denied"), "{led}");
        return (told, None);
    };
    let code = code.split('&').next().unwrap_or_default();
    let body = format!(
        "grant_type=authorization_code&code={code}&client_id={}&client_secret={}",
        app.0, app.1
    );
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let answer = client.call_with("POST", "/token", &form, body.as_bytes()).await;
    let token = at(&value(&answer), &["access_token"]).as_str().expect("a token").to_owned();
    (told, Some(format!("Bearer {token}")))
}

async fn statuses(client: &mut Client, token: &str, calls: &[(&str, &str, u16)]) {
    client.authorize(Some(token));
    for (method, target, expected) in calls {
        let answer = client.call(method, target, "").await;
        assert_eq!(answer.status, *expected, "{method} {target}: {}", answer.text());
    }
}

/// Whoever held any action of a scope was told of all of it, and the token then got 403.
#[test]
fn the_page_promises_what_the_token_gets() {
    with_oauth(|mut client| async move {
        let app = stage(
            &mut client,
            &[
                ("sees", &[("a-*", "view_index_metadata")]),
                ("gets", &[("a-*", "indices:data/read/get")]),
                ("removes", &[("b-*", "delete_index")]),
                ("keeps", &[("a-*", "maintenance")]),
                ("watches", &[("a-*", "monitor")]),
                ("nobody", &[("a-*", "write")]),
            ],
        )
        .await;
        let two = "a-*: 2 indices today, and any that match later";
        let (told, token) = promised(&mut client, &app, "sees", "index:a-*:read").await;
        let expected = format!(
            "See the names, aliases, fields and settings of the indices {two} It asked for more"
        );
        assert!(told.starts_with(&expected), "{told}");
        let token = token.expect("something remains");
        statuses(
            &mut client,
            &token,
            &[("GET", "/a-1/_search", 403), ("GET", "/a-1/_mapping", 200)],
        )
        .await;

        let (told, token) = promised(&mut client, &app, "gets", "index:a-*:read").await;
        assert!(
            told.starts_with(&format!("Read single documents by their ids in {two}")),
            "{told}"
        );
        let token = token.expect("something remains");
        statuses(&mut client, &token, &[("GET", "/a-1/_search", 403), ("GET", "/a-1/_doc/1", 200)])
            .await;

        let (told, token) = promised(&mut client, &app, "keeps", "index:*:manage").await;
        assert!(
            told.contains("Maintain every index: 2 indices today, and later ones as far as your own rights reach"),
            "{told}"
        );
        let token = token.expect("something remains");
        statuses(&mut client, &token, &[("POST", "/a-1/_refresh", 200), ("DELETE", "/a-1", 403)])
            .await;

        let (told, token) = promised(&mut client, &app, "watches", "index:*:manage").await;
        assert!(told.starts_with("See the settings and statistics of every index: 2"), "{told}");
        let token = token.expect("something remains");
        statuses(
            &mut client,
            &token,
            &[("GET", "/a-1/_stats", 200), ("POST", "/a-1/_refresh", 403)],
        )
        .await;

        let (told, token) = promised(&mut client, &app, "nobody", "index:a-*:read").await;
        assert!(told.contains("will not get it: Read documents in a-*, any that match."), "{told}");
        assert_eq!(token, None);

        let (told, token) = promised(&mut client, &app, "removes", "index:*:manage").await;
        assert!(told.contains("Delete every index: 1 index today"), "{told}");
        let token = token.expect("something remains");
        statuses(&mut client, &token, &[("PUT", "/b-2", 403), ("DELETE", "/b-1", 200)]).await;
    });
}

/// Each index on which anything was held counted for every scope.
#[test]
fn indices_are_counted_where_the_scope_remains() {
    with_oauth(|mut client| async move {
        let roles = [("a-*", "read"), ("b-*", "write"), ("*-1", "monitor")];
        let app = stage(&mut client, &[("ann", &roles)]).await;
        for (scope, expected) in [
            (
                "index:*:read",
                "Read documents in every index: 2 indices today, a part of it in 1 more, and later ones as far as your own rights reach",
            ),
            (
                "index:*:write",
                "Add, change and delete documents in every index: 1 index today, and later ones as far as your own rights reach",
            ),
            (
                "index:*:manage",
                "See the names, fields, settings and statistics of every index: 1 index today, a part of it in 2 more, and later ones as far as your own rights reach",
            ),
        ] {
            let (told, _) = promised(&mut client, &app, "ann", scope).await;
            assert!(told.contains(expected), "{scope}: {told}");
        }
    });
}

/// A refusal was noted without who refused, why, and what was asked.
#[test]
fn what_is_refused_is_noted_with_who_and_why() {
    with_audited(|mut client, told| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        for (scope, decision, reason) in [
            ("index:a-*:read", "deny", "The owner refused"),
            ("index:b-*:read", "allow", "The owner holds nothing of what was asked for"),
        ] {
            let mut browser = Browser::default();
            let (_, page) = browser.consent(&mut client, "ann", &app.0, scope).await;
            let mut form = fields(&page, "/consent");
            form.push(("scope".into(), scope.into()));
            form.push(("decision".into(), decision.into()));
            let led = browser.post(&mut client, "/consent", &form).await;
            assert!(location(&led).contains("error=access_denied"), "{}", location(&led));
            let lines = told.of("consent_denied");
            assert_eq!(lines.len(), 1, "{lines:?}");
            for (name, expected) in
                [("user", "ann"), ("reason", reason), ("scope", scope), ("client", &app.0)]
            {
                assert_eq!(at(&lines[0], &[name]).as_str(), Some(expected), "{name}");
            }
        }
    });
}

/// A change of a user or a role was noted without whose it was.
#[test]
fn a_change_is_noted_with_what_it_is_of() {
    with_audited(|mut client, told| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let password = r#"{"password":"tom-knows-this"}"#;
        let user = r#"{"password":"tom-knew-this","roles":[]}"#;
        for (method, target, body, event, (name, expected)) in [
            ("PUT", "/_security/role/r", "{}", "role_changed", ("target_role", "r")),
            ("PUT", "/_security/user/tom", user, "user_changed", ("target_user", "tom")),
            (
                "POST",
                "/_security/user/tom/_password",
                password,
                "password_reset",
                ("target_user", "tom"),
            ),
            ("PUT", "/_security/user/tom/_disable", "", "user_disabled", ("target_user", "tom")),
            ("PUT", "/_security/user/tom/_enable", "", "user_enabled", ("target_user", "tom")),
            ("DELETE", "/_security/user/tom", "", "user_deleted", ("target_user", "tom")),
            ("DELETE", "/_security/role/r", "", "role_deleted", ("target_role", "r")),
        ] {
            client.good(method, target, body).await;
            let lines = told.of(event);
            assert_eq!(lines.len(), 1, "{method} {target}: {lines:?}");
            assert_eq!(at(&lines[0], &[name]).as_str(), Some(expected), "{method} {target}");
        }
    });
}

/// The store told addresses with their ports, and this half without.
#[test]
fn both_halves_tell_an_address_alike() {
    with_audited(|mut client, told| async move {
        stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        client.authorize(Some(&basic("ann", "wrong")));
        client.call("GET", "/_security/_authenticate", "").await;
        let page = Browser::default().sign_in(&mut client, "nobody", "/login").await;
        assert_eq!(page.status, 400);
        let lines = told.of("login_failed");
        let addresses: Vec<Option<&str>> =
            lines.iter().map(|line| line.get("address").and_then(json::Value::as_str)).collect();
        assert_eq!(addresses.len(), 2, "{lines:?}");
        assert_eq!(addresses[0], addresses[1]);
        assert!(addresses[0].is_some_and(|address| !address.contains(':')), "{addresses:?}");
    });
}

/// The page said "none today" of a data stream that the token then read and wrote.
#[test]
fn a_data_stream_counts_as_one() {
    with_oauth(|mut client| async move {
        let app = stage(&mut client, &[("ann", &[("logs-*", "read"), ("logs-*", "write")])]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let template = r#"{"index_patterns":["logs-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/logs", template).await;
        client.good("PUT", "/_data_stream/logs-y", "").await;
        let (told, token) = promised(&mut client, &app, "ann", "index:logs-y:read").await;
        assert!(told.starts_with("Read documents in logs-y Search and read"), "{told}");
        let token = token.expect("it is held");
        statuses(&mut client, &token, &[("GET", "/logs-y/_search", 200)]).await;
        let (told, _) = promised(&mut client, &app, "ann", "index:logs-*:write").await;
        let expected = "logs-*: 1 data stream today, and any that match later";
        assert!(told.contains(expected), "{told}");
    });
}

/// A role that names an alias alone opened it to its bearer, and to no application of theirs.
#[test]
fn an_alias_that_a_role_writes_out_opens_by_token() {
    with_oauth(|mut client| async move {
        let owners: [(&str, &[(&str, &str)]); 2] =
            [("ann", &[("sales", "read"), ("sales", "write")]), ("bob", &[("sale?", "read")])];
        let app = stage(&mut client, &owners).await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/sales-2026/_doc/1?refresh=true", r#"{"n":1}"#).await;
        client.good("PUT", "/sales-2026/_alias/sales", "").await;
        let (told, token) = promised(&mut client, &app, "ann", "index:sales*:read").await;
        assert!(told.contains("sales*: 1 alias today, and later ones as far as"), "{told}");
        let token = token.expect("it is held");
        let calls = [
            ("GET", "/sales/_search", 200),
            ("GET", "/sales/_count", 200),
            ("GET", "/sales/_doc/1", 200),
            ("GET", "/sales/_field_caps?fields=*", 200),
            ("POST", "/sales/_pit?keep_alive=1m", 200),
            ("GET", "/sales/_search?scroll=1m", 200),
            ("GET", "/sales-2026/_search", 403),
            ("GET", "/sales,sales-2026/_search", 403),
            ("DELETE", "/sales/_doc/1", 403),
        ];
        statuses(&mut client, &token, &calls).await;
        let found = value(&client.call("GET", "/sales*/_search", "").await);
        assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1), "{found:?}");
        // The grant must hold the index too, and a pattern of a role writes no alias out.
        for (user, scope) in [("ann", "index:sales:read"), ("bob", "index:sales*:read")] {
            let (_, token) = promised(&mut client, &app, user, scope).await;
            let token = token.expect("it is held");
            statuses(&mut client, &token, &[("GET", "/sales/_search", 403)]).await;
        }
        let (_, token) = promised(&mut client, &app, "ann", "index:sales*:write").await;
        client.authorize(Some(&token.expect("it is held")));
        client.good("PUT", "/sales/_doc/2", r#"{"n":2}"#).await;
    });
}

/// A service that named no scope got all that it may ever ask for.
#[test]
fn a_service_that_names_no_scope_learns_who_it_is() {
    with_oauth(|mut client| async move {
        stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        for (more, expected) in
            [("", "self"), (r#","default_scope":"index:a-1:read""#, "index:a-1:read")]
        {
            client.authorize(Some(&basic("elastic", "secret")));
            let body = format!(
                r#"{{"client_name":"App","application_type":"service","service_account":"ann","redirect_uris":[],
                "grant_types":["client_credentials"],"scope":"index:a-*:read"{more}}}"#
            );
            let made = client.good("POST", "/_oauth/client", &body).await;
            let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
            let body = format!(
                "grant_type=client_credentials&client_id={}&client_secret={}",
                text("client_id"),
                text("client_secret")
            );
            let form = [("Content-Type", "application/x-www-form-urlencoded")];
            client.authorize(None);
            let answer = client.call_with("POST", "/token", &form, body.as_bytes()).await;
            assert_eq!(at(&value(&answer), &["scope"]).as_str(), Some(expected));
            // One whose account is disabled acts for somebody, who may not now.
            client.authorize(Some(&basic("elastic", "secret")));
            client.good("PUT", "/_security/user/ann/_disable", "").await;
            client.authorize(None);
            let answer = client.call_with("POST", "/token", &form, body.as_bytes()).await;
            assert_eq!(at(&value(&answer), &["error"]).as_str(), Some("invalid_grant"));
            client.authorize(Some(&basic("elastic", "secret")));
            client.good("PUT", "/_security/user/ann/_enable", "").await;
        }
    });
}

/// What the account of a service lost was still told as the scope of its tokens, each use of which was refused.
#[test]
fn a_service_is_told_the_scope_that_its_account_holds_now() {
    with_oauth(|mut client| async move {
        stage(&mut client, &[("ann", &[("a-*", "read"), ("b-*", "read")])]).await;
        let body = r#"{"client_name":"App","application_type":"service","service_account":"ann",
            "grant_types":["client_credentials"],"scope":"index:a-*:read index:b-*:read",
            "default_scope":"index:a-*:read index:b-*:read"}"#;
        let made = client.good("POST", "/_oauth/client", body).await;
        let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
        let (id, secret) = (text("client_id"), text("client_secret"));
        let both = "index:a-*:read index:b-*:read";
        for (rights, asked, expected) in [
            (&["a-*", "b-*"][..], "", both),
            (&["a-*"], "", "index:a-*:read"),
            (&["a-*"], both, "index:a-*:read"),
            (&["a-*"], "index:b-*:read", "invalid_scope"),
            // Of this a part is left.
            (&["b-1"], both, "index:b-*:read"),
            (&[], "", "invalid_scope"),
            (&[], "self", "self"),
            (&["a-*", "b-*"], "", both),
        ] {
            client.authorize(Some(&basic("elastic", "secret")));
            let entry = |names: &&str| json!({"names": [*names], "privileges": ["read"]});
            let entries: Vec<json::Value> = rights.iter().map(entry).collect();
            let role = json::to_string(&json!({"indices": entries}));
            client.good("PUT", "/_security/role/ann", &role).await;
            client.authorize(None);
            let mut body =
                format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
            if !asked.is_empty() {
                body += &format!("&scope={}", asked.replace(' ', "+"));
            }
            let form = [("Content-Type", "application/x-www-form-urlencoded")];
            let answer = value(&client.call_with("POST", "/token", &form, body.as_bytes()).await);
            let told = answer.get("scope").or_else(|| answer.get("error"));
            assert_eq!(told.and_then(|told| told.as_str()), Some(expected), "{rights:?} {asked}");
        }
    });
}

/// A scope that held an alias and the index behind it was refused to a service whose account reads by the
/// alias, and the one that was taken opened nothing.
#[test]
fn a_service_reads_by_the_alias_of_its_account() {
    with_oauth(|mut client| async move {
        let owners: [(&str, &[(&str, &str)]); 2] =
            [("ann", &[("sales", "read")]), ("bob", &[("sale?", "read")])];
        stage(&mut client, &owners).await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/sales-2026/_doc/1?refresh=true", r#"{"n":1}"#).await;
        client.good("PUT", "/sales-2026/_alias/sales", "").await;
        let body = |account: &str, scope: &str| {
            format!(
                r#"{{"client_name":"App","application_type":"service","service_account":"{account}",
                "grant_types":["client_credentials"],"scope":"{scope}"}}"#
            )
        };
        let made = client.good("POST", "/_oauth/client", &body("ann", "index:sales*:read")).await;
        let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
        let form = format!(
            "grant_type=client_credentials&scope=index:sales*:read&client_id={}&client_secret={}",
            text("client_id"),
            text("client_secret")
        );
        for (account, scope) in [
            ("ann", "index:sales*:write"),
            ("ann", "index:s*:read index:a-1:read"),
            ("ann", "index:nothing*:read"),
            ("bob", "index:sales*:read"),
        ] {
            let told = client.bad("POST", "/_oauth/client", &body(account, scope)).await;
            assert!(told.contains("goes beyond the roles of"), "{account} {scope}: {told}");
        }
        // As soon as something is there that the alias does not lead to, it is beyond.
        client.good("PUT", "/sales-old", "").await;
        let told = client.bad("POST", "/_oauth/client", &body("ann", "index:sales*:read")).await;
        assert!(told.contains("[scope] holds [index:sales*:read]"), "{told}");
        let kind = [("Content-Type", "application/x-www-form-urlencoded")];
        client.authorize(None);
        let answer = client.call_with("POST", "/token", &kind, form.as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let token = at(&value(&answer), &["access_token"]).as_str().expect("a token").to_owned();
        let calls = [
            ("GET", "/sales/_search", 200),
            ("GET", "/sales/_doc/1", 200),
            ("GET", "/sales-2026/_search", 403),
            ("GET", "/sales-old/_search", 403),
        ];
        statuses(&mut client, &format!("Bearer {token}"), &calls).await;
    });
}

/// The page promised fields that the owner does not see, and all documents where the owner's role hides some;
/// and what two entries share it said twice.
#[test]
fn the_page_promises_no_more_than_the_owner_sees() {
    with_oauth(|mut client| async move {
        stage(&mut client, &[]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let role = json!({"indices": [{"names": ["a-*"], "privileges": ["read"],
            "query": {"term": {"n": 1}}, "field_security": {"grant": ["n", "place.*"]}},
            {"names": ["b-*"], "privileges": ["read"]}]});
        client.good("PUT", "/_security/role/ann", &json::to_string(&role)).await;
        let user = r#"{"password":"ann-knows-this","roles":["ann"]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        let body = format!(
            r#"{{"client_name":"App","redirect_uris":["{CALLBACK}"],"scope":"index:*:all",
                "authorization_details_types":["index_access"]}}"#
        );
        let made = client.good("POST", "/_oauth/client", &body).await;
        let id = at(&made, &["client_id"]).as_str().expect("an id").to_owned();
        let mut pages = Vec::new();
        for (name, text) in [
            ("scope", "index:a-*:read".to_owned()),
            ("scope", "index:b-*:read".to_owned()),
            (
                "authorization_details",
                json::to_string(&json!([
                    {"type": "index_access", "indices": ["a-1", "b-9"],
                        "actions": ["read", "all", "read"], "fields": ["n", "place", "salary"]},
                    {"type": "index_access", "indices": ["a-1", "c-1"], "actions": ["read"],
                        "fields": ["salary"]},
                    {"type": "index_access", "indices": ["c-1"], "actions": ["read"]},
                    {"type": "index_access", "indices": ["a-1"], "actions": ["read"]}
                ])),
            ),
        ] {
            let target =
                format!("/authorize?response_type=code&client_id={id}&{name}={}", escaped(&text));
            let mut browser = Browser::default();
            let (_, page) = browser.consent_to(&mut client, "ann", &target).await;
            pages.push(words(&page));
        }
        let own = "Only documents and fields that you may see yourself.";
        assert!(pages[0].contains(own), "{}", pages[0]);
        assert!(!pages[1].contains("may see yourself"), "{}", pages[1]);
        let told = &pages[2];
        for expected in [
            "Read documents in a-1; Read documents in b-9, of which you have none today",
            "Only the fields n , place , salary . Of that only",
            "will not get them: salary .",
            "Whole documents, as you see them yourself.",
            "You hold less than it asks for. When your rights change, so does this, up to: Do everything with a-1; Do everything with b-9.",
        ] {
            assert!(told.contains(expected), "{expected}: {told}");
        }
        assert_eq!(told.matches("Read documents in c-1").count(), 2, "{told}");
    });
}

/// A role wrote an alias's name, and an application asked for the alias and for the index behind it: the page said
/// that the owner holds nothing of the index, granted the alias alone, and that opened nothing.
#[test]
fn what_lies_behind_an_alias_that_a_role_writes_can_be_given_with_it() {
    with_oauth(|mut client| async move {
        let app =
            stage(&mut client, &[("ann", &[("fal", "read")]), ("bob", &[("f*", "read")])]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/a-1/_alias/fal", "").await;
        let scopes = ["index:fal:read", "index:a-1:read"];
        for (user, asked, is_given) in [
            ("ann", &scopes[..], true),
            // By itself the index is nothing of the owner's.
            ("ann", &scopes[1..], false),
            // A pattern that happens to fit the alias is not enough.
            ("bob", &scopes[..], false),
        ] {
            let mut browser = Browser::default();
            let (_, page) = browser.consent(&mut client, user, &app.0, &asked.join(" ")).await;
            let lacks = words(&page).contains("you do not hold yourself");
            assert_eq!(lacks, !is_given, "{user} {asked:?}: {}", words(&page));
            if !is_given {
                continue;
            }
            let told = "Read documents in a-1, by the alias fal alone";
            assert!(words(&page).contains(told), "{}", words(&page));
            let mut form = fields(&page, "/consent");
            form.extend(asked.iter().map(|scope| ("scope".into(), (*scope).into())));
            form.push(("decision".into(), "allow".into()));
            let led = location(&browser.post(&mut client, "/consent", &form).await);
            let code = led.split_once("code=").expect("a code").1;
            let body = format!(
                "grant_type=authorization_code&code={}&client_id={}&client_secret={}",
                code.split('&').next().unwrap_or_default(),
                app.0,
                app.1
            );
            let kind = [("Content-Type", "application/x-www-form-urlencoded")];
            let answer = client.call_with("POST", "/token", &kind, body.as_bytes()).await;
            let token = at(&value(&answer), &["access_token"]).as_str().expect("one").to_owned();
            let calls = [("GET", "/fal/_search", 200), ("GET", "/a-1/_search", 403)];
            statuses(&mut client, &format!("Bearer {token}"), &calls).await;
        }
    });
}

/// The page said in words what its filter did not let through so: of fields that nothing finds, of numbers and
/// moments beside the one that is named, of an empty text that counts as `no`.
#[test]
fn a_filter_is_told_in_words_where_they_are_true() {
    with_oauth(|mut client| async move {
        let reads = [("a-*", "read")];
        stage(&mut client, &[("ann", &reads)]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let lost = json!({"type": "keyword", "index": false, "doc_values": false});
        let mapping = json!({"mappings": {"properties": {"kn": lost, "k": {"type": "keyword"},
            "kc": {"type": "keyword", "fields": {"sub": {"type": "keyword"}}}, "kf": {"type": "keyword", "copy_to": "kc"},
            "b": {"type": "boolean"}, "d": {"type": "date"}, "du": {"type": "double"},
            "dn": {"type": "date_nanos"}, "df": {"type": "date", "format": "yyyyMMddHHmmssSSSSSS"},
            "dd": {"type": "date", "format": "yyyy-MM-dd"}, "o": {"properties": {"k": {"type": "keyword"}}},
            "kv": {"type": "keyword", "null_value": "none"}, "kl": {"type": "alias", "path": "kv"}}}});
        client.good("PUT", "/a-3", &json::to_string(&mapping)).await;
        let body = format!(
            r#"{{"client_name":"App","redirect_uris":["{CALLBACK}"],"scope":"index:*:all",
                "authorization_details_types":["index_access"]}}"#
        );
        let made = client.good("POST", "/_oauth/client", &body).await;
        let id = at(&made, &["client_id"]).as_str().expect("an id").to_owned();
        for (query, expected) in [
            (json!({"bool": {"must_not": {"exists": {"field": "kn"}}}}), None),
            (json!({"bool": {"must_not": {"exists": {"field": "k"}}}}), None),
            (json!({"term": {"du": 9_007_199_254_740_992_u64}}), None),
            (json!({"range": {"du": {"lte": 5}}}), Some("du is at most 5")),
            (json!({"term": {"d": "2024-01-01T00:00:00.000Z"}}), None),
            (json!({"range": {"d": {"lte": "2024-01-01"}}}), Some("d is at most “2024-01-01”")),
            (json!({"term": {"b": false}}), Some("b is no or empty")),
            (json!({"bool": {"must_not": {"term": {"b": false}}}}), None),
            (json!({"bool": {"must_not": {"term": {"b": true}}}}), None),
            (json!({"range": {"d": {"gt": "2024-04"}}}), None),
            (json!({"range": {"d": {"gte": 2025}}}), None),
            (json!({"range": {"k": {"lte": "EUR 5"}}}), None),
            (json!({"range": {"du": {"gte": "1.234"}}}), None),
            (json!({"term": {"kc": "acme"}}), None),
            (json!({"term": {"kc.sub": "acme"}}), None),
            (json!({"exists": {"field": "k"}}), Some("k has a value")),
            (json!({"exists": {"field": "kv"}}), None),
            (json!({"exists": {"field": "kl"}}), None),
            (json!({"exists": {"field": "nobody"}}), None),
            (json!({"range": {"d": {"gte": "2024-01-01T00:00:00.0005Z"}}}), None),
            (
                json!({"range": {"d": {"gte": "2024-01-01T00:00:00.5Z"}}}),
                Some("d is at least “2024-01-01T00:00:00.5Z”"),
            ),
            (json!({"range": {"df": {"gte": "20240101000000000500"}}}), None),
            (json!({"range": {"dd": {"gte": "2024-01-01"}}}), Some("dd is at least “2024-01-01”")),
            (json!({"range": {"dn": {"lte": "1960-01-01"}}}), None),
        ] {
            let entry = json!([{"type": "index_access", "indices": ["a-3"], "actions": ["read"],
                "query": (query.clone())}]);
            let target = format!(
                "/authorize?response_type=code&client_id={id}&authorization_details={}",
                escaped(&json::to_string(&entry))
            );
            let mut browser = Browser::default();
            let (_, page) = browser.consent_to(&mut client, "ann", &target).await;
            let told = words(&page);
            let query = json::to_string(&query);
            match expected {
                Some(expected) => assert!(told.contains(expected), "{query}: {told}"),
                None => assert!(told.contains("technical condition"), "{query}: {told}"),
            }
        }
    });
}

/// An application that may search showed itself any template, also one that is kept for the indices of others.
#[test]
fn an_application_reads_no_stored_template() {
    with_oauth(|mut client| async move {
        let app = stage(&mut client, &[("ann", &[("a-*", "read")])]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let script = r#"{"script":{"lang":"mustache","source":"{\"query\":{\"match_all\":{}}}"}}"#;
        client.good("PUT", "/_scripts/kept", script).await;
        let token = promised(&mut client, &app, "ann", "index:a-*:read").await.1.expect("some");
        statuses(
            &mut client,
            &token,
            &[("GET", "/_render/template/kept", 403), ("GET", "/_render/template/none", 403)],
        )
        .await;
        let own = r#"{"source":{"query":{"match_all":{}}}}"#;
        assert_eq!(client.call("POST", "/_render/template", own).await.status, 200);
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("GET", "/_render/template/kept", "").await;
    });
}
