//! The state of the parser: tokens and their places, limits, and error messages.

use super::ast::{Ast, Fault, Kind, Operator, Span};
use super::lexer::{Token, tokens};

/// Maximum length of a formula in bytes.
const LONGEST: usize = 100_000;
/// Maximum number of nodes in a tree.
const MOST_NODES: usize = 20_000;
/// Maximum nesting depth of parentheses, calls, lists, indices, signs and powers.
const DEEPEST: usize = 100;
/// Maximum height of a tree, and maximum recursion depth of the parser; operators count here too.
pub(super) const HIGHEST: usize = 300;

/// A tree and its height. The tree is boxed because the recursive parser holds many of them on the
/// stack.
pub(super) struct Tree {
    pub(super) ast: Box<Ast>,
    pub(super) height: usize,
}

pub(super) struct Parser<'a, At> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<(Token<'a>, Span)>,
    /// The next token; the last token is `End` and is never consumed.
    pub(super) next: usize,
    /// The closing tokens of the parentheses and brackets around the current position, outermost
    /// first.
    pub(super) open: Vec<Token<'a>>,
    /// Number of active calls of `expression`.
    pub(super) recursion: usize,
    at: &'a At,
    faults: &'a mut Vec<Fault>,
    nested: usize,
    nodes: usize,
    /// A limit was exceeded; the rest of the text is ignored.
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
            parser.halt(message, "define parts of it under [quantities], or pass numbers as data");
        }
        parser
    }

    pub(super) fn peek(&self) -> Token<'a> {
        if self.halted { Token::End } else { self.tokens[self.next].0 }
    }

    /// Consumes a token.
    pub(super) fn step(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    /// Consumes an operator; reports an operator that is missing between two values.
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
        self.halt(message, "define parts of it under [quantities]");
    }

    fn halt(&mut self, message: String, help: &str) {
        self.fault(self.span(self.next), message, Some(help.to_owned()));
        self.halted = true;
    }

    /// Creates a node above subtrees of the given height.
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

    /// Stands in for a missing value, in a tree that is never used.
    pub(super) fn placeholder(&mut self) -> Tree {
        let place = (self.at)(self.span(self.next).start);
        self.node(Kind::Number(f64::NAN), place..place, 0)
    }

    pub(super) fn missing_value(&mut self) {
        let before = self.next.saturating_sub(1);
        // An empty formula and unknown tokens have been reported.
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

    /// A token's span in the text.
    pub(super) fn span(&self, token: usize) -> Span {
        self.tokens[token].1.clone()
    }

    /// A token's span in the file.
    pub(super) fn file_span(&self, token: usize) -> Span {
        let span = &self.tokens[token].1;
        (self.at)(span.start)..(self.at)(span.end)
    }

    /// The end of the last consumed token, in the file.
    pub(super) fn end_of_last(&self) -> usize {
        self.file_span(self.next.saturating_sub(1)).end
    }

    /// The text of a token.
    pub(super) fn written(&self, token: usize) -> &'a str {
        &self.text[self.tokens[token].1.clone()]
    }
}
