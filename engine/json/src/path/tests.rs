//! Stories of paths and what they choose.

use proptest::prelude::*;

use super::*;

const HEALTH: &str = r#"{"took":3,"_shards":{"total":1,"failed":0},"hits":{"total":{"value":2},"hits":[{"_id":"1","_source":{"a":1}},{"_id":"2","_source":{"a":2,"b":3}}]}}"#;

fn response(paths: &[&str], json: &str) -> String {
    run(&Filter::response(paths), json)
}

fn source(includes: &[&str], excludes: &[&str], json: &str) -> String {
    run(&Filter::source(includes, excludes), json)
}

fn run(filter: &Filter, json: &str) -> String {
    let mut out = b"kept".to_vec();
    filter.apply(json.as_bytes(), &mut out).expect("good text");
    String::from_utf8(out).expect("UTF-8").strip_prefix("kept").expect("appended").to_owned()
}

#[test]
fn paths_choose_by_name() {
    assert_eq!(response(&["took"], HEALTH), r#"{"took":3}"#);
    assert_eq!(
        response(&["hits.hits._id"], HEALTH),
        r#"{"hits":{"hits":[{"_id":"1"},{"_id":"2"}]}}"#
    );
    assert_eq!(
        response(&["took", "hits.total"], HEALTH),
        r#"{"took":3,"hits":{"total":{"value":2}}}"#
    );
    assert_eq!(response(&["_sh*.f*"], HEALTH), r#"{"_shards":{"failed":0}}"#);
    assert_eq!(response(&["nothing"], HEALTH), "{}");
    assert_eq!(response(&["hits.*.b"], HEALTH), "{}");
}

#[test]
fn blanks_around_an_entry_and_dots_at_its_end_are_nothing() {
    let both = r#"{"took":3,"hits":{"total":{"value":2}}}"#;
    for entries in [
        &["took", " hits.total"][..],
        &["hits.total ", "took"],
        &["hits.total.", "\ttook.."],
        &["took", " ", "hits.total"],
    ] {
        assert_eq!(response(entries, HEALTH), both, "{entries:?}");
    }
    let rest = response(&["-hits", "-_shards"], HEALTH);
    assert_eq!(response(&[" -hits.", "- _shards"], HEALTH), rest);
    for nothing in [".", "hits..total", ".hits", "hits. total"] {
        assert_eq!(response(&[nothing], HEALTH), "{}", "{nothing}");
    }
    assert_eq!(response(&["a\\."], r#"{"a.":1,"a":2}"#), r#"{"a.":1}"#);
    assert_eq!(response(&[" "], HEALTH), HEALTH.replace(' ', ""));
}

#[test]
fn two_stars_are_one_name_or_more() {
    assert_eq!(
        response(&["**.a"], HEALTH),
        r#"{"hits":{"hits":[{"_source":{"a":1}},{"_source":{"a":2}}]}}"#
    );
    // No name is none of them.
    assert_eq!(response(&["**.took"], HEALTH), "{}");
    let text = r#"{"x":3,"o":{"x":1,"o":{"x":2}},"d":{"f":{"d":{"p":2}}}}"#;
    for (path, left) in [
        ("**.x", r#"{"o":{"x":1,"o":{"x":2}}}"#),
        ("**.o.**.x", "{}"),
        ("o.**.x", r#"{"o":{"o":{"x":2}}}"#),
        ("**.**", r#"{"o":{"x":1,"o":{"x":2}},"d":{"f":{"d":{"p":2}}}}"#),
        ("**.**.x", r#"{"o":{"o":{"x":2}}}"#),
        ("*.**.x", r#"{"o":{"o":{"x":2}}}"#),
        ("**.*.*.p", r#"{"d":{"f":{"d":{"p":2}}}}"#),
        ("**.d.**", r#"{"d":{"f":{"d":{"p":2}}}}"#),
        ("d.**.f", "{}"),
        ("-**.x", r#"{"x":3,"d":{"f":{"d":{"p":2}}}}"#),
        ("-**.*", r#"{"x":3}"#),
    ] {
        assert_eq!(response(&[path], text), left, "{path}");
    }
    assert_eq!(response(&["hits.**.b"], HEALTH), r#"{"hits":{"hits":[{"_source":{"b":3}}]}}"#);
}

#[test]
fn excludes_come_first() {
    assert_eq!(
        response(&["-hits.hits", "-_shards"], HEALTH),
        r#"{"took":3,"hits":{"total":{"value":2}}}"#
    );
    assert_eq!(response(&["hits.total.value", "-hits.total.value"], HEALTH), "{}");
    assert_eq!(response(&["-_source"], r#"[{"_source":1,"x":{}}]"#), r#"[{"x":{}}]"#);
}

/// `{}` was left where all was excluded.
#[test]
fn what_excludes_emptied_goes_from_a_response_and_what_was_empty_stays() {
    let text = concat!(
        r#"{"l":[{"p":1,"q":2},{"p":3}],"e":{},"el":[],"ll":[[1,2],[]],"d":{"f":{"p":1}},"#,
        r#""lp":{"p":[1,2]},"mixed":[1,{"p":2},[{"p":3}],{"p":1,"r":[]}]}"#
    );
    let empty = r#""e":{},"el":[],"ll":[[1,2],[]]"#;
    for (paths, left) in [
        (&["-**.p"][..], format!(r#"{{"l":[{{"q":2}}],{empty},"mixed":[1,{{"r":[]}}]}}"#)),
        (&["**", "-**.p"], format!(r#"{{"l":[{{"q":2}}],{empty},"mixed":[1,{{"r":[]}}]}}"#)),
        (&["d", "-d.f.p"], "{}".to_owned()),
        (&["**.f", "-**.p"], "{}".to_owned()),
        (&["l", "e", "-l.*"], r#"{"e":{}}"#.to_owned()),
        (&["e", "el", "-**.x"], r#"{"e":{},"el":[]}"#.to_owned()),
        (&["mixed", "-**.p", "-**.r"], r#"{"mixed":[1]}"#.to_owned()),
        (&["-*"], "{}".to_owned()),
    ] {
        assert_eq!(response(paths, text), left, "{paths:?}");
    }
    assert_eq!(response(&["hits.total", "-hits.total.value"], HEALTH), "{}");
    // A list at the root is kept, as an object is.
    assert_eq!(response(&["-p"], r#"[{"p":1},{}]"#), "[{}]");
    assert_eq!(response(&["-p"], r#"[{"p":1}]"#), "[]");
    // Of a source, the object stays.
    assert_eq!(source(&[], &["d.f.p"], r#"{"d":{"f":{"p":1}}}"#), r#"{"d":{"f":{}}}"#);
}

#[test]
fn lists_at_the_root_are_transparent() {
    assert_eq!(response(&["index"], r#"[{"index":"a","x":1},{"x":2}]"#), r#"[{"index":"a"}]"#);
}

#[test]
fn sources_are_chosen() {
    let doc =
        r#"{ "user" : {"name":"n","id": 7}, "a.b": 1.50, "tags":[{"x":1},{"y":2},3], "e":{} }"#;
    assert_eq!(source(&["user"], &[], doc), r#"{"user":{"name":"n","id":7}}"#);
    assert_eq!(source(&["user.*"], &["user.id"], doc), r#"{"user":{"name":"n"}}"#);
    assert_eq!(source(&["a"], &[], doc), r#"{"a.b":1.50}"#);
    assert_eq!(source(&["a.b"], &[], doc), r#"{"a.b":1.50}"#);
    assert_eq!(source(&["tags.x"], &[], doc), r#"{"tags":[{"x":1}]}"#);
    assert_eq!(source(&["e"], &[], doc), r#"{"e":{}}"#);
    assert_eq!(source(&["e.f"], &[], doc), "{}");
    assert_eq!(source(&[], &["user", "a.b", "tags"], doc), r#"{"e":{}}"#);
    assert_eq!(source(&[], &["tags.x", "user", "a", "e"], doc), r#"{"tags":[{},{"y":2},3]}"#);
}

#[test]
fn a_star_in_an_exclude_reads_across_dots() {
    let doc = r#"{"a":{"b":{"description":1,"x":2},"description":3},"description":4}"#;
    assert_eq!(source(&[], &["*.description"], doc), r#"{"a":{"b":{"x":2}},"description":4}"#);
    assert_eq!(source(&["a.*"], &["*.description"], doc), r#"{"a":{"b":{"x":2}}}"#);
    assert_eq!(source(&["*.x"], &["q*"], doc), r#"{"a":{"b":{"x":2}}}"#);
    assert_eq!(source(&[], &["a*"], doc), r#"{"description":4}"#);
    assert_eq!(source(&[], &["*"], doc), "{}");
}

#[test]
fn globs_match_like_a_shell_star() {
    for (pattern, text, yes) in [
        ("*", "", true),
        ("a*b", "ab", true),
        ("a*b", "axxb", true),
        ("a*b", "axxbc", false),
        ("*a*", "bab", true),
        ("a", "b", false),
        ("", "", true),
        ("*ab*ab", "abab", true),
        ("*ab*ab", "ab", false),
    ] {
        assert_eq!(glob(pattern.as_bytes(), text.as_bytes()), yes, "{pattern} {text}");
    }
}

#[test]
fn bad_text_leaves_the_output_alone() {
    let mut out = b"x".to_vec();
    assert!(Filter::response(&["a"]).apply(b"{\"a\":1", &mut out).is_err());
    assert_eq!(out, b"x");
}

#[test]
fn wildcards_know_one_character_and_escapes() {
    for (pattern, text, fits) in [
        ("a?c", "abc", true),
        ("a?c", "ac", false),
        ("a?c", "aéc", true),
        ("*?", "", false),
        ("*?", "x", true),
        ("*a?", "aaab", true),
        ("*a?", "aba", false),
        ("?*b*?", "xbby", true),
        (r"\?", "?", true),
        (r"\?", "x", false),
        (r"a\**", "a*b", true),
        (r"a\**", "ab", false),
        (r"a\", r"a\", true),
        ("", "", true),
        ("?", "", false),
    ] {
        assert_eq!(wildcard(pattern, text), fits, "{pattern} {text}");
    }
}

/// A path of three hundred stars took minutes of a core: each place was taken up again by each before it.
#[test]
fn stars_in_a_row_have_one_place_and_places_are_looked_at_once() {
    assert_eq!(names("**.*.**.b.*.*.c.*.**"), ["*", "*", "**", "b", "*", "*", "c", "*", "**"]);
    let stars = format!("{}b", "**.".repeat(300));
    let patterns = Patterns::by_name(&[&stars]);
    let mut state = patterns.start();
    for at in 0..400 {
        state = patterns.step(&state, "a", false);
        let State::Below(places) = &state else { panic!("{state:?}") };
        assert!(places.len() <= if at < 299 { 1 } else { 2 }, "{places:?}");
    }
    assert_eq!(patterns.step(&state, "b", false), State::All);
    assert_eq!(source(&[], &["***b"], HEALTH), source(&[], &["*b"], HEALTH));
    let many: Vec<String> = (0..100).map(|n| format!("**.a{}.**.b", n % 3)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let patterns = Patterns::by_name(&many);
    let mut state = patterns.start();
    for at in 0..50 {
        state = patterns.step(&state, ["a1", "x", "a2"][at % 3], false);
        let State::Below(places) = &state else { panic!("{state:?}") };
        assert!(places.is_sorted() && places.windows(2).all(|two| two[0] != two[1]));
    }
}

/// Patterns that are matched together answer as each alone; their places cross words of bits.
#[test]
fn many_patterns_are_matched_as_one_by_one() {
    let patterns: Vec<String> = (0..400)
        .map(|n| format!("{}c{n}", ["*a*b*a*", "a**b", "", "*", "x*y*"][n % 5]))
        .chain(["*".into(), String::new(), "ab*".into()])
        .collect();
    let globs = Globs::new(patterns.iter().map(String::as_bytes));
    for text in ["", "ab", "abac0", "xabbac0", "c2", "zc3", "a1bc1", "abc1", "xyc399", "xqyqc4"] {
        let mut places = globs.none();
        (0..globs.len()).for_each(|pattern| globs.enter(pattern, &mut places));
        text.bytes().for_each(|byte| globs.advance(&mut places, byte));
        for (at, pattern) in patterns.iter().enumerate() {
            let alone = glob(pattern.as_bytes(), text.as_bytes());
            assert_eq!(globs.is_matched(at, &places), alone, "{pattern} {text}");
        }
        let alone = |pattern: &String| glob(pattern.as_bytes(), text.as_bytes());
        let all: Vec<usize> = (0..patterns.len()).filter(|at| alone(&patterns[*at])).collect();
        assert_eq!(globs.matches(text.as_bytes()), all, "{text}");
    }
}

/// Each byte has a place for its list, the star alone none.
#[test]
fn patterns_may_hold_every_byte() {
    let pattern: Vec<u8> = (0..=255).collect();
    let globs = Globs::new([&pattern[..], b"*"].into_iter());
    let text: Vec<u8> = pattern.iter().copied().filter(|byte| *byte != b'*').collect();
    assert_eq!(globs.matches(&text), [0, 1]);
    assert_eq!(globs.matches(&text[1..]), [1]);
}

/// Two hundred patterns of many stars, excluded from one document of nine thousand fields, held a core
/// for thirteen seconds, five thousand that were included for five.
#[test]
fn many_stars_in_many_fields_are_answered() {
    let fields: Vec<String> = (0..2_000).map(|n| format!("\"abababab{n}\":{n}")).collect();
    let doc = format!("{{{}}}", fields.join(","));
    let patterns: Vec<String> = (0..200).map(|n| format!("*a*b*a*c{n}")).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    assert_eq!(source(&[], &patterns, &doc), doc);
    assert_eq!(source(&patterns, &[], &doc), "{}");
}

proptest! {
    /// The quick look at where both begin tells no other truth.
    #[test]
    fn a_pattern_fits_what_its_automaton_fits(pattern in "[ab*?\\\\é]{0,6}", text in "[ab*?\\\\é]{0,6}") {
        prop_assert_eq!(wildcard(&pattern, &text), Wildcard::new(&pattern, false).matches(&text));
    }
}
