//! The walk: a document's tree beside the mapping's tree.

use std::collections::BTreeMap;

use json::Object as Json;
use json::tape::{Kind as NodeKind, Node};

use super::value::Copies;
use super::{Arena, Buffers, Chosen, Mode, fault};
use crate::tree::node::{Child, Object};
use crate::tree::{Delta, Dynamic, METADATA, Mapping};
use crate::types::TERM_BYTES_MAX;
use crate::{Error, ErrorKind};

/// Answer of a step; the error is boxed, for steps are deep and faults are rare.
pub(super) type Refused<T> = Result<T, Box<Error>>;

/// One document on its way.
pub(super) struct Walk<'m, 'p, 'd> {
    pub mapping: &'m Mapping,
    pub id: &'p str,
    pub arena: &'p mut Arena,
    pub buffers: &'p mut Buffers,
    pub new: New,
    mode: Mode,
    /// The document names its routing.
    pub is_routed: bool,
    /// Templates that the request names.
    pub chosen: Option<&'p Chosen>,
    /// Nested documents that are open, outermost first.
    levels: Vec<Level<'m, 'd>>,
    /// What the document itself gets from nested ones, at its end.
    later: Vec<Later<'m, 'd>>,
    /// Nested documents so far.
    nested_count: u64,
    /// The values at hand were walked before: they are shown to an enclosing document.
    is_echo: bool,
    /// The whole document: contexts of completions are looked up in it.
    pub root: Option<Node<'d>>,
}

/// An open nested document.
struct Level<'m, 'd> {
    path: &'m str,
    /// What it gets from those inside of it, at its end.
    later: Vec<Later<'m, 'd>>,
}

/// What a document gets from a nested one.
enum Later<'m, 'd> {
    /// `copy_to`: the target, and the value.
    Copy(&'m str, Node<'d>),
    /// `include_in_root`: an object and what it means.
    Object(&'m Object, Node<'d>),
}

/// What the document would add.
#[derive(Default)]
pub(super) struct New {
    /// By full path.
    pub children: BTreeMap<String, (Child, Json)>,
    /// Mappers they count for.
    pub weight: u64,
    /// Two values of one new field that do not agree, or a path too long to be told of; told once the walk is
    /// over.
    pub late_fault: Option<Error>,
    /// Paths left out for want of room in the mapping.
    pub ignored: base::hash::Set<String>,
    /// Paths of the objects whose new children have whole names, dots and all.
    pub flat: base::hash::Set<String>,
    /// Paths ignored in nested documents; told of the document itself.
    pub ignored_late: Vec<String>,
}

impl<'m, 'p, 'd> Walk<'m, 'p, 'd> {
    pub fn new(
        mapping: &'m Mapping,
        id: &'p str,
        mode: Mode,
        arena: &'p mut Arena,
        buffers: &'p mut Buffers,
    ) -> Self {
        Self {
            mapping,
            id,
            arena,
            buffers,
            new: New::default(),
            mode,
            is_routed: true,
            chosen: None,
            levels: Vec::new(),
            later: Vec::new(),
            nested_count: 0,
            is_echo: false,
            root: None,
        }
    }

