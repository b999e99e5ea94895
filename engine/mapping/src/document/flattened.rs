//! Objects whose values are words: `flattened`.

use json::tape::{Kind as NodeKind, Node};

use super::value::longer_than;
use super::walk::Walk;
use crate::types::{Field, Flattened, Scalar, TERM_BYTES_MAX};
use crate::{Error, ErrorKind, Result};

impl<'m, 'd> Walk<'m, '_, 'd> {
    pub(super) fn take_flattened(
        &mut self,
        field: &'m Field,
        flattened: &Flattened,
        node: Node<'d>,
    ) -> Result<()> {
        match node.kind() {
            NodeKind::Null => return Ok(()),
            NodeKind::Object => {}
            _ => {
                return Err(Error::new(
                    ErrorKind::XContentParse,
                    format!(
                        "Failed to parse object: expecting token of type [START_OBJECT] but found \
                         [{}]",
                        node.token()
                    ),
                ));
            }
        }
        let mut key = String::new();
        self.flatten(field, flattened, node, &mut key, 1)?;
        self.present(field);
        Ok(())
    }

    fn flatten(
        &mut self,
        field: &'m Field,
        flattened: &Flattened,
        node: Node<'d>,
        key: &mut String,
        depth: u32,
    ) -> Result<()> {
        if depth > flattened.depth_limit {
            return Err(Error::illegal_argument(format!(
                "The provided [flattened] field [{}] exceeds the maximum depth limit of [{}].",
                field.path, flattened.depth_limit
            )));
        }
        for member in node.object() {
            if member.key().contains('\0') {
                return Err(Error::illegal_argument(format!(
                    "Keys in [flattened] fields cannot contain the reserved character \\0. \
                     Offending key: [{}].",
                    member.key()
                )));
            }
            let before = key.len();
            if before > 0 {
                key.push('.');
            }
            key.push_str(member.key());
            self.flat_value(field, flattened, member.value(), key, depth)?;
            key.truncate(before);
        }
        Ok(())
    }

    fn flat_value(
        &mut self,
        field: &'m Field,
        flattened: &Flattened,
        node: Node<'d>,
        key: &mut String,
        depth: u32,
    ) -> Result<()> {
        let mut number = String::new();
        let text = match node.kind() {
            NodeKind::Object => return self.flatten(field, flattened, node, key, depth + 1),
            NodeKind::Array => {
                for element in node.array() {
                    self.flat_value(field, flattened, element, key, depth)?;
                }
                return Ok(());
            }
            NodeKind::Null => match &flattened.null_value {
                Some(text) => text,
                None => return Ok(()),
            },
            _ => match Scalar::of_node(node) {
                Some(scalar) => scalar.text(&mut number),
                None => return Ok(()),
            },
        };
        let most = flattened.ignore_above.or(self.mapping.settings().ignore_above);
        if most.is_some_and(|most| longer_than(text, most)) {
            self.ignored(field);
            return Ok(());
        }
        let keyed_len = key.len() + 1 + text.len();
        if keyed_len > TERM_BYTES_MAX {
            let start: String = key.chars().take(50).collect();
            return Err(Error::illegal_argument(format!(
                "Flattened field [{}] contains one immense field whose keyed encoding is longer \
                 than the allowed max length of {TERM_BYTES_MAX} bytes. Key length: {}, value \
                 length: {} for key starting with [{start}]",
                field.path,
                key.len(),
                text.len()
            )));
        }
        if !field.index && !field.doc_values {
            return Ok(());
        }
        self.arena.check_room(2 * keyed_len)?;
        self.arena.push_keyword(field.no, text.as_bytes(), field.index, field.doc_values);
        if let Some(keyed) = field.parts.first() {
            let mut term = Vec::with_capacity(keyed_len);
            term.extend_from_slice(key.as_bytes());
            term.push(0);
            term.extend_from_slice(text.as_bytes());
            self.arena.push_keyword(keyed.no, &term, field.index, field.doc_values);
        }
        Ok(())
    }
}
