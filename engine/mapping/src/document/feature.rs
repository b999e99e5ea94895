//! Values that score: `rank_feature`, `rank_features`.

use json::tape::{Kind as NodeKind, Node};

use super::fault;
use super::walk::Walk;
use crate::types::{Field, Kind, NumberKind, Scalar, TERM_BYTES_MAX, feature, number, sortable};
use crate::{Error, Result};

impl<'m, 'd> Walk<'m, '_, 'd> {
    pub(super) fn take_feature(&mut self, field: &Field, node: Node<'d>) -> Result<()> {
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

    pub(super) fn take_features(&mut self, field: &Field, node: Node<'d>) -> Result<()> {
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
            _ => {
                return Err(Error::illegal_argument(format!(
                    "[rank_features] fields must be json objects, expected a START_OBJECT but got: \
                     {}",
                    node.token()
                )));
            }
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
                return Err(fault::immense(&field.path, name.as_bytes()));
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
             {field} which is less than the minimum positive normal float: 1.1754944E-38"
        )));
    }
    Ok(())
}
