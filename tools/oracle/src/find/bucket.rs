//! Aggregations that put documents into buckets.

use std::cmp::Ordering;

use json::{Object, Value, json};

use super::aggregate::{self, Row};
use super::document::{Val, keep, plain};
use super::matching::{list, only};
use super::schema::Field;
use super::statistics::Statistics;
use super::world::World;
use super::{Read, skip, time};

/// For how many documents these stand: each for as many as it says.
fn count(rows: &[Row<'_>]) -> usize {
    rows.iter().map(|row| row.at.multitude as usize).sum()
}

/// One bucket: its count, and what its aggregations come to.
pub fn one(world: &World, subs: Option<&Value>, rows: &[Row<'_>], mut head: Object) -> Read<Value> {
    head.insert("doc_count", count(rows));
    if let Some(subs) = subs
        && let Value::Object(inner) = aggregate::all(world, subs, rows)?
    {
        for (key, value) in inner {
            head.insert(key, value);
        }
    }
    Ok(Value::Object(head))
}

fn column<'w>(world: &'w World, body: &Value) -> Read<&'w Field> {
    let name = body.get("field").and_then(Value::as_str).unwrap_or_default();
    match world.schema.field(name) {
        Some(field) if field.has_column() => Ok(field),
        _ => skip(format!("no column of [{name}]")),
    }
}

/// Values of a row, each once, or what stands for none.
fn values(field: &Field, row: &Row<'_>, missing: Option<&Value>) -> Read<Vec<Val>> {
    let mut values = row.at.values(&field.name).to_vec();
    values.dedup_by(|a, b| a.compare(b).is_eq());
    if let (true, Some(missing)) = (values.is_empty(), missing) {
        match field.kind.as_str() {
            "keyword" => values.push(Val::Text(plain(missing))),
            _ => values.extend(keep(field, missing)?),
        }
    }
    Ok(values)
}

/// How a value shows as the key of a bucket.
fn key(field: &Field, value: &Val, head: &mut Object) -> Read<()> {
    match (field.kind.as_str(), value) {
        ("boolean", Val::Int(value)) => {
            head.insert("key", *value as f64);
            head.insert("key_as_string", if *value == 1 { "true" } else { "false" });
        }
        ("date", Val::Int(value)) => {
            head.insert("key", *value as f64);
            head.insert("key_as_string", time::show("", *value as i64)?);
        }
        ("ip", Val::Int(value)) => {
            let address = std::net::Ipv6Addr::from(*value as u128);
            let text = address.to_ipv4_mapped().map_or(address.to_string(), |old| old.to_string());
            head.insert("key", text);
        }
        (_, Val::Text(text)) => {
            head.insert("key", text.as_str());
        }
        ("date_nanos", _) => return skip("buckets of nanoseconds"),
        (_, Val::Int(value)) => {
            let number = json::Number::from_text(&value.to_string());
            head.insert("key", number.map(Value::from));
        }
        (_, Val::Float(value)) => {
            head.insert("key", *value);
        }
        _ => return skip("buckets of something else"),
    }
    Ok(())
}

