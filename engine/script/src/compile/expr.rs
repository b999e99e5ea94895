//! Expressions become operations; each gives the type it is known to have.

use super::{Compiler, Read, empty};
use crate::ast::{Expr, ExprKind, Statement};
use crate::error::Fault;
use crate::heap::Value;
use crate::library;
use crate::op::{Binary, Op};
use crate::pattern::Pattern;
use crate::types::{Type, change};

impl Compiler {
    /// An expression whose value stays on the stack.
    pub(super) fn expr(&mut self, expr: &Expr) -> Read<Type> {
        self.deeper(expr.at)?;
        let found = self.kind(expr)?;
        self.depth -= 1;
        Ok(found)
    }

    /// An expression whose value nobody wants.
    pub(super) fn dropped(&mut self, expr: &Expr) -> Read<()> {
        match &expr.kind {
            ExprKind::Assign(place, op, value) => {
                self.assign(expr.at, place, *op, value, false)?;
            }
            ExprKind::Step(place, by, _) => {
                self.step(expr.at, place, *by, true, false)?;
            }
            _ => {
                self.expr(expr)?;
                self.op(Op::Pop, expr.at);
            }
        }
        Ok(())
    }

    fn kind(&mut self, expr: &Expr) -> Read<Type> {
        let at = expr.at;
        match &expr.kind {
            ExprKind::Const(value) => {
                self.op(Op::Const(*value), at);
                Ok(match value {
                    Value::Null => Type::Null,
                    Value::Bool(_) => Type::Bool,
                    Value::Long(_) => Type::Long,
                    Value::Float(_) => Type::Float,
                    Value::Double(_) => Type::Double,
                    _ => Type::Int,
                })
            }
            ExprKind::Text(text) => {
                let text = self.text(text);
                self.op(Op::Text(text), at);
                Ok(Type::TEXT)
            }
            ExprKind::Pattern(text, flags) => {
                let pattern = pattern(text, flags).map_err(|fault| fault.or_at(at))?;
                self.program.patterns.push(pattern);
                if self.program.patterns.len() > 1_000 {
                    return Err(Fault::illegal("too many patterns").or_at(at));
                }
                self.op(Op::Pattern(self.program.patterns.len() as u16 - 1), at);
                Ok(Type::Def)
            }
            ExprKind::Name(name) => self.name(name, at),
            ExprKind::Unary(sign, inner) => {
                let found = self.expr(inner)?;
                let wrong = found == Type::Bool || found == Type::TEXT;
                if wrong || *sign == '~' && matches!(found, Type::Float | Type::Double) {
                    return Err(Fault::cast(format!(
                        "cannot apply the {} operator [{sign}] to the type [{}]",
                        match sign {
                            '-' => "negate",
                            '+' => "positive",
                            _ => "bitwise not",
                        },
                        found.java()
                    ))
                    .or_at(at));
                }
                self.op(Op::Unary(*sign), at);
                Ok(found.promoted())
            }
            ExprKind::Not(inner) => {
                let found = self.expr(inner)?;
                self.convert(found, Type::Bool, false, inner.at)?;
                self.op(Op::Not, at);
                Ok(Type::Bool)
            }
            ExprKind::Binary(op, left, right) => {
                let a = self.expr(left)?;
                let b = self.expr(right)?;
                let found = binary(*op, a, b).map_err(|fault| fault.or_at(at))?;
                self.op(Op::Binary(*op), at);
                Ok(found)
            }
            ExprKind::Both(is_or, left, right) => {
                self.bool(left)?;
                let jump = if *is_or { Op::JumpIf(0) } else { Op::JumpUnless(0) };
                let short = self.op(jump, at);
                self.bool(right)?;
                let over = self.op(Op::Jump(0), at);
                self.land([short]);
                self.op(Op::Const(Value::Bool(*is_or)), at);
                self.land([over]);
                Ok(Type::Bool)
            }
            ExprKind::Match(whole, left, right) => {
                self.expr(left)?;
                self.expr(right)?;
                self.op(Op::Match(*whole), at);
                Ok(Type::Bool)
            }
            ExprKind::Choice(condition, then, or) => {
                self.bool(condition)?;
                let skip = self.op(Op::JumpUnless(0), at);
                let a = self.expr(then)?;
                let over = self.op(Op::Jump(0), at);
                self.land([skip]);
                let b = self.expr(or)?;
                let joined = joined(a, b);
                if joined.is_primitive() && b != joined {
                    self.convert(b, joined, false, or.at)?;
                }
                if joined.is_primitive() && a != joined {
                    // The first side is converted behind the second, and both go on from there.
                    let to_end = self.op(Op::Jump(0), at);
                    self.land([over]);
                    self.convert(a, joined, false, then.at)?;
                    self.land([to_end]);
                } else {
                    self.land([over]);
                }
                Ok(joined)
            }
            ExprKind::Elvis(left, right) => {
                let a = self.expr(left)?;
                if a.is_primitive() {
                    return Err(
                        Fault::illegal("Extraneous elvis operator. LHS is a primitive.").or_at(at)
                    );
                }
                let over = self.op(Op::JumpSome(0), at);
                let b = self.expr(right)?;
                self.land([over]);
                Ok(if a == b { a } else { Type::Def })
            }
            ExprKind::Assign(place, op, value) => self.assign(at, place, *op, value, true),
            ExprKind::Step(place, by, old) => self.step(at, place, *by, *old, true),
            ExprKind::Cast(name, inner) => {
                let to = self.named_type(name, at)?;
                let found = self.expr(inner)?;
                self.convert(found, to, true, at)?;
                Ok(to)
            }
            ExprKind::InstanceOf(inner, name) => {
                let of = self.named_type(name, at)?;
                self.expr(inner)?;
                self.op(Op::InstanceOf(of), at);
                Ok(Type::Bool)
            }
            ExprKind::Member(base, name, is_safe) => self.member(at, base, name, *is_safe),
            ExprKind::Index(base, index) => {
                if let (true, ExprKind::Text(field)) = (self.is_doc(base), &index.kind) {
                    let field = self.text(field);
                    self.op(Op::DocField(field), at);
                    return Ok(Type::Def);
                }
                let of = self.expr(base)?;
                if of.is_primitive() || of == Type::TEXT {
                    return Err(Fault::illegal(format!(
                        "Attempting to address a non-array-like type [{}] as an array.",
                        of.java()
                    ))
                    .or_at(at));
                }
                self.expr(index)?;
                self.op(Op::Index, at);
                Ok(of.element())
            }
            ExprKind::Call(base, name, arguments, is_safe) => {
                self.call(at, base.as_deref(), name, arguments, *is_safe)
            }
            ExprKind::New(name, arguments) => {
                let class = self.named_type(name, at)?;
                let Type::Class(number) = class else {
                    return Err(Fault::illegal(format!("cannot resolve type [{name}].")).or_at(at));
                };
                if !library::constructs(class, arguments.len()) {
                    return Err(Fault::illegal(format!(
                        "constructor [{}, <init>/{}] not found",
                        class.java(),
                        arguments.len()
                    ))
                    .or_at(at));
                }
                for argument in arguments {
                    self.expr(argument)?;
                }
                self.op(Op::New(number, arguments.len() as u8), at);
                Ok(class)
            }
            ExprKind::NewArray(name, sizes, dims) => {
                let of = self.named_type(name, at)?;
                for size in sizes {
                    let found = self.expr(size)?;
                    self.convert(found, Type::Int, false, size.at)?;
                }
                let whole = of.array(*dims);
                self.op(Op::NewArray(whole, sizes.len() as u8), at);
                Ok(whole)
            }
            ExprKind::ArrayOf(name, items) => {
                let of = self.named_type(name, at)?;
                for item in items {
                    let found = self.expr(item)?;
                    self.convert(found, of, false, item.at)?;
                }
                self.op(Op::Array(of, count(items.len(), at)?), at);
                Ok(of.array(1))
            }
            ExprKind::List(items) => {
                for item in items {
                    self.value(item)?;
                }
                self.op(Op::List(count(items.len(), at)?), at);
                Ok(Type::named("ArrayList").unwrap_or(Type::Def))
            }
            ExprKind::Map(pairs) => {
                for (key, value) in pairs {
                    self.value(key)?;
                    self.value(value)?;
                }
                self.op(Op::Map(count(pairs.len(), at)?), at);
                Ok(Type::named("HashMap").unwrap_or(Type::Def))
            }
            ExprKind::Lambda(takes, body) => self.lambda(at, takes, body),
            ExprKind::Reference(class, name) => self.reference(at, class, name),
        }
    }

