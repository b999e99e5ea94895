//! Fields that may be seen: rules over paths, and sources reduced to them.
//!
//! Always true
//! 1. The names of [`METADATA`] are always permitted: they are no fields of the user's. Others that begin with `_`
//!    are fields as any.
//! 2. What lies below an excepted path is excepted: sub-fields, members of objects.
//! 3. A source reduced to permitted fields holds no value, and no name, of another field.

use crate::path::wildcard;
use crate::{Object, Value};

/// Names that belong to the system: no document has fields of these names.
pub const METADATA: [&str; 12] = [
    "_doc_count",
    "_field_names",
    "_id",
    "_ignored",
    "_index",
    "_nested_path",
    "_primary_term",
    "_routing",
    "_seq_no",
    "_source",
    "_tier",
    "_version",
];

/// What may lie below a path in documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// Anything.
    Any,
    /// What stands under these paths at most, counted from it.
    These(Vec<String>),
}

/// Fields granted, and those taken out again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldRule {
    /// Patterns; `None` is all.
    pub grant: Option<Vec<String>>,
    /// Patterns taken out, with everything below them.
    pub except: Vec<String>,
}

impl FieldRule {
    /// May the field at this path be seen?
    pub fn permits(&self, path: &str) -> bool {
        if path.starts_with('_') && METADATA.contains(&path) {
            return true;
        }
        let granted =
            self.grant.as_ref().is_none_or(|grant| grant.iter().any(|one| wildcard(one, path)));
        granted && !self.excepts(path)
    }

    /// Is the field at this path, or one above it, taken out?
    fn excepts(&self, path: &str) -> bool {
        self.except.iter().any(|one| is_at_or_below(one, path))
    }

    /// Is the field at this path seen, and no member of it taken out?
    fn permits_parts(&self, path: &str, members: &Members) -> bool {
        let excepts = |name: &String| self.excepts(&format!("{path}.{name}"));
        self.permits(path)
            && match members {
                Members::Any => !self.excepts_members(path),
                Members::These(names) => !names.iter().any(excepts),
            }
    }

    /// Is the field at this path seen with all members that it may have? (False also where a pattern leaves
    /// that open.)
    fn permits_members(&self, path: &str) -> bool {
        // Longer than any name, so that a star alone stands for it.
        let below = format!("{path}.{}", "\u{10FFFF}".repeat(64));
        self.permits(path)
            && !self.excepts_members(path)
            && self.grant.as_ref().is_none_or(|grant| grant.iter().any(|one| wildcard(one, &below)))
    }

    /// May an exception reach a member of the field at this path?
    fn excepts_members(&self, path: &str) -> bool {
        let below = format!("{path}.");
        self.except.iter().any(|one| {
            let literal = &one[..one.find(['*', '?', '\\']).unwrap_or(one.len())];
            let is_pattern = literal.len() < one.len();
            literal.starts_with(&below) || (is_pattern && below.starts_with(literal))
        })
    }
}

/// What of a value is not in what was kept of it.
fn rest(value: &Value, kept: &Value) -> Value {
    let (Value::Object(value), Value::Object(kept)) = (value, kept) else {
        return value.clone();
    };
    let mut left = Object::new();
    for (key, own) in value.iter() {
        let hidden = match kept.get(key) {
            Some(shown) if shown == own => continue,
            Some(shown) => rest(own, shown),
            None => own.clone(),
        };
        left.insert(key, hidden);
    }
    Value::Object(left)
}

/// Sets of rules: every set must permit a field, by any of its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields(pub Vec<Vec<FieldRule>>);

impl Fields {
    /// May the field at this path be seen?
    pub fn permits(&self, path: &str) -> bool {
        self.0.iter().all(|rules| rules.iter().any(|rule| rule.permits(path)))
    }

    /// Is the field at this path seen with all members that it may have? For fields whose members the
    /// mapping does not know: their keys are values.
    pub fn permits_members(&self, path: &str) -> bool {
        self.0.iter().all(|rules| rules.iter().any(|rule| rule.permits_members(path)))
    }

    /// Is the field at this path seen, and no member of it excepted that it may have? For fields of one value
    /// that a document may write as an object: a range, a place.
    pub fn permits_parts(&self, path: &str, members: &Members) -> bool {
        let is_whole = |rule: &FieldRule| rule.permits_parts(path, members);
        self.0.iter().all(|rules| rules.iter().any(is_whole))
    }