    /// Walks a whole document; answers what must be added first, if anything.
    pub fn document(&mut self, root: Node<'d>) -> Refused<Option<Delta>> {
        let object = &**self.mapping.root();
        self.root = Some(root);
        if object.is_enabled() {
            self.members(object, Dynamic::True, root)?;
        }
        let later = std::mem::take(&mut self.later);
        self.catch_up(later)?;
        self.finish_texts();
        for path in std::mem::take(&mut self.new.ignored_late) {
            self.arena.push_ignored(&path);
        }
        if let Some(error) = self.new.late_fault.take() {
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
        if object.is_flat() {
            return self.flat_members(object, dynamic, "", node);
        }
        for member in node.object() {
            match object.children.get(member.key()) {
                Some(child) => self.child(child, dynamic, member.key(), member.value())?,
                None => self.unknown_member(object, dynamic, member)?,
            }
        }
        Ok(())
    }

    /// Objects whose members are documents of their own.
    #[cold]
    fn nested(
        &mut self,
        object: &'m Object,
        above: Dynamic,
        name: Option<&str>,
        node: Node<'d>,
    ) -> Refused<()> {
        match node.kind() {
            NodeKind::Array => {
                for element in node.array() {
                    self.nested(object, above, None, element)?;
                }
                Ok(())
            }
            NodeKind::Object => self.nested_one(object, above, node),
            NodeKind::Null => Ok(()),
            _ if self.replays() => {
                self.ignored_path(&object.path);
                Ok(())
            }
            _ => Err(fault::concrete(&object.path, name.unwrap_or("null"), node).into()),
        }
    }

    /// One nested document.
    fn nested_one(&mut self, object: &'m Object, above: Dynamic, node: Node<'d>) -> Refused<()> {
        let nested = object.nested.unwrap_or_default();
        if self.is_echo {
            return if nested.in_parent { self.members(object, above, node) } else { Ok(()) };
        }
        if object.path.len() > TERM_BYTES_MAX {
            // What was acknowledged before stays, and is not found by that.
            return match self.replays() {
                true => Ok(()),
                false => Err(fault::immense("_nested_path", object.path.as_bytes()).into()),
            };
        }
        self.arena.check_room(object.path.len())?;
        self.nested_count += 1;
        let limit = self.mapping.settings().limits.nested_objects;
        if self.nested_count > limit && !self.replays() {
            return Err(fault::too_many_nested(limit, node).into());
        }
        let child = self.arena.next_entry();
        let own = self.buffers.fields.open(child);
        self.levels.push(Level { path: &object.path, later: Vec::new() });
        let done = self.members(object, above, node).and_then(|()| {
            let level = self.levels.last_mut().expect("opened above");
            let later = std::mem::take(&mut level.later);
            self.catch_up(later)
        });
        self.finish_texts();
        self.levels.pop();
        let own = self.arena.end_child(own, child, &object.path);
        self.buffers.fields.close(own);
        done?;
        if nested.in_parent {
            self.echo(object, node)?;
        }
        let is_shown_there = nested.in_parent && self.levels.is_empty();
        if nested.in_root && !is_shown_there {
            self.later.push(Later::Object(object, node));
        }
        Ok(())
    }

    /// Shows the values of a nested document to the one at hand.
    fn echo(&mut self, object: &'m Object, node: Node<'d>) -> Refused<()> {
        let before = std::mem::replace(&mut self.is_echo, true);
        let done = self.members(object, Dynamic::False, node);
        self.is_echo = before;
        done
    }

    /// Gives a document what nested ones left for it.
    fn catch_up(&mut self, later: Vec<Later<'m, 'd>>) -> Refused<()> {
        for one in later {
            match one {
                Later::Copy(target, node) => self.copy_here(target, node)?,
                Later::Object(object, node) => self.echo(object, node)?,
            }
        }
        Ok(())
    }

    /// A value that `copy_to` takes elsewhere: to the document at hand, or to one around it.
    pub(super) fn copy(&mut self, target: &'m str, node: Node<'d>) -> Refused<()> {
        if self.levels.is_empty() || self.is_echo {
            return if self.is_echo { Ok(()) } else { self.copy_here(target, node) };
        }
        let scope = self.mapping.nested_of(target);
        let at = self.levels.iter().rposition(|level| Some(level.path) == scope);
        match at {
            Some(at) if at + 1 == self.levels.len() => self.copy_here(target, node),
            Some(at) => {
                self.levels[at].later.push(Later::Copy(target, node));
                Ok(())
            }
            None => {
                self.later.push(Later::Copy(target, node));
                Ok(())
            }
        }
    }

    /// Were these values walked before?
    pub(super) fn is_echo(&self) -> bool {
        self.is_echo
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
            Child::Alias(alias) => self.alias(&alias.path, node),
        }
    }

