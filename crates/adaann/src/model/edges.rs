//! Bounds of parameters that depend on earlier parameters.

use super::diagnostic::Report;
use super::evaluate::Evaluator;
use super::expression::Fault;
use super::file::Formula;
use super::names::Meaning;
use super::outline::Outline;
use super::parameter::Parameter;
use super::scope::Place;
use super::value::Value;
use crate::program::{Expr, Graph};
use crate::target::{Edge, Support};
use std::cell::RefCell;

impl Outline {
    /// A bound of the next parameter, after those that are laid out; open if it is missing or cannot be
    /// used.
    pub(super) fn edge(
        &self,
        given: &Option<Formula>,
        above: &[Parameter],
        report: &mut Report,
    ) -> Edge {
        let Some(formula) = given else { return Edge::Open };
        if !self.names.reach(&formula.ast).parameters {
            return self.plain_number(formula, report).map_or(Edge::Open, Edge::new);
        }
        let mut faults = Vec::new();
        let edge = self.moving_edge(formula, above, &mut faults);
        self.say(faults, report);
        edge.unwrap_or(Edge::Open)
    }

    fn moving_edge(
        &self,
        formula: &Formula,
        above: &[Parameter],
        faults: &mut Vec<Fault>,
    ) -> Option<Edge> {
        let refuse = |message: &str, help: &str, faults: &mut Vec<Fault>| {
            let (span, help) = (formula.span.clone(), Some(help.to_owned()));
            faults.push(Fault { span, message: message.to_owned(), help });
            None
        };
        let mut later = None;
        self.each_meaning(&formula.ast, &mut |meaning| match meaning {
            Meaning::Parameter(i) if i >= above.len() => later = later.or(Some(i)),
            _ => {}
        });
        if let Some(later) = later {
            let name = &self.file.parameters[later].name.text;
            let own = &self.file.parameters[above.len()].name.text;
            let message = format!("a bound of `{own}` cannot depend on `{name}`");
            return refuse(&message, "it can depend only on parameters defined above it", faults);
        }
        if self.names.reach(&formula.ast).is_of_rows() {
            let message = "a bound cannot differ between the rows of the data";
            return refuse(
                message,
                "it can depend only on constants and on parameters defined above it",
                faults,
            );
        }
        let graph = RefCell::new(Graph::new());
        let count = above.last().map_or(0, |last| last.first + last.coordinates());
        let theta: Vec<Expr<'_>> = (0..count).map(|d| Expr::input(&graph, d as u32)).collect();
        let mut scope = self.scope(&[]);
        scope.parameters = vec![Value::Unknown; self.file.parameters.len()];
        for (value, parameter) in scope.parameters.iter_mut().zip(above) {
            *value = parameter.value(&theta);
        }
        self.evaluate_quantities(&mut scope, &mut Vec::new(), |reach| !reach.is_of_rows());
        let known = faults.len();
        let (names, place, gather) = (&self.names, Place::Shared, None);
        let value = Evaluator { names, scope: &mut scope, place, faults: &mut *faults, gather }
            .evaluate(&formula.ast);
        match value {
            _ if faults.len() > known => None,
            Value::Unknown => None,
            Value::Number(x) => match x.as_affine(&graph) {
                Some((terms, offset)) if terms.is_empty() => Some(Edge::new(offset)),
                Some((terms, offset)) => Some(Edge::Beside { offset, terms }),
                None => {
                    let message = "a bound must be a linear function of parameters";
                    let help = "for another bound, define a parameter `u` between 0 and 1 and a \
                                quantity: x = \"low + u * (high - low)\"";
                    refuse(message, help, faults)
                }
            },
            other => {
                let message = format!("a bound must be a number, found {}", other.kind());
                refuse(&message, "choose one element, as in a[1]", faults)
            }
        }
    }

    /// An error message if two bounds can cross: if some values of the earlier parameters, which live on
    /// `supports`, leave nothing between them.
    pub(super) fn no_room(&self, low: &Edge, high: &Edge, supports: &[Support]) -> Option<String> {
        if !low.is_moving() && !high.is_moving() {
            return None;
        }
        let (terms, offset) = linear(low, -1.0, linear(high, 1.0, (Vec::new(), 0.0))?)?;
        let (least, place) = self.least(&terms, offset, supports)?;
        let place = if terms.is_empty() { String::new() } else { format!(" where {place}") };
        let is_crossed = least < 0.0 || terms.is_empty() && least == 0.0;
        is_crossed.then(|| format!("lower and upper leave no room between them{place}"))
    }

    /// The infimum of a parameter's lower bound and the supremum of its upper bound; +∞ and −∞ where they
    /// are not known.
    pub(super) fn reach_of_bounds(&self, parameter: &Parameter, supports: &[Support]) -> [f64; 2] {
        let least = |edge: &Edge, sign: f64| {
            let (terms, offset) = linear(edge, sign, (Vec::new(), 0.0))?;
            Some(sign * self.least(&terms, offset, supports)?.0)
        };
        let low = least(&parameter.low, 1.0).unwrap_or(f64::INFINITY);
        [low, least(&parameter.high, -1.0).unwrap_or(f64::NEG_INFINITY)]
    }

    /// The infimum of a linear combination of parameters, and where it is attained, in words; None if the
    /// parameters depend on each other.
    fn least(
        &self,
        terms: &[(usize, f64)],
        offset: f64,
        supports: &[Support],
    ) -> Option<(f64, String)> {
        let names: Vec<String> =
            self.parameters.iter().flat_map(Parameter::coordinate_names).collect();
        let (mut least, mut words) = (offset, Vec::new());
        for &(of, factor) in terms {
            let is_alone = matches!(
                supports[of],
                Support::Real | Support::Above(_) | Support::Below(_) | Support::Between(..)
            );
            if !is_alone {
                return None;
            }
            let [low, high] = supports[of].bounds();
            let end = if factor > 0.0 { low } else { high };
            least += factor * end;
            words.push(match end {
                f64::INFINITY => format!("`{}` is large", names[of]),
                f64::NEG_INFINITY => format!("`{}` is far below 0", names[of]),
                _ => format!("`{}` is near {end}", names[of]),
            });
        }
        Some((least, words.join(" and ")))
    }
}

/// Adds a multiple of a bound to a linear combination of parameters; None if the bound is open.
fn linear(
    edge: &Edge,
    factor: f64,
    (mut terms, offset): (Vec<(usize, f64)>, f64),
) -> Option<(Vec<(usize, f64)>, f64)> {
    match edge {
        Edge::Open => None,
        Edge::At(at) => Some((terms, offset + factor * at)),
        Edge::Beside { offset: own, terms: more } => {
            for &(of, own) in more {
                match terms.iter_mut().find(|(known, _)| *known == of) {
                    Some((_, sum)) => *sum += factor * own,
                    None => terms.push((of, factor * own)),
                }
            }
            terms.retain(|(_, factor)| *factor != 0.0);
            Some((terms, offset + factor * own))
        }
    }
}

/// A bound as an expression; None if it is open.
pub(super) fn expression<'g>(edge: &Edge, theta: &[Expr<'g>]) -> Option<Expr<'g>> {
    match edge {
        Edge::Open => None,
        Edge::At(bound) => Some((*bound).into()),
        Edge::Beside { offset, terms } => {
            let sum: Expr<'g> = terms.iter().map(|&(of, factor)| factor * theta[of]).sum();
            Some(*offset + sum)
        }
    }
}
