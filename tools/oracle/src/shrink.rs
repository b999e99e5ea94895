//! Makes a failing case smaller by leaving out what it still fails without.

use json::Value;

/// A case as small as simple means make it; `fails` runs one and tells whether it still fails.
/// At most `runs_max` runs.
pub fn shrink(case: &Value, runs_max: usize, fails: &mut dyn FnMut(&Value) -> bool) -> Value {
    let mut best = case.clone();
    let mut runs = 0;
    // Large pieces first; again as long as something gives.
    loop {
        let mut gave = false;
        let mut at = 0;
        loop {
            let paths = places(&best);
            let Some(path) = paths.get(at) else { break };
            let mut smaller = false;
            for candidate in candidates(&best, path) {
                if runs >= runs_max {
                    return best;
                }
                runs += 1;
                if fails(&candidate) {
                    best = candidate;
                    smaller = true;
                    gave = true;
                    break;
                }
            }
            if !smaller {
                at += 1;
            }
        }
        if !gave {
            return best;
        }
    }
}

#[derive(Clone, Debug)]
enum Part {
    Key(String),
    At(usize),
}

/// All places of a tree that hold something, outer ones first.
fn places(value: &Value) -> Vec<Vec<Part>> {
    let mut found = vec![Vec::new()];
    let mut next = 0;
    while next < found.len() {
        let path = found[next].clone();
        let inner: Vec<Part> = match at(value, &path) {
            Some(Value::Object(object)) => object.keys().map(|key| Part::Key(key.into())).collect(),
            // The last steps fail; those before them are tried first.
            Some(Value::Array(array)) => (0..array.len()).map(Part::At).collect(),
            _ => Vec::new(),
        };
        found.extend(inner.into_iter().map(|part| [path.clone(), vec![part]].concat()));
        next += 1;
    }
    found
}

fn at<'v>(value: &'v Value, path: &[Part]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, part| match part {
        Part::Key(key) => value.get(key),
        Part::At(at) => value.as_array().and_then(|all| all.get(*at)),
    })
}

fn at_mut<'v>(value: &'v mut Value, path: &[Part]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, part| match (part, value) {
        (Part::Key(key), Value::Object(object)) => object.get_mut(key),
        (Part::At(at), Value::Array(all)) => all.get_mut(*at),
        _ => None,
    })
}

fn with(value: &Value, path: &[Part], change: impl FnOnce(&mut Value)) -> Option<Value> {
    let mut new = value.clone();
    change(at_mut(&mut new, path)?);
    Some(new)
}

/// Smaller trees: parts of an array left out, a member left out, a clause instead of its parent.
fn candidates(value: &Value, path: &[Part]) -> Vec<Value> {
    let mut found = Vec::new();
    match at(value, path) {
        Some(Value::Array(all)) if !all.is_empty() => {
            let mut width = all.len();
            let count = all.len();
            while width > 0 {
                for begin in (0..count).step_by(width) {
                    let end = (begin + width).min(count);
                    found.extend(with(value, path, |array| {
                        if let Value::Array(all) = array {
                            drop(all.drain(begin..end));
                        }
                    }));
                }
                if width == 1 || found.len() > 40 {
                    break;
                }
                width /= 2;
            }
        }
        Some(Value::Object(object)) => {
            for key in object.keys() {
                found.extend(with(value, path, |object| {
                    if let Value::Object(object) = object {
                        object.remove(key);
                    }
                }));
            }
            // A clause in place of the query that holds it.
            let (Some(kind), 1) = (object.keys().next(), object.len()) else { return found };
            if matches!(kind, "bool" | "dis_max" | "boosting" | "function_score" | "constant_score")
            {
                let clauses = object.values().flat_map(|body| {
                    let members = body.as_object().into_iter().flat_map(|body| body.values());
                    members.flat_map(super::find::document::flat)
                });
                for clause in clauses.filter(|clause| clause.as_object().is_some()) {
                    found.extend(with(value, path, |query| *query = clause.clone()));
                }
            }
        }
        _ => {}
    }
    found
}
