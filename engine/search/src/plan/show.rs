//! A query that has met its index, as Lucene prints it: for explanations, `_validate`, profiles.

use std::fmt::Write as _;

use base::FieldNo;
use mapping::{Kind as Type, Mapping};

use crate::plan::bound::{Bool, Clause, Node, Pattern, Presence};
use crate::plan::expand::Near;

/// The text of a clause with its factor.
pub fn clause(clause: &Clause, mapping: &Mapping) -> String {
    let text = node(&clause.node, mapping);
    if clause.boost == 1.0 {
        return text;
    }
    let boost = json::number::float_to_string(clause.boost);
    match clause.node {
        Node::Bool(_) | Node::DisMax { .. } if text.starts_with('(') => format!("{text}^{boost}"),
        _ => format!("({text})^{boost}"),
    }
}

/// The name of a field.
pub fn field(no: FieldNo, mapping: &Mapping) -> String {
    match no {
        FieldNo::SEQ_NO => "_seq_no".into(),
        FieldNo::NESTED_PATH => "_nested_path".into(),
        FieldNo::FIELD_NAMES => "_field_names".into(),
        FieldNo::ROUTING => "_routing".into(),
        FieldNo::IGNORED => "_ignored".into(),
        no => mapping.field_by_no(no).map_or_else(|| "?".into(), |field| field.path.to_string()),
    }
}

/// A term: text where it is, else its bytes.
pub fn term(bytes: &[u8], no: FieldNo, mapping: &Mapping) -> String {
    if let Some(field) = mapping.field_by_no(no)
        && !matches!(field.kind, Type::Text(_) | Type::Keyword(_))
        && let json::Value::String(text) = field.show_term(bytes)
    {
        return text;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let parts: Vec<String> = bytes.iter().map(|byte| format!("{byte:x}")).collect();
            format!("[{}]", parts.join(" "))
        }
    }
}

fn number(value: i64, no: FieldNo, mapping: &Mapping) -> String {
    match mapping.field_by_no(no).map(|field| &field.kind) {
        Some(Type::Number(kind)) => json::to_string(&kind.value(value)),
        _ => value.to_string(),
    }
}

fn list(clauses: &[Clause], mapping: &Mapping, between: &str) -> String {
    let parts: Vec<String> = clauses.iter().map(|it| nested(it, mapping)).collect();
    parts.join(between)
}

/// A clause inside of another: joined ones stand in brackets.
fn nested(inner: &Clause, mapping: &Mapping) -> String {
    let text = clause(inner, mapping);
    match inner.node {
        Node::Bool(_) if inner.boost == 1.0 => format!("({text})"),
        _ => text,
    }
}

