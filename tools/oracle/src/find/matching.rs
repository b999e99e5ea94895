//! Does a document match a query, and with which score?

use json::Value;

use super::document::{Block, Val, normal, plain};
use super::schema::Field;
use super::statistics::Statistics;
use super::values::{geo_box, geo_distance, range_matches, term_matches};
use super::words;
use super::{Read, functions, patterns, skip};
use crate::ask::query::{CONTAINS, SCRIPTS};

/// What a query makes of a document: no match, or a score (NaN: not known).
pub type Match = Option<f64>;

/// The one member of an object.
pub fn only(value: &Value) -> Read<(&str, &Value)> {
    match value.as_object().and_then(|object| object.iter().next()) {
        Some((key, value)) => Ok((key, value)),
        None => skip("an object of one member was wanted"),
    }
}

/// A list, or one that stands for a list of one.
pub fn list(value: Option<&Value>) -> Vec<&Value> {
    match value {
        None => Vec::new(),
        Some(Value::Array(all)) => all.iter().collect(),
        Some(one) => vec![one],
    }
}

fn number(value: &Value, key: &str, otherwise: f64) -> f64 {
    value.get(key).and_then(Value::as_f64).unwrap_or(otherwise)
}

/// How many of `count` clauses must match.
pub fn minimum(spec: &Value, count: usize) -> Read<i64> {
    minimum_text(&plain(spec), count as i64)
}

fn minimum_text(spec: &str, count: i64) -> Read<i64> {
    if spec.contains('<') {
        let mut result = count;
        for part in spec.split_whitespace() {
            let Some((above, rest)) = part.split_once('<') else { return skip("a condition") };
            let above: i64 = above.parse().map_err(|_| super::Skip("a condition".into()))?;
            if count <= above {
                return Ok(result);
            }
            result = minimum_text(rest, count)?;
        }
        return Ok(result);
    }
    let bad = |_| super::Skip(format!("a minimum [{spec}]"));
    let part = match spec.strip_suffix('%') {
        Some(percent) => {
            let percent: i64 = percent.parse().map_err(bad)?;
            let part = count as f32 * percent as f32 * (1.0 / 100.0);
            // Less than one clause may be missing: none may.
            return Ok(if part < 0.0 { (count + part as i64).max(0) } else { part as i64 });
        }
        None => spec.parse::<i64>().map_err(bad)?,
    };
    Ok(if part < 0 { (count + part).max(0) } else { part })
}

impl<'a> Statistics<'a> {
    /// Reads one query for one document.
    pub fn eval(&self, query: &Value, block: &Block, outer: f64) -> Read<Match> {
        let (name, body) = only(query)?;
        let boost = outer * number(body, "boost", 1.0);
        match name {
            "match_all" => Ok(Some(boost)),
            "match_none" => Ok(None),
            "ids" => {
                let found =
                    list(body.get("values")).iter().any(|id| id.as_str() == Some(&block.id));
                Ok(found.then_some(boost))
            }
            "exists" => {
                let name = body.get("field").and_then(Value::as_str).unwrap_or_default();
                Ok(self.exists(name, block).then_some(boost))
            }
            "bool" => self.eval_bool(body, block, boost),
            "constant_score" => {
                let Some(filter) = body.get("filter") else { return skip("no filter") };
                Ok(self.eval(filter, block, 1.0)?.map(|_| boost))
            }
            "dis_max" => {
                let mut found = Vec::new();
                for query in list(body.get("queries")) {
                    found.extend(self.eval(query, block, boost)?);
                }
                Ok(best(&found, number(body, "tie_breaker", 0.0)))
            }
            "boosting" => {
                let (Some(positive), Some(negative)) = (body.get("positive"), body.get("negative"))
                else {
                    return skip("half a boosting");
                };
                let Some(score) = self.eval(positive, block, boost)? else { return Ok(None) };
                let less = self.eval(negative, block, 1.0)?.is_some();
                Ok(Some(if less { score * number(body, "negative_boost", 1.0) } else { score }))
            }
            "nested" => self.eval_nested(body, block, boost),
            "function_score" => functions::eval(self, body, block, boost),
            "multi_match" => self.eval_multi_match(body, block, boost),
            "geo_distance" => geo_distance(self, body, block).map(|near| near.then_some(boost)),
            "geo_bounding_box" => geo_box(self, body, block).map(|inside| inside.then_some(boost)),
            "terms" => {
                for (name, values) in body.as_object().into_iter().flat_map(json::Object::iter) {
                    let Some(field) = self.world.schema.field(name) else { continue };
                    for value in list(Some(values)).into_iter().filter(|_| name != "boost") {
                        if term_matches(field, block, value, false)? {
                            return Ok(Some(boost));
                        }
                    }
                }
                Ok(None)
            }
            "terms_set" => self.eval_terms_set(body, block, outer),
            "script" => self.eval_script(body, block).map(|says| says.then_some(boost)),
            _ => self.eval_leaf(name, body, block, outer),
        }
    }

