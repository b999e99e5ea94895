//! A whole answer to a search, held against what was written.

use json::{Object, Value};

use super::aggregate::{self, Row};
use super::document::Block;
use super::matching::list;
use super::order::{self, Key, Rule};
use super::statistics::Statistics;
use super::world::World;
use super::{Read, skip};

/// A document that a search must find.
pub struct Hit<'a> {
    /// The document.
    pub block: &'a Block,
    /// Its score.
    pub score: f64,
    keys: Vec<Key>,
    rules: Vec<Rule>,
}

/// What a search must find.
pub struct Expected<'a> {
    /// Documents in order.
    pub hits: Vec<Hit<'a>>,
    /// How many there are before they are collapsed.
    pub total: usize,
    /// What aggregations come to.
    pub aggregations: Option<Value>,
    /// Scores are known, as far as they are.
    pub scored: bool,
}

/// Reads a whole request.
pub fn expect<'a>(world: &'a World, body: &Value, dfs: bool) -> Read<Expected<'a>> {
    let everything = json::json!({"match_all": {}});
    let query = body.get("query").unwrap_or(&everything);
    let scored = !world.has_ghosts;
    let (mut rows, mut hits) = (Vec::new(), Vec::new());
    for (shard, block) in world.docs() {
        let reader = Statistics { world, shard: (!dfs).then_some(shard) };
        let Some(score) = reader.eval(query, block, 1.0)? else { continue };
        let score = if scored { score } else { f64::NAN };
        if let Some(least) = body.get("min_score").and_then(Value::as_f64) {
            if score.is_nan() || (score - least).abs() <= 1e-4 * least.abs() {
                return skip("too near min_score");
            }
            if score < least {
                continue;
            }
        }
        rows.push(Row { root: block, at: block });
        if let Some(filter) = body.get("post_filter")
            && reader.eval(filter, block, 1.0)?.is_none()
        {
            continue;
        }
        let (keys, rules) = order::keys(&reader, body.get("sort"), block, score)?;
        hits.push(Hit { block, score, keys, rules });
    }
    hits.sort_by(|a, b| order::compare(&a.rules, &a.keys, &b.keys));
    let total = hits.len();
    if let Some(field) = body.at(&["collapse", "field"]).and_then(Value::as_str) {
        if hits.iter().any(|hit| hit.keys.iter().any(|key| matches!(key, Key::Near(_)))) {
            return skip("collapsed by score");
        }
        let mut seen: Vec<Vec<super::document::Val>> = Vec::new();
        let mut several = false;
        hits.retain(|hit| {
            let values = hit.block.values(field).to_vec();
            several |= values.len() > 1;
            let new = !seen.contains(&values);
            seen.push(values);
            new
        });
        if several {
            return skip("several values to collapse by");
        }
    }
    let aggregations = match body.get("aggs") {
        Some(aggs) => Some(aggregate::all(world, aggs, &rows)?),
        None => None,
    };
    Ok(Expected { hits, total, aggregations, scored })
}

/// How an answer differs; hits from place `from` on were asked for.
pub fn difference(
    expected: &Expected<'_>,
    body: &Value,
    answer: &Value,
    from: usize,
) -> Option<String> {
    let total = answer.at(&["hits", "total", "value"]).and_then(Value::as_u64);
    let tracked = body.get("track_total_hits").and_then(Value::as_bool) != Some(false);
    if tracked && total != Some(expected.total as u64) {
        return Some(format!(
            "hits.total: expected {}, found {total:?}; {}",
            expected.total,
            names(expected, answer)
        ));
    }
    let failed = answer.at(&["_shards", "failed"]).and_then(Value::as_u64);
    if failed.is_some_and(|count| count > 0) {
        return Some("shards failed".into());
    }
    let hits = difference_of_hits(expected, body, answer, from);
    if hits.is_some() {
        return hits;
    }
    let wanted = expected.aggregations.as_ref()?;
    let none = Value::object();
    aggregate::difference(wanted, answer.get("aggregations").unwrap_or(&none), "aggregations")
}

fn names(expected: &Expected<'_>, answer: &Value) -> String {
    let found: Vec<&str> = hits_of(answer).iter().filter_map(|hit| id(hit)).collect();
    let all: Vec<&str> = expected.hits.iter().map(|hit| hit.block.id.as_str()).collect();
    let missing: Vec<&&str> = all.iter().filter(|id| !found.contains(id)).take(5).collect();
    let extra: Vec<&&str> = found.iter().filter(|id| !all.contains(id)).take(5).collect();
    format!("not shown: {missing:?}, too many: {extra:?}")
}

/// The hits of an answer.
pub fn hits_of(answer: &Value) -> &[Value] {
    answer.at(&["hits", "hits"]).and_then(Value::as_array).unwrap_or(&[])
}

fn id(hit: &Value) -> Option<&str> {
    hit.get("_id").and_then(Value::as_str)
}

fn difference_of_hits(
    expected: &Expected<'_>,
    body: &Value,
    answer: &Value,
    from: usize,
) -> Option<String> {
    let found = hits_of(answer);
    let size = body.get("size").and_then(Value::as_u64).unwrap_or(10) as usize;
    let count = expected.hits.len().saturating_sub(from).min(size);
    if found.len() != count {
        return Some(format!(
            "hits: expected {count}, found {}; {}",
            found.len(),
            names(expected, answer)
        ));
    }
    // Where one score is not known, no place is.
    let unknown = |key: &Key| matches!(key, Key::Near(value) if value.is_nan());
    let guessed = expected.hits.iter().any(|hit| hit.keys.iter().any(unknown));
    let mut seen = Vec::new();
    for (at, hit) in found.iter().enumerate() {
        let id = id(hit).unwrap_or_default();
        let place = format!("hits[{at}] [{id}]");
        let Some(known) = expected.hits.iter().find(|known| known.block.id == id) else {
            return Some(format!("{place}: should not be found"));
        };
        if seen.contains(&id) {
            return Some(format!("{place}: found twice"));
        }
        seen.push(id);
        let wanted = &expected.hits[from + at];
        if !guessed && !order::alike(&wanted.keys, &known.keys) {
            return Some(format!(
                "{place}: its keys are {:?}, at its place is [{}] with {:?}",
                known.keys, wanted.block.id, wanted.keys
            ));
        }
        if let Some(score) = hit.get("_score").and_then(Value::as_f64)
            && expected.scored
            && !known.score.is_nan()
            && !order::near(known.score, score)
        {
            return Some(format!("{place}: expected score {}, found {score}", known.score));
        }
        if body.get("sort").is_some() {
            let shown = list(hit.get("sort"));
            let same = shown.len() == known.keys.len()
                && known.keys.iter().zip(&shown).all(|(key, value)| order::shown(key, value));
            if !same {
                let shown = json::to_string(hit.get("sort").unwrap_or(&Value::Null));
                return Some(format!("{place}: its keys are {:?}, shown {shown}", known.keys));
            }
        }
    }
    None
}

/// The body of a request without what a judge needs not know.
pub fn without(body: &Value, keys: &[&str]) -> Value {
    let mut object: Object = body.as_object().cloned().unwrap_or_default();
    keys.iter().for_each(|key| drop(object.remove(key)));
    Value::Object(object)
}
