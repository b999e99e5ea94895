//! Who may pass the door.

use crate::browser::basic;
use crate::place::{at, failure, with_security};

#[test]
fn strangers_are_challenged() {
    with_security(|mut client| async move {
        for target in ["/", "/a/_search?q=1", "/x/y/z/q"] {
            let response = client.call("GET", target, "").await;
            assert_eq!(
                failure(&response),
                format!(
                    "401 security_exception: missing authentication credentials for REST request \
                     [{target}]"
                )
            );
            let challenges: Vec<&str> = response
                .fields
                .iter()
                .filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"))
                .map(|(_, value)| value.as_str())
                .collect();
            assert_eq!(
                challenges,
                [
                    "Basic realm=\"security\", charset=\"UTF-8\"",
                    "Bearer realm=\"security\"",
                    "ApiKey"
                ]
            );
        }
        client.authorize(Some(&basic("elastic", "wrong")));
        assert_eq!(
            client.bad("GET", "/", "").await,
            "401 security_exception: unable to authenticate user [elastic] for REST request [/]"
        );
        client.authorize(Some("Bearer abc"));
        assert_eq!(client.call("GET", "/", "").await.status, 401);
        client.authorize(None);
        assert_eq!(client.call("OPTIONS", "/", "").await.status, 200);
    });
}

#[test]
fn elastic_may_do_everything() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("GET", "/", "").await;
        client.good("PUT", "/a", "").await;
        let me = client.good("GET", "/_security/_authenticate", "").await;
        assert_eq!(at(&me, &["username"]).as_str(), Some("elastic"));
        assert_eq!(at(&me, &["roles"]), &json::json!(["superuser"]));
    });
}

#[test]
fn a_new_password_bites_at_once() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let target = "/_security/user/elastic/_password";
        assert_eq!(
            client.bad("POST", target, r#"{"password":"x"}"#).await,
            "400 action_request_validation_exception: Validation Failed: 1: passwords must be at \
             least [6] characters long;"
        );
        assert_eq!(
            client.bad("PUT", "/_security/user/nobody/_password", r#"{"password":"abcdef"}"#).await,
            "404 action_request_validation_exception: Validation Failed: 1: user must exist in \
             order to change password;"
        );
        let done = client.call("POST", target, r#"{"password":"secret2"}"#).await;
        assert_eq!((done.status, done.text().as_str()), (200, "{}"));
        assert_eq!(client.call("GET", "/", "").await.status, 401);
        client.authorize(Some(&basic("elastic", "secret2")));
        client.good("GET", "/", "").await;
    });
}

/// A user that was made with a hash of bcrypt, as others keep it, was refused.
#[test]
fn a_hash_made_elsewhere_is_taken() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let hash = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
        let body = format!(r#"{{"password_hash":"{hash}","roles":["viewer"]}}"#);
        client.good("PUT", "/_security/user/ann", &body).await;
        for bad in [hash.replace("$05$", "$31$"), hash.replace("$2a$", "$2x$"), "U*U".to_owned()] {
            let body = format!(r#"{{"password_hash":"{bad}","roles":["viewer"]}}"#);
            let answer = client.call("PUT", "/_security/user/bob", &body).await;
            assert_eq!(answer.status, 400, "{bad} {}", failure(&answer));
        }
        client.authorize(Some(&basic("ann", "U*U")));
        let me = client.good("GET", "/_security/_authenticate", "").await;
        assert_eq!(at(&me, &["username"]).as_str(), Some("ann"));
    });
}
