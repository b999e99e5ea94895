//! Texts to be completed: inputs, weights and contexts of a value.

use json::tape::{Kind as NodeKind, Node};

use super::fault;
use super::walk::Walk;
use crate::types::{Completion, Field, Scalar, TERM_BYTES_MAX, completion};
use crate::{Error, ErrorKind, Result};

impl<'m, 'd> Walk<'m, '_, 'd> {
    pub(super) fn take_completion(
        &mut self,
        field: &'m Field,
        kind: &Completion,
        node: Node<'d>,
    ) -> Result<()> {
        let parse = |reason: String| Err(Error::new(ErrorKind::Parse, reason));
        let mut inputs: Vec<String> = Vec::new();
        let mut weight = 1u32;
        let mut contexts: Vec<Vec<Vec<u8>>> = vec![Vec::new(); kind.contexts.len()];
        match node.kind() {
            NodeKind::Null => return Ok(()),
            NodeKind::String => inputs.push(node.as_str().unwrap_or_default().to_owned()),
            NodeKind::Object => {
                for member in node.object() {
                    let value = member.value();
                    match member.key() {
                        "input" => read_inputs(value, &mut inputs)?,
                        "weight" => weight = read_weight(value)?,
                        "contexts" => read_contexts(kind, value, &mut contexts)?,
                        other => {
                            return Err(Error::illegal_argument(format!(
                                "unknown field name [{other}], must be one of [input, weight, \
                                 contexts]"
                            )));
                        }
                    }
                }
            }
            _ => {
                return parse(format!(
                    "failed to parse [{}]: expected text or object, but got {}",
                    field.path,
                    node.token()
                ));
            }
        }
        for (context, found) in kind.contexts.iter().zip(&mut contexts) {
            if let (Some(path), Some(root)) = (&context.path, self.root) {
                context_at(context, root, path, found)?;
            }
        }
        if !inputs.is_empty() && !contexts.is_empty() && contexts.iter().all(Vec::is_empty) {
            return Err(Error::illegal_argument(format!(
                "Contexts are mandatory in context enabled completion field [{}]",
                field.path
            )));
        }
        let prefixes = combine(kind, &contexts)?;
        // What was acknowledged is analysed whatever it takes.
        let words_bytes_max = if self.replays() { usize::MAX } else { completion::WORDS_BYTES_MAX };
        let mut any = false;
        for input in &inputs {
            if input.is_empty() {
                return Err(Error::illegal_argument("value must have a length > 0"));
            }
            let reserved = |c: char| matches!(c, '\u{1f}' | '\u{1e}' | '\u{1d}' | '\0');
            if let Some(c) = input.chars().find(|c| reserved(*c)) {
                return Err(Error::illegal_argument(format!(
                    "Illegal input [{input}] UTF-16 codepoint [0x{:x}] at position {} is a reserved \
                     character",
                    u32::from(c),
                    input.chars().position(|other| other == c).unwrap_or(0)
                )));
            }
            let input = cut(input, kind.max_input_length);
            let mut words = Vec::new();
            kind.analyse(input, &kind.analyzer, words_bytes_max, &mut words)?;
            if words.is_empty() {
                continue;
            }
            for prefix in &prefixes {
                let len = prefix.len() + words.len() + 1 + input.len();
                if len > TERM_BYTES_MAX {
                    return Err(fault::immense(&field.path, input.as_bytes()));
                }
                let mut term = Vec::with_capacity(len);
                term.extend_from_slice(prefix);
                term.extend_from_slice(&words);
                term.push(completion::SURFACE);
                term.extend_from_slice(input.as_bytes());
                self.arena.check_room(len)?;
                self.arena.push_feature(field.no, &term, weight + 1);
                any = true;
            }
        }
        if any {
            self.present(field);
        }
        Ok(())
    }
}

fn read_inputs(node: Node<'_>, inputs: &mut Vec<String>) -> Result<()> {
    match node.kind() {
        NodeKind::String => inputs.push(node.as_str().unwrap_or_default().to_owned()),
        NodeKind::Array => {
            for element in node.array() {
                match element.as_str() {
                    Some(text) => inputs.push(text.to_owned()),
                    None => {
                        return Err(Error::illegal_argument(
                            "input array must have string values, but was [".to_owned()
                                + element.token()
                                + "]",
                        ));
                    }
                }
            }
        }
        _ => {
            return Err(Error::illegal_argument(format!(
                "input must be a string or array, but was [{}]",
                node.token()
            )));
        }
    }
    Ok(())
}

