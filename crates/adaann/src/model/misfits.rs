//! Parameters whose support exceeds the range of a distribution's argument.

use super::expression::{Ast, Kind};
use super::names::Meaning;
use super::outline::Outline;
use crate::distribution::{Family, Range};
use crate::target::Edge;

/// A parameter used as an argument whose range it can leave, such as a standard deviation with a
/// normal prior.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The parameter.
    pub parameter: String,
    /// The distribution.
    pub distribution: &'static str,
    /// The argument.
    pub argument: &'static str,
    /// The range of the argument, in words.
    pub range: &'static str,
}

impl Outline {
    /// All misfits in a file, given the bounds of each parameter.
    pub(super) fn misfits(&self, bounds: &[[Edge; 2]]) -> Vec<Misfit> {
        let file = &self.file;
        let priors = file.parameters.iter().filter_map(|parameter| parameter.prior.as_ref());
        let formulas = priors
            .chain(file.quantities.iter().map(|(_, formula)| formula))
            .chain(file.likelihood.iter().map(|(_, formula)| formula))
            .chain(&file.log_likelihood)
            .chain(file.series.iter().flat_map(|series| series.formulas()))
            .chain(&file.density);
        let mut found = Vec::new();
        for formula in formulas {
            each_call(&formula.ast, &mut |name, arguments| {
                let Some(family) = Family::named(name) else { return };
                for (ast, argument) in arguments.iter().zip(family.arguments()) {
                    let Some(Meaning::Parameter(i)) =
                        name_of(ast).and_then(|name| self.names.find(name))
                    else {
                        continue;
                    };
                    let Some([low, high]) = bounds.get(i) else { continue };
                    // A bound that depends on parameters is assumed to be deliberate.
                    let ends = |edge: &Edge, open: f64| {
                        if edge.is_moving() { 0.0 } else { edge.at(&[], open) }
                    };
                    let (low, high) = (ends(low, f64::NEG_INFINITY), ends(high, f64::INFINITY));
                    let leaves = match argument.range {
                        Range::Finite => false,
                        Range::Positive | Range::NotNegative | Range::Count => low < 0.0,
                        Range::UnitInterval => low < 0.0 || high > 1.0,
                    };
                    let misfit = Misfit {
                        parameter: self.parameters[i].name.clone(),
                        distribution: family.name(),
                        argument: argument.name,
                        range: argument.range.in_words(),
                    };
                    if leaves && !found.contains(&misfit) {
                        found.push(misfit);
                    }
                }
            });
        }
        found
    }
}

/// The name, if a formula is a name or an element of one.
fn name_of(ast: &Ast) -> Option<&str> {
    match &ast.kind {
        Kind::Name(name) => Some(name),
        Kind::Index { of, .. } => name_of(of),
        _ => None,
    }
}

/// Calls `see` with every call in a formula: the function and its arguments.
fn each_call(ast: &Ast, see: &mut impl FnMut(&str, &[Ast])) {
    // Use an explicit stack: long sums are deep trees.
    let mut left = vec![ast];
    while let Some(ast) = left.pop() {
        if let Kind::Call { name, arguments, .. } = &ast.kind {
            see(name, arguments);
        }
        left.extend(ast.children());
    }
}
