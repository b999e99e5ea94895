//! Expressions, by the order in which operators bind.

use super::{Parser, Read, is_word, node};
use crate::ast::{Expr, ExprKind, Statement, StatementKind};
use crate::error::Fault;
use crate::heap::Value;
use crate::lexer::Kind;
use crate::op::Binary;
use crate::types::Type;

/// Operators with two sides: how they bind, what they are.
fn operator(sign: &str) -> Option<(u8, Infix)> {
    let binary = |binds, op| Some((binds, Infix::Binary(op)));
    match sign {
        "||" => Some((1, Infix::Both(true))),
        "&&" => Some((2, Infix::Both(false))),
        "|" => binary(3, Binary::Or),
        "^" => binary(4, Binary::Xor),
        "&" => binary(5, Binary::And),
        "==" => binary(6, Binary::Eq),
        "!=" => binary(6, Binary::Ne),
        "===" => binary(6, Binary::Is),
        "!==" => binary(6, Binary::IsNot),
        "<" => binary(8, Binary::Lt),
        "<=" => binary(8, Binary::Le),
        ">" => binary(8, Binary::Gt),
        ">=" => binary(8, Binary::Ge),
        "<<" => binary(9, Binary::Shl),
        ">>" => binary(9, Binary::Shr),
        ">>>" => binary(9, Binary::Ushr),
        "=~" => Some((10, Infix::Match(false))),
        "==~" => Some((10, Infix::Match(true))),
        "+" => binary(11, Binary::Add),
        "-" => binary(11, Binary::Sub),
        "*" => binary(12, Binary::Mul),
        "/" => binary(12, Binary::Div),
        "%" => binary(12, Binary::Rem),
        _ => None,
    }
}

/// Binds tighter than `==`, looser than `<`.
const INSTANCE_OF: u8 = 7;

/// Lambdas in lambdas.
const LAMBDAS_MAX: u8 = 6;

enum Infix {
    Binary(Binary),
    Both(bool),
    Match(bool),
}

fn compound(sign: &str) -> Option<Option<Binary>> {
    Some(match sign {
        "=" => None,
        "+=" => Some(Binary::Add),
        "-=" => Some(Binary::Sub),
        "*=" => Some(Binary::Mul),
        "/=" => Some(Binary::Div),
        "%=" => Some(Binary::Rem),
        "&=" => Some(Binary::And),
        "^=" => Some(Binary::Xor),
        "|=" => Some(Binary::Or),
        "<<=" => Some(Binary::Shl),
        ">>=" => Some(Binary::Shr),
        ">>>=" => Some(Binary::Ushr),
        _ => return None,
    })
}

impl Parser {
    pub(crate) fn expression(&mut self) -> Read<Expr> {
        self.deeper()?;
        let left = self.binary(0)?;
        let at = left.at;
        let found = match self.peek().clone() {
            Kind::Sign("?") => {
                self.advance();
                let then = self.expression()?;
                self.expect(":")?;
                let or = self.expression()?;
                let depth = [&left, &then, &or].map(|expr| expr.depth);
                let kind = ExprKind::Choice(Box::new(left), Box::new(then), Box::new(or));
                deep(at, kind, depth.into_iter().max())?
            }
            Kind::Sign("?:") => {
                self.advance();
                let right = self.expression()?;
                let depth = left.depth.max(right.depth);
                deep(at, ExprKind::Elvis(Box::new(left), Box::new(right)), Some(depth))?
            }
            Kind::Sign(sign) => match compound(sign) {
                Some(op) => {
                    let is_place = matches!(
                        left.kind,
                        ExprKind::Name(_) | ExprKind::Member(_, _, false) | ExprKind::Index(..)
                    );
                    if !is_place {
                        return Err(Fault::illegal(
                            "invalid assignment: cannot assign a value here",
                        )
                        .or_at(at));
                    }
                    self.advance();
                    let right = self.expression()?;
                    let depth = left.depth.max(right.depth);
                    deep(at, ExprKind::Assign(Box::new(left), op, Box::new(right)), Some(depth))?
                }
                None => left,
            },
            _ => left,
        };
        self.back();
        Ok(found)
    }

