//! A tree becomes a program: names become slots, types are checked as far as they are known.
//!
//! What is `def` is looked at when it runs. Statements leave the stack as they found it, so that an
//! exception can be caught with an empty one.

mod expr;
mod place;

use crate::ast::{self, Script, Statement, StatementKind};
use crate::context::{Context, Returns};
use crate::error::{Error, Fault};
use crate::heap::Value;
use crate::limits::{DEPTH_MAX, SLOTS_MAX, SOURCE_BYTES_MAX};
use crate::op::{Function, Handler, Op, Program};
use crate::parse;
use crate::types::{Change, Type, change};

type Read<T> = Result<T, Fault>;

/// Reads a source for a context.
///
/// # Errors
/// A source that is no script there.
pub fn compile(source: &str, context: &'static Context) -> Result<Program, Error> {
    compiled(source, context).map_err(|fault| Error::compile(source, fault))
}

fn compiled(source: &str, context: &'static Context) -> Read<Program> {
    if source.len() > SOURCE_BYTES_MAX {
        return Err(Fault::illegal(format!(
            "exceeded max allowed inline script size in bytes [{SOURCE_BYTES_MAX}] with size [{}] for \
             script",
            source.len()
        )));
    }
    let script = parse::parse(source)?;
    let mut compiler = Compiler {
        program: Program {
            source: source.to_owned(),
            context,
            functions: Vec::new(),
            texts: Vec::new(),
            patterns: Vec::new(),
            statements: Vec::new(),
            uses_score: false,
        },
        names: Vec::new(),
        states: Vec::new(),
        depth: 0,
    };
    compiler.script(&script)?;
    let mut program = compiler.program;
    program.statements.sort_unstable();
    program.statements.dedup();
    Ok(program)
}

/// A variable.
struct Local {
    name: String,
    kind: Type,
    slot: u16,
    /// It came with a lambda, which may not change it.
    is_captured: bool,
}

/// A loop under way.
#[derive(Default)]
struct Loop {
    /// Jumps to its end.
    breaks: Vec<usize>,
    /// Jumps to its next round.
    continues: Vec<usize>,
}

/// A function under way.
struct State {
    function: Function,
    locals: Vec<Local>,
    slots: u16,
    loops: Vec<Loop>,
    is_lambda: bool,
    /// What a lambda captures, by name, in order.
    captures: Vec<String>,
}

struct Compiler {
    program: Program,
    /// Functions of the source: name, arguments, what it gives, its number.
    names: Vec<(String, usize, Type, u16)>,
    /// The innermost last.
    states: Vec<State>,
    depth: u16,
}

impl Compiler {
    fn script(&mut self, script: &Script) -> Read<()> {
        let context = self.program.context;
        self.program.functions.push(empty(String::new(), Type::Def));
        for (place, function) in script.functions.iter().enumerate() {
            let returns = self.named_type(&function.returns, function.at)?;
            let arity = function.takes.len();
            if self.names.iter().any(|(name, count, ..)| *name == function.name && *count == arity)
            {
                return Err(Fault::illegal(format!(
                    "found duplicate function [{}/{arity}].",
                    function.name
                ))
                .or_at(function.at));
            }
            self.names.push((function.name.clone(), arity, returns, place as u16 + 1));
            self.program.functions.push(empty(function.name.clone(), returns));
        }
        for (place, function) in script.functions.iter().enumerate() {
            let returns = self.names[place].2;
            self.begin(empty(function.name.clone(), returns), false);
            for (kind, name) in &function.takes {
                let kind = self.named_type(kind, function.at)?;
                self.declare(name, kind, function.at)?;
                self.state().function.takes.push(kind);
            }
            self.state().function.arity = function.takes.len() as u8;
            let escapes = self.statements(&function.body, true)?;
            if !escapes && returns != Type::Void {
                return Err(Fault::illegal(format!(
                    "not all paths provide a return value for function [{}] with [{}] parameters",
                    function.name,
                    function.takes.len()
                ))
                .or_at(function.at));
            }
            self.program.functions[place + 1] = self.end();
        }
        let returns = match context.returns {
            Returns::Any => Type::Def,
            Returns::Nothing => Type::Void,
            Returns::Bool => Type::Bool,
            Returns::Double => Type::Double,
            Returns::Long => Type::Long,
            Returns::Text => Type::TEXT,
        };
        self.begin(empty(String::new(), returns), false);
        for name in context.variables {
            self.declare(name, Type::Def, 0)?;
        }
        self.state().function.arity = context.variables.len() as u8;
        self.statements(&script.body, true)?;
        self.program.functions[0] = self.end();
        Ok(())
    }

    fn state(&mut self) -> &mut State {
        self.states.last_mut().expect("a function is under way")
    }

