//! Parses tokens into a tree by operator precedence; chains of operators are parsed without
//! recursion.

use super::ast::{Ast, Fault, Kind, Level, Operator, Span};
use super::cursor::{HIGHEST, Parser, Tree};
use super::lexer::Token;

/// Longer chains of operators of the same level are combined in pairs to keep the tree low.
const LONGEST_CHAIN: usize = 32;
/// Maximum number of mistakes reported per formula.
const MOST_FAULTS: usize = 10;

/// The tree of a formula, or all its mistakes.
///
/// `at` maps an offset in the text to an offset in the file; spans refer to the file.
pub(crate) fn parse(text: &str, at: impl Fn(usize) -> usize) -> Result<Ast, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut parser = Parser::new(text, &at, &mut faults);
    let tree = parser.whole();
    if faults.is_empty() {
        return Ok(*tree.ast);
    }
    faults.sort_by_key(|fault| (fault.span.start, fault.span.end));
    faults.truncate(MOST_FAULTS);
    for fault in &mut faults {
        let start = at(fault.span.start);
        fault.span = start..at(fault.span.end).max(start);
    }
    Err(faults)
}

impl<'a, At: Fn(usize) -> usize> Parser<'a, At> {
    fn whole(&mut self) -> Tree {
        if self.tokens.len() == 1 {
            self.fault(0..self.text.len(), "the formula is empty".to_owned(), None);
        }
        let tree = self.expression(Level::Or);
        self.pass_colon();
        let help = match self.peek() {
            Token::Comma => {
                "`,` separates the arguments of a function, or the elements of a [list]"
            }
            Token::End => return tree,
            _ => "there is no open bracket before it",
        };
        let message = format!("`{}` is out of place", self.written(self.next));
        self.fault(self.span(self.next), message, Some(help.to_owned()));
        tree
    }

    /// An operand and all operators after it that bind at least as tightly as `least`.
    fn expression(&mut self, least: Level) -> Tree {
        self.recursion += 1;
        if self.recursion > HIGHEST {
            self.too_deep();
        }
        let begin = self.next;
        let mut left = self.operand(least);
        while let Some(operator) = self.operator(least) {
            left = match operator.level() {
                Level::Power => {
                    self.step_operator();
                    let right = self.nest(|parser| parser.expression(Level::Negation));
                    self.binary(operator, left, right)
                }
                Level::Comparison => self.comparison(begin, operator, left),
                level => self.chain(level, left),
            };
        }
        self.recursion -= 1;
        left
    }

    /// left ∘ b ∘ c ...: a chain of operators of one level.
    fn chain(&mut self, level: Level, left: Tree) -> Tree {
        let mut rest = Vec::new();
        while let Some(operator) = self.operator(level) {
            self.step_operator();
            rest.push((operator, self.expression(level.tighter())));
        }
        if rest.len() < LONGEST_CHAIN {
            let join = |left, (operator, right)| self.binary(operator, left, right);
            return rest.into_iter().fold(left, join);
        }
        if rest.iter().any(|(operator, _)| *operator == Operator::MatMul) {
            // A matrix product is not commutative and cannot be regrouped with other products.
            let join = |left, (operator, right)| self.binary(operator, left, right);
            return rest.into_iter().fold(left, join);
        }
        match level {
            Level::Sum => self.paired([Operator::Add, Operator::Subtract], left, rest),
            Level::Product => self.paired([Operator::Multiply, Operator::Divide], left, rest),
            Level::And => self.paired([Operator::And; 2], left, rest),
            _ => self.paired([Operator::Or; 2], left, rest),
        }
    }

    /// Joins neighbours in pairs until one tree is left: a - b + c - d = (a - b) + (c - d), and
    /// a + b - c + d = (a + b) - (c - d). Inside a group, signs are relative to its first term.
    fn paired(
        &mut self,
        [same, opposite]: [Operator; 2],
        mut left: Tree,
        mut rest: Vec<(Operator, Tree)>,
    ) -> Tree {
        while !rest.is_empty() {
            let mut pairs = Vec::with_capacity(rest.len() / 2 + 1);
            let mut terms = rest.into_iter();
            if let Some((operator, right)) = terms.next() {
                left = self.binary(operator, left, right);
            }
            while let Some((first, left)) = terms.next() {
                let pair = match terms.next() {
                    Some((second, right)) => {
                        let operator = if first == second { same } else { opposite };
                        self.binary(operator, left, right)
                    }
                    None => left,
                };
                pairs.push((first, pair));
            }
            rest = pairs;
        }
        left
    }