    fn binary(&mut self, least: u8) -> Read<Expr> {
        let mut left = self.unary()?;
        loop {
            let at = left.at;
            if matches!(self.peek(), Kind::Word(word) if word == "instanceof") {
                if INSTANCE_OF < least {
                    return Ok(left);
                }
                self.advance();
                let class = self.class_name()?;
                let depth = left.depth;
                left = deep(at, ExprKind::InstanceOf(Box::new(left), class), Some(depth))?;
                continue;
            }
            let Kind::Sign(sign) = *self.peek() else { return Ok(left) };
            let Some((binds, infix)) = operator(sign) else { return Ok(left) };
            if binds < least {
                return Ok(left);
            }
            self.advance();
            self.deeper()?;
            let right = self.binary(binds + 1)?;
            self.back();
            let depth = left.depth.max(right.depth);
            let (left_box, right) = (Box::new(left), Box::new(right));
            let kind = match infix {
                Infix::Binary(op) => ExprKind::Binary(op, left_box, right),
                Infix::Both(or) => ExprKind::Both(or, left_box, right),
                Infix::Match(whole) => ExprKind::Match(whole, left_box, right),
            };
            left = deep(at, kind, Some(depth))?;
        }
    }

    /// The `.part`s of a name.
    pub(super) fn parts(&mut self, name: &mut String) {
        while let (Kind::Sign("."), Kind::Word(part)) =
            (self.peek().clone(), self.peek_at(1).clone())
        {
            name.push('.');
            name.push_str(&part);
            self.at += 2;
        }
    }

    /// The `[]`s of a type.
    pub(super) fn dimensions(&mut self, name: &mut String) {
        while self.is("[") && matches!(self.peek_at(1), Kind::Sign("]")) {
            name.push_str("[]");
            self.at += 2;
        }
    }

    /// `java.util.List`, `int[]`
    fn class_name(&mut self) -> Read<String> {
        let Kind::Word(mut name) = self.peek().clone() else { return Err(self.near()) };
        self.advance();
        self.parts(&mut name);
        self.dimensions(&mut name);
        Ok(name)
    }

    fn unary(&mut self) -> Read<Expr> {
        self.deeper()?;
        let at = self.offset();
        let found = match *self.peek() {
            Kind::Sign(sign @ ("++" | "--")) => {
                self.advance();
                let inner = self.unary()?;
                let depth = inner.depth;
                let by = if sign == "++" { 1 } else { -1 };
                deep(at, ExprKind::Step(Box::new(inner), by, false), Some(depth))?
            }
            Kind::Sign(sign @ ("+" | "-" | "~")) => {
                self.advance();
                if let (Kind::Number(text), "-") = (self.peek().clone(), sign) {
                    // `-2147483648` is an `int`, though `2147483648` is none.
                    let number_at = self.offset();
                    let value = number(&text, true).map_err(|fault| fault.or_at(number_at))?;
                    self.advance();
                    let constant = node(at, ExprKind::Const(value), &[])?;
                    let found = self.postfix(constant)?;
                    self.back();
                    return Ok(found);
                }
                let sign = sign.chars().next().unwrap_or('+');
                let inner = self.unary()?;
                let depth = inner.depth;
                deep(at, ExprKind::Unary(sign, Box::new(inner)), Some(depth))?
            }
            Kind::Sign("!") => {
                self.advance();
                let inner = self.unary()?;
                let depth = inner.depth;
                deep(at, ExprKind::Not(Box::new(inner)), Some(depth))?
            }
            Kind::Sign("(") => match self.cast()? {
                Some(cast) => cast,
                None => {
                    let primary = self.primary()?;
                    self.postfix(primary)?
                }
            },
            _ => {
                let primary = self.primary()?;
                self.postfix(primary)?
            }
        };
        self.back();
        Ok(found)
    }

