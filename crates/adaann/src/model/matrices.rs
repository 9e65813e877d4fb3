//! Matrix functions in formulas: products, factors, and functions that build matrices.

use super::elements::transposed;
use super::evaluate::{Evaluator, MOST_NUMBERS};
use super::expression::{Ast, Span};
use super::matrix_functions::MatrixFunction;
use super::scope::Place;
use super::value::{Value, constants};
use crate::distribution::factor_of;
use crate::program::{
    Expr, Way, cholesky, in_triangle, lower_times, solve_lower, solve_lower_transposed, times,
};

/// Maximum number of rows of a matrix that is built or factorised; the second limit holds in models
/// with differential equations, where its elements are computed one by one.
const MOST_ROWS: usize = 200;
const MOST_ROWS_UNROLLED: usize = 32;

/// A matrix, row by row.
pub(super) type Rows<'g> = Vec<Vec<Expr<'g>>>;

impl<'g> Evaluator<'_, 'g> {
    /// How matrix functions are recorded here.
    pub(super) fn way(&self) -> Way {
        if self.place == Place::Rate || !self.scope.states.is_empty() {
            Way::Unrolled
        } else {
            Way::Dense
        }
    }

    pub(super) fn matrix_function(
        &mut self,
        whole: &Ast,
        function: MatrixFunction,
        arguments: &[Ast],
    ) -> Value<'g> {
        use MatrixFunction::*;
        let value = match (function, arguments) {
            (MatMul, [a, b]) => {
                let values = [self.evaluate(a), self.evaluate(b)];
                Some(self.product(values, [&a.span, &b.span, &whole.span]))
            }
            (Transpose, [a]) => self.matrix(a).map(|rows| Value::Matrix(transposed(&rows))),
            (Diag, [x]) => self.diagonal(x),
            (AddDiag, [a, x]) => self.add_to_diagonal(a, x),
            (Outer, [x, y]) => self.outer(whole, x, y),
            (Identity, [n]) => self.identity(n),
            (Trace, [a]) => self.square(a).map(|rows| Value::Number(diagonal(&rows).iter().sum())),
            (Cholesky, [a]) => self.square(a).and_then(|rows| {
                let (l, n) = (self.factor(a, &rows)?, rows.len());
                Some(Value::Matrix(lower_rows(&l, n)))
            }),
            (LogDet, [a]) => self.square(a).and_then(|rows| {
                let l = self.factor(a, &rows)?;
                let logs: Expr<'g> = (0..rows.len()).map(|i| l[in_triangle(i, i)].ln()).sum();
                Some(Value::Number(2.0 * logs))
            }),
            (Solve, [a, b]) => self.solve(whole, a, b),
            (Concat, [_, ..]) => self.concat(whole, arguments),
            (Range, [first, last]) => self.range(whole, first, last),
            (CovExpQuad | CovMatern32 | CovMatern52 | CovPeriodic, [_, _, _, ..]) => {
                self.covariance_function(whole, function, arguments)
            }
            _ => Some(self.wrong_count(whole, function.usage(), arguments.len())),
        };
        value.unwrap_or(Value::Unknown)
    }

    /// The rows of a formula that must be a matrix.
    pub(super) fn matrix(&mut self, ast: &Ast) -> Option<Rows<'g>> {
        match self.evaluate(ast) {
            Value::Matrix(rows) => Some(rows),
            Value::Unknown => None,
            other => {
                let message = format!("expected a matrix, found {}", other.kind());
                let help = "a matrix is a list of rows: [[2, 0.5], [0.5, 1]]".to_owned();
                self.fault(&ast.span, message, Some(help));
                None
            }
        }
    }

    /// The rows of a formula that must be a square matrix and not too large.
    pub(super) fn square(&mut self, ast: &Ast) -> Option<Rows<'g>> {
        let rows = self.matrix(ast)?;
        self.is_square(&rows, &ast.span).then_some(rows)
    }

    /// Reports a matrix that is not square or too large.
    pub(super) fn is_square(&mut self, rows: &Rows<'g>, span: &Span) -> bool {
        if rows.iter().any(|row| row.len() != rows.len()) {
            let found = Value::Matrix(rows.clone()).kind();
            self.fault(span, format!("expected a square matrix, found {found}"), None);
            return false;
        }
        self.may_have_rows(rows.len(), span)
    }

    /// Reports a matrix that would be too large.
    pub(super) fn may_have_rows(&mut self, n: usize, span: &Span) -> bool {
        let (most, where_) = match self.way() {
            Way::Dense => (MOST_ROWS, ""),
            Way::Unrolled => (MOST_ROWS_UNROLLED, " in models with differential equations"),
        };
        if n > most {
            let message =
                format!("a matrix of {n} × {n} is too large: at most {most} rows{where_}");
            self.fault(span, message, None);
        }
        n <= most
    }

    /// Subtracts the values that a function will compute from the remaining budget; reports an
    /// exceeded budget.
    fn spend(&mut self, numbers: usize, span: &Span) -> bool {
        let left = self.scope.budget.unwrap_or(MOST_NUMBERS);
        if numbers >= left {
            let message = format!("the model has more than {MOST_NUMBERS} numbers to compute");
            self.fault(span, message, Some("use smaller matrices or shorter vectors".to_owned()));
            return false;
        }
        self.scope.budget = self.scope.budget.map(|left| left - numbers);
        true
    }

    /// Applies a function to pairs of elements; a number is paired with every element.
    pub(super) fn pair_of_matrices(
        &mut self,
        a: Value<'g>,
        b: Value<'g>,
        whole: &Span,
        function: impl Fn(Expr<'g>, Expr<'g>) -> Expr<'g>,
    ) -> Value<'g> {
        let function = &function;
        match (a, b) {
            (Value::Matrix(a), Value::Number(b)) => {
                Value::Matrix(each(a, |_, _, x| function(x, b)))
            }
            (Value::Number(a), Value::Matrix(b)) => {
                Value::Matrix(each(b, |_, _, x| function(a, x)))
            }
            (Value::Matrix(a), Value::Matrix(b))
                if a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.len() == b.len()) =>
            {
                Value::Matrix(each(a, |i, j, x| function(x, b[i][j])))
            }
            (a, b) => self.no_fit(&a, &b, whole),
        }
    }

    /// Reports two shapes that cannot be combined.
    fn no_fit(&mut self, a: &Value<'g>, b: &Value<'g>, span: &Span) -> Value<'g> {
        let message = format!("cannot combine {} with {}", a.kind(), b.kind());
        let is_vector = |value: &Value<'_>| matches!(value, Value::Vector(_));
        let help = (is_vector(a) || is_vector(b))
            .then(|| "`A @ x` is the product of a matrix and a vector".to_owned());
        self.fault(span, message, help);
        Value::Unknown
    }

    /// A @ B
    pub(super) fn product(&mut self, [a, b]: [Value<'g>; 2], spans: [&Span; 3]) -> Value<'g> {
        let [a_span, b_span, whole] = spans;
        match (&a, &b) {
            (Value::Unknown, _) | (_, Value::Unknown) => Value::Unknown,
            (Value::Matrix(rows), Value::Vector(x)) if width(rows) == x.len() => {
                if let Some(l) = lower_triangle(rows) {
                    return Value::Vector(lower_times(&l, x, self.way()));
                }
                if !self.spend(rows.len() * x.len(), whole) {
                    return Value::Unknown;
                }
                Value::Vector(rows.iter().map(|row| dot(row, x)).collect())
            }
            (Value::Vector(x), Value::Matrix(rows)) if rows.len() == x.len() => {
                if !self.spend(x.len() * width(rows), whole) {
                    return Value::Unknown;
                }
                Value::Vector(transposed(rows).iter().map(|column| dot(x, column)).collect())
            }
            (Value::Matrix(a), Value::Matrix(b)) if width(a) == b.len() => {
                if !self.spend(a.len() * b.len() * width(b), whole) {
                    return Value::Unknown;
                }
                let columns = transposed(b);
                let row = |row: &Vec<Expr<'g>>| columns.iter().map(|c| dot(row, c)).collect();
                Value::Matrix(a.iter().map(row).collect())
            }
            (Value::Vector(x), Value::Vector(y)) if x.len() == y.len() => Value::Number(dot(x, y)),
            (Value::Matrix(_) | Value::Vector(_), Value::Matrix(_) | Value::Vector(_)) => {
                let message = format!("{} cannot be multiplied by {}", a.kind(), b.kind());
                let help = "the left side must have as many columns as the right side has rows";
                self.fault(whole, message, Some(help.to_owned()));
                Value::Unknown
            }
            (Value::Matrix(_) | Value::Vector(_), other) => self.no_matrix(other, b_span),
            (other, _) => self.no_matrix(other, a_span),
        }
    }

    fn no_matrix(&mut self, value: &Value<'g>, span: &Span) -> Value<'g> {
        let help = matches!(value, Value::Number(_))
            .then(|| "write `*` to multiply by a number".to_owned());
        let message = format!("expected a matrix or a vector, found {}", value.kind());
        self.fault(span, message, help);
        Value::Unknown
    }

    fn diagonal(&mut self, ast: &Ast) -> Option<Value<'g>> {
        match self.evaluate(ast) {
            Value::Vector(x) => {
                self.may_have_rows(x.len(), &ast.span).then(|| Value::Matrix(from_diagonal(&x)))
            }
            Value::Matrix(rows) => Some(Value::Vector(diagonal(&rows))),
            Value::Unknown => None,
            other => Some(self.no_matrix(&other, &ast.span)),
        }
    }

    fn add_to_diagonal(&mut self, a: &Ast, x: &Ast) -> Option<Value<'g>> {
        let (rows, added) = (self.square(a), self.evaluate(x));
        let rows = rows?;
        match &added {
            Value::Number(_) => {}
            Value::Vector(elements) if elements.len() == rows.len() => {}
            Value::Unknown => return None,
            Value::Vector(_) => {
                let message =
                    format!("cannot combine {} with {}", Value::Matrix(rows).kind(), added.kind());
                self.fault(&x.span, message, None);
                return None;
            }
            other => return Some(self.no_numbers(other, &x.span)),
        }
        let plus = |i: usize, j: usize, value: Expr<'g>| match added.element(i) {
            Some(x) if i == j => value + x,
            _ => value,
        };
        Some(Value::Matrix(each(rows, plus)))
    }

    fn outer(&mut self, whole: &Ast, x: &Ast, y: &Ast) -> Option<Value<'g>> {
        let values = [self.evaluate(x), self.evaluate(y)];
        let left = self.vector(&values[0], &x.span);
        let right = self.vector(&values[1], &y.span);
        let (x, y) = left.zip(right)?;
        self.spend(x.len().saturating_mul(y.len()), &whole.span).then(|| {
            let row = |x: &Expr<'g>| y.iter().map(|&y| times(*x, y)).collect();
            Value::Matrix(x.iter().map(row).collect())
        })
    }

    fn identity(&mut self, n: &Ast) -> Option<Value<'g>> {
        let n = self.whole_number(n, 1.0)?;
        Some(Value::Matrix(from_diagonal(&vec![1.0.into(); n])))
    }

    /// A constant that is a whole number, at least `least`.
    fn whole_number(&mut self, ast: &Ast, least: f64) -> Option<usize> {
        let number = self.number(ast)?;
        match number.as_constant() {
            Some(n) if n.fract() == 0.0 && n >= least && n <= f64::from(u32::MAX) => {
                self.may_have_rows(n as usize, &ast.span).then_some(n as usize)
            }
            Some(n) => {
                let message = format!("the size is {n}, but must be a whole number from {least}");
                self.fault(&ast.span, message, None);
                None
            }
            None => {
                self.fault(&ast.span, "a size must be a constant", None);
                None
            }
        }
    }

    /// The lower triangle of a symmetric matrix.
    pub(super) fn symmetric(&mut self, ast: &Ast, rows: &Rows<'g>) -> Option<Vec<Expr<'g>>> {
        for i in 0..rows.len() {
            for j in 0..i {
                let pair = (rows[i][j].as_constant(), rows[j][i].as_constant());
                if let (Some(a), Some(b)) = pair
                    && (a - b).abs() > 1e-10 * (a.abs() + b.abs())
                {
                    let message = format!(
                        "the matrix is not symmetric in row {} and column {}",
                        i + 1,
                        j + 1
                    );
                    self.fault(&ast.span, message, None);
                    return None;
                }
            }
        }
        Some(lower_of(rows))
    }

    /// The Cholesky factor of a symmetric matrix; a constant matrix without one is a mistake.
    pub(super) fn factor(&mut self, ast: &Ast, rows: &Rows<'g>) -> Option<Vec<Expr<'g>>> {
        let n = rows.len();
        if let Some(plain) = constants(&rows.concat())
            && !self.names.reach(ast).parameters
        {
            return match factor_of(n, &plain) {
                Ok(factor) => Some(factor.into_iter().map(Expr::from).collect()),
                Err(error) => {
                    self.fault(&ast.span, error.to_string(), None);
                    None
                }
            };
        }
        let symmetric = self.symmetric(ast, rows)?;
        Some(cholesky(&symmetric, n, self.way()))
    }

    fn solve(&mut self, whole: &Ast, a: &Ast, b: &Ast) -> Option<Value<'g>> {
        let (rows, right) = (self.square(a), self.evaluate(b));
        let rows = rows?;
        let columns = match &right {
            Value::Vector(x) if x.len() == rows.len() => vec![x.clone()],
            Value::Matrix(b) if b.len() == rows.len() => transposed(b),
            Value::Unknown => return None,
            other => return Some(self.no_fit(&Value::Matrix(rows), other, &whole.span)),
        };
        if !self.spend(columns.len() * rows.len() * rows.len(), &whole.span) {
            return None;
        }
        let solved: Vec<Vec<Expr<'g>>> = if let Some(l) = lower_triangle(&rows) {
            columns.iter().map(|x| solve_lower(&l, x)).collect()
        } else if let Some(l) = lower_triangle(&transposed(&rows)) {
            columns.iter().map(|x| solve_lower_transposed(&l, x)).collect()
        } else {
            let l = self.factor(a, &rows)?;
            columns.iter().map(|x| solve_lower_transposed(&l, &solve_lower(&l, x))).collect()
        };
        Some(match right {
            Value::Matrix(_) => Value::Matrix(transposed(&solved)),
            _ => Value::Vector(solved.into_iter().next()?),
        })
    }

    fn concat(&mut self, whole: &Ast, arguments: &[Ast]) -> Option<Value<'g>> {
        let values: Vec<Value<'g>> = arguments.iter().map(|ast| self.evaluate(ast)).collect();
        let (mut numbers, mut rows, mut is_known) = (Vec::new(), Vec::new(), true);
        for (value, ast) in values.into_iter().zip(arguments) {
            match value {
                Value::Number(x) => numbers.push(x),
                Value::Vector(x) => numbers.extend(x),
                Value::Matrix(own) => rows.extend(own),
                Value::Unknown => is_known = false,
                other => {
                    self.no_numbers(&other, &ast.span);
                    is_known = false;
                }
            }
        }
        let fits = rows.windows(2).all(|pair| pair[0].len() == pair[1].len());
        match (is_known, rows.is_empty(), numbers.is_empty()) {
            (false, ..) => None,
            (_, true, _) => Some(Value::Vector(numbers)),
            (_, _, true) if fits => Some(Value::Matrix(rows)),
            _ => {
                let message = "concat joins vectors, or matrices with the same number of columns";
                self.fault(&whole.span, message, None);
                None
            }
        }
    }

    fn range(&mut self, whole: &Ast, first: &Ast, last: &Ast) -> Option<Value<'g>> {
        let ends = (self.number(first), self.number(last));
        let (first, last) = ends.0.zip(ends.1)?;
        let (Some(first), Some(last)) = (first.as_constant(), last.as_constant()) else {
            self.fault(&whole.span, "the ends of a range must be constants", None);
            return None;
        };
        let is_whole = first.fract() == 0.0 && last.fract() == 0.0;
        if !is_whole || first > last || last - first >= MOST_NUMBERS as f64 {
            let message = format!("invalid range from {first} to {last}");
            let help = format!(
                "the ends must be whole numbers, the smaller first, less than {MOST_NUMBERS} apart"
            );
            self.fault(&whole.span, message, Some(help));
            return None;
        }
        let count = (last - first) as usize + 1;
        self.spend(count, &whole.span)
            .then(|| Value::Vector((0..count).map(|i| (first + i as f64).into()).collect()))
    }
}

