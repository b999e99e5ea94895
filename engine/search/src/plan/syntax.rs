//! The grammar of `query_string`: Lucene's classic one.
//!
//! ```text
//! query   = (multi | modifier? clause) (multi | conjunction? modifier? clause)*
//! multi   = TERM TERM+                     words in a row are one text for the analyzer
//! clause  = (TERM ':' | '*' ':')? (term | '(' query ')' ('^' NUMBER)?)
//! term    = (TERM | '*' | PREFIX | WILD | REGEXP | NUMBER) ('^' NUMBER | '~' edits)*
//!         | ('[' | '{') goop? TO? goop (']' | '}') ('^' NUMBER)?
//!         | QUOTED ('^' NUMBER | '~' slop)*
//! ```
//!
//! What a clause means is not known here; so items keep their operators, and `query_string` joins
//! them when it has seen which of them are left.

use std::fmt::Write as _;

/// Brackets inside brackets.
const DEPTH_MAX: u32 = 100;

/// How an item follows the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conjunction {
    None,
    And,
    Or,
}

/// What stands before an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modifier {
    None,
    Not,
    Required,
}

/// One item of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub conjunction: Conjunction,
    pub modifier: Modifier,
    pub clause: Clause,
}

/// A clause: which field it names, what it is, its factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    pub field: Option<String>,
    pub kind: Kind,
    pub boost: Option<f32>,
}

/// What a clause is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Items in brackets.
    Group(Vec<Item>),
    /// One word.
    Word(String),
    /// Several words in a row.
    Words(String),
    /// A phrase; what stands behind its `~`.
    Quoted(String, Option<String>),
    /// A word and what stands behind its `~`.
    Fuzzy(String, String),
    /// The beginning of a word.
    Prefix(String),
    /// A shape, backslashes and all.
    Wildcard(String),
    /// An expression.
    Regexp(String),
    /// Two ends, open where absent; `true` includes the end.
    Range { from: Option<String>, to: Option<String>, includes: (bool, bool) },
}

/// Why a text is no query, in Lucene's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenKind {
    And,
    Or,
    Not,
    Plus,
    Minus,
    BareOper,
    Open,
    Close,
    Colon,
    Star,
    Carat,
    Quoted,
    Term,
    Fuzzy,
    Prefix,
    Wild,
    Regexp,
    RangeIn,
    RangeEx,
    Number,
    To,
    InEnd,
    ExEnd,
    Goop,
    RangeQuoted,
    End,
}

#[derive(Clone, Debug)]
struct Token {
    kind: TokenKind,
    image: String,
    at: usize,
}

/// Reads a query.
pub fn parse(text: &str) -> Result<Vec<Item>, Fault> {
    let tokens = Lexer { chars: text.chars().collect(), at: 0 }.tokens()?;
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let items = parser.query(None)?;
    if parser.peek() != TokenKind::End {
        return parser.unexpected(AFTER);
    }
    Ok(items)
}

/// `text` with all operators escaped.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\+-!():^[]\"{}~*?|&/".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{3000}')
}

fn starts_term(c: char) -> bool {
    !is_blank(c) && !"+-!():^[]\"{}~*?\\/".contains(c)
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
}

impl Lexer {
    fn tokens(mut self) -> Result<Vec<Token>, Fault> {
        let mut tokens = Vec::new();
        loop {
            while self.chars.get(self.at).copied().is_some_and(is_blank) {
                self.at += 1;
            }
            let at = self.at;
            let Some(c) = self.chars.get(at).copied() else {
                tokens.push(Token { kind: TokenKind::End, image: String::new(), at });
                return Ok(tokens);
            };
            let (kind, len) = self.longest(c)?;
            self.push(&mut tokens, kind, len);
            match kind {
                TokenKind::Carat => self.number(&mut tokens)?,
                TokenKind::RangeIn | TokenKind::RangeEx => self.range(&mut tokens)?,
                _ => {}
            }
        }
    }

    fn push(&mut self, tokens: &mut Vec<Token>, kind: TokenKind, len: usize) {
        let image = self.chars[self.at..self.at + len].iter().collect();
        tokens.push(Token { kind, image, at: self.at });
        self.at += len;
    }