    /// `(int) x`, where it is one.
    fn cast(&mut self) -> Read<Option<Expr>> {
        let (start, at) = (self.at, self.offset());
        self.advance();
        if !matches!(self.peek(), Kind::Word(_)) {
            self.at = start;
            return Ok(None);
        }
        let name = self.class_name()?;
        let known = Type::named(name.trim_end_matches("[]"));
        let begins = match self.peek_at(1) {
            Kind::Word(word) => !matches!(word.as_str(), "instanceof" | "in"),
            Kind::Number(_) | Kind::Text(_) | Kind::Pattern(..) => true,
            Kind::Sign(sign) => {
                let is_primitive =
                    known.is_some_and(|known| known.is_primitive() || known == Type::Def);
                matches!(*sign, "(" | "[" | "!" | "~")
                    || is_primitive && matches!(*sign, "+" | "-" | "++" | "--")
            }
            Kind::End => false,
        };
        if !self.is(")") || known.is_none() || !begins {
            self.at = start;
            return Ok(None);
        }
        self.advance();
        let inner = self.unary()?;
        let depth = inner.depth;
        deep(at, ExprKind::Cast(name, Box::new(inner)), Some(depth)).map(Some)
    }

    fn postfix(&mut self, mut left: Expr) -> Read<Expr> {
        loop {
            let at = self.offset();
            match *self.peek() {
                Kind::Sign(sign @ ("." | "?.")) => {
                    self.advance();
                    let name = match self.peek().clone() {
                        Kind::Word(name) | Kind::Number(name) => name,
                        _ => return Err(self.near()),
                    };
                    self.advance();
                    let is_safe = sign == "?.";
                    if self.is("(") {
                        let arguments = self.arguments()?;
                        let deepest = arguments.iter().map(|expr| expr.depth).max().unwrap_or(0);
                        let depth = left.depth.max(deepest);
                        let kind = ExprKind::Call(Some(Box::new(left)), name, arguments, is_safe);
                        left = deep(at, kind, Some(depth))?;
                    } else {
                        let depth = left.depth;
                        left =
                            deep(at, ExprKind::Member(Box::new(left), name, is_safe), Some(depth))?;
                    }
                }
                Kind::Sign("[") => {
                    self.advance();
                    let index = self.expression()?;
                    self.expect("]")?;
                    let depth = left.depth.max(index.depth);
                    left = deep(at, ExprKind::Index(Box::new(left), Box::new(index)), Some(depth))?;
                }
                Kind::Sign(sign @ ("++" | "--")) => {
                    self.advance();
                    let (at, depth) = (left.at, left.depth);
                    let by = if sign == "++" { 1 } else { -1 };
                    left = deep(at, ExprKind::Step(Box::new(left), by, true), Some(depth))?;
                }
                _ => return Ok(left),
            }
        }
    }

    fn arguments(&mut self) -> Read<Vec<Expr>> {
        self.expect("(")?;
        let mut found = Vec::new();
        while !self.eat(")") {
            if !found.is_empty() {
                self.expect(",")?;
            }
            found.push(self.argument()?);
        }
        if found.len() > 200 {
            return Err(Fault::illegal("too many arguments").or_at(self.offset()));
        }
        Ok(found)
    }

    fn argument(&mut self) -> Read<Expr> {
        if let Some(lambda) = self.lambda()? {
            return Ok(lambda);
        }
        if let Some(reference) = self.reference()? {
            return Ok(reference);
        }
        self.expression()
    }

