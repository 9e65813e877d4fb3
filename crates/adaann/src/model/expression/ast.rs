//! The syntax tree of a formula, and the precedence of operators.

/// A range of bytes.
pub(crate) type Span = std::ops::Range<usize>;

/// The syntax tree of a formula. Its height is limited, so that recursion cannot overflow the
/// stack.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ast {
    pub kind: Kind,
    /// Its place in the file, including surrounding parentheses.
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Number(f64),
    Name(String),
    Call {
        name: String,
        name_span: Span,
        arguments: Vec<Ast>,
    },
    /// A named argument; it occurs only in calls.
    Named {
        name: String,
        value: Box<Ast>,
    },
    Index {
        of: Box<Ast>,
        indices: Vec<Ast>,
    },
    /// first:last as an index; either end may be missing.
    Range {
        first: Option<Box<Ast>>,
        last: Option<Box<Ast>>,
    },
    List(Vec<Ast>),
    Negate(Box<Ast>),
    Not(Box<Ast>),
    Binary {
        operator: Operator,
        left: Box<Ast>,
        right: Box<Ast>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// The product of matrices and vectors.
    MatMul,
    Power,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// The precedence of operators; later levels bind tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Negation,
    Power,
    /// Numbers, names, calls, lists and expressions in parentheses.
    Whole,
}

impl Level {
    /// The next tighter level.
    pub(crate) fn tighter(self) -> Self {
        match self {
            Level::Or => Level::And,
            Level::And => Level::Not,
            Level::Not => Level::Comparison,
            Level::Comparison => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product => Level::Negation,
            Level::Negation => Level::Power,
            Level::Power | Level::Whole => Level::Whole,
        }
    }
}

impl Operator {
    pub(crate) fn level(self) -> Level {
        use Operator::*;
        match self {
            Or => Level::Or,
            And => Level::And,
            Less | LessOrEqual | Greater | GreaterOrEqual | Equal | NotEqual => Level::Comparison,
            Add | Subtract => Level::Sum,
            Multiply | Divide | MatMul => Level::Product,
            Power => Level::Power,
        }
    }

    /// The symbol in formulas.
    pub(crate) fn symbol(self) -> &'static str {
        use Operator::*;
        match self {
            Add => "+",
            Subtract => "-",
            Multiply => "*",
            Divide => "/",
            MatMul => "@",
            Power => "^",
            Less => "<",
            LessOrEqual => "<=",
            Greater => ">",
            GreaterOrEqual => ">=",
            Equal => "==",
            NotEqual => "!=",
            And => "and",
            Or => "or",
        }
    }
}

impl Ast {
    /// The precedence of the outermost operator.
    pub(crate) fn level(&self) -> Level {
        match &self.kind {
            Kind::Binary { operator, .. } => operator.level(),
            Kind::Negate(_) => Level::Negation,
            Kind::Not(_) => Level::Not,
            _ => Level::Whole,
        }
    }

    /// The direct subexpressions.
    pub(crate) fn children(&self) -> Vec<&Ast> {
        match &self.kind {
            Kind::Number(_) | Kind::Name(_) => Vec::new(),
            Kind::Call { arguments: items, .. } | Kind::List(items) => items.iter().collect(),
            Kind::Index { of, indices } => std::iter::once(&**of).chain(indices).collect(),
            Kind::Range { first, last } => first.iter().chain(last).map(|x| &**x).collect(),
            Kind::Negate(x) | Kind::Not(x) | Kind::Named { value: x, .. } => vec![x],
            Kind::Binary { left, right, .. } => vec![left, right],
        }
    }
}

/// A mistake in a formula.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}