    /// An expression that must give something.
    pub(super) fn value(&mut self, expr: &Expr) -> Read<Type> {
        let found = self.expr(expr)?;
        if found == Type::Void {
            return Err(Fault::cast("Cannot cast from [void] to [def].").or_at(expr.at));
        }
        Ok(found)
    }

    fn bool(&mut self, expr: &Expr) -> Read<()> {
        let found = self.expr(expr)?;
        self.convert(found, Type::Bool, false, expr.at)
    }

    fn name(&mut self, name: &str, at: u32) -> Read<Type> {
        if let Some((slot, kind, _)) = self.find(name) {
            self.op(Op::Load(slot), at);
            return Ok(kind);
        }
        if name == "_score" && self.program.context.has_score && self.sees_context() {
            self.program.uses_score = true;
            self.op(Op::Score, at);
            return Ok(Type::Double);
        }
        if Type::named(name).is_some() {
            return Err(Fault::illegal(format!(
                "value required: instead found unexpected type [{name}]"
            ))
            .or_at(at));
        }
        Err(Fault::illegal(format!("cannot resolve symbol [{name}]")).or_at(at))
    }

    /// Is the script itself under way, or a lambda in it? Its functions see nothing of the context.
    pub(super) fn sees_context(&self) -> bool {
        self.states[0].function.name.is_empty()
    }

