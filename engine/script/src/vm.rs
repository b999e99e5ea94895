//! The machine that runs programs.
//!
//! A run stands in frames and on one stack, so that it can stop between any two operations and go
//! on later. Only functions that the library calls (a comparator, what `forEach` does) run to their
//! end in one go, as deep as [`NESTED_MAX`].

use crate::arith;
use crate::error::{Error, Fault};
use crate::heap::{Heap, Object, Ref, Value};
use crate::library;
use crate::limits::{
    CALLS_MAX, LOOKED_MAX, LOOP_ROUNDS_MAX, NESTED_MAX, NESTED_STEPS_MAX, STEPS_MAX,
};
use crate::op::{Function, Op, Program};
use crate::show;
use crate::types::Type;

mod access;

/// What a script asks of the outside: values of the document at hand.
pub trait Host {
    /// The host's number of a field.
    ///
    /// # Errors
    /// There is no such field, or it has no values that scripts can read.
    fn field(&mut self, name: &str) -> Result<u32, Fault> {
        Err(Fault::illegal(format!("No field found for [{name}] in mapping")))
    }

    /// Is there a field of that name?
    fn has(&mut self, name: &str) -> bool {
        self.field(name).is_ok()
    }

    /// How many values the document has there.
    fn count(&mut self, _field: u32) -> usize {
        0
    }

    /// One of them; `at` is below the count.
    ///
    /// # Errors
    /// Too much memory.
    fn value(&mut self, _field: u32, _at: usize, _heap: &mut Heap) -> Result<Value, Fault> {
        Ok(Value::Null)
    }

    /// The document's score.
    fn score(&mut self) -> f64 {
        0.0
    }

    /// The document's source, as `params._source`.
    ///
    /// # Errors
    /// Too much memory.
    fn source(&mut self, _heap: &mut Heap) -> Result<Value, Fault> {
        Ok(Value::Null)
    }
}

/// No document.
#[derive(Clone, Copy, Debug)]
pub struct NoHost;

impl Host for NoHost {}

/// How a run stands.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// It gave this.
    Done(Value),
    /// Its fuel is used up.
    Paused,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    function: u32,
    at: u32,
    base: u32,
    rounds: u32,
}

/// A machine.
#[derive(Debug, Default)]
pub struct Machine {
    /// Strings and objects.
    pub heap: Heap,
    pub(crate) stack: Vec<Value>,
    frames: Vec<Frame>,
    steps: u64,
    nested: u8,
    nested_steps: u64,
}

impl Machine {
    /// An idle one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a run of a program with the values of its context's variables; what a run under way
    /// left is forgotten. The heap stays as it is.
    pub fn start(&mut self, program: &Program, variables: &[Value]) {
        self.stack.clear();
        self.frames.clear();
        (self.steps, self.nested, self.nested_steps) = (0, 0, 0);
        self.stack.extend_from_slice(variables);
        self.enter(program, 0, variables.len());
    }