    /// The longest token here; among equals the one that stands first in the grammar.
    fn longest(&self, c: char) -> Result<(TokenKind, usize), Fault> {
        let rest = &self.chars[self.at..];
        let next = rest.get(1).copied();
        Ok(match c {
            '+' | '-' | '!' if next.is_some_and(is_blank) => (TokenKind::BareOper, 2),
            '+' => (TokenKind::Plus, 1),
            '-' => (TokenKind::Minus, 1),
            '!' => (TokenKind::Not, 1),
            '(' => (TokenKind::Open, 1),
            ')' => (TokenKind::Close, 1),
            ':' => (TokenKind::Colon, 1),
            '^' => (TokenKind::Carat, 1),
            '[' => (TokenKind::RangeIn, 1),
            '{' => (TokenKind::RangeEx, 1),
            '"' => (TokenKind::Quoted, self.quoted(rest)?),
            '/' => (TokenKind::Regexp, self.expression(rest)?),
            '~' => (TokenKind::Fuzzy, 1 + self.term_chars(&rest[1..], false)),
            ']' | '}' => return Err(self.lexical(self.at)),
            '\\' if next.is_none() => return Err(self.lexical(self.chars.len())),
            _ => {
                let plain = if matches!(c, '*' | '?') { 0 } else { self.term_chars(rest, false) };
                let wild = self.term_chars(rest, true);
                if wild > plain {
                    let prefix = wild == plain + 1 && rest[plain] == '*';
                    let kind = match (prefix, wild) {
                        (true, 1) => TokenKind::Star,
                        (true, _) => TokenKind::Prefix,
                        (false, _) => TokenKind::Wild,
                    };
                    return Ok((kind, wild));
                }
                let image: String = rest[..plain].iter().collect();
                let kind = match image.as_str() {
                    "AND" | "&&" => TokenKind::And,
                    "OR" | "||" => TokenKind::Or,
                    "NOT" => TokenKind::Not,
                    _ => TokenKind::Term,
                };
                (kind, plain)
            }
        })
    }

    /// Length of what belongs to a term.
    fn term_chars(&self, rest: &[char], wild: bool) -> usize {
        let mut at = 0;
        while let Some(c) = rest.get(at) {
            match c {
                '\\' if at + 1 < rest.len() => at += 2,
                '*' | '?' if wild => at += 1,
                '-' | '+' if at > 0 => at += 1,
                c if starts_term(*c) => at += 1,
                _ => break,
            }
        }
        at
    }

    fn quoted(&self, rest: &[char]) -> Result<usize, Fault> {
        let mut at = 1;
        while let Some(c) = rest.get(at) {
            match c {
                '"' => return Ok(at + 1),
                '\\' => at += 2,
                _ => at += 1,
            }
        }
        Err(self.lexical(self.chars.len()))
    }

    fn expression(&self, rest: &[char]) -> Result<usize, Fault> {
        let mut at = 1;
        while let Some(c) = rest.get(at) {
            match c {
                '/' => return Ok(at + 1),
                '\\' if rest.get(at + 1) == Some(&'/') => at += 2,
                _ => at += 1,
            }
        }
        Err(self.lexical(self.chars.len()))
    }

    /// The number behind a `^`.
    fn number(&mut self, tokens: &mut Vec<Token>) -> Result<(), Fault> {
        while self.chars.get(self.at).copied().is_some_and(is_blank) {
            self.at += 1;
        }
        let rest = &self.chars[self.at..];
        let digits = |from: usize| rest[from..].iter().take_while(|c| c.is_ascii_digit()).count();
        let mut len = digits(0);
        if len == 0 {
            return match rest.first() {
                // What follows is told by the parser.
                None => Ok(()),
                Some(_) => Err(self.lexical(self.at)),
            };
        }
        if rest.get(len) == Some(&'.') && digits(len + 1) > 0 {
            len += 1 + digits(len + 1);
        }
        self.push(tokens, TokenKind::Number, len);
        Ok(())
    }