/// The text of a node.
pub fn node(node: &Node, mapping: &Mapping) -> String {
    let name = |no: &FieldNo| field(*no, mapping);
    match node {
        Node::All => "*:*".into(),
        Node::None => "MatchNoDocsQuery(\"\")".into(),
        Node::Term(it) => format!("{}:{}", name(&it.field), term(&it.term, it.field, mapping)),
        Node::Flag { field, value } => {
            format!("{}:{}", name(field), if *value == 0 { "F" } else { "T" })
        }
        Node::Phrase(phrase) => {
            let places = phrase
                .terms
                .iter()
                .map(|(word, at)| (String::from_utf8_lossy(word).into_owned(), *at));
            self::phrase(&name(&phrase.field), places, phrase.slop)
        }
        Node::MultiPhrase(phrase) => {
            let last = phrase.places.len() - 1;
            let places = phrase.places.iter().enumerate().map(|(at, (words, place))| {
                let words: Vec<_> =
                    words.iter().map(|word| String::from_utf8_lossy(word)).collect();
                let star = if at == last && phrase.prefix.is_some() { "*" } else { "" };
                let text = match words.as_slice() {
                    [word] => format!("{word}{star}"),
                    words => format!("({}){star}", words.join(" ")),
                };
                (text, *place)
            });
            self::phrase(&name(&phrase.field), places, phrase.slop)
        }
        Node::Synonym(synonym) => {
            let field = name(&synonym.field);
            let terms: Vec<String> = synonym
                .terms
                .iter()
                .map(|it| format!("{field}:{}", String::from_utf8_lossy(it)))
                .collect();
            format!("Synonym({})", terms.join(" "))
        }
        Node::Combined(combined) => {
            let fields: Vec<String> = combined
                .fields
                .iter()
                .map(|(field, factor, _)| match factor {
                    1.0 => name(field),
                    factor => format!("{}^{}", name(field), json::number::float_to_string(*factor)),
                })
                .collect();
            let terms: Vec<_> =
                combined.terms.iter().map(|term| String::from_utf8_lossy(term)).collect();
            format!("CombinedFieldQuery(({})({}))", fields.join(" "), terms.join(","))
        }
        Node::Expand(expand) => {
            let text = pattern(&name(&expand.field), &expand.pattern);
            match &expand.near {
                Some(Near { word, edits, .. }) => {
                    let word: String = word.iter().collect();
                    format!("{}:{word}~{edits}", name(&expand.field))
                }
                None => text,
            }
        }
        Node::Blended(blended) => {
            let terms: Vec<String> = blended
                .terms
                .iter()
                .map(|(it, factor)| {
                    let text = format!("{}:{}", name(&it.field), String::from_utf8_lossy(&it.term));
                    match factor {
                        1.0 => text,
                        factor => format!("({text})^{}", json::number::float_to_string(*factor)),
                    }
                })
                .collect();
            format!("blended(terms:[{}])", terms.join(", "))
        }
        Node::Terms { field, terms, .. } => {
            let all: Vec<String> = terms.iter().map(|it| term(it, *field, mapping)).collect();
            format!("{}:({})", name(field), all.join(" "))
        }
        Node::Pattern { field, pattern: it, .. } => pattern(&name(field), it),
        Node::Numbers(numbers) => {
            let no = numbers.field;
            let ranges: Vec<String> = numbers
                .ranges
                .iter()
                .map(|(from, to)| {
                    let (from, to) = (number(*from, no, mapping), number(*to, no, mapping));
                    format!("{}:[{from} TO {to}]", name(&no))
                })
                .collect();
            ranges.join(" ")
        }
        Node::Exists(ways) => {
            let mut all: Vec<String> = ways
                .iter()
                .map(|way| match way {
                    Presence::Numeric(no)
                    | Presence::Ordinals(no)
                    | Presence::Norms(no)
                    | Presence::FieldNames(no) => format!("FieldExistsQuery [field={}]", name(no)),
                    #[allow(unreachable_patterns)]
                    _ => "FieldExistsQuery".to_owned(),
                })
                .collect();
            // A field that shows in two ways is one field.
            all.dedup();
            match all.as_slice() {
                [one] => format!("ConstantScore({one})"),
                all => format!("ConstantScore({})", all.join(" ")),
            }
        }
        Node::Ids(ids) => {
            let all: Vec<_> = ids.iter().map(|id| String::from_utf8_lossy(id)).collect();
            format!("_id:({})", all.join(" "))
        }
        Node::Bool(bool) => joined(bool, mapping),
        Node::Constant(filter) => format!("ConstantScore({})", clause(filter, mapping)),
        Node::DisMax { clauses, tie_breaker } => {
            let inner = list(clauses, mapping, " | ");
            match tie_breaker {
                0.0 => format!("({inner})"),
                tie => format!("({inner})~{}", json::number::float_to_string(*tie)),
            }
        }
        Node::Boosting { positive, negative, negative_boost } => format!(
            "FunctionScoreQuery({}, scored by boost(queryboost({})^{}))",
            clause(positive, mapping),
            clause(negative, mapping),
            json::number::float_to_string(*negative_boost)
        ),
        Node::Function(function) => {
            format!("function score ({})", clause(&function.query, mapping))
        }
        Node::Feature(feature) => format!("FeatureQuery(field={})", name(&feature.field)),
        Node::Near(near) => format!("DistanceFeatureQuery(field={})", name(&near.field)),
        Node::Inside { field, .. } => format!("{}:within", name(field)),
        Node::Covering { clauses, .. } => {
            format!("CoveringQuery({})", list(clauses, mapping, " "))
        }
        Node::Nested(nested) => {
            format!("ToParentBlockJoinQuery ({})", clause(&nested.children, mapping))
        }
        Node::Script(script) => format!("ScriptQuery({})", script.program.source),
        Node::ScriptScore(score) => format!(
            "script_score ({}, {})",
            clause(&score.query, mapping),
            score.script.program.source
        ),
        Node::Alike(_) => "like".into(),
        #[allow(unreachable_patterns)]
        _ => "query".into(),
    }
}