    fn begin(&mut self, function: Function, is_lambda: bool) {
        self.states.push(State {
            function,
            locals: Vec::new(),
            slots: 0,
            loops: Vec::new(),
            is_lambda,
            captures: Vec::new(),
        });
    }

    /// Ends a function: where nothing was returned, what its type has for nothing is.
    fn end(&mut self) -> Function {
        let returns = self.state().function.returns;
        let nothing = match returns {
            Type::Bool => Value::Bool(false),
            to if to.is_numeric() => crate::arith::to_primitive(Value::Int(0), to),
            _ => Value::Null,
        };
        self.op(Op::Const(nothing), u32::MAX);
        self.op(Op::Return, u32::MAX);
        self.states.pop().expect("a function is under way").function
    }

    fn op(&mut self, op: Op, at: u32) -> usize {
        let function = &mut self.state().function;
        function.code.push(op);
        function.places.push(at);
        function.code.len() - 1
    }

    fn here(&mut self) -> u32 {
        self.state().function.code.len() as u32
    }

    /// Lets jumps go to where the next operation stands.
    fn land(&mut self, jumps: impl IntoIterator<Item = usize>) {
        let here = self.here();
        self.aim(jumps, here);
    }

    fn aim(&mut self, jumps: impl IntoIterator<Item = usize>, to: u32) {
        for jump in jumps {
            match &mut self.state().function.code[jump] {
                Op::Jump(target)
                | Op::JumpUnless(target)
                | Op::JumpIf(target)
                | Op::JumpNull(target)
                | Op::JumpSome(target)
                | Op::Next(target) => *target = to,
                _ => unreachable!("only jumps are aimed"),
            }
        }
    }

    fn text(&mut self, text: &str) -> u32 {
        let texts = &mut self.program.texts;
        let at = texts.iter().position(|known| known == text).unwrap_or_else(|| {
            texts.push(text.to_owned());
            texts.len() - 1
        });
        at as u32
    }

    /// The type of a name with its dimensions.
    fn named_type(&self, name: &str, at: u32) -> Read<Type> {
        let base = name.trim_end_matches("[]");
        let dims = (name.len() - base.len()) / 2;
        let found = Type::named(base)
            .ok_or_else(|| Fault::illegal(format!("cannot resolve type [{base}].")).or_at(at))?;
        if dims > 16 || dims > 0 && found == Type::Void {
            return Err(Fault::illegal(format!("cannot resolve type [{name}].")).or_at(at));
        }
        Ok(if dims > 0 { found.array(dims as u8) } else { found })
    }

    fn declare(&mut self, name: &str, kind: Type, at: u32) -> Read<u16> {
        if kind == Type::Void {
            return Err(Fault::illegal("cannot declare a variable of type [void]").or_at(at));
        }
        if self.find(name).is_some() {
            return Err(Fault::illegal(format!("variable [{name}] is already defined")).or_at(at));
        }
        self.slot(name, kind, false, at)
    }

    fn slot(&mut self, name: &str, kind: Type, is_captured: bool, at: u32) -> Read<u16> {
        let state = self.state();
        let slot = state.slots;
        if usize::from(slot) >= SLOTS_MAX {
            return Err(Fault::illegal("too many variables").or_at(at));
        }
        state.slots += 1;
        state.function.slots = state.function.slots.max(state.slots);
        state.locals.push(Local { name: name.to_owned(), kind, slot, is_captured });
        Ok(slot)
    }

    /// A variable in sight: its slot in the function under way, its type, whether it was captured.
    fn find(&mut self, name: &str) -> Option<(u16, Type, bool)> {
        self.find_in(name, self.states.len() - 1)
    }

    fn find_in(&mut self, name: &str, level: usize) -> Option<(u16, Type, bool)> {
        let state = &self.states[level];
        if let Some(local) = state.locals.iter().rev().find(|local| local.name == name) {
            return Some((local.slot, local.kind, local.is_captured));
        }
        if !state.is_lambda || level == 0 {
            return None;
        }
        let (_, kind, _) = self.find_in(name, level - 1)?;
        // Captured values stand behind the arguments; the machine puts them there.
        let state = &mut self.states[level];
        let slot = state.slots;
        state.slots += 1;
        state.function.slots = state.function.slots.max(state.slots);
        state.captures.push(name.to_owned());
        // Inserted first, so that it outlives every block.
        state.locals.insert(0, Local { name: name.to_owned(), kind, slot, is_captured: true });
        Some((slot, kind, true))
    }

    /// Makes what stands on the stack one of a type.
    fn convert(&mut self, from: Type, to: Type, explicit: bool, at: u32) -> Read<()> {
        if change(from, to, explicit).map_err(|fault| fault.or_at(at))? == Change::Cast {
            self.op(Op::Cast(to, explicit), at);
        }
        Ok(())
    }

