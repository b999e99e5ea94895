//! Tokens become a tree: statements here, expressions beside.
//!
//! Always true: no tree is deeper than [`DEPTH_MAX`], so those who walk it may recurse.

mod expr;

use crate::ast::{Expr, ExprKind, Function, Script, Statement, StatementKind};
use crate::error::Fault;
use crate::lexer::{self, Kind, Token};
use crate::limits::DEPTH_MAX;
use crate::types::Type;

pub(crate) type Read<T> = Result<T, Fault>;

/// Reads a source.
///
/// # Errors
/// A source that is no script, in the words of Painless's parser.
pub fn parse(source: &str) -> Read<Script> {
    let mut parser = Parser { tokens: lexer::cut(source)?, at: 0, depth: 0, lambdas: 0 };
    parser.script()
}

/// Words that are no names.
const WORDS: [&str; 21] = [
    "if",
    "else",
    "while",
    "do",
    "for",
    "in",
    "continue",
    "break",
    "return",
    "new",
    "try",
    "catch",
    "throw",
    "this",
    "instanceof",
    "true",
    "false",
    "null",
    "void",
    "boolean",
    "def",
];

pub(crate) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u16,
    /// Lambdas around.
    pub(crate) lambdas: u8,
}

impl Parser {
    fn script(&mut self) -> Read<Script> {
        let mut functions = Vec::new();
        while let Some(function) = self.function()? {
            functions.push(function);
        }
        let mut body = Vec::new();
        while self.peek() != &Kind::End {
            body.push(self.statement()?);
        }
        Ok(Script { functions, body })
    }

    fn function(&mut self) -> Read<Option<Function>> {
        let (start, at) = (self.at, self.offset());
        let Some(returns) = self.try_type() else { return Ok(None) };
        let name = match (self.peek().clone(), self.peek_at(1)) {
            (Kind::Word(name), Kind::Sign("(")) if !is_word(&name) => name,
            _ => {
                self.at = start;
                return Ok(None);
            }
        };
        self.at += 2;
        let mut takes = Vec::new();
        while !self.eat(")") {
            if !takes.is_empty() {
                self.expect(",")?;
            }
            let Some(kind) = self.try_type() else { return Err(self.near()) };
            takes.push((kind, self.name()?));
        }
        let body = self.block()?;
        Ok(Some(Function { at, returns, name, takes, body }))
    }

    pub(crate) fn peek(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> &Kind {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    pub(crate) fn offset(&self) -> u32 {
        self.tokens[self.at].at
    }

    pub(crate) fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Kind::Sign(found) if *found == sign)
    }

    pub(crate) fn eat(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        if is {
            self.advance();
        }
        is
    }

