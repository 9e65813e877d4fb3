//! Parameters that live where a distribution's argument cannot be.

use super::expression::{Ast, Kind};
use super::names::Meaning;
use super::outline::Outline;
use crate::distribution::{Family, Range};
use crate::target::Edge;

/// A parameter as an argument whose range it leaves: a normal prior of a standard deviation, say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The parameter.
    pub parameter: String,
    /// What it is an argument of.
    pub distribution: &'static str,
    /// Which argument.
    pub argument: &'static str,
    /// What that must be, in words.
    pub range: &'static str,
}

impl Outline {
    /// All of them in a file, given the bounds of each parameter.
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
                    // Where a bound moves, the file has thought of it.
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

/// Calls `see` with every function that a formula calls.
fn each_call(ast: &Ast, see: &mut impl FnMut(&str, &[Ast])) {
    // By a list of what is left, since long sums are deep.
    let mut left = vec![ast];
    while let Some(ast) = left.pop() {
        if let Kind::Call { name, arguments, .. } = &ast.kind {
            see(name, arguments);
        }
        left.extend(ast.children());
    }
}
