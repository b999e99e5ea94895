//! Templates of searches: Mustache, as Elasticsearch uses it.
//!
//! Values are escaped for JSON strings. Beside sections there are `{{#toJson}}a{{/toJson}}`,
//! `{{#join delimiter='x'}}a{{/join delimiter='x'}}` and `{{#url}}…{{/url}}`.
//!
//! Always true
//! 1. A template is read once, before it is filled in; sections nest to a fixed depth.
//! 2. What it becomes is bounded ([`OUTPUT_BYTES_MAX`]), whatever sections repeat.
//!
//! Not here: partials, which Elasticsearch refuses too.

use env::budget::{Lease, Taken};
use json::Value;

use crate::error::{Error, Result};

/// Deepest nesting of sections.
const DEPTH_MAX: usize = 64;

/// Most that a template may become, in bytes.
const OUTPUT_BYTES_MAX: usize = 16 << 20;

/// Parts that one filling may work off: a section over many elements counts each.
const STEPS_MAX: usize = 2_000_000;

#[derive(Debug)]
enum Part {
    Text(String),
    /// A name; whether it is escaped.
    Value(String, bool),
    /// A name, what is in it; true: where there is nothing.
    Section(String, Vec<Part>, bool),
    Json(String),
    /// A name, what stands between.
    Join(String, String),
    Url(Vec<Part>),
}

/// How much one filling may be: parts that are worked off, bytes that they become.
#[derive(Clone, Copy)]
struct Most {
    steps: usize,
    bytes: usize,
}

/// On an executor: some hundred microseconds.
const HERE: Most = Most { steps: 4_096, bytes: 32 << 10 };

const ANYWHERE: Most = Most { steps: STEPS_MAX, bytes: OUTPUT_BYTES_MAX };

/// A template and its parameters that are longer are read elsewhere.
const TEXT_HERE_BYTES: usize = 16 << 10;

/// Fills a template in.
///
/// # Errors
/// A template that cannot be read, or becomes too long, for itself or for the memory that is left.
pub fn render(template: &str, params: &Value, lease: &Lease) -> Result<String> {
    fill(template, params, lease, ANYWHERE).map(|(text, _)| text)
}

/// As [`render`]; none where it is more than a moment's work.
///
/// # Errors
/// As there.
pub fn render_here(template: &str, params: &Value, lease: &Lease) -> Result<Option<String>> {
    if template.len() + params.text_bytes(TEXT_HERE_BYTES) > TEXT_HERE_BYTES {
        return Ok(None);
    }
    let (text, is_whole) = fill(template, params, lease, HERE)?;
    Ok(is_whole.then_some(text))
}

/// What a template becomes, and whether that is all: on an executor it may be a part.
fn fill(template: &str, params: &Value, lease: &Lease, most: Most) -> Result<(String, bool)> {
    let parts = read(template)?;
    let taken = lease.take(0).expect("nothing is always to be had");
    let mut filler = Filler { out: String::new(), steps: 0, most, is_over: false, lease, taken };
    let done = filler.all(&parts, &mut vec![params]);
    match (filler.is_over, most.steps < STEPS_MAX) {
        (true, true) => Ok((String::new(), false)),
        _ => done.map(|()| (filler.out, true)),
    }
}

/// Reads a template, to see whether it is one.
///
/// # Errors
/// It is none.
pub fn check(template: &str) -> Result<()> {
    read(template).map(|_| ())
}

fn bad(what: impl std::fmt::Display) -> Error {
    Error::new(400, "general_script_exception", format!("Failed to compile template: {what}"))
        .caused_by(Error::new(400, "mustache_exception", what.to_string()))
}

/// A section under way: its tag, what was before it.
struct Open {
    tag: String,
    negated: bool,
    before: Vec<Part>,
}

