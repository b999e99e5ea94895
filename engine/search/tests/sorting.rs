//! Hits ordered by keys, compared with sorting all documents; pages joined by `search_after`.

mod support;

use std::cmp::Ordering;

use search::SearchRequest;
use search::dsl::parse_search;
use search::result::{Key, Relation, Total};
use support::Chance;
use support::corpus::{Corpus, Doc};
use support::run::{How, fetch_all, search};

/// One key of the order, as it was asked for.
#[derive(Clone, Debug)]
struct Asked {
    field: &'static str,
    descending: bool,
    mode: Option<&'static str>,
    missing: &'static str,
}

impl Asked {
    fn random(chance: &mut Chance) -> Self {
        let field = *chance.pick(&["n", "price", "tags", "day", "cn", "stag", "_doc", "nowhere"]);
        let number = matches!(field, "n" | "cn" | "price" | "day");
        let modes: &[Option<&str>] = match (field, number) {
            ("_doc" | "nowhere", _) => &[None],
            (_, true) => {
                &[None, Some("min"), Some("max"), Some("sum"), Some("avg"), Some("median")]
            }
            _ => &[None, Some("min"), Some("max")],
        };
        let missing = if field == "_doc" { "_last" } else { chance.pick(&["_last", "_first"]) };
        Self { field, descending: chance.one_in(2), mode: *chance.pick(modes), missing }
    }

    fn json(&self) -> String {
        if self.field == "_doc" {
            let order = if self.descending { "desc" } else { "asc" };
            return format!("{{\"_doc\":\"{order}\"}}");
        }
        let mut parts = vec![
            format!("\"order\":\"{}\"", if self.descending { "desc" } else { "asc" }),
            format!("\"missing\":\"{}\"", self.missing),
        ];
        if let Some(mode) = self.mode {
            parts.push(format!("\"mode\":\"{mode}\""));
        }
        if self.field == "nowhere" {
            parts.push("\"unmapped_type\":\"long\"".into());
        }
        format!("{{\"{}\":{{{}}}}}", self.field, parts.join(","))
    }

