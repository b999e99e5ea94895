//! The grammar of `query_string`, and what it refuses.

use super::*;

/// A query in short: operators, fields, kinds.
fn show(items: &[Item]) -> String {
    let mut out = Vec::new();
    for item in items {
        let mut text = String::new();
        match item.conjunction {
            Conjunction::None => {}
            Conjunction::And => text.push_str("AND "),
            Conjunction::Or => text.push_str("OR "),
        }
        match item.modifier {
            Modifier::None => {}
            Modifier::Not => text.push('-'),
            Modifier::Required => text.push('+'),
        }
        if let Some(field) = &item.clause.field {
            text.push_str(field);
            text.push(':');
        }
        text.push_str(&match &item.clause.kind {
            Kind::Group(items) => format!("({})", show(items)),
            Kind::Word(word) => word.clone(),
            Kind::Words(words) => format!("<{words}>"),
            Kind::Quoted(words, slop) => format!("'{words}'{slop:?}"),
            Kind::Fuzzy(word, edits) => format!("{word}~{edits}"),
            Kind::Prefix(word) => format!("{word}…"),
            Kind::Wildcard(shape) => format!("shape {shape}"),
            Kind::Regexp(expression) => format!("/{expression}/"),
            Kind::Range { from, to, includes } => format!("{from:?} to {to:?} {includes:?}"),
        });
        if let Some(boost) = item.clause.boost {
            text.push_str(&format!("^{boost}"));
        }
        out.push(text);
    }
    out.join(" ")
}

#[test]
fn queries_are_read() {
    for (text, expected) in [
        ("quick brown fox", "<quick brown fox>"),
        ("quick", "quick"),
        ("quick brown^2", "quick brown^2"),
        ("a b title:c", "<a b> title:c"),
        ("a OR b AND c", "a OR b AND c"),
        ("+a -b !c NOT d", "+a -b -c -d"),
        ("title:(a OR b)^3", "title:(title:a OR title:b)^3"),
        ("\"a b\"~2^1.5 c", "'a b'Some(\"2\")^1.5 c"),
        ("word~ other~1", "word~ other~1"),
        ("te?m* ter* *", "shape te?m* ter… shape *"),
        ("/[fl]ox(es)?/", "/[fl]ox(es)?/"),
        (
            "n:[1 TO 5} d:{* TO \"x y\"]",
            "n:Some(\"1\") to Some(\"5\") (true, false) d:None to Some(\"x y\") (false, true)",
        ),
        ("age:>=10", "age:>=10"),
        ("*:*", "*:shape *"),
        ("a\\:b c\\ d", "<a:b c d>"),
        ("f.\\*:x", "f.*:x"),
        ("a && b || c", "a AND b OR c"),
        ("wi-fi", "wi-fi"),
        ("a - b", "a - b"),
        ("\\u0041x", "Ax"),
    ] {
        let found = parse(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        assert_eq!(show(&found), expected, "{text}");
    }
}

#[test]
fn faults_name_the_place() {
    for (text, begin) in [
        ("(a", "Encountered \"<EOF>\" at line 1, column 2.\nWas expecting one of:"),
        ("a AND", "Encountered \"<EOF>\" at line 1, column 5."),
        ("a)", "Encountered \" \")\" \") \"\" at line 1, column 1."),
        ("\"abc", "Lexical error at line 1, column 5.  Encountered: <EOF>"),
        ("[a TO", "Encountered \"<EOF>\""),
        ("a^x", "Lexical error at line 1, column 3."),
    ] {
        let Fault(reason) = parse(text).expect_err(text);
        assert!(reason.starts_with(begin), "{text}: {reason}");
    }
    assert!(parse(&"(".repeat(10_000)).is_err());
}

#[test]
fn what_is_escaped_is_one_text() {
    let text = "a (b) AND \"c\" ~* /x/ \\";
    assert!(parse(&escape(text)).is_ok());
}