    fn deeper(&mut self, at: u32) -> Read<()> {
        self.depth += 1;
        if self.depth > 2 * DEPTH_MAX {
            return Err(parse::too_deep().or_at(at));
        }
        Ok(())
    }

    /// Statements in a scope of their own; true where none goes on behind them.
    fn scope(&mut self, statements: &[Statement], is_last: bool) -> Read<bool> {
        let known = self.state().locals.len();
        let captured = self.state().captures.len();
        let escapes = self.statements(statements, is_last)?;
        let state = self.state();
        // Captures were put in front.
        let kept = known + (state.captures.len() - captured);
        state.locals.truncate(kept);
        Ok(escapes)
    }

    fn statements(&mut self, statements: &[Statement], is_last: bool) -> Read<bool> {
        let mut escapes = false;
        for (place, statement) in statements.iter().enumerate() {
            if escapes {
                return Err(Fault::illegal("unreachable statement").or_at(statement.at));
            }
            self.program.statements.push(statement.at);
            let last = is_last && place + 1 == statements.len();
            self.deeper(statement.at)?;
            escapes = self.statement(statement, last)?;
            self.depth -= 1;
        }
        Ok(escapes)
    }

    /// One statement; true where nothing goes on behind it.
    fn statement(&mut self, statement: &Statement, is_last: bool) -> Read<bool> {
        let at = statement.at;
        match &statement.kind {
            StatementKind::Declare(kind, parts) => {
                let kind = self.named_type(kind, at)?;
                for (at, name, value) in parts {
                    match value {
                        Some(value) => {
                            let found = self.expr(value)?;
                            self.convert(found, kind, false, value.at)?;
                        }
                        None => {
                            let nothing = match kind {
                                Type::Bool => Value::Bool(false),
                                kind if kind.is_numeric() => {
                                    crate::arith::to_primitive(Value::Int(0), kind)
                                }
                                _ => Value::Null,
                            };
                            self.op(Op::Const(nothing), *at);
                        }
                    }
                    let slot = self.declare(name, kind, *at)?;
                    self.op(Op::Store(slot), *at);
                }
                Ok(false)
            }
            StatementKind::Expr(value) => {
                let returns = self.state().function.returns;
                if is_last && returns != Type::Void {
                    let found = self.expr(value)?;
                    if found == Type::Void {
                        self.op(Op::Pop, at);
                        return Ok(false);
                    }
                    self.convert(found, returns, false, value.at)?;
                    self.op(Op::Return, at);
                    return Ok(true);
                }
                self.dropped(value)?;
                Ok(false)
            }
            StatementKind::Return(value) => {
                let returns = self.state().function.returns;
                match value {
                    Some(value) => {
                        let found = self.expr(value)?;
                        if returns == Type::Void {
                            let reason = format!("Cannot cast from [{}] to [void].", found.java());
                            return Err(Fault::cast(reason).or_at(value.at));
                        }
                        self.convert(found, returns, false, value.at)?;
                    }
                    None => {
                        if returns.is_primitive() {
                            let reason =
                                format!("Cannot cast from [void] to [{}].", returns.java());
                            return Err(Fault::cast(reason).or_at(at));
                        }
                        self.op(Op::Const(Value::Null), at);
                    }
                }
                self.op(Op::Return, at);
                Ok(true)
            }
            StatementKind::If(condition, then, or) => {
                self.condition(condition)?;
                let skip = self.op(Op::JumpUnless(0), at);
                let first = self.scope(then, is_last)?;
                if or.is_empty() {
                    self.land([skip]);
                    return Ok(false);
                }
                let over = self.op(Op::Jump(0), at);
                self.land([skip]);
                let second = self.scope(or, is_last)?;
                self.land([over]);
                Ok(first && second)
            }
            StatementKind::Block(statements) => self.scope(statements, is_last),
            StatementKind::While(condition, body) => {
                let start = self.here();
                self.op(Op::Round, at);
                let is_endless = matches!(condition.kind, ast::ExprKind::Const(Value::Bool(true)));
                let out = if is_endless {
                    None
                } else {
                    self.condition(condition)?;
                    Some(self.op(Op::JumpUnless(0), at))
                };
                let done = self.repeat(body)?;
                self.aim(done.continues, start);
                self.op(Op::Jump(start), at);
                let escapes = is_endless && done.breaks.is_empty();
                self.land(done.breaks.into_iter().chain(out));
                Ok(escapes)
            }
            StatementKind::DoWhile(body, condition) => {
                let start = self.here();
                self.op(Op::Round, at);
                let done = self.repeat(body)?;
                self.land(done.continues);
                self.condition(condition)?;
                self.op(Op::JumpIf(start), at);
                self.land(done.breaks);
                Ok(false)
            }
            StatementKind::For(begin, condition, step, body) => {
                let known = self.state().locals.len();
                let captured = self.state().captures.len();
                if let Some(begin) = begin {
                    self.statement(begin, false)?;
                }
                let start = self.here();
                self.op(Op::Round, at);
                let out = match condition {
                    Some(condition) => {
                        self.condition(condition)?;
                        Some(self.op(Op::JumpUnless(0), at))
                    }
                    None => None,
                };
                let done = self.repeat(body)?;
                self.land(done.continues);
                if let Some(step) = step {
                    self.dropped(step)?;
                }
                self.op(Op::Jump(start), at);
                let escapes = out.is_none() && done.breaks.is_empty();
                self.land(done.breaks.into_iter().chain(out));
                let state = self.state();
                let kept = known + (state.captures.len() - captured);
                state.locals.truncate(kept);
                Ok(escapes)
            }
            StatementKind::Each(kind, name, over, body) => self.each(at, kind, name, over, body),
            StatementKind::Try(body, catches) => self.tries(at, body, catches, is_last),
            StatementKind::Throw(value) => {
                self.expr(value)?;
                self.op(Op::Throw, at);
                Ok(true)
            }
            StatementKind::Break | StatementKind::Continue => {
                let is_break = matches!(statement.kind, StatementKind::Break);
                let jump = self.op(Op::Jump(0), at);
                let Some(around) = self.state().loops.last_mut() else {
                    let word = if is_break { "break" } else { "continue" };
                    return Err(
                        Fault::illegal(format!("{word} statement outside of a loop")).or_at(at)
                    );
                };
                if is_break { &mut around.breaks } else { &mut around.continues }.push(jump);
                Ok(true)
            }
        }
    }