fn phrase(field: &str, places: impl Iterator<Item = (String, u32)>, slop: u32) -> String {
    let mut text = format!("{field}:\"");
    let mut next = 0;
    for (word, at) in places {
        while next < at {
            text.push_str("? ");
            next += 1;
        }
        text.push_str(&word);
        text.push(' ');
        next = at + 1;
    }
    text.pop();
    text.push('"');
    if slop > 0 {
        let _ = write!(text, "~{slop}");
    }
    text
}

fn pattern(field: &str, pattern: &Pattern) -> String {
    match pattern {
        Pattern::Prefix { prefix, .. } => format!("{field}:{}*", String::from_utf8_lossy(prefix)),
        Pattern::Wildcard(shape) => format!("{field}:{}", shape.text()),
        Pattern::Automaton { .. } => format!("{field}:/…/"),
        Pattern::Version(texts) => self::pattern(field, texts),
        Pattern::Range { lower, upper } => {
            let end = |end: &Option<(Box<[u8]>, bool)>| match end {
                Some((term, _)) => String::from_utf8_lossy(term).into_owned(),
                None => "*".into(),
            };
            let open =
                if lower.as_ref().is_some_and(|(_, included)| !included) { '{' } else { '[' };
            let close =
                if upper.as_ref().is_some_and(|(_, included)| !included) { '}' } else { ']' };
            format!("{field}:{open}{} TO {}{close}", end(lower), end(upper))
        }
    }
}

fn joined(bool: &Bool, mapping: &Mapping) -> String {
    let mut parts = Vec::new();
    for (sign, clauses) in
        [("+", &bool.must), ("#", &bool.filter), ("", &bool.should), ("-", &bool.must_not)]
    {
        parts.extend(clauses.iter().map(|it| format!("{sign}{}", nested(it, mapping))));
    }
    let text = parts.join(" ");
    match bool.minimum {
        0 => text,
        least => format!("({text})~{least}"),
    }
}

/// The name of Lucene's query of a node, for profiles.
pub fn kind(node: &Node) -> &'static str {
    match node {
        Node::All => "MatchAllDocsQuery",
        Node::None => "MatchNoDocsQuery",
        Node::Term(_) | Node::Flag { .. } => "TermQuery",
        Node::Phrase(_) => "PhraseQuery",
        Node::MultiPhrase(_) => "MultiPhraseQuery",
        Node::Synonym(_) => "SynonymQuery",
        Node::Combined(_) => "CombinedFieldQuery",
        Node::Expand(expand) if expand.near.is_some() => "FuzzyQuery",
        Node::Expand(_) | Node::Pattern { .. } => "MultiTermQuery",
        Node::Blended(_) => "BlendedTermQuery",
        Node::Terms { .. } | Node::Ids(_) => "TermInSetQuery",
        Node::Numbers(_) => "PointRangeQuery",
        Node::Exists(_) => "FieldExistsQuery",
        Node::Bool(_) | Node::Alike(_) => "BooleanQuery",
        Node::Constant(_) => "ConstantScoreQuery",
        Node::DisMax { .. } => "DisjunctionMaxQuery",
        Node::Boosting { .. } | Node::Function(_) => "FunctionScoreQuery",
        Node::Feature(_) => "FeatureQuery",
        Node::Near(_) => "DistanceFeatureQuery",
        Node::Covering { .. } => "CoveringQuery",
        Node::Nested(_) => "ToParentBlockJoinQuery",
        Node::Places(_) => "IntervalQuery",
        Node::Script(_) => "ScriptQuery",
        Node::ScriptScore(_) => "ScriptScoreQuery",
        _ => "Query",
    }
}
