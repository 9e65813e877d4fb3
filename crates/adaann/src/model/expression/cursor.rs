//! Where the parser is: tokens and their places, limits, and what to say of a mistake.

use super::ast::{Ast, Fault, Kind, Operator, Span};
use super::lexer::{Token, tokens};

/// A formula's longest text, in bytes.
const LONGEST: usize = 100_000;
/// A tree's most nodes.
const MOST_NODES: usize = 20_000;
/// How often parentheses, calls, lists, indices, signs and powers can stand in one another.
const DEEPEST: usize = 100;
/// The highest tree, and the deepest recursion of the parser: operators count here too.
pub(super) const HIGHEST: usize = 300;

/// A tree and its height; boxed, since the parser's recursion holds many of them on the stack.
pub(super) struct Tree {
    pub(super) ast: Box<Ast>,
    pub(super) height: usize,
}

pub(super) struct Parser<'a, At> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<(Token<'a>, Span)>,
    /// The token that comes next; the last is `End` and is never passed.
    pub(super) next: usize,
    /// What closes the parentheses and brackets around this place, outermost first.
    pub(super) open: Vec<Token<'a>>,
    /// Calls of `expression` under way.
    pub(super) recursion: usize,
    at: &'a At,
    faults: &'a mut Vec<Fault>,
    nested: usize,
    nodes: usize,
    /// A limit was passed: the rest of the text is left alone.
    halted: bool,
}

impl<'a, At: Fn(usize) -> usize> Parser<'a, At> {
    pub(super) fn new(text: &'a str, at: &'a At, faults: &'a mut Vec<Fault>) -> Self {
        let short = text.len() <= LONGEST;
        let tokens = if short { tokens(text, faults) } else { vec![(Token::End, 0..text.len())] };
        let (open, next, recursion, nested, nodes) = (Vec::new(), 0, 0, 0, 0);
        let mut parser =
            Self { text, tokens, next, open, recursion, at, faults, nested, nodes, halted: false };
        if !short {
            let message = format!("the formula has {} bytes, more than {LONGEST}", text.len());
            parser.halt(message, "name parts of it under [quantities], or pass numbers as data");
        }
        parser
    }

    pub(super) fn peek(&self) -> Token<'a> {
        if self.halted { Token::End } else { self.tokens[self.next].0 }
    }

    /// Goes past a token.
    pub(super) fn step(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    /// Goes past an operator; one that is missing between two values is reported.
    pub(super) fn step_operator(&mut self) {
        if matches!(self.peek(), Token::Operator(_) | Token::Unknown) {
            return self.step();
        }
        if self.peek() == Token::Assign {
            let help = "write `==` to compare".to_owned();
            self.fault(self.span(self.next), "`=` is out of place".to_owned(), Some(help));
            return self.step();
        }
        let before = self.next.saturating_sub(1);
        if self.tokens[before].0 == Token::Unknown {
            return;
        }
        let span = self.span(before).start..self.span(self.next).end;
        let (left, right) = (self.written(before), self.written(self.next));
        let message = format!("there is no operator between `{left}` and `{right}`");
        let help = match self.peek() {
            Token::Not => "write `and not` or `or not`".to_owned(),
            Token::Name(_) if self.written(before).ends_with(|c: char| c.is_ascii_digit()) => {
                format!("write `{left}*{right}` for a product")
            }
            _ => "write `*` for a product".to_owned(),
        };
        self.fault(span, message, Some(help));
    }

    /// Runs a part one level deeper.
    pub(super) fn nest(&mut self, part: impl FnOnce(&mut Self) -> Tree) -> Tree {
        self.nested += 1;
        if self.nested > DEEPEST {
            self.too_deep();
        }
        let tree = part(self);
        self.nested -= 1;
        tree
    }

    pub(super) fn too_deep(&mut self) {
        let message = format!("the formula is nested too deeply: more than {DEEPEST} levels");
        self.halt(message, "name parts of it under [quantities]");
    }

    fn halt(&mut self, message: String, help: &str) {
        self.fault(self.span(self.next), message, Some(help.to_owned()));
        self.halted = true;
    }

    /// A node above others of the given height.
    pub(super) fn node(&mut self, kind: Kind, span: Span, below: usize) -> Tree {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            let message =
                format!("the formula has more than {MOST_NODES} numbers, names and operators");
            self.halt(message, "pass long lists of numbers as data");
        }
        if below >= HIGHEST {
            self.too_deep();
        }
        Tree { ast: Box::new(Ast { kind, span }), height: below + 1 }
    }

    pub(super) fn binary(&mut self, operator: Operator, left: Tree, right: Tree) -> Tree {
        let span = left.ast.span.start..right.ast.span.end.max(left.ast.span.end);
        let below = left.height.max(right.height);
        let (left, right) = (left.ast, right.ast);
        self.node(Kind::Binary { operator, left, right }, span, below)
    }

    /// Stands where a value is missing, in a tree that nobody will see.
    pub(super) fn placeholder(&mut self) -> Tree {
        let place = (self.at)(self.span(self.next).start);
        self.node(Kind::Number(f64::NAN), place..place, 0)
    }

    pub(super) fn missing_value(&mut self) {
        let before = self.next.saturating_sub(1);
        // An empty formula has been reported, as has whatever is unknown.
        if self.tokens.len() == 1 || self.tokens[before].0 == Token::Unknown {
            return;
        }
        let after = self.next > 0 && !matches!(self.peek(), Token::Operator(_) | Token::Assign);
        let (word, place) = if after { ("after", before) } else { ("before", self.next) };
        let message = format!("a value is missing {word} `{}`", self.written(place));
        self.fault(self.span(place), message, None);
    }

    pub(super) fn fault(&mut self, span: Span, message: String, help: Option<String>) {
        if !self.halted {
            self.faults.push(Fault { span, message, help });
        }
    }

    /// A token's place in the text.
    pub(super) fn span(&self, token: usize) -> Span {
        self.tokens[token].1.clone()
    }

    /// A token's place in the file.
    pub(super) fn file_span(&self, token: usize) -> Span {
        let span = &self.tokens[token].1;
        (self.at)(span.start)..(self.at)(span.end)
    }

    /// The end, in the file, of the token last passed.
    pub(super) fn end_of_last(&self) -> usize {
        self.file_span(self.next.saturating_sub(1)).end
    }

    /// A token as it is written.
    pub(super) fn written(&self, token: usize) -> &'a str {
        &self.text[self.tokens[token].1.clone()]
    }
}