fn read(template: &str) -> Result<Vec<Part>> {
    let (mut open, mut close) = ("{{".to_owned(), "}}".to_owned());
    let mut parts = Vec::new();
    let mut stack: Vec<Open> = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(&open) {
        if at > 0 {
            parts.push(Part::Text(rest[..at].to_owned()));
        }
        rest = &rest[at + open.len()..];
        // `{{{a}}}` is not escaped.
        let is_raw = open == "{{" && rest.starts_with('{');
        let end_mark = if is_raw { "}}}" } else { close.as_str() };
        let end = rest
            .find(end_mark)
            .ok_or_else(|| bad(format!("Improperly closed variable in query-template: {rest}")))?;
        let tag = rest[usize::from(is_raw)..end].trim().to_owned();
        rest = &rest[end + end_mark.len()..];
        let (kind, name) = match tag.chars().next() {
            _ if is_raw => ('&', tag.as_str()),
            Some(mark @ ('#' | '^' | '/' | '!' | '&' | '>' | '=')) => (mark, tag[1..].trim()),
            _ => (' ', tag.as_str()),
        };
        match kind {
            '!' => {}
            '=' => {
                let marks: Vec<&str> = name.trim_end_matches('=').split_whitespace().collect();
                let [first, second] = marks[..] else { return Err(bad("wrong delimiters")) };
                (open, close) = (first.to_owned(), second.to_owned());
            }
            '>' => {
                return Err(bad(format!("Cannot expand '{name}' as partials are not supported")));
            }
            '#' | '^' => {
                if stack.len() >= DEPTH_MAX {
                    return Err(bad("sections are nested too deeply"));
                }
                let before = std::mem::take(&mut parts);
                stack.push(Open { tag: name.to_owned(), negated: kind == '^', before });
            }
            '/' => {
                let Some(begun) = stack.pop().filter(|begun| begun.tag == name) else {
                    return Err(bad(format!("Unexpected end of section [{name}]")));
                };
                let inside = std::mem::replace(&mut parts, begun.before);
                parts.push(section(begun.tag, inside, begun.negated)?);
            }
            '&' => parts.push(Part::Value(name.to_owned(), false)),
            _ if name.is_empty() => {
                return Err(bad("Empty mustache in query-template"));
            }
            _ => parts.push(Part::Value(name.to_owned(), true)),
        }
    }
    if let Some(left) = stack.pop() {
        return Err(bad(format!("Failed to close '{}' tag", left.tag)));
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

fn section(tag: String, inside: Vec<Part>, negated: bool) -> Result<Part> {
    let name_of = |inside: &[Part], what: &str| -> Result<String> {
        match inside {
            [Part::Text(name)] => Ok(name.trim().to_owned()),
            _ => Err(bad(format!(
                "Mustache function [{what}] must contain one and only one identifier"
            ))),
        }
    };
    if negated {
        return Ok(Part::Section(tag, inside, true));
    }
    if tag == "toJson" {
        return Ok(Part::Json(name_of(&inside, "toJson")?));
    }
    if tag == "url" {
        return Ok(Part::Url(inside));
    }
    if tag == "join" {
        return Ok(Part::Join(name_of(&inside, "join")?, ",".to_owned()));
    }
    if let Some(options) = tag.strip_prefix("join ") {
        let between =
            options.trim().strip_prefix("delimiter='").and_then(|rest| rest.strip_suffix('\''));
        let between =
            between.ok_or_else(|| bad("Mustache function [join] has a wrong delimiter"))?;
        return Ok(Part::Join(name_of(&inside, "join")?, between.to_owned()));
    }
    Ok(Part::Section(tag, inside, false))
}

struct Filler<'a> {
    out: String,
    steps: usize,
    most: Most,
    /// It is more than that.
    is_over: bool,
    lease: &'a Lease,
    /// Memory for what it became so far.
    taken: Taken,
}

/// Memory is taken in steps of so many bytes.
const STEP_BYTES: usize = 64 << 10;

/// A text that grows is for a moment there twice, the second time with room for as much again.
const GROWTH: usize = 3;

impl Filler<'_> {
    /// Takes memory for so much.
    fn pay(&mut self, bytes: usize) -> Result<()> {
        let needed = bytes.saturating_mul(GROWTH);
        let Some(lacking) = needed.checked_sub(self.taken.bytes()) else { return Ok(()) };
        if lacking > 0 && !self.taken.grow(lacking.next_multiple_of(STEP_BYTES)) {
            return Err(Error::no_memory("template", needed, self.lease.total_bytes()));
        }
        Ok(())
    }

    fn all(&mut self, parts: &[Part], scope: &mut Vec<&Value>) -> Result<()> {
        for part in parts {
            self.steps += 1;
            if self.steps > self.most.steps || self.out.len() > self.most.bytes {
                self.is_over = true;
                return Err(Error::illegal_argument("the template becomes too long"));
            }
            self.pay(self.out.len())?;
            match part {
                Part::Text(text) => self.out.push_str(text),
                Part::Value(name, escaped) => {
                    let found = find(name, scope);
                    let text = shown(found.as_ref());
                    if *escaped {
                        escape(&text, &mut self.out);
                    } else {
                        self.out.push_str(&text);
                    }
                }
                Part::Json(name) => {
                    let found = find(name, scope);
                    let text = found.map_or_else(
                        || "null".to_owned(),
                        |value| match value {
                            Found::Value(value) => json::to_string(value),
                            Found::Size(size) => size.to_string(),
                        },
                    );
                    self.pay(self.out.len() + text.len())?;
                    self.out.push_str(&text);
                }
                Part::Join(name, between) => {
                    let Some(Found::Value(value)) = find(name, scope) else { continue };
                    let items = value.as_array().unwrap_or(std::slice::from_ref(value));
                    let texts: Vec<String> =
                        items.iter().map(|item| shown(Some(&Found::Value(item)))).collect();
                    escape(&texts.join(between), &mut self.out);
                }
                Part::Url(inside) => {
                    let mut inner = Filler {
                        out: String::new(),
                        steps: self.steps,
                        most: self.most,
                        is_over: false,
                        lease: self.lease,
                        taken: self.lease.take(0).expect("nothing is always to be had"),
                    };
                    let done = inner.all(inside, scope);
                    self.is_over |= inner.is_over;
                    done?;
                    self.steps = inner.steps;
                    for byte in inner.out.bytes() {
                        match byte {
                            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => {
                                self.out.push(char::from(byte));
                            }
                            b' ' => self.out.push('+'),
                            other => self.out.push_str(&format!("%{other:02X}")),
                        }
                    }
                }
                Part::Section(name, inside, negated) => {
                    self.section(name, inside, *negated, scope)?
                }
            }
        }
        Ok(())
    }

    fn section(
        &mut self,
        name: &str,
        inside: &[Part],
        negated: bool,
        scope: &mut Vec<&Value>,
    ) -> Result<()> {
        let found = match find(name, scope) {
            Some(Found::Value(value)) => Some(value),
            Some(Found::Size(_)) | None => None,
        };
        let is_there = match found {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::Array(items)) => !items.is_empty(),
            Some(Value::String(text)) => !text.is_empty(),
            Some(_) => true,
        };
        match (negated, found) {
            (true, _) if !is_there => self.all(inside, scope),
            (true, _) => Ok(()),
            (false, Some(Value::Array(items))) => {
                for item in items {
                    scope.push(item);
                    let done = self.all(inside, scope);
                    scope.pop();
                    done?;
                }
                Ok(())
            }
            (false, Some(value)) if is_there => {
                scope.push(value);
                let done = self.all(inside, scope);
                scope.pop();
                done
            }
            (false, _) => Ok(()),
        }
    }
}

