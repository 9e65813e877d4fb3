//! A target from a prior and a likelihood that a program computes.

use crate::external::Simulator;
use crate::{
    Batch, Error, Result,
    target::{Evaluation, Support, Target, Weights},
};

/// A prior, and a likelihood from a program.
pub struct Posterior {
    prior: Box<dyn Target>,
    supports: Vec<Support>,
    simulator: Simulator,
}

impl Posterior {
    /// A posterior from a prior, the supports of its coordinates, and the program for the
    /// likelihood. If the prior has its own likelihood, only its log prior counts. If it is all
    /// likelihood, such as a recorded density, all of it counts as the prior.
    /// # Errors
    /// If their dimensions differ, or the supports are invalid.
    pub fn new(
        prior: Box<dyn Target>,
        supports: Vec<Support>,
        simulator: Simulator,
    ) -> Result<Self> {
        let dim = simulator.names().len();
        for (what, found) in [("the prior", prior.dim()), ("the supports", supports.len())] {
            if found != dim {
                return Err(Error::Shape {
                    what: what.into(),
                    found: found.to_string(),
                    expected: format!("{dim}, as many as the program has parameters"),
                });
            }
        }
        Support::check(&supports)?;
        Ok(Self { prior, supports, simulator })
    }

    /// Fills in the log prior and its weighted gradient.
    fn prior(&self, points: &Batch, weight: Option<f64>, out: &mut Evaluation) -> Result<()> {
        let has_prior = self.prior.has_prior();
        let weights = weight.map(|weight| match has_prior {
            true => Weights { prior: weight, likelihood: 0.0 },
            false => Weights { prior: 0.0, likelihood: weight },
        });
        self.prior.evaluate(points, weights, out)?;
        if !has_prior {
            std::mem::swap(&mut out.log_prior, &mut out.log_likelihood);
        }
        Ok(())
    }
}

impl Target for Posterior {
    /// A program counts as expensive: its cost is unknown, and a pipe costs more than most
    /// formulas.
    fn operations(&self) -> Option<f64> {
        Some(1e6)
    }

    fn values_per_gradient(&self, of: Weights) -> usize {
        match of.likelihood == 0.0 || self.simulator.gives_gradient() {
            true => 1,
            false => 2 * self.dim() + 1,
        }
    }

    fn dim(&self) -> usize {
        self.supports.len()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.prior(points, gradient.map(|weights| weights.prior), out)?;
        // Points outside the prior's support are not sent to the program.
        let asked: Vec<usize> =
            (0..points.len()).filter(|i| out.log_prior[*i].is_finite()).collect();
        let chosen: Vec<Vec<f64>> = asked.iter().map(|i| points.point(*i)).collect();
        let chosen = Batch::from_points(self.dim(), &chosen);
        let mut values = vec![0.0; asked.len()];
        let mut slopes = Batch::zeros(self.dim(), asked.len());
        let weight = gradient.map_or(0.0, |weights| weights.likelihood);
        if weight != 0.0 && !self.simulator.gives_gradient() {
            let supports = &self.supports;
            self.simulator.differences_inside(supports, &chosen, &mut values, &mut slopes)?;
        } else {
            self.simulator.log_likelihood(&chosen, weight != 0.0, &mut values, &mut slopes)?;
        }
        out.log_likelihood[..points.len()].fill(f64::NEG_INFINITY);
        for (&i, value) in asked.iter().zip(values) {
            out.log_likelihood[i] = value;
        }
        if gradient.is_none() {
            return Ok(());
        }
        for d in 0..self.dim() {
            let row = out.gradient.row_mut(d);
            for (slope, &i) in slopes.row(d).iter().zip(&asked) {
                row[i] += weight * slope;
            }
            for i in 0..points.len() {
                // At weight 0 only the prior counts, and a non-finite likelihood has no effect.
                let lost = weight != 0.0 && out.log_likelihood[i] == f64::NEG_INFINITY;
                if lost || !out.log_prior[i].is_finite() {
                    row[i] = 0.0;
                }
            }
        }
        Ok(())
    }

    fn wants_whole_batch(&self) -> bool {
        true
    }

    fn has_prior(&self) -> bool {
        true
    }

    fn has_proper_prior(&self) -> bool {
        self.prior.has_proper_prior()
    }

    fn support(&self, d: usize) -> Support {
        self.supports[d].clone()
    }

    fn notes(&self) -> Vec<String> {
        let (program, dim) = (self.simulator.program(), self.dim());
        let processes = match self.simulator.processes() {
            1 => "one process".into(),
            count => format!("{count} processes"),
        };
        let mut notes = vec![if self.simulator.gives_gradient() {
            format!("log likelihood and gradient by {program} in {processes}")
        } else {
            format!(
                "log likelihood by {program} in {processes}, gradient by differences: {} calls a \
                 point",
                2 * dim + 1
            )
        }];
        match self.simulator.restarts() {
            0 => {}
            1 => notes.push("the program was started again once".into()),
            count => notes.push(format!("the program was started again {count} times")),
        }
        notes
    }

    fn names(&self) -> Vec<String> {
        self.simulator.names().to_vec()
    }
}