/// Σ x y, without terms that are zero.
fn dot<'g>(x: &[Expr<'g>], y: &[Expr<'g>]) -> Expr<'g> {
    x.iter().zip(y).map(|(&x, &y)| times(x, y)).sum()
}

fn width(rows: &Rows<'_>) -> usize {
    rows.first().map_or(0, Vec::len)
}

fn each<'g>(rows: Rows<'g>, f: impl Fn(usize, usize, Expr<'g>) -> Expr<'g>) -> Rows<'g> {
    let row = |(i, row): (usize, Vec<Expr<'g>>)| {
        row.into_iter().enumerate().map(|(j, x)| f(i, j, x)).collect()
    };
    rows.into_iter().enumerate().map(row).collect()
}

fn diagonal<'g>(rows: &Rows<'g>) -> Vec<Expr<'g>> {
    rows.iter().enumerate().filter_map(|(i, row)| row.get(i).copied()).collect()
}

fn from_diagonal<'g>(x: &[Expr<'g>]) -> Rows<'g> {
    let element = |i: usize, j: usize| if i == j { x[i] } else { 0.0.into() };
    (0..x.len()).map(|i| (0..x.len()).map(|j| element(i, j)).collect()).collect()
}

/// The lower triangle of a square matrix, row by row.
fn lower_of<'g>(rows: &Rows<'g>) -> Vec<Expr<'g>> {
    rows.iter().enumerate().flat_map(|(i, row)| row[..=i].to_vec()).collect()
}

/// The lower triangle of a square matrix, if everything above its diagonal is zero.
pub(super) fn lower_triangle<'g>(rows: &Rows<'g>) -> Option<Vec<Expr<'g>>> {
    let is_zero = |x: &Expr<'g>| x.as_constant() == Some(0.0);
    let is_lower = |(i, row): (usize, &Vec<Expr<'g>>)| {
        row.len() == rows.len() && row[i + 1..].iter().all(is_zero)
    };
    rows.iter().enumerate().all(is_lower).then(|| lower_of(rows))
}

/// A lower triangle as a matrix with zeros above the diagonal.
pub(super) fn lower_rows<'g>(l: &[Expr<'g>], n: usize) -> Rows<'g> {
    let element = |i: usize, j: usize| if j <= i { l[in_triangle(i, j)] } else { 0.0.into() };
    (0..n).map(|i| (0..n).map(|j| element(i, j)).collect()).collect()
}
