//! Settings of an index that are taken back by a pattern.

use json::Value;

use crate::place::{Client, at, with_node};

/// The settings of `a` that the stories set, by their whole names.
async fn set(client: &mut Client) -> Vec<String> {
    let told = client.good("GET", "/a/_settings?flat_settings", "").await;
    let all = at(&told, &["a", "settings"]).as_object().expect("settings");
    let own = |name: &&str| name.ends_with(".x") || name.contains("refresh");
    all.keys().filter(own).map(str::to_owned).collect()
}

const REFRESH: &str = "index.refresh_interval";
const REQUIRE: &str = "index.routing.allocation.require.x";

/// A pattern without `index.` before it took back what it does not match in Elasticsearch; one with a star
/// inside was taken for a pattern, and one with a value for an unknown name.
#[test]
fn a_pattern_takes_back_what_it_matches() {
    with_node(|mut client| async move {
        let all = format!(r#"{{"{REFRESH}":"3s","{REQUIRE}":"y"}}"#);
        client.good("PUT", "/a", &format!(r#"{{"settings":{all}}}"#)).await;
        for (body, left) in [
            (r#"{"index.routing.*":null}"#, &[REFRESH][..]),
            (r#"{"index":{"routing.*":null}}"#, &[REFRESH]),
            (r#"{"index":{"routing":{"*":null}}}"#, &[REFRESH]),
            (r#"{"index.*":null}"#, &[]),
            (r#"{"*":null}"#, &[]),
            (r#"{"***":null}"#, &[]),
            (r#"{"in*":null}"#, &[]),
            (r#"{"*.allocation.*":null}"#, &[REFRESH]),
            (r#"{"*.refresh*":null}"#, &[REQUIRE]),
            (r#"{"*dex.ref*":null}"#, &[REQUIRE]),
            (r#"{"index.refresh_interval":null}"#, &[REQUIRE]),
            // No whole name begins so.
            (r#"{"routing.*":null}"#, &[REFRESH, REQUIRE]),
            (r#"{"routing":{"*":null}}"#, &[REFRESH, REQUIRE]),
            (r#"{"index.nothing.*":null}"#, &[REFRESH, REQUIRE]),
        ] {
            client.good("PUT", "/a/_settings", &all).await;
            let done = client.good("PUT", "/a/_settings", body).await;
            assert_eq!(at(&done, &["acknowledged"]), &Value::Bool(true), "{body}");
            assert_eq!(set(&mut client).await, left, "{body}");
        }
        client.good("PUT", "/a/_settings", &all).await;
        let unknown = |name: &str| {
            format!("400 illegal_argument_exception: a setting [{name}], not recognized")
        };
        for (body, told) in [
            (r#"{"index.*.require.x":null}"#, unknown("index.*.require.x")),
            (r#"{"rout*.require.x":null}"#, unknown("index.rout*.require.x")),
            (r#"{"index.routing.*":"y"}"#, unknown("index.routing.*")),
            (r#"{"routing.*":"y"}"#, unknown("routing.*")),
            (r#"{"index.*.x":null,"index.refresh_interval":"1s"}"#, unknown("index.*.x")),
        ] {
            assert_eq!(client.bad("PUT", "/a/_settings", body).await, told, "{body}");
            assert_eq!(set(&mut client).await, [REFRESH, REQUIRE], "{body}");
        }
        let told =
            client.bad("PUT", "/a/_settings", r#"{"index.*.x":null,"index.nope":"1"}"#).await;
        assert!(told.contains("unknown setting [index.nope]"), "{told}");
        let told = client
            .bad("PUT", "/a/_settings", r#"{"index.*.x":null,"index.number_of_shards":2}"#)
            .await;
        assert!(told.contains("Can't update non dynamic settings"), "{told}");
    });
}
