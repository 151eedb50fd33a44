//! The language of `bc`, without user-defined functions and arrays.

pub enum Statement {
    /// Printed with a newline, unless it is an assignment.
    Value(Expression),
    Text(String),
    Print(Vec<Statement>),
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    While(Expression, Box<Statement>),
    For(Expression, Expression, Expression, Box<Statement>),
    Block(Vec<Statement>),
    Break,
    Quit,
}

pub enum Expression {
    Number(String),
    Variable(String),
    /// The operator before `=`, or a blank.
    Assign(String, char, Box<Expression>),
    /// `x++`, whose value is the old value of `x`.
    Step(String, char),
    Operation(Box<Expression>, String, Box<Expression>),
    Negated(Box<Expression>),
    Not(Box<Expression>),
    Call(String, Box<Expression>),
}

#[derive(Clone, PartialEq)]
enum Token {
    Number(String),
    Name(String),
    Text(String),
    Sign(String),
    End,
}

const SIGNS: [&str; 17] =
    ["==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "<", ">", "="];

/// Operators from the lowest to the highest precedence; assignment and power are handled separately.
const LOGIC: [&[&str]; 2] = [&["||"], &["&&"]];
const RELATIONS: &[&str] = &["==", "!=", "<=", ">=", "<", ">"];
const SUMS: &[&str] = &["+", "-"];
const PRODUCTS: &[&str] = &["*", "/", "%"];

/// The error is the number of the invalid line.
pub fn parse(program: &str) -> Result<Vec<Statement>, usize> {
    let mut parser = Parser { tokens: tokens(program)?, at: 0 };
    parser.statements("").ok_or_else(|| parser.line())
}

fn tokens(program: &str) -> Result<Vec<Token>, usize> {
    let mut tokens = Vec::new();
    let mut rest = program;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\n' => {
                tokens.push(Token::End);
                1
            }
            '\\' if rest.starts_with("\\\n") => 2,
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => {
                let end = rest[1..].find('"').ok_or_else(|| line_of(&tokens))?;
                tokens.push(Token::Text(rest[1..=end].to_owned()));
                end + 2
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ if first.is_ascii_digit() || first == '.' || first.is_ascii_uppercase() => {
                let digits = |byte: char| byte.is_ascii_digit() || byte == '.' || byte.is_ascii_uppercase();
                let length = rest.find(|byte| !digits(byte)).unwrap_or(rest.len());
                tokens.push(Token::Number(rest[..length].to_owned()));
                length
            }
            _ if first.is_ascii_lowercase() => {
                let letters = |byte: char| byte.is_ascii_alphanumeric() || byte == '_';
                let length = rest.find(|byte| !letters(byte)).unwrap_or(rest.len());
                tokens.push(Token::Name(rest[..length].to_owned()));
                length
            }
            _ => {
                let long = SIGNS.iter().find(|sign| rest.starts_with(**sign)).map(|sign| (*sign).to_owned());
                let sign = long.unwrap_or_else(|| first.to_string());
                let length = sign.len();
                tokens.push(Token::Sign(sign));
                length
            }
        };
        rest = &rest[length..];
    }
    Ok(tokens)
}

