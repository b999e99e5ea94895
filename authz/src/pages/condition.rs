//! A filter on documents in plain words, for whoever decides on it and is no programmer.
//!
//! What cannot be said in words that mean exactly the same (scores, words of texts, scripts, shapes) is not
//! said at all: the page then shows the filter as it came. So it is with values and fields that could be
//! taken for words of ours ([`quoted`](super::quoted)), and with values of fields that are not known to hold
//! values whole: `customer` is `acme` lets through "acme holdings, all secrets" where the field is a text.
//!
//! So it is in each language: a filter is told or not as its own marks and words have it.
//!
//! Which fields those are, only the mappings know; whoever asks brings it ([`Whole`]).

use json::Value;

use super::kept::{self, Compared, Exact, Kept};
use super::language::{Language, Texts};
use super::quoted;
use super::words::{AND, OR, list};
use crate::oauth::details::is_one_a_side;

/// Filters nest so deep at most.
const DEPTH_MAX: usize = 4;

/// Longer sentences help nobody.
const BYTES_MAX: usize = 600;

/// Longer lists of values, neither.
const VALUES_MAX: usize = 10;

/// What a filter lets through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Every document.
    All,
    /// Documents that are as these words say, after "where", or in German after "gilt:".
    Where(String),
}

/// How the field of this name keeps values, wherever the filter looks.
pub type Whole<'a> = &'a dyn Fn(&str) -> Kept;

/// Where a clause stands.
#[derive(Clone, Copy)]
struct Where {
    /// It is told in this language.
    language: Language,
    /// So deep.
    depth: usize,
}

/// What a filter lets through, in words; `None` where words do not say it.
pub fn in_words(language: Language, query: &Value, whole: Whole<'_>) -> Option<Told> {
    match clause(query, whole, Where { language, depth: 0 })? {
        Clause::All => Some(Told::All),
        Clause::Words(words, _) => (words.len() <= BYTES_MAX).then_some(Told::Where(words)),
    }
}

/// A part of a filter.
enum Clause {
    /// It leaves nothing out.
    All,
    /// It is said so.
    Words(String, Joint),
}

/// What holds the words of a clause together: whether they need brackets among others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// Nothing: they are one.
    None,
    /// Each must be.
    And,
    /// One must be.
    Or,
    /// Several values of one field.
    Values,
}

/// Clauses side by side.
fn joined(language: Language, mut clauses: Vec<(String, Joint)>, joint: Joint) -> Option<Clause> {
    if clauses.len() < 2 {
        return clauses.pop().map(|(words, own)| Clause::Words(words, own));
    }
    let word = language.say(if joint == Joint::Or { OR } else { AND });
    let told: Vec<String> = clauses
        .into_iter()
        .map(|(words, own)| match own {
            own if own == Joint::None || own == joint => words,
            _ => format!("({words})"),
        })
        .collect();
    Some(Clause::Words(told.join(&format!(" {word} ")), joint))
}

/// The one member of an object.
fn only(value: &Value) -> Option<(&str, &Value)> {
    let members = value.as_object()?;
    let mut members = members.iter();
    let (name, value) = members.next()?;
    members.next().is_none().then_some((name, value))
}