    pub(crate) fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Word(found) if found == word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.advance();
        }
        is
    }

    pub(crate) fn expect(&mut self, sign: &str) -> Read<()> {
        if self.eat(sign) {
            return Ok(());
        }
        Err(self.unexpected(&format!("'{sign}'")))
    }

    /// The token as errors show it.
    fn shown(&self) -> String {
        match self.peek() {
            Kind::Word(text) | Kind::Number(text) => format!("'{text}'"),
            Kind::Text(text) => format!("''{text}''"),
            Kind::Pattern(text, flags) => format!("'/{text}/{flags}'"),
            Kind::Sign(sign) => format!("'{sign}'"),
            Kind::End => "<EOF>".to_owned(),
        }
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        Fault::illegal(format!(
            "unexpected token [{}] was expecting one of [{wanted}].",
            self.shown()
        ))
        .or_at(self.offset())
    }

    pub(crate) fn near(&self) -> Fault {
        let fault = match self.peek() {
            Kind::End => Fault::illegal("unexpected end of script."),
            _ => Fault::illegal(format!("invalid sequence of tokens near [{}].", self.shown())),
        };
        fault.or_at(self.offset())
    }

    /// One level deeper.
    pub(crate) fn deeper(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(too_deep().or_at(self.offset()));
        }
        Ok(())
    }

    pub(crate) fn back(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn name(&mut self) -> Read<String> {
        match self.peek().clone() {
            Kind::Word(name) if !is_word(&name) => {
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected("ID")),
        }
    }

    /// A type, where one stands: `int`, `java.util.List`, `int[][]`.
    pub(crate) fn try_type(&mut self) -> Option<String> {
        let start = self.at;
        let Kind::Word(first) = self.peek().clone() else { return None };
        if is_word(&first) && Type::named(&first).is_none() {
            return None;
        }
        self.advance();
        let mut name = first;
        if !Type::named(&name).is_some_and(Type::is_primitive) && name != "def" {
            // `a.b c` declares; `a.b` alone does not, and is looked at again as an expression.
            self.parts(&mut name);
        }
        self.dimensions(&mut name);
        match self.peek() {
            Kind::Word(_) => Some(name),
            _ => {
                self.at = start;
                None
            }
        }
    }

    pub(crate) fn block(&mut self) -> Read<Vec<Statement>> {
        self.expect("{")?;
        self.deeper()?;
        let mut statements = Vec::new();
        while !self.eat("}") {
            if self.peek() == &Kind::End {
                return Err(self.near());
            }
            statements.push(self.statement()?);
        }
        self.back();
        Ok(statements)
    }

    /// What a loop or a condition does: a block, or one statement.
    fn trailer(&mut self) -> Read<Vec<Statement>> {
        if self.is("{") { self.block() } else { Ok(vec![self.statement()?]) }
    }

    fn statement(&mut self) -> Read<Statement> {
        self.deeper()?;
        let at = self.offset();
        let kind = match self.peek().clone() {
            Kind::Word(word) => match word.as_str() {
                "if" => self.condition()?,
                "while" => {
                    self.advance();
                    let condition = self.in_parentheses()?;
                    let body = if self.eat(";") { Vec::new() } else { self.trailer()? };
                    StatementKind::While(condition, body)
                }
                "for" => self.loops()?,
                "try" => self.tries()?,
                "do" => {
                    self.advance();
                    let body = self.block()?;
                    if !self.eat_word("while") {
                        return Err(self.unexpected("'while'"));
                    }
                    let condition = self.in_parentheses()?;
                    self.end_of_statement()?;
                    StatementKind::DoWhile(body, condition)
                }
                "continue" => self.plain(StatementKind::Continue)?,
                "break" => self.plain(StatementKind::Break)?,
                "return" => {
                    self.advance();
                    let ends = matches!(self.peek(), Kind::End | Kind::Sign(";" | "}"));
                    let value = if ends { None } else { Some(self.expression()?) };
                    self.end_of_statement()?;
                    StatementKind::Return(value)
                }
                "throw" => {
                    self.advance();
                    let value = self.expression()?;
                    self.end_of_statement()?;
                    StatementKind::Throw(value)
                }
                _ => self.declaration_or_expression()?,
            },
            Kind::Sign("{") => StatementKind::Block(self.block()?),
            Kind::Sign(";") => return Err(self.near()),
            _ => self.declaration_or_expression()?,
        };
        self.back();
        Ok(Statement { at, kind })
    }

    fn plain(&mut self, kind: StatementKind) -> Read<StatementKind> {
        self.advance();
        self.end_of_statement()?;
        Ok(kind)
    }

    fn end_of_statement(&mut self) -> Read<()> {
        match self.peek() {
            Kind::Sign(";") => {
                self.advance();
                Ok(())
            }
            Kind::End | Kind::Sign("}") => Ok(()),
            _ => Err(self.unexpected("{<EOF>, ';'}")),
        }
    }

    fn in_parentheses(&mut self) -> Read<Expr> {
        self.expect("(")?;
        let inner = self.expression()?;
        self.expect(")")?;
        Ok(inner)
    }

    fn condition(&mut self) -> Read<StatementKind> {
        self.advance();
        let condition = self.in_parentheses()?;
        let then = self.trailer()?;
        let or = if self.eat_word("else") { self.trailer()? } else { Vec::new() };
        Ok(StatementKind::If(condition, then, or))
    }

    fn loops(&mut self) -> Read<StatementKind> {
        self.advance();
        self.expect("(")?;
        if let (Kind::Word(name), Kind::Word(word)) = (self.peek().clone(), self.peek_at(1).clone())
            && word == "in"
        {
            self.at += 2;
            let over = self.expression()?;
            self.expect(")")?;
            return Ok(StatementKind::Each("def".to_owned(), name, over, self.trailer()?));
        }
        let start = self.at;
        if let Some(kind) = self.try_type() {
            if let (Kind::Word(name), Kind::Sign(":")) =
                (self.peek().clone(), self.peek_at(1).clone())
            {
                self.at += 2;
                let over = self.expression()?;
                self.expect(")")?;
                return Ok(StatementKind::Each(kind, name, over, self.trailer()?));
            }
            self.at = start;
        }
        let begin = if self.eat(";") {
            None
        } else {
            let at = self.offset();
            let kind = self.declaration()?;
            let kind = match kind {
                Some(kind) => kind,
                None => StatementKind::Expr(self.expression()?),
            };
            self.expect(";")?;
            Some(Box::new(Statement { at, kind }))
        };
        let condition = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let body = if self.eat(";") { Vec::new() } else { self.trailer()? };
        Ok(StatementKind::For(begin, condition, step, body))
    }

    fn tries(&mut self) -> Read<StatementKind> {
        self.advance();
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.eat_word("catch") {
            self.expect("(")?;
            let Some(class) = self.try_type() else { return Err(self.near()) };
            let name = self.name()?;
            self.expect(")")?;
            catches.push((class, name, self.block()?));
        }
        if catches.is_empty() {
            return Err(self.unexpected("'catch'"));
        }
        Ok(StatementKind::Try(body, catches))
    }

    fn declaration_or_expression(&mut self) -> Read<StatementKind> {
        let kind = match self.declaration()? {
            Some(kind) => kind,
            None => StatementKind::Expr(self.expression()?),
        };
        self.end_of_statement()?;
        Ok(kind)
    }

    fn declaration(&mut self) -> Read<Option<StatementKind>> {
        let start = self.at;
        let Some(kind) = self.try_type() else { return Ok(None) };
        match (self.peek(), self.peek_at(1)) {
            (Kind::Word(name), Kind::Sign("=" | "," | ";" | "}") | Kind::End) if !is_word(name) => {
            }
            _ => {
                self.at = start;
                return Ok(None);
            }
        }
        let mut parts = Vec::new();
        loop {
            let at = self.offset();
            let name = self.name()?;
            let value = if self.eat("=") { Some(self.expression()?) } else { None };
            parts.push((at, name, value));
            if !self.eat(",") {
                return Ok(Some(StatementKind::Declare(kind, parts)));
            }
        }
    }
}

/// Is it a word of the language?
pub(crate) fn is_word(name: &str) -> bool {
    WORDS.contains(&name) || Type::named(name).is_some_and(Type::is_primitive)
}

pub(crate) fn too_deep() -> Fault {
    Fault::illegal("the script is nested too deeply")
}

/// A node over others.
pub(crate) fn node(at: u32, kind: ExprKind, below: &[&Expr]) -> Read<Expr> {
    let depth = 1 + below.iter().map(|expr| expr.depth).max().unwrap_or(0);
    if depth > DEPTH_MAX {
        return Err(too_deep().or_at(at));
    }
    Ok(Expr { at, depth, kind })
}
