//! What may stand on the left of `=`: variables, members, elements; also `++` and `--`.

use super::expr::binary;
use super::{Compiler, Read};
use crate::ast::{Expr, ExprKind};
use crate::error::Fault;
use crate::heap::Value;
use crate::op::{Binary, Op};
use crate::types::Type;

impl Compiler {
    pub(super) fn assign(
        &mut self,
        at: u32,
        place: &Expr,
        op: Option<Binary>,
        value: &Expr,
        is_wanted: bool,
    ) -> Read<Type> {
        match &place.kind {
            ExprKind::Name(name) => {
                let (slot, kind) = self.writable(name, at)?;
                match op {
                    None => {
                        let found = self.value(value)?;
                        self.convert(found, kind, false, value.at)?;
                    }
                    Some(op) => {
                        self.op(Op::Load(slot), at);
                        let found = self.value(value)?;
                        let result = binary(op, kind, found).map_err(|fault| fault.or_at(at))?;
                        self.op(Op::Compound(op), at);
                        self.convert(result, kind, true, at)?;
                    }
                }
                if is_wanted {
                    self.op(Op::Dup, at);
                }
                self.op(Op::Store(slot), at);
                Ok(kind)
            }
            ExprKind::Member(base, name, _) => {
                if self.class_of(base).is_some() {
                    return Err(Fault::illegal(format!(
                        "invalid assignment: cannot assign a value to read-only field [{name}]"
                    ))
                    .or_at(at));
                }
                self.expr(base)?;
                let name = self.text(name);
                let found = match op {
                    None => self.value(value)?,
                    Some(op) => {
                        self.op(Op::Dup, at);
                        self.op(Op::Member(name), place.at);
                        self.value(value)?;
                        self.op(Op::Compound(op), at);
                        Type::Def
                    }
                };
                if is_wanted {
                    self.op(Op::DupUnder, at);
                }
                self.op(Op::StoreMember(name), place.at);
                Ok(found)
            }
            ExprKind::Index(base, index) => {
                let of = self.expr(base)?;
                self.expr(index)?;
                let element = of.element();
                match op {
                    None => {
                        let found = self.value(value)?;
                        self.convert(found, element, false, value.at)?;
                    }
                    Some(op) => {
                        self.op(Op::Dup2, at);
                        self.op(Op::Index, place.at);
                        self.value(value)?;
                        self.op(Op::Compound(op), at);
                    }
                }
                if is_wanted {
                    self.op(Op::DupUnder2, at);
                }
                self.op(Op::StoreIndex, place.at);
                Ok(element)
            }
            _ => Err(Fault::illegal("invalid assignment: cannot assign a value here").or_at(at)),
        }
    }

    fn writable(&mut self, name: &str, at: u32) -> Read<(u16, Type)> {
        let Some((slot, kind, is_captured)) = self.find(name) else {
            return Err(Fault::illegal(format!("cannot resolve symbol [{name}]")).or_at(at));
        };
        let is_own = self.program.context.variables.contains(&name)
            && self.states.len() == 1
            && usize::from(slot) < self.program.context.variables.len()
            && self.sees_context();
        if is_captured || is_own {
            return Err(Fault::illegal(format!("Variable [{name}] is read-only.")).or_at(at));
        }
        Ok((slot, kind))
    }

    pub(super) fn step(
        &mut self,
        at: u32,
        place: &Expr,
        by: i32,
        gives_old: bool,
        is_wanted: bool,
    ) -> Read<Type> {
        let (op, one) = if by > 0 { (Binary::Add, 1) } else { (Binary::Sub, 1) };
        let one = Op::Const(Value::Int(one));
        match &place.kind {
            ExprKind::Name(name) => {
                let (slot, kind) = self.writable(name, at)?;
                if !kind.is_numeric() && kind.is_primitive() || kind == Type::TEXT {
                    let reason = format!(
                        "Cannot apply [{}] operation to type [{}].",
                        op.sign(),
                        kind.java()
                    );
                    return Err(Fault::cast(reason).or_at(at));
                }
                self.op(Op::Load(slot), at);
                if is_wanted && gives_old {
                    self.op(Op::Dup, at);
                }
                self.op(one, at);
                self.op(Op::Compound(op), at);
                if is_wanted && !gives_old {
                    self.op(Op::Dup, at);
                }
                self.op(Op::Store(slot), at);
                Ok(kind)
            }
            ExprKind::Member(base, name, false) => {
                self.expr(base)?;
                let name = self.text(name);
                self.op(Op::Dup, at);
                self.op(Op::Member(name), place.at);
                if is_wanted && gives_old {
                    self.op(Op::DupUnder, at);
                }
                self.op(one, at);
                self.op(Op::Compound(op), at);
                if is_wanted && !gives_old {
                    self.op(Op::DupUnder, at);
                }
                self.op(Op::StoreMember(name), place.at);
                Ok(Type::Def)
            }
            ExprKind::Index(base, index) => {
                self.expr(base)?;
                self.expr(index)?;
                self.op(Op::Dup2, at);
                self.op(Op::Index, place.at);
                if is_wanted && gives_old {
                    self.op(Op::DupUnder2, at);
                }
                self.op(one, at);
                self.op(Op::Compound(op), at);
                if is_wanted && !gives_old {
                    self.op(Op::DupUnder2, at);
                }
                self.op(Op::StoreIndex, place.at);
                Ok(Type::Def)
            }
            _ => Err(Fault::illegal("invalid assignment: cannot assign a value here").or_at(at)),
        }
    }
}
