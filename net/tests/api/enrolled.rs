//! A token of `create-enrollment-token` lets one in, once.

use env::{Disk, Env};
use json::Value;
use sim::Sim;

use crate::browser::basic;
use crate::place::{Client, at, at_once, value, with_oauth_clients_on, with_oauth_on};

const CHAIN: &str = include_str!("chain.pem");

/// What the node needs to let others in.
async fn certificates(env: &impl Env) {
    let folder = std::path::Path::new("/data/certs");
    env.disk().create_dir(folder).await.expect("made");
    for file in ["http_ca.crt", "http_ca.key", "transport_ca.crt", "transport.key", "transport.crt"]
    {
        let text = CHAIN.as_bytes().to_vec().into();
        env.disk().save(&folder.join(file), text).await.expect("kept");
    }
}

/// The key of a token for a kind of companion, as the command makes it; its id, and what it sends.
async fn key(client: &mut Client, cluster: &str) -> (String, String) {
    use base64::Engine as _;
    client.authorize(Some(&basic("elastic", "secret")));
    let body = format!(
        r#"{{"name":"enrollment_token_API_key_1","expiration":"30m","role_descriptors":
            {{"create_enrollment_token":{{"cluster":[{cluster}]}}}}}}"#
    );
    let made = client.good("POST", "/_security/api_key", &body).await;
    let text = |name: &str| at(&made, &[name]).as_str().expect("a text").to_owned();
    let sent = format!("{}:{}", text("id"), text("api_key"));
    let sent = base64::engine::general_purpose::STANDARD.encode(sent);
    (text("id"), format!("ApiKey {sent}"))
}

async fn is_invalid(client: &mut Client, id: &str) -> bool {
    client.authorize(Some(&basic("elastic", "secret")));
    let told = client.good("GET", &format!("/_security/api_key?id={id}"), "").await;
    let keys = at(&told, &["api_keys"]).as_array().expect("keys");
    at(&keys[0], &["invalidated"]) == &Value::Bool(true)
}

const ENROLL: &str = "cluster:admin/xpack/security/enroll/";

/// Whoever saw a token, in a terminal or a mail, could use it for half an hour after it was used.
#[test]
fn a_token_is_used_once() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        certificates(&env).await;
        for (kind, told) in [("kibana", "http_ca"), ("node", "transport_key")] {
            let (id, sent) = key(&mut client, &format!("\"{ENROLL}{kind}\"")).await;
            let target = format!("/_security/enroll/{kind}");
            client.authorize(Some(&sent));
            let answer = client.good("GET", &target, "").await;
            assert!(answer.get(told).is_some(), "{kind}");
            assert_eq!(client.call("GET", &target, "").await.status, 401, "{kind}");
            assert!(is_invalid(&mut client, &id).await, "{kind}");
            if kind == "kibana" {
                let token = at(&answer, &["token", "value"]).as_str().expect("a token");
                client.authorize(Some(&format!("Bearer {token}")));
                let who = client.good("GET", "/_security/_authenticate", "").await;
                assert_eq!(at(&who, &["username"]).as_str(), Some("elastic/kibana"));
            }
        }
    });
}

/// What cannot be given does not cost the token, and a credential that may do more ends with nothing.
#[test]
fn what_is_no_token_or_gets_nothing_stays() {
    let sim = Sim::new(1);
    let env = sim.env();
    with_oauth_on(&sim, |mut client| async move {
        let (id, sent) = key(&mut client, &format!("\"{ENROLL}node\"")).await;
        client.authorize(Some(&sent));
        assert_eq!(client.call("GET", "/_security/enroll/node", "").await.status, 400);
        // Another path than its own is none of its uses.
        assert_eq!(client.call("GET", "/_security/enroll/kibana", "").await.status, 403);
        assert!(!is_invalid(&mut client, &id).await);
        certificates(&env).await;
        client.authorize(Some(&sent));
        client.good("GET", "/_security/enroll/node", "").await;
        let both = format!("\"{ENROLL}node\",\"{ENROLL}kibana\"");
        let (id, sent) = key(&mut client, &both).await;
        for credential in [sent, basic("elastic", "secret")] {
            for kind in ["node", "kibana", "node"] {
                client.authorize(Some(&credential));
                client.good("GET", &format!("/_security/enroll/{kind}"), "").await;
            }
        }
        assert!(!is_invalid(&mut client, &id).await);
    });
}

/// Of several who use it at once, on different cores, one is let in.
#[test]
fn of_uses_at_once_one_is_answered() {
    for kind in ["kibana", "node"] {
        let sim = Sim::new(1);
        let env = sim.env();
        with_oauth_clients_on(&sim, 4, |mut clients| async move {
            certificates(&env).await;
            let (_, sent) = key(&mut clients[0], &format!("\"{ENROLL}{kind}\"")).await;
            let target = format!("/_security/enroll/{kind}");
            clients.iter_mut().for_each(|client| client.authorize(Some(&sent)));
            let answers = at_once(&mut clients, "GET", &target, |_| String::new()).await;
            let mut told: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            told.sort_unstable();
            assert_eq!(told, [200, 401, 401, 401], "{kind}");
            clients[0].authorize(Some(&basic("elastic", "secret")));
            let target = "/_security/service/elastic/kibana/credential";
            let tokens = value(&clients[0].call("GET", target, "").await);
            let count = usize::from(kind == "kibana");
            assert_eq!(at(&tokens, &["count"]).as_u64(), Some(count as u64));
        });
    }
}
