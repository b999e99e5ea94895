//! The place of a document in its family: `join`.

use json::tape::{Kind as NodeKind, Node};

use super::fault;
use super::walk::Walk;
use crate::types::{Field, Join, Scalar, TERM_BYTES_MAX};
use crate::{Error, ErrorKind, Result};

impl<'m, 'd> Walk<'m, '_, 'd> {
    pub(super) fn take_join(
        &mut self,
        field: &'m Field,
        join: &Join,
        node: Node<'d>,
    ) -> Result<()> {
        let illegal = |reason: String| Err(Error::illegal_argument(reason));
        let path = &field.path;
        let (mut name, mut parent) = (None, None);
        match node.kind() {
            NodeKind::Null => return Ok(()),
            NodeKind::String => name = node.as_str().map(str::to_owned),
            NodeKind::Object => {
                for member in node.object() {
                    let Some(scalar) = Scalar::of_node(member.value()) else { continue };
                    let text = scalar.text(&mut self.buffers.number).to_owned();
                    match member.key() {
                        "name" => name = Some(text),
                        "parent" => parent = Some(text),
                        other => {
                            return illegal(format!(
                                "unknown field name [{other}] in join field [{path}]"
                            ));
                        }
                    }
                }
            }
            _ => {
                return Err(Error::new(
                    ErrorKind::IllegalState,
                    format!(
                        "[{path}] expected START_OBJECT or VALUE_STRING but was: {}",
                        node.token()
                    ),
                ));
            }
        }
        let Some(name) = name else {
            return illegal(format!("null join name in field [{path}]"));
        };
        if !join.knows(&name) {
            return illegal(format!("unknown join name [{name}] for field [{path}]"));
        }
        if name.len() > TERM_BYTES_MAX {
            // What was acknowledged before stays, and is not found by that.
            return match self.replays() {
                true => Ok(()),
                false => Err(fault::immense(&field.path, name.as_bytes())),
            };
        }
        self.arena.check_room(2 * (name.len() + self.id.len()) + 2 * TERM_BYTES_MAX)?;
        if let Some(at) = join.parent(&name).and_then(|parent| join.part(parent)) {
            let Some(parent) = parent else {
                return illegal(format!("[parent] is missing for join field [{path}]"));
            };
            if !self.is_routed && !self.replays() {
                return illegal(format!("[routing] is missing for join field [{path}]"));
            }
            if parent.len() > TERM_BYTES_MAX {
                return Err(fault::immense(&field.path, parent.as_bytes()));
            }
            self.arena.push_keyword(field.parts[at].no, parent.as_bytes(), true, true);
        }
        if let Some(at) = join.part(&name) {
            let id = self.id.as_bytes();
            self.arena.push_keyword(field.parts[at].no, id, true, true);
        }
        self.arena.push_keyword(field.no, name.as_bytes(), true, true);
        Ok(())
    }
}