    /// Scripts that are known by their text.
    fn eval_script(&self, body: &Value, block: &Block) -> Read<bool> {
        let Some(script) = body.get("script") else { return skip("no script") };
        let source = script.get("source").and_then(Value::as_str).unwrap_or_default();
        let (Some(name), Some(wanted)) = (
            script.at(&["params", "f"]).and_then(Value::as_str),
            script.at(&["params", "v"]).or_else(|| script.at(&["params", "m"])),
        ) else {
            return skip("a script without its parameters");
        };
        let Some(field) = self.world.schema.field(name) else { return Ok(false) };
        let numbers = || block.values(&field.name).iter().filter_map(Val::number);
        let wanted_number = wanted.as_f64().unwrap_or(f64::NAN);
        let is_word = field.kind == "keyword";
        if block.hidden.contains(&field.name) && wanted_number <= 0.0 {
            return skip("no value of a field that may be unknown");
        }
        Ok(match SCRIPTS.iter().position(|known| *known == source) {
            Some(0) if is_word => {
                let mut words = words_of(field, block)?;
                words.sort();
                words.dedup();
                words.len() as f64 >= wanted_number
            }
            Some(0) => numbers().count() as f64 >= wanted_number,
            Some(1) => numbers().reduce(f64::min).is_some_and(|least| least > wanted_number),
            Some(2) if is_word => {
                words_of(field, block)?.iter().any(|word| Some(word.as_str()) == wanted.as_str())
            }
            Some(2) => numbers().any(|number| number == wanted_number),
            None if source == CONTAINS => {
                let wanted = script.at(&["params", "m"]).and_then(Value::as_str);
                words_of(field, block)?.iter().any(|word| Some(word.as_str()) == wanted)
            }
            _ => return skip("a script of another text"),
        })
    }

