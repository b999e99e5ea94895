//! What a source becomes: functions of small operations on a stack.

use crate::heap::Value;
use crate::types::Type;

/// A binary operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `>>>`
    Ushr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `===`
    Is,
    /// `!==`
    IsNot,
}

impl Binary {
    /// As it is written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Ushr => ">>>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Is => "===",
            Self::IsNot => "!==",
        }
    }

    /// It gives true or false.
    pub const fn compares(self) -> bool {
        matches!(
            self,
            Self::Lt
                | Self::Le
                | Self::Gt
                | Self::Ge
                | Self::Eq
                | Self::Ne
                | Self::Is
                | Self::IsNot
        )
    }
}

/// One operation. Names and texts are places in the program's tables.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Pushes a constant.
    Const(Value),
    /// Pushes a string.
    Text(u32),
    /// Pushes a slot.
    Load(u16),
    /// Pops into a slot.
    Store(u16),
    /// Pops.
    Pop,
    /// `a` → `a a`
    Dup,
    /// `a b` → `a b a b`
    Dup2,
    /// `a b` → `b a b`
    DupUnder,
    /// `a b c` → `c a b c`
    DupUnder2,
    /// Pops two, pushes one.
    Binary(Binary),
    /// The same, the result in the form of the first (`+=`).
    Compound(Binary),
    /// `-`, `+`, `~`.
    Unary(char),
    /// `!`
    Not,
    /// Changes the form; true: as a cast that was asked for.
    Cast(Type, bool),
    /// `instanceof`
    InstanceOf(Type),
    /// Goes on elsewhere.
    Jump(u32),
    /// Pops; goes elsewhere where it was false.
    JumpUnless(u32),
    /// Pops; goes elsewhere where it was true.
    JumpIf(u32),
    /// Goes elsewhere where the top is null, which stays.
    JumpNull(u32),
    /// Goes elsewhere where the top is not null, which stays; else pops.
    JumpSome(u32),
    /// One round of a loop.
    Round,
    /// `a` → `a.name`
    Member(u32),
    /// `a v` → ; puts `v` to `a.name`.
    StoreMember(u32),
    /// `a i` → `a[i]`
    Index,
    /// `a i v` → ; puts `v` to `a[i]`.
    StoreIndex,
    /// A method: its name, its arguments.
    Call(u32, u8),
    /// A static method, by its place in the library.
    Static(u16, u8),
    /// A function of the source.
    Function(u16, u8),
    /// A new object of a class.
    New(u16, u8),
    /// `[a, b]`
    List(u16),
    /// `[a: b]`
    Map(u16),
    /// `new int[] {a, b}`
    Array(Type, u16),
    /// `new int[a][b]`
    NewArray(Type, u8),
    /// A lambda: its function, so many captured values.
    Closure(u16, u8),
    /// `A::b`: the class, the name.
    Reference(Type, u32),
    /// `=~`; true: the whole text.
    Match(bool),
    /// Pops something, pushes an iterator of it.
    Iterate,
    /// Pops an iterator, pushes its next element; goes elsewhere where there is none.
    Next(u32),
    /// A pattern, by its place in the program's list.
    Pattern(u16),
    /// `_score`
    Score,
    /// `doc['name']`
    DocField(u32),
    /// `doc['name'].value`
    DocValue(u32),
    /// Throws what it pops.
    Throw,
    /// Leaves the function with what it pops.
    Return,
}

/// Where a `try` catches.
#[derive(Clone, Debug)]
pub struct Handler {
    /// First operation that it guards.
    pub from: u32,
    /// After the last.
    pub to: u32,
    /// Where it goes on, the exception on the stack.
    pub target: u32,
    /// What it catches.
    pub class: Type,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name; empty of a lambda.
    pub name: String,
    /// Arguments.
    pub arity: u8,
    /// What a lambda captures.
    pub captured: u8,
    /// Where a lambda has what it captured.
    pub capture_slots: Vec<u16>,
    /// Slots, arguments first.
    pub slots: u16,
    /// What arguments must be.
    pub takes: Vec<Type>,
    /// What it gives.
    pub returns: Type,
    /// Operations.
    pub code: Vec<Op>,
    /// Where in the source each stands.
    pub places: Vec<u32>,
    /// What it catches, the innermost first.
    pub handlers: Vec<Handler>,
}

/// A source that was read.
#[derive(Clone, Debug)]
pub struct Program {
    /// The source.
    pub source: String,
    /// Where it runs.
    pub context: &'static crate::context::Context,
    /// Functions; the first is the script itself.
    pub functions: Vec<Function>,
    /// Names of members, methods and fields; texts.
    pub texts: Vec<String>,
    /// Patterns.
    pub patterns: Vec<crate::pattern::Pattern>,
    /// Offsets where statements begin, rising.
    pub statements: Vec<u32>,
    /// It reads `_score`.
    pub uses_score: bool,
}

impl PartialEq for Program {
    /// The same source in the same context is the same program.
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.context == other.context
    }
}

impl Program {
    /// Fields that it names in `doc`, as far as they are written out.
    pub fn doc_fields(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().flat_map(|function| &function.code).filter_map(|op| match op {
            Op::DocField(at) | Op::DocValue(at) => Some(self.texts[*at as usize].as_str()),
            _ => None,
        })
    }
}