    /// Is a run under way?
    pub fn is_running(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Goes on with a run until it is done or `fuel` operations were done.
    ///
    /// # Errors
    /// What it fails with, with its place.
    pub fn resume(
        &mut self,
        program: &Program,
        host: &mut dyn Host,
        fuel: &mut i64,
    ) -> Result<Run, Fault> {
        let run = self.run(program, host, 0, Some(fuel));
        if !matches!(run, Ok(Run::Paused)) {
            self.frames.clear();
        }
        run
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    /// As it is shown.
    pub fn execute(
        &mut self,
        program: &Program,
        variables: &[Value],
        host: &mut dyn Host,
    ) -> Result<Value, Error> {
        self.start(program, variables);
        loop {
            // Steps are counted between pieces.
            let mut fuel = 1 << 16;
            match self.resume(program, host, &mut fuel) {
                Ok(Run::Done(value)) => return Ok(value),
                Ok(Run::Paused) => {}
                Err(fault) => {
                    return Err(Error::runtime(&program.source, &program.statements, fault));
                }
            }
        }
    }

    /// A frame for a function whose arguments lie on the stack.
    fn enter(&mut self, program: &Program, function: usize, arguments: usize) {
        let base = self.stack.len() - arguments;
        let slots = usize::from(program.functions[function].slots);
        self.stack.resize(base + slots.max(arguments), Value::Null);
        let frame = Frame { function: function as u32, at: 0, base: base as u32, rounds: 0 };
        self.frames.push(frame);
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().expect("the compiler counts")
    }

    /// Runs until the frames above `floor` are done.
    fn run(
        &mut self,
        program: &Program,
        host: &mut dyn Host,
        floor: usize,
        mut fuel: Option<&mut i64>,
    ) -> Result<Run, Fault> {
        loop {
            let frame = *self.frames.last().expect("a run has a frame");
            let function = &program.functions[frame.function as usize];
            match self.steps(program, function, host, &mut fuel) {
                Ok(Next::Frame) => {}
                Ok(Next::Paused) => return Ok(Run::Paused),
                Ok(Next::Returned(value)) => {
                    let frame = self.frames.pop().expect("a run has a frame");
                    self.stack.truncate(frame.base as usize);
                    if self.frames.len() == floor {
                        return Ok(Run::Done(value));
                    }
                    self.stack.push(value);
                }
                Err(fault) => self.catch(program, fault, floor)?,
            }
        }
    }

    /// Looks for who catches a fault; its exception is then on the stack there.
    fn catch(&mut self, program: &Program, fault: Fault, floor: usize) -> Result<(), Fault> {
        let at = self.frames.last().map_or(u32::MAX, |frame| {
            let function = &program.functions[frame.function as usize];
            // The machine stands behind the operation that failed.
            let before = (frame.at as usize).saturating_sub(1);
            function.places.get(before).copied().unwrap_or(u32::MAX)
        });
        let fault = fault.or_at(at);
        if !fault.is_caught {
            self.frames.truncate(floor);
            return Err(fault);
        }
        let exception = Object::Exception(fault.kind.to_string(), fault.message.clone());
        let exception = self.heap.object(exception)?;
        while self.frames.len() > floor {
            let frame = self.frames.last_mut().expect("above the floor");
            let function = &program.functions[frame.function as usize];
            let failed = frame.at.saturating_sub(1);
            let handler = function.handlers.iter().find(|handler| {
                (handler.from..handler.to).contains(&failed)
                    && arith::is_instance(&self.heap, exception, handler.class)
            });
            if let Some(handler) = handler {
                frame.at = handler.target;
                let slots = frame.base as usize + usize::from(function.slots);
                self.stack.truncate(slots);
                self.stack.push(exception);
                return Ok(());
            }
            let frame = self.frames.pop().expect("above the floor");
            self.stack.truncate(frame.base as usize);
        }
        Err(fault)
    }

    /// Operations of one frame, until another has its turn.
    fn steps(
        &mut self,
        program: &Program,
        function: &Function,
        host: &mut dyn Host,
        fuel: &mut Option<&mut i64>,
    ) -> Result<Next, Fault> {
        let place = self.frames.len() - 1;
        let base = self.frames[place].base as usize;
        let mut at = self.frames[place].at as usize;
        loop {
            let op = function.code[at];
            at += 1;
            self.frames[place].at = at as u32;
            match op {
                Op::Const(value) => self.stack.push(value),
                Op::Text(text) => {
                    let value = self.heap.string(&program.texts[text as usize])?;
                    self.stack.push(value);
                }
                Op::Load(slot) => {
                    let value = self.stack[base + usize::from(slot)];
                    self.stack.push(value);
                }
                Op::Store(slot) => self.stack[base + usize::from(slot)] = self.pop(),
                Op::Pop => {
                    self.pop();
                }
                Op::Dup => {
                    let top = self.stack[self.stack.len() - 1];
                    self.stack.push(top);
                }
                Op::Dup2 => {
                    let len = self.stack.len();
                    let two = [self.stack[len - 2], self.stack[len - 1]];
                    self.stack.extend_from_slice(&two);
                }
                Op::DupUnder => {
                    let top = self.stack[self.stack.len() - 1];
                    self.stack.insert(self.stack.len() - 2, top);
                }
                Op::DupUnder2 => {
                    let top = self.stack[self.stack.len() - 1];
                    self.stack.insert(self.stack.len() - 3, top);
                }
                Op::Binary(op) => {
                    let b = self.pop();
                    let a = self.pop();
                    let value = arith::binary(&mut self.heap, op, a, b)?;
                    self.stack.push(value);
                }
                Op::Compound(op) => {
                    let b = self.pop();
                    let a = self.pop();
                    let value = arith::compound(&mut self.heap, op, a, b)?;
                    self.stack.push(value);
                }
                Op::Unary(sign) => {
                    let value = self.pop();
                    let value = arith::unary(&self.heap, sign, value)?;
                    self.stack.push(value);
                }
                Op::Not => {
                    let value = self.pop();
                    self.stack.push(Value::Bool(!matches!(value, Value::Bool(true))));
                }
                Op::Cast(to, explicit) => {
                    let value = self.pop();
                    let value = arith::cast(&mut self.heap, value, to, explicit)?;
                    self.stack.push(value);
                }
                Op::InstanceOf(of) => {
                    let value = self.pop();
                    let is = arith::is_instance(&self.heap, value, of);
                    self.stack.push(Value::Bool(is));
                }
                Op::Jump(target) => at = target as usize,
                Op::JumpUnless(target) => {
                    if !matches!(self.pop(), Value::Bool(true)) {
                        at = target as usize;
                    }
                }
                Op::JumpIf(target) => {
                    if matches!(self.pop(), Value::Bool(true)) {
                        at = target as usize;
                    }
                }
                Op::JumpNull(target) => {
                    if matches!(self.stack.last(), Some(Value::Null)) {
                        at = target as usize;
                    }
                }
                Op::JumpSome(target) => {
                    if matches!(self.stack.last(), Some(Value::Null)) {
                        self.pop();
                    } else {
                        at = target as usize;
                    }
                }
                Op::Round => {
                    let rounds = &mut self.frames[place].rounds;
                    *rounds += 1;
                    if *rounds > LOOP_ROUNDS_MAX {
                        return Err(Fault::limit(
                            "painless_error",
                            "The maximum number of statements that can be executed in a loop has been \
                             reached.",
                        ));
                    }
                }
                Op::Member(name) => {
                    let of = self.pop();
                    let name = &program.texts[name as usize];
                    let value = self.member(program, host, of, name)?;
                    self.stack.push(value);
                }
                Op::StoreMember(name) => {
                    let value = self.pop();
                    let of = self.pop();
                    let name = &program.texts[name as usize];
                    library::store_member(&mut self.heap, of, name, value)?;
                }
                Op::Index => {
                    let index = self.pop();
                    let of = self.pop();
                    let value = self.index(host, of, index)?;
                    self.stack.push(value);
                }
                Op::StoreIndex => {
                    let value = self.pop();
                    let index = self.pop();
                    let of = self.pop();
                    library::store_index(&mut self.heap, of, index, value)?;
                }
                Op::Call(name, count) => {
                    let name = &program.texts[name as usize];
                    let value = self.method(program, host, name, usize::from(count))?;
                    self.stack.push(value);
                }
                Op::Static(found, count) => {
                    let first = self.stack.len() - usize::from(count);
                    let value = library::call(found, &mut self.heap, &self.stack[first..])?;
                    self.stack.truncate(first);
                    self.stack.push(value);
                }
                Op::Function(number, count) => {
                    self.enter_checked(program, usize::from(number), usize::from(count))?;
                    self.spend(fuel, 1)?;
                    return Ok(Next::Frame);
                }
                Op::New(class, count) => {
                    let first = self.stack.len() - usize::from(count);
                    let arguments: Vec<Value> = self.stack.drain(first..).collect();
                    // A collection of a field's values takes the values.
                    let mut plain = Vec::with_capacity(arguments.len());
                    for argument in arguments {
                        plain.push(self.plain(host, argument)?);
                    }
                    let value = library::construct(Type::Class(class), &mut self.heap, &plain)?;
                    self.stack.push(value);
                }
                Op::List(count) => {
                    let first = self.stack.len() - usize::from(count);
                    let items = self.stack.drain(first..).collect();
                    let value = self.heap.list(items)?;
                    self.stack.push(value);
                }
                Op::Map(count) => {
                    let first = self.stack.len() - 2 * usize::from(count);
                    let parts: Vec<Value> = self.stack.drain(first..).collect();
                    let value = library::new_map(&mut self.heap, &parts)?;
                    self.stack.push(value);
                }
                Op::Array(of, count) => {
                    let first = self.stack.len() - usize::from(count);
                    let items = self.stack.drain(first..).collect();
                    let value = self.heap.object(Object::Array(of, items))?;
                    self.stack.push(value);
                }
                Op::NewArray(whole, count) => {
                    let first = self.stack.len() - usize::from(count);
                    let sizes: Vec<i32> = self.stack.drain(first..).map(arith::int).collect();
                    let value = library::new_array(&mut self.heap, whole, &sizes)?;
                    self.stack.push(value);
                }
                Op::Closure(number, count) => {
                    let first = self.stack.len() - usize::from(count);
                    let captured = self.stack.drain(first..).collect();
                    let value = self.heap.object(Object::Closure(u32::from(number), captured))?;
                    self.stack.push(value);
                }
                Op::Reference(class, name) => {
                    let value = self.heap.object(Object::Reference(class, name))?;
                    self.stack.push(value);
                }
                Op::Iterate => {
                    let over = self.pop();
                    let items = self.items(host, over)?;
                    let value = self.heap.object(Object::Iterator(items, 0, None))?;
                    self.stack.push(value);
                }
                Op::Next(target) => {
                    let Value::Object(iterator) = self.pop() else {
                        return Err(Fault::null("no iterator"));
                    };
                    let next = match self.heap.get_mut(iterator)? {
                        Object::Iterator(items, at, _) => {
                            *at += 1;
                            items.get(*at - 1).copied()
                        }
                        _ => None,
                    };
                    match next {
                        Some(value) => self.stack.push(value),
                        None => at = target as usize,
                    }
                }
                Op::Pattern(number) => {
                    let pattern = program.patterns[usize::from(number)].clone();
                    let value = self.heap.object(Object::Pattern(Box::new(pattern)))?;
                    self.stack.push(value);
                }
                Op::Match(whole) => {
                    let pattern = self.pop();
                    let text = self.pop();
                    let value = library::matches(&mut self.heap, text, pattern, whole)?;
                    self.stack.push(value);
                }
                Op::Score => self.stack.push(Value::Double(host.score())),
                Op::DocField(name) => {
                    let field = host.field(&program.texts[name as usize])?;
                    self.stack.push(Value::Field(field));
                }
                Op::DocValue(name) => {
                    let field = host.field(&program.texts[name as usize])?;
                    let value = self.first(host, field)?;
                    self.stack.push(value);
                }
                Op::Throw => {
                    let thrown = self.pop();
                    return Err(match self.heap.as_object(thrown) {
                        Some(Object::Exception(kind, message)) => Fault {
                            at: u32::MAX,
                            kind: kind.clone().into(),
                            message: message.clone(),
                            is_caught: true,
                        },
                        _ => Fault::cast("only exceptions are thrown"),
                    });
                }
                Op::Return => return Ok(Next::Returned(self.pop())),
            }
            self.frames[place].at = at as u32;
            let cost = 1 + self.heap.take_work();
            self.steps += cost;
            if cost > LOOKED_MAX && self.heap.is_lost() {
                let message = "a value has too many parts to be compared";
                return Err(Fault::limit("painless_error", message));
            }
            if let Some(left) = fuel {
                **left -= cost as i64;
                if **left <= 0 {
                    self.check_steps()?;
                    return Ok(Next::Paused);
                }
            } else {
                self.nested_steps += cost;
                if self.nested_steps > NESTED_STEPS_MAX {
                    return Err(Fault::limit(
                        "painless_error",
                        "the functions that the script hands to the library take too many steps",
                    ));
                }
            }
        }
    }

    fn spend(&mut self, fuel: &mut Option<&mut i64>, steps: i64) -> Result<(), Fault> {
        self.steps += 1;
        if let Some(left) = fuel {
            **left -= steps;
        }
        self.check_steps()
    }

    fn check_steps(&self) -> Result<(), Fault> {
        if self.steps > STEPS_MAX {
            return Err(Fault::limit("painless_error", "the script takes too many steps"));
        }
        Ok(())
    }

    fn enter_checked(
        &mut self,
        program: &Program,
        function: usize,
        arguments: usize,
    ) -> Result<(), Fault> {
        if self.frames.len() >= CALLS_MAX {
            return Err(Fault {
                message: None,
                ..Fault::limit("stack_overflow_error", String::new())
            });
        }
        let first = self.stack.len() - arguments;
        for (place, to) in program.functions[function].takes.iter().enumerate() {
            if *to != Type::Def && place < arguments {
                let value = self.stack[first + place];
                self.stack[first + place] = arith::cast(&mut self.heap, value, *to, false)?;
            }
        }
        self.enter(program, function, arguments);
        Ok(())
    }

    /// Calls a function value; it runs to its end.
    pub(crate) fn call_value(
        &mut self,
        program: &Program,
        host: &mut dyn Host,
        function: Value,
        arguments: &[Value],
    ) -> Result<Value, Fault> {
        let (number, captured) = match self.heap.as_object(function) {
            Some(Object::Closure(number, captured)) => (*number as usize, captured.clone()),
            Some(Object::Reference(class, name)) => {
                let (class, name) = (*class, *name);
                return self.call_reference(program, host, class, name, arguments);
            }
            _ => {
                let class = show::class_of(&self.heap, function);
                return Err(Fault::cast(format!("class {class} is no function")));
            }
        };
        if self.nested >= NESTED_MAX {
            return Err(Fault {
                message: None,
                ..Fault::limit("stack_overflow_error", String::new())
            });
        }
        let called = &program.functions[number];
        if usize::from(called.arity) != arguments.len() {
            return Err(Fault::illegal(format!(
                "Incorrect number of parameters for the lambda: it takes [{}], and got [{}]",
                called.arity,
                arguments.len()
            )));
        }
        let floor = self.frames.len();
        self.stack.extend_from_slice(arguments);
        self.enter_checked(program, number, arguments.len())?;
        let base = self.frames[floor].base as usize;
        for (slot, value) in called.capture_slots.iter().zip(captured) {
            self.stack[base + usize::from(*slot)] = value;
        }
        self.nested += 1;
        let run = self.run(program, host, floor, None);
        self.nested -= 1;
        match run? {
            Run::Done(value) => Ok(value),
            Run::Paused => Err(Fault::illegal("a function of the library does not stop")),
        }
    }

    fn call_reference(
        &mut self,
        program: &Program,
        host: &mut dyn Host,
        class: Type,
        name: u32,
        arguments: &[Value],
    ) -> Result<Value, Fault> {
        let name = program.texts[name as usize].as_str();
        if name == "new" {
            return library::construct(class, &mut self.heap, arguments);
        }
        if let Some(found) = library::function(class, name, arguments.len()) {
            return library::call(found, &mut self.heap, arguments);
        }
        let Some((first, rest)) = arguments.split_first() else {
            return Err(Fault::illegal(format!("Unknown reference [{}::{name}].", class.java())));
        };
        self.stack.push(*first);
        self.stack.extend_from_slice(rest);
        self.method(program, host, name, rest.len())
    }
}

enum Next {
    /// Another frame has its turn.
    Frame,
    /// The frame is done.
    Returned(Value),
    /// The fuel is used up.
    Paused,
}

/// A place outside of a list.
pub(crate) fn out_of_bounds(at: i64, len: usize) -> Fault {
    Fault::new(
        "index_out_of_bounds_exception",
        format!("Index {at} out of bounds for length {len}"),
    )
}

/// A reference, where a value is an object.
pub(crate) fn object_of(value: Value) -> Option<Ref> {
    match value {
        Value::Object(at) => Some(at),
        _ => None,
    }
}
