//! The walk: a document's tree beside the mapping's tree.

use std::collections::BTreeMap;

use json::Object as Json;
use json::tape::{Kind as NodeKind, Node};

use super::value::Copies;
use super::{Arena, Buffers, Mode, fault};
use crate::tree::node::{Child, Object};
use crate::tree::{Delta, Dynamic, Mapping};
use crate::{Error, ErrorKind};

/// Answer of a step; the error is boxed, for steps are deep and faults are rare.
pub(super) type Refused<T> = Result<T, Box<Error>>;

/// One document on its way.
pub(super) struct Walk<'m, 'p> {
    pub mapping: &'m Mapping,
    pub id: &'p str,
    pub arena: &'p mut Arena,
    pub buffers: &'p mut Buffers,
    pub new: New,
    mode: Mode,
}

/// What the document would add.
#[derive(Default)]
pub(super) struct New {
    /// By full path.
    pub children: BTreeMap<String, (Child, Json)>,
    /// Mappers they count for.
    pub weight: u64,
    /// Two values of one new field that do not agree; told once the walk is over.
    pub disagreement: Option<Error>,
    /// Paths left out for want of room in the mapping.
    pub ignored: base::hash::Set<String>,
}

impl<'m, 'p, 'd> Walk<'m, 'p> {
    pub fn new(
        mapping: &'m Mapping,
        id: &'p str,
        mode: Mode,
        arena: &'p mut Arena,
        buffers: &'p mut Buffers,
    ) -> Self {
        Self { mapping, id, arena, buffers, new: New::default(), mode }
    }

    /// Walks a whole document; answers what must be added first, if anything.
    pub fn document(&mut self, root: Node<'d>) -> Refused<Option<Delta>> {
        let object = &**self.mapping.root();
        if object.is_enabled() {
            self.members(object, Dynamic::True, root)?;
        }
        self.finish_texts();
        if let Some(error) = self.new.disagreement.take() {
            return Err(error.into());
        }
        if self.new.children.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.delta()))
    }

    /// Is this what was acknowledged before?
    pub fn replays(&self) -> bool {
        self.mode == Mode::Replay
    }

    /// The members of an object that the mapping knows; `above` is what holds around it.
    pub fn members(&mut self, object: &'m Object, above: Dynamic, node: Node<'d>) -> Refused<()> {
        let dynamic = object.dynamic.unwrap_or(above);
        for member in node.object() {
            match object.children.get(member.key()) {
                Some(child) => self.child(child, dynamic, member.key(), member.value())?,
                None => self.unknown_member(object, dynamic, member)?,
            }
        }
        Ok(())
    }

    /// A value of a known child.
    #[inline]
    pub fn child(
        &mut self,
        child: &'m Child,
        above: Dynamic,
        name: &str,
        node: Node<'d>,
    ) -> Refused<()> {
        match child {
            Child::Field(field) => self.field(field, node, Copies::Follow),
            Child::Object(object) => self.object(object, above, Some(name), node),
        }
    }

    /// A value of a known object; elements of an array have no name.
    pub fn object(
        &mut self,
        object: &'m Object,
        above: Dynamic,
        name: Option<&str>,
        node: Node<'d>,
    ) -> Refused<()> {
        if !object.is_enabled() {
            return Ok(());
        }
        match node.kind() {
            NodeKind::Object => self.members(object, above, node),
            NodeKind::Array => {
                for element in node.array() {
                    self.object(object, above, None, element)?;
                }
                Ok(())
            }
            NodeKind::Null => Ok(()),
            _ if self.replays() => {
                self.ignored_path(&object.path);
                Ok(())
            }
            _ => Err(fault::concrete(&object.path, name.unwrap_or("null"), node).into()),
        }
    }

    /// Adds a path that is no field's to the ignored ones, once.
    pub fn ignored_path(&mut self, path: &str) {
        if !self.new.ignored.contains(path) {
            self.new.ignored.insert(path.to_owned());
            self.arena.push_ignored(path);
        }
    }

    /// What a name may be, beside being known.
    pub fn check_name(&self, parent: &str, key: &str, node: Node<'d>) -> Refused<()> {
        let illegal = |reason: String| {
            let error: Box<Error> = fault::failed(node, Error::illegal_argument(reason)).into();
            Err(error)
        };
        if key.is_empty() {
            return illegal("Field name cannot be an empty string".to_owned());
        }
        if key.chars().all(char::is_whitespace) {
            let path = crate::tree::node::join(parent, key);
            let reason = format!("Field name cannot contain only whitespace: [{path}]");
            return Err(fault::parsing(node, &reason).into());
        }
        if !key.contains('.') {
            return Ok(());
        }
        let blank = |part: &str| part.trim().is_empty();
        if key.bytes().all(|byte| byte == b'.') {
            return illegal("field name cannot contain only dots".to_owned());
        }
        if key.starts_with('.') || key.ends_with('.') {
            return illegal(format!(
                "field name starting or ending with a [.] makes object resolution ambiguous: [{key}]"
            ));
        }
        if key.split('.').any(blank) {
            return illegal(format!("field name cannot contain only whitespace: ['{key}']"));
        }
        Ok(())
    }

    /// Names that belong to the system, at the root.
    pub fn check_metadata(&self, key: &str, node: Node<'d>) -> Refused<()> {
        const NAMES: [&str; 12] = [
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
        if !NAMES.contains(&key) {
            return Ok(());
        }
        let reason = format!(
            "Field [{key}] is a metadata field and cannot be added inside a document. Use the index \
             API request parameters."
        );
        let cause = fault::at(node, ErrorKind::DocumentParsing, &reason);
        Err(fault::named(key, key, self.id, node, cause).into())
    }

    /// The fragment of a mapping that the new children make.
    fn delta(&mut self) -> Delta {
        let mut root = Json::new();
        for (path, (_, definition)) in std::mem::take(&mut self.new.children) {
            insert(&mut root, &path, definition);
        }
        Delta::from_json(crate::tree::dynamic::fragment(root))
    }
}

/// Puts the definition of a path into nested `properties`. Objects come before what lies in them.
fn insert(properties: &mut Json, path: &str, definition: Json) {
    let Some((first, rest)) = path.split_once('.') else {
        match properties.get_mut(path).and_then(json::Value::as_object_mut) {
            // Something inside came first.
            Some(known) => {
                for (key, value) in definition {
                    known.insert(key, value);
                }
            }
            None => {
                properties.insert(path, definition);
            }
        }
        return;
    };
    let object = properties.get_or_insert_with(first, || json::Value::Object(Json::new()));
    let Some(object) = object.as_object_mut() else { return };
    let inner = object.get_or_insert_with("properties", || json::Value::Object(Json::new()));
    if let Some(inner) = inner.as_object_mut() {
        insert(inner, rest, definition);
    }
}
