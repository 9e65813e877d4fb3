//! Covariance functions, and distributions with a covariance.

use super::evaluate::Evaluator;
use super::expression::Ast;
use super::matrices::{Rows, lower_triangle};
use super::matrix_functions::MatrixFunction;
use super::value::{Law, Value, constants};
use crate::distribution::Spread;
use crate::program::{CovarianceKind, CovarianceSettings, Expr, Way, covariances};
use std::collections::HashMap;

impl<'g> Evaluator<'_, 'g> {
    /// The matrix of a covariance function between points, which are numbers or rows of a matrix.
    pub(super) fn covariance_function(
        &mut self,
        whole: &Ast,
        function: MatrixFunction,
        arguments: &[Ast],
    ) -> Option<Value<'g>> {
        let (kind, settings) = match function {
            MatrixFunction::CovMatern32 => (CovarianceKind::Matern32, 2),
            MatrixFunction::CovMatern52 => (CovarianceKind::Matern52, 2),
            MatrixFunction::CovPeriodic => (CovarianceKind::Periodic, 3),
            _ => (CovarianceKind::ExpQuad, 2),
        };
        let (points, numbers) = arguments.split_first()?;
        if numbers.len() != settings && numbers.len() != settings + 1 {
            return Some(self.wrong_count(whole, function.usage(), arguments.len()));
        }
        let points_value = self.evaluate(points);
        let numbers: Vec<Option<Expr<'g>>> = numbers.iter().map(|ast| self.number(ast)).collect();
        let numbers: Vec<Expr<'g>> = numbers.into_iter().collect::<Option<_>>()?;
        let points: Rows<'g> = match points_value {
            Value::Vector(x) if !x.is_empty() => {
                self.may_have_rows(x.len(), &points.span).then_some(())?;
                x.into_iter().map(|x| vec![x]).collect()
            }
            Value::Matrix(rows) if !rows.is_empty() => {
                self.may_have_rows(rows.len(), &points.span).then_some(())?;
                rows
            }
            Value::Unknown => return None,
            other => {
                let message = format!(
                    "expected points (a vector, or a matrix with one row per point), found {}",
                    other.kind()
                );
                self.fault(&points.span, message, None);
                return None;
            }
        };
        let alpha = numbers[0];
        let settings = CovarianceSettings {
            variance: alpha.square(),
            length_scale: numbers[1],
            period: (kind == CovarianceKind::Periodic).then(|| numbers[2]),
        };
        let jitter = numbers.get(if settings.period.is_some() { 3 } else { 2 });
        let on_diagonal = settings.variance + jitter.copied().unwrap_or_else(|| 0.0.into());
        Some(Value::Matrix(matrix(kind, settings, &points, on_diagonal, self.way())))
    }

    /// multi_normal(mean, covariance)
    pub(super) fn multi_normal(&mut self, whole: &Ast, arguments: &[Ast]) -> Value<'g> {
        let [mean, covariance] = arguments else {
            return self.wrong_count(whole, "multi_normal(mean, covariance)", arguments.len());
        };
        let (mean_value, rows) = (self.evaluate(mean), self.square(covariance));
        let Some(rows) = rows else { return Value::Unknown };
        let Some(mean) = self.mean_of(mean_value, mean, rows.len(), covariance) else {
            return Value::Unknown;
        };
        // Factorise constants once, and also matrices that are the same for all rows of the data.
        let is_constant = constants(&rows.concat()).is_some();
        let spread = if is_constant || self.place.is_at_row() {
            self.factor(covariance, &rows).map(Spread::Factor)
        } else {
            self.symmetric(covariance, &rows).map(Spread::Covariance)
        };
        match spread {
            Some(spread) => Value::Law(Law::MultiNormal { mean, spread, way: self.way() }),
            None => Value::Unknown,
        }
    }

    /// multi_normal_cholesky(mean, L)
    pub(super) fn multi_normal_cholesky(&mut self, whole: &Ast, arguments: &[Ast]) -> Value<'g> {
        let [mean, factor] = arguments else {
            return self.wrong_count(whole, "multi_normal_cholesky(mean, L)", arguments.len());
        };
        let (mean_value, rows) = (self.evaluate(mean), self.square(factor));
        let Some(rows) = rows else { return Value::Unknown };
        let Some(mean) = self.mean_of(mean_value, mean, rows.len(), factor) else {
            return Value::Unknown;
        };
        let Some(l) = lower_triangle(&rows) else {
            let message =
                "a Cholesky factor must be lower-triangular, with zeros above the diagonal";
            let help = "cholesky(covariance) computes it".to_owned();
            self.fault(&factor.span, message, Some(help));
            return Value::Unknown;
        };
        Value::Law(Law::MultiNormal { mean, spread: Spread::Factor(l), way: self.way() })
    }

    /// lkj(eta) and lkj_cholesky(eta)
    pub(super) fn lkj(&mut self, whole: &Ast, name: &str, arguments: &[Ast]) -> Value<'g> {
        let [eta] = arguments else {
            return self.wrong_count(whole, &format!("{name}(eta)"), arguments.len());
        };
        let Some(value) = self.number(eta) else { return Value::Unknown };
        if let Some(plain) = value.as_constant()
            && !(plain > 0.0 && plain.is_finite())
        {
            let message = format!("eta of {name} is {plain}, but must be positive and finite");
            self.fault(&eta.span, message, None);
            return Value::Unknown;
        }
        Value::Law(Law::Lkj { eta: value, is_factor: name == "lkj_cholesky" })
    }

    /// A mean of n numbers; a single number stands for all of them.
    fn mean_of(
        &mut self,
        value: Value<'g>,
        ast: &Ast,
        n: usize,
        matrix: &Ast,
    ) -> Option<Vec<Expr<'g>>> {
        let mean = match value {
            Value::Number(x) => vec![x; n],
            value => self.vector(&value, &ast.span)?,
        };
        if mean.len() != n {
            let message =
                format!("the matrix has {n} rows, but the mean has {} elements", mean.len());
            self.fault(&matrix.span, message, None);
            return None;
        }
        Some(mean)
    }
}

/// The matrix of a covariance function; equal distances share one node.
fn matrix<'g>(
    kind: CovarianceKind,
    settings: CovarianceSettings<'g>,
    points: &Rows<'g>,
    on_diagonal: Expr<'g>,
    way: Way,
) -> Rows<'g> {
    let n = points.len();
    let mut distances: Vec<Expr<'g>> = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    let mut places = vec![vec![0; n]; n];
    for i in 0..n {
        for j in 0..i {
            let distance = between(&points[i], &points[j]);
            let new = distances.len();
            let place = match distance.as_constant() {
                Some(d) => *known.entry(d.to_bits()).or_insert(new),
                None => new,
            };
            if place == new {
                distances.push(distance);
            }
            (places[i][j], places[j][i]) = (place, place);
        }
    }
    let values = covariances(kind, settings, &distances, way);
    let element = |i: usize, j: usize| if i == j { on_diagonal } else { values[places[i][j]] };
    (0..n).map(|i| (0..n).map(|j| element(i, j)).collect()).collect()
}

/// The distance between two points.
fn between<'g>(a: &[Expr<'g>], b: &[Expr<'g>]) -> Expr<'g> {
    match (a, b) {
        ([a], [b]) => (*a - *b).abs(),
        _ => a.iter().zip(b).map(|(&a, &b)| (a - b).square()).sum::<Expr<'g>>().sqrt(),
    }
}