    /// Parses one comparison; a second comparison in a row is a mistake.
    fn comparison(&mut self, begin: usize, operator: Operator, left: Tree) -> Tree {
        self.step_operator();
        let middle = self.next;
        let right = self.expression(Level::Sum);
        let mut tree = self.binary(operator, left, right);
        let mut first = true;
        while let Some(again) = self.operator(Level::Comparison) {
            let place = self.next;
            self.step_operator();
            let right = self.expression(Level::Sum);
            if std::mem::take(&mut first) {
                let text = |from: usize, to: usize| {
                    let end = self.tokens[to.saturating_sub(1).max(from)].1.end;
                    self.text[self.tokens[from].1.start..end].trim()
                };
                let joined = format!("{} and {}", text(begin, place), text(middle, self.next));
                let help = if joined.len() <= 60 && !joined.contains('\n') {
                    format!("write `{joined}`")
                } else {
                    "write `a < b and b < c`".to_owned()
                };
                let message = "comparisons do not chain".to_owned();
                self.fault(self.span(place), message, Some(help));
            }
            tree = self.binary(again, tree, right);
        }
        tree
    }

    fn operand(&mut self, least: Level) -> Tree {
        let place = self.next;
        let span = self.file_span(place);
        match self.peek() {
            Token::Number(value) => {
                self.step();
                let tree = self.node(Kind::Number(value), span, 0);
                self.indexed(tree)
            }
            Token::Name(name) => self.named(name, span),
            Token::Open => {
                let mut inner = self.enclosed();
                inner.ast.span = span.start..self.end_of_last().max(span.end);
                self.indexed(inner)
            }
            Token::OpenList => {
                let (elements, height) = self.sequence(Token::CloseList);
                let span = span.start..self.end_of_last();
                let tree = self.node(Kind::List(elements), span, height);
                self.indexed(tree)
            }
            Token::Operator(Operator::Subtract) => {
                self.step();
                let inner = self.nest(|parser| parser.expression(Level::Negation));
                let span = span.start..inner.ast.span.end.max(span.end);
                self.node(Kind::Negate(inner.ast), span, inner.height)
            }
            Token::Not => {
                self.step();
                let inner = self.nest(|parser| parser.expression(Level::Not));
                if least > Level::Not {
                    let help = Some("put parentheses around `not` and its operand".to_owned());
                    self.fault(self.span(place), "`not` is out of place".to_owned(), help);
                }
                let span = span.start..inner.ast.span.end.max(span.end);
                self.node(Kind::Not(inner.ast), span, inner.height)
            }
            Token::Unknown => {
                self.step();
                self.placeholder()
            }
            _ => {
                self.missing_value();
                self.placeholder()
            }
        }
    }

    /// A name, or a call, and the indices after it.
    fn named(&mut self, name: &str, name_span: Span) -> Tree {
        self.step();
        let name = name.to_owned();
        let tree = if self.peek() == Token::Open {
            let (arguments, height) = self.sequence(Token::Close);
            let span = name_span.start..self.end_of_last();
            self.node(Kind::Call { name, name_span, arguments }, span, height)
        } else {
            self.node(Kind::Name(name), name_span, 0)
        };
        self.indexed(tree)
    }

    fn indexed(&mut self, mut tree: Tree) -> Tree {
        while self.peek() == Token::OpenList {
            let place = self.next;
            let (indices, height) = self.sequence_of(Token::CloseList, Self::one_index);
            if indices.is_empty() {
                let span = self.span(place).start..self.span(self.next.saturating_sub(1)).end;
                let help = Some("elements are counted from 1: `x[1]`".to_owned());
                self.fault(span, "an index is missing between `[` and `]`".to_owned(), help);
            }
            let span = tree.ast.span.start..self.end_of_last();
            let height = height.max(tree.height);
            tree = self.node(Kind::Index { of: tree.ast, indices }, span, height);
        }
        tree
    }

    /// An expression in parentheses.
    fn enclosed(&mut self) -> Tree {
        let place = self.next;
        self.step();
        self.open.push(Token::Close);
        let inner = self.nest(|parser| parser.expression(Level::Or));
        self.pass_colon();
        if self.peek() == Token::Comma {
            let help = Some("write a list with brackets: `[a, b]`".to_owned());
            self.fault(self.span(self.next), "`,` is out of place".to_owned(), help);
            while self.peek() == Token::Comma {
                self.step();
                self.nest(|parser| parser.expression(Level::Or));
            }
        }
        self.open.pop();
        self.close(place, Token::Close);
        inner
    }