    fn condition(&mut self, condition: &ast::Expr) -> Read<()> {
        let found = self.expr(condition)?;
        self.convert(found, Type::Bool, false, condition.at)
    }

    /// The body of a loop; the jumps that leave it.
    fn repeat(&mut self, body: &[Statement]) -> Read<Loop> {
        self.state().loops.push(Loop::default());
        self.scope(body, false)?;
        Ok(self.state().loops.pop().expect("pushed above"))
    }

    fn each(
        &mut self,
        at: u32,
        kind: &str,
        name: &str,
        over: &ast::Expr,
        body: &[Statement],
    ) -> Read<bool> {
        let kind = self.named_type(kind, at)?;
        let found = self.expr(over)?;
        if found.is_primitive() || found == Type::TEXT || found == Type::Void {
            let reason = format!("Illegal for each type [{}].", found.java());
            return Err(Fault::illegal(reason).or_at(over.at));
        }
        self.op(Op::Iterate, over.at);
        let known = self.state().locals.len();
        let captured = self.state().captures.len();
        // No source can name it.
        let hidden = self.slot("#each", Type::Def, false, at)?;
        self.op(Op::Store(hidden), at);
        let slot = self.declare(name, kind, at)?;
        let start = self.here();
        self.op(Op::Round, at);
        self.op(Op::Load(hidden), at);
        let out = self.op(Op::Next(0), at);
        self.convert(Type::Def, kind, false, at)?;
        self.op(Op::Store(slot), at);
        let done = self.repeat(body)?;
        self.aim(done.continues, start);
        self.op(Op::Jump(start), at);
        self.land(done.breaks.into_iter().chain([out]));
        let state = self.state();
        let kept = known + (state.captures.len() - captured);
        state.locals.truncate(kept);
        Ok(false)
    }

    fn tries(
        &mut self,
        at: u32,
        body: &[Statement],
        catches: &[(String, String, Vec<Statement>)],
        is_last: bool,
    ) -> Read<bool> {
        let from = self.here();
        let mut escapes = self.scope(body, is_last)?;
        let to = self.here();
        let mut over = vec![self.op(Op::Jump(0), at)];
        for (class, name, body) in catches {
            let class = self.named_type(class, at)?;
            let target = self.here();
            let handler = Handler { from, to, target, class };
            self.state().function.handlers.push(handler);
            let known = self.state().locals.len();
            let captured = self.state().captures.len();
            let slot = self.declare(name, Type::Def, at)?;
            self.op(Op::Store(slot), at);
            escapes &= self.scope(body, is_last)?;
            let state = self.state();
            let kept = known + (state.captures.len() - captured);
            state.locals.truncate(kept);
            over.push(self.op(Op::Jump(0), at));
        }
        self.land(over);
        Ok(escapes)
    }
}

fn empty(name: String, returns: Type) -> Function {
    Function {
        name,
        arity: 0,
        captured: 0,
        capture_slots: Vec::new(),
        slots: 0,
        takes: Vec::new(),
        returns,
        code: Vec::new(),
        places: Vec::new(),
        handlers: Vec::new(),
    }
}