    /// Queries of the form `{"name": {"field": value or options}}`.
    fn eval_leaf(&self, name: &str, body: &Value, block: &Block, outer: f64) -> Read<Match> {
        let (path, options) = only(body)?;
        let boost = outer * number(options, "boost", 1.0);
        let Some(field) = self.world.schema.field(path) else { return Ok(None) };
        let value = match options {
            Value::Object(_) => options.get("query").or_else(|| options.get("value")),
            plain => Some(plain),
        };
        let wanted = || value.ok_or_else(|| super::Skip(format!("[{name}] without a value")));
        let insensitive = options.get("case_insensitive").and_then(Value::as_bool).unwrap_or(false);
        let any_term = |fits: &dyn Fn(&str) -> bool| -> Read<Match> {
            Ok(words_of(field, block)?.iter().any(|term| fits(term)).then_some(boost))
        };
        match name {
            "term" => self.eval_term(field, block, wanted()?, insensitive, boost),
            "match" => self.eval_match(field, block, wanted()?, options, boost),
            "match_phrase" => {
                let slop = number(options, "slop", 0.0) as i64;
                self.eval_phrase(field, block, &plain(wanted()?), slop, false, boost)
            }
            "match_phrase_prefix" => {
                let slop = number(options, "slop", 0.0) as i64;
                self.eval_phrase(field, block, &plain(wanted()?), slop, true, boost)
            }
            "match_bool_prefix" => self.eval_bool_prefix(field, block, wanted()?, options, boost),
            "range" => Ok(range_matches(field, block, options)?.then_some(boost)),
            "prefix" => {
                let prefix = folded(&normal(field, &plain(wanted()?)), insensitive);
                any_term(&|term| folded(term, insensitive).starts_with(&prefix))
            }
            "wildcard" => {
                let pattern = folded(&normal(field, &plain(wanted()?)), insensitive);
                let pattern: Vec<char> = pattern.chars().collect();
                any_term(&|term| {
                    let term: Vec<char> = folded(term, insensitive).chars().collect();
                    patterns::wildcard(&pattern, &term)
                })
            }
            "regexp" => {
                let pattern = normal(field, &plain(wanted()?));
                any_term(&|term| patterns::regexp(&pattern, term))
            }
            "fuzzy" => {
                let wanted = normal(field, &plain(wanted()?));
                let fuzzy = Fuzzy::read(options, &wanted)?;
                Ok(any_term(&|term| fuzzy.fits(&wanted, term))?.map(|_| f64::NAN))
            }
            other => skip(format!("an unknown query [{other}]")),
        }
    }

    fn exists(&self, name: &str, block: &Block) -> bool {
        if let Some(field) = self.world.schema.field(name) {
            return match field.kind.as_str() {
                "constant_keyword" => field.params.get("value").is_some(),
                "text" => block.said.get(&field.name).is_some_and(|said| said.exists),
                _ => !block.values(&field.name).is_empty(),
            };
        }
        let inside = format!("{name}.");
        let inner = self.world.schema.fields.keys().filter(|field| field.starts_with(&inside));
        inner.into_iter().any(|field| self.exists(field, block))
    }

    fn eval_bool(&self, body: &Value, block: &Block, boost: f64) -> Read<Match> {
        let (must, filter) = (list(body.get("must")), list(body.get("filter")));
        let (should, must_not) = (list(body.get("should")), list(body.get("must_not")));
        let mut total = 0.0;
        for clause in &must {
            match self.eval(clause, block, boost)? {
                Some(score) => total += score,
                None => return Ok(None),
            }
        }
        for clause in &filter {
            if self.eval(clause, block, 1.0)?.is_none() {
                return Ok(None);
            }
        }
        for clause in &must_not {
            if self.eval(clause, block, 1.0)?.is_some() {
                return Ok(None);
            }
        }
        if must.is_empty() && filter.is_empty() && should.is_empty() && must_not.is_empty() {
            return Ok(Some(boost));
        }
        let mut found = 0;
        for clause in &should {
            if let Some(score) = self.eval(clause, block, boost)? {
                found += 1;
                total += score;
            }
        }
        let mut needed = match body.get("minimum_should_match") {
            Some(spec) => minimum(spec, should.len())?,
            None => 0,
        };
        if must.is_empty() && filter.is_empty() {
            // Nothing but exclusions: made whole without its minimum.
            needed = if should.is_empty() { 0 } else { needed.max(1) };
        }
        Ok((found >= needed).then_some(total))
    }

    fn eval_nested(&self, body: &Value, block: &Block, boost: f64) -> Read<Match> {
        let path = body.get("path").and_then(Value::as_str).unwrap_or_default();
        let Some(query) = body.get("query") else { return skip("nested without a query") };
        let mut found = Vec::new();
        for inner in inside(block, path) {
            found.extend(self.eval(query, inner, boost)?);
        }
        if found.is_empty() {
            return Ok(None);
        }
        let sum: f64 = found.iter().sum();
        Ok(Some(match body.get("score_mode").and_then(Value::as_str).unwrap_or("avg") {
            "avg" => sum / found.len() as f64,
            "sum" => sum,
            "max" => found.iter().copied().fold(f64::NEG_INFINITY, nan_max),
            "min" => -found.iter().map(|score| -score).fold(f64::NEG_INFINITY, nan_max),
            "none" => 0.0,
            other => return skip(format!("a score mode [{other}]")),
        }))
    }