    /// What stands inside of a range, up to its end.
    fn range(&mut self, tokens: &mut Vec<Token>) -> Result<(), Fault> {
        loop {
            while self.chars.get(self.at).copied().is_some_and(is_blank) {
                self.at += 1;
            }
            let rest = &self.chars[self.at..];
            let Some(first) = rest.first() else { return Ok(()) };
            let (kind, len) = match first {
                ']' => (TokenKind::InEnd, 1),
                '}' => (TokenKind::ExEnd, 1),
                '"' => match rest[1..].iter().position(|c| *c == '"') {
                    Some(end) if end > 0 => (TokenKind::RangeQuoted, end + 2),
                    _ => return Err(self.lexical(self.chars.len())),
                },
                _ => {
                    let len = rest.iter().take_while(|c| !matches!(c, ' ' | ']' | '}')).count();
                    let to = len == 2 && rest[..2] == ['T', 'O'];
                    (if to { TokenKind::To } else { TokenKind::Goop }, len)
                }
            };
            self.push(tokens, kind, len);
            if matches!(kind, TokenKind::InEnd | TokenKind::ExEnd) {
                return Ok(());
            }
        }
    }

    fn lexical(&self, at: usize) -> Fault {
        let found = match self.chars.get(at) {
            None => "<EOF>".to_owned(),
            Some(c) => format!("'{c}' ({}),", u32::from(*c)),
        };
        let after: String = self.chars[self.at.min(at)..at].iter().collect();
        let after = after.replace('\\', "\\\\").replace('"', "\\\"");
        Fault(format!(
            "Lexical error at line 1, column {}.  Encountered: {found} after prefix \"{after}\"",
            at + 1
        ))
    }
}

/// What may stand where a clause begins.
const BEFORE: &[&str] = &[
    "<NOT>",
    "\"+\"",
    "\"-\"",
    "<BAREOPER>",
    "\"(\"",
    "\"*\"",
    "<QUOTED>",
    "<TERM>",
    "<PREFIXTERM>",
    "<WILDTERM>",
    "<REGEXPTERM>",
    "\"[\"",
    "\"{\"",
    "<NUMBER>",
    "<TERM>",
];

/// What may stand behind a clause.
const AFTER: &[&str] = &[
    "<EOF>",
    "<AND>",
    "<OR>",
    "<NOT>",
    "\"+\"",
    "\"-\"",
    "<BAREOPER>",
    "\"(\"",
    "\"*\"",
    "\"^\"",
    "<QUOTED>",
    "<TERM>",
    "<FUZZY_SLOP>",
    "<PREFIXTERM>",
    "<WILDTERM>",
    "<REGEXPTERM>",
    "\"[\"",
    "\"{\"",
    "<NUMBER>",
    "<TERM>",
];

/// What may stand behind a clause in brackets.
const INSIDE: &[&str] = &[
    "<AND>",
    "<OR>",
    "<NOT>",
    "\"+\"",
    "\"-\"",
    "<BAREOPER>",
    "\"(\"",
    "\")\"",
    "\"*\"",
    "\"^\"",
    "<QUOTED>",
    "<TERM>",
    "<FUZZY_SLOP>",
    "<PREFIXTERM>",
    "<WILDTERM>",
    "<REGEXPTERM>",
    "\"[\"",
    "\"{\"",
    "<NUMBER>",
    "<TERM>",
];

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
}

impl Parser {
    fn peek(&self) -> TokenKind {
        self.kind(0)
    }