enum Found<'a> {
    Value(&'a Value),
    Size(usize),
}

/// The value of a name: of the innermost scope that knows its first part.
fn find<'a>(name: &str, scope: &[&'a Value]) -> Option<Found<'a>> {
    if name == "." {
        return scope.last().map(|value| Found::Value(value));
    }
    // A whole name may have dots in it.
    if let Some(value) = scope.iter().rev().find_map(|value| value.get(name)) {
        return Some(Found::Value(value));
    }
    let mut parts = name.split('.');
    let first = parts.next()?;
    let mut here = scope.iter().rev().find_map(|value| value.get(first))?;
    for part in parts {
        here = match here {
            Value::Object(members) => members.get(part)?,
            Value::Array(items) if part == "size" => return Some(Found::Size(items.len())),
            Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(Found::Value(here))
}

/// A value as text: strings bare, lists and maps as Java prints them.
fn shown(found: Option<&Found<'_>>) -> String {
    match found {
        None => String::new(),
        Some(Found::Size(size)) => size.to_string(),
        Some(Found::Value(value)) => match value {
            Value::Null => String::new(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => number.text().to_owned(),
            Value::String(text) => text.clone(),
            Value::Array(_) | Value::Object(_) => java_text(value),
        },
    }
}

fn java_text(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(java_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{key}={}", java_text(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Null => "null".to_owned(),
        other => shown(Some(&Found::Value(other))),
    }
}

/// As a JSON string has it, without its quotes.
fn escape(text: &str, out: &mut String) {
    let quoted = json::to_string(&Value::String(text.to_owned()));
    out.push_str(&quoted[1..quoted.len() - 1]);
}

#[cfg(test)]
mod tests {
    use env::budget::Budget;

    use super::*;

    fn filled(template: &str, params: &str) -> String {
        let params = json::parse(params.as_bytes()).expect("JSON");
        render(template, &params, &Budget::new(64 << 20).lease())
            .unwrap_or_else(|error| error.reason)
    }

    #[test]
    fn templates_are_filled_in() {
        for (template, params, wanted) in [
            ("{{a}}", r#"{"a":"x\"y"}"#, r#"x\"y"#),
            ("{{{a}}}{{&a}}", r#"{"a":"\"" }"#, "\"\""),
            ("{{a.b}}{{l.1}}{{l.size}}", r#"{"a":{"b":1},"l":[1,2]}"#, "122"),
            ("{{#a}}{{.}},{{/a}}", r#"{"a":[1,2]}"#, "1,2,"),
            ("{{#a}}{{b}}{{/a}}{{^a}}no{{/a}}", r#"{"a":{"b":2}}"#, "2"),
            ("{{s}}{{^s}}5{{/s}}", "{}", "5"),
            ("{{#a}}x{{/a}}", r#"{"a":false}"#, ""),
            ("{{#toJson}}a{{/toJson}}", r#"{"a":[{"b":1}]}"#, r#"[{"b":1}]"#),
            ("{{#join}}a{{/join}}", r#"{"a":["x","y"]}"#, "x,y"),
            ("{{#join delimiter='||'}}a{{/join delimiter='||'}}", r#"{"a":[1,2]}"#, "1||2"),
            ("{{#url}}{{a}} b{{/url}}", r#"{"a":"x/y"}"#, "x%2Fy+b"),
            ("a{{! no }}b", "{}", "ab"),
            ("{{=<% %>=}}<%a%>{{a}}", r#"{"a":1}"#, "1{{a}}"),
            ("{{#a}}{{c}}{{/a}}", r#"{"a":{"b":1},"c":3}"#, "3"),
        ] {
            assert_eq!(filled(template, params), wanted, "{template}");
        }
        for bad in ["{{a", "{{#a}}", "{{/a}}", "{{>a}}", "{{#a}}{{/b}}", "{{}}"] {
            assert!(
                render(bad, &Value::object(), &Budget::new(64 << 20).lease()).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn repeated_sections_end() {
        let inner = "{{#a}}".repeat(30) + "xxxxxxxxxx" + &"{{/a}}".repeat(30);
        let text = filled(&inner, r#"{"a":[1,2,3,4,5,6,7,8,9]}"#);
        assert!(text.contains("too long"), "{text}");
    }

    /// Sections in sections over sixty elements (60 bytes) held a core for 120 ms.
    #[test]
    fn what_takes_long_is_left_to_a_worker() {
        let budget = Budget::new(64 << 20);
        let lease = budget.lease();
        let here = |template: &str, params: &Value| render_here(template, params, &lease);
        let few = json::json!({"a": [1, 2, 3]});
        let text = here("{{#a}}<{{.}}>{{/a}}", &few).expect("a template");
        assert_eq!(text.as_deref(), Some("<1><2><3>"));
        let many = json::json!({"a": ((0..60).collect::<Vec<i64>>())});
        let nested = "{{#a}}{{#a}}{{#a}}x{{/a}}{{/a}}{{/a}}";
        assert!(here(nested, &many).expect("a template").is_none());
        assert_eq!(render(nested, &many, &lease).map(|text| text.len()), Ok(60 * 60 * 60));
        let url = format!("{{{{#url}}}}{nested}{{{{/url}}}}");
        assert!(here(&url, &many).expect("a template").is_none(), "in another, too");
        let long = json::json!({"a": ("y".repeat(TEXT_HERE_BYTES))});
        assert!(here("{{a}}", &long).expect("a template").is_none());
        assert!(here("{{#a}}", &few).is_err(), "no template at all");
    }
}