    fn eval_term(
        &self,
        field: &Field,
        block: &Block,
        value: &Value,
        insensitive: bool,
        boost: f64,
    ) -> Read<Match> {
        if !term_matches(field, block, value, insensitive)? {
            return Ok(None);
        }
        if insensitive || !field.flag("index", true) {
            return Ok(Some(boost));
        }
        let term = match field.kind.as_str() {
            "text" => plain(value),
            "keyword" => normal(field, &plain(value)),
            "boolean" => format!("{:?}", Val::Int(i128::from(plain(value) == "true"))),
            _ => return Ok(Some(boost)),
        };
        let freq = block.tokens(&field.name).iter().filter(|(word, _)| *word == term).count();
        Ok(Some(self.score(field, block, &[term], freq.max(1) as f64, boost)))
    }

    fn analyzed(&self, field: &Field, text: &str) -> Read<Vec<words::Token>> {
        Ok(words::analyze(search_analyzer(field), text)?.0)
    }

    fn eval_match(
        &self,
        field: &Field,
        block: &Block,
        value: &Value,
        options: &Value,
        boost: f64,
    ) -> Read<Match> {
        if field.kind != "text" {
            if options.get("fuzziness").is_some() {
                return skip("fuzziness of a match without text");
            }
            return self.eval_term(field, block, value, false, boost);
        }
        let words = self.analyzed(field, &plain(value))?;
        if words.is_empty() {
            let all = options.get("zero_terms_query").and_then(Value::as_str) == Some("all");
            return Ok(all.then_some(boost));
        }
        let mut found = Vec::new();
        for (word, _) in &words {
            if options.get("fuzziness").is_some() {
                let fuzzy = Fuzzy::read(options, word)?;
                let near = block.tokens(&field.name).iter().any(|(term, _)| fuzzy.fits(word, term));
                found.extend(near.then_some(f64::NAN));
            } else {
                found.extend(self.eval_term(
                    field,
                    block,
                    &Value::from(word.as_str()),
                    false,
                    boost,
                )?);
            }
        }
        let and = options.get("operator").and_then(Value::as_str).unwrap_or("or");
        let needed = match options.get("minimum_should_match") {
            _ if and.eq_ignore_ascii_case("and") => words.len() as i64,
            Some(spec) if words.len() > 1 => minimum(spec, words.len())?.max(1),
            _ => 1,
        };
        Ok((found.len() as i64 >= needed).then(|| found.iter().sum()))
    }

    fn eval_phrase(
        &self,
        field: &Field,
        block: &Block,
        text: &str,
        slop: i64,
        prefix: bool,
        boost: f64,
    ) -> Read<Match> {
        if field.kind != "text" {
            return skip("a phrase without text");
        }
        let words = self.analyzed(field, text)?;
        let said = block.tokens(&field.name);
        let is = |at: usize, term: &str| {
            let wanted = &words[at].0;
            if prefix && at + 1 == words.len() { term.starts_with(wanted) } else { term == wanted }
        };
        if words.len() <= 1 {
            let found = said.iter().filter(|(term, _)| !words.is_empty() && is(0, term)).count();
            if found == 0 {
                return Ok(None);
            }
            let terms = [words[0].0.clone()];
            let score = || self.score(field, block, &terms, found as f64, boost);
            return Ok(Some(if prefix { f64::NAN } else { score() }));
        }
        // Places of each word, as if each were the first.
        let places: Vec<Vec<i64>> = (0..words.len())
            .map(|at| {
                let own = said.iter().filter(|(term, _)| is(at, term));
                own.map(|(_, place)| place - words[at].1).collect()
            })
            .collect();
        let begins = &places[0];
        if slop == 0 {
            let whole = |begin: &&i64| places.iter().all(|list| list.contains(begin));
            let freq = begins.iter().filter(whole).count();
            if freq == 0 {
                return Ok(None);
            }
            let terms: Vec<String> = words.iter().map(|(word, _)| word.clone()).collect();
            let score = self.score(field, block, &terms, freq as f64, boost);
            return Ok(Some(if prefix { f64::NAN } else { score }));
        }
        let mut sorted: Vec<&String> = words.iter().map(|(word, _)| word).collect();
        sorted.sort();
        sorted.dedup();
        if sorted.len() < words.len() || prefix {
            return skip("a sloppy phrase with repeats");
        }
        let near = begins.iter().any(|begin| within(&places[1..], *begin, *begin, slop));
        Ok(near.then_some(f64::NAN))
    }