    /// `x -> y`, `(a, b) -> { c }`
    fn lambda(&mut self) -> Read<Option<Expr>> {
        let (start, at) = (self.at, self.offset());
        let mut takes: Vec<(Option<String>, String)> = Vec::new();
        match (self.peek().clone(), self.peek_at(1)) {
            (Kind::Word(name), Kind::Sign("->")) if !is_word(&name) => {
                takes.push((None, name));
                self.advance();
            }
            (Kind::Sign("("), _) => {
                self.advance();
                while !self.is(")") {
                    if !takes.is_empty() && !self.eat(",") {
                        self.at = start;
                        return Ok(None);
                    }
                    let kind = self.try_type();
                    match self.peek().clone() {
                        Kind::Word(name) if !is_word(&name) => takes.push((kind, name)),
                        _ => {
                            self.at = start;
                            return Ok(None);
                        }
                    }
                    self.advance();
                }
                self.advance();
            }
            _ => return Ok(None),
        }
        if !self.eat("->") {
            self.at = start;
            return Ok(None);
        }
        self.deeper()?;
        self.lambdas += 1;
        if self.lambdas > LAMBDAS_MAX {
            return Err(super::too_deep().or_at(at));
        }
        let body = if self.is("{") {
            self.block()?
        } else {
            let body_at = self.offset();
            let value = self.expression()?;
            vec![Statement { at: body_at, kind: StatementKind::Expr(value) }]
        };
        self.back();
        self.lambdas -= 1;
        // What is inside counts as one level: a lambda is a function of its own.
        node(at, ExprKind::Lambda(takes, body), &[]).map(Some)
    }

    /// `Type::method`, `this::method`, `Type::new`
    fn reference(&mut self) -> Read<Option<Expr>> {
        let (start, at) = (self.at, self.offset());
        if !matches!(self.peek(), Kind::Word(_)) {
            return Ok(None);
        }
        let class = self.class_name()?;
        if !self.eat("::") {
            self.at = start;
            return Ok(None);
        }
        let Kind::Word(name) = self.peek().clone() else { return Err(self.near()) };
        self.advance();
        node(at, ExprKind::Reference(class, name), &[]).map(Some)
    }

    fn primary(&mut self) -> Read<Expr> {
        let at = self.offset();
        match self.peek().clone() {
            Kind::Sign("(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Number(text) => {
                let value = number(&text, false).map_err(|fault| fault.or_at(at))?;
                self.advance();
                node(at, ExprKind::Const(value), &[])
            }
            Kind::Text(text) => {
                self.advance();
                node(at, ExprKind::Text(text), &[])
            }
            Kind::Pattern(text, flags) => {
                self.advance();
                node(at, ExprKind::Pattern(text, flags), &[])
            }
            Kind::Sign("[") => self.collection(),
            Kind::Word(word) => match word.as_str() {
                "true" | "false" => {
                    self.advance();
                    node(at, ExprKind::Const(Value::Bool(word == "true")), &[])
                }
                "null" => {
                    self.advance();
                    node(at, ExprKind::Const(Value::Null), &[])
                }
                "new" => self.new_object(),
                "this" => {
                    self.advance();
                    node(at, ExprKind::Name(word), &[])
                }
                _ if is_word(&word) => Err(self.near()),
                _ => {
                    self.advance();
                    if self.is("(") {
                        let arguments = self.arguments()?;
                        let depth = arguments.iter().map(|expr| expr.depth).max();
                        return deep(at, ExprKind::Call(None, word, arguments, false), depth);
                    }
                    node(at, ExprKind::Name(word), &[])
                }
            },
            _ => Err(self.near()),
        }
    }

    /// `[a, b]`, `[a: b]`, `[:]`
    fn collection(&mut self) -> Read<Expr> {
        let at = self.offset();
        self.expect("[")?;
        if self.eat(":") {
            self.expect("]")?;
            return node(at, ExprKind::Map(Vec::new()), &[]);
        }
        let (mut items, mut pairs) = (Vec::new(), Vec::new());
        let mut depth = 0;
        while !self.eat("]") {
            if !(items.is_empty() && pairs.is_empty()) {
                self.expect(",")?;
            }
            let item = self.expression()?;
            depth = depth.max(item.depth);
            if pairs.is_empty() && !self.is(":") {
                items.push(item);
                continue;
            }
            if !items.is_empty() {
                return Err(self.near());
            }
            self.expect(":")?;
            let value = self.expression()?;
            depth = depth.max(value.depth);
            pairs.push((item, value));
        }
        let kind = if pairs.is_empty() { ExprKind::List(items) } else { ExprKind::Map(pairs) };
        deep(at, kind, Some(depth))
    }