    fn kind(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.at + ahead).map_or(TokenKind::End, |token| token.kind)
    }

    fn take(&mut self) -> String {
        let image = std::mem::take(&mut self.tokens[self.at].image);
        self.at += 1;
        image
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        self.at += usize::from(found);
        found
    }

    fn unexpected<T>(&self, expected: &[&str]) -> Result<T, Fault> {
        let token = &self.tokens[self.at.min(self.tokens.len() - 1)];
        let mut text = String::from("Encountered ");
        let image = &token.image;
        let _ = match token.kind {
            TokenKind::End => write!(text, "\"<EOF>\""),
            kind => write!(text, "\" {} \"{image} \"\"", name_of(kind)),
        };
        let _ = write!(text, " at line 1, column {}.\nWas expecting one of:\n", token.at);
        for name in expected {
            let _ = writeln!(text, "    {name} ...");
        }
        text.push_str("    ");
        Err(Fault(text))
    }

    /// Two words in a row that nothing parts.
    fn is_multi(&self, ahead: usize) -> bool {
        let blocked =
            matches!(self.kind(ahead + 1), TokenKind::Colon | TokenKind::Carat | TokenKind::Fuzzy);
        self.kind(ahead) == TokenKind::Term && !blocked
    }

    fn query(&mut self, field: Option<&str>) -> Result<Vec<Item>, Fault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Fault("too many nested clauses".into()));
        }
        let mut items = vec![self.item(field, true)?];
        while !matches!(self.peek(), TokenKind::End | TokenKind::Close) {
            items.push(self.item(field, false)?);
        }
        self.depth -= 1;
        Ok(items)
    }

    fn item(&mut self, field: Option<&str>, first: bool) -> Result<Item, Fault> {
        if self.kind(0) == TokenKind::Term && self.is_multi(1) {
            let mut text = unescape(&self.take())?;
            while self.is_multi(0) {
                text.push(' ');
                text.push_str(&unescape(&self.take())?);
            }
            let clause =
                Clause { field: field.map(str::to_owned), kind: Kind::Words(text), boost: None };
            let (conjunction, modifier) = (Conjunction::None, Modifier::None);
            return Ok(Item { conjunction, modifier, clause });
        }
        let conjunction = match self.peek() {
            TokenKind::And if !first => Conjunction::And,
            TokenKind::Or if !first => Conjunction::Or,
            _ => Conjunction::None,
        };
        self.at += usize::from(conjunction != Conjunction::None);
        let modifier = match self.peek() {
            TokenKind::Plus => Modifier::Required,
            TokenKind::Minus | TokenKind::Not => Modifier::Not,
            _ => Modifier::None,
        };
        self.at += usize::from(modifier != Modifier::None);
        let clause = self.clause(field)?;
        Ok(Item { conjunction, modifier, clause })
    }

    fn clause(&mut self, field: Option<&str>) -> Result<Clause, Fault> {
        let mut field = field.map(str::to_owned);
        if self.kind(1) == TokenKind::Colon {
            match self.peek() {
                TokenKind::Term => {
                    field = Some(unescape(&self.take())?);
                    self.at += 1;
                }
                TokenKind::Star => {
                    field = Some("*".to_owned());
                    self.at += 2;
                }
                _ => {}
            }
        }
        if self.eat(TokenKind::Open) {
            let items = self.query(field.as_deref())?;
            if !self.eat(TokenKind::Close) {
                return self.unexpected(INSIDE);
            }
            let boost = self.boost()?;
            return Ok(Clause { field, kind: Kind::Group(items), boost });
        }
        let (kind, boost) = self.term()?;
        Ok(Clause { field, kind, boost })
    }

    fn boost(&mut self) -> Result<Option<f32>, Fault> {
        if !self.eat(TokenKind::Carat) {
            return Ok(None);
        }
        if self.peek() != TokenKind::Number {
            return self.unexpected(&["<NUMBER>"]);
        }
        let image = self.take();
        Ok(image.parse().ok())
    }

    fn term(&mut self) -> Result<(Kind, Option<f32>), Fault> {
        let kind = self.peek();
        match kind {
            TokenKind::RangeIn | TokenKind::RangeEx => return self.range(),
            TokenKind::Term
            | TokenKind::Star
            | TokenKind::Prefix
            | TokenKind::Wild
            | TokenKind::Regexp
            | TokenKind::Number
            | TokenKind::BareOper
            | TokenKind::Quoted => {}
            _ => return self.unexpected(BEFORE),
        }
        let image = self.take();
        let mut boost = self.boost()?;
        let fuzzy = (self.peek() == TokenKind::Fuzzy).then(|| self.take()[1..].to_owned());
        if boost.is_none() {
            boost = self.boost()?;
        }
        let inner = |image: &str| image[1..image.len() - 1].to_owned();
        let found = match kind {
            TokenKind::Quoted => Kind::Quoted(unescape(&inner(&image))?, fuzzy),
            TokenKind::Regexp => Kind::Regexp(inner(&image)),
            TokenKind::Star | TokenKind::Wild => Kind::Wildcard(image),
            TokenKind::Prefix => Kind::Prefix(unescape(&image[..image.len() - 1])?),
            TokenKind::BareOper => Kind::Word(image[..1].to_owned()),
            _ => match fuzzy {
                Some(edits) => Kind::Fuzzy(unescape(&image)?, edits),
                None => Kind::Word(unescape(&image)?),
            },
        };
        Ok((found, boost))
    }

    fn range(&mut self) -> Result<(Kind, Option<f32>), Fault> {
        let includes_from = self.peek() == TokenKind::RangeIn;
        self.at += 1;
        let from = self.end_of_range()?;
        self.eat(TokenKind::To);
        let to = self.end_of_range()?;
        let includes_to = match self.peek() {
            TokenKind::InEnd => true,
            TokenKind::ExEnd => false,
            _ => return self.unexpected(&["\"]\"", "\"}\""]),
        };
        self.at += 1;
        let boost = self.boost()?;
        let includes = (includes_from, includes_to);
        Ok((Kind::Range { from, to, includes }, boost))
    }

    fn end_of_range(&mut self) -> Result<Option<String>, Fault> {
        let kind = self.peek();
        match kind {
            TokenKind::Goop | TokenKind::RangeQuoted | TokenKind::To => {}
            _ => return self.unexpected(&["<RANGE_TO>", "<RANGE_QUOTED>", "<RANGE_GOOP>"]),
        }
        let image = self.take();
        match kind {
            TokenKind::RangeQuoted => unescape(&image[1..image.len() - 1]).map(Some),
            _ if image == "*" => Ok(None),
            _ => unescape(&image).map(Some),
        }
    }
}

