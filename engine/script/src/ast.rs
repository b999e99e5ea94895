//! A source as a tree. Every node knows where it begins and how deep it is.

use crate::heap::Value;
use crate::op::Binary;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Offset in the source.
    pub at: u32,
    /// Levels below and with it.
    pub depth: u16,
    /// What it is.
    pub kind: ExprKind,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `null`, `true`, a number.
    Const(Value),
    /// A string.
    Text(String),
    /// `/a/i`
    Pattern(String, String),
    /// A variable, or a class in `Math.abs`.
    Name(String),
    /// `-a`
    Unary(char, Box<Expr>),
    /// `!a`
    Not(Box<Expr>),
    /// `a + b`
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `a && b`; true: `||`.
    Both(bool, Box<Expr>, Box<Expr>),
    /// `a =~ b`; true: the whole text.
    Match(bool, Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a ?: b`
    Elvis(Box<Expr>, Box<Expr>),
    /// `a = b`, `a += b`
    Assign(Box<Expr>, Option<Binary>, Box<Expr>),
    /// `a++`, `--a`: by how much, and whether the old value is given.
    Step(Box<Expr>, i32, bool),
    /// `(int) a`
    Cast(String, Box<Expr>),
    /// `a instanceof List`
    InstanceOf(Box<Expr>, String),
    /// `a.b`; true: `?.`
    Member(Box<Expr>, String, bool),
    /// `a[b]`
    Index(Box<Expr>, Box<Expr>),
    /// `a.b(c)`, `b(c)`; true: `?.`
    Call(Option<Box<Expr>>, String, Vec<Expr>, bool),
    /// `new A(b)`
    New(String, Vec<Expr>),
    /// `new int[a][]`: type, dimensions given, dimensions in all.
    NewArray(String, Vec<Expr>, u8),
    /// `new int[] {a}`
    ArrayOf(String, Vec<Expr>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `[a: b]`
    Map(Vec<(Expr, Expr)>),
    /// `(int a, b) -> c`
    Lambda(Vec<(Option<String>, String)>, Vec<Statement>),
    /// `A::b`
    Reference(String, String),
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Offset in the source.
    pub at: u32,
    /// What it is.
    pub kind: StatementKind,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `int a = b, c`
    Declare(String, Vec<(u32, String, Option<Expr>)>),
    /// An expression.
    Expr(Expr),
    /// `if`
    If(Expr, Vec<Statement>, Vec<Statement>),
    /// `while`
    While(Expr, Vec<Statement>),
    /// `do while`
    DoWhile(Vec<Statement>, Expr),
    /// `for (a; b; c)`
    For(Option<Box<Statement>>, Option<Expr>, Option<Expr>, Vec<Statement>),
    /// `for (int a : b)`
    Each(String, String, Expr, Vec<Statement>),
    /// `try`: what it does, and what it does with which exceptions.
    Try(Vec<Statement>, Vec<(String, String, Vec<Statement>)>),
    /// `throw`
    Throw(Expr),
    /// `return`
    Return(Option<Expr>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// A block of its own.
    Block(Vec<Statement>),
}

/// A function of the source.
#[derive(Clone, Debug)]
pub struct Function {
    /// Offset in the source.
    pub at: u32,
    /// What it gives.
    pub returns: String,
    /// Its name.
    pub name: String,
    /// Types and names of its arguments.
    pub takes: Vec<(String, String)>,
    /// What it does.
    pub body: Vec<Statement>,
}

/// A source.
#[derive(Clone, Debug)]
pub struct Script {
    /// Functions.
    pub functions: Vec<Function>,
    /// What it does.
    pub body: Vec<Statement>,
}