    /// A value under another name of a field.
    #[cold]
    pub(super) fn alias(&mut self, path: &str, node: Node<'d>) -> Refused<()> {
        if self.replays() {
            self.ignored_path(path);
            return Ok(());
        }
        let cause = Error::illegal_argument(format!("Cannot write to a field alias [{path}]."));
        Err(fault::failed(node, cause).into())
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
        if object.nested.is_some() {
            return self.nested(object, above, name, node);
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
        if self.may_tell(path) && !self.new.ignored.contains(path) {
            self.new.ignored.insert(path.to_owned());
            self.tell_ignored(path);
        }
    }

    /// Tells that a value was left out; the document itself has the list, not nested ones.
    pub(super) fn tell_ignored(&mut self, path: &str) {
        if !self.may_tell(path) {
            return;
        }
        if self.levels.is_empty() {
            self.arena.push_ignored(path);
        } else if !self.new.ignored_late.iter().any(|known| known == path) {
            self.new.ignored_late.push(path.to_owned());
        }
    }

    /// Can that path be told, and is there room for it? What was acknowledged before stays, without that.
    fn may_tell(&mut self, path: &str) -> bool {
        let late: usize = self.new.ignored_late.iter().map(String::len).sum();
        let fault = match path.len() <= TERM_BYTES_MAX {
            true if self.arena.has_room(path.len() + late) => return true,
            true => self.arena.is_full(),
            false => fault::immense("_ignored", path.as_bytes()),
        };
        if !self.replays() {
            self.new.late_fault.get_or_insert(fault);
        }
        false
    }

    /// What a name may be, beside being known.
    pub fn check_name(&self, parent: &str, key: &str, node: Node<'d>) -> Refused<()> {
        let illegal = |reason: String| {
            let error: Box<Error> = fault::failed(node, Error::illegal_argument(reason)).into();
            Err(error)
        };
        if key.is_empty() {
            return illegal("field name cannot be an empty string".to_owned());
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
        if !METADATA.contains(&key) || key == "_doc_count" {
            return Ok(());
        }
        let reason = format!(
            "Field [{key}] is a metadata field and cannot be added inside a document. Use the index \
             API request parameters."
        );
        let cause = fault::at(node, ErrorKind::DocumentParsing, &reason);
        Err(fault::named(key, key, self.id, node, cause).into())
    }

    /// For how many documents this one stands: the one field of the system that stands in a
    /// document itself.
    #[cold]
    pub fn doc_count(&mut self, node: Node<'d>) -> Refused<()> {
        let refused = |reason: String| {
            let cause = Error::illegal_argument(reason);
            let named = fault::named("_doc_count", "_doc_count", self.id, node, cause);
            Err(Box::new(named))
        };
        let count = match crate::types::Scalar::of_node(node) {
            Some(crate::types::Scalar::Integer(count)) => count,
            _ if self.replays() => return Ok(()),
            _ => {
                return refused(format!(
                    "Failed to parse object: expecting token of type [VALUE_NUMBER] but found [{}]",
                    node.token()
                ));
            }
        };
        if !(1..=i64::from(i32::MAX)).contains(&count) {
            return match self.replays() {
                true => Ok(()),
                false => refused(format!(
                    "[_doc_count] field must be a positive integer. Value of [{count}] is invalid."
                )),
            };
        }
        self.arena.push_number(base::FieldNo::DOC_COUNT, count, false, true);
        Ok(())
    }

    /// The fragment of a mapping that the new children make.
    fn delta(&mut self) -> Delta {
        let mut root = Json::new();
        let flat = std::mem::take(&mut self.new.flat);
        for (path, (_, definition)) in std::mem::take(&mut self.new.children) {
            insert(&mut root, "", &path, &flat, definition);
        }
        let mut fragment = crate::tree::dynamic::fragment(root);
        if flat.contains("")
            && let Some(object) = fragment.as_object_mut()
        {
            object.insert("subobjects", false);
        }
        Delta::from_json(fragment)
    }
}

/// Puts the definition of a path below `within` into nested `properties`. Objects come before what
/// lies in them; below a path of `flat` names are whole.
fn insert(
    properties: &mut Json,
    within: &str,
    path: &str,
    flat: &base::hash::Set<String>,
    definition: Json,
) {
    let split = if flat.contains(within) { None } else { path.split_once('.') };
    let Some((first, rest)) = split else {
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
    let within = crate::tree::node::join(within, first);
    let object = properties.get_or_insert_with(first, || json::Value::Object(Json::new()));
    let Some(object) = object.as_object_mut() else { return };
    if flat.contains(&within) {
        object.insert("subobjects", false);
    }
    let inner = object.get_or_insert_with("properties", || json::Value::Object(Json::new()));
    if let Some(inner) = inner.as_object_mut() {
        insert(inner, &within, rest, flat, definition);
    }
}