    /// Is it `doc`, and no variable of that name?
    fn is_doc(&mut self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Name(name) if name == "doc")
            && self.program.context.variables.contains(&"doc")
            && self.sees_context()
    }

    /// The class that a path like `java.lang.Math` or `Math` names.
    pub(super) fn class_of(&mut self, expr: &Expr) -> Option<Type> {
        fn path(expr: &Expr) -> Option<String> {
            match &expr.kind {
                ExprKind::Name(name) => Some(name.clone()),
                ExprKind::Member(base, name, false) => Some(format!("{}.{name}", path(base)?)),
                _ => None,
            }
        }
        let path = path(expr)?;
        let first = path.split('.').next().unwrap_or(&path);
        if self.find(first).is_some() {
            return None;
        }
        match Type::named(&path) {
            Some(class @ Type::Class(_)) => Some(class),
            _ => None,
        }
    }

    fn member(&mut self, at: u32, base: &Expr, name: &str, is_safe: bool) -> Read<Type> {
        if self.is_doc(base) && !matches!(name, "empty" | "isEmpty") {
            let field = self.text(name);
            self.op(Op::DocField(field), at);
            return Ok(Type::Def);
        }
        if let Some(class) = self.class_of(base) {
            let Some(constant) = library::constant(class, name) else {
                return Err(Fault::illegal(format!(
                    "static field [{}, {name}] not found",
                    class.java()
                ))
                .or_at(at));
            };
            self.op(Op::Static(constant, 0), at);
            return Ok(Type::Def);
        }
        let of = self.expr(base)?;
        if of.is_primitive() {
            return Err(
                Fault::illegal(format!("field [{}, {name}] not found", of.java())).or_at(at)
            );
        }
        if name == "value"
            && let Some(Op::DocField(field)) = self.state().function.code.last().copied()
            && !is_safe
        {
            *self.state().function.code.last_mut().expect("looked at above") = Op::DocValue(field);
            *self.state().function.places.last_mut().expect("one for each") = at;
            return Ok(Type::Def);
        }
        let skip = is_safe.then(|| self.op(Op::JumpNull(0), at));
        let name_at = self.text(name);
        self.op(Op::Member(name_at), at);
        self.land(skip);
        Ok(match (of, name) {
            (Type::Array(..), "length") => Type::Int,
            _ => Type::Def,
        })
    }

    fn call(
        &mut self,
        at: u32,
        base: Option<&Expr>,
        name: &str,
        arguments: &[Expr],
        is_safe: bool,
    ) -> Read<Type> {
        let count = arguments.len() as u8;
        let Some(base) = base else {
            return self.own_call(at, name, arguments);
        };
        if let Some(class) = self.class_of(base) {
            let Some(found) = library::function(class, name, arguments.len()) else {
                return Err(Fault::illegal(format!(
                    "static method [{}, {name}/{}] not found",
                    class.java(),
                    arguments.len()
                ))
                .or_at(at));
            };
            for argument in arguments {
                self.value(argument)?;
            }
            self.op(Op::Static(found, count), at);
            return Ok(Type::Def);
        }
        let of = self.expr(base)?;
        let is_unknown = of == Type::TEXT && !library::string_has(name);
        if of.is_primitive() || of == Type::Void || is_unknown {
            return Err(Fault::illegal(format!(
                "member method [{}, {name}/{}] not found",
                of.java(),
                arguments.len()
            ))
            .or_at(at));
        }
        let skip = is_safe.then(|| self.op(Op::JumpNull(0), at));
        for argument in arguments {
            self.value(argument)?;
        }
        let name_at = self.text(name);
        self.op(Op::Call(name_at, count), at);
        self.land(skip);
        Ok(Type::Def)
    }

    /// A function of the source, or of the context.
    fn own_call(&mut self, at: u32, name: &str, arguments: &[Expr]) -> Read<Type> {
        let count = arguments.len() as u8;
        let own = self
            .names
            .iter()
            .find(|(known, arity, ..)| known == name && *arity == arguments.len())
            .map(|(_, _, returns, number)| (*returns, *number));
        if let Some((returns, number)) = own {
            for argument in arguments {
                self.value(argument)?;
            }
            self.op(Op::Function(number, count), at);
            return Ok(returns);
        }
        let known = library::of_context(self.program.context, name, arguments.len());
        let Some(found) = known else {
            return Err(Fault::illegal(format!("Unknown call [{name}] with [{count}] arguments."))
                .or_at(at));
        };
        for argument in arguments {
            self.value(argument)?;
        }
        self.op(Op::Static(found, count), at);
        Ok(Type::Def)
    }

    fn lambda(
        &mut self,
        at: u32,
        takes: &[(Option<String>, String)],
        body: &[Statement],
    ) -> Read<Type> {
        self.begin(empty(String::new(), Type::Def), true);
        for (kind, name) in takes {
            let kind = match kind {
                Some(kind) => self.named_type(kind, at)?,
                None => Type::Def,
            };
            self.declare(name, kind, at)?;
            self.state().function.takes.push(kind);
        }
        self.state().function.arity = takes.len() as u8;
        // Captured variables get slots as they are met, and the machine is told which.
        self.statements(body, true)?;
        let captures = std::mem::take(&mut self.state().captures);
        let slots: Vec<u16> = captures
            .iter()
            .map(|name| {
                let local = self.state().locals.iter().find(|local| local.name == *name);
                local.map_or(0, |local| local.slot)
            })
            .collect();
        let mut function = self.end();
        function.captured = captures.len() as u8;
        function.capture_slots = slots;
        if captures.len() > 200 || self.program.functions.len() > 5_000 {
            return Err(Fault::illegal("too many lambdas or captured variables").or_at(at));
        }
        self.program.functions.push(function);
        let number = self.program.functions.len() as u16 - 1;
        for name in &captures {
            let found = self.find(name).map(|(slot, ..)| slot);
            let slot = found.ok_or_else(|| {
                Fault::illegal(format!("cannot resolve symbol [{name}]")).or_at(at)
            })?;
            self.op(Op::Load(slot), at);
        }
        self.op(Op::Closure(number, captures.len() as u8), at);
        Ok(Type::Def)
    }

    fn reference(&mut self, at: u32, class: &str, name: &str) -> Read<Type> {
        if class == "this" {
            let own = self.names.iter().find(|(known, ..)| known == name).map(|own| own.3);
            let Some(number) = own else {
                return Err(Fault::illegal(format!("Unknown reference [this::{name}].")).or_at(at));
            };
            self.op(Op::Closure(number, 0), at);
            return Ok(Type::Def);
        }
        let class = self.named_type(class, at)?;
        let name = self.text(name);
        self.op(Op::Reference(class, name), at);
        Ok(Type::Def)
    }
}