fn clause(query: &Value, whole: Whole<'_>, at: Where) -> Option<Clause> {
    let Where { language, depth } = at;
    if depth > DEPTH_MAX {
        return None;
    }
    let is = language.say(["is", "ist"]);
    let (kind, body) = only(query)?;
    match kind {
        "match_all" => (body.as_object()?.iter().next().is_none()).then_some(Clause::All),
        "term" => {
            let (field, value) = only(body)?;
            let value = match only(value) {
                Some(("value", value)) => value,
                Some(_) => return None,
                None => value,
            };
            let kept = whole(field);
            let is_told = kept.tells_of(Compared::Equal, value);
            let value = scalar(language, value, kept)?;
            let name = name_told(language, field, is_told)?;
            let joint = if value == language.say(EMPTY) { Joint::Values } else { Joint::None };
            Some(Clause::Words(format!("{name} {is} {value}"), joint))
        }
        "terms" => {
            let (field, values) = only(body)?;
            let values = values.as_array()?;
            if values.is_empty() || values.len() > VALUES_MAX {
                return None;
            }
            let kept = whole(field);
            let is_told = |value| kept.tells_of(Compared::Equal, value);
            let name = name_told(language, field, values.iter().all(is_told))?;
            let values = values.iter().map(|value| scalar(language, value, kept));
            let values: Vec<String> = values.collect::<Option<_>>()?;
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let is_one = values.len() == 1 && values[0] != language.say(EMPTY);
            let joint = if is_one { Joint::None } else { Joint::Values };
            // A comma would part values and their fractions.
            let or = language.say(OR);
            let values =
                match values.iter().any(|value| !value.contains('„') && value.contains(',')) {
                    true => values.join(&format!(" {or} ")),
                    false => list(&values, or),
                };
            Some(Clause::Words(format!("{name} {is} {values}"), joint))
        }
        "exists" => match only(body)? {
            ("field", field) => {
                let field = field.as_str()?;
                let name = name_told(language, field, whole(field).tells())?;
                let has = language.say(["has a value", "hat einen Wert"]);
                Some(Clause::Words(format!("{name} {has}"), Joint::None))
            }
            _ => None,
        },
        "range" => {
            let (field, bounds) = only(body)?;
            let mut told = Vec::new();
            let bounds = bounds.as_object()?;
            // Of two bounds of one side the last alone counts, and which that is is no matter of words.
            if !is_one_a_side(bounds) {
                return None;
            }
            let kept = whole(field);
            for (bound, value) in bounds.iter() {
                let (compared, word) = match bound {
                    "gt" => (Compared::Above, ["above", "größer als"]),
                    "gte" => (Compared::AtLeast, ["at least", "mindestens"]),
                    "lt" => (Compared::Below, ["below", "kleiner als"]),
                    "lte" => (Compared::AtMost, ["at most", "höchstens"]),
                    _ => return None,
                };
                kept.tells_of(compared, value).then_some(())?;
                told.push(format!("{} {}", language.say(word), scalar(language, value, kept)?));
            }
            let joint = match told.len() {
                0 => return None,
                1 => Joint::None,
                _ => Joint::Values,
            };
            let name = name(language, field)?;
            let told = told.join(&format!(" {} ", language.say(AND)));
            Some(Clause::Words(format!("{name} {is} {told}"), joint))
        }
        "bool" => all(body, whole, at),
        _ => None,
    }
}

/// A `bool`: what must be, and one of several. Of what must not be nothing is told ([`super::kept`]).
fn all(body: &Value, whole: Whole<'_>, at: Where) -> Option<Clause> {
    let mut told: Vec<(String, Joint)> = Vec::new();
    // What leaves nothing out needs no words; it counts as a clause all the same.
    let (mut some, mut is_required, mut is_any) = (None, false, false);
    for (occurrence, clauses) in body.as_object()?.iter() {
        let clauses = match clauses.as_array() {
            Some(clauses) => clauses,
            None => std::slice::from_ref(clauses),
        };
        let below = Where { depth: at.depth + 1, ..at };
        let clauses: Vec<Clause> =
            clauses.iter().map(|it| clause(it, whole, below)).collect::<Option<_>>()?;
        let is_empty = clauses.is_empty();
        let mut said = Vec::new();
        let mut has_all = false;
        for clause in clauses {
            match clause {
                Clause::All => has_all = true,
                Clause::Words(words, joint) => said.push((words, joint)),
            }
        }
        match occurrence {
            "must" | "filter" => {
                is_required |= !is_empty;
                is_any |= has_all;
                told.extend(said);
            }
            "should" if has_all => is_any = true,
            "should" => some = joined(at.language, said, Joint::Or),
            _ => return None,
        }
    }
    // Beside what must be, what may be leaves nothing out.
    if let Some(Clause::Words(words, joint)) = some
        && !is_required
    {
        told.push((words, joint));
    }
    match joined(at.language, told, Joint::And) {
        None if is_any => Some(Clause::All),
        told => told,
    }
}

/// A field of which this is told.
fn name_told(language: Language, field: &str, is_told: bool) -> Option<String> {
    if is_told { name(language, field) } else { None }
}

/// A field, as it is called.
fn name(language: Language, name: &str) -> Option<String> {
    quoted::is_plain_field(language, name).then(|| quoted::isolated(name).into_owned())
}

/// What `false` finds: documents with an empty text, too.
const EMPTY: Texts = ["no or empty", "nein oder leer"];