    /// Reports a range outside brackets, and skips it.
    fn pass_colon(&mut self) {
        if self.peek() == Token::Colon {
            let help =
                "in brackets after a vector it is a slice, `x[2:4]`; `range(2, 4)` is a vector";
            let message = "`:` is out of place".to_owned();
            self.fault(self.span(self.next), message, Some(help.to_owned()));
            while self.peek() == Token::Colon {
                self.step();
                if !matches!(
                    self.peek(),
                    Token::Comma | Token::Close | Token::CloseList | Token::End
                ) {
                    self.nest(|parser| parser.expression(Level::Or));
                }
            }
        }
    }

    /// An index, or a range of indices.
    fn one_index(&mut self) -> Tree {
        let start = self.file_span(self.next).start;
        let first = (self.peek() != Token::Colon).then(|| self.expression(Level::Or));
        if self.peek() != Token::Colon {
            return first.unwrap_or_else(|| self.placeholder());
        }
        self.step();
        let ends = matches!(self.peek(), Token::Comma | Token::CloseList | Token::End);
        let last = (!ends).then(|| self.expression(Level::Or));
        let below = first.iter().chain(&last).map(|tree| tree.height).max().unwrap_or(0);
        let span = start..self.end_of_last().max(start);
        let kind =
            Kind::Range { first: first.map(|tree| tree.ast), last: last.map(|tree| tree.ast) };
        self.node(kind, span, below)
    }

    /// Values separated by commas, and the height of the tallest tree.
    fn sequence(&mut self, close: Token<'a>) -> (Vec<Ast>, usize) {
        self.sequence_of(close, |parser| match close {
            Token::Close => parser.argument(),
            _ => parser.expression(Level::Or),
        })
    }

    fn sequence_of(
        &mut self,
        close: Token<'a>,
        one: impl Fn(&mut Self) -> Tree,
    ) -> (Vec<Ast>, usize) {
        let place = self.next;
        self.step();
        let mut values = Vec::new();
        let mut height = 0;
        if self.peek() != close {
            self.open.push(close);
            loop {
                let value = self.nest(&one);
                self.pass_colon();
                height = height.max(value.height);
                values.push(*value.ast);
                if self.peek() != Token::Comma {
                    break;
                }
                self.step();
            }
            self.open.pop();
        }
        self.close(place, close);
        (values, height)
    }

    /// An argument of a call: a value or `name = value`.
    fn argument(&mut self) -> Tree {
        let after = self.tokens.get(self.next + 1).map(|(token, _)| *token);
        let (Token::Name(name), Some(Token::Assign)) = (self.peek(), after) else {
            return self.expression(Level::Or);
        };
        let span = self.file_span(self.next);
        self.step();
        self.step();
        let value = self.expression(Level::Or);
        let span = span.start..value.ast.span.end.max(span.end);
        self.node(Kind::Named { name: name.to_owned(), value: value.ast }, span, value.height)
    }

    /// Consumes the closing token for the opening token at `place`.
    fn close(&mut self, place: usize, close: Token<'a>) {
        let found = self.peek();
        let sign = if close == Token::Close { ")" } else { "]" };
        if found == close {
            self.step();
        } else if found == Token::End || self.open.contains(&found) {
            let message = format!("`{}` is never closed", self.written(place));
            self.fault(self.span(place), message, Some(format!("add `{sign}`")));
        } else {
            let found = self.written(self.next);
            let message = format!("`{found}` cannot close `{}`", self.written(place));
            self.fault(self.span(self.next), message, Some(format!("write `{sign}`")));
            self.step();
        }
    }

    /// The next operator, if it binds at least as tightly as `least`.
    fn operator(&self, least: Level) -> Option<Operator> {
        let operator = match self.peek() {
            Token::Operator(operator) => operator,
            // A mistake, reported when the token is consumed.
            Token::Assign => Operator::Equal,
            // Unknown tokens separate two values as an operator would; otherwise the operator is
            // missing.
            Token::Unknown | Token::Number(_) | Token::Name(_) | Token::Open => Operator::Multiply,
            Token::Not => Operator::And,
            _ => return None,
        };
        (operator.level() >= least).then_some(operator)
    }
}
