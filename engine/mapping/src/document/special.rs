//! Values of the types that are neither text nor words nor plain numbers.

use base::vint;
use json::tape::{Kind as NodeKind, Node};

use super::fault;
use super::walk::Walk;
use crate::tree::node::Child;
use crate::types::{ConstantKeyword, Field, GeoPoint, Ip, Kind, Range, Scalar, geo, ip};
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
}
