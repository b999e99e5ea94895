//! Partial documents: merged into the whole, told apart from those that change nothing.

use crate::value::Value;

/// Merges as [`merge`] does, but for objects at these paths, which are replaced too.
pub fn merge_but(whole: &mut Value, change: &Value, replaces: &dyn Fn(&str) -> bool) {
    merge_at(whole, change, replaces, &mut String::new());
}

fn merge_at(whole: &mut Value, change: &Value, replaces: &dyn Fn(&str) -> bool, path: &mut String) {
    let (Value::Object(whole), Value::Object(change)) = (&mut *whole, change) else {
        *whole = change.clone();
        return;
    };
    for (key, value) in change.iter() {
        let len = path.len();
        if len > 0 {
            path.push('.');
        }
        path.push_str(key);
        match whole.get_mut(key) {
            Some(old) if !replaces(path) => merge_at(old, value, replaces, path),
            Some(old) => *old = value.clone(),
            None => {
                whole.insert(key, value.clone());
            }
        }
        path.truncate(len);
    }
}

/// Merges `change` into `whole`: objects member by member, everything else replaced, explicit
/// `null` kept. Answers whether anything changed: text of numbers counts, order of keys does not.
pub fn merge(whole: &mut Value, change: &Value) -> bool {
    if let (Value::Object(whole), Value::Object(change)) = (&mut *whole, change) {
        let mut changed = false;
        for (key, value) in change.iter() {
            match whole.get_mut(key) {
                Some(old) => changed |= merge(old, value),
                None => {
                    whole.insert(key, value.clone());
                    changed = true;
                }
            }
        }
        return changed;
    }
    if whole == change {
        return false;
    }
    *whole = change.clone();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn objects_merge_and_the_rest_is_replaced() {
        let mut whole = json!({"a": {"b": 1, "c": [1, 2]}, "d": "x"});
        assert!(merge(&mut whole, &json!({"a": {"c": [3], "e": null}, "d": {"f": true}})));
        assert_eq!(whole, json!({"a": {"b": 1, "c": [3], "e": null}, "d": {"f": true}}));
    }

    #[test]
    fn objects_of_some_paths_are_replaced() {
        let mut whole = json!({"a": {"b": {"x": 1}, "c": {"x": 1}}, "d": [1]});
        let change = json!({"a": {"b": {"y": 2}, "c": {"y": 2}}, "d": {"e": 1}});
        merge_but(&mut whole, &change, &|path| path == "a.b");
        assert_eq!(whole, json!({"a": {"b": {"y": 2}, "c": {"x": 1, "y": 2}}, "d": {"e": 1}}));
    }

    #[test]
    fn nothing_new_changes_nothing() {
        let mut whole = json!({"a": {"b": 1, "c": [1, 2]}, "n": null});
        assert!(!merge(&mut whole, &json!({"a": {"b": 1}, "n": null})));
        assert!(!merge(&mut whole, &json!({})));
        assert!(merge(&mut whole, &json!({"a": {"b": 1.0}})));
        assert!(merge(&mut whole, &json!({"z": null})));
    }
}