fn read_weight(node: Node<'_>) -> Result<u32> {
    let value = match Scalar::of_node(node) {
        Some(Scalar::Text(text)) => text.parse::<i64>().map_err(|_| {
            Error::illegal_argument(format!("weight must be an integer, but was [{text}]"))
        })?,
        Some(Scalar::Integer(value)) => value,
        Some(Scalar::Decimal(value, _)) if value.fract() == 0.0 => value as i64,
        other => {
            let mut buffer = String::new();
            let shown = other.map_or(node.token(), |scalar| scalar.text(&mut buffer));
            return Err(Error::illegal_argument(format!(
                "weight must be an integer, but was [{shown}]"
            )));
        }
    };
    match u32::try_from(value) {
        Ok(weight) if weight < i32::MAX as u32 => Ok(weight),
        _ => Err(Error::illegal_argument(format!(
            "weight must be in the interval [0..2147483647], but was [{value}]"
        ))),
    }
}

/// Values of contexts, by the mapping's order of contexts.
fn read_contexts(kind: &Completion, node: Node<'_>, found: &mut [Vec<Vec<u8>>]) -> Result<()> {
    if node.kind() != NodeKind::Object {
        return Err(Error::illegal_argument(format!(
            "contexts must be an object or an array , but was [{}]",
            node.token()
        )));
    }
    if kind.contexts.is_empty() {
        return Err(Error::illegal_argument("contexts field is not supported for field"));
    }
    for member in node.object() {
        let at = kind.contexts.iter().position(|context| *context.name == *member.key());
        let Some(at) = at else {
            return Err(Error::illegal_argument(format!(
                "unknown context name [{}]",
                member.key()
            )));
        };
        let mut add = |node: Node<'_>| -> Result<()> {
            let value = completion::context_value(&kind.contexts[at], &node.to_value())?;
            if !found[at].contains(&value) {
                found[at].push(value);
            }
            Ok(())
        };
        let value = member.value();
        let is_place = matches!(kind.contexts[at].kind, crate::types::ContextKind::Geo(_))
            && value.array().next().is_some_and(|first| first.kind() == NodeKind::Number);
        if value.kind() == NodeKind::Array && !is_place {
            value.array().try_for_each(&mut add)?;
        } else {
            add(value)?;
        }
    }
    Ok(())
}

/// The values that a context takes from another field of the document.
fn context_at(
    context: &completion::Contexts,
    node: Node<'_>,
    path: &str,
    found: &mut Vec<Vec<u8>>,
) -> Result<()> {
    let is_place = matches!(context.kind, crate::types::ContextKind::Geo(_));
    match node.kind() {
        NodeKind::Null => Ok(()),
        NodeKind::Object if !path.is_empty() => {
            for member in node.object() {
                let rest = path.strip_prefix(member.key());
                let rest =
                    rest.and_then(
                        |rest| {
                            if rest.is_empty() { Some("") } else { rest.strip_prefix('.') }
                        },
                    );
                if let Some(rest) = rest {
                    context_at(context, member.value(), rest, found)?;
                }
            }
            Ok(())
        }
        NodeKind::Array
            if !(is_place
                && path.is_empty()
                && node.array().next().is_some_and(|first| first.kind() == NodeKind::Number)) =>
        {
            node.array().try_for_each(|item| context_at(context, item, path, found))
        }
        _ if !path.is_empty() => Ok(()),
        _ => {
            let value = completion::context_value(context, &node.to_value())?;
            if !found.contains(&value) {
                found.push(value);
            }
            Ok(())
        }
    }
}

/// What stands before the words: each combination of contexts.
fn combine(kind: &Completion, contexts: &[Vec<Vec<u8>>]) -> Result<Vec<Vec<u8>>> {
    let mut prefixes = vec![Vec::new()];
    for values in contexts {
        let mut next = Vec::new();
        let none = [Vec::new()];
        let values = if values.is_empty() { &none[..] } else { values };
        for prefix in &prefixes {
            for value in values {
                let mut longer: Vec<u8> = Vec::clone(prefix);
                longer.extend_from_slice(value);
                longer.push(completion::CONTEXT_END);
                next.push(longer);
            }
        }
        if next.len() > completion::TERMS_MAX {
            return Err(Error::illegal_argument(format!(
                "the contexts of a completion make more than [{}] combinations",
                completion::TERMS_MAX
            )));
        }
        prefixes = next;
    }
    if !kind.contexts.is_empty() && contexts.iter().all(Vec::is_empty) {
        return Err(Error::illegal_argument(
            "Contexts are mandatory in context enabled completion field",
        ));
    }
    Ok(prefixes)
}

/// At most so many UTF-16 units, whole characters.
fn cut(text: &str, most: u32) -> &str {
    let mut left = most as usize;
    for (at, c) in text.char_indices() {
        if c.len_utf16() > left {
            return &text[..at];
        }
        left -= c.len_utf16();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_cut_at_whole_characters() {
        assert_eq!(cut("abc", 2), "ab");
        assert_eq!(cut("a\u{1f600}b", 2), "a");
        assert_eq!(cut("abc", 50), "abc");
    }
}
