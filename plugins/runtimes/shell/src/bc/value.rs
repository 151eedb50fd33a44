//! Evaluates `bc` programs.

use std::collections::HashMap;

use super::decimal::Decimal;
use super::syntax::{Expression, Statement};

/// The scale set by `-l`.
const LIBRARY_SCALE: u32 = 20;

pub struct Calculator {
    pub printed: String,
    variables: HashMap<String, Decimal>,
    has_functions: bool,
}

impl Default for Calculator {
    fn default() -> Self {
        let variables = [("ibase", 10), ("obase", 10)].map(|(name, base)| (name.to_owned(), Decimal::count(base)));
        Self { printed: String::new(), variables: HashMap::from(variables), has_functions: false }
    }
}

/// How a statement affects control flow.
#[derive(PartialEq)]
enum Flow {
    Onward,
    Break,
    Quit,
}

type Outcome<T> = Result<T, String>;

impl Calculator {
    pub fn load_functions(&mut self) {
        self.has_functions = true;
        self.variables.insert("scale".to_owned(), Decimal::count(LIBRARY_SCALE));
    }

    pub fn run(&mut self, statements: &[Statement]) -> Outcome<()> {
        self.block(statements).map(drop)
    }

    fn block(&mut self, statements: &[Statement]) -> Outcome<Flow> {
        for statement in statements {
            let flow = self.statement(statement)?;
            if flow != Flow::Onward {
                return Ok(flow);
            }
        }
        Ok(Flow::Onward)
    }

    fn statement(&mut self, statement: &Statement) -> Outcome<Flow> {
        match statement {
            Statement::Value(expression) => {
                let value = self.value(expression)?;
                if !matches!(expression, Expression::Assign(..)) {
                    self.print(value);
                    self.printed.push('\n');
                }
            }
            Statement::Text(text) => self.printed.push_str(text),
            Statement::Print(parts) => {
                for part in parts {
                    match part {
                        Statement::Text(text) => self.printed.push_str(&unescaped(text)),
                        Statement::Value(expression) => {
                            let value = self.value(expression)?;
                            self.print(value);
                        }
                        _ => {}
                    }
                }
            }
            Statement::If(condition, then, otherwise) => {
                if self.holds(condition)? {
                    return self.statement(then);
                }
                if let Some(otherwise) = otherwise {
                    return self.statement(otherwise);
                }
            }
            Statement::While(condition, body) => return self.repeat(condition, body, None),
            Statement::For(start, condition, step, body) => {
                self.value(start)?;
                return self.repeat(condition, body, Some(step));
            }
            Statement::Block(statements) => return self.block(statements),
            Statement::Break => return Ok(Flow::Break),
            Statement::Quit => return Ok(Flow::Quit),
        }
        Ok(Flow::Onward)
    }

    fn repeat(&mut self, condition: &Expression, body: &Statement, step: Option<&Expression>) -> Outcome<Flow> {
        while self.holds(condition)? {
            match self.statement(body)? {
                Flow::Onward => {}
                Flow::Break => break,
                Flow::Quit => return Ok(Flow::Quit),
            }
            if let Some(step) = step {
                self.value(step)?;
            }
        }
        Ok(Flow::Onward)
    }

    fn holds(&mut self, condition: &Expression) -> Outcome<bool> {
        Ok(!self.value(condition)?.is_zero())
    }

    fn value(&mut self, expression: &Expression) -> Outcome<Decimal> {
        match expression {
            Expression::Number(text) => Decimal::parse(text, self.setting("ibase")).ok_or_else(too_large),
            Expression::Variable(name) => Ok(self.variable(name)),
            Expression::Assign(name, operator, right) => {
                let mut value = self.value(right)?;
                if *operator != ' ' {
                    value = self.operation(self.variable(name), &operator.to_string(), value)?;
                }
                self.variables.insert(name.clone(), value);
                Ok(value)
            }
            Expression::Step(name, operator) => {
                let before = self.variable(name);
                let after = self.operation(before, &operator.to_string(), Decimal::ONE)?;
                self.variables.insert(name.clone(), after);
                Ok(before)
            }
            Expression::Operation(left, operator, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.operation(left, operator, right)
            }
            Expression::Negated(inner) => Ok(self.value(inner)?.negated()),
            Expression::Not(inner) => Ok(Decimal::truth(!self.holds(inner)?)),
            Expression::Call(name, argument) => {
                let argument = self.value(argument)?;
                self.call(name, argument)
            }
        }
    }

    fn operation(&self, left: Decimal, operator: &str, right: Decimal) -> Outcome<Decimal> {
        let scale = self.setting("scale");
        if matches!(operator, "/" | "%") && right.is_zero() {
            return Err("Runtime error (func=(main), adr=3): Divide by zero".to_owned());
        }
        let less = |left: Decimal, right: Decimal| left.is_less_than(right);
        let result = match operator {
            "+" => left.plus(right),
            "-" => left.plus(right.negated()),
            "*" => left.times(right, scale),
            "/" => left.divided_by(right, scale),
            "%" => left.remainder(right, scale),
            "^" => left.power(right, scale),
            "<" => less(left, right).map(Decimal::truth),
            ">" => less(right, left).map(Decimal::truth),
            "<=" => less(right, left).map(|more| Decimal::truth(!more)),
            ">=" => less(left, right).map(|fewer| Decimal::truth(!fewer)),
            "==" => left.plus(right.negated()).map(|difference| Decimal::truth(difference.is_zero())),
            "!=" => left.plus(right.negated()).map(|difference| Decimal::truth(!difference.is_zero())),
            "&&" => Some(Decimal::truth(!left.is_zero() && !right.is_zero())),
            _ => Some(Decimal::truth(!left.is_zero() || !right.is_zero())),
        };
        result.ok_or_else(too_large)
    }

    fn call(&self, name: &str, argument: Decimal) -> Outcome<Decimal> {
        let scale = self.setting("scale");
        let number = argument.to_float();
        let result = match name {
            "sqrt" if argument.is_less_than(Decimal::default()) == Some(true) => {
                return Err("Runtime error (func=(main), adr=3): Square root of a negative number".to_owned());
            }
            "sqrt" => argument.square_root(scale),
            "length" => Some(Decimal::count(argument.length())),
            "scale" => Some(Decimal::count(argument.scale())),
            "s" if self.has_functions => Decimal::from_float(number.sin(), scale),
            "c" if self.has_functions => Decimal::from_float(number.cos(), scale),
            "a" if self.has_functions => Decimal::from_float(number.atan(), scale),
            "l" if self.has_functions => Decimal::from_float(number.ln(), scale),
            "e" if self.has_functions => Decimal::from_float(number.exp(), scale),
            _ => return Err(format!("Runtime error (func=(main), adr=3): Function {name} not defined.")),
        };
        result.ok_or_else(too_large)
    }

    fn variable(&self, name: &str) -> Decimal {
        self.variables.get(name).copied().unwrap_or_default()
    }

    fn setting(&self, name: &str) -> u32 {
        let value = self.variable(name).whole().and_then(|value| u32::try_from(value).ok());
        // An invalid base would abort the program instead of a line.
        value.filter(|value| name == "scale" || (2..=36).contains(value)).unwrap_or(if name == "scale" {
            0
        } else {
            10
        })
    }

    fn print(&mut self, value: Decimal) {
        let text = value.text(self.setting("obase"));
        self.printed.push_str(&text);
    }
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t").replace("\\q", "\"").replace("\\\\", "\\")
}

fn too_large() -> String {
    "Runtime error (func=(main), adr=3): number too large".to_owned()
}