    /// The source with permitted fields alone. What is no object stays away.
    pub fn reduce(&self, source: &Value) -> Value {
        match source {
            Value::Object(object) => Value::Object(self.members(object, &mut String::new())),
            _ => Value::object(),
        }
    }

    /// What of a source is not permitted: what reducing it takes away. A list of which a part is hidden is
    /// hidden as a whole, for its members have no names.
    pub fn hidden(&self, source: &Value) -> Value {
        rest(source, &self.reduce(source))
    }

    /// Does a change, laid over a source, leave alone whatever of it is not permitted? Each value of the
    /// change must be permitted with all that may lie below it, so that nothing is said of what is there; and
    /// so must an object, but where an object is `seen` to stand: into that it is merged, and takes the place
    /// of anything else.
    pub fn permits_change(
        &self,
        change: &Value,
        seen: &Value,
        members: &dyn Fn(&str) -> Members,
    ) -> bool {
        match change {
            Value::Object(object) => {
                self.permits_members_of(object, Some(seen), members, &mut String::new())
            }
            _ => false,
        }
    }

    fn permits_members_of(
        &self,
        object: &Object,
        seen: Option<&Value>,
        members: &dyn Fn(&str) -> Members,
        path: &mut String,
    ) -> bool {
        object.iter().all(|(key, value)| {
            let len = path.len();
            if len > 0 {
                path.push('.');
            }
            path.push_str(key);
            let permitted = match value {
                Value::Object(inner) if !inner.is_empty() => {
                    let there = seen.and_then(|seen| seen.get(key));
                    let there = there.filter(|there| there.as_object().is_some());
                    (there.is_some() || self.permits_parts(path, &members(path)))
                        && self.permits_members_of(inner, there, members, path)
                }
                // An empty one, too: whether it changes anything tells whether one of hidden members is there.
                _ => self.permits_parts(path, &members(path)),
            };
            path.truncate(len);
            permitted
        })
    }

    /// As [`Fields::reduce`], from text to text; text that does not read becomes `{}`.
    pub fn reduce_text(&self, source: &[u8]) -> Vec<u8> {
        let value = crate::parse(source).unwrap_or_default();
        crate::to_vec(&self.reduce(&value))
    }

    fn members(&self, object: &Object, path: &mut String) -> Object {
        let mut kept = Object::new();
        for (key, value) in object.iter() {
            let len = path.len();
            if len > 0 {
                path.push('.');
            }
            path.push_str(key);
            if let Some(value) = self.value(value, path) {
                kept.insert(key, value);
            }
            path.truncate(len);
        }
        kept
    }

    /// What of a value may be seen; `None` where nothing may.
    fn value(&self, value: &Value, path: &mut String) -> Option<Value> {
        match value {
            Value::Object(object) => {
                let kept = self.members(object, path);
                let is_seen = !kept.is_empty() || (object.is_empty() && self.permits(path));
                is_seen.then_some(Value::Object(kept))
            }
            Value::Array(items) => {
                if items.is_empty() {
                    return self.permits(path).then(|| value.clone());
                }
                let kept: Vec<Value> =
                    items.iter().filter_map(|item| self.value(item, path)).collect();
                (!kept.is_empty()).then_some(Value::Array(kept))
            }
            _ => self.permits(path).then(|| value.clone()),
        }
    }
}

