//! An alias that is rolled over while others change it.

use http::client::Response;

use crate::place::{Client, at, failure, value, with_clients};

/// Each of these calls by a client of its own, at the same time.
async fn all_at_once(clients: &mut [Client], calls: &[(&str, &str, &str)]) -> Vec<Response> {
    let calls = clients.iter_mut().zip(calls).map(|(client, (method, target, body))| {
        Box::pin(async move { client.call(method, target, body).await })
    });
    env::join_all(calls.collect()).await
}

/// The indices that have the alias, and whether each takes its writes.
async fn behind(client: &mut Client) -> Vec<(String, Option<bool>)> {
    let told = value(&client.call("GET", "/*/_alias/w", "").await);
    let indices = told.as_object().into_iter().flat_map(|indices| indices.iter());
    let of = |index: &json::Value| at(index, &["aliases", "w", "is_write_index"]).as_bool();
    let said = indices.filter(|(_, said)| said.at(&["aliases", "w"]).is_some());
    said.map(|(name, said)| (name.to_owned(), of(said))).collect()
}

const GONE: &str = "400 illegal_argument_exception: rollover target [w] does not exist";

/// Both were answered with 200, and the alias was back on the old index; or the rollover with 500, or with the
/// 404 of an id.
#[test]
fn a_rollover_is_judged_by_what_others_left() {
    let first = r#"{"aliases":{"w":{"is_write_index":true}}}"#;
    let taken = r#"{"actions":[{"remove":{"index":"w-000001","alias":"w"}}]}"#;
    let moved = r#"{"actions":[{"add":{"index":"w-000001","alias":"w","is_write_index":false}},
        {"add":{"index":"x-000004","alias":"w","is_write_index":true}}]}"#;
    for seed in 0..8 {
        for other in [
            ("POST", "/_aliases", taken),
            ("POST", "/_aliases", moved),
            ("DELETE", "/w-000001", ""),
        ] {
            with_clients(seed, 2, |mut clients| async move {
                clients[0].good("PUT", "/w-000001", first).await;
                clients[0].good("PUT", "/x-000004", "").await;
                let calls = [("POST", "/w/_rollover", ""), other];
                let told = all_at_once(&mut clients, &calls).await;
                let writers: Vec<String> = behind(&mut clients[0])
                    .await
                    .into_iter()
                    .filter(|(_, flag)| *flag == Some(true))
                    .map(|(name, _)| name)
                    .collect();
                if told[0].status == 200 {
                    let rolled = value(&told[0]);
                    let new = at(&rolled, &["new_index"]).as_str().expect("a name");
                    assert_eq!(writers, [new], "seed {seed}, {other:?}");
                } else {
                    assert_eq!(failure(&told[0]), GONE, "seed {seed}, {other:?}");
                    assert_eq!(told[1].status, 200, "seed {seed}, {other:?}");
                    assert!(writers.is_empty(), "seed {seed}, {other:?}: {writers:?}");
                }
            });
        }
    }
}

/// Whether there is such a target was told first.
#[test]
fn conditions_that_can_never_hold_are_told_before_the_target() {
    with_clients(1, 1, |mut clients| async move {
        let told = "400 action_request_validation_exception: Validation Failed: 1: at least one max_* \
                    rollover condition must be set when using min_* conditions;";
        let client = &mut clients[0];
        client.good("PUT", "/a", "").await;
        let least = r#"{"conditions":{"min_docs":1,"min_age":"1d"}}"#;
        for target in ["w", "a", "w/_rollover/NO"] {
            let path = match target.split_once('/') {
                None => format!("/{target}/_rollover"),
                Some(_) => format!("/{target}"),
            };
            assert_eq!(client.bad("POST", &path, least).await, told, "{path}");
        }
        let both = r#"{"conditions":{"min_docs":1,"max_docs":5}}"#;
        assert_eq!(client.bad("POST", "/w/_rollover", both).await, GONE);
    });
}

/// What an alias says goes on with it, where Elasticsearch forgets it.
#[test]
fn what_an_alias_says_is_kept_on_both_sides_of_a_rollover() {
    with_clients(1, 1, |mut clients| async move {
        let client = &mut clients[0];
        let says = r#""filter":{"term":{"own":true}},"index_routing":"1","search_routing":"1,2""#;
        for (alias, write) in [("w", r#","is_write_index":true"#), ("v", "")] {
            let body = format!(r#"{{"aliases":{{"{alias}":{{{says}{write}}}}}}}"#);
            client.good("PUT", &format!("/{alias}-000001"), &body).await;
            client.good("POST", &format!("/{alias}/_rollover"), "").await;
        }
        let said: json::Value = json::parse(format!("{{{says}}}").as_bytes()).expect("an alias");
        for (index, alias, write) in
            [("w-000001", "w", Some(false)), ("w-000002", "w", Some(true)), ("v-000002", "v", None)]
        {
            let told = client.good("GET", &format!("/{index}/_alias"), "").await;
            let mut told = at(&told, &[index, "aliases", alias]).clone();
            let flag = told.as_object_mut().and_then(|alias| alias.remove("is_write_index"));
            assert_eq!(flag.and_then(|flag| flag.as_bool()), write, "{index}");
            assert_eq!(told, said, "{index}");
        }
        let told = client.good("GET", "/v-000001/_alias", "").await;
        assert_eq!(at(&told, &["v-000001", "aliases"]), &json::json!({}));
    });
}
