//! What the server says of itself is where things are.

use crate::browser::basic;
use crate::place::{Client, at, value, with_issuer, with_oauth};

const FORM: [(&str, &str); 1] = [("Content-Type", "application/x-www-form-urlencoded")];

async fn resource(client: &mut Client, target: &str) -> Option<String> {
    let answer = client.call("GET", target, "").await;
    let told = |answer| at(&value(answer), &["resource"]).as_str().map(str::to_owned);
    if answer.status == 200 { told(&answer) } else { None }
}

/// Of an issuer with a path the document named that path as the resource, where there is no store.
#[test]
fn the_store_of_an_issuer_with_a_path_is_at_the_root() {
    with_issuer("https://h.example:9200/es", |mut client| async move {
        let root = "https://h.example:9200";
        client.authorize(None);
        let plain = "/.well-known/oauth-protected-resource";
        assert_eq!(resource(&mut client, plain).await.as_deref(), Some(root));
        // RFC 9728, 3.3: a document of another resource than the one in whose address it stands is refused.
        assert_eq!(resource(&mut client, &format!("{plain}/es")).await, None);
        let server =
            value(&client.call("GET", "/.well-known/oauth-authorization-server/es", "").await);
        let issuer = "https://h.example:9200/es";
        assert_eq!(at(&server, &["issuer"]).as_str(), Some(issuer));
        assert_eq!(at(&server, &["protected_resources"]), &json::json!([root]));
        let document = value(&client.call("GET", plain, "").await);
        assert_eq!(at(&document, &["authorization_servers"]), &json::json!([issuer]));
        // Who comes without a token is led to that document.
        let refused = client.call("GET", "/a-1/_count", "").await;
        assert_eq!(refused.status, 401);
        let led = format!("resource_metadata=\"{root}{plain}\"");
        let is_led = |(name, value): &(String, String)| {
            name.eq_ignore_ascii_case("www-authenticate") && value.contains(&led)
        };
        assert!(refused.fields.iter().any(is_led), "{:?}", refused.fields);

        client.authorize(Some(&basic("elastic", "secret")));
        let user = r#"{"password":"ann-knows-this","roles":["superuser"]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        let made = r#"{"client_name":"S","application_type":"service","service_account":"ann"}"#;
        let made = client.good("POST", "/_oauth/client", made).await;
        let text =
            |value: &json::Value, key: &str| at(value, &[key]).as_str().expect("a text").to_owned();
        let who = format!(
            "client_id={}&client_secret={}",
            text(&made, "client_id"),
            text(&made, "client_secret")
        );
        client.authorize(None);
        for (asked, status) in [
            (root, 200),
            ("https://h.example:9200/", 200),
            // A proxy may take the path away: then the store is there, too.
            (issuer, 200),
            ("https://h.example", 400),
            ("https://h.example:9200/e", 400),
            ("https://h.example:9200//", 400),
        ] {
            let body = format!("grant_type=client_credentials&{who}&resource={asked}");
            let answer = client.call_with("POST", "/es/token", &FORM, body.as_bytes()).await;
            assert_eq!(answer.status, status, "{asked}: {}", answer.text());
            if status == 200 {
                let token = text(&value(&answer), "access_token");
                let body = format!("token={token}&{who}");
                let answer = client.call_with("POST", "/introspect", &FORM, body.as_bytes()).await;
                assert_eq!(at(&value(&answer), &["aud"]).as_str(), Some(root));
                assert_eq!(at(&value(&answer), &["iss"]).as_str(), Some(issuer));
            }
        }
    });
}

#[test]
fn the_store_of_a_plain_issuer_is_the_issuer() {
    with_oauth(|mut client| async move {
        client.authorize(None);
        let told = resource(&mut client, "/.well-known/oauth-protected-resource").await;
        assert_eq!(told.as_deref(), Some(crate::place::ISSUER));
    });
}

/// Details that named the store as the server describes it were refused where the issuer has a path.
#[test]
fn details_name_the_store_as_it_is_described() {
    with_issuer("https://h.example:9200/es", |mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let made = r#"{"client_name":"A","redirect_uris":["https://app.example/cb"],"scope":"index:*:read",
            "authorization_details_types":["index_access"]}"#;
        let made = client.good("POST", "/_oauth/client", made).await;
        let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
        let who =
            format!("client_id={}&client_secret={}", text("client_id"), text("client_secret"));
        client.authorize(None);
        for (location, status) in [
            ("https://h.example:9200", 201),
            ("https://h.example:9200/", 201),
            ("https://h.example:9200/es", 201),
            ("https://h.example:9200/e", 400),
            ("https://other.example", 400),
        ] {
            let details = format!(
                r#"[{{"type":"index_access","locations":["{location}"],"indices":["a-1"],"actions":["read"]}}]"#
            );
            let details = crate::browser::escaped(&details);
            let body = format!("{who}&response_type=code&authorization_details={details}");
            let answer = client.call_with("POST", "/es/par", &FORM, body.as_bytes()).await;
            assert_eq!(answer.status, status, "{location}: {}", answer.text());
        }
    });
}