/// Does `path`, or an object around it, fit the pattern?
fn is_at_or_below(pattern: &str, path: &str) -> bool {
    wildcard(pattern, path) || path.match_indices('.').any(|(at, _)| wildcard(pattern, &path[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn rule(grant: &[&str], except: &[&str]) -> FieldRule {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        FieldRule { grant: Some(list(grant)), except: list(except) }
    }

    #[test]
    fn a_field_is_seen_with_its_members_where_no_rule_may_hide_one() {
        let of = |rule: FieldRule| Fields(vec![vec![rule]]);
        for (grant, except, all, whole) in [
            (&["*"][..], &[][..], true, true),
            (&["f*"], &[], true, true),
            (&["f", "f.*"], &["g", "g.*", "fa*"], true, true),
            (&["f"], &[], false, true),
            (&["f", "f.??"], &[], false, true),
            (&["*"], &["f.sec"], false, false),
            (&["*"], &["*.sec"], false, false),
            (&["*"], &["f.*"], false, false),
            (&["*"], &["f"], false, false),
            (&["f.a"], &[], false, false),
        ] {
            let fields = of(rule(grant, except));
            let found = (fields.permits_members("f"), fields.permits_parts("f", &Members::Any));
            assert_eq!(found, (all, whole), "{grant:?} {except:?}");
        }
        // Where the members are known, no pattern hides another.
        let these = Members::These(vec!["a".into(), "b.c".into()]);
        for (except, whole) in
            [("*.sec", true), ("f.sec", true), ("*.c", false), ("f.b", false), ("?.a", false)]
        {
            let found = of(rule(&["*"], &[except])).permits_parts("f", &these);
            assert_eq!(found, whole, "{except}");
        }
        let either = Fields(vec![vec![rule(&["*"], &["f.a"]), rule(&["*"], &["f.b"])]]);
        assert!(!either.permits_members("f"), "no rule shows all of it");
    }

    #[test]
    fn what_lies_below_an_excepted_field_is_excepted() {
        let limits = rule(&["*"], &["name", "a.s*"]);
        for (path, seen) in [
            ("name", false),
            ("name.keyword", false),
            ("names", true),
            ("a.b", true),
            ("a.secret", false),
            ("a.secret.deep", false),
            ("_id", true),
        ] {
            assert_eq!(limits.permits(path), seen, "{path}");
        }
        let limits = rule(&["title", "o.*"], &["_*"]);
        for (path, seen) in [
            ("title", true),
            ("title.keyword", false),
            ("o.a.b", true),
            ("o", false),
            ("_id", true),
            ("_own", false),
            ("_id.x", false),
        ] {
            assert_eq!(limits.permits(path), seen, "{path}");
        }
    }

    #[test]
    fn a_source_is_reduced_to_what_may_be_seen() {
        let fields = Fields(vec![vec![rule(&["a", "o.x", "l.*", "e"], &["l.secret"])]]);
        let source = json!({"a": 1, "b": 2, "o": {"x": 3, "y": 4}, "p": {"q": 1}, "e": [],
            "l": [{"k": 1, "secret": 2}, {"secret": 3}], "a.b": 5});
        let expected = json!({"a": 1, "o": {"x": 3}, "e": [], "l": [{"k": 1}]});
        assert_eq!(fields.reduce(&source), expected);
        assert_eq!(fields.reduce_text(b"rubbish"), b"{}");
        let both = Fields(vec![vec![rule(&["a", "b"], &[])], vec![rule(&["b", "c"], &[])]]);
        assert_eq!(both.reduce(&json!({"a": 1, "b": 2, "c": 3})), json!({"b": 2}));
    }

    #[test]
    fn a_change_must_leave_alone_what_is_hidden() {
        let except = ["secret", "o.x", "unseen.x", "list.x"].map(String::from).to_vec();
        let fields = Fields(vec![vec![FieldRule { grant: None, except }]]);
        let seen = json!({"o": {"y": 3}, "list": [{"y": 1}]});
        for (change, permitted) in [
            (json!({"n": 1}), true),
            (json!({"n": null, "o": {"y": [1, {"z": 2}]}}), true),
            (json!({"e": {}}), true),
            (json!({"o": {}}), false),
            // It would take the place of what is hidden: none, an object, a list.
            (json!({"unseen": {"y": 1}}), false),
            (json!({"list": {"y": 1}}), false),
            (json!({"free": {"y": 1}}), true),
            (json!({"secret": 1}), false),
            (json!({"secret": {}}), false),
            (json!({"secret": {"below": 1}}), false),
            (json!({"o": {"x": 1}}), false),
            (json!({"o.x": 1}), false),
            (json!({"o": null}), false),
            (json!({"o": 1}), false),
            (json!({"o": [{"y": 1}]}), false),
        ] {
            let found = fields.permits_change(&change, &seen, &|_| Members::Any);
            assert_eq!(found, permitted, "{}", crate::to_string(&change));
        }
        let source = json!({"n": 1, "secret": {"a": 1}, "o": {"x": 2, "y": 3}, "l": [{"x": 1}]});
        let hidden = json!({"secret": {"a": 1}, "o": {"x": 2}});
        assert_eq!(fields.hidden(&source), hidden);
        let listed = FieldRule { grant: None, except: vec!["l.x".into()] };
        let source = json!({"l": [{"x": 1, "y": 2}], "n": 1});
        assert_eq!(Fields(vec![vec![listed]]).hidden(&source), json!({"l": [{"x": 1, "y": 2}]}));
    }
}