const fn name_of(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::And => "<AND>",
        TokenKind::Or => "<OR>",
        TokenKind::Not => "<NOT>",
        TokenKind::Plus => "\"+\"",
        TokenKind::Minus => "\"-\"",
        TokenKind::BareOper => "<BAREOPER>",
        TokenKind::Open => "\"(\"",
        TokenKind::Close => "\")\"",
        TokenKind::Colon => "\":\"",
        TokenKind::Star => "\"*\"",
        TokenKind::Carat => "\"^\"",
        TokenKind::Quoted => "<QUOTED>",
        TokenKind::Term => "<TERM>",
        TokenKind::Fuzzy => "<FUZZY_SLOP>",
        TokenKind::Prefix => "<PREFIXTERM>",
        TokenKind::Wild => "<WILDTERM>",
        TokenKind::Regexp => "<REGEXPTERM>",
        TokenKind::RangeIn => "\"[\"",
        TokenKind::RangeEx => "\"{\"",
        TokenKind::Number => "<NUMBER>",
        TokenKind::To => "\"TO\"",
        TokenKind::InEnd => "\"]\"",
        TokenKind::ExEnd => "\"}\"",
        TokenKind::Goop => "<RANGE_GOOP>",
        TokenKind::RangeQuoted => "<RANGE_QUOTED>",
        TokenKind::End => "<EOF>",
    }
}

/// Takes the backslashes away; `\u0041` is a character by its number.
pub fn unescape(text: &str) -> Result<String, Fault> {
    if !text.contains('\\') {
        return Ok(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            None => return Err(Fault("Term can not end with escape character.".into())),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                if digits.len() < 4 {
                    return Err(Fault("Truncated unicode escape sequence.".into()));
                }
                let Ok(unit) = u32::from_str_radix(&digits, 16) else {
                    return Err(Fault(
                        "Non-hex character in Unicode escape sequence: ".to_owned() + &digits,
                    ));
                };
                out.push(char::from_u32(unit).unwrap_or('\u{FFFD}'));
            }
            Some(c) => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
