//! Values of the types that are neither text nor words nor plain numbers.

use base::vint;
use json::tape::{Kind as NodeKind, Node};

use super::fault;
use super::value::longer_than;
use super::walk::Walk;
use crate::tree::node::Child;
use crate::types::{
    Completion, ConstantKeyword, Field, Flattened, GeoPoint, Ip, Join, Kind, NumberKind, Range,
    Scalar, TERM_BYTES_MAX, completion, feature, geo, ip, number, sortable,
};
use crate::{Error, ErrorKind, Result};

impl<'m, 'd> Walk<'m, '_, 'd> {
    /// A value of a field that is neither text nor words nor plain numbers.
    pub(super) fn take_special(&mut self, field: &'m Field, node: Node<'d>) -> Result<()> {
        match &field.kind {
            Kind::Ip(ip) => self.take_ip(field, ip, node),
            Kind::GeoPoint(point) => self.take_point(field, point, node),
            Kind::Range(range) => self.take_range(field, range, node),
            Kind::Binary => self.take_binary(field, node),
            Kind::RankFeature(_) => self.take_feature(field, node),
            Kind::RankFeatures(_) => self.take_features(field, node),
            Kind::Completion(completion) => self.take_completion(field, completion, node),
            Kind::ConstantKeyword(constant) => self.take_constant(field, constant, node),
            Kind::Flattened(flattened) => self.take_flattened(field, flattened, node),
            Kind::Join(join) => self.take_join(field, join, node),
            Kind::Text(_)
            | Kind::Keyword(_)
            | Kind::Number(_)
            | Kind::Boolean(_)
            | Kind::Date(_) => Ok(()),
        }
    }

    fn take_ip(&mut self, field: &Field, ip: &Ip, node: Node<'d>) -> Result<()> {
        let address = match Scalar::of_node(node) {
            Some(scalar) => ip::parse(scalar.text(&mut self.buffers.number))?,
            None if node.is_null() => match &ip.null_value {
                Some((_, address)) => *address,
                None => return Ok(()),
            },
            None => return Err(fault::no_text(node)),
        };
        if field.index || field.doc_values {
            self.arena.check_room(ip::LEN)?;
            self.arena.push_keyword(field.no, &address.octets(), field.index, field.doc_values);
        }
        self.present(field);
        Ok(())
    }

    fn take_point(&mut self, field: &Field, kind: &GeoPoint, node: Node<'d>) -> Result<()> {
        let point = match (node.kind(), &kind.null_value) {
            (NodeKind::Null, None) => return Ok(()),
            (NodeKind::Null, Some((_, point))) => *point,
            _ => {
                let read = match plain_point(node) {
                    Some(point) => point,
                    None => geo::parse_point(&node.to_value(), !kind.refuse_z)?,
                };
                if kind.ignore_malformed {
                    geo::normalize(read).ok_or_else(|| {
                        Error::new(ErrorKind::Parse, "cannot normalize the point - not a number")
                    })?
                } else {
                    geo::check(read, &field.path)?;
                    read
                }
            }
        };
        let value = geo::encode(point);
        if field.index {
            self.arena.check_room(geo::POINT_BYTES)?;
            self.arena.push_point(field.no, &geo::point_bytes(value));
        }
        if field.doc_values {
            self.arena.push_number(field.no, value, false, true);
        }
        self.present(field);
        Ok(())
    }

    fn take_range(&mut self, field: &Field, range: &Range, node: Node<'d>) -> Result<()> {
        let Some(span) = range.parse(&node.to_value(), field.name())? else { return Ok(()) };
        let bytes = span.point(range.kind);
        self.arena.check_room(2 * bytes.len())?;
        if field.index {
            self.arena.push_point(field.no, &bytes);
        }
        if field.doc_values {
            self.arena.push_bytes(field.no, &bytes);
        }
        self.present(field);
        Ok(())
    }

    fn take_binary(&mut self, field: &Field, node: Node<'d>) -> Result<()> {
        let text = match (node.kind(), node.as_str()) {
            (NodeKind::Null, _) => return Ok(()),
            (_, Some(text)) => text,
            _ => {
                return Err(Error::new(
                    ErrorKind::XContentParse,
                    format!(
                        "Current token ({}) not VALUE_STRING or VALUE_EMBEDDED_OBJECT, can not \
                         access as binary",
                        node.token()
                    ),
                ));
            }
        };
        let bytes = base64(text).ok_or_else(|| {
            Error::new(
                ErrorKind::XContentParse,
                "Failed to decode VALUE_STRING as base64 (MIME-NO-LINEFEEDS)",
            )
        })?;
        if field.doc_values {
            self.arena.check_room(bytes.len() + 5)?;
            let mut value = Vec::with_capacity(bytes.len() + 5);
            vint::write_bytes(&mut value, &bytes);
            self.arena.push_bytes(field.no, &value);
        }
        self.present(field);
        Ok(())
    }

    fn take_feature(&mut self, field: &Field, node: Node<'d>) -> Result<()> {
        let Kind::RankFeature(kind) = &field.kind else { return Ok(()) };
        let value = match node.kind() {
            NodeKind::Null => match kind.null_value {
                Some(value) => value,
                None => return Ok(()),
            },
            _ => float_of(node)?,
        };
        if !self.is_first(field) {
            return Err(Error::illegal_argument(format!(
                "[rank_feature] fields do not support indexing multiple values for the same field \
                 [{}] in the same document",
                field.path
            )));
        }
        let value = if kind.negative { 1.0 / value } else { value };
        check_feature(value, &field.path, "_feature")?;
        self.arena.push_feature(field.no, feature::ONE, feature::encode(value));
        self.present(field);
        Ok(())
    }

    fn take_features(&mut self, field: &Field, node: Node<'d>) -> Result<()> {
        let Kind::RankFeatures(kind) = &field.kind else { return Ok(()) };
        let unexpected = |token: &str| {
            Err(Error::illegal_argument(format!(
                "[rank_features] fields take hashes that map a feature to a strictly positive \
                 float, but got unexpected token {token}"
            )))
        };
        match node.kind() {
            NodeKind::Object => {}
            NodeKind::Null => return Ok(()),
            _ => return unexpected(node.token()),
        }
        let mut seen: Vec<&str> = Vec::new();
        for member in node.object() {
            let (name, value) = (member.key(), member.value());
            if name.contains('.') {
                return Err(Error::illegal_argument(format!(
                    "[rank_features] fields do not support dots in feature names but found [{name}]"
                )));
            }
            match value.kind() {
                NodeKind::Null => continue,
                NodeKind::Number | NodeKind::String => {}
                _ => return unexpected(value.token()),
            }
            if seen.contains(&name) {
                return Err(Error::illegal_argument(format!(
                    "[rank_features] fields do not support indexing multiple values for the same \
                     rank feature [{}.{name}] in the same document",
                    field.path
                )));
            }
            seen.push(name);
            if name.len() > TERM_BYTES_MAX {
                return Err(fault::immense(field, name.as_bytes()));
            }
            let number = float_of(value)?;
            let number = if kind.negative { 1.0 / number } else { number };
            check_feature(number, name, &field.path)?;
            self.arena.check_room(name.len())?;
            self.arena.push_feature(field.no, name.as_bytes(), feature::encode(number));
        }
        self.present(field);
        Ok(())
    }

    fn take_constant(
        &mut self,
        field: &'m Field,
        constant: &ConstantKeyword,
        node: Node<'d>,
    ) -> Result<()> {
        let text = match Scalar::of_node(node) {
            Some(scalar) => scalar.text(&mut self.buffers.number),
            None if node.is_null() => return Ok(()),
            None => return Err(fault::no_text(node)),
        };
        let differs = |value: &str| {
            Err(Error::illegal_argument(format!(
                "[constant_keyword] field [{}] only accepts values that are equal to the value \
                 defined in the mappings [{value}], but got [{text}]",
                field.path
            )))
        };
        match &constant.value {
            Some(value) if **value == *text => Ok(()),
            Some(value) => differs(value),
            None => {
                if let Some((Child::Field(known), _)) = self.new.children.get(&*field.path)
                    && let Kind::ConstantKeyword(ConstantKeyword { value: Some(value) }) =
                        &known.kind
                {
                    return if **value == *text { Ok(()) } else { differs(value) };
                }
                // The first document says what it is.
                let kind = Kind::ConstantKeyword(ConstantKeyword { value: Some(text.into()) });
                let known = Field { kind, ..field.clone() };
                let mut definition = json::Object::new();
                definition.insert("type", "constant_keyword");
                definition.insert("value", text);
                let child = Child::Field(known.into());
                if !self.replays() {
                    self.new.children.insert(field.path.to_string(), (child, definition));
                }
                Ok(())
            }
        }
    }

    fn take_join(&mut self, field: &'m Field, join: &Join, node: Node<'d>) -> Result<()> {
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
        self.arena.check_room(2 * (name.len() + self.id.len()) + 2 * TERM_BYTES_MAX)?;
        if let Some(at) = join.parent(&name).and_then(|parent| join.part(parent)) {
            let Some(parent) = parent else {
                return illegal(format!("[parent] is missing for join field [{path}]"));
            };
            if !self.is_routed && !self.replays() {
                return illegal(format!("[routing] is missing for join field [{path}]"));
            }
            if parent.len() > TERM_BYTES_MAX {
                return Err(fault::immense(field, parent.as_bytes()));
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

    fn take_flattened(
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

    fn take_completion(
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
                    node.token(),
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
            kind.analyse(input, &kind.analyzer, &mut words);
            if words.is_empty() {
                continue;
            }
            for prefix in &prefixes {
                let len = prefix.len() + words.len() + 1 + input.len();
                if len > TERM_BYTES_MAX {
                    return Err(fault::immense(field, input.as_bytes()));
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

/// A value of `{"lat": 1.5, "lon": 2}`, the usual form, without making JSON of it.
fn plain_point(node: Node<'_>) -> Option<geo::Point> {
    let number = |node: Node<'_>| match Scalar::of_node(node)? {
        Scalar::Integer(value) => Some(value as f64),
        Scalar::Decimal(value, _) => Some(value),
        _ => None,
    };
    if node.kind() != NodeKind::Object {
        return None;
    }
    let (mut lat, mut lon) = (None, None);
    for member in node.object() {
        match member.key() {
            "lat" => lat = Some(number(member.value())?),
            "lon" => lon = Some(number(member.value())?),
            _ => return None,
        }
    }
    Some(geo::Point { lat: lat?, lon: lon? })
}

/// The float of a number or of a text.
fn float_of(node: Node<'_>) -> Result<f32> {
    let scalar = Scalar::of_node(node).ok_or_else(|| number::not_numeric_token(node.token()))?;
    NumberKind::Double.parse(scalar, true).map(|value| sortable::to_f64(value) as f32)
}

/// What may be kept as a feature.
fn check_feature(value: f32, name: &str, field: &str) -> Result<()> {
    let shown = json::number::float_to_string(value);
    if !value.is_finite() {
        return Err(Error::illegal_argument(format!(
            "featureValue must be finite, got: {shown} for feature {name} on field {field}"
        )));
    }
    if value < f32::MIN_POSITIVE {
        return Err(Error::illegal_argument(format!(
            "featureValue must be a positive normal float, got: {shown} for feature {name} on field \
             {field} which is less than the minimum positive normal float: 1.17549435E-38"
        )));
    }
    Ok(())
}

/// The bytes of base64, with or without padding, of either alphabet.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0u32, 0);
    let body = text.trim_end_matches('=');
    if text.len() - body.len() > 2 {
        return None;
    }
    for byte in body.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'\n' | b'\r' | b' ' | b'\t' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count += 1;
        if count == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, count) = (0, 0);
        }
    }
    match count {
        0 => {}
        2 => out.push((bits >> 4) as u8),
        3 => out.extend_from_slice(&[(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => return None,
    }
    Some(out)
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
                let rest = path.strip_prefix(&*member.key());
                let rest = rest.and_then(|rest| {
                    if rest.is_empty() { Some("") } else { rest.strip_prefix('.') }
                });
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
    fn base64_is_read() {
        for (text, want) in [
            ("", Some(&b""[..])),
            ("U29tZQ==", Some(b"Some")),
            ("U29tZQ", Some(b"Some")),
            ("AAEC", Some(&[0, 1, 2])),
            ("AAE=", Some(&[0, 1])),
            ("A", None),
            ("A===", None),
            ("AA!A", None),
        ] {
            assert_eq!(base64(text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn inputs_are_cut_at_whole_characters() {
        assert_eq!(cut("abc", 2), "ab");
        assert_eq!(cut("a\u{1f600}b", 2), "a");
        assert_eq!(cut("abc", 50), "abc");
    }
}