/// Groups rows by their values.
fn grouped<'a>(
    field: &Field,
    rows: &[Row<'a>],
    missing: Option<&Value>,
) -> Read<Vec<(Val, Vec<Row<'a>>)>> {
    let mut groups: Vec<(Val, Vec<Row<'a>>)> = Vec::new();
    for row in rows {
        for value in values(field, row, missing)? {
            match groups.iter_mut().find(|(other, _)| other.compare(&value).is_eq()) {
                Some((_, rows)) => rows.push(*row),
                None => groups.push((value, vec![*row])),
            }
        }
    }
    Ok(groups)
}

/// `terms`.
pub fn terms(world: &World, body: &Value, subs: Option<&Value>, rows: &[Row<'_>]) -> Read<Value> {
    let field = column(world, body)?;
    let mut groups = grouped(field, rows, body.get("missing"))?;
    let texts = |key: &str| -> Option<Vec<String>> {
        body.get(key).map(|all| list(Some(all)).into_iter().map(plain).collect())
    };
    let text = |value: &Val| match value {
        Val::Text(text) => text.clone(),
        other => other.number().map(|number| number.to_string()).unwrap_or_default(),
    };
    let (include, exclude) = (texts("include"), texts("exclude"));
    groups.retain(|(value, _)| {
        let text = text(value);
        include.as_ref().is_none_or(|all| all.contains(&text))
            && exclude.as_ref().is_none_or(|all| !all.contains(&text))
    });
    let least = body.get("min_doc_count").and_then(Value::as_u64).unwrap_or(1) as usize;
    if least == 0 {
        return skip("empty buckets of terms");
    }
    let size = body.get("size").and_then(Value::as_u64).unwrap_or(10) as usize;
    let several = world.shards.len() > 1;
    // A shard tells only its best: beyond that counts are estimates, by Elasticsearch's own rule.
    let (there, told) = (groups.len(), size + size / 2 + 10);
    if (several || least > 1) && there > told {
        return skip("more terms than shards tell");
    }
    // By key a shard tells no more than are asked for, and those that are too rare are left out later.
    let by_key = list(body.get("order")).first().is_some_and(|order| order.get("_key").is_some());
    if by_key && least > 1 && groups.len() > size {
        return skip("rare terms by key");
    }
    let total: usize = groups.iter().map(|(_, rows)| self::count(rows)).sum();
    groups.retain(|(_, rows)| self::count(rows) >= least);
    let mut made = Vec::new();
    for (value, rows) in groups {
        let mut head = Object::new();
        key(field, &value, &mut head)?;
        let count = self::count(&rows);
        made.push((value, count, one(world, subs, &rows, head)?));
    }
    let default = json!([{"_count": "desc"}]);
    let orders = list(Some(body.get("order").unwrap_or(&default)));
    for (_, _, bucket) in &made {
        for order in &orders {
            let (name, _) = only(order)?;
            if !name.starts_with('_') && sub_value(bucket, name).is_none() {
                return skip("an order by nothing");
            }
        }
    }
    made.sort_by(|a, b| {
        let by = orders.iter().map(|order| {
            let Ok((name, way)) = only(order) else { return Ordering::Equal };
            let by = match name {
                "_count" => a.1.cmp(&b.1),
                "_key" => a.0.compare(&b.0),
                name => {
                    let (a, b) = (sub_value(&a.2, name), sub_value(&b.2, name));
                    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
                }
            };
            if way.as_str() == Some("desc") { by.reverse() } else { by }
        });
        by.fold(Ordering::Equal, Ordering::then).then_with(|| a.0.compare(&b.0))
    });
    // Sums in another order differ in their last digits, and so may an order by them.
    let sums = |name: &str| !name.starts_with('_');
    for order in &orders {
        let (name, _) = only(order)?;
        let close = |pair: &[(Val, usize, Value)]| match (
            sub_value(&pair[0].2, name),
            sub_value(&pair[1].2, name),
        ) {
            (Some(a), Some(b)) => a != b && super::order::near(a, b),
            _ => false,
        };
        if sums(name) && made.windows(2).any(close) {
            return skip("an order too near");
        }
    }
    let shown: usize = made.iter().take(size).map(|(_, count, _)| count).sum();
    // What is left out for its count is told too, by what the shards sent: not looked at.
    let mut expected = json!({});
    if let Some(expected) = expected.as_object_mut() {
        // Where a shard tells as many as it may, in an order that says nothing of counts, nothing is known of the rest.
        let says_counts = match orders.first().map(|order| only(order)).transpose()? {
            Some(("_count", way)) => way.as_str() == Some("desc"),
            Some((name, _)) => name == "_key",
            None => true,
        };
        let is_unknown = there >= told && !says_counts;
        // Of several shards it may be that none tells as many.
        if !(is_unknown && several) {
            expected.insert("doc_count_error_upper_bound", if is_unknown { -1 } else { 0 });
        }
        if least <= 1 {
            expected.insert("sum_other_doc_count", total - shown);
        }
        expected
            .insert("buckets", made.into_iter().take(size).map(|(_, _, b)| b).collect::<Value>());
    }
    Ok(expected)
}

fn sub_value(bucket: &Value, name: &str) -> Option<f64> {
    let (name, part) = name.split_once('.').unwrap_or((name, "value"));
    bucket.at(&[name, part]).and_then(Value::as_f64)
}

/// Buckets of numbered places, with those between them that are empty.
fn filled(
    world: &World,
    subs: Option<&Value>,
    mut found: Vec<(f64, Vec<Row<'_>>)>,
    least: usize,
    next: impl Fn(f64) -> Read<f64>,
    head: impl Fn(f64) -> Read<Object>,
) -> Read<Value> {
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut buckets = Vec::new();
    let mut at = found.first().map_or(0.0, |(key, _)| *key);
    for (key, rows) in &found {
        while least == 0 && at < *key - 1e-9 * key.abs().max(1.0) {
            buckets.push(one(world, subs, &[], head(at)?)?);
            at = next(at)?;
            if buckets.len() > 5_000 {
                return skip("too many buckets");
            }
        }
        if count(rows) >= least {
            buckets.push(one(world, subs, rows, head(*key)?)?);
        }
        at = next(*key)?;
    }
    Ok(json!({"buckets": buckets}))
}

fn by_place<'a>(
    field: &Field,
    rows: &[Row<'a>],
    missing: Option<&Value>,
    place: impl Fn(f64) -> Read<f64>,
) -> Read<Vec<(f64, Vec<Row<'a>>)>> {
    let mut found: Vec<(f64, Vec<Row<'a>>)> = Vec::new();
    let unit = if field.kind == "date_nanos" { 1e6 } else { 1.0 };
    for row in rows {
        let mut places = Vec::new();
        for value in values(field, row, missing)? {
            let Some(number) = value.number() else { return skip("no numbers") };
            let number = if unit == 1.0 { number } else { (number / unit).floor() };
            places.push(place(number)?);
        }
        places.sort_by(f64::total_cmp);
        places.dedup();
        for place in places {
            match found.iter_mut().find(|(other, _)| *other == place) {
                Some((_, rows)) => rows.push(*row),
                None => found.push((place, vec![*row])),
            }
        }
    }
    Ok(found)
}

/// `histogram`.
pub fn histogram(
    world: &World,
    body: &Value,
    subs: Option<&Value>,
    rows: &[Row<'_>],
) -> Read<Value> {
    let field = column(world, body)?;
    let number = |key: &str| body.get(key).and_then(Value::as_f64);
    let (interval, offset) = (number("interval").unwrap_or(1.0), number("offset").unwrap_or(0.0));
    let least = number("min_doc_count").unwrap_or(0.0) as usize;
    let found = by_place(field, rows, body.get("missing"), |value| {
        Ok(((value - offset) / interval).floor() * interval + offset)
    })?;
    let head = |at: f64| {
        let mut head = Object::new();
        head.insert("key", at);
        Ok(head)
    };
    filled(world, subs, found, least, |at| Ok(at + interval), head)
}

/// Where a moment belongs, and the next place, by the options of a `date_histogram`.
struct Calendar<'a> {
    unit: Option<&'a str>,
    fixed: i64,
    zone: &'a str,
    offset: i64,
}

impl<'a> Calendar<'a> {
    fn read(body: &'a Value) -> Read<Self> {
        let text = |key: &str| body.get(key).and_then(Value::as_str);
        Ok(Self {
            unit: text("calendar_interval"),
            fixed: text("fixed_interval").map_or(Ok(1), span)?,
            zone: text("time_zone").unwrap_or_default(),
            offset: text("offset").map_or(Ok(0), span)?,
        })
    }

    fn place(&self, at: i64) -> Read<i64> {
        let at = at - self.offset;
        let place = match self.unit {
            Some(unit) => time::floor(unit, self.zone, at)?,
            None => {
                let local = at + time::offset(self.zone, at)?;
                time::to_utc(self.zone, local.div_euclid(self.fixed) * self.fixed)?
            }
        };
        Ok(place + self.offset)
    }

    fn next(&self, at: i64) -> Read<i64> {
        let plain = at - self.offset;
        let local = plain + time::offset(self.zone, plain)?;
        let local = match self.unit {
            Some(unit) => time::add(unit, local, 1)?,
            None => local + self.fixed,
        };
        Ok(time::to_utc(self.zone, local)? + self.offset)
    }
}

fn span(text: &str) -> Read<i64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.trim_start_matches('+')),
    };
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (count, unit) = text.split_at(split);
    let unit = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => time::DAY,
        other => return skip(format!("a span of [{other}]")),
    };
    let count: i64 = count.parse().map_err(|_| super::Skip("a span".into()))?;
    Ok(sign * count * unit)
}

