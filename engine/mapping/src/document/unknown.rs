//! Values that the mapping has no field for.
//!
//! Where the mapping may grow, each new path is guessed at and kept until the walk is over; the
//! values are judged by what they would become, so that a document that would be refused asks for
//! nothing. Where it may not, they are passed over or the document is refused. At replay nothing is
//! new: what an accepted document brought was in the mapping before the document was in the log.

use json::tape::{Kind as NodeKind, Member, Node};

use super::fault;
use super::value::{Copies, judge};
use super::walk::{Refused, Walk};
use crate::tree::Dynamic;
use crate::tree::dynamic::{Detected, detect, disagreement, guess, is_plain, weight};
use crate::tree::limits;
use crate::tree::node::{Child, Object, join};
use crate::tree::template::Template;
use crate::types::{Field, Kind, Scalar};
use crate::{Error, ErrorKind};

impl<'m, 'd> Walk<'m, '_, 'd> {
    /// A member of a known object whose key is no child's name.
    #[cold]
    pub(super) fn unknown_member(
        &mut self,
        object: &'m Object,
        dynamic: Dynamic,
        member: Member<'d>,
    ) -> Refused<()> {
        let (key, node) = (member.key(), member.value());
        if self.is_echo() {
            return Ok(());
        }
        if !self.replays() {
            self.check_name(&object.path, key, node)?;
            if object.path.is_empty() {
                self.check_metadata(key, node)?;
            }
        }
        if key == "_doc_count" && object.path.is_empty() {
            return self.doc_count(node);
        }
        self.descend(object, dynamic, key, node, Copies::Follow)
    }

    /// Follows a dotted name down from a known object to where its value belongs.
    fn descend(
        &mut self,
        object: &'m Object,
        dynamic: Dynamic,
        key: &str,
        node: Node<'d>,
        copies: Copies,
    ) -> Refused<()> {
        let origin = object;
        let (mut object, mut dynamic, mut rest) = (object, dynamic, key);
        loop {
            let split = if object.is_flat() { None } else { rest.split_once('.') };
            let (first, after) = split.map_or((rest, None), |(a, b)| (a, Some(b)));
            match (object.children.get(first), after) {
                (Some(Child::Field(field)), None) => return self.field(field, node, copies),
                (Some(Child::Alias(alias)), _) => return self.alias(&alias.path, node),
                (Some(Child::Object(inner)), None) => {
                    return self.object(inner, dynamic, Some(first), node);
                }
                (Some(Child::Object(inner)), Some(after)) => {
                    if !inner.is_enabled() {
                        return Ok(());
                    }
                    dynamic = inner.dynamic.unwrap_or(dynamic);
                    object = inner;
                    rest = after;
                }
                (Some(Child::Field(field)), Some(_)) => {
                    return self.below_field(field, &join(&origin.path, key));
                }
                (None, _) if object.is_flat() => {
                    return self.flat_unknown(object, dynamic, rest, node, copies);
                }
                (None, _) => return self.unknown(&object.path, dynamic, rest, node, copies),
            }
        }
    }

    /// A name goes on below a field.
    #[cold]
    fn below_field(&mut self, field: &Field, full: &str) -> Refused<()> {
        if self.replays() {
            self.ignored_path(&field.path);
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::MapperParsing,
            format!(
                "Could not dynamically add mapping for field [{full}]. Existing mapping for [{}] must \
                 be of type object but found [{}].",
                field.path,
                field.type_name()
            ),
        )
        .into())
    }

    /// The members of an object whose children have whole names: objects inside of it only make
    /// names longer. `prefix` is the name so far.
    pub(super) fn flat_members(
        &mut self,
        object: &'m Object,
        dynamic: Dynamic,
        prefix: &str,
        node: Node<'d>,
    ) -> Refused<()> {
        for member in node.object() {
            let (key, value) = (member.key(), member.value());
            let name = join(prefix, key);
            if let Some(child) = object.children.get(&name) {
                self.child(child, dynamic, &name, value)?;
                continue;
            }
            if self.is_echo() {
                continue;
            }
            if !self.replays() {
                self.check_name(&object.path, key, value)?;
                if object.path.is_empty() && prefix.is_empty() {
                    self.check_metadata(key, value)?;
                }
            }
            self.flat_member(object, dynamic, &name, value)?;
        }
        Ok(())
    }

    /// A value of a name that the object does not have: a longer name, or a new field.
    fn flat_member(
        &mut self,
        object: &'m Object,
        dynamic: Dynamic,
        name: &str,
        node: Node<'d>,
    ) -> Refused<()> {
        match node.kind() {
            NodeKind::Object => self.flat_members(object, dynamic, name, node),
            NodeKind::Array => {
                for element in node.array() {
                    self.flat_member(object, dynamic, name, element)?;
                }
                Ok(())
            }
            _ => self.flat_unknown(object, dynamic, name, node, Copies::Follow),
        }
    }

    /// A new field of an object whose children have whole names.
    fn flat_unknown(
        &mut self,
        object: &'m Object,
        dynamic: Dynamic,
        name: &str,
        node: Node<'d>,
        copies: Copies,
    ) -> Refused<()> {
        if self.replays() {
            return Ok(());
        }
        match dynamic {
            Dynamic::Strict => Err(fault::strict(&object.path, name, node).into()),
            Dynamic::False => Ok(()),
            Dynamic::True => {
                self.new.flat.insert(object.path.to_string());
                self.new_value(&join(&object.path, name), node, copies)
            }
        }
    }

    /// A value at `rest` (perhaps dotted) below `parent`, where nothing is there yet.
    fn unknown(
        &mut self,
        parent: &str,
        dynamic: Dynamic,
        rest: &str,
        node: Node<'d>,
        copies: Copies,
    ) -> Refused<()> {
        if self.replays() {
            return Ok(());
        }
        let (mut parent, mut rest) = (parent.to_owned(), rest);
        let first = rest.split('.').next().unwrap_or(rest);
        match dynamic {
            Dynamic::Strict => return Err(fault::strict(&parent, first, node).into()),
            Dynamic::False => return Ok(()),
            Dynamic::True => {}
        }
        while let Some((first, after)) = rest.split_once('.') {
            let path = join(&parent, first);
            if !self.new_object(&path, node)? {
                return Ok(());
            }
            (parent, rest) = (path, after);
        }
        self.new_value(&join(&parent, rest), node, copies)
    }

    /// A value at a new path.
    fn new_value(&mut self, path: &str, node: Node<'d>, copies: Copies) -> Refused<()> {
        match node.kind() {
            NodeKind::Null => Ok(()),
            NodeKind::Array if self.new_point(path, node)? => Ok(()),
            NodeKind::Array => {
                for element in node.array() {
                    self.new_value(path, element, copies)?;
                }
                Ok(())
            }
            NodeKind::Object => {
                if !self.new_object(path, node)? {
                    return Ok(());
                }
                for member in node.object() {
                    let (key, value) = (member.key(), member.value());
                    self.check_name(path, key, value)?;
                    self.unknown(path, Dynamic::True, key, value, copies)?;
                }
                Ok(())
            }
            _ => self.new_field(path, node, copies),
        }
    }

    /// Takes an array that is one value by itself: a point, where a template makes points of objects here.
    fn new_point(&mut self, path: &str, node: Node<'d>) -> Refused<bool> {
        if self.template(path, Detected::Object, node)?.is_none() {
            return Ok(false);
        }
        let (child, definition) = self.guessed(path, Detected::Object, None, node)?;
        let Child::Field(field) = &child else { return Ok(false) };
        if !matches!(field.kind, Kind::GeoPoint(_)) {
            return Ok(false);
        }
        let field = field.clone();
        if !self.new.children.contains_key(path) && !self.add(path, child, definition, node)? {
            return Ok(true);
        }
        self.judged(&field, node)?;
        Ok(true)
    }

    /// Sees to it that there is an object at a new path; `false` where what lies in it is left out, or is looked at
    /// once the object is there, which says what becomes of it.
    fn new_object(&mut self, path: &str, node: Node<'d>) -> Refused<bool> {
        match self.new.children.get(path) {
            Some((Child::Object(_), definition)) => return Ok(is_plain(definition)),
            Some((Child::Field(field), _)) => {
                let field = field.clone();
                self.mixed(&field);
                return Ok(false);
            }
            Some((Child::Alias(_), _)) | None => {}
        }
        let (child, definition) = self.guessed(path, Detected::Object, None, node)?;
        if let Child::Field(field) = &child {
            // A template makes a field of objects; its type will have an opinion.
            self.judged(field, node)?;
        }
        let goes_on = matches!(child, Child::Object(_)) && is_plain(&definition);
        Ok(self.add(path, child, definition, node)? && goes_on)
    }

    fn new_field(&mut self, path: &str, node: Node<'d>, copies: Copies) -> Refused<()> {
        let Some(scalar) = Scalar::of_node(node) else { return Ok(()) };
        let mapping = self.mapping;
        let (detected, format) = detect(scalar, mapping.options());
        let (child, definition) = self.guessed(path, detected, format, node)?;
        let Child::Field(field) = &child else { return Ok(()) };
        let field = field.clone();
        match self.new.children.get(path) {
            Some((Child::Field(known), _)) => {
                if let Some(error) = disagreement(path, known, &field) {
                    self.new.late_fault.get_or_insert(error);
                    return Ok(());
                }
            }
            Some((Child::Object(_) | Child::Alias(_), _)) => {
                self.mixed(&field);
                return Ok(());
            }
            None => {
                if !self.add(path, child, definition, node)? {
                    return Ok(());
                }
            }
        }
        self.judged(&field, node)?;
        if copies == Copies::Follow {
            for target in &field.copy_to {
                self.copy_here(target, node)?;
            }
        }
        Ok(())
    }

    fn guessed(
        &self,
        path: &str,
        detected: Detected,
        format: Option<&std::sync::Arc<crate::types::DateFormat>>,
        node: Node<'d>,
    ) -> Refused<(Child, json::Object)> {
        let template = self.template(path, detected, node)?;
        guess(path, detected, format, template, self.mapping.settings()).map_err(Into::into)
    }

    /// The template that decides about a new field: the one that the request names, else the first that fits.
    fn template(
        &self,
        path: &str,
        detected: Detected,
        node: Node<'d>,
    ) -> Refused<Option<&'m Template>> {
        let mut templates = self.mapping.options().templates().iter();
        let Some(name) = self.chosen.and_then(|chosen| chosen.get(path)) else {
            return Ok(templates.find(|template| template.decides(path, detected)));
        };
        let found = templates.find(|template| template.name == **name);
        if found.is_none() {
            let reason = format!(
                "Can't find dynamic template for dynamic template name [{name}] of field [{path}]"
            );
            return Err(fault::parsing(node, &reason).into());
        }
        Ok(found)
    }

    fn judged(&mut self, field: &Field, node: Node<'d>) -> Refused<()> {
        for field in std::iter::once(field).chain(field.multi_fields.iter().map(|multi| &**multi)) {
            judge(field, node, &mut self.buffers.number)
                .map_err(|cause| fault::value(field, self.id, node, cause))?;
        }
        Ok(())
    }

    /// Values of one new path that are objects here and none there.
    fn mixed(&mut self, field: &Field) {
        let error = Error::illegal_argument(format!(
            "can't merge a non object mapping [{}] with an object mapping",
            field.path
        ));
        self.new.late_fault.get_or_insert(error);
    }

    /// Keeps a new child, where there is room for it; `false` where it is left out.
    fn add(
        &mut self,
        path: &str,
        child: Child,
        definition: json::Object,
        node: Node<'d>,
    ) -> Refused<bool> {
        let limits = &self.mapping.settings().limits;
        let adding = self.new.weight + weight(&child);
        if self.mapping.total_fields() + adding > limits.total_fields {
            if limits.ignore_dynamic_beyond {
                self.ignored_path(path);
                return Ok(false);
            }
            let cause = limits::total(limits.total_fields, adding);
            return Err(fault::failed(node, cause).into());
        }
        self.new.weight = adding;
        self.new.children.insert(path.to_owned(), (child, definition));
        Ok(true)
    }

    /// A value that `copy_to` takes to the document at hand.
    pub(super) fn copy_here(&mut self, target: &str, node: Node<'d>) -> Refused<()> {
        let mapping = self.mapping;
        if mapping.is_alias(target) {
            let reason = format!("Cannot copy to a field alias [{target}].");
            return Err(fault::failed(node, Error::illegal_argument(reason)).into());
        }
        if let Some(field) = mapping.field(target) {
            return self.field(field, node, Copies::Stop);
        }
        if node.is_null() {
            return Ok(());
        }
        let root = &**mapping.root();
        let dynamic = root.dynamic.unwrap_or_default();
        self.descend(root, dynamic, target, node, Copies::Stop)
    }
}
