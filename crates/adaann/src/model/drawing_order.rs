//! The order in which parameters are drawn from their priors, computed once for all draws.

use super::expression::Ast;
use super::names::{Meaning, each_name, in_order};
use super::outline::Outline;

/// One step of drawing from the prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Evaluates a quantity; its parameters have all been drawn.
    Quantity(usize),
    /// Draws a parameter.
    Parameter(usize),
}

impl Outline {
    /// All parameters, and all quantities that priors may name, each once and after everything that it depends on.
    /// None if there is a cycle.
    ///
    /// Parameters keep the order of the file where possible. Those that depend on later ones follow in a second
    /// round, again in the order of the file, and so on; quantities are evaluated between rounds.
    pub(super) fn drawing_order(&self) -> Option<Vec<Step>> {
        let needs = self.direct_needs();
        let (order, cycle) = in_order(&needs);
        if cycle.is_some() {
            return None;
        }
        let parameters = self.file.parameters.len();
        let mut rounds = vec![0_usize; needs.len()];
        for &own in &order {
            let is_parameter = |of: usize| of < parameters;
            let earliest = needs[own].iter().map(|&need| {
                let waits = match (is_parameter(own), is_parameter(need)) {
                    (true, true) => need > own,
                    (false, true) => true,
                    (_, false) => false,
                };
                rounds[need] + usize::from(waits)
            });
            rounds[own] = earliest.max().unwrap_or(0);
        }
        let quantities = self.names.order().iter().filter(|&&q| self.is_shared(q));
        let mut steps: Vec<(usize, Step)> = quantities
            .map(|&q| (rounds[parameters + q], Step::Quantity(q)))
            .chain((0..parameters).map(|i| (rounds[i], Step::Parameter(i))))
            .collect();
        // The sort is stable: within a round, quantities stay in front and the order of the file is kept.
        steps.sort_by_key(|(round, _)| *round);
        Some(steps.into_iter().map(|(_, step)| step).collect())
    }

    /// May a prior name this quantity?
    fn is_shared(&self, quantity: usize) -> bool {
        let reach = self.names.of(Meaning::Quantity(quantity));
        !reach.is_of_rows() && !reach.trajectories
    }

    /// The direct dependencies of each parameter, then of each quantity.
    fn direct_needs(&self) -> Vec<Vec<usize>> {
        let parameters = self.file.parameters.len();
        let named = |formulas: &mut dyn Iterator<Item = &Ast>| {
            let mut needed = Vec::new();
            for formula in formulas {
                each_name(formula, &mut |name| match self.names.find(name) {
                    Some(Meaning::Parameter(i)) => needed.push(i),
                    Some(Meaning::Quantity(q)) => needed.push(parameters + q),
                    _ => {}
                });
            }
            needed
        };
        let of_parameters = self.file.parameters.iter().map(|parameter| {
            let formulas = [&parameter.prior, &parameter.lower, &parameter.upper];
            named(&mut formulas.into_iter().flatten().map(|formula| &formula.ast))
        });
        let of_quantities = self.file.quantities.iter().enumerate().map(|(q, (_, formula))| {
            named(&mut [&formula.ast].into_iter().filter(|_| self.is_shared(q)))
        });
        of_parameters.chain(of_quantities).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Step;
    use crate::model::Model;
    use std::fmt::Write;

    fn order(text: &str) -> Vec<Step> {
        let model = Model::parse("m.toml", text).unwrap_or_else(|faults| panic!("{faults}"));
        model.outline.drawing_order().expect("no circle")
    }

    #[test]
    fn nothing_waits_in_a_file_in_order() {
        let found = order(
            "[parameters]\nmu = \"normal(0, 1)\"\ntau = \"half_normal(1)\"\n\
             theta = { prior = \"normal(mu, tau)\", size = 3 }\nsigma = \"half_normal(1)\"\n",
        );
        assert_eq!(found, [0, 1, 2, 3].map(Step::Parameter));
    }

    #[test]
    fn quantities_are_worked_out_between_rounds() {
        let found = order(
            "[parameters]\na = \"normal(twice, c)\"\nb = \"normal(0, 1)\"\nc = { lower = 0, upper = 1 }\n\
             [quantities]\ntwice = \"2 * b\"\nsum = \"a + b\"\n",
        );
        let (parameter, quantity) = (Step::Parameter, Step::Quantity);
        assert_eq!(found, [parameter(1), parameter(2), quantity(0), parameter(0), quantity(1)]);
    }

    /// A draw takes exactly these steps, whatever the order of the file. An earlier version re-evaluated every
    /// waiting prior after each draw.
    #[test]
    fn a_chain_of_priors_from_its_end_takes_each_step_once() {
        const LINKS: usize = 300;
        let mut text = String::from("[parameters]\n");
        for link in (2..=LINKS).rev() {
            writeln!(text, "p{link} = \"normal(q{link}, 1)\"").unwrap();
        }
        text += "p1 = \"normal(0, 1)\"\n[quantities]\n";
        for link in 2..=LINKS {
            writeln!(text, "q{link} = \"p{} / 2\"", link - 1).unwrap();
        }
        let expected = (0..LINKS).flat_map(|link| {
            let quantity = (link > 0).then(|| Step::Quantity(link - 1));
            quantity.into_iter().chain([Step::Parameter(LINKS - 1 - link)])
        });
        assert_eq!(order(&text), expected.collect::<Vec<_>>());
    }
}
