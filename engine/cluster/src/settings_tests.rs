//! Stories of settings.

use super::*;

fn parse(text: &str) -> Result<IndexSettings> {
    IndexSettings::parse(&json::parse(text.as_bytes()).expect("valid JSON"))
}

fn refusal(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

#[test]
fn nested_dotted_and_prefixed_names_mean_the_same() {
    let one = parse(r#"{"number_of_shards":3}"#).expect("reads");
    assert_eq!(one, parse(r#"{"index":{"number_of_shards":"3"}}"#).expect("reads"));
    assert_eq!(one, parse(r#"{"index.number_of_shards":3}"#).expect("reads"));
    assert_eq!(one.shard_count(), 3);
    assert_eq!(json::to_string(&one.to_nested()), r#"{"index":{"number_of_shards":"3"}}"#);
    assert_eq!(IndexSettings::from_flat(&one.to_flat()), one);
}

#[test]
fn wrong_values_are_named_in_elasticsearchs_words() {
    assert_eq!(
        refusal(r#"{"number_of_shards":0}"#),
        "Failed to parse value [0] for setting [index.number_of_shards] must be >= 1"
    );
    assert_eq!(
        refusal(r#"{"number_of_shards":1025}"#),
        "Failed to parse value [1025] for setting [index.number_of_shards] must be <= 1024"
    );
    assert_eq!(
        refusal(r#"{"number_of_replicas":"x"}"#),
        "Failed to parse value [x] for setting [index.number_of_replicas]"
    );
    assert_eq!(
        refusal(r#"{"refresh_interval":"1x"}"#),
        "failed to parse setting [index.refresh_interval] with value [1x] as a time value: unit is missing or unrecognized"
    );
    assert_eq!(
        refusal(r#"{"number_of_shard":1}"#),
        "unknown setting [index.number_of_shard] did you mean [index.number_of_shards]?"
    );
    assert_eq!(
        refusal(r#"{"foo":1}"#),
        "unknown setting [index.foo] please check that any required plugins are installed, or check the breaking changes documentation for removed settings"
    );
    assert_eq!(
        refusal(r#"{"hidden":"yes"}"#),
        "Failed to parse value [yes] as only [true] or [false] are allowed."
    );
}

#[test]
fn the_default_of_routing_shards_is_elasticsearchs() {
    for (shards, routing) in [(1, 1024), (2, 1024), (3, 768), (5, 640), (7, 896), (33, 528 * 2)] {
        let settings = parse(&format!(r#"{{"number_of_shards":{shards}}}"#)).expect("reads");
        // 33: ceil(log2) is 6, so 33 * 2^4 = 528.
        let expected = if shards == 33 { 528 } else { routing };
        assert_eq!(settings.routing_shard_count(), expected, "{shards}");
    }
}

#[test]
fn only_dynamic_settings_change_on_an_open_index() {
    let settings = parse(r#"{"number_of_shards":1}"#).expect("reads");
    let update = json::parse(br#"{"number_of_shards":2}"#).expect("valid JSON");
    let error = settings.update(&update, false, true, "i/uuid").expect_err("final");
    assert_eq!(
        error.to_string(),
        "Can't update non dynamic settings [[index.number_of_shards]] for open indices [[i/uuid]]"
    );
    let error = settings.update(&update, false, false, "i/uuid").expect_err("final");
    assert_eq!(error.to_string(), "final i setting [index.number_of_shards], not updateable");

    let update = json::parse(br#"{"refresh_interval":"5s"}"#).expect("valid JSON");
    let settings = settings.update(&update, false, true, "i/uuid").expect("dynamic");
    assert_eq!(settings.time("index.refresh_interval"), Some(Some(Duration::from_secs(5))));
    let back = json::parse(br#"{"refresh_interval":null}"#).expect("valid JSON");
    let settings = settings.update(&back, false, true, "i/uuid").expect("dynamic");
    assert_eq!(settings.time("index.refresh_interval"), None);
}