fn line_of(tokens: &[Token]) -> usize {
    1 + tokens.iter().filter(|token| **token == Token::End).count()
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn line(&self) -> usize {
        line_of(&self.tokens[..self.at.min(self.tokens.len())])
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn sign(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(sign)) if sign == wanted);
        self.at += usize::from(found);
        found
    }

    fn name(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(name)) if name == wanted);
        self.at += usize::from(found);
        found
    }

    fn skip_ends(&mut self) {
        while self.peek() == Some(&Token::End) {
            self.at += 1;
        }
    }

    /// Parses statements up to this token, or to the end of the program.
    fn statements(&mut self, end: &str) -> Option<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            while self.peek() == Some(&Token::End) || self.sign(";") {
                self.at += usize::from(self.peek() == Some(&Token::End));
            }
            if !end.is_empty() && self.sign(end) {
                return Some(statements);
            }
            if self.peek().is_none() {
                return end.is_empty().then_some(statements);
            }
            statements.push(self.statement()?);
        }
    }

    fn statement(&mut self) -> Option<Statement> {
        if self.sign("{") {
            return self.statements("}").map(Statement::Block);
        }
        if self.name("if") {
            let condition = self.in_parentheses()?;
            self.skip_ends();
            let then = Box::new(self.statement()?);
            let otherwise = if self.name("else") { Some(Box::new(self.statement()?)) } else { None };
            return Some(Statement::If(condition, then, otherwise));
        }
        if self.name("while") {
            let condition = self.in_parentheses()?;
            self.skip_ends();
            return Some(Statement::While(condition, Box::new(self.statement()?)));
        }
        if self.name("for") {
            self.sign("(").then_some(())?;
            let start = self.expression()?;
            self.sign(";").then_some(())?;
            let condition = self.expression()?;
            self.sign(";").then_some(())?;
            let step = self.expression()?;
            self.sign(")").then_some(())?;
            self.skip_ends();
            return Some(Statement::For(start, condition, step, Box::new(self.statement()?)));
        }
        if self.name("print") {
            let mut parts = vec![self.part()?];
            while self.sign(",") {
                parts.push(self.part()?);
            }
            return Some(Statement::Print(parts));
        }
        if self.name("break") {
            return Some(Statement::Break);
        }
        if self.name("quit") || self.name("halt") {
            return Some(Statement::Quit);
        }
        self.part()
    }

    fn part(&mut self) -> Option<Statement> {
        if let Some(Token::Text(text)) = self.peek().cloned() {
            self.at += 1;
            return Some(Statement::Text(text));
        }
        self.expression().map(Statement::Value)
    }

    fn in_parentheses(&mut self) -> Option<Expression> {
        self.sign("(").then_some(())?;
        let inner = self.expression()?;
        self.sign(")").then_some(inner)
    }

    fn expression(&mut self) -> Option<Expression> {
        self.logic(0)
    }

    fn logic(&mut self, level: usize) -> Option<Expression> {
        let Some(operators) = LOGIC.get(level) else { return self.negation() };
        let first = self.logic(level + 1)?;
        self.chain(first, operators, |parser| parser.logic(level + 1))
    }

    fn negation(&mut self) -> Option<Expression> {
        if self.sign("!") {
            return Some(Expression::Not(Box::new(self.negation()?)));
        }
        let first = self.assignment()?;
        self.chain(first, RELATIONS, Self::assignment)
    }

    fn assignment(&mut self) -> Option<Expression> {
        let start = self.at;
        if let Some(Token::Name(name)) = self.peek().cloned() {
            self.at += 1;
            if let Some(Token::Sign(sign)) = self.peek().cloned() {
                let operator = match sign.as_bytes() {
                    b"=" => Some(' '),
                    [operator, b'='] if b"+-*/%^".contains(operator) => Some(char::from(*operator)),
                    _ => None,
                };
                if let Some(operator) = operator {
                    self.at += 1;
                    return Some(Expression::Assign(name, operator, Box::new(self.assignment()?)));
                }
            }
        }
        self.at = start;
        self.sum()
    }

    fn sum(&mut self) -> Option<Expression> {
        let first = self.product()?;
        self.chain(first, SUMS, Self::product)
    }

    fn product(&mut self) -> Option<Expression> {
        let first = self.power()?;
        self.chain(first, PRODUCTS, Self::power)
    }

    fn power(&mut self) -> Option<Expression> {
        let base = self.unary()?;
        if self.sign("^") {
            let exponent = self.power()?;
            return Some(Expression::Operation(Box::new(base), "^".to_owned(), Box::new(exponent)));
        }
        Some(base)
    }

    fn chain(
        &mut self,
        first: Expression,
        operators: &[&str],
        mut next: impl FnMut(&mut Self) -> Option<Expression>,
    ) -> Option<Expression> {
        let mut whole = first;
        while let Some(operator) = operators.iter().find(|operator| self.sign(operator)) {
            let right = next(self)?;
            whole = Expression::Operation(Box::new(whole), (*operator).to_owned(), Box::new(right));
        }
        Some(whole)
    }

    fn unary(&mut self) -> Option<Expression> {
        if self.sign("-") {
            return Some(Expression::Negated(Box::new(self.unary()?)));
        }
        if self.sign("(") {
            let inner = self.expression()?;
            return self.sign(")").then_some(inner);
        }
        for (sign, operator) in [("++", '+'), ("--", '-')] {
            if self.sign(sign) {
                let Some(Token::Name(name)) = self.peek().cloned() else { return None };
                self.at += 1;
                return Some(Expression::Assign(name, operator, Box::new(Expression::Number("1".to_owned()))));
            }
        }
        match self.peek().cloned()? {
            Token::Number(number) => {
                self.at += 1;
                Some(Expression::Number(number))
            }
            Token::Name(name) => {
                self.at += 1;
                if self.sign("(") {
                    let argument = self.expression()?;
                    return self.sign(")").then(|| Expression::Call(name, Box::new(argument)));
                }
                for (sign, operator) in [("++", '+'), ("--", '-')] {
                    if self.sign(sign) {
                        return Some(Expression::Step(name, operator));
                    }
                }
                Some(Expression::Variable(name))
            }
            _ => None,
        }
    }
}
