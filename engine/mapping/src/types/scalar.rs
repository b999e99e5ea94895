//! One value of a document or a query, before its field has judged it.

use json::tape::{Kind as NodeKind, Node, Num};
use json::{Value, number};

/// A value that is neither object nor array nor null.
#[derive(Clone, Copy, Debug)]
pub enum Scalar<'a> {
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits.
    Integer(i64),
    /// A number with point or exponent.
    Decimal(f64, Origin<'a>),
    /// An integer beyond 64 bits, or above `i64::MAX`.
    Big(Origin<'a>),
    /// A string.
    Text(&'a str),
}

/// Where a number's text can be had.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// In a document.
    Node(Node<'a>),
    /// Here.
    Text(&'a str),
}

impl<'a> Origin<'a> {
    /// The text as it was written. From a document it may cost a scan.
    pub fn text(self) -> &'a str {
        match self {
            Self::Node(node) => node.text(),
            Self::Text(text) => text,
        }
    }
}

impl<'a> Scalar<'a> {
    /// Is it a number, and no text of one?
    pub(super) const fn is_number(self) -> bool {
        matches!(self, Self::Integer(_) | Self::Decimal(..) | Self::Big(_))
    }

    /// A value of a document; `None` for objects, arrays and null.
    #[inline]
    pub fn of_node(node: Node<'a>) -> Option<Self> {
        Some(match node.kind() {
            NodeKind::String => Self::Text(node.as_str()?),
            NodeKind::Number => match node.number()? {
                Num::I64(value) => Self::Integer(value),
                Num::F64(value) => Self::Decimal(value, Origin::Node(node)),
                Num::U64(value) => match i64::try_from(value) {
                    Ok(value) => Self::Integer(value),
                    Err(_) => Self::Big(Origin::Node(node)),
                },
                Num::Big => Self::Big(Origin::Node(node)),
            },
            NodeKind::Bool => Self::Bool(node.as_bool()?),
            NodeKind::Null | NodeKind::Array | NodeKind::Object => return None,
        })
    }

    /// A value of a query or mapping; `None` for objects, arrays and null.
    pub fn of_value(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Self::Bool(*value),
            Value::String(text) => Self::Text(text),
            Value::Number(number) => match number.as_i64() {
                Some(value) => Self::Integer(value),
                None if number.is_integer() => Self::Big(Origin::Text(number.text())),
                None => Self::Decimal(number.as_f64(), Origin::Text(number.text())),
            },
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        })
    }

    /// Its text as written: what a keyword keeps. `buffer` is for integers.
    pub fn text<'b>(self, buffer: &'b mut String) -> &'b str
    where
        'a: 'b,
    {
        match self {
            Self::Text(text) => text,
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
            Self::Decimal(_, origin) | Self::Big(origin) => origin.text(),
            Self::Integer(value) => {
                buffer.clear();
                push_integer(buffer, value);
                buffer
            }
        }
    }

    /// What Java's `toString` makes of it: how a query's value stands in error texts and terms.
    pub fn java_text(self) -> String {
        match self {
            Self::Decimal(value, _) => number::double_to_string(value),
            other => other.text(&mut String::new()).to_owned(),
        }
    }

    /// Jackson's name of its token.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Bool(true) => "VALUE_TRUE",
            Self::Bool(false) => "VALUE_FALSE",
            Self::Integer(_) | Self::Big(_) => "VALUE_NUMBER_INT",
            Self::Decimal(..) => "VALUE_NUMBER_FLOAT",
            Self::Text(_) => "VALUE_STRING",
        }
    }
}

/// Appends the digits of an integer.
fn push_integer(out: &mut String, value: i64) {
    use std::fmt::Write as _;
    write!(out, "{value}").expect("a string takes any text");
}