/// `date_histogram`.
pub fn date_histogram(
    world: &World,
    body: &Value,
    subs: Option<&Value>,
    rows: &[Row<'_>],
) -> Read<Value> {
    let field = column(world, body)?;
    let calendar = Calendar::read(body)?;
    let least = body.get("min_doc_count").and_then(Value::as_u64).unwrap_or(0) as usize;
    let found = by_place(field, rows, body.get("missing"), |value| {
        Ok(calendar.place(value as i64)? as f64)
    })?;
    let head = |at: f64| {
        let mut head = Object::new();
        head.insert("key", at);
        if field.kind == "date" {
            head.insert("key_as_string", time::show(calendar.zone, at as i64)?);
        }
        Ok(head)
    };
    filled(world, subs, found, least, |at| Ok(calendar.next(at as i64)? as f64), head)
}

/// `range`, `date_range`.
pub fn ranges(
    world: &World,
    body: &Value,
    subs: Option<&Value>,
    rows: &[Row<'_>],
    dates: bool,
) -> Read<Value> {
    let field = column(world, body)?;
    let bound = |range: &Value, key: &str| -> Read<Option<f64>> {
        match range.get(key) {
            None => Ok(None),
            Some(value) if dates => Ok(Some(time::parse(&plain(value), "")?.0 as f64)),
            Some(value) => Ok(value.as_f64()),
        }
    };
    let shown = |bound: Option<f64>| match bound {
        None => Ok("*".to_owned()),
        Some(at) if dates => time::show("", at as i64),
        Some(at) => Ok(format!("{at:?}")),
    };
    let unit = if field.kind == "date_nanos" { 1e6 } else { 1.0 };
    let mut buckets = Vec::new();
    for range in list(body.get("ranges")) {
        let (from, to) = (bound(range, "from")?, bound(range, "to")?);
        let inside = |value: &Val| {
            let value = value.number().map(|value| value / unit);
            value.is_some_and(|value| {
                from.is_none_or(|from| from <= value) && to.is_none_or(|to| value < to)
            })
        };
        let mut within = Vec::new();
        for row in rows {
            if values(field, row, body.get("missing"))?.iter().any(inside) {
                within.push(*row);
            }
        }
        let mut head = Object::new();
        head.insert(
            "key",
            match range.get("key") {
                Some(key) => plain(key),
                None => format!("{}-{}", shown(from)?, shown(to)?),
            },
        );
        for (name, bound) in [("from", from), ("to", to)] {
            if let Some(bound) = bound {
                head.insert(name, bound);
            }
        }
        let low = from.unwrap_or(f64::NEG_INFINITY);
        let high = to.unwrap_or(f64::INFINITY);
        buckets.push((low, high, one(world, subs, &within, head)?));
    }
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    Ok(json!({"buckets": (buckets.into_iter().map(|(_, _, bucket)| bucket).collect::<Value>())}))
}

/// `filters`.
pub fn filters(world: &World, body: &Value, subs: Option<&Value>, rows: &[Row<'_>]) -> Read<Value> {
    let reader = Statistics { world, shard: None };
    let Some(filters) = body.get("filters") else { return skip("no filters") };
    let named: Vec<(Option<&str>, &Value)> = match filters {
        Value::Object(all) => all.iter().map(|(name, filter)| (Some(name), filter)).collect(),
        all => list(Some(all)).into_iter().map(|filter| (None, filter)).collect(),
    };
    let mut rest: Vec<Row<'_>> = rows.to_vec();
    let (mut object, mut array) = (Object::new(), Vec::new());
    for (name, filter) in named {
        let mut passed = Vec::new();
        for row in rows {
            if reader.eval(filter, row.at, 1.0)?.is_some() {
                passed.push(*row);
                rest.retain(|other| !std::ptr::eq(other.at, row.at));
            }
        }
        let bucket = one(world, subs, &passed, Object::new())?;
        match name {
            Some(name) => drop(object.insert(name, bucket)),
            None => array.push(bucket),
        }
    }
    if body.get("other_bucket").and_then(Value::as_bool) == Some(true) {
        let bucket = one(world, subs, &rest, Object::new())?;
        match object.is_empty() {
            true => array.push(bucket),
            false => drop(object.insert("_other_", bucket)),
        }
    }
    Ok(if object.is_empty() { json!({"buckets": array}) } else { json!({"buckets": object}) })
}

/// `composite`.
pub fn composite(
    world: &World,
    body: &Value,
    subs: Option<&Value>,
    rows: &[Row<'_>],
) -> Read<Value> {
    let mut sources = Vec::new();
    for source in list(body.get("sources")) {
        let (name, source) = only(source)?;
        let (kind, options) = only(source)?;
        sources.push((name, kind, options, column(world, options)?));
    }
    // Every combination of values, by their order.
    let mut groups: Vec<(Vec<Option<Val>>, Vec<Row<'_>>)> = Vec::new();
    for row in rows {
        let mut combinations: Vec<Vec<Option<Val>>> = vec![Vec::new()];
        for (_, kind, options, field) in &sources {
            let mut own = Vec::new();
            for value in values(field, row, None)? {
                let number = value.number();
                own.push(Some(match (*kind, number) {
                    ("terms", _) => value,
                    ("histogram", Some(number)) => {
                        let interval = options.get("interval").and_then(Value::as_f64);
                        let interval = interval.unwrap_or(1.0);
                        Val::Float((number / interval).floor() * interval)
                    }
                    ("date_histogram", Some(at)) if field.kind == "date" => {
                        Val::Int(i128::from(Calendar::read(options)?.place(at as i64)?))
                    }
                    _ => return skip("a source of something else"),
                }));
            }
            own.dedup();
            let missing = options.get("missing_bucket").and_then(Value::as_bool);
            if own.is_empty() && missing == Some(true) {
                own.push(None);
            }
            combinations = combinations
                .iter()
                .flat_map(|begin| {
                    own.iter().map(|value| [begin.clone(), vec![value.clone()]].concat())
                })
                .collect();
        }
        for combination in combinations {
            match groups.iter_mut().find(|(other, _)| *other == combination) {
                Some((_, rows)) => rows.push(*row),
                None => groups.push((combination, vec![*row])),
            }
        }
    }
    groups.sort_by(|a, b| {
        let mut order = Ordering::Equal;
        for ((_, _, options, _), (a, b)) in sources.iter().zip(a.0.iter().zip(&b.0)) {
            let by = match (a, b) {
                (Some(a), Some(b)) => a.compare(b),
                (a, b) => a.is_some().cmp(&b.is_some()),
            };
            let down = options.get("order").and_then(Value::as_str) == Some("desc");
            order = order.then(if down { by.reverse() } else { by });
        }
        order
    });
    let mut buckets = Vec::new();
    for (combination, rows) in &groups {
        let mut keys = Object::new();
        for ((name, kind, _, field), value) in sources.iter().zip(combination) {
            let mut head = Object::new();
            match value {
                None => drop(head.insert("key", Value::Null)),
                Some(value) if *kind != "terms" => {
                    head.insert("key", value.number().unwrap_or(0.0));
                }
                Some(Val::Int(value)) if field.kind == "boolean" => {
                    head.insert("key", *value == 1);
                }
                Some(value) => key(field, value, &mut head)?,
            }
            keys.insert(*name, head.remove("key").unwrap_or_default());
        }
        let mut head = Object::new();
        head.insert("key", keys);
        buckets.push(one(world, subs, rows, head)?);
    }
    // Pages: what comes after the last key of the page before.
    let mut from = 0;
    if let Some(after) = body.get("after") {
        let same = |bucket: &Value| {
            let key = bucket.get("key").unwrap_or(&Value::Null);
            aggregate::difference(key, after, "").is_none()
        };
        match buckets.iter().position(same) {
            Some(at) => from = at + 1,
            None => return skip("after a key that is not there"),
        }
    }
    let size = body.get("size").and_then(Value::as_u64).unwrap_or(10) as usize;
    let page: Vec<Value> = buckets.into_iter().skip(from).take(size).collect();
    let mut expected = json!({"buckets": []});
    if let Some(expected) = expected.as_object_mut() {
        if let Some(last) = page.last().and_then(|bucket| bucket.get("key")) {
            expected.insert("after_key", last.clone());
        }
        expected.insert("buckets", Value::Array(page));
    }
    Ok(expected)
}