    fn mode(&self) -> &'static str {
        self.mode.unwrap_or(if self.descending { "max" } else { "min" })
    }

    fn key(&self, doc: &Doc, place: i64) -> Plain {
        match self.field {
            "_doc" => Plain::Number(place as f64),
            "n" | "cn" => combine(self.mode(), doc.n.iter().map(|n| *n as f64), true),
            "day" => combine(self.mode(), doc.day.iter().map(|n| *n as f64), true),
            "price" => combine(self.mode(), doc.price.iter().copied(), false),
            "tags" | "stag" => match self.mode() {
                "max" => doc.tags.iter().max().map_or(Plain::Missing, |tag| Plain::Term(tag)),
                _ => doc.tags.iter().min().map_or(Plain::Missing, |tag| Plain::Term(tag)),
            },
            _ => Plain::Missing,
        }
    }

    fn compare(&self, a: Plain, b: Plain) -> Ordering {
        let order = match (a, b) {
            (Plain::Missing, Plain::Missing) => return Ordering::Equal,
            (Plain::Missing, _) if self.missing == "_first" => return Ordering::Less,
            (Plain::Missing, _) => return Ordering::Greater,
            (_, Plain::Missing) if self.missing == "_first" => return Ordering::Greater,
            (_, Plain::Missing) => return Ordering::Less,
            (Plain::Number(a), Plain::Number(b)) => a.total_cmp(&b),
            (Plain::Term(a), Plain::Term(b)) => a.as_bytes().cmp(b.as_bytes()),
            _ => unreachable!("one field has one kind"),
        };
        if self.descending { order.reverse() } else { order }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Plain {
    Missing,
    Number(f64),
    Term(&'static str),
}

fn combine(mode: &str, values: impl Iterator<Item = f64>, whole: bool) -> Plain {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let count = values.len();
    if count == 0 {
        return Plain::Missing;
    }
    let sum: f64 = values.iter().sum();
    let round = |value: f64| if whole { (value + 0.5).floor() } else { value };
    Plain::Number(match mode {
        "min" => values[0],
        "max" => values[count - 1],
        "sum" => sum,
        "avg" => round(sum / count as f64),
        _ if count % 2 == 1 => values[count / 2],
        _ => round((values[count / 2 - 1] + values[count / 2]) / 2.0),
    })
}

fn request(body: &str) -> SearchRequest {
    match parse_search(body.as_bytes(), &[]) {
        Ok(request) => request,
        Err(error) => panic!("{body}: {error}"),
    }
}

/// A sort value as `search_after` takes it.
fn json_key(key: &Key) -> String {
    match key {
        Key::Null => "null".into(),
        Key::Long(value) => value.to_string(),
        Key::Unsigned(value) => value.to_string(),
        Key::Double(value) if value.is_finite() => json::number::double_to_string(*value),
        Key::Double(value) => format!("\"{}\"", json::number::double_to_string(*value)),
        Key::Float(value) | Key::Score(value) => json::number::float_to_string(*value),
        Key::Text(text) => format!("\"{text}\""),
        Key::Term(_) => panic!("printed keys are text"),
    }
}

fn check(corpus: &Corpus, seed: u64) {
    let mut chance = Chance::new(seed);
    let keys: Vec<Asked> = (0..1 + chance.below(3)).map(|_| Asked::random(&mut chance)).collect();
    let sort = keys.iter().map(Asked::json).collect::<Vec<_>>().join(",");
    let query = *chance.pick(&[
        "{\"match_all\":{}}",
        "{\"match\":{\"body\":\"river captain\"}}",
        "{\"range\":{\"n\":{\"gt\":100}}}",
    ]);
    let matches = |doc: &Doc| {
        !doc.deleted
            && match query {
                _ if query.contains("match_all") => true,
                _ if query.contains("body") => {
                    doc.body.contains(&"river") || doc.body.contains(&"captain")
                }
                _ => doc.n.iter().any(|n| *n > 100),
            }
    };
    let mut plain: Vec<((u32, u32), Vec<Plain>)> = Vec::new();
    let mut place = 0;
    for (docs, segment) in corpus.docs.iter().zip(0u32..) {
        for (doc, at) in docs.iter().zip(0u32..) {
            if matches(doc) {
                let found = keys.iter().map(|key| key.key(doc, place)).collect();
                plain.push(((segment, at), found));
            }
            place += 1;
        }
    }
    plain.sort_by(|a, b| {
        let pairs = a.1.iter().zip(&b.1).zip(&keys);
        pairs
            .map(|((a, b), key)| key.compare(*a, *b))
            .find(|order| *order != Ordering::Equal)
            .unwrap_or(Ordering::Equal)
            .then(a.0.cmp(&b.0))
    });
    let expected: Vec<(u32, u32)> = plain.iter().map(|(place, _)| *place).collect();

    let size = 1 + chance.below(30);
    for (threshold, slices, work, missing) in [
        ("true", 1, 50_000, false),
        ("false", 1, 50_000, false),
        ("5", 2, 1, false),
        ("50", 1, 200, true),
        ("false", 3, 50_000, true),
    ] {
        let body = format!(
            "{{\"query\":{query},\"sort\":[{sort}],\"size\":{size},\"track_total_hits\":{threshold}}}"
        );
        let request = request(&body);
        let how = How { work, slices };
        let (merged, _) = search(&request, &corpus.mapping, &corpus.view(missing), &how);
        let found: Vec<(u32, u32)> = merged
            .winners
            .iter()
            .map(|winner| (winner.ranked.segment, winner.ranked.doc.get()))
            .collect();
        let page = &expected[..size.min(expected.len())];
        assert_eq!(found, page, "seed {seed} {threshold} {slices} {work} {missing}: {body}");
        let count = expected.len() as u64;
        let total = match threshold.parse::<u64>() {
            Ok(limit) if count > limit => Some(Total { value: limit, relation: Relation::Gte }),
            Ok(_) => Some(Total { value: count, relation: Relation::Eq }),
            Err(_) => {
                (threshold == "true").then_some(Total { value: count, relation: Relation::Eq })
            }
        };
        assert_eq!(merged.total, total, "seed {seed} {threshold} {slices}: {body}");
    }

    // Page after page gives everything but what ties with the last of a page, as in Elasticsearch;
    // with the place as last key nothing ties.
    let mut after = String::new();
    let mut paged = Vec::new();
    let sort = format!("{sort},\"_doc\"");
    for _ in 0..4 {
        let body = format!(
            "{{\"query\":{query},\"sort\":[{sort}],\"size\":{size},\"track_total_hits\":false{after}}}"
        );
        let request = request(&body);
        let (merged, plan) =
            search(&request, &corpus.mapping, &corpus.view(false), &How::default());
        let hits = fetch_all(&request, &corpus.mapping, &merged, &plan);
        paged.extend(
            merged.winners.iter().map(|winner| (winner.ranked.segment, winner.ranked.doc.get())),
        );
        let Some(last) = hits.last() else { break };
        let values: Vec<String> = last.sort.iter().map(json_key).collect();
        after = format!(",\"search_after\":[{}]", values.join(","));
    }
    let wanted = &expected[..(4 * size).min(expected.len())];
    assert_eq!(paged, wanted, "seed {seed}: [{sort}] {after}");
}

#[test]
fn orders_by_keys_are_those_of_sorting_all_documents() {
    let corpus = Corpus::random(21, &[300, 7, 90]);
    for seed in 0..120 {
        check(&corpus, seed);
    }
}

#[test]
fn several_windows_are_ordered_alike() {
    let corpus = Corpus::random(22, &[9000, 200]);
    for seed in 500..506 {
        check(&corpus, seed);
    }
}

#[test]
fn sort_values_print_as_elasticsearch_prints_them() {
    let corpus = Corpus::random(3, &[60]);
    let hits = |sort: &str| {
        let request = request(&format!("{{\"sort\":[{sort}],\"size\":60}}"));
        let (merged, plan) =
            search(&request, &corpus.mapping, &corpus.view(false), &How::default());
        fetch_all(&request, &corpus.mapping, &merged, &plan)
    };
    let last = |sort: &str| hits(sort).pop().expect("a hit").sort;
    assert_eq!(last("{\"n\":\"asc\"}"), [Key::Long(i64::MAX)]);
    assert_eq!(last("{\"n\":\"desc\"}"), [Key::Long(i64::MIN)]);
    assert_eq!(last("{\"price\":\"asc\"}"), [Key::Double(f64::INFINITY)]);
    assert_eq!(last("{\"tags\":\"asc\"}"), [Key::Null]);
    let day = hits("{\"day\":{\"order\":\"asc\",\"format\":\"yyyy-MM-dd\"}}");
    assert!(matches!(&day[0].sort[0], Key::Text(text) if text.starts_with("2024-01")));
    assert!(day[0].score.is_none());
    let scored = hits("\"_score\",\"n\"");
    assert_eq!(scored[0].sort[0], Key::Score(1.0));
    assert_eq!(scored[0].score, Some(1.0));
    assert!(hits("\"_score\"")[0].sort.is_empty(), "by score alone no sort values are shown");
}
