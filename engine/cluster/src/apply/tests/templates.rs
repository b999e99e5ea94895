//! What templates make of new indices.

use super::*;

#[test]
fn templates_are_worked_into_new_indices() {
    let component = Command::PutComponentTemplate {
        name: "c".into(),
        template: ComponentTemplate::parse(&json(
            r#"{"template":{"mappings":{"properties":{"z":{"type":"keyword"}}},"aliases":{"al":{}}}}"#,
        ))
        .expect("reads"),
        create: true,
    };
    let state = done(&State::default(), &component);
    assert!(refused(&state, &component).to_string().ends_with("[c] already exists"));
    let put = |body: &str| Command::PutIndexTemplate {
        name: "t".into(),
        template: IndexTemplate::parse(&json(body)).expect("reads"),
        create: false,
    };
    let missing = put(r#"{"index_patterns":["x*"],"composed_of":["nope"]}"#);
    assert!(matches!(refused(&state, &missing), Error::Template { .. }));
    let state = done(
        &state,
        &put(
            r#"{"index_patterns":["x*"],"composed_of":["c"],"template":{"settings":{"number_of_shards":3}}}"#,
        ),
    );
    let legacy = Command::PutLegacyTemplate {
        name: "old".into(),
        template: LegacyTemplate::parse(&json(
            r#"{"index_patterns":["*"],"settings":{"number_of_shards":7},"aliases":{"{index}-al":{}}}"#,
        ))
        .expect("reads"),
        create: false,
    };
    let state = done(&state, &legacy);
    let state =
        done(&state, &create_command("x1", 1, r#"{"properties":{"n":{"type":"long"}}}"#, "{}"));
    let index = state.index("x1").expect("made");
    assert_eq!(index.settings.shard_count(), 3, "the composable template stands alone");
    assert!(index.mapping.field("z").is_some());
    assert!(index.mapping.field("n").is_some());
    assert!(index.aliases.contains_key("al"));
    let state = done(&state, &create_command("y1", 2, "{}", "{}"));
    let index = state.index("y1").expect("made");
    assert_eq!(index.settings.shard_count(), 7);
    assert!(index.aliases.contains_key("y1-al"));
    let delete = |kind, name: &str| Command::DeleteTemplates { kind, names: vec![name.into()] };
    let error = refused(&state, &delete(TemplateKind::Component, "c"));
    assert!(error.to_string().ends_with("still in use by index templates [t]"), "{error}");
    let state = done(&state, &delete(TemplateKind::Index, "t"));
    let state = done(&state, &delete(TemplateKind::Component, "c"));
    assert!(matches!(
        refused(&state, &delete(TemplateKind::Legacy, "gone")),
        Error::TemplateMissing { .. }
    ));
}

#[test]
fn a_composed_command_means_the_same_whatever_the_templates_are_then() {
    let put = |shards: u32| {
        Command::PutIndexTemplate {
        name: "t".into(),
        template: IndexTemplate::parse(&json(&format!(
            r#"{{"index_patterns":["x*"],"template":{{"settings":{{"number_of_shards":{shards}}}}}}}"#
        )))
        .expect("reads"),
        create: false,
    }
    };
    let state = done(&State::default(), &put(2));
    let composed = compose(&state, create_command("x", 1, "{}", "{}")).expect("composes");
    let state = done(&done(&state, &put(5)), &composed);
    assert_eq!(state.index("x").map(|index| index.settings.shard_count()), Some(2));
}