    fn eval_bool_prefix(
        &self,
        field: &Field,
        block: &Block,
        value: &Value,
        options: &Value,
        boost: f64,
    ) -> Read<Match> {
        let words = self.analyzed(field, &plain(value))?;
        let Some(((last, _), first)) = words.split_last() else { return Ok(None) };
        let mut found = Vec::new();
        for (word, _) in first {
            found.extend(self.eval_term(
                field,
                block,
                &Value::from(word.as_str()),
                false,
                boost,
            )?);
        }
        if words::ends_in_word(search_analyzer(field), &plain(value)) {
            let begun = block.tokens(&field.name).iter().any(|(term, _)| term.starts_with(last));
            found.extend(begun.then_some(boost));
        } else {
            let last = Value::from(last.as_str());
            found.extend(self.eval_term(field, block, &last, false, boost)?);
        }
        let and = options.get("operator").and_then(Value::as_str);
        let and = and.is_some_and(|word| word.eq_ignore_ascii_case("and"));
        let needed = match options.get("minimum_should_match") {
            _ if and => words.len() as i64,
            Some(spec) if words.len() > 1 => minimum(spec, words.len())?.max(1),
            _ => 1,
        };
        Ok((found.len() as i64 >= needed).then(|| found.iter().sum()))
    }

    fn eval_multi_match(&self, body: &Value, block: &Block, boost: f64) -> Read<Match> {
        let Some(query) = body.get("query") else { return skip("no query") };
        let kind = body.get("type").and_then(Value::as_str).unwrap_or("best_fields");
        let mut found = Vec::new();
        for name in list(body.get("fields")) {
            let name = name.as_str().unwrap_or_default();
            let (name, own) = match name.split_once('^') {
                Some((name, own)) => (name, own.parse().unwrap_or(1.0)),
                None => (name, 1.0),
            };
            let Some(field) = self.world.schema.field(name) else { continue };
            found.extend(match kind {
                "best_fields" | "most_fields" => {
                    self.eval_match(field, block, query, body, boost * own)?
                }
                "phrase" => {
                    let slop = number(body, "slop", 0.0) as i64;
                    self.eval_phrase(field, block, &plain(query), slop, false, boost * own)?
                }
                "phrase_prefix" => {
                    self.eval_phrase(field, block, &plain(query), 0, true, boost * own)?
                }
                "bool_prefix" => self.eval_bool_prefix(field, block, query, body, boost * own)?,
                other => return skip(format!("a kind of multi_match [{other}]")),
            });
        }
        let sums = matches!(kind, "most_fields" | "bool_prefix");
        let otherwise = if sums { 1.0 } else { 0.0 };
        Ok(best(&found, number(body, "tie_breaker", otherwise)))
    }