    fn new_object(&mut self) -> Read<Expr> {
        let at = self.offset();
        self.advance();
        let Kind::Word(mut name) = self.peek().clone() else { return Err(self.near()) };
        self.advance();
        self.parts(&mut name);
        if self.is("(") {
            let arguments = self.arguments()?;
            let depth = arguments.iter().map(|expr| expr.depth).max();
            return deep(at, ExprKind::New(name, arguments), depth);
        }
        let (mut sizes, mut dims) = (Vec::new(), 0u8);
        while self.eat("[") {
            dims = dims.saturating_add(1);
            if !self.is("]") {
                sizes.push(self.expression()?);
            }
            self.expect("]")?;
        }
        if dims == 0 || dims > 16 {
            return Err(self.near());
        }
        if sizes.is_empty() {
            self.expect("{")?;
            let mut items = Vec::new();
            while !self.eat("}") {
                if !items.is_empty() {
                    self.expect(",")?;
                }
                items.push(self.expression()?);
            }
            let depth = items.iter().map(|expr: &Expr| expr.depth).max();
            return deep(at, ExprKind::ArrayOf(name, items), depth);
        }
        let depth = sizes.iter().map(|expr: &Expr| expr.depth).max();
        deep(at, ExprKind::NewArray(name, sizes, dims), depth)
    }
}

fn deep(at: u32, kind: ExprKind, below: Option<u16>) -> Read<Expr> {
    let depth = 1 + below.unwrap_or(0);
    if depth > crate::limits::DEPTH_MAX {
        return Err(super::too_deep().or_at(at));
    }
    Ok(Expr { at, depth, kind })
}

/// A number as it is written.
fn number(text: &str, is_negative: bool) -> Read<Value> {
    let sign = if is_negative { "-" } else { "" };
    let (body, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None if text.trim_end_matches(['l', 'L']).len() > 1
            && text.starts_with('0')
            && text.trim_end_matches(['l', 'L']).bytes().all(|b| b.is_ascii_digit()) =>
        {
            (&text[1..], 8)
        }
        None => (text, 10),
    };
    if let Some(digits) = body.strip_suffix(['l', 'L']) {
        let found = i64::from_str_radix(&format!("{sign}{digits}"), radix).ok();
        let found = found.or_else(|| {
            (radix != 10)
                .then(|| u64::from_str_radix(digits, radix).ok())
                .flatten()
                .map(|bits| bits as i64)
        });
        return found
            .map(Value::Long)
            .ok_or_else(|| Fault::illegal(format!("Invalid long constant [{sign}{digits}].")));
    }
    let is_fraction = radix == 10 && text.contains(['.', 'e', 'E', 'f', 'F', 'd', 'D']);
    if is_fraction {
        if let Some(digits) = text.strip_suffix(['f', 'F']) {
            return match format!("{sign}{digits}").parse::<f32>() {
                Ok(value) if value.is_finite() => Ok(Value::Float(value)),
                _ => Err(Fault::illegal(format!("Invalid float constant [{text}]."))),
            };
        }
        let digits = text.strip_suffix(['d', 'D']).unwrap_or(text);
        return match format!("{sign}{digits}").parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Value::Double(value)),
            _ => Err(Fault::illegal(format!("Invalid double constant [{text}]."))),
        };
    }
    let signed = format!("{sign}{body}");
    if let Ok(value) = i32::from_str_radix(&signed, radix) {
        return Ok(Value::Int(value));
    }
    if let (16 | 8, Ok(bits)) = (radix, u32::from_str_radix(body, radix)) {
        let value = bits as i32;
        return Ok(Value::Int(if is_negative { value.wrapping_neg() } else { value }));
    }
    let hint = match i64::from_str_radix(&signed, radix) {
        Ok(_) => format!(" If you want a long constant then change it to [{signed}L]."),
        Err(_) => String::new(),
    };
    Err(Fault::illegal(format!("Invalid int constant [{signed}].{hint}")))
}
