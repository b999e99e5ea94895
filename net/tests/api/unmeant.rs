//! Orders of the store's security that mean nothing.

use json::json;

use crate::browser::basic;
use crate::place::{at, value, with_security};

/// Each was kept as it came, and applied to nobody or to everybody.
#[test]
fn rules_and_templates_of_mappings_are_read_strictly() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let field = r#"{"field":{"username":"ann"}}"#;
        let rules = "failed to parse rules expression.";
        for (wrong, why) in [
            (
                r#"{"field":{"a":"b","c":"d"}}"#.to_owned(),
                "object [field] contains multiple fields",
            ),
            (r#"{"field":{}}"#.to_owned(), "object [field] does not contain any fields"),
            (
                r#"{"field":"x"}"#.to_owned(),
                "expected [field] to be an object but found [VALUE_STRING] instead",
            ),
            (
                r#"{"field":{"a":{"b":"c"}}}"#.to_owned(),
                "expected a field value but found [START_OBJECT] instead",
            ),
            (
                r#"{"field":{"a":["b",["c"]]}}"#.to_owned(),
                "expected a field value but found [START_ARRAY] instead",
            ),
            (format!(r#"{{"except":{field}}}"#), "field [except] is not allowed within [rules]"),
            (
                format!(r#"{{"any":[{{"except":{field}}}]}}"#),
                "field [except] is not allowed within [any]",
            ),
            (
                format!(r#"{{"all":[{{"except":{{"except":{field}}}}}]}}"#),
                "field [except] is not allowed within [except]",
            ),
            (
                r#"{"all":{}}"#.to_owned(),
                "expected [all] to be an array but found [START_OBJECT] instead",
            ),
            (r#"{"field":{"dn":"/cn=(/"}}"#.to_owned(), "REGEX"),
            (r#"{"some":[]}"#.to_owned(), "field [some] is not recognised in object [rules]"),
            ("[]".to_owned(), "expected [rules] to be an object but found [START_ARRAY] instead"),
        ] {
            let body = format!(r#"{{"roles":["r"],"rules":{wrong}}}"#);
            let refused = client.bad("PUT", "/_security/role_mapping/m", &body).await;
            match why {
                "REGEX" => assert!(refused.starts_with("400 parse_exception"), "{refused}"),
                _ => assert_eq!(refused, format!("400 parse_exception: {rules} {why}"), "{wrong}"),
            }
        }
        for wrong in [
            "\"x\"",
            r#"{"foo":1}"#,
            r#"{"template":{"a":"x"}}"#,
            r#"{"format":"json"}"#,
            r#"{"template":{"source":"x"},"format":"xml"}"#,
            r#"{"template":{"source":"{{a}"}}"#,
            r#"{"template":{"id":"nope"}}"#,
        ] {
            let body = format!(r#"{{"role_templates":[{wrong}],"rules":{field}}}"#);
            let answer = client.call("PUT", "/_security/role_mapping/m", &body).await;
            assert_eq!(answer.status, 400, "{wrong}: {}", answer.text());
        }
        assert_eq!(client.call("GET", "/_security/role_mapping/m", "").await.status, 404);
        let all = format!(
            r#"{{"all":[{field},{{"except":{{"any":[{{"field":{{"dn":["a",null,1,true]}}}}]}}}}]}}"#
        );
        let template = r#"[{"template":{"source":"{{username}}"},"format":"string"}]"#;
        let body = format!(r#"{{"role_templates":{template},"rules":{all}}}"#);
        client.good("PUT", "/_security/role_mapping/m", &body).await;
    });
}

/// What belongs to another kind of grant was passed over.
#[test]
fn a_grant_takes_its_own_fields_alone() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        for field in ["username", "password"] {
            let mut ask = json!({"grant_type": "refresh_token", "refresh_token": "x"});
            ask.as_object_mut().expect("an object").insert(field, "y");
            let told = client.call("POST", "/_security/oauth2/token", &json::to_string(&ask)).await;
            assert_eq!(told.status, 400);
            let told = value(&told);
            assert_eq!(at(&told, &["error"]).as_str(), Some("invalid_request"));
            let why = format!(
                "Validation Failed: 1: {field} is not supported with the refresh_token grant_type;"
            );
            assert_eq!(at(&told, &["error_description"]).as_str(), Some(why.as_str()));
        }
        let ask = r#"{"grant_type":"password","username":"elastic","password":"secret","access_token":"x",
            "api_key":{"name":"k"}}"#;
        let refused = client.bad("POST", "/_security/api_key/grant", ask).await;
        let why = "1: [access_token] is not supported for grant_type [password];";
        assert!(
            refused.starts_with("400 action_request_validation_exception")
                && refused.ends_with(why),
            "{refused}"
        );
    });
}

/// A role was kept whose every search was an error: scripts of others mean nothing in it.
#[test]
fn a_role_holds_no_stored_script() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let script = r#"{"script":{"lang":"painless","source":"true"}}"#;
        client.good("PUT", "/_scripts/kept", script).await;
        for query in [
            r#"{"script":{"script":{"id":"kept"}}}"#,
            r#"{"bool":{"filter":[{"script":{"script":{"id":"kept"}}}]}}"#,
            r#"{"script_score":{"query":{"match_all":{}},"script":{"id":"kept"}}}"#,
        ] {
            let role =
                json!({"indices": [{"names": ["a"], "privileges": ["read"], "query": query}]});
            let answer = client.call("PUT", "/_security/role/r", &json::to_string(&role)).await;
            assert_eq!(answer.status, 400, "{query}: {}", answer.text());
        }
    });
}

/// A query that cannot be read was judged before its caller.
#[test]
fn who_may_not_search_has_no_query_judged() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/a", "").await;
        let user = r#"{"password":"known-to-them","roles":[]}"#;
        client.good("PUT", "/_security/user/nobody", user).await;
        // Who may look at an index may ask whether a query of it can be read.
        let role = r#"{"indices":[{"names":["a"],"privileges":["view_index_metadata"]}]}"#;
        client.good("PUT", "/_security/role/looks", role).await;
        let user = r#"{"password":"known-to-them","roles":["looks"]}"#;
        client.good("PUT", "/_security/user/looks", user).await;
        client.authorize(Some(&basic("looks", "known-to-them")));
        client.good("POST", "/a/_validate/query", r#"{"query":{"match_all":{}}}"#).await;
        client.authorize(Some(&basic("nobody", "known-to-them")));
        for query in [r#"{"query":{"nope":{}}}"#, r#"{"query":{"match_all":{}}}"#] {
            for target in ["/a/_validate/query", "/nosuch/_validate/query?explain=true"] {
                assert_eq!(client.call("POST", target, query).await.status, 403, "{target}");
            }
        }
    });
}