    fn eval_terms_set(&self, body: &Value, block: &Block, outer: f64) -> Read<Match> {
        let (path, options) = only(body)?;
        let boost = outer * number(options, "boost", 1.0);
        let Some(field) = self.world.schema.field(path) else { return Ok(None) };
        let least = options.get("minimum_should_match_field").and_then(Value::as_str);
        let values = block.values(least.unwrap_or_default());
        let Some(Val::Int(least)) = values.first() else { return Ok(None) };
        if values.len() > 1 {
            return skip("several minima");
        }
        let mut found = Vec::new();
        for value in list(options.get("terms")) {
            found.extend(self.eval_term(field, block, value, false, boost)?);
        }
        let enough = found.len() as i128 >= (*least).max(1);
        Ok(enough.then(|| found.iter().sum()))
    }
}

/// What makes words of texts that are looked for.
fn search_analyzer(field: &Field) -> &str {
    let analyzer = field.text("search_analyzer").or_else(|| field.text("analyzer"));
    analyzer.unwrap_or("standard")
}

/// The larger; not known where either is not.
fn nan_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// The best score and a share of the others.
fn best(found: &[f64], share: f64) -> Match {
    let best = found.iter().copied().reduce(nan_max)?;
    let all: f64 = found.iter().sum();
    Some(if found.len() == 1 { best } else { best + (all - best) * share })
}

/// Nested objects of a path, at whatever depth below this block they stand.
pub fn inside<'b>(block: &'b Block, path: &str) -> Vec<&'b Block> {
    let mut found = Vec::new();
    for (name, blocks) in &block.nested {
        if name == path {
            found.extend(blocks);
        } else if path.starts_with(&format!("{name}.")) {
            found.extend(blocks.iter().flat_map(|block| inside(block, path)));
        }
    }
    found
}

/// Can a place be taken of each list so that all lie within `slop`?
fn within(lists: &[Vec<i64>], low: i64, high: i64, slop: i64) -> bool {
    if high - low > slop {
        return false;
    }
    let Some((first, rest)) = lists.split_first() else { return true };
    first.iter().any(|place| within(rest, low.min(*place), high.max(*place), slop))
}

/// Small letters, where capital ones are to be the same: those of ASCII alone, as Elasticsearch takes it.
pub fn folded(text: &str, insensitive: bool) -> String {
    if insensitive { text.to_ascii_lowercase() } else { text.to_owned() }
}

/// The terms of a document in a field of terms.
pub fn words_of(field: &Field, block: &Block) -> Read<Vec<String>> {
    match field.kind.as_str() {
        "text" => Ok(block.tokens(&field.name).iter().map(|(word, _)| word.clone()).collect()),
        "keyword" | "wildcard" => Ok(block
            .values(&field.name)
            .iter()
            .filter_map(|value| match value {
                Val::Text(text) => Some(text.clone()),
                _ => None,
            })
            .collect()),
        "constant_keyword" => Ok(field.text("value").map(str::to_owned).into_iter().collect()),
        other => skip(format!("a pattern over [{other}]")),
    }
}

/// Options of fuzzy matching.
struct Fuzzy {
    edits: usize,
    prefix: usize,
    swaps: bool,
}

impl Fuzzy {
    fn read(options: &Value, word: &str) -> Read<Self> {
        let edits = match options.get("fuzziness").map(plain).as_deref() {
            None | Some("AUTO") => match word.chars().count() {
                0..=2 => 0,
                3..=5 => 1,
                _ => 2,
            },
            Some(text) => text.parse().map_err(|_| super::Skip("a fuzziness".into()))?,
        };
        let swap = options.get("transpositions").or_else(|| options.get("fuzzy_transpositions"));
        let prefix = number(options, "prefix_length", 0.0) as usize;
        Ok(Self { edits, prefix, swaps: swap.and_then(Value::as_bool).unwrap_or(true) })
    }

    fn fits(&self, wanted: &str, term: &str) -> bool {
        let begin: String = wanted.chars().take(self.prefix).collect();
        let rest: String = wanted.chars().skip(self.prefix).collect();
        term.strip_prefix(&begin)
            .is_some_and(|term| patterns::distance(&rest, term, self.swaps) <= self.edits)
    }
}