/// A pattern with Painless's flags.
fn pattern(text: &str, flags: &str) -> Read<Pattern> {
    let mut names = Vec::new();
    for flag in flags.chars() {
        names.push(match flag {
            'c' => "CANON_EQ",
            'i' => "CASE_INSENSITIVE",
            'l' => "LITERAL",
            'm' => "MULTILINE",
            's' => "DOTALL",
            'U' => "UNICODE_CHARACTER_CLASS",
            'u' => "UNICODE_CASE",
            'x' => "COMMENTS",
            _ => return Err(Fault::illegal(format!("Unknown flag [{flag}]"))),
        });
    }
    // Only a slash is escaped by the language itself.
    Pattern::java(&text.replace("\\/", "/"), &names.join("|"))
}

/// What a binary operation gives.
pub(super) fn binary(op: Binary, a: Type, b: Type) -> Read<Type> {
    let refused = || {
        let (a, b) = (a.java(), b.java());
        Err(Fault::cast(format!(
            "Cannot apply [{}] operation to types [{a}] and [{b}].",
            op.sign()
        )))
    };
    if a == Type::Void || b == Type::Void {
        return refused();
    }
    if matches!(op, Binary::Eq | Binary::Ne | Binary::Is | Binary::IsNot) {
        let mixes = |a: Type, b: Type| {
            a.is_numeric() && (b == Type::Bool || b == Type::TEXT)
                || a == Type::Bool && b == Type::TEXT
        };
        return if mixes(a, b) || mixes(b, a) { refused() } else { Ok(Type::Bool) };
    }
    if op == Binary::Add && (a == Type::TEXT || b == Type::TEXT) {
        return Ok(Type::TEXT);
    }
    let is_known = |of: Type| of.is_primitive() || of == Type::TEXT;
    if a == Type::TEXT || b == Type::TEXT {
        return refused();
    }
    if op.compares() {
        let wrong = a == Type::Bool || b == Type::Bool;
        return if wrong { refused() } else { Ok(Type::Bool) };
    }
    if !is_known(a) || !is_known(b) {
        return Ok(Type::Def);
    }
    if a == Type::Bool && b == Type::Bool {
        return match op {
            Binary::And | Binary::Or | Binary::Xor => Ok(Type::Bool),
            _ => refused(),
        };
    }
    if !a.is_numeric() || !b.is_numeric() {
        return refused();
    }
    let whole_only = matches!(
        op,
        Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr | Binary::Ushr
    );
    let (a, b) = (a.promoted(), b.promoted());
    if whole_only && (a.rank() > Type::Long.rank() || b.rank() > Type::Long.rank()) {
        return refused();
    }
    Ok(match op {
        Binary::Shl | Binary::Shr | Binary::Ushr => a,
        _ if a.rank() >= b.rank() => a,
        _ => b,
    })
}

/// What either side of a choice can be.
fn joined(a: Type, b: Type) -> Type {
    if a == b {
        return a;
    }
    if a.is_numeric() && b.is_numeric() {
        if change(a, b, false).is_ok() {
            return b;
        }
        if change(b, a, false).is_ok() {
            return a;
        }
        return Type::Int;
    }
    Type::Def
}

fn count(len: usize, at: u32) -> Read<u16> {
    u16::try_from(len).map_err(|_| Fault::illegal("too many elements").or_at(at))
}