fn scalar(language: Language, value: &Value, kept: Kept) -> Option<String> {
    match value {
        Value::String(text) if kept.values != Exact::Truth => {
            let is_plain = quoted::is_plain_value(language, text);
            is_plain.then(|| quoted::between(language, text))
        }
        // A point parts thousands in German.
        Value::Number(_) if kept.values != Exact::Truth => {
            kept::shown_number(value, language.say(['.', ',']))
        }
        value => match (value.as_bool(), value.as_str()) {
            (Some(true), _) | (_, Some("true")) => Some(language.say(["yes", "ja"]).to_owned()),
            (Some(false), _) | (_, Some("false" | "")) => Some(language.say(EMPTY).to_owned()),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::language::Language::{English, German};

    /// A text, whole numbers cut, one with a value for none, one that nothing finds, one of yes and no, numbers; others
    /// are words.
    fn kept(field: &str) -> Kept {
        match field {
            "lost" => Kept { is_found: false, ..Kept::WHOLE },
            "paid" => Kept { values: Exact::Truth, ..Kept::WHOLE },
            "a" | "b" | "c" | "n" | "total" => Kept { values: Exact::Double, ..Kept::WHOLE },
            "text" => Kept { values: Exact::No, ..Kept::WHOLE },
            "cut" => Kept { values: Exact::Cut, ..Kept::WHOLE },
            "nulls" => Kept { stands_for_none: true, ..Kept::WHOLE },
            _ => Kept::WHOLE,
        }
    }

    /// Words were wider than what they let through: of numbers with their fractions cut off, of values that were
    /// left out and so were not, of nulls for which a value stands.
    #[test]
    fn what_is_not_kept_as_it_was_written_is_not_said() {
        let not = |query: &str| format!(r#"{{"bool":{{"must_not":{query}}}}}"#);
        let (word, exists) = (r#"{"term":{"k":"a"}}"#, r#"{"exists":{"field":"k"}}"#);
        assert_eq!(told(word).as_deref(), Some("k is “a”"));
        assert_eq!(told(exists).as_deref(), Some("k has a value"));
        assert_eq!((told(&not(word)), told(&not(exists))), (None, None));
        assert_eq!(told(&not(&not(word))), None);
        for (bounds, is_said) in [
            (r#""gt":1"#, true),
            (r#""lt":-1"#, true),
            (r#""gte":1,"lt":5"#, true),
            (r#""gte":0"#, false),
            (r#""lte":1"#, false),
            (r#""lte":-1"#, true),
            (r#""lt":1.5"#, false),
        ] {
            let range = format!(r#"{{"range":{{"cut":{{{bounds}}}}}}}"#);
            assert_eq!(told(&range).is_some(), is_said, "{bounds}");
            assert_eq!(told(&not(&range)), None, "{bounds}");
        }
        for query in [
            r#"{"exists":{"field":"lost"}}"#,
            r#"{"bool":{"must_not":{"exists":{"field":"lost"}}}}"#,
            r#"{"range":{"nulls":{"gte":"a"}}}"#,
            r#"{"range":{"paid":{"gte":false}}}"#,
            r#"{"term":{"paid":"perhaps"}}"#,
            r#"{"term":{"k":true}}"#,
            r#"{"range":{"k":{"gte":10}}}"#,
            r#"{"term":{"cut":1}}"#,
            r#"{"term":{"nulls":"a"}}"#,
            r#"{"bool":{"must_not":{"term":{"paid":false}}}}"#,
            r#"{"bool":{"must_not":{"terms":{"paid":[true,""]}}}}"#,
            r#"{"exists":{"field":"nulls"}}"#,
            r#"{"terms":{"text":["a"]}}"#,
        ] {
            assert_eq!(told(query), None, "{query}");
        }
        assert_eq!(told(r#"{"exists":{"field":"text"}}"#).as_deref(), Some("text has a value"));
    }

    fn told(query: &str) -> Option<String> {
        told_in(English, query)
    }

    fn told_in(language: Language, query: &str) -> Option<String> {
        let query = json::parse(query.as_bytes()).expect("JSON");
        in_words(language, &query, &kept).map(|told| match told {
            Told::All => "all".to_owned(),
            Told::Where(words) => words,
        })
    }

    #[test]
    fn simple_filters_are_said_in_words() {
        for (query, expected) in [
            (r#"{"term":{"customer.keyword":"acme"}}"#, "customer.keyword is “acme”"),
            (r#"{"term":{"paid":{"value":true}}}"#, "paid is yes"),
            (r#"{"term":{"paid":"false"}}"#, "paid is no or empty"),
            (
                r#"{"bool":{"filter":[{"terms":{"paid":[""]}},{"term":{"c":3}}]}}"#,
                "(paid is no or empty) and c is 3",
            ),
            (r#"{"terms":{"state":["new","sent","late"]}}"#, "state is “new”, “sent” or “late”"),
            (r#"{"exists":{"field":"total"}}"#, "total has a value"),
            (r#"{"range":{"total":{"gte":10,"lt":20}}}"#, "total is at least 10 and below 20"),
            (
                r#"{"bool":{"filter":[{"term":{"a":1}},{"term":{"b":2}}],"should":{"term":{"c":3}}}}"#,
                "a is 1 and b is 2",
            ),
            (
                r#"{"bool":{"should":[{"term":{"a":1}},{"bool":{"must":[{"term":{"b":2}},{"term":{"c":3}}]}}]}}"#,
                "a is 1 or (b is 2 and c is 3)",
            ),
        ] {
            assert_eq!(told(query).as_deref(), Some(expected), "{query}");
        }
    }

    /// `(a or b) and c` was told as `a or b and c`.
    #[test]
    fn what_belongs_together_stands_in_brackets() {
        let (a, b, c) = (r#"{"term":{"a":1}}"#, r#"{"term":{"b":2}}"#, r#"{"term":{"c":3}}"#);
        let some = format!(r#"{{"bool":{{"should":[{a},{b}]}}}}"#);
        let each = format!(r#"{{"bool":{{"must":[{a},{b}]}}}}"#);
        let terms = r#"{"terms":{"k":["x","y"]}}"#;
        let range = r#"{"range":{"n":{"gte":1,"lt":5}}}"#;
        let any = r#"{"match_all":{}}"#;
        for (query, expected) in [
            (format!(r#"{{"bool":{{"filter":[{some},{c}]}}}}"#), "(a is 1 or b is 2) and c is 3"),
            (format!(r#"{{"bool":{{"filter":[{each},{c}]}}}}"#), "a is 1 and b is 2 and c is 3"),
            (format!(r#"{{"bool":{{"should":[{some},{c}]}}}}"#), "a is 1 or b is 2 or c is 3"),
            (format!(r#"{{"bool":{{"should":[{each},{c}]}}}}"#), "(a is 1 and b is 2) or c is 3"),
            (
                format!(r#"{{"bool":{{"filter":[{{"bool":{{"must":[{some}]}}}},{c}]}}}}"#),
                "(a is 1 or b is 2) and c is 3",
            ),
            (format!(r#"{{"bool":{{"filter":[{terms},{c}]}}}}"#), "(k is “x” or “y”) and c is 3"),
            (
                format!(r#"{{"bool":{{"should":[{range},{c}]}}}}"#),
                "(n is at least 1 and below 5) or c is 3",
            ),
            (any.to_owned(), "all"),
            (format!(r#"{{"bool":{{"filter":[{any},{c}]}}}}"#), "c is 3"),
            (format!(r#"{{"bool":{{"filter":{any},"should":{c}}}}}"#), "all"),
            (format!(r#"{{"bool":{{"should":[{any},{c}]}}}}"#), "all"),
        ] {
            assert_eq!(told(&query).as_deref(), Some(expected), "{query}");
        }
    }

    /// A value that held our own quotation marks told of a narrower filter than the one that was granted.
    #[test]
    fn what_could_be_taken_for_our_words_is_not_said() {
        for query in [
            r#"{"term":{"k":"zzz”) and (k is “a"}}"#,
            r#"{"terms":{"k":["zzz","y”) and (k is “a"]}}"#,
            r#"{"term":{"a”) and (customer":"x"}}"#,
            r#"{"term":{"k":"a”) or (k is “b"}}"#,
            r#"{"exists":{"field":"k has a value or n"}}"#,
            r#"{"exists":{"field":".keyword"}}"#,
            r#"{"term":{"k":"a\u202eb"}}"#,
            r#"{"bool":{"must_not":{"match_all":{}}}}"#,
        ] {
            assert_eq!(told(query), None, "{query}");
        }
        let hebrew = told(r#"{"terms":{"k":["\u05d0","b"]}}"#);
        assert_eq!(hebrew.as_deref(), Some("k is “\u{2068}\u{5d0}\u{2069}” or “b”"));
    }

    #[test]
    fn what_words_would_blur_is_not_said() {
        for query in [
            r#"{"match":{"text":"words of a text"}}"#,
            r#"{"term":{"a":{"value":1,"boost":2}}}"#,
            r#"{"range":{"d":{"gte":"now-1d","time_zone":"+01:00"}}}"#,
            r#"{"bool":{"should":[{"term":{"a":1}}],"minimum_should_match":1}}"#,
            r#"{"bool":{"must":[{"script":{"script":"true"}}]}}"#,
            r#"{"terms":{"a":{"index":"i","id":"1","path":"p"}}}"#,
            r#"{"bool":{}}"#,
            // The last bound of a side is the one that counts.
            r#"{"range":{"n":{"lte":1,"lt":100}}}"#,
            r#"{"range":{"n":{"gte":5,"gt":1}}}"#,
            // A text is more than the word that is looked for in it.
            r#"{"term":{"text":"acme"}}"#,
            r#"{"terms":{"text":["acme",1]}}"#,
            r#"{"range":{"text":{"gte":"a"}}}"#,
            r#"{"bool":{"must_not":{"term":{"text":"acme"}}}}"#,
            "[]",
        ] {
            assert_eq!(told(query), None, "{query}");
        }
        let long = format!(r#"{{"term":{{"a":"{}"}}}}"#, "x".repeat(BYTES_MAX));
        assert_eq!(told(&long), None);
        let deep = (0..9).fold(r#"{"term":{"a":1}}"#.to_owned(), |inner, _| {
            format!(r#"{{"bool":{{"must":[{inner}]}}}}"#)
        });
        assert_eq!(told(&deep), None);
    }

    #[test]
    fn filters_are_said_in_german() {
        for (query, expected) in [
            (r#"{"term":{"kunde.keyword":"acme"}}"#, "kunde.keyword ist „acme“"),
            (r#"{"term":{"paid":true}}"#, "paid ist ja"),
            (r#"{"terms":{"k":["a","b","c"]}}"#, "k ist „a“, „b“ oder „c“"),
            (
                r#"{"bool":{"filter":[{"terms":{"paid":[""]}},{"term":{"c":3}}]}}"#,
                "(paid ist nein oder leer) und c ist 3",
            ),
            (
                r#"{"range":{"total":{"gte":10,"lt":20}}}"#,
                "total ist mindestens 10 und kleiner als 20",
            ),
            (
                r#"{"range":{"total":{"gt":10,"lte":20}}}"#,
                "total ist größer als 10 und höchstens 20",
            ),
            (
                r#"{"bool":{"must":[{"exists":{"field":"x"}},{"bool":{"should":[{"term":{"a":1}},{"term":{"a":2}}]}}]}}"#,
                "x hat einen Wert und (a ist 1 oder a ist 2)",
            ),
            (r#"{"range":{"total":{"gte":1.000}}}"#, "total ist mindestens 1"),
            (r#"{"terms":{"total":[1.5,2.50,3]}}"#, "total ist 1,5 oder 2,5 oder 3"),
            (r#"{"match_all":{}}"#, "all"),
        ] {
            assert_eq!(told_in(German, query).as_deref(), Some(expected), "{query}");
        }
    }

    /// A value that holds the marks of the other language, or a field that is a word of it, tells of another filter than
    /// the one that is granted.
    #[test]
    fn what_could_be_taken_for_our_words_is_not_said_in_german() {
        for query in [
            r#"{"term":{"k":"zzz“) und (k ist „a"}}"#,
            r#"{"terms":{"k":["zzz","y“) und (k ist „a"]}}"#,
            r#"{"term":{"k":"a“ oder k ist „b"}}"#,
            r#"{"term":{"k":"a<< oder k ist >>b"}}"#,
            r#"{"term":{"k":"a, oder k ist ,,b"}}"#,
            r#"{"term":{"nicht":"a"}}"#,
            r#"{"term":{"Nicht":"a"}}"#,
            r#"{"exists":{"field":"oder"}}"#,
            r#"{"term":{"und":"a"}}"#,
            r#"{"exists":{"field":"k hat einen Wert oder n"}}"#,
            r#"{"term":{"k":"a\u202eb"}}"#,
        ] {
            assert_eq!(told_in(German, query), None, "{query}");
        }
        let hebrew = told_in(German, r#"{"term":{"k":"\u05d0"}}"#);
        assert_eq!(hebrew.as_deref(), Some("k ist „\u{2068}\u{5d0}\u{2069}“"));
        assert!(told(r#"{"term":{"oder":"a, ,,b"}}"#).is_some(), "in English these are no words");
    }
}
